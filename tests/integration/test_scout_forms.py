"""Forms filled in and sent in a real Chromium, under the write gate: what arrives at the server is what was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest_asyncio
from playwright.async_api import Browser

from app.demo.server import HOST, DemoServer
from app.engine.agent.scout.changes import confirm_step, control_step, opens_form
from app.engine.agent.scout.forms import FormStep, next_form_step
from app.engine.agent.scout.saved_evidence import form_errors, saved_evidence
from app.engine.agent.scout.task import TaskPart, read_task
from app.engine.agent.scout.value_matching import FormPlan, read_changes
from app.engine.agent.write_gate.gate import WriteGate
from app.engine.browser.executor import Executor
from app.engine.browser.network.write_guard import WriteGuard
from app.engine.browser.session import open_session
from app.engine.core.observation import Observation
from app.engine.core.page_state import PageCapture
from tests.support.executor_bench import SWIFT, Bench
from tests.support.form_site import FormSite

MOST_STEPS = 14


@dataclass
class Desk:
    """The site, and an executor on it with the guard of a run."""

    site: FormSite
    bench: Bench

    async def change(self, task: str, path: str) -> str:
        """Do a task on the page of a path by the scout's rules alone; return the evidence, "" without any."""
        part, gate, done, evidence = read_task(task).parts[-1], WriteGate(), set[str](), ""
        page = await self._at(path)
        plan, before = FormPlan(), page
        for number in range(MOST_STEPS):
            found = read_changes(part, page, done)
            step = _next(found, part, page, done)
            if step is None:
                break
            if step.key.startswith(("send:", "press:", "confirm:")):
                plan, before = found, page
            sight = Observation(
                step=number, steps_left=MOST_STEPS - number, intent=task, start_url=page.url, page=page
            )
            ruled = gate.judge(step.action, sight)
            assert ruled.allowed, (ruled.why, step)
            result = await self.bench.executor.do(step.action, ruled.permit)
            assert result.success, (result.why, step)
            gate.settle(ruled, result, number)
            done.add(step.key)
            page = await self.bench.executor.look(picture=False)
            if step.key.startswith(("send:", "press:", "confirm:")):
                evidence = saved_evidence(part, plan, before, page)
                if evidence or form_errors(page, before):
                    break
        return evidence

    async def _at(self, path: str) -> PageCapture:
        await self.bench.tab.page.goto(self.bench.home + path)
        return await self.bench.executor.look(picture=False)


def _next(plan: FormPlan, part: TaskPart, page: PageCapture, done: set[str]) -> FormStep | None:
    """The order of the policy: the form, then a confirmation, a control of the thing, a way to a form."""
    return (
        next_form_step(plan, part, page, done)
        or confirm_step(part, page, done)
        or control_step(part, page, done)
        or opens_form(part, page)
    )


@pytest_asyncio.fixture(loop_scope="session")
async def desk(chromium: Browser, server: DemoServer) -> AsyncIterator[Desk]:
    site = FormSite()
    async with open_session(chromium) as tab:
        guard = WriteGuard()
        await guard.watch(tab)
        home = f"http://{HOST}:{await server.listen(site, 0)}"
        yield Desk(site, Bench(Executor(tab, options=SWIFT, guard=guard), home, ""))


async def test_a_form_with_rich_text_a_date_tokens_and_a_list_is_saved_as_asked(desk: Desk) -> None:
    task = (
        'Create an article with the headline "Night trains return", body "They run from May.", '
        'owner "Anna Holm" in the section Culture, goes live on 4 May 2030, on the front page'
    )
    evidence = await desk.change(task, "/articles/new")
    assert evidence == "the page says 'The article was saved.'"
    assert len(desk.site.sent) == 1
    path, fields = desk.site.sent[0]
    assert path == "/articles"
    assert {name: fields.get(name, "") for name in ("headline", "live", "people", "section", "front", "go")} == {
        "headline": "Night trains return", "live": "04.05.2030", "people": "Anna Holm", "section": "Culture",
        "front": "yes", "go": "save",
    }  # fmt: skip
    assert "They run from May." in fields["body"]


async def test_what_the_task_does_not_name_is_left_as_it_is(desk: Desk) -> None:
    assert await desk.change('Create an article with the headline "Short"', "/articles/new")
    ((_, fields),) = desk.site.sent
    assert {name: value for name, value in fields.items() if value} == {
        "headline": "Short", "section": "News", "go": "save"
    }  # fmt: skip


async def test_a_complaint_of_the_form_is_no_evidence(desk: Desk) -> None:
    assert await desk.change('Create an article with the headline "refused"', "/articles/new") == ""
    assert len(desk.site.sent) == 1


async def test_a_form_of_two_pages_is_filled_in_page_by_page(desk: Desk) -> None:
    evidence = await desk.change('Create a member named "Mia Holm" with level Gold', "/members/new")
    assert desk.site.sent == [("/members", {"name": "Mia Holm", "level": "Gold"})]
    assert "Mia Holm" in evidence or "Member created" in evidence


async def test_a_control_in_the_menu_of_the_named_row_is_pressed_and_no_other(desk: Desk) -> None:
    evidence = await desk.change("Archive the invoice F-12", "/invoices")
    assert [path for path, _ in desk.site.sent] == ["/invoices/F-12/archive"]
    assert "F-12" in evidence


async def test_nothing_is_sent_for_a_thing_that_is_not_there_or_a_change_the_page_does_not_offer(
    desk: Desk,
) -> None:
    for task, path in (
        ("Archive the invoice F-77", "/invoices"),
        ("Split the invoice F-12 into two", "/invoices"),
        ('Set the colour of the article to "blue"', "/articles/new"),
        ("What is the state of F-12?", "/invoices"),
    ):
        assert await desk.change(task, path) == ""
    assert desk.site.sent == []
