import re

import pytest


def block(text, language=None):
    named = f' class="language-{language}"' if language else ""
    return f"<pre><code{named}>{text}</code></pre>"


AB = "a = 1\nb = 2"
XY = "x\ny"
EVALUATED = "#eval 1\n1\n#eval 2"


@pytest.mark.parametrize(
    ("html", "language"),
    [
        pytest.param("<pre>{}</pre>", None, id="alone"),
        pytest.param('<pre><code class="language-python">{}</code></pre>', "python", id="on the code"),
        pytest.param('<pre class="lang-js prettyprint"><code>{}</code></pre>', "js", id="on the block"),
        pytest.param('<div class="highlight-rust"><pre>{}</pre></div>', "rust", id="Sphinx"),
        pytest.param(
            '<div class="highlight highlight-source-go"><pre>{}</pre></div>', "go", id="GitHub source"
        ),
        pytest.param(
            '<div class="highlight highlight-text-html-basic"><pre>{}</pre></div>',
            "html-basic", id="GitHub text",
        ),
        pytest.param('<pre class="brush: php; gutter: false">{}</pre>', "php", id="brush"),
        pytest.param('<pre class="ruby">{}</pre>', "ruby", id="RDoc"),
        pytest.param('<pre class="ruby note">{}</pre>', None, id="a name among others"),
        pytest.param('<div class="highlight hl-r"><pre>{}</pre></div>', "r", id="notebook"),
        pytest.param('<pre><code class="makeup elixir">{}</code></pre>', "elixir", id="ExDoc"),
        pytest.param('<pre class="sourceCode haskell"><code>{}</code></pre>', "haskell", id="Pandoc"),
        pytest.param('<pre><code class="hljs kotlin">{}</code></pre>', "kotlin", id="highlight.js"),
        pytest.param('<pre data-lang="elixir">{}</pre>', "elixir", id="data-lang"),
        pytest.param('<pre><code data-language="fish">{}</code></pre>', "fish", id="data-language"),
        pytest.param('<pre data-code-language="nix">{}</pre>', "nix", id="data-code-language"),
        pytest.param('<pre data-enlighter-language="swift">{}</pre>', "swift", id="Enlighter"),
        pytest.param('<pre language="tsx"><code>{}</code></pre>', "tsx", id="language attribute"),
        pytest.param('<pre lang="ruby"><code>{}</code></pre>', "ruby", id="lang attribute"),
        pytest.param('<div class="ltx_listing ltx_lst_language_Python">{}</div>', "python", id="LaTeXML"),
        pytest.param('<div class="code-sample language-go">{}</div>', "go", id="no element of code"),
        pytest.param('<pre lang="en"><code>{}</code></pre>', None, id="lang of people"),
        pytest.param('<div class="lang-en"><pre>{}</pre></div>', None, id="class of people"),
        pytest.param('<pre><code class="language-plaintext">{}</code></pre>', None, id="plain text"),
        pytest.param('<pre><code class="language-none">{}</code></pre>', None, id="none"),
        pytest.param('<pre><code class="language-C++">{}</code></pre>', "c++", id="lower case"),
        pytest.param('<pre class="highlight wrap"><code>{}</code></pre>', None, id="no language"),
        pytest.param('<pre class="EnlighterJSRAW" data-language="a b">{}</pre>', None, id="no name"),
    ],
)  # fmt: skip
def test_code_keeps_the_language_that_its_page_names(standard, html, language):
    assert block(AB, language) in standard(html.replace("{}", AB))


