"""Fills the empty archive of the Kestrel Valley Railway Trust; run with the site's own Python and Django's settings.

The dates are fixed, the chances come from one seeded generator, so that two runs give the same rows.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "archive.settings")
os.environ["ARCHIVE_SEEDING"] = "1"
django.setup()

from allauth.account.models import EmailAddress  # noqa: E402
from archive.models import Member, Subscription  # noqa: E402
from archive.register import member_id  # noqa: E402
from django.contrib.auth.hashers import make_password  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.sites.models import Site  # noqa: E402
from django.db import transaction  # noqa: E402
from hyperkitty.lib.analysis import compute_thread_order_and_depth  # noqa: E402
from hyperkitty.models import (  # noqa: E402
    ArchivePolicy,
    Attachment,
    Email,
    Favorite,
    MailingList,
    Sender,
    Tag,
    Tagging,
    Thread,
    Vote,
)

FIRST = datetime(2025, 1, 6, 8, 0, tzinfo=UTC)
LAST = datetime(2026, 6, 30, 20, 0, tzinfo=UTC)
HOST = "lists.kestrelvalley.example"
PASSWORDS = {"hollis.grant": "Semaphore-1889", "wren.adeyemi": "Kestrel-Board-7"}

PEOPLE = """Hollis Grant, Wren Adeyemi, Rosalind Pike, Tomasz Wilk, Ines Marchetti, Bernard Okafor, Marguerite Shaw,
Anita Desai, Gwilym Parry, Colin Fenwick, Joyce Fenwick, Dafydd Moss, Petra Lindqvist, Samuel Achterberg, Nuala Byrne,
Ravi Menon, Edwin Thistle, Harriet Lowe, Yusuf Karaca, Beatrix Holm, Malcolm Reddy, Sheila Orton, Leif Andersen,
Priya Nair, Douglas Kemp, Imogen Vale""".replace("\n", " ").split(", ")

LISTS = {
    "announce": ("Announcements", "News of the Trust for all members", "2025-01-02"),
    "workshop": ("Locomotive Workshop", "Engines, carriages and the machines that mend them", "2025-01-03"),
    "signals": ("Signals and Telegraph", "Signal boxes, block instruments and wires", "2025-01-04"),
    "operations": ("Operations and Rosters", "Trains, crews, timetables and the weekly roster", "2025-01-05"),
    "heritage": ("History and Archive", "Photographs, documents and the museum", "2025-01-07"),
    "gardens": ("Station Gardens", "Flower beds, hedges and the best kept station", "2025-01-08"),
    "events": ("Events and Visitors", "Galas, school visits and dining trains", "2025-01-09"),
    "trustees": ("Trustees", "Papers and decisions of the board", "2025-01-10"),
}
KEEN = {
    "announce": "Marguerite Shaw, Wren Adeyemi, Bernard Okafor, Harriet Lowe, Rosalind Pike",
    "workshop": "Gwilym Parry, Dafydd Moss, Samuel Achterberg, Malcolm Reddy, Hollis Grant, Douglas Kemp, "
    "Leif Andersen",
    "signals": "Petra Lindqvist, Edwin Thistle, Yusuf Karaca, Hollis Grant, Ravi Menon, Colin Fenwick",
    "operations": "Nuala Byrne, Ravi Menon, Sheila Orton, Leif Andersen, Hollis Grant, Anita Desai, Edwin Thistle",
    "heritage": "Ines Marchetti, Bernard Okafor, Beatrix Holm, Imogen Vale, Rosalind Pike, Hollis Grant",
    "gardens": "Joyce Fenwick, Colin Fenwick, Priya Nair, Beatrix Holm, Harriet Lowe, Sheila Orton",
    "events": "Harriet Lowe, Priya Nair, Anita Desai, Imogen Vale, Hollis Grant, Nuala Byrne, Malcolm Reddy",
    "trustees": "Marguerite Shaw, Wren Adeyemi, Tomasz Wilk, Anita Desai, Rosalind Pike",
}
WEIGHT = {"operations": 1.25, "workshop": 1.3, "announce": 0.55, "trustees": 0.9}
MEMBER_OF = ("announce", "workshop", "signals", "operations", "heritage", "events")
"""Lists of the ordinary member; the trustees' is private."""

