"""The include rules on good and bad trees."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_includes  # noqa: E402


class IncludeRules(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return check_includes.complaints(root)[1]

    def good(self, name, text):
        self.assertEqual(self.problems({name: text}), [])

    def bad(self, name, text, words):
        problems = self.problems({name: text})
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(words, problems[0])

    def test_every_room_may_see_its_row(self):
        for room, seen in check_includes.MAY_SEE.items():
            for other in seen or ():
                folder = f"{room}/x" if room in check_includes.SPLIT else room
                self.good(f"{folder}/a.cpp", f'#include "{other}/b.h"\n')

    def test_no_room_may_see_what_its_row_does_not_name(self):
        rooms = [r for r in check_includes.MAY_SEE if r != "apps"]
        for room in rooms:
            folder = f"{room}/x" if room in check_includes.SPLIT else room
            for other in rooms:
                seen = check_includes.MAY_SEE[room]
                target = f"{other}/y" if other in check_includes.SPLIT else other
                if other == room or any(s == other or s.startswith(other + "/") for s in seen):
                    continue
                if room.split("/")[0] == other.split("/")[0] and folder == target:
                    continue
                self.bad(f"{folder}/a.cpp", f'#include "{target}/b.h"\n', "may not include")

    def test_control_shows_only_its_ports_to_stores_and_engines(self):
        self.good("store/sqlite/a.cpp", '#include "control/ports/store.h"\n')
        self.bad("store/sqlite/a.cpp", '#include "control/controller.h"\n', "may not include")

    def test_stores_and_engines_do_not_see_each_other(self):
        self.bad("store/sqlite/a.cpp", '#include "store/memory/b.h"\n', "may not include")
        self.bad("engine/slurm/a.cpp", '#include "engine/local/b.h"\n', "may not include")
        self.good("store/sqlite/a_test.cpp", '#include "store/conformance/suite.h"\n')

    def test_nobody_includes_the_programs(self):
        self.bad("cli/a.cpp", '#include "apps/heddle.h"\n', "apps")

    def test_the_command_line_sees_the_wire_format_but_not_the_api(self):
        self.good("cli/a.cpp", '#include "api/wire/workload.h"\n')
        self.bad("cli/a.cpp", '#include "api/routes.h"\n', "may not include")

    def test_libraries_stay_in_cpp_files_of_their_room(self):
        self.good("store/sqlite/a.cpp", "#include <sqlite3.h>\n")
        self.bad("store/sqlite/a.h", "#include <sqlite3.h>\n", ".cpp files only")
        self.bad("control/a.cpp", "#include <sqlite3.h>\n", "may not include")
        self.bad("api/a.cpp", "#include <boost/beast.hpp>\n", "may not include")

    def test_the_core_has_no_clock_no_thread_no_float(self):
        for header in ("chrono", "thread", "mutex", "unordered_map", "unistd.h", "sys/types.h"):
            self.bad("core/a.cpp", f"#include <{header}>\n", "core may not include")
        for word in ("double x;", "float x;", "std::unordered_map<int, int> x;", "std::thread t;"):
            self.bad("core/schedule/a.cpp", word + "\n", "core may not use")

    def test_words_in_comments_and_texts_are_free(self):
        self.good("core/a.cpp", 'int x = 1;  // never a double\nconst char* t = "float";\n')

    def test_tests_of_the_core_may_use_what_they_need(self):
        self.good("core/a_test.cpp", "#include <doctest/doctest.h>\n#include <thread>\ndouble x;\n")

    def test_a_new_folder_needs_a_row(self):
        self.bad("magic/a.cpp", "int x;\n", "has no row")

    def test_banned_headers(self):
        self.bad("api/a.cpp", "#include <regex>\n", "banned")


if __name__ == "__main__":
    unittest.main()
