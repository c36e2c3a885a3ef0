"""Merges another knowledge base: what a plan says and people have decided, as one undoable change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from kb.common_past import MERGED, state_key
from kb.content import clean, clean_hosts, clean_site, content_key
from kb.errors import KbError
from kb.evidence import Evidence, EvidenceKind
from kb.frozen import FrozenKnowledgeBase
from kb.merge_plan import COMING, MergePlan, MergeRow, MergeSide, plan_merge
from kb.revision_writer import RevisionWriter
from kb.store import KnowledgeBase
from kb.three_way import MergeConflict, MergeOutcome, combined
from kb.tip import ImportReport, Status, Tip, TipDraft

Decisions = Mapping[str, MergeSide]
"""Decisions of conflicts, by the id of the tip."""


class MergeUndecided(KbError):
    """There are conflicts that nobody has decided; nothing was changed."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeReport(ImportReport):
    """The result of a merge.

    Attributes:
        added: ids of new tips, all of them drafts; ``changed`` those that took something of theirs.
        skipped: tips of the other file that were here already, or that only changed here.
        decided: conflicts that were decided; ``left`` those that were left as they are here.
        drafts: changed tips that lint made drafts: the other file's waivers are not taken over.
        evidence: new tests, votes and uses.
    """

    changed: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    drafts: tuple[str, ...] = ()
    evidence: int = 0


@dataclass(slots=True)
class _Done:
    added: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    decided: list[str] = field(default_factory=list[str])
    left: list[str] = field(default_factory=list[str])
    drafts: list[str] = field(default_factory=list[str])
    before: dict[str, int] = field(default_factory=dict[str, int])
    settled: dict[str, str] = field(default_factory=dict[str, str])


def merge(
    into: KnowledgeBase,
    other: KnowledgeBase | FrozenKnowledgeBase,
    base: KnowledgeBase | FrozenKnowledgeBase | None = None,
    *,
    decisions: Decisions | None = None,
    every: MergeSide | None = None,
    leave_conflicts: bool = False,
    plan_key: str = "",
) -> MergeReport:
    """Merge another knowledge base, which is only read, as one undoable change.

    What only they changed is taken, what only we changed is kept, what both changed in different fields is combined
    (``kb.three_way`` has the rule).  New tips come as drafts, whatever their status there.  Hosts are taken over for
    sites that have none here.  Merging twice changes nothing.  Undo takes the hosts back; the evidence stays in the
    file, as all evidence, but is not counted until the merge is redone.

    Args:
        base: a copy of the common past, where the histories do not show it.
        decisions: what people decided of conflicts; ``every`` decides all others.
        leave_conflicts: leave what nobody decided as it is here, and merge the rest.
        plan_key: the plan that the decisions were made for.

    Raises:
        MergeUndecided: there are undecided conflicts.
        KbError: the plan has another key, or a decision is about no conflict.
    """
    with into.changing() as writer:
        plan = plan_merge(into, other, base)
        if plan_key and plan_key != plan.key:
            raise KbError(
                "the tips have changed since the merge was planned; nothing was changed, plan it again"
            )
        chosen = _chosen(plan, decisions or {}, every, leave_conflicts)
        done = _Done()
        now = into.now()
        for number, row in enumerate(plan.rows):
            _apply(row, chosen.get(row.tip), into, writer, done, other.path.name, now + number * 1e-6)
        told = writer.add_evidence(_new_evidence(into, other, plan, done.added), into.uncounted())
        hosts = {clean_site(site): clean_hosts(globs) for site, globs in plan.hosts.items() if globs}
        for site, globs in hosts.items():
            writer.set_hosts(site, globs)
        if done.before or done.settled or told or hosts:
            more = {MERGED: done.settled, "evidence": told}
            writer.record("merge", done.before, f"merge {other.path.name}", more, hosts)
    return MergeReport(
        added=tuple(done.added),
        skipped=sum(row.outcome not in COMING and not row.conflict for row in plan.rows),
        changed=tuple(done.changed),
        decided=tuple(done.decided),
        left=tuple(done.left),
        drafts=tuple(done.drafts),
        evidence=len(told),
    )


def _chosen(
    plan: MergePlan, decisions: Decisions, every: MergeSide | None, leave: bool
) -> dict[str, MergeSide]:
    open_rows = {row.tip: row for row in plan.conflicts}
    if unknown := [id for id in decisions if id not in open_rows]:
        raise KbError(f"there is no conflict about tip {unknown[0]!r} to decide; nothing was changed")
    chosen = {id: decisions.get(id, every) for id in open_rows}
    undecided = [id for id, side in chosen.items() if side is None]
    if undecided and not leave:
        first = ", ".join(undecided[:3]) + (", …" if len(undecided) > 3 else "")
        conflicts = "1 conflict is" if len(undecided) == 1 else f"{len(undecided)} conflicts are"
        raise MergeUndecided(f"{conflicts} undecided ({first}); nothing was changed")
    return {id: side for id, side in chosen.items() if side is not None}


