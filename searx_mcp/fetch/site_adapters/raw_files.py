"""One file of a repository as Markdown, and the forges that serve raw files.

Code is put in a fence with its language, derived from the file name. Of a Jupyter notebook (nbformat 4, where
texts may be one string or a list of lines), the cells and their text output are shown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath
from typing import Final

from yarl import URL

from searx_mcp.content.clean import clean, clean_line
from searx_mcp.content.decode import decode
from searx_mcp.content.markdown import fence
from searx_mcp.content.values import Fields, loads
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.hops.media import MediaType
from searx_mcp.fetch.site_adapters.adapter import (
    AdapterSource,
    AsPage,
    Composed,
    Plan,
    address,
    composed,
    lines_of,
    parts_of,
)
from searx_mcp.fetch.site_adapters.markdown import (
    ProseRewriter,
    first_heading,
    front_matter,
    heading,
    joined,
)

MAX_CELLS: Final = 1_000
MAX_OUTPUT: Final = 4_000
"""Characters shown of one cell's output: a progress bar prints thousands of lines."""

MARKDOWN: Final = "markdown"
NOTEBOOK: Final = "notebook"
HTML: Final = "html"

_OUTPUTS: Final = 20
_LANGUAGE: Final = 30
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_DOCUMENT: Final = "application/pdf"
_POINTER: Final = "version https://git-lfs.github.com/spec/"

# Sites whose addresses have the same form and another meaning.
_NO_GITLAB: Final = frozenset({"github.com", "www.github.com", "codeberg.org", "huggingface.co"})
_NO_FORGEJO: Final = frozenset({"github.com", "www.github.com", "gitlab.com", "huggingface.co"})
_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9_.-]{1,255}")
_MAX_DEPTH: Final = 21  # nested groups of GitLab, and the project

