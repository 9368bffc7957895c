"""Files of repositories and notebooks as pages."""

import json
from collections.abc import Callable

import pytest

from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.site_adapters.adapter import AsPage, Composed
from searx_mcp.fetch.site_adapters.markdown import ProseRewriter
from searx_mcp.fetch.site_adapters.raw_files import (
    MAX_CELLS,
    MAX_OUTPUT,
    RawFile,
    compose,
    from_notebook,
    language_of,
    media_of,
    render,
)

BASE = "https://site.example/o/r/blob/main/src/a.py"
ROOT = "https://site.example/o/r/blob/main"
TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.fixture
def page(answer: Callable[..., ReceivedPage]) -> Callable[..., Composed]:
    """Compose a page of a file's text."""

    def make(
        text: str | bytes,
        path: str = "src/a.py",
        *,
        media: str = "",
        is_truncated: bool = False,
        lines: tuple[int, int] | None = None,
        as_source: bool = False,
    ) -> Composed:
        file = RawFile(path, base=BASE, root=ROOT, lines=lines, as_source=as_source)
        composed = compose([answer(text, media=media, is_truncated=is_truncated)], file=file)
        assert isinstance(composed, Composed)
        return composed

    return make


def test_code_is_fenced_under_its_path(page):
    composed = page("x = 1\n")
    assert composed.document.markdown == "# src/a.py\n\n```python\nx = 1\n```"
    assert composed.document.title == "src/a.py"
    assert composed.content_type == "text/x-python"
    assert not composed.document.truncated
    assert composed.document.notes == ()


def test_a_part_of_a_file_names_its_lines(page):
    composed = page(TEN, lines=(3, 5))
    heading, code = composed.document.markdown.split("\n\n", 1)
    assert heading == "# src/a.py, lines 3 to 5 of 10"
    assert code == "```python\nline 3\nline 4\nline 5\n```"
    assert composed.document.title == "src/a.py, lines 3 to 5"
    assert not composed.document.truncated


@pytest.mark.parametrize(
    ("text", "lines", "shown", "note"),
    [
        (TEN, (10, 10), ["line 10"], ""),
        (TEN, (9, 99), ["line 9", "line 10"], "The file has 10 lines, so those up to line 99"),
        (TEN, (11, 12), TEN.split("\n")[:-1], "The file has 10 lines, so line 11 is not there"),
        ("one", (1, 1), ["one"], ""),
        ("a\r\nb\r\nc\r\n", (2, 3), ["b", "c"], ""),
        ("a\n\n\nb\n", (2, 4), ["", "", "b"], ""),
        ("a\x0c\nb\n", (2, 2), ["b"], ""),
        ("a\u2028\nb\n", (2, 2), ["b"], ""),
        ("a\rb\nc", (2, 2), ["c"], ""),
    ],
)
def test_lines_are_counted_as_the_sites_count_them(page, text, lines, shown, note):
    composed = page(text, lines=lines)
    assert composed.document.markdown.split("\n")[3:-1] == shown
    assert "".join(composed.document.notes).startswith(note)
    assert bool(composed.document.notes) is bool(note)


def test_lines_of_a_file_that_was_cut_say_how_many_were_read(page):
    composed = page(TEN, lines=(20, 30), is_truncated=True)
    assert composed.document.truncated
    assert composed.document.notes[0].startswith("At least 10 lines were read")
    assert not page(TEN, lines=(2, 3), is_truncated=True).document.truncated
    assert page(TEN, lines=(2, 10), is_truncated=True).document.truncated


def test_the_body_of_a_file_that_was_cut_is_marked(page):
    assert page("x = 1\n", is_truncated=True).document.truncated


def test_markdown_is_read_as_such(page):
    composed = page("---\ntags: x\n---\n# T\n\n[a](../b.md) ![i](u)", "src/a.md")
    assert composed.document.markdown == (
        "```yaml\ntags: x\n```\n\n# T\n\n[a](https://site.example/o/r/blob/main/b.md) [image: i]"
    )
    assert composed.document.title == "T"
    assert composed.content_type == "text/markdown"


@pytest.mark.parametrize("lines", [None, (1, 1)])
def test_its_source_can_be_asked_for(page, lines):
    composed = page("# T ![i](u)", "a.md", as_source=lines is None, lines=lines)
    assert "```markdown\n# T ![i](u)\n```" in composed.document.markdown


def test_markdown_without_a_heading_is_called_by_its_path(page):
    composed = page("text", "docs/a.md")
    assert composed.document.title == "docs/a.md"
    assert composed.document.markdown == "text"


@pytest.mark.parametrize("path", ["a.md", "a.py", "a.ipynb", "LICENSE"])
@pytest.mark.parametrize("text", ["", "\n\n", " \t\n"])
def test_an_empty_file_says_so(page, path, text):
    composed = page(text, path)
    assert composed.document.markdown == f"# {path}"
    assert composed.document.notes == ("The file is empty.",)


