"""Sources of a comparison beside the journals: the suite's tasks, people's verdicts, the tips of frozen files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from app.engine.core.evaluation.episode import Arm, EvaluationHead, EvaluationJournal
from app.engine.core.evaluation.suite import SuiteTask
from app.engine.services.core import Core
from app.engine.services.suites import SuiteService
from app.errors import SiteloreError
from kb.errors import KbError
from kb.frozen import FrozenKnowledgeBase
from kb.reading import read_bytes
from kb.tip import Tip

LIVE = "live"
"""Stands for the workspace's own knowledge base where texts are looked up."""
_MAX_BYTES = 2**30


class ComparisonSources:
    """Reads them from the workspace; what is not there any more is left out, never an error."""

    def __init__(self, core: Core, suites: SuiteService) -> None:
        self._core, self._suites = core, suites
        self._frozen: dict[str, dict[str, str]] = {}
        """Texts by the hash of a frozen file: a file of the same hash never changes."""

    async def tasks(self, heads: Sequence[EvaluationHead]) -> dict[str, SuiteTask]:
        """Return the tasks of the heads' suites, of those that the workspace has in the same version."""
        found: dict[str, SuiteTask] = {}
        for name, sha256 in {(head.suite, head.suite_sha256) for head in heads}:
            try:
                suite = await self._suites.suite(name)
            except SiteloreError:
                continue
            if suite.sha256 == sha256:
                found |= {task.id: task for task in suite.tasks}
        return found

    async def labels(self, journals: Sequence[EvaluationJournal]) -> dict[str, tuple[str, ...]]:
        """Return people's verdicts on the runs of evaluations, by run."""
        wanted = {record.run for journal in journals for record in journal.records if record.run}
        verdicts = await self._core.on_store(self._core.workspace.review.verdicts)
        labels: dict[str, tuple[str, ...]] = {}
        for verdict in verdicts:
            if verdict.run in wanted:
                labels[verdict.run] = (*labels.get(verdict.run, ()), verdict.label.value)
        return labels

    async def knowledge(self, heads: Sequence[EvaluationHead]) -> dict[str, dict[str, str]]:
        """Return the texts of tips: of the workspace's own, and of each frozen file that is where it was."""
        arms = {arm.kb_sha256: arm for head in heads for arm in head.arms if arm.kb_sha256}
        live = await self._core.on_store(self._core.kb.tips)
        for sha256, arm in arms.items():
            if sha256 not in self._frozen:
                texts = await self._core.on_worker(_texts_in, arm)
                if texts is not None:
                    self._frozen[sha256] = texts
        return {
            LIVE: _texts(live),
            **{sha256: self._frozen[sha256] for sha256 in arms if sha256 in self._frozen},
        }


def _texts_in(arm: Arm) -> dict[str, str] | None:
    path = Path(arm.kb).expanduser()
    try:
        if hashlib.sha256(read_bytes(path, _MAX_BYTES)).hexdigest() != arm.kb_sha256:
            return None
        with FrozenKnowledgeBase.open(path) as frozen:
            return _texts(frozen.tips())
    except (KbError, OSError):
        return None


def _texts(tips: Sequence[Tip]) -> dict[str, str]:
    return {tip.id: " ".join((tip.text or tip.do).split()) for tip in tips}
