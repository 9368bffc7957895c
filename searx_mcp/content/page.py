"""An HTML page as text: its metadata, its main content as Markdown, and its signs."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.addresses import absolute
from searx_mcp.content.clean import clean_counted
from searx_mcp.content.config import MAX_ELEMENTS
from searx_mcp.content.html.guards import MAX_DEPTH, MAX_TAGS, Guarded, guard, parse
from searx_mcp.content.html.hidden_elements import (
    Passed,
    drop_hidden,
    drop_unseen,
    open_buttons,
    style_sheet,
)
from searx_mcp.content.html.metadata import Metadata, metadata
from searx_mcp.content.html.stylesheet import StyleSheet
from searx_mcp.content.main.find import Main, find_main
from searx_mcp.content.main.kinds import Hints, generator_of
from searx_mcp.content.markdown import escape_line_starts, escape_words
from searx_mcp.content.normalize.panels import drop_unlabelled, show_panels
from searx_mcp.content.normalize.rewrite import normalize_sources, normalize_text
from searx_mcp.content.site_index.discovery import published
from searx_mcp.content.tree import HEADINGS, Removals, ancestors
from searx_mcp.content.words import pieces
from searx_mcp.content.writing.write import WrittenMarkdown, write
from searx_mcp.models.page import PageKind, SiteIndex
from searx_mcp.models.style import Style

_SHOWN_KINDS: Final = frozenset({
    PageKind.COLLECTION, PageKind.LISTING, PageKind.PRODUCT, PageKind.SERVICE,
})  # fmt: skip
"""Pages whose images repeat the text next to them. Without their alternative texts F1 is .012 higher on a quarter of
WCXB dev (`python -m benchmarks.extraction`); they stay in the list of images."""

_SHORT: Final = 1_000
"""A page with fewer characters has too little text to determine its kind, and every word of it stays."""

_BLANK = re.compile(r"\s*\n\s*\n\s*")

_HEADINGS: Final = ",".join(sorted(HEADINGS))
MARK: Final = "data-anchor"
"""The attribute with a heading's anchor."""

_MAX_HEADINGS: Final = 5_000
_ANCHOR_CHARS: Final = 200
_MAX_STEPS: Final = 8
"""Elements that are visited before and around a heading."""

_FRAGMENT = re.compile(r"[^\s#]+")
_WRAPPERS: Final = frozenset({"section", "div", "article", "header", "hgroup", "li", "dt"})
_MARKERS: Final = frozenset({"a", "span"})


@dataclass(frozen=True, slots=True)
class ReadPage:
    """An HTML page.

    Attributes:
        metadata: not cleaned.
        written: its main content; clean.
        kind: of the page, or `None` if it was not determined.
        indexes: of its site, those that the page points to, best first.
        is_empty: whether there is nothing to read on it.
        is_plain: whether the main content is plain text, since the page is too large to be converted.
        is_cut: whether it has more tags than were read.
        is_skeleton: whether it has no content without its scripts.
        is_uncovered: whether it is shown with text that its style hides, since that is most of it.
        removed: number of removed blocks, by rule.
        is_style_cut: whether its style exceeded a limit, so that hidden text may be shown.
    """

    metadata: Metadata
    written: WrittenMarkdown
    kind: PageKind | None
    indexes: tuple[SiteIndex, ...] = ()
    is_empty: bool = False
    is_plain: bool = False
    is_cut: bool = False
    is_skeleton: bool = False
    is_uncovered: bool = False
    is_style_cut: bool = False
    removed: Mapping[str, int] = field(default_factory=dict)


