"""The initial state of the library: ``seed.py FOLDER``, run by the Python of the site.

Makes ``library/metadata.db`` (the schema calibre uses, as far as the program needs it), ``books`` with the files of the
books, and ``app.db`` with settings, users, shelves and reading marks.  Two runs give the same rows.
"""

from __future__ import annotations

import hashlib
import random
import sqlite3
import sys
import uuid
import zipfile
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
SEED = 20260418
BOOKS_PER_PAGE = 40
SCHEMA = """
CREATE TABLE library_id (id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE);
CREATE TABLE books (
    id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL DEFAULT 'Unknown' COLLATE NOCASE,
    sort TEXT COLLATE NOCASE, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    pubdate TIMESTAMP DEFAULT CURRENT_TIMESTAMP, series_index REAL NOT NULL DEFAULT 1.0,
    author_sort TEXT COLLATE NOCASE, path TEXT NOT NULL DEFAULT '', uuid TEXT, has_cover BOOL DEFAULT 0,
    last_modified TIMESTAMP NOT NULL DEFAULT '2000-01-01 00:00:00+00:00');
CREATE TABLE authors (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, sort TEXT COLLATE NOCASE,
    link TEXT NOT NULL DEFAULT '');
CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, link TEXT NOT NULL DEFAULT '');
CREATE TABLE series (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, sort TEXT COLLATE NOCASE,
    link TEXT NOT NULL DEFAULT '');
CREATE TABLE publishers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, sort TEXT COLLATE NOCASE,
    link TEXT NOT NULL DEFAULT '');
CREATE TABLE languages (
    id INTEGER PRIMARY KEY, lang_code TEXT NOT NULL UNIQUE COLLATE NOCASE, link TEXT NOT NULL DEFAULT '');
CREATE TABLE ratings (
    id INTEGER PRIMARY KEY, rating INTEGER UNIQUE CHECK (rating > -1 AND rating < 11), link TEXT NOT NULL DEFAULT '');
CREATE TABLE comments (
    id INTEGER PRIMARY KEY, book INTEGER NOT NULL UNIQUE, text TEXT NOT NULL COLLATE NOCASE);
CREATE TABLE identifiers (
    id INTEGER PRIMARY KEY, book INTEGER NOT NULL, type TEXT NOT NULL DEFAULT 'isbn' COLLATE NOCASE,
    val TEXT NOT NULL COLLATE NOCASE, UNIQUE (book, type));
CREATE TABLE data (
    id INTEGER PRIMARY KEY, book INTEGER NOT NULL, format TEXT NOT NULL COLLATE NOCASE,
    uncompressed_size INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE (book, format));
CREATE TABLE metadata_dirtied (id INTEGER PRIMARY KEY, book INTEGER NOT NULL UNIQUE);
CREATE TABLE custom_columns (
    id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT NOT NULL UNIQUE, name TEXT NOT NULL, datatype TEXT NOT NULL,
    mark_for_delete BOOL NOT NULL DEFAULT 0, editable BOOL NOT NULL DEFAULT 1, display TEXT NOT NULL DEFAULT '{}',
    is_multiple BOOL NOT NULL DEFAULT 0, normalized BOOL NOT NULL);
CREATE TABLE custom_column_1 (
    id INTEGER PRIMARY KEY AUTOINCREMENT, book INTEGER NOT NULL UNIQUE, value INT NOT NULL);
CREATE TABLE books_authors_link (
    id INTEGER PRIMARY KEY, book INTEGER NOT NULL, author INTEGER NOT NULL, UNIQUE (book, author));
CREATE TABLE books_tags_link (
    id INTEGER PRIMARY KEY, book INTEGER NOT NULL, tag INTEGER NOT NULL, UNIQUE (book, tag));
CREATE TABLE books_series_link (id INTEGER PRIMARY KEY, book INTEGER NOT NULL UNIQUE, series INTEGER NOT NULL);
CREATE TABLE books_publishers_link (id INTEGER PRIMARY KEY, book INTEGER NOT NULL UNIQUE, publisher INTEGER NOT NULL);
CREATE TABLE books_ratings_link (
    id INTEGER PRIMARY KEY, book INTEGER NOT NULL, rating INTEGER NOT NULL, UNIQUE (book, rating));
CREATE TABLE books_languages_link (
    id INTEGER PRIMARY KEY, book INTEGER NOT NULL, lang_code INTEGER NOT NULL,
    item_order INTEGER NOT NULL DEFAULT 0, UNIQUE (book, lang_code));
"""
ARTICLES = ("The ", "A ", "An ", "Der ", "Die ", "Das ", "Ein ", "Le ", "La ", "Les ", "Un ")
EXTRA_TAGS = {
    "Crime": ("Detective", "Small Towns", "Police"),
    "Cosy Mystery": ("Detective", "Small Towns"),
    "Science Fiction": ("Adventure", "Politics"),
    "Fantasy": ("Adventure", "Magic"),
    "Children": ("Read Aloud", "Animals"),
    "Literary": ("Book Club", "Women's Lives"),
    "Historical": ("Book Club", "War"),
    "History": ("Local History", "Maps"),
    "Romance": ("Small Towns", "Food"),
    "Thriller": ("Politics", "Technology"),
    "Travel": ("Memoir", "Maps"),
    "Nature": ("Illustrated", "Seasons"),
    "Cookery": ("Illustrated", "Seasons"),
    "Gardening": ("Illustrated", "Seasons"),
    "Biography": ("Women's Lives", "Memoir"),
}
BLURBS = (
    "A patient, well-observed book that readers in our branch keep recommending to one another.",
    "Written after years of research in attics, archives and kitchen drawers, with a map at the back.",
    "Begins slowly and rewards you for staying; the closing chapters are the author's best.",
    "Our book group spent two evenings on it and still did not agree about the ending.",
    "Short chapters and a light hand make it a good choice for a train journey.",
    "First published to little notice, it has since found its readers by word of mouth.",
    "Not always comfortable, often funny, and never in a hurry.",
    "The e-book edition has a new foreword and a corrected index.",
)
SETTINGS = (
    "a small harbour town where everyone remembers everything",
    "a winter that comes three weeks too early",
    "a house that has been in one family for too long",
    "a journey that was meant to last a weekend",
    "a letter found behind a loose board",
    "a market square on the day before the fair",
    "the long shadow of an old promise",
    "a workshop at the end of the line",
)
HASHES = 1200
ADMIN, DOWNLOAD, UPLOAD, EDIT, PASSWORD, GUEST, SHELVES, DELETE, VIEW = (1 << bit for bit in range(9))
READER = DOWNLOAD | PASSWORD | VIEW
LIBRARIAN = READER | UPLOAD | EDIT | SHELVES | DELETE
SIDEBAR = (1 << 18) - 1 & ~1
"""All entries of the side bar, without the random books on every page."""
USERS = (
    ("admin", "it@alderbay-library.example", ADMIN | LIBRARIAN, "Harbour-Key-26!"),
    ("ingrid.solberg", "ingrid.solberg@alderbay-library.example", LIBRARIAN, "Catalogue-26!"),
    ("tom.ashby", "tom.ashby@post.example", READER, "Reader-Card-26!"),
    ("priya.nair", "priya.nair@post.example", READER, "Reader-Card-27!"),
    ("marek.dvorak", "marek.dvorak@post.example", READER, "Reader-Card-28!"),
    ("helen.ortiz", "helen.ortiz@alderbay-library.example", READER | SHELVES, "Reader-Card-29!"),
    ("joan.whitaker", "joan.whitaker@post.example", READER, "Reader-Card-30!"),
    ("kofi.mensah", "kofi.mensah@post.example", READER, "Reader-Card-31!"),
    ("lena.hartmann", "lena.hartmann@post.example", READER, "Reader-Card-32!"),
    ("sam.oduya", "sam.oduya@post.example", VIEW | PASSWORD, "Reader-Card-33!"),
)
SHELF_PLAN = (
    ("Book Club 2026", "ingrid.solberg", 1, ("Literary", "Historical"), 11),
    ("Staff Picks: Spring", "ingrid.solberg", 1, ("Nature", "Travel", "Fantasy", "Crime"), 14),
    ("Summer Reading Challenge", "helen.ortiz", 1, ("Children", "Young Adult"), 12),
    ("Alder Bay Corner", "ingrid.solberg", 1, ("Local History", "Maritime"), 7),
    ("Storytime Tuesdays", "helen.ortiz", 1, ("Picture Book", "Children"), 6),
    ("Winter Evenings", "helen.ortiz", 1, ("Ghost Stories", "Cosy Mystery", "Poetry"), 9),
    ("Holiday in Norway", "tom.ashby", 0, ("Nordic", "Mountains", "Travel"), 6),
    ("Kitchen Table", "tom.ashby", 0, ("Cookery", "Food"), 5),
    ("To Read Next", "tom.ashby", 0, ("Science Fiction", "Thriller", "History"), 8),
    ("Deutsch lesen", "lena.hartmann", 0, ("War", "Adventure"), 4),
    ("Allotment", "joan.whitaker", 0, ("Gardening", "Nature"), 5),
    ("For the kids", "kofi.mensah", 0, ("Children", "School"), 6),
    ("Commute", "priya.nair", 0, ("Thriller", "Crime"), 7),
)
READ_COUNTS = {
    "admin": 3, "ingrid.solberg": 26, "tom.ashby": 31, "priya.nair": 18, "marek.dvorak": 12, "helen.ortiz": 22,
    "joan.whitaker": 15, "kofi.mensah": 9, "lena.hartmann": 14, "sam.oduya": 6,
}  # fmt: skip


