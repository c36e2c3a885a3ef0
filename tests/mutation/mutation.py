"""One deliberate fault: a written rule's clause, and the exact text whose change breaks it.  Pure data."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


class Stale(Exception):
    """A mutation that can't be applied: its text is missing or not unique, or its tests are missing."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """A fault to plant.

    Attributes:
        name: unique, for ``--only``.
        file: the module, relative to the checkout.
        text: stands exactly once in it; ``broken`` takes its place.
        clause: the sentence of the rule that no longer holds.
        tests: the test files that are to notice, or single tests as pytest names them.
        safety: nobody may lose control, data or a secret by it: it has to be killed.
    """

    name: str
    file: str
    text: str
    broken: str
    clause: str
    tests: tuple[str, ...]
    safety: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files of its tests."""
        return tuple(name.partition("::")[0] for name in self.tests)

    def applied(self, root: Path) -> str:
        """Return the module's source with the fault in it.

        Raises:
            Stale: the text is missing or not unique, or the result is the same program or no program at all.
        """
        path = root / self.file
        if not path.is_file():
            raise Stale(f"{self.name}: there is no file {self.file}")
        source = path.read_text("utf-8")
        times = source.count(self.text)
        if times != 1:
            found = "is not found" if not times else f"is found {times} times"
            raise Stale(f"{self.name}: its text {found} in {self.file}: {self.text!r}")
        missing = [name for name in self.files if not (root / name).is_file()]
        if missing or not self.tests:
            raise Stale(f"{self.name}: no test file {', '.join(missing) or 'is named'}")
        broken = source.replace(self.text, self.broken)
        if path.suffix == ".py":
            try:
                same = ast.dump(ast.parse(broken)) == ast.dump(ast.parse(source))
            except SyntaxError as error:
                raise Stale(f"{self.name}: {self.file} would be no Python any more: {error}") from error
            if same:
                raise Stale(f"{self.name}: {self.file} would be the same program")
        return broken


def stale(mutations: Iterable[Mutation], root: Path) -> list[str]:
    """Return a sentence for each mutation that can't be applied to this checkout, and for each name used twice."""
    problems: list[str] = []
    names: set[str] = set()
    for mutation in mutations:
        if mutation.name in names:
            problems.append(f"{mutation.name}: two mutations have this name")
        names.add(mutation.name)
        try:
            mutation.applied(root)
        except Stale as problem:
            problems.append(str(problem))
    return problems
