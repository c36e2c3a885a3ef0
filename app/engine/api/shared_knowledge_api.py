"""Use cases of knowledge that several people write: merge, differences, release page.  Part of ``EngineApi``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from kb.differences import KbChanges
from kb.merge import MergeReport, MergeSide
from kb.merge_plan import MergePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeChoices:
    """How to merge.

    Attributes:
        base: a copy of the common past, "" where the histories show it.
        decisions: what people decided, by tip; ``every`` decides all other conflicts, ``None`` none of them.
        leave_conflicts: leave undecided ones as they are here and merge the rest.
        plan_key: the plan that was decided; another one is refused.
    """

    base: str = ""
    decisions: Mapping[str, MergeSide] = field(default_factory=dict[str, MergeSide])
    every: MergeSide | None = None
    leave_conflicts: bool = False
    plan_key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePage:
    """The release page of a frozen file, as written."""

    path: str
    tips: int
    differences: int
    intact: bool


class SharedKnowledgeApi(Protocol):
    """Several people's knowledge bases."""

    async def kb_merge(self, path: str, choices: MergeChoices | None = None) -> MergeReport: ...
    async def kb_merge_plan(self, path: str, base: str = "") -> MergePlan: ...
    async def kb_changes(self, a: str, b: str) -> KbChanges: ...
    async def kb_release(self, new: str, since: str, out: str) -> ReleasePage: ...
