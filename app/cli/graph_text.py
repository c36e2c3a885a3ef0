"""Text output of the graph commands."""

from __future__ import annotations

from app.cli.common import table
from app.engine.api.graph_api import (
    DepthRow,
    ExploreReport,
    GraphDiff,
    GraphRow,
    Journey,
    NodeDetail,
    NodeHit,
    PathPlan,
    VerifyGraphReport,
)


def graph_row(row: GraphRow) -> tuple[object, ...]:
    """Return a graph as a table row."""
    return (
        row.site,
        row.states,
        row.transitions,
        row.frontier,
        row.mode.value,
        row.state or "runs only",
        row.home,
    )


def exploration_text(report: ExploreReport) -> str:
    """Summarize an exploration."""
    facts = [
        f"{report.site}: {report.states} states ({report.new} new), {report.transitions} transitions, "
        f"{report.templates} address templates, {report.interaction_only} states without an address of their own",
        f"{report.tried} elements tried in {report.seconds:.0f} s, {report.tokens} tokens; ended: {report.ended}"
        + (f", {report.frontier} elements waiting" if report.frontier else ""),
        *(f"skipped, {reason}: {count}" for reason, count in sorted(report.skipped.items())),
        *report.notes,
    ]
    if report.robots:
        facts.append(f"robots.txt: {report.robots}")
    if report.barred:
        facts.append("on a site of your own, --ignore-robots explores these too")
    return "\n".join(facts) + ("\n\n" + depths_table(report.depths) if report.depths else "")


def depths_table(rows: tuple[DepthRow, ...]) -> str:
    """Return WebNavigator's figure 3 as a table."""
    cells = [(row.depth, row.states, row.new, f"{row.seconds:.1f}", f"{row.velocity:.1f}") for row in rows]
    return table(cells, ("depth", "states", "new", "seconds", "states/min"))


def state_text(detail: NodeDetail) -> str:
    """Describe a state element by element."""
    row = detail.row
    stood = {item.element: item for item in detail.frontier}
    lines = [
        f"{row.title}  [{row.id}]",
        row.url,
        f"depth {row.depth}, {row.pages} pages, {row.elements} elements",
    ]
    lines += [
        f"  {element.role:10} {element.name[:50]:50} "
        + (
            f"{item.status.value}{': ' + item.reason.words if item.reason else ''} {item.detail}"
            if item
            else ""
        )
        for element, key in zip(detail.elements, detail.element_keys, strict=True)
        for item in (stood.get(key),)
    ]
    lines += [
        f"  out  {t.words} -> {detail.titles.get(t.target, t.target)} ({t.successes}/{t.attempts})"
        for t in detail.outgoing
    ]
    lines += [
        f"  in   {detail.titles.get(t.source, t.source)}: {t.words} ({t.successes}/{t.attempts})"
        for t in detail.incoming
    ]
    lines += [f"  run  {run} step {step}" for run, step in detail.runs]
    lines += [f"  tip  {tip}" for tip in detail.tips]
    return "\n".join([*lines, *detail.notes])


def hits_table(hits: list[NodeHit]) -> str:
    """Return search hits as a table."""
    rows = [(f"{hit.score:.3f}", hit.node[:8], hit.title, hit.url, " ".join(hit.matched[:6])) for hit in hits]
    return table(rows, ("score", "state", "title", "address", "matched"))


def path_text(plan: PathPlan) -> str:
    """Return a path step by step."""
    lines = [f"{at + 1}. {step.words} -> {plan.titles[at + 1]}" for at, step in enumerate(plan.transitions)]
    return "\n".join([*(lines or ["already there"]), f"about {plan.cost:.1f} s"])


def navigation_text(journey: Journey) -> str:
    """Return a navigated path with each step's result."""
    lines = [
        f"{at + 1}. {step.words}: {arrival.kind.value}" + (f" ({arrival.why})" if arrival.why else "")
        for at, (step, arrival) in enumerate(zip(journey.plan.transitions, journey.arrivals, strict=False))
    ]
    end = f"arrived at {journey.url}" if journey.arrived else f"not arrived: {journey.why} ({journey.url})"
    return "\n".join([*lines, f"{end} after {journey.seconds:.1f} s"])


def verification_text(report: VerifyGraphReport) -> str:
    """Summarize a verification."""
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(report.arrivals.items()))
    lines = [
        f"{report.states} states and {report.transitions} transitions checked in {report.seconds:.0f} s,"
        f" {report.loads} page loads and actions: {counts}",
        f"gone: {len(report.gone_states)} states, {len(report.gone_transitions)} transitions;"
        f" changed: {len(report.changed_states)} states",
    ]
    lines += [f"now suspect: tip {tip}" for tip in report.suspect_tips]
    return "\n".join(lines)


def diff_text(found: GraphDiff) -> str:
    """Return what was added, removed and changed."""
    lines = [f"{found.same} unchanged states"]
    lines += [f"+ {title} {url}" for _, title, url in found.added]
    lines += [f"- {title} {url}" for _, title, url in found.removed]
    lines += [
        f"~ {change.title} {change.url}: "
        + ", ".join([*(f"+{name}" for name in change.come), *(f"-{name}" for name in change.gone)])
        for change in found.changed
    ]
    lines += [f"+ {words}" for words in found.added_transitions]
    lines += [f"- {words}" for words in found.removed_transitions]
    return "\n".join(lines)
