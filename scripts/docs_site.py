"""What MkDocs does besides: order the pages, and link files outside `docs/` to the repository.

`mkdocs.yml` names this module as its hooks; nothing of MkDocs is imported here.
"""

import re
from collections.abc import MutableMapping
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Final, Protocol

FIRST: Final = ("index.md", "getting-started.md")
SECTIONS: Final = ("guides", "reference", "explanation", "decisions")
_OUTSIDE: Final = re.compile(r"(?<=\]\()(?:\.\./)+[^)\s]*")


class File(Protocol):
    """The file of a page; `src_uri` is its path below `docs/`."""

    src_uri: str


class Page(Protocol):
    """A page that is made."""

    file: File


def on_config(config: MutableMapping[str, object]) -> MutableMapping[str, object]:
    """List the pages: first where a reader starts, decisions last, within a section by name."""
    docs = Path(str(config["docs_dir"]))
    pages: list[object] = [name for name in FIRST if (docs / name).is_file()]
    pages += [
        {section.capitalize(): _pages(docs, f"{section}/*.md")}
        for section in SECTIONS
        if (docs / section).is_dir()
    ]
    pages += [name for name in _pages(docs, "*.md") if name not in FIRST]
    config["nav"] = pages
    return config


def on_page_markdown(
    markdown: str, page: Page, config: MutableMapping[str, object], **_: object
) -> str:
    """Let links that leave `docs/` lead to the repository: the site has no such files."""

    def lead_out(link: re.Match[str]) -> str:
        target = normpath(join("docs", dirname(page.file.src_uri), link[0]))
        if target.startswith("docs/"):
            return link[0]
        return f"{config['repo_url']}/blob/main/{target}"

    return _OUTSIDE.sub(lead_out, markdown)


def _pages(docs: Path, pattern: str) -> list[str]:
    return sorted(page.relative_to(docs).as_posix() for page in docs.glob(pattern))
