"""The register of members and subscriptions, which Mailman would keep."""

from __future__ import annotations

import django_mailman3.lib.mailman
from django.db import models


class Member(models.Model):
    """A person known by an address."""

    address = models.EmailField(unique=True)
    member_id = models.CharField(max_length=32, unique=True)
    name = models.CharField(max_length=200, blank=True)
    joined = models.DateTimeField()


class Subscription(models.Model):
    """A member of a list."""

    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="subscriptions")
    list_id = models.CharField(max_length=200)

    class Meta:
        """One subscription of a member to a list."""

        unique_together = ("member", "list_id")


def _register(*_: object) -> object:
    from archive.register import Register

    return Register()


django_mailman3.lib.mailman.get_mailman_client = _register
