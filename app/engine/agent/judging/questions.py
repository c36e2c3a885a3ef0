"""Questions to a model about a run: the record, without its score, with pictures where there are any.

Everything that a site or the agent wrote is fenced.  The prompt never has the score, nor that a run ended
because it
was scored: a judge that knows the result judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.engine.agent.llm.prompting import Fence, system, truncate, user
from app.engine.api.engine_api import StepView
from app.engine.core.ax_tree import AxTreeLine
from app.engine.core.chat_messages import ChatMessage, MessagePart, PartKind
from app.engine.core.trajectory import ErrorClass, Run, Step
from app.engine.detectors.base import FINAL_ACTIONS, OFF_PAGE_ACTIONS
from app.engine.detectors.runner import ending_of, without_action

MAX_CHANGES = 6_000
"""Maximum characters of the changes on a page; half where pictures show them too."""
MAX_PAGE = 8_000
"""Maximum characters of the last page."""
MAX_TRACE = 14_000
MAX_WORDS = 300
_LAST_PICTURES = 2


def can_be_judged(step: Step) -> bool:
    """Whether a step can be judged: an action on the page that was done.

    The error of one that was not done says enough.
    """
    kind = step.action.kind if step.action is not None else ""
    done = step.executed and step.error_class in (ErrorClass.NONE, ErrorClass.SOFT)
    return bool(kind) and done and kind not in OFF_PAGE_ACTIONS | FINAL_ACTIONS


def step_question(
    run: Run, step: Step, view: StepView, pictures: Mapping[str, bytes], fence: Fence
) -> list[ChatMessage]:
    """Ask whether this action did what it was for; ``view`` has the pages before and after with their differences."""
    parts = [
        _picture(page.screenshot, name)
        for page, name in ((view.before, "before"), (view.after, "after"))
        if page.screenshot in pictures
    ]
    told = "\n".join(
        (
            f"The action (step {step.index}): {_line(step.words, fence)}",
            f"What the agent wants with it: {_line(step.reason, fence, 1200) or 'it does not say'}",
            *([f"The browser said: {_line(step.error, fence)}"] if step.error else []),
            f"The page before: {_line(step.title, fence)} {_line(view.before.url or step.url, fence)}",
            f"The page after: {_line(view.after.title or '', fence)} {_line(view.after.url, fence)}",
        )
    )
    task = f"The task: {_line(run.intent, fence, 1500)}"
    most = MAX_CHANGES // 2 if len(parts) == 2 else MAX_CHANGES
    changes = fence.around("what changed", truncate(_changes(view), most, "the changes"))
    return [
        system(fence.prompt("judge_step")),
        user(task, fence.around("the action", told), *parts, changes),
    ]


def outcome_question(
    run: Run, steps: Sequence[Step], last_page: str, pictures: Mapping[str, bytes], fence: Fence
) -> list[ChatMessage]:
    """Ask whether the goal was met; ``last_page`` is the text of the page that the run ended on."""
    final = without_action(run.final) if run.final is not None else None
    pages = [*steps, *([final] if final is not None else [])][-_LAST_PICTURES:]
    where = final or (steps[-1] if steps else None)
    parts = [_picture(page.screenshot, f"step {page.index}") for page in pages if page.screenshot in pictures]
    return [
        system(fence.prompt("judge_outcome")),
        user(
            f"The task: {_line(run.intent, fence, 3000)}",
            fence.around("the record", _trace(steps)),
            fence.around("how it ended", _ending(run)),
            *parts,
            fence.around("the page it ended on", f"{_line(where.title, fence)} {_line(where.url, fence)}")
            if where
            else "",
            fence.around("the last page", truncate(last_page, MAX_PAGE, "the page") or "not recorded"),
        ),
    ]


def judged_pictures(run: Run, steps: Sequence[Step]) -> list[str]:
    """Return digests of the pictures that ``outcome_question`` can show."""
    pages = [*steps, *([run.final] if run.final is not None else [])][-_LAST_PICTURES:]
    return [page.screenshot for page in pages if page.screenshot]


def _trace(steps: Sequence[Step]) -> str:
    """Describe every step on a line or two; in a long run the middle is shortened."""
    lines = [_step_lines(step) for step in steps]
    if sum(map(len, lines)) > MAX_TRACE:
        kept = MAX_TRACE // (2 * (MAX_WORDS + 200))
        lines = [
            line if at < kept or at >= len(lines) - kept else f"{steps[at].index}. {steps[at].words[:160]}"
            for at, line in enumerate(lines)
        ]
    return truncate("\n".join(lines), 2 * MAX_TRACE, "the record") or "no step was taken"


def _step_lines(step: Step) -> str:
    told = f"{step.index}. {step.words[:MAX_WORDS]}  (on {step.url[:160]})"
    if step.reason:
        told += f"\n   because: {' '.join(step.reason.split())[:MAX_WORDS]}"
    if step.error:
        told += f"\n   error: {' '.join(step.error.split())[:160]}"
    if step.output:
        told += f"\n   gave: {' '.join(step.output.split())[:160]}"
    return told


def _ending(run: Run) -> str:
    ending = ending_of(run)
    if ending is None:
        return "The record ends here; the agent had said nothing yet."
    if ending.crash:
        return f"The run broke off: {ending.crash[:400]}"
    if ending.at_step_limit:
        return "The run reached its limit of steps; the agent had said nothing yet."
    if ending.left_sites:
        return "The run ended because the agent left the sites it was allowed on."
    if ending.infeasible is not None:
        return f"The agent said that it can't be done: {ending.infeasible[:2000]}"
    return f"The agent said it is done. Its answer: {(ending.answer or '(nothing)')[:4000]}"


def _changes(view: StepView) -> str:
    """Return the changed lines of both pages; all of the second page, where another page came."""
    if view.after.missing and not view.after.lines:
        return f"({view.after.missing})"
    if not view.before.lines and not view.after.lines:
        return "(no text of these pages was recorded)"
    if view.before.url.partition("#")[0] != view.after.url.partition("#")[0]:
        return "Another page came:\n" + "\n".join(_node(line) for line in view.after.lines)
    gone = [f"- {_node(line)}" for line in view.before.lines if line.change in ("removed", "changed")]
    come = [f"+ {_node(line)}" for line in view.after.lines if line.change in ("added", "changed")]
    return "\n".join((*come, *gone)) or "(nothing in the page's text changed)"


def _node(line: AxTreeLine) -> str:
    properties = f", {line.properties}" if line.properties else ""
    return f"{line.role} {line.name!r}{properties}"[:400]


def _picture(digest: str, name: str) -> MessagePart:
    return MessagePart(kind=PartKind.IMAGE, text=f"The page, {name}:", digest=digest)


def _line(text: str, fence: Fence, longest: int = MAX_WORDS) -> str:
    return fence.line(text, longest)
