"""The policy of a run with its companions: the scout, or a model behind an endpoint with its roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from app.engine.agent.model.role_model import RoleModel
from app.engine.agent.navigator import StateCandidate, best_candidate
from app.engine.api.run_api import RoleUsage, RunRequest
from app.engine.core.cost import Cost, cost_of
from app.engine.core.learnings import LearnedWays, SeenLearning, page_learning
from app.engine.core.model_api import AgentRole
from app.engine.services.core import Core, on_store
from app.engine.services.learnings import site_of
from app.errors import UsageError
from app.model_keys import model_key

if TYPE_CHECKING:
    from app.engine.agent.llm.prompting import Fence
    from app.engine.agent.model.limits import Heartbeat, Meter
    from app.engine.agent.ports import MarkResolver
    from app.engine.agent.scout.policy import ScoutPolicy
    from app.engine.agent.secrets import Secrets
    from app.engine.agent.vision.prefetch import Spawn
    from app.engine.agent.vision.vision_client import VisionClient
    from app.engine.browser.session import BrowserSession
    from app.engine.core.model_api import LanguageModel
    from app.engine.core.observation import Policy
    from app.engine.services.prompts import RunPrompts
    from app.settings import Settings


class PolicyBundle:
    """A policy and what comes with it; the scout has no model, no marks and uses no tokens.

    ``heartbeat`` holds the signs of life of the model, where there is one.  ``candidates`` is how many states its
    selector chooses from; 0 for as many as a person does.
    """

    candidates = 0
    marks: MarkResolver | None = None
    model_name = ""
    heartbeat: Heartbeat | None = None
    meter: Meter | None = None
    """Counter of the use of the model, with its budget."""
    judge: LanguageModel | None = None
    """The model that is asked about steps while the run goes on."""
    fence: Fence | None = None
    """The fence of the run's prompts, where its policy has one."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def attach(self, session: BrowserSession, spawn: Spawn) -> None:
        """Take the run's browser before the first step; ``spawn`` starts background work."""

    def take_ways(self, ways: LearnedWays) -> None:
        """Take what earlier runs learned, before the browser."""

    def learned(self) -> tuple[SeenLearning, ...]:
        """Return what the policy learned of pages in this run."""
        return ()

    async def choose(self, query: str, intent: str, candidates: Sequence[StateCandidate]) -> int | None:
        """Return the best candidate state, by the words it shares with the query."""
        return best_candidate(query, intent, candidates)

    def exchanges(self) -> dict[str, bytes]:
        """Return the exchanges with a model since the last call, by digest."""
        return {}

    def usage(self) -> tuple[RoleUsage, ...]:
        """Return the usage of each role."""
        return ()

    def cost(self) -> Cost | None:
        """Return the cost so far; ``None`` without a model."""
        return None

    def tokens(self) -> int:
        """Return the tokens of all roles so far, in and out."""
        return sum(used.tokens_in + used.tokens_out for used in self.usage())

    async def aclose(self) -> None:
        """Close the policy."""
        await self.policy.aclose()


