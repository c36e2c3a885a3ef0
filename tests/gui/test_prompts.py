"""The prompts of a step in Review and Live: listed, read, searched, compared, followed; by keyboard."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester

from app.engine.api.exchange_api import Exchange, ExchangeMessage, ExchangePart
from app.engine.core.cost import Cost
from app.errors import StoreError
from app.models.common.engine_client import LocalClient
from app.models.common.usage_words import totals_words
from app.models.live.model import LiveModel
from app.models.prompts.prompt_text import changes_of, find_all, page_of, sections_of, unfolded_at_first
from app.models.prompts.prompts_model import PromptList
from app.views.live.view import LiveView
from tests.support.fake_exchanges import make_exchange
from tests.support.live_page_window import PageWindow, SteppedEngine
from tests.support.manual_clock import ManualClock

K, M = Qt.Key, Qt.KeyboardModifier
CTRL, ALT = M.ControlModifier, M.AltModifier


def titles(desk) -> list[str]:
    return [one.title for one in desk.pane.model.sections]


@pytest.fixture
def prompts(desk):
    """Review at step 4 of a run with prompts at steps 3 to 5, and one of the whole run."""
    run, step = desk.model.run, desk.model.step.index
    desk.engine.prompts[run] = [
        make_exchange("a" * 64, step - 1, at=1.0),
        make_exchange("b" * 64, step, "planner", at=2.0, money=None),
        replace(make_exchange("c" * 64, step, at=3.0), previous="a" * 64),
        make_exchange("d" * 64, step + 1, at=4.0, truncated=True),
        make_exchange("f" * 64, None, "judge", at=5.0),
    ]
    desk.pane = desk.view.step.prompts
    desk.text = desk.pane.reader.text
    desk.press(K.Key_I, CTRL)
    desk.until(lambda: desk.pane.model.exchange is not None)
    return desk


def test_the_prompts_of_a_step_are_listed_with_the_operators_open(prompts):
    assert [row.role for row in prompts.pane.model.rows.rows] == ["planner", "operator", "judge"]
    assert prompts.pane.head.text() == f"Step {prompts.model.step.index}: prompts"
    assert prompts.pane.model.exchange.row.digest == "c" * 64
    assert prompts.pane.list.hasFocus()
    assert "5 requests" in prompts.pane.totals.text()
    # one of five has no price: the sum is unknown, never too low
    assert "cost unknown" in prompts.pane.totals.text()
    assert "judge: 5,200 tokens in (4,096 cached) · 140 out · 2.4 s · $0.0123" in prompts.pane.by_role.text()
    assert prompts.pane.sent.text() == "chat API · max tokens 1500 · effort low"


def test_the_answer_comes_first_then_the_messages_and_long_parts_are_folded(prompts):
    assert titles(prompts) == [
        "Answer", "answer", "System", "text", "User", "place", "picture · the page with marks · not stored",
        "page tree", "User", "memory", "tips", "text",
    ]  # fmt: skip
    shown = prompts.text.toPlainText()
    assert 'click("7")' in shown
    assert "1. Orders are under 'My account'." in shown
    assert "▸ page tree  ·  302 lines · " in shown
    assert "Order 250" not in shown


def test_enter_unfolds_the_part_with_the_cursor_and_folds_it_again(prompts):
    line = prompts.pane.model.page.line_of(7)
    prompts.text.setFocus()
    prompts.text.go_to(line)
    prompts.press(K.Key_Return)
    assert "Order 250" in prompts.text.toPlainText()
    assert prompts.text.section == 7
    prompts.press(K.Key_Return)
    assert "Order 250" not in prompts.text.toPlainText()
    prompts.press(K.Key_U, ALT)
    assert "Order 250" in prompts.text.toPlainText()


def test_arrows_and_keys_choose_the_exchange_and_the_role_stays_from_step_to_step(prompts):
    prompts.press(K.Key_Up, ALT)
    prompts.until(lambda: prompts.pane.model.exchange and prompts.pane.model.exchange.row.role == "planner")
    prompts.press(K.Key_Down)
    prompts.until(lambda: prompts.pane.model.exchange and prompts.pane.model.exchange.row.role == "operator")
    prompts.press(K.Key_L)
    prompts.until(lambda: prompts.pane.model.current == "d" * 64)
    prompts.until(lambda: prompts.pane.model.exchange is not None)
    assert "Answer, cut off at the token limit" in prompts.text.toPlainText()
    prompts.press(K.Key_H)
    prompts.until(lambda: prompts.pane.model.current == "c" * 64)


def test_ctrl_f_searches_the_prompt_unfolds_what_is_found_and_escape_leads_back(prompts):
    prompts.press(K.Key_F, CTRL)
    assert prompts.pane.reader.search.hasFocus()
    prompts.type("order 25")
    prompts.until(lambda: prompts.pane.reader.found.text() == "1 of 11")
    assert prompts.text.textCursor().selectedText() == "Order 25"
    prompts.press(K.Key_Return)
    assert prompts.pane.reader.found.text() == "2 of 11"
    prompts.press(K.Key_Return, M.ShiftModifier)
    prompts.press(K.Key_Return, M.ShiftModifier)
    assert prompts.pane.reader.found.text() == "11 of 11"
    prompts.press(K.Key_Escape)
    assert prompts.text.hasFocus()
    prompts.press(K.Key_Escape)
    assert not prompts.view.step.shows_prompts
    assert prompts.view.queue.list.hasFocus()


def test_the_changes_against_the_roles_last_prompt_are_shown_by_a_key(prompts):
    prompts.press(K.Key_D, ALT)
    prompts.until(lambda: titles(prompts)[0].startswith("Changes since"))
    shown = prompts.text.toPlainText()
    assert f"+ [7] link 'Order 7 of {'c' * 64}'" in shown
    assert f"− [7] link 'Order 7 of {'a' * 64}'" in shown
    assert "You operate a browser." not in shown
    prompts.press(K.Key_D, ALT)
    assert titles(prompts)[0] == "Answer"


def test_the_whole_prompt_is_copied_not_only_what_is_unfolded(prompts):
    prompts.press(K.Key_C, ALT)
    copied = QGuiApplication.clipboard().text()
    assert "Order 299" in copied
    assert copied.endswith("</action>")


def test_a_run_without_prompts_says_so_and_a_step_without_any_too(prompts):
    for _ in range(3):
        prompts.press(K.Key_L)
    prompts.until(lambda: [row.role for row in prompts.pane.model.rows.rows] == ["judge"])
    prompts.engine.prompts.clear()
    prompts.press(K.Key_J)
    prompts.until(lambda: prompts.pane.missing.isVisible())
    assert "the scout decided it" in prompts.pane.missing.text()


def test_an_exchange_that_cannot_be_read_says_why(prompts, monkeypatch):
    async def damaged(run, digest):
        raise StoreError("the recorded exchange was recorded by a newer version (format 9); update Sitelore")

    monkeypatch.setattr(prompts.engine, "exchange", damaged)
    prompts.press(K.Key_Up, ALT)
    prompts.until(lambda: "newer version" in prompts.text.toPlainText())


def test_nobody_is_asked_for_prompts_that_nobody_looks_at(desk):
    desk.press(K.Key_L)
    desk.wait(0.2)
    assert desk.view.step.prompts.model.rows.rowCount() == 0
    assert not desk.view.step.shows_prompts


def test_a_prompt_of_two_hundred_kilobytes_is_shown_within_a_tenth_of_a_second(prompts):
    large = make_exchange("e" * 64, 0, tree_lines=2_400)
    assert sum(len(part.text) for message in large.messages for part in message.parts) > 200_000
    model = prompts.pane.model
    started = time.perf_counter()
    model._kept["e" * 64] = large
    model._open("e" * 64)
    model.toggle_all()
    prompts.text.viewport().repaint()
    took = time.perf_counter() - started
    assert "Order 2399" in prompts.text.toPlainText()
    assert took < 0.3  # a busy machine; measured alone it is a third of 0.1 s


# ------------------------------------------------------------------------------------------------ Live


@pytest.fixture
def live(qtbot, tasks, center, theme, run):
    """All of Live with run live-1 open."""
    theme.set_reduced_motion(True)
    engine = SteppedEngine()
    client = LocalClient(engine, engine.bus)
    clock = ManualClock()
    model = LiveModel(client, tasks, clock=clock)
    view = LiveView(model, center, theme)
    qtbot.addWidget(view)
    view.addActions(center.actions())
    center.set_place("live")
    view.resize(1280, 760)
    view.show()
    view.activateWindow()
    desk = PageWindow(view, model, engine, center, clock)
    desk.until(view.isActiveWindow)
    model.start()
    desk.until(lambda: model.is_loaded)
    view.focus_first()
    desk.open("live-1")
    desk.pane = view.page.prompts
    yield desk
    view.hide()
    view.page.close_pictures()
    model.frames.close()
    run(client.aclose())


def test_in_live_the_newest_step_is_followed_unless_an_older_one_is_looked_at(live):
    live.until(lambda: live.view.page.replay.last is not None)
    last = live.view.page.replay.last
    live.engine.prompts["live-1"] = [make_exchange(str(step) * 64, step, at=step) for step in range(last + 1)]
    live.press(K.Key_I, CTRL)
    live.until(lambda: live.pane.model.exchange is not None)
    assert live.pane.model.step == last
    assert "appear when it is over" in live.pane.note.text()

    live.press(K.Key_Comma)
    live.press(K.Key_Comma)
    live.until(lambda: live.pane.model.current == str(last - 1) * 64)
    assert live.pane.note.text() == ""

    new = make_exchange("e" * 64, last + 1, at=99.0)
    live.engine.prompts["live-1"].append(new)
    row = live.model.row_of("live-1")
    live.engine.put(replace(row, step=last + 2, words="click link 'Cart'"))
    live.wait()
    assert live.pane.model.current == str(last - 1) * 64

    live.press(K.Key_End)
    live.until(lambda: live.pane.model.current == "e" * 64)
    live.press(K.Key_Escape)
    assert not live.view.page.shows_prompts


# ------------------------------------------------------------------------------------------------ the text


def test_the_list_is_a_sound_model_with_a_line_for_screen_readers(qapp):
    rows = PromptList()
    tester = QAbstractItemModelTester(rows)
    rows.merge([make_exchange("a" * 64, 0).row, make_exchange("b" * 64, 0, error="no answer came").row])
    rows.merge([make_exchange("b" * 64, 0).row])
    assert (
        rows.data(rows.index(0))
        == "operator, gpt-test, 5,200 tokens in (4,096 cached), 140 out, 2.4 s, $0.0123"
    )
    del tester


def test_an_unknown_cost_is_never_a_zero():
    rows = [make_exchange("a" * 64, 0, money=None).row, make_exchange("b" * 64, 0, money=0.5).row]
    assert "cost unknown" in totals_words(rows)
    assert "$0.5000" in totals_words(rows[1:])
    failed = make_exchange("c" * 64, 0, money=None, error="no answer came").row
    assert "$0.5000" in totals_words([rows[1], failed])
    assert totals_words([]) == ""


def test_a_prompt_of_any_shape_becomes_sections():
    odd = Exchange(
        row=make_exchange("a" * 64, 0).row,
        messages=(
            ExchangeMessage(role="tool"),
            ExchangeMessage(role="user", parts=(ExchangePart(kind="text", text="x" * 90_000),)),
        ),
    )
    sections = sections_of(odd)
    assert [one.title for one in sections] == ["Answer", "answer", "Tool", "User", "text"]
    assert max(len(line) for one in sections for line in one.lines) == 4_000
    page = page_of(sections, unfolded_at_first(sections))
    assert len(page.text.split("\n")) == len(page.marks) == len(page.sections)
    assert find_all(sections, "xx")
    assert changes_of(odd, odd)[0].title.endswith("0 lines more, 0 fewer")


# ------------------------------------------------------------------------------------------------ asking again


@pytest.fixture
def asking(prompts):
    """Review with the form that asks the operator's prompt again."""
    prompts.press(K.Key_A, ALT)
    prompts.form = prompts.view.ask_form
    assert prompts.view.side.currentWidget() is prompts.form
    prompts.until(lambda: prompts.form.estimate.text())
    return prompts


