"""When a request leaves (``browser/guard.py``), one row a clause; the traps try what comes of it in a browser."""

from __future__ import annotations

import json

import pytest

from app.engine.browser.guard import Guard
from app.engine.request_nature import Asked
from app.engine.write_permit import WritePermit

SHOP = "http://shop.test"
ALLOWED = WritePermit(why="the task asks for it")
ITS_FORM = WritePermit(why="the task asks for it", form="post:/basket/add")


def asked(
    path: str = "/api", kind: str = "XHR", method: str = "POST", body: object = None, host: str = SHOP
) -> Asked:
    content = b"" if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    return Asked(method=method, url=host + path, kind=kind, headers=headers, body=content)


READING = asked(method="GET")
UNCLEAR = asked(body={"page": 2})
WRITE = asked("/things/3", method="DELETE")
SENT = asked("/basket/add", "Document", body={"id": 3})

ROWS: tuple[tuple[str, WritePermit | None, Asked, bool, bool], ...] = (
    ("reading leaves while a page loads", None, READING, False, True),
    ("reading leaves after input", None, READING, True, True),
    ("what may be either leaves while a page loads", None, UNCLEAR, False, True),
    ("it does not after input", None, UNCLEAR, True, False),
    ("a change does not while a page loads", None, WRITE, False, False),
    ("a change does not after input", None, WRITE, True, False),
    ("a change leaves with a permit", ALLOWED, WRITE, True, True),
    ("what may be either leaves with a permit", ALLOWED, UNCLEAR, True, True),
    ("a form is no page that loads", None, SENT, False, False),
    ("one without a verb in its address neither", None, asked("/x", "Document", body={"a": 1}), False, False),
    ("a beacon is no page that loads", None, asked("/told", "Ping", body={"a": 1}), False, False),
    ("a report is none either", None, asked("/told", "CSPViolationReport", body={"a": 1}), False, False),
    ("a change of another site does not leave", ALLOWED, asked(method="DELETE", host="http://evil.test"), True, False),
    ("a form leaves with a permit", ALLOWED, SENT, True, True),
    ("a form leaves with the permit for it", ITS_FORM, SENT, True, True),
    ("another form does not", ITS_FORM, asked("/account/close", "Document", body={"a": 1}), True, False),
)  # fmt: skip


@pytest.mark.parametrize(
    ("permit", "request_", "acting", "leaves"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_what_leaves(permit: WritePermit | None, request_: Asked, acting: bool, leaves: bool) -> None:
    guard = Guard(frozenset({"shop.test"}))
    guard.begin(permit)
    assert guard.decide(request_, acting=acting).passes is leaves
    assert bool(guard.refused()) is not leaves
    assert bool(guard.sent()) is (leaves and permit is not None)


def test_what_is_like_a_request_of_a_page_that_loaded_leaves_after_input() -> None:
    guard = Guard(frozenset({"shop.test"}))
    assert guard.decide(asked(body={"page": 1}), acting=False).passes
    guard.begin()
    assert guard.decide(asked(body={"page": 2}), acting=True).passes
    assert not guard.decide(asked(body={"page": 2, "vote": 1}), acting=True).passes


def test_one_permit_sends_one_form_and_each_write_once() -> None:
    guard = Guard(frozenset({"shop.test"}))
    guard.begin(ALLOWED)
    assert guard.decide(SENT, acting=True).passes
    assert not guard.decide(SENT, acting=True).passes
    assert guard.decide(WRITE, acting=True).passes
    assert not guard.decide(WRITE, acting=True).passes
    assert guard.decide(asked("/things/4", method="DELETE"), acting=True).passes


def test_when_the_action_is_over_nothing_but_reading_leaves() -> None:
    guard = Guard(frozenset({"shop.test"}))
    guard.begin(ALLOWED)
    guard.end()
    assert not guard.decide(WRITE, acting=True).passes
    assert guard.decide(READING, acting=True).passes
    guard.begin(None)
    assert not guard.decide(WRITE, acting=True).passes


def test_what_was_held_back_is_told_once() -> None:
    guard = Guard(frozenset({"shop.test"}))
    guard.decide(WRITE, acting=True)
    assert guard.refused() == ("DELETE /things/3",)
    assert guard.refused() == ()


def test_a_person_who_has_the_page_may_do_everything_and_it_is_counted() -> None:
    guard = Guard(frozenset({"shop.test"}))
    guard.stand_aside(True)
    assert guard.decide(WRITE, acting=True).passes
    assert [str(one) for one in guard.sent()] == ["DELETE /things/3"]
    guard.stand_aside(False)
    assert not guard.decide(WRITE, acting=True).passes
