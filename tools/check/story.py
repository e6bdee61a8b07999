"""The main job: two teams share sixteen simulated GPUs. Every sentence it tells was checked first."""

import fractions
import os
import pathlib
import re
import time

from person import Broken, Person, has_ended

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
END_WITHIN_S = 90.0


def losses(text):
    return [float(x) for x in re.findall(r"epoch \d+/\d+ +loss ([\d.]+)", text)]


def devices_in(text):
    """What the job itself saw: the devices of its first log line that names them."""
    found = re.search(r"devices (GPU\S+)", text)
    return found[1].split(",") if found else []


def number(amount):
    return int(amount)  # large ones come as text


def cost_of(charged_gpu_milli_ms, price_micros_per_gpu_hour):
    """Rounded once, half to even."""
    return round(fractions.Fraction(charged_gpu_milli_ms * price_micros_per_gpu_hour, 1000 * 3_600_000))


class Story:
    def __init__(self, server, tell):
        self.server, self.tell = server, tell
        self.claims = 0
        self.admin = Person("admin", server, server.state / "admin.token")
        self.ana = self.chidi = None
        self.ids = {}
        self.owner = {}

    def claim(self, holds, text):
        """Counts a fact that was checked; Broken when it is none."""
        if not holds:
            raise Broken(f"this should hold, and does not: {text}")
        self.claims += 1

    def run(self):
        for chapter in (
            self.teams,
            self.submit,
            self.killed,
            self.live_logs,
            self.reasons,
            self.privacy,
            self.cancelled,
            self.ends,
            self.shared_device,
            self.gang,
            self.failed,
            self.resumed,
            self.receipts,
        ):
            chapter()

    # --- chapters -------------------------------------------------------------------------------

    def teams(self):
        pools = self.admin.ask("pools")["items"]
        pool = next((p for p in pools if p["devices"] == 16), None)
        self.claim(pool is not None and pool["nodes"] == 2, "one pool of 2 nodes with 16 devices")
        self.claim(pool["simulated"], "the pool is marked as simulated")
        self.pool = pool["name"]
        for team, person, limit in (("vision", "ana", "8"), ("language", "chidi", "none")):
            self.admin.call("teams", "create", team)
            self.admin.call("guarantee", "set", team, "8", "--pool", self.pool)
            self.admin.call("limit", "set", team, limit, "--pool", self.pool)
            self.admin.call("users", "create", person)
            self.admin.call("members", "add", team, person, "--role", "developer")
            token = self.admin.ask("tokens", "create", "check", "--user", person)["secret"]
            file = self.server.folder / f"{person}.token"
            with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
                out.write(token + "\n")
            setattr(self, person, Person(person, self.server, file))
        self.claim(self.ana.ask("whoami")["user"]["name"] == "ana", "ana's token is hers")
        self.tell(
            "teams",
            f"vision (ana) and language (chidi) are guaranteed 8 of the 16 GPUs of pool {self.pool} each; "
            f"vision is limited to 8",
        )

    def put_in(self, person, name, file):
        self.ids[name] = person.submit(EXAMPLES / file)
        self.owner[name] = person

    def submit(self):
        self.put_in(self.ana, "train", "train.yaml")
        self.put_in(self.chidi, "gang", "gang.yaml")
        for i in range(1, 5):
            self.put_in(self.ana, f"quarter {i}", "quarter.yaml")
        self.put_in(self.ana, "endless", "endless.yaml")
        self.put_in(self.chidi, "resumes", "resumes.yaml")
        self.put_in(self.chidi, "fails", "fails.yaml")
        self.put_in(self.chidi, "everything", "everything.yaml")
        self.put_in(self.ana, "above-limit", "above-limit.yaml")
        self.tell(
            "submit",
            "11 jobs from examples/, by ana and chidi with their own tokens: 4 whole GPUs, a gang of 2 x 4, "
            "four quarters, and more than fits",
        )

    def killed(self):
        """A server that is killed is no news to the jobs."""
        self.ana.wait("endless", lambda w: w["state"] == "running", END_WITHIN_S, "running")
        self.server.kill()
        self.server.start()
        self.claim(self.ana.show("endless")["attempt"] == 1, "endless runs on, in its first attempt")
        self.tell("killed", "heddled was killed and started again; the jobs ran on and were taken over")

    def live_logs(self):
        seen_live = False
        lines = []
        with self.ana.follow("train") as following:
            for line in following.stdout:
                lines.append(line)
                if not seen_live and "epoch 1/" in line:
                    seen_live = self.ana.show("train")["state"] == "running"
        text = "".join(lines)
        self.claim(following.returncode == 0, "following a job's log ends when the job ends")
        self.claim(seen_live, "the first loss was read while the job still ran")
        found = losses(text)
        self.claim(len(found) == 30 and found[-1] < found[0] / 2, f"the loss falls: {found[:1]} to {found[-1:]}")
        self.claim(len(set(devices_in(text))) == 4, "train saw four devices")
        self.tell(
            "logs",
            f"train's lines came while it ran: loss {found[0]:.3f} to {found[-1]:.3f} in {len(found)} epochs "
            f"on {len(devices_in(text))} GPUs",
        )

    def reasons(self):
        for person, name, codes in (
            (self.chidi, "everything", ("no_free_devices", "fragmented", "behind_others")),
            (self.ana, "above-limit", ("team_limit",)),
        ):
            why = person.ask("why", self.ids[name])
            self.claim(why["state"] == "waiting" and why["reasons"], f"{name} waits and has a reason")
            self.claim(
                why["reasons"][0]["code"] in codes, f"{name} waits for {codes}, not {why['reasons'][0]['code']}"
            )
            self.tell("why", f"{name} waits: {why['sentence']}")

    def privacy(self):
        self.ana.call("show", self.ids["gang"], exit_code=3)
        self.ana.call("logs", self.ids["gang"], exit_code=3)
        self.chidi.call("cancel", self.ids["endless"], "--yes", exit_code=3)
        theirs = self.chidi.ask("ps", "--all")["items"]
        self.claim(theirs and all(w["team_name"] == "language" for w in theirs), "chidi sees language's work only")
        mine = self.ana.ask("ps", "--all")["items"]
        self.claim(mine and all(w["team_name"] == "vision" for w in mine), "ana sees vision's work only")
        self.tell(
            "privacy", "neither sees the other's jobs: not in lists, not by id, not their logs; nor may cancel them"
        )

    def cancelled(self):
        work = self.ids["endless"]
        deadline = time.monotonic() + END_WITHIN_S
        while not losses(self.ana.logs(work)):
            if time.monotonic() > deadline:
                raise Broken("endless printed no loss")
            time.sleep(0.1)
        self.ana.call("cancel", work, "--yes")
        ended = self.ana.wait(work, has_ended, END_WITHIN_S, "ended")
        self.claim(ended["state"] == "cancelled" and ended["end"]["cause"] == "cancelled", "endless is cancelled")
        self.claim("asked to stop: saved" in self.ana.logs(work), "endless saved its work before it ended")
        self.tell("cancel", "endless was asked to stop, saved what it had learned, and ended as cancelled")

    def ends(self):
        for name, work in self.ids.items():
            self.owner[name].wait(work, has_ended, END_WITHIN_S, "ended")
        for name in ("train", "gang", "everything", "above-limit", "resumes", "quarter 1", "quarter 4"):
            ended = self.owner[name].show(self.ids[name])
            self.claim(ended["state"] == "succeeded", f"{name} succeeded: {ended['state']} {ended['end']}")
            self.claim(ended["attempt"] == (2 if name == "resumes" else 1), f"{name} ran once: {ended['attempt']}")
        waited = number(self.chidi.ask("receipt", self.ids["everything"])["waited_ms"])
        self.tell(
            "queue",
            f"what waited has run, too: everything started after {waited / 1000:.1f} s, once all 16 were free",
        )

    def shared_device(self):
        seen = [devices_in(self.ana.logs(self.ids[f"quarter {i}"])) for i in range(1, 5)]
        self.claim(all(len(s) == 1 for s in seen), f"each quarter saw one device: {seen}")
        self.claim(len({s[0] for s in seen}) == 1, f"the four quarters saw the same device: {seen}")
        train = devices_in(self.ana.logs(self.ids["train"]))
        self.claim(seen[0][0] not in train, "a device is whole or shared, never both")
        self.tell("quarters", f"four jobs of a quarter each shared {seen[0][0]}; nobody held it whole")

    def gang(self):
        texts = [self.chidi.logs(self.ids["gang"], "--replica", rank) for rank in (0, 1)]
        found = [losses(text) for text in texts]
        self.claim(len(found[0]) == 20 and found[0] == found[1], "both ranks print the same 20 losses")
        self.claim(found[0][-1] < found[0][0] / 2, "the gang's loss falls")
        seen = [devices_in(text) for text in texts]
        self.claim(
            len(seen[0]) == len(seen[1]) == 4 and not set(seen[0]) & set(seen[1]), f"four devices a rank: {seen}"
        )
        sums = [re.search(r"exchanged ([\d,]+) bytes; last sum (\w+)", text) for text in texts]
        self.claim(all(sums) and sums[0][2] == sums[1][2], "the last summed gradient is the same on both ranks")
        self.tell(
            "gang",
            f"2 ranks x 4 GPUs exchanged {sums[0][1]} bytes of gradients; same loss on both, "
            f"{found[0][0]:.3f} to {found[0][-1]:.3f}",
        )

    def failed(self):
        ended = self.chidi.show(self.ids["fails"])
        self.claim(ended["state"] == "failed" and ended["end"]["cause"] == "exited", f"fails failed: {ended['end']}")
        self.claim(ended["end"]["exit_code"] == 1, "its exit code is kept")
        text = self.chidi.logs(self.ids["fails"])
        self.claim("No such file or directory: 'no-such-file.csv.gz'" in text, "its log says why")
        self.tell("failed", f"fails ended with exit code 1; its log says: {text.strip().splitlines()[-1]}")

    def resumed(self):
        ended = self.chidi.show(self.ids["resumes"])
        self.claim(ended["attempt"] == 2, f"resumes ran twice: {ended['attempt']}")
        text = self.chidi.logs(self.ids["resumes"])
        self.claim("resumed at epoch 6" in text, "the second run went on from the checkpoint")
        self.claim(len(losses(text)) == 7, "the second run did only what was left")
        self.tell("resumed", "resumes crashed after epoch 5, was started again and went on at epoch 6")

    def receipts(self):
        total = {}
        self.tell("receipts", f"{'job':<12} {'waited':>8} {'ran':>8}  {'GPU-seconds':>11} {'cost':>10}")
        for name, work in self.ids.items():
            receipt = self.owner[name].ask("receipt", work)
            charged, cost = number(receipt["charged_gpu_milli_ms"]), number(receipt["cost_micros"])
            self.claim(receipt["final"], f"the receipt of {name} is final")
            self.claim(
                charged + number(receipt["not_charged_gpu_milli_ms"]) == number(receipt["lease_gpu_milli_ms"]),
                f"charged and not charged of {name} add up to its lease",
            )
            self.claim(
                cost == cost_of(charged, number(receipt["price_micros_per_gpu_hour"])),
                f"{name} costs its use times the price: {receipt}",
            )
            self.claim(charged > 0 and receipt["ran_ms"] > 0, f"{name} was charged for what it ran")
            shown = self.owner[name].show(work)
            if (
                shown["nodes"] == 1 and shown["state"] != "cancelled"
            ):  # else what runs on while it stops is charged, too
                milli = shown["gpu_milli"]
                self.claim(
                    charged == milli * receipt["ran_ms"], f"{name}: {milli} x {receipt['ran_ms']} ms is {charged}"
                )
            total[self.owner[name].name] = total.get(self.owner[name].name, 0) + cost
            self.tell(
                "",
                f"{name:<12} {receipt['waited_ms'] / 1000:>6.1f} s {receipt['ran_ms'] / 1000:>6.1f} s  "
                f"{charged / 1e6:>11,.3f} {cost / 1e6:>6.4f} {receipt['currency']}",
            )
        pool = next(p for p in self.admin.ask("pools")["items"] if p["name"] == self.pool)
        self.claim(pool["used_gpu_milli"] == 0, "in the end all 16 GPUs are free again")
        self.tell(
            "",
            f"vision {total['ana'] / 1e6:.4f} EUR, language {total['chidi'] / 1e6:.4f} EUR; all 16 GPUs are free again",
        )
