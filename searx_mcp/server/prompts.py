"""The prompts of the server. A user picks one from a menu, and its text becomes the user's message."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from mcp.server.mcpserver.prompts.base import Prompt, PromptArgument
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from searx_mcp.models.spelling import did_you_mean, shown
from searx_mcp.server.instructions import STRANGERS
from searx_mcp.settings.tools import Tool

MAX_QUESTION: Final = 2_000
"""Most characters of a question; a choice: four times those of a query, which is derived from it."""


class Depth(StrEnum):
    """How much work an answer is worth."""

    QUICK = "quick"
    STANDARD = "standard"
    DEEP = "deep"


_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_FENCE: Final = re.compile(r"<(?=\s?/?\s?question\b)", re.IGNORECASE)
_SEARCHES: Final = {Depth.QUICK: 1, Depth.STANDARD: 3, Depth.DEEP: 6}
_PAGES: Final = {Depth.QUICK: 2, Depth.STANDARD: 6, Depth.DEEP: 15}
"""Most pages to read; a choice: at 2,000 tokens each, a deep answer fits a context of 64,000."""


def refusal(reason: str) -> MCPError:
    """Return the error for a request that the client must correct."""
    return MCPError(code=INVALID_PARAMS, message=reason, data={"error_type": "invalid_argument"})


def research_prompt(names: Mapping[Tool, str], boundary: str, *, batches: bool) -> Prompt:
    """Return the prompt `research`: which tools to call in which order, and how to cite.

    Args:
        names: published name of each tool.
        boundary: boundary of the fences around untrusted text, which the question cannot forge.
        batches: whether the schema of a search allows several queries.
    """

    async def write(**arguments: object) -> str:
        from searx_mcp.render.fence import neutralise  # noqa: PLC0415 - only this prompt needs it

        for name in arguments:
            if name not in {"question", "depth"}:
                hint = did_you_mean(name, ["question", "depth"])
                raise refusal(f"{shown(name)} is not an argument{hint}")
        question = neutralise(_question(arguments.get("question")), boundary)
        steps = _steps(names, _depth(arguments.get("depth")), batches=batches)
        return "\n".join(
            (
                "Answer this question from the web, with sources:",
                f"<question>{question}</question>",
                "",
                *(f"{number}. {step}" for number, step in enumerate(steps, 1)),
                "",
                STRANGERS,
            )
        )

    return Prompt(
        name="research",
        title="Research a question",
        description="Search the web, read the best pages, and answer with cited sources.",
        arguments=[
            PromptArgument(
                name="question",
                description=f"What you want to know, at most {MAX_QUESTION:,} characters.",
                required=True,
            ),
            PromptArgument(name="depth", description=f"{', '.join(Depth)}; standard by default."),
        ],
        fn=write,
    )


def _steps(names: Mapping[Tool, str], depth: Depth, *, batches: bool) -> Iterator[str]:
    """Yield the steps, in order, with the available tools."""
    searches, pages = _SEARCHES[depth], _PAGES[depth]
    if tool := names.get(Tool.WEB_SEARCH) or names.get(Tool.SEARCH):
        if searches == 1:
            yield f"Call {tool} once, with a short query."
        elif batches:
            yield (
                f"Break the question down into the facts you need. Call {tool} once: put a short query for the"
                f" first fact in query, up to {searches - 1} more in queries, and the whole question in"
                " search_prompt."
            )
        else:
            yield (
                f"Break the question down into the facts you need. Call {tool} up to {searches} times, each"
                " time with a short query for one of them."
            )
    if reading := list(_reading(names)):
        yield (f"Read up to {pages} pages, primary sources first, with {' or '.join(reading)}.")
    if depth is not Depth.QUICK:
        if tool := names.get(Tool.ANSWER):
            yield f"For the claims your conclusion rests on, call {tool}: it checks its quotes."
        if tool := names.get(Tool.SEARCH_CORPUS):
            yield f"For further questions about pages you have read, call {tool}."
        yield (
            "Back each important claim with two independent sources. Where sources disagree, say so, and"
            " say which is newer."
        )
    if depth is Depth.DEEP:
        yield "Look for evidence against your conclusion before you write."
    yield (
        "Give the answer first, then the reasons. Cite [1], [2] and so on after each claim, and end with the"
        " list of sources: title and URL, and only pages that a tool returned."
    )
    yield "Say what you could not find or read, and do not fill the gap from memory."


def _reading(names: Mapping[Tool, str]) -> Iterator[str]:
    if tool := names.get(Tool.READ_PAGE):
        yield f"{tool} (the passages that answer a question)"
    if tool := names.get(Tool.WEB_FETCH):
        yield f"{tool} (the page itself)"
    if tool := names.get(Tool.FETCH):
        yield f"{tool} (by the id of a result)"


def _question(given: object) -> str:
    """Return the question as one line, so that no part of it looks like a step."""
    text = given if isinstance(given, str) else ""
    if len(text) > MAX_QUESTION:
        raise refusal(f"question: has {len(text):,} characters; at most {MAX_QUESTION:,} are taken")
    line = " ".join(_CONTROLS.sub(" ", text).split())
    if not line:
        raise refusal("question: is missing")
    return _FENCE.sub("[", line)


def _depth(given: object) -> Depth:
    text = given.strip().lower() if isinstance(given, str) else ""
    try:
        return Depth(text or Depth.STANDARD)
    except ValueError:
        hint = did_you_mean(text, [*Depth])
        raise refusal(f"depth: {shown(text)} is not one of {', '.join(Depth)}{hint}") from None
