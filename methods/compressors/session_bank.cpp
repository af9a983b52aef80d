#include "methods/compressors/session_bank.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/mv.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "harness/core/json_dom.h"
#include "harness/core/rng.h"
#include "harness/core/sha256.h"
#include "methods/compressors/demonstrations.h"
#include "methods/compressors/session_files.h"
#include "methods/models/checkpoints/safetensors.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "methods/models/peft/tensor_files.h"

namespace qfs::compressors {

namespace {

using checkpoints::StoredTensor;
using checkpoints::TensorType;

constexpr const char* kMemory = "bank.memory";  ///< [rows of all, hidden]
constexpr const char* kRows = "bank.rows";      ///< [demonstrations]
constexpr const char* kTokens = "bank.tokens";  ///< [demonstrations]
constexpr const char* kIds = "bank.ids";        ///< [tokens of all]
constexpr const char* kKeys = "bank.examples";  ///< metadata: a JSON array
constexpr const char* kAdapterDigest = "artifact_sha256";
constexpr const char* kDataDigest = "data_sha256";

static_assert(std::endian::native == std::endian::little,
              "safetensors holds little-endian numbers");

std::string_view bytes_of(const std::vector<int32_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int32_t)};
}

StoredTensor stored(const char* name, const std::vector<int32_t>& numbers) {
  return {name, TensorType::i32, {static_cast<int64_t>(numbers.size())}, bytes_of(numbers)};
}

/// A list of numbers from `least` on; `count`: how many, where that is known.
Result<std::vector<int32_t>> numbers_in(const checkpoints::Checkpoint& file, const char* name,
                                        int32_t least, std::optional<int64_t> count) {
  const auto entry = file.require(name);
  if (!entry.ok()) return entry.error();
  const checkpoints::TensorEntry& tensor = **entry;
  const bool list = tensor.type == TensorType::i32 && tensor.shape.size() == 1;
  if (!list || (count && tensor.elements != *count)) {
    std::string what = name;
    what += " is " + checkpoints::shape_text(tensor.shape) + "; expected a list of ";
    what += count ? std::to_string(*count) + " integers" : "integers";
    return data_error(std::move(what), file.path());
  }
  std::vector<int32_t> numbers(static_cast<size_t>(tensor.elements));
  const Status read = file.read_bytes(tensor, 0, std::as_writable_bytes(std::span(numbers)));
  if (!read.ok()) return read.error();
  const auto low = std::ranges::find_if(numbers, [&](int32_t number) { return number < least; });
  if (low == numbers.end()) return numbers;
  std::string what = name;
  what += " holds " + std::to_string(*low);
  return data_error(std::move(what), file.path());
}

/// Of what demonstrations are of.
std::string data_digest(const std::string& keys, const std::vector<int32_t>& tokens,
                        const std::vector<int32_t>& ids) {
  return Sha256().update(keys).update(bytes_of(tokens)).update(bytes_of(ids)).hex();
}

int64_t sum_of(const std::vector<int32_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t{0});
}

Result<std::vector<std::string>> keys_in(const OpenedFile& file, size_t count) {
  const std::string& path = file.tensors->path();
  const auto text = file.metadata.find(kKeys);
  if (text == file.metadata.end()) return data_error("there is no bank in it", path);
  const auto list = parse_json(text->second, path + "#" + kKeys);
  if (!list.ok()) return list.error();
  std::vector<std::string> keys;
  for (const nlohmann::json& key : *list) {
    if (key.is_string()) keys.push_back(key.get<std::string>());
  }
  if (list->is_array() && keys.size() == count && list->size() == count) return keys;
  std::string what = kKeys;
  what += " are not the keys of its " + std::to_string(count) + " demonstrations";
  return data_error(std::move(what), path);
}

}  // namespace

DemonstrationTexts::DemonstrationTexts(
    std::string text, int64_t window,
    std::shared_ptr<const tokenizers::VocabularyTokenizer> tokenizer)
    : text_(std::move(text)), window_(window), tokenizer_(std::move(tokenizer)) {}

std::vector<int32_t> DemonstrationTexts::cut_ids(const std::string& text) const {
  std::vector<int32_t> ids = tokenizer_->ids_behind(text);
  ids.resize(std::min(ids.size(), static_cast<size_t>(window_)));
  return ids;
}

