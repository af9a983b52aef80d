#include "metrics/chinese/segmenter_options.h"

#include "metrics/chinese/icu_segmenter.h"
#include "metrics/chinese/jieba_segmenter.h"
#include "metrics/chinese/plain_segmenters.h"

namespace qfs::metrics {

std::vector<MetricOption> segmenter_options(const std::string& default_segmenter) {
  MetricOption segmenter;
  segmenter.name = "segmenter";
  segmenter.choices = {"icu", "char", "pretok", "jieba"};
  segmenter.default_value = default_segmenter;
  segmenter.doc = "what finds words: ICU, every character, white space, jieba 0.42.1";
  MetricOption dictionary;
  dictionary.name = "dictionary";
  dictionary.type = MetricOption::Type::text;
  dictionary.doc = "jieba's dictionary file (empty: of QFS_JIEBA_DIR or the installed jieba)";
  return {segmenter, dictionary,
          flag_option("hmm", true, "jieba's model for words that are not in its dictionary")};
}

Result<std::shared_ptr<const Segmenter>> make_segmenter(const MetricOptionValues& values) {
  using Made = std::shared_ptr<const Segmenter>;
  const std::string& kind = values.text("segmenter");
  if (kind == "jieba") {
    Result<JiebaFiles> files = find_jieba({values.text("dictionary"), values.on("hmm")});
    if (!files) return files.error();
    return Made(std::make_shared<JiebaSegmenter>(*std::move(files)));
  }
  if (!values.text("dictionary").empty() || !values.on("hmm")) {
    return invalid_argument("the options dictionary and hmm belong to segmenter=jieba, not to " +
                            kind);
  }
  if (kind == "char") return Made(std::make_shared<CharSegmenter>());
  if (kind == "pretok") return Made(std::make_shared<PretokSegmenter>());
  return Made(std::make_shared<IcuSegmenter>());
}

}  // namespace qfs::metrics
