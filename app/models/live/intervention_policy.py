"""The intervention policy as a table of rules by site, with a preview of its effect on stored runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.engine.core.intervention_policy import (
    DEFAULT_POLICY,
    InterventionPolicy,
    PolicyAnswer,
    PolicyCount,
    PolicyPreview,
    Reaction,
)
from app.engine.core.supervision import LiveRow
from app.engine.core.verdicts import Severity
from app.models.common.tasks import ignore
from app.models.live.policy_rules import (
    PolicyRow,
    Value,
    default_rows,
    detectors_of,
    normalized,
    own_value,
    sites_of,
    value_in_force,
    with_value,
    without_detector,
)
from app.models.review.run_queue import detector_label

if TYPE_CHECKING:
    from app.engine.api.review_api import RiskReport
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

Index = QModelIndex | QPersistentModelIndex
VALUE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""The value in force in a cell, ``None`` where flags follow their severity."""
IS_OWN_ROLE = VALUE_ROLE + 1
"""Whether the value is set for this very cell."""
PREVIEW_SECONDS = 0.15
"""Delay that merges several changes into one preview."""

_ROOT = QModelIndex()
_WORDS: dict[Value, str] = {
    Reaction.MARK: "mark",
    Reaction.NOTIFY: "notify me",
    Reaction.PAUSE: "pause",
    Reaction.ASK: "ask me",
    PolicyAnswer.ALLOW: "allow",
    PolicyAnswer.ASK: "ask me",
    PolicyAnswer.DENY: "refuse",
}
SIGNS: dict[Value, tuple[str, int]] = {
    Reaction.MARK: ("·", 0),
    Reaction.NOTIFY: ("◔", 1),
    Reaction.PAUSE: ("‖", 2),
    Reaction.ASK: ("?", 3),
    PolicyAnswer.ALLOW: ("✓", 0),
    PolicyAnswer.ASK: ("?", 2),
    PolicyAnswer.DENY: ("✕", 3),
}
"""A sign for each value, and how much it interrupts the agent, from 0."""
_WEIGHTS = {Severity.HINT: "a hint", Severity.WARNING: "a warning", Severity.ERROR: "an error"}


def is_required(row: PolicyRow, site: str) -> bool:
    """Whether a cell must have a value: every-site cells have nothing to inherit from."""
    return not site and not row.detector


