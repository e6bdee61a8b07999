"""What ./test counts: no output of a failing suite may read as a pass."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import suites  # noqa: E402

DOCTEST = (
    "[doctest] test cases: 12 | {} passed | {} failed | 0 skipped\n"
    "[doctest] assertions: 1 | 1 passed | 0 failed |\n"
)


class Counting(unittest.TestCase):
    def test_doctest(self):
        self.assertEqual(suites.count_cases(DOCTEST.format(12, 0), 0), (12, 0))
        self.assertEqual(suites.count_cases(DOCTEST.format(" 9", " 3"), 1), (9, 3))

    def test_pytest(self):
        self.assertEqual(suites.count_cases("....\n4 passed in 0.12s\n", 0), (4, 0))
        self.assertEqual(suites.count_cases("1 failed, 3 passed, 2 skipped in 61.20s (0:01:01)\n", 1), (3, 1))
        self.assertEqual(suites.count_cases("1 passed, 2 errors in 0.2s\n", 1), (1, 2))

    def test_unittest(self):
        self.assertEqual(suites.count_cases("Ran 5 tests in 0.1s\n\nOK\n", 0), (5, 0))
        self.assertEqual(suites.count_cases("Ran 1 test in 0.1s\n\nOK\n", 0), (1, 0))
        self.assertEqual(
            suites.count_cases("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)\n", 1), (1, 3)
        )

    def test_script(self):
        self.assertEqual(suites.count_cases("text\n\n3 passed, 1 failed\n", 1), (3, 1))

    def test_a_suite_that_ends_badly_after_a_good_count_has_failed(self):
        self.assertEqual(suites.count_cases(DOCTEST.format(12, 0), -11), (12, 1))

    def test_a_crash_without_a_count_is_one_failure(self):
        self.assertEqual(suites.count_cases("Segmentation fault\n", -11), (0, 1))

    def test_a_program_without_counts_is_judged_by_its_exit(self):
        self.assertEqual(suites.count_cases("", 0), (1, 0))

    def test_nothing_ran_is_a_failure(self):
        self.assertEqual(suites.count_cases(DOCTEST.format(0, 0), 0), (0, 1))
        self.assertEqual(suites.count_cases("3 skipped in 0.01s\n", 0), (0, 1))


class Choosing(unittest.TestCase):
    ALL = [
        suites.Suite("base", [], True),
        suites.Suite("store/sqlite", [], True),
        suites.Suite("e2e/test_cli", [], False),
    ]

    def chosen(self, *arguments):
        found, unknown = suites.choose(list(arguments), self.ALL)
        return [s.name for s in found], unknown

    def test_by_name_or_last_part(self):
        self.assertEqual(self.chosen("sqlite", "base"), (["base", "store/sqlite"], []))
        self.assertEqual(self.chosen("e2e/test_cli"), (["e2e/test_cli"], []))

    def test_fast_leaves_slow_suites_out(self):
        self.assertEqual(self.chosen("--fast"), (["base", "store/sqlite"], []))
        self.assertEqual(len(self.chosen()[0]), 3)

    def test_an_unknown_name_is_told(self):
        self.assertEqual(self.chosen("sqlight")[1], ["sqlight"])


if __name__ == "__main__":
    unittest.main()
