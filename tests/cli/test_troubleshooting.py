"""The page on troubleshooting shows what the doctor and a failed search print."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from searx_mcp.cli.running import ExitCode
from searx_mcp.testing.searxng import FakeSearxng

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "troubleshooting.md").read_text(encoding="utf-8")
DOCTOR, SEARCH = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SHOWN = sorted(
    {
        piece
        for cell in re.findall(r"^\| [^|]* \| ([^|]*\*[^|]*) \|", PAGE, re.MULTILINE)
        for message in re.findall(r"\*([^*]+)\*", cell)
        for piece in re.split(r" ?… ?", message)
        if piece.strip()
    }
)


def written(node: ast.AST) -> Iterator[str]:
    """Every text of a module as a reader sees it; a value that is put in becomes `…`."""
    for child in ast.walk(node):
        if isinstance(child, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "…" for part in child.values
            )
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value


TEXTS = [
    text
    for module in (ROOT / "searx_mcp" / "ops" / "doctor").glob("*.py")
    for text in written(ast.parse(module.read_text(encoding="utf-8")))
]


def test_the_page_shows_messages():
    assert len(SHOWN) > 30


@pytest.mark.parametrize("piece", SHOWN)
def test_a_message_of_the_page_is_one_of_the_doctor(piece: str):
    assert any(piece in text for text in TEXTS)


def unplaced(text: str) -> str:
    """The text without what differs between machines: port, folder, free space, breaks of lines."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8080", " ".join(text.split()))
    text = re.sub(r"Port \d+", "Port 8080", text)
    return re.sub(r"\S+ can be written; [\d.]+ GB", "It can be written; 1 GB", text)


async def test_the_doctor_prints_what_the_page_shows(run_cli):
    async with FakeSearxng() as instance:
        ran = await run_cli("doctor", SEARXNG_URL=instance.url, SEARX_MCP_OPEN_SOURCES__MODE="")
    assert unplaced(ran.out) == unplaced(DOCTOR)


async def test_a_search_at_an_instance_that_is_down_prints_what_the_page_shows(
    run_cli, unused_port
):
    ran = await run_cli("search", "bees", SEARXNG_URL=f"http://127.0.0.1:{unused_port()}/")
    assert ran.code == ExitCode.UNAVAILABLE
    assert ran.err.partition("searx-mcp: ")[2].split() == SEARCH.removeprefix("searx-mcp: ").split()
