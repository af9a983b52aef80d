// Demonstrations: which of a bank stand in front of an example's prompt, and as what.
//
// Made by sessions that predict with `shots`. Not thread-safe.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
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

/// What stands in front of the prompts of a cell.
class Demonstrations {
 public:
  virtual ~Demonstrations() = default;
  /// Errors as BankMaker::compressed.
  virtual Result<ChosenDemonstrations> chosen_for(const Example& example) const = 0;
};

/// Of a request to `selfcp` with `shots`, whose bank holds memory. `invalid_argument`: no bank was
/// given; `data`: the errors of read_bank, a bank of another backbone, or one with fewer
/// demonstrations.
Result<std::unique_ptr<Demonstrations>> open_memory_demonstrations(
    const SessionRequest& request, const prompted::Prompts& prompts,
    std::shared_ptr<const Selfcp> compressor);

/// Of a request to another method with `shots`, whose bank holds tokens: the same for all examples,
/// drawn by the seed, compressed once or, as the request says, for each. Errors likewise, and those
/// of compressing.
Result<std::unique_ptr<Demonstrations>> open_token_demonstrations(
    const SessionRequest& request, std::shared_ptr<const Compressor> compressor);

/// Puts demonstrations behind what a prompt opens with; `internal` for one that opens with
/// something else.
Status put_behind_opening(const std::vector<int32_t>& opening, std::span<const Piece> shown,
                          std::vector<Piece>& prompt);

void add_facts(const ChosenDemonstrations& chosen, nlohmann::json& facts);

}  // namespace qfs::compressors
