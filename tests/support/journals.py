"""Journals of evaluations written out by hand: what each episode of each arm came to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.engine.core.evaluation.episode import (
    Arm,
    EpisodeKey,
    EpisodeRecord,
    EvaluationHead,
    EvaluationJournal,
    TipInEpisode,
)
from app.engine.core.evaluation.task_score import ScoreVerdict

NONE = Arm(name="none")
AKB = Arm(name="akb", kb="june.akb", kb_sha256="a" * 64, tips=3)
_VERDICTS = {
    "+": ScoreVerdict.PASS,
    "-": ScoreVerdict.FAIL,
    "?": ScoreVerdict.UNDECIDED,
    "!": ScoreVerdict.UNDECIDED,
}
_SCORES = {"+": 1.0, "-": 0.0}


def record(task: str, arm: str, sign: str, repeat: int = 0, **fields: Any) -> EpisodeRecord:
    """Return an episode: ``+`` passed, ``-`` failed, ``?`` undecided, ``!`` an error.

    A task ``gitlab:7/2`` is of the template 7 on the site gitlab, ``7/2`` of that on the site shop.
    """
    cluster = task.partition("/")[0]
    site, _, template = cluster.rpartition(":")
    given: dict[str, Any] = {
        "cluster": f"{site or 'shop'}:{template}",
        "sites": (site or "shop",),
        "kind": "question",
        "run": "" if sign == "!" else f"run-{task}-{arm}-{repeat}",
        "verdict": _VERDICTS[sign],
        "score": _SCORES.get(sign),
        "error": "the browser closed" if sign == "!" else "",
        "steps": 10,
    }
    return EpisodeRecord(key=EpisodeKey(task=task, repeat=repeat, arm=arm), **(given | fields))


def journal_of(
    outcomes: Mapping[str, Mapping[str, str]],
    arms: Sequence[Arm] = (NONE, AKB),
    *,
    repeats: int = 0,
    fields: Mapping[str, Mapping[str, Any]] | None = None,
    more_tasks: Iterable[str] = (),
    **head: Any,
) -> EvaluationJournal:
    """Return the journal of ``{task: {arm: signs}}``, one sign a repeat; a blank is an episode that is missing.

    ``fields`` are further fields of an arm's records, ``more_tasks`` are planned without any record.
    """
    most = max((len(signs) for arms_ in outcomes.values() for signs in arms_.values()), default=1)
    given: dict[str, Any] = {
        "name": "june",
        "suite": "webarena",
        "suite_sha256": "5" * 64,
        "dialect": "webarena",
        "policy": "scout",
    }
    return EvaluationJournal(
        head=EvaluationHead(
            arms=tuple(arms), tasks=(*outcomes, *more_tasks), repeats=repeats or most, **(given | head)
        ),
        records=tuple(
            record(task, arm, sign, repeat, **(fields or {}).get(arm, {}))
            for task, of_arms in outcomes.items()
            for arm, signs in of_arms.items()
            for repeat, sign in enumerate(signs)
            if sign != " "
        ),
    )


def templates(count: int, arms: Mapping[str, str], tasks: int = 2) -> dict[str, dict[str, str]]:
    """Return outcomes of so many templates whose tasks all end alike."""
    return {f"{number}/{task}": dict(arms) for number in range(count) for task in range(tasks)}


def shown(tip: str, followed: int = 1, steps: int = 2) -> dict[str, Any]:
    """Return the field of an episode in which a tip was shown."""
    return {"tips": (TipInEpisode(tip=tip, shown=steps, followed=followed),)}
