"""Faults in the rules of suites: answers that stay hidden, halves and taint by template, hosts of a run, commands."""

from __future__ import annotations

from tests.mutation.mutation import Mutation

LINT, VALUES = "kb/lint.py", "kb/task_values.py"
SUITES, CHOOSE, TAINT = (
    "app/engine/services/suites.py",
    "app/engine/evaluation/suites/choose.py",
    "app/engine/evaluation/taint.py",
)
REQUESTS, READ = "app/engine/services/suite_requests.py", "app/engine/evaluation/suites/read_tasks.py"
MIND2WEB, COMMANDS = (
    "app/engine/evaluation/suites/online_mind2web.py",
    "app/engine/services/site_commands.py",
)
_LINT = ("tests/unit/kb/test_lint_rules.py",)
_SUITES = ("tests/unit/engine/test_suites.py",)
_CHOICE = ("tests/unit/engine/test_suite_choice.py",)
_REQUESTS = ("tests/unit/engine/test_suite_requests.py",)
_FILES = ("tests/unit/engine/test_suite_files.py",)
_COMMANDS = ("tests/unit/engine/test_site_commands.py",)

FAULTS = (
    Mutation(
        "suites-short-answers",
        LINT,
        "len(answer) >= SHORTEST_ANSWER",
        "len(answer) > SHORTEST_ANSWER",
        "An answer of four characters in a tip is found.",
        _LINT,
    ),
    Mutation(
        "suites-small-numbers",
        VALUES,
        "        return len(phrase) < 5\n",
        "        return len(phrase) < 9\n",
        "A number of ten thousand and more is an answer that a tip may not hold.",
        _LINT,
    ),
    Mutation(
        "suites-answers-in-other-parts",
        LINT,
        'parts = [("", context.text), *_other_parts(context.draft)]',
        'parts = [("", context.text)]',
        "An answer is found in every part of a tip, not in its text alone.",
        _LINT,
        safety=True,
    ),
    Mutation(
        "suites-blind-tasks",
        SUITES,
        "        blind = head is not None and head.blind\n",
        "        blind = False\n",
        "Tasks of a blind suite are shown without what is expected.",
        _SUITES,
        safety=True,
    ),
    Mutation(
        "suites-blind-outcome",
        SUITES,
        "expected=() if head.blind else expected_lines(task, suite.dialect),",
        "expected=expected_lines(task, suite.dialect),",
        "Review does not show what a run of a blind suite should have come to.",
        _SUITES,
        safety=True,
    ),
    Mutation(
        "suites-taint-by-template",
        TAINT,
        "return {task.id for task in suite.tasks if template_of(task) in templates}",
        "return {task.id for task in suite.tasks if any(taint.endswith(task.id) for taint in wanted)}",
        "Who has seen one task of a template has seen all of them.",
        _CHOICE,
        safety=True,
    ),
    Mutation(
        "suites-split-by-template",
        CHOOSE,
        'return f"template:{task.template}" if task.template else f"task:{task.id}"',
        'return f"task:{task.id}"',
        "Tasks of one template are in the same half.",
        _CHOICE,
        safety=True,
    ),
    Mutation(
        "suites-hosts-of-a-glob",
        REQUESTS,
        'if "*" not in host.removeprefix("*.")]',
        'if host.strip("*")]',
        "A glob that holds for every host of a port lets no run go there.",
        _REQUESTS,
        safety=True,
    ),
    Mutation(
        "suites-sites-nowhere",
        REQUESTS,
        "not default_start and not (row is not None and _hosts(row))",
        "not default_start and row is None",
        "A second site without an address is said before a run begins.",
        _REQUESTS,
    ),
    Mutation(
        "suites-nobody",
        REQUESTS,
        "    if task.login == NOBODY:\n        return no_login()\n",
        '    if task.login == NOBODY:\n        return ""\n',
        "A task of nobody does not begin with the site's usual log-in.",
        _REQUESTS,
    ),
    Mutation(
        "suites-first-site",
        READ,
        "(*named[:1], *listed, *named[1:])",
        "(*listed, *named)",
        "The first site of a task is the one that its start address names.",
        _FILES,
    ),
    Mutation(
        "suites-filler",
        MIND2WEB,
        "        len({orjson.dumps(one.fields.get",
        "        0 * len({orjson.dumps(one.fields.get",
        "An eval that is the same in all tasks is no oracle.",
        _FILES,
    ),
    Mutation(
        "commands-without-a-shell",
        COMMANDS,
        "words = [*shlex.split(command), *more]",
        'words = ["sh", "-c", " ".join([command, *more])]',
        "No shell reads a command of the table of sites.",
        _COMMANDS,
        safety=True,
    ),
    Mutation(
        "commands-ended-whole",
        COMMANDS,
        "os.killpg(process.pid, signal.SIGKILL)",
        "process.kill()",
        "At its limit a command is ended with what it started.",
        _COMMANDS,
    ),
)
