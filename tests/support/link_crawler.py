"""A plain link crawler, to compare an exploration with: addresses in ``a[href]``, breadth first, no browser."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from app.engine.core import identity

AT_ONCE = 2
SECONDS = 30.0


@dataclass
class Crawl:
    """Result: keys of addresses that led to a page, and their templates; ``left`` were not requested."""

    addresses: set[str] = field(default_factory=set[str])
    templates: dict[str, str] = field(default_factory=dict[str, str])
    left: dict[str, str] = field(default_factory=dict[str, str])
    loads: int = 0


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            href = dict(attrs).get("href")
            self._open = href is not None
            if href is not None:
                self.found.append((href, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            href, text = self.found[-1]
            self.found[-1] = (href, " ".join(f"{text} {data}".split()))


def crawl(
    home: str,
    depth: int,
    *,
    storage_state: str = "",
    leave: Callable[[str, str, str], str] = lambda href, text, page: "",
    most: int = 5000,
) -> Crawl:
    """Follow links from ``home``, at most ``depth`` of them in a row.

    ``leave(address, text, page)`` gives why an address must not be asked for; "" where it may be.
    """
    cookies = _cookies(storage_state)
    result = Crawl()
    seen = {identity.url_key(home, home)}
    level = [home]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for steps in range(depth + 1):
            pages = list(pool.map(lambda url: (url, *_load(url, cookies)), level[: most - result.loads]))
            following: list[str] = []
            for _asked, arrived, html in pages:
                result.loads += 1
                if not html or urlsplit(arrived).netloc != urlsplit(home).netloc:
                    continue
                result.addresses.add(identity.url_key(arrived, home))
                result.templates.setdefault(identity.url_template(arrived, home), arrived)
                if steps < depth:
                    following.extend(_links(arrived, html, home, seen, leave, result))
            level = following
    return result


def _links(
    page: str, html: str, home: str, seen: set[str], leave: Callable[[str, str, str], str], result: Crawl
) -> list[str]:
    parser = _Links()
    parser.feed(html)
    found: list[str] = []
    for href, text in parser.found:
        url = urljoin(page, href).partition("#")[0]
        if not url.startswith("http") or urlsplit(url).netloc != urlsplit(home).netloc:
            continue
        key = identity.url_key(url, home)
        if key in seen:
            continue
        seen.add(key)
        why = leave(url, text, page)
        if why:
            result.left[identity.url_template(url, home)] = why
        else:
            found.append(url)
    return found


def _load(url: str, cookies: str) -> tuple[str, str]:
    """Address arrived at and HTML of a page; no HTML for anything else."""
    request = urllib.request.Request(url, headers={"Cookie": cookies} if cookies else {})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=SECONDS) as answer:
            kind = answer.headers.get_content_type()
            return answer.url, answer.read().decode("utf-8", "replace") if kind == "text/html" else ""
    except (urllib.error.URLError, HTTPException, OSError, ValueError):
        return url, ""


def _cookies(storage_state: str) -> str:
    if not storage_state:
        return ""
    state = json.loads(Path(storage_state).read_text("utf-8"))
    return "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in state["cookies"])
