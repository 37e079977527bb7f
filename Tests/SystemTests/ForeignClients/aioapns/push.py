"""Pushes with an unmodified aioapns from PyPI. Only host and port are set. SSL_CERT_FILE names the authority.

    push.py PORT KEY-FILE DEVICE-TOKEN...     Push to one device after the other; print a JSON line per response.
    push.py PORT KEY-FILE --at-once COUNT     Push to COUNT devices concurrently; print the count of each status.
"""

import asyncio
import collections
import json
import sys

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol


async def main(port, key_file, *what):
    APNsProductionClientProtocol.APNS_SERVER = "localhost"
    APNsProductionClientProtocol.APNS_PORT = int(port)
    with open(key_file) as key:
        client = APNs(key=key.read(), key_id="DEMOKEY001", team_id="DEMOTEAM01", topic="com.example.app")

    async def push(device_token):
        return await client.send_notification(
            NotificationRequest(device_token, {"aps": {"alert": "Hi"}}, push_type=PushType.ALERT)
        )

    if what[0] == "--at-once":
        results = await asyncio.gather(*(push(f"{number:064x}") for number in range(int(what[1]))))
        print(json.dumps(collections.Counter(result.status for result in results)))
        return
    for device_token in what:
        result = await push(device_token)
        print(json.dumps([result.status, result.description, result.timestamp]), flush=True)


asyncio.run(main(*sys.argv[1:]))
