"""Lines of an article that are not its text."""

import pytest
from selectolax.lexbor import LexborHTMLParser

SENTENCE = (
    "The river runs past the old mill, and in spring it floods the lower meadows for a week. "
)
PARAGRAPH = f"<p>{SENTENCE * 3}</p>"
URL = "https://ex.org/blog/the-river-and-its-meadows"
ANYWHERE = [
    "<p><a href=/1>Try the river map</a></p>",
    "<p><b><a href=/1>Get a quote now »</a></b></p>",
    "<p><b>Read also:</b> <a href=/1>Mills of the north</a></p>",
    "<p>Mehr zum Thema: <a href=/1>Mühlen des Nordens</a></p>",
    "<p>Lire aussi : <a href=/1>Les moulins du nord</a></p>",
    "<p>Leggi anche <a href=/1>I mulini del nord</a></p>",
    "<p>Читайте также: <a href=/1>Мельницы севера</a></p>",
    "<p>関連記事: <a href=/1>北の水車</a></p>",
    "<p>&gt;&gt; Check out: <a href=/1>Mills of the north</a></p>",
    "<p>Photo credit: Ada Miller</p>",
    "<p>(Image: Ada Miller/River Press)</p>",
    "<p>Foto: Ada Müller</p>",
    "<p>© Ada Miller</p>",
    "<p>Source: <a href=/1>rivers.example</a></p>",
]
AT_THE_EDGES = [
    "<p>December 19th, 2025</p>",
    "<p>Last updated on 19 December 2025 by Ada Miller</p>",
    "<p>19. Dezember 2025</p>",
    "<p>19 de diciembre de 2025</p>",
    "<p>2025年12月19日</p>",
    "<p>19.12.2025, 14:07</p>",
    "<p>By <a href=/ada>Ada Miller</a></p>",
    "<p>Von Ada Müller</p>",
]
KEPT = [
    "<p><a href=/1>The mill was rebuilt in 1702, and again after the great flood.</a></p>",
    "<p><a href=/1>https://rivers.example/mill</a></p>",
    "<p>See <a href=/1>the guide to rivers</a>, <a href=/2>the manual of mills</a> and the dams.</p>",
    "<p>Address: <a href=/1>1 Mill Lane, Riverton</a></p>",
    "<ul><li><a href=/1>A list of mills</a><li>and of dams, which are more</ul>",
    "<blockquote><p>By the river of Babylon</p></blockquote>",
    "<p>By the mill there is a ford.</p>",
    "<p>In 1702 the mill burned.</p>",
    f"<p>Photographs by visitors of the mill hang in its hall. {SENTENCE * 2}</p>",
    "<h2>Photo: the mill</h2>" + PARAGRAPH,
]


LEAD = (
    "Nobody had expected the old dam to hold, and for a week it did: then the ice came down from the"
    " hills, and with it every fence between the two bridges."
)
BETWEEN = [
    "<p>A motto of the valley, with some words</p>",
    f"<figure><img src=/a.png><figcaption>{LEAD}</figcaption></figure>",
    f"<figure><img src=/a.png><p>{LEAD}</p></figure>",
    f"<div><img src=/a.png><p class=photo-caption>{LEAD}</p></div>",
    f"<p><a href=/1>{LEAD}</a></p>",
    f"<p>Photo: Ada Miller. {LEAD[:100]}</p>",
]


@pytest.fixture
def shown(find):
    """What is left of an article."""
    hints = {"url": URL, "title": "The river and its meadows", "types": "BlogPosting"}
    return lambda html: find(f"<article>{html}</article>", **hints).text


def text_of(html: str) -> str:
    return " ".join(LexborHTMLParser(html).text(separator=" ").split())


@pytest.mark.parametrize("line", ANYWHERE)
def test_links_and_credits_between_paragraphs_are_taken_out(shown, line: str):
    article = f"<h1>The river</h1>{PARAGRAPH * 2}{line}{PARAGRAPH * 2}"
    assert shown(article) == text_of(article.replace(line, ""))


@pytest.mark.parametrize("line", AT_THE_EDGES)
@pytest.mark.parametrize("place", ["before", "after"])
def test_dates_and_bylines_are_taken_out_at_the_edges(shown, line: str, place: str):
    text = f"<h1>The river and its meadows</h1>{{}}{PARAGRAPH * 3}{{}}"
    article = text.format(line, "") if place == "before" else text.format("", line)
    assert shown(article) == text_of(article.replace(line, ""))


