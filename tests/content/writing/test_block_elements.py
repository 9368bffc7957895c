"""Headings, lists, quotes, callouts, terms, tables, code, footnotes."""

import pytest

HEADINGS = [
    pytest.param("<h1>A</h1><h2>B <i>c</i></h2><h6>D</h6>", "# A\n\n## B *c*\n\n###### D", id="heading: levels"),
    pytest.param("<h2><b>A</b> b</h2>", "## A b", id="heading: bold is no news"),
    pytest.param("<h2>A <a href='#a'>¶</a></h2><h2><a href='#b'>#</a>B</h2>", "## A\n\n## B", id="heading: permalinks"),
    pytest.param("<h2><a href='#a'>A</a></h2>", "## A", id="heading: link to itself"),
    pytest.param("<h3><a href=/x>L</a></h3>", "### [L](https://ex.org/x)", id="heading: link"),
    pytest.param("<h2>A<br>b <div>c</div></h2>", "## A b c", id="heading: one line"),
    pytest.param("<h2>C #</h2><h2>C#</h2>", "## C \\#\n\n## C#", id="heading: signs at the end"),
    pytest.param("<h2> </h2><p>a</p>", "a", id="heading: empty"),
    pytest.param("<ul><li>a</li><li><h3>T</h3><p>d</p></li></ul>", "- a\n\n- ### T\n\n  d", id="heading: in an item"),
    pytest.param("<ul><li><h3>T</h3><p>d</p></li><li><h3>U</h3></li></ul>", "### T\n\nd\n\n### U", id="heading: items that are sections"),
    pytest.param("<ul><li><hr><p>a</p><ul><li><h4>T</h4>b</li></ul></li></ul>", "a\n\n#### T\n\nb", id="heading: sections in a section"),
    pytest.param("<ol><li><h3>T</h3>d</li><li><h3>U</h3>e</li></ol>", "1. ### T\n\n   d\n\n2. ### U\n\n   e", id="heading: in numbered items"),
    pytest.param("<details open><summary class=hideme>Expand</summary><p>b</p></details>", "b", id="summary: hidden while open"),
    pytest.param("<div><summary><h4>T</h4><p>a</p><pre>b</pre></summary></div>", "#### T\n\na\n\n```\nb\n```", id="summary: of nothing"),
    pytest.param("<div><h1>A<div><h2>B</h2></div></h1></div>", "# A\n\n## B", id="heading: in a heading"),
    pytest.param("<h2>a <pre>b`c</pre></h2>", "## a ``b`c``", id="heading: code"),
    pytest.param("<details><summary><h3>S</h3></summary>b</details>", "### S\n\nb", id="heading: in a summary"),
]  # fmt: skip

