"""The page of the open run: live, at a past step, or under the operator's control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from app.models.common.page import PageModel
from app.models.live.frames import DisplayArea, drawn_size
from app.models.live.next_action import same_page
from app.models.live.page_input_model import PageInputModel
from app.models.live.pointing_model import call_label, target_words
from app.models.live.run_list import page_status
from app.models.live.step_history import StepHistory
from app.models.prompts.prompts_model import PromptsModel
from app.views.live.canvas import PageCanvas
from app.views.live.page_head import PageHead
from app.views.live.page_overlay import TargetBox
from app.views.live.point_overlay import PointOverlay
from app.views.live.takeover_bar import TakeoverBar, TakeoverCard
from app.views.prompts.prompts_pane import PromptsPane
from app.views.review.page_view import PageSide
from app.views.review.step_strip import StepStrip
from app.views.widgets.build import hbox, styled, vbox

if TYPE_CHECKING:
    from app.models.common.commands import CommandCenter
    from app.models.live.frames import PageImage
    from app.models.live.model import LiveModel, PlannedAction, TakeoverSummary
    from app.views.frame.theme import Theme

MIN_READABLE_SHARE = 0.6
"""Smallest width of an ended run's picture that is shown, as a share of the drawn width."""
RISK_ROLES = ("accent", "accent", "warn", "fail")
"""Colours of the next action by the level of its risk."""


