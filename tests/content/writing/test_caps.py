"""The limits of the writer: the first number at which text is cut, joined or left out."""

import re
from collections.abc import Callable

import pytest

from searx_mcp.models.style import Links

Probe = Callable[[int], bool]


def of(template: str, count: int) -> str:
    """A page: `@x` is this many x, but at least one, and `{}` the number."""
    repeated = re.sub("@(.)", lambda found: found[1] * max(count, 1), template)
    return f"<p>{repeated}</p>".replace("{}", str(count))


@pytest.fixture
def turns(written, first: Callable[[Probe], int]) -> Callable[..., int]:
    """The least number at which a mark appears in the output, or no longer does."""

    def find(template: str, mark: str, **style: object) -> int:
        def is_shown(count: int) -> bool:
            page = written(of(template, count), **style)
            return mark in page.markdown or mark in str((page.outline, page.links, page.images))

        is_so = is_shown(0)
        return first(lambda count: is_shown(count) is not is_so)

    return find


@pytest.mark.parametrize(
    ("template", "mark", "count"),
    [
        ("<table><tr><th>A<th>B<tr><td rowspan=2>@x<td>1<tr><td>2</table>", "| | 2 |", 61),
        ("<table><tr><td><p>y</p><p>@x</p><td>1<tr><td>2<td>3</table>", "|", 400),
        ("<table><tr><td>@x<td>y</table>", "|", 101),
        ("<table role=none><tr><td>@x<td>y</table>", " / ", 101),
        ("<h2>A<a href=#x>@#</a></h2>", "#####", 31),
        ("a<sup>@1</sup>", "^", 41),
        ("<pre><code class=language-@x>y</code></pre>", "```x", 31),
        ("$x_{@x}*y$", "\\*", 495),
        ("$$x_{@x}*y$$", "\\*", 1_995),
        ("\\(x_{@x}*y\\)", "\\*", 495),
        ("\\[x_{@x}*y\\]", "\\*", 1_995),
        ("a &amp;@x;", "\\", 33),
        ("@1. a", "\\", 10),
        ("<a href='https://ex.org/@x'>t</a>", "](", 1_986),
        ("<a href='/@x'>t</a>", "](", 1_986),
        ("a <img src=/i alt='The words' width={}>", "[image", 81),
        ("a <img src=/i alt='The words' width=999 height={}px>", "[image", 81),
        ("a <img src=/i alt='@x'>", "…", 301),
        ("<figure><img src=/i><figcaption>@x</figcaption></figure>", "…", 301),
        ("<a href=/c>@x</a>", "…", 201),
        ("<h2>@x</h2>", "…", 201),
        ("<h2 data-anchor=@x>A</h2>", "…", 201),
    ],
)
def test_what_is_written_turns_at_its_number(turns, template: str, mark: str, count: int):
    assert turns(template, mark) == count


@pytest.mark.parametrize(
    ("text", "mark"), [("[@1]", "\\"), ("<x-math>a[@1]</x-math>", "{"), ("$x^a[@1]$", "{")]
)
def test_a_number_in_brackets_is_told_from_that_of_a_link(written, turns, text: str, mark: str):
    assert turns(text, mark, links=Links.FOOTNOTES) == 7
    assert mark not in written(of(text, 1)).markdown


@pytest.mark.parametrize(
    ("columns", "cells"), [(1, 2), (63, 64), (64, 65), (65, 65), (9_999, 65), (0, 2), (-3, 2)]
)
def test_a_cell_spans_so_many_columns(written, columns: int, cells: int):
    page = written(f"<table><tr><th colspan={columns}>A<th>B<tr><td>1<td>2</table>")
    assert page.markdown.splitlines()[0].count("|") - 1 == cells


@pytest.mark.parametrize(
    ("html", "mark", "count"),
    [
        pytest.param(
            f"<table><tr><th>A<th>B<tr><td rowspan=9999>span<td>1{'<tr><td>y' * 1_200}</table>", "| span |", 1_000,
            id="rows that a cell spans",
        ),
        pytest.param("<p>A bee.</p>" + "<img src=/i alt=bee> " * 520, "[image: bee]", 20, id="images that are not looked up"),
    ],
)  # fmt: skip
def test_so_often_it_is_written(written, html: str, mark: str, count: int):
    assert written(html).markdown.count(mark) == count


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


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        pytest.param("<ol reversed start=1><li>a<li>b<li>c</ol>", "1. a\n0. b\n0. c", id="numbers that go down"),
        pytest.param(f"<x-note name={'x' * 90}>a b c</x-note>", f"[^{'x' * 59}]: a b c", id="label of a note"),
    ],
)  # fmt: skip
def test_marks_have_an_end(written, html: str, markdown: str):
    assert written(html).markdown == markdown


def test_headings_are_noted_up_to_a_limit(written):
    page = written("<h2>A</h2>" * 5_010)
    assert len(page.outline) == 5_000
    assert page.markdown.count("## A") == 5_010
