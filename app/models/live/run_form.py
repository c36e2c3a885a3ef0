"""The form that starts a run, and the runs that Review started with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from PySide6.QtCore import QObject, Signal

from app.engine.api.run_api import LIVE_KNOWLEDGE, WITHOUT_KNOWLEDGE, LlmRunOptions, RunRequest, RunSummary
from app.engine.core.events import RunAdvanced
from app.engine.core.labels import outcome_label
from app.models.common.form import FormModel, Problem, complete_url
from app.models.common.tasks import ignore
from app.models.common.translate import tr

if TYPE_CHECKING:
    from app.engine.api.graph_api import GraphRow
    from app.engine.api.prompt_api import ActionSetRow, ActionSets
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

FIELDS = ("intent", "start_url", "max_steps", "kb", "storage_state")
POLICIES = ("scout", "llm")
MAX_STEPS = 1000


class RunFormModel(FormModel):
    """A task and its settings.

    Signals:
        started: a run was requested.  sent(runs): ids of the runs that were started or queued.
        filled: the form was filled with an earlier run's task.
        model_wanted: the person wants to set up a model.
    """

    model_wanted = Signal()
    started = Signal()
    sent = Signal(list)
    filled = Signal()

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        values = {"intent": "", "start_url": "", "max_steps": "30", "kb": LIVE_KNOWLEDGE, "storage_state": ""}
        super().__init__(values, parent)
        self._client, self._tasks = client, tasks
        self.policy = POLICIES[0]
        self.graph = ""
        self.graphs: tuple[str, ...] = ()
        self.llm = LlmRunOptions()
        self.action_sets: tuple[ActionSetRow, ...] = ()
        self.headed = self.vision = self.is_sending = False
        self.has_model = True
        self._earlier: RunRequest | None = None
        client.graph_changed.connect(self._on_graph)
        client.prompts_changed.connect(self._on_prompts)

    @property
    def note(self) -> str:
        """A remark for the foot of the form, "" for none."""
        return tr("The task of an earlier run, with the current tips.") if self.is_again else ""

    def load(self) -> None:
        def loaded(rows: list[GraphRow]) -> None:
            self.graphs = tuple(row.site for row in rows)
            if self.graph not in self.graphs:
                self.graph = ""
            self.changed.emit()

        self._tasks.start(self._client.api.graphs(), loaded, key="run-form-graphs")
        self._on_prompts()
        self.look_up_model()

    def look_up_model(self, _saved: object = None) -> None:
        """Find out whether a model is set."""

        def found(missing: str) -> None:
            self.has_model = not missing
            self.changed.emit()

        self._tasks.start(self._client.api.model_missing(), found, ignore, key=f"run-form-model-{id(self)}")

    def _on_graph(self, _event: object) -> None:
        self.load()

    def _on_prompts(self, _event: object = None) -> None:
        def loaded(found: ActionSets) -> None:
            self.action_sets = found.sets
            self.changed.emit()

        self._tasks.start(self._client.api.action_sets(), loaded, key="run-form-actions")

    def choose_option(self, **options: Any) -> None:
        """Change options of the llm policy (``LlmRunOptions``)."""
        changed = replace(self.llm, **options)
        if changed != self.llm:
            self.llm = changed
            self.changed.emit()

    @property
    def marks(self) -> str:
        """When a vision model is asked for marks: ``auto``, ``always``; ``off`` without one."""
        return self.llm.marks if self.vision else "off"

    def choose_marks(self, when: Literal["off", "auto", "always"]) -> None:
        """Choose when a vision model is asked for marks."""
        if when != "off":
            self.choose_option(marks=when)
        self.choose("vision", when != "off")

    @property
    def actions_meaning(self) -> str:
        """The purpose of the chosen set of actions, and what it costs."""
        row = next((row for row in self.action_sets if row.name == self.llm.actions), None)
        if row is None:
            return ""
        return tr("{0} actions, about {1} tokens at each step. {2}").format(
            len(row.calls), row.tokens, row.why
        )

    def choose(self, name: str, value: str | bool) -> None:
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.changed.emit()

    def again(self, request: RunRequest) -> None:
        """Fill the form with a run's task, with the current tips and map and all else unchanged."""
        self._earlier = request
        self.values.update(
            intent=request.intent, start_url=request.start_url, max_steps=str(request.max_steps),
            kb=LIVE_KNOWLEDGE, storage_state=request.storage_state,
        )  # fmt: skip
        self.policy, self.headed, self.error = request.policy, request.headed, ""
        self.llm, self.vision = request.llm, request.vision
        self.graph = next(iter(request.graph), "")
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
        return found + self._integer_problem("max_steps", 1, MAX_STEPS)

    def request(self) -> RunRequest:
        """Return the form as a supervised run request; call it only without problems.

        Settings the form does not show are those of the run it was filled from.
        """
        values = {name: text.strip() for name, text in self.values.items()}
        earlier = self._earlier if self.is_again and self._earlier is not None else None
        return replace(
            earlier or RunRequest(intent="", start_url="", supervised=True),
            intent=values["intent"], start_url=complete_url(values["start_url"]), policy=self.policy,
            kb=values["kb"] or WITHOUT_KNOWLEDGE, graph=(self.graph,) if self.graph else (),
            max_steps=int(values["max_steps"]), headed=self.headed, storage_state=values["storage_state"],
            vision=self.vision, llm=self.llm,
        )  # fmt: skip

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
