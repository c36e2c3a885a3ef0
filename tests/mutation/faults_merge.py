"""Faults in the rule of the three-way merge, and in what a freeze leaves out."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

RULE, PAST, PLAN, MERGE = "kb/three_way.py", "kb/common_past.py", "kb/merge_plan.py", "kb/merge.py"
CONFIDENTIAL, FREEZE = "kb/confidential.py", "kb/freeze.py"
RELEASE = "app/engine/evaluation/report/release_page.py"
_CONFIDENTIAL = ("tests/unit/kb/test_confidential.py",)
_RULE = ("tests/unit/kb/test_three_way.py",)
_MERGE = ("tests/unit/kb/test_merge.py",)

FAULTS = (
    Mutation(
        "merge-kept",
        RULE,
        "MergeOutcome.KEPT if here and not there else MergeOutcome.SAME",
        "MergeOutcome.SAME",
        "What only we changed is kept.",
        _RULE,
    ),
    Mutation(
        "merge-taken",
        RULE,
        "    if not here:\n        return TipMerge(MergeOutcome.TAKEN, fields=new)\n",
        "",
        "What only they changed is taken.",
        _RULE,
    ),
    Mutation(
        "merge-same-field",
        RULE,
        "    if twice:\n",
        "    if len(twice) > 1:\n",
        "The same field changed on both sides is a conflict: nobody's words are overwritten unasked.",
        _RULE,
        safety=True,
    ),
    Mutation(
        "merge-retired-and-edited",
        RULE,
        "return by_me != by_them",
        "return by_me and not by_them",
        "A tip retired on one side and edited on the other is a conflict.",
        _RULE,
    ),
    Mutation(
        "merge-no-past",
        RULE,
        "return TipMerge(MergeOutcome.DECLINED if declined else MergeOutcome.ADDED, beside=True)",
        'return TipMerge(MergeOutcome.TAKEN, fields=("text",))',
        "Without a common past a tip here is not changed.",
        (*_RULE, *_MERGE),
        safety=True,
    ),
    Mutation(
        "merge-declined",
        RULE,
        "    if mine is None:\n        return TipMerge(MergeOutcome.DECLINED if declined else MergeOutcome.ADDED)\n",
        "    if mine is None:\n        return TipMerge(MergeOutcome.ADDED)\n",
        "What was declined is not asked again.",
        _RULE,
    ),
    Mutation(
        "merge-notes-of-a-stranger",
        PAST,
        "    if copied:\n        by_them",
        "    if True:\n        by_them",
        "Notes of a file that is no copy are not believed.",
        _MERGE,
    ),
    Mutation(
        "merge-undone",
        PAST,
        'if history[at].deed.startswith("undo "):',
        "if not history[at].deed:",
        "An undone revision is no common past.",
        _MERGE,
    ),
    Mutation(
        "merge-contradiction",
        PLAN,
        "if near.relation in (CONTRADICTION, DUPLICATE):",
        "if near.relation in (DUPLICATE,):",
        "A tip of theirs that contradicts a new one of ours is a conflict.",
        _MERGE,
    ),
    Mutation(
        "merge-new-are-drafts",
        MERGE,
        "return clean(replace(draft, status=Status.DRAFT, provenance=origin))",
        "return clean(replace(draft, provenance=origin))",
        "A new tip from another file is a draft, whatever it claims.",
        _MERGE,
        safety=True,
    ),
    Mutation(
        "merge-undecided",
        MERGE,
        "    if undecided and not leave:\n",
        "    if len(undecided) > 9 and not leave:\n",
        "With an undecided conflict nothing is changed.",
        _MERGE,
        safety=True,
    ),
    Mutation(
        "merge-lint",
        MERGE,
        "if draft.status is Status.ACTIVE and set(into.judge(draft)) - waived:",
        "if draft.status is Status.ACTIVE and set(into.judge(draft)) - waived and not draft.text:",
        "A change with lint errors does not stay active.",
        _MERGE,
        safety=True,
    ),
    Mutation(
        "confidential-tag",
        CONFIDENTIAL,
        "if set(tip.tags) & set(self.tags):",
        "if set(tip.tags) == set(self.tags) and len(tip.tags) > 1:",
        "A tip with a left-out tag stays out of a frozen file.",
        _CONFIDENTIAL,
        safety=True,
    ),
    Mutation(
        "confidential-editor",
        FREEZE,
        "[one.author for one in kb.history(tip.id)]",
        "[]",
        "A tip that a left-out author only edited stays out.",
        _CONFIDENTIAL,
        safety=True,
    ),
    Mutation(
        "confidential-manifest",
        FREEZE,
        '"source": leave_out.names_in(tip.provenance.source),',
        '"source": tip.provenance.source,',
        "No name of what is left out is in the manifest.",
        _CONFIDENTIAL,
        safety=True,
    ),
    Mutation(
        "confidential-release",
        RELEASE,
        "if one.tip.id in here or not _hides(facts.manifest)",
        "if one.tip.id in here or _hides(facts.manifest)",
        "The page of a release without confidential tips names none that is not in it.",
        ("tests/unit/engine/test_release_page.py",),
        safety=True,
    ),
)
