"""The scout's skills in the order in which they are asked."""

from __future__ import annotations

from app.engine.agent.scout.choosing import Choose, Order
from app.engine.agent.scout.clicking import ClickNamed
from app.engine.agent.scout.dates import Dates
from app.engine.agent.scout.revealing import Reveal
from app.engine.agent.scout.skill import Skill
from app.engine.agent.scout.submitting import Submit
from app.engine.agent.scout.typing_in import Focus, TypeInto


def standard() -> list[Skill]:
    """All skills there are."""
    return [Dates(), Choose(), TypeInto(), Focus(), Order(), Submit(), ClickNamed(), Reveal()]
