"""Faults in the rules of tips' tests, votes and uses."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

PROCEDURE_TEST, TESTING = (
    "app/engine/agent/procedures/procedure_test.py",
    "app/engine/services/tip_testing.py",
)
DRAFT, CONTROLS = "app/engine/agent/takeover/procedure_draft.py", "app/engine/agent/procedures/controls.py"
_DRAFT = ("tests/unit/engine/test_takeover_procedure.py",)
USES = "app/engine/services/tip_evidence.py"
_USES = ("tests/unit/engine/test_tip_evidence.py",)
_PROCEDURE_TEST = ("tests/unit/engine/test_procedure_test.py",)
_TESTING = ("tests/unit/engine/test_tip_testing.py",)

MODEL_DRAFT = "app/engine/agent/procedures/model_draft.py"
_MODEL_DRAFT = ("tests/unit/engine/test_model_steps.py",)

FAULTS = (
    Mutation(
        "model-step-forbidden",
        MODEL_DRAFT,
        'if any(map(self._is_forbidden, (step.target, step.value if step.kind is StepKind.CHOOSE else ""))):',
        "if self._is_forbidden(step.target):",
        "A model's step that chooses what the tip warns of is left out.",
        _MODEL_DRAFT,
    ),
    Mutation(
        "model-step-address",
        MODEL_DRAFT,
        'return "" if plain and plain in self._said else "the tip names no such address"',
        'return ""',
        "A model's address has to stand in the tip.",
        _MODEL_DRAFT,
    ),
    Mutation(
        "model-step-unknown-field",
        MODEL_DRAFT,
        "if unknown := sorted(set(fields) - known):",
        "if unknown := sorted(set(fields) - known - {'locator'}):",
        "An answer with a recorded locator is refused.",
        _MODEL_DRAFT,
    ),
    Mutation(
        "tip-test-never-writes",
        PROCEDURE_TEST,
        "if decision.allowed and decision.permit is None:",
        "if decision.allowed or decision.permit is None:",
        "A test of a tip never does a step that would write.",
        _PROCEDURE_TEST,
        safety=True,
    ),
    Mutation(
        "tip-test-sends-reading-forms-only",
        PROCEDURE_TEST,
        "or says_it_reads(sender, page):",
        "or sender.form:",
        "A test sends a form by GET only with a button that says it reads.",
        _PROCEDURE_TEST,
        safety=True,
    ),
    Mutation(
        "tip-test-stops-at-a-held-back-write",
        PROCEDURE_TEST,
        "if result.blocked_writes and not _led_on(action, found.element, result):",
        "if result.blocked_writes and not result.success:",
        "A step whose write was held back counts as one that would write.",
        _PROCEDURE_TEST,
    ),
    Mutation(
        "tip-test-not-reached-at-a-wall",
        PROCEDURE_TEST,
        "if result.cause in _UNREACHED:",
        "if result.cause in _UNREACHED and not self._done:",
        "A host that is down or a wall at a later step never makes a tip suspect.",
        _PROCEDURE_TEST,
    ),
    Mutation(
        "tip-test-guessed-start",
        PROCEDURE_TEST,
        "if not self._done and not tried and (self._blocked or not self.sure):",
        "if not self._done and not tried and self._blocked:",
        "A first step that is missing on a page that was a guess is not reached.",
        _PROCEDURE_TEST,
    ),
    Mutation(
        "tip-test-left-out",
        PROCEDURE_TEST,
        "if self._left_out:\n            return self._ended(",
        "if self._left_out and not self._done:\n            return self._ended(",
        "What fails after a step that was left out is not held against the tip.",
        _PROCEDURE_TEST,
    ),
    Mutation(
        "tip-test-own-address",
        PROCEDURE_TEST,
        "if self._blocked and opened.cause is Cause.ERROR_PAGE and",
        "if not self._blocked and opened.cause is Cause.ERROR_PAGE and",
        "The tip's own address that answers with an error breaks it.",
        _PROCEDURE_TEST,
    ),
    Mutation(
        "tip-test-field-value",
        PROCEDURE_TEST,
        "return a == b or (len(a) >= 60 and b.startswith(a))",
        "return a == b or bool(a)",
        "A field that holds something else than the step says breaks the tip.",
        _PROCEDURE_TEST,
    ),
    Mutation(
        "tip-test-not-reached-never-suspects",
        TESTING,
        "broke = result.outcome is TestOutcome.BROKE",
        "broke = result.outcome not in _WORKED",
        "A tip whose page was not reached never becomes suspect.",
        _TESTING,
    ),
    Mutation(
        "tip-test-suspects-only-the-trusted",
        TESTING,
        "_TRUSTED = frozenset({Status.REVIEWED, Status.ACTIVE})",
        "_TRUSTED = frozenset({Status.REVIEWED, Status.ACTIVE, Status.DRAFT, Status.RETIRED})",
        "Only a reviewed or active tip becomes suspect by a test.",
        _TESTING,
    ),
    Mutation(
        "tip-uses-counted-once",
        "kb/evidence.py",
        "if one.kind is EvidenceKind.USE and _known(connection, one, without):",
        "if one.kind is EvidenceKind.VOTE and _known(connection, one, without):",
        "A use is counted once a tip, run and step, however often a run is counted.",
        _USES,
    ),
    Mutation(
        "tip-uses-only-with-effect",
        USES,
        "if exposure.step and exposure.effect:",
        "if exposure.step:",
        "A step of a tip without a seen effect does not count as one.",
        _USES,
    ),
    Mutation(
        "tip-uses-refused-is-failed",
        USES,
        "return UseOutcome.DONE if step.executed else UseOutcome.FAILED",
        "return UseOutcome.DONE",
        "A step of a tip that was refused failed, and was not done.",
        _USES,
    ),
    Mutation(
        "takeover-typed-text-is-no-step",
        DRAFT,
        """return [_on(StepKind.FILL, target, f"{{{self._placeholder(target)}}}")]""",
        """return [_on(StepKind.FILL, target, str(args.get("value", "")))]""",
        "A text that a person typed is a placeholder in the tip, and never the text.",
        _DRAFT,
        safety=True,
    ),
    Mutation(
        "takeover-menu-that-was-closed",
        DRAFT,
        "return bool(opened.page_state) and opened.page_state == after.page_state != step.page_state",
        "return bool(opened.page_state)",
        "Two presses of one control are folded only if the page is as it was before.",
        _DRAFT,
    ),
    Mutation(
        "takeover-locator-and-warning",
        CONTROLS,
        "_still_usable(recorded, step) and not _forbidden(recorded, never):",
        "_still_usable(recorded, step):",
        "A recorded locator never finds a control that the tip warns of.",
        _DRAFT,
    ),
)
