"""The plan of an evaluation: its tasks, arms and order, what speaks against it, and what it would take."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from app import settings
from app.engine.api.evaluation_api import EvaluationPlan, EvaluationRequest
from app.engine.core.evaluation.episode import Arm, EpisodeRecord, EvaluationHead, EvaluationJournal
from app.engine.core.evaluation.suite import Suite, SuiteTask, TaskFilter
from app.engine.core.prompt_set import prompt_digest
from app.engine.evaluation.planning import (
    WORKER_GB,
    grouped_problems,
    scoring_problem,
    site_waits,
    usual_seconds,
    wall_hours,
)
from app.engine.evaluation.protocol import Episode, arms_of, episodes_left, ordered_episodes, ordered_tasks
from app.engine.evaluation.suites.choose import chosen_tasks
from app.engine.evaluation.taint import tainted_tasks
from app.engine.services.core import Core
from app.engine.services.episode_logins import missing_login
from app.engine.services.left_out_arms import left_out_arms
from app.engine.services.prompts import prompts_in_force
from app.engine.services.rescoring import fitting_dialect
from app.engine.services.site_logins import saved_login
from app.engine.services.suite_requests import run_request, site_row, unbound_names
from app.engine.services.suites import SuiteService
from app.errors import SiteloreError
from app.model_keys import model_key
from kb.errors import KbError
from kb.freeze import verify
from kb.manifest import read_manifest

_POLICIES = ("scout", "llm")
_BASE = re.compile(r"__[A-Z0-9]+(?:_[A-Z0-9]+)*__")


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedEvaluation:
    """An evaluation that is ready to be run.

    Attributes:
        tasks: in their order.  episodes: all of them, in order.
        unfit: why a task can't be run or scored, by id; its episodes are recorded with that and not run.
        problems: why nothing can be run.
    """

    request: EvaluationRequest
    suite: Suite
    head: EvaluationHead
    tasks: tuple[SuiteTask, ...]
    episodes: tuple[Episode, ...]
    unfit: dict[str, str] = field(default_factory=dict[str, str])
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


_LOGGED_IN_FORMS = ("webarena", "webchorearena")
"""Benchmarks whose tasks begin logged in, wherever a site has accounts."""


class EvaluationPreparer:
    """Prepares evaluations: for a plan, and for a run."""

    def __init__(self, core: Core, suites: SuiteService) -> None:
        self._core, self._suites = core, suites

    async def prepared(self, request: EvaluationRequest) -> PreparedEvaluation:
        """Return an evaluation with all that speaks against it.

        Raises:
            NotFound: there is no such suite, task, site, type or subset.  InputError: the suite is damaged.
            UsageError: its two knowledge bases have one name, or a number makes no sense.
        """
        suite = await self._suites.suite(request.suite)
        dialect = fitting_dialect(request.dialect, suite)
        chosen = chosen_tasks(suite, request.tasks)
        wanted = (*arms_of(request), *await self._core.on_worker(left_out_arms, request))
        arms, problems, taints = await self._core.on_worker(_checked_arms, wanted)
        tainted = tainted_tasks(suite, taints) & {task.id for task in chosen}
        warnings = list[str]()
        if tainted and request.tainted == "leave out":
            chosen = tuple(task for task in chosen if task.id not in tainted)
            warnings.append(
                f"{len(tainted)} tainted tasks are left out: authors of tips had seen their templates"
            )
            tainted = set[str]()
        elif tainted and request.tainted == "refuse":
            problems.append(
                f"{len(tainted)} of {len(chosen)} tasks are tainted: authors of tips had seen their templates; leave"
                " them out with --tainted 'leave out', or have them marked with --tainted mark"
            )
        elif tainted:
            warnings.append(
                f"{len(tainted)} of {len(chosen)} tasks are tainted and will be marked in every table"
            )
        tasks = ordered_tasks(chosen, request.seed)
        unfit = await self._core.on_store(self._unfit, suite, tasks)
        problems += await self._core.on_store(self._general_problems, request, tasks)
        told = grouped_problems(unfit.items())
        if tasks and len(unfit) == len(tasks):
            problems += told
        else:
            warnings += [f"{words}; left undecided" for words in told]
        warnings += await self._core.on_store(self._site_warnings, suite, tasks)
        head = EvaluationHead(
            name=request.name or suite.name,
            suite=suite.name,
            suite_sha256=suite.sha256,
            dialect=dialect.value,
            policy=request.policy,
            arms=arms,
            tasks=tuple(task.id for task in tasks),
            repeats=request.repeats,
            max_steps=request.max_steps,
            model=settings.load().model_name if request.policy == "llm" else "",
            prompts_sha256=await self._core.on_store(self._prompts, request.policy),
            tainted=tuple(task.id for task in tasks if task.id in tainted),
            seed=request.seed,
            options=_options(request),
            versions=_versions(),
            machine=_machine(),
            begun_at=time.time(),
        )
        return PreparedEvaluation(
            request=request,
            suite=suite,
            head=head,
            tasks=tasks,
            episodes=tuple(ordered_episodes(tasks, arms, request.repeats)),
            unfit=unfit,
            problems=tuple(problems),
            warnings=tuple(warnings),
        )

    def plan(
        self, prepared: PreparedEvaluation, known: Sequence[EpisodeRecord], journal: EvaluationJournal | None
    ) -> EvaluationPlan:
        """Return the plan of a prepared evaluation.

        Args:
            known: records of episodes of the same suite and policy.
            journal: of the folder it would go on in, if there is one.
        """
        from app.engine.evaluation.statistics.planner import PlanAssumptions, plan_power

        request = prepared.request
        left = episodes_left(prepared.episodes, journal.records if journal is not None else ())
        seconds, based_on = usual_seconds(known, request.policy)
        templates = len({task.cluster for task in prepared.tasks})
        power = plan_power(
            templates,
            PlanAssumptions(
                per_template=len(prepared.tasks) / templates if templates else 1.0, repeats=request.repeats
            ),
        )
        return EvaluationPlan(
            head=prepared.head,
            episodes=len(prepared.episodes),
            done=len(prepared.episodes) - len(left),
            templates=templates,
            problems=prepared.problems,
            warnings=prepared.warnings,
            hours=wall_hours(left, seconds, request.workers),
            seconds_per_run=seconds,
            based_on=based_on,
            memory_gb=round(WORKER_GB * request.workers, 1),
            sites=site_waits(left, seconds, request.workers),
            power=power.power,
            templates_needed=power.templates_needed,
        )

    def _unfit(self, suite: Suite, tasks: Sequence[SuiteTask]) -> dict[str, str]:
        rows = self._core.workspace.site_store.rows
        found = dict[str, str]()
        for task in tasks:
            why = scoring_problem(task)
            unknown = next((name for name in task.sites if site_row(name, rows) is None), "")
            if not why and unknown:
                why = (
                    f"the site '{unknown}' is not in the table of sites; add it with: sitelore sites add {unknown}"
                    f" --base __{unknown.upper()}__=URL"
                )
            why = why or _start_problem(suite, task, rows) or missing_login(task, rows)
            if why:
                found[task.id] = why
        return found

    def _site_warnings(self, suite: Suite, tasks: Sequence[SuiteTask]) -> list[str]:
        """Return what would make arms unlike each other: sites that nothing puts back, or where nobody is logged in."""
        rows = self._core.workspace.site_store.rows
        writes, used = Counter[str](), Counter[str]()
        for task in tasks:
            used.update(task.sites)
            writes.update(task.sites if task.writes else ())
        known = {name: row for name in used if (row := site_row(name, rows)) is not None}
        found = [
            f"{count} {'task changes' if count == 1 else 'tasks change'} the site '{name}', which has no reset command,"
            " so what one run changes stays for the next; set one with:"
            f" sitelore sites edit {known[name].name} --reset CMD"
            for name, count in sorted(writes.items())
            if name in known and not known[name].reset
        ]
        if suite.form in _LOGGED_IN_FORMS:
            found += [
                f"nobody is logged in on the site '{name}' ({count} tasks); log in with: sitelore sites login"
                f" {known[name].name}"
                for name, count in sorted(used.items())
                if name in known and not known[name].login and not saved_login(known[name].name)
            ]
        return found

    def _general_problems(self, request: EvaluationRequest, tasks: Sequence[SuiteTask]) -> list[str]:
        problems = list[str]()
        if not tasks:
            problems.append("no task is left to be run")
        if request.policy not in _POLICIES:
            problems.append(f"there is no policy {request.policy!r}; use scout or llm")
        if request.policy == "llm" and not (settings.load().model_url or model_key()):
            problems.append(
                "the llm policy needs a model, and no endpoint is set: sitelore model test says how"
            )
        problems += [
            f"the number of {name} must be at least 1"
            for name, value in (("repeats", request.repeats), ("workers", request.workers))
            if value < 1
        ]
        if request.maps != "no":
            known = self._core.workspace.graph_sites()
            rows = self._core.workspace.site_store.rows
            own = {row.name for task in tasks for one in task.sites if (row := site_row(one, rows))}
            if own and not own & set(known):
                problems.append(
                    "none of the sites has a map; make one with: sitelore explore URL --site SITE"
                )
        return problems

    def _prompts(self, policy: str) -> str:
        if policy != "llm":
            return ""
        texts = prompts_in_force(self._core.workspace).texts
        return prompt_digest("\0".join(f"{name}\0{texts[name]}" for name in sorted(texts)))


def request_of(head: EvaluationHead, folder: Path, workers: int = 0) -> EvaluationRequest:
    """Return the request of an evaluation that is to go on; its tasks are those of its head."""
    stored = dict(head.options)
    arms = [arm.kb for arm in head.arms]
    maps = {arm.maps for arm in head.arms}
    return EvaluationRequest(
        suite=stored.get("suite_file") or head.suite,
        tasks=TaskFilter(ids=head.tasks),
        against=arms[0],
        kb=next((kb for kb in arms if kb != arms[0]), arms[0]),
        maps="both" if len(maps) > 1 else "yes" if True in maps else "no",
        policy=head.policy,
        repeats=head.repeats,
        workers=workers or int(stored.get("workers", "1")),
        engine="ray" if stored.get("engine") == "ray" else "local",
        address=stored.get("address", ""),
        out=str(folder),
        max_steps=head.max_steps,
        max_seconds=float(stored.get("max_seconds", "0")),
        max_tokens=int(stored.get("max_tokens", "0")),
        max_money=float(stored.get("max_money", "0")),
        dialect=head.dialect,
        infeasible_is_na=stored.get("infeasible_is_na") == "yes",
        off_site_is_zero=stored.get("off_site_is_zero") == "yes",
        tainted="mark",
        seed=head.seed,
        name=head.name,
        leave_out=tuple(stored["leave_out"].split(", ")) if stored.get("leave_out") else (),
    )


def _options(request: EvaluationRequest) -> tuple[tuple[str, str], ...]:
    """Return what a request says besides the fields of the head, as texts."""
    chosen = {name: value for name, value in asdict(request.tasks).items() if value}
    file = Path(request.suite).expanduser().absolute()
    return (
        *((("suite_file", str(file)),) if file.is_file() else ()),
        *((name, str(getattr(request, name))) for name in ("engine", "address", "workers")),
        *((name, str(getattr(request, name))) for name in ("max_seconds", "max_tokens", "max_money")),
        ("infeasible_is_na", "yes" if request.infeasible_is_na else "no"),
        ("off_site_is_zero", "yes" if request.off_site_is_zero else "no"),
        *((("leave_out", ", ".join(request.leave_out)),) if request.leave_out else ()),
        *((name, value if isinstance(value, str) else ", ".join(value)) for name, value in chosen.items()),
    )


def _start_problem(suite: Suite, task: SuiteTask, rows: Any) -> str:
    if unbound := unbound_names(_BASE.findall(task.start_url), rows):
        return f"{unbound[0]} stands for no address; bind it with: sitelore sites edit SITE --base {unbound[0]}=URL"
    try:
        run_request(suite, replace(task, login=""), rows, logins=False)
    except SiteloreError as error:
        return str(error).removeprefix(f"task {task.id[:40]}: ")
    return ""


def _checked_arms(arms: Sequence[Arm]) -> tuple[tuple[Arm, ...], list[str], set[str]]:
    """Return the arms with the hashes of their files, what is wrong with these, and the tasks that taint them."""
    checked, problems, taints = list[Arm](), list[str](), set[str]()
    for arm in arms:
        if arm.kb == "none":
            checked.append(arm)
            continue
        path = Path(arm.kb).expanduser().absolute()
        try:
            report = verify(path)
            problems += [f"{path}: {problem}" for problem in report.problems]
            checked.append(replace(arm, kb=str(path), kb_sha256=report.sha256, tips=report.tips))
            taints |= _taints(read_manifest(path).data)
        except (KbError, OSError) as error:
            problems.append(str(error))
            checked.append(replace(arm, kb=str(path)))
    return tuple(checked), list(dict.fromkeys(problems)), taints


def _taints(manifest: dict[str, Any]) -> set[str]:
    part: Any = manifest.get("taint")
    tasks: Any = cast("dict[str, Any]", part).get("tasks") if isinstance(part, dict) else None
    return (
        {one for one in cast("list[Any]", tasks) if isinstance(one, str)}
        if isinstance(tasks, list)
        else set()
    )


def _versions() -> tuple[tuple[str, str], ...]:
    def version(package: str) -> str:
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return "unknown"

    return (
        ("sitelore", version("sitelore")),
        ("python", platform.python_version()),
        ("playwright", version("playwright")),
    )


def _machine() -> tuple[tuple[str, str], ...]:
    memory = ""
    if sys.platform != "win32":
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        memory = f"{size / 1e9:.1f} GB"
    return (
        ("processors", str(os.cpu_count() or 1)),
        ("memory", memory),
        ("system", f"{platform.system()} {platform.release()}"),
    )
