"""Fill a migrated pretix database with the Tidewater centre's events; run by the site's own Python, in ``pristine``.

Everything comes from one fixed random seed and a clock that the seed itself moves, so that two runs give the same rows.
"""

# ruff: noqa: E402 -- the clock and the randomness are fixed before pretix is imported

from __future__ import annotations

import random
import secrets
import string
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import django
import django.utils.timezone

CHANCE = random.Random(20260115)
ZONE = ZoneInfo("Europe/Dublin")
_clock = [datetime(2025, 9, 1, 9, tzinfo=UTC)]
secrets.choice = CHANCE.choice
django.utils.timezone.now = lambda: _clock[0]
django.setup()

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django_scopes import scopes_disabled
from i18nfield.strings import LazyI18nString
from pretix.base.models import (
    Checkin,
    Device,
    Event,
    Gate,
    GiftCard,
    InvoiceAddress,
    Item,
    ItemVariation,
    Order,
    OrderPayment,
    OrderPosition,
    OrderRefund,
    Organizer,
    Question,
    Quota,
    TaxRule,
    Team,
    User,
    Voucher,
    WaitingListEntry,
)
from pretix.base.settings import GlobalSettingsObject

PLUGINS = ",".join(
    f"pretix.plugins.{name}"
    for name in ("sendmail", "statistics", "checkinlists", "banktransfer", "manualpayment", "ticketoutputpdf")
)
FIRST = """
Aoife Bernard Camille Declan Eilidh Farid Greta Hugo Imelda Jonas Keiko Liam Maeve Nadia Oscar Paloma Quentin
Roisin Stefan Tamsin Ursula Viktor Wanda Xavier Yusuf Zofia Anselm Brigid Cormac Delphine Emeka Fiona Gareth
Hanna Ivo Jasmin Kieran Lucia Matteo Niamh
""".split()  # noqa: SIM905
LAST = """
Ahern Bexley Calloway Dunphy Eriksen Fitzgibbon Gallagher Halvorsen Iqbal Jankowski Kearney Lindqvist Moriarty
Nakamura Osei Pereira Quinlan Rasmussen Sheehan Tierney Ueda Vasquez Whelan Xanthos Yildiz Zimmer Adeyemi
Brennan Castellano Devlin Engel Fournier Garvey Hoang Ingram Joyce Kowalczyk Lacey Mulcahy Novak
""".split()  # noqa: SIM905
CITIES = (
    ("Cobh", "P24 AX12"),
    ("Cork", "T12 W8K6"),
    ("Galway", "H91 E2K3"),
    ("Dublin", "D08 C6P1"),
    ("Limerick", "V94 T9PX"),
    ("Waterford", "X91 PK15"),
    ("Kinsale", "P17 DV40"),
    ("Youghal", "P36 F7X2"),
)
STREETS = (
    "Harbour Row",
    "Mill Lane",
    "Bishop Street",
    "Orchard Road",
    "Lower Glanmire Road",
    "Strand Terrace",
)
COMPANIES = (
    "Marine Institute of Cork",
    "Saltmarsh Survey Ltd",
    "Heron Consulting",
    "Atlantic Shore Trust",
    "Bluefin Data",
)
COMMENTS = (
    "Asked for an invoice to the university's finance office.",
    "Needs a step-free route to the hall.",
    "Phoned on Monday, will pay by transfer next week.",
    "Arrives late on the first evening.",
    "Wants to sit with the group from Galway.",
)


def at(text: str) -> datetime:
    """A local date and time of Dublin."""
    return datetime.fromisoformat(text).replace(tzinfo=ZONE)


def en(text: str) -> LazyI18nString:
    """A text that exists in English only."""
    return LazyI18nString({"en": text})


def log(thing: Any, action: str, user: User | None = None, data: dict[str, Any] | None = None) -> None:
    """An entry of the history, without the notifications that go with it."""
    thing.log_action(action, data=data or {}, user=user, save=False).save()


class People:
    """Names of customers, each used once."""

    def __init__(self) -> None:
        self.names = [(one, other) for one in FIRST for other in LAST]
        CHANCE.shuffle(self.names)

    def next(self) -> tuple[str, str]:
        """The name of the next person."""
        return self.names.pop()


PEOPLE = People()


def parts(first: str, last: str) -> dict[str, str]:
    """A name in the form pretix keeps it in."""
    return {"_scheme": "given_family", "given_name": first, "family_name": last}