def read_page(
    html: str,
    *,
    url: str,
    style: Style,
    max_chars: int,
    max_elements: int = MAX_ELEMENTS,
    removals: Removals | None = None,
) -> ReadPage:
    """Read a page.

    Args:
        html: the decoded page; any string.
        url: the address it came from, against which links are resolved.
        style: how the Markdown is written.
        max_chars: characters of the page that are read; a longer one becomes plain text.
        max_elements: of a page that is converted; one with more becomes plain text.
        removals: records what is removed; a new one by default.

    Returns:
        Everything empty if the page has no content.
    """
    is_long = len(html) > max_chars
    removals = removals or Removals()
    guarded = guard(html[:max_chars])
    tree = parse(guarded)
    said = metadata(tree, url=url)
    hints = Hints(
        url,
        title=said.title,
        author=said.author,
        types=said.types,
        generator=generator_of(tree),
    )
    base, sheet = _base(tree, url), style_sheet(tree)
    indexes = published(tree, url=url, base=base)
    tags = html.count("<", 0, max_chars)
    is_plain = is_long or (
        tags > max_elements and guarded.count("<") - guarded.count("</") > max_elements
    )
    passed = _uncover(tree, sheet, removals)
    main = _whole(tree) if is_plain else find_main(tree, hints, removals)
    if not _has_text(main):
        # A page with nothing but navigation is its navigation.
        tree = parse(guarded)
        removals.clear()
        passed = _uncover(tree, sheet, removals)
        main = _whole(tree)
    written = _plain(main.roots) if is_plain else _written(main, base, style)
    return ReadPage(
        metadata=said,
        written=written,
        kind=main.kind,
        indexes=indexes,
        is_empty=not written.markdown and not _has_text(main),
        is_plain=is_plain,
        is_cut=tags > MAX_TAGS,
        is_skeleton=_is_skeleton(guarded, written.markdown),
        is_uncovered=passed.is_uncovered,
        is_style_cut=passed.is_cut,
        removed={rule.value: count for rule, count in sorted(removals.counts.items())},
    )


def _base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    if node is None:
        return url
    return absolute(url, node.attributes.get("href") or "") or url


def _uncover(tree: LexborHTMLParser, sheet: StyleSheet | None, removals: Removals) -> Passed:
    """Remove everything except what a reader sees."""
    _show_unscripted(tree)
    has_panels = show_panels(tree)
    normalize_sources(tree, removals)
    mark_anchors(tree)
    drop_unseen(tree, removals)
    passed = drop_hidden(tree, sheet, removals)
    if has_panels:
        drop_unlabelled(tree, removals)
    open_buttons(tree)
    # Only now: it takes elements apart, and then their styles could no longer hide their content.
    normalize_text(tree, removals)
    return passed


def _whole(tree: LexborHTMLParser) -> Main:
    return Main(() if tree.body is None else (tree.body,), kind=None)


def _has_text(main: Main) -> bool:
    return any(root.text().strip() for root in main.roots)


def _written(main: Main, base: str, style: Style) -> WrittenMarkdown:
    if main.kind in _SHOWN_KINDS and sum(len(root.text()) for root in main.roots) > _SHORT:
        style = replace(style, keep_image_words=False)
    return write(main.roots, base=base, style=style)


def _plain(roots: Iterable[LexborNode]) -> WrittenMarkdown:
    """Write the text of elements as Markdown, every text node as a paragraph.

    Other threads wait while a regular expression runs, so it gets one piece at a time; words that are cut are
    joined again before they are escaped.
    """
    text = "\n\n".join(root.text(separator="\n\n", strip=True) for root in roots)
    paragraphs: list[list[str]] = [[]]
    hidden = 0
    is_over = False
    for piece in pieces(text):
        seen, removed = clean_counted(piece)
        hidden += removed
        first, *others = _BLANK.split(seen)
        begun = paragraphs[-1]
        if begun and not (first[:1].isspace() or is_over):
            begun[-1] += " ".join(first.split())
        else:
            begun.append(" ".join(first.split()))
        paragraphs += [[" ".join(other.split())] for other in others]
        is_over = piece[-1:].isspace()
    lines = (" ".join(filter(None, map(escape_words, parts))) for parts in paragraphs)
    return WrittenMarkdown(
        "\n\n".join(escape_line_starts(line) for line in lines if line), hidden=hidden
    )


