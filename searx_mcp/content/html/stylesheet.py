"""The rules of a page's `<style>` elements that can hide text, and those that undo or complete them.

A style sheet is split into blocks. Blocks that match nothing on the page are left out; the others are indexed by the
text of their declarations, and parsed when one of these is looked up. Conditional rules, in `@media` and the like,
hide nothing, and the colours that they set count as unknown. Style sheets at other addresses are not fetched.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final, NamedTuple

from searx_mcp.content.html.declarations import KNOWN, Value, name_of, number, parse_declarations
from searx_mcp.content.html.selectors import MAX_SELECTOR, SELECTOR, key_of, may_fit

MAX_CSS: Final = 2_000_000
"""Characters of style sheets that are read. The longest of 415 pages has 1,027,221."""

MAX_RULES: Final = 10_000
"""Selectors kept for a page."""

MAX_DECLARATIONS: Final = 10_000
"""Different declarations of properties that can hide or show. Of the 160 pages with the longest sheets, none has more
than 1,881."""

_MAX_DEPTH: Final = 32
"""Nested blocks."""

_MAX_NESTED: Final = 64
"""Selectors that one selector of a nested rule may expand to."""

_TOO_LONG: Final = "x" * (MAX_SELECTOR + 1)
_OPAQUE = re.compile(
    r"/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/|/\*.*+|\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+\"?|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?",
    re.DOTALL,
)
"""Comments and strings, which may contain braces without meaning."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMENT_IN_STRING = tuple(re.compile(rf"{mark}[^\"'{{}};]*?/\*") for mark in "\"'")
"""A possible beginning of a comment in a string, or of one after a string."""

_BRACE = re.compile(r"[{}]")
_STRUCTURE = re.compile(r"[{};\\]")
_ESCAPED_STRUCTURE = re.compile(r"\\[{};]")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_BRACE_IN_BRACKETS = re.compile(r"\([^(){}\"']*+[{}]")
_URL = re.compile(r"\burl\([^)\"'\\]*+\)?", re.IGNORECASE)

_LAYER = re.compile(r"@layer\b([^;{}]*+)[;{]", re.IGNORECASE)
_AT = re.compile(r"@(?:-webkit-|-moz-)?([a-z-]+)[ \t\r\n\f]*", re.IGNORECASE)
_SCOPE = re.compile(r"\(((?:[^()]|\([^()]*+\))*+)\)")
_LAST_LAYER: Final = 1_000_000
"""Rules in no layer come after all layers."""

_PAINTED: Final = frozenset({
    "color", "text-fill-color", "text-shadow", "text-stroke", "background-color", "background-image", "background-clip",
})  # fmt: skip
_UNKNOWN: Final = Value("unknown(")
"""Not a colour: what is painted there is unknown."""

_BESIDE = re.compile(r"::?(?:before|after)$", re.IGNORECASE)
_COVERED: Final = dict.fromkeys(
    ("background-color", "background-image"), Value("unknown(", is_important=True)
)
"""The effect of a box in front of or behind an element's text on its background."""

_QUERY = re.compile(
    r"(?:(only|not)\s++)?+(?:([a-z][a-z-]*+)(?:\s++and\b)?+)?\s*+((?:\([^()]*+\)\s*+(?:and\b)?\s*+)*+)"
)
_IS_CONTAINER = re.compile(r"\bcontainer(?:-type)?\s*+:", re.IGNORECASE)
_CONTAINER = re.compile(r"(?:(?!not\b|style\b)[-\w]++\s++)?+((?:\([^()]*+\)\s*+(?:and\b)?\s*+)++)")
_FEATURE = re.compile(r"\(([^()]*+)\)")
_LIMIT = re.compile(r"(?:(min-|max-)?(?:device-)?(?:width|height))\s*(:|[<>]=?)\s*(.+)")
_SMALL_SCREEN: Final = 320.0
"""Pixels; every screen is at least as wide and high."""

_LARGE_SCREEN: Final = 4_000.0
_NO_SCREEN: Final = 100.0
_SCREENS: Final = frozenset({"", "all", "screen"})
_SUPPORTED = re.compile(
    r"(?:\(\s*(?:display\s*:\s*(?:none|block|inline|inline-block|flex|grid|table)|(?:color|background(?:-color)?)\s*:\s*[#\w]+"
    r"|(?:position|visibility|opacity|overflow|width|height|margin|padding|top|left)\s*:\s*[-\w.%]+)\s*\)(?:\s*(?:and|or)\s*)?)+"
)


