#!/usr/bin/python3
"""Fails when a file includes a room that it may not see. The tables below are the architecture.

  tools/check_includes.py [SRC]     prints what is wrong; exit 1 if anything is
  tools/check_includes.py --suite   the same, with a closing line `N passed, N failed`

Rules: a room sees itself and the rooms of its row. store/X, engine/X and provider/X are rooms of their
own and never see each other. Outside libraries are named per room and appear in .cpp files only. The core
is a pure function: no clock, no thread, no unordered iteration, no floating point.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Room -> what of ours it may include. A row for a/b wins over one for a.
MAY_SEE = {
    "base": set(),
    "core": {"base"},
    "control": {"core", "base"},
    "store": {"control/ports", "core", "base"},
    "engine": {"control/ports", "core", "base"},
    "engine/local": {"control/ports", "core", "base", "shim", "sandbox"},
    "provider": {"control/ports", "core", "base"},
    "sandbox": {"base"},
    "shim": {"base", "sandbox"},
    "client": {"base"},
    "api": {"control", "core", "base"},
    "http": {"base"},
    "sim": {"control", "core", "base", "store/memory", "store/faulty", "engine/fake"},
    "cli": {"base", "client", "api/wire"},
    "apps": None,  # everything: the only place that wires
}
# Rooms whose first folders are rooms of their own.
SPLIT = {"store", "engine", "provider"}
# What a room's tests may see beside its row.
TESTS_MAY_SEE = {
    "control": {"store/memory", "engine/fake"},
    "store": {"store/conformance", "store/memory"},
    "engine": {"engine/conformance"},
    "api": {"store/memory", "engine/fake", "client"},
    "http": {"client"},
    "client": {"http"},
}

# Room -> outside libraries (first part of the include) that its .cpp files may use.
LIBRARIES = {
    "store/sqlite": {"sqlite3.h", "simdjson.h"},
    "control": {"openssl"},
    "client": {"curl"},
    "api": {"nlohmann", "simdjson.h", "fmt", "openssl", "yaml-cpp"},
    "http": {"boost"},
    "sandbox": {"seccomp.h"},
    "engine/local": {"nlohmann", "fmt"},
    "cli": {"CLI", "nlohmann", "yaml-cpp", "toml++", "fmt"},
    "sim": {"nlohmann", "fmt"},
}
# Single files that may use a library their room may not.
FILES = {"base/log.cpp": {"spdlog", "fmt"}, "base/sha256.cpp": {"openssl"}}
KNOWN_LIBRARIES = {
    "sqlite3.h",
    "openssl",
    "curl",
    "nlohmann",
    "simdjson.h",
    "fmt",
    "yaml-cpp",
    "boost",
    "seccomp.h",
    "CLI",
    "spdlog",
    "prometheus",
    "doctest",
    "toml++",
    "valijson",
    "argon2.h",
}

# Words that the core may not use, because each would let a plan differ between two runs or machines.
CORE_BANS = re.compile(
    r"\b(float|double|system_clock|steady_clock|unordered_\w+|rand|random_device|thread|mutex|getenv)\b"
)
CORE_HEADER_BANS = {
    "chrono",
    "thread",
    "mutex",
    "shared_mutex",
    "condition_variable",
    "random",
    "ctime",
    "unordered_map",
    "unordered_set",
    "iostream",
    "fstream",
    "filesystem",
    "future",
    "sstream",
    "regex",
}
# Headers of libraries that only declare names, so they cost nothing in a header of ours.
FORWARD_ONLY = {"nlohmann/json_fwd.hpp"}
BANNED_EVERYWHERE = {"regex"}


def room_of(path):
    """The room of a file or of an include: its first folder, or two where rooms have rooms."""
    parts = path.split("/")
    if parts[0] in SPLIT and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0]


def row(table, room, default=frozenset()):
    return table.get(room, table.get(room.split("/")[0], default))


def is_test(path):
    return (
        bool(re.search(r"(_test|_main|_tests|_fixture)$", path.stem))
        or path.parts[0] == "tests"
        or "conformance" in path.parts
        or "testing" in path.parts
    )


def without_text(line):
    """The line without its comment and the content of its string literals."""
    return re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//")[0]


def check_ours(here, name):
    room, other = room_of(str(here)), room_of(name)
    sees = row(MAY_SEE, room, default=frozenset())
    if sees is None or other == room:
        return ""
    if other.split("/")[0] == "apps":
        return "nobody may include apps"
    if is_test(here):
        sees = set(sees) | row(TESTS_MAY_SEE, room)
    if any(name.startswith(seen + "/") or name.startswith(seen + ".") for seen in sees):
        return ""
    return f"{room} may not include {name}"


def check_outside(here, name):
    room = room_of(str(here))
    first = name.split("/")[0]
    if first in BANNED_EVERYWHERE:
        return f"<{name}> is banned: it costs too much to compile"
    if room == "core" and not is_test(here):
        if name in CORE_HEADER_BANS:
            return f"core may not include <{name}>"
        if "." in name and name != "doctest/doctest.h":
            return f"core may not include <{name}>: no system, no library"
    if first not in KNOWN_LIBRARIES:
        return ""
    if first == "doctest":
        return "" if is_test(here) else f"<{name}> belongs in tests"
    if here.suffix != ".cpp" and room != "apps" and name not in FORWARD_ONLY:
        return f"<{name}> may be included in .cpp files only"
    if room == "apps" or is_test(here):
        return ""
    if first in row(LIBRARIES, room) or first in FILES.get(str(here), set()):
        return ""
    return f"{room} may not include <{name}>"


def check_file(root, path):
    here = path.relative_to(root)
    room = room_of(str(here))
    if room.split("/")[0] not in MAY_SEE:
        yield f"{here}: the folder {room} has no row in tools/check_includes.py"
        return
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        include = re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line)
        if include:
            wrong = check_ours(here, include[1]) if include[1] else check_outside(here, include[2])
            if wrong:
                yield f"{here}:{number}: {wrong}"
        elif room == "core" and not is_test(here):
            banned = CORE_BANS.search(without_text(line))
            if banned:
                yield f"{here}:{number}: core may not use {banned[0]}"


def complaints(root):
    """(rooms seen, list of complaints) of the tree below `root`."""
    files = sorted(p for p in root.rglob("*") if p.suffix in (".h", ".hpp", ".cpp", ".c", ".cc"))
    rooms = sorted({room_of(str(p.relative_to(root))) for p in files})
    return rooms, [wrong for path in files for wrong in check_file(root, path)]


def main(arguments):
    names = [a for a in arguments if not a.startswith("-")]
    root = pathlib.Path(names[0]) if names else ROOT / "src"
    rooms, problems = complaints(root)
    for problem in problems:
        print(problem)
    if not rooms:
        print(f"no source files below {root}")
        return 1
    if "--suite" in arguments:  # one case a room
        bad = {room_of(p.split(":")[0]) for p in problems}
        print(f"{len(rooms) - len(bad)} passed, {len(bad)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
