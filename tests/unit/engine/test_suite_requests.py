"""Runs of a suite's tasks as requests: where they start, where they stay, who is logged in, nothing of the oracle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from app import settings
from app.engine.api.run_api import RunRequest
from app.engine.core.evaluation.suite import Dialect, Suite, SuiteTask
from app.engine.core.sites import Site
from app.engine.evaluation.suites.registry import read_suite
from app.engine.services.site_logins import keep_login, login_path, saved_login, saved_roles
from app.engine.services.suite_requests import run_request
from app.engine.services.task_files import read_tasks
from app.errors import InputError
from tests.support.suite_files import WEBARENA, needs_suites, own_suite, webarena_task, write_json

SITES = {
    "shopping": Site(
        name="shopping", hosts=("*:7770", "shop.example", "*.shop.example"),
        bases={"__SHOPPING__": "http://h.example:7770/"},
    ),
    "git": Site(name="git", bases={"__GITLAB__": "http://h.example:8023"}, starts=("http://h.example:8023/explore",)),
    "wild": Site(name="wild", hosts=("*:9999",)),
    "homepage": Site(name="homepage", hosts=("*:4399",), starts=("http://h.example:4399/",)),
}  # fmt: skip
SUITE = Suite(name="wa", form="webarena", dialect=Dialect.WEBARENA, sha256="0", tasks=())


@pytest.fixture(autouse=True)
def logins(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "logins"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(settings, "logins_dir", lambda: folder)
    return folder


def task(start: str = "__SHOPPING__", *sites: str, **more) -> SuiteTask:
    return SuiteTask(id="7", intent="Count", sites=sites or ("shopping",), start_url=start, **more)


def request(wanted: SuiteTask, **more) -> RunRequest:
    return run_request(SUITE, wanted, SITES, **more)


STARTS = (
    ("a name", task(), "http://h.example:7770/"),
    ("a name with a path", task("__SHOPPING__/a?b=1"), "http://h.example:7770/a?b=1"),
    ("the first of several", task("__SHOPPING__/a |AND| __GITLAB__/b"), "http://h.example:7770/a"),
    ("an address", task("https://x.example/y"), "https://x.example/y"),
    ("a path on the site", task("/orders"), "http://h.example:7770/orders"),
    ("nothing: the site's start page", task(""), ""),
    ("a site by its base", task("__GITLAB__/x", "gitlab"), "http://h.example:8023/x"),
)


@pytest.mark.parametrize(("wanted", "start"), [row[1:] for row in STARTS], ids=[row[0] for row in STARTS])
def test_a_task_starts_where_its_address_says(wanted: SuiteTask, start: str):
    assert request(wanted).start_url == start


HOSTS = (
    ("its own site, without globs that hold for every host", task(),
     ("http://h.example:7770/", "shop.example", "*.shop.example"), "shopping"),
    ("all of its sites, and the page that leads to them", task("__GITLAB__", "gitlab", "shopping"),
     ("http://h.example:8023", "http://h.example:8023/explore", "http://h.example:7770/", "shop.example",
      "*.shop.example", "http://h.example:4399/"), "git"),
    ("what it starts on besides", task("__SHOPPING__ |AND| https://x.example/"),
     ("https://x.example/", "http://h.example:7770/", "shop.example", "*.shop.example"), "shopping"),
    ("an unknown site by its address alone", task("https://www.fish.example/", "www.fish.example"), (), ""),
)  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "domains", "site"), [row[1:] for row in HOSTS], ids=[row[0] for row in HOSTS]
)
def test_a_task_stays_within_its_sites(wanted: SuiteTask, domains: tuple[str, ...], site: str):
    found = request(wanted)
    assert (found.domains, found.site) == (domains, site)
    assert "*:7770" not in found.domains


REFUSED = (
    ("a name without address", task("__MAP__/x", "map"), r"\(__MAP__/x\) is unknown.*--base __MAP__=URL"),
    ("a second site that is nowhere", task("__SHOPPING__", "shopping", "map"),
     "where its site 'map' is.*--base __MAP__"),
    ("one with nothing but a glob", task("__SHOPPING__", "shopping", "wild"), "where its site 'wild' is"),
    ("no start and no site", SuiteTask(id="7", intent="x"), "none given"),
    ("a role without a log-in", task(login="admin"), "no log-in of 'shopping' is saved for the role 'admin'"),
)  # fmt: skip


@pytest.mark.parametrize(("wanted", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_missing_is_said_with_its_remedy(wanted: SuiteTask, words: str):
    with pytest.raises(InputError, match=words) as raised:
        request(wanted)
    assert "task 7" in str(raised.value)


def test_steps_suite_and_set_up_come_from_the_task():
    found = request(task(max_steps=9, setup="miniwob:3"), max_steps=50)
    assert (found.max_steps, found.suite, found.task_id, found.setup) == (9, "wa", "7", "miniwob:3")
    assert (request(task(), max_steps=50).max_steps, request(task()).max_steps) == (50, 30)


def _login(path: Path, name: str) -> str:
    cookie = {"name": name, "value": "v", "domain": "h.example", "path": "/"}
    return str(write_json(path / f"{name}.json", {"cookies": [cookie], "origins": []}))


def test_a_task_begins_with_the_log_ins_of_its_role_on_all_its_sites(tmp_path: Path):
    keep_login("shopping", _login(tmp_path, "usual"))
    keep_login("shopping", _login(tmp_path, "boss"), "boss")
    keep_login("git", _login(tmp_path, "git"))
    assert request(task()).storage_state == saved_login("shopping")
    assert request(task(login="boss")).storage_state == str(login_path("shopping", "boss"))
    assert saved_roles("shopping") == ("boss",)
    assert saved_roles("git") == ()
    both = request(task("__GITLAB__", "gitlab", "shopping")).storage_state
    names = [cookie["name"] for cookie in orjson.loads(Path(both).read_bytes())["cookies"]]
    assert sorted(names) == ["git", "usual"]
    nobody = request(task(login="nobody")).storage_state
    assert orjson.loads(Path(nobody).read_bytes()) == {"cookies": [], "origins": []}
    assert request(task(), logins=False).storage_state == ""


def test_live_reads_the_same_tasks_and_a_request_holds_no_answer(tmp_path: Path):
    answer = "Zora Quill"
    file = write_json(tmp_path / "t.json", [webarena_task(7, instantiation_dict={"answer": answer})])
    [found] = read_tasks(file, sites=SITES)
    assert found == replace(request(task(), logins=False), suite="webarena", intent="Who wrote the review?")
    own = {
        "id": "a",
        "intent": "Count",
        "site": "git",
        "oracle": {"accepted": [answer]},
        "values": {"x": answer},
    }
    [ours] = read_tasks(write_json(tmp_path / "my suite.json", own_suite(own)), sites=SITES)
    assert (ours.suite, ours.task_id, ours.site, ours.start_url) == ("my-suite", "a", "git", "")
    assert answer not in repr([found, ours])


def test_a_file_that_is_a_suite_of_the_workspace_is_called_by_its_name_there(tmp_path: Path):
    file = write_json(tmp_path / "t.json", [webarena_task()])
    [found] = read_tasks(file, sites=SITES, names={read_suite(file).sha256: "wa-2"})
    assert found.suite == "wa-2"


def test_one_bad_task_of_a_file_is_named_by_its_number(tmp_path: Path):
    file = write_json(
        tmp_path / "t.json", [webarena_task(7), webarena_task(8, start_url="__MAP__", sites=["map"])]
    )
    with pytest.raises(InputError, match=r"t\.json: task 2: its start address \(__MAP__\) is unknown"):
        read_tasks(file, sites=SITES)


@pytest.mark.shared_data
@needs_suites
def test_no_reference_answer_of_webarena_reaches_a_request():
    suite = read_suite(WEBARENA)
    names = ("shopping", "shopping_admin", "gitlab", "reddit", "map", "wikipedia")
    sites = {
        name: Site(name=name, bases={f"__{name.upper()}__": f"http://{name}.example/"}) for name in names
    }
    requests = read_tasks(WEBARENA, sites=sites)
    assert len(requests) == 812
    for wanted, found in zip(suite.tasks, requests, strict=True):
        without = replace(found, intent="", start_url="")
        assert (found.intent, found.task_id) == (wanted.intent, wanted.id)
        texts = [wanted.oracle.exact_match or "", *wanted.oracle.must_include, *wanted.oracle.fuzzy_match]
        assert not [text for text in texts if len(text) > 4 and text in repr(without)]
        assert all(f"http://{site}.example/" in found.domains for site in wanted.sites)
