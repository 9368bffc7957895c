"""Which part of a captured page a call is shown."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.document import Document
from searx_mcp.content.outline import headings
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.fetch.fetcher import build_page_view
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page
from searx_mcp.storage.pages import Capture, CapturedPage, KeptPage, WholePage

CURSOR = "abcdefgh234567ab"
GUIDE = (
    "# Guide\n\nAll about it.\n\n## Install\n\nRun the installer. It asks for a folder.\n\n"
    "### On Linux\n\nUse the package of your system.\n\n## Use\n\nStart it and ask a question.\n"
)


def kept(markdown: str, *, truncated: bool = False, title: str = "") -> KeptPage:
    page = CapturedPage(
        document=Document(
            title=title,
            markdown=markdown,
            word_count=len(markdown.split()),
            outline=headings(markdown),
            truncated=truncated,
            notes=("From the page.",),
        ),
        final_url="https://example.com/guide",
        content_type="text/html",
        content_length=len(markdown),
        status_code=200,
    )
    capture = Capture(page, "https://example.com/", 1_790_000_000.0, 1_790_000_300.0, 1_048_576)
    return KeptPage(capture, CURSOR)


def shown(
    markdown: str, *, truncated: bool = False, query: str = "", title: str = "", **fields: object
) -> Page:
    arguments: dict[str, object] = {"url": "https://example.com/", "max_chars": 200, **fields}
    return build_page_view(
        WholePage(
            kept(markdown, truncated=truncated, title=title), is_new=False, notes=("Of the call.",)
        ),
        FetchRequest.model_validate(arguments),
        elapsed=0.007,
        age=60.0,
        default_chars=200_000,
        content=ContentConfig(),
        query=query,
    )


def test_a_page_that_fits_is_whole():
    page = shown(GUIDE)
    assert page.markdown_content == GUIDE
    assert (page.offset, page.next_offset, page.total_chars) == (0, None, len(GUIDE))
    assert not page.truncated
    assert (page.cursor, page.age_seconds) == (CURSOR, 60)
    assert page.fetched_at == "2026-09-21T14:13:20+00:00"
    assert page.notes == ("Of the call.", "From the page.")


def pieces(markdown: str, **fields: Any) -> list[str]:
    """What is shown by calls that read on to the end."""
    page = shown(markdown, **fields)
    found = [page.markdown_content]
    while page.next_offset is not None:
        page = shown(markdown, **fields | {"offset": page.next_offset})
        found.append(page.markdown_content)
    return found


@given(st.text(min_size=1, max_size=3_000), st.integers(100, 400))
def test_reading_on_gives_every_character_once(markdown, limit):
    found = pieces(markdown, url="", cursor=CURSOR, offset=0, limit=limit)
    assert all(0 < len(each) <= limit for each in found)
    assert "".join(found) == markdown


def test_a_long_section_is_read_on_to_its_end_and_no_further():
    markdown = "# One\n\n" + "Words of the first. " * 30 + "\n\n# Two\n\n" + "Others. " * 30
    found = pieces(markdown, section="One")
    assert len(found) > 1
    assert "".join(found) == markdown[: markdown.index("# Two")]


def test_a_page_that_was_cut_when_it_was_captured_stays_cut():
    page = shown(GUIDE, truncated=True)
    assert (page.truncated, page.next_offset) == (True, None)


@pytest.mark.parametrize(
    ("section", "start", "path"),
    [
        ("Install", "## Install", ("Guide", "Install")),
        ("INSTALL", "## Install", ("Guide", "Install")),
        ("On Linux", "### On Linux", ("Guide", "Install", "On Linux")),
        ("#on-linux", "### On Linux", ("Guide", "Install", "On Linux")),
        ("Use", "## Use", ("Guide", "Use")),
        ("Guide", "# Guide", ("Guide",)),
    ],
)
def test_a_section_has_its_subsections_and_its_path(section, start, path):
    page = shown(GUIDE, section=section, max_chars=1_000)
    assert page.markdown_content.startswith(start)
    assert page.section == path
    assert ("On Linux" in page.markdown_content) is (section != "Use")


@pytest.mark.parametrize(
    ("markdown", "message", "quoted"),
    [
        (GUIDE, "no heading matches", "Guide; Install; On Linux; Use"),
        ("No headings.", "has no headings", ""),
    ],
)
def test_a_section_that_is_not_there_is_answered_with_those_that_are(markdown, message, quoted):
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        shown(markdown, section="Zebra")
    assert (caught.value.field, caught.value.quoted) == ("section", quoted)


def test_a_summary_answers_the_question_of_the_call():
    text = "Bees dance to tell others the way. " * 3 + "Wasps eat meat in the summer months."
    assert "Wasps" in shown(text, query="what do wasps eat").summary
    assert "Wasps" in shown(text, prompt="what do wasps eat").summary


MANUAL = "# Manual\n\n" + "".join(
    f"## Part {n}\n\n{f'Sentence of part {n}. ' * 12}\n\n### Notes\n\n"
    f"{'The limit is five.' if n == 7 else f'Note {n}.'}\n\n"
    for n in range(12)
)


def test_a_page_that_fits_is_whole_and_has_its_passages_those_that_fit_the_prompt_first():
    page = shown(MANUAL, prompt="what is the limit?", max_chars=100_000)
    assert page.markdown_content == MANUAL
    assert page.next_offset is None
    assert page.passages[0].path == ("Manual", "Part 7", "Notes")
    assert page.passages[0].text == "### Notes\n\nThe limit is five.\n\n"
    in_order = sorted(page.passages, key=lambda passage: passage.offset)
    assert "".join(passage.text for passage in in_order) == MANUAL


def test_of_a_longer_page_the_passages_that_fit_the_prompt_are_given_in_its_order():
    page = shown(MANUAL, prompt="what is the limit?", max_chars=600)
    assert len(page.markdown_content) <= 600
    assert "### Notes\n\nThe limit is five." in page.markdown_content
    assert page.truncated
    assert page.next_offset == 0
    assert [passage.offset for passage in page.passages[:1]] == [
        MANUAL.index("### Notes\n\nThe limit")
    ]
    assert page.markdown_content.startswith("[Manual, from character 1921]\n\n## Part 7\n\n")


def test_of_a_page_that_does_not_answer_little_is_given_and_what_is_missing():
    for most in (600, 100_000):
        page = shown(MANUAL, prompt="what is the limit of the zebra crossing?", max_chars=most)
        assert page.answered is False
        assert page.missing_terms == ("zebra", "crossing")
        assert len(page.markdown_content) <= min(most, 1_600)
        assert page.next_offset == 0
    answered = shown(MANUAL, prompt="what is the limit?", max_chars=2_500)
    assert answered.answered
    assert len(answered.markdown_content) > 1_600
    assert shown(MANUAL).answered is None


def test_a_prompt_that_only_asks_for_a_summary_refuses_nothing():
    page = shown(MANUAL, prompt="Summarize this page", max_chars=600)
    assert page.answered
    assert len(page.markdown_content) > 300


@pytest.mark.parametrize(
    ("section", "missing"), [("Food", ("zebra", "migration")), ("Homes", ("zebra",))]
)
def test_what_is_missing_is_missing_in_the_section(section, missing):
    bees = "# Bees\n\n## Food\n\nThey eat pollen.\n\n## Homes\n\nSome migrants have no hives.\n"
    assert shown(bees, prompt="zebra migration", section=section).missing_terms == missing


def test_a_prompt_looks_for_passages_in_the_section_only():
    page = shown(MANUAL, prompt="what is the limit?", section="Part 7", max_chars=150)
    assert page.section == ("Manual", "Part 7")
    assert "The limit is five." in page.markdown_content
    start, end = MANUAL.index("## Part 7"), MANUAL.index("## Part 8")
    assert all(start <= each.offset and each.end <= end for each in page.passages)
    assert page.next_offset == start


@pytest.mark.parametrize(
    "fields",
    [{"prompt": "zebra"}, {"prompt": "the limit", "offset": 40}],
    ids=["no word", "offset"],
)
def test_else_a_prompt_leaves_the_page_as_it_is(fields):
    page = shown(MANUAL, max_chars=300, **fields)
    assert MANUAL[fields.get("offset", 0) :].startswith(page.markdown_content)
    assert page.passages == ()


@pytest.mark.parametrize(
    ("title", "above"), [("Manual", ()), ("Manual | Site", ()), ("Site", ("Manual",))]
)
def test_the_title_of_the_page_is_not_said_with_every_passage(title, above):
    page = shown(MANUAL, prompt="limit", max_chars=100_000, title=title)
    assert page.passages[0].path == (*above, "Part 7", "Notes")


_COLUMNS = "| Item | Price |\n| --- | --- |\n"


@pytest.mark.parametrize(
    ("head", "line", "foot"),
    [
        ("```py\n", "needle = 1\n", "```\n"),
        (_COLUMNS, "| needle | 1 |\n", ""),
        ("", "| needle | 1 |\n", ""),
        (f"| Item | {'Price ' * 80} |\n| --- | --- |\n", "| needle | 1 |\n", ""),
    ],
    ids=["code", "table", "lines", "long header"],
)
def test_what_begins_inside_code_or_a_table_has_its_first_lines(head, line, foot):
    text = f"# A\n\n{head}{line * 400}{foot}\nWords.\n"
    passages = shown(text, prompt="words", max_chars=100_000).passages
    start, end = 5, text.index("\n\nWords")
    known = head if len(head) < 400 else ""
    assert len(passages) > 2
    assert [each.head for each in passages] == [
        known if start < each.offset < end else "" for each in passages
    ]


@pytest.mark.parametrize(("row", "noted"), [(0, False), (5, True), (40, False)])
def test_a_part_that_begins_inside_a_table_names_its_columns(row, noted):
    rows = [f"| needle {n} | {n} |\n" for n in range(40)]
    text = f"# A\n\n{_COLUMNS}{''.join(rows)}\nWords.\n"
    at = text.index([*rows, "Words."][row]) if row else text.index("|")
    part = shown(text, cursor=CURSOR, offset=at)
    assert part.markdown_content.startswith(text[at : at + 5])
    known = f"This part continues a block that begins: {_COLUMNS.splitlines()[0]}"
    assert part.quoted_notes == ((known,) if noted else ())


@given(st.lists(st.sampled_from(["# A\n\n", "cat ", "dog. ", "\n\n", "```\n"]), max_size=200))
def test_a_prompt_never_gives_more_than_was_asked_for(pieces):
    page = shown("".join(pieces) + "end", prompt="cat", max_chars=100)
    assert len(page.markdown_content) <= 100
