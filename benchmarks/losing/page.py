"""What stands on a page, read without the code that is measured: the parts of its main element, and its chrome.

The main element is looked for by what documentation generators and publishing systems name it. What is in it
and leads elsewhere, by element or by a name that only generators give, is chrome, as is all around it.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
from bs4.element import NavigableString, PreformattedString, Tag

HEADING, FENCE, TABLE, LIST, SENTENCE = KINDS = ("heading", "fence", "table", "list", "sentence")

_MAINS: Final = (
    "[role=main]", "main", "#main-content", "#doc-content", "article", "div.body", "#content", "#docs", "div.contents",
    "div.content", "div.refentry", "div.book,div.chapter", "#bodycolumn",
)  # fmt: skip
_SHARE: Final = 0.4
"""Of the page's letters outside of its chrome; an element with fewer is not its main one."""

_UNREAD: Final = (
    "script, style, noscript, template, head, svg, math, button, input, select, textarea, [hidden],"
    ' .sr-only, .visually-hidden, .screen-reader-text, .MathJax_Preview, [aria-hidden="true"]'
)
_HIDDEN: Final = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE
)

_CHROME: Final = (
    "nav, footer, dialog, [role=navigation], [role=search], [role=contentinfo], [role=banner],"
    " .headerlink, .anchor-link, .heading-anchor, .header-anchor, .hash-link, .copyable-anchor, a.self,"
    " a.mark, .selflink, .viewcode-link, .srclink, .src-link, .srcversion, .view-source, .mw-editsection, .copybtn,"
    " .clipboard, .out-of-band, .method-source-toggle, .showSource, .navheader, .navfooter, .nav_table, .nav-panel,"
    " .navpath, table.navigation, .sphinxsidebar, .related, .breadcrumb, .breadcrumbs, .edit-this-page, .page-nav,"
    " .prev-next-area, .pagination, .top-nav, .sub-nav, .bottom-nav, .tabs, #titlearea, #toc, .toc, #tocframe, #TOC,"
    " .table-of-contents, .page-toc, .contents.topic, #column2, #leftnav, #path, #page-header, #header .nav, .menubar,"
    " div.header:has(a[rel],a[accesskey]), div.header > div.summary, #footer, .footer, .footer-text, #postamble,"
    " #package-header, #index, .section-toc, #markdown-toc, .summary_toggle, .constants_summary_toggle, .inheritanceTree, .tsd-breadcrumb, .src > .link, .source-link, .copy-popup-wrapper, .edit-on-github, .sidebar"
)
"""Inside and outside of the main element."""

_OPTIONAL: Final = ".method-source-code, .source_code, table.source_code, .ttc, .instance-details"
"""Neither asked for nor counted: what only a click shows and a style sheet of its own hides."""

_LABELS: Final = frozenset(
    ["note", "tip", "warning", "important", "caution", "danger", "info", "example", "seealso"]
)
_LABELLED: Final = re.compile(r"^(?:admonition|alert|callout)$")
"""What stands above a labelled block is no heading, whatever element says it."""

_BLOCKS: Final = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "br",
    ]
)
_HOLDERS: Final = ("p", "li", "td", "div")
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_CODE: Final = "pre, div.fragment"
_COUNTED: Final = ".linenos, .lineno, .linenodiv, .lntd:first-child, .gutter, .line-numbers, .ltx_tag_item, .ltx_note_mark, .ltx_tag_note"
"""Beside code: the numbers of its lines; and of items and notes."""

_NOTE: Final = ".ltx_note"
"""A note in the middle of a line, which is read after it."""

_SENTENCE_END: Final = re.compile(r"(?<=[.!?:])\s+(?=[^\W\d_a-z])|(?<=[\u3002\uff01\uff1f])")
_LETTERS: Final = re.compile(r"[^\W_]+")
_REFERENCE: Final = re.compile(r"\s*[\[(]?(?:\d{1,3}|[a-z*†‡])[\])]?\s*")
_LEAST_WORDS: Final = 4
_LEAST_LETTERS: Final = 20
"""Of a sentence; what is shorter is a label."""

_DATUM: Final = 300
"""Letters of a cell in a table without a head; a longer one is a column of the page."""

