#include "datasets/readers/covidet.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "datasets/json_access.h"
#include "datasets/segments.h"
#include "datasets/source_files.h"
#include "harness/core/suggest.h"

namespace qfs::datasets {
namespace {

/// The version of everything that turns CovidET's files into examples.
constexpr std::string_view kReader = "covidet@1";

constexpr std::string_view kNoEmotion = "NA";

std::vector<std::string> emotions() {
  return {"anger", "anticipation", "disgust", "fear", "joy", "sadness", "trust"};
}

/// The k of "Annotation <k> | Assignment ID = …".
std::optional<int64_t> annotation_number(std::string_view name) {
  constexpr std::string_view kStart = "Annotation ";
  if (!name.starts_with(kStart)) return std::nullopt;
  name.remove_prefix(kStart.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || !std::string_view(end, name.data() + name.size()).starts_with(" |")) {
    return std::nullopt;
  }
  return number;
}

/// Adds an annotator's summary to the question of its emotion.
Status add_summary(const nlohmann::json& entry, const Example& post, const JsonPlace& place,
                   std::vector<Example>& questions) {
  Result<std::string> emotion = text_member(entry, "Emotion", place);
  if (!emotion) return emotion.error();
  if (*emotion == kNoEmotion && !entry.contains("Abstractive")) return {};
  const std::vector<std::string> known = emotions();
  if (std::ranges::find(known, *emotion) == known.end()) {
    return data_error("'" + *emotion + "' is no emotion of CovidET" + suggestion(*emotion, known),
                      (place / "Emotion").to_string());
  }
  Result<std::string> summary = text_member(entry, "Abstractive", place);
  if (!summary) return summary.error();
  auto question = std::ranges::find(questions, *emotion, &Example::query);
  if (question == questions.end()) {
    Example added = post;
    added.group = post.document_id + "/" + *emotion;
    added.query = *std::move(emotion);
    question = questions.insert(questions.end(), std::move(added));
  }
  question->references.push_back(*std::move(summary));
  return {};
}

Result<std::vector<Example>> questions_of(const nlohmann::json& value, std::string document_id,
                                          const JsonPlace& place) {
  Example post;
  post.language = "en";
  post.document_id = std::move(document_id);
  Result<std::string> text = text_member(value, "Reddit Post", place);
  if (!text) return text.error();
  post.document = split_document(*text);
  Result<const nlohmann::json*> annotations = member(value, "Annotations", place);
  if (!annotations) return annotations.error();
  const JsonPlace here = place / "Annotations";
  std::map<int64_t, std::string> names;  // in the order of their numbers
  for (const auto& [name, list] : (*annotations)->items()) {
    const std::optional<int64_t> number = annotation_number(name);
    if (!number || !names.emplace(*number, name).second) {
      return data_error("annotations are named 'Annotation 0 | …', 'Annotation 1 | …'",
                        (here / name).to_string());
    }
  }
  std::vector<Example> questions;
  for (const auto& [number, name] : names) {
    Result<const nlohmann::json*> list = list_member(**annotations, name, here);
    if (!list) return list.error();
    for (size_t i = 0; i < (*list)->size(); ++i) {
      Status added = add_summary((**list)[i], post, here / name / i, questions);
      if (!added) return added.error();
    }
  }
  return questions;
}

}  // namespace

Result<std::vector<Example>> parse_posts(std::string_view text, const std::string& split,
                                         ReferenceView view, const std::string& path) {
  Result<nlohmann::json> root = parse_json(text, path);
  if (!root) return root.error();
  const JsonPlace place{path, ""};
  std::vector<Example> examples;
  // By number: as text "10" would come before "2".
  for (size_t i = 0; i == 0 || i < root->size(); ++i) {
    const std::string number = std::to_string(i);
    Result<const nlohmann::json*> post = member(*root, number, place);
    if (!post) return post.error();
    Result<std::vector<Example>> questions =
        questions_of(**post, split + "-" + number, place / number);
    if (!questions) return questions.error();
    for (Example& question : *questions) append_question(std::move(question), view, examples);
  }
  return examples;
}

DatasetInfo CovidetReader::info() const {
  return {.name = "covidet",
          .doc = "summaries of posts from the perspective of an emotion, 1 or 2 references each",
          .licence = "none stated; released for research",
          .splits = {"test", "train", "val"},
          .views = {"whole", "per_reference"},
          .text_forms = {"raw"},
          .bundled = false};
}

Result<Dataset> CovidetReader::read(const DatasetRequest& request) const {
  Result<RegisteredFile> source = load_registered(
      registry_path_, roots_, info().name,
      "data/train_val_test_anonymized-WITH_POSTS/" + request.split + "_anonymized-WITH_POSTS.json");
  if (!source) return source.error();
  Result<std::vector<Example>> examples = parse_posts(
      source->file.bytes, request.split, reference_view(request.view), source->file.path);
  if (!examples) return examples.error();
  source->manifest.reader = kReader;
  return seal_questions(request, std::move(source->manifest), *std::move(examples));
}

}  // namespace qfs::datasets
