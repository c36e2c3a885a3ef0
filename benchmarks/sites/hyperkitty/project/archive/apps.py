"""Things this archive does otherwise than HyperKitty alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.apps import AppConfig
from django.utils.timezone import now

RECENT = datetime(2026, 5, 31, tzinfo=UTC)
"""The seeded mail ends on 30 June 2026; its last month stays the recent one however late the site is run."""


class ArchiveConfig(AppConfig):
    """Fixes what "recent" means, and leaves the lists' settings as they are seeded."""

    name = "archive"

    def ready(self) -> None:
        """Set both on the model of a list."""
        from hyperkitty.models import MailingList

        MailingList.get_recent_dates = lambda self: (RECENT, now() + timedelta(days=1))
        MailingList.update_from_mailman = lambda self: None
