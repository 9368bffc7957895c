"""Blocks of code: the only text whose lines stay as they are."""

import re
from collections.abc import Callable
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.clean import clean_counted
from searx_mcp.content.writing.blocks import Code
from searx_mcp.content.writing.inline import CODE
from searx_mcp.content.writing.reading import Close, Handlers, Reading, skip

_LANGUAGE = re.compile(r"(?:^|\s)language-([A-Za-z0-9+#_.-]{1,30})(?:\s|$)")
_EMPTY_LINES = re.compile(r"\A(?:[ \t]*\n)+")


def code_block(reading: Reading, node: LexborNode) -> Close:
    """Lines of code."""
    if not reading.style.keep_code_blocks:
        reading.flush()
        return skip
    reading.flush()
    inner = node.css_first("code")
    classes = (inner.attributes.get("class") if inner is not None else None) or ""
    named = _LANGUAGE.search(classes) or _LANGUAGE.search(node.attributes.get("class") or "")
    language = named[1].lower() if named else ""

    def finish(text: str) -> None:
        if text:
            reading.blocks.append(Code(language, text))

    return _open_code(reading, finish)


def line_code(reading: Reading, _node: LexborNode) -> Close:
    """Code on a line that no block breaks."""
    reading.space()

    def finish(text: str) -> None:
        if line := " ".join(text.split()):
            reading.add(line, reading.formats | CODE)
            reading.space()

    return _open_code(reading, finish)


def code_break(reading: Reading, _node: LexborNode) -> Close:
    """A line break in code."""
    reading.code.append("\n")
    return skip


def code_line(reading: Reading, _node: LexborNode) -> Close:
    """An element in code that has lines of its own."""
    _end_code_line(reading)
    return _end_code_line


def _open_code(reading: Reading, finish: Callable[[str], None]) -> Close:
    before = reading.handlers, reading.take
    lines: list[str] = []
    outer, reading.code = reading.code, lines
    reading.handlers, reading.take = reading.modes.code, lines.append

    def close(reading: Reading) -> None:
        reading.handlers, reading.take = before
        reading.code = outer
        text, hidden = clean_counted("".join(lines).replace("\xa0", " "))
        reading.hidden += hidden
        finish(_EMPTY_LINES.sub("", text).rstrip())

    return close


def _end_code_line(reading: Reading) -> None:
    if reading.code and not reading.code[-1].endswith("\n"):
        reading.code.append("\n")


LINE_BREAKS_IN_CODE: Final[Handlers] = {
    "br": code_break,
    **dict.fromkeys(("div", "p", "li", "tr", "ul", "ol", "table", "blockquote"), code_line),
}
"""What elements mean in code; the text of all others is code as it is."""
