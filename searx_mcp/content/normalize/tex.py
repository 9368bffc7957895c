"""LaTeX: recognised, cleaned, and compared with the visible formula; its commands for characters."""
# ruff: noqa: RUF001 - the signs themselves

import re
import unicodedata
from typing import Final

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
COMMANDS: Final[dict[str, str]] = {
    character: "\\" + name
    for words in (_GREEK.split(), _OPERATORS.split())
    for character, name in zip(words[::2], words[1::2], strict=True)
}
"""Commands of LaTeX and of amssymb that both KaTeX and MathJax know."""

PLAIN: Final[dict[str, str]] = {
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
FUNCTIONS: Final = frozenset(_FUNCTION_NAMES.split())
"""Names of LaTeX operators."""

ACCENTS: Final[dict[str, str]] = {
    "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "∼": "tilde", "¯": "bar", "‾": "overline",
    "_": "underline", "―": "overline", "→": "vec", "⃗": "vec", "˙": "dot", ".": "dot", "¨": "ddot",
    "⋅": "dot", "⃛": "dddot", "ˇ": "check", "˘": "breve", "`": "grave", "´": "acute", "˚": "mathring",
    "⏞": "overbrace", "⏜": "overparen", "←": "overleftarrow", "↔": "overleftrightarrow",
}  # fmt: skip
"""Accents over a base."""

UNDER: Final[dict[str, str]] = {
    "_": "underline", "‾": "underline", "¯": "underline", "―": "underline", "⏟": "underbrace",
    "̲": "underline", "→": "underrightarrow", "←": "underleftarrow",
}  # fmt: skip
"""Accents under a base."""

LIMITS: Final = frozenset("∑∏∐∫∬∭∮⋃⋂⋁⋀⨁⨂⨀⨄⨆")
"""Large operators, whose scripts over and under are limits."""

CLOSING: Final[dict[str, str]] = {
    "(": ")", "[": "]", "{": "}", "⟨": "⟩", "〈": "〉", "⌊": "⌋", "⌈": "⌉",
}  # fmt: skip
"""Fences that come in pairs."""

BARS: Final = frozenset("|∣‖")
"""Fences with the same opening and closing sign; they can be paired only around a table."""

MATRICES: Final[dict[tuple[str, str], str]] = {
    ("(", ")"): "pmatrix", ("[", "]"): "bmatrix", ("{", "}"): "Bmatrix", ("|", "|"): "vmatrix",
    ("∣", "∣"): "vmatrix", ("‖", "‖"): "Vmatrix", ("{", ""): "cases",
}  # fmt: skip
"""Environments of a table by the fences around it."""

VARIANTS: Final[dict[str, str]] = {
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


def escaped(text: str) -> str:
    """Escape characters for LaTeX outside text."""
    if text.isalnum() and text.isascii():
        return text
    found = []
    for character in text:
        if character in COMMANDS:
            found.append(COMMANDS[character] + " ")
            continue
        plain = PLAIN.get(character)
        if plain is None and ord(character) > _BEYOND_LATIN and not COMMANDS.get(character):
            normal = unicodedata.normalize("NFKC", character)
            plain = COMMANDS.get(normal, normal)
        found.append(character if plain is None else plain)
    return "".join(found).strip()


def variant_of(character: str) -> str:
    """The `mathvariant` of a character by itself; empty if it has none or is italic."""
    if character in _LETTERLIKE:
        return _LETTERLIKE[character]
    code = ord(character)
    return next((name for first, last, name in _BLOCKS if first <= code <= last), "")
