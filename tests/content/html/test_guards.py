"""What is removed from a page before it is parsed."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborNode

from searx_mcp.content.html import guards
from searx_mcp.content.html.guards import (
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_DOUBTFUL,
    MAX_FORMATTING,
    MAX_TAGS,
    guard,
    parse,
)


def _measured(html: str) -> tuple[int, int]:
    """The depth and the number of elements of a guarded page after parsing."""
    deepest = depth = count = 0
    node: LexborNode | None = parse(guard(html)).root
    while node is not None:
        deepest = max(deepest, depth)
        count += node.is_element_node
        if node.first_child is not None:
            node, depth = node.first_child, depth + 1
            continue
        while node is not None and node.next is None:
            node, depth = node.parent, depth - 1
        node = node.next if node is not None else None
    return deepest, count


def depth_of(html: str) -> int:
    """The depth of a guarded page after parsing."""
    return _measured(html)[0]


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("", id="empty"),
        pytest.param("<!doctype html><p>a<br>b<img src=x>", id="void elements"),
        pytest.param("<p>x" * 3_000, id="paragraphs without an end"),
        pytest.param("<ul>" + "<li><p>x" * 3_000, id="items without an end"),
        pytest.param("<dl>" + "<dt>a<dd>b" * 3_000, id="terms without an end"),
        pytest.param("<table>" + "<tr><td>x<td>y" * 3_000, id="rows without an end"),
        pytest.param("<select>" + "<option>x" * 3_000, id="options without an end"),
        pytest.param("<div><span>x</div>" * 3_000, id="inner elements without an end"),
        pytest.param("<script>" + "'<div>';" * 3_000 + "</script>x", id="markup in a script"),
        pytest.param("<style>" + "<div>" * 3_000, id="a style without an end"),
        pytest.param("<!--" + "<div>" * 3_000 + "-->x", id="markup in a comment"),
        pytest.param("<!--" + "<div>" * 3_000, id="a comment without an end"),
        pytest.param(f"<a title='{'>' * 9_000}'>x</a>", id="a long attribute"),
        pytest.param("<b>x</b><i>y</i>" * 3_000, id="formatting"),
        pytest.param("a < b && b > c", id="signs that are no markup"),
        pytest.param("<!x><?x></ x><!-->a<!--->b<!--x--!>c", id="comments of all forms"),
        pytest.param("<table>" + "<tr><td><b>x</b><td>y</tr>" * 3_000, id="cells without an end"),
        pytest.param("<span><div>x</span></div>" * 100, id="closing tags in the wrong order"),
        pytest.param("<math><mi>x</mi><mo>+</mo></math><title>x</title>" * 100, id="formulas"),
        pytest.param("<p><select><option>x<option>y</select>" * 300, id="choices"),
        pytest.param("<b><p>x</b></p>" * 8, id="some formatting in the wrong order"),
    ],
)
def test_ordinary_pages_pass_unchanged(html: str):
    assert guard(html) is html or guard(html) == html


@pytest.mark.parametrize(
    "unit",
    [
        *("<div>", "<ul><li>", "<blockquote>", "<table><tr><td>", "<li><dd>", "<x/>"),
        *("<DIV class='a>b'>", "<span><p>", "<font><p>", "<a><b><i>", "</p><div></br>"),
    ],
)
def test_nesting_is_bounded(unit: str):
    assert depth_of(unit * 3_000 + "end") <= 3 * MAX_DEPTH
    assert "end" in guard(unit * 3_000 + "end")


UNCLOSED = {
    "never closed": "<div><b id=#>x</div>",
    "closed in a select": "<div><b id=#><select></b></select>x</div>",
    "closed in a cell": "<div><b id=#><table><td></b></table>x</div>",
    "closed in an object": "<div><b id=#><object></b></object>x</div>",
    "closed in a template": "<div><b id=#><template></b></template>x</div>",
    "closed in a formula": "<div><b id=#><math><mi></b></math>x</div>",
    "closed in a button": "<div><b id=#><button></b></button>x</div>",
    "closed in a comment of an odd form": "<div><b id=#><!x </b>x</div>",
    "closed in a text": "<div><b id=#><math><![CDATA[></math></b>]]></math>x</div>",
    "closed in another one": "<div><b id=#></ </b>x</div>",
    "closed in a script in a script": "<div><b id=#><script><!--<script></script></b></script>--></script>x</div>",
    "behind a title that is none": "<div><b id=#><math><title></math><object></title></math></b>x</div></object>",
}


@pytest.mark.parametrize("unit", UNCLOSED.values(), ids=UNCLOSED)
@pytest.mark.parametrize("before", ["", "<math><title>", "<!--x--!>", "<math><![CDATA[<!--]]>"])
def test_formatting_that_is_never_closed_does_not_multiply(before: str, unit: str):
    page = before + "".join(unit.replace("#", str(number)) for number in range(300))
    _, elements = _measured(page)
    assert elements <= (MAX_FORMATTING + 8) * 300


def test_text_is_kept_where_formatting_is_dropped():
    page = "".join(f"<div><b id={number}>x</div>" for number in range(300))
    assert parse(guard(page)).text().count("x") == 300


@pytest.mark.parametrize(
    "unit",
    [
        "<form><div></form>", "<span><div></span>", "<p><span><div></div><x></p>", "<li><div><li></li><x></div>",
        "<td><div></td>", "<optgroup>", "<math><input>", "<math><tbody>", "<a><x></a><y></x>",
        "<td><x></td>", "<x><a></y><y></a><x></x>",
        "<frameset>", "<script><frameset></script>", "<div><table></div></table>",
        "<form><object></form></object>", "<button><button></button><x></button>",
        "<div><math><![CDATA[></math></div>]]>",
    ],
)  # fmt: skip
def test_closing_tags_that_close_nothing_do_not_hide_nesting(unit: str):
    assert depth_of(unit * 6_000) <= 2 * (MAX_DEPTH + MAX_DOUBTFUL)


_NAMES = (
    "div", "span", "p", "li", "ul", "b", "font", "code", "a", "table", "td", "tr", "caption", "select",
    "option", "optgroup", "math", "mi", "annotation-xml", "object", "template", "button", "form",
    "title", "script", "noscript", "frameset", "h1", "h2", "br", "input", "x", "search", "body",
)  # fmt: skip
_PIECES = st.sampled_from([
    *(f"<{name}>" for name in _NAMES), *(f"<{name} id=#>" for name in _NAMES),
    *(f"</{name}>" for name in _NAMES), *["x"] * 20,
    "<!--", "-->", "--!>", "<!x", "</ ", "<![CDATA[", "]]>", ">", "<script><!--<script>", "<b x='",
    "<annotation-xml encoding=text/html>", "<math/>",
])  # fmt: skip


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_PIECES, max_size=5), st.lists(_PIECES, min_size=1, max_size=9))
def test_no_page_nests_or_multiplies_beyond_the_limits(
    monkeypatch: pytest.MonkeyPatch, before: list[str], unit: list[str]
):
    # Low limits show in a short page what else only a long one does.
    for name, most in {"DEPTH": 12, "DOUBTFUL": 6, "FORMATTING": 4, "LOOSE": 2}.items():
        monkeypatch.setattr(guards, f"MAX_{name}", most)
    units = ("".join(unit).replace("#", str(number)) for number in range(60))
    page = "".join([*before, *units])
    deepest, elements = _measured(page)
    assert deepest <= 45
    assert elements <= 6 * page.count("<") + 60


@pytest.mark.parametrize("tag", ["html", "body"])
def test_the_one_element_of_a_page_takes_few_attributes_of_further_tags(tag: str):
    tree = parse(guard("".join(f"<{tag} a{number}=1>" for number in range(1_000))))
    node = tree.css_first(tag)
    assert node is not None
    assert len(node.attributes) <= 8


def test_the_page_ends_after_so_many_tags():
    assert guard("<br>" * MAX_TAGS + "<p>x") == "<br>" * MAX_TAGS
    assert guard("<br>" * MAX_TAGS + "x") == "<br>" * MAX_TAGS + "x"


def test_a_tag_of_very_many_attributes_keeps_its_name_only():
    attributes = " ".join(f"attribute{number}=1" for number in range(MAX_ATTRIBUTES + 200))
    assert guard(f"<p {attributes}>text</p {attributes}>") == "<p>text</p>"


def test_a_svg_goes_whole():
    assert guard("a<svg><svg/><path d='>'/></svg><text>t</text></SVG >b") == "ab"
    assert guard("a<svg><svg>b") == "ab"
    assert guard("a<svg>b</svg x") == "a"


def test_a_tag_without_an_end_ends_the_page():
    assert guard('text<a href="x') == "text"


def test_nul_and_surrogates_are_dropped():
    assert guard("a\0b\ud800c") == "abc"


@given(st.text(alphabet="<>/!-=\"' adivp\0\n", max_size=200))
def test_only_markup_is_dropped(text: str):
    assert len(guard(text)) <= len(text)
    if not re.search(r"<", text):
        assert guard(text) == text.replace("\0", "")


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        pytest.param("<div>" * 511, 511, id="fewer"),
        pytest.param("<div>" * 512, 512, id="as many as may be"),
        pytest.param("<div>" * 600, 512, id="more"),
        pytest.param("<p><div>" * 600, 512, id="two kinds"),
        pytest.param("<div>" * 512 + "</div>" * 512 + "<div>" * 600, 1_024, id="closed again"),
        pytest.param("<div>" * 600 + "</div><div><div>", 513, id="one closed"),
        pytest.param("<DIV></div><Li></LI>" * 600, 1_200, id="closed in other letters"),
        pytest.param("<li>" * 600, 600, id="closed by the next"),
        pytest.param("<ul><li>" * 600, 856, id="lists in lists"),
        # A closing tag is looked for among the last 32 elements.
        pytest.param(("<div>" + "<x>" * 31 + "</div>") * 40, 1_280, id="found at the last place"),
        pytest.param(("<div>" + "<x>" * 32 + "</div>") * 40, 920, id="one place too far"),
    ],
)
def test_so_many_elements_may_be_open(html: str, kept: int):
    assert len(re.findall(r"<\w+>", guard(html))) == kept


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        pytest.param("<div><b>x</div>" * 7, 7, id="fewer whose end is not sure"),
        pytest.param("<div><b>x</div>" * 9, 8, id="one more"),
        pytest.param("<b>x" + "<div><i>x</div>" * 20, 9, id="of all kinds together"),
        pytest.param("<b>x</b>" * 40, 40, id="closed"),
        pytest.param("<b>" * 20 + "</b></b><b><b><b>", 18, id="some closed"),
        pytest.param("</b>" * 9 + "<b>" * 20, 16, id="closed before they are opened"),
        pytest.param("<b>" * 16 + "</i>" + "<i>" * 4, 16, id="another kind closed"),
    ],
)
def test_so_many_formatting_tags_may_be_unclosed(html: str, kept: int):
    assert len(re.findall(r"<[bi]>", guard(html))) == kept


@pytest.mark.parametrize(
    ("count", "width", "is_whole"),
    [
        pytest.param(128, 16, True, id="as many as may be"),
        pytest.param(129, 16, False, id="one more"),
        pytest.param(3, 9_000, True, id="few in a long tag"),
    ],
)
@pytest.mark.parametrize("form", ["{}", "{}=1", "{}='a b>c'", '{} = "="'])
def test_a_long_tag_may_have_so_many_attributes(form: str, count: int, width: int, *, is_whole):
    names = (f"a{number}".ljust(width, "x") for number in range(count))
    tag = f"<p {' '.join(form.format(name) for name in names)}>"
    assert guard(f"{tag}text") == (f"{tag}text" if is_whole else "<p>text")


@pytest.mark.parametrize(
    "unit",
    [
        *(f"<{name}>" for name in ("area", "br", "col", "hr", "img", "input", "link", "wbr")),
        *("<option>", "<thead><tr><th>x<tbody><tr><td>y<tfoot>"),
        *("<dd>x<dt>y", "<p>x<li>y<p>z", "<td><p>x"),
        "<tr><td>x</td></tr>",
    ],
)
def test_what_holds_nothing_or_ends_by_itself_is_no_nesting(unit: str):
    page = f"<table>{unit * 2_000}"
    assert guard(page) == page


@pytest.mark.parametrize(
    "name", ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"]
)
def test_what_is_text_to_the_parser_is_no_markup(name: str):
    inside = "<div>" * 600 + f"</{name}x>"
    page = f"<{name}>{inside}</{name.upper()} ><p>y"
    assert guard(page) == page
    assert guard(f"<{name}>{inside}") == f"<{name}>{inside}"


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<!-->" + "<i>" * 20, 16),
        ("<!--->" + "<i>" * 20, 16),
        ("<!-- -->" + "<i>" * 20, 16),
        ("<!--" + "<i>" * 20 + "-->", 20),
        ("<!--" + "<i>" * 20 + "--><i>", 21),
    ],
)
def test_a_comment_ends_where_the_parser_ends_it(html: str, kept: int):
    assert guard(html).count("<i>") == kept


def test_many_drawings_that_never_end_are_looked_through_once():
    """Otherwise each would cost a scan of the rest of the page."""
    page = "<svg>" * 25_000
    assert guard(page) == ""
    assert guard(f"{page}text<div>") == "text<div>"