class PolicyTable(QAbstractTableModel):
    """Rows are severities, detectors and risk classes; columns are every site and then single sites."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._policy = DEFAULT_POLICY
        self._rows = default_rows()
        self._sites = [""]

    @property
    def rows(self) -> list[PolicyRow]:
        return list(self._rows)

    @property
    def sites(self) -> list[str]:
        """The sites of the columns; "" is every site."""
        return list(self._sites)

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._sites)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the label of the value in force, and whether it is set here."""
        if not index.isValid():
            return None
        row, site = self._rows[index.row()], self._sites[index.column()]
        value = value_in_force(self._policy, row, site)
        is_own = own_value(self._policy, row, site) is not None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self.word(value)
            case Qt.ItemDataRole.AccessibleTextRole | Qt.ItemDataRole.ToolTipRole:
                return self._sentence(row, site, value, is_own)
            case _ if role == VALUE_ROLE:
                return value
            case _ if role == IS_OWN_ROLE:
                return is_own
            case _:
                return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return site names above, row labels at the side."""
        across = orientation is Qt.Orientation.Horizontal
        if not 0 <= section < (len(self._sites) if across else len(self._rows)):
            return None
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        return self.site_words(self._sites[section]) if across else self.row_words(self._rows[section])

    def word(self, value: Value | None) -> str:
        return self.tr(_WORDS[value]) if value is not None else self.tr("by severity")

    def site_words(self, site: str) -> str:
        return site or self.tr("every site")

    def row_words(self, row: PolicyRow) -> str:
        if row.risk is not None:
            return self.tr("Action: {0}").format(self.tr(row.risk.value))
        if row.detector:
            return self.tr("Flags of {0}").format(detector_label(row.detector))
        return self.tr("Flag: {0}").format(self.tr(_WEIGHTS[row.severity or Severity.HINT]))

    def show(self, policy: InterventionPolicy, sites: list[str], detectors: list[str]) -> None:
        """Show another policy, inserting and removing rows and columns one by one."""
        self._policy = policy
        self._keep_columns(["", *sites])
        self._keep_rows(default_rows(detectors))
        if self._rows and self._sites:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(self._sites) - 1))

    def _keep_columns(self, wanted: list[str]) -> None:
        for column in reversed(range(len(self._sites))):
            if self._sites[column] not in wanted:
                self.beginRemoveColumns(QModelIndex(), column, column)
                del self._sites[column]
                self.endRemoveColumns()
        for column, site in enumerate(wanted):
            if column >= len(self._sites) or self._sites[column] != site:
                self.beginInsertColumns(QModelIndex(), column, column)
                self._sites.insert(column, site)
                self.endInsertColumns()

    def _keep_rows(self, wanted: list[PolicyRow]) -> None:
        for number in reversed(range(len(self._rows))):
            if self._rows[number] not in wanted:
                self.beginRemoveRows(QModelIndex(), number, number)
                del self._rows[number]
                self.endRemoveRows()
        for number, row in enumerate(wanted):
            if number >= len(self._rows) or self._rows[number] != row:
                self.beginInsertRows(QModelIndex(), number, number)
                self._rows.insert(number, row)
                self.endInsertRows()

    def _sentence(self, row: PolicyRow, site: str, value: Value | None, is_own: bool) -> str:
        said = f"{self.row_words(row)}, {self.site_words(site)}: {self.word(value)}"
        if is_own or not site:
            return said
        return self.tr("{0} (inherited)").format(said)


class InterventionPolicyModel(QObject):
    """The policy being edited: a draft until it is saved; undo restores the previous policy.

    Signals:
        changed: another draft, or another state of loading and saving.
        preview_changed: the draft's effect is known, or being computed.
        saved(policy): the draft is in force.
        notice(text): a passing message.
    """

    changed = Signal()
    preview_changed = Signal()
    saved = Signal(object)
    notice = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.table = PolicyTable(self)
        self.draft = self._stored = DEFAULT_POLICY
        self.preview: PolicyPreview | None = None
        self.error = self.preview_error = ""
        self.is_ready = self.is_saving = self.is_counting = False
        self._known_sites: list[str] = []
        self._live_sites: list[str] = []
        self._named: list[str] = []
        self.detectors: list[str] = []
        client.policy_changed.connect(self._on_policy)

    # ------------------------------------------------------------ loading
    def load(self) -> None:
        """Load the policy in force and compute the preview again; an existing draft stays.

        Without scores no detector and without runs no site can be chosen; severities still can.
        """
        if self.is_ready:
            self._count()
        self._ask()
        self._tasks.start(self._client.api.live_runs(), self._runs_came, ignore, key="policy-sites")
        self._tasks.start(self._client.api.risk_report(), self._report_came, ignore, key="policy-detectors")

    @property
    def is_changed(self) -> bool:
        return self.is_ready and normalized(self.draft) != normalized(self._stored)

    # ------------------------------------------------------------ editing
    def set_value(self, row: int, column: int, value: Value | None) -> None:
        if not self.is_ready:
            return
        line, site = self.table.rows[row], self.table.sites[column]
        if value is not None and value not in line.values:
            return
        if value is None and is_required(line, site):
            return
        self._edit(with_value(self.draft, line, site, value))

    def turn(self, row: int, column: int, by: int = 1) -> None:
        """Set the next value of a cell, or the previous one."""
        line, site = self.table.rows[row], self.table.sites[column]
        values = line.values
        here = value_in_force(self.draft, line, site)
        place = values.index(here) + by if here is not None else 0 if by > 0 else len(values) - 1
        self.set_value(row, column, values[place % len(values)])

    @property
    def free_detectors(self) -> list[str]:
        """Detectors without a row of their own."""
        lines = self._lines()
        return [name for name in self.detectors if name not in lines]

    def name_detector(self, detector: str) -> int:
        """Add a row for a detector and return its number, -1 for none; it follows severity until something is set."""
        if not self.is_ready or detector not in self.free_detectors:
            return -1
        self._named.append(detector)
        self._show()
        return next(number for number, row in enumerate(self.table.rows) if row.detector == detector)

    def drop_detector(self, row: int) -> None:
        """Remove a detector's row with its rules."""
        line = self.table.rows[row]
        if self.is_ready and line.detector:
            self._named = [name for name in self._named if name != line.detector]
            self._edit(without_detector(self.draft, line.detector))

    def discard(self) -> None:
        self._edit(self._stored)

    def save(self) -> None:
        """Put the draft into force, for active runs too."""
        if not self.is_changed or self.is_saving:
            return
        self.is_saving, self.error = True, ""
        self.changed.emit()
        self._tasks.start(
            self._client.api.save_intervention_policy(self.draft), self._was_saved, self._failed
        )

    # ------------------------------------------------------------ words
    @property
    def preview_words(self) -> str:
        """Return what the draft would have done to the stored runs."""
        if self.preview_error:
            return self.preview_error
        if self.preview is None:
            return self.tr("Previewing on the stored runs…") if self.is_counting else ""
        return self.count_words(self.preview.whole)

    @property
    def preview_by_site(self) -> str:
        """Return the same for each site, one a line."""
        sites = self.preview.sites if self.preview is not None else ()
        return "\n".join(f"{count.site}: {self.count_words(count)}" for count in sites)

    def count_words(self, count: PolicyCount) -> str:
        """Return one line of counts: pauses first, as they stop the work."""
        if not count.runs:
            return self.tr("No stored runs to preview it on.")
        parts = [
            self.tr("Would have paused {0} of {1} runs, {2} of them failed").format(
                count.paused, count.runs, count.failed_paused
            ),
            self.tr("asked in {0} ({1} failed)").format(count.asked, count.failed_asked),
            self.tr("notified about {0} ({1} failed)").format(count.notified, count.failed_notified),
        ]
        if count.first_step is not None:
            parts.append(self.tr("usually first at step {0:.0f}").format(count.first_step + 1))
        return "; ".join(parts)

    # ------------------------------------------------------------ answers
    def _on_policy(self, _event: object) -> None:
        if self.is_ready:
            self._ask()

    def _ask(self) -> None:
        self._tasks.start(
            self._client.api.intervention_policy(), self._on_loaded, self._failed, key="policy-load"
        )

    def _on_loaded(self, policy: InterventionPolicy) -> None:
        if self.preview is not None and policy == self._stored:
            return  # our own save, or already counted
        untouched = not self.is_changed
        self._stored, self.error, self.is_ready = policy, "", True
        if untouched:
            self.draft = policy
        self._show()
        self._count()

    def _report_came(self, report: RiskReport) -> None:
        self.detectors = sorted({score.detector for score in report.scores})
        self.changed.emit()

    def _runs_came(self, rows: list[LiveRow]) -> None:
        self._live_sites = sorted({row.site for row in rows if row.site})
        self._show()

    def _failed(self, error: Exception) -> None:
        self.is_saving, self.error = False, str(error) or type(error).__name__
        self.changed.emit()

    def _was_saved(self, policy: InterventionPolicy) -> None:
        self.is_saving = False
        self.draft = self._stored = policy
        self._show()
        self.saved.emit(policy)
        self.notice.emit(self.tr("Policy saved"))

    # ------------------------------------------------------------ inside
    def _edit(self, policy: InterventionPolicy) -> None:
        self.draft, self.error = policy, ""
        self._show()
        self._count()

    def _lines(self) -> list[str]:
        return sorted({*detectors_of(self.draft), *self._named})

    def _show(self) -> None:
        sites = sorted({*self._known_sites, *self._live_sites, *sites_of(self.draft)})
        self.table.show(self.draft, sites, self._lines())
        self.changed.emit()

    def _count(self) -> None:
        def came(preview: PolicyPreview) -> None:
            self.preview, self.preview_error, self.is_counting = preview, "", False
            sites = [count.site for count in preview.sites if count.site]
            if sites != self._known_sites:
                self._known_sites = sites
                self._show()
            self.preview_changed.emit()

        def failed(error: Exception) -> None:
            self.preview_error, self.is_counting = str(error) or type(error).__name__, False
            self.preview_changed.emit()

        self.is_counting = True
        self.preview_changed.emit()
        self._tasks.start(
            self._client.api.preview_policy(self.draft),
            came,
            failed,
            key="policy-preview",
            delay=PREVIEW_SECONDS,
        )
