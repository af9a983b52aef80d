// ErrorException: an Error on its way through an interface that returns plain values.
//
// Thrown by tokenizers, which count and cut texts everywhere and fail only where the expression of
// a stranger's file exceeds its limits; caught where requests are answered, which give the Error
// back as it is. Immutable; what() is the Error's text.
#pragma once

#include <stdexcept>
#include <utility>

#include "harness/api/result.h"

namespace qfs {

class ErrorException final : public std::runtime_error {
 public:
  explicit ErrorException(Error error)
      : std::runtime_error(error.to_string()), error_(std::move(error)) {}

  const Error& error() const { return error_; }

 private:
  Error error_;
};

}  // namespace qfs
