"""Made-up runs, trees, flags and tips that look like an annotator's morning: five sites, 12 steps a run."""

from __future__ import annotations

from app.engine.core.actions.recorded import ActionTarget, RecordedAction
from app.engine.core.ax_tree import AxTreeLine
from app.engine.core.trajectory import ErrorClass, Outcome, Run, Step
from app.engine.core.verdicts import Flag, Severity
from kb.tip import (
    Kind,
    Provenance,
    Scope,
    Status,
    Tip,
)

NOW = 1_790_000_000.0

SITES = {
    "gitlab": ("http://gitlab.example:8023", "Create a milestone for the upcoming event of Exporting Tweets"),
    "shopping": (
        "http://shop.example:7770",
        "Show the least expensive ssd hard drive with a minimum storage of 1TB",
    ),
    "shopping_admin": (
        "http://shop.example:7780/admin",
        "Tell me the number of reviews that mention 'satisfied'",
    ),
    "reddit": ("http://forum.example:9999", "Thumbs down the top 5 posts ever in technology"),
    "map": ("http://map.example:3000", "Find the walking distance from the nearest gas station to CMU"),
}
DETECTORS = (
    "state-action-loop",
    "no-effect",
    "step-limit",
    "covered-element",
    "far-longer",
    "gave-up",
    "no-answer",
)
MESSAGES = {
    "state-action-loop": "The same click on the same page, 4 times in a row",
    "no-effect": "The click on 'Save' changed nothing (3rd time)",
    "step-limit": "Stopped at the limit of 12 steps",
    "covered-element": "The button was covered by the dialog 'Cookies'",
    "far-longer": "12 steps: 2.1x what this site usually takes",
    "gave-up": "The agent said that it can't be done",
    "no-answer": "The run ended without an answer",
}
STEPS = 12
RUNS = 40

WORDS = (
    ("link", "Issues"),
    ("link", "Milestones"),
    ("button", "New milestone"),
    ("textbox", "Title"),
    ("textbox", "Start Date"),
    ("textbox", "Due Date"),
    ("button", "Create milestone"),
    ("combobox", "Sort by"),
    ("option", "Year"),
    ("link", "Next page"),
    ("searchbox", "Search"),
    ("button", "Save"),
)


def make_run(number: int) -> Run:
    site = list(SITES)[number % len(SITES)]
    address, intent = SITES[site]
    if number == 7:
        intent = "Post a notice on a virtual meetup for " + "a very long list of book lovers, " * 9
    if number == 11:
        intent = "מצא את המוצר הזול ביותר בקטגוריה"  # a right-to-left text must not upset the layout
    score = (0.0, 1.0, 0.0, 0.5, None)[number % 5] if number % 7 else 0.0
    return Run(
        id=f"cba-{site}-{100 + number}",
        source="colorbrowseragent",
        suite="webarena",
        task_id=str(100 + number),
        site=site,
        sites=(site,),
        intent=intent,
        start_url=address,
        score=score,
        outcome=Outcome.STEP_LIMIT if number % 3 == 0 else Outcome.ANSWERED,
        answer=None if number % 3 == 0 else "Nothing found",
        step_limit=STEPS,
        step_count=STEPS,
        started_at=NOW - 3600.0 * number,
        imported_at=NOW,
        notes=("step_4.pkl.gz is missing",) if number == 5 else (),
    )


def make_step(run: Run, index: int) -> Step:
    role, name = WORDS[index % len(WORDS)]
    action: RecordedAction | None
    if index == STEPS - 1 and run.answer:
        action, role, name = RecordedAction(kind="send_msg_to_user", args={"text": run.answer}), "", ""
    elif role in ("textbox", "searchbox"):
        action = RecordedAction(kind="fill", args={"bid": str(100 + index), "value": "Exporting Tweets"})
    elif index == 8:
        action = None
    else:
        action = RecordedAction(kind="click", args={"bid": str(100 + index)})
    return Step(
        index=index,
        url=f"{run.start_url}/byteblaze/dotfiles/-/milestones/{'new' if index > 3 else ''}?page={index}",
        title=f"{name or 'Milestones'} · byteblaze / dotfiles",
        reason=f"The form needs {name!r} before it can be saved, so I use it now and look at what changes.",
        raw_output="<think>…",
        action=action,
        target=ActionTarget(role=role, name=name, bid=str(100 + index)) if role and action else None,
        executed=action is not None,
        error="Timeout 500ms exceeded: <div class='modal'> intercepts pointer events"
        if index in (5, 6)
        else "",
        error_class=ErrorClass.HARD
        if index == 5
        else (ErrorClass.SOFT if index == 6 else (ErrorClass.HARNESS if action is None else ErrorClass.NONE)),
        tree="0" * 64,
        state=f"{index % 5:016x}",
        notices=("Due date can't be before start date",) if index == 6 else (),
        started_at=run.started_at + index * 8,
        env_seconds=1.4,
        agent_seconds=6.2,
    )


