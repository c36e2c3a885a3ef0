"""One pass of the vision model over a page: screenshot and question out, a frame of marks back.

A pass that can't be read, or was cut off, is repeated once in compact form; then a larger model is asked, where there
is one. Kinds of pages that small models cut off go to the larger one directly, for this session and address
(SuperBrowser, section 4.3: page-type-aware tiers).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from app.engine.agent.llm.prompting import Fence, prompt
from app.engine.agent.secret_masking import mask_secrets
from app.engine.agent.secrets import Secrets
from app.engine.agent.vision.answers import SCHEMA, PageType, UnreadableAnswer, VisionAnswer, read_answer
from app.engine.agent.vision.label_match import words_of
from app.engine.agent.vision.mark_enrichment import MAX_COVERAGE_MARKS, MAX_MARKS, marks_of, rank_marks
from app.engine.agent.vision.mark_overlay import with_anchors
from app.engine.agent.vision.row_parts import box_overlap
from app.engine.agent.vision.vision_frame import MarkOrigin, VisionFrame, VisionMark
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.fingerprint import fingerprints_of
from app.engine.core.model_api import AgentRole, LanguageModel, ModelError, ModelErrorKind, ModelReply
from app.engine.core.page_state import PageCapture, Rect
from app.engine.core.redaction import redact_text, redact_url

COMPLEX_PAGES = frozenset(
    {PageType.MAP_OR_BOOKING, PageType.SEARCH_RESULTS, PageType.CHECKOUT_FORM, PageType.PRODUCT_LISTING}
)
"""Kinds of page that a small model tends to cut short."""
COMPACT_BOXES = 15
"""Boxes of the compact second try."""
ANSWER_TOKENS, COMPACT_ANSWER_TOKENS = 4096, 1500
MAX_COVERAGE_HINTS = 12
SAME_MARK_OVERLAP = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionFocus:
    """The agent's intent: the task, its subgoal, labels it expects to find."""

    task: str = ""
    subgoal: str = ""
    labels: tuple[str, ...] = ()


@dataclass(slots=True)
class _PassCost:
    """Cost of a pass so far."""

    calls: list[str] = field(default_factory=list[str])
    tokens: tuple[int, int] = (0, 0)
    notes: list[str] = field(default_factory=list[str])

    def add(self, reply: ModelReply) -> None:
        if reply.digest:
            self.calls.append(reply.digest)
        self.tokens = (self.tokens[0] + reply.tokens[0], self.tokens[1] + reply.tokens[1])


