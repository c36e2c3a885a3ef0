"""Several annotators: queues, agreement, adjudication, and the guideline of the labels."""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from app.assets import resource
from app.engine.api.review_api import (
    AnnotatorQueue,
    AssignmentRequest,
    Disagreement,
    Guideline,
    LabelAgreement,
    PairAgreement,
)
from app.engine.api.run_rows import RunFilter, RunRow
from app.engine.core.agreement_statistics import cohen_kappa, label_counts
from app.engine.core.events import RunsChanged
from app.engine.core.person_names import ME, check_name
from app.engine.core.queue_assignment import divide_runs
from app.engine.core.trajectory import Outcome
from app.engine.core.verdicts import Label, Verdict
from app.engine.services.clustering import filtered_rows
from app.engine.services.core import Core, on_store
from app.engine.services.review import ReviewService
from app.engine.store.annotator_store import FIRST_GUIDELINE
from app.errors import Conflict, NotFound, UsageError

MAX_GUIDELINE = 100_000
"""Most letters of a guideline."""

GivenLabels = dict[str, dict[str, list[Label]]]
"""The labels of each person on each run, newest first."""


class AnnotatorService:
    """Several annotators: queues, agreement, adjudication, and the guideline of the labels."""

    def __init__(self, core: Core, review: ReviewService) -> None:
        self._core, self._review = core, review

    async def assign_runs(self, request: AssignmentRequest) -> list[AnnotatorQueue]:
        """Divide the runs that pass a filter among annotators; return the queues of all.

        The division replaces the queues of these annotators, one undo brings the old ones back; verdicts stay. A
        single annotator gets no run that is in the queue of somebody else, unless ``overlap`` is 1: that asks for a
        second look at all of them.

        Raises:
            UsageError: a name, the overlap or the filter makes no sense.
        """
        names = _names(request.annotators, self._core.author)
        if not 0 <= request.overlap <= 1:
            raise UsageError(
                "the overlap is a share from 0 to 1", remedy="0.2 gives a fifth of the runs to two"
            )

        def assigning() -> None:
            rows = [
                row
                for row in filtered_rows(self._core.workspace.index, request.which)
                if row.outcome != Outcome.RUNNING
            ]
            if not rows:
                raise UsageError("no run passes the filter", remedy="see the runs with: sitelore runs list")
            if len(names) == 1 and request.overlap < 1:
                others = {
                    run
                    for name, queue in self._core.workspace.annotators.queues().items()
                    if name not in names
                    for run in queue
                }
                rows = [row for row in rows if row.id not in others]
                if not rows:
                    raise UsageError(
                        "every run that passes the filter is in the queue of somebody else",
                        remedy="an overlap of 1 asks for a second look at them",
                    )
            runs = [(row.id, row.site) for row in rows[: request.limit or None]]
            queues = divide_runs(runs, names, request.overlap, request.seed)
            label = f"assign {len(runs)} runs to {', '.join(names)}"
            self._core.workspace.annotators.replace_queues(queues, label, self._core.author)

        await self._core.do_in_review(assigning)
        self._core.bus.publish(RunsChanged())
        return await self.annotator_queues()

    @on_store
    def annotator_queues(self) -> list[AnnotatorQueue]:
        """Return the queue of each annotator, by name; runs that were deleted are not counted."""
        workspace = self._core.workspace
        known = workspace.index.ids()
        queues = {name: set(runs) & known for name, runs in workspace.annotators.queues().items()}
        judged: dict[str, set[str]] = defaultdict(set)
        for verdict in workspace.review.verdicts():
            judged[verdict.author].add(verdict.run)
        return [
            AnnotatorQueue(
                annotator=name,
                assigned=len(runs),
                shared=len(runs & {run for other in queues if other != name for run in queues[other]}),
                judged=len(runs & judged[name]),
            )
            for name, runs in queues.items()
        ]

    @on_store
    def agreement(self) -> list[PairAgreement]:
        """Return the agreement of each two people who judged the same runs.

        Adjudications, and verdicts on a single flag, are none of theirs. Runs that the author has yet to judge blindly
        are left out altogether.
        """
        workspace = self._core.workspace
        rows = {row.id: row for row in workspace.index.rows(RunFilter())}
        visible = workspace.annotators.visible_verdicts(self._core.author)
        verdicts = [verdict for verdict in visible if verdict.run in rows]
        given = given_labels(verdicts)
        settled = {verdict.run: verdict.label for verdict in verdicts if verdict.settles}
        people = sorted({person for labels in given.values() for person in labels})
        found: list[PairAgreement] = []
        for first, second in combinations(people, 2):
            runs = sorted(run for run, labels in given.items() if first in labels and second in labels)
            if runs:
                apart = [run for run in runs if given[run][first][0] is not given[run][second][0]]
                found.append(_pair(first, second, runs, given, [rows[run] for run in apart], settled))
        return found

    async def adjudicate(self, run: str, label: Label, note: str = "") -> Verdict:
        """Settle the label of a run that two people or more have judged; it then counts before theirs.

        Raises:
            NotFound: no such run.
            Conflict: fewer than two have judged it, or the author is one of its annotators and has not judged it yet.
        """

        def settling() -> Verdict:
            workspace = self._core.workspace
            if run not in workspace.index.ids():
                raise NotFound(f"no run {run!r} in this workspace")
            if workspace.annotators.is_blind(run, self._core.author):
                raise Conflict(f"run {run} is in your queue for a second look: give your own verdict first")
            judges = given_labels(workspace.review.verdicts(run)).get(run, {})
            if len(judges) < 2:
                who = f"only {next(iter(judges))} has" if judges else "nobody has"
                raise Conflict(f"{who} judged run {run}: an adjudication needs two annotators")
            verdict = Verdict(
                id=f"v-{uuid.uuid4().hex[:12]}",
                run=run,
                label=Label(label),
                note=note,
                author=self._core.author,
                at=time.time(),
                guideline=workspace.annotators.guideline_version(),
                settles=True,
            )
            workspace.review.add_verdict(verdict)
            return verdict

        verdict = await self._core.do_in_review(settling)
        await self._review.after_verdicts((run,))
        return verdict

    async def guideline(self) -> Guideline:
        """Return the version in force."""
        return (await self.guidelines())[-1]

    @on_store
    def guidelines(self) -> list[Guideline]:
        """Return all versions, oldest first; the first is the bundled text."""
        text = resource("guidelines", "labels.md").read_text("utf-8")
        return [Guideline(version=FIRST_GUIDELINE, text=text), *self._core.workspace.annotators.guidelines()]

    async def save_guideline(self, text: str) -> Guideline:
        """Append a version, which new verdicts name; the same text as now adds none.

        Raises:
            UsageError: it is empty or too long.
        """
        text = text.replace("\r\n", "\n").encode("utf-8", "replace").decode()
        if not text.strip():
            raise UsageError("the guideline is empty", remedy="write how the labels are to be used")
        if len(text) > MAX_GUIDELINE or "\0" in text:
            raise UsageError(f"a guideline is plain text of at most {MAX_GUIDELINE:,} letters")
        now = await self.guideline()
        if text == now.text:
            return now
        annotators = self._core.workspace.annotators
        return await self._core.on_store(annotators.add_guideline, text, self._core.author, time.time())


