"""Which sites an operator prefers."""

import pytest

from searx_mcp.search.config import QualityConfig
from searx_mcp.search.judging import DEMOTED, PREFERRED, preference

OWN_RULES = QualityConfig(
    preferred_domains=("example.org", "wiki.*", "*/handbook/*"),
    demoted_domains=("bad.example.org",),
)


@pytest.mark.parametrize(
    "url",
    [
        "https://docs.python.example/3/",
        "https://sphinx.readthedocs.io/en/master/",
        "https://developer.mozilla.org/en-US/docs/Web",
        "https://www.rfc-editor.org/rfc/rfc9309",
        "https://html.spec.whatwg.org/multipage/",
        "https://www.gov.uk/pay",
        "https://www.nist.gov/",
        "https://health.gov.au/",
        "https://cs.example.edu/notes",
        "https://www.cam.ac.uk/",
        "https://example.com/docs/start",
    ],
)
def test_documentation_standards_and_official_sites_are_preferred(url: str):
    assert preference(url, "", QualityConfig()) == PREFERRED


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/",
        "https://mydocs.example/",
        "https://gov.example.com/",
        "https://notw3.org/",
        "https://example.com/docs",
        "not an address",
    ],
)
def test_others_are_not(url: str):
    assert preference(url, "", QualityConfig()) == 0


@pytest.mark.parametrize(
    ("url", "worth"),
    [
        ("https://example.org/", PREFERRED),
        ("https://www.example.org/", PREFERRED),
        ("https://a.b.example.org/", PREFERRED),
        ("https://wiki.example.com/", PREFERRED),
        ("https://example.com/the/Handbook/1", PREFERRED),
        ("https://bad.example.org/", DEMOTED),
        ("https://docs.example.com/", 0),
    ],
)
def test_the_operator_makes_the_rules(url: str, worth: float):
    assert preference(url, "", OWN_RULES) == worth


@pytest.mark.parametrize(
    ("url", "query", "is_named"),
    [
        ("https://tokio.example/tutorial", "tokio runtime", True),
        ("https://www.tokio.example/", "Tokio", True),
        ("https://tokio.co.uk/", "tokio", True),
        ("https://blog.example/tokio", "tokio", False),
        ("https://tokiofans.example/", "tokio", False),
        ("https://go.example/", "go maps", False),
    ],
)
def test_a_site_that_the_question_names_is_preferred(url, query, is_named):
    assert preference(url, query, QualityConfig()) == (PREFERRED if is_named else 0)
    assert preference(url, query, QualityConfig(prefer_named_sites=False)) == 0
