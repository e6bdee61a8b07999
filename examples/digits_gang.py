#!/usr/bin/python3
"""Learns to read digits on several ranks at once; their gradients are summed over TCP after each step.

Heddle sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each replica of a gang. Rank 0 is the hub:
it takes everyone's gradient, adds its own, and sends the sum back, so all ranks keep equal weights.
"""

import array
import hashlib
import json
import os
import socket
import struct
import sys
import time

import digits

CONNECT_WITHIN_S = 60.0


class Peers:
    """The other ranks. Sums are added in the order of the ranks, so all get the same to the last bit."""

    def __init__(self, rank, ranks, address, port):
        self.rank, self.ranks = rank, ranks
        self.bytes_exchanged = 0
        self.last_sum = b""
        self.links = self._accept(address, port) if rank == 0 else [self._connect(address, port)]

    def _accept(self, address, port):
        links = {}
        with socket.create_server((address, port), backlog=self.ranks) as server:
            server.settimeout(CONNECT_WITHIN_S)
            while len(links) < self.ranks - 1:
                link, _ = server.accept()
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                (other,) = struct.unpack("!I", self._read(link, 4))
                links[other] = link
        return [links[other] for other in sorted(links)]

    def _connect(self, address, port):
        deadline = time.monotonic() + CONNECT_WITHIN_S
        while True:
            try:
                link = socket.create_connection((address, port), timeout=CONNECT_WITHIN_S)
                break
            except OSError:  # rank 0 is not there yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.sendall(struct.pack("!I", self.rank))
        return link

    def _read(self, link, size):
        parts = bytearray()
        while len(parts) < size:
            part = link.recv(size - len(parts))
            if not part:
                raise ConnectionError("another rank has gone")
            parts += part
        return bytes(parts)

    def _read_numbers(self, link, count):
        numbers = array.array("d")
        numbers.frombytes(self._read(link, 8 * count))
        self.bytes_exchanged += 8 * count
        return numbers

    def _send(self, link, numbers):
        link.sendall(numbers.tobytes())
        self.bytes_exchanged += 8 * len(numbers)

    def share(self, state):
        if self.rank == 0:
            text = json.dumps(state).encode()
            for link in self.links:
                link.sendall(struct.pack("!I", len(text)) + text)
            return state
        (size,) = struct.unpack("!I", self._read(self.links[0], 4))
        return json.loads(self._read(self.links[0], size))

    def total(self, gradient, loss, stop):
        mine = array.array("d", [value for row in gradient for value in row] + [loss, float(stop.asked)])
        if self.rank == 0:
            for link in self.links:
                mine = array.array("d", map(float.__add__, mine, self._read_numbers(link, len(mine))))
            for link in self.links:
                self._send(link, mine)
        else:
            self._send(self.links[0], mine)
            mine = self._read_numbers(self.links[0], len(mine))
        self.last_sum = mine.tobytes()
        stop.asked = mine[-1] > 0
        width = digits.PIXELS + 1
        return [list(mine[i * width : (i + 1) * width]) for i in range(digits.CLASSES)], mine[-2]


def main(arguments):
    options = digits.parse(arguments, __doc__.splitlines()[0])
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    peers = Peers(rank, ranks, os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    devices = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    digits.say(f"rank {rank} of {ranks} has found the others, devices {devices or 'none'}")
    training, held_out = digits.load(options.data)
    whole = digits.train(options, training, held_out, peers)
    last = hashlib.sha256(peers.last_sum).hexdigest()[:12]
    digits.say(f"rank {rank} exchanged {peers.bytes_exchanged:,} bytes; last sum {last}")
    return 0 if whole else 143


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