class VisionClient:
    """Asks the vision models of one session; remembers which addresses need the larger one.

    ``count`` is the number of passes. ``larger`` is asked where ``small`` fails and on complex pages. ``fence`` keeps a
    page's text apart from ours.
    """

    def __init__(
        self,
        small: LanguageModel,
        larger: LanguageModel | None = None,
        clock: Callable[[], float] = time.monotonic,
        fence: Fence | None = None,
    ) -> None:
        self._fence = fence or Fence()
        self._small = small
        self._larger = larger
        self._clock = clock
        self._complex: set[str] = set()
        self.count = 0

    async def look(
        self, page: PageCapture, focus: VisionFocus, before: VisionFrame | None = None
    ) -> VisionFrame:
        """Run a pass over the page's screenshot.

        Raises:
            ModelError: no answer came.
            UnreadableAnswer: none of the answers could be read, or there is no screenshot.
        """
        self.count += 1
        number, began, asked = self.count, self._clock(), _PassCost()
        picture = with_anchors(replace(page, picture=_masked_picture(page)), before, began)
        answer = await self._answer(page, picture, focus, before, asked)
        if answer.page_type in COMPLEX_PAGES:
            self._complex.add(_place(page.url))
        return VisionFrame(
            number=number,
            page=replace(page, picture=b""),
            prints=fingerprints_of(page),
            at=began,
            marks=marks_of(answer.boxes, page, wanted=focus.labels),
            page_type=answer.page_type,
            summary=redact_text(answer.summary),
            calls=tuple(asked.calls),
            tokens=asked.tokens,
            seconds=self._clock() - began,
            notes=(*asked.notes, *_dropped(answer)),
        )

    async def look_for_missing(
        self, page: PageCapture, focus: VisionFocus, frame: VisionFrame
    ) -> VisionFrame:
        """Run a second pass for labels that should be on the page and are in no mark: more boxes, hints from the page.

        The frame's own marks stay.

        Raises:
            ModelError: no answer came.
            UnreadableAnswer: it could not be read.
        """
        self.count += 1
        number, began, asked = self.count, self._clock(), _PassCost()
        question = _coverage_question(page, focus, self._fence)
        reply = await self._model(page.url).ask(
            AgentRole.VISION,
            self._messages(
                "vision_coverage", MAX_COVERAGE_MARKS, question, page, shown := _masked_picture(page)
            ),
            schema=SCHEMA,
            pictures={_digest(shown): shown},
            most=ANSWER_TOKENS,
        )
        asked.add(reply)
        _require_vision(reply)
        answer = read_answer(reply.text, reply.data)
        found = marks_of(
            answer.boxes, page, wanted=focus.labels, most=MAX_COVERAGE_MARKS, origin=MarkOrigin.COVERAGE
        )
        new = [mark for mark in found if not any(_same(mark, old) for old in frame.marks)]
        return replace(
            frame,
            number=number,
            page=replace(page, picture=b""),
            prints=fingerprints_of(page),
            at=began,
            marks=rank_marks([*frame.marks, *new], focus.labels, MAX_COVERAGE_MARKS),
            calls=tuple(asked.calls),
            tokens=asked.tokens,
            seconds=self._clock() - began,
            notes=_dropped(answer),
        )

    def needs_larger_model(self, url: str) -> bool:
        """Whether a page at this address goes to the larger model directly."""
        return self._larger is not None and _place(url) in self._complex

    def _model(self, url: str) -> LanguageModel:
        return self._larger if self._larger is not None and self.needs_larger_model(url) else self._small

    async def _answer(
        self,
        page: PageCapture,
        picture: bytes,
        focus: VisionFocus,
        before: VisionFrame | None,
        asked: _PassCost,
    ) -> VisionAnswer:
        """Return the first complete answer; else the one with most boxes."""
        first = self._model(page.url)
        tries = [
            (first, "vision", MAX_MARKS, ANSWER_TOKENS),
            (first, "vision_compact", COMPACT_BOXES, COMPACT_ANSWER_TOKENS),
        ]
        if self._larger is not None and first is not self._larger:
            tries.append((self._larger, "vision", MAX_MARKS, ANSWER_TOKENS))
        question = _question(page, focus, before, self._fence)
        partial: VisionAnswer | None = None
        for model, name, most, tokens in tries:
            reply = await model.ask(
                AgentRole.VISION,
                self._messages(name, most, question, page, picture),
                schema=SCHEMA,
                pictures={_digest(picture): picture},
                most=tokens,
            )
            asked.add(reply)
            _require_vision(reply)
            try:
                answer = read_answer(reply.text, reply.data)
            except UnreadableAnswer as error:
                asked.notes.append(str(error))
                continue
            if not (answer.cut or reply.truncated):
                return answer
            asked.notes.append(f"the vision model's answer was cut after {len(answer.boxes)} boxes")
            if partial is None or len(answer.boxes) > len(partial.boxes):
                partial = answer
            self._complex.add(_place(page.url))
        if partial is None:
            raise UnreadableAnswer("; ".join(asked.notes))
        return partial

    def _messages(
        self, name: str, most: int, question: str, page: PageCapture, picture: bytes
    ) -> list[ChatMessage]:
        rules = prompt(name, most=str(most), marker=self._fence.marker)
        shown = MessagePart(kind=PartKind.IMAGE, digest=_digest(picture), url=redact_url(page.url))
        return [
            ChatMessage(role=ChatRole.SYSTEM, parts=(MessagePart(kind=PartKind.TEXT, text=rules),)),
            ChatMessage(role=ChatRole.USER, parts=(MessagePart(kind=PartKind.TEXT, text=question), shown)),
        ]