LISTS = [
    pytest.param("<ul><li>A<ul><li>B<ol><li>C</li><li>D</li></ol></li></ul></li><li>E</li></ul>", "- A\n  - B\n    1. C\n    2. D\n- E", id="list: nested"),
    pytest.param("<ol><li><span>1.</span><p>a</p></li><li><span>2)</span><p>b</p></li></ol>", "1. a\n\n2. 2\\)\n\n   b", id="list: its own numbers"),
    pytest.param("<ul><li><span>•</span><p>a</p></li></ul>", "- a", id="list: its own bullets"),
    pytest.param("<dl><dt>a<dd><dt>b<dd> <dt>c<dd>d</dl>", "**a**\n\n**b**\n\n**c**: d", id="terms: empty definitions"),
    pytest.param("<ol start=5><li>a</li><li>b</li></ol>", "5. a\n6. b", id="list: start"),
    pytest.param("<ol start=9><li>a<ul><li>x</li></ul></li><li>b<ul><li>y</li></ul></li></ol>", "9. a\n   - x\n10. b\n    - y", id="list: wide numbers"),
    pytest.param("<ol start=x><li>a</li></ol><p>b</p><ol start=0><li>c</li></ol>", "1. a\n\nb\n\n0. c", id="list: strange start"),
    pytest.param("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "- a\n- b", id="list: tight"),
    pytest.param("<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n\n- c", id="list: loose"),
    pytest.param("<ul><li>a<pre>x\n\ny</pre></li></ul>", "- a\n\n  ```\n  x\n\n  y\n  ```", id="list: code"),
    pytest.param("<ul><li>a<blockquote>q</blockquote></li></ul>", "- a\n\n  > q", id="list: quote"),
    pytest.param("<ul><li>a<table><tr><th>A<th>B<tr><td>1<td>2</table></ul>", "- a\n\n  | A | B |\n  | --- | --- |\n  | 1 | 2 |", id="list: table"),
    pytest.param("<ul><li>a</li></ul><ul><li>b</li></ul>", "- a\n\n* b", id="list: two lists"),
    pytest.param("<ol><li>a</li></ol><ol><li>b</li></ol>", "1. a\n\n1) b", id="list: two numbered lists"),
    pytest.param("<ul><li></li><li>a</li><li> </li></ul>", "- a", id="list: empty items"),
    pytest.param("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b", id="list: list in a list"),
    pytest.param("<ul>a<li>b</li><div><li>c</li></div></ul>", "- a\n- b\n- c", id="list: children that are no items"),
    pytest.param("<div><li>a</li><li>b</li></div>", "- a\n- b", id="list: items without a list"),
    pytest.param("<ul><li>a<ol start=3><li>b</li></ol></li></ul>", "- a\n\n  3. b", id="list: a number that would not interrupt"),
    pytest.param("<ul><li><ul><li>a</li></ul></li></ul>", "- - a", id="list: item that is a list"),
    pytest.param("<ul><li>- a</li><li># b</li></ul>", "- \\- a\n- \\# b", id="list: text that is a mark"),
    pytest.param("<ul><li>x<hr>y</li><li>z</li></ul>", "- x\n\n  ***\n\n  y\n\n- z", id="list: rule"),
    pytest.param("<ul><li>a<br>b</li></ul>", "- a  \n  b", id="list: break"),
]  # fmt: skip

BLOCKS = [
    pytest.param("<p>a</p><hr><hr><p>b</p><hr>", "a\n\n---\n\nb", id="block: rule"),
    pytest.param("<div>a<div>b</div>c</div>", "a\n\nb\n\nc", id="block: text between blocks"),
    pytest.param("<span>a<p>b</p></span>c", "a\n\nb\n\nc", id="block: block in an inline element"),
    pytest.param("<blockquote><p>q1</p><p>q2<br>q3</p></blockquote>", "> q1\n>\n> q2  \n> q3", id="block: quote"),
    pytest.param("<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n>\n> > b", id="block: quote in a quote"),
    pytest.param("<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n> b", id="block: two quotes"),
    pytest.param("<blockquote><ul><li>a</li></ul><pre>x\n\ny</pre></blockquote>", "> - a\n>\n> ```\n> x\n>\n> y\n> ```", id="block: blocks in a quote"),
    pytest.param("<details><summary>S <b>t</b></summary><p>B</p></details>", "**S t**\n\nB", id="block: details"),
    pytest.param("<figure><img src=/i.png alt=Bees><figcaption>The <b>cap</b></figcaption></figure>", "[image: Bees]\n\n[caption: The **cap**]", id="block: figure"),
    pytest.param("<figure><img src=/i.png alt=Cap><figcaption>Cap</figcaption></figure>", "[caption: Cap]", id="block: caption that is the image's words"),
    pytest.param("<dl><dt>T</dt><dd>D</dd><dt>U</dt><dd>E</dd></dl>", "**T**: D\n\n**U**: E", id="block: terms"),
    pytest.param("<dl><dt>T</dt><dt>U</dt><dd>D</dd></dl>", "**T**, **U**: D", id="block: several terms"),
    pytest.param("<dl><dt>T:</dt><dd>D</dd><dd>E</dd></dl>", "**T:**\n\n- D\n- E", id="block: several definitions"),
    pytest.param("<dl><dt>T</dt><dd><p>D</p><p>E</p></dd></dl>", "**T**: D\n\nE", id="block: paragraphs of a definition"),
    pytest.param("<dl><dt>T</dt><dd>D<dl><dt>U</dt><dd>E</dd><dt>V</dt><dd>F</dd></dl></dd><dt>W</dt></dl>", "**T**: D\n\n- **U**: E\n- **V**: F\n\n**W**", id="block: terms in a definition"),
    pytest.param("<dl><dt>T</dt><dd><div><dl><dt>U</dt><dd>E<p>F</p></dd></dl></div></dd></dl>", "**T**:\n\n- **U**: E\n\n  F", id="block: paragraphs of terms in a definition"),
    pytest.param("<dl><dt>T</dt><dd><pre>x</pre></dd></dl>", "**T**:\n\n```\nx\n```", id="block: code of a definition"),
    pytest.param("<dl><div><dt>T</dt><dd>D</dd></div><div><dt>U</dt><dd>E</dd></div></dl>", "**T**: D\n\n**U**: E", id="block: terms in groups"),
    pytest.param("<dl><dt><code>f</code></dt><dd></dd></dl><dd>x</dd><dt>y</dt>", "**`f`**\n\nx\n\n**y**", id="block: terms and definitions alone"),
    pytest.param("<x-callout kind=warning><p>This is deprecated.</p></x-callout>", "⚠️ WARNING: This is deprecated.", id="block: callout"),
    pytest.param("<x-callout kind=note><p>a</p><p>b</p></x-callout><p>c</p>", "> ℹ️ NOTE: a\n>\n> b\n\nc", id="block: long callout"),  # noqa: RUF001 - the sign
    pytest.param("<x-callout kind=tip title='Do *it*'>a</x-callout>", "> 💡 TIP: Do \\*it\\*\n>\n> a", id="block: callout with a title"),
    pytest.param("<x-callout kind=danger><ul><li>a</li></ul></x-callout>", "> ⛔ DANGER:\n>\n> - a", id="block: callout without a paragraph"),
    pytest.param("<x-callout kind=tip></x-callout>a", "a", id="block: empty callout"),
    *(
        pytest.param(f"<x-callout kind={kind}>a</x-callout>", f"{sign} {kind.upper()}: a", id=f"block: {kind}")
        for sign, kinds in {
            "⚠️": "warning deprecated attention", "\u2139\ufe0f": "note info", "💡": "tip hint", "❗": "important",
            "⛔": "caution danger error", "✅": "success", "❓": "question", "📝": "example", "🐞": "bug",
        }.items()
        for kind in kinds.split()
    ),
    pytest.param("<pre><code class=language-Rust>fn f() {\n\n    x\n}\n</code></pre>", "```rust\nfn f() {\n\n    x\n}\n```", id="block: code"),
    pytest.param("<pre>\n\n  a\n b\n\n</pre>", "```\n  a\n b\n```", id="block: lines around code"),
    pytest.param("<pre>a ``` b</pre>", "````\na ``` b\n````", id="block: backticks in code"),
    pytest.param("<pre> \n</pre><p>x</p>", "x", id="block: no code"),
    pytest.param("<xmp><b>a</b></xmp><listing>b</listing>", "```\n<b>a</b>\n```\n\n```\nb\n```", id="block: other code"),
    pytest.param("<b>a <pre>![c](u)</pre></b>", "**a**\n\n```\n![c](u)\n```", id="block: code in a format"),
]  # fmt: skip

TABLES = [
    pytest.param("<table><thead><tr><th>A<th>B</thead><tbody><tr><td>1<td>2</table>", "| A | B |\n| --- | --- |\n| 1 | 2 |", id="table: table"),
    pytest.param("<table><tr><td>1<td>2<tr><td>3<td>4</table>", "| 1 | 2 |\n| --- | --- |\n| 3 | 4 |", id="table: no head"),
    pytest.param("<table><caption>C <b>d</b></caption><tr><th>A<tr><td>1</table>", "**C d**\n\n| A |\n| --- |\n| 1 |", id="table: caption"),
    pytest.param("<table><tr><th colspan=2>A<th>C<tr><td>1<td>2<td>3</table>", "| A | | C |\n| --- | --- | --- |\n| 1 | 2 | 3 |", id="table: column span"),
    pytest.param("<table><tr><th>A<th>B<tr><td rowspan=2>x<td>1<tr><td>2</table>", "| A | B |\n| --- | --- |\n| x | 1 |\n| x | 2 |", id="table: row span"),
    pytest.param("<table><tr><th>A<tr><td>1<td>2<tr></table>", "| A | |\n| --- | --- |\n| 1 | 2 |", id="table: ragged"),
    pytest.param("<table><tr><th align=right>A<th style='text-align: center'>B<th align=x>C<tr><td>1<td>2<td>3</table>", "| A | B | C |\n| ---: | :---: | --- |\n| 1 | 2 | 3 |", id="table: alignment"),
    pytest.param("<table><tr><th>a|b<th><code>c|d</code><tr><td>1<td>\\</table>", "| a\\|b | `c\\|d` |\n| --- | --- |\n| 1 | \\\\ |", id="table: bars"),
    pytest.param("<table><tr><th>A<th>B<tr><td><p>p</p><p>q</p><td><ul><li>i</li><li>j</li></ul></table>", "| A | B |\n| --- | --- |\n| p / q | i; j |", id="table: blocks in cells"),
    pytest.param("<table><tr><th>A<th>B<tr><td>a<br>b<td><pre>x  y</pre></table>", "| A | B |\n| --- | --- |\n| a / b | `x y` |", id="table: breaks and code in cells"),
    pytest.param("<table><tr><th><h4>A</h4><th>B<tr><td><a href=/x>1</a><td><b>2</b></table>", "| A | B |\n| --- | --- |\n| [1](https://ex.org/x) | **2** |", id="table: heading in a head"),
    pytest.param("<table><tr><td>a</table>", "a", id="table: one cell"),
    pytest.param("<table><tr><td>a<tr><td>b</table>", "a\n\nb", id="table: one column"),
    pytest.param("<table><tr><td colspan=3>a<tr><td>&nbsp;<td><td>b</table>", "a\n\nb", id="table: one filled cell in each row"),
    pytest.param(
        "<table><tr><td colspan=2><h2>H</h2><tr><td>1<td>2<tr><td>3<td>4<tr><td colspan=2><h2>I</h2><tr><td>5<td>6</table>",
        "## H\n\n| 1 | 2 |\n| --- | --- |\n| 3 | 4 |\n\n## I\n\n| 5 | 6 |\n| --- | --- |", id="table: headings over its rows"),
    pytest.param("<table><tr><td><h2>H</h2><p>x</p><td>y</table>", "## H\n\nx\n\ny", id="table: layout"),
    pytest.param("<table role=presentation><tr><td>a<td>b</table>", "a / b", id="table: layout by role"),
    pytest.param("<table><tr><td>o<table><tr><th>i<th>j<tr><td>1<td>2</table><td>z</table>", "o\n\n| i | j |\n| --- | --- |\n| 1 | 2 |\n\nz", id="table: table in a table"),
    pytest.param("<table><tr><th>A<th>B<tr><td>1<td><table><tr><td>x</table></table>", "| A | B |\n| --- | --- |\n| 1 | x |", id="table: one cell in a cell"),
    pytest.param("<table><tr><td>l<td><pre>a\nb</pre></table>", "l\n\n```\na\nb\n```", id="table: code in a cell"),
    pytest.param("<table></table><table><tr><td></table>x", "x", id="table: empty"),
    pytest.param("<table><tr><th>A<th>B<tr><td><td>1<tr><td> <td></table>", "| A | B |\n| --- | --- |\n| | 1 |", id="table: empty cells and rows"),
]  # fmt: skip


@pytest.mark.parametrize(("html", "expected"), HEADINGS + LISTS + BLOCKS + TABLES)
def test_blocks_are_markdown_that_is_read_back(written, reread, html, expected):
    assert written(html).markdown == expected
    assert reread(expected) == expected
