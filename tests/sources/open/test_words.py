"""The lists of words."""

import re
from pathlib import Path

from searx_mcp.content.words import folded
from searx_mcp.sources.open import words
from searx_mcp.sources.open.engines import stackexchange
from searx_mcp.sources.open.words import (
    COMPUTERS,
    DEFAULT_TOPIC,
    ENDINGS,
    FRAMES,
    SUBJECTS,
    WORDS,
)

LISTS = {"WORDS": [*WORDS], "FRAMES": [*FRAMES], "ENDINGS": [*ENDINGS]}


def test_every_list_is_read_and_every_list_that_is_read_is_there():
    folder = Path(words.__file__).parent
    code = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    read = set(re.findall(r'\b(WORDS|FRAMES|ENDINGS)\["(\w+)"\]', code))
    assert read == {(table, name) for table, lists in LISTS.items() for name in lists}


def test_words_are_written_as_those_of_a_question_are():
    lists = [*WORDS.values(), *FRAMES.values(), *COMPUTERS.values(), *SUBJECTS.values()]
    assert [word for each in lists for word in each if folded(word) != word or not word] == []


def test_topics_are_sites_that_the_engine_knows():
    assert {*COMPUTERS, *SUBJECTS, DEFAULT_TOPIC} <= stackexchange.SITES