def address(first: str, last: str) -> str:
    """A mail address made of a name."""
    return f"{first}.{last}@{CHANCE.choice(('mailbox', 'postfach', 'inbox'))}.example".lower()


def people() -> dict[str, User]:
    """The staff."""
    made: dict[str, User] = {}
    for key, name, mail, password, staff in (
        ("admin", "Ingrid Solberg", "ingrid.solberg", "harbour-lantern-41", True),
        ("manager", "Marcus Oyelaran", "marcus.oyelaran", "tidal-mooring-27", False),
        ("boxoffice", "Priya Raman", "priya.raman", "copper-anchor-58", False),
        ("programme", "Helen Ashdown", "helen.ashdown", "", False),
        ("press", "Tomasz Wilk", "tomasz.wilk", "", False),
        ("door1", "Dao Nguyen", "dao.nguyen", "", False),
        ("door2", "Samuel Brandt", "samuel.brandt", "", False),
    ):
        user = User(
            email=f"{mail}@tidewater.example", fullname=name, is_staff=staff, timezone="Europe/Dublin"
        )
        user.locale = "en"
        user.notifications_send = False
        user.needs_password_change = False
        # pretix itself makes up the salt; here it is fixed
        user.password = (
            make_password(password, salt=f"salt{key}", hasher="pbkdf2_sha256") if password else "!"
        )
        user.save()
        made[key] = user
    return made


def teams(organizer: Organizer, staff: dict[str, User]) -> None:
    """Who may do what."""
    team = Team.objects.create(
        organizer=organizer,
        name="Administrators",
        all_events=True,
        all_event_permissions=True,
        all_organizer_permissions=True,
    )
    team.members.set([staff["admin"], staff["manager"]])
    for name, permissions, members in (
        (
            "Box office",
            (
                "event.orders:read",
                "event.orders:write",
                "event.orders:checkin",
                "event.vouchers:read",
                "event.vouchers:write",
            ),
            ("boxoffice", "press"),
        ),
        (
            "Programme team",
            (
                "event.settings.general:write",
                "event.subevents:write",
                "event.items:write",
                "event.orders:read",
            ),
            ("programme",),
        ),
        ("Door volunteers", ("event.orders:checkin",), ("door1", "door2")),
    ):
        team = Team.objects.create(
            organizer=organizer,
            name=name,
            all_events=True,
            limit_event_permissions=dict.fromkeys(permissions, True),
        )
        team.members.set([staff[one] for one in members])


