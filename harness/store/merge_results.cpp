// Results from another store: attempts, outputs, repetitions, trainings, and what contradicts.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "harness/core/clock.h"
#include "harness/core/failpoint.h"
#include "harness/core/files.h"
#include "harness/core/sha256.h"
#include "harness/core/unique_fd.h"
#include "harness/store/merge_steps.h"
#include "harness/store/training_rows.h"

namespace qfs::store {
namespace {

namespace fs = std::filesystem;

/// Two rows tell of one attempt when the same process began it at the same time.
constexpr const char* kSameAttempt =
    " d.result_id = m.here AND d.environment_id = s.environment_id AND d.worker = s.worker"
    " AND d.started_at = s.started_at AND (0 IN (d.pid, s.pid) OR"
    " (d.pid = s.pid AND d.process_start = s.process_start AND d.boot_id = s.boot_id))";

/// A trained file that a row of the source names.
struct TrainedFile {
  int64_t result = 0;  ///< there
  std::string role;
  std::string sha256;
  std::string location;  ///< there
  std::string cell;
  std::string numerics;
};

std::vector<TrainedFile> trained_files_there(Connection& db) {
  std::vector<TrainedFile> files;
  Query rows = db.query(
      "SELECT s.result_id, s.role, s.sha256, s.location, r.cell_id, r.numerics_id"
      " FROM source.artifact s JOIN source.result r USING (result_id)"
      " WHERE NOT EXISTS (SELECT 1 FROM main.artifact d JOIN main.result h USING (result_id)"
      " WHERE h.cell_id = r.cell_id AND h.numerics_id = r.numerics_id AND h.kind = r.kind"
      " AND d.role = s.role) ORDER BY s.result_id, s.role");
  while (rows.next()) {
    files.push_back(
        {rows.integer(0), rows.text(1), rows.text(2), rows.text(3), rows.text(4), rows.text(5)});
  }
  return files;
}

/// The file of a row, unless a link leads out of the source's folder.
Result<fs::path> file_there(const fs::path& folder, const std::string& location,
                            const std::string& source) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder, error);
  const fs::path file = fs::weakly_canonical(folder / location, error);
  const fs::path way = file.lexically_relative(root);
  if (!error && is_inside(location) && !way.empty() && *way.begin() != "..") return file;
  return data_error("the trained file '" + location + "' is not in the store's folder", source);
}

Status sync(const fs::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.valid() && ::fsync(fd.get()) == 0) return {};
  return store_error("a trained file cannot be written", path.string());
}

/// Copies a file whole or not at all; `data` when it is not the one with this digest.
Status copy_checked(const fs::path& from, const fs::path& to, const std::string& sha256) {
  if (Status made = make_directories(to.parent_path().string()); !made) return made;
  const fs::path partial = to.string() + ".partial";
  std::error_code error;
  fs::copy_file(from, partial, fs::copy_options::overwrite_existing, error);
  if (error) {
    return store_error("a trained file cannot be copied: " + error.message(), to.string());
  }
  const Result<std::string> digest = sha256_file(partial.string());
  if (!digest) return digest.error();
  if (*digest != sha256) {
    fs::remove(partial, error);
    return data_error("the trained file is not the one that the store knows (sha256 " +
                          digest->substr(0, 12) + "…, expected " + sha256.substr(0, 12) + "…)",
                      from.string());
  }
  if (Status synced = sync(partial); !synced) return synced;
  fs::rename(partial, to, error);
  if (error)
    return store_error("a trained file cannot be renamed: " + error.message(), to.string());
  QFS_FAILPOINT_HERE("store.after_trained_file");
  return sync(to.parent_path());
}

}  // namespace

void make_merge_tables(Connection& db) {
  db.script(
      "CREATE TEMP TABLE merge_result (there INTEGER PRIMARY KEY, here INTEGER NOT NULL);"
      "CREATE TEMP TABLE merge_attempt (there INTEGER PRIMARY KEY, here INTEGER NOT NULL);"
      "CREATE INDEX temp.merge_attempt_here ON merge_attempt (here);"
      "CREATE TEMP TABLE merge_score (score_id TEXT PRIMARY KEY);"
      "CREATE TEMP TABLE merge_file (result_id INTEGER NOT NULL, role TEXT NOT NULL,"
      " location TEXT NOT NULL, PRIMARY KEY (result_id, role));");
}

