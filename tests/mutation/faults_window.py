"""Faults in the rules of the window while a person uses it."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

HANDS, HELD = "app/models/live/input_guard.py", "app/models/live/delayed_actions.py"
ENDINGS, REQUESTS = "app/models/live/delayed_actions.py", "app/models/live/requests.py"
NUMBERS, NEXT = "app/models/live/run_list.py", "app/models/live/next_action.py"
LABELS = "app/views/widgets/elided_label.py"
_MODELS = ("tests/gui/test_live_input_models.py",)
_WINDOW = (*_MODELS, "tests/gui/test_live_typing_and_undo.py")
_TEXTS = ("tests/gui/test_long_texts.py",)

FAULTS = (
    Mutation(
        "typing-is-no-command",
        HANDS,
        "        return typing and not in_field\n",
        "        return False\n",
        "Letters of a hint whose field is gone never become commands.",
        _MODELS,
        safety=True,
    ),
    Mutation(
        "typing-ends-without-a-command",
        HANDS,
        "return key is KeyKind.LEAVES and typing and not in_field",
        "return False",
        "The Enter that ends a hint whose field is gone decides nothing.",
        _MODELS,
        safety=True,
    ),
    Mutation(
        "typing-burst",
        HANDS,
        "        elif typing:\n            self._typed_at = self.now()\n",
        "        elif typing:\n            self._told = self._told\n",
        "A whole burst of typing is ignored, and not its first second.",
        _MODELS,
        safety=True,
    ),
    Mutation(
        "half-a-second",
        REQUESTS,
        "return self._hands.now() - self._shown_at < GRACE_SECONDS",
        "return self._hands.now() - self._shown_at < 0",
        "A decision can't hit a run that came before the eyes just now.",
        _WINDOW,
        safety=True,
    ),
    Mutation(
        "undo-for-five-seconds",
        HELD,
        "due = [action for action in self._held.values() if now - action.at >= UNDO_SECONDS]",
        "due = [action for action in self._held.values() if now - action.at >= 0]",
        "A decision that ends a run can be undone for five seconds.",
        _MODELS,
        safety=True,
    ),
    Mutation(
        "undo-takes-back",
        HELD,
        "        self.drop(action.key)\n        action.undone()\n",
        "        action.undone()\n",
        "What was undone is not sent.",
        _MODELS,
        safety=True,
    ),
    Mutation(
        "undo-holds-the-run",
        ENDINGS,
        "        elif is_active(row) and row.run not in self._paused:\n",
        "        elif is_active(row) and row.run in self._paused:\n",
        "A run that is about to be ended does nothing more meanwhile.",
        _WINDOW,
        safety=True,
    ),
    Mutation(
        "undo-goes-on",
        ENDINGS,
        "                self._tasks.start(self._client.api.continue_run(run))\n",
        "",
        "A run whose end was undone goes on.",
        _WINDOW,
    ),
    Mutation(
        "numbers-for-life",
        NUMBERS,
        "            while number in self._runs or number in self._freed:\n",
        "            while number in self._runs:\n",
        "A number that was freed goes to no other run for a while.",
        _MODELS,
    ),
    Mutation(
        "rows-rest-under-the-fingers",
        HANDS,
        "return self.now() - self._touched_at < IDLE_SECONDS",
        "return self.now() - self._touched_at < 0",
        "Rows do not change places under the fingers.",
        _WINDOW,
        safety=True,
    ),
    Mutation(
        "long-words-do-not-break",
        LABELS,
        "        self._whole, shown = text, breakable(text)\n",
        "        self._whole, shown = text, text\n",
        "A long word never makes its column wider.",
        _TEXTS,
    ),
    Mutation(
        "breaks-are-copied",
        LABELS,
        'setText(self.selectedText().replace(GAP, "") or self._whole)',
        "setText(self.selectedText() or self._whole)",
        "What is copied is the text itself.",
        _TEXTS,
    ),
    Mutation(
        "state-titles-share",
        "app/models/graph/state_titles.py",
        "count >= MOST_SHARE * titled",
        "count >= 0.1 * titled",
        "Only words that most titles of a map share are dropped.",
        ("tests/unit/app/test_state_titles.py",),
    ),
    Mutation(
        "state-titles-alone",
        "app/models/graph/state_titles.py",
        "return rest if rest and part in shared else title",
        "return rest if part in shared else title",
        "A title that is the site's name alone keeps it.",
        ("tests/unit/app/test_state_titles.py",),
    ),
    Mutation(
        "map-fits-itself",
        "app/views/graph/canvas.py",
        "elif fresh and self.camera.is_fitted and not self._sees_all():",
        "elif fresh and not self._sees_all():",
        "A map that a person has moved stays where it is while it grows.",
        ("tests/gui/test_map_view.py",),
    ),
)
