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

READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "PROPFIND", "REPORT", "SEARCH"})
"""Methods that change nothing by definition."""
MAX_BODY_BYTES = 1_000_000
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


class RequestNature(StrEnum):
    """Classes of requests."""

    READS = "reads"
    UNCLEAR = "unclear"
    WRITES = "writes"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingRequest:
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
class ClassifiedRequest:
    """The class of a request, its method after an override, and the key of similar requests."""

    nature: RequestNature
    method: str
    likeness: Hashable = None


class _DuplicateKey(ValueError):
    """A key occurs twice in an object, so two readers may read two different things."""


def classify_request(asked: OutgoingRequest) -> ClassifiedRequest:
    """Classify a request."""
    method = _method(asked)
    if method in READING_METHODS:
        nature = RequestNature.WRITES if _mutates_by_address(asked.url) else RequestNature.READS
        return ClassifiedRequest(nature, method)
    if method != "POST" or asked.body is None or len(asked.body) > MAX_BODY_BYTES:
        return ClassifiedRequest(RequestNature.WRITES, method)
    parts = urlsplit(asked.url)
    query = parse_qsl(parts.query, keep_blank_values=True)
    try:
        nature, form = _body(asked, asked.body, parts.path)
        asking = _shape(_pairs(query), "")
    except (_DuplicateKey, RecursionError):
        return ClassifiedRequest(RequestNature.WRITES, method)
    if _says_it_writes(parts.path) or _does_write(query):
        nature = RequestNature.WRITES
    return ClassifiedRequest(nature, method, (method, parts.netloc, parts.path, asking, form))


def message_writes(text: str | bytes) -> bool:
    """Whether a socket message is recognisably a change: by JSON-RPC, by GraphQL, or by an action's name."""
    try:
        told = _json(_unnumbered(text.decode() if isinstance(text, bytes) else text))
    except _DuplicateKey:
        return True
    except (ValueError, RecursionError):
        return False
    parts = [told]
    if isinstance(told, dict):
        parts.append(cast("dict[str, Any]", told).get("payload"))
    elif isinstance(told, list):
        parts = cast("list[Any]", told)
    return any(_nature_of(part, "graphql") is RequestNature.WRITES for part in parts)


def message_key(text: str | bytes) -> Hashable:
    """Return the key of similar socket messages, by the same rule as for bodies."""
    if isinstance(text, bytes):
        return text
    text = _unnumbered(text)
    try:
        return ("message", _shape(_json(text), "message"))
    except (ValueError, RecursionError):
        return re.sub(r"\d+", "0", text)


def _unnumbered(text: str) -> str:
    bare = text.lstrip("0123456789")
    return bare if bare[:1] in ("{", "[") else text


def is_telemetry(url: str) -> bool:
    """Whether an address looks like one that only counts visits, where no user data can be changed."""
    segments = [part for part in urlsplit(url).path.split("/") if part]
    return any(_TELEMETRY.fullmatch(part) for part in segments[-2:])


def is_reading_method_name(name: str) -> bool:
    """Whether a remote method's name says that it only reads (``item.list``, ``getItem``, ``eth_getBalance``)."""
    words = _words(_SEGMENT.split(name)[-1])
    verb = next((word for word in words if word in _READING_VERBS or word in _WRITING_VERBS), "")
    joined = any(before in _JOINS and word in _WRITING_VERBS for before, word in pairwise(words))
    return verb in _READING_VERBS and not joined


# -------------------------------------------------------------------------------- parts of a request


def _method(asked: OutgoingRequest) -> str:
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
    return next((name for name in named if name and name not in READING_METHODS), method)


def _body(asked: OutgoingRequest, body: bytes, path: str) -> tuple[RequestNature, Hashable]:
    content = asked.headers.get("content-type", "").lower()
    if "multipart/" in content or ("charset=" in content and "utf-8" not in content):
        return RequestNature.WRITES, None
    soap = asked.headers.get("soapaction", "").strip('"')
    call = _XML_CALL.search(body)
    if soap or call is not None:
        name = soap or (call[1].decode("utf-8", "replace") if call is not None else "")
        return (RequestNature.READS if is_reading_method_name(name) else RequestNature.WRITES), name
    if not body.strip():
        return RequestNature.UNCLEAR, ""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return RequestNature.UNCLEAR, ("opaque", content)
    if "application/graphql" in content:
        return _graphql_nature(text, path), text
    if text.lstrip()[:1] in ("{", "["):
        try:
            told = _json(text)
        except _DuplicateKey:
            raise
        except ValueError:
            return RequestNature.UNCLEAR, body
        return _nature_of(told, path), _shape(told, "")
    if _is_form(asked, body):
        return _form_nature(parse_qsl(text, keep_blank_values=True), path)
    return RequestNature.UNCLEAR, ("opaque", content)


