"""Faults in the compiler of tips: what must never become a step, order, landmarks, alternatives."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

COMPILER, CLAUSES, PHRASES = "kb/compiler/__init__.py", "kb/compiler/clauses.py", "kb/compiler/phrases.py"
_COMPILER = ("tests/unit/kb/test_compiler.py",)

FAULTS = (
    Mutation(
        "compiler-warning",
        CLAUSES,
        "    if _WARNED.search(piece) is not None:\n",
        "    if _WARNED.search(piece) is None and not piece:\n",
        "What a tip warns of is never a step.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-carried-negation",
        CLAUSES,
        "        if made and _CARRIED.match(piece) and made[-1].kind",
        "        if not made and _CARRIED.match(piece) and made[-1].kind",
        "A negation holds for what follows its 'or'.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-why",
        COMPILER,
        "    reading.warn(why[:_LONGEST], only_forbidden=False)\n",
        "    reading.read(why[:_LONGEST])\n",
        "A reason makes no step.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-before",
        COMPILER,
        "    reading.warn(before[:_LONGEST], only_forbidden=True)\n",
        "    reading.read(before[:_LONGEST])\n",
        "A check makes no step.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-names-of-reasons",
        COMPILER,
        "    reading.warn(why[:_LONGEST], only_forbidden=False)\n",
        "    reading.warn(why[:_LONGEST], only_forbidden=True)\n",
        "What a reason names is not acted on.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-question",
        COMPILER,
        '            if sentence.endswith("?"):\n',
        '            if sentence.endswith("?!"):\n',
        "A question is no instruction.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-landmark",
        PHRASES,
        "            text = before\n    name, role",
        "    name, role",
        "A landmark is never the control.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-order-first",
        COMPILER,
        "            self._entries[-1:-1] = steps\n",
        "            self._entries += steps\n",
        "'B, but first A' is done as A, B.",
        _COMPILER,
    ),
    Mutation(
        "compiler-order-before",
        COMPILER,
        "        return [*self._entries, *self._later]\n",
        "        return [*self._later, *self._entries]\n",
        "'before B, do A' is done as A, B.",
        _COMPILER,
    ),
    Mutation(
        "compiler-alternatives",
        COMPILER,
        "        elif clause.other and self._entries:\n",
        "        elif clause.other and not self._entries:\n",
        "Alternatives stay alternatives.",
        _COMPILER,
    ),
)