def mark_anchors(tree: LexborHTMLParser) -> None:
    """Mark every heading with its anchor, before the elements that define it are removed.

    In this order: a link of the heading to itself, as documentation generators write it, an id on the heading, one
    on an element in it, an empty `<a>` or `<span>` before it, and an id of an element that begins with it.
    """
    if tree.body is not None:
        for heading in _headings(tree.body):
            heading.attrs[MARK] = _anchor(heading)


def _headings(root: LexborNode) -> list[LexborNode]:
    """Headings, without those that contain others: searching each would be quadratic."""
    found = root.css(_HEADINGS)[:_MAX_HEADINGS]
    around = (above for heading in found for above in ancestors(heading, _MAX_STEPS))
    holding = {above.mem_id for above in around if above.tag in HEADINGS}
    return [heading for heading in found if heading.mem_id not in holding]


def _anchor(heading: LexborNode) -> str:
    # For a heading with only text the parser is not queried, which takes 2 µs each time.
    holds = next(heading.iter(), None) is not None
    return (
        (holds and _self_link(heading))
        or _id(heading)
        or (holds and _inside(heading))
        or _before(heading)
        or _around(heading)
    )


def _self_link(heading: LexborNode) -> str:
    for link in heading.css('a[href^="#"]'):
        if not any(character.isalnum() for character in link.text()):
            return _fragment(unquote((link.attributes.get("href") or "")[1 : 3 * _ANCHOR_CHARS]))
    return ""


def _inside(heading: LexborNode) -> str:
    return next(filter(None, map(_id, heading.css("[id],a[name]")[:_MAX_STEPS])), "")


def _preceding(node: LexborNode) -> Iterator[LexborNode]:
    """The nodes before one, the nearest first, up to a limit."""
    before = node.prev
    for _ in range(_MAX_STEPS):
        if before is None:
            return
        yield before
        before = before.prev


def _before(heading: LexborNode) -> str:
    """An empty element before the heading, alone or in a paragraph."""
    for node in _preceding(heading):
        if node.is_element_node and not node.text().strip():
            own = _id(node) if node.tag in _MARKERS else ""
            inner = node.css_first("a[id],a[name],span[id]")
            return own or (_id(inner) if inner is not None else "")
        if node.is_element_node or (node.is_text_node and not node.is_empty_text_node):
            break
    return ""


def _around(heading: LexborNode) -> str:
    """The id of an element that begins with the heading."""
    node = heading
    for above in ancestors(heading, _MAX_STEPS):
        is_first = not any(
            before.text().strip() for before in _preceding(node) if not before.is_comment_node
        )
        if not is_first or above.tag not in _WRAPPERS:
            break
        if anchor := _id(above):
            return anchor
        node = above
    return ""


def _id(node: LexborNode) -> str:
    attributes = node.attributes
    return _fragment(attributes.get("id") or "") or _fragment(attributes.get("name") or "")


def _fragment(text: str) -> str:
    return text if len(text) <= _ANCHOR_CHARS and _FRAGMENT.fullmatch(text) else ""


_STREAMED: Final = 'div[hidden][id^="S:"]'
_MAX_STREAMED: Final = 500
_REACT_CALLS = re.compile(r"\$R[CRSX]\b")
_UNSEEN: Final = "script,style,template"
_NOSCRIPT_CHARS: Final = 500
"""A shorter `<noscript>` only asks for scripts, or contains an image that is loaded later."""

_APP_ROOTS: Final = (
    "#root,#app,#__next,#__nuxt,#___gatsby,#svelte,#main-app,#app-root,#react-root,#q-app,#mount,"
    "#ember-app,app-root,my-app,ng-app,[ng-app],[data-reactroot],[data-v-app]"
)
"""The elements that frameworks draw into, by the names in their templates."""

_ASKS = re.compile(r"java\s?script", re.IGNORECASE)
_ROOT_CHARS: Final = 40
"""An app's root with less text contains only a word such as "Loading…"."""

