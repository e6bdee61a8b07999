"""Honest work with secrets: files, arguments, environment, memory, listeners; a beat a tenth of a second."""

import json
import os
import select
import socket
import sys
import time

targets = json.load(open("targets.json"))
for folder in ("/work", "/shared", "/tmp", "/dev/shm"):
    with open(folder + "/secret", "w") as file:
        file.write(targets["canary"])
os.mkdir("/shared/checkpoints")
listeners = []
for family, address in ((socket.AF_INET, ("127.0.0.1", targets["port"])), (socket.AF_UNIX, "\0" + targets["abstract"])):
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen()
    listeners.append(listener)
print("secret line", targets["canary"], flush=True)
print("ready", flush=True)
while not os.path.exists("/shared/stop"):
    for listener in select.select(listeners, [], [], 0.1)[0]:
        with listener.accept()[0] as peer:
            peer.send(targets["canary"].encode())
    with open("/shared/beat.new", "w") as file:
        file.write(str(time.time()))
    os.rename("/shared/beat.new", "/shared/beat")
sys.exit(0)
