"""Records a run: a script's moves made by a real browser, step by step, in the form of imported runs."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from app.engine.browser.executor import Executor
from app.engine.browser.graph_operations import graph_executor
from app.engine.browser.page_loading import open_page
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import Effect
from app.engine.core.actions.recorded import (
    ActionTarget,
    ArgValue,
    RecordedAction,
    format_recorded,
    from_recorded,
)
from app.engine.core.ax_tree import content_key, parse_tree
from app.engine.core.page_state import PageCapture, Rect
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step, Tab, add_blob
from app.engine.imports.notices import notices
from app.engine.imports.step_records import error_class

CLOSING = {"send_msg_to_user": Outcome.ANSWERED, "report_infeasible": Outcome.INFEASIBLE}


class ScriptError(Exception):
    """A script needs an element that the page does not have: script and site no longer match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One turn of a scripted policy.

    Attributes:
        reason: the policy's stated thought.
        role, name, nth: the element, looked up in the current tree; no role for an action without one.
        unreadable: an output that holds no action; then nothing else of the move counts.
    """

    reason: str = ""
    kind: str = "click"
    role: str = ""
    name: str = ""
    nth: int = 0
    args: dict[str, ArgValue] = field(default_factory=dict[str, ArgValue])
    unreadable: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A task and the moves made at it.

    ``before`` is done first and not recorded (signing in).  Moves beyond ``step_limit`` are never made, and the run
    ends as soon as the page in front is on a host that is not in ``hosts`` (``host:port``).
    """

    run: str
    task: str
    site: str
    intent: str
    start_url: str
    hosts: frozenset[str]
    moves: tuple[Move, ...]
    step_limit: int
    before: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedLook:
    """One capture of the front tab, with what a step stores besides: every open tab, and the page as HTML."""

    page: PageCapture
    tabs: tuple[Tab, ...]
    active_tab: int
    html: str

    def box_of(self, bid: str) -> Rect | None:
        """An element's box in the picture's pixels; ``None`` if it has none or lies outside."""
        found = self.page.elements[int(bid)].rect if bid.isdecimal() else None
        if found is None:
            return None
        width, height = self.page.viewport
        left, right = max(0.0, found[0]), min(float(width), found[0] + found[2])
        top, bottom = max(0.0, found[1]), min(float(height), found[1] + found[3])
        if right - left < 1 or bottom - top < 1:
            return None
        return (round(left, 1), round(top, 1), round(right - left, 1), round(bottom - top, 1))


async def look(executor: Executor, *, picture: bool = True) -> RecordedLook:
    """Capture the front tab.

    Raises:
        PageGone: there is nothing to capture.
    """
    page = await executor.capture(picture=picture)
    tabs, active = await executor.tabs()
    return RecordedLook(page, tabs, active, await executor.session.page.content())


async def _do(executor: Executor, action: RecordedAction) -> str:
    """Do an action that touches the page; return why it was not done, else ""."""
    if action.kind in CLOSING:
        return ""
    typed = from_recorded(action)
    if typed is None:
        raise ScriptError(f"{action.kind} is not an action on a page")
    result = await executor.do(typed)
    return result.why if result.effect is Effect.REFUSED else ""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run, its steps, and their blobs by SHA-256."""

    run: Run
    steps: tuple[Step, ...]
    blobs: dict[str, bytes]


Check = Callable[[str | None], float]
"""Scores an answer (``None`` for none) in [0, 1]; it may check the site's state as well."""


