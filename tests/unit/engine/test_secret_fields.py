"""Where a secret may be typed: one row a clause of the rule, and what becomes of each ruling in a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.engine.agent.secret_fields import SecretRuling, secret_use
from app.engine.agent.secrets import Secrets, resolve_secrets
from app.engine.core.action_result import ActionResult
from app.engine.core.actions.types import (
    Action,
    Click,
    Goto,
    Press,
    Select,
    Stop,
    TakeNote,
    TypeKeys,
    TypeMark,
    TypeText,
)
from app.engine.core.observation import Observation
from app.engine.core.page_state import Element, PageCapture
from app.engine.core.supervision import ApprovalRequest, DecisionKind, Need, OperatorDecision
from app.engine.core.trajectory import Outcome
from app.errors import UsageError
from tests.support.fake_approvals import Decide, FakeApprovals
from tests.support.fake_executor import HOME, FakeExecutor, page_of
from tests.support.supervised_loop import TASK, SupervisedLoop

ALLOW, ASK, REFUSE = SecretRuling
VALUE = "s3cret-value"
SHOP = "http://shop.example/account"
PLAIN = "Log in with {secret:TOKEN}, then read the total"
HINTS = ("current-password", "new-password", "one-time-code", "cc-csc", "cc-number")


def box(name: str = "Notes", **more: object) -> Element:
    told: dict[str, object] = {"role": "textbox", "tag": "input", "type": "text", "css": f"#{name}"}
    return Element(index=0, name=name, **{**told, **more})  # type: ignore[arg-type]


def hinted(autocomplete: str, **more: object) -> Element:
    return box("Field", attributes=(("autocomplete", autocomplete),), **more)


def seen(
    *elements: Element, url: str = SHOP, intent: str = PLAIN, start: str = "http://shop.example/"
) -> Observation:
    numbered = tuple(replace(element, index=number) for number, element in enumerate(elements))
    page = PageCapture(url=url, elements=numbered)
    return Observation(step=0, steps_left=9, intent=intent, start_url=start, page=page)


def ruling(
    element: Element,
    intent: str = PLAIN,
    url: str = SHOP,
    start: str = "http://shop.example/",
    hosts: Sequence[str] = (),
) -> SecretRuling:
    secrets = Secrets({"TOKEN": VALUE})
    secrets.hosts = frozenset(hosts)
    use = secret_use(
        TypeText(0, "{secret:TOKEN}"), seen(element, url=url, intent=intent, start=start), secrets
    )
    assert use is not None
    assert bool(use.why) is (use.ruling is not ALLOW)
    return use.ruling


# the field


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        (box("Password", type="password"), ALLOW),
        (box("x", type="password"), ALLOW),
        *((hinted(hint), ALLOW) for hint in HINTS),
        (hinted("section-a Current-Password webauthn"), ALLOW),
        (hinted("username"), ASK),
        (hinted("off"), ASK),
        (box("Password"), ALLOW),  # one that a button shows in plain
        (box("Repeat the passphrase"), ALLOW),
        (box("Verification code"), ALLOW),
        (box("One-time code", type="tel"), ALLOW),
        (box("Passwort"), ALLOW),
        (box("", label="Password"), ALLOW),
        (box("Notes"), ASK),
        (box("Comment", tag="textarea"), ASK),
        (box("Your password, please", tag="textarea"), ASK),  # a page may call anything a password
        (box("Password", tag="div", type=""), ASK),
        (box("Spinning"), ASK),  # "pin" is no word of it
        (box("Options"), ASK),
        (box("E-mail", type="email"), ASK),
        (Element(index=0, role="link", name="Password", tag="a"), ASK),
    ],
)
def test_a_field_gets_a_secret_if_it_asks_for_one(element: Element, expected: SecretRuling):
    assert ruling(element) is expected


@pytest.mark.parametrize("named", ["API key", "api_key", "Card number", "Zugangswort"])
@pytest.mark.parametrize(
    ("intent", "expected"),
    [
        ("Type {secret:TOKEN} into NAME and save", ALLOW),
        ('Type "{secret:TOKEN}" into the field "NAME".', ALLOW),
        ("Enter {secret:TOKEN} in the NAME box", ALLOW),
        ("Save the settings, NAME: {secret:TOKEN}", ALLOW),
        ("Fill the NAME field with {secret:TOKEN}", ALLOW),
        ("Set NAME to {secret:TOKEN} and save", ALLOW),
        ("Use {secret:TOKEN} as NAME", ALLOW),
        ("Log in with {secret:TOKEN}. Then change NAME", ASK),
        ("Open NAME and log in with {secret:TOKEN}", ASK),
        ("Type {secret:OTHER} into NAME, then use {secret:TOKEN}", ASK),
        ("Type {secret:TOKEN} into NAMES", ASK),
    ],
)
def test_a_field_gets_a_secret_if_the_task_names_it_for_that_one(
    named: str, intent: str, expected: SecretRuling
):
    intent = intent.replace("NAME", named)
    assert ruling(box(named), intent) is expected
    assert ruling(box("", label=named), intent) is expected
    assert ruling(box("Other", attributes=(("placeholder", named),)), intent) is expected
    assert ruling(box("Other"), intent) is ASK


# never


@pytest.mark.parametrize(
    "element",
    [
        box("Search", role="searchbox", type="search"),
        box("Find", form="get:/find"),
        box("Password", form="get:/find"),
        box("Find", landmarks=("banner", "search")),
        box("Find", landmarks=("search:Site",), form="post:/find"),
        box("Find", type="search"),
    ],
)
def test_a_search_box_never_gets_a_secret_whatever_the_task_says(element: Element):
    assert ruling(element) is REFUSE
    assert ruling(element, f"Type {{secret:TOKEN}} into {element.name}") is REFUSE


@pytest.mark.parametrize("element", [box("Password", type="password"), hinted("one-time-code"), box("Notes")])
@pytest.mark.parametrize(
    ("where", "own"),
    [
        ({"form": "post:/session"}, True),
        ({"form": "post:http://shop.example/session"}, True),
        ({"form": "post:javascript:void(0)"}, True),
        ({"form": "post:http://id.shop.example/session"}, True),  # below the run's host
        ({"form": "post:http://evil.example/stolen"}, False),
        ({"form": "post:http://evil.example/shop.example/"}, False),
        ({"form": "post:http://shop.example.evil.example/"}, False),
        ({"form": "get:http://evil.example/stolen"}, False),
        ({"frame": ("pay",), "origin": "http://shop.example"}, True),
        ({"frame": ("pay",), "origin": "http://evil.example"}, False),
        ({"frame": ("pay",), "origin": "http://evil.example:80"}, False),
        ({"frame": ("pay",), "origin": "null"}, False),
        ({"frame": ("pay",), "origin": "file://"}, False),
    ],
)
def test_a_frame_or_a_form_of_another_host_never_gets_a_secret(
    element: Element, where: dict[str, object], own: bool
):
    element = replace(element, **where)  # type: ignore[arg-type]
    named = f"Type {{secret:TOKEN}} into {element.name}"
    assert (ruling(element, named) is REFUSE) is not own


@pytest.mark.parametrize(
    ("url", "start", "hosts", "own"),
    [
        (SHOP, "http://shop.example/", (), True),
        ("http://www.shop.example/x", "http://shop.example/", (), True),
        ("http://pay.shop.example/x", "http://shop.example/", (), True),
        ("http://evil.example/x", "http://shop.example/", (), False),
        ("http://evil.example/x", "http://shop.example/", ("shop.example",), False),
        ("http://bank.example/x", "http://shop.example/", ("shop.example", "bank.example"), True),
        ("http://localhost:8472/x", "http://localhost:8471/", ("localhost:8471",), False),
        ("http://localhost:8471/x", "http://localhost:8471/", ("localhost:8471",), True),
        ("https://shop.example/x", "https://shop.example/", (), True),
        ("https://shop.example/x", "http://shop.example/", (), True),
        ("http://shop.example/x", "https://shop.example/", (), False),  # nobody guards it on its way
        ("about:blank", "http://shop.example/", (), False),
        ("data:text/html,x", "http://shop.example/", (), False),
    ],
)
def test_a_page_that_is_not_the_runs_own_never_gets_a_secret(
    url: str, start: str, hosts: tuple[str, ...], own: bool
):
    password = box("Password", type="password")
    assert (ruling(password, url=url, start=start, hosts=hosts) is ALLOW) is own
    assert (ruling(password, url=url, start=start, hosts=hosts) is REFUSE) is not own


# the command


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (TypeText(0, "no secret"), None),
        (Click(0), None),
        (TakeNote("it was {secret:TOKEN}"), None),
        (Stop("{secret:TOKEN}"), None),
        (TypeText(0, "{secret:TOKEN}"), ALLOW),
        (TypeText(0, "Bearer {secret:TOKEN}", enter=True), ALLOW),
        (TypeText(0, "{secret:NOBODY}"), REFUSE),
        (TypeText(0, "{secret:TOKEN}{secret:NOBODY}"), REFUSE),
        (TypeText(9, "{secret:TOKEN}"), ASK),
        (TypeKeys("{secret:NOBODY}"), REFUSE),
        (TypeKeys("{secret:TOKEN}"), ASK),  # nothing says that it has the focus
        (TypeMark(1, "{secret:NOBODY}"), REFUSE),
        (TypeMark(1, "{secret:TOKEN}"), ALLOW),  # judged again when the field is known
        (Goto("http://shop.example/?t={secret:TOKEN}"), REFUSE),
        (Select(0, ("{secret:TOKEN}",)), REFUSE),
        (Press("{secret:TOKEN}"), REFUSE),
    ],
)
def test_what_a_command_may_do_with_a_secret(action: Action, expected: SecretRuling | None):
    use = secret_use(action, seen(box("Password", type="password")), Secrets({"TOKEN": VALUE}))
    assert (use.ruling if use is not None else None) is expected


@pytest.mark.parametrize(
    ("focused", "expected"),
    [
        ([box("Password", type="password")], ALLOW),
        ([box("Notes")], ASK),
        ([box("Search", type="search")], REFUSE),
        ([box("Password", type="password"), box("Notes")], ASK),
        (
            [
                box("Password", type="password"),
                box("Password", type="password", origin="http://evil.example"),
            ],
            REFUSE,
        ),
    ],
)
def test_keys_go_where_the_cursor_is_and_that_is_judged(focused: list[Element], expected: SecretRuling):
    others = [box("Other"), box("Password", type="password")]
    elements = [*others, *(replace(one, states=("focused",)) for one in focused)]
    use = secret_use(TypeKeys("{secret:TOKEN}"), seen(*elements), Secrets({"TOKEN": VALUE}))
    assert use is not None
    assert use.ruling is expected


def test_an_unknown_secret_is_never_put_in_as_it_is_written():
    with pytest.raises(UsageError, match="there is no secret NOBODY"):
        Secrets({"TOKEN": VALUE}).fill(TypeText(0, "{secret:NOBODY}"))


def test_a_lifted_password_may_go_where_the_task_says():
    intent, secrets = resolve_secrets("Save the API key 'k-1234-xyz' under settings", {})
    use = secret_use(TypeText(0, "{secret:WRITTEN_1}"), seen(box("API key"), intent=intent), secrets)
    assert use is not None
    assert use.ruling is ALLOW


# in a run

PAGES = {HOME: page_of(HOME, "box:Notes", "secret:Password", "box:Search")}
INTENT = replace(TASK, intent=PLAIN)
FILL = "{secret:TOKEN}"


def bench(*moves: object, supervised: bool = True, decide: Decide | None = None) -> SupervisedLoop:
    made = SupervisedLoop(
        [*moves, Stop("done")],
        supervised=supervised,
        task=INTENT,
        secrets=Secrets({"TOKEN": VALUE}),
        desk=FakeApprovals(decide),
    )
    made.hands.pages = PAGES
    return made


async def test_a_password_field_gets_its_secret_without_a_question():
    for supervised in (True, False):
        run = bench(TypeText(1, FILL), supervised=supervised)
        assert (await run.run()).outcome is Outcome.ANSWERED
        assert run.hands.typed == {1: VALUE}
        assert run.desk.rows == {}


async def test_with_nobody_there_another_field_is_refused_with_a_sentence():
    run = bench(TypeText(0, FILL), TypeText(0, "plain"), supervised=False)
    await run.run()
    assert run.hands.typed == {0: "plain"}
    told = run.policy.seen[1].history[-1].result
    assert not told.success
    assert told.why == "textbox 'Notes' does not ask for a secret, and the task does not name it for TOKEN"
    assert VALUE not in repr(run.hands.done) + run.kept.everything()


async def test_with_nobody_there_an_unknown_secret_is_refused_and_not_typed_as_it_is_written():
    run = bench(TypeText(1, "{secret:NOBODY}"), supervised=False)
    await run.run()
    assert run.hands.typed == {}
    assert "there is no secret NOBODY" in run.policy.seen[1].history[-1].result.why


@pytest.mark.parametrize(
    ("decision", "typed"),
    [
        (OperatorDecision(kind=DecisionKind.APPROVE, author="ana"), {0: VALUE}),
        (OperatorDecision(kind=DecisionKind.DENY, author="ana"), {}),
        (
            OperatorDecision(kind=DecisionKind.EDIT, call='fill("1", "{secret:TOKEN}")', author="ana"),
            {1: VALUE},
        ),
        (
            OperatorDecision(kind=DecisionKind.EDIT, call='fill("2", "{secret:TOKEN}")', author="ana"),
            {2: VALUE},
        ),
    ],
    ids=["approved", "denied", "into the password", "into another by the person's own words"],
)
async def test_where_a_person_is_there_another_field_is_asked_about(
    decision: OperatorDecision, typed: dict[int, str]
):
    run = bench(TypeText(0, FILL), decide=lambda request: decision)
    await run.run()
    assert run.hands.typed == typed
    (request,) = run.desk.rows.values()
    assert request.need is Need.APPROVAL
    assert "does not ask for a secret" in request.why
    assert VALUE not in repr(request)


async def test_an_approval_holds_for_that_field_and_no_other():
    def decide(request: ApprovalRequest) -> OperatorDecision:
        verb = DecisionKind.APPROVE if "Notes" in request.words else DecisionKind.DENY
        return OperatorDecision(kind=verb, author="ana")

    run = bench(TypeText(0, FILL), TypeText(2, FILL), decide=decide)
    await run.run()
    assert len(run.desk.rows) == 2
    assert run.hands.typed == {0: VALUE}


async def test_an_approval_that_was_given_for_one_field_opens_no_other_to_the_hands():
    run = bench()
    run.hands.url = HOME
    deeds = run.loop._parts.dispatcher  # pyright: ignore[reportPrivateUsage]
    sight = Observation(step=0, steps_left=1, intent=PLAIN, start_url=HOME, page=PAGES[HOME])
    approved = secret_use(TypeText(0, FILL), sight, deeds.secrets)
    assert approved is not None
    deeds.secrets.approve(approved.key)
    for command in (TypeText(2, FILL), TypeText(0, f"x{FILL}"), TypeKeys(FILL)):
        done, _ = await deeds.do(command, sight)
        assert not done.success
    assert run.hands.typed == {}
    done, _ = await deeds.do(TypeText(0, FILL), sight)
    assert done.success
    assert run.hands.typed == {0: VALUE}


async def test_what_is_never_done_is_not_even_asked():
    run = bench(TypeText(1, "{secret:NOBODY}"), Goto(f"{HOME}?t={FILL}"))
    await run.run()
    assert run.desk.rows == {}
    assert run.hands.typed == {}
    assert [turn.result.cause.value for turn in run.policy.seen[2].history[-2:]] == ["policy", "policy"]


class MarksAt:
    """Marks that all stand for one element."""

    def __init__(self, element: int) -> None:
        self.element = element

    async def resolve(self, action: Action, page: PageCapture) -> tuple[Action | None, ActionResult | None]:
        assert isinstance(action, TypeMark)
        return TypeText(self.element, action.text, action.enter), None


@pytest.mark.parametrize(("element", "typed"), [(1, {1: VALUE}), (0, {})])
async def test_a_mark_is_judged_by_the_field_it_stands_for(element: int, typed: dict[int, str]):
    run = bench(supervised=False)
    deeds = run.loop._parts.dispatcher  # pyright: ignore[reportPrivateUsage]
    deeds.marks = MarksAt(element)
    run.hands.url = HOME
    assert isinstance(run.hands, FakeExecutor)
    sight = Observation(step=0, steps_left=1, intent=PLAIN, start_url=HOME, page=PAGES[HOME])
    done, _ = await deeds.do(TypeMark(1, FILL), sight)
    assert run.hands.typed == typed
    assert done.success is bool(typed)
