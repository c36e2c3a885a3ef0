"""Does a request read or write?  One row for each clause of the rule."""

from __future__ import annotations

import json

import pytest

from app.engine.core.request_nature import (
    MAX_BODY_BYTES,
    OutgoingRequest,
    RequestNature,
    classify_request,
    is_reading_method_name,
    is_telemetry,
    message_key,
    message_writes,
)

HOST = "https://shop.example"
JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


def asked(
    method: str = "POST", path: str = "/api", body: object = b"", headers: dict[str, str] | None = None
) -> OutgoingRequest:
    told = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    return OutgoingRequest(method=method, url=f"{HOST}{path}", kind="XHR", headers=headers or {}, body=told)


def rpc(method: str, **more: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": method, "id": 1, **more}


READS: dict[str, OutgoingRequest] = {
    "GET": asked("GET"),
    "HEAD": asked("HEAD"),
    "OPTIONS": asked("OPTIONS"),
    "a word in the address is no mutation": asked("GET", "/search?query=mutation+of+genes"),
    "a GraphQL query": asked(path="/graphql", body={"query": "{ things { name } }"}),
    "a named GraphQL query with variables": asked(
        path="/graphql", body={"query": "query Q($a: Int) { a }", "variables": {"a": 1}, "operationName": "Q"}
    ),
    "a query that is named mutation": asked(path="/graphql", body={"query": "query mutation { a }"}),
    "a field that is named mutation": asked(path="/graphql", body={"query": "{ mutation { a } }"}),
    "mutation in a string": asked(path="/graphql", body={"query": '{ find(text: "} mutation {") { id } }'}),
    "mutation in a comment": asked(path="/graphql", body={"query": "# mutation { a }\n{ a }"}),
    "a batch of queries": asked(path="/graphql", body=[{"query": "{ a }"}, {"query": "{ b }"}]),
    "GraphQL as its own type": asked(
        path="/graphql", body=b"query { a }", headers={"content-type": "application/graphql"}
    ),
    "JSON-RPC list": asked(body=rpc("item.list")),
    "JSON-RPC get in one word": asked(body=rpc("getItems", params=[1])),
    "JSON-RPC with a name space": asked(body=rpc("eth_getBalance")),
    "a batch of JSON-RPC that reads": asked(body=[rpc("list"), rpc("count")]),
    "XML-RPC that reads": asked(body=b"<methodCall><methodName>wp.getPosts</methodName></methodCall>"),
}
WRITES: dict[str, OutgoingRequest] = {
    "PUT": asked("PUT"),
    "PATCH": asked("PATCH"),
    "DELETE": asked("DELETE"),
    "a method nobody knows": asked("MKCOL"),
    "DELETE by a header": asked(headers={"x-http-method-override": "DELETE"}),
    "DELETE by another header": asked(headers={"x-method-override": "delete"}),
    "GET with a method in a header": asked("GET", headers={"x-http-method": "DELETE"}),
    "DELETE by a field": asked(body=b"_method=DELETE&id=3", headers=FORM),
    "DELETE by a field, in lower case": asked(body=b"id=3&_method=delete"),
    "DELETE by a field in JSON": asked(body={"_method": "PUT"}),
    "DELETE by the address": asked(path="/api?_method=DELETE"),
    "a mutation": asked(path="/graphql", body={"query": "mutation { a }"}),
    "a mutation behind a line break": asked(path="/graphql", body={"query": "\n  mutation A { a }"}),
    "a mutation behind a comment": asked(path="/graphql", body={"query": "# reads\nmutation { a }"}),
    "a mutation behind commas": asked(path="/graphql", body={"query": ",,mutation{a}"}),
    "a mutation behind a query": asked(path="/graphql", body={"query": "query Q { a } mutation M { b }"}),
    "a mutation behind a fragment": asked(
        path="/graphql", body={"query": "fragment F on T { a } mutation{b}"}
    ),
    "a mutation in a batch": asked(path="/graphql", body=[{"query": "{ a }"}, {"query": "mutation { b }"}]),
    "a mutation with escaped letters": asked(
        path="/graphql", body=b'{"query": "\\u006dutation { a }"}', headers=JSON
    ),
    "a mutation in a form": asked(path="/graphql", body=b"query=mutation+%7B+a+%7D", headers=FORM),
    "a mutation by GET": asked("GET", "/graphql?query=mutation%20%7B%20a%20%7D"),
    "a mutation by GET, its letters escaped": asked("GET", "/graphql?query=%6dutation%7Ba%7D"),
    "a mutation as its own type": asked(
        path="/graphql", body=b"mutation { a }", headers={"content-type": "application/graphql"}
    ),
    "a mutation where no GraphQL is expected": asked(path="/x", body={"query": "mutation { a }"}),
    "GraphQL without an end": asked(path="/graphql", body={"query": "{ a { b }"}),
    "a query that stands twice": asked(path="/graphql", body=b'{"query": "{ a }", "query": "{ b }"}'),
    "a named action of a kept query": asked(
        path="/graphql", body={"operationName": "DeleteItem", "extensions": {"persistedQuery": {}}}
    ),
    "JSON-RPC archive": asked(body=rpc("item.archive")),
    "JSON-RPC of which nothing is known": asked(body=rpc("frobnicate")),
    "JSON-RPC that reads and writes": asked(body=rpc("getOrCreateItem")),
    "JSON-RPC that finds and deletes": asked(body=rpc("find_and_delete")),
    "JSON-RPC with more than it should have": asked(body=rpc("list", delete=3)),
    "JSON-RPC without its version": asked(body={"method": "remove", "params": [3]}),
    "a batch of JSON-RPC with one that writes": asked(body=[rpc("list"), rpc("archive")]),
    "JSON-RPC in a field of a form": asked(body=b'data={"jsonrpc":"2.0","method":"archive"}', headers=FORM),
    "XML-RPC that writes": asked(body=b"<methodCall><methodName>wp.deletePost</methodName></methodCall>"),
    "SOAP that writes": asked(body=b"<x/>", headers={"soapaction": '"urn:shop#RemoveItem"'}),
    "an action's name": asked(body={"action": "archive", "id": 3}),
    "an action's name in a form": asked(body=b"action=delete&id=3", headers=FORM),
    "an action's name in the address": asked(path="/admin?action=trash"),
    "a verb at the end of the path": asked(path="/things/3/archive"),
    "a verb before a number": asked(path="/things/remove/3"),
    "multipart": asked(body=b"--x", headers={"content-type": "multipart/form-data; boundary=x"}),
    "another alphabet": asked(body=b"{}", headers={"content-type": "application/json; charset=utf-16"}),
    "a body that can't be seen": asked(body=None),
    "a body that is too large": asked(body=b"x" * (MAX_BODY_BYTES + 1)),
    "JSON without a floor": asked(body=b"[" * 200_000),
}
WRITES |= {
    "a DELETE that claims to be a GET": asked("DELETE", headers={"x-http-method": "GET"}),
    "a form that claims to be a GET": asked(path="/things/archive", body=b"_method=get&id=3", headers=FORM),
    "a claim to write beside one to read": asked(
        body=b"_method=delete", headers={**FORM, "x-http-method": "GET", "x-method-override": "HEAD"}
    ),
}
UNCLEAR: dict[str, OutgoingRequest] = {
    "a header that claims it is a GET": asked(body={"a": 1}, headers={"x-http-method-override": "GET"}),
    "JSON that claims to be a GET": asked(body={"_method": "GET", "id": 3}),
    "an empty body": asked(),
    "JSON": asked(body={"page": 2}),
    "a form": asked(body=b"q=stool", headers=FORM),
    "text": asked(body=b"first"),
    "bytes": asked(body=b"\xff\xfe\x00"),
    "broken JSON": asked(body=b'{"a": '),
    "a noun that is a verb, too": asked(path="/api/order"),
    "an action that reads": asked(body={"action": "list"}),
    "a GraphQL query with more than it should have": asked(
        path="/graphql", body={"query": "{ a }", "remove": 3}
    ),
    "a GraphQL query where no GraphQL is": asked(path="/api", body={"query": "{ a }"}),
    "words that somebody searches for": asked(path="/api", body={"query": "delete everything"}),
}


@pytest.mark.parametrize("row", READS)
def test_reading_is_known(row: str):
    assert classify_request(READS[row]).nature is RequestNature.READS


@pytest.mark.parametrize("row", WRITES)
def test_writing_is_known_whatever_it_is_wrapped_in(row: str):
    assert classify_request(WRITES[row]).nature is RequestNature.WRITES


@pytest.mark.parametrize("row", UNCLEAR)
def test_what_says_neither_is_unclear(row: str):
    assert classify_request(UNCLEAR[row]).nature is RequestNature.UNCLEAR


METHODS: dict[str, tuple[OutgoingRequest, str]] = {
    "as it is": (asked(body=b"id=3", headers=FORM), "POST"),
    "a form's field": (asked(body=b"_method=delete&id=3", headers=FORM), "DELETE"),
    "the address": (asked(path="/api?_method=put", body=b"id=3", headers=FORM), "PUT"),
    "a field of JSON": (asked(body={"_method": "patch"}), "PATCH"),
    "a header": (asked(headers={"x-http-method": "PUT"}), "PUT"),
    "a claim to read": (asked(body=b"_method=get", headers={**FORM, "x-http-method": "HEAD"}), "POST"),
    "a GET with a header": (asked("GET", headers={"x-method-override": "DELETE"}), "DELETE"),
    "a GET with a method in its address": (asked("GET", "/api?_method=delete"), "GET"),
}


@pytest.mark.parametrize("row", METHODS)
def test_the_method_is_what_a_server_may_take_it_for_and_a_claim_to_read_is_not_believed(row: str):
    request, method = METHODS[row]
    assert classify_request(request).method == method


ALIKE = {
    "other values": (asked(body={"q": "a", "page": 1}), asked(body={"page": 2, "q": "b"})),
    "a value that was missing": (asked(body={"cursor": None}), asked(body={"cursor": "x"})),
    "lists of other lengths": (asked(body={"ids": [1]}), asked(body={"ids": [1, 2]})),
    "forms with other values": (asked(body=b"q=a", headers=FORM), asked(body=b"q=b", headers=FORM)),
    "texts": (asked(body=b"first"), asked(body=b"x")),
    "other values in the address": (asked(path="/api?page=1"), asked(path="/api?page=2")),
}
UNLIKE = {
    "another path": (asked(path="/a"), asked(path="/b")),
    "another host": (
        OutgoingRequest(method="POST", url="http://a.example/x"),
        OutgoingRequest(method="POST", url="http://b.example/x"),
    ),
    "one key more": (asked(body={"q": "a"}), asked(body={"q": "a", "keep": 1})),
    "another action": (asked(body={"action": "list"}), asked(body={"action": "frobnicate"})),
    "another kind": (asked(body={"type": "view"}), asked(body={"type": "vote"})),
    "another state": (asked(body={"id": 1, "status": "open"}), asked(body={"id": 1, "status": "done"})),
    "a key in the address": (asked(path="/api?page=1"), asked(path="/api?page=1&keep=1")),
    "text in place of JSON": (asked(body={"q": "a"}), asked(body=b"archive 3")),
    "another GraphQL text": (asked(body={"query": "{ a }"}), asked(body={"query": "{ b }"})),
    "broken JSON": (asked(body=b'{"a": '), asked(body=b'{"b": ')),
}


@pytest.mark.parametrize("row", ALIKE)
def test_requests_that_differ_in_values_are_alike(row: str):
    first, second = ALIKE[row]
    assert classify_request(first).likeness == classify_request(second).likeness


@pytest.mark.parametrize("row", UNLIKE)
def test_requests_that_differ_in_what_is_done_are_not_alike(row: str):
    first, second = UNLIKE[row]
    assert classify_request(first).likeness != classify_request(second).likeness


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ('{"type": "ping", "n": 1}', '{"type": "ping", "n": 2}', True),
        ('{"type": "ping"}', '{"type": "vote"}', False),
        ('["1", "7", "phoenix", "heartbeat", {}]', '["1", "8", "phoenix", "heartbeat", {}]', True),
        ('["1", "7", "room", "heartbeat", {}]', '["1", "7", "room", "archive", {}]', False),
        ('42["list", {"page": 1}]', '42["list", {"page": 2}]', True),
        ("2", "2", True),
        ("ping 17", "ping 18", True),
        ("ping 17", "archive 3", False),
        (b"\x01", b"\x01", True),
        (b"\x01", b"\x02", False),
    ],
)
def test_messages_over_a_socket_are_alike_by_what_they_do(
    first: str | bytes, second: str | bytes, alike: bool
):
    assert (message_key(first) == message_key(second)) is alike


