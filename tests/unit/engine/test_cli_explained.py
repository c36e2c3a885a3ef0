"""Commands answer somebody who asks why, name what a file cannot hold, and refuse numbers out of range."""

from __future__ import annotations

import sys

import pytest

from app.cli import graph, kb
from kb.tip import Retrieval, Retrieved, Route
from tests.support.tips import tip

WHY = "shares 'sort' with the goal; " * 6 + "0.91 (words +3.9)"
FOUND = Retrieval(
    results=(
        Retrieved(
            tip=tip("shop-1", "Sort by price."),
            route=Route.KEYWORD,
            score=0.91,
            why=WHY,
            routes={"keyword": 0.8, "url": 0.5},
        ),
    ),
)


def test_an_explained_retrieval_tells_the_whole_reason_and_the_score_of_each_route(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)  # elsewhere nothing is cut
    kb._show_found(FOUND, False, False)
    assert WHY not in capsys.readouterr().out

    kb._show_found(FOUND, True, False)
    said = capsys.readouterr().out
    assert f"shop-1: {WHY}" in said
    assert "routes: keyword 0.80, url 0.50" in said


@pytest.mark.parametrize(
    ("name", "format", "told"),
    [("a.txt", "auto", True), ("a.csv", "txt", True), ("a.jsonl", "auto", False), ("a.txt", "csv", False)],
)
def test_an_export_says_when_its_format_holds_texts_only(name: str, format: str, told: bool):
    assert (kb._lost_in(name, format) == kb.LOSSES["txt"]) is told


@pytest.mark.parametrize("command", ["navigate", "path"])
@pytest.mark.parametrize("number", ["0", "-1", "6"])
def test_only_one_of_the_first_five_states_can_be_chosen(command: str, number: str):
    with pytest.raises(Exception, match=r"range|than or equal to"):
        graph.app([command, "shop", "books", "--choose", number], standalone_mode=False)
