"""Access over HTTP: authentication, checks of requests, quotas and limits of connections."""