Result<Demonstration> DemonstrationTexts::made(const Example& example) const {
  if (example.references.empty() || example.references.front().empty()) {
    return data_error("the demonstration '" + example.key + "' has no reference summary");
  }
  return Demonstration{example.key,
                       cut_ids(demonstration_text(text_, example, example.references.front()).text),
                       {}};
}

std::vector<int32_t> DemonstrationTexts::asked(const Example& example) const {
  return cut_ids(asked_text(text_, example));
}

BankMaker::BankMaker(DemonstrationTexts texts, double ratio, std::vector<int32_t> opening,
                     std::shared_ptr<const Selfcp> compressor)
    : texts_(std::move(texts)),
      ratio_(ratio),
      opening_{std::move(opening), {}, {}},
      compressor_(std::move(compressor)) {}

Result<Demonstration> BankMaker::made(const Example& example) const {
  auto demonstration = texts_.made(example);
  if (!demonstration.ok()) return demonstration;
  std::vector<ReadPass> passes;
  auto memory = compressed(
      demonstration->ids,
      memory_tokens(static_cast<int64_t>(demonstration->ids.size()), ratio_, Rounding::ceil),
      passes);
  if (!memory.ok()) {
    Error error = memory.error();
    error.message = "demonstration '" + example.key + "': " + error.message;
    return error;
  }
  demonstration->memory = *std::move(memory);
  return demonstration;
}

Result<at::Tensor> BankMaker::compressed(const std::vector<int32_t>& ids, int64_t rows,
                                         std::vector<ReadPass>& passes) const {
  PromptParts parts = opening_;
  parts.content = ids;
  const Plan plan{{{{0, static_cast<int64_t>(ids.size())}, rows}}, {}, true};
  const CompressionTask task{parts, plan};
  auto made = compressor_->compress({&task, 1});
  if (!made.ok()) return made.error();
  passes.insert(passes.end(), made->front().passes.begin(), made->front().passes.end());
  return nn::guarded("keeping memory", [&]() -> Result<at::Tensor> {
    return made->front().memory.front().rows.to(at::kCPU, at::kFloat).contiguous();
  });
}

Result<at::Tensor> BankMaker::key_of(const Example& example, std::vector<ReadPass>& passes) const {
  const std::vector<int32_t> ids = texts_.asked(example);
  if (ids.empty()) {
    return invalid_argument("there is no text to find demonstrations by");
  }
  return compressed(ids, 1, passes);
}

Result<std::vector<int32_t>> opening_of(const prompted::Prompts& prompts) {
  // What two prompts without a letter in common begin with.
  const auto one = prompts.maker.prepare_text({}, "a", 0);
  if (!one.ok()) return one.error();
  const auto other = prompts.maker.prepare_text({}, "z", 0);
  if (!other.ok()) return other.error();
  const std::vector<int32_t>& ids = one->input.ids;
  const auto end = std::ranges::mismatch(ids, other->input.ids).in1;
  return std::vector<int32_t>(ids.begin(), end);
}

std::vector<size_t> drawn_examples(size_t examples, int64_t most, uint64_t seed) {
  std::vector<size_t> order(examples);
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng = Rng::derived(seed, "bank");
  rng.shuffle(order);
  order.resize(std::min(order.size(), static_cast<size_t>(most)));
  std::ranges::sort(order);
  return order;
}

std::string bank_bytes(const std::vector<Demonstration>& demonstrations,
                       std::map<std::string, std::string> metadata, at::ScalarType type) {
  std::vector<at::Tensor> memory;
  std::vector<int32_t> rows;
  std::vector<int32_t> tokens;
  std::vector<int32_t> ids;
  nlohmann::json keys = nlohmann::json::array();
  for (const Demonstration& one : demonstrations) {
    if (one.memory.defined()) {
      memory.push_back(one.memory);
      rows.push_back(static_cast<int32_t>(one.memory.size(0)));
    }
    tokens.push_back(static_cast<int32_t>(one.ids.size()));
    ids.insert(ids.end(), one.ids.begin(), one.ids.end());
    keys.push_back(one.key);
  }
  metadata[kKeys] = keys.dump();
  metadata[kDataDigest] = data_digest(metadata[kKeys], tokens, ids);
  std::vector<StoredTensor> tensors = {stored(kTokens, tokens), stored(kIds, ids)};
  at::Tensor all;
  if (!memory.empty()) {
    all = at::cat(memory).to(type).contiguous();
    tensors.push_back({kMemory,
                       type == at::kBFloat16 ? TensorType::bf16 : TensorType::f32,
                       all.sizes().vec(),
                       {static_cast<const char*>(all.const_data_ptr()), all.nbytes()}});
    tensors.push_back(stored(kRows, rows));
  }
  return checkpoints::safetensors_bytes(tensors, metadata);
}

