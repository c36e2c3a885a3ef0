"""The head of the wall: counts that filter, the filter line, sums, and how the runs are shown."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from app.models.live.wall_figures import STATE_GROUPS, state_count_words
from app.models.live.wall_list import GROUPINGS
from app.views.live.state_marks import STATE_MARKS
from app.views.widgets import ElidedLabel
from app.views.widgets.build import hbox, styled, text_label, vbox
from app.views.widgets.command_button import SIGN, CommandButton
from app.views.widgets.filter_line import CompletingFilterLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.models.common.commands import CommandCenter
    from app.models.live.model import LiveModel
    from app.views.frame.theme import Theme

FILTER_WIDTH = 360
"""Width of the filter line in pixels at 100 % text size."""
MARKS = {**STATE_MARKS, "interrupted": STATE_MARKS["broken"]}


class StateCounts(QWidget):
    """A button for each state that some run has: ``4 need you``, ``12 running``; pressed, only those are shown."""

    def __init__(self, model: LiveModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self._wall, self._center, self._theme = model.wall, center, theme
        self.buttons = {state: self._button(state) for state in STATE_GROUPS}
        hbox(*self.buttons.values(), parent=self, spacing=6)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._short = False
        center.keys_changed.connect(self._dress)
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def words(self) -> str:
        """All counts: ``2 need you · 1 running``."""
        return " · ".join(
            state_count_words(state, count) for state, count in self._wall.counts.items() if count
        )

    def show_counts(self) -> None:
        """Follow the runs and the filter."""
        counts, chosen = self._wall.counts, self._wall.filtered_states
        for state, button in self.buttons.items():
            count = counts.get(state, 0)
            words = state_count_words(state, count)
            shown = str(count) if self._short else words
            if button.text() != shown:
                button.setText(shown)
            if button.accessibleName() != words:
                button.setAccessibleName(words)
            button.setChecked(state in chosen)
            button.setVisible(bool(count) or state in chosen)

    def set_short(self, short: bool) -> None:
        """Show the numbers alone, beside their signs."""
        if short != self._short:
            self._short = short
            self.show_counts()

    def whole_width(self) -> int:
        """Width with the words, in pixels."""
        return self._width(lambda button: button.accessibleName())

    def minimumSizeHint(self) -> QSize:
        """Room for the numbers alone: the words never make the window wider."""
        return QSize(self._width(lambda _button: "99"), super().minimumSizeHint().height())

    def _width(self, words: Callable[[QToolButton], str]) -> int:
        shown = [button for button in self.buttons.values() if not button.isHidden()]
        metrics = QFontMetrics(self._theme.font("base", bold=True))
        return sum(metrics.horizontalAdvance(words(button)) + self._theme.px(44) for button in shown)

    def _button(self, state: str) -> QToolButton:
        button = styled(QToolButton(), "chip")
        button.setCheckable(True)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(partial(self._on_clicked, state))
        return button

    def _on_clicked(self, state: str, _checked: bool = False) -> None:
        self._center.trigger(f"live.only.{state}")
        self.show_counts()

    def _dress(self) -> None:
        for state, button in self.buttons.items():
            sign, role = MARKS[state]
            button.setIcon(self._theme.icon(sign, role))
            button.setToolTip(self._center.action(f"live.only.{state}").toolTip())


class WallHead(QWidget):
    """Two lines over the runs."""

    def __init__(
        self, model: LiveModel, center: CommandCenter, theme: Theme, onward: Callable[[], None]
    ) -> None:
        super().__init__()
        self._model, self._wall, self._center, self._theme = model, model.wall, center, theme
        self.counts = StateCounts(model, center, theme)
        self.lost = styled(ElidedLabel(), "warn")
        self.filter = CompletingFilterLine(
            "",
            self.tr("Filter: needs  site:shop  cost:>0.1  words"),
            self.tr("Filter of the runs"),
            onward,
            self._wall.completion,
            theme,
        )
        self.unknown = styled(ElidedLabel(), "warn")
        self.figures = styled(ElidedLabel(), "secondary")
        self.group = styled(QToolButton(), "chip")
        self.form = CommandButton("live.table", center, theme)
        self.sizes = [CommandButton(f"live.{name}", center, theme) for name in ("smaller", "larger")]
        for button in (self.form, *self.sizes):
            button.set_detail(SIGN)
        self._build_menu()
        center.keys_changed.connect(self._dress)
        theme.changed.connect(self._dress)
        self.filter.textChanged.connect(self._wall.set_filter)
        self._wall.changed.connect(self.show_state)
        self._dress()

    def lay_out(self, *buttons: CommandButton) -> None:
        """Put the counts and these buttons in the first line, all else in the second."""
        title = text_label(self.tr("Live"), "title")
        self.first = hbox(title, self.counts, (self.lost, 3), 1, *buttons, spacing=8)
        self.second = hbox(
            (self.filter, 2),
            (self.unknown, 1),
            (self.figures, 3),
            self.group,
            self.form,
            *self.sizes,
            spacing=8,
        )
        vbox(self.first, self.second, parent=self, margins=(16, 10, 16, 6), spacing=8)

    def show_figures(self) -> None:
        """Update the sums; a text that stays the same is not painted again."""
        figures = self._wall.figures
        words = " · ".join(part for part in (figures.hour_words, figures.spent_words) if part)
        note = self._wall.filter_note.partition(":")[0]
        words = " · ".join(part for part in (note, words) if part)
        if words != self.figures.text():
            self.figures.setText(words)
            self.figures.setAccessibleName(words)
        if figures.explanation != self.figures.toolTip():
            self.figures.setToolTip(figures.explanation)

    def show_state(self) -> None:
        """Follow filter, grouping and form."""
        wall = self._wall
        if self.filter.text() != wall.text:  # a count was pressed, perhaps while the line has the focus
            with QSignalBlocker(self.filter):
                self.filter.setText(wall.text)
        self.unknown.setText(wall.unknown.partition("\n")[0])
        self.unknown.setVisible(bool(wall.unknown))
        names = self._group_names()
        self.group.setText(
            self.tr("Group: {0}").format(names[wall.grouping]) if wall.grouping else self.tr("Group")
        )
        self.group.setAccessibleName(self.tr("Group by {0}").format(names[wall.grouping]))
        for by, action in self._actions.items():
            action.setChecked(by == wall.grouping)
        self.form.show_as("live.table", "", "view-grid-outline" if wall.is_table else "view-list-outline")
        for button in self.sizes:
            button.setVisible(not wall.is_table)
        self.counts.show_counts()
        self.show_figures()

    def _group_names(self) -> dict[str, str]:
        return {
            "": self.tr("nothing"),
            "site": self.tr("site"),
            "task": self.tr("task"),
            "batch": self.tr("batch"),
            "state": self.tr("state"),
        }

    def _build_menu(self) -> None:
        menu = QMenu(self.group)
        self._actions = {
            by: menu.addAction(name, partial(self._wall.set_grouping, by))
            for by, name in self._group_names().items()
        }
        for by in GROUPINGS:
            self._actions[by].setCheckable(True)
        self.group.setMenu(menu)
        self.group.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.group.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.group.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def _dress(self) -> None:
        self.group.setIcon(self._theme.icon("group", "muted"))
        self.group.setToolTip(self._center.action("live.group").toolTip())
        self.filter.setMaximumWidth(self._theme.px(FILTER_WIDTH))
        self.filter.setMinimumWidth(self._theme.px(FILTER_WIDTH) // 3)
        self.filter.setToolTip(
            self.tr(
                "needs, running, paused, queued, interrupted, failed, stopped, done,\n"
                "site:shop, task:415, batch:nightly, policy:llm, flag:loop, cost:>0.1,\n"
                "or words to search for ({0}); words complete while you type"
            ).format(self._center.keys("live.filter"))
        )
