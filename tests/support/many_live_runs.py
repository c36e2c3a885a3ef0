"""Many fake runs for the wall: every state, sites, batches, models with budgets, flags, requests."""

from __future__ import annotations

from dataclasses import replace

from app.engine.core.cost import Cost
from app.engine.core.supervision import LiveRow, RunState
from tests.support.fake_live import SHOP, make_rows

SITES = ("shop", "gitlab", "map", "wiki")
INTENTS = (
    "Buy one Gadget and tell me the order number",
    "What is the price of 'Hacking Exposed Wireless'?",
    "Create a milestone for the release in June and assign it to the maintainer of the project",
    "How many orders were placed in May?",
)


def many_rows(count: int, live: int = 0, *, now: float = 0.0) -> list[LiveRow]:
    """Return ``count`` runs: ``live`` of them go on, every fifth of the others waits for a person, most have ended."""
    few = {row.run: row for row in make_rows()}
    rows = list[LiveRow]()
    for number in range(count):
        row = replace(
            few["live-1"], run=f"run-{number:03d}", intent=f"{INTENTS[number % 4]} ({number})", site=SITES[number % 4],
            step=number % 28 + 1, started_at=1_000.0 + number, url=f"{SHOP}/catalogue/?page={number}",
            task_id=str(400 + number % 7), batch="b-1" if number % 3 else "", risk=(number * 7 % 60) / 100,
        )  # fmt: skip
        if number % 2:
            row = replace(
                row, policy="llm", cost=Cost(known=number * 0.013), tokens=number * 2_300, max_money=0.5,
                max_tokens=200_000,
            )  # fmt: skip
        rows.append(row if number < live else _other(row, number - live, few, now))
    return rows


def _other(row: LiveRow, number: int, few: dict[str, LiveRow], now: float) -> LiveRow:
    if number % 10 == 0:
        need = replace(few["live-2"].needs[0], id=f"req-{row.run}", run=row.run)
        return replace(row, state=RunState.WAITING, needs=(need,))
    if number % 10 == 1:
        return replace(row, state=RunState.PAUSED, flags=few["live-4"].flags)
    if number % 10 == 2:
        return replace(row, state=RunState.QUEUED, step=0, words="", plan="")
    outcome = ("answered", "answered", "infeasible", "crashed", "stopped")[number % 5]
    return replace(
        row, state=RunState.ENDED, outcome=outcome, why=f"{outcome}: 'Too thin'", ended_at=now - 60.0 * number
    )
