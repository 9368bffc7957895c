"""The structure of MathML in LaTeX."""
# ruff: noqa: RUF001 - the signs themselves

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.normalize.tex import MAX_DEPTH, to_tex


def tex(html):
    node = LexborHTMLParser(f"<math>{html}</math>").css_first("math")
    assert node is not None
    return to_tex(node)


A, B, C = "<mi>a</mi>", "<mi>b</mi>", "<mi>c</mi>"
DRAWN_A, DRAWN_B = "<mjx-mi><mjx-c>a</mjx-c></mjx-mi>", "<mjx-mi><mjx-c>b</mjx-c></mjx-mi>"
TABLE = f"<mtable><mtr><mtd>{A}</mtd><mtd>{B}</mtd></mtr><mtr><mtd>{C}</mtd><mtd>{A}</mtd></mtr></mtable>"
ROWS = "a & b \\\\ c & a"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<mfrac>{A}{B}</mfrac>", "\\frac{a}{b}"),
        (f'<mfrac linethickness="0">{A}{B}</mfrac>', "\\genfrac{}{}{0pt}{}{a}{b}"),
        (f"<msup>{A}<mn>2</mn></msup>", "a^{2}"),
        (f"<msub>{A}{B}</msub>", "a_{b}"),
        (f"<msubsup>{A}{B}<mn>2</mn></msubsup>", "a_{b}^{2}"),
        (f"<msup><mrow>{A}<mo>+</mo>{B}</mrow><mn>2</mn></msup>", "{a + b}^{2}"),
        (f"<msup>{A}<mo>′</mo></msup>", "a^{\\prime}"),
        (f"<msqrt>{A}<mo>+</mo>{B}</msqrt>", "\\sqrt{a + b}"),
        (f"<mroot>{A}<mn>3</mn></mroot>", "\\sqrt[3]{a}"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover>", "\\sum_{i}^{n}"),
        ("<munder><mo>lim</mo><mi>n</mi></munder>", "\\lim_{n}"),
        (f"<mover>{A}<mo>→</mo></mover>", "\\vec{a}"),
        (f"<mover>{A}<mo>^</mo></mover>", "\\hat{a}"),
        (f"<mover>{A}{B}</mover>", "\\overset{b}{a}"),
        (f"<munder>{A}<mo>⏟</mo></munder>", "\\underbrace{a}"),
        (f"<munder>{A}{B}</munder>", "\\underset{b}{a}"),
        (f"<mrow><mo>(</mo>{A}<mo>,</mo>{B}<mo>)</mo></mrow>", "\\left(a , b\\right)"),
        (f"<mrow><mo>(</mo>{A}</mrow>", "( a"),
        (f"<mrow><mo>(</mo><mo>[</mo>{A}<mo>]</mo><mo>)</mo></mrow>", "\\left(\\left[a\\right]\\right)"),
        (f"<mo>(</mo>{TABLE}<mo>)</mo>", f"\\begin{{pmatrix}} {ROWS} \\end{{pmatrix}}"),
        (f"<mo>|</mo>{TABLE}<mo>|</mo>", f"\\begin{{vmatrix}} {ROWS} \\end{{vmatrix}}"),
        (f"<mo>{{</mo>{TABLE}", f"\\begin{{cases}} {ROWS} \\end{{cases}}"),
        (TABLE, f"\\begin{{aligned}}{ROWS}\\end{{aligned}}"),
        (f"<mtable><mlabeledtr><mtd><mtext>(1)</mtext></mtd><mtd>{A}</mtd></mlabeledtr></mtable>",
         "a \\tag{\\text{(1)}}"),
        (f"<mfenced>{A}{B}</mfenced>", "\\left(a , b\\right)"),
        (f'<mfenced open="[" close="]" separators=";">{A}{B}</mfenced>', "\\left[a ; b\\right]"),
        (f'<menclose notation="box">{A}</menclose>', "a"),
        (f"<mjx-msubsup>{DRAWN_A}<mjx-script>{DRAWN_B}{DRAWN_A}</mjx-script></mjx-msubsup>", "a_{a}^{b}"),
        ((f"<mjx-munderover><mjx-over>{DRAWN_B}</mjx-over><mjx-box><mjx-munder><mjx-base>{DRAWN_A}</mjx-base>"
         f"<mjx-under>{DRAWN_A}</mjx-under></mjx-munder></mjx-box></mjx-munderover>"), "a_{a}^{b}"),
        ((f"<mjx-msqrt><mjx-sqrt><mjx-surd><mjx-mo>√</mjx-mo></mjx-surd><mjx-box>{DRAWN_A}</mjx-box></mjx-sqrt>"
         "</mjx-msqrt>"), "\\sqrt{a}"),
        (f"<mmultiscripts>{A}{B}<none></none><mprescripts></mprescripts><mn>1</mn><mn>2</mn></mmultiscripts>",
         "{}_{1}^{2}a_{b}"),
        ("<mtext>if x is 50%</mtext>", "\\text{if x is 50\\%}"),
        (f'{A}<mspace width="1em"></mspace>{B}', "a \\quad b"),
        (f'{A}<mspace width="0.1em"></mspace>{B}', "a b"),
        (f"{A}<mphantom>{B}</mphantom>", "a"),
        (f'<mstyle mathcolor="red"><mpadded>{A}</mpadded></mstyle>', "a"),
        ("<mi>sin</mi><mo>\u2061</mo><mi>x</mi>", "\\sin x"),
        ("<mi>α</mi><mo>≤</mo><mi>Ω</mi>", "\\alpha \\leq \\Omega"),
        ("<mi>𝑥</mi><mi>𝐱</mi><mi>ℝ</mi>", "x \\mathbf{x} \\mathbb{R}"),
        ('<mi mathvariant="bold">v</mi><mi mathvariant="normal">d</mi>', "\\mathbf{v} \\mathrm{d}"),
        ("<mn>5</mn><mo>%</mo><mo>−</mo><mi>#</mi>", "5 \\% - \\#"),
        ("", ""),
        ("<mfrac></mfrac>", "\\frac{}{}"),
        ("words", ""),
    ],
)  # fmt: skip
def test_the_structure_of_mathml_is_written_in_latex(html, expected):
    assert tex(html) == expected


@pytest.mark.parametrize(
    "opening", ["<mrow>", "<msup>", "<mo>(</mo><mrow>", "<mfrac>", "<mfenced>"]
)
def test_deep_formulas_are_written_flat_from_some_depth_on(opening):
    assert "x" in tex(opening * 10 * MAX_DEPTH + "<mi>x</mi>")


def test_many_fences_that_never_close_cost_no_more_than_others():
    count = 10_000
    assert tex("<mo>(</mo>" * count).count("(") == count
