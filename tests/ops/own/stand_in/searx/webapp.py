"""Answers what an instance is asked: health, configuration, failing engines and searches.

It behaves as the word in `searx/mood.txt` says, where there is one: `ends` at its start, `lacks a
module` or `hangs` then, `says something`, answers `html` alone, `finds nothing`. It does not imitate engines, pages or templates.
"""

import json
import os
import sys
import time
from pathlib import Path
from urllib.parse import parse_qs

MOOD = Path(__file__).with_name("mood.txt")
mood = MOOD.read_text() if MOOD.exists() else ""
settings = Path(os.environ["SEARXNG_SETTINGS_PATH"]).read_text()

if mood == "ends" or "nonsense: true" in settings:
    sys.exit(f"settings are wrong, secret_key {'ab' * 32}")
if mood == "lacks a module":
    raise ModuleNotFoundError("No module named 'sniffio'")
if mood == "says something":
    sys.stderr.write("ErrorContext('an engine')\n")
if mood == "hangs":
    time.sleep(300)

kept = settings.partition("keep_only:")[2].partition("\n\n")[0].partition("engines:")[0]
ENGINES = [line.strip(" -") for line in kept.splitlines() if line.strip().startswith("-")]
if mood == "lacks an engine":
    ENGINES.remove("wikipedia")


def app(environ, start_response):
    path = environ["PATH_INFO"]
    query = parse_qs(environ.get("QUERY_STRING", ""))
    status, kind = "200 OK", "application/json"
    body: object = {}
    if path == "/healthz":
        kind, body = "text/plain", "OK"
    elif path == "/config":
        engines = [{"name": name, "categories": ["general"], "enabled": True} for name in ENGINES]
        body = {"version": "stand-in", "engines": engines}
    elif path == "/stats/errors":
        error = {"exception_classname": "x.SearxEngineCaptchaException", "percentage": 100}
        body = {"brave": [{**error, "log_message": "", "secondary": False}]}
    elif path == "/search" and mood == "html":
        status, kind, body = "403 Forbidden", "text/html", "<html>Forbidden</html>"
    elif path == "/search":
        text = query.get("q", [""])[0]
        rows = [
            {
                "url": f"https://example.org/{number}",
                "title": f"{text} {number}",
                "content": f"About {text}.",
                "engine": "wikipedia",
                "engines": ["wikipedia"],
                "category": "general",
                "score": 1.0,
            }
            for number in range(0 if mood == "finds nothing" else 3)
        ]
        failed = [["wikipedia", "timeout"]] if not rows else []
        body = {
            "query": text,
            "results": rows,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": failed,
        }
    else:
        status = "404 Not Found"
    content = (body if isinstance(body, str) else json.dumps(body)).encode()
    start_response(status, [("Content-Type", kind), ("Content-Length", str(len(content)))])
    return [content]
