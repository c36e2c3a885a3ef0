"""An action is added by its spec, a handler and a test: reading, printing, the prompt and the gates follow from it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.engine.agent.answer_parser import parse_answer
from app.engine.agent.llm.llm_policy import ActionBatch
from app.engine.agent.secret_fields import SecretRuling, secret_use
from app.engine.agent.secrets import Secrets
from app.engine.agent.write_gate.action_risk import assess_risk
from app.engine.agent.write_gate.gate import WriteGate
from app.engine.browser.executor import HANDLERS
from app.engine.core.actions.action_sets import action_help, actions_in
from app.engine.core.actions.call_forms import BID, argument, call
from app.engine.core.actions.recorded import (
    ActionTarget,
    describe_action,
    format_recorded,
    from_recorded,
    to_recorded,
)
from app.engine.core.actions.specs import FORMS, SPECS, Action, ActionSet, Component, action
from app.engine.core.actions.types import elements_of
from app.engine.core.intervention_policy import RiskClass
from app.engine.core.observation import Observation
from app.engine.core.page_state import Element, PageCapture

PAGE = PageCapture(
    url="http://shop.test/",
    elements=tuple(Element(index=at, role="button", name=name) for at, name in enumerate("ab")),
)
SEEN = Observation(step=0, steps_left=9, intent="Read the total", start_url=PAGE.url, page=PAGE)


@pytest.fixture
def stamp() -> Iterator[type[Action]]:
    """An action that nothing in the program knows but its spec."""
    before = dict(SPECS), dict(FORMS)

    @action(ActionSet.FORMS, risk=RiskClass.SENDS, risk_why="it stamps something", ends_batch=True, calls=(
        call("stamp imprint", BID, argument("text", "words"), usage='stamp("1", "paid")', help="stamp an element",
             words="stamp {text:q} on{what}"),
    ))  # fmt: skip
    class Stamp(Action):
        element: int
        text: str

    yield Stamp
    for table, known in zip((SPECS, FORMS), before, strict=True):
        table.clear()
        table.update(known)  # type: ignore[call-overload]


def test_a_new_action_is_read_stored_printed_and_described(stamp: type[Action]):
    made = parse_answer('<action>imprint(1, words="paid")</action>', {"stamp"}, PAGE).action
    assert made is not None
    recorded = to_recorded(made)

    assert recorded.args == {"bid": "1", "text": "paid"}
    assert from_recorded(recorded) == made
    assert format_recorded(recorded) == "stamp('1', 'paid')"
    assert describe_action(recorded, ActionTarget(role="button", name="b")) == "stamp 'paid' on button 'b'"
    assert elements_of(made) == (1,)


def test_a_model_is_offered_it_and_told_what_it_lacks(stamp: type[Action]):
    assert "stamp" in actions_in(ActionSet.FORMS)
    assert action_help({"stamp"}) == 'stamp("1", "paid"): stamp an element'
    assert 'needs text, a text; write stamp("1", "paid")' in parse_answer("stamp(1)", {"stamp"}, PAGE).why
    assert "no element 7" in parse_answer('stamp(7, "x")', {"stamp"}, PAGE).why


def test_its_risk_decides_what_the_gates_do_with_it(stamp: type[Action]):
    made = parse_answer('stamp(1, "paid")', {"stamp"}, PAGE).action
    assert made is not None

    assert assess_risk(made, PAGE).risk is RiskClass.SENDS
    assert not WriteGate().judge(made, SEEN).allowed
    batch = ActionBatch()
    batch.begin((made, made), SEEN)
    assert batch.next(SEEN) is None

    secret = parse_answer('stamp(1, "{secret:PIN}")', {"stamp"}, PAGE).action
    assert secret is not None
    use = secret_use(secret, SEEN, Secrets({"PIN": "1234"}))
    assert use is not None
    assert use.ruling is SecretRuling.REFUSE


def test_every_action_of_the_page_has_a_handler_or_is_resolved_to_one_that_has():
    page = {made for made, spec in SPECS.items() if spec.component is Component.PAGE}

    assert page - set(HANDLERS) == {made for made, spec in SPECS.items() if spec.set is ActionSet.VISION}
    assert set(HANDLERS) <= page
