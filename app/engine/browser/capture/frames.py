"""Frames of a page, each read in an isolated world, where page scripts neither see nor change anything.

A frame from another site lives in another process and is reached by a connection of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

from playwright.async_api import CDPSession, Error, Frame, Page

from app.assets import resource
from app.engine.browser.session import BrowserSession

WORLD = "sitelore"
PARTS = ("snapshot_names.js", "snapshot_facts.js", "snapshot_places.js", "snapshot_looks.js", "snapshot.js")


class NoSuchElement(Exception):
    """No element of this number is on the page."""


@dataclass(frozen=True, slots=True)
class IsolatedWorld:
    """The isolated world in which our script runs in one frame.

    ``owner`` is the frame element's number in the capture of ``parent``; the page itself has no parent,
    and its ``document`` identifies what is loaded in it (``document_of``).
    """

    wire: CDPSession
    frame_id: str
    context: int
    parent: IsolatedWorld | None = None
    owner: int = -1
    document: str = ""

    async def call(self, expression: str, *, by_value: bool = True) -> Any:
        """Evaluate an expression in this world; with ``by_value=False`` return the DevTools object id, "" for null.

        Raises ``playwright.async_api.Error`` when the frame is gone, ``RuntimeError`` when the expression throws.
        """
        answer = await _ask(
            self.wire,
            "Runtime.evaluate",
            expression=expression,
            contextId=self.context,
            returnByValue=by_value,
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(str(details.get("exception", {}).get("description", details.get("text", ""))))
        result = answer["result"]
        return result.get("value") if by_value else result.get("objectId", "")


@cache
def script() -> str:
    """Return the script for every frame, as one expression that defines ``sitelore`` in its world."""
    parts = [resource("js", part).read_text(encoding="utf-8") for part in PARTS]
    return "\n".join(('(() => { "use strict";', *parts, "})()"))


IGNORE_PRESSES = "globalThis.siteloreInput?.arm(false)"
"""Expression by which a frame leaves its presses, and lists of choices, to the browser."""


async def main_world(session: BrowserSession) -> IsolatedWorld:
    """Return our world in the page in front.

    Raises ``playwright.async_api.Error`` when the page is gone or being replaced.
    """
    wire = await session.wire()
    frame = (await _ask(wire, "Page.getFrameTree"))["frameTree"]["frame"]
    world = await _world(wire, frame["id"])
    return replace(world, document=frame.get("loaderId", ""))


async def document_of(session: BrowserSession) -> str:
    """Return the id of the document in front; another page, or the same reloaded, has another id."""
    tree = await _ask(await session.wire(), "Page.getFrameTree")
    return str(tree["frameTree"]["frame"].get("loaderId", ""))


class FrameTree:
    """Access to the frames below a page, for one capture."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._elsewhere: dict[str, CDPSession] | None = None

    async def below(self, parent: IsolatedWorld, owner: int) -> IsolatedWorld:
        """Return our world in the frame that the ``owner``-th frame element of ``parent`` shows.

        Raises ``playwright.async_api.Error`` when it can't be read.
        """
        object_id = await parent.call(f"sitelore.frame({owner})", by_value=False)
        described = await _ask(parent.wire, "DOM.describeNode", objectId=object_id)
        frame_id = described["node"].get("frameId", "")
        try:
            return await _world(parent.wire, frame_id, parent, owner)
        except Error:
            wire = (await self._other_processes()).get(frame_id)
            if wire is None:
                raise
            return await _world(wire, frame_id, parent, owner)

    async def _other_processes(self) -> dict[str, CDPSession]:
        """Return connections to frames that live in processes of their own, by frame id."""
        if self._elsewhere is None:
            self._elsewhere = {}
            for frame in self._page.frames[1:]:
                try:
                    wire = await self._page.context.new_cdp_session(frame)
                    tree = await _ask(wire, "Page.getFrameTree")
                except Error:  # it shares its parent's process
                    continue
                self._elsewhere[tree["frameTree"]["frame"]["id"]] = wire
        return self._elsewhere


async def frame_of(session: BrowserSession, world: IsolatedWorld) -> Frame | None:
    """Return Playwright's name for a frame; ``None`` when it is gone."""
    if world.parent is None:
        return session.page.main_frame
    handle = await object_handle(session, world.parent, f"sitelore.frame({world.owner})")
    return await handle.content_frame() if handle is not None else None


