"""Classification of requests: does one read, or change something?  By method, address and body.  Pure.

``READS``    only asks: GET and the like, a GraphQL query, a JSON-RPC call of a method whose name says it reads.
``WRITES``   is recognisably a change: PUT, PATCH, DELETE (also as an override of POST), a GraphQL mutation, a
JSON-RPC
             method whose name does not say it reads, multipart, a verb of change in the path or in an action's
             name.
``UNCLEAR``  may be either: a page sends such requests while it loads.  ``likeness`` says which of them are
alike: the
             same method and path and the same shape of body, where names of actions count and other values do
             not.

An unreadable request (no visible body, a key given twice, broken or endlessly nested) counts as a change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

READING = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "PROPFIND", "REPORT", "SEARCH"})
"""Methods that change nothing by definition."""
LARGEST = 1_000_000
"""Maximum bytes of a body that are read; a larger one counts as a change."""

_OVERRIDES = ("x-http-method-override", "x-http-method", "x-method-override")
_CALL = frozenset({"jsonrpc", "method", "params", "id"})
_ASKING = frozenset({"query", "variables", "operationName", "extensions", "id", "doc_id", "documentId"})
_GRAPHQL_PATH = re.compile(r"graphql|gql", re.IGNORECASE)
_TELEMETRY = re.compile(
    r"collect|track(ing|er)?|analytics|beacons?|events?|logs?|metrics|telemetry|rum|stats|pixel|ping|hits?|csp([_-]?report)?"
    r"|reports?|vitals|j/collect|envelope|impressions?",
    re.IGNORECASE,
)

_ACTIONS = frozenset(
    {
        "method", "_method", "action", "act", "op", "operation", "operationname", "command", "cmd", "do", "verb",
        "task", "procedure", "function", "func", "call",
    }
)  # fmt: skip
"""Keys whose value names an action."""
_TELLING = _ACTIONS | {"event", "type", "kind", "status", "state", "mode", "intent"}
"""Keys whose value is compared between two bodies."""


def _verbs(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_READING_VERBS = _verbs(
    "get list read search find fetch count describe query view show load lookup suggest autocomplete filter browse",
    "exists is has resolve stat status preview info select poll ping echo retrieve export summarize compare explain",
)
_WRITING_VERBS = _verbs(
    "add remove delete del create update set save send post put patch insert upsert edit modify change archive",
    "unarchive mark unmark buy order pay purchase checkout publish unpublish submit approve reject close reopen lock",
    "unlock ban block unblock invite follow unfollow watch unwatch star unstar like unlike vote upvote downvote rate",
    "move rename clear reset cancel confirm accept decline assign unassign grant revoke transfer upload import write",
    "store register join leave enable disable toggle apply complete schedule merge fork flag dismiss hide pin unpin",
    "replace append push destroy drop purge restore revert subscribe unsubscribe reply comment trash erase wipe",
)
_NOUNS_TOO = frozenset(
    {"order", "post", "set", "change", "block", "rate", "star", "flag", "comment", "store", "import"}
)
"""Verbs that are as often nouns; in a path they are ignored."""
_JOINS = frozenset({"and", "or", "then"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SEGMENT = re.compile(r"[./:#]")
_XML_CALL = re.compile(rb"<(?:\w+:)?methodName>\s*([^<\s]+)\s*</")

_TOKEN = re.compile(
    r'(?P<skip>[\s,\ufeff]+|\#[^\n\r]*)|"""(?:\\"""|[^"]|"(?!""))*"""|"(?:\\.|[^"\\\n])*"|(?P<name>[_A-Za-z]\w*)'
    r"|(?P<open>[{(\[])|(?P<close>[})\]])|(?P<other>.)",
    re.DOTALL,
)
_DEFINITIONS = frozenset({"query", "mutation", "subscription", "fragment"})


class Nature(StrEnum):
    """Classes of requests."""

    READS = "reads"
    UNCLEAR = "unclear"
    WRITES = "writes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request before it is sent.

    Attributes:
        kind: the browser's type of resource: ``Document``, ``XHR``, ``Ping``.
        headers: names in lower case.
        body: "" for none; ``None`` for an invisible one.
    """

    method: str
    url: str
    kind: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = b""


@dataclass(frozen=True, slots=True)
class Judged:
    """The class of a request, its method after an override, and the key of similar requests."""

    nature: Nature
    method: str
    likeness: Hashable = None


class _Twice(ValueError):
    """A key occurs twice in an object, so two readers may read two different things."""


def judged(asked: Asked) -> Judged:
    """Classify a request."""
    method = _method(asked)
    if method in READING:
        nature = Nature.WRITES if _mutates_by_address(asked.url) else Nature.READS
        return Judged(nature, method)
    if method != "POST" or asked.body is None or len(asked.body) > LARGEST:
        return Judged(Nature.WRITES, method)
    parts = urlsplit(asked.url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    try:
        nature, form = _body(asked, asked.body, parts.path)
        asking = _form(_pairs(query), "")
    except (_Twice, RecursionError):
        return Judged(Nature.WRITES, method)
    if _says_it_writes(parts.path) or _does_write(query):
        nature = Nature.WRITES
    return Judged(nature, method, (method, parts.netloc, parts.path, asking, form))


def message_writes(text: str | bytes) -> bool:
    """Whether a socket message is recognisably a change: by JSON-RPC, by GraphQL, or by an action's name."""
    try:
        told = _json(_unnumbered(text.decode() if isinstance(text, bytes) else text))
    except _Twice:
        return True
    except (ValueError, RecursionError):
        return False
    parts = [told]
    if isinstance(told, dict):
        parts.append(cast("dict[str, Any]", told).get("payload"))
    elif isinstance(told, list):
        parts = cast("list[Any]", told)
    return any(_nature_of(part, "graphql") is Nature.WRITES for part in parts)


