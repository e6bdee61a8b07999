#include "store/faulty/faulty_store.h"

#include <doctest/doctest.h>

#include "store/memory/memory_store.h"

namespace heddle {
namespace {

Batch a_batch(std::int64_t epoch, std::int64_t id) {
  Batch batch;
  batch.epoch = epoch;
  batch.batch_id = id;
  return batch;
}

}  // namespace

TEST_CASE("a fault before the write leaves nothing, one after it leaves everything") {
  const auto memory = make_memory_store();
  const auto store = make_faulty_store(*memory, {.first = 2, .fault = Fault::kBefore});
  const std::int64_t epoch = store->open()->epoch;
  CHECK(store->commit(a_batch(epoch, 1)).has_value());
  CHECK(store->commit(a_batch(epoch, 2)).error().code == ErrorCode::kUnavailable);
  CHECK_FALSE(*store->was_committed(epoch, 2));
  CHECK(store->commit(a_batch(epoch, 2)).has_value());

  store->set_plan({.first = 4, .fault = Fault::kAfter, .times = 2, .questions_fail = true});
  CHECK(store->commit(a_batch(epoch, 3)).error().code == ErrorCode::kUnavailable);
  CHECK_FALSE(store->was_committed(epoch, 3).has_value());
  CHECK(*memory->was_committed(epoch, 3));
  CHECK(store->commits() == 4);
}

TEST_CASE("a full disk says so and is over when the plan is over") {
  const auto memory = make_memory_store();
  const auto store = make_faulty_store(*memory, {.first = 1, .fault = Fault::kStorageFull});
  const std::int64_t epoch = store->open()->epoch;
  CHECK(store->commit(a_batch(epoch, 1)).error().code == ErrorCode::kStorageFull);
  CHECK_FALSE(*store->was_committed(epoch, 1));
  CHECK(store->commit(a_batch(epoch, 1)).has_value());
}

TEST_CASE("a batch that was refused is there after a crash, unless another took its place") {
  for (const bool another : {false, true}) {
    const auto memory = make_memory_store();
    auto store = make_faulty_store(*memory, {.first = 2, .fault = Fault::kComesBack});
    const std::int64_t epoch = store->open()->epoch;
    CHECK(store->commit(a_batch(epoch, 1)).has_value());
    Batch refused = a_batch(epoch, 2);
    refused.feed.emplace_back().seq = 1;
    CHECK(store->commit(refused).error().code == ErrorCode::kUnavailable);
    CHECK_FALSE(*store->was_committed(epoch, 2));
    if (another) CHECK(store->commit(a_batch(epoch, 2)).has_value());
    store.reset();
    CHECK(*memory->was_committed(epoch, 2));
    CHECK(memory->feed(0, 10)->size() == (another ? 0 : 1));
  }
}

}  // namespace heddle
