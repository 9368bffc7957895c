"""Network access: address guard, HTTP sessions, bounded bodies.

The only package that imports fake-useragent, and, apart from the public doubles in `searx_mcp.testing`,
aiohttp.
"""
