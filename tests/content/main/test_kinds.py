"""The kinds of pages, and what is content in each."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.hidden_elements import drop_unseen
from searx_mcp.content.main.find import find_main
from searx_mcp.content.main.kinds import Hints, generator_of, platform_kind
from searx_mcp.content.main.text_density import measure
from searx_mcp.content.tree import Removals
from searx_mcp.models.page import PageKind

SENTENCE = (
    "The river runs past the old mill, and in spring it floods the lower meadows for a week. "
)
PARAGRAPH = f"<p>{SENTENCE * 3}</p>"
ARTICLE = f"<h1>The river</h1>{PARAGRAPH * 8}"
CARD = (
    "<li class=card><h3><a href=/{0}>The mill number {0} of the valley</a></h3><p>From $12</p></li>"
)
CARDS = "<ul>" + "".join(CARD.format(number) for number in range(12)) + "</ul>"
UNPRICED = CARDS.replace("$12", "the river")
COMMENT = f"<div class=comment><p>{SENTENCE * 2}</p></div>"


@pytest.mark.parametrize(
    ("body", "url", "types", "kind"),
    [
        pytest.param(ARTICLE, "/x", "NewsArticle", PageKind.ARTICLE, id="type of article"),
        pytest.param(ARTICLE, "/blog/the-river-floods", "", PageKind.ARTICLE, id="blog"),
        pytest.param(PARAGRAPH * 2, "/2024/05/river", "", PageKind.ARTICLE, id="date in address"),
        pytest.param(ARTICLE, "/how-the-river-floods", "", PageKind.ARTICLE, id="name in address"),
        pytest.param(
            "<p>Short</p>", "/why-does-the-old-river-flood", "", PageKind.ARTICLE, id="sentence"
        ),
        pytest.param(ARTICLE, "/1", "", PageKind.ARTICLE, id="long paragraphs in one place"),
        pytest.param(ARTICLE, "/x", "QAPage", PageKind.FORUM, id="type of forum"),
        pytest.param(ARTICLE, "/forums/rivers", "", PageKind.FORUM, id="forum in address"),
        pytest.param(ARTICLE, "/t/rivers/12", "", PageKind.FORUM, id="Discourse"),
        pytest.param(ARTICLE, "/viewtopic.php?t=1", "", PageKind.FORUM, id="phpBB"),
        pytest.param(ARTICLE, "/questions/12/why", "", PageKind.FORUM, id="StackExchange"),
        pytest.param(ARTICLE, "/item?id=12", "", PageKind.FORUM, id="Hacker News"),
        pytest.param(ARTICLE, "/r/rivers/comments/1", "", PageKind.FORUM, id="Reddit"),
        pytest.param(
            ARTICLE, "/forum/x", "NewsArticle", PageKind.ARTICLE, id="type before address"
        ),
        pytest.param(f"<p>Link</p>{COMMENT * 9}", "/s/x", "", PageKind.FORUM, id="only comments"),
        pytest.param(ARTICLE, "/docs/rivers", "", PageKind.DOCUMENTATION, id="docs in address"),
        pytest.param(ARTICLE, "/mill", "Product", PageKind.PRODUCT, id="type of product"),
        pytest.param(PARAGRAPH, "/products/mill", "", PageKind.PRODUCT, id="Shopify"),
        pytest.param(UNPRICED, "/mills", "", PageKind.LISTING, id="cards"),
        pytest.param(UNPRICED, "/mills", "ItemList", PageKind.LISTING, id="list of writings"),
        pytest.param(CARDS, "/mills", "", PageKind.COLLECTION, id="cards with prices"),
        pytest.param(CARDS, "/collections/mills", "", PageKind.COLLECTION, id="cards of a shop"),
        pytest.param(CARDS, "/mills", "CollectionPage", PageKind.COLLECTION, id="collection type"),
        pytest.param(CARDS, "/mills", "Product ItemList", PageKind.COLLECTION, id="many products"),
        pytest.param("<p>Posts</p>", "/tag/", "", PageKind.LISTING, id="tag"),
        pytest.param(PARAGRAPH, "/", "", PageKind.SERVICE, id="home"),
        pytest.param(ARTICLE, "/", "Article", PageKind.ARTICLE, id="article that is a site"),
        pytest.param(
            f"<article>{ARTICLE}</article>" * 8,
            "/",
            "Article",
            PageKind.SERVICE,
            id="home of a blog",
        ),
        pytest.param(PARAGRAPH, "/services/floods", "", PageKind.SERVICE, id="nothing else"),
    ],
)
def test_the_kind_of_a_page(find, body: str, url: str, types: str, kind: PageKind):
    assert find(body, url=f"https://ex.org{url}", types=types).kind is kind


MEMBER = "<div class='message-cell message-cell--user'>Joined Jan 2020, 1,204 messages</div>"
ROOMS = "<section><h2>Rooms</h2><p>Twelve rooms above the water, all of them quiet.</p></section>"
LONG = f"<section><h2>Meadows</h2>{PARAGRAPH * 3}</section>"


@pytest.mark.parametrize(
    ("body", "path", "words", "count", "gone"),
    [
        pytest.param(
            f"{ARTICLE}<div class=comments><i>3 May 2021</i>{COMMENT}</div>", "/blog/the-river",
            "The river runs", 24, "3 May", id="comments of an article",
        ),
        pytest.param(
            f"<h1>Why?</h1>{COMMENT * 5}", "/forum/why", "The river runs", 10, "?!", id="comments of a forum",
        ),
        pytest.param(
            f"<article class=message>{MEMBER}{PARAGRAPH}</article>" * 4, "/threads/mill.12/",
            "The river runs", 12, "Joined", id="who wrote a post",
        ),
        pytest.param(
            f"<nav><a href=/>Home</a></nav><main>{CARDS}</main>", "/mills", "of the valley", 12, "Home",
            id="links of a listing",
        ),
        pytest.param(f"<main>{ROOMS * 5}{LONG}</main>", "/", "Rooms", 5, "?!", id="sections of a service"),
        pytest.param(f"<main>{ROOMS * 5}{LONG}</main>", "/", "Meadows", 1, "?!", id="a long section of a service"),
    ],
)  # fmt: skip
def test_what_is_content_depends_on_the_kind(find, body, path, words, count, gone):
    text = find(body, url=f"https://ex.org{path}").text
    assert text.count(words) == count
    assert gone not in text


def test_a_form_around_a_post_is_content_and_one_to_fill_in_is_not():
    post = "<form action=#><input type=hidden name=id value=7><p>The river runs by.</p></form>"
    reply = "<form action=/reply><p>Say what you know of it.</p><textarea></textarea></form>"
    tree = LexborHTMLParser(f"<body><h1>Why?</h1>{COMMENT}{post}{reply}{COMMENT}")
    drop_unseen(tree, Removals())
    main = find_main(tree, Hints("https://forum.ex.org/why"), Removals())
    text = " ".join(root.text(separator=" ") for root in main.roots)
    assert "The river runs by." in text
    assert "Say what you know" not in text


@pytest.mark.parametrize(
    "control", ["<input type=email>", "<input name=your_mail>", "<input placeholder=x@ex.org>"]
)
def test_a_form_for_an_address_goes_with_what_introduces_it(control: str):
    letter = f"<section id=s><h2>Our letter</h2><p>Each week.</p><form><p>To</p>{control}</form></section>"
    tree = LexborHTMLParser(
        f"<body><main><h1>The mill</h1>{PARAGRAPH * 4}{letter}{PARAGRAPH}</main>"
    )
    drop_unseen(tree, Removals())
    main = find_main(tree, Hints("https://ex.org/mill"), Removals())
    text = " ".join(root.text(separator=" ") for root in main.roots)
    assert "The mill" in text
    assert text.count("The river runs") == 15
    assert "Our letter" not in text
    assert "Each week" not in text


def test_links_below_and_between_posts_are_no_content_of_a_forum(find):
    post = "<div class=message><span><a href=#{0}>#{0}</a></span> <a href=#p{0}>{0}3 May 2021</a>{1}<a href=/r/{0}>REPLY</a></div>"
    posts = "".join(post.format(number, PARAGRAPH) for number in range(5))
    more = "".join(
        f"<li><a href=/{n}>ANOTHER topic on the rivers of the county</a>" for n in range(5)
    )
    page = find(
        f"<h1>Why?</h1>{posts}<div><h4>ALIKE</h4><ol>{more}</ol></div>",
        url="https://ex.org/threads/mill.12/",
    )
    assert page.text.count("The river runs") == 15
    assert page.text.count("May 2021") == 5
    assert not {"REPLY", "ANOTHER", "ALIKE", "#3"} & set(page.text.split())


@pytest.mark.parametrize(
    ("body", "root"),
    [
        pytest.param(f"<div id=r itemprop=articleBody>{ARTICLE}</div>", "r", id="microdata"),
        pytest.param(f"<div id=r class=post-content>{ARTICLE}</div>", "r", id="name"),
        pytest.param(f"<article id=r>{ARTICLE}</article>", "r", id="article"),
        pytest.param(f"<main id=r>{ARTICLE}</main>", "r", id="main"),
        pytest.param(f"<div><div id=r>{ARTICLE}</div></div>", "r", id="most prose"),
    ],
)
def test_the_root_of_an_article(find, body: str, root: str):
    rest = "<div>Mill Press, <a href=/>all books about rivers</a></div>" * 3
    assert find(f"{rest}{body}{rest}", types="NewsArticle").roots == (root,)


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        *(
            (html, PageKind.FORUM)
            for html in (
                "<meta name=generator content='vBulletin 4.2'>",
                "<body id=phpbb class=nojs>",
                "<html id=XF><p>x",
                "<body class='question-page unified-theme'>",
                "<div id=postlist><div class=postbit>x",
                "<div class=topic-body><div class=cooked>x",
                "<div class=bbp-reply-content>x",
                "<div class=commentarea><div class='sitetable nestedlisting'>x",
                "<table class=comment-tree><tr><td>x",
            )
        ),
        *(
            (html, PageKind.DOCUMENTATION)
            for html in (
                "<meta name=Generator content='Docusaurus v3'>",
                "<meta name=generator content='mkdocs-1.5, mkdocs-material-9'>",
                "<div class=rst-content>x",
                "<div class='theme-doc-markdown markdown'>x",
                "<main class=md-content><article>x",
                "<div class=mw-parser-output>x",
                "<body class='rustdoc mod'>",
            )
        ),
        ("<p>x", None),
        ("<meta name=generator content='WordPress 6.5'>", None),
        ("<meta name=generator>", None),
    ],
)
def test_the_kind_that_a_program_makes(html: str, kind: PageKind | None):
    tree = LexborHTMLParser(html)
    elements = measure(tree.body) if tree.body else []
    assert platform_kind(tree, generator_of(tree), elements) is kind