class EventMaker:
    """One event with its products and quotas."""

    def __init__(self, organizer: Organizer, slug: str, name: str, begin: str, end: str, **more: Any) -> None:
        settings = more.pop("settings", {})
        place = more.pop("location", "Tidewater Hall\n4 Quayside\nCobh")
        self.event = Event.objects.create(
            organizer=organizer,
            slug=slug,
            name=en(name),
            currency="EUR",
            date_from=at(begin),
            date_to=at(end) if end else None,
            location=en(place),
            plugins=PLUGINS,
            **{"is_public": True, "live": True, **more},
        )
        self.event.set_defaults()
        for key, value in {
            "timezone": "Europe/Dublin",
            "locales": ["en"],
            "locale": "en",
            "region": "IE",
            "contact_mail": "tickets@tidewater.example",
            "name_scheme": "given_family",
            "attendee_names_asked": True,
            "show_quota_left": True,
            "payment_manual__enabled": True,
            "payment_manual_public_name": en("Pay at the box office"),
            "payment_manual_checkout_description": en("Cash or card, within two weeks, at the centre."),
            "payment_manual_email_instructions": en("Please pay at the box office within two weeks."),
            "payment_manual_pending_description": en("Please pay at the box office within two weeks."),
            "payment_banktransfer__enabled": True,
            "payment_banktransfer_bank_details_type": "other",
            "payment_banktransfer_bank_details": en(
                "Tidewater Centre, Harbour Credit Union, account 10 44 82 17"
            ),
            "payment_banktransfer_ack": True,
            "ticketoutput_pdf__enabled": True,
            "invoice_generate": "admin",
            **settings,
        }.items():
            self.event.settings.set(key, value)
        # at most one rule per event may be the default one
        TaxRule.objects.filter(event=self.event).delete()
        self.standard = TaxRule.objects.create(event=self.event, name=en("VAT"), rate=Decimal("23.00"))
        self.reduced = TaxRule.objects.create(
            event=self.event, name=en("VAT (reduced)"), rate=Decimal("9.00"), default=True
        )
        self.items: dict[str, Item] = {}
        self.variations: dict[tuple[str, str], ItemVariation] = {}
        self.categories: dict[str, Any] = {}
        log(self.event, "pretix.event.added")

    def category(self, name: str, description: str = "", addon: bool = False) -> None:
        """A category of products."""
        self.categories[name] = self.event.categories.create(
            name=en(name), description=en(description), position=len(self.categories) + 1, is_addon=addon
        )

    def item(
        self, name: str, price: str, category: str = "", sorts: Sequence[tuple[str, str]] = (), **more: Any
    ) -> Item:
        """A product with its variations."""
        text = more.pop("text", "")
        admission = more.pop("admission", True)
        item = Item.objects.create(
            event=self.event,
            name=en(name),
            description=en(text) if text else None,
            default_price=Decimal(price),
            category=self.categories.get(category),
            tax_rule=self.reduced if admission else self.standard,
            admission=admission,
            personalized=admission,
            position=len(self.items) + 1,
            **more,
        )
        for position, (value, amount) in enumerate(sorts, start=1):
            self.variations[name, value] = item.variations.create(
                value=en(value), default_price=Decimal(amount), position=position
            )
        self.items[name] = item
        log(item, "pretix.event.item.added")
        return item

    def quota(
        self, name: str, size: int | None, *things: str | tuple[str, str], subevent: Any = None
    ) -> Quota:
        """A quota for products (with all their variations) and single variations."""
        quota = Quota.objects.create(event=self.event, name=name, size=size, subevent=subevent)
        for thing in things:
            if isinstance(thing, tuple):
                quota.items.add(self.items[thing[0]])
                quota.variations.add(self.variations[thing])
            else:
                quota.items.add(self.items[thing])
                quota.variations.add(*[v for (n, _), v in self.variations.items() if n == thing])
        return quota

    def order(
        self,
        moment: datetime,
        status: str,
        lines: Sequence[tuple[str, str]],
        *,
        subevent: Any = None,
        **more: Any,
    ) -> Order:
        """An order by a new person; the first line's ticket is theirs."""
        _clock[0] = moment
        first, last = more.pop("person", None) or PEOPLE.next()
        voucher = more.pop("voucher", None)
        note = more.pop("comment", "")
        expires = more.pop("expires", moment + timedelta(days=14))
        provider = more.pop("provider", "") or CHANCE.choice(("banktransfer", "banktransfer", "manual"))
        order = Order.objects.create(
            organizer=self.event.organizer,
            code="".join(CHANCE.choice("ABCDEFGHJKLMNPQRSTUVWXYZ3789") for _ in range(5)),
            event=self.event,
            email=address(first, last),
            status=Order.STATUS_PENDING,
            datetime=moment,
            expires=expires,
            locale="en",
            total=Decimal(0),
            comment=note,
            sales_channel=self.event.organizer.sales_channels.get(identifier="web"),
            **more,
        )
        town, code = CHANCE.choice(CITIES)
        business = CHANCE.random() < 0.2
        InvoiceAddress.objects.create(
            order=order,
            is_business=business,
            company=CHANCE.choice(COMPANIES) if business else "",
            name_parts=parts(first, last),
            street=f"{CHANCE.randint(1, 88)} {CHANCE.choice(STREETS)}",
            zipcode=code,
            city=town,
            country="IE",
        )
        total = Decimal(0)
        holders: list[OrderPosition] = []
        for number, (name, sort) in enumerate(lines, start=1):
            item = self.items[name]
            variation = self.variations.get((name, sort))
            price = (variation.default_price if variation else item.default_price) or Decimal(0)
            if voucher and number == 1:
                price = voucher.calculate_price(price)
            holder = {}
            if item.admission:
                who = (first, last) if not holders else PEOPLE.next()
                holder = {"attendee_name_parts": parts(*who), "attendee_email": address(*who)}
            position = OrderPosition(
                order=order,
                organizer=self.event.organizer,
                positionid=number,
                item=item,
                variation=variation,
                subevent=subevent,
                price=price,
                voucher=voucher if number == 1 else None,
                secret="".join(CHANCE.choice(string.ascii_lowercase + string.digits) for _ in range(24)),
                **holder,
            )
            position._calculate_tax()
            position.save()
            if item.admission:
                holders.append(position)
            total += price
        order.total = total
        order.save()
        if voucher:
            Voucher.objects.filter(pk=voucher.pk).update(redeemed=voucher.redeemed + 1)
            voucher.redeemed += 1
        order.create_transactions(is_new=True, dt_now=moment)
        log(order, "pretix.event.order.placed")
        self.settle(order, status, provider, moment)
        return order

    def settle(self, order: Order, status: str, provider: str, moment: datetime) -> None:
        """Bring a new order into its state, with payments and refunds."""
        if order.require_approval:
            return
        if order.total:
            payment = OrderPayment.objects.create(
                order=order,
                state=OrderPayment.PAYMENT_STATE_CREATED,
                amount=order.total,
                provider=provider,
                info="{}",
            )
        paid = status in ("p", "refunded")
        _clock[0] = moment + timedelta(hours=CHANCE.randint(2, 90))
        if order.total and paid:
            payment.state = OrderPayment.PAYMENT_STATE_CONFIRMED
            payment.payment_date = _clock[0]
            payment.save()
            log(
                order,
                "pretix.event.order.payment.confirmed",
                data={"local_id": payment.local_id, "provider": payment.provider},
            )
        if paid:
            log(order, "pretix.event.order.paid", data={"provider": provider})
        if status == "refunded":
            _clock[0] += timedelta(days=6)
            OrderRefund.objects.create(
                order=order,
                payment=payment,
                state=OrderRefund.REFUND_STATE_DONE,
                source=OrderRefund.REFUND_SOURCE_ADMIN,
                amount=order.total,
                execution_date=_clock[0],
                provider="manual",
                info="{}",
            )
            log(order, "pretix.event.order.refund.done", data={"local_id": 1, "provider": "manual"})
        if status in ("c", "refunded"):
            order.cancellation_date = _clock[0]
            log(order, "pretix.event.order.canceled", data={"cancellation_fee": "0.00"})
        if status == "e":
            _clock[0] = order.expires
            log(order, "pretix.event.order.expired")
        order.status = "c" if status == "refunded" else status
        order.save()
        order.create_transactions(dt_now=_clock[0])


