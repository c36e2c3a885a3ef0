"""``sitelore live targets`` and ``live edit``: the elements of a held run's page, and another next action."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import Json, print_note, print_result, table, with_engine
from app.cli.live import app
from app.engine.api.live_api import PointTarget
from app.engine.core.supervision import LiveRow, PlannedAction

if TYPE_CHECKING:
    from app.engine.engine import Engine


@app.command("targets")
def targets(
    run: str,
    named: Annotated[str, typer.Option(help="Only elements whose role or name has this text.")] = "",
    as_json: Json = False,
) -> None:
    """List the elements of a held run's page by the numbers that its next action uses, with the calls that fit."""

    async def read(engine: Engine) -> tuple[list[PointTarget], list[LiveRow]]:
        before = await engine.live_runs()
        return await engine.point_targets(run), before

    found, rows = with_engine(read)
    wanted = named.casefold()
    shown = [one for one in found if wanted in f"{one.role} {one.name}".casefold()]
    print_result(shown, as_json, lambda: _target_table(shown) or "no elements")
    row = next((one for one in rows if one.run == run), None)
    if row is not None and not as_json:
        print_note(f"These numbers are those of step {row.step}: give `live edit` --step {row.step}.")


@app.command("edit")
def edit(
    run: str,
    command: Annotated[str, typer.Argument(help='The new action, such as click("12").')],
    text: Annotated[str, typer.Option(help="A reason for the agent.")] = "",
    step: Annotated[
        int | None,
        typer.Option(min=0, help="Only if the next action is that of this step, which `live targets` shows."),
    ] = None,
    instead_of: Annotated[str, typer.Option(help="Only if the next action is this one.")] = "",
    as_json: Json = False,
) -> None:
    """Replace the next action of a paused run; a request is edited with `live decide REQUEST edit`."""
    planned: PlannedAction = with_engine(
        lambda engine: engine.edit_planned(run, command, text, -1 if step is None else step, instead_of)
    )
    print_result(planned, as_json, lambda: f"{run}: next {planned.words} ({planned.risk.value})")


def _target_table(found: list[PointTarget]) -> str:
    cells = [
        (
            str(one.number),
            one.role,
            one.name,
            f"{one.box[0]:.0f},{one.box[1]:.0f} {one.box[2]:.0f}x{one.box[3]:.0f}",
            "  ".join(one.calls[:3]),
        )
        for one in found
    ]
    return table(cells, ("number", "role", "name", "place", "calls"), 60)
