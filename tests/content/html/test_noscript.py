"""What scripts would show, and what is there for readers without them."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.noscript import show_unscripted
from searx_mcp.content.page import read_page
from searx_mcp.models.style import Style

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


PROSE = "<p>" + "A sentence that a reader can read without any script at all. " * 5
SCRIPT = f"<script>{'draw();' * 400}</script>"


SKELETONS = {
    "Vite": ("<div id=root></div><script type=module src=/m.js></script>", True),
    "Vue": ("<div id=app><!-- --></div><script src=/m.js></script>", True),
    "loading": ("<div id=__next>Loading…</div><script src=/m.js></script>", True),
    "Angular": ("<app-root></app-root><script src=/m.js></script>", True),
    "asks in the head": (
        "<noscript>Enable JavaScript.</noscript><script src=/m.js></script>",
        True,
    ),
    "asks for scripts": (
        (
            "<body><noscript>You need to enable JavaScript to run this app.</noscript><div></div>"
            "<script src=/m.js></script>"
        ),
        True,
    ),
    "module": ("<my-page></my-page><script type=module src=/m.js></script>", True),
    "large script": (f"<h1>Shop</h1>{SCRIPT}", True),
    "drawn by the server": (f"<div id=root>{PROSE}</div>{SCRIPT}", False),
    "long enough": (f"<noscript>No JavaScript?</noscript>{PROSE}{SCRIPT}", False),
    "counts visits": ("<p>Hello.</p><script src=/count.js></script>", False),
    "short": ("<p>Hello.</p>", False),
    "no scripts at all": ("<div id=root></div>", False),
    "data": ("<h1>x</h1><script type='application/ld+json'>" + "[]" * 5_000 + "</script>", False),
    "empty": ("", False),
}


@pytest.mark.parametrize(("body", "expected"), SKELETONS.values(), ids=SKELETONS)
def test_a_skeleton_is_told_from_a_short_page(body: str, *, expected: bool):
    assert (
        read_page(body, url="https://ex.org/", style=Style(), max_chars=100_000).is_skeleton
        is expected
    )
