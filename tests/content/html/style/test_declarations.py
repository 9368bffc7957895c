"""Which declarations hide text, and which do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.html.style.declarations import (
    Hidden,
    hidden,
    may_hide,
    may_matter,
    parse,
    plain,
    shown,
)

BOX, VISIBILITY, SIZE, COLOUR = Hidden.BOX, Hidden.VISIBILITY, Hidden.SIZE, Hidden.COLOUR

HIDES = [
    *(("display:none", BOX), ("DISPLAY : None ! IMPORTANT", BOX), ("color:red;display:none;", BOX)),
    *(("dis/**/play:none", BOX), ("d\\69 splay:none", BOX), ("/*x*/display:none/*", BOX)),
    *(("display:block;display:none", BOX), ("display:none!important;display:block", BOX)),
    *(("content-visibility:hidden", BOX), ("background:url(a;b:c);display:none", BOX)),
    *(("opacity:0", BOX), ("opacity:0.0;", BOX), ("opacity:.01", BOX), ("opacity:0%", BOX)),
    *(("visibility:hidden", VISIBILITY), ("visibility:collapse", VISIBILITY)),
    *(("font-size:0", SIZE), ("font-size:1px", SIZE), ("font-size:0.01em", SIZE)),
    *(("font-size:1%", SIZE), ("font:0/0 a", SIZE), ("font:bold 1px/2 x", SIZE)),
    *(("position:absolute;left:-9999px", BOX), ("position:fixed;top:-1000em", BOX)),
    *(("position:absolute;right:-999px", BOX), ("position:absolute;left:-100vw", BOX)),
    *(("text-indent:-9999px", BOX), ("margin-left:-9999px", BOX)),
    *(
        ("position:absolute;clip:rect(0 0 0 0)", BOX),
        ("position:fixed;clip:rect(1px,1px,1px,1px)", BOX),
    ),
    *(("clip-path:inset(50%)", BOX), ("clip-path:inset(100%)", BOX), ("clip-path:circle(0)", BOX)),
    *(("clip-path:inset(0 0 100% 0)", BOX), ("-webkit-clip-path:polygon(0 0,0 0,0 0)", BOX)),
    *(("width:1px;height:1px;overflow:hidden", BOX), ("height:0;overflow-y:hidden", BOX)),
    *(("transform:scale(0)", BOX), ("transform:rotate(3deg) scaleY(0)", BOX), ("scale:0", BOX)),
    *(("transform:translateX(-9999px)", BOX), ("-webkit-transform:scale3d(0,1,1)", BOX)),
    *(
        ("color:#fff;background:#ffffff", COLOUR),
        ("color:white;background-color:rgb(254,255,255)", COLOUR),
    ),
    *(("color:transparent", COLOUR), ("color:rgba(0,0,0,0)", COLOUR), ("color:#0000", COLOUR)),
    *(("color:rgb(1 2 3 / 1%)", COLOUR), ("color:#010203;background:black", COLOUR)),
]
STAYS = [
    *(
        "",
        "display:block",
        "x-display:none-at-all",
        "--x:none;display:flex",
        "content:'display:none'",
    ),
    *(
        "opacity:0.5",
        "opacity:05",
        "opacity:none",
        "visibility:visible",
        "display:none;display:block",
    ),
    *("font-size:0.9em", "font-size:62.5%", "font:400 14px/1.5 x", "font-size:inherit"),
    *("left:-9999px", "position:relative;left:-9999px", "position:absolute;left:-100%"),
    *("position:absolute;left:-20px", "text-indent:-2em", "margin-left:-15px"),
    *(
        "clip:rect(0,0,0,0)",
        "position:absolute;clip:auto",
        "position:absolute;clip:rect(0,9px,9px,0)",
    ),
    *("clip-path:inset(10% 10%)", "clip-path:none", "clip-path:circle(50%)", "overflow:hidden"),
    *("width:0;height:0", "height:0;overflow:visible", "height:2em;overflow:hidden"),
    *("max-height:0;overflow:hidden", "width:100%;overflow:hidden"),
    *("transform:scale(1)", "transform:scale(0.5)", "transform:translate(-50%,-50%)", "scale:1"),
    *(
        "color:#fff",
        "color:#fff;background:#000",
        "background:#fff",
        "color:#fff;background:url(x) #fff",
    ),
    *("color:transparent;background-clip:text", "color:transparent;-webkit-background-clip:text"),
    *(
        "color:var(--x)",
        "color:#12",
        "color:rgb(1.2.3,0,0)",
        "color:inherit",
        "display",
        ":none",
        ";;;",
    ),
]


@pytest.mark.parametrize(("style", "way"), HIDES, ids=[row[0] for row in HIDES])
def test_text_is_hidden_by(style: str, way: Hidden):
    assert hidden(parse(style)) == {way}


@pytest.mark.parametrize("style", STAYS)
def test_text_is_seen_with(style: str):
    assert hidden(parse(style)) == set()


@pytest.mark.parametrize(
    ("style", "ways"),
    [
        ("visibility:visible", {VISIBILITY}),
        ("font-size:12px", {SIZE}),
        ("font-size:1rem", {SIZE}),
        ("font-size:medium", {SIZE}),
        ("font-size:2em", set()),
        ("font-size:100%", set()),
        ("font-size:0", set()),
        ("font-size:inherit", set()),
        ("color:#123", {COLOUR}),
        ("color:transparent", set()),
        ("color:inherit", set()),
        ("display:block", set()),
    ],
)
def test_what_is_inherited_can_be_undone(style: str, ways: set[Hidden]):
    assert shown(parse(style)) == ways


@pytest.mark.parametrize(
    "style",
    [
        *(
            "a" * 200_000,
            "a:" + "(" * 100_000,
            "a:" + "'\"" * 50_000,
            "(a" * 50_000,
            "/*" * 100_000,
        ),
        *("\\" * 100_000, "a:'" * 50_000, "- " * 100_000, "color:" + "#" * 50_000, "a:((" * 40_000),
        *("transform:" + "scale(" * 20_000, "clip:rect(" + "0," * 20_000, "font:" + "1 " * 20_000),
        "\\110000 \\d800 \\0 display:none",
    ],
)
def test_hostile_styles_are_read_to_their_end(style: str):
    hidden(parse(style))


@given(st.text(alphabet="displaynoe:;()'\"/*\\0123 %#-!cr.", max_size=60))
def test_any_style_can_be_read(style: str):
    values = parse(style)
    assert not hidden(values) & shown(values)


@pytest.mark.parametrize("style", [style for style, _ in HIDES])
def test_nothing_that_hides_is_passed_over_unread(style: str):
    assert may_hide(plain(style))
    assert may_matter(plain(style))


VALUES = st.sampled_from(
    ["none", "hidden", "collapse", "0", "0px", "1px", "1", "1.5px", ".01", "5%", "0%", "-1000px", "-99em", "-100vw",
     "-11in", "rect(0,0,0,0)", "inset(50%)", "circle(0)", "polygon(0 0)", "scale(0)", "translate(-1000px)", "absolute",
     "transparent", "#fff", "#0000", "white", "rgb(1 2 3 / 1%)", "rgba(0,0,0,0)", "hsl(0 0% 100%)", "bold 1px/2 x", "-0"]
)  # fmt: skip
NAMES = st.sampled_from(
    ["display", "content-visibility", "visibility", "opacity", "font-size", "font", "position", "left", "top",
     "text-indent", "margin-left", "clip", "clip-path", "overflow", "overflow-y", "width", "height", "transform",
     "scale", "color", "background-color", "background", "-webkit-transform", "-webkit-clip-path"]
)  # fmt: skip


@given(st.lists(st.builds("{}:{}".format, NAMES, VALUES), min_size=1, max_size=4).map(";".join))
def test_a_style_that_hides_is_never_taken_for_one_that_cannot(style: str):
    halves = "position:absolute;overflow:hidden;"
    if hidden(parse(halves + style)) - hidden(parse(halves)):
        assert may_hide(style)
