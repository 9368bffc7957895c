"""What the writer notes about a page, and the options of its style."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.writing.write import write
from searx_mcp.models.page import CodeBlock, Heading, PageImage, PageLink
from searx_mcp.models.style import Images, Links, Style

NOTES = [
    pytest.param("<p>a<x-reference name=1></x-reference>.</p><x-notes><x-note name=1><p>Some note.</p></x-note></x-notes>b", "a[^1].\n\nb\n\n[^1]: Some note.", id="at the end"),
    pytest.param("<x-note name=a><p>One two.</p><p>Three.</p><pre>x\ny</pre></x-note>", "[^a]: One two.\n\n    Three.\n\n    ```\n    x\n    y\n    ```", id="several blocks"),
    pytest.param("<x-note name=a><ul><li>x</li></ul></x-note>", "[^a]:\n\n    - x", id="no paragraph first"),
    pytest.param("<x-note name=a>javascript:x</x-note>", "[^a]: javascript:x ↩", id="one word, which could be an address"),
    pytest.param("<x-note name=a>x 'y'</x-note>", "[^a]: x 'y' ↩", id="a word and a title"),
    pytest.param("<x-note name=a>x<br>y</x-note>", "[^a]: x ↩  \n    y", id="a word on its line"),
    pytest.param('<p>a<x-reference name="x y]"></x-reference>b<x-reference name="x y["></x-reference><x-reference></x-reference></p>', "a[^x-y]b[^x-y-1][^note]", id="names that are no labels"),
    pytest.param("<p>a!<x-reference name=1></x-reference>(b)</p>", "a\\![^1]\\(b)", id="between marks"),
]  # fmt: skip
TASKS = "<ul><li><x-task done></x-task> done</li><li><x-task></x-task>to do</li></ul>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [*NOTES, pytest.param(TASKS, "- [x] done\n- [ ] to do", id="tasks")],
)
def test_footnotes_stand_at_the_end_under_their_names_and_tasks_have_boxes(written, html, expected):
    assert written(html).markdown == expected


NOTED = {
    "headings": (
        (
            "<p>é</p><h1 data-anchor=top>A <code>b</code> <a href=/x>c</a></h1>"
            "<blockquote><ol><li><h3>D</h3></li></ol></blockquote><h2><img src=/i alt=E></h2>"
        ),
        {},
        {
            "markdown": "é\n\n# A `b` [c](https://ex.org/x)\n\n> 1. ### D\n\n## [image: E]",
            "outline": (
                Heading(level=1, title="A b c", offset=3, anchor="top"),
                Heading(level=3, title="D", offset=39),
                Heading(level=2, title="E", offset=46),
            ),
        },
    ),
    "deeper headings, which are bold lines": (
        "<h2>A</h2><h3>B <i>c</i></h3>",
        {"max_heading_level": 2},
        {"markdown": "## A\n\n**B *c***", "outline": (Heading(level=2, title="A", offset=0),)},
    ),
    "blocks of code": (
        "<pre><code class=language-c>x</code></pre><ul><li>a<pre>y\n\nz</pre></li></ul>",
        {},
        {
            "markdown": "```c\nx\n```\n\n- a\n\n  ```\n  y\n\n  z\n  ```",
            "code_blocks": (
                CodeBlock(language="c", offset=0, length=10),
                CodeBlock(language="", offset=19, length=18),
            ),
        },
    ),
    "blocks of code that are left out": (
        "<p>a <code>b</code></p><pre>c</pre><p>d</p>",
        {"keep_code_blocks": False},
        {"markdown": "a `b`\n\nd", "code_blocks": ()},
    ),
    "links to other pages": (
        (
            "<p>See <a href=/c>the <b>docs</b></a> for more.</p><p><a href=/c>again</a> <a href='#x'>here</a>"
            "<a href='mailto:a@b.c'>mail</a></p><ul><li><a href=/d>D</a></li></ul><a href=/e><img src=/i></a>"
        ),
        {},
        {
            "links": (
                PageLink(url="https://ex.org/c", text="the docs", context="See the docs for more."),
                PageLink(url="https://ex.org/d", text="D"),
                PageLink(url="https://ex.org/e"),
            )
        },
    ),
    "images": (
        (
            "<img src=/a.png alt=' A\u200b\n b '><figure><img src=/b.png><figcaption>The <b>cap</b></figcaption></figure>"
            "<img src=/a.png><img src=/t.gif width=1 height=1>"
        ),
        {},
        {
            "markdown": "[image: A b]\n\n[caption: The **cap**]",
            "images": (
                PageImage(url="https://ex.org/a.png", alt="A b"),
                PageImage(url="https://ex.org/b.png", caption="The cap"),
            ),
        },
    ),
    "characters that nobody sees": (
        "<p>a\u200bb <code>c\u200b</code></p><pre>d\u200b\ne</pre><p>\u00ad</p>",
        {},
        {"markdown": "ab `c`\n\n```\nd\ne\n```", "hidden": 4},
    ),
}


@pytest.mark.parametrize(("html", "style", "noted"), NOTED.values(), ids=NOTED)
def test_a_page_is_written_with_notes_of(written, html, style, noted):
    page = written(html, **style)
    assert {name: getattr(page, name) for name in noted} == noted


def test_the_context_of_a_link_is_around_it(written):
    html = f"<p>{'before ' * 100}<a href=/c>words</a>{' after' * 100}</p>"
    [link] = written(html).links
    assert link.context.startswith("before before")
    assert "before words after" in link.context
    assert link.context.endswith(" after")
    assert len(link.context) <= 200


def test_links_are_counted_up_to_a_limit(written):
    page = written("".join(f"<a href=/{index}>x</a> " for index in range(1_200)))
    assert len(page.links) == 1_000
    assert "/1199)" in page.markdown


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        pytest.param(Links.INLINE, "[a](https://ex.org/c) [b](https://ex.org/d) [c](https://ex.org/c) [1]", id="inline"),
        pytest.param(
            Links.FOOTNOTES,
            "[a][1] [b][2] [c][1] \\[1]\n\n[1]: https://ex.org/c\n[2]: https://ex.org/d",
            id="footnotes",
        ),
        pytest.param(Links.NONE, "a b c [1]", id="none"),
    ],
)  # fmt: skip
def test_addresses_stand_where_the_style_says(written, reread, links, expected):
    html = "<p><a href=/c>a</a> <a href=/d>b</a> <a href=/c>c</a> [1]</p>"
    page = written(html, links=links)
    assert page.markdown == expected
    assert [link.url for link in page.links] == ["https://ex.org/c", "https://ex.org/d"]
    assert reread(expected, links=links) == expected


def test_images_are_noted_up_to_a_limit_and_linked_beyond(written):
    html = "".join(f"<img src=/{index}.png alt=x> " for index in range(60))
    page = written(html, images=Images.LINKS)
    assert len(page.images) == 50
    assert page.markdown.count("[image: x](") == 60


def test_several_roots_follow_each_other():
    tree = LexborHTMLParser("<div>a <b>b</b></div><p>c</p><div><hr></div>")
    assert tree.body is not None
    roots = [tree.css("p")[0], *tree.css("div")]
    assert write(roots, base="x", style=Style()).markdown == "c\n\na **b**"


def test_nothing_is_empty():
    page = write([], base="https://ex.org/", style=Style())
    assert (page.markdown, page.links, page.outline) == ("", (), ())


@pytest.mark.parametrize(
    ("html", "most"),
    [
        pytest.param("<table>" + "<tr><th colspan=1000 rowspan=65534>x" * 300 + "</table>", 200_000, id="spans"),
        pytest.param("<table><tr>" + "<td>x" * 2_000 + "<tr><td>y</table>", 20_000, id="columns"),
        pytest.param("<blockquote>a" * 400 + "<br>b" * 2_000, 150_000, id="lines in quotes"),
        pytest.param("<ul><li>a" * 400 + "<li>b" * 2_000, 100_000, id="items in items"),
        pytest.param("<dl><dt>a<dd>" * 400, 12_000, id="terms"),
        pytest.param("<x-note>a<p>" * 400, 8_000, id="notes"),
        pytest.param("<table><tr><td>a" * 400, 2_000, id="tables"),
    ],
)  # fmt: skip
def test_bombs_do_not_grow(written, html, most):
    markdown = written(html).markdown
    assert markdown.count("a") >= html.count("<p>a") // 2
    assert len(markdown) < most


def test_what_is_nested_too_deep_is_still_there_and_can_be_read(written, reread):
    markdown = written("<ul><li>" * 12 + "x<li>y").markdown
    assert markdown == "- - - - - - - - x\n\n                y"
    quoted = written("<blockquote>" * 30 + "x").markdown
    assert quoted == "> " * 16 + "x"
    assert reread(quoted) == quoted
    assert reread(markdown) == markdown


def test_elements_nest_without_end():
    """The walk does not recurse."""
    tree = LexborHTMLParser("<b></b>")
    node = tree.css_first("b")
    assert node is not None
    for _ in range(3_000):
        node.insert_child(tree.create_node("span"))
        node = node.last_child
        assert node is not None
    node.insert_child("x")
    assert tree.body is not None
    assert write([tree.body], base="https://ex.org/", style=Style()).markdown == "**x**"


def test_the_tree_is_not_changed():
    html = "<h1>A <a href='#a'>#</a></h1><figure><img src=x alt=y><figcaption>c</figcaption></figure><table><tr><td>a</table>"
    tree = LexborHTMLParser(html)
    before = tree.html
    assert tree.body is not None
    write([tree.body], base="https://ex.org/", style=Style())
    assert tree.html == before
