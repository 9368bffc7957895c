"""CSS selectors (Selectors 4), and the elements of a page that they match.

The parser matches the parts between spaces, including `>` and `+`. It never gets a space or `~`: it would try every
path through the ancestors, and takes 10 s for `b div div div p` in 500 nested `<div>`.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from searx_mcp.content.html.declarations import SPACE, unescaped

MAX_SELECTOR: Final = 1_000
"""Characters in one selector."""

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
"""The same without escapes: it excludes the ASCII characters that are in no name, which takes half the time."""

_INNER = re.compile(rf"(?<!\\)(?:{_GROUP})")
_VALUES = re.compile(r"\\.|\[[^\]]*+\]")
_PSEUDO_NAME = re.compile(rf":({_NAME}|:)")
_TAG = re.compile(r"(?<![-\w.#:\[])[a-zA-Z][-\w]*+")
_NTH = re.compile(r"nth-(?:last-)?(?:child|of-type)\([-+n0-9odevn ]*+\)", re.IGNORECASE)
_DYNAMIC: Final = r":(?:hover|focus(?:-within|-visible)?|active|target|visited|autofill|fullscreen|invalid|placeholder-shown|popover-open)"
_NOT_DYNAMIC = re.compile(rf":not\({SPACE}{_DYNAMIC}{SPACE}\)", re.IGNORECASE)
_FUNCTION = re.compile(r":(is|where|not|has)\(([^()]*+)\)", re.IGNORECASE)
_PSEUDO: Final = frozenset({
    "not", "is", "where", "has", "first-child", "last-child", "only-child", "empty", "root", "checked", "link",
    "any-link", "enabled", "read-only", "nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type", "first-of-type",
    "last-of-type", "only-of-type",
})  # fmt: skip
"""Pseudo-classes that depend only on the page, and cost little for each element."""

_HAS = re.compile(rf":has\({SPACE}[>+]?(?![>+~])", re.IGNORECASE)
"""Without `~`: the parser would compare each element with all that follow it."""

_HAS_IN_HAS = re.compile(r":has\((?:[^()]|\([^()]*+\))*?:has\(", re.IGNORECASE)
"""Browsers reject it, and the parser's time is quadratic in the depth."""

_IN_ANOTHER = re.compile(r"[^\s,(]\s+[^\s,)]|[>+~]")

Weight = tuple[int, int, int]
"""Ids, classes and tags."""

MAX_VISITS: Final = 20_000_000
"""Elements that the parser visits for all queries of a page, about 0.3 s. Of 415 pages none needs more than
a twentieth of them; a page that does is a trap."""

_DEEP: Final = 50
"""Factor by which a query for elements that contain others costs more."""

_AMONG: Final = 8
"""Siblings that the parser counts in the time of one visit; it counts them again for each element."""

_COSTLY = re.compile(r"nth-|-of-type", re.IGNORECASE)
_FEW: Final = 4
"""With up to this many elements, each is searched for descendants; with more, ancestors are walked."""

_STEPS: Final = 20
"""Elements that the parser visits in the time of one visit here."""


class _Part(NamedTuple):
    """A part of a selector, for one query of the parser.

    Attributes:
        combinator: joins its first element to the part before it; empty for the first part.
        text: compounds with `>` and `+` between them.
        steps: these combinators, the last first: the way from the matched element to its first element.
    """

    combinator: str
    text: str
    steps: str


def may_fit(selector: str, names: set[str]) -> bool:
    """Whether a page can have elements that a selector matches.

    Args:
        selector: one selector.
        names: the classes and ids of the page.
    """
    if "(" not in selector and "[" not in selector and "\\" not in selector:
        return names.issuperset(_PLAIN_NAMED.findall(selector))
    found: list[str] = _NAMED.findall(_INNER.sub("", selector))
    return names.issuperset(map(unescaped, found))


def key_of(text: str) -> str:
    """A key that all elements matched by a selector share: `#` with an id, `.` with a class, a tag, or `*`.

    Empty if it matches no element in the initial state of the page.
    """
    if "\\" in text:
        return "*"
    if "(" in text or "[" in text or ":" in text:
        text = _INNER.sub("", text)
        if not _PSEUDO.issuperset(_PSEUDO_NAME.findall(text.lower())):
            return ""
        text = _PSEUDO_NAME.sub("", text)
    for combinator in ">+~":
        text = text.replace(combinator, " ")
    head, mark, identifier = text.rpartition(" ")[2].partition("#")
    if mark:
        return f"#{identifier.partition('.')[0]}"
    tag, mark, classes = head.partition(".")
    return f".{min(classes.split('.'))}" if mark else tag.lower() or "*"


def weigh(text: str) -> Weight:
    """The specificity of a selector (Selectors 4, section 17)."""
    ids = classes = tags = 0
    while (found := _FUNCTION.search(text)) is not None:
        if found[1].lower() != "where":
            most = max(map(weigh, SELECTOR.findall(found[2])), default=(0, 0, 0))
            ids, classes, tags = ids + most[0], classes + most[1], tags + most[2]
        text = f"{text[: found.start()]}{text[found.end() :]}"
    text = _INNER.sub(lambda group: group[0][0].strip("("), re.sub(r"\\.", "_", text))
    named = sum(map(text.count, ".[:"))
    return ids + text.count("#"), classes + named, tags + len(_TAG.findall(text))


