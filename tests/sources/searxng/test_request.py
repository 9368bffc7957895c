from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.arguments import SearchDefaults, parse_search
from searx_mcp.models.attempt import Format
from searx_mcp.models.request import MAX_ENGINES, SafeSearch, TimeRange
from searx_mcp.pool.attempt import InstanceQuery
from searx_mcp.search.searcher import instance_query
from searx_mcp.sources.searxng.request import build_url, neutralise
from searx_mcp.testing.instance.index import read_query


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("rust async", "rust async", id="plain words stay"),
        pytest.param("!!g rust", '"!!g" rust', id="external bang"),
        pytest.param("rust !!", 'rust "!!"', id="first result"),
        pytest.param("!images cats", '"!images" cats', id="category bang"),
        pytest.param("!google_images a !ddg", '"!google_images" a "!ddg"', id="engine bangs"),
        pytest.param("!!! !!!!", '"!!!" "!!!!"', id="more than two exclamation marks"),
        pytest.param("rust!! !rust!", 'rust!! "!rust!"', id="marks on both ends"),
        pytest.param("\uff01\uff01g", "\uff01\uff01g", id="wide marks are no syntax"),
        pytest.param("'!!g' (!!g)", "'!!g' (!!g)", id="behind another sign"),
        pytest.param("?images cats", '"?images" cats', id="searx 1.1 category prefix"),
        pytest.param("hello world !", "hello world !", id="lone exclamation mark"),
        pytest.param("what is this ?", "what is this ?", id="lone question mark"),
        pytest.param("wow! really?", "wow! really?", id="marks at the end of a word"),
        pytest.param("I <3 you", 'I "<3" you', id="timeout in seconds"),
        pytest.param("<850 x", '"<850" x', id="timeout in milliseconds"),
        pytest.param("<0 <\u00b2 <\u0663", '"<0" "<\u00b2" "<\u0663"', id="any digit of Unicode"),
        pytest.param("<3.5 <-3 < 3", "<3.5 <-3 < 3", id="no whole number behind the bracket"),
        pytest.param("<div> tag <3x", "<div> tag <3x", id="angle bracket without a number"),
        pytest.param(":de wetter", '":de" wetter', id="language"),
        pytest.param(":de-AT x", '":de-AT" x', id="region"),
        pytest.param(":zh_hant_TW :EN", '":zh_hant_TW" ":EN"', id="language in any case"),
        pytest.param(":united_kingdom x", '":united_kingdom" x', id="name of a country"),
        pytest.param(":all :auto", '":all" ":auto"', id="all languages and automatic"),
        pytest.param(":français x", '":français" x', id="name of a language"),
        pytest.param("smile :) :-D :3", "smile :) :-D :3", id="faces"),
        pytest.param("a:de b!x c<3", "a:de b!x c<3", id="not at a word start"),
        pytest.param(
            "site:docs.rs -old serde", "site:docs.rs -old serde", id="operators of engines"
        ),
        pytest.param(
            "intitle:a OR b +c filetype:pdf a..b *",
            "intitle:a OR b +c filetype:pdf a..b *",
            id="more operators of engines",
        ),
        pytest.param('site:a.example "x y" !!', 'site:a.example "x y" "!!"', id="site and phrase"),
        pytest.param('"exact phrase" x', '"exact phrase" x', id="phrase"),
        pytest.param('"!!g" rust', '"!!g" rust', id="already quoted"),
        pytest.param('"say !!g now"', '"say g now"', id="live inside a phrase"),
        pytest.param('"ends with !!"', '"ends with "', id="live at the end of a phrase"),
        pytest.param('"a !! b"', '"a b"', id="nothing left inside a phrase"),
        pytest.param('!"foo bar"', '"foo bar"', id="before a phrase"),
        pytest.param('!!:de"x y"', 'de"x y"', id="stacked before a phrase"),
        pytest.param('say "hello !g', 'say "hello g', id="unclosed phrase"),
        pytest.param("rust\t!!g\u00a0x", 'rust "!!g" x', id="any white space divides words"),
        pytest.param("\u200b!!g x", '"!!g" x', id="behind an invisible character"),
        pytest.param("cafe\u0301", "café", id="NFC"),
        pytest.param("a\ud800b", "ab", id="lone surrogate"),
        pytest.param(" \u200b ", "", id="nothing visible"),
        pytest.param('!"', '"', id="syntax and a quote only"),
    ],
)
def test_neutralise_switches_off_live_words_and_keeps_the_rest(text, expected):
    assert neutralise(text) == expected


