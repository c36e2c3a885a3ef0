"""The Live perspective: the grid of runs, or one run large with its panels; the action bar below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from app.models.live.run_list import can_resume, can_step, can_take_over, has_control, is_active, is_ended
from app.views.live.action_bar import LiveBar
from app.views.live.attention_panel import AttentionPanel
from app.views.live.batch_commands import BatchCommands
from app.views.live.batch_form import BatchForm
from app.views.live.batch_panel import BatchPanel
from app.views.live.hint_line import HintLine
from app.views.live.inbox_view import EmptyInbox, InboxPane
from app.views.live.input_filter import InputFilter
from app.views.live.knowledge_panel import LiveKnowledgePane
from app.views.live.progress_panel import ProgressPanel
from app.views.live.rows import RUN
from app.views.live.run_form import RunForm
from app.views.live.run_grid import RunGrid
from app.views.live.run_page import RunPage
from app.views.live.run_views import NarrowList
from app.views.live.wall_commands import WallCommands
from app.views.widgets import Splitter
from app.views.widgets.build import hbox, styled, vbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.core.supervision import LiveRow
    from app.models.common.commands import CommandCenter
    from app.models.live.model import LiveModel
    from app.views.frame.theme import Theme
    from app.views.live.policy_pane import PolicyPane

LEFT, RIGHT = 248, 344
WIDE, WIDE_SIDES = 1900, (360, 460)
"""Initial side widths of a window wider than this."""
FORM = 380
ROWS, NEEDS = 5, 340
"""Initial heights of the run list and of the requests."""


class LiveView(QWidget):
    """Its commands are bound by ``LiveCommands`` and by the panels of the open run."""

    place = "live"

    def __init__(self, model: LiveModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self.model, self._center, self._theme = model, center, theme
        self._by_hand = False
        self._heights: dict[str, Any] = {}
        """Heights in the left column before the inbox was opened."""
        self._window: QWidget | None = None
        self._stand: tuple[object, ...] = ()
        self.wall = RunGrid(model, center, theme)
        self.list, self.inbox = NarrowList(model, theme), InboxPane(model, center, theme)
        self.empty_inbox = EmptyInbox(model, center)
        self.facts = ProgressPanel(model.open_run, center, theme)
        self.page = RunPage(model, center, theme)
        self.needs = AttentionPanel(model.open_run, center, theme)
        self.knowledge = LiveKnowledgePane(model.open_run, center, theme)
        self.hint = HintLine(model.open_run, center, theme)
        self.form = RunForm(model.form, theme)
        self.tasks = BatchForm(model.batches.form, theme)
        self.batches = BatchPanel(model.batches, center, theme)
        self.bar = LiveBar(model, center, theme)
        self.foot = self.bar
        """The widget that passing messages keep clear of."""
        self._lay_out()
        self.keys, self.batch_keys = LiveCommands(self, center), BatchCommands(self, center)
        self.wall_keys = WallCommands(self, center, self)
        lists = (self.wall.tiles, self.wall.table, self.list, self.inbox.rows)
        self.touch = InputFilter(self, model.hands, [one.viewport() for one in lists])
        model.inbox.is_held = lambda: self.touch.is_field or bool(QApplication.mouseButtons())
        self._connect()
        self._on_opened(model.run)

    # ------------------------------------------------------------ what the frame asks
    def focus_first(self) -> None:
        """Focus the tiles, or the list beside the open run."""
        if self.side.isVisibleTo(self):
            return
        self.take_focus()

    def take_focus(self) -> None:
        """Focus the runs, or the page under the operator's control."""
        if self.page.has_control:
            self.page.take_focus()
        elif self.model.inbox.is_empty:
            self.empty_inbox.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self.model.inbox.is_open:
            self.inbox.take_focus()
        elif self.model.run:
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.wall.take_focus()

    def save_layout(self) -> dict[str, Any]:
        """Return widths and the open run."""
        return {
            "columns": self.columns.save(),
            "left": self._heights if self.lists.currentWidget() is self.inbox else self.left.save(),
            "right": self.right.save(),
            "by_hand": self._by_hand,
            **self.model.session(),
        }

    def restore_layout(self, layout: dict[str, Any]) -> None:
        self._by_hand = layout.get("by_hand") is True
        for name, splitter in (("columns", self.columns), ("left", self.left), ("right", self.right)):
            if self._by_hand and isinstance(layout.get(name), dict):
                splitter.restore(layout[name])
        if layout:
            self.model.restore(layout)
        if not self._by_hand:
            self._distribute()

    # ------------------------------------------------------------ forms
    def open_run_form(self) -> None:
        self.open_form(self.form)

    def open_task_form(self) -> None:
        self.open_form(self.tasks)

    def open_rerun_form(self) -> None:
        """Open the run form with the current run's task."""
        self.model.again()
        self.open_form(self.form)

    def add_form(self, form: PolicyPane) -> None:
        self.side.addWidget(form)
        form.closed.connect(self.close_form)

    def open_form(self, form: RunForm | BatchForm | BatchPanel | PolicyPane) -> None:
        """Show a form beside the grid or the page, and focus it."""
        self.side.setCurrentWidget(form)
        self._fit()
        self.beside.setVisible(not self.model.run)
        self.side.show()
        form.begin()

    def close_form(self) -> None:
        """Hide the form; its contents stay."""
        if not self.side.isVisibleTo(self):
            return
        held = self.side.isAncestorOf(QApplication.focusWidget() or self)
        self.side.hide()
        self.beside.show()
        if held:
            self.take_focus()

    def back(self) -> None:
        """Go back one level: the form, a field of the open run, the past step, the open run."""
        if self.side.isVisibleTo(self):
            if not (self.side.currentWidget() is self.batches and self.batches.leave()):
                self.close_form()
            return
        held = QApplication.focusWidget()
        if self.model.run:
            if self.page.leave():
                return
            if held is not None and any(pane.isAncestorOf(held) for pane in (self.facts, self.beside)):
                self.take_focus()
                return
            self.model.close()
        elif not self.model.inbox.is_open and self.wall.leave_filter():
            return
        self.model.inbox.close()
        self.take_focus()

    def open_inbox(self) -> None:
        """Show the inbox, and give it the keyboard."""
        self.close_form()
        self.model.inbox.open()
        self.take_focus()

    def enlarge(self) -> None:
        """Open the current run large, from the grid or from the inbox."""
        self.model.inbox.leave()
        self.model.open(self.model.current)

    def show_hint(self) -> None:
        """Make the hint line visible: the run open, no form over it, its column expanded."""
        if self.model.row is not None:
            self.model.open(self.model.current)
        if self.model.run:
            self.close_form()
            self.columns.set_folded(self.columns.indexOf(self.beside), False)

    # ------------------------------------------------------------ layout
    def _lay_out(self) -> None:
        self.left = Splitter(Qt.Orientation.Vertical, (ROWS * RUN.height, 0))
        self.lists, self.below = QStackedWidget(), QStackedWidget()
        for pane in (self.list, self.inbox):
            self.lists.addWidget(pane)
        self.left.addWidget(self.lists)
        self.left.addWidget(self.facts)
        self.lists.setMinimumHeight(90)
        self.right = Splitter(Qt.Orientation.Vertical, (NEEDS, 0))
        self.below.addWidget(self.knowledge)
        self.right.addWidget(self.needs)
        self.right.addWidget(self.below)
        self.beside = styled(QWidget(), "raised")
        vbox((self.right, 1), self.hint, parent=self.beside, spacing=0)
        self.columns = Splitter(Qt.Orientation.Horizontal, (LEFT, 0, RIGHT))
        for pane, least in ((self.left, 180), (self.page, 380), (self.beside, 270)):
            self.columns.addWidget(pane)
            pane.setMinimumWidth(least)
        self.faces = QStackedWidget()
        self.faces.addWidget(self.wall)
        self.faces.addWidget(self.columns)
        self.faces.addWidget(self.empty_inbox)
        self.side = QStackedWidget()
        self.side.addWidget(self.form)
        self.side.addWidget(self.tasks)
        self.side.addWidget(self.batches)
        self.side.hide()
        top = hbox((self.faces, 1), self.side, spacing=0)
        vbox((top, 1), self.bar, parent=self, spacing=0)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Size the columns by the window until the operator or a saved layout has."""
        super().resizeEvent(event)
        self._fit()
        if not self._by_hand:
            self._distribute()

    def _distribute(self) -> None:
        left, right = WIDE_SIDES if self.width() > WIDE else (LEFT, RIGHT)
        zoom = max(self._theme.zoom, 1.0)
        left, right = round(min(left * zoom, left + 40)), round(min(right * zoom, right + 80))
        self.columns.setSizes([left, max(self.width() - left - right, 200), right])
        high = max(self.faces.height(), 300)
        row = self._theme.px(RUN.height)
        first = min(ROWS * row, high // 3 // row * row)
        self.left.setSizes([first, high - first])
        needs = min(self._theme.px(NEEDS), high // 2)
        self.right.setSizes([needs, high - needs])

    def _arrange(self, *, inbox: bool) -> None:
        """In the inbox its rows take the left column, and task, plan and steps stand under the request."""
        if inbox == (self.lists.currentWidget() is self.inbox):
            return
        self.lists.setCurrentWidget(self.inbox if inbox else self.list)
        if inbox:
            self._heights = self.left.save()
            self.below.addWidget(self.facts)
            self.below.setCurrentWidget(self.facts)
        else:
            self.left.addWidget(self.facts)
            self.left.restore(self._heights) if self._by_hand else self._distribute()
        self.facts.show()

    def _fit(self) -> None:
        """A form is as wide as its fields; the policy has a column a site and takes up to half of the width."""
        room = max(FORM, getattr(self.side.currentWidget(), "wide", FORM))
        self.side.setFixedWidth(min(self._theme.px(room), max(self._theme.px(FORM), self.width() // 2)))

    # ------------------------------------------------------------ answers
    def _connect(self) -> None:
        model, center = self.model, self._center
        for splitter in (self.columns, self.left, self.right):
            splitter.splitterMoved.connect(self._on_moved)
        for form in (self.form, self.tasks, self.batches):
            form.closed.connect(self.close_form)
        for runs in (self.wall.tiles, self.wall.table):
            runs.activated.connect(lambda: model.open(model.current))
            runs.doubleClicked.connect(lambda: model.open(model.current))
        self.needs.card.let_go.connect(self.take_focus)
        self.hint.wanted.connect(self.show_hint)
        model.opened.connect(self._on_opened)
        model.inbox.opened.connect(lambda: self._on_opened(model.run))
        model.open_run.step_wanted.connect(self.page.replay.go)
        model.row_changed.connect(self._on_row)
        for signal in (model.changed, model.current_changed, model.takeover_changed):
            signal.connect(center.refresh)
        self._theme.changed.connect(self._fit)

    def _on_moved(self) -> None:
        self._by_hand = True

    def _on_row(self, row: LiveRow) -> None:
        """Update the commands; they depend on the run's state, not on every change of its row."""
        stand = (row.run, row.state, row.needs, row.step > 0)
        if stand != self._stand:
            self._stand = stand
            self._center.refresh()

    def _on_opened(self, run: str) -> None:
        held = self.isAncestorOf(QApplication.focusWidget() or self)
        is_inbox = self.model.inbox.is_open
        self._arrange(inbox=is_inbox)
        self.faces.setCurrentWidget(self.columns if run else self.empty_inbox if is_inbox else self.wall)
        self.beside.setVisible(not (run and self.side.isVisibleTo(self)))
        if held and not self.side.isVisibleTo(self):
            self.take_focus()
        self._center.refresh()

    # ------------------------------------------------------------ whether it can be seen
    def showEvent(self, event: QShowEvent) -> None:
        """Request page frames until the window is minimised or another perspective is shown."""
        super().showEvent(event)
        window = self.window()
        if window is not self._window:
            if self._window is not None:
                self._window.removeEventFilter(self)
            self._window = window
            window.installEventFilter(self)
        self._report_shown()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.model.subscriptions.set_shown(False)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Watch for the window being minimised and restored."""
        if watched is self._window and event.type() is QEvent.Type.WindowStateChange:
            self._report_shown()
        return super().eventFilter(watched, event)

    def _report_shown(self) -> None:
        shown = self.isVisible() and not self.window().isMinimized()
        if shown:
            self.model.open_run.requests.mark_shown()
        self.model.subscriptions.set_shown(shown)


class LiveCommands(QObject):
    """Binds every command of the place "live" that no panel of the open run binds itself."""

    def __init__(self, view: LiveView, center: CommandCenter) -> None:
        super().__init__(view)
        self._view, self._model, self._center = view, view.model, center
        self._bind_wall()
        self._bind_run()

    def _bind_wall(self) -> None:
        view, model, bind = self._view, self._model, self._center.bind

        def there() -> bool:
            return not model.lost

        bind("live.new", view.open_run_form, there)
        bind("live.tasks", view.open_task_form, there)
        bind("live.again", view.open_rerun_form, lambda: there() and model.row is not None)
        self._bind_inbox()
        bind("live.next", lambda: self._move(1), lambda: bool(model.list.rows))
        bind("live.previous", lambda: self._move(-1), lambda: bool(model.list.rows))
        bind("live.open", view.enlarge, lambda: bool(model.row) and (not model.run or model.inbox.is_open))
        bind("live.needy", self._open_next_needing, lambda: bool(model.needing_attention))
        for digit in range(10):
            bind(
                f"live.open.{digit}",
                lambda digit=digit: model.open_number(digit),
                lambda: bool(model.list.rows),
            )
        bind("live.sort", model.list.arrange, lambda: bool(model.list.rows))
        bind("live.back", view.back)
        bind("live.pause_all", model.pause_all, lambda: there() and any(map(is_active, model.list.rows)))

    def _bind_inbox(self) -> None:
        inbox, bind = self._model.inbox, self._center.bind
        bind("live.inbox", self._view.open_inbox)
        bind("live.inbox.later", inbox.put_last, lambda: inbox.is_open and inbox.entry is not None)
        bind("live.inbox.single", inbox.toggle_single, lambda: inbox.can_split)
        bind("live.inbox.order", inbox.toggle_order, lambda: inbox.is_open)

    def _move(self, by: int) -> None:
        (self._model.inbox if self._model.inbox.is_open else self._model).move(by)

    def _open_next_needing(self) -> None:
        """Open the next run that needs a person; in the inbox the next request."""
        if self._model.inbox.is_open:
            self._model.inbox.move(1, around=True)
        else:
            self._model.open_next_needing()

    def _bind_run(self) -> None:
        model, bind = self._model, self._center.bind

        def when(fits: Callable[[LiveRow], bool]) -> Callable[[], bool]:
            """Whether the command fits the run, whose end is not pending."""
            return lambda: (
                model.row is not None
                and not model.lost
                and not model.delayed_stops.holds(model.current)
                and fits(model.row)
            )

        bind("live.pause", model.toggle_pause, when(lambda row: can_resume(row) or is_active(row)))
        bind("live.step", model.step, when(can_step))
        bind("live.stop", model.stop, when(lambda row: not is_ended(row)))
        bind("live.dismiss", model.dismiss, when(lambda row: not row.state.alive))
        bind("live.review", model.review, lambda: model.row is not None and model.row.step > 0)
        bind("live.take_over", self._take_over, when(lambda row: can_take_over(row) or has_control(row)))
        bind("live.release", model.release, when(has_control))
        bind("live.tip", model.write_tip, lambda: model.can_write_tip)
        bind("live.to_map", model.add_to_map, lambda: model.takeover is not None and model.takeover.steps > 0)

    def _take_over(self) -> None:
        """Open the run and take over its page, or return the keyboard to a page already taken over."""
        self._model.open(self._model.current)
        row = self._model.row
        if row is not None and has_control(row):
            self._view.page.take_focus()
        else:
            self._model.take_over()
