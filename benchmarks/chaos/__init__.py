"""Clients under fire: real sockets on loopback, thirty instances, nine of them faulty."""
