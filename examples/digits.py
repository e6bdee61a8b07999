#!/usr/bin/python3
"""Learns to read handwritten digits: softmax regression on 8 x 8 images, standard library only.

    python3 digits.py --epochs 10 --checkpoint checkpoints

Prints the loss after each epoch. With --checkpoint it writes what it has learned to that folder after each
epoch and goes on from there when started again; told to stop (SIGTERM) it saves first and ends with 143.
"""

import argparse
import gzip
import json
import math
import os
import pathlib
import random
import signal
import sys
import time

CLASSES, PIXELS = 10, 64
TRAINING_IMAGES = 800  # of the 1,000; the rest tells how well it reads what it has never seen


def load(path):
    """(training, held out): lists of (pixels, digit); pixels are the inked ones only, as (index, 0..1)."""
    images = []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            *values, digit = (int(v) for v in line.split(","))
            images.append(([(i, v / 16.0) for i, v in enumerate(values) if v], digit))
    return images[:TRAINING_IMAGES], images[TRAINING_IMAGES:]


def new_weights():
    """One list a digit: a weight for each pixel, and the bias at the end."""
    return [[0.0] * (PIXELS + 1) for _ in range(CLASSES)]


def probabilities(weights, pixels):
    scores = [sum([row[i] * value for i, value in pixels], row[PIXELS]) for row in weights]
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def gradient_of(weights, images):
    """(gradient, loss), both summed over `images`."""
    gradient, loss = new_weights(), 0.0
    for pixels, digit in images:
        guess = probabilities(weights, pixels)
        loss -= math.log(max(guess[digit], 1e-300))
        guess[digit] -= 1.0
        for row, error in zip(gradient, guess):
            for i, value in pixels:
                row[i] += error * value
            row[PIXELS] += error
    return gradient, loss


def step(weights, gradient, rate):
    for row, change in zip(weights, gradient):
        for i, value in enumerate(change):
            row[i] -= rate * value


def accuracy_percent(weights, images):
    right = 0
    for pixels, digit in images:
        guess = probabilities(weights, pixels)
        right += guess.index(max(guess)) == digit
    return 100.0 * right / len(images)


def batches_of(count, size, epoch, seed):
    """The order of the images in this epoch, cut into batches; the same for everyone who asks."""
    order = list(range(count))
    random.Random(seed * 1_000_003 + epoch).shuffle(order)
    return [order[i : i + size] for i in range(0, count, size)]


class Checkpoint:
    """What was learned, in one file of a folder; the file is always whole."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / "digits.json" if folder else None

    def read(self):
        if self.path is None or not self.path.exists():
            return None
        return json.loads(self.path.read_text())

    def write(self, state):
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".new")
        with unfinished.open("w") as file:
            json.dump(state, file)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(self.path)


class Stop:
    """True once someone asked the program to end."""

    def __init__(self):
        self.asked = False
        signal.signal(signal.SIGTERM, self)

    def __call__(self, *_):
        self.asked = True

    def __bool__(self):
        return self.asked


def say(text):
    print(text, flush=True)


class Alone:
    """One rank, which has nobody to talk to. digits_gang.py has the one with many."""

    rank, ranks = 0, 1

    def share(self, state):
        """What rank 0 was given, on every rank."""
        return state

    def total(self, gradient, loss, stop):
        """Sums over all ranks; when one was asked to stop, all stop."""
        del stop
        return gradient, loss


def train(options, training, held_out, peers):
    """Trains to the last epoch; False when it was asked to stop before. Each rank works on its part of
    every batch; rank 0 saves."""
    stop, checkpoint = Stop(), Checkpoint(options.checkpoint if peers.rank == 0 else "")
    state = peers.share(checkpoint.read())
    resumed = state is not None
    state = state or {"epoch": 0, "batch": 0, "loss": 0.0, "weights": new_weights()}
    if resumed:
        say(f"resumed at epoch {state['epoch'] + 1} from the checkpoint")
    while state["epoch"] < options.epochs:
        started = time.monotonic()
        batches = batches_of(len(training), options.batch, state["epoch"], options.seed)
        for batch in batches[state["batch"] :]:
            gradient, loss = gradient_of(state["weights"], [training[i] for i in batch[peers.rank :: peers.ranks]])
            gradient, loss = peers.total(gradient, loss, stop)
            step(state["weights"], gradient, options.rate / len(batch))
            state["loss"] += loss
            state["batch"] += 1
            if stop:
                checkpoint.write(state)
                say(f"asked to stop: saved at epoch {state['epoch'] + 1}, batch {state['batch']}")
                return False
        right = accuracy_percent(state["weights"], held_out)
        state["epoch"] += 1
        say(
            f"epoch {state['epoch']}/{options.epochs}  loss {state['loss'] / len(training):.6f}  "
            f"reads {right:.1f} %  {time.monotonic() - started:.2f} s"
        )
        state["batch"], state["loss"] = 0, 0.0
        checkpoint.write(state)
        if options.crash_once_after == state["epoch"] and not resumed:
            raise RuntimeError(f"planned crash after epoch {state['epoch']}")
    return True


def parse(arguments, description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", default=str(pathlib.Path(__file__).parent / "data" / "digits.csv.gz"))
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=40, help="images a step")
    parser.add_argument("--rate", type=float, default=0.5, help="how far a step goes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint", default="", help="folder to save to and to go on from")
    parser.add_argument(
        "--crash-once-after",
        type=int,
        default=0,
        metavar="EPOCH",
        help="fail there, unless going on from a checkpoint: shows that retries work",
    )
    options = parser.parse_args(arguments)
    for name in ("epochs", "batch"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be 1 or more, not {getattr(options, name)}")
    return options


def main(arguments):
    options = parse(arguments, __doc__.splitlines()[0])
    devices = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    say(f"devices {devices or 'none'}")
    training, held_out = load(options.data)
    say(f"loaded {len(training)} images, {len(held_out)} held out")
    return 0 if train(options, training, held_out, Alone()) else 143


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
