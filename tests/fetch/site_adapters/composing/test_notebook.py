"""Notebooks as Markdown."""

import json

import pytest

from searx_mcp.fetch.site_adapters.composing.prose import Prose
from searx_mcp.fetch.site_adapters.composing.raw_file import (
    MAX_CELLS,
    MAX_OUTPUT,
    RawFile,
    from_notebook,
    render,
)

BASE = "https://site.example/o/r/blob/main/a.ipynb"


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
    markdown, notes = from_notebook(text, Prose(BASE))
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
def test_outputs_are_shown_as_text(output: object, shown: str | None):
    markdown, _ = from_notebook(notebook(code("x", output)), Prose(BASE))
    expected = "```\nx\n```" + (f"\n\nOutput:\n\n```text\n{shown}\n```" if shown else "")
    assert markdown == expected


def test_a_long_output_is_cut_with_its_length():
    output = {"output_type": "stream", "text": "x" * (MAX_OUTPUT + 1_234)}
    markdown, _ = from_notebook(notebook(code("x", output)), Prose(BASE))
    assert "[1,234 more characters]" in markdown
    assert len(markdown) < MAX_OUTPUT + 200


def test_cells_are_capped():
    markdown, notes = from_notebook(notebook(*[code("x")] * (MAX_CELLS + 5)), Prose(BASE))
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
def test_the_language_is_the_kernels(metadata: dict[str, object], language: str):
    markdown, _ = from_notebook(notebook(code("x"), **metadata), Prose(BASE))
    assert markdown == f"```{language}\nx\n```"


def test_code_cannot_leave_its_fence():
    markdown, _ = from_notebook(notebook(code("```\n![x](y)\n``\u200b``")), Prose(BASE))
    assert markdown.startswith("`````\n")


@pytest.mark.parametrize(
    "text",
    ["", "x", "[]", "{}", '{"nbformat": 3, "worksheets": []}', '{"nbformat": "4"}',
     '{"nbformat": 4, "cells": [', "[" * 100_000],
)  # fmt: skip
def test_what_is_no_notebook_is_shown_as_it_is(text: str):
    with pytest.raises(ValueError, match=r"."):
        from_notebook(text, Prose(BASE))
    if text:
        markdown, notes = render(text, RawFile("a.ipynb", base=BASE))
        assert markdown.startswith("```json\n")
        assert "could not be read" in notes[0]


@pytest.mark.parametrize("cells", [None, 3, {}, [None, 3, [], "x"], [{"cell_type": None}]])
def test_cells_of_another_shape_are_left_out(cells: object):
    markdown, _ = from_notebook(json.dumps({"nbformat": 4, "cells": cells}), Prose(BASE))
    assert markdown == ""
