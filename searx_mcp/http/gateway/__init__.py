"""A guarded proxy on loopback, through which a program that dials by itself reaches pages."""
