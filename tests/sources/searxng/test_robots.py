import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.sources.searxng.robots import MAX_ROBOTS, forbids_us

SEARXNG = """\
User-agent: *
Allow: /info/en/about
Disallow: /stats
Disallow: /image_proxy
Disallow: /preferences
Disallow: /*?*q=*
"""
"""As SearXNG of 2026.8.22 serves it."""
US = "User-agent: searx-mcp\n"
OUT = f"{US}Disallow: /\n"


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        pytest.param("", False, id="empty"),
        pytest.param(SEARXNG, False, id="SearXNG's own"),
        pytest.param("User-agent: *\nDisallow: /\n", False, id="closed to crawlers"),
        pytest.param(f"{US}{SEARXNG}", True, id="our line above SearXNG's"),
        pytest.param(f"{US}\n{SEARXNG}", True, id="our line above, and a blank one"),
        pytest.param(f"{US}\n# a comment\n \n{SEARXNG}", True, id="our line far above"),
        pytest.param(f"{SEARXNG}\n{OUT}", True, id="a group of our own below"),
        pytest.param(f"{OUT}\n{SEARXNG}", True, id="a group of our own above"),
        pytest.param(OUT.replace("\n", "\r\n"), True, id="CRLF"),
        pytest.param(OUT.replace("\n", "\r"), True, id="CR"),
        pytest.param(f"\ufeff{OUT}", True, id="BOM"),
        pytest.param(OUT.upper(), True, id="capitals"),
        pytest.param(
            "  user-agent :searx-mcp # us\n\tdisallow :/ # all\n", True, id="spaces and comments"
        ),
        pytest.param("User-agent: searx-mcp/0.1\nDisallow: /", True, id="with a version"),
        pytest.param(
            "User-agent: searx-mcp (+https://a.example/)\nDisallow: /", True, id="with an address"
        ),
        pytest.param("User-agent: searx-mcp*\nDisallow: /", True, id="with an asterisk"),
        pytest.param("User-agent: *searx-mcp*\nDisallow: /", True, id="between asterisks"),
        pytest.param("User-agent: searx\nDisallow: /", False, id="part of our name"),
        pytest.param("User-agent: searx-mcp-two\nDisallow: /", False, id="more than our name"),
        pytest.param("User-agent: my searx-mcp\nDisallow: /", False, id="our name within another"),
        pytest.param("# User-agent: searx-mcp\nDisallow: /", False, id="in a comment"),
        pytest.param(f"{US}User-agent: other\nDisallow: /", True, id="first of two names"),
        pytest.param(f"User-agent: other\n{US}Disallow: /", True, id="second of two names"),
        pytest.param(
            f"User-agent: other\nDisallow: /a\n{US}Disallow: /b", False, id="the other's rules"
        ),
        pytest.param(
            f"{US}Disallow: /stats\n\nUser-agent: *\nDisallow: /", False, id="only /stats for us"
        ),
        pytest.param(f"{US}Disallow:\n\nUser-agent: *\nDisallow: /", False, id="all is open"),
        pytest.param(f"{US}Disallow: /stats\n\n{US}Disallow: /search", True, id="joined groups"),
        pytest.param(
            f"{US}Crawl-delay: 9\nSitemap: https://a.example/s.xml\n{SEARXNG}",
            True,
            id="unknown fields end no group",
        ),
        pytest.param(f"Disallow: /\n{US}", False, id="a rule of nobody's"),
        pytest.param(US, False, id="no rules"),
        pytest.param(f"{US}Disallow: /search", True, id="the path"),
        pytest.param(f"{US}Disallow: /search$", False, id="the path without a query"),
        pytest.param(f"{US}Disallow: /sea", True, id="a beginning of the path"),
        pytest.param(f"{US}Disallow: /Search", False, id="the path in capitals"),
        pytest.param(f"{US}Disallow: /%73earch", True, id="the path percent-encoded"),
        pytest.param(f"{US}Disallow: /*?", True, id="any query"),
        pytest.param(f"{US}Disallow: /\nAllow: /search", False, id="the longer rule allows"),
        pytest.param(f"{US}Allow: /\nDisallow: /search", True, id="the longer rule forbids"),
        pytest.param(f"{US}Allow: /search\nDisallow: /search", False, id="a tie allows"),
        pytest.param("<html><body>User-agent: searx-mcp</body></html>", False, id="HTML"),
        pytest.param("\x00\x01\ufffd:\n:::\n#\nDisallow", False, id="garbage"),
        pytest.param(f"\x00\ufffd\n{OUT}\x00", True, id="garbage around it"),
        pytest.param(
            "#" * (MAX_ROBOTS - len(OUT) - 1) + f"\n{OUT}", True, id="just within 500 KiB"
        ),
        pytest.param("#" * MAX_ROBOTS + f"\n{OUT}", False, id="beyond 500 KiB"),
    ],
)
def test_only_a_group_that_names_us_forbids(text: str, *, forbidden: bool) -> None:
    assert forbids_us(text) is forbidden


@pytest.mark.parametrize(
    ("rule", "forbidden"),
    [
        pytest.param("/", True, id="everything"),
        pytest.param("/searx/", True, id="the prefix"),
        pytest.param("/searx/search", True, id="the search"),
        pytest.param("/search", False, id="another search"),
        pytest.param("/*?*q=*", True, id="any query"),
    ],
)
def test_an_instance_under_a_path_is_forbidden_by_rules_for_that_path(
    rule: str, *, forbidden: bool
) -> None:
    assert forbids_us(f"{US}Disallow: {rule}", search_path="/searx/search") is forbidden


LINES = st.sampled_from(
    ["User-agent: searx-mcp", "User-agent: *", "Disallow: /", "Disallow: /*?*q=*", "Allow: /s", ""]
) | st.text(max_size=30)


@given(st.lists(LINES, max_size=8).map("\n".join))
def test_any_text_is_read_and_one_that_does_not_name_us_forbids_nothing(text: str) -> None:
    if forbids_us(text):
        assert "searx-mcp" in text.lower()
