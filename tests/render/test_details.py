"""The fields of a result's template in a few words."""

import pytest

from searx_mcp.models.response import SearchResult
from searx_mcp.models.templates import (
    Code,
    Fact,
    File,
    Image,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    Video,
)
from searx_mcp.render.details import details
from searx_mcp.render.tokens import estimate


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, ""),
        ({"image": Image(url="https://a.example/1.png", resolution="1 x 1")}, ""),
        ({"video": Video(length="3:20", views="1.2M")}, "3:20, 1.2M views"),
        ({"media": Media(length="4:01")}, "4:01"),
        ({"torrent": Torrent(seeds=0, leeches=2, size="1 GiB")}, "1 GiB, 0 seeds, 2 leeches"),
        (
            {
                "place": Place(
                    latitude=52.5,
                    longitude=13.4,
                    road="Main St",
                    house_number="1",
                    postcode="10115",
                    locality="Town",
                    country="XX",
                )
            },
            "Main St 1, 10115 Town, XX, at 52.5000 13.4000",
        ),
        ({"place": Place(latitude=52.5, country="XX")}, "XX"),
        (
            {"paper": Paper(authors=("A", "B", "C", "D"), journal="J", doi="10.1/x")},
            "A, B, C, 1 more authors, J, doi 10.1/x",
        ),
        ({"package": Package(version="1.2", licence="MIT")}, "version 1.2, MIT"),
        ({"code": Code(repository="r", filename="f.py", language="python")}, "r, f.py, python"),
        ({"file": File(filename="a.pdf", size="2 MB", mimetype="text/x")}, "a.pdf, 2 MB, text/x"),
        ({"product": Product(price="5 EUR", shipping="free")}, "5 EUR, free"),
        ({"facts": tuple(Fact(label=f"l{n}", value="v") for n in range(5))}, "l0: v, l1: v, l2: v"),
    ],
    ids=[
        "none",
        "image",
        "video",
        "media",
        "torrent",
        "place",
        "place without longitude",
        "paper",
        "package",
        "code",
        "file",
        "product",
        "facts",
    ],
)
def test_each_kind_is_told_by_what_matters(fields, shown, boundary):
    told = details(SearchResult(title="T", url="https://a.example/", score=1, **fields), boundary)
    assert told == shown


def test_details_are_short_whatever_a_stranger_sends(boundary):
    paper = Paper(authors=("name " * 20,) * 50, journal="j" * 100, doi="10.1/" + "x" * 90)
    result = SearchResult(title="T", url="https://a.example/", score=1, paper=paper)
    assert estimate(details(result, boundary)) <= 36
