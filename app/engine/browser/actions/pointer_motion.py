"""How a hand moves: paths along a curve with a speed that rises and falls (SuperBrowser, section 6.4, algorithm 6).

Some pages only take what moves; nothing here hides what the agent is.  Every path comes from a seeded generator, so
that a run can be repeated.  Pure.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Literal

Point = tuple[float, float]
Waypoint = tuple[float, float, float]
"""Left, top, and seconds to rest there."""

STEP = 12.0
"""Pixels between two points of a path, about."""
FEWEST = 12
PLAIN_STEPS = 10
"""Moves of a plain drag: enough for a page to see it begin and go on."""


def drag_path(start: Point, end: Point) -> list[Waypoint]:
    """A straight drag without pauses: a short move first, which begins it."""
    fractions = [0.02, *[step / PLAIN_STEPS for step in range(1, PLAIN_STEPS + 1)]]
    return [
        (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part, 0.0)
        for part in fractions
    ]


class PointerMotion:
    """Paths and pauses from one seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def to(self, start: Point, end: Point) -> list[Waypoint]:
        """A path to a click: eased in and out, a little off its goal, wobbling at the end."""
        goal = (end[0] + self._random.gauss(0, 2), end[1] + self._random.gauss(0, 2))
        path = self._curve(start, goal, _sine, _sine_speed)
        for _ in range(self._random.choice((2, 3))):
            path.append(
                (
                    goal[0] + self._random.gauss(0, 1.2),
                    goal[1] + self._random.gauss(0, 1.2),
                    self._random.uniform(0.008, 0.018),
                )
            )
        return path

    def dragging(self, start: Point, end: Point) -> list[Waypoint]:
        """A path with something in the hand: slower towards its end, with short stops, exactly to the goal."""
        path = self._curve(start, end, _logistic, _logistic_speed)
        return [
            (x, y, pause + (self._random.uniform(0.04, 0.12) if self._random.random() < 0.05 else 0.0))
            for x, y, pause in path
        ]

    def pause(self, what: Literal["before", "held"]) -> float:
        """Seconds before the button goes down, and while it is held."""
        mean, spread = (0.100, 0.050) if what == "before" else (0.090, 0.025)
        return min(0.3, max(0.01, self._random.gauss(mean, spread)))

    def typing(self, text: str) -> Iterator[tuple[str, float]]:
        """Each character with the pause after it; longer ones after words."""
        for character in text:
            pause = self._random.uniform(0.03, 0.12)
            if character in " .,;:!?":
                pause += self._random.uniform(0.03, 0.12)
                if self._random.random() < 0.1:
                    pause += self._random.uniform(0.2, 0.6)
            yield character, pause

    def _curve(
        self, start: Point, end: Point, ease: Callable[[float], float], speed: Callable[[float], float]
    ) -> list[Waypoint]:
        dx, dy = end[0] - start[0], end[1] - start[1]
        distance = math.hypot(dx, dy)
        if distance < 1:
            return []
        count = max(math.ceil(distance / STEP), FEWEST)
        seconds = min(0.8, max(0.1, distance * 0.0018))
        across = (-dy / distance, dx / distance)
        bends = [
            (self._random.uniform(*span), self._random.gauss(0, 0.12 * distance))
            for span in ((0.25, 0.40), (0.60, 0.80))
        ]
        first, second = (
            (start[0] + along * dx + off * across[0], start[1] + along * dy + off * across[1])
            for along, off in bends
        )
        path: list[Waypoint] = []
        for step in range(1, count + 1):
            at = ease(step / count)
            x, y = (_bezier(at, start[axis], first[axis], second[axis], end[axis]) for axis in (0, 1))
            pause = seconds / count * (1 + 0.4 * (1 - speed(step / count))) + self._random.uniform(0, 0.005)
            path.append((x, y, pause))
        return path


def _bezier(at: float, a: float, b: float, c: float, d: float) -> float:
    back = 1 - at
    return back**3 * a + 3 * back**2 * at * b + 3 * back * at**2 * c + at**3 * d


def _sine(at: float) -> float:
    return (1 - math.cos(math.pi * at)) / 2


def _sine_speed(at: float) -> float:
    return math.pi / 2 * math.sin(math.pi * at)


_ENDS = 1 / (1 + math.exp(4.0))


def _logistic(at: float) -> float:
    """From 0 to 1 exactly; the plain logistic curve leaves 1.8 % at either end."""
    return (1 / (1 + math.exp(-8 * (at - 0.5))) - _ENDS) / (1 - 2 * _ENDS)


def _logistic_speed(at: float) -> float:
    value = 1 / (1 + math.exp(-8 * (at - 0.5)))
    return 8 * value * (1 - value) / (1 - 2 * _ENDS)
