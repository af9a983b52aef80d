// What a server says of its models (GET /models), before anything is sent to it.
//
// Used by the session when it opens. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/api/result.h"

namespace qfs::endpoint {

struct ModelListing {
  bool known = false;              ///< the server has a readable list
  bool listed = false;             ///< the model is in it
  std::vector<std::string> names;  ///< at most 100
  std::string root;                ///< of the model's entry (vLLM): what its name stands for
  int64_t window_tokens = 0;       ///< max_model_len of the entry (vLLM); 0: not said
};

/// Reads the body of /models; anything unreadable is a list that is not known.
ModelListing read_model_list(std::string_view body, std::string_view model);

/// `not_found` with the nearest name when the list is known and does not hold the model.
Status check_listed(const ModelListing& listing, const std::string& model);

}  // namespace qfs::endpoint
