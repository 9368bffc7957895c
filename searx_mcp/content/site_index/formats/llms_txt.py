"""`llms.txt`: pages chosen for language models, a Markdown list of links with a sentence on each (llmstxt.org)."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from searx_mcp.content.site_index.entry import MOST_ROWS, IndexEntry, IndexFormat

_LINE = re.compile(
    r"^(?:#{1,6}[ \t]+(?P<heading>[^\n]{1,300}+)"
    r"|[ \t]*[-*+][ \t]+\[(?P<title>[^\]\n]{1,300}+)\]\((?P<address>[^)\s]{1,2000}+)\)(?P<words>[^\n]{0,1000}+))",
    re.MULTILINE,
)


def read(text: str) -> Iterator[IndexEntry]:
    """Read the links of its lists, each with the heading above."""
    if not text.lstrip().startswith("#") or "](" not in text:
        raise ValueError("no list of links in Markdown")
    above = ""
    for found in islice(_LINE.finditer(text), MOST_ROWS):
        if found["heading"]:
            above = found["heading"]
        else:
            yield IndexEntry(
                found["address"], found["title"], f"{above} {found['words'].lstrip(': ')}"
            )


FORMAT: Final = IndexFormat("llms.txt", read)
