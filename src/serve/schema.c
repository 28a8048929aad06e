/* The tables. Written in the SQL that both databases understand; BYTEA is a blob, BIGINT an integer.
 * Numbers of rows (n) are random 63-bit ones, so that replicas never compete for a sequence. */
#include "serve/schema.h"

const sotto_migration sotto_serve_migrations[] = {
    {1,
     /* What was provisioned. `recipe` and `parties` are the very bytes given; all else follows from them.
      * `settings` holds what this operator decided for itself (its population figure). */
     "CREATE TABLE task (n BIGINT PRIMARY KEY, id BYTEA NOT NULL UNIQUE, role BIGINT NOT NULL,"
     " recipe BYTEA NOT NULL, parties BYTEA NOT NULL, cohort BIGINT NOT NULL,"
     " population BIGINT, added BIGINT NOT NULL);"
     /* Secrets shared with a peer, sealed; named by the fingerprint that people read to each other. */
     "CREATE TABLE pairing (fingerprint TEXT PRIMARY KEY, peer TEXT NOT NULL, secrets BYTEA NOT NULL,"
     " added BIGINT NOT NULL);"
     "CREATE TABLE hpke_key (config_id BIGINT PRIMARY KEY, state BIGINT NOT NULL,"
     " secret BYTEA NOT NULL, since BIGINT NOT NULL);"
     /* Report ids that were taken: by the leader at upload, by the helper at commitment. */
     "CREATE TABLE mark (task BIGINT NOT NULL, report BYTEA NOT NULL, bucket BIGINT NOT NULL,"
     " PRIMARY KEY (task, report));"
     /* Leader: reports that wait for their job, or belong to one that is under way. */
     "CREATE TABLE segment (n BIGINT PRIMARY KEY, task BIGINT NOT NULL, bucket BIGINT NOT NULL,"
     " reports BIGINT NOT NULL, skip BYTEA NOT NULL, body BYTEA NOT NULL, job BIGINT,"
     " added BIGINT NOT NULL);"
     "CREATE INDEX segment_waiting ON segment (task, bucket, job);"
     "CREATE TABLE segment_key (segment BIGINT PRIMARY KEY, secret BYTEA NOT NULL);"
     /* Aggregation jobs. Leader: state, the request's bytes, a lease. Helper: the answer's bytes. */
     "CREATE TABLE job (n BIGINT PRIMARY KEY, task BIGINT NOT NULL, id BYTEA NOT NULL,"
     " state BIGINT NOT NULL, bucket BIGINT NOT NULL, batch BYTEA NOT NULL, request BYTEA,"
     " answer BYTEA, reports BIGINT NOT NULL, attempts BIGINT NOT NULL, fence BIGINT NOT NULL,"
     " lease_until BIGINT NOT NULL, added BIGINT NOT NULL, UNIQUE (task, id));"
     "CREATE INDEX job_open ON job (state, lease_until);"
     /* What a job added to a batch: kept apart until collection, so that no row is hot. `batch` is the bucket's
      * time in eight bytes, or the id of a leader-selected batch. */
     "CREATE TABLE sub_aggregate (task BIGINT NOT NULL, batch BYTEA NOT NULL, job BIGINT NOT NULL,"
     " reports BIGINT NOT NULL, checksum BYTEA NOT NULL, first_bucket BIGINT NOT NULL,"
     " last_bucket BIGINT NOT NULL, share BYTEA NOT NULL, PRIMARY KEY (task, batch, job));"
     /* Leader-selected batches. state 0 open, 1 full or taken by a collection. */
     "CREATE TABLE batch (task BIGINT NOT NULL, id BYTEA NOT NULL, state BIGINT NOT NULL,"
     " added BIGINT NOT NULL, PRIMARY KEY (task, id));"
     /* Leader: collection jobs. Helper: aggregate shares. A row whose state is at least closed covers the buckets
      * from first_bucket up to end_bucket, or the batch; no two of them may share one. */
     "CREATE TABLE release (n BIGINT PRIMARY KEY, task BIGINT NOT NULL, id BYTEA NOT NULL,"
     " state BIGINT NOT NULL, first_bucket BIGINT NOT NULL, end_bucket BIGINT NOT NULL,"
     " batch BYTEA NOT NULL, query BYTEA NOT NULL, request BYTEA, answer BYTEA, problem TEXT,"
     " reports BIGINT NOT NULL, attempts BIGINT NOT NULL, fence BIGINT NOT NULL,"
     " lease_until BIGINT NOT NULL, added BIGINT NOT NULL, UNIQUE (task, id));"
     "CREATE INDEX release_covers ON release (task, state, first_bucket);"
     /* Reports refused, by cause, on the side that found it; `shard` keeps replicas apart. */
     "CREATE TABLE rejection (task BIGINT NOT NULL, batch BYTEA NOT NULL, cause BIGINT NOT NULL,"
     " shard BIGINT NOT NULL, reports BIGINT NOT NULL, PRIMARY KEY (task, batch, cause, shard));"},
};

const size_t sotto_serve_migration_count =
    sizeof sotto_serve_migrations / sizeof sotto_serve_migrations[0];
