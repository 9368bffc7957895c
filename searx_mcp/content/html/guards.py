"""Linear guards in front of the HTML parser, which is called nowhere else.

lexbor follows the HTML specification, which is quadratic in places: a small page can cost minutes and
gigabytes. All figures here were measured with selectolax 1.0.2 on one core.

Tags are read as the tokenizer reads them, and the list of open elements follows the tree builder where a
closing tag certainly closes its element. Where that is not certain, an element counts as never closed: a few of
those stay, the others lose their tags. So a page written to defeat these guards cannot nest deeper, or reopen
formatting more often, than the limits below.
"""

import re
from collections.abc import Mapping
from itertools import islice
from types import MappingProxyType
from typing import Final, NewType

from selectolax.lexbor import LexborHTMLParser

_RAW_TEXT: Final = (
    "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes",
)  # fmt: skip
"""Elements whose content is text up to their closing tag (§13.2.5.1)."""

_SINGLE: Final = ("html", "body", "frameset")
"""Elements that a page has once or a few times: the attributes of further tags are added to the first."""

_VOID_IN_HTML: Final = frozenset({
    "area", "base", "basefont", "bgsound", "col", "frame", "head", "image", "input", "keygen",
    "link", "param", "source", "track", "wbr",
})  # fmt: skip
"""Void elements (§13.1.2) that are normal elements in MathML; and elements that a page has before its body, or
instead of it."""

_VOID: Final = _VOID_IN_HTML | {"br", "embed", "hr", "img", "meta"}
"""Void elements."""

_FORMATTING: Final = frozenset({
    "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u",
})  # fmt: skip
"""§13.2.4.3, without <a>, which closes the <a> before it."""

_STRANGE: Final = frozenset({"math", "select"})
"""Elements with special parsing rules inside."""

_BARRIERS: Final = _STRANGE | {
    "applet", "caption", "marquee", "object", "table", "td", "template", "th",
    "annotation-xml", "mi", "mn", "mo", "ms", "mtext",
}  # fmt: skip
"""Scopes that a closing tag does not cross (§13.2.4.2 and 3)."""

_BLOCKS: Final = frozenset({
    "address", "article", "aside", "blockquote", "button", "center", "dd", "details", "dialog", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hgroup", "li", "listing", "main", "menu", "nav", "ol", "p", "pre", "search", "section",
    "summary", "ul",
})  # fmt: skip
"""Elements that begin a line, and may close a <p>, an item or others of their kind."""

_SPECIAL: Final = (
    _BLOCKS.difference(["dialog"])
    | _BARRIERS.difference(["math"])
    | {"form", "noscript", "plaintext", "tbody", "tfoot", "thead", "tr"}
)
"""Scopes that a closing tag of any other element does not cross (§13.2.4.2)."""

_ALONE: Final = frozenset({"a", "form"})
"""Elements whose closing tag leaves their open descendants open; formatting is like that, too."""

_IN_TABLES: Final = frozenset({
    "caption", "colgroup", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
})  # fmt: skip

_REACHING: Final = (
    _BLOCKS.difference(["p"]) | _IN_TABLES | {"applet", "marquee", "object", "select", "template"}
)
"""Elements whose closing tag closes all open descendants. A block inside a <p> has already closed the <p>."""

_UNCERTAIN: Final = _IN_TABLES | _STRANGE | _VOID_IN_HTML
"""Elements that may be missing although their tag is there, or be closed by a tag that was opened inside."""

_CELLS = frozenset({"td", "th"})
_ROWS = _CELLS | {"tr"}
_SECTIONS = _ROWS | {"thead", "tbody", "tfoot", "caption", "colgroup"}

