"""What a request does (``request_nature``): one row a clause, for each way in which a page may ask or change."""

from __future__ import annotations

import json

import pytest

from app.engine.request_nature import LARGEST, Asked, Nature, judged, says_it_reads

READS, UNCLEAR, WRITES = Nature.READS, Nature.UNCLEAR, Nature.WRITES
API, GRAPHQL = "http://shop.test/api", "http://shop.test/graphql"
JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}


def post(body: object, url: str = API, **headers: str) -> Asked:
    """A POST of JSON, or of a form where the body is a text."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(body, str):
        return Asked(method="POST", url=url, headers=FORM | named, body=body.encode())
    return Asked(method="POST", url=url, headers=JSON | named, body=json.dumps(body).encode())


def query(text: str, url: str = GRAPHQL, **more: object) -> Asked:
    return post({"query": text, **more}, url)


def call(method: str, **more: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": [], **more}


ROWS: tuple[tuple[str, Asked, Nature], ...] = (
    # methods
    ("GET", Asked(method="GET", url=API), READS),
    ("HEAD", Asked(method="HEAD", url=API), READS),
    ("OPTIONS", Asked(method="OPTIONS", url=API), READS),
    ("PUT", Asked(method="PUT", url=API, body=b"x"), WRITES),
    ("PATCH", Asked(method="PATCH", url=API, body=b"x"), WRITES),
    ("DELETE", Asked(method="DELETE", url=API), WRITES),
    ("an unknown method", Asked(method="FROB", url=API), WRITES),
    *(
        (f"{name} makes it DELETE", post({"a": 1}, API, **{name.replace("-", "_"): "DELETE"}), WRITES)
        for name in ("x-http-method-override", "x-http-method", "x-method-override")
    ),
    ("a form's _method makes it DELETE", post("_method=delete&id=3"), WRITES),
    ("a query's _method makes it PUT", post("id=3", API + "?_method=PUT"), WRITES),
    ("a body's _method makes it PATCH", post({"_method": "patch"}), WRITES),
    ("a header that claims it is a GET", post({"a": 1}, API, x_http_method_override="GET"), UNCLEAR),
    ("a DELETE that claims to be a GET", Asked(method="DELETE", url=API, headers={"x-http-method": "GET"}), WRITES),
    ("a form that claims to be a GET", post("_method=get&id=3", API + "/archive"), WRITES),
    ("JSON that claims to be a GET", post({"_method": "GET", "id": 3}), UNCLEAR),
    ("one claim of each kind", post("_method=delete", API, x_http_method="GET", x_method_override="HEAD"), WRITES),
    # bodies that can't be read
    ("a body nobody can see", Asked(method="POST", url=API, body=None), WRITES),
    ("a body too large to be read", post({"a": "x" * LARGEST}), WRITES),
    ("multipart", Asked(method="POST", url=API, headers={"content-type": "multipart/form-data"}, body=b"-"), WRITES),
    ("a key that stands twice", Asked(method="POST", url=API, headers=JSON, body=b'{"a": 1, "a": 2}'), WRITES),
    ("nested without end", Asked(method="POST", url=API, headers=JSON, body=b"[" * 100_000), WRITES),
    ("another charset", post({"a": 1}, API, content_type="application/json; charset=utf-7"), WRITES),
    # plain bodies
    ("nothing in it", Asked(method="POST", url=API), UNCLEAR),
    ("a form that names no action", post("page=2&sort=price"), UNCLEAR),
    ("JSON that names no action", post({"page": 2}), UNCLEAR),
    ("a form whose action is to delete", post("action=delete&id=3"), WRITES),
    ("JSON whose action is to archive", post({"action": "archive", "id": 3}), WRITES),
    ("a form whose action is to list", post("action=list"), UNCLEAR),
    # addresses
    ("a path that ends with a verb", post({"a": 1}, API + "/things/3/archive"), WRITES),
    ("a path that ends with a name", post({"a": 1}, API + "/things/search"), UNCLEAR),
    ("a word that is a name as often", post({"a": 1}, API + "/order"), UNCLEAR),
    ("an action in the query", post("id=3", API + "?action=delete"), WRITES),
    # GraphQL
    ("a query where GraphQL is at home", query("query { things { id } }"), READS),
    ("a query without its word", query("{ things { id } }"), READS),
    ("a query elsewhere", query("query { things { id } }", API), UNCLEAR),
    ("a mutation", query("mutation { archive(id: 3) }"), WRITES),
    ("a mutation after a query", query("query A { a } mutation B { archive(id: 3) }", operationName="B"), WRITES),
    ("a mutation after a comment", query("# query\nmutation { archive(id: 3) }"), WRITES),
    ("a mutation after a fragment", query("fragment F on T { id } mutation { a { ...F } }"), WRITES),
    ("a mutation on another path", query("mutation { archive(id: 3) }", API), WRITES),
    ("the word in a string", query('query { things(title: "mutation { a }") { id } }'), READS),
    ("a field of that name", query("query { mutation { id } }"), READS),
    ("a bracket that is never closed", query("query { things { id }"), WRITES),
    ("a batch of queries", post([{"query": "{ a }"}, {"query": "{ b }"}], GRAPHQL), READS),
    ("a batch with one mutation", post([{"query": "{ a }"}, {"query": "mutation { b }"}], GRAPHQL), WRITES),
    ("a mutation in the address of a GET", Asked(method="GET", url=GRAPHQL + "?query=mutation%7Ba%7D"), WRITES),
    ("a query in the address of a GET", Asked(method="GET", url=GRAPHQL + "?query=%7Ba%7D"), READS),
    # JSON-RPC
    ("a method that says it reads", post(call("item.list")), READS),
    ("a method that says it writes", post(call("item.delete")), WRITES),
    ("a method that says nothing", post(call("item.frob")), WRITES),
    ("a method that reads and writes", post(call("getAndDelete")), WRITES),
    ("a batch that reads", post([call("item.list"), call("item.get")]), READS),
    ("a batch with one write", post([call("item.list"), call("item.delete")]), WRITES),
    ("more than a call", post(call("item.list", also={"delete": 3})), WRITES),
    # XML
    ("SOAP that reads", Asked(method="POST", url=API, headers={"soapaction": '"GetThing"'}, body=b"<a/>"), READS),
    ("SOAP that writes", Asked(method="POST", url=API, headers={"soapaction": '"DeleteThing"'}, body=b"<a/>"), WRITES),
)  # fmt: skip


@pytest.mark.parametrize(("asked", "nature"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_a_request_does(asked: Asked, nature: Nature) -> None:
    assert judged(asked).nature is nature


METHODS = (
    ("as it is", post("id=3"), "POST"),
    ("a form's field", post("_method=delete&id=3"), "DELETE"),
    ("the query", post("id=3", API + "?_method=put"), "PUT"),
    ("a field of JSON", post({"_method": "patch"}), "PATCH"),
    ("a header", post("id=3", API, x_http_method="PUT"), "PUT"),
    ("a claim to read", post("_method=get", API, x_http_method="HEAD"), "POST"),
    ("a GET with a header", Asked(method="GET", url=API, headers={"x-method-override": "DELETE"}), "DELETE"),
    ("a GET with a query", Asked(method="GET", url=API + "?_method=delete"), "GET"),
)  # fmt: skip


@pytest.mark.parametrize(("asked", "method"), [row[1:] for row in METHODS], ids=[row[0] for row in METHODS])
def test_what_a_server_may_take_the_method_for(asked: Asked, method: str) -> None:
    assert judged(asked).method == method


ALIKE: tuple[tuple[str, Asked, Asked, bool], ...] = (
    ("other values", post({"page": 1}), post({"page": 2}), True),
    ("another order of keys", post({"a": 1, "b": 2}), post({"b": 1, "a": 2}), True),
    ("another path", post({"page": 1}), post({"page": 1}, API + "/other"), False),
    ("another host", post({"page": 1}), post({"page": 1}, "http://other.test/api"), False),
    ("a key more", post({"page": 1}), post({"page": 1, "id": 3}), False),
    ("another action", post({"type": "shown"}), post({"type": "archived"}), False),
    ("another state", post({"status": "open"}), post({"status": "closed"}), False),
    ("another query", query("{ a }", API), query("{ b }", API), False),
    ("a form's other values", post("page=1"), post("page=2"), True),
    ("a form's other event", post("event=view"), post("event=vote"), False),
)  # fmt: skip


@pytest.mark.parametrize(("one", "other", "alike"), [row[1:] for row in ALIKE], ids=[row[0] for row in ALIKE])
def test_two_requests_are_alike_in_form_and_in_what_they_name(one: Asked, other: Asked, alike: bool) -> None:
    assert (judged(one).likeness == judged(other).likeness) is alike


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("item.list", True),
        ("getItem", True),
        ("eth_getBalance", True),
        ("item.delete", False),
        ("frob", False),
        ("getAndDelete", False),
        ("get_or_create", False),
    ],
)
def test_a_remote_method_has_to_say_that_it_reads(name: str, reads: bool) -> None:
    assert says_it_reads(name) is reads