class ModelPolicyBundle(PolicyBundle):
    """A language model in all roles, with ``vision`` also a vision model.  Every exchange is stored with the run."""

    def __init__(self, core: Core, request: RunRequest, secrets: Secrets, given: RunPrompts) -> None:
        """Open the model; nothing is sent yet.

        Raises:
            ModelError: no endpoint is set.  UsageError: a budget of money, and a price that is not known.
        """
        from app import settings
        from app.engine.agent.llm.prompting import Fence
        from app.engine.agent.llm.selector import MOST_CANDIDATES, Selector
        from app.engine.agent.model.client import open_model
        from app.engine.agent.model.limits import Heartbeat, Meter
        from app.engine.agent.model.recording_model import BlobBuffer

        self._core, self._request = core, request
        self._actions = given.actions
        self._shelf = BlobBuffer()
        chosen = settings_of_run(settings.load(), request)
        self.model_name = chosen.model_name
        self.heartbeat, self.meter = Heartbeat(), Meter()
        self._model: LanguageModel = open_model(
            chosen,
            model_key(url=chosen.model_url),
            sink=self._shelf,
            mask=secrets.mask,
            heartbeat=self.heartbeat,
            meter=self.meter,
        )
        self.fence = self._fence = Fence(mask=secrets.mask, prompts=given.prompts)
        self._selector = Selector(
            self._model, self._fence, self._pictures if request.llm.pictures != "off" else None
        )
        self.candidates = MOST_CANDIDATES
        self.judge = self._model if request.is_judged else None
        larger = chosen.roles.get(AgentRole.LARGER_VISION)
        self._larger = (
            RoleModel(self._model, AgentRole.LARGER_VISION) if larger is not None and larger.model else None
        )
        self._ways = LearnedWays()
        self._vision: VisionClient | None = None
        super().__init__(self._policy())

    def attach(self, session: BrowserSession, spawn: Spawn) -> None:
        """Rebuild the policy with vision on this page, where the request asks for it."""
        if not self._request.vision:
            return
        from app.engine.agent.vision.vision_cache import VisionCache
        from app.engine.agent.vision.vision_client import VisionClient
        from app.engine.browser.capture.hit_testing import elements_at

        async def elements_under(page: Any, points: Any) -> Any:
            return await elements_at(session, page, points)

        self._vision = VisionClient(
            self._model, self._larger, fence=self._fence, known=self._ways.needs_larger_vision
        )
        vision = VisionCache(self._vision, spawn=spawn, under=elements_under)
        self.marks = vision
        self.policy = self._policy(vision)

    def take_ways(self, ways: LearnedWays) -> None:
        """Take the pages that need the larger vision model."""
        self._ways = ways

    def learned(self) -> tuple[SeenLearning, ...]:
        """Return the pages that only the larger vision model read whole."""
        read = self._vision.read_by_larger if self._vision is not None else {}
        return tuple(
            page_learning(url, number, partial(site_of, self._core)) for number, url in sorted(read.items())
        )

    def _policy(self, vision: Any = None) -> Policy:
        from app.engine.agent.llm.llm_policy import LlmPolicy
        from app.engine.agent.llm.options import LlmOptions
        from app.engine.core.actions.action_sets import calls_of
        from app.engine.core.actions.types import AskHuman

        offered = frozenset(self._actions.calls)
        if not self._request.supervised:
            offered -= calls_of(AskHuman)
        chosen = self._request.llm
        options = LlmOptions(
            offered=offered,
            pictures=chosen.pictures,
            marks=chosen.marks,
            picture_side=chosen.picture_side,
            picture_detail="" if chosen.picture_detail == "auto" else chosen.picture_detail,
        )
        return LlmPolicy(self._model, options=options, vision=vision, fence=self._fence)

    async def choose(self, query: str, intent: str, candidates: Sequence[StateCandidate]) -> int | None:
        """Return the candidate state that the model selects."""
        return await self._selector.choose(query, intent, candidates)

    def exchanges(self) -> dict[str, bytes]:
        """Return the exchanges with the model since the last call, by digest."""
        return self._shelf.take()

    def usage(self) -> tuple[RoleUsage, ...]:
        """Return the usage of each role."""
        return usage_by_role(self._model)

    def cost(self) -> Cost:
        """Return the cost of all roles so far."""
        return cost_of(self._model.usage().values())

    @on_store
    def _pictures(self, digests: Sequence[str]) -> dict[str, bytes]:
        read = self._core.workspace.runs.read_blob
        return {digest: read(digest) for digest in digests}


class ScoutBundle(PolicyBundle):
    """The scout, which chooses among a map's states by the part of the task it is at."""

    def __init__(self, policy: ScoutPolicy) -> None:
        super().__init__(policy)
        self._scout = policy

    async def choose(self, query: str, intent: str, candidates: Sequence[StateCandidate]) -> int | None:
        """Return the candidate state that shows most of the task and more than the page in front."""
        return self._scout.choose_state(candidates)


