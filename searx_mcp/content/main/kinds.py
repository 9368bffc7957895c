"""The kind of a page, by its metadata, the program that made it, its address and the layout of its text.

A wrong kind costs little: if the kinds of all pages in WCXB dev were known, F1 would be about .01 higher.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.html.selectors import may_fit
from searx_mcp.content.main.class_names import COMMENTS, signs_of
from searx_mcp.content.main.text_density import Element, live, rows_of_cards
from searx_mcp.models.page import PageKind

_FORUM_TYPES: Final = frozenset({"qapage", "discussionforumposting"})
_ARTICLE_TYPES: Final = frozenset({
    "analysisnewsarticle", "blogposting", "howto", "liveblogposting", "medicalscholarlyarticle",
    "newsarticle", "opinionnewsarticle", "recipe", "report", "reportagenewsarticle", "review",
    "scholarlyarticle", "techarticle",
})  # fmt: skip
"""Types that only articles have: 78 pages with `BlogPosting` and 60 with `NewsArticle` in WCXB dev are articles,
4 pages with them are something else."""

_PRODUCT_TYPES: Final = frozenset({"product", "productgroup", "og:product"})
_COLLECTION_TYPES: Final = frozenset({"itemlist", "collectionpage", "product.group"})
_SHOP_TYPES: Final = _PRODUCT_TYPES | _COLLECTION_TYPES | {"offer", "offercatalog"}
_SAYS_ARTICLE: Final = "Article"
"""In JSON-LD; `og:type` is `article` on all kinds: 36 services, 24 listings of WCXB dev."""

_FORUM: Final = re.compile(
    r"/(?:forums?|threads?|t|discussions?|viewtopic|showthread|comments|r|boards?|talk)[/.?]|forums?/"
    r"|/topic/|/questions?/[0-9]|/item\?id=|//(?:[\w.-]*\.)?(?:forums?|community|discuss|boards?)\."
)
_DOCUMENTATION: Final = re.compile(
    r"//(?:docs?|developers?|api|wiki|man|help)\.|readthedocs|wikipedia"
    r"|/(?:docs?|documentation|reference|manual|api|wiki|stable|latest|library)(?:/|\Z)"
)
_ARTICLE: Final = re.compile(
    r"/(?:blogs?|articles?|posts?|story|stories|news|insights?|magazine|press|entry)/(?:[0-9]+/)*[^/]{8,}"
    r"|/20[0-2][0-9]/[01][0-9]|-[0-9]{6,}(?:\.html?)?\Z"
)
_PRODUCT: Final = re.compile(r"/(?:products?|dp|p|itm|prod)/[^/]+")
_COLLECTION: Final = re.compile(
    r"/(?:collections?|c|category|categories|product-category|shop|catalog|browse)(?:/|\Z)"
)
_LISTING: Final = re.compile(
    r"/(?:category|categories|tag|tags|topics?|author|archives?|search|page/[0-9]+|blog|news|articles|directory)/?\Z"
)
_LETTERS: Final = re.compile(r"[a-z]+")

_SOME: Final = 200
_MUCH: Final = 600
_BODY: Final = 1_200
_ONLY_ARTICLES: Final = 2_500
"""Characters of long paragraphs in one place. With a name of four words in the address, 600 characters recognise
525 articles of WCXB dev, and 45 other pages; 1,200 with a name of three words 100 more."""

_PROSE: Final = 900
"""Characters of long paragraphs that make a page without other signs an article: descriptions of services are
shorter. TRAF F1 .9128 with it, .9121 with 1,200; WCXB dev the same."""

_NAME, _LONG_NAME, _SENTENCE = 3, 4, 6
"""Words in the last part of the address. Six recognise 303 articles of WCXB dev, 23 products, and 8 others."""

_CARDS: Final = 8
_CARD_SHARE: Final = 0.35
"""Fewest cards or articles, and least share of the text in cards, for a page made of them."""

_PRICE: Final = re.compile(
    r"[$€£¥₹₽₩₺₪฿]\s?[0-9]|[0-9]\s?(?:[$€£¥₹₽₩₺₪฿]|(?:kr|zł|\u0440\u0443\u0431|\u5186|\u5143|\uc6d0|K\u010d|lei|TL|EUR|USD|CHF|GBP|\u0631\.\u0633)\b)"
)
_LOOKED_AT: Final = 40
_CARD_CHARS: Final = 500
"""Cards, and characters of each, in which a price is searched for."""

_MIN_COMMENTS: Final = 500
_MAX_OTHER: Final = 900
_COMMENT_SHARE: Final = 0.7
"""Comments are the content if they have most of the prose, as on sites that share links. WCXB dev forum .775 with
it, .770 without."""

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


@dataclass(frozen=True, slots=True)
class Hints:
    """Metadata that helps to find a page's content; nothing is cleaned.

    Attributes:
        url: its address.
        title: from `content.html.metadata`; may be empty.
        author: likewise.
        types: of its JSON-LD objects and microdata, without their namespace, such as `NewsArticle`; and its
            `og:type`.
        generator: the program that made it, in lower case; may be empty.
    """

    url: str
    title: str = ""
    author: str = ""
    types: frozenset[str] = frozenset()
    generator: str = ""


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts for the rules below.

    Attributes:
        types: in lower case.
        path: of the address, in lower case.
        is_home: whether that is the root of the site.
        words: in the last part of the address.
        body: characters of long paragraphs in the place with most of them.
        is_front: whether this is a site's first page, with many articles that each declare themselves as one.
    """

    url: str
    path: str
    is_home: bool
    types: frozenset[str]
    words: int
    body: int
    page: Element
    is_front: bool


