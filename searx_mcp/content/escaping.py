"""Plain text as Markdown that shows the same, where no page is converted."""

import re
from typing import Final

ESCAPED = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\Z)"  # a backslash that would escape, perhaps what follows the text
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


def escape(text: str) -> str:
    """Plain text as Markdown that shows the same.

    Args:
        text: lines of plain text.

    Returns:
        The text with everything escaped that would be markup.
    """
    return escape_line_starts(escape_words(text))


def link(label: str, address: str) -> str:
    """A link.

    Args:
        label: escaped text of one line.
        address: absolute, of a kind that may be followed.
    """
    return f"[{_OPEN_BRACKET.sub(_BACKSLASHED, label)}]({safe_address(address)})"


def escape_words(text: str) -> str:
    """Plain text inside a line, likewise."""
    return ESCAPED.sub(_backslashed, text)


def escape_line_starts(text: str) -> str:
    """Markdown whose lines begin no block."""
    return _LIST_START.sub(r"\1\\\2", _BLOCK_START.sub(r"\1\\\2", text))


def safe_address(address: str) -> str:
    """An address that ends no link: what could is percent-encoded."""
    return address.translate(_URL_UNSAFE)


def _backslashed(match: re.Match[str]) -> str:
    return "".join(f"\\{character}" for character in match[0])
