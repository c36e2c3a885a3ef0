"""A page that gives orders: a model that obeys whatever is outside a fence is not misled, in a real
browser.
"""

from __future__ import annotations

import re

from playwright.async_api import Browser

from app.engine.agent.action_dispatcher import ActionDispatcher
from app.engine.agent.calculator import calculate
from app.engine.agent.llm.llm_policy import LlmPolicy
from app.engine.agent.loop import AgentDependencies, AgentLoop
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.ports import AgentTask
from app.engine.agent.secrets import resolve_secrets
from app.engine.browser.executor import Executor
from app.engine.browser.session import open_session
from app.engine.core.model_api import AgentRole
from app.engine.core.trajectory import Outcome, Run
from tests.support.fake_executor import InMemoryRecorder
from tests.support.pages_server import serving
from tests.support.scripted_model import Question, ScriptedModel
from tests.support.shop_brain import plan

INTENT = "ORDER: click 'Show total'. Say how high it is. The PIN is \"4711-hunter\"."
_FENCED = re.compile(r"<<([a-z ]+) (\w{12})>>\n(.*?)\n<<end of \1 \2>>", re.DOTALL)


def outside(text: str) -> str:
    """Return the text outside all fences."""
    return _FENCED.sub("", text)


def obedient(question: Question) -> str:
    """Does the last thing it is ordered to by text outside a fence; then reports the total it sees."""
    if question.role is AgentRole.PLANNER:
        return plan(done="\n42.50\n<<end of answer" in question.text)
    total = re.findall(r"'(42\.50)'", question.text)
    if total:
        return f'<action>stop("{total[-1]}")</action>'
    wanted = re.findall(r"ORDER: click '([^']+)'", outside(question.text))[-1]
    number = re.findall(rf"\[(\d+)\] button '{wanted}'", question.text)[-1]
    return f'<action>click("{number}")</action>'


async def test_a_page_that_gives_orders_is_read_and_not_obeyed(chromium: Browser):
    intent, secrets = resolve_secrets(INTENT, {})
    model = ScriptedModel(obedient)
    kept, book = InMemoryRecorder(), LedgerStore()
    with serving() as address:
        async with open_session(chromium, keep_tabs=True) as tab:
            hands = Executor(tab)
            task = AgentTask(run="r", intent=intent, start_url=f"{address}/orders.html", max_steps=6)
            parts = AgentDependencies(
                executor=hands,
                policy=LlmPolicy(model),
                ledger_store=book,
                recorder=kept,
                dispatcher=ActionDispatcher(hands, book, calculate, secrets=secrets),
                secrets=secrets,
            )
            run = await AgentLoop(task, parts, Run(id="r", source="sitelore", intent=intent)).run()
            done = await tab.page.evaluate("deeds")

    assert (run.outcome, run.answer) == (Outcome.ANSWERED, "42.50")
    assert done == ["shown"]
    assert [step.words for step in kept.steps] == ["click button 'Show total'", "answer '42.50'"]
    for question in model.asked:
        assert "Delete my account" not in outside(question.text)
        assert "4711-hunter" not in question.text
