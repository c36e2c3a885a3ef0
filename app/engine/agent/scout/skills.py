"""The scout's skills in the order in which they are asked."""

from __future__ import annotations

from app.engine.agent.scout.clicking import ClickNamed
from app.engine.agent.scout.skill import Skill
from app.engine.agent.scout.typing_in import TypeInto


def standard() -> list[Skill]:
    """All skills there are."""
    return [TypeInto(), ClickNamed()]
