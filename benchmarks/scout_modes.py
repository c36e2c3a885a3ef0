"""Mode of tasks (question, way, change) as the scout reads it, beside published types: no browser, no model.

WebArena: 812 intents of ``../shared/data`` beside the types that WebArena-Verified publishes (``expected.task_type``;
``data/webarena_task_types.json``).  Most of its intents are worded anew there, so that the type is plain; given the
path of that file (``webarena-verified.json`` of the package), those wordings are measured as well.  WebChoreArena: 532
intents beside their kind of evaluation: the site's state checked is a change, an address alone a way.  Templates are
split by hash: the scout's grammar was worked on with one half, the other is there to report.
"""

from __future__ import annotations

import hashlib
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.engine.agent.scout.task import TaskMode, read_task
from benchmarks.write_gate import DATA, TASKS

TYPES = Path(__file__).with_name("data") / "webarena_task_types.json"
_MODES = {"retrieve": TaskMode.QUESTION, "navigate": TaskMode.WAY, "mutate": TaskMode.CHANGE}
_DRAWS = 2_000
_SHOWN = 400


@dataclass(frozen=True)
class Intent:
    """One task with its published mode."""

    suite: str
    number: int
    template: str
    text: str
    mode: TaskMode

    @property
    def reported(self) -> bool:
        """Whether its template is in the half to report."""
        return hashlib.blake2b(self.template.encode(), digest_size=4).digest()[0] % 2 == 1


def webarena(path: Path, suite: str) -> list[Intent]:
    """WebArena's tasks, in the wording of one file."""
    types: Mapping[str, Any] = json.loads(TYPES.read_text("utf-8"))
    modes = {number: mode for name, mode in _MODES.items() for number in types[name]}
    return [
        Intent(suite, one["task_id"], f"wa{one['intent_template_id']}", one["intent"], modes[one["task_id"]])
        for one in json.loads(path.read_text("utf-8"))
    ]


def webchorearena() -> list[Intent]:
    """WebChoreArena's tasks."""
    return [
        Intent(
            "webchorearena",
            one["task_id"],
            f"wca{one['intent_template']}",
            one["intent"],
            evaluated_as(one["eval"]["eval_types"]),
        )
        for one in json.loads(TASKS["webchorearena"].read_text("utf-8"))
    ]


def evaluated_as(kinds: Iterable[str]) -> TaskMode:
    """Mode that a task's kinds of evaluation stand for."""
    if "program_html" in kinds:
        return TaskMode.CHANGE
    return TaskMode.WAY if "url_match" in kinds else TaskMode.QUESTION


def interval(found: Mapping[str, Sequence[bool]]) -> tuple[float, float]:
    """95 % interval of the share that is right, by bootstrap over templates."""
    draw = random.Random(14)
    groups = [(sum(one), len(one)) for one in found.values()]
    shares: list[float] = []
    for _ in range(_DRAWS):
        drawn = draw.choices(groups, k=len(groups))
        shares.append(sum(right for right, _ in drawn) / sum(all_ for _, all_ in drawn))
    shares.sort()
    return shares[int(_DRAWS * 0.025)], shares[int(_DRAWS * 0.975)]


def report(name: str, intents: Sequence[Intent]) -> None:
    """Print the share read as published, by suite, and what was taken for what."""
    read = {one: read_task(one.text).mode for one in intents}
    for suite in (*dict.fromkeys(one.suite for one in intents), ""):
        mine = [one for one in intents if suite in ("", one.suite)]
        by_template: dict[str, list[bool]] = defaultdict(list)
        for one in mine:
            by_template[one.template].append(read[one] is one.mode)
        right = sum(sum(found) for found in by_template.values())
        low, high = interval(by_template)
        print(
            f"{name:6} {suite or 'all':24} {right:4} of {len(mine):4}  {right / len(mine):.3f} "
            f"({low:.3f} to {high:.3f}; {len(by_template)} templates)"
        )
    taken = Counter((one.mode.value, mode.value) for one, mode in read.items() if mode is not one.mode)
    print(f"       {', '.join(f'{a} taken for {b}: {n}' for (a, b), n in taken.most_common())}")


def main() -> None:
    """Print both halves; ``wrong`` lists what the half to work on has wrong, ``work`` leaves the other half out."""
    if not DATA.is_dir():
        print("scout_modes: the tasks are not beside the checkout; nothing measured")
        return
    sources = [webarena(TASKS["webarena"], "webarena"), webchorearena()]
    for name in sys.argv[1:]:
        if name.endswith(".json"):
            sources.append(webarena(Path(name), "webarena-verified"))
    for intents in (sources[0] + sources[1], *sources[2:]):
        work = [one for one in intents if not one.reported]
        report("work", work)
        if "wrong" in sys.argv:
            for one in work:
                if (mode := read_task(one.text).mode) is not one.mode:
                    print(f"  {one.suite} {one.number} {one.mode.value} as {mode.value}: {one.text[:_SHOWN]}")
        if not {"wrong", "work"} & set(sys.argv):
            report("report", [one for one in intents if one.reported])


if __name__ == "__main__":
    main()
