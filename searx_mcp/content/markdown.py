"""Writes and disarms Markdown: our text looks as intended, and untrusted Markdown has no effects.

Plain text is escaped, code gets a fence that it cannot close, and active content is removed from untrusted
Markdown: a host that renders it fetches images, and follows what a reader clicks. Images become their alternative
text, as in HTML pages, links without a safe address lose it, and tags that load something are shown as text. Fenced
code at the margin stays as it is.

Not a parser: Markdown written to defeat this may still hide an image in what looks like code here.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import Final

from searx_mcp.content.addresses import MAX_CHARS, absolute
from searx_mcp.content.clean import unescaped
from searx_mcp.urls.hosts import without_userinfo

_ESCAPED = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\Z)"  # a backslash that would escape, perhaps the character after the text
    r"|[`*]"
    r"|(?<![A-Za-z0-9_])_+|_+(?![A-Za-z0-9_])"  # not inside snake_case
    r"|<(?=[A-Za-z/!?])"  # HTML
    r"|(?<=!)\[|(?<=\])[(\[:]"  # images, links, link definitions
    r"|~(?=~)"
)
_BLOCK_START = re.compile(r"(?m)^([ \t]*)([#>+=-](?=[ \t=-]|$)|#{2,6}(?=[ \t]|$))")
_LIST_START = re.compile(r"(?m)^([ \t]*[0-9]{1,9})([.)])(?=[ \t]|$)")
_URL_UNSAFE: Final = str.maketrans(
    {" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C", "\n": "", "|": "%7C"}
)
_OPEN_BRACKET = re.compile(r"(?<!\\)[\[\]]")
_BACKSLASHED: Final = r"\\\g<0>"

_FENCE = re.compile(
    r"^(?P<prefix>[ \t>]*+(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*+)(?P<marks>`{3,}+|~{3,}+)(?P<info>[^\n]*+)",
    re.MULTILINE,
)
"""A line that opens or closes a fence, also inside quotes and lists (CommonMark, section 4.5)."""

_BACKTICKS = re.compile(r"`++")
_LEAST: Final = 3

_KINDS: Final = "`~"
_MAX_INDENT: Final = 3

_IMAGE = re.compile(
    r"!\[(?P<alt>[^\[\]\n]{0,500}+)\](?:\((?P<target>[^()\n]{0,2100}+(?:\([^()\n]{0,500}+\)[^()\n]{0,500}+)?)\)|\[[^\[\]\n]{0,500}+\])?"
)
_IMAGE_START = re.compile(r"!(?=\[)")
_LINK = re.compile(
    r"\]\([ \t]*+\n?[ \t]*+<?(?P<target>[^\s<>()\[\]]++)"
    r"(?P<rest>>?(?:[ \t]++(?:\"[^\"\n]*+\"|'[^'\n]*+'))?[ \t]*+\))?"
)
_DEFINITION = re.compile(
    r"(?m)^[ \t>]*+(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)*+\[[^\[\]\n]{1,999}+\]:[ \t]*+\n?[ \t]*+<?(?P<target>[^\s<>]++)[^\n]*+"
)
"""A label has at most 999 characters (CommonMark, section 6.3)."""
_AUTOLINK = re.compile(r"<(?=(?P<target>[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+))")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_IMAGE_TAG = re.compile(r"<img\b(?P<attributes>[^<>]{0,4000}+)>", re.IGNORECASE)
_ALT = re.compile(
    r"\balt\s*=\s*(?:\"([^\"]{0,500}+)\"|'([^']{0,500}+)'|([^\s\"'>]{1,500}+))", re.IGNORECASE
)
_TAG = re.compile(
    r"<(?![a-z][a-z0-9+.-]*+:[^\s<>]*+>)(?=/?(?P<name>[a-z][^\s<>\"'/]*+)"
    r"(?P<attributes>(?:[^<>\"']++|\"[^<>\"]*+\"|'[^<>']*+')*+)(?P<end>>)?)",
    re.IGNORECASE,
)
"""A tag; without its end if a value contains an angle bracket, or if another tag begins first."""
_ATTRIBUTE = re.compile(r"(?P<name>[^\s\"'/=]++)(?:\s*+=\s*+(?P<value>\"[^\"]*+\"|'[^']*+'|\S++))?")
_ACTING_TAG = re.compile(
    r"img|image|picture|source|video|audio|track|frame|object|embed|applet|link|meta|base|svg|input|form"
    r"|title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext",
    re.IGNORECASE,
)
"""Tags that load or send something, and those that GitHub Flavored Markdown (section 6.11) disallows."""
_ACTING_ATTRIBUTE = re.compile(
    r"on.+|(?:xlink:)?href|src|srcset|action|formaction|ping|background|poster|data", re.IGNORECASE
)
_INERT_STYLE = re.compile(r"[^(\\&@]*")
"""A style without functions, escapes or entities contains no address."""
_INLINE_START = re.compile(r"!(?=\[[^\[\]\n]{0,500}+\]\()")
_LOADING = re.compile(r"<(?=ima?ge?\b[^<>]{0,4000}?\bsrc\s*=)", re.IGNORECASE)
_SAFE = re.compile(r"https?://\w[\w.:-]*+(?:[/?#]|\Z)|[\w./-]*+(?:[?#]|\Z)")
_USERINFO = re.compile(
    r"((?:\]\(\s*+<?|\]:\s*+<?|<|\bhref\s*=\s*[\"']?)(?:[a-z][a-z0-9+.-]{1,31}:)?//)"
    r"(?:[^\s/?#<>@]{0,300}+@)++",
    re.IGNORECASE,
)
_SHOWN: Final = "&lt;"
"""Not a backslash: another one before it would undo the escape, and it has no meaning in a block of HTML."""

_FENCES: Final = "`~"
_BASE: Final = "https://page.invalid/"
"""Relative addresses are as safe as the page's own; no site can have this name (RFC 2606)."""