@pytest.mark.parametrize("line", AT_THE_EDGES)
def test_the_same_lines_inside_the_text_stay(shown, line: str):
    article = f"<h1>The river and its meadows</h1>{PARAGRAPH * 2}{line}{PARAGRAPH * 2}"
    assert text_of(line) in shown(article).removeprefix("The river and its meadows")


@pytest.mark.parametrize("block", KEPT)
def test_lines_of_the_text_stay(shown, block: str):
    article = f"<h1>The river</h1>{PARAGRAPH * 2}{block}{PARAGRAPH * 2}"
    assert text_of(block) in shown(article)


SIDES = ("north", "south", "east", "west", "ford", "hill", "lake")
OVERVIEW = "".join(f"<p><a href=/{n}>Mills of the {n}</a></p>{PARAGRAPH}" for n in SIDES)


@pytest.mark.parametrize(
    ("html", "words", "is_kept"),
    [
        *((OVERVIEW, f"Mills of the {n}", True) for n in SIDES),
        (f"{PARAGRAPH}<p><a href=/1>Book now</a></p>" * 9, "Book now", False),
        (f"{PARAGRAPH * 3}<h2>Share your own story</h2>", "Share", False),
        (f"{PARAGRAPH * 3}<h2>In short</h2><p>The mill.</p>", "In short", True),
        (f"{PARAGRAPH * 3}<h2>In short</h2><ul><li>the mill</ul>", "In short", True),
        (f"{PARAGRAPH * 3}<h2>In short</h2><pre>mill</pre>", "In short", True),
        # Its answer may be shown by scripts alone.
        (f"{PARAGRAPH * 3}<h2>Does it flood?</h2>", "Does it flood?", True),
    ],
)
def test_a_repeated_link_and_a_last_heading_that_heads_nothing_go(shown, html, words, is_kept):
    assert (words in shown(f"<h1>The river</h1>{html}")) is is_kept


@pytest.mark.parametrize(
    "line",
    [
        "<p class=wp-caption-text>KEPT <b>in</b> spring</p>",
        "<div class='image caption'>KEPT <b>in</b> spring</div>",
        "<div class=articleCaption>KEPT <b>in</b> spring</div>",
    ],
)
def test_captions_by_name_get_the_element_of_captions(find, line: str):
    page = find(
        f"<article>{PARAGRAPH * 3}{line}{PARAGRAPH}</article>", url=URL, types="BlogPosting"
    )
    assert "<figcaption>KEPT <b>in</b> spring</figcaption>" in page.html


@pytest.mark.parametrize(
    "block",
    [
        f"<div class=captioned>{PARAGRAPH}</div>",
        "<h2 class=caption>KEPT</h2><p>Some.</p>",
        "<p>The <b class=caption>KEPT</b> mill.</p>",
        "<div class=caption><img src=/a.png> KEPT</div>",
    ],
)
def test_other_blocks_named_as_captions_stay_what_they_are(find, block: str):
    page = find(
        f"<article>{PARAGRAPH * 3}{block}{PARAGRAPH}</article>", url=URL, types="BlogPosting"
    )
    assert "figcaption" not in page.html
    assert text_of(block) in page.text


def test_pages_that_are_no_articles_keep_such_lines(find):
    page = f"<article><h1>Widget</h1>{PARAGRAPH}<p><a href=/1>Try the river map</a></p>{PARAGRAPH}"
    assert "Try the river map" in find(page, url="https://docs.ex.org/widget").text


TITLE = "<h1>The river and its meadows</h1>"
BYLINE = "<p>By Ada Miller</p>"


@pytest.mark.parametrize(
    ("before", "lead"),
    [
        (f"{TITLE}<p>{LEAD}</p>{BYLINE}", LEAD),
        (f"{TITLE}<h2>{LEAD}</h2>{BYLINE}", LEAD),
        (
            f"{TITLE}<div class=intro><p>By Ada</p><p>{LEAD}</p><p>What was left of the mill?</p></div>{BYLINE}",
            f"{LEAD} What was left of the mill?",
        ),
        *((f"{TITLE}{line}", "") for line in BETWEEN),
        (f"<p>{LEAD}</p>{TITLE}", ""),
    ],
)
def test_an_article_begins_with_the_lead_between_its_title_and_its_text(shown, before, lead):
    found = shown(f"{before}<div class=entry-content>{PARAGRAPH * 5}</div>")
    assert found == f"{lead} {' '.join((SENTENCE * 15).split())}".strip()
