"""Page states, transitions and frontier items as rows of a graph file, with the statements that store them."""

from __future__ import annotations

import sqlite3
from typing import Any

import orjson

from app.engine.core.page_state import Challenge, PageKeys, PageState, Source
from app.engine.core.transition import (
    FrontierItem,
    FrontierStatus,
    Locator,
    Operation,
    SkipReason,
    Transition,
)

PAGE_COLUMNS = (
    "id", "url_key", "template", "structure", "skeleton", "content", "url", "title", "depth", "headings", "controls",
    "element_keys", "elements", "text", "picture", "thumbnail", "direct", "challenge", "status", "source",
    "exploration", "first_seen", "last_seen", "gone_at", "notes",
    "served",
)  # fmt: skip
TRANSITION_COLUMNS = (
    "id", "source", "target", "operation", "value", "locator", "attempts", "successes", "seconds", "risk", "last_at",
    "last_ok_at", "last_arrival", "last_divergence", "last_tier", "found_by", "exploration", "gone_at",
)  # fmt: skip
FRONTIER_COLUMNS = (
    "page", "element", "operation", "value", "locator", "depth", "place", "status", "reason", "detail",
)  # fmt: skip

PUT_PAGE = (
    f"INSERT INTO page ({', '.join(PAGE_COLUMNS)}) VALUES ({', '.join('?' * len(PAGE_COLUMNS))})"
    " ON CONFLICT (id) DO UPDATE SET url = excluded.url, content = excluded.content, template = excluded.template,"
    " skeleton = excluded.skeleton, title = excluded.title, depth = min(depth, excluded.depth),"
    " headings = excluded.headings, controls = excluded.controls, element_keys = excluded.element_keys,"
    + "".join(
        f" {name} = iif(excluded.{name} = '', {name}, excluded.{name}),"
        for name in ("elements", "text", "picture", "thumbnail", "served")
    )
    + " direct = coalesce(excluded.direct, direct), challenge = excluded.challenge, status = excluded.status,"
    f" exploration = iif(source = '{Source.RUN}', excluded.exploration, exploration),"
    f" source = iif(source = '{Source.RUN}', excluded.source, source),"
    " first_seen = min(first_seen, excluded.first_seen), last_seen = max(last_seen, excluded.last_seen),"
    " gone_at = excluded.gone_at, notes = excluded.notes"
)
PUT_TRANSITION = (
    f"INSERT INTO transition ({', '.join(TRANSITION_COLUMNS)}) VALUES ({', '.join('?' * len(TRANSITION_COLUMNS))})"
    " ON CONFLICT (id) DO UPDATE SET locator = coalesce(excluded.locator, locator), risk = excluded.risk, gone_at = 0"
)
COUNT_ATTEMPT = (
    "UPDATE transition SET attempts = attempts + 1, successes = successes + :ok,"
    " seconds = iif(:ok, (seconds * successes + :seconds) / (successes + 1), seconds), last_at = max(last_at, :at),"
    " last_ok_at = iif(:ok, max(last_ok_at, :at), last_ok_at), last_arrival = :arrival,"
    " last_divergence = iif(:divergence = '', last_divergence, :divergence),"
    " last_tier = iif(:tier = '', last_tier, :tier),"
    f" found_by = iif(found_by = '{Source.SEEN}', :by, found_by) WHERE id = :transition"
)
PUT_FRONTIER = (
    f"INSERT INTO frontier ({', '.join(FRONTIER_COLUMNS)}) VALUES ({', '.join('?' * len(FRONTIER_COLUMNS))})"
    " ON CONFLICT (page, element, operation, value)"
    " DO UPDATE SET status = excluded.status, reason = excluded.reason, detail = excluded.detail"
)
PAGES = f"SELECT {', '.join(PAGE_COLUMNS)} FROM page"
TRANSITIONS = f"SELECT {', '.join(TRANSITION_COLUMNS)} FROM transition"
FRONTIER = f"SELECT {', '.join(FRONTIER_COLUMNS)} FROM frontier"

_OPERATION = {word.value: word for word in Operation}
_CHALLENGE = {word.value: word for word in Challenge}
_SOURCE = {word.value: word for word in Source}
_STATUS = {word.value: word for word in FrontierStatus}
_REASON = {word.value: word for word in SkipReason}
"""Four times as fast as calling the class, which is needed 80,000 times for a graph of 10,000 states."""

_KEY_DIGITS = 16
_PACKED, _PLAIN = b"\x01", b"\x00"

Values = tuple[Any, ...]


def page_values(page: PageState) -> Values:
    """Return a row in the order of ``PAGE_COLUMNS``."""
    keys = page.keys
    return (
        page.id, keys.url, keys.template, keys.structure, keys.skeleton, keys.content, page.url, page.title, page.depth,
        _json(page.headings), _json(page.controls), pack_keys(page.element_keys), page.elements, page.text,
        page.picture, page.thumbnail, page.direct, page.challenge.value, page.status, page.source.value,
        page.exploration, page.first_seen, page.last_seen, page.gone_at, _json(page.notes), page.served,
    )  # fmt: skip


