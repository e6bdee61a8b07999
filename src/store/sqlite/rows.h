// How rows of core/model lie in tables: put, erase and load, one file per group of tables.
// Private to store/sqlite. All throw Failure; puts and erases run inside the batch's transaction.
#pragma once

#include <vector>

#include "core/model/draft.h"
#include "store/sqlite/connection.h"

namespace heddle::sqlite {

// rows_tenancy.cpp
void put(Connection& connection, const Team& team);
void put(Connection& connection, const User& user);
void put(Connection& connection, const Member& member);
void put(Connection& connection, const Token& token);
void erase(Connection& connection, const MemberKey& key);
void erase(Connection& connection, TokenId id);
void load_tenancy(Connection& connection, Draft& draft);

// rows_estate.cpp
void put(Connection& connection, const Site& site);
void put(Connection& connection, const Pool& pool);
void put(Connection& connection, const Node& node);
void put(Connection& connection, const Share& share);
void erase(Connection& connection, NodeId id);
void load_estate(Connection& connection, Draft& draft);

// rows_workload.cpp
void put(Connection& connection, const Workload& workload);
void load_live_workloads(Connection& connection, Draft& draft);
// From a row of the view workload_rows.
Workload read_workload(Connection& connection, Query& query);

// rows_allocation.cpp. What an allocation holds, who for and where never changes once recorded.
void put(Connection& connection, const Allocation& allocation);
void erase(Connection& connection, AllocationId id);
void load_live_allocations(Connection& connection, Draft& draft);
std::vector<Allocation> read_released(Connection& connection, WorkloadId workload);

}  // namespace heddle::sqlite
