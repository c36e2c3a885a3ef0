"""The path between two states, step by step, with the button that navigates it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QLabel,
    QListView,
    QPushButton,
    QWidget,
)

from app.models.graph.path import PathState
from app.views.graph.node_rows import PATH_STEP, path_step_row
from app.views.widgets import ElidedLabel
from app.views.widgets.build import ground, hbox, restyle, styled, text_label, vbox
from app.views.widgets.rows import RowDelegate

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.graph.model import MapModel
    from app.views.frame.theme import Theme


class PathStepList(QListView):
    """Enter opens the state a step leads to."""

    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
            if (
                plain
                and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
                and self.currentIndex().isValid()
            ):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.clicked.emit(self.currentIndex())
            return
        super().keyPressEvent(event)


class PathPane(QWidget):
    """Heading, ends, steps, actions; visible only with a path."""

    def __init__(self, model: MapModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._model, self._path, self._center, self._theme = model, model.path, center, theme
        ground(self)
        self.setAccessibleName(self.tr("Path"))
        self.title, self.ends, self.says = text_label(self.tr("Path"), "heading"), ElidedLabel(), QLabel()
        self.ends.setProperty("kind", "secondary")
        self.says.setWordWrap(True)
        self.says.setTextFormat(Qt.TextFormat.PlainText)
        self.list = PathStepList()
        self.list.setModel(self._path.steps)
        self.list.setItemDelegate(RowDelegate(theme, path_step_row, PATH_STEP, self.list))
        self.list.setAccessibleName(self.tr("Steps of the path"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.go, self.close_button = styled(QPushButton(), "primary"), styled(QPushButton("✕"), "link")
        self.close_button.setAccessibleName(self.tr("Close the path"))
        self.close_button.setToolTip(self.tr("Close the path"))
        head = hbox(self.title, (self.ends, 1), self.close_button, margins=(14, 6, 8, 0), spacing=8)
        foot = hbox((self.says, 1), self.go, margins=(14, 4, 12, 8), spacing=8)
        vbox(head, (self.list, 1), foot, parent=self, spacing=0)
        self.list.clicked.connect(self._on_step)
        self.go.clicked.connect(lambda: center.trigger("map.go"))
        self.close_button.clicked.connect(self._path.clear)
        self._path.changed.connect(self._show)
        center.keys_changed.connect(self._show)
        theme.changed.connect(self.list.doItemsLayout)
        self._show()

    def _on_step(self, index: QModelIndex) -> None:
        step = self._path.steps.at(index.row())
        if step is not None:
            self._model.open(step.to)

    def _show(self) -> None:
        path = self._path
        self.setVisible(path.is_shown)
        start = path.start_title or self.tr("home page")
        self.ends.setText(f"{start} → {path.to_title or '…'}")
        text, kind = self._words()
        self.says.setText(text)
        self.says.setAccessibleName(text)
        restyle(self.says, kind=kind)
        keys = self._center.keys("map.go")
        self.go.setText(self._center.title("map.go"))
        self.go.setToolTip(f"{self._center.title('map.go')} ({keys})" if keys else "")
        self.go.setVisible(bool(path.to))
        self.go.setEnabled(path.state not in (PathState.GOING, PathState.ASKING, PathState.NO_WAY))

    def _words(self) -> tuple[str, str]:
        """Return the text under the steps and its colour role."""
        path, plan = self._path, self._path.plan
        match path.state:
            case PathState.CHOOSING:
                return self.tr("Choose the state to go to."), "muted"
            case PathState.ASKING:
                return self.tr("Finding the path…"), "muted"
            case PathState.NO_WAY:
                return path.error, "warn"
            case PathState.GOING:
                return self.tr("Navigating in the browser…"), "muted"
            case PathState.ARRIVED:
                took = path.journey.seconds if path.journey is not None else 0.0
                return self.tr("✓ Arrived in {0:.1f} s").format(took), "ok"
            case PathState.STOPPED:
                return self.tr("✕ Not arrived: {0}").format(path.error), "fail"
            case _:
                pass
        if plan is None:
            return "", "muted"
        if not plan.transitions:
            return self.tr("Already there."), "muted"
        count = len(plan.transitions)
        steps = self.tr("1 step") if count == 1 else self.tr("{0} steps").format(count)
        return self.tr("{0}, about {1:.1f} s").format(steps, plan.cost), "muted"
