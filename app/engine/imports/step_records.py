"""Convert BrowserGym's step records to steps; every field may be missing or of the wrong type."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

from app.engine.core.actions.recorded import ActionTarget, ArgValue, RecordedAction, Scalar, signature
from app.engine.core.ax_tree import content_key, find_node
from app.engine.core.redaction import (
    MARK,
    redact_html,
    redact_text,
    redact_tree,
    redact_url,
    typed_secret,
    without_typed,
)
from app.engine.core.secret_inputs import SecretFocus
from app.engine.core.trajectory import ErrorClass, Step, Tab, add_blob
from app.engine.imports.notices import notices

Record = dict[str, Any]

_EMPTY: Record = {}
_ELEMENT = re.compile(r"<([A-Za-z][\w-]*)[^<>]*>([^<]*)")


_MIN_SECRET = 4
"""Length from which a typed password is searched for elsewhere; a shorter one occurs in other words, too."""


class StepReader:
    """Converts one run's records; the pages' contents gather in ``blobs`` by SHA-256."""

    def __init__(
        self,
        records: dict[int, Record],
        summaries: dict[int, str],
        answer_of: Callable[[Record], tuple[str, AgentOutput]] | None = None,
    ) -> None:
        self._records, self._summaries = records, summaries
        self._answer_of = answer_of or tagged_answer
        self._trees: dict[str, tuple[str, str, tuple[str, ...]]] = {}
        self._harmless: dict[str, bool] = {}
        self._last_html: tuple[str, str] = ("", "")
        self._typed: list[str] = []
        self._focus = SecretFocus()
        self.blobs: dict[str, bytes] = {}

    def executed(self, index: int, *, last: bool) -> Step:
        """Return step ``index`` with its action; the action's error is in the record after it.

        A missing record is replaced by what the next one says of it, so that indices stay positions.
        """
        record, after = self._records.get(index), self._records.get(index + 1)
        outcome = observation(after) if after is not None else _EMPTY
        if record is None:
            call = text(outcome.get("last_action"))
            step = Step(index=index, url="", title="", action=read_call(call), raw_output=redact_text(call))
            readable = True
        else:
            step, readable = self._acted(index, record, outcome if after is not None else None)
        if after is None and not last:
            return step
        error = text(outcome.get("last_action_error"))
        moved_on = (
            bool(error) and after is not None and record is not None and page(after)[0] != page(record)[0]
        )
        kind = error_class(error, readable=readable, moved_on=moved_on)
        return replace(
            step,
            error=self._without_typed(redact_text(error)),
            error_class=kind,
            executed=kind is not ErrorClass.HARNESS,
            env_seconds=seconds(after, "step_elapsed") if after is not None else 0.0,
        )

    def after(self, index: int) -> Step:
        """Return the page of a record whose answer never ran."""
        return replace(self._page(index, self._records[index]), executed=False)

    def _acted(self, index: int, record: Record, outcome: Record | None) -> tuple[Step, bool]:
        raw, output = self._answer_of(record)
        readable = output.closed and (
            outcome is None or "last_action" not in outcome or outcome["last_action"] is not None
        )
        action, reason = output.action, output.reason
        target = target_of(observation(record), action)
        secret = self._secret(observation(record), action, target)
        if action is not None and secret:
            action = without_typed(action, secret)
        for one in filter(None, (secret, *output.secrets)):
            raw, reason = raw.replace(one, MARK), reason.replace(one, MARK)
            if len(one) >= _MIN_SECRET:
                self._typed.append(one)
        raw, reason = self._without_typed(raw), self._without_typed(reason)
        page = self._page(index, record)
        return replace(
            page,
            reason=reason,
            raw_output=raw,
            action=action,
            target=target,
            agent_seconds=seconds(record, "agent_elapsed"),
        ), readable

    def _secret(self, seen: Record, action: RecordedAction | None, target: ActionTarget | None) -> str:
        if action is None:
            return ""
        tree, html = text(seen.get("axtree_txt")), text(seen.get("pruned_html"))
        name = target.name if target is not None else ""
        on_secret = self._focus.is_typed(action, name, tree, html)
        return typed_secret(action, target, on_secret_field=on_secret)

    def _without_typed(self, said: str) -> str:
        """Remove passwords typed so far: call logs and later reasoning repeat them."""
        for secret in self._typed:
            said = said.replace(secret, MARK)
        return said

    def _page(self, index: int, record: Record) -> Step:
        seen = observation(record)
        url, title, tabs, active = page(record)
        tree, state, announced = self._tree(text(seen.get("axtree_txt")))
        return Step(
            index=index,
            url=url,
            title=title,
            tabs=tabs,
            active_tab=active,
            tree=tree,
            html=self._html(text(seen.get("pruned_html")), thorough=not self._harmless.get(tree, False)),
            state=state,
            notices=announced,
            summary=redact_text(self._summaries.get(index, "")),
            started_at=_started(record),
        )

    def _tree(self, tree: str) -> tuple[str, str, tuple[str, ...]]:
        """Return digest, content key and notices of a tree; a repeated page is processed once."""
        if not tree:
            return "", "", ()
        known = self._trees.get(tree)
        if known is None:
            data = redact_tree(tree)
            clean, digest = data.decode(), add_blob(self.blobs, data)
            self._harmless[digest] = MARK not in clean
            known = (digest, content_key(clean), notices(clean))
            self._trees[tree] = known
        return known

    def _html(self, html: str, *, thorough: bool) -> str:
        if not html:
            return ""
        if self._last_html[0] != html:
            self._last_html = (html, add_blob(self.blobs, redact_html(html, thorough=thorough)))
        return self._last_html[1]


def observation(record: Record) -> Record:
    """Return a record's observation."""
    value = record.get("obs")
    return cast("Record", value) if isinstance(value, dict) else _EMPTY


