"""Tokens of o200k_base, counted with its vocabulary where one is installed, else estimated."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from searx_mcp.render.tokens import estimate

PACKAGE: Final = "rs-bpe"
"""Carries the vocabulary within, so that nothing is downloaded at run time."""
_PER_TOKEN: Final = 1.1
_PER_SCHEMA_TOKEN: Final = 1.45
"""Tokens of our estimate for one of o200k_base, rather too few: 1.12 to 1.18 and 1.52 were measured."""


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts tokens.

    Attributes:
        name: of what is counted, for the head of a column.
        count: the tokens of a text.
        count_schema: the tokens of the JSON of tools, which has more punctuation.
    """

    name: str
    count: Callable[[str], int]
    count_schema: Callable[[str], int]

    def schema(self, tools: list[dict[str, Any]]) -> int:
        """The tokens of some tools as a model sees them: name, description and schema of the arguments."""
        seen = ("name", "description", "inputSchema")
        return self.whole([{key: tool[key] for key in seen if key in tool} for tool in tools])

    def whole(self, tools: list[dict[str, Any]]) -> int:
        """The tokens of all that is said of some tools."""
        return self.count_schema(_compact(tools))

    def data(self, value: Mapping[str, Any] | None) -> int:
        """The tokens of structured content as JSON without blanks; none of what is not there."""
        return 0 if value is None else self.count(_compact(value))


def best_counter() -> Counter:
    """The vocabulary if its package is installed, else the estimate."""
    try:
        vocabulary = import_module("rs_bpe.bpe").openai.o200k_base()
    except ImportError:
        return ESTIMATE
    return Counter("o200k", vocabulary.count, vocabulary.count)


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


ESTIMATE: Final = Counter(
    "o200k, estimated",
    lambda text: round(estimate(text) / _PER_TOKEN),
    lambda text: round(estimate(text) / _PER_SCHEMA_TOKEN),
)
