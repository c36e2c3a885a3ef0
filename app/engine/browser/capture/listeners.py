"""Ask the browser which events page scripts listen to; an isolated world can't see a page's listeners.

The query runs in the page's world, where the listeners live, in V8's mode without side effects and
with the browser's own helpers, so that the page neither sees nor is changed by it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, cast

from playwright.async_api import Error

from app.assets import resource
from app.engine.browser.capture.frames import IsolatedWorld

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

    Frames that share the process of their parent frame, and shadow roots, can't be queried.
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
