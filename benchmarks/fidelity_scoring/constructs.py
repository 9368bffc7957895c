"""What a page's Markdown holds beside words: code, formulas, rows of tables, footnotes, callouts.

All texts, expected or written by whichever converter, are read by these functions. Two constructs
agree when they say the same: how a table is padded, a formula spaced or a callout marked is no part
of that.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

_BLOCK_MATH = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE_MATH = re.compile(r"(?<![\\$\w])\$(?!\s)([^$\n]+?)(?<!\s)\$(?!\d)")
_CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_REFERENCE = re.compile(r"\[\^([^\]\s]+)\](?!:)")
_LINK = re.compile(
    r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)"
)
_CALLOUT = re.compile(r"\s*\[!([A-Za-z]+)\][+-]?[ \t]*([^\n]*)\n?(.*)", re.DOTALL)
_LABELLED = re.compile(r"\s*[^\x00-\x7f]{1,3}\s+\**([A-Z]{3,20}):\**[ \t]*(.*)", re.DOTALL)
_MARKUP = re.compile(r"[*_`~]")
_NOT_WORDS = re.compile(r"[\W_]+")
_WORD = re.compile(r"\w+")
_FRONT = re.compile(r"\A```json\n.*?\n```\n", re.DOTALL)
_CONTEXT: Final = 12
"""Letters before a reference by which it is known: the numbers of notes differ between converters."""

_MARKDOWN = MarkdownIt("commonmark").enable("table")


@dataclass(slots=True)
class Constructs:
    """What is counted, each as often as it stands there.

    Attributes:
        code: the texts of code blocks outside of quotations, without white space at the ends of lines.
        code_with_language: those with a language, as `language` and text.
        math: formulas without white space.
        rows: rows of tables, the cells without links and marks.
        references: of footnotes, by the letters before them.
        callouts: kind and letters of labelled blocks.
        words: all words.
    """

    code: Counter[str] = field(default_factory=Counter)
    code_with_language: Counter[str] = field(default_factory=Counter)
    math: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    references: Counter[str] = field(default_factory=Counter)
    callouts: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)


def read(markdown: str) -> Constructs:
    """What a text in Markdown holds; a front block of JSON is left out."""
    markdown = _FRONT.sub("", markdown).replace("\r\n", "\n")
    tokens = _MARKDOWN.parse(markdown)
    found = Constructs()
    _read_code(tokens, found)
    _read_rows(tokens, found)
    _read_callouts(tokens, found)
    prose = _without_code(markdown, tokens)
    for match in _BLOCK_MATH.finditer(prose):
        found.math["".join(match[1].split())] += 1
    for match in _INLINE_MATH.finditer(_BLOCK_MATH.sub(" ", prose)):
        found.math["".join(match[1].split())] += 1
    _read_references(prose, found)
    found.words = Counter(_WORD.findall(_plain(markdown).lower()))
    return found


def _read_code(tokens: list[Token], found: Constructs) -> None:
    quoted = 0
    for token in tokens:
        quoted += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        if token.type not in {"fence", "code_block"} or quoted:
            continue
        text = "\n".join(line.rstrip() for line in token.content.rstrip().split("\n"))
        found.code[text] += 1
        if language := token.info.strip().lower():
            found.code_with_language[f"{language}\n{text}"] += 1


def _read_rows(tokens: list[Token], found: Constructs) -> None:
    cells: list[str] = []
    inside = False
    for token in tokens:
        if token.type == "tr_open":
            cells, inside = [], True
        elif token.type == "tr_close":
            inside = False
            if any(cells):
                found.rows[" | ".join(cells)] += 1
        elif inside and token.type == "inline":
            cells.append(_plain(token.content).strip())


def _read_callouts(tokens: list[Token], found: Constructs) -> None:
    quoted = 0
    texts: list[str] = []
    for token in tokens:
        if token.type == "blockquote_open":
            quoted += 1
        elif token.type == "blockquote_close":
            quoted -= 1
            if not quoted:
                _add_callout("\n".join(texts), found)
                texts = []
        elif token.type in {"inline", "fence", "code_block"}:
            if quoted:
                texts.append(token.content)
            elif token.type == "inline" and token.level == 1:
                _add_callout(token.content, found)


def _add_callout(text: str, found: Constructs) -> None:
    if match := _CALLOUT.fullmatch(text):
        kind, title, body = match[1].lower(), match[2], match[3]
        said = body if _letters(title) == kind else f"{title} {body}"
    elif match := _LABELLED.fullmatch(text):
        kind, said = match[1].lower(), match[2]
        title, _, body = said.partition("\n")
        said = body if _letters(title) == kind else said
    else:
        return
    found.callouts[f"{kind} {_letters(_plain(said))}"] += 1


def _read_references(prose: str, found: Constructs) -> None:
    before = ""
    start = 0
    for match in _REFERENCE.finditer(prose):
        before = (before + _letters(_plain(prose[start : match.start()])))[-_CONTEXT:]
        start = match.end()
        found.references[before] += 1


def _without_code(markdown: str, tokens: list[Token]) -> str:
    lines = markdown.split("\n")
    for token in tokens:
        if token.type in {"fence", "code_block"} and token.map:
            lines[token.map[0] : token.map[1]] = [""] * (token.map[1] - token.map[0])
    return _CODE_SPAN.sub(" ", "\n".join(lines))


def _plain(markdown: str) -> str:
    """Text without the addresses of links, marks and backslashes."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", markdown)).replace("\\", "").split())


def _letters(text: str) -> str:
    return _NOT_WORDS.sub("", text).lower()
