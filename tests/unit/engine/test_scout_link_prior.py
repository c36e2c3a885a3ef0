"""The prior of links: bounded, of one page, by trees whose scores can be told by hand."""

from __future__ import annotations

import numpy as np
import pytest

from app.engine.agent.scout.link_prior import FEATURES, MOST, LinkModel, bounded, link_priors
from app.engine.agent.scout.memory import Memory
from app.engine.agent.scout.navigation import Wayfinder
from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.task import read_task
from app.engine.agent.scout.terms import terms_of
from app.engine.core.observation import Observation
from app.engine.core.page_state import Element, PageCapture


def finder(task: str, *links: Element) -> Wayfinder:
    page = PageCapture(
        url="http://host.example/books", title="", elements=links, headings=(), text="", tree=""
    )
    sight = Observation(step=0, steps_left=9, intent=task, start_url="", page=page)
    return Wayfinder(terms_of(read_task(task).parts[0]), PageContext(page), Memory(), sight)


def link(index: int, name: str, path: str, *landmarks: str) -> Element:
    return Element(
        index=index, role="link", name=name, href=f"http://host.example{path}", landmarks=landmarks
    )


def test_a_leaf_is_reached_by_the_thresholds_from_the_root_on() -> None:
    model = LinkModel(
        feature=np.array([[0, 1, -1], [-1, -1, -1]]),
        threshold=np.array([[2.0, 5.0, 0.0], [0.0, 0.0, 0.0]], dtype=np.float32),
        leaf=np.array([[1.0, 2.0, 4.0, 8.0], [0.5, 0.0, 0.0, 0.0]], dtype=np.float32),
    )
    rows = np.array([[1.9, 4.9], [1.9, 5.0], [2.0, 0.0]], dtype=np.float32)
    assert model.scores(rows).tolist() == [1.5, 2.5, 4.5]


@pytest.mark.parametrize(
    ("scores", "priors"),
    [
        ([1.0, 1.0], [0.0, 0.0]),
        ([-1.0, 1.0], [-MOST / 2, MOST / 2]),
        ([0.0] * 99 + [7.0], [None] * 99 + [MOST]),
    ],
)
def test_a_prior_is_the_deviation_from_the_page_cut_at_its_bound(
    scores: list[float], priors: list[float | None]
) -> None:
    found = bounded(np.array(scores, dtype=np.float32))
    told = [(one, prior) for one, prior in zip(found.tolist(), priors, strict=True) if prior is not None]
    assert [one for one, _ in told] == pytest.approx([prior for _, prior in told], abs=1e-5)
    assert np.abs(found).max() <= MOST + 1e-6


def test_features_say_what_a_link_shows_of_the_task_and_where_it_stands() -> None:
    found = finder(
        'Open the book "Old Boats"',
        link(0, "Old Boats", "/books/old-boats", "main"),
        link(1, "Imprint", "/imprint?x=1", "contentinfo"),
    ).link_features()
    boats, imprint = (dict(zip(FEATURES, row, strict=True)) for row in found.tolist())
    assert found.shape == (2, len(FEATURES))
    assert (boats["named"] > 0.9, imprint["named"]) == (True, 0.0)
    assert (boats["name"] > imprint["name"], boats["name_open"] > imprint["name_open"]) == (True, True)
    assert (boats["below"], imprint["below"]) == (1.0, 0.0)
    assert (boats["query"], imprint["query"]) == (0.0, 1.0)
    assert (boats["in_main"], imprint["in_contentinfo"]) == (1.0, 1.0)
    assert (boats["place"], imprint["place"]) == (0.0, 0.5)


@pytest.mark.parametrize("links", [0, 1])
def test_a_page_with_less_than_two_links_has_no_prior(links: int) -> None:
    found = finder("Open the imprint", *(link(n, "Imprint", "/imprint") for n in range(links)))
    assert link_priors(found.link_features()).tolist() == [0.0] * links


def test_no_prior_moves_a_link_by_more_than_its_bound() -> None:
    listed = [link(n, f"Entry {n}", f"/entries/{n}", "main" if n % 2 else "navigation") for n in range(60)]
    priors = link_priors(finder("Open the entry 12", *listed).link_features())
    assert len(set(priors.tolist())) > 1
    assert np.abs(priors).max() <= MOST + 1e-6
