#include "datasets/predictions/prediction_lines.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "datasets/predictions/one_kind_of_id.h"
#include "datasets/predictions/plain_prediction.h"
#include "datasets/predictions/suspicious_lines.h"
#include "harness/core/line_reader.h"

namespace qfs::datasets {
namespace {

std::string shown(const std::string& path) { return path == "-" ? "standard input" : path; }

/// A line file that is read in step with others.
struct LineFile {
  std::string path;
  LineReader reader;
  SuspiciousLines suspicious;
  int64_t lines = 0;

  Result<std::optional<std::string>> next() {
    Result<std::optional<std::string>> line = reader.next();
    if (line && line->has_value()) suspicious.look_at(**line, ++lines);
    return line;
  }
};

/// Reads the rest of a file, for its count.
Status drain(LineFile& file) {
  while (true) {
    const Result<std::optional<std::string>> line = file.next();
    if (!line) return line.error();
    if (!line->has_value()) return {};
  }
}

/// The error about two files whose numbers of lines differ.
Error unequal(const LineFile& predictions, const LineFile& references) {
  std::string message = shown(predictions.path) + " has " + std::to_string(predictions.lines) +
                        " lines, " + shown(references.path) + " has " +
                        std::to_string(references.lines) + "; each must have one line per text";
  const LineFile& longer = predictions.lines > references.lines ? predictions : references;
  if (const std::string line = longer.suspicious.describe(); !line.empty()) {
    message += ". A text with a line break inside takes several lines: in " + shown(longer.path) +
               ", " + line;
  }
  return data_error(std::move(message));
}

/// Calls `handle(line, number, where) -> Status` for every line that is not blank.
template <class Handle>
Status for_each_record(const std::string& path, Handle&& handle) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return lines.error();
  int64_t number = 0;
  std::string line;
  while (true) {
    const Result<bool> found = lines->next(line);
    if (!found) return found.error();
    if (!*found) break;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (Status status = handle(line, ++number, lines->where()); !status) return status;
  }
  if (number == 0) return data_error("no record in the file", shown(path));
  return {};
}

}  // namespace

Status read_json_records(const std::string& path, const JsonRecordHandler& handle) {
  std::string scratch;
  return for_each_record(
      path, [&](const std::string& line, int64_t number, const std::string& where) -> Status {
        Result<nlohmann::json> record = parse_json_line(line, where, scratch);
        if (!record) return record.error();
        return handle(*record, number, {where, ""});
      });
}

Status read_prediction_json_lines(const std::string& path, const PredictionFields& fields,
                                  const PredictionSink& sink) {
  PlainPredictionReader plain(fields);
  OneKindOfId ids;
  const auto pass_on = [&](PredictionRecord record) {
    const Status same = ids.add(record);
    return same ? sink(std::move(record)) : same;
  };
  std::string scratch;
  return for_each_record(
      path, [&](const std::string& line, int64_t number, const std::string& where) -> Status {
        if (auto record = plain.read(line, number, where)) return pass_on(*std::move(record));
        Result<nlohmann::json> value = parse_json_line(line, where, scratch);
        if (!value) return value.error();
        Result<PredictionRecord> record = decode_prediction(*value, fields, number, {where, ""});
        if (!record) return record.error();
        return pass_on(*std::move(record));
      });
}

Status read_prediction_line_files(const std::string& predictions,
                                  const std::vector<std::string>& references,
                                  const PredictionSink& sink, bool joined) {
  std::vector<LineFile> files;
  std::vector<std::string> paths = {predictions};
  paths.insert(paths.end(), references.begin(), references.end());
  for (const std::string& path : paths) {
    Result<LineReader> reader = LineReader::open(path);
    if (!reader) return reader.error();
    files.push_back({path, *std::move(reader), {}, 0});
  }
  std::vector<std::optional<std::string>> lines(files.size());
  while (true) {
    bool some = false;
    bool all = true;
    for (size_t i = 0; i < files.size(); ++i) {
      Result<std::optional<std::string>> line = files[i].next();
      if (!line) return line.error();
      lines[i] = *std::move(line);
      some = some || lines[i].has_value();
      all = all && lines[i].has_value();
    }
    if (!some) break;
    if (!all) {
      for (LineFile& file : files) {
        if (Status status = drain(file); !status) return status;
      }
      const bool last_is_empty = joined && !lines[0] && files[1].lines == files[0].lines + 1;
      if (last_is_empty) {
        lines[0].emplace();
        ++files[0].lines;
      }
      for (size_t i = 1; i < files.size(); ++i) {
        if (files[i].lines != files[0].lines) return unequal(files[0], files[i]);
      }
    }
    PredictionRecord record;
    record.id = std::to_string(files[0].lines);
    record.numbered = true;
    record.prediction = *std::move(lines[0]);
    if (files.size() > 1) {
      record.references.emplace();
      for (size_t i = 1; i < files.size(); ++i) {
        record.references->push_back(*std::move(lines[i]));
      }
    }
    record.where = files[0].reader.where();
    if (Status status = sink(std::move(record)); !status) return status;
  }
  if (files[0].lines == 0) return data_error("no line in the file", shown(predictions));
  return {};
}

}  // namespace qfs::datasets
