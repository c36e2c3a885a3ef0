"""Tooltips show text as it is and never render markup."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QAction, QColor, QHelpEvent, QImage, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QListView,
    QPushButton,
    QTabBar,
    QTableView,
    QToolBar,
    QToolButton,
    QToolTip,
    QTreeView,
    QWidget,
)

from app.views.frame.theme import Theme
from app.views.widgets.elided_label import ElidedLabel, MessageLabel

RED = QColor(255, 0, 0)
Shown = tuple[QWidget, QPoint]


@pytest.fixture
def payload(tmp_path: Path) -> str:
    """Markup with a headline, a link, and an image."""
    picture = QImage(120, 120, QImage.Format.Format_RGB32)
    picture.fill(RED)
    assert picture.save(str(tmp_path / "red.png"))
    return f'<h1>Log in again</h1><b>now</b> <a href="file:///x">here</a><img src="file:{tmp_path}/red.png">'


@pytest.fixture(autouse=True)
def theme(qapp: QApplication) -> Iterator[Theme]:
    theme = Theme()
    theme.apply(qapp)
    yield theme
    QToolTip.hideText()


def tip_label() -> QLabel:
    """Return the visible tooltip."""
    shown = [
        one
        for one in QApplication.topLevelWidgets()
        if isinstance(one, QLabel) and one.windowFlags() & Qt.WindowType.ToolTip == Qt.WindowType.ToolTip
    ]
    assert len(shown) == 1
    return shown[0]


def has_red(label: QLabel) -> bool:
    image = label.grab().toImage()
    return any(
        image.pixelColor(x, y) == RED for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)
    )


def hover(widget: QWidget, at: QPoint) -> None:
    QApplication.sendEvent(widget, QHelpEvent(QEvent.Type.ToolTip, at, widget.mapToGlobal(at)))


def with_tip(widget: QWidget, payload: str) -> Shown:
    widget.setToolTip(payload)
    return widget, QPoint(3, 3)


def with_own_sheet(payload: str, host: QWidget) -> Shown:
    button = QPushButton("x", host)
    button.setStyleSheet("QPushButton { color: red } QToolTip { color: blue }")
    return with_tip(button, payload)


def elided(payload: str, host: QWidget) -> Shown:
    label = ElidedLabel(text=payload, parent=host)
    label.resize(40, 20)
    return label, QPoint(3, 3)


def said(payload: str, host: QWidget) -> Shown:
    label = MessageLabel(longest=8, parent=host)
    label.say(payload)
    return label, QPoint(3, 3)


def model_of(payload: str, parent: QWidget) -> QStandardItemModel:
    model = QStandardItemModel(1, 1, parent)
    item = QStandardItem("plain")
    item.setData(payload, Qt.ItemDataRole.ToolTipRole)
    model.setItem(0, 0, item)
    model.setHeaderData(0, Qt.Orientation.Horizontal, payload, Qt.ItemDataRole.ToolTipRole)
    return model


def in_view(view: QAbstractItemView, payload: str) -> Shown:
    view.setModel(model_of(payload, view))
    view.resize(200, 100)
    view.doItemsLayout()
    return view.viewport(), view.visualRect(view.model().index(0, 0)).center()


def in_header(payload: str, host: QWidget) -> Shown:
    view = QTableView(host)
    in_view(view, payload)
    return view.horizontalHeader().viewport(), QPoint(5, 5)


def in_combo(payload: str, host: QWidget) -> Shown:
    combo = QComboBox(host)
    combo.setModel(model_of(payload, combo))
    return in_view(combo.view(), payload)


def in_tab_bar(payload: str, host: QWidget) -> Shown:
    bar = QTabBar(host)
    bar.addTab("Tab")
    bar.setTabToolTip(0, payload)
    bar.resize(bar.sizeHint())
    return bar, QPoint(8, 8)


def on_action(payload: str, host: QWidget) -> Shown:
    bar = QToolBar(host)
    action = QAction("Run", bar)
    action.setToolTip(payload)
    bar.addAction(action)
    button = bar.widgetForAction(action)
    assert isinstance(button, QToolButton)
    return button, QPoint(2, 2)


WAYS: dict[str, Callable[[str, QWidget], Shown]] = {
    "button": lambda payload, host: with_tip(QPushButton("x", host), payload),
    "label": lambda payload, host: with_tip(QLabel("x", host), payload),
    "widget with a style sheet of its own": with_own_sheet,
    "elided label": elided,
    "long text": said,
    "table": lambda payload, host: in_view(QTableView(host), payload),
    "list": lambda payload, host: in_view(QListView(host), payload),
    "tree": lambda payload, host: in_view(QTreeView(host), payload),
    "header": in_header,
    "combo box": in_combo,
    "tab bar": in_tab_bar,
    "action": on_action,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_tooltip_never_renders_markup(qapp: QApplication, payload: str, way: str):
    host = QWidget()
    host.resize(300, 200)
    widget, at = WAYS[way](payload, host)
    host.show()
    hover(widget, at)
    label = tip_label()
    assert label.text() == payload
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert not has_red(label)
    host.close()


def test_a_tooltip_that_code_of_ours_shows_is_plain_too(qapp: QApplication, payload: str):
    QToolTip.showText(QPoint(5, 5), payload)
    label = tip_label()
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert not has_red(label)


def test_tooltips_stay_plain_when_the_theme_changes_while_one_is_shown(
    qapp: QApplication, theme: Theme, payload: str
):
    QToolTip.showText(QPoint(5, 5), "harmless")
    theme.set_mode("dark")
    theme.set_zoom(1.5)
    QToolTip.showText(QPoint(5, 5), payload)
    label = tip_label()
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert not has_red(label)
    theme.set_mode("system")