@dataclass(frozen=True, slots=True, eq=False)
class StyleRule:
    """One selector with its declarations; compared by identity.

    Attributes:
        text: the selector as written.
        key: shared by all elements that it matches; see `selectors.key_of`.
        style: its declarations that can hide or show.
        layer: its cascade layer.
        order: its position among the rules.
    """

    text: str
    key: str
    style: dict[str, Value]
    layer: int
    order: int


class _Block(NamedTuple):
    """A block of a style sheet.

    Attributes:
        selectors: of its declarations; empty for none.
        is_certain: whether it applies for all readers.
        layer: its cascade layer.
    """

    selectors: list[str]
    is_certain: bool
    layer: int


class StyleSheet:
    """Style sheets whose rules are read on demand.

    Args:
        css: concatenated style sheets; everything after `MAX_CSS` is left out.
        names: the classes and ids that the page has; rules for others are left out. `None` leaves out none.
        is_alone: whether the page has no other style sheets.
        has_containers: whether an element declares itself a container, for `@container`.
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
        """Whether a limit cut something off."""
        self._names = names
        self._has_containers = has_containers or (
            "@container" in css and _IS_CONTAINER.search(css) is not None
        )
        css = _without_opaque(css[:MAX_CSS])
        self._layers = _layers(css)
        self._blocks: list[tuple[_Block, str]] = []
        self._places: dict[str, list[int]] = defaultdict(list)
        self._rules: dict[int, list[StyleRule]] = {}
        self._count = 0
        self._split(css)

    @cached_property
    def declarations(self) -> Mapping[str, list[str]]:
        """The different declarations of the rules, as written, by the names of their properties."""
        found: dict[str, list[str]] = defaultdict(list)
        count = 0
        for text in self._places:
            if (name := name_of(text)) in KNOWN or name[:2] == "--":
                found[name].append(text)
                count += 1
                if count == MAX_DECLARATIONS:
                    self.is_cut = True
                    break
        return found

    def declaring(self, names: Iterable[str]) -> Iterator[StyleRule]:
        """The rules that declare one of some properties."""
        return self.having(text for name in names for text in self.declarations.get(name, ()))

    def having(self, declarations: Iterable[str]) -> Iterator[StyleRule]:
        """The rules with one of some declarations of the style sheets."""
        for place in sorted({place for text in declarations for place in self._places[text]}):
            found = self._rules.get(place)
            if found is None:
                found = self._rules[place] = list(self._made(place))
            yield from found

    def _split(self, css: str) -> None:
        opened: list[_Block | None] = [_Block([], is_certain=True, layer=_LAST_LAYER)]
        skipped = 0
        for chunk in css.split("}"):
            *outer, text = chunk.split("{")
            for part in outer:
                declared, _, prelude = part.rpartition(";")
                if skipped or len(opened) > _MAX_DEPTH:
                    skipped += 1
                    self.is_cut = True
                    continue
                if declared:
                    self._keep(opened[-1], declared)
                opened.append(self._inner(opened[-1], prelude.strip()))
            if skipped:
                skipped -= 1
                continue
            self._keep(opened[-1], text)
            if len(opened) > 1:
                opened.pop()

    def _keep(self, block: _Block | None, declared: str) -> None:
        if block is not None and block.selectors and declared:
            place = len(self._blocks)
            self._blocks.append((block, declared))
            for text in declared.split(";"):
                self._places[text].append(place)

    def _inner(self, around: _Block | None, prelude: str) -> _Block | None:
        """Return the block with a prelude; `None` for one that is left out."""
        if around is None:
            return None
        if prelude.startswith("@"):
            return self._group(prelude, around)
        selectors = _selectors(prelude)
        if (names := self._names) is not None:
            selectors = [text for text in selectors if may_fit(text, names)]
        if around.selectors:
            selectors = _nested(around.selectors, selectors)
        return _Block(selectors, around.is_certain, around.layer) if selectors else None

    def _group(self, prelude: str, around: _Block) -> _Block | None:
        found = _AT.match(prelude)
        name, rest = (found[1].lower(), prelude[found.end() :]) if found else ("", "")
        can_hold = name != "container" or self._has_containers
        holds = _holds(name, rest) if can_hold else None
        if holds is False:
            return None
        selectors, layer = around.selectors, around.layer
        if name == "layer":
            layer = self._layers.get(rest, len(self._layers))
        elif name == "scope" and (scope := _SCOPE.match(rest)):
            selectors = SELECTOR.findall(scope[1])
        return _Block(selectors, bool(holds) and around.is_certain, layer)

    def _made(self, place: int) -> Iterator[StyleRule]:
        block, declared = self._blocks[place]
        style = parse_declarations(declared)
        if not block.is_certain:
            style = {name: _UNKNOWN for name in style if name in _PAINTED}
        for selector in block.selectors if style else ():
            if self._count == MAX_RULES or len(selector) > MAX_SELECTOR:
                self.is_cut = True
                return
            self._count += 1
            text, own = selector.strip(), style
            if (beside := _BESIDE.search(text)) is not None:
                if "content" not in declared or "background-color" not in style:
                    continue
                text, own = text[: beside.start()], _COVERED
            if key := key_of(text):
                yield StyleRule(text, key, own, block.layer, place)


@lru_cache(maxsize=512)
def _holds(name: str, condition: str) -> bool | None:
    """Whether the rules in a group of this name apply; `None` if not for all readers."""
    if name == "media":
        return media(condition)
    condition = condition.strip().lower()
    if name == "supports":
        return True if _SUPPORTED.fullmatch(condition) else None
    if name == "container":
        # Every container matches if the condition is only about sizes.
        found = _CONTAINER.fullmatch(condition)
        features = _FEATURE.findall(found[1]) if found else ()
        return True if features and all(_feature(each, _NO_SCREEN) for each in features) else None
    return name in {"layer", "scope"}


def _selectors(prelude: str) -> list[str]:
    if "," not in prelude:
        return [prelude]
    if "(" in prelude or "[" in prelude or "\\" in prelude:
        return SELECTOR.findall(prelude)
    return prelude.split(",")


def _nested(around: list[str], selectors: list[str]) -> list[str]:
    """Expand selectors that are nested in a rule with others (CSS Nesting)."""
    found = (
        inner.replace("&", outer) if "&" in inner else f"{outer} {inner}"
        for outer in around
        for inner in selectors
    )
    # One more shows that a limit was exceeded.
    return [text[: MAX_SELECTOR + 1].strip() for text in islice(found, _MAX_NESTED)] + [
        _TOO_LONG for _ in islice(found, 1)
    ]


def _layers(css: str) -> dict[str, int]:
    """The names of layers, in the order of their precedence."""
    layers: dict[str, int] = {}
    for found in _LAYER.findall(css) if "@layer" in css else ():
        for name in found.split(","):
            layers.setdefault(name.strip(), len(layers))
    return layers


def _without_opaque(css: str) -> str:
    """Remove comments from style sheets, and braces that have no meaning."""
    if "<!--" in css or "-->" in css:
        css = css.replace("<!--", "").replace("-->", "")
    if _ESCAPED_STRUCTURE.search(css):
        css = _ESCAPE.sub(lambda found: "_" if found[0][1] in "{};" else found[0], css)
    plain = _COMMENT.sub("", css) if "/*" in css else css
    # If quotes are counted wrongly, rules end up in the strings.
    strings = [*plain.split('"')[1::2], *plain.split("'")[1::2]]
    if any(map(_BRACE.search, strings)) or (
        plain is not css and any(search.search(css) for search in _COMMENT_IN_STRING)
    ):
        plain = _OPAQUE.sub(_without_structure, css)
    return _URL.sub("url()", plain) if _BRACE_IN_BRACKETS.search(plain) else plain


def _without_structure(match: re.Match[str]) -> str:
    """Replace a piece that may contain braces; strings without braces stay, since attribute selectors use them."""
    text = match[0]
    if text[0] == "/":
        return ""
    return text if _STRUCTURE.search(text) is None else '""'


def media(queries: str) -> bool | None:
    """Whether a list of media queries applies for everyone who reads on a screen.

    Returns:
        `None` if it applies for some of them.
    """
    answers = [_query(query.strip()) for query in queries.lower().split(",")]
    return True if True in answers else None if None in answers else False


def _query(query: str) -> bool | None:
    found = _QUERY.fullmatch(query)
    if found is None:
        return None
    answers = [(found[2] or "") in _SCREENS, *map(_feature, _FEATURE.findall(found[3]))]
    answer = False if False in answers else None if None in answers else True
    return answer if answer is None or found[1] != "not" else not answer


def _feature(feature: str, small: float = _SMALL_SCREEN) -> bool | None:
    """Whether every screen meets a limit of width or height, or none does."""
    found = _LIMIT.fullmatch(feature.strip())
    size = number(found[3].strip()) if found else None
    if found is None or size is None or (found[2] == ":") is (found[1] is None):
        return None
    if found[1] == "min-" or found[2][0] == ">":
        return True if size <= small else None
    return True if size >= _LARGE_SCREEN else False if size <= _NO_SCREEN else None