def message_likeness(text: str | bytes) -> Hashable:
    """Return the key of similar socket messages, by the same rule as for bodies."""
    if isinstance(text, bytes):
        return text
    text = _unnumbered(text)
    try:
        return ("message", _form(_json(text), "message"))
    except (ValueError, RecursionError):
        return re.sub(r"\d+", "0", text)


def _unnumbered(text: str) -> str:
    """Strip the numbers that some protocols put before the JSON."""
    bare = text.lstrip("0123456789")
    return bare if bare[:1] in ("{", "[") else text


def is_telemetry(url: str) -> bool:
    """Whether an address looks like one that only counts visits, where no user data can be changed."""
    segments = [part for part in urlsplit(url).path.split("/") if part]
    return any(_TELEMETRY.fullmatch(part) for part in segments[-2:])


def says_it_reads(name: str) -> bool:
    """Whether a remote method's name says that it only reads (``item.list``, ``getItem``, ``eth_getBalance``)."""
    words = _words(_SEGMENT.split(name)[-1])
    verb = next((word for word in words if word in _READING_VERBS or word in _WRITING_VERBS), "")
    joined = any(before in _JOINS and word in _WRITING_VERBS for before, word in pairwise(words))
    return verb in _READING_VERBS and not joined


# -------------------------------------------------------------------------------- parts of a request


def _method(asked: Asked) -> str:
    """Return the method that a server may assume; an override that claims to read is not believed."""
    method = asked.method.upper()
    told = [asked.headers.get(name, "") for name in _OVERRIDES]
    if method == "POST":
        pairs = parse_qsl(urlsplit(asked.url).query)
        body = asked.body or b""
        if _is_form(asked, body):
            pairs += parse_qsl(body.decode("utf-8", "replace"))
        elif body[:1] == b"{":
            try:
                fields: Any = json.loads(body)
            except (ValueError, RecursionError):
                fields = {}
            pairs += [
                (key, value)
                for key, value in cast("dict[str, Any]", fields).items()
                if isinstance(value, str)
            ]
        told += [value for key, value in pairs if key == "_method"]
    named = (value.strip().upper() for value in told)
    return next((name for name in named if name and name not in READING), method)


def _body(asked: Asked, body: bytes, path: str) -> tuple[Nature, Hashable]:
    """Return class and shape of a POST's body."""
    content = asked.headers.get("content-type", "").lower()
    if "multipart/" in content or ("charset=" in content and "utf-8" not in content):
        return Nature.WRITES, None
    soap = asked.headers.get("soapaction", "").strip('"')
    call = _XML_CALL.search(body)
    if soap or call is not None:
        name = soap or (call[1].decode("utf-8", "replace") if call is not None else "")
        return (Nature.READS if says_it_reads(name) else Nature.WRITES), name
    if not body.strip():
        return Nature.UNCLEAR, ""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Nature.UNCLEAR, ("opaque", content)
    if "application/graphql" in content:
        return _graphql_nature(text, path), text
    if text.lstrip()[:1] in ("{", "["):
        try:
            told = _json(text)
        except _Twice:
            raise
        except ValueError:
            return Nature.UNCLEAR, body
        return _nature_of(told, path), _form(told, "")
    if _is_form(asked, body):
        return _form_nature(parse_qsl(text, keep_blank_values=True), path)
    return Nature.UNCLEAR, ("opaque", content)


def _form_nature(pairs: list[tuple[str, str]], path: str) -> tuple[Nature, Hashable]:
    """Classify a form's fields, one of which may hold JSON."""
    told = _pairs(pairs)
    natures = [_nature_of(told, path)]
    for _, value in pairs:
        if value.lstrip()[:1] in ("{", "["):
            try:
                natures.append(_nature_of(_json(value), path))
            except _Twice:
                raise
            except ValueError:
                continue
    nature = Nature.WRITES if Nature.WRITES in natures else natures[0]
    return (Nature.WRITES if _does_write(pairs) else nature), _form(told, "")


