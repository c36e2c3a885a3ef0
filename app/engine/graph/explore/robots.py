"""The rules of ``robots.txt`` for automatic visitors, as in RFC 9309: the longest matching rule decides.

A missing file allows everything.  A server that fails to deliver the file disallows everything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

AGENT = "sitelore"
MAX_BYTES = 500 * 1024
"""The minimum size RFC 9309 requires a parser to support; the rest is ignored."""
LONGEST_DELAY = 30.0
"""Maximum seconds between two pages, whatever the file asks for."""
_LONGEST_SHOWN = 60


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """One line: a path pattern with ``*`` and ``$``, allowed or not."""

    pattern: str
    allow: bool

    def fits(self, path: str) -> bool:
        """Whether a path (with its query) matches; in time proportional to its length."""
        anchored = self.pattern.endswith("$")
        first, *rest = [_plain(part) for part in self.pattern.removesuffix("$").split("*")]
        if not path.startswith(first):
            return False
        at = len(first)
        for number, part in enumerate(rest, start=1):
            if anchored and number == len(rest):
                return len(path) - len(part) >= at and path.endswith(part)
            found = path.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        return not anchored or at == len(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class RobotsFile:
    """The rules for this program.

    Attributes:
        why: in words, why there is no file to read; "" if there is one.
        delay: seconds the site asks for between two pages; 0 if it asks for none.
        sitemaps: addresses named for the whole site.
    """

    why: str = ""
    rules: tuple[RobotsRule, ...] = ()
    delay: float = 0.0
    sitemaps: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str, agent: str = AGENT) -> RobotsFile:
        """Parse the file's text: our own group if there is one, else everybody's.  Malformed lines are ignored."""
        groups, sitemaps = _groups(text)
        own = [group for group in groups if agent.lower() in group.agents]
        chosen = own or [group for group in groups if "*" in group.agents]
        return cls(
            rules=tuple(rule for group in chosen for rule in group.rules),
            delay=max((group.delay for group in chosen), default=0.0),
            sitemaps=tuple(sitemaps),
        )

    @classmethod
    def from_response(cls, status: int, body: bytes = b"", agent: str = AGENT) -> RobotsFile:
        """Interpret a server's response for ``/robots.txt``; status 0 if there was none."""
        if 200 <= status < 300 and body[:MAX_BYTES].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<"):
            return _without("the site has no robots.txt: it returns a page instead")
        if 200 <= status < 300:
            return cls.parse(body[:MAX_BYTES].decode("utf-8-sig", "replace"), agent)
        if 400 <= status < 500:
            return _without("the site has no robots.txt")
        if status == 0:
            return _without("robots.txt could not be read; nothing is forbidden")
        why = f"robots.txt returned status {status}, so the site must not be visited"
        return _without(why, RobotsRule("/", allow=False))

    def allows(self, url: str) -> bool:
        """Whether an address may be opened."""
        rule = self.rule_for(url)
        return rule is None or rule.allow

    def rule_for(self, url: str) -> RobotsRule | None:
        """The rule that decides: the longest match; of equally long ones the allowing one."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        path = _plain(parts.path or "/") + (f"?{_plain(parts.query)}" if parts.query else "")
        if path == "/robots.txt":
            return None
        fitting = (rule for rule in self.rules if rule.fits(path))
        return max(fitting, key=lambda rule: (len(rule.pattern), rule.allow), default=None)

    @property
    def words(self) -> str:
        """A one-line summary for people."""
        if self.why:
            return self.why
        barred = [_short(rule.pattern) for rule in self.rules if not rule.allow]
        more = f" and {len(barred) - 3} more" if len(barred) > 3 else ""
        waits = f"; asks for {self.delay:g} s between pages" if self.delay else ""
        return f"forbids {', '.join(barred[:3]) or 'nothing'}{more}{waits}"


def _short(pattern: str) -> str:
    shown = "".join(sign if sign.isprintable() else "?" for sign in pattern)
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[: _LONGEST_SHOWN - 1]}…"


def _without(why: str, *rules: RobotsRule) -> RobotsFile:
    return RobotsFile(why=why, rules=rules)


@dataclass(slots=True)
class _Group:
    agents: set[str] = field(default_factory=set[str])
    rules: list[RobotsRule] = field(default_factory=list[RobotsRule])
    delay: float = 0.0
    open: bool = True
    """More agents may follow: no rule has come yet."""


def _groups(text: str) -> tuple[list[_Group], list[str]]:
    groups: list[_Group] = []
    sitemaps: list[str] = []
    for line in text.splitlines():
        key, colon, value = line.partition("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            if not groups or not groups[-1].open:
                groups.append(_Group())
            groups[-1].agents.add(value.partition("/")[0].strip().lower())
        elif key == "sitemap":
            sitemaps.append(value)
        elif groups and key in ("allow", "disallow"):
            groups[-1].open = False
            if value:
                groups[-1].rules.append(RobotsRule(value, allow=key == "allow"))
        elif groups and key == "crawl-delay":
            groups[-1].open = False
            groups[-1].delay = _seconds(value)
    return groups, sitemaps


def _plain(path: str) -> str:
    return quote(unquote(path, errors="replace"), safe="/?&=:;,+!~@$'()*%#[]")


def _seconds(text: str) -> float:
    try:
        return min(LONGEST_DELAY, max(0.0, float(text)))
    except ValueError:
        return 0.0
