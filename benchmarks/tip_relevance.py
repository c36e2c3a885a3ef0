"""How many of the tips given at a step of a real run are useful, against labels made twice (``data/tip_relevance``).

Useful is a tip both people marked 2; the second table counts those that either did.  The last is with a vote for each
tip at each step of other templates that it was given at: useful or not.  Half "work" is for tuning, "report" only for
the figure that is told: ``python -m benchmarks.tip_relevance [work|report|both]``.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app import settings
from kb.encoder import Encoder, EncoderUnavailable, load_encoder
from kb.gate import error_rules
from kb.retrieval import Retriever
from kb.tip import Query, Status, Tip, TipRecord

DATA = Path(__file__).parent / "data" / "tip_relevance"
HOSTS = {
    "gitlab": ("*:8023",),
    "reddit": ("*:9999",),
    "shopping": ("*:7770",),
    "shopping_admin": ("*:7780",),
    "map": ("www.openstreetmap.org",),
    "wikipedia": ("*:8888",),
}
RESAMPLES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledStep:
    """A step of a run with its page, and the tips each person called useful; ``template`` groups steps of one task."""

    half: str
    template: str
    query: Query
    first: frozenset[str]
    second: frozenset[str]


def tips() -> list[Tip]:
    """The published tips."""
    lines = (DATA / "tips.jsonl").read_text("utf-8").splitlines()
    return [Tip(status=Status.ACTIVE, **json.loads(line)) for line in lines]


def labelled_steps() -> list[LabelledStep]:
    """All labelled steps."""
    found: list[LabelledStep] = []
    for line in (DATA / "steps.jsonl").read_text("utf-8").splitlines():
        step = json.loads(line)
        sites = tuple(step["sites"])
        found.append(
            LabelledStep(
                half=step["half"],
                template=step["template"],
                query=Query(
                    url=step["url"],
                    text=step["goal"],
                    site=sites[0] if len(sites) == 1 else "",
                    sites=sites if len(sites) > 1 else (),
                    title=step["title"],
                    headings=tuple(step["headings"]),
                    controls=tuple(step["controls"]),
                    failure=step["error"],
                ),
                first=frozenset(tip for tip, label in step["first"].items() if label == 2),
                second=frozenset(tip for tip, label in step["second"].items() if label == 2),
            )
        )
    return found


def encoder() -> Encoder | None:
    """The encoder, if this machine has it."""
    try:
        return load_encoder(settings.cache_dir() / "encoder")
    except EncoderUnavailable as error:
        print(f"no encoder ({error}): words alone")
        return None


def withheld(tip: Tip) -> str:
    """Why the product withholds a tip."""
    return ", ".join(error_rules(tip))


@dataclass(frozen=True, slots=True)
class _Outcome:
    template: str
    given: tuple[str, ...]
    useful: frozenset[str]


def _figures(outcomes: Sequence[_Outcome]) -> tuple[float, ...]:
    said = [one for one in outcomes if one.given]
    hits = sum(tip in one.useful for one in outcomes for tip in one.given)
    first = sum(one.given[0] in one.useful for one in said)
    worth = sum(bool(one.useful) for one in outcomes)
    return (
        first / max(1, len(said)),
        sum(bool(one.given) and one.given[0] in one.useful for one in outcomes) / max(1, worth),
        hits / max(1, sum(len(one.given) for one in outcomes)),
        hits / max(1, sum(len(one.useful) for one in outcomes)),
        len(said) / len(outcomes),
        sum(len(one.given) for one in outcomes) / len(outcomes),
    )


NAMES = (
    "P@1 where a tip is given",
    "P@1 where one is useful",
    "precision of all given",
    "recall of useful ones",
    "steps given a tip",
    "tips a step",
)


def report(outcomes: Sequence[_Outcome]) -> None:
    """Print each figure with its 95 % interval over resampled task templates."""
    by_template: dict[str, list[_Outcome]] = {}
    for one in outcomes:
        by_template.setdefault(one.template, []).append(one)
    groups = list(by_template.values())
    rng = np.random.default_rng(12)
    drawn: list[tuple[float, ...]] = [
        _figures([one for at in map(int, rng.integers(len(groups), size=len(groups))) for one in groups[at]])
        for _ in range(RESAMPLES)
    ]
    low, high = np.percentile(np.array(drawn), [2.5, 97.5], axis=0)
    for name, value, least, most in zip(NAMES, _figures(outcomes), low, high, strict=True):
        print(f"  {name:<26} {value:5.2f}  [{least:.2f}, {most:.2f}]")


def given_with_votes(
    pool: Sequence[Tip],
    steps: Sequence[LabelledStep],
    given: Sequence[tuple[str, ...]],
    known: Encoder | None,
) -> list[tuple[str, ...]]:
    """The tips given at each step by the written rule, with the votes of the other templates' steps."""
    found: dict[int, tuple[str, ...]] = {}
    for template in {step.template for step in steps}:
        up: Counter[str] = Counter()
        down: Counter[str] = Counter()
        for step, ids in zip(steps, given, strict=True):
            if step.template != template:
                useful = step.first & step.second
                up.update(tip for tip in ids if tip in useful)
                down.update(tip for tip in ids if tip not in useful)
        recorded = [replace(tip, record=TipRecord(up=up[tip.id], down=down[tip.id])) for tip in pool]
        retriever = Retriever(recorded, HOSTS, known, withheld=withheld)
        for number, step in enumerate(steps):
            if step.template == template:
                found[number] = tuple(one.tip.id for one in retriever.retrieve(step.query).results)
    return [found[number] for number in range(len(steps))]


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else "work"
    pool, known = tips(), encoder()
    retriever = Retriever(pool, HOSTS, known, withheld=withheld)
    for half in ("work", "report") if wanted == "both" else (wanted,):
        steps = [step for step in labelled_steps() if step.half == half]
        given = [tuple(one.tip.id for one in retriever.retrieve(step.query).results) for step in steps]
        templates = len({step.template for step in steps})
        for rule in ("both", "either"):
            print(f"{half}: {len(steps)} steps of {templates} templates; useful: {rule} said so")
            report(
                [
                    _Outcome(
                        step.template,
                        ids,
                        step.first & step.second if rule == "both" else step.first | step.second,
                    )
                    for step, ids in zip(steps, given, strict=True)
                ]
            )
        print(f"{half}: with a vote for each tip at each step of other templates; useful: both said so")
        voted = given_with_votes(pool, steps, given, known)
        report(
            [
                _Outcome(step.template, ids, step.first & step.second)
                for step, ids in zip(steps, voted, strict=True)
            ]
        )


if __name__ == "__main__":
    main()
