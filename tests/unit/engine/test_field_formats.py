"""Texts in the formats that fields accept."""

from __future__ import annotations

from datetime import date, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.browser.actions.field_formats import (
    FieldConstraints,
    format_candidates,
    format_date,
    plain_number,
    read_date,
    read_month,
    read_time,
    read_week,
    same_content,
)


@pytest.mark.parametrize(
    ("text", "language", "day"),
    [
        ("2026-05-03", "", date(2026, 5, 3)),
        ("20260503", "", date(2026, 5, 3)),
        ("2026/5/3", "", date(2026, 5, 3)),
        ("5/3/2026", "en-US", date(2026, 5, 3)),
        ("5/3/2026", "en-GB", date(2026, 3, 5)),
        ("5/3/2026", "de", date(2026, 3, 5)),
        ("25/3/2026", "en-US", date(2026, 3, 25)),
        ("3/25/2026", "de", date(2026, 3, 25)),
        ("3.5.26", "", date(2026, 5, 3)),
        ("12/31/99", "en-US", date(1999, 12, 31)),
        ("1.1.70", "", date(1970, 1, 1)),
        ("1.1.68", "", date(2068, 1, 1)),
        ("99999-01-01", "", None),
        ("2026-05-03T10:00:00Z", "", date(2026, 5, 3)),
        ("May 3, 2026", "", date(2026, 5, 3)),
        ("3rd of May 2026", "", date(2026, 5, 3)),
        ("Sunday, 3 May 2026", "", date(2026, 5, 3)),
        ("3. März 2026", "", date(2026, 3, 3)),
        ("3 juillet 2026", "", date(2026, 7, 3)),
        ("3 juin 2026", "", date(2026, 6, 3)),
        ("30 February 2026", "", None),
        ("next week", "", None),
        ("May 2026", "", None),
        ("", "", None),
    ],
)
def test_dates_are_read_as_people_write_them(text: str, language: str, day: date | None):
    assert read_date(text, language) == day


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("3:30 pm", time(15, 30)),
        ("3pm", time(15)),
        ("12 am", time(0)),
        ("12:05 PM", time(12, 5)),
        ("15:30", time(15, 30)),
        ("9h30", time(9, 30)),
        ("noon", time(12)),
        ("23:59:59", time(23, 59, 59)),
        ("25:00", None),
        ("13 pm", None),
        ("soon", None),
    ],
)
def test_times_are_read_as_people_write_them(text: str, moment: time | None):
    assert read_time(text) == moment


def test_months_and_weeks_are_read():
    assert [read_month(text) for text in ("May 2026", "05/2026", "2026-05", "3 May 2026", "soon")] == [
        "2026-05",
        "2026-05",
        "2026-05",
        "2026-05",
        "",
    ]
    assert [
        read_week(text) for text in ("2026-W05", "week 5, 2026", "W5 2026", "2026-02-01", "soon", "2026-W60")
    ] == [
        "2026-W05",
        "2026-W05",
        "2026-W05",
        "2026-W05",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("mm/dd/yyyy", "05/03/2026"),
        ("DD.MM.YYYY", "03.05.2026"),
        ("yyyy-mm-dd", "2026-05-03"),
        ("d/m/yy", "3/5/26"),
        ("TT.MM.JJJJ", "03.05.2026"),
        ("jj/mm/aaaa", "03/05/2026"),
        ("e.g. mm/dd/yyyy", "05/03/2026"),
        ("name", ""),
        ("", ""),
        ("dd mmm yyyy", "03 May 2026"),
    ],
)
def test_dates_are_written_as_place_holders_ask(form: str, text: str):
    assert format_date(date(2026, 5, 3), form) == text


@given(
    st.dates(date(1900, 1, 1), date(2100, 1, 1)), st.sampled_from(["yyyy-mm-dd", "yyyy/mm/dd", "dd.mm.yyyy"])
)
def test_what_is_written_in_a_plain_form_is_read_as_the_same_day(day: date, form: str):
    assert read_date(format_date(day, form)) == day


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", "12"),
        ("-3.5", "-3.5"),
        ("$1,234.50", "1234.50"),
        ("1.234,50 €", "1234.50"),
        ("1 234,5", "1234.5"),
        ("1'234", "1234"),
        ("1,5", "1.5"),
        ("1,234", "1234"),
        ("1,234,567", "1234567"),
        ("1.234.567", "1234567"),
        ("0,234", "0.234"),
        ("20 %", "20"),
        ("12 USD", "12"),
        ("−4", "-4"),
        ("+7", "7"),
        ("none", ""),
        ("3 or 4", ""),
        ("", ""),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, number: str):
    assert plain_number(text) == number


@given(st.integers(-(10**9), 10**9))
def test_whole_numbers_stay_as_they_are_with_and_without_thousands(number: int):
    assert plain_number(str(number)) == str(number)
    assert plain_number(f"{number:,}") == str(number)
    assert plain_number(f"{number:,}".replace(",", " ")) == str(number)


@given(st.text(max_size=40))
def test_a_plain_field_gets_the_text_as_it_is(text: str):
    assert format_candidates(text, FieldConstraints(kind="input text")) == [text]


@given(
    st.text(max_size=60),
    st.sampled_from(["date", "time", "month", "week", "datetime-local", "number", "tel", "email", "url"]),
)
def test_every_text_has_a_form_for_every_field(text: str, kind: str):
    found = format_candidates(
        text, FieldConstraints(kind=f"input {kind}", placeholder="(555) 555-5555", maxlength=20)
    )
    assert found
    assert len(set(found)) == len(found)


def test_forms_follow_length_place_holder_and_kind():
    assert format_candidates("4111 1111 1111 1111", FieldConstraints(kind="input text", maxlength=16)) == [
        "4111111111111111"
    ]
    assert "(555) 123-4567" in format_candidates(
        "5551234567", FieldConstraints(kind="input tel", placeholder="(___) ___-____")
    )
    assert (
        format_candidates("2026-05-03", FieldConstraints(kind="input text", label="Day (dd.mm.yyyy)"))[0]
        == "03.05.2026"
    )
    assert format_candidates("$5", FieldConstraints(kind="input text", inputmode="decimal"))[0] == "5"


def test_secret_fields_are_known_by_kind_and_words():
    facts = {
        "kind": "input text",
        "takes": True,
        "placeholder": "",
        "pattern": "",
        "title": "",
        "maxlength": -1,
        "inputmode": "",
        "step": "",
        "language": "",
        "readonly": False,
        "disabled": False,
        "own": True,
        "name": "",
        "autocomplete": "",
    }
    assert FieldConstraints.read({**facts, "kind": "input password"}).secret
    assert FieldConstraints.read({**facts, "autocomplete": "cc-number"}).secret
    assert FieldConstraints.read({**facts, "autocomplete": "one-time-code"}).secret
    assert not FieldConstraints.read(facts, "Full name").secret


def test_what_a_mask_adds_is_no_difference():
    assert same_content("5551234567", "(555) 123-4567")
    assert same_content("a\r\nb", "a\nb")
    assert not same_content("abc", "abd")
    assert not same_content("", "x")
