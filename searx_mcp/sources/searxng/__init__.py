"""One instance: build the request, send it, parse and judge the answer."""
