"""Whether SearXNG is there: `/healthz`, which passes every limiter and costs nothing."""

from http import HTTPStatus
from typing import Final
from urllib.parse import urljoin

from yarl import URL

from searx_mcp.errors import ErrorCode, ProxyError, SearxMcpError
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.ops.doctor.asking import Patient
from searx_mcp.ops.doctor.connection import speaks_tls
from searx_mcp.ops.doctor.course import Finding, broken, fine
from searx_mcp.sources.searxng.classify import Received, generator, judge

_OTHER_PATHS: Final = ("/searxng/", "/searx/")
"""Where SearXNG's own installation guides put an instance behind a web server."""

READ_THE_LOG: Final = (
    "Start SearXNG, or restart it; its log tells what is wrong.\ndocker logs --tail 50 searxng"
)


async def check_health(patient: Patient) -> Finding:
    """Ask for `/healthz`, which passes every limiter and costs nothing."""
    try:
        received = await patient.get("healthz")
        if received.status == HTTPStatus.NOT_FOUND:
            return await _without_healthz(patient)
    except SearxMcpError as exc:
        return await no_answer(patient, exc)
    if received.status == HTTPStatus.OK and received.body.strip() == b"OK":
        return fine("SearXNG answers.")
    return _strange_health(patient, received)


def health_late() -> Finding:
    """What it means when `/healthz` takes too long."""
    return broken(
        "The port accepts connections, and nothing answers there.",
        "Restart SearXNG; its log tells why it hangs.\ndocker logs --tail 50 searxng",
    )


async def no_answer(patient: Patient, error: SearxMcpError) -> Finding:
    """What it means when a question has no answer."""
    if error.code is ErrorCode.TIMEOUT:
        return health_late()
    if isinstance(error, ProxyError):
        return broken(error.message, error.advice)
    if patient.way.url.scheme == "http" and await speaks_tls(patient.way):
        return _wants_tls(patient)
    return broken(error.message, READ_THE_LOG)


def challenged() -> Finding:
    """What it means when a challenge is all one gets."""
    return broken(
        "A challenge for browsers stands in front of the instance.",
        "Let this machine pass in what puts it there, such as Anubis or Cloudflare.",
    )


async def _without_healthz(patient: Patient) -> Finding:
    """Tell an old instance, one below another path and another program apart."""
    home = await patient.asked.get(patient.url)
    program = generator(home.body)
    if program and home.status == HTTPStatus.OK:
        return fine(f"{program} answers; it is too old for /healthz.")
    if patient.is_own:
        for other in ("/", *_OTHER_PATHS):
            moved = patient.way.url.with_path(other)
            health = await patient.asked.get(f"{moved}healthz")
            if health.status == HTTPStatus.OK and health.body.strip() == b"OK":
                return broken(
                    f"SearXNG is below {other}, not below {patient.way.url.raw_path}.",
                    f"Use its address.\n{patient.way.variable(path=other)}",
                )
    return _not_searxng(patient)


def _strange_health(patient: Patient, received: Received) -> Finding:
    status, location = received.status, received.headers.get("Location", "")
    verdict = judge(received, base_url=patient.url, format=Format.HTML).verdict
    if verdict is Verdict.CHALLENGE:
        return challenged()
    if status == HTTPStatus.OK:
        return _not_searxng(patient)
    if location:
        return _moved(patient, location)
    if status == HTTPStatus.BAD_REQUEST and b"HTTPS" in received.body:
        return _wants_tls(patient)
    if status == HTTPStatus.UNAUTHORIZED:
        patient.way.has_login = True
        said = "The instance wants a login."
        fix = (
            "Give the user name and the password that it takes, percent-encoded.\n"
            f"{patient.way.variable()}"
        )
    elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        said = f"The web server answers with status {status}: SearXNG behind it does not."
        fix = READ_THE_LOG
    else:
        said = f"It is answered with status {status}."
        fix = f"Let {patient.url}healthz through in the web server in front of SearXNG."
    return broken(said, fix)


def _moved(patient: Patient, location: str) -> Finding:
    try:
        target = URL(urljoin(f"{patient.url}healthz", location)).with_query(None).with_user(None)
    except ValueError:
        return broken("It is redirected nowhere.", READ_THE_LOG)
    if target.path.endswith("/healthz"):
        address = str(target).removesuffix("healthz")
        fix = f"Use it.\n{patient.way.known_as(URL(address))}"
        return broken(f"The instance has moved to {address}", fix)
    return broken(
        f"It is redirected to {target}",
        f"Let {patient.url} reach SearXNG without that page, as for a login by password.",
    )


def _wants_tls(patient: Patient) -> Finding:
    return broken(
        "The port wants https.",
        f"Use https.\n{patient.way.variable(scheme='https')}",
    )


def _not_searxng(patient: Patient) -> Finding:
    way = patient.way
    return broken(
        f"Another program answers on port {way.port} of {way.host}.",
        "Use the port and the path of SearXNG; its container listens on 8080, and docker ps shows"
        " where that is published.",
    )
