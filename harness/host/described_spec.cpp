#include "harness/host/described_spec.h"

#include <algorithm>
#include <set>

namespace qfs::host {
namespace {

/// snake_case, as every method and parameter name.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && name.front() >= 'a' && name.front() <= 'z' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

class DescribedSpec : public MethodSpec {
 public:
  explicit DescribedSpec(Description description) : description_(std::move(description)) {}

  std::string_view name() const override { return description_.name; }
  std::string_view doc() const override { return description_.doc; }
  int version() const override { return description_.version; }
  std::vector<std::string> layers() const override { return {}; }
  std::vector<ParamSpec> params() const override { return description_.params; }

  Needs needs(const Params&) const override {
    Needs needs;
    needs.references = description_.references;
    needs.evidence = description_.evidence;
    needs.external = true;
    return needs;
  }

  /// The work of a foreign program is unknown; the words it reads stand for it.
  Cost cost(const Params&, const DatasetStats& stats) const override {
    const auto examples = static_cast<double>(stats.examples);
    return {.flops = examples * stats.mean_document_words * 1e6, .bytes = 0, .tokens_out = 0};
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
