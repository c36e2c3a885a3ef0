"""The form that starts a batch: the tasks of a file, their options, and a budget for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, Signal

from app.engine.api.batch_api import BatchRequest, FileTask
from app.engine.api.run_api import LlmRunOptions, RunRequest
from app.engine.core.cost import amount
from app.engine.core.sites import SiteTable
from app.models.common.form import Problem, complete_url
from app.models.common.object_list import ObjectList
from app.models.common.tasks import ignore
from app.models.common.translate import tr
from app.models.live.run_options import MAX_TOKENS, USUAL, RunOptionsModel, dollars, plain_number
from app.models.live.site_addresses import SiteAddresses

if TYPE_CHECKING:
    from app.engine.api.site_api import SiteRow
    from app.engine.core.batch import BatchRow
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

READ_DELAY = 0.25
"""Seconds without a key press before the file is read."""
MAX_CONCURRENCY = 32
UNTOUCHED = ("site", "suite", "task_id", "start_url", "setup")
"""Fields of a request that the form does not have."""
REMEMBERED = (*USUAL, "at_once", "batch_money", "batch_tokens", "start_url")
"""Typed fields that the next batch begins with; the log-in's path is no secret, its file is."""


class FileTaskList(ObjectList[FileTask]):
    """Tasks of a file."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda task: task.number, parent)
        self.leave_out = False

    def words(self, value: FileTask) -> str:
        """Return number and task, and whether it can't be run."""
        if value.request is not None:
            return f"{value.number}  {value.intent}"
        state = tr("left out") if self.leave_out else tr("can't be run yet")
        return f"{value.number}  {state}: {value.intent}"

    def tip(self, value: FileTask) -> str:
        """Return the whole task with its start address, or why it can't be run."""
        return f"{value.intent}\n{value.problem or (value.request.start_url if value.request else '')}"