def test_a_pointer_is_not_taken_for_the_file(page):
    composed = page("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "a.md")
    assert "pointer" in composed.document.notes[0]
    assert "oid sha256:00" in composed.document.markdown


@pytest.mark.parametrize(
    ("path", "media"),
    [
        ("a.png", "image/png"), ("a.py", "application/pdf"), ("a.pdf", "application/pdf"),
        ("a.bin", "application/octet-stream"), ("a.zip", "application/zip"),
        ("a.html", "text/html"), ("a.HTM", "text/html; charset=latin-1"), ("a.html", "text/plain"),
        ("a.xhtml", "text/plain"),
    ],
)  # fmt: skip
def test_what_is_no_source_is_read_as_a_page(answer, path, media):
    composed = compose([answer(b"<p>x", media=media)], file=RawFile(path, base=BASE))
    assert isinstance(composed, AsPage)
    if path.endswith("html"):
        assert composed.answer.media.name == "text/html"


def test_the_source_of_an_html_file_can_be_asked_for(page):
    composed = page("<p>\nx\n</p>\n", "a.html", lines=(2, 2))
    assert composed.document.markdown.endswith("```html\nx\n```")
    assert page("<p>", "a.html", as_source=True).content_type == "text/html"


@pytest.mark.parametrize("path", ["a.md", "a.py", "LICENSE"])
def test_a_login_page_is_not_taken_for_a_file(answer, path):
    found = answer("<!doctype html><title>Sign in</title>", media="text/html")
    with pytest.raises(ValueError, match="a page instead of the file"):
        compose([found], file=RawFile(path, base=BASE))


def test_nothing_is_an_error():
    with pytest.raises(ValueError, match="missing"):
        compose([None], file=RawFile("a.py", base=BASE))


@pytest.mark.parametrize(
    "text",
    [
        "```\n![x](y)", "``\u200b`\n![x](y)", "`\u00ad``\n# x", "x\x0c```\n![x](y)", "~~~\n",
        "a\u2028```",
    ],
)  # fmt: skip
@pytest.mark.parametrize("lines", [None, (1, 9)])
def test_no_file_can_leave_its_fence(page, text, lines):
    block = page(text, lines=lines).document.markdown.split("\n\n", 1)[1]
    opening, *inside, closing = block.split("\n")
    assert opening == f"{closing}python"
    assert all(closing not in line for line in inside)
    assert "\u200b" not in block


@pytest.mark.parametrize("path", ["a b.py", "# x\n![y](z).py", "x" * 500 + ".py", "ü.py", "`.py"])
def test_a_path_is_a_strangers_text(page, path):
    heading = page("x", path).document.markdown.split("\n\n```")[0]
    assert "\n" not in heading
    assert "![" not in heading
    assert len(heading) < 300


def test_charsets_are_honoured(page):
    assert "ü" in page("ü".encode("latin-1"), media="text/plain; charset=latin-1").document.markdown
    assert "ü" in page("ü".encode(), media="text/plain").document.markdown
    assert (
        "\N{REPLACEMENT CHARACTER}"
        in page(b"\xff", media="text/plain; charset=utf-8").document.markdown
    )


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"), ("A.PY", "python"), ("Dockerfile", "dockerfile"),
        ("Makefile", "makefile"), ("CMakeLists.txt", "cmake"), ("a.tar.gz", ""), ("a.rs", "rust"),
        ("a.txt", ""), ("README", ""), (".gitignore", ""), (".py", ""), ("", ""),
        ("README.MD", "markdown"),
    ],
)  # fmt: skip
def test_a_name_tells_the_language(name, language):
    assert language_of(name) == language


@pytest.mark.parametrize(
    ("language", "media"),
    [("", "text/plain"), ("python", "text/x-python"), ("json", "application/json")],
)
def test_a_language_has_a_media_type(language, media):
    assert media_of(language) == media


NOTEBOOK = "https://site.example/o/r/blob/main/a.ipynb"


def notebook(*cells: object, **metadata: object) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells})


def code(source: object, *outputs: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_cells_are_written_in_order():
    text = notebook(
        {"cell_type": "markdown", "source": ["# T\n", "\n", "text ![i](u)"]},
        code(["x = 1\n", "x"], {"output_type": "execute_result", "data": {"text/plain": ["1"]}}),
        {"cell_type": "raw", "source": "as it is"},
        language_info={"name": "Python"},
    )
    markdown, notes = from_notebook(text, ProseRewriter(NOTEBOOK))
    assert markdown == (
        "# T\n\ntext [image: i]\n\n```python\nx = 1\nx\n```\n\nOutput:\n\n```text\n1\n```\n\n"
        "```\nas it is\n```"
    )
    assert notes == ()


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ({"output_type": "stream", "name": "stdout", "text": ["a\n", "b\n"]}, "a\nb"),
        ({"output_type": "stream", "text": "a"}, "a"),
        (
            {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mt"]},
            "E: v\nt",
        ),
        ({"output_type": "display_data", "data": {"text/plain": "<Figure>"}}, "<Figure>"),
        ({"output_type": "display_data", "data": {"image/png": "aGk="}}, None),
        ({"output_type": "display_data", "data": {"text/html": "<img src=x>"}}, None),
        ({"output_type": "stream", "text": None}, None),
        ({"output_type": 3, "data": []}, None),
        ({}, None),
        (None, None),
    ],
)
def test_outputs_are_shown_as_text(output, shown):
    markdown, _ = from_notebook(notebook(code("x", output)), ProseRewriter(NOTEBOOK))
    expected = "```\nx\n```" + (f"\n\nOutput:\n\n```text\n{shown}\n```" if shown else "")
    assert markdown == expected