def escape(text: str) -> str:
    """Escape plain text as Markdown that looks the same.

    Args:
        text: lines of plain text.

    Returns:
        The text with everything escaped that would be markup.
    """
    return escape_line_starts(escape_words(text))


def link(label: str, address: str) -> str:
    """Write a link.

    Args:
        label: escaped text of one line.
        address: absolute, of a kind that may be followed.
    """
    return f"[{_OPEN_BRACKET.sub(_BACKSLASHED, label)}]({safe_address(address)})"


def escape_words(text: str) -> str:
    """Escape plain text inside a line."""
    return _ESCAPED.sub(lambda found: "".join(f"\\{mark}" for mark in found[0]), text)


def escape_line_starts(text: str) -> str:
    """Escape line starts, so that no line of some Markdown begins a block."""
    return _LIST_START.sub(r"\1\\\2", _BLOCK_START.sub(r"\1\\\2", text))


def safe_address(address: str) -> str:
    """Percent-encode the characters of an address that could end a link."""
    return address.translate(_URL_UNSAFE)


def fence(code: str, *, language: str) -> str:
    """A fenced code block that its content cannot close.

    Args:
        code: the content, lines separated by newlines.
        language: the info string; may be empty.

    Returns:
        The block, without a newline at its end.
    """
    marks = "`" * max(_LEAST, longest_backticks(code) + 1)
    return f"{marks}{language}\n{code}\n{marks}"


def code_span(code: str) -> str:
    """Inline code; its backticks outnumber any run in it."""
    longest = longest_backticks(code)
    marks = "`" * (longest + 1)
    pad = " " if longest and "`" in {code[0], code[-1]} else ""
    return f"{marks}{pad}{code}{pad}{marks}"


def longest_backticks(code: str) -> int:
    """The length of the longest run of backticks."""
    return max(map(len, _BACKTICKS.findall(code))) if "`" in code else 0


def code_spans(markdown: str) -> list[tuple[int, int]]:
    """Find fenced code, including its fences, in order.

    A fence at the margin that is never closed ends with the text. One inside a quote or a list would end with that,
    and is ignored.

    Args:
        markdown: any text. Linear in its length.
    """
    marks = list(_FENCE.finditer(markdown))
    closers = {kind: _Closers(marks, kind) for kind in _KINDS}
    spans: list[tuple[int, int]] = []
    end = 0
    for mark in marks:
        kind, length = mark["marks"][0], len(mark["marks"])
        if mark.start() < end or not _can_open(mark):
            continue
        close = closers[kind].behind(mark.start(), length)
        if close is not None:
            end = close
        elif _is_at_margin(mark):
            end = len(markdown)
        else:
            continue
        spans.append((mark.start(), end))
    return spans


def in_code(markdown: str) -> Callable[[int], bool]:
    """Make a function that returns whether an offset is in fenced code."""
    spans = code_spans(markdown)
    starts = [start for start, _ in spans]

    def is_code(offset: int) -> bool:
        at = bisect_right(starts, offset) - 1
        return at >= 0 and offset < spans[at][1]

    return is_code


def _can_open(mark: re.Match[str]) -> bool:
    # `` ```x``` `` on one line is inline code.
    return mark["marks"][0] == "~" or "`" not in mark["info"]


