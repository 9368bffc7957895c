"""Formulas, however pages write them, as their LaTeX source.

KaTeX, MathJax, MathML and wikis show a drawing with its source next to it, mostly hidden. The source is put into
the element around both, so that a style that hides that element hides the source, too: hidden text is never made
visible. Elsewhere the source is the alternative text of an image, in the address that draws it, or in the text, for
a script to draw.
"""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote_plus

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.guards import guard, parse
from searx_mcp.content.normalize.tex import MAX_TEX, agrees, cleaned, is_tex, to_tex
from searx_mcp.content.tree import (
    MATH,
    Dialect,
    Removals,
    ancestors,
    carry,
    classes,
    empty,
    has_text,
    is_alone,
    is_attached,
    is_blank,
    new,
    put_in_place,
)

_STATED: Final = ("data-math", "data-latex", "data-tex", "data-entry", "data-expr", "data-formula")
_STATING: Final = ",".join(f"[{name}]" for name in _STATED)
_FORMULAS: Final = ".katex,.MathJax,mjx-container,math,.temml,.math-rendered"
_DISPLAY: Final = re.compile(r"display|block|equation")
_SOURCE: Final = 'annotation[encoding="application/x-tex"],annotation[encoding="TeX"]'
_DRAWN: Final = frozenset({
    "mathjax", "mathjax_display", "mathjax_preview", "mathjax_svg", "mathjax_svg_display",
    "mathjax_chtml", "mathjax_mhchem", "mjx-chtml", "mjxc-display", "mathjax_error",
})  # fmt: skip
"""What MathJax 2 puts before the script with the source."""

_MAX_FORMULAS: Final = 20_000

_MARKED: Final = frozenset({"latex", "tex", "ql-img-inline-formula", "ql-img-displayed-equation"})
_PARAMETER = re.compile(r"[?&](?:latex|tex|chl|eq|equation|formula|math|f)=([^&#]*)", re.IGNORECASE)
_PREFIX = re.compile(
    r"\A(?:\\(?:dpi|bg_[a-z]+|fn_[a-z]+|inline|large|Large|small|huge)\b(?:\{\w*\})?\s*)+"
)
"""Commands that set the size and colours in a drawing service."""

_BLOCKS: Final = frozenset({"p", "div", "dd", "figure", "center", "td"})

_TYPED = re.compile(
    r"\\\((?P<inline>(?:[^\\]|\\(?![()\[\]])){1,500}+)\\\)"
    r"|\\\[(?P<block>(?:[^\\]|\\(?![()\[\]])){1,2000}+)\\\]"
)
_AS_WRITTEN: Final = frozenset({"script", "style", "textarea", "pre", "code", "noscript", MATH})
"""Elements that these scripts ignore."""

_WRAPPERS: Final = frozenset({"span", "math", "mjx-container", "mjx-assistive-mml", "nobr"})
_LAYOUTS: Final = 'table[class*="equation" i],table[class*="eqn" i],table[class*="formula" i],table[class*="align" i]'
_NUMBER = re.compile(r"\(?\s*([A-Za-z]?[\d.]{1,8}[a-z]?)\s*\)?|")
_MAX_ROWS: Final = 500


def _normalize_formulas(tree: LexborHTMLParser, _: Removals) -> None:
    """Make the source of each formula the only content of the element that shows it."""
    for selector, rewrite in _DIALECTS:
        for node in filter(is_attached, tree.css(selector)[:_MAX_FORMULAS]):
            rewrite(tree, node)


FORMULAS: Final = Dialect(
    {
        "math": "",
        "mjx-container": "",
        "span": ":is(.katex,.MathJax,.math-rendered)",
        "script": '[type^="math/"]',
    },
    _normalize_formulas,
)


def _source_of(formula: LexborNode) -> str:
    """The LaTeX of a `math`: its annotation if the formula shows the same, else its structure."""
    annotation = formula.css_first(_SOURCE)
    notes = {note.mem_id for note in formula.css("annotation,annotation-xml")}
    seen = _text_without(formula, notes) if notes else formula.text()
    said = annotation.text() if annotation is not None else ""
    for text in (said, formula.attributes.get("alttext") or ""):
        if text.strip() and agrees(text, seen):
            return text
    return to_tex(formula)


def _text_without(node: LexborNode, left_out: set[int]) -> str:
    parts = []
    for part in node.traverse(include_text=True):
        parent = part.parent
        if part.is_text_node and (parent is None or parent.mem_id not in left_out):
            parts.append(part.text_content or "")
    return "".join(parts)


def _put(tree: LexborHTMLParser, place: LexborNode, tex: str, *, is_block: bool) -> None:
    """Make the source the only content of an element."""
    tex = cleaned(tex, is_block=is_block)
    if tex:
        empty(place)
        place.insert_child(_formula(tree, tex, is_block=is_block), move=True)


def _formula(tree: LexborHTMLParser, tex: str, *, is_block: bool) -> LexborNode:
    return new(tree, MATH, tex, **({"display": "block"} if is_block else {}))


