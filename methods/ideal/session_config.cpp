#include <map>
#include <string>

#include "methods/ideal/session_train.h"
#include "methods/models/prompted/trained_spec.h"

namespace qfs::ideal {

namespace {

using peft::AdapterKind;
using peft::LayerAdapterConfig;

template <class Value>
Value named(const std::string& name, const std::map<std::string, Value>& values) {
  return values.at(name);
}

AdapterKind kind_of(std::string_view method, const Params& params) {
  if (method == "parallel_adapter") return AdapterKind::parallel_adapter;
  if (method == "prompt_tuning") return AdapterKind::prompt;
  return named<AdapterKind>(params.get<std::string>("adapter"),
                            {{"lora", AdapterKind::lora},
                             {"parallel_adapter", AdapterKind::parallel_adapter},
                             {"prompt", AdapterKind::prompt}});
}

int64_t size_of(AdapterKind kind, const Params& params) {
  const char* const name = kind == AdapterKind::lora               ? "rank"
                           : kind == AdapterKind::parallel_adapter ? "bottleneck"
                                                                   : "length";
  return params.find<int64_t>(name).value_or(0);  // of a file that says nothing else
}

void add_hyper(const Params& params, bool released, const nn::LayerWidths& widths,
               LayerAdapterConfig& config) {
  const int64_t upper =
      params.find<int64_t>("generated_layers").value_or((widths.layers - config.first_layer) / 2);
  if (params.find<std::string>("generated").value_or("upper") == "none") {
    config.bare_layers = upper;
    return;
  }
  config.hyper.layers = upper;
  config.hyper.bottleneck = params.find<int64_t>("hyper_bottleneck").value_or(64);
  config.hyper.encoder =
      named<peft::HyperEncoder>(params.find<std::string>("hyper_encoder").value_or("own"),
                                {{"own", peft::HyperEncoder::own},
                                 {"common", peft::HyperEncoder::common},
                                 {"serial", peft::HyperEncoder::serial}});
  config.hyper.pooling = named<peft::Pooling>(params.get<std::string>("pooling"),
                                              {{"instruction", peft::Pooling::instruction},
                                               {"document", peft::Pooling::document},
                                               {"all", peft::Pooling::all},
                                               {"both", peft::Pooling::both}});
  config.hyper.precision = named<peft::HyperPrecision>(
      params.find<std::string>("hyper_precision").value_or(released ? "fp16_as_released" : "fp32"),
      {{"fp32", peft::HyperPrecision::fp32},
       {"bf16", peft::HyperPrecision::bf16},
       {"fp16_as_released", peft::HyperPrecision::fp16_as_released}});
  config.hyper.detach = params.find<bool>("hyper_detach").value_or(true);
}

}  // namespace

LayerAdapterConfig config_of(std::string_view method, const Params& params,
                             const nn::LayerWidths& widths) {
  LayerAdapterConfig config;
  const bool released = params.find<std::string>("preset").value_or("") == "as_released";
  config.kind = kind_of(method, params);
  config.size = size_of(config.kind, params);
  const bool prompts = config.kind == AdapterKind::prompt;
  config.first_layer = params.find<int64_t>("first_layer").value_or(prompts && !released ? 2 : 0);
  config.gate_tanh = params.find<bool>("gate_tanh").value_or(!released);
  if (const auto targets = params.find<std::string>("targets")) {
    config.targets = prompted::listed(*targets);
  }
  if (method == "ideal") add_hyper(params, released, widths, config);
  return config;
}

}  // namespace qfs::ideal