def _nature_of(told: Any, path: str) -> Nature:
    """Classify JSON: GraphQL, JSON-RPC, batches of either, anything else."""
    if isinstance(told, list):
        natures = {_nature_of(one, path) for one in cast("list[Any]", told)}
        if Nature.WRITES in natures:
            return Nature.WRITES
        return Nature.READS if natures == {Nature.READS} else Nature.UNCLEAR
    if not isinstance(told, dict):
        return Nature.UNCLEAR
    fields = cast("dict[str, Any]", told)
    name = fields.get("method")
    if isinstance(name, str) and ("jsonrpc" in fields or "params" in fields):
        return Nature.READS if says_it_reads(name) and fields.keys() <= _CALL else Nature.WRITES
    if _does_write((key, value) for key, value in fields.items() if isinstance(value, str)):
        return Nature.WRITES
    text = fields.get("query")
    if isinstance(text, str) and _looks_like_graphql(text):
        nature = _graphql_nature(text, path)
        return Nature.UNCLEAR if nature is Nature.READS and not fields.keys() <= _ASKING else nature
    return Nature.UNCLEAR


def _does_write(pairs: Iterable[tuple[str, str]]) -> bool:
    """Whether a field that names an action names a change."""
    return any(key.lower() in _ACTIONS and _first_verb(value) in _WRITING_VERBS for key, value in pairs)


def _first_verb(name: str) -> str:
    words = _words(_SEGMENT.split(name)[-1])
    return next((word for word in words if word in _READING_VERBS or word in _WRITING_VERBS), "")


def _says_it_writes(path: str) -> bool:
    """Whether the last word of a path that is no data is a verb of change (``/things/3/archive``)."""
    segments = [part for part in path.split("/") if part and not any(sign.isdigit() for sign in part)]
    words = _words(segments[-1]) if segments else []
    return bool(words) and words[0] in _WRITING_VERBS - _NOUNS_TOO


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


# -------------------------------------------------------------------------------- GraphQL


def _mutates_by_address(url: str) -> bool:
    """Whether a GET carries a mutation (``?query=mutation{...}``)."""
    query = urlsplit(url).query
    if "mutation" not in query.lower() and "%" not in query:
        return False
    return any(
        key == "query" and _looks_like_graphql(value) and _graphql_nature(value, "graphql") is Nature.WRITES
        for key, value in parse_qsl(query)
    )


def _looks_like_graphql(text: str) -> bool:
    first = next((token for token in _tokens(text)), "")
    return first == "{" or (first in _DEFINITIONS and "{" in text)


def _graphql_nature(text: str, path: str) -> Nature:
    """Classify a GraphQL document: any mutation in it is a change; a query reads if the path is GraphQL's."""
    depth, beginning = 0, True
    for token in _tokens(text):
        if depth == 0 and beginning and token == "mutation":
            return Nature.WRITES
        if token in "{([":
            depth += 1
        elif token in "})]":
            depth -= 1
        beginning = depth == 0 and token == "}"
    if depth != 0:
        return Nature.WRITES
    return Nature.READS if _GRAPHQL_PATH.search(path) else Nature.UNCLEAR


def _tokens(text: str) -> Iterable[str]:
    """Yield names and brackets of a GraphQL document, without comments; a string is one token, "string"."""
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "skip":
            yield match[0] if match.lastgroup is not None else "string"


# -------------------------------------------------------------------------------- the form of a body


def _json(text: str) -> Any:
    """Parse JSON.  Raises ``ValueError`` for other text, ``_Twice`` where a key occurs twice."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    told = dict(pairs)
    if len(told) < len(pairs):
        raise _Twice
    return told


def _pairs(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """Return fields by name; repeated ones as a list."""
    told: dict[str, Any] = {}
    for key, value in pairs:
        told[key] = [*told[key], value] if key in told else [value]
    return {key: value[0] if len(value) == 1 else value for key, value in told.items()}


def _form(told: Any, key: str) -> Hashable:
    """Return keys and structure; values only where they name an action."""
    match told:
        case dict():
            fields = cast("dict[str, Any]", told)
            return ("object", *((name, _form(fields[name], name)) for name in sorted(fields)))
        case list():
            items = cast("list[Any]", told)
            if key == "message":
                return ("list", *(_form(one, "message") for one in items))
            return ("list", frozenset(_form(one, key) for one in items))
        case str() if key == "message" and not told.isdigit():
            return told
        case str() if key.lower() in _TELLING or (key == "query" and _looks_like_graphql(told)):
            return told
        case _:
            return "*"


def _is_form(asked: Asked, body: bytes) -> bool:
    content = asked.headers.get("content-type", "").lower()
    return "urlencoded" in content or bool(re.match(rb"[\w.%\[\]+-]+=", body))
