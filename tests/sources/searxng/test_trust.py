"""Which hits of a public instance are not believed, and what is left of its answer."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Answer, Hit, ResultPage
from searx_mcp.pool.proposal import Outcome
from searx_mcp.sources.searxng.answers import distrust

BASE = "https://search.example/sx/"
GOOD = [f"https://site{n}.example/page" for n in range(10)]
TARGET = "https://a.example/page?x=1&y=2"
ONCE = quote(TARGET, safe="")


def _through(prefix: str, count: int = 3, target: str = ONCE) -> list[str]:
    return [f"{prefix}{target}{n}" for n in range(count)]


def _outcome(urls: list[str], answers: tuple[Answer, ...] = ()) -> Outcome:
    hits = tuple(Hit(url=url, title="t", position=n) for n, url in enumerate(urls, start=1))
    return Outcome(Verdict.FULL, page=ResultPage(hits=hits, rows_seen=len(hits), answers=answers))


def _kept(urls: list[str], *, base_url: str = BASE, text: str = "words") -> list[str]:
    """The addresses that are left; the page always has other rows too."""
    judged = distrust(_outcome(urls), base_url=base_url, text=text)
    assert judged.page is not None
    assert bool(judged.trust_violation) == (len(judged.page.hits) < len(urls))
    return [hit.url for hit in judged.page.hits]


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("https://search.example/", id="its home page"),
        pytest.param("https://search.example/sx/search?q=x", id="its search"),
        pytest.param("https://search.example/elsewhere", id="its host, another path"),
        pytest.param("http://search.example/", id="another scheme"),
        pytest.param("https://search.example:8443/", id="another port"),
        pytest.param("https://SEARCH.example./", id="capitals and a final dot"),
        pytest.param(f"https://search.example/goto?url={ONCE}", id="its own redirects"),
    ],
)
def test_a_single_hit_that_leads_home_is_dropped(url):
    assert _kept([url, *GOOD]) == GOOD


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("https://www.search.example/", id="below its host"),
        pytest.param("https://example/", id="above its host"),
        pytest.param("https://other.example/search.example/", id="in the path"),
        pytest.param("https://other.example/?u=https://search.example/", id="in a query, once"),
        pytest.param("https://search.example@other.example/", id="as a user name"),
    ],
)
def test_a_hit_that_leads_elsewhere_stays(url):
    assert _kept([url, *GOOD]) == [url, *GOOD]


@pytest.mark.parametrize(
    ("base_url", "url", "dropped"),
    [
        pytest.param("http://192.0.2.1:8080/", "http://192.0.2.1:8080/a", True, id="same-port"),
        pytest.param("http://192.0.2.1:8080/", "http://192.0.2.1:8081/a", False, id="another-port"),
        pytest.param("http://192.0.2.1/", "https://192.0.2.1/a", False, id="another-scheme"),
        pytest.param("http://[2001:db8::1]:80/", "http://[2001:db8::1]:80/a", True, id="ipv6"),
        pytest.param(
            "http://[2001:db8::1]:80/", "http://[2001:db8::1]:81/a", False, id="ipv6-port"
        ),
    ],
)
def test_an_address_without_a_name_is_home_only_at_its_port(base_url, url, dropped):
    assert _kept([url, *GOOD], base_url=base_url) == (GOOD if dropped else [url, *GOOD])


def test_a_host_of_another_alphabet_is_known_in_either_spelling():
    urls = ["https://süche.example/", "https://xn--sche-0ra.example/", *GOOD]

    for base_url in urls[:2]:
        assert _kept(urls, base_url=base_url) == GOOD


@pytest.mark.parametrize(
    "prefix",
    [
        pytest.param("https://t.example/?to=", id="in the query"),
        pytest.param("https://t.example/?a=1&to=", id="in the query, not first"),
        pytest.param("https://t.example/to/", id="in the path"),
        pytest.param("http://t.example:8080/", id="another port"),
        pytest.param("https://me@t.example/", id="with a user name"),
    ],
)
@pytest.mark.parametrize(
    "target",
    [
        pytest.param(TARGET, id="plain"),
        pytest.param(ONCE, id="encoded"),
        pytest.param(quote(ONCE, safe=""), id="encoded twice"),
        pytest.param(ONCE.lower(), id="encoded in small letters"),
        pytest.param(TARGET.replace("https://", "HTTP://"), id="scheme in capitals"),
        pytest.param("".join(f"%{ord(c):02x}" for c in TARGET), id="every letter encoded"),
        pytest.param(TARGET.replace("//", "/"), id="one slash"),
        pytest.param(TARGET.replace("//", "//me@"), id="a user name in front"),
        pytest.param("https://192.0.2.1/", id="a number for a host"),
        pytest.param("https://süche.example/", id="another alphabet"),
    ],
)
def test_hits_through_a_rewriting_host_are_dropped(prefix, target):
    assert _kept([*_through(prefix, target=target), *GOOD[:3]]) == GOOD[:3]


@pytest.mark.parametrize(
    ("rewritten", "others", "dropped"),
    [
        pytest.param(2, 0, False, id="two alone"),
        pytest.param(2, 2, False, id="two of four"),
        pytest.param(3, 0, True, id="three alone"),
        pytest.param(3, 3, True, id="three of six"),
        pytest.param(3, 4, False, id="three of seven"),
        pytest.param(4, 4, True, id="four of eight"),
        pytest.param(4, 5, False, id="four of nine"),
    ],
)
def test_a_host_rewrites_from_three_hits_and_half_of_the_page(rewritten, others, dropped):
    urls = [*_through("https://t.example/?to=", rewritten), *GOOD[:others]]

    assert _kept(urls) == (GOOD[:others] if dropped else urls)


@pytest.mark.parametrize(
    "urls",
    [
        pytest.param([f"https://a.example/{n}?q=1" for n in range(5)], id="one site"),
        pytest.param(
            _through("https://a.example/login?next=", 5, "https://a.example/"), id="its own address"
        ),
        pytest.param(
            _through("https://www.a.example/login?next=", 5, "https://a.example/"),
            id="the site above",
        ),
        pytest.param(
            _through("https://a.example/login?next=", 5, "https://my.a.example/"),
            id="the site below",
        ),
        pytest.param(
            [f"https://t{n}.example/?to={ONCE}" for n in range(5)], id="each through another host"
        ),
        pytest.param(_through("https://a.example/http-https-", 5, "guide"), id="the word alone"),
        pytest.param(_through("https://a.example/#", 5), id="behind the number sign"),
        pytest.param(
            _through("https://a.example/?to=", 5, "ftp://b.example/"), id="no web address"
        ),
        pytest.param(
            _through("https://a.example/?to=", 5, "https://localhost/"), id="no full name"
        ),
    ],
)
def test_pages_of_ordinary_addresses_are_left_alone(urls):
    assert _kept(urls) == urls


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("words", False, id="not asked for"),
        pytest.param("words site:web.archive.org", True, id="the host"),
        pytest.param("site:archive.org words", True, id="the site above"),
        pytest.param("SITE:Web.Archive.ORG", True, id="capitals"),
        pytest.param('site:"web.archive.org"', True, id="quoted"),
        pytest.param("site:https://web.archive.org/web/", True, id="a whole address"),
        pytest.param("(site:a.example OR site:archive.org)", True, id="one of two"),
        pytest.param("-site:web.archive.org", False, id="excluded"),
        pytest.param("site:chive.org", False, id="part of a name"),
        pytest.param("site:web.archive.org.example", False, id="another site"),
        pytest.param("website:archive.org", False, id="another word"),
        pytest.param("web.archive.org", False, id="the bare name"),
    ],
)
def test_what_the_query_asks_for_by_site_stays(text, kept):
    urls = [f"https://web.archive.org/web/2020/https://site{n}.example/" for n in range(4)]

    assert _kept([*urls, GOOD[0]], text=text) == ([*urls, GOOD[0]] if kept else GOOD[:1])


def test_an_instance_that_is_asked_for_itself_may_show_itself():
    assert _kept([BASE, *GOOD], text="site:search.example help") == [BASE, *GOOD]


@pytest.mark.parametrize(
    ("good", "verdict"),
    [
        pytest.param(0, Verdict.UNTRUSTED, id="nothing"),
        pytest.param(1, Verdict.THIN, id="one"),
        pytest.param(2, Verdict.THIN, id="two"),
        pytest.param(3, Verdict.FULL, id="three"),
    ],
)
def test_the_verdict_is_that_of_what_remains(good, verdict):
    judged = distrust(_outcome([BASE] * 3 + GOOD[:good]), base_url=BASE, text="words")

    assert judged.verdict is verdict
    assert judged.trust_violation == f"3 of {3 + good} results lead back to the instance itself."
    assert judged.detail == (judged.trust_violation if verdict is Verdict.UNTRUSTED else "")
    assert judged.page is not None
    # Not as if the markup had changed.
    assert judged.page.rows_seen == len(judged.page.hits) == good


def test_answers_do_not_save_a_page_of_traps_but_make_a_thin_one_full():
    answers = (Answer(text="42"),)
    for urls, verdict in (([BASE], Verdict.UNTRUSTED), ([BASE, GOOD[0]], Verdict.FULL)):
        judged = distrust(_outcome(urls, answers=answers), base_url=BASE, text="words")
        assert judged.verdict is verdict


def test_rows_that_could_not_be_read_still_show():
    page = ResultPage(hits=(Hit(url=BASE, title="t", position=1),), rows_seen=5)

    judged = distrust(Outcome(Verdict.THIN, page=page), base_url=BASE, text="words")

    assert judged.page is not None
    assert judged.page.rows_seen == 4


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param(Outcome(Verdict.BLOCKED, detail="no"), id="no page"),
        pytest.param(Outcome(Verdict.EMPTY, page=ResultPage()), id="no hits"),
        pytest.param(_outcome(GOOD), id="nothing wrong"),
    ],
)
def test_an_answer_without_a_violation_stays_as_it_was(outcome):
    assert distrust(outcome, base_url=BASE, text="words") is outcome


def test_every_violation_is_told_with_its_host():
    urls = [BASE, *_through("https://t.example/?to=", 3), GOOD[0]]

    judged = distrust(_outcome(urls), base_url=BASE, text="words")

    assert judged.trust_violation == (
        "1 of 5 results lead back to the instance itself. 3 of 5 results lead through t.example."
    )


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        pytest.param("my-disease.example", "a host that rewrites addresses", id="the query"),
        pytest.param("DISEASE.example", "a host that rewrites addresses", id="the query, capitals"),
        pytest.param("t\u202e.example", "t.example", id="a letter nobody sees"),
        pytest.param("x" * 200, "x" * 99 + "…", id="a long one"),
    ],
)
def test_a_violation_never_holds_the_query_or_what_nobody_sees(host, shown):
    judged = distrust(
        _outcome(_through(f"https://{host}/?to=", 3)), base_url=BASE, text="rare Disease,"
    )

    assert judged.trust_violation == f"3 of 3 results lead through {shown}."


PARTS = st.sampled_from(
    ["https://", "http:/", "search.example", "t.example", "/", "?to=", "%3A%2F%2F", "%25", "https%3A",
     "süche.example", "@", ":8080", "."]
) | st.text(max_size=5)  # fmt: skip
URLS = st.lists(PARTS, max_size=6).map(lambda parts: "https://t.example/" + "".join(parts))


@given(st.lists(URLS | st.just(BASE), max_size=6), st.text(max_size=20) | st.just("site:t.example"))
def test_whatever_comes_is_kept_in_order_or_told(urls, text):
    kept = _kept(urls, text=text)

    remaining = iter(urls)
    assert all(url in remaining for url in kept)
    assert BASE not in kept
