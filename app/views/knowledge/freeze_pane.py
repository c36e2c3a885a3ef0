"""The freeze pane: tips that would go into the file, its path, and the result; verify, import and export."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.models.knowledge.freeze_form import EXPORT_FORMATS, IMPORT_FORMATS, INCLUDABLE, LEARNINGS, tip_count
from app.models.knowledge.tip_table import STATUSES
from app.views.knowledge.tip_rows import LEFT_OUT, left_out_row
from app.views.widgets.build import hbox, restyle, scroll_area, styled, text_label, vbox
from app.views.widgets.command_button import show_command
from app.views.widgets.rows import FittedList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.knowledge.freeze_form import FreezeModel
    from app.views.frame.theme import Theme

FORMAT_NAMES = {
    "jsonl": "JSON Lines",
    "csv": "CSV table",
    "txt": "Numbered text, one file a site",
    "hints": "AgentLab hints",
    "markdown": "Markdown notes (site skills)",
}


class FreezePane(QFrame):
    """Shown in place of the open tip.  ``tip_wanted`` asks to open a tip that is left out."""

    tip_wanted = Signal(str)

    def __init__(self, model: FreezeModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self._dialog: QFileDialog | None = None
        self.setProperty("kind", "raised")
        self.counts = {name: QLabel() for name in (*STATUSES, LEARNINGS)}
        self.include = {status: QCheckBox(status) for status in INCLUDABLE}
        self.total, self.looked, self.error = QLabel(), QLabel(), text_label(kind="fail")
        self.path = QLineEdit()
        self.choose, self.freeze, self.copy = QPushButton(), styled(QPushButton(), "primary"), QPushButton()
        self.verify, self.close_button = QPushButton(), styled(QPushButton(), "link")
        self.left_out = FittedList(theme, left_out_row, self.tr("Tips that lint keeps out"), LEFT_OUT, most=6)
        self.left_out.setModel(model.left_out)
        self.report, self.verdict = QLabel(), QLabel()
        self.without = {what: QLineEdit() for what in model.without}
        self.warnings = text_label(kind="warn", wrap=True)
        self.since, self.page = QLineEdit(), QPushButton()
        self.staying, self.take_reviewed = text_label(kind="warn"), styled(QPushButton(), "link")
        self._left_head = text_label(kind="section")
        self._lay_out()
        self._connect()
        self._dress()
        self._show()

    def begin(self) -> None:
        self.path.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.path.selectAll()

    # ------------------------------------------------------------ dialogs, none of which holds the window up
    def choose_target(self) -> None:
        dialog = self._make_dialog(self.tr("Freeze to"), QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(self.tr("Frozen knowledge (*.akb)"))
        dialog.setDefaultSuffix("akb")
        dialog.fileSelected.connect(self._on_target)
        dialog.open()

    def choose_verify(self) -> None:
        dialog = self._make_dialog(self.tr("Verify a frozen file"), QFileDialog.AcceptMode.AcceptOpen)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Frozen knowledge (*.akb)"), self.tr("All files (*)")])
        dialog.fileSelected.connect(self._model.verify)
        dialog.open()

    def choose_import(self) -> None:
        """Choose a file of tips to import; the file type names the format."""
        dialog = self._make_dialog(self.tr("Import tips"), QFileDialog.AcceptMode.AcceptOpen)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        every = " ".join(dict.fromkeys(" ".join(IMPORT_FORMATS.values()).split()))
        kinds = {self.tr("By file ending ({0})").format(every): "auto"}
        kinds |= {f"{FORMAT_NAMES[name]} ({ends})": name for name, ends in IMPORT_FORMATS.items()}
        dialog.setNameFilters(list(kinds))

        def chosen(path: str) -> None:
            self._model.import_tips(path, kinds.get(dialog.selectedNameFilter(), "auto"))

        dialog.fileSelected.connect(chosen)
        dialog.open()

    def choose_export(self) -> None:
        """Choose a file to export every tip to; its ending, or the chosen file type, names the format."""
        dialog = self._make_dialog(self.tr("Export tips"), QFileDialog.AcceptMode.AcceptSave)
        kinds = {f"{FORMAT_NAMES[name]} (*{suffix})": name for name, suffix in EXPORT_FORMATS.items()}
        dialog.setNameFilters(list(kinds))
        dialog.selectFile("tips.jsonl")

        def chosen(path: str) -> None:
            self._model.export_tips(path, kinds.get(dialog.selectedNameFilter(), "jsonl"))

        dialog.fileSelected.connect(chosen)
        dialog.open()

    def _make_dialog(self, title: str, mode: QFileDialog.AcceptMode) -> QFileDialog:
        dialog = QFileDialog(self.window(), title)
        dialog.setAcceptMode(mode)
        known = Path(self._model.path).expanduser().parent if self._model.path else Path.home()
        dialog.setDirectory(str(known if known.is_dir() else Path.home()))
        dialog.finished.connect(dialog.deleteLater)
        self._dialog = dialog
        return dialog

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        title = text_label(self.tr("Freeze and verify"), "heading")
        head = hbox((title, 1), self.close_button, margins=(14, 8, 12, 4))
        inner = styled(QWidget(), "raised")
        row = hbox((self.path, 1), self.choose, spacing=6)
        vbox(
            self._section(self.tr("Contents")),
            self._grid(),
            self.staying,
            (self.take_reviewed, 0, Qt.AlignmentFlag.AlignLeft),
            self.total,
            self._left_head,
            self.left_out,
            self._section(self.tr("Leave out as confidential")),
            self._without_grid(),
            self._section(self.tr("File")),
            row,
            self.freeze,
            self.error,
            self.report,
            self.warnings,
            (self.copy, 0, Qt.AlignmentFlag.AlignLeft),
            self._section(self.tr("Verify")),
            (self.verify, 0, Qt.AlignmentFlag.AlignLeft),
            self.verdict,
            self._section(self.tr("Release page")),
            self.since,
            (self.page, 0, Qt.AlignmentFlag.AlignLeft),
            1,
            parent=inner,
            margins=(14, 4, 12, 12),
            spacing=6,
        )
        self.copy.setProperty("kind", "link")
        for label in (self.staying, self.total, self.error, self.report, self.verdict, self.looked):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        for label in (self.report, self.verdict):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll = scroll_area(inner)
        vbox(head, (scroll, 1), parent=self, spacing=0)
        order: list[QWidget] = [
            *self.include.values(),
            self.take_reviewed,
            self.left_out,
            *self.without.values(),
            self.path,
            self.choose,
            self.freeze,
        ]
        order += [self.copy, self.verify, self.since, self.page, self.close_button]
        for one, other in pairwise(order):
            QWidget.setTabOrder(one, other)

    def _section(self, text: str) -> QLabel:
        label = text_label(text, "section")
        label.setContentsMargins(0, 8, 0, 0)
        return label

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(2, 1)
        always = text_label(self.tr("always"), "secondary")
        order = ("active", *INCLUDABLE)
        for row, status in enumerate(order):
            count = self.counts[status]
            count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            if status in self.include:
                grid.addWidget(self.include[status], row, 0)
            else:
                name = QLabel(status)
                name.setProperty("kind", "ok")
                grid.addWidget(name, row, 0)
                grid.addWidget(always, row, 2)
            grid.addWidget(count, row, 1)
        return grid

    def _without_grid(self) -> QGridLayout:
        words = {"tags": self.tr("tags"), "authors": self.tr("authors"), "sites": self.tr("sites")}
        names = {
            "tags": self.tr("Leave out tips with these tags"),
            "authors": self.tr("Leave out tips that these people wrote or edited"),
            "sites": self.tr("Leave out the tips of these sites"),
        }
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        for row, (what, field) in enumerate(self.without.items()):
            label = text_label(words[what], "secondary")
            label.setBuddy(field)
            field.setAccessibleName(names[what])
            field.setToolTip(
                self.tr("{0}; commas between them. Only their number is kept.").format(names[what])
            )
            field.setPlaceholderText(self.tr("none"))
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        return grid

    def choose_page(self) -> None:
        """Choose where the release page of the file frozen or verified last goes."""
        dialog = self._make_dialog(self.tr("Release page"), QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(self.tr("Web page (*.html)"))
        dialog.setDefaultSuffix("html")
        dialog.selectFile(f"{Path(self._model.page_source).stem}.html")
        dialog.fileSelected.connect(self._model.write_page)
        dialog.open()

    def _connect(self) -> None:
        model, trigger = self._model, self._center.trigger
        for status, box in self.include.items():
            box.setAccessibleName(
                self.tr("Also freeze what runs learned by themselves")
                if status == LEARNINGS
                else self.tr("Also freeze {0} tips").format(status)
            )
            box.setToolTip(box.accessibleName())
            box.toggled.connect(partial(self._include, status))
        self.take_reviewed.clicked.connect(lambda: self.include["reviewed"].setChecked(True))
        for what, field in self.without.items():
            field.textEdited.connect(partial(model.set_without, what))
        self.since.textEdited.connect(model.set_since)
        self.page.clicked.connect(lambda: trigger("kb.release"))
        self.path.textEdited.connect(model.set_path)
        self.path.returnPressed.connect(model.freeze)
        self.freeze.clicked.connect(model.freeze)
        self.choose.clicked.connect(lambda: trigger("kb.choose"))
        self.copy.clicked.connect(lambda: trigger("kb.copy_hash"))
        self.verify.clicked.connect(lambda: trigger("kb.verify"))
        self.close_button.clicked.connect(lambda: trigger("knowledge.back"))
        self.left_out.activated.connect(self._on_left_out)
        self.left_out.doubleClicked.connect(self._on_left_out)
        model.changed.connect(self._show)
        model.copy_wanted.connect(self._to_clipboard)
        self._center.keys_changed.connect(self._dress)

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model = self._model
        for status, label in self.counts.items():
            label.setText(str(model.counts[status]) if model.is_counted else "…")
        if self.path.text().strip() != model.path:
            with QSignalBlocker(self.path):
                self.path.setText(model.path)
        for what, field in self.without.items():
            if field.text() != model.without[what]:
                with QSignalBlocker(field):
                    field.setText(model.without[what])
        out = model.left_out.rowCount()
        looking = model.checked < model.to_check
        self.total.setText(
            self.tr("{0} would be frozen").format(tip_count(model.chosen - out - model.confidential))
            + (self.tr(" · {0} confidential").format(model.confidential) if model.confidential else "")
            + (self.tr(" · lint checked {0} of {1}").format(model.checked, model.to_check) if looking else "")
            if model.is_counted
            else self.tr("counting the tips…")
        )
        staying = model.staying_out if model.is_counted else 0
        self.staying.setText(
            self.tr("{0} written here left out: reviewed, not active").format(tip_count(staying))
        )
        for widget in (self.staying, self.take_reviewed):
            widget.setVisible(staying > 0)
        self._left_head.setText(self.tr("Left out: lint finds errors ({0})").format(out))
        self._left_head.setVisible(out > 0)
        self.left_out.fit()
        self.error.setText(model.error)
        self.error.setVisible(bool(model.error))
        self.freeze.setEnabled(not model.is_busy)
        self._show_report()
        self._show_verdict()

    def _show_report(self) -> None:
        report = self._model.report
        self.report.setVisible(report is not None)
        said = "\n".join(report.warnings) if report is not None else ""
        self.warnings.setText(said)
        self.warnings.setVisible(bool(said))
        self.copy.setVisible(report is not None or self._model.verified is not None)
        if report is None:
            return
        left = ", ".join(f"{count} {what}" for what, count in report.left_out.items())
        lines = [
            self.tr("✓ {0} frozen in {1}").format(tip_count(report.tips), _breakable(report.path)),
            self.tr("sha256 {0}").format(_breakable(report.sha256)),
            self.tr("left out: {0}").format(left) if left else "",
            self.tr("written after seeing {0} tasks").format(report.tainted_tasks)
            if report.tainted_tasks
            else "",
        ]
        self.report.setText("\n".join(line for line in lines if line))

    def _show_verdict(self) -> None:
        verified, error = self._model.verified, self._model.verify_error
        self.verdict.setVisible(verified is not None or bool(error))
        kind, text = "fail", self.tr("✕ {0}").format(error)
        if verified is not None and verified.ok:
            kind = "ok"
            text = self.tr("✓ {0} matches its manifest: {1}\nsha256 {2}").format(
                _breakable(verified.path), tip_count(verified.tips), _breakable(verified.sha256)
            )
        elif verified is not None:
            problems = "\n".join(f"✕ {problem}" for problem in verified.problems)
            text = self.tr("{0} does not match its manifest:\n{1}").format(
                _breakable(verified.path), problems
            )
        self.verdict.setText(text)
        restyle(self.verdict, kind=kind)

    def _include(self, status: str, on: bool) -> None:
        self._model.set_include(status, included=on)

    def _to_clipboard(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)

    def _on_target(self, path: str) -> None:
        self._model.set_path(path)
        self.freeze.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_left_out(self, index: QModelIndex) -> None:
        one = self._model.left_out.at(index.row())
        if one is not None:
            self.tip_wanted.emit(one.tip)

    def _dress(self) -> None:
        center = self._center
        self.path.setAccessibleName(self.tr("File to freeze to"))
        self.path.setPlaceholderText(self.tr("path ending in .akb"))
        self.path.setToolTip(self.tr("File to freeze to; Enter freezes"))
        self.since.setAccessibleName(self.tr("Older frozen file to compare with"))
        self.since.setPlaceholderText(self.tr("older frozen file to compare with, or none"))
        self.since.setToolTip(self.since.accessibleName())
        self.take_reviewed.setText(self.tr("Also freeze reviewed tips"))
        self.take_reviewed.setAccessibleName(self.take_reviewed.text())
        self.freeze.setText(self.tr("Freeze   Enter"))
        self.freeze.setAccessibleName(self.tr("Freeze to this file"))
        for button, word, command in (
            (self.choose, self.tr("Choose…"), "kb.choose"),
            (self.copy, self.tr("Copy the sha256"), "kb.copy_hash"),
            (self.verify, self.tr("Verify a file…"), "kb.verify"),
            (self.page, self.tr("Release page…"), "kb.release"),
            (self.close_button, self.tr("Close"), "knowledge.back"),
        ):
            show_command(button, center, command, word)
            if command == "knowledge.back":
                button.setAccessibleName(word)


def _breakable(text: str) -> str:
    """Allow line breaks inside long words."""
    pieces = [text[start : start + 8] for start in range(0, len(text), 8)]
    return "\u200b".join(pieces)
