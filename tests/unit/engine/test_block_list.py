"""Rule files: what a condition means, which rule decides, and that every mistake is named with its place."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.core.page_state import Element
from app.engine.core.transition import SkipReason
from app.engine.graph.rules.block_list import BlockList, builtin_text, preview_rules, try_rules
from app.engine.graph.rules.conditions import (
    FACTS,
    BadExpression,
    Subject,
    find_runaway_repeat,
    make_matcher,
    read_condition,
)
from app.errors import InputError

PAGE = "http://shop.example:8080/admin/vendors/3"


def element(role: str = "link", name: str = "Cups", **more) -> Element:
    return Element(index=more.pop("index", 0), role=role, name=name, **more)


def rules(*entries: dict, **top) -> str:
    return json.dumps({"format": "sitelore-rules", "version": 1, "rules": list(entries)} | top)


def rule(when: object = None, **more) -> dict:
    return {"name": "mine", "when": when or {"attr": "role", "op": "equals", "value": "link"}} | more


def holds(condition: object, on: Element | None = None) -> bool:
    return read_condition(condition).holds(Subject(element=on or element(), page_url=PAGE))


LINK = {"attr": "role", "op": "equals", "value": "link"}
NAMED = {"attr": "name", "op": "equals", "value": "Cups"}
OTHER = {"attr": "name", "op": "equals", "value": "Other"}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (LINK, True),
        ({"all": [LINK, NAMED]}, True),
        ({"all": [LINK, OTHER]}, False),
        ({"any": [OTHER, NAMED]}, True),
        ({"any": [OTHER, OTHER]}, False),
        ({"not": OTHER}, True),
        ({"not": {"any": [OTHER, {"not": LINK}]}}, True),
        ({"all": [LINK, {"any": [OTHER, {"not": {"all": [LINK, OTHER]}}]}]}, True),
    ],
)
def test_conditions_are_boolean(condition: object, expected: bool):
    assert holds(condition) is expected


@pytest.mark.parametrize(
    ("op", "value", "flags", "expected"),
    [
        ("equals", "Add Cups", "", True),
        ("equals", "add cups", "", False),
        ("equals", "add cups", "i", True),
        ("equals", "Cups", "", False),
        ("contains", "Cup", "", True),
        ("contains", "cup", "", False),
        ("contains", "cup", "i", True),
        ("regex", "^Add", "", True),
        ("regex", "^add", "", False),
        ("regex", "^add .ups$", "i", True),
        ("regex", "dd", "", True),
        ("glob", "Add*", "", True),
        ("glob", "Cups", "", False),
        ("glob", "add ?ups", "i", True),
    ],
)
def test_operations(op: str, value: str, flags: str, expected: bool):
    assert (
        holds({"attr": "name", "op": op, "value": value, "flags": flags}, element(name="Add Cups"))
        is expected
    )


@pytest.mark.parametrize(
    ("attr", "value"),
    [
        ("role", "link"), ("name", "Cups"), ("label", "L"), ("text", "T"), ("title", "ti"), ("placeholder", "pl"),
        ("id", "i"), ("class", "btn"), ("class", "btn btn-add"), ("test_id", "tid"), ("tag", "a"), ("type", "button"),
        ("value", "v"), ("state", "expanded"), ("landmark", "navigation:Main"), ("frame", "inner"), ("css", "#i"),
        ("xpath", "/html/a"), ("href", "http://shop.example/cups?a=1#top"), ("scheme", "http"),
        ("host", "shop.example"), ("path", "/cups"), ("query", "a=1"), ("fragment", "top"), ("form", "post:/save"),
        ("method", "post"), ("action", "/save"), ("submits", "yes"), ("repeat", "row"), ("page", PAGE),
        ("@data-kind", "k"),
    ],
)  # fmt: skip
def test_every_fact_can_be_matched(attr: str, value: str):
    full = element(
        label="L", text="T", test_id="tid", tag="a", type="button", value="v", states=("expanded", "haspopup"),
        landmarks=("banner", "navigation:Main"), frame=("outer", "inner"), css="#i", xpath="/html/a",
        href="http://shop.example/cups?a=1#top", form="post:/save", submits=True, repeat="row",
        attributes=(("class", "btn btn-add"), ("data-kind", "k"), ("id", "i"), ("placeholder", "pl"), ("title", "ti")),
    )  # fmt: skip
    assert holds({"attr": attr, "op": "equals", "value": value}, full)
    assert not holds({"attr": attr, "op": "equals", "value": f"{value}!"}, full)


def test_a_missing_fact_reads_as_empty():
    assert holds({"attr": "href", "op": "equals", "value": ""})
    assert not holds({"attr": "href", "op": "glob", "value": "?*"})


@pytest.mark.parametrize(
    ("scope", "covered"),
    [
        ({}, True),
        ({"host": "shop.example"}, True),
        ({"host": "SHOP.example:8080"}, True),
        ({"host": "*.example"}, True),
        ({"host": "shop.example:9"}, False),
        ({"host": "example"}, False),
        ({"path": "/admin/*"}, True),
        ({"path": "/admin"}, False),
        ({"host": "shop.example", "path": "/shop/*"}, False),
    ],
)
def test_a_rule_applies_only_in_its_scope(scope: dict, covered: bool):
    found = BlockList.load(rules(rule(scope=scope))).verdict(element(), PAGE)
    assert (found.verdict == "block") is covered


def test_the_first_rule_that_holds_decides():
    text = rules(rule(OTHER, name="a"), rule(name="b", verdict="allow"), rule(name="c"))
    assert BlockList.load(text).verdict(element(), PAGE).rule == "b"


def test_a_rule_result_has_rule_reason_and_risk():
    found = BlockList.load(rules(rule(severity="high", reason="their stock is live"))).verdict(
        element(), PAGE
    )
    assert (found.verdict, found.rule, found.why, found.reason, found.risk) == (
        "block", "mine", "their stock is live", SkipReason.BLOCKED, 0.8,
    )  # fmt: skip
    asked = BlockList.load(rules(rule(verdict="ask"))).verdict(element(), PAGE)
    assert (asked.verdict, asked.reason, asked.allows) == ("ask", SkipReason.BLOCKED, False)


def test_a_disabled_rule_is_validated_but_not_applied():
    assert BlockList.load(rules(rule(enabled=False))).verdict(element(), PAGE).allows
    with pytest.raises(InputError, match="unknown fact"):
        BlockList.load(rules(rule({"attr": "nmae", "op": "equals", "value": "x"}, enabled=False)))


SEND = {"attr": "submits", "op": "equals", "value": "yes"}


def test_a_rule_can_allow_a_form_and_not_what_a_danger_verb_names():
    search = element("button", "Search", form="get:/search", submits=True)
    delete = element("button", "Delete", form="get:/delete", submits=True)
    allowing = BlockList.load(rules(rule(SEND, verdict="allow", severity="low")))
    assert BlockList.builtin().verdict(search, PAGE).reason is SkipReason.FORM
    assert allowing.verdict(search, PAGE).allows
    assert allowing.verdict(search, PAGE).risk == 0.1
    refused = allowing.verdict(delete, PAGE)
    assert refused.reason is SkipReason.DANGER
    assert "lifts_danger" in refused.why


def test_a_rule_with_lifts_danger_lifts_a_danger_verb():
    delete = element(name="Delete", href="http://shop.example:8080/admin/3/delete/")
    lifting = BlockList.load(rules(rule(verdict="allow", lifts_danger=True)))
    assert BlockList.builtin().verdict(delete, PAGE).reason is SkipReason.DANGER
    assert lifting.verdict(delete, PAGE).allows


def test_block_lists_are_concatenated():
    own = BlockList.load(rules(rule(name="own", verdict="allow")))
    both = own.before(BlockList.load(rules(rule(name="other"))))
    assert both.verdict(element(), PAGE).rule == "own"


def test_the_example_file_loads_and_changes_nothing():
    assert BlockList.load(builtin_text()).rules == ()


def test_the_example_rules_work_when_enabled():
    document = json.loads(builtin_text())
    for entry in document["rules"]:
        entry.pop("enabled")
    chosen = BlockList.load(json.dumps(document))
    search = element("button", "Search", form="get:/search", submits=True)
    delete = element(name="Delete", href="http://shop.example/dashboard/products/3/delete/")
    sort = element(name="Price", href="http://shop.example/dashboard/?sort=price")
    acting = element("button", "Log in as Emma")
    page = "http://shop.example/dashboard/products/"
    assert [chosen.verdict(one, page).verdict for one in (search, delete, sort, acting)] == [
        "allow", "allow", "block", "ask",
    ]  # fmt: skip
    assert not chosen.verdict(delete, "http://shop.example/elsewhere/").allows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1, column 2"),
        ("[1, 2]", "not a rule file"),
        ('{"format": "sitelore-rules", "version": 2, "rules": []}', "version 2.*reads version 1"),
        ('{"format": "sitelore-rules", "rules": []}', "version of the rules is missing"),
        ('{"format": "sitelore-rules", "version": 1}', "'rules' is missing"),
        (rules(more=1), "unknown word 'more'"),
        (rules(rule(), rule()), r"rule 2 'mine', name.*already"),
        (rules({"when": LINK}), "rule 1, name"),
        (rules({"name": "x"}), "rule 1 'x', when"),
        (rules(rule(verdict="stop")), r"verdict: 'stop' is not one of allow, ask, block"),
        (rules(rule(severity="huge")), "severity"),
        (rules(rule(lifts_danger=True)), "only an 'allow' rule"),
        (rules(rule(scope={"hosts": "x"})), "a scope is"),
        (rules(rule(colour="red")), "colour: unknown word"),
        (rules(rule({"attr": "clas", "op": "equals", "value": "x"})), r"when\.attr: unknown fact 'clas'"),
        (rules(rule({"attr": "name", "op": "like", "value": "x"})), r"when\.op: unknown operation 'like'"),
        (rules(rule({"attr": "name", "op": "regex", "value": ""})), "would match everything"),
        (rules(rule({"attr": "name", "op": "regex", "value": "x", "flags": "q"})), r"when\.flags"),
        (rules(rule({"any": []})), r"when\.any: expected a list of at least one"),
        (rules(rule({"any": [LINK], "all": [LINK]})), "must be the only key"),
        (rules(rule({"all": [LINK, {"not": "x"}]})), r"when\.all\[1\]\.not"),
        (rules("x"), "rule 1, itself"),
    ],
)
def test_every_mistake_is_named_with_its_place(text: str, said: str):
    with pytest.raises(InputError, match=said) as failure:
        BlockList.load(text)
    assert failure.value.exit_code == 3


def test_a_broken_expression_names_rule_place_character_and_line(tmp_path: Path):
    broken = {"attr": "path", "op": "regex", "value": "/vendors(?"}
    text = json.dumps(
        json.loads(rules(rule(name="good"), rule({"any": [LINK, broken]}, name="bad"))), indent=1
    )
    file = tmp_path / "my rules.json"
    file.write_text(text)
    line = next(number for number, part in enumerate(text.split("\n"), start=1) if "/vendors(" in part)
    said = rf"my rules\.json: rule 2 'bad', when\.any\[1\]\.value \(line {line}\): character 11"
    with pytest.raises(InputError, match=said):
        BlockList.load(file)


def test_a_file_that_can_not_be_read_is_an_input_error(tmp_path: Path):
    with pytest.raises(InputError, match="can't be read"):
        BlockList.load(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes(b'{"a": "\xe9"}')
    with pytest.raises(InputError, match="UTF-8"):
        BlockList.load(tmp_path / "latin.json")


def test_endless_nesting_is_an_error_and_no_crash():
    deep: object = LINK
    for _ in range(60):
        deep = {"not": deep}
    with pytest.raises(InputError, match="nested deeper"):
        BlockList.load(rules(rule(deep)))
    with pytest.raises(InputError):
        BlockList.load('{"format": "sitelore-rules", "version": 1, "rules": ' + "[" * 200_000)


@pytest.mark.parametrize(
    "expression",
    ["(a+)+$", "(?:a*)*", "((ab)+c*)+", "(a|a)*b", r"(\w+\s?)*$", "(x{2,})+", "(?P<n>a+)+", "([a]+)*"],
)
def test_a_catastrophic_regular_expression_is_refused(expression: str):
    assert find_runaway_repeat(expression) is not None
    with pytest.raises(InputError, match="may take for ever"):
        BlockList.load(rules(rule({"attr": "name", "op": "regex", "value": expression})))


@pytest.mark.parametrize(
    "expression",
    [
        "a+b*",
        "(a|b)*",
        r"\(a+\)+",
        "[(a+)]+",
        "(abc)+",
        "(a+){1,3}",
        "(?:/x)*",
        r"li(?:\[\d+\])?",
        "[]+]*(a)",
    ],
)
def test_ordinary_regular_expressions_are_accepted(expression: str):
    assert find_runaway_repeat(expression) is None


def test_matched_text_is_bounded():
    began = time.perf_counter()
    holds({"attr": "name", "op": "regex", "value": "a.*b.*c"}, element(name="ab" * 500_000))
    assert time.perf_counter() - began < 2


@given(st.text(max_size=40))
def test_any_text_as_expression_is_compiled_or_refused(expression: str):
    subject = Subject(element=element(name="Cups 12"), page_url=PAGE)
    try:
        outcome: object = make_matcher("name", "regex", expression).holds(subject)
    except BadExpression as error:
        outcome = error.why
    assert outcome in (True, False) or isinstance(outcome, str)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["any", "all", "not", "attr", "op", "value", "flags", "name", "when", "verdict", "rules"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_rules_are_read_or_refused(value: object):
    text = json.dumps({"format": "sitelore-rules", "version": 1, "rules": value})
    outcome = ""
    try:
        outcome = f"{len(BlockList.load(text).rules)} rules"
    except InputError as error:
        outcome = str(error)
    assert outcome


def test_the_rule_preview_counts_blocked_elements():
    here = [element(index=0), element("button", "Menu", index=4), element("button", "Delete", index=9)]
    stored = [(PAGE, here), ("http://shop.example:8080/other", [element(), element("button", "More")])]
    report = preview_rules(BlockList.load(rules(rule())), PAGE, here, stored)
    assert [(hit.element, hit.verdict, hit.rule) for hit in report.hits] == [
        (0, "block", "mine"),
        (4, "allow", ""),
        (9, "block", "danger: destroys"),
    ]
    assert (report.stopped_here, report.stopped_everywhere, report.elements_everywhere) == (2, 3, 5)


def test_a_mistake_in_the_rule_preview_is_reported_without_results():
    report = try_rules(rules(rule({"attr": "name", "op": "regex", "value": "("})), PAGE, [element()])
    assert "rule 1 'mine'" in report.error
    assert report.hits == ()


def test_the_error_for_an_unknown_fact_lists_all_facts():
    with pytest.raises(BadExpression) as failure:
        read_condition({"attr": "?", "op": "equals", "value": ""})
    assert all(fact in failure.value.why for fact in FACTS)
