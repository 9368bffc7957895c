"""Photon's search, and its answers."""

from dataclasses import replace

import pytest

from searx_mcp.models.hits import Place

OSM = "https://www.openstreetmap.org"


def test_an_own_server_may_lie_below_a_path(ask, engine):
    row = replace(engine("photon"), endpoint="https://maps.example/photon")
    url = row.url(row.ask(ask()))
    assert url == "https://maps.example/photon/api?q=red%20panda&limit=10&lang=en"


def test_a_place_has_its_address_and_its_edges(read, answer):
    parsed = read("photon", answer("photon.json"))
    town, zoo, house = parsed.hits
    assert (town.url, town.title) == (f"{OSM}/relation/9001", "Panda Town")
    assert town.description == "city: Bamboo County, Example State, Exampleland"
    assert town.template == "map"
    assert town.place == Place(
        latitude=52.5,
        longitude=13.4,
        bounding_box=(52.3, 52.7, 13.1, 13.8),
        name="Panda Town",
        country="Exampleland",
        osm_type="relation",
        osm_id=9001,
    )
    assert (zoo.url, zoo.title) == (f"{OSM}/way/9002", "Red Panda House")
    assert zoo.description == (
        "zoo: Bamboo Street 7a, 01234 Panda Town, Old Town, Example State, Exampleland"
    )
    assert zoo.place == Place(
        latitude=52.51,
        longitude=13.41,
        name="Red Panda House",
        road="Bamboo Street",
        house_number="7a",
        locality="Panda Town",
        postcode="01234",
        country="Exampleland",
        osm_type="way",
        osm_id=9002,
    )
    assert (house.url, house.title) == (f"{OSM}/node/9003", "Bamboo Street 8")
    assert house.description == "house: 01234 Panda Town, Exampleland"
    assert (parsed.rows_seen, parsed.has_next) == (3, None)


@pytest.mark.parametrize(
    "coordinates",
    [
        pytest.param([13.4], id="one"),
        pytest.param([13.4, 52.5, 7], id="three"),
        pytest.param(["13.4", "52.5"], id="texts"),
        pytest.param([True, False], id="truth values"),
        pytest.param([13.4, 90.1], id="beyond the pole"),
        pytest.param([float("nan"), 1.0], id="no number"),
        pytest.param([10**400, 1], id="huge"),
        pytest.param("13.4,52.5", id="a text"),
        pytest.param(None, id="none"),
    ],
)
def test_what_is_no_point_is_left_out(read, coordinates):
    feature = {
        "properties": {"osm_type": "N", "osm_id": 1, "name": "x", "extent": coordinates},
        "geometry": {"coordinates": coordinates},
    }
    (hit,) = read("photon", {"features": [feature]}).hits
    assert hit.place == Place(name="x", osm_type="node", osm_id=1)


def test_hostile_rows_become_text_or_nothing(read):
    features = [
        "x",
        {"properties": []},
        {"properties": {"osm_type": "N", "osm_id": "1/../..", "name": "x"}},
        {"properties": {"osm_type": "X", "osm_id": 1, "name": "x"}},
        {"properties": {"osm_type": "N", "osm_id": 1}},
        {
            "geometry": "x",
            "properties": {"osm_type": "N", "osm_id": 2, "name": "A\u202e\x1b[31m name", "city": 7},
        },
    ]
    parsed = read("photon", {"features": features})
    (hit,) = parsed.hits
    assert (hit.url, hit.title, hit.description) == (f"{OSM}/node/2", "A name", "")
    assert parsed.rows_seen == 6
