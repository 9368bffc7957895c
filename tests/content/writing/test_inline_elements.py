"""Elements within paragraphs, and text that looks like markup."""

import pytest

from searx_mcp.models.style import Images

FORMATS = [
    pytest.param("<p>A <b>b</b> <i>i</i> <del>d</del></p>", "A **b** *i* ~~d~~", id="format: formats"),
    pytest.param("<p>a<b> b </b>c</p>", "a **b** c", id="format: spaces go outside"),
    pytest.param("<p>a <b> </b> b<i></i></p>", "a b", id="format: empty formats"),
    pytest.param("<p>un<b>believ</b>able</p>", "un**believ**able", id="format: inside a word"),
    pytest.param("<p><b>a</b><b>b</b></p>", "**ab**", id="format: neighbours are one"),
    pytest.param("<p><b><strong>a</strong></b></p>", "**a**", id="format: doubled"),
    pytest.param("<p><b>a <i>b</i></b></p>", "**a *b***", id="format: nested at the end"),
    pytest.param("<p><b><i>a</i> b</b></p>", "***a* b**", id="format: nested at the start"),
    pytest.param("<p><i><b>a</b> b</i></p>", "***a** b*", id="format: nested the other way"),
    pytest.param("<p><b><i>a</i></b></p>", "***a***", id="format: both"),
    pytest.param("<p><b>a <i>b</b> c</i></p>", "**a *b*** *c*", id="format: crossed"),
    pytest.param("<p><b>a</b><i>b</i></p>", "**a**b", id="format: touching marks would not work"),
    pytest.param("<p>a<b>(b)</b>c</p>", "a(**b**)c", id="format: punctuation inside a word"),
    pytest.param("<p>他说<b>“好”</b>了</p>", "他说“**好**”了", id="format: punctuation between letters without spaces"),
    pytest.param("<p>a<b>!</b>b</p>", "a!b", id="format: nothing but punctuation inside a word"),
    pytest.param("<p>(<b>a</b>)<b>!</b></p>", "(**a**)**!**", id="format: punctuation around"),
    pytest.param("<p>a~~<b>b</b></p>", "a\\~\\~**b**", id="format: text that is a mark"),
    pytest.param("<p><b><p>x</p><p>y</p></b></p>", "**x**\n\n**y**", id="format: around paragraphs"),
    pytest.param("<p><b>a<br>b</b></p>", "**a**  \n**b**", id="format: around a break"),
    pytest.param("<p><var>x</var> <dfn>y</dfn> <cite>z</cite></p>", "*x* *y* z", id="format: var, dfn, cite"),
    pytest.param("<p><mark>a</mark> <ins>b</ins> <u>c</u> <abbr title=x>d</abbr> <time>e</time></p>", "a b c d e", id="format: text only"),
    pytest.param("<p>He said <q>no</q>.</p>", 'He said "no".', id="format: q"),
    pytest.param("<p><s>a</s> <strike>b</strike></p>", "~~a~~ ~~b~~", id="format: struck"),
    pytest.param("<p><b>x <i>y!</i>z</b></p>", "**x *y*!z**", id="format: punctuation where one of two formats ends"),
    pytest.param("<p>10<sub>2</sub> 5<sub>a</sub> H<sub>2</sub></p>", "10_2 5a H2", id="format: lowered"),
    pytest.param("<p>a\u3164b</p>", "ab", id="format: what nobody sees"),
]  # fmt: skip

