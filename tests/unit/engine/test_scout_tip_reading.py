"""The column or label that a tip says to read: the one row of the names, or the row at one end."""

from __future__ import annotations

import pytest

from app.engine.agent.scout.page_context import PageContext
from app.engine.agent.scout.task import read_task
from app.engine.agent.scout.tip_following import labelled_answer
from tests.support.html_page import html_page

PAGE = html_page(
    "<title>Loans by shelf</title><h1>Loans by shelf</h1><table><tr><th>Shelf<th>Books<th>Loans"
    "<tr><td>Poetry<td>40<td>11<tr><td>Maps<td>90<td>7<tr><td>Plays<td>12<td>7</table>"
    "<dl><dt>Open on<dd>Tuesday</dl>"
)


@pytest.mark.parametrize(
    ("task", "label", "answer"),
    [
        ("Which shelf had the most loans?", "Loans", "Poetry"),
        ("Which shelf has the most books?", "Books", "Maps"),
        ("Which shelf had the second most loans?", "Loans", ""),
        ('How many loans did the shelf "Maps" have?', "Loans", "7"),
        ('How many loans did the shelf "Music" have?', "Loans", ""),
        ("When is the library open?", "Open on", "Tuesday"),
        ("When is the library open?", "Closed on", ""),
    ],
    ids=["most", "another column", "two alike", "of a name", "no such row", "a label", "no such label"],
)
def test_only_what_is_plain_is_answered(task: str, label: str, answer: str):
    assert labelled_answer(read_task(task).parts[-1], PageContext(PAGE).relations, label)[0] == answer
