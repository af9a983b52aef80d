#include "metrics/chinese/rouge_zh_entry.h"

#include "metrics/chinese/icu_segmenter.h"
#include "metrics/chinese/jieba_files.h"
#include "metrics/chinese/jieba_segmenter.h"
#include "metrics/chinese/plain_segmenters.h"
#include "metrics/chinese/rouge_zh_metric.h"
#include "metrics/chinese/segmenter_options.h"

namespace qfs::metrics {
namespace {

std::vector<MetricOption> options() {
  std::vector<MetricOption> options = segmenter_options("icu");
  options.push_back(choice_option("case", {"fold", "keep"}, "whether words differ by case"));
  options.push_back(flag_option("nfkc", true, "full-width and other compatible forms are one"));
  options.push_back(
      choice_option("punctuation", {"drop", "keep"}, "words of punctuation and symbols alone"));
  options.push_back(
      choice_option("sentences", {"zh", "newline"},
                    "where rougeLsum's sentences end: 。！？； and newline, or newline"));
  return options;
}

Result<std::shared_ptr<const Metric>> make(const MetricOptionValues& values) {
  Result<std::shared_ptr<const Segmenter>> segmenter = make_segmenter(values);
  if (!segmenter) return segmenter.error();
  ZhTextOptions text;
  text.fold_case = values.text("case") == "fold";
  text.nfkc = values.on("nfkc");
  text.drop_punctuation = values.text("punctuation") == "drop";
  text.sentences = values.text("sentences") == "zh" ? ZhTextOptions::Sentences::chinese
                                                    : ZhTextOptions::Sentences::newline;
  return std::shared_ptr<const Metric>(std::make_shared<RougeZhMetric>(
      name_with_options("rouge-zh", options(), values), *std::move(segmenter), text));
}

/// Those that are here and may have this signature; jieba's files are read where it is named alone.
std::vector<std::shared_ptr<const Segmenter>> segmenters(std::string_view signature) {
  std::vector<std::shared_ptr<const Segmenter>> made = {std::make_shared<const IcuSegmenter>(),
                                                        std::make_shared<const CharSegmenter>(),
                                                        std::make_shared<const PretokSegmenter>()};
  if (!signature.starts_with("rouge-zh|seg:jieba")) return made;
  for (const bool hmm : {true, false}) {
    Result<JiebaFiles> files = find_jieba({"", hmm});
    if (files) made.push_back(std::make_shared<const JiebaSegmenter>(*std::move(files)));
  }
  return made;
}

}  // namespace

std::unique_ptr<ZhTextEncoder> zh_encoder_of(std::string_view signature) {
  const auto has = [&](std::string_view field) { return signature.find(field) != signature.npos; };
  if (!signature.starts_with("rouge-zh|")) return nullptr;
  ZhTextOptions text;
  text.fold_case = has("|case:fold|");
  text.nfkc = has("|nfkc:on|");
  text.drop_punctuation = has("|punct:drop|");
  text.sentences =
      has("|sent:zh|") ? ZhTextOptions::Sentences::chinese : ZhTextOptions::Sentences::newline;
  for (const auto& segmenter : segmenters(signature)) {
    const std::string begins = "rouge-zh|" + segmenter->signature() + "|" + text.signature() + "|";
    if (signature.starts_with(begins)) return std::make_unique<ZhTextEncoder>(segmenter, text);
  }
  return nullptr;
}

MetricEntry rouge_zh_entry() {
  MetricEntry entry;
  entry.name = "rouge-zh";
  entry.options = options();
  entry.make = make;
  return entry;
}

}  // namespace qfs::metrics
