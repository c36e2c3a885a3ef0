"""Tokens a step on recorded runs replayed as live context: naive accumulation, the paper's eviction, ours.

    python -m benchmarks.eviction [--runs 8] [--system 2000] [--pictures]

Every step of a recorded run is observed, answered and given its result, as for an agent; the request at each step is
counted.  ``stable`` is the share of a prompt that is the same, byte for byte, as at the step before (equation 20):
the token-weighted mean over the run.  ``new`` are the tokens that no cache has, as a multiple of naive
accumulation's.  ``paper`` is SuperBrowser's eviction as published: windows that slide at every step, the ledger in
the system message.  By default the system message has as many tokens as the operator's own.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.engine.agent.eviction.live_context import (
    DEFAULT_BUDGET,
    DEFAULT_RETENTION,
    LiveContext,
)
from app.engine.agent.eviction.phases import condense, evict
from app.engine.agent.eviction.retention import CurrentPage, RetentionLimits, count, count_text
from app.engine.agent.llm.options import LlmOptions
from app.engine.agent.llm.prompting import prompt
from app.engine.agent.memory import entries
from app.engine.agent.memory.ledger_store import LedgerStore
from app.engine.agent.memory.rendering import WORKER_CAPS, render_ledger, worker_view
from app.engine.core.action_result import ActionResult, Cause, Effect
from app.engine.core.actions.action_sets import action_help
from app.engine.core.chat_messages import ChatMessage, ChatRole, MessagePart, PartKind
from app.engine.core.trajectory import ErrorClass, Step
from app.engine.imports.source_files import ReadRun
from tests.support.live_contexts import stable_prefix
from tests.support.runs import COLLECTION, TRAJECTORIES, read

AT = 20
"""The step at which the paper compares."""


@dataclass(slots=True)
class Way:
    """The requests that one strategy sent over a run."""

    tokens: list[int] = field(default_factory=list[int])
    stable: list[int] = field(default_factory=list[int])
    seconds: list[float] = field(default_factory=list[float])
    before: tuple[ChatMessage, ...] = ()

    def send(self, prompt: tuple[ChatMessage, ...], seconds: float) -> None:
        self.tokens.append(count(prompt))
        self.stable.append(stable_prefix(self.before, prompt))
        self.seconds.append(seconds)
        self.before = prompt

    @property
    def share(self) -> float:
        return sum(self.stable[1:]) / max(1, sum(self.tokens[1:]))

    @property
    def new(self) -> int:
        return sum(self.tokens) - sum(self.stable)


def _operators() -> int:
    """Tokens of the operator role's system message."""
    told = prompt("operator", marker="0" * 12, actions=action_help(LlmOptions().offered), most="5")
    return count_text(told)


def longest(most: int) -> list[str]:
    """Names of the longest runs of the collection."""
    sizes = [
        (len(list(folder.glob("steps_info_*.json"))), f"{suite}/{folder.name.removeprefix('task_')}")
        for suite in ("webarena", "webchorearena")
        for folder in (TRAJECTORIES / suite / "results").iterdir()
    ]
    return [name for _, name in sorted(sizes, reverse=True)[:most]]


