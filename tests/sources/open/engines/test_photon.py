"""Photon's search, and its answers."""

from dataclasses import replace

import pytest

from searx_mcp.models.hits import Place

OSM = "https://www.openstreetmap.org"


def test_an_own_server_may_lie_below_a_path(ask, engine):
    row = replace(engine("photon"), endpoint="https://maps.example/photon")
    url = row.url(row.ask(ask()))
    assert url == "https://maps.example/photon/api?q=red%20panda&limit=10&lang=en"


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


def test_the_whole_world_is_a_place(read):
    feature = {
        "properties": {"osm_type": "N", "osm_id": 1, "extent": [-180, 90, 180, -90], "name": "x"},
        "geometry": {"coordinates": [180, -90]},
    }
    (hit,) = read("photon", {"features": [feature]}).hits
    assert (hit.place.longitude, hit.place.latitude) == (180, -90)
    assert hit.place.bounding_box == (-90, 90, -180, 180)
