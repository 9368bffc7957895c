"""Addresses that a site adapter makes of a page's are judged like any: fault 35 of `test_table.py`."""

import ssl

import pytest
import trustme

from searx_mcp import SearxClient
from searx_mcp.errors import SearxMcpError
from tests.doubles.raw import RawServer, response

PAGE = response("<title>The page</title><p>What a person would see, with some words on it.</p>")
INNER = "10.0.0.7"
FILE = "/octo/demo/src/branch/main/a.py"
README = "https://github.com/octo/demo/blob/main/README.md"


@pytest.fixture
def read(internet, settings_of, watch, tmp_path):
    """Give what reads an address of github.com, all of whose paths are a page."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("github.com").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")

    async def run(url: str):
        async with RawServer({"/octo/demo/blob/main/README.md": PAGE}, ssl_context=context) as site:
            internet.host("github.com", site, port=443)
            settings = settings_of(network={"ca_file": str(tmp_path / "ca.pem")})
            async with SearxClient(settings, dialling=internet.dialling) as client:
                return await watch(client.fetch(url))

    return run


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([INNER], id="35 source with a private address"),
        pytest.param(["8.8.8.8", INNER], id="35 source with a public and a private address"),
    ],
)
async def test_a_source_with_a_private_address_is_passed_over(internet, read, answers):
    internet.resolve("raw.githubusercontent.com", answers)
    page = await read(README)
    assert not isinstance(page, SearxMcpError), page
    assert (page.title, page.tier) == ("The page", "native")
    assert "not on the public web" in page.notes[0]
    assert "raw.githubusercontent.com" in internet.asked
    assert {address for address, _ in internet.dialled} == {internet.host("github.com")}


async def test_a_source_that_redirects_to_a_private_address_is_passed_over(
    internet, settings_of, watch
):
    """Fault 35: the host is public, its answer leads inside."""
    inside = response(status="302 Found", headers={"Location": f"http://{INNER}/"})
    scripts = {FILE: PAGE, FILE.replace("src", "raw"): inside}
    async with RawServer(scripts) as site:
        address = internet.host("git.example.org", site)
        async with SearxClient(settings_of(), dialling=internet.dialling) as client:
            page = await watch(client.fetch(f"http://git.example.org{FILE}"))
        assert not isinstance(page, SearxMcpError), page
        assert (page.title, page.tier) == ("The page", "native")
        assert any(head.startswith("GET /octo/demo/raw/branch/main/a.py ") for head in site.heads)
        assert {dialled for dialled, _ in internet.dialled} == {address}
