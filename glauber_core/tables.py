"""The text column of a delimited table, with or without header and however it is quoted."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

_SAMPLE_ROWS, _SAMPLE_COLUMNS = 500, 200  # what is looked at to find delimiter, column and header
_NO_PROSE = re.compile(r"(?=\D*\d)[-+.,:/%eE\d ]+|https?://\S+")  # numbers, dates, addresses

Row = list[str]


@dataclass(frozen=True)
class Column:
    """Attributes:
    cells: one a row, the header not among them; blank where a row is too short.
    number: counted from 1, of ``width`` columns.
    width: the columns of the table.
    title: its header, "" if it has none.
    header: the first row is a header.
    broken: quotes do not follow csv's rules, so every line was read as a row.
    overfull: some rows have more fields than columns; the extra ones were left in this column.
    """

    cells: Iterator[str]
    number: int
    width: int
    title: str
    header: bool
    broken: bool
    overfull: bool


@dataclass(frozen=True)
class _Table:
    text: str
    delimiter: str
    quoted: bool

    def rows(self) -> Iterator[Row]:
        """Rows that are not blank. Raises csv.Error midway if quotes do not pair up or a field is too long for csv."""
        file = io.StringIO(self.text)
        if self.quoted:
            found: Iterator[Row] = csv.reader(file, delimiter=self.delimiter, strict=True)
        else:
            found = (line.rstrip("\n").split(self.delimiter) for line in file)
        return (row for row in found if any(map(str.strip, row)))

    def sample(self) -> list[Row]:
        return list(islice(self.rows(), _SAMPLE_ROWS))


def text_column(text: str, tabs: bool, titles: Sequence[str]) -> Column | None:
    """The column with the first of ``titles`` (any case) as its header, else the one with the longest text.

    Args:
        text: the table.
        tabs: tabs separate its columns; else the delimiter is found.
        titles: headers of text columns in lower case, the best first.

    Returns:
        None if no column holds anything but numbers, dates and addresses.
    """
    text = text.replace("\r\n", "\n")
    text = text.replace("\r", "\v" if "\n" in text else "\n")  # a lone one ends rows only where nothing else does
    delimiter, table_like = ("\t", True) if tabs else _delimiter(text, titles)
    table, broken = _unquoted(_Table(text, delimiter, True), table_like)
    sample = table.sample()
    if not sample:
        return None
    named = _named(sample[0], titles)
    width = len(sample[0]) if named is not None else _width(sample) if table_like else 1
    body = sample[1:] or sample
    column = named if named is not None else _longest(body, width)
    if column is None:
        return None
    header = named is not None or _is_header(sample[0], sample[1:], width, column)
    cells = (_cell(row, width, column, table) for row in islice(table.rows(), int(header), None))
    overfull = width > 1 and any(len(row) > width for row in sample)
    title = sample[0][column].strip() if header and column < len(sample[0]) else ""
    return Column(cells, column + 1, width, title, header, broken, overfull)


def _width(rows: Sequence[Row]) -> int:
    return Counter(map(len, rows)).most_common(1)[0][0]


def _delimiter(text: str, titles: Sequence[str]) -> tuple[str, bool]:
    """The likeliest delimiter, and whether it makes a table; if not, every line is one cell."""
    scores = {}
    for delimiter in ",;\t|":
        try:
            rows = _Table(text, delimiter, True).sample()
        except csv.Error:
            rows = _Table(text, delimiter, False).sample()
        scores[delimiter] = _likelihood(rows, titles)
    best = max(scores, key=scores.__getitem__)
    return (best, True) if scores[best] >= 0.5 else (",", False)


def _likelihood(rows: Sequence[Row], titles: Sequence[str]) -> float:
    """How much rows look like those of a table: all of one width above 1, without the space that follows in prose."""
    if rows and len(rows[0]) > 1 and _named(rows[0], titles) is not None:
        return 2.0
    if not rows or (width := _width(rows)) == 1:
        return 0.0
    later = [cell for row in rows for cell in row[1:_SAMPLE_COLUMNS]]
    return sum(len(row) == width for row in rows) / len(rows) * (1 - sum(c[:1] == " " for c in later) / len(later))


def _regular(table: _Table) -> bool:
    try:
        return all(True for _ in table.rows())
    except csv.Error:
        return False


def _unquoted(table: _Table, table_like: bool) -> tuple[_Table, bool]:
    """The table with quotes read as plain characters where that is right; and whether they break csv's rules."""
    plain = _Table(table.text, table.delimiter, False)
    if '"' not in table.text:
        return plain, False
    if table.delimiter == "\t":
        return (table if _quoted_tabs(table.text) else plain), False
    if not _regular(table):
        return plain, True
    prose = not table_like and any(len(row) > 1 for row in table.sample())
    return (plain if prose else table), False


