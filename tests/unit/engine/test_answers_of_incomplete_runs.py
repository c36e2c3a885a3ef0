"""Answer pages of runs whose pages can't be read whole: nothing is said to stand nowhere."""

from __future__ import annotations

import pytest

from app.engine.services.answer_pages import SearchedPages, visited_pages
from app.engine.store.workspace import Workspace
from tests.support.runs import make_run, make_step


@pytest.mark.parametrize(
    ("tree", "terms"),
    [
        ("RootWebArea 'Shop'\n\t[3] StaticText 'Linen'", {"24.50", "EUR"}),
        ("[12] link 'Answer'", set()),
        ("StaticText 'Linen'", set()),
        ("", set()),
    ],
)
def test_a_term_stands_on_no_page_only_where_the_pages_can_be_read_whole(tmp_path, tree, terms) -> None:
    with Workspace.open(tmp_path) as workspace:
        run = make_run(answer="24.50 EUR", step_count=1)
        blobs = {"a" * 64: tree.encode()} if tree else {}
        workspace.runs.add(run, [make_step(0, tree="a" * 64 if tree else "")], blobs)
        pages = SearchedPages(visited_pages(workspace, run.id))
        missing = {term.text for term in pages.answer_page(None).terms if not term.places}
        assert missing == terms
        assert {term.text for term in pages.cause_material(None, ()).terms} == terms
