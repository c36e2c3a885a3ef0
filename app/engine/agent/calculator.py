"""Exact arithmetic for an agent: ``calculate("12.50 * 3 + 4.99")`` is ``42.49``.

Numbers are fractions inside, so nothing is lost until the result is written: a finite decimal is written in full, any
other with twelve decimals and a sign that says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import NoReturn

from app.errors import SiteloreError

_MAX_LENGTH = 4000
_MAX_DEPTH = 40
_MAX_EXPONENT = 400
_MAX_DIGITS = 600
_PLACES = 12
_MAX_PLACES = 40
_DIGITS = Context(prec=4 * _MAX_DIGITS)
"""So many digits that a number as large as is allowed is rounded as its fraction would be."""

_THOUSANDS = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?"
_ZERO_GROUP = re.compile(r",0")
_DECIMAL = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
_TOKEN = re.compile(
    rf"\s*(?:(?P<money>[$€£¥₹])|(?P<thousands>{_THOUSANDS})|(?P<number>{_DECIMAL})|(?P<name>[A-Za-z]+)"
    r"|(?P<sign>\*\*|//|[-+*/^%(),\[\]×÷·−–]))"
)
_SAME = {"^": "**", "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-"}


class CalculationError(SiteloreError, ValueError):
    """The expression can't be calculated; the message says why, for a model or a person to fix it."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def calculate(expression: str) -> str:
    """Return the value of an expression of decimal numbers, as text.

    Operators are ``+ - * / ** %`` (per cent, after a number), brackets, currency signs before numbers, commas
    between
    thousands (inside a function's brackets they separate values, and one that may do either is refused), and
    ``sum min max mean median count round abs floor ceil``; ``round`` takes halves away from zero, as people do.

    Raises:
        CalculationError: a part of it is unknown, divides by zero, or is too large.
    """
    if len(expression) > _MAX_LENGTH:
        raise CalculationError(
            f"the expression has {len(expression):,} characters; {_MAX_LENGTH:,} are allowed"
        )
    return format_number(_Reckoner(expression).result())


