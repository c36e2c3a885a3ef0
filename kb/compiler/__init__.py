"""Compiles a tip's text into steps, without a model.

Only ``do`` (or the whole text of a tip that has no ``do``) makes steps; ``when``, ``before`` and ``why`` never do.  The
text is read by a small grammar: tokens (``tokens``; a quoted name, an address, a placeholder, a remark in brackets is
one token), closed classes of words (``lexicon``), clauses of a sentence (``openings``, ``clauses``), noun phrases
(``names``, ``phrases``, ``values``), verbs with their frames (``verbs``, ``frames``, ``fields``), what statements say
of a way (``statements``), warnings (``warned``), and the order of acting (``sentence``, ``times``, ``ordering``,
``reading``).

=============  ================================================  ==================================================
clause         sign                                              result
=============  ================================================  ==================================================
act            an imperative, "by pressing", "X must be filled"  the steps of its verb's frame
more           no verb: a name after "then" or "or", a list      steps of the verb before
front          a place before its verb                           landmark, field, tab or address of the verb's step;
                                                                 "for a car ..., for a bus ..." are two ways
state          a verb of a statement                             a way there: an address, a menu path, an instrument,
                                                                 a control's place; else what "it" stands for
warn           a negation, "instead of", "avoid", harm           names for ``never``; "or" and "and" carry it on
cond           "if", "unless", "when"                            ``when`` of the steps; a contrary one another way
time           "before", "after", "once", "having"               its steps, in the order of acting
purpose        "to ...", a title before a colon                  nothing
reason, rel    "because", "which"                                nothing; a warning in it counts
unknown        an imperative of an unknown verb                  ``unread``, unless it names a control ("... with X")
=============  ================================================  ==================================================

A question, an example ("e.g.") and a check ("make sure that") give nothing; the address of an example is a template.
A thing without a name of its own is given by its description; what the task supplies is a ``{placeholder}``.  A
landmark is never the control.  "It" is the thing named just before.
The same text gives the same steps on every machine.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from kb.compiler.reading import TipReading, flat
from kb.procedure import (
    PLACEHOLDER,
    STEP_LIMIT,
    Choice,
    Entry,
    Procedure,
    ProcedureOrigin,
    ProcedureStep,
    StepKind,
)
from kb.tip import TipDraft

VERSION = 4
"""Counts changes of the rules; a procedure of an older version is compiled again, a frozen one never."""

_LONGEST = 6_000
"""Characters that are compiled; a tip is a sentence or a few."""


_TOPIC = re.compile(r"(?:an?|the)\s+((?:new\s+)?[a-z]+)\s+(?:is|are|has|must|should|needs?)\s")
"""What a condition is about ("a message must be added")."""


_IDIOM = re.compile(r"\bif need be\b,?\s*", re.IGNORECASE)
"""A condition that says nothing: the step is one like the others."""
_REFERENCE = re.compile(r"\bits (?:name|title|number|code)\b", re.IGNORECASE)


def procedure_of(draft: TipDraft) -> Procedure:
    """The tip's steps: the stored ones, or compiled where there are none or an older compiler made them."""
    stored = draft.procedure
    if stored is not None and (stored.origin is not ProcedureOrigin.COMPILER or stored.compiler >= VERSION):
        return stored
    return compiled(draft)


def compiled(draft: TipDraft) -> Procedure:
    """Compile the tip's text."""
    return compile_text(draft.do or draft.text, draft.when, draft.before, draft.why)


@lru_cache(maxsize=4_096)
def compile_text(do: str, when: str = "", before: str = "", why: str = "") -> Procedure:
    """Compile the parts of a tip."""
    words = re.findall(r"[a-z]{3,}", when.lower())
    known = frozenset([*words, *(word[:-1] for word in words if word.endswith("s"))])
    topic = _TOPIC.match(when)
    reading = TipReading(known, topic[1] if topic else "")
    do = _IDIOM.sub("", do[:_LONGEST])
    reading.read(do)
    reading.warn(before[:_LONGEST], only_forbidden=True)
    reading.warn(why[:_LONGEST], only_forbidden=False)
    entries = _limited([entry for entry in reading.entries if not reading.takes_back(entry)])
    entries = tuple(_referred(entry, do) for entry in entries)
    acted = {
        name.casefold() for entry in entries for step in flat(entry) for name in (step.target, step.value)
    }
    never = tuple(one for one in dict.fromkeys(reading.never) if one and one.casefold() not in acted)
    return Procedure(
        entries=entries,
        never=never[:STEP_LIMIT],
        unread=tuple(dict.fromkeys(reading.unread))[:STEP_LIMIT],
        origin=ProcedureOrigin.COMPILER,
        compiler=VERSION,
    )


def _referred(entry: Entry, do: str) -> Entry:
    """An entry whose presses of what a placeholder stands for ("find {user}, click its name") press the placeholder."""
    if isinstance(entry, Choice):
        return Choice(ways=tuple(tuple(_step_referred(step, do) for step in way) for way in entry.ways))
    return _step_referred(entry, do)


def _step_referred(step: ProcedureStep, do: str) -> ProcedureStep:
    target = step.target
    if step.kind is not StepKind.PRESS or step.near or not target.isalpha() or not target.islower():
        return step
    if f'"{target}"' in do or f"“{target}”" in do:
        return step
    if f"{{{target}}}" in do:
        return replace(step, target=f"{{{target}}}", role="")
    its = next((one for one in _REFERENCE.finditer(do) if one[0].lower().endswith(target)), None)
    before = PLACEHOLDER.findall(do[: its.start()]) if its else []
    return replace(step, target=f"{{{before[-1]}}}", role="") if before else step


def _limited(entries: list[Entry]) -> tuple[Entry, ...]:
    kept: list[Entry] = []
    count = 0
    for entry in entries:
        count += len(list(flat(entry)))
        if count > STEP_LIMIT:
            break
        kept.append(entry)
    return tuple(kept)