def _form_nature(pairs: list[tuple[str, str]], path: str) -> tuple[RequestNature, Hashable]:
    told = _pairs(pairs)
    natures = [_nature_of(told, path)]
    for _, value in pairs:
        if value.lstrip()[:1] in ("{", "["):
            try:
                natures.append(_nature_of(_json(value), path))
            except _DuplicateKey:
                raise
            except ValueError:
                continue
    nature = RequestNature.WRITES if RequestNature.WRITES in natures else natures[0]
    return (RequestNature.WRITES if _does_write(pairs) else nature), _shape(told, "")


def _nature_of(told: Any, path: str) -> RequestNature:
    """Classify JSON: GraphQL, JSON-RPC, batches of either, anything else."""
    if isinstance(told, list):
        natures = {_nature_of(one, path) for one in cast("list[Any]", told)}
        if RequestNature.WRITES in natures:
            return RequestNature.WRITES
        return RequestNature.READS if natures == {RequestNature.READS} else RequestNature.UNCLEAR
    if not isinstance(told, dict):
        return RequestNature.UNCLEAR
    fields = cast("dict[str, Any]", told)
    name = fields.get("method")
    if isinstance(name, str) and ("jsonrpc" in fields or "params" in fields):
        return (
            RequestNature.READS
            if is_reading_method_name(name) and fields.keys() <= _CALL
            else RequestNature.WRITES
        )
    if _does_write((key, value) for key, value in fields.items() if isinstance(value, str)):
        return RequestNature.WRITES
    text = fields.get("query")
    if isinstance(text, str) and _looks_like_graphql(text):
        nature = _graphql_nature(text, path)
        return (
            RequestNature.UNCLEAR
            if nature is RequestNature.READS and not fields.keys() <= _ASKING
            else nature
        )
    return RequestNature.UNCLEAR


def _does_write(pairs: Iterable[tuple[str, str]]) -> bool:
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
        key == "query"
        and _looks_like_graphql(value)
        and _graphql_nature(value, "graphql") is RequestNature.WRITES
        for key, value in parse_qsl(query)
    )


def _looks_like_graphql(text: str) -> bool:
    first = next((token for token in _tokens(text)), "")
    return first == "{" or (first in _DEFINITIONS and "{" in text)


def _graphql_nature(text: str, path: str) -> RequestNature:
    """Classify a GraphQL document: any mutation in it is a change; a query reads if the path is GraphQL's."""
    depth, beginning = 0, True
    for token in _tokens(text):
        if depth == 0 and beginning and token == "mutation":
            return RequestNature.WRITES
        if token in "{([":
            depth += 1
        elif token in "})]":
            depth -= 1
        beginning = depth == 0 and token == "}"
    if depth != 0:
        return RequestNature.WRITES
    return RequestNature.READS if _GRAPHQL_PATH.search(path) else RequestNature.UNCLEAR


def _tokens(text: str) -> Iterable[str]:
    """Yield names and brackets of a GraphQL document, without comments; a string is one token, "string"."""
    for match in _TOKEN.finditer(text):
        if match.lastgroup != "skip":
            yield match[0] if match.lastgroup is not None else "string"


# -------------------------------------------------------------------------------- the form of a body


def _json(text: str) -> Any:
    """Parse JSON.  Raises ``ValueError`` for other text, ``_DuplicateKey`` where a key occurs twice."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    told = dict(pairs)
    if len(told) < len(pairs):
        raise _DuplicateKey
    return told


def _pairs(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for key, value in pairs:
        told[key] = [*told[key], value] if key in told else [value]
    return {key: value[0] if len(value) == 1 else value for key, value in told.items()}


def _shape(told: Any, key: str) -> Hashable:
    """Return keys and structure; values only where they name an action."""
    match told:
        case dict():
            fields = cast("dict[str, Any]", told)
            return ("object", *((name, _shape(fields[name], name)) for name in sorted(fields)))
        case list():
            items = cast("list[Any]", told)
            if key == "message":
                return ("list", *(_shape(one, "message") for one in items))
            return ("list", frozenset(_shape(one, key) for one in items))
        case str() if key == "message" and not told.isdigit():
            return told
        case str() if key.lower() in _TELLING or (key == "query" and _looks_like_graphql(told)):
            return told
        case _:
            return "*"


def _is_form(asked: OutgoingRequest, body: bytes) -> bool:
    content = asked.headers.get("content-type", "").lower()
    return "urlencoded" in content or bool(re.match(rb"[\w.%\[\]+-]+=", body))
