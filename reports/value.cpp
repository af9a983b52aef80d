#include "reports/value.h"

#include <algorithm>
#include <array>

#include "harness/api/fact_values.h"
#include "harness/api/metric_columns.h"

namespace qfs::reports {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kMillisecondsPerSecond = 1e3;
constexpr double kPercent = 100;
constexpr double kGiga = 1e9;
constexpr int kUnscaledDecimals = 4;

struct Definition {
  BuiltInValue value;
  std::string_view title;
  ValueSource source;
  std::string_view key;
  ValueGroup group;
  double scale;
  int decimals;
};

constexpr ValueGroup kPerformance = ValueGroup::performance;
constexpr ValueGroup kCoverage = ValueGroup::coverage;

// Memory peaks are those that the store names; titles of `peak_memory` are completed by the report,
// which knows whose peak it shows.
constexpr std::array kDefinitions = {
    Definition{{"peak_memory", "peak memory: the device's where there is one, else the host's"},
               "peak memory, MiB",
               ValueSource::peak_memory,
               "",
               kPerformance,
               1 / kMebibyte,
               0},
    Definition{{"host_peak", "peak resident memory of the host process"},
               "peak host memory (RSS), MiB",
               ValueSource::memory_kind,
               "host_peak",
               kPerformance,
               1 / kMebibyte,
               0},
    Definition{{"device_allocated_peak", "peak of allocated device memory"},
               "peak device memory (allocated), MiB",
               ValueSource::memory_kind,
               "device_allocated_peak",
               kPerformance,
               1 / kMebibyte,
               0},
    Definition{{"device_reserved_peak", "peak of device memory reserved by the allocator"},
               "peak device memory (reserved), MiB",
               ValueSource::memory_kind,
               "device_reserved_peak",
               kPerformance,
               1 / kMebibyte,
               0},
    Definition{{"device_requested_peak", "peak of what tensors asked for on the device"},
               "peak device memory (requested), MiB",
               ValueSource::memory_kind,
               "device_requested_peak",
               kPerformance,
               1 / kMebibyte,
               0},
    Definition{{"device_used_before", "device memory in use before the host came to the device"},
               "device memory used before, MiB",
               ValueSource::memory_kind,
               "device_used_before",
               kPerformance,
               1 / kMebibyte,
               0},
    Definition{{"device_used_peak", "used device memory as the driver counts it, all processes"},
               "peak device memory (used), MiB",
               ValueSource::memory_kind,
               "device_used_peak",
               kPerformance,
               1 / kMebibyte,
               0},
    Definition{{"tokens_per_second", "decoding speed; the same as decode_tokens_per_second"},
               "decoded tokens/s",
               ValueSource::phase_rate,
               "decode",
               kPerformance,
               1,
               1},
    Definition{{"decode_tokens_per_second", "produced tokens by the time of decoding"},
               "decoded tokens/s",
               ValueSource::phase_rate,
               "decode",
               kPerformance,
               1,
               1},
    Definition{{"prefill_tokens_per_second", "prompt tokens by the time of prefilling"},
               "prefilled tokens/s",
               ValueSource::phase_rate,
               "prefill",
               kPerformance,
               1,
               1},
    Definition{
        {"decode_fraction",
         "decoding speed as a share of what reading weights and caches, or computing, allows "
         "at the rates measured in the same process"},
        "decoding, % of the machine's limit",
        ValueSource::phase_fraction,
        "decode",
        kPerformance,
        kPercent,
        1},
    Definition{{"prefill_fraction",
                "prefill speed as a share of what matrix products in the model's shapes allow, "
                "measured in the same process"},
               "prefilling, % of the machine's limit",
               ValueSource::phase_fraction,
               "prefill",
               kPerformance,
               kPercent,
               1},
    Definition{{"machine_read", "best read bandwidth of the process that was timed"},
               "read bandwidth, GB/s",
               ValueSource::machine_rate,
               "read",
               kPerformance,
               1 / kGiga,
               1},
    Definition{{"machine_copy", "the same of copies, counting bytes read and written"},
               "copy bandwidth, GB/s",
               ValueSource::machine_rate,
               "copy",
               kPerformance,
               1 / kGiga,
               1},
    Definition{{"machine_gemm", "its best rate of matrix products in the model's shapes"},
               "matrix products, GFLOP/s",
               ValueSource::machine_rate,
               "gemm",
               kPerformance,
               1 / kGiga,
               1},
    Definition{{"first_token_ms", "time from the request to the first token, mean of the units"},
               "time to first token, ms",
               ValueSource::phase_latency,
               "first_token",
               kPerformance,
               kMillisecondsPerSecond,
               1},
    Definition{{"seconds_per_example", "wall time of an example inside the host, mean"},
               "s/example",
               ValueSource::example_time,
               "total",
               kPerformance,
               1,
               4},
    Definition{{"compress_seconds",
                "time in which the segments of an example become rows or fewer tokens, mean"},
               "compressing, s/example",
               ValueSource::example_time,
               "compress",
               kPerformance,
               1,
               4},
    Definition{{"prefill_seconds", "time in which its prompt is read, mean"},
               "prefilling, s/example",
               ValueSource::example_time,
               "prefill",
               kPerformance,
               1,
               4},
    Definition{{"decode_seconds", "time in which its output is written, mean"},
               "decoding, s/example",
               ValueSource::example_time,
               "decode",
               kPerformance,
               1,
               4},
    Definition{{"flops_per_example",
                "floating-point operations that an example takes to compress, read and write, "
                "counted by the model; without extractors, neural retrievers and hypernetworks"},
               "TFLOP/example",
               ValueSource::example_flops,
               "",
               kPerformance,
               1e-12,
               3},
    Definition{
        {"processor_joules",
         "energy of an example, of all processors of the machine and their memory, whoever "
         "used them, where Linux counts it; not of the repetition behind which the machine is "
         "measured"},
        "processors, J/example",
        ValueSource::example_joules,
        "processors",
        kPerformance,
        1,
        2},
    Definition{{"device_joules",
                "the same of the whole GPU by its driver, of repetitions of 5 s and more behind a "
                "warm-up"},
               "GPU, J/example",
               ValueSource::example_joules,
               "device",
               kPerformance,
               1,
               2},
    Definition{
        {"latency_p50_ms", "time of a server from request to answer, median of the examples"},
        "latency p50, ms",
        ValueSource::latency,
        "50",
        kPerformance,
        1,
        0},
    Definition{{"latency_p95_ms", "the same, 95th percentile"},
               "latency p95, ms",
               ValueSource::latency,
               "95",
               kPerformance,
               1,
               0},
    Definition{{"latency_p99_ms", "the same, 99th percentile"},
               "latency p99, ms",
               ValueSource::latency,
               "99",
               kPerformance,
               1,
               0},
    Definition{{"tokens_in", "prompt tokens of an example, mean; of the model's own tokenizer"},
               "tokens in, mean",
               ValueSource::tokens_read,
               "",
               kCoverage,
               1,
               1},
    Definition{{"tokens_out", "produced tokens of an example, mean"},
               "tokens out, mean",
               ValueSource::tokens_made,
               "",
               kCoverage,
               1,
               1},
    Definition{{"cost", "what a server's answers cost at the sweep's price_in and price_out"},
               "cost",
               ValueSource::money,
               "",
               kCoverage,
               1,
               6},
    Definition{{"train_seconds", "time in the steps and evaluations of its training"},
               "training, s",
               ValueSource::training,
               "seconds",
               kCoverage,
               1,
               1},
    Definition{{"train_tokens", "tokens that the steps of its training read"},
               "tokens trained on",
               ValueSource::training,
               "tokens",
               kCoverage,
               1,
               0},
    Definition{
        {"train_flops",
         "floating-point operations of its training, counted by the model, without a "
         "hypernetwork's; attention's gradients as 2.5 times its own, of an extractor and of "
         "unlimiformer as once"},
        "training, TFLOP",
        ValueSource::training,
        "flops",
        kCoverage,
        1e-12,
        1},
    Definition{{"train_peak_memory", "peak resident memory of the host that trained"},
               "peak memory of training, MiB",
               ValueSource::training,
               "peak_bytes",
               kCoverage,
               1 / kMebibyte,
               0},
    Definition{{"trainable_parameters", "numbers that its training changes"},
               "trainable parameters",
               ValueSource::training,
               "trainable_parameters",
               kCoverage,
               1,
               0},
    Definition{{"document_kept", "share of the document tokens that the method could read"},
               "document tokens kept, %",
               ValueSource::document_kept,
               "",
               kCoverage,
               kPercent,
               1},
    Definition{{"document_tokens",
                "document tokens of an example before any cut, mean; of the row's tokenizer"},
               "document tokens, mean",
               ValueSource::document_tokens,
               "",
               kCoverage,
               1,
               1},
    Definition{{"truncated", "share of the examples whose document was cut"},
               "examples cut, %",
               ValueSource::documents_cut,
               "",
               kCoverage,
               kPercent,
               1},
    Definition{{"evidence_cut", "share of the gold evidence (characters) that was cut"},
               "evidence cut, %",
               ValueSource::evidence_cut,
               "",
               kCoverage,
               kPercent,
               1},
};

constexpr auto kBuiltIns = [] {
  std::array<BuiltInValue, kDefinitions.size()> values{};
  for (size_t i = 0; i < values.size(); ++i) values[i] = kDefinitions[i].value;
  return values;
}();

}  // namespace