@given(st.text(st.sampled_from('!?:<"ab3 é\u200b\u0301'), max_size=30))
def test_neutralised_text_has_no_live_word_and_stays_as_it_is(text):
    neutral = neutralise(text)

    assert neutralise(neutral) == neutral
    for word in neutral.split():
        assert not (word.startswith("!") and word != "!")
        assert not (word.startswith("<") and word[1:].isdigit())
        assert not (word[0] in ":?" and word[1:2].isalpha())


@pytest.mark.parametrize(
    "base_url",
    [
        pytest.param("https://a.example/", id="root"),
        pytest.param("https://a.example", id="no slash"),
        pytest.param("https://a.example/searx/", id="prefix"),
        pytest.param("https://a.example:8443/searx", id="prefix and port without slash"),
    ],
)
def test_the_search_address_stays_under_the_path_prefix(base_url):
    url = build_url(base_url, InstanceQuery("x"), Format.HTML)

    assert url.startswith(base_url.rstrip("/") + "/search?")


def test_html_is_asked_for_with_nothing_but_what_is_set():
    url = build_url("https://a.example/", InstanceQuery("a b&c=ü"), Format.HTML)

    assert parse_qs(urlsplit(url).query) == {
        "q": ["a b&c=ü"],
        "categories": ["general"],
        "language": ["en"],
        "safesearch": ["1"],
        # Or the page would be in the language of its operator.
        "locale": ["en"],
    }


def test_json_time_range_and_further_pages_are_named():
    query = InstanceQuery(
        "x", category="news", language="auto", safe_search=0, time_range=TimeRange.WEEK, page=3
    )

    url = build_url("https://a.example/", query, Format.JSON)

    assert parse_qs(urlsplit(url).query) == {
        "q": ["x"],
        "categories": ["news"],
        "language": ["auto"],
        "safesearch": ["0"],
        "locale": ["en"],
        "time_range": ["week"],
        "pageno": ["3"],
        "format": ["json"],
    }


def test_engines_are_asked_for_instead_of_a_category():
    query = InstanceQuery("x", category="news", engines=("bing", "google images", "a&b"))

    asked = parse_qs(urlsplit(build_url("https://a.example/", query, Format.JSON)).query)

    assert asked["engines"] == ["bing,google images,a&b"]
    assert "categories" not in asked


@pytest.mark.parametrize("category", ["q&a", "social media", "scientific publications"])
def test_a_category_is_named_as_the_instance_names_it(category):
    url = build_url("https://a.example/", InstanceQuery("x", category=category), Format.HTML)

    assert parse_qs(urlsplit(url).query)["categories"] == [category]


@given(
    st.fixed_dictionaries(
        {"query": st.text(min_size=1).map(lambda text: f"x{text}")},
        optional={
            "language": st.from_regex(r"\A *[A-Za-z]{2,3}([-_][A-Za-z]{2})? *\Z")
            | st.sampled_from(["ALL", "Auto", "", None]),
            "time_range": st.sampled_from([*TimeRange, "oneDay", "no limit", "ANY", None]),
            "safe_search": st.sampled_from([*SafeSearch, True, "strict", "off", 1.0, None]),
            "engines": st.lists(st.sampled_from(["Bing", "a b"]), max_size=MAX_ENGINES),
        },
    ),
    st.integers(1, 5),
)
def test_no_request_that_is_accepted_has_a_value_an_instance_refuses(arguments, page):
    arguments["query"] = "".join(c for c in str(arguments["query"]) if c.isprintable())
    query = instance_query(parse_search(arguments, defaults=SearchDefaults()))

    url = build_url("https://a.example/", replace(query, page=page), Format.JSON)

    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert read_query(asked).page == page
    assert read_query(asked).text


@pytest.mark.parametrize(
    ("seconds", "sent"), [(None, None), (5.0, "4.70"), (0.4, "0.10"), (0.05, "0.10")]
)
def test_who_is_told_our_deadline_is_to_answer_before_it(seconds, sent):
    url = build_url("https://a.example/", InstanceQuery("x"), Format.JSON, time_limit=seconds)
    assert parse_qs(urlsplit(url).query).get("timeout_limit", [None]) == [sent]
