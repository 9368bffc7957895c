"""Stands in for uv: makes environments, and unpacks wheels of one folder into them.

`STAND_IN_UV` names a mood: `full` or `offline` fails as uv does then, `broken` with an error of its
own, `hangs` goes on for ever. It resolves nothing: a requirement is a name, and the newest wheel of
that name fits, or that of the version in a file of constraints.
"""

import argparse
import os
import re
import sys
import time
import venv
import zipfile
from pathlib import Path

MOODS = {
    "full": "error: failed to write: No space left on device (os error 28)",
    "offline": "error: error sending request for url https://me:secret@index.example/: dns error: failed to lookup address",
    "broken": "error: unexpected argument '--only-binary' found",
}


def install(environment, names, versions):
    (packages,) = environment.glob("lib/python*/site-packages")
    for name in names:
        pattern = f"{name.replace(chr(45), chr(95))}-{versions.get(name, '*')}-*.whl"
        wheels = sorted(Path(os.environ["UV_FIND_LINKS"]).glob(pattern))
        if not wheels:
            sys.exit(f"error: no solution found: {name} was not found in the registry")
        with zipfile.ZipFile(wheels[-1]) as wheel:
            wheel.extractall(packages)


def main(command, *arguments):
    mood = os.environ.get("STAND_IN_UV", "")
    if command == "venv":
        venv.EnvBuilder(symlinks=True).create(arguments[-1])
        return
    if mood == "hangs":
        time.sleep(300)
    if mood:
        sys.exit(MOODS[mood])
    parser = argparse.ArgumentParser()
    for option in ("--python", "--only-binary", "--requirement", "--constraint"):
        parser.add_argument(option)
    parser.add_argument("--no-index", action="store_true")
    parser.add_argument("server")
    options = parser.parse_args(arguments[1:])
    lines = [*Path(options.requirement).read_text().splitlines(), options.server]
    names = [re.split(r"[^\w-]", line, maxsplit=1)[0] for line in lines]
    pins = Path(options.constraint or os.devnull).read_text()
    versions = dict(re.findall(r"^([\w-]+)==(\S+)", pins, re.MULTILINE))
    install(Path(options.python).parents[1], filter(None, names), versions)


main(*sys.argv[1:])
