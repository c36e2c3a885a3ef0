"""Causes, comparisons, clusters and annotators of made-up runs, for the window without an engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from app.engine.api.review_api import (
    AlignedStep,
    AnnotatorQueue,
    AnswerPage,
    AnswerPlace,
    AnswerTerm,
    AssignmentRequest,
    BulkVerdict,
    CauseSource,
    Disagreement,
    FailureCluster,
    Guideline,
    LabelAgreement,
    LikelyCause,
    PairAgreement,
    ProgressRow,
    ReviewProgress,
    RunAlignment,
    SimilarRun,
    Suspect,
    TipOpportunity,
    VerdictImport,
)
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.events import EventBus, RunsChanged
from app.engine.core.trajectory import Run
from app.engine.core.verdicts import Flag, Label, Verdict
from app.errors import SiteloreError
from tests.support.made_up import NOW

ME, OTHER = "ana", "ben"


class FakeReview:
    """The newer use cases of Review; attributes that tests may set say what they answer."""

    bus: EventBus
    calls: list[tuple[str, tuple[Any, ...]]]
    all_runs: dict[str, Run]
    flags: dict[str, tuple[Flag, ...]]
    verdicts: dict[str, list[Verdict]]

    def start_review(self) -> None:
        self.answer_pages: dict[str, AnswerPage] = {}
        self.causes: dict[str, LikelyCause] = {}
        self.no_cause_model = "No model endpoint is set. Set its address in the settings."
        self.guideline_texts = ["Give the label that names the first mistake."]
        self.queues: dict[str, tuple[str, ...]] = {}
        self.pairs: list[PairAgreement] = []
        self.suspects: dict[str, Suspect] = {}
        self.hidden_verdicts: dict[str, int] = {}
        self.backwards: dict[str, Callable[[], None]] = {}
        """What undoing a change does, by its label; other changes are undone in name only."""

    async def answer_page(self, run: str) -> AnswerPage:
        found = self.all_runs[run]
        return self.answer_pages.get(run) or AnswerPage(
            run=run,
            step=max(found.step_count - 1, 0),
            intent=found.intent,
            answer=found.answer,
            ended=found.outcome.value,
            terms=(
                AnswerTerm(
                    text="1TB",
                    kind="number",
                    places=(AnswerPlace(step=3, line=4, url="http://shop.example/a", title="A", text="1TB"),),
                ),
                AnswerTerm(text="Samsung", kind="name"),
            ),
            pages=found.step_count,
        )

    async def likely_cause(self, run: str) -> LikelyCause:
        if run in self.causes:
            return self.causes[run]
        flags = self.flags.get(run, ())
        text = flags[0].message if flags else ""
        return LikelyCause(
            run=run, text=text, step=flags[0].step if flags else -1, label=Label.LOOP if flags else None
        )

    async def ask_cause(self, run: str) -> LikelyCause:
        if self.no_cause_model:
            raise SiteloreError(self.no_cause_model)
        cause = LikelyCause(
            run=run, text="It pressed the wrong button.", step=2, source=CauseSource.MODEL, model="m"
        )
        self.causes[run] = cause
        self.bus.publish(RunsChanged(runs=(run,)))
        return cause

    async def similar_runs(self, run: str, passed: bool = True, limit: int = 8) -> list[SimilarRun]:
        site = self.all_runs[run].site
        alike = [
            one
            for one in self.all_runs.values()
            if one.site == site and one.id != run and (not passed or (one.score or 0) >= 1)
        ]
        return [
            SimilarRun(
                id=one.id,
                relation="template" if number == 0 else "goal",
                likeness=0.9 - number / 10,
                intent=one.intent,
                score=one.score,
                steps=one.step_count,
            )
            for number, one in enumerate(alike[:limit])
        ]

    async def align_runs(self, left: str, right: str) -> RunAlignment:
        rows = tuple(AlignedStep(left=n, right=n, same_action=n < 3) for n in range(5))
        return RunAlignment(
            left=left,
            right=right,
            rows=(*rows, AlignedStep(left=5, right=-1), AlignedStep(left=-1, right=5)),
            parting=3,
            why="Both were on Milestones; this run pressed 'Edit', the other one 'New milestone'.",
        )

    async def clusters(self, which: RunFilter) -> list[FailureCluster]:
        rows = [row for row in await self.list_runs(which) if row.flags]
        kinds: dict[str, list[RunRow]] = defaultdict(list)
        for row in rows:
            kinds[row.flags[0]].append(row)
        found = [
            FailureCluster(
                key=kind,
                title=self.flags[of[0].id][0].message,
                detector=kind,
                sites=tuple(sorted({row.site for row in of})),
                page="",
                runs=tuple(row.id for row in of),
                judged=sum(bool(row.label) for row in of),
            )
            for kind, of in kinds.items()
        ]
        return sorted(found, key=lambda cluster: (-len(cluster.runs), cluster.key))

    async def give_verdicts(
        self, runs: Sequence[str], label: Label, note: str = "", lead_seconds: float = 0.0
    ) -> BulkVerdict:
        self.calls.append(("give_verdicts", (tuple(runs), label, note)))
        new = [run for run in runs if label not in {one.label for one in self.verdicts.get(run, ())}]
        given = [
            Verdict(id=f"b-{run}-{label}", run=run, label=label, note=note, author=ME, at=NOW) for run in new
        ]
        for verdict in given:
            self.verdicts.setdefault(verdict.run, []).append(verdict)
        what = f"verdict '{label}' on {len(given)} runs"
        ids = {verdict.id for verdict in given}

        def take_back() -> None:
            for run in new:
                self.verdicts[run] = [one for one in self.verdicts[run] if one.id not in ids]

        self.backwards[what] = take_back
        self._did(what)
        self.bus.publish(RunsChanged())
        return BulkVerdict(
            label=label,
            verdicts=tuple(one.id for one in given),
            runs=tuple(new),
            skipped=tuple(run for run in runs if run not in new),
        )

    async def export_verdicts(self, out: str, format: str = "jsonl") -> int:
        self.calls.append(("export_verdicts", (out, format)))
        return sum(map(len, self.verdicts.values()))

    async def import_verdicts(self, path: str, format: str = "", author: str = "") -> VerdictImport:
        self.calls.append(("import_verdicts", (path, format, author)))
        return VerdictImport(added=3, known=1, unmatched=("webarena 9999",))

    async def tip_opportunities(self, site: str = "") -> list[TipOpportunity]:
        runs = [run for run in self.all_runs.values() if run.failed and (not site or run.site == site)]
        by_site: dict[str, list[str]] = defaultdict(list)
        for run in runs:
            by_site[run.site].append(run.id)
        return [
            TipOpportunity(site=name, page="/milestones/new", runs=tuple(of), tips=(), covered=0, step=4)
            for name, of in by_site.items()
        ]

    async def assign_runs(self, request: AssignmentRequest) -> list[AnnotatorQueue]:
        self.calls.append(("assign_runs", (request,)))
        for number, name in enumerate(request.annotators):
            self.queues[name] = tuple(list(self.all_runs)[number :: len(request.annotators)])
        self._did("assign runs")
        self.bus.publish(RunsChanged())
        return await self.annotator_queues()

    async def annotator_queues(self) -> list[AnnotatorQueue]:
        return [
            AnnotatorQueue(annotator=name, assigned=len(of), shared=2, judged=1)
            for name, of in self.queues.items()
        ]

    async def agreement(self) -> list[PairAgreement]:
        return self.pairs

    def disagree(self) -> None:
        """Have two annotators that agree on 8 of 10 runs."""
        run = next(iter(self.all_runs.values()))
        self.pairs = [
            PairAgreement(
                first=ME,
                second=OTHER,
                runs=10,
                agreed=8,
                kappa=0.71,
                low=0.4,
                high=0.95,
                labels=(
                    LabelAgreement(
                        label=Label.LOOP, both=4, only_first=1, only_second=0, neither=5, kappa=0.8
                    ),
                ),
                disagreements=(
                    Disagreement(
                        run=run.id,
                        site=run.site,
                        intent=run.intent,
                        first=(Label.LOOP,),
                        second=(Label.GAVE_UP,),
                    ),
                ),
            )
        ]

    async def adjudicate(self, run: str, label: Label, note: str = "") -> Verdict:
        self.calls.append(("adjudicate", (run, label, note)))
        verdict = Verdict(id=f"a-{run}", run=run, label=label, note=note, author=ME, at=NOW, settles=True)
        self.verdicts.setdefault(run, []).append(verdict)
        self._did(f"verdict {label} on {run}")
        self.bus.publish(RunsChanged(runs=(run,)))
        return verdict

    async def guideline(self) -> Guideline:
        return (await self.guidelines())[0]

    async def guidelines(self) -> list[Guideline]:
        numbered = [
            Guideline(version=str(number), text=text, author=ME, at=NOW)
            for number, text in enumerate(self.guideline_texts, 1)
        ]
        return numbered[::-1]

    async def save_guideline(self, text: str) -> Guideline:
        self.guideline_texts.append(text)
        return await self.guideline()

    async def review_progress(self, which: RunFilter) -> ReviewProgress:
        rows = await self.list_runs(which)
        judged = sum(bool(row.label) for row in rows)
        total = ProgressRow(
            name="", runs=len(rows), judged=judged, tips=3, verdict_seconds=21.0, tip_seconds=74.0
        )
        sites = sorted({row.site for row in rows})
        return ReviewProgress(
            total=total,
            sites=tuple(
                ProgressRow(
                    name=site,
                    runs=sum(row.site == site for row in rows),
                    judged=sum(row.site == site and bool(row.label) for row in rows),
                    tips=1,
                )
                for site in sites
            ),
            people=(ProgressRow(name=ME, runs=len(rows), judged=judged, tips=3, verdict_seconds=21.0),),
            labels={Label.LOOP.value: 4},
            uncovered=tuple(await self.tip_opportunities()),
        )

    async def progress_page(self, out: str, which: RunFilter | None = None) -> str:
        self.calls.append(("progress_page", (out,)))
        return out

    async def list_runs(self, which: RunFilter) -> list[RunRow]:
        raise NotImplementedError

    def _did(self, what: str) -> None:
        raise NotImplementedError
