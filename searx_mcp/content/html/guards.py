"""Linear guards in front of the HTML parser.

lexbor follows the HTML specification, and the specification is quadratic in places: a small page
can cost minutes. What is measured here was measured with selectolax 1.0.2 on one core.

The nesting seen here is nominal: it approximates the tree builder closely enough for pages as they
are found and for the usual attacks. A page written against this file, with closing tags that the
tree builder ignores, can still nest deeper: the caller's deadline is the second line.
"""

import re
from collections import Counter

MAX_DEPTH = 512
"""Elements inside each other. 100,000 nested <div> cost the parser 8 s, 20,000 cost 0.5 s, 512 less
than 1 ms."""

MAX_ATTRIBUTES = 256
"""Attributes of a tag longer than `_LONG_TAG`. The parser compares every name with all names before
it: 100,000 attributes cost 9 to 14 s, 20,000 cost 0.7 s."""

MAX_FORMATTING = 16
"""Unclosed formatting tags. The tree builder opens them again in every later block: 33 kB of
`<div><b id=n>x</div>` with 1,500 different ids took up to 0.9 s and 400 MB."""

_LONG_TAG = 4_096
"""Characters; a shorter tag cannot hold enough attributes to matter."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_ATTRIBUTE = re.compile(
    r"[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"
    r"(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?:\"[^\"]*+\"|'[^']*+'|[^ \t\n\f\r>\"'][^ \t\n\f\r>]*+|(?=>)))?+"
)
_TAG = re.compile(
    rf"<(?:!--|(/?)([a-zA-Z][^ \t\n\f\r/>]*+)(?:[ \t\n\f\r/]*+{_ATTRIBUTE.pattern})*+[ \t\n\f\r/]*+(>)?+)"
)
"""A whole tag as the tokenizer reads it (HTML §13.2.5): `>` inside quotes does not end it. Or one that
the page ends in, or the beginning of a comment."""

_RAW_TEXT = {
    name: re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
}
"""Elements whose content is text up to their own closing tag (HTML §13.2.5.1)."""

_SVG = re.compile(r"<(/?)svg(?=[ \t\n\f\r/>])", re.IGNORECASE)

_VOID = frozenset({
    "area", "base", "basefont", "bgsound", "body", "br", "col", "embed", "frame", "head", "hr",
    "html", "img", "input", "keygen", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
"""Elements that hold nothing (HTML §13.1.2), and those of which a page has only one."""

_FORMATTING = frozenset({
    "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
})  # fmt: skip
"""HTML §13.2.4.3, without <a>, which closes the <a> before it."""

_CELLS = frozenset({"td", "th"})
_ROWS = _CELLS | {"tr"}
_SECTIONS = _ROWS | {"thead", "tbody", "tfoot", "caption", "colgroup"}
_CLOSED_BY = {
    "p": frozenset({"p"}),
    "li": frozenset({"li", "p"}),
    "dt": frozenset({"dt", "dd", "p"}),
    "dd": frozenset({"dt", "dd", "p"}),
    "option": frozenset({"option"}),
    "optgroup": frozenset({"option", "optgroup"}),
    "td": _CELLS | {"p"},
    "th": _CELLS | {"p"},
    "tr": _ROWS | {"p"},
    "thead": _SECTIONS,
    "tbody": _SECTIONS,
    "tfoot": _SECTIONS,
}
"""What an opening tag closes if it is innermost (HTML §13.1.2.4, optional tags): a thousand <li>
without </li> are no nesting."""

_SPECIAL = _VOID.union(_RAW_TEXT, _FORMATTING, _CLOSED_BY, ["svg"])
"""Elements of which an opening tag does something else than to nest."""

_REACH = 32
"""How many elements a closing tag may close at most; keeps the scan linear."""


def guard(html: str) -> str:
    """Make HTML safe to parse: no NUL, no surrogates, bounded tags, bounded nesting.

    Linear in the length. Only markup is dropped, never text, except that <svg> goes whole: its
    rules for closing are not HTML's, and it is never shown.

    Args:
        html: the decoded page.

    Returns:
        The page; the same string if nothing had to change.
    """
    return _Scan(_without_hidden(html)).run()


def _without_hidden(html: str) -> str:
    """Drop NUL, which parsers disagree about, and surrogates, which have no UTF-8 form."""
    try:
        html.encode()
    except UnicodeEncodeError:
        html = _SURROGATES.sub("", html)
    return html.replace("\0", "")


class _Scan:
    """One pass over the tags of a page, keeping account of what is open."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._pieces: list[str] = []
        self._copied = 0
        self._open: list[str] = []
        self._formatting: Counter[str] = Counter()
        self._svg_closes = True

    def run(self) -> str:
        position: int | None = 0
        while position is not None:
            position = self._pass(position)
        if not self._pieces:
            return self._html
        return "".join([*self._pieces, self._html[self._copied :]])

    def _pass(self, position: int) -> int | None:
        """Look at tags up to one behind which there is something else than tags and text.

        Written for speed: a page has thousands of tags, most of which are done here.

        Args:
            position: where to begin.

        Returns:
            Where to go on, or `None` at the end of the page.
        """
        opened = self._open
        for tag in _TAG.finditer(self._html, position):
            is_closing, name, end = tag.groups()
            if end is None:
                return self._cut(tag)
            name = name.lower() if name.isascii() else name
            if is_closing:
                if opened and opened[-1] == name:
                    opened.pop()
                else:
                    self._close(name)
                continue
            if name in _SPECIAL or tag.end() - tag.start() > _LONG_TAG:
                if (after := self._special(tag, name)) is not None:
                    return after
            elif len(opened) < MAX_DEPTH:
                opened.append(name)
            else:
                self._replace(tag)
        return None

    def _replace(self, tag: re.Match[str], text: str = "", *, end: int = 0) -> int:
        """Put a text in the place of a tag, or of everything up to `end`; gives that."""
        end = end or tag.end()
        self._pieces += (self._html[self._copied : tag.start()], text)
        self._copied = end
        return end

    def _cut(self, tag: re.Match[str]) -> int:
        """Go past a comment; a tag without an end is dropped by the tokenizer, and so it is here."""
        if tag[2] is not None:
            return self._replace(tag, end=len(self._html))
        # From the second dash pair on: `<!-->` is a whole comment (HTML §13.2.5.43).
        end = self._html.find("-->", tag.start() + 2)
        return len(self._html) if end < 0 else end + 3

    def _special(self, tag: re.Match[str], name: str) -> int | None:
        """Look at an opening tag that is long, or not just nested; where to go on if not behind it."""
        if name == "svg":
            return self._replace(tag, end=self._end_of_svg(tag.end()))
        if not self._may_open(name):
            self._replace(tag)
            return None
        if tag.end() - tag.start() > _LONG_TAG and len(_ATTRIBUTE.findall(tag[0])) > MAX_ATTRIBUTES:
            self._replace(tag, f"<{tag[2]}>")
        if name in _RAW_TEXT:
            close = _RAW_TEXT[name].search(self._html, tag.end())
            return len(self._html) if close is None else close.start()
        return None

    def _may_open(self, name: str) -> bool:
        """Whether the tag stays; if it does, it is open from here on."""
        if name in _VOID or name in _RAW_TEXT:
            return True
        if name in _FORMATTING:
            if self._formatting.total() >= MAX_FORMATTING:
                return False
            self._formatting[name] += 1
            return True
        closes = _CLOSED_BY.get(name, frozenset())
        while self._open and self._open[-1] in closes:
            self._open.pop()
        if len(self._open) >= MAX_DEPTH:
            return False
        self._open.append(name)
        return True

    def _close(self, name: str) -> None:
        if name in _FORMATTING:
            if self._formatting[name] > 0:
                self._formatting[name] -= 1
            return
        for reach in range(1, min(_REACH, len(self._open)) + 1):
            if self._open[-reach] == name:
                del self._open[-reach:]
                return

    def _end_of_svg(self, position: int) -> int:
        """Where the <svg> whose tag ends at `position` ends; only the tag, if it never does."""
        depth = 1
        for edge in _SVG.finditer(self._html, position) if self._svg_closes else ():
            depth += -1 if edge[1] else 1
            if depth == 0:
                end = self._html.find(">", edge.end())
                return len(self._html) if end < 0 else end + 1
        # Not looked for again: a page of unclosed <svg> would cost a scan for each.
        self._svg_closes = False
        return position
