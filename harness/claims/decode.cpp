#include "harness/claims/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <utility>

#include "harness/api/metric_columns.h"
#include "harness/config/document.h"
#include "harness/config/node.h"
#include "harness/core/files.h"
#include "harness/core/postprocess.h"
#include "harness/core/suggest.h"
#include "harness/plan/param_values.h"

namespace qfs::claims {
namespace {

using config::Node;
using config::Scope;

/// A column of a table: what its numbers are of.
struct Column {
  std::string name;
  ClaimKind kind = ClaimKind::stated;
  std::string what;
  std::string metric;
  double scale = 1;
  double tolerance = 0;
  std::string why;
  std::vector<NamedValue> with;
  std::vector<std::string> splits;
};

double number(const Node& node) {
  if (node.value().is_number()) return node.value().get<double>();
  node.fail("expected a number, found " + std::string(config::kind_of(node.value())));
  return 0;
}

constexpr size_t kMostClaimBytes = size_t{16} << 20;

/// A value, or the text of a file that is named from the folder of the claims.
ParamValue decode_value(const Node& node) {
  static constexpr std::string_view kKeys[] = {"file"};
  if (!node.value().is_object()) return node.scalar(R"(a value or {"file": …})");
  node.only_keys(kKeys);
  const auto file = node.require("file");
  if (!file) return {};
  const auto folder = std::filesystem::path(node.scope().file).parent_path();
  const Result<std::string> text = read_file((folder / file->text()).string(), kMostClaimBytes);
  if (text) return *text;
  file->fail(text.error().message, text.error().kind);
  return {};
}

/// The members of an object; `without`: those that say something else.
std::vector<NamedValue> decode_values(const Node& node,
                                      std::span<const std::string_view> without = {}) {
  std::vector<NamedValue> values;
  node.is_object("an object of parameters");
  for (const auto& [name, value] : node.members()) {
    if (std::ranges::count(without, name) > 0) continue;
    values.push_back({name, decode_value(value), value.pointer()});
  }
  return values;
}

// Of a label: parameters that are files of the user's, the label whose values stand before its own,
// and what of it no code computes.
constexpr std::string_view kFiles = "files";
constexpr std::string_view kLike = "like";
constexpr std::string_view kNotComputed = "not_computed";
constexpr std::string_view kNoParameters[] = {kFiles, kLike, kNotComputed};
/// Labels that are one like the other.
constexpr int kMostLike = 8;

/// Roles of further models that methods read.
constexpr std::string_view kRoles[] = {"extractor"};

/// Adds values, in place of those of the same name; "method", "backbone", "tokenizer", the roles of
/// further models and "train_examples" are the query's own.
void set_values(const std::vector<NamedValue>& values, MethodQuery& query) {
  for (const NamedValue& value : values) {
    const auto* text = std::get_if<std::string>(&value.value);
    if (value.name == "method" && text) {
      query.method = *text;
    } else if (value.name == "backbone" && text) {
      query.backbone = *text;
    } else if (value.name == "tokenizer" && text) {
      query.tokenizer = *text;
    } else if (const auto* count = std::get_if<int64_t>(&value.value);
               value.name == "train_examples" && count && *count >= 0) {
      query.train_examples = *count;
    } else if (std::ranges::count(kRoles, value.name) > 0 && text) {
      query.backbones[value.name] = *text;
    } else {
      std::erase_if(query.params, [&](const NamedValue& own) { return own.name == value.name; });
      query.params.push_back(value);
    }
  }
}

DatasetQuery decode_dataset(const Node& node) {
  static constexpr std::string_view kKeys[] = {"name", "splits", "view", "text_form", "tokenizer"};
  DatasetQuery dataset;
  if (!node.is_object(R"(a data set such as {"name": "qmsum", "splits": ["test"]})"))
    return dataset;
  node.only_keys(kKeys);
  if (const auto name = node.require("name")) dataset.name = name->text();
  if (const auto splits = node.find("splits")) dataset.splits = splits->names("a list of splits");
  if (const auto view = node.find("view")) dataset.view = view->text();
  if (const auto form = node.find("text_form")) dataset.text_form = form->text();
  if (const auto tokens = node.find("tokenizer")) dataset.tokenizer = tokens->text();
  return dataset;
}

FilesQuery decode_files(const Node& node) {
  static constexpr std::string_view kKeys[] = {"folder", "predictions", "references", "records"};
  FilesQuery files;
  if (!node.is_object("files of outputs or records")) return files;
  node.only_keys(kKeys);
  if (const auto folder = node.require("folder")) files.folder = folder->text();
  if (const auto records = node.find("records")) {
    files.records = records->names("a list of file names");
    return files;
  }
  if (const auto own = node.require("predictions")) files.predictions = own->text();
  if (const auto gold = node.require("references")) files.references = gold->text();
  return files;
}

constexpr int64_t kMostLength = int64_t{1} << 24;

LengthQuery decode_lengths(const Node& node) {
  static constexpr std::string_view kKeys[] = {"card", "of", "tries", "card_mib"};
  LengthQuery lengths;
  if (!node.is_object("the lengths that are tried")) return lengths;
  node.only_keys(kKeys);
  if (const auto card = node.require("card")) lengths.card = card->text("the name of a card");
  if (const auto of = node.require("of")) lengths.parameter = of->text("a parameter");
  if (const auto card = node.require("card_mib")) {
    lengths.device_memory_mib = card->integer(1, kMostLength);
  }
  const auto tries = node.require("tries");
  if (!tries) return lengths;
  for (const Node& length : tries->items("a list of lengths")) {
    lengths.tries.push_back(length.integer(1, kMostLength));
  }
  const bool rising = std::ranges::is_sorted(lengths.tries, std::ranges::less_equal());
  if (lengths.tries.empty() || !rising) tries->fail("lengths are tried from the shortest");
  return lengths;
}

Json decode_chain(const Node& node) {
  const Result<Postprocess> chain = Postprocess::parse(node.names("a list of postprocess steps"));
  if (chain) return chain->chain();
  node.fail(chain.error().message);
  return {};
}

/// Records are counted and nothing else, and all of them: other statistics, and those of a split,
/// are of the data set.
bool counts_records(const Column& column) {
  return column.splits.empty() && (column.what == "documents" || column.what == "examples");
}

Column decode_column(const Node& node) {
  static constexpr std::string_view kKeys[] = {"name",      "metric",  "column", "data",
                                               "count",     "longest", "stated", "scale",
                                               "tolerance", "with",    "splits"};
  Column column;
  if (!node.is_object("a column")) return column;
  node.only_keys(kKeys);
  if (const auto name = node.require("name")) column.name = name->text();
  int kinds = 0;
  const auto of_kind = [&](const char* key, ClaimKind kind, std::string& target) {
    const auto member = node.find(key);
    if (!member) return;
    ++kinds;
    column.kind = kind;
    target = member->text();
  };
  of_kind("metric", ClaimKind::score, column.metric);
  of_kind("data", ClaimKind::data, column.what);
  of_kind("count", ClaimKind::count, column.what);
  of_kind("longest", ClaimKind::longest, column.what);
  of_kind("stated", ClaimKind::stated, column.why);
  if (kinds != 1) {
    node.fail("a column has one of 'metric', 'data', 'count', 'longest' and 'stated'");
  }
  if (column.kind == ClaimKind::longest && column.what != "training") {
    node.fail("what is longest is a 'training'");
  }
  if (column.kind == ClaimKind::score) {
    if (const auto what = node.require("column")) column.what = what->text("a metric's column");
    column.scale = table_scale(column.what);
  }
  if (const auto scale = node.find("scale")) column.scale = number(*scale);
  if (const auto tolerance = node.find("tolerance")) column.tolerance = number(*tolerance);
  if (column.tolerance < 0) node.fail("a tolerance is not negative");
  if (column.kind == ClaimKind::longest && (node.find("scale") || node.find("tolerance"))) {
    node.fail("lengths that are tried have neither 'scale' nor 'tolerance'");
  }
  if (const auto with = node.find("with")) column.with = decode_values(*with);
  if (const auto splits = node.find("splits")) column.splits = splits->names("a list of splits");
  return column;
}

std::vector<std::string> decode_errata(const Node& node, const Paper& paper) {
  const auto list = node.find("errata");
  if (!list) return {};
  std::vector<std::string> known;
  for (const auto& [id, text] : paper.errata) known.push_back(id);
  std::vector<std::string> ids = list->names("a list of errata");
  for (const std::string& id : ids) {
    if (!paper.errata.contains(id)) {
      list->fail("there is no erratum '" + id + "'" + suggestion(id, known));
    }
  }
  return ids;
}

/// The claims of one row.
class RowDecoder {
 public:
  RowDecoder(const Paper& paper, const std::map<std::string, MethodQuery>& labels,
             const std::vector<Column>& columns)
      : paper_(paper), labels_(labels), columns_(columns) {}

