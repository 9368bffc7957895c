"""One file of a repository as Markdown.

Code is in a fence that names its language, by the name of the file. Of a Jupyter notebook (nbformat 4, where
texts may be one string or a list of lines) there is what was written, what was computed, and what came out as text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from searx_mcp.content.clean import clean, clean_line
from searx_mcp.content.decode import decode
from searx_mcp.content.fences import fence
from searx_mcp.content.fields import Fields, loads
from searx_mcp.fetch.hops.media import MediaType
from searx_mcp.fetch.site_adapters.composing.prose import Prose, first_heading, front_matter
from searx_mcp.fetch.site_adapters.composing.writing import heading, joined
from searx_mcp.fetch.site_adapters.interface import AsPage, Composed, Material

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


MARKDOWN: Final = "markdown"
NOTEBOOK: Final = "notebook"
HTML: Final = "html"

_BY_SUFFIX: Final = {
    **dict.fromkeys(
        (".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx", ".qmd", ".rmd"), MARKDOWN
    ),
    ".ipynb": NOTEBOOK,
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx"), "cpp"),
    **dict.fromkeys((".yml", ".yaml"), "yaml"),
    **dict.fromkeys((".sh", ".bash", ".zsh"), "bash"),
    **dict.fromkeys((".ini", ".cfg", ".conf"), "ini"),
    **dict.fromkeys((".diff", ".patch"), "diff"),
    **dict.fromkeys((".adoc", ".asciidoc"), "asciidoc"),
    **dict.fromkeys((".ex", ".exs"), "elixir"),
    **dict.fromkeys((".hs", ".lhs"), "haskell"),
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    **dict.fromkeys((".pl", ".pm"), "perl"),
    **dict.fromkeys((".ps1", ".psm1"), "powershell"),
    **dict.fromkeys((".tf", ".tfvars", ".hcl"), "hcl"),
    **dict.fromkeys((".xml", ".xsd", ".xsl", ".svg", ".csproj"), "xml"),
    **dict.fromkeys((".clj", ".cljs", ".edn"), "clojure"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json", ".geojson", ".webmanifest"), "json"),
    ".asm": "asm",
    ".bat": "batch",
    ".bib": "bibtex",
    ".cmake": "cmake",
    ".cs": "csharp",
    ".css": "css",
    ".csv": "csv",
    ".cu": "cuda",
    ".dart": "dart",
    ".el": "elisp",
    ".erl": "erlang",
    ".f90": "fortran",
    ".fish": "fish",
    ".fs": "fsharp",
    ".gd": "gdscript",
    ".glsl": "glsl",
    ".go": "go",
    ".gradle": "groovy",
    ".graphql": "graphql",
    ".groovy": "groovy",
    ".java": "java",
    ".jl": "julia",
    ".json5": "json5",
    ".jsx": "jsx",
    ".less": "less",
    ".lua": "lua",
    ".m": "objectivec",
    ".ml": "ocaml",
    ".nim": "nim",
    ".nix": "nix",
    ".org": "org",
    ".php": "php",
    ".proto": "protobuf",
    ".r": "r",
    ".rb": "ruby",
    ".rs": "rust",
    ".rst": "rst",
    ".sass": "sass",
    ".scala": "scala",
    ".scss": "scss",
    ".sol": "solidity",
    ".sql": "sql",
    ".svelte": "svelte",
    ".swift": "swift",
    ".tcl": "tcl",
    ".tex": "latex",
    ".toml": "toml",
    ".tsv": "tsv",
    ".tsx": "tsx",
    ".v": "verilog",
    ".vim": "vim",
    ".vue": "vue",
    ".wat": "wasm",
    ".zig": "zig",
}
_BY_NAME: Final = {
    "cmakelists.txt": "cmake",
    "containerfile": "dockerfile",
    "dockerfile": "dockerfile",
    "gemfile": "ruby",
    "gnumakefile": "makefile",
    "jenkinsfile": "groovy",
    "justfile": "makefile",
    "makefile": "makefile",
    "rakefile": "ruby",
    ".bashrc": "bash",
    ".gitconfig": "ini",
    ".editorconfig": "ini",
}
_MEDIA: Final = {
    "": "text/plain",
    MARKDOWN: "text/markdown",
    NOTEBOOK: "application/x-ipynb+json",
    HTML: "text/html",
    "css": "text/css",
    "csv": "text/csv",
    "json": "application/json",
    "toml": "application/toml",
    "xml": "application/xml",
    "yaml": "application/yaml",
}


def language_of(name: str) -> str:
    """The language of a file, or nothing if its name does not tell."""
    name = name.lower()
    return _BY_NAME.get(name) or _BY_SUFFIX.get(PurePosixPath(name).suffix, "")


def media_of(language: str) -> str:
    """A media type for text in a language."""
    return _MEDIA.get(language) or f"text/x-{language}"


_LINES = re.compile(r"L([0-9]{1,7})(?:C[0-9]{1,7})?(?:-L?([0-9]{1,7})(?:C[0-9]{1,7})?)?")
"""The fragments of GitHub (`L10`, `L10-L40`, `L10C1-L12C5`), GitLab (`L10-40`) and Forgejo."""

_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_DOCUMENT: Final = "application/pdf"
_POINTER: Final = "version https://git-lfs.github.com/spec/"


@dataclass(frozen=True, slots=True)
class RawFile:
    """Which file is read, and how it is shown.

    Attributes:
        path: in its repository.
        base: the address that relative links of it start from: its own on the site.
        root: the address that links from the root start from, without a slash at its end.
        lines: first and last line to show, or `None` for all.
        as_source: whether markup is shown as it was written.
    """

    path: str
    base: str
    root: str = ""
    lines: tuple[int, int] | None = None
    as_source: bool = False

    @property
    def name(self) -> str:
        """Its name in its folder."""
        return self.path.rpartition("/")[2]


def lines_of(fragment: str) -> tuple[int, int] | None:
    """The lines a fragment names, first and last, or `None` if it names none."""
    match = _LINES.fullmatch(fragment)
    if match is None:
        return None
    first = int(match[1])
    last = int(match[2]) if match[2] else first
    return (min(first, last), max(first, last)) if min(first, last) > 0 else None


def compose(materials: Sequence[Material | None], *, file: RawFile) -> Composed | AsPage:
    """Make a page of a file.

    Args:
        materials: the file alone.
        file: which one it is.

    Raises:
        ValueError: the site answered with a page of its own instead of the file.
    """
    material = materials[0]
    if material is None:
        raise ValueError("the file is missing")
    read_as = material.media.read_as
    if not read_as or read_as == _DOCUMENT:
        return AsPage(material)
    language = language_of(file.name)
    if language == HTML and file.lines is None and not file.as_source:
        is_html = read_as in _HTML_TYPES
        media = material.media if is_html else MediaType("text/html", material.media.charset)
        return AsPage(replace(material, media=media))
    if read_as in _HTML_TYPES and language != HTML:
        raise ValueError("the site answered with a page instead of the file")
    text, _ = decode(material.data, charset=material.media.charset)
    if file.lines is not None:
        return _part(text, file, file.lines, is_truncated=material.is_truncated)
    markdown, notes = render(text, file)
    is_prose = language == MARKDOWN and not file.as_source
    return Composed(
        markdown=markdown if is_prose and markdown else joined(heading(1, file.path), markdown),
        title=(first_heading(markdown) if is_prose else "") or file.path,
        content_type=media_of(language),
        is_truncated=material.is_truncated,
        notes=notes,
    )


def render(
    text: str, file: RawFile, *, shift: int = 0, prose: Prose | None = None
) -> tuple[str, tuple[str, ...]]:
    """Markdown of a file's text.

    Args:
        text: decoded.
        file: which one it is; its lines are not looked at.
        shift: levels that headings of a Markdown file go down.
        prose: writes its texts, for a page of more than one file.

    Returns:
        Markdown, and sentences a caller should know.
    """
    if not text.strip():
        return "", ("The file is empty.",)
    if text.startswith(_POINTER):
        return _source(text, ""), ("The file is kept in Git LFS; this is the pointer to it.",)
    language = language_of(file.name)
    prose = prose or Prose(file.base, file.root)
    if language == MARKDOWN and not file.as_source:
        metadata, rest = front_matter(text)
        return joined(_source(metadata, "yaml"), prose.write(rest, shift=shift)), ()
    if language == NOTEBOOK and not file.as_source:
        try:
            return from_notebook(text, prose)
        except ValueError:
            return _source(text, "json"), ("The notebook could not be read; this is its source.",)
    return _source(text, "json" if language == NOTEBOOK else language), ()


def _part(text: str, file: RawFile, lines: tuple[int, int], *, is_truncated: bool) -> Composed:
    """Some lines, counted as the sites do: by line feeds alone."""
    every = text.split("\n")
    if not every[-1]:
        every.pop()
    count = len(every)
    first, last = lines
    has = f"At least {count:,} lines were read" if is_truncated else f"The file has {count:,} lines"
    notes: tuple[str, ...] = ()
    if first > count:
        notes = (f"{has}, so line {first:,} is not there; all of it is shown.",)
        first, last = 1, count
    elif last > count:
        notes = (f"{has}, so those up to line {last:,} are not there.",)
        last = count
    shown = "\n".join(line.removesuffix("\r") for line in every[first - 1 : last])
    language = language_of(file.name)
    where = f"line {first:,}" if first == last else f"lines {first:,} to {last:,}"
    return Composed(
        markdown=joined(
            heading(1, f"{file.path}, {where} of {count:,}"),
            fence(clean(shown), language="json" if language == NOTEBOOK else language),
        ),
        title=f"{file.path}, {where}",
        content_type=media_of(language),
        is_truncated=is_truncated and last == count,
        notes=notes,
    )


def _source(text: str, language: str) -> str:
    """A fence around text, cleaned first: what vanishes later could join backticks."""
    text = clean(text).strip("\n")
    return fence(text, language=language) if text.strip() else ""
