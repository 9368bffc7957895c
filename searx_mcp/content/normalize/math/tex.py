"""LaTeX as pages give it: told from other text, cleaned, and held against what a reader sees."""

import re
import unicodedata
from typing import Final

from searx_mcp.content.normalize.math.symbols import COMMANDS, FUNCTIONS

MAX_TEX: Final = 10_000
"""Characters of a formula; a longer source is not taken."""

_STRUCTURE_NAMES: Final = (
    "frac dfrac tfrac cfrac binom sqrt begin end left right text textbf mathrm mathbf mathbb mathcal"
    " mathfrak mathsf mathit operatorname overline underline hat bar vec tilde dot ddot displaystyle"
    " textstyle quad qquad over choose limits nolimits boldsymbol boxed underbrace overbrace overset"
    " underset stackrel substack big Big bigg Bigg le ge ne to dots dotsc dotsb gets land lor lnot"
    " mathscr pmod bmod not cal rm bf mid colon"
)
_STRUCTURE: Final = frozenset(_STRUCTURE_NAMES.split())
_KNOWN: Final = (
    _STRUCTURE | FUNCTIONS | {command[1:] for command in COMMANDS.values() if command[1:].isalpha()}
)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SCRIPTED = re.compile(r"[A-Za-z0-9)\]][_^]\{")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_BLANK_LINES = re.compile(r"\n\s*\n")
_DELIMITED = re.compile(r"\A(?:\$\$(.+)\$\$|\$([^$]+)\$|\\\[(.+)\\\]|\\\((.+)\\\))\Z", re.DOTALL)
_STYLED = re.compile(r"\A\{\\(?:displaystyle|textstyle|scriptstyle)\s+(.*)\}\Z", re.DOTALL)

_NOT_SHOWN = re.compile(
    r"\\(?:begin|end|label|ref|eqref|color|textcolor|colorbox|hspace|vspace|class|style|cssId|href|url"
    r"|require|mathchoice|htmlClass|htmlId|includegraphics)\*?(?:\[[^\]]{0,80}+\])?\{[^{}]{0,200}+\}"
    r"|\\[A-Za-z]+"
)
"""Commands, and what stands in the braces of those that show none of it."""

_WORD = re.compile(r"[A-Za-z]{4,}")
_MAX_FOREIGN: Final = 3
"""Words of a source that its formula need not show: names of colours, units that a macro writes out."""


def is_tex(text: str) -> bool:
    """Whether a text is LaTeX rather than words: by a command that there is, or scripts in braces."""
    if len(text) > MAX_TEX:
        return False
    if _SCRIPTED.search(text):
        return True
    return any(match[1] in _KNOWN for match in _COMMAND.finditer(text))


def cleaned(text: str, *, is_block: bool) -> str:
    """LaTeX without delimiters, comments and blank lines, which would end it in Markdown.

    Args:
        text: as the page has it.
        is_block: whether it may have several lines.
    """
    tex = (
        _COMMENT.sub("", text[: MAX_TEX + 1]).strip()
        if "%" in text
        else text[: MAX_TEX + 1].strip()
    )
    if len(tex) > MAX_TEX:
        return ""
    if match := _DELIMITED.fullmatch(tex):
        tex = next(filter(None, match.groups()), "").strip()
    if (match := _STYLED.fullmatch(tex)) and _is_balanced(match[1]):
        tex = match[1].strip()
    if not is_block:
        return " ".join(tex.split())
    tex = _BLANK_LINES.sub("\n", tex.replace("\r\n", "\n").replace("\r", "\n"))
    return "\n".join(line.rstrip() for line in tex.split("\n"))


def agrees(tex: str, seen: str) -> bool:
    """Whether a source says no more than its formula shows.

    The source of a formula stands in an attribute or in hidden text: words that a reader does not
    see could be said there. Commands and short names are not compared.

    Args:
        tex: the source.
        seen: all text that the formula shows, in any order and spacing.
    """
    if len(tex) > MAX_TEX:
        return False
    words = _WORD.findall(_NOT_SHOWN.sub(" ", tex))
    if len(words) <= _MAX_FOREIGN:
        return True
    shown = "".join(unicodedata.normalize("NFKC", seen).split()).lower()
    return sum(word.lower() not in shown for word in words) <= _MAX_FOREIGN


def _is_balanced(tex: str) -> bool:
    depth = 0
    for character in tex.replace("\\{", "").replace("\\}", ""):
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0