def page_of(row: sqlite3.Row) -> PageState:
    """Return the page state of a row of all columns."""
    (
        page, url_key, template, structure, skeleton, content, url, title, depth, headings, controls, element_keys,
        elements, text, picture, thumbnail, direct, challenge, status, source, exploration, first_seen, last_seen,
        gone_at, notes, served,
    ) = row  # fmt: skip
    return PageState(
        id=page,
        keys=PageKeys(
            url=url_key, template=template, structure=structure, skeleton=skeleton, content=content
        ),
        url=url,
        title=title,
        depth=depth,
        headings=_words(headings),
        controls=_words(controls),
        element_keys=unpack_keys(element_keys),
        elements=elements,
        text=text,
        picture=picture,
        thumbnail=thumbnail,
        direct=None if direct is None else bool(direct),
        challenge=_CHALLENGE[challenge],
        status=status,
        source=_SOURCE[source],
        exploration=exploration,
        first_seen=first_seen,
        last_seen=last_seen,
        gone_at=gone_at,
        notes=_words(notes),
        served=served,
    )


def transition_values(transition: Transition) -> Values:
    """Return a row in the order of ``TRANSITION_COLUMNS``."""
    return (
        transition.id, transition.source, transition.target, transition.operation.value, transition.value,
        locator_text(transition.locator), transition.attempts, transition.successes, transition.seconds,
        transition.risk, transition.last_at, transition.last_ok_at, transition.last_arrival,
        transition.last_divergence, transition.last_tier, transition.found_by.value, transition.exploration,
        transition.gone_at,
    )  # fmt: skip


def transition_of(row: sqlite3.Row) -> Transition:
    """Return the transition of a row of all columns."""
    (
        transition, source, target, operation, value, locator, attempts, successes, seconds, risk, last_at, last_ok_at,
        last_arrival, last_divergence, last_tier, found_by, exploration, gone_at,
    ) = row  # fmt: skip
    return Transition(
        id=transition,
        source=source,
        target=target,
        operation=_OPERATION[operation],
        value=value,
        locator=locator_of_text(locator),
        attempts=attempts,
        successes=successes,
        seconds=seconds,
        risk=risk,
        last_at=last_at,
        last_ok_at=last_ok_at,
        last_arrival=last_arrival,
        last_divergence=last_divergence,
        last_tier=last_tier,
        found_by=_SOURCE[found_by],
        exploration=exploration,
        gone_at=gone_at,
    )


def frontier_values(item: FrontierItem) -> Values:
    """Return a row in the order of ``FRONTIER_COLUMNS``."""
    return (
        item.page, item.element, item.operation.value, item.value, locator_text(item.locator), item.depth, item.order,
        item.status.value, item.reason.value if item.reason is not None else "", item.detail,
    )  # fmt: skip


def frontier_of(row: sqlite3.Row) -> FrontierItem:
    """Return the frontier item of a row of all columns."""
    page, element, operation, value, locator, depth, place, status, reason, detail = row
    return FrontierItem(
        page=page,
        element=element,
        operation=_OPERATION[operation],
        value=value,
        locator=locator_of_text(locator),
        depth=depth,
        order=place,
        status=_STATUS[status],
        reason=_REASON[reason] if reason else None,
        detail=detail,
    )


def locator_text(locator: Locator | None) -> str | None:
    """Encode a locator as JSON without its empty parts."""
    if locator is None:
        return None
    parts: dict[str, Any] = orjson.loads(orjson.dumps(locator))
    return orjson.dumps({name: part for name, part in parts.items() if part}).decode()


def locator_of_text(text: str | None) -> Locator | None:
    """Decode a locator."""
    if text is None:
        return None
    parts: dict[str, Any] = orjson.loads(text)
    for name in ("landmarks", "frame"):
        if name in parts:
            parts[name] = tuple(parts[name])
    if "attributes" in parts:
        parts["attributes"] = tuple((str(name), str(value)) for name, value in parts["attributes"])
    return Locator(**parts)


def pack_keys(keys: tuple[str, ...]) -> bytes:
    """Encode keys of 16 hex digits in 8 bytes each; a page of 2,000 elements has as many of them."""
    if all(len(key) == _KEY_DIGITS for key in keys):
        try:
            return _PACKED + bytes.fromhex("".join(keys))
        except ValueError:
            pass
    return _PLAIN + orjson.dumps(keys)


def unpack_keys(data: bytes) -> tuple[str, ...]:
    """Decode ``pack_keys``."""
    if data[:1] != _PACKED:
        return tuple(orjson.loads(data[1:])) if len(data) > 1 else ()
    digits = data[1:].hex()
    return tuple([digits[at : at + _KEY_DIGITS] for at in range(0, len(digits), _KEY_DIGITS)])


def _json(words: tuple[str, ...]) -> str:
    return orjson.dumps(words).decode() if words else "[]"


def _words(text: str) -> tuple[str, ...]:
    return tuple(orjson.loads(text)) if text != "[]" else ()
