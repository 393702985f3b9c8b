"""Tables of every kind give their text: which column, headers, delimiters, quotes, rows that do not fit."""

from __future__ import annotations

import csv
import io
import re
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glauber_core.texts import TEXT_HEADERS, Texts, from_file
from tests.core.uploads import refused, sentences

# -- tables: which column, with or without header ---------------------------------------------------------------------


@pytest.mark.parametrize("title", TEXT_HEADERS)
def test_a_column_with_a_known_title_wins_over_a_longer_one(title: str) -> None:
    table = f"id,{title.upper()},comment\n1,short one,a much longer remark\n2,another,a remark of some length\n"
    found = from_file("a.csv", table.encode())
    assert found.sentences == ("short one", "another")
    assert found.notes == (f'Column "{title.upper()}" (2 of 3) was read.',)


def test_of_two_known_titles_the_better_one_wins() -> None:
    assert sentences("a.tsv", "query\tpassage\nwhat is it\tit is this\n") == ["it is this"]


def test_a_title_beside_a_number_is_data() -> None:
    assert sentences("a.tsv", "1\ttext\n2\tword for word\n") == ["text", "word for word"]


def test_without_a_known_title_the_longest_text_wins() -> None:
    found = from_file("a.csv", b"id,label,review\n10000000000000001,good,I liked it\n10000000000000002,bad,I did not\n")
    assert found == Texts(("I liked it", "I did not"), ('Column "review" (3 of 3) was read.',))


@pytest.mark.parametrize("number", ["3.14159265358979323846", "-1e-300000000000000", "2026-01-31 10:00:00", "50%" * 9])
def test_numbers_and_dates_are_never_the_text(number: str) -> None:
    assert sentences("a.csv", f"{number},a word\n{number},or two\n") == ["a word", "or two"]


def test_addresses_are_never_the_text() -> None:
    url = "https://example.org/a/very/long/address.html"
    assert sentences("a.tsv", f"D1\t{url}\tbrief words\nD2\t{url}\tmore words\n") == ["brief words", "more words"]


def test_a_table_of_numbers_alone_is_refused() -> None:
    refused(lambda: from_file("a.csv", b"1,2\n3,4\n"), "no column of text")


@pytest.mark.parametrize("header", ["name,review", ",review"])
def test_single_words_above_sentences_are_a_header(header: str) -> None:
    assert sentences("a.csv", f"{header}\nkim,It was good\nlee,It was bad\n") == ["It was good", "It was bad"]


