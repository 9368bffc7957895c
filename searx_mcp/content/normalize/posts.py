"""Forum posts: their quotations, link previews, and the posts they reply to."""

import re
from collections.abc import Iterator
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.tree import (
    ANY,
    Dialect,
    RemovalRule,
    Removals,
    ancestors,
    has_text,
    is_attached,
    move_children,
    new,
    put_in_place,
    short_text,
    text_of,
)

_QUOTED: Final = "aside.quote,aside.onebox"
"""Quotations and link previews, as Discourse writes them."""

_COMMENTS: Final = ".comment,[itemprop~=comment],[itemtype$='/Comment'],[author][depth],td[indent]"
"""Comments, by the class names in most programs, and cells that only indent theirs."""

_NAMES: Final = (
    "[itemprop~=author],[itemprop~=name],[rel~=author],[class*=author i],[class*=username i],"
    "[class*=user-name i],.fn,.hnuser,a[href*='/user/'],a[href*='/users/'],a[href*='/u/']"
)
"""Names of a comment's author; of the first that match, the innermost is used."""

_NO_TEXT: Final = (
    ".comment .expand,.comment .numchildren,.comhead .navs,.comhead .togg,"
    ".comment .score:is(.likes,.dislikes),.d-none[itemprop],span[itemprop=position],"
    "[component='post/parent/content'],.codebox > p,.js-vote-count,[id^=comments-link]"
)
"""Removed: controls that fold a thread, navigate it or add to it, the scores with one vote more or less, and those
that are only a number, the machine-readable copy in an element with a framework's hidden class, the position of a post
in its thread, the copy of a post above a reply to it, and the button above code."""

_PANES: Final = ".message-cell--user,.ipsEntry__author-column,.cAuthorPane,.postprofile"
"""The author of a post, next to it: a name, and the forum's statistics of the member."""

_HEADS: Final = ".topic-meta-data a,.comhead .hnuser,.comhead .age a"
"""Names and dates above posts: as links they would look like a list of links."""

_PANE_NAMES: Final = ".message-name,.username,.cAuthorPane_author,h3,dt a"

_HEADINGS: Final = "h1 a,h2 a,h3 a,h4 a,h5 a,h6 a"
_INLINE: Final = frozenset({"a", "b", "strong", "em", "i", "span", "cite", "font", "small", "bdi"})
_COUNT: Final = re.compile(r"\d{1,3}")
_NAME_CHARS: Final = 40
_FEW: Final = 8
"""Elements of a post that may name its author."""

_ITEM: Final = 3
"""Elements between a list item and the comment in it."""

_MAX_COMMENTS: Final = 2_000
_UP: Final = 40
"""Ancestors of a comment up to the one it replies to, or of a name up to its comment."""


def _normalize_posts(tree: LexborHTMLParser, removals: Removals) -> None:
    """Rewrite quotations and link previews, and label nested comments with the one they reply to.

    A comment inside another one is labelled `bob (reply to alice)`, unless it is a list item, whose depth is visible.
    A label stays with its comment wherever a passage is cut; a quote would look like quoted words.

    Args:
        tree: without hidden elements; changed in place.
        removals: of this page.
    """
    removals.remove_all(tree.css(_NO_TEXT), RemovalRule.POST)
    for link in tree.css(_HEADS):
        link.unwrap()
    for box in filter(is_attached, tree.css(_QUOTED)[:_MAX_COMMENTS]):
        _rewrite(tree, box)
    _name_posts(tree)
    _label_replies(tree)


POSTS: Final = Dialect(
    {
        ANY: f"{_QUOTED},{_COMMENTS},{_PANES},.topic-meta-data,.comhead,.codebox,.d-none[itemprop],"
        "span[itemprop=position],[component='post/parent/content'],.js-vote-count"
    },
    _normalize_posts,
)


def _rewrite(tree: LexborHTMLParser, box: LexborNode) -> None:
    quote = new(tree, "blockquote")
    inner = box.css_first("blockquote")
    if inner is None:
        _preview(tree, box, quote)
    else:
        title = box.css_first(".title")
        if title is not None and has_text(title):
            link = title.css_first("a[href]")
            _paragraph(tree, new(tree, "strong", text_of(title)) if link is None else link, quote)
        move_children(inner, quote)
    put_in_place(box, quote)


