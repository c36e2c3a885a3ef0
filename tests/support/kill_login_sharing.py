"""Three runs wait at a log-in, one is logged in by hand, and the process kills itself between keeping that log-in and
giving it: ``python -m tests.support.kill_login_sharing WORKSPACE ADDRESS``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from app.engine.api.run_api import RunRequest
from app.engine.services import agent_runs
from app.engine.services.supervision.login_sharing import LoginSharing
from tests.support.live_hands import key, typed
from tests.support.login_site import PASSWORD, USER
from tests.support.operator_driver import Operator
from tests.support.order_reader import reading


async def die(*_: Any) -> bool:
    """In the place of giving a run the log-in."""
    os.kill(os.getpid(), signal.SIGKILL)
    return False


async def main(workspace: Path, url: str) -> None:
    operator = await Operator.at(workspace)
    request = RunRequest(intent="Read the newest order", start_url=url, site="shop", kb="none", max_steps=8)
    runs = await operator.start(*[request] * 3, at_once=3)
    for run in runs:
        await operator.asked(run)
    engine = operator.engine
    await engine.take_over(runs[0])
    for inputs in (typed(USER), key("Tab"), typed(PASSWORD), key("Enter", text="\r")):
        await engine.send_input(runs[0], inputs)
    page: Any = engine._fleet.get(runs[0]).page.browser
    await page.session.page.get_by_text("Ready.").wait_for()
    await engine.release(runs[0])
    await asyncio.sleep(60)


if __name__ == "__main__":
    agent_runs.make_policy_bundle = reading  # type: ignore[assignment]
    LoginSharing._give = die  # type: ignore[method-assign]
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
