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
    SkeletonError,
)
from searx_mcp.fetch.conversion import Conversion
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.hops.media import MediaType
from searx_mcp.http.body import Body
from searx_mcp.models.fetch_request import FetchRequest
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
    return await Conversion(workers).read(
        body or answer(), content=ContentConfig(), fragment="", deadline=deadline
    )


@pytest.mark.parametrize(
    "media_type",
    ["text/html", "application/xhtml+xml", "application/rss+xml", "application/json", "text/plain"],
)
async def test_every_body_is_read_by_the_workers(media_type):
    workers = Scripted(page=result_of("page"))
    page = await read(workers, answer(media_type=media_type))
    assert (page.markdown, page.title) == ("They **dance** for the others.", "Bees")
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
    page = await read(workers, answer(media_type=media_type), seconds=3.1)
    assert page.markdown == "They dance for the others."
    assert any("Plain text" in note for note in page.notes)
    assert workers.asked == ["page", "text"]
    assert workers.reserves[0] > 0
    assert workers.reserves[1] == 0
    size = len(answer().body.data)
    assert caplog.messages == [f"fetch.converter_fallback media={media_type} bytes={size}"]


FIRST = too_slow(3)
PASSING = {"closed": closed(), "no start": no_start(), "killed": ended(-9), "late": late()}
NO_TEXT = ContentError("the page has no text", code=ErrorCode.EXTRACTION_FAILED)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        *(
            pytest.param(error, None, error, id=f"passed on: {name}")
            for name, error in (
                PASSING | {"a skeleton": SKELETON, "a process": needs_process()}
            ).items()
        ),
        pytest.param(FIRST, ended(-11), FIRST, id="the first of two"),
        pytest.param(FIRST, NO_TEXT, FIRST, id="the first, if the second finds nothing"),
        pytest.param(FIRST, {"no": "page"}, FIRST, id="the first, if the second is nonsense"),
        *(
            pytest.param(FIRST, error, error, id=f"may be over soon: {name}")
            for name, error in PASSING.items()
        ),
    ],
)
async def test_of_failures_the_one_that_helps_is_told(first, second, told):
    workers = Scripted(page=first, text=second)
    with pytest.raises(type(told)) as caught:
        await read(workers)
    assert caught.value is told
    assert workers.asked == ["page", "text"][: 1 + (second is not None)]
    assert told is not SKELETON or told.url == URL


@pytest.mark.parametrize(
    ("media_type", "seconds"), [("application/json", 60), ("text/html", 2.9)], ids=["no markup", "no time"]
)  # fmt: skip
async def test_there_is_no_plain_text_of_what_has_no_markup_or_no_time(media_type, seconds):
    workers = Scripted(page=ended(-11))
    with pytest.raises(DefeatError):
        await read(workers, answer(media_type=media_type), seconds=seconds)
    assert (workers.asked, workers.reserves) == (["page"], [0])


@pytest.mark.parametrize("answer", [{}, {"markdown": "x"}, {**result_of("page"), "outline": 5}])
async def test_an_answer_that_is_no_page_is_a_defeat(answer):
    workers = Scripted(page=answer, text=result_of("text"))
    assert (await read(workers)).markdown == "They dance for the others."


async def test_what_converts_a_page_gets_ready_while_it_is_on_its_way(site, make_fetcher):
    workers = Scripted(page=result_of("page"))
    await make_fetcher(workers=workers).fetch(FetchRequest(url=site.page("/", "<p>Bees</p>")))
    assert workers.warmed == 1
