"""The archive of one version of SearXNG: from its repository, a file or a folder."""

import asyncio
import re
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Final
from urllib.parse import urljoin, urlsplit

from searx_mcp.errors import FetchError, InvalidArgumentError
from searx_mcp.http.http import HttpSession
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own.errors import NativeError
from searx_mcp.ops.own.native.archive import MAX_ARCHIVE, Source, copy, unpack
from searx_mcp.sources.searxng.persona import honest

PINNED: Final = "9fea41204fdfa7a5cfa15b0ebd12904c520478ce"
"""The commit of SearXNG that this release was tried with, of 22 August 2026."""
PINNED_TREE: Final = "4538dbf9f936e7b7bb97fb12dda746b7b588e93d"
"""What git calls its files. Archives of one commit may differ by the byte, the files may not."""
LATEST: Final = "latest"

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_MAX_REDIRECTS: Final = 5
_HEADERS_TIMEOUT: Final = 30.0
"""Seconds; GitHub makes an archive when it is first asked for."""


class Sources:
    """Gets SearXNG's source and unpacks it.

    Args:
        session: for public addresses, guarded.
        repository: where archives are fetched from, as GitHub has them.
        trees: git's hash of the files by commit, where it is known.
    """

    def __init__(
        self,
        session: Callable[[], HttpSession],
        repository: str,
        trees: dict[str, str] | None = None,
    ) -> None:
        self._session = session
        self._repository = repository.rstrip("/")
        self._trees = {PINNED: PINNED_TREE} if trees is None else trees

    async def get(self, version: str, target: Path, *, deadline: float) -> Source:
        """Get one version.

        Args:
            version: `latest`, a commit, or the path of an archive or a folder.
            target: the folder to unpack to; it does not exist.
            deadline: instant on the running loop's clock by which it must be fetched.

        Raises:
            InvalidArgumentError: `version` is none of these.
            NativeError: `no_network`, `not_found`, `wrong_archive` or `wrong_tree`.
            OSError: `target` cannot be written.
        """
        local = None if version == LATEST or _COMMIT.fullmatch(version) else Path(version)
        if local is None:
            ref = "HEAD" if version == LATEST else version
            data = await self._fetch(f"{self._repository}/archive/{ref}.tar.gz", deadline)
            source = await _to_its_end(partial(unpack, BytesIO(data), target))
        else:
            source = await _to_its_end(partial(_from_here, local.expanduser(), target))
        wanted = self._trees.get(version) or self._trees.get(source.commit)
        is_other = local is None and version not in {LATEST, source.commit}
        if is_other or (wanted and wanted != source.tree):
            raise NativeError(
                f"The files are not those of the commit {(source.commit or version)[:12]}.",
                reason=NativeFailure.WRONG_TREE,
                advice="Something between here and the repository changes them: do not run them."
                " Try again from another network.",
            )
        return source

    async def _fetch(self, url: str, deadline: float) -> bytes:
        if not self._repository:
            raise _unfetched("own.source is empty")
        scheme = urlsplit(url).scheme
        for _ in range(_MAX_REDIRECTS):
            loop = asyncio.get_running_loop()
            timeout = min(_HEADERS_TIMEOUT, max(0.0, deadline - loop.time()))
            try:
                async with self._session().open(url, headers=honest(), timeout=timeout) as reply:
                    if reply.status == HTTPStatus.OK:
                        body = await reply.read(max_bytes=MAX_ARCHIVE, deadline=deadline)
                        if body.truncated:
                            raise _unfetched(body.notes[0])
                        return body.data
                    location = reply.headers.get("Location", "")
                    status = reply.status
            except FetchError as exc:
                raise _unfetched(exc.message.rstrip(".")) from exc
            if status == HTTPStatus.NOT_FOUND:
                raise NativeError(
                    "The repository has no such version.",
                    reason=NativeFailure.NOT_FOUND,
                    advice="Name a commit by all its 40 digits, or leave --version out.",
                )
            url = urljoin(url, location)
            is_downgrade = scheme == "https" and urlsplit(url).scheme != "https"
            if not location or is_downgrade:
                raise _unfetched(f"status {status}")
        raise _unfetched("too many redirects")


async def _to_its_end(work: Callable[[], Source]) -> Source:
    """Run work in a thread; who is cancelled waits for it, so that nothing writes afterwards."""
    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        future.exception()  # nobody is told
        raise


def _from_here(path: Path, target: Path) -> Source:
    if path.is_dir():
        return copy(path, target)
    try:
        with path.open("rb") as file:
            return unpack(file, target)
    except FileNotFoundError as exc:
        raise InvalidArgumentError(
            "version",
            f"{str(path)[:200]!r} is neither latest, nor a commit of 40 hexadecimal digits, nor a"
            " file or folder that exists",
        ) from exc


def _unfetched(why: str) -> NativeError:
    return NativeError(
        f"The source of SearXNG cannot be fetched: {why}.",
        reason=NativeFailure.NO_NETWORK,
        advice="Check the network and network.proxy, or fetch the archive elsewhere and name it with"
        " --version PATH.",
    )