_CLOSED_BY: Final[Mapping[str, frozenset[str]]] = MappingProxyType({
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
"""What an opening tag closes if it is innermost (§13.1.2.4, optional tags): a thousand <li> without </li>
are not nested."""

MAX_TAGS: Final = 75_000
"""`<` characters that are read; the page is cut there. As many elements with text take 30 MB, and one query for a
selector takes 25 ms, in which no other thread runs. The largest of 1,497 real pages has 21,646 tags."""

MAX_DEPTH: Final = 512
"""Nested elements. 100,000 nested <div> cost the parser 8 s, 20,000 cost 0.5 s, 512 less than 1 ms."""

MAX_DOUBTFUL: Final = 1_000
"""Elements whose end is uncertain; each may add to the depth. 30,000 closing tags that close nothing cost
0.09 s inside 1,000 elements, 0.4 s inside 5,000."""

MAX_ATTRIBUTES: Final = 128
"""Attributes of a tag longer than `_LONG_TAG`. The parser compares every name with all names before it:
100,000 attributes cost 9 to 14 s, 20,000 cost 0.7 s; 4,500 tags of 128 cost 0.17 s."""

MAX_FORMATTING: Final = 16
"""Open formatting tags. The tree builder reopens them in every later block: 33 kB of `<div><b id=n>x</div>` with
1,500 different ids took up to 0.9 s and 400 MB."""

MAX_LOOSE: Final = 8
"""How many of these may be tags whose end is uncertain: they count until the end of the page."""

_MAX_REPEATED: Final = 8
"""Tags <html> and <body>: all their attributes are added to one element."""

_LONG_TAG: Final = 512
"""Characters; a shorter tag has at most about 170 attributes."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_ATTRIBUTE = re.compile(
    r"[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"
    r"(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?:\"[^\"]*+\"|'[^']*+'|[^ \t\n\f\r>\"'][^ \t\n\f\r>]*+|(?=>)))?+"
)
_TAG = re.compile(
    rf"<(?:!|\?|/(?=[^a-zA-Z>])|(/?)([a-zA-Z][^ \t\n\f\r/>]*+)(?:[ \t\n\f\r/]*+{_ATTRIBUTE.pattern})*+"
    r"[ \t\n\f\r/]*+(>)?+)"
)
"""A whole tag, like the tokenizer reads it (HTML §13.2.5): `>` inside quotes does not end it. Or a tag that is
cut by the end of the page, or the beginning of a comment, which has many forms."""

_END_OF_COMMENT = re.compile(r"--!?>")
_CDATA: Final = "<![CDATA["
_END_OF_RAW_TEXT: Final = {
    name: re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE) for name in _RAW_TEXT
}
_SCRIPT = re.compile(r"<script(?=[ \t\n\f\r/>])", re.IGNORECASE)
_SVG = re.compile(r"<(/?)svg(?=[ \t\n\f\r/>])", re.IGNORECASE)

_REPLACED: Final = frozenset(_CLOSED_BY).difference(["option", "optgroup"])
"""Elements that never pile up: the next of the kind closes the one left open."""

_OTHERWISE: Final = _VOID | _FORMATTING | _BARRIERS | {*_CLOSED_BY, *_RAW_TEXT, *_SINGLE, "svg"}
"""Elements whose opening tag does more than nest."""

_REACH: Final = 32
"""Most elements that a closing tag may close; keeps the scan linear."""


Guarded = NewType("Guarded", str)
"""HTML that is safe to parse."""


_Open = tuple[str, re.Match[str], int]
"""An open element: its name in lower case, its tag, and how many blocks had been opened by then, including
itself; for a formatting tag, how many barriers."""


def parse(html: Guarded) -> LexborHTMLParser:
    """Parse HTML; no other code does.

    Raises:
        SelectolaxError: the parser gave up.
    """
    return LexborHTMLParser(html)


def guard(html: str) -> Guarded:
    """Make HTML safe to parse: no NUL, no surrogates, bounded tags, bounded nesting.

    Linear in the length. Only markup is dropped, never text, except everything after `MAX_TAGS`, and <svg> with
    all its content: its elements close by other rules than HTML's, and it is never shown.

    Args:
        html: the decoded page.

    Returns:
        The page; the same string if nothing had to change.
    """
    try:
        html.encode("utf-16-le")  # also fails at surrogates, in a third of the time of UTF-8
    except UnicodeEncodeError:
        html = _SURROGATES.sub("", html)
    html = html.replace("\0", "")  # parsers disagree on it
    if html.count("<") > MAX_TAGS:
        html = _cut(html)
    return Guarded(_Scan(html).run())


def _cut(html: str) -> str:
    place = -1
    for _ in range(MAX_TAGS + 1):
        place = html.index("<", place + 1)
    return html[:place]


class _Scan:
    """One pass over the tags of a page that tracks the open elements."""

    def __init__(self, html: str) -> None:
        self._html = html
        self._edits: list[tuple[int, int, str]] = []
        self._open: list[_Open] = []
        self._blocks = 0
        self._barriers = 0
        self._doubtful = 0
        self._formatting = 0
        self._loose = 0
        self._strange = 0
        self._foreign = 0
        self._single = dict.fromkeys(_SINGLE, 0)
        self._svg_closes = True

    def run(self) -> str:
        position: int | None = 0
        while position is not None:
            position = self._pass(position)
        if not self._edits:
            return self._html
        pieces: list[str] = []
        copied = 0
        # A tag is removed after it was passed; its inside may already be gone with something else.
        for start, end, text in sorted(self._edits):
            if start >= copied:
                pieces += (self._html[copied:start], text)
                copied = end
        return "".join([*pieces, self._html[copied:]])

    def _pass(self, position: int) -> int | None:
        """Read tags up to one that is followed by something other than tags and text.

        Written for speed: a page has thousands of tags, and most are handled here.

        Args:
            position: where to begin.

        Returns:
            Where to continue, or `None` at the end of the page.
        """
        opened = self._open
        for tag in _TAG.finditer(self._html, position):
            is_closing, name, end = tag.groups()
            if end is None:
                return self._past(tag)
            name = name if name.islower() or not name.isascii() else name.lower()
            start, stop = tag.span()
            if is_closing:
                if stop - start > _LONG_TAG:
                    self._edits.append((start, stop, f"</{tag[2]}>"))
                if opened and opened[-1][0] == name and name not in _OTHERWISE:
                    opened.pop()
                else:
                    self._close(name)
                continue
            if name in _OTHERWISE or stop - start > _LONG_TAG:
                if (after := self._special(tag, name)) is not None:
                    return after
            elif len(opened) < MAX_DEPTH:
                if name in _BLOCKS:
                    self._blocks += 1
                opened.append((name, tag, self._blocks))
            else:
                self._edits.append((start, stop, ""))
        return None

    def _drop(self, start: int, end: int) -> int:
        self._edits.append((start, end, ""))
        return end

    def _past(self, tag: re.Match[str]) -> int:
        """Skip a comment; the tokenizer drops a tag without an end, and so does this."""
        html, start = self._html, tag.start()
        if tag[2] is not None:
            return self._drop(start, len(html))
        if html.startswith(_CDATA, start):
            # A comment in HTML, text in MathML.
            return self._drop(start, start + len(_CDATA))
        if not html.startswith("<!--", start):
            end = html.find(">", start)
            return len(html) if end < 0 else end + 1
        for whole in ("<!-->", "<!--->"):  # HTML §13.2.5.43 and 44
            if html.startswith(whole, start):
                return start + len(whole)
        end_of_comment = _END_OF_COMMENT.search(html, start + 4)
        return len(html) if end_of_comment is None else end_of_comment.end()

    def _special(self, tag: re.Match[str], name: str) -> int | None:
        """Handle an opening tag that is long or does more than nest; returns where to continue if not after it."""
        start, end = tag.span()
        if name == "svg":
            return self._drop(start, self._end_of_svg(end))
        if name in _RAW_TEXT:
            return self._raw_text(tag, name)
        if not self._may_open(tag, name):
            self._drop(start, end)
        else:
            self._shorten(tag)
        return None

    def _shorten(self, tag: re.Match[str]) -> None:
        start, end = tag.span()
        if end - start <= _LONG_TAG:
            return
        attributes = _ATTRIBUTE.finditer(self._html, start + 1 + len(tag[2]), end - 1)
        if next(islice(attributes, MAX_ATTRIBUTES, None), None) is not None:
            self._edits.append((start, end, f"<{tag[2]}>"))

    def _raw_text(self, tag: re.Match[str], name: str) -> int:
        """Skip the text of an element that contains no markup; returns where its closing tag begins."""
        html, (start, end) = self._html, tag.span()
        closing = _END_OF_RAW_TEXT[name].search(html, end)
        stop = len(html) if closing is None else closing.start()
        if self._strange:
            # Inside <math> and <select> these may be normal elements with markup.
            if closing is None:
                return self._drop(start, stop)
            last = _TAG.match(html, stop)
            return self._drop(start, last.end() if last and last[3] else len(html))
        self._shorten(tag)
        if name == "script":
            comment = html.find("<!--", end, stop)
            if comment >= 0 and _SCRIPT.search(html, comment, stop):
                # Such a script continues after its closing tag (HTML §13.2.5.27).
                self._edits.append((end, stop, html[end:stop].replace("<!--", "")))
        return stop

    def _may_open(self, tag: re.Match[str], name: str) -> bool:
        """Whether the tag stays; if it does, it is open from here on."""
        if name in _SINGLE:
            self._single[name] += 1
            self._strange += name == "frameset"
            return self._single[name] <= _MAX_REPEATED
        if name in _VOID and not (self._foreign and name in _VOID_IN_HTML):
            return True
        opened = self._open
        if name in _FORMATTING:
            if self._formatting + self._loose >= MAX_FORMATTING:
                return False
            self._formatting += 1
            opened.append((name, tag, self._barriers))
            return True
        closes: frozenset[str] = _CLOSED_BY.get(name, frozenset())
        if self._foreign and name not in _BLOCKS:
            closes = frozenset()
        while opened and opened[-1][0] in closes:
            opened.pop()
        if len(opened) >= MAX_DEPTH:
            return False
        self._blocks += 1
        self._barriers += name in _BARRIERS
        self._strange += name in _STRANGE
        self._foreign += name == "math"
        opened.append((name, tag, self._blocks))
        return True

    def _close(self, name: str) -> None:
        """Handle a closing tag that is not simply that of the innermost element."""
        opened = self._open
        if opened and opened[-1][0] == name and name not in _FORMATTING:
            opened.pop()
            self._strange -= name in _STRANGE
            self._foreign -= name == "math"
            return
        alone = name in _FORMATTING or name in _ALONE
        reaches = alone or name in _REACHING
        for reach in range(1, min(_REACH, len(opened)) + 1):
            other = opened[-reach][0]
            if other == name:
                break
            if not reaches and other in _SPECIAL:
                return
        else:
            # It may close an uncertain one, with all inside.
            self._blocks += name not in _RAW_TEXT
            return
        closed = opened[-reach:]
        del opened[-reach:]
        _, tag, mark = closed[0]
        if alone:
            opened += closed[1:]
        # A tag that closes its element alone also closes some of the elements inside.
        self._blocks += alone and reach > 1
        if name in _FORMATTING:
            self._end_formatting(tag, is_sure=reach == 1 and mark == self._barriers)
        elif alone:
            if any(other in _BARRIERS for other, _, _ in closed[1:]):
                self._end(closed[:1], is_sure=False)
        else:
            # An element opened inside may have closed it, or it never existed, such as a <td> without a table.
            # Then the tag closes nothing.
            is_sure = (mark == self._blocks and name not in _UNCERTAIN) or all(
                other in _REPLACED for other, _, _ in closed[1:]
            )
            self._end(closed, is_sure=is_sure)

    def _end(self, closed: list[_Open], *, is_sure: bool) -> None:
        """Stop counting elements that one closing tag has closed together."""
        for name, tag, _ in closed:
            if name in _FORMATTING:
                self._end_formatting(tag, is_sure=False)
            elif not is_sure:
                self._doubtful += 1
                if self._doubtful > MAX_DOUBTFUL:
                    self._drop(*tag.span())

    def _end_formatting(self, tag: re.Match[str], *, is_sure: bool) -> None:
        """Stop counting a formatting tag; if its end is uncertain, it continues to count, or is removed."""
        self._formatting -= 1
        if is_sure:
            return
        if self._loose < MAX_LOOSE:
            self._loose += 1
        else:
            self._drop(*tag.span())

    def _end_of_svg(self, position: int) -> int:
        """Find the end of the <svg> whose tag ends at `position`; just that tag, if it is never closed."""
        depth = 1
        for edge in _SVG.finditer(self._html, position) if self._svg_closes else ():
            depth += -1 if edge[1] else 1
            if depth == 0:
                end = self._html.find(">", edge.end())
                return len(self._html) if end < 0 else end + 1
        # Not searched again: a page of unclosed <svg> would cost a scan for each.
        self._svg_closes = False
        return position
