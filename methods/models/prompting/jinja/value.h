// Values of the template language: what Python objects are to Jinja2.
//
// Used by the interpreter. Lists and dictionaries are shared and, as in the sandbox of the
// reference, never changed by a template; namespaces are. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "methods/models/prompting/jinja/text.h"

namespace qfs::prompting::jinja {

class Value;

/// What ends a rendering: an error with the place it concerns, filled in by the interpreter. Inside
/// the interpreter only; render() turns it into a Result.
class TemplateError : public std::runtime_error {
 public:
  explicit TemplateError(const std::string& message, bool unsupported = false)
      : std::runtime_error(message), unsupported(unsupported) {}
  bool unsupported;      ///< this program does not have it
  bool refused = false;  ///< the template called raise_exception
  int line = 0;
  int column = 0;
};

/// Work that one rendering may still do; spend() throws when it is used up. Thread-local, so that
/// values need not carry it.
void set_work_limit(int64_t steps);
void spend(int64_t steps);
constexpr size_t kLongestText = size_t{16} << 20;

struct Undefined {
  std::string name;  ///< what was looked for, for messages
};
struct None {};

using List = std::vector<Value>;
/// In order of insertion.
using Dict = std::vector<std::pair<std::string, Value>>;

/// Arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  /// The argument at `index` or with that name, or nullptr.
  const Value* find(size_t index, std::string_view name) const;
};

using Function = std::function<Value(const Arguments&)>;

class Value {
 public:
  using Data =
      std::variant<Undefined, None, bool, int64_t, double, Text, std::shared_ptr<const List>,
                   std::shared_ptr<Dict>, std::shared_ptr<const Function>>;

  Value() : data_(Undefined{}) {}
  Value(Data data) : data_(std::move(data)) {}  // NOLINT(*-explicit-*)
  static Value text(std::string bytes) { return Value(Data(Text(std::move(bytes)))); }
  static Value text(Text text) { return Value(Data(std::move(text))); }
  static Value integer(int64_t number) { return Value(Data(number)); }
  static Value boolean(bool value) { return Value(Data(value)); }
  // What is nested deeper than 200 levels throws: printing, comparing and destroying recurse.
  static Value list(List items);
  static Value tuple(List items) {
    Value value = list(std::move(items));
    value.tuple_ = true;
    return value;
  }
  /// What a generator of Python yields: always true, without length and index.
  static Value generator(List items) {
    Value value = list(std::move(items));
    value.generator_ = true;
    return value;
  }
  static Value dict(Dict items);
  static Value name_space(Dict items) {
    Value value = dict(std::move(items));
    value.namespace_ = true;
    return value;
  }
  /// `held`: a value that the function keeps.
  static Value function(Function function, const Value* held = nullptr);

  bool is_undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool is_none() const { return std::holds_alternative<None>(data_); }
  bool is_tuple() const { return tuple_; }
  bool is_namespace() const { return namespace_; }
  bool is_generator() const { return generator_; }
  bool is_function() const { return get<std::shared_ptr<const Function>>() != nullptr; }
  template <class T>
  const T* get() const {
    return std::get_if<T>(&data_);
  }
  const Text* text() const { return get<Text>(); }
  const List* list() const {
    const auto* pointer = get<std::shared_ptr<const List>>();
    return pointer == nullptr ? nullptr : pointer->get();
  }
  Dict* dict() const {
    const auto* pointer = get<std::shared_ptr<Dict>>();
    return pointer == nullptr ? nullptr : pointer->get();
  }
  /// Whether two values are one object (shared lists and dictionaries) or equal scalars.
  const Data& data() const { return data_; }

  bool truth() const;
  /// "str", "int", … as Python calls it.
  std::string_view type_name() const;
  /// An integer or boolean as one; throws otherwise.
  int64_t as_integer(std::string_view what) const;

 private:
  Data data_;
  bool tuple_ = false;
  bool namespace_ = false;
  bool generator_ = false;
  int depth_ = 0;  ///< of what is inside
};

/// Whether a namespace or function is in the value: put into a namespace, it could hold itself.
bool holds_reference(const Value& value);

const Value* find(const Dict& dict, std::string_view key);

/// str(value); Undefined prints nothing.
Text to_text(const Value& value);
/// repr(value).
std::string repr(const Value& value);
/// json.dumps(value, ensure_ascii=False, indent=indent); -1: on one line. Plain when a part was.
Text to_json(const Value& value, int64_t indent, bool sort_keys);

bool equal(const Value& a, const Value& b);
/// -1, 0, 1; throws for values without an order.
int compare(const Value& a, const Value& b);
/// `item in container`.
bool contains(const Value& container, const Value& item);
/// The items that a loop sees: of lists, characters of texts, keys of dictionaries.
List items_of(const Value& value);

}  // namespace qfs::prompting::jinja
