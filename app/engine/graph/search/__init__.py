"""Search over the states of an interaction graph: late interaction, dense, keyword, and by screenshot."""

from app.engine.graph.search.late_interaction import TokenMatch
from app.engine.graph.search.state_search import DENSE, KEYWORD, LATE, METHODS, StateHit, StateSearch
from app.engine.graph.search.state_text import StateText, state_text

__all__ = [
    "DENSE",
    "KEYWORD",
    "LATE",
    "METHODS",
    "StateHit",
    "StateSearch",
    "StateText",
    "TokenMatch",
    "state_text",
]
