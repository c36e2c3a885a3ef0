"""A browser-use agent with the tips of a frozen file.

    python browser_use_tips.py shop.akb "How much is the cheapest kettle?" https://shop.example/

The endpoint is that of OPENAI_API_KEY and, where it is another one, OPENAI_BASE_URL; OPENAI_MODEL names the model.
Needs: pip install browser-use sitelore-kb
"""

from __future__ import annotations

import asyncio
import os
import sys

from browser_use import Agent, Browser, ChatOpenAI

from kb import open_frozen
from kb.adapters.browser_use import give_tips


async def main(file: str, task: str, start: str) -> None:
    browser = Browser(
        headless=True,
        executable_path=os.environ.get("CHROMIUM"),
        chromium_sandbox="NO_SANDBOX" not in os.environ,
        enable_default_extensions=False,
    )
    llm = ChatOpenAI(
        model=os.environ.get("OPENAI_MODEL", "gpt-5-mini"), base_url=os.environ.get("OPENAI_BASE_URL")
    )
    with open_frozen(file) as kb:
        agent = Agent(
            task=task,
            llm=llm,
            browser=browser,
            initial_actions=[{"navigate": {"url": start, "new_tab": False}}],
        )
        given = give_tips(agent, kb)
        history = await agent.run(max_steps=20)
    print("answer:", history.final_result())
    for one in given.given:
        print(f"step {one.step}: {', '.join(one.tips) or 'no tips'} at {one.url}")
    history.save_to_file("history.json")  # sitelore import history.json


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
