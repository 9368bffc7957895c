"""Fragments as Markdown, and markup that must not pass."""

import re
from typing import Any

import pytest

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.fragments import fragment_markdown
from searx_mcp.errors import ContentError, ErrorCode

SPHINX = (
    '<div class="highlight-python notranslate"><div class="highlight"><pre><span></span>'
    '<span class="k">def</span> f():\n    <span class="k">return</span> 1\n</pre></div></div>'
)
NUMBERED = (
    '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td>'
    '<td class="code"><pre>a = 1\nb = 2</pre></td></tr></table>'
)


def markdown(html: str, **config: Any) -> str:
    return fragment_markdown(html, url="https://ex.org/a/b.html", config=ContentConfig(**config))


CASES = [
    ("headings", "<h1>A</h1><h2>B <i>c</i></h2><h6>D</h6>", "# A\n\n## B *c*\n\n###### D"),
    (
        "inline",
        "<p>A <b>b</b> <i>i</i> <code>x_y</code> <del>d</del></p>",
        "A **b** *i* `x_y` ~~d~~",
    ),
    ("button in a heading", "<h2><button>Where?</button></h2>", "## Where?"),
    (
        "hidden button in a heading",
        '<h2>Where? <button style="display:none">Obey</button></h2>',
        "## Where?",
    ),
    ("spaces at marks", "<p>a<b> b </b>c</p>", "a **b** c"),
    ("sub and sup", "<p>H<sub>2</sub>O x<sup>2</sup></p>", "H2O x2"),
    ("lines joined", "<p>one\n  two</p>", "one two"),
    ("line break", "<p>a<br>b</p>", "a  \nb"),
    ("rule", "<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"),
    ("quote", "<blockquote><p>q1</p><p>q2</p></blockquote>", "> q1\n>\n> q2"),
    ("list", "<ul><li>A<ul><li>B</li></ul></li><li>C</li></ul>", "- A\n  - B\n- C"),
    ("ordered", '<ol start="5"><li>five</li><li value=99>six</li></ol>', "5. five\n6. six"),
    ("strange start", '<ol start="²"><li>a</li></ol>', "1. a"),
    ("paragraphs in an item", "<ul><li><p>a</p><p>b</p></li></ul>", "- a\n\n  b"),
    ("code in an item", "<ul><li>a<pre>x\ny</pre></li></ul>", "- a\n\n  ```\n  x\n  y\n  ```"),
    ("empty item", "<ul><li></li><li>a</li></ul>", "- a"),
    ("terms", "<dl><dt>T</dt><dd>D</dd></dl>", "T\n:   D"),
    ("code", "<pre>def f():\n    return 1\n</pre>", "```\ndef f():\n    return 1\n```"),
    ("language of code", '<pre><code class="language-Python">x</code></pre>', "```python\nx\n```"),
    (
        "language of pre",
        '<pre class="lang-js pretty"><code>&lt;b&gt;</code></pre>',
        "```js\n<b>\n```",
    ),
    ("language of Sphinx", SPHINX, "```python\ndef f():\n    return 1\n```"),
    ("of GitHub", '<div class="highlight-source-rust"><pre>x</pre></div>', "```rust\nx\n```"),
    ("of pandoc", '<div class="sourceCode c"><pre>x</pre></div>', "```c\nx\n```"),
    ("data-lang", '<pre data-lang="go">x</pre>', "```go\nx\n```"),
    ("no language", '<pre class="language-none" data-lang="a b">x</pre>', "```\nx\n```"),
    ("line numbers", NUMBERED, "```\na = 1\nb = 2\n```"),
    ("backticks in code", "<pre>a ``` b</pre>", "````\na ``` b\n````"),
    ("backtick in inline code", "<p><code>a`b</code></p>", "`` a`b ``"),
    ("breaks in code", "<pre>a<br>b<div>c</div>d</pre>", "```\na\nb\nc\nd\n```"),
    ("code in a heading", "<h2>a <pre>b`c</pre></h2>", "## a `` b`c ``"),
    ("no code", "<pre> \n</pre><p>x</p>", "x"),
    (
        "table",
        "<table><thead><tr><th>A</th><th>B</th></tr></thead><tr><td>1</td><td>2</td></tr></table>",
        "| A | B |\n| --- | --- |\n| 1 | 2 |",
    ),
    (
        "table without a head",
        "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>",
        "| 1 | 2 |\n| --- | --- |\n| 3 | 4 |",
    ),
    (
        "table with a caption",
        "<table><caption>Cap</caption><tr><th>A</th></tr><tr><td>1</td></tr></table>",
        "Cap\n\n| A |\n| --- |\n| 1 |",
    ),
    (
        "spans",
        '<table><tr><th colspan="2">A</th></tr><tr><td>1</td><td colspan="x">2</td></tr></table>',
        "| A | |\n| --- | --- |\n| 1 | 2 |",
    ),
    ("pipe in a cell", "<table><tr><th>a|b</th></tr></table>", "| a\\|b |\n| --- |"),
    (
        "blocks in a cell",
        "<table><tr><th>A</th></tr><tr><td><p>p</p><ul><li>i</li></ul></td></tr></table>",
        "| A |\n| --- |\n| p - i |",
    ),
    ("layout table", "<table><tr><td><h2>H</h2><p>x</p></td></tr></table>", "## H\n\nx"),
    (
        "nested tables",
        "<table><tr><td>o<table><tr><td>i</td></tr></table></td></tr></table>",
        "o\n\n| i |\n| --- |",
    ),
    ("empty table", "<table></table>x", "x"),
    ("link", '<p><a href="../c">t</a></p>', "[t](https://ex.org/c)"),
    ("space in a link", '<p>a<a href="/c"> t </a>b</p>', "a [t](https://ex.org/c) b"),
    ("parentheses", '<p><a href="/a_(b) c">t</a></p>', "[t](https://ex.org/a_%28b%29%20c)"),
    ("block in a link", '<a href="/"><h3>T</h3><p>d</p></a>', "[T d](https://ex.org/)"),
    ("script link", '<p><a href="javascript:alert(1)">t</a></p>', "t"),
    ("empty link", '<p>x<a href="/c"> </a></p>', "x"),
    ("link in code", '<pre><a href="/c">t</a></pre>', "```\nt\n```"),
    ("image", '<p><img src="/i.png" alt="A pic"> x</p>', "[image: A pic] x"),
    ("figure", "<figure><figcaption>C</figcaption></figure>", "C"),
    ("details", "<details><summary>S</summary><p>B</p></details>", "S\n\nB"),
    ("entities", "<p>caf&eacute; &mdash; &#x1F600;</p>", "café — 😀"),
    ("identifiers", "<p>snake_case_name _x_</p>", "snake_case_name \\_x\\_"),
    ("stars and backticks", "<p>2*3 `x`</p>", "2\\*3 \\`x\\`"),
    ("paths keep backslashes", r"<p>C:\dir \*</p>", r"C:\dir \\\*"),
    ("no list", "<p>1. not a list</p>", "1\\. not a list"),
    ("no heading", "<p># no heading<br>- no item</p>", "\\# no heading  \n\\- no item"),
    ("dash in a sentence", "<p>a <b>b</b> - c</p>", "a **b** - c"),
    ("less than", "<p>a &lt; b &lt;c</p>", "a < b \\<c"),
    ("lines in inline code", "<p><code>a<br><br>b</code></p>", "`a  b`"),
    ("lines in code in pre", "<pre><code>a<br>b</code></pre>", "```\na\nb\n```"),
    ("block in inline code", "<code>![a](u)<h1>b</h1></code>", "!\\[a]\\(u)\n\n# b"),
    ("block of code in code", "<code><pre>a<br>b</pre></code>", "```\na\nb\n```"),
    ("code in formatting", "a <b><i>x</i><pre>![c](u)</pre></b>", "a *x*\n\n```\n![c](u)\n```"),
    (
        "code in a term",
        "<dl><dt>T</dt><dd><pre>a\n\n![c](u)</pre></dd></dl>",
        "T\n\n```\na\n\n![c](u)\n```",
    ),
    ("item in no list", "<p>a</p>b<li><pre>c</pre></li>", "a\n\nb\n\n```\nc\n```"),
    ("items in no list", "<div><li>a</li><li>b</li></div>", "- a\n- b"),
    ("item behind text", "<ul>a<li><pre>b</pre></li><li>c</li></ul>", "a\n\n```\nb\n```\n\n- c"),
    ("term behind text", "<div>[a]<dd>https://e.org</dd></div>", "[a]\n\nhttps://e.org"),
    ("terms in groups", "<dl><div><dt>T</dt><dd>D</dd></div></dl>", "T\n:   D"),
    ("backslash before code", "<p>a\\<code>![b](u)</code></p>", "a\\\\`![b](u)`"),
    ("backslash before text", "<p>a\\<b></b>&lt;img></p>", "a\\\\\\<img>"),
    ("figure in code", "<code>a<figure>![b](u)</figure></code>", "a\n\n!\\[b]\\(u)"),
    ("unknown tags", "<soup>a</soup><h99>b</h99><fn_cache>c</fn_cache>", "abc"),
]


