#!/usr/bin/python3
"""House rules that a machine can check: sizes, names, banned calls, dead files, loose ends.

  tools/tidy.py           prints what is wrong; exit 1 if anything is
  tools/tidy.py --suite   the same, with a closing line `N passed, N failed`, one case a rule

Where a rule must give way, the line goes into EXCEPTIONS with its reason.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# (rule, file) -> why it may. A test checks that each is still needed.
EXCEPTIONS = {
    ("line_length", "src/control/controller.cpp"): "clang-format puts a lambda so",
    ("function_length", "src/apps/serve.cpp"): "the wiring of the program, read from top to bottom",
    ("file_length", "src/http/server.cpp"): "a second file with the HTTP library costs 15 s of every build",
}

MAX_FILE_LINES = {"code": 400, "test": 600}
MAX_FUNCTION_LINES = 60
MAX_LINE = {".h": 100, ".cpp": 100, ".py": 120, "": 140}

CODE_FOLDERS = ("src", "benchmarks", "fuzz", "tests", "tools", "examples")
CPP = (".h", ".cpp")

BANNED_CALLS = [
    (r"\b(?:std::)?system\s*\(", "system() runs a shell: start the program itself"),
    (r"\bpopen\s*\(", "popen() runs a shell: start the program itself"),
    (r"\b(?:strcpy|strcat|sprintf|vsprintf|gets|alloca)\s*\(", "writes without knowing the room"),
    (r"\b(?:std::)?(?:s?rand|random)\s*\(", "use base/rng.h, or the kernel's random bytes for secrets"),
    (r"\bassert\s*\(", "use HEDDLE_CHECK, which stays on"),
    (r"\busing namespace std\b", "names stay with their owner"),
    (r"\bstd::endl\b", "flushes each line: use '\\n'"),
    (r"\bstd::(?:async|detach)\b|\.detach\s*\(\)", "a thread that nobody joins"),
]
SLEEPS = re.compile(r"\b(?:sleep|usleep|nanosleep|sleep_for|sleep_until|this_thread::yield)\s*\(")
VAGUE_NAMES = re.compile(r"(manager|helper|utils?|common|impl|misc|stuff)(_|$)")
LOOSE_ENDS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))")
MACHINE_PATHS = re.compile(r"(?<![\w.<>{}*)])/(?:work|tmp/w)/")


def is_test(path):
    return (
        bool(re.search(r"(_test|_tests)$", path.stem))
        or path.parts[0] == "tests"
        or path.stem.startswith("test_")
        or "conformance" in path.parts
    )


def without_text(line):
    return re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//")[0]


# Each rule takes (path relative to the root, lines) and yields (line number, what is wrong).


def rule_file_length(path, lines):
    most = MAX_FILE_LINES["test" if is_test(path) else "code"]
    if path.suffix in CPP + (".py",) and len(lines) > most:
        yield len(lines), f"{len(lines)} lines, at most {most}: split it by what it does"


def rule_line_length(path, lines):
    most = MAX_LINE.get(path.suffix, MAX_LINE[""])
    for number, line in enumerate(lines, 1):
        if len(line) > most:
            yield number, f"{len(line)} characters, at most {most}"


def rule_function_length(path, lines):
    if path.suffix not in CPP:
        return
    start, indent = None, ""
    for number, line in enumerate(lines, 1):
        if start is None:
            opens = re.match(
                r"^( {0,2})(?! )(?!//|#|namespace\b|class\b|struct\b|enum\b|union\b|extern\b).*\{$", line
            )
            if opens and ("(" in line or ")" in line):
                start, indent = number, opens[1]
        elif re.match(rf"^{indent}\}}", line):
            if number - start + 1 > MAX_FUNCTION_LINES:
                yield start, f"a function of {number - start + 1} lines, at most {MAX_FUNCTION_LINES}"
            start = None


def rule_banned_calls(path, lines):
    if path.suffix not in CPP:
        return
    for number, line in enumerate(lines, 1):
        code = without_text(line)
        for pattern, why in BANNED_CALLS:
            if re.search(pattern, code) and not re.search(r"\b(static_)?assert\b.*static", code):
                yield number, f"`{re.search(pattern, code)[0]}`: {why}"


def rule_no_sleep_in_tests(path, lines):
    if not is_test(path):
        return
    for number, line in enumerate(lines, 1):
        code = without_text(line).split("#")[0] if path.suffix == ".py" else without_text(line)
        if SLEEPS.search(code):
            yield number, "a test waits for an event with a deadline, it does not sleep"


def rule_loose_ends(path, lines):
    for number, line in enumerate(lines, 1):
        found = LOOSE_ENDS.search(line)
        if found and path.name != "tidy.py" and path.name != "test_tidy.py":
            yield number, f"{found[1]} without an issue: write {found[1]}(#12)"


def rule_machine_paths(path, lines):
    for number, line in enumerate(lines, 1):
        if MACHINE_PATHS.search(line) and path.name not in ("tidy.py", "test_tidy.py"):
            yield number, "a path of one machine"


def rule_names(path, lines):
    del lines
    if path.suffix in CPP and VAGUE_NAMES.search(path.stem.removesuffix("_test")):
        yield 1, f"{path.name} says nothing: name what it holds"


def rule_headers(path, lines):
    if path.suffix != ".h":
        return
    if not lines or not lines[0].startswith("// "):
        yield 1, "the first line says in one sentence what the header is"
    if "#pragma once" not in lines:
        yield 1, "no #pragma once"


def rule_no_dead_files(path, lines):
    del lines
    if path.suffix not in CPP or path.parts[0] not in ("src", "benchmarks", "fuzz"):
        return
    if path.suffix == ".h" and path.parts[:2] == ("src", "apps"):
        return  # programs name their sources only; nobody else includes these
    folder = path.parent
    while folder.parts:
        listing = ROOT_OF_CHECK / folder / "CMakeLists.txt"
        if listing.exists():
            name = str(path.relative_to(folder))
            if re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w.-])", listing.read_text()):
                return
        folder = folder.parent
    top = ROOT_OF_CHECK / "CMakeLists.txt"
    if top.exists() and str(path) in top.read_text():
        return
    yield 1, "no CMakeLists.txt names it"


RULES = [
    rule_file_length,
    rule_line_length,
    rule_function_length,
    rule_banned_calls,
    rule_no_sleep_in_tests,
    rule_loose_ends,
    rule_machine_paths,
    rule_names,
    rule_headers,
    rule_no_dead_files,
]
ROOT_OF_CHECK = ROOT


def files_of(root):
    for folder in CODE_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in CPP + (".py", ".sh") and "__pycache__" not in path.parts:
                yield path


def complaints(root, exceptions):
    """({rule: [text]}, exceptions that were not needed) of the tree below `root`."""
    global ROOT_OF_CHECK
    ROOT_OF_CHECK = root
    found = {rule.__name__.removeprefix("rule_"): [] for rule in RULES}
    used = set()
    for full in files_of(root):
        path = full.relative_to(root)
        lines = full.read_text(errors="replace").splitlines()
        for rule in RULES:
            name = rule.__name__.removeprefix("rule_")
            for number, wrong in rule(path, lines):
                if (name, str(path)) in exceptions:
                    used.add((name, str(path)))
                else:
                    found[name].append(f"{path}:{number}: {wrong}")
    return found, sorted(set(exceptions) - used)


def main(arguments):
    found, unused = complaints(ROOT, EXCEPTIONS)
    for problems in found.values():
        for problem in problems:
            print(problem)
    for rule, path in unused:
        print(f"tools/tidy.py: the exception ({rule}, {path}) is needed no more")
    failed = sum(1 for problems in found.values() if problems) + bool(unused)
    if "--suite" in arguments:
        print(f"{len(found) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