def _parts(text: str) -> list[_Part] | None:
    """Split a selector; `None` if it matches no element in the initial state of the page, or is not understood."""
    if ":" in text:
        text = _NOT_DYNAMIC.sub("", text).replace(":checked", "[checked]")
    parts: list[_Part] = []
    end = count = 0
    for step in _STEP.finditer(text):
        if not step[2]:
            break
        combinator, compound = step[1] or " ", step[2]
        if step.start() != end or count == _MAX_COMPOUNDS or not _is_asked(compound):
            return None
        end, count = step.end(), count + 1
        if parts and combinator in ">+":
            reached, before, steps = parts[-1]
            parts[-1] = _Part(reached, f"{before}{combinator}{compound}", combinator + steps)
        else:
            parts.append(_Part(combinator if parts else "", compound, ""))
    return parts if parts and not text[end:].strip() else None


def _is_asked(compound: str) -> bool:
    """Whether a compound depends only on the page, and functions in it only on one element."""
    if ":" not in compound:
        return True
    if "(" in compound:
        compound = _NTH.sub("empty", compound)
        if _HAS_IN_HAS.search(compound):
            return False
        inner = _INNER.findall(_HAS.sub("(", compound))
        if any(each[0] == "(" and _IN_ANOTHER.search(_INNER.sub("", each[1:-1])) for each in inner):
            return False
    own = _VALUES.sub("", compound)
    return _PSEUDO.issuperset(name.lower() for name in _PSEUDO_NAME.findall(own))


class Matcher:
    """Finds the elements of a page that selectors match; each query is run once.

    The time is linear in the elements for each selector, and ends after `MAX_VISITS`.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._left = MAX_VISITS
        self._elements = len(tree.css("*"))
        self._asked: dict[str, dict[int, LexborNode]] = {}
        self._found: dict[str, dict[int, LexborNode]] = {}

    @property
    def is_exhausted(self) -> bool:
        """Whether the limit is used up, so that nothing is found any more."""
        return self._left < 0

    def spend(self, steps: int) -> bool:
        """Take steps from the limit; returns whether any are left."""
        self._left -= steps * _STEPS
        return self._left >= 0

    def find(self, selector: str) -> Mapping[int, LexborNode]:
        """The elements that a selector matches, by their ids in memory; none once the limit is used up."""
        found = self._found.get(selector)
        if found is None:
            found = self._found[selector] = self._looked_for(_parts(selector) or [])
        return found if self.spend(len(found)) else {}

    def _looked_for(self, parts: list[_Part]) -> dict[int, LexborNode]:
        if not parts or not self._ask(parts[-1]):
            return {}
        found = self._ask(parts[0])
        for part in parts[1:]:
            if not found:
                break
            around, known = found, dict[int, bool]()
            if part.combinator == " " and not part.steps and len(around) <= _FEW:
                found = self._inside(around, part)
                continue
            found = {
                mem_id: node
                for mem_id, node in self._ask(part).items()
                if self._stands(node, part, around, known)
            }
        return found

    def _inside(self, around: Mapping[int, LexborNode], part: _Part) -> dict[int, LexborNode]:
        """The elements that match a part and are inside one of a few elements."""
        self._left -= self._elements * len(around)
        known = self._ask(part)
        return {
            found.mem_id: found
            for node in (around.values() if known and self._left >= 0 else ())
            for found in node.css(part.text)
            if found.mem_id != node.mem_id and found.mem_id in known
        }

    def _ask(self, part: _Part) -> dict[int, LexborNode]:
        text = part.text
        found = self._asked.get(text)
        if found is None:
            each = (
                _DEEP
                if ":has(" in text.lower()
                else self._elements // _AMONG
                if _COSTLY.search(text)
                else 1
            )
            self._left -= self._elements * max(each, 1)
            try:
                nodes = self._tree.css(text) if self._left >= 0 else []
            except SelectolaxError:
                nodes = []
            found = self._asked[text] = {node.mem_id: node for node in nodes}
            self.spend(len(nodes))
        return found

    def _stands(
        self,
        node: LexborNode,
        part: _Part,
        around: Mapping[int, LexborNode],
        known: dict[int, bool],
    ) -> bool:
        """Whether the first element of a part has the required relation to one of some elements."""
        first: LexborNode | None = node
        for combinator in part.steps:
            first = first and (_parent(first) if combinator == ">" else _before(first))
        step = _parent if part.combinator == " " else _before
        other = first and step(first)
        passed: list[int] = []
        answer = False
        while other is not None and not answer:
            mem_id = other.mem_id
            if mem_id in known:
                answer = known[mem_id]
                break
            passed.append(mem_id)
            answer = mem_id in around
            other = step(other)
        known.update(dict.fromkeys(passed, answer))
        self.spend(len(passed) + 1)
        return answer


def _parent(element: LexborNode) -> LexborNode | None:
    parent = element.parent
    return parent if parent is not None and parent.is_element_node else None


def _before(element: LexborNode) -> LexborNode | None:
    other = element.prev
    while other is not None and not other.is_element_node:
        other = other.prev
    return other
