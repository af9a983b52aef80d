// A trained locator: what ranks the turns of a document for a query, as the method `locator`
// trained it, and its file.
//
// The file is written by the method's training; sessions of `locator` and of methods that read with
// one open it by the role `locator`. A Locator is called by one session, never concurrently.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/api/method.h"
#include "methods/models/ranking/scorer.h"
#include "methods/models/ranking/scorer_tensors.h"
#include "methods/models/retrieval/selector.h"

namespace qfs::ranking {

/// Bytes of a file; equal tensors give equal bytes. `metadata`: as of every trained file.
std::string locator_bytes(const ScorerTensors& tensors, std::map<std::string, std::string> metadata,
                          at::ScalarType type);

struct LocatorFile {
  ScorerTensors tensors;
  ChunkRule rule;  ///< by which it was trained
};

/// `data`: another file, or one that was trained over another encoder than `model`.
Result<LocatorFile> read_locator(const std::string& path, const Resource& model);

class Locator final : public retrieval::Selector {
 public:
  /// Of the request's encoder and file in the role `locator`. Errors: `invalid_argument` where one
  /// was not given; those of both.
  static Result<std::unique_ptr<Locator>> open(const SessionRequest& request, ResourceCache& cache);

  Locator(std::shared_ptr<const SnippetScorer> scorer, ScorerTensors tensors, ChunkRule rule,
          std::shared_ptr<const nn::Adapters> adapters)
      : scorer_(std::move(scorer)),
        tensors_(std::move(tensors)),
        rule_(rule),
        adapters_(std::move(adapters)) {}

  Status prepare(std::span<const retrieval::Passage> passages, retrieval::Script script) override;
  /// Passages by falling score; those without text and those behind the last chunk are not wanted.
  Result<std::vector<size_t>> select(const Example& example) override;

  /// What was read in the last selection.
  struct Seen {
    int64_t visible = 0;  ///< passages with a score
    int64_t cut = 0;      ///< of them, those that lost their end
    int64_t unseen = 0;   ///< passages behind the last chunk
  };
  const Seen& seen() const { return seen_; }

 private:
  std::shared_ptr<const SnippetScorer> scorer_;
  ScorerTensors tensors_;
  ChunkRule rule_;
  std::shared_ptr<const nn::Adapters> adapters_;
  std::vector<Snippet> snippets_;
  std::vector<size_t> passages_;  ///< that the snippets are
  Seen seen_;
};

}  // namespace qfs::ranking