SAID = {
    "announce": [
        "Thank you for letting us know in good time.",
        "Could this go on the notice board in the mess room as well?",
        "I have passed it on to the volunteers who are not on the list.",
        "Good news, and well done to everybody who worked for it.",
        "Is there a number to ring for those without a computer?",
        "I shall put a line about it in the next magazine.",
    ],
    "workshop": [
        "I had the same on the other engine, and it turned out to be a worn seat.",
        "There is a drawing of it in the cabinet, third drawer from the top.",
        "Please write it in the repair book before anybody touches it.",
        "I can have a look on Thursday when the pit is free.",
        "We turned a new one on the small lathe and it took an afternoon.",
        "Measure it cold and again in steam, the difference tells you a lot.",
        "Mind the asbestos tape on the old flange, that has to be taken off by the firm.",
        "The stores have two of them, but one is without a thread.",
        "That is a job for the winter, not for the running season.",
        "I would try it with a new gasket before ordering anything.",
    ],
    "signals": [
        "I shall bring the meter on Saturday and measure it end to end.",
        "The linesman's book has an entry about the same fault in 2018.",
        "Please do not adjust it without telling the signalman on duty.",
        "I have cleaned the contacts and it has behaved since.",
        "The box diagram ought to be changed at the same time.",
        "There is a spare in the relay room, in the tall cupboard.",
        "That has to go past the signalling engineer first.",
        "It worked perfectly when I tried it, of course.",
        "Could somebody from the permanent way gang be there as well?",
    ],
    "operations": [
        "I can take the early turn if nobody else wants it.",
        "Please tell control, not only the list.",
        "The guards would rather have it the other way round.",
        "I have put it in the weekly notice.",
        "We tried that in 2022 and the connection at Thornby was missed.",
        "It works as long as the crossing keeper is there by eight.",
        "My hours are used up for this month, sorry.",
        "Could we decide this at the meeting instead?",
        "The passengers did not mind, but the buffet did.",
    ],
    "heritage": [
        "There is something about it in the board minutes of that year.",
        "What a find. Please wear gloves.",
        "I have looked it up in the gazetteer, and the spelling is right.",
        "Could you scan the back as well, there may be a pencil note?",
        "The county record office has a copy, I saw it in the spring.",
        "I would ask Edwin, his father worked there.",
        "It should go in a box without acid before anything else.",
        "The date cannot be right, that building came ten years later.",
    ],
    "gardens": [
        "I have cuttings of it at home, if anybody would like some.",
        "The soil there is as dry as a bone, so plenty of compost first.",
        "I can come on Wednesday with the big watering cans.",
        "Mind the cables beside the lamp posts when you dig.",
        "The passengers always ask about it, a label would be good.",
        "It did well in the shade of the footbridge last year.",
        "Could the station staff be asked to close the gate?",
    ],
    "events": [
        "Put me down for the Saturday, please.",
        "We ought to ask the police about the traffic in the lane.",
        "The leaflet has to be at the printer three weeks before.",
        "It was a great success last time, apart from the car park.",
        "Are the toilets at Coldwell going to be ready by then?",
        "I can ask my sister's band, they play for their supper.",
        "Please let the caterers know the numbers by Wednesday.",
        "That clashes with the village show, I am afraid.",
    ],
    "trustees": [
        "I agree with the proposal as it stands.",
        "Could we have the figures of the last three years beside it?",
        "I would like this to be minuted.",
        "Let us take it to the meeting rather than decide it here.",
        "The insurers should see it before we sign.",
        "I declare an interest, as my brother works for the firm.",
    ],
}
FURTHER = [
    "Otherwise I am happy with it.",
    "I am away until the weekend, so please go ahead without me.",
    "Let me know if you need a hand.",
    "What do the others think?",
    "I shall report back here.",
    "Sorry for the late answer.",
    "Perhaps we could talk about it over tea on Saturday.",
    "That is how we have always done it, for what it is worth.",
    "I will bring the key.",
    "",
    "",
    "",
]
CLOSE = ["Regards", "Best wishes", "Cheers", "Thanks", "All the best"]
TAGS = {
    "announce": ["members", "news", "safety"],
    "workshop": ["boiler", "brakes", "tools", "carriages", "purchase"],
    "signals": ["fault", "safety", "training", "spares"],
    "operations": ["timetable", "crew", "safety", "passengers"],
    "heritage": ["photographs", "documents", "museum", "purchase"],
    "gardens": ["plants", "watering", "wildlife", "competition"],
    "events": ["gala", "families", "catering", "volunteers"],
    "trustees": ["finance", "staff", "property"],
}
MONTHS = [(2025 + n // 12, n % 12 + 1) for n in range(18)]


@dataclass
class Topic:
    """A thread to be: who begins it when, and what is said."""

    of: str
    subject: str
    opening: str
    answer: str
    begun: datetime | None = None
    by: str = ""
    attached: str = ""
    month: str = ""


def address(person: str) -> str:
    """The address of a person."""
    return f"{person.lower().replace(' ', '.')}@kestrelvalley.example"


def topics() -> list[Topic]:
    """The topics of the file, and those that come each month."""
    found: list[Topic] = []
    of = ""
    for line in (Path(__file__).parent / "topics.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            of = line.strip("[]")
        elif line.count("|") in (2, 3) and not line.startswith("#"):
            subject, opening, answer, *month = (part.strip() for part in line.split("|"))
            found.append(Topic(of, subject, opening, answer, month=month[0] if month else ""))
    for number, (year, month) in enumerate(MONTHS):
        name = datetime(year, month, 1, tzinfo=UTC).strftime("%B %Y")
        miles = 900 + (number * 377) % 640
        found.append(
            Topic(
                "announce",
                f"Newsletter, {name}",
                f"Here is the newsletter of {name}. The trains ran {miles} miles last month, "
                f"and {3 + number * 5 % 11} new members have joined. The tea room takes part of the credit.",
                "The copy on paper is in the booking hall at Thornby for those who prefer it.",
                datetime(year, month, 2 + number % 3, 9, 10 + number, tzinfo=UTC) + timedelta(days=5),
                "Bernard Okafor",
                f"newsletter-{year}-{month:02}.txt",
            )
        )
        found.append(
            Topic(
                "operations",
                f"Crew roster, {name}",
                f"The roster of {name} is attached. There are {2 + number * 7 % 9} turns without a fireman "
                f"and {1 + number * 3 % 4} without a guard. Please write to me directly if you can fill one.",
                "I have filled two of the open turns by telephone, the new version is in the mess room.",
                datetime(year, month, 1 + number % 5, 18, 30, tzinfo=UTC) + timedelta(days=7),
                "Nuala Byrne",
                f"roster-{year}-{month:02}.csv",
            )
        )
        if month % 3 == 2:
            found.append(
                Topic(
                    "trustees",
                    f"Minutes of the meeting, {name}",
                    f"The minutes of {name} are attached. {5 + number % 4} trustees were there, "
                    f"and {2 + number % 3} matters are left for the next meeting.",
                    "One correction: I was present until the end, not only for item 4.",
                    datetime(year, month, 20, 11, 5, tzinfo=UTC),
                    "Wren Adeyemi",
                    f"minutes-{year}-{month:02}.txt",
                )
            )
    return found


def fill() -> None:
    """Make all rows."""
    chance = random.Random(1889)
    Site.objects.update_or_create(
        id=1, defaults={"name": "Kestrel Valley Railway Trust", "domain": "127.0.0.1"}
    )
    users = people(chance)
    lists = mailing_lists(users)
    emails: list[Email] = []
    drafts = topics()
    for draft in drafts:
        if draft.begun is None:
            since = datetime.fromisoformat(f"{draft.month}-01T08:00+00:00") if draft.month else FIRST
            until = since + timedelta(days=24) if draft.month else LAST - timedelta(days=40)
            at = since + timedelta(minutes=chance.randrange(int((until - since).total_seconds() // 60)))
            draft.begun = at.replace(hour=chance.randrange(6, 21))
    for draft in sorted(drafts, key=lambda one: (one.begun, one.subject)):
        emails += thread(chance, lists[draft.of], draft, len(emails))
    for found in Thread.objects.order_by("id"):
        found.date_active = found.emails.order_by("-date").values_list("date", flat=True)[0]
        found.save()
        compute_thread_order_and_depth(found)
    marks(chance, users, emails)


def people(chance: random.Random) -> dict[str, User]:
    """Accounts and the register."""
    users: dict[str, User] = {}
    for number, person in enumerate(PEOPLE):
        first, last = person.split()
        login = person.lower().replace(" ", ".")
        joined = datetime(2021 + number % 4, 1 + number * 5 % 12, 1 + number, 10, tzinfo=UTC)
        user = User(
            username=login,
            first_name=first,
            last_name=last,
            email=address(person),
            is_staff=login == "wren.adeyemi",
            is_superuser=login == "wren.adeyemi",
            date_joined=joined,
            password=make_password(PASSWORDS.get(login, f"none-{chance.random()}"), salt=f"kestrel{number}"),
        )
        user.save()
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        Member.objects.update_or_create(
            address=user.email,
            defaults={"member_id": member_id(user.email), "name": person, "joined": joined},
        )
        Sender.objects.create(address=user.email, mailman_id=member_id(user.email))
        users[person] = user
    return users


def mailing_lists(users: dict[str, User]) -> dict[str, MailingList]:
    """The lists with their owners and subscribers."""
    made: dict[str, MailingList] = {}
    for name, (title, text, created) in LISTS.items():
        private = name == "trustees"
        made[name] = mlist = MailingList.objects.create(
            name=f"{name}@{HOST}",
            list_id=f"{name}.{HOST}",
            display_name=title,
            description=text,
            subject_prefix="",
            archive_policy=(ArchivePolicy.private if private else ArchivePolicy.public).value,
            created_at=datetime.fromisoformat(created).replace(tzinfo=UTC),
            archive_rendering_mode="text",
        )
        keen = KEEN[name].split(", ")
        mlist.owners.add(users["Wren Adeyemi"])
        mlist.moderators.add(users[next(one for one in keen if one not in ("Wren Adeyemi", "Hollis Grant"))])
        for person, user in users.items():
            if person == "Hollis Grant":
                wanted = name in MEMBER_OF
            else:
                wanted = person in keen or name == "announce" or (not private and len(person + name) % 2 == 0)
            if wanted:
                Subscription.objects.create(
                    member=Member.objects.get(address=user.email), list_id=mlist.list_id
                )
    return made


def thread(chance: random.Random, mlist: MailingList, draft: Topic, number: int) -> list[Email]:
    """One thread with its mails."""
    keen = KEEN[draft.of].split(", ")
    others = [one for one in PEOPLE if one not in keen] if draft.of != "trustees" else []
    author = draft.by or chance.choice(keen)
    at = draft.begun or FIRST
    sent = [mail(mlist, draft.subject, f"{greeting(chance)}\n\n{draft.opening}", author, at, None, number)]
    if draft.attached:
        lines = [draft.subject, "", draft.opening, ""]
        lines += [f"{day:02}; {chance.choice(keen)}; {chance.choice(keen)}" for day in range(1, 29)]
        attach(sent[0], draft.attached, "\n".join(lines))
    weight = WEIGHT.get(draft.of, 1.0) * (0.55 if draft.attached else 1.0)
    count = max(1, min(14, round(chance.lognormvariate(1.35, 0.55) * weight)))
    said = chance.sample(SAID[draft.of], min(count, len(SAID[draft.of])))
    said.insert(min(len(said), chance.randrange(0, 3)), draft.answer)
    for text in said[:count]:
        person = chance.choice(keen + chance.sample(others, 2) if others else keen)
        parent = chance.choice([sent[0], sent[-1], sent[-1], chance.choice(sent)])
        if person == parent.sender_name:
            person = chance.choice([one for one in keen if one != person])
        at += timedelta(minutes=chance.choice([25, 70, 190, 400, 900, 1500, 2600]) + chance.randrange(50))
        if at.hour < 6:
            at += timedelta(hours=6 + chance.randrange(3))
        body = [f"{parent.sender_name.split()[0]},", "", f"{text} {chance.choice(FURTHER)}".strip()]
        if chance.random() < 0.2:
            quoted = parent.content.split("\n\n")[1].splitlines()[0]
            body = [f"On {parent.date:%d %B %Y}, {parent.sender_name} wrote:", f"> {quoted}", "", *body[2:]]
        sent.append(
            mail(mlist, f"Re: {draft.subject}", "\n".join(body), person, at, parent, number + len(sent))
        )
        if chance.random() < 0.04:
            attach(sent[-1], chance.choice(["sketch", "measurements", "notes"]) + ".txt", f"{text}\n")
    return sent


def greeting(chance: random.Random) -> str:
    """How an opening begins."""
    return chance.choice(["Dear all,", "Hello everybody,", "Hello,", "Good evening all,", "Friends,"])


def mail(
    mlist: MailingList, subject: str, text: str, person: str, at: datetime, parent: Email | None, number: int
) -> Email:
    """One mail of the archive."""
    close = CLOSE[number % len(CLOSE)]
    made = Email(
        mailinglist=mlist,
        message_id=f"kv{number:05}.{at:%Y%m%d%H%M}@kestrelvalley.example",
        sender=Sender.objects.get(address=address(person)),
        sender_name=person,
        subject=subject,
        content=f"{text}\n\n{close}\n{person.split()[0]}\n",
        date=at,
        timezone=0,
        in_reply_to=parent.message_id if parent else None,
        parent=parent,
        archived_date=at + timedelta(seconds=40),
    )
    if parent:
        made.thread_id = parent.thread_id
    made.save()
    return made


def attach(email: Email, name: str, text: str) -> None:
    """Attach a text to a mail."""
    kind = "text/csv" if name.endswith(".csv") else "text/plain"
    Attachment.objects.create(
        email=email, counter=2, name=name, content_type=kind, encoding="utf-8", content=text.encode()
    )


def marks(chance: random.Random, users: dict[str, User], emails: list[Email]) -> None:
    """Votes, tags and favourites."""
    names = sorted({tag for tags in TAGS.values() for tag in tags})
    tags = {name: Tag.objects.create(name=name) for name in names}
    for email in emails:
        of = email.mailinglist.name.split("@")[0]
        crowd = KEEN[of].split(", ") if of == "trustees" else PEOPLE
        liked = min(len(crowd) - 1, int(chance.expovariate(0.5 if email.parent_id is None else 1.0)))
        for person in chance.sample([one for one in crowd if one != email.sender_name], liked):
            value = -1 if chance.random() < 0.12 else 1
            Vote.objects.create(email=email, user=users[person], value=value)
    for found in Thread.objects.order_by("id"):
        of = found.mailinglist.name.split("@")[0]
        keen = KEEN[of].split(", ")
        for name in chance.sample(TAGS[of], chance.choice([0, 1, 1, 1, 2])):
            Tagging.objects.create(tag=tags[name], thread=found, user=users[chance.choice(keen)])
        crowd = keen if of == "trustees" else PEOPLE
        for person in chance.sample(crowd, chance.choice([0, 0, 1, 1, 2])):
            if person != "Hollis Grant" or of in MEMBER_OF or of == "gardens":
                Favorite.objects.create(thread=found, user=users[person])
    hollis = users["Hollis Grant"]
    wanted = Thread.objects.exclude(favorites__user=hollis).exclude(mailinglist__name__startswith="trustees")
    for found in chance.sample(list(wanted.order_by("id")), 14):
        Favorite.objects.create(thread=found, user=hollis)


if __name__ == "__main__":
    with transaction.atomic():
        fill()
    print(MailingList.objects.count(), Thread.objects.count(), Email.objects.count(), Vote.objects.count())
