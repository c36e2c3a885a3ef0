"""The rule of the three-way merge: one row a clause, and an oracle written from the rule over all small cases."""

import itertools
from dataclasses import replace

import pytest

from kb.three_way import CommonPast, MergeConflict, MergeOutcome, TipMerge, combined, merge_tip
from kb.tip import Status, Tip

BASE = Tip(id="t", site="shop", text="Open the menu.", why="it is nested", status=Status.ACTIVE)
MINE = replace(BASE, text="Hover the menu.")
THEIRS = replace(BASE, text="Press the menu.")
WHY = replace(BASE, why="it opens slowly")
GONE = replace(BASE, status=Status.RETIRED)
PAST = CommonPast(BASE, BASE)
Out, Why = MergeOutcome, MergeConflict
GONE_AND_EDITED = Why.RETIRED_AND_EDITED

CLAUSES: list[tuple[str, Tip | None, Tip | None, CommonPast | None, bool, TipMerge]] = [
    ("1 nothing changed", BASE, BASE, PAST, False, TipMerge(Out.SAME)),
    ("2 only here", MINE, BASE, PAST, False, TipMerge(Out.KEPT)),
    ("3 only there", BASE, THEIRS, PAST, False, TipMerge(Out.TAKEN, fields=("text",))),
    ("3 retired there", BASE, GONE, PAST, False, TipMerge(Out.TAKEN, fields=("status",))),
    ("4 the same on both sides", MINE, MINE, PAST, False, TipMerge(Out.SAME)),
    ("4 both retired it", GONE, GONE, PAST, False, TipMerge(Out.SAME)),
    ("5 other fields", MINE, WHY, PAST, False, TipMerge(Out.COMBINED, fields=("why",))),
    ("6 the same field", MINE, THEIRS, PAST, False, TipMerge(Out.CONFLICT, Why.EDITED_TWICE, ("text",))),
    (
        "6 the same field, and another",
        MINE,
        replace(THEIRS, why="slow"),
        PAST,
        False,
        TipMerge(Out.CONFLICT, Why.EDITED_TWICE, ("text",), ("why",)),
    ),
    ("7 retired here, edited there", GONE, WHY, PAST, False, TipMerge(Out.CONFLICT, GONE_AND_EDITED, ("why",))),
    ("8 retired there, edited here", WHY, GONE, PAST, False, TipMerge(Out.CONFLICT, GONE_AND_EDITED, ("status",))),
    ("9 only there", None, THEIRS, None, False, TipMerge(Out.ADDED)),
    ("10 only here", MINE, None, None, False, TipMerge(Out.KEPT)),
    ("11 declined", None, THEIRS, None, True, TipMerge(Out.DECLINED)),
    ("12 no past", MINE, THEIRS, None, False, TipMerge(Out.ADDED, beside=True)),
    ("12 no past, declined", MINE, THEIRS, None, True, TipMerge(Out.DECLINED, beside=True)),
    ("13 no past, the same", MINE, replace(MINE, status=Status.DRAFT), None, False, TipMerge(Out.SAME)),
    (
        "3 each side has its own past",
        replace(BASE, status=Status.DRAFT),
        replace(BASE, why="slow"),
        CommonPast(replace(BASE, status=Status.DRAFT), BASE),
        False,
        TipMerge(Out.TAKEN, fields=("why",)),
    ),
]  # fmt: skip


@pytest.mark.parametrize("clause", CLAUSES, ids=[row[0] for row in CLAUSES])
def test_every_clause_of_the_rule(
    clause: tuple[str, Tip | None, Tip | None, CommonPast | None, bool, TipMerge],
):
    _, mine, theirs, past, declined, expected = clause
    assert merge_tip(mine, theirs, past, declined=declined) == expected


def oracle(base: Tip, mine: Tip, theirs: Tip) -> tuple[MergeOutcome, MergeConflict]:
    """The rule in the words of its table, for two fields and the status."""
    here = {f for f in ("text", "why", "status") if getattr(mine, f) != getattr(base, f)}
    there = {f for f in ("text", "why", "status") if getattr(theirs, f) != getattr(base, f)}
    if not there:
        return (Out.KEPT if here else Out.SAME), Why.NONE
    if all(getattr(mine, f) == getattr(theirs, f) for f in there):
        return Out.SAME, Why.NONE
    if not here:
        return Out.TAKEN, Why.NONE
    retired_here = "status" in here and mine.status == "retired"
    retired_there = "status" in there and theirs.status == "retired"
    if retired_here != retired_there:
        return Out.CONFLICT, GONE_AND_EDITED
    if any(getattr(mine, f) != getattr(theirs, f) for f in here & there):
        return Out.CONFLICT, Why.EDITED_TWICE
    return Out.COMBINED, Why.NONE


def test_the_rule_agrees_with_its_oracle_in_all_small_cases():
    versions = [
        replace(BASE, text=text, why=why, status=status)
        for text, why, status in itertools.product(
            "ABC", "abc", (Status.ACTIVE, Status.RETIRED, Status.SUSPECT)
        )
    ]
    base = versions[0]
    for mine, theirs in itertools.product(versions, versions):
        made = merge_tip(mine, theirs, CommonPast(base, base))
        assert (made.outcome, made.conflict) == oracle(base, mine, theirs), (mine, theirs)


def test_a_file_without_tags_takes_no_tag_away():
    tagged = replace(BASE, tags=("confidential",))
    past = CommonPast(tagged, tagged)
    assert merge_tip(tagged, BASE, past, with_tags=False).outcome is Out.SAME
    assert merge_tip(tagged, BASE, past).fields == ("tags",)


def test_a_combined_tip_has_both_changes_and_the_taint_of_both():
    mine, theirs = replace(MINE, taint=("a.1",)), replace(WHY, taint=("b.2",))
    made = combined(mine, theirs, ("why",))
    assert (made.text, made.why, made.taint) == ("Hover the menu.", "it opens slowly", ("a.1", "b.2"))
