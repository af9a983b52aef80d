// Command lines of ROUGE-1.5.5 as tests write them, e.g. "-n 2 -m -2 4 -a", read into options.
// A switch that is not known ends the test with an exception.
#pragma once

#include <string>

#include "metrics/rouge155/evaluation.h"

namespace qfs::test {

struct Rouge155Switches {
  metrics::rouge155::EvaluationOptions options;
  bool stem = false;
  bool stop = false;
};

Rouge155Switches parse_rouge155_switches(const std::string& switches);

}  // namespace qfs::test
