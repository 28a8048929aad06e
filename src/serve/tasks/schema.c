/* The tables. Written in the SQL that both databases understand; see db/sql.h for the words in braces.
 * Numbers of rows (n) are random 63-bit ones, so that replicas never compete for a sequence. */
#include "serve/tasks/schema.h"

#include "db/lease.h"

const sotto_migration sotto_serve_migrations[SOTTO_SERVE_MIGRATIONS] = {
    {1, SOTTO_LEASE_SCHEMA
     /* What was provisioned. `recipe` and `parties` are the very bytes given; all else follows from them. Of a task that
      * came without a recipe (sotto_tasks_add_bare), `recipe` is empty and `parties` is the encoded bare task instead.
      * `population` is what this operator stated. */
     "CREATE TABLE task (n {int} PRIMARY KEY, id {bytes} NOT NULL UNIQUE, role {int} NOT NULL,"
     " recipe {bytes} NOT NULL, parties {bytes} NOT NULL, cohort {int} NOT NULL,"
     " population {int}, added {int} NOT NULL);"
     /* Secrets shared with a peer, sealed; named by the fingerprint that people read to each other. */
     "CREATE TABLE pairing (fingerprint TEXT PRIMARY KEY, peer TEXT NOT NULL, secrets {bytes} NOT "
     "NULL,"
     " added {int} NOT NULL);"
     "CREATE TABLE hpke_key (config_id {int} PRIMARY KEY, state {int} NOT NULL,"
     " secret {bytes} NOT NULL, since {int} NOT NULL);"
     /* Report ids that were taken: by the leader at upload, by the helper at commitment. */
     "CREATE TABLE mark (task {int} NOT NULL, report {bytes} NOT NULL, bucket {int} NOT NULL,"
     " PRIMARY KEY (task, report)) {keyed};"
     /* Leader: reports that wait for their job, or belong to one that is under way. `owner` is the process that
      * has it in its lanes. Bodies stand apart: SQLite writes a row anew when one column of it changes. */
     "CREATE TABLE segment (n {int} PRIMARY KEY, task {int} NOT NULL, bucket {int} NOT NULL,"
     " reports {int} NOT NULL, skip {bytes} NOT NULL, job {int},"
     " owner {int} NOT NULL, added {int} NOT NULL);"
     "CREATE INDEX segment_waiting ON segment (task, bucket, job);"
     "CREATE INDEX segment_job ON segment (job);"
     /* `body` is the sealed reports; or, where a file beside SQLite's keeps those (db/spool.h), the 16 bytes that say at
      * which place of it they are. */
     "CREATE TABLE segment_body (segment {int} PRIMARY KEY, body {bytes} NOT NULL);"
     /* What is sealed can't be compressed, and trying takes longer than all else PostgreSQL does for it. */
     "{only_postgres} ALTER TABLE segment_body ALTER COLUMN body SET STORAGE EXTERNAL;\n"
     "CREATE TABLE segment_key (segment {int} PRIMARY KEY, secret {bytes} NOT NULL);"
     /* Aggregation jobs. `request`: on the leader the request, sealed, until it is done. On the helper a hash of the
      * request's bytes, to tell a repetition from another request under the same id. `answer`: the helper's, as sent. */
     "CREATE TABLE job (n {int} PRIMARY KEY, task {int} NOT NULL, id {bytes} NOT NULL,"
     " state {int} NOT NULL, bucket {int} NOT NULL, batch {bytes} NOT NULL, request {bytes},"
     " answer {bytes}, reports {int} NOT NULL, added {int} NOT NULL, UNIQUE (task, id));"
     "{only_postgres} ALTER TABLE job ALTER COLUMN request SET STORAGE EXTERNAL;\n"
     "{only_postgres} ALTER TABLE job ALTER COLUMN answer SET STORAGE EXTERNAL;\n"
     "CREATE INDEX job_open ON job (task, state, bucket);"
     /* What a job added to a batch: kept apart until collection, so that no row is hot. `batch` is the bucket's
      * time in eight bytes, or the id of a leader-selected batch. */
     "CREATE TABLE sub_aggregate (task {int} NOT NULL, batch {bytes} NOT NULL, job {int} NOT NULL,"
     " reports {int} NOT NULL, checksum {bytes} NOT NULL, first_bucket {int} NOT NULL,"
     " last_bucket {int} NOT NULL, share {bytes} NOT NULL, PRIMARY KEY (task, batch, job));"
     /* Leader-selected batches. state 0 open, 1 full or taken by a collection. */
     "CREATE TABLE batch (task {int} NOT NULL, id {bytes} NOT NULL, state {int} NOT NULL,"
     " added {int} NOT NULL, PRIMARY KEY (task, id));"
     /* Leader: collection jobs. Helper: aggregate shares. A row whose state is at least closed covers the buckets
      * from first_bucket up to end_bucket, or the batch; no two such rows may overlap. */
     "CREATE TABLE release (n {int} PRIMARY KEY, task {int} NOT NULL, id {bytes} NOT NULL,"
     " state {int} NOT NULL, first_bucket {int} NOT NULL, end_bucket {int} NOT NULL,"
     " batch {bytes} NOT NULL, query {bytes} NOT NULL, request {bytes}, answer {bytes}, problem "
     "TEXT,"
     " reports {int} NOT NULL, added {int} NOT NULL, UNIQUE (task, id));"
     "CREATE INDEX release_covers ON release (task, state, first_bucket);"
     /* Reports rejected, by cause, on the side that found it; `shard` keeps replicas apart. */
     "CREATE TABLE rejection (task {int} NOT NULL, batch {bytes} NOT NULL, cause {int} NOT NULL,"
     " shard {int} NOT NULL, reports {int} NOT NULL, PRIMARY KEY (task, batch, cause, shard));"},
    {2,
     /* Batches with more reports than this operator's population explains; released only with a reason. */
     "CREATE TABLE held (task {int} NOT NULL, first_bucket {int} NOT NULL, end_bucket {int} NOT "
     "NULL,"
     " batch {bytes} NOT NULL, arrived {int} NOT NULL, expected {int} NOT NULL, reason TEXT,"
     " since {int} NOT NULL, released {int}, PRIMARY KEY (task, first_bucket, end_bucket, batch))"},
    /* Tasks that closed long ago and were cleared away: never served again, so what was cleared is not needed. */
    {3, "CREATE TABLE retired (task {int} PRIMARY KEY, since {int} NOT NULL);"},
    /* Jobs and releases are asked for by their batch too. Each collection of a batch that the leader selects looks at
     * every batch of its task. Without this index it would read every job and release of the task for each of them. */
    {4, "CREATE INDEX job_batch ON job (task, batch, state);"
        "CREATE INDEX release_batch ON release (task, batch, state);"},
    {5,
     /* Leader: this collection has enough reports and waits for the last of them; its buckets take no more uploads. */
     "ALTER TABLE release ADD COLUMN shut {int} NOT NULL DEFAULT 0;"
     /* What was rejected by then, as the collector is told it; fixed in the transaction that fixes the sum. */
     "ALTER TABLE release ADD COLUMN rejections {bytes};"
     /* Leader: how often this collection was repaired. */
     "ALTER TABLE release ADD COLUMN repairs {int} NOT NULL DEFAULT 0;"
     /* Helper: repairs that dropped something, by a hash of their request; it has one answer for ever. */
     "CREATE TABLE repair (task {int} NOT NULL, id {bytes} NOT NULL, answer {bytes} NOT NULL,"
     " reports {int} NOT NULL, added {int} NOT NULL, PRIMARY KEY (task, id));"
     /* Dropping looks for all that a job added. */
     "CREATE INDEX sub_aggregate_job ON sub_aggregate (task, job);"},
    /* Leader: how often the helper refused this very request. `attempts` counts failures by an outage,
     * too. */
    {6, "ALTER TABLE job ADD COLUMN refusals {int} NOT NULL DEFAULT 0;"},
    {7,
     /* Leader: why it could not be read, at the last attempt; and what its operator abandoned of that, with a
      * reason. */
     "ALTER TABLE segment ADD COLUMN unreadable TEXT;"
     "CREATE INDEX segment_unreadable ON segment (n) WHERE unreadable IS NOT NULL;"
     "CREATE TABLE abandoned (segment {int} PRIMARY KEY, task {int} NOT NULL, bucket {int} NOT "
     "NULL,"
     " reports {int} NOT NULL, sent {int} NOT NULL, why TEXT NOT NULL, reason TEXT NOT NULL,"
     " since {int} NOT NULL);"},
    /* Which role's database this is: the role of its tasks, or of the first server that opened it since this table
     * exists. */
    {8, "CREATE TABLE owner (one {int} PRIMARY KEY, role {int} NOT NULL, CHECK (one = 1));"
        "INSERT INTO owner (one, role) SELECT 1, t.least FROM"
        " (SELECT min(role) AS least, max(role) AS most FROM task) AS t WHERE t.least = t.most;"},
    /* Leader: reports rejected at upload that `rejection` counts already (serve/leader/rejected_ids.h). */
    {9,
     "CREATE TABLE refused (task {int} NOT NULL, report {bytes} NOT NULL, cause {int} NOT NULL,"
     " PRIMARY KEY (task, report, cause)) {keyed};"
     /* Whether what single jobs added to it is erased (serve/tasks/erase.h); 3 is SOTTO_RELEASE_DONE. */
     "ALTER TABLE release ADD COLUMN erased {int} NOT NULL DEFAULT 0;"
     "CREATE INDEX release_unerased ON release (n) WHERE erased = 0 AND state >= 3;"},
    /* Configurations of HPKE keys that were deleted: tasks that name them still belong to this server. */
    {10, "CREATE TABLE hpke_former (config {bytes} PRIMARY KEY, since {int} NOT NULL);"},
    {11,
     /* When devices may seal to a key, and before which time no other comes into use; 0: made by an earlier version, and
      * dated by its state. These stay as they were exported, whatever the options say later. */
     "ALTER TABLE hpke_key ADD COLUMN use_from {int} NOT NULL DEFAULT 0;"
     "ALTER TABLE hpke_key ADD COLUMN use_until {int} NOT NULL DEFAULT 0;"
     "ALTER TABLE hpke_key ADD COLUMN use_next {int} NOT NULL DEFAULT 0;"
     /* Whether the parties file of a task that was added names it. */
     "ALTER TABLE hpke_key ADD COLUMN named {int} NOT NULL DEFAULT 0;"
     /* Parties files go on naming a key that ended while a task runs. */
     "ALTER TABLE hpke_former ADD COLUMN use_from {int} NOT NULL DEFAULT 0;"
     "ALTER TABLE hpke_former ADD COLUMN use_until {int} NOT NULL DEFAULT 0;"
     "ALTER TABLE hpke_former ADD COLUMN use_next {int} NOT NULL DEFAULT 0;"},
    {12,
     /* Under which keys of an issuer the reports of a task are admitted; n is of the key itself, so that tasks share it. And what
      * was spent of each key, whatever the task. */
     "CREATE TABLE token_key (task {int} NOT NULL, n {int} NOT NULL, issuer TEXT NOT NULL,"
     " spki {bytes} NOT NULL, opens {int} NOT NULL, closes {int} NOT NULL, PRIMARY KEY (task, n));"
     "CREATE TABLE spent (token_key {int} NOT NULL, nonce {bytes} NOT NULL,"
     " task {int} NOT NULL, report {bytes} NOT NULL, PRIMARY KEY (token_key, nonce)) {keyed};"},
    {13,
     /* One share for many jobs of a batch (serve/tasks/folds.h). `planned`: reports of all jobs that the leader put into it,
      * under way or not; `reports`: those that its share has. */
     "CREATE TABLE fold (task {int} NOT NULL, batch {bytes} NOT NULL, n {int} NOT NULL,"
     " shard {int} NOT NULL, planned {int} NOT NULL, reports {int} NOT NULL,"
     " share {bytes} NOT NULL, PRIMARY KEY (task, batch, n));"
     "{only_postgres} ALTER TABLE fold ALTER COLUMN share SET STORAGE EXTERNAL;\n"
     /* Which fold has the job's share; 0: none, it has its own. */
     "ALTER TABLE sub_aggregate ADD COLUMN fold {int} NOT NULL DEFAULT 0;"
     "ALTER TABLE job ADD COLUMN fold {int} NOT NULL DEFAULT 0;"},
    /* This server's own keys of ARC (serve/tasks/arc_keys.h). A task's row in token_key has the number of its key. */
    {14, "CREATE TABLE arc_key (n {int} PRIMARY KEY, id {bytes} NOT NULL UNIQUE,"
         " opens {int} NOT NULL UNIQUE, closes {int} NOT NULL, public_key {bytes} NOT NULL,"
         " secret {bytes} NOT NULL, attester {bytes} NOT NULL);"},
    /* Noise that is correlated over rounds (serve/tasks/round_noise.h): the seed of each round's own, sealed, of a recipe by its hash;
     * empty once nothing needs it. The row stays: a round is released once. */
    {15, "CREATE TABLE round_noise (recipe {bytes} NOT NULL, round {int} NOT NULL,"
         " task {int} NOT NULL, seed {bytes} NOT NULL, PRIMARY KEY (recipe, round));"},
};
