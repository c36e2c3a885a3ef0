"""A site as a form: typed text, checked by the rules of the table, and taken as a row."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.engine.core.addresses import browser_host
from app.engine.core.site_rules import base_name, host_glob, site_name
from app.engine.core.sites import Site
from app.errors import UsageError
from app.models.common.form import FormModel, Problem, complete_url
from app.models.common.translate import tr

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

FIELDS = ("name", "hosts", "starts", "bases", "reset", "state", "login_command", "login")
"""The fields in their order; ``login`` is the path of a recorded log-in to be kept, and empty again once it is."""
_COMMANDS = ("reset", "state", "login_command")


class SiteForm(FormModel):
    """One site; ``before`` is the row that is edited, ``None`` for a new site."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(dict.fromkeys(FIELDS, ""), parent)
        self.before: Site | None = None
        self.others: Sequence[Site] = ()

    def show(self, site: Site | None, typed: dict[str, str] | None = None) -> None:
        """Show a site, or an empty form; ``typed`` are changes that were not saved."""
        self.before, self.error = site, ""
        self.values = dict(typed) if typed is not None else texts_of(site)
        self.changed.emit()

    @property
    def is_changed(self) -> bool:
        """Whether something was typed that is not saved."""
        return self.values != texts_of(self.before)

    @property
    def site(self) -> Site:
        """The typed site; only without problems."""
        hosts = tuple(map(host_glob, self._lines("hosts")))
        learned = self.before.learned if self.before is not None else ()
        return Site(
            name=site_name(self.values["name"]),
            hosts=hosts,
            learned=tuple(host for host in learned if host in hosts),
            starts=tuple(map(complete_url, self._lines("starts"))),
            bases=dict(map(_base_of, self._lines("bases"))),
            reset=self.values["reset"].strip(),
            state=self.values["state"].strip(),
            login=self.values["login_command"].strip(),
        )

    @property
    def problems(self) -> list[Problem]:
        """All problems, in the order of the form."""
        found = [
            self._name_problem(),
            self._host_problem(),
            self._start_problem(),
            self._base_problem(),
            *map(self._command_problem, _COMMANDS),
        ]
        return [Problem(field, words) for field, words in found if words]

    def _name_problem(self) -> tuple[str, str]:
        try:
            name = site_name(self.values["name"])
        except UsageError as error:
            given = bool(self.values["name"].strip())
            return "name", str(error) if given else tr("Give the site a name")
        if self.before is None and any(other.name == name for other in self.others):
            return "name", tr("There is a site of this name already; choose it on the left")
        return "name", ""

    def _host_problem(self) -> tuple[str, str]:
        for text in self._lines("hosts"):
            try:
                owner = self._owner(host_glob(text))
            except UsageError as error:
                return "hosts", str(error)
            if owner:
                return "hosts", tr("{0} belongs to the site '{1}'; remove it there first").format(text, owner)
        return "hosts", ""

    def _start_problem(self) -> tuple[str, str]:
        wrong = next((text for text in self._lines("starts") if not browser_host(complete_url(text))), "")
        return "starts", tr("{0} is not the address of a page").format(wrong) if wrong else ""

    def _base_problem(self) -> tuple[str, str]:
        for text in self._lines("bases"):
            try:
                name, address = _base_of(text)
            except UsageError as error:
                return "bases", str(error)
            if not browser_host(address):
                return "bases", tr("Write {0}, an equals sign and an address").format(name)
            taken = next((one.name for one in self.others if self._is_other(one) and name in one.bases), "")
            if taken:
                return "bases", tr("{0} belongs to the site '{1}'; remove it there first").format(name, taken)
        return "bases", ""

    def _command_problem(self, field: str) -> tuple[str, str]:
        """A command is run without a shell, so that its quotes have to close."""
        try:
            shlex.split(self.values[field])
        except ValueError:
            return field, tr("A quote is not closed")
        return field, ""

    def _owner(self, host: str) -> str:
        return next((one.name for one in self.others if self._is_other(one) and host in one.hosts), "")

    def _is_other(self, site: Site) -> bool:
        return self.before is None or site.name != self.before.name

    def _lines(self, field: str) -> list[str]:
        return [line.strip() for line in self.values[field].splitlines() if line.strip()]


def texts_of(site: Site | None) -> dict[str, str]:
    """Return a site as the texts of the form."""
    if site is None:
        return dict.fromkeys(FIELDS, "")
    return {
        "name": site.name,
        "hosts": "\n".join(site.hosts),
        "starts": "\n".join(site.starts),
        "bases": "\n".join(f"{name}={address}" for name, address in site.bases.items()),
        "reset": site.reset,
        "state": site.state,
        "login_command": site.login,
        "login": "",
    }


def _base_of(text: str) -> tuple[str, str]:
    name, _, address = text.partition("=")
    return base_name(name), complete_url(address)
