"""Selectors of CSS, taken apart (Selectors 4), and which elements of a page they are about.

What a tag, a class and an id ask is looked up here, since they ask it of thousands of elements; attributes
and pseudo-classes are left to the parser. It is never given a combinator: it tries every way through the
elements around, and `b div div div p` in 500 nested `<div>` takes it 10 s; nor `:nth-child()`, which takes
it more than a minute for 60,000 siblings.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from searx_mcp.content.html.declarations import SPACE, unescaped

MAX_SELECTOR: Final = 1_000
"""Characters of one."""

_MAX_COMPOUNDS: Final = 32
_NAME: Final = r"(?:[-\w\u0080-\U0010ffff]++|\\[0-9a-fA-F]{1,6}[ \t\r\n\f]?|\\[^\r\n\f])++"
_GROUP: Final = (
    r"\((?:[^()]|\([^()]*+\))*+\)|\[(?:[^\[\]\"']|\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')*+\]"
)
_COMPOUND: Final = rf"(?:(?:{_NAME}|\*)?+(?:[.#:]{_NAME}|{_GROUP})*+)"
_STEP = re.compile(rf"{SPACE}([>+~]?){SPACE}({_COMPOUND})")
SELECTOR = re.compile(rf"(?:[^,()\[\]\\]|\\.|{_GROUP})++", re.DOTALL)
_NAMED = re.compile(rf"[.#]({_NAME})")
_PLAIN_NAMED = re.compile(r"[.#]([^\x00-,./:-@\[-^`{-\x7f]++)")
"""The same where nothing is escaped: what is excluded is ASCII that is in no name, which takes half the time."""

_INNER = re.compile(_GROUP)
_TAG = re.compile(_NAME)
_MARKS: Final = ".#["
"""What no tag begins with, although its name can be written so."""

_PART = re.compile(rf"([.#:])({_NAME})|\[{SPACE}({_NAME})")
_NTH = re.compile(
    rf":nth-child\({SPACE}(?:(odd|even)|([-+]?[0-9]{{0,4}})n(?:{SPACE}([-+]){SPACE}([0-9]{{1,6}}))?|([0-9]{{1,6}})){SPACE}\)"
)
_DYNAMIC: Final = r":(?:hover|focus(?:-within|-visible)?|active|target|visited|autofill|fullscreen|invalid|placeholder-shown|popover-open)"
_NOT_DYNAMIC = re.compile(rf":not\({SPACE}{_DYNAMIC}{SPACE}\)", re.IGNORECASE)
_FUNCTION = re.compile(r":(is|where|not|has)\(([^()]*+)\)", re.IGNORECASE)
_PSEUDO: Final = frozenset({
    "not", "is", "where", "has", "first-child", "last-child", "only-child", "empty", "root", "checked", "link",
    "any-link", "enabled", "read-only",
})  # fmt: skip
"""Pseudo-classes that the page itself decides, and that cost little for each element."""

_HAS = re.compile(rf":has\({SPACE}[>+]?(?![>+~])", re.IGNORECASE)
"""Not with `~`: the parser would compare each element with all that follow it."""

_HAS_IN_HAS = re.compile(r":has\((?:[^()]|\([^()]*+\))*?:has\(", re.IGNORECASE)
"""Which browsers refuse, and which takes the parser the square of the depth."""

_IN_ANOTHER = re.compile(r"[^\s,(]\s+[^\s,)]|[>+~]")
_OF_AN_ELEMENT: Final = re.compile(r"::?(?:before|after|backdrop)$", re.IGNORECASE)


_Weight = tuple[int, int, int]

MAX_STEPS: Final = 100_000
"""Comparisons of an element with a selector, about 0.3 s. Of 415 pages none needs more than 21,000; a page
that does is a trap."""

_KEYS: Final = 8
"""What is copied in the time of a comparison."""

_QUERY: Final = 300
"""What it costs to ask the parser for all elements that fit, in comparisons."""


_DEEP_QUERY: Final = 5_000
"""The same for those that have others inside, 0.1 s for 60,000 elements at the greatest depth."""


class Compound(NamedTuple):
    """A description of one element.

    Attributes:
        combinator: how the compound before it stands to it: `" "`, `">"`, `"+"` or `"~"`; empty for the first.
        key: something that an element has which fits: mostly rare, so that few others have it.
        keys: all that it has: its tag, `.` with a class, `#` with its id, `[` with the name of an attribute.
        text: what the parser is asked; empty if the rest says it all.
        nth: `a` and `b` of `:nth-child(an+b)`.
    """

    combinator: str
    key: str
    keys: frozenset[str]
    text: str
    nth: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Selector:
    """A selector.

    Attributes:
        compounds: from the outermost to the one that is meant.
        weight: ids, classes and tags of all.
        around: keys of elements that must be around.
    """

    compounds: tuple[Compound, ...]
    weight: _Weight
    around: frozenset[str]

    @property
    def target(self) -> Compound:
        """The compound that is about the element itself."""
        return self.compounds[-1]


NOTHING: Final = Selector((), (0, 0, 0), frozenset())
"""What no element is."""


def may_fit(selector: str, names: set[str]) -> bool:
    """Tell whether a page can have what a selector is about.

    Args:
        selector: one.
        names: the classes and ids of the page.
    """
    if "(" not in selector and "[" not in selector and "\\" not in selector:
        return names.issuperset(_PLAIN_NAMED.findall(selector))
    found: list[str] = _NAMED.findall(_INNER.sub("", selector))
    return names.issuperset(map(unescaped, found))


def parse_selector(text: str) -> Selector | None:
    """Read one selector.

    Returns:
        `None` for one that is about no element as the page is at first, or cannot be understood.
    """
    if ":" in text:
        text = _NOT_DYNAMIC.sub("", text).replace(":checked", "[checked]")
    compounds: list[Compound] = []
    weight, around = (0, 0, 0), set()
    end = 0
    for step in _STEP.finditer(text):
        if step.start() != end or len(compounds) == _MAX_COMPOUNDS:
            return None
        if not step[2]:
            break
        end = step.end()
        combinator = (step[1] or " ") if compounds else ""
        read = _compound(combinator, step[2])
        if read is None:
            return None
        if combinator in {" ", ">"}:
            around.add(compounds[-1].key)
        compounds.append(read[0])
        weight = _sum(weight, read[1])
    if not compounds or text[end:].strip():
        return None
    return Selector(tuple(compounds), weight, frozenset(around))


def decorated(text: str) -> str | None:
    """The selector of the element whose decoration (`::before`) a selector is about, if it is."""
    found = _OF_AN_ELEMENT.search(text)
    return text[: found.start()] if found else None


def _compound(combinator: str, text: str) -> tuple[Compound, _Weight] | None:
    """A compound and its weight; `None` if it asks for what the page does not decide."""
    own, weight, nth = text, (0, 0, 0), None
    if "(" in text:
        if (found := _NTH.search(text)) is not None:
            nth = _step(found)
            weight = (0, 1, 0)
            own = text = text.replace(found[0], "", 1)
        if _asks_around(text):
            return None
        own, functions = _without_functions(text)
        weight = _sum(weight, functions)
    if "[" in own:
        own = _INNER.sub(lambda group: group[0].partition("=")[0], own)
    tag = _TAG.match(own)
    ids: list[str] = []
    classes: list[str] = []
    attributes: list[str] = []
    pseudo: list[str] = []
    for mark, name, attribute in _PART.findall(own):
        if mark == ":":
            pseudo.append(name.lower())
        elif mark:
            (ids if mark == "#" else classes).append(mark + unescaped(name))
        else:
            attributes.append(f"[{attribute.lower()}")
    if pseudo and not _PSEUDO.issuperset(pseudo):
        return None
    tags = [unescaped(tag[0]).lower()] if tag else ["html"] if "root" in pseudo else []
    if tags and tags[0][0] in _MARKS:
        return None
    asks = own is not text or attributes or (pseudo and pseudo != ["root"])
    key = min(ids or classes or attributes or tags or ["*"])
    keys = frozenset([*ids, *classes, *attributes, *tags])
    compound = Compound(combinator, key, keys, text if asks else "", nth)
    named = len(classes) + len(attributes) + len(pseudo)
    return compound, (weight[0] + len(ids), weight[1] + named, weight[2] + (tag is not None))


def _without_functions(text: str) -> tuple[str, _Weight]:
    """A compound without `:is()` and the like, and what these weigh (Selectors 4, section 17)."""
    weight = (0, 0, 0)
    while (found := _FUNCTION.search(text)) is not None:
        if found[1].lower() != "where":
            weight = _sum(weight, max(map(_weight, SELECTOR.findall(found[2]) or [""])))
        text = text[: found.start()] + text[found.end() :]
    return text, weight


def _weight(text: str) -> _Weight:
    read = _compound("", text.strip())
    return read[1] if read else (0, 0, 0)


def _sum(one: _Weight, other: _Weight) -> _Weight:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]


def _asks_around(text: str) -> bool:
    """Tell whether a function of a compound holds a combinator or asks for what the page does not decide."""
    if _HAS_IN_HAS.search(text):
        return True
    text = _HAS.sub("(", text)
    inner = [group[0] for group in _INNER.finditer(text) if group[0].startswith("(")]
    return any(
        _IN_ANOTHER.search(_INNER.sub("", group[1:-1]))
        or not {name.lower() for mark, name, _ in _PART.findall(group) if mark == ":"} <= _PSEUDO
        for group in inner
    )


def _step(nth: re.Match[str]) -> tuple[int, int]:
    word, step, sign, offset, place = nth.groups()
    if word:
        return 2, int(word == "odd")
    if place:
        return 0, int(place)
    each = int(f"{step}1") if step in {"", "+", "-"} else int(step)
    return each, int(f"{sign}{offset}") if offset else 0


class Matcher:
    """Tells which elements of a page selectors are about; each question is answered once.

    The time is linear in the elements and compounds asked about, and ends after `MAX_STEPS`.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._steps = 0
        self._keys: dict[int, frozenset[str]] = {}
        self._alike: dict[tuple[str | None, ...], frozenset[str]] = {}
        """The keys of elements that have the same: of ten elements that are asked about, six are like another."""
        self._answers: dict[tuple[int, int, int], bool] = {}
        self._reached: dict[tuple[int, int, int], bool] = {}
        self._asked: dict[str, frozenset[int]] = {}
        self._places: dict[int, int] = {}
        self._around: dict[int, frozenset[str]] = {}
        self._last: tuple[int, frozenset[str]] = 0, frozenset()
        """The element that was asked about last, with the keys around it: many rules ask about one."""

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing fits any more, since too much was asked."""
        return self._steps > MAX_STEPS

    def spend(self, steps: int) -> bool:
        """Take from what may be asked; whether there is something left."""
        self._steps += steps
        return not self.is_exhausted

    def keys(self, element: LexborNode) -> frozenset[str]:
        """Give what compounds may ask of an element that it has (see `Compound.keys`), and `*`."""
        mem_id = element.mem_id
        found = self._keys.get(mem_id)
        if found is None:
            attributes = element.attributes
            tag, classes, identifier = element.tag, attributes.get("class"), attributes.get("id")
            like = (tag, classes, identifier, *attributes)
            found = self._alike.get(like)
            if found is None:
                keys = ["*", tag or "", *[f"[{name}" for name in attributes]]
                keys += [f".{name}" for name in (classes or "").split()]
                found = frozenset([*keys, f"#{identifier}"] if identifier else keys)
                self._alike[like] = found
            self._keys[mem_id] = found
        return found

    def fits(self, element: LexborNode, selector: Selector) -> bool:
        """Tell whether a selector is about an element."""
        self._steps += 1
        if not selector.compounds or self._steps > MAX_STEPS:
            return False
        if selector.around and not selector.around <= self.keys_around(element):
            return False
        return self._fits(element, selector, len(selector.compounds) - 1)

    def keys_around(self, element: LexborNode) -> frozenset[str]:
        """The keys of all elements around one."""
        mem_id, keys = self._last
        if mem_id == element.mem_id:
            return keys
        path: list[LexborNode] = []
        keys = frozenset[str]()
        node = _parent(element)
        while node is not None:
            known = self._around.get(node.mem_id)
            if known is not None:
                keys = known
                break
            path.append(node)
            node = _parent(node)
        for node in reversed(path):
            keys = self._around[node.mem_id] = keys | self.keys(node)
            self._steps += len(keys) // _KEYS
        self._last = element.mem_id, keys
        return keys

    def _fits(self, element: LexborNode, selector: Selector, at: int) -> bool:
        compound = selector.compounds[at]
        if not self._is(element, compound):
            return False
        if at == 0:
            return True
        key = (element.mem_id, id(selector), at)
        answer = self._answers.get(key)
        if answer is None:
            step = _before if compound.combinator in {"+", "~"} else _parent
            if compound.combinator in {"+", ">"}:
                other = step(element)
                answer = other is not None and self._fits(other, selector, at - 1)
            else:
                answer = self._reaches(element, selector, at, step)
            self._answers[key] = answer
        return answer

    def _reaches(
        self,
        element: LexborNode,
        selector: Selector,
        at: int,
        step: Callable[[LexborNode], LexborNode | None],
    ) -> bool:
        """Tell whether one of those around or before an element fits the compound before."""
        passed: list[tuple[int, int, int]] = []
        found, other = False, step(element)
        while other is not None and not self.is_exhausted:
            key = (other.mem_id, id(selector), at)
            known = self._reached.get(key)
            if known is not None:
                found = known
                break
            passed.append(key)
            if self._fits(other, selector, at - 1):
                found = True
                break
            other = step(other)
        self._reached.update(dict.fromkeys(passed, found))
        return found

    def _is(self, element: LexborNode, compound: Compound) -> bool:
        self._steps += 1
        if self._steps > MAX_STEPS or not compound.keys <= self.keys(element):
            return False
        if compound.nth is not None and not _is_nth(self._place(element), *compound.nth):
            return False
        return not compound.text or self._asks(element, compound.text)

    def _asks(self, element: LexborNode, text: str) -> bool:
        found = self._asked.get(text)
        if found is None:
            self._steps += _DEEP_QUERY if ":has(" in text.lower() else _QUERY
            try:
                elements = self._tree.css(text)
            except SelectolaxError:
                elements = []
            self._steps += len(elements)
            found = self._asked[text] = frozenset(each.mem_id for each in elements)
        return element.mem_id in found

    def _place(self, element: LexborNode) -> int:
        """Tell which child of its parent an element is, from 1 on."""
        if element.mem_id not in self._places and (parent := element.parent) is not None:
            for place, child in enumerate(parent.iter(include_text=False), 1):
                self._places[child.mem_id] = place
                self._steps += 1
        return self._places.get(element.mem_id, 1)


def _is_nth(place: int, each: int, offset: int) -> bool:
    if each == 0:
        return place == offset
    return (place - offset) % each == 0 and (place - offset) // each >= 0


def _parent(element: LexborNode) -> LexborNode | None:
    parent = element.parent
    return parent if parent is not None and parent.is_element_node else None


def _before(element: LexborNode) -> LexborNode | None:
    other = element.prev
    while other is not None and not other.is_element_node:
        other = other.prev
    return other
