"""A form of twenty actions, filled in by pointing at what a scripted vision model sees."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from functools import partial

from app.engine.agent.vision.vision_cache import VisionCache
from app.engine.agent.vision.vision_client import VisionClient
from app.engine.browser.capture.hit_testing import elements_at
from app.engine.browser.executor import Executor
from app.engine.browser.session import BrowserSession
from app.engine.core.actions.types import ClickMark, TypeMark
from app.engine.core.page_state import PageCapture
from tests.support.scripted_vision import Background, ScriptedVision, answer, named, seen, within

PLAN: tuple[tuple[str, str | None], ...] = (
    ("First name", "Ada"),
    ("Last name", "Lovelace"),
    ("E-mail", "ada@example.org"),
    ("Phone", "0123456"),
    ("Wishes", "a quiet room"),
    ("To the room", None),
    ("Double room", None),
    ("Breakfast", None),
    ("Parking", None),
    ("Nights", "3"),
    ("United States ▾", None),
    ("Texas", None),
    ("To the invoice", None),
    ("Company", "Engines"),
    ("Street", "Main Street 1"),
    ("Town", "London"),
    ("Post code", "W1"),
    ("I agree", None),
    ("Town", "Oxford"),
    ("Send the booking", None),
)
"""Targets and the text typed there; ``None`` for a click."""

SENT = {
    "first": "Ada", "last": "Lovelace", "mail": "ada@example.org", "phone": "0123456", "wishes": "a quiet room",
    "room": "double", "breakfast": "on", "parking": "on", "nights": "3", "company": "Engines",
    "street": "Main Street 1", "town": "Oxford", "code": "W1", "agree": "on", "state": "Texas",
}  # fmt: skip


@dataclass
class Filled:
    """Result of filling the form."""

    sent: dict[str, str]
    perceptions: int
    waited: int
    tokens: int
    seconds: float
    refusals: list[str] = field(default_factory=list)


def row_aware(page: PageCapture) -> str:
    """Return everything visible; the row of the state is drawn as one box, as vision models do."""
    boxes = []
    for element in page.elements:
        if not element.visible or element.rect is None or not within(element.rect, page):
            continue
        if "▾" in named(element):
            right, middle = element.rect[0] + element.rect[2], element.rect[1] + element.rect[3] / 2
            boxes.append(seen("United States ▾", (right - 308, middle - 16, 308, 32), page))
        else:
            boxes.append(seen(named(element), element.rect, page, role=element.role))
    return answer(*boxes)


async def fill_in(
    tab: BrowserSession,
    address: str,
    *,
    gated: bool,
    latency: float = 0.0,
    thinking: float = 0.0,
    times: int = 1,
) -> Filled:
    """Fill the form; ``gated`` looks where the page has drifted, else before every action.

    ``latency`` is the vision model's time, ``thinking`` the agent's, in seconds.
    """
    hand, background = Executor(tab), Background()
    model = ScriptedVision(lambda _: row_aware(now), seconds=latency)

    def new_vision() -> VisionCache:
        return VisionCache(client, spawn=background.spawn, under=partial(elements_at, tab), soft=30, hard=60)

    client = VisionClient(model)
    vision, waited, refusals, began = new_vision(), 0, list[str](), time.perf_counter()
    for _ in range(times):
        await tab.page.goto(address)
        now = await hand.look()
        for label, text in PLAN:
            if gated:
                vision.start_look(now)
            else:  # the naive policy has no memory of what it saw, and looks before it thinks
                await vision.aclose()
                vision = new_vision()
                await vision.frame_for_policy(now)
            await asyncio.sleep(thinking)
            shown = await vision.frame_for_policy(now)
            if shown is None:
                refusals.append(f"{label}: nothing is seen ({vision.trouble})")
                continue
            number = next((mark.number for mark in shown.marks if mark.label == label), 0)
            command = TypeMark(number, text) if text is not None else ClickMark(number, label)
            resolved, refusal = await vision.resolve(command, now)
            waited += vision.last.perceptions if vision.last is not None else 0
            if resolved is None:
                refusals.append(f"{label}: {refusal.why if refusal else ''}")
                continue
            result = await hand.do(resolved)
            if not result.success:
                refusals.append(f"{label}: {result.why}")
            now = await hand.look()
    await vision.aclose()
    text = await tab.page.inner_text("#sent")
    sent = json.loads(text.partition("Sent: ")[2] or "{}")
    return Filled(sent, client.count, waited, 860 * len(model.asked), time.perf_counter() - began, refusals)
