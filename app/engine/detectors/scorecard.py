"""Scorecard of the detectors: how often each fired, and how often rightly, by verdicts and operators' reactions.

A reaction counts as a verdict on its flag. Of several people's judgements the one that settles them counts, else the
majority of each person's newest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.engine.core.supervision import FlagReaction, Intervention, OperatorAction
from app.engine.core.verdicts import AGENT_DID_NOT_FAIL, Flag, Label, Score, Verdict
from app.engine.detectors.runner import ALL_DETECTORS
from app.engine.detectors.vlm import MODEL_DETECTORS


@dataclass(frozen=True, slots=True)
class _Judgement:
    """A verdict or reaction on a run or one of its flags: failed, not failed, or ambiguous."""

    at: float
    id: str
    author: str
    detector: str
    failed: bool | None
    settles: bool = False


def agent_failed(verdicts: Sequence[Verdict], reactions: Sequence[FlagReaction] = ()) -> bool | None:
    """Whether the agent failed by people's judgements; ``None`` without one or where the task is ambiguous.

    The newest verdict that settles a disagreement counts before all others. Else each author's newest judgement has a
    vote, the majority counts, and of equal ones the newest. A verdict on one flag means that the run failed if it
    names a failure, and nothing if it only clears the flag; the same holds for a reaction to a flag.
    """
    words = _newest_first(verdicts, reactions)
    return _majority([word for word in words if not word.detector or word.failed])


def fired_correctly(
    detector: str, verdicts: Sequence[Verdict], reactions: Sequence[FlagReaction] = ()
) -> bool | None:
    """Whether a detector fired rightly: by people's judgements of its flag, else of the run."""
    own = [word for word in _newest_first(verdicts, reactions) if word.detector == detector]
    return _majority(own) if own else agent_failed(verdicts, reactions)


def _majority(newest_first: Sequence[_Judgement]) -> bool | None:
    settled = next((word for word in newest_first if word.settles), None)
    if settled is not None:
        return settled.failed
    by_author: dict[str, bool | None] = {}
    for word in newest_first:
        by_author.setdefault(word.author, word.failed)
    votes = Counter(by_author.values())  # in the order of the newest: of equal counts the first one is found
    return max(votes, key=lambda sense: votes[sense], default=None)


def _newest_first(verdicts: Sequence[Verdict], reactions: Sequence[FlagReaction]) -> list[_Judgement]:
    words = [_Judgement(one.at, "", one.author, one.detector, one.right) for one in reactions]
    for one in verdicts:
        ambiguous = one.label is Label.TASK_AMBIGUOUS
        failed = None if ambiguous else one.label not in AGENT_DID_NOT_FAIL
        words.append(_Judgement(one.at, one.id, one.author, one.detector, failed, one.settles))
    return sorted(words, key=lambda word: (word.at, word.id), reverse=True)


def scorecard(
    flags_by_run: Mapping[str, Sequence[Flag]],
    verdicts_by_run: Mapping[str, Sequence[Verdict]],
    site_by_run: Mapping[str, str],
    decided_by_run: Mapping[str, frozenset[str]] | None = None,
    reactions_by_run: Mapping[str, Sequence[FlagReaction]] | None = None,
) -> list[Score]:
    """Return a line per detector overall (``site`` is ``""``), then per site where it fired or failures were judged.

    ``fired`` counts all runs it fired on; ``judged`` those of them with a verdict, ``right`` those where it was
    right. Precision is ``right / judged``; recall is the share of runs judged as failed that it fired on. Flags of an
    older version of a detector are left out: another rule made them. A detector that asks a model missed only what it
    was asked about: ``decided_by_run`` names, for each run, those that got an answer. Reactions to a flag of an older
    version don't count.
    """
    decided, reacted = decided_by_run or {}, _of_these_versions(reactions_by_run or {})
    judged_failed = {
        run
        for run in verdicts_by_run.keys() | reacted.keys()
        if agent_failed(verdicts_by_run.get(run, ()), reacted.get(run, ()))
    }
    sites = sorted({site for site in site_by_run.values() if site})
    scores: list[Score] = []
    for detector in ALL_DETECTORS:
        fired = {
            run
            for run, flags in flags_by_run.items()
            if any(flag.detector == detector.name and flag.version == detector.version for flag in flags)
        }
        calls = {
            run: fired_correctly(detector.name, verdicts_by_run.get(run, ()), reacted.get(run, ()))
            for run in fired
        }
        said = {
            run: right
            for run in fired
            if (right := _reaction(detector.name, reacted.get(run, ()))) is not None
        }
        for site in ("", *sites):
            here = {run: call for run, call in calls.items() if not site or site_by_run.get(run) == site}
            failed = {
                run
                for run in judged_failed
                if (not site or site_by_run.get(run) == site)
                and (detector not in MODEL_DETECTORS or detector.name in decided.get(run, ()))
            }
            if site and not here and not failed:
                continue
            judged = sum(call is not None for call in here.values())
            right = sum(call is True for call in here.values())
            scores.append(
                Score(
                    detector=detector.name,
                    site=site,
                    version=detector.version,
                    fired=len(here),
                    judged=judged,
                    right=right,
                    precision=right / judged if judged else None,
                    recall=len(failed & fired) / len(failed) if failed else None,
                    reacted=len(said.keys() & here.keys()),
                    reacted_right=sum(said[run] for run in said.keys() & here.keys()),
                )
            )
    return scores


def _of_these_versions(
    reactions_by_run: Mapping[str, Sequence[FlagReaction]],
) -> dict[str, list[FlagReaction]]:
    versions = {detector.name: detector.version for detector in ALL_DETECTORS}
    return {
        run: [one for one in reactions if versions.get(one.detector) == one.version]
        for run, reactions in reactions_by_run.items()
    }


def _reaction(detector: str, reactions: Sequence[FlagReaction]) -> bool | None:
    own = [one for one in reactions if one.detector == detector]
    return max(own, key=lambda one: one.at).right if own else None


STEERING_ACTIONS = frozenset(
    {OperatorAction.TOOK_OVER, OperatorAction.HINTED, OperatorAction.STOPPED, OperatorAction.DENIED}
)
"""Actions that correct or end a run that a flag paused: the flag was right."""


def reactions_of(intervention: Intervention, flags: Sequence[Flag]) -> list[FlagReaction]:
    """Return the reactions that follow from an operator's action, one for each flag concerned.

    ``flags`` are those that pause the run now; none where no flag does. Confirming or dismissing concerns the flags
    of the detector that ``intervention.about`` names; taking over, a hint, stopping and denying concern all of them.
    Resuming without a word judges nothing. Actions of the policy, the watchdog or the judge are no person's reactions.
    """
    if intervention.author in ("policy", "watchdog", "judge"):
        return []
    if intervention.action in (OperatorAction.CONFIRMED, OperatorAction.DISMISSED):
        concerned = [flag for flag in flags if flag.detector == intervention.about]
    else:
        concerned = list(flags) if intervention.action in STEERING_ACTIONS else []
    named = dict.fromkeys((flag.detector, flag.step, flag.version) for flag in concerned)
    return [
        FlagReaction(
            run=intervention.run,
            step=step,
            detector=detector,
            right=intervention.action is not OperatorAction.DISMISSED,
            version=version,
            how=intervention.action.value,
            author=intervention.author,
            at=intervention.at,
        )
        for detector, step, version in named
    ]
