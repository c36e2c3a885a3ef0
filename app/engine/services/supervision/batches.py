"""Batches: their tasks are given to the fleet one by one, as limits and budget allow.

A batch belongs to the process that runs it (``batch_runner``); commands of others reach that one as rows.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.engine.api.batch_api import BatchDetail, BatchRequest
from app.engine.core.batch import BatchRow, BatchState
from app.engine.core.events import BatchChanged
from app.engine.services.agent_runs import AgentRunService
from app.engine.services.core import Core
from app.engine.services.supervision.batch_files import export_batch
from app.engine.services.supervision.batch_requests import (
    batch_head,
    check_limits,
    check_models,
    check_number,
    new_batch_id,
)
from app.engine.services.supervision.batch_rules import check_command
from app.engine.services.supervision.batch_runner import NO_PROCESS, BatchRunner
from app.engine.services.supervision.checked_requests import checked_requests
from app.engine.services.supervision.fleet import Fleet
from app.engine.services.supervision.live_batch import LiveBatch, task_key
from app.engine.services.supervision.remote_replies import answer_command, command_text, reply_to
from app.engine.store.supervision.batch_store import BatchStatus, StoredBatch
from app.errors import Conflict, NotFound, SiteloreError, UsageError

log = logging.getLogger(__name__)


class BatchService:
    """The batches of an open workspace."""

    def __init__(self, core: Core, fleet: Fleet, agent_runs: AgentRunService) -> None:
        self._core, self._fleet, self._agent_runs = core, fleet, agent_runs
        self._runner = BatchRunner(core, fleet, agent_runs)
        commands: dict[str, Callable[..., Awaitable[object]]] = {
            "pause": self.pause_batch,
            "resume": self.resume_batch,
            "stop": self.stop_batch,
            "retry": self.retry_batch,
            "limits": self._take_limits,
            "dismiss": self.dismiss_batch,
        }
        for name, method in commands.items():
            fleet.remote_handlers[f"batch {name}"] = functools.partial(self._obey, method)

    # ------------------------------------------------------------ to see

    async def batches(self) -> list[BatchRow]:
        """Return all batches that were not dismissed, the newest first."""
        others = await self._core.on_store(self._stored_elsewhere)
        found = [*others, *self._runner.ours.values()]
        rows = [batch.row(self._fleet.at_once) for batch in found if not batch.status.dismissed]
        return sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)

    async def batch(self, batch: str) -> BatchDetail:
        """Return a batch with its tasks, by its id, or by its name where only one has it.

        Raises:
            NotFound: there is none.  UsageError: several have this name.
        """
        found = await self._known(await self._id_of(batch))
        return BatchDetail(row=found.row(self._fleet.at_once), tasks=found.batch_tasks())

    async def rows_of_others(self, also: Collection[str]) -> list[BatchRow]:
        """Return the batches of other processes, and ``also`` these unless they are this process's or dismissed."""

        def reading() -> list[LiveBatch]:
            others = self._core.workspace.run_registry.runs_of_others()
            known = [id for id in self._core.workspace.batches.ids() if id in others or id in also]
            found = [self._stored(id, tasks=False) for id in known if id not in self._runner.ours]
            return [batch for batch in found if not batch.status.dismissed]

        return [batch.row(self._fleet.at_once) for batch in await self._core.on_store(reading)]

    def owns(self, batch: str) -> bool:
        """Whether this process runs a batch."""
        return batch in self._runner.ours

    # ------------------------------------------------------------ to command

    async def start_batch(self, request: BatchRequest) -> BatchRow:
        """Start a batch; if one of its tasks is invalid, none is started.

        Raises:
            UsageError, NotFound, InputError: a task or a limit is invalid; the message says which.
            ModelError: a task needs a model and none is set.
        """
        check_limits(request.at_once, request.max_money, request.max_tokens)
        check_number(request.tasks)
        checked = await checked_requests(self._agent_runs, request.tasks)
        await check_models(self._core, checked, request.max_money)
        id = new_batch_id()
        tasks = [
            self._agent_runs.remove_passwords(task_key(id, number), replace(task, batch=id))
            for number, task in enumerate(checked, 1)
        ]
        head = batch_head(id, request, tasks, self._core.author)
        status = BatchStatus(
            at_once=request.at_once, max_money=request.max_money, max_tokens=request.max_tokens
        )
        await self._runner.claim(id)  # before any process can see it
        try:
            await self._core.on_store(self._core.workspace.batches.add_batch, head, status, tasks)
        except BaseException:
            await self._runner.give_up(id)
            raise
        batch = LiveBatch(StoredBatch(head=head, status=status, tasks=dict(enumerate(tasks, 1))))
        self._runner.own(batch)
        async with self._runner.one_at_a_time:
            await self._runner.feed()
        return self._runner.publish(batch)

    async def pause_batch(self, batch: str) -> None:
        """Start no more tasks, and pause the active runs.  Raises ``Conflict``: it has ended."""
        if isinstance(found := await self._commanded(batch, "pause"), int):
            return
        async with self._runner.one_at_a_time:
            check_command("pause", found.status.state)
            await self._runner.pause(found, BatchState.PAUSED, f"paused by {self._core.author}")

    async def resume_batch(self, batch: str) -> None:
        """Go on with a paused or stopped batch.

        Raises:
            Conflict: it has ended, or its budget is used up.
        """
        if isinstance(found := await self._commanded(batch, "resume"), int):
            return
        async with self._runner.one_at_a_time:
            check_command("resume", found.status.state)
            too_little = found.status.state is BatchState.OUT_OF_BUDGET and found.refused_at == found.budget
            if problem := found.budget_problem or (found.status.why if too_little else ""):
                raise Conflict(problem)
            only = found.status.only_retried and found.status.state is not BatchState.STOPPED
            await self._runner.go_on(found, only_retried=only)

    async def stop_batch(self, batch: str) -> None:
        """End its active runs and start no more.  Raises ``Conflict``: it has ended."""
        if isinstance(found := await self._commanded(batch, "stop"), int):
            return
        async with self._runner.one_at_a_time:
            check_command("stop", found.status.state)
            await self._runner.stop(found, f"stopped by {self._core.author}")

    async def retry_batch(self, batch: str) -> int:
        """Start its failed and stopped tasks again, each as a new run; return how many.

        A stopped batch starts only these.
        """
        id = await self._id_of(batch)
        if isinstance(found := await self._commanded(id, "retry"), int):
            return found
        async with self._runner.one_at_a_time:
            numbers = found.to_retry()
            if not numbers:
                return 0
            await self._core.on_store(self._core.workspace.batches.add_retries, id, numbers)
            found.ask_again(numbers)
            for run in filter(None, map(found.newest_run, numbers)):
                await self._runner.drop_row(run.run)
            if found.status.state in (BatchState.ENDED, BatchState.STOPPED):
                only = found.status.state is BatchState.STOPPED
                await self._runner.go_on(found, only_retried=only)
            await self._runner.feed()
            self._runner.publish(found)
        return len(numbers)

    async def set_batch_limits(self, batch: str, at_once: int, max_money: float, max_tokens: int) -> BatchRow:
        """Change parallel runs and budget; a batch that was out of budget goes on if it can.

        Raises:
            UsageError: a limit is invalid, or a budget of money needs a price that is not known.
        """
        check_limits(at_once, max_money, max_tokens)
        id = await self._id_of(batch)
        known = await self._known(id)
        await check_models(self._core, known.tasks.values(), max_money)
        limits = {"at_once": at_once, "max_money": max_money, "max_tokens": max_tokens}
        if isinstance(found := await self._commanded(id, "limits", **limits), int):
            return (await self._known(id)).row(self._fleet.at_once)
        async with self._runner.one_at_a_time:
            found.status = replace(found.status, at_once=at_once, max_money=max_money, max_tokens=max_tokens)
            await self._runner.save(found)
            self._runner.share_budget(found)
            if found.status.state is BatchState.OUT_OF_BUDGET and not found.budget_problem:
                await self._runner.go_on(found, only_retried=found.status.only_retried)
            await self._runner.feed()
            self._runner.refresh_soon(found)
            return self._runner.publish(found)

    async def export_batch(self, batch: str, out: str) -> int:
        """Write the ended runs of a batch and a table of its tasks; return the number of runs.

        Raises:
            Conflict: a file or folder of this name exists.
        """
        found = await self._known(await self._id_of(batch))
        return await self._core.on_store(export_batch, self._core.workspace, found, Path(out).expanduser())

    async def dismiss_batch(self, batch: str) -> None:
        """Remove an ended or stopped batch from the list; its runs stay.  Raises ``Conflict``: it is neither."""
        if isinstance(found := await self._commanded(batch, "dismiss"), int):
            return
        async with self._runner.one_at_a_time:
            check_command("dismiss", found.status.state)
            found.status = replace(found.status, dismissed=True)
            await self._runner.save(found)
            self._core.bus.publish(BatchChanged(row=BatchRow(id=found.id, name=found.head.name)))

    # ------------------------------------------------------------ its process

    async def claim_left(self) -> list[str]:
        """Claim the batches that a process left; return them.  Call it before the fleet recovers its runs."""

        def claiming() -> list[str]:
            claim = self._core.workspace.run_registry.claim_batch
            return [batch.id for batch in self._left() if claim(batch.id)]

        return await self._core.on_store(claiming)

    async def recover_batches(self, claimed: Collection[str], *, automatically: bool) -> None:
        """Take over claimed batches; call it after the fleet has recovered their runs.

        ``automatically``: the engine restarted under a living window, so they go on; else a person decides.
        """
        for id in claimed:
            try:
                await self._adopt(id, automatically=automatically)
            except SiteloreError as error:
                log.warning("batch %s can't be taken over: %s", id, error)

    async def aclose(self) -> None:
        """Store how the runs fare before the fleet is closed."""
        await self._runner.aclose()

    # ------------------------------------------------------------ inside

    async def _id_of(self, batch: str) -> str:
        if batch in self._runner.ours:
            return batch
        rows = await self.batches()
        if any(row.id == batch for row in rows):
            return batch
        named = [row.id for row in rows if row.name == batch]
        if len(named) > 1:
            raise UsageError(
                f"{len(named)} batches are called {batch[:80]!r}",
                remedy=f"give the id of one: {', '.join(named)}",
            )
        if not named:
            raise NotFound(f"no batch {batch[:80]!r} in this workspace")
        return named[0]

    async def _known(self, id: str) -> LiveBatch:
        """Return a batch, of this process or as it is stored."""
        return self._runner.ours.get(id) or await self._core.on_store(self._stored, id)

    async def _commanded(self, batch: str, command: str, **asked: float) -> LiveBatch | int:
        """Return a batch of this process, taking over one that nobody runs.

        Where another process has it and has done the command, return its result.  Raises as ``check_command``.

        Raises:
            Conflict: the other process refused, or does not answer.
        """
        id = await self._id_of(batch)
        if id in self._runner.ours:
            return self._runner.ours[id]
        workspace = self._core.workspace
        what, text = f"batch {command}", command_text(**asked)

        def take_or_send() -> bool:
            check_command(command, self._stored(id).status.state)
            if workspace.run_registry.claim_batch(id):
                return True
            workspace.supervision.add_remote_command(id, what, text)
            return False

        if not await self._core.on_store(take_or_send):
            return await reply_to(self._core, id, what, text, who="the process that runs the batch")
        # Its process may have ended a moment ago, so that its runs are not among the live ones yet.
        await self._fleet.recover(automatically=False, wanted=lambda run: run.row.batch == id)
        await self._adopt(id, automatically=False)
        return self._runner.ours[id]

    async def _adopt(self, id: str, *, automatically: bool) -> None:
        """Take over a claimed batch as it is stored now; where that fails it is left to others."""
        if id in self._runner.ours:
            return
        rows = self._core.workspace.batches
        try:
            batch = LiveBatch(await self._core.on_store(rows.batch_of, id))
            if id not in self._runner.ours:
                await self._runner.adopt(batch, automatically=automatically)
        except BaseException:
            if id not in self._runner.ours:
                await self._runner.give_up(id)
            raise

    async def _obey(self, method: Callable[..., Awaitable[object]], batch: str, text: str) -> None:
        """Do what another process asks of a batch of this one, and answer it."""

        async def doing(asked: dict[str, Any]) -> int:
            result = await method(batch, **{name: value for name, value in asked.items() if name != "token"})
            return result if isinstance(result, int) else 0

        await answer_command(self._core, text, doing)

    async def _take_limits(self, batch: str, at_once: float, max_money: float, max_tokens: float) -> None:
        await self.set_batch_limits(batch, int(at_once), max_money, int(max_tokens))

    def _stored(self, id: str, *, tasks: bool = True) -> LiveBatch:
        """Return a batch as it is stored; an active one that nobody runs is paused.  Store thread only."""
        found = LiveBatch(self._core.workspace.batches.batch_of(id, tasks=tasks))
        others = self._core.workspace.run_registry.runs_of_others()
        if found.status.state is BatchState.ACTIVE and id not in others:
            found.status = replace(found.status, state=BatchState.PAUSED, why=NO_PROCESS)
        return found

    def _left(self) -> list[LiveBatch]:
        """Return batches of no living process that are not over, or have unfinished runs.  Store thread only."""
        over = (BatchState.ENDED, BatchState.STOPPED)
        others = self._core.workspace.run_registry.runs_of_others()
        return [
            batch
            for batch in self._stored_elsewhere()
            if batch.id not in others and (batch.status.state not in over or batch.unfinished)
        ]

    def _stored_elsewhere(self) -> list[LiveBatch]:
        """Return the batches that are not this process's, without their tasks.  Store thread only."""
        found: list[LiveBatch] = []
        for id in self._core.workspace.batches.ids():
            if id in self._runner.ours:
                continue
            with suppress(NotFound):
                found.append(self._stored(id, tasks=False))
        return [batch for batch in found if not batch.status.dismissed]
