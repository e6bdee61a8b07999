-- Everything that Heddle remembers. Times are ms since 1970 UTC, 0 = never; amounts of GPU are
-- thousandths of a device; ids are whole numbers, 0 = none. Enums are the numbers of core/model.

-- One row: who writes now and how far the counters have come.
CREATE TABLE head (
  one            INTEGER PRIMARY KEY CHECK (one = 1),
  epoch          INTEGER NOT NULL CHECK (epoch >= 0),
  batch          INTEGER NOT NULL CHECK (batch >= 0),
  last_id        INTEGER NOT NULL CHECK (last_id >= 0),
  last_team_slot INTEGER NOT NULL CHECK (last_team_slot >= 0),
  last_feed_seq  INTEGER NOT NULL CHECK (last_feed_seq >= 0),
  last_audit_seq INTEGER NOT NULL CHECK (last_audit_seq >= 0),
  clock_set      INTEGER NOT NULL CHECK (clock_set IN (0, 1)),
  clock_now      INTEGER NOT NULL,
  clock_boot_ms  INTEGER NOT NULL,
  clock_boot_id  TEXT NOT NULL
) STRICT;
INSERT INTO head VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, '');

-- The last batch of each writer that came before.
CREATE TABLE past_epochs (
  epoch INTEGER PRIMARY KEY,
  batch INTEGER NOT NULL
) STRICT;

