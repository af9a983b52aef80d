// Claim: a number that a paper prints, where it stands, and what would reproduce it.
//
// Decoded from experiments/claims by decode.h; read by verdicts, tables and `reproduce`. Plain
// data; thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/api/experiment.h"
#include "harness/api/json.h"
#include "harness/api/params.h"
#include "harness/claims/printed.h"

namespace qfs::claims {

/// Where the measured number comes from.
enum class ClaimKind {
  score,    ///< a metric over a method's outputs, or over files of outputs
  data,     ///< a statistic of a data set
  count,    ///< a count that follows from sizes alone: parameters, operations
  longest,  ///< the longest that a training may be on a card, of lengths that are tried
  stated,   ///< a setting, a price, another machine's time: nothing here measures it
};

/// A cell's method with what is given; every other parameter has its default.
struct MethodQuery {
  std::string method;
  std::string backbone;   ///< name; empty: none
  std::string tokenizer;  ///< name; empty: the backbone's, or any
  std::vector<NamedValue> params;
  std::vector<NamedValue> shared = {};  ///< of a table: for methods that have them, unless given
  int64_t train_examples = 0;  ///< drawn of the training split, and as many to choose by; 0: all
  std::map<std::string, std::string> backbones = {};  ///< further models by role
  /// Parameters whose texts are files that the user gives a place to, and their names.
  std::map<std::string, std::string> files = {};
  std::string not_computed =
      {};  ///< what the backbone is, of which there is no code; empty: there is
};

struct DatasetQuery {
  std::string name;
  std::vector<std::string> splits;  ///< empty: the default one
  std::string view;                 ///< empty: the default
  std::string text_form;            ///< empty: the default
  std::string tokenizer;            ///< of statistics in tokens
};

/// Files of somebody's: outputs and references, one text a line, or records to be counted.
struct FilesQuery {
  std::string folder;  ///< a name that the user gives a place to
  std::string predictions;
  std::string references;
  std::vector<std::string> records;  ///< glob patterns; a record is a line that is not empty
};

/// Lengths of a training, from the shortest, on a device of so much memory.
struct LengthQuery {
  std::string card;       ///< its name; for people
  std::string parameter;  ///< whose values they are
  std::vector<int64_t> tries;
  int64_t device_memory_mib = 0;
};

struct Claim {
  std::string paper;
  std::string table;   ///< "ideal.table3"
  size_t row = 0;      ///< of its table, from 0
  std::string label;   ///< of the row, as printed
  std::string given;   ///< what the row says besides: "local_context=1600"; for people
  std::string column;  ///< of the table
  Printed printed;
  ClaimKind kind = ClaimKind::stated;
  std::string what;        ///< column of the metric, name of the statistic or of the count
  std::string metric;      ///< with options; of a score
  Json postprocess{"[]"};  ///< what outputs go through before they are scored: Postprocess::chain
  double scale = 1;        ///< the printed number is the measured one times this
  double tolerance = 0;    ///< in printed units, beyond the printed digits
  std::string why;         ///< of what is stated: why nothing measures it
  std::optional<MethodQuery> method;
  std::optional<DatasetQuery> dataset;
  std::optional<FilesQuery> files;
  std::optional<LengthQuery> longest;
  std::map<std::string, ParamValue> counted;  ///< what a count is of
  std::string cited;                          ///< whose number it is; empty: the paper's own
  std::vector<std::string> errata;            ///< ids, of the row and of its table

  /// "ideal.table3/4/rougeL": table, row from 1, column.
  std::string id() const { return table + "/" + std::to_string(row + 1) + "/" + column; }
};

struct ClaimTable {
  std::string id;
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::string> rows;  ///< labels
  std::vector<Claim> claims;      ///< by row, then column; places without a number are left out
};

struct Paper {
  std::string id;
  std::string title;
  std::string source;
  std::map<std::string, std::string> errata;  ///< by id
  std::vector<ClaimTable> tables;
};

/// A part of a published table: a table of claims, or some of its columns.
struct TablePart {
  std::string table;
  std::vector<std::string> columns;  ///< empty: all
};

/// A table as a paper numbers it.
struct PublishedTable {
  std::string id;
  std::string title;
  std::vector<TablePart> parts;
  std::vector<std::string> errata;  ///< ids of its paper
};

}  // namespace qfs::claims