def _is_block(formula: LexborNode) -> bool:
    attributes = formula.attributes
    return attributes.get("display") == "block" or attributes.get("mode") == "display"


def _of_script(tree: LexborHTMLParser, script: LexborNode) -> None:
    """MathJax 2: the script is the source, its drawing is before it."""
    kind = (script.attributes.get("type") or "").lower()
    text = script.text()
    if kind.startswith("math/mml"):
        formula = parse(guard(text[:200_000])).css_first("math")
        text = _source_of(formula) if formula is not None else ""
    elif not kind.startswith("math/tex"):
        return
    is_block = "mode=display" in kind.replace(" ", "")
    tex = cleaned(text, is_block=is_block)
    if not tex:
        return
    before = script.prev
    for _ in range(6):
        if before is None:
            break
        node, before = before, before.prev
        if is_blank(node):
            continue
        if not node.is_element_node or _DRAWN.isdisjoint(classes(node)):
            break
        node.decompose()
    put_in_place(script, _formula(tree, tex, is_block=is_block))


def _of_wiki(tree: LexborHTMLParser, wrapper: LexborNode) -> None:
    """MediaWiki: hidden MathML, and an image with the source as its alternative text."""
    formula, image = wrapper.css_first("math"), wrapper.css_first("img[alt]")
    is_block = (formula is not None and _is_block(formula)) or (
        image is not None and any("display" in word for word in classes(image))
    )
    if image is not None:
        tex = image.attributes.get("alt") or (_source_of(formula) if formula is not None else "")
        _put(tree, wrapper, tex, is_block=is_block)
    elif formula is not None:
        _put(tree, formula, _source_of(formula), is_block=is_block)


def _of_attribute(tree: LexborHTMLParser, wrapper: LexborNode) -> None:
    """The source in an attribute of an element that contains only the drawing."""
    if (wrapper.tag or "").startswith("mjx-") or wrapper.tag == "math":
        return
    drawing = wrapper.css_first(_FORMULAS)
    attributes = wrapper.attributes
    tex = next(filter(None, (attributes.get(name) for name in _STATED)), "")
    if drawing is None or not tex or len(wrapper.css(".katex,mjx-container")) > 1:
        return
    if any((around.tag or "").startswith("mjx-") for around in ancestors(wrapper, 2)):
        return
    if agrees(tex, wrapper.text()):
        named = f"{attributes.get('class') or ''} {drawing.attributes.get('class') or ''}".lower()
        is_block = _is_block(drawing) or _DISPLAY.search(named) is not None
        _put(tree, wrapper, tex, is_block=is_block)


def _of_katex(tree: LexborHTMLParser, wrapper: LexborNode) -> None:
    """KaTeX: MathML next to the drawing."""
    formula = wrapper.css_first("math")
    if formula is None:
        return
    is_block = "katex-display" in classes(wrapper) or _is_block(formula)
    drawn = wrapper.css_first(".katex-html")
    seen = drawn.text() if drawn is not None else ""
    tex = _source_of(formula)
    if not seen.strip():
        # Only the MathML: a style that hides it hides its source.
        _put(tree, formula, tex, is_block=is_block)
    elif agrees(tex, seen):
        _put(tree, wrapper, tex, is_block=is_block)


def _of_mathjax(tree: LexborHTMLParser, container: LexborNode) -> None:
    """MathJax 3 and 4: a drawing in special elements or in SVG, mostly with MathML next to it."""
    if container.css_first("div,p") is not None:
        return  # never closed: it contains the rest of the page, with everything hidden in that
    formula = container.css_first("math")
    if formula is not None:
        # Drawings in SVG may already have been removed as such.
        is_seen = container.attributes.get("jax") == "SVG" or (
            container.css_first("svg,mjx-math > *") is not None
        )
        place, tex = container if is_seen else formula, _source_of(formula)
    else:
        drawn = container.css_first("mjx-math") or container
        stated = drawn.attributes.get("data-latex") or ""
        place, tex = container, stated if agrees(stated, container.text()) else ""
        tex = tex or to_tex(drawn)
    is_block = container.attributes.get("display") in {"true", "block"}
    _put(tree, place, tex, is_block=is_block or (formula is not None and _is_block(formula)))


def _of_mathml(tree: LexborHTMLParser, formula: LexborNode) -> None:
    """MathML outside the elements above."""
    is_done = any(around.tag == MATH for around in ancestors(formula, 2))
    if not is_done and formula.css_first(MATH) is None:
        _put(tree, formula, _source_of(formula), is_block=_is_block(formula))


_DIALECTS: Final[tuple[tuple[str, Callable[[LexborHTMLParser, LexborNode], None]], ...]] = (
    ('script[type^="math/"]', _of_script),
    (".mwe-math-element", _of_wiki),
    (_STATING, _of_attribute),
    (".katex-display", _of_katex),
    (".katex", _of_katex),
    ("mjx-container", _of_mathjax),
    ("math", _of_mathml),
)
"""Elements with their readers; an element comes before those inside it."""