CREATE TABLE teams (
  id         INTEGER PRIMARY KEY CHECK (id > 0),
  parent     INTEGER NOT NULL CHECK (parent >= 0),
  name       TEXT NOT NULL CHECK (name <> ''),
  display    TEXT NOT NULL,
  slot       INTEGER NOT NULL UNIQUE CHECK (slot >= 1),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version    INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE TABLE users (
  id         INTEGER PRIMARY KEY CHECK (id > 0),
  name       TEXT NOT NULL CHECK (name <> ''),
  admin      INTEGER NOT NULL CHECK (admin IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version    INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE TABLE members (
  team  INTEGER NOT NULL CHECK (team > 0),
  user  INTEGER NOT NULL CHECK (user > 0),
  role  INTEGER NOT NULL CHECK (role BETWEEN 0 AND 2),
  since INTEGER NOT NULL,
  PRIMARY KEY (team, user)
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
  id         INTEGER PRIMARY KEY CHECK (id > 0),
  user       INTEGER NOT NULL CHECK (user > 0),
  name       TEXT NOT NULL,
  hash       BLOB NOT NULL CHECK (length(hash) = 32),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sites (
  id                   INTEGER PRIMARY KEY CHECK (id > 0),
  name                 TEXT NOT NULL,
  engine               TEXT NOT NULL,
  isolates_jobs        INTEGER NOT NULL CHECK (isolates_jobs IN (0, 1)),
  fences_device_memory INTEGER NOT NULL CHECK (fences_device_memory IN (0, 1)),
  places_device        INTEGER NOT NULL CHECK (places_device IN (0, 1)),
  limits_memory        INTEGER NOT NULL CHECK (limits_memory IN (0, 1)),
  limits_processes     INTEGER NOT NULL CHECK (limits_processes IN (0, 1)),
  wipes_devices        INTEGER NOT NULL CHECK (wipes_devices IN (0, 1)),
  notes                TEXT NOT NULL,
  created_at           INTEGER NOT NULL,
  updated_at           INTEGER NOT NULL,
  version              INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE TABLE pools (
  id                       INTEGER PRIMARY KEY CHECK (id > 0),
  site                     INTEGER NOT NULL CHECK (site > 0),
  name                     TEXT NOT NULL,
  device_model             TEXT NOT NULL,
  device_memory_bytes      INTEGER NOT NULL CHECK (device_memory_bytes >= 0),
  micros_per_gpu_hour      INTEGER NOT NULL CHECK (micros_per_gpu_hour >= 0),
  created_at               INTEGER NOT NULL,
  updated_at               INTEGER NOT NULL,
  version                  INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE TABLE nodes (
  id           INTEGER PRIMARY KEY CHECK (id > 0),
  site         INTEGER NOT NULL CHECK (site > 0),
  pool         INTEGER NOT NULL CHECK (pool > 0),
  name         TEXT NOT NULL,
  state        INTEGER NOT NULL CHECK (state BETWEEN 0 AND 2),
  simulated    INTEGER NOT NULL CHECK (simulated IN (0, 1)),
  cpu_milli    INTEGER NOT NULL CHECK (cpu_milli >= 0),
  memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  version      INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE TABLE devices (
  node         INTEGER NOT NULL CHECK (node > 0),
  id           INTEGER NOT NULL CHECK (id > 0),
  uuid         TEXT NOT NULL,
  memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
  health       INTEGER NOT NULL CHECK (health BETWEEN 0 AND 1),
  PRIMARY KEY (node, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE shares (
  team            INTEGER NOT NULL CHECK (team > 0),
  pool            INTEGER NOT NULL CHECK (pool > 0),
  guarantee_milli INTEGER NOT NULL CHECK (guarantee_milli BETWEEN 0 AND 1000000000),
  limit_milli     INTEGER NOT NULL CHECK (limit_milli BETWEEN 0 AND 1000000000),
  weight          INTEGER NOT NULL CHECK (weight BETWEEN 1 AND 1000000),
  rank            INTEGER NOT NULL CHECK (rank BETWEEN -1000000 AND 1000000),
  version         INTEGER NOT NULL CHECK (version >= 1),
  PRIMARY KEY (team, pool)
) STRICT, WITHOUT ROWID;

-- What changes of a workload, live and ended; states from 4 on are ended. What was asked never
-- changes and lies in workload_specs, so a change of state does not write it again.
CREATE TABLE workloads (
  id                   INTEGER PRIMARY KEY CHECK (id > 0),
  team                 INTEGER NOT NULL CHECK (team > 0),
  owner                INTEGER NOT NULL CHECK (owner >= 0),
  name                 TEXT NOT NULL,
  state                INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
  attempt              INTEGER NOT NULL CHECK (attempt >= 0),
  failures             INTEGER NOT NULL CHECK (failures >= 0),
  losses               INTEGER NOT NULL CHECK (losses >= 0),
  released             INTEGER NOT NULL CHECK (released >= 0),
  pool                 INTEGER NOT NULL CHECK (pool >= 0),
  cancel_requested     INTEGER NOT NULL CHECK (cancel_requested IN (0, 1)),
  cancelled_by         INTEGER NOT NULL CHECK (cancelled_by >= 0),
  submitted_at         INTEGER NOT NULL,
  waiting_since        INTEGER NOT NULL,
  starting_since       INTEGER NOT NULL,
  running_since        INTEGER NOT NULL,
  stopping_since       INTEGER NOT NULL,
  ended_at             INTEGER NOT NULL,
  end_cause            INTEGER NOT NULL CHECK (end_cause BETWEEN 0 AND 9),
  end_exit_code        INTEGER NOT NULL,
  end_signal           INTEGER NOT NULL,
  end_message          TEXT NOT NULL,
  charged_gpu_milli_ms INTEGER NOT NULL CHECK (charged_gpu_milli_ms >= 0),
  lease_gpu_milli_ms   INTEGER NOT NULL CHECK (lease_gpu_milli_ms >= 0),
  cpu_ms               INTEGER NOT NULL CHECK (cpu_ms >= 0),
  peak_memory_bytes    INTEGER NOT NULL CHECK (peak_memory_bytes >= 0),
  waited_ms            INTEGER NOT NULL CHECK (waited_ms >= 0),
  starting_ms          INTEGER NOT NULL CHECK (starting_ms >= 0),
  ran_ms               INTEGER NOT NULL CHECK (ran_ms >= 0),
  releasing_ms         INTEGER NOT NULL CHECK (releasing_ms >= 0),
  version              INTEGER NOT NULL CHECK (version >= 1)
) STRICT;
-- A restart reads the live ones only, however many have ended.
CREATE INDEX workloads_live ON workloads (id) WHERE state < 4;
-- Pages of ended ones, newest first, with and without a name.
CREATE INDEX workloads_ended ON workloads (team, state, id) WHERE state >= 4;
CREATE INDEX workloads_ended_named ON workloads (team, name, state, id) WHERE state >= 4;
-- What retention deletes next.
CREATE INDEX workloads_ended_at ON workloads (ended_at) WHERE state >= 4;

CREATE TABLE workload_specs (
  workload INTEGER PRIMARY KEY CHECK (workload > 0),
  spec     TEXT NOT NULL
) STRICT;

-- A workload whole, in the order in which the program reads it.
CREATE VIEW workload_rows AS
  SELECT w.id, w.team, w.owner, w.state, w.attempt, w.failures, w.losses, w.released, w.pool,
         w.cancel_requested, w.cancelled_by,
         w.submitted_at, w.waiting_since, w.starting_since, w.running_since, w.stopping_since,
         w.ended_at, w.end_cause, w.end_exit_code, w.end_signal, w.end_message,
         w.charged_gpu_milli_ms, w.lease_gpu_milli_ms, w.cpu_ms, w.peak_memory_bytes, w.waited_ms,
         w.starting_ms, w.ran_ms, w.releasing_ms, w.version, s.spec
  FROM workloads w JOIN workload_specs s ON s.workload = w.id;

-- The ledger, live and released (state 5).
CREATE TABLE allocations (
  id                INTEGER PRIMARY KEY CHECK (id > 0),
  workload          INTEGER NOT NULL CHECK (workload > 0),
  team              INTEGER NOT NULL CHECK (team > 0),
  pool              INTEGER NOT NULL CHECK (pool > 0),
  node              INTEGER NOT NULL CHECK (node > 0),
  replica           INTEGER NOT NULL CHECK (replica >= 0),
  attempt           INTEGER NOT NULL CHECK (attempt >= 0),
  epoch             INTEGER NOT NULL CHECK (epoch >= 0),
  state             INTEGER NOT NULL CHECK (state BETWEEN 0 AND 6),
  gpu_milli         INTEGER NOT NULL CHECK (gpu_milli >= 0),
  cpu_milli         INTEGER NOT NULL CHECK (cpu_milli >= 0),
  memory_bytes      INTEGER NOT NULL CHECK (memory_bytes >= 0),
  recorded_at       INTEGER NOT NULL,
  running_at        INTEGER NOT NULL,
  ended_at          INTEGER NOT NULL,
  released_at       INTEGER NOT NULL,
  deadline          INTEGER NOT NULL,
  stop_requested    INTEGER NOT NULL CHECK (stop_requested IN (0, 1)),
  stop_cause        INTEGER NOT NULL CHECK (stop_cause BETWEEN 0 AND 9),
  end_cause         INTEGER NOT NULL CHECK (end_cause BETWEEN 0 AND 9),
  end_exit_code     INTEGER NOT NULL,
  end_signal        INTEGER NOT NULL,
  end_message       TEXT NOT NULL,
  cpu_ms            INTEGER NOT NULL CHECK (cpu_ms >= 0),
  peak_memory_bytes INTEGER NOT NULL CHECK (peak_memory_bytes >= 0)
) STRICT;
CREATE INDEX allocations_live ON allocations (id) WHERE state <> 5;
CREATE INDEX allocations_of_workload ON allocations (workload, id);

-- What an allocation holds; written once with it.
CREATE TABLE leases (
  allocation   INTEGER NOT NULL CHECK (allocation > 0),
  device       INTEGER NOT NULL CHECK (device > 0),
  amount_milli INTEGER NOT NULL CHECK (amount_milli BETWEEN 1 AND 1000),
  PRIMARY KEY (allocation, device)
) STRICT, WITHOUT ROWID;

CREATE TABLE feed (
  seq          INTEGER PRIMARY KEY CHECK (seq >= 1),
  at           INTEGER NOT NULL,
  team         INTEGER NOT NULL CHECK (team >= 0),
  subject_kind INTEGER NOT NULL CHECK (subject_kind BETWEEN 0 AND 9),
  subject      INTEGER NOT NULL,
  what         TEXT NOT NULL,
  note         TEXT NOT NULL
) STRICT;

CREATE TABLE audit (
  seq          INTEGER PRIMARY KEY CHECK (seq >= 1),
  at           INTEGER NOT NULL,
  who          INTEGER NOT NULL CHECK (who >= 0),
  action       TEXT NOT NULL,
  subject_kind INTEGER NOT NULL CHECK (subject_kind BETWEEN 0 AND 9),
  subject      INTEGER NOT NULL,
  team         INTEGER NOT NULL CHECK (team >= 0),
  result       TEXT NOT NULL,
  request_id   TEXT NOT NULL
) STRICT;

CREATE TABLE blobs (
  sha256_hex TEXT PRIMARY KEY,
  bytes      BLOB NOT NULL
) STRICT;

-- Which workloads need which blob; a blob goes with the last of them.
CREATE TABLE blob_uses (
  workload   INTEGER NOT NULL CHECK (workload > 0),
  sha256_hex TEXT NOT NULL,
  PRIMARY KEY (workload, sha256_hex)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses_of_blob ON blob_uses (sha256_hex);

CREATE TABLE idempotency (
  user            INTEGER NOT NULL CHECK (user >= 0),
  route           TEXT NOT NULL,
  key             TEXT NOT NULL,
  body_sha256_hex TEXT NOT NULL,
  subject         INTEGER NOT NULL,
  at              INTEGER NOT NULL,
  PRIMARY KEY (user, route, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_at ON idempotency (at);
