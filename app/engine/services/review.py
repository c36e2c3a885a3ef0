"""Flags, risk and verdicts: detect, rank, judge, learn from the verdicts."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, cast

from app.engine.api.review_api import RiskReport
from app.engine.api.run_filter_words import ME
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.events import RunsChanged
from app.engine.core.supervision import FlagReaction
from app.engine.core.trajectory import count_operator_steps
from app.engine.core.verdicts import Flag, Label, Opinion, Verdict
from app.engine.detectors.cross_validation import SIMILAR_GOALS, CrossValidation
from app.engine.detectors.ranking import RankedRun, Ranking, RankingData, rank
from app.engine.detectors.risk import DETECTOR_SET_HASH, RiskModel, cluster_key
from app.engine.detectors.runner import detect_run, in_order
from app.engine.detectors.scorecard import scorecard
from app.engine.detectors.similar_goals import RunGoal, SimilarGoals
from app.engine.detectors.suspect import find_suspect
from app.engine.detectors.teaching import covering_picks, teaching_order
from app.engine.detectors.vlm import decided, flags_of
from app.engine.jobs import Job
from app.engine.services.clustering import filtered_rows
from app.engine.services.core import Core, on_store
from app.errors import NotFound

log = logging.getLogger(__name__)

DETECT_CHUNK = 25
"""Runs detected in one turn of the store thread; other work gets its turn in between."""

_STATE = "risk-model"
_BASIS = f"{DETECTOR_SET_HASH} similar goals"
"""The detectors and rankings that a stored ranking was chosen from; another choice is made anew."""
_NO_OPINION = Opinion(run="")


class ReviewService:
    """The judgement of runs by detectors and people."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._model: RiskModel | None = None
        self._trial = CrossValidation()
        self._goals = SimilarGoals(())
        self._stale = False
        self._fitting: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None

    async def detect(self, runs: Sequence[str] = (), job: Job | None = None) -> list[Flag]:
        """Run every rule over these runs (all of them by default) and rank them again.

        Flags from an earlier opinion of a model are kept beside those of the rules.
        """
        ids = list(runs) or [
            row.id for row in await self._core.on_store(self._core.workspace.index.rows, RunFilter())
        ]
        found: list[Flag] = []
        usual = await self._core.on_store(self._core.workspace.index.site_lengths)
        opinions = await self._core.on_store(
            self._core.workspace.review.opinions, ids[0] if len(ids) == 1 else ""
        )
        for start in range(0, len(ids), DETECT_CHUNK):
            found += await self._core.on_store(
                self._detect_chunk, ids[start : start + DETECT_CHUNK], usual, opinions
            )
            if job is not None:
                job.advance(min(start + DETECT_CHUNK, len(ids)), len(ids), "looking for failures")
                if job.cancel_requested:
                    break
        self._core.bus.publish(RunsChanged(runs=tuple(ids) if len(ids) <= DETECT_CHUNK else ()))
        if self._trial.in_use == SIMILAR_GOALS:  # these runs have a risk by their flags alone
            self._rank_in_background()
        return found

    async def detect_missing(self, job: Job | None = None) -> None:
        """Run the rules over every run that this version has not seen yet.

        Such runs are left by a killed or cancelled import, a lost index, or an older program.
        """
        rest = await self._core.on_store(self._core.workspace.index.runs_to_detect, DETECTOR_SET_HASH)
        if rest:
            await self.detect(rest, job)
            if await self._core.on_store(self._fit_is_old):
                await self.after_verdicts(())

    async def start_missing_detection(self) -> None:
        """Start ``detect_missing`` as a job, if there is anything to do and none is running."""
        rest = await self._core.on_store(self._core.workspace.index.runs_to_detect, DETECTOR_SET_HASH)
        if rest and (self._looking is None or self._looking.done()):
            _, self._looking = self._core.registry.start("Look for failures", self.detect_missing)

    async def give_verdict(
        self, run: str, label: Label, step: int | None = None, note: str = "", lead_seconds: float = 0.0
    ) -> Verdict:
        """Store a person's verdict and refit the ranking."""
        verdict = Verdict(
            id=f"v-{uuid.uuid4().hex[:12]}",
            run=run,
            label=Label(label),
            step=step,
            note=note,
            author=self._core.author,
            at=time.time(),
            lead_seconds=lead_seconds,
        )

        def judging() -> Verdict:
            workspace = self._core.workspace
            loaded, steps = workspace.runs.load(run)
            if step is not None and not 0 <= step <= len(steps):
                raise NotFound(f"run {loaded.id} has no step {step}; it has {len(steps)}")
            given = replace(verdict, guideline=workspace.annotators.guideline_version())
            workspace.review.add_verdict(given)
            return given

        given = await self._core.do_in_review(judging)
        await self.after_verdicts((run,))
        return given

    async def withdraw_verdict(self, verdict: str) -> None:
        """Withdraw a verdict; its row stays in the history."""
        run = await self._core.do_in_review(self._core.workspace.review.withdraw, verdict)
        await self.after_verdicts((run,))

    async def next_to_review(
        self, after: str = "", other_kind: bool = False, which: RunFilter | None = None
    ) -> RunRow | None:
        """Return the unjudged run after ``after`` in the filter's order, of another failure signature if asked.

        Without a filter it is the riskiest one that failed. In a person's queue, a run is unjudged while that person
        has not judged it.
        """
        which = which or RunFilter(failed=True, order="risk")
        rows = await self._core.on_store(filtered_rows, self._core.workspace.index, which)
        rows = await self.in_teaching_order(rows, which)
        here = next((at for at, row in enumerate(rows) if row.id == after), -1)
        kind = rows[here].signature if here >= 0 and other_kind else None
        waiting = [
            row
            for row in rows[here + 1 :] + rows[: max(here, 0)]
            if row.id != after and self._waits(row, which)
        ]
        return next((row for row in waiting if row.signature != kind), waiting[0] if waiting else None)

    async def in_teaching_order(self, rows: list[RunRow], which: RunFilter) -> list[RunRow]:
        """Return rows in the order ``teach``, if the filter asks for it: judged ones last, and the reasons set.

        The rows are given riskiest first.
        """
        waiting = [row.id for row in rows if self._waits(row, which)] if which.order == "teach" else []
        if not waiting:
            return rows

        def ask() -> tuple[tuple[RunGoal, ...], set[str]]:
            workspace = self._core.workspace
            judged = {verdict.run for verdict in workspace.review.verdicts()}
            return _goals_of(workspace.index.rows(RunFilter())), judged

        goals, judged = await self._core.on_store(ask)
        picks = await self._core.on_worker(
            lambda: covering_picks(self._similar_goals(goals), judged, waiting)
        )
        order = teaching_order(waiting, picks, len(judged))
        by_id = {row.id: row for row in rows}
        first = [replace(by_id.pop(run), teaches=words) for run, words in order]
        return [*first, *by_id.values()]

    def _waits(self, row: RunRow, which: RunFilter) -> bool:
        person = self._core.author if which.assigned == ME else which.assigned
        return person not in row.judged_by if person else not row.label

    def _similar_goals(self, goals: tuple[RunGoal, ...]) -> SimilarGoals:
        """Return these goals; likenesses that are known stay known until a run comes or goes."""
        known = self._goals
        if known.goals != goals:
            known = self._goals = SimilarGoals(goals)
        return known

    @on_store
    def risk_report(self) -> RiskReport:
        """Return the ranking's weights and each detector's scorecard, by verdicts and reactions.

        Runs that the author is yet to judge blindly are left out of the scorecards.
        """
        model, review, index = self._risk_model(), self._core.workspace.review, self._core.workspace.index
        verdicts: dict[str, list[Verdict]] = defaultdict(list)
        annotators, author = self._core.workspace.annotators, self._core.author
        for verdict in annotators.visible_verdicts(author):
            verdicts[verdict.run].append(verdict)
        blind = annotators.blind_runs(author)
        reactions = {run: found for run, found in self._reactions().items() if run not in blind}
        rows = [row for row in index.rows(RunFilter()) if row.id not in blind]
        found = index.all_flags()
        flags = {row.id: found.get(row.id, []) for row in rows}
        decisions = {run: decided(opinion) for run, opinion in review.opinions().items()}
        sites = {row.id: row.site for row in rows}
        scores = scorecard(flags, verdicts, sites, decisions, reactions)
        return RiskReport(
            fitted_on=model.fitted_on,
            scores=tuple(scores),
            weights=model.weights,
            in_use=self._trial.in_use,
            judged_failed=self._trial.failed,
            judged_passed=self._trial.passed,
            auroc_cold=self._trial.cold,
            auroc_fitted=self._trial.fitted,
            auroc_similar=self._trial.similar,
            why=self._trial.why,
        )

    @on_store
    def risk_of(self, run: str, site: str, steps: int, flags: Sequence[Flag]) -> float:
        """Return how likely an active run fails, by its flags so far."""
        usual = self._core.workspace.index.site_lengths().get(site)
        return self._risk_model().assess(run, flags, steps, usual, frozenset()).value

    async def after_verdicts(self, runs: Sequence[str]) -> None:
        """Publish the change, and refit the ranking in the background: no key press waits for it."""
        self._core.bus.publish(RunsChanged(runs=tuple(runs)))
        self._rank_in_background()

    def _rank_in_background(self) -> None:
        self._stale = True
        if self._fitting is None or self._fitting.done():
            self._fitting = self._core.registry.hold(self._fit_while_stale())

    async def settle(self) -> None:
        """Wait until the ranking has learnt from every verdict."""
        if self._fitting is not None:
            await asyncio.gather(self._fitting, return_exceptions=True)

    async def _fit_while_stale(self) -> None:
        core = self._core
        while self._stale:
            self._stale = False
            data, goals = await core.on_store(self._ranking_data)
            ranking = await core.on_worker(self._rank, data, goals)

            def keep(ranking: Ranking = ranking) -> None:
                self._model, self._trial = ranking.model, ranking.trial
                kept = {"model": ranking.model.to_json(), "basis": _BASIS, "trial": asdict(ranking.trial)}
                core.workspace.review.save_state(_STATE, kept)
                core.workspace.index.put_risks(ranking.risks)

            await core.on_store(keep)
            core.bus.publish(RunsChanged())

    def _detect_chunk(
        self, ids: Sequence[str], usual: dict[str, float], opinions: dict[str, Opinion]
    ) -> list[Flag]:
        workspace, model = self._core.workspace, self._risk_model()
        found: list[Flag] = []
        with workspace.index.batch():
            for run_id in ids:
                try:
                    run, steps = workspace.runs.load(run_id)
                    typical = _with_operator_steps(usual.get(run.site), count_operator_steps(steps))
                    opinion = opinions.get(run_id, _NO_OPINION)
                    found_here = detect_run(run, steps, usual.get(run.site), workspace.runs.read_blob)
                    flags = in_order([*found_here, *flags_of(opinion)])
                    suspect = find_suspect(run, steps, flags).step
                    risk = model.assess(
                        run_id, flags, run.step_count, typical, decided(opinion), suspect=suspect
                    )
                    kind = cluster_key(run, flags, steps)
                except Exception:
                    if len(ids) == 1:
                        raise
                    # It stays undetected, and does not keep others from being detected.
                    log.exception("detection failed on run %s", run_id)
                    continue
                workspace.index.put_judgement(run_id, flags, risk, kind, DETECTOR_SET_HASH)
                found += flags
        return found

    def _risk_model(self) -> RiskModel:
        if self._model is None:
            kept = self._core.workspace.review.load_state(_STATE)
            if kept and kept.get("basis") == _BASIS:
                self._model = RiskModel.from_json(str(kept["model"]))
                self._trial = CrossValidation(**cast("dict[str, Any]", kept["trial"]))
            else:  # nothing was fitted, or from another prior: it is tried again after the detectors
                self._model = RiskModel()
        return self._model

    def _fit_is_old(self) -> bool:
        kept = self._core.workspace.review.load_state(_STATE)
        return bool(kept) and kept.get("basis") != _BASIS

    def _ranking_data(self) -> tuple[RankingData, tuple[RunGoal, ...]]:
        index, review = self._core.workspace.index, self._core.workspace.review
        verdicts: dict[str, list[Verdict]] = defaultdict(list)
        for verdict in review.verdicts():
            verdicts[verdict.run].append(verdict)
        hands, usual, flags = index.by_hand(), index.site_lengths(), index.all_flags()
        decisions = {run: decided(opinion) for run, opinion in review.opinions().items()}
        rows = index.rows(RunFilter())
        runs = {
            row.id: RankedRun(
                steps=row.steps,
                usual_steps=_with_operator_steps(usual.get(row.site), hands.get(row.id, 0)),
                task=f"{row.suite} {row.task_id}" if row.task_id else "",
                flags=tuple(flags.get(row.id, ())),
                decided=decisions.get(row.id, frozenset()),
            )
            for row in rows
        }
        return RankingData(runs=runs, verdicts=verdicts, reactions=self._reactions()), _goals_of(rows)

    def _rank(self, data: RankingData, goals: tuple[RunGoal, ...]) -> Ranking:
        return rank(data, self._similar_goals(goals))

    def _reactions(self) -> dict[str, list[FlagReaction]]:
        found: dict[str, list[FlagReaction]] = defaultdict(list)
        for reaction in self._core.workspace.supervision.reactions():
            found[reaction.run].append(reaction)
        return found


def _goals_of(rows: Sequence[RunRow]) -> tuple[RunGoal, ...]:
    return tuple(RunGoal(row.id, row.site, row.intent) for row in rows)


def _with_operator_steps(usual: float | None, by_hand: int) -> float | None:
    """Add a person's steps to the usual length of a run: they make no run a long one."""
    return usual + by_hand if usual is not None else None
