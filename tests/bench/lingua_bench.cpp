// qfs_bench_lingua: times LLMLingua's choice of tokens on command, one JSON line in, one out, so
// that lingua_vs_tool.py can interleave it with the tool in one run.
//
//   qfs_bench_lingua MODEL THREADS [TYPE]   MODEL: a registered name, a GGUF file or a folder;
//                                           TYPE: float32 or bfloat16
//   {"ids": [50, …], "keep": 86, "window": 200, "released": false}
//     -> {"seconds": 0.61, "kept": [50, …]}
#include <iostream>
#include <nlohmann/json.hpp>

#include "harness/core/clock.h"
#include "methods/compressors/session_lingua.h"
#include "tests/bench/bench_model.h"

namespace {

using nlohmann::json;
using namespace qfs::compressors;

json run(std::shared_ptr<const qfs::nn::Decoder> decoder, int32_t begin, const json& task) {
  const Lingua lingua(
      std::move(decoder),
      {.released = task.at("released"), .window = task.at("window"), .begin = begin});
  PromptParts parts;
  parts.content = task.at("ids").get<std::vector<int32_t>>();
  const auto count = static_cast<int64_t>(parts.content.size());
  Plan plan;
  plan.segments = {{.content = {0, count}, .memory = task.at("keep")}};
  const CompressionTask asked{parts, plan};
  const int64_t begin_ns = qfs::monotonic_ns();
  const auto compressed = qfs::test::value_or_exit(lingua.compress({&asked, 1}));
  const auto seconds = static_cast<double>(qfs::monotonic_ns() - begin_ns) / 1e9;
  return {{"seconds", seconds}, {"kept", compressed.front().memory.front().ids}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: qfs_bench_lingua MODEL THREADS [TYPE]\n";
    return 2;
  }
  qfs::test::BenchModel model(argv[1], argv[2], argc == 4 ? argv[3] : "float32");
  const auto decoder = model.reader();
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << run(decoder, 1, json::parse(line)).dump() << std::endl;
  }
  return 0;
}
