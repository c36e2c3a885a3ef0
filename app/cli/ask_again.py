"""``sitelore runs ask-again``: one request of a run, sent again to another model or with other tips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from app.cli.common import Json, print_note, print_result, with_engine
from app.cli.prompts import money_words
from app.cli.run_ids import RunId
from app.engine.api.exchange_api import MOST_TIMES, AskAgainEstimate, AskAgainRequest, AskedAgain
from app.errors import NotFound, UsageError

if TYPE_CHECKING:
    from app.engine.engine import Engine

AskedRole = Literal["operator", "planner"]
Tips = Annotated[list[str] | None, typer.Option(help="Add this tip of the knowledge base; may be repeated.")]


def ask_again(
    run: RunId,
    step: Annotated[int, typer.Argument(min=0, help="Number of the step.")],
    role: Annotated[
        AskedRole, typer.Option(help="Whose request is sent again: the last one of the step.")
    ] = "operator",
    model: Annotated[str, typer.Option(help="Another model of the endpoint (default: the role's).")] = "",
    effort: Annotated[str, typer.Option(help="Another reasoning effort: low, medium, high …")] = "",
    without_tip: Annotated[
        list[str] | None, typer.Option(help="Leave out this tip of the prompt; may be repeated.")
    ] = None,
    edit_tip: Annotated[
        list[str] | None, typer.Option(help="Give a tip of the prompt other words: ID=TEXT; may be repeated.")
    ] = None,
    with_tip: Tips = None,
    tip_text: Annotated[
        list[str] | None, typer.Option(help="Add a tip in these words; may be repeated.")
    ] = None,
    times: Annotated[
        int, typer.Option(min=1, max=MOST_TIMES, help="How often, to see how steady the answer is.")
    ] = 1,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what it would take; nothing is sent.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ask the model again what it was asked at a step: would it have acted otherwise? No browser is used."""
    edited = dict(_edit(text) for text in edit_tip or ())

    async def asking(engine: Engine) -> AskedAgain | AskAgainEstimate:
        rows = [row for row in await engine.exchanges(run, step) if row.role == role]
        if not rows:
            raise NotFound(f"the {role} was not asked at step {step} of run {run}; see sitelore runs prompts")
        request = AskAgainRequest(
            run=run, digest=rows[-1].digest, model=model, effort=effort, without=tuple(without_tip or ()),
            edited=edited, tips=tuple(with_tip or ()), texts=tuple(tip_text or ()), times=times,
        )  # fmt: skip
        found = await engine.ask_again_estimate(request)
        if estimate:
            return found
        if not as_json:
            print_note(estimate_text(found))
        return await engine.ask_again(request)

    told = with_engine(asking)
    if isinstance(told, AskAgainEstimate):
        print_result(told, as_json, lambda: estimate_text(told))
    else:
        print_result({"verdict": told.verdict, "asked": told}, as_json, lambda: "\n".join(_lines(told)))


def estimate_text(found: AskAgainEstimate) -> str:
    """Return what asking again will take, in one line."""
    cost = f"at most {money_words(found.money)}" if found.money is not None else "cost unknown"
    model = found.model or "the endpoint's model"
    return f"{model}: about {found.tokens_in:,} tokens in, at most {found.tokens_out:,} out and its reasoning, {cost}"


def _lines(asked: AskedAgain) -> Iterator[str]:
    yield asked.verdict
    yield from asked.notes
    yield f"\nthen: {asked.decision}\n{asked.text}"
    for number, answer in enumerate(asked.answers, 1):
        head = f"now {number} of {len(asked.answers)}" if len(asked.answers) > 1 else "now"
        if answer.error:
            yield f"\n{head}: no answer: {answer.error}"
            continue
        tokens = f"{answer.tokens[0]:,} tokens in, {answer.tokens[1]:,} out"
        sums = f"{tokens}, {answer.seconds:.1f} s, {money_words(answer.money)}"
        yield f"\n{head} ({answer.model}, {sums}): {answer.decision}\n{answer.text}"


def _edit(text: str) -> tuple[str, str]:
    tip, sign, words = text.partition("=")
    if not sign or not words.strip():
        raise UsageError(f"{text[:80]!r} is no edit of a tip", remedy="write --edit-tip ID=TEXT")
    return tip.strip(), words.strip()
