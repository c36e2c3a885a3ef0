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
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from app.engine.agent.llm.prompting import Fence, system, user
from app.engine.agent.llm.usage_tracker import UsageTracker
from app.engine.agent.secret_masking import mask_secrets
from app.engine.agent.secrets import Secrets
from app.engine.agent.vision.answers import SCHEMA, PageType, UnreadableAnswer, VisionAnswer, read_answer
from app.engine.agent.vision.label_match import words_of
from app.engine.agent.vision.mark_enrichment import MAX_COVERAGE_MARKS, MAX_MARKS, marks_of, rank_marks
from app.engine.agent.vision.set_of_marks import with_anchors
from app.engine.agent.vision.vision_frame import VisionFrame, VisionMark
from app.engine.core.chat_messages import MessagePart, PartKind
from app.engine.core.fingerprint import fingerprints_of
from app.engine.core.model_api import AgentRole, LanguageModel, ModelError, ModelErrorKind, ModelReply
from app.engine.core.page_state import PageCapture, Rect
from app.engine.core.rectangles import overlap, overlap_ratio
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


class VisionClient:
    """Asks the vision models of one session; remembers which addresses need the larger one.

    ``count`` is the number of passes. ``larger`` is asked where ``small`` fails and on complex pages. ``fence`` keeps a
    page's text apart from ours. ``known`` tells the pages that earlier runs needed the larger one for.
    """

    def __init__(
        self,
        small: LanguageModel,
        larger: LanguageModel | None = None,
        clock: Callable[[], float] = time.monotonic,
        fence: Fence | None = None,
        known: Callable[[str], bool] | None = None,
    ) -> None:
        self._fence = fence or Fence()
        self._known = known
        self._small = small
        self._larger = larger
        self._clock = clock
        self._complex: set[str] = set()
        self.count = 0
        self.read_by_larger: dict[int, str] = {}
        """Addresses of pages that the larger model read whole, by the number of the pass."""

    async def look(
        self, page: PageCapture, focus: VisionFocus, before: VisionFrame | None = None
    ) -> VisionFrame:
        """Run a pass over the page's screenshot.

        Raises:
            ModelError: no answer came.
            UnreadableAnswer: none of the answers could be read, or there is no screenshot.
        """
        self.count += 1
        number, began, asked = self.count, self._clock(), UsageTracker(self._model(page.url))
        picture = with_anchors(replace(page, picture=_masked_picture(page)), before, began)
        notes: list[str] = []
        answer = await self._answer(page, picture, focus, before, asked, notes)
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
            tokens=(asked.tokens_in, asked.tokens_out),
            seconds=self._clock() - began,
            notes=(*notes, *_dropped(answer)),
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
        number, began, asked = self.count, self._clock(), UsageTracker(self._model(page.url))
        question = _coverage_question(page, focus, self._fence)
        rules = self._rules("vision_coverage", MAX_COVERAGE_MARKS)
        reply = await _ask(asked, rules, question, page, _masked_picture(page), ANSWER_TOKENS)
        answer = read_answer(reply.text, reply.data)
        found = marks_of(answer.boxes, page, wanted=focus.labels, most=MAX_COVERAGE_MARKS)
        new = [mark for mark in found if not any(_same(mark, old) for old in frame.marks)]
        return replace(
            frame,
            number=number,
            page=replace(page, picture=b""),
            prints=fingerprints_of(page),
            at=began,
            marks=rank_marks([*frame.marks, *new], focus.labels, MAX_COVERAGE_MARKS),
            calls=tuple(asked.calls),
            tokens=(asked.tokens_in, asked.tokens_out),
            seconds=self._clock() - began,
            notes=_dropped(answer),
        )

    def needs_larger_model(self, url: str) -> bool:
        """Whether a page at this address goes to the larger model directly."""
        known = self._known is not None and self._known(url)
        return self._larger is not None and (known or _place(url) in self._complex)

    def _model(self, url: str) -> LanguageModel:
        return self._larger if self._larger is not None and self.needs_larger_model(url) else self._small

    async def _answer(
        self,
        page: PageCapture,
        picture: bytes,
        focus: VisionFocus,
        before: VisionFrame | None,
        asked: UsageTracker,
        notes: list[str],
    ) -> VisionAnswer:
        """Return the first complete answer; else the one with most boxes."""
        tries = [
            (asked.model, "vision", MAX_MARKS, ANSWER_TOKENS),
            (asked.model, "vision_compact", COMPACT_BOXES, COMPACT_ANSWER_TOKENS),
        ]
        if self._larger is not None and asked.model is not self._larger:
            tries.append((self._larger, "vision", MAX_MARKS, ANSWER_TOKENS))
        question = _question(page, focus, before, self._fence)
        partial: VisionAnswer | None = None
        for model, name, most, tokens in tries:
            asked.model = model
            reply = await _ask(asked, self._rules(name, most), question, page, picture, tokens)
            try:
                answer = read_answer(reply.text, reply.data)
            except UnreadableAnswer as error:
                notes.append(str(error))
                continue
            if not (answer.cut or reply.truncated):
                if model is self._larger:
                    self.read_by_larger[self.count] = page.url
                return answer
            notes.append(f"the vision model's answer was cut after {len(answer.boxes)} boxes")
            if partial is None or len(answer.boxes) > len(partial.boxes):
                partial = answer
            self._complex.add(_place(page.url))
        if partial is None:
            raise UnreadableAnswer("; ".join(notes))
        return partial

    def _rules(self, name: str, most: int) -> str:
        return self._fence.prompt(name, most=str(most))


async def _ask(
    asked: UsageTracker, rules: str, question: str, page: PageCapture, picture: bytes, most: int
) -> ModelReply:
    """Ask about a picture.  Raises ``ModelError`` where the model was not shown it: its answer would be made up."""
    digest = hashlib.sha256(picture).hexdigest()
    shown = MessagePart(kind=PartKind.IMAGE, digest=digest, url=redact_url(page.url))
    reply = await asked.ask(
        AgentRole.VISION,
        [system(rules), user(question, shown)],
        schema=SCHEMA,
        pictures={digest: picture},
        most=most,
    )
    if reply.pictures_dropped:
        name = f" ({reply.model})" if reply.model else ""
        raise ModelError(
            f"the model{name} takes no pictures, so it can't see the page",
            ModelErrorKind.NO_MODEL,
            "choose a model that does, or run without vision",
        )
    return reply


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
    part = overlap(rect, (0.0, 0.0, float(width), float(height)))
    if part is None:
        return None
    left, top, wide, high = part
    sides = ((top, height), (left, width), (top + high, height), (left + wide, width))
    ymin, xmin, ymax, xmax = (round(at * 1000 / whole) for at, whole in sides)
    return ymin, xmin, ymax, xmax


def _same(mark: VisionMark, other: VisionMark) -> bool:
    return overlap_ratio(mark.box, other.box) >= SAME_MARK_OVERLAP or (
        mark.element is not None and mark.element == other.element and mark.label == other.label
    )


def _dropped(answer: VisionAnswer) -> tuple[str, ...]:
    return (f"{answer.dropped} boxes could not be read",) if answer.dropped else ()


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"
