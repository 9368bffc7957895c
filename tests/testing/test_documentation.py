"""The Python blocks of the pages that need no network run as they stand, and their settings load."""

import asyncio
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from searx_mcp.settings.values import Settings
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

ROOT = Path(__file__).parents[2]
BLOCKS = {
    page: re.findall(
        r"^```python\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    for page in ("docs/guides/evidence.md", "docs/guides/testing.md", "tests/doubles/README.md")
}
SETTINGS = [
    (page, block)
    for page in (
        "explanation/open-sources.md",
        "explanation/reading-pages.md",
        "guides/http-server.md",
        "guides/network.md",
        "guides/own-instance.md",
        "guides/search-apis.md",
        "reference/tools.md",
    )
    for block in re.findall(
        r"^```toml\n(.*?)^```$", (ROOT / "docs" / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
]
RUN = f"""
import json, sys
sys.path.append({str(ROOT)!r})
for block in json.load(sys.stdin):
    exec(block, {{"__name__": "__main__"}})
"""
"""As the tests have it: `tests.doubles` is found, and the package stays the one that is installed."""


def test_the_pages_have_examples_and_settings():
    assert sum(map(len, BLOCKS.values())) == 8
    assert len({page for page, _ in SETTINGS}) == 7


@pytest.mark.slow
@pytest.mark.parametrize("page", BLOCKS)
def test_the_examples_of_a_page_run(page: str):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN],
        input=json.dumps(BLOCKS[page]),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, f"{page}: {result.stderr}"


@pytest.mark.slow
async def test_the_example_of_the_module_prints_what_an_instance_finds():
    page = (ROOT / "docs" / "guides" / "module.md").read_text("utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    site = FakeWeb({"/bees": FakePage(article("Bees", ["They tell where food is."]))})
    async with site as web, FakeSearxng(links=web.links, formats=("json",)) as instance:
        code = example.replace("http://127.0.0.1:8080", instance.url)
        assert code != example
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-W", "error", "-c", code, stdout=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(120):
            output, _ = await process.communicate()
        assert process.returncode == 0
        assert web.url("/bees") in output.decode()
        assert {request.query["time_range"] for request in instance.requests} == {"year"}


@pytest.mark.parametrize(("page", "block"), SETTINGS)
def test_the_settings_of_a_page_are_valid(page: str, block: str):
    assert Settings.model_validate(tomllib.loads(block)) != Settings(), page
