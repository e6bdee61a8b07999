// Workloads and allocations as the API answers them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/json_writer.h"
#include "api/rights.h"
#include "api/wire/estate.h"
#include "control/view.h"

namespace heddle::api {

// What all workloads of one answer need. One thread; no longer than the view.
class WorkWriter {
 public:
  WorkWriter(const View& view, Rights& rights, const std::string& currency, Instant now)
      : view_{view}, rights_{rights}, currency_{currency}, now_{now} {}

  // One object. Command, environment and files are null without workload.content.
  void workload(JsonWriter& json, const Workload& workload);
  void receipt(JsonWriter& json, const Workload& workload);
  void why(JsonWriter& json, const Workload& workload);
  void allocation(JsonWriter& json, const Allocation& allocation, const std::string& work_name);

  // Why it waits, as far as the last planning round knows.
  Reason reason_of(const Workload& workload) const;

 private:
  const PoolNotes& notes(PoolId pool);
  std::string pool_name(PoolId pool) const;
  void placement(JsonWriter& json, const Workload& workload);
  void content(JsonWriter& json, const Workload& workload);
  std::int64_t place_in_team(const Workload& workload) const;

  const View& view_;
  Rights& rights_;
  const std::string& currency_;
  const Instant now_;
  std::map<PoolId, PoolNotes> notes_;
};

// "resources", in base units.
void write_resources(JsonWriter& json, const Request& request);

// Asked in all; nullopt when memory was asked for: that is known on a device only.
std::optional<GpuAmount> asked_of(const Shape& shape);

}  // namespace heddle::api
