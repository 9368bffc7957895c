"""The fence around text that strangers wrote, and their words in one line.

A fence tells a model where strangers' text begins and ends. It does not make the model ignore what the
text says; that stays the reader's duty, which the tool descriptions name.
"""

import re
from urllib.parse import quote, urlsplit

import idna

from searx_mcp.models.request import MAX_URL_LENGTH
from searx_mcp.render.look_alikes import neutralise
from searx_mcp.render.tokens import clip, clip_words, estimate

_ACTING = re.compile(
    r"!(?=\[)|\](?=\(|:[ \t]*<?(?:[a-z][a-z0-9+.-]*:|//))"
    r"|<(?=/?(?:a|applet|audio|base|embed|form|frame|iframe|image|img|input|link|meta|object|picture"
    r"|script|source|style|svg|track|video)\b|[a-z][a-z0-9+.-]{1,31}:)",
    re.IGNORECASE,
)
"""Where Markdown begins an image, a link's target or a definition, and HTML a tag that loads or leads."""

_PLAIN_URL = re.compile(r"[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*")
"""The characters of RFC 3986 without brackets, which in Markdown would begin a link."""
_NOT_IN_URL = re.compile(r"[^A-Za-z0-9._~:/?#@!$&'()*+,;=%-]")
_AUTHORITY = re.compile(r"([a-z][a-z0-9+.-]*://)([^/?#]*)", re.IGNORECASE)
_NAME_OR_ADDRESS = re.compile(r"\[[0-9A-Fa-f:.]+\](?::[0-9]*)?|[A-Za-z0-9._~:@-]*")
_MAX_LINE = 4_096
_MAX_INDENT = 40
_SOURCE_TOKENS = 40


def fenced(text: str, *, boundary: str, url: str = "") -> str:
    """Put strangers' text between two lines they cannot have written themselves.

    Args:
        text: already neutralised with the same boundary.
        boundary: hexadecimal digits that no stranger can know.
        url: where the text comes from; its host is named. Empty for text of several sources.
    """
    host, _ = clip(urlsplit(one_url(url)).netloc.rpartition("@")[2], _SOURCE_TOKENS)
    source = f" source={host}" if host else ""
    return f"<web-content id={boundary}{source} trust=untrusted>\n{text}\n</web-content {boundary}>"


def one_line(text: str, boundary: str, *, max_tokens: int) -> str:
    """Bring a stranger's text into one line of at most so many tokens, cut behind a word.

    Neither a fence can be in it, nor Markdown or HTML that acts: what would begin such is parted by a
    space.
    """
    clipped = text[:_MAX_LINE]
    line = neutralise(" ".join(clipped.split()), boundary)
    line = _ACTING.sub(r"\g<0> ", line)
    short, was_cut = clip_words(line, max_tokens)
    if not was_cut and len(clipped) == len(text):
        return line
    # The mark costs one token, or one and a half after a character that it makes a run with.
    for room in (max_tokens - 1, max_tokens - 2):
        short, _ = clip_words(line, room)
        if short and estimate(f"{short}…") <= max_tokens:
            return f"{short}…"
    return ""


def code_line(text: str, boundary: str, *, max_tokens: int) -> str:
    """Bring a line of a stranger's code into one line like `one_line`, its indentation kept."""
    blanks = min(len(text) - len(text.lstrip(" ")), _MAX_INDENT)
    return " " * blanks + one_line(text, boundary, max_tokens=max_tokens)


def one_url(url: str) -> str:
    """An address in the characters of RFC 3986: nothing in it ends a line or a tag, or begins a link."""
    url = url[:MAX_URL_LENGTH]
    if _PLAIN_URL.fullmatch(url):
        return url
    if (found := _AUTHORITY.match(url)) is None:
        return _encoded(url)
    return f"{found[1]}{_host(found[2])}{_encoded(url[found.end() :])}"


def _host(authority: str) -> str:
    if _NAME_OR_ADDRESS.fullmatch(authority):
        return authority
    name, mark, port = authority.partition(":")
    try:
        return f"{idna.encode(name, uts46=True).decode()}{mark}{_encoded(port)}"
    except UnicodeError:
        return _encoded(authority)


def _encoded(text: str) -> str:
    return _NOT_IN_URL.sub(lambda match: quote(match[0], errors="replace"), text)
