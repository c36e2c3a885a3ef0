"""Configuration, log-ins, pages with their revisions, and media of the wiki, from a fixed seed."""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from benchmarks.sites.dokuwiki.tables import CONTACTS, INVENTORY, KITCHEN, PEOPLE, Draft, drafts, name_of

HERE = Path(__file__).parent
SEED = 8116
LAST = datetime(2026, 2, 20, 17, 0, tzinfo=UTC)
PASSWORDS = {"martin.holt": "mayfly-larvae-42", "ruth.penhallow": "tarnside-admin-42"}
"""Passwords of the accounts that are used; everybody else's is made from the log-in."""

SETTINGS = {
    "title": "'Tarnside wiki'",
    "tagline": "'Elterbeck Tarn'",
    "license": "''",
    "useacl": "1",
    "superuser": "'@admin'",
    "manager": "'@managers'",
    "passcrypt": "'bcrypt'",
    "disableactions": "'register,resendpwd'",
    "useheading": "'1'",
    "youarehere": "1",
    "showuseras": "'username'",
    "dnslookups": "0",
    "recent_days": "3650",
    "subscribers": "1",
    "mailfrom": "'wiki@tarnside.example'",
    "userewrite": "'1'",
    "useslash": "1",
    "securecookie": "0",
    "updatecheck": "0",
}
PERMISSIONS = """
*                 @ALL        0
start             @ALL        1
sidebar           @ALL        1
courses:*         @ALL        1
*                 @user       8
sidebar           @user       1
handbook:*        @user       1
handbook:*        @hr        16
board:*           @user       0
board:*           @trustees   2
board:*           @managers  16
forms:*           @user       1
forms:*           @office    16
safety:*          @user       2
safety:*          @managers  16
buildings:*       @estates   16
kitchen:*         @kitchen   16
"""
SUMMARIES = [
    "after the staff meeting",
    "more detail",
    "checked and corrected",
    "yearly review",
    "wording",
    "missing part added",
    "as agreed with Anjali",
    "typing error",
]
SUBSCRIPTIONS = {
    "procedures:fire_drill": (("tom.askew", "every"), ("dafydd.pryce", "digest")),
    "kitchen:stock": (("joel.dacre", "every"),),
    "it:known_problems": (("owen.strickland", "every"), ("martin.holt", "digest")),
    "inventory:": (("priya.nair", "list"),),
}


def seed(home: Path) -> None:
    """Write everything into the folder of a new wiki."""
    chance = Random(SEED)
    for name in [
        "attic",
        "cache",
        "index",
        "locks",
        "log",
        "media",
        "media_attic",
        "media_meta",
        "meta",
        "pages",
        "tmp",
    ]:
        (home / "data" / name).mkdir(parents=True)
    _configure(home / "conf")
    pages = [*_written(), *drafts(chance)]
    log: list[str] = []
    for draft in pages:
        log += _write_page(home / "data", draft, chance)
    _write_text(
        home / "data" / "meta" / "_dokuwiki.changes", "".join(sorted(log, key=lambda line: line[:10]))
    )
    _write_media(home / "data")
    _write_text(home / "data" / "meta" / "_htcookiesalt2", "4d1f0b7c6a925e38d7c4a01bb3f2e69a5c8710de44b2f3a1")
    for page, readers in SUBSCRIPTIONS.items():
        lines = [f"{login.replace('.', '%2e')} {style} 1743000000\n" for login, style in readers]
        _write_text(home / "data" / "meta" / (page.replace(":", "/") + ".mlist"), "".join(lines))


def _configure(conf: Path) -> None:
    local = "".join(f"$conf['{name}'] = {value};\n" for name, value in SETTINGS.items())
    _write_text(conf / "local.php", f"<?php\n{local}")
    _write_text(
        conf / "local.protected.php",
        "<?php\n$conf['savedir'] = getenv('WIKI_HOME') . '/data';\n$conf['basedir'] = '/';\n",
    )
    # Both would ask another host.
    _write_text(conf / "plugins.local.php", "<?php\n$plugins['popularity'] = 0;\n")
    _write_text(
        conf / "plugins.protected.php", "<?php\n$plugins['extension'] = 0;\n$plugins['popularity'] = 0;\n"
    )
    required = (conf / "plugins.required.php").read_text(encoding="utf-8")
    kept = [line for line in required.splitlines() if "'extension'" not in line]
    _write_text(conf / "plugins.required.php", "\n".join(kept) + "\n")
    _write_text(conf / "acl.auth.php", "# acl.auth.php\n# <?php exit()?>\n" + PERMISSIONS.lstrip("\n"))
    users = ["# users.auth.php\n# <?php exit()?>\n"]
    for person in PEOPLE:
        password = PASSWORDS.get(person.login, f"{person.login}-tarnside")
        mail = f"{person.login}@tarnside.example"
        users.append(f"{person.login}:{_hash(person.login, password)}:{person.name}:{mail}:{person.groups}\n")
    _write_text(conf / "users.auth.php", "".join(users))
    for path in conf.rglob("*"):
        os.utime(path, (1736150400, 1736150400))