  /// `common`: what the table says of all its rows, `shared` of those whose method has it.
  void decode(const Node& node, const Claim& common, const std::vector<NamedValue>& shared,
              ClaimTable& table) const;

 private:
  std::optional<MethodQuery> method(const Node& node, const std::string& label,
                                    const std::vector<NamedValue>& with) const;

  const Paper& paper_;
  const std::map<std::string, MethodQuery>& labels_;
  const std::vector<Column>& columns_;
};

std::optional<MethodQuery> RowDecoder::method(const Node& node, const std::string& label,
                                              const std::vector<NamedValue>& with) const {
  const auto found = labels_.find(label);
  if (found != labels_.end()) {
    MethodQuery query = found->second;
    set_values(with, query);
    return query;
  }
  const bool scores = std::ranges::any_of(
      columns_, [](const Column& column) { return column.kind == ClaimKind::score; });
  if (scores) {
    std::vector<std::string> known;
    for (const auto& [name, query] : labels_) known.push_back(name);
    node.fail(fmt::format("labels.json does not say what '{}' of the paper '{}' means{}", label,
                          paper_.id, suggestion(label, known)));
  }
  return std::nullopt;
}

void RowDecoder::decode(const Node& node, const Claim& common,
                        const std::vector<NamedValue>& shared, ClaimTable& table) const {
  static constexpr std::string_view kKeys[] = {"label",   "as",      "with",  "recipe",
                                               "printed", "dataset", "files", "longest",
                                               "counted", "cited",   "errata"};
  if (!node.is_object("a row")) return;
  node.only_keys(kKeys);
  Claim claim = common;
  claim.row = table.rows.size();
  if (const auto label = node.require("label")) claim.label = label->text("the printed label");
  table.rows.push_back(claim.label);
  std::vector<NamedValue> with;
  if (const auto values = node.find("with")) with = decode_values(*values);
  for (const NamedValue& value : with) {
    if (!claim.given.empty()) claim.given += ", ";
    claim.given += value.name + "=" + plan::value_text(value.value);
  }
  if (const auto recipe = node.find("recipe")) {
    for (NamedValue& value : decode_values(*recipe)) with.push_back(std::move(value));
  }
  const auto meant = node.find("as");
  claim.method = method(node, meant ? meant->text("a label of labels.json") : claim.label, with);
  if (claim.method) claim.method->shared = shared;
  if (const auto dataset = node.find("dataset")) claim.dataset = decode_dataset(*dataset);
  if (const auto files = node.find("files")) claim.files = decode_files(*files);
  if (const auto lengths = node.find("longest")) {
    claim.longest = decode_lengths(*lengths);
    if (std::ranges::count(columns_, ClaimKind::longest, &Column::kind) == 0) {
      lengths->fail("no column of the table is 'longest'");
    }
    claim.given += (claim.given.empty() ? "gpu=" : ", gpu=") + claim.longest->card;
  }
  if (const auto counted = node.find("counted")) {
    for (const NamedValue& value : decode_values(*counted)) {
      claim.counted[value.name] = value.value;
    }
  }
  if (const auto cited = node.find("cited")) claim.cited = cited->text();
  for (std::string& id : decode_errata(node, paper_)) claim.errata.push_back(std::move(id));
  const auto printed = node.require("printed");
  if (!printed) return;
  const std::vector<Node> values = printed->items("a list of printed numbers");
  if (values.size() != columns_.size()) {
    printed->fail(fmt::format("{} printed numbers for {} columns; null stands for a place without",
                              values.size(), columns_.size()));
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].value().is_null()) continue;
    const Result<Printed> number =
        parse_printed(values[i].text("a number as printed, in quotes"), Commas::anywhere);
    if (!number) {
      values[i].fail(number.error().message);
      return;
    }
    const Column& column = columns_[i];
    Claim own = claim;
    own.column = column.name;
    own.printed = *number;
    own.kind = column.kind;
    own.what = column.what;
    own.metric = column.metric;
    own.scale = column.scale;
    own.tolerance = column.tolerance;
    own.why = column.why;
    if (own.kind != ClaimKind::longest) {
      own.longest.reset();
    } else if (!own.longest) {
      node.fail("missing key 'longest', which the column '" + own.column + "' needs");
    }
    if (own.files && !own.files->records.empty() && !counts_records(column)) own.files.reset();
    if (own.method) set_values(column.with, *own.method);
    if (own.dataset && !column.splits.empty()) own.dataset->splits = column.splits;
    table.claims.push_back(std::move(own));
  }
}

