"""browser-use: the tips for the page in front are a message of every step.

    from browser_use import Agent
    from kb import open_frozen
    from kb.adapters.browser_use import give_tips

    agent = Agent(task="…", llm=llm)
    given = give_tips(agent, open_frozen("shop.akb"))
    await agent.run()
    print(given.given)

The message is one of the kind in which browser-use sends its own warnings (about a loop, about the last step): it holds
for one step and is gone at the next, so that the tips of a page that was left do not pile up. Tried with browser-use
0.13.14.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from kb.adapters.step_tips import StepTips
from kb.errors import KbError
from kb.knowledge import FrozenKnowledge

_NEEDS = "this browser-use can't be given tips by step (tried: 0.13.14); give them with extend_system_message instead"


def give_tips(agent: Any, knowledge: FrozenKnowledge, *, most: int | None = None) -> StepTips:
    """Let an agent have the tips for its page and task at every step; return what it is given, as it goes.

    Args:
        agent: a ``browser_use.Agent`` that has not run yet.
        most: tips of a step at most; None: as many as the file's token budget allows.

    Raises:
        KbError: this version of browser-use has no place for them.
    """
    prepare: Callable[..., Awaitable[Any]] | None = getattr(agent, "_prepare_context", None)
    add = getattr(getattr(agent, "_message_manager", None), "_add_context_message", None)
    if prepare is None or add is None:
        raise KbError(_NEEDS)
    message = import_module("browser_use.llm.messages").UserMessage
    tips = StepTips(knowledge, lambda: str(agent.task), most)

    async def prepare_with_tips(*arguments: Any, **named: Any) -> Any:
        state = await prepare(*arguments, **named)
        found = tips.at(str(getattr(state, "url", "") or ""), page_text(state))
        if found is not None and found.block:
            add(message(content=found.block))
        return state

    agent._prepare_context = prepare_with_tips
    return tips


def page_text(state: Any) -> str | None:
    """Return the page of a browser state as browser-use shows it to its model; None where it can't be read."""
    read = getattr(getattr(state, "dom_state", None), "llm_representation", None)
    text = read() if callable(read) else None
    title = str(getattr(state, "title", "") or "")
    return f"# {title}\n{text}" if isinstance(text, str) else None