def given_labels(verdicts: Sequence[Verdict]) -> GivenLabels:
    """Return people's labels by run, from verdicts oldest first, without adjudications and verdicts on flags."""
    given: GivenLabels = defaultdict(dict)
    for verdict in reversed(verdicts):
        if not verdict.settles and not verdict.detector:
            labels = given[verdict.run].setdefault(verdict.author, [])
            if verdict.label not in labels:
                labels.append(verdict.label)
    return dict(given)


def _pair(
    first: str,
    second: str,
    runs: Sequence[str],
    given: GivenLabels,
    apart: Sequence[RunRow],
    settled: dict[str, Label],
) -> PairAgreement:
    pairs = [(given[run][first][0].value, given[run][second][0].value) for run in runs]
    kappa = cohen_kappa(pairs)
    used = {label for pair in pairs for label in pair}
    labels: list[LabelAgreement] = []
    for label in Label:
        if label.value in used:
            counts = label_counts(pairs, label.value)
            labels.append(
                LabelAgreement(
                    label=label,
                    both=counts.both,
                    only_first=counts.only_first,
                    only_second=counts.only_second,
                    neither=counts.neither,
                    kappa=counts.kappa,
                )
            )
    return PairAgreement(
        first=first,
        second=second,
        runs=len(runs),
        agreed=sum(one == other for one, other in pairs),
        kappa=kappa.kappa,
        low=kappa.low,
        high=kappa.high,
        labels=tuple(labels),
        disagreements=tuple(
            Disagreement(
                run=row.id,
                site=row.site,
                intent=row.intent,
                first=tuple(given[row.id][first]),
                second=tuple(given[row.id][second]),
                settled=settled.get(row.id),
            )
            for row in apart
        ),
    )


def _names(given: Sequence[str], author: str) -> list[str]:
    """Return the names of annotators without doubles; "me" is the author."""
    names = [author if name.strip() == ME else check_name(name) for name in given]
    if not names:
        raise UsageError("nobody is named to assign runs to", remedy="name one annotator or more")
    return list(dict.fromkeys(names))
