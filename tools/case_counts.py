"""Reads from a suite's output how many cases passed and failed."""

import re


def count_doctest(text):
    found = re.search(r"test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed", text)
    return (int(found[1]), int(found[2])) if found else None


def count_pytest(text):
    lines = [line for line in text.splitlines() if re.search(r"\bin [\d.]+s\b", line)]
    if not lines:
        return None
    words = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|errors?|xpassed)", lines[-1])}
    failed = sum(words.get(word, 0) for word in ("failed", "error", "errors", "xpassed"))
    return words.get("passed", 0), failed


def count_unittest(text):
    ran = re.search(r"^Ran (\d+) tests? in", text, re.M)
    if not ran:
        return None
    failed = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", text))
    skipped = sum(int(n) for n in re.findall(r"skipped=(\d+)", text))
    return max(0, int(ran[1]) - failed - skipped), failed


def count_line(text):
    found = re.findall(r"^(\d+) passed, (\d+) failed$", text, re.M)
    return (int(found[-1][0]), int(found[-1][1])) if found else None


def count_cases(text, exit_code):
    """(passed, failed) of a suite's output. A suite that ends badly without saying so counts as one
    failure, and so does one that ran nothing."""
    for count in (count_doctest, count_line, count_unittest, count_pytest):
        counted = count(text)
        if counted is not None:
            passed, failed = counted
            break
    else:
        passed, failed = (1, 0) if exit_code == 0 else (0, 1)
    if exit_code != 0 and failed == 0:
        failed = 1
    if passed + failed == 0:
        failed = 1
    return passed, failed
