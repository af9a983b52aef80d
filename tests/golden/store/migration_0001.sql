
-- Columns that hold JSON do not say so in a CHECK: json_valid() counts as unsafe in a schema that
-- is not trusted. Words (kinds, states, levels, reasons) are not listed in CHECKs either: a new one
-- would need every table made anew. The writer checks both, and so does the integrity check.

CREATE TABLE schema_version (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  applied_at TEXT NOT NULL
) STRICT;

-- Texts that are shared, once: references, queries, documents (as JSON lists of segments), prompts,
-- processed outputs. Outputs lie in their rows: few are equal, and an index over digests would make
-- every commit write pages all over the file. A digest elsewhere without a row here is a text that the
-- store may not or need not keep.
CREATE TABLE text (
  sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
  body TEXT NOT NULL
) STRICT;

CREATE TABLE dataset (
  dataset_id TEXT PRIMARY KEY CHECK (length(dataset_id) = 64),
  name TEXT NOT NULL,
  split TEXT NOT NULL,
  manifest TEXT NOT NULL,
  examples INTEGER NOT NULL CHECK (examples >= 0),
  texts_stored INTEGER NOT NULL CHECK (texts_stored IN (0, 1)),
  documents_stored INTEGER NOT NULL CHECK (documents_stored IN (0, 1)),
  CHECK (documents_stored <= texts_stored)
) STRICT;

