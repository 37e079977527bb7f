"""Prints a kustomization as kubectl apply --kustomize would render it.

Usage: python render-kustomization.py FOLDER

Uses the library of kubectl, for which Debian has no package.
Exit status: 0 on success, 1 if the kustomization is invalid.
"""

import asyncio
import sys

import pykustomize

try:
    print(asyncio.run(pykustomize.build(sys.argv[1])).yaml, end="")
except pykustomize.KustomizeError as error:
    sys.exit(f"{sys.argv[1]}: {error}")
