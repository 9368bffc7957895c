"""Checks that this machine has the files, programs and libraries that the settings name.

The values of settings are validated where they are built, which reads no file.
"""

from pathlib import Path

from searx_mcp.errors import SettingsError
from searx_mcp.settings.values import Settings


def check_usable(settings: Settings) -> None:
    """Check everything; reads the files that the settings name, and opens no connection.

    Raises:
        SettingsError: a setting is not usable on this machine.
    """
    check_libraries(settings)
    check_folder(settings)
    network, fetch, instances = settings.network, settings.fetch, settings.instances
    # Each is imported only if it is used, so that others start faster.
    if network.ca_file:
        from searx_mcp.http.connections import tls_context  # noqa: PLC0415 - see above

        tls_context(network.ca_file)
    if fetch.blocklist_file:
        from searx_mcp.fetch.hops.domains import read_blocklist  # noqa: PLC0415 - see above

        read_blocklist(Path(fetch.blocklist_file).expanduser())
    if instances.catalog:
        from searx_mcp.pool.catalog import parse_catalog  # noqa: PLC0415 - see above
        from searx_mcp.search.background.membership import read_catalog  # noqa: PLC0415 - see above

        parse_catalog(read_catalog(instances.catalog))


def check_folder(settings: Settings) -> None:
    """Check that state can be stored in a folder, which is created on first use.

    Raises:
        SettingsError: a file is in its place, or in that of a parent folder.
    """
    folder = settings.state_folder()
    for place in () if folder is None else (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise SettingsError(
                "storage.folder",
                f"{place} is a file",
                advice="Choose another folder, or move that file.",
            )


def check_libraries(settings: Settings) -> None:
    """Check what otherwise only the first call would find: libraries, and addresses that they refuse.

    Raises:
        SettingsError: a library or program is not installed, or refuses a setting.
    """
    network, fetch = settings.network, settings.fetch
    if network.proxy is not None or network.http_proxy:
        from searx_mcp.http.proxy_route import check_support  # noqa: PLC0415 - see above

        check_support(network.proxies())
    if fetch.browser:
        from searx_mcp.fetch.browser import renderer  # noqa: PLC0415 - see above

        renderer.check_support()
        renderer.find_program(fetch.browser_path)
    is_shared = settings.redis.url.get_secret_value()
    has_database = settings.postgres.url.get_secret_value() and settings.storage.corpus
    if is_shared or has_database:
        from searx_mcp.client import stores  # noqa: PLC0415 - see above

        if is_shared:
            stores.open_state(settings)
        if has_database:
            stores.open_corpus(settings, None, settings.storage.namespace)
    if settings.embedding.provider == "static":
        from searx_mcp.evidence.corpus.language_models import check_static  # noqa: PLC0415 - see above

        check_static()
