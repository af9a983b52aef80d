// AMI and ICSI meetings with their abstractive summaries, in the JSON lines that HMNet (Zhu et al.,
// Findings of EMNLP 2020) gave out: word-tokenized turns with role, part of speech and entities.
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/readers/file_set.h"
#include "datasets/readers/json_lines.h"
#include "datasets/readers/keyed_examples.h"

namespace qfs::datasets {
namespace {

struct HmnetTurn {
  std::string speaker;
  std::string role;
  std::string text;
};

Result<HmnetTurn> decode_hmnet_turn(const nlohmann::json& value, const JsonPlace& place) {
  HmnetTurn turn;
  for (auto [key, text] : {std::pair{"speaker", &turn.speaker}, std::pair{"role", &turn.role}}) {
    Result<std::string> found = text_member(value, key, place);
    if (!found) return found.error();
    *text = *std::move(found);
  }
  Result<const nlohmann::json*> utterance = member(value, "utt", place);
  if (!utterance) return utterance.error();
  Result<std::vector<std::string>> words = texts_member(**utterance, "word", place / "utt");
  if (!words) return words.error();
  turn.text = joined(*words, " ");
  return turn;
}

/// Speakers are called by their role ("PM"), with their letter where several have it ("Grad A").
std::vector<Segment> with_speakers(std::vector<HmnetTurn> turns) {
  std::map<std::string, std::set<std::string>> speakers_of_role;
  for (const HmnetTurn& turn : turns) speakers_of_role[turn.role].insert(turn.speaker);
  std::vector<Segment> segments;
  for (HmnetTurn& turn : turns) {
    const bool alone = speakers_of_role[turn.role].size() == 1;
    segments.push_back({std::move(turn.text), alone ? turn.role : turn.role + " " + turn.speaker});
  }
  return segments;
}

Result<Example> decode_hmnet_meeting(const nlohmann::json& value, const JsonPlace& place) {
  Example example;
  example.language = "en";
  Result<std::string> id = text_member(value, "id", place);
  if (!id) return id.error();
  example.key = *std::move(id);
  Result<const nlohmann::json*> list = list_member(value, "meeting", place);
  if (!list) return list.error();
  std::vector<HmnetTurn> turns;
  for (const nlohmann::json& item : **list) {
    Result<HmnetTurn> turn = decode_hmnet_turn(item, place / "meeting" / turns.size());
    if (!turn) return turn.error();
    turns.push_back(*std::move(turn));
  }
  example.document = with_speakers(std::move(turns));
  Result<std::vector<std::string>> summary = texts_member(value, "summary", place);
  if (!summary) return summary.error();
  example.references = {joined(*summary, " ")};
  return example;
}

Result<std::vector<Example>> read_hmnet(SetFiles& files, const std::string& folder) {
  Result<std::vector<std::string>> shards = files.matching(folder + "/*.jsonl.gz");
  if (!shards) return shards.error();
  KeyedExamples examples;
  for (const std::string& shard : *shards) {
    Status added = add_lines(files, shard, decode_hmnet_meeting, examples);
    if (!added) return added.error();
  }
  return examples.take();
}

FileSet hmnet_set(const std::string& name, const std::string& doc, const std::string& folder) {
  return {.info = {.name = name,
                   .doc = doc,
                   .licence = "MIT; corpus: CC BY 4.0",
                   .splits = {"test", "train", "val"},
                   .views = {"whole"},
                   .text_forms = {"raw"}},
          .reader = "hmnet@1",
          .examples = [folder](SetFiles& files, const DatasetRequest& request) {
            const std::string part = request.split == "val" ? "dev" : request.split;
            return read_hmnet(files, folder + "/" + part);
          }};
}

}  // namespace

std::vector<FileSet> hmnet_sets() {
  return {hmnet_set("ami", "137 meetings of a design team, a summary each (HMNet's form)",
                    "AMI_proprec"),
          hmnet_set("icsi", "59 meetings of researchers, a summary each (HMNet's form)",
                    "ICSI_proprec")};
}

}  // namespace qfs::datasets