def test_a_long_output_is_cut_with_its_length():
    output = {"output_type": "stream", "text": "x" * (MAX_OUTPUT + 1_234)}
    markdown, _ = from_notebook(notebook(code("x", output)), ProseRewriter(NOTEBOOK))
    assert "[1,234 more characters]" in markdown
    assert len(markdown) < MAX_OUTPUT + 200


def test_cells_are_capped():
    markdown, notes = from_notebook(
        notebook(*[code("x")] * (MAX_CELLS + 5)), ProseRewriter(NOTEBOOK)
    )
    assert markdown.count("```\nx") == MAX_CELLS
    assert notes == ("5 more cells are left out.",)


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({"language_info": {"name": "R"}}, "r"),
        ({"kernelspec": {"language": "julia"}}, "julia"),
        ({"language_info": {"name": "py\n```"}}, ""),
        ({"language_info": {"name": 3}}, ""),
        ({"language_info": []}, ""),
        ({}, ""),
    ],
)
def test_the_language_is_the_kernels(metadata, language):
    markdown, _ = from_notebook(notebook(code("x"), **metadata), ProseRewriter(NOTEBOOK))
    assert markdown == f"```{language}\nx\n```"


def test_code_cannot_leave_its_fence():
    markdown, _ = from_notebook(notebook(code("```\n![x](y)\n``\u200b``")), ProseRewriter(NOTEBOOK))
    assert markdown.startswith("`````\n")


@pytest.mark.parametrize(
    "text",
    ["", "x", "[]", "{}", '{"nbformat": 3, "worksheets": []}', '{"nbformat": "4"}',
     '{"nbformat": 4, "cells": [', "[" * 100_000],
)  # fmt: skip
def test_what_is_no_notebook_is_shown_as_it_is(text):
    with pytest.raises(ValueError, match=r"."):
        from_notebook(text, ProseRewriter(NOTEBOOK))
    if text:
        markdown, notes = render(text, RawFile("a.ipynb", base=NOTEBOOK))
        assert markdown.startswith("```json\n")
        assert "could not be read" in notes[0]


@pytest.mark.parametrize("cells", [None, 3, {}, [None, 3, [], "x"], [{"cell_type": None}]])
def test_cells_of_another_shape_are_left_out(cells):
    markdown, _ = from_notebook(
        json.dumps({"nbformat": 4, "cells": cells}), ProseRewriter(NOTEBOOK)
    )
    assert markdown == ""


LAB = "https://lab.example/g/p/-/blob/main"
FORGE = "https://git.example/o/r/src/branch/main"
GITHUB = "https://github.com/o/r/blob"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"{LAB}/src/a.rb#L2-3", "# src/a.rb, lines 2 to 3 of 4\n\n```ruby\nb\nc\n```"),
        (f"{FORGE}/src/a.go#L2", "# src/a.go, line 2 of 4\n\n```go\nb\n```"),
    ],
)
def test_lines_of_a_file_are_shown_at_any_forge(read, url, shown):
    assert read(url, "a\nb\nc\nd\n").markdown == shown


@pytest.mark.parametrize(
    ("url", "is_source"),
    [
        (f"{LAB}/a.md", False),
        (f"{LAB}/a.md?plain=1", True),
        (f"{LAB}/a.md?plain=0", False),
        ("https://lab.example/g/p/-/raw/main/a.md?plain=1", False),
        (f"{FORGE}/a.md", False),
        (f"{FORGE}/a.md?display=source", True),
        (f"{GITHUB}/main/a.md", False),
        (f"{GITHUB}/main/a.md?plain=1", True),
        (f"{GITHUB}/main/a.md?plain=0", False),
        ("https://github.com/o/r/raw/main/a.md?plain=1", False),
    ],
)
def test_the_source_of_markdown_can_be_asked_for_at_any_forge(read, url, is_source):
    assert ("```markdown" in read(url, "# T").markdown) is is_source


@pytest.mark.parametrize("home", [LAB, FORGE, f"{GITHUB}/main", f"{GITHUB}/refs/heads/main"])
def test_links_of_a_file_stay_at_its_forge(read, home):
    page = read(f"{home}/docs/a.md", "[x](y.md) [z](/z.md)")
    assert page.markdown == f"[x]({home}/docs/y.md) [z]({home}/z.md)"