def _can_close(mark: re.Match[str]) -> bool:
    return not mark["info"].strip() and not mark["prefix"].strip("> \t")


def _is_at_margin(mark: re.Match[str]) -> bool:
    return not mark["prefix"].strip(" ") and len(mark["prefix"]) <= _MAX_INDENT


class _Closers:
    """The lines of one kind that can close a fence."""

    def __init__(self, marks: list[re.Match[str]], kind: str) -> None:
        closing = [mark for mark in marks if mark["marks"][0] == kind and _can_close(mark)]
        self._starts = [mark.start() for mark in closing]
        self._ends = [mark.end() for mark in closing]
        self._lengths = [len(mark["marks"]) for mark in closing]
        # The maximum from each position on, so that no search is made for a fence that does not exist.
        self._longest = list(accumulate(reversed(self._lengths), max))[::-1]

    def behind(self, start: int, length: int) -> int | None:
        """The end of the first line after a position that is at least as long as required."""
        at = bisect_right(self._starts, start)
        if at == len(self._starts) or self._longest[at] < length:
            return None
        while self._lengths[at] < length:
            at += 1
        return self._ends[at]


def disarm(markdown: str) -> str:
    """Remove active content from Markdown.

    Args:
        markdown: clean text, since an invisible character could hide markup. Linear in its length.
    """
    pieces: list[str] = []
    position = 0
    for start, end in code_spans(markdown):
        if markdown[start] in _FENCES:
            pieces += (_disarmed(markdown[position:start]), markdown[start:end])
            position = end
    return "".join([*pieces, _disarmed(markdown[position:])])


def disarm_plain(text: str) -> str:
    """Remove images from plain text that may be rendered as Markdown; everything else stays as it is.

    Code is plain text, too, so text that is not an image in Markdown, such as `vec![1]`, stays.

    Args:
        text: clean, for the same reason. Linear in its length.
    """
    start = _IMAGE_START if "![" in text and _DEFINITION.search(text) else _INLINE_START
    return _LOADING.sub(_SHOWN, start.sub(r"!\\", text))


def _disarmed(text: str) -> str:
    # In this order: later steps also check the output of earlier ones.
    if "@" in text:
        text = _USERINFO.sub(r"\1", text)
    if "<" in text:
        text = _IMAGE_TAG.sub(_described_tag, text)
    if "[" in text:
        # Any remaining images are nested or broken over lines.
        text = _IMAGE_START.sub(r"!\\", _IMAGE.sub(lambda found: _words(found["alt"]), text))
        text = _DEFINITION.sub(_checked_definition, _LINK.sub(_checked_link, text))
    if "<" in text:
        text = _AUTOLINK.sub(_checked_start, _TAG.sub(_checked_tag, text))
    return text


def _described_tag(match: re.Match[str]) -> str:
    alt = _ALT.search(match["attributes"])
    return _words(next(filter(None, alt.groups()), "")) if alt else ""


def _words(alt: str) -> str:
    shown = " ".join(alt.split()).translate({0x5B: "(", 0x5D: ")"})
    return f"[image: {shown}]" if shown else ""


def _checked_link(match: re.Match[str]) -> str:
    if _is_safe(match["target"]):
        return match[0]
    return "]" if match["rest"] else "]\\("


def _checked_definition(match: re.Match[str]) -> str:
    return match[0] if _is_safe(match["target"]) else ""


def _checked_start(match: re.Match[str]) -> str:
    return match[0] if _is_safe(match["target"]) else _SHOWN


def _checked_tag(match: re.Match[str]) -> str:
    if not match["end"] or _ACTING_TAG.fullmatch(match["name"]):
        return _SHOWN
    is_link = match["name"] in {"a", "A"}
    acts = any(
        _acts(each["name"], (each["value"] or "").strip("\"'"), is_link=is_link)
        for each in _ATTRIBUTE.finditer(match["attributes"])
    )
    return _SHOWN if acts else match[0]


def _acts(name: str, value: str, *, is_link: bool) -> bool:
    if is_link and name.lower() == "href":
        return not _is_safe(value)
    if name.lower() == "style":
        return not _INERT_STYLE.fullmatch(value)
    return _ACTING_ATTRIBUTE.fullmatch(name) is not None


def _is_safe(target: str) -> bool:
    """Whether a reader can follow a target, as Markdown reads it, to a safe address."""
    if _SAFE.match(target) and len(target) <= MAX_CHARS:  # almost always, and fast
        return True
    target = unescaped(ESCAPE.sub(r"\1", target))
    if without_userinfo(target) != target:  # its user name was hidden in entities
        return False
    return target.startswith("#") or bool(absolute(_BASE, target))
