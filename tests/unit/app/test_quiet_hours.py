"""Quiet hours: parsing, when they hold, how long they last."""

from __future__ import annotations

from datetime import datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InputError
from app.quiet_hours import QuietHours, quiet_hours

minutes = st.times().map(lambda at: at.replace(second=0, microsecond=0))
moments = st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("22:00-07:00", QuietHours(time(22), time(7))),
        (" 22 - 7 ", QuietHours(time(22), time(7))),
        ("9:30 to 17", QuietHours(time(9, 30), time(17))),
        ("0-24", None),
        ("18-24", QuietHours(time(18), time(0))),
        ("", None),
        ("  ", None),
    ],
)
def test_times_are_read_as_people_write_them(text, read):
    if text == "0-24":
        with pytest.raises(InputError):
            quiet_hours(text)
    else:
        assert quiet_hours(text) == read


@pytest.mark.parametrize("text", ["tonight", "25-7", "22:61-7", "7-7", "22:00", "-", "1" * 1_000_000])
def test_what_is_no_time_is_refused_in_one_short_sentence(text):
    with pytest.raises(InputError) as caught:
        quiet_hours(text)
    assert len(str(caught.value)) < 200


@given(minutes, minutes, moments)
def test_they_end_when_they_say(start, end, now):
    hours = QuietHours(start, end)
    left = hours.seconds_left(now)
    assert (left > 0) == hours.holds(now)
    if left:
        after = now + timedelta(seconds=left)
        assert (after.hour, after.minute) == (end.hour, end.minute)
        assert left <= 24 * 3600


@given(minutes, minutes, moments)
def test_turned_round_they_are_the_rest_of_the_day(start, end, now):
    if start != end:
        assert QuietHours(start, end).holds(now) != QuietHours(end, start).holds(now)
