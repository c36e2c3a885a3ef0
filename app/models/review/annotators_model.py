"""Several annotators: the form that divides runs among them, their queues, agreement and disagreements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.engine.api.review_api import (
    AnnotatorQueue,
    AssignmentRequest,
    Disagreement,
    LabelAgreement,
    PairAgreement,
)
from app.engine.core.verdicts import Label, Verdict
from app.models.common.form import FormModel, Problem
from app.models.common.object_list import ObjectList
from app.models.common.translate import tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.api.run_rows import RunFilter
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

MAX_ANNOTATORS = 20


class AssignmentFormModel(FormModel):
    """Names, overlap in percent, and number of runs at most ("" for all)."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__({"names": "", "overlap": "20", "limit": ""}, parent)

    @property
    def names(self) -> tuple[str, ...]:
        """The annotators, each once, as typed."""
        parts = (
            part.strip() for part in self.values["names"].replace(";", ",").replace("\n", ",").split(",")
        )
        return tuple(dict.fromkeys(part for part in parts if part))

    @property
    def problems(self) -> list[Problem]:
        """All problems, in the order of the form."""
        found: list[Problem] = []
        if not self.names:
            found.append(Problem("names", tr("Enter one or more names, separated by commas")))
        elif len(self.names) > MAX_ANNOTATORS:
            found.append(Problem("names", tr("Enter {0} names at most").format(MAX_ANNOTATORS)))
        found += self._integer_problem("overlap", 0, 100)
        if self.values["limit"].strip():
            found += self._integer_problem("limit", 1, 1_000_000)
        return found

    def request(self, which: RunFilter) -> AssignmentRequest:
        """The request, once there is no problem."""
        return AssignmentRequest(
            annotators=self.names,
            which=which,
            overlap=int(self.values["overlap"]) / 100,
            limit=int(self.values["limit"].strip() or "0"),
        )


class AnnotatorQueueList(ObjectList[AnnotatorQueue]):
    """Queues by person."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda queue: queue.annotator, parent)

    def words(self, value: AnnotatorQueue) -> str:
        """``ana: 12 of 40 judged, 8 shared``."""
        return tr("{0}: {1} of {2} judged, {3} shared").format(
            value.annotator, value.judged, value.assigned, value.shared
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementLine:
    """A row of the agreement table: two people over all labels (``label`` is ``None``), or one label of theirs."""

    first: str
    second: str
    label: Label | None
    title: str
    kappa: str
    facts: str
    words: str


class AgreementList(ObjectList[AgreementLine]):
    """Pairs of people, each over its labels."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda line: (line.first, line.second, line.label), parent)

    def words(self, value: AgreementLine) -> str:
        return value.words


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementLine:
    """A run that two people judged differently, with their names."""

    first: str
    second: str
    case: Disagreement


