#include <fmt/format.h>

#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "harness/api/document_cutter.h"
#include "harness/api/prompt_counter.h"
#include "harness/core/counted.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/plan/param_values.h"
#include "harness/run/document_cutter.h"
#include "harness/run/run.h"

namespace qfs::run {
namespace {

/// What stands around a text in prompts of the cell.
Params prompt_params(const plan::Cell& cell) {
  Params params;
  for (const char* name : kPromptParams) {
    const auto value = cell.params.values().find(name);
    if (value != cell.params.values().end()) params.set(name, value->second);
  }
  return params;
}

/// Counts tokens in a light host, which stays for the next cell.
class TokenCounter {
 public:
  TokenCounter(const plan::Plan& plan, const RunOptions& options)
      : launcher_(options, plan.experiment.limits, cache_directory() + "/logs"),
        pool_(launcher_, HostReuse::weights) {}
  ~TokenCounter() { pool_.discard(); }
  TokenCounter(const TokenCounter&) = delete;
  TokenCounter& operator=(const TokenCounter&) = delete;

  /// Whether the cell's tokenizer can be opened.
  Status try_tokenizer(const plan::Cell& cell) {
    plan::Cell cutter = light_cell(cell, kDocumentCutter);
    cutter.params.set(kLocalContext, int64_t{1});
    if (Status opened = open(cutter, "the tokenizer cannot be opened"); !opened) return opened;
    pool_.release();
    return {};
  }

  /// Tokens of the prompts of the cell's backbone up to the end of each text, given in pieces.
  Result<std::vector<int64_t>> count(const plan::Cell& cell,
                                     const std::vector<std::vector<std::string>>& texts) {
    plan::Cell counter = light_cell(cell, kPromptCounter);
    counter.params = prompt_params(cell);
    // The digest is the model's, which is checked when the cell opens it.
    counter.tokenizer = {cell.backbone->name, cell.backbone->path, ""};
    if (Status opened = open(counter, "prompts cannot be counted"); !opened) return opened.error();
    host::RunRequest request;
    for (size_t i = 0; i < texts.size(); ++i) {
      NumberedExample& numbered = request.examples.emplace_back();
      numbered.ordinal = static_cast<int64_t>(i);
      for (const std::string& piece : texts[i]) numbered.example.document.push_back({piece, ""});
    }
    host::UnitResults results;
    const std::chrono::seconds timeout(launcher_.limits().unit_seconds);
    if (auto failure = pool_.host().run(request, {}, timeout, results)) return failure->error;
    std::vector<int64_t> counts;
    for (const host::PredictionReply& reply : results.predictions) {
      counts.push_back(reply.prediction.truncation->document_tokens);
    }
    pool_.release();
    return counts;
  }

 private:
  Status open(const plan::Cell& cell, const std::string& what) {
    auto failure = pool_.open(cell, launcher_.runtime(cell));
    if (!failure) return {};
    failure->error.message = what + ": " + failure->error.to_string();
    return std::move(failure->error);
  }