ClaimTable decode_table(const Node& node, const Paper& paper,
                        const std::map<std::string, MethodQuery>& labels) {
  static constexpr std::string_view kKeys[] = {"id",          "title",   "dataset", "with",
                                               "postprocess", "columns", "rows",    "errata"};
  ClaimTable table;
  if (!node.is_object("a table")) return table;
  node.only_keys(kKeys);
  Claim common;
  common.paper = paper.id;
  if (const auto id = node.require("id")) table.id = common.table = id->text();
  if (const auto title = node.require("title")) table.title = title->text();
  if (const auto dataset = node.find("dataset")) common.dataset = decode_dataset(*dataset);
  if (const auto steps = node.find("postprocess")) common.postprocess = decode_chain(*steps);
  common.errata = decode_errata(node, paper);
  std::vector<Column> columns;
  if (const auto list = node.require("columns")) {
    for (const Node& column : list->items("a list of columns")) {
      columns.push_back(decode_column(column));
      if (std::ranges::count(table.columns, columns.back().name) > 0) {
        column.fail("the column '" + columns.back().name + "' is there twice");
      }
      table.columns.push_back(columns.back().name);
    }
  }
  std::vector<NamedValue> shared;
  if (const auto with = node.find("with")) shared = decode_values(*with);
  const RowDecoder rows(paper, labels, columns);
  if (const auto list = node.require("rows")) {
    for (const Node& row : list->items("a list of rows")) rows.decode(row, common, shared, table);
  }
  return table;
}

