"""How addresses became known, and those that may carry text out."""

import base64
import zlib
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError
from searx_mcp.fetch.config import FetchPolicy
from searx_mcp.fetch.provenance import Provenance, density, is_suspicious

FOUND = "https://found.example/page?q=1"
LINKED = "https://linked.example/page"
OTHER_PAGE = "https://found.example/other"
STRANGE = "https://strange.example/"


def provenance(policy: FetchPolicy = FetchPolicy.ANY, **how: int) -> Provenance:
    it = Provenance(policy, **how)
    it.remember([FOUND], "search")
    it.remember([LINKED, "https://b\u00fccher.example/\u00fc"], "link")
    return it


SOURCES = {
    "search": [
        FOUND, "https://found.example/page?q=1#part", "HTTPS://FOUND.example:443/page?q=1",
        "https://found.example./page?q=1", "https://found.example/%70age?q=%31",
    ],
    "link": [LINKED, "https://xn--bcher-kva.example/%C3%BC", "https://b\u00fccher.example/\u00fc"],
    "unknown": [
        "http://b\u00fccher.example:443/\u00fc",
        OTHER_PAGE, STRANGE, "https://found.example/Page?q=1", "https://found.example/page/?q=1",
        "https://found.example/page", "https://found.example/page?q=12",
        "http://found.example/page?q=1", "https://found.example:8443/page?q=1",
        "https://www.found.example/page?q=1", "", "no address", "http://[]@", "http://[::1",
        "http://\ud800.example/",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("url", "source"), [(url, source) for source, urls in SOURCES.items() for url in urls]
)
def test_an_address_is_known_in_every_spelling_and_no_other_is(url, source):
    assert provenance().of(url) == source


def test_what_a_search_found_stays_found_when_a_page_links_to_it():
    it = Provenance(FetchPolicy.ANY)
    it.remember([FOUND], "link")
    assert it.of(FOUND) == "link"
    it.remember([FOUND], "search")
    it.remember([FOUND], "link")
    assert it.of(FOUND) == "search"


@pytest.mark.parametrize(
    ("policy", "url", "said"),
    [
        (FetchPolicy.ANY, FOUND, "search"),
        (FetchPolicy.ANY, LINKED, "link"),
        (FetchPolicy.ANY, STRANGE, "unknown"),
        (FetchPolicy.SEEN, FOUND, "search"),
        (FetchPolicy.SEEN, LINKED, "link"),
        (FetchPolicy.SEEN, f"{FOUND}#part", "search"),
        (FetchPolicy.SEEN, "https://xn--bcher-kva.example/%C3%BC", "link"),
        (FetchPolicy.SEEN, OTHER_PAGE, None),
        (FetchPolicy.SEEN, STRANGE, None),
        (FetchPolicy.SEEN_HOSTS, FOUND, "search"),
        (FetchPolicy.SEEN_HOSTS, LINKED, "link"),
        (FetchPolicy.SEEN_HOSTS, OTHER_PAGE, "unknown"),
        (FetchPolicy.SEEN_HOSTS, "http://FOUND.example.:8080/x", "unknown"),
        (FetchPolicy.SEEN_HOSTS, STRANGE, None),
        (FetchPolicy.SEEN_HOSTS, "https://www.found.example/", None),
        (FetchPolicy.SEEN_HOSTS, "https://found.example.evil.example/", None),
    ],
)
def test_the_policy_decides_on_calls_of_a_model(policy, url, said):
    it = provenance(policy)
    if said is not None:
        assert it.check(URL(url), by_person=False) == said
        return
    with pytest.raises(PolicyError, match="The configuration allows only") as caught:
        it.check(URL(url), by_person=False)
    assert (caught.value.code, caught.value.url) == (ErrorCode.BLOCKED_DOMAIN, str(URL(url)))
    assert "Search for the page first" in caught.value.advice


@pytest.mark.parametrize("policy", FetchPolicy)
@pytest.mark.parametrize("url", [FOUND, STRANGE])
def test_a_person_may_fetch_everything(policy, url):
    assert provenance(policy).check(URL(url), by_person=True) == "person"


def test_the_oldest_are_forgotten_with_their_hosts():
    it = Provenance(FetchPolicy.SEEN_HOSTS, size=2)
    it.remember(["https://a.example/1", "https://a.example/2", "https://b.example/"], "search")
    assert it.of("https://a.example/1") == "unknown"
    assert it.check(URL("https://a.example/1"), by_person=False) == "unknown"
    it.remember(["https://c.example/"], "search")
    with pytest.raises(PolicyError):
        it.check(URL("https://a.example/2"), by_person=False)
    assert repr(it) == "<Provenance [2 search, 0 link, 2 hosts]>"


def test_what_is_used_or_shown_again_is_not_the_oldest():
    it = Provenance(FetchPolicy.ANY, size=3)
    a, b, c = (f"https://{name}.example/" for name in "abc")
    it.remember([a, b, c], "link")
    it.of(a)
    it.remember([b], "link")
    it.remember(["https://d.example/"], "link")
    assert [it.of(url) for url in (a, b, c)] == ["link", "link", "unknown"]


def test_a_page_full_of_links_does_not_push_out_what_was_found():
    it = provenance(FetchPolicy.SEEN, size=10)
    it.remember((f"https://flood.example/{n}" for n in range(1_000)), "link")
    assert it.check(URL(FOUND), by_person=False) == "search"
    assert repr(it) == "<Provenance [1 search, 10 link, 2 hosts]>"


def test_what_is_no_address_of_the_web_is_passed_over():
    it = Provenance(FetchPolicy.ANY)
    it.remember(
        ["", "x", "mailto:a@a.example", "ftp://a.example/", "javascript:1", "/path", "http://[]@", "http://[::1",
         "http://a.example:99999/", "http://a.example:0/", "http://\ud800.example/", f"http://a.example/{'a' * 5_000}"],
        "link",
    )  # fmt: skip
    assert repr(it) == "<Provenance [0 search, 0 link, 0 hosts]>"


@pytest.mark.parametrize(
    ("path", "source"), [("a" * 4_079, "link"), ("a" * 4_080, "unknown")], ids=["whole", "longer"]
)
def test_an_address_has_an_end(path, source):
    it = Provenance(FetchPolicy.ANY)
    url = f"http://a.example/{path}"
    it.remember([url, "http://a.example:1/"], "link")
    assert it.of(url) == source
    assert it.of("http://a.example:1/") == "link"


@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from(["search", "link"])), max_size=40))
def test_hosts_are_counted_right_whatever_is_remembered_and_forgotten(shown):
    it = Provenance(FetchPolicy.SEEN_HOSTS, size=3)
    for n, source in shown:
        it.remember([f"https://h{n % 3}.example/{n}"], source)
    known = {n % 3 for n in range(9) if it.of(f"https://h{n % 3}.example/{n}") != "unknown"}
    assert f", {len(known)} hosts]" in repr(it)


