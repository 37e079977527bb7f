"""Pushes with an unmodified kalyke from PyPI. Only host and port are set. SSL_CERT_FILE names the authority.

    push.py PORT KEY-FILE AUTHORITY-FILE DEVICE-TOKEN...     Print a JSON line per response.
"""

import asyncio
import json
import os
import sys

port, key_file, authority_file, *device_tokens = sys.argv[1:]
os.environ["SSL_CERT_FILE"] = authority_file

from kalyke import ApnsClient, ApnsConfig, Payload, PayloadAlert  # noqa: E402
from kalyke.exceptions import ApnsProviderException  # noqa: E402


class Client(ApnsClient):
    _base_url = f"https://localhost:{port}"


async def main():
    client = Client(
        use_sandbox=False, team_id="DEMOTEAM01", auth_key_id="DEMOKEY001", auth_key_filepath=key_file
    )
    for device_token in device_tokens:
        try:
            await client.send_message(
                device_token=device_token, payload=Payload(alert=PayloadAlert(title="Hi")),
                apns_config=ApnsConfig(topic="com.example.app"),
            )
            print(json.dumps([200, None]), flush=True)
        except ApnsProviderException as error:
            print(json.dumps([None, type(error).__name__]), flush=True)


asyncio.run(main())
