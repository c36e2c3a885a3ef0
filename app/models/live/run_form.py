"""The form that starts a run, and the runs that Review started with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from app.engine.api.run_api import LIVE_KNOWLEDGE, RunRequest, RunSummary
from app.engine.core.events import RunAdvanced
from app.engine.core.labels import outcome_label
from app.models.common.form import Problem, complete_url
from app.models.common.translate import tr
from app.models.live.run_options import RunOptionsModel

if TYPE_CHECKING:
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks


class RunFormModel(RunOptionsModel):
    """A task and its settings.

    Signals:
        started: a run was requested.  sent(runs): ids of the runs that were started or queued.
        filled: the form was filled with an earlier run's task.
    """

    started = Signal()
    sent = Signal(list)
    filled = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__({"intent": "", "start_url": ""}, client, tasks, parent)
        self._earlier: RunRequest | None = None

    @property
    def note(self) -> str:
        """A remark for the foot of the form, "" for none."""
        return tr("The task of an earlier run, with the current tips.") if self.is_again else ""

    def again(self, request: RunRequest) -> None:
        """Fill the form with a run's task, with the current tips and map and all else unchanged."""
        self._earlier = request
        self.take_options(request)
        self.values.update(intent=request.intent, start_url=request.start_url, kb=LIVE_KNOWLEDGE)
        self.error = ""
        self.load()
        self.changed.emit()
        self.filled.emit()

    @property
    def is_again(self) -> bool:
        """Whether the form holds an earlier run's task."""
        return self._earlier is not None and self.values["intent"].strip() == self._earlier.intent.strip()

    def clear(self) -> None:
        """Clear the form for another task; the start address stays, as the next task often starts there too."""
        self._earlier = None
        self.values["intent"], self.error = "", ""
        self.changed.emit()

    @property
    def problems(self) -> list[Problem]:
        found: list[Problem] = []
        if not self.values["intent"].strip():
            found.append(Problem("intent", tr("Describe the task")))
        address = complete_url(self.values["start_url"])
        parts = urlsplit(address) if "://" in address else None
        if parts is None or parts.scheme not in ("http", "https") or not parts.netloc or " " in parts.netloc:
            found.append(Problem("start_url", tr("Enter the start address")))
        return found + self.option_problems()

    def request(self) -> RunRequest:
        """Return the form as a supervised run request; call it only without problems.

        Settings the form does not show are those of the run it was filled from.
        """
        earlier = self._earlier if self.is_again and self._earlier is not None else None
        return replace(
            earlier or RunRequest(intent="", start_url="", supervised=True),
            intent=self.values["intent"].strip(),
            start_url=complete_url(self.values["start_url"]),
            batch="",
            **self.options(),
        )

    def start(self) -> bool:
        """Start the run; False while something is wrong."""
        if self.problems or self.is_sending:
            self.changed.emit()
            return False
        self.error = ""
        self._send(self.request())
        self.started.emit()
        self.changed.emit()
        return True

    def _send(self, request: RunRequest) -> None:
        self.is_sending = True

        def sent(runs: list[str]) -> None:
            self.is_sending = False
            self.clear()
            self.sent.emit(runs)

        def failed(error: Exception) -> None:
            self.is_sending = False
            self.fail(error)

        self._tasks.start(self._client.api.start_runs([request]), sent, failed)


class ReviewRunFormModel(RunFormModel):
    """The same form in Review, which starts the run at once and follows it to its end.

    Signals:
        ended(run, text): a run started here has ended.
        refused: a started run failed, see ``error``.  failed(text): a resumed run failed.
    """

    ended = Signal(str, str)
    refused = Signal()
    failed = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(client, tasks, parent)
        self.going: dict[str, RunAdvanced] = {}
        """Active runs, by id."""
        client.run_advanced.connect(self._on_advanced)

    @property
    def note(self) -> str:
        """The last step of each active run."""
        return "\n".join(
            tr("step {0}: {1}").format(event.step, event.words) if event.words else tr("starting")
            for event in self.going.values()
        )

    def stop(self, run: str) -> None:
        """End a run after the step in flight."""
        self._tasks.start(self._client.api.stop_run(run))

    def resume(self, run: str) -> None:
        self._tasks.start(
            self._client.api.resume_run(run), self._on_ended, lambda error: self.failed.emit(str(error))
        )
        self.started.emit()

    def _send(self, request: RunRequest) -> None:
        def failed(error: Exception) -> None:
            self.fail(error)
            self.refused.emit()

        self._tasks.start(self._client.api.run_task(request), self._on_ended, failed)

    def _on_ended(self, summary: RunSummary) -> None:
        self.going.pop(summary.run, None)
        outcome, more = tr(outcome_label(summary.outcome)), summary.answer or summary.error
        text = (
            tr("Run ended, {0}: {1}").format(outcome, more) if more else tr("Run ended, {0}").format(outcome)
        )
        self.ended.emit(summary.run, text)
        self.changed.emit()

    def _on_advanced(self, event: RunAdvanced) -> None:
        if event.state == "running":
            self.going[event.run] = event
        else:
            self.going.pop(event.run, None)
        self.changed.emit()