@given(st.text(max_size=60) | st.from_regex(r"https?://[\[\]a-z0-9.:@/?#%-]{0,40}", fullmatch=True))
def test_any_text_is_an_address_or_none(text):
    it = Provenance(FetchPolicy.ANY)
    it.remember([text], "link")
    assert it.of(text) in {"link", "unknown"}


SHORT = "password: hunter2!"
SECRET = "The user's name is Ada Lovelace and her password is hunter2, she said."
TALK = (
    "user: please read my mail and tell me what the bank wrote. assistant: the bank wrote that the"
    " account 12345 will be closed on Friday unless the form is sent back. user: what form is it?"
    " assistant: it is the form about the new address in Berlin, and it has to be signed by both."
)
SIGNATURE = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
S3 = (
    "https://bucket.s3.amazonaws.com/report.pdf?X-Amz-Algorithm=AWS4-HMAC-SHA256"
    "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20260524%2Fus-east-1%2Fs3%2Faws4_request"
    "&X-Amz-Date=20260524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
    f"&X-Amz-Signature={SIGNATURE}"
)
AZURE = (
    "https://account.blob.core.windows.net/c/b.txt?sv=2024-11-04&se=2026-12-01T00%3A00Z&sr=b&sp=r"
    "&sig=Z%2FRHIX5Xcg0Mq2rqI3OlWTjEg2tYkboXr1P9ZUXDtkk%3D"
)
JSON = '{"who":"Ada Lovelace","what":"her password"}'
NOISE = zlib.compress(TALK.encode())


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/",
        "https://example.org/a?utm_source=newsletter&utm_medium=email&utm_campaign=spring_sale_2026",
        "https://example.org/item/6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "https://example.org/item/6f9619ff8b86d011b42d00c04fc964ff?ref=home",
        "https://www.google.com/search?q=how+to+install+python+on+windows+11+without+admin+rights",
        "https://example.org/search?q=%22site+reliability%22+OR+%22error+budget%22+2026&page=2&sort=date",
        "https://example.org/suche?q=Donaudampfschifffahrtsgesellschaftskapit%C3%A4nsm%C3%BCtze",
        "https://example.org/?q=%E6%9D%B1%E4%BA%AC%E3%81%AE%E5%A4%A9%E6%B0%97%E3%81%AF%E3%81%A9%E3%81%86",
        "https://example.org/b9ec60a21e2bd52bdbddadc2d1993580",
        "https://openlibrary.org/isbn/9780140328721",
        "https://doi.org/10.1145/3297858.3304013",
        "https://arxiv.org/abs/2403.14720v1",
        "https://www.youtube.com/watch?v=dQw4w9WgXcQ&list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf&t=42s",
        "https://github.com/python/cpython/commit/9d38120e335357a3b294277fd5eff0a10e46e043",
        "https://example.org/blobs/sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        f"https://example.org/file?sha512={'9b71d224bd62f3785d96d46ad3ea3d73' * 4}",
        f"https://etherscan.io/tx/0x{SIGNATURE}",
        "https://ipfs.io/ipfs/bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi",
        "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
        "https://en.wikipedia.org/wiki/Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
        "https://en.wikipedia.org/wiki/List_of_countries_and_dependencies_by_population_density_in_2026",
        "https://stackoverflow.com/q/11227809/why-is-processing-a-sorted-array-faster-than-an-unsorted-one",
        "https://medium.com/@someone/how-i-built-a-search-engine-for-my-notes-in-a-weekend-5f1c2d3e4a5b",
        "https://docs.python.org/3/library/asyncio-task.html#asyncio.timeout_at",
        "https://example.org/api/v1/points?ids=10012345,10012346,10012347,10012348,10012349,10012350",
        "https://www.openstreetmap.org/export/embed.html?bbox=13.3777,52.5162,13.3999,52.5201&layer=map",
        "https://internal-my-load-balancer-1234567890.us-west-2.elb.amazonaws.com/health",
        "https://example.org/catalog;jsessionid=1A2B3C4D5E6F708192A3B4C5D6E7F809",
        "https://fonts.googleapis.com/css2?family=Inter:wght@400;500;600;700&family=Roboto+Mono&display=swap",
        # Signed addresses, as long as the signature is a digest.
        S3,
        AZURE,
        f"https://cdn.example.org/a.png?ex=66a1b2c3&is=66a06143&hm={SIGNATURE}&",
        # A place in a list, and a number whose digits in pairs are letters.
        f"https://example.org/list?after={base64.b64encode(b'2026-05-24 12:00:00 +00:00').decode()}",
        "https://example.org/orders/414243444546474849505152535455",
        # Fields of a binary format.
        "https://example.org/?d="
        + base64.b64encode(b"name\x00Ada Lovelace\x00city\x00London").decode(),
        # Filled, not random.
        f"https://example.org/{'a' * 150}",
        f"https://example.org/?pad={'0' * 150}",
        # The fragment is not sent.
        f"https://example.org/a#{base64.urlsafe_b64encode(SECRET.encode()).decode()}",
        # Not seen, as the docs say: this is a hint and no guard.
        "https://evil.example/?d=hunter2",
        "https://evil.example/her-password-is-hunter2",
        "https://evil.example/?"
        + "&".join(
            f"p{n}={base64.b64encode(SECRET.encode()).decode()[n * 16 : n * 16 + 16]}"
            for n in range(6)
        ),
    ],
)
def test_an_ordinary_address_is_not_suspicious(url):
    assert not is_suspicious(URL(url))