async def record_run(
    session: BrowserSession,
    script: Script,
    check: Check,
    *,
    source: str,
    suite: str,
    note: str,
) -> RecordedRun:
    """Make the script's moves and record them.

    Raises:
        ScriptError: an element of a move is not on the page.
    """
    blobs: dict[str, bytes] = {}
    executor = graph_executor(session)
    await open_page(session, script.start_url)
    for move in script.before:
        seen = await look(executor, picture=False)
        await _do(executor, _action(move, _target(move, seen)))
    started = time.time()
    steps, outcome, answer = await _play(executor, script, blobs)
    final = replace(_page(len(steps), await look(executor), blobs), executed=False)
    run = Run(
        id=script.run,
        source=source,
        suite=suite,
        task_id=script.task,
        site=script.site,
        sites=(script.site,),
        intent=script.intent,
        start_url=script.start_url,
        score=check(answer) if outcome is Outcome.ANSWERED else 0.0,
        outcome=outcome,
        answer=answer,
        step_limit=script.step_limit,
        step_count=len(steps),
        final=final,
        started_at=started,
        content_hash=_digest(script, steps),
        notes=(note,),
    )
    return RecordedRun(run, tuple(steps), blobs)


async def _play(
    executor: Executor, script: Script, blobs: dict[str, bytes]
) -> tuple[list[Step], Outcome, str | None]:
    """Return the steps, how the run ended, and the answer."""
    steps: list[Step] = []
    for move in script.moves[: script.step_limit]:
        step = await _step(executor, move, len(steps), blobs)
        steps.append(step)
        if step.action is not None and step.action.kind in CLOSING:
            said = next(iter(step.action.args.values()), "")
            return steps, CLOSING[step.action.kind], str(said)
        if urlsplit(executor.session.page.url).netloc not in script.hosts:
            return steps, Outcome.LEFT_ALLOWED_SITES, None
    if len(steps) < script.step_limit:
        raise ScriptError(f"{script.run}: the moves end at step {len(steps)} without an answer")
    return steps, Outcome.STEP_LIMIT, None


async def _step(executor: Executor, move: Move, index: int, blobs: dict[str, bytes]) -> Step:
    """Capture, choose, act."""
    seen = await look(executor)
    step = _page(index, seen, blobs)
    if move.unreadable:
        return replace(
            step, raw_output=move.unreadable, executed=False, error_class=ErrorClass.HARNESS, error=_EMPTY
        )
    target = _target(move, seen)
    action = _action(move, target)
    box = seen.box_of(target.bid) if target is not None else None
    began = time.monotonic()
    error = await _do(executor, action)
    return replace(
        step,
        reason=move.reason,
        raw_output=f"<think>\n{move.reason}\n</think>\n<action>\n```{format_recorded(action)}```\n</action>",
        action=action,
        target=target,
        target_box=box,
        error=error,
        error_class=error_class(error, readable=True, moved_on=executor.session.page.url != seen.page.url),
        env_seconds=round(time.monotonic() - began, 3),
    )


_EMPTY = "ValueError: Received an empty action."


def _page(index: int, seen: RecordedLook, blobs: dict[str, bytes]) -> Step:
    """A step that holds only a capture."""
    page = seen.page
    return Step(
        index=index,
        url=page.url,
        title=page.title,
        tabs=seen.tabs,
        active_tab=seen.active_tab,
        tree=add_blob(blobs, page.tree.encode()),
        html=add_blob(blobs, seen.html.encode()),
        screenshot=add_blob(blobs, page.picture),
        state=content_key(page.tree),
        notices=notices(page.tree),
        started_at=time.time(),
    )


def _target(move: Move, seen: RecordedLook) -> ActionTarget | None:
    if not move.role:
        return None
    found = [node for node in parse_tree(seen.page.tree) if (node.role, node.name) == (move.role, move.name)]
    if len(found) <= move.nth:
        raise ScriptError(f"no {move.role} {move.name!r} on {seen.page.url}")
    node = found[move.nth]
    return ActionTarget(role=node.role, name=node.name, bid=node.bid)


def _action(move: Move, target: ActionTarget | None) -> RecordedAction:
    return RecordedAction(kind=move.kind, args={**({"bid": target.bid} if target else {}), **move.args})


def _digest(script: Script, steps: Sequence[Step]) -> str:
    """Hash of the recorded content, without times."""
    told = [script.run, script.intent, *(f"{step.state} {step.words}" for step in steps)]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()