def replay(run: ReadRun, system_tokens: int, pictures: bool) -> dict[str, Way]:
    """The run sent with three strategies."""
    system = ChatMessage(
        role=ChatRole.SYSTEM,
        parts=(MessagePart(kind=PartKind.TEXT, text="word " * (system_tokens * 4 // 5)),),
    )
    ways = {"naive": Way(), "paper": Way(), "ours": Way()}
    live = LiveContext((system,))
    naive: tuple[ChatMessage, ...] = ()
    paper: tuple[ChatMessage, ...] = ()
    book = LedgerStore()
    book.write(entries.goal(run.run.intent))
    for step, tree in looked(run):
        picture = f"picture {step.index}" if pictures else ""
        ledger = render_ledger(worker_view(book.ledger, url=step.url, state=step.state), WORKER_CAPS)
        tail = MessagePart(kind=PartKind.LEDGER, text=ledger)

        seen = _seen(step, tree, picture)
        naive = (*naive, seen)
        ways["naive"].send((system, *naive), 0.0)

        began = time.perf_counter()
        paper = evict(
            (*paper, seen), now=CurrentPage(url=step.url, title=step.title), keep=RetentionLimits()
        ).messages
        front = ChatMessage(role=ChatRole.SYSTEM, parts=(*system.parts, tail))
        sent = (front, *condense(paper))
        ways["paper"].send(sent, time.perf_counter() - began)

        began = time.perf_counter()
        live.add_observation(
            step.index, tree, state=_state(step), url=step.url, title=step.title, picture=picture
        )
        sent = live.prompt(tail)
        ways["ours"].send(sent, time.perf_counter() - began)

        answer = _answer(step)
        naive, paper = (*naive, *answer), (*paper, *answer)
        live.add_answer(step.index, step.words, thinking=step.reason, call=f"call{step.index}")
        result = answer[1].parts[0]
        live.add_result(
            step.index, result.text, call=result.call, failed=result.failed, cause=result.cause, url=step.url
        )
        book.write(entries.outcome(step.index, step.words, _result(step), url=step.url, state=step.state))
    return ways


def looked(run: ReadRun) -> Iterator[tuple[Step, str]]:
    """Steps with their trees."""
    for step in run.steps:
        yield step, run.blobs[step.tree].decode() if step.tree else ""


def _state(step: Step) -> str:
    return f"Address: {step.url}\nTitle: {step.title}\nTabs: {len(step.tabs)}"


def _seen(step: Step, tree: str, picture: str) -> ChatMessage:
    parts = [
        MessagePart(kind=PartKind.STATE, text=_state(step), url=step.url, title=step.title),
        *([MessagePart(kind=PartKind.IMAGE, digest=picture)] if picture else []),
        MessagePart(kind=PartKind.ELEMENTS, text=tree, digest=step.tree),
    ]
    return ChatMessage(role=ChatRole.USER, parts=tuple(parts), turn=step.index)


def _answer(step: Step) -> tuple[ChatMessage, ChatMessage]:
    call = f"call{step.index}"
    result = _result(step)
    came = MessagePart(
        kind=PartKind.TOOL_RESULT,
        call=call,
        text=f"{result.effect}. {result.why}",
        failed=not result.success,
        cause=result.cause,
        url=step.url,
    )
    said = (
        MessagePart(kind=PartKind.THINKING, text=step.reason),
        MessagePart(kind=PartKind.TOOL_CALL, call=call, text=step.words),
    )
    return (
        ChatMessage(role=ChatRole.ASSISTANT, parts=said, turn=step.index),
        ChatMessage(role=ChatRole.TOOL, parts=(came,), turn=step.index),
    )


def _result(step: Step) -> ActionResult:
    failed = step.error_class is not ErrorClass.NONE
    return ActionResult(
        success=not failed,
        effect=Effect.REFUSED if failed else Effect.CHANGED,
        cause=Cause.TIMEOUT if failed else Cause.NONE,
        why=step.error,
    )


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=8, help="how many of the longest runs")
    parser.add_argument("--system", type=int, default=_operators(), help="tokens of the system message")
    parser.add_argument("--pictures", action="store_true", help="with a screenshot at every step")
    given = parser.parse_args()
    if not COLLECTION.is_dir():
        print("the run collection is not beside the checkout")
        return
    print(
        f"windows move every {DEFAULT_RETENTION.stride} turns or beyond {DEFAULT_BUDGET} tokens;"
        f" system message {given.system} tokens"
    )
    print(
        "run                  steps  list |  at  naive  paper   ours  saved  worst |  most | stable paper  ours |"
        " new  paper  ours | ms"
    )
    totals = {name: Way() for name in ("naive", "paper", "ours")}
    for name in longest(given.runs):
        run = read(name)
        ways = replay(run, given.system, given.pictures)
        for way, total in totals.items():
            total.tokens += [0, *ways[way].tokens[1:]]
            total.stable += [0, *ways[way].stable[1:]]
            total.seconds += ways[way].seconds
        _print(name, run.steps, run, ways)
    print(
        f"all: stable {totals['paper'].share:.1%} the paper's way, {totals['ours'].share:.1%} ours;"
        f" new to a cache {totals['paper'].new / totals['naive'].new:.2f} and"
        f" {totals['ours'].new / totals['naive'].new:.2f} times naive accumulation's;"
        f" {1000 * statistics.median(totals['ours'].seconds):.1f} ms a step (median),"
        f" {1000 * max(totals['ours'].seconds):.0f} ms at most"
    )


def _print(name: str, steps: Sequence[Step], run: ReadRun, ways: dict[str, Way]) -> None:
    naive, paper, ours = (ways[way] for way in ("naive", "paper", "ours"))
    at = min(AT, len(steps)) - 1
    size = statistics.mean(count_text(tree) for _, tree in looked(run))
    worst = min(1 - ours.tokens[step] / naive.tokens[step] for step in range(at, len(steps)))
    print(
        f"{name:20} {len(steps):5} {size:5.0f} | {at + 1:3} {naive.tokens[at]:6} {paper.tokens[at]:6}"
        f" {ours.tokens[at]:6} {1 - ours.tokens[at] / naive.tokens[at]:6.1%} {worst:6.1%} | {max(ours.tokens):5} |"
        f" {paper.share:12.1%} {ours.share:5.1%} | {paper.new / naive.new:9.2f} {ours.new / naive.new:5.2f} |"
        f" {1000 * statistics.median(ours.seconds):.1f}"
    )


if __name__ == "__main__":
    main()
