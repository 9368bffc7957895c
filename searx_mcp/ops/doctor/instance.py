"""Examines an instance with requests that cost it no search: health, JSON and limiter."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import urljoin

from yarl import URL

from searx_mcp.errors import ErrorCode, ProxyError, SearxMcpError
from searx_mcp.http.body import Response
from searx_mcp.http.http import HttpSession, Request
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import InstanceReport
from searx_mcp.ops.doctor.checks import Finding, broken, doubtful, fine, skipped
from searx_mcp.ops.doctor.connection import ConnectionPath, speaks_tls
from searx_mcp.pool.config_facts import MAX_TEXT, ConfigFacts, month_limited, parse_config
from searx_mcp.sources.searxng.classify import generator, judge
from searx_mcp.sources.searxng.request import honest

_AGE_DIGITS: Final = 9
_OTHER_PATHS: Final = ("/searxng/", "/searx/")
"""Paths where SearXNG's installation guides put an instance behind a web server."""
READ_THE_LOG: Final = (
    "Start or restart SearXNG; its log says what is wrong.\ndocker logs --tail 50 searxng"
)
_JSON_ON: Final = (
    "Turn on JSON in the instance's settings.yml and restart it.\n"
    "search:\n  formats:\n    - html\n    - json"
)
_LIMITER_OFF: Final = (
    "Turn off the limiter in the instance's settings.yml and restart it.\n"
    "server:\n  limiter: false\n  public_instance: false"
)
HEALTH_LATE: Final = broken(
    "The port accepts connections, but nothing answers.",
    "Restart SearXNG; its log says why it hangs.\ndocker logs --tail 50 searxng",
)
"""The result if `/healthz` takes too long."""
_CHALLENGED: Final = broken(
    "A browser challenge blocks access to the instance.",
    "Allow this machine in whatever serves the challenge, such as Anubis or Cloudflare.",
)
"""The result if the only answer is a challenge."""


@dataclass(slots=True)
class DiagnosticClient:
    """Makes requests to hosts, and records the clock offsets in their answers.

    Attributes:
        session: for the requests.
        clock: Unix seconds.
        timeout: seconds until the headers of an answer.
        offsets: seconds by which a host's clock is ahead of ours, by host; filled here.
    """

    session: HttpSession
    clock: Callable[[], float]
    timeout: float
    offsets: dict[str, float]

    async def get(self, url: str, *, unless_newer_than: datetime | None = None) -> Response:
        """Make one request, under our own name.

        Args:
            url: to request.
            unless_newer_than: makes it a conditional request for something newer, whose body is not read.

        Raises:
            SearxMcpError: as for `HttpSession.send`.
        """
        headers = honest()
        if unless_newer_than is not None:
            headers["If-Modified-Since"] = format_datetime(unless_newer_than, usegmt=True)
        max_bytes = MAX_TEXT if unless_newer_than is None else 0
        received = await self.session.send(
            Request(url=url, headers=headers, timeout=self.timeout, max_bytes=max_bytes)
        )
        self._compare_clocks(url, received.headers)
        return received

    def _compare_clocks(self, url: str, headers: Mapping[str, str]) -> None:
        try:
            sent = parsedate_to_datetime(headers.get("Date", "")).timestamp()
        except (ValueError, OverflowError):  # the latter for a time zone with many digits
            return
        # A cache in between sends the date of its own request, and its age since then.
        age = headers.get("Age", "")
        kept = int(age) if age.isascii() and age.isdigit() and len(age) <= _AGE_DIGITS else 0
        self.offsets[URL(url).host or ""] = sent + kept - self.clock()


