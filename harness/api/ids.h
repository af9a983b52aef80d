// The strong ids of section "Identity" of the documentation: SHA-256 digests that answer which
// data, what was asked, how it was computed and how it was scored. They do not convert into one
// another.
//
// Stored and compared in full (64 hex digits), shown with 12. Value types; made by
// harness/core/identity.h from canonical JSON, never from counting.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

namespace qfs {

/// The version of the rules that make ids. It prefixes every hash input; golden ids are pinned per
/// version, so a refactoring cannot re-key a store unseen.
inline constexpr int kIdentityVersion = 1;

template <class Tag>
class Id {
 public:
  Id() = default;
  /// `hex`: 64 lower-case hex digits (unchecked here; readers of foreign text check).
  explicit Id(std::string hex) : hex_(std::move(hex)) {}

  const std::string& hex() const { return hex_; }
  std::string short_hex() const { return hex_.substr(0, 12); }
  bool empty() const { return hex_.empty(); }

  friend bool operator==(const Id&, const Id&) = default;
  friend auto operator<=>(const Id&, const Id&) = default;

 private:
  std::string hex_;
};

using DatasetId = Id<struct DatasetTag>;    ///< which data
using CellId = Id<struct CellTag>;          ///< what was asked
using NumericsId = Id<struct NumericsTag>;  ///< how it was computed
using ScoreId = Id<struct ScoreTag>;        ///< how it was scored

}  // namespace qfs
