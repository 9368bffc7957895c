"""Selectors of CSS, taken apart (Selectors 4)."""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

from searx_mcp.content.html.style.declarations import SPACE, unescaped

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
_FUNCTION = re.compile(r":(is|where|not)\(([^()]*+)\)", re.IGNORECASE)
_PSEUDO: Final = frozenset(
    [
        "not",
        "is",
        "where",
        "first-child",
        "last-child",
        "only-child",
        "empty",
        "root",
        "checked",
        "link",
        "any-link",
        "enabled",
        "read-only",
    ]
)
"""Pseudo-classes that the page itself decides, and that cost little for each element."""

_IN_ANOTHER = re.compile(r"[^\s,(]\s+[^\s,)]|[>+~]")
_OF_AN_ELEMENT: Final = re.compile(r"::?(?:before|after|backdrop)$", re.IGNORECASE)


_Weight = tuple[int, int, int]


class Compound(NamedTuple):
    """What one element must be.

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
        """What the element itself must be."""
        return self.compounds[-1]


NOTHING: Final = Selector((), (0, 0, 0), frozenset())
"""What no element is."""


def may_fit(selector: str, names: set[str]) -> bool:
    """Whether a page can have what a selector is about.

    Args:
        selector: one.
        names: the classes and ids of the page.
    """
    if "(" not in selector and "[" not in selector and "\\" not in selector:
        return names.issuperset(_PLAIN_NAMED.findall(selector))
    found: list[str] = _NAMED.findall(_INNER.sub("", selector))
    return names.issuperset(map(unescaped, found))


def parse(text: str) -> Selector | None:
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
    """Whether a function of a compound holds a combinator, or what is none of the page's."""
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
