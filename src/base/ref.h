// Ref<T>: shared, immutable-when-shared ownership with a reliable 'am I the only owner?'.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace heddle {

// std::shared_ptr::use_count is relaxed and so no licence to write. Here unique() acquires what
// other threads released when they let go, so a sole owner may change the value in place.
// Copying and destroying are safe from any thread; one Ref object itself belongs to one thread.
template <class T>
class Ref {
 public:
  Ref() = default;
  template <class... Args>
  static Ref make(Args&&... args) {
    Ref ref;
    ref.box_ = new Box{{1}, T{std::forward<Args>(args)...}};
    return ref;
  }
  Ref(const Ref& other) : box_{other.box_} {
    if (box_ != nullptr) box_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(Ref&& other) noexcept : box_{std::exchange(other.box_, nullptr)} {}
  Ref& operator=(Ref other) noexcept {
    std::swap(box_, other.box_);
    return *this;
  }
  ~Ref() {
    if (box_ != nullptr && box_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete box_;
  }

  const T& operator*() const { return box_->value; }
  const T* operator->() const { return &box_->value; }
  bool same_as(const Ref& other) const { return box_ == other.box_; }

  // The value for writing; copied first when somebody else holds it too.
  T& writable() {
    if (box_->owners.load(std::memory_order_acquire) != 1) *this = make(box_->value);
    return box_->value;
  }

 private:
  struct Box {
    std::atomic<std::uint64_t> owners;
    T value;
  };
  Box* box_ = nullptr;
};

}  // namespace heddle
