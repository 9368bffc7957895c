"""Which rows are of one thing, and which engines of one collection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.models.hits import File, Hit, Image, Media, Paper, Place
from searx_mcp.sources.open.table import ENGINES, identity, voter


def hit(url: str, **fields: object) -> Hit:
    return Hit(url=url, title="A title", position=1, **fields)  # type: ignore[arg-type]  # any field, by name


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_all_names_of_a_collection_have_one_vote(engine):
    assert {voter(name) for name in (engine.name, engine.title, *engine.also)} == {engine.name}


@pytest.mark.parametrize(
    ("name", "vote"),
    [
        ("Wikipedia", "wikipedia"),
        ("  WIKIPEDIA ", "wikipedia"),
        ("wikicommons.images", "commons"),
        ("stackoverflow", "stackexchange"),
        ("askubuntu", "stackexchange"),
        ("crates.io", "crates"),
        ("openstreetmap", "photon"),
        ("huggingface datasets", "huggingface"),
        ("hacker news", "hackernews"),
        ("internet archive", "internetarchive"),
        ("google scholar", "google scholar"),
        ("github code", "github code"),
        ("Google", "google"),
        ("google images", "google images"),
        ("wikidata", "wikidata"),
        ("pubmed", "pubmed"),
        ("", ""),
    ],
)
def test_an_engine_votes_for_its_collection(name, vote):
    assert voter(name) == vote


@pytest.mark.parametrize(
    ("url", "key"),
    [
        pytest.param("https://doi.org/10.1000/XYZ123", "doi:10.1000/xyz123", id="doi.org"),
        pytest.param("http://dx.doi.org/10.1000%2Fxyz123", "doi:10.1000/xyz123", id="its old host, encoded"),
        pytest.param("https://link.springer.com/article/10.1007/s00134-020-05991-x#Sec1", "doi:10.1007/s00134-020-05991-x", id="Springer"),
        pytest.param("https://link.springer.com/content/pdf/10.1007/s00134-020-05991-x.pdf", "doi:10.1007/s00134-020-05991-x", id="a PDF"),
        pytest.param("https://onlinelibrary.wiley.com/doi/full/10.1002/abc.123", "doi:10.1002/abc.123", id="Wiley"),
        pytest.param("https://www.frontiersin.org/articles/10.3389/fpsyg.2020.00001/full", "doi:10.3389/fpsyg.2020.00001", id="Frontiers"),
        pytest.param("https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0000001&type=printable", "doi:10.1371/journal.pone.0000001", id="PLOS"),
        pytest.param("https://www.biorxiv.org/content/10.1101/2020.01.01.123456v2.full", "doi:10.1101/2020.01.01.123456", id="a preprint"),
        pytest.param("https://iopscience.iop.org/article/10.1088/1742-6596/1/1/012001/pdf", "doi:10.1088/1742-6596/1/1/012001", id="slashes inside"),
        pytest.param("https://pubpeer.com/search?q=10.1000/xyz123", "", id="a DOI elsewhere"),
        pytest.param("https://arxiv.org/abs/1706.03762v5", "arxiv:1706.03762", id="arXiv"),
        pytest.param("http://arxiv.org/pdf/1706.03762.pdf", "arxiv:1706.03762", id="its PDF"),
        pytest.param("https://export.arxiv.org/abs/math.GT/0309136v1", "arxiv:math/0309136", id="its old ids"),
        pytest.param("https://doi.org/10.48550/arXiv.1706.03762", "arxiv:1706.03762", id="its DOI"),
        pytest.param("https://arxiv.org/list/cs.CL/recent", "", id="a list of arXiv"),
        pytest.param("https://pubmed.ncbi.nlm.nih.gov/31452104/", "pmid:31452104", id="PubMed"),
        pytest.param("https://www.ncbi.nlm.nih.gov/pubmed/31452104", "pmid:31452104", id="PubMed's old place"),
        pytest.param("https://europepmc.org/article/MED/31452104", "pmid:31452104", id="Europe PMC"),
        pytest.param("https://stackoverflow.com/questions/11/a-title?x=1#12", "stackexchange:stackoverflow.com:11", id="a question"),
        pytest.param("https://stackoverflow.com/q/11", "stackexchange:stackoverflow.com:11", id="its short address"),
        pytest.param("https://stackoverflow.com/a/12", "stackexchange:stackoverflow.com:answer:12", id="an answer"),
        pytest.param("https://math.stackexchange.com/q/11/99", "stackexchange:math.stackexchange.com:11", id="another site"),
        pytest.param("https://stackoverflow.com/questions/tagged/python", "", id="a list of questions"),
        pytest.param("https://github.com/Owner/Repo", "github:owner/repo", id="a repository"),
        pytest.param("https://www.github.com/owner/repo/?tab=readme#x", "github:owner/repo", id="the same"),
        pytest.param("https://github.com/owner/repo.git", "github:owner/repo", id="to be cloned"),
        pytest.param("https://github.com/owner/repo/issues/7", "github:owner/repo#7", id="an issue"),
        pytest.param("https://github.com/owner/repo/pull/7", "github:owner/repo#7", id="a pull request"),
        pytest.param("https://github.com/owner/repo/blob/main/a.py", "", id="a file"),
        pytest.param("https://github.com/topics/python", "", id="a topic"),
        pytest.param("https://github.com/owner", "", id="an account"),
        pytest.param("https://commons.wikimedia.org/wiki/File:Red_panda.jpg", "commons:File:Red panda.jpg", id="a file of Commons"),
        pytest.param("https://commons.m.wikimedia.org/w/index.php?title=File%3ARed%20panda.jpg", "commons:File:Red panda.jpg", id="its other address"),
        pytest.param("https://upload.wikimedia.org/wikipedia/commons/a/ab/Red_panda.jpg", "commons:File:Red panda.jpg", id="itself"),
        pytest.param("https://upload.wikimedia.org/wikipedia/commons/thumb/a/ab/Red_panda.jpg/320px-Red_panda.jpg", "commons:File:Red panda.jpg", id="made small"),
        pytest.param("https://upload.wikimedia.org/wikipedia/en/a/ab/Red_panda.jpg", "", id="a file of another wiki"),
        pytest.param("https://www.openstreetmap.org/way/5013364", "osm:way/5013364", id="a place"),
        pytest.param("https://www.openstreetmap.org/#map=5/1/2", "", id="a map"),
        pytest.param("https://en.wikipedia.org/wiki/Red_panda#Diet", "wikipedia:en:Red panda", id="an article"),
        pytest.param("https://en.m.wikipedia.org/wiki/red%20panda", "wikipedia:en:Red panda", id="the same on a telephone"),
        pytest.param("https://en.wikipedia.org/w/index.php?title=Red_panda", "wikipedia:en:Red panda", id="by parameter"),
        pytest.param("https://de.wikipedia.org/wiki/Red_panda", "wikipedia:de:Red panda", id="in another language"),
        pytest.param("https://zh.wikipedia.org/zh-tw/%E8%B2%93", "wikipedia:zh:貓", id="in a variant"),
        pytest.param("https://en.wikipedia.org/w/index.php?title=Red_panda&oldid=1", "", id="an old state"),
        pytest.param("https://news.ycombinator.com/item?id=8863", "hackernews:8863", id="a story"),
        pytest.param("https://news.ycombinator.com/user?id=pg", "", id="a user"),
        pytest.param("https://example.org/10.1000/xyz", "", id="anything else"),
        pytest.param("http://[::1", "", id="no address"),
    ],
)  # fmt: skip
def test_an_address_tells_the_thing(url, key):
    assert identity(hit(url)) == key


def test_works_agree_by_their_doi_wherever_they_lie():
    paper = Paper(doi="https://doi.org/10.1000/XYZ123")
    one, other = hit("https://a.org/1", paper=paper), hit("https://doi.org/10.1000/xyz123")
    assert identity(one) == identity(other) == "doi:10.1000/xyz123"


def test_a_doi_of_arxiv_is_the_preprint():
    assert (
        identity(hit("https://a.org", paper=Paper(doi="10.48550/arXiv.1706.03762")))
        == "arxiv:1706.03762"
    )


def test_a_work_without_a_doi_is_known_by_its_address():
    assert identity(hit("https://arxiv.org/abs/1706.03762", paper=Paper())) == "arxiv:1706.03762"


@pytest.mark.parametrize("kind", ["node", "N", "Node"])
def test_a_place_is_known_by_its_object(kind):
    assert identity(hit("https://a.org", place=Place(osm_type=kind, osm_id=7))) == "osm:node/7"


@pytest.mark.parametrize(
    "fields",
    [
        {"image": Image(url="https://upload.wikimedia.org/wikipedia/commons/a/ab/Wren.ogg")},
        {"media": Media(audio_url="https://upload.wikimedia.org/wikipedia/commons/a/ab/Wren.ogg")},
        {"file": File(embed_url="https://upload.wikimedia.org/wikipedia/commons/a/ab/Wren.ogg")},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_a_file_of_commons_is_known_by_itself_where_its_page_is_a_number(fields):
    url = "https://commons.wikimedia.org/w/index.php?curid=7"
    assert identity(hit(url, **fields)) == "commons:File:Wren.ogg"


HOSTS = [
    "doi.org",
    "arxiv.org",
    "github.com",
    "stackoverflow.com",
    "en.wikipedia.org",
    "upload.wikimedia.org",
    "a.org",
]


@given(host=st.sampled_from(HOSTS), rest=st.text(max_size=200))
def test_no_address_is_too_odd(host, rest):
    url = f"https://{host}/{rest}"
    assert isinstance(identity(hit(url)), str)
