#include "methods/compressors/session_train.h"

#include <algorithm>
#include <utility>

#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "methods/compressors/params.h"
#include "methods/compressors/session_files.h"
#include "methods/models/nn/token_loss.h"
#include "methods/models/peft/tensor_files.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::compressors {

namespace {

using training::LabelledSequence;

constexpr const char* kFile = "adapter.safetensors";

/// A prompt and what is learned behind it.
struct Labelled {
  nn::SequenceInput prompt;
  std::vector<int32_t> response;
};

Labelled taken_apart(const LabelledSequence& sequence) {
  const auto first =
      std::ranges::find_if(sequence.labels, [](int64_t label) { return label != nn::kNoLabel; });
  Labelled parts{sequence.input, {}};
  parts.prompt.ids.resize(static_cast<size_t>(first - sequence.labels.begin()) + 1);
  for (auto label = first; label != sequence.labels.end(); ++label) {
    parts.response.push_back(static_cast<int32_t>(*label));
  }
  return parts;
}

/// The sequence of a prompt with its response.
LabelledSequence joined(nn::SequenceInput prompt, std::span<const int32_t> response) {
  LabelledSequence sequence{std::move(prompt), {}};
  sequence.labels.assign(sequence.input.ids.size() - 1, nn::kNoLabel);
  sequence.labels.insert(sequence.labels.end(), response.begin(), response.end());
  sequence.input.ids.insert(sequence.input.ids.end(), response.begin(), response.end() - 1);
  return sequence;
}

/// Whether a response begins with the whole text, which one that goes on with it does not.
bool is_again(std::span<const int32_t> text, std::span<const int32_t> response) {
  return response.size() >= text.size() && std::ranges::equal(response.first(text.size()), text);
}

/// What is trained, and how examples are made of prompts.
struct TrainedParts {
  std::unique_ptr<TrainedCompressor> compressor;
  /// The document itself is learned, of at most so many tokens; 0: the summary is.
  int64_t auto_encoding_tokens = 0;
  /// Of such examples so many learn what follows instead.
  double continuation_share = 0;
};

class Trained : public prompted::TrainedAdapter {
 public:
  Trained(TrainedParts parts, const prompted::AdapterPlace& place)
      : compressor_(std::move(parts.compressor)),
        decoder_(place.decoder),
        seed_(place.request.seed),
        auto_encoding_tokens_(parts.auto_encoding_tokens),
        continuation_share_(parts.continuation_share) {
    const std::vector<int32_t>& ends = place.prompts.backbone->generation.end_ids;
    if (!ends.empty()) end_ = ends.front();
  }

  training::NamedTensors tensors() const override { return compressor_->tensors(); }
  void replace(const training::NamedTensors& leaves) override { compressor_->replace(leaves); }

  Result<LabelledSequence> learned(LabelledSequence sequence) const override {
    if (auto_encoding_tokens_ == 0) return sequence;
    auto parts = parts_of(taken_apart(sequence).prompt);
    if (!parts.ok()) return parts.error();
    std::vector<int32_t>& content = parts->content;
    const size_t all = content.size();
    size_t read = std::min(all, static_cast<size_t>(auto_encoding_tokens_));
    std::vector<int32_t> response;
    if (learns_what_follows(content)) {
      if (all < 2 * read) read = (all + 1) / 2;
      const auto behind = content.begin() + static_cast<std::ptrdiff_t>(read);
      response.assign(behind, behind + static_cast<std::ptrdiff_t>(std::min(read, all - read)));
      content.resize(read);
    } else {
      content.resize(read);
      response = content;
      if (end_) response.push_back(*end_);
    }
    nn::SequenceInput prompt;
    prompt.document = {static_cast<int64_t>(parts->head.size()),
                       static_cast<int64_t>(content.size())};
    for (const auto* ids : {&parts->head, &content, &parts->tail}) {
      prompt.ids.insert(prompt.ids.end(), ids->begin(), ids->end());
    }
    return joined(std::move(prompt), response);
  }