SHOWN = {
    "blank lines": "<pre>\n\n a = 1\r\n b = 2\n\n  \n</pre>".replace(" a", "a").replace(" b", "b"),
    "breaks": "<pre>a = 1<br>b = 2<br></pre>",
    "a div a line": "<pre><code><div>a = 1</div><div>b = 2</div></code></pre>",
    "a span a line":
        '<pre><code><span class="line">a = 1</span><span class="line">b = 2</span></code></pre>',
    "spans and newlines":
        '<pre><code><span data-line="">a = 1</span>\n<span data-line="">b = 2</span></code></pre>',
    "Pygments numbers":
        '<pre><span class="lineno">1</span>a = 1\n<span class="lineno">2</span>b = 2</pre>',
    "Chroma numbers":
        '<pre><code><span style="display:flex"><span style="user-select:none">1</span>'
        '<span>a = 1\n</span></span><span style="display:flex"><span style="user-select:none">2'
        "</span><span>b = 2\n</span></span></code></pre>",
    "numbers that are hidden from readers aloud":
        '<pre><div class="ec-line"><div class="gutter"><div class="ln" aria-hidden="true">1</div></div>'
        '<div class="code">a = 1</div></div><div class="ec-line"><div class="gutter"><div class="ln" '
        'aria-hidden="true">2</div></div><div class="code">b = 2</div></div></pre>',
    "numbers without a name":
        "<pre><div><span>7</span><div>a = 1</div></div><div><span>8</span><div>b = 2</div></div></pre>",
    "table of two columns":
        '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td>'
        '<td class="code"><pre>a = 1\nb = 2</pre></td></tr></table>',
    "Hexo":
        '<figure class="highlight"><table><tr><td class="gutter"><pre><span class="line">1</span><br>'
        '<span class="line">2</span></pre></td><td class="code"><pre><span class="line">a = 1</span>'
        '<br><span class="line">b = 2</span><br></pre></td></tr></table></figure>',
    "GitHub's table":
        '<table><tbody><tr><td class="blob-num" data-line-number="1"></td>'
        '<td class="blob-code">a = 1</td></tr><tr><td class="blob-num" data-line-number="2"></td>'
        '<td class="blob-code">b = 2</td></tr></tbody></table>',
    "SyntaxHighlighter":
        '<div class="syntaxhighlighter"><table><tr><td class="gutter"><div class="line">1</div>'
        '<div class="line">2</div></td><td class="code"><div class="container"><div class="line">'
        '<code>a = 1</code></div><div class="line"><code>b = 2</code></div></div></td></tr>'
        "</table></div>",
    "CodeMirror 5":
        '<div class="CodeMirror"><div class="CodeMirror-code"><div><div class="CodeMirror-linenumber">'
        '1</div><pre class="CodeMirror-line">a = 1</pre></div><div><div class="CodeMirror-linenumber">2'
        '</div><pre class="CodeMirror-line">b = 2</pre></div></div></div>',
    "CodeMirror 6":
        '<div class="cm-editor"><div class="cm-gutters">1</div><div class="cm-content">'
        '<div class="cm-line">a = 1</div><div class="cm-line">b = 2</div></div></div>',
    "Ace":
        '<div class="ace_editor"><div class="ace_gutter">1</div><div class="ace_layer ace_text-layer">'
        '<div class="ace_line">a = 1</div><div class="ace_line">b = 2</div></div></div>',
    "a list item a line":
        '<pre><ol class="linenums"><li class="L0">a = 1</li><li class="L1">b = 2</li></ol></pre>',
    "code around the block": "<code><pre><code>a = 1\nb = 2</code></pre></code>",
    "code alone": '<code style="white-space: pre">a = 1\nb = 2</code>',
    "button": "<pre>a = 1<button>Copy</button>\nb = 2</pre>",
    "tooltip": '<pre><span class="tooltip">an int</span>a = 1\nb = 2</pre>',
    "style": "<pre>a = 1<style>b{}</style>\nb = 2</pre>",
    "hidden inline": '<pre>a = 1\n<span style="display:none">rm -rf /\n</span>b = 2</pre>',
    "hidden by a rule":
        '<style>.x{display:none}</style><pre>a = 1\n<span class="x">rm -rf /\n</span>b = 2</pre>',
    "spaces that do not break": "<pre>a\xa0= 1\nb = 2</pre>",
    "links and marks": '<pre><a href="/a">a</a> = <i>1</i>\nb = 2</pre>',
}  # fmt: skip


@pytest.mark.parametrize("html", SHOWN.values(), ids=SHOWN)
def test_code_is_text_without_what_stands_beside_it(standard, html):
    assert block(AB) in standard(html)


LABELS = {
    "language and button": (
        "<div><div><span>python</span><button>Copy</button></div><pre>x\ny</pre></div>",
        f"<div>{block(XY, 'python')}</div>"),
    "language as a reader says it": (
        '<div><div class="bar">C++</div><pre>x\ny</pre></div>',
        f"<div>{block(XY, 'cpp')}</div>"),
    "toolbar below": (
        ('<div class="code-toolbar"><pre class="language-go">x\ny</pre><div class="toolbar">'
         "<span>Copy code</span></div></div>"),
        '<div class="code-toolbar">' + block(XY, "go") + "</div>"),
    "VitePress": (
        ('<div class="language-js"><span class="lang">js</span><pre>x\ny</pre>'
         '<div class="line-numbers-wrapper"><span>1</span><br><span>2</span></div></div>'),
        '<div class="language-js">' + block(XY, "js") + "</div>"),
    "a file name stays": (
        '<div><div class="title">src/app.py</div><pre>x\ny</pre></div>',
        f'<div><div class="title">src/app.py</div>{block(XY)}</div>'),
    "a paragraph stays": (
        "<div><p>Python</p><pre>x\ny</pre></div>",
        f"<div><p>Python</p>{block(XY)}</div>"),
    "prompt of a notebook": (
        "<div><div>In [12]:</div><div><pre>x\ny</pre></div></div>",
        f"<div><div>{block(XY)}</div></div>"),
    "a tab's label stays": (
        "<div><summary>Docker</summary><pre>x\ny</pre></div>",
        f"<div><summary>Docker</summary>{block(XY)}</div>"),
    "the nearest block": (
        "<div><div>go</div><pre>x</pre><pre>y</pre></div>",
        f"<div>{block('x', 'go')}{block('y')}</div>"),
}  # fmt: skip


