"""A made-up evaluation: a journal of six sites, 190 templates, four arms and three repeats, and its comparison.

The records are drawn with a seed: tasks of a template go together, tips help on two sites and hurt on one.  The
comparison is computed from them by short formulas (400 draws), so that its numbers agree with the records; the
program's own statistics are tested elsewhere.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from statistics import fmean

import numpy as np

from app.engine.api.evaluation_api import (
    Comparison,
    ComparisonVerdict,
    DifferenceRow,
    GroupTable,
    PairRow,
    RateRow,
    TipCreditRow,
)
from app.engine.core.evaluation.episode import (
    Arm,
    EpisodeKey,
    EpisodeRecord,
    EvaluationHead,
    EvaluationJournal,
    TipInEpisode,
)
from app.engine.core.evaluation.task_score import JudgeReply, ScoreVerdict

SITES = ("shopping", "shopping_admin", "gitlab", "reddit", "map", "wikipedia")
LIFTS = {
    "shopping": 0.02,
    "shopping_admin": 0.14,
    "gitlab": 0.17,
    "reddit": -0.11,
    "map": 0.0,
    "wikipedia": 0.01,
}
KINDS = ("question", "way", "change")
MODALITIES = ("any", "text", "image")
WHYS = (
    "the answer '17' is not '19'",
    "the page in front is /admin/dashboard, not /admin/sales/order/view/order_id/299",
    "no answer was given",
    "the field 'Due date' holds '2030-01-03', not '2030-01-13'",
    "the site has a change that the task does not allow: the review of order 0042 is gone",
)
ERRORS = ("wrong answer", "wrong page", "premature stop", "loop", "gave up", "blocked by the page")
INTENTS = (
    "Tell me the {n} best-selling brands in quarter {q} of 2022",
    "Create a milestone '{n} sprint' that starts on the {q}th of next month and ends two weeks later",
    "Show the least expensive product in category {n} with a rating above {q}",
    "Post 'I agree' under the {n} newest threads of /f/books that have more than {q} comments",
    "How long does it take to walk from the museum of art to hotel {n}, and how much shorter is it by car?",
    "Who wrote the article about lighthouse {n}, and in what year was its section {q} added?",
    "Set the price of every green hoodie of size {n} to {q}.99 dollars and keep the stock as it is",
)
TIP_TEXTS = (
    "Sort the table by 'Ordered Quantity' before reading it; the list begins with the oldest row.",
    "Open 'Reports > Bestsellers'; the dashboard shows only the last 24 hours.",
    "Press 'Update' after each field: the page forgets the others on reload.",
    "Milestones of a group are not those of its projects: open the project first.",
    "A thread's votes are shown after a reload only. Do not click the arrow twice.",
    "Answer with the number alone, without the unit.",
)
NONE = Arm(name="none")
FOUR_ARMS = (
    NONE,
    Arm(name="akb", kb="kb/june.akb", kb_sha256=sha256(b"june").hexdigest(), tips=61),
    Arm(name="none+map", maps=True),
    Arm(name="akb+map", kb="kb/june.akb", kb_sha256=sha256(b"june").hexdigest(), tips=61, maps=True),
)
LEARNING_ARMS = (
    NONE,
    *(
        Arm(
            name=f"akb-{tips}",
            kb=f"kb/half-{tips}.akb",
            kb_sha256=sha256(b"%d" % tips).hexdigest(),
            tips=tips,
        )
        for tips in (15, 30, 61)
    ),
)


def made_up_journal(
    seed: int = 7,
    *,
    tasks: int = 812,
    templates: int = 190,
    arms: Sequence[Arm] = FOUR_ARMS,
    repeats: int = 3,
    done: float = 1.0,
    name: str = "june",
) -> EvaluationJournal:
    """Return a journal; ``done`` is the share of its episodes that is over."""
    draw = random.Random(seed)
    template_of = [number if number < templates else draw.randrange(templates) for number in range(tasks)]
    ease = [min(0.97, max(0.02, draw.betavariate(0.9, 1.1))) for _ in range(templates)]
    tainted = tuple(str(number) for number in range(tasks) if template_of[number] % 47 == 5)
    head = EvaluationHead(
        name=name,
        suite="webarena",
        suite_sha256=sha256(b"webarena").hexdigest(),
        dialect="webarena",
        policy="scout",
        arms=tuple(arms),
        tasks=tuple(map(str, range(tasks))),
        repeats=repeats,
        prompts_sha256=sha256(b"prompts").hexdigest(),
        tainted=tainted,
        seed=seed,
        options=(
            ("engine", "local"),
            ("workers", "2"),
            ("max_seconds", "600.0"),
            ("max_tokens", "0"),
            ("infeasible_is_na", "no"),
        ),
        versions=(
            ("sitelore", "0.9.0"),
            ("python", "3.11.9"),
            ("chromium", "141.0.7390.37"),
            ("playwright", "1.65.2"),
        ),
        machine=(("processors", "2"), ("memory", "7.6 GB"), ("system", "Linux 6.1")),
        begun_at=1_790_000_000.0,
    )
    records = tuple(
        _record(draw, task, template_of[task], ease[template_of[task]], arm, repeat)
        for repeat in range(repeats)
        for task in range(tasks)
        for arm in arms
    )
    return EvaluationJournal(head=head, records=records[: round(len(records) * done)])


def _record(
    draw: random.Random, task: int, template: int, ease: float, arm: Arm, repeat: int
) -> EpisodeRecord:
    site, kind = SITES[template % len(SITES)], KINDS[template // 6 % 3]
    lift = LIFTS[site] * min(1.0, arm.tips / 50) + (0.04 if arm.maps else 0.0)
    passed = draw.random() < min(1.0, max(0.0, ease + lift))
    undecided, crashed = draw.random() < 0.012, draw.random() < 0.004
    verdict = ScoreVerdict.PASS if passed else ScoreVerdict.FAIL
    verdict = ScoreVerdict.UNDECIDED if undecided or crashed else verdict
    steps = max(2, round(draw.gauss(11 - 2 * (arm.tips > 0) + 6 * (not passed), 3)))
    shown = tuple(
        TipInEpisode(tip=f"tip-{template % 20 + n:03}", shown=draw.randint(1, 4), followed=draw.randint(0, 2))
        for n in range(2 if arm.tips and draw.random() < 0.6 else 0)
    )
    return EpisodeRecord(
        key=EpisodeKey(task=str(task), repeat=repeat, arm=arm.name),
        cluster=f"{site}:{template}",
        sites=(site,),
        kind=kind,
        required_obs=MODALITIES[template % 3],
        run="" if crashed else f"run-{arm.name}-{task}-{repeat}",
        verdict=verdict,
        score=None if undecided or crashed else float(passed),
        why="the judge's reply says nothing"
        if undecided
        else ""
        if passed
        else WHYS[(task + repeat) % len(WHYS)],
        judge=(JudgeReply(model="judge-1", prompt_sha256="ab" * 32, reply="well"),)
        if undecided or (task, repeat) == (0, 0)
        else (),
        outcome="error" if crashed else "answered" if kind == "question" else "finished",
        error="the browser closed in the middle of the run" if crashed else "",
        claimed=passed or draw.random() < 0.5,
        unasked=int(not passed and draw.random() < 0.05),
        steps=steps,
        seconds=steps * draw.uniform(0.5, 1.5),
        overhead=draw.uniform(0.02, 0.3),
        tips=shown,
        actions=tuple(
            draw.choice(("click", "fill", "goto", "scroll", "select_option")) for _ in range(steps)
        ),
        worker=f"worker-{task % 2 + 1}",
        finished_at=1_790_000_000.0 + task * 20 + repeat,
    )


def made_up_comparison(*journals: EvaluationJournal, against: str = "none", draws: int = 400) -> Comparison:
    """Return the comparison of journals: every other arm to ``against``."""
    records = [record for journal in journals for record in journal.records]
    arms = {arm.name: arm for journal in journals for arm in journal.head.arms}
    tainted = {task for journal in journals for task in journal.head.tainted}
    over = len(records) >= sum(
        len(journal.head.arms) * len(journal.head.tasks) * journal.head.repeats for journal in journals
    )
    by_arm: dict[str, dict[str, list[EpisodeRecord]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        by_arm[record.key.arm][record.key.task].append(record)
    differences = tuple(
        row
        for name in arms
        if name != against and against in by_arm
        for row in _differences(name, against, by_arm, draws)
    )
    return Comparison(
        heads=tuple(journal.head for journal in journals),
        arms=tuple(_rate(name, by_arm[name], draws) for name in arms if by_arm[name]),
        verdicts=tuple(_verdict(row, early=not over) for row in differences if row.group == "all"),
        differences=differences,
        pairs=tuple(
            pair
            for name in arms
            if name != against and against in by_arm
            for pair in _pairs(name, against, by_arm, tainted)
        ),
        credits=_credits(records) if any(arm.tips for arm in arms.values()) else (),
        tables=_tables(records, list(arms)),
        notes=_notes(records, tainted, over=over),
    )


def _score(records: Sequence[EpisodeRecord]) -> float | None:
    scores = [record.score for record in records if record.score is not None]
    return fmean(scores) if scores else None


def _interval(values: dict[str, list[float]], draws: int) -> tuple[float, float]:
    sums = np.array([(sum(group), len(group)) for group in values.values()], dtype=float)
    chosen = np.random.default_rng(1).integers(0, len(sums), (draws, len(sums)))
    means = sums[chosen, 0].sum(1) / sums[chosen, 1].sum(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def _wilson(hits: float, count: int) -> tuple[float, float]:
    z, share = 1.96, hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def _rate(name: str, tasks: dict[str, list[EpisodeRecord]], draws: int) -> RateRow:
    clusters: dict[str, list[float]] = defaultdict(list)
    for records in tasks.values():
        if (score := _score(records)) is not None:
            clusters[records[0].cluster].append(score)
    scores = [score for group in clusters.values() for score in group]
    every = [record for records in tasks.values() for record in records]
    low, high = _interval(clusters, draws)
    wilson_low, wilson_high = _wilson(sum(scores), len(scores))
    return RateRow(
        name=name,
        tasks=len(scores),
        templates=len(clusters),
        mean=fmean(scores),
        low=low,
        high=high,
        wilson_low=wilson_low,
        wilson_high=wilson_high,
        all_of=fmean(score == 1.0 for score in scores),
        best_of=fmean(score > 0 for score in scores),
        macro=fmean(fmean(group) for group in clusters.values()),
        undecided=sum(record.score is None for record in every),
        steps=fmean(record.steps for record in every),
        seconds=fmean(record.seconds for record in every),
        false_done=sum(record.claimed and record.score == 0 for record in every),
        unasked=sum(record.unasked for record in every),
    )


def _differences(
    arm: str, against: str, by_arm: dict[str, dict[str, list[EpisodeRecord]]], draws: int
) -> list[DifferenceRow]:
    rows = list[DifferenceRow]()
    with_, without = by_arm[arm], by_arm[against]
    groups = ["all", *(f"site {site}" for site in SITES), *(f"type {kind}" for kind in KINDS)]
    for group in groups:
        clusters: dict[str, list[float]] = defaultdict(list)
        results = dict.fromkeys(("won", "lost", "both", "neither"), 0)
        steps = list[float]()
        for task in with_.keys() & without.keys():
            first = with_[task][0]
            if group not in ("all", f"site {first.sites[0]}", f"type {first.kind}"):
                continue
            one, other = _score(with_[task]), _score(without[task])
            if one is None or other is None:
                continue
            clusters[first.cluster].append(one - other)
            results[_result(one, other)] += 1
            steps.append(fmean(r.steps for r in with_[task]) - fmean(r.steps for r in without[task]))
        if not clusters:
            continue
        values = [value for group_values in clusters.values() for value in group_values]
        low, high = _interval(clusters, draws)
        spread = max(1e-9, (high - low) / 3.92)
        p = math.erfc(abs(fmean(values)) / spread / math.sqrt(2))
        rows.append(
            DifferenceRow(
                arm=arm,
                against=against,
                group=group,
                tasks=len(values),
                templates=len(clusters),
                difference=fmean(values),
                low=low,
                high=high,
                p=p,
                mcnemar_p=p / 4,
                p_holm=p if group == "all" else min(1.0, p * 6),
                **results,
                steps=fmean(steps),
                seconds=fmean(steps) * 1.1,
            )
        )
    return rows


def _result(one: float, other: float) -> str:
    if one >= 0.5:
        return "both" if other >= 0.5 else "won"
    return "lost" if other >= 0.5 else "neither"


def _verdict(row: DifferenceRow, *, early: bool) -> ComparisonVerdict:
    points, low, high = (100 * value for value in (row.difference, row.low, row.high))
    interval = f"95 % interval {low:.0f} to {high:.0f}, {row.templates} templates"
    if early:
        answer, words = (
            "not enough data",
            "not enough data yet: 140 more templates for an effect of 5 points; ",
        )
    elif low > 0:
        answer, words = "better", f"better by {points:.0f} points, "
    elif high < 0:
        answer, words = "worse", f"worse by {-points:.0f} points, "
    elif low >= -2 and high <= 2:
        answer, words = "same", "the same within 2 points, "
    else:
        answer, words = "not enough data", "not enough data: 140 more templates for an effect of 5 points; "
    return ComparisonVerdict(
        arm=row.arm,
        against=row.against,
        answer=answer,
        sentence=words + interval,
        more_templates=140 if answer == "not enough data" else 0,
        always_valid=(row.low - 0.03, row.high + 0.03),
        early=early,
    )


def _pairs(
    arm: str, against: str, by_arm: dict[str, dict[str, list[EpisodeRecord]]], tainted: set[str]
) -> list[PairRow]:
    pairs = list[PairRow]()
    for task in sorted(by_arm[arm].keys() & by_arm[against].keys(), key=int):
        with_, without = by_arm[arm][task], by_arm[against][task]
        one, other = _score(with_), _score(without)
        template = int(with_[0].cluster.partition(":")[2])
        intent = INTENTS[template % len(INTENTS)].format(n=int(task) % 9 + 1, q=int(task) % 4 + 1)
        pairs.append(
            PairRow(
                task=task,
                cluster=with_[0].cluster,
                site=with_[0].sites[0],
                kind=with_[0].kind,
                intent=intent,
                arm=arm,
                against=against,
                result="undecided" if one is None or other is None else _result(one, other),
                score=one,
                score_against=other,
                runs=tuple(record.run for record in with_ if record.run),
                runs_against=tuple(record.run for record in without if record.run),
                why=next((record.why for record in with_ if record.why), ""),
                why_against=next((record.why for record in without if record.why), ""),
                tainted=task in tainted,
            )
        )
    return pairs


def _credits(records: Sequence[EpisodeRecord]) -> tuple[TipCreditRow, ...]:
    shown: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for record in records:
        for use in record.tips:
            shown[use.tip].append(record)
    rows = list[TipCreditRow]()
    for number, (tip, uses) in enumerate(sorted(shown.items())):
        templates = len({record.cluster for record in uses})
        difference = (number % 7 - 2) / 20
        half = 0.35 / math.sqrt(templates)
        low, high = difference - half, difference + half
        verdict = "helps" if low > 0 else "hurts" if high < 0 else "no difference seen"
        rows.append(
            TipCreditRow(
                tip=tip,
                text=TIP_TEXTS[number % len(TIP_TEXTS)],
                retrieved=len({record.key.task for record in uses}),
                followed=sum(any(use.tip == tip and use.followed for use in r.tips) for r in uses) // 3,
                templates=templates,
                difference=difference,
                low=low,
                high=high,
                method="pairs",
                verdict=verdict if templates >= 5 else "not enough data",
            )
        )
    return tuple(sorted(rows, key=lambda row: row.difference))


def _tables(records: Sequence[EpisodeRecord], arms: list[str]) -> tuple[GroupTable, ...]:
    def share(title: str, key: str, groups: Sequence[str]) -> GroupTable:
        scores: dict[tuple[str, str], list[float]] = defaultdict(list)
        for record in records:
            group = (
                record.sites[0] if key == "site" else record.kind if key == "kind" else record.required_obs
            )
            if record.score is not None:
                scores[group, record.key.arm].append(record.score)
        rows = tuple(
            (group, *(f"{100 * fmean(scores[group, arm] or [0.0]):.1f}" for arm in arms)) for group in groups
        )
        return GroupTable(title=title, heads=(key, *arms), rows=rows)

    used = {arm: [len(set(record.actions)) for record in records if record.key.arm == arm] for arm in arms}
    failed = {arm: [r for r in records if r.key.arm == arm and r.score == 0] for arm in arms}
    return (
        share("Success by site (%)", "site", SITES),
        share("Success by type of task (%)", "kind", KINDS),
        share("Success by required observation (%)", "observation", MODALITIES),
        GroupTable(
            title="Kinds of actions in a run",
            heads=("figure", *arms),
            rows=(
                ("mean", *(f"{fmean(used[arm] or [0]):.2f}" for arm in arms)),
                ("most", *(str(max(used[arm], default=0)) for arm in arms)),
            ),
        ),
        GroupTable(
            title="Reasons of failed runs",
            heads=("reason", *arms),
            rows=tuple(
                (error, *(str(len(failed[arm]) * (number + 1) // 21) for arm in arms))
                for number, error in enumerate(ERRORS)
            ),
        ),
    )


def _notes(records: Sequence[EpisodeRecord], tainted: set[str], *, over: bool) -> tuple[str, ...]:
    undecided = sum(record.score is None and not record.error for record in records)
    errors = sum(bool(record.error) for record in records)
    notes = [
        f"{len(tainted)} tasks are tainted: an author of a tip had seen their template." if tainted else "",
        f"{undecided} runs are undecided: no judge model is set." if undecided else "",
        f"{errors} episodes ended with an error: the browser closed in the middle of the run."
        if errors
        else "",
        "" if over else "The evaluation is not over: only the always-valid interval counts.",
    ]
    return tuple(note for note in notes if note)


def long_texts(comparison: Comparison) -> Comparison:
    """Return the same comparison with very long and right-to-left texts in its pairs and tips."""
    intents = ("word " * 2000, "x" * 10_000, "מצא את המוצר הזול ביותר בקטגוריה, ורשום את מחירו " * 12)
    return replace(
        comparison,
        pairs=tuple(
            replace(pair, intent=intents[number % 3], why=("because " * 300) if number % 2 else pair.why)
            for number, pair in enumerate(comparison.pairs)
        ),
        credits=tuple(
            replace(row, text=intents[number % 3], tip=row.tip * (30 if number == 0 else 1))
            for number, row in enumerate(comparison.credits)
        ),
    )