  HostLauncher launcher_;
  HostPool pool_;
};

Status check_examples(const plan::PlannedDataset& data, const plan::Cell& cell) {
  if (cell.documents == Documents::other) return {};  // it does not read its examples' own
  std::optional<Error> first;
  size_t more = 0;
  for (const int64_t ordinal : data.ordinals) {
    const Example& example = data.data->examples[static_cast<size_t>(ordinal)];
    Status fits = cell.spec->check_example(cell.params, example);
    if (fits) continue;
    if (first) ++more;
    if (!first) first = fits.error();
  }
  if (!first) return {};
  if (more > 0) first->message += fmt::format("; likewise of {} more", counted(more, "example"));
  return *std::move(first);
}

/// Methods that take such documents have the query alone, if anything.
void warn_of_blank_documents(const plan::PlannedDataset& data) {
  size_t blank = 0;
  for (const int64_t ordinal : data.ordinals) {
    if (!has_text(data.data->examples[static_cast<size_t>(ordinal)])) ++blank;
  }
  if (blank == 0) return;
  log_warning(fmt::format("data set '{}' ({}): {} of {} have a document without text", data.name,
                          data.data->manifest.split, blank,
                          counted(data.ordinals.size(), "example")));
}

/// The examples of a cell that its method sets bounds to.
struct Bounded {
  std::vector<const Example*> examples;
  std::vector<TokenBound> bounds;
};

Bounded bounded_examples(const plan::PlannedDataset& data, const plan::Cell& cell) {
  Bounded bounded;
  for (const int64_t ordinal : data.ordinals) {
    const Example& example = data.data->examples[static_cast<size_t>(ordinal)];
    std::optional<TokenBound> bound = cell.spec->token_bound(cell.params, example);
    if (!bound) break;  // it is the method with its parameters that has one
    bounded.examples.push_back(&example);
    bounded.bounds.push_back(*std::move(bound));
  }
  return bounded;
}

/// Tokens by text in pieces, of prompts with the same around it.
using KnownTokens = std::map<std::vector<std::string>, int64_t>;

Status check_bounds(const plan::PlannedDataset& data, const plan::Cell& cell, TokenCounter& counter,
                    KnownTokens& known) {
  const Bounded bounded = bounded_examples(data, cell);
  std::vector<std::vector<std::string>> texts;
  for (const TokenBound& bound : bounded.bounds) {
    if (known.emplace(bound.pieces, 0).second) texts.push_back(bound.pieces);
  }
  if (!texts.empty()) {
    const Result<std::vector<int64_t>> counts = counter.count(cell, texts);
    if (!counts) return counts.error();
    for (size_t i = 0; i < texts.size(); ++i) known[texts[i]] = counts->at(i);
  }
  size_t beyond = 0;
  std::string first;
  for (size_t i = 0; i < bounded.bounds.size(); ++i) {
    const TokenBound& bound = bounded.bounds[i];
    const int64_t tokens = known.at(bound.pieces);
    if (tokens <= bound.tokens || ++beyond > 1) continue;
    first = fmt::format("example '{}': {} has {}, and {} holds {}", bounded.examples[i]->key,
                        bound.what, counted(tokens, "token"), bound.holder, bound.tokens);
  }
  if (beyond == 0) return {};
  if (beyond > 1) {
    first +=
        fmt::format("; {} too long as well", counted(beyond - 1, "example is", "examples are"));
  }
  return invalid_argument(first);
}

}  // namespace

Status check_inputs(const plan::Plan& plan, const RunOptions& options) {
  TokenCounter counter(plan, options);
  std::set<std::pair<std::string, std::string>> opened;
  std::map<std::string, KnownTokens> known;  // by backbone and frame
  const auto placed = [&](Error error, const plan::Cell& cell) {
    error.where = plan.experiment.path + "#" + cell.pointer;
    return error;
  };
  const auto check = [&](const plan::PlannedDataset& data, const plan::Cell& cell) -> Status {
    if (Status fit = check_examples(data, cell); !fit) return placed(fit.error(), cell);
    if (!cell.backbone) return {};
    std::string frame = cell.backbone->digest;
    const Params around = prompt_params(cell);
    for (const auto& [name, value] : around.values()) {
      frame += "\n" + name + " " + plan::value_text(value);
    }
    Status fit = check_bounds(data, cell, counter, known[frame]);
    if (!fit) return placed(fit.error(), cell);
    return {};
  };
  for (const plan::PlannedDataset& data : plan.datasets) warn_of_blank_documents(data);
  for (const plan::PlannedDataset& data : plan.training_data) warn_of_blank_documents(data);
  for (const plan::Cell& cell : plan.cells) {
    // Built-in tokenizers need no file.
    if (cell.tokenizer && !cell.tokenizer->path.empty() &&
        opened.emplace(cell.tokenizer->path, cell.tokenizer->digest).second) {
      if (Status sound = counter.try_tokenizer(cell); !sound) return placed(sound.error(), cell);
    }
    if (Status fit = check(plan.datasets[cell.dataset], cell); !fit) return fit;
  }
  for (const plan::Training& training : plan.trainings) {
    std::vector<size_t> read = {training.cell.dataset};
    if (training.development) read.push_back(*training.development);
    for (const size_t i : read) {
      const plan::PlannedDataset& data = plan.training_data[i];
      Status fit = check(data, training.cell);
      if (fit) continue;
      Error error = fit.error();
      error.message =
          "training data '" + data.name + "' (" + data.data->manifest.split + "): " + error.message;
      return error;
    }
  }
  return {};
}

}  // namespace qfs::run
