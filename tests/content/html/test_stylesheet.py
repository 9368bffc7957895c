"""Style sheets are read to their end, except rules that no element of the page can match."""

import pytest

from searx_mcp.content.html.stylesheet import MAX_CSS, MAX_RULES, StyleSheet


def texts(sheet: StyleSheet) -> list[str]:
    return [rule.text for rule in sheet.declaring(["left"])]


@pytest.mark.parametrize(
    ("css", "rules"),
    [
        (".a,b .c{left:0}", [".a", "b .c"]),
        (".a{x:y}", []),
        ("@media print{.a{left:0}}.b{left:0}", [".b"]),
        ("@media screen{@supports (display:flex){.a{left:0}}}", [".a"]),
        ("@keyframes x{from{left:0}}@font-face{left:0}.b{left:0}", [".b"]),
        (".a{left:0;.b &{left:0}> .c{left:0}}", [".a", ".b .a", ".a > .c"]),
        (".a:is(.b,.c),[x=','],d{left:0}", [".a:is(.b,.c)", "[x=',']", "d"]),
        ("@scope (.a){.b{left:0}}", [".a .b"]),
        (".a{content:'}';left:0}.b{left:0}", [".a", ".b"]),
        (".a{left:0;background:url({)}.b{left:0}", [".a", ".b"]),
        ("/*}*/.a{left:0}<!-- .b{left:0}", [".a", ".b"]),
        (".a{left:0", [".a"]),
        ("@media screen{.a{left:0", [".a"]),
        ("@media screen{" * 31 + ".a{left:0", [".a"]),
        ("@media screen{" * 32 + ".a{left:0", []),
        ("}.a{left:0}", [".a"]),
    ],
)
def test_the_rules_of_a_style_sheet_are_found(css: str, rules: list[str]):
    assert texts(StyleSheet(css)) == rules


def test_rules_for_what_a_page_has_not_are_left_out():
    css = ".a .b{left:0}.a{left:0}p:not(.b){left:0}.a,.b{left:0}"
    assert texts(StyleSheet(css, {"a"})) == [".a", "p:not(.b)", ".a"]


def test_of_rules_for_some_readers_only_what_they_paint_is_kept_as_unknown():
    (rule,) = StyleSheet("@media (max-width:600px){p{display:none;color:#fff}}").declaring(
        ["color"]
    )
    assert list(rule.style) == ["color"]
    assert rule.style["color"].text != "#fff"


@pytest.mark.parametrize(
    "css",
    [
        *("{" * 200_000, "}" * 200_000, "a{" * 100_000, "a{left:0}" * 9_000, "@media screen{" * 15_000),
        *("a" * 200_000, ".a" * 90_000 + "{left:0}", "a," * 90_000 + "{left:0}", "a " * 90_000 + "{left:0}"),
        *('a{"' * 50_000, "<!--" * 50_000, "/*" * 100_000, "@" * 200_000, "\\" * 200_000, "a{url(" * 40_000),
        *(".a,.b{" * 20_000, ":is(" * 50_000 + "{left:0}", ":not(" * 200 + "{left:0}", "[" * 100_000 + "{left:0}", "[x='" * 50_000 + "{left:0}"),
        *("color:rgb(" * 100_000, "filter:" * 150_000, "color:a " * 120_000, "background:a " * 80_000, "font: " * 150_000, ":" * 900_000),
        *("@layer a{" * 20_000, "@media " + "(" * 100_000 + "{", "@supports " + "(display:none)" * 10_000 + "{"),
    ],
    ids=lambda css: css[:12],
)  # fmt: skip
def test_hostile_style_sheets_are_read_to_their_end(css: str):
    for sheet in (StyleSheet(css, {"x"}), StyleSheet(css)):
        assert (
            len([*sheet.declaring(["left"]), *sheet.declaring(sheet.declarations)]) <= 2 * MAX_RULES
        )


def test_style_sheets_and_rules_are_bounded_and_say_so():
    many = "".join(f".a{number}{{left:0}}" for number in range(MAX_RULES + 1))
    sheet = StyleSheet(many)
    assert len(texts(sheet)) == MAX_RULES
    assert sheet.is_cut
    assert StyleSheet(" " * MAX_CSS + ".h{left:0}").is_cut
    assert not StyleSheet(" " * (MAX_CSS - 10) + ".h{left:0}").is_cut
