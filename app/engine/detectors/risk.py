"""Risk of a run: how likely it failed, from its flags and its length; orders the queue.

A logistic model that starts from the detectors' priors and is fitted to people's verdicts, staying near the prior
until they outweigh it (maximum a posteriori, independent normal priors). Values are calibrated by a line through the
log odds, fitted on verdicts the weights had not seen; it rises, so it never changes the order of a queue.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import orjson

from app.engine.core.addresses import path_template
from app.engine.core.trajectory import Run, Step
from app.engine.core.verdicts import Flag, Risk
from app.engine.detectors.base import DetectorInfo, evidence_start
from app.engine.detectors.runner import ALL_DETECTORS, BY_NAME, evidence_rank, flag_rank
from app.engine.detectors.vlm import ImpossibleTask, RunOutcome
from app.errors import InputError

Vector = npt.NDArray[np.float64]

FORMAT = 1
"""Version of ``to_json``; a reader refuses a newer one."""
INTERCEPT, LENGTH, GOAL_MET = "base", "length", "a model found the goal met"
OFTEN, AT_END = ": often", ": at the end"

MIN_TO_CALIBRATE = 12
"""Verdicts, at least three of each kind among them, below which values are not calibrated."""
FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """A judged run: its features' sources, and whether the agent failed.

    ``decided`` names the detectors that asked a model about the run and got an answer; ``task`` is the run's task, ""
    where unknown.
    """

    run: str
    flags: tuple[Flag, ...]
    steps: int
    usual_steps: float | None
    failed: bool
    decided: frozenset[str] = frozenset()
    task: str = ""


def _feature_priors() -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of every weight by feature name: how far verdicts may move it.

    Without any flag 142 of 597 published runs failed, ``ln(142 / 455)`` = -1.16. Length and a satisfied model are set
    by judgement: failed runs are longer, their median being 15 steps, and models let much pass.
    """
    table = {INTERCEPT: (-1.1, 1.0), LENGTH: (0.6, 0.5), GOAL_MET: (-1.0, 1.0)}
    for detector in ALL_DETECTORS:
        prior = detector.prior
        table[detector.name] = (prior.fired, 1.0)
        table[detector.name + OFTEN] = (prior.often, 0.4)
        table[detector.name + AT_END] = (prior.at_end, 0.4)
    return table


FEATURES = _feature_priors()


def detector_set_hash(
    detectors: Iterable[type[DetectorInfo]], priors: Mapping[str, tuple[float, float]]
) -> str:
    """Return a hash of the detectors' versions and the prior: runs checked by another set are checked again."""
    named = [(known.name, known.version) for known in detectors], dict(priors)
    return hashlib.blake2b(repr(named).encode(), digest_size=8).hexdigest()


DETECTOR_SET_HASH = detector_set_hash(ALL_DETECTORS, FEATURES)
_NAMES = tuple(FEATURES)
_MEANS: Vector = np.array([mean for mean, _ in FEATURES.values()])
_PRECISIONS: Vector = np.array([spread**-2 for _, spread in FEATURES.values()])


