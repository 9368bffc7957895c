"""Text as a human reader of the page sees it.

Characters that a reader cannot see still reach a model, a terminal or a parser: Unicode tags and variation selectors
spell whole sentences, ANSI sequences act on terminals, bidi controls reorder, and one lone surrogate makes a text
impossible to encode. Such characters are removed once, on entry, and counted. If no parser should read a page, its
markup is removed here, too.

Not covered: text hidden by style (`content/html/hidden_elements.py` drops that), letters that look alike, and the
single invisible characters that a script or an emoji needs.
"""

import html
import re
from typing import Final

_NEWLINES = re.compile(r"\r\n|[\r\v\f\x85\u2028\u2029]")
"""Unicode's mandatory line breaks (UAX #14, classes BK, CR, NL) except the line feed itself."""

_SEQUENCE_START = re.compile(r"[\x1b\x90\x98\x9b\x9d-\x9f]")
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # CSI: colours, cursor (ECMA-48 §5.4)
    # OSC, DCS, SOS, PM, APC: links, clipboard; only up to a terminator, so that a stray start
    # cannot swallow the page.
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}+(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*+[0-~]"  # two bytes and more: charset, reset
)

_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1 without tab and newline
    "\u00ad\u034f\u061c"  # soft hyphen, grapheme joiner, Arabic letter mark
    "\u115f\u1160\u3164\uffa0"  # Hangul fillers
    "\u17b4\u17b5\u180b-\u180f"  # Khmer inherent vowels, Mongolian selectors
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # zero width, bidi, invisible operators
    "\ud800-\udfff"  # surrogates
    "\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff"  # noncharacters, interlinear annotation
    "\ufe00-\ufe0f"  # variation selectors
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand and music controls
    "\U000e0000-\U000e0fff"  # tags, further variation selectors
    "]+"
)
_MEANINGFUL = re.compile("[\u180b-\u180f\u200c\u200d\ufe0e\ufe0f\U000e0020-\U000e007f]")
_PRESENTATION = re.compile("[\ufe0e\ufe0f]")
_JOINER = re.compile("[\u200c\u200d]")
_MONGOLIAN = re.compile("[\u1807\u1820-\u18aa]")
_MONGOLIAN_SELECTOR = re.compile("[\u180b-\u180f]")
"""Free variation selectors and the vowel separator: they select the form of the letter before them (Unicode 16,
section 13.5)."""

_BLACK_FLAG = "\U0001f3f4"
_KEYCAP = "\u20e3"
_ZWJ = "\u200d"

_FLAG_TAGS = re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f")
"""After a black flag: England, Scotland, Wales (UTS #51, ED-14a), the only valid use of tags."""

_JOINING_SCRIPT = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\u1b00-\u1bff"
    "\ua840-\ua8ff\ufb50-\ufdff\ufe70-\ufefc\U00010f30-\U00010fff\U00011000-\U00011fff"
    "\U0001e900-\U0001e95f]"
)
"""Arabic to Arabic Extended, Indic from Devanagari to Sinhala, Myanmar, Khmer, Mongolian, Balinese, and the historic
and minority scripts of their families: joiners change the shape of letters there."""

_EMOJI = re.compile("[\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")

_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<!\[CDATA\[|\]\]>"
    r"|<(?P<raw>script|style|textarea|title|xmp|iframe|noembed|noframes)"
    r"(?=[ \t\n\f\r/>])(?:.*?</(?P=raw)(?=[ \t\n\f\r/>])[^>]*+>|.*)"
    r"|</?(?P<name>[a-zA-Z][a-zA-Z0-9]*+)[^>]*+(?:>|\Z)"
    r"|<[!?/][^>]*+(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, XML declarations, elements whose content is not read, tags, and whatever else the tokenizer drops. Each
