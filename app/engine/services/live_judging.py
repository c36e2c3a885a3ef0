"""The live judge of a run: the model's opinion while it goes on, stored like one given afterwards."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING

from app.engine.agent.judging.live_judge import LiveJudge
from app.engine.agent.judging.when_to_ask import JudgeLimits
from app.engine.agent.llm.prompting import Fence
from app.engine.services.prompts import prompts_in_force

if TYPE_CHECKING:
    from app.engine.agent.secrets import Secrets
    from app.engine.api.run_api import RunRequest
    from app.engine.core.verdicts import Opinion
    from app.engine.services.core import Core
    from app.engine.services.policy_factory import PolicyBundle
    from app.engine.store.run_writer import RunWriter


async def open_live_judge(
    core: Core, live: RunWriter, request: RunRequest, bundle: PolicyBundle, secrets: Secrets
) -> LiveJudge | None:
    """Return the live judge of a run, ``None`` where no model is to be asked; a resumed run continues its budget."""
    if bundle.judge is None:
        return None
    workspace = core.workspace
    fence = bundle.fence
    if fence is None:
        fence = Fence(mask=secrets.mask, prompts=await core.on_store(prompts_in_force, workspace))
    known = await core.on_store(workspace.review.opinions, live.run.id)

    def load(digest: str) -> Awaitable[bytes]:
        return core.on_store(workspace.runs.read_blob, digest)

    def keep(opinion: Opinion) -> Awaitable[None]:
        return core.on_store(workspace.review.add_opinion, opinion)

    return LiveJudge(
        live.run,
        live.steps,
        bundle.judge,
        load=load,
        keep=keep,
        hold=core.registry.hold,
        limits=JudgeLimits(calls=request.llm.judge_calls, every=request.llm.judge_every),
        known=known.get(live.run.id),
        fence=fence,
    )
