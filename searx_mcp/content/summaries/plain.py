"""A piece of Markdown as it is shown alone: its words as they stand, without what only a page needs."""

import re

_CODE = re.compile(r"``.+?``(?!`)|`[^`]+`")
_TARGETS = re.compile(
    rf"(?P<code>{_CODE.pattern})"
    r"|\[image(?:: [^\]]{0,500})?\]|!\[[^\]]{0,500}\]\([^()\s]*(?:\s[^()]{0,500})?\)"
    r"|\[\^[\w-]{1,20}\]:?"
    r"|(?<![\\!])\[(?P<link>(?:[^\[\]\\`]|\\.|`[^`]+`|\[[^\[\]]{0,500}\])*)\]"
    r"\((?:<[^<>]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s\"[^\"]*\")?\)"
)
"""Code, images, marks of notes and links; the text of a link may hold any of the others."""
_LABEL = re.compile(
    r"^(?:[\u2139\u26a0\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?\s*)\**[^\W\d_]{2,14}:\**\s*"
)
_EMPHASIS = re.compile(
    rf"(?P<code>{_CODE.pattern})"
    r"|(?<!\\)\*{1,3}(?=[^\s*])|(?<=[^\s\\*])\*{1,3}|(?<!\\)~~"
)
_SPACES = re.compile(r"\s+")
_MARKED = re.compile(r"[`*\[~!]")


def plain(piece: str) -> str:
    """Take from a line of Markdown what its reader does not need.

    Addresses of links, images, marks of footnotes, emphasis and the label of a callout go; code,
    mathematics, escapes and every word stay as they are. What comes out is still Markdown, and has no
    link or image that the piece did not have.

    Args:
        piece: of one block; may be cut anywhere.
    """
    if piece.isascii() and not _MARKED.search(piece):
        return piece.strip()
    if "[" in piece:
        piece = _TARGETS.sub(_kept, piece)
    if "*" in piece or "~" in piece:
        piece = _EMPHASIS.sub(_code, piece)
    return _closed(piece)


def _kept(found: re.Match[str]) -> str:
    return found["code"] or _TARGETS.sub(_kept, found["link"] or "")


def _code(found: re.Match[str]) -> str:
    return found["code"] or ""


def _closed(piece: str) -> str:
    """In one line, and with nothing joined to a link that was none."""
    if not piece.isascii():
        piece = _LABEL.sub("", piece.lstrip())
    return _SPACES.sub(" ", piece).replace("](", "] (").replace("![", "! [").strip()