namespace {

/// Keys and tokens.
Result<Bank> read_tokens(const OpenedFile& file) {
  const checkpoints::Checkpoint& tensors = *file.tensors;
  const auto tokens = numbers_in(tensors, kTokens, 1, {});
  if (!tokens.ok()) return tokens.error();
  const auto ids = numbers_in(tensors, kIds, 0, sum_of(*tokens));
  if (!ids.ok()) return ids.error();
  auto keys = keys_in(file, tokens->size());
  if (!keys.ok()) return keys.error();
  if (tokens->empty()) return data_error("the bank has no demonstrations", tensors.path());
  const auto digest = file.metadata.find(kDataDigest);
  if (digest == file.metadata.end() ||
      digest->second != data_digest(file.metadata.at(kKeys), *tokens, *ids)) {
    return data_error(std::string(kDataDigest) + " is not the digest of its demonstrations",
                      tensors.path());
  }
  Bank bank;
  bank.metadata = file.metadata;
  auto id = ids->begin();
  for (size_t i = 0; i < tokens->size(); ++i) {
    const auto end = id + (*tokens)[i];
    bank.demonstrations.push_back({std::move((*keys)[i]), {id, end}, {}});
    id = end;
  }
  return bank;
}

}  // namespace

Result<Bank> read_bank(const std::string& path, int64_t hidden, const std::string& adapter_digest) {
  const auto file = open_trained_file(path, "selfcp");
  if (!file.ok()) return file.error();
  const checkpoints::Checkpoint& tensors = *file->tensors;
  const auto of = file->metadata.find(kAdapterDigest);
  if (of == file->metadata.end()) {
    return data_error("there is no bank in it: it does not say by which connector it was made",
                      path);
  }
  if (of->second != adapter_digest) {
    return data_error("the bank was made by the connector with the digest " + of->second +
                          ", not by that of " + adapter_digest,
                      path);
  }
  auto bank = read_tokens(*file);
  if (!bank.ok()) return bank;
  const auto rows =
      numbers_in(tensors, kRows, 1, static_cast<int64_t>(bank->demonstrations.size()));
  if (!rows.ok()) return rows.error();
  const auto memory = peft::read_tensor(tensors, kMemory, {sum_of(*rows), hidden});
  if (!memory.ok()) return memory.error();
  if (!memory->isfinite().all().item<bool>()) {
    return data_error(std::string(kMemory) + " holds numbers that are not finite", path);
  }
  if (tensors.find(kMemory)->type == TensorType::bf16) bank->type = at::kBFloat16;
  std::vector<at::Tensor> first;
  int64_t row = 0;
  for (size_t i = 0; i < rows->size(); ++i) {
    bank->demonstrations[i].memory = memory->narrow(0, row, (*rows)[i]);
    first.push_back(memory->narrow(0, row, 1));
    row += (*rows)[i];
  }
  bank->keys = at::cat(first);
  return bank;
}

Result<Bank> read_token_bank(const std::string& path) {
  const auto file = open_trained_file(path, "");
  if (!file.ok()) return file.error();
  return read_tokens(*file);
}

std::vector<size_t> nearest(const at::Tensor& keys, const at::Tensor& key, BankScore score,
                            int64_t count) {
  const at::Tensor wide = keys.to(at::kDouble);
  const at::Tensor asked = key.reshape({-1}).to(at::kDouble);
  at::Tensor products = at::mv(wide, asked);
  // The length of `key` is the same for all.
  if (score == BankScore::cosine) products = products / wide.norm(2, 1).clamp_min(1e-12);
  const at::Tensor scores = products.contiguous();
  const double* const values = scores.const_data_ptr<double>();
  std::vector<size_t> order(static_cast<size_t>(scores.numel()));
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return values[a] > values[b]; });
  order.resize(std::min(order.size(), static_cast<size_t>(count)));
  return order;
}

}  // namespace qfs::compressors
