"""Requests that the write guard lets out: loading and acting, permits, a person in control. No browser."""

from __future__ import annotations

import pytest

from app.engine.browser.network.request_interceptor import InterceptedTab, RequestInterceptor
from app.engine.browser.network.write_guard import RequestDecision, WriteGuard
from app.engine.core.request_nature import OutgoingRequest
from app.engine.core.write_permit import SentWrite, WritePermit

HOME, OTHER = "http://shop.example", "http://tracker.example"
OWN = frozenset({"shop.example"})


def post(
    path: str = "/keep", body: bytes = b"x=1", *, kind: str = "XHR", method: str = "POST", host: str = HOME
) -> OutgoingRequest:
    return OutgoingRequest(method=method, url=f"{host}{path}", kind=kind, body=body)


def form(path: str = "/basket/add") -> OutgoingRequest:
    return post(path, kind="Document")


def guard(permit: WritePermit | None = None) -> WriteGuard:
    made = WriteGuard(OWN)
    made.begin(permit)
    return made


def passes(made: WriteGuard, asked: OutgoingRequest, *, acting: bool = True) -> bool:
    return made.decide(asked, acting=acting).passes


def test_what_a_page_sends_before_anybody_touched_it_is_loading():
    made = guard()
    assert passes(made, post(), acting=False)
    assert made.refused() == () == made.sent()


@pytest.mark.parametrize("kind", ["Document", "Ping", "CSPViolationReport"])
def test_a_form_a_beacon_and_a_report_are_never_part_of_loading(kind: str):
    made = guard()
    assert not passes(made, post(kind=kind), acting=False)
    assert made.refused() == ("POST /keep",)


def test_after_input_only_what_is_like_a_request_of_loading_passes():
    made = guard()
    passes(made, post("/search", b"q=a"), acting=False)
    assert passes(made, post("/search", b"q=b"))
    assert not passes(made, post("/search", b"q=b&keep=1"))
    assert not passes(made, post("/keep"))
    assert made.refused() == ("POST /search", "POST /keep")
    assert made.refused() == ()


def test_a_change_is_held_back_while_loading_too():
    made = guard()
    assert not passes(made, post("/rpc", b'{"jsonrpc":"2.0","method":"archive"}'), acting=False)
    assert made.refused() == ("POST /rpc",)


def test_a_request_of_loading_that_changes_something_teaches_nothing():
    made = guard()
    passes(made, post("/things/3/archive"), acting=False)
    assert not passes(made, post("/things/3/archive"))


def test_a_prefetch_is_refused_and_not_told():
    made = guard()
    asked = OutgoingRequest(
        method="GET", url=f"{HOME}/next", kind="Fetch", headers={"sec-purpose": "prefetch"}
    )
    assert not passes(made, asked)
    assert made.refused() == ()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (post("/collect", kind="Ping"), ()),
        (post("/collect", kind="Ping", host=OTHER), ()),
        (post("/collect", host=OTHER), ()),
        (post("/collect"), ("POST /collect",)),
        (post("/keep", kind="Ping"), ("POST /keep",)),
    ],
)
def test_what_counts_visits_is_held_back_without_a_word(asked: OutgoingRequest, told: tuple[str, ...]):
    made = guard()
    assert not passes(made, asked)
    assert made.refused() == told


# permits


def test_a_permit_lets_the_writes_of_scripts_to_the_runs_own_hosts_out():
    made = guard(WritePermit(why="asked for"))
    assert passes(made, post("/keep"))
    assert passes(made, post("/things/3", method="DELETE"))
    assert passes(made, post("/gql", b'{"query": "mutation { a }"}'))
    assert [str(write) for write in made.sent()] == ["POST /keep", "DELETE /things/3", "POST /gql"]


def test_the_same_write_leaves_once():
    made = guard(WritePermit(why="asked for"))
    assert [passes(made, post()) for _ in range(3)] == [True, False, False]
    assert passes(made, post(body=b"x=2"))
    assert made.refused() == ("POST /keep", "POST /keep")


def test_the_next_action_may_write_the_same_again():
    made = guard(WritePermit(why="asked for"))
    passes(made, post())
    made.begin(WritePermit(why="asked for"))
    assert passes(made, post())


@pytest.mark.parametrize("kind", ["XHR", "Ping", "Document"])
def test_nothing_is_written_to_other_hosts(kind: str):
    made = guard(WritePermit(why="asked for"))
    assert not passes(made, post("/keep", kind=kind, host=OTHER))


