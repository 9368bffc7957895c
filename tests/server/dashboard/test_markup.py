"""HTML is written by functions that escape whatever is not markup."""

import pytest

from searx_mcp.server.dashboard.markup import Html, element, join, link, with_code

ACTS = "<script>alert(1)</script> &amp; \"'"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt; &amp;amp; &quot;&#x27;"


def test_text_is_escaped_and_markup_is_not():
    assert element("p", ACTS, element("b", "x")) == f"<p>{ESCAPED}<b>x</b></p>"


def test_an_attribute_is_escaped():
    assert element("a", "x", title=ACTS) == f'<a title="{ESCAPED}">x</a>'


def test_attributes_have_the_names_of_html():
    written = element("label", for_="q", data_live=True, hidden=False, title=None, tabindex=0)
    assert written == '<label for="q" data-live tabindex="0"></label>'


def test_what_is_put_together_is_escaped_once():
    assert join(("<", Html("<br/>"), None, join(("<",)))) == "&lt;<br/>&lt;"


@pytest.mark.parametrize("url", ["https://a.example/?a=1&b=2", "http://a.example/"])
def test_a_web_address_is_a_link_that_tells_nothing_of_where_it_stands(url):
    written = link("Bees", url)
    assert written.startswith(f'<a href="{url.replace("&", "&amp;")}"')
    assert 'rel="noreferrer noopener"' in written


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "JAVASCRIPT:alert(1)", "//a.example/", ""]
)
def test_an_address_of_another_kind_is_no_link(url):
    assert link("Bees", url) == "<bdi>Bees</bdi>"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Run `a <b>` now.", "Run <code>a &lt;b&gt;</code> now."),
        ("`a` and `b`", "<code>a</code> and <code>b</code>"),
        ("no code", "no code"),
        ("one ` <alone>", "one ` &lt;alone&gt;"),
    ],
)
def test_pairs_of_backticks_become_code(text, written):
    assert with_code(text) == written
