"""``sitelore live inbox`` and ``live share-login``: what needs a person, equal requests once; one log-in for all."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import Json, json_data, print_result, table, with_engine
from app.cli.live import app
from app.engine.core.request_groups import InboxOrder, RequestGroup, inbox_groups
from app.engine.core.supervision import open_requests

if TYPE_CHECKING:
    from app.engine.core.events import LoginShared
    from app.engine.engine import Engine


@app.command("inbox")
def inbox(
    order: Annotated[
        InboxOrder, typer.Option(help="What comes first: the riskiest, or the oldest.")
    ] = InboxOrder.RISK,
    as_json: Json = False,
) -> None:
    """List what needs a person, equal requests of several runs once; decide them with `live decide REQUEST --equal`."""

    async def gathering(engine: Engine) -> list[RequestGroup]:
        requests = await engine.requests()  # those of other processes are newer than their rows
        rows = [
            replace(row, needs=open_requests(one for one in requests if one.run == row.run))
            for row in [*await engine.live_runs(), *await engine.left_runs()]
        ]
        return inbox_groups(rows, order)

    groups = with_engine(gathering)
    now = time.time()
    print_result(
        [_document(one, now) for one in groups], as_json, lambda: _text(groups, now) or "nothing needs you"
    )


@app.command("share-login")
def share_login(run: str, as_json: Json = False) -> None:
    """Keep the log-in of a held run for its site, and let the runs that wait for it go on.

    It happens by itself when a run is handed back past its log-in. `sites login SITE --forget` takes it back.
    """

    async def sharing(engine: Engine) -> LoginShared:
        return await engine.share_login(run)

    shared = with_engine(sharing)
    print_result(shared, as_json, lambda: shared.words)


def _document(group: RequestGroup, now: float) -> dict[str, object]:
    return {
        "requests": [one.id for one in group.requests],
        "runs": list(group.runs),
        "need": group.first.need.value,
        "site": group.first.site,
        "age": round(_age(group, now), 1),
        "risk": group.risk,
        "first": json_data(group.first),
    }


def _text(groups: list[RequestGroup], now: float) -> str:
    cells = [
        (
            group.first.id,
            len(group.runs),
            group.first.need.value,
            group.first.site,
            _span(_age(group, now)),
            f"{group.first.question} {group.first.words or group.first.why}".strip(),
        )
        for group in groups
    ]
    return table(cells, ("request", "runs", "need", "site", "age", "question"), 76)


def _age(group: RequestGroup, now: float) -> float:
    """Seconds that the oldest request of a group waits."""
    return max(0.0, now - group.first.opened_at)


def _span(seconds: float) -> str:
    """Return a time in its largest unit."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return f"{seconds:.0f} s"
