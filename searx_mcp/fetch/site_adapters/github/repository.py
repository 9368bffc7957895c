"""A repository and its folders, from the REST API."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.fields import Fields
from searx_mcp.fetch.site_adapters.address import address
from searx_mcp.fetch.site_adapters.composing.fields import list_of, object_of
from searx_mcp.fetch.site_adapters.composing.raw_file import RawFile, render
from searx_mcp.fetch.site_adapters.composing.writing import (
    Link,
    capped,
    facts,
    heading,
    joined,
    link,
    plain,
    size,
)
from searx_mcp.fetch.site_adapters.github.api import SITE
from searx_mcp.fetch.site_adapters.interface import Composed, Material

MAX_ENTRIES: Final = 1_000
"""Entries of a folder the API gives."""

_MAX_TOPICS: Final = 30
_DEFAULT: Final = "HEAD"


@dataclass(frozen=True, slots=True)
class Place:
    """A repository.

    Attributes:
        owner: account name.
        name: of the repository.
    """

    owner: str
    name: str

    @property
    def title(self) -> str:
        """Both, as people write them."""
        return f"{self.owner}/{self.name}"

    @property
    def api(self) -> tuple[str, str, str]:
        """Where it is in the API."""
        return "repos", self.owner, self.name

    @property
    def page(self) -> str:
        """Its address on the site."""
        return address(SITE, self.owner, self.name)


def compose(materials: Sequence[Material | None], *, place: Place) -> Composed:
    """Make a page of what the API says of a repository, and its README.

    Args:
        materials: the repository, and the README if there is one.
        place: which repository.

    Raises:
        ValueError: the answers are not what is documented.
    """
    found = object_of(materials[0])
    title = found.line("full_name") or place.title
    readme, notes = _readme(materials[1], place, _DEFAULT)
    description = found.line("description", 1_000)
    homepage = found.line("homepage", 500)
    if found.flag("archived"):
        notes = ("The repository is archived: nobody works on it.", *notes)
    return Composed(
        markdown=joined(
            heading(1, title),
            plain(description, 1_000),
            facts(
                [
                    ("Homepage", Link(homepage, homepage)),
                    ("Topics", capped(found.lines("topics", 60), _MAX_TOPICS)),
                    ("Language", found.line("language")),
                    ("Licence", _licence(found.part("license"))),
                    ("Stars", found.count("stargazers_count")),
                    ("Forks", found.count("forks_count")),
                    ("Open issues and pull requests", found.count("open_issues_count")),
                    ("Default branch", found.line("default_branch")),
                    ("Last push", found.day("pushed_at")),
                    ("Fork of", found.part("parent").line("full_name")),
                ]
            ),
            readme,
        ),
        title=title,
        description=description,
        author=found.part("owner").line("login"),
        published=found.line("created_at"),
        modified=found.line("pushed_at"),
        notes=notes,
    )


def compose_folder(
    materials: Sequence[Material | None], *, place: Place, ref: str, folder: tuple[str, ...]
) -> Composed:
    """Make a page of a folder's entries, and its README.

    Args:
        materials: the entries, and the README if there is one.
        place: which repository.
        ref: branch, tag or commit.
        folder: path of the folder; empty for the root.

    Raises:
        ValueError: the answers are not what is documented; the path is a file's.
    """
    entries, is_whole = list_of(materials[0])
    where = "/".join([place.name, *folder])
    written = [_entry(entry, place, ref, folder) for entry in entries[:MAX_ENTRIES]]
    readme, notes = _readme(materials[1], place, ref)
    if not is_whole or len(entries) >= MAX_ENTRIES:
        notes = (f"The first {len(written):,} entries are shown; there may be more.", *notes)
    return Composed(
        markdown=joined(
            heading(1, f"{where} at {ref}"),
            "\n".join(sorted(filter(None, written), key=_folders_first)) or "The folder is empty.",
            readme,
        ),
        title=f"{place.title}: {where} at {ref}",
        is_truncated=not is_whole,
        notes=notes,
    )


def _folders_first(line: str) -> bool:
    return "/](" not in line


def _entry(entry: Fields, place: Place, ref: str, folder: tuple[str, ...]) -> str:
    name = entry.line("name", 255)
    if not name or "/" in name or name in {".", ".."}:
        return ""
    is_folder = entry.line("type") == "dir"
    kind = "tree" if is_folder else "blob"
    url = address(SITE, place.owner, place.name, kind, *ref.split("/"), *folder, name)
    if is_folder:
        return f"- {link(name + '/', url)}"
    if entry.line("type") == "submodule" or (
        # Versions of the API before 2026-03-10 call a submodule a file, of no size.
        entry.line("type") == "file" and not entry.text("download_url")
    ):
        return f"- {plain(name)} (submodule)"
    volume = size(entry.count("size"))
    return f"- {link(name, url)}{', ' + volume if volume else ''}"


def _licence(licence: Fields) -> str:
    """The SPDX identifier, unless GitHub only knows that there is some licence."""
    named = licence.line("spdx_id")
    return licence.line("name") if named in {"", "NOASSERTION"} else named


def _readme(material: Material | None, place: Place, ref: str) -> tuple[str, tuple[str, ...]]:
    """The README as Markdown; it comes in base64, and without content from 1 MB on."""
    if material is None:
        return "", ()
    try:
        found = object_of(material)
        path = found.line("path", 500) or found.line("name")
        content = found.text("content") if found.line("encoding") == "base64" else ""
        text = base64.b64decode(content).decode(errors="replace")
    except ValueError:
        return "", ("The README could not be read.",)
    if not path or not text:
        return "", ("The README is empty, or too large for the API.",)
    place_of_files = (place.owner, place.name, "blob", *ref.split("/"))
    file = RawFile(
        path,
        base=address(SITE, *place_of_files, *path.split("/")),
        root=address(SITE, *place_of_files),
    )
    return render(text, file, shift=1)
