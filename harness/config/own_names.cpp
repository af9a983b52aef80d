#include "harness/config/own_names.h"

#include <algorithm>
#include <set>
#include <span>

namespace qfs::config {

namespace {

Error at(const Experiment& experiment, const std::string& pointer, Error error) {
  error.where = experiment.path + "#" + pointer;
  return error;
}

/// One name and its values; whether it was another program's.
Result<bool> rename(const OwnNames& own, std::span<const ParamSpec> specs, std::string& name,
                    std::span<ParamValue> values) {
  Result<std::string> found = own.foreign.own_name(specs, name);
  if (!found.ok()) return found.error();
  if (std::ranges::find(specs, *found, &ParamSpec::name) != specs.end()) {
    for (ParamValue& value : values) value = own.foreign.own_value(*found, value);
  }
  const bool foreign = *found != name;
  name = *std::move(found);
  return foreign;
}

Error twice(const std::string& written, const std::string& own) {
  return invalid_argument("'" + written + "' is another name of '" + own +
                          "', which is given too; remove one of them");
}

Status rename_all(const Experiment& experiment, const OwnNames& own,
                  std::span<const ParamSpec> specs, std::vector<NamedValue>& values) {
  for (NamedValue& value : values) {
    const std::string written = value.name;
    const Result<bool> foreign = rename(own, specs, value.name, {&value.value, 1});
    if (!foreign.ok()) return at(experiment, value.pointer, foreign.error());
    if (*foreign && std::ranges::count(values, value.name, &NamedValue::name) > 1) {
      return at(experiment, value.pointer, twice(written, value.name));
    }
  }
  return {};
}

/// What the grid, rules and the table may mean: the parameters of all methods.
class SharedNames {
 public:
  SharedNames(const Experiment& experiment, const OwnNames& own, std::vector<ParamSpec> specs)
      : experiment_(experiment), own_(own), specs_(std::move(specs)) {
    for (const MethodEntry& entry : experiment.methods) external_ |= entry.external.has_value();
  }

  Status rename(std::string& name, std::span<ParamValue> values, const std::string& pointer) const {
    const std::string written = name;
    const Result<bool> foreign = config::rename(own_, specs_, name, values);
    if (!foreign.ok()) return at(experiment_, pointer, foreign.error());
    if (!*foreign || !external_) return {};
    return at(experiment_, pointer,
              invalid_argument("'" + written + "' means '" + name +
                               "', but a program of yours may have a parameter of that name: "
                               "write '" +
                               name + "'"));
  }

 private:
  const Experiment& experiment_;
  const OwnNames& own_;
  std::vector<ParamSpec> specs_;
  bool external_ = false;
};

Status rename_grid(Experiment& experiment, const SharedNames& names) {
  std::set<std::string> seen;
  for (AxisGroup& group : experiment.grid) {
    for (GridAxis& axis : group.axes) {
      const std::string written = axis.name;
      if (Status s = names.rename(axis.name, axis.values, axis.pointer); !s.ok()) return s;
      if (!seen.insert(axis.name).second) {
        return at(experiment, axis.pointer, twice(written, axis.name));
      }
    }
  }
  return {};
}

Status rename_rules(Experiment& experiment, std::vector<GridRule>& rules,
                    const SharedNames& names) {
  for (GridRule& rule : rules) {
    for (NamedValue& value : rule.values) {
      const std::string written = value.name;
      Status status = names.rename(value.name, {&value.value, 1}, value.pointer);
      if (!status.ok()) return status;
      if (std::ranges::count(rule.values, value.name, &NamedValue::name) > 1) {
        return at(experiment, value.pointer, twice(written, value.name));
      }
    }
  }
  return {};
}

Status rename_report(Experiment& experiment, const SharedNames& names) {
  if (!experiment.report) return {};
  for (auto* axes : {&experiment.report->rows, &experiment.report->columns}) {
    for (std::string& axis : *axes) {
      Status status = names.rename(axis, {}, experiment.report->pointer);
      if (!status.ok()) return status;
    }
  }
  return {};
}

}  // namespace

Status use_own_names(Experiment& experiment, const OwnNames& own) {
  std::vector<ParamSpec> all;
  for (MethodEntry& entry : experiment.methods) {
    const auto method = own.methods.find(entry.method);
    if (entry.external || !method.ok()) continue;
    const std::vector<ParamSpec> specs = (*method)->params();
    if (Status s = rename_all(experiment, own, specs, entry.params); !s.ok()) return s;
    all.insert(all.end(), specs.begin(), specs.end());
  }
  const SharedNames names(experiment, own, std::move(all));
  if (Status s = rename_grid(experiment, names); !s.ok()) return s;
  if (Status s = rename_rules(experiment, experiment.include, names); !s.ok()) return s;
  if (Status s = rename_rules(experiment, experiment.exclude, names); !s.ok()) return s;
  return rename_report(experiment, names);
}

}  // namespace qfs::config