def features(
    flags: Iterable[Flag], steps: int, usual_steps: float | None, decided: frozenset[str] = frozenset()
) -> dict[str, float]:
    """Return the evidence of a failure by feature name; an absent feature counts 0.

    ``often`` is 0 for one flag and 1 for four or more; ``length`` is ``ln(steps / usual_steps)`` within +-1.5.
    """
    found = {INTERCEPT: 1.0}
    if usual_steps is not None and usual_steps > 0 and steps > 0:
        found[LENGTH] = min(1.5, max(-1.5, math.log(steps / usual_steps)))
    counts: dict[str, int] = {}
    for flag in flags:
        if flag.detector not in BY_NAME:
            continue
        count = counts[flag.detector] = counts.get(flag.detector, 0) + 1
        found[flag.detector] = 1.0
        found[flag.detector + OFTEN] = (min(count, 4) - 1) / 3
        if flag.step >= steps - 2:
            found[flag.detector + AT_END] = 1.0
    if RunOutcome.name in decided and not {RunOutcome.name, ImpossibleTask.name} & counts.keys():
        found[GOAL_MET] = 1.0
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskModel:
    """Weights in log odds; ``RiskModel()`` is the built-in prior."""

    weights: dict[str, float] = field(
        default_factory=lambda: {name: mean for name, (mean, _) in FEATURES.items()}
    )
    slope: float = 1.0
    offset: float = 0.0
    fitted_on: int = 0

    def value(
        self,
        flags: Iterable[Flag],
        steps: int,
        usual_steps: float | None,
        decided: frozenset[str] = frozenset(),
    ) -> float:
        """Return the chance that the run failed, in [0, 1]."""
        found = features(flags, steps, usual_steps, decided)
        logit = sum(self.weights.get(name, 0.0) * x for name, x in found.items())
        return chance_of(self.slope * logit + self.offset)

    def logit(self, example: JudgedRun) -> float:
        """Return log odds before calibration, by which rankings are compared."""
        found = features(example.flags, example.steps, example.usual_steps, example.decided)
        return sum(self.weights.get(name, 0.0) * x for name, x in found.items())

    def assess(
        self,
        run: str,
        flags: Sequence[Flag],
        steps: int,
        usual_steps: float | None,
        decided: frozenset[str] = frozenset(),
        *,
        suspect: int = 0,
    ) -> Risk:
        """Return the risk of a run of ``steps`` executed steps, with the reasons; ``suspect`` is its suspect step."""
        found = features(flags, steps, usual_steps, decided)
        worth = {name: self._worth(name, found) for name in {flag.detector for flag in flags}}
        ranked = sorted(flags, key=lambda flag: (-worth[flag.detector], flag_rank(flag)))
        reasons = list(dict.fromkeys(_strongest(flags, flag.detector).message for flag in ranked))[:3]
        longer = found.get(LENGTH, 0.0)
        if longer >= math.log(1.5) and usual_steps is not None and "far-longer" not in worth:
            reasons.append(f"Took {steps} steps, {usual_steps:g} are usual here")
        return Risk(
            run=run,
            value=self.value(flags, steps, usual_steps, decided),
            suspect_step=suspect,
            reasons=tuple(reasons[:3]),
        )

    def _worth(self, detector: str, found: dict[str, float]) -> float:
        names = (detector, detector + OFTEN, detector + AT_END)
        return sum(self.weights.get(name, 0.0) * found.get(name, 0.0) for name in names)

    def to_json(self) -> str:
        """Return the model as text; ``from_json`` reads it."""
        document = {
            "format": FORMAT,
            "fitted_on": self.fitted_on,
            "slope": self.slope,
            "offset": self.offset,
            "detectors": {name: detector.version for name, detector in BY_NAME.items()},
            "weights": self.weights,
        }
        return orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2).decode()

    @staticmethod
    def from_json(text: str | bytes) -> RiskModel:
        """Read a stored model; weights of a detector that has changed since fall back to the prior.

        Raises:
            InputError: the text is no risk model, or one of a newer format.
        """
        return _read(text)


def fit(examples: Sequence[JudgedRun], *, calibrated: bool = True) -> RiskModel:
    """Fit the model to these verdicts; the same examples in any order give the same model.

    A run that is named twice counts once, by its last example. Without calibration the order is the same.
    """
    judged = sorted({example.run: example for example in examples}.values(), key=lambda example: example.run)
    if not judged:
        return RiskModel()
    design = np.array([_row(example) for example in judged])
    failed = np.array([float(example.failed) for example in judged])
    seen = np.array(design.any(axis=0))  # a weight without any verdict stays exactly at its prior
    weights = _MEANS.copy()
    weights[seen] = _newton(design[:, seen], failed, _MEANS[seen], _PRECISIONS[seen])
    slope, offset = 1.0, 0.0
    if calibrated:
        folds = np.array([fold_of(example) for example in judged])
        slope, offset = _calibrate(design[:, seen], failed, folds, seen)
    return RiskModel(
        weights=dict(zip(_NAMES, weights.tolist(), strict=True)),
        slope=slope,
        offset=offset,
        fitted_on=len(judged),
    )


def fold_of(example: JudgedRun, split: int = 0) -> int:
    """Return the cross-validation fold of a run: the same for all runs of a task; another for each split."""
    name = example.task or example.run
    if split:
        name = f"{split}:{name}"
    return hashlib.blake2b(name.encode(), digest_size=1).digest()[0] % FOLDS


def _row(example: JudgedRun) -> list[float]:
    found = features(example.flags, example.steps, example.usual_steps, example.decided)
    return [found.get(name, 0.0) for name in _NAMES]


def _newton(design: Vector, failed: Vector, mean: Vector, precision: Vector) -> Vector:
    """Return the weights of the highest posterior; the loss is strictly convex, so halved Newton steps always converge.

    Sums use ``einsum``, which is single-threaded: a pool of BLAS threads takes ten times as long on a busy machine, and
    rounds differently on each.
    """

    def logits_of(weights: Vector) -> Vector:
        return _sum("ni,i->n", design, weights)

    def loss(weights: Vector) -> float:
        logits = logits_of(weights)
        misfit = (np.logaddexp(0.0, logits) - failed * logits).sum()
        return float(misfit + 0.5 * (precision * (weights - mean) ** 2).sum())

    weights, best = mean.copy(), loss(mean)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(logits_of(weights), -35, 35)))
        gradient = _sum("ni,n->i", design, chance - failed) + precision * (weights - mean)
        spread = design * (chance * (1 - chance))[:, None]
        curvature = _sum("ni,nj->ij", spread, design) + np.diag(precision)
        step = np.linalg.solve(curvature, gradient)
        if float((gradient * step).sum()) < 1e-12:
            break
        size, candidate = 1.0, weights - step
        while size > 1e-6 and loss(candidate) > best:
            size /= 2
            candidate = weights - size * step
        weights, best = candidate, loss(candidate)
    return weights


