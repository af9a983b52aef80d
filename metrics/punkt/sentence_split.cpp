#include "metrics/punkt/sentence_split.h"

#include <utility>

#include "metrics/punkt/punkt_files.h"

namespace qfs::metrics {
namespace {

constexpr const char* kNewline = "newline";
constexpr const char* kPunkt = "punkt";
constexpr const char* kBoth = "punkt-newline";
constexpr size_t kShownDigits = 16;

const char* release(PunktRules rules) {
  switch (rules) {
    case PunktRules::nltk_3_6:
      return "3.6";
    case PunktRules::nltk_3_9:
      return "3.9";
    case PunktRules::nltk_3_10:
      break;
  }
  return "3.10";
}

PunktRules rules_of(const std::string& name) {
  for (PunktRules rules : {PunktRules::nltk_3_6, PunktRules::nltk_3_9}) {
    if (name == release(rules)) return rules;
  }
  return PunktRules::nltk_3_10;
}

}  // namespace

std::string SentenceSplit::signature() const {
  if (punkt == nullptr) return kNewline;
  return std::string(newlines_too ? "punkt+newline" : "punkt") + "(nltk-" +
         release(punkt->rules()) + ",data:" + punkt->model().sha256().substr(0, kShownDigits) + ")";
}

std::string SentenceSplit::options(std::string_view default_split,
                                   std::string_view default_nltk) const {
  std::string text;
  const auto add = [&](const std::string& option) { text += (text.empty() ? "" : ",") + option; };
  const char* const split = punkt == nullptr ? kNewline : newlines_too ? kBoth : kPunkt;
  if (split != default_split) add(std::string("split=") + split);
  if (punkt == nullptr) return text;
  if (release(punkt->rules()) != default_nltk) add(std::string("nltk=") + release(punkt->rules()));
  if (!data.empty()) {
    std::string escaped;
    for (char c : data) {
      if (c == ',') escaped += '\\';
      escaped += c;
    }
    add("punkt=" + escaped);
  }
  return text;
}

std::vector<MetricOption> sentence_split_options(const std::string& default_split,
                                                 const std::string& default_nltk) {
  MetricOption split;
  split.name = "split";
  split.choices = {kNewline, kPunkt, kBoth};
  split.default_value = default_split;
  split.doc =
      "sentences of Lsum: lines; Punkt's (split_summaries of rouge_score); Punkt's, cut at line "
      "breaks too";
  MetricOption nltk;
  nltk.name = "nltk";
  nltk.choices = {"3.6", "3.9", "3.10"};
  nltk.default_value = default_nltk;
  nltk.doc =
      "whose Punkt: 3.6 up to NLTK 3.6.5; 3.9 for those up to 3.9; from 3.10 on curly quotes close "
      "sentences as straight ones do";
  MetricOption data;
  data.name = "punkt";
  data.type = MetricOption::Type::text;
  data.doc = "Punkt's data: a punkt_tab folder or Python module (empty: QFS_PUNKT, cache, NLTK's)";
  return {split, nltk, data};
}

Result<SentenceSplit> make_sentence_split(const MetricOptionValues& values) {
  SentenceSplit split;
  if (values.text("split") == kNewline) {
    if (values.text("punkt").empty()) return split;
    return invalid_argument("option punkt belongs to split=punkt, not to split=newline");
  }
  split.data = values.text("punkt");
  Result<std::shared_ptr<const PunktModel>> model = load_punkt(split.data);
  if (!model) return model.error();
  split.punkt = std::make_shared<PunktSplitter>(*std::move(model), rules_of(values.text("nltk")));
  split.newlines_too = values.text("split") == kBoth;
  return split;
}

}  // namespace qfs::metrics
