"""The form that starts a run: typed as text, validated, returned as a request."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.engine.api.run_api import LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE, RunRequest, RunSummary
from app.engine.core.events import RunAdvanced
from app.models.graph.explore_form import Problem, complete_url

if TYPE_CHECKING:
    from app.engine.api.graph_api import GraphRow
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

FIELDS = ("intent", "start_url", "max_steps", "kb", "storage_state")
POLICIES = ("scout", "llm")
MAX_STEPS = 1000


class RunFormModel(QObject):
    """The form's values, and the runs started from it.

    Signals:
        changed: a value, a problem, the list of graphs, or the last run's progress.
        started: a run was started.  ended(run, text): one has ended.
        refused: a started run failed, see ``error``.  failed(text): a resumed run failed.
    """

    changed = Signal()
    started = Signal()
    ended = Signal(str, str)
    refused = Signal()
    failed = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.values = {
            "intent": "",
            "start_url": "",
            "max_steps": "30",
            "kb": LIVE_KNOWLEDGE,
            "storage_state": "",
        }
        self.policy = POLICIES[0]
        self.graph = ""
        self.graphs: tuple[str, ...] = ()
        self.headed = False
        self.error = ""
        self.going: dict[str, RunAdvanced] = {}
        """Runs that are going on, by id."""
        client.run_advanced.connect(self._on_advanced)
        client.graph_changed.connect(self._on_graph)

    def load(self) -> None:
        """Load the sites that have a graph."""

        def came(rows: list[GraphRow]) -> None:
            self.graphs = tuple(row.site for row in rows)
            if self.graph not in self.graphs:
                self.graph = ""
            self.changed.emit()

        self._tasks.start(self._client.api.graphs(), came, key="run-form-graphs")

    def set(self, name: str, text: str) -> None:
        """Set a field."""
        if self.values[name] != text:
            self.values[name], self.error = text, ""
            self.changed.emit()

    def set_policy(self, policy: str) -> None:
        """Set the policy."""
        if policy != self.policy:
            self.policy = policy
            self.changed.emit()

    def set_graph(self, site: str) -> None:
        """Set the graph used for navigation; "" for none."""
        if site != self.graph:
            self.graph = site
            self.changed.emit()

    def set_headed(self, on: bool) -> None:
        """Set whether the browser is visible."""
        if on != self.headed:
            self.headed = on
            self.changed.emit()

    @property
    def problems(self) -> list[Problem]:
        """All problems, in the order of the form."""
        found: list[Problem] = []
        if not self.values["intent"].strip():
            found.append(Problem("intent", _tr("Say in words what is to be done")))
        address = complete_url(self.values["start_url"])
        parts = urlsplit(address) if "://" in address else None
        if parts is None or parts.scheme not in ("http", "https") or not parts.netloc or " " in parts.netloc:
            found.append(Problem("start_url", _tr("Type the address to begin at")))
        steps = self.values["max_steps"].strip()
        if not steps.isdecimal() or not 1 <= int(steps) <= MAX_STEPS:
            found.append(
                Problem("max_steps", _tr("Type a whole number from {0} to {1}").format(1, MAX_STEPS))
            )
        return found

    def request(self) -> RunRequest:
        """Return the form as a supervised run request; call it only without problems."""
        values = {name: text.strip() for name, text in self.values.items()}
        return RunRequest(
            intent=values["intent"],
            start_url=complete_url(values["start_url"]),
            policy=self.policy,
            kb=values["kb"] or WITHOUT_KNOWLEDGE,
            graph=(self.graph,) if self.graph else (),
            max_steps=int(values["max_steps"]),
            headed=self.headed,
            storage_state=values["storage_state"],
            supervised=True,
        )

    def start(self) -> bool:
        """Start the run; False while something is wrong."""
        if self.problems:
            self.changed.emit()
            return False
        self.error = ""
        self._tasks.start(self._client.api.run_task(self.request()), self._came, self._failed)
        self.started.emit()
        self.changed.emit()
        return True

    def stop(self, run: str) -> None:
        """End a run after the step in flight."""
        self._tasks.start(self._client.api.stop_run(run))

    def resume(self, run: str) -> None:
        """Resume an interrupted run."""
        self._tasks.start(
            self._client.api.resume_run(run), self._came, lambda error: self.failed.emit(str(error))
        )
        self.started.emit()

    def _came(self, summary: RunSummary) -> None:
        self.going.pop(summary.run, None)
        if summary.answer:
            said = _tr("Run ended, {0}: {1}").format(_outcome(summary.outcome), summary.answer)
        elif summary.error:
            said = _tr("Run ended, {0}: {1}").format(_outcome(summary.outcome), summary.error)
        else:
            said = _tr("Run ended, {0}").format(_outcome(summary.outcome))
        self.ended.emit(summary.run, said)
        self.changed.emit()

    def _failed(self, error: BaseException) -> None:
        self.error = str(error)
        self.changed.emit()
        self.refused.emit()

    def _on_graph(self, _event: object) -> None:
        self.load()

    def _on_advanced(self, event: RunAdvanced) -> None:
        if event.state == "running":
            self.going[event.run] = event
        else:
            self.going.pop(event.run, None)
        self.changed.emit()


def _outcome(outcome: str) -> str:
    return outcome.replace("_", " ")


def _tr(text: str) -> str:
    return QCoreApplication.translate("run", text)