_FEW_CHARS: Final = 200
"""Most text of a page that asks for scripts, or has an empty root."""

_SCANT_CHARS: Final = 80
"""Most text of a page that has scripts and no other sign."""

_SCRIPT_CHARS: Final = 2_000
"""This many characters of inline scripts, or `_SCRIPT_FILES` script files, draw more than a visit counter does."""

_SCRIPT_FILES: Final = 2


def _show_unscripted(tree: LexborHTMLParser) -> None:
    """Show what scripts would show, and what is meant for readers without scripts.

    Call it before hidden elements, templates and `<noscript>` are removed.

    Args:
        tree: the whole page; changed in place.
    """
    if tree.body is None:
        return
    if parts := tree.css(_STREAMED)[:_MAX_STREAMED]:
        _place_streamed(tree, parts)
    if held := [(node, len(node.text())) for node in tree.body.css("noscript")]:
        _open_noscript(tree.body, held)


def _place_streamed(tree: LexborHTMLParser, parts: list[LexborNode]) -> None:
    """Put the parts that React streams where its scripts would put them.

    React 18 writes `<template id="B:0">` (or `P:0`) in place of a missing part, and later the part in a hidden
    `<div id="S:0">`, and a call of `$RC` that puts it there.
    """
    places = {
        node.attributes.get("id"): node
        for node in tree.css('template[id^="B:"],template[id^="P:"]')
    }
    has_script = any(_REACT_CALLS.search(node.text()) for node in tree.css("script"))
    for part in parts:
        number = (part.attributes.get("id") or "")[2:]
        place = places.get(f"B:{number}") or places.get(f"P:{number}")
        if place is None and not has_script:
            # Hidden text stays hidden where nothing in React would show it.
            continue
        del part.attrs["hidden"]
        if place is not None and part.mem_id not in (
            above.mem_id for above in ancestors(place, MAX_DEPTH)
        ):
            place.insert_before(part, move=True)


def _open_noscript(body: LexborNode, held: list[tuple[LexborNode, int]]) -> None:
    """Unwrap `<noscript>` that contains more than the rest of the page, such as Discourse's."""
    large = [(node, size) for node, size in held if size >= _NOSCRIPT_CHARS]
    if not large:
        return
    unseen = sum(len(node.text()) for node in body.css(_UNSEEN))
    rest = len(body.text()) - unseen - sum(size for _, size in held)
    for node, size in large:
        if size > rest:
            node.unwrap()


def _is_skeleton(html: Guarded, text: str) -> bool:
    """Whether a page has no content without its scripts.

    Args:
        html: the whole page; read only if there is next to no text.
        text: what a reader without scripts sees.
    """
    if len(text) >= _FEW_CHARS:
        return False
    tree = parse(html)
    chars, files = _scripts(tree)
    if not chars and not files:
        return False
    if _has_empty_root(tree) or _asks_for_scripts(tree) or _ASKS.search(text):
        return True
    draws = chars >= _SCRIPT_CHARS or files >= _SCRIPT_FILES
    return draws and len(text) < _SCANT_CHARS


def _scripts(tree: LexborHTMLParser) -> tuple[int, int]:
    """Count characters of inline scripts, and script files; a module counts twice."""
    chars = files = 0
    for script in tree.css("script"):
        attributes = script.attributes
        kind = (attributes.get("type") or "").lower()
        if kind and "javascript" not in kind and kind != "module":
            continue
        if attributes.get("src"):
            files += 2 if kind == "module" else 1
        else:
            chars += len(script.text())
    return chars, files


def _has_empty_root(tree: LexborHTMLParser) -> bool:
    """Whether an app's root has next to no text."""
    return any(len(root.text().strip()) < _ROOT_CHARS for root in tree.css(_APP_ROOTS))


def _asks_for_scripts(tree: LexborHTMLParser) -> bool:
    """Whether readers without scripts are asked to enable them."""
    return any(_ASKS.search(node.text()) for node in tree.css("noscript"))
