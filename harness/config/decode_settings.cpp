#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/config/sections.h"
#include "harness/core/postprocess.h"

namespace qfs::config {

namespace {

constexpr int64_t kMaxSeed = std::numeric_limits<int64_t>::max();
constexpr int64_t kMaxMeasure = 1'000'000;
constexpr int64_t kMaxSeconds = 366 * 24 * 3600;
constexpr int64_t kMaxMemoryMib = int64_t{1} << 30;
constexpr size_t kMaxNameBytes = 100;

/// The value of a metric's option as it is written behind a colon.
std::string option_text(const Node& node) {
  if (node.value().is_boolean()) return node.boolean() ? "on" : "off";
  if (node.value().is_number()) return node.value().dump();
  std::string text;
  for (const char c : node.text("a text, a number or a boolean")) {
    if (c == ',') text += '\\';
    text += c;
  }
  return text;
}

/// {"metric": "rouge", "stem": false} as "rouge:stem=off".
std::string metric_of_object(const Node& node) {
  const auto name = node.require("metric");
  std::string text = name ? name->text("the name of a metric") : "";
  char separator = ':';
  for (const auto& [key, value] : node.members()) {
    if (key == "metric") continue;
    text += separator + key + "=" + option_text(value);
    separator = ',';
  }
  return text;
}

}  // namespace

std::string decode_sweep_name(const Node& node) {
  const std::string name = node.text("the sweep's name");
  const auto letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool plain = std::all_of(name.begin(), name.end(), [&](char c) {
    return letter_or_digit(c) || c == '_' || c == '-' || c == '.';
  });
  if (!name.empty() && (!plain || !letter_or_digit(name[0]) || name.size() > kMaxNameBytes)) {
    node.fail(
        "a sweep's name has up to 100 letters, digits, '_', '-' and '.', the first a letter "
        "or a digit; found '" +
        name + "'");
  }
  return name;
}

std::vector<uint64_t> decode_seeds(const Node& node) {
  std::vector<uint64_t> seeds;
  for (const Node& item : node.items("a list of seeds")) {
    const auto seed = static_cast<uint64_t>(item.integer(0, kMaxSeed));
    if (std::find(seeds.begin(), seeds.end(), seed) != seeds.end()) {
      item.fail("seed " + std::to_string(seed) + " is listed twice");
    }
    seeds.push_back(seed);
  }
  return seeds;
}

std::vector<NamedValue> decode_metrics(const Node& node) {
  std::vector<NamedValue> metrics;
  std::set<std::string> seen;
  for (const Node& item : node.items("a list of metrics")) {
    const std::string text = item.value().is_object() ? metric_of_object(item) : item.text();
    if (!seen.insert(text).second) item.fail("'" + text + "' is listed twice");
    metrics.push_back({text.substr(0, text.find(':')), text, item.pointer()});
  }
  return metrics;
}

std::vector<NamedValue> decode_postprocess(const Node& node) {
  std::vector<NamedValue> steps;
  for (const Node& item : node.items("a list of postprocess steps")) {
    const std::string text = item.text("a postprocess step");
    if (text.empty()) continue;
    const Result<Postprocess> step = Postprocess::parse({&text, 1});
    if (!step) item.fail(step.error().message, step.error().kind);
    steps.push_back({text.substr(0, text.find(':')), text, item.pointer()});
  }
  return steps;
}

MeasureSettings decode_measure(const Node& node) {
  static constexpr std::string_view kKeys[] = {"examples", "protocol", "repetitions", "warmup"};
  static constexpr std::string_view kProtocols[] = {"as_generated", "fixed_n"};
  MeasureSettings measure;
  measure.pointer = node.pointer();
  node.is_object("an object of measuring settings");
  node.only_keys(kKeys);
  if (const auto n = node.find("examples")) measure.examples = n->integer(1, kMaxMeasure);
  if (const auto n = node.find("warmup")) measure.warmup = n->integer(0, kMaxMeasure);
  if (const auto n = node.find("repetitions")) measure.repetitions = n->integer(1, kMaxMeasure);
  if (const auto protocol = node.find("protocol")) measure.protocol = protocol->choice(kProtocols);
  return measure;
}

/// Leaves what the node does not say as it is.
void decode_table(const Node& node, TableSettings& table) {
  table.pointer = node.pointer();
  if (const auto rows = node.find("rows")) table.rows = rows->names("a list of dimensions");
  if (const auto columns = node.find("columns")) {
    table.columns = columns->names("a list of dimensions");
    for (const std::string& column : table.columns) {
      if (std::find(table.rows.begin(), table.rows.end(), column) != table.rows.end()) {
        columns->fail("'" + column + "' is in 'rows' too");
      }
    }
  } else {  // of a section: what the report has as columns
    std::erase_if(table.columns, [&](const std::string& column) {
      return std::find(table.rows.begin(), table.rows.end(), column) != table.rows.end();
    });
  }
  if (const auto values = node.find("values")) table.values = values->names("a list of values");
  if (const auto coverage = node.find("coverage")) table.coverage = coverage->boolean();
}

/// `whole`: of the report, for what the section does not say.
PageSection decode_section(const Node& node, const TableSettings& whole) {
  static constexpr std::string_view kKeys[] = {"against", "columns", "coverage", "filter", "minus",
                                               "rows",    "text",    "title",    "values"};
  PageSection section;
  static_cast<TableSettings&>(section) = whole;
  section.pointer = node.pointer();
  if (!node.is_object(R"(a section such as {"title": …, "values": […]})")) return section;
  node.only_keys(kKeys);
  decode_table(node, section);
  if (const auto title = node.require("title")) section.title = title->text("a heading");
  if (const auto text = node.find("text")) section.text = text->text();
  if (const auto filter = node.find("filter")) section.filter = filter->text("as --filter");
  const auto against = node.find("against");
  const auto minus = node.find("minus");
  if (against && minus) minus->fail("'minus' and 'against' exclude each other");
  section.minus = minus.has_value();
  if (against) section.against = against->text("the label of a row");
  if (minus) section.against = minus->text("the label of a row");
  return section;
}

ReportSettings decode_report(const Node& node) {
  static constexpr std::string_view kKeys[] = {"columns", "coverage", "page", "rows", "values"};
  ReportSettings report;
  report.pointer = node.pointer();
  if (!node.is_object("an object of table settings")) return report;
  node.only_keys(kKeys);
  decode_table(node, report);
  if (const auto page = node.find("page")) {
    for (const Node& item : page->items("a list of sections")) {
      report.page.push_back(decode_section(item, report));
    }
  }
  return report;
}

HostLimits decode_limits(const Node& node) {
  static constexpr std::string_view kKeys[] = {"cell_seconds", "device_memory_mib", "memory_mib",
                                               "open_seconds", "unit_seconds"};
  HostLimits limits;
  node.is_object("an object of limits");
  node.only_keys(kKeys);
  if (const auto n = node.find("open_seconds")) limits.open_seconds = n->integer(0, kMaxSeconds);
  if (const auto n = node.find("unit_seconds")) limits.unit_seconds = n->integer(0, kMaxSeconds);
  if (const auto n = node.find("cell_seconds")) limits.cell_seconds = n->integer(0, kMaxSeconds);
  if (const auto n = node.find("memory_mib")) {
    limits.memory_bytes = n->integer(0, kMaxMemoryMib) << 20;
  }
  if (const auto n = node.find("device_memory_mib")) {
    limits.device_memory_bytes = n->integer(0, kMaxMemoryMib) << 20;
  }
  return limits;
}

OutOfMemoryPolicy decode_out_of_memory(const Node& node) {
  static constexpr std::string_view kKeys[] = {"batch", "implied_by"};
  static constexpr std::string_view kBatch[] = {"fail", "halve"};
  OutOfMemoryPolicy policy;
  policy.pointer = node.pointer();
  node.is_object("an object of what follows when memory runs out");
  node.only_keys(kKeys);
  if (const auto name = node.find("implied_by")) {
    policy.implied_by = name->text("the name of a parameter");
    check_parameter_name(policy.implied_by, *name);
  }
  if (const auto batch = node.find("batch")) policy.halve_batch = batch->choice(kBatch) == "halve";
  return policy;
}

HostReuse decode_host_reuse(const Node& node) {
  static constexpr std::string_view kChoices[] = {"none", "weights"};
  return node.choice(kChoices) == "none" ? HostReuse::none : HostReuse::weights;
}

}  // namespace qfs::config
