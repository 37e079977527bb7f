"""What clients that are built on hyper 0.7 need: the names that Python moved in 3.10, and an authority to trust."""

import collections
import collections.abc

for name in ("Iterable", "Mapping", "MutableMapping", "MutableSet", "Sequence"):
    setattr(collections, name, getattr(collections.abc, name))

import hyper.tls  # noqa: E402


def trust(authority_file):
    hyper.tls.cert_loc = authority_file