@dataclass
class Book:
    """One title of the catalogue."""

    title: str
    authors: list[str]
    publisher: str
    language: str
    tags: list[str]
    year: int
    series: str = ""
    index: int = 1
    number: int = 0
    published: datetime = field(default_factory=lambda: datetime(2000, 1, 1))
    added: datetime = field(default_factory=lambda: datetime(2025, 1, 1))


def catalogue(chance: random.Random) -> list[Book]:
    """The titles of ``catalogue.txt`` in the order the library bought them."""
    books: list[Book] = []
    authors, publisher, language, tags = [""], "", "", [""]
    for line in (HERE / "catalogue.txt").read_text(encoding="utf-8").splitlines():
        parts = [part.strip() for part in line.lstrip("> ").split("|")]
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith(">"):
            year = int(parts[1])
            for index, title in enumerate(parts[2].split(";"), 1):
                books.append(
                    Book(title.strip(), authors, publisher, language, list(tags), year, parts[0], index)
                )
                year += chance.choice((1, 1, 2, 2, 3))
        elif len(parts) == 4:
            authors = [name.strip() for name in parts[0].split(";")]
            publisher, language, tags = parts[1], parts[2], [tag.strip() for tag in parts[3].split(",")]
        else:
            books.append(Book(parts[0], authors, publisher, language, list(tags), int(parts[1])))
    for book in books:
        book.year = min(book.year, 2025)
        book.published = datetime(book.year, chance.randint(1, 12), chance.randint(1, 28))
        for tag in EXTRA_TAGS.get(book.tags[0], ()):
            if tag not in book.tags and chance.random() < 0.4:
                book.tags.append(tag)
    chance.shuffle(books)
    added = datetime(2025, 1, 8, 9, 10)
    for number, book in enumerate(books, 1):
        book.number, book.added = number, added
        added += timedelta(days=chance.choice((0, 1, 2, 4, 5, 6)), minutes=chance.randint(7, 190))
    return books


