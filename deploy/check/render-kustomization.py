"""Renders a kustomization as kubectl apply --kustomize would: python render-kustomization.py FOLDER

By the library that kubectl itself uses, which Debian has in no package.
"""

import asyncio
import sys

import pykustomize

try:
    print(asyncio.run(pykustomize.build(sys.argv[1])).yaml, end="")
except pykustomize.KustomizeError as error:
    sys.exit(f"{sys.argv[1]}: {error}")
