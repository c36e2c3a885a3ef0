"""Search over the states of an interaction graph: late interaction, dense, keyword, and by screenshot."""

from app.engine.graph.search.late import Match
from app.engine.graph.search.state_search import DENSE, KEYWORD, LATE, METHODS, SearchHit, StateSearch
from app.engine.graph.search.state_text import StateText, state_text

__all__ = [
    "DENSE",
    "KEYWORD",
    "LATE",
    "METHODS",
    "Match",
    "SearchHit",
    "StateSearch",
    "StateText",
    "state_text",
]