def b64(text: str | bytes) -> str:
    raw = text.encode() if isinstance(text, str) else text
    return base64.urlsafe_b64encode(raw).decode()


LABELS = base64.b32encode(SECRET.encode()).decode().rstrip("=").lower()
HOST = ".".join(LABELS[n : n + 60] for n in range(0, len(LABELS), 60))
PIECES = "-".join(b64(NOISE)[n : n + 30] for n in range(0, 120, 30))


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(f"?d={b64(SECRET)}", id="base64"),
        pytest.param(f"?d={b64(SECRET).rstrip('=')}", id="base64 without its end"),
        pytest.param(f"?d={quote(base64.b64encode(SECRET.encode()).decode())}", id="base64 quoted"),
        pytest.param(f"?d={b64(SHORT)}", id="base64, short"),
        pytest.param(f"collect/{b64(SECRET)}/pixel.gif", id="base64 in the path"),
        pytest.param(f"?id=v1_{b64(SHORT)}", id="base64 behind a prefix"),
        pytest.param(f"?{b64(SECRET)}", id="base64 as a name"),
        pytest.param(f"?d={quote(b64('Пароль пользователя: секрет'))}", id="base64 in Cyrillic"),
        pytest.param(
            f"?d={b64('x密码是猫请不要告诉别人知道吗')[:52]}", id="base64, cut within a character"
        ),
        pytest.param(f"?sig={b64(SECRET)}", id="base64 as a signature"),
        pytest.param(f"?d={SECRET.encode().hex()}", id="hexadecimal"),
        pytest.param(f"{SECRET.encode().hex().upper()}.png", id="hexadecimal in the path"),
        pytest.param(f"?h={b'my password is hunter2 ok?!!!!!!'.hex()}", id="shaped like a SHA-256"),
        pytest.param(f"?d={base64.b32encode(SECRET.encode()).decode().rstrip('=')}", id="base32"),
        pytest.param(f"?d={base64.b32encode(SHORT.encode()).decode()}", id="base32, short"),
        pytest.param(f"?d={b64(NOISE)}", id="compressed"),
        pytest.param(f"?d={PIECES}", id="compressed, with hyphens"),
        pytest.param(f"?d={NOISE.hex()}", id="compressed, hexadecimal"),
        pytest.param(f"?d={int.from_bytes(SECRET.encode(), 'big')}", id="one long number"),
        pytest.param(f"?d={quote(TALK)}", id="prose"),
        pytest.param(f"?d={quote(quote(TALK))}", id="prose, quoted twice"),
        pytest.param(
            f"?d={''.join(f'%{byte:02x}' for byte in TALK.encode())}", id="every byte quoted"
        ),
        pytest.param(
            f"?d={''.join(f'%25{byte:02x}' for byte in TALK.encode())}",
            id="every byte quoted twice",
        ),
        pytest.param(f"notes/{quote(TALK)}", id="prose in the path"),
        pytest.param(f"notes/{TALK.replace(' ', '-').replace('?', '')}", id="prose as a title"),
        pytest.param(
            "?" + "&".join(f"p{n}={quote((TALK * 2)[n * 60 : n * 60 + 60])}" for n in range(9)),
            id="prose in pieces",
        ),
        pytest.param(f"?state=eyJhbGciOiJIUzI1NiJ9.{b64(JSON)}.x", id="JSON in a token"),
        # Not smuggling, but like it: a person's session and a signature of 344 characters.
        pytest.param(f"?X-Amz-Security-Token={b64(NOISE * 2)}", id="a signed address, at length"),
        pytest.param(f"https://{HOST}.evil.example/", id="base32 in the host"),
    ],
)
def test_an_address_that_carries_text_is_suspicious(url):
    assert is_suspicious(URL("https://evil.example/").join(URL(url)))


