"""Faults in the rules by which a Playwright trace becomes a run: what is a step, who scores, what is never kept."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

FILES, SNAPSHOTS = "app/engine/imports/playwright_files.py", "app/engine/imports/playwright_snapshots.py"
ACTIONS, STEPS = "app/engine/imports/playwright_actions.py", "app/engine/imports/playwright_steps.py"
IMPORTER, TRACE = "app/engine/imports/playwright.py", "app/engine/imports/playwright_trace.py"
PAGES = "app/engine/imports/playwright_pages.py"
_RUNS = ("tests/unit/engine/test_import_playwright.py",)
_HOSTILE = ("tests/unit/engine/test_import_playwright_hostile.py",)

FAULTS = (
    Mutation(
        "playwright-keeps-passwords-of-pages",
        SNAPSHOTS,
        'held["value"] = MARK',
        "pass",
        "The value of a password field in a DOM snapshot is never kept.",
        _RUNS,
        safety=True,
    ),
    Mutation(
        "playwright-keeps-typed-passwords",
        STEPS,
        "self._secrets.add(typed)",
        "pass",
        "A typed password is kept nowhere, neither in addresses nor in messages.",
        _RUNS,
        safety=True,
    ),
    Mutation(
        "playwright-keeps-keys-of-passwords",
        STEPS,
        'if not is_secret and not (self._on_password and action.kind.startswith("keyboard")):',
        "if not is_secret:",
        "Keys typed after a password field was clicked are masked.",
        _RUNS,
        safety=True,
    ),
    Mutation(
        "playwright-unpacks-bombs",
        FILES,
        "if entry.file_size > SMALL_ENTRY and entry.file_size / packed > MAX_RATIO:",
        "if False:",
        "A zip bomb is refused before it is unpacked.",
        _HOSTILE,
        safety=True,
    ),
    Mutation(
        "playwright-leaves-the-folder",
        FILES,
        'if len(inside) != 2 or any(part in ("", ".", "..") or "\\\\" in part for part in inside):',
        "if False:",
        "No name in a trace leads out of its folder.",
        _HOSTILE,
        safety=True,
    ),
    Mutation(
        "playwright-guesses-a-pass",
        IMPORTER,
        "return 1.0 if trace.runner_ended else None",
        "return 1.0",
        "A test whose end was not recorded has no score.",
        _RUNS,
    ),
    Mutation(
        "playwright-scores-skipped-tests",
        IMPORTER,
        'if not trace.has_runner or trace.annotations & {"fail", "skip", "fixme"}:\n        return None',
        "if not trace.has_runner:\n        return None",
        "A skipped test has no score.",
        _RUNS,
    ),
    Mutation(
        "playwright-steps-of-reads",
        ACTIONS,
        "if method in _READS:\n        return CallKind.READS",
        "if method in _READS:\n        return CallKind.ACTS",
        "A read is no step; its value stands with the step before.",
        _RUNS,
    ),
    Mutation(
        "playwright-old-assertions-always-hold",
        ACTIONS,
        'return isinstance(matches, bool) and matches == (call.params.get("isNot") is True)',
        "return False",
        "Before version 10 an assertion's result alone says that it did not hold.",
        _RUNS,
    ),
    Mutation(
        "playwright-shows-the-page-before",
        PAGES,
        "if not then or then == self._address(page, time):",
        "if True:",
        "A picture of the page before is not shown for the next.",
        _RUNS,
    ),
    Mutation(
        "playwright-hides-damage",
        TRACE,
        'self._trace.damaged += bool(line.strip()) or line == b""',
        "self._trace.damaged += 0",
        "Damaged lines are counted and said.",
        _HOSTILE,
    ),
)
