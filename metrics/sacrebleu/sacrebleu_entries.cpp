#include "metrics/sacrebleu/sacrebleu_entries.h"

#include "harness/core/whole_number.h"
#include "metrics/sacrebleu/bleu_metric.h"
#include "metrics/sacrebleu/chrf_metric.h"
#include "metrics/text/metric_name.h"

namespace qfs::metrics {
namespace {

using Options = std::vector<MetricOption>;

MetricOption number(std::string name, int64_t value, int64_t minimum, int64_t maximum,
                    std::string doc) {
  MetricOption option;
  option.name = std::move(name);
  option.type = MetricOption::Type::integer;
  option.default_value = std::to_string(value);
  option.minimum = minimum;
  option.maximum = maximum;
  option.doc = std::move(doc);
  return option;
}

Options bleu_options() {
  MetricOption value;
  value.name = "smooth_value";
  value.type = MetricOption::Type::text;
  value.choices = {"a number"};
  value.doc = "of floor (sacreBLEU's default: 0.1) and add-k (1)";
  return {
      choice_option("tokenize", {"13a", "zh", "char", "intl", "none"}, "sacreBLEU's tokenizer"),
      choice_option("smooth", {"exp", "floor", "add-k", "none"}, "what orders without a match get"),
      value, flag_option("lowercase", false, "texts in lower case"),
      flag_option("effective_order", false,
                  "orders beyond the longest n-gram are left out; for single sentences")};
}

Options chrf_options() {
  return {number("char_order", 6, 1, kLongestChrfOrder, "longest character n-gram"),
          number("word_order", 0, 0, kLongestChrfOrder, "longest word n-gram; 2 is chrF++"),
          number("beta", 2, 1, 100, "how much more recall counts than precision"),
          flag_option("lowercase", false, "texts in lower case"),
          flag_option("whitespace", false, "character n-grams have white space"),
          flag_option("eps_smoothing", false, "as chrF++.py, NLTK and Moses smooth")};
}

Result<double> smooth_value(BleuSmoothing smoothing, const std::string& text) {
  const bool takes_value = smoothing == BleuSmoothing::floor || smoothing == BleuSmoothing::add_k;
  if (text.empty()) return smoothing == BleuSmoothing::floor ? 0.1 : takes_value ? 1.0 : 0.0;
  if (!takes_value) {
    return invalid_argument("smooth_value belongs to smooth=floor and smooth=add-k");
  }
  const auto value = whole_number<double>(text);
  if (value && *value >= 0) return *value;
  return invalid_argument("option smooth_value is '" + text + "', expected a number of at least 0");
}

BleuTokenizer tokenizer_of(const std::string& name) {
  for (BleuTokenizer tokenizer :
       {BleuTokenizer::t13a, BleuTokenizer::zh, BleuTokenizer::character, BleuTokenizer::intl}) {
    if (to_string(tokenizer) == name) return tokenizer;
  }
  return BleuTokenizer::none;
}

BleuSmoothing smoothing_of(const std::string& name) {
  if (name == "exp") return BleuSmoothing::exp;
  if (name == "floor") return BleuSmoothing::floor;
  return name == "add-k" ? BleuSmoothing::add_k : BleuSmoothing::none;
}

Result<std::shared_ptr<const Metric>> make_bleu(const MetricOptionValues& values) {
  BleuMetricOptions options;
  options.tokenizer = tokenizer_of(values.text("tokenize"));
  options.lower_case = values.on("lowercase");
  options.scoring.smoothing = smoothing_of(values.text("smooth"));
  options.scoring.effective_order = values.on("effective_order");
  const Result<double> value = smooth_value(options.scoring.smoothing, values.text("smooth_value"));
  if (!value) return value.error();
  options.scoring.value = *value;
  return std::shared_ptr<const Metric>(
      std::make_shared<BleuMetric>(name_with_options("bleu", bleu_options(), values), options));
}

Result<std::shared_ptr<const Metric>> make_chrf(const MetricOptionValues& values) {
  ChrfOptions options;
  options.character_order = static_cast<size_t>(values.integer("char_order"));
  options.word_order = static_cast<size_t>(values.integer("word_order"));
  options.beta = values.integer("beta");
  options.lower_case = values.on("lowercase");
  options.white_space = values.on("whitespace");
  options.epsilon = values.on("eps_smoothing");
  return std::shared_ptr<const Metric>(
      std::make_shared<ChrfMetric>(name_with_options("chrf", chrf_options(), values), options));
}

}  // namespace

MetricEntry bleu_entry() {
  MetricEntry entry;
  entry.name = "bleu";
  entry.aliases = {{"sacrebleu", "", "the Python package"}};
  entry.options = bleu_options();
  entry.make = make_bleu;
  return entry;
}

MetricEntry chrf_entry() {
  MetricEntry entry;
  entry.name = "chrf";
  entry.aliases = {{"chrf++", "word_order=2", "with words up to pairs"}};
  entry.options = chrf_options();
  entry.make = make_chrf;
  return entry;
}

}  // namespace qfs::metrics
