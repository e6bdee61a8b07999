"""What ./bench runs for which name."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import bench  # noqa: E402

NAMED_FIGURES = (
    """store.fdatasync_p50_ms submit.ratio_vs_sqlite submit.p50_ms submit.raw_commit_p50_ms jobs.true_per_s
start.first_instruction_p50_ms sandbox.start_ratio_vs_bwrap sandbox.start_ratio_vs_crun sandbox.start_ratio_vs_podman
build.clean_s build.one_file_s list.page_ms watch.mib_per_1000 server.idle_rss_mib server.restart_s""".split()
)


class Registry(unittest.TestCase):
    def setUp(self):
        self.programs = bench.read_registry((ROOT / "benchmarks" / "registry.txt").read_text())

    def test_every_named_figure_has_exactly_one_program(self):
        for figure in NAMED_FIGURES:
            self.assertEqual(sum(p.wanted([figure]) for p in self.programs), 1, figure)

    def test_a_prefix_chooses_its_programs(self):
        self.assertTrue(all(p.wanted([]) for p in self.programs))
        self.assertEqual(sum(p.wanted(["server"]) for p in self.programs), 2)
        self.assertEqual(sum(p.wanted(["nothing"]) for p in self.programs), 0)

    def test_scripts_of_the_registry_exist(self):
        for program in self.programs:
            script = next((part for part in program.command.split() if part.endswith(".py")), None)
            if script and "heddled" not in program.targets:
                self.assertTrue((ROOT / script).exists(), script)


if __name__ == "__main__":
    unittest.main()
