"""A name, a role, an id, a heading or a position only lowers a block: one with its own content stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.page import read_page
from searx_mcp.models.style import Style

SENTENCE = (
    "The river runs past the old mill, and in spring it floods the lower meadows for a week. "
)
PARAGRAPH = f"<p>{SENTENCE * 3}</p>"
OWN = "Each of the three sluices is opened by hand once the snow on the upper slopes has gone. A keeper writes down how high it stood."

CONTENTS = {
    "table": "<table><tr><th>Mill<th>Built<tr><td>KEPT<td>1702<tr><td>Upper<td>1731</table>",
    "code": "<pre><code>open_sluice(KEPT)\nwait()</code></pre>",
    "formula": "<p>It carries <math><mi>KEPT</mi><mo>=</mo><mn>4</mn></math> as is known.</p>",
    "definitions": "<dl><dt>KEPT<dd>what holds the water back<dt>race<dd>where it runs to the wheel</dl>",
    "caption": "<figure><img src=/m.png alt=mill><figcaption>KEPT of the lower mill, seen from the bridge</figcaption></figure>",
    "sentences": f"<p>KEPT. {OWN}</p>",
    "section": f"<h3>KEPT and meadows</h3><p>{OWN}</p>",
}
LINKED = (
    "<ul><li><a href=/1>one mill</a><li><a href=/2>two mills</a><li><a href=/3>three mills</a></ul>"
)
NAMES = [
    "sidebar",
    "menu",
    "navigation",
    "footer",
    "masthead",
    "toolbar",
    "widget",
    "related",
    "recommended",
    "popular",
    "comments",
    "comment",
    "author",
    "meta",
    "share",
    "sharing",
    "tools",
    "promo",
    "sponsored",
    "newsletter",
    "disclaimer",
    "legal",
    "announcement",
    "modal",
    "popup",
    "tooltip",
    "table-contents",
    "tags",
    "categories",
    "see-also",
    "site-info",
    "read-more",
    "cookies",
    "consent",
    "post-footer",
    "signature",
    "user-info",
    "copyright",
    "pager",
]
ROLES = ["", "complementary", "navigation", "toolbar", "banner", "contentinfo", "search", "menu"]
HEADINGS = [
    "",
    "See also",
    "Related",
    "Share",
    "Tools",
    "Comments",
    "Tags",
    "Legal",
    "About the author",
    "Navigation",
]
URLS = [
    "https://ex.org/blog/the-river-and-its-meadows",
    "https://docs.ex.org/manual/rivers.html",
    "https://ex.org/",
    "https://ex.org/products/river",
    "https://forum.ex.org/t/river/12",
    "https://ex.org/category/rivers/",
]


def markdown(body: str, url: str) -> str:
    html = f"<title>The river</title><body>{body}"
    return read_page(html, url=url, style=Style(), max_chars=1_000_000).written.markdown


@given(
    st.sampled_from(sorted(CONTENTS)),
    st.sampled_from(["div", "section", "aside"]),
    st.lists(st.sampled_from(NAMES), max_size=2),
    st.sampled_from(["", *NAMES]),
    st.sampled_from(ROLES),
    st.sampled_from(HEADINGS),
    st.sampled_from(["", LINKED]),
    st.integers(0, 4),
    st.sampled_from(URLS),
)
def test_no_name_takes_out_what_says_something_of_its_own(
    content: str,
    tag: str,
    names: list[str],
    identifier: str,
    role: str,
    heading: str,
    links: str,
    place: int,
    url: str,
):
    shown = f"<h2>{heading}</h2>" if heading else ""
    block = f'<{tag} class="{" ".join(names)}" id="{identifier}" role="{role}">{shown}{CONTENTS[content]}{links}</{tag}>'
    parts = [PARAGRAPH] * 4
    parts.insert(place, block)
    found = markdown(f"<main><h1>The river</h1>{''.join(parts)}</main>", url)
    assert "KEPT" in found
    assert found.count("The river runs") == 12


TEASERS = "".join(
    f"<div><a href=/{number}>JUNK {number} of the valley</a><p>{OWN}</p></div>"
    for number in range(3)
)
SHAPED = {
    "rows of links": LINKED.replace("one", "JUNK"),
    "teasers": TEASERS,
    "remarks": "".join(
        f"<div><b>Ann</b> <i>{n} May 2021</i><p>JUNK {OWN}</p></div>" for n in range(1, 4)
    ),
    "a person": f"<p><b>Ann Miller</b></p><p>Ann Miller is JUNK. {OWN}</p>",
    "a label": "<p>JUNK</p>",
}


@pytest.mark.parametrize("shape", SHAPED)
@pytest.mark.parametrize("name", ["related", "sidebar"])
def test_a_name_lowers_what_has_the_shape_of_what_stands_around_a_text(shape: str, name: str):
    block = f"<div class={name}>{SHAPED[shape]}</div>"
    found = markdown(f"<article><h1>The river</h1>{PARAGRAPH * 6}{block}</article>", URLS[0])
    assert "JUNK" not in found
    assert found.count("The river runs") == 18


def test_a_documentation_begins_with_its_title_and_synopsis():
    page = (
        "<title>Mills: flood.h File Reference</title><body><div><div>Mills</div></div>"
        "<div><div><div>flood.h File Reference</div></div></div>"
        "<pre>#include &lt;flood.h&gt;</pre>"
        f"<div><h2>Detail</h2>{PARAGRAPH * 4}</div>"
    )
    found = read_page(page, url=URLS[1], style=Style(), max_chars=100_000).written.markdown
    assert found.startswith("flood.h File Reference\n\n```\n#include <flood.h>")
    assert found.count("The river runs") == 12


@pytest.mark.parametrize(
    ("caption", "is_said"),
    [
        ("The lower mill after the flood of 1702", True),
        ("Figure 3", True),
        ("Image 3 of 7", False),
        ("Photo: Ann Miller", False),
        ("Ann Miller", False),
        ("A mill by the river", False),
        ("A mill by the river. Photo: Ann Miller/River Press", False),
        ("A mill by the river (Foto: Ann Miller)", False),
        ("A mill by the river © Ann Miller", False),
        ("The lower mill after the flood of 1702. Photo: Ann Miller", True),
        ("In spring the river floods the meadows", False),
        ("Figure 3: in spring the river floods the meadows", True),
    ],
)
def test_a_caption_of_an_article_says_more_than_its_picture(caption: str, is_said: bool):  # noqa: FBT001 - a column
    figure = f"<figure><img src=/m.png alt='a mill by the river'><figcaption>{caption}</figcaption></figure>"
    found = markdown(
        f"<article><h1>The river</h1>{PARAGRAPH * 2}{figure}{PARAGRAPH}</article>", URLS[0]
    )
    assert (f"[caption: {caption}]" in found) is is_said


DIVERS = "<figure><img src=/m.png><figcaption>Divers below the weir of 1702</figcaption></figure>"
ROW = "<tr><td>void</td><td><a href=#f>mill_open_the_sluice</a> ()</td></tr>"
RECIPES = "".join(f"<article><h2>Recipe {n}</h2><p>With flour</p></article>" for n in range(9))
OTHERS = "".join(f"<li><a href=/{n}>Another page of the site, {n}</a>" for n in range(20))
ITEMS = "<ul><li>500 g flour, <a href=/rye>rye</a> or wheat<li>350 g water, warm<li>10 g salt</ul>"
MESH = "".join(
    f"<div class=skip-item><h2>Part {n} of Mesh WiFi</h2><p>Mesh WiFi covers a whole house. Mesh WiFi needs no cable "
    "between its parts, only current for each of them.</p></div>"
    for n in range(12)
)
NAMED = f"<main><h1>The river</h1>{PARAGRAPH * 4}<div class=tools><h2>Tools</h2><p>KEPT. {OWN}</p>{LINKED}</div>{PARAGRAPH}</main>"
COUNTED = {
    "a named block that stays": (NAMED, URLS[0], "## Tools\n\nKEPT.", 1),
    "links in a named block that stays": (NAMED, URLS[0], "two mills", 0),
    "a caption that is written twice": (
        f"<article><h1>The river</h1>{DIVERS}{PARAGRAPH * 2}{DIVERS}{PARAGRAPH}</article>", URLS[0], "Divers", 1),
    "an address that stands alone in an article": (
        f"<article><h1>The river</h1>{PARAGRAPH * 2}<div>https://news.example/river</div>{PARAGRAPH}</article>",
        URLS[0], "news.example/river", 0),
    "a table of links whose rows say something beside them": (
        f"<h1>Mill</h1>{PARAGRAPH}<div><h2>Functions</h2><table>{ROW * 3}</table></div>{PARAGRAPH}",
        URLS[1], "| void | [mill_open_the_sluice]", 3),
    "the main element in what is named after a sidebar": (
        f"<div class=content-sidebar-wrap><main><h1>Baking</h1>{RECIPES}</main></div><ul>{OTHERS}</ul>",
        URLS[5], "## Recipe", 9),
    "a list of items in an aside": (
        f"<article><h1>Bread</h1>{PARAGRAPH}<aside>{ITEMS}</aside>{PARAGRAPH * 3}</article>",
        URLS[0], "350 g water", 1),
    "a list of items in an aside beside the article": (
        f"<main><article><h1>Bread</h1>{PARAGRAPH * 4}</article><aside>{ITEMS}</aside></main>",
        URLS[0], "350 g water", 1),
    "a list of items in an aside of the site": (
        f"<main><article><h1>Bread</h1>{PARAGRAPH * 4}</article></main><aside>{ITEMS}</aside>",
        URLS[0], "350 g water", 0),
    "a list of items in a form in an aside": (
        f"<article><h1>Bread</h1>{PARAGRAPH}<aside><form>{ITEMS}<input type=email></form></aside>{PARAGRAPH * 3}</article>",
        URLS[0], "350 g water", 0),
    "sections about what the page is about, and not about a person": (
        f"<article><h1>Mesh WiFi</h1>{PARAGRAPH}{MESH}</article>", URLS[0], "covers a whole house", 12),
}  # fmt: skip


@pytest.mark.parametrize(("page", "url", "words", "count"), COUNTED.values(), ids=COUNTED)
def test_a_block_stays_for_what_it_is(page: str, url: str, words: str, count: int):
    assert markdown(page, url).count(words) == count
