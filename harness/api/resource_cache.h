// ResourceCache: what consecutive sessions of one host share — opened weights and tokenizers — so
// that cells with equal weights pay for loading once.
//
// Owned by the host's loop, handed to SessionFactory::open. Entries live until `clear`.
// Not thread-safe (a host handles one request at a time).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>

#include "harness/api/result.h"

namespace qfs {

class ResourceCache {
 public:
  /// The object of type T under `key` (kind and digest, e.g. "tokenizer:3f9a…"), loaded by
  /// `load() -> Result<std::shared_ptr<const T>>` the first time.
  template <class T, class Load>
  Result<std::shared_ptr<const T>> get(const std::string& key, Load&& load) {
    const Slot slot{key, std::type_index(typeid(T))};
    if (auto it = entries_.find(slot); it != entries_.end()) {
      return std::static_pointer_cast<const T>(it->second);
    }
    Result<std::shared_ptr<const T>> loaded = std::forward<Load>(load)();
    if (loaded) entries_[slot] = *loaded;
    return loaded;
  }

  void clear() { entries_.clear(); }

 private:
  using Slot = std::pair<std::string, std::type_index>;
  std::map<Slot, std::shared_ptr<const void>> entries_;
};

}  // namespace qfs
