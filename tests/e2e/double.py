"""A server that misbehaves on purpose. Only for faults that the real heddled will not produce on demand."""

import http.server
import json
import threading


class Double:
    """Answers each request with `script(handler, request_number)`; keeps what was asked."""

    def __init__(self, script):
        self.requests = []
        double = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length).decode()
                double.requests.append((self.command, self.path, dict(self.headers), body))
                script(self, len(double.requests))

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = serve

            def log_message(self, *_):
                pass

            def answer(self, value, status=200, kind="application/json", headers=()):
                body = (value if isinstance(value, str) else json.dumps(value)).encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                for name, text in headers:
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(body)

            def drop(self):
                """Closes the connection in the middle of an answer."""
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "1000")
                self.end_headers()
                self.wfile.write(b'{"items":[')
                self.close_connection = True

            def stream(self, text):
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(text.encode())
                self.wfile.flush()
                self.close_connection = True

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"


def workload(**changes):
    """A Workload of the API, with every field that is required."""
    fields = {
        "id": "wl_1",
        "name": "train",
        "team_id": "tm_1",
        "team_name": "vision",
        "owner_id": "us_1",
        "owner_name": "ana",
        "project": "",
        "kind": "job",
        "class": "training",
        "priority": 0,
        "state": "running",
        "attempt": 1,
        "resources": {
            "devices": 1,
            "gpu_milli_per_device": 1000,
            "gpu_memory_bytes_per_device": 0,
            "cpu_milli": 0,
            "memory_bytes": 0,
        },
        "nodes": 1,
        "procs_per_node": 1,
        "pools": [],
        "pool_id": "pl_1",
        "pool_name": "h100",
        "gpu_milli": 1000,
        "held_gpu_milli": 1000,
        "node_names": ["h1"],
        "command": ["python3", "train.py"],
        "env": {},
        "files": [],
        "time_limit_ms": None,
        "grace_ms": 30000,
        "retries": 0,
        "cancel_requested": False,
        "waiting_since": "2026-06-02T12:00:00.000Z",
        "starting_since": "2026-06-02T12:00:01.000Z",
        "running_since": "2026-06-02T12:00:02.000Z",
        "stopping_since": None,
        "ended_at": None,
        "ends_by": None,
        "end": None,
        "reason": None,
        "cost_micros": 0,
        "currency": "EUR",
        "simulated": True,
        "notes": [],
        "created_at": "2026-06-02T12:00:00.000Z",
        "updated_at": "2026-06-02T12:00:02.000Z",
        "version": 3,
        "can": [],
    }
    return {**fields, **changes}
