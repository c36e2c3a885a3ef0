"""Deeds are undone and redone in order, across restarts, and none is ever lost."""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.database import transaction
from kb.journal import Journal, create_table


class Counter:
    """A register whose changes are journalled: the smallest thing one could want to undo."""

    def __init__(self, path: Path | str = ":memory:") -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("CREATE TABLE IF NOT EXISTS register (value INTEGER)")
        self.journal = Journal(self.connection)
        if self.value is None:
            self.connection.execute("INSERT INTO register VALUES (0)")

    @property
    def value(self):
        row = self.connection.execute("SELECT value FROM register").fetchone()
        return row and row[0]

    def set(self, value: int) -> None:
        with transaction(self.connection):
            before = self.value
            self.apply("set", {"value": value})
            self.journal.record("set", f"set {value}", {"value": value}, {"value": before}, "ada")

    def apply(self, kind: str, payload: dict) -> None:
        assert kind == "set"
        self.connection.execute("UPDATE register SET value = ?", (payload["value"],))

    def close(self) -> None:
        self.connection.close()


def test_undo_takes_back_the_newest_change_and_redo_does_it_again():
    with closing(Counter()) as counter:
        counter.set(1)
        counter.set(2)

        undone = counter.journal.undo(counter.apply)
        assert (undone.label, undone.author, counter.value) == ("set 2", "ada", 1)
        assert undone.undone_at is not None
        assert [e and e.label for e in counter.journal.peek()] == ["set 1", "set 2"]

        redone = counter.journal.redo(counter.apply)
        assert (redone.label, redone.undone_at, counter.value) == ("set 2", None, 2)
        assert counter.journal.redo(counter.apply) is None


def test_a_new_change_puts_the_redo_branch_out_of_reach_but_keeps_it():
    with closing(Counter()) as counter:
        counter.set(1)
        counter.journal.undo(counter.apply)
        counter.set(2)

        assert counter.journal.redo(counter.apply) is None
        assert [(e.label, e.dropped) for e in counter.journal.entries()] == [
            ("set 2", False),
            ("set 1", True),
        ]


def test_nothing_to_undo_is_none():
    with closing(Counter()) as counter:
        assert counter.journal.undo(counter.apply) is None
        assert counter.journal.peek() == (None, None)


def test_a_failing_undo_changes_nothing():
    def fail(kind: str, payload: dict) -> None:
        counter.apply(kind, payload)
        raise RuntimeError("no")

    with closing(Counter()) as counter:
        counter.set(1)
        with pytest.raises(RuntimeError):
            counter.journal.undo(fail)
        assert counter.value == 1
        assert counter.journal.peek()[0].label == "set 1"


def test_the_history_survives_a_restart(tmp_path: Path):
    with closing(Counter(tmp_path / "c.sqlite")) as counter:
        counter.set(1)
        counter.set(2)
        counter.journal.undo(counter.apply)
    with closing(Counter(tmp_path / "c.sqlite")) as counter:
        assert [e.label for e in counter.journal.peek()] == ["set 1", "set 2"]
        counter.journal.redo(counter.apply)
        assert counter.value == 2


def test_a_change_can_not_be_deleted():
    with closing(Counter()) as counter:
        counter.set(1)
        with pytest.raises(sqlite3.IntegrityError, match="kept for ever"):
            counter.connection.execute("DELETE FROM deed")


def test_a_nested_transaction_that_fails_leaves_the_outer_one_whole():
    with closing(Counter()) as counter:
        with transaction(counter.connection):
            counter.set(1)
            with suppress(ZeroDivisionError), transaction(counter.connection):
                counter.set(2)
                raise ZeroDivisionError
        assert counter.value == 1
        assert len(counter.journal.entries()) == 1


@given(st.lists(st.one_of(st.integers(0, 9), st.sampled_from(["undo", "redo"])), max_size=40))
def test_it_behaves_like_two_stacks(changes):
    past, future, value = [], [], 0
    with closing(Counter()) as counter:
        for change in changes:
            if change == "undo":
                counter.journal.undo(counter.apply)
                if past:
                    future.append(value)
                    value = past.pop()
            elif change == "redo":
                counter.journal.redo(counter.apply)
                if future:
                    past.append(value)
                    value = future.pop()
            else:
                counter.set(change)
                past.append(value)
                value, future = change, []
            assert counter.value == value


def test_two_processes_that_open_a_new_file_at_once_both_get_their_journal(tmp_path):
    one, two = (sqlite3.connect(tmp_path / "file.sqlite", isolation_level=None) for _ in range(2))
    with closing(one), closing(two):
        create_table(one)
        create_table(two)  # it had seen no table either
        Journal(one).record("edit", "edit", {}, {})
        assert [entry.label for entry in Journal(two).entries()] == ["edit"]


def test_a_journal_whose_making_was_cut_short_gets_its_guard_at_the_next_opening(tmp_path):
    with closing(sqlite3.connect(tmp_path / "file.sqlite", isolation_level=None)) as connection:
        create_table(connection)
        connection.execute("DROP TRIGGER deed_kept")
        Journal(connection).record("edit", "edit", {}, {})
        with pytest.raises(sqlite3.IntegrityError, match="kept for ever"):
            connection.execute("DELETE FROM deed")
