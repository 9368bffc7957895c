"""LaTeX: recognised, cleaned, compared with the visible formula, and made from the structure of MathML."""
# ruff: noqa: RUF001 - the signs themselves

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.tree import text_of

_GREEK: Final = (
    "α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa"
    " ϰ varkappa λ lambda μ mu ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon"
    " φ varphi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon"
    " Φ Phi Ψ Psi Ω Omega"
)
_OPERATORS: Final = (
    "± pm ∓ mp × times ÷ div ⋅ cdot · cdot ∗ ast ∘ circ ∙ bullet • bullet ⊕ oplus ⊖ ominus ⊗ otimes"
    " ⊘ oslash ⊙ odot † dagger ‡ ddagger ∧ wedge ∨ vee ∩ cap ∪ cup ⊎ uplus ⊓ sqcap ⊔ sqcup"
    " ∖ setminus ≀ wr ⋄ diamond ⋆ star △ triangle ▽ triangledown ⊲ triangleleft ⊳ triangleright"
    " ≤ leq ≥ geq ≦ leqq ≧ geqq ⩽ leqslant ⩾ geqslant ≠ neq ≡ equiv ≈ approx ≅ cong ≃ simeq ∼ sim ≁ nsim"
    " ∝ propto ≪ ll ≫ gg ≺ prec ≻ succ ⪯ preceq ⪰ succeq ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq"
    " ⊊ subsetneq ⊋ supsetneq ⊄ not\\subset ⊏ sqsubset ⊑ sqsubseteq ⊒ sqsupseteq ∈ in ∋ ni ∉ notin"
    " ⊥ bot ⟂ perp ∥ parallel ∦ nparallel ∣ mid ∤ nmid ⊢ vdash ⊣ dashv ⊨ models ⊩ Vdash ≐ doteq ≜ triangleq"
    " ≔ coloneqq ≍ asymp ≲ lesssim ≳ gtrsim"
    " ← leftarrow → rightarrow ↔ leftrightarrow ⇐ Leftarrow ⇒ Rightarrow ⇔ Leftrightarrow ↑ uparrow"
    " ↓ downarrow ↕ updownarrow ⇑ Uparrow ⇓ Downarrow ↦ mapsto ⟶ longrightarrow ⟵ longleftarrow"
    " ⟹ Longrightarrow ⟸ Longleftarrow ⟺ Longleftrightarrow ⟼ longmapsto ↗ nearrow ↘ searrow ↙ swarrow"
    " ↖ nwarrow ↪ hookrightarrow ↩ hookleftarrow ↠ twoheadrightarrow ⇌ rightleftharpoons ⇀ rightharpoonup"
    " ⇁ rightharpoondown ⇝ rightsquigarrow"
    " ∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ⋃ bigcup ⋂ bigcap ⋁ bigvee ⋀ bigwedge ⨁ bigoplus"
    " ⨂ bigotimes ⨀ bigodot ⨄ biguplus ⨆ bigsqcup"
    " ∀ forall ∃ exists ∄ nexists ¬ neg ∅ emptyset ∇ nabla ∂ partial ∞ infty ℏ hbar ħ hbar ℓ ell ℘ wp ℜ Re"
    " ℑ Im ℵ aleph ℶ beth ∠ angle ∡ measuredangle ⊤ top √ surd ′ prime □ square ■ blacksquare ◊ lozenge"
    " ♯ sharp ♭ flat ♮ natural ♠ spadesuit ♡ heartsuit ♢ diamondsuit ♣ clubsuit ∴ therefore ∵ because"
    " ⋯ cdots … ldots ⋮ vdots ⋱ ddots ⌈ lceil ⌉ rceil ⌊ lfloor ⌋ rfloor ⟨ langle ⟩ rangle 〈 langle"
    " 〉 rangle ‖ Vert ∶ colon ✓ checkmark"
)
_COMMANDS: Final[dict[str, str]] = {
    character: "\\" + name
    for words in (_GREEK.split(), _OPERATORS.split())
    for character, name in zip(words[::2], words[1::2], strict=True)
}
"""Commands of LaTeX and of amssymb that both KaTeX and MathJax know."""

_PLAIN: Final[dict[str, str]] = {
    "−": "-", "–": "-", "∕": "/", "⁄": "/", "ˆ": "^", "˜": "~", "″": "''", "‴": "'''", "：": ":",
    "\u2061": "", "\u2062": "", "\u2063": "", "\u2064": "", "\u200b": "", "\u00a0": " ",
    "\\": "\\backslash", "{": "\\{", "}": "\\}", "$": "\\$", "%": "\\%", "&": "\\&", "#": "\\#",
    "_": "\\_", "~": "\\sim", "^": "\\hat{}",
}  # fmt: skip
"""Characters that TeX writes differently; the invisible operators of MathML are not written."""

_FUNCTION_NAMES: Final = (
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf"
    " limsup ln log max min Pr sec sin sinh sup tan tanh"
)
_FUNCTIONS: Final = frozenset(_FUNCTION_NAMES.split())
"""Names of LaTeX operators."""

