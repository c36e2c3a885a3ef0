"""The date, time, time zone and locale of a run, as its prompts name them and its browser has them."""

from __future__ import annotations

import difflib
import os
import re
import zoneinfo
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from app.errors import UsageError

BROWSER_LOCALE, BROWSER_TIMEZONE = "en-GB", "UTC"
"""Locale and time zone of a browser where nothing else is asked for: the same on every machine."""

_LOCALE = re.compile(r"([A-Za-z]{2,3})(?:-([A-Za-z]{4}))?(?:-([A-Za-z]{2}|\d{3}))?", re.ASCII)
_NO_PLACES = frozenset({"factory", "localtime", "posixrules"})
"""Names in a machine's table of time zones that are none."""
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
# Not ``strftime``: its words are of the process's locale.


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalTime:
    """When a run began (or was resumed) and what time it is now, in seconds since 1970; both names are checked."""

    began: float
    now: float
    timezone: str = BROWSER_TIMEZONE
    locale: str = BROWSER_LOCALE

    @property
    def beginning(self) -> str:
        """The sentence for the part of a prompt that stays the same."""
        return (
            f"The run began on {_date(self._at(self.began))}. Its time zone is {self.timezone}; the browser's locale is"
            f" {self.locale}."
        )

    @property
    def present(self) -> str:
        """The sentence for the part of a prompt that is new at every step."""
        at = self._at(self.now)
        offset = at.strftime("%z")
        return f"It is {_date(at)}, {at:%H:%M} ({self.timezone}, UTC{offset[:3]}:{offset[3:]})."

    def _at(self, seconds: float) -> datetime:
        return datetime.fromtimestamp(seconds, zoneinfo.ZoneInfo(self.timezone))


def checked_timezone(name: str) -> str:
    """Return the IANA name of a time zone in its usual spelling; "" stays.

    Raises:
        UsageError: there is no such time zone.
    """
    wanted = name.strip().replace(" ", "_")
    if not wanted:
        return ""
    known = _timezones()
    if wanted.casefold() in known:
        return known[wanted.casefold()]
    near = difflib.get_close_matches(wanted.casefold(), known, 1)
    remedy = f"did you mean {known[near[0]]}?" if near else "give an IANA name such as Europe/Oslo"
    raise UsageError(f"there is no time zone {name[:60]!r}", remedy=remedy)


def checked_locale(name: str) -> str:
    """Return a language tag in its usual spelling (``nb-NO``, ``zh-Hant-TW``); "" stays.

    Raises:
        UsageError: it is no language tag.
    """
    if not name.strip():
        return ""
    found = _LOCALE.fullmatch(name.strip())
    if found is None:
        raise UsageError(
            f"{name[:60]!r} is not a locale", remedy="give a language tag such as en-GB or nb-NO"
        )
    language, script, region = found.groups()
    parts = (language.lower(), (script or "").capitalize(), (region or "").upper())
    return "-".join(part for part in parts if part)


def machine_timezone() -> str:
    """Return the IANA name of this machine's time zone; where it is not known, a zone with its present offset."""
    name = os.environ.get("TZ", "").removeprefix(":")
    path = name if name.startswith("/") else "" if name else os.path.realpath("/etc/localtime")
    name = path.partition("zoneinfo/")[2] if path else name
    if name.casefold() in (known := _timezones()):
        return known[name.casefold()]
    offset = datetime.now().astimezone().utcoffset()
    hours = round(offset.total_seconds() / 3600) if offset is not None else 0
    named = f"etc/gmt{-hours:+d}"  # these names count westwards
    return known.get(named, BROWSER_TIMEZONE) if hours else BROWSER_TIMEZONE


@lru_cache(maxsize=1)
def _timezones() -> dict[str, str]:
    names = {name.casefold(): name for name in zoneinfo.available_timezones()}
    return {low: name for low, name in names.items() if low not in _NO_PLACES}


def _date(at: datetime) -> str:
    return f"{_DAYS[at.weekday()]}, {at.day} {_MONTHS[at.month - 1]} {at.year}"
