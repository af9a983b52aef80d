#include "datasets/readers/squality.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "datasets/json_access.h"
#include "datasets/segments.h"
#include "datasets/source_files.h"
#include "datasets/text_lines.h"

namespace qfs::datasets {
namespace {

struct Question {
  std::string text;
  std::string number;
  std::vector<std::string> responses;
};

Result<Question> decode_question(const nlohmann::json& value, const JsonPlace& place) {
  Question question;
  Result<std::string> text = text_member(value, "question_text", place);
  if (!text) return text.error();
  question.text = *std::move(text);
  Result<const nlohmann::json*> number = member(value, "question_number", place);
  if (!number) return number.error();
  if (!(*number)->is_number_integer()) {
    return data_error("field 'question_number' must be a whole number, found " +
                          std::string(describe_type(**number)),
                      (place / "question_number").to_string());
  }
  question.number = (*number)->dump();
  Result<const nlohmann::json*> responses = list_member(value, "responses", place);
  if (!responses) return responses.error();
  for (size_t i = 0; i < (*responses)->size(); ++i) {
    Result<std::string> response =
        text_member((**responses)[i], "response_text", place / "responses" / i);
    if (!response) return response.error();
    question.responses.push_back(*std::move(response));
  }
  return question;
}

/// Appends the examples of one story; `groups` are the questions seen so far.
Status append_story(const nlohmann::json& value, ReferenceView view, const JsonPlace& place,
                    std::set<std::string>& groups, std::vector<Example>& examples) {
  Example story;
  story.language = "en";
  Result<const nlohmann::json*> metadata = member(value, "metadata", place);
  if (!metadata) return metadata.error();
  Result<std::string> passage = text_member(**metadata, "passage_id", place / "metadata");
  if (!passage) return passage.error();
  story.document_id = *std::move(passage);
  Result<std::string> text = text_member(value, "document", place);
  if (!text) return text.error();
  story.document = split_document(*text);
  Result<const nlohmann::json*> questions = list_member(value, "questions", place);
  if (!questions) return questions.error();
  for (size_t i = 0; i < (*questions)->size(); ++i) {
    JsonPlace here = place / "questions" / i;
    Result<Question> question = decode_question((**questions)[i], here);
    if (!question) return question.error();
    if (!groups.insert(story.document_id + "/q" + question->number).second) {
      return data_error(
          "question " + question->number + " of passage '" + story.document_id + "' is there twice",
          here.to_string());
    }
    Example example = story;
    example.group = story.document_id + "/q" + question->number;
    example.query = std::move(question->text);
    example.references = std::move(question->responses);
    append_question(std::move(example), view, examples);
  }
  return {};
}

}  // namespace

Result<std::vector<Example>> parse_stories(std::string_view text, ReferenceView view,
                                           const std::string& path) {
  std::vector<Example> examples;
  std::set<std::string> groups;
  TextLines lines(text);
  while (std::optional<std::string_view> line = lines.next()) {
    std::string where = path + ":" + std::to_string(lines.number());
    Result<nlohmann::json> value = parse_json_line(*line, where);
    if (!value) return value.error();
    Status appended = append_story(*value, view, {where, ""}, groups, examples);
    if (!appended) return appended.error();
  }
  return examples;
}

DatasetInfo SqualityReader::info() const {
  return {.name = "squality",
          .doc = "question-focused summaries of short stories, 4 references each (v1.3)",
          .licence = "CC BY 4.0; stories: Project Gutenberg License",
          .splits = {"test", "train", "dev"},
          .views = {"whole", "per_reference"},
          .text_forms = {"raw"},
          .bundled = false};
}

Result<Dataset> SqualityReader::read(const DatasetRequest& request) const {
  Result<RegisteredFile> source = load_registered(registry_path_, roots_, info().name,
                                                  "data/v1-3/txt/" + request.split + ".jsonl");
  if (!source) return source.error();
  Result<std::vector<Example>> examples =
      parse_stories(source->file.bytes, reference_view(request.view), source->file.path);
  if (!examples) return examples.error();
  source->manifest.reader = kStoryReader;
  return seal_questions(request, std::move(source->manifest), *std::move(examples));
}

}  // namespace qfs::datasets
