"""Mail sent by the site goes into the archive when it is to a list, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from email import message_from_bytes, policy

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from hyperkitty.lib.incoming import add_to_list
from hyperkitty.models import MailingList


class ListDelivery(BaseEmailBackend):
    """Archives posts, drops all other mail."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Archive each message that is to a list."""
        for message in email_messages:
            for name in MailingList.objects.filter(name__in=message.to).values_list("name", flat=True):
                add_to_list(name, message_from_bytes(message.message().as_bytes(), policy=policy.default))
        return len(email_messages)
