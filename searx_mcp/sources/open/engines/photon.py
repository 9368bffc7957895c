"""Photon: places of OpenStreetMap by name and address."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult

from searx_mcp.content.values import Fields, loads
from searx_mcp.models.hits import Place
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import Ask, Engine, EngineWords, OpenQuery, Parsed, Routing
from searx_mcp.sources.open.question import Signal
from searx_mcp.sources.open.rows import Rows

NAME: Final = "photon"
PER_PAGE: Final = 10

_LANGUAGES: Final = frozenset({"de", "en", "fr"})
"""The public server answers any other with status 400; without one, names are local."""
_KINDS: Final = {"N": "node", "W": "way", "R": "relation"}
_OBJECT = re.compile(r"/(node|way|relation)/([0-9]{1,19})/?")
_POINT: Final = (180.0, 90.0)


def ask(query: OpenQuery) -> Ask | None:
    """Search places by the keywords, which are a name without the question around it."""
    words = " ".join(query.keywords) or query.text
    if not words:
        return None
    parameters = {"q": words, "limit": str(PER_PAGE)}
    if query.spoken in _LANGUAGES:
        parameters["lang"] = query.spoken
    return Ask(parameters, path=("api",))


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse the GeoJSON `features`; one that is not an OpenStreetMap object has no page."""
    answer = loads(body)
    features = answer.get("features") if isinstance(answer, dict) else None
    if not isinstance(features, list):
        raise ValueError("the answer has no features")  # noqa: TRY004 - says what the service sent
    rows = Rows(NAME, query)
    for feature in features:
        members = feature if isinstance(feature, dict) else {}
        about = Fields(members).part("properties")
        kind, number = _KINDS.get(about.line("osm_type")), about.count("osm_id")
        if kind is None or number is None:
            rows.skip()
            continue
        place = _place(about, members, kind, number)
        street = f"{place.road} {place.house_number}".strip()
        town = f"{place.postcode} {place.locality}".strip()
        region = [about.line(name) for name in ("district", "county", "state", "country")]
        title = place.name or street or town
        lines = dict.fromkeys([street, town, *region])
        where = ", ".join(line for line in lines if line and line != title)
        what = about.line("osm_value").replace("_", " ")
        rows.add(
            f"https://www.openstreetmap.org/{kind}/{number}",
            title,
            description=": ".join(filter(None, [what, where])),
            template="map",
            place=place,
        )
    return rows.parsed()


def identify(host: str, parts: SplitResult) -> str:
    """Return the OpenStreetMap object at an address."""
    found = _OBJECT.fullmatch(parts.path) if host == "openstreetmap.org" else None
    return f"osm:{found[1]}/{found[2]}" if found else ""


def _place(about: Fields, feature: dict[str, object], kind: str, number: int) -> Place:
    geometry = feature.get("geometry")
    point = _degrees(geometry.get("coordinates") if isinstance(geometry, dict) else None, _POINT)
    properties = feature.get("properties")
    extent = properties.get("extent") if isinstance(properties, dict) else None
    box = _degrees(extent, 2 * _POINT)
    return Place(
        longitude=point[0] if point else None,
        latitude=point[1] if point else None,
        # Converts west, north, east, south to OpenStreetMap's order.
        bounding_box=(box[3], box[1], box[0], box[2]) if box else None,
        name=about.line("name"),
        road=about.line("street"),
        house_number=about.line("housenumber"),
        locality=about.line("city") or about.line("locality"),
        postcode=about.line("postcode"),
        country=about.line("country"),
        osm_type=kind,
        osm_id=number,
    )


def _degrees(values: object, limits: Sequence[float]) -> list[float]:
    """Return as many numbers as there are limits, each within its limit; else none."""
    if not isinstance(values, list) or len(values) != len(limits):
        return []
    degrees = [
        float(value)
        for value, limit in zip(values, limits, strict=True)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= limit
    ]
    return degrees if len(degrees) == len(limits) else []


ENGINE: Final = Engine(
    name=NAME,
    title="Photon",
    operator="Komoot, DE",
    categories={Category.MAP: 3},
    endpoint="https://photon.komoot.io",
    ask=ask,
    parse=parse,
    identify=identify,
    wants_contact=True,
    # No limit is published: "reasonable" use is welcome.
    gap=2.0,
    per_day=200,
    timeout=5.0,
    licence="Places © OpenStreetMap contributors, ODbL.",
    pages=False,
    hosts=("openstreetmap.org",),
    filters_language=True,
    routing=Routing(signals={Signal.PLACE: 4}),
    words=EngineWords(
        names="openstreetmap osm",
        frames="openstreetmap",
        implied="map address street near city town location place restaurant restaurants",
    ),
    endpoint_setting=lambda config: config.photon_url,
    terms_url="https://photon.komoot.io/",
    terms_checked="2026-11",
    also=("openstreetmap",),
)