def answer(order: Order, question: Question, choices: Sequence[Any]) -> None:
    """Answers of everybody who holds a ticket of this order."""
    for position in order.positions.filter(item__in=question.items.all()):
        given = CHANCE.choice(choices)
        made = position.answers.create(question=question, answer=str(given))
        if not isinstance(given, str):
            made.options.add(given)


def conference(organizer: Organizer) -> EventMaker:
    """The conference: the event with the most of everything."""
    made = EventMaker(
        organizer,
        "cec27",
        "Coastal Ecology Conference 2027",
        "2027-05-19T09:00",
        "2027-05-21T17:30",
        presale_start=at("2026-01-05T09:00"),
        date_admission=at("2027-05-19T08:15"),
        comment="Programme committee: Helen Ashdown. Caterer confirmed.",
    )
    made.category("Conference tickets", "Lunch and coffee are included.")
    made.category("Workshops", "Held on the morning of the first day.")
    made.category("Extras")
    made.item(
        "Conference pass",
        "360.00",
        "Conference tickets",
        (("Early bird", "290.00"), ("Regular", "360.00"), ("Student", "150.00")),
        text="All three days, with the welcome reception.",
    )
    made.item(
        "Day ticket",
        "140.00",
        "Conference tickets",
        (("Wednesday", "140.00"), ("Thursday", "140.00"), ("Friday", "120.00")),
    )
    for name, price, text in (
        ("GIS for Shorelines", "45.00", "Bring a laptop with QGIS."),
        ("Seagrass Survey Methods", "60.00", "In the wet lab; aprons are provided."),
        ("Drones over Dunes", "80.00", "Outdoors, in good weather only."),
    ):
        made.item(name, price, "Workshops", text=text, admission=False, max_per_order=2)
    made.item("Conference dinner", "75.00", "Extras", text="Three courses at the Boathouse.", admission=False)
    made.item(
        "Saltmarsh boat tour", "55.00", "Extras", text="Leaves from the north pier at seven.", admission=False
    )
    made.item("Poster printing", "25.00", "Extras", text="A0, matt, delivered to the hall.", admission=False)
    made.item(
        "Conference T-shirt",
        "22.00",
        "Extras",
        tuple((size, "22.00") for size in ("S", "M", "L", "XL")),
        admission=False,
    )
    made.item("Proceedings (printed)", "38.00", "Extras", admission=False, active=False)
    made.quota("Early bird passes", 40, ("Conference pass", "Early bird"))
    made.quota("Regular passes", 160, ("Conference pass", "Regular"))
    made.quota("Student passes", 50, ("Conference pass", "Student"))
    for day in ("Wednesday", "Thursday", "Friday"):
        made.quota(f"Day tickets {day}", 60, ("Day ticket", day))
    for name, size in (
        ("GIS for Shorelines", 24),
        ("Seagrass Survey Methods", 16),
        ("Drones over Dunes", 12),
        ("Conference dinner", 90),
        ("Saltmarsh boat tour", 18),
        ("Poster printing", 40),
        ("Conference T-shirt", 80),
        ("Proceedings (printed)", 100),
    ):
        made.quota(name, size, name)
    diet = Question.objects.create(
        event=made.event,
        question=en("Dietary requirements"),
        identifier="DIET",
        type="C",
        required=True,
        position=1,
    )
    options = [
        diet.options.create(answer=en(text), identifier=f"DIET{number}", position=number)
        for number, text in enumerate(("None", "Vegetarian", "Vegan", "Gluten-free", "No seafood"), start=1)
    ]
    place = Question.objects.create(
        event=made.event, question=en("Affiliation"), identifier="AFFIL", type="S", required=False, position=2
    )
    source = Question.objects.create(
        event=made.event,
        question=en("May we print your name in the list of participants?"),
        identifier="LISTED",
        type="B",
        required=False,
        position=3,
    )
    for question in (diet, place, source):
        question.items.set([made.items["Conference pass"], made.items["Day ticket"]])

    vouchers: list[Voucher] = []
    for tag, prefix, count, mode, value, item, usages in (
        ("speakers", "SPEAK", 14, "set", "0.00", "Conference pass", 1),
        ("sponsors", "SPONS", 8, "percent", "50.00", "Conference pass", 3),
        ("press", "PRESS", 5, "set", "0.00", "Day ticket", 1),
        ("volunteers", "CREW", 9, "set", "20.00", "Conference pass", 1),
        ("students", "STUD", 6, "subtract", "30.00", "Conference pass", 2),
    ):
        for number in range(1, count + 1):
            _clock[0] = at("2026-01-12T10:00") + timedelta(hours=len(vouchers))
            vouchers.append(
                Voucher.objects.create(
                    event=made.event,
                    code=f"{prefix}-{CHANCE.randint(1000, 9999)}-{number:02d}",
                    max_usages=usages,
                    price_mode=mode,
                    value=Decimal(value),
                    item=made.items[item],
                    tag=tag,
                    valid_until=at("2027-04-30T23:59"),
                    block_quota=False,
                    comment=" ".join(PEOPLE.next()) if tag in ("speakers", "press") else "",
                )
            )
    moment = at("2026-01-19T08:40")
    states = ["p"] * 25 + ["n"] * 9 + ["e"] * 4 + ["c"] * 2 + ["refunded"] * 2
    CHANCE.shuffle(states)
    workshops = ("GIS for Shorelines", "Seagrass Survey Methods", "Drones over Dunes")
    for number, status in enumerate(states):
        moment += timedelta(hours=CHANCE.randint(30, 210), minutes=CHANCE.randint(1, 59))
        moment = moment.replace(hour=CHANCE.randint(7, 22))
        early = moment < at("2026-05-01T00:00")
        lines: list[tuple[str, str]] = []
        for _ in range(CHANCE.choice((1, 1, 1, 2, 2, 3))):
            kind = CHANCE.random()
            if kind < 0.65:
                lines.append(("Conference pass", "Early bird" if early else "Regular"))
            elif kind < 0.85:
                lines.append(("Conference pass", "Student"))
            else:
                lines.append(("Day ticket", CHANCE.choice(("Wednesday", "Thursday", "Friday"))))
        if CHANCE.random() < 0.45:
            lines.append((CHANCE.choice(workshops), ""))
        if CHANCE.random() < 0.35:
            lines.append(("Conference dinner", ""))
        if CHANCE.random() < 0.2:
            lines.append(("Saltmarsh boat tour", ""))
        if CHANCE.random() < 0.2:
            lines.append(("Conference T-shirt", CHANCE.choice("SML")))
        voucher = None
        if number % 2 == 0 and lines[0][0] == "Conference pass" and status == "p":
            voucher = next(
                (v for v in CHANCE.sample(vouchers, 42) if v.redeemed < 1 and v.tag != "press"), None
            )
        order = made.order(
            moment,
            status,
            lines,
            voucher=voucher,
            comment=CHANCE.choice(COMMENTS) if number % 6 == 1 else "",
            expires=at("2027-03-31T23:59:59") if status == "n" else moment + timedelta(days=14),
        )
        if number % 8 == 3:
            order.custom_followup_at = date(2027, 1, 4) + timedelta(days=number)
            order.save()
        answer(order, diet, options)
        answer(order, place, (*COMPANIES, "University of Galway", "Heritage Council"))
        answer(order, source, ("True", "True", "False"))
    for hours in (5, 29):
        made.order(
            moment + timedelta(hours=hours),
            "n",
            [("Conference pass", "Student")],
            require_approval=True,
            expires=at("2027-03-31T23:59:59"),
        )
    for name, things, pending in (
        ("Main entrance", ("Conference pass", "Day ticket"), False),
        ("Conference dinner", ("Conference dinner",), False),
        ("Boat tour", ("Saltmarsh boat tour",), True),
    ):
        made.event.checkin_lists.create(
            name=name, all_products=False, include_pending=pending
        ).limit_products.set([made.items[one] for one in things])
    return made


