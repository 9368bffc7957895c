"""Pages in processes: the same text as without, and whatever happens to a process, an answer."""

import asyncio
import os
import signal

import pytest

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert
from searx_mcp.content.document import from_frame, options_for
from searx_mcp.errors import ContentError, ErrorCode, SkeletonError
from searx_mcp.fetch.conversion import Conversion
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.hops.media import MediaType
from searx_mcp.http.body import Body
from searx_mcp.models.fetch_request import MAX_CONTENT_LENGTH
from searx_mcp.workers.failures import DefeatError
from searx_mcp.workers.pool import CHILD

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes as Linux does"),
]

URL = "https://bees.example/dance"
PAGE = (
    "<html lang=en><title>Bees, 蜂</title><meta name=author content='Ann Smith'>"
    "<article><h1 id=top>Bees</h1><p>They <b>dance</b> for <a href=/others>the others</a>.</p>"
    "<pre><code class=language-python>print('蜂')</code></pre>"
    "<img src=/bee.png alt='A bee'><p>And fly to the flowers.</p></article>"
).encode()
SKELETON = b"<div id=root></div><script>" + b"draw();" * 1_000 + b"</script>"


@pytest.fixture
def options():
    """Makes the options of a job."""

    def make(media_type="text/html", charset=None):
        return dict(
            options_for(media_type=media_type, charset=charset, url=URL, config=ContentConfig())
        )

    return make


@pytest.fixture
def pool(pool_of):
    return pool_of(module=CHILD)


def answer(data, media_type="text/html"):
    return ReceivedPage(URL, 200, {}, MediaType(media_type, None), Body(data))


async def read(pool, page):
    deadline = asyncio.get_running_loop().time() + 60
    return await Conversion(pool).read(
        page, content=ContentConfig(), fragment="", deadline=deadline
    )


async def test_a_process_gives_what_the_converter_gives(pool, run, options):
    found = from_frame(await run(pool, "page", PAGE, **options()))
    expected = convert(PAGE, media_type="text/html", charset=None, url=URL, config=ContentConfig())
    assert found == expected


@pytest.mark.parametrize(
    ("body", "media_type", "kind", "code"),
    [
        pytest.param(SKELETON, "text/html", SkeletonError, ErrorCode.EXTRACTION_FAILED, id="empty"),
        pytest.param(b"<p></p>", "text/html", ContentError, ErrorCode.EXTRACTION_FAILED, id="none"),
        pytest.param(
            b"x", "image/png", ContentError, ErrorCode.UNSUPPORTED_CONTENT_TYPE, id="no text"
        ),
    ],
)
async def test_what_the_converter_refuses_keeps_its_kind(pool, body, media_type, kind, code):
    page = answer(body, media_type)
    with pytest.raises(ContentError) as expected:
        convert(body, media_type=page.media.read_as, charset=None, url=URL, config=ContentConfig())
    with pytest.raises(ContentError) as caught:
        await read(pool, page)
    assert type(caught.value) is type(expected.value) is kind
    assert caught.value.code is expected.value.code is code
    assert caught.value.message == expected.value.message
    assert caught.value.advice == expected.value.advice
    assert caught.value.url == URL


async def test_a_page_whose_process_is_killed_meanwhile_is_read_by_another(pool):
    await read(pool, answer(PAGE))
    (process,) = pool._processes
    os.kill(process.pid, signal.SIGSTOP)
    reading = asyncio.ensure_future(read(pool, answer(PAGE * 50)))
    while pool._idle:  # noqa: ASYNC110 - no event tells
        await asyncio.sleep(0)
    os.kill(process.pid, signal.SIGKILL)
    page = await reading
    assert page.title == "Bees, 蜂"
    assert "**dance**" in page.markdown
    assert not any("Plain text" in note for note in page.notes)


async def test_twenty_pages_that_nobody_waits_for_any_more_leave_nothing(pool):
    large = PAGE * 2_000
    reading = [asyncio.ensure_future(read(pool, answer(large))) for _ in range(20)]
    await read(pool, answer(PAGE))
    for task in reading:
        task.cancel()
    await asyncio.wait(reading)
    assert "[0 busy, " in repr(pool)
    assert ", 0 waiting]" in repr(pool)
    page = await read(pool, answer(PAGE))
    assert "**dance**" in page.markdown
    await pool.aclose()
    assert not pool._processes


async def test_the_largest_page_comes_and_goes_whole(pool, run, options):
    lines = "".join(f"Line {number}, 蜂.\n" for number in range(500_000))
    body = lines.encode()[:MAX_CONTENT_LENGTH]
    found = await run(pool, "page", body, **options("text/plain", "utf-8"))
    assert found["markdown"] == body.decode().strip("\n")


async def test_a_page_that_needs_more_memory_than_allowed_is_told_apart(pool_of, run, options):
    pool = pool_of(module=CHILD, memory="256MB")
    body = b"<p>" + b"<b>x</b>" * 1_200_000
    try:
        await run(pool, "page", body, **options())
    except DefeatError as error:
        assert error.code is ErrorCode.EXTRACTION_FAILED  # noqa: PT017 - either is right
    assert (await run(pool, "page", PAGE, **options()))["title"] == "Bees, 蜂"
