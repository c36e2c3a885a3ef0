"""A BrowserGym episode whose observations have the tips of a frozen file.

    python browsergym_tips.py shop.akb "How much is the cheapest kettle?" https://shop.example/

Needs: pip install browsergym-core sitelore-kb
"""

from __future__ import annotations

import os
import sys

import browsergym.core  # noqa: F401  registers browsergym/openended
import gymnasium

from kb import open_frozen
from kb.adapters.browsergym import TipsObservation


def act(observation: dict) -> str:
    """Return the next action; an agent's model is asked here, with ``observation["tips"]`` in its prompt."""
    return "send_msg_to_user('that is all this example does')"


def main(file: str, goal: str, start: str) -> None:
    with open_frozen(file) as kb:
        chromium = os.environ.get("CHROMIUM")  # instead of the one that `playwright install` downloads
        env = TipsObservation(
            gymnasium.make(
                "browsergym/openended",
                task_kwargs={"start_url": start, "goal": goal},
                headless=True,
                pw_chromium_kwargs={"executable_path": chromium} if chromium else {},
            ),
            kb,
        )
        observation, _ = env.reset()
        print(observation["goal_object"][-1]["text"])
        observation, *_ = env.step(act(observation))
        for one in env.tips.given:
            print(f"step {one.step}: {', '.join(one.tips) or 'no tips'} at {one.url}")
        env.close()


if __name__ == "__main__":
    main(*sys.argv[1:4])