def jazz(organizer: Organizer, gates: dict[str, Gate], staff: dict[str, User]) -> EventMaker:
    """A festival that is over, with its check-ins."""
    made = EventMaker(
        organizer,
        "jazz26",
        "Harbour Jazz Weekend 2026",
        "2026-09-11T17:00",
        "2026-09-13T22:00",
        presale_start=at("2026-03-01T09:00"),
        presale_end=at("2026-09-10T18:00"),
        location="Festival Meadow\nHarbour Road\nCobh",
    )
    made.category("Tickets")
    made.category("Staying overnight")
    made.item("Weekend pass", "95.00", "Tickets")
    made.item(
        "Evening ticket",
        "42.00",
        "Tickets",
        (("Friday", "40.00"), ("Saturday", "48.00"), ("Sunday", "36.00")),
    )
    made.item("Camping pitch", "30.00", "Staying overnight", admission=False)
    made.item("Car park", "12.00", "Staying overnight", admission=False)
    made.quota("Weekend passes", 120, "Weekend pass")
    for day in ("Friday", "Saturday", "Sunday"):
        made.quota(f"{day} evening", 80, ("Evening ticket", day))
    made.quota("Camping", 14, "Camping pitch")
    made.quota("Parking", 60, "Car park")
    orders: list[Order] = []
    moment = at("2026-03-02T10:15")
    states = ["p"] * 19 + ["c"] * 2 + ["e"] * 2 + ["refunded"]
    CHANCE.shuffle(states)
    for number, status in enumerate(states):
        moment += timedelta(hours=CHANCE.randint(40, 230), minutes=CHANCE.randint(1, 59))
        moment = moment.replace(hour=CHANCE.randint(7, 22))
        lines = [("Weekend pass", "")] * CHANCE.randint(1, 3)
        if CHANCE.random() < 0.4:
            lines = [("Evening ticket", CHANCE.choice(("Friday", "Saturday", "Sunday")))] * CHANCE.randint(
                1, 4
            )
        elif CHANCE.random() < 0.5:
            lines = [*lines, ("Camping pitch", "")]
        if CHANCE.random() < 0.4:
            lines = [*lines, ("Car park", "")]
        orders.append(
            made.order(moment, status, lines, comment=CHANCE.choice(COMMENTS) if number % 7 == 3 else "")
        )
    lists = {
        name: made.event.checkin_lists.create(name=name, all_products=False)
        for name in ("Friday gate", "Saturday gate", "Sunday gate", "Camping")
    }
    for name, one in lists.items():
        one.limit_products.set(
            [made.items["Camping pitch"]]
            if name == "Camping"
            else [made.items["Weekend pass"], made.items["Evening ticket"]]
        )
    for name, begin, gate in (
        ("Friday gate", "2026-09-11T17:05", "North gate"),
        ("Saturday gate", "2026-09-12T16:40", "Pier gate"),
        ("Sunday gate", "2026-09-13T15:35", "Pier gate"),
    ):
        _clock[0] = at(begin)
        for order in orders:
            if order.status != "p":
                continue
            for position in order.positions.filter(item__in=lists[name].limit_products.all()):
                fits = position.variation is None or name.startswith(str(position.variation.value))
                if fits and CHANCE.random() < 0.85:
                    _clock[0] += timedelta(minutes=CHANCE.randint(1, 6))
                    Checkin.objects.create(
                        position=position, list=lists[name], datetime=_clock[0], gate=gates[gate]
                    )
    return made


