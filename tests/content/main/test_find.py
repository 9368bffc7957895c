"""The main content of whole pages: its roots, what is removed from them, what always stays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.main.find import find_main
from searx_mcp.content.main.kinds import Hints
from searx_mcp.content.tree import Removals

SENTENCE = (
    "The river runs past the old mill, and in spring it floods the lower meadows for a week. "
)
PARAGRAPH = f"<p>{SENTENCE * 3}</p>"
ARTICLE = f"<h1>The river</h1>{PARAGRAPH * 4}"
BLOG = "https://ex.org/blog/the-river-and-its-meadows"


GOES = {
    "nav": "<nav><a href=/>JUNK</a></nav>",
    "footer": "<footer><a href=/>JUNK</a></footer>",
    "header of the site": "<header><a href=/>JUNK</a></header>",
    "aside": "<aside><p>JUNK</p></aside>",
    "role": "<div role=navigation>JUNK</div>",
    "pair of words": "<div class='site-header'>JUNK</div>",
    "camel case": "<div class='mainNavigation'>JUNK</div>",
    "related": "<div class='post__related-articles'>JUNK</div>",
    "German": "<div class='seitenleiste'>JUNK</div>",
    "byline": "<p class=byline>JUNK</p>",
    "consent": f"<div class=onetrust-consent-sdk><p>JUNK We ask for your consent to our cookies. {SENTENCE * 9}</p></div>",
    "form": "<form><label>JUNK</label></form>",
    "jump link": "<a class=mw-jump-link href=#nav>JUNK to navigation</a>",
    "header of a manual": "<div class=navheader><table><tr><th>JUNK 11. Rivers<tr><td><a accesskey=p href=/1>Prev</a>"
    "<td><a accesskey=u href=/2>Up</a><td><a accesskey=n href=/3>Next</a></table><hr></div>",
    "what a link says to those who only hear it": f"<p>{SENTENCE}<a href=/1>Read more<span class=screen-reader-text> JUNK</span></a></p>",
    "button in a heading": f"<h2>The lower meadows of the river<span class=mw-editsection>[JUNK]</span></h2>{PARAGRAPH}",
    "list of links below a label": "<p>Read also:</p><ul><li><a href=/1>JUNK</a><li><a href=/2>two</a><li><a href=/3>three</a></ul>",
    "list of linked headings below the text": "<div><h3><a href=/1>JUNK one</a></h3><h3><a href=/2>two</a></h3><a href=/3>three</a></div>",
    "list of links": "<ul><li><a href=/1>JUNK one</a><li><a href=/2>two</a><li><a href=/3>three</a></ul>",
}


@pytest.mark.parametrize("junk", GOES.values(), ids=GOES)
def test_what_is_not_of_an_article_is_taken_out(find, junk: str):
    page = find(f"<article>{ARTICLE}{PARAGRAPH}{junk}</article>", url=BLOG, types="BlogPosting")
    assert "JUNK" not in page.text
    assert page.text.count("The river runs") >= 15


STAYS = {
    "state": f"<div class=has-sidebar>KEPT {PARAGRAPH}</div>",
    "pair with no sign": f"<div class='social-proof'>KEPT {PARAGRAPH}</div>",
    "header of the article": f"<header><p>KEPT {SENTENCE}</p></header>",
    "code": "<pre><code>KEPT()</code></pre>",
    "code named as chrome": "<pre class='toolbar'><code>KEPT()</code></pre>",
    "mathematics": "<x-math display=block>KEPT</x-math>",
    "callout": "<x-callout kind=note class=promo><p><a href=/>KEPT</a></p></x-callout>",
    "linked list with code": "<ul><li><a href=/1>a</a> <code>KEPT</code><li><a href=/2>b</a><li><a href=/3>c</a></ul>",
    "task": "<ul><li><x-task done></x-task>KEPT</ul>",
    "list": "<ul><li>KEPT by all who live at the river<li>and by the miller</ul>",
    "table": "<table><tr><th>KEPT<td><a href=/>1</a></table>",
    "quote": "<blockquote><p>KEPT</p><footer>KEPT by whom</footer></blockquote>",
    "links in a sentence": "<p>For more details, see the <a href=/1>guide to rivers</a>, the <a href=/2>manual of"
    " mills</a>, and the <a href=/3>KEPT examples of dams</a>.</p>",
    "links in a short sentence": "<p>See <a href=/1>the guide to rivers</a>, <a href=/2>the manual of mills</a> and"
    " <a href=/3>KEPT examples of dams</a>.</p>",
    "name in a sentence": f"<p>{SENTENCE}<span class=author>KEPT Smith</span> {SENTENCE}</p>",
    "time in a sentence": f"<p>{SENTENCE}<i><time class=timestamp>KEPT</time></i> {SENTENCE}</p>",
    "heading": f"<h2 class=anchorWithStickyNavbar_x>KEPT</h2>{PARAGRAPH}",
    "address of a heading": f"<h2 id=tools>KEPT</h2>{PARAGRAPH}",
    "address of a section": f"<section id=tools>\n<span id=old></span><h2>Tools</h2><p>KEPT {SENTENCE}</section>",
    "address in a heading": "<h2><span class=headline id=Tools>KEPT</span><span class=mw-editsection>[edit]</span></h2>"
    f"{PARAGRAPH}",
    "address of a block": f"<div id=sidebar_left><p>KEPT {SENTENCE}</div>",
    "table as DocBook wraps it": "<div class=table><p class=title><b>Table 9.1. Rivers</b></p><div class=table-contents>"
    "<table summary=Rivers><thead><tr><th>River<th>Mills<tbody><tr><td>KEPT<td>2</table></div></div><br class=table-break>",
    "what an interface takes": "<div class=member-signature><span class=return>KEPT</span> flood(int days)</div>",
    "most of a heading": f"<h2><b class=tools>KEPT</b> 1</h2>{PARAGRAPH}",
    "linked header with a heading": f"<header><h2><a href=/1>KEPT</a></h2></header>{PARAGRAPH}",
    "linked headings in the text": "<ul><li><h3><a href=/1>KEPT long mill</a></h3><li><h3><a href=/2>KEPT short mill</a></h3></ul>",
    "links that a paragraph announces": "<p>Of the mills of the river you can read in:</p>\n<!-- mills --><ul><li><a href=/1>KEPT</a>"
    "<li><a href=/2>two</a><li><a href=/3>three</a></ul>",
}


@pytest.mark.parametrize("kept", STAYS.values(), ids=STAYS)
def test_what_is_of_an_article_stays(find, kept: str):
    page = find(f"<article>{ARTICLE}{kept}{PARAGRAPH}</article>", url=BLOG, types="BlogPosting")
    assert page.text.count("KEPT") == kept.count("KEPT")


_NAMED = st.sampled_from(
    [
        "<a href=/{n}>{word} {n}</a>",
        "<a href=/{n} class='share related'>{word} of the lower meadows</a>",
        "<span class=author>{word}</span>",
        "<time class='timestamp updated'>{word}</time>",
        "<em id=nav>{word}</em>",
        "<code class=tools>{word}</code>",
        "<sup class=comment><a href=#{n}>{word}</a></sup>",
        "<b><a role=navigation href=/{n}>{word}</a></b>",
        "{word}",
    ]
)


@settings(deadline=None)
@given(
    parts=st.lists(
        st.tuples(_NAMED, st.text("abcdefghij", min_size=3, max_size=12)), min_size=1, max_size=12
    ),
    types=st.sampled_from(["BlogPosting", "Product", "WebPage", "DiscussionForumPosting"]),
)
def test_no_rule_takes_a_part_out_of_a_sentence(parts: list[tuple[str, str]], types: str):
    prose = ", ".join(form.format(n=n, word=word) for n, (form, word) in enumerate(parts))
    paragraph = f"<p>In spring, when it floods the lower meadows, {prose}, and so on.</p>"
    tree = LexborHTMLParser(f"<body><article>{ARTICLE}{paragraph}{PARAGRAPH}</article>")
    expected = " ".join(LexborHTMLParser(paragraph).text().split())
    main = find_main(tree, Hints(BLOG, types=frozenset({types})), Removals())
    assert expected in " ".join(" ".join(root.text() for root in main.roots).split())


def test_the_contents_of_a_documentation_go_and_its_index_stays(find):
    contents = "<ul><li><a href=#f>Floods</a><li><a href=#s>Sources</a></ul>"
    index = "<ul><li><a href=a>ford()</a><li><a href=b>mill()</a><li><a href=c>weir()</a></ul>"
    page = f"<h1>Rivers</h1>{PARAGRAPH}{contents}<h2>Floods</h2>{PARAGRAPH}{index}<h2>Sources</h2>{PARAGRAPH}"
    found = find(f"<main>{page}</main>", url="https://docs.ex.org/rivers").text
    assert found.count("Floods") == found.count("Sources") == 1
    assert "weir()" in found


@pytest.mark.parametrize(
    "identifier",
    [
        "Tools",
        "Lazy-loading",
        "Comments",
        "Sharing-Defaults",
        "is-recommended",
        "cookies",
        "sidebar",
        "Footer",
    ],
)
@pytest.mark.parametrize("url", [BLOG, "https://docs.ex.org/manual/rivers.html"])
def test_no_section_goes_because_of_its_id(find, identifier: str, url: str):
    section = (
        f"<div class=section id={identifier}><h3 class=section>1.17 The lower meadows</h3>"
        f"<p>KEPT {SENTENCE}</p><ul><li>KEPT hay<li>sheep</ul></div>"
    )
    page = find(f"<h1>The river</h1>{PARAGRAPH * 4}{section}{PARAGRAPH}", url=url)
    assert page.text.count("KEPT") == 2
    assert "1.17 The lower meadows" in page.text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("<body></body>", "", id="empty body"),
        pytest.param("<frameset><frame src=a></frameset>", "", id="frameset"),
        pytest.param("<!-- nothing -->", "", id="comment"),
        pytest.param("<nav><a href=/>Home</a></nav>", "Home", id="nothing but a menu"),
    ],
)
def test_pages_without_content_are_no_errors(html: str, text: str):
    tree = LexborHTMLParser(html)
    main = find_main(tree, Hints("https://ex.org/"), Removals())
    assert " ".join(root.text() for root in main.roots) == text


@pytest.mark.parametrize("url", ["", "no address", "https://[broken/x", "https://ex.org:x/ä?%"])
def test_any_address_will_do(find, url: str):
    assert "The river runs" in find(ARTICLE, url=url).text


DOCS = {"url": "https://docs.ex.org/rivers"}
THREAD = {"url": "https://ex.org/threads/17/"}
POSTS = {"url": BLOG, "types": "BlogPosting"}
TALK = {"types": "DiscussionForumPosting"}
BODY = f"<div class=entry-content>{PARAGRAPH * 4}</div>"
NOTE = (
    "<aside><x-notes><x-note name=1><p>The mill was built in 1702.</p></x-note></x-notes></aside>"
)
SECTION = f"<section><header><h2>KEPT</h2></header>{PARAGRAPH}</section>"
PANE = (
    "<div class=author-pane><div class=user-details><p>JUNK</p><h4>KEPT</h4></div><p>JUNK</p></div>"
)
ASKED = "<div id=question><p>How is it that the river does not flood the mill in spring, but the meadows?</p></div>"
REMARK = "<div><p>Ann, 5 March 2024</p><p>JUNK.</p></div>"


@pytest.mark.parametrize(
    ("html", "hints", "begins", "kept", "paragraphs"),
    [
        pytest.param(f"<header>JUNK</header><div>{SECTION * 3}</div>", {}, "KEPT", 3, 9, id="headers of sections"),
        pytest.param(
            "<ul><li><a href=/a>Springs</a><li><a href=/b>Mouths</a><li><a href=/c>Fords</a></ul><p>Handbook</p>"
            f"<div><h1>Rivers</h1></div>{BODY}",
            {**DOCS, "title": "Rivers - Handbook"}, "Rivers The river runs", 0, 12, id="a title before its text",
        ),
        pytest.param(
            f"<h1>Rivers</h1><ul>{'<li><a href=/a>JUNK</a>' * 7}</ul>{PARAGRAPH * 4}", DOCS, "Rivers The river runs", 0, 12,
            id="links between a title and its text",
        ),
        pytest.param(
            f"<h1>Site</h1><div class=entry-content><h1>Rivers</h1>{PARAGRAPH * 4}</div>",
            {**DOCS, "title": "Rivers - Site"}, "Rivers The river runs", 0, 12, id="a title in its text",
        ),
        pytest.param(
            "<div><p>Handbook 2.1</p></div><div><div><p>Package org.rivers</p><h1>Class Mill</h1></div>"
            f"{PARAGRAPH * 4}</div>",
            {**DOCS, "title": "Mill (Handbook)"}, "Class Mill Package org.rivers The river runs", 0, 12,
            id="what heads a title follows it",
        ),
        pytest.param(
            f"<div><h1>Rivers</h1>{PARAGRAPH * 4}</div><div>Generated on 5 March 2024 by <a href=/p>JUNK</a> 0.9</div>",
            DOCS, "Rivers The", 0, 12, id="what made a documentation",
        ),
        pytest.param(
            "<div><h1>Thread: The mill</h1></div><div>" + f"<div><h2>The mill</h2>{PARAGRAPH}</div>" * 5 + "</div>",
            THREAD, "Thread: The mill The mill", 0, 15, id="the title of a thread",
        ),
        pytest.param(
            f"<main><div><h1>Rivers</h1><section><p>KEPT {SENTENCE * 3}</section></div>"
            f"<div>{'<section><h2>Flood</h2>' * 5}{PARAGRAPH * 9}{'</section>' * 5}</div></main>",
            DOCS, "Rivers KEPT", 1, 30, id="what introduces a topic",
        ),
        pytest.param(
            f"<div><h1>Mills</h1></div><div>{ASKED}<div id=answers><h2>9 answers</h2>{PARAGRAPH * 20}"
            "<h1>Example</h1></div></div>",
            {**TALK, "url": "https://ex.org/questions/17/mills"},
            "Mills How is it that the river does not flood the mill", 0, 60, id="a question with long answers",
        ),
        pytest.param(
            f"<div>{PANE}{PARAGRAPH}</div><div><div class=author-pane><p>JUNK</p></div>{PARAGRAPH}</div>" * 4,
            {**THREAD, **TALK}, "KEPT The river runs", 4, 24, id="the name of who posts",
        ),
        pytest.param(
            f"<article>{ARTICLE}<p>KEPT<x-reference name=1></x-reference>.</p></article>"
            f"{NOTE.replace('1702', 'KEPT')}",
            POSTS, "The river", 2, 12, id="notes that are referred to",
        ),
        pytest.param(
            f"<article>{ARTICLE}</article>{NOTE.replace('1702', 'JUNK')}", {"url": BLOG}, "The river", 0, 12,
            id="notes that are not",
        ),
        pytest.param(
            f"<div class=sidebar>{ARTICLE}</div><p>Mill Press</p>", {"url": BLOG}, "The river", 0, 12,
            id="names that would take everything",
        ),
        pytest.param(
            f"<main>{f'<div class=promo>{PARAGRAPH * 2}</div>' * 4}{'<p>Menu of the mill</p>' * 40}</main>",
            {"url": "https://ex.org/mill"}, "", 0, 24, id="names that leave nothing to read",
        ),
        pytest.param(
            "<main>" + "<section><h2>Rooms</h2><p>Twelve rooms above the water, all of them quiet.</p></section>" * 8
            + f"<section class=promo><h2>KEPT tours</h2><p>{SENTENCE * 4}</p></section></main>",
            {}, "Rooms", 1, 4, id="what a service promotes",
        ),
        pytest.param("<div class=wrap>" * 5_000 + ARTICLE, {}, "The river", 0, 12, id="deep nesting"),
        *(
            pytest.param(
                f"<main>{ARTICLE}<section><h2>{heading}</h2><ul><li><a href=/1>{word}</a>: how mills are kept</ul></section></main>",
                hints, "The river", int(word == "KEPT"), 12, id=f"{heading}: {word}",
            )
            for heading in ("See also", "Further reading")
            for word, hints in (("KEPT", DOCS), ("JUNK", POSTS))
        ),
        pytest.param(
            f"<h1>Mill</h1>{PARAGRAPH * 4}<div class=comment><p>KEPT opens the sluice of the mill.</p></div>",
            DOCS, "Mill", 1, 12, id="a comment of the documentation",
        ),
        pytest.param(
            f"<h1>Mill</h1>{PARAGRAPH * 4}<div class=comments>{REMARK * 3}</div>", DOCS, "Mill", 0, 12,
            id="comments of readers",
        ),
    ],
)  # fmt: skip
def test_of_a_whole_page_its_content_is_found(
    find, html: str, hints, begins: str, kept: int, paragraphs: int
):
    text = find(html, **hints).text
    assert "JUNK" not in text
    assert text.startswith(begins)
    assert (text.count("KEPT"), text.count("The river runs")) == (kept, paragraphs)
