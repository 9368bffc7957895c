"""Five real pages, for a person to look at; never part of the suite.

`pytest -m live -s` fetches each once, as any reader would. The pages are chosen because they have been
where they are for years; what has changed on them all the same is printed, and only a page that cannot
be read any more, or came without its content, is a failure.
"""

from dataclasses import dataclass

import pytest

from searx_mcp.client.facade import SearxClient
from searx_mcp.errors import ErrorCode, FetchError
from searx_mcp.models.page import Page

_ELSEWHERE = {ErrorCode.DNS_ERROR, ErrorCode.CONNECTION_ERROR, ErrorCode.RATE_LIMITED}
"""What says more about the network or the hour than about us."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A page as it was found when this was written.

    Attributes:
        url: where it is.
        phrase: stands in its content, and hardly ever changes.
        title: part of its title; empty for a page that has none.
        tier: what reads it.
        content_type: what it is.
        headings: that are in its outline.
    """

    url: str
    phrase: str
    title: str = ""
    tier: str = "native"
    content_type: str = "text/html"
    headings: tuple[str, ...] = ()


PAGES = {
    "documentation": Expected(
        "https://docs.python.org/3/library/asyncio-task.html",
        phrase="asyncio.TaskGroup",
        title="Coroutines and Tasks",
        headings=("Task Groups", "Timeouts"),
    ),
    "encyclopedia": Expected(
        "https://en.wikipedia.org/wiki/Markdown",
        phrase="lightweight markup language",
        title="Markdown",
        headings=("History",),
    ),
    "plain text": Expected(
        "https://www.rfc-editor.org/rfc/rfc9309.txt",
        phrase="Robots Exclusion Protocol",
        content_type="text/plain",
    ),
    "file of a repository": Expected(
        "https://github.com/searxng/searxng/blob/master/README.rst",
        phrase="metasearch engine",
        tier="github",
        content_type="text/plain",
    ),
    "feed": Expected(
        "https://www.rfc-editor.org/rfcrss.xml",
        phrase="RFC",
        title="RFC",
        content_type="text/xml",
    ),
}


def drift(page: Page, expected: Expected) -> list[str]:
    """What is not as it was, without being wrong."""
    titles = [heading.title for heading in page.outline]
    found = [f"no heading {name!r}" for name in expected.headings if name not in titles]
    if expected.title not in page.title:
        found.append(f"the title is {page.title!r}, without {expected.title!r}")
    if page.tier != expected.tier:
        found.append(f"it was read as {page.tier}, not as {expected.tier}")
    if page.content_type != expected.content_type:
        found.append(f"it is {page.content_type}, not {expected.content_type}")
    if page.final_url != page.url:
        found.append(f"it is at {page.final_url} now")
    return found


@pytest.mark.live
@pytest.mark.parametrize("kind", PAGES)
async def test_a_real_page_is_read_with_its_content(kind, capsys):
    expected = PAGES[kind]
    async with SearxClient() as client:
        try:
            page = await client.fetch(expected.url, by_person=True)
        except FetchError as error:
            if error.code in _ELSEWHERE:
                pytest.skip(f"{error.code}: {error.message}")
            raise
    report = [
        f"{kind}: {page.status_code} in {page.response_time_ms} ms, {page.total_chars} characters"
    ]
    report += [f"  drifted: {each}" for each in drift(page, expected)]
    report += [f"  note: {note}" for note in page.notes]
    with capsys.disabled():
        print("", *report, sep="\n")  # noqa: T201 - the report is for a person
    assert expected.phrase.lower() in page.markdown_content.lower()
    assert page.title or not expected.title
