"""One file of a repository as Markdown."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from searx_mcp.content.clean import clean
from searx_mcp.content.decode import decode
from searx_mcp.content.fences import fence
from searx_mcp.fetch.hops.media import MediaType
from searx_mcp.fetch.tiers.composing.languages import (
    HTML,
    MARKDOWN,
    NOTEBOOK,
    language_of,
    media_of,
)
from searx_mcp.fetch.tiers.composing.notebook import from_notebook
from searx_mcp.fetch.tiers.composing.prose import Prose, first_heading, front_matter
from searx_mcp.fetch.tiers.composing.writing import heading, joined
from searx_mcp.fetch.tiers.interface import AsPage, Composed, Material

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