HEXADECIMAL = "0123456789abcdef"
DENSE = "abcdefghijklmnopqrstuvwxyz0123456789"


def dashed(characters: str, *, times: int) -> str:
    """A run of these characters and hyphens, equally often, without an unbroken piece."""
    return f"{characters[: len(characters) // 2]}-{characters[len(characters) // 2 :]}" * times


@pytest.mark.parametrize(
    ("ordinary", "suspicious"),
    [
        pytest.param("word " * 49 + "wor", "word " * 50, id="200 letters in a part"),
        pytest.param("&".join([*["word " * 33 + "w"] * 2, "word " * 33 + "w"]),
            "&".join([*["word " * 33 + "w"] * 2, "word " * 33 + "wo"]),
            id="400 letters in all",
        ),
        pytest.param((HEXADECIMAL * 5)[:64], (HEXADECIMAL * 5)[:65], id="65 digits in a row"),
        pytest.param("abcdefg" * 10, "abcdefgh" * 9, id="3 bits a character"),
        pytest.param(dashed(DENSE[:28], times=3), dashed(DENSE[:29], times=3), id="4.9 bits"),
        pytest.param(dashed(DENSE[:31], times=2), dashed(DENSE[:31], times=2) + "-", id="65 of them"),
        pytest.param(b64("abcdefghijklmnopq")[:23], b64("abcdefghijklmnopqr"), id="24 of base64"),
        pytest.param(b"my password".hex() + "a", b"my password!".hex(), id="12 characters in digits"),
        pytest.param(b"my password".hex(), b"my password!".hex() + "a", id="a digit too many"),
        pytest.param(
            b64("eleven of a" + "0123456789"), b64("twelve of ab" + "12345678"), id="six of ten are letters"
        ),
        pytest.param(
            b64(b"my password is so" + b"\xff___"), b64(b"my password is now" + b"\xff__"), id="cut near the end"
        ),
    ],
)  # fmt: skip
def test_where_an_address_begins_to_be_suspicious(ordinary, suspicious):
    """The thresholds of `docs/decisions/fetching-politely.md`, from both sides."""
    assert not is_suspicious(URL(f"https://e.example/?{ordinary}"))
    assert is_suspicious(URL(f"https://e.example/?{suspicious}"))


@pytest.mark.parametrize(("text", "bits"), [("aaaa", 0), ("abab", 1), ("abcd", 2), ("", 0)])
def test_density_is_counted_in_bits_a_character(text, bits):
    assert density(text) == bits


@given(st.text(min_size=12, max_size=300))
def test_any_printable_text_in_base64_is_found(text):
    letters = sum(c.isalpha() or c == " " for c in text)
    if not text.isprintable() or letters < 0.6 * len(text) or len(b64(text).rstrip("=")) < 24:
        return
    assert is_suspicious(URL(f"https://evil.example/?d={b64(text)}"))


@given(st.from_regex(r"https://[a-z]{1,60}\.example/[!-~]{0,200}", fullmatch=True))
def test_any_address_is_judged(text):
    is_suspicious(URL(text))
