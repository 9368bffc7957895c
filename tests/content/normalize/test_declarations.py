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


CELL = '<div class="col-first"><code>int</code></div>'

FORMS = {
    "cells in rows": (
        GRID,
        ("<table><tr><th>Type</th><th>Method</th></tr>"
         '<tr><td><code>int</code></td><td><a href="#x">x</a>()</td></tr></table>')),
    "cells that fill no rows": (GRID.replace(CELL, ""), None),
    "contents": (
        ('<dl><dt>1. <a href="a">A</a></dt><dd><dl><dt><a href="b">B</a></dt><dt><a href="c">C</a></dt></dl></dd>'
         '<dt><a href="d">D</a></dt></dl>'),
        ('<ul><li>1. <a href="a">A</a><ul><li><a href="b">B</a></li><li><a href="c">C</a></li></ul></li>'
         '<li><a href="d">D</a></li></ul>')),
    "links that are defined": ('<dl><dt><a href="a">A</a></dt><dd>what A is</dd><dt><a href="b">B</a></dt></dl>', None),
    "more than links": ('<dl><dt><a href="a">A</a> of a</dt><dt><a href="b">B</a></dt></dl>', None),
    "a declaration": (
        '<div class="member-signature"><span>public</span>&nbsp;<a href="#v">void</a>&nbsp;x()\n  throws Y</div>',
        "<pre><code>public void x()\n throws Y</code></pre>"),
    "a declaration in cells": (PROTOTYPE, CODE),
    "a declaration in cells with a label": (
        f'<table class="mlabels"><tr><td>{PROTOTYPE}</td><td><span>inline</span></td></tr></table>',
        f'{CODE}<table class="mlabels"><tbody><tr><td></td><td><span>inline</span></td></tr></tbody></table>'),
}  # fmt: skip


@pytest.mark.parametrize(("html", "left"), FORMS.values(), ids=FORMS)
def test_tables_declarations_and_contents_have_their_usual_form_and_others_stay(
    standard, html, left
):
    assert standard(html) == (html if left is None else left)