@dataclass(slots=True)
class ExaminedInstance:
    """An instance that is being examined.

    Attributes:
        path: the connection to its host.
        client: makes the requests.
        is_known: whether it is an own instance, at any address.
        time_limit: seconds a search gives it.
        believed: what searches know of it, if anything.
        config: the text of its `/config`, once it is known.
    """

    path: ConnectionPath
    client: DiagnosticClient
    is_known: bool
    time_limit: float
    believed: InstanceReport | None = None
    config: str = ""

    @property
    def is_own(self) -> bool:
        """Whether it is an own instance, whose settings the user can change; always on private networks."""
        return self.is_known or self.path.is_private

    @property
    def url(self) -> str:
        """Its base URL, ending in `/`."""
        return str(self.path.url)

    async def get(self, path: str) -> Response:
        """Request a path below the base URL; raises as `DiagnosticClient.get`."""
        return await self.client.get(f"{self.url}{path}")


async def check_health(instance: ExaminedInstance) -> Finding:
    """Request `/healthz`, which passes every limiter and costs nothing."""
    try:
        received = await instance.get("healthz")
        if received.status == HTTPStatus.NOT_FOUND:
            return await _without_healthz(instance)
    except SearxMcpError as exc:
        return await no_answer(instance, exc)
    if received.status == HTTPStatus.OK and received.body.strip() == b"OK":
        return fine("SearXNG answers.")
    return _strange_health(instance, received)


async def check_json(instance: ExaminedInstance) -> Finding:
    """Request JSON without a query: the format is refused before the missing query."""
    if not instance.is_own:
        return skipped(
            "This counts as a search on someone else's instance; use --own to run it anyway."
        )
    try:
        received = await instance.get("search?format=json")
    except SearxMcpError as exc:
        return await no_answer(instance, exc)
    if received.status == HTTPStatus.BAD_REQUEST:
        return fine("JSON is on.")
    return _refusal(instance, received)


async def check_limiter(instance: ExaminedInstance) -> Finding:
    """Read `/config`: the limiter, its link token, the version."""
    try:
        received = await instance.get("config")
    except SearxMcpError as exc:
        return skipped(f"Its /config cannot be read: {exc.message}")
    if received.status == HTTPStatus.OK:
        instance.config = received.body.decode("utf-8-sig", "replace")
    facts = parse_config(instance.config)
    if facts is None:
        return skipped(f"Its /config is not available (status {received.status}).")
    version = f"SearXNG {facts.version}: " if facts.version else ""
    limits = _limits(facts)
    if instance.is_own and limits is not None:
        return doubtful(f"{version}{limits}", _LIMITER_OFF)
    if limits is None:
        known = facts.limiter_enabled is not None
        limits = "the limiter is off." if known else "it does not report a limiter."
    return fine(f"{version}{limits}")


async def no_answer(instance: ExaminedInstance, error: SearxMcpError) -> Finding:
    """Return the result if a request has no answer."""
    if error.code is ErrorCode.TIMEOUT:
        return HEALTH_LATE
    if isinstance(error, ProxyError):
        return broken(error.message, error.advice)
    if instance.path.url.scheme == "http" and await speaks_tls(instance.path):
        return _wants_tls(instance)
    return broken(error.message, READ_THE_LOG)


async def _without_healthz(instance: ExaminedInstance) -> Finding:
    """Distinguish an old instance, one below another path, and another program."""
    home = await instance.client.get(instance.url)
    program = generator(home.body)
    if program and home.status == HTTPStatus.OK:
        return fine(f"{program} answers; this version has no /healthz yet.")
    if instance.is_own:
        for other in ("/", *_OTHER_PATHS):
            moved = instance.path.url.with_path(other)
            health = await instance.client.get(f"{moved}healthz")
            if health.status == HTTPStatus.OK and health.body.strip() == b"OK":
                return broken(
                    f"SearXNG is below {other}, not below {instance.path.url.raw_path}.",
                    f"Use its address.\n{instance.path.variable(path=other)}",
                )
    return _not_searxng(instance)