/// The text as a tree under a scope that keeps the first failure.
template <class Value, class Decode>
Result<Value> decoded(std::string_view text, const std::string& path, const Decode& decode) {
  const Result<nlohmann::json> json = config::parse_document(text, path, kMostClaimBytes);
  if (!json) return json.error();
  Scope scope{path, std::nullopt};
  Value value = decode(Node(*json, "", scope));
  if (scope.failure) return *scope.failure;
  return value;
}

MethodQuery decode_label(const Node& list, const Node& node, int depth = 0) {
  MethodQuery query;
  if (const auto like = node.find(kLike)) {
    const auto other = list.find(like->text("a label of the paper"));
    if (!other || depth == kMostLike) {
      like->fail(other ? "labels are like one another in a circle" : "the paper has no such label");
      return query;
    }
    query = decode_label(list, *other, depth + 1);
  }
  set_values(decode_values(node, kNoParameters), query);
  if (const auto files = node.find(kFiles)) {
    files->is_object("files by parameter");
    for (const auto& [name, file] : files->members()) query.files[name] = file.text();
  }
  if (const auto what = node.find(kNotComputed)) query.not_computed = what->text();
  return query;
}

}  // namespace

Result<Labels> decode_labels(std::string_view text, const std::string& path) {
  return decoded<Labels>(text, path, [](const Node& root) {
    Labels labels;
    root.is_object("an object of papers");
    for (const auto& [paper, list] : root.members()) {
      if (paper == "$schema") continue;
      list.is_object("an object of labels");
      for (const auto& [label, node] : list.members()) {
        MethodQuery query = decode_label(list, node);
        if (query.method.empty()) node.fail("missing key 'method'");
        labels[paper][label] = std::move(query);
      }
    }
    return labels;
  });
}

