"""The example jobs, run as jobs are: as programs."""

import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
PYTHON = "/usr/bin/python3"
sys.path.insert(0, str(EXAMPLES))
import digits  # noqa: E402


def losses(text):
    return [float(x) for x in re.findall(r"^epoch .* loss ([\d.]+)", text, re.M)]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Digits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_digits(self, *arguments):
        return subprocess.run(
            [PYTHON, str(EXAMPLES / "digits.py"), "--checkpoint", str(self.folder), *arguments],
            capture_output=True,
            text=True,
            timeout=60,
        )

    def test_the_loss_falls_and_it_reads_what_it_never_saw(self):
        done = self.run_digits("--epochs", "6")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = losses(done.stdout)
        self.assertEqual(len(found), 6)
        self.assertEqual(found, sorted(found, reverse=True))
        self.assertGreater(float(re.findall(r"reads ([\d.]+) %", done.stdout)[-1]), 85)

    def test_two_runs_give_the_same_losses(self):
        training, _ = digits.load(EXAMPLES / "data" / "digits.csv.gz")
        first = digits.gradient_of(digits.new_weights(), training[:50])
        self.assertEqual(first, digits.gradient_of(digits.new_weights(), training[:50]))

    def test_a_crash_is_resumed_with_the_same_result_as_one_run(self):
        crashed = self.run_digits("--epochs", "5", "--crash-once-after", "2")
        self.assertEqual(crashed.returncode, 1)
        self.assertIn("planned crash", crashed.stderr)
        resumed = self.run_digits("--epochs", "5", "--crash-once-after", "2")
        self.assertEqual(resumed.returncode, 0)
        self.assertIn("resumed at epoch 3", resumed.stdout)
        (self.folder / "digits.json").unlink()
        whole = self.run_digits("--epochs", "5")
        self.assertEqual(losses(crashed.stdout) + losses(resumed.stdout), losses(whole.stdout))

    def test_told_to_stop_it_saves_and_goes_on_to_the_same_result(self):
        command = [PYTHON, str(EXAMPLES / "digits.py"), "--checkpoint", str(self.folder)]
        with subprocess.Popen(command + ["--epochs", "100000"], stdout=subprocess.PIPE, text=True) as running:
            lines = []
            for line in running.stdout:
                lines.append(line)
                if line.startswith("epoch 2/"):
                    running.send_signal(signal.SIGTERM)
            self.assertEqual(running.wait(30), 143)
        self.assertIn("asked to stop: saved", lines[-1])
        done = len(losses("".join(lines)))
        resumed = self.run_digits("--epochs", str(done + 2))
        (self.folder / "digits.json").unlink()
        whole = self.run_digits("--epochs", str(done + 2))
        self.assertEqual(losses("".join(lines)) + losses(resumed.stdout), losses(whole.stdout))

    def test_a_checkpoint_is_never_seen_half_written(self):
        checkpoint = digits.Checkpoint(str(self.folder))
        checkpoint.write({"epoch": 1})
        self.assertEqual(checkpoint.read(), {"epoch": 1})
        self.assertEqual([p.name for p in self.folder.iterdir()], ["digits.json"])

    def test_bad_arguments_are_told(self):
        done = self.run_digits("--epochs", "0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--epochs must be 1 or more", done.stderr)


class Gang(unittest.TestCase):
    def run_gang(self, ranks, epochs, checkpoint=""):
        port = free_port()
        running = []
        for rank in reversed(range(ranks)):  # rank 0 last: the others wait for it
            running.append(
                subprocess.Popen(
                    [PYTHON, str(EXAMPLES / "digits_gang.py"), "--epochs", str(epochs), "--checkpoint", checkpoint],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    env={
                        "RANK": str(rank),
                        "WORLD_SIZE": str(ranks),
                        "MASTER_ADDR": "127.0.0.1",
                        "MASTER_PORT": str(port),
                    },
                )
            )
        texts = []
        for process in running:
            out, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, errors)
            texts.append(out)
        return texts

    def test_all_ranks_see_the_loss_of_one(self):
        texts = self.run_gang(ranks=3, epochs=3)
        seen = [losses(text) for text in texts]
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])
        alone = subprocess.run(
            [PYTHON, str(EXAMPLES / "digits.py"), "--epochs", "3"], capture_output=True, text=True, timeout=60
        )
        for ours, single in zip(seen[0], losses(alone.stdout), strict=True):
            self.assertAlmostEqual(ours, single, places=5)
        sums = {re.search(r"last sum (\w+)", text)[1] for text in texts}
        self.assertEqual(len(sums), 1)

    def test_all_ranks_resume_from_the_checkpoint_of_rank_0(self):
        with tempfile.TemporaryDirectory() as folder:
            first = losses(self.run_gang(2, 2, folder)[0])
            again = self.run_gang(2, 4, folder)
            for text in again:
                self.assertIn("resumed at epoch 3", text)
            self.assertEqual(first + losses(again[0]), losses(self.run_gang(2, 4)[0]))


if __name__ == "__main__":
    unittest.main()
