"""Where what is written is cut, joined or left out: the first number at which it is."""

from collections.abc import Callable

import pytest

from searx_mcp.content.writing.style import Links, Written

Probe = Callable[[int], bool]


@pytest.fixture
def turns(written, first: Callable[[Probe], int]) -> Callable[..., int]:
    """The least number for which what is written of a page is as asked."""

    def find(page: Callable[[int], str], is_so: Callable[[Written], bool], **style: object) -> int:
        return first(lambda count: is_so(written(page(count), **style)))

    return find


def x(count: int) -> str:
    return "x" * count


def lacks(mark: str) -> Callable[[Written], bool]:
    return lambda page: mark not in page.markdown


def shows(mark: str) -> Callable[[Written], bool]:
    return lambda page: mark in page.markdown


TABLES = [
    pytest.param(
        lambda n: f"<table><tr><th>A<th>B<tr><td rowspan=2>{x(n)}<td>1<tr><td>2</table>",
        lambda page: "| | 2 |" in page.markdown,
        61,
        id="a cell that is repeated in the rows it spans",
    ),
    pytest.param(
        lambda n: f"<table><tr><td><p>y</p><p>{x(n)}</p><td>1<tr><td>2<td>3</table>",
        lacks("|"),
        400,
        id="a cell of several blocks",
    ),
    pytest.param(
        lambda n: f"<table><tr><td>{x(n)}<td>y</table>", lacks("|"), 101, id="a cell of one row"
    ),
    pytest.param(
        lambda n: f"<table role=none><tr><td>{x(max(n, 1))}<td>y</table>",
        lacks(" / "),
        101,
        id="cells on one line",
    ),
]
TEXTS = [
    pytest.param(
        lambda n: f"<h2>A<a href=#x>{'#' * max(n, 1)}</a></h2>",
        lambda page: len(page.markdown) > 4,
        31,
        id="signs of a place",
    ),
    pytest.param(lambda n: f"<p>a<sup>{'1' * max(n, 1)}</sup></p>", lacks("^"), 41, id="a power"),
    pytest.param(
        lambda n: f"<pre><code class=language-{x(max(n, 1))}>y</code></pre>",
        lambda page: page.code_blocks[0].language == "",
        31,
        id="the name of a language",
    ),
    pytest.param(lambda n: f"<p>$x_{{{x(n)}}}*y$</p>", shows("\\*"), 495, id="TeX in a sentence"),
    pytest.param(lambda n: f"<p>$$x_{{{x(n)}}}*y$$</p>", shows("\\*"), 1_995, id="TeX by itself"),
    pytest.param(
        lambda n: f"<p>\\(x_{{{x(n)}}}*y\\)</p>", shows("\\*"), 495, id="TeX in parentheses"
    ),
    pytest.param(
        lambda n: f"<p>\\[x_{{{x(n)}}}*y\\]</p>", shows("\\*"), 1_995, id="TeX in brackets"
    ),
    pytest.param(lambda n: f"<p>a &amp;{x(max(n, 1))};</p>", lacks("\\"), 33, id="a reference"),
    pytest.param(lambda n: f"<p>{'1' * max(n, 1)}. a</p>", lacks("\\"), 10, id="a number"),
]
TARGETS = [
    pytest.param(
        lambda n: f"<p><a href='https://ex.org/{x(max(0, n - 15))}'>t</a></p>",
        lacks("]("),
        2_001,
        id="an absolute address",
    ),
    pytest.param(
        lambda n: f"<p><a href='/{x(max(0, n - 1))}'>t</a></p>",
        lacks("]("),
        1_987,
        id="an address below a host",
    ),
    pytest.param(
        lambda n: f"<p>a <img src=/i alt='The words' width={n}></p>",
        shows("words"),
        81,
        id="the width of an image",
    ),
    pytest.param(
        lambda n: f"<p>a <img src=/i alt='The words' width=999 height={n}px></p>",
        shows("words"),
        81,
        id="the height of an image",
    ),
    pytest.param(
        lambda n: f"<p>a <img src=/i alt='{x(n)}'></p>",
        lambda page: page.images[0].alt.endswith("…"),
        301,
        id="the words of an image",
    ),
    pytest.param(
        lambda n: f"<figure><img src=/i><figcaption>{x(n)}</figcaption></figure>",
        lambda page: page.images[0].caption.endswith("…"),
        301,
        id="a caption",
    ),
    pytest.param(
        lambda n: f"<p><a href=/c>{x(max(n, 1))}</a></p>",
        lambda page: page.links[0].text.endswith("…"),
        201,
        id="the words of a link",
    ),
    pytest.param(
        lambda n: f"<h2>{x(max(n, 1))}</h2>",
        lambda page: page.outline[0].title.endswith("…"),
        201,
        id="a heading",
    ),
    pytest.param(
        lambda n: f"<h2 data-anchor={x(max(n, 1))}>A</h2>",
        lambda page: page.outline[0].anchor.endswith("…"),
        201,
        id="an anchor",
    ),
]


