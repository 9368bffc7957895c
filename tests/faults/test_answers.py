"""Answers that lead elsewhere, or say no: faults 34 to 40 of the list in `test_table.py`."""

from itertools import pairwise

import pytest

from tests.doubles.raw import response

HOST = "fault.example.org"
PAGE = response("<title>Arrived</title><p>A page at the end of a way, with some words on it.</p>")


def to(location: str) -> bytes:
    return response(status="302 Found", headers={"Location": location})


def chain(length: int) -> dict[str, bytes]:
    """A page after so many redirects."""
    steps = ["/page", *(f"/step-{number}" for number in range(1, length + 1))]
    hops = {path: to(target) for path, target in pairwise(steps)}
    return {**hops, steps[-1]: PAGE}


@pytest.mark.parametrize(
    ("scripts", "verdict"),
    [
        pytest.param({"/page": to("/page")}, "redirect_loop", id="34 redirect to itself"),
        pytest.param({"/page": to("#part")}, "redirect_loop", id="34 redirect to a part of itself"),
        pytest.param(
            {"/page": to("/other"), "/other": to("/page")}, "redirect_loop", id="34 ping-pong"
        ),
        pytest.param(chain(10), "page", id="34 chain that is just short enough"),
        pytest.param(chain(11), "too_many_redirects", id="34 chain that is too long"),
        pytest.param({"/page": to("http://127.0.0.1/")}, "blocked_address", id="35 to loopback"),
        pytest.param({"/page": to("//169.254.169.254/")}, "blocked_address", id="35 to metadata"),
        pytest.param({"/page": to("http://2130706433/")}, "blocked_address", id="35 to a number"),
        pytest.param({"/page": to("http://localhost/")}, "blocked_address", id="35 to localhost"),
        pytest.param({"/page": to("file:///etc/passwd")}, "blocked_scheme", id="35 to a file"),
        pytest.param({"/page": to("http://x.example.org:22/")}, "blocked_port", id="35 to a port"),
        pytest.param({"/page": to("http://[")}, "malformed_response", id="35 to no address"),
        pytest.param(
            {"/page": to("\\\\127.0.0.1\\")}, "malformed_response", id="35 to backslashes"
        ),
        pytest.param(
            {"/page": to("/" + "x" * 6_000)}, "malformed_response", id="35 to a long way off"
        ),
        pytest.param({"/page": to("http://gone.example.org/")}, "dns_error", id="35 to no host"),
        pytest.param({"/page": response(status="302 Found")}, "http_error", id="35 to nowhere"),
    ],
)
async def test_a_redirect_is_followed_as_far_as_it_may_lead(play, scripts, verdict):
    assert (await play(scripts)).verdict == verdict


async def test_redirects_that_never_repeat_end_by_their_number(play):
    """Fault 34: every target is new."""
    scripts = {f"/page?{number}": to(f"/page?{number + 1}") for number in range(30)}
    assert (await play({"/page": to("/page?0"), **scripts})).verdict == "too_many_redirects"


async def test_a_redirect_to_a_name_with_a_private_address_is_refused(play, internet):
    """Fault 35: the target is public by name only."""
    internet.resolve("inner.example.org", ["10.0.0.7"])
    ending = await play({"/page": to("http://inner.example.org/")})
    assert ending.verdict == "blocked_address"
    assert ("10.0.0.7", 80) not in internet.dialled


def limited(**headers: str) -> bytes:
    return response("Slow down", status="429 Too Many Requests", headers=headers)


NOW = "Wed, 05 Aug 2026 12:00:00 GMT"
SOON = "Wed, 05 Aug 2026 12:01:30 GMT"
PAST = "Wed, 05 Aug 2020 12:00:00 GMT"
TEN_YEARS = str(10 * 365 * 86_400)


@pytest.mark.parametrize(
    ("script", "least", "most"),
    [
        pytest.param(limited(**{"Retry-After": "7"}), 7, 7, id="36 Retry-After in seconds"),
        pytest.param(
            limited(Date=NOW, **{"Retry-After": SOON}), 90, 90, id="36 Retry-After as a date"
        ),
        pytest.param(
            limited(Date=NOW, **{"Retry-After": PAST}), 0.1, 60, id="36 Retry-After in the past"
        ),
        pytest.param(limited(), 1, 60, id="36 no Retry-After"),
        pytest.param(limited(**{"Retry-After": "soon"}), 1, 60, id="36 Retry-After is garbage"),
        pytest.param(limited(**{"Retry-After": "-5"}), 0.1, 60, id="36 Retry-After is negative"),
        pytest.param(
            limited(**{"Retry-After": "9" * 400}), 1, 86_400, id="36 Retry-After is endless"
        ),
        pytest.param(
            limited(**{"Retry-After": TEN_YEARS}), 1, 86_400, id="36 Retry-After of ten years"
        ),
    ],
)
async def test_a_site_that_limits_us_says_for_how_long_within_reason(refused, script, least, most):
    error = await refused(script)
    assert error.code == "rate_limited"
    assert error.retry_after is not None
    assert least <= error.retry_after <= most


async def test_a_site_that_fails_once_serves_the_next_call(watch, client_of):
    """Fault 37: 503, then 200."""
    answers = [response("Busy", status="503 Service Unavailable"), PAGE]

    async def recovering(connection):
        await connection.send(answers.pop(0))

    async with client_of({"/page": recovering}) as client:
        error = await watch(client.fetch(f"http://{HOST}/page"))
        assert error.code == "http_error"
        assert error.status_code == 503
        page = await watch(client.fetch(f"http://{HOST}/page"))
        assert page.title == "Arrived"
