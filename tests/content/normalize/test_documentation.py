import pytest


def callout(kind, body, title=None):
    named = f' title="{title}"' if title else ""
    return f'<x-callout kind="{kind}"{named}>{body}</x-callout>'


P = "<p>Mind this.</p>"
SAID = "<p>Mind this before you go.</p>"


CALLOUTS = {
    "Sphinx": (
        f'<div class="admonition warning"><p class="admonition-title">Warning</p>{P}</div>',
        callout("warning", P)),
    "a title that is another word for its kind": (
        f'<div class="admonition info"><p class="admonition-title">Information</p>{P}</div>',
        callout("info", P)),
    "Sphinx with a title": (
        f'<div class="admonition-build admonition"><p class="admonition-title">Build</p>{P}</div>',
        callout("note", P, "Build")),
    "MkDocs, folded": (
        f'<details class="tip"><summary>Read on</summary>{P}</details>',
        callout("tip", P, "Read on")),
    "Docusaurus": (
        ('<div class="theme-admonition theme-admonition-caution alert alert--warning"><div '
         f'class="admonitionHeading_x"><span><svg></svg></span>caution</div><div>{P}</div></div>'),
        callout("caution", f"<div>{P}</div>")),
    "GitHub": (
        ('<div class="markdown-alert markdown-alert-important"><p class="markdown-alert-title"><svg>'
         f"</svg>Important</p>{P}</div>"),
        callout("important", P)),
    "Obsidian": (
        ('<div class="callout" data-callout="faq"><div class="callout-title"><div class="callout-title-'
         f'inner">Why?</div></div><div class="callout-content">{P}</div></div>'),
        callout("faq", f'<div class="callout-content">{P}</div>', "Why?")),
    "Obsidian, folded": (
        ('<div class="callout is-collapsible is-collapsed" data-callout="faq"><div class="callout-title">'
         f'Why?</div><div class="callout-content" style="display: none">{P}</div></div>'),
        callout("faq", f'<div class="callout-content">{P}</div>', "Why?")),
    "Bootstrap": (
        f'<main><div class="alert alert-warning" role="alert">{P}</div></main>',
        f"<main>{callout('warning', P)}</main>"),
    "VitePress": (
        '<div class="tip custom-block"><p class="custom-block-title">TIP</p>' + P + "</div>",
        callout("tip", P)),
    "VuePress": (
        f'<div class="hint-container danger"><p class="hint-container-title">Stop</p>{P}</div>',
        callout("danger", P, "Stop")),
    "Confluence": (
        ('<div class="confluence-information-macro confluence-information-macro-tip"><div '
         f'class="confluence-information-macro-body">{P}</div></div>'),
        callout("tip", f'<div class="confluence-information-macro-body">{P}</div>')),
    "Starlight": (
        ('<aside class="starlight-aside starlight-aside--caution"><p class="starlight-aside__title">'
         f"Caution</p><section>{P}</section></aside>"),
        callout("caution", f"<section>{P}</section>")),
    "AsciiDoc": (
        ('<div class="admonitionblock note"><table><tbody><tr><td class="icon">Note</td>'
         '<td class="content">Mind this.</td></tr></tbody></table></div>'),
        callout("note", "Mind this.")),
    "a class and a title": (
        f'<div class="note"><p><strong>Note:</strong></p>{P}</div>',
        callout("note", P)),
    "DocBook with an icon": (
        ('<div class="tip"><table summary="Tip"><tr><td rowspan="2"><img alt="[Tip]" src="t.png"></td><th>Tip</th>'
         f"</tr><tr><td>{P}</td></tr></table></div>"),
        callout("tip", P)),
    "DocBook with an icon and a title": (
        ('<div class="note"><table><tr><td rowspan="2"><img alt="[Note]" src="t.png"></td><th>Ports</th>'
         f"</tr><tr><td>{P}</td></tr></table></div>"),
        callout("note", P, "Ports")),
    "AsciiDoc with its kind in words": (
        ('<div class="admonitionblock"><table><tr><td class="icon"><div class="title">Note</div></td>'
         f'<td class="content">{P}</td></tr></table></div>'),
        callout("note", P)),
    "a class alone": (
        f'<main><div class="warning">{SAID}</div></main>',
        f"<main>{callout('warning', SAID)}</main>"),
    "a title by its words": (f'<div class="NOTE"><p>Note</p>{P}</div>', callout("note", P)),
    "a title in the text": (
        '<div class="notecard warning"><p><strong>Warning:</strong> Mind this.</p></div>',
        callout("warning", "<p> Mind this.</p>")),
    "one in another": (
        ('<div class="admonition note"><p class="admonition-title">Note</p><div class="admonition tip">'
         f'<p class="admonition-title">Tip</p>{P}</div></div>'),
        callout("note", callout("tip", P))),
}  # fmt: skip


@pytest.mark.parametrize(("html", "expected"), CALLOUTS.values(), ids=CALLOUTS)
def test_a_labelled_block_of_any_dialect_becomes_a_callout(standard, html, expected):
    assert standard(html) == expected


NO_CALLOUTS = {
    "a message outside of the content": f'<div class="alert alert-info">{P}</div>',
    "a message of a form": f'<main><form><div class="alert alert-danger">{P}</div></form></main>',
    "a banner": f'<main><div class="alert alert-info cookie-consent">{P}</div></main>',
    "a class alone in the void": f'<div class="note">{SAID}</div>',
    "a rating": '<main><div class="note">4.5 / 5</div></main>',
    "a rating that holds a block's class":
        '<main><div class="note">4.5 <b class="hint">of 5</b></div></main>',
    "a line of facts": f'<main><div class="info">{SAID}</div></main>',
    "a note of a menu": f'<nav><p>x</p><div class="note">{SAID}</div></nav>',
    "no kind": f'<div class="alert">{P}</div>',
    "an aside": f"<aside>{P}</aside>",
    "a quotation": f"<blockquote>{P}</blockquote>",
    "advertising": '<div class="callout"><p>Buy now.</p></div>',
    "nothing": '<div class="admonition note"></div>',
}  # fmt: skip


@pytest.mark.parametrize("html", NO_CALLOUTS.values(), ids=NO_CALLOUTS)
def test_other_blocks_stay(standard, html):
    assert "x-callout" not in standard(html)


@pytest.mark.parametrize(
    "box",
    [
        '<div style="display:none" class="callout is-collapsed" data-callout="tip"><div class="callout-title">T</div>',
        '<div class="is-collapsed">',
    ],
    ids=["hidden callout", "no callout"],
)
def test_only_callouts_that_are_seen_are_unfolded(standard, box):
    content = f'<div class="callout-content" style="display:none">{P}</div>'
    assert "Mind" not in standard(f"<p>{20 * 'Words that are shown. '}</p>{box}{content}</div>")


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
