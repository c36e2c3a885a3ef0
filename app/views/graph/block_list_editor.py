"""The block-list editor: rules at the left, the page with the elements they stop at the right."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QWidget

from app.views.graph.node_rows import NodeRows, block_list_row
from app.views.graph.rule_editor import RuleEditor
from app.views.graph.screenshot_view import ScreenshotMark, ScreenshotView
from app.views.graph.status_marks import VERDICT_ROLE
from app.views.widgets import Badge, ElidedLabel, Splitter
from app.views.widgets.build import Panel, hbox, styled, text_label, vbox
from app.views.widgets.command_button import show_command
from app.views.widgets.flow_layout import FlowLayout

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.graph.block_list import BlockListModel, BlockListRow
    from app.views.frame.theme import Theme

RULES = 0.45
"""Share of the width for the rules."""
SHARE = 0.5
"""Largest share of the right side's height for the picture."""


class BlockListEditor(Panel):
    """Rules, page and verdicts side by side.  ``closed``: it should be hidden; the text stays in the model."""

    closed = Signal()

    def __init__(self, model: BlockListModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self.setProperty("kind", "raised")
        self.setAccessibleName(self.tr("Block-list editor"))
        self.where = styled(ElidedLabel(Qt.TextElideMode.ElideMiddle), "secondary")
        self.editor = RuleEditor(theme, self.tr("Rules of the site"))
        self.verdict = Badge("", "muted", theme)
        self.error, self.here, self.everywhere = QLabel(), QLabel(), QLabel()
        self.to_error, self.builtin, self.stored, self.save, self.close_button = (
            QPushButton() for _ in range(5)
        )
        self.shot = ScreenshotView(theme, self.tr("Picture of the page with the elements the rules stop"))
        self.list = NodeRows(
            theme, block_list_row, self.tr("Elements of the page with the verdict of the rules")
        )
        self.only = QCheckBox()
        self.next, self.none = QPushButton(), QLabel()
        self.splitter = Splitter(Qt.Orientation.Horizontal)
        self._by_hand = False
        self._lay_out()
        self._connect()
        self._update_texts()
        self._take_text()
        self._show()

    def begin(self) -> None:
        self.editor.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        title = text_label(self.tr("Block-list editor"), "heading")
        head = hbox(title, (self.where, 1), self.close_button, margins=(14, 8, 12, 6), spacing=10)
        self.close_button.setProperty("kind", "link")
        self.splitter.addWidget(self._rules())
        self.splitter.addWidget(self._page())
        vbox(head, (self.splitter, 1), parent=self, spacing=0)
        order = [
            self.editor,
            self.to_error,
            self.save,
            self.builtin,
            self.stored,
            self.only,
            self.next,
            self.list,
        ]
        for one, other in pairwise([*order, self.close_button]):
            QWidget.setTabOrder(one, other)

    def _rules(self) -> QWidget:
        side = QWidget()
        line = hbox(
            (self.verdict, 0, Qt.AlignmentFlag.AlignTop),
            (self.error, 1),
            (self.to_error, 0, Qt.AlignmentFlag.AlignTop),
            spacing=8,
        )
        column = vbox((self.editor, 1), line, parent=side, margins=(14, 0, 8, 10), spacing=6)
        for label in (self.error, self.here, self.everywhere):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.to_error.setProperty("kind", "link")
        self.save.setProperty("kind", "primary")
        buttons = QWidget()
        FlowLayout(self.save, self.builtin, self.stored, parent=buttons)
        column.addWidget(buttons)
        return side

    def _page(self) -> QWidget:
        side = self._right = QWidget()
        self.here.setProperty("kind", "heading")
        self.everywhere.setProperty("kind", "secondary")
        line = hbox((self.only, 1), self.next)
        self.next.setProperty("kind", "link")
        self.none.setProperty("kind", "muted")
        self.none.setWordWrap(True)
        self.none.setAlignment(Qt.AlignmentFlag.AlignTop)
        vbox(
            (self.shot, 1000),
            self.here,
            self.everywhere,
            line,
            (self.none, 1),
            (self.list, 1),
            parent=side,
            margins=(8, 0, 12, 0),
            spacing=4,
        )
        return side

    def _connect(self) -> None:
        model, center = self._model, self._center
        self.list.setModel(model.rows)
        self.editor.textChanged.connect(lambda: model.set_text(self.editor.toPlainText()))
        self.list.selectionModel().currentChanged.connect(self._on_element)
        self.only.toggled.connect(model.set_only_stopped)
        self.shot.clicked.connect(self._on_picture_clicked)
        self.to_error.clicked.connect(self.editor.go_to_error)
        self.close_button.clicked.connect(self.closed)
        self.splitter.splitterMoved.connect(self._on_moved)
        for button, command in (
            (self.save, "map.lab.save"),
            (self.builtin, "map.lab.builtin"),
            (self.stored, "map.lab.stored"),
            (self.next, "map.lab.next"),
        ):
            button.clicked.connect(lambda _checked=False, command=command: center.trigger(command))
        center.bind("map.lab.save", model.save, lambda: self.isVisible() and model.can_save)
        center.bind("map.lab.builtin", model.load_builtin, lambda: self.isVisible() and bool(model.site))
        center.bind("map.lab.stored", model.load_stored, lambda: self.isVisible() and model.is_changed)
        center.bind("map.lab.next", lambda: model.next_stopped(1), self.isVisible)
        center.bind("map.lab.previous", lambda: model.next_stopped(-1), self.isVisible)
        model.changed.connect(self._show)
        model.text_changed.connect(self._take_text)
        model.page_changed.connect(self._show)
        model.element_changed.connect(self._show_element)
        model.pictures.ready.connect(self._on_picture)
        self._theme.changed.connect(self._fit)
        center.keys_changed.connect(self._update_texts)

    # ------------------------------------------------------------ what is shown
    def _take_text(self) -> None:
        self.editor.show_text(self._model.text)

    def _show(self) -> None:
        model = self._model
        row = model.detail.row if model.detail is not None else None
        page = f"{row.title} · {row.url}" if row is not None else self.tr("no state is open")
        self.where.setText(f"{model.site} · {page}" if model.site else page)
        self._show_verdict()
        self._show_picture()
        with QSignalBlocker(self.only):
            self.only.setChecked(model.only_stopped)
        empty = not model.rows.rowCount()
        self.list.setVisible(not empty)
        self.none.setVisible(empty)
        self.none.setText(self._none_words())
        self.save.setEnabled(model.can_save)
        self.stored.setEnabled(model.is_changed)
        self._center.refresh()

    def _show_verdict(self) -> None:
        model = self._model
        self.editor.mark_error(model.error_position)
        if model.error:
            self.verdict.set(self.tr("✕ invalid"), "fail")
        elif model.is_trying:
            self.verdict.set(self.tr("trying…"), "muted")
        elif model.is_changed:
            self.verdict.set(self.tr("● not saved"), "warn")
        else:
            self.verdict.set(self.tr("✓ in force"), "ok")
        self.error.setText(model.error)
        self.to_error.setVisible(model.error_position is not None)

    def _show_counts(self) -> None:
        model, number = self._model, QLocale().toString
        counts, report = model.counts, model.report
        if report is None:
            self.here.setText("")
            self.everywhere.setText("")
            return
        text = self.tr("On this page: {0} of {1} stopped").format(
            number(counts["block"]), number(len(model.page_rows))
        )
        if counts["ask"]:
            text += self.tr(", {0} asked about").format(number(counts["ask"]))
        beyond = sum(
            row.verdict in ("block", "ask") and not self.shot.is_inside(row.element.rect)
            for row in model.page_rows
        )
        if beyond and self.shot.has_image:
            text += self.tr(", {0} of them outside the picture").format(number(beyond))
        if model.error or model.is_trying:
            text += self.tr(" (by the previous rules)")
        self.here.setText(text)
        self.everywhere.setText(
            self.tr("On all stored pages: {0} of {1} elements stopped").format(
                number(report.stopped_everywhere), number(report.elements_everywhere)
            )
        )

    def _none_words(self) -> str:
        model = self._model
        if model.page_error:
            return model.page_error
        if model.detail is None:
            return self.tr("Choose a state on the map to test the rules on.")
        if model.page_rows:
            return self.tr("These rules stop nothing on this page.")
        return self.tr("This page has no interactive elements.")

    def _show_picture(self) -> None:
        detail, pictures = self._model.detail, self._model.pictures
        digest = detail.picture if detail is not None else ""
        image = pictures.get(digest) if digest else None
        if image is not None:
            self.shot.show_image(image)
        elif digest in pictures.failed:
            self.shot.show_image(None, pictures.failed[digest])
        elif detail is not None:
            waits = self.tr("Loading the picture…") if digest else self.tr("No picture of this state.")
            self.shot.show_image(None, waits)
        else:
            self.shot.show_image(None, self.tr("No state is open."))
        self._fit()
        self._show_counts()
        self._show_marks()

    def _on_picture(self, _digest: str) -> None:
        self._show_picture()

    def _show_marks(self) -> None:
        rows = self._model.page_rows
        self.shot.show_marks(
            [mark for row in rows if row.verdict in ("block", "ask") and (mark := self._mark(row))]
        )
        self._show_chosen()

    def _show_chosen(self) -> None:
        rows, number = self._model.page_rows, self._model.element
        self.shot.choose(self._mark(rows[number]) if 0 <= number < len(rows) else None)

    def _mark(self, row: BlockListRow) -> ScreenshotMark | None:
        """Return an element's mark; none where it is outside the picture."""
        rect, spoken = row.element.rect, row.verdict in ("block", "ask")
        if rect is None or not self.shot.is_inside(rect):
            return None
        return ScreenshotMark(
            number=row.number,
            rect=rect,
            role=VERDICT_ROLE[row.verdict] if spoken else "accent",
            sign=row.verdict,
            label=row.rule if spoken else row.name,
        )

    def _show_element(self) -> None:
        self._show_chosen()
        place = self._model.rows.row_of(self._model.element)
        if place >= 0 and place != self.list.currentIndex().row():
            self.list.setCurrentIndex(self._model.rows.index(place))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the width until the person moves the splitter; the picture keeps its shape."""
        super().resizeEvent(event)
        if not self._by_hand:
            rules = round(self.width() * RULES)
            self.splitter.setSizes([rules, self.width() - rules])
        self._fit()

    def _on_moved(self) -> None:
        self._by_hand = True
        self._fit()

    def _fit(self) -> None:
        wanted = self.shot.height_for(max(self._right.width() - 20, 1))
        most = min(wanted, round(self._right.height() * SHARE))
        self.shot.setMaximumHeight(
            max(most, self.shot.minimumHeight())
        )  # no fixed height: the window may shrink

    # ------------------------------------------------------------ what is done
    def _on_element(self, index: QModelIndex) -> None:
        row = self._model.rows.at(index.row())
        if row is not None:
            self._model.select_element(row.number)

    def _on_picture_clicked(self, x: float, y: float) -> None:
        under = [
            (rect[2] * rect[3], row.number)
            for row in self._model.page_rows
            if (rect := row.element.rect) is not None
            and rect[0] <= x <= rect[0] + rect[2]
            and rect[1] <= y <= rect[1] + rect[3]
        ]
        if under:
            self._model.select_element(min(under)[1])

    def _update_texts(self) -> None:
        center = self._center
        for button, word, command in (
            (self.save, self.tr("Save for the site"), "map.lab.save"),
            (self.builtin, self.tr("Built-in rules"), "map.lab.builtin"),
            (self.stored, self.tr("Revert to saved"), "map.lab.stored"),
            (self.next, self.tr("Next stopped"), "map.lab.next"),
        ):
            show_command(button, center, command, word)
        self.only.setText(self.tr("only stopped elements"))
        self.to_error.setText(self.tr("Go to it"))
        self.to_error.setAccessibleName(self.tr("Go to the error in the rules"))
        self.close_button.setText(self.tr("Close  Esc"))
        self.close_button.setAccessibleName(self.tr("Close the editor; its text is kept"))
