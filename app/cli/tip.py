"""``sitelore tip``: write, judge and keep tips."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from app.cli import tip_tests
from app.cli.common import (
    Json,
    add_undo_commands,
    json_data,
    print_coverage,
    print_note,
    print_result,
    table,
    with_engine,
)
from app.engine.api.evaluation_api import TipCreditRow
from app.engine.api.tip_api import TipStanding, best_credits, followed_words, uplift_words, vote_counts
from app.errors import UsageError
from kb.tip import (
    Kind,
    LintFinding,
    LintSeverity,
    Preflight,
    Provenance,
    Scope,
    Status,
    StatusChange,
    Tip,
    TipDraft,
)

app = typer.Typer(help="Write, check and manage tips.", no_args_is_help=True)

Text = Annotated[str, typer.Option(help="The tip: site logic, not one task's steps.")]
ScopeText = Annotated[str, typer.Option(help="host/path glob, such as '*:8023/dashboard/**' or '/f/*?sort'.")]
When = Annotated[str, typer.Option(help="When it applies.")]
Do = Annotated[str, typer.Option(help="What to do.")]
Before = Annotated[str, typer.Option(help="What must be done first.")]
Why = Annotated[str, typer.Option(help="Why.")]
Waive = Annotated[str, typer.Option(help="Why the lint errors don't matter here; stored with the tip.")]
Keywords = Annotated[
    list[str] | None, typer.Option("--keyword", help="A keyword for retrieval; may be repeated.")
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", help="A word to file it by, such as confidential; never frozen; may be repeated."),
]


@app.command()
def add(
    site: Annotated[str, typer.Option(help="The site's name.")],
    text: Text,
    scope: ScopeText = "",
    kind: Annotated[Kind, typer.Option(help="The kind of tip.")] = Kind.OPERATION,
    when: When = "",
    do: Do = "",
    before: Before = "",
    why: Why = "",
    keyword: Keywords = None,
    tag: Tags = None,
    run: Annotated[str, typer.Option(help="The run it was learned from.")] = "",
    step: Annotated[int | None, typer.Option(help="The step in that run.")] = None,
    as_json: Json = False,
) -> None:
    """Add a tip as a draft; prints its id, lint findings and similar tips."""

    async def adding(engine: Any) -> Any:
        intent, provenance, taint = "", Provenance(), ()
        if run:
            at = step if step is not None else (await engine.open_run(run)).risk.suspect_step
            form = await engine.compose_tip(run, at)
            intent, provenance, taint = form.intent, form.draft.provenance, form.draft.taint
        draft = TipDraft(
            site=site,
            text=text,
            scope=Scope.parse(scope),
            kind=kind,
            when=when,
            do=do,
            before=before,
            why=why,
            keywords=tuple(keyword or ()),
            tags=tuple(tag or ()),
            provenance=provenance,
            taint=taint,
        )
        saved = await engine.save_tip(draft, intent)
        return saved, await engine.scope_coverage(site, draft.scope)

    saved, coverage = with_engine(adding, encoder="cached")
    similar = [
        {"tip": s.tip.id, "relation": s.relation, "score": s.score, "text": s.tip.text} for s in saved.similar
    ]
    body = {"id": saved.id, "lint": lint_document(saved.lint), "similar": similar}
    print_result(body, as_json, lambda: saved.id)
    if not as_json:
        _print_findings(saved.lint)
        print_coverage(coverage)
        for near in saved.similar:
            print_note(f"  {near.relation} of {near.tip.id} ({near.score:.2f}): {near.tip.text[:80]}")


@app.command()
def edit(
    tip: str,
    text: Annotated[str | None, typer.Option()] = None,
    scope: Annotated[str | None, typer.Option()] = None,
    kind: Annotated[Kind | None, typer.Option()] = None,
    when: Annotated[str | None, typer.Option()] = None,
    do: Annotated[str | None, typer.Option()] = None,
    before: Annotated[str | None, typer.Option()] = None,
    why: Annotated[str | None, typer.Option()] = None,
    keyword: Keywords = None,
    tag: Tags = None,
    waive: Waive = "",
    as_json: Json = False,
) -> None:
    """Store a new version of a tip; parts not given stay."""
    changes: dict[str, Any] = {
        "text": text,
        "kind": kind,
        "when": when,
        "do": do,
        "before": before,
        "why": why,
    }
    changes = {key: value for key, value in changes.items() if value is not None}
    if scope is not None:
        changes["scope"] = Scope.parse(scope)
    if keyword is not None:
        changes["keywords"] = tuple(keyword)
    if tag is not None:
        changes["tags"] = tuple(tag)
    if not changes:
        raise UsageError("nothing to change", remedy="give what to change, for example --text")

    async def editing(engine: Any) -> Any:
        stored = await engine.tip(tip)
        return await engine.edit_tip(tip, dataclasses.replace(stored, **changes), "", waive)

    saved = with_engine(editing, encoder="cached")
    print_result({"id": saved.id, "lint": lint_document(saved.lint)}, as_json, lambda: saved.id)
    if not as_json:
        _print_findings(saved.lint)


@app.command("list")
def list_(
    site: Annotated[str, typer.Option()] = "",
    status: Annotated[str, typer.Option(help="One status, or several separated by commas.")] = "",
    search: Annotated[str, typer.Option(help="Words in the tip.")] = "",
    as_json: Json = False,
) -> None:
    """List tips by id."""

    async def listing(engine: Any) -> tuple[list[Tip], dict[str, TipCreditRow]]:
        return await engine.list_tips(site, status, search), best_credits(await engine.tip_credits())

    tips, credits = with_engine(listing)
    rows = [
        (
            t.id,
            t.status.value,
            t.kind.value,
            str(t.scope) or "whole site",
            tip_tests.tested_cell(t.last_test),
            followed_words(t.record),
            uplift_words(credits.get(t.id)),
            vote_counts(t.record),
            t.revision,
            t.text,
        )
        for t in tips
    ]
    heads = ("tip", "status", "kind", "scope", "tested", "followed", "uplift", "votes", "rev", "text")
    body = [{**tip_document(t), "credit": json_data(credits.get(t.id))} for t in tips]
    print_result(body, as_json, lambda: table(rows, heads, widest=70))


@app.command("show")
def show_(tip: str, as_json: Json = False) -> None:
    """Show a tip with its steps, its last test and its record."""

    async def showing(engine: Any) -> tuple[Tip, TipStanding]:
        return await engine.tip(tip), await engine.tip_standing(tip)

    stored, standing = with_engine(showing)
    body = tip_document(stored)
    print_result(
        {**body, "standing": json_data(standing)},
        as_json,
        lambda: "\n".join([*_body_text(body), *tip_tests.standing_lines(standing)]),
    )


@app.command()
def history(tip: str, as_json: Json = False) -> None:
    """List every version of a tip, oldest first."""
    revisions = with_engine(lambda engine: engine.tip_history(tip))
    body = [
        {"revision": r.tip.revision, "deed": r.deed, "author": r.author, "at": r.at, **tip_document(r.tip)}
        for r in revisions
    ]
    rows = [
        (r.tip.revision, _time_text(r.at), r.author, r.deed, r.tip.status.value, _waived(r.tip), r.tip.text)
        for r in revisions
    ]
    print_result(
        body, as_json, lambda: table(rows, ("rev", "when", "who", "change", "status", "waived", "text"))
    )


@app.command()
def lint(tip: str, as_json: Json = False) -> None:
    """List a tip's lint findings; exit code 1 if any is an error, waived or not."""

    async def linting(engine: Any) -> tuple[Any, Tip]:
        return await engine.lint_tip(tip), await engine.tip(tip)

    findings, stored = with_engine(linting)
    waiver = stored.waiver
    waived = waiver.rules if waiver is not None else ()
    rows = [
        (f.severity.value + (" (waived)" if f.rule in waived else ""), f.rule, f.message) for f in findings
    ]
    body = [
        {**one, "waived": waiver.reason} if waiver is not None and one["rule"] in waived else one
        for one in lint_document(findings)
    ]
    print_result(body, as_json, lambda: table(rows, ("", "rule", "finding"), widest=110) or "no findings")
    if waiver is not None and not as_json:
        print_note(f"waived by {waiver.author or 'unknown'}, {_time_text(waiver.at)}: {waiver.reason}")
    if any(finding.severity is LintSeverity.ERROR for finding in findings):
        raise typer.Exit(1)


