"""Programs that make pages, told by what they name themselves and by their markup."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.main.kinds import generator_of, platform_kind
from searx_mcp.content.main.text_density import measure
from searx_mcp.models.page import PageKind


def kind(html: str) -> PageKind | None:
    tree = LexborHTMLParser(html)
    return platform_kind(tree, generator_of(tree), measure(tree.body) if tree.body else [])


@pytest.mark.parametrize(
    "html",
    [
        "<meta name=generator content='vBulletin 4.2'>",
        "<body id=phpbb class=nojs>",
        "<html id=XF><p>x",
        "<body class='question-page unified-theme'>",
        "<div id=postlist><div class=postbit>x",
        "<div class=topic-body><div class=cooked>x",
        "<div class=bbp-reply-content>x",
        "<div class=commentarea><div class='sitetable nestedlisting'>x",
        "<table class=comment-tree><tr><td>x",
    ],
)
def test_forums_are_told_by_their_programs(html: str):
    assert kind(html) is PageKind.FORUM


@pytest.mark.parametrize(
    "html",
    [
        "<meta name=Generator content='Docusaurus v3'>",
        "<meta name=generator content='mkdocs-1.5, mkdocs-material-9'>",
        "<div class=rst-content>x",
        "<div class='theme-doc-markdown markdown'>x",
        "<main class=md-content><article>x",
        "<div class=mw-parser-output>x",
        "<body class='rustdoc mod'>",
    ],
)
def test_documentation_is_told_by_its_programs(html: str):
    assert kind(html) is PageKind.DOCUMENTATION


@pytest.mark.parametrize(
    "html", ["<p>x", "<meta name=generator content='WordPress 6.5'>", "<meta name=generator>"]
)
def test_programs_that_make_anything_tell_nothing(html: str):
    assert kind(html) is None
