"""One instance: builds the request, sends it, parses and classifies the answer."""
