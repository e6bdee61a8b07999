#include "control/committer.h"

#include <utility>

namespace heddle {

CommitResult Committer::commit(Books& books, const ClockMark& clock) {
  Batch batch;
  batch.epoch = epoch_;
  batch.batch_id = batch_id_;
  batch.clock = clock;
  batch.changes = books.draft.take_changes();
  batch.feed = std::move(books.feed);
  batch.audit = std::move(books.audit);
  batch.blobs = std::move(books.blobs);
  batch.idempotency = std::move(books.idempotency);
  const auto done = store_.commit(batch);
  if (done) return settle(CommitResult::kDone);
  error_ = done.error();
  if (error_->code == ErrorCode::kConflict) return CommitResult::kDeposed;
  if (error_->code == ErrorCode::kStorageFull) return settle(CommitResult::kRefused);
  return resolve();
}

CommitResult Committer::resolve() {
  const auto was = store_.was_committed(epoch_, batch_id_);
  if (!was) return CommitResult::kUnknown;
  return settle(*was ? CommitResult::kDone : CommitResult::kRefused);
}

CommitResult Committer::settle(CommitResult result) {
  if (result == CommitResult::kDone) ++batch_id_;
  return result;
}

}  // namespace heddle