def is_forum(hints: Hints, platform: PageKind | None) -> bool:
    """Whether a page, its program or its address declares a forum."""
    types = frozenset(map(str.lower, hints.types))
    if types & _FORUM_TYPES or platform is PageKind.FORUM:
        return True
    return not types & _ARTICLE_TYPES and _FORUM.search(hints.url.lower()) is not None


def says_article(hints: Hints) -> bool:
    """Whether a page declares itself an article, in JSON-LD or microdata."""
    return _SAYS_ARTICLE in hints.types or not _ARTICLE_TYPES.isdisjoint(
        map(str.lower, hints.types)
    )


def kind_of(hints: Hints, elements: list[Element], platform: PageKind | None = None) -> PageKind:
    """Determine the kind of a page.

    The first matching rule wins: a forum, since it is declared or made of comments; the page's metadata; its
    program; documentation; its address; the place of its long paragraphs; its cards.

    Args:
        hints: its metadata.
        elements: its elements, without menus and footers.
        platform: the kind of pages that its program makes.
    """
    if is_forum(hints, platform):
        return PageKind.FORUM
    facts = _facts(hints, elements)
    said = _by_types(facts)
    if said is not None:
        return said
    if _is_of_comments(elements):
        return PageKind.FORUM
    return platform or _by_address(facts, hints) or _by_cards(facts, elements)


def _facts(hints: Hints, elements: list[Element]) -> _Facts:
    url = hints.url.lower()
    try:
        path = urlsplit(url).path
    except ValueError:
        path = ""
    last = path.rstrip("/").rpartition("/")[2]
    articles = sum(element.tag == "article" for element in elements)
    return _Facts(
        url=url,
        path=path,
        is_home=len(path) <= 1,
        types=frozenset(map(str.lower, hints.types)),
        words=len(_LETTERS.findall(last)),
        body=max(element.long for element in elements),
        page=elements[0],
        is_front=len(path) <= 1 and articles >= _CARDS,
    )


def _by_types(facts: _Facts) -> PageKind | None:
    if facts.types & _ARTICLE_TYPES and not facts.is_front:
        return PageKind.ARTICLE
    if (
        facts.types & _PRODUCT_TYPES
        and not facts.types & _COLLECTION_TYPES
        and not facts.is_home
        and not _COLLECTION.search(facts.path)
    ):
        return PageKind.PRODUCT
    return None


def _is_of_comments(elements: list[Element]) -> bool:
    page = elements[0]
    comments = 0
    end = 0
    for element in live(elements):
        if (
            element.start >= end
            and element.tag not in {"body", "main"}
            and signs_of(element.names) & COMMENTS
        ):
            comments += element.prose
            end = element.end
    return (
        comments > _MIN_COMMENTS
        and comments > _COMMENT_SHARE * page.prose
        and page.prose - comments < _MAX_OTHER
    )


def _by_address(facts: _Facts, hints: Hints) -> PageKind | None:
    is_named = _ARTICLE.search(facts.path) is not None
    if _DOCUMENTATION.search(facts.url) and not (is_named and facts.body > _SOME):
        return PageKind.DOCUMENTATION
    if (is_named and facts.body > _SOME) or (
        says_article(hints) and facts.body > _MUCH and not facts.is_front
    ):
        return PageKind.ARTICLE
    if _PRODUCT.search(facts.path) and facts.body < _ONLY_ARTICLES:
        return PageKind.PRODUCT
    return PageKind.ARTICLE if _reads_as_article(facts) else None


def _reads_as_article(facts: _Facts) -> bool:
    if facts.is_home or _LISTING.search(facts.path):
        return False
    if _COLLECTION.search(facts.path) and facts.body < _ONLY_ARTICLES:
        return False
    return (
        facts.words >= _SENTENCE
        or (facts.words >= _LONG_NAME and facts.body >= _MUCH)
        or (facts.words >= _NAME and facts.body >= _BODY)
        or (facts.body >= _MUCH and facts.body * 2 >= facts.page.text)
    )


def _by_cards(facts: _Facts, elements: list[Element]) -> PageKind:
    is_shop = bool(facts.types & _SHOP_TYPES) or _COLLECTION.search(facts.path) is not None
    cards = [card for row in rows_of_cards(elements) for card in row]
    if (
        len(cards) >= _CARDS
        and sum(card.text for card in cards) >= _CARD_SHARE * facts.page.text
        and facts.body < _ONLY_ARTICLES
    ):
        return PageKind.COLLECTION if _are_priced(cards) else PageKind.LISTING
    if facts.is_home:
        return PageKind.SERVICE
    if is_shop and facts.body < _ONLY_ARTICLES:
        return PageKind.COLLECTION
    if _LISTING.search(facts.path) and facts.body < _BODY:
        return PageKind.LISTING
    return PageKind.ARTICLE if facts.body >= _PROSE else PageKind.SERVICE


def _are_priced(cards: list[Element]) -> bool:
    """Whether things are offered, as opposed to a list of texts."""
    looked_at = cards[:_LOOKED_AT]
    priced = sum(_PRICE.search(card.node.text()[:_CARD_CHARS]) is not None for card in looked_at)
    return priced * 2 >= len(looked_at)


def generator_of(tree: LexborHTMLParser) -> str:
    """The program that the page names as its generator, in lower case; call it before `<meta>` is removed."""
    meta = tree.css_first('meta[name="generator" i]')
    return ((meta.attributes.get("content") or "") if meta is not None else "")[:100].lower()


def platform_kind(
    tree: LexborHTMLParser, generator: str, elements: Sequence[Element]
) -> PageKind | None:
    """Return the kind of pages that this page's program makes; `None` if unknown.

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
        # Each mark costs a visit to every element.
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
