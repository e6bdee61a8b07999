#!/usr/bin/python3
"""server.idle_rss_mib and watch.mib_per_1000: memory of a fresh server, and what 1,000 watchers add."""

import resource
import socket
import time

import box

WATCHERS = 1000


def watch(server):
    """An open event stream; returns once its head has come."""
    link = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    link.sendall(
        f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
        f"Accept: text/event-stream\r\n\r\n".encode()
    )
    head = b""
    while b"\r\n\r\n" not in head:
        part = link.recv(4096)
        if not part:
            raise RuntimeError(f"the server closed a watcher: {head[:300]!r}")
        head += part
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"a watcher was refused: {head[:300]!r}")
    return link


def wake_all(server, links):
    """One change that every watcher hears of, so that buffers have been used."""
    server.ask("POST", "/v1/teams", {"name": f"seen-{time.monotonic_ns()}"})
    for link in links:
        if not link.recv(65536):
            raise RuntimeError("a watcher was closed")


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with box.Box() as server:
        server.ask("GET", "/v1/workloads")
        idle = server.server.memory_kib() / 1024
        box.figure("server.idle_rss_mib", idle, "MiB", goal=60)
        if not box.wanted("watch.mib_per_1000"):
            return
        links = [watch(server) for _ in range(WATCHERS)]
        wake_all(server, links)
        more = server.server.memory_kib() / 1024 - idle
        box.figure("watch.mib_per_1000", more, "MiB", watchers=len(links), goal=15)
        for link in links:
            link.close()


if __name__ == "__main__":
    main()
