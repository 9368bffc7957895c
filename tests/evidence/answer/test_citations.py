"""Quotes of kept pages."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.chunks import chunk_id, pieces
from searx_mcp.content.document import Document
from searx_mcp.content.outline import headings
from searx_mcp.evidence.answer.citations import MisquoteError, cite, fragment_url, normalised
from searx_mcp.evidence.storage.store import StoredChunk, StoredPage
from searx_mcp.evidence.values import Citation

URL = "https://example.org/manual"


def kept(markdown: str, *, url: str = URL) -> StoredPage:
    return StoredPage(
        url=url,
        final_url=url,
        title="The Manual",
        etag="",
        last_modified="",
        content_hash="ab" * 32,
        language="en",
        extractor="searx-mcp 1",
        tier="native",
        fetched_at=0.0,
        fresh_until=0.0,
        document=Document(markdown=markdown, word_count=0, outline=headings(markdown)),
    )


def chunk(markdown: str, start: int, end: int, path: tuple[str, ...] = ()) -> StoredChunk:
    first, text = len(markdown[:start].encode()), markdown[start:end]
    last = first + len(text.encode())
    return StoredChunk(chunk_id(URL, path, text), text, path, first, last, 1)


def quoted(markdown: str, question: str) -> Citation:
    found = cite(chunk(markdown, 0, len(markdown)), kept(markdown), question, source=1)
    assert found is not None
    return found


def test_a_part_with_the_subject_of_another_is_quoted_for_what_it_asks_itself():
    water, pot = (
        "Water just below boiling is right for black tea.",
        "Let it steep for three minutes.",
    )
    assert quoted(f"{water}\n\n{pot}\n", "how long must it steep (black tea)").text == pot
    milk, tea = "The density of milk is 1.03, or less.", "The density of black tea is 1.01."
    assert quoted(f"{milk}\n\n{tea}\n", "what is its density (black tea)").text == tea


def test_a_citation_says_all_that_is_needed_to_check_it():
    markdown = "# Manual\n\nÉtait là.\n\n## Limits\n\nThe retry limit is five. It is a number.\n"
    at = markdown.index("## Limits")
    found = cite(
        chunk(markdown, at, len(markdown), ("Manual", "Limits")),
        kept(markdown),
        "retry limit?",
        source=3,
    )
    assert found is not None
    assert markdown.encode()[slice(*found.span)].decode() == "The retry limit is five."
    assert found == Citation(
        source=3,
        text="The retry limit is five.",
        url=URL,
        title="The Manual",
        section="Limits",
        span=found.span,
        retrieved_at="1970-01-01T00:00:00+00:00",
        content_hash="ab" * 32,
        extractor="searx-mcp 1",
        fragment_url=f"{URL}#:~:text=The%20retry%20limit%20is%20five.",
    )


@pytest.mark.parametrize(
    ("question", "section"), [("cats", "Cats"), ("dogs", "Dogs"), ("pets", "Pets")]
)
def test_the_section_of_a_quote_is_the_one_it_stands_in(question: str, section: str):
    markdown = (
        "# Pets\n\nThe pets sleep.\n\n## Cats\n\nThe cats sleep.\n\n## Dogs\n\nThe dogs sleep.\n"
    )
    at = markdown.index("The pets")
    given_chunk = chunk(markdown, at, len(markdown), ("Pets",))
    found = cite(given_chunk, kept(markdown), question, source=1)
    assert found is not None
    assert found.section == section


@pytest.mark.parametrize(
    ("markdown", "question", "text"),
    [
        pytest.param(
            "Much is said. The **retry limit** is [five](https://e.org/a_(b)) `calls`.[^2] And so on.",
            "retry limit",
            "The retry limit is five `calls`.",
            id="marks, links and notes",
        ),
        pytest.param(
            "All of it.\n\n- Pets sleep all day.\n- Cats sleep\n  all night.\n- No more.",
            "cats",
            "Cats sleep all night.",
            id="an item on two lines",
        ),
        pytest.param(
            "> Cats sleep\n> all night. Dogs never do.",
            "when do cats sleep",
            "Cats sleep all night.",
            id="a quotation",
        ),
        pytest.param(
            "The boat leaves at nine. The ticket costs three euros. Dogs are welcome.",
            "When does the boat leave, and what does the ticket cost?",
            "The boat leaves at nine. The ticket costs three euros.",
            id="two sentences that each answer a part",
        ),
        pytest.param(
            "# The retry limit\n\nWhat is the retry limit? It is five, for a retry.",
            "retry limit",
            "What is the retry limit? It is five, for a retry.",
            id="a question with its answer",
        ),
        pytest.param(
            "| Name | What it is |\n| --- | --- |\n| `retries` | How often it is tried |\n| size | A size in bytes |",
            "retries",
            "`retries` | How often it is tried",
            id="a row",
        ),
        pytest.param(
            "Do it so:\n\n```sh\nmake all things\nmake install prefix=/opt ![x](y)\n```\n",
            "install prefix",
            "`make install prefix=/opt ![x](y)`",
            id="a line of code, as code",
        ),
        pytest.param(
            "See it. [How to get a visa? All of it](https://e.org/visa). Not here.",
            "visa",
            "How to get a visa? All of it.",
            id="a link of two sentences",
        ),
        pytest.param(
            "- #### The retry limit of it\n\n  The retry limit is five calls, and no more.",
            "retry limit",
            "The retry limit is five calls, and no more.",
            id="not a heading in a list",
        ),
        pytest.param(
            "**`retries` (`integer`)**: How often a call is tried again.",
            "retries",
            "How often a call is tried again.",
            id="a definition, without the colon that is ours",
        ),
        pytest.param(
            "**`one`**: The default of it is five.\n\n**`two`**: The default of it is nine.",
            "default of two",
            "The default of it is nine.",
            id="the definition of the term that is asked for",
        ),
        pytest.param(
            "\u2139\ufe0f NOTE: The retry limit is five calls.",
            "retry limit",
            "The retry limit is five calls.",
            id="a callout, without the label that is ours",
        ),
        pytest.param(
            "The function \\_\\_init\\_\\_ takes `a\\_b` as its limit.",
            "limit",
            "The function __init__ takes `a\\_b` as its limit.",
            id="letters without the backslashes of Markdown",
        ),
        pytest.param(
            "First of all this. Then the rest of it.",
            "zebra",
            "First of all this.",
            id="nothing of the question",
        ),
        pytest.param(
            "退款的政策是七天之内。公司的地址在北京。我们很高兴。",
            "退款政策 公司地址",
            "退款的政策是七天之内。公司的地址在北京。",
            id="two sentences of Han",
        ),
    ],
)
def test_the_sentence_that_answers_is_quoted(markdown: str, question: str, text: str):
    assert quoted(markdown, question).text == text


@pytest.mark.parametrize(
    "markdown",
    [
        "# Title only here",
        "[image: a picture of something]",
        "Too short.",
        "* * *",
        "<!-- written by a program, do not edit -->",
    ],
)
def test_what_says_nothing_is_not_quoted(markdown: str):
    assert cite(chunk(markdown, 0, len(markdown)), kept(markdown), "title", source=1) is None


def test_code_that_begins_in_the_middle_is_still_code():
    markdown = "```\nfirst line of it\nsecond **line** of it\n```\n\nSome prose is here, *too*."
    at = markdown.index("second")
    found = cite(chunk(markdown, at, len(markdown)), kept(markdown), "second", source=1)
    assert found is not None
    assert found.text == "`second **line** of it`"


def test_a_chunk_of_another_version_of_the_page_is_not_quoted():
    old = "The retry limit is five. It is a number."
    for new in (old.replace("five", "nine"), old.replace("number", "figure"), f" {old}", ""):
        with pytest.raises(MisquoteError):
            cite(chunk(old, 0, len(old)), kept(new), "retry limit", source=1)


TEXT = st.text(alphabet="ab .\n#|`*é漢。-[](:!>\\", max_size=60) | st.sampled_from(
    [
        "The retry limit is five. It is so.",
        "| a b c | d |\n| - | - |\n| e f g | h |",
        "```\na b c\n",
    ]
)


@given(
    markdown=TEXT,
    other=TEXT,
    start=st.integers(-3, 90),
    end=st.integers(-3, 90),
    is_of_page=st.booleans(),
)
def test_no_citation_outside_its_page_can_be_produced(
    markdown: str, other: str, start: int, end: int, *, is_of_page: bool
):
    kept_bytes = markdown.encode()
    text = kept_bytes[max(0, start) : max(0, end)].decode(errors="ignore") if is_of_page else other
    given_chunk = StoredChunk("id", text, (), start, end, 1)
    found = None
    with suppress(MisquoteError):
        found = cite(given_chunk, kept(markdown), "a b c retry limit", source=1)
    if found is not None:
        first, last = found.span
        assert 0 <= start <= first < last <= end <= len(kept_bytes)
        cut = kept_bytes[first:last].decode()
        assert cut in text
        assert normalised(cut) == normalised(found.text) != ""


@given(st.lists(TEXT, max_size=6).map("\n\n".join))
def test_every_chunk_of_a_page_can_be_looked_into(markdown: str):
    page = kept(markdown)
    for piece in pieces(markdown, headings(markdown), most=40):
        found = cite(chunk(markdown, piece.start, piece.end), page, "retry limit", source=1)
        assert found is None or "\n" not in found.text


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ('**A** [link](https://e.org/x "t") `b`', "A link b"),
        ("- [x] done\n> 1. Step\\*", "done Step*"),
        ("![alt](https://e.org/i.png)a[image: b]c[^1].", "ac."),
        ("“It\u2019s”\u00a0so\n\n„here“ «there»", "\"It's\" so \"here\" \"there\""),
        ("| a | b |", "a b"),
        ("snake_case - not 5.", "snake_case - not 5."),
        ("(a) [b](c(d)e) (f)", "(a) b (f)"),
        ("1990. It was.", "1990. It was."),
        ("10<sup>9</sup> of the 5<sup>th1</sup>", "10^9 of the 5th1"),
        ("", ""),
    ],
)  # fmt: skip
def test_texts_are_compared_without_what_markdown_adds(markdown: str, plain: str):
    assert normalised(markdown) == plain


@given(TEXT, TEXT)
def test_what_is_compared_is_on_one_line(one: str, other: str):
    found = normalised(one + other)
    assert found == " ".join(found.split())


@given(st.text("aZ9 ,;é漢(%", max_size=40))
def test_plain_text_is_compared_as_it_is(text: str):
    line = f"a{text}"  # a number with a dot at its beginning would be that of a list
    assert normalised(line) == " ".join(line.split())


@pytest.mark.parametrize(
    ("address", "text", "fragment"),
    [
        (URL, "A short one.", "#:~:text=A%20short%20one."),
        (URL, "well-known, a & b", "#:~:text=well%2Dknown%2C%20a%20%26%20b"),
        (f"{URL}#top", "Here it is.", "#top:~:text=Here%20it%20is."),
        (f"{URL}#top:~:text=old", "Here it is.", "#top:~:text=Here%20it%20is."),
        (f"{URL}?a=b", "`code` and \\*stars\\*", "?a=b#:~:text=code%20and%20%2Astars%2A"),
        (
            URL,
            "one two three four five six seven " + "eight " * 12 + "nine ten eleven twelve thirteen",
            "#:~:text=one%20two%20three%20four%20five,nine%20ten%20eleven%20twelve%20thirteen",
        ),
        (URL, "`retries` | How often it is tried", "#:~:text=retries,How%20often%20it%20is%20tried"),
        (URL, "a" * 90, f"#:~:text={'a' * 20},{'a' * 20}"),
        (
            URL,
            " ".join(letter * 30 for letter in "abcd"),
            f"#:~:text={'a' * 30}%20{'b' * 30},{'c' * 30}%20{'d' * 30}",
        ),
    ],
)  # fmt: skip
def test_a_text_fragment_shows_the_quote(address: str, text: str, fragment: str):
    assert fragment_url(address, text) == URL + fragment


@pytest.mark.parametrize(
    "unit", ["[", "](", "![a](", "[^", "`", "> ", "- ", "\\", "*", "[image: ", "](a(", '](a "', "1. ", "\n> ", "||"]
)  # fmt: skip
def test_hostile_text_is_compared_too(unit: str):
    text = unit * (200_000 // len(unit))
    assert len(normalised(text)) <= len(text)
    markdown = text[:4_000]
    cite(chunk(markdown, 0, len(markdown)), kept(markdown), "a b", source=1)
