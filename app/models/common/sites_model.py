"""The sites of the workspace: the list, the site in the form, its log-in, and what is saved."""

from __future__ import annotations

import time
from enum import Enum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.site_api import SiteRow
from app.models.common.object_list import ObjectList
from app.models.common.site_form import SiteForm, texts_of
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.engine.core.events import SitesChanged
    from app.engine.core.sites import Site
    from app.models.common.engine_client import EngineClient, LocalClient
    from app.models.common.tasks import Tasks

NEW = ""
"""The name of the site that is not stored yet."""


class LogInState(Enum):
    """How far logging in by hand has come."""

    NONE = "none"
    OPENING = "opening"
    OPEN = "open"
    SAVING = "saving"


class SiteList(ObjectList[SiteRow]):
    """The sites by name."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda row: row.site.name, parent)

    def words(self, value: SiteRow) -> str:
        """Return a row in one line."""
        login = tr(", log-in saved") if value.login else ""
        return tr("{0}: {1}{2}").format(
            value.site.name, ", ".join(value.site.hosts) or tr("no host yet"), login
        )


class SitesModel(QObject):
    """Signals:

    changed: other rows, another site in the form, or another state of the log-in.
    arrived: the table was read for the first time; its first site is shown unless something was typed.
    notice: a sentence about what was done.  learned: a sentence about what the program did by itself.
    """

    changed = Signal()
    arrived = Signal()
    notice = Signal(str)
    learned = Signal(str)

    def __init__(
        self, client: EngineClient | LocalClient, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.list = SiteList(self)
        self.form = SiteForm(self)
        self.shown = NEW
        self.is_loaded = self.is_saving = False
        self.log_in_state, self.log_in_words = LogInState.NONE, ""
        self._logging_in = ""
        self._typed: dict[str, dict[str, str]] = {}
        client.sites_changed.connect(self._on_changed)
        self.form.changed.connect(self.changed)

    @property
    def row(self) -> SiteRow | None:
        """The stored row of the site in the form."""
        return self.list.at(self.list.row_of(self.shown))

    def load(self) -> None:
        """Read the table; what was typed stays."""
        self._tasks.start(self._client.api.sites(), self._take, key="sites")

    def show(self, name: str) -> None:
        """Show a site, or the form of a new one; what was typed for the other one is there when it is shown again."""
        if name == self.shown:
            return
        self._keep_typed()
        self.shown = name
        row = self.row
        self.form.show(row.site if row is not None else None, self._typed.pop(name, None))

    def save(self) -> bool:
        """Store the form; return whether it could be sent."""
        form = self.form
        if form.problems or self.is_saving:
            return False
        site, before, login = form.site, form.before, form.values["login"].strip()
        self.is_saving = True
        self._tasks.start(self._saved_row(site, before, login), self._saved, self._failed)
        self.changed.emit()
        return True

    def discard(self) -> None:
        """Show the site as it is stored."""
        row = self.row
        self.form.show(row.site if row is not None else None)

    def remove(self) -> None:
        """Remove the site in the form; undo brings it back."""
        name = self.shown

        def removed(_none: None) -> None:
            self._typed.pop(name, None)
            self.notice.emit(
                tr("The site '{0}' is removed; its runs, tips, map and log-in stay").format(name)
            )

        if self.row is not None:
            self._tasks.start(self._client.api.remove_site(name), removed, self._failed)

    # ------------------------------------------------------------ log-in
    def log_in(self) -> None:
        """Open a browser window at the site's start page for a manual log-in."""
        name = self._logging_in = self.shown

        async def opening() -> str:
            return await self._client.api.log_in_by_hand(name, await self._client.api.site_start(name))

        def opened(address: str) -> None:
            words = tr("A browser window shows {0}. Log in to '{1}' there, then confirm here.")
            self._set_log_in(LogInState.OPEN, words.format(address, name))

        self._set_log_in(LogInState.OPENING, tr("Opening a browser window…"))
        self._tasks.start(opening(), opened, self._log_in_failed, key="site-log-in")

    def logged_in(self) -> None:
        """Keep the log-in of the browser window, and close it."""
        name = self._logging_in

        def kept(_path: str) -> None:
            self._set_log_in(LogInState.NONE)
            self.notice.emit(tr("The log-in of '{0}' is saved, readable by you alone").format(name))

        self._set_log_in(LogInState.SAVING, tr("Saving the log-in…"))
        self._tasks.start(self._client.api.logged_in(name), kept, self._log_in_failed, key="site-log-in")

    def cancel_log_in(self) -> None:
        """Close the browser window without keeping anything."""
        self._tasks.cancel("site-log-in")
        self._set_log_in(LogInState.NONE)
        self._tasks.start(self._client.api.close_browser(self._logging_in))

    def forget_log_in(self) -> None:
        """Delete the saved log-in of the site in the form."""
        name = self.shown
        self._tasks.start(
            self._client.api.forget_login(name),
            lambda _there: self.notice.emit(tr("The log-in of '{0}' is deleted").format(name)),
            self._failed,
        )

    @property
    def log_in_fact(self) -> str:
        """Say whether a log-in is saved, and since when."""
        row = self.row
        roles = tr(" Roles with a log-in: {0}.").format(", ".join(row.roles)) if row and row.roles else ""
        if row is None or not row.login:
            return tr("No log-in is saved.") + roles
        day = time.strftime("%Y-%m-%d", time.localtime(row.login_at))
        return tr("A log-in was saved on {0}; work on this site begins with it.").format(day) + roles

    # ------------------------------------------------------------ inside
    async def _saved_row(
        self, site: Site, before: Site | None, login: str
    ) -> tuple[SiteRow, Exception | None]:
        """Store the site, then its log-in; return why that could not be kept."""
        row = await self._client.api.save_site(site, before)
        try:
            if login:
                await self._client.api.keep_login(site.name, login)
        except Exception as error:  # noqa: BLE001 the site itself is stored
            return row, error
        return row, None

    def _saved(self, stored: tuple[SiteRow, Exception | None]) -> None:
        row, error = stored
        self.is_saving = False
        login = self.form.values["login"]
        self._typed.pop(self.shown, None)
        self.shown = row.site.name
        self.form.show(row.site)
        if error is not None:
            self.form.set("login", login)
            self.form.fail(error)
        self.notice.emit(tr("The site '{0}' is saved").format(row.site.name))
        self.load()

    def _failed(self, error: Exception) -> None:
        self.is_saving = False
        self.form.fail(error)

    def _log_in_failed(self, error: Exception) -> None:
        self._set_log_in(LogInState.NONE)
        self.form.fail(error)

    def _set_log_in(self, state: LogInState, words: str = "") -> None:
        self.log_in_state, self.log_in_words = state, words
        self.changed.emit()

    def _on_changed(self, event: SitesChanged) -> None:
        if event.note:
            self.learned.emit(event.note)
        if self.is_loaded:
            self.load()

    def _keep_typed(self) -> None:
        if self.form.is_changed:
            self._typed[self.shown] = dict(self.form.values)

    def _take(self, rows: list[SiteRow]) -> None:
        is_first, self.is_loaded = not self.is_loaded, True
        self.list.merge(rows)
        if is_first and rows and self.shown == NEW and not self.form.is_changed:
            self.shown = rows[0].site.name
        self.form.others = [row.site for row in rows]
        row = self.row
        if row is None and self.form.before is not None:  # it was removed meanwhile
            self.shown = NEW
            self.form.show(None)
        elif row is not None and row.site != self.form.before and not self._is_typing:
            self.form.show(row.site)
        self.changed.emit()
        if is_first:
            self.arrived.emit()

    @property
    def _is_typing(self) -> bool:
        return self.form.before is not None and self.form.values != texts_of(self.form.before)
