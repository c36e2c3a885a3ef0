"""The tip composer, which keeps the run in sight."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QTextEdit,
    QToolTip,
    QWidget,
)

from app.models.review.composer import KINDS, PARTS
from app.views.knowledge.procedure_pane import ProcedurePane
from app.views.knowledge.region_pane import RegionPane
from app.views.knowledge.step_draft_pane import StepDraftPane
from app.views.review.rows import EXAMPLE, FINDING, SIMILAR, example_row, finding_row, similar_row
from app.views.widgets import ElidedLabel
from app.views.widgets.build import hbox, scroll_area, styled, text_label, vbox
from app.views.widgets.command_button import command_link, show_command
from app.views.widgets.rows import FittedList

if TYPE_CHECKING:
    from PySide6.QtGui import QHelpEvent

    from app.models.common.commands import CommandCenter
    from app.models.common.lint_list import Underline
    from app.models.review.composer import ComposerModel
    from app.views.frame.theme import Theme

UNDERLINE_ROLE = {"error": "fail", "warning": "warn", "hint": "muted"}


SAVE_MARGINS = 70
"""Room in the foot beside its buttons and the text of the last one; pixels at 100 % text size."""


class TipTextEdit(QPlainTextEdit):
    """The tip's text; lint findings are underlined, with the reason on hover."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._underlines: list[Underline] = []
        self.setTabChangesFocus(True)

    def show_underlines(self, underlines: list[Underline]) -> None:
        """Underline these spans, the worse over the milder."""
        self._underlines = underlines
        selections: list[QTextEdit.ExtraSelection] = []
        for span in underlines:
            cursor = QTextCursor(self.document())
            cursor.setPosition(min(span.start, self._last))
            cursor.setPosition(min(span.end, self._last), QTextCursor.MoveMode.KeepAnchor)
            mark = QTextEdit.ExtraSelection()
            mark.cursor, mark.format = cursor, self._format(span.severity)  # type: ignore[attr-defined]
            selections.append(mark)
        self.setExtraSelections(selections)

    def event(self, event: QEvent) -> bool:
        """Show the finding under the pointer."""
        if event.type() is QEvent.Type.ToolTip:
            help_event: QHelpEvent = event  # type: ignore[assignment]
            place = self.cursorForPosition(self.viewport().mapFromParent(help_event.pos())).position()
            said = [span.message for span in self._underlines if span.start <= place <= span.end]
            if said:
                QToolTip.showText(help_event.globalPos(), "\n".join(said), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    @property
    def _last(self) -> int:
        return max(self.document().characterCount() - 1, 0)

    def _format(self, severity: str) -> QTextCharFormat:
        color: QColor = self._theme.color(UNDERLINE_ROLE[severity])
        form = QTextCharFormat()
        form.setUnderlineColor(color)
        wave = QTextCharFormat.UnderlineStyle.WaveUnderline
        form.setUnderlineStyle(wave if severity != "hint" else QTextCharFormat.UnderlineStyle.DotLine)
        return form


class Composer(QFrame):
    """The form and, under it, live: lint, similar tips, and where the tip would have been retrieved."""

    run_wanted = Signal(str, int)

    def __init__(self, model: ComposerModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self._blank = False
        self.setProperty("kind", "raised")
        self.setAccessibleName(self.tr("Write a tip"))
        self.site, self.scope, self.keywords = QLineEdit(), QLineEdit(), QLineEdit()
        self.kind = QComboBox()
        self.kind.addItems(list(KINDS))
        self.text = TipTextEdit(theme)
        self.parts = {name: QLineEdit() for name in PARTS}
        self.pages, self.preflight, self.kept, self.error = QLabel(), QLabel(), QLabel(), QLabel()
        self.coverage = text_label(kind="secondary", wrap=True)
        self.evidence, self.source = ElidedLabel(Qt.TextElideMode.ElideMiddle), styled(QPushButton(), "link")
        self.steps = ProcedurePane(model.procedure, center, theme, "composer")
        self.drafted = StepDraftPane(model.drafted, center, theme, "composer")
        self.region = RegionPane(model.region, center, theme, "composer")
        self.lint = FittedList(theme, finding_row, self.tr("Lint findings"), FINDING, most=4)
        self.similar = FittedList(theme, similar_row, self.tr("Similar tips"), SIMILAR, most=3)
        self.examples = FittedList(
            theme, example_row, self.tr("Steps that would retrieve it"), EXAMPLE, most=8
        )
        self.save, self.close_button = styled(QPushButton(), "primary"), QPushButton()
        self.discard = styled(QPushButton(), "link")
        self.more = command_link(center, "composer.parts")
        self._labels: dict[str, QLabel] = {}
        self._shown: set[str] = set()
        self._heads: dict[str, QLabel] = {}
        self._name_all()
        self._lay_out()
        self._connect()
        self._dress()

    def begin(self) -> None:
        """Focus the text, behind what was proposed or kept: typing continues it and never replaces it."""
        self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.text.moveCursor(QTextCursor.MoveOperation.End)

    def show_parts(self) -> None:
        """Show the folded fields and go to the first empty one; when all are shown, fold the empty ones."""
        if len(self._shown) == len(self._fields):
            self._shown = {name for name, field in self._fields.items() if field.text()}
            self._fold()
            self.text.setFocus()
            return
        self._shown = set(self._fields)
        self._fold()
        empty = (field for field in self._fields.values() if not field.text())
        next(empty, self.keywords).setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def _fields(self) -> dict[str, QLineEdit]:
        """The fields that are folded while empty."""
        return {**self.parts, "keywords": self.keywords}

    def _fold(self) -> None:
        for name, field in self._fields.items():
            field.setVisible(name in self._shown)
            self._labels[name].setVisible(name in self._shown)
        hidden = [self._labels[name].text() for name in self._fields if name not in self._shown]
        word = self.tr("More fields") if hidden else self.tr("Fold the empty fields")
        show_command(self.more, self._center, "composer.parts", word)
        if hidden:
            names = self.tr("Add {0}").format(", ".join(hidden))
            self.more.setAccessibleName(names)
            self.more.setToolTip(names)

    def _name_all(self) -> None:
        names = {
            self.site: self.tr("Site of the tip"),
            self.scope: self.tr("Scope: addresses the tip applies to"),
            self.kind: self.tr("Kind of the tip"),
            self.text: self.tr("Text of the tip"),
            self.keywords: self.tr("Keywords, separated by commas"),
        }
        for widget, name in names.items():
            widget.setAccessibleName(name)
            widget.setToolTip(name)
        quiet = {
            "when": self.tr("on which page, in which state"),
            "do": self.tr("the action that works"),
            "before": self.tr("what must come first"),
            "why": self.tr("how the site works here"),
        }
        for name, field in self.parts.items():
            field.setPlaceholderText(quiet[name])
            field.setAccessibleName(f"{name}: {quiet[name]}")
            field.setToolTip(quiet[name])
        self.site.setPlaceholderText(self.tr("site"))
        self.scope.setPlaceholderText(self.tr("every page of the site"))
        self.keywords.setPlaceholderText(self.tr("what an agent would look for"))
        self.text.setPlaceholderText(
            self.tr(
                "What holds for every task on this site? When the page is …, do …; before that …, because …"
            )
        )
        self.scope.setToolTip(
            self.tr("host/path, * within a part of the path, ** across parts, ?key or ?key=value")
        )
        for field in (self.site, self.scope, self.keywords, *self.parts.values()):
            field.setProperty("kind", "quiet")

    def _lay_out(self) -> None:
        title = text_label(self.tr("Write a tip"), "heading")
        for label in (self.pages, self.evidence):
            label.setProperty("kind", "secondary")
        self.kept.setProperty("kind", "warn")
        self.error.setProperty("kind", "fail")
        for label in (self.kept, self.error, self.preflight, self.pages):
            label.setWordWrap(True)
        head = hbox(title, (self.evidence, 1), self.source, margins=(12, 8, 12, 4), spacing=8)
        inner = styled(QWidget(), "raised")
        form = vbox(
            self.kept,
            self._scope_grid(),
            self.text,
            self._parts_grid(),
            hbox(self.more, 1),
            self.steps,
            self.drafted,
            self.region,
            parent=inner,
            margins=(12, 4, 12, 8),
            spacing=6,
        )
        for name, text, view in (
            ("lint", self.tr("Lint"), self.lint),
            ("similar", self.tr("Similar tips"), self.similar),
        ):
            form.addWidget(self._section(name, text))
            form.addWidget(view)
        form.addWidget(self._section("preflight", self.tr("Where it would have been retrieved")))
        form.addWidget(self.preflight)
        form.addWidget(self.examples)
        form.addStretch(1)
        scroll = scroll_area(inner)
        foot = hbox(self.close_button, self.discard, (self.save, 1), margins=(12, 8, 12, 8), spacing=8)
        self.error.setContentsMargins(12, 0, 12, 0)
        vbox(head, (scroll, 1), self.error, foot, parent=self, spacing=0)
        self._order_tabs()

    def _scope_grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(6)
        grid.addWidget(self.site, 0, 0)
        grid.addWidget(self.kind, 0, 1)
        grid.addWidget(self.scope, 1, 0, 1, 2)
        grid.addWidget(self.pages, 2, 0, 1, 2)
        grid.addWidget(self.coverage, 3, 0, 1, 2)
        grid.setColumnStretch(0, 1)
        self.text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        return grid

    def _parts_grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        words = {
            "when": self.tr("when"),
            "do": self.tr("do"),
            "before": self.tr("before"),
            "why": self.tr("why"),
        }
        for row, (name, field) in enumerate(self._fields.items()):
            label = self._labels[name] = QLabel(words.get(name, self.tr("words")))
            label.setProperty("kind", "secondary")
            label.setBuddy(field)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        return grid

    def _section(self, name: str, text: str) -> QLabel:
        label = text_label(text, "section", wrap=True)
        self._heads[name] = label
        return label

    def _order_tabs(self) -> None:
        order: list[QWidget] = [
            self.text,
            *self.parts.values(),
            self.keywords,
            self.more,
            *self.steps.tab_order,
            *self.drafted.tab_order,
        ]
        order += self.region.tab_order
        order += [self.lint, self.similar, self.examples, self.save, self.close_button, self.discard]
        order += [self.source, self.site, self.kind, self.scope]
        for one, other in pairwise(order):
            QWidget.setTabOrder(one, other)

    def _connect(self) -> None:
        model = self._model
        self.lint.setModel(model.lint)
        self.similar.setModel(model.similar)
        self.examples.setModel(model.examples)
        for name, field in (("site", self.site), ("scope", self.scope), ("keywords", self.keywords)):
            field.textEdited.connect(partial(model.set_field, name))
        for name, field in self.parts.items():
            field.textEdited.connect(partial(model.set_field, name))
        self.kind.textActivated.connect(partial(model.set_field, "kind"))
        self.text.textChanged.connect(self._on_text)
        self.examples.activated.connect(self._on_example)
        self.examples.clicked.connect(self._on_example)
        self.lint.activated.connect(self._on_finding)
        self.lint.clicked.connect(self._on_finding)
        self.source.clicked.connect(lambda: self.run_wanted.emit(model.run, model.step))
        self.save.clicked.connect(lambda: self._center.trigger("composer.save"))
        self.discard.clicked.connect(self._on_discard)
        self.close_button.clicked.connect(lambda: self._center.trigger("composer.close"))
        model.opened.connect(self._fill)
        model.checked.connect(self._show_check)
        model.busy_changed.connect(self._show_check)
        self._theme.changed.connect(self._dress)
        self._center.keys_changed.connect(self._dress)

    def _fill(self) -> None:
        model = self._model
        for name, field in (("site", self.site), ("scope", self.scope), ("keywords", self.keywords)):
            field.setText(model.field(name))
            field.setCursorPosition(0)
        for name, field in self.parts.items():
            field.setText(model.field(name))
            field.setCursorPosition(0)
        self.kind.setCurrentText(model.field("kind"))
        early = self.text.toPlainText() if self._blank and model.is_ready else ""
        self._blank = not model.is_ready
        text = model.field("text") if model.is_ready else ""
        if early:  # typed before the engine answered: append it to the kept draft
            text = f"{text}\n{early}" if model.kept else early
        with QSignalBlocker(self.text):
            self.text.setPlainText(text)
        if early:
            model.set_field("text", text)
        self.text.moveCursor(QTextCursor.MoveOperation.End)
        self._shown = {name for name in self._fields if model.field(name)}
        self._fold()
        self.evidence.setText(self.tr("from {0}").format(model.run))
        self.source.setText(self.tr("step {0}").format(model.step))
        self.source.setAccessibleName(self.tr("Show the step the tip comes from"))
        self.kept.setText(self.tr("This draft was kept from before. Save it, or discard it."))
        self.kept.setVisible(model.kept)
        self._show_check()

    def _on_text(self) -> None:
        self._model.set_field("text", self.text.toPlainText())

    def _show_check(self) -> None:
        model = self._model
        self.text.show_underlines(model.lint.underlines)
        self.pages.setText(
            "" if model.pages is None else self.tr("%n stored page(s) match this scope", "", model.pages)
        )
        if model.pages == 1:
            self.pages.setText(self.tr("1 stored page matches this scope"))
        elif model.pages is not None:
            self.pages.setText(self.tr("{0} stored pages match this scope").format(model.pages))
        self.coverage.setText(model.coverage)
        self.coverage.setVisible(bool(model.coverage))
        found = model.lint.rowCount()
        clean = self.tr("No issues") if model.pages is not None else self.tr("Lint")
        self._heads["lint"].setText(self.tr("Lint ({0})").format(found) if found else clean)
        self._heads["similar"].setVisible(model.similar.rowCount() > 0)
        self._heads["preflight"].setVisible(bool(model.preflight))
        self.preflight.setText(model.preflight)
        self.preflight.setVisible(bool(model.preflight))
        self.error.setText(model.error)
        self.error.setVisible(bool(model.error))
        self.save.setEnabled(model.is_ready and not model.is_saving)
        thrown = model.thrown is not None and not model.is_changed
        self.discard.setText(self.tr("Undo discard") if thrown else self.tr("Discard"))
        self.discard.setToolTip(
            self.tr("Bring back the draft that was discarded")
            if thrown
            else self.tr("Delete this draft and begin again")
        )
        self.discard.setEnabled((thrown and model.is_ready) or (model.is_changed and not model.is_saving))
        for view in (self.lint, self.similar, self.examples):
            view.fit()

    def _on_discard(self) -> None:
        if self._model.thrown is not None and not self._model.is_changed:
            self._model.bring_back()
        else:
            self._center.trigger("composer.discard")
        self.text.setFocus()

    def _on_example(self, index: QModelIndex) -> None:
        example = self._model.examples.at(index.row())
        if example is not None:
            self.run_wanted.emit(example.run, example.step)

    def _on_finding(self, index: QModelIndex) -> None:
        finding = self._model.lint.at(index.row())
        if finding is None or finding.start < 0:
            return
        cursor = self.text.textCursor()
        cursor.setPosition(min(finding.start, len(self.text.toPlainText())))
        cursor.setPosition(min(finding.end, len(self.text.toPlainText())), QTextCursor.MoveMode.KeepAnchor)
        self.text.setTextCursor(cursor)
        self.text.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_save()

    def _fit_save(self) -> None:
        """Name the key of saving on its button where there is room."""
        word, keys = self.tr("Save"), self._center.keys("composer.save")
        whole = f"{word}   {keys}"
        beside = self.close_button.sizeHint().width() + self.discard.sizeHint().width()
        room = self.width() - beside - self._theme.px(SAVE_MARGINS)
        fits = self.save.fontMetrics().horizontalAdvance(whole) <= room
        self.save.setText(whole if fits else word)

    def _dress(self) -> None:
        self.text.setFixedHeight(self._theme.px(98))
        self._fit_save()
        self.save.setAccessibleName(self.tr("Save and open the next failure"))
        self.save.setToolTip(self.tr("Save, then open the next failure of another kind"))
        keys = self._center.keys("composer.close")
        self.close_button.setText(self.tr("Close"))
        self.close_button.setToolTip(self.tr("Close and keep the draft ({0})").format(keys))
        self.close_button.setAccessibleName(self.tr("Close and keep the draft"))
        self._fold()
        self.text.show_underlines(self._model.lint.underlines)
