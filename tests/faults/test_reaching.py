"""Sites that cannot be reached: faults 1 to 9, and 44, of the list in `test_table.py`."""

import socket
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
import trustme

from searx_mcp import SearxClient
from searx_mcp.errors import SearxMcpError
from tests.doubles.raw import RawServer, response

NAME = "www.example.org"
PUBLIC = "93.184.216.34"
PAGE = response("<title>Here</title><p>A page that was reached in the end, with some words.</p>")


class Reader:
    """Asks for one address, and for another one of another host after it."""

    def __init__(self, internet, settings_of, watch) -> None:
        self.internet = internet
        self._settings_of = settings_of
        self._watch = watch

    async def __call__(
        self,
        url: str = f"http://{NAME}/",
        *,
        deadline: float = 2,
        obeys_robots: bool = True,
        **tables: Mapping[str, object],
    ) -> str:
        """Give an error's code, or the title of the page."""
        arguments: dict[str, Any] = {} if obeys_robots else {"ignore_robots": True}
        web_fetch = {"default_timeout": deadline}
        settings = self._settings_of(web_fetch=web_fetch, **tables)
        async with RawServer({"/": PAGE}) as elsewhere:
            self.internet.host("elsewhere.example.org", elsewhere)
            async with SearxClient(settings, dialling=self.internet.dialling) as client:
                result = await self._watch(client.fetch(url, **arguments), deadline=deadline)
                after = await client.fetch("http://elsewhere.example.org/", timeout=120)
                assert after.title == "Here"
        return result.code if isinstance(result, SearxMcpError) else result.title


@pytest.fixture
def read(internet, settings_of, watch) -> Reader:
    return Reader(internet, settings_of, watch)


async def test_a_host_that_refuses_connections_is_told(read, internet):
    """Fault 1: connect refused."""
    address = internet.host(NAME)
    assert await read() == "connection_error"
    assert (address, 80) in internet.dialled


async def test_a_host_that_swallows_connections_is_left_at_the_limit_for_connecting(read, internet):
    """Fault 2: SYN blackhole; the call has more time than one connection may take."""
    await internet.swallow(internet.host(NAME))
    brief = {"connect_timeout": 1}
    assert await read(deadline=60, obeys_robots=False, network=brief) == "timeout"
    # No robots.txt could be read, so no page may be.
    assert await read(deadline=60, network=brief) == "robots_disallowed"


async def test_a_host_that_swallows_connections_is_left_at_the_deadline(read, internet):
    """Fault 2: SYN blackhole; the deadline comes before the limit for connecting."""
    await internet.swallow(internet.host(NAME))
    assert await read(deadline=1, network={"connect_timeout": 60}) == "timeout"


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        pytest.param([[]], "dns_error", id="3 NXDOMAIN"),
        pytest.param(
            [socket.gaierror(socket.EAI_AGAIN, "try again")], "dns_error", id="3 SERVFAIL"
        ),
        pytest.param([OSError(5, "the resolver broke")], "dns_error", id="3 resolver breaks"),
        pytest.param([None], "timeout", id="4 DNS that never answers"),
        pytest.param([["10.0.0.1"]], "blocked_address", id="5 DNS with a private address"),
        pytest.param([[PUBLIC, "127.0.0.1"]], "blocked_address", id="5 DNS with mixed addresses"),
        pytest.param([["127.0.0.1", PUBLIC]], "blocked_address", id="5 DNS mixed, private first"),
    ],
)
async def test_a_name_that_does_not_lead_to_the_public_web_is_told(read, internet, answers, code):
    internet.resolve(NAME, *answers)
    assert await read() == code
    assert all(address != "127.0.0.1" for address, _ in internet.dialled)


async def test_a_name_that_changes_to_a_private_address_leads_nowhere(read, internet):
    """Fault 5: rebinding between two hops of one call, on connections that are not kept."""
    closing = {"Connection": "close", "Location": "/again"}

    async def hop(connection):
        await connection.send(response(status="302 Found", headers=closing))

    async with RawServer({"/": hop}) as server:
        internet.resolve(NAME, [PUBLIC], [PUBLIC], ["127.0.0.1"])
        internet.lead(PUBLIC, server)
        # Without robots.txt the page would be the first look-up and not the second.
        assert await read() in {"blocked_address", "not_found"}
    assert {address for address, _ in internet.dialled} <= {
        PUBLIC,
        internet.host("elsewhere.example.org"),
    }


async def test_one_address_of_several_that_answers_is_enough(read, internet):
    """Fault 1: the first address refuses, the second does not."""
    async with RawServer({"/": PAGE}) as server:
        internet.resolve(NAME, ["93.184.216.200", PUBLIC])
        internet.lead(PUBLIC, server)
        assert await read(deadline=60) == "Here"


LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "validity", "is_believed", "ending"),
    [
        pytest.param(NAME, {}, True, "Here", id="in order"),
        pytest.param(
            NAME, {"not_before": LONG_AGO, "not_after": LONG_AGO}, True, "tls_error", id="6 expired"
        ),
        pytest.param(NAME, {}, False, "tls_error", id="7 of an authority that nobody believes"),
        pytest.param("other.example.org", {}, True, "tls_error", id="8 of another host"),
    ],
)
async def test_a_certificate_lets_the_page_through_if_it_is_in_order(
    internet, read, tmp_path, name, validity, is_believed, ending
):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name, **validity).configure_cert(context)
    network = {"ca_file": str(tmp_path / "ca.pem")} if is_believed else {}
    async with RawServer({"/": PAGE}, ssl_context=context) as server:
        internet.host(NAME, server, port=443)
        assert await read(f"https://{NAME}/", deadline=60, network=network) == ending


@pytest.mark.parametrize(
    ("greeting", "code"),
    [
        pytest.param(lambda connection: connection.hang(), "timeout", id="9 handshake that stalls"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", "tls_error", id="9 no TLS at all"),
    ],
)
async def test_a_handshake_that_comes_to_nothing_ends(internet, read, greeting, code):
    async with RawServer(greeting=greeting) as server:
        internet.host(NAME, server, port=443)
        assert await read(f"https://{NAME}/", deadline=2) == code


async def test_a_kept_connection_that_has_gone_is_replaced(internet, settings_of, watch):
    """Fault 44: keep-alive socket closed between requests."""
    async with RawServer({"/one": PAGE, "/two": PAGE}) as server:
        internet.host(NAME, server)
        async with SearxClient(settings_of(), dialling=internet.dialling) as client:
            await client.fetch(f"http://{NAME}/one")
            made = server.connections
            assert server.open_connections == 1
            server.drop_connections()
            page = await watch(client.fetch(f"http://{NAME}/two"))
            assert not isinstance(page, SearxMcpError)
            assert page.title == "Here"
            assert server.connections == made + 1


async def test_a_kept_connection_that_dies_with_the_request_is_replaced(
    internet, settings_of, watch
):
    """Fault 44: it looks open, and closes when the next request comes."""

    async def closing(connection):
        pass

    async with RawServer({"/one": PAGE, "/two": closing}) as server:
        internet.host(NAME, server)
        async with SearxClient(settings_of(), dialling=internet.dialling) as client:
            await client.fetch(f"http://{NAME}/one")
            error = await watch(client.fetch(f"http://{NAME}/two"))
            assert isinstance(error, SearxMcpError)
            assert error.code == "connection_error"
            server.play("/two", PAGE)
            assert (await client.fetch(f"http://{NAME}/two")).title == "Here"