SEAMS = [
    pytest.param("<p><i>alice</i><time>3 days ago</time><i>12</i></p>", "*alice* 3 days ago *12*", id="seam: a date"),
    pytest.param("<p>by al,<time>May</time>, (<time>3 May</time>)</p>", "by al,May, (3 May)", id="seam: a date behind signs"),
    pytest.param("<p>alice <time>3 May</time> .</p>", "alice 3 May .", id="seam: a date between spaces"),
    pytest.param("<p>2024年<time>3月</time>4日</p>", "2024年3月4日", id="seam: writing without spaces"),
    pytest.param("<p><span class=author>bob</span><span>2 days ago</span></p>", "bob 2 days ago", id="seam: behind a name"),
    pytest.param("<p><b>OP</b><span class=user-badge>mod</span></p>", "**OP** mod", id="seam: a badge"),
    pytest.param("<p><span class=author>bob</span><span>'s</span></p>", "bob's", id="seam: a name with an ending"),
    pytest.param("<p><span class=a>O</span><span class=b>nce</span></p>", "Once", id="seam: a word in two"),
    pytest.param("<p><a href=/x>Jump</a><a href=/y>Skip</a></p>", "[Jump](https://ex.org/x) [Skip](https://ex.org/y)", id="seam: two links"),
    pytest.param("<p><a href=/x>wa</a><a href=/x>ter</a></p>", "[wa](https://ex.org/x)[ter](https://ex.org/x)", id="seam: one link in two"),
    pytest.param("<p><label>pip</label><label>conda</label></p>", "pip conda", id="seam: labels"),
    pytest.param("<p><code><span class=name>a</span><span class=tag>b</span></code></p>", "`ab`", id="seam: none in code"),
]  # fmt: skip

CODE = [
    pytest.param("<p><code>x_y</code> <kbd>Ctrl</kbd> <samp>o</samp></p>", "`x_y` `Ctrl` `o`", id="code: code"),
    pytest.param("<p><code>a`b</code> <code>`</code></p>", "``a`b`` `` ` ``", id="code: backticks in code"),
    pytest.param("<p><code>*a* &lt;b&gt; [c](d)</code></p>", "`*a* <b> [c](d)`", id="code: markup in code"),
    pytest.param("<p><code><b>a</b> <i>b</i></code></p>", "`a b`", id="code: formats in code"),
    pytest.param("<p><b><code>a</code></b></p>", "**`a`**", id="code: code in a format"),
    pytest.param("<p><code>a</code><code>b</code></p>", "`ab`", id="code: code behind code"),
    pytest.param("<p><code>a</code> <code>b</code></p>", "`a` `b`", id="code: code beside code"),
    pytest.param("<p><code>a<br>b</code></p>", "`a b`", id="code: lines in code"),
    pytest.param("<p><code>Vec&lt;<a href=/t>T</a>&gt;</code></p>", "`Vec<`[`T`](https://ex.org/t)`>`", id="code: link in code"),
    pytest.param("<p>a\\<code>b</code></p>", "a\\\\`b`", id="code: backslash before code"),
]  # fmt: skip

