"""Faults in the compiler of tips: what must never become a step, order, landmarks, alternatives."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

COMPILER, CLAUSES, PHRASES = "kb/compiler/__init__.py", "kb/compiler/clauses.py", "kb/compiler/phrases.py"
READING, OPENINGS = "kb/compiler/reading.py", "kb/compiler/openings.py"
SENTENCE, ORDERING = "kb/compiler/sentence.py", "kb/compiler/ordering.py"
_COMPILER = ("tests/unit/kb/test_compiler.py", "tests/unit/kb/test_compiler_rules.py")

FAULTS = (
    Mutation(
        "compiler-exception",
        CLAUSES,
        'start = place + 1 if two[0] == "except" else',
        'start = 0 if two[0] == "except" else',
        "What a tip leaves out is never a step.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-cases",
        SENTENCE,
        "        self.other = again\n",
        "        self.other = False\n",
        "Cases are alternatives.",
        _COMPILER,
    ),
    Mutation(
        "compiler-warning",
        OPENINGS,
        "        negated(tokens, start, leads)\n        or ",
        "        ",
        "What a tip warns of is never a step.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-carried-negation",
        CLAUSES,
        'found.kind is ClauseKind.ACT and ("or" in joint',
        'found.kind is ClauseKind.MORE and ("or" in joint',
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
        READING,
        '        if sentence.end == "?":\n',
        '        if sentence.end == "?!":\n',
        "A question is no instruction.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-landmark",
        PHRASES,
        "        if place and token.is_word and _ends_core(tokens, place):\n",
        "        if place and not token.is_word and _ends_core(tokens, place):\n",
        "A landmark is never the control.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-order-first",
        ORDERING,
        "            self._insert(steps, self._back())\n",
        "            self._put(steps)\n",
        "'B, but first A' is done as A, B.",
        _COMPILER,
    ),
    Mutation(
        "compiler-order-before",
        "kb/compiler/times.py",
        "                self._later += self._resolved(made)\n",
        "                self._put(self._resolved(made))\n",
        "'before B, do A' is done as A, B.",
        _COMPILER,
    ),
    Mutation(
        "compiler-alternatives",
        ORDERING,
        "        elif self._is_way(clause) and (self.entries or self._ways):\n",
        "        elif self._is_way(clause) and not (self.entries or self._ways):\n",
        "Alternatives stay alternatives.",
        _COMPILER,
    ),
    Mutation(
        "compiler-takes-back",
        COMPILER,
        "    entries = _limited([entry for entry in reading.entries if not reading.takes_back(entry)])\n",
        "    entries = _limited([entry for entry in reading.entries if reading.takes_back(entry) or entry])\n",
        "A control that the tip only places and forbids is no step.",
        _COMPILER,
        safety=True,
    ),
    Mutation(
        "compiler-unknown-verb",
        SENTENCE,
        '            self.unread.append(f"{clause.word} {written(clause.tokens)}"[:200])\n',
        "            self.unread += []\n",
        "An imperative of an unknown verb is kept as unread.",
        _COMPILER,
    ),
)