std::span<const BuiltInValue> built_in_values() { return kBuiltIns; }

namespace {

Better better_of(const Definition& definition) {
  switch (definition.source) {
    case ValueSource::phase_rate:
    case ValueSource::phase_fraction:
      return Better::higher;
    case ValueSource::peak_memory:
    case ValueSource::phase_latency:
    case ValueSource::example_time:
    case ValueSource::example_flops:
    case ValueSource::example_joules:
    case ValueSource::latency:
    case ValueSource::money:
      return Better::lower;
    case ValueSource::memory_kind:
      return definition.key == "device_used_before" ? Better::neither : Better::lower;
    default:
      return Better::neither;
  }
}

}  // namespace

ValueSpec value_spec(std::string_view name) {
  auto found =
      std::ranges::find(kDefinitions, name, [](const Definition& d) { return d.value.name; });
  ValueSpec spec;
  spec.shown.name = name;
  if (found != kDefinitions.end()) {
    spec.shown.title = found->title;
    spec.shown.group = found->group;
    spec.shown.scale = found->scale;
    spec.shown.decimals = found->decimals;
    spec.shown.spread_decimals = found->decimals;
    spec.shown.better = better_of(*found);
    spec.source = found->source;
    spec.key = found->key;
    return spec;
  }
  if (name.starts_with(kFactValue)) {
    spec.key = name.substr(kFactValue.size());
    spec.shown.title = spec.key;
    std::ranges::replace(spec.shown.title, '_', ' ');
    spec.shown.group = kCoverage;
    spec.shown.decimals = kUnscaledDecimals;
    spec.shown.spread_decimals = kUnscaledDecimals;
    spec.shown.better = Better::neither;
    spec.source = ValueSource::fact;
    return spec;
  }
  const size_t slash = name.rfind('/');
  spec.key = slash == std::string_view::npos ? name : name.substr(slash + 1);
  if (slash != std::string_view::npos) spec.metric = name.substr(0, slash);
  if (is_share(spec.key)) {
    spec.shown.title = std::string(name) + " × 100";
    spec.shown.better = Better::higher;  // unless its metric, which a report may know, says else
    spec.shown.scale = kPercent;
  } else {
    spec.shown.title = name;
    spec.shown.decimals = kUnscaledDecimals;
    spec.shown.spread_decimals = kUnscaledDecimals;
  }
  return spec;
}

std::vector<std::string> coverage_values() {
  return {"document_kept", "truncated", "evidence_cut"};
}

}  // namespace qfs::reports
