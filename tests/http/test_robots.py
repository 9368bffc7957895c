"""Which rules of a robots.txt hold for us, and what they forbid."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from searx_mcp.http.robots import MAX_ROBOTS, RobotsDecision, RobotsRules, decode

EXAMPLE = """\
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""
"""RFC 9309, section 5.1; one robot after the other is made us."""


def example_as(robot: str) -> str:
    return EXAMPLE.replace(robot, "searx-mcp")


US = "User-agent: searx-mcp\n"
ALL = "User-agent: *\n"
OUT = f"{US}Disallow: /\n"


def decide(text: str | bytes, target: str, *, by_name: bool = False) -> RobotsDecision:
    body = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    url = URL("https://a.example").join(URL(f"https://a.example{target}"))
    return RobotsRules(decode(body), by_name=by_name).decide(url)


def only(pattern: str) -> str:
    return f"{US}Disallow: /\nAllow: {pattern}\n"


@pytest.mark.parametrize(
    ("text", "target", "allowed"),
    [
        # RFC 9309, section 5.1
        pytest.param(EXAMPLE, "/", True, id="5.1 everybody, root"),
        pytest.param(EXAMPLE, "/pictures/a.gif", False, id="5.1 everybody, a picture"),
        pytest.param(EXAMPLE, "/pictures/a.gif?x", True, id="5.1 everybody, beyond the $"),
        pytest.param(EXAMPLE, "/example/page.html", False, id="5.1 everybody, the folder"),
        pytest.param(EXAMPLE, "/publications/", True, id="5.1 everybody, publications"),
        pytest.param(EXAMPLE, "/publications/a.gif", True, id="5.1 everybody, the longer rule"),
        pytest.param(example_as("foobot"), "/", False, id="5.1 foobot, root"),
        pytest.param(example_as("foobot"), "/example/page.html", True, id="5.1 foobot, the page"),
        pytest.param(example_as("foobot"), "/example/allowed.gif", True, id="5.1 foobot, the gif"),
        pytest.param(example_as("foobot"), "/publications/", False, id="5.1 foobot, not for it"),
        pytest.param(example_as("barbot"), "/example/page.html", False, id="5.1 barbot, the page"),
        pytest.param(example_as("barbot"), "/example/other.gif", True, id="5.1 barbot, the rest"),
        pytest.param(example_as("bazbot"), "/example/page.html", False, id="5.1 bazbot, the page"),
        pytest.param(example_as("quxbot"), "/example/a.gif", True, id="5.1 quxbot, everything"),
        # RFC 9309, section 5.2
        *[
            pytest.param(
                f"{US}Allow: /example/page/\nDisallow: /example/page/disallowed.gif\n",
                target,
                allowed,
                id=f"5.2 {target}",
            )
            for target, allowed in [
                ("/example/page/", True),
                ("/example/page/allowed.gif", True),
                ("/example/page/disallowed.gif", False),
            ]
        ],
        # Section 2.2.1
        pytest.param(
            f"{US}Disallow: /foo\nDisallow: /bar\n\n{US}Disallow: /baz", "/foo", False, id="merged"
        ),
        pytest.param(
            f"{US}Disallow: /foo\nDisallow: /bar\n\n{US}Disallow: /baz",
            "/baz",
            False,
            id="merged 2",
        ),
        pytest.param(
            f"{ALL}Disallow: /foo\n\nUser-agent: BazBot\nDisallow: /baz", "/foo", False, id="the *"
        ),
        pytest.param(
            f"{ALL}Disallow: /foo\n\nUser-agent: BazBot\nDisallow: /baz",
            "/baz",
            True,
            id="not Baz's",
        ),
        pytest.param(f"{ALL}Disallow: /a\n{ALL}Disallow: /b", "/b", False, id="two groups for all"),
        pytest.param("User-agent: BazBot\nDisallow: /", "/", True, id="nobody names us"),
        pytest.param("USER-AGENT: Searx-MCP\nDISALLOW: /", "/", False, id="any case"),
        pytest.param(f"{ALL}Disallow: /\n{US}Disallow: /a", "/b", True, id="our group alone"),
        pytest.param(f"{US}Disallow:\n{ALL}Disallow: /", "/", True, id="our group is empty"),
        pytest.param(f"{ALL}Disallow: /\n{US}", "/", True, id="our group has no rule"),
        pytest.param("User-agent: searx\nDisallow: /", "/", True, id="a part of our name"),
        pytest.param("User-agent: mcp\nDisallow: /", "/", True, id="the end of our name"),
        pytest.param("User-agent: searx-mcp-x\nDisallow: /", "/", True, id="more than our name"),
        pytest.param("User-agent: my searx-mcp\nDisallow: /", "/", True, id="within another name"),
        pytest.param("User-agent: searx-mcp/1.0\nDisallow: /", "/", False, id="with a version"),
        pytest.param("User-agent: searx-mcp*\nDisallow: /", "/", False, id="with an asterisk"),
        pytest.param("User-agent: *searx-mcp*\nDisallow: /", "/", False, id="between asterisks"),
        pytest.param("User-agent: * (all)\nDisallow: /", "/", False, id="* and a remark"),
        pytest.param("User-agent: *bot\nDisallow: /", "/", True, id="no pattern for names"),
        pytest.param(f"User-agent: other\n{US}Disallow: /", "/", False, id="second of two names"),
        pytest.param(f"{US}User-agent: other\nDisallow: /", "/", False, id="first of two names"),
        pytest.param(f"{US}\n\n# so\nUser-agent: b\n\nDisallow: /", "/", False, id="blank lines"),
        # Section 2.2.2
        pytest.param(f"Disallow: /\n{US}Allow: /a", "/", True, id="a rule of no group"),
        pytest.param(f"{US}Disallow: /A", "/a", True, id="case of paths"),
        pytest.param(f"{US}Disallow: /a", "/b/a", True, id="from the first octet"),
        pytest.param(f"{US}Disallow: /a\nAllow: /a", "/a", True, id="a tie allows"),
        pytest.param(f"{US}Allow: /a\nDisallow: /a", "/a", True, id="a tie allows 2"),
        pytest.param(OUT, "/robots.txt", True, id="robots.txt itself"),
        pytest.param(OUT, "/robots.txt?x", True, id="robots.txt itself, asked with a query"),
        pytest.param(OUT, "/a/robots.txt", False, id="another robots.txt"),
        pytest.param(f"{US}Disallow: /x", "//folder/x", True, id="no folder is a host"),
        pytest.param(only("/foo/bar?baz=quz"), "/foo/bar?baz=quz", True, id="a query"),
        pytest.param(only("/foo?u=https://foo.bar"), "/foo?u=https://foo.bar", True, id="reserved"),
        pytest.param(
            only("/foo?u=https%3A%2F%2Ffoo.bar"), "/foo?u=https://foo.bar", True, id="reserved 2"
        ),
        pytest.param(
            only("/foo?u=https://foo.bar"), "/foo?u=https%3A%2F%2Ffoo.bar", True, id="reserved 3"
        ),
        pytest.param(only("/foo/bar/\u30c4"), "/foo/bar/%E3%83%84", True, id="3 octets"),
        pytest.param(only("/foo/bar/%e3%83%84"), "/foo/bar/\u30c4", True, id="3 octets encoded"),
        pytest.param(only("/foo/bar/%62%61%7A"), "/foo/bar/baz", True, id="unreserved encoded"),
        pytest.param(only("/foo/bar/baz"), "/foo/bar/%62%61%7A", True, id="unreserved encoded 2"),
        pytest.param(only("/a%2Fb"), "/a/b", False, id="a slash of a path is no %2F"),
        # Section 2.2.3
        pytest.param(f"{US}Disallow: / # all", "/", False, id="a comment in line"),
        pytest.param(f"{US}# Disallow: /", "/", True, id="a comment on its own line"),
        pytest.param(f"{US}Disallow: /a#b", "/ab", False, id="a comment within a pattern"),
        pytest.param(only("/this/path/exactly$"), "/this/path/exactly", True, id="$"),
        pytest.param(only("/this/path/exactly$"), "/this/path/exactly/", False, id="$ and more"),
        pytest.param(only("/this/*/exactly"), "/this/or/that/exactly", True, id="*"),
        pytest.param(only("/this/*/exactly"), "/this//exactly", True, id="* of nothing"),
        pytest.param(only("/this/*/exactly"), "/this/exactly", False, id="* between slashes"),
        pytest.param(
            only("/path/file-with-a-%2A.html"), "/path/file-with-a-*.html", True, id="%2A"
        ),
        pytest.param(
            only("/path/file-with-a-%2A.html"), "/path/file-with-a-b.html", False, id="%2A 2"
        ),
        pytest.param(only("/path/foo-%24"), "/path/foo-$", True, id="%24"),
        pytest.param(only("/path/foo-%24"), "/path/foo-", False, id="%24 is no end"),
        pytest.param(only("/a$b"), "/a$b", True, id="$ within"),
        # Section 2.2.4
        pytest.param(
            f"{US}Sitemap: https://a.example/s.xml\nUser-agent: b\nDisallow: /",
            "/",
            False,
            id="a sitemap between names ends no group",
        ),
        pytest.param(
            f"{US}Crawl-delay: 9\nUser-agent: b\nDisallow: /",
            "/",
            False,
            id="a crawl-delay neither",
        ),
        pytest.param(
            f"{US}Disallow: /a\nSitemap: /s\nClean-param: x\nDisallow: /b",
            "/b",
            False,
            id="in a group",
        ),
        # Google's documentation, "URL matching based on path values"
        *[
            pytest.param(only(pattern), target, allowed, id=f"{pattern} {target}")
            for pattern, table in {
                "/fish": {
                    "/fish": True, "/fish.html": True, "/fish/salmon.html": True,
                    "/fishheads/yummy.html": True, "/fish.php?id=anything": True,
                    "/Fish.asp": False, "/catfish": False, "/?id=fish": False,
                    "/desert/fish": False,
                },
                "/fish*": {"/fishheads": True, "/Fish.asp": False, "/catfish": False},
                "/fish/": {
                    "/fish/": True, "/fish/?id=anything": True, "/fish/salmon.htm": True,
                    "/fish": False, "/fish.html": False, "/animals/fish/": False,
                    "/Fish/Salmon.asp": False,
                },
                "/*.php": {
                    "/index.php": True, "/folder/filename.php?parameters": True,
                    "/folder/any.php.file.html": True, "/filename.php/": True,
                    "/index?f=filename.php/": True, "//folder/any.php": True, "/": False,
                    "/windows.PHP": False,
                },
                "/*.php$": {
                    "/folder/filename.php": True, "/filename.php?parameters": False,
                    "/filename.php/": False, "/filename.php5": False, "/windows.PHP": False,
                },
                "/fish*.php": {"/fishheads/catfish.php?parameters": True, "/Fish.PHP": False},
            }.items()
            for target, allowed in table.items()
        ],
        # Google's documentation, "Order of precedence"
        pytest.param(f"{US}Allow: /p\nDisallow: /", "/page", True, id="longer"),
        pytest.param(f"{US}Allow: /folder\nDisallow: /folder", "/folder/page", True, id="equal"),
        pytest.param(f"{US}Allow: /page\nDisallow: /*.htm", "/page.htm", False, id="longer with *"),
        pytest.param(f"{US}Allow: /page\nDisallow: /*.ph", "/page.php5", True, id="equal with *"),
        pytest.param(f"{US}Allow: /$\nDisallow: /", "/", True, id="the root alone"),
        pytest.param(f"{US}Allow: /$\nDisallow: /", "/page.htm", False, id="not the root"),
        # Google's parser
        pytest.param("user-agent searx-mcp\ndisallow /", "/", False, id="no colons"),
        pytest.param("useragent: searx-mcp\ndissallow: /", "/", False, id="misspelt"),
        pytest.param(f"{US}Disallowed: /", "/", True, id="another word"),
        pytest.param(f"{US}Disallow: fish", "/fish", True, id="a pattern without a slash"),
        pytest.param(f"{US}Disallow: /\nAllow: /a/index.html", "/a/", True, id="index.html"),
        # Shapes of files
        pytest.param("", "/", True, id="empty"),
        pytest.param(f"\ufeff{OUT}", "/", False, id="a byte order mark"),
        pytest.param(OUT.encode("utf-16"), "/", False, id="UTF-16"),
        pytest.param(f"\ufeff{OUT}".encode("utf-16-be"), "/", False, id="big-endian"),
        pytest.param(OUT.replace("\n", "\r\n"), "/", False, id="CRLF"),
        pytest.param(OUT.replace("\n", "\r"), "/", False, id="CR"),
        pytest.param(f"{US}Disallow: /a\u2028Disallow: /b", "/b", True, id="no end of a line"),
        pytest.param(f"{US}# a\x0bDisallow: /\n# b\x85Disallow: /", "/", True, id="nor are these"),
        pytest.param(f"\t{US.strip()} \n  Disallow :\t/ ", "/", False, id="spaces"),
        pytest.param("<html><body>Not found</body></html>", "/", True, id="a page instead"),
        pytest.param(bytes(range(256)) * 4, "/", True, id="binary"),
        pytest.param(f"\x00\ufffd:\n:::\n{OUT}\x00", "/", False, id="rubbish around it"),
        pytest.param(f"{US}Disallow: /caf\xe9".encode("latin-1"), "/caf%E9", False, id="Latin-1"),
    ],
)  # fmt: skip
def test_what_a_robots_txt_allows(text, target, allowed):
    assert decide(text, target).allowed is allowed