def small_events(organizer: Organizer) -> None:
    """The rest of the programme."""
    made = EventMaker(
        organizer,
        "pottery26",
        "Pottery for Beginners: Autumn Course",
        "2026-10-06T18:30",
        "2026-11-24T21:00",
        presale_start=at("2026-06-01T09:00"),
        location="Studio 2\nTidewater Centre\nCobh",
        settings={"waiting_list_enabled": True, "waiting_list_auto": False},
    )
    made.item("Course place", "185.00", text="Eight evenings, clay and glazing included.")
    made.item("Second firing", "15.00", admission=False)
    made.quota("Places", 8, "Course place")
    made.quota("Second firings", 30, "Second firing")
    made.event.checkin_lists.create(name="Course register")
    for number in range(6):
        made.order(
            at("2026-06-04T12:10") + timedelta(days=5 * number, minutes=37 * number),
            "p",
            [("Course place", "")] * (2 if number in (1, 4) else 1) + [("Second firing", "")] * (number % 2),
        )
    _clock[0] = at("2026-07-10T09:00")
    for number in range(9):
        first, last = PEOPLE.next()
        _clock[0] += timedelta(hours=CHANCE.randint(20, 120))
        WaitingListEntry.objects.create(
            event=made.event,
            item=made.items["Course place"],
            email=address(first, last),
            name_parts=parts(first, last),
            priority=5 if number == 6 else 0,
            locale="en",
        )

    made = EventMaker(
        organizer, "science25", "Family Science Day 2025", "2025-11-15T10:00", "2025-11-15T17:00"
    )
    made.item("Family ticket", "28.00", text="Two adults and up to three children.")
    made.item("Single ticket", "12.00", sorts=(("Adult", "12.00"), ("Child", "6.00")))
    made.quota("Visitors", 300, "Family ticket", "Single ticket")
    made.event.checkin_lists.create(name="Foyer")
    for number in range(7):
        made.order(
            at("2025-10-02T15:20") + timedelta(days=5 * number, hours=number),
            "refunded" if number == 3 else "p",
            [("Family ticket", "")]
            if number % 2
            else [("Single ticket", "Adult"), ("Single ticket", "Child")],
        )

    made = EventMaker(
        organizer,
        "quartet27",
        "Chamber Music Evening: Quartet Lirien",
        "2027-02-14T19:30",
        "2027-02-14T21:45",
        location="Old Customs House\nCobh",
    )
    made.category("Seats")
    made.item("Stalls", "34.00", "Seats")
    made.item("Balcony", "26.00", "Seats")
    made.item("Programme booklet", "6.50", admission=False)
    made.quota("Stalls", 90, "Stalls")
    made.quota("Balcony", 40, "Balcony")
    made.quota("Booklets", None, "Programme booklet")
    made.event.checkin_lists.create(name="Foyer door")
    for number, status in enumerate("ppnpn"):
        made.order(
            at("2026-08-20T18:05") + timedelta(days=6 * number, minutes=51 * number),
            status,
            [("Stalls" if number % 2 else "Balcony", "")] * (number % 3 + 1),
            expires=at("2027-01-31T23:59:59") if status == "n" else at("2026-12-01T23:59:59"),
        )

    made = EventMaker(
        organizer,
        "walks27",
        "Guided Harbour Walks",
        "2027-04-03T10:30",
        "",
        has_subevents=True,
        location="Pier Head\nCobh",
    )
    made.item("Walk", "14.00", sorts=(("Adult", "14.00"), ("Under 16", "7.00")))
    dates = []
    for week in range(12):
        begin = at("2027-04-03T10:30") + timedelta(days=7 * week)
        name = ("Shipyards and Slipways", "Emigrants' Route", "Birds of the Estuary")[week % 3]
        dates.append(
            made.event.subevents.create(
                name=en(name), date_from=begin, date_to=begin + timedelta(hours=2), active=week != 7
            )
        )
        made.quota("Walkers", 20 if week % 3 else 16, "Walk", subevent=dates[-1])
    made.event.checkin_lists.create(name="All walks")
    for number in range(5):
        made.order(
            at("2026-09-18T11:25") + timedelta(days=3 * number, hours=2 * number),
            "p",
            [("Walk", "Adult")] * (number % 2 + 1) + [("Walk", "Under 16")] * (number % 3),
            subevent=dates[number * 2],
        )

    for slug, name, begin, end, live, products in (
        (
            "jazz27",
            "Harbour Jazz Weekend 2027",
            "2027-09-10T17:00",
            "2027-09-12T22:00",
            True,
            ("Weekend pass", "98.00"),
        ),
        (
            "gala26",
            "Winter Gala Dinner 2026",
            "2026-12-05T18:30",
            "2026-12-05T23:30",
            False,
            ("Seat at a table", "120.00"),
        ),
        (
            "print26",
            "Printmaking Studio Day",
            "2026-04-18T10:00",
            "2026-04-18T16:30",
            True,
            ("Studio place", "65.00"),
        ),
        (
            "photo26",
            "Lighthouses: Photographs by Orla Keane",
            "2026-03-01T10:00",
            "2026-06-28T17:00",
            True,
            ("Entry", "9.00"),
        ),
        (
            "books26",
            "Spring Book Fair 2026",
            "2026-05-02T09:00",
            "2026-05-03T17:00",
            True,
            ("Stall", "55.00"),
        ),
        (
            "cinema27",
            "Open-Air Cinema Summer 2027",
            "2027-07-02T21:00",
            "2027-08-27T23:30",
            False,
            ("Film ticket", "13.00"),
        ),
    ):
        _clock[0] = at("2026-01-08T10:00")
        made = EventMaker(organizer, slug, name, begin, end, live=live)
        made.item(*products)
        made.quota("All places", 150, products[0])
        made.event.checkin_lists.create(name="Entrance")


