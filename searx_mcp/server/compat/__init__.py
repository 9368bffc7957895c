"""Routes compatible with other search services, so that their clients can search here after a change of address."""
