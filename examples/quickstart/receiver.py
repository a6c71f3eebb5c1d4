#!/usr/bin/env python3
"""A small HTTP receiver: takes what notifyctl posts and counts it.

    receiver.py LOG      prints its port, then serves on 127.0.0.1 until SIGTERM

Every request becomes a line "message id<TAB>recipient" in LOG *before* it is answered, so that LOG is the truth
about what arrived. GET / answers with the counts.
"""
import http.server
import json
import signal
import sys
import threading


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep connections open
    log = None
    lock = threading.Lock()
    times = {}  # how often each message id arrived

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(body)
        message_id = self.headers["webhook-id"]
        with self.lock:
            self.log.write(f"{message_id}\t{message['to']}\n")
            self.log.flush()
            self.times[message_id] = self.times.get(message_id, 0) + 1
        self.answer(200, b'{"ok":true}\n')

    def do_GET(self):
        with self.lock:
            requests, ids = sum(self.times.values()), len(self.times)
        counts = {"requests": requests, "distinct_ids": ids, "repeated": requests - ids}
        self.answer(200, json.dumps(counts).encode() + b"\n")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "w", encoding="utf-8") as Receiver.log:
        with Server(("127.0.0.1", 0), Receiver) as server:
            signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
            print(server.server_address[1], flush=True)
            server.serve_forever()


if __name__ == "__main__":
    main()