class BatchFormModel(RunOptionsModel):
    """A task file, its contents, the options of its runs, and what all of them may cost.

    Signals:
        sent(BatchRow): the batch that was started.
    """

    sent = Signal(object)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        own = {"path": "", "name": "", "start_url": "", "at_once": "", "batch_money": "", "batch_tokens": ""}
        super().__init__(own, client, tasks, parent)
        self.list = FileTaskList(self)
        self.addresses = SiteAddresses(client, tasks, self)
        self.chosen: frozenset[int] = frozenset()
        """Numbers of the selected tasks; none means all."""
        self.is_reading = self.is_named = False
        self.known_names: frozenset[str] = frozenset()
        """Names of batches there are; a proposed one is none of them."""
        self._sites: Sequence[SiteRow] = ()
        self._table = SiteTable({})
        self.addresses.changed.connect(self.changed)
        self.addresses.saved.connect(self._read)

    # ------------------------------------------------------------ the tasks
    @property
    def wanted(self) -> list[FileTask]:
        """The selected tasks, or all; without those that are left out."""
        return [task for task in self._selected if task.request is not None or not self.list.leave_out]

    @property
    def unready(self) -> list[FileTask]:
        """Selected tasks that can't be run yet, also those that are left out."""
        return [task for task in self._selected if task.request is None]

    @property
    def _selected(self) -> list[FileTask]:
        return [task for task in self.list.rows if not self.chosen or task.number in self.chosen]

    def choose_tasks(self, numbers: Iterable[int]) -> None:
        """Select tasks by number; none means all."""
        chosen = frozenset(numbers)
        if chosen != self.chosen:
            self.chosen = chosen
            self.changed.emit()

    def leave_out_unready(self) -> None:
        """Leave out the tasks that can't be run, or take them in again."""
        self.list.leave_out = not self.list.leave_out
        self.list.dataChanged.emit(self.list.index(0), self.list.index(len(self.list.rows) - 1))
        self.changed.emit()

    # ------------------------------------------------------------ what it says
    @property
    def problems(self) -> list[Problem]:
        found = [] if self.values["path"].strip() else [Problem("path", tr("Choose a task file"))]
        if self.values["at_once"].strip():
            found += self._integer_problem("at_once", 1, MAX_CONCURRENCY)
        found += self.money_problem("batch_money") + self.count_problem("batch_tokens", MAX_TOKENS)
        return found + self.option_problems()

    @property
    def obstacle(self) -> str:
        """Why the tasks can't be started although every field is right, "" for no reason."""
        if self.is_reading or not self.list.rows or self.error:
            return ""
        waiting = [task for task in self.wanted if task.request is None]
        if not waiting:
            return "" if self.wanted else tr("No task is left to start.")
        return (
            tr("1 task can't be run yet: {0}").format(waiting[0].problem)
            if len(waiting) == 1
            else tr("{0} tasks can't be run yet, the first because: {1}").format(
                len(waiting), waiting[0].problem
            )
        )

    @property
    def can_start(self) -> bool:
        busy = self.is_reading or self.is_sending or self.addresses.is_saving
        return bool(self.wanted) and not (self.problems or self.obstacle or self.error or busy)

    @property
    def own_words(self) -> str:
        """Fields that tasks set themselves: ``3 of 20 tasks name their own policy``; "" for none."""
        words = {
            "policy": tr("policy"), "kb": tr("tips"), "graph": tr("graph"), "domains": tr("hosts"),
            "max_steps": tr("steps"), "max_tokens": tr("token budget"), "storage_state": tr("log-in"),
        }  # fmt: skip
        tasks = self.wanted
        counts = Counter(name for task in tasks for name in task.given if name in words)
        if not counts:
            return ""
        parts = [f"{count}: {words[name]}" for name, count in counts.most_common()]
        if len(counts) == 1:
            ((name, count),) = counts.items()
            return tr("{0} of {1} tasks name their own {2}, which is kept.").format(
                count, len(tasks), words[name]
            )
        return tr("Of {0} tasks some name their own options, which are kept ({1}).").format(
            len(tasks), ", ".join(parts)
        )

    @property
    def summary(self) -> str:
        """The line that says what starting will do; "" while there is nothing to start."""
        if not self.can_start:
            return ""
        requests = self.requests()
        count, parallel = len(requests), self.values["at_once"].strip()
        parts = [tr("1 run") if count == 1 else tr("{0} runs").format(count)]
        if count > 1:
            parts.append(
                tr("{0} parallel").format(parallel) if parallel else tr("parallel as in the settings")
            )
        parts.append(self._policies(requests))
        parts.append(self._budget(requests))
        sites = {self._site(request) for request in requests}
        logged = {self._site(request) for request in requests if self._is_logged_in(request)}
        where = tr("1 site") if len(sites) == 1 else tr("{0} sites").format(len(sites))
        login = (
            tr("not logged in") if not logged
            else tr("logged in") if len(logged) == len(sites)
            else tr("logged in on {0}").format(len(logged))
        )  # fmt: skip
        return "; ".join((", ".join(part for part in parts if part), where, login))

    def _policies(self, requests: Sequence[RunRequest]) -> str:
        counts = Counter(request.policy for request in requests)
        if set(counts) == {self.policy}:
            return self.policy_words
        return ", ".join(
            f"{count} {self.policy_words if name == self.policy else name}" for name, count in counts.items()
        )

    def _budget(self, requests: Sequence[RunRequest]) -> str:
        money, tokens = self._limits()
        parts = [f"${amount(money)}"] if money else []
        parts += [tr("{0} tokens").format(f"{tokens:,}")] if tokens else []
        if parts:
            return tr("at most {0}").format(tr(" and ").join(parts))
        if all(request.policy == "scout" for request in requests):
            return ""
        own = dollars(self.values["max_money"])
        if own:
            return tr("at most ${0} each").format(amount(own))
        return tr("no budget")

    def _site(self, request: RunRequest) -> str:
        return request.site or self._table.site_of(request.start_url)

    def _is_logged_in(self, request: RunRequest) -> bool:
        site = self._site(request)
        return bool(request.storage_state) or any(row.login for row in self._sites if row.site.name == site)

    # ------------------------------------------------------------ starting
    def requests(self) -> list[RunRequest]:
        """Return the runs as they will be started; call it only when ``can_start``."""
        options = self.options()
        return [
            _with_options(task.request, task.given, options)
            for task in self.wanted
            if task.request is not None
        ]

    def start(self) -> bool:
        """Start the batch; False while that is impossible."""
        if not self.can_start:
            self.changed.emit()
            return False
        money, tokens = self._limits()
        request = BatchRequest(
            name=self.values["name"].strip(),
            tasks=tuple(self.requests()),
            at_once=int(self.values["at_once"].strip() or 0),
            max_money=money,
            max_tokens=tokens,
            source=self.values["path"].strip(),
        )
        self.is_sending, self.error = True, ""
        self._tasks.start(self._client.api.start_batch(request), self._sent, self.fail)
        self.changed.emit()
        return True

    def fail(self, error: BaseException) -> None:
        """Show why the tasks were not started."""
        self.is_sending = False
        super().fail(error)

    def _sent(self, row: BatchRow) -> None:
        self.is_sending = self.is_named = False
        self.known_names |= {row.name}
        self.values["path"] = ""  # a second Enter must not start the file again
        self.list.replace([])
        self.values["name"] = self._proposed_name()
        self.choose_tasks(())
        self.changed.emit()
        self.sent.emit(row)

    def _limits(self) -> tuple[float, int]:
        tokens = plain_number(self.values["batch_tokens"])
        return dollars(self.values["batch_money"]) or 0.0, int(tokens or 0)

    # ------------------------------------------------------------ reading
    def load(self) -> None:
        """Look up what there is to choose from, and the sites."""
        super().load()

        def loaded(rows: list[SiteRow]) -> None:
            self._sites = rows
            self._table = SiteTable({row.site.name: row.site.hosts for row in rows})
            self.changed.emit()

        self._tasks.start(self._client.api.sites(), loaded, ignore, key="batch-sites")

    def _on_set(self, name: str) -> None:
        if name == "name":
            self.is_named = bool(self.values["name"].strip())
        elif name == "path":
            self.chosen, self.list.leave_out = frozenset(), False
            if not self.is_named:
                self.values["name"] = self._proposed_name()
            self._read()
        elif name == "start_url":
            self._read()

    def _proposed_name(self) -> str:
        """Return the file's name, with a number where there is a batch of that name."""
        stem = PurePath(self.values["path"].strip()).stem
        names = (stem if number == 1 else f"{stem} {number}" for number in range(1, 10_000))
        return next((name for name in names if name not in self.known_names), stem)

    def _read(self) -> None:
        """Read the file after a short pause."""
        path, start = self.values["path"].strip(), self.values["start_url"].strip()
        self.is_reading = bool(path)
        if not path:
            self._tasks.cancel("live-tasks")
            self._take(())
            return

        def failed(error: Exception) -> None:
            self._take(())
            self.fail(error)

        reading = self._client.api.read_task_file(path, complete_url(start) if start else "")
        self._tasks.start(reading, self._take, failed, key="live-tasks", delay=READ_DELAY)

    def _take(self, tasks: Sequence[FileTask]) -> None:
        self.is_reading = False
        self.list.replace(tasks)
        self.addresses.show(dict.fromkeys(name for task in tasks for name in task.names))
        self.changed.emit()

    # ------------------------------------------------------------ the last batch's choices
    def choices(self) -> dict[str, Any]:
        """Return the choices that the next batch begins with."""
        return {
            "values": {name: self.values[name] for name in REMEMBERED},
            "policy": self.policy,
            "graph": self.graph,
            "vision": self.vision,
            "allow": sorted(self.allow),
            "llm": asdict(self.llm),
        }

    def restore(self, saved: object) -> None:
        """Begin with saved choices; what does not fit is left as it is."""
        if not isinstance(saved, dict):
            return
        known = cast("dict[str, Any]", saved)
        values = known.get("values")
        for name in REMEMBERED:
            text = cast("dict[str, Any]", values).get(name) if isinstance(values, dict) else None
            if isinstance(text, str):
                self.values[name] = text
        self.policy = "llm" if known.get("policy") == "llm" else "scout"
        self.graph, self.vision = str(known.get("graph") or ""), known.get("vision") is True
        allow, llm = known.get("allow"), known.get("llm")
        self.allow = frozenset(map(str, cast("list[Any]", allow))) if isinstance(allow, list) else frozenset()
        usual = asdict(LlmRunOptions())
        if isinstance(llm, dict):
            fits = {
                name: value
                for name, value in cast("dict[str, Any]", llm).items()
                if name in usual and type(value) is type(usual[name])
            }
            self.llm = replace(LlmRunOptions(), **fits)
        self.changed.emit()


def _with_options(request: RunRequest, given: Iterable[str], options: dict[str, Any]) -> RunRequest:
    """Return a task's run with the form's options, except those that the task sets itself.

    An empty option leaves what the task has (the log-in of its sites), and hosts come together.
    """
    own = {*given, *UNTOUCHED}
    changes = {name: value for name, value in options.items() if name not in own and value not in ("", ())}
    if options.get("domains"):
        changes["domains"] = tuple(dict.fromkeys((*request.domains, *options["domains"])))
    return replace(request, supervised=True, **changes)
