"""A validating webhook of somebody else's: allows, takes its time, or fails, as a file says, read at each request.

python tests/e2e/foreign_webhook.py CERTIFICATE KEY PORT FILE
"""

from __future__ import annotations

import json
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main() -> None:
    certificate, key, port, file = sys.argv[1:]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            mode = Path(file).read_text("utf-8").strip()
            if mode == "slow":
                time.sleep(2)
            if mode == "failing":
                self.send_error(500, "out of order")
                return
            answer = {"uid": review["request"]["uid"], "allowed": True}
            body = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": answer}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
