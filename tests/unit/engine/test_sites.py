"""The use cases of the table of sites, and ``sitelore sites`` on the command line."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from dataclasses import replace

import orjson
import pytest

from app import settings
from app.cli import main
from app.engine.core.events import RunsChanged, SitesChanged
from app.engine.core.sites import Site
from app.engine.engine import Engine
from app.engine.services.graph_navigation import GraphNavigationService
from app.engine.services.site_logins import login_path
from app.errors import Conflict, InputError, NotFound, SiteloreError, UsageError
from kb.tip import Query, Scope, Status, TipDraft

STATE = {"cookies": [{"name": "sid", "value": "very-secret", "domain": "h", "path": "/"}], "origins": []}


@pytest.fixture(autouse=True)
def logins(tmp_path, monkeypatch):
    folder = tmp_path / "logins"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(settings, "logins_dir", lambda: folder)
    monkeypatch.setattr("app.log.setup", lambda level="": None)
    return folder


@pytest.fixture
def state(tmp_path):
    file = tmp_path / "state.json"
    file.write_bytes(orjson.dumps(STATE))
    file.chmod(0o644)
    return file


@pytest.fixture
async def engine(tmp_path):
    engine = await Engine.open(tmp_path / "workspace", author="mina")
    yield engine
    await engine.aclose()


async def _row(engine, name):
    return next(row for row in await engine.sites() if row.site.name == name)


async def test_a_site_is_added_edited_removed_and_each_is_undone(engine):
    heard = []
    engine.bus.subscribe(lambda event: heard.append(type(event)))
    added = await engine.save_site(
        Site(name="Shop", hosts=("HTTP://Shop.example:80/",), starts=("shop.example/start",))
    )
    assert added.site == Site(name="shop", hosts=("shop.example",), starts=("http://shop.example/start",))
    await engine.save_site(replace(added.site, reset="make reset"), added.site)
    await engine.remove_site("shop")
    assert [row for row in await engine.sites() if row.site.name == "shop"] == []
    assert (await engine.undo()).did == "remove site 'shop'"
    assert (await _row(engine, "shop")).site.reset == "make reset"
    assert (await engine.undo()).did == "edit site 'shop'"
    assert (await _row(engine, "shop")).site.reset == ""
    assert heard.count(SitesChanged) == 5
    assert heard.count(RunsChanged) == 5, "the queue shows the runs' sites"
    before = len(await engine.history())
    await engine.save_site(added.site, added.site)
    assert len(await engine.history()) == before


async def test_bad_entries_are_refused_in_words_and_nothing_is_stored(engine):
    for site, error, words in (
        (Site(name="a/b"), UsageError, "can't be a site's name"),
        (Site(name="x", hosts=("*",)), UsageError, "is not a host"),
        (Site(name="x", starts=("http://a:pw@h/",)), UsageError, "must not contain a password"),
        (Site(name="x", bases={"SHOP": "http://h/"}), UsageError, "like __SHOPPING__"),
        (Site(name="x", bases={"__A__": "nowhere at all"}), UsageError, "not the address of a page"),
        (Site(name="x", hosts=("*:8023",)), Conflict, "belongs to the site 'gitlab'"),
        (Site(name="gitlab"), Conflict, "already"),
    ):
        with pytest.raises(error, match=words):
            await engine.save_site(site)
    with pytest.raises(NotFound, match="no site 'nope'"):
        await engine.remove_site("nope")
    assert await engine.history() == []


async def test_tips_of_a_site_hold_on_a_host_given_to_it_and_no_more_after_undo(engine):
    tip = TipDraft(site="shop", text="Open the basket by its icon.", scope=Scope(path="/cart"))
    saved = (await engine.save_tip(tip)).id
    await engine.set_status([saved], Status.ACTIVE)
    page = Query(url="http://shop.example/cart", text="basket")

    async def by_address():
        found = (await engine.retrieve(page)).results
        return [one.tip.id for one in found if "address" in one.why or one.route.value == "url"]

    assert await by_address() == []
    await engine.save_site(Site(name="shop", hosts=("shop.example",)))
    assert await by_address() == [saved]
    await engine.undo()
    assert await by_address() == []


async def test_a_log_in_is_copied_for_its_owner_alone_and_never_shown(engine, state, logins):
    await engine.save_site(Site(name="shop"))
    await engine.keep_login("shop", str(state))
    [file] = logins.iterdir()
    assert orjson.loads(file.read_bytes()) == STATE
    if os.name == "posix":
        assert file.stat().st_mode & 0o777 == 0o600
    row = await _row(engine, "shop")
    assert row.login
    assert row.login_at
    assert "secret" not in repr(row)
    assert str(file) not in repr(row)
    state.write_text('{"cookies": "none"}')
    with pytest.raises(InputError, match="not a recorded log-in"):
        await engine.keep_login("shop", str(state))
    assert orjson.loads(file.read_bytes()) == STATE
    with pytest.raises(NotFound):
        await engine.keep_login("nope", str(state))
    assert await engine.forget_login("shop")
    assert not await engine.forget_login("shop")
    assert list(logins.iterdir()) == []


async def test_work_on_a_site_begins_on_its_start_page(engine):
    with pytest.raises(UsageError, match=r"not known where the site 'shop' begins.*sites edit shop --start"):
        await engine.site_start("shop")
    row = await engine.save_site(Site(name="shop", bases={"__SHOP__": "http://h.example/base"}))
    assert await engine.site_start("shop") == "http://h.example/base"
    await engine.save_site(replace(row.site, starts=("http://h.example/a", "http://h.example/b")), row.site)
    assert await engine.site_start("shop") == "http://h.example/a"


WRITES_LOGIN = (
    "import json,sys; open(sys.argv[2],'w').write(json.dumps({'cookies': [{'name': sys.argv[1] or 'usual',"
    " 'value': 'very-secret', 'domain': 'h', 'path': '/'}]}))"
)


async def test_log_ins_are_kept_by_role_and_made_by_the_sites_own_command(engine, state, logins):
    command = shlex.join([sys.executable, "-c", WRITES_LOGIN])
    row = await engine.save_site(Site(name="shop", login=command))
    await engine.keep_login("shop", str(state), "buyer.1")
    await engine.run_login("shop", "admin")
    assert not (await _row(engine, "shop")).login
    assert (await _row(engine, "shop")).roles == ("admin", "buyer.1")
    await engine.run_login("shop")
    row = await _row(engine, "shop")
    assert (row.login, row.roles) == (True, ("admin", "buyer.1"))
    kept = orjson.loads(login_path("shop", "admin").read_bytes())
    assert kept["cookies"][0]["name"] == "admin"
    assert sorted(path.suffix for path in logins.iterdir()) == [".json"] * 3, "nothing is left over"
    assert await engine.forget_login("shop", "admin")
    assert not await engine.forget_login("shop", "admin")
    assert (await _row(engine, "shop")).roles == ("buyer.1",)
    if os.name == "posix":
        assert login_path("shop").stat().st_mode & 0o077 == 0


async def test_what_a_log_in_command_leaves_is_checked(engine, logins):
    await engine.save_site(Site(name="none"))
    with pytest.raises(UsageError, match=r"'none' has no log-in command.*--login-command"):
        await engine.run_login("none")
    for name, code, error, words in (
        ("empty", "pass", SiteloreError, "wrote no storage state"),
        ("wrong", "import sys; open(sys.argv[2],'w').write('[]')", InputError, "not a recorded log-in"),
        ("failing", "import sys; sys.exit('no such role')", SiteloreError, "no such role"),
    ):
        await engine.save_site(Site(name=name, login=shlex.join([sys.executable, "-c", code])))
        with pytest.raises(error, match=words):
            await engine.run_login(name)
    for role in ("a/b", "nobody", "-x", "x" * 64):
        with pytest.raises(UsageError, match="can't be a role"):
            await engine.run_login("wrong", role)
    assert list(logins.iterdir()) == []


def test_commands_and_roles_on_the_command_line(tmp_path, capsys, state):
    place = tmp_path / "w"
    call = lambda *arguments, code=0: _call(capsys, place, "sites", *arguments, code=code)  # noqa: E731
    command = shlex.join([sys.executable, "-c", WRITES_LOGIN])
    told = call("add", "x", "--state", "state.sh x", "--login-command", command, "--reset", "r", "--json")
    document = json.loads(told.out)
    assert (document["reset"], document["state"], document["login_command"]) == ("r", "state.sh x", command)
    assert document["login"] is False
    call("edit", "x", "--state", "")
    call("login", "x", "--role", "admin", "--run")
    call("login", "x", "--role", "buyer", "--storage-state", str(state))
    shown = call("show", "x").out
    assert "roles with a log-in: admin, buyer" in shown
    assert "state command: none" in shown
    assert f"log-in command: {command}" in shown
    assert "the log-in is deleted" in call("login", "x", "--role", "buyer", "--forget").err
    assert "can't be combined" in call("login", "x", "--run", "--forget", code=2).err
    assert "a log-in by hand is the site's usual one" in call("login", "x", "--role", "admin", code=2).err


def _call(capsys, workspace, *arguments, code=0):
    assert main(["--workspace", str(workspace), *arguments]) == code
    return capsys.readouterr()


def test_the_command_line_adds_edits_lists_and_shows(tmp_path, capsys, state):
    place = tmp_path / "w"
    call = lambda *arguments, code=0: _call(capsys, place, "sites", *arguments, code=code)  # noqa: E731
    told = call(
        "add", "mine", "--start", "http://127.0.0.1:9100/", "--base", "__SHOPPING__=http://127.0.0.1:9100",
        "--reset", "docker restart shop", "--storage-state", str(state), "--json",
    )  # fmt: skip
    document = json.loads(told.out)
    assert document["hosts"] == ["127.0.0.1:9100"]
    assert document["bases"] == {"__SHOPPING__": "http://127.0.0.1:9100/"}
    assert document["reset"] == "docker restart shop"
    assert document["login"] is True
    assert "very-secret" not in told.out + told.err
    call(
        "edit",
        "mine",
        "--host",
        "*.mine.example",
        "--start",
        "http://127.0.0.1:9100/b",
        "--remove",
        "__SHOPPING__",
    )
    rows = {row["name"]: row for row in json.loads(call("list", "--json").out)}
    assert rows["mine"]["hosts"] == ["127.0.0.1:9100", "*.mine.example"]
    assert rows["mine"]["starts"] == ["http://127.0.0.1:9100/b", "http://127.0.0.1:9100/"]
    assert rows["mine"]["bases"] == {}
    assert rows["shopping"]["hosts"] == ["*:7770"]
    shown = call("show", "mine").out
    assert "hosts: 127.0.0.1:9100, *.mine.example" in shown
    assert "log-in: saved 20" in shown
    assert "mine" in call("list").out
    call("login", "mine", "--forget")
    call("remove", "mine")
    _call(capsys, place, "review", "undo")
    assert "mine" in call("list").out


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("add", "a/b", "--host", "h.example"), 2, "can't be a site's name"),
        (("add", "x", "--host", "*"), 2, "is not a host"),
        (("add", "x", "--base", "__A__"), 2, "write --base"),
        (("add", "x", "--host", "*:7770"), 1, "belongs to the site 'shopping'"),
        (("add", "shopping", "--host", "h.example"), 1, "already"),
        (("edit", "nope", "--host", "h.example"), 1, "there is no site 'nope'"),
        (("edit", "shopping", "--remove", "nothing"), 1, "is no host, start page or base"),
        (("add", "x", "--host", "h.example", "--storage-state", "none.json"), 3, "can't be read"),
        (("login", "map"), 2, "not known where the site 'map' begins"),
    ],
)
def test_the_command_line_refuses_in_one_sentence(tmp_path, capsys, arguments, code, words):
    told = _call(capsys, tmp_path / "w", "sites", *arguments, code=code)
    assert words in told.err
    assert "Traceback" not in told.err


def test_a_log_in_that_is_none_leaves_the_site_as_it_was(tmp_path, capsys):
    _call(
        capsys,
        tmp_path / "w",
        "sites",
        "add",
        "x",
        "--host",
        "h.example",
        "--storage-state",
        "none.json",
        code=3,
    )
    assert "h.example" not in _call(capsys, tmp_path / "w", "sites", "list").out


def test_logging_in_by_hand_needs_a_display_and_says_what_else_helps(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("app.engine.browser.launch.launcher.has_display", lambda: False)
    place = tmp_path / "w"
    _call(capsys, place, "sites", "add", "x", "--start", "http://h.example/")
    told = _call(capsys, place, "sites", "login", "x", code=1)
    assert "sitelore sites login x --storage-state FILE" in told.err


@pytest.mark.parametrize(("typed", "code", "kept"), [("\n", 0, ["x"]), ("", 2, [])])
def test_logging_in_by_hand_waits_for_enter_on_the_start_page(
    tmp_path, capsys, monkeypatch, typed, code, kept
):
    done = []

    async def opened(_self, site, url):
        assert (site, url) == ("x", "http://h.example/in")
        return url

    async def logged_in(_self, site):
        done.append(site)
        return ""

    monkeypatch.setattr(GraphNavigationService, "log_in_by_hand", opened)
    monkeypatch.setattr(GraphNavigationService, "logged_in", logged_in)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    place = tmp_path / "w"
    _call(capsys, place, "sites", "add", "x", "--start", "http://h.example/in")
    told = _call(capsys, place, "sites", "login", "x", code=code)
    assert done == kept
    assert ("readable by you alone" if kept else "--storage-state") in told.err