class RunPage(QWidget):
    """Head, picture, strip of steps; after a takeover its summary over the picture."""

    def __init__(self, model: LiveModel, center: CommandCenter, theme: Theme) -> None:
        super().__init__()
        self.model, self._center, self._theme = model, center, theme
        self.frames = model.frames
        self.replay = StepHistory(model.client, model.tasks, self)
        self.prompts = PromptsPane(PromptsModel(model.client, model.tasks, self), center, theme, "live")
        self.hands = PageInputModel(model.client, model.tasks, self)
        self.canvas = PageCanvas(self.hands, theme)
        self.pointing = model.open_run.pointing
        self.points = PointOverlay(self.pointing, theme)
        self._page = PageModel(self)
        self.lines = PageSide(self.tr("Past step"), self._page, self.replay.pictures, theme)
        self.head = PageHead(theme)
        self.bar = TakeoverBar(model, center, theme)
        self.bar.hide()
        self.strip = StepStrip(self.replay.steps, theme)
        self.now = styled(QPushButton(), "primary")
        self.card = TakeoverCard(center, theme, self)
        self.card.hide()
        self._read: TakeoverSummary | None = None
        self._edits = False
        self._planned: PlannedAction | None = None
        self._agent_at: tuple[float, float] | None = None
        """Where the agent's last action had the pointer, on the page ``_agent_on``."""
        self._agent_on = ""
        self._build()
        self._connect()
        self._bind()
        self._on_opened(model.run)

    def _build(self) -> None:
        self.faces = QStackedWidget()
        self.faces.addWidget(self.canvas)
        self.faces.addWidget(self.lines)
        self.middle = QStackedWidget()
        self.middle.addWidget(self.faces)
        self.middle.addWidget(self.prompts)
        self.strip.setFocusPolicy(
            Qt.FocusPolicy.NoFocus
        )  # keys are commands of the place; a click keeps the focus
        self.now.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        foot = hbox((self.strip, 1), self.now, margins=(8, 0, 8, 0), spacing=8)
        vbox(self.head, self.bar, (self.middle, 1), foot, parent=self, spacing=0)

    def _connect(self) -> None:
        model, replay = self.model, self.replay
        model.opened.connect(self._on_opened)
        model.row_changed.connect(self._on_row)
        model.detail_loaded.connect(replay.fill)
        model.next_changed.connect(self._on_next)
        model.takeover_changed.connect(self._show_account)
        model.changed.connect(self._show_status)
        self.frames.arrived.connect(self._on_picture)
        replay.changed.connect(self._show_page)
        self.strip.step_wanted.connect(replay.go)
        self.canvas.size_changed.connect(self._request_pictures)
        self.canvas.keys_changed.connect(self._show_status)
        self.hands.refused.connect(model.notice)
        self.card.closed.connect(self.close_card)
        self.bar.left.connect(self.take_focus)
        self.pointing.changed.connect(self._on_pointing)
        self.canvas.pointed.connect(self._on_pointer)
        self.canvas.picked.connect(self._on_picked)
        self.now.clicked.connect(replay.live)
        self._center.keys_changed.connect(self._give_focus)
        self._give_focus()

    def _bind(self) -> None:
        replay, bind = self.replay, self._center.bind
        bind("live.replay.back", replay.back, lambda: bool(self.model.run))
        bind("live.replay.on", replay.on, lambda: replay.index is not None)
        bind("live.replay.live", replay.live, lambda: replay.index is not None)
        bind("live.numbers", self._toggle_numbers, lambda: self.pointing.shows_numbers or self._can_point)
        bind("live.prompts", self.toggle_prompts, lambda: bool(self.model.run))

    # ------------------------------------------------------------ what the perspective asks
    @property
    def has_control(self) -> bool:
        """Whether the live page is shown and under the operator's control."""
        row = self.model.row_of(self.model.run)
        taken = row is not None and row.state.value == "taken over"
        here = taken and self.model.handing_back != self.model.run
        return here and self.replay.index is None and not self.model.lost

    def take_focus(self) -> None:
        """Give the keyboard to a page that is taken over."""
        self.replay.live()
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave(self) -> bool:
        """Go back one level: from the prompts, the takeover summary, a past step; False when there is none."""
        if self.shows_prompts:
            if not self.prompts.leave():
                self.toggle_prompts()
            return True
        if self.card.isVisible():
            self.close_card()
            return True
        if self.replay.index is not None:
            self.replay.live()
            return True
        return False

    def close_card(self) -> None:
        self._read = self.model.takeover
        self.card.hide()

    def close_pictures(self) -> None:
        """Wait for pictures being decoded."""
        self.replay.close()
        self.prompts.model.close()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the card over the lower part of the picture."""
        super().resizeEvent(event)
        self._place_card()

    @property
    def shows_prompts(self) -> bool:
        """Whether the prompts stand in place of the page."""
        return self.middle.currentWidget() is self.prompts

    def toggle_prompts(self) -> None:
        """Show the prompts of the newest step, or of the one that is looked at; or the page again."""
        shown = not self.shows_prompts
        self.middle.setCurrentIndex(int(shown))
        self.prompts.model.watch(shown)
        if shown:
            self.prompts.take_focus()
        elif self.has_control:
            self.take_focus()
        self._center.refresh()

    # ------------------------------------------------------------ pointing
    @property
    def _can_point(self) -> bool:
        return self.pointing.is_held and not self.model.lost

    def _toggle_numbers(self) -> None:
        self._show_live_page()
        self.pointing.toggle_numbers()

    def _show_live_page(self) -> None:
        """Show the page as it is now: its elements are pointed at there."""
        if self.shows_prompts:
            self.toggle_prompts()
        self.replay.live()

    def _on_pointing(self) -> None:
        pointing, now = self.pointing, self.replay.index is None
        if pointing.is_editing and not self._edits:
            self._show_live_page()
            now = True
        self._edits = pointing.is_editing
        self.canvas.overlay = self.points if now else None
        self.canvas.point(pointing.is_active and now, picks=pointing.is_editing and now)
        self._show_target()

    def _on_pointer(self, place: QPointF | None) -> None:
        geometry = self.canvas.page_geometry
        self.points.pointer = place
        if place is None or not geometry.rect.contains(place):
            self.pointing.hover_none()
        else:
            self.pointing.hover(*geometry.page_place(place))
        self.canvas.update()

    def _on_picked(self, place: QPointF) -> None:
        geometry = self.canvas.page_geometry
        if geometry.rect.contains(place):
            self.pointing.pick_at(*geometry.page_place(place))

    # ------------------------------------------------------------ following the run
    def _on_opened(self, run: str) -> None:
        self._capture(on=False)
        self.replay.open(run)
        self._read = self._planned = self._agent_at = None
        QTimer.singleShot(0, self, self._request_pictures)  # after the layout
        self._show_account()
        self._show_page()

    def _on_row(self, row: object) -> None:
        current = self.model.row_of(self.model.run)
        if current is None or row is not current:
            return
        self.replay.grow(current)
        self._follow_prompts()
        self._show_status()
        if self.replay.index is None:
            self.head.show_address(current.url)

    def _on_next(self) -> None:
        done, self._planned = self._planned, self.model.next
        if done is not None and done.point is not None and done != self._planned:
            self._agent_at, self._agent_on = done.point, done.url
            if self.replay.index is None:
                self._show_live()
        self._show_target()

    def _on_picture(self, run: str) -> None:
        if run == self.model.run and self.replay.index is None:
            self._show_live()
        self.pointing.on_picture(run)

    def _request_pictures(self) -> None:
        room = self.canvas.wanted
        self.frames.enlarge(self.model.run, room, self.devicePixelRatioF())
        self.model.subscriptions.set_page(self.model.run, room.width(), room.height())

    def _give_focus(self) -> None:
        self.canvas.set_release_keys(self.bar.keys)
        title, key = self._center.title("live.replay.live"), self._center.keys("live.replay.live")
        self.now.setText(self.tr("Now   {0}").format(key))
        self.now.setToolTip(title)
        self.now.setAccessibleName(title)

    # ------------------------------------------------------------ showing
    def _show_page(self) -> None:
        """Show the live page, or the step being viewed."""
        index = self.replay.index
        self.now.setEnabled(index is not None)
        if index is None:
            self.strip.selectionModel().clear()
            self.faces.setCurrentWidget(self.canvas)
            self._show_live()
        else:
            self.strip.mark(index)
            self._show_past_step()
        self._show_status()
        self._on_pointing()
        self._follow_prompts()
        self._center.refresh()

    def _follow_prompts(self) -> None:
        """Follow the newest step, unless an older one is looked at."""
        index, newest = self.replay.index, self.replay.last
        step = newest if index is None else index
        row = self.model.row_of(self.model.run)
        follows = index is None and row is not None and row.state.alive
        self.prompts.model.show(self.model.run, -1 if step is None else step, newest=follows)

    def _show_live(self) -> None:
        picture = self.frames.get(self.model.run)
        row = self.model.row_of(self.model.run)
        over = row is not None and not row.state.alive
        kept = self.replay.last_image if over and not self._fills(picture) else None
        if kept is not None:
            self.canvas.show_picture(kept, (kept.width(), kept.height()))
        elif picture is not None:
            pointer = picture.pointer or (None if self.has_control else self._agent_pointer(picture))
            self.canvas.show_picture(picture.image, picture.page, pointer)
        else:
            self.canvas.show_picture(None)
        address = (picture.url if picture is not None else "") or (row.url if row else "")
        self.head.show_address(address)
        self.bar.show_address(address)

    def _agent_pointer(self, picture: PageImage) -> tuple[float, float] | None:
        """Return the agent's last pointer position; it is meaningless on another page."""
        there = not (picture.url and self._agent_on) or same_page(picture.url, self._agent_on)
        return self._agent_at if there else None

    def _fills(self, picture: PageImage | None) -> bool:
        """Whether the picture is large enough to be read, not just a tile's."""
        if picture is None:
            return False
        place = DisplayArea(self.canvas.wanted, self.devicePixelRatioF())
        return picture.image.width() >= MIN_READABLE_SHARE * drawn_size(QSize(*picture.page), place).width()

    def _show_past_step(self) -> None:
        view = self.replay.view
        self.head.show_address(view.before.url if view is not None else "")
        if view is None or not view.before.screenshot:
            self.canvas.show_picture(None)
            if view is not None and view.before.lines:
                self._page.show(view.before)
                self.faces.setCurrentWidget(self.lines)
            else:
                self.faces.setCurrentWidget(self.canvas)
            return
        image = self.replay.pictures.get(view.before.screenshot)
        self.faces.setCurrentWidget(self.canvas)
        if image is None:
            self.canvas.show_picture(None)
        else:
            self.canvas.show_picture(image, (image.width(), image.height()))

    def _show_status(self) -> None:
        """Show the state over the page, the message under it, and who has the keyboard."""
        past, row = self.replay.mark, self.model.row_of(self.model.run)
        face, in_hand = page_status(row, self.model.lost), self.has_control
        self._capture(on=in_hand)
        if past is not None:
            self.head.show_words(self.tr("past step {0}").format(past.index), "muted", past.words)
            self.canvas.show_status(dim=False, placeholder=self._placeholder())
            return
        if self.model.lost:
            self.head.show_words(self.tr("engine lost"), "fail", face.says)
        elif in_hand:
            self.head.show_words(self.tr("you have control"), "accent", self._keyboard_hint())
        elif row is not None:
            self.head.show_row(row, face.says)
        self.canvas.show_status(dim=not face.is_now, placeholder=face.placeholder)
        self._show_target()

    def _capture(self, *, on: bool) -> None:
        if on == self.canvas.is_capturing:
            return
        if on:
            self.hands.hold(self.model.run)
        self.bar.show_in_hand(on)
        self.canvas.capture(on)
        if not on:
            self.hands.hold("")

    def _placeholder(self) -> str:
        view = self.replay.view
        if self.replay.error:
            return self.replay.error
        if view is None:
            return ""
        return self.replay.pictures.failed.get(view.before.screenshot, view.before.missing)

    def _keyboard_hint(self) -> str:
        back = self._center.keys("live.release")
        if self.canvas.inputs.composing:
            return self.tr("Composing: {0}").format(self.canvas.inputs.composing)
        if self.canvas.has_keys:
            return self.tr("Mouse and keyboard go to the page. {0} hands it back.").format(back)
        take = self._center.keys("live.take_over")
        return self.tr(
            "The keyboard is with the window. Click the page or press {0} to type in the page."
        ).format(take)

    def _show_target(self) -> None:
        self.canvas.show_target(self._target())

    def _target(self) -> TargetBox | None:
        view, mark = self.replay.view, self.replay.mark
        if mark is not None:
            box = view.before.target_box if view is not None else None
            return (
                TargetBox(words=mark.words, box=box) if view is not None and view.before.screenshot else None
            )
        if self.pointing.is_editing or self.pointing.hovered is not None:
            return self._pointed_target()
        planned = self.model.next
        row = self.model.row_of(self.model.run)
        if planned is None or self.has_control or not page_status(row, self.model.lost).is_now:
            return None
        return TargetBox(
            words=planned.words,
            tag=planned.risk.value if planned.risk.level else "",
            role=RISK_ROLES[planned.risk.level],
            box=self._box_now(planned),
            point=planned.point,
        )

    def _box_now(self, planned: PlannedAction) -> tuple[float, float, float, float] | None:
        """Return where the target is now, as far as that is known."""
        target = self.pointing.at(planned.element)
        return target.box if target is not None else planned.box

    def _pointed_target(self) -> TargetBox | None:
        """Return the chosen element, or the one under the pointer."""
        pointing = self.pointing
        target = pointing.target if pointing.hovered is None else pointing.at(pointing.hovered)
        if target is None:
            return None
        words = f"{target.number}  {target_words(target)}"
        if target.number == pointing.chosen and pointing.call:
            words = f"{words} · {call_label(pointing.call)}"
        return TargetBox(words=words, box=target.box)

    def _show_account(self) -> None:
        account = self.model.takeover
        if account is None or account == self._read:
            self.card.hide()
            return
        self._center.refresh()
        self.card.show_account(account)
        self._place_card()
        self.card.show()
        self.card.raise_()

    def _place_card(self) -> None:
        place = self.faces.geometry()
        width = min(place.width() - 24, self._theme.px(640))
        height = min(self.card.heightForWidth(width), place.height() - 16)
        height = height if height > 0 else self.card.sizeHint().height()
        left = place.left() + (place.width() - width) // 2
        self.card.setGeometry(left, place.bottom() - height - 8, width, height)
