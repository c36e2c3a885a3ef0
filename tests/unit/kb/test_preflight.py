from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kb.preflight import PreflightIndex
from kb.retrieval import RetrievalSettings, Retriever, estimate_tokens
from kb.tip import Query, Scope, Status, StoredStep, Tip, TipDraft
from tests.support.encoder import HashingEncoder
from tests.support.tips import HOSTS, bases, laws, scopes, sites, stored_steps, texts, tip

ENCODER = HashingEncoder()
DRAFT = TipDraft(site="gitlab", text="Milestones are sorted by label", scope=Scope.parse("/dashboard/**"))
drafts = st.builds(
    lambda site, text, scope, times: TipDraft(site=site, text=text * times, scope=scope),
    sites,
    texts,
    scopes,
    st.sampled_from((1, 1, 6)),
)


def step(run: str, number: int, path: str = "/", failed: bool | None = True, text: str = "") -> StoredStep:
    return StoredStep(
        run=run, step=number, url=f"http://h:8023{path}", site="gitlab", text=text, failed=failed
    )


def delivered_by_brute_force(
    draft: TipDraft,
    steps: list[StoredStep],
    base: list[Tip],
    settings: RetrievalSettings,
    encoder: bool,
    tip_id: str,
) -> list[tuple[str, int, str, float]]:
    fields = {
        name: getattr(draft, name)
        for name in ("site", "text", "scope", "when", "do", "before", "why", "keywords")
    }
    mine = Tip(id=tip_id or "~youngest", status=Status.ACTIVE, **fields)
    tips = [one for one in base if one.id != tip_id] + [mine]
    retriever = Retriever(tips, HOSTS, ENCODER if encoder else None, settings=settings)
    found: list[tuple[str, int, str, float]] = []
    for one in steps:
        for result in retriever.retrieve(Query(url=one.url, text=one.text, site=one.site)).results:
            if result.tip.id == mine.id:
                found.append((one.run, one.step, result.route.value, result.score))
    return found


@laws
@given(bases(), stored_steps, drafts, st.booleans(), st.sampled_from((40, 600)), st.booleans(), st.data())
def test_preflight_equals_asking_the_retriever_at_every_step(
    base: list[Tip],
    steps: list[StoredStep],
    draft: TipDraft,
    encoder: bool,
    budget: int,
    edits: bool,
    data: st.DataObject,
):
    settings = RetrievalSettings(token_budget=budget)
    tip_id = data.draw(st.sampled_from([one.id for one in base])) if edits and base else ""
    retriever = Retriever(base, HOSTS, ENCODER if encoder else None, settings=settings)

    found = PreflightIndex(steps, HOSTS).run(draft, retriever, tip_id, examples=10_000)

    wanted = delivered_by_brute_force(draft, steps, base, settings, encoder, tip_id)
    assert sorted((one.run, one.step, one.route, one.score) for one in found.examples) == sorted(wanted)
    assert found.steps == len(wanted)


def test_the_cut_by_count_and_budget_is_seen_however_many_tips_stand_before():
    steps = [step("r", 1, "/p")]
    draft = TipDraft(site="gitlab", text="short", scope=Scope.parse("/p/*"))
    long = [tip(f"a{n:03}", "long " * 1_400, scope="/p") for n in range(200)]
    seven = [tip(f"b{n}", "x", scope="/p") for n in range(7)]
    index = PreflightIndex(steps, HOSTS)
    eight = Retriever([*long, *seven, tip("b8", "x", scope="/p")], HOSTS)

    assert index.run(draft, Retriever(long + seven, HOSTS), k=8).steps == 1
    assert index.run(draft, eight, k=8).steps == 0
    assert index.run(draft, eight).steps == 1
    just = RetrievalSettings(token_budget=8 * 7 + estimate_tokens("short"))
    assert index.run(draft, Retriever(eight.table.tips, HOSTS, settings=just)).steps == 1
    less = replace(just, token_budget=just.token_budget - 1)
    assert index.run(draft, Retriever(eight.table.tips, HOSTS, settings=less)).steps == 0
    assert index.run(replace(draft, text="long " * 1_400), Retriever([], HOSTS)).steps == 0


