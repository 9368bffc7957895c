"""The rules of a page's own `<style>` elements that can hide text.

Blocks are told by their braces, in one pass; only those whose selectors name what the page has are read.
Rules that hold for some readers only, in `@media` and the like, hide nothing, but it is not known either
what they paint. Style sheets of other addresses are not fetched.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from searx_mcp.content.html.declarations import Value, number, parse_declarations
from searx_mcp.content.html.selectors import (
    MAX_SELECTOR,
    NOTHING,
    SELECTOR,
    Selector,
    decorated,
    may_fit,
    parse_selector,
)

MAX_CSS: Final = 2_000_000
"""Characters of style sheets read, 0.1 to 0.3 s. The longest of 415 pages has 1,027,221."""

MAX_RULES: Final = 10_000
"""Selectors kept for a page."""

_OPAQUE = re.compile(
    r"/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/|/\*.*+|\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+\"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?"
    r"|\\[{};]|<!--|-->",
    re.DOTALL,
)
"""What may hold braces that are none: comments and strings; each branch begins with a character of its
own, which is five times as fast as to ignore case."""

_BRACE_IN_BRACKETS = re.compile(r"\([^(){}\"']*+[{}]")
_URL = re.compile(r"\burl\([^)\"'\\]*+\)?", re.IGNORECASE)
_PLAIN = re.compile(
    r"\A[-\w. >+~#]*?(?:(?<=[ >+~])|\A)(?!$)([a-zA-Z][-\w]*+)?((?:\.[-\w]++)*+)(?:#([-\w]++))?$"
)
"""A selector whose last compound asks for a tag, classes and an id; most do."""

_STRUCTURE = re.compile(r"[{};\\]")
_LAYER = re.compile(r"@layer\b([^;{}]*+)[;{]", re.IGNORECASE)
_AT = re.compile(r"@(?:-webkit-|-moz-)?([a-z-]+)[ \t\r\n\f]*", re.IGNORECASE)
_SCOPE = re.compile(r"\(((?:[^()]|\([^()]*+\))*+)\)")
_LAST_LAYER: Final = 1_000_000
"""What is in no layer counts after all of them."""

_MAX_DEPTH: Final = 32
"""Blocks in one another."""

_MAX_NESTED: Final = 64
"""Selectors that one of a nested rule may stand for."""

_TOO_LONG: Final = "x" * (MAX_SELECTOR + 1)
_PAINTED: Final = frozenset({
    "color", "text-fill-color", "text-shadow", "text-stroke", "background-color", "background-image", "background-clip",
})  # fmt: skip
_UNKNOWN: Final = Value("unknown(")
"""No colour: what is painted there is not known."""

_QUERY = re.compile(
    r"(?:(only|not)\s++)?+(?:([a-z][a-z-]*+)(?:\s++and\b)?+)?\s*+((?:\([^()]*+\)\s*+(?:and\b)?\s*+)*+)"
)
_IS_CONTAINER = re.compile(r"\bcontainer(?:-type)?\s*+:", re.IGNORECASE)
_CONTAINER = re.compile(r"(?:(?!not\b|style\b)[-\w]++\s++)?+((?:\([^()]*+\)\s*+(?:and\b)?\s*+)++)")
_FEATURE = re.compile(r"\(([^()]*+)\)")
_LEAST = re.compile(r"(?:min-(?:device-)?(?:width|height)\s*:|(?:width|height)\s*>=?)\s*(.+)")
_MOST = re.compile(r"(?:max-(?:device-)?(?:width|height)\s*:|(?:width|height)\s*<=?)\s*(.+)")
_SMALL_SCREEN: Final = 320.0
"""Pixels; every screen is as wide and as high."""

_LARGE_SCREEN: Final = 4_000.0
_NO_SCREEN: Final = 100.0
_SCREENS: Final = frozenset({"", "all", "screen"})
_SUPPORTED = re.compile(
    r"(?:\(\s*(?:display\s*:\s*(?:none|block|inline|inline-block|flex|grid|table)|(?:color|background(?:-color)?)\s*:\s*[#\w]+"
    r"|(?:position|visibility|opacity|overflow|width|height|margin|padding|top|left)\s*:\s*[-\w.%]+)\s*\)(?:\s*(?:and|or)\s*)?)+"
)


class Block:
    """The declarations that some selectors share; read when they are needed.

    Args:
        text: of the declarations.
        is_certain: whether they hold for every reader.
    """

    def __init__(self, text: str, *, is_certain: bool) -> None:
        self._text = text
        self._is_certain = is_certain

    @cached_property
    def style(self) -> dict[str, Value]:
        """The declarations that can hide or show."""
        found = parse_declarations(self._text)
        if self._is_certain:
            return found
        return {name: _UNKNOWN for name in found if name in _PAINTED}


class Rule:
    """One selector with its declarations; each is equal to itself only.

    Args:
        text: the selector as it is written.
        block: its declarations.
        layer: which layer of the cascade it is in.
        order: among the others.
    """

    def __init__(self, text: str, block: Block, *, layer: int, order: int) -> None:
        self.text = text
        self.block = block
        self.layer = layer
        self.order = order

    @cached_property
    def selector(self) -> Selector:
        """The selector, read."""
        return parse_selector(self.text) or NOTHING

    @cached_property
    def key(self) -> str:
        """The key of what it is about; empty if that is nothing as the page is at first."""
        if (found := _PLAIN.search(self.text)) is None:
            return self.selector.target.key if self.selector is not NOTHING else ""
        tag, classes, identifier = found.groups()
        if identifier:
            return f"#{identifier}"
        return f".{min(classes[1:].split('.'))}" if classes else tag.lower()


@dataclass(slots=True)
class _Open:
    """A block that is not closed yet.

    Attributes:
        selectors: what its declarations are about; empty for none.
        certainty: whether it holds for everybody; `None` for some only.
        declared: what stood between the blocks in it.
    """

    selectors: list[str]
    certainty: bool | None
    layer: int
    order: int
    declared: list[str] = field(default_factory=list)


class StyleSheet:
    """The rules of style sheets that can hide text, show what another hides, or paint behind it.

    Args:
        css: style sheets, one after the other; what is longer than `MAX_CSS` is left out.
        names: the classes and ids that the page has; rules for others are left out. `None` leaves out none.
        is_alone: whether the page has no other style sheets.
        has_containers: whether an element says itself that it is one, for `@container`.
    """

    def __init__(
        self,
        css: str = "",
        names: set[str] | None = None,
        *,
        is_alone: bool = False,
        has_containers: bool = False,
    ) -> None:
        self.is_alone = is_alone and "@import" not in css
        self.is_cut = len(css) > MAX_CSS
        """Whether there is more than is read."""
        self.rules: list[Rule] = []
        reader = _Reader(names, has_containers=has_containers or bool(_IS_CONTAINER.search(css)))
        blocks: dict[tuple[str, bool], Block] = {}
        for opened in reader.blocks(css[:MAX_CSS]):
            # Of three blocks, one says the same as another.
            said = ";".join(opened.declared), opened.certainty is True
            block = blocks.setdefault(said, Block(said[0], is_certain=said[1]))
            if not block.style:
                continue
            for text in opened.selectors:
                if len(self.rules) == MAX_RULES or len(text) > MAX_SELECTOR:
                    self.is_cut = True
                    break
                self._add(text.strip(), block, opened)
        self.is_cut = self.is_cut or reader.is_cut

    def _add(self, text: str, block: Block, opened: _Open) -> None:
        if ":" in text and (shown := decorated(text)) is not None:
            block, text = Block(";".join(opened.declared), is_certain=False), shown or "*"
        self.rules.append(Rule(text, block, layer=opened.layer, order=opened.order))


class _Reader:
    """Reads style sheets as far as they are about something that the page has.

    Args:
        names: the classes and ids of the page; `None` if they are not known.
        has_containers: whether the page may have any.
    """

    def __init__(self, names: set[str] | None, *, has_containers: bool) -> None:
        self._names = names
        self._has_containers = has_containers
        self.is_cut = False
        """Whether blocks were passed over that lie too deep."""
        self._layers: dict[str, int] = {}
        self._conditions: dict[str, bool | None] = {}

    def blocks(self, css: str) -> Iterator[_Open]:
        """Blocks that are about elements, with what they declare."""
        self._layers = _layers(css)
        css = _OPAQUE.sub(_without_structure, css)
        if _BRACE_IN_BRACKETS.search(css):
            css = _URL.sub("url()", css)
        around = [_Open([], certainty=True, layer=_LAST_LAYER, order=0)]
        skipped = 0
        chunks = css.split("}")
        for order, chunk in enumerate(chunks):
            *preludes, text = chunk.split("{")
            for prelude in preludes:
                if skipped:
                    # Nothing in a block counts that is about nothing.
                    skipped += 1
                elif len(around) > _MAX_DEPTH:
                    skipped, self.is_cut = 1, True
                elif (opened := self._opened(prelude, around[-1], order)) is None:
                    skipped = 1
                else:
                    around.append(opened)
            # The end of the sheet closes what is open.
            closing = len(around) - 1 + skipped if order == len(chunks) - 1 else 1
            for _ in range(min(closing, len(around) - 1 + skipped)):
                if skipped:
                    skipped -= 1
                else:
                    opened = around.pop()
                    opened.declared.append(text)
                    yield opened
                text = ""

    def _opened(self, prelude: str, inner: _Open, order: int) -> _Open | None:
        """Give what a block is about; `None` for one that does not count."""
        declared, _, prelude = prelude.rpartition(";")
        if declared and inner.selectors:
            inner.declared.append(declared)
        prelude = prelude.strip()
        if prelude.startswith("@"):
            return self._group(prelude, inner, order)
        if "," not in prelude:
            selectors = [prelude]
        elif "(" in prelude or "[" in prelude:
            selectors = SELECTOR.findall(prelude)
        else:
            selectors = prelude.split(",")
        if self._names is not None:
            selectors = [text for text in selectors if may_fit(text, self._names)]
        if inner.selectors:
            selectors = _nested(inner.selectors, selectors)
        return _Open(selectors, inner.certainty, inner.layer, order) if selectors else None

    def _group(self, prelude: str, inner: _Open, order: int) -> _Open | None:
        found = _AT.match(prelude)
        name, rest = (found[1].lower(), prelude[found.end() :]) if found else ("", "")
        if prelude not in self._conditions:
            self._conditions[prelude] = (
                _holds(name, rest) if name != "container" or self._has_containers else None
            )
        holds = self._conditions[prelude]
        if holds is False:
            return None
        selectors, layer = inner.selectors, inner.layer
        if name == "layer":
            layer = self._layers.get(rest, len(self._layers))
        elif name == "scope" and (scope := _SCOPE.match(rest)):
            selectors = SELECTOR.findall(scope[1])
        return _Open(selectors, holds and inner.certainty, layer, order)


def _holds(name: str, condition: str) -> bool | None:
    """Tell whether the rules in a group of this name count; `None` if not for everybody."""
    if name == "media":
        return media(condition)
    if name == "supports":
        return supports(condition)
    if name == "container":
        return container(condition)
    return name in {"layer", "scope"}


def _nested(around: list[str], selectors: list[str]) -> list[str]:
    """Give what selectors are about that stand in a rule about others (CSS Nesting)."""
    found = [
        inner.replace("&", outer) if "&" in inner else f"{outer} {inner}"
        for outer in around
        for inner in selectors[:_MAX_NESTED]
    ]
    # So that what is too much is noticed, and does not grow.
    return [text[: MAX_SELECTOR + 1] for text in found[:_MAX_NESTED]] + [_TOO_LONG] * (
        len(found) > _MAX_NESTED
    )


def _layers(css: str) -> dict[str, int]:
    """The names of layers, in the order in which they count."""
    layers: dict[str, int] = {}
    for found in _LAYER.findall(css) if "@layer" in css else ():
        for name in found.split(","):
            layers.setdefault(name.strip(), len(layers))
    return layers


def _without_structure(match: re.Match[str]) -> str:
    """Give what a piece is that may hold braces: strings without any stay, since attributes ask for them."""
    text = match[0]
    if text[0] in "\"'":
        return text if _STRUCTURE.search(text) is None else '""'
    return "_" if text[0] == "\\" else ""


def media(queries: str) -> bool | None:
    """Tell whether a list of media queries holds for everybody who reads on a screen.

    Returns:
        `None` if it holds for some of them.
    """
    answers = [_query(query.strip()) for query in queries.lower().split(",")]
    return True if True in answers else None if None in answers else False


def supports(condition: str) -> bool | None:
    """Tell whether every browser supports what is asked; `None` if that is not known."""
    return True if _SUPPORTED.fullmatch(condition.strip().lower()) else None


def container(condition: str) -> bool | None:
    """Tell whether every container meets a condition; `None` if only some do, or if it asks for more than sizes."""
    found = _CONTAINER.fullmatch(condition.strip().lower())
    features = _FEATURE.findall(found[1]) if found else ()
    return True if features and all(_feature(each, _NO_SCREEN) for each in features) else None


def _query(query: str) -> bool | None:
    found = _QUERY.fullmatch(query)
    if found is None:
        return None
    answers = [(found[2] or "") in _SCREENS, *map(_feature, _FEATURE.findall(found[3]))]
    answer = False if False in answers else None if None in answers else True
    return answer if answer is None or found[1] != "not" else not answer


def _feature(feature: str, small: float = _SMALL_SCREEN) -> bool | None:
    feature = feature.strip()
    if least := _LEAST.fullmatch(feature):
        size = number(least[1].strip())
        return True if size is not None and size <= small else None
    if most := _MOST.fullmatch(feature):
        size = number(most[1].strip())
        if size is None:
            return None
        return True if size >= _LARGE_SCREEN else False if size <= _NO_SCREEN else None
    return None
