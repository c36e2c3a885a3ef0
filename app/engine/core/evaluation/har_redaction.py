"""Removes from an HTTP archive what nobody else may read: cookies, authorisation, bodies, secrets in addresses.  Pure.

Only named parts of an entry are kept; a browser's further ones (addresses of servers, certificates) are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from app.engine.core.redaction import MARK, redact_url

MAX_BYTES = 20_000_000
"""Longest archive that is kept."""
_SECRET_HEADER = re.compile(
    r"cookie|authori[sz]ation|auth|token|secret|api-?key|session|csrf|xsrf|password", re.IGNORECASE
)
_STATIC = (".css", ".js", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".woff", ".woff2", ".ttf", ".ico", ".webp")
"""Ends of paths of files that no evaluator looks at."""
_ADDRESS_HEADERS = frozenset({"referer", "location", "origin"})


def redact_har(
    archive: Mapping[str, Any], mask: Callable[[str], str] = lambda text: text, limit: int = MAX_BYTES
) -> tuple[dict[str, Any] | None, str]:
    """Return the archive without secrets, and why it is not whole or there is none; "" if it is whole.

    Too long an archive is kept without pictures, styles and scripts; a cut one would look as if something had not
    been asked for, so one that is still too long is left out.

    Args:
        archive: as a browser recorded it.
        mask: masks the run's own secrets in a text.
        limit: bytes of its JSON.
    """
    entries = _entries(archive)
    if entries is None:
        return None, "the recorded requests are no HTTP archive"
    clean = [entry for entry in (_entry(raw, mask) for raw in entries) if entry is not None]
    note = ""
    if _size(clean) > limit:
        clean = [entry for entry in clean if not _is_static(entry["request"]["url"])]
        note = "pictures, styles and scripts are not among the recorded requests: there were too many"
        if _size(clean) > limit:
            return None, f"the recorded requests take more than {limit // 1_000_000} MB"
    head = {"version": "1.2", "creator": {"name": "sitelore", "version": "1"}, "entries": clean}
    return {"log": head}, note


def _entries(archive: Mapping[str, Any]) -> list[Any] | None:
    log = archive.get("log")
    entries = cast("dict[str, Any]", log).get("entries") if isinstance(log, dict) else None
    return cast("list[Any]", entries) if isinstance(entries, list) else None


def _size(entries: list[dict[str, Any]]) -> int:
    return len(json.dumps(entries, ensure_ascii=False).encode("utf-8", "replace"))


def _entry(raw: Any, mask: Callable[[str], str]) -> dict[str, Any] | None:
    """Return one request with its answer; ``None`` for something else."""
    entry = _mapping(raw)
    request, response = _mapping(entry.get("request")), _mapping(entry.get("response"))
    url = request.get("url")
    if not isinstance(url, str):
        return None
    url = redact_url(mask(_without_login(url)))
    content, timings = _mapping(response.get("content")), _mapping(entry.get("timings"))
    return {
        "startedDateTime": _text(entry.get("startedDateTime")),
        "time": _number(entry.get("time")),
        "request": {
            "method": _text(request.get("method")),
            "url": url,
            "httpVersion": _text(request.get("httpVersion")),
            "cookies": [],
            "headers": _headers(request.get("headers"), mask),
            "queryString": _query(url),
            "headersSize": -1,
            "bodySize": -1,
        },
        "response": {
            "status": int(_number(response.get("status"))),
            "statusText": _text(response.get("statusText")),
            "httpVersion": _text(response.get("httpVersion")),
            "cookies": [],
            "headers": _headers(response.get("headers"), mask),
            "content": {
                "size": int(_number(content.get("size"))),
                "mimeType": _text(content.get("mimeType")),
            },
            "redirectURL": redact_url(mask(_without_login(_text(response.get("redirectURL"))))),
            "headersSize": -1,
            "bodySize": -1,
        },
        "cache": {},
        "timings": {name: _number(timings.get(name)) for name in ("send", "wait", "receive")},
    }


def _headers(given: Any, mask: Callable[[str], str]) -> list[dict[str, str]]:
    """Return headers without those of cookies and authorisation; secrets in the others are masked."""
    kept: list[dict[str, str]] = []
    for header in map(_mapping, cast("list[Any]", given) if isinstance(given, list) else []):
        name, value = _text(header.get("name")), _text(header.get("value"))
        if name and not _SECRET_HEADER.search(name):
            value = _without_login(value) if name.lower() in _ADDRESS_HEADERS else value
            kept.append({"name": name, "value": redact_url(mask(value))})
    return kept


def _is_static(url: str) -> bool:
    return url.partition("?")[0].lower().endswith(_STATIC)


def _query(url: str) -> list[dict[str, str]]:
    """Return the query of an address whose secrets are masked already."""
    try:
        query = urlsplit(url).query
    except ValueError:
        return []
    return [{"name": name, "value": value} for name, value in _pairs(query)]


def _pairs(query: str) -> Iterable[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True, max_num_fields=None)


def _without_login(url: str) -> str:
    """Mask user name and password in front of a host; a name alone may be a token."""
    return re.sub(r"(://)[^/?#\s]*@", rf"\1{MARK}@", url)


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else -1