def sort_title(title: str) -> str:
    """The title with its article at the end."""
    for article in ARTICLES:
        if title.startswith(article):
            return f"{title[len(article) :]}, {article.strip()}"
    return title


def sort_name(name: str) -> str:
    """The name with the family name first."""
    first, _, last = name.rpartition(" ")
    return f"{last}, {first}" if first else last


def safe(text: str) -> str:
    """The text as a file's name."""
    return "".join("_" if char in ':*?"<>|/\\' else char for char in text)


def stamp(moment: datetime) -> str:
    """A moment as the database keeps it."""
    return moment.strftime("%Y-%m-%d %H:%M:%S+00:00")


def isbn(number: int) -> str:
    """An ISBN of no publisher, with its check digit."""
    body = f"97912{number:07d}"
    check = -sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body)) % 10
    return f"{body}{check}"


def write_epub(path: Path, book: Book, text: str) -> None:
    """A book of one chapter; the same bytes each time."""
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": (
            '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
            "</container>"
        ),
        "book.opf": (
            '<?xml version="1.0" encoding="utf-8"?><package xmlns="http://www.idpf.org/2007/opf" version="2.0" '
            'unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<dc:title>{book.title}</dc:title><dc:creator>{book.authors[0].replace('&', 'and')}</dc:creator>"
            f'<dc:language>{book.language}</dc:language><dc:identifier id="id">{isbn(book.number)}</dc:identifier>'
            '</metadata><manifest><item id="one" href="one.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
            '<spine toc="ncx"><itemref idref="one"/></spine></package>'
        ),
        "toc.ncx": (
            '<?xml version="1.0" encoding="utf-8"?><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">'
            f"<docTitle><text>{book.title}</text></docTitle><navMap><navPoint id='one' playOrder='1'><navLabel><text>"
            "Chapter One</text></navLabel><content src='one.xhtml'/></navPoint></navMap></ncx>"
        ),
        "one.xhtml": (
            '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head>'
            f"<title>{book.title}</title></head><body><h1>{book.title}</h1><p>{text}</p></body></html>"
        ),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, (2025, 1, 1, 0, 0, 0)), content)


