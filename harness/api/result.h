// Result<T> and Status: how every foreseeable failure travels through the program.
//
// Called by everything. A failure is a value with a kind, a message that names the file, key, shape
// or value at fault, and the place in the user's input (`where`: "file:line", a JSON pointer, or
// empty). Exceptions are kept for programming errors and for the LibTorch boundary, where they are
// caught once and turned into an Error. Immutable after construction; as thread-safe as T.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace qfs {

/// What went wrong, as coarse as a caller can act upon.
enum class ErrorKind {
  invalid_argument,  ///< the user asked for something that cannot be (usage, configuration, range)
  not_found,         ///< a named thing (file, method, data set, column) does not exist
  data,              ///< a foreign file or record is malformed, or its digest differs
  out_of_memory,     ///< host or device memory did not suffice
  timeout,           ///< a declared time limit passed
  unavailable,       ///< this build or machine cannot do it (no device, no checkpoint, dead host)
  store,     ///< the store's file cannot be used (not ours, newer, locked, read-only, disk full)
  internal,  ///< an invariant of this program is broken; please report
};

/// The stable lower-case name of a kind, as stored and sent over the session protocol.
constexpr std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return "invalid_argument";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::data:
      return "data";
    case ErrorKind::out_of_memory:
      return "out_of_memory";
    case ErrorKind::timeout:
      return "timeout";
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::store:
      return "store";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

/// The kind with this name; `internal` for a name that is none of them.
constexpr ErrorKind error_kind_from(std::string_view name) {
  for (ErrorKind kind :
       {ErrorKind::invalid_argument, ErrorKind::not_found, ErrorKind::data,
        ErrorKind::out_of_memory, ErrorKind::timeout, ErrorKind::unavailable, ErrorKind::store}) {
    if (to_string(kind) == name) return kind;
  }
  return ErrorKind::internal;
}

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;  ///< one sentence that names what is at fault and what was expected
  std::string where;    ///< "file:line", "file#/json/pointer", or empty

  /// "where: message", or the message alone; what a terminal shows.
  std::string to_string() const { return where.empty() ? message : where + ": " + message; }

  friend bool operator==(const Error&, const Error&) = default;
};

/// Either a T or an Error. Test with `ok()` (or as bool) before dereferencing.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(*-explicit-*)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(*-explicit-*)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& operator*() const& {
    assert(ok());
    return std::get<0>(state_);
  }
  T& operator*() & {
    assert(ok());
    return std::get<0>(state_);
  }
  T&& operator*() && {
    assert(ok());
    return std::get<0>(std::move(state_));
  }
  const T* operator->() const {
    assert(ok());
    return &std::get<0>(state_);
  }
  T* operator->() {
    assert(ok());
    return &std::get<0>(state_);
  }

  const Error& error() const& {
    assert(!ok());
    return std::get<1>(state_);
  }
  Error&& error() && {
    assert(!ok());
    return std::get<1>(std::move(state_));
  }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an Error: the Result of a function that returns nothing else.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(*-explicit-*)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    assert(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

// Short constructors, so that a failing line reads as one sentence.
inline Error invalid_argument(std::string message, std::string where = {}) {
  return {ErrorKind::invalid_argument, std::move(message), std::move(where)};
}
inline Error not_found(std::string message, std::string where = {}) {
  return {ErrorKind::not_found, std::move(message), std::move(where)};
}
inline Error data_error(std::string message, std::string where = {}) {
  return {ErrorKind::data, std::move(message), std::move(where)};
}
inline Error out_of_memory(std::string message, std::string where = {}) {
  return {ErrorKind::out_of_memory, std::move(message), std::move(where)};
}
inline Error timed_out(std::string message, std::string where = {}) {
  return {ErrorKind::timeout, std::move(message), std::move(where)};
}
inline Error unavailable(std::string message, std::string where = {}) {
  return {ErrorKind::unavailable, std::move(message), std::move(where)};
}
inline Error store_error(std::string message, std::string where = {}) {
  return {ErrorKind::store, std::move(message), std::move(where)};
}
inline Error internal_error(std::string message, std::string where = {}) {
  return {ErrorKind::internal, std::move(message), std::move(where)};
}

}  // namespace qfs
