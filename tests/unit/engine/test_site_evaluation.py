"""The sites as suites, and the state that an evaluation asks of a site before and after a run."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.sites.__main__ import OPEN, SEALED, main, site_of
from benchmarks.sites.evaluation import (
    command_line,
    holds,
    save_login,
    state_after,
    state_before,
    suite_document,
)
from benchmarks.sites.site import Account, Site
from benchmarks.sites.tasks import SETS, TaskSet, load_tasks

if TYPE_CHECKING:
    from playwright.async_api import Page

TASKS: list[dict[str, Any]] = [
    {
        "id": "q",
        "kind": "question",
        "template": "count",
        "intent": "How many pots are there?",
        "answer": "number",
        "sql": "SELECT count(*) FROM pot",
    },
    {
        "id": "w",
        "kind": "way",
        "template": "open",
        "intent": "Open the jug.",
        "login": "potter",
        "sql": "SELECT name FROM pot WHERE id = 1",
        "url": r"/pots/{0}(?:\?.*)?",
    },
    {
        "id": "c",
        "kind": "change",
        "template": "rename",
        "intent": "Call the bowl dish.",
        "after": [{"sql": "SELECT id, name FROM pot WHERE id <> 1", "rows": [[3, "cup"], [2, "dish"]]}],
        "may_change": {"pot": 1},
    },
    {
        "id": "none",
        "kind": "question",
        "template": "of-nothing",
        "intent": "Which pot is gold?",
        "answer": "text",
        "sql": "SELECT name FROM pot WHERE name = 'gold'",
    },
]


class PotSite(Site):
    """A table of pots that nothing serves."""

    name = "pots"
    port = 9
    accounts = {"potter": Account("ada", "made-up-1")}
    databases = ("pots.db",)
    content = {"pot": "SELECT id, name, weight, mark FROM pot"}
    runs = True

    def fill(self) -> None:
        raise NotImplementedError

    def command(self) -> Sequence[str]:
        raise NotImplementedError

    async def log_in(self, page: Page, account: Account) -> None:
        raise NotImplementedError

    def is_running(self) -> bool:
        return self.runs

    @property
    def data(self) -> Path:
        return self.home / "data"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PotSite:
    monkeypatch.setenv("SITES_HOME", str(tmp_path))
    made = PotSite()
    made.data.mkdir(parents=True)
    made.live.mkdir()
    (made.data / "tasks.json").write_text(json.dumps(TASKS), encoding="utf-8")
    change(
        made,
        "CREATE TABLE pot (id INTEGER, name TEXT, weight REAL, mark BLOB)",
        "INSERT INTO pot VALUES (1, 'jug (old)', 0.1, x'00ff'), (2, 'bowl', 2.5, NULL), (3, 'cup', NULL, NULL)",
    )
    return made


def change(site: Site, *statements: str) -> None:
    with closing(sqlite3.connect(site.live / "pots.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


# suites


@pytest.mark.parametrize("which", SETS)
def test_a_suite_has_every_task_and_none_of_its_oracle(which: TaskSet) -> None:
    sites = [site_of(name) for name in OPEN]
    document = suite_document(sites, which)
    tasks = {(site.name, task.id): task for site in sites for task in load_tasks(site, which)}

    assert (document["format"], document["version"]) == ("sitelore-suite", 1)
    assert {(task["sites"][0], task["id"]) for task in document["tasks"]} == tasks.keys()
    for written in document["tasks"]:
        task = tasks[written["sites"][0], written["id"]]
        assert written["start_url"] == f"__{written['sites'][0].upper()}__{task.start}"
        assert (written["intent"], written["template"], written["kind"]) == (
            task.intent,
            task.template,
            task.kind,
        )
        assert written["writes"] == (task.kind == "change")
        assert written["login"] == (task.login or "nobody")
        evaluator = {"question": "answer", "way": "page", "change": "state"}[task.kind]
        assert written["oracle"]["evaluators"] == [evaluator]
    assert not re.search(r"\bSELECT\b", json.dumps(document))


@pytest.mark.parametrize("name", SEALED)
def test_a_sealed_site_has_tasks_of_one_set_only(name: str) -> None:
    assert suite_document([site_of(name)])["tasks"]
    for which in SETS[1:]:
        with pytest.raises(RuntimeError, match=f"{name} has no "):
            suite_document([site_of(name)], which)


def test_the_kind_of_an_answer_is_told_and_of_other_tasks_nothing(site: PotSite) -> None:
    oracles = {task["id"]: task["oracle"] for task in suite_document([site])["tasks"]}
    assert oracles["q"] == {"evaluators": ["answer"], "answer_kind": "number"}
    assert oracles["w"] == {"evaluators": ["page"]}
    assert oracles["c"] == {"evaluators": ["state"]}


def test_two_tasks_of_one_id_make_no_suite(site: PotSite) -> None:
    with pytest.raises(RuntimeError, match="two tasks have the id q"):
        suite_document([site, site])


def test_a_suite_is_written_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "suite.json"
    main(["suite", *OPEN, "--out", str(file), "--held-back"])
    assert json.loads(file.read_text("utf-8")) == suite_document(
        [site_of(name) for name in OPEN], "held_back"
    )


# states


def test_before_a_question_its_right_answers_are_told(site: PotSite) -> None:
    assert state_before(site, "q") == {"answer": ["3"]}


def test_the_expression_of_a_way_is_finished_and_what_is_put_in_is_escaped(site: PotSite) -> None:
    page = state_before(site, "w")["page"]
    assert re.fullmatch(page, "/pots/jug (old)?sort=id")
    assert not re.fullmatch(page, "/pots/jug old")


def test_before_a_change_nothing_is_told(site: PotSite) -> None:
    assert state_before(site, "c") == {}


def test_after_a_change_what_was_to_be_and_what_is_are_in_one_order(site: PotSite) -> None:
    state_before(site, "c")
    wanted = [[2, "dish"], [3, "cup"]]
    unchanged = state_after(site, "c")
    change(site, "UPDATE pot SET name = 'dish' WHERE id = 2")
    done = state_after(site, "c")

    assert unchanged["checks"] == [
        {"name": "rename 1", "expected": wanted, "found": [[2, "bowl"], [3, "cup"]]}
    ]
    assert done == {"unasked": [], "checks": [{"name": "rename 1", "expected": wanted, "found": wanted}]}


@pytest.mark.parametrize("id", ["q", "w", "c"])
def test_changes_beyond_what_a_task_allows_are_told_of_every_kind(site: PotSite, id: str) -> None:
    state_before(site, id)
    change(site, "UPDATE pot SET name = 'dish' WHERE id = 2", "DELETE FROM pot WHERE id = 3")
    assert len(state_after(site, id)["unasked"]) == 2


def test_rows_with_fractions_bytes_and_nothing_are_the_same_after_no_change(site: PotSite) -> None:
    state_before(site, "q")
    assert state_after(site, "q") == {"unasked": []}


def test_the_rows_of_one_task_are_not_those_of_another(site: PotSite) -> None:
    state_before(site, "q")
    change(site, "DELETE FROM pot WHERE id = 3")
    state_before(site, "w")
    assert state_after(site, "w") == {"unasked": []}
    assert len(state_after(site, "q")["unasked"]) == 1


@pytest.mark.parametrize(
    ("ask", "id", "why"),
    [
        (state_before, "nothing", "pots has no task 'nothing'"),
        (state_before, "none", "the question of none has no answer"),
        (state_after, "q", "nothing was kept before q"),
    ],
)
def test_what_can_not_be_said_is_a_sentence(
    site: PotSite, ask: Callable[[Site, str], object], id: str, why: str
) -> None:
    with pytest.raises(RuntimeError, match=why):
        ask(site, id)


def test_a_site_that_does_not_run_has_no_state(site: PotSite) -> None:
    site.runs = False
    for ask in (state_before, state_after):
        with pytest.raises(RuntimeError, match="pots does not run at port 9"):
            ask(site, "q")


async def test_a_log_in_of_an_unknown_role_or_a_site_that_is_down_is_refused(
    site: PotSite, tmp_path: Path
) -> None:
    with pytest.raises(RuntimeError, match="pots has no role 'smith', but potter"):
        await save_login(site, "smith", tmp_path / "state.json")
    with pytest.raises(RuntimeError, match="pots does not run"):
        await save_login(site, "potter", tmp_path / "state.json")


class GatePage(BaseHTTPRequestHandler):
    """A page that greets whoever brings the right cookie by the right browser, and always quotes one of ada's pots."""

    def do_GET(self) -> None:
        known = (self.headers["Cookie"], self.headers["User-Agent"]) == ("a=1; b=2", "browser 1")
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"a pot by ada" + (b", hello ada" if known else b""))

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@pytest.fixture
def gate(site: PotSite) -> Iterator[PotSite]:
    with ThreadingHTTPServer(("127.0.0.1", 0), GatePage) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        site.port = server.server_address[1]
        yield site
        server.shutdown()
        serving.join()


