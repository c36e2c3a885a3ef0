"""Made-up differences of tasks that go together by template, with a known mean."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def clustered(
    rng: np.random.Generator,
    clusters: int,
    *,
    truth: float = 0.05,
    discordance: float = 0.2,
    whole: float = 0.7,
) -> tuple[NDArray[np.float64], list[str]]:
    """Return differences of tasks with their templates of 1 to 8 tasks.

    ``discordance`` of the tasks end otherwise, more of them well, so that the mean is ``truth``; a task does as its
    template with the chance ``whole``.
    """
    chances = [(discordance + truth) / 2, (discordance - truth) / 2, 1 - discordance]
    sizes = rng.integers(1, 9, size=clusters)
    of_template = np.repeat(rng.choice([1, -1, 0], p=chances, size=clusters), sizes)
    own = rng.choice([1, -1, 0], p=chances, size=len(of_template))
    values = np.where(rng.random(len(own)) < whole, of_template, own)
    names = np.repeat([f"t{number:04}" for number in range(clusters)], sizes)
    return values.astype(np.float64), names.tolist()
