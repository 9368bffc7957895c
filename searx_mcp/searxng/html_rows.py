"""The result rows of a page in SearXNG's simple theme, 2022 to 2026, and of searx 1.1.

The selectors name classes and elements only, never words: labels are in the instance's language.
`docs/decisions/searxng-answers.md` tells since when each holds.
"""

from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.searxng.fields import Row, row_template

_TEMPLATE_PREFIX: Final = "result-"
_CATEGORY_PREFIX: Final = "category-"


def read_row(article: LexborNode) -> Row:
    """Read one `article.result`, whatever its template."""
    template = row_template(
        next(
            (
                token.removeprefix(_TEMPLATE_PREFIX)
                for token in attribute(article, "class").split()
                if token.startswith(_TEMPLATE_PREFIX)
            ),
            None,
        )
    )
    if template == "images":
        return _image_row(article)
    return _default_row(article, template)


def text(node: LexborNode | None) -> str:
    """The text of an element and all below it; empty without an element."""
    return node.text() if node is not None else ""


def attribute(node: LexborNode | None, name: str) -> str:
    """The value of an attribute; empty without one, or without an element."""
    return (node.attributes.get(name) or "") if node is not None else ""


def _default_row(article: LexborNode, template: str) -> Row:
    # Not the first link of the row: a thumbnail or the header line may come before the title.
    link = article.css_first("h3 a[href]")
    engines = [text(span) for span in article.css("div.engines > span")]
    return Row(
        url=attribute(link, "href"),
        title=text(link),
        description=text(article.css_first("p.content:not(.empty_element)")),
        engines=engines,
        published=_published(article),
        # `img.image` until 2023.
        thumbnail=attribute(article.css_first("img.thumbnail, img.image"), "src"),
        category=_category(article, engines),
        template=template,
        author=_after_colon(text(article.css_first(".result_author"))),
    )


def _image_row(article: LexborNode) -> Row:
    picture = article.css_first("img.image_thumbnail")
    # searx 1.1 has no title but the picture's, and the page's address only below the picture.
    title = article.css_first("span.title")
    page = article.css_first("p.result-url a[href], span.url a[href]")
    # `p.result-engine` before 2026-06-26; searx 1.1 tells no engines.
    engines = _labelled(article, "p.result-engines, p.result-engine").split(",")
    return Row(
        url=attribute(page, "href"),
        title=text(title) or attribute(picture, "alt"),
        description=text(article.css_first("p.result-content")),
        engines=engines,
        thumbnail=attribute(picture, "src"),
        category=_category(article, engines),
        template="images",
        author=_labelled(article, "p.result-author"),
        image_url=_picture_address(picture),
        resolution=text(article.css_first("span.image_resolution")),
        image_format=_image_format(article),
        source=_labelled(article, "p.result-source"),
    )


def _picture_address(picture: LexborNode | None) -> str:
    link = picture.parent if picture is not None else None
    return attribute(link, "href") if link is not None and link.tag == "a" else ""


def _image_format(article: LexborNode) -> str:
    # Since 2026-06-13 the line links the formats to choose from instead of naming the one.
    if article.css_first("p.result-format a") is not None:
        return ""
    return _labelled(article, "p.result-format")


def _published(article: LexborNode) -> str:
    time = article.css_first("time.published_date")
    # The attribute is empty for results of untyped engines since 2025-03; the text then is ISO.
    return attribute(time, "datetime") or text(time)


def _category(article: LexborNode, engines: list[str]) -> str:
    """The category out of the class attribute, where it may hold a space.

    Until 2024-12 the names of the engines follow, in the order in which the row lists them.
    """
    category = attribute(article, "class").partition(_CATEGORY_PREFIX)[2]
    return category.removesuffix(" ".join(["", *engines]))


def _labelled(article: LexborNode, selector: str) -> str:
    """The text of a line that begins with its label in a `span`."""
    node = article.css_first(selector)
    label = text(node.css_first("span")) if node is not None else ""
    return text(node).strip().removeprefix(label)


def _after_colon(labelled: str) -> str:
    label, colon, value = labelled.partition(":")
    return value if colon else label
