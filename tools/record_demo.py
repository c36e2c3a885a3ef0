"""Records the bundled demo runs: ``python -m tools.record_demo OUT``.

Needs ports 7801 to 7803 and a browser; every run gets a shop in its initial state and a browser context of its own.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from urllib.parse import urlsplit

from app.demo.server import DemoServer
from app.engine.browser.session import open_browser, open_session
from app.engine.store.run_files import write_run_folder
from tools import demo_scripts as scripts
from tools.run_recorder import RecordedRun, Script, ScriptError, record_run

PORT = 7801
"""Of the shop; the admin part and a maker's site follow.  Fixed, as ``resources/sites.json`` names sites by them."""
NOTE = "made by a script on the demo shop, to have something to look at; no agent's work"

USAGE = "usage: python -m tools.record_demo OUT"


async def record_attempt(
    attempt: scripts.ScriptedAttempt, setting: str = "", port: int = PORT
) -> RecordedRun:
    """Play one attempt in a fresh browser on a fresh shop.

    Raises:
        ScriptError: script and site no longer fit, or the attempt passed where it should fail, or the reverse.
        OSError: a port is taken.
        NoBrowser: no browser can be started.
    """
    task = attempt.task
    async with (
        await DemoServer.start(port) as server,
        open_browser(setting) as browser,
        open_session(browser, keep_tabs=True) as tab,
    ):
        start = scripts.start_url(server, task)
        script = Script(
            run=f"demo-{task.id}-{attempt.name}",
            task=task.id,
            site=task.site,
            intent=task.intent,
            start_url=start,
            hosts=frozenset({urlsplit(start).netloc}),
            moves=attempt.moves,
            step_limit=scripts.STEP_LIMIT,
            before=scripts.SIGN_IN if task.site == scripts.ADMIN else (),
        )

        def check(answer: str | None) -> float:
            return float(task.done(server.state, answer or ""))

        recording = await record_run(tab, script, check, source="demo", suite="demo", note=NOTE)
    if (recording.run.score == 1) is not attempt.passes:
        raise ScriptError(f"{script.run} scored {recording.run.score}, which is not what it shows")
    return recording


async def record_all(out: Path) -> list[RecordedRun]:
    """Record every attempt into a folder of its own under ``out``."""
    recordings: list[RecordedRun] = []
    for attempt in scripts.ATTEMPTS:
        recording = await record_attempt(attempt)
        await asyncio.to_thread(
            write_run_folder, out / recording.run.id, recording.run, recording.steps, recording.blobs
        )
        recordings.append(recording)
    return recordings


def main(arguments: list[str]) -> int:
    """Record all attempts and print the result."""
    if len(arguments) != 1:
        sys.stderr.write(USAGE + "\n")
        return 2
    recordings = asyncio.run(record_all(Path(arguments[0])))
    for recording in recordings:
        run = recording.run
        sys.stdout.write(f"{run.id}: {run.step_count} steps, {run.outcome.value}, score {run.score}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
