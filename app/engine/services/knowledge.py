"""Tips: compose, check, save, retrieve, freeze, exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.engine.api.engine_api import SavedTip, TipCheck, TipForm
from app.engine.core.events import KnowledgeChanged
from app.engine.jobs import Job
from app.engine.services.answer_guard import AnswerGuard
from app.engine.services.core import Core, on_store
from app.engine.services.retrieval import RetrievalService
from app.engine.services.stored_suites import StoredSuites
from app.engine.services.tip_drafting import draft_tip
from app.errors import NotFound, UsageError
from kb import exchange
from kb.confidential import CONFIDENTIAL, NOTHING, LeaveOut
from kb.freeze import diff, freeze, open_any, verify
from kb.gate import error_rules
from kb.leave_out import leave_out as without_tip
from kb.lint import lint, task_values
from kb.procedure import ProcedureOrigin
from kb.select import to_freeze
from kb.similar import find_similar
from kb.tip import (
    FreezeReport,
    ImportReport,
    KbDiff,
    KbStats,
    LintFinding,
    LintSeverity,
    Preflight,
    Revision,
    Scope,
    Similar,
    Status,
    StatusChange,
    Tip,
    TipDraft,
    VerifyReport,
)


class KnowledgeService:
    """Use cases of the knowledge base."""

    def __init__(
        self, core: Core, retrieval: RetrievalService, stored_suites: StoredSuites | None = None
    ) -> None:
        self._core, self._retrieval = core, retrieval
        self._answers = AnswerGuard(stored_suites or StoredSuites(core.workspace))
        core.kb.judge = self._error_rules

    @on_store
    def compose_tip(self, run: str, step: int) -> TipForm:
        """Return the composer's initial form for a step of a run."""
        workspace = self._core.workspace
        loaded, steps = workspace.runs.load(run)
        pages = [*steps, *([loaded.final] if loaded.final is not None else [])]
        if not 0 <= step < len(pages):
            raise NotFound(f"run {run} has no step {step}; it has {len(steps)}")
        site = workspace.site_of(pages[step].url) or loaded.site
        row = workspace.index.row(run)  # with the label that the author may see
        label = row.label if row is not None else ""
        flags = workspace.index.flags(run)
        draft = draft_tip(loaded, pages[step], flags, site, self._core.author, label)
        return TipForm(draft=draft, intent=loaded.intent, task_values=task_values(loaded.intent))

    async def check_tip(
        self, draft: TipDraft, intent: str = "", tip: str = "", preflight: bool = True
    ) -> TipCheck:
        """Return lint, similar tips and, if asked, the pre-flight of a draft that is being typed."""
        await self._retrieval.catch_up()
        findings, similar = await self._core.on_store(self._judge, draft, intent, tip)
        flight = await self._retrieval.preflight(draft, tip) if preflight and draft.text.strip() else None
        return TipCheck(lint=findings, similar=similar, preflight=flight)

    async def save_tip(self, draft: TipDraft, intent: str = "") -> SavedTip:
        """Store a tip; return its id, lint findings and near duplicates."""
        _refuse_empty(draft)
        await self._retrieval.catch_up()
        findings, similar = await self._core.on_store(self._judge, draft, intent, "")
        tip = await self._core.do_in_kb(self._core.kb.add, draft)
        self._changed((tip.id,))
        if any(
            near.tip.id == tip.id for near in similar
        ):  # it was here already, and is no duplicate of itself
            findings, similar = await self._core.on_store(self._judge, draft, intent, tip.id)
        return SavedTip(id=tip.id, lint=findings, similar=similar)

    async def edit_tip(self, tip: str, draft: TipDraft, intent: str = "", waive: str = "") -> SavedTip:
        """Store a new revision of a tip; an active one with lint errors needs a reason to waive them."""
        _refuse_empty(draft)
        await self._retrieval.catch_up()
        findings, similar = await self._core.on_store(self._judge, draft, intent, tip)
        await self._core.do_in_kb(self._core.kb.edit, tip, draft, waive)
        self._changed((tip,))
        return SavedTip(id=tip, lint=findings, similar=similar)

    async def set_status(self, tips: Sequence[str], to: Status, waive: str = "") -> StatusChange:
        """Change the status of tips; those with lint errors don't become active without a reason to ``waive``."""

        def moving() -> StatusChange:
            kb = self._core.kb
            changed = kb.set_status(list(tips), Status(to), waive)
            refused = {tip.id: kb.unwaived(tip) for tip in changed if Status(to) is Status.ACTIVE}
            return StatusChange(
                tips=tuple(changed), refused={tip: rules for tip, rules in refused.items() if rules}
            )

        change = await self._core.do_in_kb(moving)
        self._changed(tuple(tips))
        return change

    async def list_tips(self, site: str = "", status: str = "", search: str = "") -> list[Tip]:
        """Return tips, sorted by id."""
        statuses = _statuses(status)
        return await self._core.on_store(self._core.kb.tips, site=site, statuses=statuses, search=search)

    async def tip(self, tip: str) -> Tip:
        """Return one tip."""
        return await self._core.on_store(self._core.kb.get, tip)

    async def tip_history(self, tip: str) -> list[Revision]:
        """Return every version of a tip, oldest first."""
        return await self._core.on_store(self._core.kb.history, tip)

    async def restore_revision(self, tip: str, revision: int) -> Tip:
        """Make an old version the newest one."""
        restored = await self._core.do_in_kb(self._core.kb.restore_revision, tip, revision)
        self._changed((tip,))
        return restored

    async def matching_pages(self, site: str, scope: Scope) -> int:
        """Count the stored pages in a scope."""
        return await self._retrieval.matching(site, scope)

    async def preflight(self, draft: TipDraft, tip: str = "") -> Preflight:
        """Count the stored steps in which the tip would have been retrieved."""
        return await self._retrieval.preflight(draft, tip)

    @on_store
    def lint_tip(self, tip: str) -> list[LintFinding]:
        """Lint a stored tip, with the intent of its source run where that is known."""
        stored = self._core.kb.get(tip)
        return list(self._judge(stored, self._intent_of(stored), tip)[0])

    @on_store
    def lint_marks(self, tips: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return tips' lint as ``error:rule``, ``waived:rule``, ``warning:rule``; neighbours are not compared."""
        return {tip: self._marks(self._core.kb.get(tip)) for tip in tips}

    async def freeze(
        self,
        out: str,
        include: Sequence[Status] = (),
        waive: dict[str, str] | None = None,
        with_learnings: bool = False,
        leave_out: LeaveOut | None = None,
    ) -> FreezeReport:
        """Write the active tips (and those of ``include``) as one read-only file with a manifest.

        Learnings are left out unless asked for ``with_learnings``.

        ``leave_out`` keeps confidential tips out.  ``waive`` includes tips despite their lint errors: reason by id,
        kept in the manifest.
        """

        async def work(job: Job) -> FreezeReport:
            def freezing() -> FreezeReport:
                errors = self._unfit(include, with_learnings)
                encoder = self._retrieval.encoder_identity()
                target = Path(out).expanduser()
                return freeze(
                    self._core.kb,
                    target,
                    include=include,
                    waive=waive or {},
                    lint_errors=errors,
                    encoder=encoder,
                    with_learnings=with_learnings,
                    leave_out=leave_out or NOTHING,
                )

            job.advance(0, None, "freezing")
            return await self._core.on_store(freezing)

        _, task = self._core.registry.start("Freeze the knowledge base", work, cooperative=False)
        return await task

    async def kb_without(self, path: str, tip: str, out: str) -> FreezeReport:
        """Write a frozen file without one of its tips to another file, to measure what that tip is worth."""
        return await self._core.on_worker(without_tip, Path(path).expanduser(), tip, Path(out).expanduser())

    async def verify(self, path: str) -> VerifyReport:
        """Check a frozen file against its manifest."""
        return await self._core.on_worker(verify, Path(path).expanduser())

    async def kb_stats(self) -> KbStats:
        """Return the knowledge base's counts."""
        return await self._core.on_store(self._core.kb.stats)

    async def kb_tips(self, path: str) -> list[Tip]:
        """Return the tips of another knowledge base, frozen or not, which stays as it is."""

        def reading() -> list[Tip]:
            with open_any(Path(path).expanduser()) as other:
                return list(other.tips())

        return await self._core.on_worker(reading)

    async def kb_diff(self, a: str, b: str) -> KbDiff:
        """Compare the tips of two knowledge bases."""

        def comparing() -> KbDiff:
            with open_any(Path(a).expanduser()) as left, open_any(Path(b).expanduser()) as right:
                return diff(left, right)

        return await self._core.on_worker(comparing)

    async def kb_import(self, path: str, format: str, site: str = "") -> ImportReport:
        """Import tips from an exchange file, as drafts."""

        async def work(job: Job) -> ImportReport:
            job.advance(0, None, Path(path).name)
            return await self._core.do_in_kb(
                exchange.import_file, self._core.kb, Path(path).expanduser(), format, site=site
            )

        _, task = self._core.registry.start("Import tips", work, cooperative=False)
        report = await task
        self._changed(report.added)
        return report

    @on_store
    def kb_export(
        self, out: str, format: str, site: str = "", statuses: Sequence[Status] = (), source: str = ""
    ) -> int:
        """Write tips to an exchange file; return how many.

        Formats for other people's agents get the active tips that are not tagged confidential.

        Args:
            statuses: those of the tips that are written; by default the active ones, or in other formats all.
            source: a knowledge base file in place of the workspace's own.
        """
        target = Path(out).expanduser()
        for_agents = exchange.format_of(target, format).for_agents
        wanted = statuses or ((Status.ACTIVE,) if for_agents else None)
        base = open_any(Path(source).expanduser()) if source else self._core.kb
        try:
            tips = base.tips(site=site, statuses=wanted)
        finally:
            if source:
                base.close()
        tips = [tip for tip in tips if not (for_agents and CONFIDENTIAL in tip.tags)]
        exchange.write(tips, target, format)
        return len(tips)

    async def save_draft(self, key: str, draft: TipDraft | None) -> None:
        """Store text that is being typed, so that a crash does not lose it; ``None`` deletes it."""
        await self._core.on_store(self._core.workspace.review.save_draft, key, draft)

    async def load_draft(self, key: str) -> TipDraft | None:
        """Return the draft stored under this key."""
        return await self._core.on_store(self._core.workspace.review.load_draft, key)

    def _changed(self, tips: tuple[str, ...]) -> None:
        self._core.bus.publish(KnowledgeChanged(tips=tips))

    def _judge(
        self, draft: TipDraft, intent: str, tip: str
    ) -> tuple[tuple[LintFinding, ...], tuple[Similar, ...]]:
        if draft.procedure is not None and draft.procedure.origin is ProcedureOrigin.COMPILER:
            draft = replace(draft, procedure=None)  # of the version before: its words may be others now
        neighbours = self._core.kb.tips(site=draft.site)
        similar = find_similar(
            draft,
            neighbours,
            encoder=self._retrieval.encoder,
            vectors=self._core.kb.vectors,
            exclude=tip,
        )
        values = task_values(intent) if intent else ()
        others = [near.tip for near in similar]
        answers = self._answers.of_site(draft.site)
        found = lint(draft, intent=intent, task_values=values, neighbours=others, answers=answers)
        return tuple(found), tuple(similar)

    def _unfit(self, include: Sequence[Status], with_learnings: bool) -> dict[str, list[str]]:
        statuses = [Status(status) for status in include]
        unfit: dict[str, list[str]] = {}
        for tip in self._core.kb.tips():
            if to_freeze(tip, statuses, with_learnings) and (rules := self._error_rules(tip)):
                unfit[tip.id] = list(rules)
        return unfit

    def _marks(self, tip: Tip) -> tuple[str, ...]:
        waived = tip.waiver.rules if tip.waiver is not None else ()
        found = lint(tip, intent=self._intent_of(tip), answers=self._answers.of_site(tip.site))
        said = [
            f"{'waived' if one.rule in waived else one.severity.value}:{one.rule}"
            for one in found
            if one.severity is not LintSeverity.HINT
        ]
        return tuple(dict.fromkeys(said))

    def _error_rules(self, draft: TipDraft) -> tuple[str, ...]:
        return error_rules(draft, self._intent_of(draft), self._answers.of_site(draft.site))

    def _intent_of(self, tip: TipDraft) -> str:
        row = self._core.workspace.index.row(tip.provenance.run) if tip.provenance.run else None
        return row.intent if row is not None else ""


def _refuse_empty(draft: TipDraft) -> None:
    if not draft.site.strip():
        raise UsageError("a tip needs a site", remedy="say which site it is for")
    if not (draft.text.strip() or draft.do.strip()):
        raise UsageError("a tip needs a text", remedy="write what to do on this site")


def _statuses(status: str) -> tuple[Status, ...] | None:
    if not status:
        return None
    try:
        return tuple(Status(part.strip()) for part in status.split(","))
    except ValueError as error:
        known = ", ".join(s.value for s in Status)
        raise UsageError(f"no such status: {status}", remedy=f"there are {known}") from error
