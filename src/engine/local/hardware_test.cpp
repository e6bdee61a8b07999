#include "engine/local/hardware.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/rng.h"
#include "engine/local/make_order.h"
#include "engine/local/simulate.h"
#include "shim/scratch_folder.h"

namespace heddle::local {
namespace {

// GPUs as the stub of NVML serves them.
class StubGpus {
 public:
  StubGpus() { setenv("NVML_STUB_FILE", (folder_.path() + "/gpus").c_str(), 1); }
  ~StubGpus() { unsetenv("NVML_STUB_FILE"); }
  void show(const std::string& lines) { std::ofstream{folder_.path() + "/gpus"} << lines; }

 private:
  shim::ScratchFolder folder_;
};

constexpr const char* kTwo =
    "GPU-aa 0 81559 NVIDIA H100 80GB HBM3\nGPU-bb 3 81559 NVIDIA H100 80GB HBM3\n";

}  // namespace

TEST_CASE("simulated nodes are what their description says, each time") {
  const auto nodes = parse_simulation("2x8:H100-80GB,1x2:A100-40GB");
  REQUIRE(nodes);
  REQUIRE(nodes->size() == 3);
  const FoundNode& second = (*nodes)[1];
  CHECK(second.name == "sim-2");
  CHECK(second.simulated);
  CHECK(second.device_model == "H100-80GB");
  CHECK(second.cpu_milli == 64'000);
  CHECK(second.memory_bytes == 512LL << 30);
  REQUIRE(second.devices.size() == 8);
  CHECK(second.devices[7].uuid == "GPU-sim-2-7");
  CHECK(second.devices[7].memory_bytes == 80LL << 30);
  CHECK((*nodes)[2].name == "sim-3");
  CHECK((*nodes)[2].devices.size() == 2);
}

TEST_CASE("a description of simulated nodes that makes no sense is refused with a sentence") {
  for (const char* spec : {"",
                           "8",
                           "x",
                           "2x",
                           "2x8",
                           "2x8:",
                           "0x8:H100-80GB",
                           "2x0:H100-80GB",
                           "-1x8:H100-80GB",
                           "2x8:H100",
                           "2x8:-80GB",
                           "2x8:H100-GB",
                           "2x8:H100-0GB",
                           "2x8:H100-80GBx",
                           "2x8:H 100-80GB",
                           "2x8:H100-99999GB",
                           "2x8:H100-80GB,",
                           "64x65:H100-80GB",
                           "99999999999999999999x1:A-1GB",
                           "4097x1:H100-80GB"}) {
    CAPTURE(spec);
    const auto nodes = parse_simulation(spec);
    REQUIRE_FALSE(nodes.has_value());
    CHECK(nodes.error().code == ErrorCode::kInvalidArgument);
    CHECK(nodes.error().message.find("2x8:H100-80GB") != std::string::npos);
  }
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Rng rng{seed};
    std::string spec = "2x8:H100-80GB";
    spec[static_cast<std::size_t>(rng.between(0, 12))] = static_cast<char>(rng.between(1, 255));
    (void)parse_simulation(spec).has_value();
  }
}

TEST_CASE("GPUs are found through NVML, a lost one is sick and comes back") {
  StubGpus gpus;
  gpus.show(kTwo);
  Hardware hardware{"", HEDDLE_NVML_STUB};
  auto nodes = hardware.scan();
  REQUIRE(nodes);
  REQUIRE(nodes->size() == 1);
  const FoundNode& node = nodes->front();
  CHECK_FALSE(node.simulated);
  CHECK(node.device_model == "H100-80GB-HBM3");
  CHECK(node.cpu_milli >= 1000);
  REQUIRE(node.devices.size() == 2);
  CHECK(node.devices[1].uuid == "GPU-bb");
  CHECK(node.devices[1].memory_bytes == 81559LL << 20);
  CHECK(hardware.minor_of("GPU-bb") == 3);
  CHECK_FALSE(hardware.minor_of("GPU-cc").has_value());

  gpus.show("lost\nGPU-bb 3 81559 NVIDIA H100 80GB HBM3\n");
  nodes = hardware.scan();
  REQUIRE(nodes->front().devices.size() == 2);
  CHECK(nodes->front().devices[0].health == DeviceHealth::kSick);
  CHECK(nodes->front().devices[1].health == DeviceHealth::kHealthy);
  gpus.show(kTwo);
  CHECK(hardware.scan()->front().devices[0].health == DeviceHealth::kHealthy);
}

TEST_CASE("a machine with two models is two nodes; one without a driver is one of CPUs only") {
  StubGpus gpus;
  gpus.show(std::string{kTwo} + "GPU-cc 1 15360 Tesla T4\n");
  Hardware mixed{"", HEDDLE_NVML_STUB};
  const auto nodes = mixed.scan();
  REQUIRE(nodes->size() == 2);
  CHECK((*nodes)[0].name != (*nodes)[1].name);
  CHECK((*nodes)[1].device_model == "Tesla-T4");
  Hardware none{"", "/no/such/library.so"};
  REQUIRE(none.scan()->size() == 1);
  CHECK(none.scan()->front().devices.empty());
  CHECK(none.scan()->front().device_model.empty());
}

TEST_CASE("a job sees its own device and the driver's common ones, by number and by UUID") {
  StubGpus gpus;
  gpus.show(kTwo);
  Hardware hardware{"", HEDDLE_NVML_STUB};
  REQUIRE(hardware.scan());
  const Folders folders{"/state", "/runtime"};
  StartOrder start;
  start.allocation = AllocationId{1};
  start.workload = WorkloadId{2};
  start.team = TeamId{3};
  start.workload_name = "train";
  start.command = {"true"};
  start.devices = {{"GPU-bb", GpuAmount::devices(1), 1}};
  const auto order = make_order(start, {"/shim", "heddle", "0", true, 1, 1}, folders, hardware);
  REQUIRE(order);
  REQUIRE_FALSE(order->program.devices.empty());
  bool own = false;
  for (const sandbox::DeviceNode& node : order->program.devices) {
    CHECK(node.host_path != "/dev/nvidia0");
    own = own || node.host_path == "/dev/nvidia3";
  }
  CHECK(own);
  const auto has = [&](const std::string& variable) {
    return std::ranges::find(order->program.env, variable) != order->program.env.end();
  };
  CHECK(has("CUDA_VISIBLE_DEVICES=GPU-bb"));
  CHECK(has("NVIDIA_VISIBLE_DEVICES=GPU-bb"));
  start.devices = {{"GPU-gone", GpuAmount::devices(1), 1}};
  CHECK_FALSE(make_order(start, {}, folders, hardware).has_value());
  start.devices.clear();
  const auto without = make_order(start, {}, folders, hardware);
  REQUIRE(without);
  CHECK(without->program.devices.empty());
}

TEST_CASE("users of teams stay within their range") {
  CHECK(*team_uid(0) == 1U << 28);
  CHECK(*team_uid(2) == (1U << 28) + 131'072);
  CHECK(*team_uid(28'671) < 1U << 31);
  CHECK_FALSE(team_uid(28'672).has_value());
  CHECK_FALSE(team_uid(-1).has_value());
}

}  // namespace heddle::local
