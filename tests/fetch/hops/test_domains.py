"""Domains an operator lets be fetched, and those that are not."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError, SettingsError
from searx_mcp.fetch.hops.domains import MAX_BYTES, MAX_LINES, DomainPolicy, read_blocklist
from searx_mcp.urls.hosts import normalise_domain


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/", "http://www.example.org:8080/a?b", "https://EXAMPLE.org./",
        "https://bücher.example/", "https://xn--bcher-kva.example/", "http://192.0.2.7/",
        "http://[2001:db8::1]/",
    ],
)  # fmt: skip
def test_a_blocked_domain_is_refused_in_every_spelling(url):
    policy = DomainPolicy(
        ["https://Example.org/x", "*.Bücher.example", "192.0.2.7", "2001:db8:0::1"]
    )
    with pytest.raises(PolicyError) as caught:
        policy.check(URL(url))
    assert (caught.value.code, caught.value.url) == (ErrorCode.BLOCKED_DOMAIN, str(URL(url)))
    assert caught.value.advice


@pytest.mark.parametrize(
    ("url", "lists"),
    [
        ("https://example.com/", {"blocked": ["example.org"]}),
        ("https://badexample.org/", {"blocked": ["example.org"]}),
        ("https://example.org/", {}),
        *(
            (url, {"allowed": ["*.example.org", "192.0.2.7"]})
            for url in ("https://example.org/", "https://a.Example.ORG./", "http://192.0.2.7/")
        ),
    ],
)
def test_another_domain_and_one_that_is_allowed_pass(url, lists):
    DomainPolicy(**lists).check(URL(url))


@pytest.mark.parametrize(
    "url", ["https://example.com/", "https://badexample.org/", "http://192.0.2.8/", "https://org/"]
)
def test_what_is_not_among_the_allowed_domains_is_refused_and_the_message_says_so(url):
    policy = DomainPolicy(allowed=["example.org", "192.0.2.7"])
    with pytest.raises(PolicyError, match="configuration does not allow") as caught:
        policy.check(URL(url))
    assert (caught.value.code, caught.value.url) == (ErrorCode.BLOCKED_DOMAIN, url)


def test_a_domain_that_is_blocked_within_an_allowed_one_is_refused():
    policy = DomainPolicy(["ads.example.org"], allowed=["example.org"])
    policy.check(URL("https://www.example.org/"))
    with pytest.raises(PolicyError, match="configuration blocks"):
        policy.check(URL("https://ads.example.org/"))


def test_domains_of_a_file_are_blocked_beside_those_that_are_listed(tmp_path):
    file = tmp_path / "list.txt"
    file.write_text("ads.example\n", encoding="utf-8")
    policy = DomainPolicy(["example.org"], blocklist=file)
    policy.check(URL("https://example.com/"))
    for url in ("https://example.org/", "https://x.ads.example/"):
        with pytest.raises(PolicyError, match="configuration blocks"):
            policy.check(URL(url))


@pytest.mark.parametrize("field", ["blocked", "allowed"])
def test_a_wrong_entry_is_a_settings_error_naming_field_and_entry(field):
    domains = ["example.org", "not a domain"]
    with pytest.raises(SettingsError) as caught:
        DomainPolicy(domains) if field == "blocked" else DomainPolicy(allowed=domains)
    assert caught.value.field == f"fetch.{field}_domains"
    assert "'not a domain'" in caught.value.message


@pytest.fixture
def file_of(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def write(content: str | bytes) -> Path:
        path = tmp_path / "list.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize(
    ("line", "domains"),
    [
        ("ads.example", {"ads.example"}),
        ("  ads.example\t", {"ads.example"}),
        ("ADS.Example.", {"ads.example"}),
        ("*.ads.example", {"ads.example"}),
        ("bücher.example", {"xn--bcher-kva.example"}),
        ("my_ads.example", {"my_ads.example"}),
        ("zip", {"zip"}),
        ("192.0.2.7", {"192.0.2.7"}),
        ("2001:db8:0::1", {"2001:db8::1"}),
        ("ads.example # why", {"ads.example"}),
        ("ads.example\t#why", {"ads.example"}),
        # Hosts files
        ("0.0.0.0 ads.example", {"ads.example"}),
        ("127.0.0.1\tads.example", {"ads.example"}),
        ("::1 ads.example", {"ads.example"}),
        (":: ads.example", {"ads.example"}),
        ("0.0.0.0 a.example b.example # both", {"a.example", "b.example"}),
        ("127.0.0.1 localhost", set()),
        ("127.0.0.1 localhost localhost.localdomain", {"localhost.localdomain"}),
        ("0.0.0.0 0.0.0.0", {"0.0.0.0"}),
        # Filters
        ("||ads.example^", {"ads.example"}),
        ("||ads.example^$important", {"ads.example"}),
        ("||ads.example^$document", {"ads.example"}),
        ("! ads.example", set()),
        ("[Adblock Plus 2.0]", set()),
        # No more than comments
        ("", set()),
        ("# ads.example", set()),
        ("#ads.example", set()),
    ],
)
def test_a_line_of_a_known_kind_is_read(file_of, caplog, line, domains):
    assert read_blocklist(file_of(f"right.example\n{line}\n")) == domains | {"right.example"}
    assert caplog.records == []


@pytest.mark.parametrize(
    "line",
    [
        "not a domain", "example.org/ads", "https://example.org/", "example.org:8080",
        "example.org##.banner", "example.org#@#.banner", "example.org#comment", "user@example.org",
        "||example.org/ads^", "||example.org^$third-party", "||example.org^$domain=a.example",
        "||*^", "@@||example.org^", "|https://example.org", "/banner[0-9]+/",
        "address=/example.org/0.0.0.0", "192.168.1.5 nas.example.org",
        "255.255.255.255 broadcasthost", "fe80::1%lo0 localhost", "0.0.0.0 exam_ple.org/x", "127.1",
        "exam*ple.org", "\x00", "<html>",
    ],
)  # fmt: skip
def test_a_line_of_another_kind_blocks_nothing_and_is_counted(file_of, caplog, line):
    with caplog.at_level(logging.WARNING):
        assert read_blocklist(file_of(f"{line}\nright.example\n{line}\n")) == {"right.example"}
    (record,) = caplog.records
    assert record.message == "fetch.blocklist_lines_skipped count=2"


@pytest.mark.parametrize("content", ["", "\n\n", "# nothing yet\n! nor here\n"])
def test_a_file_without_entries_blocks_nothing(file_of, content):
    assert read_blocklist(file_of(content)) == frozenset()


@pytest.mark.parametrize(
    "content",
    [
        b"a.example\r\nb.example\r\n", b"\xef\xbb\xbfa.example\nb.example", b"a.example\rb.example",
        b"\xff\xfe\na.example\nb.example\n\xe9.example",
    ],
    ids=["CRLF", "byte order mark", "CR", "not UTF-8"],
)  # fmt: skip
def test_line_ends_and_encodings_do_not_matter(file_of, content):
    assert read_blocklist(file_of(content)) >= {"a.example", "b.example"}


def refused(path: Path) -> str:
    with pytest.raises(SettingsError) as caught:
        read_blocklist(path)
    assert caught.value.field == "fetch.blocklist_file"
    assert caught.value.advice
    assert "\x00" in str(path) or str(path) in caught.value.message
    return caught.value.message


def test_a_file_that_is_none_is_a_settings_error(tmp_path, file_of):
    wrong = refused(file_of("<html>\n<p>not found\n"))
    assert wrong.endswith("contains no domains: none of its lines could be parsed")
    assert refused(tmp_path / "missing").endswith("missing does not exist")
    assert refused(tmp_path).endswith("is not a file")
    with (tmp_path / "long.txt").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert refused(tmp_path / "long.txt").endswith("is longer than 50 MB")


def test_a_path_that_no_system_knows_is_a_settings_error(tmp_path):
    for name in ("\x00", "a" * 5_000):
        assert not refused(tmp_path / name).endswith((": None", ": "))


def test_a_file_of_too_many_lines_is_refused_and_not_cut(file_of):
    assert len(read_blocklist(file_of("a.example\n" + "\n" * (MAX_LINES - 1)))) == 1
    assert refused(file_of("a.example\n" + "\n" * MAX_LINES)).endswith("1,000,000 lines")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=40) | st.from_regex(r"[|]{0,2}[a-z.]{1,20}\^?", fullmatch=True)))
def test_any_file_gives_domains_in_their_one_spelling_or_an_error(file_of, lines):
    try:
        names = read_blocklist(file_of("\n".join(lines).encode(errors="replace")))
    except SettingsError:
        return
    assert all(normalise_domain(name) == name for name in names)
