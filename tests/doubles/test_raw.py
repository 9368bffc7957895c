"""The server that says what it is told."""

import asyncio

from tests.doubles.raw import RawServer


async def exchange(server: RawServer, *requests: bytes) -> bytes:
    """Send requests over one connection and give all that comes until it is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for request in requests:
        writer.write(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % request)
    try:
        return await reader.read()
    finally:
        writer.close()


async def closing(connection):
    await connection.send(b"the end")


async def test_bytes_are_played_as_they_are_and_the_connection_stays():
    async with RawServer({"/a?b": b"one", "/c": closing}) as server:
        assert await exchange(server, b"/a?b", b"/a?b", b"/c") == b"oneonethe end"
        assert [head.split()[1] for head in server.heads] == ["/a?b", "/a?b", "/c"]
        assert server.connections == 1
        await server.until_idle()


async def test_a_script_can_hang_until_the_client_leaves():
    async with RawServer({"/": lambda connection: connection.hang()}) as server:
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await server.until_connected()
        assert server.open_connections == 1
        writer.close()
        async with asyncio.timeout(10):
            await server.until_idle()