def format_number(value: Fraction) -> str:
    """Format a number: exact where its decimals end, else with twelve of them after ``≈``."""
    number = _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    written = f"{number.normalize(_DIGITS):f}"
    if len(written.partition(".")[2]) <= _MAX_PLACES and Fraction(number) == value:
        return written
    small = abs(value) < Fraction(1, 10 ** (_PLACES // 2))
    return f"≈ {_rounded(value, _MAX_PLACES if small else _PLACES).normalize(_DIGITS):f}"


class _Reckoner:
    def __init__(self, expression: str) -> None:
        self._tokens = _tokens(expression)
        self._at = 0
        self._depth = 0

    def result(self) -> Fraction:
        value = self._sum()
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            hint = " (inside a function's brackets commas separate the values)" if token.text == "," else ""
            _fail(f"unexpected {token.text!r}, place {token.at + 1}{hint}")
        return value

    def _sum(self) -> Fraction:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            _fail("brackets are nested too deep")
        value = self._product()
        while (sign := self._take("+", "-")) is not None:
            other = self._product()
            value = _bounded(value + other if sign == "+" else value - other)
        self._depth -= 1
        return value

    def _product(self) -> Fraction:
        value = self._signed()
        while (sign := self._take("*", "/", "//")) is not None:
            other = self._signed()
            if sign == "*":
                value = _bounded(value * other)
            elif other == 0:
                _fail("division by zero")
            else:
                value = _bounded(value / other if sign == "/" else Fraction(value // other))
        return value

    def _signed(self) -> Fraction:
        negative = False
        while (sign := self._take("+", "-")) is not None:
            negative ^= sign == "-"
        value = self._power()
        return -value if negative else value

    def _power(self) -> Fraction:
        base = self._per_cent()
        if self._take("**") is None:
            return base
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            _fail("powers are nested too deep")
        exponent = self._signed()
        self._depth -= 1
        return _raised(base, exponent)

    def _per_cent(self) -> Fraction:
        value = self._atom()
        while self._take("%") is not None:
            nxt = self._tokens[self._at] if self._at < len(self._tokens) else None
            if nxt is not None and (nxt.kind in ("number", "thousands", "name") or nxt.text == "("):
                _fail("'%' means per cent and follows a number; a remainder can't be calculated")
            value /= 100
        return value

    def _atom(self) -> Fraction:
        if self._at >= len(self._tokens):
            _fail("the expression ends where a number is expected")
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "money":
            return self._atom_after_money()
        if token.kind in ("number", "thousands"):
            return _bounded(Fraction(token.text.replace(",", "")))
        if token.kind == "name":
            return self._function(token)
        if token.text == "(":
            value = self._sum()
            self._close(")")
            return value
        raise CalculationError(
            f"can't calculate: a number is expected at {token.text!r}, place {token.at + 1}"
        )

    def _atom_after_money(self) -> Fraction:
        token = self._tokens[self._at] if self._at < len(self._tokens) else None
        if token is None or token.kind not in ("number", "thousands"):
            _fail("a currency sign is followed by a number")
        self._at += 1
        return Fraction(token.text.replace(",", ""))

    def _function(self, name: _Token) -> Fraction:
        function = _FUNCTIONS.get(name.text.lower())
        if function is None:
            _fail(f"{name.text!r} is not known; known are {', '.join(sorted(_FUNCTIONS))}")
        if self._take("(") is None:
            _fail(f"{name.text} is followed by its values in brackets")
        values = self._values(")")
        return _bounded(function(values))

    def _values(self, closing: str) -> list[Fraction]:
        values: list[Fraction] = []
        if self._take(closing) is not None:
            return values
        while True:
            if self._take("[") is not None:
                self._depth += 1
                if self._depth > _MAX_DEPTH:
                    _fail("lists are nested too deep")
                values += self._values("]")
                self._depth -= 1
            else:
                values.append(self._sum())
            if self._take(",") is None:
                self._close(closing)
                return values

    def _take(self, *signs: str) -> str | None:
        if self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind == "sign" and token.text in signs:
                self._at += 1
                return token.text
        return None

    def _close(self, bracket: str) -> None:
        if self._take(bracket) is None:
            where = self._tokens[self._at].text if self._at < len(self._tokens) else "the end"
            _fail(f"{bracket!r} is missing before {where!r}")


def _tokens(expression: str) -> list[_Token]:
    """Split an expression; commas between digits are thousands only outside of a function, where they are unambiguous.

    Within a function they separate values (``sum(120,150)``), and where they may do either nothing is guessed.
    """
    tokens: list[_Token] = []
    at, text = 0, expression.rstrip()
    functions: list[bool] = []
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            _fail(f"{text[at:].strip()[:12]!r} is not known in an expression")
        kind, found = match.lastgroup or "", match[match.lastgroup or 0]
        start = match.start(match.lastgroup or 0)
        if kind == "thousands" and any(functions):
            if _ZERO_GROUP.search(found) or ", " in text or (bool(tokens) and tokens[-1].kind == "money"):
                _fail(
                    f"{found!r} may be one number or several: write {found.replace(',', '')}, or a space after each"
                    " comma that separates values"
                )
            kind, found = "number", found.partition(",")[0]
        at = start + len(found)
        if found in ("(", "["):
            functions.append(found == "[" or (bool(tokens) and tokens[-1].kind == "name"))
        elif found in (")", "]") and functions:
            functions.pop()
        tokens.append(_Token(kind, _SAME.get(found, found), start))
    if not tokens:
        _fail("the expression is empty")
    return tokens


def _raised(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        _fail("only whole powers can be calculated exactly")
    if abs(exponent) > _MAX_EXPONENT:
        _fail(f"the power is beyond {_MAX_EXPONENT}")
    if base == 0 and exponent < 0:
        _fail("division by zero")
    digits = max(len(str(abs(base.numerator))), len(str(base.denominator))) * abs(int(exponent))
    if digits > _MAX_DIGITS * 2:
        _fail("the result is too large")
    return _bounded(base ** int(exponent))


def _bounded(value: Fraction) -> Fraction:
    limit = _MAX_DIGITS * 4
    if value.numerator.bit_length() > limit or value.denominator.bit_length() > limit:
        _fail("the result is too large")
    return value


def _rounded(value: Fraction, places: int) -> Decimal:
    """Round halves away from zero."""
    number = _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, _DIGITS)


def _some(values: Sequence[Fraction]) -> Sequence[Fraction]:
    return values if values else _fail("there are no values to calculate with")


def _one(values: Sequence[Fraction]) -> Fraction:
    return values[0] if len(values) == 1 else _fail("exactly one value is expected")


def _round(values: Sequence[Fraction]) -> Fraction:
    if not 1 <= len(values) <= 2:
        _fail("round takes a number and, after a comma, the number of decimals")
    places = values[1] if len(values) == 2 else Fraction(0)
    if places.denominator != 1 or abs(places) > _MAX_PLACES:
        _fail(f"the number of decimals is a whole number up to {_MAX_PLACES}")
    return Fraction(_rounded(values[0], int(places)))


def _median(values: Sequence[Fraction]) -> Fraction:
    ordered = sorted(_some(values))
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


_FUNCTIONS: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "sum": lambda values: sum(values, Fraction(0)),
    "min": lambda values: min(_some(values)),
    "max": lambda values: max(_some(values)),
    "mean": lambda values: sum(_some(values), Fraction(0)) / len(values),
    "avg": lambda values: sum(_some(values), Fraction(0)) / len(values),
    "average": lambda values: sum(_some(values), Fraction(0)) / len(values),
    "median": _median,
    "count": lambda values: Fraction(len(values)),
    "round": _round,
    "abs": lambda values: abs(_one(values)),
    "floor": lambda values: Fraction(_one(values).__floor__()),
    "ceil": lambda values: Fraction(_one(values).__ceil__()),
}


def _fail(why: str) -> NoReturn:
    raise CalculationError(f"can't calculate: {why}")