CREATE TABLE example (
  dataset_id TEXT NOT NULL REFERENCES dataset,
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  example_key TEXT NOT NULL,
  document_id TEXT NOT NULL,
  question_group TEXT NOT NULL,
  language TEXT NOT NULL,
  example_sha256 TEXT NOT NULL CHECK (length(example_sha256) = 64),
  document_sha256 TEXT NOT NULL CHECK (length(document_sha256) = 64),
  query_sha256 TEXT NOT NULL CHECK (length(query_sha256) = 64),
  reference_sha256s TEXT NOT NULL,
  evidence TEXT NOT NULL,
  extra TEXT NOT NULL,
  PRIMARY KEY (dataset_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE cell (
  cell_id TEXT PRIMARY KEY CHECK (length(cell_id) = 64),
  identity_version INTEGER NOT NULL,
  identity TEXT NOT NULL,
  method TEXT NOT NULL,
  oracle INTEGER NOT NULL CHECK (oracle IN (0, 1)),
  params TEXT NOT NULL,
  training INTEGER NOT NULL CHECK (training IN (0, 1)),
  dataset_id TEXT NOT NULL REFERENCES dataset,
  development_dataset_id TEXT REFERENCES dataset,
  seed TEXT NOT NULL,
  ordinals TEXT NOT NULL,
  expected INTEGER NOT NULL CHECK (expected > 0),
  CHECK (training OR development_dataset_id IS NULL)
) STRICT;

-- What a predicting cell rests on: the artifact that a training cell makes, or an imported one.
CREATE TABLE dependency (
  cell_id TEXT NOT NULL REFERENCES cell,
  role TEXT NOT NULL,
  training_cell_id TEXT REFERENCES cell,
  sha256 TEXT CHECK (length(sha256) = 64),
  PRIMARY KEY (cell_id, role),
  CHECK ((training_cell_id IS NULL) <> (sha256 IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE sweep (
  sweep_id TEXT PRIMARY KEY CHECK (length(sweep_id) = 64),
  name TEXT NOT NULL,
  config TEXT NOT NULL,
  config_sha256 TEXT NOT NULL CHECK (length(config_sha256) = 64),
  created_at TEXT NOT NULL,
  used INTEGER NOT NULL UNIQUE
) STRICT;

CREATE TABLE sweep_cell (
  sweep_id TEXT NOT NULL REFERENCES sweep,
  position INTEGER NOT NULL CHECK (position >= 0),
  cell_id TEXT NOT NULL REFERENCES cell,
  label TEXT NOT NULL,
  params TEXT NOT NULL,
  measure_ordinals TEXT NOT NULL,
  PRIMARY KEY (sweep_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE environment (
  environment_id TEXT PRIMARY KEY CHECK (length(environment_id) = 64),
  numerics_id TEXT NOT NULL CHECK (length(numerics_id) = 64),
  numerics TEXT NOT NULL,
  host TEXT NOT NULL,
  build TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX environment_by_numerics ON environment (numerics_id);

CREATE TABLE result (
  result_id INTEGER PRIMARY KEY,
  cell_id TEXT NOT NULL REFERENCES cell,
  numerics_id TEXT NOT NULL CHECK (length(numerics_id) = 64),
  kind TEXT NOT NULL,
  repetitions INTEGER NOT NULL CHECK (repetitions >= 0),
  roles TEXT NOT NULL,
  UNIQUE (cell_id, numerics_id, kind)
) STRICT;

CREATE TABLE sweep_result (
  sweep_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  result_id INTEGER NOT NULL REFERENCES result,
  PRIMARY KEY (sweep_id, position, kind),
  FOREIGN KEY (sweep_id, position) REFERENCES sweep_cell
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt (
  attempt_id INTEGER PRIMARY KEY,
  result_id INTEGER NOT NULL REFERENCES result,
  environment_id TEXT NOT NULL REFERENCES environment,
  state TEXT NOT NULL,
  failure_kind TEXT NOT NULL,
  failure_text TEXT NOT NULL,
  worker TEXT NOT NULL,
  log_path TEXT NOT NULL,
  pid INTEGER NOT NULL,
  process_start INTEGER NOT NULL,
  boot_id TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT
) STRICT;
CREATE INDEX attempt_by_result ON attempt (result_id);
CREATE INDEX attempt_running ON attempt (attempt_id) WHERE state = 'running';

CREATE TABLE output (
  result_id INTEGER NOT NULL REFERENCES result,
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  attempt_id INTEGER NOT NULL REFERENCES attempt,
  output_sha256 TEXT NOT NULL CHECK (length(output_sha256) = 64),
  text TEXT NOT NULL,
  finish TEXT NOT NULL,
  tokens_in INTEGER NOT NULL CHECK (tokens_in >= 0),
  tokens_out INTEGER NOT NULL CHECK (tokens_out >= 0),
  repaired_bytes INTEGER NOT NULL CHECK (repaired_bytes >= 0),
  truncation TEXT,
  prompt_sha256 TEXT CHECK (prompt_sha256 IS NULL OR length(prompt_sha256) = 64),
  extra TEXT NOT NULL,
  PRIMARY KEY (result_id, ordinal)
) STRICT;

-- Outputs that are nothing, or white space alone: few, and every table counts them. The characters
-- are those of is_python_space.
CREATE INDEX output_empty ON output (result_id, ordinal) WHERE trim(text,
  char(9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197,
       8198, 8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288)) = '';

-- An output that differs from the one in `output`: evidence of non-determinism.
CREATE TABLE output_conflict (
  conflict_id INTEGER PRIMARY KEY,
  result_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  attempt_id INTEGER NOT NULL REFERENCES attempt,
  output_sha256 TEXT NOT NULL CHECK (length(output_sha256) = 64),
  text TEXT NOT NULL,
  finish TEXT NOT NULL,
  tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  repaired_bytes INTEGER NOT NULL,
  truncation TEXT,
  prompt_sha256 TEXT,
  extra TEXT NOT NULL,
  found_at TEXT NOT NULL,
  UNIQUE (result_id, ordinal, output_sha256),
  FOREIGN KEY (result_id, ordinal) REFERENCES output
) STRICT;

-- Files that training made; `location` is relative to the store's folder.
CREATE TABLE artifact (
  result_id INTEGER NOT NULL REFERENCES result,
  role TEXT NOT NULL,
  attempt_id INTEGER NOT NULL REFERENCES attempt,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  location TEXT NOT NULL,
  PRIMARY KEY (result_id, role)
) STRICT, WITHOUT ROWID;

-- An artifact that differs from the one in `artifact`: evidence of non-determinism.
CREATE TABLE artifact_conflict (
  result_id INTEGER NOT NULL,
  role TEXT NOT NULL,
  attempt_id INTEGER NOT NULL REFERENCES attempt,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  found_at TEXT NOT NULL,
  PRIMARY KEY (result_id, role, sha256),
  FOREIGN KEY (result_id, role) REFERENCES artifact
) STRICT, WITHOUT ROWID;

CREATE TABLE training_point (
  result_id INTEGER NOT NULL REFERENCES result,
  step INTEGER NOT NULL CHECK (step >= 0),
  name TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (result_id, step, name)
) STRICT, WITHOUT ROWID;

-- Counts exceed what a REAL holds exactly, times are no counts.
CREATE TABLE training_cost (
  result_id INTEGER NOT NULL REFERENCES result,
  name TEXT NOT NULL,
  value ANY NOT NULL CHECK (typeof(value) IN ('integer', 'real') AND value >= 0),
  PRIMARY KEY (result_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE repetition (
  result_id INTEGER NOT NULL REFERENCES result,
  repetition INTEGER NOT NULL CHECK (repetition >= 0),
  attempt_id INTEGER NOT NULL REFERENCES attempt,
  PRIMARY KEY (result_id, repetition)
) STRICT, WITHOUT ROWID;

CREATE TABLE measurement (
  result_id INTEGER NOT NULL,
  repetition INTEGER NOT NULL,
  unit INTEGER NOT NULL CHECK (unit >= 0),
  phase TEXT NOT NULL,
  ns INTEGER NOT NULL CHECK (ns >= 0),
  tokens INTEGER NOT NULL CHECK (tokens >= 0),
  PRIMARY KEY (result_id, repetition, unit, phase),
  FOREIGN KEY (result_id, repetition) REFERENCES repetition
) STRICT, WITHOUT ROWID;

CREATE TABLE memory (
  result_id INTEGER NOT NULL,
  repetition INTEGER NOT NULL,
  kind TEXT NOT NULL,
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  PRIMARY KEY (result_id, repetition, kind),
  FOREIGN KEY (result_id, repetition) REFERENCES repetition
) STRICT, WITHOUT ROWID;

CREATE TABLE score_job (
  score_job_id INTEGER PRIMARY KEY,
  score_id TEXT NOT NULL UNIQUE CHECK (length(score_id) = 64),
  result_id INTEGER NOT NULL REFERENCES result,
  metric TEXT NOT NULL,
  signature TEXT NOT NULL,
  postprocess TEXT NOT NULL,
  columns TEXT NOT NULL,
  n INTEGER NOT NULL CHECK (n > 0),
  clusters INTEGER NOT NULL CHECK (clusters >= 0),
  interval_method TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX score_job_by_result ON score_job (result_id);

CREATE TABLE score (
  score_job_id INTEGER NOT NULL REFERENCES score_job,
  position INTEGER NOT NULL CHECK (position >= 0),
  name TEXT NOT NULL,
  value REAL NOT NULL,
  low REAL,
  high REAL,
  PRIMARY KEY (score_job_id, position),
  CHECK ((low IS NULL) = (high IS NULL))
) STRICT, WITHOUT ROWID;

-- Sufficient statistics of one example, a JSON list in the order of score_job.columns. Without a
-- processed text the output itself was scored.
CREATE TABLE statistic (
  score_job_id INTEGER NOT NULL REFERENCES score_job,
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  processed_sha256 TEXT REFERENCES text,
  "values" TEXT NOT NULL,
  PRIMARY KEY (score_job_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
  event_id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  attempt_id INTEGER REFERENCES attempt,
  level TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
