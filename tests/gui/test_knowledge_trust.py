"""Lint in Knowledge: refused and waived tips, tips left out of a freeze, and undo messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.models.common.key_table import KeyTable
from app.models.common.workspace import undo_message
from app.models.knowledge.tip_table import TipTableModel, lint_label
from kb.retrieval import Retriever
from kb.tip import Query, Tip


@pytest.mark.parametrize(
    ("deed", "undone", "words"),
    [
        ("merge 'Mug' and 'Jug'", True, "'Mug' and 'Jug' are separate states again (undo)"),
        ("add gitlab-x", True, "Tip gitlab-x removed (undo)"),
        ("add gitlab-x", False, "Tip gitlab-x restored (redo)"),
        ("import tips.csv", True, "Tips from tips.csv removed (undo)"),
        ("edit gitlab-x", True, "gitlab-x: edit undone"),
        ("activate 13 tips", True, "13 tips: status restored (undo)"),
        ("retire tip gitlab-001", True, "Undone: retire tip gitlab-001"),
    ],
)
def test_an_undo_is_told_by_what_became_of_things(deed, undone, words):
    assert undo_message(deed, undone=undone) == words


def test_the_table_shows_what_lint_says_and_filters_by_it(qapp):
    table = TipTableModel()
    tips = [Tip(id=f"t{n}", site="gitlab", text="text") for n in range(3)]
    table.load(tips)
    assert table.unmarked() == ["t0", "t1", "t2"]
    table.mark({"t0": ("error:instruction", "warning:long"), "t1": ("waived:secret",), "t2": ()})
    assert table.unmarked() == []
    assert lint_label(table.marks("t0")) == "✕ instruction +1"
    for words, shown in (("lint:error", ["t0"]), ("lint:waived", ["t1"]), ("lint:none", ["t2"])):
        table.set_filter(words)
        assert [tip.id for tip in table.rows] == shown
    table.put([replace(tips[0], revision=2)])
    assert table.unmarked() == ["t0"]


def test_an_address_on_an_unknown_host_is_named_with_those_that_are_known():
    hosts = {"gitlab": ("*:8023",), "shop": ("*:7770",)}
    retriever = Retriever([], hosts)
    asked = retriever.retrieve(Query(url="http://gitlab.local/a", text="merge"))
    assert asked.note == "gitlab.local is not a known host; known for gitlab: *:8023"
    assert retriever.retrieve(Query(url="http://x:8023/a")).note == ""
    assert retriever.retrieve(Query(url="http://gitlab.local/a", site="gitlab")).note == ""


def test_the_list_of_keys_calls_a_command_by_its_own_name(center):
    center.set_title("app.undo", "Undo activate 13 tips")
    table = KeyTable(center)
    assert table.data(table.index(table.row_of("app.undo"), 0)) == "Undo"