def _strange_health(instance: ExaminedInstance, received: Response) -> Finding:
    status, location = received.status, received.headers.get("Location", "")
    verdict = judge(received, base_url=instance.url, format=Format.HTML).verdict
    if verdict is Verdict.CHALLENGE:
        return _CHALLENGED
    if status == HTTPStatus.OK:
        return _not_searxng(instance)
    if location:
        return _moved(instance, location)
    if status == HTTPStatus.BAD_REQUEST and b"HTTPS" in received.body:
        return _wants_tls(instance)
    if status == HTTPStatus.UNAUTHORIZED:
        instance.path.has_login = True
        said = "The instance requires a login."
        fix = f"Set the user name and password, percent-encoded.\n{instance.path.variable()}"
    elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        said = f"The web server answers with status {status}; SearXNG behind it does not answer."
        fix = READ_THE_LOG
    else:
        said = f"The answer has status {status}."
        fix = f"Let {instance.url}healthz through in the web server in front of SearXNG."
    return broken(said, fix)


def _moved(instance: ExaminedInstance, location: str) -> Finding:
    try:
        target = URL(urljoin(f"{instance.url}healthz", location)).with_query(None).with_user(None)
    except ValueError:
        return broken("It redirects, but not to an address.", READ_THE_LOG)
    if target.path.endswith("/healthz"):
        address = str(target).removesuffix("healthz")
        fix = f"Use it.\n{instance.path.known_as(URL(address))}"
        return broken(f"The instance has moved to {address}", fix)
    return broken(
        f"It redirects to {target}",
        f"Let {instance.url} reach SearXNG without that page, as for a login by password.",
    )


def _wants_tls(instance: ExaminedInstance) -> Finding:
    return broken(
        "The port expects https.",
        f"Use https.\n{instance.path.variable(scheme='https')}",
    )


def _not_searxng(instance: ExaminedInstance) -> Finding:
    path = instance.path
    return broken(
        f"A different program answers on port {path.port} of {path.host}.",
        "Use the port and the path of SearXNG; its container listens on 8080, and docker ps shows"
        " where that is published.",
    )


def _refusal(instance: ExaminedInstance, received: Response) -> Finding:
    judgement = judge(received, base_url=instance.url, format=Format.JSON)
    match judgement.verdict, received.status:
        case Verdict.CHALLENGE, _:
            return _CHALLENGED
        case Verdict.JSON_OFF, _:
            said, fix = "JSON is off (status 403).", _JSON_ON
        case Verdict.RATE_LIMITED, _:
            said = "The limiter refuses this machine (status 429)."
            fix = _pass_us(instance)
        case Verdict.BLOCKED, HTTPStatus.TOO_MANY_REQUESTS:
            said = "The address of this machine is on the instance's block list."
            fix = "Remove it from block_ip in the instance's limiter.toml and restart it."
        case Verdict.BLOCKED, _:
            said = "The limiter redirects to the home page because the link token is missing."
            fix = _LIMITER_OFF
        case Verdict.SERVER_ERROR, _:
            said, fix = judgement.detail, READ_THE_LOG
        case _:
            said = f"A search returns status {received.status}. {judgement.detail}".rstrip()
            fix = f"Let {instance.url}search reach SearXNG as it is."
    return broken(said, fix)


def _limits(facts: ConfigFacts) -> str | None:
    """Describe what the limiter allows a program, or return `None` if it does not run."""
    if month_limited(facts):
        return "the limiter requires a link token and allows programs 3 searches in 30 days."
    if facts.limiter_enabled:
        return "the limiter is on, and allows 4 requests for JSON an hour."
    return None


def _pass_us(instance: ExaminedInstance) -> str:
    reached = instance.path.reached
    address = reached.source if reached else "127.0.0.1"
    if instance.path.is_loopback:
        # A container sees the gateway of its network, from Docker's 172.16.0.0/12.
        addresses = f'"{address}", "172.16.0.0/12"'
    elif instance.path.is_private:
        addresses = f'"{address}"'
    else:
        addresses = '"THE PUBLIC ADDRESS OF THIS MACHINE"'
    return (
        "Allow this machine in limiter.toml, next to settings.yml, and restart the instance.\n"
        f"[botdetection.ip_lists]\npass_ip = [{addresses}]"
    )
