// CowMap<K, V>: a sorted map whose copies share everything that has not changed since.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "base/ref.h"

namespace heddle {

// Copying costs a pointer per chunk of up to kChunkMax entries; changing an entry of a shared map
// copies that one chunk. That makes snapshots for readers, roll-back after a failed commit and
// what-if cheap. Iteration is in key order. Keys and values are regular types; K has operator<=>.
//
// Threads: a copy may be read on one thread while another changes the original.
// References and iterators die with the next change of the same map.
template <class K, class V>
class CowMap {
 public:
  struct Entry {
    K key;
    V value;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  static constexpr std::size_t kChunkMax = 64;

 private:
  using Chunk = std::vector<Entry>;
  using Chunks = std::vector<Ref<Chunk>>;  // none empty, keys ascending across all

 public:
  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    const_iterator() = default;
    reference operator*() const { return (*(*chunks_)[chunk_])[at_]; }
    pointer operator->() const { return &**this; }
    const_iterator& operator++() {
      if (++at_ == (*chunks_)[chunk_]->size()) {
        at_ = 0;
        ++chunk_;
      }
      return *this;
    }
    const_iterator operator++(int) {
      auto old = *this;
      ++*this;
      return old;
    }
    const_iterator& operator--() {
      if (at_ == 0) at_ = (*chunks_)[--chunk_]->size();
      --at_;
      return *this;
    }
    friend bool operator==(const const_iterator& a, const const_iterator& b) {
      return a.chunk_ == b.chunk_ && a.at_ == b.at_;
    }

   private:
    friend class CowMap;
    const_iterator(const Chunks* chunks, std::size_t chunk, std::size_t at)
        : chunks_{chunks}, chunk_{chunk}, at_{at} {}
    const Chunks* chunks_ = nullptr;
    std::size_t chunk_ = 0;
    std::size_t at_ = 0;
  };

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const_iterator begin() const { return {&chunks_, 0, 0}; }
  const_iterator end() const { return {&chunks_, chunks_.size(), 0}; }

  // The value at `key`, or null. Never owns.
  const V* find(const K& key) const {
    const auto at = lower_bound(key);
    return at != end() && at->key == key ? &at->value : nullptr;
  }
  bool contains(const K& key) const { return find(key) != nullptr; }

  // First entry whose key is not less than (greater than) `key`.
  const_iterator lower_bound(const K& key) const {
    const std::size_t c = chunk_for(key);
    if (c == chunks_.size()) return end();
    const Chunk& chunk = *chunks_[c];
    const auto at = std::partition_point(chunk.begin(), chunk.end(),
                                         [&](const Entry& e) { return e.key < key; });
    return {&chunks_, c, static_cast<std::size_t>(at - chunk.begin())};
  }
  const_iterator upper_bound(const K& key) const {
    auto at = lower_bound(key);
    if (at != end() && at->key == key) ++at;
    return at;
  }

  // Sets `key` to `value`, whether or not it was there.
  void put(const K& key, V value) {
    if (chunks_.empty()) {
      chunks_.push_back(Ref<Chunk>::make(Chunk{{key, std::move(value)}}));
      size_ = 1;
      return;
    }
    const std::size_t c = std::min(chunk_for(key), chunks_.size() - 1);
    Chunk& chunk = chunks_[c].writable();
    const auto at = std::partition_point(chunk.begin(), chunk.end(),
                                         [&](const Entry& e) { return e.key < key; });
    if (at != chunk.end() && at->key == key) {
      at->value = std::move(value);
      return;
    }
    chunk.insert(at, Entry{key, std::move(value)});
    ++size_;
    if (chunk.size() > kChunkMax) split(c);
  }

  // Takes `key` out; false when it was not there.
  bool erase(const K& key) {
    const std::size_t c = chunk_for(key);
    if (c == chunks_.size() || !contains(key)) return false;
    Chunk& chunk = chunks_[c].writable();
    const auto at = std::partition_point(chunk.begin(), chunk.end(),
                                         [&](const Entry& e) { return e.key < key; });
    chunk.erase(at);
    --size_;
    if (chunk.empty()) chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(c));
    return true;
  }

  friend bool operator==(const CowMap& a, const CowMap& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  // The chunk where `key` is or would be: the first whose last key is not less than it.
  std::size_t chunk_for(const K& key) const {
    const auto at = std::partition_point(chunks_.begin(), chunks_.end(),
                                         [&](const Ref<Chunk>& c) { return c->back().key < key; });
    return static_cast<std::size_t>(at - chunks_.begin());
  }

  // Ascending inserts, the usual case for ids, leave full chunks behind; others split in the
  // middle.
  void split(std::size_t c) {
    Chunk& left = chunks_[c].writable();
    const std::size_t keep = c + 1 == chunks_.size() ? left.size() - 1 : left.size() / 2;
    const auto middle = left.begin() + static_cast<std::ptrdiff_t>(keep);
    Chunk right{std::make_move_iterator(middle), std::make_move_iterator(left.end())};
    left.erase(middle, left.end());
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(c) + 1,
                   Ref<Chunk>::make(std::move(right)));
  }

  Chunks chunks_;
  std::size_t size_ = 0;
};

}  // namespace heddle