# Languages by file extension; most extensions are the language's own name.
_ENDINGS: Final = {
    MARKDOWN: "md markdown mdown mkd mkdn mdx qmd rmd",
    NOTEBOOK: "ipynb",
    HTML: "html htm xhtml",
    "asciidoc": "adoc asciidoc",
    "bash": "sh bash zsh",
    "batch": "bat",
    "bibtex": "bib",
    "c": "c h",
    "clojure": "clj cljs edn",
    "cpp": "cpp cc cxx hpp hh hxx",
    "csharp": "cs",
    "cuda": "cu",
    "diff": "diff patch",
    "elisp": "el",
    "elixir": "ex exs",
    "erlang": "erl",
    "fortran": "f90",
    "fsharp": "fs",
    "gdscript": "gd",
    "groovy": "gradle groovy",
    "haskell": "hs lhs",
    "hcl": "tf tfvars hcl",
    "ini": "ini cfg conf",
    "javascript": "js mjs cjs",
    "json": "jsonl ndjson json geojson webmanifest",
    "julia": "jl",
    "kotlin": "kt kts",
    "latex": "tex",
    "objectivec": "m",
    "ocaml": "ml",
    "perl": "pl pm",
    "powershell": "ps1 psm1",
    "protobuf": "proto",
    "python": "py pyi pyw",
    "ruby": "rb",
    "rust": "rs",
    "solidity": "sol",
    "typescript": "ts mts cts",
    "verilog": "v",
    "wasm": "wat",
    "xml": "xml xsd xsl svg csproj",
    "yaml": "yml yaml",
    **dict.fromkeys(
        [
            "asm", "cmake", "css", "csv", "dart", "fish", "glsl", "go", "graphql", "java",
            "json5", "jsx", "less", "lua", "nim", "nix", "org", "php", "r", "rst", "sass",
            "scala", "scss", "sql", "svelte", "swift", "tcl", "toml", "tsv", "tsx", "vim", "vue",
            "zig",
        ]
    ),
}  # fmt: skip
_BY_SUFFIX: Final = {
    f".{ending}": language
    for language, endings in _ENDINGS.items()
    for ending in (endings or language).split()
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


@dataclass(frozen=True, slots=True)
class RawFile:
    """A file to read, and how to show it.

    Attributes:
        path: in its repository.
        base: base address of its relative links: its own on the site.
        root: base of links that start with a slash, without a trailing slash.
        lines: first and last line to show, or `None` for all.
        as_source: whether to show markup as source.
    """

    path: str
    base: str
    root: str = ""
    lines: tuple[int, int] | None = None
    as_source: bool = False

    @property
    def name(self) -> str:
        """Its name without the folder."""
        return self.path.rpartition("/")[2]


def plan_gitlab(url: URL) -> Plan | None:
    """Plan to read a file of GitLab from `/-/raw/` of the same host, for any address with a `/-/`."""
    parts = parts_of(url) or ()
    if "-" not in parts or url.host in _NO_GITLAB:
        return None
    cut = parts.index("-")
    project, rest = parts[:cut], parts[cut + 1 :]
    if not 1 < len(project) <= _MAX_DEPTH or not all(map(_NAME.fullmatch, project)):
        return None
    match rest:
        case ["blob" | "raw" as kind, _, _, *_]:
            as_source = url.query.get("plain") == "1" and kind == "blob"
        case _:
            return None
    place = (*project, "-", "blob")
    return plan_file(
        "gitlab",
        AdapterSource(address(str(url.origin()), *project, "-", "raw", *rest[1:])),
        _file_at(url, place, rest[1:2], rest[2:], as_source=as_source),
    )


def plan_forgejo(url: URL) -> Plan | None:
    """Plan to read a file of Forgejo or Gitea, such as Codeberg's, from `/raw/` of the same host."""
    match parts_of(url):
        case [owner, name, "src" | "raw" | "media" as how, kind, _, _, *_] as parts if (
            kind in {"branch", "tag", "commit"} and url.host not in _NO_FORGEJO
        ):
            pass
        case _:
            return None
    if not _NAME.fullmatch(owner) or not _NAME.fullmatch(name):
        return None
    raw = "media" if how == "media" else "raw"
    return plan_file(
        "codeberg",
        AdapterSource(address(str(url.origin()), owner, name, raw, *parts[3:])),
        _file_at(
            url,
            (owner, name, "src"),
            parts[3:5],
            parts[5:],
            as_source=url.query.get("display") == "source",
        ),
    )


def _file_at(
    url: URL,
    place: tuple[str, ...],
    ref: tuple[str, ...],
    path: tuple[str, ...],
    *,
    as_source: bool,
) -> RawFile:
    """Describe the file of an address; only the server knows where in it the path begins."""
    origin = str(url.origin())
    return RawFile(
        path="/".join(path),
        base=address(origin, *place, *ref, *path),
        root=address(origin, *place, *ref),
        lines=lines_of(url.fragment),
        as_source=as_source,
    )


def plan_file(tier: str, source: AdapterSource, file: RawFile) -> Plan:
    """Plan to read one file from one source."""
    return Plan(tier=tier, sources=(source,), compose=partial(compose, file=file))


def compose(answers: Sequence[ReceivedPage | None], *, file: RawFile) -> Composed | AsPage:
    """Make a page of a file; raises `ValueError` if the site answered with a page instead."""
    answer = answers[0]
    if answer is None:
        raise ValueError("the file is missing")
    read_as = answer.media.read_as
    if not read_as or read_as == _DOCUMENT:
        return AsPage(answer)
    language = language_of(file.name)
    if language == HTML and file.lines is None and not file.as_source:
        is_html = read_as in _HTML_TYPES
        media = answer.media if is_html else MediaType("text/html", answer.media.charset)
        return AsPage(replace(answer, media=media))
    if read_as in _HTML_TYPES and language != HTML:
        raise ValueError("the site answered with a page instead of the file")
    text, _ = decode(answer.body.data, charset=answer.media.charset)
    if file.lines is not None:
        return _part(text, file, file.lines, is_truncated=answer.body.truncated)
    markdown, notes = render(text, file)
    is_prose = language == MARKDOWN and not file.as_source
    return composed(
        markdown if is_prose and markdown else joined(heading(1, file.path), markdown),
        title=(first_heading(markdown) if is_prose else "") or file.path,
        content_type=media_of(language),
        is_truncated=answer.body.truncated,
        notes=notes,
    )


def render(
    text: str, file: RawFile, *, shift: int = 0, prose: ProseRewriter | None = None
) -> tuple[str, tuple[str, ...]]:
    """Convert a file's text to Markdown.

    Args:
        text: decoded.
        file: which file; its lines are ignored.
        shift: levels to lower the headings of a Markdown file by.
        prose: rewrites its texts, for a page of several files.

    Returns:
        Markdown, and sentences for the caller.
    """
    if not text.strip():
        return "", ("The file is empty.",)
    if text.startswith(_POINTER):
        return _source(text, ""), ("The file is kept in Git LFS; this is the pointer to it.",)
    language = language_of(file.name)
    prose = prose or ProseRewriter(file.base, file.root)
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
    """Show some lines, counted like the sites do: by line feeds alone."""
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
    return composed(
        joined(
            heading(1, f"{file.path}, {where} of {count:,}"),
            fence(clean(shown), language="json" if language == NOTEBOOK else language),
        ),
        title=f"{file.path}, {where}",
        content_type=media_of(language),
        is_truncated=is_truncated and last == count,
        notes=notes,
    )


def _source(text: str, language: str) -> str:
    """Fence a text after cleaning it: characters removed later could join backticks."""
    text = clean(text).strip("\n")
    return fence(text, language=language) if text.strip() else ""


def from_notebook(text: str, prose: ProseRewriter) -> tuple[str, tuple[str, ...]]:
    """Convert a notebook to Markdown, and sentences on what was left out.

    Raises:
        ValueError: it is not a notebook of format 4.
    """
    value = loads(text)
    notebook = Fields(value if isinstance(value, dict) else {})
    if notebook.count("nbformat") != 4:  # noqa: PLR2004 - the version of the format
        raise ValueError("the file is not a notebook of format 4")
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


def _cell(cell: Fields, language: str, prose: ProseRewriter) -> str:
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


def language_of(name: str) -> str:
    """Return the language of a file; empty if its name does not show it."""
    name = name.lower()
    return _BY_NAME.get(name) or _BY_SUFFIX.get(PurePosixPath(name).suffix, "")


def media_of(language: str) -> str:
    """Return a media type for text in a language."""
    return _MEDIA.get(language) or f"text/x-{language}"