def tree(index: int, *, after: bool) -> tuple[AxTreeLine, ...]:
    """A page's lines: 160 of them, some changed between before and after."""
    lines = [
        AxTreeLine(
            depth=0,
            role="RootWebArea",
            name="Milestones · byteblaze / dotfiles",
            bid="1",
            properties="focused",
        )
    ]
    for number in range(160):
        role, name = WORDS[number % len(WORDS)]
        target = number == index
        change = "same"
        if after and number in (index + 3, index + 4):
            change = "added"
        elif not after and number == index + 7:
            change = "removed"
        elif number == index + 9:
            change = "changed"
        lines.append(
            AxTreeLine(
                depth=1 + number % 4,
                role=role,
                name=f"{name} {number // 12}" if number >= 12 else name,
                bid=str(100 + number),
                properties="value='Exporting Tweets'" if role == "textbox" and after else "",
                change=change,  # type: ignore[arg-type]
                is_target=target and not after,
            )
        )
    return tuple(lines)


def make_flags(run: Run, number: int) -> tuple[Flag, ...]:
    if run.score == 1.0 and number % 2:
        return ()
    found: list[Flag] = []
    for offset in range(1 + number % 3):
        name = DETECTORS[(number + offset) % len(DETECTORS)]
        found.append(
            Flag(
                run=run.id,
                detector=name,
                step=min(STEPS - 1, 4 + offset * 3),
                severity=(Severity.ERROR, Severity.WARNING, Severity.HINT)[offset % 3],
                confidence=0.9 - 0.2 * offset,
                message=MESSAGES[name],
                evidence={"times": 3},
            )
        )
    return tuple(found)


def make_tips() -> list[Tip]:
    texts = (
        "The milestone form saves only after Title is set: fill Title, then the dates, then 'Create milestone'.",
        "Sorting by price needs the 'Sort by' box; the arrow beside it turns the direction around.",
        "The reviews grid counts only approved reviews: set the filter 'Status' to 'All' before counting.",
        "A post's score is the number beside the arrows; the list is by 'Hot' unless 'Top' and 'All time' are chosen.",
        "Walking routes need the second tab of the form; the first shows the way by car.",
    )
    statuses = (Status.ACTIVE, Status.REVIEWED, Status.DRAFT, Status.SUSPECT, Status.RETIRED)
    kinds = [kind for kind in Kind if kind is not Kind.LEARNING]
    tips: list[Tip] = []
    for number in range(14):
        site = list(SITES)[number % len(SITES)]
        tips.append(
            Tip(
                id=f"{site}-{number + 1:03d}",
                site=site,
                text=texts[number % len(texts)],
                scope=Scope.parse(
                    ("*:8023/*/-/milestones/**", "/catalog/**?sort", "", "/f/*/top", "/directions")[
                        number % 5
                    ]
                ),
                kind=kinds[number % len(kinds)],
                when="the page shows the form",
                do="fill Title first",
                before="set the filter",
                why="the button stays off until then",
                keywords=("milestone", "title"),
                status=statuses[number % len(statuses)],
                provenance=Provenance(
                    run=f"cba-{site}-{100 + number}", step=4, author="ana", detector="no-effect"
                ),
                taint=(str(100 + number),),
                revision=1 + number % 3,
                created_at=NOW - 86400 * number,
                changed_at=NOW - 3600 * number,
            )
        )
    return tips
