#include "harness/run/document_cutter.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/api/document_cutter.h"
#include "harness/core/json_dom.h"

namespace qfs::run {
namespace {

/// Stands for the session in messages; never planned, priced or stored.
class LightSpec final : public MethodSpec {
 public:
  explicit LightSpec(std::string_view session) : session_(session) {}

  std::string_view name() const override { return session_; }
  std::string_view doc() const override { return {}; }
  int version() const override { return 1; }
  std::vector<std::string> layers(const Params&, const BackboneFacts&) const override { return {}; }
  std::vector<ParamSpec> params() const override { return {}; }
  Needs needs(const Params&) const override { return {.tokenizer = true}; }
  Cost cost(const Params&, const DatasetStats&) const override { return {}; }

 private:
  std::string session_;
};

/// Those bytes of a rendered segment as a segment that is rendered so; without its speaker where
/// the cut left nothing else of it.
Segment cut_segment(const Segment& segment, const ByteSpan& kept) {
  const std::string text = rendered(segment);
  const auto name = static_cast<int64_t>(text.size() - segment.text.size());
  const bool with_speaker = kept.begin == 0 && kept.end > name;
  const int64_t begin = with_speaker ? name : kept.begin;
  return {text.substr(static_cast<size_t>(begin), static_cast<size_t>(kept.end - begin)),
          with_speaker ? segment.speaker : ""};
}

/// The kept pieces as the document; evidence numbers them, or is gone with them.
void cut_document(Example& example, const std::vector<ByteSpan>& kept) {
  std::vector<Segment> document;
  for (const ByteSpan& span : kept) {
    document.push_back(cut_segment(example.document[static_cast<size_t>(span.segment)], span));
  }
  std::vector<SegmentSpan> evidence;
  for (const SegmentSpan& old : example.evidence) {
    const auto first = std::ranges::lower_bound(kept, old.first, {}, &ByteSpan::segment);
    const auto end = std::ranges::upper_bound(kept, old.last, {}, &ByteSpan::segment);
    if (first < end) evidence.push_back({first - kept.begin(), end - kept.begin() - 1});
  }
  example.document = std::move(document);
  example.evidence = std::move(evidence);
}

host::HostFailure while_cutting(host::HostFailure failure) {
  failure.error.message = "while the documents were cut to local_context: " + failure.error.message;
  return failure;
}

}  // namespace

plan::Cell light_cell(const plan::Cell& cell, std::string_view session) {
  plan::Cell light;
  light.id = CellId(std::string(session) + "-" + cell.id.hex());
  light.spec = std::make_shared<LightSpec>(session);
  light.label = cell.label;
  light.pointer = cell.pointer;
  light.tokenizer = cell.tokenizer;
  light.host = plan::HostKind::light;
  light.weights_key = kDocumentCutter;
  return light;
}

plan::Cell cutter_cell(const plan::Cell& cell) {
  plan::Cell cutter = light_cell(cell, kDocumentCutter);
  for (const char* name : {kLocalContext, kTruncate}) {
    const auto value = cell.params.values().find(name);
    if (value != cell.params.values().end()) cutter.params.set(name, value->second);
  }
  return cutter;
}

std::optional<host::HostFailure> DocumentCutter::cut(const plan::Cell& cell,
                                                     host::RunRequest& request) {
  if (opened_ != cell.id) {
    if (!opened_.empty()) pool_.release();
    const plan::Cell cutter = cutter_cell(cell);
    if (auto failure = pool_.open(cutter, launcher_.runtime(cutter))) {
      opened_ = {};
      return while_cutting(*std::move(failure));
    }
    opened_ = cell.id;
  }
  const std::chrono::seconds timeout(launcher_.limits().unit_seconds);
  host::UnitResults results;
  const host::RunRequest whole{
      .unit = request.unit, .measure = false, .examples = request.examples};
  if (auto failure = pool_.host().run(whole, {}, timeout, results)) {
    pool_.discard();
    opened_ = {};
    return while_cutting(*std::move(failure));
  }
  ledgers_.clear();
  for (size_t i = 0; i < results.predictions.size(); ++i) {
    NumberedExample& numbered = request.examples[i];
    Prediction& prediction = results.predictions[i].prediction;
    cut_document(numbered.example, prediction.truncation->kept);
    request.token_ends[numbered.ordinal] = nlohmann::json::parse(prediction.extra.text)
                                               .at(kTokenEnds)
                                               .get<std::vector<std::vector<int64_t>>>();
    ledgers_[numbered.ordinal] = *std::move(prediction.truncation);
  }
  return std::nullopt;
}

void DocumentCutter::add_ledger(host::PredictionReply& row) const {
  row.prediction.truncation = ledgers_.at(row.ordinal);
}

}  // namespace qfs::run
