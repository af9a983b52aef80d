#include "methods/models/prompting/length_params.h"

#include <string>

#include "harness/api/param_specs.h"
#include "methods/models/prompting/truncation.h"

namespace qfs::prompting {

namespace {

constexpr double kMostTokens = 1 << 24;

}  // namespace

ParamSpec local_context_param() {
  return integer_param("local_context", "tokens", 1, kMostTokens,
                       "Document tokens that the method reads; the whole document when left out");
}

ParamSpec truncate_param() {
  const std::vector<std::string> policies = truncation_policy_names();
  return with_default(choice_param("truncate", policies, "Which part of a longer document is kept"),
                      policies.front());
}

ParamSpec max_new_tokens_param() {
  return with_default(integer_param("max_new_tokens", "tokens", 1, kMostTokens,
                                    "Longest output; the end token is not counted"),
                      int64_t{128});
}

std::vector<ParamSpec> with_total_length(std::vector<ParamSpec> params) {
  constexpr const char* kSource = "IDEAL's release";
  params.push_back(
      from_source(integer_param(kTotalTokens, "tokens", 2, kMostTokens,
                                "Prompt and output together, at most: a document is cut to what "
                                "the prompt's rest and 'reserved_tokens' leave, and an output has "
                                "what its prompt leaves, 'max_new_tokens' at most"),
                  kSource));
  params.push_back(from_source(integer_param(kReservedTokens, "tokens", 1, kMostTokens,
                                             "With 'total_tokens': left for the output of a "
                                             "document that is cut, which is no minimum length"),
                               kSource));
  return params;
}

Status check_total_length(const Params& params, const char* budget) {
  const auto total = params.find<int64_t>(kTotalTokens);
  const auto reserved = params.find<int64_t>(kReservedTokens);
  if (!total && !reserved) return {};
  if (!total || !reserved) {
    return invalid_argument("'total_tokens' and 'reserved_tokens' need each other");
  }
  if (params.has(budget)) {
    return invalid_argument("'total_tokens' says what is read of a document; leave '" +
                            std::string(budget) + "' out");
  }
  const int64_t longest = params.get<int64_t>("max_new_tokens");
  if (*reserved > longest) {
    return invalid_argument("'reserved_tokens' is " + std::to_string(*reserved) +
                            ", and an output has " + std::to_string(longest) +
                            " at most ('max_new_tokens')");
  }
  const int64_t shortest = params.find<int64_t>("min_new_tokens").value_or(0);
  if (shortest > *reserved) {
    return invalid_argument("'min_new_tokens' is " + std::to_string(shortest) +
                            ", and a document that is cut leaves " + std::to_string(*reserved) +
                            " ('reserved_tokens')");
  }
  if (*reserved < *total) return {};
  return invalid_argument("'reserved_tokens' is " + std::to_string(*reserved) +
                          ", which leaves nothing of " + std::to_string(*total) +
                          " 'total_tokens' for a prompt");
}

}  // namespace qfs::prompting
