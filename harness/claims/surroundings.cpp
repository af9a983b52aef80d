#include "harness/claims/surroundings.h"

#include <fmt/format.h>

#include <algorithm>

#include "datasets/statistics.h"
#include "harness/api/metric_entry.h"
#include "harness/claims/counts.h"
#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "harness/core/suggest.h"
#include "harness/plan/param_values.h"

namespace qfs::claims {
namespace {

Obstacle for_good(std::string why) { return {true, std::move(why)}; }
Obstacle for_now(std::string why) { return {false, std::move(why)}; }

/// A statistic of token counts, which hosts make.
constexpr std::string_view kDocumentTokens = "document_tokens";
constexpr uint64_t kMostFileBytes = uint64_t{64} << 20;

/// Whether the catalogue has a metric of this name, whatever it lacks to be made.
bool is_metric(const MetricCatalog& catalog, std::string_view name) {
  const std::string_view base = name.substr(0, name.find(':'));
  for (const MetricInfo& info : catalog.list()) {
    if (info.entry.name == base) return true;
    if (std::ranges::count(info.entry.aliases, base, &MetricAlias::name) > 0) return true;
  }
  return false;
}

Obstacle of(const Error& error) {
  // What is not on this machine can be brought here.
  return error.kind == ErrorKind::unavailable ? for_now(error.message) : for_good(error.message);
}

}  // namespace

std::vector<NamedValue> given_values(const MethodQuery& query,
                                     const std::vector<ParamSpec>& declared) {
  std::vector<NamedValue> values = query.params;
  for (const NamedValue& value : query.shared) {
    const bool given = std::ranges::count(query.params, value.name, &NamedValue::name) > 0;
    if (!given && plan::find_param(declared, value.name) != nullptr) values.push_back(value);
  }
  return values;
}

std::string Lookups::place_of(const std::string& name) const {
  const auto place = here_.places.find(name);
  return place == here_.places.end() ? name : place->second;
}

void Lookups::note_use(const std::string& name, const std::string& digest) {
  if (here_.places.contains(name)) used_[name] = digest;
}

std::vector<std::string> Lookups::used_places() const {
  constexpr size_t kShownDigits = 16;
  std::vector<std::string> places;
  for (const auto& [name, digest] : used_) {
    places.push_back(digest.empty() ? name : name + "#" + digest.substr(0, kShownDigits));
  }
  return places;
}

Result<std::shared_ptr<const Metric>> Lookups::metric(const std::string& name) {
  const auto known = metrics_.find(name);
  if (known != metrics_.end()) return known->second;
  return metrics_.emplace(name, here_.metrics.make(name)).first->second;
}

Result<Resource> Lookups::weights(const std::string& name) {
  auto known = backbones_.find(name);
  if (known == backbones_.end()) {
    known = backbones_.emplace(name, here_.methods.backbone(place_of(name))).first;
  }
  if (known->second) {
    note_use(name, known->second->digest);
    return *known->second;
  }
  if (known->second.error().kind != ErrorKind::not_found) return known->second.error();
  return unavailable(
      fmt::format("no weights of '{0}' are known; --with {0}=PATH names them", name));
}

Result<MethodQuery> Lookups::with_files(const MethodQuery& query) {
  MethodQuery filled = query;
  for (const auto& [param, name] : query.files) {
    const auto place = here_.places.find(name);
    if (place == here_.places.end()) {
      return unavailable(fmt::format(
          "'{0}' is a file of the release that does not come with this program; --with {1}=FILE "
          "names it",
          param, name));
    }
    const Result<std::string> text = read_file(place->second, kMostFileBytes);
    if (!text) return unavailable(text.error().message);
    note_use(name, sha256_hex(*text));
    filled.params.push_back({param, *text, ""});
  }
  return filled;
}

Result<ResolvedMethod> Lookups::method(const MethodQuery& named) {
  const Result<MethodQuery> filled = with_files(named);
  if (!filled) return filled.error();
  const MethodQuery& query = *filled;
  ResolvedMethod resolved;
  const Result<const MethodSpec*> spec = here_.methods.find(query.method);
  if (!spec) return not_found(fmt::format("there is no method '{}'", query.method));
  resolved.spec = *spec;
  const std::vector<ParamSpec> declared = resolved.spec->params();
  for (const NamedValue& param : query.params) {
    if (plan::find_param(declared, param.name) == nullptr) {
      return not_found(
          fmt::format("the method '{}' has no parameter '{}'", query.method, param.name));
    }
  }
  resolved.train_examples = query.train_examples;
  Result<Params> params =
      plan::resolve_params(declared, given_values(query, declared), {"", "", query.method});
  if (!params) {
    return invalid_argument(
        fmt::format("the method '{}': {}", query.method, params.error().message));
  }
  resolved.params = *std::move(params);
  if (Status valid = resolved.spec->validate(resolved.params); !valid) return valid.error();
  const Needs needs = resolved.spec->needs(resolved.params);
  if (needs.imported) return not_found("the outputs behind these numbers are not published");
  if (needs.backbone) {
    Result<Resource> model = weights(query.backbone);
    if (!model) return model.error();
    resolved.backbone = *std::move(model);
    Result<BackboneFacts> facts = here_.methods.backbone_facts(*resolved.backbone);
    if (!facts) return facts.error();
    resolved.facts = *std::move(facts);
  } else if (!query.backbone.empty()) {
    return invalid_argument(
        fmt::format("the method '{}' has no backbone '{}'", query.method, query.backbone));
  }
  for (const std::string& role : needs.backbones) {
    const auto named = query.backbones.find(role);
    if (named == query.backbones.end()) {
      return not_found(fmt::format(
          "the method '{}' reads a model as '{}', and the claim names none", query.method, role));
    }
    Result<Resource> model = weights(named->second);
    if (!model) return model.error();
    resolved.backbones.emplace(role, *std::move(model));
  }
  if (resolved.backbone) {
    const Status fits = resolved.spec->check_backbone(resolved.params, resolved.facts);
    if (!fits) return fits.error();
  }
  const bool by_backbone = query.tokenizer.empty() && needs.tokenizer;
  resolved.counter = by_backbone ? query.backbone : query.tokenizer;
  if (const std::string& counter = resolved.counter; !counter.empty()) {
    Result<Resource> tokenizer = here_.methods.tokenizer(place_of(counter));
    if (!tokenizer) return unavailable(fmt::format("--with {}=PATH names the tokenizer", counter));
    resolved.tokenizer = *std::move(tokenizer);
    if (!query.tokenizer.empty()) note_use(counter, resolved.tokenizer->digest);
  }
  return resolved;
}

Result<std::vector<DatasetRequest>> Lookups::requests(const DatasetQuery& query) const {
  std::vector<std::string> names;
  for (const DatasetInfo& info : here_.datasets.list()) {
    names.push_back(info.name);
    if (info.name != query.name) continue;
    const auto check = [&](std::string_view what, const std::vector<std::string>& choices,
                           std::string& chosen) -> Status {
      if (choices.empty()) return {};
      if (chosen.empty()) chosen = choices.front();
      if (std::ranges::count(choices, chosen) > 0) return {};
      return not_found(fmt::format("the data set '{}' has no {} '{}'{}", query.name, what, chosen,
                                   suggestion(chosen, choices)));
    };
    std::vector<std::string> splits = query.splits;
    if (splits.empty()) splits.emplace_back();
    std::vector<DatasetRequest> requests;
    for (const std::string& split : splits) {
      DatasetRequest& request = requests.emplace_back();
      request.name = query.name;
      request.split = split;
      request.view = query.view;
      request.text_form = query.text_form;
      if (Status s = check("split", info.splits, request.split); !s) return s.error();
      if (Status s = check("view", info.views, request.view); !s) return s.error();
      if (Status s = check("text form", info.text_forms, request.text_form); !s) return s.error();
    }
    return requests;
  }
  return not_found(fmt::format("there is no data set '{}'", query.name));
}

std::optional<Obstacle> Lookups::obstacle_of_cell(const Claim& claim) {
  if (!claim.method) return for_good("no method is named");
  if (!claim.dataset) return for_good("no data set is named");
  if (const std::string& what = claim.method->not_computed; !what.empty()) {
    return for_good(fmt::format("no code of this program computes {}", what));
  }
  if (const auto data = requests(*claim.dataset); !data) return of(data.error());
  if (const auto resolved = method(*claim.method); !resolved) return of(resolved.error());
  return std::nullopt;
}

std::optional<Obstacle> Lookups::obstacle_of_length(const Claim& claim) {
  if (auto obstacle = obstacle_of_cell(claim)) return obstacle;
  const MethodSpec& spec = *(*here_.methods.find(claim.method->method));
  const std::vector<ParamSpec> declared = spec.params();
  const ParamSpec* const param = plan::find_param(declared, claim.longest->parameter);
  if (param != nullptr && param->type == ParamType::integer && param->stage != Stage::predict) {
    return std::nullopt;
  }
  return for_good(fmt::format("'{}' is no length of a training by the method '{}'",
                              claim.longest->parameter, spec.name()));
}

std::optional<Obstacle> Lookups::obstacle_of_score(const Claim& claim) {
  if (claim.files) {
    note_use(claim.files->folder, "");
    if (!here_.places.contains(claim.files->folder)) {
      return for_now(fmt::format("--with {}=FOLDER says where the files are", claim.files->folder));
    }
  } else if (auto obstacle = obstacle_of_cell(claim)) {
    return obstacle;
  }
  const auto measure = metric(claim.metric);
  if (!measure && !is_metric(here_.metrics, claim.metric)) {
    return for_good(fmt::format("there is no metric '{}'", claim.metric));
  }
  // One that exists lacks data, which can be brought here.
  if (!measure) {
    const std::string& message = measure.error().message;
    if (message.find(claim.metric) != std::string::npos) return for_now(message);
    return for_now(fmt::format("the metric '{}': {}", claim.metric, message));
  }
  if (std::ranges::count((*measure)->columns(), claim.what) == 0) {
    return for_good(fmt::format("the metric '{}' has no column '{}'", claim.metric, claim.what));
  }
  return std::nullopt;
}

std::optional<Obstacle> Lookups::obstacle_of_data(const Claim& claim) {
  if (claim.files) {
    note_use(claim.files->folder, "");
    if (here_.places.contains(claim.files->folder)) return std::nullopt;
    return for_now(fmt::format("--with {}=FOLDER says where the files are", claim.files->folder));
  }
  if (!claim.dataset) return for_good("no data set is named");
  if (const auto data = requests(*claim.dataset); !data) return of(data.error());
  if (claim.what == kDocumentTokens) {
    const auto counting = method({"lead", "", claim.dataset->tokenizer, {}});
    if (!counting) return of(counting.error());
    return std::nullopt;
  }
  const auto statistics = datasets::statistics();
  if (std::ranges::count(statistics, claim.what, &datasets::StatisticInfo::name) == 0) {
    return for_good(fmt::format("there is no statistic '{}' of data sets", claim.what));
  }
  return std::nullopt;
}

std::optional<Obstacle> Lookups::obstacle(const Claim& claim) {
  switch (claim.kind) {
    case ClaimKind::stated:
      return for_good(claim.why);
    case ClaimKind::count: {
      const Result<double> count = count_of(claim);
      if (!count) return for_good(count.error().message);
      return std::nullopt;
    }
    case ClaimKind::data:
      return obstacle_of_data(claim);
    case ClaimKind::score:
      return obstacle_of_score(claim);
    case ClaimKind::longest:
      return obstacle_of_length(claim);
  }
  return std::nullopt;
}

}  // namespace qfs::claims
