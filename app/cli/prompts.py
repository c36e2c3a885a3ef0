"""``sitelore runs prompts``: what each role of a model was sent at a step, and what it answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.common import Json, print_result, table, with_engine
from app.cli.run_ids import RunId
from app.engine.api.exchange_api import Exchange, ExchangePart, ExchangeRow
from app.engine.core.chat_messages import PartKind

if TYPE_CHECKING:
    from app.engine.engine import Engine

Role = Annotated[str, typer.Option(help="Only this role: planner, operator, summarizer, vision, judge …")]


def prompts(
    run: RunId,
    step: Annotated[
        int | None, typer.Option(min=0, help="Print the messages and answers of this step in full.")
    ] = None,
    role: Role = "",
    as_json: Json = False,
) -> None:
    """List a run's requests to models with tokens and cost; of one step print them in full."""

    async def reading(engine: Engine) -> tuple[tuple[ExchangeRow, ...], list[Exchange]]:
        rows = await engine.exchanges(run, step)
        rows = tuple(row for row in rows if role in ("", row.role))
        wanted = rows if step is not None else ()
        return rows, [
            await engine.exchange(run, row.digest) if row.role else Exchange(row=row) for row in wanted
        ]

    rows, found = with_engine(reading)
    if step is None:
        print_result({"totals": totals(rows), "exchanges": rows}, as_json, lambda: rows_text(rows))
    else:
        print_result(
            {"totals": totals(rows), "exchanges": found},
            as_json,
            lambda: "\n\n".join([rows_text(rows), *("\n".join(exchange_lines(one)) for one in found)]),
        )


def totals(rows: Sequence[ExchangeRow]) -> list[dict[str, object]]:
    """Return the sums by role; money is ``None`` where one of its costs is unknown."""
    return [
        {
            "role": role,
            "calls": len(own),
            "tokens_in": sum(row.tokens_in for row in own),
            "cached": sum(row.cached for row in own),
            "tokens_out": sum(row.tokens_out for row in own),
            "seconds": round(sum(row.seconds for row in own), 2),
            "money": sum_of_money(own),
        }
        for role in dict.fromkeys(row.role for row in rows)
        for own in [[row for row in rows if row.role == role]]
    ]


def rows_text(rows: Sequence[ExchangeRow]) -> str:
    """Return the sums by role, then a line an exchange."""
    if not rows:
        return "no model was asked here"
    heads = ("role", "calls", "tokens in", "cached", "out", "seconds", "cost")
    sums = [(*list(one.values())[:6], money_words(one["money"])) for one in totals(rows)]
    lines = [
        (
            "run" if row.step is None else row.step,
            row.role,
            row.model,
            row.tokens_in,
            row.cached,
            row.tokens_out,
            f"{row.seconds:.1f}",
            money_words(row.money),
            row.error or ("answer was cut off" if row.truncated else ""),
        )
        for row in rows
    ]
    columns = ("step", "role", "model", "tokens in", "cached", "out", "seconds", "cost", "remark")
    return f"{table(sums, heads)}\n\n{table(lines, columns)}"


def exchange_lines(exchange: Exchange) -> Iterator[str]:
    """Yield one exchange in full: parameters, messages in order, answer."""
    row = exchange.row
    where = "of the run" if row.step is None else f"at step {row.step}"
    yield f"=== {row.role or 'exchange'} {where} · {row.model or 'model unknown'} · {row.digest[:12]}"
    if exchange.parameters:
        yield ", ".join(f"{name} {value}" for name, value in exchange.parameters.items())
    for message in exchange.messages:
        yield f"--- {message.role}"
        yield from (part_words(part) for part in message.parts if part.text or part.kind == PartKind.IMAGE)
    if row.error:
        yield f"--- no answer: {row.error}"
        return
    if exchange.thinking:
        yield f"--- thinking\n{exchange.thinking}"
    yield f"--- answer{' (cut off at the token limit)' if row.truncated else ''}"
    yield exchange.data or exchange.text


def part_words(part: ExchangePart) -> str:
    """Return a part's text; of a picture its name, and whether it was stored."""
    if part.kind != PartKind.IMAGE:
        return part.text
    stored = f"blob {part.digest[:12]}" if part.stored else "not stored"
    return f"[picture, {stored}{f': {part.text}' if part.text else ''}]"


def sum_of_money(rows: Sequence[ExchangeRow]) -> float | None:
    """Return the cost in US dollars; ``None`` where one of them is unknown.  A failed request cost nothing known."""
    costs = [row.money for row in rows if not row.error]
    return round(sum(cost for cost in costs if cost is not None), 6) if costs and None not in costs else None


def money_words(money: object) -> str:
    """``$0.0123``, or ``unknown``."""
    return f"${money:.4f}" if isinstance(money, float | int) else "unknown"
