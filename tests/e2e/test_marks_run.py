"""When a run with vision looks for marks, beside which calls and by which model: runs on the demo shop."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tests.support.demo_site_thread import demo_site
from tests.support.program import Sitelore
from tests.support.protocol_server import Answer, Asked, ProtocolServer, Request, text_of
from tests.support.shop_brain import plan, role_of

pytestmark = pytest.mark.browser
SEEN = json.dumps({"page_type": "product_listing", "summary": "a shop", "boxes": [
    {"label": "Kitchen", "box_2d": [20, 324, 60, 372], "role": "link", "confidence": 0.9}]})  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[object]:
    with demo_site() as running:
        yield running


def run(server, folder, brain, *options: str) -> list[Asked]:
    with ProtocolServer(brain=brain) as endpoint:
        sitelore = Sitelore(
            folder / "workspace",
            SITELORE_MODEL_URL=endpoint.url,
            SITELORE_MODEL_NAME="scripted",
            SITELORE_VISION_MODEL="small",
            SITELORE_LARGER_VISION_MODEL="large",
            OPENAI_API_KEY="sk-test-key-that-nobody-may-keep",
        )
        sitelore(
            "run", "Walk through the shop", "--start-url", server.shop_url, "--policy", "llm", "--vision",
            "--pictures", "off", *options, code=1,
        )  # fmt: skip
        return endpoint.asked


def by_role(asked: list[Asked], role: str) -> list[Asked]:
    return [one for one in asked if role_of(one.body) == role]


class Walker:
    """Presses one link by its number at each step."""

    def __init__(self, seen: str | Answer = SEEN, pause: float = 0.0, first: str = "") -> None:
        self.seen, self.pause, self.first, self.step = seen, pause, first, 0

    def __call__(self, request: Request) -> str | Answer:
        match role_of(request):
            case "seen":
                return self.looked(request)
            case "planner":
                return Answer(text=plan(), first=self.pause)
            case "operator":
                self.step += 1
                if self.step == 1 and self.first:
                    return f"<action>{self.first}</action>"
                links = re.findall(r"\[(\d+)\] link '(?!Skip)\w", text_of(request))
                return f'<action>click("{links[self.step % 7]}")</action>'
            case _:
                return "{}"

    def looked(self, request: Request) -> str | Answer:
        return Answer(text=self.seen, first=self.pause) if isinstance(self.seen, str) else self.seen


def test_five_clicks_by_number_cost_no_look(server, tmp_path):
    asked = run(server, tmp_path, Walker(), "--max-steps", "5")
    assert len(by_role(asked, "operator")) == 5
    assert by_role(asked, "seen") == []


def test_an_agent_that_asks_for_marks_gets_them_at_the_next_step(server, tmp_path):
    asked = run(server, tmp_path, Walker(first="look()"), "--max-steps", "2")
    operator = by_role(asked, "operator")
    assert len(by_role(asked, "seen")) == 1
    assert "[V1]" not in text_of(operator[0].body)
    assert "[V1] link 'Kitchen'" in text_of(operator[1].body)


def test_a_look_goes_on_beside_the_planner(server, tmp_path):
    asked = run(server, tmp_path, Walker(pause=3.0), "--max-steps", "1", "--marks", "always")
    look, planner, operator = (by_role(asked, role)[0].at for role in ("seen", "planner", "operator"))
    assert operator - min(look, planner) < 4.0
    assert abs(look - planner) < 1.0


def test_an_answer_that_can_not_be_read_goes_to_the_larger_model(server, tmp_path):
    class Poor(Walker):
        def looked(self, request: Request) -> str | Answer:
            return SEEN if request["model"] == "large" else "I see a shop."

    asked = run(server, tmp_path, Poor(), "--max-steps", "1", "--marks", "always")
    assert [one.body["model"] for one in by_role(asked, "seen")] == ["small", "small", "large"]


def test_a_page_of_a_complex_kind_goes_to_the_larger_model_at_once_the_next_time(server, tmp_path):
    class Filters(Walker):
        def __call__(self, request: Request) -> str | Answer:
            if role_of(request) == "operator":
                numbers = re.findall(r"\[(\d+)\] combobox", text_of(request))
                self.step += 1
                option = ("price, low first", "name")[self.step % 2]
                return f'<action>select_option("{numbers[-1]}", "{option}")</action>'
            return super().__call__(request)

    asked = run(server, tmp_path, Filters(), "--max-steps", "3", "--marks", "always")
    models = [one.body["model"] for one in by_role(asked, "seen")]
    assert models[0] == "small"
    assert set(models[1:]) == {"large"}