def _sum(subscripts: str, *arrays: Vector) -> Vector:
    summed: Any = np.einsum(subscripts, *arrays)
    return cast("Vector", summed)


def _calibrate(
    design: Vector, failed: Vector, folds: npt.NDArray[np.int_], seen: npt.NDArray[np.bool_]
) -> tuple[float, float]:
    """Return slope and offset over log odds that were predicted for runs the weights had not seen."""
    if not _can_calibrate(failed):
        return 1.0, 0.0
    logits = np.zeros(len(failed))
    for fold in range(FOLDS):
        held = folds == fold
        weights = _newton(design[~held], failed[~held], _MEANS[seen], _PRECISIONS[seen])
        logits[held] = _sum("ni,i->n", design[held], weights)
    return _rising_line(logits, failed)


def rising_line(logits: Sequence[float], failed: Sequence[bool]) -> tuple[float, float]:
    """Return slope and offset that calibrate held-out log odds; 1 and 0 with too few verdicts."""
    known = np.array(failed, dtype=float)
    return _rising_line(np.array(logits), known) if _can_calibrate(known) else (1.0, 0.0)


def _can_calibrate(failed: Vector) -> bool:
    return len(failed) >= MIN_TO_CALIBRATE and min(failed.sum(), len(failed) - failed.sum()) >= 3


def _rising_line(logits: Vector, failed: Vector) -> tuple[float, float]:
    line = _newton(
        np.stack([logits, np.ones_like(logits)], axis=1), failed, np.array([1.0, 0.0]), np.array([4.0, 4.0])
    )
    return max(0.1, float(line[0])), float(line[1])


def _strongest(flags: Sequence[Flag], detector: str) -> Flag:
    return max(
        (flag for flag in flags if flag.detector == detector), key=lambda flag: (flag.confidence, flag.step)
    )


def chance_of(logit: float) -> float:
    """Return the chance that log odds stand for."""
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, logit))))


def _read(text: str | bytes) -> RiskModel:
    try:
        document: Any = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InputError(f"the risk model is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise InputError("the risk model is not a JSON object")
    fields = cast("dict[str, Any]", document)
    version = fields.get("format")
    if not isinstance(version, int) or version < 1:
        raise InputError("the risk model has no format number")
    if version > FORMAT:
        raise InputError(
            f"the risk model has format {version}; this program reads {FORMAT}", remedy="update it"
        )
    stored, versions = fields.get("weights"), fields.get("detectors")
    fitted_on = fields.get("fitted_on")
    if (
        not isinstance(stored, dict)
        or not isinstance(versions, dict)
        or not isinstance(fitted_on, int)
        or fitted_on < 0
    ):
        raise InputError("the risk model lacks its weights, detectors or count of verdicts")
    slope, offset = _number(fields, "slope"), _number(fields, "offset")
    if slope <= 0:
        raise InputError("the risk model's slope is not above 0")
    weights = {name: mean for name, (mean, _) in FEATURES.items()}
    for name in weights:
        detector = BY_NAME.get(name.removesuffix(OFTEN).removesuffix(AT_END))
        current = detector is None or cast("dict[str, Any]", versions).get(detector.name) == detector.version
        if name in stored and current:
            weights[name] = _number(cast("dict[str, Any]", stored), name)
    return RiskModel(weights=weights, slope=slope, offset=offset, fitted_on=fitted_on)


def _number(fields: dict[str, Any], name: str) -> float:
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e6:
        raise InputError(f"the risk model's {name!r} is not a plain number")
    return float(value)


_MAX_SEGMENTS = 6


def cluster_key(run: Run, flags: Sequence[Flag], steps: Sequence[Step]) -> str:
    """Return the cluster key: site, first significant detector and page template.

    It depends on the flags alone and not on fitted weights, so that a cluster keeps its name when verdicts come in.
    """
    ranked = sorted(flags, key=lambda flag: (evidence_rank(flag), flag_rank(flag)))
    detector = ranked[0].detector if ranked else "no flag"
    index = evidence_start(ranked[0]) if ranked else max(0, run.step_count - 1)
    page = next((step for step in steps if step.index == index), steps[-1] if steps else None)
    return " · ".join((run.site or "unknown site", detector, page_template(page.url) if page else "no page"))


def page_template(url: str) -> str:
    """Return an address's path without numbers, hashes and long names; hosts differ between runs of a site."""
    rest = url.partition("://")[2]
    if not rest:
        return url.partition("?")[0][:60]
    path = rest.partition("/")[2].partition("#")[0].partition("?")[0]
    return "/" + "/".join(path_template(path)[:_MAX_SEGMENTS])
