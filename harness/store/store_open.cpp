#include <sys/vfs.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "harness/api/ids.h"
#include "harness/core/clock.h"
#include "harness/core/files.h"
#include "harness/core/log.h"
#include "harness/core/sha256.h"
#include "harness/core/utf8.h"
#include "harness/store/codec.h"
#include "harness/store/schema.h"
#include "harness/store/store_state.h"

namespace qfs::store {
namespace {

/// The write-ahead log needs shared memory and locks of one machine.
void warn_of_network_file_system(const std::string& path) {
  constexpr uint64_t kNfs = 0x6969;
  constexpr uint64_t kLustre = 0x0BD00BD0;
  constexpr uint64_t kCifs = 0xFF534D42;
  struct statfs facts {};
  if (::statfs(path.c_str(), &facts) != 0) return;
  const uint64_t type = static_cast<uint64_t>(facts.f_type) & 0xFFFFFFFFU;
  if (type == kNfs || type == kLustre || type == kCifs) {
    log_warning("the store " + path +
                " lies on a network file system; write it on a local disk and copy it when closed");
  }
}

Status use_write_ahead_log(Connection& db) {
  std::string mode;
  {
    Query rows = db.query("PRAGMA journal_mode=WAL");
    if (rows.next()) mode = rows.text(0);
  }
  db.script("PRAGMA synchronous=FULL");
  if (Status status = db.finish(); !status) return status;
  if (mode == "wal") return {};
  return store_error("the file system does not support a write-ahead log (journal mode stays '" +
                         mode + "'); use a --store on a local disk",
                     db.path());
}

/// The folder exists, and the path is the file's own (two names of one file share one lock).
Result<std::string> resolved(const std::string& path, const OpenOptions& options) {
  if (path.empty()) return invalid_argument("the store needs a file name");
  std::error_code error;
  const std::filesystem::path file =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  if (error) return store_error("the store cannot be opened: " + error.message(), path);
  if (std::filesystem::is_directory(file, error)) {
    return store_error("the store cannot be opened: this is a folder", path);
  }
  if (!options.create && !std::filesystem::exists(file, error)) {
    return not_found("there is no store", path);
  }
  if (Status made = make_directories(file.parent_path().string()); !made) {
    return store_error("the store's folder cannot be made: " + made.error().to_string(), path);
  }
  return file.string();
}

}  // namespace

Result<Store> Store::open(const std::string& path, const OpenOptions& options) {
  Result<std::string> file = resolved(path, options);
  if (!file) return file.error();
  Result<StoreLock> lock = StoreLock::acquire(*file);
  if (!lock) return lock.error();
  Result<Connection> db = Connection::open(*file, OpenMode::create, options.busy_timeout_ms);
  if (!db) return db.error();
  // Nothing is written before it is certain that the file is ours.
  if (const Result<int> version = schema_version(*db, migration_list()); !version) {
    return version.error();
  }
  if (sqlite3_db_readonly(db->handle(), "main") == 1) {
    db->fail_with_code(SQLITE_READONLY);
    return db->finish().error();
  }
  if (Status status = use_write_ahead_log(*db); !status) return status.error();
  if (Status status = migrate(*db, migration_list()); !status) return status.error();
  warn_of_network_file_system(*file);
  return Store(
      std::make_unique<StoreState>(StoreState{*file, *std::move(lock), *std::move(db), {}}));
}

Store::Store(std::unique_ptr<StoreState> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;

Store& Store::operator=(Store&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Store::~Store() {
  if (!state_) return;
  // The file alone is then the whole store and may be copied. A reader can hold this back, which
  // loses nothing: the log stays beside the file.
  sqlite3_wal_checkpoint_v2(state_->db.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                            nullptr);
}

const std::string& Store::path() const { return state_->path; }

Status Store::check_place() { return state_->db.check_place(); }

Status Store::log_event(EventLevel level, std::string_view text, std::optional<AttemptId> attempt) {
  std::optional<int64_t> attempt_row;
  if (attempt) attempt_row = attempt->value;
  Transaction transaction(state_->db);
  state_->db.run("INSERT INTO event (at, attempt_id, level, text) VALUES (?, ?, ?, ?)",
                 wall_clock_utc(), attempt_row, to_string(level), text);
  return transaction.commit();
}

Result<const ResultFacts*> StoreState::facts_of(ResultId result) {
  const auto known = facts.find(result.value);
  if (known != facts.end()) return &known->second;
  ResultFacts found;
  std::optional<std::vector<int64_t>> ordinals;
  std::optional<std::vector<std::string>> roles;
  std::optional<ResultKind> kind;
  {
    Query rows = db.query(
        "SELECT r.kind, r.numerics_id, c.ordinals, d.documents_stored, r.roles FROM result r"
        " JOIN cell c USING (cell_id) JOIN dataset d USING (dataset_id) WHERE r.result_id = ?",
        result.value);
    if (rows.next()) {
      kind = result_kind_from(rows.text(0));
      found.numerics = rows.text(1);
      ordinals = decode_integers(rows.text(2));
      found.keep_prompts = rows.integer(3) != 0;
      roles = decode_strings(rows.text(4));
    }
  }
  if (Status status = db.finish(); !status) return status.error();
  if (!kind || !ordinals || !roles) {
    return internal_error("the store has no result " + std::to_string(result.value), path);
  }
  found.kind = *kind;
  found.ordinals = *std::move(ordinals);
  found.roles = *std::move(roles);
  return &facts.emplace(result.value, std::move(found)).first->second;
}

Result<const ResultFacts*> StoreState::facts_of(ResultId result, ResultKind kind,
                                                std::string_view fact) {
  Result<const ResultFacts*> found = facts_of(result);
  if (!found || (*found)->kind == kind) return found;
  return internal_error("result " + std::to_string(result.value) + " is a " +
                            std::string(to_string((*found)->kind)) + " result and takes no " +
                            std::string(fact),
                        path);
}

void StoreState::expect_json(const Json& value, std::string_view what) {
  if (nlohmann::json::accept(value.text)) return;
  db.fail(internal_error(std::string(what) + " is not JSON", path));
}

void StoreState::expect_utf8(std::string_view text) {
  if (const std::optional<size_t> bad = first_ill_formed_utf8(text)) {
    db.fail(internal_error("a text is not valid UTF-8 at byte " + std::to_string(*bad), path));
  }
}

std::string StoreState::put_text(std::string_view body) {
  expect_utf8(body);
  std::string sha256 = sha256_hex(body);
  db.run("INSERT INTO text (sha256, body) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING", sha256,
         body);
  return sha256;
}

std::string parts_digest(std::string_view kind, const std::vector<std::string_view>& parts) {
  Sha256 hash;
  hash.update("qfs-bench/" + std::to_string(kIdentityVersion) + "/");
  hash.update(kind).update("\n");
  for (const std::string_view part : parts) {
    hash.update(std::to_string(part.size()) + ":").update(part).update("\n");
  }
  return hash.hex();
}

}  // namespace qfs::store