def page(record: Record) -> tuple[str, str, tuple[Tab, ...], int]:
    """Return address and title of the active tab, all tabs, and the active one's index."""
    seen = observation(record)
    urls, titles = texts(seen.get("open_pages_urls")), texts(seen.get("open_pages_titles"))
    titles += [""] * (len(urls) - len(titles))
    tabs = tuple(
        Tab(url=redact_url(url), title=redact_text(title)) for url, title in zip(urls, titles, strict=False)
    )
    chosen: object = seen.get("active_page_index")
    if isinstance(chosen, list):
        chosen = next(iter(cast("list[object]", chosen)), None)
    active = integer(chosen, 0)
    if not 0 <= active < len(tabs):
        active = 0
    return (tabs[active].url, tabs[active].title, tabs, active) if tabs else ("", "", (), 0)


def messages(record: Record) -> list[tuple[str, str]]:
    """Return role and text of the chat's messages."""
    found: list[tuple[str, str]] = []
    said = observation(record).get("chat_messages")
    for message in cast("list[object]", said) if isinstance(said, list) else []:
        if isinstance(message, dict):
            fields = cast("Record", message)
            found.append((text(fields.get("role")), text(fields.get("message"))))
    return found


def with_picture(step: Step, digest: str) -> Step:
    """Return the step with its screenshot, where there is one."""
    return replace(step, screenshot=digest) if digest else step


def text(value: object) -> str:
    """Return a string, or "" for anything else."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """Return a list's items as strings, "" for those that are none."""
    return [text(item) for item in cast("list[object]", value)] if isinstance(value, list) else []


def integer(value: object, default: int) -> int:
    """Return a whole number of sensible size, or the default."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return default
    return int(value) if abs(value) < 2**31 else default


def number(value: object, default: float | None) -> float | None:
    """Return a finite number, or the default."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return default
    return float(value) if abs(value) < 1e300 else default


def seconds(record: Record, name: str) -> float:
    """Return one of a record's durations."""
    stats = record.get("stats")
    value = cast("Record", stats).get(name) if isinstance(stats, dict) else None
    return max(number(value, 0.0) or 0.0, 0.0)


def _started(record: Record) -> float:
    clock = record.get("profiling")
    times = cast("Record", clock) if isinstance(clock, dict) else _EMPTY
    return number(times.get("agent_start"), None) or number(times.get("env_start"), 0.0) or 0.0


