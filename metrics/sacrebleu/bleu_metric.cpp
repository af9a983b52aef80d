#include "metrics/sacrebleu/bleu_metric.h"

#include <array>
#include <cstdio>

#include "harness/core/json_dom.h"
#include "harness/core/text/unicode_forms.h"
#include "metrics/text/intern_table.h"
#include "metrics/text/scored_texts.h"
#include "metrics/text/script_check.h"

namespace qfs::metrics {
namespace {

constexpr size_t kColumns = 3 + 2 * kBleuOrder;

Statistics row_of(double score, const BleuCounts& counts) {
  Statistics row = {score, counts.candidate_length, counts.reference_length};
  row.insert(row.end(), counts.matches.begin(), counts.matches.end());
  row.insert(row.end(), counts.totals.begin(), counts.totals.end());
  return row;
}

BleuCounts counts_of(std::span<const double> row) {
  BleuCounts counts;
  counts.candidate_length = row[1];
  counts.reference_length = row[2];
  for (size_t n = 0; n < kBleuOrder; ++n) {
    counts.matches[n] = row[3 + n];
    counts.totals[n] = row[3 + kBleuOrder + n];
  }
  return counts;
}

BleuTokens tokens_of(std::string_view text, const BleuMetricOptions& options, InternTable& table) {
  std::string lowered;
  if (options.lower_case) {
    append_lower_case(text, lowered);
    text = lowered;
  }
  BleuTokens tokens;
  std::string storage;
  for (std::string_view token : bleu_tokens(options.tokenizer, text, storage)) {
    tokens.push_back(table.id(token));
  }
  return tokens;
}

std::string_view name_of(BleuSmoothing smoothing) {
  switch (smoothing) {
    case BleuSmoothing::exp:
      return "exp";
    case BleuSmoothing::floor:
      return "floor";
    case BleuSmoothing::add_k:
      return "add-k";
    case BleuSmoothing::none:
      break;
  }
  return "none";
}

}  // namespace

std::string sacrebleu_references(size_t fewest, size_t most) {
  return "nrefs:" + (fewest == most ? std::to_string(most) : "var");
}

std::string_view BleuMetric::doc() const {
  return "BLEU (0 to 100) with the digits and the signature of sacreBLEU 2.6";
}

std::vector<std::string> BleuMetric::columns() const {
  std::vector<std::string> columns = {"bleu", "bleu#hyp", "bleu#ref"};
  for (const char* count : {"bleu#match", "bleu#total"}) {
    for (size_t n = 1; n <= kBleuOrder; ++n) columns.push_back(count + std::to_string(n));
  }
  return columns;
}

std::string BleuMetric::smoothing_text() const {
  std::string text(name_of(options_.scoring.smoothing));
  const bool has_value = options_.scoring.smoothing == BleuSmoothing::floor ||
                         options_.scoring.smoothing == BleuSmoothing::add_k;
  if (has_value) text += "[" + shortest_decimal(options_.scoring.value) + "]";
  return text;
}

std::string BleuMetric::signature() const {
  return std::string("bleu|compat:sacrebleu-") + std::string(kSacrebleuVersion) +
         "|case:" + (options_.lower_case ? "lc" : "mixed") +
         "|eff:" + (options_.scoring.effective_order ? "yes" : "no") +
         "|tok:" + std::string(to_string(options_.tokenizer)) + "|smooth:" + smoothing_text() +
         "|n:1-4|agg:corpus|v:1";
}

std::string BleuMetric::tool_signature(size_t fewest, size_t most) const {
  std::string smooth = smoothing_text();
  if (const size_t bracket = smooth.find('['); bracket != std::string::npos) {
    std::array<char, 64> value{};
    std::snprintf(value.data(), value.size(), "[%.2f]", options_.scoring.value);
    smooth.replace(bracket, std::string::npos, value.data());
  }
  return "BLEU|" + sacrebleu_references(fewest, most) +
         "|case:" + (options_.lower_case ? "lc" : "mixed") +
         "|eff:" + (options_.scoring.effective_order ? "yes" : "no") +
         "|tok:" + std::string(to_string(options_.tokenizer)) + "|smooth:" + smooth +
         "|version:" + std::string(kSacrebleuVersion);
}

Result<std::vector<Statistics>> BleuMetric::measure(std::span<const ScoreItem> items) const {
  InternTable table;
  GramMatcher matcher;
  std::vector<Statistics> rows;
  rows.reserve(items.size());
  for (const ScoreItem& item : items) {
    if (Status status = check_texts(item, name_); !status) return status.error();
    std::vector<BleuTokens> references;
    for (const std::string& text : item.references) {
      references.push_back(tokens_of(text, options_, table));
    }
    const BleuCounts counts =
        bleu_counts(tokens_of(item.candidate, options_, table), references, matcher);
    rows.push_back(row_of(bleu_score(counts, options_.scoring), counts));
  }
  return rows;
}

void BleuMetric::values_from_sums(std::span<double> sums, double items) const {
  sums[0] = bleu_score(counts_of(sums), options_.scoring);
  for (size_t c = 1; c < kColumns; ++c) sums[c] /= items;
}

std::string_view BleuMetric::note(const ScoreItem& item) const {
  const bool splits =
      options_.tokenizer == BleuTokenizer::zh || options_.tokenizer == BleuTokenizer::character;
  if (splits || !any_text(item, looks_unsegmented)) return {};
  return "the text is Chinese without spaces, of which this tokenizer makes a few long words; "
         "tokenize=zh or char splits it";
}

}  // namespace qfs::metrics
