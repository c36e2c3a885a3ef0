"""Reckoning is exact, bounded, and says what it can't do."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.engine.agent.calculator import CalculationError, calculate, format_number

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine must not fail a law."""

decimals = st.decimals(-1_000_000, 1_000_000, allow_nan=False, allow_infinity=False, places=3)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0.1 + 0.2", "0.3"),
        ("12.50 * 3 + 4.99", "42.49"),
        ("1/3*3", "1"),
        ("2/3", "≈ 0.666666666667"),
        ("1/30000000", "≈ 0.0000000333333333333333333333333333333333"),
        ("-2 ** 2", "-4"),
        ("2 ** -2", "0.25"),
        ("2 ** 3 ** 2", "512"),
        ("7 // 2", "3"),
        ("$1,234.50 + $65.50", "1300"),
        ("1,000,000 / 4", "250000"),
        ("sum(1,234)", "235"),
        ("sum(1.5, [2, 3.5], (4))", "11"),
        ("sum()", "0"),
        ("mean(1, 2, 4)", "≈ 2.333333333333"),
        ("median([3, 1, 2, 10])", "2.5"),
        ("max(2, 3) - min(2, 3)", "1"),
        ("round(2.345, 2)", "2.35"),
        ("round(-2.5)", "-3"),
        ("round(1234, -2)", "1200"),
        ("abs(3 - 5)", "2"),
        ("floor(-1.5) + ceil(1.2)", "0"),
        ("200 * 15%", "30"),
        ("3 × 4 − 6 ÷ 2", "9"),
        ("2^10", "1024"),
        ("count(4, 5)", "2"),
        ("--3", "3"),
        (".5 + 1.", "1.5"),
        ("1e3 + 1", "1001"),
    ],
)
def test_what_people_reckon(expression: str, value: str):
    assert calculate(expression) == value


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("", "empty"),
        ("1 +", "ends"),
        ("1 / 0", "zero"),
        ("0 ** -1", "zero"),
        ("7 % 2", "per cent"),
        ("2 ** 0.5", "whole powers"),
        ("9 ** 9 ** 9", "power"),
        ("999999999 ** 400", "too large"),
        ("(1 + 2", "missing"),
        ("1 2", "unexpected"),
        ("1, 2", "commas"),
        ("open('x')", "not known"),
        ("__import__('os')", "not known"),
        ("price * 2", "'price' is not known"),
        ("$ + 1", "number"),
        ("max()", "no values"),
        ("abs(1, 2)", "exactly one"),
        ("round(1, 0.5)", "whole number"),
        ("(" * 3000 + "1" + ")" * 900, "nested"),
        ("-" * 3000 + "1", ""),
        ("2**" * 100 + "2", "nested"),
        ("sum(" + "[" * 500, "nested"),
        ("1" * 5000, "characters"),
    ],
)
def test_what_can_not_be_reckoned_is_said_in_a_sentence(expression: str, told: str):
    if not told:
        assert calculate(expression) == "1"
        return
    with pytest.raises(CalculationError, match=told):
        calculate(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "sum($1,234.50, $99.00)",
        "sum(£1,234)",
        "sum(1,000)",
        "max(1,200, 900)",
        "round(1,234.567, 2)",
        "mean([2,050])",
    ],
)
def test_a_comma_that_may_stand_between_thousands_or_between_values_is_asked_about(expression: str):
    with pytest.raises(CalculationError, match="one number or several"):
        calculate(expression)


@untimed
@given(st.lists(decimals, min_size=1, max_size=30))
def test_a_sum_is_that_of_the_decimals(values: list[Decimal]):
    assert Decimal(calculate(f"sum({', '.join(map(str, values))})")) == sum(values)


@untimed
@given(decimals, decimals)
def test_products_and_differences_lose_nothing(a: Decimal, b: Decimal):
    assert Fraction(calculate(f"({a}) * ({b}) - ({a})")) == Fraction(a) * Fraction(b) - Fraction(a)


@untimed
@given(st.fractions(-1000, 1000))
def test_a_written_number_is_exact_or_says_that_it_is_not(value: Fraction):
    text = format_number(value)

    near = Fraction(text.removeprefix("≈ "))
    assert abs(near - value) <= Fraction(1, 10**12)
    assert text.startswith("≈") == (near != value)


@untimed
@given(st.text(max_size=40))
def test_no_text_makes_it_fail_in_any_other_way(text: str):
    with suppress(CalculationError):
        assert calculate(text)