@pytest.mark.parametrize(
    ("body", "forbidden"),
    [
        (b"#" * (MAX_ROBOTS - len(OUT) - 1) + f"\n{OUT}".encode(), True),
        (b"#" * (MAX_ROBOTS - len(OUT)) + f"\n{OUT}".encode(), True),
        (b"#" * MAX_ROBOTS + f"\n{OUT}".encode(), False),
        (f"{US}#".encode() + b"#" * MAX_ROBOTS + b"\nDisallow: /", False),
        (b"x" * (MAX_ROBOTS * 2), False),
    ],
    ids=["all of it", "but for the last end of a line", "beyond", "rules beyond", "one line"],
)
def test_500_kib_are_read_and_no_more(body, forbidden):
    assert decide(body, "/").allowed is not forbidden


def test_the_line_that_was_cut_is_dropped():
    """`Disallow: /private` cut to `Disallow: /` would close the whole site."""
    head = US.encode()
    body = head + b"#" * (MAX_ROBOTS - len(head) - 12) + b"\nDisallow: /private\n"
    assert body[:MAX_ROBOTS].endswith(b"\nDisallow: /")
    assert repr(RobotsRules(decode(body))) == "<RobotsRules [0 rules, 0 disallow]>"


def test_a_long_file_names_the_rule_too():
    lines = "".join(f"Disallow: /folder/{n}/\n" for n in range(5_000))
    rules = RobotsRules(f"{ALL}{lines}")
    assert repr(rules) == "<RobotsRules [5000 rules, 5000 disallow]>"
    assert rules.decide(URL("https://a.example/folder/4321/x")).rule == "Disallow: /folder/4321/"
    assert rules.decide(URL("https://a.example/folder/5000/x")).allowed