LINKS = [
    pytest.param('<p><a href="../c?q=1#z">t</a></p>', "[t](https://ex.org/c?q=1#z)", id="link: absolute"),
    pytest.param("<p><a href=#>Reply</a> <a href=#!>Share</a> <a href=''>Save</a> <a href=#a>Part</a></p>", "Reply Share Save [Part](https://ex.org/a/b.html#a)", id="link: buttons"),
    pytest.param("<p>See <a href=https://ex.org/c_d>https://ex.org/c_d</a>.</p>", "See https://ex.org/c_d.", id="link: its own address"),
    pytest.param("<p>(<a href=https://ex.org/c>https://ex.org/c</a>); <a href=https://ex.org/c>https://ex.org/c</a></p>", "(https://ex.org/c); https://ex.org/c", id="link: its own address twice"),
    pytest.param("<p><a href=https://ex.org/d>https://ex.org/c</a></p>", "[https://ex.org/c](https://ex.org/d)", id="link: another address"),
    pytest.param("<p><a href=https://ex.org/c>https://ex.org/c</a>d</p>", "[https://ex.org/c](https://ex.org/c)d", id="link: its own address before a letter"),
    pytest.param("<p>x<a href=https://ex.org/c>https://ex.org/c</a></p>", "x[https://ex.org/c](https://ex.org/c)", id="link: its own address behind a letter"),
    pytest.param("<p><b><a href=https://ex.org/c>https://ex.org/c</a></b></p>", "[**https://ex.org/c**](https://ex.org/c)", id="link: its own address in a format"),
    pytest.param("<p><a href=https://ex.org/_c_>https://ex.org/_c_</a></p>", "[https://ex.org/\\_c\\_](https://ex.org/_c_)", id="link: its own address with marks"),
    pytest.param("<p>a<a href=/c> t </a>b</p>", "a [t](https://ex.org/c) b", id="link: spaces"),
    pytest.param('<p><a href="/a_(b) c|d">t</a></p>', "[t](https://ex.org/a_%28b%29%20c%7Cd)", id="link: signs in the address"),
    pytest.param("<p><a href='javascript:alert(1)'>t</a> <a>u</a></p>", "t u", id="link: no address"),
    pytest.param("<p>x<a href=/c> </a><a href=/d></a></p>", "x", id="link: empty"),
    pytest.param("<p><a href=/c><b>a</b> b</a></p>", "[**a** b](https://ex.org/c)", id="link: format in a link"),
    pytest.param("<p><b>a <a href=/c>b</a> c</b></p>", "**a [b](https://ex.org/c) c**", id="link: link in a format"),
    pytest.param("<p>a<b><a href=/c>b</a></b>c</p>", "a[**b**](https://ex.org/c)c", id="link: format around a link in a word"),
    pytest.param("<p>Look!<a href=/c>b</a></p>", "Look\\![b](https://ex.org/c)", id="link: exclamation mark before a link"),
    pytest.param("<p><b>Look!<a href=/c>b</a></b></p>", "**Look\\![b](https://ex.org/c)**", id="link: exclamation mark in a format"),
    pytest.param("<p><a href=/c>[1] a]</a></p>", "[\\[1\\] a\\]](https://ex.org/c)", id="link: brackets in the words"),
    pytest.param("<p><a href=/c>a<br>b</a></p>", "[a b](https://ex.org/c)", id="link: break in a link"),
    pytest.param("<a href=/c><h3>T</h3><p>d</p></a>", "### [T](https://ex.org/c)\n\nd", id="link: around blocks"),
    pytest.param("<a href=/c><div><p></p></div><p>d</p><p>e</p></a>", "[d](https://ex.org/c)\n\ne", id="link: around paragraphs"),
    pytest.param("<h2>f() <a href=/_modules/f.html>[source]</a></h2>", "## f()", id="link: source of a declaration"),
    pytest.param("<p class=src>f :: a <a href=/f.html class=link>Source</a></p>", "f :: a", id="link: source on a line of source"),
    pytest.param("<p>Read its <a href=/f>source</a>.</p>", "Read its [source](https://ex.org/f).", id="link: source in a sentence"),
    pytest.param("<p>Words. <a href=/f>[src]</a></p>", "Words. [\\[src\\]](https://ex.org/f)", id="link: source of a quotation"),
    pytest.param("<h2><a href=/f><i>[source]</i></a> <a href=/g>[src] of it</a></h2>", "## [\\[src\\] of it](https://ex.org/g)", id="link: more than source"),
    pytest.param("<h2>Methods <a href='#'>collapse</a></h2>", "## Methods", id="link: for a script"),
    pytest.param("<p><a href=/c>a</a><a href=/d>b</a></p>", "[a](https://ex.org/c) [b](https://ex.org/d)", id="link: neighbours"),
    pytest.param("<p><a href='mailto:a@b.c'>m</a></p>", "[m](mailto:a@b.c)", id="link: mail"),
    pytest.param("<p><a href='https://ex.org/?a=1&amp;lt;b'>t</a></p>", "[t](https://ex.org/?a=1\\&lt;b)", id="link: reference in the address"),
]  # fmt: skip

