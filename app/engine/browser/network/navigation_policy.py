"""Where a run may navigate: its own sites, no search engine, not in circles (SuperBrowser, section 6.5). Pure."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

from app.engine.core.action_result import ActionResult, Cause, refused
from app.engine.core.addresses import is_on_any_host, url_key
from app.engine.core.public_suffixes import is_company_suffix, registrable_domain
from app.engine.core.redaction import redact_url

MAX_REVISITS = 2
"""How often a run may reopen an address; beyond that it goes in circles."""

_SEARCH_ENGINES = (
    "google", "bing", "duckduckgo", "yahoo", "baidu", "yandex", "ecosia", "startpage", "qwant", "sogou", "naver", "ask",
    "kagi", "mojeek", "swisscows", "dogpile", "metager", "you", "perplexity",
)  # fmt: skip


class NavigationPolicy:
    """The navigation policy of one run.

    ``domains`` are hosts (with or without a port); without any only search engines are off limits, with
    ``None`` nothing is.
    """

    def __init__(self, domains: frozenset[str] | None = frozenset()) -> None:
        self._anywhere = domains is None
        self.domains = frozenset(
            domain.lower().removeprefix("www.").strip("/") for domain in domains or () if domain
        )
        self._opened: Counter[str] = Counter()
        self._challenged: set[str] = set()

    def outside(self, url: str) -> ActionResult | None:
        """Return why an address is off limits for this run, or ``None``."""
        try:
            parts = urlsplit(url)
            host = (parts.hostname or "").lower()
            parts.port  # noqa: B018 it is checked when it is asked for
        except ValueError:
            return refused(Cause.OFF_SITE, f"{redact_url(url)[:120]} is not an address")
        if parts.scheme in ("about", "blob", "data", "chrome-error"):  # not sent by a host
            return None
        if parts.scheme not in ("http", "https"):
            return refused(
                Cause.OFF_SITE,
                f"an address begins with http:// or https://, not {parts.scheme or url[:20]!r}",
            )
        if self._anywhere or is_on_any_host(url, self.domains):
            return None
        if _is_search_engine(host.removeprefix("www.")):
            return refused(
                Cause.OFF_SITE,
                f"{host} is a search engine; the task is to be done on the site itself",
                *self._instead(),
            )
        if self.domains:
            return refused(Cause.OFF_SITE, f"{host} does not belong to this run's sites", *self._instead())
        return None

    def again(self, url: str) -> ActionResult | None:
        """Return why an address may not be opened once more, or ``None``."""
        key = _key(url)
        if key in self._challenged:
            return refused(
                Cause.CHALLENGE, f"{redact_url(url)[:120]} showed a captcha, and would again",
                "ask_human()", "go_back()",
            )  # fmt: skip
        if self._opened[key] > MAX_REVISITS:
            return refused(
                Cause.REGRESSION,
                f"{redact_url(url)[:120]} has been opened {self._opened[key]} times; this goes in circles",
                "continue from the open page",
            )  # fmt: skip
        return None

    def opened(self, url: str) -> str:
        """Record that an address was opened on demand; return a sentence if it had been opened before."""
        self._opened[_key(url)] += 1
        times = self._opened[_key(url)]
        return f"this address was opened {times - 1} times before" if times > 1 else ""

    def note_challenge(self, url: str) -> None:
        """Record that an address led to a challenge."""
        self._challenged.add(_key(url))

    def _instead(self) -> tuple[str, ...]:
        return (f"this run's sites: {', '.join(sorted(self.domains))}",) if self.domains else ()


def _is_search_engine(host: str) -> bool:
    domain = registrable_domain(host)
    name, dot, _suffix = domain.partition(".")
    if not dot or name not in _SEARCH_ENGINES or is_company_suffix(domain):
        return False
    below = host.removesuffix(domain).rstrip(".").rpartition(".")[2]
    return below in ("", "www", "search", "m", "html", "lite", "images", "news")


def _key(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc.lower()}{url_key(url)}#{parts.fragment}"
