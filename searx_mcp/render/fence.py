"""The fence around untrusted text, single lines of untrusted text, and protection against imitations of the fence.

A fence tells a model where untrusted text begins and ends. It does not make the model ignore what the
text says; that remains the reader's duty, which the tool descriptions state.

A model reads a disguised tag as easily as a plain one: with brackets and letters that only look like
ours, in another case, spaced out, accented or written as entities. So the characters after anything that may be
a bracket are checked one by one against the name of our tag, each folded to the plain letter it looks like.

Nor may an untrusted line begin as the blocks in brackets of the corpus tools do: with the name of a block after a
bracket, or with the head of a passage. A model recognises a block by its name alone.
"""

import re
import unicodedata
from collections.abc import Iterable
from html import unescape
from typing import Final
from urllib.parse import quote, urlsplit

import idna

from searx_mcp.models.coercion import MAX_URL_LENGTH
from searx_mcp.render.tokens import clip, clip_words, estimate

_ACTING = re.compile(
    r"!(?=\[)|\](?=\(|:[ \t]*<?(?:[a-z][a-z0-9+.-]*:|//))"
    r"|<(?=/?(?:a|applet|audio|base|embed|form|frame|iframe|image|img|input|link|meta|object|picture"
    r"|script|source|style|svg|track|video)\b|[a-z][a-z0-9+.-]{1,31}:)",
    re.IGNORECASE,
)
"""Where Markdown begins an image, a link target or a definition, and HTML a tag that loads or navigates."""

_PLAIN_URL = re.compile(r"[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*")
"""The characters of RFC 3986 without brackets, which would begin a link in Markdown."""
_NOT_IN_URL = re.compile(r"[^A-Za-z0-9._~:/?#@!$&'()*+,;=%-]")
_AUTHORITY = re.compile(r"([a-z][a-z0-9+.-]*://)([^/?#]*)", re.IGNORECASE)
_NAME_OR_ADDRESS = re.compile(r"\[[0-9A-Fa-f:.]+\](?::[0-9]*)?|[A-Za-z0-9._~:@-]*")
_MAX_LINE = 4_096
_MAX_INDENT = 40
_SOURCE_TOKENS = 40


def fenced(text: str, *, boundary: str, url: str = "") -> str:
    """Put untrusted text between two lines that its author cannot have written.

    Args:
        text: already neutralised with the same boundary.
        boundary: hexadecimal digits that no third party can know.
        url: source of the text; its host is named. Empty for text of several sources.
    """
    host, _ = clip(urlsplit(one_url(url)).netloc.rpartition("@")[2], _SOURCE_TOKENS)
    source = f" source={host}" if host else ""
    return f"<web-content id={boundary}{source} trust=untrusted>\n{text}\n</web-content {boundary}>"


def one_line(text: str, boundary: str, *, max_tokens: int) -> str:
    """Convert untrusted text to one line of at most `max_tokens` tokens, cut after a word.

    It can contain neither a fence nor active Markdown or HTML: a space breaks what would begin such
    syntax.
    """
    clipped = text[:_MAX_LINE]
    line = neutralise(" ".join(clipped.split()), boundary)
    line = _ACTING.sub(r"\g<0> ", line)
    short, was_cut = clip_words(line, max_tokens)
    if not was_cut and len(clipped) == len(text):
        return line
    # The mark costs one token, or one and a half if it forms a run with the character before it.
    for room in (max_tokens - 1, max_tokens - 2):
        short, _ = clip_words(line, room)
        if short and estimate(f"{short}…") <= max_tokens:
            return f"{short}…"
    return ""


def code_line(text: str, boundary: str, *, max_tokens: int) -> str:
    """Convert an untrusted line of code to one line like `one_line`, but keep its indentation."""
    blanks = min(len(text) - len(text.lstrip(" ")), _MAX_INDENT)
    return " " * blanks + one_line(text, boundary, max_tokens=max_tokens)


def one_url(url: str) -> str:
    """Return an address in the characters of RFC 3986: nothing in it ends a line or a tag, or begins a link."""
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


_NAME: Final = "webcontent"
"""The name of our tag, without its hyphen."""

