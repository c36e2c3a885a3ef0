"""Pictures of the page for planner and operator: the screenshot with the numbers of the tree's elements drawn on it.

(ColorBrowserAgent, section 4.1: Set-of-Marks and accessibility tree together.)  A picture is sent when the page looks
different from the one sent last; an endpoint that takes none is asked once, and the run goes on without.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
from dataclasses import dataclass, replace
from typing import Literal

from app.engine.agent.vision.page_look import PageLook, look_changed, look_of
from app.engine.agent.vision.set_of_marks import draw_marks
from app.engine.core.actions.types import Action, ClickAt, Drag, Point
from app.engine.core.chat_messages import MessagePart, PartKind
from app.engine.core.model_api import AgentRole
from app.engine.core.page_state import PageCapture

PictureMode = Literal["auto", "off", "changed", "always"]
"""When a picture is sent; ``auto`` is ``changed`` as long as the endpoint takes pictures."""


_SHOWN_TO = {AgentRole.PLANNER, AgentRole.OPERATOR}


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPicture:
    """A picture as it is sent.

    Attributes:
        digest: SHA-256 of its bytes.  data: a JPEG.
        size: width and height in pixels.
        scale: CSS pixels of the page for one pixel of the picture.
        step: the step it was taken at.
        detail: detail that the endpoint is asked to read it with.
        new: it was not sent at an earlier step.
    """

    digest: str
    data: bytes
    size: tuple[int, int]
    scale: float
    step: int
    detail: str = ""
    new: bool = True

    @property
    def part(self) -> MessagePart:
        """The picture as a part of a message."""
        words = f"Picture of the page at step {self.step}, {self.size[0]} x {self.size[1]} points:"
        return MessagePart(kind=PartKind.IMAGE, text=words, digest=self.digest, detail=self.detail)

    @property
    def holds(self) -> str:
        """Words in place of the picture at a later step; "" where it is new."""
        return "" if self.new else f"The picture of step {self.step} still shows the page."

    def on_page(self, action: Action) -> Action:
        """Return an action with its points in CSS pixels of the page; one without points is unchanged.

        Raises:
            ValueError: a point lies outside of the picture; the message says so to the model.
        """
        match action:
            case ClickAt(at=at):
                return replace(action, at=self._page_point(at))
            case Drag(source=source, target=target):
                ends = [end if isinstance(end, int) else self._page_point(end) for end in (source, target)]
                return replace(action, source=ends[0], target=ends[1])
            case _:
                return action

    def _page_point(self, point: Point) -> Point:
        x, y = point
        if not (0 <= x < self.size[0] and 0 <= y < self.size[1]):
            size = f"{self.size[0]} x {self.size[1]} points"
            raise ValueError(f"the point ({x:g}, {y:g}) lies outside of the picture, which has {size}")
        return (x * self.scale, y * self.scale)


class PagePictures:
    """The pictures of one run.

    Attributes:
        now: picture of the page in front; ``None`` where none is sent.
        refused: roles whose model takes no pictures.
    """

    def __init__(self, mode: PictureMode, side: int, detail: str = "") -> None:
        self._mode, self._side, self._detail = mode, max(0, side), detail
        self._look: PageLook | None = None
        self._last: MarkedPicture | None = None
        self.now: MarkedPicture | None = None
        self.refused: set[AgentRole] = set()

    def for_role(self, role: AgentRole) -> MarkedPicture | None:
        """Return the picture to show to a role."""
        return None if role in self.refused else self.now

    async def take(self, page: PageCapture, step: int) -> None:
        """Make the picture of the page in front, or find that an earlier one still shows it."""
        self.now = None
        if self._mode == "off" or not page.picture or self.refused >= _SHOWN_TO:
            return
        try:
            look = await asyncio.to_thread(look_of, page)
            if self._mode != "always" and self._look is not None and not look_changed(look, self._look):
                self.now = self._last = replace(self._last, new=False) if self._last is not None else None
                return
            drawn = await asyncio.to_thread(_drawn, page, step, self._side)
            self._last = self.now = replace(drawn, detail=self._detail)
            self._look = look
        except OSError:
            return  # a damaged screenshot: this step has the tree alone


def picture_digest(data: bytes) -> str:
    """Return the digest by which a request and the run's contents name a picture."""
    return hashlib.sha256(data).hexdigest()


def _drawn(page: PageCapture, step: int, side: int) -> MarkedPicture:
    from PIL import Image

    data = draw_marks(page, side=side)
    with Image.open(io.BytesIO(data)) as image:
        size = image.size
    scale = page.viewport[0] / size[0] if page.viewport[0] else 1.0
    return MarkedPicture(digest=picture_digest(data), data=data, size=size, scale=scale, step=step)
