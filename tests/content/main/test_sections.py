"""Sections and cards that are removed by their headings and links."""

import pytest

SENTENCE = (
    "The river runs past the old mill, and in spring it floods the lower meadows for a week. "
)
PARAGRAPH = f"<p>{SENTENCE * 3}</p>"
ARTICLE = f"<h1>The river</h1>{PARAGRAPH * 8}"
BLOG = "https://ex.org/blog/the-river-and-its-meadows"
CARD = "<div class=c{0}><h4><a href=/{0}>JUNK the mill number {0}</a></h4><p>{1}</p></div>"


@pytest.mark.parametrize(
    "heading",
    ["Related articles", "You may also like:", "MOST READ", "Share this", "About the Author",
     "Ähnliche Beiträge", "Sur le même sujet", "Artículos relacionados", "関連記事", "相关文章",
     "Читайте также", "More from the mill", "People also ask",
     "Comments", "3 Comments", "Kommentare (4)", "12 responses"],
)  # fmt: skip
def test_headings_that_lead_away_or_name_comments(find, heading: str):
    assert not stays(find, heading)


@pytest.mark.parametrize(
    "heading",
    ["The river", "Related work in hydrology", "", "Conclusion", "Sharing a mill with the miller",
     "Most of the year", "Table of contents", "A" * 500,
     "Discussion", "Commentary", "Responses to the flood of 1702"],
)  # fmt: skip
def test_headings_of_the_text(find, heading: str):
    assert stays(find, heading)


def stays(find, heading: str) -> bool:
    section = f"<div><h2>{heading}</h2><p>JUNK, says the miller</p></div>"
    return "JUNK" in find(f"<article>{ARTICLE}{section}{PARAGRAPH}</article>", url=BLOG).text


@pytest.mark.parametrize(
    "section",
    [
        pytest.param("<div><h3>Related posts</h3><p>JUNK <a href=/>mill</a></p></div>", id="own"),
        pytest.param("<div><div><span>Share</span></div><p>JUNK</p></div>", id="label"),
        pytest.param("<div><h2>2 Comments</h2><p>JUNK, says the miller</p></div>", id="comments"),
        pytest.param(
            "<div><div><h3>Read next</h3></div><ul><li>JUNK<li>JUNK</ul></div>",
            id="wrapped heading",
        ),
    ],
)
def test_a_section_goes_with_its_heading(find, section: str):
    page = find(f"<article>{ARTICLE}{section}<h3>Floods</h3>{PARAGRAPH}</article>", url=BLOG)
    assert "JUNK" not in page.text
    assert "Floods" in page.text
    assert page.text.count("The river runs") == 27


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(f"<section><h2>Further reading</h2>{PARAGRAPH * 3}</section>", id="prose"),
        pytest.param(f"<h2>Newsletter</h2>{PARAGRAPH}", id="paragraph below"),
        pytest.param(f"<p><a href=/>Social media</a> {SENTENCE * 3}</p>", id="words of a line"),
    ],
)
def test_prose_stays_whatever_its_heading(find, section: str):
    page = find(f"<article>{ARTICLE}{section}</article>", url=BLOG)
    assert page.text.count("The river runs") == 24 + section.count("The river runs")


def test_a_cell_stays_whatever_it_begins_with(find):
    row = "<tr><td>Mill</td><td><strong>Most popular</strong> of all</td></tr>"
    page = find(f"<article>{ARTICLE}<table>{row * 2}</table>{PARAGRAPH}</article>", url=BLOG)
    assert page.text.count("Most popular of all") == 2


def test_latest_news_are_the_content_of_a_listing(find):
    cards = "".join(CARD.format(number, "A short line.") for number in range(9))
    page = find(f"<main><div>Latest news</div><div>{cards}</div></main>", url="https://ex.org/news")
    assert page.text.count("the mill number") == 9


@pytest.mark.parametrize(
    ("cards", "text", "after", "kept"),
    [
        pytest.param(3, "Four lines about it.", "", 0, id="below"),
        pytest.param(8, "Four lines about it.", "", 0, id="many below"),
        pytest.param(2, SENTENCE, "", 2, id="too few below"),
        pytest.param(4, SENTENCE, PARAGRAPH, 4, id="inside that say something"),
    ],
)
def test_rows_of_cards_below_an_article_are_taken_out(find, cards, text, after, kept):
    row = "".join(CARD.format(number, text) for number in range(cards))
    page = find(f"<article>{ARTICLE}<div>{row}</div>{after}</article>", url=BLOG)
    assert page.text.count("the mill number") == page.text.count("JUNK") == kept
