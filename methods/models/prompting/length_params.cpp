#include "methods/models/prompting/length_params.h"

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
  return with_default(
      choice_param("truncate", policies, "Which part of a longer document is kept"),
      policies.front());
}

ParamSpec max_new_tokens_param() {
  return with_default(integer_param("max_new_tokens", "tokens", 1, kMostTokens,
                                    "Longest output; the end token is not counted"),
                      int64_t{128});
}

}  // namespace qfs::prompting
