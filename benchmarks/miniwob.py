"""MiniWoB++ by the scout alone: every task, five seeds, no model and no task-specific knowledge.

    python -m benchmarks.miniwob [--seeds 5] [--tasks a,b] [--baseline] [--steps 30] [--tabs 2] [--why]
    python -m benchmarks.miniwob suite OUT.json [--seeds 3]      a suite of the pages (benchmarks.miniwob_suite)

``--baseline`` also plays a script that clicks quoted labels, types quoted text and presses Submit; the ratio of the
two is printed.  An episode counts if the page itself gives a reward above 0.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from app.engine.agent.scout.policy import ScoutPolicy
from app.engine.browser.executor import Executor
from app.engine.browser.session import BrowserSession, open_browser, open_session
from app.engine.core.action_result import ActionResult, Effect
from app.engine.core.actions.types import Action, Click, ReportInfeasible, Select, Stop, TypeText, Wait
from app.engine.core.observation import HistoryEntry, Observation
from app.engine.core.page_state import PageCapture
from app.errors import SiteloreError
from benchmarks import miniwob_suite
from tests.support.miniwob import Episode, MiniWob, episode, miniwob

LONGEST = 60.0
"""Maximum seconds of an episode."""
VIEWPORT = (500, 400)


@dataclass
class Played:
    """The result of one episode."""

    task: str
    seed: int
    won: bool
    steps: int
    intent: str = ""
    lines: list[str] = field(default_factory=list[str])
    thinking: list[float] = field(default_factory=list[float])


async def _do(hand: Executor, action: Action) -> ActionResult:
    if isinstance(action, Wait):
        await asyncio.sleep(min(action.seconds, 10.0))
        return ActionResult(success=True, effect=Effect.NOTHING)
    return await hand.do(action)


async def _fade(at: Episode) -> None:
    """Wait for pages that give their reward after a closing animation."""
    for _ in range(10):
        if await at.done():
            return
        await asyncio.sleep(0.1)


async def scout(tab: BrowserSession, at: Episode, most: int, played: Played) -> None:
    """Let the scout play until the page gives its reward or the scout stops."""
    hand, policy = Executor(tab), ScoutPolicy()
    turns: list[HistoryEntry] = []
    for step in range(most):
        page = await hand.look(picture=True)
        sight = Observation(
            step=step,
            steps_left=most - step,
            intent=at.utterance,
            start_url=page.url,
            page=page,
            history=tuple(turns),
        )
        began = time.perf_counter()
        decision = await policy.decide(sight)
        played.thinking.append(time.perf_counter() - began)
        command = decision.action
        played.lines.append(f"{decision.reason}  ->  {command}")
        if command is None or isinstance(command, Stop | ReportInfeasible):
            return
        result = await _do(hand, command)
        played.lines[-1] += f"  =>  {result.effect} {result.why}"
        played.steps += 1
        turns.append(
            HistoryEntry(
                step=step, url=page.url, title=page.title, state="", action=command, result=result, words=""
            )
        )
        if await at.done():
            return


async def script(tab: BrowserSession, at: Episode, most: int, played: Played) -> None:
    """The plain script: type quoted text, choose and click quoted labels, press Submit."""
    hand = Executor(tab)
    quoted = re.findall(r'"([^"]+)"', at.utterance)
    page = await hand.look(picture=False)
    fields = [e for e in page.elements if e.visible and e.role in ("textbox", "spinbutton", "searchbox")]
    typed: set[str] = set()
    for text, field_ in zip(quoted, fields, strict=False):
        await hand.do(TypeText(field_.index, text))
        typed.add(text)
    names = [name for name in quoted if name not in typed] or _listed(at.utterance)
    for name in [*names, "Submit", "OK", "Login", "Search"]:
        if await at.done():
            return
        page = await hand.look(picture=False)
        command = _named(page, name)
        if command is not None:
            await hand.do(command)
            played.steps += 1


def _listed(utterance: str) -> list[str]:
    """``Select A, B and click``, ``Click button A``: the plain script parses these too."""
    found = re.search(
        r"(?:Select|Choose|Click(?: on)?)\s+(?:the |button )?(.+?)(?:\s+(?:from|and|with|as|button)\b|\.|$)",
        utterance,
    )
    return [name.strip() for name in found[1].split(",")] if found else []


def _named(page: PageCapture, name: str) -> Action | None:
    wanted = name.strip(" .").casefold()
    for element in page.elements:
        if not element.visible:
            continue
        if any(option.casefold() == wanted for option in element.options):
            return Select(element.index, (name.strip(" ."),))
        if wanted in {text.strip(" .").casefold() for text in (element.name, element.label, element.text)}:
            return Click(element.index)
    return None


Player = Callable[[BrowserSession, Episode, int, Played], Awaitable[None]]


async def _play(
    tab: BrowserSession, site: MiniWob, task: str, seed: int, player: Player, most: int
) -> Played:
    played = Played(task, seed, won=False, steps=0)
    try:
        async with asyncio.timeout(LONGEST), episode(tab, site, task, seed) as at:
            played.intent = at.utterance
            await player(tab, at, most, played)
            await _fade(at)
            played.won = await at.reward() > 0
    except (SiteloreError, TimeoutError) as error:
        played.lines.append(f"ended: {error or 'no time left'}")
    return played


async def _all(site: MiniWob, asked: argparse.Namespace) -> dict[str, list[Played]]:
    players: dict[str, Player] = {"scout": scout, **({"script": script} if asked.baseline else {})}
    wanted = asked.tasks.split(",") if asked.tasks else site.tasks
    queue: asyncio.Queue[tuple[str, int]] = asyncio.Queue()
    for task in wanted:
        for seed in range(asked.first, asked.first + asked.seeds):
            queue.put_nowait((task, seed))
    done: dict[str, list[Played]] = {name: [] for name in players}

    async def work() -> None:
        async with open_browser() as browser, open_session(browser, VIEWPORT) as tab:
            while not queue.empty():
                task, seed = queue.get_nowait()
                for name, player in players.items():
                    done[name].append(await _play(tab, site, task, seed, player, asked.steps))

    async with asyncio.TaskGroup() as group:
        for _ in range(asked.tabs):
            group.create_task(work())
    return done


def _report(done: dict[str, list[Played]], asked: argparse.Namespace) -> None:
    tasks = sorted({played.task for played in done["scout"]})
    for task in tasks:
        line = f"{task:28}"
        for name, all_played in done.items():
            mine = sorted((p for p in all_played if p.task == task), key=lambda p: p.seed)
            line += f"  {name} {sum(p.won for p in mine)}/{len(mine)}"
        print(line)
    for name, all_played in done.items():
        won = sum(played.won for played in all_played)
        whole = sum(all(p.won for p in all_played if p.task == task) for task in tasks)
        print(f"{name}: {won} of {len(all_played)} episodes, {whole} of {len(tasks)} tasks at every seed")
    thinking = [seconds for played in done["scout"] for seconds in played.thinking]
    if thinking:
        middle, longest = statistics.median(thinking) * 1000, max(thinking) * 1000
        print(f"scout's own cost per step: median {middle:.1f} ms, most {longest:.0f} ms")
    if "script" in done:
        ratio = sum(p.won for p in done["scout"]) / max(1, sum(p.won for p in done["script"]))
        print(f"scout against script: {ratio:.2f}")
    if asked.why:
        for played in sorted(done["scout"], key=lambda p: (p.task, p.seed)):
            if not played.won:
                print(f"\n{played.task} seed {played.seed}: {played.intent}", *played.lines, sep="\n    ")


def main() -> None:
    if sys.argv[1:2] == ["suite"]:
        miniwob_suite.main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--tasks", default="")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--tabs", type=int, default=2)
    parser.add_argument("--baseline", action="store_true")
    parser.add_argument("--why", action="store_true")
    asked = parser.parse_args()
    with miniwob() as site:
        if site is None:
            sys.exit("MiniWoB++ is not installed: set SITES_HOME")
        began = time.monotonic()
        done = asyncio.run(_all(site, asked))
        _report(done, asked)
        print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
