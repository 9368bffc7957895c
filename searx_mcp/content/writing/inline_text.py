"""Escapes text of a page as inline Markdown that looks the same and has no other effect."""

import re
from typing import Final

_SPECIAL = re.compile(r"[\\`*_<&~\[\]]")
_ESCAPED = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\Z)"  # a backslash that would escape, perhaps the character after the text
    r"|`"
    r"|(?<!\s)\*|\*(?!\s)"  # not in `2 * 3`
    r"|(?<!\w)_++|_++(?!\w)"  # not inside snake_case
    r"|<(?=[A-Za-z/!?]|\Z)"  # HTML
    r"|&(?=\#?[A-Za-z0-9]{1,32};)"  # a character reference
    r"|(?<=!)\[|(?<=\])[(\[]|\[(?=\^)"  # images, links, footnotes
    r"|~(?=~|\Z)|(?<=~)~|\A~"
)
_ESCAPED_OR_BRACKET = re.compile(r"\\.|[\[\]]", re.DOTALL)
_NUMBERED = re.compile(r"(?<!\\)\[(?=[ ]?[0-9]{1,6}[ ]?\])")
_BRACKET = re.compile(r"[\[\]]")
_LINE_START = re.compile(
    r"^(?:[-+*\#](?=[ ]|$)|\#{2,6}(?=[ ]|$)|>|=(?==*+[ ]*$)|[-|:](?=[-|: ]*+$))", re.MULTILINE
)
_NUMBER_START = re.compile(r"^([0-9]{1,9})([.)])(?=[ ]|$)", re.MULTILINE)
_STARTS: Final = frozenset("-+*#>=|:0123456789")
_DEFINITION = re.compile(r"\[(?:[^\[\]\\]|\\.)*+\](?=:)")
_BACKSLASHED: Final = r"\\\g<0>"

_TEX = re.compile(
    r"\$\$[^$]{1,2000}+\$\$"
    r"|(?<![\\$\w])\$(?=[^\s$])[^$]{1,500}+(?<=[^\s\\])\$(?![\w$])"
    r"|\\\((?:[^\\]|\\(?![()\[\]])){1,500}+\\\)"
    r"|\\\[(?:[^\\]|\\(?![()\[\]])){1,2000}+\\\]"
)
"""TeX that a page leaves to a script. Two prices in a sentence do not match: pandoc's rule allows no space inside
the dollar signs and no digit after them, and the text between must look like TeX."""

_TEX_LIKE = re.compile(r"[\\^_{}=]|\A\$[A-Za-z]\$\Z")
_TEX_ACTS = re.compile(r"(?<=!)(?=\[)|(?<=\])(?=[(\[:])|(?<=<)(?=[A-Za-z/!?])|(?<=~)(?=~)")
_TEX_NUMBER = re.compile(r"\[(?=[0-9]{1,6}\])")
_TEX_DOLLAR = re.compile(r"(\\*+)\$")
_TEX_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_TEX_LINE_START = re.compile(r"\n(?=[-+*\#>=|~:_0-9])")


def escape(text: str, *, is_numbered: bool = False) -> str:
    """Escape text as inline Markdown.

    TeX between dollar signs, or in parentheses with backslashes, stays as it is, except for spaces where it would
    act as markup.

    Args:
        text: clean text of one line, at any position of a paragraph.
        is_numbered: whether links are numbered, so that a number in TeX's brackets would be one.
    """
    if _SPECIAL.search(text) is None:
        return text
    if "$" not in text and "\\" not in text:
        return _ESCAPED.sub(_escaped, text)
    parts: list[str] = []
    end = 0
    for found in _TEX.finditer(text):
        if _TEX_LIKE.search(found[0]) is not None:
            tex = _harmless(found[0], is_numbered=is_numbered)
            parts += [_ESCAPED.sub(_escaped, text[end : found.start()]), tex]
            end = found.end()
    return "".join([*parts, _ESCAPED.sub(_escaped, text[end:])])


def escape_numbered(text: str) -> str:
    """Like `escape`, for numbered links: a number in brackets would be one."""
    return _NUMBERED.sub(_BACKSLASHED, escape(text, is_numbered=True))


def escape_brackets(markdown: str) -> str:
    """Also escape brackets in escaped text, for the text of a link."""
    if _BRACKET.search(markdown) is None:
        return markdown
    # Brackets that are already escaped get no second backslash.
    return _ESCAPED_OR_BRACKET.sub(_escaped_once, markdown)


def escape_lines(markdown: str) -> str:
    """Escape line starts, so that no line of a paragraph begins a list, heading, quote, table or definition."""
    if markdown[:1] in _STARTS or "\n" in markdown:
        markdown = _LINE_START.sub(_BACKSLASHED, markdown)
        markdown = _NUMBER_START.sub(r"\1\\\2", markdown)
    if markdown[:1] == "[" and (label := _DEFINITION.match(markdown)):
        return f"{label[0]}\\{markdown[label.end() :]}"
    return markdown


def inline_tex(tex: str, *, is_numbered: bool = False) -> str:
    """TeX in a sentence, between dollar signs that it cannot close.

    Args:
        tex: any text.
        is_numbered: whether links are numbered, so that a number in brackets would be one.
    """
    line = _harmless(
        _without_dollars(" ".join(_TEX_COMMENT.sub("", tex).split())), is_numbered=is_numbered
    )
    if line.endswith("\\"):
        line += " "
    return f"${line}$" if line.strip() else ""


def block_tex(tex: str, *, is_numbered: bool = False) -> str:
    """The lines of a display formula in TeX, without empty ones and without `$`.

    A line that would begin a Markdown block is joined to the one before, which means the same in TeX.
    """
    lines = [line.strip() for line in _TEX_COMMENT.sub("", tex).split("\n")]
    text = _harmless(_without_dollars("\n".join(filter(None, lines))), is_numbered=is_numbered)
    return _TEX_LINE_START.sub(" ", f"\n{text}").removeprefix("\n")


def _escaped(found: re.Match[str]) -> str:
    marks = found[0]
    return "\\" + marks if len(marks) == 1 else marks.replace("_", "\\_")


def _escaped_once(found: re.Match[str]) -> str:
    mark = found[0]
    return mark if len(mark) > 1 else f"\\{mark}"


def _harmless(tex: str, *, is_numbered: bool) -> str:
    """TeX with a space wherever it would be an image, a link or a tag, and no code."""
    spaced = _TEX_ACTS.sub(" ", tex).replace("`", r"\lq ")
    return _TEX_NUMBER.sub("[{}", spaced) if is_numbered else spaced


def _without_dollars(tex: str) -> str:
    return _TEX_DOLLAR.sub(_dollar, tex) if "$" in tex else tex


def _dollar(found: re.Match[str]) -> str:
    is_escaped = len(found[1]) % 2 == 1
    return found[0] if is_escaped else f"{found[1]}\\$"