class DisagreementList(ObjectList[DisagreementLine]):
    """Disagreements, the unsettled first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda line: (line.first, line.second, line.case.run), parent)

    def words(self, value: DisagreementLine) -> str:
        """``gitlab: ana loop, ben gave up; settled: loop; Create a milestone``."""
        case = value.case
        said = tr("{0}: {1} {2}, {3} {4}").format(
            case.site, value.first, labels_words(case.first), value.second, labels_words(case.second)
        )
        settled = tr("; settled: {0}").format(case.settled.value) if case.settled is not None else ""
        return f"{said}{settled}; {case.intent}"


class AnnotatorsModel(QObject):
    """Signals:

    changed: queues, agreement, disagreements or the error changed.
    run_wanted(run): open a run whose annotators disagree.
    notice: a sentence for a passing message.
    """

    changed = Signal()
    run_wanted = Signal(str)
    queue_wanted = Signal(str)
    notice = Signal(str)

    def __init__(
        self,
        client: EngineEvents,
        tasks: Tasks,
        which: Callable[[], RunFilter],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._client, self._tasks, self._which = client, tasks, which
        self.form = AssignmentFormModel(self)
        self.queues, self.agreement, self.disagreements = (
            AnnotatorQueueList(self),
            AgreementList(self),
            DisagreementList(self),
        )
        self.is_loaded = self.watched = False
        self.error = ""
        client.runs_changed.connect(self._on_runs_changed)

    @property
    def unsettled(self) -> int:
        """Disagreements without a settling verdict."""
        return sum(line.case.settled is None for line in self.disagreements.rows)

    def watch(self, on: bool) -> None:
        """Load while the pane is open."""
        self.watched = on
        if on:
            self.load()

    def load(self) -> None:
        async def fetch() -> tuple[list[AnnotatorQueue], list[PairAgreement]]:
            return await self._client.api.annotator_queues(), await self._client.api.agreement()

        def came(answer: tuple[list[AnnotatorQueue], list[PairAgreement]]) -> None:
            queues, pairs = answer
            self.is_loaded, self.error = True, ""
            self.queues.merge(queues)
            self.agreement.merge(agreement_lines(pairs))
            self.disagreements.merge(disagreement_lines(pairs), keep_places=True)
            self.changed.emit()

        def failed(error: Exception) -> None:
            self.is_loaded, self.error = True, str(error)
            self.changed.emit()

        self._tasks.start(fetch(), came, failed, key="review-annotators")

    def assign(self) -> bool:
        """Divide the runs of the queue's filter; False where the form has a problem."""
        if self.form.problems:
            return False
        request = self.form.request(self._which())

        def done(queues: list[AnnotatorQueue]) -> None:
            mine = [queue for queue in queues if queue.annotator in request.annotators]
            parts = [tr("{0} to {1}").format(queue.assigned, queue.annotator) for queue in mine]
            self.notice.emit(tr("Runs assigned: {0}").format(", ".join(parts) or "0"))
            self.load()

        self._tasks.start(self._client.api.assign_runs(request), done, self.form.fail, key="review-assign")
        return True

    def open_case(self, row: int) -> None:
        """Open the run of a disagreement."""
        line = self.disagreements.at(row)
        if line is not None:
            self.run_wanted.emit(line.case.run)

    def open_queue(self, row: int) -> None:
        """Filter the queue to a person's runs."""
        queue = self.queues.at(row)
        if queue is not None:
            self.queue_wanted.emit(queue.annotator)

    def settle(self, row: int, label: Label) -> None:
        """Settle a disagreement with a label."""
        line = self.disagreements.at(row)
        if line is None:
            return

        def done(verdict: Verdict) -> None:
            self.notice.emit(tr("Settled: {0}").format(verdict.label.value))
            self.load()

        self._tasks.start(self._client.api.adjudicate(line.case.run, label), done)

    def _on_runs_changed(self, _event: object) -> None:
        if self.watched:
            self.load()


def agreement_lines(pairs: list[PairAgreement]) -> list[AgreementLine]:
    """Return a line for each pair of people, and one for each label that either of them used."""
    found: list[AgreementLine] = []
    for pair in pairs:
        who = tr("{0} and {1}").format(pair.first, pair.second)
        kappa = kappa_words(pair.kappa)
        between = (
            tr("95 % interval {0:.2f} to {1:.2f}").format(pair.low, pair.high)
            if pair.low is not None and pair.high is not None
            else tr("too few runs for an interval")
        )
        facts = tr("agreed on {0} of {1} runs").format(pair.agreed, pair.runs)
        found.append(
            AgreementLine(
                first=pair.first,
                second=pair.second,
                label=None,
                title=who,
                kappa=kappa,
                facts=f"{facts} · {between}",
                words=tr("{0}: kappa {1}, {2}, {3}").format(who, kappa, between, facts),
            )
        )
        used = [one for one in pair.labels if one.both or one.only_first or one.only_second]
        found += [_label_line(pair, one) for one in sorted(used, key=_used, reverse=True)]
    return found


def disagreement_lines(pairs: list[PairAgreement]) -> list[DisagreementLine]:
    """Return the disagreements of all pairs, the unsettled first."""
    lines = [
        DisagreementLine(first=pair.first, second=pair.second, case=case)
        for pair in pairs
        for case in pair.disagreements
    ]
    return sorted(lines, key=lambda line: line.case.settled is not None)


def kappa_words(kappa: float | None) -> str:
    return "–" if kappa is None else f"{kappa:.2f}"


def labels_words(labels: tuple[Label, ...]) -> str:
    return " + ".join(label.value for label in labels) or tr("no label")


def _label_line(pair: PairAgreement, one: LabelAgreement) -> AgreementLine:
    facts = tr("both {0} · only {1} {2} · only {3} {4}").format(
        one.both, pair.first, one.only_first, pair.second, one.only_second
    )
    kappa = kappa_words(one.kappa)
    return AgreementLine(
        first=pair.first,
        second=pair.second,
        label=one.label,
        title=one.label.value,
        kappa=kappa,
        facts=facts,
        words=tr("{0}: kappa {1}, {2}").format(one.label.value, kappa, facts),
    )


def _used(one: LabelAgreement) -> int:
    return one.both + one.only_first + one.only_second
