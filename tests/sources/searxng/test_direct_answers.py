"""Reports and translations, as a SearXNG of August 2026 sends them in both formats."""

import json
from collections.abc import Callable

import pytest

from searx_mcp.models.hits import Answer, Fact, ResultPage
from searx_mcp.sources.searxng.html_parser import parse_html
from searx_mcp.sources.searxng.json_parser import parse_json

BASE = "https://search.example/"
LONG = "ein Gruß, " * 15 + "auch am Telefon"
NOW = {
    "location": {"name": "Berlin", "latitude": 52.5},
    "temperature": {"val": 12.34, "unit": "°C"},
    "condition": "partly cloudy",
    "datetime": None,
    "summary": "Berlin: 12 °C, Partly cloudy",
    "feels_like": {"val": 10.08, "unit": "°C"},
    "pressure": {"val": 1013.2, "unit": "hPa"},
    "humidity": {"val": 61},
    "wind_from": {"val": 225.0, "unit": "°"},
    "wind_speed": {"val": 3.44, "unit": "m/s"},
    "cloud_cover": 75,
}
LATER = {"temperature": {"val": 10, "unit": "°C"}, "summary": "Berlin: 10 °C, Rain"}
TABLE = """<table><tbody><tr><td rowspan="4"><img class="symbol" src="data:x"></td></tr>
    <tr><td>Temperature:</td><td>{0}</td><td>Feels Like:</td><td>10 °C</td></tr>
    <tr><td>Humidity:</td><td>61%</td><td></td><td></td></tr></tbody></table>"""
WEATHER = f"""
    <details class="weather"><summary><div class="summary"> Berlin: 12 °C, Partly cloudy</div>
    {TABLE.format("12 °C")}</summary><div class="weather-forecast">
    <div class="answer-weather-forecasts"><div class="summary">05.02.26, 15:00 Berlin: 10 °C</div>
    {TABLE.format("10 °C")}</div></div></details><span class="answer-url">Open-meteo</span>"""
TRANSLATIONS = f"""
    <details class="answer-translations"><summary>Hallo</summary>
    <dl><dt>Hallo</dt><dd><div class="item-transliteration">ha-lo</div><div>Examples</div>
    <ul><li>Hallo Welt</li></ul><div>Definitions</div><ul><li>{LONG}</li></ul><div>Synonyms</div>
    <ul><li>Servus</li><li>Moin</li></ul></dd><dt>Tag</dt><dd></dd></dl></details
    ><span class="answer-url">dictzone</span>"""
TRANSLATED = Answer(
    text="Hallo, Tag",
    details=(
        Fact(
            label="Hallo",
            value=f"ha-lo; Examples: Hallo Welt; Definitions: {LONG}; Synonyms: Servus / Moin",
        ),
    ),
)


def _in_json(*answers: object) -> tuple[Answer, ...]:
    document = {"results": [], "answers": list(answers)}
    page = parse_json(json.dumps(document).encode(), base_url=BASE).page
    assert page is not None
    return page.answers


@pytest.fixture
def in_html(results_page: Callable[..., bytes]) -> Callable[[str], tuple[Answer, ...]]:
    """Read an answer above the rows."""

    def read(markup: str) -> tuple[Answer, ...]:
        above = f'<div id="answers"><div class="answer">{markup}</div></div>'
        page = parse_html(results_page(beside=above), base_url=BASE).page
        assert isinstance(page, ResultPage)
        return page.answers

    return read


def test_a_weather_report_has_all_its_measures_and_the_forecast_in_json():
    later = LATER | {"datetime": {"datetime": "2026-02-05T15:00:00"}}

    (answer,) = _in_json({"current": NOW, "forecasts": [later, "x", {}], "service": "Open-meteo"})

    assert answer.text == "Berlin: 12 °C, Partly cloudy"
    assert [(fact.label, fact.value) for fact in answer.details] == [
        ("Temperature", "12.3 °C"),
        ("Feels Like", "10.1 °C"),
        ("Wind", "SW: 3.4 m/s"),
        ("Pressure", "1013.2 hPa"),
        ("Humidity", "61%"),
        ("Cloud Cover", "75%"),
        ("Forecast", "2026-02-05T15:00:00 Berlin: 10 °C, Rain; Temperature 10 °C"),
    ]


def test_a_weather_report_has_its_measures_and_the_forecast_in_html(in_html):
    (answer,) = in_html(WEATHER)

    # Not the source's name, which stands in the only span.
    assert (answer.text, answer.url) == ("Berlin: 12 °C, Partly cloudy", None)
    assert [(fact.label, fact.value) for fact in answer.details] == [
        ("Temperature", "12 °C"),
        ("Feels Like", "10 °C"),
        ("Humidity", "61%"),
        (
            "Forecast",
            "05.02.26, 15:00 Berlin: 10 °C; Temperature 10 °C; Feels Like 10 °C; Humidity 61%",
        ),
    ]


def test_a_translation_is_the_same_in_both_formats(in_html):
    item = {
        "text": "Hallo",
        "transliteration": "ha-lo",
        "examples": ["Hallo Welt"],
        "definitions": [LONG],
        "synonyms": ["Servus", "Moin"],
    }
    bare = {"text": "Tag", "transliteration": "", "examples": [], "definitions": [], "synonyms": []}

    assert _in_json({"translations": [item, bare]}) == (TRANSLATED,)
    assert in_html(TRANSLATIONS) == (TRANSLATED,)


@pytest.mark.parametrize(
    ("degrees", "point"),
    [
        pytest.param(0.0, "N", id="north"),
        pytest.param(359, "N", id="almost round"),
        pytest.param(348.7, "NNW", id="before north"),
        pytest.param(90, "E", id="east"),
        pytest.param("x", "", id="no number"),
    ],
)
def test_a_wind_is_named_by_the_point_it_comes_from(degrees, point):
    wind = {"summary": "s", "wind_from": {"val": degrees}, "wind_speed": {"val": 1, "unit": "m/s"}}

    (answer,) = _in_json({"current": wind})

    assert [fact.value for fact in answer.details] == [": ".join(filter(None, (point, "1 m/s")))]


def test_parts_of_an_answer_are_bounded(in_html):
    (report,) = _in_json({"current": NOW, "forecasts": [LATER] * 999})
    terms = "<dt>t</dt><dd><ul><li>x</li></ul></dd>" * 999
    (translated,) = in_html(f'<div class="answer-translations"><dl>{terms}</dl></div>')

    assert len(_in_json(*["a"] * 999)) == 100
    assert len(report.details) == 106
    assert len(translated.details) == 100
