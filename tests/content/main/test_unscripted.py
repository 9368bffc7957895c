"""What scripts would show, and what is there for readers without them."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.noscript import show_unscripted

LONG = "<p>A sentence that a reader can read without any script at all.</p>" * 12


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        pytest.param(
            "<main>a<template id=B:0></template>z</main><div hidden id=S:0><p>Part</p></div>",
            '<main>a<div id="S:0"><p>Part</p></div><template id="B:0"></template>z</main>',
            id="boundary",
        ),
        pytest.param(
            "<template id=P:1></template><div hidden id=S:1>Part</div>",
            '<div id="S:1">Part</div><template id="P:1"></template>',
            id="placeholder",
        ),
        pytest.param("<div hidden id=S:2>Part</div>", '<div id="S:2">Part</div>', id="no place"),
        pytest.param(
            "<div hidden id=S:3>Part<template id=B:3></template></div>",
            '<div id="S:3">Part<template id="B:3"></template></div>',
            id="place inside",
        ),
        pytest.param("<div hidden id=x>No</div>", '<div hidden="" id="x">No</div>', id="hidden"),
    ],
)
def test_streamed_parts_stand_where_they_belong(body: str, shown: str):
    script = "<script>$RC('B:0','S:0')</script>"
    tree = LexborHTMLParser(f"<body>{body}{script}")
    show_unscripted(tree)
    assert tree.body is not None
    assert (tree.body.inner_html or "").removesuffix(script) == shown


def test_hidden_parts_stay_hidden_where_nothing_would_show_them():
    hidden = '<template id="B:0"></template><div hidden="" id="S:1">Part</div>'
    tree = LexborHTMLParser(f"<body>{hidden}")
    show_unscripted(tree)
    assert tree.body is not None
    assert tree.body.inner_html == hidden


@pytest.mark.parametrize(
    ("body", "is_open"),
    [
        pytest.param(f"<noscript>{LONG}</noscript><script>x()</script>", True, id="Discourse"),
        pytest.param(f"<noscript>{LONG}</noscript>{LONG * 2}", False, id="page has its own text"),
        pytest.param("<noscript>Enable JavaScript.</noscript>", False, id="asks for scripts"),
    ],
)
def test_noscript_that_is_the_page_is_opened(body: str, *, is_open: bool):
    tree = LexborHTMLParser(f"<body>{body}")
    show_unscripted(tree)
    assert (tree.css_first("noscript") is None) is is_open


def test_a_page_without_a_body_is_no_error():
    tree = LexborHTMLParser("<frameset></frameset>")
    show_unscripted(tree)
