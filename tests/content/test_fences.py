"""Where fenced code begins and ends."""

from itertools import pairwise

import pytest

from searx_mcp.content.fences import code_spans, in_code


@pytest.mark.parametrize(
    ("markdown", "code"),
    [
        pytest.param("a\n```\nx\n```\nb", ["```\nx\n```"], id="plain"),
        pytest.param("```py\nx\n```", ["```py\nx\n```"], id="language"),
        pytest.param("~~~\n```\n~~~\nb", ["~~~\n```\n~~~"], id="tildes around backticks"),
        pytest.param("````\n```\nx\n````", ["````\n```\nx\n````"], id="longer outside"),
        pytest.param("```\nx\n`````\nb", ["```\nx\n`````"], id="closed by a longer one"),
        pytest.param("```\nx\n``` y\n```", ["```\nx\n``` y\n```"], id="not closed by text"),
        pytest.param("```\nx", ["```\nx"], id="never closed"),
        pytest.param("- a\n  ```\n  x\n  ```\nb", ["  ```\n  x\n  ```"], id="in a list"),
        pytest.param("- ```\n  x\n  ```\nb", ["- ```\n  x\n  ```"], id="at the start of an item"),
        pytest.param("> ```\n> x\n> ```\nb", ["> ```\n> x\n> ```"], id="in a quote"),
        pytest.param("> ```\nb\n# c", [], id="never closed in a quote"),
        pytest.param("     ```\nb", [], id="never closed and indented"),
        pytest.param("```x``` is code\n\nb", [], id="code in a sentence"),
        pytest.param("``\nx\n``", [], id="two are none"),
        pytest.param("```\na\n```\n```\nb\n```", ["```\na\n```", "```\nb\n```"], id="two blocks"),
    ],
)
def test_code_is_found(markdown: str, code: list[str]):
    assert [markdown[start:end] for start, end in code_spans(markdown)] == code


def test_offsets_are_in_code_or_not():
    is_code = in_code("a\n```\nx\n```\nb")
    assert [is_code(offset) for offset in (0, 2, 6, 11, 12)] == [False, True, True, False, False]


@pytest.mark.parametrize(
    ("markdown", "count"),
    [
        pytest.param("```\n" * 100_000, 50_000, id="backticks"),
        pytest.param("- ```\n" * 100_000, 0, id="in lists"),
        pytest.param("> " * 200_000, 0, id="quotes"),
        pytest.param("1. " * 200_000, 0, id="numbers"),
        pytest.param(
            "\n".join(" " * 5 + "`" * length for length in range(900, 3, -1)) + "\n```" * 50_000,
            25_000,
            id="shorter and shorter",
        ),
    ],
)
def test_hostile_fences_are_read_to_their_end(markdown: str, count: int):
    spans = list(code_spans(markdown))
    assert len(spans) == count
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
