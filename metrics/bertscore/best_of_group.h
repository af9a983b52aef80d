// best_of_group: a metric whose rows of one question stand as the best of them, as the released
// notebook of IDEAL takes BERTScore of SQuALITY: the highest F of a group's (output, reference)
// pairs, by itself, whichever pair ROUGE chose.
//
// Used where the option `groups` of bertscore is on. Columns, digits and errors of an item are the
// inner metric's; an item without a group is one. Thread-safe as the inner metric.
#pragma once

#include <memory>
#include <string>

#include "harness/api/metric.h"

namespace qfs::metrics {

/// `by`: the column whose highest value chooses, the first of equal ones. A last column, `chosen`,
/// is 1 for the row that stands for its group; the others hold zeros, and means are over groups.
std::shared_ptr<const Metric> best_of_group(std::shared_ptr<const Metric> inner,
                                            const std::string& by);

}  // namespace qfs::metrics
