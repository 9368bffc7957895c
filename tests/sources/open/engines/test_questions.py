"""What each engine is asked: the address and the query that a question becomes."""

import pytest

from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.question import Identifier, IdentifierKind

DAY = {"time_range": TimeRange.DAY}
FILES, MUSIC, NEWS, VIDEOS = (
    {"category": category}
    for category in (Category.FILES, Category.MUSIC, Category.NEWS, Category.VIDEOS)
)
SIGNS = {"keywords": ("C++", "&", '"<vector>"')}
CVE = Identifier(IdentifierKind.CVE, "CVE-2024-99999")
DOI = Identifier(IdentifierKind.DOI, "10.5555/example.2026.1(a)<b>")
CROSSREF = (
    "https://api.crossref.org/works?query.bibliographic=red%20panda&rows=10&offset=0"
    "&select=DOI%2Ctitle%2Cabstract%2Cauthor%2Cissued%2Ccontainer-title%2Cpublisher%2Ctype%2CURL"
    "%2Cis-referenced-by-count%2Cvolume%2Cissue%2Cpage"
)

# A question about red pandas; the server of npm is a setting.
ADDRESSES = {
    "arxiv": (
        "https://export.arxiv.org/api/query?search_query=all%3Ared%20AND%20all%3Apanda"
        "&start=0&max_results=10&sortBy=relevance"
    ),
    "commons": (
        "https://commons.wikimedia.org/w/api.php?action=query&format=json&formatversion=2"
        "&generator=search&gsrnamespace=6&prop=imageinfo"
        "&iiprop=url%7Csize%7Cmime%7Ctimestamp%7Cuser%7Cextmetadata&iiurlwidth=320"
        "&iiextmetadatafilter=LicenseShortName%7CLicenseUrl%7CArtist%7CImageDescription"
        "&gsrsearch=filetype%3Abitmap%7Cdrawing%20red%20panda&gsrlimit=10&gsroffset=0"
        "&iiextmetadatalanguage=en"
    ),
    "crates": "https://crates.io/api/v1/crates?q=red%20panda&per_page=10&page=1&sort=relevance",
    "crossref": CROSSREF,
    "europepmc": (
        "https://www.ebi.ac.uk/europepmc/webservices/rest/search?format=json&resultType=core"
        "&query=red%20panda&pageSize=10&cursorMark=%2A"
    ),
    "github": "https://api.github.com/search/repositories?q=red%20panda&per_page=10&page=1",
    "hackernews": "https://hn.algolia.com/api/v1/search?query=red%20panda&tags=story&hitsPerPage=50&page=0",
    "keenable": "https://api.keenable.ai/v1/search/public",
    "musicbrainz": "https://musicbrainz.org/ws/2/release-group?fmt=json&query=red%20panda&limit=10&offset=0",
    "npm": "/-/v1/search?text=red%20panda&size=10&from=0",
    "openverse": "https://api.openverse.org/v1/images/?q=red%20panda&page=1&page_size=20&mature=false",
    "sepiasearch": (
        "https://sepiasearch.org/api/v1/search/videos?sort=-match&search=red%20panda&start=0"
        "&count=10&nsfw=false&languageOneOf%5B%5D=en&boostLanguages%5B%5D=en"
    ),
    "wikipedia": (
        "https://en.wikipedia.org/w/api.php?action=query&format=json&formatversion=2"
        "&generator=search&redirects=1&gsrnamespace=0&prop=extracts%7Cinfo%7Cpageimages%7Cdescription"
        "&exintro=1&explaintext=1&exsentences=3&exlimit=max&inprop=url&piprop=thumbnail"
        "&pithumbsize=320&gsrsearch=red%20panda&gsrlimit=10&gsroffset=0"
    ),
}
# Engine: what a question has beside its words, and a part of the address; its end is `$`.
QUESTIONS = {
    "arxiv": [
        (
            "an identifier",
            {"identifier": Identifier(IdentifierKind.ARXIV, "math/0000001")},
            "https://export.arxiv.org/api/query?id_list=math%2F0000001&start=0&max_results=10$",
        ),
        ("third page", {"page": 3}, "&start=20&"),
        ("day", DAY, "%20AND%20submittedDate%3A%5B202611210000%20TO%20202611222359%5D&"),
    ],
    "commons": [
        ("third page", {"page": 3}, "&gsroffset=20&"),
        ("language", {"language": "de-AT"}, "&iiextmetadatalanguage=de$"),
        ("any language", {"language": "all"}, "&iiextmetadatalanguage=en$"),
        ("no language", {"language": "x|y"}, "&iiextmetadatalanguage=en$"),
    ],
    "crates": [
        ("second page", {"page": 2}, "&page=2&"),
        ("no ages", DAY, "?q=red%20panda&per_page=10&page=1&"),
        ("no languages", {"language": "de"}, "?q=red%20panda&"),
        ("signs", SIGNS, "?q=C%2B%2B%20%26%20%3Cvector%3E&"),
        ("its kind", {"keywords": ("Rust", "crate", "panda")}, "?q=panda&"),
        ("only its kind", {"keywords": ("rust",)}, "?q=rust&"),
        ("a phrase", {"keywords": ("red panda",)}, "?q=red%20panda&"),
    ],
    "crossref": [
        (
            "a DOI",
            {"identifier": DOI},
            "https://api.crossref.org/works/10.5555%2Fexample.2026.1%28a%29%3Cb%3E$",
        ),
        (
            "a DOI with a contact",
            {"identifier": DOI, "contact": "me@site.example"},
            "https://api.crossref.org/works/10.5555%2Fexample.2026.1%28a%29%3Cb%3E?mailto=me%40site.example$",
        ),
        (
            "another identifier",
            {"identifier": Identifier(IdentifierKind.PMID, "1")},
            f"{CROSSREF}$",
        ),
        ("third page", {"page": 3}, "&offset=20&"),
        ("day", DAY, "&filter=from-pub-date%3A2026-11-21"),
        ("no mail", {"contact": "https://site.example/@me"}, f"{CROSSREF}$"),
        ("mail", {"contact": "me@site.example"}, "&mailto=me%40site.example"),
        ("link", {"contact": "mailto:me@site.example"}, "&mailto=me%40site.example"),
        (
            "signs",
            {"text": 'C++ & "<vector>"'},
            "query.bibliographic=C%2B%2B%20%26%20%22%3Cvector%3E%22&",
        ),
    ],
    "gdelt": [
        (
            "a question",
            {},
            (
                "https://api.gdeltproject.org/api/v2/doc/doc?mode=ArtList&format=json&maxrecords=25"
                "&query=red%20panda%20sourcelang%3Aenglish&sort=HybridRel$"
            ),
        ),
        ("the newest of a day", DAY, "&sort=DateDesc&timespan=1d$"),
        ("week", {"time_range": TimeRange.WEEK}, "&sort=HybridRel&timespan=7d$"),
        ("month", {"time_range": TimeRange.MONTH}, "&sort=HybridRel&timespan=1m$"),
        ("no years", {"time_range": TimeRange.YEAR}, "&sort=HybridRel$"),
    ],
    "github": [
        ("second page", {"page": 2}, "&page=2"),
        ("issues", {"aim": "issues"}, "/issues?q=red%20panda%20is%3Aissue&"),
        ("no aim", {"aim": "../users"}, "/search/repositories?"),
        ("day", DAY, "%20pushed%3A%3E%3D2026-11-21&"),
        (
            "issues of a year",
            {"time_range": TimeRange.YEAR, "aim": "issues"},
            "?q=red%20panda%20is%3Aissue%20created%3A%3E%3D2025-11-22&",
        ),
        ("no languages", {"language": "de"}, "?q=red%20panda&"),
        ("a flaw", {"identifier": CVE}, "/issues?q=CVE-2024-99999%20is%3Aissue&"),
        ("another identifier", {"identifier": DOI}, "/repositories?q=red%20panda&"),
        (
            "programs for a flaw",
            {"identifier": CVE, "aim": "repositories"},
            "/repositories?q=CVE-2024-99999&",
        ),
        ("signs", {"keywords": ("C++", "&", '"<vector>"', "C#")}, "?q=C%2B%2B%20vector%20C%23&"),
        ("a phrase", {"keywords": ("red panda",)}, "?q=%22red%20panda%22&"),
        ("a name", {"keywords": ("std::vector",)}, "?q=%22std%3A%3Avector%22&"),
        ("a qualifier", {"keywords": ("user:me",)}, "?q=%22user%3Ame%22&"),
        ("a broken phrase", {"keywords": ('x" user:"me',)}, "?q=%22x%20user%3A%20me%22&"),
        ("operators", {"keywords": ("a", "NOT", "-b", "(c)")}, "?q=a%20%22NOT%22%20b%20c&"),
        ("words of a repository", {"keywords": tuple("abcdef")}, "?q=a%20b%20c%20d&"),
        (
            "words of an issue",
            {"keywords": tuple("abcdef"), "aim": "issues"},
            "?q=a%20b%20c%20d%20e%20f%20is%3Aissue&",
        ),
        ("a long word", {"keywords": ("y" * 200, "x" * 300, "z")}, f"?q={'y' * 200}&"),
    ],
    "hackernews": [
        ("second page", {"page": 2}, "&page=1"),
        ("day", DAY, "&numericFilters=created_at_i%3E%3D1795219200"),
        # Filters by points are answered 400 since June 2026 (last30days-skill#591, #655).
        (
            "week, and no points",
            {"time_range": TimeRange.WEEK},
            "&page=0&numericFilters=created_at_i%3E%3D1794700800$",
        ),
        (
            "all words of the newest",
            {"keywords": ("red", "panda", "zoo"), **NEWS, **DAY},
            "&page=0&numericFilters=created_at_i%3E%3D1795219200$",
        ),
        ("any language", {"language": "all"}, "/search?"),
        ("region", {"language": "en-GB"}, "/search?"),
        ("news", NEWS, "/search?"),
        ("news of a day", {**NEWS, **DAY}, "/search_by_date?"),
        ("news of a week", {**NEWS, "time_range": TimeRange.WEEK}, "/search_by_date?"),
        ("news of a month", {**NEWS, "time_range": TimeRange.MONTH}, "/search?"),
        ("code of a day", {"category": Category.IT, **DAY}, "/search?"),
        ("signs", SIGNS, "?query=C%2B%2B%20%26%20%3Cvector%3E&"),
        ("a phrase", {"keywords": ("red panda", "zoo")}, "?query=%22red%20panda%22%20zoo&"),
        (
            "some of three words",
            {"keywords": ("red", "panda", "zoo")},
            "&optionalWords=red%2Cpanda%2Czoo",
        ),
        (
            "a phrase is never optional",
            {"keywords": ("red panda", "zoo", "Riga")},
            "&optionalWords=zoo%2CRiga",
        ),
        ("an exclusion", {"keywords": ("git", "--force")}, "?query=git%20force&"),
        (
            "a flaw",
            {"identifier": Identifier(IdentifierKind.CVE, "CVE-2024-99999")},
            "?query=CVE-2024-99999&",
        ),
        (
            "a paper",
            {"identifier": Identifier(IdentifierKind.DOI, "10.5555/1")},
            "?query=red%20panda&",
        ),
    ],
    "huggingface": [
        ("a question", {}, "https://huggingface.co/api/models?sort=downloads&"),
        ("no pages", {"page": 2}, "&search=red%20panda&limit=10$"),
        ("no ages", DAY, "&search=red%20panda&limit=10$"),
        ("no languages", {"language": "de"}, "&search=red%20panda&"),
        ("data sets", {"aim": "datasets"}, "/api/datasets?"),
        ("demonstrations", {"aim": "spaces"}, "/api/spaces?sort=likes&"),
        ("no aim", {"aim": "../whoami"}, "/api/models?"),
        ("science", {"category": Category.SCIENCE}, "/api/models?"),
        ("files", FILES, "/api/datasets?"),
        ("both", {**FILES, "aim": "models"}, "/api/models?"),
        ("signs", {"keywords": ("C++", '"<vector>"')}, "&search=C%2B%2B%20%3Cvector%3E&"),
        ("two words", {"keywords": ("a", "b", "c")}, "&search=a%20b&"),
        ("its kind", {"keywords": ("Huggingface", "panda", "dataset")}, "&search=panda&"),
        ("only its kind", {"keywords": ("model",)}, "&search=model&"),
    ],
    "internetarchive": [
        (
            "a question",
            {**VIDEOS},
            (
                "https://archive.org/advancedsearch.php?output=json"
                "&q=%28red%20AND%20panda%29%20AND%20mediatype%3A%28movies%29"
                "&fl%5B%5D=identifier%2Ctitle%2Cdescription%2Ccreator%2Cdate%2Cmediatype%2Cdownloads"
                "%2Citem_size%2Clicenseurl&rows=10&page=1$"
            ),
        ),
        ("third page", {"page": 3}, "&rows=10&page=3$"),
    ],
    "musicbrainz": [
        (
            "third page of artists",
            {"aim": "artist", "page": 3},
            "https://musicbrainz.org/ws/2/artist?fmt=json&query=red%20panda&limit=10&offset=20$",
        ),
        ("recordings", {"aim": "recording"}, "/ws/2/recording?"),
        ("unknown aim", {"aim": "../genre"}, "/ws/2/release-group?"),
        ("phrase", {"keywords": ("red panda", "x")}, "query=%22red%20panda%22%20x&"),
        ("Lucene", {"keywords": ("AC/DC", "a:b")}, "query=AC%5C%2FDC%20a%5C%3Ab&"),
        ("signs", {"keywords": ("C++", "&")}, "query=C%5C%2B%5C%2B&"),
        ("no ages", DAY, "query=red%20panda&"),
    ],
    "npm": [
        ("third page", {"page": 3}, "&from=20"),
        ("no ages", DAY, "?text=red%20panda&size=10&from=0"),
        ("no languages", {"language": "de"}, "?text=red%20panda&"),
        ("signs", SIGNS, "?text=C%2B%2B%20%26%20%3Cvector%3E&"),
        ("its kind", {"keywords": ("npm", "package", "panda")}, "?text=panda&"),
        ("only its kind", {"keywords": ("npm",)}, "?text=npm&"),
        ("a scope", {"keywords": ("@example/panda",)}, "?text=%40example%2Fpanda&"),
        (
            "qualifiers",
            {"keywords": ("author:ada", "not:insecure", "-x")},
            "?text=author%20ada%20not%20insecure%20x&",
        ),
        ("as long as allowed", {"keywords": ("y" * 64, "z")}, f"?text={'y' * 64}&"),
        ("longer than allowed", {"keywords": ("red", "x" * 300)}, "?text=red&"),
    ],
    "openverse": [
        (
            "music",
            {**MUSIC},
            "https://api.openverse.org/v1/audio/?q=red%20panda&page=1&page_size=20&mature=false$",
        ),
        ("last page", {"page": 12}, "&page=12&"),
        ("all ages", {"safe_search": 0}, "&mature=true"),
        ("strict", {"safe_search": 2}, "&mature=false"),
        ("aim", {"aim": "audio"}, "/v1/audio/?"),
        ("aim over category", {"aim": "images", **MUSIC}, "/v1/images/?"),
        ("unknown aim", {"aim": "../admin", **MUSIC}, "/v1/audio/?"),
        ("signs", {"text": 'C++ & "<v>"'}, "?q=C%2B%2B%20%26%20%22%3Cv%3E%22&"),
        ("as long as allowed", {"text": f"red {'x' * 196} y"}, f"?q=red%20{'x' * 196}&"),
        ("no ages", {**DAY, "language": "de"}, "mature=false"),
    ],
    "photon": [
        (
            "a question",
            {"keywords": ("Panda Town",)},
            "https://photon.komoot.io/api?q=Panda%20Town&limit=10&lang=en$",
        ),
        ("no pages", {"page": 2}, "&limit=10&lang=en$"),
        ("no ages", DAY, "&limit=10&lang=en$"),
        ("region", {"language": "de-AT"}, "&lang=de$"),
        ("French", {"language": "fr"}, "&lang=fr$"),
        ("a language that is refused", {"language": "it"}, "&limit=10$"),
        ("any language", {"language": "all"}, "&limit=10$"),
        (
            "keywords",
            {"text": "where is Old Town", "keywords": ("Old Town",)},
            "?q=Old%20Town&limit=10&lang=en$",
        ),
        ("text", {"text": "near me", "keywords": ()}, "?q=near%20me&limit=10&lang=en$"),
        (
            "signs",
            {"text": 'C++ & "<vector>"'},
            "?q=C%2B%2B%20%26%20%22%3Cvector%3E%22&limit=10&lang=en$",
        ),
    ],
    "sepiasearch": [
        (
            "any language",
            {"language": "all"},
            (
                "https://sepiasearch.org/api/v1/search/videos?sort=-match&search=red%20panda&start=0"
                "&count=10&nsfw=false$"
            ),
        ),
        ("third page", {"page": 3}, "&start=20&"),
        ("language", {"language": "fr-CA"}, "&languageOneOf%5B%5D=fr&"),
        ("all ages", {"safe_search": 0}, "&nsfw=both"),
        ("strict", {"safe_search": 2}, "&nsfw=false"),
        ("day", DAY, "&startDate=2026-11-21"),
        (
            "a phrase and signs",
            {"keywords": ("red panda", "C++", "&")},
            "&search=%22red%20panda%22%20C%2B%2B%20%26&",
        ),
    ],
    "stackexchange": [
        (
            "a question",
            {"text": "why is the sky blue"},
            "https://api.stackexchange.com/2.3/search/excerpts?order=desc&sort=relevance&q=why%20is%20the%20sky%20blue&site=stackoverflow&page=1&pagesize=20$",
        ),
        ("second page", {"page": 2}, "&page=2&"),
        ("day", DAY, "&fromdate=1795219200"),
        ("site", {"aim": "superuser"}, "&site=superuser&"),
        ("no site", {"aim": "evil.example"}, "&site=stackoverflow&"),
        ("any language", {"language": "all"}, "&site=stackoverflow&"),
        ("region", {"language": "en-US"}, "&site=stackoverflow&"),
        ("Portuguese", {"language": "pt-BR"}, "&site=pt.stackoverflow&"),
        ("both", {"language": "es", "aim": "es.stackoverflow"}, "&site=es.stackoverflow&"),
        ("signs", {"text": 'C++ & "<vector>"'}, "&q=C%2B%2B%20%26%20%22%3Cvector%3E%22&"),
        ("a tag", {"text": "list[int] sort"}, "&q=list%20int%20sort&"),
        ("exclusions", {"text": "git --force -v"}, "&q=git%20force%20v&"),
        ("a field", {"text": "is:closed x"}, "&q=is%20closed%20x&"),
        ("a name", {"text": "std::vector a-b"}, "&q=std%3A%3Avector%20a-b&"),
    ],
    "wikipedia": [
        ("third page", {"page": 3}, "gsroffset=20"),
        ("language", {"language": "de"}, "https://de.wikipedia.org/"),
        ("region", {"language": "pt-BR"}, "https://pt.wikipedia.org/"),
        ("any language", {"language": "all"}, "https://en.wikipedia.org/"),
        ("signs", {"text": "C++ & <v>"}, "gsrsearch=C%2B%2B%20%26%20%3Cv%3E"),
        ("no ages", DAY, "gsrsearch=red%20panda&"),
        (
            "as long as allowed",
            {"text": f"{'x' * 148} {'y' * 151} z"},
            f"gsrsearch={'x' * 148}%20{'y' * 151}&",
        ),
        ("cut between words", {"text": f"{'x' * 149} {'y' * 151}"}, f"gsrsearch={'x' * 149}&"),
    ],
}
# The parameter of an engine that has a syntax, and what stands in it.
PARAMETERS = {
    "arxiv": "search_query",
    "commons": "gsrsearch",
    "europepmc": "query",
    "gdelt": "query",
    "internetarchive": "q",
}
SYNTAX = {
    "arxiv": [
        ("a phrase", {"keywords": ("red panda", "zoo")}, 'all:"red panda" AND all:zoo'),
        ("signs", SIGNS, "all:C AND all:vector"),
        ("hyphen", {"keywords": ("self-attention",)}, 'all:"self attention"'),
        ("operators", {"keywords": ("OR", "ANDNOT")}, 'all:"OR" AND all:"ANDNOT"'),
        ("fields and brackets", {"keywords": ("ti:x) OR (au:y",)}, 'all:"ti x OR au y"'),
        ("a range", {"keywords": ("[x", "TO", "y]")}, 'all:x AND all:"TO" AND all:y'),
    ],
    "commons": [
        ("videos", VIDEOS, "filetype:video red panda"),
        ("music", MUSIC, "filetype:audio red panda"),
        ("files", FILES, "filetype:multimedia|office|archive|3d red panda"),
        ("aim", {"aim": "audio", **VIDEOS}, "filetype:audio red panda"),
        ("unknown aim", {"aim": "x", **VIDEOS}, "filetype:video red panda"),
        ("signs", {"text": 'C++ & "<v>"'}, 'filetype:bitmap|drawing C++ & "<v>"'),
        (
            "syntax",
            {"text": "filetype:video|x insource:/a.*/ b~"},
            "filetype:bitmap|drawing filetype video x insource /a. / b",
        ),
        (
            "three hundred characters with its keyword",
            {"text": f"{'x' * 275} y"},
            f"filetype:bitmap|drawing {'x' * 275}",
        ),
        ("no ages", DAY, "filetype:bitmap|drawing red panda"),
    ],
    "europepmc": [
        ("a phrase", {"text": 'the "red panda" genome?'}, 'the "red panda" genome'),
        ("signs", {"text": 'C++ & "<vector>"'}, "C vector"),
        ("signs in a word", {"text": "IL-6 don't p53"}, "IL-6 don't p53"),
        ("syntax", {"text": "AUTH:x OR (a AND b) -c [x TO y] z*~"}, "AUTH x or a and b c x to y z"),
        ("an open quote", {"text": 'open "quote here'}, "open quote here"),
        ("day", DAY, "(red panda) AND FIRST_PDATE:[2026-11-21 TO 2026-11-22]"),
        (
            "a DOI",
            {"identifier": Identifier(IdentifierKind.DOI, '10.5555/a"b\\'), **DAY},
            'DOI:"10.5555/ab"',
        ),
        (
            "a PMID",
            {"identifier": Identifier(IdentifierKind.PMID, "90000001")},
            "EXT_ID:90000001 AND SRC:MED",
        ),
        ("no PMID", {"identifier": Identifier(IdentifierKind.PMID, "9) OR (x")}, "red panda"),
        ("a CVE", {"identifier": Identifier(IdentifierKind.CVE, "CVE-2026-1")}, "red panda"),
    ],
    "gdelt": [
        ("language", {"language": "de-AT"}, "red panda sourcelang:german"),
        ("any language", {"language": "all"}, "red panda"),
        ("phrase", {"keywords": ("red panda",)}, '"red panda" sourcelang:english'),
        ("hyphen", {"keywords": ("covid-19",)}, '"covid 19" sourcelang:english'),
        ("a short word", {"keywords": ("EU", "law")}, "law sourcelang:english"),
        ("a short phrase", {"keywords": ("a-b", "zoo")}, "zoo sourcelang:english"),
        ("signs", SIGNS, "vector sourcelang:english"),
        (
            "syntax",
            {"keywords": ("domain:x.example", "-(zoo")},
            '"domain x example" zoo sourcelang:english',
        ),
    ],
    "internetarchive": [
        ("music", MUSIC, "(red AND panda) AND mediatype:(audio)"),
        ("images", {"category": Category.IMAGES}, "(red AND panda) AND mediatype:(image)"),
        ("files", FILES, "(red AND panda) AND mediatype:(texts OR software OR data)"),
        ("general", {}, "(red AND panda) AND mediatype:(texts OR software OR data)"),
        ("aim", {"aim": "software"}, "(red AND panda) AND mediatype:(software)"),
        (
            "unknown aim",
            {"aim": "x) OR (y"},
            "(red AND panda) AND mediatype:(texts OR software OR data)",
        ),
        (
            "day",
            {**DAY, "aim": "data"},
            "(red AND panda) AND mediatype:(data) AND publicdate:[2026-11-21 TO 2026-11-22]",
        ),
        (
            "a phrase",
            {"keywords": ("red panda", "zoo"), "aim": "texts"},
            '("red panda" AND zoo) AND mediatype:(texts)',
        ),
        (
            "signs",
            {"keywords": ("C++", "&", '"<v>"'), "aim": "texts"},
            r"(C\+\+ AND v) AND mediatype:(texts)",
        ),
        (
            "syntax",
            {"keywords": ("title:x)", "OR", "(y"), "aim": "texts"},
            r'(title\:x\) AND "OR" AND \(y) AND mediatype:(texts)',
        ),
    ],
}


def _rows(table):
    return [
        pytest.param(name, *row[1:], id=f"{name}: {row[0]}")
        for name, rows in table.items()
        for row in rows
    ]


@pytest.mark.parametrize(("name", "address"), ADDRESSES.items())
def test_a_question_becomes_an_address(ask, engine, name, address):
    row = engine(name)
    assert row.url(row.ask(ask())) == address


@pytest.mark.parametrize(("name", "fields", "part"), _rows(QUESTIONS))
def test_what_is_asked_changes_the_address(ask, engine, name, fields, part):
    row = engine(name)
    assert part in f"{row.url(row.ask(ask(**fields)))}$"


@pytest.mark.parametrize(("name", "fields", "asked"), _rows(SYNTAX))
def test_a_query_is_words_and_clauses_without_syntax_of_the_asker(ask, engine, name, fields, asked):
    assert engine(name).ask(ask(**fields)).parameters[PARAMETERS[name]] == asked