@pytest.mark.parametrize(
    ("message", "writes"),
    [
        ('{"jsonrpc": "2.0", "method": "archive", "id": 1}', True),
        ('{"type": "subscribe", "payload": {"query": "mutation { a }"}}', True),
        ('{"action": "delete", "id": 3}', True),
        ('42["do", {"action": "delete"}]', True),
        (b'{"action": "delete"}', True),
        ('{"a": 1, "a": 2}', True),
        ('{"type": "subscribe", "payload": {"query": "subscription { a }"}}', False),
        ('["1", "1", "lv:x", "phx_join", {}]', False),
        ("2", False),
        ("hello", False),
        (b"\xff", False),
    ],
)
def test_messages_over_a_socket_that_say_what_they_change(message: str | bytes, writes: bool):
    assert message_writes(message) is writes


@pytest.mark.parametrize(
    "name", ["list", "item/list", "Items.FindAll", "system.listMethods", "describe_table"]
)
def test_names_that_read(name: str):
    assert is_reading_method_name(name)


@pytest.mark.parametrize(
    "name", ["", "archive", "tools/call", "setItem", "listAndClear", "items.list.delete"]
)
def test_names_that_do_not_say_they_read(name: str):
    assert not is_reading_method_name(name)


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("/g/collect", True),
        ("/api/v2/track", True),
        ("/cdn/rum", True),
        ("/things/3", False),
        ("/vote", False),
    ],
)
def test_addresses_that_count_visits(path: str, counts: bool):
    assert is_telemetry(f"{HOST}{path}") is counts
