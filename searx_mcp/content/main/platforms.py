"""What a page is, by the program that made it: thousands of sites share each of these."""

from collections.abc import Sequence
from typing import Final

from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.style.selectors import may_fit
from searx_mcp.content.main.measure import Element
from searx_mcp.models.page import PageKind

_GENERATORS: Final = (
    (PageKind.FORUM, ("phpbb", "vbulletin", "xenforo", "discourse", "mybb", "invision", "flarum", "nodebb", "smf")),
    (PageKind.DOCUMENTATION, ("sphinx", "mkdocs", "docusaurus", "mdbook", "gitbook", "docfx", "antora", "javadoc",
                              "doxygen", "rustdoc", "vitepress", "vuepress", "docutils", "docbook", "mediawiki")),
)  # fmt: skip
"""In `<meta name="generator">`."""

_MARKS: Final = (
    (
        PageKind.FORUM,
        ("body#phpbb,.phpbb-page,html#XF,[data-xf-init] .message-body,.p-body-pageContent .message-body,"
        "#postlist .postbit,table[id^=post].tborder,.postbody .content,body.question-page,#question .s-prose,"
        "#topic-title,.topic-body .cooked,.ipsType_richText.ipsContained[data-role=commentContent],"
        ".bbp-reply-content,.lia-message-body-content,.commentarea .nestedlisting,table.comment-tree"),
    ),
    (
        PageKind.DOCUMENTATION,
        (".rst-content,.sphinxsidebar,.theme-doc-markdown,.md-content article,.vp-doc,.devsite-article-body,"
        ".mw-parser-output,#mdbook-content,body.rustdoc,.gitbook-root,div.document[role=main],"
        ".sl-markdown-content,nav.toc~main .content__default"),
    ),
)  # fmt: skip


def generator_of(tree: LexborHTMLParser) -> str:
    """The program that a page names as its maker, in lower case; read before `<meta>` is taken out."""
    meta = tree.css_first('meta[name="generator" i]')
    return ((meta.attributes.get("content") or "") if meta is not None else "")[:100].lower()


def platform_kind(
    tree: LexborHTMLParser, generator: str, elements: Sequence[Element]
) -> PageKind | None:
    """What pages of the program that made this one are; `None` if that is not known.

    Args:
        tree: the page.
        generator: from `generator_of`.
        elements: of the page.
    """
    for kind, programs in _GENERATORS:
        if any(name in generator for name in programs):
            return kind
    names = _names(tree, elements)
    for kind, marks in _MARKS:
        # Each of them costs a look at every element.
        known = ",".join(mark for mark in marks.split(",") if may_fit(mark, names))
        if known and tree.css_first(known) is not None:
            return kind
    return None


def _names(tree: LexborHTMLParser, elements: Sequence[Element]) -> set[str]:
    """The classes and ids of a page."""
    found = [element.attributes for element in elements]
    if tree.root is not None:
        found.append(tree.root.attributes)
    written = {each.get("class") for each in found} | {each.get("id") for each in found}
    return set(" ".join(filter(None, written)).split())