void merge_attempts(Connection& db, const std::string& logs, MergeOutcome& outcome) {
  outcome.results += rows_changed(
      db,
      "INSERT INTO main.result (cell_id, numerics_id, kind, repetitions, roles)"
      " SELECT cell_id, numerics_id, kind, repetitions, roles FROM source.result WHERE true"
      " ORDER BY result_id ON CONFLICT (cell_id, numerics_id, kind) DO NOTHING");
  db.run(
      "UPDATE main.result SET repetitions = s.repetitions FROM source.result s"
      " WHERE s.cell_id = main.result.cell_id AND s.numerics_id = main.result.numerics_id"
      " AND s.kind = main.result.kind AND s.repetitions > main.result.repetitions");
  db.run(
      "INSERT INTO temp.merge_result (there, here) SELECT s.result_id, d.result_id"
      " FROM source.result s JOIN main.result d USING (cell_id, numerics_id, kind)");
  const std::string now = wall_clock_utc();
  outcome.attempts += rows_changed(
      db,
      std::string(
          "INSERT INTO main.attempt (result_id, environment_id, state, failure_kind,"
          " failure_text, worker, log_path, pid, process_start, boot_id, started_at, ended_at)"
          " SELECT m.here, s.environment_id, iif(s.state = 'running', 'abandoned', s.state),"
          " s.failure_kind, iif(s.state = 'running', 'the process ended without a word',"
          " s.failure_text), s.worker, iif(?1 = '' OR s.log_path = '', '', ?1 || s.log_path),"
          " s.pid, s.process_start, s.boot_id, s.started_at, coalesce(s.ended_at, ?2)"
          " FROM source.attempt s JOIN temp.merge_result m ON m.there = s.result_id"
          " WHERE NOT EXISTS (SELECT 1 FROM main.attempt d WHERE") +
          kSameAttempt + ") ORDER BY s.attempt_id",
      logs, now);
  db.run(std::string("INSERT INTO temp.merge_attempt (there, here)"
                     " SELECT s.attempt_id, min(d.attempt_id) FROM source.attempt s"
                     " JOIN temp.merge_result m ON m.there = s.result_id JOIN main.attempt d ON") +
         kSameAttempt + " GROUP BY s.attempt_id");
}

void merge_outputs(Connection& db, MergeOutcome& outcome) {
  outcome.outputs += rows_changed(
      db,
      "INSERT INTO main.output (result_id, ordinal, attempt_id, output_sha256, text, finish,"
      " tokens_in, tokens_out, repaired_bytes, truncation, prompt_sha256, extra)"
      " SELECT m.here, s.ordinal, a.here, s.output_sha256, s.text, s.finish, s.tokens_in,"
      " s.tokens_out, s.repaired_bytes, s.truncation, s.prompt_sha256, s.extra"
      " FROM source.output s JOIN temp.merge_result m ON m.there = s.result_id"
      " JOIN temp.merge_attempt a ON a.there = s.attempt_id WHERE true"
      " ON CONFLICT (result_id, ordinal) DO NOTHING");
  const std::string now = wall_clock_utc();
  for (const char* const found : {"output", "output_conflict"}) {
    const std::string at = std::string(found) == "output" ? "?1" : "coalesce(s.found_at, ?1)";
    db.run(std::string("INSERT INTO main.output_conflict (result_id, ordinal, attempt_id,"
                       " output_sha256, text, finish, tokens_in, tokens_out, repaired_bytes,"
                       " truncation, prompt_sha256, extra, found_at)"
                       " SELECT m.here, s.ordinal, a.here, s.output_sha256, s.text, s.finish,"
                       " s.tokens_in, s.tokens_out, s.repaired_bytes, s.truncation,"
                       " s.prompt_sha256, s.extra, ") +
               at + " FROM source." + found +
               " s JOIN temp.merge_result m ON m.there = s.result_id"
               " JOIN temp.merge_attempt a ON a.there = s.attempt_id"
               " JOIN main.output d ON d.result_id = m.here AND d.ordinal = s.ordinal"
               " WHERE d.output_sha256 <> s.output_sha256"
               " ON CONFLICT (result_id, ordinal, output_sha256) DO NOTHING",
           now);
  }
}