@app.command()
def preflight(
    id: Annotated[str, typer.Option(help="A stored tip.")] = "",
    site: Annotated[str, typer.Option()] = "",
    scope: ScopeText = "",
    text: Text = "",
    as_json: Json = False,
) -> None:
    """Show in how many stored steps of failed and passed runs a tip would have been retrieved."""
    if not id and not text:
        raise UsageError("no tip given", remedy="name a tip with --id, or give --site, --scope and --text")

    async def flying(engine: Any) -> Preflight:
        draft = await engine.tip(id) if id else TipDraft(site=site, text=text, scope=Scope.parse(scope))
        return await engine.preflight(draft, id)

    found = with_engine(flying, encoder="wanted")
    body = {
        "retrieved_in": {
            "steps": found.steps,
            "failed_runs": found.failed_runs,
            "passed_runs": found.passed_runs,
            "steps_in_failed": found.steps_in_failed,
            "steps_in_passed": found.steps_in_passed,
        },
        "in_scope": found.in_scope,
        "examples": json_data(found.examples),
    }
    rows = [(e.run, e.step, e.route, f"{e.score:.2f}", e.url) for e in found.examples]
    words = f"{found.steps} stored steps, in {found.failed_runs} failed and {found.passed_runs} passed runs"
    listed = table(rows, ("run", "step", "route", "score", "address"))
    print_result(body, as_json, lambda: f"{words}\n{listed}")