_KEY = "Symbol.for('sitelore.target')"


async def object_handle(session: BrowserSession, world: IsolatedWorld, expression: str) -> Any:
    """Return Playwright's handle of the element that an expression in a world names, ``None`` if it is gone.

    It passes through a property of the frame's ``window`` for a moment, under a name that no script comes across.
    """
    object_id = await world.call(expression, by_value=False)
    if not object_id:
        return None
    described = await _ask(world.wire, "DOM.describeNode", objectId=object_id)
    found = await _ask(world.wire, "DOM.resolveNode", backendNodeId=described["node"]["backendNodeId"])
    put = f"function () {{ window[{_KEY}] = this.isConnected && this.nodeType === 1 ? this : null; }}"
    await _ask(
        world.wire,
        "Runtime.callFunctionOn",
        objectId=found["object"]["objectId"],
        functionDeclaration=put,
    )
    frame = await frame_of(session, world)
    if frame is None:
        return None
    fetch = f"() => {{ const found = window[{_KEY}]; delete window[{_KEY}]; return found; }}"
    return (await frame.evaluate_handle(fetch)).as_element()


async def _world(
    wire: CDPSession, frame_id: str, parent: IsolatedWorld | None = None, owner: int = -1
) -> IsolatedWorld:
    made = await _ask(wire, "Page.createIsolatedWorld", frameId=frame_id, worldName=WORLD)
    return IsolatedWorld(wire, frame_id, made["executionContextId"], parent, owner)


async def _ask(wire: CDPSession, method: str, **parameters: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", await wire.send(method, parameters))


TIMEOUT = 400
"""Milliseconds the query may take; a page too long for it is captured without its listeners."""
ANSWER_FORMAT = re.compile(r"\d+;(?:\d+:[cphd]+,)*")
NO_LISTENERS = ""
"""The answer for a frame that can't be queried; no element count equals it, so no listener is assumed."""

_KINDS = {
    "click": "c", "dblclick": "c", "mouseup": "c", "pointerup": "c", "touchend": "c", "contextmenu": "c",
    "mousedown": "p", "pointerdown": "p", "touchstart": "p", "dragstart": "p",
    "mouseover": "h", "mouseenter": "h", "mousemove": "h", "pointerover": "h", "pointerenter": "h", "pointermove": "h",
    "drop": "d",
}  # fmt: skip


async def listeners_in(world: IsolatedWorld) -> str:
    """Return ``count;index:kinds,...`` for the elements with listeners, in document order; "" if unknown.

    An isolated world can't see a page's listeners, so the query runs in the page's own, in V8's mode without side
    effects and with the browser's helpers: the page neither sees nor is changed by it.  Frames that share the process
    of their parent frame, and shadow roots, can't be queried.
    """
    if world.parent is not None and world.parent.wire is world.wire:
        return NO_LISTENERS
    question = {
        "expression": _question(),
        "includeCommandLineAPI": True,
        "throwOnSideEffect": True,
        "returnByValue": True,
        "timeout": TIMEOUT,
    }
    try:
        answer = cast("dict[str, Any]", await world.wire.send("Runtime.evaluate", question))
    except Error:  # it took too long, or the frame is gone: the capture itself will show
        return NO_LISTENERS
    said = answer["result"].get("value")
    # The page may have replaced the helpers, so the answer is validated like any input.
    return said if isinstance(said, str) and ANSWER_FORMAT.fullmatch(said) else NO_LISTENERS


@cache
def _question() -> str:
    """Return the query. It calls nothing that a page can replace undetected: no methods, no iterators."""
    found = re.search(r'HEARABLE =\s*"([^"]+)"', resource("js", "snapshot_looks.js").read_text("utf-8"))
    assert found is not None
    cases = "".join(f'case "{name}": heard += "{kind}"; break; ' for name, kind in _KINDS.items())
    return f"""(() => {{
        const all = $$("{found[1]}");
        let said = all.length + ";";
        for (let at = 0; at < all.length; at++) {{
            let heard = "";
            for (const name in getEventListeners(all[at])) switch (name) {{ {cases} }}
            if (heard) said += at + ":" + heard + ",";
        }}
        return said;
    }})()"""
