"""Tables of cells in rows and declarations, as generators draw them, in the form of any other page."""

import pytest

GRID = (
    '<div class="summary-table"><div class="table-header col-first">Type</div><div class="table-header col-last">Method'
    '</div><div class="col-first"><code>int</code></div><div class="col-last"><a href="#x">x</a>()</div></div>'
)
PROTOTYPE = (
    '<table class="memname"><tr><td>int f </td><td>(</td><td>int&#160;</td><td><em>a</em>, </td></tr>'
    "<tr><td></td><td></td><td>char&#160;</td><td><em>b</em>&#160;</td></tr><tr><td></td><td>)</td></tr></table>"
)
CODE = "<pre><code>int f (int a,\n    char b\n    )</code></pre>"


def test_cells_in_rows_are_a_table(standard):
    assert standard(GRID) == (
        "<table><tr><th>Type</th><th>Method</th></tr>"
        '<tr><td><code>int</code></td><td><a href="#x">x</a>()</td></tr></table>'
    )


@pytest.mark.parametrize(
    ("html", "left"),
    [
        pytest.param(
            '<dl><dt>1. <a href="a">A</a></dt><dd><dl><dt><a href="b">B</a></dt><dt><a href="c">C</a></dt></dl></dd>'
            '<dt><a href="d">D</a></dt></dl>',
            '<ul><li>1. <a href="a">A</a><ul><li><a href="b">B</a></li><li><a href="c">C</a></li></ul></li>'
            '<li><a href="d">D</a></li></ul>',
            id="contents",
        ),
        pytest.param(
            '<dl><dt><a href="a">A</a></dt><dd>what A is</dd><dt><a href="b">B</a></dt></dl>',
            None,
            id="defined",
        ),
        pytest.param(
            '<dl><dt><a href="a">A</a> of a</dt><dt><a href="b">B</a></dt></dl>',
            None,
            id="more than links",
        ),
    ],
)
def test_definitions_of_links_are_a_list(standard, html, left):
    assert standard(html) == (html if left is None else left)


def test_cells_that_fill_no_rows_stay(standard):
    html = GRID.replace('<div class="col-first"><code>int</code></div>', "")
    assert standard(html) == html


def test_a_declaration_is_code(standard):
    html = '<div class="member-signature"><span>public</span>&nbsp;<a href="#v">void</a>&nbsp;x()\n  throws Y</div>'
    assert standard(html) == "<pre><code>public void x()\n throws Y</code></pre>"


@pytest.mark.parametrize(
    ("html", "left"),
    [
        pytest.param(PROTOTYPE, CODE, id="alone"),
        pytest.param(
            f'<table class="mlabels"><tr><td>{PROTOTYPE}</td><td><span>inline</span></td></tr></table>',
            f'{CODE}<table class="mlabels"><tbody><tr><td></td><td><span>inline</span></td></tr></tbody></table>',
            id="with a label",
        ),
    ],
)
def test_a_declaration_in_cells_is_code(standard, html, left):
    assert standard(html) == left
