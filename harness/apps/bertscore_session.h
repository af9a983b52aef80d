// BERTScore in a host: metrics/bertscore's arithmetic over an encoder of methods/models.
//
// Listed by qfs_host.cpp. Parameters (all required but the baseline): `layer`, `idf`,
// `prefix_space`, `batch`, and `baseline_p`, `baseline_r`, `baseline_f`; the model is the request's
// backbone. Stateless.
#pragma once

#include "harness/api/metric_session.h"

namespace qfs::apps {

MetricSessionFactory bertscore_factory();

}  // namespace qfs::apps