  bool reads() const final { return true; }
  Result<training::ReadRows> read(std::span<const training::GraphRow> rows) override {
    std::vector<PromptParts> parts;
    std::vector<Plan> plans;
    std::vector<std::vector<int32_t>> responses;
    for (const training::GraphRow& row : rows) {
      Labelled labelled = taken_apart(row.sequence);
      auto cut = parts_of(labelled.prompt);
      if (!cut.ok()) return cut.error();
      Rng rng = draws(row.draw.value_or(0));
      auto plan = compressor_->drawn_plan(*cut, row.draw ? &rng : nullptr);
      if (!plan.ok()) return plan.error();
      parts.push_back(*std::move(cut));
      plans.push_back(*std::move(plan));
      responses.push_back(std::move(labelled.response));
    }
    std::vector<CompressionTask> tasks;
    for (size_t i = 0; i < rows.size(); ++i) tasks.push_back({parts[i], plans[i]});
    const auto memory = compressor_->compress(tasks);
    if (!memory.ok()) return memory.error();
    const auto adapters = generator_adapters();
    if (!adapters.ok()) return adapters.error();
    training::ReadRows read;
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::span<const Piece> made = (*memory)[i].memory;
      const auto pieces = auto_encoding_tokens_ > 0
                              ? compressor_->assemble_text(
                                    tasks[i], made, !is_again(parts[i].content, responses[i]))
                              : read_pieces(*compressor_, tasks[i], made);
      read.sequences.push_back(joined(input_of(pieces, compressor_->placeholder()), responses[i]));
      read.sequences.back().input.adapters = *adapters;
      for (const ReadPass& pass : (*memory)[i].passes) read.passes.push_back(pass.tokens);
    }
    return read;
  }

  Result<TrainedFile> keep(const std::string& folder,
                           const std::map<std::string, std::string>& metadata,
                           at::ScalarType type) const override {
    return prompted::keep_bytes(folder, prompted::kAdapter, kFile,
                                peft::tensor_file_bytes(compressor_->tensors(), metadata, type));
  }

 protected:
  const TrainedCompressor& compressor() const { return *compressor_; }
  Rng draws(uint64_t draw) const { return Rng::derived(seed_, "compression", draw); }
  /// With the values of now; null: none.
  Result<std::shared_ptr<const nn::Adapters>> generator_adapters() const {
    const nn::AdapterSet set = compressor_->generator_adapters();
    if (set.linears.empty()) return std::shared_ptr<const nn::Adapters>();
    return nn::bind_adapters(set, *decoder_);
  }

 private:
  /// By a coin, which falls alike whenever the text is read.
  bool learns_what_follows(const std::vector<int32_t>& content) const {
    if (continuation_share_ == 0 || content.size() < 2) return false;
    uint64_t text = content.size();
    for (const int32_t id : content) text = text * 31 + static_cast<uint64_t>(id);
    return Rng::derived(seed_, "continuation", text).uniform() < continuation_share_;
  }

  std::unique_ptr<TrainedCompressor> compressor_;
  std::shared_ptr<const nn::Decoder> decoder_;
  uint64_t seed_;
  int64_t auto_encoding_tokens_;
  double continuation_share_;
  std::optional<int32_t> end_;
};

/// AutoCompressor's own objective: every token of a text behind the summaries of the segments
/// before its own.
class TrainedOnTexts final : public Trained {
 public:
  TrainedOnTexts(TrainedParts parts, const LoraReading& reading,
                 const prompted::AdapterPlace& place)
      : Trained(std::move(parts), place), reading_(reading) {}

  /// Labels are all tokens but the first of each half.
  Result<LabelledSequence> learned(LabelledSequence sequence) const override {
    const auto parts = parts_of(taken_apart(sequence).prompt);
    if (!parts.ok()) return parts.error();
    const std::vector<int32_t>& content = parts->content;
    if (content.size() < 2) {
      return invalid_argument("a document of one token has none to learn behind another");
    }
    LabelledSequence text;
    text.input.ids.assign(content.begin(), content.end() - 1);
    text.labels.assign(content.begin() + 1, content.end());
    if (content.size() >= 4) text.labels[(content.size() + 1) / 2 - 1] = nn::kNoLabel;
    return text;
  }
  Result<LabelledSequence> learned_from(const Example& example,
                                        LabelledSequence sequence) const override {
    auto text = learned(std::move(sequence));
    if (text.ok()) return text;
    return invalid_argument("example '" + example.key + "': " + text.error().message);
  }

  Result<training::ReadRows> read(std::span<const training::GraphRow> rows) override {
    std::vector<LearnedText> texts;
    for (const auto& [sequence, draw, step] : rows) {
      LearnedText& text = texts.emplace_back(LearnedText{{{}, sequence.input.ids, {}}, {}});
      text.parts.content.push_back(static_cast<int32_t>(sequence.labels.back()));
      Rng rng = draws(draw.value_or(0));
      text.plan = text_plan(std::ssize(text.parts.content), reading_.window, reading_.memory,
                            draw ? &rng : nullptr);
    }
    auto read = read_texts(compressor(), texts);
    if (!read.ok()) return read;
    const auto adapters = generator_adapters();
    if (!adapters.ok()) return adapters.error();
    for (LabelledSequence& sequence : read->sequences) sequence.input.adapters = *adapters;
    return read;
  }