def test_sentences_above_sentences_are_not_a_header() -> None:
    assert sentences("a.csv", "kim,Not bad at all\nlee,It was bad\n") == ["Not bad at all", "It was bad"]
    assert sentences("a.csv", ",Hello there\n1,It was bad\n") == ["Hello there", "It was bad"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize("header", ["text", "id,text", "id\ttext"])
def test_a_header_alone_is_refused(name: str, header: str) -> None:
    if not (name == "a.tsv" and "," in header):
        refused(lambda: from_file(name, header.encode() + b"\n"), "below its header")


def test_one_column_needs_no_note_and_its_title_is_no_sentence() -> None:
    assert from_file("a.csv", b"Text\nthe cat sat\nthe dog ran\n") == Texts(("the cat sat", "the dog ran"), ())
    assert from_file("a.tsv", b"the cat sat\nthe dog ran\n") == Texts(("the cat sat", "the dog ran"), ())


def test_rows_beyond_the_limit_are_counted_without_the_header() -> None:
    table = "id,text\n" + "".join(f"{i},line {i}\n" for i in range(300))
    found = from_file("a.csv", table.encode(), 2)
    assert found.sentences == ("line 0", "line 1")
    assert found.notes == ('Column "text" (2 of 2) was read.', "300 rows: the first 2 are used.")


# -- tables: delimiters and quotes ------------------------------------------------------------------------------------


def test_quoted_fields_hold_commas_quotes_and_lines() -> None:
    table = 'id,text\r\n1,"Hello, world"\r\n2,"She said ""no"",\r\n  twice"\r\n3,plain\r\n'
    assert sentences("a.csv", table) == ["Hello, world", 'She said "no", twice', "plain"]


def test_what_the_csv_module_writes_is_read_back() -> None:
    wanted = ['a, "b" and\nc', "d; e\tf", '"all quoted"', "'g'"]
    for delimiter in ",;\t|":
        file = io.StringIO()
        csv.writer(file, delimiter=delimiter).writerows([["id", "text"], *([i, t] for i, t in enumerate(wanted))])
        for name in ("a.csv", "a.tsv") if delimiter == "\t" else ("a.csv",):
            assert sentences(name, file.getvalue()) == ['a, "b" and c', "d; e f", '"all quoted"', "'g'"]


@pytest.mark.parametrize("header", ["nr;satz\n", ""])
def test_semicolons_with_commas_in_the_text(header: str) -> None:
    table = header + "1;Ja, das geht.\n2;Nein, heute nicht.\n3;Gut, dann morgen.\n"
    assert sentences("a.csv", table) == ["Ja, das geht.", "Nein, heute nicht.", "Gut, dann morgen."]


def test_commas_with_semicolons_in_the_text() -> None:
    assert sentences("a.csv", "1,yes; it is\n2,no; not now\n") == ["yes; it is", "no; not now"]


def test_sentences_with_commas_under_the_name_csv_stay_whole() -> None:
    lines = ["The cat, the dog, and I.", "Hello there.", '"No," she said, "not now."', "So, so."]
    assert sentences("a.csv", "\n".join(lines)) == lines
    assert sentences("a.csv", "\n".join(["text", *lines])) == lines


def test_quoted_prose_under_the_name_csv_may_span_lines() -> None:
    assert sentences("a.csv", '"Hello, world,\nsaid he"\n"So it is"\n') == ["Hello, world, said he", "So it is"]


def test_commas_nobody_quoted_are_given_back_to_the_text() -> None:
    found = from_file("a.csv", b"id,text,label\n1,Well, yes, of course,a\n2,no,b\n")
    assert found.sentences == ("Well, yes, of course", "no")
    assert any("more fields than columns" in note for note in found.notes)


def test_short_rows_are_skipped_with_a_note() -> None:
    found = from_file("a.csv", b"id,text\n1,one\n2\n\n3,\n4,four\n")
    assert found.sentences == ("one", "four")
    assert "2 rows without a sentence skipped." in found.notes


def test_a_quote_never_closed_swallows_nothing() -> None:
    table = 'id,text\n1,"Hello, world"\n2,"open\n' + "".join(f"{i},line {i}\n" for i in range(3, 9))
    found = from_file("a.csv", table.encode())
    assert found.sentences == ("Hello, world", '"open', *(f"line {i}" for i in range(3, 9)))
    assert any(note.startswith("Every line was read as a row: a quote") for note in found.notes)


def test_a_field_beyond_the_csv_modules_limit() -> None:
    huge = "x" * (csv.field_size_limit() + 1)
    for field in (huge, f'"{huge}"'):
        found = from_file("a.csv", f"id,text\n1,{field}\n2,short\n".encode())
        assert found.sentences == ("short",) and any("20,000 characters left out" in note for note in found.notes)
        alone = partial(from_file, "a.csv", f"id,text\n1,{field}\n".encode())
        refused(alone, "longer than")


# -- MS MARCO ---------------------------------------------------------------------------------------------------------

PASSAGES = [
    'The "Manhattan Project" began in 1939.',
    '"It is late', "he said\" and left.", '"Trust" is earned.', '5" pipes, 3" pipes; both', '"Quoted throughout."',
]  # fmt: skip


@pytest.mark.parametrize("name", ["collection.tsv", "collection.csv"])
def test_a_collection_keeps_its_bare_quotes(name: str) -> None:
    found = from_file(name, "".join(f"{i}\t{p}\n" for i, p in enumerate(PASSAGES)).encode())
    assert found == Texts(tuple(PASSAGES), ("Column 2 of 2 was read.",))


def test_two_quotes_that_pair_up_over_lines_swallow_none() -> None:
    lines = ['1\t"Stay here', "2\tand wait", '3"', '4\t"To be or not"']
    assert sentences("a.tsv", "\n".join(lines[:2] + lines[3:])) == ['"Stay here', "and wait", '"To be or not"']
    assert sentences("a.tsv", "\n".join(lines))[:2] == ['"Stay here', "and wait"]


def test_top_1000_rows_give_the_passage() -> None:
    rows = [f"{i}\t{7000 + i}\twhat is number {i}\tNumber {i} is a passage, longer than its query." for i in range(3)]
    found = from_file("top1000.dev.tsv", "\n".join(rows).encode())
    assert found.sentences == tuple(f"Number {i} is a passage, longer than its query." for i in range(3))
    assert found.notes == ("Column 4 of 4 was read.",)


def test_of_columns_equally_long_the_last_is_taken() -> None:
    assert sentences("a.tsv", "1\tabc d\tefg h\n2\tijk l\tmno p\n") == ["efg h", "mno p"]


def test_separators_inside_a_passage_do_not_cut_its_row() -> None:
    assert sentences("a.tsv", "1\tone\x85 and\u2028two\r and\x0cthree\n2\tfour five\n") == [
        "one and two and three",
        "four five",
    ]


def test_rows_ended_by_carriage_returns_alone() -> None:
    assert sentences("a.csv", "id,text\r1,one\r2,two") == ["one", "two"]


def test_a_table_with_tabs_quoted_throughout_is_unwrapped() -> None:
    assert sentences("a.tsv", '"id"\t"text"\n"1"\t"one, two"\n"2"\t"three"\n') == ["one, two", "three"]


def test_breaks_inside_the_quotes_of_a_table_with_tabs() -> None:
    assert sentences("a.tsv", 'id\ttext\n1\t"one\ntwo"\n2\tthree\n') == ["one two", "three"]


# -- any text at all ---------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text('ab ",;|\n', max_size=20).map(lambda t: f"w {t} z"), min_size=1, max_size=8))
def test_a_titled_csv_file_gives_back_its_texts(wanted: list[str]) -> None:
    file = io.StringIO()
    csv.writer(file).writerows([["id", "text", "label"], *([i, t, "x"] for i, t in enumerate(wanted))])
    expected = [re.sub(r" *\n+[ \n]*", " ", t) for t in wanted]
    assert sentences("a.csv", file.getvalue()) == expected


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text('ab ",;|', min_size=1, max_size=20).map(lambda t: f"w {t} z"), min_size=1, max_size=8))
def test_a_collection_gives_back_its_passages(wanted: list[str]) -> None:
    assert sentences("a.tsv", "".join(f"{i}\t{t}\n" for i, t in enumerate(wanted))) == wanted
