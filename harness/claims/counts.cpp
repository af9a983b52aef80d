#include "harness/claims/counts.h"

#include <algorithm>
#include <vector>

#include "harness/core/suggest.h"

namespace qfs::claims {
namespace {

using Values = std::map<std::string, ParamValue>;

int64_t integer(const Values& values, const std::string& name, int64_t otherwise) {
  const auto found = values.find(name);
  const auto* value = found == values.end() ? nullptr : std::get_if<int64_t>(&found->second);
  return value == nullptr ? otherwise : *value;
}

bool flag(const Values& values, const std::string& name, bool otherwise) {
  const auto found = values.find(name);
  const auto* value = found == values.end() ? nullptr : std::get_if<bool>(&found->second);
  return value == nullptr ? otherwise : *value;
}

std::string word(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  const auto* value = found == values.end() ? nullptr : std::get_if<std::string>(&found->second);
  return value == nullptr ? "" : *value;
}

int64_t linear(int64_t in, int64_t out) { return in * out + out; }

/// IDEAL's settings: prompts in the upper 30 layers, generated ones in 15 or 16, a code of 64.
constexpr int64_t kPromptLayers = 30;
constexpr int64_t kGeneratedPromptLayers = 15;
constexpr int64_t kGeneratedLayers = 16;
constexpr int64_t kCode = 64;
constexpr int64_t kUnusedScalars = 80;  ///< the release keeps one for each generated target

/// What the generators of `layers` layers have in common: a norm and the encoders.
int64_t encoders(int64_t layers, const DecoderSizes& s) {
  return s.width + linear(s.width, layers * kCode);
}

int64_t ideal_prompt(int64_t length, const DecoderSizes& s) {
  return kGeneratedPromptLayers * length * s.width + kPromptLayers * s.heads +
         encoders(kGeneratedPromptLayers, s) + linear(kCode, length * s.width);
}

int64_t ideal_adapter(int64_t r, const DecoderSizes& s) {
  return kGeneratedLayers * (linear(s.width, r) + linear(r, s.width)) +
         encoders(kGeneratedLayers, s) + 2 * linear(kCode, r * s.width) + linear(kCode, r) +
         linear(kCode, s.width);
}

int64_t ideal_lora(int64_t r, const DecoderSizes& s) {
  return kGeneratedLayers * r * (9 * s.width + s.inner) +
         kGeneratedLayers * r * (4 * s.width + s.inner) + encoders(kGeneratedLayers, s) +
         5 * linear(kCode, r * s.width) + kUnusedScalars;
}

int64_t backbone(const DecoderSizes& s) {
  const int64_t layer = 4 * s.width * s.width + 3 * s.width * s.inner + 2 * s.width;
  return s.layers * layer + 2 * s.vocabulary * s.width + s.width;
}

/// SiLU of `tokens` tokens and softmax of `scores` attention scores a head and layer.
double elements(double tokens, double scores, const DecoderSizes& s) {
  const auto layers = static_cast<double>(s.layers);
  return layers * (static_cast<double>(s.inner) * tokens + static_cast<double>(s.heads) * scores);
}

Result<int64_t> parameters(const Values& counted, const DecoderSizes& s) {
  const std::string method = word(counted, "method");
  if (method == "backbone") return backbone(s);
  if (method == "selfcp") {
    int64_t count = s.width * s.width;
    if (flag(counted, "tag", true)) count += s.width;
    if (flag(counted, "bias", false)) count += s.width;
    if (flag(counted, "norm", false)) count += 2 * s.width;
    return count;
  }
  if (method == "lora" && word(counted, "targets") == "q,v") {
    return s.layers * integer(counted, "rank", 8) * 4 * s.width;
  }
  return not_found("no count of parameters of '" + method + "'");
}

}  // namespace

Result<int64_t> trainable_parameters(const MethodQuery& method, const DecoderSizes& s) {
  Values params;
  for (const NamedValue& param : method.params) params[param.name] = param.value;
  const std::string memory = word(params, "memory");
  const std::string part = method.method == "ideal" ? word(params, "adapter") : method.method;
  const bool generated = method.method == "ideal";
  if (memory.empty() || memory == "none") {
    if (part == "lora") {
      const int64_t r = integer(params, "rank", 8);
      return generated ? ideal_lora(r, s) : s.layers * r * (9 * s.width + s.inner);
    }
    if (part == "prompt" || part == "prompt_tuning") {
      const int64_t length = integer(params, "length", 10);
      if (generated) return ideal_prompt(length, s);
      return kPromptLayers * length * s.width + kPromptLayers * s.heads;
    }
    if (part == "parallel_adapter") {
      const int64_t r = integer(params, "bottleneck", 16);
      if (generated) return ideal_adapter(r, s);
      return s.layers * (linear(s.width, r) + linear(r, s.width));
    }
  }
  return not_found("no count of trainable parameters of '" + method.method + "'");
}

double multiply_adds(const GenerationWork& work, const DecoderSizes& s) {
  const auto d = static_cast<double>(s.width);
  return generation_multiply_adds(work.prompt_tokens, work.new_tokens, s, WorkCount::eager) +
         body_multiply_adds(work.compressed_tokens, s, WorkCount::eager) +
         static_cast<double>(work.connector_rows) * d * d;
}

double operations(const GenerationWork& work, bool elementwise, const DecoderSizes& s) {
  double sum = 2 * multiply_adds(work, s);
  if (!elementwise) return sum;
  for (const int64_t tokens : {work.prompt_tokens, work.compressed_tokens}) {
    const auto t = static_cast<double>(tokens);
    sum += elements(t, t * t, s);
  }
  for (int64_t i = 1; i < work.new_tokens; ++i) {
    sum += elements(1, static_cast<double>(work.prompt_tokens + i), s);
  }
  return sum;
}

Result<double> count_of(const Claim& claim) {
  const DecoderSizes sizes;
  const Values& counted = claim.counted;
  if (claim.what == "trainable_parameters" && claim.method) {
    const Result<int64_t> count = trainable_parameters(*claim.method, sizes);
    if (!count) return count.error();
    return static_cast<double>(*count);
  }
  if (claim.what == "parameters" || claim.what == "parameter_share") {
    const Result<int64_t> count = parameters(counted, sizes);
    if (!count) return count.error();
    const auto whole = static_cast<double>(backbone(sizes));
    return static_cast<double>(*count) / (claim.what == "parameters" ? 1 : whole);
  }
  if (claim.what == "flops" || claim.what == "macs") {
    const GenerationWork work{.prompt_tokens = integer(counted, "prompt_tokens", 0),
                              .new_tokens = integer(counted, "new_tokens", 0),
                              .compressed_tokens = integer(counted, "compressed_tokens", 0),
                              .connector_rows = integer(counted, "connector_rows", 0)};
    const auto sequences = static_cast<double>(integer(counted, "sequences", 1));
    const bool elementwise = flag(counted, "elementwise", false);
    return sequences * (claim.what == "macs" ? multiply_adds(work, sizes)
                                             : operations(work, elementwise, sizes));
  }
  const std::vector<std::string> names = {"trainable_parameters", "parameters", "parameter_share",
                                          "flops", "macs"};
  return not_found("no count '" + claim.what + "'" + suggestion(claim.what, names));
}

}  // namespace qfs::claims
