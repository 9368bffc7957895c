"""Lists of declarations are read as browsers read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.html.declarations import Value, parse_declarations, unescaped


@pytest.mark.parametrize(
    ("style", "values"),
    [
        ("DISPLAY : None ;", {"display": "none"}),
        ("--X:None;color:var(--X)", {"--x": "none", "color": "var(--x)"}),
        ("d\\69 splay:none", {"display": "none"}),
        ("display:none;display:block", {"display": "block"}),
        ("display:none;display:nope", {"display": "none"}),
        ("color:red;color:nocolour", {"color": "red"}),
        ("visibility:hidden;visibility:0", {"visibility": "hidden"}),
        ("-webkit-opacity:0", {"opacity": "0"}),
        ("inset:1px 2px 3px", {"top": "1px", "right": "2px", "bottom": "3px", "left": "2px"}),
        ("inset-inline:1px 2px", {"left": "1px", "right": "2px"}),
        ("overflow-y:clip", {"overflow": "clip"}),
        ("inline-size:0", {"width": "0"}),
        ("quotes:';display:none'", {}),
        ("x:(;display:none)", {}),
        ("x:(a(b);display:none)", {}),
        ("/*display:none*/", {}),
        ("x-display:none;display", {}),
    ],
)
def test_a_list_of_declarations_is_read(style: str, values: dict[str, str]):
    assert {name: value.text for name, value in parse_declarations(style).items()} == values


def test_what_is_important_stays():
    assert parse_declarations(
        "display:none ! IMPORTANT;display:block;left:1px!important;left:2px!important"
    ) == {"display": Value("none", is_important=True), "left": Value("2px", is_important=True)}


def test_everything_is_reset_at_once():
    assert parse_declarations("display:none;all:revert")["display"] == Value("revert")


@pytest.mark.parametrize(
    "style",
    [
        *("a" * 200_000, "a:" + "(" * 100_000, "a:" + "'\"" * 50_000, "(a" * 50_000),
        *("/*" * 100_000, "\\" * 100_000, "a:'" * 50_000, "- " * 100_000, "a:((" * 40_000),
        *("color:" + "#" * 50_000, ";" * 200_000, "a:b!important" * 20_000, "display" * 50_000),
    ],
    ids=lambda style: style[:8],
)
def test_hostile_styles_are_read_to_their_end(style: str):
    parse_declarations(style)
    parse_declarations(style + "'")


@pytest.mark.parametrize(
    ("css", "text"),
    [("a\\62 c", "abc"), ("\\110000 \\d800 \\0 x", "\ufffd\ufffd\ufffdx"), ("a/*b*/c/*d", "ac")],
)
def test_escapes_and_comments_are_resolved(css: str, text: str):
    assert unescaped(css) == text


@given(st.text(alphabet="displaynoe:;()'\"/*\\0123 %#-!cr.", max_size=60))
def test_any_style_can_be_read(style: str):
    assert all(value.text == value.text.strip() for value in parse_declarations(style).values())