TEXT = [
    pytest.param("<p>one\n  two&nbsp; three</p>", "one two three", id="text: spaces"),
    pytest.param("<p>a&nbsp;<b>b&nbsp;</b>c</p>", "a **b** c", id="text: spaces that do not break"),
    pytest.param("<p>中文\n 文字\nabc\n漢</p>", "中文文字 abc 漢", id="text: line ends without spaces"),
    pytest.param("<p>中文\n<b>文字</b></p>", "中文**文字**", id="text: line end before an element"),
    pytest.param("<p>한국\n어</p>", "한국 어", id="text: line ends with spaces"),
    pytest.param("<p>a<br>b<br>c</p>", "a  \nb  \nc", id="text: breaks"),
    pytest.param("<p><br>a<br><br> b<br></p>", "a\n\nb", id="text: two breaks are a paragraph"),
    pytest.param("<p>snake_case __init__ _x_</p>", "snake_case \\_\\_init\\_\\_ \\_x\\_", id="text: underscores"),
    pytest.param("<p>2*3 2 * 3 **b**</p>", "2\\*3 2 * 3 \\*\\*b\\*\\*", id="text: stars"),
    pytest.param("<p>a &lt; b &lt;c &lt;/d &amp;amp; AT&amp;T</p>", "a < b \\<c \\</d \\&amp; AT&T", id="text: less than, ampersand"),
    pytest.param("<p>C# C:\\dir \\* `x`</p>", "C# C:\\dir \\\\\\* \\`x\\`", id="text: backslashes, backticks"),
    pytest.param("<p>[a](b) ![c](d) [e]</p>", "[a]\\(b) !\\[c]\\(d) [e]", id="text: brackets"),
    pytest.param("<p>[a]: https://x</p>", "[a]\\: https://x", id="text: definition"),
    pytest.param("<p>[^1] a</p>", "\\[^1] a", id="text: footnote"),
    pytest.param("<p># a</p><p>#b</p><p>###</p>", "\\# a\n\n#b\n\n\\###", id="text: headings"),
    pytest.param("<p>- a</p><p>-a</p><p>+ b</p><p>* c</p><p>-</p>", "\\- a\n\n-a\n\n\\+ b\n\n\\* c\n\n\\-", id="text: items"),
    pytest.param("<p>1. a</p><p>1.5 b</p><p>2) c</p><p>3.</p>", "1\\. a\n\n1.5 b\n\n2\\) c\n\n3\\.", id="text: numbers"),
    pytest.param("<p>> a</p><p>a > b</p>", "\\> a\n\na > b", id="text: quotes"),
    pytest.param("<p>---</p><p>a<br>===</p><p>b<br>--</p>", "\\---\n\na  \n\\===\n\nb  \n\\--", id="text: rules and underlines"),
    pytest.param("<p>a | b<br>--- | ---<br>c</p>", "a | b  \n\\--- | ---  \nc", id="text: table"),
    pytest.param("<p>~~a~~ ~b</p><p>~~~</p>", "\\~\\~a\\~\\~ ~b\n\n\\~\\~\\~", id="text: tildes"),
    pytest.param("<p>a\u200bb\u00adc \u202ed</p>", "abc d", id="text: characters that nobody sees"),
    pytest.param("<p>H<sub>2</sub>O, x<sup>2</sup>, 10<sup>n+1</sup>, 1<sup>st</sup>, a<sub>i</sub>, 10<sub>2</sub></p>", "H2O, x^2, 10^(n+1), 1st, ai, 10_2", id="text: sub and sup"),
    pytest.param("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby> <ruby>a<rt></rt></ruby></p>", "漢(kan)字(ji) a", id="text: ruby"),
    pytest.param("<my-tag>a</my-tag><h99>b</h99><script>c</script><!-- d --><template>e</template>", "ab", id="text: unknown and unseen"),
]  # fmt: skip


@pytest.mark.parametrize(("html", "expected"), FORMATS + SEAMS + CODE + LINKS + TEXT)
def test_elements_in_a_paragraph_are_markdown_that_is_read_back(written, reread, html, expected):
    assert written(html).markdown == expected
    assert reread(expected) == expected


MATH = [
    pytest.param("<p>$5 and $10, $a_1*b_2$ and \\(x_i\\) ($x$)</p>", "$5 and $10, $a_1*b_2$ and \\(x_i\\) ($x$)", id="TeX in the text, and prices"),
    pytest.param("<p>E <x-math>E=mc^{2}</x-math>.</p>", "E $E=mc^{2}$.", id="in a sentence"),
    pytest.param("<p>a<x-math display=block>\\frac{a}{b}</x-math>b</p>", "a\n\n$$\n\\frac{a}{b}\n$$\n\nb", id="by itself"),
    pytest.param("<p><x-math>a\n  b</x-math></p>", "$a b$", id="lines in a sentence"),
    pytest.param("<x-math display=block>a\n\n\n= b\n- c \\\\\nd</x-math>", "$$\na = b - c \\\\\nd\n$$", id="lines that would be blocks"),
    pytest.param("<p><x-math>a $ b \\$ c</x-math></p>", "$a \\$ b \\$ c$", id="dollars"),
    pytest.param("<p><x-math>a]( ![ &lt;b `</x-math></p>", "$a] ( ! [ < b \\lq $", id="markup"),
    pytest.param("<p><x-math> </x-math>a<x-math>b\\</x-math></p>", "a$b\\ $", id="empty, and a backslash at the end"),
    pytest.param("<h2>On <x-math display=block>x</x-math></h2>", "## On $x$", id="in a heading"),
    pytest.param("<x-math display=block>a % why\n b</x-math>", "$$\na\nb\n$$", id="comments"),
]  # fmt: skip


