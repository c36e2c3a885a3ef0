"""The mutation run on a checkout of four rules: what it says of each, and what it leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation import runner
from tests.mutation.__main__ import main, wilson
from tests.mutation.mutation import Mutation

RULE = "def allowed(age: int, guest: bool) -> bool:\n    return age >= 18 and not guest\n"
TESTS = """\
from rule import allowed


def test_a_guest_is_not():
    assert not allowed(30, True)


def test_a_child_is_not():
    assert not allowed(10, False)
    assert allowed(30, False)
"""


def fault(
    name: str, text: str, broken: str, *, safety: bool = False, tests: str = "test_rule.py"
) -> Mutation:
    return Mutation(name, "rule.py", text, broken, f"The clause of {name}.", (tests,), safety)


GUESTS = fault("guests", "and not guest", "and (guest or not guest)", safety=True)
CHILDREN = fault("children", "age >= 18", "age >= 0")
EXACTLY = fault("exactly-18", "age >= 18", "age > 18")
BROKEN = fault("broken", "def allowed", "def permitted")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "rule.py").write_text(RULE, "utf-8")
    (folder / "test_rule.py").write_text(TESTS, "utf-8")
    (folder / "test_never.py").write_text("def test_never():\n    assert False\n", "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n", "utf-8")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_kills_and_survivors_are_named_with_the_rate_and_the_checkout_stays_as_it_was(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(checkout)
    assert main(["--jobs", "2"], checkout, [GUESTS, CHILDREN, EXACTLY]) == 1
    said = capsys.readouterr().out
    assert "guests: test_rule.py::test_a_guest_is_not" in said
    assert "children: test_rule.py::test_a_child_is_not" in said
    assert "exactly-18: The clause of exactly-18." in said
    assert "all: 2 of 3 killed, 67% (21% to 94%)" in said
    assert "safety: 1 of 1 killed" in said
    assert "SURVIVED: exactly-18\n" in said
    assert "at once" in said
    assert files(checkout) == before


def test_enough_kills_and_all_of_safety_are_a_success(checkout: Path) -> None:
    assert main(["--jobs", "1"], checkout, [GUESTS, CHILDREN]) == 0


def test_one_survivor_of_safety_is_a_failure_whatever_the_rate(checkout: Path) -> None:
    safe = fault("exactly-18", "age >= 18", "age > 18", safety=True)
    others = [fault(f"guests-{n}", "and not guest", f"and {n}") for n in range(1, 7)]
    assert main(["--jobs", "2"], checkout, [safe, *others]) == 1


def test_a_test_that_fails_without_the_fault_too_kills_nothing(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    always = fault("always", "age >= 18", "age > 18", tests="test_never.py")
    assert main([], checkout, [always]) == 2
    assert "test_never.py::test_never fails without the fault, too" in capsys.readouterr().out


def test_a_fault_that_makes_its_tests_hang_is_killed_where_they_pass_without_it(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "MOST_SECONDS", 8.0)
    hanging = fault("hanging", "return age", "while True:\n        pass\n    return age")
    assert main([], checkout, [hanging]) == 0
    assert "hanging: its tests hang, and pass without the fault" in capsys.readouterr().out


def test_a_module_that_can_not_be_imported_is_no_kill(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], checkout, [BROKEN]) == 2
    assert "ERROR: broken" in capsys.readouterr().out


def test_a_stale_mutation_ends_the_run_before_anything_is_tried(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = fault("gone", "age >= 21", "age > 21")
    assert main([], checkout, [GUESTS, gone]) == 2
    told = capsys.readouterr()
    assert "gone: its text is not found in rule.py" in told.err
    assert told.out == ""
    assert main(["--only", "unheard-of"], checkout, [GUESTS]) == 2


def test_only_those_asked_for_are_listed(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list", "--only", "guests"], checkout, [GUESTS, CHILDREN]) == 0
    said = capsys.readouterr().out
    assert "guests" in said
    assert "children" not in said


@pytest.mark.parametrize(
    ("hits", "tries", "low", "high"),
    [(0, 0, 0.0, 1.0), (0, 10, 0.0, 0.278), (10, 10, 0.722, 1.0), (34, 40, 0.709, 0.929)],
)
def test_the_interval_is_wilsons(hits: int, tries: int, low: float, high: float) -> None:
    assert wilson(hits, tries) == pytest.approx((low, high), abs=0.001)
