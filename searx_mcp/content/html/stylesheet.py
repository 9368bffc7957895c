"""The rules of a page's `<style>` elements that can hide text, and those that undo or complete them.

The text is searched for declarations that can hide before anything is parsed; only the blocks that are needed are
read, and in those only rules that can match the page. Conditional rules, in `@media` and the like, hide nothing,
but what they paint is unknown, too. Style sheets at other addresses are not fetched.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from searx_mcp.content.html.declarations import Value, number, parse_declarations
from searx_mcp.content.html.selectors import MAX_SELECTOR, SELECTOR, key_of, may_fit

MAX_CSS: Final = 2_000_000
"""Characters of style sheets that are read. The longest of 415 pages has 1,027,221."""

MAX_RULES: Final = 10_000
"""Selectors kept for a page."""

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

_HIDES: Final = tuple(
    re.compile(search, re.VERBOSE)
    for search in (
        r""":(?:(?<=[y\s]:)\s*+(?:none|hidden|collapse|var\()
            |(?<=(?:ty|\w\s):)\s*+(?:0?\.[0-3]|0(?![.0-9])|-|[0-9.]+[%e]|[a-z]++\()
            |(?<=(?:eight|width|\w\w\w\w\s):)\s*+(?:[01](?![0-9.])|0?\.|-)
            |(?<=(?:ize|ale|oom|\w\w\s):)\s*+(?:0(?![0-9.])|0?\.[0-2]|-|1(?:px|pt))
            |(?<=[ft\s]:)\s*+(?:100%|[0-9]{4})
            |\s*+(?:rect|inset|circle|ellipse|polygon)\()""",
        r"-[0-9]{2}(?:[0-9]|r?em|v|in)",
        r"scale[3dxyz]*+\(\s*+[-0.]",
        r"matrix\(",
        r"font\s*+:\s*+(?:[^;}:]*?\s)?0?\.?[01](?![0-9])",
        r"filter\s*+:[^;}]{0,40}?(?:opacity|blur)\(",
        r"color\s*+:\s*+(?:transparent|(?:rgb|hsl)a?\([^;}]{0,60}?[\s,/]0?\.?0?\s*+\))",
    )
)
"""Patterns for declarations that can hide, in lower case; each begins with rare letters."""

MAX_READ: Final = 20_000
"""Characters of style sheets in which every rule is read; in longer ones, only what these patterns find."""

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
class Rule:
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


class _Open(NamedTuple):
    """A block that is not closed yet.

    Attributes:
        selectors: of its declarations; empty for none.
        is_certain: whether it applies for all readers.
        layer: its cascade layer.
    """

    selectors: list[str]
    is_certain: bool
    layer: int


class StyleSheet:
    """Style sheets that are read on demand, in parts.

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
        self.is_long = len(css) > MAX_READ
        self._names = names
        self._has_containers = has_containers or (
            "@container" in css and _IS_CONTAINER.search(css) is not None
        )
        self._css = _without_opaque(css[:MAX_CSS])
        self._layers = _layers(self._css)
        self._chunks = self._css.split("}")
        self._opened: dict[tuple[str, ...], _Open | None] = {}
        self._conditions: dict[str, bool | None] = {}
        self._rules: dict[int, list[Rule]] = {}
        self._count = 0

    def hiding(self) -> Iterator[Rule]:
        """The rules that may hide something; in a long style sheet, those that hide by themselves."""
        if not self.is_long:
            yield from self._read(self._live)
            return
        css = self._css.lower()
        places: set[int] = set()
        for search in _HIDES:
            place = last = 0
            for found in search.finditer(css):
                place += css.count("}", last, found.start())
                last = found.start()
                places.add(place)
        # Rules that paint text and background in one colour are recognised when they are read.
        yield from self._read(
            place for place in self._live if place in places or self._paints(self._chunks[place])
        )

    @staticmethod
    def _paints(chunk: str) -> bool:
        return "background" in chunk and "color" in chunk.replace("background-color", "")

    def declaring(self, words: Iterable[str]) -> Iterator[Rule]:
        """The rules that contain some words, such as names of properties."""
        chunks = [(place, self._chunks[place]) for place in self._live]
        places = {place for word in words for place, chunk in chunks if word in chunk}
        yield from self._read(sorted(places))

    def _read(self, places: Iterable[int]) -> Iterator[Rule]:
        for place in places:
            found = self._rules.get(place)
            if found is None:
                found = self._rules[place] = list(self._rules_at(place))
            yield from found

    @cached_property
    def _live(self) -> list[int]:
        """The positions of chunks whose rules may match the page."""
        fits: dict[str, bool] = {}
        live = []
        for place, chunk in enumerate(self._chunks):
            head = chunk.rpartition("{")[0]
            may_fit_any = fits.get(head)
            if may_fit_any is None:
                may_fit_any = fits[head] = self._may_fit_any(head)
            if may_fit_any and chunk and not chunk.isspace():
                live.append(place)
        return live

    def _may_fit_any(self, head: str) -> bool:
        """Whether the page can have elements for the prelude of a block."""
        names = self._names
        prelude = head.rpartition("{")[2].rpartition(";")[2]
        if (
            names is None
            or "&" in prelude
            or prelude.lstrip()[:1] == "@"
            or may_fit(prelude, names)
        ):
            return True
        return "," in prelude and any(may_fit(text, names) for text in _selectors(prelude))

    @cached_property
    def _nesting(self) -> tuple[list[int], list[tuple[str, ...]]]:
        """The open blocks where chunks begin, for those after one that does not open and close a single block."""
        begins, around = [0], list[tuple[str, ...]]([()])
        opened: tuple[str, ...] = ()
        skipped = 0
        counts = [chunk.count("{") for chunk in self._chunks]
        for place in [place for place, count in enumerate(counts) if count != 1]:
            if (count := counts[place]) == 0:
                if skipped:
                    skipped -= 1
                else:
                    opened = opened[:-1]
            else:
                room = max(_MAX_DEPTH - len(opened) - skipped, 0)
                self.is_cut = self.is_cut or count > room
                preludes = self._chunks[place].split("{", room)[:-1]
                # The brace at its end closes the innermost block.
                skipped = max(skipped + count - len(preludes) - 1, 0)
                opened += tuple(preludes[: count - 1])
            begins.append(place + 1)
            around.append(opened)
        return begins, around

    def _rules_at(self, place: int) -> Iterator[Rule]:
        *preludes, text = self._chunks[place].split("{", _MAX_DEPTH)
        begins, around = self._nesting
        path = around[bisect_right(begins, place) - 1]
        parts = [
            *[prelude.rpartition(";") for prelude in preludes],
            (text.partition("{")[0], "", ""),
        ]
        for number_, (declared, _, prelude) in enumerate(parts):
            opened = self._block(path)
            if opened is not None and opened.selectors and declared and not declared.isspace():
                yield from self._made(opened, declared, place * 2 * _MAX_DEPTH + number_)
            path = (*path, prelude)

    def _made(self, opened: _Open, declared: str, order: int) -> Iterator[Rule]:
        style = parse_declarations(declared)
        if not opened.is_certain:
            style = {name: _UNKNOWN for name in style if name in _PAINTED}
        for selector in opened.selectors if style else ():
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
                yield Rule(text, key, own, opened.layer, order)

    def _block(self, path: tuple[str, ...]) -> _Open | None:
        """Return the block at the end of a path of preludes, outermost first; `None` for one that is ignored."""
        if not path:
            return _Open([], is_certain=True, layer=_LAST_LAYER)
        if len(path) > _MAX_DEPTH:
            return None
        if path not in self._opened:
            around = self._block(path[:-1])
            self._opened[path] = around and self._inner(around, path[-1])
        return self._opened[path]

    def _inner(self, around: _Open, prelude: str) -> _Open | None:
        prelude = prelude.rpartition(";")[2].strip()
        if prelude.startswith("@"):
            return self._group(prelude, around)
        selectors = _selectors(prelude)
        if (names := self._names) is not None:
            selectors = [text for text in selectors if may_fit(text, names)]
        if around.selectors:
            selectors = _nested(around.selectors, selectors)
        return around._replace(selectors=selectors) if selectors else None

    def _group(self, prelude: str, around: _Open) -> _Open | None:
        found = _AT.match(prelude)
        name, rest = (found[1].lower(), prelude[found.end() :]) if found else ("", "")
        if prelude not in self._conditions:
            can_hold = name != "container" or self._has_containers
            self._conditions[prelude] = _holds(name, rest) if can_hold else None
        holds = self._conditions[prelude]
        if holds is False:
            return None
        selectors, layer = around.selectors, around.layer
        if name == "layer":
            layer = self._layers.get(rest, len(self._layers))
        elif name == "scope" and (scope := _SCOPE.match(rest)):
            selectors = SELECTOR.findall(scope[1])
        return _Open(selectors, bool(holds) and around.is_certain, layer)


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
    found = [
        inner.replace("&", outer) if "&" in inner else f"{outer} {inner}"
        for outer in around
        for inner in selectors[:_MAX_NESTED]
    ]
    # Shows that a limit was exceeded, and limits growth.
    return [text[: MAX_SELECTOR + 1].strip() for text in found[:_MAX_NESTED]] + [_TOO_LONG] * (
        len(found) > _MAX_NESTED
    )


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
