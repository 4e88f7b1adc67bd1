// Answers that are asked for again, kept.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace lay {

// From keys to what a pure function makes of them; for several threads at once. It holds at most
// `most` answers and then begins anew, so that a process that lives long keeps no more.
template <class Key, class Value>
class Memo {
 public:
  explicit Memo(std::size_t most = 4096) : most_(most) {}

  // `make()`, unless it is known. It runs without the lock, since it may ask other memos: two
  // threads may make the same.
  template <class Make>
  Value operator()(const Key& key, Make make) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = answers_.find(key); known != answers_.end()) return known->second;
    }
    Value made = make();
    const std::lock_guard lock(mutex_);
    if (answers_.size() >= most_) answers_.clear();
    return answers_.emplace(key, std::move(made)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Value> answers_;
  std::size_t most_;
};

}  // namespace lay
