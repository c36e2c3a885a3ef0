"""Contents of foreign pages (trees, HTML, pictures), without secrets, under the digests that steps name them by."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from app.engine.core.actions.recorded import ActionTarget, ArgValue, RecordedAction
from app.engine.core.ax_tree import content_key
from app.engine.core.redaction import MARK, redact_html, redact_text, redact_tree, typed_secret, without_typed
from app.engine.core.secret_inputs import SecretFocus, names_a_secret, names_secret_selector, secret_forms
from app.engine.core.sites import CROSS, SiteTable
from app.engine.core.trajectory import Step, add_blob
from app.engine.imports.notices import notices
from app.engine.imports.source_files import MAX_IMAGE_BYTES

MAX_PICTURES = 2000
"""Pictures kept of one run."""
MAX_PICTURE_TOTAL = 512 * 2**20
"""Bytes of pictures kept of one run."""

_DATA_URL = re.compile(r"data:image/[\w.+-]{1,20}(?:;[\w=.+-]{1,60})*;base64,", re.IGNORECASE)
_MIN_SECRET = 4


@dataclass(slots=True)
class ForeignContents:
    """The contents of one run's pages; a repeated one is stored once.

    ``left_out`` counts the pictures beyond the bounds.
    """

    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    left_out: int = 0
    _trees: dict[str, tuple[str, str, tuple[str, ...]]] = field(
        default_factory=dict[str, tuple[str, str, tuple[str, ...]]]
    )
    _pictures: int = 0
    _picture_bytes: int = 0
    _typed: dict[str, None] = field(default_factory=dict[str, None])
    _focus: SecretFocus = field(default_factory=SecretFocus)

    def with_tree(self, step: Step, tree: str) -> Step:
        """Return the step with this tree as its page; the same step where the tree is empty."""
        if not tree.strip():
            return step
        if tree not in self._trees:
            data = redact_tree(tree)
            clean = data.decode()
            self._trees[tree] = (add_blob(self.blobs, data), content_key(clean), notices(clean))
        digest, key, announced = self._trees[tree]
        return replace(step, tree=digest, state=key, notices=announced)

    def html(self, html: str) -> str:
        """Return the digest of a page's HTML, "" for none."""
        return add_blob(self.blobs, redact_html(html)) if html.strip() else ""

    def picture(self, data: bytes) -> str:
        """Return the digest of a picture, "" for what is none or is beyond the bounds."""
        if not is_picture(data) or len(data) > MAX_IMAGE_BYTES:
            return ""
        if self._pictures >= MAX_PICTURES or self._picture_bytes + len(data) > MAX_PICTURE_TOTAL:
            self.left_out += 1
            return ""
        before = len(self.blobs)
        digest = add_blob(self.blobs, data)
        if len(self.blobs) > before:
            self._pictures += 1
            self._picture_bytes += len(data)
        return digest

    def encoded_picture(self, text: str) -> str:
        """Return the digest of a picture in base64 or as a ``data:`` address, "" for what is none."""
        data = decode_picture(text)
        return self.picture(data) if data else ""

    def acted(
        self,
        step: Step,
        action: RecordedAction | None,
        target: ActionTarget | None,
        *,
        declared: bool = False,
    ) -> Step:
        """Return the step with its action and without the passwords that were typed so far.

        A field is a password's by its name, its selector, the step's page, or the source (``declared``); keys typed
        right after such a field was clicked or filled are one, too.
        """
        secret = ""
        if action is not None:
            tree, html = (
                self.blobs.get(one, b"").decode("utf-8", "replace") for one in (step.tree, step.html)
            )
            name = target.name if target is not None else ""
            on_secret = self._focus.is_typed(action, name, tree, html, declared=declared)
            secret = typed_secret(action, target, on_secret_field=on_secret)
        raw = step.raw_output
        if action is not None and secret:
            action = without_typed(action, secret)
            self.remember(secret)
            for quote in "\"'":
                raw = raw.replace(f"{quote}{secret}{quote}", f"{quote}{MARK}{quote}")
        return replace(
            step,
            action=action,
            target=target,
            reason=self.said(step.reason),
            raw_output=self.said(raw),
            error=self.said(step.error),
            output=self.said(step.output),
        )

    def remember(self, *secrets: str) -> None:
        """Mask these in later texts; a short one occurs in other words, too, and is not."""
        for secret in secrets:
            if len(secret) >= _MIN_SECRET and secret != MARK:
                self._typed.update(dict.fromkeys(secret_forms(secret)))

    def foresee(self, acts: Iterable[tuple[RecordedAction | None, ActionTarget | None]]) -> None:
        """Remember the passwords of a whole run: they are masked also where they are said before they are typed."""
        focus = SecretFocus()
        for action, target in acts:
            if action is not None:
                name = target.name if target is not None else ""
                on_secret = focus.is_typed(action, name, "", "")
                self.remember(typed_secret(action, target, on_secret_field=on_secret))

    def said(self, text: str) -> str:
        """Return a text without the passwords typed so far."""
        for secret in self._typed:
            text = text.replace(secret, MARK)
        return text


