// The importers, one function a format; importers.cpp lists them with their names.
//
// Private to datasets/predictions. Formats as their tools write them:
//   lm-eval       lm-evaluation-harness 0.4, samples_*.jsonl of --log_samples
//   inspect-json  Inspect AI, an eval log in JSON (log format version 2)
//   helm          HELM, scenario_state.json
//   longbench     LongBench pred.py, pred/MODEL/TASK.jsonl
//   scrolls       SCROLLS and ZeroSCROLLS submissions: one JSON object, id to text
//   openai-batch  output file of the OpenAI batch API (chat completions or responses)
// Stateless; errors are `data` with the place.
#pragma once

#include <map>
#include <string>

#include "datasets/predictions/prediction.h"

namespace qfs::datasets {

using UserFields = std::map<std::string, std::string>;

Status read_lm_eval(const std::string& path, const UserFields& fields, const PredictionSink& sink);
Status read_inspect_json(const std::string& path, const UserFields& fields,
                         const PredictionSink& sink);
Status read_helm(const std::string& path, const UserFields& fields, const PredictionSink& sink);
Status read_longbench(const std::string& path, const UserFields& fields,
                      const PredictionSink& sink);
Status read_scrolls(const std::string& path, const UserFields& fields, const PredictionSink& sink);
Status read_openai_batch(const std::string& path, const UserFields& fields,
                         const PredictionSink& sink);

}  // namespace qfs::datasets
