"""The thresholds of the rules that choose the content of a page and remove parts of it.

Each row has the first number at which a rule does what it did not before.

What the numbers are worth on annotated pages stands beside them; here they are pinned, so that a rule
that is changed by accident is seen, even if no page of `tests/floors` is near its border.
"""

from collections.abc import Callable

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.main.boilerplate import take_out_chrome, take_out_named
from searx_mcp.content.main.find import choose_roots, find_main
from searx_mcp.content.main.kinds import Hints, kind_of
from searx_mcp.content.main.related_links import take_out_links, take_out_teasers
from searx_mcp.content.main.sections import take_out_sections
from searx_mcp.content.main.shapes import Shapes
from searx_mcp.content.main.text_density import Element, measure, rows_of_cards
from searx_mcp.content.page import read_page
from searx_mcp.content.tree import Removals
from searx_mcp.models.page import PageKind
from searx_mcp.models.style import Style

Probe = Callable[[int], bool]
First = Callable[[Probe], int]


def prose(count: int) -> str:
    """A paragraph of so many characters; from 25 on it is prose."""
    return f"<p>{'x' * count}</p>"


def words(count: int) -> str:
    """This many characters, in pieces that are too short for prose."""
    return "<p>wwwwwwwwwwwwwwwwwwww</p>" * (count // 20) + f"<p>{'w' * (count % 20)}</p>"


def link(count: int) -> str:
    """A link of this many characters."""
    return f"<a href=/>{'a' * count}</a>" if count else ""


def measured(html: str) -> tuple[LexborHTMLParser, list[Element]]:
    tree = LexborHTMLParser(f"<html><body>{html}</body></html>")
    assert tree.body is not None
    return tree, measure(tree.body)


def is_kind(
    wanted: PageKind,
    page: Callable[[int], str],
    *,
    path: str | Callable[[int], str] = "/x",
    types: str = "",
) -> Probe:
    def probe(count: int) -> bool:
        _tree, elements = measured(page(count))
        place = path if isinstance(path, str) else path(count)
        hints = Hints(f"https://ex.org{place}", types=frozenset(types.split()))
        return kind_of(hints, elements) is wanted

    return probe


def roots(
    page: Callable[[int], str],
    wanted: str,
    kind: PageKind = PageKind.ARTICLE,
    *,
    sure: bool = False,
) -> Probe:
    """Whether the content is in the elements of these identifiers, `body` for the whole page."""

    def probe(count: int) -> bool:
        _tree, elements = measured(page(count))
        found = choose_roots(elements, kind, is_sure=sure)
        return " ".join(each.attributes.get("id") or each.tag for each in found) == wanted

    return probe


_ARTICLE, _SERVICE, _FORUM = PageKind.ARTICLE, PageKind.SERVICE, PageKind.FORUM
_COLLECTION, _LISTING, _PRODUCT = PageKind.COLLECTION, PageKind.LISTING, PageKind.PRODUCT
_PIECES = prose(139) * 200  # of no long paragraph


def cards(count: int, text: str = "") -> str:
    return f"<ul>{f'<li class=card>{link(30)}{text}</li>' * count}</ul>"


def body(count: int) -> str:
    """Long paragraphs of this many characters in one place of a page with other content."""
    return f"<div>{prose(count)}</div>"


KINDS = {
    "some, and a name of articles": (
        is_kind(_ARTICLE, lambda n: body(n) + _PIECES, path="/blog/a-b-river"), 201),
    "much, and it says so, beside cards": (
        is_kind(_ARTICLE, lambda n: body(n) + cards(70), types="Article ItemList"), 601),
    "only articles, at the address of a product": (
        is_kind(_ARTICLE, body, path="/products/mill"), 2_500),
    "only articles, at the address of a collection": (
        is_kind(_ARTICLE, body, path="/shop/"), 2_500),
    "words of a sentence": (
        is_kind(_ARTICLE, lambda n: "x", path=lambda n: f"/{'a-' * min(n, 20)}"), 6),
    "words of a long name": (
        is_kind(_ARTICLE, lambda n: body(600) + _PIECES, path=lambda n: f"/{'a-' * min(n, 20)}"), 4),
    "words of a name": (
        is_kind(_ARTICLE, lambda n: body(899) + _PIECES, path=lambda n: f"/{'a-' * min(n, 20)}"), 4),
    "words of a name of a body": (
        is_kind(_ARTICLE, lambda n: body(1_200) + cards(70), path=lambda n: f"/{'a-' * min(n, 20)}", types="ItemList"), 3),
    "much, and a name of three words": (
        is_kind(_ARTICLE, lambda n: body(n) + cards(70), path="/a-b-c", types="ItemList"), 1_200),
    "much, and half of the page": (is_kind(_ARTICLE, lambda n: body(n) + prose(139) * 6), 834),
    "much of a small page": (is_kind(_ARTICLE, body), 600),
    "a body": (is_kind(_ARTICLE, lambda n: body(n) + _PIECES), 900),
    "a body at the address of a listing": (
        is_kind(_ARTICLE, lambda n: body(n) + _PIECES, path="/news/"), 1_200),
    "cards": (is_kind(_LISTING, lambda n: cards(min(n, 50))), 8),
    "share of cards": (is_kind(_LISTING, lambda n: f"{cards(20)}{words(max(0, 2_000 - n))}"), 886),
    "an article with cards": (is_kind(_ARTICLE, lambda n: f"{cards(200)}{body(n)}"), 2_500),
    "cards with a price": (
        is_kind(_COLLECTION, lambda n: f"{cards(min(n, 20), '$1')}{cards(max(0, 20 - n), 'x1')}"), 10),
    "cards looked at": (
        is_kind(_LISTING, lambda n: f"{cards(min(n, 60), 'x1')}{cards(max(20, 60 - n), '$1')}"), 21),
    "comments": (is_kind(_FORUM, lambda n: f"<div class=comments>{prose(n)}</div>"), 501),
    "share of comments": (
        is_kind(_FORUM, lambda n: f"<div class=comments>{prose(n)}</div>{prose(139) * 5}"), 1_622),
    "what is beside comments": (
        is_kind(_FORUM, lambda n: f"<div class=comments>{prose(9_000)}</div>{prose(max(0, 1_000 - n))}"), 101),
}  # fmt: skip


def one(identifier: str, inner: str, names: str = "entry-content") -> str:
    return f"<div class={names} id={identifier}>{inner}</div>"


def article(inner: str, identifier: str = "r") -> str:
    return f"<article id={identifier}>{inner}</article>"


def microdata(inner: str) -> str:
    return f"<div itemprop=articleBody id=m>{inner}</div>"


ROOTS = {
    "least text of main": (
        roots(lambda n: f"<main id=m>{words(n)}</main>{words(100)}", "m", _SERVICE), 150),
    "share of main": (
        roots(lambda n: f"<main id=m>{words(n)}</main>{words(1_000)}", "m", _SERVICE), 539),
    "prose beside main": (
        roots(lambda n: f"<main id=m>{words(1_000)}</main>{prose(n)}", "body", _SERVICE), 401),
    "share of the prose of main": (
        roots(lambda n: f"<main id=m>{words(1_000)}{prose(n)}</main>{prose(1_000)}", "m", _SERVICE), 539),
    "all of the text": (roots(lambda n: f"<div id=d>{words(n)}</div>{words(100)}", "d", _SERVICE), 1_900),
    "most of the prose": (roots(lambda n: f"<div id=d>{prose(n)}</div>{prose(100)}", "d"), 567),
    "entered for its text": (roots(lambda n: f"<div id=d>{prose(500)}</div>{words(n)}", "body"), 334),
    "entered for its prose": (roots(lambda n: f"<div id=d>{prose(n)}</div>{words(9_000)}", "d"), 2_000),
    "entered for its share": (
        roots(
            lambda n: f"<div><div><div id=d>{prose(3_000)}</div>{prose(500)}</div>{prose(600)}</div>"
            f"{prose(n)}{words(9_000)}",
            "body",
        ), 186),
    "sure": (roots(lambda n: f"<div id=d>{prose(n)}</div>{words(9_000)}", "d", sure=True), 601),
    "prose of a body": (roots(lambda n: one("b", prose(n)) + prose(200), "b", sure=True), 121),
    "share of a body": (roots(lambda n: one("b", prose(n)) + prose(1_000), "b", sure=True), 539),
    "a large body": (roots(lambda n: one("b", prose(n)) + prose(9_000), "b", sure=True), 2_501),
    "share of a large body": (
        roots(lambda n: one("b", prose(n)) + prose(20_000), "b", sure=True), 5_001),
    "share of microdata": (
        roots(lambda n: microdata(prose(n)) + prose(1_000), "m", sure=True), 334),
    "large microdata": (roots(lambda n: microdata(prose(n)) + prose(9_000), "m", sure=True), 1_201),
    "narrow by text": (roots(lambda n: one("b", prose(800)) + prose(400) + words(n), "body"), 401),
    "narrow by prose": (
        roots(lambda n: one("b", prose(n)) + prose(400) + words(9_000), "b"), 1_500),
    "narrow by share": (
        roots(lambda n: one("b", prose(n)) + prose(2_000) + words(30_000), "b"), 3_000),
    "text of an article": (roots(lambda n: article(prose(n)) + prose(200), "r", sure=True), 251),
    "share of an article": (roots(lambda n: article(prose(n)) + prose(1_000), "r", sure=True), 1_000),
    "an article that stands out": (
        roots(lambda n: article(prose(n)) + prose(3_000), "r", sure=True), 1_500),
    "share of an article that stands out": (
        roots(lambda n: article(prose(n)) + prose(9_000), "r", sure=True), 3_000),
    "many articles": (
        roots(lambda n: article(prose(2_000)) + article("x") * min(n, 50) + prose(3_000), "body", sure=True), 30),
    "many bodies": (
        roots(lambda n: one("b", prose(1_000)) + one("c", "x") * min(n, 600) + prose(300), "body", sure=True), 500),
}  # fmt: skip


def is_opened(count: int) -> bool:
    page = f"<body><p>x</p><noscript><p>{'y' * count}</p></noscript>"
    return "y" in read_page(page, url="", style=Style(), max_chars=9_999).written.markdown


def are_hidden(count: int) -> bool:
    """Whether some of the parts that scripts would show stay hidden."""
    parts = "".join(f"<div hidden id=S:{n}>x</div>" for n in range(min(count, 600)))
    page = f"<body>{parts}<script>$RC(1)</script>"
    shown = read_page(page, url="", style=Style(), max_chars=99_999).written.markdown
    return shown.count("x") < min(count, 600)


def is_believed(page: Callable[[int], str]) -> Probe:
    """Whether blocks whose names mark them as chrome are left out."""

    def probe(count: int) -> bool:
        tree, _ = measured(page(count))
        main = find_main(
            tree,
            Hints("https://ex.org/blog/a-b-river", types=frozenset({"BlogPosting"})),
            Removals(),
        )
        return "JUNK" not in "".join(root.text() for root in main.roots)

    return probe


OTHERS = {
    "a page for readers without scripts": (is_opened, 500),
    "parts that scripts would show": (are_hidden, 501),
    "prose that names may leave": (
        is_believed(lambda n: f"<div class=promo><p>JUNK{'x' * 296}</p></div>" * 4 + words(2_000) + prose(n)), 100),
    "share that names may leave": (
        is_believed(lambda n: f"<div class=promo><p>JUNK{'x' * 46}</p></div>" * 2 + words(2_000) + prose(n)), 67),
}  # fmt: skip


def named(elements: list[Element], identifier: str) -> Element:
    return next(each for each in elements if each.attributes.get("id") == identifier)


def stays(rule: Callable[[list[Element]], object], page: Callable[[int], str]) -> Probe:
    """Whether the element `it` is still there after a rule."""

    def probe(count: int) -> bool:
        _tree, elements = measured(page(count))
        rule(elements)
        it = named(elements, "it")
        return not it.is_out and not any(above.is_out for above in it.ancestors())

    return probe


def goes(rule: Callable[[list[Element]], object], page: Callable[[int], str]) -> Probe:
    probe = stays(rule, page)
    return lambda count: not probe(count)


def chrome(elements: list[Element]) -> None:
    take_out_chrome(elements, Shapes(elements, ""), is_forum=False)


def names(kind: PageKind) -> Callable[[list[Element]], object]:
    return lambda elements: take_out_named(elements, kind, Shapes(elements, ""))


def sections(kind: PageKind = PageKind.ARTICLE) -> Callable[[list[Element]], object]:
    return lambda elements: take_out_sections(elements, kind, Shapes(elements, ""))


def teasers(kind: PageKind) -> Callable[[list[Element]], object]:
    return lambda elements: take_out_teasers(elements, kind, named(elements, "root"))


def links(kind: PageKind = PageKind.ARTICLE) -> Callable[[list[Element]], object]:
    return lambda elements: take_out_links(
        elements, kind, named(elements, "root"), Shapes(elements, "")
    )


def card(linked: int, text: int = 0, *, prosaic: int = 0) -> str:
    return f"<li class=card>{link(linked)}{words(text) if text else ''}{prose(prosaic) if prosaic else ''}</li>"


def is_row(page: Callable[[int], str]) -> Probe:
    def probe(count: int) -> bool:
        _tree, elements = measured(page(count))
        return any(rows_of_cards(elements))

    return probe


CHROME = {
    "text that must be left": (
        goes(chrome, lambda n: f"<nav id=it>{words(1_000)}</nav>{words(n)}"), 200),
    "text that must be left of a short page": (
        goes(chrome, lambda n: f"<nav id=it>{words(50)}</nav>{words(n)}"), 50),
    "share of a consent dialogue": (
        goes(chrome, lambda n: f"<div class=cookie id=it>{prose(4_000)}</div>{words(n)}"), 2_667),
    "prose of a consent dialogue": (
        stays(chrome, lambda n: f"<div class=cookie id=it>{prose(n)}</div>{words(300)}"), 3_000),
    "share of the prose": (
        stays(chrome, lambda n: f"<aside id=it>{prose(n)}</aside>{prose(1_000)}"), 819),
    "large": (stays(chrome, lambda n: f"<aside id=it>{prose(n)}</aside>{prose(300)}"), 501),
    "footer that is most": (
        goes(chrome, lambda n: f"<footer id=it>{prose(2_000)}</footer>{words(n)}"), 1_001),
    "panel of tabs": (
        stays(chrome, lambda n: f"<p role=tablist id=it>{'x' * n}</p>{prose(1_000)}"), 112),
    "links of a footer inside": (
        goes(chrome, lambda n: f"<article><footer id=it>{link(n)}{words(700)}</footer></article>{prose(3_000)}"), 301),
    "small footer inside": (
        stays(chrome, lambda n: f"<article><footer id=it>{words(n)}</footer></article>{prose(3_000)}"), 300),
    "links of a header inside": (
        goes(chrome, lambda n: f"<article><header id=it>{link(n)}{words(100)}</header></article>{prose(3_000)}"), 100),
    "prose of a form": (
        stays(chrome, lambda n: f"<form x-filled-in id=it>{prose(n)}</form>{prose(3_000)}"), 400),
}  # fmt: skip

NAMES = {
    "half of the text": (
        stays(names(_ARTICLE), lambda n: f"<div class=sidebar id=it>{words(n)}</div>{words(1_000)}"), 1_001),
    "text that must be left": (
        goes(names(_ARTICLE), lambda n: f"<div class=sidebar id=it>{words(100)}</div>{words(n)}"), 200),
    "large": (
        stays(names(_ARTICLE), lambda n: f"<div class=sidebar id=it>{prose(n)}</div>{prose(300)}{words(3_000)}"), 501),
    "share of the prose": (
        stays(names(_ARTICLE), lambda n: f"<div class=sidebar id=it>{prose(n)}</div>{prose(1_000)}{words(3_000)}"), 819),
    "about a member": (
        stays(names(_FORUM), lambda n: f"<div class=userinfo id=it>{prose(n)}</div>{prose(1_000)}"), 250),
    "about the author": (
        stays(names(_ARTICLE), lambda n: f"<div class=byline id=it>{words(n)}</div>{words(5_000)}"), 600),
    "links about the author": (
        goes(names(_ARTICLE), lambda n: f"<div class=byline id=it>{words(700)}{link(min(n, 900))}</div>{words(5_000)}"), 701),
    "beside comments": (
        goes(names(_ARTICLE), lambda n: f"<div class=comments id=it>{prose(100)}</div>{prose(n)}"), 250),
}  # fmt: skip


def has(measure_of: str, page: Callable[[int], str]) -> Probe:
    def probe(count: int) -> bool:
        _tree, elements = measured(page(count))
        return bool(getattr(named(elements, "it"), measure_of))

    return probe


MEASURES = {
    "prose": (has("prose", lambda n: f"<div id=it>{prose(n)}</div>"), 25),
    "a long paragraph": (has("long", lambda n: f"<div id=it>{prose(n)}</div>"), 140),
    "prose beside links": (
        has("prose", lambda n: f"<div id=it><p>{link(50)}{'x' * n}</p></div>"), 51),
}  # fmt: skip

_OTHERS = "<li class=card>no link</li>"


def is_no_row(page: Callable[[int], str]) -> Probe:
    probe = is_row(page)
    return lambda count: not probe(count)


CARDS = {
    "cards of a row": (is_row(lambda n: f"<ul>{card(20) * min(n, 50)}</ul>"), 3),
    "share of siblings": (is_row(lambda n: f"<ul>{card(20) * min(n, 50)}{_OTHERS * 10}</ul>"), 24),
    "longest": (is_no_row(lambda n: f"<ul>{card(n) * 3}</ul>"), 601),
    "most prose": (is_no_row(lambda n: f"<ul>{card(150, prosaic=n) * 3}</ul>"), 351),
    "shortest": (is_row(lambda n: f"<ul>{card(12, min(n, 20)) * 3}</ul>"), 3),
    "least linked": (is_row(lambda n: f"<ul>{card(min(n, 50), 10) * 3}</ul>"), 12),
    "short": (is_no_row(lambda n: f"<ul>{card(20, n) * 3}</ul>"), 230),
    "share of links": (is_row(lambda n: f"<ul>{card(min(n, 200), 300) * 3}</ul>"), 100),
}  # fmt: skip


def headed(inner: str, heading: str = "<h3>Share this</h3>") -> str:
    return f"<div id=it>{heading}{inner}</div>"


SECTIONS = {
    "something below the heading": (goes(sections(), lambda n: headed(words(min(n, 9)), "<div>Share</div>") + prose(9_000)), 3),
    "a heading": (
        stays(sections(), lambda n: headed("<p>yyy</p>", f"<h3>Share this{'!' * n}</h3>") + prose(9_000)), 61),
    "a label": (stays(sections(), lambda n: headed("<p>yyy</p>", f"<div>Share{'!' * n}</div>") + prose(9_000)), 56),
    "share of the prose": (stays(sections(), lambda n: headed(prose(n)) + prose(1_000)), 429),
    "share of the text": (stays(sections(), lambda n: headed(words(n)) + words(1_000)), 990),
    "prose": (stays(sections(), lambda n: headed(prose(min(n, 3_000))) + prose(9_000)), 600),
    "links": (
        goes(sections(), lambda n: headed(f"{prose(1_000)}<p>{link(min(n, 900))}</p>") + prose(9_000)), 113),
    "a label in a line": (
        stays(sections(), lambda n: headed("<p>y</p>", f"<p><span>Share</span>{'x' * n}</p>") + prose(9_000)), 66),
    "parts of a label": (
        stays(sections(), lambda n: headed("<p>yyy</p>", f"<div>Share{'<b></b>' * min(n, 9)}</div>") + prose(9_000)), 4),
    "sections of a page": (
        stays(
            sections(),
            lambda n: prose(9_000) + "<div><h3>Share this</h3><p>yyy</p></div>" * min(n, 250) + headed("<p>yyy</p>"),
        ), 200),
}  # fmt: skip


def rooted(inner: str) -> str:
    return f"<div id=root>{inner}</div>"


def row(*parts: str) -> str:
    return f"<ul id=it>{''.join(parts)}</ul>"


TEASERS = {
    "the last paragraph": (
        stays(teasers(_ARTICLE), lambda n: rooted(prose(5_000) + row(card(20, 15) * 3) + prose(n))), 140),
    "links of the last paragraph": (
        goes(
            teasers(_ARTICLE),
            lambda n: rooted(prose(5_000) + row(card(20, 15) * 3) + f"<p>{'x' * 200}{link(min(n, 900))}</p>"),
        ), 86),
    "largest": (stays(teasers(_ARTICLE), lambda n: rooted(prose(1_000) + row(card(n) * 3))), 223),
    "links below the text": (
        goes(teasers(_ARTICLE), lambda n: rooted(prose(5_000) + row(card(min(n, 300), 40) * 3))), 40),
    "links inside the text": (
        goes(teasers(_ARTICLE), lambda n: rooted(prose(5_000) + row(card(min(n, 300), 40) * 3) + prose(200))), 94),
    "links inside a product": (
        goes(teasers(_PRODUCT), lambda n: rooted(prose(5_000) + row(card(min(n, 300), 40) * 3) + prose(200))), 40),
    "most of what is around": (
        stays(teasers(_ARTICLE), lambda n: rooted(prose(5_000) + row(card(40) * 3, f"<li>{'w' * n}</li>"))), 41),
    "a large row with its heading": (
        stays(
            teasers(_ARTICLE),
            lambda n: rooted(prose(5_000) + f"<div id=it><h3>{'w' * n}</h3><ul>{card(100) * 3}</ul></div>"),
        ), 166),
    "a small row with its heading": (
        stays(
            teasers(_ARTICLE),
            lambda n: rooted(prose(5_000) + f"<div id=it><h3>{'w' * n}</h3><ul>{card(40) * 3}</ul></div>"),
        ), 103),
}  # fmt: skip


def items(count: int, linked: int) -> str:
    return f"<li>{link(linked)}</li>" * count


LINKS = {
    "a root of links": (
        stays(links(), lambda n: rooted(row(items(4, 10)) + prose(100) + f"<p>{link(n)}</p>")), 83),
    "all linked": (stays(links(), lambda n: rooted(prose(5_000) + row(items(4, 40), f"<li>{'w' * n}</li>"))), 40),
    "share of the text": (goes(links(), lambda n: rooted(row(items(4, 60)) + prose(n))), 561),
    "items of a large list": (goes(links(), lambda n: rooted(prose(5_000) + f"<div id=it>{link(60) * min(n, 9)}</div>")), 3),
    "half linked": (stays(links(), lambda n: rooted(prose(5_000) + row(items(4, 20), f"<li>{'w' * n}</li>"))), 80),
    "small": (stays(links(), lambda n: rooted(prose(90_000) + row(items(4, n), f"<li>{'w' * 3 * n}</li>"))), 29),
    "items of a small list": (
        goes(links(), lambda n: rooted(prose(5_000) + f"<div id=it>{(link(20) + 'w' * 15) * min(n, 5)}</div>")), 5),
    "long links": (stays(links(_LISTING), lambda n: rooted(prose(90_000) + f"<div id=it>{link(n) * 4}</div>")), 31),
}  # fmt: skip


@pytest.mark.parametrize(
    ("probe", "count"),
    [
        pytest.param(*row, id=f"{table}: {name}")
        for table, rows in {
            "kinds": KINDS,
            "roots": ROOTS,
            "others": OTHERS,
            "chrome": CHROME,
            "names": NAMES,
            "measures": MEASURES,
            "cards": CARDS,
            "sections": SECTIONS,
            "teasers": TEASERS,
            "links": LINKS,
        }.items()
        for name, row in rows.items()
    ],
)
def test_a_rule_turns_at_its_number(first: First, probe: Probe, count: int):
    assert first(probe) == count
