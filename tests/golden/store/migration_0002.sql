
CREATE TABLE output_2 (
  result_id INTEGER NOT NULL REFERENCES result,
  ordinal INTEGER NOT NULL CHECK (ordinal >= 0),
  attempt_id INTEGER NOT NULL REFERENCES attempt,
  output_sha256 TEXT NOT NULL CHECK (length(output_sha256) = 64),
  text TEXT NOT NULL,
  finish TEXT NOT NULL CHECK (finish IN ('stop', 'length', 'overlength', 'reasoning',
    'filtered')),
  tokens_in INTEGER NOT NULL CHECK (tokens_in >= 0),
  tokens_out INTEGER NOT NULL CHECK (tokens_out >= 0),
  repaired_bytes INTEGER NOT NULL CHECK (repaired_bytes >= 0),
  truncation TEXT,
  prompt_sha256 TEXT CHECK (prompt_sha256 IS NULL OR length(prompt_sha256) = 64),
  extra TEXT NOT NULL,
  PRIMARY KEY (result_id, ordinal)
) STRICT;
INSERT INTO output_2 SELECT * FROM output;

CREATE TABLE output_conflict_2 (
  conflict_id INTEGER PRIMARY KEY,
  result_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  attempt_id INTEGER NOT NULL REFERENCES attempt,
  output_sha256 TEXT NOT NULL CHECK (length(output_sha256) = 64),
  text TEXT NOT NULL,
  finish TEXT NOT NULL CHECK (finish IN ('stop', 'length', 'overlength', 'reasoning',
    'filtered')),
  tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  repaired_bytes INTEGER NOT NULL,
  truncation TEXT,
  prompt_sha256 TEXT,
  extra TEXT NOT NULL,
  found_at TEXT NOT NULL,
  UNIQUE (result_id, ordinal, output_sha256),
  FOREIGN KEY (result_id, ordinal) REFERENCES output_2
) STRICT;
INSERT INTO output_conflict_2 SELECT * FROM output_conflict;

DROP TABLE output_conflict;
DROP TABLE output;
ALTER TABLE output_2 RENAME TO output;
ALTER TABLE output_conflict_2 RENAME TO output_conflict;
