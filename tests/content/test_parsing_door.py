"""Untrusted markup is parsed in known places only, each behind its guard."""

import re
from pathlib import Path

import pytest

import searx_mcp

PACKAGE = Path(searx_mcp.__file__).parent

PLACES = {
    # Takes nothing but `Guarded`, which only `guard` makes; mypy holds that.
    r"\bLexborHTMLParser\(": {"content/html/guards.py"},
    r"\bGuarded\(": {"content/html/guards.py"},
    # Reads what lexbor made of guarded markup, of bounded size and depth.
    r"\bBeautifulSoup\(": {"content/fragments.py"},
    r"\betree\.XMLParser\(": {"content/feeds.py", "sources/open/engines/arxiv.py"},
    r"\betree\.fromstring\(": {"content/feeds.py", "sources/open/engines/arxiv.py"},
    r"\betree\.(?:parse|iterparse|HTML|HTMLParser|XML)\(": set(),
    r"\b(?:lxml\.html|html5lib|from html\.parser|ElementTree|minidom|expat|parse_fragment)\b": set(),
}
"""Where each way to parse markup is used."""

REFUSED = ("resolve_entities=False", "no_network=True", "load_dtd=False", "huge_tree=False")
"""What every parser of XML must be told: no entities, no other files, bounded depth and text."""


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    """The modules of the package by path."""
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
    }


@pytest.mark.parametrize("use", PLACES)
def test_markup_is_parsed_in_known_places_only(sources: dict[str, str], use: str) -> None:
    pattern = re.compile(use)

    assert {path for path, source in sources.items() if pattern.search(source)} == PLACES[use]


def test_parsers_of_xml_follow_no_entity_and_no_address(sources: dict[str, str]) -> None:
    for path in PLACES[r"\betree\.XMLParser\("]:
        options = sources[path].partition("etree.XMLParser(")[2].partition(")")[0]
        assert [option for option in REFUSED if option not in options] == []
        calls = re.findall(r"etree\.fromstring\(.*", sources[path])
        assert [call for call in calls if not call.endswith(", parser)")] == []