OTHERS = {
    "in a line": "<p>Call <code>a()</code> first.</p>",
    "over a line end": "<p>Call <code>a(\nb)</code> first.</p>",
    "table of data": "<table><tbody><tr><td>a</td><td>b</td></tr></tbody></table>",
    "a picture": '<pre><img src="/a.png" alt="A"></pre>',
    "no code": '<div class="code-block">One line of words.</div>',
    "fragment of a paragraph": '<div class="fragment"><p>x</p></div>',
    "fragment with text": '<div class="fragment">x <div class="line">y</div></div>',
}

BLOCKS = {
    "nothing in it": ("<p>a</p><pre><code> \n </code></pre>", "<p>a</p>"),
    "numbers that are code": ("<pre>10 PRINT\n20 GOTO 10</pre>", block("10 PRINT\n20 GOTO 10")),
    "marks that are text": ("<pre>&lt;b&gt;x&lt;/b&gt;</pre>", block("&lt;b&gt;x&lt;/b&gt;")),
    "a part of a file": (
        ('<table><tr><td class="blob-num">7<td class="blob-code">    if a:'
         '<tr><td class="blob-num">8<td class="blob-code">      b</table>'),
        block("if a:\n  b")),
    "pieces of one listing": (
        ('<div><code class="hl lean block">#eval 1</code><pre class="hl lean">1</pre>'
         '<code class="hl lean block">#eval 2</code></div>'),
        f"<div>{block(EVALUATED, 'lean')}</div>"),
}  # fmt: skip


FRAGMENT = """<div class="fragment"><div class="line"><a id="l00001" name="l00001"></a><span class="lineno">    1</span><span class="keyword">struct </span>x {</div>
<div class="foldopen" id="foldopen00002" data-start="{" data-end="}">
<div class="line"><a id="l00002" name="l00002"></a><span class="lineno"><a class="line" href="x.html#l2">    2</a></span> </div>
<div class="line"><a id="l00003" name="l00003"></a><span class="lineno">    3</span>  <span class="keywordtype">int</span> y;</div>
</div><div class="line"><a id="l00004" name="l00004"></a><span class="lineno">    4</span>};</div>
<div class="ttc" id="y"><div class="ttname">y</div><div class="ttdeci">int y</div></div></div>"""
"""As Doxygen writes a file with the numbers of its lines, parts that fold, and what it shows at a name."""

DOXYGEN = {
    "a file": (FRAGMENT, "struct x {\n\n  int y;\n};"),
    "an example": (
        """<div class="fragment"><div class="line"><span class="keywordflow">if</span> (x)</div>
<div class="line">  y();</div>
<div class="line"> </div>
<div class="line">z();</div>
</div>""",
        "if (x)\n  y();\n\nz();",
    ),
    "numbers with a space behind": (
        """<div class="fragment"><div class="line"><span class="lineno">    9</span>&#160;x {</div>
<div class="line"><span class="lineno">   10</span>&#160;  y;</div></div>""",
        "x {\n  y;",
    ),
    "a part of a function": (
        '<div class="fragment"><div class="line">    while (x)</div><div class="line">        y();</div></div>',
        "while (x)\n    y();",
    ),
}


@pytest.mark.parametrize(("html", "code"), DOXYGEN.values(), ids=DOXYGEN)
def test_the_lines_of_a_fragment_are_code(standard, html: str, code: str):
    assert (
        standard(f"<p>before</p>{html}<p>behind</p>") == f"<p>before</p>{block(code)}<p>behind</p>"
    )


LISTING = """<div class="ltx_listing"><div class="ltx_listing_data"><a href="data:text/plain;base64,eA==">⬇</a></div>
<div class="ltx_listingline"><span class="ltx_tag ltx_tag_listingline">1</span>x:</div>
<div class="ltx_listingline"><span class="ltx_tag ltx_tag_listingline">2</span>{}</div></div>"""


ROWS = {
    **LABELS,
    **BLOCKS,
    **{name: (html, html) for name, html in OTHERS.items()},
    "a listing without its numbers": (
        LISTING.format("<span>  </span>y"),
        block("x:\n  y"),
    ),
}


@pytest.mark.parametrize(("html", "left"), ROWS.values(), ids=ROWS)
def test_a_block_holds_its_code_alone_without_labels_around_it_and_what_is_none_stays(
    standard, html, left
):
    assert standard(html) == left


def test_an_algorithm_keeps_its_lines_formulas_and_numbers(standard):
    shown = standard(LISTING.format('<math alttext="y"><mi>y</mi></math>'))
    assert " ".join(re.sub("<span[^>]*>|</span>", "", shown).split()) == (
        '<div class="ltx_listing"> 1 x:<br> 2 <x-math>y</x-math><br></div>'
    )