def test_the_form_asks_again_without_a_tip_and_shows_both_answers_side_by_side(asking):
    assert asking.form.fields["model"].hasFocus()
    assert "about 5,300 tokens in" in asking.form.estimate.text()
    asking.type("gpt-5")
    asking.form.boxes["shop-001"].click()
    asking.form.texts["text"].setPlainText("Orders are at the foot.")
    asking.form.fields["model"].setFocus()
    asking.press(K.Key_Return)
    asking.until(lambda: asking.engine.asked)
    request = asking.engine.asked[0].request
    assert (request.model, request.without, request.texts) == (
        "gpt-5",
        ("shop-001",),
        ("Orders are at the foot.",),
    )
    assert request.digest == "c" * 64

    answers = asking.pane.answers
    asking.until(answers.isVisible)
    assert answers.verdict.text() == (
        "Other action: click button 'Save' [12] instead of click button 'Cancel' [7]"
    )
    assert 'click("7")' in answers.then.toPlainText()
    assert 'click("12")' in answers.now.toPlainText()
    asking.pane.list.setFocus()
    asking.press(K.Key_Escape)
    assert asking.view.side.currentWidget() is asking.view.judgement
    asking.press(K.Key_Escape)
    assert not answers.isVisible()
    # it is listed under the original, and Enter shows both answers again
    line = asking.pane.model.page.line_of(len(asking.pane.model.sections) - 1)
    assert "gpt-5, without shop-001, with another tip: other action" in asking.text.toPlainText()
    asking.text.setFocus()
    asking.text.go_to(line)
    asking.press(K.Key_Return)
    assert answers.isVisible()