def fill_library(target: Path, books: list[Book], chance: random.Random) -> None:
    """Make ``library/metadata.db`` and the files of the books."""
    (target / "library").mkdir()
    with closing(sqlite3.connect(target / "library" / "metadata.db")) as base:
        base.executescript(SCHEMA)
        base.execute("INSERT INTO library_id VALUES (1, ?)", (str(uuid.UUID(int=SEED)),))
        base.execute(
            "INSERT INTO custom_columns VALUES (1, 'licences', 'Licences', 'int', 0, 1, ?, 0, 0)",
            ('{"number_format": null, "description": "E-lending licences the library holds"}',),
        )
        known: dict[str, dict[str, int]] = {}

        def key(table: str, name: str, *more: str) -> int:
            numbers = known.setdefault(table, {})
            if name not in numbers:
                numbers[name] = len(numbers) + 1
                columns = {"tags": "id, name", "languages": "id, lang_code", "ratings": "id, rating"}.get(
                    table, "id, name, sort"
                )
                values = (numbers[name], name, *more)
                base.execute(
                    f"INSERT INTO {table} ({columns}) VALUES ({','.join('?' * len(values))})", values
                )
            return numbers[name]

        for book in books:
            here = book.number
            folder = f"{safe(book.authors[0])}/{safe(book.title)} ({here})"
            first, second = chance.choice(SETTINGS), chance.choice(SETTINGS)
            if first == second:
                second = SETTINGS[SETTINGS.index(first) - 1]
            text = f"{book.authors[0]} takes us into {first}, and to {second}. {' '.join(chance.sample(BLURBS, 2))}"
            base.execute(
                "INSERT INTO books (id, title, sort, timestamp, pubdate, series_index, author_sort, path, uuid, "
                "has_cover, last_modified) VALUES (?,?,?,?,?,?,?,?,?,0,?)",
                (here, book.title, sort_title(book.title), stamp(book.added), stamp(book.published),
                 float(book.index), " & ".join(map(sort_name, book.authors)), folder,
                 str(uuid.UUID(int=chance.getrandbits(128))), stamp(book.added)),
            )  # fmt: skip
            for name in book.authors:
                author = key("authors", name, sort_name(name))
                base.execute("INSERT INTO books_authors_link (book, author) VALUES (?,?)", (here, author))
            for name in book.tags:
                base.execute(
                    "INSERT INTO books_tags_link (book, tag) VALUES (?,?)", (here, key("tags", name))
                )
            if book.series:
                series = key("series", book.series, sort_title(book.series))
                base.execute("INSERT INTO books_series_link (book, series) VALUES (?,?)", (here, series))
            publisher = key("publishers", book.publisher, book.publisher)
            base.execute(
                "INSERT INTO books_publishers_link (book, publisher) VALUES (?,?)", (here, publisher)
            )
            language = key("languages", book.language)
            base.execute("INSERT INTO books_languages_link (book, lang_code) VALUES (?,?)", (here, language))
            if chance.random() < 0.87:
                rating = key("ratings", str(2 * chance.choice((1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 5))))
                base.execute("INSERT INTO books_ratings_link (book, rating) VALUES (?,?)", (here, rating))
            base.execute("INSERT INTO comments (book, text) VALUES (?,?)", (here, f"<p>{text}</p>"))
            base.execute("INSERT INTO identifiers (book, val) VALUES (?,?)", (here, isbn(here * 613 + 1009)))
            base.execute(
                "INSERT INTO custom_column_1 (book, value) VALUES (?,?)",
                (here, random.Random(SEED + here).randint(2, 24)),
            )
            name = safe(f"{book.title} - {book.authors[0]}")
            place = target / "books" / folder
            place.mkdir(parents=True)
            formats = ["EPUB"] if chance.random() < 0.9 else []
            if not formats or chance.random() < 0.3:
                formats.append("TXT")
            for kind in formats:
                path = place / f"{name}.{kind.lower()}"
                if kind == "EPUB":
                    write_epub(path, book, text)
                else:
                    path.write_text(f"{book.title}\n{' & '.join(book.authors)}\n\n{text}\n", encoding="utf-8")
                base.execute(
                    "INSERT INTO data (book, format, uncompressed_size, name) VALUES (?,?,?,?)",
                    (here, kind, path.stat().st_size, name),
                )
        base.commit()


