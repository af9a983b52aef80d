// VCSum (Wu et al., Findings of ACL 2023): Chinese meetings cut into segments by topic, with a
// headline and a summary a segment and a summary a meeting. JSON lines, although called .txt.
//
// The file of transcripts is not read: `vcsum-long` has a meeting's segments as its document.
#include <map>
#include <nlohmann/json.hpp>

#include "datasets/readers/file_set.h"
#include "datasets/readers/json_lines.h"

namespace qfs::datasets {
namespace {

/// Turns of a segment: a list of sentences each, and the number of its speaker.
Result<std::vector<Segment>> decode_vcsum_turns(const nlohmann::json& value,
                                                const JsonPlace& place) {
  Result<const nlohmann::json*> context = list_member(value, "context", place);
  if (!context) return context.error();
  Result<const nlohmann::json*> speakers = list_member(value, "speaker", place);
  if (!speakers) return speakers.error();
  if ((*speakers)->size() != (*context)->size()) {
    return data_error(std::to_string((*speakers)->size()) + " speakers of " +
                          std::to_string((*context)->size()) + " turns",
                      (place / "speaker").to_string());
  }
  std::vector<Segment> turns;
  for (size_t i = 0; i < (*context)->size(); ++i) {
    const nlohmann::json& speaker = (**speakers)[i];
    if (!speaker.is_number_integer()) {
      return data_error(
          "expected the number of a speaker, found " + std::string(describe_type(speaker)),
          (place / "speaker" / i).to_string());
    }
    Result<std::vector<std::string>> sentences = texts_of((**context)[i], place / "context" / i);
    if (!sentences) return sentences.error();
    turns.push_back({joined(*sentences, ""), speaker.dump()});
  }
  return turns;
}

/// "13_0" is segment 0 of meeting "13".
Result<Example> decode_vcsum_segment(const nlohmann::json& value, const JsonPlace& place) {
  Example example;
  example.language = "zh";
  example.references.resize(1);
  for (auto [key, text] : {std::pair{"id", &example.key}, std::pair{"agenda", &example.query},
                           std::pair{"discussion", &example.references.front()}}) {
    Result<std::string> found = text_member(value, key, place);
    if (!found) return found.error();
    *text = *std::move(found);
  }
  const size_t end = example.key.rfind('_');
  if (end == 0 || end == std::string::npos) {
    return data_error(
        "expected an id such as \"13_0\" (meeting and segment), found '" + example.key + "'",
        (place / "id").to_string());
  }
  example.document_id = example.key.substr(0, end);
  Result<std::vector<Segment>> turns = decode_vcsum_turns(value, place);
  if (!turns) return turns.error();
  example.document = *std::move(turns);
  return example;
}

Result<std::vector<Example>> read_vcsum_segments(SetFiles& files, const DatasetRequest& request) {
  return read_lines(files, "vcsum_data/short_" + request.split + ".txt", decode_vcsum_segment);
}

Result<std::vector<Example>> read_vcsum_meetings(SetFiles& files, const DatasetRequest& request) {
  Result<std::vector<Example>> segments = read_vcsum_segments(files, request);
  if (!segments) return segments;
  std::map<std::string, std::vector<Segment>> meetings;
  for (const Example& segment : *segments) {
    std::vector<Segment>& turns = meetings[segment.document_id];
    turns.insert(turns.end(), segment.document.begin(), segment.document.end());
  }
  const auto decode = [&](const nlohmann::json& value, const JsonPlace& place) -> Result<Example> {
    Result<std::string> id = text_member(value, "id", place);
    if (!id) return id.error();
    Result<std::string> summary = text_member(value, "summary", place);
    if (!summary) return summary.error();
    const auto turns = meetings.find(*id);
    if (turns == meetings.end()) {
      return data_error("no segment of meeting '" + *id + "' is in the file of segments",
                        (place / "id").to_string());
    }
    Example example;
    example.key = *std::move(id);
    example.language = "zh";
    example.document = turns->second;
    example.references = {*std::move(summary)};
    return example;
  };
  return read_lines(files, "vcsum_data/long_" + request.split + ".txt", decode);
}

DatasetInfo vcsum_info(const std::string& name, const std::string& doc) {
  return {.name = name,
          .doc = doc,
          .licence = "MIT",
          .splits = {"test", "dev"},
          .views = {"whole"},
          .text_forms = {"raw"}};
}

}  // namespace

std::vector<FileSet> vcsum_sets() {
  return {{.info = vcsum_info("vcsum", "segments of Chinese meetings, by their headlines"),
           .reader = "vcsum@1",
           .examples = read_vcsum_segments},
          {.info = vcsum_info("vcsum-long", "Chinese meetings of these segments, without queries"),
           .reader = "vcsum@1",
           .examples = read_vcsum_meetings}};
}

}  // namespace qfs::datasets
