#include "store/faulty/faulty_store.h"

namespace heddle {
namespace {

Error broken() { return {ErrorCode::kUnavailable, "The store cannot be reached (on demand)."}; }

class Faulty final : public FaultyStore {
 public:
  Faulty(Store& inner, FaultPlan plan) : inner_{inner}, plan_{plan} {}

  ~Faulty() override {
    if (comes_back_) (void)inner_.commit(*comes_back_).has_value();
  }

  void set_plan(FaultPlan plan) override { plan_ = plan; }
  std::int64_t commits() const override { return commits_; }

  Result<Loaded> open() override { return inner_.open(); }

  Result<Done> commit(const Batch& batch) override {
    ++commits_;
    failing_ = plan_.first > 0 && commits_ >= plan_.first && commits_ - plan_.first < plan_.times;
    if (!failing_) {
      Result<Done> done = inner_.commit(batch);
      if (done) comes_back_.reset();
      return done;
    }
    if (plan_.fault == Fault::kComesBack) comes_back_ = batch;
    if (plan_.fault == Fault::kStorageFull)
      return Error{ErrorCode::kStorageFull, "The disk is full (on demand); nothing was changed."};
    if (plan_.fault == Fault::kAfter) {
      const Result<Done> done = inner_.commit(batch);
      if (!done) return done.error();
      comes_back_.reset();
    }
    return broken();
  }

  Result<bool> was_committed(std::int64_t epoch, std::int64_t batch_id) override {
    if (failing_ && plan_.questions_fail) return broken();
    return inner_.was_committed(epoch, batch_id);
  }

  Result<std::optional<Workload>> ended_workload(WorkloadId id) override {
    return inner_.ended_workload(id);
  }
  Result<std::vector<Workload>> ended_workloads(const EndedQuery& query) override {
    return inner_.ended_workloads(query);
  }
  Result<std::vector<Allocation>> released_allocations(WorkloadId id) override {
    return inner_.released_allocations(id);
  }
  Result<std::vector<FeedEvent>> feed(std::int64_t after, std::int64_t limit) override {
    return inner_.feed(after, limit);
  }
  Result<std::int64_t> oldest_feed_seq() override { return inner_.oldest_feed_seq(); }
  Result<std::vector<AuditEntry>> audit(std::int64_t before, std::int64_t limit) override {
    return inner_.audit(before, limit);
  }
  Result<std::optional<IdempotencyRecord>> idempotency(UserId user, const std::string& route,
                                                       const std::string& key) override {
    return inner_.idempotency(user, route, key);
  }
  Result<std::optional<std::string>> blob(const std::string& sha256_hex) override {
    return inner_.blob(sha256_hex);
  }
  Result<Trimmed> trim(Instant now, const Retention& retention, std::int64_t rows) override {
    return inner_.trim(now, retention, rows);
  }
  Result<Done> backup(const std::string& file) override { return inner_.backup(file); }

 private:
  Store& inner_;
  FaultPlan plan_;
  std::int64_t commits_ = 0;
  bool failing_ = false;
  std::optional<Batch> comes_back_;  // the last refused one, until another is committed
};

}  // namespace

std::unique_ptr<FaultyStore> make_faulty_store(Store& inner, FaultPlan plan) {
  return std::make_unique<Faulty>(inner, plan);
}

}  // namespace heddle
