#include <doctest/doctest.h>

#include "store/sqlite/folder.h"
#include "store/sqlite/records.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/temporary_folder.h"

namespace heddle {

TEST_CASE("a page of ended work is a walk along an index, with nothing to sort") {
  const TemporaryFolder folder;
  const std::string file = sqlite::database_file(folder.path());
  sqlite::prepare_file(file);
  sqlite::Connection connection{file, sqlite::Access::kReadWrite};
  sqlite::migrate(connection);
  for (const char* sql : {sqlite::kEndedIds, sqlite::kEndedIdsNamed}) {
    CAPTURE(sql);
    const std::string explain = std::string{"EXPLAIN QUERY PLAN "} + sql;
    const auto query = connection.query(explain.c_str());
    REQUIRE(query->next());
    std::int64_t ignored = 0;
    std::string step;
    query->take(ignored, ignored, ignored, step);
    CHECK(step.find("COVERING INDEX workloads_ended") != std::string::npos);
    CHECK(step.find("state=? AND id<?") != std::string::npos);
    CHECK_FALSE(query->next());
  }
}

}  // namespace heddle
