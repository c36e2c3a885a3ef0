"""Log-ins that are kept: whose they are, what stays of the saved one, and which wait for one (``LoginSharing``)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from app import settings
from app.engine.core.supervision import ApprovalRequest, Need, RequestState
from app.engine.services import site_logins
from app.engine.services.site_logins import (
    forget_login,
    is_nobody,
    joint_login,
    keep_login_state,
    login_name,
    login_path,
    login_role,
    no_login,
)
from app.engine.services.supervision.made_login import MadeLogin, shared_words
from app.engine.store.locks import FileLock
from app.errors import StoreError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "logins"
    made.mkdir(mode=0o700)
    monkeypatch.setattr(settings, "logins_dir", lambda: made)
    return made


def cookie(domain: str, value: str) -> dict[str, object]:
    return {"name": "sid", "value": value, "domain": domain, "path": "/"}


def test_the_file_that_a_run_begins_with_says_whose_log_in_it_is(tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    roles = {
        "": "",
        str(login_path("shop")): "",
        str(login_path("shop", "buyer")): "buyer",
        str(login_path("shop", "a.b-c")): "a.b-c",
        str(login_path("forge")): None,
        str(login_path("shop_x", "buyer")): None,
        str(mine): None,
        no_login(): None,
    }
    assert {file: login_role("shop", file) for file in roles} == roles
    names = {login_name("shop", file) for file in roles}
    assert len(names) == len(roles) - 1, "the usual one has two spellings"
    assert not any(str(tmp_path) in name for name in names)
    for file in (str(login_path("shop")), str(login_path("forge"))):
        Path(file).write_text('{"cookies": [], "origins": []}')
    together = joint_login([str(login_path("shop")), str(login_path("forge"))])
    assert login_role("shop", together) is None
    assert [is_nobody(file) for file in ("", no_login(), together, str(mine))] == [False, True, False, False]


def test_a_kept_log_in_takes_the_place_of_the_sites_old_one_and_leaves_other_hosts() -> None:
    old = {
        "cookies": [cookie("shop.test", "old"), cookie(".forge.test", "other")],
        "origins": [
            {"origin": "http://shop.test", "localStorage": [{"name": "t", "value": "old"}]},
            {"origin": "http://forge.test", "localStorage": [{"name": "t", "value": "other"}]},
        ],
    }
    keep_login_state("shop", old)
    new = {
        "cookies": [cookie(".shop.test", "new")],
        "origins": [{"origin": "http://shop.test", "localStorage": [{"name": "t", "value": "new"}]}],
    }
    keep_login_state("shop", new)
    path = login_path("shop")
    kept = json.loads(path.read_text())
    assert {one["domain"]: one["value"] for one in kept["cookies"]} == {
        ".forge.test": "other",
        ".shop.test": "new",
    }
    values = {one["origin"]: one["localStorage"][0]["value"] for one in kept["origins"]}
    assert values == {"http://forge.test": "other", "http://shop.test": "new"}
    assert path.stat().st_mode & 0o077 == 0
    path.write_text("{broken")
    keep_login_state("shop", new)
    assert json.loads(path.read_text()) == new, "a file that can't be read is replaced"


def test_log_ins_that_are_kept_at_the_same_time_are_all_kept() -> None:
    hosts = [f"host-{number}.test" for number in range(24)]
    with ThreadPoolExecutor(len(hosts)) as pool:
        list(
            pool.map(
                lambda host: keep_login_state("shop", {"cookies": [cookie(host, "v")], "origins": []}), hosts
            )
        )
    kept = json.loads(login_path("shop").read_text())["cookies"]
    assert sorted(one["domain"] for one in kept) == sorted(hosts)
    assert list(login_path("shop").parent.iterdir()) == [login_path("shop")], "no lock is left behind"


def test_a_log_in_that_another_process_writes_is_neither_kept_nor_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = {"cookies": [cookie("shop.test", "v")], "origins": []}
    keep_login_state("shop", state)
    monkeypatch.setattr(site_logins, "LOCK_SECONDS", 0.02)
    path = login_path("shop")
    with FileLock(path.with_name(f".{path.name}.lock")) as lock:
        assert lock.take()
        with pytest.raises(StoreError, match="another process"):
            keep_login_state("shop", state)
        with pytest.raises(StoreError, match="another process"):
            forget_login("shop")
    assert json.loads(path.read_text()) == state


def test_only_a_proven_log_in_takes_the_place_of_one_with_more_session_cookies() -> None:
    good = {"cookies": [cookie("shop.test", "good")], "origins": []}
    anonymous = {"cookies": [{**cookie("shop.test", "a"), "name": "csrf"}], "origins": []}
    keep_login_state("shop", good)
    with pytest.raises(StoreError, match="session cookies that this one lacks"):
        keep_login_state("shop", anonymous, proven=False)
    assert json.loads(login_path("shop").read_text()) == good
    keep_login_state("shop", anonymous)
    assert json.loads(login_path("shop").read_text()) == anonymous


WALL = ApprovalRequest(
    id="req-1", run="r1", need=Need.WALL, step=0, question="", site="shop", wall="log-in shop.test/login",
    url="http://shop.test/login",
)  # fmt: skip
MADE = MadeLogin(
    run="r1", run_site="shop", login="", site="shop", hosts=("shop.test",), wall=WALL,
    state={"cookies": [cookie("shop.test", "very-secret")], "origins": []},
)  # fmt: skip
WAITS: tuple[tuple[str, dict[str, object], bool, bool], ...] = (
    ("the same wall", {}, True, True),
    ("another wall of the site", {"wall": "log-in shop.test/admin"}, False, True),
    ("a captcha", {"wall": "captcha shop.test/login"}, False, False),
    ("another role", {"login": "buyer"}, False, False),
    ("another site", {"site": "forge", "wall": "log-in forge.test/login"}, False, False),
    (
        "a wall of another host",
        {"url": "http://forge.test/login", "wall": "log-in forge.test/login"},
        False,
        False,
    ),
    ("its own", {"run": "r1"}, False, False),
    ("one that was decided", {"state": RequestState.DECIDED}, False, False),
    ("a question", {"need": Need.QUESTION}, False, False),
)


@pytest.mark.parametrize(
    ("changes", "at_wall", "wished"), [row[1:] for row in WAITS], ids=[row[0] for row in WAITS]
)
def test_who_waits_for_a_log_in(changes: dict[str, object], at_wall: bool, wished: bool) -> None:
    request = replace(WALL, **{"id": "req-2", "run": "r2", **changes})  # type: ignore[arg-type]
    assert MADE.is_waited_for(request) is at_wall
    assert replace(MADE, wall=None, wished=True).is_waited_for(request) is wished


def test_a_log_in_is_never_printed() -> None:
    assert "very-secret" not in repr(MADE)


@pytest.mark.parametrize(
    ("changes", "runs", "left", "words"),
    [
        ({"kept": True}, 3, 0, "Logged in to shop: 3 runs go on, and the log-in is kept for later runs."),
        ({"kept": True}, 0, 0, "Logged in to shop: the log-in is kept for later runs."),
        ({}, 1, 2, "Logged in to shop: 1 run goes on. 2 runs still wait."),
        ({}, 0, 0, "Logged in to shop: no run waits for it, and it is not kept."),
        (
            {"problem": "the disk is full"},
            1,
            1,
            "Logged in to shop: 1 run goes on, and the log-in could not be kept (the disk is full). 1 run still waits.",
        ),
    ],
)
def test_what_came_of_a_log_in_is_said_in_a_sentence(
    changes: dict[str, object], runs: int, left: int, words: str
) -> None:
    assert shared_words(replace(MADE, **changes), runs, left) == words  # type: ignore[arg-type]
