#include "methods/external/document_cutter.h"

#include <memory>
#include <string>
#include <utility>

#include "harness/api/document_cutter.h"
#include "methods/models/prompting/truncation.h"
#include "methods/models/tokenizers/folders/open_tokenizer.h"

namespace qfs::external {
namespace {

using prompting::TruncatedDocument;
using prompting::TruncationPolicy;
using tokenizers::Token;
using tokenizers::Tokenizer;

/// Where the tokens of each kept piece end; canonical JSON as it stands.
Json token_ends(const Example& example, const TruncatedDocument& document,
                const Tokenizer& tokenizer) {
  std::string text = std::string("{\"") + kTokenEnds + "\":[";
  for (const ByteSpan& kept : document.ledger.kept) {
    if (&kept != &document.ledger.kept.front()) text += ',';
    text += '[';
    const char* separator = "";
    const std::string segment = rendered(example.document[static_cast<size_t>(kept.segment)]);
    for (const Token& token : tokenizer.encode(segment)) {
      if (token.begin < kept.begin || token.end > kept.end) continue;
      text += separator + std::to_string(token.end - kept.begin);
      separator = ",";
    }
    text += ']';
  }
  return Json{text + "]}"};
}

class DocumentCutter final : public MethodSession {
 public:
  DocumentCutter(std::shared_ptr<const Tokenizer> tokenizer, int64_t local_context,
                 TruncationPolicy policy)
      : tokenizer_(std::move(tokenizer)), local_context_(local_context), policy_(policy) {}

  Status run(std::span<const NumberedExample> unit, PredictionSink& sink) override {
    for (const NumberedExample& numbered : unit) {
      Result<TruncatedDocument> document =
          prompting::truncate_document(numbered.example, *tokenizer_, local_context_, policy_);
      if (!document.ok()) return document.error();
      Prediction prediction;
      prediction.extra = token_ends(numbered.example, *document, *tokenizer_);
      prediction.truncation = std::move(document->ledger);
      sink.emit(numbered.ordinal, std::move(prediction));
    }
    return {};
  }

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  int64_t local_context_;
  TruncationPolicy policy_;
};

Result<std::unique_ptr<MethodSession>> open(const SessionRequest& request, ResourceCache& cache) {
  const auto local_context = request.params.find<int64_t>(kLocalContext);
  const auto policy = prompting::truncation_policy_from(
      request.params.find<std::string>(kTruncate).value_or("head"));
  if (!request.tokenizer || !local_context || !policy) {
    return invalid_argument("the document cutter needs a tokenizer, local_context and a policy");
  }
  auto tokenizer = tokenizers::open_tokenizer(*request.tokenizer, cache);
  if (!tokenizer.ok()) return tokenizer.error();
  return std::unique_ptr<MethodSession>(
      std::make_unique<DocumentCutter>(*std::move(tokenizer), *local_context, *policy));
}

}  // namespace

SessionFactory document_cutter() { return {std::string(kDocumentCutter), open}; }

}  // namespace qfs::external