@app.command()
def status(
    tips: list[str],
    to: Annotated[Status, typer.Option(help="The new status.")],
    waive: Waive = "",
    as_json: Json = False,
) -> None:
    """Change the status of tips; one with lint errors becomes active only with --waive and a reason."""
    if waive and to is not Status.ACTIVE:
        raise UsageError(
            "--waive applies only to --to active", remedy="leave out --waive, or use --to active"
        )
    change = with_engine(lambda engine: engine.set_status(tips, to, waive))
    _show_change(change, f"now {to.value}", as_json)


@app.command()
def retire(tips: list[str], as_json: Json = False) -> None:
    """Retire tips; nothing is deleted."""
    _show_change(with_engine(lambda engine: engine.set_status(tips, Status.RETIRED)), "retired", as_json)


@app.command()
def restore(
    tip: str,
    revision: Annotated[
        int | None,
        typer.Option(help="An old version (default: a retired tip gets its previous status back)."),
    ] = None,
    waive: Waive = "",
    as_json: Json = False,
) -> None:
    """Restore a retired tip, or an old version of any tip."""

    async def restoring(engine: Any) -> Any:
        if revision is not None:
            return StatusChange(tips=(await engine.restore_revision(tip, revision),))
        versions = await engine.tip_history(tip)
        before = [v.tip.status for v in versions if v.tip.status is not Status.RETIRED]
        return await engine.set_status([tip], before[-1] if before else Status.DRAFT, waive)

    change = with_engine(restoring)
    if change.refused:
        _show_change(change, "active", as_json)
    restored = change.tips[0]
    print_result(
        tip_document(restored),
        as_json,
        lambda: f"{restored.id} is {restored.status.value}, revision {restored.revision}",
    )


app.command("test")(tip_tests.try_tip)
app.command("vote")(tip_tests.vote)
app.command("draft")(tip_tests.draft)
add_undo_commands(app, "knowledge")


def _show_change(change: StatusChange, done: str, as_json: bool) -> None:
    """Print what changed on standard output; refused tips and the rules on standard error, with exit code 1."""
    from kb.gate import refusal  # late: it imports numpy, which slows every other command

    moved = [tip for tip in change.tips if tip.id not in change.refused]
    count = "1 tip" if len(moved) == 1 else f"{len(moved)} tips"
    print_result([tip_document(tip) for tip in moved], as_json, lambda: f"{count} {done}" if moved else "")
    for tip, rules in change.refused.items():
        print_note(f"  {refusal(tip, rules)} (--waive REASON)")
    if change.refused:
        raise typer.Exit(1)


def tip_document(tip: Tip) -> dict[str, Any]:
    """Return a tip as the stable command line prints it."""
    body: dict[str, Any] = json_data(tip)
    order = ("id", "site", "scope", "kind", "status", "text", "revision")
    return {**{key: body[key] for key in order}, **body, "scope": str(tip.scope)}


def lint_document(findings: Sequence[LintFinding]) -> list[dict[str, Any]]:
    """Return findings as the stable command line prints them."""
    return json_data(findings)


def _print_findings(findings: Sequence[LintFinding]) -> None:
    for finding in findings:
        print_note(f"  {finding.severity.value}: {finding.message} [{finding.rule}]")


def _body_text(body: dict[str, Any]) -> list[str]:
    """Return a tip as text, one fact a line, empty ones left out."""
    facts: dict[str, Any] = {
        **body,
        **body["provenance"],
        "created_at": _time_text(body["created_at"]),
        "changed_at": _time_text(body["changed_at"]),
    }
    for name in ("provenance", "procedure", "record", "last_test"):
        del facts[name]
    facts["waiver"] = f"{_waiver(body['waiver'])}" if body["waiver"] else ""
    words = {
        key: ", ".join(value) if key in ("keywords", "taint", "tags") else value
        for key, value in facts.items()
    }
    return [f"{key.replace('_', ' ')}: {value}" for key, value in words.items() if value not in ("", None)]


def _waiver(waiver: dict[str, Any]) -> str:
    return f"{', '.join(waiver['rules'])}; {waiver['author']}, {_time_text(waiver['at'])}: {waiver['reason']}"


def _waived(tip: Tip) -> str:
    return f"{', '.join(tip.waiver.rules)}: {tip.waiver.reason}" if tip.waiver is not None else ""


def _time_text(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
