"""The scout's skills in the order in which they are asked."""

from __future__ import annotations

from app.engine.agent.scout.appearance import ClickLooks
from app.engine.agent.scout.choosing import Choose, Order
from app.engine.agent.scout.clicking import ClickNamed
from app.engine.agent.scout.conditions import Classify, Extremes, Guess, Pause, Until
from app.engine.agent.scout.copying import CopyPaste
from app.engine.agent.scout.dates import Dates
from app.engine.agent.scout.describing import Describe, PickColour
from app.engine.agent.scout.dragging import DragThings, Sliders
from app.engine.agent.scout.drawing import AtPoints
from app.engine.agent.scout.forms import ChooseFields, FillForm, Suggestion
from app.engine.agent.scout.marking import Highlight, HoverOver, ScrollPart, Style
from app.engine.agent.scout.messages import Message
from app.engine.agent.scout.results import AddThings, NthResult
from app.engine.agent.scout.revealing import Reveal
from app.engine.agent.scout.rows import ActInRow
from app.engine.agent.scout.skill import Skill
from app.engine.agent.scout.submitting import Submit
from app.engine.agent.scout.typing_in import Focus, TypeInto
from app.engine.agent.scout.uncovering import Uncover


def standard() -> list[Skill]:
    """All skills there are."""
    return [
        Uncover(), Suggestion(), Dates(), Sliders(), Classify(), Guess(), ChooseFields(), Choose(), PickColour(),
        CopyPaste(), TypeInto(), Focus(), FillForm(), Order(), Message(), ActInRow(), AddThings(), DragThings(),
        AtPoints(), NthResult(), Extremes(), Until(), Describe(), Pause(), ScrollPart(), Highlight(), Style(),
        HoverOver(), ClickLooks(), Submit(), ClickNamed(), Reveal(),
    ]  # fmt: skip
