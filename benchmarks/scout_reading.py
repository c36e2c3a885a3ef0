"""Reading of recorded pages: is the recorded answer found on the pages that a passed run saw?

``python -m benchmarks.scout_reading [--held] [--show]``

Questions with a short answer (five words at most) of all passed published runs.  The scout's reader gets the task
and the trees, never the steps that the agent took: each of the last three pages by itself, the last one first, and
all pages merged.  The *plain heuristic* takes the text behind the one that shares most words with the task.  ``told``
is the share of questions whose answer stands on the pages as a text at all.  ``wrong`` are answers given that are not
the recorded one: a wrong answer is worse than none.

Templates are split by a hash into a half to work on and a half to report (``--held``), which is read for figures only;
``--show`` lists the questions of the half to work on.  Intervals: 95 % by bootstrap over templates.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from app.engine.agent.scout.answering import answer_from
from app.engine.agent.scout.likeness import holds, meaning, plain, word_fit
from app.engine.agent.scout.quantities import quantity_in
from app.engine.agent.scout.questions import read_question
from app.engine.agent.scout.relations import merge_relations, read_relations
from app.engine.agent.scout.task import TaskMode, TaskPart, read_task
from app.engine.core.ax_tree import parse_tree
from app.engine.core.sites import load_sites
from app.engine.imports.colorbrowseragent import find_runs
from benchmarks.published_runs import SHARED, roots
from benchmarks.risk import RESAMPLES
from tests.support.runs import read_run

WEBARENA = SHARED / "data" / "webnavigator" / "config_files" / "webarena" / "test.raw.json"
CHORES = SHARED / "data" / "webchorearena" / "BrowserGym" / "config_files" / "test_webchore.raw.json"
SEEN = frozenset(f"webarena {number}" for number in (322, 234, 147, 274, 291))
"""Templates of which a page was looked at before the split: they belong to the half to work on."""
MOST_WORDS, LAST_PAGES, LEAST_CERTAIN = 5, 3, 0.55


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its accepted answers (alternatives of parts that must all be there) and the trees of its run."""

    task: str
    template: str
    site: str
    intent: str
    answers: tuple[tuple[str, ...], ...]
    trees: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """Answers of each reader: ``None`` for no answer."""

    case: Case
    said: dict[str, str | None]
    told: bool

    def right(self, reader: str) -> bool:
        """Whether a reader gave the recorded answer."""
        said = self.said[reader]
        return said is not None and accepted(said, self.case.answers)


def held_back(template: str) -> bool:
    """Whether a template is in the half to report."""
    return template not in SEEN and hashlib.blake2b(template.encode(), digest_size=1).digest()[0] % 2 == 1


def load_cases(held: bool) -> list[Case]:
    """Questions with a short answer of the passed runs of one half."""
    tasks = {("webarena", str(one["task_id"])): one for one in json.loads(WEBARENA.read_bytes())}
    tasks |= {("webchorearena", str(one["task_id"])): one for one in json.loads(CHORES.read_bytes())}
    found: list[Case] = []
    with roots() as places:
        for place in places:
            for folder in find_runs(place):
                suite, number = folder.parent.parent.name, folder.name.removeprefix("task_")
                task = tasks.get((suite, number))
                if task is None or not passed(folder):
                    continue
                template = f"{suite} {task.get('intent_template_id', task['intent_template'])}"
                answers = short_answers(task["eval"].get("reference_answers") or {})
                if held_back(template) is not held or not answers:
                    continue
                read = read_run(folder, place, load_sites())
                trees = tuple(read.blobs[one.tree].decode() for one in read.steps if one.tree)
                found.append(
                    Case(f"{suite} {number}", template, read.run.site, task["intent"], answers, trees)
                )
    return found


def passed(folder: Path) -> bool:
    """Whether a run was scored as a success."""
    summary = folder / "summary_info.json"
    return summary.exists() and (json.loads(summary.read_bytes()).get("cum_reward") or 0) >= 1


def short_answers(told: dict[str, object]) -> tuple[tuple[str, ...], ...]:
    """The accepted answers, where they have five words at most in all; nothing where "N/A" is one."""
    exact, parts, meant = told.get("exact_match"), told.get("must_include"), told.get("fuzzy_match")
    groups = [
        [str(one)] if not isinstance(one, list) else [str(other) for other in one]
        for one in ([exact] if exact else [])
    ]
    groups += [[str(one) for one in parts]] if isinstance(parts, list) else []
    if not groups and isinstance(meant, list):
        groups = [[str(one)] for one in meant]
    one_of = [(one,) for group in groups if len(group) == 1 for one in group[0].split(" |OR| ")]
    one_of += [tuple(group) for group in groups if len(group) > 1]
    kept = [group for group in one_of if 0 < sum(len(one.split()) for one in group) <= MOST_WORDS]
    return tuple(kept) if not any("N/A" in one for group in kept for one in group) else ()


