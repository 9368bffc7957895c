"""Whatever a service answers, an adapter makes a page of it or says what is wrong."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from yarl import URL

from searx_mcp.errors import ContentError
from searx_mcp.fetch.config import TierName
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.hops.media import MediaType
from searx_mcp.fetch.site_adapters.adapter import AsPage, Composed, Plan
from searx_mcp.fetch.site_adapters.markdown import from_markdown
from searx_mcp.fetch.site_adapters.sites import adapters
from searx_mcp.http.body import Body

KNOWN = adapters(TierName)
URLS = [
    "https://npm.example/package/x", "https://github.com/o/r", "https://github.com/o/r/tree/main",
    "https://github.com/o/r/issues/1", "https://github.com/o/r/pull/1",
    "https://github.com/o/r/releases", "https://github.com/o/r/releases/latest",
    "https://gist.github.com/aa5a315d61ae9438b18d", "https://huggingface.co/o/m",
    "https://github.com/o/r/blob/main/a.md", "https://github.com/o/r/blob/main/a.ipynb",
    "https://github.com/o/r/blob/main/a.py#L2-L3",
]  # fmt: skip
MEMBERS = (
    "name", "version", "title", "tag_name", "id", "full_name", "files", "content",
    "body", "user", "login", "labels", "author", "description", "urls",
    "path", "encoding", "type", "nbformat", "cells", "source", "outputs", "license", "cardData",
)  # fmt: skip

texts = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ["base64", "x.md", "![x](http://evil.example)", "# x\n```", "2026-01-02T00", "dir"]
    ),
)
leaves = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts, st.just(4))
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=6)
    ),
    max_leaves=12,
)


def planned(url: str) -> Plan:
    return next(plan for adapter in KNOWN if (plan := adapter(URL(url))) is not None)


def material(body: bytes, *, is_truncated: bool = False) -> ReceivedPage:
    media = MediaType("application/json", "utf-8")
    return ReceivedPage("https://site.example/", 200, {}, media, Body(body, truncated=is_truncated))


def others(*bodies: object) -> tuple[object, ...]:
    """What is of no kind, and these bodies."""
    return ("", "<html>", "null", *bodies)


ISSUE = {"title": "It breaks"}
WRONG: dict[str, list[Any]] = {
    "npm.example/package/x": [
        [body, "# T", None] for body in others([], {}, {"name": "x"}, {"name": 1, "version": 2})
    ],
    "github.com/o/r": [[body, None] for body in others([])],
    "github.com/o/r/tree/main": [[{"type": "file", "name": "src"}, None]],
    "github.com/o/r/issues/1": [
        *([body, []] for body in others([], {})),
        *([{"title": title}, []] for title in (None, 3, "\u200b")),
        *([ISSUE, body] for body in others({})),
    ],
    "github.com/o/r/releases/latest": [
        [body] for body in others([], {}, {"tag_name": 3}, {"tag_name": ""})
    ],
    "github.com/o/r/releases": [[body] for body in others({}, [{}], [{"tag_name": None}])],
    "gist.github.com/aa5a315d61ae9438b18d": [
        [body] for body in others([], {}, {"files": None}, {"files": {}}, {"files": {"a": None}})
    ],
    "huggingface.co/o/m": [
        [body, "# T"] for body in others([], {}, {"id": 3}, {"error": "Not found"})
    ],
}


@pytest.mark.parametrize(
    ("url", "bodies"), [(url, bodies) for url, table in WRONG.items() for bodies in table]
)
def test_an_answer_of_another_kind_is_an_error(read, url, bodies):
    with pytest.raises(ValueError, match=r"."):
        read(f"https://{url}", *bodies)


@pytest.mark.parametrize("url", URLS)
@given(value=values, cut=st.integers(0, 40), missing=st.booleans())
def test_every_shape_of_answer_is_a_page_or_an_error(url, value, cut, missing):
    plan = planned(url)
    whole = json.dumps(value).encode()
    is_cut = 0 < cut <= 20
    first = material(whole[: len(whole) - cut] if is_cut else whole, is_truncated=is_cut)
    others = [None if missing else first for _ in plan.sources[1:]]
    try:
        page = plan.compose([first, *others])
    except (ValueError, ContentError):
        return
    assert isinstance(page, Composed | AsPage)
    if isinstance(page, Composed):
        rendered = MarkdownIt("commonmark").enable("table").render(page.document.markdown)
        assert "<img" not in rendered


@given(text=st.text(st.sampled_from("![]()<>`~#*_-|\\\n\t \u200bax&;:/\"'=1."), max_size=80))
def test_no_text_becomes_an_image_or_a_tag(text):
    written = from_markdown(text, base="https://site.example/a/b.md")
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for token in parser.parse(written):
        assert token.type != "html_block"
        for child in token.children or ():
            assert child.type not in {"image", "html_inline"}
