"""Calibre-Web as the catalogue of a small public library."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarks.sites.site import Account, Site

if TYPE_CHECKING:
    from playwright.async_api import Page

USER_COLUMNS = (
    "id, name, email, role, password, kindle_mail, locale, sidebar_view, default_language, denied_tags, "
    "allowed_tags, denied_column_value, allowed_column_value, kobo_only_shelves_sync"
)
SETTING_COLUMNS = (
    "id, config_calibre_dir, config_calibre_split_dir, config_calibre_web_title, config_books_per_page, "
    "config_random_books, config_authors_max, config_read_column, config_title_regex, config_theme, config_uploading, "
    "config_anonbrowse, config_public_reg, config_remote_login, config_kobo_sync, config_default_role, "
    "config_default_show, config_default_language, config_default_locale, config_columns_to_ignore, "
    "config_denied_tags, config_allowed_tags, config_restricted_column, config_upload_formats, "
    "config_unicode_filename, config_embed_metadata, config_password_policy, config_password_min_length, "
    "config_session, config_ratelimiter, config_log_level, config_port, mail_server, mail_port, mail_login, mail_from, "
    "schedule_start_time, schedule_duration, schedule_generate_book_covers, schedule_generate_series_covers, "
    "schedule_reconnect, schedule_metadata_backup"
)


class CalibreWeb(Site):
    """A library's catalogue of e-books: reading, shelves and read marks of members, metadata by librarians."""

    name = "calibreweb"
    port = 8113
    accounts: Mapping[str, Account] = {
        "member": Account("tom.ashby", "Reader-Card-26!"),
        "librarian": Account("ingrid.solberg", "Catalogue-26!"),
        "admin": Account("admin", "Harbour-Key-26!"),
    }
    explored: Sequence[tuple[str, str]] = (("/", "member"), ("/", "librarian"), ("/", "admin"))
    requirements: Sequence[str] = (
        "calibreweb==0.6.27",
        "Flask==3.1.3",
        "Flask-Babel==4.0.0",
        "Flask-Principal==0.4.0",
        "Flask-Limiter==4.1.1",
        "Flask-WTF==1.3.0",
        "Werkzeug==3.1.9",
        "Jinja2==3.1.6",
        "SQLAlchemy==2.0.58",
        "tornado==6.5.10",
        "babel==2.18.0",
        "APScheduler==3.11.3",
        "nh3==0.3.8",
        "Unidecode==1.4.0",
    )
    databases: Sequence[str] = ("library/metadata.db", "app.db")
    folders: Sequence[str] = ("books",)
    content: Mapping[str, str] = {
        "books": (
            "SELECT id, title, sort, author_sort, substr(pubdate, 1, 10), series_index, path, has_cover FROM books"
        ),
        "authors": "SELECT id, name, sort, link FROM authors",
        "tags": "SELECT id, name FROM tags",
        "series": "SELECT id, name, sort FROM series",
        "publishers": "SELECT id, name, sort FROM publishers",
        "languages": "SELECT id, lang_code FROM languages",
        "ratings": "SELECT id, rating FROM ratings",
        "comments": "SELECT book, text FROM comments",
        "identifiers": "SELECT book || ' ' || type, val FROM identifiers",
        "data": "SELECT book || ' ' || format, name FROM data",
        "licences": "SELECT book, value FROM custom_column_1",
        "book_authors": "SELECT book || ' ' || author FROM books_authors_link",
        "book_tags": "SELECT book || ' ' || tag FROM books_tags_link",
        "book_series": "SELECT book, series FROM books_series_link",
        "book_publishers": "SELECT book, publisher FROM books_publishers_link",
        "book_ratings": "SELECT book, rating FROM books_ratings_link",
        "book_languages": "SELECT book || ' ' || lang_code FROM books_languages_link",
        "users": f"SELECT {USER_COLUMNS} FROM app.user",
        "shelves": "SELECT id, name, is_public, user_id, kobo_sync FROM app.shelf",
        "shelf_books": "SELECT shelf || ' ' || book_id, \"order\" FROM app.book_shelf_link",
        "read_marks": "SELECT user_id || ' ' || book_id, read_status FROM app.book_read_link WHERE read_status <> 0",
        "archived": "SELECT user_id || ' ' || book_id FROM app.archived_book WHERE is_archived",
        "bookmarks": "SELECT id, user_id, book_id, bookmark_key FROM app.bookmark",
        "domains": "SELECT id, domain, allow FROM app.registration",
        "settings": f"SELECT {SETTING_COLUMNS} FROM app.settings",
    }

    def fill(self) -> None:
        """Run the seed with the Python of the site."""
        command = [str(self.python), str(self.data / "seed.py"), str(self.pristine)]
        subprocess.run(command, check=True, cwd=self.pristine, env=self.environment())

    def command(self) -> Sequence[str]:
        """The program by its own server."""
        return [
            str(self.python), str(self.data / "serve.py"),
            "-p", str(self.live / "app.db"), "-o", str(self.home / f"program-{self.port}.log"), "-i", "127.0.0.1", "-m",
        ]  # fmt: skip

    def environment(self) -> dict[str, str]:
        """Its package's folder on the path, its own files in the site's home."""
        (package,) = (self.home / "venv" / "lib").glob("python3*/site-packages/calibreweb")
        return {
            **os.environ,
            "PYTHONPATH": str(package),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CALIBRE_DBPATH": str(self.home),
            "CACHE_DIRECTORY": str(self.home / f"cache-{self.port}"),
            "SECRET_KEY": "alder-bay-public-library",
            "SITE_PORT": str(self.port),
            "TZ": "UTC",
        }

    def view(self) -> sqlite3.Connection:
        """The library, with the program's own database as ``app``."""
        view = super().view()
        view.execute("ATTACH DATABASE ? AS app", (f"{(self.live / 'app.db').as_uri()}?mode=ro",))
        return view

    def reset(self) -> None:
        """Restore the state and tell the program so."""
        super().reset()
        (self.live / "reset").touch()

    async def log_in(self, page: Page, account: Account) -> None:
        """Log in by the site's own form."""
        await page.goto(f"{self.url}/login")
        await page.fill("#username", account.user)
        await page.fill("#password", account.password)
        await page.click("button[name=submit]")
        await page.wait_for_selector("#logout")


SITE = CalibreWeb
