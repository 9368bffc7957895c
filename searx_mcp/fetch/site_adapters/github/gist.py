"""Gists, from the REST API."""

from collections.abc import Sequence
from typing import Final

from searx_mcp.content.clean import clean_line
from searx_mcp.content.fields import Fields
from searx_mcp.fetch.site_adapters.composing.fields import object_of
from searx_mcp.fetch.site_adapters.composing.prose import Prose
from searx_mcp.fetch.site_adapters.composing.raw_file import RawFile, render
from searx_mcp.fetch.site_adapters.composing.writing import facts, heading, joined
from searx_mcp.fetch.site_adapters.interface import Composed, Material

MAX_FILES: Final = 100


def compose(materials: Sequence[Material | None], *, page: str) -> Composed:
    """Make a page of a gist's files.

    Args:
        materials: the gist.
        page: its address on the site.

    Raises:
        ValueError: the answer is not what is documented.
    """
    found = object_of(materials[0])
    files = found.part("files").members()
    if not files:
        raise ValueError("the gist has no files")
    description = found.line("description", 300)
    owner = found.part("owner").line("login")
    title = description or Fields({"name": files[0][0]}).line("name")
    notes: list[str] = []
    blocks = []
    prose = Prose(page)
    for name, file in files[:MAX_FILES]:
        written, noted = _file(name, file, prose)
        blocks += [heading(2, name), written]
        notes += noted
    left = len(files) - MAX_FILES
    if left > 0:
        notes.append(f"{left:,} more files are left out.")
    if found.flag("truncated"):
        notes.append("The gist has more files than the API gives.")
    return Composed(
        markdown=joined(
            heading(1, title),
            facts(
                [
                    ("Author", owner),
                    ("Files", len(files)),
                    ("Updated", found.day("updated_at")),
                    ("Comments", found.count("comments")),
                ]
            ),
            *blocks,
        ),
        title=title,
        author=owner,
        published=found.line("created_at"),
        modified=found.line("updated_at"),
        is_truncated=bool(left > 0 or found.flag("truncated")),
        notes=tuple(notes),
    )


def _file(name: str, file: Fields, prose: Prose) -> tuple[str, list[str]]:
    """A file of a gist; the API gives at most 1 MB of it, and binary ones in base64."""
    if file.line("encoding") not in {"", "utf-8"}:
        return "(not text)", []
    named = RawFile(name, base=prose.base)
    written, notes = render(file.text("content"), named, shift=2, prose=prose)
    more = (
        [f"{clean_line(name, 100)} is cut: the API gives 1 MB of a file."]
        if file.flag("truncated")
        else []
    )
    return written, [*notes, *more]
