#include "metrics/chinese/jieba_segmenter.h"

#include <mutex>
#include <optional>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "metrics/chinese/jieba_cut.h"

namespace qfs::metrics {
namespace {

constexpr size_t kShownDigits = 12;
constexpr uint64_t kMaxDictionaryBytes = uint64_t{256} << 20;
constexpr uint64_t kMaxTableBytes = uint64_t{16} << 20;

struct Model {
  JiebaDictionary dictionary;
  std::optional<JiebaHmm> hmm;
};

Error changed(const std::string& path) {
  return data_error("changed while it was in use: its SHA-256 is no longer the one that was signed",
                    path);
}

Result<JiebaHmm> load_hmm(const JiebaFiles& files) {
  std::string tables[3];
  const char* const names[] = {"/prob_start.py", "/prob_trans.py", "/prob_emit.py"};
  std::string digests;
  for (size_t i = 0; i < 3; ++i) {
    Result<std::string> table = read_file(files.tables + names[i], kMaxTableBytes);
    if (!table) return table.error();
    digests += sha256_hex(*table);
    tables[i] = *std::move(table);
  }
  if (sha256_hex(digests) != files.tables_sha256) return changed(files.tables);
  return JiebaHmm::parse(tables[0], tables[1], tables[2], files.tables);
}

Result<Model> load(const JiebaFiles& files) {
  Result<std::string> text = read_file(files.dictionary, kMaxDictionaryBytes);
  if (!text) return text.error();
  if (sha256_hex(*text) != files.dictionary_sha256) return changed(files.dictionary);
  Result<JiebaDictionary> dictionary = JiebaDictionary::parse(*text, files.dictionary);
  if (!dictionary) return dictionary.error();
  Model model{*std::move(dictionary), std::nullopt};
  if (!files.tables.empty()) {
    Result<JiebaHmm> hmm = load_hmm(files);
    if (!hmm) return hmm.error();
    model.hmm = *std::move(hmm);
  }
  return model;
}

}  // namespace

struct JiebaSegmenter::State {
  JiebaFiles files;
  std::once_flag once;
  std::optional<Result<Model>> model;
};

JiebaSegmenter::JiebaSegmenter(JiebaFiles files) : state_(std::make_unique<State>()) {
  state_->files = std::move(files);
}
JiebaSegmenter::~JiebaSegmenter() = default;

std::string JiebaSegmenter::signature() const {
  const JiebaFiles& files = state_->files;
  return "seg:jieba-0.42.1|dict:" + files.dictionary_sha256.substr(0, kShownDigits) +
         "|hmm:" + (files.tables.empty() ? "off" : files.tables_sha256.substr(0, kShownDigits));
}

Status JiebaSegmenter::segment(std::string_view text, std::vector<std::string_view>& words) const {
  std::call_once(state_->once, [&] { state_->model = load(state_->files); });
  if (!*state_->model) return state_->model->error();
  const Model& model = **state_->model;
  JiebaCut(model.dictionary, model.hmm ? &*model.hmm : nullptr).cut(text, words);
  return {};
}

}  // namespace qfs::metrics
