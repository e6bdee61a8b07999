// For tests: one sandbox run to its end with what it printed.
#pragma once

#include <string>
#include <vector>

#include "sandbox/sandbox.h"

namespace heddle::sandbox {

// Sandboxes need root. Says so once and returns false elsewhere, where there is nothing to test.
bool can_start_sandboxes();

struct Outcome {
  Exit exit;
  std::string output;  // standard output and error together
};

// A user of this test run alone, so that runs beside it do not count in its processes; offset < 64.
uid_t test_uid(unsigned offset);

// A team's sandbox that runs `argv` in /tmp; its id is unique among parallel test runs.
Spec spec_of(std::vector<std::string> argv);
// The same with a script for /usr/bin/python3 or /bin/sh.
Spec python(const std::string& script);
Spec shell(const std::string& script);
// The same with a program of tests/hostile.
Spec hostile(const std::string& program, std::vector<std::string> arguments);

// Runs it to its end, at most 20 s. Fails the test when it does not start.
Outcome run(Spec spec);
Outcome run_with(Spec spec, CgroupMode mode);

// A started sandbox and the pipe it prints to.
struct Started {
  Running running;
  int output_fd = -1;
};
Started start_printing(Spec spec, CgroupMode mode);
// The next line that it prints; empty at its end or after 20 s.
std::string read_line(int fd);

// How many living processes of the host have this user.
int processes_of(uid_t uid);
// True once there is none, at most after 10 s: an orphan is in nobody's books for a moment before
// the host's first process has seen its end.
bool soon_without_processes(uid_t uid);

// A folder that goes away with the test.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  std::string path(const std::string& name = "") const;

 private:
  std::string path_;
};

}  // namespace heddle::sandbox
