"""Failures judged by the cluster and by the selection: number of keys, one undo, and never another run."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.engine.core.verdicts import Label
from app.errors import NotFound
from app.models.review.cluster_list import cluster_details, cluster_title
from app.models.review.run_queue import QueueState

Key = Qt.Key
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


def show_clusters(desk):
    desk.press(Key.Key_C)
    desk.until(lambda: desk.model.clusters.state is QueueState.READY and desk.model.many.clusters)


def current(desk):
    """The row under the hand."""
    return desk.model.clusters.model.at(desk.view.queue.clusters.currentIndex().row())


def judged_together(desk):
    return [args for name, args in desk.engine.calls if name == "give_verdicts"]


def labels_of(desk, run):
    return [verdict.label for verdict in desk.engine.verdicts.get(run, ())]


# ---------------------------------------------------------------- number of keys
def test_the_failures_like_the_open_one_are_judged_with_two_keys_wherever_the_focus_is(desk):
    desk.press(Key.Key_J)
    run = desk.model.run
    desk.view.step.strip.setFocus()
    desk.keys = 0
    show_clusters(desk)
    cluster = current(desk).cluster
    assert run in cluster.runs
    assert desk.model.run == run
    desk.press(Key.Key_5)
    desk.until(lambda: judged_together(desk))
    assert desk.keys == 2
    assert judged_together(desk) == [(cluster.runs, Label.LOOP, "")]
    desk.until(lambda: desk.said[-1] == f"Verdict on {len(cluster.runs)} runs: loop")


def test_any_cluster_is_judged_with_three_keys_and_one_undo_takes_all_back(desk, run):
    desk.keys = 0
    show_clusters(desk)
    desk.press(Key.Key_Down)
    cluster = current(desk).cluster
    desk.press(Key.Key_2)
    desk.until(lambda: all(labels_of(desk, one) == [Label.WRONG_PAGE] for one in cluster.runs))
    assert desk.keys == 3
    assert len(cluster.runs) > 2
    desk.until(lambda: current(desk).cluster.judged == len(cluster.runs))
    run(desk.engine.undo())
    desk.until(lambda: not any(labels_of(desk, one) for one in cluster.runs))
    desk.until(lambda: current(desk).cluster.judged == 0)


def test_two_more_labels_behind_zero_reach_a_cluster_too(desk):
    show_clusters(desk)
    runs = current(desk).cluster.runs
    desk.press(Key.Key_0)
    desk.press(Key.Key_4)
    desk.until(lambda: all(labels_of(desk, run) == [Label.HARNESS_FAULT] for run in runs))


# ---------------------------------------------------------------- which runs a key judges
def test_the_heading_of_the_verdicts_says_on_how_many_runs_the_next_one_is(desk):
    head = desk.view.judgement.verdict.head
    assert head.text() == "Verdict"
    show_clusters(desk)
    assert head.text() == f"Verdict on {len(current(desk).cluster.runs)} runs"
    desk.press(Key.Key_C)
    assert head.text() == "Verdict"


def test_while_the_clusters_load_a_key_judges_nothing(desk, monkeypatch):
    real, gate = desk.engine.clusters, asyncio.get_running_loop().create_future()

    async def slow(which):
        await gate
        return await real(which)

    monkeypatch.setattr(desk.engine, "clusters", slow)
    desk.press(Key.Key_C)
    desk.press(Key.Key_1)
    desk.wait()
    assert desk.engine.verdicts == {}
    assert "nothing was judged" in desk.said[-1]
    gate.set_result(None)
    desk.until(lambda: desk.model.many.clusters)


def test_runs_judged_before_are_left_as_they_are(desk):
    desk.press(Key.Key_1)
    desk.until(lambda: labels_of(desk, desk.model.run))
    judged = desk.model.run
    show_clusters(desk)
    cluster = current(desk).cluster
    assert judged in cluster.runs
    rest = tuple(one for one in cluster.runs if one != judged)
    desk.until(lambda: desk.model.many.count == len(rest))
    desk.press(Key.Key_5)
    desk.until(lambda: judged_together(desk))
    assert judged_together(desk)[0][0] == rest
    assert labels_of(desk, judged) == [Label.WRONG_ELEMENT]
    desk.until(lambda: desk.said[-1].endswith("(1 had a verdict already)"))


def test_a_run_opened_from_elsewhere_is_judged_alone(desk):
    show_clusters(desk)
    other = next(row.id for row in desk.model.queue.model.rows if row.id not in current(desk).cluster.runs)
    desk.model.open_run(other)
    desk.until(lambda: desk.model.detail is not None)
    assert desk.view.judgement.verdict.head.text() == "Verdict"
    desk.press(Key.Key_3)
    desk.until(lambda: labels_of(desk, other))
    assert judged_together(desk) == []


def test_the_note_goes_with_every_verdict_of_a_cluster(desk):
    show_clusters(desk)
    desk.press(Key.Key_M)
    desk.type("the shop was down")
    desk.view.queue.take_focus()
    desk.press(Key.Key_8)
    desk.until(lambda: judged_together(desk))
    assert judged_together(desk)[0][2] == "the shop was down"
    assert desk.view.judgement.note.text() == ""


# ---------------------------------------------------------------- the list
def test_a_cluster_says_number_kind_and_sites(desk):
    show_clusters(desk)
    cluster = desk.model.clusters.clusters[0]
    assert cluster_title(cluster) == f"{len(cluster.runs)} · {cluster.title}"
    assert cluster_details(cluster) == f"{len(cluster.sites)} sites"
    words = desk.model.clusters.model.words(desk.model.clusters.model.at(0))
    assert words == f"{len(cluster.runs)} runs, {cluster.title}, {len(cluster.sites)} sites, folded"
    assert desk.view.queue.count.text() == str(len(desk.model.clusters.clusters))


def test_right_unfolds_a_cluster_into_runs_that_are_judged_alone_and_left_folds_it(desk):
    show_clusters(desk)
    model, cluster = desk.model.clusters.model, current(desk).cluster
    before = model.rowCount()
    desk.press(Key.Key_Right)
    desk.until(lambda: model.rowCount() == before + len(cluster.runs))
    desk.press(Key.Key_Down)
    desk.press(Key.Key_Down)
    run = current(desk).run.id
    assert desk.model.run == run == cluster.runs[1]
    desk.press(Key.Key_4)
    desk.until(lambda: labels_of(desk, run) == [Label.WRONG_ANSWER])
    assert judged_together(desk) == []
    desk.press(Key.Key_Left)
    assert model.rowCount() == before
    assert current(desk).run is None
    assert current(desk).cluster.key == cluster.key


def test_enter_opens_the_first_run_that_is_not_judged_and_unfolds_the_cluster(desk, run):
    show_clusters(desk)
    cluster = desk.model.clusters.clusters[1]
    run(desk.engine.give_verdict(cluster.runs[0], Label.LOOP))
    desk.until(lambda: desk.model.clusters.clusters[1].judged == 1)
    desk.model.clusters.set_current((cluster.key, ""))
    desk.model.clusters.current_changed.emit()
    desk.press(Key.Key_Return)
    desk.until(lambda: desk.model.run == cluster.runs[1])
    desk.until(lambda: current(desk).is_unfolded)
    assert current(desk).run is None


def test_j_and_k_walk_the_clusters_and_show_a_run_of_each(desk):
    show_clusters(desk)
    desk.press(Key.Key_J)
    assert desk.view.queue.clusters.currentIndex().row() == 1
    desk.until(lambda: desk.model.run in current(desk).cluster.runs)
    desk.press(Key.Key_K)
    assert desk.view.queue.clusters.currentIndex().row() == 0
    desk.until(lambda: desk.model.run in current(desk).cluster.runs)


def test_a_judged_cluster_stays_under_the_hand_and_is_marked(desk):
    desk.model.queue.set_filter("failed unjudged")
    desk.until(lambda: desk.model.queue.filter.unjudged)
    show_clusters(desk)
    cluster, rows = current(desk).cluster, len(desk.model.clusters.clusters)
    desk.press(Key.Key_1)
    desk.until(lambda: current(desk).cluster.judged == len(cluster.runs))
    assert current(desk).cluster.key == cluster.key
    assert len(desk.model.clusters.clusters) == rows
    assert cluster_details(current(desk).cluster).startswith("all judged")


def test_the_clusters_follow_the_filter(desk):
    show_clusters(desk)
    desk.press(Key.Key_Slash)
    desk.type("failed gitlab")
    desk.until(lambda: {cluster.sites for cluster in desk.model.clusters.clusters} == {("gitlab",)})
    assert cluster_details(desk.model.clusters.clusters[0]) == "gitlab"


def test_without_failures_and_with_an_error_the_list_says_so(desk, monkeypatch):
    async def broken(which):
        raise NotFound("the index is gone; rebuild it")

    desk.model.queue.set_filter("nothinglikethis")
    desk.press(Key.Key_C)
    desk.until(lambda: desk.model.clusters.state is QueueState.NO_MATCH)
    assert desk.view.queue.no_clusters.isVisible()
    assert not desk.model.many.is_chosen
    desk.press(Key.Key_C)
    monkeypatch.setattr(desk.engine, "clusters", broken)
    desk.press(Key.Key_C)
    desk.until(lambda: desk.model.clusters.state is QueueState.ERROR)
    assert "the index is gone" in desk.view.queue.cluster_error.hint.text()
    assert not desk.model.many.is_chosen


def test_the_form_of_the_queue_comes_back_with_the_session(make_desk):
    one = make_desk()
    show_clusters(one)
    two = make_desk(start=False)
    two.view.restore_layout(one.view.save_layout())
    two.model.start()
    two.until(lambda: two.model.clusters.state is QueueState.READY)
    assert two.view.queue.clusters.isVisible()


# ---------------------------------------------------------------- a selection of runs
def test_selected_runs_are_judged_at_once_and_the_selection_ends(desk):
    wanted = [desk.model.queue.model.at(row).id for row in (0, 1, 2)]
    desk.press(Key.Key_Down, SHIFT)
    desk.press(Key.Key_Down, SHIFT)
    assert desk.view.judgement.verdict.head.text() == "Verdict on 3 runs"
    desk.press(Key.Key_5)
    desk.until(lambda: judged_together(desk))
    assert judged_together(desk)[0][0] == tuple(wanted)
    desk.until(lambda: desk.view.judgement.verdict.head.text() == "Verdict")
    assert desk.said[-1] == "Verdict on 3 runs: loop"
    assert len(desk.view.queue.list.selectionModel().selectedRows()) == 1


def test_runs_chosen_with_ctrl_are_judged_and_those_between_are_not(desk):
    listing = desk.view.queue.list
    for row in (2, 4):
        place = listing.visualRect(desk.model.queue.model.index(row)).center()
        QTest.mouseClick(listing.viewport(), Qt.MouseButton.LeftButton, CONTROL, place)
        desk.wait()
    wanted = tuple(desk.model.queue.model.at(row).id for row in (0, 2, 4))
    assert desk.model.many.runs == wanted
    desk.press(Key.Key_9)
    desk.until(lambda: judged_together(desk))
    assert judged_together(desk)[0][0] == wanted


def test_escape_or_another_run_ends_the_selection(desk):
    desk.press(Key.Key_Down, SHIFT)
    assert desk.model.many.count == 2
    desk.press(Key.Key_Escape)
    assert not desk.model.many.is_chosen
    desk.press(Key.Key_Down, SHIFT)
    desk.press(Key.Key_J)
    assert not desk.model.many.is_chosen


def test_no_label_is_marked_while_several_runs_are_judged_together(desk):
    desk.press(Key.Key_1)
    desk.until(lambda: desk.model.verdicts.at(0).given)
    desk.press(Key.Key_Down, SHIFT)
    assert not any(choice.given for choice in desk.model.verdicts.rows)


def test_runs_that_have_the_verdict_already_say_so(desk):
    desk.press(Key.Key_Down, SHIFT)
    desk.press(Key.Key_5)
    desk.until(lambda: desk.said and desk.said[-1].startswith("Verdict on 2 runs"))
    desk.press(Key.Key_Up)
    desk.press(Key.Key_Down, SHIFT)
    desk.press(Key.Key_5)
    desk.until(lambda: desk.said[-1] == "These runs have the verdict 'loop' already.")


@pytest.mark.parametrize("zoom", [1.0, 1.5, 2.0])
def test_the_other_form_is_a_click_away_at_any_text_size(desk, theme, zoom):
    theme.set_zoom(zoom)
    desk.wait()
    desk.view.queue.form.click()
    desk.until(lambda: desk.model.many.clusters)
    assert QApplication.focusWidget() is desk.view.queue.clusters
    theme.set_zoom(1.0)


def test_a_workspace_without_runs_offers_to_import_in_both_forms(make_desk, fake_engine):
    fake_engine.all_runs.clear()
    desk = make_desk(start=False)
    desk.model.start()
    queue = desk.view.queue
    desk.until(lambda: queue.empty.isVisible())
    desk.press(Key.Key_C)
    desk.until(lambda: desk.model.clusters.state is QueueState.NO_MATCH)
    assert queue.empty.isVisible()
    assert not queue.no_clusters.isVisible()