_LETTERS: Final = {
    "w": "\u051d\u0461\u0561\u03c9\u0448\u026f\u03e3\u028d\u13b3\uab83",
    "e": "\u0435\u0454\u04bd\u03b5\u03f5\u212f\uab32\u22ff\u2d39\u13ac\uab7c\u212e\u01dd\u0259\u025b",
    "b": "\u0432\u044c\u044a\u0185\u03b2\u0299\u13cf\u13f4\u15af\u15f7\ua4d0\uab9f",
    "c": "\u0441\u03f2\u1d04\u2ca5\u13df\uabaf\ua4da\u04ab\u00a2\u00a9",
    "o": "\u043e\u03bf\u03c3\u0585\u1d0f\u2c9f\u10ff\u0966\u0665\u0647\u0e50\ua4f3\u2d54",
    "n": "\u043f\u03b7\u0578\u057c\u0274\u0438\ua4e0\u2c9b",
    "t": "\u0442\u03c4\u1d1b\u13a2\uab72\ua4d4\u2ca7\u04ad\u22a4\u2020",
}
"""Look-alikes of the letters of our name that Unicode's own data does not list as variants: Cyrillic,
Greek, Armenian, Cherokee, Coptic, Lisu and others (UTS #39, confusables.txt)."""
_LOOK_ALIKES: Final = {alike: letter for letter, alikes in _LETTERS.items() for alike in alikes}
_LATIN = re.compile(
    r"(?:.* )?(?:LATIN (?:CAPITAL |SMALL )?LETTER (?:SMALL CAPITAL )?|SYMBOL LETTER )([A-Z])(?: .*)?"
)
"""Names of variants such as U+1D21, LATIN LETTER SMALL CAPITAL W, which no normal form folds."""
_W: Final = (
    "Ww\u0174\u0175\u019c\u026f\u028d\u02b7\u038f\u03a9\u03c9\u03ce\u03e2\u03e3\u0428\u0448\u0460\u0461"
    "\u051c\u051d\u0531\u0561\u13b3\u1abf\u1d21\u1d42\u1d5a\u1df1\u1e80-\u1e89\u1e98\u1f60-\u1f6f\u1f7c"
    "\u1f7d\u1fa0-\u1faf\u1ff2-\u1ffc\u2126\u24cc\u24e6\u2c72\u2c73\u33dd\uab69\uab83\uff37\uff57"
    "\U0001d400-\U0001d7ff\U0001e046\U0001e064\U0001f100-\U0001f1ff"
)
"""The characters that `folded` maps to `w`, so that most text is skipped quickly; a test compares them."""

_SIGN = re.compile(
    r"[<&\x80-\u03ff\u0530-\u05bf\u1438\u16b2\u1cc0-\u3040\ua4d0-\uabff\ud7b0-\U0010ffff]"
    r"(?:(?<=&)#?[A-Za-z0-9]{1,10};?|(?<=[<\u1438\u16b2])|(?<=[^\x00-\x7f\w\s]))"
    rf"(?=[\W_]{{0,8}}(?:[{_W}]|&#))"
)
"""Anything that may be the bracket of a tag, before anything that may be the first letter of its name: a
bracket, an entity, any sign outside ASCII and the alphabets of other scripts, and the two letters that
look like one (UTS #39). A character class takes a third of the time of alternatives."""
_PROSE = re.compile(r"\s?web ?content\b", re.IGNORECASE)
_OF_PROSE: Final = (
    "\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb\u300c\u300e\uff08\u3010\u300a"
    "\u3001\u3002\uff0c\uff1a\uff1b\u2014\u2013\u2022\u00b7\u2026"
)
"""Signs before words in ordinary text, which count as brackets only before a slash or hyphen."""
_CODE = re.compile(r"&#[A-Za-z0-9]{1,10};?")
_MOST_BETWEEN: Final = 8
"""Maximum signs and spaces between two letters that still read as one word."""


def neutralise(text: str, boundary: str) -> str:
    """Remove from untrusted text anything that could imitate our fence, and the boundary itself.

    Linear in the length, which does not change: offsets into the text stay valid.
    """
    if boundary:
        spelling = re.compile(r"[\W_]?".join(boundary), re.IGNORECASE)
        text = spelling.sub(lambda found: "[id]".ljust(len(found[0])), text)
    return _SIGN.sub(_tamed, text)


def _tamed(match: re.Match[str]) -> str:
    sign, text, end = unescape(match[0]), match.string, match.end()
    if unicodedata.normalize("NFKD", sign)[:1] != "<":
        if sign.isascii() or unicodedata.category(sign[0])[0] == "M":
            return match[0]
        if sign in _OF_PROSE and _PROSE.match(text, end):
            return match[0]
    return f"[{match[0][1:]}" if _names_us(text, end) else match[0]