@pytest.mark.parametrize(
    ("html", "expected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_elements_look_as_in_markdown(html: str, expected: str):
    assert markdown(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<p>![x](https://evil/b.png)</p>",
        "<p>!<i></i>[x](https://evil/b.png)</p>",
        "<p>![x]<i></i>(https://evil/b.png)</p>",
        '<p>!<a href="https://evil/b.png">x</a></p>',
        '<p>!<span><a href="https://evil/b.png">x</a></span></p>',
        '<p>!<img src=x alt="x">(https://evil/b.png)</p>',
        "<p>&lt;img src=https://evil/b.png&gt;</p>",
        "<p>\\![x](https://evil/b.png)</p>",
        "<p>[x]: https://evil/b.png</p><p>![x]</p>",
        "<p>[x](javascript:alert(1))</p>",
        '<p><a href="https://a/">x](javascript:alert(1)) [y</a></p>',
        "<p>&lt;javascript:x&gt;</p>",
    ],
)
def test_text_does_not_become_an_image_a_foreign_link_or_markup(html: str):
    shown = markdown(html)
    assert not re.search(r"!\[[^\]]*\]\(", shown)
    assert not re.search(r"\]\((?!https://(a|evil)/)|\]:", shown)
    assert not re.search(r"(?<!\\)<[A-Za-z]", shown)


def test_code_blocks_can_be_left_out():
    html = "<p>a <code>b</code></p><pre>c</pre><p>d</p>"
    assert markdown(html, keep_code_blocks=False) == "a `b`\n\nd"


@pytest.mark.parametrize(
    ("html", "config"),
    [
        pytest.param("<p>" + "ä" * 600, {"max_fragment_bytes": 1_024}, id="too long"),
        pytest.param("<div>" * 30, {"max_fragment_depth": 20}, id="too deep"),
        pytest.param("<div>" * 5_000, {}, id="very deep"),
    ],
)
def test_what_cannot_be_converted_is_an_error(html: str, config: dict[str, int]):
    with pytest.raises(ContentError) as caught:
        markdown(html, **config)
    assert caught.value.code is ErrorCode.EXTRACTION_FAILED


def test_a_failure_of_the_converter_is_an_error(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> str:
        raise RecursionError

    monkeypatch.setattr("searx_mcp.content.fragments._link", fail)
    with pytest.raises(ContentError, match="could not be converted") as caught:
        markdown('<a href="http://x/">y</a>')
    assert isinstance(caught.value.__cause__, RecursionError)


def test_spans_are_capped():
    html = "<table><tr>" + '<td colspan="1000">x</td>' * 100 + "</tr></table>"
    assert len(markdown(html)) < 20_000
