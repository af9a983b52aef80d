#include "datasets/readers/keyed_examples.h"

#include <utility>

namespace qfs::datasets {

Status KeyedExamples::add(Example example, const JsonPlace& place) {
  if (example.key.empty()) return data_error("an id must not be empty", place.to_string());
  auto [first, fresh] = first_places_.emplace(example.key, place.to_string());
  if (!fresh) {
    return data_error("id '" + example.key + "' is already that of " + first->second,
                      place.to_string());
  }
  examples_.push_back(std::move(example));
  return {};
}

}  // namespace qfs::datasets
