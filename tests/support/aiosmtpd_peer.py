"""A mail server by aiosmtpd (Debian: python3-aiosmtpd).  aiosmtpd_peer.py MODE PORT_FILE LOG [CERT KEY]

MODE: taken; rcpt-451 (the first RCPT of each recipient); cut (the connection ends at the final dot, without an answer); slow (250
after two seconds). With CERT and KEY it wants STARTTLS. Each mail whose dot has come is a line of JSON in LOG.
"""

import asyncio
import json
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP

MODE, PORT_FILE, LOG = sys.argv[1:4]
TLS = None
if len(sys.argv) > 4:
    TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    TLS.load_cert_chain(*sys.argv[4:6])


class Handler:
    def __init__(self):
        self.refused = set()

    async def handle_RCPT(self, server, session, envelope, address, options):
        if MODE == "rcpt-451" and address not in self.refused:
            self.refused.add(address)
            return "451 4.7.1 greylisted, come back"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        with open(LOG, "a", encoding="utf-8") as log:
            mail = {"from": envelope.mail_from, "to": envelope.rcpt_tos, "tls": session.ssl is not None,
                    "content": envelope.content.decode("utf-8", "replace")}
            log.write(json.dumps(mail) + "\n")
        if MODE == "cut":
            server.transport.abort()
        if MODE == "slow":
            await asyncio.sleep(2)
        return "250 2.0.0 taken"


async def serve():
    handler = Handler()
    server = await asyncio.get_running_loop().create_server(
        lambda: SMTP(handler, hostname="localhost", tls_context=TLS, require_starttls=TLS is not None), "127.0.0.1", 0)
    with open(PORT_FILE + ".new", "w", encoding="utf-8") as file:
        file.write(str(server.sockets[0].getsockname()[1]))
    os.rename(PORT_FILE + ".new", PORT_FILE)
    await server.serve_forever()


asyncio.run(serve())
