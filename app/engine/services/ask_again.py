"""Asks one exchange again, with another model or other tips: would it have acted otherwise?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from app import settings
from app.engine.agent.llm.asked_messages import messages_of
from app.engine.agent.llm.compared_answers import ROLES, ComparedDecision, decision_of
from app.engine.agent.model.chat_format import estimate_tokens
from app.engine.agent.model.client import open_model
from app.engine.agent.model.recording_model import BlobBuffer, RecordingModel
from app.engine.agent.model.role_choices import role_choices
from app.engine.api.exchange_api import (
    MOST_TIMES,
    AskAgainEstimate,
    AskAgainRequest,
    AskedAgain,
    AskedAnswer,
    Exchange,
)
from app.engine.core.chat_messages import ChatMessage, PartKind
from app.engine.core.model_api import AgentRole, LanguageModel, ModelError, ModelErrorKind
from app.engine.core.observation import RetrievedTip
from app.engine.core.redaction import MARK, redact_text
from app.engine.jobs import Job
from app.engine.services.core import Core, on_store
from app.engine.services.exchanges import ExchangeService
from app.engine.store.asked_again_file import add_asked_again, read_asked_again
from app.engine.store.blob_store import pack_blobs
from app.engine.store.exchange_file import read_schema
from app.errors import UsageError
from app.model_keys import model_key
from app.settings import EFFORTS, RoleSettings, Settings

"""The first leaves it to the settings."""
_ENDED = (
    ModelErrorKind.UNREACHABLE,
    ModelErrorKind.UNAUTHORISED,
    ModelErrorKind.NO_MODEL,
    ModelErrorKind.BUDGET,
)
"""Failures that the next attempt would meet too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedQuestion:
    """A request that is ready to be sent."""

    exchange: Exchange
    messages: tuple[ChatMessage, ...]
    schema: dict[str, Any] | None
    pictures: dict[str, bytes]
    tree: str
    notes: tuple[str, ...]


