"""Freeze, verify, import and export the knowledge base."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, Signal

from app.models.common.object_list import ObjectList
from app.models.knowledge.tip_table import STATUSES
from kb.confidential import NOTHING, LeaveOut
from kb.errors import KbError
from kb.select import is_followed, to_freeze
from kb.tip import (
    FreezeReport,
    ImportReport,
    Kind,
    LintSeverity,
    Status,
    Tip,
    VerifyReport,
)

if TYPE_CHECKING:
    from app.engine.api.shared_knowledge_api import ReleasePage
    from app.models.common.engine_client import EngineEvents
    from app.models.common.tasks import Tasks

IMPORT_FORMATS = {
    "jsonl": "*.jsonl *.json",
    "csv": "*.csv",
    "txt": "*.txt",
    "hints": "*.csv",
    "markdown": "*.md *.markdown",
}
EXPORT_FORMATS = {"jsonl": ".jsonl", "csv": ".csv", "txt": ".txt", "hints": ".csv", "markdown": ".md"}
"""The formats that can be written, with their endings."""

LEARNINGS = "learnings"
"""What runs learned by themselves: frozen only if that is chosen, whatever its status."""
INCLUDABLE = (*(status for status in STATUSES if status != Status.ACTIVE), LEARNINGS)
_LINT_BATCH = 8
"""Tips linted between two progress updates."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A tip that lint keeps out of a frozen file, and the rules it breaks."""

    tip: str
    text: str
    rules: tuple[str, ...]
    message: str


class LeftOutListModel(ObjectList[LeftOut]):
    """Tips with lint errors."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(lambda one: one.tip, parent)

    def words(self, value: LeftOut) -> str:
        """``gitlab-003, task-value: 'CSV' belongs to this task only``."""
        return f"{value.tip}, {', '.join(value.rules)}: {value.message}"

    def tip(self, value: LeftOut) -> str:
        return f"{self.words(value)}\n{value.text}"


def format_of(path: str) -> str:
    """Return the export format of a file's ending, "" for an unknown one."""
    ending = PurePath(path).suffix.lower()
    return next((name for name, suffix in EXPORT_FORMATS.items() if suffix == ending), "")


