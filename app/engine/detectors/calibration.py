"""How often each detector called, and how often rightly, by people's verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.engine.detectors.runner import ALL_DETECTORS
from app.engine.detectors.vlm import MODEL_DETECTORS
from app.engine.judgement import AGENT_DID_NOT_FAIL, Flag, Label, Score, Verdict


def agent_failed(verdicts: Sequence[Verdict]) -> bool | None:
    """Whether the agent failed by the newest verdict on the run; ``None`` without one or where the task is ambiguous.

    A verdict on one flag says that the run failed if it names a failure, and nothing if it only clears the flag.
    """
    for verdict in sorted(verdicts, key=lambda verdict: (verdict.at, verdict.id), reverse=True):
        cleared = verdict.label in AGENT_DID_NOT_FAIL
        if verdict.detector and (cleared or verdict.label is Label.TASK_AMBIGUOUS):
            continue
        if verdict.label is Label.TASK_AMBIGUOUS:
            return None
        return not cleared
    return None


def called_rightly(detector: str, verdicts: Sequence[Verdict]) -> bool | None:
    """Whether a detector that fired on a run was right to: by a verdict on its flag, else by that on the run."""
    own = [verdict for verdict in verdicts if verdict.detector == detector]
    if own:
        newest = max(own, key=lambda verdict: (verdict.at, verdict.id))
        return None if newest.label is Label.TASK_AMBIGUOUS else newest.label not in AGENT_DID_NOT_FAIL
    return agent_failed(verdicts)


def scorecard(
    flags_by_run: Mapping[str, Sequence[Flag]],
    verdicts_by_run: Mapping[str, Sequence[Verdict]],
    site_by_run: Mapping[str, str],
    decided_by_run: Mapping[str, frozenset[str]] | None = None,
) -> list[Score]:
    """One line per detector overall (``site`` is ``""``), then one per site where it fired or failures were judged.

    ``fired`` counts all runs it called on; ``judged`` those of them with a verdict, ``right`` those rightly called.
    Precision is ``right / judged``; recall is the share of runs judged as failed that it called on.  Flags of an older
    version of a detector are left out: another rule made them.  One that asks a model missed only what it was asked
    about: ``decided_by_run`` names, for each run, those that got an answer.
    """
    decided = decided_by_run or {}
    judged_failed = {run for run, verdicts in verdicts_by_run.items() if agent_failed(verdicts)}
    sites = sorted({site for site in site_by_run.values() if site})
    scores: list[Score] = []
    for detector in ALL_DETECTORS:
        fired = {
            run
            for run, flags in flags_by_run.items()
            if any(flag.detector == detector.name and flag.version == detector.version for flag in flags)
        }
        calls = {run: called_rightly(detector.name, verdicts_by_run.get(run, ())) for run in fired}
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
                )
            )
    return scores
