"""Whom a question is for."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.request import FURTHER_CATEGORIES, Category, TimeRange
from searx_mcp.sources.open.analyze_query import analyze_query
from searx_mcp.sources.open.route import EngineChoice, Route, route
from searx_mcp.sources.open.table import ENGINES

ALL = {engine.name: engine for engine in ENGINES}
USUAL = {name: engine for name, engine in ALL.items() if name not in {"keenable", "npm"}}


def routed(text: str, category: str = "general", **given_: object) -> Route:
    values = {"language": "en", "time_range": TimeRange.ANY, "engines": USUAL, **given_}
    return route(analyze_query(text), category=category, **values)  # type: ignore[arg-type]  # any argument, by name


def names(found: Route) -> list[str]:
    return [choice.engine for choice in found.choices]


def choice_of(found: Route, engine: str) -> EngineChoice:
    return next(choice for choice in found.choices if choice.engine == engine)


# Question, engines that come first, in order; engines that must be there; engines that must not.
GENERAL = [
    ("how do I reverse a linked list in python", "stackexchange", "github", "europepmc photon gdelt openverse"),
    ("TypeError: Cannot read properties of undefined (reading 'map')", "stackexchange github", "", "gdelt openverse photon"),
    ("rust borrow checker error E0502", "stackexchange github", "", "crates photon"),
    ("segmentation fault core dumped c++", "stackexchange github", "", "europepmc"),
    ("ModuleNotFoundError: No module named 'numpy'", "stackexchange", "github", "arxiv"),
    ("nginx 502 bad gateway", "stackexchange", "github", "gdelt"),
    ("ubuntu wifi not working after update", "stackexchange", "github", "gdelt"),
    ("kubernetes pod crashloopbackoff", "stackexchange", "github", ""),
    ("docker image size reduce", "stackexchange", "github", "openverse commons"),
    ("git undo last commit", "stackexchange", "", "gdelt"),
    ("regex to match an email address", "stackexchange", "", "photon"),
    ("pandas groupby multiple columns", "stackexchange", "", "europepmc"),
    ("convert mp4 to gif ffmpeg", "stackexchange", "", "sepiasearch openverse"),
    ("how to center a div", "stackexchange", "", "photon"),
    ("swift concurrency actors", "stackexchange", "", "musicbrainz"),
    ("useEffect cleanup function", "stackexchange", "github", ""),
    ("postgresql deadlock", "stackexchange", "", "photon"),
    ("what is kubernetes", "wikipedia", "stackexchange", "photon"),
    ("django vs flask", "hackernews", "stackexchange", "musicbrainz"),
    ("alternatives to docker desktop", "hackernews", "", "gdelt"),
    ("best open source alternative to notion", "hackernews", "github", "photon"),
    ("rust crate for async http", "crates", "github", "huggingface"),
    ("github repo for terminal emulator", "github", "", "gdelt"),
    ("hacker news discussion about sqlite", "hackernews", "", "gdelt"),
    ("small multilingual embedding model", "huggingface", "github", "crates photon"),
    ("whisper speech recognition model", "huggingface", "", "photon musicbrainz"),
    ("llama 3 8b gguf", "huggingface", "", ""),
    ("dataset of handwritten digits", "huggingface", "", "gdelt"),
    ("CVE-2024-3094 xz backdoor", "github hackernews", "", "photon crossref"),
    ("log4j vulnerability", "github hackernews", "", "photon"),
    ("heartbleed vulnerability", "github", "hackernews", "europepmc"),
    ("10.1038/nature12373", "crossref", "", "arxiv europepmc wikipedia"),
    ("https://doi.org/10.1000/xyz123", "crossref", "", "arxiv wikipedia"),
    ("arXiv:1706.03762", "arxiv", "", "crossref wikipedia"),
    ("hep-th/9901001", "arxiv", "", "crossref wikipedia"),
    ("10.48550/arXiv.2401.01234", "arxiv", "", "crossref"),
    ("PMID 31452104", "europepmc", "", "crossref wikipedia"),
    ("systematic review of mindfulness", "crossref", "europepmc", "arxiv hackernews"),
    ("climate change impact on agriculture study", "crossref", "europepmc", "arxiv"),
    ("graph neural networks paper", "arxiv", "", "crossref photon"),
    ("dark matter halos preprint", "arxiv", "", "crossref"),
    ("paper on room temperature superconductivity", "arxiv", "", "crossref"),
    ("effects of caffeine on sleep quality", "europepmc", "crossref", "arxiv"),
    ("breast cancer immunotherapy clinical trials", "europepmc", "crossref", "arxiv"),
    ("side effects of metformin", "europepmc", "wikipedia", "arxiv"),
    ("symptoms of vitamin d deficiency", "europepmc wikipedia", "", "stackexchange"),
    ("crispr off-target activity", "europepmc", "wikipedia", "hackernews"),
    ("alzheimer's disease tau protein", "europepmc", "wikipedia", "photon"),
    ("pubmed vitamin c sepsis", "europepmc", "", "photon"),
    ("riemann hypothesis", "wikipedia", "arxiv", "gdelt"),
    ("quantum error correction", "wikipedia", "arxiv", "stackexchange"),
    ("photosynthesis", "wikipedia", "", "stackexchange hackernews github gdelt"),
    ("who is Ada Lovelace", "wikipedia", "", "stackexchange github photon"),
    ("John Smith", "wikipedia", "", "stackexchange github"),
    ("Taylor Swift", "wikipedia", "", "stackexchange github"),
    ("Berlin", "wikipedia", "", "stackexchange hackernews"),
    ("capital of Australia", "wikipedia", "", "hackernews stackexchange"),
    ("history of jazz in New Orleans", "wikipedia", "", "photon stackexchange"),
    ("python snake", "wikipedia", "", "stackexchange github"),
    ("how to remove rust from a cast iron pan", "stackexchange", "wikipedia", "github hackernews"),
    ("java coffee beans from the island", "wikipedia", "", "stackexchange github"),
    ("data-base design", "wikipedia", "", "huggingface"),
    ("bert-base-uncased", "huggingface", "", "photon musicbrainz"),
    ("qwen2.5-7b-instruct context length", "huggingface", "", "photon europepmc"),
    ("Java island volcano", "wikipedia", "", "stackexchange github"),
    ("giant pandas habitat", "wikipedia", "", "stackexchange github"),
    ("cargo ship stuck in canal", "wikipedia", "", "crates github stackexchange"),
    ("toilet paper shortage", "wikipedia", "", "crossref"),
    ("video game history", "wikipedia", "", "sepiasearch"),
    ("song dynasty", "wikipedia", "", "musicbrainz"),
    ("where is Mount Kilimanjaro", "photon", "wikipedia", "stackexchange gdelt"),
    ("restaurants in Lyon", "photon", "wikipedia", "gdelt stackexchange"),
    ("pizza near times square", "photon", "", "gdelt"),
    ("hotels near Lake Garda", "photon", "", "stackexchange"),
    ("10 Downing Street", "photon", "wikipedia", "gdelt"),
    ("Hauptstraße 5 Köln", "photon", "", "stackexchange"),
    ("48.8584, 2.2945", "photon", "", "github"),
    ("SW1A 1AA", "photon", "", "github"),
    ("coordinates of Machu Picchu", "photon", "wikipedia", ""),
    ("distance from berlin to munich", "photon", "", "gdelt"),
    ("where is the nginx config file", "stackexchange", "", "photon"),
    ("near death experience", "wikipedia", "", "photon"),
    ("latest news on ceasefire talks", "gdelt", "", "openverse photon"),
    ("earthquake in japan today", "gdelt", "", "photon"),
    ("election results today", "gdelt", "", "stackexchange"),
    ("openai announces new model", "hackernews", "gdelt", "photon"),
    ("what happened in the 1932 election", "wikipedia", "", "gdelt"),
    ("how to get today's date in javascript", "stackexchange", "", "gdelt"),
    ("photos of aurora borealis", "openverse commons", "", "sepiasearch stackexchange"),
    ("logo of mozilla", "openverse commons", "", "musicbrainz"),
    ("Bilder von Alpen", "openverse commons", "", "sepiasearch"),
    ("documentary about volcanoes", "sepiasearch internetarchive", "commons", "openverse"),
    ("apollo 11 footage", "sepiasearch", "internetarchive", "musicbrainz"),
    ("watch the moon landing", "sepiasearch", "internetarchive", ""),
    ("lyrics of bohemian rhapsody", "musicbrainz", "", "openverse sepiasearch"),
    ("miles davis kind of blue album", "musicbrainz", "", "sepiasearch"),
    ("songs by radiohead", "musicbrainz", "wikipedia", "stackexchange"),
    ("rain sound effect", "openverse commons", "", "sepiasearch"),
    ("public domain book pdf moby dick", "internetarchive", "", "stackexchange"),
    ("how to poach an egg", "stackexchange", "", "github hackernews"),
    ("prove that sqrt(2) is irrational", "stackexchange", "", "github"),
    ("visa requirements for japan", "wikipedia", "stackexchange", "github"),
    ("ai safety", "wikipedia hackernews", "", "photon"),
    ("why is the sky blue", "wikipedia", "", "stackexchange"),
    ("机器学习 入门", "wikipedia", "", "stackexchange"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "first", "with_", "without"), GENERAL, ids=[row[0] for row in GENERAL]
)
def test_a_question_of_no_category_goes_to_the_collections_that_may_answer_it(
    text, first, with_, without
):
    asked = names(routed(text))
    assert asked[: len(first.split())] == first.split()
    assert set(with_.split()) <= set(asked)
    assert not set(without.split()) & set(asked)


@pytest.mark.parametrize(
    ("text", "category", "asked"),
    [
        pytest.param("parse json in go", "it", "stackexchange github hackernews", id="it"),
        pytest.param("best text editor", "it", "hackernews stackexchange github", id="an opinion"),
        pytest.param("cargo workspace dependency", "it", "crates stackexchange github hackernews", id="a crate"),
        pytest.param("CVE-2021-44228", "it", "github hackernews stackexchange", id="a flaw"),
        pytest.param("mRNA vaccine efficacy", "science", "europepmc crossref", id="medicine"),
        pytest.param("black hole thermodynamics", "science", "arxiv crossref", id="physics"),
        pytest.param("10.1038/nature12373", "science", "crossref", id="a DOI"),
        pytest.param("cat", "images", "openverse commons internetarchive", id="images"),
        pytest.param("linux tutorial", "videos", "sepiasearch internetarchive commons", id="videos"),
        pytest.param("election", "news", "gdelt hackernews", id="news"),
        pytest.param("eiffel tower", "map", "photon wikipedia", id="map"),
        pytest.param("imagine", "music", "musicbrainz internetarchive openverse commons", id="music"),
        pytest.param("rain sound effect", "music", "openverse commons internetarchive musicbrainz", id="sounds"),
        pytest.param("moby dick pdf", "files", "internetarchive commons", id="files"),
        pytest.param("bert model", "files", "huggingface internetarchive commons", id="weights"),
        pytest.param("date parsing", "packages", "crates github", id="packages"),
        pytest.param("http client", "cargo", "crates github", id="cargo"),
        pytest.param("terminal emulator", "repos", "github", id="repos"),
        pytest.param("exit vim", "Q&A", "stackexchange", id="q&a"),
        pytest.param("quantum gravity", "scientific publications", "arxiv crossref", id="publications"),
        pytest.param("tulips", "wikimedia", "wikipedia commons", id="wikimedia"),
        pytest.param("imagine", "lyrics", "musicbrainz", id="lyrics"),
        pytest.param("jazz", "radio", "internetarchive", id="radio"),
        pytest.param("metropolis", "movies", "sepiasearch internetarchive commons", id="movies"),
        pytest.param("moby dick", "books", "internetarchive", id="books"),
    ],
)  # fmt: skip
def test_a_category_that_is_given_wins(text, category, asked):
    assert names(routed(text, category)) == asked.split()


@pytest.mark.parametrize(
    ("category", "meant"),
    [
        ("it", Category.IT),
        ("IT ", Category.IT),
        ("packages", Category.IT),
        ("scientific publications", Category.SCIENCE),
        ("tv", Category.VIDEOS),
        ("icons", Category.IMAGES),
        ("web", Category.GENERAL),
        ("weather", None),
        ("shopping", None),
        ("torrents", None),
        ("my own", None),
    ],
)
def test_a_further_category_means_one_of_the_nine_or_none(category, meant):
    found = routed("anything", category)
    assert (found.category, bool(found.choices)) == (meant, meant is not None)


def test_a_category_that_no_engine_serves_is_named():
    assert routed("paris", "weather").why == "no engine serves the category weather"


@pytest.mark.parametrize(
    ("text", "category", "engine", "aim"),
    [
        pytest.param(
            "how to parse json in go", "general", "stackexchange", "stackoverflow", id="code"
        ),
        pytest.param(
            "ubuntu wifi not working", "general", "stackexchange", "askubuntu", id="ubuntu"
        ),
        pytest.param("how to boil eggs", "general", "stackexchange", "cooking", id="cooking"),
        pytest.param("how to compute an eigenvalue", "general", "stackexchange", "math", id="math"),
        pytest.param("latex table alignment", "general", "stackexchange", "tex", id="tex"),
        pytest.param("best editor", "it", "stackexchange", "stackoverflow", id="no topic"),
        pytest.param("segmentation fault in libfoo", "it", "github", "issues", id="an error"),
        pytest.param("CVE-2021-44228", "general", "github", "issues", id="a flaw"),
        pytest.param("terminal emulator", "repos", "github", "repositories", id="a repository"),
        pytest.param("imdb sentiment dataset", "general", "huggingface", "datasets", id="data"),
        pytest.param("bert model", "it", "huggingface", "models", id="a model"),
        pytest.param("lyrics of imagine", "music", "musicbrainz", "recording", id="a song"),
        pytest.param("kind of blue album", "music", "musicbrainz", "release-group", id="an album"),
        pytest.param(
            "songs by radiohead", "music", "musicbrainz", "artist", id="songs of somebody"
        ),
        pytest.param("radiohead", "music", "musicbrainz", "", id="music of no sort"),
        pytest.param("rain sound effect", "general", "openverse", "audio", id="a sound"),
        pytest.param("photo of rain", "general", "commons", "bitmap|drawing", id="an image"),
        pytest.param("rain video", "general", "commons", "video", id="a video"),
        pytest.param("rain video", "general", "internetarchive", "movies", id="a film"),
        pytest.param("moby dick pdf", "files", "internetarchive", "texts", id="a text"),
        pytest.param("msdos game prince", "files", "internetarchive", "software", id="a program"),
        pytest.param("moby dick", "books", "internetarchive", "texts", id="a book"),
        pytest.param(
            "site:superuser.com mount", "general", "stackexchange", "superuser", id="a named site"
        ),
    ],
)
def test_an_engine_of_several_parts_is_told_which_is_meant(text, category, engine, aim):
    assert choice_of(routed(text, category), engine).aim == aim


@pytest.mark.parametrize(
    ("text", "category", "engine", "factor"),
    [
        pytest.param(
            "reverse a list in python", "general", "stackexchange", 1.0, id="its own route"
        ),
        pytest.param(
            "reverse a list in python", "general", "wikipedia", 0.3, id="encyclopaedia on code"
        ),
        pytest.param("photosynthesis", "general", "wikipedia", 1.0, id="no subject"),
        pytest.param("what is kubernetes", "general", "wikipedia", 1.0, id="what a program is"),
        pytest.param("photos of cats", "general", "wikipedia", 0.5, id="another route"),
        pytest.param("election", "news", "hackernews", 0.5, id="news of no technology"),
    ],
)
def test_votes_of_another_route_count_less(text, category, engine, factor):
    assert choice_of(routed(text, category), engine).factor == factor


@pytest.mark.parametrize("text", ["fcntl", "red panda", "how to bake bread", "latest news"])
def test_a_web_index_is_asked_wherever_it_is_on(text):
    assert "keenable" in names(routed(text, engines=ALL))


def test_a_package_of_npm_is_looked_for_where_a_registry_is_set():
    assert names(routed("npm package for parsing dates", engines=ALL))[0] == "npm"
    assert "npm" not in names(routed("npm package for parsing dates"))


@pytest.mark.parametrize("category", ["it", "general"])
def test_a_triggered_engine_is_not_asked_for_its_category_alone(category):
    triggered = {name for name, engine in ALL.items() if engine.triggered}
    assert not triggered & set(names(routed("sorting a list in python", category, engines=ALL)))


@pytest.mark.parametrize(
    ("language", "text", "category", "without"),
    [
        ("de", "python asyncio", "it", "stackexchange hackernews"),
        ("de-AT", "python asyncio", "it", "stackexchange hackernews"),
        ("es", "pan casero", "general", "stackexchange hackernews"),
        ("fr", "trous noirs", "science", "arxiv"),
    ],
)
def test_engines_that_do_not_know_the_language_are_left_out(language, text, category, without):
    assert not set(without.split()) & set(names(routed(text, category, language=language)))


@pytest.mark.parametrize("language", ["es", "ja", "pt", "ru"])
def test_stack_overflow_has_sites_in_some_languages(language):
    found = routed("python asyncio", "it", language=language)
    assert choice_of(found, "stackexchange").aim == f"{language}.stackoverflow"


@pytest.mark.parametrize("language", ["all", "auto", "en-GB"])
def test_english_is_asked_where_no_other_language_is_meant(language):
    assert names(routed("python asyncio", language=language)) == names(routed("python asyncio"))


def test_engines_that_cannot_filter_by_age_come_last_with_half_a_vote():
    found = routed("imagine", "music", time_range=TimeRange.WEEK)
    assert names(found) == ["internetarchive", "musicbrainz", "openverse", "commons"]
    assert [choice.factor for choice in found.choices] == [1.0, 0.5, 0.25, 0.25]


def test_what_is_asked_of_the_last_days_is_news():
    assert names(routed("red panda", time_range=TimeRange.DAY))[0] == "gdelt"
    assert names(routed("python asyncio", time_range=TimeRange.DAY))[0] == "stackexchange"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        pytest.param("site:github.com fastapi auth", "github hackernews", id="a host"),
        pytest.param("site:en.wikipedia.org tides", "wikipedia", id="a subdomain"),
        pytest.param("site:unix.stackexchange.com mount on linux", "stackexchange hackernews", id="a site of many"),
        pytest.param("site:example.com tides", "", id="nobody's"),
    ],
)  # fmt: skip
def test_only_engines_that_may_have_the_site_are_asked(text, asked):
    found = routed(text)
    assert (names(found), found.category) == (asked.split(), Category.GENERAL)


def test_an_engine_whose_every_result_is_excluded_is_not_asked():
    assert "wikipedia" not in names(routed("tides -site:wikipedia.org", engines=ALL))
    assert "wikipedia" in names(routed("tides -site:de.wikipedia.org", engines=ALL))


@pytest.mark.parametrize(
    ("wanted", "asked", "category"),
    [
        pytest.param(["Wikipedia"], "wikipedia", Category.GENERAL, id="any case"),
        pytest.param(["stackoverflow", "askubuntu"], "stackexchange", Category.GENERAL, id="SearXNG's names"),
        pytest.param(["wikicommons.images"], "commons", Category.IMAGES, id="a part"),
        pytest.param(["crates.io"], "crates", Category.IT, id="triggered"),
        pytest.param(["arxiv", "crossref"], "arxiv crossref", Category.SCIENCE, id="two slow ones"),
        pytest.param(["musicbrainz", "google"], "musicbrainz", Category.MUSIC, id="beside an unknown one"),
        pytest.param(["google", "bing"], "", Category.GENERAL, id="unknown"),
    ],
)  # fmt: skip
def test_engines_that_the_caller_names_are_asked_and_no_others(wanted, asked, category):
    found = routed("tides", wanted=wanted)
    assert (sorted(names(found)), found.category) == (asked.split(), category)


def test_engines_that_the_caller_names_are_asked_in_a_category_of_his_own():
    assert names(routed("tides", "my own", wanted=["wikipedia"])) == ["wikipedia"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ghp_abcdefABCDEF0123456789abcdefABCDEF01 403", "a key or token"),
        ("mail from jane.doe@firm.test", "an email address"),
        ("ssh 192.168.7.13 refused", "a private address"),
    ],
)
def test_what_looks_like_a_secret_is_told_nobody(text, said):
    found = routed(text, wanted=["wikipedia"])
    assert not found.choices
    assert found.why == f"the query contains what looks like {said}"


def test_why_is_said_in_words():
    assert routed("TypeError in python").why == "code and error"
    assert routed("how to boil eggs").why == "cooking"
    assert routed("tides").why == "no special subject"
    assert routed("bert model", "it").why == "category it: model"


def test_no_question_of_no_category_is_told_more_than_five_operators():
    text = "stackoverflow github hacker news wikipedia huggingface arxiv pubmed openstreetmap musicbrainz"
    assert (len(names(routed(text))), len(names(routed(text, engines=ALL)))) == (5, 5)


TEXTS = st.one_of(
    st.sampled_from([row[0] for row in GENERAL]),
    st.text(max_size=60),
    st.from_regex(r"[a-z ]{0,40}", fullmatch=True),
)


@given(
    text=TEXTS,
    category=st.sampled_from([*Category, *FURTHER_CATEGORIES, "mine"]),
    language=st.sampled_from(["en", "all", "de", "pt-BR", "zh"]),
    age=st.sampled_from(TimeRange),
    off=st.sets(st.sampled_from(sorted(ALL))),
    wanted=st.lists(st.sampled_from([*sorted(ALL), "stackoverflow", "bing"]), max_size=3),
)
def test_a_route_keeps_to_the_engines_that_may_be_asked(text, category, language, age, off, wanted):
    engines = {name: engine for name, engine in ALL.items() if name not in off}
    given_ = {"language": language, "time_range": age, "engines": engines, "wanted": wanted}
    found = routed(text, category, **given_)
    asked = names(found)
    assert set(asked) <= engines.keys()
    assert len(asked) == len(set(asked))
    assert all(0 < choice.factor <= 1 for choice in found.choices)
    assert found.why
    assert found == routed(text, category, **given_)
    if category == Category.GENERAL and not wanted:
        assert len(asked) <= 5
        assert sum(engines[name].is_slow for name in asked) <= 1


def test_the_names_of_the_mapping_do_not_change_the_choice():
    engines = dict(reversed([(name, replace(engine)) for name, engine in USUAL.items()]))
    for text, *_ in GENERAL:
        assert routed(text, engines=engines) == routed(text)
