#include "harness/cli/doctor_roofline.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "harness/cli/catalogs.h"
#include "harness/cli/output.h"
#include "harness/cli/tensor_host.h"
#include "harness/core/available_cores.h"
#include "harness/core/log.h"

namespace qfs::cli {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kTimeout{600};
constexpr const char* kDefaultBackbone = "smollm2-135m";
constexpr double kGiga = 1e9;
constexpr double kMega = 1e6;

/// The model that is asked for; without one the default where it lies on this machine, else none.
Result<Resource> chosen_model(const std::optional<std::string>& name) {
  Catalogs catalogs;
  Result<Resource> model = catalogs.methods().backbone(name.value_or(kDefaultBackbone));
  if (!model && !name) return Resource{};
  return model;
}

double scaled(const json& number, double unit) { return number.get<double>() / unit; }

std::vector<std::string> rate_row(const char* name, const json& rate) {
  return {name, fmt::format("{:.1f} GB/s", scaled(rate.at("best"), kGiga)),
          fmt::format("best of {} passes; median {:.1f}, worst {:.1f}",
                      rate.at("passes").get<int64_t>(), scaled(rate.at("median"), kGiga),
                      scaled(rate.at("worst"), kGiga))};
}

std::string limits_text(const json& answer) {
  const json& gemm = answer.at("gemm");
  const std::string whose = answer.contains("model")
                                ? "weighted by the model's shapes"
                                : "general shapes, as no model is named or there";
  return aligned({{"threads", answer.at("threads").dump(),
                   fmt::format("{} MiB are read and copied",
                               answer.at("buffer_bytes").get<int64_t>() / (1 << 20))},
                  rate_row("read", answer.at("read")),
                  rate_row("copy", answer.at("copy")),
                  {"products", fmt::format("{:.1f} GFLOP/s", scaled(gemm.at("flops"), kGiga)),
                   fmt::format("{}, {} rows, {}", answer.at("dtype").get<std::string>(),
                               answer.at("rows").get<int64_t>(), whose)}});
}

std::string products_text(const json& products) {
  std::vector<std::vector<std::string>> rows = {
      {"weight", "times", "LibTorch, GFLOP/s", "own kernel, GFLOP/s"}};
  for (const json& product : products) {
    rows.push_back({fmt::format("{} x {}", product.at("outputs").get<int64_t>(),
                                product.at("inputs").get<int64_t>()),
                    product.at("count").dump(),
                    fmt::format("{:.1f}", scaled(product.at("libtorch").at("best"), kGiga)),
                    product.contains("panels")
                        ? fmt::format("{:.1f}", scaled(product.at("panels").at("best"), kGiga))
                        : "–"});
  }
  return aligned(rows);
}

std::string model_text(const json& model) {
  std::string text =
      fmt::format("{} ({}): {:.1f} M elements in its layers", model.at("name").get<std::string>(),
                  model.at("kind").get<std::string>(), scaled(model.at("layer_elements"), kMega));
  if (model.at("kind") == "encoder") return text + "\n";
  return text + fmt::format("; a step of decoding reads {:.1f} MB and {:.1f} kB a position\n",
                            scaled(model.at("step_bytes"), kMega),
                            scaled(model.at("cache_bytes_per_token"), 1e3));
}

std::string most_text(const json& most) {
  std::vector<std::vector<std::string>> rows = {{"at most", "weights", "tokens/s", "bound by"}};
  for (const json& row : most) {
    const bool prefill = row.at("phase") == "prefill";
    rows.push_back(
        {prefill ? fmt::format("prefill of {} tokens", row.at("tokens").get<int64_t>())
                 : fmt::format("decode, batch {}, at {} tokens", row.at("batch").get<int64_t>(),
                               row.at("context").get<int64_t>()),
         row.at("weights").get<std::string>(),
         fmt::format("{:.1f}", row.at("tokens_per_second").get<double>()),
         row.at("bound") == "read" ? "reading" : "products"});
  }
  return aligned(rows);
}

}  // namespace

std::string roofline_text(const json& answer) {
  std::string text = limits_text(answer) + "\n" + products_text(answer.at("gemm").at("products"));
  if (answer.contains("model")) {
    text += "\n" + model_text(answer.at("model")) + "\n" + most_text(answer.at("most"));
  }
  return terminal_safe(text);
}

Result<ExitCode> run_roofline(const RooflineOptions& options, const GlobalOptions& global) {
  Result<Resource> model = chosen_model(options.backbone);
  if (!model) return model.error();
  host::ModelRequest request;
  request.verb = "roofline";
  request.model = *std::move(model);
  request.runtime.device = options.device;
  request.runtime.dtype = options.dtype;
  request.runtime.threads = options.threads == 0 ? available_cores() : options.threads;
  json arguments = json::object();
  if (!options.prompt_tokens.empty()) arguments["prompt_tokens"] = options.prompt_tokens;
  if (options.context) arguments["context"] = {*options.context};
  request.arguments.text = arguments.dump();
  Result<host::HostClient> host = start_tensor_host("roofline", request.runtime.threads);
  if (!host) return host.error();
  Result<Json> text = host->ask(request, kTimeout);
  if (!text) return text.error();
  json answer = json::parse(text->text);
  const std::string shown =
      global.json ? json_document("doctor-roofline", answer) : roofline_text(answer);
  if (Status printed = print_result(shown); !printed) return printed.error();
  return ExitCode::ok;
}

}  // namespace qfs::cli