def test_a_permit_may_name_its_hosts():
    made = guard(WritePermit(why="asked for", hosts=frozenset({"tracker.example"})))
    assert passes(made, post("/keep", host=OTHER))
    assert not passes(made, post("/keep"))


def test_as_many_forms_are_sent_as_the_permit_says():
    assert [passes(made, form()) for made in [guard(WritePermit(why="a"))] for _ in range(2)] == [True, False]
    twice = guard(WritePermit(why="a", submissions=2))
    assert [passes(twice, form()) for _ in range(3)] == [True, True, False]
    assert not passes(guard(WritePermit(why="a", submissions=0)), form())


@pytest.mark.parametrize("address", ["post:/basket/add", "post:http://shop.example/basket/add"])
def test_a_form_goes_to_the_permitted_address_only(address: str):
    made = guard(WritePermit(why="a", form=address))
    assert not passes(made, form("/account/delete"))
    assert passes(made, form("/basket/add"))


def test_a_redirect_that_keeps_the_method_belongs_to_the_write_before():
    made = guard(WritePermit(why="a", form="post:/basket/add"))
    first = made.decide(form(), acting=True)
    assert made.decide(form("/basket/added"), acting=True, follows=first.write).passes
    assert not made.decide(post(kind="Document", host=OTHER), acting=True, follows=first.write).passes


def test_nothing_passes_after_the_end():
    made = guard(WritePermit(why="a"))
    made.end()
    assert not passes(made, post())
    assert not passes(made, form())
    assert made.refused() == ("POST /keep", "POST /basket/add")


def test_the_status_of_an_answer_is_kept():
    made = guard(WritePermit(why="a"))
    write = made.decide(form(), acting=True).write
    assert write is not None
    made.answered(write, 302)
    assert [str(sent) for sent in made.sent()] == ["POST /basket/add 302"]
    assert made.sent() == ()


# a person


def test_what_a_person_does_leaves_and_is_counted():
    made = guard()
    made.set_bypassed(True)
    assert passes(made, post())
    assert passes(made, form("/account/delete"))
    assert passes(made, post("/keep", kind="Ping", host=OTHER))
    assert len(made.sent()) == 3
    made.set_bypassed(False)
    assert not passes(made, form("/account/delete"))


def test_what_a_person_sent_teaches_nothing_to_the_agents_guard():
    made = guard()
    made.set_bypassed(True)
    passes(made, post(), acting=False)
    made.set_bypassed(False)
    assert not passes(made, post())


# sockets


def says(made: WriteGuard, message: str) -> bool:
    return made._may_say("wss://shop.example/live", message)  # pyright: ignore[reportPrivateUsage]


def test_a_socket_says_while_loading_what_is_no_change_and_learns_from_it():
    made = WriteGuard(OWN)
    assert says(made, '{"type": "hello"}')
    assert not says(made, '{"action": "delete"}')
    assert made.refused() == ("SEND /live",)


def test_a_socket_says_under_a_permit_what_it_wants_to_the_runs_own_hosts():
    made = guard(WritePermit(why="a"))
    assert says(made, '{"action": "delete"}')
    assert not made._may_say("wss://tracker.example/", '{"action": "delete"}')  # pyright: ignore[reportPrivateUsage]
    made.end()
    assert not says(made, '{"action": "delete"}')


@pytest.mark.parametrize(("logged", "acting"), [({"networkId": "9"}, False), ({}, True)])
async def test_what_a_page_sends_while_it_is_left_counts_as_sent_after_input(
    logged: dict[str, str], acting: bool
):
    """Such a request has no network id, and its tab is that of the next document."""
    told: list[bool] = []

    class Listening(WriteGuard):
        def decide(
            self, asked: OutgoingRequest, *, acting: bool, follows: SentWrite | None = None
        ) -> RequestDecision:
            told.append(acting)
            return super().decide(asked, acting=acting, follows=follows)

    class Wire:
        async def send(self, method: str, parameters: object = None) -> dict[str, object]:
            return {}

    post, guard = RequestInterceptor(Wire()), Listening()  # type: ignore[arg-type]
    post._guards["context"], post._tabs["tab"] = guard, InterceptedTab(guard, "tab")
    request = {"method": "POST", "url": "http://shop.test/told", "headers": {}}
    await post._asked("1", {"request": request, "resourceType": "XHR", "frameId": "tab", **logged})
    assert told == [acting]