def is_picture(data: bytes) -> bool:
    """Whether the bytes begin as a PNG, JPEG or WebP picture."""
    return data.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")) or (
        data[:4] == b"RIFF" and data[8:12] == b"WEBP"
    )


def decode_picture(text: str) -> bytes:
    """Return the bytes of a picture in base64 or as a ``data:`` address; none where it is no picture or too long."""
    found = _DATA_URL.match(text)
    encoded = text[found.end() :] if found else text
    if not encoded or len(encoded) > MAX_IMAGE_BYTES * 4 // 3 + 4:
        return b""
    try:
        if not is_picture(base64.b64decode(encoded[:16].encode("ascii"), validate=True)):
            return b""
        return base64.b64decode(encoded.encode("ascii"))
    except (ValueError, binascii.Error):
        return b""


def clean_args(args: Mapping[str, Any], most: int = 20_000) -> dict[str, ArgValue]:
    """Return arguments as a step can hold them: scalars and lists of scalars without secrets, the rest as text."""
    return {
        redact_text(str(name)[:200]): MARK
        if isinstance(value, str) and names_a_secret_argument(str(name))
        else _plain(value, most)
        for name, value in list(args.items())[:100]
    }


def names_a_secret_argument(name: str) -> bool:
    """Whether an argument of this name (``user_password``) holds a secret."""
    return names_a_secret(name.replace("_", " "))


def secrets_in_call(value: object, depth: int = 0) -> list[str]:
    """Return the secrets that a tool call's arguments hold by the names in them.

    Fields of a form name themselves beside their value (``{"name": "Password", "value": …}``).
    """
    if depth > 6:
        return []
    if isinstance(value, list):
        return [one for item in cast("list[object]", value)[:200] for one in secrets_in_call(item, depth + 1)]
    if not isinstance(value, dict):
        return []
    held = cast("dict[str, object]", value)
    naming = (held.get(name) for name in ("name", "element", "label", "selector", "type"))
    is_field = any(
        isinstance(one, str) and (names_a_secret(one) or names_secret_selector(one)) for one in naming
    )
    found: list[str] = []
    for name, one in list(held.items())[:200]:
        if isinstance(one, str):
            if names_a_secret_argument(str(name)) or (is_field and name in ("value", "text")):
                found.append(one)
        else:
            found += secrets_in_call(one, depth + 1)
    return found


def _plain(value: object, most: int) -> ArgValue:
    items: list[object] = list(cast("list[object]", value)) if isinstance(value, list) else []
    if items and all(isinstance(item, str | int | float | bool | None) for item in items):
        return [_scalar(item, most) for item in items[:200]]
    return _scalar(cast("object", value), most)


def _scalar(value: object, most: int) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if abs(value) < 2**53 else str(value)
    text = value if isinstance(value, str) else as_json(value)
    return redact_text(text[:most])


def as_json(value: object) -> str:
    """Return a value of JSON as text, ``repr`` of what JSON can't hold."""
    import orjson

    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return repr(value)


def sites_of(urls: list[str], sites: SiteTable) -> tuple[str, tuple[str, ...]]:
    """Return a run's site and all its sites, by the pages it visited."""
    visited = sites.named(urls)
    if visited:
        return (visited[0] if len(visited) == 1 else CROSS), visited
    other = next((site for site in map(sites.site_of, urls) if site), "")
    return other, ((other,) if other else ())