@pytest.mark.parametrize(("page", "is_so", "count"), TABLES + TEXTS + TARGETS)
def test_what_is_written_turns_at_its_number(turns, page, is_so, count: int):
    assert turns(page, is_so) == count


@pytest.mark.parametrize(
    ("text", "mark"), [("[{}]", "\\"), ("<x-math>a[{}]</x-math>", "{}"), ("$x^a[{}]$", "{}")]
)
def test_a_number_in_brackets_is_told_from_that_of_a_link(turns, text: str, mark: str):
    def page(count: int) -> str:
        return f"<p>{text.replace('{}', '1' * max(count, 1))}</p>"

    assert turns(page, lacks(mark), links=Links.FOOTNOTES) == 7
    assert turns(page, lacks(mark)) == 0


@pytest.mark.parametrize(
    ("columns", "cells"), [(1, 2), (63, 64), (64, 65), (65, 65), (9_999, 65), (0, 2), (-3, 2)]
)
def test_a_cell_spans_so_many_columns(written, columns: int, cells: int):
    page = written(f"<table><tr><th colspan={columns}>A<th>B<tr><td>1<td>2</table>")
    assert page.markdown.splitlines()[0].count("|") - 1 == cells


def test_a_cell_spans_so_many_rows(written):
    rows = "<tr><td>y" * 1_200
    page = written(f"<table><tr><th>A<th>B<tr><td rowspan=9999>span<td>1{rows}</table>")
    assert page.markdown.count("| span |") == 1_000


def test_a_table_has_so_many_columns_and_the_last_holds_the_rest(written):
    page = written("<table><tr>" + "<th>h" * 203 + "<tr><td>1<td>2</table>")
    head = page.markdown.splitlines()[0]
    assert head.count("|") == 201
    assert head.endswith("| h; h; h; h |")


def test_so_many_cells_are_filled_in(written):
    rows = 400
    page = written("<table><tr>" + "<th>h" * 200 + "<tr><td>y" * rows + "</table>")
    cells = sum(line.count("|") - 1 for line in page.markdown.splitlines()[2:])
    assert cells == rows + 60_000


@pytest.mark.parametrize(
    ("start", "numbers"),
    [
        ("0", ["0.", "1."]),
        ("7", ["7.", "8."]),
        ("999999998", ["999999998.", "999999999."]),
        ("999999999", ["999999999.", "999999999."]),
    ],
)
def test_numbers_of_items_have_an_end(written, start: str, numbers: list[str]):
    page = written(f"<ol start={start}><li>a<li>b</ol>")
    assert [line.split()[0] for line in page.markdown.splitlines()] == numbers


def test_numbers_that_go_down_stop_at_nothing(written):
    page = written("<ol reversed start=1><li>a<li>b<li>c</ol>")
    assert page.markdown == "1. a\n0. b\n0. c"


def test_a_label_of_a_note_is_short(written):
    page = written(f"<x-note name={x(90)}>a b c</x-note>")
    assert page.markdown == f"[^{x(59)}]: a b c"


def test_headings_are_noted_up_to_a_limit(written):
    page = written("<h2>A</h2>" * 5_010)
    assert len(page.outline) == 5_000
    assert page.markdown.count("## A") == 5_010


def test_words_of_so_many_images_are_looked_up(written):
    page = written("<p>A bee.</p>" + "<img src=/i alt=bee> " * 520)
    assert page.markdown.count("[image: bee]") == 20
