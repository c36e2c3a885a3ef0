"""Faults in the rules of browser-use, Online-Mind2Web, SeeAct and OSWorld, and in the words of pictures."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

_IMPORTS = "app/engine/imports"
_BROWSER_USE = ("tests/unit/engine/test_import_browser_use.py",)
_FOLDERS = ("tests/unit/engine/test_import_benchmark_folders.py",)

FAULTS = (
    Mutation(
        "failed-claim-is-an-answer",
        f"{_IMPORTS}/browser_use_actions.py",
        '    if args.get("success") is False:\n',
        '    if args.get("success") is None:\n',
        "An agent that says it could not do the task has given up.",
        _BROWSER_USE,
    ),
    Mutation(
        "actions-that-never-ran",
        f"{_IMPORTS}/browser_use.py",
        "        done = entries[: len(results)] if results else entries\n",
        "        done = entries\n",
        "Actions without a result are no steps.",
        _BROWSER_USE,
    ),
    Mutation(
        "pictures-outside",
        f"{_IMPORTS}/picture_files.py",
        "            if not _is_inside(self.folder, place):\n",
        "            if not place:\n",
        "No picture outside of the run's folder is read.",
        _BROWSER_USE,
    ),
    Mutation(
        "desktop-pictures-before",
        f"{_IMPORTS}/osworld.py",
        '        shown = before[index] or (after[index - 1] if index else "")\n',
        "        shown = before[index] or after[index]\n",
        "OSWorld takes its pictures after the actions.",
        _FOLDERS,
    ),
    Mutation(
        "pictures-after-going",
        f"{_IMPORTS}/online_mind2web.py",
        "    after = bool(entries) and not extra and _starts_by_going(entries)\n",
        "    after = False\n",
        "Pictures of a run that begins by opening its site are those after its actions.",
        _FOLDERS,
    ),
    Mutation(
        "box-of-another-element",
        f"{_IMPORTS}/seeact.py",
        "        target_box=_box(element) if _is_of(element, phrase) else None,\n",
        "        target_box=_box(element),\n",
        "A prediction's box is shown only for the element that was acted on.",
        _FOLDERS,
    ),
    Mutation(
        "words-over-trees",
        f"{_IMPORTS}/picture_words.py",
        "        if not digests or any(page.tree or page.html for page in pages):\n",
        "        if not digests:\n",
        "Words of pictures stand only where a run has nothing else of its pages.",
        ("tests/unit/engine/test_picture_words.py",),
    ),
)