def _hash(login: str, password: str) -> str:
    salt = hashlib.sha256(login.encode()).hexdigest()[:4].encode()
    return "{SSHA}" + base64.b64encode(hashlib.sha1(password.encode() + salt).digest() + salt).decode()


def _written() -> list[Draft]:
    made: list[Draft] = []
    for part in (HERE / "pages.txt").read_text(encoding="utf-8").split("@@ ")[1:]:
        head, _, text = part.partition("\n")
        page, authors, date = (one.strip() for one in head.split("|"))
        made.append(Draft(page, tuple(one.strip() for one in authors.split(",")), date, text.strip()))
    return made


def _moment(date: str, chance: Random) -> datetime:
    start = datetime.fromisoformat(date).replace(tzinfo=UTC)
    return start + timedelta(
        hours=chance.randint(8, 17), minutes=chance.randint(0, 59), seconds=chance.randint(0, 59)
    )


def _versions(draft: Draft, chance: Random) -> list[str]:
    """Texts from the first to the last: later ones have more lines, or a changed cell."""
    lines = draft.text.split("\n")
    made = [draft.text]
    removable = [n for n, line in enumerate(lines) if line.startswith(("| ", "  * ", "  - "))]
    for _ in draft.authors[1:]:
        if len(removable) > 2:
            removable.remove(chance.choice(removable[-4:]))
            kept = set(removable)
            text = [
                line
                for n, line in enumerate(lines)
                if not line.startswith(("| ", "  * ", "  - ")) or n in kept
            ]
            made.append("\n".join(text))
        else:
            shorter = made[-1].rsplit(". ", 1)[0] + "."
            made.append(shorter if shorter != made[-1] else made[-1] + " To be completed.")
    return made[::-1]


def _write_page(data: Path, draft: Draft, chance: Random) -> list[str]:
    """Write a page with its revisions; returns its lines of the log of the whole wiki."""
    path = draft.page.replace(":", "/")
    first = _moment(draft.made, chance)
    days = max((LAST - first).days - 1, 1)
    reach = min(days, 12) if draft.page.startswith(("minutes:", "board:")) else days
    later = sorted(chance.randint(1, max(reach, 1)) for _ in draft.authors[1:])
    moments = [first, *(_moment((first + timedelta(days=n)).date().isoformat(), chance) for n in later)]
    named = [date for date in re.findall(r"20\d\d-\d\d-\d\d", draft.text) if date < LAST.date().isoformat()]
    if named and later and reach == days:  # nobody wrote of a day that had not come
        moments[-1] = max(moments[-1], _moment(max(named), chance) + timedelta(days=1))
    moments = sorted(moments)
    stamps = [int(moment.timestamp()) + n for n, moment in enumerate(moments)]
    log, size = list[str](), 0
    for number, (author, text, stamp) in enumerate(
        zip(draft.authors, _versions(draft, chance), stamps, strict=True)
    ):
        content = (text + "\n").encode()
        kind, summary = ("C", "created") if not number else ("E", chance.choice(SUMMARIES))
        if kind == "E" and chance.random() < 0.2:
            kind = "e"
        entry = (stamp, "10.20.0.7", kind, draft.page, author, summary, "", len(content) - size)
        log.append("\t".join(str(part) for part in entry) + "\n")
        size = len(content)
        old = data / "attic" / f"{path}.{stamp}.txt.gz"
        old.parent.mkdir(parents=True, exist_ok=True)
        old.write_bytes(gzip.compress(content, mtime=0))
        os.utime(old, (stamp, stamp))
    page = data / "pages" / f"{path}.txt"
    _write_text(page, draft.text + "\n")
    os.utime(page, (stamps[-1], stamps[-1]))
    _write_text(data / "meta" / f"{path}.changes", "".join(log))
    _write_text(data / "meta" / f"{path}.meta", _php(_meta(draft, stamps, log[-1])))
    return log


def _meta(draft: Draft, stamps: Sequence[int], last: str) -> dict[str, object]:
    parts = last.rstrip("\n").split("\t")
    names = ("date", "ip", "type", "id", "user", "sum", "extra", "sizechange")
    change: dict[str, object] = dict(zip(names, parts, strict=True))
    change["date"], change["sizechange"] = int(parts[0]), int(parts[7])
    kept: dict[str, object] = {
        "date": {"created": stamps[0], "modified": stamps[-1]},
        "user": draft.authors[0],
        "creator": name_of(draft.authors[0]),
        "contributor": {author: name_of(author) for author in draft.authors[1:]},
        "last_change": change,
    }
    return {"current": kept, "persistent": kept}


