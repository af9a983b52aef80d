#include "metrics/bertscore/published_layers.h"

#include <algorithm>
#include <iterator>

namespace qfs::metrics {
namespace {

struct Published {
  std::string_view model;
  int64_t layer;
};

constexpr Published kPublished[] = {
    {"minilm", 6},
    {"ProsusAI/finbert", 10},
    {"SpanBERT/spanbert-base-cased", 8},
    {"SpanBERT/spanbert-large-cased", 17},
    {"allenai/scibert_scivocab_cased", 9},
    {"allenai/scibert_scivocab_uncased", 8},
    {"bert-base-cased-finetuned-mrpc", 9},
    {"bert-base-chinese", 8},
    {"bert-base-multilingual-cased", 9},
    {"bert-base-uncased", 9},
    {"bert-large-uncased", 18},
    {"dbmdz/bert-base-turkish-cased", 10},
    {"dbmdz/distilbert-base-turkish-cased", 4},
    {"distilbert-base-multilingual-cased", 5},
    {"distilbert-base-uncased", 5},
    {"distilbert-base-uncased-distilled-squad", 4},
    {"distilroberta-base", 5},
    {"facebook/bart-base", 6},
    {"facebook/bart-large", 10},
    {"facebook/bart-large-cnn", 10},
    {"facebook/bart-large-mnli", 11},
    {"facebook/bart-large-xsum", 9},
    {"roberta-base", 10},
    {"roberta-base-openai-detector", 7},
    {"roberta-large", 17},
    {"roberta-large-mnli", 19},
    {"roberta-large-openai-detector", 15},
};

/// Organisations under which models that had none are published today.
constexpr std::string_view kFormerlyBare[] = {"google-bert/", "FacebookAI/", "distilbert/",
                                              "openai-community/"};

}  // namespace

std::optional<int64_t> published_layer(std::string_view model) {
  if (model.starts_with("hf:")) {
    model = model.substr(3);
    model = model.substr(0, model.find('@'));
    for (const std::string_view organisation : kFormerlyBare) {
      if (model.starts_with(organisation)) model.remove_prefix(organisation.size());
    }
  }
  const auto found = std::ranges::find(kPublished, model, &Published::model);
  return found == std::end(kPublished) ? std::nullopt : std::optional(found->layer);
}

}  // namespace qfs::metrics