LINES = st.sampled_from(
    [
        "User-agent: searx-mcp", "User-agent: *", "User-agent: x", "Disallow: /", "Disallow: /*a$",
        "Allow: /a", "Disallow:", "",
    ]
) | st.text(max_size=30)  # fmt: skip


@given(
    st.lists(LINES, max_size=8).map("\n".join) | st.binary(max_size=200),
    st.from_regex(r"/[!-~]{0,20}", fullmatch=True),
)
def test_any_text_is_read_and_what_it_forbids_is_named(body, target):
    decision = decide(body, target)
    if not decision.allowed:
        assert decision.rule.startswith("Disallow: ")
        assert URL(f"https://a.example{target}").path != "/robots.txt"


SEARXNG = """\
User-agent: *
Allow: /info/en/about
Disallow: /stats
Disallow: /image_proxy
Disallow: /preferences
Disallow: /*?*q=*
"""
"""As SearXNG of 2026.8.22 serves it."""


def forbids_us(text: str, search_path: str = "/search") -> bool:
    return not decide(text, f"{search_path}?q=x", by_name=True).allowed


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
        pytest.param(
            "User-agent: searx-mcp (+https://a.example/)\nDisallow: /", True, id="with an address"
        ),
        pytest.param("# User-agent: searx-mcp\nDisallow: /", False, id="in a comment"),
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
        pytest.param(f"{US}Disallow: /%73earch", True, id="the path percent-encoded"),
        pytest.param(f"{US}Disallow: /*?", True, id="any query"),
    ],
)
def test_only_a_group_that_names_us_forbids(text, forbidden):
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
def test_an_instance_under_a_path_is_forbidden_by_rules_for_that_path(rule, forbidden):
    assert forbids_us(f"{US}Disallow: {rule}", search_path="/searx/search") is forbidden


@given(st.lists(LINES, max_size=8).map("\n".join))
def test_one_that_does_not_name_us_forbids_no_search(text):
    if forbids_us(text):
        assert "searx-mcp" in text.lower()
