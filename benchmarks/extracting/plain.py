"""Markdown to the text that its reader sees, so that texts and Markdown can be scored alike.

Words stay, marks go: the text of links (not their addresses), of headings, quotes, lists and tables;
code and formulas as they are written. Images go with their alternative text, which no text extractor
gives, whether they stand as `![words](address)` or as our `[image: words]`. One function for every candidate; it forgives what is no clean Markdown, where a parser would see
code in an indented line or text in a table without a head.
"""

import re
from typing import Final

_FENCE = re.compile(r"[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)*(`{3,}|~{3,})[^`]*")
_RULE = re.compile(r" {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,}|=+) *")
_TABLE_RULE = re.compile(r"[ >]*\|?(?: *:?-+:? *\|)* *:?-+:? *\|? *")
_DEFINITION = re.compile(r" {0,3}\[(?!\^)[^\]]+\]: +\S+(?: +(?:\"[^\"]*\"|'[^']*'))? *")
_MARKS = re.compile(
    r"(?:[ \t]*(?:>|\[\^[^\]\s]+\]:(?=\s)|[-*+](?=\s)(?: +\[[ xX]\](?=\s))?|\d{1,9}[.)](?=\s)))*"
    r"[ \t]*(?:#{1,6}(?=\s|$))?[ \t]*"
)
"""What a line of a block begins with: quotes, notes, items, tasks, then a heading."""

_INLINE = re.compile(
    r"""
    \[image:\ [^\[\]]{1,400}\](?:\([^()\s]*\))?
    | \\(?P<escaped>[!-/:-@\[-`{-~])
    | (?P<ticks>`+)(?P<code>(?:(?!(?P=ticks)).){1,2000}?)(?P=ticks)(?!`)
    | (?P<image>!?)\[(?P<text>(?:[^\[\]\\]|\\.|!?\[(?:[^\[\]\\]|\\.){0,999}+\](?:\([^()]{0,999}\))?){0,3000}+)\]
      \((?:<[^<>\n]*>|(?:[^()\\\s]|\\.|\((?:[^()\\\s]|\\.)*+\))*+)(?:\s+(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'))?\s*\)
    | \[\^[^\]\s]{1,50}\]
    | <(?P<auto>(?:https?|mailto):[^<>\s]+)>
    """,
    re.VERBOSE | re.DOTALL,
)
_STARS = re.compile(r"(\*{1,3}|~~)(?=\S)([^\n]{0,2000}?\S)\1")
_UNDERSCORES = re.compile(r"(?<!\w)(_{1,3})(?=\S)([^\n]{0,2000}?\S)\1(?!\w)")
_BREAK = re.compile(r"(?:\\| {2,})$|<br ?/?>", re.MULTILINE)

_CAPTION: Final = "[caption: "
"""Our mark of what is said of a figure; the bracket behind it is no word."""

_PRIVATE: Final = 0xE000
"""Where the escaped characters wait until marks are gone; ASCII takes 128 of these places."""


def plain_text(markdown: str) -> str:
    """Take the marks of Markdown out of it; words and the order of lines stay."""
    lines: list[str] = []
    pending: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        opened = _FENCE.fullmatch(line)
        if fence:
            if opened and opened[1].startswith(fence) and line.rstrip().endswith(fence):
                fence = ""
            else:
                lines.append(line)
        elif opened:
            lines.append(_shown("\n".join(pending)))
            pending, fence = [], opened[1]
        elif not _is_rule(line):
            pending.append(_line(line))
    lines.append(_shown("\n".join(pending)))
    return "\n".join(lines)


def _is_rule(line: str) -> bool:
    """Whether a line holds no words: a rule, an underline, a table's delimiter, an address for later."""
    return bool(
        _RULE.fullmatch(line)
        or ("-" in line and _TABLE_RULE.fullmatch(line))
        or _DEFINITION.fullmatch(line)
    )


def _line(line: str) -> str:
    marks = _MARKS.match(line)
    line = line[marks.end() :] if marks else line
    line = line.removeprefix(_CAPTION)
    if not line.startswith("|"):
        return line
    # An escaped pipe is text of its cell.
    return re.sub(r"(?<!\\)\|", " ", line)


def _shown(text: str) -> str:
    text = _INLINE.sub(_inline, text)
    text = _BREAK.sub("\n", text)
    for marks in (_STARS, _STARS, _UNDERSCORES):
        text = marks.sub(r"\2", text)
    return "".join(
        chr(ord(char) - _PRIVATE) if _PRIVATE <= ord(char) < _PRIVATE + 128 else char
        for char in text
    )


def _inline(match: re.Match[str]) -> str:
    if escaped := match["escaped"]:
        return chr(_PRIVATE + ord(escaped))
    if match["ticks"]:
        # What is written in code is no mark.
        return "".join(chr(_PRIVATE + ord(char)) if ord(char) < 128 else char for char in match["code"])  # fmt: skip
    if match["text"] is not None:
        return "" if match["image"] else _INLINE.sub(_inline, match["text"])
    return match["auto"] or ""