@pytest.mark.parametrize(
    ("value", "agent", "good"),
    [("2", "browser 1", True), ("3", "browser 1", False), ("2", "browser 2", False)],
)
def test_a_log_in_holds_where_the_page_names_its_account_because_of_it(
    gate: PotSite, tmp_path: Path, value: str, agent: str, good: bool
) -> None:
    file = tmp_path / "potter.json"
    cookies = [{"name": "a", "value": "1"}, {"name": "b", "value": value}]
    file.write_text(json.dumps({"cookies": cookies}), encoding="utf-8")
    file.with_suffix(".agent").write_text(agent, encoding="utf-8")
    assert holds(gate, "potter", file) == good


@pytest.mark.parametrize("text", ["", "[]", '{"cookies": [{"name": "a"}]}', '{"cookies": 1}'])
def test_a_damaged_log_in_does_not_hold(gate: PotSite, tmp_path: Path, text: str) -> None:
    file = tmp_path / "potter.json"
    file.write_text(text, encoding="utf-8")
    assert not holds(gate, "potter", file)


# commands


def test_a_command_of_the_table_runs_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITES_HOME", str(tmp_path / "with a space"))
    line = command_line("status", site_of("roundup", 4), 3)
    done = subprocess.run(shlex.split(line), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "not running\n"
    assert "--port 4" in line
    assert "--port" not in command_line("status", site_of("roundup", 4), 4)


def test_a_state_command_loads_no_browser_and_no_program() -> None:
    code = (
        "import sys; from benchmarks.sites.__main__ import OPEN, SEALED, site_of; "
        "[site_of(name) for name in (*OPEN, *SEALED)]; "
        "sys.exit(', '.join({'playwright', 'app', 'kb', 'asyncio'} & set(sys.modules)) or None)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