def _masked_picture(page: PageCapture) -> bytes:
    """Return the page's screenshot without secret fields. Raises ``UnreadableAnswer`` where there is none."""
    if not page.picture:
        raise UnreadableAnswer("there is no screenshot of the page")
    return mask_secrets(page, Secrets()).picture


def _question(page: PageCapture, focus: VisionFocus, before: VisionFrame | None, fence: Fence) -> str:
    lines: list[str] = []
    if before is not None and before.page.url == page.url and before.summary:
        lines.append(f"The look before saw: {_quoted(before.summary, fence)}")
    if focus.labels:
        lines.append(f"Expected to be there: {_quoted(list(focus.labels), fence)}")
    return _question_text(page, focus, lines, fence)


def _coverage_question(page: PageCapture, focus: VisionFocus, fence: Fence) -> str:
    lines = [f"Missing from your list: {_quoted(list(focus.labels), fence)}"]
    lines += [
        f"Perhaps at {list(box)}: {_quoted(redact_text(name), fence)}"
        for name, box in _hints(page, focus.labels)
    ]
    return _question_text(page, focus, lines, fence)


def _question_text(page: PageCapture, focus: VisionFocus, lines: Sequence[str], fence: Fence) -> str:
    """Return the question: task and subgoal in our words, the rest as the page's own."""
    place = f"Page: {fence.line(redact_url(page.url), 300)} {_quoted(page.title[:200], fence)}"
    subgoal = fence.line(focus.subgoal, 300) or "(not told)"
    told = "\n".join((place, *lines))
    return f"Task: {focus.task or '(not told)'}\nStep: {subgoal}\n{fence.around('the page', told)}"


def _quoted(words: str | list[str], fence: Fence) -> str:
    """Return text as JSON, so that each item is one line with a clear end."""
    clean = fence.line(words) if isinstance(words, str) else [fence.line(word) for word in words]
    return json.dumps(clean, ensure_ascii=False)


def _hints(page: PageCapture, labels: Sequence[str]) -> list[tuple[str, tuple[int, int, int, int]]]:
    """Return elements that share a word with a label, and their boxes in thousandths of the picture."""
    wanted = {word for label in labels for word in words_of(label) if len(word) > 2}
    width, height = page.viewport
    found: list[tuple[str, tuple[int, int, int, int]]] = []
    for element in page.elements:
        name = element.name or element.label or element.text
        if element.rect is None or not element.visible or not wanted.intersection(words_of(name)):
            continue
        if within := _thousandths(element.rect, width, height):
            found.append((name[:80], within))
    return found[:MAX_COVERAGE_HINTS]


def _thousandths(rect: Rect, width: int, height: int) -> tuple[int, int, int, int] | None:
    """Return top, left, bottom, right of the part of a box inside the viewport."""
    if width <= 0 or height <= 0:
        return None
    left, top = max(0.0, rect[0]), max(0.0, rect[1])
    right, bottom = min(float(width), rect[0] + rect[2]), min(float(height), rect[1] + rect[3])
    if right <= left or bottom <= top:
        return None
    return (
        round(top * 1000 / height),
        round(left * 1000 / width),
        round(bottom * 1000 / height),
        round(right * 1000 / width),
    )


def _same(mark: VisionMark, other: VisionMark) -> bool:
    return box_overlap(mark.box, other.box) >= SAME_MARK_OVERLAP or (
        mark.element is not None and mark.element == other.element and mark.label == other.label
    )


def _require_vision(reply: ModelReply) -> None:
    """Raise ``ModelError`` where the model was not shown the picture: its answer would be made up."""
    if reply.pictures_dropped:
        name = f" ({reply.model})" if reply.model else ""
        raise ModelError(
            f"the model{name} takes no pictures, so it can't see the page",
            ModelErrorKind.NO_MODEL,
            "choose a model that does, or run without vision",
        )


def _dropped(answer: VisionAnswer) -> tuple[str, ...]:
    return (f"{answer.dropped} boxes could not be read",) if answer.dropped else ()


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"


def _digest(picture: bytes) -> str:
    return hashlib.sha256(picture).hexdigest()
