"""Elements of HTML by what the tree builder does with their tags (HTML §13.2.6)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

RAW_TEXT: Final = (
    "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes",
)  # fmt: skip
"""Elements whose content is text up to their own closing tag (§13.2.5.1)."""

SINGLE: Final = ("html", "body", "frameset")
"""Elements of which a page has one, or few: the attributes of further tags are put on the first."""

VOID_IN_HTML: Final = frozenset({
    "area", "base", "basefont", "bgsound", "col", "frame", "head", "image", "input", "keygen",
    "link", "param", "source", "track", "wbr",
})  # fmt: skip
"""Elements that hold nothing (§13.1.2), but elements like others in MathML; and those that a page has
before its body, or in its place."""

VOID: Final = VOID_IN_HTML | {"br", "embed", "hr", "img", "meta"}
"""Elements that hold nothing."""

FORMATTING: Final = frozenset({
    "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
})  # fmt: skip
"""§13.2.4.3, without <a>, which closes the <a> before it."""

STRANGE: Final = frozenset({"math", "select"})
"""Elements inside of which other rules hold."""

BARRIERS: Final = STRANGE | {
    "applet", "caption", "marquee", "object", "table", "td", "template", "th",
    "annotation-xml", "mi", "mn", "mo", "ms", "mtext",
}  # fmt: skip
"""Elements that a closing tag does not reach through (§13.2.4.2 and 3)."""

BLOCKS: Final = frozenset({
    "address", "article", "aside", "blockquote", "button", "center", "dd", "details", "dialog", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hgroup", "li", "listing", "main", "menu", "nav", "ol", "p", "pre", "search", "section",
    "summary", "ul",
})  # fmt: skip
"""Elements that begin a line, and may close a <p>, an item or others of their kind."""

SPECIAL: Final = (
    BLOCKS.difference(["dialog"])
    | BARRIERS.difference(["math"])
    | {"form", "noscript", "plaintext", "tbody", "tfoot", "thead", "tr"}
)
"""Elements that a closing tag of any other element does not reach through (§13.2.4.2)."""

ALONE: Final = frozenset({"a", "form"})
"""Elements whose closing tag leaves open what is open inside; formatting is of that kind, too."""

_IN_TABLES: Final = frozenset({
    "caption", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
})  # fmt: skip

REACHING: Final = (
    BLOCKS.difference(["p"]) | _IN_TABLES | {"applet", "marquee", "object", "select", "template"}
)
"""Elements whose closing tag closes all that is open inside. A block inside of a <p> has closed that."""

UNCERTAIN: Final = _IN_TABLES | STRANGE | VOID_IN_HTML
"""Elements that may not be there although their tag is, or be closed by what was opened inside."""

_CELLS = frozenset({"td", "th"})
_ROWS = _CELLS | {"tr"}
_SECTIONS = _ROWS | {"thead", "tbody", "tfoot", "caption", "colgroup"}

CLOSED_BY: Final[Mapping[str, frozenset[str]]] = MappingProxyType({
    "p": frozenset({"p"}),
    "li": frozenset({"li", "p"}),
    "dt": frozenset({"dt", "dd", "p"}),
    "dd": frozenset({"dt", "dd", "p"}),
    "option": frozenset({"option"}),
    "optgroup": frozenset({"option"}),
    "td": _CELLS | {"p"},
    "th": _CELLS | {"p"},
    "tr": _ROWS | {"p"},
    "thead": _SECTIONS,
    "tbody": _SECTIONS,
    "tfoot": _SECTIONS,
})  # fmt: skip
"""What an opening tag closes if it is innermost (§13.1.2.4, optional tags): a thousand <li> without
</li> are no nesting."""
