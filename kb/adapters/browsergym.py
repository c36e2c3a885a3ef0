"""BrowserGym and AgentLab: an observation wrapper that adds the tips for the page in front.

    import gymnasium
    from kb import open_frozen
    from kb.adapters.browsergym import TipsObservation

    env = TipsObservation(gymnasium.make("browsergym/openended", …), open_frozen("shop.akb"))
    observation, info = env.reset()
    observation["tips"]            # the block of text, "" where there are none
    observation["goal_object"]     # its last part is the block, which agents print with the goal

It needs no package of its own: it stands before any environment with ``reset`` and ``step``. Tried with browsergym-core
0.13.3; for a study of AgentLab, the guide shows the four lines of an ``EnvArgs`` that makes such environments.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

from kb.adapters.step_tips import StepTips
from kb.knowledge import FrozenKnowledge

Observed = dict[str, Any]


class TipsObservation:
    """An environment whose observations have the tips for their page.

    Args:
        env: the environment; everything else is asked of it.
        most: tips of a step at most; None: as many as the file's token budget allows.
        in_goal: whether the block also is the last part of ``goal_object``; an agent that does not know ``tips`` reads
            it there.
    """

    def __init__(
        self, env: Any, knowledge: FrozenKnowledge, *, most: int | None = None, in_goal: bool = True
    ) -> None:
        self.env, self._in_goal = env, in_goal
        self.tips = StepTips(knowledge, most=most)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    @property
    def unwrapped(self) -> Any:
        """The innermost environment."""
        return self.env.unwrapped

    def reset(self, **named: Any) -> tuple[Observed, dict[str, Any]]:
        """Begin an episode; as gymnasium's."""
        observation, info = self.env.reset(**named)
        return self.observation(observation), info

    def step(self, action: Any) -> tuple[Observed, Any, bool, bool, dict[str, Any]]:
        """Do an action; as gymnasium's."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self.observation(observation), reward, terminated, truncated, info

    def observation(self, observed: Observed) -> Observed:
        """Return an observation with its tips; the one that is given stays as it is."""
        found = self.tips.at(str(observed.get("url") or ""), page_text(observed), goal_text(observed))
        block = found.block if found is not None else ""
        more: Observed = {**observed, "tips": block}
        if block and self._in_goal:
            more["goal_object"] = [*_parts(observed.get("goal_object")), {"type": "text", "text": block}]
        return more


def goal_text(observed: Observed) -> str:
    """Return the goal's text: ``goal``, else the texts of ``goal_object``."""
    goal = observed.get("goal")
    if isinstance(goal, str) and goal.strip():
        return goal
    texts = (part.get("text") for part in _parts(observed.get("goal_object")))
    return "\n".join(text for text in texts if isinstance(text, str))


def page_text(observed: Observed) -> str | None:
    """Return the page's accessibility tree as text, where there is one."""
    text = observed.get("axtree_txt")
    if isinstance(text, str):
        return text
    if observed.get("axtree_object") is None:
        return None
    try:
        flatten = import_module("browsergym.utils.obs").flatten_axtree_to_str
        return str(flatten(observed["axtree_object"]))
    except Exception:  # noqa: BLE001 a page that BrowserGym itself can't print must not end the episode
        return None


def _parts(goal: object) -> list[dict[str, Any]]:
    found = cast("list[object] | tuple[object, ...]", goal) if isinstance(goal, list | tuple) else ()
    return [cast("dict[str, Any]", part) for part in found if isinstance(part, dict)]