def target_of(seen: Record, action: RecordedAction | None) -> ActionTarget | None:
    """Return the action's element as the tree names it; one that is only in the HTML (hidden) by its tag and text."""
    if action is None or not action.bid:
        return None
    node = find_node(text(seen.get("axtree_txt")), action.bid)
    if node is not None:
        return ActionTarget(role=node.role, name=node.name, bid=node.bid)
    html = text(seen.get("pruned_html"))
    at = html.find(f' bid="{action.bid}"')
    element = _ELEMENT.match(html, html.rfind("<", 0, at)) if at != -1 else None
    if element is None:
        return None
    return ActionTarget(role=element[1].lower(), name=" ".join(element[2].split())[:120], bid=action.bid)


EMPTY_ACTION = "Received an empty action"
"""BrowserGym's error when the agent's call could not be found."""

_CLICK_DONE = "performing click action"


@dataclass(frozen=True, slots=True)
class AgentOutput:
    """``call`` is the call's text, ``action`` the parsed call (or ``None``), ``closed`` whether its tag was.

    ``secrets`` are passwords that it types beside those of ``action``, which must no longer hold them.
    """

    reason: str
    call: str
    action: RecordedAction | None
    closed: bool
    secrets: tuple[str, ...] = ()


def tagged_answer(record: Record) -> tuple[str, AgentOutput]:
    """Return a record's answer in tags: its text, and what it says."""
    raw = redact_text(text(record.get("action")))
    return raw, read_output(raw)


def read_output(raw: str) -> AgentOutput:
    """Parse an agent's raw output; a call that lacks only its closing tag is read all the same."""
    thought, opened, rest = raw.partition("<action>")
    inside, closed, _ = rest.partition("</action>")
    _, thinking, after = thought.partition("<think>")
    reason = after.partition("</think>")[0] if thinking else thought
    call = _fenced(inside) if opened else ""
    return AgentOutput(
        reason=reason.strip(), call=call, action=read_call(call), closed=bool(opened and closed and call)
    )


def read_call(call: str) -> RecordedAction | None:
    """Return a call of Python literals as an action, ``None`` where it is none; reading it never runs it."""
    source = _fenced(call).strip().strip("`").strip()
    try:
        read = ast.parse(source, mode="eval").body
        if not isinstance(read, ast.Call) or not isinstance(read.func, ast.Name):
            return None
        names = signature(read.func.id)
        args: dict[str, ArgValue] = {}
        for position, node in enumerate(read.args):
            name = names[position] if position < len(names) else f"arg{position}"
            args[name] = _plain(ast.literal_eval(node))
        for keyword in read.keywords:
            if keyword.arg is None:
                return None
            args[keyword.arg] = _plain(ast.literal_eval(keyword.value))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return RecordedAction(kind=read.func.id, args=args)


def error_class(error: str, *, readable: bool, moved_on: bool) -> ErrorClass:
    """Classify an action's error.

    A click whose call log ends in performing it was done; the wait for the page timed out. A key press that timed out
    was done if the page's address changed (``moved_on``).
    """
    if EMPTY_ACTION in error or (not readable and not error):
        return ErrorClass.HARNESS
    if not error:
        return ErrorClass.NONE
    if error.startswith("TimeoutError"):
        _, performed, after = error.rpartition(_CLICK_DONE)
        if performed and "retrying" not in after and "intercepts" not in after:
            return ErrorClass.SOFT
        if "elementHandle.press(" in error and moved_on:
            return ErrorClass.SOFT
    return ErrorClass.HARD


def _plain(value: object) -> ArgValue:
    """Return an argument as JSON can hold it: scalars and lists of scalars; anything else as its text."""
    if isinstance(value, list | tuple):
        return [_scalar(item) for item in cast("list[object]", value)]
    return _scalar(value)


def _scalar(value: object) -> Scalar:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int) and abs(value) < 2**53:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return repr(value)


def _fenced(text: str) -> str:
    """Return the text between back quotes, else all of it."""
    first, last = text.find("```"), text.rfind("```")
    if first == -1:
        return text.strip()
    inner = text[first + 3 : last] if last > first else text[first + 3 :]
    return inner.strip().strip("`").strip()
