"""Results of tools: the address, title, tree and pictures of the page that a tool's answer holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from app.engine.imports.aria_snapshot import tree_of_snapshot
from app.engine.imports.json_values import parsed
from app.engine.imports.page_contents import decode_picture

MAX_DEPTH = 8
MAX_ITEMS = 500

_URL = re.compile(r"^-? ?Page URL: *(\S+) *$", re.MULTILINE)
_TITLE = re.compile(r"^-? ?Page Title: *(.*?) *$", re.MULTILINE)
_SNAPSHOT = re.compile(r"```yaml\s*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_ERROR = re.compile(r"^#{2,3} Error\s*\n(.+?)(?:\n#{2,3} |\Z)", re.MULTILINE | re.DOTALL)
_URL_KEYS = ("url", "page_url", "current_url", "pageUrl")
_TITLE_KEYS = ("title", "page_title", "pageTitle")
_TREE_KEYS = ("tree", "axtree", "axtree_txt", "accessibility_tree")
_SNAPSHOT_KEYS = ("snapshot", "aria_snapshot", "ariaSnapshot")
_HTML_KEYS = ("html", "page_html", "pruned_html", "dom")
_PICTURE_KEYS = (
    "screenshot",
    "image",
    "image_url",
    "picture",
    "data",
    "blob",
    "content",
    "uri",
    "url",
    "b64_json",
)


@dataclass(slots=True)
class ToolResult:
    """A tool's answer: the page after the call as far as the answer shows it, and its words."""

    url: str = ""
    title: str = ""
    tree: str = ""
    html: str = ""
    picture: bytes = b""
    error: str = ""
    text: str = ""
    texts: list[str] = field(default_factory=list[str])

    @property
    def shows_page(self) -> bool:
        """Whether anything of a page is known."""
        return bool(self.url or self.tree or self.html or self.picture)


def read_tool_result(value: object) -> ToolResult:
    """Return what a result says of the page; a JSON text is read as JSON."""
    result = ToolResult()
    _read(parsed(value), result, 0, [MAX_ITEMS])
    result.text = "\n".join(result.texts)
    found = _ERROR.search(result.text)
    if found is not None and not result.error:
        result.error = found[1].strip()
    return result


def last_picture(value: object) -> bytes:
    """Return the last picture within a message's parts; none where it holds none."""
    found = b""
    for data in _pictures(value, 0, [MAX_ITEMS]):
        found = data
    return found


def _read(value: object, result: ToolResult, depth: int, left: list[int]) -> None:
    left[0] -= 1
    if depth > MAX_DEPTH or left[0] < 0:
        return
    if isinstance(value, str):
        _read_text(value, result)
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            _read(item, result, depth + 1, left)
    elif isinstance(value, dict):
        _read_object(cast("dict[str, Any]", value), result, depth, left)


def _read_object(value: dict[str, Any], result: ToolResult, depth: int, left: list[int]) -> None:
    if value.get("type") in ("image", "image_url", "blob", "input_image"):
        for data in _pictures(value, depth, left):
            result.picture = data
        return
    result.url = _first(value, _URL_KEYS, "://") or result.url
    result.title = _first(value, _TITLE_KEYS) or result.title
    result.tree = _first(value, _TREE_KEYS) or result.tree
    result.html = _first(value, _HTML_KEYS, "<") or result.html
    if snapshot := _first(value, _SNAPSHOT_KEYS):
        result.tree = tree_of_snapshot(snapshot, result.title) or snapshot
    for name in ("screenshot", "image", "picture"):
        if isinstance(value.get(name), str | dict):
            for data in _pictures(
                {"data": value[name]} if isinstance(value[name], str) else value[name], depth, left
            ):
                result.picture = data
    failed = value.get("isError") is True or value.get("is_error") is True
    said = value.get("error")
    if isinstance(said, str) and said.strip():
        result.error = said.strip()
    for name in ("content", "text", "result", "output", "value", "message", "structuredContent", "kwargs"):
        part = value.get(name)
        if isinstance(part, str | list | dict):
            _read(parsed(cast("object", part)), result, depth + 1, left)
    if failed and not result.error:
        result.error = "\n".join(result.texts).strip() or "the tool reported an error"


def _read_text(text: str, result: ToolResult) -> None:
    if len(text) > 64 and decode_picture(text):
        result.picture = decode_picture(text)
        return
    result.texts.append(text)
    if "Page URL:" not in text and "```yaml" not in text:
        return
    if found := _URL.search(text):
        result.url = found[1]
    if found := _TITLE.search(text):
        result.title = found[1]
    if (found := _SNAPSHOT.search(text)) and (tree := tree_of_snapshot(found[1], result.title)):
        result.tree = tree


def _pictures(value: object, depth: int, left: list[int]) -> Iterator[bytes]:
    left[0] -= 1
    if depth > MAX_DEPTH or left[0] < 0:
        return
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _pictures(item, depth + 1, left)
    elif isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        for name in _PICTURE_KEYS:
            part = fields.get(name)
            if isinstance(part, str):
                if data := decode_picture(part):
                    yield data
            elif isinstance(part, list | dict):
                yield from _pictures(cast("object", part), depth + 1, left)
        for name in ("source", "inline_data", "parts", "response", "result", "message_content", "contents"):
            part = fields.get(name)
            if isinstance(part, list | dict):
                yield from _pictures(cast("object", part), depth + 1, left)


def _first(value: dict[str, Any], names: tuple[str, ...], holding: str = "") -> str:
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found.strip() and holding in found:
            return found.strip()
    return ""
