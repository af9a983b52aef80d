#include "methods/compressors/session_demonstrations.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/rng.h"
#include "harness/core/sha256.h"
#include "methods/compressors/demonstrations.h"
#include "methods/compressors/session_bank_training.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/prompted/adapter_training.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::compressors {

namespace {

/// The same for every example; of fewer shots the first of those of more.
std::vector<size_t> drawn(size_t demonstrations, int64_t shots, uint64_t seed) {
  std::vector<size_t> order(demonstrations);
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng = Rng::derived(seed, "demonstrations");
  rng.shuffle(order);
  order.resize(static_cast<size_t>(shots));
  return order;
}

/// The bank of a request that `read` reads, which has its backbone and enough demonstrations.
template <class Read>
Result<Bank> open_bank(const SessionRequest& request, const Read& read) {
  const auto given = request.artifacts.find(kBank);
  if (given == request.artifacts.end()) return invalid_argument("no bank was given for 'shots'");
  const std::string& path = given->second.path;
  auto bank = read(path);
  if (!bank.ok()) return bank;
  const Status same = prompted::check_backbone(bank->metadata, request, path);
  if (!same.ok()) return same.error();
  const int64_t shots = shots_of(request.params);
  const auto count = static_cast<int64_t>(bank->demonstrations.size());
  if (shots <= count) return bank;
  return data_error("the bank has " + std::to_string(count) + " demonstrations; 'shots' is " +
                        std::to_string(shots),
                    path);
}

class MemoryDemonstrations final : public Demonstrations {
 public:
  enum class Shown { memory, recomputed, tokens };

  MemoryDemonstrations(const SessionRequest& request, BankMaker maker, Bank bank)
      : maker_(std::move(maker)), bank_(std::move(bank)) {
    const Params& params = request.params;
    shots_ = shots_of(params);
    ratio_ = params.get<double>("ratio");
    if (params.find<std::string>("bank_score") == "dot") score_ = BankScore::dot;
    const auto as = params.find<std::string>("shots_as");
    if (as == "recomputed") shown_ = Shown::recomputed;
    if (as == "tokens") shown_ = Shown::tokens;
    if (params.find<std::string>("demonstrations") == "fixed") {
      fixed_ = drawn(bank_.demonstrations.size(), shots_, request.seed);
    }
  }

  /// `data` for a bank with fewer rows than the ratio takes.
  Status check_rows(const std::string& path) const {
    if (shown_ == Shown::tokens) return {};
    for (const Demonstration& one : bank_.demonstrations) {
      if (rows_of(one) <= one.memory.size(0)) continue;
      return data_error("its demonstration '" + one.key + "' of " + std::to_string(one.ids.size()) +
                            " tokens has " + std::to_string(one.memory.size(0)) +
                            " rows; a 'ratio' of " + shortest_decimal(ratio_) + " takes " +
                            std::to_string(rows_of(one)),
                        path);
    }
    return {};
  }

  Result<ChosenDemonstrations> chosen_for(const Example& example) const override {
    ChosenDemonstrations chosen;
    std::vector<size_t> which = fixed_;
    if (which.empty()) {
      const auto key = maker_.key_of(example, chosen.passes);
      if (!key.ok()) return key.error();
      which = nearest(bank_.keys, *key, score_, shots_);
    }
    for (const size_t i : which) {
      const Demonstration& one = bank_.demonstrations[i];
      auto piece = shown(one, chosen.passes);
      if (!piece.ok()) return piece.error();
      chosen.pieces.push_back(*std::move(piece));
      chosen.keys.push_back(one.key);
      chosen.tokens += static_cast<int64_t>(one.ids.size());
    }
    return chosen;
  }

 private:
  Result<Piece> shown(const Demonstration& one, std::vector<ReadPass>& passes) const {
    if (shown_ == Shown::tokens) return Piece{one.ids, {}};
    at::Tensor memory = one.memory;
    if (shown_ == Shown::recomputed) {
      // As many rows as the bank has, rounded as it is: the same bits.
      const auto again = maker_.compressed(one.ids, memory.size(0), passes);
      if (!again.ok()) return again.error();
      memory = again->to(bank_.type).to(at::kFloat);
    }
    return Piece{{}, memory.narrow(0, 0, rows_of(one))};
  }
  int64_t rows_of(const Demonstration& one) const {
    return memory_tokens(static_cast<int64_t>(one.ids.size()), ratio_, Rounding::ceil);
  }