_ACCENTS: Final[dict[str, str]] = {
    "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "∼": "tilde", "¯": "bar", "‾": "overline",
    "_": "underline", "―": "overline", "→": "vec", "⃗": "vec", "˙": "dot", ".": "dot", "¨": "ddot",
    "⋅": "dot", "⃛": "dddot", "ˇ": "check", "˘": "breve", "`": "grave", "´": "acute", "˚": "mathring",
    "⏞": "overbrace", "⏜": "overparen", "←": "overleftarrow", "↔": "overleftrightarrow",
}  # fmt: skip
"""Accents over a base."""

_UNDER: Final[dict[str, str]] = {
    "_": "underline", "‾": "underline", "¯": "underline", "―": "underline", "⏟": "underbrace",
    "̲": "underline", "→": "underrightarrow", "←": "underleftarrow",
}  # fmt: skip
"""Accents under a base."""

_LIMITS: Final = frozenset("∑∏∐∫∬∭∮⋃⋂⋁⋀⨁⨂⨀⨄⨆")
"""Large operators, whose scripts over and under are limits."""

_CLOSING: Final[dict[str, str]] = {
    "(": ")", "[": "]", "{": "}", "⟨": "⟩", "〈": "〉", "⌊": "⌋", "⌈": "⌉",
}  # fmt: skip
"""Fences that come in pairs."""

_BARS: Final = frozenset("|∣‖")
"""Fences with the same opening and closing sign; they can be paired only around a table."""

_MATRICES: Final[dict[tuple[str, str], str]] = {
    ("(", ")"): "pmatrix", ("[", "]"): "bmatrix", ("{", "}"): "Bmatrix", ("|", "|"): "vmatrix",
    ("∣", "∣"): "vmatrix", ("‖", "‖"): "Vmatrix", ("{", ""): "cases",
}  # fmt: skip
"""Environments of a table by the fences around it."""

_VARIANTS: Final[dict[str, str]] = {
    "bold": "mathbf", "double-struck": "mathbb", "script": "mathcal", "bold-script": "mathcal",
    "fraktur": "mathfrak", "bold-fraktur": "mathfrak", "sans-serif": "mathsf", "monospace": "mathtt",
    "bold-italic": "boldsymbol", "normal": "mathrm",
}  # fmt: skip
"""Commands of `mathvariant` (MathML Core §3.2.1); `normal` only where italic would be the default."""

_BLOCKS: Final[tuple[tuple[int, int, str], ...]] = (
    (0x1D400, 0x1D433, "bold"), (0x1D468, 0x1D49B, "bold-italic"), (0x1D49C, 0x1D503, "script"),
    (0x1D504, 0x1D537, "fraktur"), (0x1D538, 0x1D56B, "double-struck"), (0x1D56C, 0x1D59F, "fraktur"),
    (0x1D5A0, 0x1D66F, "sans-serif"), (0x1D670, 0x1D6A3, "monospace"), (0x1D6A8, 0x1D6E1, "bold"),
    (0x1D71C, 0x1D755, "bold-italic"), (0x1D7CE, 0x1D7D7, "bold"), (0x1D7D8, 0x1D7E1, "double-struck"),
)  # fmt: skip
"""Mathematical Alphanumeric Symbols (Unicode 16, block 1D400); anything not listed is italic."""

_LETTERLIKE: Final[dict[str, str]] = {
    **dict.fromkeys("ℂℍℕℙℚℝℤ", "double-struck"), **dict.fromkeys("ℬℰℱℋℐℒℳℛ", "script"),
    **dict.fromkeys("ℭℌℨ", "fraktur"),
}  # fmt: skip

MAX_TEX: Final = 10_000
"""Characters of a formula; a longer source is ignored."""