piece is read once: one without an end takes the rest of the page."""

_TITLE = re.compile(r"<title(?:[ \t\n\f\r][^>]{0,1000})?>([^<]{0,2000})", re.IGNORECASE)

_LONG_NUMBER = re.compile(r"&#(?:[0-9]{8,}|[xX][0-9a-fA-F]{7,});?")
"""A character reference beyond Unicode. `html.unescape` raises ValueError at 4,301 digits."""

_INLINE: Final = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "rp", "rt", "ruby", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
"""Elements that do not end a line; all others do."""

_CELLS: Final = frozenset({"td", "th"})
_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    """Remove characters that a reader cannot see; idempotent, linear in the length.

    Tab and newline stay, every other line break becomes a newline. Joiners stay where a script or an emoji needs them,
    one selector stays after a symbol or a Mongolian letter, tags stay in the flags that consist of them.

    Args:
        text: any string, including lone surrogates.

    Returns:
        Text that can be encoded as UTF-8.
    """
    return clean_counted(text)[0]


def clean_counted(text: str) -> tuple[str, int]:
    """Like `clean`, with the number of removed characters.

    Args:
        text: any string.

    Returns:
        The text, and the number of removed characters. Line breaks are replaced, not counted.
    """
    if text.isascii() and text.isprintable():  # the most common case, recognised in nanoseconds
        return text, 0
    text = _NEWLINES.sub("\n", text)
    before = len(text)
    if _SEQUENCE_START.search(text):
        text = _SEQUENCES.sub("", text)
    text = _INVISIBLE.sub(_visible_part, text)
    return text, before - len(text)


def clean_line(text: str, max_chars: int) -> str:
    """One clean line: a title, a header, an error text.

    Args:
        text: any string.
        max_chars: characters at most, including the ellipsis of a cut; at least 1.

    Returns:
        Words with single spaces between them.
    """
    line = clean(text)
    if "  " in line or line != line.strip() or not line.isprintable():
        line = " ".join(line.split())
    if len(line) <= max_chars:
        return line
    # Cleaned again, because the cut may leave a joiner with nothing to join.
    return clean(line[: max_chars - 1]).rstrip() + "…"


def _visible_part(match: re.Match[str]) -> str:
    """Return the part of a run of invisible characters that stays, given its visible neighbours.

    The run is as long as possible, so its neighbours are visible and stay: a second pass sees the rest with the
    same neighbours and makes the same decision.
    """
    run = match[0]
    if not _MEANINGFUL.search(run):
        return ""
    text, start, end = match.string, match.start(), match.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if before == _BLACK_FLAG and (flag := _FLAG_TAGS.match(run)):
        return flag[0]
    if _MONGOLIAN.match(before) and (selector := _MONGOLIAN_SELECTOR.search(run)):
        kept = selector[0], _joiner(run, before, after)
    else:
        kept = _selector(run, before, after), _joiner(run, before, after)
    return "".join(sorted(kept, key=run.find))  # in their original order


def _selector(run: str, before: str, after: str) -> str:
    selector = _PRESENTATION.search(run)
    if selector is None:
        return ""
    styles_symbol = bool(before) and not before.isascii() and not before.isspace()
    return selector[0] if styles_symbol or after == _KEYCAP else ""


def _joiner(run: str, before: str, after: str) -> str:
    joiner = _JOINER.search(run)
    if joiner is None:
        return ""
    joins_emoji = joiner[0] == _ZWJ and _EMOJI.match(before) and _EMOJI.match(after)
    return joiner[0] if joins_emoji or _JOINING_SCRIPT.match(before) else ""


def stripped(page: str) -> str:
    """The text of a page, with every block as a paragraph.

    Its structure is unknown: menus are included, and text hidden by style.

    Args:
        page: HTML; any string. Linear in its length.

    Returns:
        Plain text, neither clean nor escaped.
    """
    text = _MARKUP.sub(_mark, _SPACES.sub(" ", page))
    paragraphs = (" ".join(line.split()) for line in unescaped(text).split("\n"))
    return "\n\n".join(filter(None, paragraphs))


def title_of(page: str) -> str:
    """The text of the first `<title>` of a page, or an empty string."""
    found = _TITLE.search(page)
    return " ".join(unescaped(found[1]).split()) if found else ""


def unescaped(text: str) -> str:
    """Text with its character references replaced; unlike `html.unescape` it never raises."""
    return html.unescape(_LONG_NUMBER.sub("\ufffd", text))


def _mark(markup: re.Match[str]) -> str:
    name = (markup["name"] or "").lower()
    if not name or name in _INLINE:
        return ""
    return " " if name in _CELLS else "\n"
