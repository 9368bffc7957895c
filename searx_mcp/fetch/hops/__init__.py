"""The way to one answer: hops, limits of hosts, what an answer means."""
