"""Small result pages of our own with the class names of SearXNG's simple theme, and captures."""

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

GENERATOR = '<meta name="generator" content="searxng/2026.8.22">'


@pytest.fixture
def rng() -> random.Random:
    """Dice that fall the same way every time."""
    return random.Random(1)


@pytest.fixture
def results_page() -> Callable[..., bytes]:
    """Make a result page: what stands in #urls, beside it, and in the head."""

    def make(urls: str = "", *, beside: str = "", head: str = GENERATOR) -> bytes:
        return (
            f'<!DOCTYPE html><html lang="en"><head>{head}</head><body class="results_endpoint">'
            f'<main id="main_results"><div id="results">{beside}<div id="urls">{urls}</div></div>'
            "</main></body></html>"
        ).encode()

    return make


@pytest.fixture
def captures() -> Path | None:
    """The folder of captured answers of real servers, where there is one."""
    root = os.environ.get("SEARX_MCP_CAPTURES")
    folder = Path(root) / "searxng-captures" if root else None
    return folder if folder and folder.is_dir() else None


@pytest.fixture
def capture_pairs(captures: Path | None) -> list[tuple[Path, Path]]:
    """HTML and JSON of the same search, by name; empty without captures.

    `<server>/html/x.html` goes with `<server>/json/x.json`, elsewhere both stand side by side.
    """
    if captures is None:
        return []
    folders = ("all/html", "debian/html", "all/special", "all/formats", "allfail", "htmlonly")
    pages = [page for name in folders for page in sorted((captures / name).glob("*.html"))]
    beside = [
        (page, Path(str(page).replace("/html/", "/json/")).with_suffix(".json")) for page in pages
    ]
    return [(html, json) for html, json in beside if json.exists()]
