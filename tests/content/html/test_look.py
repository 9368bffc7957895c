"""Which declarations hide text, and which do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.html.declarations import WHITE, Colour, parse_declarations
from searx_mcp.content.html.look import Look, ground_of, look

PLAIN = Look()
HIDES = [
    "display:none", "DISPLAY : None ! IMPORTANT", "color:red;display:none;", "dis/**/play:none",
    "d\\69 splay:none", "/*x*/display:none/*", "display:block;display:none",
    "display:none!important;display:block", "content-visibility:hidden",
    "background:url(a;b:c);display:none", "opacity:0", "opacity:0.0;", "opacity:.01",
    "opacity:0%", "visibility:hidden", "visibility:collapse", "font-size:0", "font-size:1px",
    "font-size:0.01em", "font-size:1%", "font:0/0 a", "font:bold 1px/2 x",
    "position:absolute;left:-9999px", "position:fixed;top:-1000em",
    "position:absolute;right:-999px", "position:absolute;left:-100vw", "text-indent:-9999px",
    "margin-left:-9999px", "position:absolute;clip:rect(0 0 0 0)",
    "position:fixed;clip:rect(1px,1px,1px,1px)", "clip-path:inset(50%)", "clip-path:inset(100%)",
    "clip-path:circle(0)", "clip-path:inset(0 0 100% 0)",
    "-webkit-clip-path:polygon(0 0,0 0,0 0)", "width:1px;height:1px;overflow:hidden",
    "height:0;overflow-y:hidden", "max-height:0;overflow:hidden", "transform:scale(0)", "transform:rotate(3deg) scaleY(0)",
    "scale:0", "transform:translateX(-9999px)", "-webkit-transform:scale3d(0,1,1)",
    "color:#fff;background:#ffffff", "color:white;background-color:rgb(254,255,255)",
    "color:transparent", "color:rgba(0,0,0,0)", "color:#0000", "color:rgb(1 2 3 / 1%)",
    "color:#010203;background:black",
]  # fmt: skip
STAYS = [
    "", "display:block", "x-display:none-at-all", "--x:none;display:flex",
    "content:'display:none'", "opacity:0.5", "opacity:05", "opacity:none", "visibility:visible",
    "display:none;display:block", "font-size:0.9em", "font-size:62.5%", "font:400 14px/1.5 x",
    "font-size:inherit", "left:-9999px", "position:absolute;left:-100%",
    "position:absolute;left:-20px", "text-indent:-2em", "margin-left:-15px", "clip:rect(0,0,0,0)",
    "position:absolute;clip:auto", "position:absolute;clip:rect(0,9px,9px,0)",
    "clip-path:inset(10% 10%)", "clip-path:none", "clip-path:circle(50%)", "overflow:hidden",
    "width:0;height:0", "height:0;overflow:visible", "height:2em;overflow:hidden",
    "max-height:0;overflow:hidden;transition:max-height .3s", "max-height:0", "width:100%;overflow:hidden", "transform:scale(1)",
    "transform:scale(0.5)", "transform:translate(-50%,-50%)", "scale:1", "color:#fff",
    "color:#fff;background:#000", "background:#fff", "color:#fff;background:url(x) #fff",
    "color:transparent;background-clip:text", "color:transparent;-webkit-background-clip:text",
    "color:#12", "color:rgb(1.2.3,0,0)", "color:inherit", "display", ":none", ";;;",
    "position:relative;left:-900px", "color:oklch(50% 0.1 200)", "color:light-dark(#fff,#000)",
]  # fmt: skip


def seen(style: str, around: Look = PLAIN) -> Look:
    return look({name: value.text for name, value in parse_declarations(style).items()}, around)


@pytest.mark.parametrize("style", HIDES)
def test_text_is_hidden_by(style: str):
    assert seen(style).is_hidden


@pytest.mark.parametrize("style", STAYS)
def test_text_is_seen_with(style: str):
    assert not seen(style).is_hidden


@pytest.mark.parametrize(
    ("around", "style", "is_hidden"),
    [
        (Look(is_invisible=True), "visibility:visible", False),
        (Look(is_invisible=True), "visibility:inherit", True),
        (Look(size=0), "font-size:12px", False),
        (Look(size=0), "font-size:1rem", False),
        (Look(size=0), "font-size:medium", False),
        (Look(size=0), "font-size:2em", True),
        (Look(size=0), "font-size:100%", True),
        (Look(size=0), "font-size:larger", True),
        (Look(size=4), "font-size:.4em", True),
        (Look(opacity=0.2), "opacity:.2", True),
        (Look(opacity=0.02), "opacity:1", True),
        (Look(is_gone=True), "display:block", True),
        (Look(ink=Colour(0, 0, 0, 0)), "color:#123", False),
        (Look(ink=Colour(0, 0, 0, 0)), "color:inherit", True),
        (Look(ink=WHITE, ground=WHITE), "background:#000", False),
        (Look(ink=WHITE, ground=WHITE), "position:relative", False),
        (Look(ink=WHITE, ground=WHITE), "background:none", True),
        (Look(ground=WHITE), "color:#fff", True),
        (Look(), "color:#fff", False),
    ],
)
def test_what_is_around_an_element_counts(around: Look, style: str, *, is_hidden: bool):
    assert seen(style, around).is_hidden is is_hidden


@pytest.mark.parametrize(
    ("style", "ground"),
    [
        ("background:#fff url(x.png)", None),
        ("background:no-repeat #fff", WHITE),
        ("background:rgba(255,255,255,.5)", None),
        ("background:linear-gradient(to right,#fff,#fff 50%)", WHITE),
        ("background:linear-gradient(#fff,#000)", None),
        ("background-color:var(--x)", None),
    ],
)
def test_what_is_painted_behind_text_is_known_if_it_is_one_colour(
    style: str, ground: Colour | None
):
    assert (
        ground_of({name: value.text for name, value in parse_declarations(style).items()}) == ground
    )


@pytest.mark.parametrize(
    "style",
    [
        *("transform:" + "scale(" * 20_000, "clip:rect(" + "0," * 20_000, "font:" + "1 " * 20_000),
        *("transform:" + "a" * 100_000, "background:" + "a(" * 50_000, "mask:" + "(" * 50_000),
        *("background:linear-gradient(" + "," * 50_000, "color:" + "#" * 50_000),
        *("left:calc(" + "(" * 50_000, "left:" + "9" * 50_000, "color:rgb(" + "1 " * 50_000 + ")"),
    ],
    ids=lambda style: style[:20],
)
def test_hostile_styles_are_looked_at_to_their_end(style: str):
    seen(f"{style};position:absolute;overflow:hidden")


VALUES = st.text(alphabet="0129.-%pxem()calc+*/ ,#f", max_size=30)


@given(st.sampled_from(["left", "color", "font", "transform", "background", "opacity"]), VALUES)
def test_any_style_can_be_looked_at(name: str, value: str):
    seen(f"position:absolute;{name}:{value}")