def hashed(name: str, password: str) -> str:
    """The password as the program keeps it, with a salt made of the name."""
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), name.encode(), HASHES).hex()
    return f"pbkdf2:sha256:{HASHES}${name}${digest}"


def fill_program(target: Path, books: list[Book], chance: random.Random) -> None:
    """Make ``app.db``: the program lays its tables, the rows come from here."""
    from cps import config_sql, ub  # type: ignore[import-not-found]

    ub.init_db(str(target / "app.db"))
    secret, _ = config_sql.get_encryption_key(str(target))
    config_sql.load_configuration(ub.session, secret)
    ub.session.close()
    settings = {
        "config_calibre_dir": "library",
        "config_calibre_uuid": str(uuid.UUID(int=SEED)),
        "config_calibre_split": 1,
        "config_calibre_split_dir": "books",
        "config_calibre_web_title": "Alder Bay Public Library",
        "config_books_per_page": BOOKS_PER_PAGE,
        "config_random_books": 4,
        "config_port": 8113,
        "config_external_port": 8113,
        "config_uploading": 1,
        "config_ratelimiter": 0,
        "config_default_role": READER,
        "config_default_show": SIDEBAR,
        "config_binariesdir": "",
        "config_converterpath": "",
        "config_kepubifypath": "",
        "config_rarfile_location": "",
        "config_logfile": "calibre-web.log",
        "config_embed_metadata": 0,
        "config_upload_formats": "azw3,cbz,epub,fb2,mobi,pdf,txt",
    }
    with closing(sqlite3.connect(target / "app.db")) as base:
        base.execute(
            f"UPDATE settings SET {', '.join(f'{name} = ?' for name in settings)}", list(settings.values())
        )
        if not base.execute("SELECT count(*) FROM flask_settings").fetchone()[0]:
            base.execute("INSERT INTO flask_settings VALUES (1, ?)", (b"alder-bay-public-library-2026-04",))
        if not base.execute("SELECT count(*) FROM registration").fetchone()[0]:
            base.execute("INSERT INTO registration (domain, allow) VALUES ('%.%', 1)")
        base.execute(
            "UPDATE user SET view_settings = '{}', allowed_column_value = '', denied_column_value = ''"
        )
        numbers: dict[str, int] = {}
        for name, mail, role, password in USERS:
            if name == "admin":
                numbers[name] = 1
                base.execute(
                    "UPDATE user SET email = ?, role = ?, password = ?, sidebar_view = ? WHERE id = 1",
                    (mail, role, hashed(name, password), SIDEBAR),
                )
                continue
            numbers[name] = len(numbers) + 2
            base.execute(
                "INSERT INTO user (id, name, email, role, password, kindle_mail, locale, sidebar_view, "
                "default_language, denied_tags, allowed_tags, denied_column_value, allowed_column_value, "
                "view_settings, kobo_only_shelves_sync) VALUES (?,?,?,?,?,'','en',?,'all','','','','','{}',0)",
                (numbers[name], name, mail, role, hashed(name, password), SIDEBAR),
            )
        fill_shelves(base, books, numbers, chance)
        fill_reading(base, books, numbers, chance)
        base.commit()