def accepted(said: str, answers: Sequence[Sequence[str]]) -> bool:
    """Whether an answer is one of those accepted: all parts of it, and little else."""
    text = normal(said)
    spent = quantity_in(said)
    for parts in answers:
        meant = quantity_in(" ".join(parts)) if len(parts) == 1 else None
        if meant and spent and meant.unit == "s" and meant == spent:  # 25 min is 0:25
            return True
    return any(
        all(re.search(rf"(?<![\w.]){re.escape(normal(part))}(?![\w]|\.\d)", text) for part in parts)
        and len(text) <= 3 * sum(len(part) for part in parts) + 12
        for parts in answers
    )


def normal(text: str) -> str:
    """Lower case without signs of currency and thousands."""
    return re.sub(r"(?<=\d),(?=\d{3})|[$€£\"']", "", plain(text))


def questions_of(intent: str) -> list[TaskPart]:
    """The parts that ask, all where none does: the mode is measured elsewhere."""
    parts = read_task(intent).parts
    return [one for one in parts if one.mode is TaskMode.QUESTION] or list(parts)


def read_pages(intent: str, trees: Sequence[str], *, merged: bool) -> str | None:
    """The scout's answer from some pages, the last one first."""
    pages = [read_relations(tree) for tree in trees][::-1]
    if merged:
        pages = [*pages, merge_relations(pages[::-1])]
    said: list[str] = []
    for part in questions_of(intent):
        question = read_question(part)
        best: tuple[float, str] = (0.0, "")
        for page in pages:
            heads = [*page.headings[:3], *page.trail[-1:]]
            here = next((n.text for n in question.names if any(holds(one, n.text) for one in heads)), "")
            found = answer_from(question, part, page, on_page_of=here)
            if found and found.text and found.certain >= LEAST_CERTAIN:
                best = max(best, (found.certain, found.text), key=lambda one: one[0])
        if not best[1]:
            return None  # a question with a part left open is not answered
        said.append(best[1])
    return ", ".join(said) or None


def plain_heuristic(intent: str, trees: Sequence[str]) -> str | None:
    """The text behind the one that shares most words with the task."""
    wanted = meaning(intent)
    best, value = 0.0, None
    for tree in reversed(trees):
        texts = [node.name for node in parse_tree(tree) if node.name and len(node.name) < 80]
        texts = [text for at, text in enumerate(texts) if at == 0 or text != texts[at - 1]]
        for label, behind in pairwise(texts):
            told = meaning(label)
            shared = sum(any(word_fit(one, other) == 1.0 for other in wanted) for one in told)
            score = shared - 0.1 * len(told)
            if shared and score > best:
                best, value = score, behind
    return value


READERS: dict[str, Callable[[Case], str | None]] = {
    "plain, last three": lambda case: plain_heuristic(case.intent, case.trees[-LAST_PAGES:]),
    "plain, all": lambda case: plain_heuristic(case.intent, case.trees),
    "reader, last three": lambda case: read_pages(case.intent, case.trees[-LAST_PAGES:], merged=False),
    "reader, all": lambda case: read_pages(case.intent, case.trees, merged=True),
}


def measure(case: Case) -> Result:
    """Every reader's answer to one question."""
    texts = [normal(node.name) for tree in case.trees for node in parse_tree(tree) if node.name]
    told = any(all(any(normal(part) in text for text in texts) for part in parts) for parts in case.answers)
    return Result(case, {name: reader(case) for name, reader in READERS.items()}, told)


def interval(results: Sequence[Result], reader: str) -> tuple[float, float]:
    """95 % of the share of right answers, by bootstrap over templates."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for one in results:
        groups[one.case.template].append(one.right(reader))
    chance, names = random.Random(14), sorted(groups)
    shares: list[float] = []
    for _ in range(RESAMPLES):
        drawn = [value for _ in names for value in groups[chance.choice(names)]]
        shares.append(sum(drawn) / len(drawn))
    shares.sort()
    return shares[int(0.025 * RESAMPLES)], shares[int(0.975 * RESAMPLES)]


def table(results: Sequence[Result]) -> str:
    """A line for each site and reader."""
    lines = [
        "| site | n | templates | told | reader | right | 95 % | wrong |",
        "| --- | --: | --: | --: | --- | --: | --- | --: |",
    ]
    sites = sorted({one.case.site for one in results})
    for site in (*sites, "all"):
        some = [one for one in results if site in ("all", one.case.site)]
        templates, told = len({one.case.template for one in some}), sum(one.told for one in some)
        for reader in READERS:
            right = sum(one.right(reader) for one in some)
            wrong = sum(one.said[reader] is not None for one in some) - right
            low, high = interval(some, reader)
            lines.append(
                f"| {site} | {len(some)} | {templates} | {told / len(some):.2f} | {reader} | {right / len(some):.2f} "
                f"| {low:.2f} to {high:.2f} | {wrong / len(some):.2f} |"
            )
    return "\n".join(lines)


def main() -> int:
    """Print the table of one half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held", action="store_true", help="the half to report; figures only")
    parser.add_argument("--show", action="store_true", help="list the questions of the half to work on")
    options = parser.parse_args()
    results = [measure(case) for case in load_cases(options.held)]
    if not results:
        print("the published runs are not beside the checkout")
        return 1
    print(table(results))
    if options.show and not options.held:
        for one in results:
            said = {name: text for name, text in one.said.items() if name.startswith("reader")}
            print(f"{one.case.task} | {one.case.intent} | {one.case.answers} | {said} | told {one.told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
