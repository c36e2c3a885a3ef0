"""``sitelore kb merge``, ``diff`` and ``release``: knowledge that several people write."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.common import Json, counted, full_path, json_data, print_note, print_result, table, with_engine
from app.cli.tip import tip_document
from app.engine.api.shared_knowledge_api import MergeChoices, ReleasePage
from app.errors import UsageError
from kb.differences import KbChanges, TipChangeKind, TipDifference
from kb.merge import MergeReport, MergeSide
from kb.merge_plan import MergePlan, MergeRow
from kb.three_way import MergeOutcome
from kb.tip_changes import FIELDS, field_text

_SIGNS = {
    TipChangeKind.ADDED: "+",
    TipChangeKind.CHANGED: "~",
    TipChangeKind.RETIRED: "x",
    TipChangeKind.RESTORED: "^",
    TipChangeKind.REMOVED: "-",
}
_SIDES = ", ".join(side.value for side in MergeSide)


def merge(
    file: Path,
    base: Annotated[
        Path | None,
        typer.Option(
            help="An older copy of both, live or frozen, where their histories show no common past."
        ),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what would be done.")] = False,
    take: Annotated[
        list[str] | None,
        typer.Option(
            help="Decide conflicts: mine, theirs or both for all of them, TIP=theirs for one; may be repeated."
        ),
    ] = None,
    leave_conflicts: Annotated[
        bool, typer.Option("--leave-conflicts", help="Leave undecided conflicts as they are, merge the rest.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Merge another knowledge base: new tips come as drafts, what only they changed is taken, as one undoable change.

    With an undecided conflict nothing is changed, the conflicts are listed, and the exit code is 1.
    """
    decisions, every = _decisions(take or ())

    async def merging(engine: Any) -> tuple[MergePlan, MergeReport | None]:
        found: MergePlan = await engine.kb_merge_plan(str(file), full_path(base))
        _refuse_unknown(decisions, found)
        undecided = [row for row in found.conflicts if row.tip not in decisions and every is None]
        if plan or (undecided and not leave_conflicts):
            return found, None
        choices = MergeChoices(
            base=full_path(base),
            decisions=decisions,
            every=every,
            leave_conflicts=leave_conflicts,
            plan_key=found.key,
        )
        return found, await engine.kb_merge(str(file), choices)

    found, report = with_engine(merging)
    if report is not None:
        print_result(_report_document(report), as_json, lambda: _report_text(report))
        for tip in report.drafts:
            print_note(f"  {tip}: changed there so that lint finds errors; it is a draft now")
        return
    print_result(_plan_document(found), as_json, lambda: _plan_text(found))
    if found.conflicts and not as_json:
        print_note("decide with --take mine|theirs|both or --take TIP=theirs, or --leave-conflicts")
    if found.conflicts and not plan:
        print_note(f"{counted(len(found.conflicts), 'conflict')} to decide; nothing was changed")
        raise typer.Exit(1)


def _decisions(takes: list[str] | tuple[str, ...]) -> tuple[dict[str, MergeSide], MergeSide | None]:
    decided: dict[str, MergeSide] = {}
    every: MergeSide | None = None
    for take in takes:
        tip, equals, side = take.rpartition("=")
        try:
            chosen = MergeSide(side)
        except ValueError:
            raise UsageError(f"no such side: {side}", remedy=f"there are {_SIDES}") from None
        if equals:
            decided[tip] = chosen
        else:
            every = chosen
    return decided, every


def _refuse_unknown(decisions: Mapping[str, MergeSide], plan: MergePlan) -> None:
    conflicts = [row.tip for row in plan.conflicts]
    if unknown := [tip for tip in decisions if tip not in conflicts]:
        named = ", ".join(conflicts[:5]) or "none"
        rest = f" and {len(conflicts) - 5} more" if len(conflicts) > 5 else ""
        raise UsageError(
            f"the tip {unknown[0]!r} is in no conflict; nothing was changed",
            remedy=f"tips in conflict: {named}{rest}",
        )


def _plan_document(plan: MergePlan) -> dict[str, Any]:
    coming = [row for row in plan.rows if row.conflict or row.outcome in _SHOWN]
    return {
        "path": plan.path,
        "common_past": plan.shared,
        "kept": plan.kept,
        "same": len(plan.of(MergeOutcome.SAME)),
        "rows": [
            {
                "tip": row.tip,
                "outcome": row.outcome.value,
                "conflict": row.conflict.value,
                "fields": list(row.fields),
                "rival": row.rival.id if row.rival else "",
                "beside": row.beside,
                "by": row.by,
                "at": row.at,
                "base": tip_document(row.base) if row.base else None,
                "mine": tip_document(row.mine) if row.mine else None,
                "theirs": tip_document(row.theirs),
            }
            for row in coming
        ],
    }


_SHOWN = (MergeOutcome.ADDED, MergeOutcome.TAKEN, MergeOutcome.COMBINED)


