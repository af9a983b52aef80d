#include "harness/host/described_spec.h"

#include <algorithm>
#include <set>

#include "harness/api/document_cutter.h"
#include "harness/api/experiment.h"
#include "harness/api/param_specs.h"

namespace qfs::host {
namespace {

/// snake_case, as every method and parameter name.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.front() >= 'a' && name.front() <= 'z' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

constexpr double kMaxTokens = 1 << 30;

/// local_context means one thing everywhere; a program may give it a default and a range.
Status check_reserved(const ParamSpec& param) {
  if (param.name == kTruncate) {
    return data_error(
        "the parameter 'truncate' is that of qfs-bench, which cuts the documents of "
        "programs by it; leave it out of the declaration");
  }
  if (std::ranges::find(kEntryKeys, param.name) != std::end(kEntryKeys)) {
    return data_error("the parameter '" + param.name +
                      "' could not be set: that key of a method's entry is a sweep's own; choose "
                      "another name");
  }
  if (param.name == kLocalContext && param.type != ParamType::integer) {
    return data_error(
        "the parameter 'local_context' is a number of document tokens, to which "
        "qfs-bench cuts the documents: declare it as an integer, or leave it out of "
        "the declaration");
  }
  return {};
}

class DescribedSpec : public MethodSpec {
 public:
  explicit DescribedSpec(Description description) : description_(std::move(description)) {}

  std::string_view name() const override { return description_.name; }
  std::string_view doc() const override { return description_.doc; }
  int version() const override { return description_.version; }
  std::vector<std::string> layers(const Params&, const BackboneFacts&) const override { return {}; }
  /// The program's own, then those by which qfs-bench cuts its documents. The latter have no
  /// default, so that cells without them keep their ids.
  std::vector<ParamSpec> params() const override {
    std::vector<ParamSpec> params = description_.params;
    const auto own = std::ranges::find(params, kLocalContext, &ParamSpec::name);
    if (own != params.end()) {
      own->unit = "tokens";
      own->minimum = std::max(1.0, own->minimum.value_or(1));
    } else {
      params.push_back(integer_param(kLocalContext, "tokens", 1, kMaxTokens,
                                     "Document tokens that the program gets; the whole document "
                                     "when left out"));
    }
    params.push_back(choice_param(kTruncate, {"head", "tail", "middle"},
                                  "Which part of a longer document it gets; head when left out"));
    return params;
  }

  Needs needs(const Params& params) const override {
    Needs needs;
    needs.references = description_.references;
    needs.evidence = description_.evidence;
    needs.external = true;
    needs.artifacts = description_.artifacts;
    needs.tokenizer = params.has(kLocalContext);
    return needs;
  }

  Status validate(const Params& params) const override {
    if (params.has(kTruncate) && !params.has(kLocalContext)) {
      return invalid_argument("'truncate' needs 'local_context'");
    }
    return {};
  }

  /// The work of a foreign program is unknown; the words it reads stand for it.
  Cost cost(const Params& params, const DatasetStats& stats) const override {
    const auto examples = static_cast<double>(stats.examples);
    double words = stats.mean_document_words;
    if (const auto limit = params.find<int64_t>(kLocalContext)) {
      words = std::min(words, static_cast<double>(*limit));
    }
    return {.flops = examples * words * 1e6, .bytes = 0, .tokens_out = 0};
  }

 private:
  Description description_;
};

}  // namespace

Result<std::shared_ptr<const MethodSpec>> make_described_spec(Description description) {
  if (description.metric) {
    return data_error("'" + description.name +
                      "' says that it is a metric; declare it in \"external_metrics\"");
  }
  if (!is_name(description.name)) {
    return data_error("an external method's name is snake_case (a-z, 0-9, _), not '" +
                      description.name + "'");
  }
  std::set<std::string> seen;
  for (const ParamSpec& param : description.params) {
    if (!is_name(param.name)) {
      return data_error("parameter names are snake_case, not '" + param.name + "'");
    }
    if (Status reserved = check_reserved(param); !reserved) return reserved.error();
    if (!seen.insert(param.name).second) {
      return data_error("parameter '" + param.name + "' is declared twice");
    }
    if (param.minimum && param.maximum && *param.minimum > *param.maximum) {
      return data_error("parameter '" + param.name + "': minimum is above maximum");
    }
  }
  return std::shared_ptr<const MethodSpec>(std::make_shared<DescribedSpec>(std::move(description)));
}

}  // namespace qfs::host
