"""A task is read in parts, each with its mode and its names; one row a rule, expected values from the sentence."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.agent.scout.task import TaskMode, read_task

Q, W, C = TaskMode.QUESTION, TaskMode.WAY, TaskMode.CHANGE


@pytest.mark.parametrize(
    ("task", "modes"),
    [
        ("How many drafts are there?", [Q]),
        ("Who closed the ticket F-12, and on what day?", [Q]),
        ("Tell me how many drafts there are and who wrote the oldest one.", [Q, Q]),
        ("Counting only drafts, how many pages are there?", [Q]),
        ("I am in Leeds, how long does it take to York?", [Q]),
        ("Check whether F-12 is closed.", [Q]),
        ("Let me know which list is the oldest.", [Q]),
        ("Open the oldest ticket to see if it is closed.", [Q]),
        ("Show me who wrote the page last.", [Q]),
        ("Show me the number of drafts.", [Q]),
        ("Show me the command to copy the project.", [Q]),
        ("Show me the members who left?", [Q]),
        ("Find the newest ticket.", [Q]),
        ("Who are the owners of the lists dev and announce?", [Q]),
        ("Open the settings page.", [W]),
        ("Could you open the settings page?", [W]),
        ("I'd like to see the members of the group Editors.", [W]),
        ("Let me see the list of members.", [W]),
        ("Bring up the history of the page.", [W]),
        ("Open the author page of Ann Lee.", [W]),
        ("Show me the form to join.", [W]),
        ("Show me the page of Ann Lee, where her groups are listed.", [W]),
        ("Open the form of the last book, I want to correct it.", [W]),
        ("Check out the newest tickets.", [W]),
        ("Get directions from Leeds to York.", [W]),
        ("Find the page of the house rules.", [W]),
        ("List the books of Ann Lee by ascending price.", [W]),
        ("Upload nothing; just open the files section.", [W]),
        ("Delete the draft.", [C]),
        ("Frobnicate the draft.", [C]),
        ("Please give the user Ann the right to write.", [C]),
        ("Switch the language to German.", [C]),
        ("Create a draft titled 'Plan', then publish it.", [C, C]),
        ("I have just finished the book, please mark it as read.", [C]),
        ("We got a bigger boat: raise the quota to 26.", [C]),
        ("Write the total to notes.txt in a new folder named sums.", [C]),
        ("Is there a page called 'Old'? If there is, delete it.", [Q, C]),
        ("Which user has the most edits? Open their profile.", [Q, W]),
    ],
)
def test_a_part_has_the_mode_of_its_verb_and_its_grammar(task: str, modes: list[TaskMode]) -> None:
    assert [part.mode for part in read_task(task).parts] == modes


@pytest.mark.parametrize(
    ("task", "mode"),
    [
        ("Which user has the most edits? Open their profile.", W),
        ("Open the list and tell me its owner.", Q),
        ("Rename the list and open it.", C),
    ],
)
def test_a_task_is_a_change_if_any_part_is_one_else_what_its_last_part_is(task: str, mode: TaskMode) -> None:
    assert read_task(task).mode is mode


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ('Open the page "open house" now.', ["open house"]),
        ("Open the list 'announce'.", ["announce"]),
        ("Open the page of Ann Lee.", ["Ann Lee"]),
        ("Ann Lee has a new phone, who called her?", ["Ann Lee"]),
        ("Open the Summer Fair 2027.", ["Summer Fair 2027"]),
        ("Give the gadget Alpha 5 points.", ["Alpha"]),
        ("Which tickets cost between $1,000.00 and $2,000.00?", []),
        ("Open ticket 302.", ["302"]),
        ("Open ticket #302.", ["#302"]),
        ("Show the 5 newest tickets.", []),
        ("Add a voucher usable 4 times.", []),
        ("Which tickets were closed after 12 May 2026?", []),
        ("Open F-12 and AB3CD.", ["F-12", "AB3CD"]),
        ("Open the profile of jo.day.", ["jo.day"]),
        ("Open the profile of jo_day.", ["jo_day"]),
        ("Write to jo@mail.example.", ["jo@mail.example"]),
        ("Open https://host.example/a?b=1, please.", ["https://host.example/a?b=1"]),
        ("Open the file notes/may.txt.", ["notes/may.txt"]),
        ("Fill in the sign-up form of field-reports.", ["field-reports"]),
        ('Write as the note: "Both are gone."', ["Both are gone."]),
    ],
)
def test_names_are_quotes_capitals_identifiers_and_numbers_of_things(task: str, names: list[str]) -> None:
    assert [name.text for part in read_task(task).parts for name in (*part.context, *part.names)] == names


def test_a_name_knows_whether_it_was_quoted_is_a_number_and_what_stands_before_it() -> None:
    quoted, number = read_task('Move the page "Start" to the folder 12.').parts[0].names
    assert (quoted.quoted, quoted.number, quoted.lead) == (True, False, "move the page")
    assert (number.quoted, number.number, number.lead) == (False, True, "to the folder")


@pytest.mark.parametrize(
    ("task", "where", "context"),
    [
        ("Go to the inventory and set the stock to 15.", {"inventory"}, []),
        ('Find the ticket "Login fails" and close it.', {"ticket"}, ["Login fails"]),
        ("Find the newest ticket and close it.", {"newest", "ticket"}, []),
    ],
)
def test_a_way_before_another_part_is_where_it_is_done(
    task: str, where: set[str], context: list[str]
) -> None:
    (part,) = read_task(task).parts
    assert (set(part.where), [name.text for name in part.context]) == (where, context)


@pytest.mark.parametrize(
    ("task", "verb", "words", "names"),
    [
        ("In the wiki, open the page.", "open", {"wiki", "page"}, []),
        ("Under Settings, switch on the digest.", "switch", {"under", "digest"}, ["Settings"]),
        ('The page "Old" is settled. Archive it.', "archive", {"page", "settled"}, ["Old"]),
        ("I need the page of Ann Lee. Take me there.", "take", {"page"}, ["Ann Lee"]),
        ("I want to restock 40 units. How much will they cost?", "", {"units", "cost"}, []),
    ],
)
def test_a_statement_belongs_to_the_part_behind_it(
    task: str, verb: str, words: set[str], names: list[str]
) -> None:
    (part,) = read_task(task).parts
    assert (part.verb, set(part.words), [name.text for name in part.names]) == (verb, words, names)


@pytest.mark.parametrize(
    ("task", "verbs"),
    [
        ("Fill in the form of Ann, but don't submit it.", ["fill"]),
        ("Do not delete anything. Archive the draft.", ["archive"]),
        ("Archive the draft without deleting it.", ["archive"]),
        ("Never publish it; rename it.", ["rename"]),
        ("Upload nothing, rename the draft.", ["rename"]),
    ],
)
def test_what_is_not_to_be_done_is_no_part(task: str, verbs: list[str]) -> None:
    assert [part.verb for part in read_task(task).parts] == verbs


@pytest.mark.parametrize(
    ("task", "notes"),
    [
        ("How much is it in all? Round it to the nearest euro.", ("Round it to the nearest euro",)),
        ("Which drafts are old? Give me their titles.", ("Give me their titles",)),
        ("Who wrote it? Treat deleted users as one.", ("Treat deleted users as one",)),
        (
            "Who wrote it? If there are several, choose the first.",
            ("If there are several", "choose the first"),
        ),
        ("Who wrote it? Follow the format below.", ("Follow the format below",)),
    ],
)
def test_sentences_on_how_to_answer_are_notes_of_the_question(task: str, notes: tuple[str, ...]) -> None:
    (part,) = read_task(task).parts
    assert (part.mode, " ".join(part.notes)) == (Q, " ".join(notes))


def test_a_negation_stays_a_word() -> None:
    assert "not" in read_task("Show me the books I haven't read.").parts[0].words


@given(st.text(max_size=400))
def test_any_text_has_at_least_one_part(text: str) -> None:
    assert read_task(text).parts


@given(
    st.lists(
        st.sampled_from(
            [*"\"'“”«»`([{<,.:;?! ", "and", "to", "Ann", "12", "delete", "what", "http://a", "\n"]
        )
    )
)
def test_any_mix_of_signs_and_words_has_at_least_one_part(pieces: list[str]) -> None:
    assert read_task(" ".join(pieces)).parts
    assert read_task("".join(pieces)).parts


@pytest.mark.parametrize(
    "piece", ["and ", ", ", '"', "'", "(", ": ", "a-", "a.", "A ", "1 ", "to ", "what ", "http://", "\t"]
)
def test_time_grows_no_faster_than_the_text(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        spent: list[float] = []
        for number in range(3):
            began = time.process_time()
            read_task(f"{number} {text}")
            spent.append(time.process_time() - began)
        return 3 * min(spent)  # the collector of a large process is no cost of the text

    seconds(500)
    assert seconds(7_900) < 10 * max(seconds(1_975), 0.02)
