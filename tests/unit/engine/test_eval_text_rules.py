"""Texts are compared as WebArena and WebChoreArena publish it, quirks included.

The vectors are those of the published evaluators, run once with NLTK's word tokeniser without its sentence splitter.
"""

from __future__ import annotations

import pytest

from app.engine.evaluation.dialects.answer_rules import (
    clean_answer,
    exact_match,
    must_include,
    must_include_any,
)
from app.engine.evaluation.dialects.word_tokens import word_tokens


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("  'Yes' ", "yes"),
        ('"Yes"', "yes"),
        ("'", ""),
        ('"', ""),
        ("''Yes''", "'yes'"),
        ("“Yes”", "“yes”"),
        ("'a' and 'b'", "a' and 'b"),
        ("'a\"", "'a\""),
        ("", ""),
        ("STRASSE", "strasse"),
    ],
)
def test_an_answer_loses_outer_blanks_and_one_pair_of_quotes(text: str, clean: str) -> None:
    assert clean_answer(text) == clean


def test_cleaning_twice_removes_a_second_pair() -> None:
    assert clean_answer(clean_answer("''Yes''")) == "yes"


@pytest.mark.parametrize(
    ("reference", "answer", "score"),
    [("Yes", " yes ", 1), ("yes", "yes.", 0), ("'Yes'", "YES", 1), ("a b", "a  b", 0)],
)
def test_an_exact_match_is_equality_after_cleaning(reference: str, answer: str, score: float) -> None:
    assert exact_match(reference, answer) == score


TOKENISED = [
    ("0", "10 items", 0),
    ("0", "There are 0.", 1),
    ("0", "0. None", 0),
    ("0", "$0.00", 0),
    ("1", "1,234", 0),
    ("4", "4;5", 1),
    ("4", "4/5", 0),
    ("3", "3%", 1),
    ("7", "7th", 0),
    ("12", "2012", 1),
    ("yes", "yesterday", 1),
    ("", "anything", 1),
    ("", "", 1),
    ("5 |OR| 6", "5", 0),
    ("2", "(2)", 1),
    ("2", "it is '2'", 1),
    ("2", "2!", 1),
    ("2", "2, 3", 1),
    ("2", "1,2", 0),
]


@pytest.mark.parametrize(("reference", "answer", "score"), TOKENISED)
def test_a_reference_of_one_character_has_to_be_a_word(reference: str, answer: str, score: float) -> None:
    assert must_include(reference, answer, tokenise=True) == score


@pytest.mark.parametrize(("reference", "answer", "score"), [("0", "10 items", 1), ("0", "none", 0)])
def test_without_tokenising_a_reference_is_a_piece_of_the_answer(
    reference: str, answer: str, score: float
) -> None:
    assert must_include(reference, answer) == score


@pytest.mark.parametrize(
    ("reference", "answer", "tokenise", "score"),
    [
        ("5 |OR| 6", "5", False, 1),
        ("5 |or| 6", "6", False, 1),
        ("65 |OR| 30", "it is 30", True, 1),
        ("65 |OR| 30", "it is 3", True, 0),
        ("65 |OR| 3", "none", True, 1),  # published fault: the single character is searched for in itself
        ("65 |OR| 3", "none", False, 0),
        ("a|OR|b", "a", False, 0),
        ("0", "10 items", True, 0),
        ("0", "10 items", False, 1),
    ],
)
def test_webchorearena_takes_alternatives(reference: str, answer: str, tokenise: bool, score: float) -> None:
    assert must_include_any(reference, answer, tokenise=tokenise) == score


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("it's 5.", ["it", "'s", "5", "."]),
        ("don't", ["do", "n't"]),
        ("cannot, gonna", ["can", "not", ",", "gon", "na"]),
        ("3.5 and 1,000", ["3.5", "and", "1,000"]),
        ("5. Then 6.", ["5.", "Then", "6", "."]),
        ('"2"', ["``", "2", "''"]),
        ("'2'", ["'", "2", "'"]),
        ("a--b", ["a", "--", "b"]),
        ("[1] {2} <3>", ["[", "1", "]", "{", "2", "}", "<", "3", ">"]),
        ("wait... 4", ["wait", "...", "4"]),
        ("1:2 a:b", ["1:2", "a", ":", "b"]),
        ("#1 & @2", ["#", "1", "&", "@", "2"]),
        ("", []),
    ],
)
def test_words_are_split_by_the_treebank_conventions(text: str, tokens: list[str]) -> None:
    assert word_tokens(text) == tokens
