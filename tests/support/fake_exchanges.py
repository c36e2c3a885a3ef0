"""Exchanges with a model, made up, for the fake engine."""

from __future__ import annotations

from dataclasses import replace

from app.engine.api.exchange_api import (
    AskAgainEstimate,
    AskAgainRequest,
    AskedAgain,
    AskedAnswer,
    Exchange,
    ExchangeMessage,
    ExchangePart,
    ExchangeRow,
)
from app.errors import NotFound

MARKER = "f00df00df00d"


def make_exchange(
    digest: str, step: int | None, role: str = "operator", tree_lines: int = 300, **row: object
) -> Exchange:
    """An operator's request with rules, a page, a picture, tips and notes, and its answer."""
    tree = "\n".join(f"[{number}] link 'Order {number} of {digest}'" for number in range(tree_lines))
    return Exchange(
        row=replace(
            ExchangeRow(
                digest=digest, step=step, role=role, model="gpt-test", at=1_700_000_000.0 + len(digest),
                tokens_in=5200, tokens_out=140, cached=4096, seconds=2.4, money=0.0123, size=48_000,
            ),
            **row,
        ),
        format=2,
        parameters={"api": "chat", "model": "gpt-test", "max_tokens": "1500", "reasoning_effort": "low"},
        most=1500,
        messages=(
            ExchangeMessage(
                role="system",
                parts=(ExchangePart(kind="text", text="You operate a browser.\nAnswer with one action."),),
            ),
            ExchangeMessage(
                role="user",
                parts=(
                    ExchangePart(kind="state", text="You are at http://shop.example/, titled 'Shop'."),
                    ExchangePart(kind="image", text="the page with marks", digest="e" * 64, stored=False),
                    ExchangePart(
                        kind="elements", text=f"<<elements {MARKER}>>\n{tree}\n<<end of elements {MARKER}>>"
                    ),
                ),
            ),
            ExchangeMessage(
                role="user",
                parts=(
                    ExchangePart(kind="ledger", text=f"<<memory {MARKER}>>\nfacts: -\n<<end of memory {MARKER}>>"),
                    ExchangePart(kind="tips", text="Expert knowledge of this site:"),
                    ExchangePart(kind="tips", text="1. Orders are under 'My account'.", tip="shop-001"),
                    ExchangePart(kind="text", text=f"Step {step}; 20 steps are left. What is next?"),
                ),
            ),
        ),
        text='<think>The orders are behind the link.</think>\n<action>\nclick("7")\n</action>',
    )  # fmt: skip


class FakeExchanges:
    """Exchanges by run; a run has none until a test puts some there."""

    def start_exchanges(self) -> None:
        self.prompts: dict[str, list[Exchange]] = {}
        self.asked: list[AskedAgain] = []

    async def exchanges(self, run: str, step: int | None = None) -> tuple[ExchangeRow, ...]:
        return tuple(one.row for one in self.prompts.get(run, ()) if step is None or one.row.step == step)

    async def exchange(self, run: str, digest: str) -> Exchange:
        for one in self.prompts.get(run, ()):
            if one.row.digest == digest:
                return one
        raise NotFound(f"run {run} has no exchange {digest[:12]!r}")

    async def ask_again_estimate(self, request: AskAgainRequest) -> AskAgainEstimate:
        return AskAgainEstimate(
            model=request.model or "gpt-test", tokens_in=5_300 * request.times, tokens_out=1_500, money=0.02
        )

    async def ask_again(self, request: AskAgainRequest) -> AskedAgain:
        answer = AskedAnswer(
            digest="9" * 64, decision="click button 'Save' [12]", text='<action>click("12")</action>',
            model=request.model or "gpt-test", tokens=(5_300, 90), seconds=1.5, money=0.01,
        )  # fmt: skip
        asked = AskedAgain(
            request=request, role="operator", step=4, at=1_700_000_100.0, author="ana",
            decision="click button 'Cancel' [7]", text='<action>click("7")</action>', answers=(answer,) * request.times,
        )  # fmt: skip
        self.asked.append(asked)
        return asked

    async def asked_again(self, run: str, digest: str = "") -> tuple[AskedAgain, ...]:
        return tuple(one for one in self.asked if digest in ("", one.request.digest))