def _apply(
    row: MergeRow,
    side: MergeSide | None,
    into: KnowledgeBase,
    writer: RevisionWriter,
    done: _Done,
    source: str,
    at: float,
) -> None:
    if row.conflict and side is None:
        done.left.append(row.tip)
        return
    if row.conflict:
        done.decided.append(row.tip)
    elif row.outcome not in COMING:
        return
    done.settled[row.tip] = state_key(row.theirs)
    comes = side is not MergeSide.MINE
    edits = row.conflict in (MergeConflict.EDITED_TWICE, MergeConflict.RETIRED_AND_EDITED)
    if edits and row.mine is not None:
        _apply_edit(row, side, row.mine, into, writer, done, source, at)
    elif comes and (row.mine is None or row.beside):
        _add(row, writer, done, source, at)
    elif comes and row.mine is not None:
        _change(row.mine, row, row.fields, into, writer, done, at)
    if row.rival is not None and side is MergeSide.THEIRS:
        _retire(row.rival, writer, done, at)
    if row.mine is not None and not row.beside and row.tip not in done.before:
        done.before[row.tip] = (
            row.mine.revision
        )  # nothing changed; the journal notes which version was settled


def _apply_edit(
    row: MergeRow,
    side: MergeSide | None,
    mine: Tip,
    into: KnowledgeBase,
    writer: RevisionWriter,
    done: _Done,
    source: str,
    at: float,
) -> None:
    _change(mine, row, _decided_fields(row, side), into, writer, done, at)
    if side is MergeSide.BOTH and row.conflict is MergeConflict.EDITED_TWICE:
        _add(row, writer, done, source, at)


def _decided_fields(row: MergeRow, side: MergeSide | None) -> tuple[str, ...]:
    """The fields of theirs that a decision takes into mine."""
    if row.conflict is MergeConflict.EDITED_TWICE:
        return row.fields + row.taken if side is MergeSide.THEIRS else row.taken
    if side is MergeSide.THEIRS:  # their status as well: an edit that is taken is no longer retired
        return tuple(dict.fromkeys((*row.fields, "status")))
    if side is MergeSide.BOTH:
        by_them = row.theirs.status is Status.RETIRED
        return ("status",) if by_them else tuple(name for name in row.fields if name != "status")
    return ()


def _add(row: MergeRow, writer: RevisionWriter, done: _Done, source: str, at: float) -> None:
    draft = _draft(row.theirs, source)
    id = writer.insert(draft, "merge", at, author=row.by, id="" if row.beside or row.mine else row.tip)
    done.added.append(id)
    done.before[id] = 0


def _change(
    mine: Tip,
    row: MergeRow,
    names: Sequence[str],
    into: KnowledgeBase,
    writer: RevisionWriter,
    done: _Done,
    at: float,
) -> None:
    if not names:
        return
    draft = clean(combined(mine, row.theirs, tuple(names)))
    waiver = mine.waiver if content_key(draft) == content_key(mine) else None
    waived = set(waiver.rules) if waiver is not None else set[str]()
    if draft.status is Status.ACTIVE and set(into.judge(draft)) - waived:
        draft = replace(draft, status=Status.DRAFT)
        done.drafts.append(mine.id)
    writer.append(mine.id, draft, "merge", at, waiver=waiver, author=row.by)
    done.changed.append(mine.id)
    done.before.setdefault(mine.id, mine.revision)


def _retire(tip: Tip, writer: RevisionWriter, done: _Done, at: float) -> None:
    if tip.id in done.before:  # another row has changed, or retired, it already
        return
    writer.append(tip.id, replace(tip, status=Status.RETIRED), "retire", at, waiver=tip.waiver)
    done.changed.append(tip.id)
    done.before[tip.id] = tip.revision


def _draft(tip: Tip, source: str) -> TipDraft:
    draft = TipDraft(**{one.name: getattr(tip, one.name) for one in fields(TipDraft)})
    origin = replace(tip.provenance, source=tip.provenance.source or source)
    return clean(replace(draft, status=Status.DRAFT, provenance=origin))


def _new_evidence(
    into: KnowledgeBase,
    other: KnowledgeBase | FrozenKnowledgeBase,
    plan: MergePlan,
    added: Sequence[str],
) -> list[Evidence]:
    """Their tests, votes and uses of tips of the same id that are not here yet, about our revision of that content."""
    found: list[Evidence] = []
    known = {*added, *(tip.id for tip in into.tips())}
    for row in plan.rows:
        if row.beside or row.tip not in known or not (theirs := other.evidence(row.tip)):
            continue
        here = {_said(one) for one in into.evidence(row.tip)}
        votes = {(one.by, one.run): one.at for one in into.evidence(row.tip) if one.kind is EvidenceKind.VOTE}
        revisions = {content_key(one.tip): one.tip.revision for one in into.history(row.tip)}
        contents = (
            {one.tip.revision: content_key(one.tip) for one in other.history(row.tip)}
            if isinstance(other, KnowledgeBase)
            else {}
        )
        for one in theirs:
            if _said(one) in here or (
                one.kind is EvidenceKind.VOTE and votes.get((one.by, one.run), -1.0) > one.at
            ):
                continue
            found.append(replace(one, revision=revisions.get(contents.get(one.revision, ""), 0)))
    return found


def _said(one: Evidence) -> tuple[object, ...]:
    return one.kind, one.outcome, one.step, one.run, one.message, one.by, one.at


__all__ = ["Decisions", "MergeOutcome", "MergeReport", "MergeSide", "MergeUndecided", "merge", "plan_merge"]
