"""Pushes with an unmodified pyapns_client from PyPI. Only host, port and authority are set.

    push.py PORT KEY-FILE AUTHORITY-FILE DEVICE-TOKEN...     Print a JSON line per response.
"""

import json
import sys

from pyapns_client import APNSClient, IOSNotification, IOSPayload, IOSPayloadAlert
from pyapns_client.exceptions import APNSException

port, key_file, authority_file, *device_tokens = sys.argv[1:]
APNSClient.BASE_URLS = {APNSClient.MODE_PROD: f"https://localhost:{port}"}
client = APNSClient(
    mode=APNSClient.MODE_PROD, root_cert_path=authority_file, auth_key_path=key_file, auth_key_id="DEMOKEY001",
    team_id="DEMOTEAM01",
)
notification = IOSNotification(payload=IOSPayload(alert=IOSPayloadAlert(title="Hi")), topic="com.example.app")
for device_token in device_tokens:
    try:
        client.push(notification=notification, device_token=device_token)
        print(json.dumps([200, None]), flush=True)
    except APNSException as error:
        print(json.dumps([error.status_code, type(error).__name__.removesuffix("Exception")]), flush=True)