def fill() -> None:
    """Everything."""
    settings = GlobalSettingsObject().settings
    settings.set("update_check_perform", False)
    settings.set("update_check_ack", True)
    settings.set("update_check_result_warning", False)
    settings.set("footer_text", "")
    User.objects.all().delete()  # the one that a migration makes
    staff = people()
    organizer = Organizer.objects.create(
        name="Tidewater Arts & Science Centre", slug="tidewater", plugins="pretix.plugins.banktransfer"
    )
    for key, value in {
        "timezone": "Europe/Dublin",
        "locales": ["en"],
        "locale": "en",
        "region": "IE",
        "event_list_type": "list",
        "contact_mail": "tickets@tidewater.example",
        "name_scheme": "given_family",
    }.items():
        organizer.settings.set(key, value)
    teams(organizer, staff)
    gates = {
        name: Gate.objects.create(organizer=organizer, name=name)
        for name in ("North gate", "Pier gate", "Hall door")
    }
    made = conference(organizer)
    festival = jazz(organizer, gates, staff)
    small_events(organizer)
    _clock[0] = at("2026-02-02T09:30")
    for number, (name, gate) in enumerate(
        (
            ("Scanner 1", "North gate"),
            ("Scanner 2", "Pier gate"),
            ("Box office tablet", "Hall door"),
            ("Spare phone", ""),
        ),
        start=1,
    ):
        _clock[0] += timedelta(minutes=20)
        device = Device.objects.create(
            organizer=organizer, name=name, gate=gates.get(gate), device_id=number, all_events=number != 2
        )
        if number == 2:
            device.limit_events.set([festival.event, made.event])
    for number, (value, used, note) in enumerate(
        (
            ("50.00", "0.00", "Raffle prize, book fair"),
            ("25.00", "12.00", ""),
            ("100.00", "0.00", "Thanks to the volunteers"),
            ("40.00", "40.00", ""),
            ("60.00", "22.50", "Refund for the cancelled film night"),
            ("25.00", "0.00", ""),
            ("75.00", "30.00", "Birthday gift"),
        ),
        start=1,
    ):
        _clock[0] = at("2026-02-10T11:00") + timedelta(days=17 * number)
        card = GiftCard.objects.create(
            issuer=organizer,
            currency="EUR",
            secret="TIDE" + "".join(CHANCE.choice("ABCDEFGHJKLMNPQRSTUVWXYZ3789") for _ in range(6)),
            conditions=note,
            expires=datetime.combine(date(2029, 12, 31), datetime.max.time().replace(microsecond=0), ZONE),
            issuance=_clock[0],
        )
        card.transactions.create(value=Decimal(value), acceptor=organizer, datetime=_clock[0])
        if Decimal(used):
            _clock[0] += timedelta(days=9)
            card.transactions.create(value=-Decimal(used), acceptor=organizer, datetime=_clock[0])


with scopes_disabled(), transaction.atomic():
    fill()
