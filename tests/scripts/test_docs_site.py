"""The order of the pages, links that leave the docs, and the drawing of the packages."""

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
HOME = "https://forge.example/project"


@pytest.fixture
def site(load_script):
    return load_script("docs_site")


def test_every_page_is_listed_once_and_decisions_come_last_of_the_sections(site, tmp_path):
    for name in (
        "index.md",
        "log.md",
        "decisions/a.md",
        "guides/z.md",
        "guides/b.md",
        "guides/i.svg",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert site.on_config({"docs_dir": str(tmp_path)})["nav"] == [
        "index.md",
        {"Guides": ["guides/b.md", "guides/z.md"]},
        {"Decisions": ["decisions/a.md"]},
        "log.md",
    ]


@pytest.mark.parametrize(
    ("link", "led"),
    [
        ("../../examples/a.py", f"{HOME}/blob/main/examples/a.py"),
        ("../../CONTRIBUTING.md#tests", f"{HOME}/blob/main/CONTRIBUTING.md#tests"),
        ("../reference/cli.md#corpus", "../reference/cli.md#corpus"),
        ("other.md", "other.md"),
        ("https://a.example/../b", "https://a.example/../b"),
    ],
)
def test_a_link_that_leaves_the_docs_leads_to_the_repository(site, link, led):
    page = SimpleNamespace(file=SimpleNamespace(src_uri="guides/page.md"))
    text = f"See [it]({link}), and `../code`."
    made = site.on_page_markdown(text, page=page, config={"repo_url": HOME}, files=())
    assert made == f"See [it]({led}), and `../code`."


def test_the_drawing_has_every_package_in_the_order_of_the_layers():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (layers,) = (each["layers"] for each in contracts["contracts"] if each["id"] == "layers")
    rows = [layer.split(" | ") for layer in layers if layer != "__main__"]
    drawing = (ROOT / "docs" / "decisions" / "house.svg").read_text("utf-8")
    names = re.findall(r'<text x="[\d.]+" y="(\d+)">([a-z]+)</text>', drawing)
    drawn = [[name for y, name in names if y == row] for row in dict.fromkeys(y for y, _ in names)]
    assert drawn == rows
