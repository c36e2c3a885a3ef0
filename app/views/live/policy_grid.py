"""The intervention policy as a table for the keyboard: Space sets the next value, a digit a value, Enter lists
them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QAction, QFontMetrics, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.models.live.intervention_policy import IS_OWN_ROLE, SIGNS, VALUE_ROLE, is_required
from app.views.widgets.signs import elided

if TYPE_CHECKING:
    from app.models.live.intervention_policy import InterventionPolicyModel, PolicyTable
    from app.views.frame.theme import Theme

Index = QModelIndex | QPersistentModelIndex
PLAIN = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.KeypadModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
ROLES = ("muted", "accent", "warn", "fail")
"""Colours of values from the mildest, besides sign and label."""
DIGITS = (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3, Qt.Key.Key_4)


class PolicyDelegate(QStyledItemDelegate):
    """A sign and a label; inherited values are grey."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, px = self._theme, self._theme.px
        value, is_own = index.data(VALUE_ROLE), bool(index.data(IS_OWN_ROLE))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, theme.color("selected"))
        role = ROLES[SIGNS[value][1]] if value is not None else "muted"
        box = option.rect.adjusted(px(4), px(3), -px(4), -px(3))
        if is_own:
            painter.setPen(QPen(theme.color("line"), 1))
            painter.setBrush(theme.color("surface" if role == "muted" else f"tint_{role}"))
            painter.drawRoundedRect(box, px(4), px(4))
        font = theme.font("secondary", bold=is_own)
        painter.setFont(font)
        painter.setPen(theme.color(role if is_own else "muted"))
        sign = f"{SIGNS[value][0]}  " if value is not None else ""
        words = f"{sign}{index.data(Qt.ItemDataRole.DisplayRole)}"
        inner = box.adjusted(px(6), 0, -px(4), 0)
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(inner, side, elided(QFontMetrics(font), words, inner.width()))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRoundedRect(option.rect.adjusted(1, 1, -2, -2), px(4), px(4))
        painter.restore()


class PolicyGrid(QTableView):
    """Cells are set and cleared by key; a click on the current cell lists the values."""

    def __init__(self, model: InterventionPolicyModel, theme: Theme) -> None:
        super().__init__()
        self._policy, self._theme = model, theme
        self._menu: QMenu | None = None
        table = model.table
        self.setModel(table)
        self.setItemDelegate(PolicyDelegate(theme, self))
        self.setAccessibleName(self.tr("Reactions to flags and actions, by site"))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setWordWrap(False)
        rows, columns = self.verticalHeader(), self.horizontalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setSectionsClickable(False)
        rows.setHighlightSections(False)
        rows.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        columns.setSectionsClickable(False)
        columns.setHighlightSections(False)
        columns.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._had = QModelIndex()
        self.pressed.connect(self._on_pressed)
        self.clicked.connect(self._on_clicked)
        theme.changed.connect(self._fit)
        self._fit()
        self.setCurrentIndex(table.index(0, 0))

    @property
    def table(self) -> PolicyTable:
        return self._policy.table

    def values_menu(self) -> QMenu | None:
        """Return a new menu of the current cell's values; ``None`` without a cell."""
        index = self.currentIndex()
        if not index.isValid():
            return None
        menu = QMenu(self)
        row, column = index.row(), index.column()
        line, site, now = self.table.rows[row], self.table.sites[column], index.data(VALUE_ROLE)
        for number, value in enumerate(line.values, 1):
            action = menu.addAction(f"&{number}  {SIGNS[value][0]}  {self.table.word(value)}")
            action.setCheckable(True)
            action.setChecked(value == now and bool(index.data(IS_OWN_ROLE)))
            action.triggered.connect(partial(self._policy.set_value, row, column, value))
            if value == now:
                menu.setActiveAction(action)
        if not is_required(line, site):
            menu.addSeparator()
            as_all = self.tr("By severity") if not site else self.tr("Same as every site")
            menu.addAction(as_all, partial(self._policy.set_value, row, column, None))
        if line.detector:
            menu.addAction(self.tr("Remove the detector's row"), partial(self._policy.drop_detector, row))
        self._menu = menu
        return menu

    def event(self, event: QEvent) -> bool:
        """Claim the keys a cell understands while the table has the focus."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.modifiers() in PLAIN
            and (event.key() in DIGITS or event.key() in _OWN)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Set, clear or list values; every other key moves."""
        index = self.currentIndex()
        if not index.isValid() or event.modifiers() not in PLAIN:
            super().keyPressEvent(event)
            return
        row, column = index.row(), index.column()
        line = self.table.rows[row]
        match event.key():
            case Qt.Key.Key_Space:
                back = event.modifiers() == Qt.KeyboardModifier.ShiftModifier
                self._policy.turn(row, column, -1 if back else 1)
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace:
                if is_required(line, self.table.sites[column]):
                    return
                self._policy.set_value(row, column, None)
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_F2:
                self._list_values()
            case key if key in DIGITS and DIGITS.index(Qt.Key(key)) < len(line.values):
                self._policy.set_value(row, column, line.values[DIGITS.index(Qt.Key(key))])
            case key if key not in DIGITS:
                super().keyPressEvent(event)
            case _:
                pass

    def _on_pressed(self, index: QModelIndex) -> None:
        self._had = index

    def _on_clicked(self, index: QModelIndex) -> None:
        if index == self._had and self.hasFocus():
            self._list_values()

    def _list_values(self) -> None:
        menu = self.values_menu()
        if menu is not None:
            active: QAction | None = menu.activeAction()
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft()), active)

    def _fit(self) -> None:
        px = self._theme.px
        self.verticalHeader().setDefaultSectionSize(px(28))
        self.horizontalHeader().setDefaultSectionSize(px(102))
        self.verticalHeader().setMinimumWidth(px(136))


_OWN = (
    Qt.Key.Key_Space, Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2,
    Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End,
)  # fmt: skip
