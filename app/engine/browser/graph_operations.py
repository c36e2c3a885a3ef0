"""Operations of the interaction graph, performed by the executor; for exploration and replay."""

from __future__ import annotations

from collections.abc import Callable

from app.engine.browser.actions.pointer_actions import SAME_TAB
from app.engine.browser.executor import Executor, ExecutorOptions
from app.engine.browser.page_loading import LoadResult, open_page
from app.engine.browser.session import BrowserSession
from app.engine.core.action_result import Cause, Effect
from app.engine.core.actions.types import Action, Click, Hover, Press, Select, TypeText
from app.engine.core.page_state import Element
from app.engine.core.transition import Operation

_ACTIONS: dict[Operation, Callable[[int, str], Action]] = {
    Operation.CLICK: lambda number, _: Click(number),
    Operation.HOVER: lambda number, _: Hover(number),
    Operation.SELECT: lambda number, value: Select(number, (value,)),
    Operation.TYPE: TypeText,
    Operation.PRESS: lambda number, value: Press(value, number),
}


def graph_executor(session: BrowserSession) -> Executor:
    """Return an executor that goes anywhere, repeats clicks, and captures pages as the graph identifies them."""
    options = ExecutorOptions(thorough=False, keep_tabs=False, refuse_dead_clicks=False)
    return Executor(session, domains=None, options=options)


async def operate(executor: Executor, element: Element, operation: Operation, value: str = "") -> LoadResult:
    """Perform one operation on an element of the executor's last capture and wait until the page is idle.

    Links that open a window of their own are followed in this tab. ``value`` is the address to open, the label of the
    option to select, the text to type or the key to press. An operation without a visible effect is a success.
    """
    if operation is Operation.OPEN:
        return await open_page(executor.session, value or element.href)
    if operation is Operation.CLICK and element.href and element.target not in SAME_TAB:
        return await open_page(executor.session, element.href)
    result = await executor.do(_ACTIONS[operation](element.index, value))
    if result.effect is Effect.REFUSED or result.cause is Cause.NETWORK:
        error = result.why
    else:
        error = f"the server failed (status {result.status})" if result.status >= 500 else ""
    return LoadResult(error, result.status, result.seconds, result.notes, result.cause)
