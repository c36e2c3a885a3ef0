"""Discovery velocity: new states a minute at each depth (WebNavigator, section 4.2, figure 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.engine.api.graph_api import DepthRow


def seconds_by_depth(found: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Seconds spent on each depth, by the (depth, Unix seconds) of each state found; for an exploration that was
    killed.

    A depth's time runs from the last find of the depth before to its own last one.
    """
    last: dict[int, float] = {}
    for depth, at in found:
        last[depth] = max(last.get(depth, at), at)
    return {depth: max(0.0, at - last[depth - 1]) for depth, at in last.items() if depth - 1 in last}


def depth_rows(depths: Iterable[int], seconds: Mapping[int, float]) -> tuple[DepthRow, ...]:
    """One row for each depth: V_d = (N_d - N_{d-1}) / (T_d - T_{d-1}), with N the states known up to a depth and T
    the time when it was completed.

    Args:
        depths: depth of each known state.
        seconds: seconds spent on finding the states of each depth.
    """
    count: dict[int, int] = {}
    for depth in depths:
        count[depth] = count.get(depth, 0) + 1
    rows: list[DepthRow] = []
    known = 0
    for depth in range(max(count, default=-1) + 1):
        new, spent = count.get(depth, 0), seconds.get(depth, 0.0)
        known += new
        rows.append(
            DepthRow(
                depth=depth,
                states=known,
                new=new,
                seconds=round(spent, 3),
                velocity=round(60.0 * new / spent, 2) if spent > 0 else 0.0,
            )
        )
    return tuple(rows)