void merge_repetitions(Connection& db, MergeOutcome& outcome) {
  outcome.repetitions +=
      rows_changed(db,
                   "INSERT INTO main.repetition (result_id, repetition, attempt_id)"
                   " SELECT m.here, s.repetition, a.here FROM source.repetition s"
                   " JOIN temp.merge_result m ON m.there = s.result_id"
                   " JOIN temp.merge_attempt a ON a.there = s.attempt_id WHERE true"
                   " ON CONFLICT (result_id, repetition) DO NOTHING");
  // A repetition is kept whole: its rows come from the attempt that it came from.
  db.run(
      "INSERT INTO main.measurement (result_id, repetition, unit, phase, ns, tokens)"
      " SELECT m.here, s.repetition, s.unit, s.phase, s.ns, s.tokens FROM source.measurement s"
      " JOIN source.repetition p USING (result_id, repetition)"
      " JOIN temp.merge_result m ON m.there = s.result_id"
      " JOIN temp.merge_attempt a ON a.there = p.attempt_id"
      " JOIN main.repetition d ON d.result_id = m.here AND d.repetition = s.repetition"
      " AND d.attempt_id = a.here WHERE true"
      " ON CONFLICT (result_id, repetition, unit, phase) DO NOTHING");
  db.run(
      "INSERT INTO main.memory (result_id, repetition, kind, bytes)"
      " SELECT m.here, s.repetition, s.kind, s.bytes FROM source.memory s"
      " JOIN source.repetition p USING (result_id, repetition)"
      " JOIN temp.merge_result m ON m.there = s.result_id"
      " JOIN temp.merge_attempt a ON a.there = p.attempt_id"
      " JOIN main.repetition d ON d.result_id = m.here AND d.repetition = s.repetition"
      " AND d.attempt_id = a.here WHERE true"
      " ON CONFLICT (result_id, repetition, kind) DO NOTHING");
}

Status copy_trained_files(Connection& db, const std::string& destination, const std::string& source,
                          MergeOutcome& outcome) {
  const std::vector<TrainedFile> files = trained_files_there(db);
  if (Status status = db.finish(); !status) return status;
  const fs::path here = fs::path(destination).parent_path();
  const fs::path there = fs::path(source).parent_path();
  const std::string stem = fs::path(destination).filename().replace_extension(".artifacts");
  for (const TrainedFile& file : files) {
    const Result<fs::path> from = file_there(there, file.location, source);
    if (!from) return from.error();
    const std::string location = stem + "/" + file.cell.substr(0, 12) + "-" +
                                 file.numerics.substr(0, 12) + "/" + from->filename().string();
    std::error_code error;
    if (!fs::is_regular_file(*from, error)) {
      ++outcome.missing_files;
    } else if (Status copied = copy_checked(*from, here / location, file.sha256); !copied) {
      return copied;
    }
    db.run("INSERT OR REPLACE INTO temp.merge_file VALUES (?, ?, ?)", file.result, file.role,
           location);
  }
  return db.finish();
}

void merge_trainings(Connection& db, MergeOutcome& outcome) {
  outcome.artifacts += rows_changed(
      db,
      "INSERT INTO main.artifact (result_id, role, attempt_id, sha256, bytes, location)"
      " SELECT m.here, s.role, a.here, s.sha256, s.bytes, f.location FROM source.artifact s"
      " JOIN temp.merge_file f USING (result_id, role)"
      " JOIN temp.merge_result m ON m.there = s.result_id"
      " JOIN temp.merge_attempt a ON a.there = s.attempt_id WHERE true"
      " ON CONFLICT (result_id, role) DO NOTHING");
  const std::string now = wall_clock_utc();
  for (const char* const found : {"artifact", "artifact_conflict"}) {
    const std::string at = std::string(found) == "artifact" ? "?1" : "coalesce(s.found_at, ?1)";
    db.run(std::string("INSERT INTO main.artifact_conflict (result_id, role, attempt_id, sha256,"
                       " found_at) SELECT m.here, s.role, a.here, s.sha256, ") +
               at + " FROM source." + found +
               " s JOIN temp.merge_result m ON m.there = s.result_id"
               " JOIN temp.merge_attempt a ON a.there = s.attempt_id"
               " JOIN main.artifact d ON d.result_id = m.here AND d.role = s.role"
               " WHERE d.sha256 <> s.sha256 ON CONFLICT (result_id, role, sha256) DO NOTHING",
           now);
  }
  // Curve and cost are those of the training whose files are kept.
  const std::string of_kept_files =
      " FROM source.SELECTED s JOIN temp.merge_result m ON m.there = s.result_id"
      " WHERE NOT EXISTS (SELECT 1 FROM main.artifact x WHERE x.result_id = m.here"
      " AND x.attempt_id NOT IN (SELECT here FROM temp.merge_attempt))";
  const auto from = [&of_kept_files](const std::string& table) {
    std::string sql = of_kept_files;
    return sql.replace(sql.find("SELECTED"), 8, table);
  };
  db.run(
      "INSERT INTO main.training_point (result_id, step, name, value)"
      " SELECT m.here, s.step, s.name, s.value" +
      from("training_point") +
      " ON CONFLICT (result_id, step, name) DO UPDATE SET value = excluded.value"
      " WHERE training_point.value <> excluded.value");
  db.run(
      "INSERT INTO main.training_cost (result_id, name, value)"
      " SELECT m.here, s.name, s.value" +
      from("training_cost") + " ON CONFLICT (result_id, name) DO NOTHING");
}

}  // namespace qfs::store
