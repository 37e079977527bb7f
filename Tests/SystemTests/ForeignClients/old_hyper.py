"""Restores names that Python 3.10 removed, and sets the trusted authority, for clients that use hyper 0.7."""

import collections
import collections.abc

for name in ("Iterable", "Mapping", "MutableMapping", "MutableSet", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))

import hyper.tls  # noqa: E402


def trust(authority_file):
    hyper.tls.cert_loc = authority_file
