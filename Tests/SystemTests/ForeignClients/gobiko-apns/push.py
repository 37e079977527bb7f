"""Pushes with an unmodified gobiko.apns from PyPI. Only host, port and authority are set.

    push.py PORT KEY-FILE AUTHORITY-FILE DEVICE-TOKEN...     Print a JSON line per response.
"""

import functools
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import old_hyper  # noqa: E402

from gobiko.apns import APNsClient  # noqa: E402
from gobiko.apns import client as module  # noqa: E402

port, key_file, authority_file, *device_tokens = sys.argv[1:]
old_hyper.trust(authority_file)
module.PRODUCTION_HOST = f"localhost:{port}"
# By default, hyper uses TLS only on port 443.
module.HTTP20Connection = functools.partial(module.HTTP20Connection, secure=True)
client = APNsClient(
    "DEMOTEAM01", "DEMOKEY001", auth_key_filepath=key_file, bundle_id="com.example.app", force_proto="h2"
)
for device_token in device_tokens:
    try:
        client.send_message(device_token, "Hi")
        print(json.dumps([200, None]), flush=True)
    except Exception as error:
        print(json.dumps([None, type(error).__name__]), flush=True)
