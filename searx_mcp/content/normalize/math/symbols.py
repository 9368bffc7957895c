"""What characters of mathematics are called in LaTeX."""
# ruff: noqa: RUF001 - the signs themselves

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
"""Commands of LaTeX and of amssymb, as KaTeX and MathJax both know them."""

PLAIN: Final[dict[str, str]] = {
    "−": "-", "–": "-", "∕": "/", "⁄": "/", "ˆ": "^", "˜": "~", "″": "''", "‴": "'''", "：": ":",
    "\u2061": "", "\u2062": "", "\u2063": "", "\u2064": "", "\u200b": "", "\u00a0": " ",
    "\\": "\\backslash", "{": "\\{", "}": "\\}", "$": "\\$", "%": "\\%", "&": "\\&", "#": "\\#",
    "_": "\\_", "~": "\\sim", "^": "\\hat{}",
}  # fmt: skip
"""Characters that TeX writes otherwise; the invisible operators of MathML are not written."""

_FUNCTION_NAMES: Final = (
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim liminf"
    " limsup ln log max min Pr sec sin sinh sup tan tanh"
)
FUNCTIONS: Final = frozenset(_FUNCTION_NAMES.split())
"""Names that LaTeX has as operators."""

ACCENTS: Final[dict[str, str]] = {
    "^": "hat", "ˆ": "hat", "~": "tilde", "˜": "tilde", "∼": "tilde", "¯": "bar", "‾": "overline",
    "_": "underline", "―": "overline", "→": "vec", "⃗": "vec", "˙": "dot", ".": "dot", "¨": "ddot",
    "⋅": "dot", "⃛": "dddot", "ˇ": "check", "˘": "breve", "`": "grave", "´": "acute", "˚": "mathring",
    "⏞": "overbrace", "⏜": "overparen", "←": "overleftarrow", "↔": "overleftrightarrow",
}  # fmt: skip
"""Over a base."""

UNDER: Final[dict[str, str]] = {
    "_": "underline", "‾": "underline", "¯": "underline", "―": "underline", "⏟": "underbrace",
    "̲": "underline", "→": "underrightarrow", "←": "underleftarrow",
}  # fmt: skip
"""Under a base."""

LIMITS: Final = frozenset("∑∏∐∫∬∭∮⋃⋂⋁⋀⨁⨂⨀⨄⨆")
"""Large operators: what stands over and under them are their limits."""

CLOSING: Final[dict[str, str]] = {
    "(": ")", "[": "]", "{": "}", "⟨": "⟩", "〈": "〉", "⌊": "⌋", "⌈": "⌉",
}  # fmt: skip
"""Fences that come in pairs."""

BARS: Final = frozenset("|∣‖")
"""Fences that open and close alike; only around a table are they told apart."""

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
"""Commands of `mathvariant` (MathML Core §3.2.1); `normal` only where italic would be the rule."""

_BLOCKS: Final[tuple[tuple[int, int, str], ...]] = (
    (0x1D400, 0x1D433, "bold"), (0x1D468, 0x1D49B, "bold-italic"), (0x1D49C, 0x1D503, "script"),
    (0x1D504, 0x1D537, "fraktur"), (0x1D538, 0x1D56B, "double-struck"), (0x1D56C, 0x1D59F, "fraktur"),
    (0x1D5A0, 0x1D66F, "sans-serif"), (0x1D670, 0x1D6A3, "monospace"), (0x1D6A8, 0x1D6E1, "bold"),
    (0x1D71C, 0x1D755, "bold-italic"), (0x1D7CE, 0x1D7D7, "bold"), (0x1D7D8, 0x1D7E1, "double-struck"),
)  # fmt: skip
"""Mathematical Alphanumeric Symbols (Unicode 16, block 1D400); what is not named is italic."""

_LETTERLIKE: Final[dict[str, str]] = {
    **dict.fromkeys("ℂℍℕℙℚℝℤ", "double-struck"), **dict.fromkeys("ℬℰℱℋℐℒℳℛ", "script"),
    **dict.fromkeys("ℭℌℨ", "fraktur"),
}  # fmt: skip


def variant_of(character: str) -> str:
    """The `mathvariant` that a character has by itself; empty if it has none or is italic."""
    if character in _LETTERLIKE:
        return _LETTERLIKE[character]
    code = ord(character)
    return next((name for first, last, name in _BLOCKS if first <= code <= last), "")