  BankMaker maker_;
  Bank bank_;
  Shown shown_ = Shown::memory;
  BankScore score_ = BankScore::cosine;
  int64_t shots_ = 0;
  double ratio_ = 12;
  std::vector<size_t> fixed_;  ///< empty: those that are nearest
};

/// The same for all examples, compressed once for all or again for each.
class FixedDemonstrations final : public Demonstrations {
 public:
  FixedDemonstrations(const SessionRequest& request, const Bank& bank,
                      std::shared_ptr<const Compressor> compressor)
      : compressor_(std::move(compressor)) {
    for (const size_t i :
         drawn(bank.demonstrations.size(), shots_of(request.params), request.seed)) {
      const Demonstration& one = bank.demonstrations[i];
      const Range content{static_cast<int64_t>(parts_.content.size()),
                          static_cast<int64_t>(one.ids.size())};
      plan_.segments.push_back(compressor_->demonstration(content));
      parts_.content.insert(parts_.content.end(), one.ids.begin(), one.ids.end());
      chosen_.keys.push_back(one.key);
      chosen_.tokens += plan_.segments.back().content.count;
    }
  }

  Result<ChosenDemonstrations> compressed() const {
    auto made = compressor_->compress_demonstrations({parts_, plan_});
    if (!made.ok()) return made.error();
    ChosenDemonstrations chosen = chosen_;
    chosen.pieces = std::move(made->memory);
    chosen.passes = std::move(made->passes);
    return chosen;
  }
  /// Once and for all; what that read is of no prompt.
  Status keep() {
    auto made = compressed();
    if (!made.ok()) return made.error();
    kept_ = *std::move(made);
    kept_->passes.clear();
    return {};
  }

  Result<ChosenDemonstrations> chosen_for(const Example&) const override {
    return kept_ ? Result<ChosenDemonstrations>(*kept_) : compressed();
  }

 private:
  std::shared_ptr<const Compressor> compressor_;
  PromptParts parts_;
  Plan plan_;
  ChosenDemonstrations chosen_;  ///< without pieces
  std::optional<ChosenDemonstrations> kept_ = {};
};

}  // namespace

Result<std::unique_ptr<Demonstrations>> open_memory_demonstrations(
    const SessionRequest& request, const prompted::Prompts& prompts,
    std::shared_ptr<const Selfcp> compressor) {
  const auto adapter = sha256_file(request.artifacts.at(prompted::kAdapter).path);
  if (!adapter.ok()) return adapter.error();
  auto bank = open_bank(request, [&](const std::string& path) {
    return read_bank(path, prompts.backbone->network->shape().widths.hidden, *adapter);
  });
  if (!bank.ok()) return bank.error();
  auto opening = opening_of(prompts);
  if (!opening.ok()) return opening.error();
  BankMaker maker(demonstration_texts(request.params, *prompts.backbone),
                  bank_ratio(request.params), *std::move(opening), std::move(compressor));
  auto demonstrations =
      std::make_unique<MemoryDemonstrations>(request, std::move(maker), *std::move(bank));
  if (Status enough = demonstrations->check_rows(request.artifacts.at(kBank).path); !enough.ok()) {
    return enough.error();
  }
  return std::unique_ptr<Demonstrations>(std::move(demonstrations));
}

Result<std::unique_ptr<Demonstrations>> open_token_demonstrations(
    const SessionRequest& request, std::shared_ptr<const Compressor> compressor) {
  const auto bank = open_bank(request, &read_token_bank);
  if (!bank.ok()) return bank.error();
  auto demonstrations =
      std::make_unique<FixedDemonstrations>(request, *bank, std::move(compressor));
  if (request.params.find<std::string>("shots_as") != "recomputed") {
    if (Status kept = demonstrations->keep(); !kept.ok()) return kept.error();
  }
  return std::unique_ptr<Demonstrations>(std::move(demonstrations));
}

Status put_behind_opening(const std::vector<int32_t>& opening, std::span<const Piece> shown,
                          std::vector<Piece>& prompt) {
  std::vector<int32_t>& head = prompt.front().ids;
  if (head.size() < opening.size() || !std::equal(opening.begin(), opening.end(), head.begin())) {
    return internal_error("a prompt does not open as all do");
  }
  head.erase(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(opening.size()));
  prompt.insert(prompt.begin(), shown.begin(), shown.end());
  prompt.insert(prompt.begin(), Piece{opening, {}});
  return {};
}

void add_facts(const ChosenDemonstrations& chosen, nlohmann::json& facts) {
  int64_t rows = 0;
  for (const Piece& piece : chosen.pieces) rows += piece.size();
  facts["demonstrations"] = chosen.keys;
  facts["demonstration_tokens"] = chosen.tokens;
  facts["demonstration_memory"] = rows;
  if (rows > 0) {
    facts["demonstration_ratio"] = static_cast<double>(chosen.tokens) / static_cast<double>(rows);
  }
}

}  // namespace qfs::compressors