def _names_us(text: str, start: int) -> bool:
    """Return whether the name of our tag begins here, however disguised; stops at the first other letter."""
    wanted = iter(_NAME)
    letter, passed = next(wanted), 0
    while passed <= _MOST_BETWEEN and start < len(text):
        code = _CODE.match(text, start) if text[start] == "&" else None
        char = unescape(code[0])[:1] if code else text[start]
        start = code.end() if code else start + 1
        found = folded(char)
        if not found:
            passed += 1
        elif found != letter:
            return False
        else:
            passed = 0
            letter = next(wanted, "")
            if not letter:
                return True
    return False


def folded(char: str) -> str:
    """Return the plain small letter that a character looks like; empty if it is no letter or digit."""
    if char.isascii():
        return char.lower() if char.isalnum() else ""
    if alike := _LOOK_ALIKES.get(char):
        return alike
    plain = unicodedata.normalize("NFKD", char)[0].casefold()[:1]
    plain = _LOOK_ALIKES.get(plain, plain)
    if plain.isascii():
        return plain if plain.isalnum() else ""
    if name := _LATIN.fullmatch(unicodedata.name(plain, "")):
        return name[1].lower()
    return plain if plain.isalnum() else ""


BLOCK_NAMES: Final = (
    "SOURCES",
    "EVIDENCE",
    "IMAGES",
    "EXPANSION TRACE",
    "CITATIONS",
    "STATS",
    "ERROR",
    "CORPUS STATUS",
)
_SKELETONS: Final = frozenset(name.replace(" ", "").lower() for name in BLOCK_NAMES)
_PREFIXES: Final = frozenset(name[:end] for name in _SKELETONS for end in range(len(name)))
_SOURCE: Final = "source"
_ALIKE: Final = str.maketrans(
    "\u0430\u03b1\u0455\u057d\u0456\u03b9\u0433\u03c5\u0446\u043c\u0440\u03c1\u0501\u0445\u03c7\u050d\u043a\u03ba",
    "aasuiiruumppdxxgkk",
)
"""Small letters of other scripts that look like letters of our block names, and that the fence does not need (UTS #39)."""
_LOOKED_AT: Final = 80
"""Characters at the start of a line within which a block name must begin and end to be recognised."""
_LINE = re.compile(r"^[^\n]*[\[\x80-\U0010ffff][^\n]*$", re.MULTILINE)
"""Lines that may contain a square bracket."""
_BREAKS: Final = dict.fromkeys(map(ord, "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
"""Other characters that may be displayed as line breaks."""


def block(name: str, lines: Iterable[str]) -> str:
    """Return a block: its name in brackets, then its lines."""
    return "\n".join((f"[{name}]", *lines))


def strangers(text: str, boundary: str) -> str:
    """Return untrusted text in which no line imitates a block and nothing imitates the fence.

    Linear in the length, which does not change: in a line that would imitate one, the bracket becomes a round one.
    """
    return _LINE.sub(_disarmed, neutralise(text.translate(_BREAKS), boundary))


def _disarmed(match: re.Match[str]) -> str:
    line = match[0]
    start = len(line) - len(line.lstrip())
    place = _bracket(line[start : start + _LOOKED_AT])
    return line if place is None else f"{line[: start + place]}({line[start + place + 1 :]}"


def _bracket(head: str) -> int | None:
    """Return the index of the bracket that makes a line look like ours; `None` if there is none."""
    word, ended, bracket = "", False, None
    for place, char in enumerate(head):
        letter = folded(char).translate(_ALIKE)
        if not letter:
            if _opens(char) and (not word or word == _SOURCE):
                bracket = place
            ended = ended or (bool(word) and not char.isspace())
            if bracket is not None and ended and word in _SKELETONS:
                return bracket
            continue
        if word == _SOURCE and bracket is not None and letter.isdigit():
            return bracket
        word, ended = word + letter, False
        if word not in _PREFIXES and word not in _SKELETONS:
            return None
    return bracket if word in _SKELETONS else None


def _opens(char: str) -> bool:
    """Return whether a sign looks like a square bracket: any opening bracket does that is not round."""
    return char == "[" or (
        unicodedata.category(char) in {"Ps", "Pi"}
        and not char.isascii()
        and unicodedata.normalize("NFKD", char)[:1] != "("
    )