def _normalize_images(tree: LexborHTMLParser, _: Removals) -> None:
    """Replace every image of a formula by its source; one alone in its line is a block."""
    for image in tree.css(FORMULA_IMAGES.selector)[:_MAX_FORMULAS]:
        if tex := _source_of_image(image):
            is_block = _stands_alone(image)
            formula = _formula(tree, cleaned(tex, is_block=is_block), is_block=is_block)
            carry(image, formula)
            put_in_place(image, formula)


FORMULA_IMAGES: Final = Dialect(
    {
        "img": ':is([alt*="\\\\"],[alt*="_{"],[alt*="^{"],[src*="%5C"],[src*="%5c"],'
        '.latex,.tex,[class*="mwe-math"])'
    },
    _normalize_images,
)


def _source_of_image(image: LexborNode) -> str:
    attributes = image.attributes
    alt = (attributes.get("alt") or "").strip()
    words = classes(image)
    is_marked = not _MARKED.isdisjoint(words) or any("mwe-math" in word for word in words)
    if alt and len(alt) <= MAX_TEX and (is_marked or is_tex(alt)):
        return alt
    return _of_address(attributes.get("src") or "")


def _of_address(address: str) -> str:
    """The source in an address: a parameter, the whole query, or the last part of the path."""
    if len(address) > 3 * MAX_TEX or address.startswith("data:"):
        return ""
    if match := _PARAMETER.search(address):
        candidate = match[1]
    else:
        path, _, query = address.partition("?")
        candidate = query or path.rpartition("/")[2]
    text = _PREFIX.sub("", unquote_plus(candidate)).strip()
    return text if is_tex(text) else ""


def _stands_alone(image: LexborNode) -> bool:
    if any("display" in word for word in classes(image)):
        return True
    node = image
    for around in ancestors(image, 3):
        if not is_alone(node):
            return False
        if around.tag in _BLOCKS:
            return around.tag != "td"
        node = around
    return False


def _normalize_typed(tree: LexborHTMLParser, _: Removals) -> None:
    r"""Convert `\(x\)` and `\[x\]` to formulas; dollar signs are already Markdown."""
    if tree.body is None:
        return
    texts = [
        node
        for node in tree.body.traverse(include_text=True)
        if node.is_text_node and _TYPED.search(node.text_content or "")
    ]
    for text in texts[:_MAX_FORMULAS]:
        if not any(node.tag in _AS_WRITTEN for node in ancestors(text, 3)):
            _rewrite_text(tree, text)


TYPED_FORMULAS: Final = Dialect(
    {"script": ':is([src*="mathjax" i],[src*="katex" i])'}, _normalize_typed
)
"""Recognised by the scripts that draw them: otherwise brackets with backslashes may be a regular expression."""


def _rewrite_text(tree: LexborHTMLParser, node: LexborNode) -> None:
    text = node.text_content or ""
    end = 0
    for found in _TYPED.finditer(text):
        is_block = found["block"] is not None
        tex = cleaned(found["block"] if is_block else found["inline"], is_block=is_block)
        if not tex:
            continue
        if before := text[end : found.start()]:
            node.insert_before(before)
        node.insert_before(_formula(tree, tex, is_block=is_block), move=True)
        end = found.end()
    if end:
        if rest := text[end:]:
            node.insert_before(rest)
        node.decompose()


def _settle_formulas(tree: LexborHTMLParser, _: Removals) -> None:
    """Replace the elements that formulas were put into, after hidden elements are removed."""
    for formula in tree.css(MATH):
        if not has_text(formula):
            formula.decompose()
            continue
        for name in formula.attributes.keys() - {"display"}:
            del formula.attrs[name]
        while (parent := formula.parent) is not None and parent.tag in _WRAPPERS:
            if not is_alone(formula):
                break
            parent.unwrap()
    for table in tree.css(_LAYOUTS):
        if is_attached(table) and table.css_first(MATH) is not None:
            _untable(tree, table)


DRAWN_FORMULAS: Final = Dialect({MATH: ""}, _settle_formulas)


def _untable(tree: LexborHTMLParser, table: LexborNode) -> None:
    """Write each row of a table that contains only formulas and their numbers as one formula."""
    rows = table.css("tr")
    if not rows or len(rows) > _MAX_ROWS or len(table.css("table")) > 1:
        return
    written = []
    for row in rows:
        formulas = [formula.text() for formula in row.css(MATH)]
        number = _NUMBER.fullmatch(_beside(row))
        if number is None:
            return
        if formulas:
            tag = f" \\tag{{{number[1]}}}" if number[1] and "\\tag" not in formulas[-1] else ""
            written.append(" ".join(formulas) + tag)
    for tex in written:
        table.insert_before(_formula(tree, tex, is_block=True), move=True)
    table.decompose()


def _beside(row: LexborNode) -> str:
    """The text of a row outside formulas."""
    parts = [
        part.text_content or ""
        for part in row.traverse(include_text=True)
        if part.is_text_node and not any(around.tag == MATH for around in ancestors(part, 1))
    ]
    return " ".join("".join(parts).split())
