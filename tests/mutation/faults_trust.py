"""Faults in the rules of trust: secrets of a task, what a site says to a model, tips on their way to an agent."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

SECRETS, WRITTEN = "app/engine/agent/secrets.py", "app/engine/written_secrets.py"
OLD, DATABASE = "app/engine/store/old_passwords.py", "app/engine/store/database.py"
RUNNING, FLEET = "app/engine/cases/running.py", "app/engine/cases/fleet.py"
PROMPTING, PLANNER = "app/engine/agent/llm/prompting.py", "app/engine/agent/llm/planner.py"
SUMMARIZER, JUDGE = "app/engine/agent/llm/summarizer.py", "app/engine/agent/judging/questions.py"
LOOKING = "app/engine/agent/vision/looking.py"
_QUEUED = ("tests/unit/engine/test_queued_passwords.py",)
_OLD = ("tests/unit/engine/test_old_passwords.py",)
_FENCE = ("tests/unit/engine/test_prompts_fenced.py", "tests/unit/engine/test_agent_llm.py")
_LIFTING = ("tests/unit/engine/test_agent_hostile.py", "tests/unit/engine/test_queued_passwords.py")

FAULTS = (
    Mutation(
        "lifted-before-the-row",
        FLEET,
        "            request = self._running.lift(run, asked)\n",
        "            request = asked\n",
        "A password in a task is lifted before any row of a waiting run is made.",
        _QUEUED,
        safety=True,
    ),
    Mutation(
        "lifted-and-typed-later",
        RUNNING,
        "        intent, self._lifted[run] = lifted(request.intent, os.environ)\n",
        "        intent, _ = lifted(request.intent, os.environ)\n",
        "A waiting run types the password that was lifted out of its task.",
        _QUEUED,
    ),
    Mutation(
        "lifted-missing-secret",
        SECRETS,
        "        if not value:\n            gone",
        "        if not value and not name:\n            gone",
        "A secret that is nowhere is one sentence before the run, and is never typed as its name.",
        _LIFTING,
        safety=True,
    ),
    Mutation(
        "lifted-other-languages",
        WRITTEN,
        "|kennwort|wachtwoord",
        "|wachtwoord",
        "A password is lifted out of a task in German.",
        _LIFTING,
        safety=True,
    ),
    Mutation(
        "lifted-without-quotes",
        WRITTEN,
        "_BARE.sub(lift_bare, _QUOTED.sub(lift_quoted, intent))",
        "_QUOTED.sub(lift_quoted, intent)",
        "A password without quotes is lifted.",
        _LIFTING,
        safety=True,
    ),
    Mutation(
        "old-passwords-elsewhere",
        OLD,
        "            _sweep(connection, table, known)\n",
        "            pass\n",
        "A lifted password is taken out of every other row it stands in.",
        _OLD,
        safety=True,
    ),
    Mutation(
        "old-passwords-requests",
        OLD,
        '_TASKS = ("document", "request")',
        '_TASKS = ("document",)',
        "A password is taken out of what a run was begun with, too.",
        _OLD,
        safety=True,
    ),
    Mutation(
        "old-passwords-free-pages",
        DATABASE,
        '        connection.execute("PRAGMA secure_delete=ON")\n',
        "",
        "What a migration takes out for good is in none of the file's free pages.",
        _OLD,
        safety=True,
    ),
    Mutation(
        "old-passwords-backup",
        DATABASE,
        "            for purge in purges:\n                purge(clean)\n",
        "",
        "What a migration takes out for good is not in its backup.",
        _OLD,
        safety=True,
    ),
    Mutation(
        "old-passwords-guards-back",
        OLD,
        "    for guard in guards:\n        connection.execute(str(guard[1]))\n",
        "",
        "Rows that are kept for ever are guarded again after the sweep.",
        _OLD,
        safety=True,
    ),
    Mutation(
        "fence-marker-taken-out",
        PROMPTING,
        'redacted((self.mask(seen) if self.mask is not None else seen).replace(self.marker, "…"))',
        "redacted(self.mask(seen) if self.mask is not None else seen)",
        "No page can close its fence, as its marker is taken out of what it says.",
        _FENCE,
        safety=True,
    ),
    Mutation(
        "fence-summary",
        SUMMARIZER,
        'fence.around("summary so far", summary) if summary',
        'f"Summary so far: {summary}" if summary',
        "The summary that a summarizer is given is material.",
        _FENCE,
        safety=True,
    ),
    Mutation(
        "fence-place",
        SUMMARIZER,
        'fence.around("place", f"{fence.line(sight.page.url, 300)}\\n{fence.line(sight.page.title)}")',
        'f"The agent is at {fence.line(sight.page.url, 300)}, {fence.line(sight.page.title)}"',
        "A page's title is material for the summarizer.",
        _FENCE,
        safety=True,
    ),
    Mutation(
        "fence-claim",
        PLANNER,
        'told = fence.around("answer", answer)',
        "told = answer",
        "The answer that a planner is to check is material.",
        _FENCE,
        safety=True,
    ),
    Mutation(
        "fence-judged-action",
        JUDGE,
        'user(task, fence.around("the action", told), *parts, changes)',
        "user(task, told, *parts, changes)",
        "What an action said is material for the judge.",
        _FENCE,
        safety=True,
    ),
    Mutation(
        "fence-last-address",
        JUDGE,
        'fence.around("the page it ended on", f"{_line(where.title, fence)} {_line(where.url, fence)}")',
        'f"The page it ended on: {_line(where.title, fence)} {_line(where.url, fence)}"',
        "The title a run ended on is material for the judge.",
        _FENCE,
        safety=True,
    ),
    Mutation(
        "fence-vision",
        LOOKING,
        "\\n{fence.around('the page', told)}\"",
        '\\n{told}"',
        "What a page says is material for a vision model.",
        _FENCE,
        safety=True,
    ),
)
