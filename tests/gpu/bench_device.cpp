// qfs_bench_device: what a GPU reaches with a LLaMA-2-7B-shaped and a BART-large-shaped model of
// random weights, beside what the same GPU reaches with plain matrix products and copies, all in
// one process.
//
//   qfs_bench_device [--device cuda|cpu] [--tiny]      one JSON object on standard output
//
// Prefill: a prompt of 4096 tokens, operations 2 N T + 2 L d T^2 (causal attention counted once)
// against the rate of bfloat16 products of 8192 x 8192. Decoding: batch 1 at a context of 2048,
// bytes of weights and of the read cache against the bandwidth of a copy (reads and writes); with
// and without CUDA graphs. BART: see bench_bart.h. Every repetition is printed; a number is the
// median. --tiny: models of a few megabytes, to see the program run.
#include <ATen/ATen.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "methods/models/architectures/llama/llama_tensors.h"
#include "methods/models/kernels/device_loader.h"
#include "methods/models/nn/device/device_model.h"
#include "methods/models/nn/runtime/device_runtime.h"
#include "methods/models/nn/runtime/torch_runtime.h"
#include "tests/gpu/bench_bart.h"
#include "tests/gpu/measuring.h"

namespace {

using qfs::architectures::LlamaConfig;
using qfs::architectures::LlamaTensorLayer;
using qfs::architectures::LlamaTensors;
using qfs::test::median;
using qfs::test::must;
using qfs::test::seconds_of;
using qfs::test::wait_for;

struct Setting {
  LlamaConfig model;
  int64_t prompt = 0;
  int64_t context = 0;  ///< of decoding
  int64_t steps = 0;
  int64_t product = 0;
  int64_t copy_bytes = 0;
  int repetitions = 0;
};

Setting setting_of(bool tiny) {
  Setting setting;
  LlamaConfig& c = setting.model;
  c = {.layers = tiny ? 2 : 32,
       .hidden = tiny ? 64 : 4096,
       .intermediate = tiny ? 128 : 11008,
       .heads = tiny ? 4 : 32,
       .kv_heads = tiny ? 4 : 32,
       .head_dim = tiny ? 16 : 128,
       .vocabulary = tiny ? 300 : 32000,
       .context = tiny ? 512 : 8192,
       .rms_eps = 1e-5f,
       .rope = {}};
  setting.prompt = tiny ? 200 : 4096;
  setting.context = tiny ? 100 : 2048;
  setting.steps = tiny ? 8 : 64;
  setting.product = tiny ? 128 : 8192;
  setting.copy_bytes = tiny ? 1 << 20 : int64_t{4} << 30;
  setting.repetitions = tiny ? 3 : 9;
  return setting;
}

class Bench {
 public:
  Bench(Setting setting, at::Device device) : setting_(setting), device_(device) {
    at::manual_seed(1);
  }

  /// Operations a second.
  double product_rate(nlohmann::json& report) const {
    constexpr int kProducts = 10;
    const int64_t n = setting_.product;
    const at::Tensor a = random({n, n});
    const at::Tensor b = random({n, n});
    at::Tensor c = at::empty_like(a);
    const auto seconds = seconds_of(setting_.repetitions, [&] {
      for (int i = 0; i < kProducts; ++i) at::mm_out(c, a, b);
      wait_for(c);
    });
    const double rate = 2.0 * static_cast<double>(n * n * n) * kProducts / median(seconds);
    report["product"] = {{"seconds", seconds}, {"operations_per_second", rate}};
    return rate;
  }

  /// Bytes a second, read and written.
  double copy_rate(nlohmann::json& report) const {
    const at::Tensor from = random({setting_.copy_bytes / 2});
    const at::Tensor to = at::empty_like(from);
    const auto seconds = seconds_of(setting_.repetitions, [&] {
      to.copy_(from);
      wait_for(to);
    });
    const double rate = 2.0 * static_cast<double>(setting_.copy_bytes) / median(seconds);
    report["copy"] = {{"seconds", seconds}, {"bytes_per_second", rate}};
    return rate;
  }

  std::shared_ptr<const LlamaTensors> weights() const {
    const LlamaConfig& c = setting_.model;
    auto weights = std::make_shared<LlamaTensors>();
    weights->config = c;
    const at::Tensor ones = at::ones({c.hidden}, options());
    const auto matrix = [&](int64_t rows, int64_t columns) {
      return random({rows, columns}) * 0.02;
    };
    weights->embedding = matrix(c.vocabulary, c.hidden);
    for (int64_t l = 0; l < c.layers; ++l) {
      LlamaTensorLayer layer;
      layer.attention_norm = layer.mlp_norm = ones;
      layer.qkv.weight = matrix(c.query_width() + 2 * c.kv_width(), c.hidden);
      layer.attention_output.weight = matrix(c.hidden, c.query_width());
      layer.gate_up.weight = matrix(2 * c.intermediate, c.hidden);
      layer.down.weight = matrix(c.hidden, c.intermediate);
      weights->layers.push_back(std::move(layer));
    }
    weights->output_norm = ones;
    weights->head.weight = matrix(c.vocabulary, c.hidden);
    return weights;
  }

