// Parameters of methods: their declarations (name, type, unit, default, range, doc, source) and
// their resolved values. The declarations drive validation, `list methods`, the JSON schema and
// cell ids.
//
// Plain data; `Params::get` with a wrong type is a programming error (specs declare the type, the
// resolver checks it), an absent optional parameter is std::nullopt.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace qfs {

enum class ParamType { boolean, integer, real, text };

constexpr std::string_view to_string(ParamType type) {
  switch (type) {
    case ParamType::boolean:
      return "boolean";
    case ParamType::integer:
      return "integer";
    case ParamType::real:
      return "real";
    case ParamType::text:
      return "text";
  }
  return "text";
}

using ParamValue = std::variant<bool, int64_t, double, std::string>;  // index = ParamType's value

/// What a parameter of a method that trains is a parameter of. Those of training enter the id of
/// the training cell, on which the cells that predict depend.
enum class Stage { predict, train, both };

struct ParamSpec {
  std::string name;
  ParamType type = ParamType::integer;
  std::string unit;                         ///< "tokens", "words", "examples" …; empty: none
  std::optional<ParamValue> default_value;  ///< absent: the parameter may be left out (no value)
  bool required = false;                    ///< must be given by the user
  std::optional<double> minimum;            ///< inclusive, numbers only
  std::optional<double> maximum;            ///< inclusive, numbers only
  std::vector<std::string> choices;         ///< text only; empty: any text
  bool numerics = false;   ///< how, not what (batch size): numerics_id, not cell_id
  bool transport = false;  ///< neither what nor how (time-outs, prices, addresses): in no id
  bool path = false;       ///< a file, relative to the sweep file's folder; in no id either
  Stage stage = Stage::predict;
  std::string doc;     ///< one line
  std::string source;  ///< paper section, equation or reference tool; may be empty
};

class Params {
 public:
  void set(std::string name, ParamValue value) { values_[std::move(name)] = std::move(value); }
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }

  /// The value of a parameter; std::nullopt when it was left out. T must be the declared type.
  template <class T>
  std::optional<T> find(std::string_view name) const {
    auto it = values_.find(name);
    if (it == values_.end()) return std::nullopt;
    return std::get<T>(it->second);
  }

  /// The value of a parameter that has a default or is required.
  template <class T>
  const T& get(std::string_view name) const {
    return std::get<T>(values_.find(name)->second);
  }

  const std::map<std::string, ParamValue, std::less<>>& values() const { return values_; }

  friend bool operator==(const Params&, const Params&) = default;

 private:
  std::map<std::string, ParamValue, std::less<>> values_;
};

}  // namespace qfs
