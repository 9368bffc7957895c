"""Pages with the Markdown that another project expects of them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_STATED = re.compile(r'<!--\s*\{\s*"url"\s*:\s*"([^"]+)"')
_BEGINNING: Final = 600


@dataclass(frozen=True, slots=True)
class Fixture:
    """A page and what is expected of it.

    Attributes:
        name: of its file.
        url: where it stands, as it says itself, or an address made from its name.
        html: the page.
        expected: Markdown.
    """

    name: str
    url: str
    html: str
    expected: str


def fixtures(checkout: Path) -> list[Fixture]:
    """The pages of a checkout in defuddle's layout that have an expectation.

    Args:
        checkout: holds `tests/fixtures/*.html` and `tests/expected/*.md`.

    Raises:
        ValueError: if there are none.
    """
    found = []
    for path in sorted((checkout / "tests" / "fixtures").glob("*.html")):
        expected = checkout / "tests" / "expected" / f"{path.stem}.md"
        if expected.is_file():
            html = path.read_text(encoding="utf-8", errors="replace")
            stated = _STATED.search(html[:_BEGINNING])
            url = stated[1] if stated else f"https://{_host(path.stem)}/"
            found.append(Fixture(path.stem, url, html, expected.read_text(encoding="utf-8")))
    if not found:
        raise ValueError(f"{checkout} has no tests/fixtures/*.html with tests/expected/*.md")
    return found


def _host(stem: str) -> str:
    return re.sub(r"[^a-z0-9.-]", "-", stem.lower().partition("--")[2] or stem.lower())[:60].strip(
        "-."
    )
