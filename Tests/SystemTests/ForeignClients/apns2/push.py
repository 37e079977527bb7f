"""Pushes with an unmodified apns2 from PyPI or one of its forks. Only host, port and authority are set.

    push.py PORT KEY-FILE AUTHORITY-FILE DEVICE-TOKEN...     Print a JSON line per response.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import old_hyper  # noqa: E402

from apns2.client import APNsClient  # noqa: E402
from apns2.credentials import TokenCredentials  # noqa: E402
from apns2.payload import Payload  # noqa: E402

port, key_file, authority_file, *device_tokens = sys.argv[1:]
old_hyper.trust(authority_file)
APNsClient.LIVE_SERVER = "localhost"
APNsClient.DEFAULT_PORT = int(port)
client = APNsClient(TokenCredentials(key_file, "DEMOKEY001", "DEMOTEAM01"))
for device_token in device_tokens:
    stream = client.send_notification_async(device_token, Payload(alert="Hi"), "com.example.app")
    result = client.get_notification_result(stream)
    if result == "Success":
        print(json.dumps([200, None]), flush=True)
    else:
        print(json.dumps([None, result[0] if isinstance(result, tuple) else result]), flush=True)
