"""The first sentence of an answer if no passage answers."""

from collections.abc import Sequence
from typing import Final

from searx_mcp.render.fence import one_line

NEXT: Final = (
    "Next: ask in other words, read another page, or search the web. Do not answer from memory."
)
_TERM_TOKENS: Final = 40


def refusal(
    support: float,
    missing: Sequence[str],
    boundary: str,
    *,
    what: str = "this",
    section: str = "",
) -> str:
    """Say in one sentence that no page answers, and what is missing.

    Args:
        support: of the best passage, 0 to 1.
        missing: words of the question that were not found.
        boundary: of the fence; with one, the sentence contains no untrusted heading.
        what: the thing that is not answered.
        section: the heading above the best passage.
    """
    where = f" (§ {section})" if section and not boundary else ""
    words = dict.fromkeys(missing)
    named = ", ".join(f'"{one_line(word, boundary, max_tokens=_TERM_TOKENS)}"' for word in words)
    told = f"; not found: {named}" if named else ""
    return f"No page answers {what}. Best match {support:.2f}{where}{told}."
