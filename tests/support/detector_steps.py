"""Short constructors of a made-up run for detectors."""

from __future__ import annotations

from collections.abc import Sequence

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.trajectory import ErrorClass, Step
from app.engine.core.verdicts import Flag
from app.engine.detectors.base import Detector, RunContext, RunEnding
from app.engine.detectors.runner import RuleRunner

SHOP = "http://shop.test:7770"


def action(kind: str, **args: str | int) -> RecordedAction:
    return RecordedAction(kind=kind, args=dict(args))


def click(name: str, role: str = "button", bid: str = "7") -> dict[str, object]:
    return {"action": action("click", bid=bid), "target": ActionTarget(role=role, name=name, bid=bid)}


def goto(url: str) -> dict[str, object]:
    return {"action": action("goto", url=url)}


def step(index: int, page: str = "", state: str | None = None, **fields: object) -> Step:
    """Return a step on ``page`` (a path); each step has its own content unless ``state`` is given."""
    given = {
        "url": SHOP + page,
        "title": "Shop",
        "tree": "t",
        "state": f"state {index}" if state is None else state,
        "action": action("scroll", delta_x=0, delta_y=1),
        "target": None,
    }
    return Step(index=index, **{**given, **fields})  # type: ignore[arg-type]


def failed(error: str, **fields: object) -> dict[str, object]:
    return {"error": error, "error_class": ErrorClass.HARD, **fields}


def flags_of(
    detector: type[Detector],
    steps: Sequence[Step],
    *,
    final: Step | None = None,
    ending: RunEnding | None = None,
    **context: object,
) -> list[Flag]:
    """Return one detector's flags of a run."""
    watch = RuleRunner(RunContext(run="r", **context), [detector])  # type: ignore[arg-type]
    flags = [flag for one in steps for flag in watch.see(one)]
    flags += watch.see_last(final) if final else []
    return flags + (watch.end(ending) if ending else [])


def messages(*args: object, **named: object) -> list[str]:
    return [flag.message for flag in flags_of(*args, **named)]  # type: ignore[arg-type]
