"""A Jupyter notebook as Markdown: what was written, what was computed, and what came out as text.

The format is that of nbformat 4; texts may be one string or a list of lines there.
"""

from typing import Final

from searx_mcp.content.clean import clean, clean_line
from searx_mcp.content.fences import fence
from searx_mcp.content.fields import Fields, loads
from searx_mcp.fetch.tiers.composing.prose import Prose
from searx_mcp.fetch.tiers.composing.writing import joined

MAX_CELLS: Final = 1_000
MAX_OUTPUT: Final = 4_000
"""Characters shown of what one cell printed: a progress bar prints thousands of lines."""

_OUTPUTS: Final = 20
_LANGUAGE: Final = 30


def from_notebook(text: str, prose: Prose) -> tuple[str, tuple[str, ...]]:
    """Write a notebook as Markdown.

    Args:
        text: of the file.
        prose: writes its texts.

    Returns:
        Markdown, and sentences on what was left out.

    Raises:
        ValueError: it is no notebook of format 4.
    """
    value = loads(text)
    notebook = Fields(value if isinstance(value, dict) else {})
    if notebook.count("nbformat") != 4:  # noqa: PLR2004 - the version of the format
        raise ValueError("the file is no notebook of format 4")
    cells = notebook.parts("cells")
    language = _language(notebook.part("metadata"))
    blocks = [_cell(cell, language, prose) for cell in cells[:MAX_CELLS]]
    left = len(cells) - MAX_CELLS
    notes = (f"{left:,} more cells are left out.",) if left > 0 else ()
    return joined(*blocks), notes


def _language(metadata: Fields) -> str:
    named = metadata.part("language_info").line("name", _LANGUAGE)
    language = named or metadata.part("kernelspec").line("language", _LANGUAGE)
    return language.lower() if language.isascii() and language.isalnum() else ""


def _cell(cell: Fields, language: str, prose: Prose) -> str:
    source = "".join(cell.texts("source"))
    match cell.line("cell_type"):
        case "markdown":
            return prose.write(source)
        case "code":
            outputs = [_output(output) for output in cell.parts("outputs")[:_OUTPUTS]]
            return joined(_fenced(source, language), *outputs)
        case _:
            return _fenced(source, "")


def _output(output: Fields) -> str:
    if output.line("output_type") == "stream":
        printed = "".join(output.texts("text"))
    elif output.line("output_type") == "error":
        name, value = output.line("ename"), output.line("evalue")
        printed = "\n".join([f"{name}: {value}", *output.texts("traceback")])
    else:
        printed = "".join(output.part("data").texts("text/plain"))
    printed = clean(printed)
    if len(printed) > MAX_OUTPUT:
        printed = f"{printed[:MAX_OUTPUT]}\n[{len(printed) - MAX_OUTPUT:,} more characters]"
    return f"Output:\n\n{fenced}" if (fenced := _fenced(printed, "text")) else ""


def _fenced(text: str, language: str) -> str:
    text = clean(text).strip("\n")
    return fence(text, language=clean_line(language, _LANGUAGE)) if text.strip() else ""
