#include "harness/store/merge.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/core/counted.h"
#include "harness/store/merge_steps.h"
#include "harness/store/private_copy.h"
#include "harness/store/reader.h"
#include "harness/store/store.h"
#include "harness/store/store_lock.h"

namespace qfs::store {
namespace {

namespace fs = std::filesystem;

constexpr int kLongestValueBytes = 256 << 20;

/// Whether anything was ever written into a database.
Result<bool> is_begun(const fs::path& file) {
  Result<Connection> db = Connection::open(file.string(), OpenMode::read_only, kBusyTimeoutMs);
  if (!db) return db.error();
  const int64_t marks = db->integer("SELECT application_id FROM pragma_application_id") +
                        db->integer("SELECT user_version FROM pragma_user_version") +
                        db->integer("SELECT count(*) FROM sqlite_schema");
  if (Status status = db->finish(); !status) return status.error();
  return marks != 0;
}

/// The source's copy, checked as a stranger's is; none of one that was never begun.
Result<std::optional<PrivateCopy>> checked_copy(const std::string& source, const fs::path& file) {
  std::optional<StoreLock> lock;
  // Nobody writes a store in a folder that cannot be written.
  if (::access(file.parent_path().c_str(), W_OK) == 0) {
    Result<StoreLock> acquired = StoreLock::acquire(file.string());
    if (!acquired) return acquired.error();
    lock = *std::move(acquired);
  }
  Result<PrivateCopy> copy = copy_to_private_folder(file);
  if (!copy) return copy.error();
  const auto refused = [&source](Error error) {
    error.where = source;
    return error;
  };
  const Result<bool> begun = is_begun(copy->file);
  if (!begun) return refused(begun.error());
  if (!*begun) return std::optional<PrivateCopy>();
  Result<Reader> reader = Reader::open(copy->file.string());
  if (!reader) return refused(reader.error());
  const Result<std::vector<std::string>> problems = reader->check_integrity();
  if (!problems) return refused(problems.error());
  if (problems->empty()) return std::optional(*std::move(copy));
  std::string message = "the store is damaged or was changed by another program: ";
  message += problems->front();
  if (problems->size() > 1) {
    message += " (and " + std::to_string(problems->size() - 1) + " more; 'doctor' lists them)";
  }
  return store_error(message, source);
}

/// The destination, made or migrated by Store, on a connection that this file works on.
Result<Connection> open_destination(const std::string& path) {
  Result<Connection> db = Connection::open(path, OpenMode::read_write, kBusyTimeoutMs);
  if (!db) return db;
  sqlite3_limit(db->handle(), SQLITE_LIMIT_LENGTH, kLongestValueBytes);
  db->script("PRAGMA synchronous=FULL");
  if (Status status = db->finish(); !status) return status.error();
  return db;
}

/// What leads from the destination's folder to the source's, "" where that would be "..".
std::string path_to_logs(const fs::path& destination, const fs::path& source) {
  const fs::path way = source.parent_path().lexically_relative(destination.parent_path());
  if (way.empty() || *way.begin() == "..") return {};
  return way == "." ? "./" : way.string() + "/";
}

void take(Connection& db, const std::string& source, const std::string& logs,
          MergeOutcome& outcome) {
  merge_what_was_asked(db, source, outcome);
  merge_attempts(db, logs, outcome);
  merge_outputs(db, outcome);
  merge_trainings(db, outcome);
  merge_repetitions(db, outcome);
  merge_scores(db, outcome);
  merge_shown_results(db);
  merge_events(db);
  find_conflicts(db, outcome);
}

/// Where the destination will be, as Store resolves it; an error where it is the source.
Status check_distinct(const fs::path& destination, const fs::path& source) {
  std::error_code error;
  if (!fs::equivalent(destination, source, error)) return {};
  return invalid_argument("a store cannot be merged into itself", destination.string());
}

}  // namespace

Result<MergeOutcome> merge_store(const std::string& destination, const std::string& source,
                                 const MergeOptions& options) {
  std::error_code error;
  const fs::path from = fs::weakly_canonical(source, error);
  if (error || !fs::exists(from, error)) return not_found("there is no store", source);
  if (!fs::is_regular_file(from, error)) {
    return store_error("not a qfs-bench store: not a regular file", source);
  }
  if (Status distinct = check_distinct(destination, from); !distinct) return distinct.error();
  const auto checked = checked_copy(source, from);
  if (!checked) return checked.error();
  if (!*checked) return MergeOutcome{.begun = false};
  const PrivateCopy& copy = **checked;

  std::string path;
  {
    const Result<Store> made = Store::open(destination);
    if (!made) return made.error();
    path = made->path();
  }
  const Result<StoreLock> lock = StoreLock::acquire(path);
  if (!lock) return lock.error();
  Result<Connection> db = open_destination(path);
  if (!db) return db.error();
  db->run("ATTACH ? AS source", copy.file.string());
  make_merge_tables(*db);
  MergeOutcome outcome;
  if (Status status = db->finish(); !status) return status.error();
  if (Status copied = copy_trained_files(*db, path, from.string(), outcome); !copied) {
    return copied.error();
  }
  Transaction transaction(*db, "store.before_merge_commit");
  take(*db, source, path_to_logs(path, from), outcome);
  if (options.strict && outcome.conflicts > 0 && !db->failed()) {
    return store_error("the store contradicts what is here in " +
                           counted(outcome.conflicts, "place") +
                           "; nothing of it was taken (--strict)",
                       source);
  }
  if (Status committed = transaction.commit(); !committed) return committed.error();
  sqlite3_wal_checkpoint_v2(db->handle(), "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  return outcome;
}

}  // namespace qfs::store
