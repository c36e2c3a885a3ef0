"""Arms that leave one tip out each, to measure what that tip is worth."""

from __future__ import annotations

from pathlib import Path

from app import settings
from app.engine.api.evaluation_api import EvaluationRequest
from app.engine.api.run_api import WITHOUT_KNOWLEDGE
from app.engine.core.evaluation.episode import Arm
from app.errors import NotFound, UsageError
from kb.errors import NoSuchTip
from kb.freeze import verify
from kb.frozen import FrozenKnowledgeBase
from kb.leave_out import leave_each_out

EACH = "each"
"""Stands for every tip of the file."""


def left_out_arms(request: EvaluationRequest) -> tuple[Arm, ...]:
    """Return an arm for each tip of ``request.leave_out``; its file is in the cache, with the same bytes each time.

    Raises:
        UsageError: there is no knowledge base to leave a tip out of.  NotFound: it has no such tip.
        BadFile: the file can't be read.
    """
    if not request.leave_out:
        return ()
    if request.kb == WITHOUT_KNOWLEDGE:
        raise UsageError("there is no knowledge base to leave a tip out of", remedy="name one with --kb FILE")
    path = Path(request.kb).expanduser().absolute()
    with FrozenKnowledgeBase.open(path) as frozen:
        known = [tip.id for tip in frozen.tips()]
    wanted = list(dict.fromkeys(known if EACH in request.leave_out else request.leave_out))
    folder = settings.cache_dir() / "left-out" / verify(path).sha256[:16]
    try:
        files = leave_each_out(path, wanted, folder)
    except NoSuchTip as error:
        raise NotFound(f"{path.name}: {error}") from error
    return tuple(Arm(name=f"without {tip}", kb=report.path) for tip, report in files.items())
