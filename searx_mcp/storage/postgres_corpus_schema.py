"""The tables of the corpus on a PostgreSQL server, and how they come to be there."""

from typing import Final

from searx_mcp.errors import StorageUnavailableError
from searx_mcp.storage.corpus_rows import ABOUT
from searx_mcp.storage.postgres import Connection

MAJOR: Final = 1
"""Part of the schema's name: programs of another major have another one."""

# A minor only adds what programs that do not know it can leave alone: tables, indexes, and columns with a default.
# So programs of any minors of a major use one schema at the same time.
MINORS: Final[tuple[tuple[str, ...], ...]] = (
    (
        "CREATE TEXT SEARCH DICTIONARY endings (TEMPLATE = snowball, LANGUAGE = porter)",
        "CREATE SEQUENCE uses",
        """CREATE TABLE namespaces (
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name bytea NOT NULL UNIQUE
        )""",
        f"""CREATE TABLE documents (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            namespace int NOT NULL REFERENCES namespaces ON DELETE CASCADE,
            url bytea NOT NULL, {", ".join(f"{name} bytea NOT NULL" for name in ABOUT)},
            fetched_at float8 NOT NULL, fresh_until float8 NOT NULL,
            pinned_at float8 NOT NULL DEFAULT 0, used bigint NOT NULL DEFAULT nextval('uses'),
            version int NOT NULL, chunks bigint NOT NULL, tokens bigint NOT NULL,
            words bigint NOT NULL, size bigint NOT NULL, body bytea NOT NULL
        )""",
        "ALTER TABLE documents ALTER body SET STORAGE EXTERNAL",  # it is compressed
        "CREATE UNIQUE INDEX documents_by_url ON documents (namespace, sha256(url))",
        "CREATE INDEX documents_by_age ON documents (fetched_at)",
        "CREATE INDEX documents_by_use ON documents (pinned_at, used)",
        """CREATE TABLE chunks (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            document bigint NOT NULL REFERENCES documents ON DELETE CASCADE,
            position int NOT NULL, name bytea NOT NULL, path bytea NOT NULL,
            start bigint NOT NULL, stop bigint NOT NULL, tokens bigint NOT NULL,
            content bytea NOT NULL
        )""",
        "ALTER TABLE chunks ALTER content SET STORAGE EXTERNAL",
        "CREATE INDEX chunks_by_document ON chunks (document, position)",
        "CREATE UNIQUE INDEX chunks_by_name ON chunks (name, document)",
        # Apart from the chunks, since counting and scoring words reads these rows alone; and never out
        # of line, where reading one takes ten times as long.
        """CREATE TABLE chunk_words (
            chunk bigint PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
            length int NOT NULL, words tsvector NOT NULL
        ) WITH (toast_tuple_target = 8160)""",
        "CREATE INDEX chunk_words_by_word ON chunk_words USING gin (words) WITH (fastupdate = off)",
        """CREATE TABLE models (
            id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name bytea NOT NULL UNIQUE, used bigint NOT NULL
        )""",
    ),
    # Earlier schemas have a table `vectors` beside it, of a type of pgvector.
    (
        """CREATE TABLE chunk_vectors (
            chunk bigint NOT NULL REFERENCES chunks ON DELETE CASCADE,
            model int NOT NULL REFERENCES models ON DELETE CASCADE,
            vector bytea NOT NULL, PRIMARY KEY (chunk, model)
        )""",
        "ALTER TABLE chunk_vectors ALTER vector SET STORAGE EXTERNAL",  # it hardly becomes smaller
        "CREATE INDEX chunk_vectors_by_model ON chunk_vectors (model)",
    ),
)

_LOCK: Final = 0x5358_0000
"""Held while a process makes or changes a schema of ours, one at a time on a database."""


async def open_schema(connection: Connection, name: str) -> None:
    """Make the schema what this program knows, unless it is that or more; and use it from now on.

    Args:
        connection: a new one.
        name: of the schema, with its major.

    Raises:
        PostgresError: it cannot be made, or the server lacks something.
        StorageUnavailableError: the database cannot hold it.
    """
    if await _minor(connection, name) < len(MINORS):
        await connection.execute("BEGIN")
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        await _upgrade(connection, name)
        await connection.execute("COMMIT")
    await connection.execute(_search_path(name))


async def _minor(connection: Connection, name: str) -> int:
    """How many minors were applied; 0 if there is no schema."""
    if await connection.fetchval("SELECT to_regclass($1)", f'"{name}".applied') is None:
        return 0
    minor: int = await connection.fetchval(f'SELECT coalesce(max(minor), 0) FROM "{name}".applied')  # noqa: S608 - ours
    return minor


async def _upgrade(connection: Connection, name: str) -> None:
    if await connection.fetchval("SHOW server_encoding") != "UTF8":
        raise StorageUnavailableError(
            "The database of postgres.url is not UTF-8",
            advice="Create one that is: createdb --encoding=UTF8 --template=template0 NAME.",
        )
    await connection.execute(f'CREATE SCHEMA IF NOT EXISTS "{name}"')
    await connection.execute(_search_path(name))
    await connection.execute("CREATE TABLE IF NOT EXISTS applied (minor int PRIMARY KEY)")
    done = await _minor(connection, name)
    for number, statements in enumerate(MINORS[done:], done + 1):
        for statement in statements:
            await connection.execute(statement)
        await connection.execute("INSERT INTO applied VALUES ($1)", number)


def _search_path(name: str) -> str:
    return f'SET search_path = "{name}"'
