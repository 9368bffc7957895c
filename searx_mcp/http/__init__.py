"""Network access: address guard, HTTP sessions, bounded bodies.

The only package that imports aiohttp and fake-useragent (except the public doubles in
`searx_mcp.testing` aside).
"""
