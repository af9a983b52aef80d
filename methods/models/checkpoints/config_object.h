// ConfigObject: typed, range-checked reading of a JSON object such as config.json.
//
// Called by ModelDirectory and by the loaders of architectures. Parsing is bounded (16 MiB, depth
// 64, no duplicate keys). A value of another kind or out of range is a `data` error whose `where`
// is "file#/json/pointer". A key that is absent or null counts as absent. Copies share the parsed
// text. Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs::checkpoints {

class ConfigObject {
 public:
  /// `source` is the file's path, for errors.
  static Result<ConfigObject> parse(std::string_view text, std::string source);
  static Result<ConfigObject> read(const std::string& path);
  /// No keys at all.
  static ConfigObject empty(std::string source);

  bool has(std::string_view key) const;
  /// Whether the key is there, be it null: for keys whose absence means something else.
  bool mentions(std::string_view key) const;
  /// Whether a list without members stands under the key.
  bool empty_list(std::string_view key) const;
  std::vector<std::string> keys() const;

  // A missing key is `data`.
  Result<int64_t> integer(std::string_view key, int64_t minimum, int64_t maximum) const;
  Result<double> real(std::string_view key) const;
  Result<std::string> text(std::string_view key) const;
  Result<bool> boolean(std::string_view key) const;

  // An absent key gives `fallback`.
  Result<int64_t> integer_or(std::string_view key, int64_t minimum, int64_t maximum,
                             int64_t fallback) const;
  Result<double> real_or(std::string_view key, double fallback) const;
  Result<std::string> text_or(std::string_view key, std::string fallback) const;
  Result<bool> boolean_or(std::string_view key, bool fallback) const;

  /// An integer or a list of integers (`eos_token_id` is either); empty when absent.
  Result<std::vector<int64_t>> integers(std::string_view key) const;
  Result<std::vector<double>> reals(std::string_view key) const;
  Result<std::vector<std::string>> texts(std::string_view key) const;
  /// A list of objects; empty when absent.
  Result<std::vector<ConfigObject>> objects(std::string_view key) const;
  /// The object under a key; std::nullopt when absent.
  Result<std::optional<ConfigObject>> object(std::string_view key) const;

  /// The value as the JSON text of the file's meaning, for what has no reader here.
  std::string dump() const;
  const std::string& source() const { return source_; }
  /// "file#/pointer/key".
  std::string place(std::string_view key) const;

 private:
  ConfigObject(std::shared_ptr<const nlohmann::json> root, const nlohmann::json* value,
               std::string source, std::string pointer);
  const nlohmann::json* find(std::string_view key) const;
  Error missing(std::string_view key) const;
  Error mismatch(std::string_view key, std::string_view expected) const;

  std::shared_ptr<const nlohmann::json> root_;
  const nlohmann::json* value_ = nullptr;
  std::string source_;
  std::string pointer_;
};

}  // namespace qfs::checkpoints
