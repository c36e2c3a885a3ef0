"""The part of Mailman's client that HyperKitty asks, answered from the register."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.error import HTTPError

from django.utils.timezone import now
from hyperkitty.models import MailingList

from archive.models import Member, Subscription


def member_id(address: str) -> str:
    """The fixed id of an address."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"mailto:{address.lower()}").hex


def _missing(what: str) -> HTTPError:
    return HTTPError(what, 404, "not found", None, None)  # type: ignore[arg-type]


class Preferences(dict[str, str]):
    """Delivery preferences; they are not kept."""

    def save(self) -> None:
        """Do nothing."""


class Address:
    """A verified address."""

    verified = True

    def __init__(self, email: str, display_name: str) -> None:
        self.email = email
        self.display_name = display_name

    def __str__(self) -> str:
        return self.email

    def verify(self) -> None:
        """Do nothing: it is verified."""

    def save(self) -> None:
        """Do nothing: its name is the member's."""


class Addresses(list[Address]):
    """The addresses of a person."""

    def find_by_email(self, email: str) -> Address | None:
        """The address of this name."""
        return next((one for one in self if one.email == email), None)


@dataclass
class Membership:
    """A subscription as Mailman shows it."""

    list_id: str
    address: str
    role: str = "member"

    def __post_init__(self) -> None:
        self.preferences = Preferences()


@dataclass
class Official:
    """An owner or moderator of a list as Mailman shows it."""

    address: Address


class Person:
    """A member as Mailman shows it."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.user_id = member.member_id
        self.display_name = member.name
        self.created_on = member.joined.isoformat()
        self.addresses = Addresses([Address(member.address, member.name)])
        self.preferred_address = member.address

    @property
    def subscriptions(self) -> list[Membership]:
        """The lists of this person."""
        found = self.member.subscriptions.order_by("list_id")
        return [Membership(one.list_id, self.member.address) for one in found]

    def add_address(self, email: str, absorb_existing: bool = False) -> Address:
        """Know the person by another address until the request ends."""
        self.addresses.append(Address(email, self.display_name))
        return self.addresses[-1]

    def save(self) -> None:
        """Keep the name."""
        self.member.name = self.display_name
        self.member.save()

    def delete(self) -> None:
        """Forget the person."""
        self.member.delete()


class List:
    """A mailing list as Mailman shows it."""

    settings: dict[str, str]

    def __init__(self, mlist: MailingList) -> None:
        self.list_id = mlist.list_id
        self.fqdn_listname = mlist.name
        self.settings = {"subscription_policy": "open"}
        self.owners = [Official(Address(user.email, user.get_full_name())) for user in mlist.owners.all()]
        self.moderators = [
            Official(Address(user.email, user.get_full_name())) for user in mlist.moderators.all()
        ]

    def get_member(self, email: str) -> Membership:
        """The subscription of an address."""
        if not Subscription.objects.filter(member__address=email, list_id=self.list_id).exists():
            raise ValueError(email)
        return Membership(self.list_id, email)

    def subscribe(self, email: str, name: str, **_: bool) -> Membership:
        """Subscribe an address."""
        person = Register().create_user(email, name)
        Subscription.objects.get_or_create(member=person.member, list_id=self.list_id)
        return Membership(self.list_id, email)

    def is_owner(self, email: str) -> bool:
        """Whether the address is an owner's."""
        return any(one.address.email == email for one in self.owners)


class Register:
    """The client."""

    def get_user(self, key: str) -> Person:
        """The person of an address or id."""
        found = Member.objects.filter(address=key).first() or Member.objects.filter(member_id=key).first()
        if found is None:
            raise _missing(key)
        return Person(found)

    def create_user(self, email: str, name: str) -> Person:
        """The person of an address, made if need be."""
        made, _ = Member.objects.get_or_create(
            address=email, defaults={"member_id": member_id(email), "name": name, "joined": now()}
        )
        return Person(made)

    def get_address(self, email: str) -> Address:
        """An address."""
        return Address(email, "")

    def get_list(self, key: str) -> List:
        """The list of a name or id."""
        found = (
            MailingList.objects.filter(name=key).first() or MailingList.objects.filter(list_id=key).first()
        )
        if found is None:
            raise _missing(key)
        return List(found)

    @property
    def lists(self) -> Iterator[List]:
        """All lists."""
        return (List(one) for one in MailingList.objects.order_by("name"))