 private:
  LoraReading reading_;
};

void set_recompute(TrainedCompressor& compressor, const prompted::AdapterPlace& place) {
  if (place.request.params.find<bool>("recompute").value_or(false)) {
    compressor.set_recompute(nn::Recompute::layers);
  }
}

SelfcpForm form_of(const Params& params) {
  SelfcpForm form;
  const auto& connector = params.get<std::string>("connector");
  form.rows = params.get<bool>("train_separator") ? 2 : 1;
  form.bias = connector != "linear";
  form.norm = connector == "linear_bias_ln";
  form.separator = static_cast<int32_t>(params.get<int64_t>("separator_id"));
  form.tag = static_cast<int32_t>(params.get<int64_t>("tag_id"));
  return form;
}

SelfcpDraws draws_of(const Params& params) {
  SelfcpDraws draws;
  const auto& side = params.get<std::string>("train_strategy");
  if (side != "both") draws.side = side == "former" ? Side::former : Side::latter;
  draws.released = params.get<std::string>("train_mix") == "released";
  draws.whole = params.get<std::string>("objective") == "auto_encoding";
  draws.least_ratio = params.get<int64_t>("ratio_min");
  draws.largest_ratio = params.get<int64_t>("ratio_max");
  return draws;
}

/// The tokens of a segment behind what it sees, each with the next one of its half as its label.
LabelledSequence sequence_of(const LearnedText& text, size_t index, std::span<const Piece> before,
                             int32_t placeholder) {
  const std::vector<Segment>& segments = text.plan.segments;
  const Segment& segment = segments[index];
  const auto first = text.parts.content.begin() + segment.content.first;
  const auto end = first + segment.content.count;
  std::vector<Piece> pieces = earlier_memory(segment, before);
  pieces.push_back({{first, end}});
  LabelledSequence sequence{input_of(pieces, placeholder), {}};
  sequence.labels.assign(sequence.input.ids.size() - static_cast<size_t>(segment.content.count),
                         nn::kNoLabel);
  sequence.labels.insert(sequence.labels.end(), first + 1, end);
  const bool goes_on = index + 1 < segments.size() && segments[index + 1].held == segment.held;
  sequence.labels.push_back(goes_on ? *end : nn::kNoLabel);
  return sequence;
}

}  // namespace

Result<training::ReadRows> read_texts(const TrainedCompressor& compressor,
                                      std::span<const LearnedText> texts) {
  std::vector<Plan> compressed;  // without the last segment, whose summary nobody reads
  for (const LearnedText& text : texts) {
    compressed.push_back(text.plan);
    compressed.back().segments.pop_back();
  }
  std::vector<CompressionTask> tasks;
  for (size_t i = 0; i < texts.size(); ++i) tasks.push_back({texts[i].parts, compressed[i]});
  const auto memory = compressor.compress(tasks);
  if (!memory.ok()) return memory.error();
  training::ReadRows read;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::span<const Piece> made = (*memory)[i].memory;
    for (size_t j = 0; j < texts[i].plan.segments.size(); ++j) {
      read.sequences.push_back(sequence_of(texts[i], j, made.first(j), compressor.placeholder()));
    }
    read.parts.push_back(texts[i].plan.segments.size());
    for (const ReadPass& pass : (*memory)[i].passes) read.passes.push_back(pass.tokens);
  }
  return read;
}

Result<std::unique_ptr<prompted::TrainedAdapter>> make_selfcp(const prompted::AdapterPlace& place) {
  const Params& params = place.request.params;
  const SelfcpForm form = form_of(params);
  auto tensors = new_selfcp(form, *place.decoder, place.request.seed,
                            params.get<std::string>("connector_init") == "scaled");
  if (!tensors.ok()) return tensors.error();
  const auto init = place.request.artifacts.find(prompted::kAdapter);
  if (init != place.request.artifacts.end()) {
    auto given = read_selfcp(init->second.path, place.decoder->hidden());
    if (!given.ok()) return given.error();
    if (selfcp_shapes(given->form, 1) != selfcp_shapes(form, 1)) {
      return invalid_argument("cannot begin with '" + init->second.path + "': its connector is '" +
                              connector_name(given->form) + "' with " +
                              std::to_string(given->form.rows) +
                              " embeddings, not that of the training");
    }
    if (given->form.separator != form.separator || given->form.tag != form.tag) {
      return invalid_argument(
          "cannot begin with '" + init->second.path +
          "': it was trained with \"separator_id\": " + std::to_string(given->form.separator) +
          " and \"tag_id\": " + std::to_string(given->form.tag) + "; give them here");
    }
    tensors = std::move(given->tensors);
  }
  SelfcpReading reading;
  reading.rules.window = params.get<int64_t>("train_window");
  reading.segments_at_once = std::numeric_limits<int64_t>::max();
  TrainedParts parts;
  parts.compressor =
      std::make_unique<Selfcp>(form, *std::move(tensors), place.decoder, reading, draws_of(params));
  if (params.get<std::string>("objective") == "auto_encoding") {
    parts.auto_encoding_tokens = reading.rules.window;
  }
  set_recompute(*parts.compressor, place);
  return std::unique_ptr<prompted::TrainedAdapter>(
      std::make_unique<Trained>(std::move(parts), place));
}