_BEGINNING: Final = 30
"""Letters of an item by which it is found."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a main element.

    Attributes:
        kind: one of `KINDS`.
        text: with single spaces; to be shown.
        letters: what is to be found of it, each as `letters_of` gives it: cells, items, code, words.
    """

    kind: str
    text: str
    letters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page as it is read here.

    Attributes:
        parts: of the main element, each once.
        words: those of the main element, with how often.
        chrome: those of everything else.
    """

    parts: tuple[Part, ...]
    words: Counter[str] = field(default_factory=Counter)
    chrome: Counter[str] = field(default_factory=Counter)


def letters_of(text: str) -> str:
    """The letters and digits of a text in lower case, by which texts are compared."""
    return "".join(_LETTERS.findall(text.casefold()))


def words_of(text: str) -> Counter[str]:
    """The words of a text in lower case, with how often."""
    return Counter(_LETTERS.findall(text.casefold()))


def read_source(html: str, *, main: str = "") -> SourcePage:
    """Read a page.

    Args:
        html: the page.
        main: a selector of the main element, or of several; looked for if not given.
    """
    with warnings.catch_warnings():
        # XHTML is read as browsers read it.
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        tree = BeautifulSoup(html, "lxml")
    for node in tree.select(f"{_UNREAD}, {_OPTIONAL}"):
        node.extract()
    for node in tree.select("[style]"):
        if _HIDDEN.search(str(node.get("style"))):
            node.extract()
    body = tree.body or tree
    roots = tree.select(main) if main else []
    chrome = Counter[str]()
    for node in body.select(_CHROME):
        if node not in roots and not any(root in node.descendants for root in roots[:1]):
            chrome += words_of(_text(node.extract()))
    roots = _outermost(roots or _main(body))
    parts = {
        (part.kind, part.letters): part
        for root in roots
        for part in _parts(root)
        if any(part.letters)
    }
    words = sum((words_of(_text(root)) for root in roots), Counter[str]())
    return SourcePage(tuple(parts.values()), words, chrome + (words_of(_text(body)) - words))


def _main(body: Tag) -> list[Tag]:
    whole = len(letters_of(_text(body)))
    for selector in _MAINS:
        found = max(body.select(selector), key=lambda node: len(node.get_text()), default=None)
        if found is not None and len(letters_of(_text(found))) >= _SHARE * whole:
            return [found]
    return [body]


def _outermost(nodes: list[Tag]) -> list[Tag]:
    found: list[Tag] = []
    for node in nodes:
        if not any(above is one for above in node.parents for one in found):
            found.append(node)
    return found


def _parts(root: Tag) -> Iterator[Part]:
    for note in root.select(_NOTE):
        if (line := note.find_parent(_HOLDERS)) is not None:
            line.append(Tag(name="br"))
            line.append(note.extract())
    for read in (_headings, _fences, _tables, _lists, _sentences):
        yield from read(root)


def _headings(root: Tag) -> Iterator[Part]:
    for node in root.find_all(_HEADINGS):
        letters = letters_of(_text(node))
        if letters not in _LABELS and node.find_parent(class_=_LABELLED) is None:
            yield Part(HEADING, _line(node), (letters,))


def _fences(root: Tag) -> Iterator[Part]:
    for counted in root.select(_COUNTED):
        counted.extract()
    for node in root.select(_CODE):
        if node.find_parent(["pre", *_HEADINGS]) is None:
            yield Part(FENCE, _line(node), (letters_of(node.get_text()),))


def _tables(root: Tag) -> Iterator[Part]:
    for node in filter(_is_data, root.find_all("table")):
        yield Part(TABLE, _line(node), tuple(filter(None, map(_cell, _cells(node)))))


def _lists(root: Tag) -> Iterator[Part]:
    for node in root.find_all(["ul", "ol", "dl"]):
        if node.find_parent(["table"]) is None:
            yield from _list(node)


def _sentences(root: Tag) -> Iterator[Part]:
    for run in _runs(root):
        for sentence in _SENTENCE_END.split(" ".join(run.split())):
            letters = letters_of(sentence)
            if len(letters) >= _LEAST_LETTERS and len(sentence.split()) >= _LEAST_WORDS:
                yield Part(SENTENCE, sentence, (letters,))


def _is_data(table: Tag) -> bool:
    if (
        "memname" in table.get_attribute_list("class")
        or table.get("role") in {"presentation", "none"}
        or table.find(["table", *_HEADINGS])
    ):
        return False
    rows = [
        [cell for cell in row.find_all(["td", "th"]) if _cell(cell)] for row in table.find_all("tr")
    ]
    rows = [row for row in rows if row]
    if len(rows) < 2 or max(map(len, rows)) < 2:
        return False
    if any("\n" in code.get_text().strip() for code in table.find_all("pre")):
        return False
    return table.find("th") is not None or all(
        len(_cell(cell)) <= _DATUM for row in rows for cell in row
    )


def _cells(table: Tag) -> list[Tag]:
    return list(table.find_all(["td", "th"]))


def _cell(cell: Tag) -> str:
    return letters_of(_text(cell))


def _list(node: Tag) -> Iterator[Part]:
    names = ["dt"] if node.name == "dl" else ["li"]
    items = [item for item in node.find_all(names) if item.find_parent(["ul", "ol", "dl"]) is node]
    firsts = [next((run for run in _runs(item) if letters_of(run)), "") for item in items]
    letters = tuple(letters_of(first)[:_BEGINNING] for first in firsts)
    if sum(map(bool, letters)) >= 2:
        yield Part(LIST, f"<{node.name}> {_line(node)}", tuple(filter(None, letters)))


def _runs(root: Tag) -> Iterator[str]:
    """The texts that no block breaks."""
    run: list[str] = []
    todo: list[Tag | NavigableString | None] = [root]
    while todo:
        node = todo.pop()
        if node is None:
            yield "".join(run)
            run = []
        elif isinstance(node, NavigableString):
            if not isinstance(node, PreformattedString):
                run.append(str(node))
        elif node.name == "pre":
            todo.append(None)
        elif not _is_reference(node):
            inside = [child for child in node.contents if isinstance(child, Tag | NavigableString)]
            if node.name in _BLOCKS:
                yield "".join(run)
                run = []
                todo.append(None)
            todo += reversed(inside)
    yield "".join(run)


def _is_reference(node: Tag) -> bool:
    """Whether it leads to a footnote; its number is no word of the sentence."""
    return (
        node.name == "a"
        and "#" in str(node.get("href", ""))
        and _REFERENCE.fullmatch(node.get_text()) is not None
    )


def _text(node: Tag) -> str:
    return " ".join(_runs(node)) + " ".join(code.get_text() for code in node.find_all("pre"))


def _line(node: Tag) -> str:
    return " ".join(node.get_text(" ").split())
