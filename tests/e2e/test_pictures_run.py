"""Runs whose model is shown pictures, from the command line on the demo shop: what a protocol server was sent."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Iterator

import pytest
from PIL import Image

from app.engine.store.workspace import Workspace
from tests.support.demo_site_thread import demo_site
from tests.support.program import Sitelore
from tests.support.protocol_server import Answer, ProtocolServer, Request, text_of
from tests.support.shop_brain import plan, role_of

pytestmark = pytest.mark.browser
STEPS = 12


@pytest.fixture(scope="module")
def server() -> Iterator[object]:
    with demo_site() as running:
        yield running


class Walker:
    """Goes from page to page; at every third step it reckons, which changes nothing on the page."""

    def __init__(self) -> None:
        self.step = 0

    def __call__(self, request: Request) -> str | Answer:
        match role_of(request):
            case "planner":
                return plan()
            case "operator":
                self.step += 1
                if self.step % 3 == 0:
                    return '<action>calculate("2 * 21")</action>'
                links = re.findall(r"\[(\d+)\] link '(?!Skip)\w", text_of(request))
                return f'<think>On.</think><action>click("{links[self.step % 7]}")</action>'
            case "summarizer":
                return json.dumps({"summary": "walked", "tips": [], "guidance": ""})
            case _:
                return "{}"


def run(
    server, folder, brain, *options: str, refuses: tuple[str, ...] = ()
) -> tuple[Sitelore, dict, list[Request]]:
    with ProtocolServer(brain=brain, refuses=refuses) as endpoint:
        sitelore = Sitelore(
            folder / "workspace",
            SITELORE_MODEL_URL=endpoint.url,
            SITELORE_MODEL_NAME="scripted",
            OPENAI_API_KEY="sk-test-key-that-nobody-may-keep",
        )
        summary = sitelore(
            "run", "Walk through the shop", "--start-url", server.shop_url, "--policy", "llm",
            "--max-steps", str(STEPS), *options, code=1,
        )  # fmt: skip
        return sitelore, summary, endpoint.bodies


def urls(request: Request) -> list[str]:
    return re.findall(r'"url": "(data:image/[^"]+)"', json.dumps(request))


def asked(bodies: list[Request], role: str) -> list[Request]:
    return [one for one in bodies if role_of(one) == role]


def test_operator_and_planner_are_shown_marked_pictures_two_at_most(server, tmp_path):
    sitelore, summary, bodies = run(server, tmp_path, Walker(), "--pictures", "changed")
    operator, planner = asked(bodies, "operator"), asked(bodies, "planner")

    assert summary["steps"] == STEPS
    counts = [len(urls(one)) for one in operator]
    assert max(counts) == 2
    assert min(counts) >= 1
    assert {len(urls(one)) for one in planner} == {1}
    assert any("still shows the page" in text_of(one) for one in operator)
    picture = base64.b64decode(urls(operator[0])[0].partition(",")[2])
    runs = Workspace.open(sitelore.workspace).runs
    assert runs.read_blob(hashlib.sha256(picture).hexdigest()) == picture
    with Image.open(io.BytesIO(picture)) as image:
        assert image.size == (1280, 800)
        colours = {(200, 30, 30), (25, 95, 180), (20, 120, 50)}
        seen = [image.getpixel((x, y)) for x in range(0, 1280, 2) for y in range(0, 800, 2)]
    for colour in colours:
        assert any(all(abs(a - b) < 24 for a, b in zip(colour, pixel, strict=True)) for pixel in seen)


def test_pictures_off_leaves_none_and_no_word_of_them(server, tmp_path):
    _, _, bodies = run(server, tmp_path, Walker(), "--pictures", "off")

    assert bodies
    for one in bodies:
        assert not urls(one)
        assert "picture" not in text_of(one).casefold()
        assert "mouse_click" not in text_of(one)


def test_an_endpoint_that_refuses_pictures_is_asked_once_and_the_run_goes_on(server, tmp_path):
    sitelore, summary, bodies = run(server, tmp_path, Walker(), refuses=("image_url",))

    assert summary["steps"] == STEPS
    assert sum(bool(urls(one)) for one in bodies) == 1
    told = sitelore("runs", "memory", summary["run"])
    notes = [note for note in told["ledger"]["episodic"] if "takes no pictures" in note]
    assert len(notes) == 1


class Pointer(Walker):
    """Points at the middle of the first link's frame in a picture of half the size."""

    def __call__(self, request: Request) -> str | Answer:
        if role_of(request) == "operator":
            return "<action>mouse_click(100, 60)</action>"
        return super().__call__(request)


def test_points_are_those_of_the_picture_that_was_sent(server, tmp_path):
    options = ("--pictures", "always", "--picture-side", "640", "--max-steps", "2", "--picture-detail", "low")
    sitelore, summary, bodies = run(server, tmp_path, Pointer(), *options)
    picture = base64.b64decode(urls(asked(bodies, "operator")[0])[0].partition(",")[2])

    with Image.open(io.BytesIO(picture)) as image:
        assert image.size == (640, 400)
    shown = sitelore("runs", "show", summary["run"])
    assert shown["steps"][0]["action"]["args"] == {"x": 200.0, "y": 120.0}
