"""The main content of a page, by simple rules.

Metadata is read first. Then everything a reader of the page does not see, or that serves to move
around in the site, is dropped, and the largest of the elements that authors mark as content is
taken. Remote images become their alternative text: a host that renders Markdown would fetch them,
and the address of an image can carry away whatever a page talked a model into writing.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.guards import guard

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

_HIDING_STYLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)"
    r"|(?:opacity|font-size)\s*:\s*0(?:\.0*)?(?:[a-z%]+)?)\s*(?:!\s*important\s*)?(?:;|$)",
    re.IGNORECASE,
)
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STYLE_CHARS = 1_000

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

_LINK_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "ftp"})
_URL_CHARS = 2_000
"""Longer addresses are payloads (`data:` and the like), not places."""

_URL_JUNK = re.compile("[\t\n\r]")
_C0_AND_SPACE: Final = "".join(map(chr, range(0x21)))
_ALT_CHARS = 300
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a page says of itself, and its main content.

    Attributes:
        title: `og:title`, else `<title>`, else the first heading; not cleaned.
        description: the page's own description; not cleaned.
        language: the BCP 47 tag of `<html lang>`, or empty.
        html: the main content, links absolute, no images, no scripts; may be empty.
        text: the same as plain text.
    """

    title: str
    description: str
    language: str
    html: str
    text: str


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
    title = _title(tree)
    description = _meta(tree, "description") or _meta(tree, "og:description")
    language = _language(tree)
    base = _base(tree, url)
    content, text = _content(tree, base, with_site=False)
    if not text:
        # A page of nothing but navigation is its navigation.
        content, text = _content(LexborHTMLParser(html), base, with_site=True)
    return Extracted(title, description, language, content, text)


def _content(tree: LexborHTMLParser, base: str, *, with_site: bool) -> tuple[str, str]:
    """The main content as HTML and as plain text; uses the tree up."""
    unwanted = _unseen(tree) if with_site else _unseen(tree) + _site(tree)
    _prune(tree, unwanted)
    root = _root(tree)
    if root is None:
        return "", ""
    for image in root.css("img"):
        _describe(image)
    for link in root.css("a,area"):
        _resolve(link, base)
    return root.html or "", _plain(root)


def _title(tree: LexborHTMLParser) -> str:
    if title := _meta(tree, "og:title"):
        return title
    for selector in ("head title", "title", "h1"):
        node = tree.css_first(selector)
        if node is not None and (title := _one_line(node.text())):
            return title
    return ""


def _meta(tree: LexborHTMLParser, name: str) -> str:
    for node in tree.css(f'meta[property="{name}" i],meta[name="{name}" i]'):
        if content := _one_line(node.attributes.get("content") or ""):
            return content
    return ""


def _language(tree: LexborHTMLParser) -> str:
    root = tree.root
    tag = (root.attributes.get("lang") or "").strip() if root is not None else ""
    return tag if _LANGUAGE.fullmatch(tag) else ""


def _base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    href = (node.attributes.get("href") or "") if node is not None else ""
    return _absolute(url, href) or url


def _unseen(tree: LexborHTMLParser) -> list[LexborNode]:
    return tree.css(_UNSEEN) + [node for node in tree.css("[style]") if _hides(node)]


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


def _hides(node: LexborNode) -> bool:
    style = (node.attributes.get("style") or "")[:_STYLE_CHARS]
    return _HIDING_STYLE.search(_CSS_COMMENT.sub("", style)) is not None


def _root(tree: LexborHTMLParser) -> LexborNode | None:
    """The marked element with most text, or the body."""
    best, most = tree.body, _ROOT_CHARS
    for node in tree.css(_ROOTS):
        size = len(node.text())
        if size > most:
            best, most = node, size
    return best


def _describe(image: LexborNode) -> None:
    alt = _one_line(image.attributes.get("alt") or "").translate({0x5B: "(", 0x5D: ")"})
    if alt:
        image.replace_with(f"[image: {alt[:_ALT_CHARS]}]")
    else:
        image.decompose()


def _resolve(link: LexborNode, base: str) -> None:
    """Make a link absolute; one that leads nowhere safe loses its address and stays as text."""
    href = link.attributes.get("href")
    if href is None:
        return
    absolute = _absolute(base, href)
    if absolute:
        link.attrs["href"] = absolute
    else:
        del link.attrs["href"]


def _absolute(base: str, href: str) -> str:
    """The absolute address, or empty if it is none that a reader could follow."""
    # Browsers drop these before they read the scheme (URL Standard §4.4), so `java\nscript:` is one.
    href = _URL_JUNK.sub("", href.strip(_C0_AND_SPACE))
    if len(href) > _URL_CHARS:
        return ""
    try:
        absolute = urljoin(base, href)
        scheme = urlsplit(absolute).scheme
    except ValueError:
        # An IPv6 address that is none.
        return ""
    return absolute if scheme in _LINK_SCHEMES else ""


def _plain(root: LexborNode) -> str:
    """Text with a line for each block; changes the tree."""
    for block in root.css(_BLOCKS):
        block.insert_before("\n")
        block.insert_after("\n")
    lines = (_one_line(line) for line in root.text().splitlines())
    return "\n".join(line for line in lines if line)


def _one_line(text: str) -> str:
    return " ".join(text.split())
