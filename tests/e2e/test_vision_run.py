"""A run with vision from the command line: the marks of a scripted vision model are pointed at, and the page
responds.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator

import pytest

from app.engine.browser.capture.snapshot import capture
from app.engine.browser.launch.launcher import NoBrowser
from app.engine.browser.session import open_browser, open_session
from app.engine.core.page_state import PageCapture
from app.engine.services.agent_runs import VIEWPORT
from tests.support.demo_site_thread import demo_site
from tests.support.program import Sitelore
from tests.support.protocol_server import Answer, ProtocolServer, Request, text_of
from tests.support.scripted_vision import answer, seen
from tests.support.shop_brain import plan, role_of

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server() -> Iterator[object]:
    with demo_site() as running:
        yield running


@pytest.fixture(scope="module")
def page(server) -> PageCapture:
    """The shop's first page, so that the script knows the elements' positions."""

    async def looking() -> PageCapture:
        async with open_browser() as browser, open_session(browser, VIEWPORT) as tab:
            await tab.page.goto(server.shop_url)
            return await capture(tab, picture=False)

    try:
        return asyncio.run(looking())
    except NoBrowser as missing:
        pytest.skip(str(missing))


class Brain:
    """Sees one link and presses its mark; done as soon as the department is open."""

    def __init__(self, page: PageCapture) -> None:
        link = next(element for element in page.elements if element.name == "Kitchen" and element.rect)
        self.drawn = answer(seen("Kitchen", link.rect, page, role="link", relevant=True))
        self.pictures = 0
        self.presses: list[str] = []

    def __call__(self, request: Request) -> str | Answer:
        text = text_of(request)
        match role_of(request):
            case "seen":
                self.pictures += "image_url" in json.dumps(request)
                return self.drawn
            case "planner":
                return plan(done="5 things" in text, answer="5 things")
            case "operator" if "titled 'Kitchen" in text.rpartition("You are at")[2]:
                return '<action>stop("5 things")</action>'
            case "operator":
                marks = re.findall(r"\[V(\d+)\] link 'Kitchen'", text)
                self.presses.append(marks[-1])
                return f'<think>There it is.</think><action>click_mark({marks[-1]}, "Kitchen")</action>'
            case _:
                return "{}"


def test_a_mark_that_was_seen_is_pressed_and_the_run_keeps_it(server, page, tmp_path):
    brain = Brain(page)
    with ProtocolServer(brain=brain) as endpoint:
        sitelore = Sitelore(
            tmp_path / "workspace",
            SITELORE_MODEL_URL=endpoint.url,
            SITELORE_MODEL_NAME="scripted",
            OPENAI_API_KEY="sk-test-key-that-nobody-may-keep",
        )
        summary = sitelore(
            "run", "How many things are in the Kitchen department?", "--start-url", server.shop_url,
            "--policy", "llm", "--vision", "--marks", "always", "--max-steps", "6",
        )  # fmt: skip
    assert (summary["outcome"], summary["answer"]) == ("answered", "5 things")
    assert brain.presses == ["1"]
    assert brain.pictures >= 1
    roles = {use["role"]: use["calls"] for use in summary["usage"]}
    assert 1 <= roles["vision"] <= 3
    shown = sitelore("runs", "show", summary["run"])
    assert [step["action"]["kind"] for step in shown["steps"]] == ["click_mark", "send_msg_to_user"]
