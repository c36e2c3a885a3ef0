"""Knowledge that several people write: merge, differences for people, and the release page of a freeze."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

from app.engine.api.engine_api import BehaviourDiff
from app.engine.api.evaluation_api import TipCreditRow
from app.engine.api.shared_knowledge_api import MergeChoices, ReleasePage
from app.engine.core.events import KnowledgeChanged
from app.engine.evaluation.report.release_page import ReleaseFacts, release_html
from app.engine.jobs import Job
from app.engine.services.core import Core
from app.errors import InputError
from kb import atomic
from kb.differences import KbChanges, explain
from kb.freeze import open_any, verify
from kb.frozen import frozen_version
from kb.manifest import read_manifest
from kb.merge import MergeReport, merge
from kb.merge_plan import MergePlan, plan_merge

Behaviour = Callable[[str, str], Awaitable[BehaviourDiff]]
Credits = Callable[[], Awaitable[list[TipCreditRow]]]


class SharedKnowledgeService:
    """Use cases of several people's knowledge bases."""

    def __init__(self, core: Core, behaviour: Behaviour, credits: Credits) -> None:
        self._core, self._behaviour, self._credits = core, behaviour, credits

    async def kb_merge_plan(self, path: str, base: str = "") -> MergePlan:
        """Plan the merge of another knowledge base; nothing is changed.

        ``base`` is a copy of the common past, "" where the histories show it.
        """

        async def work(job: Job) -> MergePlan:
            def planning() -> MergePlan:
                with ExitStack() as files:
                    other = files.enter_context(open_any(_full(path)))
                    past = files.enter_context(open_any(_full(base))) if base else None
                    return plan_merge(self._core.kb, other, past)

            job.advance(0, None, Path(path).name)
            return await self._core.on_store(planning)

        _, task = self._core.registry.start("Compare with a knowledge base", work, cooperative=False)
        return await task

    async def kb_merge(self, path: str, choices: MergeChoices | None = None) -> MergeReport:
        """Merge another knowledge base as one undoable change; with undecided conflicts nothing is changed."""
        how = choices or MergeChoices()

        async def work(job: Job) -> MergeReport:
            def merging() -> MergeReport:
                with ExitStack() as files:
                    other = files.enter_context(open_any(_full(path)))
                    past = files.enter_context(open_any(_full(how.base))) if how.base else None
                    return merge(
                        self._core.kb,
                        other,
                        past,
                        decisions=how.decisions,
                        every=how.every,
                        leave_conflicts=how.leave_conflicts,
                        plan_key=how.plan_key,
                    )

            job.advance(0, None, Path(path).name)
            return await self._core.do_in_kb(merging)

        _, task = self._core.registry.start("Merge a knowledge base", work, cooperative=False)
        report = await task
        self._core.bus.publish(KnowledgeChanged(tips=()))
        return report

    async def kb_changes(self, a: str, b: str) -> KbChanges:
        """Say what became of the tips of one knowledge base in another: why, by whom and when, as far as is known."""

        def comparing() -> KbChanges:
            with open_any(_full(a)) as left, open_any(_full(b)) as right:
                return explain(left, right, self._core.kb)

        return await self._core.on_store(comparing)

    async def kb_release(self, new: str, since: str, out: str) -> ReleasePage:
        """Write the release page of a frozen file; ``since`` is an older one to compare it with, or "".

        Raises:
            InputError: a file is no knowledge base, ``new`` is not frozen, or ``out`` is a knowledge base.
        """
        path, target = _full(new), _full(out)
        if frozen_version(path) is None and path.is_file():
            raise InputError(
                "a release page is of a frozen file; freeze the knowledge base first", path=str(path)
            )
        if target.exists() and not _is_page(target):
            raise InputError(
                "this is a file of another kind, not a page; choose another name", path=str(target)
            )

        async def work(job: Job) -> ReleasePage:
            job.advance(0, 3, "comparing tips")
            verified = await self._core.on_worker(verify, path)
            with open_any(path) as frozen:
                tips = frozen.tips()
            changes = await self.kb_changes(since, new) if since else None
            job.advance(1, 3, "comparing what agents would be given")
            behaviour = await self._behaviour(str(_full(since)), str(path)) if since else None
            job.advance(2, 3, "writing the page")
            manifest = read_manifest(path)
            facts = ReleaseFacts(
                name=path.name,
                since=Path(since).name if since else "",
                changes=changes,
                behaviour=behaviour,
                verified=verified,
                manifest=manifest.data if manifest.ok else {},
                tips=tips,
                credits=await self._credits(),
                at=time.time(),
            )
            html = release_html(facts)
            await self._core.on_worker(atomic.place, target, html.encode("utf-8"))
            differences = len(changes.tips) if changes is not None else 0
            return ReleasePage(path=str(target), tips=len(tips), differences=differences, intact=verified.ok)

        _, task = self._core.registry.start("Write a release page", work, cooperative=False)
        return await task


def _full(path: str) -> Path:
    return Path(path).expanduser()


def _is_page(path: Path) -> bool:
    """Whether an existing file may be replaced: it is a page, or empty."""
    try:
        with path.open("rb") as file:
            head = file.read(64).lstrip().lower()
    except OSError:
        return False
    return not head or head.startswith(b"<!doctype html")
