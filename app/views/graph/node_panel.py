"""The panel of the open state: its picture, its elements, transitions, runs and tips."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QModelIndex, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QLabel,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from app.models.graph.map_graph import failure_count_words
from app.models.graph.node_detail import DetailState
from app.models.graph.node_lists import ELEMENT_STATUSES
from app.models.knowledge.tip_table import ago, exact_time
from app.views.graph.node_head import NodeHead, about_words
from app.views.graph.node_rows import NodeRows, element_row, passing_run_row, transition_row
from app.views.graph.screenshot_view import ScreenshotMark, ScreenshotView
from app.views.review.rows import named_text_row
from app.views.widgets import ElidedLabel, EmptyState
from app.views.widgets.build import Panel, divider, hbox, scroll_area, styled, vbox
from app.views.widgets.filter_line import FilterLine
from app.views.widgets.flow_layout import FlowLayout
from app.views.widgets.rows import RowList

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.graph.node_detail import NodeDetailModel
    from app.views.frame.theme import Theme

SHARE = 0.38
"""Largest share of the panel's height for the picture."""
FILTER_MS = 120
LISTS = ("elements", "out", "in", "runs", "tips", "about")


class NodePanel(Panel):
    """One state.

    Signals:
        node_requested(node): open this state of the map.
        step_requested(run, step): open this step of a run.
        tip_requested(tip): open this tip.
    """

    node_requested = Signal(str)
    step_requested = Signal(str, int)
    tip_requested = Signal(str)

    def __init__(self, model: NodeDetailModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._center, self._theme = model, center, theme
        self.setProperty("kind", "raised")
        self.setAccessibleName(self.tr("The open state"))
        self.head = NodeHead(theme)
        self.shot = ScreenshotView(theme, self.tr("Picture of the state"))
        self.caption = styled(ElidedLabel(), "secondary")
        self.failures = styled(QPushButton(), "link")
        self.tabs = {name: QToolButton() for name in LISTS}
        self.filter = FilterLine("", "", self.tr("Filter the elements"), self._to_elements)
        self.status = QComboBox()
        self.elements = NodeRows(theme, element_row, self.tr("Elements of the state"))
        self.out = NodeRows(theme, transition_row, self.tr("Transitions to other states"))
        self.in_ = NodeRows(theme, transition_row, self.tr("Transitions from other states"))
        self.runs = NodeRows(theme, passing_run_row, self.tr("Runs that visited this state"))
        self.tips = RowList(theme, named_text_row, self.tr("Tips that apply to this state"))
        self.about, self.error = QLabel(), QLabel()
        self._nones: dict[str, QLabel] = {}
        self._typed = QTimer(self, singleShot=True, interval=FILTER_MS)
        self._typed.timeout.connect(self._on_filter)
        self._lay_out()
        self._connect()
        self._update_texts()
        self._show()

    # ------------------------------------------------------------ what the map's view asks
    def focus_list(self, name: str = "") -> None:
        """Focus one of ``LISTS``, or the visible one."""
        if name:
            self.show_list(name)
        view = self._lists[self._stack.currentIndex()]
        view.setFocus(Qt.FocusReason.ShortcutFocusReason)
        model = view.model() if isinstance(view, RowList) else None
        if (
            isinstance(view, RowList)
            and model is not None
            and view.currentIndex().row() < 0
            and model.rowCount()
        ):
            view.setCurrentIndex(model.index(0, 0))

    def show_list(self, name: str) -> None:
        self.tabs[name].setChecked(True)
        self._stack.setCurrentIndex(LISTS.index(name))

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        body = QWidget()
        self.caption.setContentsMargins(12, 2, 10, 2)
        failed = hbox(self.failures, 0, margins=(8, 0, 8, 4))
        layout = vbox(self.head, failed, (self.shot, 1000), self.caption, parent=body, spacing=0)
        tabs = QWidget()
        row = FlowLayout(*self.tabs.values(), parent=tabs, gap=0)
        row.setContentsMargins(6, 4, 4, 4)
        group = QButtonGroup(self)
        for button in self.tabs.values():
            button.setCheckable(True)
            button.setProperty("kind", "tab")
            group.addButton(button)
        self.tabs["elements"].setChecked(True)
        layout.addWidget(tabs)
        layout.addWidget(divider())
        layout.addWidget(self._pages(), 1)
        self._empty = EmptyState(
            self.tr("No state is open"),
            self.tr("Choose one on the map or in the table to see its picture, elements and transitions."),
        )
        self._face = QStackedWidget()
        self._face.addWidget(body)
        self._face.addWidget(self._empty)
        vbox(self._face, parent=self)

    def _pages(self) -> QStackedWidget:
        self._lists: list[QWidget] = [self.elements, self.out, self.in_, self.runs, self.tips]
        self._stack = QStackedWidget()
        first = QWidget()
        line = hbox((self.filter, 1), self.status, margins=(10, 0, 8, 0), spacing=6)
        vbox(
            line,
            (self._with_none(self.elements, "elements"), 1),
            parent=first,
            margins=(0, 4, 0, 0),
            spacing=4,
        )
        self._stack.addWidget(first)
        for name, view in zip(LISTS[1:5], self._lists[1:], strict=True):
            self._stack.addWidget(self._with_none(view, name))
        self.about.setWordWrap(True)
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.about.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.about.setContentsMargins(12, 8, 10, 8)
        self.about.setProperty("kind", "raised")
        area = scroll_area(self.about, focus=Qt.FocusPolicy.TabFocus)
        area.setAccessibleName(self.tr("About this state"))
        self._lists.append(area)
        self._stack.addWidget(area)
        return self._stack

    def _with_none(self, view: QWidget, name: str) -> QWidget:
        """Stack a list with a sentence for when it is empty."""
        place = QWidget()
        none = self._nones[name] = QLabel()
        none.setProperty("kind", "muted")
        none.setWordWrap(True)
        none.setContentsMargins(12, 8, 10, 8)
        none.setAlignment(Qt.AlignmentFlag.AlignTop)
        vbox(none, (view, 1), parent=place, spacing=0)
        return place

    def _connect(self) -> None:
        model = self._model
        for view, rows in (
            (self.elements, model.elements),
            (self.out, model.outgoing),
            (self.in_, model.incoming),
            (self.runs, model.runs),
            (self.tips, model.tips),
        ):
            view.setModel(rows)
        for number, button in enumerate(self.tabs.values()):
            button.clicked.connect(partial(self._stack.setCurrentIndex, number))
        self.elements.selectionModel().currentChanged.connect(self._on_element)
        self.elements.activated.connect(self._on_follow)
        self.out.activated.connect(self._on_transition_out)
        self.in_.activated.connect(self._on_transition_in)
        self.runs.activated.connect(self._on_run)
        self.tips.activated.connect(self._on_tip)
        for name in LISTS:
            there = f"map.panel.{name}"
            self._center.bind(there, partial(self.focus_list, name), lambda: model.detail is not None)
        self.failures.clicked.connect(lambda: self._center.trigger("map.failures"))
        self.shot.clicked.connect(self._on_picture_clicked)
        self.filter.textChanged.connect(self._on_typed)
        self.status.activated.connect(self._on_filter)
        model.changed.connect(self._show)
        model.lists_changed.connect(self._show_lists)
        model.element_changed.connect(self._show_element)
        model.pictures.ready.connect(self._on_picture)
        self._center.keys_changed.connect(self._update_texts)
        self._theme.changed.connect(self._fit)

    # ------------------------------------------------------------ what is shown
    def _show(self) -> None:
        model, detail = self._model, self._model.detail
        self._face.setCurrentIndex(0 if detail is not None else 1)
        match model.state:
            case DetailState.LOADING:
                self._empty.set(self.tr("Loading…"), model.node)
            case DetailState.FAILED:
                self._empty.set(self.tr("This state can't be shown"), model.error)
            case DetailState.EMPTY:
                self._empty.set(
                    self.tr("No state is open"),
                    self.tr(
                        "Choose one on the map or in the table to see its picture, elements and transitions."
                    ),
                )
            case DetailState.READY:
                pass
        if detail is None:
            return
        self.head.show_state(detail)
        self._show_failures()
        self._show_picture()
        self._show_lists()
        self.about.setText(about_words(detail))

    def _show_failures(self) -> None:
        row = self._model.detail.row if self._model.detail is not None else None
        words = failure_count_words(row) if row is not None and row.failures else ""
        key = self._center.keys("map.failures")
        self.failures.setText(
            self.tr("{0}: review this page's failures ({1})").format(words, key) if key else words
        )
        self.failures.setVisible(bool(words))

    def _show_picture(self) -> None:
        detail, pictures = self._model.detail, self._model.pictures
        if detail is None:
            return
        image = pictures.get(detail.picture) if detail.picture else None
        if image is not None:
            self.shot.show_image(image)
        elif not detail.picture:
            self.shot.show_image(None, self.tr("No picture of this state."))
        elif detail.picture in pictures.failed:
            self.shot.show_image(None, pictures.failed[detail.picture])
        elif not self.shot.has_image:
            self.shot.show_image(None, self.tr("Loading the picture…"))
        self._fit()
        self._show_element()

    def _show_lists(self) -> None:
        model, detail = self._model, self._model.detail
        counts = {
            "elements": model.count(None),
            "out": model.outgoing.rowCount(),
            "in": model.incoming.rowCount(),
            "runs": model.runs.rowCount(),
            "tips": len(detail.tips) if detail is not None else 0,
            "about": len(detail.notes) if detail is not None else 0,
        }
        for name, button in self.tabs.items():
            count = counts[name]
            word = self._words[name][0]
            button.setText(f"{word} {QLocale().toString(count)}" if count or name != "about" else word)
        for name, none in self._nones.items():
            view = self._lists[LISTS.index(name)]
            empty = not (view.model().rowCount() if isinstance(view, RowList) else 0)
            filtered = name == "elements" and bool(counts["elements"])
            none.setText(self.tr("No matching elements.") if filtered else self._words[name][1])
            none.setVisible(empty)
            view.setVisible(not empty)
        self._show_status_counts()

    def _show_status_counts(self) -> None:
        number = QLocale().toString
        words = [self.tr("all {0}").format(number(self._model.count(None)))]
        words += [
            f"{self._status_words[name]} {number(self._model.count(name))}" for name in ELEMENT_STATUSES
        ]
        chosen = self._model.status
        with QSignalBlocker(self.status):
            if self.status.count() != len(words):
                self.status.clear()
                self.status.addItems(words)
            for number, text in enumerate(words):
                self.status.setItemText(number, text)
            self.status.setCurrentIndex(0 if chosen is None else ELEMENT_STATUSES.index(chosen) + 1)

    def _show_element(self) -> None:
        row = self._model.selected
        if row is None:
            self.shot.choose(None)
            self.caption.setText(self._picture_words())
            return
        rect = row.element.rect
        if rect is not None and self.shot.is_inside(rect):
            self.shot.choose(ScreenshotMark(number=row.number, rect=rect, label=row.name))
            self.caption.setText(f"{row.element.role} '{row.name}': {row.why}")
        else:
            self.shot.choose(None)
            where = self.tr("outside the picture") if rect is not None else self.tr("without a position")
            self.caption.setText(f"{row.element.role} '{row.name}' ({where}): {row.why}")
        place = self._model.elements.row_of(row.number)
        if place >= 0 and place != self.elements.currentIndex().row():
            self.elements.setCurrentIndex(self._model.elements.index(place))

    def _picture_words(self) -> str:
        detail = self._model.detail
        if detail is None:
            return ""
        seen = self.tr("seen {0}").format(ago(detail.row.last_seen)) if detail.row.last_seen else ""
        self.caption.setAccessibleDescription(exact_time(detail.row.last_seen))
        return seen

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the picture's shape and leave room for the lists."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        wanted = self.shot.height_for(max(self.width(), 1))
        most = min(wanted, round(self.height() * SHARE))
        self.shot.setMaximumHeight(
            max(most, self.shot.minimumHeight())
        )  # no fixed height: the window may shrink

    # ------------------------------------------------------------ what is done
    def _to_elements(self) -> None:
        self.focus_list("elements")

    def _on_typed(self) -> None:
        self._typed.start()

    def _on_filter(self, *_row: int) -> None:
        row = self.status.currentIndex()
        self._model.filter(ELEMENT_STATUSES[row - 1] if row > 0 else None, self.filter.text())

    def _on_element(self, index: QModelIndex) -> None:
        row = self._model.elements.at(index.row())
        if row is not None:
            self._model.select_element(row.number)

    def _on_follow(self, index: QModelIndex) -> None:
        row = self._model.elements.at(index.row())
        if row is not None and row.target:
            self.node_requested.emit(row.target)

    def _on_transition_out(self, index: QModelIndex) -> None:
        row = self._model.outgoing.at(index.row())
        if row is not None:
            self.node_requested.emit(row.other)

    def _on_transition_in(self, index: QModelIndex) -> None:
        row = self._model.incoming.at(index.row())
        if row is not None:
            self.node_requested.emit(row.other)

    def _on_run(self, index: QModelIndex) -> None:
        row = self._model.runs.at(index.row())
        if row is not None:
            self.step_requested.emit(row.run, row.step)

    def _on_tip(self, index: QModelIndex) -> None:
        row = self._model.tips.at(index.row())
        if row is not None:
            self.tip_requested.emit(row.tip)

    def _on_picture_clicked(self, x: float, y: float) -> None:
        number = self._model.element_at(x, y)
        if number >= 0:
            self.show_list("elements")
            if self._model.elements.row_of(number) < 0:  # the filter hides it
                self._model.filter(None, "")
                with QSignalBlocker(self.filter):
                    self.filter.clear()
            self._model.select_element(number)

    def _on_picture(self, digest: str) -> None:
        if self._model.detail is not None and self._model.detail.picture == digest:
            self._show_picture()

    def _update_texts(self) -> None:
        self._words = {
            "elements": (self.tr("Elements"), self.tr("This page has no interactive elements.")),
            "out": (self.tr("Out"), self.tr("No transitions from here are known yet.")),
            "in": (self.tr("In"), self.tr("No other state leads here; it was opened by its address.")),
            "runs": (self.tr("Runs"), self.tr("No stored run visited this state.")),
            "tips": (self.tr("Tips"), self.tr("No tip applies to this state.")),
            "about": (self.tr("About"), ""),
        }
        self._status_words = {
            "tried": self.tr("tried"),
            "waiting": self.tr("waiting"),
            "failed": self.tr("failed"),
            "skipped": self.tr("skipped"),
            "": self.tr("unknown"),
        }
        self.filter.setPlaceholderText(self.tr("Filter by name, role or reason"))
        self.status.setAccessibleName(self.tr("Filter by status"))
        self.status.setToolTip(self.status.accessibleName())
        for name, button in self.tabs.items():
            button.setAccessibleName(self._lists[LISTS.index(name)].accessibleName())
            button.setToolTip(self._center.action(f"map.panel.{name}").toolTip())
        self._show_lists()
