"""The result rows of a page in SearXNG's simple theme, 2022 to 2026, and of searx 1.1.

The selectors name classes and elements; `docs/decisions/searxng-answers.md` tells since when each
holds.
"""

from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.searxng.fields import row_template
from searx_mcp.searxng.html_nodes import after_colon, attribute, labelled, several, text
from searx_mcp.searxng.html_templates import read_details, read_table
from searx_mcp.searxng.row import Row

_TEMPLATE_PREFIX: Final = "result-"
_CATEGORY_PREFIX: Final = "category-"


def read_row(node: LexborNode) -> Row:
    """Read one `article.result`, whatever its template, or a table in its place."""
    if node.tag == "table":
        return _table_row(node)
    template = row_template(
        next(
            (
                token.removeprefix(_TEMPLATE_PREFIX)
                for token in attribute(node, "class").split()
                if token.startswith(_TEMPLATE_PREFIX)
            ),
            None,
        )
    )
    if template == "images":
        return _image_row(node)
    return _default_row(node, template)


def _default_row(article: LexborNode, template: str) -> Row:
    # Not the first link of the row: a thumbnail or the header line may come before the title.
    link = article.css_first("h3 a[href]")
    engines = [text(span) for span in several(article, "div.engines > span")]
    details = read_details(article, template)
    # Some templates show the description or the date elsewhere.
    description = details.get("content")
    if description is None:
        description = text(article.css_first("p.content:not(.empty_element)"))
    return Row(
        url=attribute(link, "href"),
        title=text(link),
        description=description,
        engines=engines,
        published=_published(article) or details.get("publishedDate"),
        # `img.image` until 2023.
        thumbnail=attribute(article.css_first("img.thumbnail, img.image"), "src"),
        category=_category(article, engines),
        template=template,
        author=after_colon(text(article.css_first(".result_author"))) or details.get("author"),
        details=details,
    )


def _image_row(article: LexborNode) -> Row:
    picture = article.css_first("img.image_thumbnail")
    # searx 1.1 has no title but the picture's, and the page's address only below the picture.
    title = article.css_first("span.title")
    page = article.css_first("p.result-url a[href], span.url a[href]")
    # `p.result-engine` before 2026-06-26; searx 1.1 tells no engines.
    engines = labelled(article.css_first("p.result-engines, p.result-engine")).split(",")
    details = read_details(article, "images")
    return Row(
        url=attribute(page, "href"),
        title=text(title) or attribute(picture, "alt"),
        description=details["content"],
        engines=engines,
        thumbnail=attribute(picture, "src"),
        category=_category(article, engines),
        template="images",
        author=labelled(article.css_first("p.result-author")),
        details=details,
    )


def _table_row(table: LexborNode) -> Row:
    # The engines follow the table.
    after = table.next
    while after is not None and after.tag == "-text":
        after = after.next
    named = several(after, "span") if after is not None and after.tag == "div" else []
    details = read_table(table)
    return Row(
        url=details.get("url"),
        title=details.get("title"),
        description=details.get("content"),
        engines=[text(span) for span in named],
        template="keyvalue",
        details=details,
    )


def _published(article: LexborNode) -> str:
    time = article.css_first("time.published_date, .result_pubdate time")
    # The attribute is empty for results of untyped engines since 2025-03; the text then is ISO.
    return attribute(time, "datetime") or text(time)


def _category(article: LexborNode, engines: list[str]) -> str:
    """The category out of the class attribute, where it may hold a space.

    Until 2024-12 the names of the engines follow, in the order in which the row lists them.
    """
    category = attribute(article, "class").partition(_CATEGORY_PREFIX)[2]
    return category.removesuffix(" ".join(["", *engines]))
