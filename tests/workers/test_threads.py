"""Jobs in a thread: the same errors, one after the other."""

import asyncio
import gc
import threading

import pytest

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.document import options_for
from searx_mcp.errors import ContentError, ErrorCode, FetchError, TransportError
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.failures import DefeatError
from searx_mcp.workers.jobs import MAX_BODY
from searx_mcp.workers.threads import ThreadWorkers
from tests.doubles.pdf import make_pdf


class Gate:
    """A job that stops until it is let go, and remembers what came."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.open = threading.Event()
        self.came: list[bytes] = []

    def __call__(self, body, _options):
        self.came.append(body)
        self.begun.set()
        self.open.wait(60)
        return {"length": len(body)}


def raising(error):
    def job(_body, _options):
        raise error

    return job


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.open.set()


@pytest.fixture
async def threads(gate):
    workers = ThreadWorkers(
        WorkersConfig(job_timeout=1),
        jobs={
            "gate": gate,
            "brief": lambda _body, _options: {"done": gate.begun.is_set()},
            "echo": lambda body, options: {"text": body.decode(), **options},
            "refuse": raising(ContentError("no", code=ErrorCode.CONTENT_TOO_LARGE)),
            "fail": raising(ZeroDivisionError("secret")),
            "eat": raising(MemoryError()),
        },
    )
    yield workers
    gate.open.set()
    await workers.aclose()


async def test_a_job_gets_body_and_options_and_gives_its_result(threads, run):
    assert await run(threads, "echo", b"text", n=1) == {"text": "text", "n": 1}


async def test_the_usual_jobs_are_there(run):
    workers = ThreadWorkers(WorkersConfig())
    options = options_for(media_type="text/plain", charset="", url="", config=ContentConfig())
    assert (await run(workers, "page", b"Hello.", **options))["markdown"] == "Hello."
    await workers.aclose()


async def test_what_could_end_the_program_is_refused_unread_and_says_how_to_allow_it(run):
    workers = ThreadWorkers(WorkersConfig())
    with pytest.raises(ContentError) as caught:
        await run(workers, "pdf", make_pdf("Hello."))
    assert caught.value.code is ErrorCode.UNSUPPORTED_CONTENT_TYPE
    assert "processes=True" in caught.value.advice
    assert not workers._threads


@pytest.mark.parametrize(
    ("job", "code", "said"),
    [
        ("refuse", ErrorCode.CONTENT_TOO_LARGE, "no"),
        ("fail", ErrorCode.EXTRACTION_FAILED, "failed"),
        ("no such job", ErrorCode.EXTRACTION_FAILED, "failed"),
        ("eat", ErrorCode.EXTRACTION_FAILED, "more memory"),
    ],
)
async def test_errors_are_those_of_a_process(threads, run, job, code, said):
    with pytest.raises(ContentError, match=said) as caught:
        await run(threads, job)
    assert caught.value.code is code
    assert "secret" not in caught.value.message
    assert (await run(threads, "echo", b"next"))["text"] == "next"


async def test_a_body_that_is_too_large_is_refused(threads, run):
    with pytest.raises(ContentError) as caught:
        await run(threads, "echo", bytes(MAX_BODY + 1))
    assert caught.value.code is ErrorCode.CONTENT_TOO_LARGE


async def test_a_job_that_takes_too_long_is_given_up_and_goes_on(threads, run, gate):
    job = run(threads, "gate", b"long")
    await asyncio.to_thread(gate.begun.wait, 20)
    with pytest.raises(DefeatError, match="within 1 s"):
        await job
    assert gate.came == [b"long"]


async def test_a_job_under_way_is_given_up_before_the_deadline_if_a_reserve_is_wanted(
    run, gate, pass_by
):
    workers = ThreadWorkers(WorkersConfig(job_timeout=120), jobs={"gate": gate})
    job = run(workers, "gate", seconds=60, reserve=30)
    await asyncio.to_thread(gate.begun.wait, 20)
    pass_by(30)
    with pytest.raises(DefeatError, match=r"within [123]\d(\.\d)? s"):
        await job
    gate.open.set()
    await workers.aclose()


async def test_a_job_that_has_not_begun_may_use_the_reserve(threads, run):
    assert await run(threads, "echo", b"x", seconds=60, reserve=60) == {"text": "x"}


async def test_jobs_of_another_name_do_not_wait(threads, run, gate):
    first = run(threads, "gate")
    await asyncio.to_thread(gate.begun.wait, 20)
    assert await run(threads, "brief") == {"done": True}
    gate.open.set()
    await first


async def test_warming_is_nothing(threads):
    threads.warm()
    assert not threads._threads


@pytest.mark.parametrize("seconds", [0, 0.05])
async def test_the_deadline_ends_the_call_but_not_the_job(threads, run, gate, seconds):
    with pytest.raises(TransportError) as caught:
        await run(threads, "gate", seconds=seconds)
    assert caught.value.code is ErrorCode.TIMEOUT
    gate.open.set()
    assert (await run(threads, "echo", b"next"))["text"] == "next"


async def test_the_collector_of_garbage_is_off_while_a_job_runs(threads, run, gate):
    job = run(threads, "gate")
    await asyncio.to_thread(gate.begun.wait, 30)
    during = gc.isenabled()
    gate.open.set()
    await job

    assert (during, gc.isenabled()) == (False, True)


async def test_a_job_that_is_given_up_leaves_the_collector_on(threads, run, gate):
    with pytest.raises(DefeatError):
        await run(threads, "gate")

    assert gc.isenabled()


async def test_a_collector_that_the_program_switched_off_stays_off(threads, run):
    gc.disable()
    try:
        await run(threads, "brief")
        assert not gc.isenabled()
    finally:
        gc.enable()


async def test_jobs_run_one_after_the_other(threads, run, gate):
    first = run(threads, "gate", b"first")
    await asyncio.to_thread(gate.begun.wait, 20)
    second = run(threads, "gate", b"second")
    await asyncio.sleep(0)
    assert gate.came == [b"first"]
    gate.open.set()
    assert [await first, await second] == [{"length": 5}, {"length": 6}]


async def test_a_job_that_has_not_begun_is_taken_back(threads, run, gate):
    first = run(threads, "gate", b"first")
    await asyncio.to_thread(gate.begun.wait, 20)
    second = run(threads, "gate", b"second")
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    gate.open.set()
    await first
    assert (await run(threads, "echo", b"next"))["text"] == "next"
    assert gate.came == [b"first"]


async def test_however_many_wait_all_have_their_turn(threads, run, gate):
    jobs = [run(threads, "gate", bytes(number)) for number in range(300)]
    await asyncio.sleep(0)
    gate.open.set()
    assert [await job for job in jobs] == [{"length": number} for number in range(300)]


async def test_closing_lets_the_job_under_way_end_and_begins_no_other(threads, run, gate):
    running, waiting = run(threads, "gate"), run(threads, "gate")
    await asyncio.to_thread(gate.begun.wait, 20)
    closing = asyncio.ensure_future(threads.aclose())
    await asyncio.sleep(0)
    gate.open.set()
    await closing
    assert await running == {"length": 0}
    with pytest.raises(FetchError, match="closing"):
        await waiting
    alive = {*threading.enumerate()}
    with pytest.raises(FetchError, match="closing"):
        await run(threads, "echo")
    assert {*threading.enumerate()} <= alive


async def test_a_job_that_hangs_does_not_hold_up_closing(threads, run, gate):
    running = run(threads, "gate", seconds=0.05)
    with pytest.raises(TransportError):
        await running
    async with asyncio.timeout(20):
        await threads.aclose()
    assert not gate.open.is_set()
