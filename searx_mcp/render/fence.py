"""The fence around text a stranger wrote, and the taming of what would look like one.

A fence tells a model where a page begins and ends. It does not make the model ignore what the page
says; that stays the reader's duty, which the tool descriptions name.
"""

import re
from urllib.parse import quote

from searx_mcp.models.request import MAX_URL_LENGTH
from searx_mcp.render.tokens import clip, estimate

_LOOK_ALIKE = re.compile(
    r"[<&\uff1c\ufe64\u2039\u3008\u27e8\u2329](?:(?<!&)|(?<=&)(?:lt|#0{0,6}60|#x0{0,6}3c);?)"
    r"(?=[\s/\\\uff0f]{0,8}web[\W_]{0,3}content)",
    re.IGNORECASE,
)
_NOT_IN_URL = re.compile(r"[\s<>\"]")
_MAX_LINE = 4_096
_SOURCE_TOKENS = 40


def neutralise(text: str, boundary: str) -> str:
    """Take from a stranger's text whatever could pass for our fence, and the boundary itself."""
    if boundary:
        text = text.replace(boundary, "[id]")
    return _LOOK_ALIKE.sub("[", text)


def fenced(text: str, *, url: str, boundary: str) -> str:
    """Put a stranger's text between two lines it cannot have written itself.

    Args:
        text: already neutralised with the same boundary.
        url: where the text comes from; shortened if long.
        boundary: hexadecimal digits that no page can know.
    """
    source, was_cut = clip(one_url(url), _SOURCE_TOKENS)
    opening = f"<web-content id={boundary} source={source}{'…' if was_cut else ''} trust=untrusted>"
    return f"{opening}\n{text}\n</web-content {boundary}>"


def one_line(text: str, boundary: str, *, max_tokens: int) -> str:
    """Bring a stranger's text into one neutralised line of at most so many tokens."""
    clipped = text[:_MAX_LINE]
    line = neutralise(" ".join(clipped.split()), boundary)
    short, was_cut = clip(line, max_tokens)
    if not was_cut and len(clipped) == len(text):
        return line
    # The mark costs one token, or one and a half after a character that it makes a run with.
    for room in (max_tokens - 1, max_tokens - 2):
        short, _ = clip(line, room)
        if short and estimate(f"{short}…") <= max_tokens:
            return f"{short}…"
    return ""


def one_url(url: str) -> str:
    """An address as it is printed: without anything that could end a line or a tag."""
    return _NOT_IN_URL.sub(lambda match: quote(match[0]), url[:MAX_URL_LENGTH])
