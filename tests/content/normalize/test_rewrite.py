"""Any nesting of dialects is rewritten within bounds, and shows nothing hidden."""

from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.guards import guard
from searx_mcp.content.html.hidden_elements import drop_hidden, drop_unseen, style_sheet
from searx_mcp.content.normalize.panels import drop_unlabelled, show_panels
from searx_mcp.content.normalize.rewrite import normalize_sources, normalize_text
from searx_mcp.content.tree import Removals

OPENING = st.sampled_from([
    "<pre>", '<pre class="language-x">', "<code>", '<code class="hl block">', '<div class="line">',
    '<span class="lineno">1</span>', '<table><tr><td class="linenos">1<td class="code">', "<br>",
    '<div class="cm-content">', '<div class="CodeMirror"><div class="CodeMirror-code">', "<math>",
    "<mrow>", "<mfrac>", "<msup>", "<mo>(</mo>", "<mo>)</mo>", "<mo>{</mo>", "<mtable><mtr><mtd>",
    "<semantics>", '<annotation encoding="application/x-tex">', "<munderover>", "<mmultiscripts>",
    '<span class="katex">', '<span class="katex-html">', '<span class="katex-display">',
    "<mjx-container>", "<mjx-math>", "<mjx-mfrac>", "<mjx-assistive-mml>", '<span data-math="x^2">',
    '<script type="math/tex">x_{1}</script>', '<span class="mwe-math-element">',
    '<img class="latex" alt="x">', '<img src="/f?%5Cfrac">', "<p>", "<ul><li>", "<ol><li>",
    '<div class="admonition note">', '<p class="admonition-title">', '<div class="callout">',
    '<div data-callout="tip" class="callout is-collapsed">', "<blockquote class=note><p>",
    '<aside class="tip">', "<details class=note><summary>", "<sup>", '<a href="#n1">1</a>',
    '<sup><a href="#n1" id="r1">1</a></sup>', '<li id="n1">', '<p id="n1"><a href="#r1">1</a>',
    '<div class="summary-table">', '<div class="table-header">', '<div class="member-signature">',
    '<table class="memname"><tr><td>', '<dl><dt><a href="a">A</a></dt>', '<div class="tip"><table><tr><td>',
    '<div class="footnote" id="n2">', '<a href="#n2">[2]</a>', '<span class="sidenote">',
    '<label class="margin-toggle"></label>', '<input type="checkbox" checked>', "<dl><dt id=n1><dd>",
    '<iframe src="https://www.youtube.com/embed/a">', "</iframe>", '<video src="/a.mp4">', "<noscript>",
    '<img src="data:,">', "<h2>Notes</h2>", "<hr>", "<x-math>", "<x-notes><x-note>", "<svg>",
    '<g data-mml-node="math">', "<template>", "<form>", "<select>", '<div role="tablist"><button role="tab">One',
    '<b role="tab" aria-controls="p1" id="t1">', '<div role="tabpanel" id="p1" hidden>', '<div role="tabpanel">',
    '<button aria-expanded="false" aria-controls="p1" id="p2">', '<h3 aria-expanded="false" aria-controls="p2">',
    '<div class="tabbed-set"><div class="tabbed-labels"><label>One</label></div><div class="tabbed-content">',
    '<div class="tabbed-block">', '<div class="comment"><a class="author">al</a>', "<td indent=1>",
    '<aside class="quote"><div class="title">al:</div>', '<aside class="onebox"><h3><a href="/x">x</a></h3>',
    '<div class="ltx_listing"><div class="ltx_listingline">',
])  # fmt: skip
CLOSING = st.sampled_from([
    "</pre>", "</code>", "</div>", "</span>", "</math>", "</table>", "</p>", "</ul>", "</ol>", "</a>",
    "</sup>", "</blockquote>", "</details>", "</aside>", "</svg>", "</noscript>", "</td>", "</mrow>",
])  # fmt: skip
TEXT = st.sampled_from(
    ["1", "a word", "\n", " ", "[", "]", "x = 1\ny = 2", "\\frac{a}{b}", "↩", "$"]
)
PAGES = st.lists(st.one_of(OPENING, OPENING, CLOSING, TEXT), max_size=60).map("".join)


@given(PAGES)
def test_any_page_is_rewritten(html):
    tree = LexborHTMLParser(guard(html))
    show_panels(tree)
    normalize_sources(tree, Removals())
    normalize_text(tree, Removals())
    for code in tree.css("pre > code"):
        assert all(child.is_text_node for child in code.iter(include_text=True))
    for name in ("x-reference", "x-task"):
        assert not any(node.text().strip() for node in tree.css(f"{name}[name]"))


@example("<mjx-container><mjx-math>", "")
@example(
    '<pre><div role="tabpanel" id="p1" hidden>', '</pre><div role="tablist"><button role="tab">One'
)
@example('<div role="tablist"><button role="tab">One', "")
@example(
    '<div role="tabpanel" id="p1" hidden><pre>', '</pre><div role="tablist"><button role="tab">One'
)
@given(PAGES, PAGES)
def test_nothing_hidden_is_shown(shown, hidden):
    secret = "opensesame"
    html = f"<p>{20 * 'Words that are shown. '}</p>{shown}"
    tree = LexborHTMLParser(guard(f'{html}</p><div style="display:none">{secret}{hidden}{secret}'))
    before = LexborHTMLParser(tree.html or "")
    visible = _visible(before)
    show_panels(tree)
    normalize_sources(tree, Removals())
    drop_unseen(tree, Removals())
    drop_hidden(tree, style_sheet(tree), Removals())
    drop_unlabelled(tree, Removals())
    normalize_text(tree, Removals())
    assert secret in visible or secret not in (tree.body.text() if tree.body else "")


def _visible(tree):
    sheet = style_sheet(tree)
    for button in tree.css("button"):
        # Its words are seen, and may label a panel.
        button.unwrap()
    drop_unseen(tree, Removals())
    drop_hidden(tree, sheet, Removals())
    return tree.body.text() if tree.body else ""


@given(st.sampled_from(["<pre>", "<code>", "<blockquote>", "<math>", "<sup>", '<div class="callout tip">',
                        '<span class="katex">', "<mrow>", "<li>", '<span data-math="x">', "<mjx-mrow>",
                        "<dl><dt><a href=a>A</a></dt><dd>", '<div class="member-signature">',
                        '<table class="memname"><tr><td>', '<div class="tip"><table><tr><td>i<td>']))  # fmt: skip
def test_deep_pages_are_rewritten(opening):
    tree = LexborHTMLParser(guard(f"<p>a</p>{opening * 2_000}x = 1\ny = 2"))
    normalize_sources(tree, Removals())
    normalize_text(tree, Removals())
    assert "x = 1" in (tree.body.text() if tree.body else "")
