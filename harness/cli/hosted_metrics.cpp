#include "harness/cli/hosted_metrics.h"

#include <utility>

#include "harness/cli/tensor_host.h"
#include "harness/core/available_cores.h"
#include "harness/run/hosted_metric.h"
#include "metrics/bertscore/bertscore_settings.h"
#include "metrics/bertscore/best_of_group.h"
#include "metrics/text/metric_name.h"

namespace qfs::cli {
namespace {

constexpr const char* kBertScore = "bertscore";

Result<std::shared_ptr<const Metric>> make_bertscore(const MetricOptionValues& values,
                                                     const MethodCatalog& methods, int threads) {
  const Result<Resource> model = methods.backbone(values.text("model"));
  if (!model) return model.error();
  const auto settings = metrics::read_bertscore_settings(values);
  if (!settings) return settings.error();
  if (Status there = require_tensor_host(); !there) return there.error();
  run::HostedMetricSettings hosted;
  hosted.name = metrics::name_with_options(kBertScore, metrics::bertscore_options(), values);
  hosted.doc = "BERTScore: tokens of two texts matched by an encoder's vectors";
  hosted.columns = {"bertscore.p", "bertscore.r", "bertscore.f"};
  hosted.signature = metrics::bertscore_signature(*settings, *model);
  hosted.tool = "bert_score";
  hosted.tool_signature = metrics::bert_score_hash(*settings);
  hosted.open.method = kBertScore;
  hosted.open.kind = host::SessionKind::metric;
  SessionRequest& session = hosted.open.session;
  session.backbone = *model;
  session.runtime.threads = threads;
  session.params.set("layer", settings->layer);
  session.params.set("idf", settings->idf);
  session.params.set("prefix_space", settings->prefix_space);
  session.params.set("batch", settings->batch);
  if (settings->baseline) {
    session.params.set("baseline_p", settings->baseline->precision);
    session.params.set("baseline_r", settings->baseline->recall);
    session.params.set("baseline_f", settings->baseline->f);
  }
  hosted.pairs_at_once = settings->batch > 0;
  hosted.log = tensor_host_log(kBertScore);
  hosted.start = [threads] { return start_tensor_host(kBertScore, threads); };
  std::shared_ptr<const Metric> bertscore = run::make_hosted_metric(std::move(hosted));
  if (!values.on("groups")) return bertscore;
  return metrics::best_of_group(std::move(bertscore), "bertscore.f");
}

}  // namespace

std::vector<MetricEntry> hosted_metric_entries(const MethodCatalog& methods, unsigned threads) {
  const int count = threads == 0 ? available_cores() : static_cast<int>(threads);
  MetricEntry bertscore;
  bertscore.name = kBertScore;
  bertscore.options = metrics::bertscore_options();
  bertscore.make = [&methods, count](const MetricOptionValues& values) {
    return make_bertscore(values, methods, count);
  };
  return {std::move(bertscore)};
}

}  // namespace qfs::cli