def _quoted_tabs(text: str) -> bool:
    """Whether a table with tabs is clearly quoted as csv is.

    Spreadsheets do so; in collections such as MS MARCO a quote is a character, and to unwrap would swallow lines.
    """
    quoted, plain = _Table(text, "\t", True), _Table(text, "\t", False)
    if not _regular(quoted):
        return False
    widths, plain_widths = Counter(map(len, quoted.rows())), Counter(map(len, plain.rows()))
    if len(widths) == 1 < len(plain_widths):  # breaks inside quotes, unless whole rows stand between those
        return all(plain_widths[width] <= rows for width, rows in widths.items())
    if widths != plain_widths:
        return False
    doubled, always = False, set(range(min(widths)))
    for row, raw in zip(quoted.rows(), plain.rows(), strict=True):
        opened = {i for i, cell in enumerate(raw) if cell.startswith('"')}
        doubled |= any('"' in row[i] for i in opened)
        always &= opened
    return doubled or bool(always)


def _named(first: Row, titles: Sequence[str]) -> int | None:
    """Where the best of the titles stands in the first row, unless a number beside it shows that it is data."""
    labels = [cell.strip().casefold() for cell in first]
    if any(map(_NO_PROSE.fullmatch, labels)):
        return None
    return next((labels.index(title) for title in titles if title in labels), None)


def _longest(body: Sequence[Row], width: int) -> int | None:
    """The column with the longest text on average, the last one of equals; None if there is none."""
    fitting = [row for row in body if len(row) == width] or body
    best, column = 1, None
    for c in range(min(width, _SAMPLE_COLUMNS)):
        cells = [row[c].strip() for row in fitting if c < len(row)]
        if (total := sum(map(len, cells))) >= best and not _numeric(cells):
            best, column = total, c
    return column


def _numeric(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and 2 * sum(bool(_NO_PROSE.fullmatch(cell)) for cell in filled) > len(filled)


def _is_header(first: Row, body: Sequence[Row], width: int, column: int) -> bool:
    """Whether a first row without a known title is a header: labels above numbers, or single words above sentences."""
    labels = [cell.strip() for cell in first[:width]]
    if width == 1 or not body or len(labels) < width or not labels[column]:
        return False
    if any(len(label) > 40 or _NO_PROSE.fullmatch(label) for label in labels):
        return False
    columns = [[row[c].strip() for row in body if c < len(row)] for c in range(min(width, _SAMPLE_COLUMNS))]
    if any(label and _numeric(cells) for label, cells in zip(labels, columns, strict=False)):
        return True
    prose = sum(" " in cell for cell in columns[column])
    return not any(" " in label for label in labels) and 2 * prose > len(columns[column])


def _cell(row: Row, width: int, column: int, table: _Table) -> str:
    """One row's text. Fields beyond the width come from delimiters that belong to the text, so it takes them back."""
    extra = max(len(row) - width, 0)
    cell = table.delimiter.join(row[column : column + extra + 1]).strip()
    unwrap = table.delimiter != "\t" and (extra or not table.quoted)
    inner = cell[1:-1].replace('""', "")
    return cell[1:-1].replace('""', '"') if unwrap and cell[:1] == cell[-1:] == '"' and '"' not in inner else cell
