"""The panel of prompts and actions: text checked while typed, saved, undone; sets of actions made and removed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from app.engine.api.run_api import RunRequest
from app.engine.core.prompt_set import ActionsVersion, PromptVersion
from app.models.common.action_sets_model import NEW, ActionSetsModel
from app.models.common.prompt_set_model import PromptSetModel
from app.models.review.review_facts import run_facts
from app.views.frame.prompt_set_panel import PromptSetPanel
from app.views.live.run_form import RunForm


@pytest.fixture
def model(client, tasks, qtbot) -> PromptSetModel:
    made = PromptSetModel(client, tasks)
    made.notices = []
    made.notice.connect(made.notices.append)
    made.load()
    qtbot.waitUntil(lambda: made.detail is not None)
    return made


@pytest.fixture
def sets(client, tasks, qtbot) -> ActionSetsModel:
    made = ActionSetsModel(client, tasks)
    made.load()
    qtbot.waitUntil(lambda: made.is_loaded)
    return made


def shown(model: PromptSetModel, qtbot, name: str) -> None:
    model.show(name)
    qtbot.waitUntil(lambda: model.detail is not None and model.detail.row.name == name)


@pytest.mark.parametrize(
    ("change", "words", "can_save"),
    [
        (lambda text: text, "Placeholders: {{marker}}", False),
        (lambda text: f"{text}\nBe quick.", "Placeholders: {{marker}}", True),
        (lambda text: text.replace("{{marker}}", "it"), "It can't be saved: {{marker}} is missing", False),
        (lambda text: f"{text} {{{{colour}}}}", "{{colour}} is no placeholder of this prompt", False),
        (lambda _text: "", "It can't be saved: it is empty", False),
    ],
)
def test_the_text_is_checked_while_it_is_typed(model, qtbot, change, words, can_save):
    shown(model, qtbot, "selector")
    model.set_text(change(model.text))
    assert words in model.words
    assert model.can_save is can_save


def test_a_dropped_placeholder_is_told_and_saved_knowingly(model, fake_engine, qtbot):
    shown(model, qtbot, "summarizer")
    model.set_text(model.text.replace("{{words}}", "150"))
    assert model.words == "Without {{words}}, the model is not told what stands there."
    assert model.save()
    qtbot.waitUntil(lambda: bool(model.notices))
    assert fake_engine.calls[-1][1][2] == ("words",)


def test_a_saved_prompt_is_marked_has_a_history_and_is_put_back(model, qtbot):
    shown(model, qtbot, "selector")
    bundled = model.text
    model.set_text(f"{bundled}\nBe quick.")
    assert model.changes.splitlines()[-1] == "+Be quick."
    assert model.save()
    qtbot.waitUntil(lambda: model.list.at(model.list.row_of("selector")).own)
    qtbot.waitUntil(lambda: len(model.history.rows) == 1)
    assert not model.is_changed
    model.reset()
    qtbot.waitUntil(lambda: model.text == bundled)
    qtbot.waitUntil(lambda: len(model.history.rows) == 2)
    model.show_version(model.history.rows[1].digest)
    qtbot.waitUntil(lambda: model.text.endswith("Be quick."))
    assert model.can_save
    assert model.notices[-1] == "The bundled prompt 'selector' is in force again"


def test_what_was_typed_is_there_when_the_prompt_is_shown_again(model, qtbot):
    shown(model, qtbot, "selector")
    model.set_text("half a thought {{marker}}")
    shown(model, qtbot, "planner")
    shown(model, qtbot, "selector")
    assert model.text == "half a thought {{marker}}"
    model.discard()
    assert not model.is_changed


def test_a_refusal_is_said_and_the_text_stays(model, fake_engine, qtbot, monkeypatch):
    async def refused(*_):
        raise OSError("the disk is full")

    shown(model, qtbot, "selector")
    monkeypatch.setattr(fake_engine, "save_prompt", refused)
    model.set_text(f"{model.text}\nBe quick.")
    model.save()
    qtbot.waitUntil(lambda: "the disk is full" in model.words)
    assert model.is_changed
    assert not model.is_saving


def test_a_built_in_set_is_copied_and_not_changed(sets, fake_engine, qtbot):
    sets.show("compact")
    before = sets.tokens
    sets.toggle("scroll", True)
    assert "scroll" not in sets.chosen
    sets.copy()
    sets.toggle("scroll", True)
    sets.set_name("reader")
    assert sets.tokens > before
    assert sets.save()
    qtbot.waitUntil(lambda: sets.row is not None)
    assert fake_engine.own_sets["reader"] == (*sets.list.rows[0].calls, "scroll")
    assert abs(sets.row.tokens - before) < 40


@pytest.mark.parametrize(
    ("name", "without", "problem"),
    [
        ("", (), "Give the set a name"),
        ("standard", (), "is a built-in set"),
        ("reader", ("stop",), "no action that ends a task"),
    ],
)
def test_a_set_that_breaks_a_rule_says_so_and_is_not_saved(sets, name, without, problem):
    sets.show("compact")
    sets.copy()
    sets.set_name(name)
    for action in without:
        sets.toggle(action, False)
    assert problem in sets.words
    assert not sets.can_save
    assert sets.shown == NEW


def test_an_own_set_is_removed_and_the_standard_one_shown(sets, fake_engine, qtbot):
    fake_engine.own_sets["reader"] = ("stop",)
    sets.load()
    qtbot.waitUntil(lambda: sets.list.row_of("reader") >= 0)
    sets.show("reader")
    sets.remove()
    qtbot.waitUntil(lambda: sets.shown == "standard")
    assert fake_engine.own_sets == {}


@pytest.fixture
def panel(bench, qtbot) -> PromptSetPanel:
    bench._window.center.trigger("app.prompts")
    made = bench._prompts_panel
    qtbot.waitUntil(lambda: bench.prompts.detail is not None and bench.action_sets.is_loaded)
    return made


def test_the_panel_is_worked_by_keys_alone(panel, bench, qtbot):
    model = bench.prompts
    pane = panel.prompts
    assert pane.list.hasFocus()
    QTest.keyClick(pane.list, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: model.detail is not None and model.detail.row.name == model.list.rows[-1].name)
    pane.editor.setFocus()
    QTest.keyClick(pane.editor, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(pane.editor, " Be quick.")
    assert pane.save.isEnabled()
    QTest.keyClick(pane.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: bool(model.history.rows))
    assert model.text.endswith("Be quick.")
    pane.tabs.show_page(1)
    assert "Be quick." in pane.changes.toPlainText()
    QTest.keyClick(pane, Qt.Key.Key_Escape)
    assert not panel.isVisible()


def test_a_check_mark_is_set_by_the_space_bar(panel, bench, qtbot):
    panel.tabs.show_page(1)
    pane, sets = panel.sets, bench.action_sets
    sets.show("compact")
    QTest.mouseClick(pane.copy, Qt.MouseButton.LeftButton)
    assert pane.name.hasFocus()
    QTest.keyClicks(pane.name, "reader")
    pane.choices.setFocus()
    pane.choices.setCurrentIndex(sets.actions.index(sets.actions.row_of("scroll"), 0))
    QTest.keyClick(pane.choices, Qt.Key.Key_Space)
    assert "scroll" in sets.chosen
    QTest.keyClick(pane.choices, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: sets.row is not None and sets.row.name == "reader")


def test_everything_in_the_panel_has_a_name(panel):
    for button in panel.findChildren(QAbstractButton):
        assert button.accessibleName() or button.text(), button
    for pane in (panel.prompts.list, panel.prompts.editor, panel.prompts.history, panel.sets.choices):
        assert pane.accessibleName()


@pytest.fixture
def run_form(bench, qtbot):
    bench._window.go("live")
    bench._window.center.trigger("live.new")
    form = next(one for one in bench._window.findChildren(RunForm) if one.isVisible())
    qtbot.waitUntil(lambda: bool(form.form.action_sets))
    return form


def test_the_run_form_offers_the_sets_of_actions_for_a_model(run_form, fake_engine, qtbot):
    form = run_form.form
    options = run_form.model_options
    assert options.isHidden()
    run_form.policies["llm"].click()
    assert not options.isHidden()
    assert [options.actions_set.itemText(place) for place in range(options.actions_set.count())] == [
        "compact", "standard", "all",
    ]  # fmt: skip
    assert options.actions_set.currentText() == "standard"
    options.actions_set.setCurrentIndex(0)
    options.actions_set.activated.emit(0)
    assert "6 actions" in options.actions_meaning.text()
    form.set("intent", "Look")
    form.set("start_url", "http://shop.test/")
    assert form.request().llm.actions == "compact"


def test_the_run_form_offers_the_live_judge_for_a_model(run_form):
    form, options = run_form.form, run_form.model_options
    run_form.policies["llm"].click()
    assert [options.judge.itemData(place) for place in range(options.judge.count())] == ["auto", "on", "off"]
    fields = (options.judge, options.judge_every, options.judge_calls)
    assert [field.currentData() for field in fields] == ["auto", 5, 12]
    for field, value in ((options.judge_every, 3), (options.judge_calls, 24)):
        field.setCurrentIndex(field.findData(value))
        field.activated.emit(field.currentIndex())
    form.set("intent", "Look")
    form.set("start_url", "http://shop.test/")
    assert (form.request().llm.judge_every, form.request().llm.judge_calls) == (3, 24)
    assert form.request().is_judged, "a run of the window is supervised"
    options.judge.setCurrentIndex(options.judge.findData("off"))
    options.judge.activated.emit(options.judge.currentIndex())
    assert not form.request().is_judged
    assert not options.judge_calls.isEnabled()


def test_the_run_form_takes_time_zone_and_locale_for_a_model(run_form, qtbot):
    form, options = run_form.form, run_form.model_options
    run_form.policies["llm"].click()
    for field, text in ((options.zone_field, "Europe/Oslo"), (options.locale_field, "nb-NO")):
        field.setFocus()
        qtbot.keyClicks(field, text)
    form.set("intent", "Look")
    form.set("start_url", "http://shop.test/")
    request = form.request()
    assert (request.llm.timezone, request.llm.locale) == ("Europe/Oslo", "nb-NO")
    form.again(RunRequest(intent="Look again", start_url="http://shop.test/", policy="llm"))
    assert (options.zone_field.text(), options.locale_field.text()) == ("", "")


def test_the_run_form_chooses_when_a_model_is_shown_pictures(run_form):
    form, options = run_form.form, run_form.model_options
    run_form.policies["llm"].click()
    assert [options.pictures.itemData(place) for place in range(4)] == ["auto", "changed", "always", "off"]
    assert options.pictures.currentData() == "auto"
    options.pictures.activated.emit(2)
    options.picture_detail.activated.emit(1)
    options.picture_side.activated.emit(4)
    assert options.picture_side.currentText() == "as taken"
    form.set("intent", "Look")
    form.set("start_url", "http://shop.test/")
    chosen = form.request().llm
    assert (chosen.pictures, chosen.picture_detail, chosen.picture_side) == ("always", "low", 0)
    assert (options.pictures.currentData(), options.picture_detail.currentData()) == ("always", "low")


def test_the_run_form_chooses_when_a_vision_model_is_asked_for_marks(run_form):
    form, options = run_form.form, run_form.model_options
    run_form.policies["llm"].click()
    form.set("intent", "Look")
    form.set("start_url", "http://shop.test/")
    for place, (shown, vision, marks) in enumerate(
        [("off", False, "auto"), ("auto", True, "auto"), ("always", True, "always")]
    ):
        options.marks.activated.emit(place)
        assert options.marks.currentData() == shown
        assert (form.request().vision, form.request().llm.marks) == (vision, marks)
    form.again(RunRequest(intent="Look again", start_url="http://shop.test/", policy="llm", vision=True))
    assert options.marks.currentData() == "auto"


def test_review_tells_the_versions_of_a_run(run, fake_engine):
    detail = run(fake_engine.open_run(next(iter(fake_engine.all_runs))))
    given = replace(
        detail.run,
        prompts=(PromptVersion(name="operator", digest="a1" * 32),),
        actions=ActionsVersion(name="compact", digest="b2" * 32),
    )
    note = run_facts(replace(detail, run=given)).note
    assert note.endswith("own prompts: operator a1a1a1a1 · actions: compact b2b2b2b2")
