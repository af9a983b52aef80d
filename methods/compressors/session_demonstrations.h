// Demonstrations: which of a bank stand in front of an example's prompt, and as what.
//
// Made by sessions of `selfcp` that predict with `shots`. Not thread-safe.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "methods/compressors/session_bank.h"

namespace qfs::compressors {

/// In the order in which they are read.
struct ChosenDemonstrations {
  std::vector<Piece> pieces;
  std::vector<std::string> keys;
  std::vector<ReadPass> passes;  ///< that found them, or compressed them again
  int64_t tokens = 0;            ///< of what they are
};

class Demonstrations {
 public:
  /// Of a request with `shots`. `invalid_argument`: no bank was given; `data`: the errors of
  /// read_bank, a bank of another backbone, or one with fewer demonstrations.
  static Result<Demonstrations> open(const SessionRequest& request,
                                     const prompted::Prompts& prompts,
                                     std::shared_ptr<const Selfcp> compressor);

  /// Errors as BankMaker::compressed.
  Result<ChosenDemonstrations> chosen_for(const Example& example) const;
  const std::vector<int32_t>& opening() const { return maker_.opening(); }

 private:
  enum class Shown { memory, recomputed, tokens };

  Demonstrations(BankMaker maker, Bank bank) : maker_(std::move(maker)), bank_(std::move(bank)) {}
  Result<Piece> shown(const Demonstration& one, std::vector<ReadPass>& passes) const;

  BankMaker maker_;
  Bank bank_;
  Shown shown_ = Shown::memory;
  BankScore score_ = BankScore::cosine;
  int64_t shots_ = 0;
  double ratio_ = 12;
  std::vector<size_t> fixed_;  ///< empty: those that are nearest
};

/// Puts demonstrations behind what a prompt opens with; `internal` for one that opens with
/// something else.
Status put_behind_opening(const std::vector<int32_t>& opening, const ChosenDemonstrations& chosen,
                          std::vector<Piece>& prompt);

void add_facts(const ChosenDemonstrations& chosen, nlohmann::json& facts);

}  // namespace qfs::compressors
