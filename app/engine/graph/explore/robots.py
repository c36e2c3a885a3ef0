"""The rules of ``robots.txt`` for automatic visitors, as in RFC 9309, read by Scrapy's parser, ``protego``.

A missing file allows everything.  A server that fails to deliver the file disallows everything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from protego import Protego

AGENT = "sitelore"
MAX_BYTES = 500 * 1024
"""The minimum size RFC 9309 requires a parser to support; the rest is ignored."""
LONGEST_DELAY = 30.0
"""Maximum seconds between two pages, whatever the file asks for."""
_LONGEST_SHOWN = 60
_MOST_SUMMARISED = 100
"""Patterns the summary looks at: each is compared with all rules of the file."""
_AGENT_LINE = re.compile(r"^[^\S\n]*user[- ]?agent\b[^\S\n]*:?([^\n#]*).*$", re.IGNORECASE | re.MULTILINE)
_DISALLOWED = re.compile(r"^\s*disallow\s*:\s*([^#\n]*[^#\s])", re.IGNORECASE | re.MULTILINE)
_NOTHING = Protego.parse("")
_EVERYTHING = Protego.parse("User-agent: *\nDisallow: /\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsFile:
    """The rules for this program.

    Attributes:
        why: in words, why there is no file to read; "" if there is one.
        rules: the parsed file.
        barred: the first patterns that it forbids us, in the file's order.
        delay: seconds the site asks for between two pages; 0 if it asks for none.
        sitemaps: addresses named for the whole site.
    """

    why: str = ""
    rules: Protego = field(default=_NOTHING, repr=False)
    barred: tuple[str, ...] = ()
    delay: float = 0.0
    sitemaps: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, agent: str = AGENT) -> RobotsFile:
        """Parse the file's text: our own group if there is one, else everybody's.  Malformed lines are ignored."""
        lines = "\n".join(text.splitlines())
        rules = Protego.parse(_AGENT_LINE.sub(lambda line: _agent_line(line[1], agent), lines))
        patterns = [*dict.fromkeys(_DISALLOWED.findall(lines))][:_MOST_SUMMARISED]
        return cls(
            rules=rules,
            barred=tuple(one for one in patterns if not rules.can_fetch(one.removesuffix("$"), AGENT)),
            delay=min(LONGEST_DELAY, rules.crawl_delay(AGENT) or 0.0),
            sitemaps=tuple(rules.sitemaps),
        )

    @classmethod
    def from_response(cls, status: int, body: bytes = b"", agent: str = AGENT) -> RobotsFile:
        """Interpret a server's response for ``/robots.txt``; status 0 if there was none."""
        if 200 <= status < 300 and body[:MAX_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
            return cls(why="the site has no robots.txt: it returns a page instead")
        if 200 <= status < 300:
            return cls.parse(body[:MAX_BYTES].decode("utf-8-sig", "replace"), agent)
        if 400 <= status < 500:
            return cls(why="the site has no robots.txt")
        if status == 0:
            return cls(why="robots.txt could not be read; nothing is forbidden")
        why = f"robots.txt returned status {status}, so the site must not be visited"
        return cls(why=why, rules=_EVERYTHING)

    def allows(self, url: str) -> bool:
        """Whether an address may be opened: the longest match decides; of equally long ones the allowing one."""
        try:
            return self.rules.can_fetch(url, AGENT)
        except ValueError:  # no address
            return True

    @property
    def words(self) -> str:
        """A one-line summary for people."""
        if self.why:
            return self.why
        barred = [_short(pattern) for pattern in self.barred]
        rest = "many" if len(barred) == _MOST_SUMMARISED else len(barred) - 3
        more = f" and {rest} more" if len(barred) > 3 else ""
        waits = f"; asks for {self.delay:g} s between pages" if self.delay else ""
        return f"forbids {', '.join(barred[:3]) or 'nothing'}{more}{waits}"


def _agent_line(named: str, agent: str) -> str:
    """Return a line that names us, everybody or another: the library takes a part of our name for it, and thousands of
    names in one group for as many copies of its rules.
    """
    name = named.partition("/")[0].strip().lower()
    known = {"*": "*", agent.lower(): AGENT}
    return f"User-agent: {known.get(name, 'another')}"


def _short(pattern: str) -> str:
    shown = "".join(sign if sign.isprintable() else "?" for sign in pattern)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[: _LONGEST_SHOWN - 1]}…"
