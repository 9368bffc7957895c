"""The main content of a page, by simple rules.

Metadata is read first. Then everything a reader of the page does not see, or that serves to move
around in the site, is dropped, and the largest of the elements that authors mark as content is
taken. Remote images become their alternative text: a host that renders Markdown would fetch them,
and the address of an image can carry away whatever a page talked a model into writing.
"""

from dataclasses import dataclass, replace
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.addresses import absolute
from searx_mcp.content.html.anchors import Anchored, anchored, mark_anchors
from searx_mcp.content.html.guards import guard
from searx_mcp.content.html.metadata import Metadata, metadata
from searx_mcp.content.html.references import describe_images, images_of, resolve_links
from searx_mcp.content.html.skeleton import is_skeleton, signs
from searx_mcp.content.html.style.hiding import drop_hidden, style_rules
from searx_mcp.content.html.style.stylesheet import Rule
from searx_mcp.models.page import PageImage

_UNSEEN: Final = (
    "script,style,noscript,template,iframe,frame,frameset,object,embed,applet,canvas,audio,video,"
    "noembed,noframes,svg,map,meta,link,title,"
    "button,select,input,textarea,option,datalist,dialog,"
    '[hidden],[aria-hidden="true" i]'
)
_SITE: Final = (
    "nav,footer,aside,menu,.headerlink,"
    '[role="navigation"],[role="banner"],[role="contentinfo"],[role="complementary"],'
    '[role="search"],[role="dialog"],[role="alertdialog"],[role="menu"]'
)
_TEXT_ONLY: Final = "xmp,plaintext"
"""Their content is text that would be markup when serialized and parsed again."""

_ROOTS: Final = (
    'main,article,[role="main"],[itemprop="articleBody"],'
    "#content,#main,#main-content,#article,#mw-content-text,#bodyContent,#readme,"
    ".markdown-body,.mw-parser-output,.entry-content,.post-content,.article-body"
)
_BLOCKS: Final = (
    "address,article,aside,blockquote,br,caption,dd,details,div,dl,dt,fieldset,figcaption,figure,"
    "footer,form,h1,h2,h3,h4,h5,h6,header,hr,li,main,ol,p,pre,section,summary,table,td,th,tr,ul"
)
_ROOT_CHARS = 200
"""A marked element with less text than this is a teaser or a shell; the body is taken then."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a page says of itself, and its main content; nothing is cleaned but where it is said.

    Attributes:
        metadata: what it says of itself.
        html: the main content, links absolute, no images, no scripts; may be empty.
        text: the same as plain text.
        headings: of the main content, in order, with the fragments that lead to them.
        links: web addresses the main content leads to, in order.
        images: of the main content; their texts are clean.
        is_skeleton: whether it needs its scripts to say anything.
        is_uncovered: whether it is shown with text that its style hides, since that is most of it.
    """

    metadata: Metadata
    html: str
    text: str
    headings: tuple[Anchored, ...] = ()
    links: tuple[str, ...] = ()
    images: tuple[PageImage, ...] = ()
    is_skeleton: bool = False
    is_uncovered: bool = False


@dataclass(frozen=True, slots=True)
class _Page:
    """What is read of a page before anything is taken out of it."""

    html: str
    base: str
    style: list[Rule]


def main_content(html: str, *, url: str) -> Extracted:
    """Find the main content of a page.

    Args:
        html: the decoded page; any string.
        url: the address it came from, against which links are resolved.

    Returns:
        Metadata and content; everything empty if the page holds nothing.
    """
    html = guard(html)
    tree = LexborHTMLParser(html)
    said = metadata(tree, url=url)
    found = signs(tree)
    page = _Page(html, _base(tree, url), style_rules(tree))
    extracted = _content(tree, page, said, with_site=False)
    if not extracted.text:
        # A page of nothing but navigation is its navigation.
        extracted = _content(LexborHTMLParser(html), page, said, with_site=True)
    return replace(extracted, is_skeleton=is_skeleton(found, extracted.text))


def fragment_content(html: str, *, url: str) -> str:
    """A piece of HTML without what a reader does not see, links absolute, images as words.

    Args:
        html: markup as it stands in a feed; any string.
        url: against which links are resolved.
    """
    tree = LexborHTMLParser(guard(html))
    _prune(tree, tree.css(_UNSEEN))
    drop_hidden(tree, [])
    if tree.body is None:
        return ""
    describe_images(tree.body)
    resolve_links(tree.body, url)
    return tree.body.html or ""


def _content(tree: LexborHTMLParser, page: _Page, said: Metadata, *, with_site: bool) -> Extracted:
    """The main content; uses the tree up."""
    mark_anchors(tree)
    _prune(tree, tree.css(_UNSEEN) if with_site else tree.css(_UNSEEN) + _site(tree))
    is_uncovered = drop_hidden(tree, page.style)
    root = _root(tree)
    if root is None:
        return Extracted(said, "", "")
    images = images_of(root, page.base)
    describe_images(root)
    links = resolve_links(root, page.base)
    headings = tuple(anchored(root))
    html = root.html or ""
    return Extracted(said, html, _plain(root), headings, links, images, is_uncovered=is_uncovered)


def _base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    href = (node.attributes.get("href") or "") if node is not None else ""
    return absolute(url, href) or url


def _site(tree: LexborHTMLParser) -> list[LexborNode]:
    of_content = {node.mem_id for node in tree.css("article header,main header")}
    headers = [node for node in tree.css("header") if node.mem_id not in of_content]
    return tree.css(_SITE) + headers


def _prune(tree: LexborHTMLParser, unwanted: list[LexborNode]) -> None:
    """Drop elements, comments and raw text elements; the page's skeleton always stays."""
    for node in unwanted:
        if node.tag not in {"html", "body"}:
            node.decompose()
    for node in tree.css(_TEXT_ONLY):
        node.replace_with(node.text())
    if tree.root is not None:
        for node in [
            node for node in tree.root.traverse(include_text=True) if node.is_comment_node
        ]:
            node.decompose()


def _root(tree: LexborHTMLParser) -> LexborNode | None:
    """The marked element with most text, or the body."""
    best, most = tree.body, _ROOT_CHARS
    for node in tree.css(_ROOTS):
        size = len(node.text())
        if size > most:
            best, most = node, size
    return best


def _plain(root: LexborNode) -> str:
    """Text with a line for each block; changes the tree."""
    for block in root.css(_BLOCKS):
        block.insert_before("\n")
        block.insert_after("\n")
    lines = (" ".join(line.split()) for line in root.text().splitlines())
    return "\n".join(line for line in lines if line)
