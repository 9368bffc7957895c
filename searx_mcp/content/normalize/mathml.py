"""The structure of MathML as LaTeX.

The same structure comes in three dresses: MathML itself, the elements `mjx-mfrac` of MathJax that
draw it, and groups of SVG with `data-mml-node`. All are read here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.normalize.mathml_tokens import (
    element_name,
    identifier_or_number,
    operator_sign,
    parts_of,
    quoted_words,
    token_text,
    wide_space,
)
from searx_mcp.content.normalize.tex import (
    ACCENTS,
    BARS,
    CLOSING,
    COMMANDS,
    LIMITS,
    MATRICES,
    PLAIN,
    UNDER,
    escaped,
)
from searx_mcp.content.normalize.tree import children

MAX_DEPTH: Final = 48
"""Elements inside each other; deeper ones are written as their text. Every level takes three of Python's
frames; there are 1,000."""

_FEW: Final = 6
"""Parts between fences that may be a table and nothing else."""

_MAX_CELLS: Final = 2_000
_PASS: Final = frozenset(
    {"math", "mrow", "mstyle", "mpadded", "mjx-math", "mtd", "merror", "texatom"}
)
_NOTHING: Final = frozenset(
    {"mphantom", "annotation", "annotation-xml", "none", "mprescripts", "mspace"}
)
_LIMIT_NAMES: Final = frozenset({
    "\\lim", "\\max", "\\min", "\\sup", "\\inf", "\\limsup", "\\liminf", "\\det", "\\gcd", "\\Pr",
})  # fmt: skip


_ENCLOSED: Final[Mapping[str, str]] = {
    "top": "overline", "bottom": "underline", "box": "boxed", "roundedbox": "boxed", "radical": "sqrt",
    "updiagonalstrike": "cancel", "downdiagonalstrike": "bcancel", "actuarial": "overline",
}  # fmt: skip


def to_tex(root: LexborNode) -> str:
    """The LaTeX of a formula by its structure; empty if there is nothing in it.

    Args:
        root: `math`, `mjx-math`, or the group of an SVG that stands for it.
    """
    return " ".join(_row(root, 0).split())


def _row(node: LexborNode, depth: int) -> str:
    """Parts one after the other, with the fences that belong together."""
    return _fenced(parts_of(node), depth)


def _fenced(parts: Sequence[LexborNode], depth: int) -> str:
    return _written(parts, _pairs(parts), 0, len(parts), depth)


def _written(
    parts: Sequence[LexborNode], pairs: Mapping[int, int], at: int, end: int, depth: int
) -> str:
    """A stretch of parts; `pairs` tells where the fence that opens at a place closes."""
    written: list[str] = []
    while at < end:
        close = pairs.get(at)
        if close is None or close > end or depth > MAX_DEPTH:
            written.append(_node(parts[at], depth + 1))
            at += 1
            continue
        opening = _operator(parts[at])
        closing = _operator(parts[close]) if close < len(parts) else ""
        few = parts[at + 1 : close] if close - at <= _FEW else ()
        inside = [part for part in few if element_name(part) not in _NOTHING]
        table = _table_in(inside[0]) if len(inside) == 1 else None
        environment = MATRICES.get((opening, closing)) if table is not None else None
        if table is not None and environment:
            written.append(_table(table, depth + 1, environment))
        else:
            body = _written(parts, pairs, at + 1, close, depth + 1)
            left, right = _delimiter(opening), _delimiter(closing) or "."
            written.append(f"\\left{left}{body}\\right{right}")
        at = close + 1
    return " ".join(filter(None, written))


def _pairs(parts: Sequence[LexborNode]) -> dict[int, int]:
    """Which fences belong together; the end for a brace before a table of cases."""
    pairs: dict[int, int] = {}
    open_at: list[tuple[int, str]] = []
    for at, part in enumerate(parts):
        operator = _operator(part)
        if operator in BARS:
            is_matrix = at + 2 < len(parts) and _operator(parts[at + 2]) == operator
            if is_matrix and _table_in(parts[at + 1]) is not None:
                pairs[at] = at + 2
        elif operator in CLOSING:
            open_at.append((at, CLOSING[operator]))
        elif open_at and operator == open_at[-1][1]:
            pairs[open_at.pop()[0]] = at
    if open_at and open_at[-1][1] == "}":
        at = open_at[-1][0]
        rest = [part for part in parts[at + 1 :] if element_name(part) not in _NOTHING]
        if [_operator(part) for part in rest[1:]] in ([], [""]) and rest and _table_in(rest[0]):
            pairs[at] = len(parts)
    return pairs


def _operator(node: LexborNode) -> str:
    return token_text(node) if element_name(node) == "mo" else ""


def _delimiter(fence: str) -> str:
    return COMMANDS.get(fence) or PLAIN.get(fence, fence)


def _table_in(node: LexborNode) -> LexborNode | None:
    for _ in range(4):
        if element_name(node) == "mtable":
            return node
        inside = parts_of(node)
        if element_name(node) not in _PASS or len(inside) != 1:
            return None
        node = inside[0]
    return None


def _node(node: LexborNode, depth: int) -> str:
    kind = element_name(node)
    if depth > MAX_DEPTH:
        return escaped(token_text(node))
    if kind == "mspace":
        return wide_space(node)
    if kind in _NOTHING:
        return ""
    convert = _CONVERTERS.get(kind)
    return convert(node, depth) if convert else _row(node, depth) or _loose(node)


def _loose(node: LexborNode) -> str:
    """Text that stands in an element of no meaning."""
    return (
        escaped(token_text(node))
        if not any(child.is_element_node for child in children(node))
        else ""
    )


def _child(node: LexborNode, at: int, depth: int) -> str:
    parts = parts_of(node)
    return _node(parts[at], depth + 1) if at < len(parts) else ""


def _base(node: LexborNode, depth: int) -> str:
    """The base of scripts; one of several parts is kept together."""
    base = _child(node, 0, depth)
    is_one = len(base) <= 1 or (base.startswith("\\") and " " not in base and "{" not in base)
    closed = base.startswith(("\\left", "\\math", "\\text", "\\operatorname")) and _is_whole(base)
    return base if is_one or closed or base.isalnum() or _is_whole(base) else f"{{{base}}}"


def _is_whole(tex: str) -> bool:
    """Tell whether a text is one command with its braces, or one pair of fences."""
    if tex.startswith("\\left"):
        return tex.count("\\left") == 1 and "\\right" in tex[-8:]
    return (
        tex.startswith("\\")
        and tex.endswith("}")
        and tex.count("{") == 1
        and " " not in tex.split("{", maxsplit=1)[0]
    )


def _scripts(node: LexborNode, depth: int, places: str) -> str:
    found = _base(node, depth)
    for at, place in enumerate(places, start=1):
        script = _child(node, at, depth)
        if place == "^" and script and set(script) <= {"'"} | set("\\prime "):
            primes = script.count("'") or script.count("\\prime")
            if primes and not script.replace("\\prime", "").replace("'", "").strip():
                found += "'" * primes
                continue
        if script:
            found += f"{place}{{{script}}}"
    return found


def _fraction(node: LexborNode, depth: int) -> str:
    top, bottom = _child(node, 0, depth), _child(node, 1, depth)
    thickness = (node.attributes.get("linethickness") or "").strip()
    if thickness and thickness.rstrip("pxemt%") in {"0", "0.0"}:
        return f"\\genfrac{{}}{{}}{{0pt}}{{}}{{{top}}}{{{bottom}}}"
    return f"\\frac{{{top}}}{{{bottom}}}"


def _square_root(node: LexborNode, depth: int) -> str:
    parts = [part for part in parts_of(node) if _operator(part) != "√"]
    return f"\\sqrt{{{_fenced(parts, depth)}}}"


def _root(node: LexborNode, depth: int) -> str:
    parts = [part for part in parts_of(node) if _operator(part) != "√"]
    if len(parts) < 2:  # noqa: PLR2004 # a base and an index
        return _square_root(node, depth)
    first, last = _node(parts[0], depth + 1), _node(parts[1], depth + 1)
    if (node.tag or "").lower() == "mjx-mroot":  # drawn with the index first
        first, last = last, first
    return f"\\sqrt[{last}]{{{first}}}"


def _beyond(
    node: LexborNode, depth: int, place: str, marks: Mapping[str, str], command: str
) -> str:
    """A base with something over or under it: an accent, a limit, or what else stands there."""
    base, other = _child(node, 0, depth), _child(node, 1, depth)
    parts = parts_of(node)
    mark = marks.get(_operator(parts[1])) if len(parts) > 1 else None
    if mark:
        return f"\\{mark}{{{base}}}"
    if _has_limits(node, base):
        return f"{base}{place}{{{other}}}"
    return f"\\{command}{{{other}}}{{{base}}}"


def _under_over(node: LexborNode, depth: int) -> str:
    base, under, over = (_child(node, at, depth) for at in range(3))
    if _drawn_upside_down(node):
        base, under, over = _drawn_limits(node, depth)
    if _has_limits(node, base) or base.startswith(("\\sum", "\\prod", "\\int")):
        return f"{base}_{{{under}}}^{{{over}}}"
    return f"\\underset{{{under}}}{{\\overset{{{over}}}{{{base}}}}}"


def _drawn_upside_down(node: LexborNode) -> bool:
    """MathJax draws what is over a base before it, and the base with what is under it after it."""
    return (node.tag or "").lower() == "mjx-munderover" and node.css_first("mjx-over") is not None


def _drawn_limits(node: LexborNode, depth: int) -> tuple[str, str, str]:
    found = []
    for place in ("mjx-base", "mjx-under", "mjx-over"):
        box = node.css_first(place)
        found.append(_row(box, depth + 1) if box is not None else "")
    return found[0], found[1], found[2]


def _has_limits(node: LexborNode, base: str) -> bool:
    parts = parts_of(node)
    return base in _LIMIT_NAMES or (bool(parts) and token_text(parts[0]) in LIMITS)


def _table(node: LexborNode, depth: int, environment: str = "") -> str:
    rows, tag, cells = [], "", 0
    for row in parts_of(node):
        columns = parts_of(row)
        if element_name(row) == "mlabeledtr" and columns:
            said = " ".join(_row(columns[0], depth + 1).split())
            tag = said.replace("\\text{(}", "").replace("\\text{)}", "").strip()
            columns = columns[1:]
        cells += len(columns)
        if cells > _MAX_CELLS:
            break
        rows.append(" & ".join(_row(column, depth + 1) for column in columns))
    label = f" \\tag{{{tag}}}" if tag else ""
    if len(rows) == 1 and " & " not in rows[0] and not environment:
        return rows[0] + label
    environment = environment or "aligned"
    gap = " " if environment != "aligned" else ""
    body = " \\\\ ".join(rows)
    return f"\\begin{{{environment}}}{gap}{body}{gap}\\end{{{environment}}}{label}"


def _mfenced(node: LexborNode, depth: int) -> str:
    attributes = node.attributes
    opening = attributes.get("open", "(") or ""
    closing = attributes.get("close", ")") or ""
    separators = (attributes.get("separators", ",") or "").replace(" ", "")
    parts = parts_of(node)
    if len(parts) == 1 and (table := _table_in(parts[0])) is not None:
        environment = MATRICES.get((opening, closing))
        if environment:
            return _table(table, depth + 1, environment)
    written = ""
    for at, part in enumerate(parts):
        if at and separators:
            written += f" {separators[min(at - 1, len(separators) - 1)]} "
        written += _node(part, depth + 1)
    left, right = _delimiter(opening) or ".", _delimiter(closing) or "."
    return f"\\left{left}{written}\\right{right}"


def _enclosed(node: LexborNode, depth: int) -> str:
    body = _row(node, depth)
    for notation in (node.attributes.get("notation") or "").lower().split():
        if command := _ENCLOSED.get(notation):
            body = f"\\{command}{{{body}}}"
    return body


def _first(node: LexborNode, depth: int) -> str:
    return _child(node, 0, depth)


def _multiscripts(node: LexborNode, depth: int) -> str:
    parts = parts_of(node)
    if not parts:
        return ""
    base, after, before = _node(parts[0], depth + 1), "", ""
    is_before, at = False, 1
    while at < len(parts):
        if element_name(parts[at]) == "mprescripts":
            is_before, at = True, at + 1
            continue
        pair = [_node(part, depth + 1) for part in parts[at : at + 2]]
        scripts = "".join(f"{mark}{{{tex}}}" for mark, tex in zip("_^", pair, strict=False) if tex)
        if is_before:
            before += scripts
        else:
            after += scripts
        at += 2
    return (f"{{}}{before}" if before else "") + base + after


def _scripted(node: LexborNode, depth: int) -> str:
    """A base with both scripts; MathJax draws the upper one first."""
    if (node.tag or "").lower() != "mjx-msubsup":
        return _scripts(node, depth, "_^")
    return _base(node, depth) + f"_{{{_child(node, 2, depth)}}}^{{{_child(node, 1, depth)}}}"


_CONVERTERS: Final[Mapping[str, Callable[[LexborNode, int], str]]] = {
    "mi": identifier_or_number,
    "mn": identifier_or_number,
    "mo": operator_sign,
    "mtext": quoted_words,
    "ms": quoted_words,
    "msup": lambda node, depth: _scripts(node, depth, "^"),
    "msub": lambda node, depth: _scripts(node, depth, "_"),
    "msubsup": _scripted,
    "mfrac": _fraction,
    "msqrt": _square_root,
    "mroot": _root,
    "mover": lambda node, depth: _beyond(node, depth, "^", ACCENTS, "overset"),
    "munder": lambda node, depth: _beyond(node, depth, "_", UNDER, "underset"),
    "munderover": _under_over,
    "mtable": _table,
    "mfenced": _mfenced,
    "menclose": _enclosed,
    "mmultiscripts": _multiscripts,
    "semantics": _first,
    "maction": _first,
    "mtr": _row,
    "mlabeledtr": _row,
}