def _preview(tree: LexborHTMLParser, box: LexborNode, quote: LexborNode) -> None:
    """A link with its title; the rest of the preview is not part of the post."""
    title = box.css_first(_HEADINGS) or box.css_first("header a") or box.css_first("a[href]")
    if title is None:
        move_children(box, quote)
        return
    address = title.attributes.get("href") or ""
    _paragraph(tree, new(tree, "a", text_of(title) or address, href=address), quote)


def _paragraph(tree: LexborHTMLParser, node: LexborNode, quote: LexborNode) -> None:
    line = new(tree, "p")
    line.insert_child(node, move=True)
    quote.insert_child(line, move=True)


def _name_posts(tree: LexborHTMLParser) -> None:
    """Put the name of a member before the post; the rest of the author's pane is not part of it."""
    panes = tree.css(_PANES)[:_MAX_COMMENTS]
    known = {pane.mem_id for pane in panes}
    for pane in panes:
        names = (short_text(node, _NAME_CHARS) for node in pane.css(_PANE_NAMES)[:_FEW])
        name = next(filter(None, names), "")
        post = pane.parent
        if not name or post is None or any(node.mem_id in known for node in ancestors(pane, 2)):
            continue
        if not any(name in node.text() for node in post.css("p.author")[:_FEW]):
            line = new(tree, "p")
            line.insert_child(new(tree, "strong", name), move=True)
            pane.insert_before(line, move=True)


def _label_replies(tree: LexborHTMLParser) -> None:
    comments = _comments(tree)
    if len(comments) < 2:  # noqa: PLR2004 - one that answers, and one that is answered
        return
    names = _names(tree, comments)
    for comment, answered in _replies(comments):
        name, whose = names.get(comment.mem_id), names.get(answered.mem_id)
        # An element around a comment may have the class of a comment, too.
        if name is None or whose is None or name.mem_id == whose.mem_id:
            continue
        label = f" (reply to {short_text(whose, _NAME_CHARS).rstrip(':')}) "
        if name.tag in _INLINE:
            name.insert_after(label)
        else:
            name.insert_child(label)


def _comments(tree: LexborHTMLParser) -> dict[int, LexborNode]:
    """The comments in order, by their ids in memory; for a cell that only indents, its row."""
    found: dict[int, LexborNode] = {}
    for node in tree.css(_COMMENTS)[:_MAX_COMMENTS]:
        comment = node.parent if node.tag == "td" else node
        if comment is not None:
            found.setdefault(comment.mem_id, comment)
    return found


def _replies(comments: dict[int, LexborNode]) -> Iterator[tuple[LexborNode, LexborNode]]:
    """The comments inside or below others, each with the one it replies to."""
    levels: list[LexborNode] = []
    for comment in comments.values():
        if _is_item(comment):
            continue
        if (around := _around(comment, comments)) is not None:
            yield comment, around
        elif (depth := _indent(comment)) >= 0:
            if 0 < depth <= len(levels):
                yield comment, levels[depth - 1]
            levels[depth:] = [comment]


def _indent(row: LexborNode) -> int:
    """The levels by which a row is indented; -1 if it is not a comment."""
    cells = (node for node in row.iter() if "indent" in node.attributes)
    level = next((cell.attributes["indent"] or "" for cell in cells), "")
    return int(level) if row.tag == "tr" and _COUNT.fullmatch(level) else -1


def _is_item(comment: LexborNode) -> bool:
    return comment.tag == "li" or any(node.tag == "li" for node in ancestors(comment, _ITEM))


def _around(node: LexborNode, comments: dict[int, LexborNode]) -> LexborNode | None:
    return next((each for each in ancestors(node, _UP) if each.mem_id in comments), None)


def _names(tree: LexborHTMLParser, comments: dict[int, LexborNode]) -> dict[int, LexborNode]:
    """The elements with the author's name of each comment, by the ids of the comments."""
    found: dict[int, LexborNode] = {}
    for node in tree.css(_NAMES)[: 4 * _MAX_COMMENTS]:
        comment = _around(node, comments)
        if comment is None or not short_text(node, _NAME_CHARS):
            continue
        before = found.get(comment.mem_id)
        if before is None or any(each.mem_id == before.mem_id for each in ancestors(node, 4)):
            found[comment.mem_id] = node
    return found
