"""CSS variables (CSS Variables 1): the value on one element, and the possible values on any."""

import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

_VARIABLE = re.compile(r"var\(\s*(--[^\s,()]+)\s*(?:,((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+))?\)")
_MAX_VARIABLES: Final = 64
"""Replaced in one value; replacing also stops when it is longer than `_MAX_VALUE` characters."""

_MAX_VALUE: Final = 1_000
_MAX_WAYS: Final = 256
"""Values that a property may take through its variables; with more, it may hide."""

ASKED: Final = 20
"""Steps counted for looking up a variable, or the rules with a declaration."""

Scope = Mapping[str, str | None]
"""The variables of an element, inherited ones included; `None` for one that was reset."""

Spend = Callable[[int], bool]
"""Counts steps that a page can cause; returns whether any are left."""


class Ways(NamedTuple):
    """The values that a value may become, `None` for too many, and the variables in it."""

    texts: list[str] | None
    variables: AbstractSet[str]


def is_variable(name: str) -> bool:
    """Whether the name of a property is that of a variable."""
    return name[:2] == "--"


def depends(text: str) -> bool:
    """Whether a value has variables in it."""
    return "var(" in text


def replaced(text: str, scope: Scope, spend: Spend) -> str | None:
    """Return a value with its variables replaced; `None` if that is not possible."""
    for _ in range(_MAX_VARIABLES):
        if (found := _VARIABLE.search(text)) is None or not spend(1):
            break
        value = scope.get(found[1])
        if value is None:
            value = found[2]
        if value is None:
            return None
        text = f"{text[: found.start()]}{value.strip()}{text[found.end() :]}"
        if len(text) > _MAX_VALUE:
            return None
    return None if depends(text) else text.strip()


class Variables:
    """The values that the variables of a page may have.

    Args:
        values: everything that each is set to, anywhere.
        spend: counts the steps.
    """

    def __init__(self, values: Mapping[str, AbstractSet[str]], spend: Spend) -> None:
        self._values = values
        self._spend = spend
        self._known: dict[str, Ways] = {}

    def ways(self, text: str) -> Ways:
        """Return what a value may become; computed once for each."""
        if text not in self._known:
            self._known[text] = self._ways(text)
        return self._known[text]

    def _ways(self, text: str) -> Ways:
        texts, left, variables = list[str](), [text], set[str]()
        for _ in range(_MAX_WAYS):
            text = left.pop()
            if not depends(text) or (variable := _VARIABLE.search(text)) is None:
                texts.append(text)
            elif len(text) <= _MAX_VALUE:
                name, fallback = variable.groups()
                variables.add(name)
                values = {
                    *self._values.get(name, ()),
                    *([] if fallback is None else [fallback.strip()]),
                }
                begun, rest = text[: variable.start()], text[variable.end() :]
                left += [f"{begun}{each}{rest}" for each in values]
            if not left:
                return Ways(texts, variables)
            if not self._spend(ASKED):
                break
        return Ways(None, variables)
