"""Faults in the rules of runs: what is stored, what stays in a model's context, and which figures are computed."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

KEEPING, PHASES = "app/engine/agent/eviction/retention.py", "app/engine/agent/eviction/phases.py"
FOLD = "app/engine/agent/memory/reducer.py"
NOTES, CLOCK = "app/engine/agent/memory/notes.py", "app/engine/core/local_time.py"
REDACTION, UNSEEN = "app/engine/core/redaction.py", "app/engine/agent/secret_masking.py"
CALIBRATION, RISK = "app/engine/detectors/scorecard.py", "app/engine/detectors/risk.py"
REACTING = "app/engine/detectors/scorecard.py"
_EVICTION = ("tests/unit/engine/test_rules_of_eviction.py", "tests/unit/engine/test_agent_eviction.py")
_MEMORY = ("tests/unit/engine/test_agent_memory.py",)
_NOTES = ("tests/unit/engine/test_agent_notes.py",)
_REDACTION = ("tests/unit/engine/test_redaction_tables.py", "tests/unit/engine/test_redaction.py")
_HIDING = ("tests/unit/engine/test_takeover.py", "tests/unit/engine/test_agent_hostile.py")
_RISK = ("tests/unit/engine/test_rules_of_scorecard.py", "tests/unit/engine/test_risk.py")
_SCORES = ("tests/unit/engine/test_risk_scorecard.py", "tests/unit/engine/test_flag_reactions.py")

FAULTS = (
    Mutation(
        "alignment-of-a-tips-step",
        "app/engine/agent/llm/alignment.py",
        "if state.applies and state.action is not None and same_action(action, state.action)",
        "if state.action is not None and same_action(action, state.action)",
        "An action follows a tip without a question only where the tip applies.",
        ("tests/unit/engine/test_agent_alignment.py",),
    ),
    Mutation(
        "clock-of-the-run",
        CLOCK,
        "at = self._at(self.now)",
        "at = self._at(self.began)",
        "The prompt's end tells the present time.",
        ("tests/unit/engine/test_local_time.py",),
    ),
    Mutation(
        "notes-room",
        NOTES,
        "first == len(notes) or used + _cost(notes[first - 1]) <= room * _WHOLE_SHARE",
        "first > len(notes) - 5",
        "Notes in a prompt are bounded by their tokens, not by their number.",
        _NOTES,
    ),
    Mutation(
        "notes-repeated-step",
        FOLD,
        "any(known.step == step and known.text == text for known in ledger.notes)",
        "any(known.step == step for known in ledger.notes)",
        "A step that is repeated after a kill writes its note once; another text is another note.",
        _NOTES,
    ),
    Mutation(
        "eviction-other-title",
        PHASES,
        "return bool(part.url) and (part.url, part.title) == (now.url, now.title)",
        "return bool(part.url) and part.url == now.url",
        "Only states of the page as it is now stay: the same address and the same title.",
        _EVICTION,
    ),
    Mutation(
        "eviction-thirty-messages",
        PHASES,
        "for message in messages) <= keep.messages:",
        "for message in messages) < keep.messages:",
        "Nothing is archived while there are no more messages than the limit.",
        _EVICTION,
    ),
    Mutation(
        "eviction-two-pictures",
        KEEPING,
        "images: int = 2",
        "images: int = 1",
        "The newest two pictures stay.",
        _EVICTION,
    ),
    Mutation(
        "eviction-newest-failure",
        PHASES,
        "older = live[: max(0, len(live) - keep.failures)]",
        "older = live[: max(0, len(live))]",
        "The newest failure stays as it is.",
        _EVICTION,
    ),
    Mutation(
        "eviction-three-thoughts",
        PHASES,
        "part.text and place[0] < since",
        "part.text and place[0] <= since",
        "Reasoning of the newest three turns stays.",
        _EVICTION,
    ),
    Mutation(
        "eviction-five-turns",
        PHASES,
        "0 <= message.turn < since",
        "0 <= message.turn <= since",
        "The newest five turns are never archived.",
        _EVICTION,
    ),
    Mutation(
        "eviction-list-it-is-told-by",
        PHASES,
        "return bool(part.digest) and part.digest in bases",
        "return bool(part.digest) and part.digest not in bases",
        "The list that the newest one is told by stays.",
        _EVICTION,
    ),
    Mutation(
        "ledger-done-again",
        FOLD,
        "steps=ledger.steps if again else ledger.steps + 1,",
        "steps=ledger.steps + 1,",
        "A step that is done again counts once.",
        _MEMORY,
    ),
    Mutation(
        "ledger-facts-stay",
        FOLD,
        "            facts.append(replace(fact, retracted=True))\n",
        "            pass\n",
        "A fact with another value is retracted, and stays.",
        _MEMORY,
    ),
    Mutation(
        "redaction-dashed-card",
        REDACTION,
        ', b"0000-0000-0000-00")',
        ")",
        "A card number written with dashes is redacted.",
        _REDACTION,
        safety=True,
    ),
    Mutation(
        "redaction-auth-in-a-tree",
        REDACTION,
        '"xox", "auth=", "card number",',
        '"xox", "card number",',
        "'auth=' in a tree is redacted.",
        _REDACTION,
        safety=True,
    ),
    Mutation(
        "redaction-session-id",
        REDACTION,
        '"session_id=", "session-id=", "auth="',
        '"session_id=", "auth="',
        "'session-id=' in a text is redacted.",
        _REDACTION,
        safety=True,
    ),
    Mutation(
        "redaction-github-server-key",
        REDACTION,
        '    "ghs_",\n',
        "",
        "A server's key of a code host is redacted in a text.",
        _REDACTION,
        safety=True,
    ),
    Mutation(
        "redaction-html-password",
        REDACTION,
        'b"token", b\'type="password"\', b"secret=",',
        'b"token", b"secret=",',
        "The value of a password field in HTML is redacted.",
        _REDACTION,
        safety=True,
    ),
    Mutation(
        "unseen-dialogs",
        UNSEEN,
        "popups=tuple(map(mask, page.popups)),",
        "popups=page.popups,",
        "A secret that a dialog gives back is masked.",
        _HIDING,
        safety=True,
    ),
    Mutation(
        "unseen-running-text",
        UNSEEN,
        'page, note = replace(page, picture=b""), NO_PICTURE',
        "note = NO_PICTURE",
        "Where a secret stands in the running text there is no picture.",
        _HIDING,
        safety=True,
    ),
    Mutation(
        "secrets-said-twice",
        "app/engine/core/task_secrets.py",
        'intent = intent.replace(value, f"{{secret:{name}}}")',
        "intent = str(intent)",
        "A password that stands in the task a second time is lifted there, too.",
        ("tests/unit/engine/test_agent_loop.py", "tests/unit/engine/test_agent_hostile.py"),
        safety=True,
    ),
    Mutation(
        "risk-own-fold",
        RISK,
        "weights = _newton(design[~held], failed[~held], _MEANS[seen], _PRECISIONS[seen])",
        "weights = _newton(design, failed, _MEANS[seen], _PRECISIONS[seen])",
        "Values are calibrated on verdicts that the weights had not seen.",
        _RISK,
    ),
    Mutation(
        "risk-eleven-verdicts",
        RISK,
        "if len(failed) < MIN_TO_CALIBRATE or min(kinds) < 3:",
        "if len(failed) < MIN_TO_CALIBRATE - 1 or min(kinds) < 3:",
        "Below twelve verdicts nothing is calibrated.",
        _RISK,
    ),
    Mutation(
        "risk-suspect-step",
        RISK,
        "return min(since, flag.step) if isinstance(since, int) else flag.step",
        "return since if isinstance(since, int) else flag.step",
        "What a flag tells began at its own step or before.",
        _RISK,
    ),
    Mutation(
        "scores-newest-word",
        CALIBRATION,
        "key=lambda word: (word.at, word.id), reverse=True)",
        "key=lambda word: (word.at, word.id))",
        "The newest word on a run counts.",
        _SCORES,
    ),
    Mutation(
        "scores-older-version",
        CALIBRATION,
        "flag.detector == detector.name and flag.version == detector.version for flag",
        "flag.detector == detector.name for flag",
        "Flags of an older version of a detector are left out of its score.",
        _SCORES,
    ),
    Mutation(
        "scores-cleared-flag",
        CALIBRATION,
        "        if not word.detector or word.failed:\n",
        "        if not word.detector or word.failed is not None:\n",
        "Clearing one flag says nothing of the run.",
        _SCORES,
    ),
    Mutation(
        "reaction-of-a-person",
        REACTING,
        'if intervention.author in ("policy", "watchdog", "judge"):',
        'if intervention.author in ("watchdog", "judge"):',
        "What the policy does is no reaction of a person's.",
        _SCORES,
    ),
)
