// How the rows of training lie in the store: the names of its costs, and which places artifacts may
// have. Private to harness/store (writer, reader, integrity check). Thread-safe; cannot fail.
#pragma once

#include <filesystem>
#include <string_view>

#include "harness/api/training.h"

namespace qfs::store {

/// Calls visit(name, value) for every number of a cost; with a mutable one, values are references.
template <class Cost, class Visit>
void visit_cost(Cost& cost, Visit&& visit) {
  visit("seconds", cost.seconds);
  visit("steps", cost.steps);
  visit("tokens", cost.tokens);
  visit("flops", cost.flops);
  visit("trainable_parameters", cost.trainable_parameters);
  visit("peak_bytes", cost.peak_bytes);
}

/// Whether a location names a file inside the store's folder.
inline bool is_inside(std::string_view location) {
  const std::filesystem::path path(location);
  if (!path.has_filename() || path.is_absolute()) return false;
  return *path.lexically_normal().begin() != "..";
}

}  // namespace qfs::store
