"""Numbers and lengths of CSS (CSS Values 4)."""

import math
import re
from collections.abc import Callable
from typing import Final

_PIXELS: Final = {
    "px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945,
    "rem": 16.0, "rlh": 20.0, "em": 16.0, "ex": 8.0, "ch": 8.0, "lh": 20.0, "cap": 11.0, "ic": 16.0,
    **{f"{size}{side}": 10.0 for size in ("", "s", "l", "d") for side in ("vw", "vh", "vi", "vb", "vmin", "vmax")},
    "cqw": 10.0, "cqh": 10.0, "cqi": 10.0, "cqb": 10.0, "cqmin": 10.0, "cqmax": 10.0,
}  # fmt: skip
"""Letters of 16 pixels in a window of 1,000 are assumed."""

_OTHER: Final = {"": 1.0, "deg": 1.0, "turn": 360.0, "grad": 0.9, "rad": 180 / math.pi}
UNITS: Final = _PIXELS | _OTHER
PERCENT: Final = "%"
_LETTERS: Final = 16.0

_NUMBER: Final = r"[+-]?(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:e[+-]?[0-9]{1,3}(?![a-z%]))?"
_LENGTH = re.compile(rf"({_NUMBER})([a-z%]*+)")
_TOKEN = re.compile(rf"\s*+(?:({_NUMBER})([a-z%]*+)|([a-z-]*+\()|([-+*/),]))\s*+")
_CALLS: Final[dict[str, Callable[[list[float]], float]]] = {
    "min(": min, "max(": max, "(": sum, "calc(": sum, "-webkit-calc(": sum,
    "clamp(": lambda three: max(three[0], min(three[1:])), "abs(": lambda one: abs(one[0]),
}  # fmt: skip
_MAX_CALCULATION: Final = 500
"""Characters."""

_MAX_DEPTH: Final = 16


def number(text: str, *, share: float | None = None, letters: float = _LETTERS) -> float | None:
    """A number, an angle in degrees or a length in pixels, calculated if it is to be.

    Args:
        text: in lower case.
        share: what 100 % are; `None` if percentages are not known.
        letters: pixels of an `em`.

    Returns:
        `None` for anything else, such as a keyword.
    """
    if found := _LENGTH.fullmatch(text):
        return _amount(found[1], found[2], share, letters)
    if not text.endswith(")") or len(text) > _MAX_CALCULATION:
        return None
    try:
        calculation = _Calculation(text, share, letters)
        value = calculation.product(0)
        return value if calculation.is_done and math.isfinite(value) else None
    except (ValueError, IndexError, ZeroDivisionError, OverflowError, TypeError):
        return None


def _amount(digits: str, unit: str, share: float | None, letters: float) -> float | None:
    if unit == PERCENT:
        return None if share is None else float(digits) / 100 * share
    if unit == "em":
        return float(digits) * letters
    return float(digits) * UNITS[unit] if unit in UNITS else None


class _Calculation:
    """One pass over a sum of products (CSS Values 4, section 10)."""

    def __init__(self, text: str, share: float | None, letters: float) -> None:
        self._tokens: list[tuple[str, str, str, str]] = []
        self._share, self._letters, self._at = share, letters, 0
        end = 0
        for found in _TOKEN.finditer(text):
            if found.start() != end:
                break
            end = found.end()
            self._tokens.append((found[1] or "", found[2] or "", found[3] or "", found[4] or ""))
        if end != len(text):
            raise ValueError(text)

    @property
    def is_done(self) -> bool:
        """Whether all of it was read."""
        return self._at == len(self._tokens)

    def product(self, depth: int) -> float:
        """Factors up to what is none."""
        value = self._factor(depth)
        while self._sign() in {"*", "/"}:
            is_product = self._next()[3] == "*"
            factor = self._factor(depth)
            value = value * factor if is_product else value / factor
        return value

    def _sum(self, depth: int) -> float:
        value = self.product(depth)
        while self._sign() in {"+", "-"}:
            is_sum = self._next()[3] == "+"
            other = self.product(depth)
            value += other if is_sum else -other
        return value

    def _factor(self, depth: int) -> float:
        digits, unit, call, _ = self._next()
        if digits:
            amount = _amount(digits, unit, self._share, self._letters)
            if amount is None:
                raise ValueError(unit)
            return amount
        if call not in _CALLS or depth > _MAX_DEPTH:
            raise ValueError(call)
        values = [self._sum(depth + 1)]
        while (sign := self._next()[3]) == ",":
            values.append(self._sum(depth + 1))
        if sign != ")":
            raise ValueError(sign)
        return _CALLS[call](values)

    def _next(self) -> tuple[str, str, str, str]:
        self._at += 1
        return self._tokens[self._at - 1]

    def _sign(self) -> str:
        return "" if self.is_done else self._tokens[self._at][3]
