"""A piece of Markdown as it is shown alone: its words as they stand, without what only a page needs."""

import re

_CODE = re.compile(r"``.+?``(?!`)|`[^`]+`")
_IMAGE = re.compile(
    r"\[image(?:: [^\]]{0,500})?\]|!\[[^\]]{0,500}\]\([^()\s]*(?:\s[^()]{0,500})?\)"
)
_LINK = re.compile(
    r"(?<![\\!])\[((?:[^\[\]\\]|\\.)*)\]\((?:<[^<>]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s\"[^\"]*\")?\)"
)
_NOTE = re.compile(r"\[\^[\w-]{1,20}\]:?")
_LABEL = re.compile(
    r"^(?:[\u2139\u26a0\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?\s*)\**[^\W\d_]{2,14}:\**\s*"
)
_STRONG = re.compile(r"(?<!\\)\*{1,3}(?=[^\s*])|(?<=[^\s\\*])\*{1,3}|(?<!\\)~~")
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
    if "`" not in piece:
        return _reduced(piece)
    parts: list[str] = []
    start = 0
    for code in _CODE.finditer(piece):
        parts += (_unmarked(piece[start : code.start()]), code[0])
        start = code.end()
    parts.append(_unmarked(piece[start:]))
    return _closed("".join(parts))


def _reduced(piece: str) -> str:
    return _closed(_unmarked(piece))


def _unmarked(piece: str) -> str:
    if "[" in piece:
        piece = _NOTE.sub("", _LINK.sub(r"\1", _IMAGE.sub("", piece)))
    if "*" in piece or "~" in piece:
        piece = _STRONG.sub("", piece)
    return piece


def _closed(piece: str) -> str:
    """In one line, and with nothing joined to a link that was none."""
    if not piece.isascii():
        piece = _LABEL.sub("", piece.lstrip())
    return _SPACES.sub(" ", piece).replace("](", "] (").replace("![", "! [").strip()