class AskAgainService:
    """Sends recorded requests to the endpoint of the settings.

    Args:
        opener: for tests; else the endpoint of the settings.
    """

    def __init__(
        self,
        core: Core,
        exchanges: ExchangeService,
        opener: Callable[[Settings], LanguageModel] | None = None,
    ) -> None:
        self._core, self._exchanges = core, exchanges
        self._opener = opener or _from_settings

    async def ask_again_estimate(self, request: AskAgainRequest) -> AskAgainEstimate:
        """Return the tokens and the cost of a request beforehand; nothing is sent.

        Raises:
            UsageError: its role is not asked again, or a tip or number in it is wrong.
            NotFound: there is no such run, exchange or tip.  StoreError: the record can't be used.
        """
        question = await self._prepared(request)
        role = AgentRole(question.exchange.row.role)
        choice = role_choices(_settings_for(role, request))[role]
        tokens, most = estimate_tokens(question.messages), question.exchange.most or 1024
        money = choice.price.of(tokens, most) * request.times if choice.price is not None else None
        return AskAgainEstimate(
            model=choice.model,
            tokens_in=tokens * request.times,
            tokens_out=most * request.times,
            money=money,
            notes=question.notes,
        )

    async def ask_again(self, request: AskAgainRequest) -> AskedAgain:
        """Ask, compare and store; the run itself stays as it is, and nothing is done in a browser.

        Raises:
            ModelError: no endpoint is set, or it gave no answer at all.
            UsageError, NotFound, StoreError: as ``ask_again_estimate``.
        """
        question = await self._prepared(request)

        async def work(job: Job) -> AskedAgain:
            return await self._asked(request, question, job)

        row = question.exchange.row
        title = (
            f"Ask the {row.role} again, step {row.step}"
            if row.step is not None
            else f"Ask the {row.role} again"
        )
        _, task = self._core.registry.start(title, work, cooperative=False)
        return await task

    @on_store
    def asked_again(self, run: str, digest: str = "") -> tuple[AskedAgain, ...]:
        """Return what was asked again in a run, or of one exchange, oldest first."""
        found = read_asked_again(self._core.workspace.runs.folder(run))
        return tuple(one for one in found if digest in ("", one.request.digest))

    async def _asked(self, request: AskAgainRequest, question: PreparedQuestion, job: Job) -> AskedAgain:
        row = question.exchange.row
        original = decision_of(row.role, question.exchange.text, question.tree)
        shelf = BlobBuffer()
        model = RecordingModel(self._opener(_settings_for(AgentRole(row.role), request)), shelf)
        answers: list[AskedAnswer] = []
        try:
            for number in range(request.times):
                job.advance(number, request.times, "waiting for the model")
                answers.append(await self._answer(model, question, original))
            job.advance(request.times, request.times, "")
        finally:
            await model.aclose()
            asked = self._outcome(request, question, original, answers)
            if answers:  # paid work survives a cancellation or a lost endpoint
                await self._core.on_store(self._keep, asked, shelf.take())
        return asked

    async def _answer(
        self, model: LanguageModel, question: PreparedQuestion, original: ComparedDecision
    ) -> AskedAnswer:
        role = AgentRole(question.exchange.row.role)
        try:
            reply = await model.ask(
                role,
                question.messages,
                schema=question.schema,
                pictures=question.pictures or None,
                most=question.exchange.most or 1024,
            )
        except ModelError as error:
            if error.kind in _ENDED:
                raise
            return AskedAnswer(error=str(error))
        decision = decision_of(role.value, reply.text, question.tree)
        return AskedAnswer(
            digest=reply.digest,
            decision=decision.words,
            same=decision.is_same(original),
            text=redact_text(reply.text),
            model=reply.model,
            tokens=reply.tokens,
            seconds=reply.seconds,
            money=reply.money,
        )

    def _outcome(
        self,
        request: AskAgainRequest,
        question: PreparedQuestion,
        original: ComparedDecision,
        answers: list[AskedAnswer],
    ) -> AskedAgain:
        row = question.exchange.row
        return AskedAgain(
            request=request,
            role=row.role,
            step=row.step,
            at=time.time(),
            author=self._core.author,
            decision=original.words,
            text=question.exchange.text,
            answers=tuple(answers),
            notes=question.notes,
        )

    def _keep(self, asked: AskedAgain, blobs: dict[str, bytes]) -> None:
        runs = self._core.workspace.runs
        runs.blobs.add(pack_blobs(blobs))
        add_asked_again(runs.folder(asked.request.run), asked)

    async def _prepared(self, request: AskAgainRequest) -> PreparedQuestion:
        if not 1 <= request.times <= MOST_TIMES:
            raise UsageError(f"an exchange is asked again 1 to {MOST_TIMES} times, not {request.times}")
        if request.effort not in EFFORTS:
            raise UsageError(
                f"there is no effort {request.effort[:40]!r}", remedy=f"use {', '.join(EFFORTS[1:])}"
            )
        return await self._core.on_store(self._prepare, request)

    def _prepare(self, request: AskAgainRequest) -> PreparedQuestion:
        runs = self._core.workspace.runs
        exchange = self._exchanges.load(request.run, request.digest)
        row = exchange.row
        if row.role not in ROLES:
            raise UsageError(
                f"the {row.role} can't be asked again", remedy="choose the operator's or the planner's"
            )
        found = [self._core.kb.get(tip) for tip in request.tips]
        added = [
            *(
                RetrievedTip(tip=tip.id, text=tip.text, when=tip.when, do=tip.do, before=tip.before)
                for tip in found
            ),
            *(
                RetrievedTip(tip=f"new-{n}", text=redact_text(text))
                for n, text in enumerate(request.texts, 1)
            ),
        ]
        edited = {tip: redact_text(text) for tip, text in request.edited.items()}
        messages = messages_of(exchange, without=request.without, edited=edited, added=added)
        parts = [part for message in exchange.messages for part in message.parts]
        shown = [part for part in parts if part.kind == PartKind.IMAGE]
        pictures = {part.digest: runs.read_blob(part.digest) for part in shown if part.stored}
        tree = self._tree(request.run, row.step)
        return PreparedQuestion(
            exchange=exchange,
            messages=messages,
            schema=read_schema(runs.read_blob(request.digest), request.digest),
            pictures=pictures,
            tree=tree,
            notes=_notes(parts, sum(not part.stored for part in shown)),
        )

    def _tree(self, run: str, step: int | None) -> str:
        """Return the page tree of a step, which names the elements that actions point at."""
        runs = self._core.workspace.runs
        steps = runs.load(run)[1]
        if step is None or step >= len(steps) or not steps[step].tree:
            return ""
        return runs.read_blob(steps[step].tree).decode("utf-8", "replace")


def _from_settings(chosen: Settings) -> LanguageModel:
    return open_model(chosen, model_key(url=chosen.model_url))


def _settings_for(role: AgentRole, request: AskAgainRequest) -> Settings:
    """Return the settings with another model or effort for one role."""
    chosen = settings.load()
    own = chosen.roles.get(role, RoleSettings())
    if request.model:
        own = RoleSettings(model=request.model)
    effort = next((one for one in EFFORTS if one == request.effort), EFFORTS[0])
    own = replace(own, effort=effort or own.effort)
    return replace(chosen, roles={**chosen.roles, role: own})


def _notes(parts: list[Any], missing: int) -> tuple[str, ...]:
    notes: list[str] = []
    if any(MARK in part.text or "{secret:" in part.text for part in parts):
        notes.append(
            "Secrets were replaced when the exchange was recorded; the model is sent their replacements."
        )
    if missing:
        are = "picture was" if missing == 1 else "pictures were"
        notes.append(f"{missing} {are} not stored; words are sent instead.")
    return tuple(notes)
