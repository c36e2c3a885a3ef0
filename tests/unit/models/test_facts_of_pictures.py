"""Facts of steps whose pages are pictures alone."""

from __future__ import annotations

from dataclasses import replace

from app.engine.api.page_diff import step_view
from app.engine.core.trajectory import Step
from app.models.review.review_facts import facts_of_step

SEEN = Step(index=0, url="https://shop.example/", title="Shop", tree="tree", screenshot="picture")
TREES = {"tree": b"RootWebArea 'Shop'\n\t[7] button 'Save'"}


def test_pictures_alone_are_not_said_to_be_unchanged() -> None:
    bare = replace(SEEN, tree="")
    view = step_view("r", bare, replace(bare, index=1), TREES.__getitem__)
    assert facts_of_step(bare, 1, view).changed == ""
    same = step_view("r", SEEN, replace(SEEN, index=1), TREES.__getitem__)
    assert facts_of_step(SEEN, 1, same).changed == "the page did not change"
