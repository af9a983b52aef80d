// CICERO (Ghosal et al., ACL 2022; v2: Shen et al., EMNLP 2022): a dialogue, an utterance of it, a
// question about that, and choices of which some are right. JSON lines, although called .json.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "datasets/readers/file_set.h"
#include "datasets/readers/json_lines.h"

namespace qfs::datasets {
namespace {

/// "A: text" has a speaker of one letter.
Segment cicero_turn(std::string text) {
  const bool named =
      text.size() >= 3 && text[0] >= 'A' && text[0] <= 'Z' && text[1] == ':' && text[2] == ' ';
  return named ? Segment{text.substr(3), text.substr(0, 1)} : Segment{std::move(text), ""};
}

/// The choices that a list of indices names.
Result<std::vector<std::string>> chosen(const nlohmann::json& value, std::string_view key,
                                        const std::vector<std::string>& choices,
                                        const JsonPlace& place) {
  Result<const nlohmann::json*> indices = list_member(value, key, place);
  if (!indices) return indices.error();
  std::vector<std::string> texts;
  for (const nlohmann::json& index : **indices) {
    if (!index.is_number_unsigned() || index.get<uint64_t>() >= choices.size()) {
      return data_error("expected the number of one of the " + std::to_string(choices.size()) +
                            " choices, from 0",
                        (place / key / texts.size()).to_string());
    }
    texts.push_back(choices[index.get<size_t>()]);
  }
  if (texts.empty()) return data_error("no choice is right", (place / key).to_string());
  return texts;
}

/// Without its key.
Result<Example> decode_cicero(const nlohmann::json& value, std::string_view answers,
                              const JsonPlace& place) {
  Example example;
  example.language = "en";
  std::string question;
  std::string target;
  for (auto [key, text] : {std::pair{"ID", &example.document_id}, std::pair{"Question", &question},
                           std::pair{"Target", &target}}) {
    Result<std::string> found = text_member(value, key, place);
    if (!found) return found.error();
    *text = *std::move(found);
  }
  example.query = question + " \"" + target + "\"";
  Result<std::vector<std::string>> turns = texts_member(value, "Dialogue", place);
  if (!turns) return turns.error();
  for (std::string& turn : *turns) example.document.push_back(cicero_turn(std::move(turn)));
  const auto said = std::ranges::find(example.document, target, &Segment::text);
  if (said != example.document.end()) {
    const int64_t at = said - example.document.begin();
    example.evidence = {{at, at}};
  }
  Result<std::vector<std::string>> choices = texts_member(value, "Choices", place);
  if (!choices) return choices.error();
  Result<std::vector<std::string>> right = chosen(value, answers, *choices, place);
  if (!right) return right.error();
  example.references = *std::move(right);
  example.extra.text = nlohmann::json{{"choices", *choices}}.dump();
  return example;
}

Result<std::vector<Example>> read_cicero(SetFiles& files, const std::string& path,
                                         std::string_view answers) {
  std::map<std::string, int> questions;  // of a dialogue so far
  return read_lines(files, path, [&](const nlohmann::json& value, const JsonPlace& place) {
    Result<Example> example = decode_cicero(value, answers, place);
    if (!example) return example;
    const int number = ++questions[example->document_id];
    example->key = example->document_id + "/q" + std::to_string(number);
    return example;
  });
}

FileSet cicero_set(const std::string& name, const std::string& doc, const std::string& folder,
                   const std::string& answers) {
  return {.info = {.name = name,
                   .doc = doc,
                   .licence = "MIT",
                   .splits = {"test", "val"},
                   .views = {"whole", "per_reference"},
                   .text_forms = {"raw"}},
          .reader = "cicero@1",
          .examples = [folder, answers](SetFiles& files, const DatasetRequest& request) {
            return read_cicero(files, folder + "/" + request.split + ".json", answers);
          }};
}

}  // namespace

std::vector<FileSet> cicero_sets() {
  FileSet first =
      cicero_set("cicero", "inferences about dialogues, the one answer people wrote (v1)",
                 "v1/data", "Human Written Answer");
  first.info.splits = {"test", "train", "val"};
  first.folder = "cicero";
  first.layout = "v1/data/train.json, val.json and test.json of the authors' repository";
  first.source = "https://github.com/declare-lab/CICERO";
  return {std::move(first),
          cicero_set("cicero-v2", "inferences about dialogues, two or more right answers (v2)",
                     "v2/data", "Correct Answers")};
}

}  // namespace qfs::datasets