def fill_shelves(
    base: sqlite3.Connection, books: list[Book], numbers: dict[str, int], chance: random.Random
) -> None:
    """Public and private shelves."""
    for number, (name, owner, public, tags, size) in enumerate(SHELF_PLAN, 1):
        made = stamp(datetime(2025, 3, 3, 10, 0) + timedelta(days=23 * number))[:19]
        base.execute(
            "INSERT INTO shelf (id, uuid, name, is_public, user_id, kobo_sync, created, last_modified) "
            "VALUES (?,?,?,?,?,0,?,?)",
            (number, str(uuid.UUID(int=chance.getrandbits(128))), name, public, numbers[owner], made, made),
        )
        fitting = [book for book in books if set(book.tags) & set(tags)]
        if name == "Deutsch lesen":
            fitting = [book for book in books if book.language == "deu"]
        for order, book in enumerate(chance.sample(fitting, min(size, len(fitting))), 1):
            base.execute(
                'INSERT INTO book_shelf_link (book_id, "order", shelf, date_added) VALUES (?,?,?,?)',
                (book.number, order, number, made),
            )


def fill_reading(
    base: sqlite3.Connection, books: list[Book], numbers: dict[str, int], chance: random.Random
) -> None:
    """Read marks, archived books and downloads."""
    for name, count in READ_COUNTS.items():
        read = chance.sample(books, count)
        for book in read:
            when = stamp(datetime(2025, 6, 1) + timedelta(days=chance.randint(0, 300)))[:19]
            base.execute(
                "INSERT INTO book_read_link (book_id, user_id, read_status, last_modified, times_started_reading) "
                "VALUES (?,?,1,?,0)",
                (book.number, numbers[name], when),
            )
        if name in ("tom.ashby", "joan.whitaker", "priya.nair"):
            for book in chance.sample([book for book in books if book not in read], 3):
                base.execute(
                    "INSERT INTO archived_book (user_id, book_id, is_archived, last_modified) VALUES (?,?,1,?)",
                    (numbers[name], book.number, "2026-02-14 18:30:00"),
                )
        if name not in ("sam.oduya", "admin"):
            favourites = books[:: 9 - len(name) % 3]
            taken = {book.number for book in (*chance.sample(favourites, 6), *chance.sample(read, 5))}
            for number in sorted(taken):
                base.execute("INSERT INTO downloads (book_id, user_id) VALUES (?,?)", (number, numbers[name]))


def main() -> None:
    """Fill the folder that is named."""
    target = Path(sys.argv[1])
    chance = random.Random(SEED)
    books = catalogue(chance)
    fill_library(target, books, chance)
    fill_program(target, books, chance)


if __name__ == "__main__":
    main()