Result<Paper> decode_paper(std::string_view text, const std::string& path, const Labels& labels) {
  return decoded<Paper>(text, path, [&](const Node& root) {
    static constexpr std::string_view kKeys[] = {"$schema", "paper",  "title",
                                                 "source",  "errata", "tables"};
    Paper paper;
    if (!root.is_object("the claims of a paper")) return paper;
    root.only_keys(kKeys);
    if (const auto id = root.require("paper")) paper.id = id->text();
    if (const auto title = root.require("title")) paper.title = title->text();
    if (const auto source = root.require("source")) paper.source = source->text();
    if (const auto errata = root.find("errata")) {
      errata->is_object("an object of errata");
      for (const auto& [id, erratum] : errata->members()) paper.errata[id] = erratum.text();
    }
    static const std::map<std::string, MethodQuery> kNone;
    const auto own = labels.find(paper.id);
    if (const auto tables = root.require("tables")) {
      for (const Node& node : tables->items("a list of tables")) {
        paper.tables.push_back(
            decode_table(node, paper, own == labels.end() ? kNone : own->second));
        const std::string& id = paper.tables.back().id;
        if (std::ranges::count(paper.tables, id, &ClaimTable::id) > 1) {
          node.fail("the table '" + id + "' is there twice");
        }
      }
    }
    return paper;
  });
}

Result<std::vector<PublishedTable>> decode_tables(std::string_view text, const std::string& path) {
  return decoded<std::vector<PublishedTable>>(text, path, [](const Node& root) {
    static constexpr std::string_view kKeys[] = {"$schema", "tables"};
    static constexpr std::string_view kTableKeys[] = {"id", "title", "from", "errata"};
    static constexpr std::string_view kPartKeys[] = {"table", "columns"};
    std::vector<PublishedTable> tables;
    root.is_object("published tables");
    root.only_keys(kKeys);
    const auto list = root.require("tables");
    if (!list) return tables;
    for (const Node& node : list->items("a list of tables")) {
      PublishedTable& table = tables.emplace_back();
      if (!node.is_object("a table")) continue;
      node.only_keys(kTableKeys);
      if (const auto id = node.require("id")) table.id = id->text();
      if (const auto title = node.require("title")) table.title = title->text();
      if (const auto errata = node.find("errata")) table.errata = errata->names("errata");
      const auto from = node.require("from");
      if (!from) continue;
      for (const Node& item : from->items("a list of tables of claims")) {
        TablePart& part = table.parts.emplace_back();
        if (!item.is_object("a part of a table")) continue;
        item.only_keys(kPartKeys);
        if (const auto own = item.require("table")) part.table = own->text();
        if (const auto columns = item.find("columns")) part.columns = columns->names("columns");
      }
    }
    return tables;
  });
}

}  // namespace qfs::claims
