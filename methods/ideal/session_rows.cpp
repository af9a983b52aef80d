#include "methods/ideal/session_rows.h"

#include <ATen/ops/cat.h>

#include <utility>

#include "methods/models/peft/hyper_network.h"

namespace qfs::ideal {

namespace {

double cosine(const at::Tensor& a, const at::Tensor& b) {
  const double norms = (a.norm() * b.norm()).item<double>();
  return norms > 0 ? a.dot(b).item<double>() / norms : 0;
}

}  // namespace

RowAdapters::RowAdapters(peft::LayerAdapter adapter, bool of_general_request)
    : adapter_(std::move(adapter)),
      of_general_request_(of_general_request),
      dead_(adapter_.metadata.contains(kDeadMark)) {}

Result<prompted::RowAddition> RowAdapters::of(const Example& example,
                                              const nn::SequenceInput& input,
                                              prompted::PromptedModel& model) {
  const peft::HyperConfig& hyper = adapter_.config.hyper;
  if (hyper.layers == 0) {
    if (example.other_query || of_general_request_) {
      return invalid_argument("the file has no hypernetwork that would read another query");
    }
    auto made = generated_of({}, model.generator);
    if (!made.ok()) return made.error();
    return prompted::RowAddition{made->adapters};
  }
  const bool by_request = hyper.pooling == peft::Pooling::instruction;
  // The same for all examples, unless the prompt has the document in front of the query.
  Generated general;
  if (by_request) {
    auto of_any = generated_for_query(example, "", model);
    if (!of_any.ok()) return of_any.error();
    general = *std::move(of_any);
  }
  auto made = of_general_request_   ? Result<Generated>(general)
              : example.other_query ? generated_for_query(example, *example.other_query, model)
                                    : generated_for(input, model.generator);
  if (!made.ok()) return made.error();
  prompted::RowAddition addition = {made->adapters,
                                    {{"generated_norm", made->numbers.norm().item<double>()}}};
  if (dead_) addition.observed[kDeadWarning] = 1;
  if (by_request) {
    addition.observed["likeness_to_general"] = cosine(made->numbers, general.numbers);
  }
  if (by_request && example.other_query) {
    const auto own = generated_for(input, model.generator);
    if (!own.ok()) return own.error();
    addition.observed["likeness_to_own"] = cosine(made->numbers, own->numbers);
  }
  return addition;
}

Result<RowAdapters::Generated> RowAdapters::generated_for(const nn::SequenceInput& input,
                                                          decoding::Generator& generator) {
  const auto prefix = peft::pooled_prefix(input, adapter_.config.hyper.pooling);
  if (!prefix.ok()) return prefix.error();
  return generated_of(*prefix, generator);
}

Result<RowAdapters::Generated> RowAdapters::generated_of(const nn::SequenceInput& prefix,
                                                         decoding::Generator& generator) {
  Key key = {prefix.ids, prefix.query.first, prefix.query.count, prefix.document.first};
  if (const auto known = made_.find(key); known != made_.end()) return known->second;
  std::vector<at::Tensor> numbers;
  auto bound = peft::row_adapters(
      adapter_, prefix,
      {.bind = [&](const nn::AdapterSet& set) { return generator.bind(set); },
       .stream = [&](size_t layer,
                     const nn::SequenceInput& of) { return generator.stream_before(layer, of); }},
      {}, [&](const peft::NamedTensors& values) {
        for (const auto& [decoder, tensor] : values) {
          numbers.push_back(tensor.flatten().to(at::kFloat));
        }
      });
  if (!bound.ok()) return bound.error();
  if (order_.size() == kMostKept) {
    made_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(key);
  const Generated made = {*bound, numbers.empty() ? at::Tensor() : at::cat(numbers)};
  made_.emplace(std::move(key), made);
  return made;
}

Result<RowAdapters::Generated> RowAdapters::generated_for_query(Example example, std::string query,
                                                                prompted::PromptedModel& model) {
  example.query = std::move(query);
  const auto prompt = model.prompts.maker.prepare_any_length(example);
  if (!prompt.ok()) return prompt.error();
  return generated_for(prompt->input, model.generator);
}

}  // namespace qfs::ideal