def test_each_route_is_counted_apart_and_a_site_wide_scope_counts_nothing():
    steps = [step("r", 1, "/p"), step("r", 2, "/p"), step("s", 1, "/z", text="milestone label sorting")]
    index = PreflightIndex(steps, HOSTS)

    page = index.run(TipDraft(site="gitlab", text="Hover", scope=Scope.parse("/p")), Retriever([], HOSTS))
    words = index.run(TipDraft(site="gitlab", text="Milestone label sorting"), Retriever([], HOSTS))
    wide = index.run(TipDraft(site="gitlab", text="Hover"), Retriever([], HOSTS))

    assert (page.steps, page.by_route) == (2, {"url": 2})
    assert (words.steps, words.by_route, words.in_scope) == (1, {"keyword": 1}, 3)
    assert (wide.steps, wide.by_route, wide.in_scope) == (0, {}, 3)


def test_it_follows_the_knowledge_base_as_it_changes():
    index = PreflightIndex([step("r", 1, "/dashboard/x")], HOSTS)
    retriever = Retriever([], HOSTS, settings=RetrievalSettings(token_budget=8 * 7 + 10))
    full = [tip(f"b{n}", "x", scope="/dashboard/x") for n in range(8)]

    assert index.run(DRAFT, retriever).steps == 1
    retriever.update(full)
    assert index.run(DRAFT, retriever).steps == 0
    assert index.run(DRAFT, retriever, tip_id="b3").steps == 1
    retriever.remove(["b0"])
    assert index.run(DRAFT, retriever).steps == 1


def test_it_takes_up_the_encoder_when_that_becomes_ready():
    index = PreflightIndex([step("r", 1, "/", text="the of and so in")], HOSTS)
    retriever = Retriever([], HOSTS)
    draft = TipDraft(site="gitlab", text="the of and so in", scope=Scope.parse("/elsewhere"))

    assert index.run(draft, retriever).steps == 0
    retriever.set_encoder(HashingEncoder())
    assert index.run(draft, retriever).steps == 1


def test_failed_and_passed_runs_are_counted_apart():
    steps = [
        step("f", 1, "/dashboard/a"),
        step("f", 2, "/dashboard/b"),
        step("p", 1, "/dashboard/a", failed=False),
        step("u", 1, "/dashboard/a", failed=None),
        step("f2", 1, "/z"),
    ]

    found = PreflightIndex(steps, HOSTS).run(DRAFT, Retriever([], HOSTS))

    assert (found.steps, found.failed_runs, found.passed_runs) == (4, 1, 1)
    assert (found.steps_in_failed, found.steps_in_passed, found.in_scope) == (2, 1, 4)


def test_examples_begin_with_failed_runs_and_show_each_run_before_any_twice():
    steps = [
        step(f"r{run}", number, "/dashboard/a", failed=run % 2 == 0)
        for run in range(4)
        for number in range(3)
    ]
    random.Random(1).shuffle(steps)

    examples = PreflightIndex(steps, HOSTS).run(DRAFT, Retriever([], HOSTS), examples=8).examples

    assert [one.failed for one in examples] == [True] * 6 + [False] * 2
    assert [one.run for one in examples[:2]] in (["r0", "r2"], ["r2", "r0"])
    assert examples[0].route == "url"
    assert examples[0].score == 0.4069


def test_steps_whose_address_a_scope_matches_are_counted_live():
    index = PreflightIndex([step("r", 1, "/f/a"), step("r", 2, "/f/b"), step("r", 3, "/g")], HOSTS)

    assert index.matching("gitlab", Scope.parse("/f/*")) == 2
    assert index.matching("gitlab", Scope()) == 3
    assert index.matching("reddit", Scope()) == 0
    assert index.matching("anything", Scope.parse("*:8023/g")) == 1


def test_without_stored_steps_nothing_is_found():
    index = PreflightIndex([], HOSTS)

    assert index.run(DRAFT, Retriever([], HOSTS)).steps == 0
    assert index.matching("gitlab", Scope()) == 0