_STRUCTURE_NAMES: Final = (
    "frac dfrac tfrac cfrac binom sqrt begin end left right text textbf mathrm mathbf mathbb mathcal"
    " mathfrak mathsf mathit operatorname overline underline hat bar vec tilde dot ddot displaystyle"
    " textstyle quad qquad over choose limits nolimits boldsymbol boxed underbrace overbrace overset"
    " underset stackrel substack big Big bigg Bigg le ge ne to dots dotsc dotsb gets land lor lnot"
    " mathscr pmod bmod not cal rm bf mid colon"
)
_STRUCTURE: Final = frozenset(_STRUCTURE_NAMES.split())
_KNOWN: Final = (
    _STRUCTURE
    | _FUNCTIONS
    | {command[1:] for command in _COMMANDS.values() if command[1:].isalpha()}
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
"""Commands, with the braces of those that show none of their content."""

_WORD = re.compile(r"[A-Za-z]{4,}")
_MAX_FOREIGN: Final = 3
"""Words of a source that its formula need not show: names of colours, units that a macro writes out."""
_BEYOND_LATIN: Final = 0x2000


def is_tex(text: str) -> bool:
    """Whether a text is LaTeX rather than words: it has a known command, or scripts in braces."""
    if len(text) > MAX_TEX:
        return False
    if _SCRIPTED.search(text):
        return True
    return any(match[1] in _KNOWN for match in _COMMAND.finditer(text))


def cleaned(text: str, *, is_block: bool) -> str:
    """Remove delimiters and comments from LaTeX, and blank lines, which would end it in Markdown.

    Args:
        text: as on the page.
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
    """Whether a source contains no more than its formula shows.

    The source of a formula is in an attribute or in hidden text, where a page could put words that a reader does not
    see. Commands and short names are not compared.

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


def _escaped(text: str) -> str:
    """Escape characters for LaTeX outside text."""
    if text.isalnum() and text.isascii():
        return text
    found = []
    for character in text:
        if character in _COMMANDS:
            found.append(_COMMANDS[character] + " ")
            continue
        plain = _PLAIN.get(character)
        if plain is None and ord(character) > _BEYOND_LATIN and not _COMMANDS.get(character):
            normal = unicodedata.normalize("NFKC", character)
            plain = _COMMANDS.get(normal, normal)
        found.append(character if plain is None else plain)
    return "".join(found).strip()


def _variant_of(character: str) -> str:
    """The `mathvariant` of a character by itself; empty if it has none or is italic."""
    if character in _LETTERLIKE:
        return _LETTERLIKE[character]
    code = ord(character)
    return next((name for first, last, name in _BLOCKS if first <= code <= last), "")


MAX_DEPTH: Final = 48
"""Nested elements; deeper ones are written as their text. Every level takes three of Python's frames; there are
1,000."""

_NOTHING: Final = frozenset({"mphantom", "annotation", "annotation-xml", "none"})
_LIMIT_COMMANDS: Final = frozenset(map(_COMMANDS.__getitem__, _LIMITS)) | {
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
        if operator in _CLOSING:
            open_fences.append((operator, []))
        elif opening and operator == _CLOSING[opening]:
            open_fences.pop()
            open_fences[-1][1].append(_fenced(opening, written, operator))
        elif operator in _BARS and len(written) > 1 and _TABLE.fullmatch(written[-1]):
            written[-2:] = [_fenced(operator, written[-1:], operator)]
        elif tex := _node(part, depth + 1):
            written.append(tex)
    while len(open_fences) > 1:
        opening, written = open_fences.pop()
        is_cases = opening == "{" and len(written) == 1 and _TABLE.fullmatch(written[0])
        closed = [_fenced(opening, written, "")] if is_cases else [_escaped(opening), *written]
        open_fences[-1][1].extend(closed)
    return " ".join(open_fences[0][1])


def _fenced(opening: str, parts: Sequence[str], closing: str) -> str:
    """Parts between fences; a table uses the environment that draws these."""
    body, environment = " ".join(parts), _MATRICES.get((opening, closing))
    if environment and (table := _TABLE.fullmatch(body)):
        return f"\\begin{{{environment}}} {table[1]} \\end{{{environment}}}"
    left, right = (_COMMANDS.get(fence) or _PLAIN.get(fence, fence) for fence in (opening, closing))
    return f"\\left{left or '.'}{body}\\right{right or '.'}"


def _node(node: LexborNode, depth: int) -> str:
    if depth > MAX_DEPTH:
        return _escaped(text_of(node))
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
    return (
        f"{base}{place}{{{other}}}"
        if base in _LIMIT_COMMANDS
        else f"\\{command}{{{other}}}{{{base}}}"
    )


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
    if plain in _FUNCTIONS:
        return "\\" + plain
    variant = node.attributes.get("mathvariant") or (_variant_of(text) if len(text) == 1 else "")
    if variant == "normal" and not re.fullmatch("[A-Za-z]", plain):
        variant = ""
    body = _escaped(text if variant == "" and len(text) == 1 else plain)
    command = _VARIANTS.get(variant)
    return f"\\{command}{{{body}}}" if command and body else body


def _operator_sign(node: LexborNode, _depth: int) -> str:
    text = text_of(node)
    if len(text) > 1 and text.isalpha():
        return "\\" + text if text in _FUNCTIONS else f"\\operatorname{{{text}}}"
    return _escaped(text)


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
    "mover": partial(_beyond, place="^", marks=_ACCENTS, command="overset"),
    "munder": partial(_beyond, place="_", marks=_UNDER, command="underset"),
    "mtable": _table,
    "mfenced": _mfenced,
    "mmultiscripts": _multiscripts,
    **dict.fromkeys(("semantics", "maction"), lambda node, depth: _parts(node, depth, 1)[0]),
}

_DRAWN: Final = _CONVERTERS.keys() | _NOTHING | {"mrow", "mtr", "mtd", "mstyle", "texatom"}
"""Elements that MathJax draws; its others (`mjx-base`, `mjx-box`, …) are only layout."""