  void prefill(qfs::nn::SequenceModel& model, double product_rate, nlohmann::json& report) const {
    const auto seconds = seconds_of(setting_.repetitions, [&] {
      must(model.begin(1, setting_.model.context));
      read_prompt(model, setting_.prompt);
    });
    const auto tokens = static_cast<double>(setting_.prompt);
    const auto attention =
        2.0 * static_cast<double>(setting_.model.layers * setting_.model.query_width());
    const double rate =
        (2.0 * layer_weights() * tokens + attention * tokens * tokens) / median(seconds);
    report["prefill"] = {{"tokens", setting_.prompt},
                         {"seconds", seconds},
                         {"tokens_per_second", tokens / median(seconds)},
                         {"operations_per_second", rate},
                         {"of_product_rate", rate / product_rate}};
  }

  void decode(qfs::nn::SequenceModel& model, double copy_rate, const char* name,
              nlohmann::json& report) const {
    const int64_t row = 0;
    std::vector<float> logits(static_cast<size_t>(setting_.model.vocabulary));
    const auto seconds = seconds_of(setting_.repetitions, [&] {
      must(model.begin(1, setting_.model.context));
      read_prompt(model, setting_.context);
      for (int64_t i = 0; i < setting_.steps; ++i) step(model, row, logits, i);
    });
    // The same without the steps, which are what is asked for.
    const auto before = seconds_of(setting_.repetitions, [&] {
      must(model.begin(1, setting_.model.context));
      read_prompt(model, setting_.context);
    });
    const double step_seconds =
        (median(seconds) - median(before)) / static_cast<double>(setting_.steps);
    const LlamaConfig& c = setting_.model;
    const auto length =
        static_cast<double>(setting_.context) + static_cast<double>(setting_.steps) / 2;
    const double bytes = 2.0 * (layer_weights() + static_cast<double>(c.vocabulary * c.hidden)) +
                         2.0 * 2.0 * length * static_cast<double>(c.layers * c.kv_width());
    report[name] = {{"context", setting_.context},
                    {"seconds", seconds},
                    {"seconds_before", before},
                    {"tokens_per_second", 1 / step_seconds},
                    {"bytes_per_second", bytes / step_seconds},
                    {"of_copy_rate", bytes / step_seconds / copy_rate}};
  }

 private:
  at::TensorOptions options() const {
    return at::TensorOptions().device(device_).dtype(at::kBFloat16);
  }
  at::Tensor random(at::IntArrayRef shape) const { return at::randn(shape, options()); }

  double layer_weights() const {
    const LlamaConfig& c = setting_.model;
    return static_cast<double>(c.layers * c.hidden *
                               (2 * c.query_width() + 2 * c.kv_width() + 3 * c.intermediate));
  }

  void read_prompt(qfs::nn::SequenceModel& model, int64_t length) const {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < length; ++i) {
      ids.push_back(static_cast<int32_t>(i * 7919 % setting_.model.vocabulary));
    }
    std::vector<float> logits(static_cast<size_t>(setting_.model.vocabulary));
    must(model.prefill(0, {.ids = ids}, logits));
  }

  void step(qfs::nn::SequenceModel& model, int64_t row, std::vector<float>& logits,
            int64_t index) const {
    const auto token = static_cast<int32_t>(index * 31 % setting_.model.vocabulary);
    must(model.decode({&row, 1}, {&token, 1}, logits));
  }

  Setting setting_;
  at::Device device_;
};

qfs::Status run(bool cuda, bool tiny, nlohmann::json& report) {
  return qfs::nn::guarded("measuring", [&]() -> qfs::Status {
    qfs::nn::DeviceServices services = qfs::nn::cpu_device_services();
    if (cuda) {
      const auto plugin = qfs::kernels::device_plugin();
      if (!plugin.ok()) return plugin.error();
      services = qfs::nn::plugin_services(**plugin, *(*plugin)->kernels, true);
      nlohmann::json numerics;
      if (auto added = qfs::nn::add_cuda_facts(numerics, report["device"]); !added.ok()) {
        return added;
      }
    }
    const Bench bench(setting_of(tiny), cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU));
    const double product_rate = bench.product_rate(report);
    const double copy_rate = bench.copy_rate(report);
    const auto weights = bench.weights();
    const auto model =
        std::make_unique<qfs::nn::DeviceModel>(make_llama_decoder(weights), services);
    bench.prefill(*model, product_rate, report);
    bench.decode(*model, copy_rate, "decode", report);
    qfs::nn::DeviceServices eager = services;
    eager.graphs = nullptr;
    bench.decode(*std::make_unique<qfs::nn::DeviceModel>(make_llama_decoder(weights), eager),
                 copy_rate, "decode_without_graphs", report);
    qfs::test::measure_bart(tiny, cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU), services,
                            copy_rate, report);
    return {};
  });
}

}  // namespace

int main(int argc, char** argv) {
  bool cuda = true;
  bool tiny = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--tiny") {
      tiny = true;
    } else if (argument == "--device" && i + 1 < argc) {
      cuda = std::string_view(argv[++i]) != "cpu";
    } else {
      std::cerr << "usage: qfs_bench_device [--device cuda|cpu] [--tiny]\n";
      return 2;
    }
  }
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);  // as qfs-host
  must(qfs::nn::configure_torch(
      {.device = cuda ? "cuda" : "cpu", .dtype = cuda ? "bfloat16" : "float32"}));
  nlohmann::json report = {{"schema", "qfs-bench-device/1"}, {"tiny", tiny}};
  must(run(cuda, tiny, report));
  std::cout << report.dump(2) << std::endl;
  return 0;
}
