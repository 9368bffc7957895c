"""Stands in for uv: makes environments, and unpacks wheels of one folder into them.

`STAND_IN_UV` names a mood: `full` or `offline` fails as uv does then, `broken` with an error of its
own, `hangs` goes on for ever. It resolves nothing: a requirement is a name, and any wheel of that
name fits.
"""

import os
import re
import sys
import time
import venv
import zipfile
from pathlib import Path

MOODS = {
    "full": "error: failed to write: No space left on device (os error 28)",
    "offline": "error: error sending request for url: dns error: failed to lookup address",
    "broken": "error: unexpected argument '--only-binary' found",
}


def install(environment, names):
    (packages,) = environment.glob("lib/python*/site-packages")
    for name in names:
        wheels = sorted(
            Path(os.environ["UV_FIND_LINKS"]).glob(f"{name.replace(chr(45), chr(95))}-*.whl")
        )
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
    *_, requirements, server = arguments
    python = Path(arguments[arguments.index("--python") + 1])
    lines = [*Path(requirements).read_text().splitlines(), server]
    names = [re.split(r"[^\w-]", line, maxsplit=1)[0] for line in lines]
    install(python.parents[1], filter(None, names))


main(*sys.argv[1:])
