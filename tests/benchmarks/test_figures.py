"""The figures that the README and the docs repeat are those that were measured."""

import re
import tomllib
from pathlib import Path

import pytest
from mcp import Client

from searx_mcp.server.app import build_server
from searx_mcp.settings.tools import PROFILES
from searx_mcp.settings.values import Settings

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text("utf-8")
DETAILS = (ROOT / "docs" / "decisions" / "benchmarks.md").read_text("utf-8")
FIGURES = tomllib.loads((ROOT / "benchmarks" / "serving" / "peer_figures.toml").read_text("utf-8"))
COMPARED = (
    *("mcp-searxng (ihor), full", "whw23", "agent-search-mcp", "mcp-server-fetch"),
    *("exa", "tavily"),
)
"""The other servers in the order of the README's columns."""
ESTIMATED = 0.1
"""How far the estimate may be from the vocabulary, which is no library of the tests."""


def row(title: str) -> list[str]:
    """The cells of a row of the README."""
    (found,) = [line for line in README.splitlines() if line.startswith(f"| {title} |")]
    return [cell.strip() for cell in found.strip("|").split("|")][1:]


def numbers(text: str) -> list[int]:
    return [int(each.replace(",", "")) for each in re.findall(r"\d[\d,]*", text)]


def told(profile: str) -> int:
    """The tokens of a profile in the reference."""
    page = (ROOT / "docs" / "reference" / "tools.md").read_text("utf-8")
    (found,) = re.findall(rf"^\| `{profile}` \| .* \| ([\d,]+) \|$", page, re.MULTILINE)
    return numbers(found)[0]


@pytest.mark.parametrize("profile", PROFILES)
async def test_the_reference_has_the_tokens_of_each_profile(load_benchmark, profile):
    counting = load_benchmark("serving.counting")
    settings = Settings.model_validate({"server": {"profile": profile}})
    async with Client(build_server(settings)) as client:
        tools = (await client.list_tools()).model_dump(mode="json", by_alias=True)["tools"]
    assert counting.ESTIMATE.schema(tools) == pytest.approx(told(profile), rel=ESTIMATED)


def test_the_readme_and_the_benchmarks_have_the_tokens_of_the_reference():
    assert numbers(row("Tokens of the tools")[0]) == [told("default"), told("small")]
    assert f"The four descriptions cost {told('default')} tokens" in " ".join(README.split())
    overview = (ROOT / "docs" / "explanation" / "benchmarks.md").read_text("utf-8")
    assert f"| `tokens`: definitions of the four default tools | {told('default')} tok" in overview
    assert f"| the default four | {told('default')} |" in DETAILS


def test_the_readme_has_the_tokens_of_other_servers_as_they_were_measured():
    measured = {peer["name"]: peer["model"] for peer in FIGURES["peer"]}
    shown = numbers(" ".join(row("Tokens of the tools")[1:]))
    assert shown == [measured[name] for name in COMPARED]


def test_the_readme_has_the_times_beside_another_server_as_they_were_measured():
    (hung,) = re.findall(
        r"^\| one hung \| .* \| ([\d.]+), \*\*([\d.]+)\*\* \|$", DETAILS, re.MULTILINE
    )
    assert row("One instance hangs: p95 of 12 searches")[:2] == [f"{each} s" for each in hung]
    (calls,) = re.findall(r"first call of ours .* \(([\d.]+) s beside ([\d.]+) s\)", DETAILS)
    ours, other = calls
    assert f"first call in {other} s (here {ours} s)" in row("What it does better")[1]