@pytest.mark.parametrize(("html", "expected"), MATH)
def test_formulas_stand_between_dollar_signs_that_they_cannot_leave(written, html, expected):
    assert written(html).markdown == expected


IMAGE = '<p>!<img src="/i.png" alt="A [pic]"> x</p>'
IMAGES = [
    pytest.param(IMAGE, Images.ALT, "! [image: A (pic)] x", id="words"),
    pytest.param(IMAGE, Images.LINKS, "\\![image: A (pic)](https://ex.org/i.png) x", id="link"),
    pytest.param(IMAGE, Images.INLINE, "!![A (pic)](https://ex.org/i.png) x", id="image"),
    pytest.param("<p>a <img src=/i.png></p>", Images.ALT, "a", id="no words"),
    pytest.param("<p>a <img src=/i.png></p>", Images.LINKS, "a [image](https://ex.org/i.png)", id="link without words"),
    pytest.param("<p>a <img src=/i.png></p>", Images.INLINE, "a ![](https://ex.org/i.png)", id="image without words"),
    pytest.param("<p><a href=/c><img src=/i.png alt=Bees></a></p>", Images.ALT, "[image: Bees](https://ex.org/c)", id="alone in a link"),
    pytest.param("<p><a href=/c><img src=/i.png alt=Bees></a></p>", Images.LINKS, "[image: Bees](https://ex.org/c)", id="link in a link"),
    pytest.param("<p><a href=/c><img src=/i.png alt=Logo></a></p>", Images.INLINE, "[![Logo](https://ex.org/i.png)](https://ex.org/c)", id="image in a link"),
    pytest.param("<p>a <a href=/c><img src=/i alt='The words'>The words</a></p>", Images.ALT, "a [The words](https://ex.org/c)", id="words that the link repeats"),
    pytest.param("<a href=/c><img src=/i alt='The words'></a> <a href=/c>The…</a>", Images.ALT, "[The…](https://ex.org/c)", id="words that the next link repeats"),
    pytest.param("<a href=/c><img src=/i alt='Words'></a> <a href=/d>Words</a>", Images.ALT, "[Words](https://ex.org/d)", id="words of another link"),
    pytest.param("<p>One hive. <img src=/i alt='one  Hive'></p>", Images.ALT, "One hive.", id="words that the page says"),
    pytest.param("<p>a <img src=/i alt='Image of'><img src=/j alt=IMG_0042.JPG><img src=/k alt='bee-2.png'></p>", Images.ALT, "a", id="words that say nothing"),
    pytest.param("<p>a <img src=/i alt='Ann B' width=64 height=64></p>", Images.ALT, "a", id="portrait"),
    pytest.param("<p>a <img src=/i alt='🐝' width=16> b</p>", Images.ALT, "a 🐝 b", id="emoji"),
    pytest.param("<img src=data:image/gif;base64,R0 data-src=/real.jpg alt=L>", Images.INLINE, "![L](https://ex.org/real.jpg)", id="lazy"),
    pytest.param('<picture><source srcset="/l.webp 2x"><img srcset="/s.jpg 1x, /l.jpg 2x" alt=S></picture>', Images.INLINE, "![S](https://ex.org/l.jpg)", id="sets"),
    pytest.param("<p>a<img src=/p.gif width=1 height=1 alt=x></p>", Images.INLINE, "a", id="counts visitors"),
    pytest.param("<p>a<img src=/p.gif width=1 height=1 alt='🐝'></p>", Images.ALT, "a", id="counts visitors beside a sign"),
    pytest.param("<p>a<img src=javascript:x alt=x></p>", Images.INLINE, "a [image: x]", id="no address"),
    pytest.param("<p><code>a<img src=/i alt=b></code></p>", Images.INLINE, "`a image: b`", id="in code"),
]  # fmt: skip


@pytest.mark.parametrize(("html", "images", "expected"), IMAGES)
def test_images_are_words_or_links_or_themselves(written, html, images, expected):
    assert written(html, images=images).markdown == expected