def _plan_text(plan: MergePlan) -> str:
    rows = [
        (
            row.conflict.value or row.outcome.value,
            row.tip,
            _about(row),
            row.by,
            row.theirs.text,
        )
        for row in plan.rows
        if row.conflict or row.outcome in _SHOWN
    ]
    past = (
        f"{counted(plan.shared, 'tip')} with a common past, {plan.kept} kept as they are here"
        if plan.shared
        else "no common past: missing tips would come as drafts (an older copy can be named with --base)"
    )
    listed = table(rows, ("", "tip", "fields", "by", "theirs"), widest=60)
    conflicts = ["\n".join(_conflict_lines(row)) for row in plan.conflicts]
    return "\n".join(part for part in (listed, *conflicts, past) if part)


def _conflict_lines(row: MergeRow) -> list[str]:
    """Return the versions of a tip in conflict, field by field where they differ."""
    here = row.rival or row.mine
    before = row.base if row.rival is None else None
    versions = [
        (name, tip) for name, tip in (("before", before), ("here", here), ("there", row.theirs)) if tip
    ]
    lines = [f"{row.conflict.value}: {row.tip}{f' against {row.rival.id}' if row.rival else ''}"]
    for field in FIELDS:
        texts = [(name, " ".join(field_text(tip, field).split())) for name, tip in versions]
        if len({text for _, text in texts}) > 1:
            lines += [f"  {field}", *(f"    {name + ':':8}{text or '-'}" for name, text in texts)]
    return lines


def _about(row: MergeRow) -> str:
    return f"against {row.rival.id}" if row.rival is not None else ", ".join(row.fields)


def _report_document(report: MergeReport) -> dict[str, Any]:
    return json_data(report)


def _report_text(report: MergeReport) -> str:
    said = [f"{len(report.added)} added", f"{report.skipped} already present"]
    for tips, word in (
        (report.changed, "changed"),
        (report.decided, "decided"),
        (report.left, "left as they are"),
    ):
        said += [f"{len(tips)} {word}"] if tips else []
    return ", ".join(said) + (
        f", {counted(report.evidence, 'test or vote')} added" if report.evidence else ""
    )


def diff(
    a: Path,
    b: Path,
    steps: Annotated[
        bool,
        typer.Option("--steps", help="Also list stored steps where the agent would get other tips."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what was added, changed and retired between two knowledge bases: why, by whom and when."""

    async def comparing(engine: Any) -> tuple[KbChanges, Any]:
        changes = await engine.kb_changes(str(a), str(b))
        return changes, (await engine.kb_behaviour_diff(str(a), str(b)) if steps else None)

    changes, behaviour = with_engine(comparing, encoder="wanted" if steps else "")
    plain = changes.plain
    body = {
        "added": [tip_document(t) for t in plain.added],
        "removed": [tip_document(t) for t in plain.removed],
        "changed": [{"before": tip_document(x), "after": tip_document(y)} for x, y in plain.changed],
        "changes": [_difference_document(one) for one in changes.tips],
        "unknown": list(changes.unknown),
        **({"steps": json_data(behaviour)} if steps else {}),
    }
    lines = [line for site, tips in changes.sites.items() for line in _site_lines(site, tips)]
    if behaviour is not None:
        lines.append(f"{behaviour.changed} of {behaviour.steps} stored steps would get other tips")
    print_result(body, as_json, lambda: "\n".join(lines) or "no difference")
    if lines and not as_json:
        for unknown in changes.unknown:
            print_note(f"unknown: {unknown}")


def _difference_document(one: TipDifference) -> dict[str, Any]:
    return {
        "tip": one.tip.id,
        "site": one.tip.site,
        "change": one.kind.value,
        "fields": json_data(one.fields),
        "by": list(one.by),
        "at": one.at,
        "why": list(one.why),
        "unknown": one.unknown,
    }


def _site_lines(site: str, tips: list[TipDifference]) -> list[str]:
    counts = [(kind, sum(one.kind is kind for one in tips)) for kind in TipChangeKind]
    lines = [f"{site}: {', '.join(f'{count} {kind.value}' for kind, count in counts if count)}"]
    for one in tips:
        when = time.strftime("%Y-%m-%d", time.localtime(one.at)) if one.at else ""
        said = " · ".join(part for part in (", ".join(one.by), when, one.unknown) if part)
        lines.append(
            f"{_SIGNS[one.kind]} {one.tip.id}  {one.tip.text[:90]}" + (f"  ({said})" if said else "")
        )
        lines += [f"    {change.field}: {' '.join(change.plain.split())}" for change in one.fields]
        lines += [f"    why: {why}" for why in one.why]
    return lines


def release(
    new: Path,
    out: Annotated[Path, typer.Option(help="The page to write.")],
    since: Annotated[
        Path | None, typer.Option(help="The knowledge base to compare with: the release before.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a frozen file's release page: what changed, what agents would be given, lint, taint, credit and checks.

    One HTML file that needs no network.  Exit code 1 if the frozen file isn't intact.
    """
    page: ReleasePage = with_engine(
        lambda engine: engine.kb_release(str(new), full_path(since), full_path(out)),
        encoder="cached" if since else "",
    )
    print_result(
        page,
        as_json,
        lambda: f"{page.path}\n{counted(page.tips, 'tip')}, {counted(page.differences, 'difference')}",
    )
    if not page.intact:
        print_note("the frozen file is NOT INTACT; the page says why")
        raise typer.Exit(1)