int32_t begin_id(const architectures::Backbone& backbone) {
  const tokenizers::TextFrame frame = backbone.tokenizer->frame();
  if (!frame.before.empty()) return frame.before.front();
  const std::vector<int32_t>& ends = backbone.generation.end_ids;
  return ends.empty() ? 0 : ends.front();
}

namespace {

/// What differs between AutoCompressor and ICAE.
struct LoraMethod {
  const char* name;
  const LoraForm& form;
};

struct LoraMade {
  LoraTensors tensors;
  LoraReading reading;
};

Result<LoraMade> make_lora_parts(const prompted::AdapterPlace& place, const LoraMethod& method) {
  const Params& params = place.request.params;
  LoraMade made;
  made.reading.window = params.get<int64_t>("train_window");
  made.reading.begin = begin_id(*place.prompts.backbone);
  made.reading.memory = params.find<int64_t>(method.form.rows)
                            .value_or(memory_tokens(made.reading.window, kRatio, Rounding::ceil));
  // AutoCompressor's summary rows begin as the end token.
  const std::vector<int32_t>& ends = place.prompts.backbone->generation.end_ids;
  const bool as_end = method.form.mode_rows == 0 && !ends.empty();
  auto tensors =
      new_lora_tensors(method.form, *place.decoder, made.reading.memory + method.form.mode_rows,
                       params.get<int64_t>("rank"), params.get<double>("alpha"),
                       as_end ? ends.front() : made.reading.begin, place.request.seed);
  if (!tensors.ok()) return tensors.error();
  made.tensors = *std::move(tensors);
  const auto init = place.request.artifacts.find(prompted::kAdapter);
  if (init == place.request.artifacts.end()) return made;
  auto given = read_lora_tensors(init->second.path, method.name, method.form, *place.decoder);
  if (!given.ok()) return given.error();
  for (auto& [name, tensor] : made.tensors.tensors) {
    const auto its = given->tensors.find(name);
    if (its == given->tensors.end() || its->second.sizes() != tensor.sizes() ||
        given->scale != made.tensors.scale) {
      return invalid_argument("cannot begin with '" + init->second.path + "': its '" + name +
                              "' or its alpha is not the training's");
    }
    tensor = its->second;
  }
  return made;
}

template <class Made>
Result<std::unique_ptr<prompted::TrainedAdapter>> make_lora_compressor(
    const prompted::AdapterPlace& place, const LoraMethod& method) {
  auto made = make_lora_parts(place, method);
  if (!made.ok()) return made.error();
  const Params& params = place.request.params;
  const auto objective = params.find<std::string>("objective");
  TrainedParts parts;
  // The token in front counts.
  if (objective == "auto_encoding") parts.auto_encoding_tokens = made->reading.window - 1;
  parts.continuation_share = params.find<double>(kContinuationShare).value_or(0);
  parts.compressor =
      std::make_unique<Made>(method.form, std::move(made->tensors), place.decoder, made->reading);
  set_recompute(*parts.compressor, place);
  std::unique_ptr<prompted::TrainedAdapter> trained;
  if (objective == "lm") {
    trained = std::make_unique<TrainedOnTexts>(std::move(parts), made->reading, place);
  } else {
    trained = std::make_unique<Trained>(std::move(parts), place);
  }
  return trained;
}

}  // namespace

Result<std::unique_ptr<prompted::TrainedAdapter>> make_autocompressor(
    const prompted::AdapterPlace& place) {
  return make_lora_compressor<Autocompressor>(place, {"autocompressor", autocompressor_form()});
}

Result<std::unique_ptr<prompted::TrainedAdapter>> make_icae(const prompted::AdapterPlace& place) {
  return make_lora_compressor<Icae>(place, {"icae", icae_form()});
}

}  // namespace qfs::compressors
