"""The actions behind Live's commands for the grid, the current run and the forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.models.live.run_list import can_resume, can_step, can_take_over, has_control, is_active, is_ended

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.engine.core.supervision import LiveRow
    from app.models.common.commands import CommandCenter
    from app.views.live.view import LiveView


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
        bind("live.next", lambda: model.move(1), lambda: bool(model.list.rows))
        bind("live.previous", lambda: model.move(-1), lambda: bool(model.list.rows))
        bind("live.open", lambda: model.open(model.current), lambda: bool(model.current) and not model.run)
        bind("live.needy", model.open_next_needing, lambda: bool(model.needing_attention))
        for digit in range(10):
            bind(
                f"live.open.{digit}",
                lambda digit=digit: model.open_number(digit),
                lambda: bool(model.list.rows),
            )
        bind("live.sort", model.list.arrange, lambda: bool(model.list.rows))
        bind("live.back", view.back)
        bind("live.pause_all", model.pause_all, lambda: there() and any(map(is_active, model.list.rows)))

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
