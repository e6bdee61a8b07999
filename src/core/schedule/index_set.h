// IndexSet: a set of small numbers, smallest first, as bits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle {

class IndexSet {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void insert(std::size_t n) {
    const std::size_t word = n / 64;
    if (word >= words_.size()) words_.resize(word + 1);
    if ((words_[word] & bit(n)) != 0) return;
    ++size_;
    words_[word] |= bit(n);
  }
  void erase(std::size_t n) {
    const std::size_t word = n / 64;
    if (word >= words_.size() || (words_[word] & bit(n)) == 0) return;
    words_[word] &= ~bit(n);
    --size_;
  }

  // The smallest number in the set that is not less than `n`, or kNone.
  std::size_t first_from(std::size_t n) const {
    if (size_ == 0) return kNone;
    std::uint64_t mask = ~std::uint64_t{0} << (n % 64);
    for (std::size_t word = n / 64; word < words_.size(); ++word, mask = ~std::uint64_t{0}) {
      const std::uint64_t left = words_[word] & mask;
      if (left != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(left));
    }
    return kNone;
  }

 private:
  static std::uint64_t bit(std::size_t n) { return std::uint64_t{1} << (n % 64); }

  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace heddle
