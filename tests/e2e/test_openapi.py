"""The contract in openapi/heddle.yaml against the real server: what is generated from it is answered as it says."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES_EACH = 6  # as many as end within a minute
WITHIN_S = 240
# Not asked: what is left out by choice, with its reason.
LEFT_OUT = {
    # `team` is right in form and names no team, a limit is right in form and above what the server has.
    "positive_data_acceptance": "whether a well-formed request is taken depends on what is there",
}


def test_generated_requests_are_answered_as_the_contract_says(box, tmp_path):
    box.admin.post("/v1/users", {"name": "contract", "admin": True})
    token = box.admin.post("/v1/tokens", {"name": "contract", "user": "contract"})["secret"]
    work = box.ana.submit(["true"])
    box.ana.wait_end(work)
    config = tmp_path / "schemathesis.toml"
    config.write_text(
        f'[auth.openapi.bearer]\nbearer = "{token}"\n'
        # So that more than 404 is seen.
        f'[parameters]\n"path.workload_id" = "{work}"\n'
        # 428 is how HTTP says that If-Match is missing.
        "[checks.missing_required_header]\nexpected-statuses = [400, 401, 403, 428]\n"
    )
    done = subprocess.run(
        [
            str(pathlib.Path(sys.executable).parent / "schemathesis"),
            "--config-file",
            str(config),
            "run",
            str(ROOT / "openapi" / "heddle.yaml"),
            "--url",
            box.address,
            "--checks",
            "all",
            "--exclude-checks",
            ",".join(LEFT_OUT),
            # It would find its own token in the list and revoke it; the tests of the API do this.
            "--exclude-operation-id",
            "revokeToken",
            "--max-examples",
            str(EXAMPLES_EACH),
            "--seed",
            "20260602",
            "--request-timeout",
            "10",
            "--generation-database",
            "none",
            "--continue-on-failure",
            "--no-shrink",
            "--no-color",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=WITHIN_S,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stdout[-12_000:] + done.stderr[-2_000:]
    counted = re.search(r"(\d+) generated, (\d+) passed", done.stdout)
    assert counted and int(counted[2]) > 1000, done.stdout[-3_000:]
