"""Converts the structure of MathML to LaTeX, also where MathJax draws it with custom elements such as `mjx-mfrac`."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.normalize.tex import (
    ACCENTS,
    BARS,
    CLOSING,
    COMMANDS,
    FUNCTIONS,
    LIMITS,
    MATRICES,
    PLAIN,
    UNDER,
    VARIANTS,
    escaped,
    variant_of,
)
from searx_mcp.content.normalize.tree import text_of

MAX_DEPTH: Final = 48
"""Nested elements; deeper ones are written as their text. Every level takes three of Python's frames; there are
1,000."""

_NOTHING: Final = frozenset({"mphantom", "annotation", "annotation-xml", "none"})
_LIMITS: Final = frozenset(map(COMMANDS.__getitem__, LIMITS)) | {
    "\\lim", "\\max", "\\min", "\\sup", "\\inf", "\\limsup", "\\liminf", "\\det", "\\gcd", "\\Pr",
}  # fmt: skip
_ONE: Final = re.compile(
    r".?|\w+|\\[^ {]+|\\[^ {]*\{[^{}]*\}|\\left(?:(?!\\left).)*\\right.{1,7}", re.DOTALL
)
"""A base of scripts that needs no braces: a letter, a name, a command, or one pair of fences."""

_TABLE: Final = re.compile(r"\\begin\{aligned\}((?:(?!\\begin).)*)\\end\{aligned\}", re.DOTALL)
_SIGN: Final = "\\surd "
"""The sign of a root, which MathJax draws before the radicand."""

_BOXES: Final = "mjx-base,mjx-under,mjx-over"
_SPACES: Final = re.compile(r"\s+")
_QUAD: Final = re.compile(r"\s*0*(?:\.9\d*|[1-9][\d.]*)em\s*")
"""A width from which a space is written."""
_TEXT: Final = str.maketrans(
    {"\\": "\\textbackslash ", **{sign: f"\\{sign}" for sign in "$%&#_{}"}}
)
"""Characters with a special meaning in text."""


def to_tex(root: LexborNode) -> str:
    """Convert the structure of a formula to LaTeX; empty if there is nothing in it.

    Args:
        root: `math`, or `mjx-math`.
    """
    return " ".join(_row(root, 0).split())


def _row(node: LexborNode, depth: int) -> str:
    """Parts in sequence, with matching fences."""
    open_fences: list[tuple[str, list[str]]] = [("", [])]
    for part in _inside(node):
        operator = text_of(part) if _name(part) == "mo" else ""
        opening, written = open_fences[-1]
        if operator in CLOSING:
            open_fences.append((operator, []))
        elif opening and operator == CLOSING[opening]:
            open_fences.pop()
            open_fences[-1][1].append(_fenced(opening, written, operator))
        elif operator in BARS and len(written) > 1 and _TABLE.fullmatch(written[-1]):
            written[-2:] = [_fenced(operator, written[-1:], operator)]
        elif tex := _node(part, depth + 1):
            written.append(tex)
    while len(open_fences) > 1:
        opening, written = open_fences.pop()
        is_cases = opening == "{" and len(written) == 1 and _TABLE.fullmatch(written[0])
        closed = [_fenced(opening, written, "")] if is_cases else [escaped(opening), *written]
        open_fences[-1][1].extend(closed)
    return " ".join(open_fences[0][1])


def _fenced(opening: str, parts: Sequence[str], closing: str) -> str:
    """Parts between fences; a table uses the environment that draws these."""
    body, environment = " ".join(parts), MATRICES.get((opening, closing))
    if environment and (table := _TABLE.fullmatch(body)):
        return f"\\begin{{{environment}}} {table[1]} \\end{{{environment}}}"
    left, right = (COMMANDS.get(fence) or PLAIN.get(fence, fence) for fence in (opening, closing))
    return f"\\left{left or '.'}{body}\\right{right or '.'}"


def _node(node: LexborNode, depth: int) -> str:
    if depth > MAX_DEPTH:
        return escaped(text_of(node))
    kind = _name(node)
    return "" if kind in _NOTHING else _CONVERTERS.get(kind, _row)(node, depth)


def _name(node: LexborNode) -> str:
    """The MathML element that an element is or draws."""
    return (node.tag or "").removeprefix("mjx-")


def _inside(node: LexborNode) -> list[LexborNode]:
    """The elements in an element; for a drawing without its layout boxes, and in the order of MathML."""
    found = list(node.iter())
    if not (node.tag or "").startswith("mjx-"):
        return found
    if node.tag == "mjx-munderover" and (boxes := node.css(_BOXES)):
        return sorted(boxes, key=lambda box: _BOXES.index(box.tag or ""))
    while any(_name(part) not in _DRAWN for part in found):
        found = [
            inner
            for part in found
            for inner in ([part] if _name(part) in _DRAWN else list(part.iter()))
        ]
    is_turned = node.tag in {"mjx-msubsup", "mjx-mroot"}
    return [*found[:-2], *found[:-3:-1]] if is_turned else found


def _parts(node: LexborNode, depth: int, least: int = 0) -> list[str]:
    """The elements of an element, padded with empty ones."""
    found = [_node(part, depth + 1) for part in _inside(node)]
    return found + [""] * (least - len(found))


def _scripts(node: LexborNode, depth: int, places: str) -> str:
    base, *scripts = _parts(node, depth, 1)
    base = base if _ONE.fullmatch(base) else f"{{{base}}}"
    return base + "".join(
        f"{place}{{{script}}}" for place, script in zip(places, scripts, strict=False) if script
    )


def _fraction(node: LexborNode, depth: int) -> str:
    top, bottom = _parts(node, depth, 2)[:2]
    is_barred = (node.attributes.get("linethickness") or "").strip("pxemt% ") not in {"0", "0.0"}
    return f"\\{'frac' if is_barred else 'genfrac{}{}{0pt}{}'}{{{top}}}{{{bottom}}}"


def _root(node: LexborNode, depth: int) -> str:
    base, index = _parts(node, depth, 2)[:2]
    return f"\\sqrt[{index}]{{{base}}}"


def _beyond(
    node: LexborNode, depth: int, place: str, marks: Mapping[str, str], command: str
) -> str:
    """A base with something over or under it: an accent, a limit, or anything else."""
    base, other = _parts(node, depth, 2)[:2]
    if mark := marks.get("".join(map(text_of, _inside(node)[1:]))):
        return f"\\{mark}{{{base}}}"
    return f"{base}{place}{{{other}}}" if base in _LIMITS else f"\\{command}{{{other}}}{{{base}}}"


def _table(node: LexborNode, depth: int) -> str:
    rows, tag = [], ""
    for row in _inside(node):
        cells = _parts(row, depth)
        if _name(row) == "mlabeledtr" and cells:
            said = cells.pop(0).replace("\\text{(}", "").replace("\\text{)}", "")
            tag = f" \\tag{{{' '.join(said.split())}}}"
        rows.append(" & ".join(cells))
    body = " \\\\ ".join(rows)
    is_one = len(rows) == 1 and " & " not in body
    return (body if is_one else f"\\begin{{aligned}}{body}\\end{{aligned}}") + tag


def _mfenced(node: LexborNode, depth: int) -> str:
    opening, closing, separators = (
        node.attributes.get(name, default) or ""
        for name, default in (("open", "("), ("close", ")"), ("separators", ","))
    )
    separator = f" {separators[0]} " if separators else " "
    return _fenced(opening, [separator.join(_parts(node, depth))], closing)


def _multiscripts(node: LexborNode, depth: int) -> str:
    """A base with scripts after it and, after a mark, before it."""
    parts = list(node.iter())
    before = next((at for at, part in enumerate(parts) if part.tag == "mprescripts"), len(parts))
    after, lead = (
        "".join(
            f"{place}{{{tex}}}"
            for place, part in zip(cycle("_^"), few, strict=False)
            if (tex := _node(part, depth + 1))
        )
        for few in (parts[1:before], parts[before + 1 :])
    )
    return (f"{{}}{lead}" if lead else "") + "".join(_parts(node, depth)[:1]) + after


def _identifier_or_number(node: LexborNode, _depth: int) -> str:
    """A name or number: a function as its command, letters of another style in the command for it."""
    text = text_of(node)
    plain = unicodedata.normalize("NFKC", text)
    if plain in FUNCTIONS:
        return "\\" + plain
    variant = node.attributes.get("mathvariant") or (variant_of(text) if len(text) == 1 else "")
    if variant == "normal" and not re.fullmatch("[A-Za-z]", plain):
        variant = ""
    body = escaped(text if variant == "" and len(text) == 1 else plain)
    command = VARIANTS.get(variant)
    return f"\\{command}{{{body}}}" if command and body else body


def _operator_sign(node: LexborNode, _depth: int) -> str:
    text = text_of(node)
    if len(text) > 1 and text.isalpha():
        return "\\" + text if text in FUNCTIONS else f"\\operatorname{{{text}}}"
    return escaped(text)


def _quoted_words(node: LexborNode, _depth: int) -> str:
    words = _SPACES.sub(" ", node.text()).translate(_TEXT)
    return f"\\text{{{words}}}" if words else ""


_CONVERTERS: Final[Mapping[str, Callable[[LexborNode, int], str]]] = {
    "mi": _identifier_or_number,
    "mn": _identifier_or_number,
    "mo": _operator_sign,
    **dict.fromkeys(("mtext", "ms"), _quoted_words),
    "mspace": lambda node, _: "\\quad" * bool(_QUAD.fullmatch(node.attributes.get("width") or "")),
    "msup": partial(_scripts, places="^"),
    "msub": partial(_scripts, places="_"),
    **dict.fromkeys(("msubsup", "munderover"), partial(_scripts, places="_^")),
    "mfrac": _fraction,
    "msqrt": lambda node, depth: f"\\sqrt{{{_row(node, depth).removeprefix(_SIGN)}}}",
    "mroot": _root,
    "mover": partial(_beyond, place="^", marks=ACCENTS, command="overset"),
    "munder": partial(_beyond, place="_", marks=UNDER, command="underset"),
    "mtable": _table,
    "mfenced": _mfenced,
    "mmultiscripts": _multiscripts,
    **dict.fromkeys(("semantics", "maction"), lambda node, depth: _parts(node, depth, 1)[0]),
}

_DRAWN: Final = _CONVERTERS.keys() | _NOTHING | {"mrow", "mtr", "mtd", "mstyle", "texatom"}
"""Elements that MathJax draws; its others (`mjx-base`, `mjx-box`, …) are only layout."""
