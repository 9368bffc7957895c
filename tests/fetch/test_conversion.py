"""Who reads a body, with what time, and what becomes of one that defeats its reader."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from typing_extensions import override

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.document import options_for
from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    FetchError,
    SkeletonError,
    TransportError,
)
from searx_mcp.fetch.conversion import Conversion
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.hops.media import MediaType
from searx_mcp.http.body import Body
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.failures import (
    DefeatError,
    closed,
    ended,
    late,
    needs_process,
    no_start,
    too_slow,
)
from searx_mcp.workers.jobs import Workers, document_jobs
from searx_mcp.workers.threads import ThreadWorkers

URL = "https://bees.example/dance"
PAGE = b"<title>Bees</title><article><p>They <b>dance</b> for the others.</p></article>"
SKELETON = SkeletonError("no text", code=ErrorCode.EXTRACTION_FAILED, advice="Run it.")


class Scripted(Workers):
    """Answers each job with what was set for it, and keeps what it was asked."""

    def __init__(self, **answers: BaseException | Mapping[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.reserves: list[float] = []
        self.warmed = 0

    @override
    async def run(self, job, body, options, *, deadline, reserve=0.0):
        self.asked.append(job)
        self.reserves.append(reserve)
        answer = self.answers[job]
        if isinstance(answer, BaseException):
            raise answer
        return answer

    @override
    def warm(self):
        self.warmed += 1

    @override
    async def aclose(self): ...


def answer(data=PAGE, media_type="text/html"):
    return ReceivedPage(URL, 200, {}, MediaType(media_type, None), Body(data))


def result_of(name):
    options = options_for(media_type="text/html", charset=None, url=URL, config=ContentConfig())
    return document_jobs()[name](PAGE, options)


async def read(workers, body=None, *, seconds=60.0):
    deadline = asyncio.get_running_loop().time() + seconds
    conversion = Conversion(ContentConfig(), workers)
    return await conversion.read(body or answer(), fragment="", deadline=deadline)


@pytest.mark.parametrize(
    "media_type",
    ["text/html", "application/xhtml+xml", "application/rss+xml", "application/json", "text/plain"],
)
async def test_every_body_is_read_by_the_workers(media_type):
    workers = Scripted(page=result_of("page"))
    page = await read(workers, answer(media_type=media_type))
    assert page.markdown == "They **dance** for the others."
    assert page.title == "Bees"
    assert workers.asked == ["page"]


async def test_without_processes_the_same_comes_of_a_thread():
    workers = ThreadWorkers(WorkersConfig())
    page = await read(workers)
    assert page.markdown == "They **dance** for the others."
    with pytest.raises(ContentError) as caught:
        await read(workers, answer(b"<p></p>"))
    assert caught.value.url == URL
    await workers.aclose()


@pytest.mark.parametrize("defeat", [ended(-11), too_slow(3)], ids=["a crash", "too slow"])
@pytest.mark.parametrize("media_type", ["text/html", "application/xhtml+xml", "application/xml"])
async def test_a_page_that_defeats_its_reader_becomes_plain_text(defeat, media_type, caplog):
    workers = Scripted(page=defeat, text=result_of("text"))
    page = await read(workers, answer(media_type=media_type))
    assert page.markdown == "They dance for the others."
    assert any("Plain text" in note for note in page.notes)
    assert workers.asked == ["page", "text"]
    assert workers.reserves[0] > 0
    assert workers.reserves[1] == 0
    size = len(answer().data)
    assert caplog.messages == [f"fetch.converter_fallback media={media_type} bytes={size}"]


async def test_what_has_no_markup_has_no_plain_text_either():
    workers = Scripted(page=ended(-11))
    with pytest.raises(DefeatError):
        await read(workers, answer(media_type="application/json"))
    assert workers.reserves == [0]


async def test_with_little_time_nothing_is_kept_back():
    workers = Scripted(page=ended(-11))
    with pytest.raises(DefeatError):
        await read(workers, seconds=1)
    assert workers.asked == ["page"]
    assert workers.reserves == [0]


@pytest.mark.parametrize(
    "error",
    [SKELETON, needs_process(), closed(), no_start(), ended(-9), late()],
    ids=["a skeleton", "needs a process", "closed", "no start", "killed", "late"],
)
async def test_what_is_no_defeat_is_passed_on_as_it_is(error):
    workers = Scripted(page=error)
    with pytest.raises(type(error)) as caught:
        await read(workers)
    assert caught.value is error
    assert workers.asked == ["page"]
    assert error.url == (URL if isinstance(error, ContentError) else "")


@pytest.mark.parametrize(
    "second",
    [
        ended(-11),
        ContentError("the page has no text", code=ErrorCode.EXTRACTION_FAILED),
        {"no": "page"},
    ],
    ids=["a crash", "no text", "nonsense"],
)
async def test_of_two_failures_the_first_is_told(second):
    first = too_slow(3)
    with pytest.raises(DefeatError) as caught:
        await read(Scripted(page=first, text=second))
    assert caught.value is first


@pytest.mark.parametrize("second", [closed(), no_start(), ended(-9)], ids=str)
async def test_of_two_failures_one_that_may_be_over_soon_is_told(second):
    with pytest.raises(FetchError) as caught:
        await read(Scripted(page=too_slow(3), text=second))
    assert caught.value is second


async def test_when_the_time_is_over_that_is_told():
    with pytest.raises(TransportError) as caught:
        await read(Scripted(page=too_slow(3), text=late()))
    assert caught.value.code is ErrorCode.TIMEOUT


@pytest.mark.parametrize("answer", [{}, {"markdown": "x"}, {**result_of("page"), "outline": 5}])
async def test_an_answer_that_is_no_page_is_a_defeat(answer):
    workers = Scripted(page=answer, text=result_of("text"))
    assert (await read(workers)).markdown == "They dance for the others."


async def test_warming_reaches_the_workers():
    workers = Scripted()
    Conversion(ContentConfig(), workers).warm()
    assert workers.warmed == 1
