"""Cost of an agent's step besides browser and model: state, tips, decision, ledger, record.

    python -m benchmarks.agent_overhead

A real run in real Chromium on a page of so many elements, with the workspace's stores and disk waits, tips of which
eight are found at every step, and the rule detectors.  The scout is one policy; the other is the LLM policy with a
model whose answers take no time.  Medians over the steps of a run, beside the time of action and capture in the same
run.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from app.engine.agent.llm.llm_policy import LlmPolicy
from app.engine.agent.loop import AgentLoop
from app.engine.agent.scout.policy import ScoutPolicy
from app.engine.api.run_api import RunRequest
from app.engine.core.model_api import AgentRole
from app.engine.core.observation import Policy
from app.engine.engine import Engine
from app.engine.services import agent_runs
from app.engine.services.policy_factory import PolicyBundle
from benchmarks.snapshot import page
from kb.tip import Kind, Scope, Status, TipDraft
from tests.support.scripted_model import Question, ScriptedModel
from tests.support.shop_brain import plan

SIZES = (500, 2000, 5000)
STEPS = 12
TIPS = 200
BUDGET = {500: 40.0}
"""Target in milliseconds."""


def scout() -> Policy:
    """Without a model."""
    return ScoutPolicy()


def modelled() -> Policy:
    """With a model that answers at once and clicks the first buttons in turn."""

    def brain(question: Question) -> str:
        match question.role:
            case AgentRole.PLANNER:
                return plan()
            case AgentRole.OPERATOR:
                number = 13 + 4 * (len(question.messages) % 10)
                return f'<think>The next one.</think><action>\nhover("{number}")\n</action>'
            case _:
                return "{}"

    return LlmPolicy(ScriptedModel(brain))


async def serve(size: int) -> tuple[asyncio.Server, str]:
    """One page for every address."""
    body = page(size).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


async def one(size: int, make: Callable[[], Policy], folder: Path) -> tuple[list[float], float]:
    """Own seconds of each step of a run, and the mean of action and capture."""
    loops: list[AgentLoop] = []

    class Kept(AgentLoop):
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__(*args, **kwargs)  # type: ignore[arg-type]
            loops.append(self)

    server, url = await serve(size)
    engine = await Engine.open(folder)
    agent_runs.make_policy_bundle = lambda *_: PolicyBundle(make())  # type: ignore[assignment]
    agent_runs.AgentLoop = Kept  # type: ignore[misc]
    try:
        await engine.load_encoder(allow_export=False)
        await _write_tips(engine, url)
        wanted = ", then ".join(f'hover over "Thing number {number}"' for number in range(STEPS))
        request = RunRequest(intent=f"First {wanted}.", start_url=url, max_steps=STEPS, site="things")
        await engine.run_task(request)
    finally:
        agent_runs.AgentLoop = AgentLoop  # type: ignore[misc]
        await engine.aclose()
        server.close()
    timing = loops[0].timing
    return timing.own, (timing.look + timing.act) / max(1, len(timing.own))


async def _write_tips(engine: Engine, url: str) -> None:
    host = url.split("/")[2]
    ids: list[str] = []
    for number in range(TIPS):
        scope = Scope(host=host, path="/" if number < 8 else f"/page/{number}")
        text = (
            f"The list number {number} is sorted by name; press Add to basket only after choosing the pieces."
        )
        draft = TipDraft(site="things", scope=scope, kind=Kind.OPERATION, text=text)
        ids.append((await engine.save_tip(draft)).id)
    await engine.set_status(ids, Status.ACTIVE)


async def measure() -> None:
    """Print the table."""
    print(f"own cost of a step, {TIPS} tips, medians (of {STEPS} steps at most)")
    for name, make in (("scout", scout), ("model", modelled)):
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                own, look = await one(size, make, Path(folder) / "workspace")
            median = statistics.median(own) * 1000
            asked = f", asked {BUDGET[size]:.0f}" if size in BUDGET else ""
            print(
                f"{name} at {size:5} elements: {median:6.1f} ms{asked}; {median / look / 1000:.2f} x hand and look"
                f" ({look * 1000:.0f} ms); {len(own)} steps, slowest {max(own) * 1000:.0f} ms"
            )


def main() -> None:
    """See the module."""
    asyncio.run(measure())


if __name__ == "__main__":
    main()
