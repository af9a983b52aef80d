// The tables of an archive: their columns, and how a store's rows become theirs.
#include <array>

#include "harness/store/archive_format.h"

namespace qfs::store {
namespace {

using enum ColumnType;

constexpr ArchiveColumn kText[] = {{"sha256"}, {"body"}};

constexpr ArchiveColumn kDataset[] = {{"dataset_id"},
                                      {"name"},
                                      {"split"},
                                      {"manifest"},
                                      {"examples", integer},
                                      {"texts_stored", integer},
                                      {"documents_stored", integer}};

constexpr ArchiveColumn kExample[] = {{"dataset_id"},        {"ordinal", integer}, {"example_key"},
                                      {"document_id"},       {"question_group"},   {"language"},
                                      {"example_sha256"},    {"document_sha256"},  {"query_sha256"},
                                      {"reference_sha256s"}, {"evidence"},         {"extra"}};

constexpr ArchiveColumn kCell[] = {{"cell_id"},
                                   {"identity_version", integer},
                                   {"identity"},
                                   {"method"},
                                   {"oracle", integer},
                                   {"params"},
                                   {"training", integer},
                                   {"dataset_id"},
                                   {"development_dataset_id", text, true},
                                   {"seed"},
                                   {"ordinals"},
                                   {"expected", integer}};

constexpr ArchiveColumn kDependency[] = {
    {"cell_id"}, {"role"}, {"training_cell_id", text, true}, {"sha256", text, true}};

constexpr ArchiveColumn kSweep[] = {{"sweep_id"},      {"name"},       {"config"},
                                    {"config_sha256"}, {"created_at"}, {"used", integer}};

constexpr ArchiveColumn kSweepCell[] = {{"sweep_id"}, {"position", integer}, {"cell_id"}, {"label"},
                                        {"params"},   {"measure_ordinals"}};

constexpr ArchiveColumn kEnvironment[] = {{"environment_id"}, {"numerics_id"}, {"numerics"},
                                          {"host"},           {"build"},       {"created_at"}};

constexpr ArchiveColumn kResult[] = {{"result_id", integer},   {"cell_id"},
                                     {"numerics_id"},          {"kind"},
                                     {"repetitions", integer}, {"roles"}};

constexpr ArchiveColumn kSweepResult[] = {
    {"sweep_id"}, {"position", integer}, {"kind"}, {"result_id", integer}};

constexpr ArchiveColumn kAttempt[] = {
    {"attempt_id", integer}, {"result_id", integer},     {"environment_id"}, {"state"},
    {"failure_kind"},        {"failure_text"},           {"worker"},         {"log_path"},
    {"pid", integer},        {"process_start", integer}, {"boot_id"},        {"started_at"},
    {"ended_at", text, true}};

constexpr ArchiveColumn kOutput[] = {{"result_id", integer},
                                     {"ordinal", integer},
                                     {"attempt_id", integer},
                                     {"output_sha256"},
                                     {"text"},
                                     {"finish"},
                                     {"tokens_in", integer},
                                     {"tokens_out", integer},
                                     {"repaired_bytes", integer},
                                     {"truncation", text, true},
                                     {"prompt_sha256", text, true},
                                     {"extra"}};

constexpr ArchiveColumn kOutputConflict[] = {{"conflict_id", integer},
                                             {"result_id", integer},
                                             {"ordinal", integer},
                                             {"attempt_id", integer},
                                             {"output_sha256"},
                                             {"text"},
                                             {"finish"},
                                             {"tokens_in", integer},
                                             {"tokens_out", integer},
                                             {"repaired_bytes", integer},
                                             {"truncation", text, true},
                                             {"prompt_sha256", text, true},
                                             {"extra"},
                                             {"found_at"}};

constexpr ArchiveColumn kArtifact[] = {{"result_id", integer},  {"role"},
                                       {"attempt_id", integer}, {"sha256"},
                                       {"bytes", integer},      {"location"}};

constexpr ArchiveColumn kArtifactConflict[] = {
    {"result_id", integer}, {"role"}, {"attempt_id", integer}, {"sha256"}, {"found_at"}};

constexpr ArchiveColumn kTrainingPoint[] = {
    {"result_id", integer}, {"step", integer}, {"name"}, {"value", real}};

constexpr ArchiveColumn kTrainingCost[] = {{"result_id", integer}, {"name"}, {"value", number}};

constexpr ArchiveColumn kRepetition[] = {
    {"result_id", integer}, {"repetition", integer}, {"attempt_id", integer}};

constexpr ArchiveColumn kMeasurement[] = {{"result_id", integer}, {"repetition", integer},
                                          {"unit", integer},      {"phase"},
                                          {"ns", integer},        {"tokens", integer}};

constexpr ArchiveColumn kMemory[] = {
    {"result_id", integer}, {"repetition", integer}, {"kind"}, {"bytes", integer}};

constexpr ArchiveColumn kScoreJob[] = {{"score_job_id", integer},
                                       {"score_id"},
                                       {"result_id", integer},
                                       {"metric"},
                                       {"signature"},
                                       {"postprocess"},
                                       {"columns"},
                                       {"n", integer},
                                       {"clusters", integer},
                                       {"interval_method"},
                                       {"created_at"}};

constexpr ArchiveColumn kScore[] = {
    {"score_job_id", integer}, {"position", integer}, {"name"},
    {"value", real},           {"low", real, true},   {"high", real, true}};

constexpr ArchiveColumn kStatistic[] = {
    {"score_job_id", integer}, {"ordinal", integer}, {"processed_sha256", text, true}, {"values"}};

constexpr ArchiveColumn kEvent[] = {
    {"event_id", integer}, {"at"}, {"attempt_id", integer, true}, {"level"}, {"text"}};

// CROSS JOIN: SQLite then visits results in the order of their numbers and sorts nothing.
constexpr std::array<ArchiveTable, 24> kTables = {{
    {"text", kText, "SELECT sha256, body FROM text ORDER BY sha256",
     "SELECT sha256, body FROM text WHERE sha256 IN (SELECT processed_sha256 FROM statistic)"
     " ORDER BY sha256"},
    {"dataset", kDataset,
     "SELECT dataset_id, name, split, manifest, examples, texts_stored, documents_stored"
     " FROM dataset ORDER BY dataset_id",
     "SELECT dataset_id, name, split, manifest, examples, 0, 0 FROM dataset ORDER BY dataset_id"},
    {"example", kExample,
     "SELECT dataset_id, ordinal, example_key, document_id, question_group, language,"
     " example_sha256, document_sha256, query_sha256, reference_sha256s, evidence, extra"
     " FROM example ORDER BY dataset_id, ordinal",
     "SELECT dataset_id, ordinal, example_key, document_id, question_group, language,"
     " example_sha256, document_sha256, query_sha256, reference_sha256s, evidence, '{}'"
     " FROM example ORDER BY dataset_id, ordinal"},
    {"cell", kCell,
     "SELECT cell_id, identity_version, identity, method, oracle, params, training, dataset_id,"
     " development_dataset_id, seed, ordinals, expected FROM cell ORDER BY cell_id",
     nullptr},
    {"dependency", kDependency,
     "SELECT cell_id, role, training_cell_id, sha256 FROM dependency ORDER BY cell_id, role",
     nullptr},
    {"sweep", kSweep,
     "SELECT sweep_id, name, config, config_sha256, created_at, row_number() OVER (ORDER BY used)"
     " FROM sweep ORDER BY sweep.rowid",
     nullptr},
    {"sweep_cell", kSweepCell,
     "SELECT sweep_id, position, cell_id, label, params, measure_ordinals FROM sweep_cell"
     " ORDER BY sweep_id, position",
     nullptr},
    {"environment", kEnvironment,
     "SELECT environment_id, numerics_id, numerics, host, build, created_at FROM environment"
     " ORDER BY environment_id",
     nullptr},
    {"result", kResult,
     "SELECT n.number, r.cell_id, r.numerics_id, r.kind, r.repetitions, r.roles"
     " FROM temp.archive_result n CROSS JOIN result r USING (result_id) ORDER BY n.number",
     nullptr},
    {"sweep_result", kSweepResult,
     "SELECT s.sweep_id, s.position, s.kind, n.number FROM sweep_result s"
     " JOIN temp.archive_result n USING (result_id) ORDER BY s.sweep_id, s.position, s.kind",
     nullptr},
    // Which process of which machine it was is nobody's business; what failed may quote a text.
    {"attempt", kAttempt,
     "SELECT a.number, n.number, t.environment_id, t.state, t.failure_kind, t.failure_text,"
     " t.worker, '', 0, 0, '', t.started_at, t.ended_at"
     " FROM temp.archive_attempt a CROSS JOIN attempt t USING (attempt_id)"
     " JOIN temp.archive_result n USING (result_id) ORDER BY a.number",
     "SELECT a.number, n.number, t.environment_id, t.state, t.failure_kind,"
     " iif(t.failure_text = '', '', 'left out with the texts'),"
     " t.worker, '', 0, 0, '', t.started_at, t.ended_at"
     " FROM temp.archive_attempt a CROSS JOIN attempt t USING (attempt_id)"
     " JOIN temp.archive_result n USING (result_id) ORDER BY a.number"},
    {"output", kOutput,
     "SELECT n.number, o.ordinal, a.number, o.output_sha256, o.text, o.finish, o.tokens_in,"
     " o.tokens_out, o.repaired_bytes, o.truncation, o.prompt_sha256, o.extra"
     " FROM temp.archive_result n CROSS JOIN output o USING (result_id)"
     " JOIN temp.archive_attempt a USING (attempt_id) ORDER BY n.number, o.ordinal",
     nullptr},
    {"output_conflict", kOutputConflict,
     "SELECT row_number() OVER (ORDER BY n.number, o.ordinal, o.output_sha256), n.number,"
     " o.ordinal, a.number, o.output_sha256, o.text, o.finish, o.tokens_in, o.tokens_out,"
     " o.repaired_bytes, o.truncation, o.prompt_sha256, o.extra, o.found_at"
     " FROM output_conflict o JOIN temp.archive_result n USING (result_id)"
     " JOIN temp.archive_attempt a USING (attempt_id) ORDER BY 1",
     nullptr},
    // Where a file lay is no content; its name is what stands after the last slash.
    {"artifact", kArtifact,
     "SELECT n.number, o.role, a.number, o.sha256, o.bytes, 'artifacts/' || substr(r.cell_id, 1, "
     "12)"
     " || '-' || substr(r.numerics_id, 1, 12) || '/'"
     " || replace(o.location, rtrim(o.location, replace(o.location, '/', '')), '')"
     " FROM temp.archive_result n CROSS JOIN artifact o USING (result_id)"
     " JOIN result r USING (result_id) JOIN temp.archive_attempt a USING (attempt_id)"
     " ORDER BY n.number, o.role",
     nullptr},
    {"artifact_conflict", kArtifactConflict,
     "SELECT n.number, o.role, a.number, o.sha256, o.found_at"
     " FROM temp.archive_result n CROSS JOIN artifact_conflict o USING (result_id)"
     " JOIN temp.archive_attempt a USING (attempt_id) ORDER BY n.number, o.role, o.sha256",
     nullptr},
    {"training_point", kTrainingPoint,
     "SELECT n.number, o.step, o.name, o.value FROM temp.archive_result n"
     " CROSS JOIN training_point o USING (result_id) ORDER BY n.number, o.step, o.name",
     nullptr},
    {"training_cost", kTrainingCost,
     "SELECT n.number, o.name, o.value FROM temp.archive_result n"
     " CROSS JOIN training_cost o USING (result_id) ORDER BY n.number, o.name",
     nullptr},
    {"repetition", kRepetition,
     "SELECT n.number, o.repetition, a.number FROM temp.archive_result n"
     " CROSS JOIN repetition o USING (result_id) JOIN temp.archive_attempt a USING (attempt_id)"
     " ORDER BY n.number, o.repetition",
     nullptr},
    {"measurement", kMeasurement,
     "SELECT n.number, o.repetition, o.unit, o.phase, o.ns, o.tokens FROM temp.archive_result n"
     " CROSS JOIN measurement o USING (result_id)"
     " ORDER BY n.number, o.repetition, o.unit, o.phase",
     nullptr},
    {"memory", kMemory,
     "SELECT n.number, o.repetition, o.kind, o.bytes FROM temp.archive_result n"
     " CROSS JOIN memory o USING (result_id) ORDER BY n.number, o.repetition, o.kind",
     nullptr},
    {"score_job", kScoreJob,
     "SELECT j.number, o.score_id, n.number, o.metric, o.signature, o.postprocess, o.columns, o.n,"
     " o.clusters, o.interval_method, o.created_at FROM temp.archive_score j"
     " CROSS JOIN score_job o USING (score_job_id) JOIN temp.archive_result n USING (result_id)"
     " ORDER BY j.number",
     nullptr},
    {"score", kScore,
     "SELECT j.number, o.position, o.name, o.value, o.low, o.high FROM temp.archive_score j"
     " CROSS JOIN score o USING (score_job_id) ORDER BY j.number, o.position",
     nullptr},
    {"statistic", kStatistic,
     "SELECT j.number, o.ordinal, o.processed_sha256, o.\"values\" FROM temp.archive_score j"
     " CROSS JOIN statistic o USING (score_job_id) ORDER BY j.number, o.ordinal",
     nullptr},
    {"event", kEvent,
     "SELECT row_number() OVER (ORDER BY o.event_id), o.at, a.number, o.level, o.text FROM event o"
     " LEFT JOIN temp.archive_attempt a USING (attempt_id) ORDER BY 1",
     nullptr},
}};

}  // namespace

std::span<const ArchiveTable> archive_tables() { return kTables; }

}  // namespace qfs::store
