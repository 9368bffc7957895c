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


REDIRECTS = {
    "34 redirect to itself": ({"/page": to("/page")}, "redirect_loop"),
    "34 redirect to a part of itself": ({"/page": to("#part")}, "redirect_loop"),
    "34 ping-pong": ({"/page": to("/other"), "/other": to("/page")}, "redirect_loop"),
    "34 chain that is just short enough": (chain(10), "page"),
    "34 chain that is too long": (chain(11), "too_many_redirects"),
    "35 to loopback": ({"/page": to("http://127.0.0.1/")}, "blocked_address"),
    "35 to metadata": ({"/page": to("//169.254.169.254/")}, "blocked_address"),
    "35 to a number": ({"/page": to("http://2130706433/")}, "blocked_address"),
    "35 to localhost": ({"/page": to("http://localhost/")}, "blocked_address"),
    "35 to a file": ({"/page": to("file:///etc/passwd")}, "blocked_scheme"),
    "35 to a port": ({"/page": to("http://x.example.org:22/")}, "blocked_port"),
    "35 to no address": ({"/page": to("http://[")}, "malformed_response"),
    "35 to backslashes": ({"/page": to("\\\\127.0.0.1\\")}, "malformed_response"),
    "35 to a long way off": ({"/page": to("/" + "x" * 6_000)}, "malformed_response"),
    "35 to no host": ({"/page": to("http://gone.example.org/")}, "dns_error"),
    "35 to nowhere": ({"/page": response(status="302 Found")}, "http_error"),
}


@pytest.mark.parametrize(("scripts", "verdict"), REDIRECTS.values(), ids=REDIRECTS)
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


LIMITS = {
    "36 Retry-After in seconds": (limited(**{"Retry-After": "7"}), 7, 7),
    "36 Retry-After as a date": (limited(Date=NOW, **{"Retry-After": SOON}), 90, 90),
    "36 Retry-After in the past": (limited(Date=NOW, **{"Retry-After": PAST}), 0.1, 60),
    "36 no Retry-After": (limited(), 1, 60),
    "36 Retry-After is garbage": (limited(**{"Retry-After": "soon"}), 1, 60),
    "36 Retry-After is negative": (limited(**{"Retry-After": "-5"}), 0.1, 60),
    "36 Retry-After is endless": (limited(**{"Retry-After": "9" * 400}), 1, 86_400),
    "36 Retry-After of ten years": (limited(**{"Retry-After": TEN_YEARS}), 1, 86_400),
}


@pytest.mark.parametrize(("script", "least", "most"), LIMITS.values(), ids=LIMITS)
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
