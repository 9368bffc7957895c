"""Words that answers of every instance have; they say nothing of a query or an instance."""

from typing import Final

from searx_mcp.models.request import FURTHER_CATEGORIES, Category

PARAMETERS: Final = frozenset(
    {"categories", "engines", "format", "language", "pageno", "safesearch", "theme", "time_range"}
)
"""Arguments of a search whose values are names."""

_MARKUP: Final = """
    a article aside audio b body br button caption code dd details div dl dt em footer form h1 h2 h3
    h4 head header hr html i iframe img input label li link main meta nav ol option p path pre
    script section select small source span strong style summary svg table tbody td th thead time
    title tr ul video
    action alt charset class colspan content data datetime dir for hidden href id itemprop lang
    media method name rel role src type value
    submit text hidden get post ltr rtl stylesheet noreferrer nofollow noopener alternate
"""
_THEME: Final = """
    abstract altlink answer answers apis attributes author badge bar block boundingbox caption chart
    codelines col comments container content correction corrections count country default dialog
    element embedded empty endpoint engine engines error errors file files filename filesize format
    formats general geojson generator group header highlight icon image images index infobox init
    item itemscope key keyvalue lat length license link linenos links lon magnetlink maintainer map
    metadata msg name news next no normal osm package packages page pageno pagination paper popularity
    position price previous product products project proxy pubdate publicationdate published q
    relatedtopics repository resolution response result results row search searx searxng selected
    shipping sidebar simple source stat suggestion suggestions table tags template theme thumbnail
    time title topics torrent torrentfile translations transliteration translate unresponsive url
    urls value version video videos views weather wrapper zoom
"""
_KEYS: Final = """
    address answers category close codelines content corrections current data doi editor entity
    examples forecasts hl html iframe img infoboxes isbn issn journal kvmap label latitude leech
    length lines locality longitude mtype mimetype number of open parsed pages path pdf postcode
    positions priority publisheddate publisher query queryx results road score seed service src
    size stars subtype synonyms tags type types url volume
    application bytes css csv dur gzip html json load nginx plain render rss total utf 8 https http
    all auto static themes client config healthz preferences opensearch xml about info en day week
    month year
"""
VOCABULARY: Final = frozenset(
    f"{_MARKUP} {_THEME} {_KEYS} {' '.join((*Category, *FURTHER_CATEGORIES))}".split()
)
"""In lower case; names are compared with it part by part."""

_LABELS: Final = """
    author comments date description doi editor engine engines filename filesize format homepage
    isbn issn journal language length license maintainer mime name number of pages pdf popularity
    project published publisher publication repository resolution size source tags time type url
    version views volume
"""
LABELS: Final = frozenset(_LABELS.split())
"""Words before a colon by which a parser finds the value behind it."""