def _php(value: object) -> str:
    """A value as PHP serialises it."""
    if isinstance(value, bool):
        return f"b:{int(value)};"
    if isinstance(value, int):
        return f"i:{value};"
    if isinstance(value, Mapping):
        inside = "".join(_php(key) + _php(one) for key, one in value.items())  # type: ignore[misc]
        return f"a:{len(value)}:{{{inside}}}"
    text = str(value)
    return f's:{len(text.encode())}:"{text}";'


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _picture(
    width: int, height: int, boxes: Sequence[tuple[int, int, int, int]], shade: tuple[int, int, int]
) -> bytes:
    """A simple plan: boxes with dark borders on a light ground, as PNG."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            colour = (246, 244, 236)
            for left, top, right, bottom in boxes:
                if left <= x <= right and top <= y <= bottom:
                    edge = min(x - left, right - x, y - top, bottom - y) < 2
                    colour = (60, 60, 60) if edge else shade
            rows += bytes(colour)

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(bytes(rows), 9)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _form(title: str, fields: Sequence[str]) -> bytes:
    """A one-page form as PDF."""
    lines = [f"BT /F1 18 Tf 60 780 Td ({title}) Tj ET"]
    lines += [
        f"BT /F1 11 Tf 60 {740 - 28 * n} Td ({field}: ........................................) Tj ET"
        for n, field in enumerate(fields)
    ]
    stream = "\n".join(lines).encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    made, places = b"%PDF-1.4\n", list[int]()
    for number, one in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(made)
    made += b"xref\n0 5\n0000000000 65535 f \n" + table
    return made + b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % start


def _files() -> dict[str, tuple[str, str, bytes]]:
    def listing(rows: str) -> bytes:
        return ("\n".join(line.replace("; ", ";") for line in rows.strip().splitlines()) + "\n").encode()

    halls = [(20, 20, 140, 110), (150, 20, 300, 110), (20, 120, 300, 200)]
    small = [(40, 30, 180, 170), (190, 30, 280, 90)]
    green, blue, sand, grey = (190, 214, 178), (176, 202, 224), (226, 210, 176), (208, 208, 208)
    site = [
        (10, 10, 90, 60),
        (120, 30, 180, 80),
        (210, 20, 330, 70),
        (30, 100, 110, 170),
        (220, 120, 380, 240),
    ]
    return {
        "buildings/site_map.png": ("tom.askew", "2025-02-17", _picture(400, 260, site, green)),
        "buildings/plan_main_house.png": ("tom.askew", "2025-02-18", _picture(320, 220, halls, sand)),
        "buildings/plan_tarn_lodge.png": ("tom.askew", "2025-02-18", _picture(320, 200, small, blue)),
        "buildings/plan_boathouse.png": ("sam.ullock", "2025-03-04", _picture(240, 180, small[:1], grey)),
        "buildings/plan_laboratory.png": ("priya.nair", "2025-03-05", _picture(320, 220, halls[:2], grey)),
        "forms/leave_request.pdf": (
            "gwen.tyrell",
            "2025-01-08",
            _form("Leave request", ("Name", "From", "To")),
        ),
        "forms/expenses_claim.pdf": (
            "peter.lowther",
            "2025-01-10",
            _form("Expenses claim", ("Name", "Date", "Purpose", "Miles", "Amount")),
        ),
        "forms/incident_report.pdf": (
            "fiona.garth",
            "2025-02-05",
            _form("Incident report", ("Name", "Place", "Time", "What happened", "First aid", "Witness")),
        ),
        "forms/medical_sheet.pdf": (
            "hattie.moss",
            "2025-01-15",
            _form("Medical sheet", ("Name", "Born", "Allergies", "Medicines")),
        ),
        "forms/route_card.pdf": (
            "rafe.thornton",
            "2025-02-21",
            _form("Route card", ("Leader", "Route", "Return")),
        ),
        "inventory/library_2026.csv": ("clara.whin", "2026-01-22", listing(INVENTORY["library"][3])),
        "inventory/laboratory_2026.csv": ("priya.nair", "2026-01-22", listing(INVENTORY["laboratory"][3])),
        "kitchen/stock_january.csv": ("joel.dacre", "2026-01-30", listing(KITCHEN["stock"][3])),
        "contacts/schools_2025.csv": ("hattie.moss", "2025-12-05", listing(CONTACTS["schools"][3])),
        "projects/trail_section.png": (
            "sam.ullock",
            "2025-06-11",
            _picture(360, 120, [(10, 60, 350, 90)], sand),
        ),
        "projects/meadow_fields.png": ("clara.whin", "2025-03-14", _picture(360, 240, site[2:], green)),
        "projects/peat_dams_map.png": ("rafe.thornton", "2025-09-15", _picture(380, 250, site, blue)),
        "projects/old_logo.png": (
            "yusuf.amin",
            "2025-02-12",
            _picture(120, 120, [(20, 20, 100, 100)], green),
        ),
    }


def _write_media(data: Path) -> None:
    chance, log = Random(SEED + 1), list[str]()
    for name, (author, date, content) in _files().items():
        stamp = int(_moment(date, chance).timestamp())
        path = data / "media" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (stamp, stamp))
        media = name.replace("/", ":")
        entry = f"{stamp}\t10.20.0.7\tC\t{media}\t{author}\tcreated\t\t{len(content)}\n"
        _write_text(data / "media_meta" / f"{name}.changes", entry)
        log.append(entry)
    _write_text(data / "meta" / "_media.changes", "".join(sorted(log)))
