"""Text that a page's style hides is gone, and nothing else is."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.hidden_elements import drop_hidden, style_sheet
from searx_mcp.content.html.selectors import MAX_SELECTOR
from searx_mcp.content.html.stylesheet import MAX_CSS, MAX_RULES
from searx_mcp.content.html.suspects import MAX_INLINE
from searx_mcp.content.page import ReadPage, read_page
from searx_mcp.content.tree import Removals
from searx_mcp.models.style import Style

SEEN = "<p>" + "A sentence that every reader of the page sees. " * 10 + "</p>"


def read(html: str) -> ReadPage:
    return read_page(html, url="https://ex.org/", style=Style(), max_chars=100_000_000)


def text_of(html: str) -> str:
    return read(SEEN + html).written.markdown


RULES = [
    pytest.param(".h{display:none}", "<p class=h>GONE", id="class"),
    pytest.param("aside-x{display:none}", "<aside-x>GONE</aside-x>", id="tag"),
    pytest.param("#h{display:none}", "<p id=h>GONE", id="id"),
    pytest.param("p.a.h{display:none}", "<p class='h x a'>GONE<p class=h>kept", id="compound"),
    pytest.param(".x,.h , .y{display:none}", "<p class=h>GONE", id="list"),
    pytest.param(".h:hover,.h{display:none}", "<p class=h>GONE", id="list with what is not read"),
    pytest.param(".a .h{display:none}", "<div class=a><i><b class=h>GONE</b></i></div><p class=h>kept", id="inside"),
    pytest.param(".a>.h{opacity:0}", "<div class=a><b class=h>GONE</b><i><b class=h>kept</b></i></div>", id="child"),
    pytest.param("@media screen{.h{display:none}}", "<p class=h>GONE", id="screens"),
    pytest.param("@media all {.x{} .h{display:none}}", "<p class=h>GONE", id="all media"),
    pytest.param("@import 'x';@charset 'y';.h{display:none}", "<p class=h>GONE", id="behind statements"),
    pytest.param("@font-face{a:b}.h{display:none}", "<p class=h>GONE", id="behind blocks"),
    pytest.param("<!-- .h{display:none} -->", "<p class=h>GONE", id="in comment marks"),
    pytest.param("/*.g{}*/.h{dis/**/play:none}", "<p class=h>GONE<p class=g>kept", id="comments"),
    pytest.param(".h{content:'}';display:none}", "<p class=h>GONE", id="brace in a string"),
    pytest.param(".\\68{display:none}", "<p class=h>GONE", id="escaped name"),
    pytest.param(".h{position:absolute}.h{left:-9999px}", "<p class=h>GONE", id="two halves"),
    pytest.param(".h{display:none!important}", "<p class=h style='display:block'>GONE", id="important"),
    pytest.param(".h{display:none}.h.a{display:block}", "<p class='h a'>kept<p class=h>GONE", id="stronger"),
    pytest.param(".h.a{display:block}.h{display:none}", "<p class='h a'>kept<p class=h>GONE", id="stronger first"),
    pytest.param(".h{display:none}.b .h{display:block}", "<p class=b><i class=h>kept</i></p><p class=h>GONE", id="undone inside"),
    pytest.param(".h{font-size:0}.g{font-size:9px}", "<p class=h>GONE<b class=g>kept</b>GONE</p>", id="size undone"),
    pytest.param(".h{visibility:hidden}.g{visibility:visible}", "<p class=h>GONE<b class=g>kept</b></p>", id="seen again"),
    pytest.param(".h{color:transparent}.g{display:none}", "<p class=h>GONE<b class=g>GONE</b></p>", id="both"),
    pytest.param(
        ".sr-only{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}",
        "<p class=sr-only>GONE",
        id="for screen readers only",
    ),
]  # fmt: skip
KEPT = [
    pytest.param("", "<p class=invisible-ink>kept", id="a name proves nothing"),
    pytest.param(".h{display:none}", "<p class=h style='display:block'>kept", id="inline"),
    pytest.param("@media print{.h{display:none}}", "<p class=h>kept", id="print"),
    pytest.param("@media screen and (max-width:9px){.h{display:none}}", "<p class=h>kept", id="small screens"),
    pytest.param("@media not screen{.h{display:none}}", "<p class=h>kept", id="not screens"),
    pytest.param("@supports (x:y){.h{display:none}}", "<p class=h>kept", id="conditions"),
    pytest.param("@keyframes x{from{opacity:0}}.h{color:red}", "<p class=h>kept", id="animation"),
    pytest.param(".h:hover{display:none}.h::before{display:none}", "<p class=h>kept", id="pseudo"),
    pytest.param(".H{display:none}", "<p class=h>kept", id="another class"),
    pytest.param(".h{max-height:0;overflow:hidden;transition:max-height 1s}", "<p class=h>kept", id="folded"),
    pytest.param("html,body{display:none}", "<p class=h>kept", id="the page's skeleton"),
    pytest.param("*{display:none}", "<p>kept", id="everything"),
    pytest.param("p{display:none", "", id="nothing there"),
    pytest.param(".h{display:none}.h{display:block}", "<p class=h>kept", id="taken back"),
]  # fmt: skip


@pytest.mark.parametrize(("css", "html"), [*RULES, *KEPT])
def test_rules_of_the_page_hide_what_they_say(css: str, html: str):
    text = text_of(f"<style>{css}</style>{html}")
    assert "GONE" not in text
    assert text.count("kept") == html.count("kept")


@pytest.mark.parametrize(
    "attributes", ["media=print", "media='screen and (min-width:999px)'", "type=text/less"]
)
def test_style_sheets_for_something_else_hide_nothing(attributes: str):
    assert "kept" in text_of(f"<style {attributes}>.h{{display:none}}</style><p class=h>kept")


def test_style_for_readers_without_scripts_hides_nothing():
    html = "<noscript><style>.h{display:none}</style></noscript><p class=h>kept"
    assert "kept" in text_of(html)


@pytest.mark.parametrize(
    ("style", "kept"),
    [
        ("display:none", False),
        ("position:absolute;left:-9999px", False),
        ("color:#fff;background:#fff", False),
        ("left:-9999px", True),
        (f"{'x:y;' * 400}display:none", False),
    ],
)
def test_inline_styles_hide_what_they_say(style: str, *, kept: bool):
    assert ("TEXT" in text_of(f'<p style="{style}">TEXT</p>')) is kept


def page(css: str, body: str) -> LexborHTMLParser:
    return LexborHTMLParser(f"<style>{css}</style>{body}")


def dropped(tree: LexborHTMLParser) -> tuple[bool, str]:
    style = style_sheet(tree)
    for node in tree.css("style"):
        node.decompose()
    passed = drop_hidden(tree, style, Removals())
    assert not passed.is_cut
    assert tree.body is not None
    return passed.is_uncovered, tree.body.text()


GONE = "<p style='display:none;opacity:0'>GONE</p>"
FADED = f"<div style='opacity:0;transform:translateY(20px)'>{SEEN}</div>"
SITE = f"<nav>{'A menu of the site. ' * 20}</nav>"
WRAPPED = "".join(f"<div class=a{number}>" for number in range(20)) + SEEN


def waiting(style: str) -> str:
    """A page that an element hides until it is loaded."""
    hidden = f"<p style='{style}'>GONE</p>"
    return f"<div style='{style}'><div style='{style}'>{SEEN}{hidden}</div></div>"


@pytest.mark.parametrize(
    ("css", "body"),
    [
        pytest.param("#app{opacity:0}", f"<div id=app>{SEEN}</div>", id="until loaded"),
        pytest.param(".a,.b{visibility:hidden}", f"<div class=a><p class=b>{SEEN}</p></div>", id="twice"),
        pytest.param(".a{display:none}p{opacity:0}", f"<div class=a>{SEEN}</div>", id="one in another"),
        pytest.param(".a{display:none}" * 100, f"<div class=a>{SEEN}</div>", id="repeated"),
        pytest.param(
            "".join(f".a{number}{{opacity:0}}" for number in range(20)), f"{WRAPPED}<p style='display:none'>GONE",
            id="under many others",
        ),
        pytest.param("", FADED * 2 + GONE, id="faded in"),
        pytest.param("", waiting("visibility:hidden"), id="an element until loaded"),
        pytest.param("", waiting("display:none;opacity:0"), id="an element, in two ways"),
        pytest.param(
            "#app{opacity:0}.h{display:none}", f"<div id=app>{SEEN}<p class=h>GONE</p></div>", id="beside another rule"
        ),
        pytest.param("main{visibility:hidden}", f"{SITE}<main>{SEEN}</main>", id="the main element until loaded"),
        pytest.param(".a{opacity:0}", f"{SITE}<div class=a><main>{SEEN}</main></div>", id="around the main element"),
        pytest.param("", f"{SITE}<main><p>shown</p>{FADED}</main>", id="faded in in the main element"),
    ],
)  # fmt: skip
def test_what_would_hide_most_of_the_page_does_not_count(css: str, body: str):
    is_uncovered, text = dropped(page(css, body))
    assert is_uncovered
    assert "GONE" not in text
    assert text.count("every reader") == 10 * body.count(SEEN)


@pytest.mark.parametrize(
    ("css", "body"),
    [
        pytest.param("", f"{SEEN}<p style='opacity:0'>GONE</p>", id="a little that is transparent"),
        pytest.param("", f"shown{'<p style=display:none>GONE GONE</p>' * 9}", id="many together"),
        pytest.param(
            "", "<div style='visibility:hidden'>GONE<p style='visibility:visible'>shown, seen</p></div>",
            id="around what is visible",
        ),
        pytest.param(
            "", "shown<p style='display:none;position:absolute;left:-9999px'>GONE GONE GONE</p>",
            id="also hidden in another way",
        ),
        pytest.param(".h{display:none}", f"{SEEN}{'<div class=h>' * 60}GONE", id="inside hidden text"),
        pytest.param("main{display:none}", f"{SEEN}<main>GONE</main>", id="a small main element"),
        pytest.param(".h{display:none}", f"<main class=h>{'GONE ' * 60}</main><main>{SEEN}</main>", id="one of two main elements"),
    ],
)  # fmt: skip
def test_what_else_is_hidden_stays_hidden(css: str, body: str):
    is_uncovered, text = dropped(page(css, body))
    assert not is_uncovered
    assert "every reader" in text or "shown" in text
    assert "GONE" not in text


def test_elements_that_hide_each_other_and_most_of_the_page_stay_hidden_in_the_end():
    html = f"<p>shown</p>{'<div style=display:none>' * 9}GONE GONE GONE"
    assert "GONE" not in dropped(page("", html))[1]


@pytest.mark.parametrize(("tag", "is_uncovered"), [("p", True), ("b", False)])
def test_a_page_that_is_shown_uncovered_says_so(tag: str, *, is_uncovered: bool):
    assert read(f"<style>{tag}{{display:none}}</style>{SEEN}").is_uncovered is is_uncovered


def test_the_page_itself_is_never_hidden():
    html = "<div style='font-size:0'>GONE <div style='font-size:16px'>kept</div></div>"
    text = read(
        f"<html style='display:none'><body style='display:none'>{SEEN}{html}"
    ).written.markdown
    assert "every reader" in text
    assert text.endswith("kept"), "letters of no size leave the columns inside"
    assert "GONE" not in text


def test_of_a_long_style_sheet_the_rules_for_what_is_there_are_read():
    filler = "".join(f".f{number} .g{{color:red}}" for number in range(400))
    css = f"{filler}.a .h{{display:none}}#i{{opacity:0}}b.h{{display:none}}.x .h{{display:none}}"
    body = "<div class='z a'><p class='h y'>GONE</p></div><p id=i>GONE</p><b class=h>GONE</b><p class=h>kept"
    passed_over, text = dropped(page(css, SEEN + body))
    assert not passed_over
    assert "GONE" not in text
    assert text.endswith("kept")
    sheet = style_sheet(page(css, body))
    assert sheet is not None
    assert [rule.text for rule in sheet.declaring(["display", "opacity"])] == [".a .h", "#i", "b.h"]


def test_a_page_that_asks_too_much_is_given_up_on_and_says_so():
    css = (
        "".join(f"p:has(.b{number}){{display:none}}" for number in range(490)) + ".late{opacity:0}"
    )
    classes = " ".join(f"b{number}" for number in range(490))
    body = f"<i class='{classes}'></i>" + "<p>x" * 2_000 + "<p class=late>y"
    found = read(f"<style>{css}</style>{body}")
    assert found.is_style_cut
    assert "y" in found.written.markdown


@pytest.mark.parametrize(
    ("css", "style"),
    [
        pytest.param(" " * MAX_CSS + ".h{display:none}", "", id="style sheets"),
        pytest.param(".h{}.h{display:none}" * (MAX_RULES + 1), "", id="rules"),
        pytest.param("", "x:" + "y" * MAX_INLINE, id="styles of elements"),
        pytest.param(f"{'.h ' * MAX_SELECTOR}{{display:none}}", "", id="selectors"),
        pytest.param(
            f"{','.join(['p'] * 9)}{{{','.join(['.h'] * 9)}{{display:none}}}}", "", id="nested"
        ),
    ],
)
def test_what_is_not_looked_at_is_not_shown_silently(css: str, style: str):
    page = f"<style>{css}</style>{SEEN}<p class=h style='{style}'>TEXT"
    assert read(page).is_style_cut
    assert not read(f"<style>.h{{display:none}}</style>{SEEN}<p class=h>TEXT").is_style_cut


HOSTILE = {
    "many hidden": ("", "<p style='opacity:0'>x" * 3_000),
    "many rules": (
        "".join(f".r{number}{{display:none}}" for number in range(5_000)),
        "<p class=r4999>x" * 1_000,
    ),
    "around": ("div div div div div div b{display:none}", "<div>" * 400 + "<i>x"),
    "siblings": ("p ~ p ~ p ~ b{display:none}", "<p>x" * 3_000 + "<i>"),
    "places": ("p:nth-child(2n){display:none}", "<p>x" * 3_000),
    "questions": (
        "".join(f"p:not(.x{number}).y{{display:none}}" for number in range(500)),
        "<p>x" * 3_000,
    ),
    "children": (
        "".join(f"p:has(b.x{number}){{display:none}}" for number in range(500)),
        "<p>x" * 3_000,
    ),
    "later siblings": ("p:has(~ b){display:none}", "<p>x" * 20_000),
    "in one another": ("div:has(div:has(div:has(b))){display:none}", "<div>" * 400 + "<i>x"),
    "variables that multiply": (
        "".join(f":root{{--v{n}:var(--v{n + 1})var(--v{n + 1})}}" for n in range(60)),
        "<p style='display:var(--v0)'>x" * 100,
    ),
    "variables of many values": (
        "".join(f".c{n}{{--a:var(--b){n};--b:{n}}}" for n in range(2_000))
        + "".join(f"p{{left:calc(var(--a) + {n}px)}}" for n in range(2_000)),
        "<p>x" * 100,
    ),
    "colours that are nearly alike": (
        "".join(f"p{{color:#ff{n:04x}}}i{{background:#fe{n:04x}}}" for n in range(20_000)),
        "<link rel=stylesheet href=x><p>x" * 100,
    ),
    "colours of a few elements": (
        "".join(
            f"p{{color:rgb(255,{n / 9},{m / 9})}}i{{background:rgb(255,{n / 9},{m / 9})}}"
            for n in range(72)
            for m in range(72)
        ),
        "<link rel=stylesheet href=x><p>x" * 100,
    ),
    "far variables": ("", "<div>" * 400 + "<b style='display:var(--x,var(--y))'>x</b>" * 2_000),
    "deep": ("", "<div>" * 400 + "<b style=display:none>x</b>" * 2_000),
    "many around": (
        "div .z b{display:none}",
        "".join(f"<div class=c{number}>" for number in range(400))
        + "".join(f"<i class=d{number}><b>x</b></i>" for number in range(2_000)),
    ),
    "round": (":root{--a:var(--b)x;--b:var(--a)}", "<p style='display:var(--a)'>x" * 100),
}


@pytest.mark.parametrize(("css", "body"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_are_read_in_linear_time(css: str, body: str):
    # What took quadratic time would take minutes here.
    read(f"<style>{css}</style>{SEEN}{body}")


TABLE: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("tricks.toml").read_text("utf-8")
)
SHOWN = TABLE.pop("kept")
REVEALED = TABLE.pop("revealed")
CAUGHT = {f"{kind}: {name}": html for kind, rows in TABLE.items() for name, html in rows.items()}

LARGE = {
    "PAD": "x-y:z;" * 900,
    "RULES": "".join(f".r{number}{{display:none}}" for number in range(3_000)),
    "SHEET": ".s .t > .u:not(.v){color:#123;margin:0 auto}" * 7_000,
}
TAGS = 0xE0000


def text_around(html: str) -> str:
    for name, text in LARGE.items():
        html = html.replace(name, text)
    return read(f"<!doctype html><title>x</title><body>{SEEN}{html}{SEEN}").written.markdown


def test_the_table_is_large():
    assert len(CAUGHT) + len(REVEALED) >= 156
    assert len(CAUGHT) >= 140
    assert len(SHOWN) >= 30


@pytest.mark.parametrize("html", [pytest.param(html, id=name) for name, html in CAUGHT.items()])
def test_a_trick_is_caught_and_nothing_beside_it(html: str):
    text = text_around(html)
    letters = "".join(chr(ord(letter) - TAGS) if ord(letter) > TAGS else letter for letter in text)
    assert "GONE" not in letters
    assert text.count("kept") == html.count("kept")


@pytest.mark.parametrize("row", [pytest.param(row, id=name) for name, row in REVEALED.items()])
def test_what_a_page_alone_does_not_tell_is_shown(row: list[str]):
    html, reason = row
    text = text_around(html)
    assert "GONE" in text, reason
    assert text.count("kept") == html.count("kept")


@pytest.mark.parametrize("html", [pytest.param(html, id=name) for name, html in SHOWN.items()])
def test_what_everybody_sees_stays(html: str):
    assert text_around(html).count("kept") == html.count("kept")