class JudgedScoutBundle(ScoutBundle):
    """The scout, with a model that judges its steps; its exchanges are stored with the run."""

    def __init__(self, policy: ScoutPolicy, request: RunRequest, secrets: Secrets) -> None:
        """Open the model; nothing is sent yet.  Raises as ``ModelPolicyBundle``."""
        from app import settings
        from app.engine.agent.model.client import open_model
        from app.engine.agent.model.limits import Meter
        from app.engine.agent.model.recording_model import BlobBuffer

        super().__init__(policy)
        self._shelf = BlobBuffer()
        chosen = settings_of_run(settings.load(), request)
        self.meter = Meter()
        self._model = open_model(
            chosen,
            model_key(url=chosen.model_url),
            sink=self._shelf,
            mask=secrets.mask,
            meter=self.meter,
        )
        self.judge = self._model

    def exchanges(self) -> dict[str, bytes]:
        """Return the exchanges with the model since the last call, by digest."""
        return self._shelf.take()

    def usage(self) -> tuple[RoleUsage, ...]:
        """Return the usage of the judge."""
        return usage_by_role(self._model)

    def cost(self) -> Cost:
        """Return the cost of the judge so far."""
        return cost_of(self._model.usage().values())

    async def aclose(self) -> None:
        """Close policy and model."""
        await super().aclose()
        await self._model.aclose()


def run_budget(request: RunRequest) -> tuple[float, int]:
    """Return the budget in force for a run, in US dollars and tokens; 0 for none, and where it asks no model."""
    if request.policy != "llm" and not request.is_judged:
        return 0.0, 0
    from app import settings

    chosen = settings_of_run(settings.load(), request)
    return chosen.run_money, chosen.run_tokens


def check_model(request: RunRequest) -> None:
    """Check that the model a run would ask can be asked; reads the key, which may be in a slow keyring.

    Raises:
        ModelError: no endpoint is set.  UsageError: a budget of money, and a price that is not known.
    """
    if request.policy != "llm" and not request.is_judged:
        return
    from app import settings
    from app.engine.agent.model.client import check_model_settings

    chosen = settings_of_run(settings.load(), request)
    check_model_settings(chosen, model_key(url=chosen.model_url))


def settings_of_run(chosen: Settings, request: RunRequest) -> Settings:
    """Return the settings with the model and the budgets of a run."""
    from app.engine.agent.model.role_choices import with_main_model

    return replace(
        with_main_model(chosen, request.model),
        run_seconds=request.max_seconds or chosen.run_seconds,
        run_tokens=request.max_tokens or chosen.run_tokens,
        run_money=request.max_money or chosen.run_money,
    )


def usage_by_role(model: LanguageModel) -> tuple[RoleUsage, ...]:
    """Return the usage of each role of a model."""
    return tuple(
        RoleUsage(
            role=role.value,
            calls=used.calls,
            tokens_in=used.tokens_in,
            tokens_out=used.tokens_out,
            cached=used.cached,
            seconds=round(used.seconds, 2),
            retries=used.retries,
            money=None if used.money is None else round(used.money, 6),
            model=used.model,
        )
        for role, used in model.usage().items()
        if used.calls
    )


def make_policy_bundle(
    core: Core, request: RunRequest, secrets: Secrets, given: RunPrompts | None
) -> PolicyBundle:
    """Return the policy that a request asks for; ``given`` are the prompts and actions of a model's.

    Raises:
        UsageError: there is no such policy.
        ModelError: it, or the judge that is asked for, needs a model and none is set.
    """
    if request.policy == "scout":
        from app.engine.agent.scout.policy import ScoutPolicy

        scout = ScoutPolicy()
        return JudgedScoutBundle(scout, request, secrets) if request.is_judged else ScoutBundle(scout)
    if given is not None:
        return ModelPolicyBundle(core, request, secrets, given)
    raise UsageError(f"there is no policy {request.policy!r}", remedy="use scout or llm")
