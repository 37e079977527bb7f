"""Pushes with Python's h2 while the server repeatedly sends GOAWAY.

h2 treats a received GOAWAY as the end of the connection. The open streams are lost, and the program counts them.

    drain.py PORT AUTHORITY-FILE CERTIFICATE-FILE KEY-FILE COUNT     Print the outcomes as a JSON object.
"""

import json
import socket
import ssl
import sys

import h2.config
import h2.connection
import h2.events
import h2.exceptions

port, authority, certificate, key, count = sys.argv[1:]
OPEN_MAX = 50
PAYLOAD = b'{"aps":{"alert":"Hi"}}'
context = ssl.create_default_context(cafile=authority)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["h2"])
counts = {"accepted": 0, "lost": 0, "connections": 0}
left = int(count)


def serve_one_connection():
    """Pushes until the connection is closed."""
    global left
    counts["connections"] += 1
    with socket.create_connection(("localhost", int(port))) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            session = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
            session.initiate_connection()
            connection.sendall(session.data_to_send())
            pending = set()
            settled = False
            while True:
                room = min(OPEN_MAX, session.remote_settings.max_concurrent_streams) if settled else 0
                while left > 0 and len(pending) < room:
                    stream = session.get_next_available_stream_id()
                    session.send_headers(stream, [
                        (":method", "POST"), (":scheme", "https"), (":authority", "localhost"),
                        (":path", f"/3/device/{left:08x}"), ("apns-topic", "com.example.app"),
                    ])
                    session.send_data(stream, PAYLOAD, end_stream=True)
                    pending.add(stream)
                    left -= 1
                connection.sendall(session.data_to_send())
                if left == 0 and not pending:
                    return
                data = connection.recv(65536)
                try:
                    events = session.receive_data(data)
                except h2.exceptions.ProtocolError:
                    # h2 rejects every frame after a GOAWAY.
                    events = [h2.events.ConnectionTerminated()] if data else []
                for event in events:
                    if isinstance(event, h2.events.RemoteSettingsChanged):
                        settled = True
                    if isinstance(event, h2.events.StreamEnded):
                        pending.discard(event.stream_id)
                        counts["accepted"] += 1
                if not data or any(isinstance(event, h2.events.ConnectionTerminated) for event in events):
                    counts["lost"] += len(pending)
                    return


while left > 0:
    serve_one_connection()
print(json.dumps(counts))
