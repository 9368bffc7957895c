"""The edge to the network: address guard, sessions, bounded bodies.

The only package that knows aiohttp and fake-useragent (the public doubles in
`searx_mcp.testing` aside).
"""
