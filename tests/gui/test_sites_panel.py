"""The sites panel: listed, described, checked while typed, saved, undone; log-ins are kept and never shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QPushButton

from app.engine.core.events import SitesChanged
from app.engine.core.sites import Site
from app.errors import SiteloreError
from app.models.common.site_form import SiteForm, texts_of
from app.models.common.sites_model import NEW, LogInState, SitesModel
from app.views.frame.sites_panel import SitesPanel
from tests.support.fake_sites import make_sites


@pytest.fixture
def model(client, tasks, qtbot) -> SitesModel:
    made = SitesModel(client, tasks)
    made.notices = []
    made.notice.connect(made.notices.append)
    made.load()
    qtbot.waitUntil(lambda: made.is_loaded)
    return made


@pytest.fixture
def form(qapp) -> SiteForm:
    made = SiteForm()
    made.others = [row.site for row in make_sites().values()]
    return made


PROBLEMS = (
    ("no name", {}, "name", "Give the site a name"),
    ("a name with a slash", {"name": "a/b"}, "name", "can't be a site's name"),
    ("a name that is taken", {"name": "GitLab"}, "name", "There is a site of this name already"),
    ("every host", {"name": "x", "hosts": "ok.example\n*"}, "hosts", "'*' is not a host"),
    ("a host with a path", {"name": "x", "hosts": "a.example/b"}, "hosts", "is not a host"),
    (
        "another site's host",
        {"name": "x", "hosts": "shop.example"},
        "hosts",
        "belongs to the site 'shopping'",
    ),
    (
        "a start that is none",
        {"name": "x", "starts": "not an address"},
        "starts",
        "not the address of a page",
    ),
    ("a base without address", {"name": "x", "bases": "__A__"}, "bases", "Write __A__, an equals sign"),
    ("a base of no name", {"name": "x", "bases": "A=http://h/"}, "bases", "like __SHOPPING__"),
    ("an open quote", {"name": "x", "state": "sh -c 'x"}, "state", "A quote is not closed"),
    (
        "another site's base",
        {"name": "x", "bases": "__SHOPPING__=http://h/"},
        "bases",
        "belongs to the site 'shopping'",
    ),
)


@pytest.mark.parametrize(
    ("typed", "field", "words"), [row[1:] for row in PROBLEMS], ids=[row[0] for row in PROBLEMS]
)
def test_each_problem_is_said_at_its_field(form, typed, field, words):
    for name, text in typed.items():
        form.set(name, text)
    [problem] = form.problems
    assert problem.field == field
    assert words in problem.message


def test_a_site_goes_through_the_form_unchanged_and_typed_hosts_get_one_spelling(form):
    site = make_sites()["gitlab"].site
    form.show(site)
    assert form.site == site
    assert not form.is_changed
    form.set("hosts", "\n http://Git.example:8443/x \n\n[::1]:8080\nbücher.example\n")
    form.set("starts", "git.example:8443/start")
    assert form.problems == []
    assert form.site.hosts == ("git.example:8443", "[::1]:8080", "xn--bcher-kva.example")
    assert form.site.learned == ("git.example:8443",)
    assert form.site.starts == ("https://git.example:8443/start",)


def test_a_new_site_is_saved_with_its_log_in_whose_path_is_not_kept(model, fake_engine, qtbot):
    model.show(NEW)
    for name, text in (("name", "forum"), ("hosts", "forum.example"), ("login", "/tmp/state.json")):
        model.form.set(name, text)
    assert model.save()
    qtbot.waitUntil(lambda: model.row is not None and model.row.login)
    assert ("keep_login", ("forum", "/tmp/state.json")) in fake_engine.calls
    assert model.shown == "forum"
    assert model.form.values["login"] == ""
    assert "state.json" not in repr(model.list.rows)
    assert model.notices == ["The site 'forum' is saved"]


def test_commands_are_kept_and_the_one_for_log_ins_is_no_log_in(model, fake_engine, qtbot):
    model.show("wiki")
    for name, text in (("reset", "r x"), ("state", " s.sh 'a b' "), ("login_command", "l.sh")):
        model.form.set(name, text)
    assert model.save()
    qtbot.waitUntil(lambda: not model.is_saving)
    site = fake_engine.site_rows["wiki"].site
    assert (site.reset, site.state, site.login) == ("r x", "s.sh 'a b'", "l.sh")
    assert not any(name == "keep_login" for name, _ in fake_engine.calls)
    model.show("gitlab")
    model.show("wiki")
    assert (model.form.values["login_command"], model.form.values["login"]) == ("l.sh", "")


def test_what_was_typed_is_there_when_the_site_is_shown_again(model):
    model.show("gitlab")
    model.form.set("reset", "make reset")
    model.show("wiki")
    assert model.form.values["reset"] == ""
    model.show("gitlab")
    assert model.form.values["reset"] == "make reset"
    model.discard()
    assert model.form.values["reset"] == ""


def test_a_host_learned_while_one_types_is_not_lost_by_saving(model, fake_engine, qtbot):
    model.show("wiki")
    model.form.set("reset", "make reset")
    row = fake_engine.site_rows["wiki"]
    learnt = replace(row.site, hosts=("wiki.example",), learned=("wiki.example",))
    fake_engine.site_rows["wiki"] = replace(row, site=learnt)
    heard = []
    model.learned.connect(heard.append)
    fake_engine.bus.publish(SitesChanged(note="the site 'wiki' now has the host wiki.example"))
    qtbot.waitUntil(lambda: model.row.site.hosts == ("wiki.example",))
    assert heard == ["the site 'wiki' now has the host wiki.example"]
    assert model.form.values["reset"] == "make reset"
    assert model.save()
    qtbot.waitUntil(lambda: not model.is_saving)
    assert fake_engine.site_rows["wiki"].site == replace(learnt, reset="make reset")


def test_a_refused_change_is_said_and_what_was_typed_stays(model, fake_engine, qtbot):
    model.show("wiki")
    model.form.set("reset", "make reset")
    fake_engine.site_error = SiteloreError("the disk is full")
    model.save()
    qtbot.waitUntil(lambda: bool(model.form.error))
    assert model.form.error == "the disk is full"
    assert model.form.values["reset"] == "make reset"
    assert not model.is_saving


def test_a_site_is_stored_although_its_log_in_could_not_be_kept(model, fake_engine, qtbot, monkeypatch):
    async def refused(_site, _file):
        raise SiteloreError("this is not a recorded log-in")

    monkeypatch.setattr(fake_engine, "keep_login", refused)
    model.show(NEW)
    for name, text in (("name", "forum"), ("hosts", "forum.example"), ("login", "/tmp/state.json")):
        model.form.set(name, text)
    model.save()
    qtbot.waitUntil(lambda: bool(model.form.error))
    qtbot.waitUntil(lambda: model.row is not None)
    assert model.form.before == Site(name="forum", hosts=("forum.example",))
    assert model.form.values["login"] == "/tmp/state.json"
    assert model.form.problems == []


def test_logging_in_by_hand_goes_through_its_states(model, fake_engine, qtbot):
    model.show("shopping")
    model.log_in()
    assert model.log_in_state is LogInState.OPENING
    qtbot.waitUntil(lambda: model.log_in_state is LogInState.OPEN)
    assert ("log_in_by_hand", ("shopping", "http://shop.example/")) in fake_engine.calls
    model.logged_in()
    qtbot.waitUntil(lambda: model.log_in_state is LogInState.NONE)
    assert model.notices == ["The log-in of 'shopping' is saved, readable by you alone"]
    model.forget_log_in()
    qtbot.waitUntil(lambda: not model.row.login)
    assert model.log_in_fact == "No log-in is saved."
    fake_engine.site_rows["shopping"] = replace(fake_engine.site_rows["shopping"], roles=("admin", "buyer"))
    model.load()
    qtbot.waitUntil(lambda: model.log_in_fact == "No log-in is saved. Roles with a log-in: admin, buyer.")
    model.show("wiki")
    model.log_in()
    qtbot.waitUntil(lambda: bool(model.form.error))
    assert "not known where the site 'wiki' begins" in model.form.error
    assert model.log_in_state is LogInState.NONE


def _open(bench, qtbot) -> SitesPanel:
    bench._window.center.trigger("app.sites")
    panel = bench._sites_panel
    qtbot.waitUntil(lambda: panel.list.hasFocus())
    return panel


def test_the_panel_opens_by_its_keys_and_is_worked_by_keys_alone(bench, qtbot, fake_engine, settle):
    QTest.keyClick(
        bench._window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
    )
    panel = bench._sites_panel
    qtbot.waitUntil(lambda: panel.list.hasFocus())
    assert panel.form.fields["name"].text() == "shopping"
    assert panel.form.fields["name"].isReadOnly()
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    assert panel.form.texts["hosts"].toPlainText() == "*:8023\ngit.example:8443"
    assert "Learned from explorations or runs: git.example:8443" in panel.form.says["hosts"].text()
    reset = panel.form.fields["reset"]
    reset.setFocus()
    QTest.keyClicks(reset, "make reset")
    QTest.keyClick(reset, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: fake_engine.site_rows["gitlab"].site.reset == "make reset")
    qtbot.waitUntil(lambda: bench._window.toast.text == "The site 'gitlab' is saved")
    qtbot.waitUntil(lambda: "Undo" in bench._window.toast.action_text)
    QTest.keyClick(reset, Qt.Key.Key_Escape)
    assert not panel.isVisible()


def test_a_wrong_host_is_said_while_it_is_typed_and_not_saved(bench, qtbot, fake_engine):
    panel = _open(bench, qtbot)
    panel.form.texts["hosts"].setPlainText("*")
    assert panel.form.says["hosts"].text().startswith("! '*' is not a host")
    panel.form.start.click()
    assert panel.form.texts["hosts"].hasFocus()
    assert not any(name == "save_site" for name, _ in fake_engine.calls)


def test_a_site_is_removed_and_the_panel_says_what_stays(bench, qtbot, fake_engine):
    panel = _open(bench, qtbot)
    panel.form.remove.click()
    qtbot.waitUntil(lambda: "shopping" not in fake_engine.site_rows)
    qtbot.waitUntil(lambda: panel.form.fields["name"].text() == "gitlab")
    assert "its runs, tips, map and log-in stay" in bench._window.toast.text


def test_without_a_site_the_panel_says_what_to_do(bench, qtbot, fake_engine, settle):
    fake_engine.site_rows.clear()
    bench._window.center.trigger("app.sites")
    panel = bench._sites_panel
    qtbot.waitUntil(lambda: bench.sites.is_loaded)
    settle(0.05)
    assert panel.none.isVisible()
    assert not panel.list.isVisible()
    assert panel.form.fields["name"].hasFocus()
    assert not panel.form.log_in.isEnabled()


def test_everything_in_the_panel_has_a_name(bench, qtbot):
    panel = _open(bench, qtbot)
    shown = [one for one in panel.findChildren(QPushButton) if one.isVisibleTo(panel)]
    assert all(one.accessibleName() or one.text() for one in shown)
    fields = [*panel.form.fields.values(), *panel.form.texts.values(), panel.list]
    assert all(one.accessibleName() for one in fields)
    assert all(isinstance(one, QAbstractButton) for one in shown)


def test_texts_of_no_site_are_empty():
    assert set(texts_of(None).values()) == {""}
    assert texts_of(Site(name="x"))["name"] == "x"
