#include "methods/compressors/params.h"

#include <algorithm>
#include <limits>
#include <string>

#include "harness/api/param_specs.h"
#include "harness/core/json_dom.h"

namespace qfs::compressors {

std::vector<ParamSpec> split_params(bool sides) {
  std::vector<ParamSpec> params = {
      from_source(
          with_default(real_param("ratio", "tokens", 0, kMost,
                                  "Document tokens that one memory token stands for; 0: they "
                                  "have none"),
                       kRatio),
          "SelfCP: 12"),
      integer_param("input_tokens", "tokens", 1, kMost,
                    "Document tokens that are read, compressed or not; the whole document when "
                    "left out")};
  if (!sides) return params;
  params.push_back(
      from_source(with_default(choice_param("strategy", {"latter", "former"},
                                            "The part of a document that is compressed"),
                               std::string("latter")),
                  "SelfCP, section 3.2"));
  params.push_back(with_default(
      choice_param("memory_position", {"by_side", "always_before"},
                   "Where memory stands: on the compressed side, or before what is kept"),
      std::string("by_side")));
  params.push_back(with_default(choice_param("n_mem_rounding", {"ceil", "floor"},
                                             "Of the number of memory tokens; 'ceil' gives one "
                                             "at least"),
                                std::string("ceil")));
  params.push_back(flag_param("compress_short", false,
                              "A document of one window is halved, too; else it is read whole"));
  return params;
}

Status check_query(const Example& example) {
  if (example.query.empty() || !is_blank(example.query)) return {};
  return invalid_argument("example '" + example.key + "': its query is white space");
}

Status check_split(const Params& params, bool halves) {
  const double ratio = params.get<double>("ratio");
  if (ratio > 0 && ratio < 1) {
    return invalid_argument(
        "a 'ratio' below 1 makes a document longer; 0 leaves the compressed part out");
  }
  if (params.find<bool>("prefix_reuse").value_or(false)) {
    return invalid_argument("'prefix_reuse' shares tokens; what is compressed are rows");
  }
  int64_t window = params.find<int64_t>("local_context").value_or(kWindow);
  // Then a separator and the memory stand in it, too, and a head, which is of the example.
  if (params.find<std::string>("window_counts") == "total" && ratio > 0) {
    window = content_in(window - 1, ratio);
  }
  // Those of one window are read whole, so that the ratio is of demonstrations alone.
  if (halves && ratio > 0 && !makes_memory(params)) return {};
  // Of up to two windows the longer half is compressed.
  const int64_t read =
      params.find<int64_t>("input_tokens").value_or(std::numeric_limits<int64_t>::max());
  const int64_t longest = std::min(window, halves ? read / 2 + read % 2 : read);
  if (ratio > static_cast<double>(longest)) {
    return invalid_argument("a 'ratio' of " + shortest_decimal(ratio) + " for segments of up to " +
                            std::to_string(longest) + " tokens ('" +
                            (longest < window ? "input_tokens" : "local_context") +
                            "'); that number gives one memory token, 0 none");
  }
  return {};
}

SplitRules split_rules(const Params& params) {
  SplitRules rules;
  rules.window = params.find<int64_t>("local_context").value_or(kWindow);
  const double ratio = params.get<double>("ratio");
  rules.ratio = ratio > 0 ? Ratio(ratio) : std::nullopt;
  if (params.find<std::string>("strategy") == "former") rules.side = Side::former;
  if (params.find<std::string>("n_mem_rounding") == "floor") rules.rounding = Rounding::floor;
  rules.compress_short = params.find<bool>("compress_short").value_or(false);
  rules.memory_first = params.find<std::string>("memory_position") == "always_before";
  return rules;
}

bool makes_memory(const Params& params) {
  const SplitRules rules = split_rules(params);
  const auto read = params.find<int64_t>("input_tokens");
  const bool one_window = read && *read <= rules.window && !rules.compress_short &&
                          params.find<std::string>("window_counts") != "total";
  return rules.ratio && !one_window && !params.has("labels");
}

}  // namespace qfs::compressors
