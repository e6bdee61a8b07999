"""The command line against the real heddled, on simulated GPUs, with real jobs."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

import pytest
from heddle_program import BIN, Reader, Terminal

PYTHON = "/usr/bin/python3"
WITHIN_S = 60


class Server:
    def __init__(self, folder, simulate):
        self.folder, self.simulate, self.process, self.listen = pathlib.Path(folder), simulate, None, "127.0.0.1:0"

    def start(self):
        address = self.folder / "state/address"
        address.unlink(missing_ok=True)
        words = ["--state", self.folder / "state", "--listen", self.listen, "--simulate", self.simulate]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([BIN / "heddled", *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: address.exists() and address.read_text().strip(), "heddled answers", self.process)
        self.url = address.read_text().strip()
        self.listen = self.url.removeprefix("http://")
        return self

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(WITHIN_S)


def until(reached, what, process=None):
    """Waits for something that makes no event of its own to wait for."""
    deadline = time.monotonic() + WITHIN_S
    pause = threading.Event()
    while not reached():
        assert process is None or process.poll() is None, f"{what}: the process ended"
        assert time.monotonic() < deadline, f"not within {WITHIN_S} s: {what}"
        pause.wait(0.02)


@pytest.fixture(scope="module")
def house():
    """A server with teams vision (limit 4) and language, and a member of each."""
    with tempfile.TemporaryDirectory(prefix="heddle-") as folder:
        folder = pathlib.Path(folder)
        server = Server(folder, "2x4:H100-80GB").start()
        admin = Reader(folder, server.url, folder / "state/admin.token")
        pool = admin.run("pools", "-o", "name").stdout.strip()
        readers = {"admin": admin, "server": server, "pool": pool}
        for team, user, limit in (("vision", "ana", "4"), ("language", "chidi", "none")):
            assert admin.run("teams", "create", team).returncode == 0
            assert admin.run("guarantee", "set", team, "2", "--pool", pool, "--limit", limit).returncode == 0
            assert admin.run("users", "create", user).returncode == 0
            assert admin.run("members", "add", team, user).returncode == 0
            made = admin.run("tokens", "create", "laptop", "--user", user, "--for", "1d")
            home = folder / user
            home.mkdir()
            (home / "token").write_text(made.stdout)
            readers[user] = Reader(home, server.url, home / "token")
        try:
            yield readers
        finally:
            for work in json.loads(admin.run("ps", "-o", "json").stdout or "{}").get("items", []):
                admin.run("cancel", work["id"])
                admin.run("wait", work["id"], "--timeout", "30s")
            server.stop()


@pytest.fixture
def ana(house):
    return house["ana"]


def test_run_gives_output_and_exit_code_of_the_job(ana):
    script = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"
    done = ana.run("run", "--gpu", "0.25", "--name", "seven", "--", PYTHON, "-c", script)
    assert done.returncode == 7
    assert done.stdout == "out\n"
    assert "err\n" in done.stderr and "exit 7" in done.stderr
    assert "price    0.25 EUR per hour" in done.stderr and "team     vision (from: login)" in done.stderr
    assert ana.run("logs", "seven").stdout == "out\n"
    assert ana.run("wait", "seven", "--exit-code").returncode == 7
    assert ana.run("wait", "seven").returncode == 1
    assert "failed, exit 7" in ana.run("show", "seven").stdout
    assert "charged" in ana.run("receipt", "seven").stdout


def test_a_signal_and_a_bad_command_have_their_own_codes(ana):
    assert ana.run("run", "--gpu", "0.1", "--", PYTHON, "-c", "import os; os.kill(os.getpid(), 9)").returncode == 137
    assert ana.run("run", "--gpu", "0.1", "--", "/no/such/program").returncode == 202


def test_quiet_prints_what_a_program_needs(ana):
    done = ana.run("run", "--gpu", "0.1", "--detach", "-q", "--", PYTHON, "-c", "print(1)")
    assert done.returncode == 0 and done.stdout.startswith("wl_") and done.stderr == ""
    work = done.stdout.strip()
    assert ana.run("wait", work, "-q").returncode == 0
    assert ana.run("run", "--gpu", "0.1", "-q", "--", PYTHON, "-c", "print('kept')").stdout == "kept\n"


def test_replicas_are_told_apart_and_know_their_rank(ana):
    script = "import os; print('rank', os.environ['RANK'], 'of', os.environ['WORLD_SIZE'])"
    done = ana.run("run", "--nodes", "2", "--gpus", "1", "--", PYTHON, "-c", script)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["[0] rank 0 of 2", "[1] rank 1 of 2"]


def test_local_files_and_variables_come_along(ana):
    (ana.home / "hello.py").write_text("import os; print('hello', os.environ['WHO'])\n")
    files = ("--file", "hello.py:d/hello.py", "--env", "WHO=ana")
    done = ana.run("run", "--gpu", "0.1", *files, "--", PYTHON, "d/hello.py")
    assert (done.returncode, done.stdout) == (0, "hello ana\n")


def test_what_waits_says_why_and_starts_when_there_is_room(house):
    ana = house["ana"]
    first = ana.run("run", "--gpus", "4", "--name", "first", "--detach", "--", PYTHON, "-c", "input()", "-q")
    assert first.returncode == 0
    wait = "import signal; signal.pause()"
    assert ana.run("wait", "first", "--timeout", "30s").returncode in (0, 1)
    blocker = ana.run("run", "--gpus", "4", "--name", "blocker", "--detach", "--", PYTHON, "-c", wait)
    assert blocker.returncode == 0
    assert ana.run("wait", "blocker", "--for", "started", "--timeout", "30s").returncode == 0
    follow = ana.start("run", "--gpus", "2", "--name", "patient", "--", PYTHON, "-c", "print('ran')")
    told = b""
    while b"waiting" not in told or b"limit" not in told:
        piece = follow.stderr.read1()
        assert piece, told
        told += piece
    why = json.loads(ana.run("why", "patient", "-o", "json").stdout)
    assert why["reasons"][0]["code"] == "team_limit"
    assert "[team_limit]" in ana.run("why", "patient").stdout
    assert "team limit" in ana.run("ps").stdout
    assert ana.run("wait", "patient", "--for", "started", "--timeout", "200ms").returncode == 8
    assert ana.run("cancel", "blocker").returncode == 0
    out, _ = follow.communicate(timeout=WITHIN_S)
    assert (follow.returncode, out) == (0, b"ran\n")


def test_a_request_that_can_never_start_is_refused_with_the_flag(ana):
    done = ana.run("run", "--gpus", "5", "--", "x")
    assert done.returncode == 206 and "No pool is large enough" in done.stderr
    asks = ("run", "--nodes", "2", "--gpus", "3")
    done = ana.run(*asks, "--", "x")
    assert done.returncode == 206
    assert "limit" in done.stderr and "request rq_" in done.stderr
    assert ana.run(*asks, "--dry-run", "--", "x").returncode == 1
    problem = ana.run(*asks, "-o", "json", "--", "x")
    assert json.loads(problem.stderr)["code"] == "over_limit" and problem.stdout == ""


@pytest.mark.parametrize(
    "words, code, said",
    [
        (("run", "--gpus", "4.5", "--", "x"), 202, "--gpus 4.5 is not a whole number"),
        (("run", "--gpu", "1.5", "--", "x"), 202, "--gpu 1.5 is not a part"),
        (("run", "--gpu-memory", "20", "--", "x"), 202, "unit"),
        (("run", "--time", "90", "--", "x"), 202, "unit"),
        (("run", "--name", "No Name", "--", "x"), 202, "--name"),
        (("run", "--team", "nobody", "--", "x"), 203, "--team, given nobody"),
        (("run", "x"), 202, "behind `--`"),
        (("show", "nothing"), 3, "no workload 'nothing'"),
        (("logs", "wl_1"), 3, ""),
        (("nodes", "drain", "sim-1"), 5, ""),
        (("audit",), 5, ""),
        (("ps", "--state", "dreaming"), 2, "state"),
    ],
)
def test_a_refusal_has_its_code_and_says_what_was_wrong(ana, words, code, said):
    done = ana.run(*words)
    assert done.returncode == code, done.stderr
    assert said in done.stderr and done.stdout == ""
    assert done.stderr.count("\n") <= 7


def test_work_of_another_team_is_not_there(house):
    ana, chidi = house["ana"], house["chidi"]
    asks = ("--gpu", "0.1", "--name", "secret", "--detach", "-q")
    work = chidi.run("run", *asks, "--", PYTHON, "-c", "1").stdout.strip()
    assert work.startswith("wl_")
    for words in (("show", work), ("logs", work), ("cancel", work), ("show", "language/secret")):
        assert ana.run(*words).returncode == 3
    assert "secret" not in ana.run("ps", "--all").stdout


def test_a_job_file_is_submitted_and_its_faults_have_lines(ana):
    (ana.home / "train.py").write_text("print('trained')\n")
    good = ana.home / "job.yaml"
    good.write_text(
        f"name: from-file\ncommand: [{PYTHON}, train.py]\nresources: {{gpu: 0.1}}\n"
        "files:\n- {path: train.py, from: train.py}\n"
    )
    work = json.loads(ana.run("submit", good, "-o", "json", cwd="/").stdout)
    assert work["name"] == "from-file"
    assert ana.run("wait", work["id"]).returncode == 0
    assert ana.run("logs", work["id"]).stdout == "trained\n"
    bad = ana.home / "bad.yaml"
    bad.write_text("name: x\ncommand: [x]\nresources:\n  gpsu: 4\n")
    done = ana.run("submit", bad)
    assert done.returncode == 2 and "bad.yaml line 4: 'gpsu' is not a field here. Did you mean 'gpus'?" in done.stderr
    bad.write_text("name: x\ncommand: [x]\nresources:\n  gpus: 4.5\n")
    done = ana.run("submit", bad)
    assert done.returncode == 2 and "bad.yaml line 4" in done.stderr


def test_ctrl_c_detaches_and_the_work_runs_on(ana):
    script = "import signal; print('up', flush=True); signal.pause()"
    terminal = Terminal(ana, "run", "--gpu", "0.1", "--name", "goes-on", "--yes", "--", PYTHON, "-c", script)
    terminal.until("up\r\n")
    terminal.type("\x03")
    terminal.until("d detach (default)")
    terminal.type("d\n")
    assert terminal.end() == 130
    assert b"Back with: heddle logs -f goes-on" in terminal.recorded
    assert json.loads(ana.run("show", "goes-on", "-o", "json").stdout)["state"] == "running"
    assert ana.run("cancel", "goes-on").returncode == 0
    assert ana.run("wait", "goes-on", "--exit-code").returncode == 130


def test_ctrl_c_can_cancel_and_a_second_one_detaches(ana):
    script = "import signal; print('up', flush=True); signal.pause()"
    for name, keys, code in (("ends", "c\n", 130), ("stays", "\x03", 130)):
        terminal = Terminal(ana, "run", "--gpu", "0.1", "--name", name, "--yes", "--", PYTHON, "-c", script)
        terminal.until("up\r\n")
        terminal.type("\x03")
        terminal.until("c cancel")
        terminal.type(keys)
        assert terminal.end() == code
        state = json.loads(ana.run("show", name, "-o", "json").stdout)["state"]
        assert state == ("cancelled" if name == "ends" else "running")
        ana.run("cancel", name)


def test_ctrl_c_without_a_terminal_leaves_the_work_alone(ana):
    script = "import signal; print('up', flush=True); signal.pause()"
    run = ana.start("run", "--gpu", "0.1", "--name", "alone", "--", PYTHON, "-c", script)
    assert run.stdout.readline() == b"up\n"
    run.send_signal(signal.SIGINT)
    assert run.wait(WITHIN_S) == 130
    assert json.loads(ana.run("show", "alone", "-o", "json").stdout)["state"] == "running"
    ana.run("cancel", "alone")


def test_escapes_in_a_log_do_not_reach_the_terminal(ana):
    script = r"print('\x1b]52;c;eA==\x07\x1b[2J\x1b[31mred\x1b[0m\rover')"
    ana.run("run", "--gpu", "0.1", "--name", "loud", "--", PYTHON, "-c", script)
    terminal = Terminal(ana, "logs", "loud")
    assert terminal.end() == 0
    assert b"\x1b[31mred\x1b[0m" in terminal.recorded
    assert b"\x1b]52" not in terminal.recorded and b"\x1b[2J" not in terminal.recorded
    assert b"\r\nover\x1b" not in terminal.recorded.replace(b"\x1b[0m", b"") and b"\rover" not in terminal.recorded


def test_logs_follow_over_a_restart_of_the_server_without_a_gap(house):
    ana, server = house["ana"], house["server"]
    script = "import time\nfor i in range(2000):\n print(i, flush=True)\n time.sleep(0.005)"
    work = ana.run("run", "--gpu", "0.1", "--detach", "-q", "--", PYTHON, "-c", script).stdout.strip()
    follow = ana.start("logs", "-f", work)
    lines = [follow.stdout.readline() for _ in range(50)]
    server.stop()
    server.start()
    out, err = follow.communicate(timeout=WITHIN_S)
    assert b"connection lost, trying again" in err
    assert b"".join(lines) + out == b"".join(b"%d\n" % i for i in range(2000))
    assert follow.returncode == 0


def test_a_followed_view_outlives_a_restart_of_the_server(house):
    ana, server = house["ana"], house["server"]
    follow = ana.start("ps", "-f")
    assert follow.stdout.readline()
    server.stop()
    assert b"connection lost, trying again" in follow.stderr.readline()
    assert ana.run("ps").returncode == 9  # several tries later it still follows
    assert follow.poll() is None
    server.start()
    name = "seen-again"
    work = ana.run("run", "--gpu", "0.1", "--detach", "--name", name, "-q", "--", "sleep", "60").stdout.strip()
    while name.encode() not in follow.stdout.readline():
        pass
    follow.send_signal(signal.SIGINT)
    assert follow.wait(WITHIN_S) == 0
    ana.run("cancel", work, "--yes")


def test_the_log_of_a_run_that_never_was_is_refused(ana):
    done = ana.run("run", "--gpu", "0.1", "--name", "one-run", "-q", "--", PYTHON, "-c", "1")
    assert done.returncode == 0
    refused = ana.run("logs", "one-run", "--attempt", "9")
    assert refused.returncode == 2
    assert "at most 1" in refused.stderr


def test_events_follow_what_happens(ana):
    follow = ana.start("events", "-f", "-o", "jsonl")
    until_ready = ana.run("status")  # the stream is asked for first; what follows it is seen
    assert until_ready.returncode == 0
    seen = []
    while "succeeded" not in seen:
        ana.run("run", "--gpu", "0.1", "-q", "--", PYTHON, "-c", "1")
        while not seen or seen[-1] not in ("succeeded",):
            seen.append(json.loads(follow.stdout.readline())["what"])
    follow.send_signal(signal.SIGINT)
    assert follow.wait(WITHIN_S) == 0


def test_tables_fit_80_columns(house):
    admin = house["admin"]
    screens = ("status", "ps --all", "nodes", "nodes show sim-1", "pools", "sites", "teams", "users", "audit", "tokens")
    for words in screens:
        done = admin.run(*words.split(), COLUMNS="80")
        assert done.returncode == 0, done.stderr
        lines = [line for line in done.stdout.splitlines() if not line.startswith(("note", " note"))]
        assert max(map(len, lines)) <= 80, words


def test_every_list_is_the_api_s_own_as_json(house):
    admin = house["admin"]
    for words in ("ps", "nodes", "pools", "sites", "teams", "users", "tokens", "events", "audit", "members vision"):
        answer = json.loads(admin.run(*words.split(), "-o", "json").stdout)
        assert set(answer) == {"items", "next_cursor"}, words
        lines = admin.run(*words.split(), "-o", "jsonl").stdout.splitlines()
        assert words in ("ps", "events", "audit") or len(lines) == len(answer["items"])


def test_completion_asks_the_server_for_names(house):
    assert house["admin"].run("__complete", "--", "members", "vi").stdout == "vision\n"
    assert house["admin"].run("__complete", "--", "nodes", "show", "sim-").stdout == "sim-1\nsim-2\n"
    assert house["admin"].run("__complete", "--", "submit", "x").stdout == ":files\n"


def test_shares_are_changed_as_a_whole_or_not_at_all(house):
    admin, pool = house["admin"], house["pool"]
    dry = admin.run("limit", "set", "language", "6", "--pool", pool, "--dry-run")
    assert "Would change the limit of language" in dry.stdout
    assert admin.run("limit", "set", "language", "6.5", "--pool", pool).returncode == 0
    share = json.loads(admin.run("shares", "language", "-o", "json").stdout)["items"][0]
    assert (share["limit_gpu_milli"], share["guarantee_gpu_milli"]) == (6500, 2000)
    assert admin.run("limit", "set", "language", "none", "--pool", pool).returncode == 0
    assert admin.run("guarantee", "set", "language", "99999", "--pool", pool).returncode == 6


def test_a_node_is_drained_and_resumed(house):
    admin = house["admin"]
    assert "draining" in admin.run("nodes", "drain", "sim-2").stdout
    assert "draining" in admin.run("nodes").stdout
    assert "ready" in admin.run("nodes", "resume", "sim-2").stdout


def test_a_revoked_token_needs_a_login(house):
    admin = house["admin"]
    made = json.loads(admin.run("tokens", "create", "short", "-o", "json").stdout)
    file = house["server"].folder / "short"
    file.write_text(made["secret"])
    os.chmod(file, 0o600)
    short = Reader(admin.home, house["server"].url, file)
    assert short.run("whoami").returncode == 0
    assert admin.run("tokens", "revoke", made["id"]).returncode == 0
    done = short.run("whoami")
    assert done.returncode == 4 and "heddle login" in done.stderr
    assert "does not take the token of HEDDLE_TOKEN_FILE" in done.stderr


def test_help_works_whatever_is_set_and_a_missing_token_file_says_so(house):
    lost = Reader(house["admin"].home, house["server"].url, house["server"].folder / "no-such-file")
    assert lost.run("help", "exit-codes").stdout.startswith("Exit codes")
    assert lost.run("version").returncode == 0
    done = lost.run("ps")
    assert done.returncode == 2 and "HEDDLE_TOKEN_FILE" in done.stderr and "next:" in done.stderr


def test_an_answer_that_could_not_be_written_is_an_error(ana):
    with open("/dev/full", "w") as full:
        words = [str(BIN / "heddle"), "pools"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, env=ana.environment, timeout=WITHIN_S)
    assert done.returncode == 9 and b"could not be written" in done.stderr


def test_the_name_in_the_plan_is_the_name_it_gets(ana):
    done = ana.run("run", "--gpu", "0.1", "--", PYTHON, "-c", "print(1)")
    planned = done.stderr.split("name ", 1)[1].split()[0]
    assert f"{planned} (wl_" in done.stderr


def test_the_only_team_need_not_be_named(ana):
    assert ana.run("shares").returncode == 0
    assert "vision" in ana.run("teams", "show").stdout


def test_of_several_jobs_none_is_submitted_if_one_would_be_refused(ana):
    jobs = "name: fine\ncommand: [ls]\n---\nname: not fine\ncommand: [ls]\n"
    done = ana.run("submit", "-", stdin=jobs)
    assert done.returncode == 2 and "line 4" in done.stderr and done.stdout == ""
    assert ana.run("show", "fine").returncode == 3
