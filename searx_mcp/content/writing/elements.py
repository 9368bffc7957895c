"""What each element means, between blocks, on a line, and in code."""

from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.writing import code, containers, inlines, lists, tables
from searx_mcp.content.writing.reading import Close, Handler, Handlers, Modes, Reading, skip


def _unseen(_reading: Reading, _node: LexborNode) -> Close:
    return skip


def _all(names: str, handler: Handler) -> dict[str | None, Handler]:
    return dict.fromkeys(names.split(), handler)


_UNSEEN: Final = _all(
    "script style template noscript head svg iframe object embed applet canvas audio video select"
    " textarea datalist input meta link title map area rp annotation annotation-xml noembed noframes"
    " param track col colgroup",
    _unseen,
)
"""Never text of the page; what a page merely does not show is taken out before."""

_HEADINGS: Final = "h1 h2 h3 h4 h5 h6"
_CODE_BLOCKS: Final = "pre listing xmp plaintext"
_BLOCKS: Final = (
    "address article aside body center details dialog div fieldset footer form header"
    " hgroup html legend main nav optgroup option p search section tbody tfoot thead x-notes"
)

_INLINES: Final[Handlers] = {
    **_UNSEEN,
    **_all("b strong", inlines.strong),
    **_all("i em var dfn", inlines.emphasis),
    **_all("del s strike", inlines.struck),
    **_all("code kbd samp tt", inlines.code),
    "a": inlines.open_link,
    "span": inlines.beside,
    **_all("time label", inlines.apart),
    "img": inlines.open_image,
    "q": inlines.open_quotation,
    "sup": inlines.open_raised,
    "sub": inlines.open_lowered,
    "rt": inlines.open_reading_aid,
    "x-reference": inlines.reference,
    "x-task": inlines.task,
}
"""Other elements in a sentence are their text: <mark>, <ins>, <u>, <small>, <abbr>, <cite>."""


def _apart(_reading: Reading, _node: LexborNode) -> Close:
    _reading.space()
    return Reading.space


_ON_LINE: Final[Handlers] = {
    **_INLINES,
    **_all(_BLOCKS, _apart),
    "figcaption": _apart,
    **_all("ul ol menu dir li dl dt dd blockquote figure table tr td th caption summary", _apart),
    **_all("x-callout x-note", _apart),
    **_all("br hr", inlines.line_space),
    **_all(_CODE_BLOCKS, code.line_code),
    **_all(_HEADINGS, containers.heading),
    "x-math": inlines.line_formula,
}

_BETWEEN_BLOCKS: Final[Handlers] = {
    **_INLINES,
    **_all(_BLOCKS, containers.block),
    **_all(_HEADINGS, containers.heading),
    **_all(_CODE_BLOCKS, code.code_block),
    **_all("ul ol menu dir", lists.open_list),
    "li": lists.item,
    "dl": lists.terms,
    "dt": lists.term,
    "dd": lists.definition,
    "blockquote": containers.quote,
    "figure": containers.figure,
    "figcaption": containers.caption,
    "summary": containers.summary,
    "hr": containers.rule,
    "br": inlines.line_break,
    "table": tables.table,
    "caption": tables.caption,
    "tr": tables.row,
    **_all("td th", tables.cell),
    "x-math": inlines.formula,
    "x-callout": containers.callout,
    "x-note": containers.note,
}

MODES: Final = Modes(
    blocks=_BETWEEN_BLOCKS,
    line=_ON_LINE,
    code={**_UNSEEN, **code.LINE_BREAKS_IN_CODE},
)
