"""Make the tracker of a walkers' charity: ``python seed.py HOME URL``, run by the Python of the site's environment.

The history is played event by event with the tracker's own classes and a clock that is set to each event, so that
journals, nosy lists and dates are as the application would have made them.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import roundup.date
import roundup.password
from roundup import instance
from roundup.configuration import CoreConfig

HERE = Path(__file__).parent
FIRST, LAST = datetime(2025, 1, 7, 8), datetime(2026, 5, 20, 8)
END = datetime(2026, 6, 19, 17)
ADMIN, MEMBER = "warden-of-keys", "heather-moor-7"
"""Passwords of the administrator and of every person."""
ZONE = "Europe/London"

PEOPLE = (  # log-in, name, organisation, phone; those with a star do the work that is assigned
    ("nsharma*", "Nadia Sharma", "Web team", "01524 555 0112"),
    ("tokafor*", "Tobias Okafor", "App team", "01524 555 0118"),
    ("gwilliams*", "Gwen Williams", "Map group", "01524 555 0121"),
    ("rlindqvist*", "Rasmus Lindqvist", "Map group", "01524 555 0124"),
    ("ebrennan*", "Eileen Brennan", "Office", "01524 555 0103"),
    ("pmarchetti*", "Paolo Marchetti", "App team", "01524 555 0137"),
    ("jhollis*", "Judith Hollis", "Web team", "01524 555 0140"),
    ("sabebe*", "Selam Abebe", "Web team", "01524 555 0146"),
    ("dpryce*", "Dylan Pryce", "Office", "01524 555 0109"),
    ("mkowalska", "Magda Kowalska", "Translators", "01524 555 0151"),
    ("fgreenhalgh", "Frank Greenhalgh", "Northern branch", "01969 555 0163"),
    ("aturner", "Alice Turner", "Wardens", "01539 555 0172"),
    ("hnakamura", "Hiro Nakamura", "Map shop", "01524 555 0178"),
    ("cdonnelly", "Ciara Donnelly", "Walk leaders", "01539 555 0181"),
    ("bashworth", "Barnaby Ashworth", "Trustees", "01524 555 0101"),
    ("lfontaine", "Lucie Fontaine", "Access group", "01524 555 0187"),
    ("omorgan", "Owen Morgan", "Welsh branch", "01766 555 0190"),
    ("krasmussen", "Karen Rasmussen", "Membership", "01524 555 0106"),
    ("vpatel", "Vikram Patel", "Finance", "01524 555 0104"),
    ("wthackray", "William Thackray", "Wardens", "01756 555 0133"),
    ("sodonovan", "Sinead O'Donovan", "Walk leaders", "01524 555 0195"),
    ("gmbeki", "Grace Mbeki", "Press office", "01524 555 0107"),
    ("rhaworth", "Roy Haworth", "Northern branch", "01969 555 0166"),
    ("zyilmaz", "Zeynep Yilmaz", "App team", "01524 555 0139"),
)
TEAMS = {
    "android": ("tokafor", "zyilmaz"),
    "ios": ("pmarchetti", "tokafor"),
    "tile-server": ("gwilliams", "rlindqvist"),
    "routing": ("rlindqvist", "gwilliams"),
    "print-maps": ("gwilliams", "hnakamura"),
    "offline-maps": ("pmarchetti", "tokafor"),
    "office-it": ("dpryce", "ebrennan"),
    "email": ("ebrennan", "sabebe"),
    "membership": ("jhollis", "krasmussen"),
    "donations": ("sabebe", "jhollis"),
    "website": ("nsharma", "jhollis"),
    "accessibility": ("nsharma", "lfontaine"),
    "translation": ("mkowalska", "omorgan"),
    "documentation": ("ebrennan", "aturner"),
    "events": ("sabebe", "cdonnelly"),
    "field-reports": ("tokafor", "aturner"),
    "api": ("sabebe", "nsharma"),
    "search": ("jhollis", "nsharma"),
    "security": ("dpryce", "sabebe"),
    "performance": ("nsharma", "rlindqvist"),
}
STATES = {  # what the last states are reached by, and how often each is
    "unread": (14, ()),
    "chatting": (30, ("talk", "talk")),
    "need-eg": (11, ("talk", "ask")),
    "deferred": (12, ("talk", "defer")),
    "in-progress": (24, ("talk", "work")),
    "testing": (11, ("talk", "work", "test")),
    "done-cbb": (8, ("work", "cbb")),
    "resolved": (40, ("talk", "work", "test", "done")),
}
STATE_OF = {
    "ask": "need-eg",
    "defer": "deferred",
    "work": "in-progress",
    "test": "testing",
    "cbb": "done-cbb",
    "done": "resolved",
}
FILES = (
    ("webserver.log", "09:14:02 502 upstream closed\n09:14:03 502 upstream closed\n09:20:41 200 ok\n"),
    ("affected.csv", "number,branch\n1043,Northern\n1188,Welsh\n1202,Northern\n1345,Coast\n"),
    ("steps.txt", "1. Open the page\n2. Fill in the form\n3. Go back once\n4. Press the button again\n"),
    ("track.gpx", '<gpx version="1.1"><trk><name>Test walk</name></trk></gpx>\n'),
    ("crash-report.txt", "Version 4.3.0\nThread 1: out of bounds in TileStore.load\n"),
)
QUERIES = (  # owner, name, private, filter
    ("gwilliams", "Map work in progress", False, "keyword={tile-server}&status=5&@filter=keyword,status"),
    ("nsharma", "Urgent and critical", False, "priority=1,2&status=-1,1,2,3,4,5,6,7&@filter=priority,status"),
    ("nsharma", "Waiting for an example", True, "status=4&@filter=status"),
    ("ebrennan", "Office round", False, "keyword={office-it}&@filter=keyword"),
    ("tokafor", "App testing", False, "keyword={android}&status=6&@filter=keyword,status"),
    (
        "lfontaine",
        "Access group agenda",
        False,
        "keyword={accessibility}&status=-1,1,2,3,4,5,6,7&@filter=keyword,status",
    ),
)
Event = tuple[datetime, int, Callable[[], None]]


class Clock:
    """The time the tracker believes in."""

    now = datetime(2025, 1, 6, 9)


def read(name: str) -> list[list[str]]:
    """Lines of a text beside this file, split at the bars."""
    return [line.split("|") for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def make_tracker(home: Path, url: str) -> None:
    """An empty tracker of the classic template with its settings."""
    admin = Path(sys.executable).with_name("roundup-admin")
    subprocess.run([admin, "-i", home, "install", "classic", "sqlite"], check=True, stdout=subprocess.DEVNULL)
    config = CoreConfig(str(home))
    for name, value in {
        "TRACKER_NAME": "Larkfield Trails tracker",
        "TRACKER_WEB": url,
        "TRACKER_EMAIL": "tracker@larkfield.example",
        "MAIL_DOMAIN": "larkfield.example",
        "MAIL_HOST": "localhost",
        "MAIL_DEBUG": "sent-mail.txt",
        "ADMIN_EMAIL": "admin@larkfield.example",
        "WEB_LOGIN_ATTEMPTS_MIN": "0",
        "WEB_SECRET_KEY": "a fixed key is enough for a tracker of one machine",
        "TIMEZONE": "0",
        "INDEXER": "native",
    }.items():
        config[name] = value
    config.save()


def working_hour(when: datetime, chance: random.Random) -> datetime:
    """The same day, or the Monday after it, at some time of the working day."""
    when += timedelta(days=(7 - when.weekday()) if when.weekday() > 4 else 0)
    return when.replace(
        hour=chance.randint(8, 17), minute=chance.randint(0, 59), second=chance.randint(0, 59)
    )


def main(home: Path, url: str) -> None:
    """Make the tracker and play its history."""
    chance = random.Random(8111)
    roundup.date.utcnow = lambda: Clock.now
    roundup.password.random_.token_bytes = chance.randbytes
    make_tracker(home, url)
    tracker = instance.open(str(home))
    tracker.init(roundup.password.Password(ADMIN, config=tracker.config))
    db = tracker.open("admin")
    users = make_people(db)
    keywords = {name: db.keyword.create(name=name) for name in TEAMS}
    make_queries(db, users, keywords)
    db.commit()
    for when, _, act in sorted(history(db, users, keywords, chance), key=lambda event: event[:2]):
        Clock.now = when
        act()
        db.commit()
    db.close()
    settle(home)


def make_people(db: Any) -> dict[str, str]:
    """Accounts; log-in -> id."""
    db.user.set("1", realname="Tracker Administrator", organisation="Office", phone="01524 555 0100")
    password = roundup.password.Password(MEMBER, config=db.config)
    made = {}
    for login, name, organisation, phone in PEOPLE:
        login = login.rstrip("*")
        made[login] = db.user.create(
            username=login,
            realname=name,
            organisation=organisation,
            phone=phone,
            address=f"{login}@larkfield.example",
            password=password,
            roles="User",
        )
    return made


def make_queries(db: Any, users: dict[str, str], keywords: dict[str, str]) -> None:
    """Saved searches of some people."""
    for owner, name, private, where in QUERIES:
        db.setCurrentUser(owner)
        for keyword, number in keywords.items():
            where = where.replace(f"{{{keyword}}}", number)
        one = db.query.create(
            name=name,
            klass="issue",
            url=f"{where}&@columns=id,activity,title,status,assignedto&@sort=-activity&@group=priority&@pagesize=50",
            private_for=users[owner] if private else None,
        )
        db.user.set(users[owner], queries=[*db.user.get(users[owner], "queries"), one])
    db.setCurrentUser("admin")


def history(
    db: Any, users: dict[str, str], keywords: dict[str, str], chance: random.Random
) -> Iterator[Event]:
    """All that happened, as (time, number, what to do)."""
    issues = read("issues.txt")
    texts: dict[str, list[str]] = {}
    for kind, text in read("messages.txt"):
        texts.setdefault(kind, []).append(text)
    states = [state for state, (number, _) in STATES.items() for _ in range(number)]
    chance.shuffle(states)
    numbers = count(1)
    order = count(1)
    made: dict[str, str] = {}
    workers = [one[0].rstrip("*") for one in PEOPLE if one[0].endswith("*")]
    reporters = [one[0].rstrip("*") for one in PEOPLE]

    def write(author: str, text: str) -> str:
        number = next(numbers)
        return db.msg.create(
            author=users[author],
            date=roundup.date.Date("."),
            summary=text.split(". ")[0][:70],
            content=text,
            recipients=[],
            messageid=f"<{number}.{Clock.now:%Y%m%d%H%M%S}@larkfield.example>",
        )

    def create(
        title: str, text: str, author: str, fields: dict[str, Any], attached: tuple[str, str] | None
    ) -> None:
        db.setCurrentUser(author)
        files = [db.file.create(name=attached[0], type="text/plain", content=attached[1])] if attached else []
        made[title] = db.issue.create(title=title, messages=[write(author, text)], files=files, **fields)

    def change(title: str, text: str, author: str, fields: dict[str, Any]) -> None:
        db.setCurrentUser(author)
        number = made[title]
        db.issue.set(number, messages=[*db.issue.get(number, "messages"), write(author, text)], **fields)

    def join(title: str, people: list[str]) -> None:
        db.setCurrentUser(people[0])
        now = db.issue.get(made[title], "nosy")
        db.issue.set(made[title], nosy=[*now, *(users[one] for one in people if users[one] not in now)])

    def close_double(title: str, older: str) -> None:
        text = f"This is the same as issue{made[older]}. Please follow that one."
        change(title, text, "jhollis", {"superseder": [made[older]], "status": db.status.lookup("resolved")})

    doubles = doubled(issues)
    step = (LAST - FIRST) / (len(issues) + 1)
    for place, (priority, names, title, opening) in enumerate(issues):
        when = working_hour(FIRST + step * (place + chance.random()), chance)
        topics = names.split(",")
        author = chance.choice(reporters)
        fields = {"priority": db.priority.lookup(priority), "keyword": [keywords[name] for name in topics]}
        attached = chance.choice(FILES) if chance.random() < 0.14 else None
        yield (
            when,
            next(order),
            lambda t=title, o=opening, a=author, f=fields, x=attached: create(t, o, a, f, x),
        )
        if title in doubles:
            when = working_hour(when + timedelta(days=3), chance)
            yield when, next(order), lambda t=title, d=doubles[title]: close_double(t, d)
            continue
        worker = chance.choice([*TEAMS[topics[0]], TEAMS[topics[0]][0], chance.choice(workers)])
        state = states[place]
        kinds = list(STATES[state][1])
        if kinds and chance.random() < 0.65:
            kinds.insert(1, topics[-1])
        assigned = False
        for kind in kinds:
            when = working_hour(when + timedelta(days=chance.choice((1, 1, 2, 3, 5, 8, 13))), chance)
            if when > END:
                break
            own = kind in STATE_OF
            writer = worker if own else chance.choice([*TEAMS[topics[-1]], chance.choice(reporters)])
            fields = {"status": db.status.lookup(STATE_OF[kind])} if own else {}
            if not assigned and (kind in ("work", "cbb") or (own and chance.random() < 0.5)):
                fields["assignedto"] = users[worker]
                assigned = True
            text = chance.choice(texts[kind])
            yield when, next(order), lambda t=title, o=text, a=writer, f=fields: change(t, o, a, f)
        if chance.random() < 0.45:
            when = working_hour(when + timedelta(days=1), chance)
            people = chance.sample(reporters, chance.randint(1, 3))
            yield when, next(order), lambda t=title, p=people: join(t, p)


def doubled(issues: list[list[str]]) -> dict[str, str]:
    """Titles of the last five issues, which report again what an older one says -> title of that."""
    older = (1, 26, 17, 76, 8)
    return {issues[-5 + place][2]: issues[number][2] for place, number in enumerate(older)}


def settle(home: Path) -> None:
    """Drop what making the data left behind."""
    (home / "sent-mail.txt").unlink(missing_ok=True)
    (home / "config.bak").unlink(missing_ok=True)
    for folder in home.rglob("__pycache__"):
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
