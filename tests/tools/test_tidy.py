"""The house rules of tools/tidy.py on small trees."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import tidy  # noqa: E402

HEADER = "// What it is.\n#pragma once\n"


class Tidy(unittest.TestCase):
    def found(self, files, exceptions=()):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            found, unused = tidy.complaints(root, dict.fromkeys(exceptions, "why"))
            return {rule for rule, problems in found.items() if problems}, unused

    def rules(self, name, text):
        return self.found({name: text, "src/CMakeLists.txt": name.removeprefix("src/")})[0]

    def test_a_tidy_file_passes(self):
        self.assertEqual(self.rules("src/base/a.h", HEADER), set())

    def test_long_files_lines_and_functions(self):
        self.assertEqual(self.rules("src/a.cpp", "int x;\n" * 401), {"file_length"})
        self.assertEqual(self.rules("src/a.cpp", "int x;\n" * 400), set())
        self.assertEqual(self.rules("src/a_test.cpp", "int x;\n" * 600), set())
        self.assertEqual(self.rules("src/a.cpp", "x" * 101 + "\n"), {"line_length"})
        body = "  x();\n"
        self.assertEqual(self.rules("src/a.cpp", "void f() {\n" + body * 59 + "}\n"), {"function_length"})
        self.assertEqual(self.rules("src/a.cpp", "void f() {\n" + body * 58 + "}\n"), set())
        self.assertEqual(self.rules("src/a.cpp", "namespace a {\n" + "int x;\n" * 100 + "}\n"), set())

    def test_banned_calls(self):
        for call in ('std::system("ls");', 'popen("ls", "r");', "strcpy(a, b);", "assert(x);", "rand();"):
            self.assertEqual(self.rules("src/a.cpp", f"void f() {{ {call} }}\n"), {"banned_calls"}, call)
        self.assertEqual(self.rules("src/a.cpp", '// system( here\nauto s = "popen(";\nstatic_assert(1);\n'), set())
        self.assertEqual(self.rules("src/a.cpp", "f.file_system(x); my_assert(y);\n"), set())

    def test_tests_do_not_sleep(self):
        self.assertEqual(self.rules("src/a_test.cpp", "usleep(5);\n"), {"no_sleep_in_tests"})
        self.assertEqual(self.rules("src/a.cpp", "usleep(5);\n"), set())
        self.assertEqual(self.rules("tests/e2e/test_a.py", "time.sleep(1)\n"), {"no_sleep_in_tests"})

    def test_loose_ends_need_an_issue(self):
        self.assertEqual(self.rules("src/a.cpp", "// TODO later\n"), {"loose_ends"})
        self.assertEqual(self.rules("src/a.cpp", "// TODO(#12) later\n"), set())

    def test_paths_of_one_machine(self):
        self.assertEqual(self.rules("src/a.cpp", "// see /" + "work/notes\n"), {"machine_paths"})

    def test_vague_names(self):
        self.assertEqual(self.rules("src/string_utils.cpp", ""), {"names"})
        self.assertEqual(self.rules("src/commons_test.cpp", ""), set())

    def test_headers_say_what_they_are(self):
        self.assertEqual(self.rules("src/a.h", "#pragma once\n"), {"headers"})
        self.assertEqual(self.rules("src/a.h", "// What.\n"), {"headers"})

    def test_dead_files(self):
        self.assertEqual(
            self.found({"src/x/a.cpp": "", "src/x/CMakeLists.txt": "b.cpp aa.cpp"})[0], {"no_dead_files"}
        )
        self.assertEqual(self.found({"src/x/y/a.cpp": "", "src/x/CMakeLists.txt": "y/a.cpp"})[0], set())

    def test_exceptions_work_and_must_be_needed(self):
        key = ("line_length", "src/a.cpp")
        files = {"src/a.cpp": "x" * 101, "src/CMakeLists.txt": "a.cpp"}
        self.assertEqual(self.found(files, [key]), (set(), []))
        self.assertEqual(self.found({**files, "src/a.cpp": ""}, [key]), (set(), [key]))


if __name__ == "__main__":
    unittest.main()
