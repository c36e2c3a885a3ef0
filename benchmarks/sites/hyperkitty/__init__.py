"""HyperKitty, the archive of mailing lists: a railway trust's lists, threads, tags, votes and favourites."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from benchmarks.sites.site import Account, Site

if TYPE_CHECKING:
    from playwright.async_api import Page


class HyperKitty(Site):
    """The archive with Django's accounts and a small register in place of Mailman."""

    name = "hyperkitty"
    port = 8114
    accounts: ClassVar[dict[str, Account]] = {
        "member": Account("hollis.grant", "Semaphore-1889"),
        "admin": Account("wren.adeyemi", "Kestrel-Board-7"),
    }
    explored = (("/", "member"), ("/profile/", "member"))
    requirements = (
        "HyperKitty==1.3.12",
        "Django==4.2.27",
        "django-mailman3==1.3.15",
        "django-allauth==65.21.1",
        "django-haystack==3.4.0",
        "Whoosh==2.7.4",
        "django-compressor==4.6.0",
        "django-libsass==0.9",
        "libsass==0.23.0",
        "django-q2==1.10.0",
        "djangorestframework==3.17.2",
        "mailmanclient==3.3.5",
        "mistune==3.4.0",
        "networkx==3.6.1",
        "waitress==3.0.2",
        "whitenoise==6.12.0",
    )
    databases = ("archive.db",)
    folders = ("index",)
    content: ClassVar[dict[str, str]] = {
        "lists": "SELECT id, name, list_id, display_name, description, subject_prefix, archive_policy, created_at,"
        " archive_rendering_mode FROM hyperkitty_mailinglist",
        "owners": "SELECT id, mailinglist_id, user_id FROM hyperkitty_mailinglist_owners",
        "moderators": "SELECT id, mailinglist_id, user_id FROM hyperkitty_mailinglist_moderators",
        "threads": "SELECT id, mailinglist_id, thread_id, category_id, starting_email_id, date_active"
        " FROM hyperkitty_thread",
        "categories": "SELECT id, name, color FROM hyperkitty_threadcategory",
        "emails": "SELECT id, mailinglist_id, message_id, sender_id, sender_name, subject, content, date, in_reply_to,"
        " parent_id, thread_id FROM hyperkitty_email",
        "attachments": "SELECT id, email_id, counter, name, content_type, size FROM hyperkitty_attachment",
        "senders": "SELECT address, mailman_id FROM hyperkitty_sender",
        "tags": "SELECT id, name FROM hyperkitty_tag",
        "taggings": "SELECT id, tag_id, thread_id, user_id FROM hyperkitty_tagging",
        "votes": "SELECT id, email_id, user_id, value FROM hyperkitty_vote",
        "favorites": "SELECT id, thread_id, user_id FROM hyperkitty_favorite",
        "users": "SELECT id, username, first_name, last_name, email, password, is_staff, is_superuser, is_active"
        " FROM auth_user",
        "groups": "SELECT id, name FROM auth_group",
        "addresses": 'SELECT id, user_id, email, verified, "primary" FROM account_emailaddress',
        "profiles": "SELECT id, user_id, timezone FROM django_mailman3_profile",
        "domains": "SELECT id, site_id, mail_domain FROM django_mailman3_maildomain",
        "members": "SELECT id, address, member_id, name FROM archive_member",
        "subscriptions": "SELECT id, member_id, list_id FROM archive_subscription",
        "sites": "SELECT id, domain, name FROM django_site",
    }

    def environment(self) -> dict[str, str]:
        """The server's variables: where its state and its files are."""
        return self._environment(self.live.as_posix())

    def _environment(self, live: str) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(self.data / "project"),
            "DJANGO_SETTINGS_MODULE": "archive.settings",
            "ARCHIVE_LIVE": live,
            "ARCHIVE_STATIC": str(self.home / "static"),
            "PYTHONWARNINGS": "ignore",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def fill(self) -> None:
        """Make tables, rows, search index and the compiled style sheets."""
        environment = {**self._environment(str(self.pristine)), "ARCHIVE_SEEDING": "1"}
        steps: list[list[str]] = [
            ["-m", "django", "migrate", "-v0", "--run-syncdb"],
            [str(self.data / "seed.py")],
            ["-m", "django", "rebuild_index", "--noinput", "-v0"],
            ["-m", "django", "collectstatic", "--noinput", "-v0"],
            ["-m", "django", "compress", "--force", "-v0"],
        ]
        for step in steps:
            subprocess.run([str(self.python), *step], check=True, env=environment, stdout=subprocess.DEVNULL)

    def command(self) -> Sequence[str]:
        """Waitress in the site's own Python."""
        return [str(self.python), str(self.data / "project" / "serve.py"), str(self.port)]

    async def log_in(self, page: Page, account: Account) -> None:
        """Fill in the form of the page "Sign In"."""
        await page.goto(f"{self.url}/accounts/login/")
        await page.fill("input[name=login]", account.user)
        await page.fill("input[name=password]", account.password)
        await page.locator("form:has(input[name=login]) button[type=submit]").first.click()
        await page.wait_for_url(lambda address: "/accounts/login" not in address)


SITE = HyperKitty
