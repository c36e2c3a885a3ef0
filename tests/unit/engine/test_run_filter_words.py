"""The words of the filter line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.api.run_filter_words import (
    FIELDS,
    FilterValues,
    complete,
    completions,
    filter_text,
    parse_filter,
    unknown_words,
)
from app.engine.api.run_rows import RunFilter
from app.engine.core.verdicts import Label
from tests.support.laws import examples

VALUES = FilterValues(sites=("gitlab", "map", "shop admin"), suites=("demo",), people=("ann", "Bob Lee"))


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("assigned:me", "assigned", "me"),
        ("by:ann", "judged_by", "ann"),
        ('by:"Bob Lee"', "judged_by", "Bob Lee"),
        ("disputed", "disputed", True),
        ("Disputed", "disputed", True),
        ("cluster:c1:click", "cluster", "c1:click"),
        ("order:teach", "order", "teach"),
        ("Site:map", "site", "map"),
        ("by:", "judged_by", ""),
    ],
)
def test_each_word_sets_its_field_and_is_not_searched_for(text, field, value):
    which = parse_filter(text)
    assert getattr(which, field) == value
    assert which.search == ""


def test_every_field_of_a_word_is_one_of_the_filter():
    for field in FIELDS.values():
        assert hasattr(RunFilter(), field)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nonsense:foo", 'unknown filter word "nonsense:"'),
        ("lable:loop", 'unknown filter word "lable:"; did you mean label:?'),
        ("order:rsik", 'unknown filter word "order:rsik"; did you mean order:risk?'),
        ("label:gaveup", 'unknown filter word "label:gaveup"; did you mean label:"gave up"?'),
        ("failed site:gitlab by:ann order:teach", ""),
        ('label:"gave up"', ""),
        ("http://shop.test/a milestone 12:30", ""),
        ("\"what: a quoted word\" 'so: too'", ""),
        ("label:", ""),
        ("", ""),
    ],
)
def test_words_that_are_no_filter_are_named_with_the_nearest_one(text, told):
    assert "; ".join(map(str, unknown_words(text))) == told


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("lab", ("label:",)),
        ("failed dis", ("disputed",)),
        ("label:gav", ('label:"gave up"',)),
        ('failed label:"gav', ('label:"gave up"',)),
        ("site:", ("site:gitlab", "site:map", 'site:"shop admin"')),
        ("ma", ("map",)),
        ("by:", ("by:me", "by:ann", 'by:"Bob Lee"')),
        ("order:t", ("order:teach",)),
        ("failed", ()),
        ("zzz", ()),
    ],
)
def test_a_beginning_is_completed_by_the_words_and_values_that_are_known(text, offered):
    assert completions(text, VALUES) == offered


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("site:map suite:demo site:'shop admin' detector:any by:nobody", ""),
        ("site:mop", 'unknown filter word "site:mop"; did you mean site:map?'),
        ("suite:other", 'unknown filter word "suite:other"'),
    ],
)
def test_values_that_are_not_here_are_named_where_they_are_known(text, told):
    assert "; ".join(map(str, unknown_words(text, VALUES))) == told


def test_a_completion_replaces_the_word_being_typed_and_can_be_parsed():
    assert complete("failed lab", "label:") == "failed label:"
    line = complete('failed label:"gav', 'label:"gave up"')
    assert parse_filter(line).label == "gave up"


@pytest.mark.parametrize(
    "which",
    [
        RunFilter(),
        RunFilter(failed=True, site="shop admin", judged_by='Bob "B" Lee', label="gave up", disputed=True),
        RunFilter(assigned="me", cluster="c:1", search='buy it\'s "now"'),
    ],
)
def test_the_words_of_a_filter_are_parsed_to_the_same_filter(which):
    assert parse_filter(filter_text(which), order=which.order) == which


def test_all_labels_are_offered():
    assert len(completions("label:")) == len(Label)


@given(st.text(max_size=40))
@settings(max_examples=examples(60), deadline=None)
def test_nothing_typed_is_an_error(text):
    parse_filter(text)
    unknown_words(text)
    for offered in completions(text, VALUES):
        complete(text, offered)