class FreezeModel(QObject):
    """State and actions of the freeze pane; ``changed`` reports any change of it."""

    changed = Signal()
    notice = Signal(str)
    copy_wanted = Signal(str)

    def __init__(self, client: EngineEvents, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client, self._tasks = client, tasks
        self.left_out = LeftOutListModel(self)
        self.path = ""
        self.include: set[str] = set()
        self.counts = dict.fromkeys((*STATUSES, LEARNINGS), 0)
        self.checked = self.to_check = self.own_reviewed = self.confidential = 0
        self.is_counted = False
        self.is_open = self.is_busy = False
        self.error = self.verify_error = ""
        self.report: FreezeReport | None = None
        self.without = {"tags": "", "authors": "", "sites": ""}
        """Names of what stays out as confidential, as typed, with commas between them."""
        self.since = ""
        """An older frozen file that the release page compares with, "" for none."""
        self.verified: VerifyReport | None = None
        client.knowledge_changed.connect(self._again)

    # ------------------------------------------------------------ what would be frozen
    @property
    def staying_out(self) -> int:
        """Number of reviewed tips written here (not imported) that would not be frozen."""
        return 0 if Status.REVIEWED.value in self.include else self.own_reviewed

    @property
    def chosen(self) -> int:
        """Number of tips that would be frozen, as far as they are checked."""
        wanted = {Status.ACTIVE.value, *self.include}
        return sum(count for status, count in self.counts.items() if status in wanted)

    @property
    def last_file(self) -> str:
        """The file frozen to last, "" while there is none since the window opened."""
        return self.report.path if self.report is not None else ""

    def open(self) -> None:
        """Start counting, and find the tips that lint keeps out."""
        self.is_open, self.is_counted = True, False
        self._look()

    def close(self) -> None:
        """Stop checking."""
        self.is_open = False
        self._tasks.cancel("knowledge-freeze-look")

    def set_path(self, path: str) -> None:
        self.path = path.strip()
        self.changed.emit()

    def set_without(self, what: str, text: str) -> None:
        """Leave out tips with these ``tags``, by these ``authors``, or of these ``sites``."""
        self.without[what] = text
        self._look(delay=0.3)

    def set_since(self, path: str) -> None:
        self.since = path.strip()

    @property
    def page_source(self) -> str:
        """The frozen file that a release page would be of: the one frozen or verified last."""
        known = self.report or self.verified
        return known.path if known is not None else ""

    def write_page(self, out: str) -> None:
        """Write the release page of the file frozen or verified last."""
        if not self.page_source:
            return
        path = out if PurePath(out).suffix else f"{out}.html"

        def written(page: ReleasePage) -> None:
            self.notice.emit(self.tr("Release page written to {0}").format(page.path))

        releasing = self._client.api.kb_release(self.page_source, self.since, path)
        self._tasks.start(releasing, written, self._tell, key="knowledge-release")

    def set_include(self, status: str, *, included: bool) -> None:
        """Freeze the tips of this status, or the learnings, too, or no longer."""
        (self.include.add if included else self.include.discard)(status)
        self._look()

    def _again(self, _event: object) -> None:
        if self.is_open:
            self._look(delay=0.3)

    def _look(self, delay: float = 0.0) -> None:
        self.changed.emit()
        self._tasks.start(self._find(), None, self._failed, key="knowledge-freeze-look", delay=delay)

    async def _find(self) -> None:
        api = self._client.api
        wanted = [Status.ACTIVE, *self._chosen_statuses]
        every = await api.list_tips()
        self.counts = dict.fromkeys((*STATUSES, LEARNINGS), 0)
        for tip in every:
            if tip.kind is not Kind.LEARNING:
                self.counts[tip.status.value] += 1
            elif is_followed(tip):
                self.counts[LEARNINGS] += 1
        tips = [tip for tip in every if to_freeze(tip, wanted, LEARNINGS in self.include)]
        stay = self._confidential()
        kept = [tip for tip in tips if not stay.reason(tip, lambda tip: (tip.provenance.author,))]
        self.confidential, tips = len(tips) - len(kept), kept
        self.own_reviewed = sum(_is_own(tip) and tip.status is Status.REVIEWED for tip in every)
        self.is_counted = True
        self.checked, self.to_check, self.error = 0, len(tips), ""
        found: list[LeftOut] = []
        known = {tip.id for tip in tips}
        self.left_out.merge([one for one in self.left_out.rows if one.tip in known])
        for number, tip in enumerate(tips, start=1):
            found += await self._errors_of(tip)
            if number % _LINT_BATCH == 0 or number == len(tips):
                self.checked = number
                self.changed.emit()
        self.left_out.merge(found)
        self.changed.emit()

    def _confidential(self) -> LeaveOut:
        try:
            return LeaveOut.of(**{what: _names(text) for what, text in self.without.items()})
        except KbError:  # half typed; freezing says what is wrong
            return NOTHING

    async def _errors_of(self, tip: Tip) -> list[LeftOut]:
        findings = await self._client.api.lint_tip(tip.id)
        errors = [finding for finding in findings if finding.severity is LintSeverity.ERROR]
        if not errors:
            return []
        rules = tuple(dict.fromkeys(error.rule for error in errors))
        return [LeftOut(tip.id, tip.text, rules, errors[0].message)]

    # ------------------------------------------------------------ operations
    def freeze(self) -> None:
        if self.is_busy:
            return
        if not self.path:
            self.error = self.tr("Type or choose a path for the file.")
            self.changed.emit()
            return
        try:
            leave_out = LeaveOut.of(**{what: _names(text) for what, text in self.without.items()})
        except KbError as error:
            self._failed(error)
            return
        path = self.path if PurePath(self.path).suffix else f"{self.path}.akb"
        self.path, self.is_busy, self.error, self.report = path, True, "", None
        self.changed.emit()
        freezing = self._client.api.freeze(
            path,
            self._chosen_statuses,
            with_learnings=LEARNINGS in self.include,
            leave_out=leave_out or None,
        )
        self._tasks.start(freezing, self._frozen, self._failed, key="knowledge-freeze")

    @property
    def _chosen_statuses(self) -> list[Status]:
        return [Status(status) for status in STATUSES if status in self.include]

    def verify(self, path: str) -> None:
        if not path:
            return
        self.verified, self.verify_error = None, ""
        self.changed.emit()

        def failed(error: BaseException) -> None:
            self.verify_error = str(error)
            self.changed.emit()

        self._tasks.start(self._client.api.verify(path), self._verified, failed, key="knowledge-verify")

    def copy_hash(self) -> None:
        """Copy the hash of the file written or verified last to the clipboard."""
        known = self.report or self.verified
        if known is not None:
            self.copy_wanted.emit(known.sha256)
            self.notice.emit(self.tr("sha256 copied"))

    def import_tips(self, path: str, format: str, site: str = "") -> None:
        """Import an exchange file; the job reports its progress."""
        self._tasks.start(
            self._client.api.kb_import(path, format, site), self._imported, self._tell, key="knowledge-import"
        )

    def export_tips(self, path: str, format: str = "") -> None:
        """Write every tip to an exchange file, in the format of its ending."""
        name = format if EXPORT_FORMATS.get(format) == PurePath(path).suffix.lower() else ""
        name = name or format_of(path) or format
        if not name:
            self.notice.emit(self.tr("The file's ending selects the format: .jsonl, .csv, .txt or .md"))
            return
        if not PurePath(path).suffix:
            path += EXPORT_FORMATS[name]

        def exported(tips: int) -> None:
            self.notice.emit(self.tr("{0} written to {1}").format(tip_count(tips), path))

        self._tasks.start(
            self._client.api.kb_export(path, name), exported, self._tell, key="knowledge-export"
        )

    # ------------------------------------------------------------ answers
    def _frozen(self, report: FreezeReport) -> None:
        self.report, self.is_busy = report, False
        self.notice.emit(self.tr("Frozen: {0}").format(tip_count(report.tips)))
        self.changed.emit()

    def _verified(self, report: VerifyReport) -> None:
        self.verified = report
        self.changed.emit()

    def _imported(self, report: ImportReport) -> None:
        parts = [self.tr("Imported {0} as drafts").format(tip_count(len(report.added)))]
        if report.skipped:
            parts.append(self.tr("{0} already present").format(report.skipped))
        if report.failed:
            parts.append(
                self.tr("{0} could not be read (first: {1})").format(len(report.failed), report.failed[0])
            )
        self.notice.emit(", ".join(parts))

    def _tell(self, error: BaseException) -> None:
        self.notice.emit(str(error))

    def _failed(self, error: BaseException) -> None:
        self.error, self.is_busy = str(error), False
        self.changed.emit()


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _is_own(tip: Tip) -> bool:
    return not tip.provenance.source


def tip_count(number: int) -> str:
    """``1 tip``, ``12 tips``."""
    if number == 1:
        return QCoreApplication.translate("tips", "1 tip")
    return QCoreApplication.translate("tips", "{0} tips").format(number)
