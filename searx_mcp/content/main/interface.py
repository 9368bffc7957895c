"""What is known of a page before its main content is looked for, and what is found."""

from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from searx_mcp.models.page import PageKind


@dataclass(frozen=True, slots=True)
class Hints:
    """What a page says of itself that helps to find its content; nothing is cleaned.

    Attributes:
        url: its address.
        title: as `content.html.metadata` found it; may be empty.
        types: of its own JSON-LD objects and microdata, without their namespace, such as
            `NewsArticle`; and its `og:type`.
        body: the text that its JSON-LD gives as `articleBody`, `text` or `description` of a product;
            may be empty.
        generator: the program that made it, in lower case; may be empty.
    """

    url: str
    title: str = ""
    types: frozenset[str] = frozenset()
    body: str = ""
    generator: str = ""


@dataclass(frozen=True, slots=True)
class Main:
    """The main content of a page.

    Attributes:
        roots: elements of the tree, in its order, none inside another; what does not belong to the
            content is taken out of them.
        kind: what the page is; `None` where nothing tells.
        body: plain text that stands for the content because the elements do not hold it; mostly
            empty. Paragraphs are separated by empty lines.
    """

    roots: tuple[LexborNode, ...]
    kind: PageKind | None
    body: str = ""
