#include "datasets/readers/json_lines.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "datasets/text_lines.h"

namespace qfs::datasets {

Status add_lines(SetFiles& files, const std::string& path, const DecodeLine& decode,
                 KeyedExamples& examples) {
  Result<LoadedFile> file = files.load(path);
  if (!file) return file.error();
  TextLines lines(file->bytes);
  while (std::optional<std::string_view> line = lines.next()) {
    const JsonPlace place{file->path + ":" + std::to_string(lines.number()), ""};
    Result<nlohmann::json> value = parse_json_line(*line, place.where);
    if (!value) return value.error();
    Result<Example> example = decode(*value, place);
    if (!example) return example.error();
    Status added = examples.add(*std::move(example), place);
    if (!added) return added;
  }
  return {};
}

Result<std::vector<Example>> read_lines(SetFiles& files, const std::string& path,
                                        const DecodeLine& decode) {
  KeyedExamples examples;
  Status added = add_lines(files, path, decode, examples);
  if (!added) return added.error();
  return examples.take();
}

Result<std::vector<std::string>> texts_of(const nlohmann::json& list, const JsonPlace& place) {
  if (!list.is_array()) {
    return data_error("expected a list of texts, found " + std::string(describe_type(list)),
                      place.to_string());
  }
  std::vector<std::string> texts;
  for (const nlohmann::json& text : list) {
    if (!text.is_string()) {
      return data_error("expected text, found " + std::string(describe_type(text)),
                        (place / texts.size()).to_string());
    }
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

Result<std::vector<std::string>> texts_member(const nlohmann::json& object, std::string_view key,
                                              const JsonPlace& place) {
  Result<const nlohmann::json*> list = member(object, key, place);
  if (!list) return list.error();
  return texts_of(**list, place / key);
}

std::string joined(const std::vector<std::string>& texts, std::string_view between) {
  std::string all;
  for (const std::string& text : texts) {
    if (&text != &texts.front()) all += between;
    all += text;
  }
  return all;
}

}  // namespace qfs::datasets
