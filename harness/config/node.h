// Node: a JSON value of a sweep file with its place, and the strict readers that decoding is made
// of.
//
// Used by harness/config, harness/claims and harness/gate. The first failure of a decoding is kept in its Scope and later ones
// are dropped, as they are often its consequences; readers then return defaults. Not thread-safe.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/params.h"
#include "harness/api/result.h"

namespace qfs::config {

/// One decoding: the file it reads and its first failure.
struct Scope {
  std::string file;
  std::optional<Error> failure;
};

/// `key` as a reference token of a JSON pointer (RFC 6901: ~ and / are escaped).
std::string pointer_token(std::string_view key);

/// "an integer", "a text", "a list"…: what a value is, for messages.
std::string_view kind_of(const nlohmann::json& value);

class Node {
 public:
  Node(const nlohmann::json& value, std::string pointer, Scope& scope)
      : value_(&value), pointer_(std::move(pointer)), scope_(&scope) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& pointer() const { return pointer_; }
  Scope& scope() const { return *scope_; }

  /// Records a failure of this place, unless there is one already.
  void fail(std::string message, ErrorKind kind = ErrorKind::invalid_argument) const;

  /// True for an object; anything else is a failure that says what was `expected`.
  bool is_object(std::string_view expected) const;
  /// Fails for the first key that is not in `keys`, with the nearest one.
  void only_keys(std::span<const std::string_view> keys) const;
  /// The member with this name, where there is one.
  std::optional<Node> find(std::string_view key) const;
  /// The member with this name; its absence is a failure.
  std::optional<Node> require(std::string_view key) const;
  /// All members in key order; empty unless an object.
  std::vector<std::pair<std::string, Node>> members() const;

  /// The items of a list that must have one at least.
  std::vector<Node> items(std::string_view expected) const;
  /// A non-empty text.
  std::string text(std::string_view expected = "a text") const;
  /// A text that is one of `choices`.
  std::string choice(std::span<const std::string_view> choices) const;
  int64_t integer(int64_t minimum, int64_t maximum) const;
  bool boolean() const;
  /// A boolean, number or text; `expected` describes the place.
  ParamValue scalar(std::string_view expected = "a text, a number or a boolean") const;
  /// A list of distinct, non-empty texts.
  std::vector<std::string> names(std::string_view expected) const;

 private:
  const nlohmann::json* value_;
  std::string pointer_;
  Scope* scope_;
};

}  // namespace qfs::config