def test_a_number_of_times_beyond_five_is_not_sent(asking):
    asking.form.form.set("times", "9")
    asking.form.submit()
    assert asking.engine.asked == []
    assert "1 to 5" in asking.form.says["times"].text()


def test_an_endpoint_that_fails_says_so_in_the_form_whose_values_stay(asking, monkeypatch):
    async def lost(request):
        raise StoreError("no language model is set")

    monkeypatch.setattr(asking.engine, "ask_again", lost)
    asking.form.form.set("model", "gpt-5")
    asking.form.submit()
    asking.until(asking.form.error.isVisible)
    assert asking.form.error.text() == "no language model is set"
    assert asking.form.fields["model"].text() == "gpt-5"


def test_only_operator_and_planner_can_be_asked_again(prompts):
    prompts.pane.model.choose("f" * 64)
    prompts.until(lambda: prompts.pane.model.exchange is not None)
    assert not prompts.center.action("review.prompts.ask").isEnabled()
    prompts.pane.model.choose("b" * 64)
    prompts.until(lambda: prompts.center.action("review.prompts.ask").isEnabled())


def test_a_run_with_a_model_shows_tokens_time_and_cost_by_role(desk):
    run = desk.model.run
    exchanges = [
        make_exchange("a" * 64, 0, at=1.0),
        make_exchange("b" * 64, 0, "planner", at=2.0),
    ]
    desk.engine.prompts[run] = exchanges
    detail = replace(desk.model.detail, run=replace(desk.model.detail.run, cost=Cost(known=0.02)))
    desk.model.usage.show(None)
    desk.model.usage.show(detail)
    header = desk.view.step.header
    desk.until(lambda: header.usage.isVisible())
    seconds = sum(one.row.seconds for one in exchanges)
    assert header.usage.text().startswith("2 requests · ")
    assert f"{seconds:.1f} s" in header.usage.text()
    assert "planner" in header.usage.text()
    assert "operator" in header.usage.text()
