"""Steps of an ATIF trajectory: one for each tool call, with the page that the results so far have shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.ax_tree import find_node
from app.engine.core.cost import Cost
from app.engine.core.redaction import redact_text, redact_url
from app.engine.core.trajectory import ErrorClass, Step
from app.engine.imports.aria_snapshot import tree_of_snapshot
from app.engine.imports.json_values import fields_of, items_of
from app.engine.imports.page_contents import ForeignContents, as_json, secrets_in_call
from app.engine.imports.picture_files import PictureFiles
from app.engine.imports.shown_page import ShownPage, page_after
from app.engine.imports.step_records import integer, number, text
from app.engine.imports.tool_calls import LOOKING, base_name, read_tool_call
from app.engine.imports.tool_results import ToolResult, read_tool_result

MAX_STEPS = 5000
MAX_OUTPUT = 2000
"""Characters kept of a result that shows no page."""
MAX_WORDS = 20_000
MAX_DEPTH = 4
"""Sub-agents within sub-agents."""

_ADDRESS = re.compile(r"^(?:current |page )?url: *(\S+) *$", re.MULTILINE | re.IGNORECASE)
_TITLE = re.compile(r"^(?:page|title|page title): *(.+?) *$", re.MULTILINE | re.IGNORECASE)
_ERROR = re.compile(r"\s*(?:error|exception|failed)\b[:\s]", re.IGNORECASE)


@dataclass(slots=True)
class TrajectorySteps:
    """The steps of one trajectory, and what was said beside them.

    ``said`` are the user's messages, ``answer`` the last message of the agent that calls no tool. ``counts`` counts
    what is no step, by the sentence that says so.
    """

    contents: ForeignContents
    files: PictureFiles
    steps: list[Step] = field(default_factory=list[Step])
    said: list[str] = field(default_factory=list[str])
    answer: str = ""
    first_at: float = 0.0
    counts: dict[str, int] = field(default_factory=dict[str, int])
    _page: ShownPage = field(default_factory=ShownPage)
    _thought: list[str] = field(default_factory=list[str])

    def read(self, document: dict[str, Any], depth: int = 0, name: str = "") -> None:
        """Add the steps of a trajectory document; those of embedded sub-agents follow the call that started them."""
        inner = {
            text(fields_of(one).get("trajectory_id")): fields_of(one)
            for one in items_of(document.get("subagent_trajectories"))
        }
        for one in items_of(document.get("steps")):
            self._read_step(fields_of(one), inner, depth, name)

    def final(self) -> Step | None:
        """The page after the last action, where its result showed one."""
        if not self._page.is_known:
            return None
        return replace(self._page_step(len(self.steps), 0.0), executed=False)

    def _read_step(
        self, one: dict[str, Any], inner: dict[str, dict[str, Any]], depth: int, name: str
    ) -> None:
        at = _seconds(one.get("timestamp"))
        self.first_at = self.first_at or at
        if one.get("is_copied_context") is True:
            self._count("steps copied from an earlier trajectory are left out")
            return
        message = self._words(one.get("message"))
        if one.get("source") == "user" and depth == 0:
            self.said.append(message)
        if one.get("source") != "agent":
            self._show(self._result(one.get("message")), "", {}, failed=False)
            self._take_results(one, inner, depth)
            return
        reason = "\n".join(filter(None, (text(one.get("reasoning_content")).strip(), message)))
        calls = [fields_of(call) for call in items_of(one.get("tool_calls"))]
        if not calls:
            self._thought.append(reason)
            if depth == 0 and message:
                self.answer = message
            self._take_results(one, inner, depth)
            return
        self.answer = "" if depth == 0 else self.answer
        reason = "\n\n".join(filter(None, (*self._thought, reason)))
        self._thought.clear()
        for position, call in enumerate(calls):
            if len(self.steps) >= MAX_STEPS:
                self._count("steps beyond the first 5,000 are left out")
                return
            results = list(_results_of(one, call, last=position == len(calls) - 1))
            self._act(call, results, at, reason if not position else "", one if not position else {}, name)
            for result in results:
                self._take_subagents(result, inner, depth)

    def _act(
        self,
        call: dict[str, Any],
        results: list[dict[str, Any]],
        at: float,
        reason: str,
        one: dict[str, Any],
        name: str,
    ) -> None:
        args = fields_of(call.get("arguments"))
        tool = text(call.get("function_name")) or "unknown"
        action, target = read_tool_call(tool, args)
        self.contents.remember(*secrets_in_call(args))
        found = [self._result(result.get("content")) for result in results]
        errors = [_error_of(*one) for one in zip(results, found, strict=True)]
        error = next((one for one in errors if one), "")
        if base_name(tool) in LOOKING:
            for result in found:
                self._show(result, tool, args, failed=bool(error))
        about = fields_of(fields_of(call.get("extra")).get("sitelore"))
        if about:
            target = _own_target(about, action) or target
        metrics = fields_of(one.get("metrics"))
        money = number(metrics.get("cost_usd"), None)
        output = "\n".join(result.text for result in found if not result.shows_page).strip()
        step = replace(
            self._page_step(len(self.steps), at),
            reason=redact_text(reason[:MAX_WORDS]),
            raw_output=redact_text(as_json({"tool": tool, "arguments": args})[:MAX_WORDS]),
            summary=f"sub-agent {name}" if name else "",
            error=redact_text(error[:MAX_WORDS]),
            error_class=_class_of(error, about),
            output="" if error else redact_text(output[:MAX_OUTPUT]),
            tokens=(
                max(integer(metrics.get("prompt_tokens"), 0), 0),
                max(integer(metrics.get("completion_tokens"), 0), 0),
            ),
            cost=Cost(known=money) if money is not None and money >= 0 else None,
            by=text(about.get("by")),
        )
        self.steps.append(self.contents.acted(step, action, target or self._target(action)))
        for result in found:
            self._show(result, action.kind, args, failed=bool(error))
        if not found:
            self._show(ToolResult(), action.kind, args, failed=False)

    def _page_step(self, index: int, at: float) -> Step:
        page = self._page
        step = Step(
            index=index,
            url=redact_url(page.url),
            title=redact_text(page.title),
            html=self.contents.html(page.html),
            screenshot=page.stored,
            started_at=at,
        )
        return self.contents.with_tree(step, page.tree)

    def _target(self, action: RecordedAction) -> ActionTarget | None:
        node = find_node(self._page.tree, action.bid) if action.bid and self._page.tree else None
        return ActionTarget(role=node.role, name=redact_text(node.name), bid=node.bid) if node else None

    def _result(self, content: object) -> ToolResult:
        result = read_tool_result(content)
        words = "\n".join(self._texts(content))
        if not result.url and (found := _ADDRESS.search(words)):
            result.url = found[1]
            title = _TITLE.search(words)
            result.title = result.title or (title[1] if title else "")
            result.tree = result.tree or tree_of_snapshot(words, result.title)
        return result

    def _show(self, result: ToolResult, kind: str, args: dict[str, Any], *, failed: bool) -> None:
        """Take the page that a result shows; without one, an action may have left the page that is known."""
        stored = self._pictures.pop() if self._pictures else ""
        self._pictures.clear()
        if result.picture:
            stored = self.contents.picture(result.picture) or stored
        unchanged = failed or not kind or base_name(kind) in LOOKING
        if result.shows_page or stored or not unchanged:
            self._page = page_after(self._page, result, kind, args, failed=False, stored=stored)

    def _words(self, content: object) -> str:
        return "\n".join(filter(None, (one.strip() for one in self._texts(content))))

    def _texts(self, content: object) -> Iterator[str]:
        """Yield the texts of a message or result; its pictures are read on the way."""
        if isinstance(content, str):
            yield content
        for item in items_of(content):
            part = fields_of(item)
            if part.get("type") == "image":
                source = fields_of(part.get("source"))
                path = text(source.get("path")) or text(source.get("data"))
                inline = path.startswith("data:") or not text(source.get("path"))
                digest = self.contents.encoded_picture(path) if inline else self.files.named(path)
                self._pictures.extend(filter(None, [digest]))
            elif isinstance(part.get("text"), str):
                yield text(part["text"])
            elif part.get("type") == "audio":
                self._count("recordings of sound are left out")

    def _take_results(self, one: dict[str, Any], inner: dict[str, dict[str, Any]], depth: int) -> None:
        for result in items_of(fields_of(one.get("observation")).get("results")):
            self._show(self._result(fields_of(result).get("content")), "", {}, failed=False)
            self._take_subagents(fields_of(result), inner, depth)

    def _take_subagents(self, result: dict[str, Any], inner: dict[str, dict[str, Any]], depth: int) -> None:
        for ref in items_of(result.get("subagent_trajectory_ref")):
            found = inner.pop(text(fields_of(ref).get("trajectory_id")), None)
            if found is None or depth >= MAX_DEPTH:
                self._count("sub-agents in files of their own are not read")
                continue
            name = text(fields_of(found.get("agent")).get("name")) or "without a name"
            self.read(found, depth + 1, redact_text(name[:100]))

    def _count(self, sentence: str) -> None:
        self.counts[sentence] = self.counts.get(sentence, 0) + 1

    _pictures: list[str] = field(default_factory=list[str])


def _results_of(one: dict[str, Any], call: dict[str, Any], *, last: bool) -> Iterator[dict[str, Any]]:
    """Yield the results of a call; those that name none belong to the last one."""
    for item in items_of(fields_of(one.get("observation")).get("results")):
        result = fields_of(item)
        named = result.get("source_call_id")
        if (named is None and last) or (named is not None and named == call.get("tool_call_id")):
            yield result


def _error_of(result: dict[str, Any], found: ToolResult) -> str:
    extra = fields_of(result.get("extra"))
    failed = any(extra.get(name) is True for name in ("is_error", "isError", "error"))
    if found.error or failed:
        return found.error or found.text.strip() or text(extra.get("error")) or "the tool reported an error"
    return found.text.strip() if not found.shows_page and _ERROR.match(found.text) else ""


def _class_of(error: str, about: dict[str, Any]) -> ErrorClass:
    said = about.get("error_class")
    if error and said in (ErrorClass.SOFT, ErrorClass.HARNESS):
        return ErrorClass(said)
    return ErrorClass.HARD if error else ErrorClass.NONE


def _own_target(about: dict[str, Any], action: RecordedAction) -> ActionTarget | None:
    """Return the target that an export of Sitelore names."""
    role, name = (redact_text(text(about.get(f"target_{part}"))) for part in ("role", "name"))
    return ActionTarget(role=role, name=name, bid=action.bid or "") if role or name else None


def _seconds(timestamp: object) -> float:
    try:
        return datetime.fromisoformat(text(timestamp).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return 0.0
