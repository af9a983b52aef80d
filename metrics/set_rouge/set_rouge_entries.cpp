#include "metrics/set_rouge/set_rouge_entries.h"

#include "metrics/chinese/jieba_segmenter.h"
#include "metrics/chinese/segmenter_options.h"
#include "metrics/set_rouge/longbench_metric.h"
#include "metrics/set_rouge/set_rouge_metric.h"

namespace qfs::metrics {
namespace {

using Made = std::shared_ptr<const Metric>;

std::vector<MetricOption> pltrdy_options() { return {empty_text_option(EmptyText::error)}; }

std::vector<MetricOption> rouge_chinese_options() {
  std::vector<MetricOption> options = segmenter_options("pretok");
  options.push_back(empty_text_option(EmptyText::error));
  return options;
}

std::vector<MetricOption> longbench_options() {
  MetricOption language;
  language.name = "language";
  language.choices = {"en", "zh"};
  language.default_value = "en";
  language.doc = "zh: over the words of jieba, as LongBench scores VCSUM";
  return {language, empty_text_option(EmptyText::zero)};
}

Result<Made> make_pltrdy(const MetricOptionValues& values) {
  return Made(std::make_shared<SetRougeMetric>(
      name_with_options("pltrdy-rouge", pltrdy_options(), values),
      SetRougeOptions{SetRougePackage::pltrdy_1_0_1, empty_text_rule(values), nullptr}));
}

Result<Made> make_rouge_chinese(const MetricOptionValues& values) {
  Result<std::shared_ptr<const Segmenter>> segmenter = make_segmenter(values);
  if (!segmenter) return segmenter.error();
  SetRougeOptions options{SetRougePackage::rouge_chinese_1_0_3, empty_text_rule(values), nullptr};
  // The package itself splits at white space; texts must reach it as they are.
  if (values.text("segmenter") != "pretok") options.segmenter = *std::move(segmenter);
  return Made(std::make_shared<SetRougeMetric>(
      name_with_options("rouge-chinese", rouge_chinese_options(), values), std::move(options)));
}

Result<Made> make_longbench(const MetricOptionValues& values) {
  std::shared_ptr<const Segmenter> segmenter;
  if (values.text("language") == "zh") {
    Result<JiebaFiles> files = find_jieba({});
    if (!files) return files.error();
    segmenter = std::make_shared<JiebaSegmenter>(*std::move(files));
  }
  return Made(
      std::make_shared<LongBenchMetric>(name_with_options("longbench", longbench_options(), values),
                                        std::move(segmenter), empty_text_rule(values)));
}

}  // namespace

MetricEntry pltrdy_rouge_entry() {
  MetricEntry entry;
  entry.name = "pltrdy-rouge";
  entry.aliases = {{"pltrdy-rouge-1.0.1", "", "the Python package rouge in this version"}};
  entry.options = pltrdy_options();
  entry.make = make_pltrdy;
  return entry;
}

MetricEntry rouge_chinese_entry() {
  MetricEntry entry;
  entry.name = "rouge-chinese";
  entry.aliases = {{"rouge-chinese-1.0.3", "", "the Python package in this version"}};
  entry.options = rouge_chinese_options();
  entry.make = make_rouge_chinese;
  return entry;
}

MetricEntry longbench_entry() {
  MetricEntry entry;
  entry.name = "longbench";
  entry.options = longbench_options();
  entry.make = make_longbench;
  return entry;
}

}  // namespace qfs::metrics
