#!/usr/bin/env python3
"""Vendors that take messages as their documentation says, and refuse what it forbids. Standard library only.

    server.py --log FILE --port-file FILE

Listens on a free port of 127.0.0.1. Each vendor stands under a path of its own: http://127.0.0.1:PORT/NAME. Each request
becomes one line of FILE before it is answered: {"vendor", "accepted", "why", "id", "status", "taken"}; "taken" are the ids of
our messages that were accepted, where the vendor is told them. A request with NO-ANSWER in its body is taken and never answered;
one with TOO-MANY-x is answered with 429 once for each x.
"""

import argparse
import http.server
import json
import os
import re
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from common import Refused, Request  # noqa: E402
from chat import CHAT  # noqa: E402
from korean import KOREAN  # noqa: E402
from mail import MAIL  # noqa: E402
from oauth import OAUTH  # noqa: E402
from sms import SMS  # noqa: E402

VENDORS = {**CHAT, **SMS, **MAIL, **KOREAN, **OAUTH}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log_lock = threading.Lock()
    log_path = None
    held = set()

    def log_message(self, *args):
        pass

    def note(self, **entry):
        with self.log_lock, open(self.log_path, "a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")
            log.flush()

    def too_many(self, request):
        """Whether this is the first request with that word."""
        word = re.search(rb"TOO-MANY-\w+", request.body)
        with self.log_lock:
            first = word is not None and word[0] not in self.held
            if first:
                self.held.add(word[0])
        return first

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        name = self.path.split("/")[1].split("?")[0]
        request = Request(self.command, self.path, name, self.headers, self.rfile.read(length))
        vendor = VENDORS.get(name)
        entry = {"vendor": name, "accepted": True, "why": "", "id": "", "path": self.path.split("?")[0]}
        if vendor is None:
            status, headers, body = 404, {}, "no such vendor"
            entry.update(accepted=False, why="no such vendor")
        else:
            try:
                if self.too_many(request):
                    raise Refused("too many requests", 429, "", {"Retry-After": "1"})
                status, headers, body, entry["id"] = vendor.handle(request)
                entry["accepted"] = entry["id"] != ""
            except Refused as refusal:
                status, headers, body = refusal.status, refusal.headers, refusal.body
                entry.update(accepted=False, why=refusal.why)
        entry.update(status=status, taken=request.taken)
        self.note(**entry)
        if b"NO-ANSWER" in request.body:  # taken, and then the line is cut
            self.close_connection = True
            return
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(data)))
        for header, value in headers.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", required=True)
    parser.add_argument("--port-file", required=True)
    options = parser.parse_args()
    Handler.log_path = options.log
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with open(options.port_file + ".new", "w", encoding="ascii") as file:
        file.write(str(server.server_address[1]))
    os.rename(options.port_file + ".new", options.port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
