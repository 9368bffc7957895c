"""The catalog as a file: the bundled one, or one the operator names; and how old it is."""

from pathlib import Path
from typing import Final

import searx_mcp
from searx_mcp.errors import SettingsError
from searx_mcp.files import read_text
from searx_mcp.models.instance import Catalog, PoolReport
from searx_mcp.pool.catalog import catalog_age_days
from searx_mcp.pool.searxspace import MAX_TEXT

OLD_CATALOG_DAYS: Final = 90
"""Five instances come and five go every month: after three months a list needs a warning."""

_NAME: Final = "instances.json"
_FIELD: Final = "instances.catalog"
_PACKAGE: Final = Path(searx_mcp.__file__).parent


def read_bundled(package: Path = _PACKAGE) -> str:
    """Read the bundled list of instances.

    A wheel carries the file inside the package. An editable install does not: there the package
    lies beside the file, at the root of the repository.

    Args:
        package: the directory of the installed package.

    Raises:
        SettingsError: the file is in neither place.
    """
    for folder in (package, package.parent):
        file = folder / _NAME
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise SettingsError(
        _FIELD,
        f"the bundled {_NAME} is missing from this installation",
        advice="Install searx-mcp again, or name a file of your own.",
    )


def read_catalog(path: str) -> str:
    """Read the list of instances the operator configured; `~` is the home directory.

    Raises:
        SettingsError: the file is missing, unreadable, too long, or not UTF-8.
    """
    try:
        return read_text(Path(path).expanduser(), MAX_TEXT)
    except OSError as exc:
        reason = exc.strerror or type(exc).__name__
    except RuntimeError:
        reason = "it is not a usable path"
    raise SettingsError(
        _FIELD,
        f"cannot read {path!r}: {reason}",
        advice="Correct the path, or remove the setting to use the bundled list.",
    )


def catalog_report(catalog: Catalog | None, now: float) -> PoolReport:
    """The report of a pool without its instances: where the public ones come from and how old."""
    if catalog is None:
        return PoolReport(instances=())
    age = catalog_age_days(catalog, now)
    notes: tuple[str, ...] = ()
    if age > OLD_CATALOG_DAYS:
        old = f"The list of public instances is {age} days old; some will have gone."
        notes = (
            f"{old} A server renews it while it is searched with; a newer release brings a newer one.",
        )
    return PoolReport(
        instances=(), catalog_source=catalog.source, catalog_age_days=age, notes=notes
    )
