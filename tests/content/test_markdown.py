"""Where fenced code begins and ends."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.markdown import code_spans, disarm, escape, fence, in_code


@pytest.mark.parametrize(
    ("markdown", "code"),
    [
        pytest.param("a\n```\nx\n```\nb", ["```\nx\n```"], id="plain"),
        pytest.param("```py\nx\n```", ["```py\nx\n```"], id="language"),
        pytest.param("~~~\n```\n~~~\nb", ["~~~\n```\n~~~"], id="tildes around backticks"),
        pytest.param("````\n```\nx\n````", ["````\n```\nx\n````"], id="longer outside"),
        pytest.param("```\nx\n`````\nb", ["```\nx\n`````"], id="closed by a longer one"),
        pytest.param("```\nx\n``` y\n```", ["```\nx\n``` y\n```"], id="not closed by text"),
        pytest.param("```\nx", ["```\nx"], id="never closed"),
        pytest.param("- a\n  ```\n  x\n  ```\nb", ["  ```\n  x\n  ```"], id="in a list"),
        pytest.param("- ```\n  x\n  ```\nb", ["- ```\n  x\n  ```"], id="at the start of an item"),
        pytest.param("> ```\n> x\n> ```\nb", ["> ```\n> x\n> ```"], id="in a quote"),
        pytest.param("> ```\nb\n# c", [], id="never closed in a quote"),
        pytest.param("     ```\nb", [], id="never closed and indented"),
        pytest.param("```x``` is code\n\nb", [], id="code in a sentence"),
        pytest.param("``\nx\n``", [], id="two are none"),
        pytest.param("```\na\n```\n```\nb\n```", ["```\na\n```", "```\nb\n```"], id="two blocks"),
    ],
)
def test_code_is_found(markdown: str, code: list[str]):
    assert [markdown[start:end] for start, end in code_spans(markdown)] == code


def test_offsets_are_in_code_or_not():
    is_code = in_code("a\n```\nx\n```\nb")
    assert [is_code(offset) for offset in (0, 2, 6, 11, 12)] == [False, True, True, False, False]


@pytest.mark.parametrize(
    ("markdown", "count"),
    [
        pytest.param("```\n" * 100_000, 50_000, id="backticks"),
        pytest.param("- ```\n" * 100_000, 0, id="in lists"),
        pytest.param("> " * 200_000, 0, id="quotes"),
        pytest.param("1. " * 200_000, 0, id="numbers"),
        pytest.param(
            "\n".join(" " * 5 + "`" * length for length in range(900, 3, -1)) + "\n```" * 50_000,
            25_000,
            id="shorter and shorter",
        ),
    ],
)
def test_hostile_fences_are_read_to_their_end(markdown: str, count: int):
    spans = list(code_spans(markdown))
    assert len(spans) == count
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


UNCHANGED = [
    "# Title\n\nText with [a link](https://e.org/x 'T'), <https://e.org>, *em* and `code`.\n",
    "[rel](docs/x.md) [part](#part) [mail](mailto:a@b.org) [ref][r]\n\n[r]: https://e.org/x 'T'",
    "```\n![x](https://evil/b.png)\n[x](javascript:y)\n<img src=x>\n```\n",
    "~~~md\n![x](y)\n~~~",
    "<details><summary>More</summary>x</details> <br> <a href='https://e.org'>t</a>",
    "<p align='center' style='color: red'>\n<a href=\"#part\" target=\"_blank\">t</a>\n<b>a</b>",
    "<https://e.org/?onload=it's> <https://e.org/onload=1> List<String> <me@e.org> a <- b",
    "a < b && c > d, 2 [brackets] (x) !important",
    "- [ ] task\n- [x] done\n\n| a | b |\n| --- | --- |",
    "[x](https://e.org/a_(b)) [y](<https://e.org/a b>)",
    "[x](https://e.org/@me) [y](https://e.org?a@b) [m](mailto:a@b.org) <a@b.org> https://u:p@e.org",
    "",
]


@pytest.mark.parametrize("markdown", UNCHANGED, ids=repr)
def test_what_does_nothing_stays_as_it_is(markdown: str):
    assert disarm(markdown) == markdown


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        pytest.param("a ![pic](https://evil/b.png) b", "a [image: pic] b", id="image"),
        pytest.param("![](https://evil/b.png)", "", id="image without words"),
        pytest.param("![a\u00e9](u 'title')", "[image: aé]", id="title"),
        pytest.param("![a](u_(v))", "[image: a]", id="parentheses"),
        pytest.param("![a][r]", "[image: a]", id="reference"),
        pytest.param("![a]", "[image: a]", id="short reference"),
        pytest.param("[![b](https://i/b.svg)](https://e.org)", "[[image: b]](https://e.org)", id="badge"),
        pytest.param("<img src=https://evil/b.png alt='A pic'>", "[image: A pic]", id="tag"),
        pytest.param("<IMG\nsrc=x>", "", id="tag without words"),
        pytest.param("<iframe src=x></iframe>", "&lt;iframe src=x>&lt;/iframe>", id="frame"),
        pytest.param("<script>x</script>", "&lt;script>x&lt;/script>", id="script"),
        pytest.param("[x](javascript:y)", "[x]", id="script link"),
        pytest.param("[x](JavaScript:y 'T')", "[x]", id="any case"),
        pytest.param("[x](java&#115;cript:y)", "[x]", id="entity"),
        pytest.param("[x](javascript\\:y)", "[x]", id="backslash"),
        pytest.param("[x](\n javascript:y)", "[x]", id="on the next line"),
        pytest.param("[x](<javascript:y>)", "[x]", id="in angle brackets"),
        pytest.param("[x](javascript:y(1))", "[x]\\((1))", id="with a call"),
        pytest.param("[x](data:text/html,y)", "[x]", id="data"),
        pytest.param("[x](vbscript:y)", "[x]", id="vbscript"),
        pytest.param("[x](blob:https://e/y)", "[x]", id="blob"),
        pytest.param("[x](file:///etc/passwd)", "[x]", id="file"),
        pytest.param("[x](https://e.org/" + "y" * 3_000 + ")", "[x]", id="too long"),
        pytest.param("[x](https://u:p@e.org/y)", "[x](https://e.org/y)", id="password"),
        pytest.param("[x](<https://good.org@e.org/y> 'T')", "[x](<https://e.org/y> 'T')", id="poses as another"),
        pytest.param("[x](//u:p\\@e.org)", "[x](//e.org)", id="password with a backslash"),
        pytest.param("[x](https://u&#64;e.org/)", "[x]", id="password with an entity"),
        pytest.param("[r]: https://u@q@e.org 'T'", "[r]: https://e.org 'T'", id="password of a definition"),
        pytest.param("<https://u:p@e.org/>", "<https://e.org/>", id="password of an autolink"),
        pytest.param("<a href='https://u@e.org'>t</a>", "<a href='https://e.org'>t</a>", id="password of an anchor"),
        pytest.param("a\n\n[r]: javascript:y 'T'\nb", "a\n\n\nb", id="definition"),
        pytest.param("[r]:\n  data:y", "", id="definition on two lines"),
        pytest.param("> - [r]: data:y", "", id="definition in a quote"),
        pytest.param("]([x](javascript:y)", "]([x]", id="behind what is no link"),
        pytest.param("<javascript:y>", "&lt;javascript:y>", id="autolink"),
        pytest.param("\\<javascript:y>", "\\&lt;javascript:y>", id="escaped already"),
        pytest.param("<a href='javascript:y'>t</a>", "&lt;a href='javascript:y'>t</a>", id="anchor"),
        pytest.param(f"<a {'x' * 9_000} href=data:y>", f"&lt;a {'x' * 9_000} href=data:y>", id="far into a tag"),
        *(
            pytest.param(tag, f"&lt;{tag[1:]}", id=tag)
            for tag in (
                '<a title=">" href="javascript:y">',
                '<a title="<" href="javascript:y">',
                "<a title='it\">' onclick=y>",
                "<area href=javascript:y>",
                "<button formaction=javascript:y>",
                "<b onclick=y>",
                "<b/onclick=y>",
                "<b ONCLICK = y>",
                '<b class="x"onclick=y>',
                '<b x=a"b onclick=y c">',
                "<x:y onclick=y>",
                "<x-y onpointerenter=y>",
                "<a href=https://e.org ping=https://evil>",
                "<A HREF=data:y>",
                "<a href=https://e.org href=data:y>",
                "<td background=https://evil/x.png>",
                "<p style='background:url(//evil)'>",
                "<p style='background:u\\72l'>",
                "<p style='@import x'>",
                "<use xlink:href=x>",
                "<textarea>",
                "<plaintext>",
            )
        ),
        pytest.param("<p x<b onclick=y>", "&lt;p x&lt;b onclick=y>", id="a tag in a tag"),
        pytest.param(f"[{'r' * 999}]: data:y", "", id="the longest label"),
        pytest.param("123456789. [r]: data:y", "", id="in the longest number"),
        pytest.param("<a\nclass=x href = data:y>t</a>", "&lt;a\nclass=x href = data:y>t</a>", id="data in one"),
    ],
)  # fmt: skip
def test_what_acts_is_shown_instead(markdown: str, shown: str):
    assert disarm(markdown) == shown


@pytest.mark.parametrize(
    "markdown",
    [
        "![![a](b)](https://evil/x.png)",
        "![a\nb](https://evil/x.png)",
        "![a[b]c](https://evil/x.png)",
        "![a](https://evil/(x(y)).png)",
        "!![a](https://evil/x.png)",
        "!<img alt=a>(https://evil/x.png)",
        "!<img alt=a>[r]\n\n[r]: https://evil/x.png",
        "![" + "a" * 900 + "](https://evil/x.png)",
        "`![a](https://evil/x.png)",
        "\\`![a](https://evil/x.png)`",
        "    ```\n![a](https://evil/x.png)\n    ```",
        "> ```\n![a](https://evil/x.png)",
        "- a\n  ```\n![a](https://evil/x.png)\n  ```",
    ],
)
def test_no_image_is_left_however_it_is_written(markdown: str):
    assert not re.search(r"!\[", disarm(markdown))


@pytest.mark.parametrize(
    ("markdown", "is_other", "count"),
    [
        pytest.param(lambda n: f"![{'a' * n}](u)", "!\\[", 501, id="words"),
        pytest.param(lambda n: f"![a](u({'u' * n}))", "](", 501, id="in parentheses"),
        pytest.param(lambda n: f"![a](u(v){'u' * n})", "](", 501, id="behind parentheses"),
        pytest.param(lambda n: f"![a][{'r' * n}]", "][", 501, id="reference"),
        pytest.param(lambda n: f"<img {'x' * n} alt=a>", "&lt;img", 3_994, id="attributes"),
    ],
)
def test_an_image_of_any_length_is_words_or_shown(first, markdown, is_other: str, count: int):
    assert first(lambda n: is_other in disarm(markdown(n))) == count
    assert "![" not in disarm(markdown(count))


@pytest.mark.parametrize(
    ("tag", "longest"),
    [("<img alt='{}'>", 500), ('<img alt="{}">', 500), ("<img alt={}>", 500)],
    ids=["one mark", "two marks", "bare"],
)
def test_words_in_a_tag_may_be_of_some_length(tag: str, longest: int):
    assert disarm(tag.format("a" * longest)) == f"[image: {'a' * longest}]"
    assert len(disarm(tag.format("a" * (longest + 1)))) <= len("[image: ]") + longest


@pytest.mark.parametrize(
    ("length", "stays"), [(1, True), (2, False), (32, False), (33, True)], ids=repr
)
def test_an_address_in_angle_brackets_has_a_scheme_of_some_length(length: int, *, stays: bool):
    """CommonMark, section 6.5: of 2 to 32 characters."""
    markdown = f"<{'a' * length}:y>"
    assert (disarm(markdown) == markdown) is stays


@pytest.mark.parametrize(("length", "stays"), [(2_000, True), (2_001, False)])
def test_an_address_has_an_end(length: int, *, stays: bool):
    address = "https://e.org/".ljust(length, "y")
    assert (address in disarm(f"[x]({address})")) is stays
    assert (address in disarm(f"[r]: {address}")) is stays
    assert (f"<{address}>" in disarm(f"<{address}>")) is stays


@given(st.text(alphabet="![]()<>`~ab:\n \\#/", max_size=80))
def test_disarming_twice_leaves_nothing_new(markdown: str):
    once = disarm(markdown)
    if "```" not in markdown and "~~~" not in markdown:
        assert "![" not in once


@pytest.mark.parametrize(
    "unit",
    ["[", "![", "![a](", "![a](b", "[a](", "](", "<", "<a ", "<a href", "<img ", "<img alt=", "[a]: ", "<a:", "\\", "](//a@", "<a://a",
     "href=//a"],
)  # fmt: skip
def test_hostile_markdown_is_read_to_its_end_and_grows_by_what_is_said_of_it(unit: str):
    shown = disarm(unit * 20_000)
    assert not re.search(r"!\[|<img", shown)
    # Twelve characters at most stand for one image, four for one sign.
    assert len(shown) <= 20_000 * (len(unit) + 12)
    assert disarm(unit * 10_000 + "\n\nend").endswith("end")


def test_a_number_of_any_length_is_no_target():
    disarm(f"[a](&#{'9' * 5_000};)")


def test_a_fence_is_longer_than_what_it_holds():
    assert fence("a\n`````\nb", language="x") == "``````x\na\n`````\nb\n``````"


def test_plain_text_shows_the_same_in_markdown():
    assert escape("# a\n* b\n1) c <d>\n![e](f)") == "\\# a\n\\* b\n1\\) c \\<d>\n!\\[e]\\(f)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("snake_case", "snake_case"),
        ("__init__", "\\_\\_init\\_\\_"),
        ("_a_b_", "\\_a_b\\_"),
        ("a__ b", "a\\_\\_ b"),
    ],
)
def test_underscores_are_escaped_where_they_would_act(text: str, shown: str):
    assert escape(text) == shown
