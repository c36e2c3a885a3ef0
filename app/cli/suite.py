"""``sitelore suite``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.common import Json, full_path, json_data, print_note, print_result, table, with_engine
from app.engine.api.evaluation_api import SuiteRow, SuiteTaskRow
from app.engine.core.evaluation.suite import TaskFilter

if TYPE_CHECKING:
    from app.engine.engine import Engine

app = typer.Typer(
    help="Suites: tasks with their reference answers, for evaluations and for Review.", no_args_is_help=True
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The suite's name in this workspace.")]
Sites = Annotated[list[str] | None, typer.Option("--site", help="Only tasks of this site. May be repeated.")]
Kinds = Annotated[list[str] | None, typer.Option("--kind", help="Only tasks of this type. May be repeated.")]
Ids = Annotated[str, typer.Option("--ids", help="Only these tasks: ids and ranges, as in 3,40-59.")]
Templates = Annotated[
    list[str] | None, typer.Option("--template", help="Only tasks of this template. May be repeated.")
]
Subset = Annotated[
    str, typer.Option("--subset", help="Only a named subset (small), or half a or b of a split by template.")
]


def task_filter(
    ids: str = "",
    site: list[str] | None = None,
    kind: list[str] | None = None,
    template: list[str] | None = None,
    subset: str = "",
) -> TaskFilter:
    """Return the choice of tasks that options make."""
    return TaskFilter(
        ids=tuple(part.strip() for part in ids.split(",") if part.strip()),
        sites=tuple(site or ()),
        kinds=tuple(kind or ()),
        templates=tuple(template or ()),
        subset=subset,
    )


def suite_given(name: str) -> str:
    """Return a suite given on the command line: its name, or the full path of a file."""
    path = Path(name)
    return full_path(path) if path.suffix or path.parent != Path() else name


@app.command()
def add(
    file: Annotated[
        Path, typer.Argument(help="A task file: WebArena, WebChoreArena, Online-Mind2Web, or Sitelore's own.")
    ],
    name: Annotated[
        str, typer.Option(help="Its name (default: the benchmark's, else the file's).", show_default=False)
    ] = "",
    blind: Annotated[
        bool, typer.Option("--blind", help="Hide its reference answers from whoever writes tips.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add a suite; the file is copied as it is. `sitelore review undo` takes it away."""
    row = with_engine(lambda engine: engine.add_suite(full_path(file), name, blind))
    print_result(row, as_json, lambda: suite_text(row))


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the suites of this workspace."""
    rows = with_engine(lambda engine: engine.suites())
    heads = ("suite", "format", "dialect", "tasks", "templates", "without oracle", "sites", "blind")
    cells = [
        (
            row.name, row.form, row.dialect, row.tasks, row.templates, row.without_oracle,
            ", ".join(site for site, _ in row.sites), "yes" if row.blind else "",
        )
        for row in rows
    ]  # fmt: skip
    print_result(
        rows, as_json, lambda: table(cells, heads) or "no suites; add one with: sitelore suite add FILE"
    )


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The suite's name, or a task file.")],
    site: Sites = None,
    kind: Kinds = None,
    ids: Ids = "",
    template: Templates = None,
    subset: Subset = "",
    as_json: Json = False,
) -> None:
    """Show a suite and its tasks, with what is expected of them unless the suite is blind."""
    wanted = task_filter(ids, site, kind, template, subset)

    async def showing(engine: Engine) -> tuple[SuiteRow | None, list[SuiteTaskRow]]:
        rows = await engine.suites()
        tasks = await engine.suite_tasks(suite_given(name), wanted)
        return next((row for row in rows if row.name == name), None), tasks

    row, tasks = with_engine(showing)
    document: dict[str, Any] = {"suite": json_data(row), "tasks": json_data(tasks)}
    print_result(document, as_json, lambda: "\n".join(_shown(row, tasks)))


@app.command()
def blind(
    name: Name,
    off: Annotated[bool, typer.Option("--off", help="Show the answers again.")] = False,
    as_json: Json = False,
) -> None:
    """Hide the reference answers of a suite from whoever writes tips."""
    row = with_engine(lambda engine: engine.set_suite_blind(name, not off))
    words = "are hidden" if row.blind else "can be seen"
    print_result(row, as_json, lambda: f"the answers of '{row.name}' {words}")


@app.command()
def remove(name: Name) -> None:
    """Remove a suite; runs and evaluations of it stay. `sitelore review undo` brings it back."""
    with_engine(lambda engine: engine.remove_suite(name))
    print_note(f"the suite '{name}' is removed")


def suite_text(row: SuiteRow) -> str:
    """Describe a suite in lines."""
    facts = [
        ("title", row.title),
        ("format", f"{row.form}, dialect {row.dialect}"),
        ("tasks", f"{row.tasks:,} of {row.templates:,} templates"),
        ("sites", _counted(row.sites)),
        ("types", _counted(row.kinds)),
        ("without oracle", f"{row.without_oracle:,}" if row.without_oracle else ""),
        ("subsets", ", ".join(row.subsets)),
        ("answers", "hidden" if row.blind else ""),
        ("unknown evaluators", ", ".join(row.unknown)),
        ("names without an address", ", ".join(row.unbound)),
        ("hash", row.sha256),
    ]
    lines = [row.name, *(f"  {name}: {value}" for name, value in facts if value)]
    lines += [f"  note: {note}" for note in row.notes]
    if row.unbound:
        lines.append(f"  bind a name with: sitelore sites edit SITE --base {row.unbound[0]}=URL")
    return "\n".join(lines)


def _shown(row: SuiteRow | None, tasks: list[SuiteTaskRow]) -> list[str]:
    lines = [suite_text(row), ""] if row is not None else []
    if not tasks:
        return [*lines, "no task is left"]
    heads = ("task", "sites", "type", "template", "writes", "runs", "task in words")
    cells = [
        (
            task.id, ", ".join(task.sites), task.kind, task.template[:24], "yes" if task.writes else "",
            task.runs, task.intent,
        )
        for task in tasks
    ]  # fmt: skip
    lines.append(table(cells, heads))
    if len(tasks) <= 20:
        for task in tasks:
            lines += [f"{task.id}: {words}" for words in task.expected]
    return lines


def _counted(parts: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{name or 'none'} {count:,}" for name, count in parts[:12]) + (
        f" and {len(parts) - 12} more" if len(parts) > 12 else ""
    )
