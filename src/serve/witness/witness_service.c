#include "serve/witness/witness_service.h"

#include "aggregate/board_origin.h"
#include "aggregate/keygen/meeting.h"
#include "base/alloc.h"
#include "base/hex.h"
#include "base/log.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "db/store.h"
#include "serve/host/database_owner.h"
#include "serve/host/health.h"
#include "serve/host/host.h"
#include "serve/host/host_metrics.h"
#include "serve/host/request_work.h"
#include "serve/host/router.h"
#include "serve/witness/beacon_duty.h"
#include "serve/witness/forks.h"
#include "serve/witness/held.h"
#include "serve/witness/held_round.h"
#include "tlog/key_file.h"
#include "tlog/witness.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    STORED_NOTE = SOTTO_NOTE_TEXT_MAX + 8 * SOTTO_NOTE_LINE_MAX,
    ORIGIN_HEX = 65,
    WITHHELD = 428 /* the status of an answer with demands */
};

typedef struct witness {
    sotto_host *host;
    sotto_signer_file key;
    sotto_key_file logs;
    char origins[SOTTO_KEY_FILE_KEYS][ORIGIN_HEX]; /* SHA-256 of each log's origin */
    sotto_beacon_duty beacon;
    sotto_held held;
    sotto_last_seen *forks;
    atomic_uint_fast64_t cosigned, refused;
} witness;

/* ---- add-checkpoint -------------------------------------------------------------------------------------------------- */

typedef struct submission {
    witness *w;
    sotto_http_request *request;
    const sotto_note_key *log;
    sotto_note_key board;          /* log, where it is about a board */
    uint8_t round[SOTTO_ROUND_ID]; /* of the board */
    sotto_showing shown;
    sotto_witness_request asked;
    uint64_t time;
    sotto_witness_verdict verdict;
    uint64_t last; /* size */
    sotto_buf line, demands;
    uint8_t line_bytes[SOTTO_NOTE_LINE_MAX];
    uint8_t note_bytes[STORED_NOTE];
    uint8_t demand_bytes[SOTTO_DEMANDS_BYTES];
    sotto_db_job job;
} submission;

/* The text, the log's signature and the own cosignature are kept, for whoever asks for the last checkpoint. Other lines are not kept. A head
 * that is withheld is the last tree all the same: what it was shown to have, every later one has. */
static sotto_status store(sotto_tx *tx, submission *s, sotto_err *err)
{
    sotto_buf note = sotto_buf_over(s->note_bytes, sizeof s->note_bytes);
    sotto_writer w = sotto_writer_on(&note);
    sotto_bytes by_log;
    sotto_note parts;
    sotto_sql q;

    SOTTO_TRY(sotto_note_decode(&parts, s->asked.note, err));
    s->line.len = 0;
    if (s->verdict.http == 200)
        SOTTO_TRY(sotto_note_sign(&s->line, parts.text, &s->w->key.signer, s->time, err));
    if (!sotto_note_line_by(&by_log, &parts, s->log))
        return sotto_fail(err, SOTTO_REJECTED, "checkpoint: not signed by its log");
    sotto_write_bytes(&w, parts.text);
    sotto_write_format(&w, "\n");
    sotto_write_bytes(&w, by_log);
    sotto_write_bytes(&w, sotto_buf_bytes(&s->line));
    SOTTO_TRY(sotto_writer_finish(&w, "checkpoint", err));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q,
        "INSERT INTO witnessed (origin, size, root, note) VALUES (?1, ?2, ?3, ?4) ON CONFLICT "
        "(origin)"
        " DO UPDATE SET size = excluded.size, root = excluded.root, note = excluded.note",
        err));
    sotto_sql_bytes(&q, 1, s->log->name);
    sotto_sql_int(&q, 2, (int64_t)s->asked.checkpoint.size);
    sotto_sql_bytes(&q, 3, sotto_bytes_of(s->asked.checkpoint.root.bytes, SOTTO_MERKLE_HASH));
    sotto_sql_bytes(&q, 4, sotto_buf_bytes(&note));
    return sotto_sql_run(&q, NULL, err);
}

/* Devices know something of this round that the board must have: there is no cosignature before it is shown to. */
static sotto_status demand(sotto_tx *tx, submission *s, sotto_err *err)
{
    s->demands = sotto_buf_over(s->demand_bytes, sizeof s->demand_bytes);
    if (s->log != &s->board)
        return SOTTO_OK;
    SOTTO_TRY(sotto_held_demand(tx, s->round, &s->shown, s->asked.checkpoint.size,
                                &s->asked.checkpoint.root, &s->demands, err));
    if (SOTTO_RULE(witness_records_demanded) && s->demands.len > 0)
        s->verdict.http = WITHHELD;
    return SOTTO_OK;
}

/* In one transaction: what was cosigned last, the verdict, and what is cosigned now. */
static sotto_status decide(sotto_tx *tx, void *context, sotto_err *err)
{
    submission *s = context;
    sotto_checkpoint last = {.size = 0};
    sotto_bytes before = {0};
    sotto_err why = {0};
    bool row;
    sotto_sql q;

    /* A lock, since before the first checkpoint of a log there is no row to lock. */
    SOTTO_TRY(sotto_tx_guard(tx, SOTTO_WITNESS_GUARD, true, err));
    SOTTO_TRY(
        sotto_sql_prepare(tx, &q, "SELECT size, root, note FROM witnessed WHERE origin = ?1", err));
    sotto_sql_bytes(&q, 1, s->log->name);
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (row) {
        last.size = (uint64_t)sotto_sql_column_int(&q, 0);
        SOTTO_TRY(sotto_sql_column_fixed(&q, 1, last.root.bytes, SOTTO_MERKLE_HASH, err));
        before = sotto_sql_column_bytes(&q, 2);
    }
    s->last = last.size;
    s->verdict = sotto_witness_judge(&s->asked, s->log, &last, &why);
    if (s->verdict.http == 200) {
        SOTTO_TRY(demand(tx, s, err));
        return store(tx, s, err);
    }
    if (!s->verdict.fork)
        return SOTTO_OK;
    return sotto_forks_keep(tx, s->log->name, s->asked.checkpoint.size, s->asked.note, before, err);
}

static void answer(submission *s)
{
    const sotto_http_field size_type = {"Content-Type", "text/x.tlog.size"},
                           text_type = {"Content-Type", "text/plain; charset=utf-8"},
                           leaves_type = {"Content-Type", "application/octet-stream"};
    char size[24];
    int len = snprintf(size, sizeof size, "%" PRIu64 "\n", s->last);

    if (s->verdict.http == 200)
        sotto_http_answer(s->request,
                          &(sotto_http_reply){200, &text_type, 1, sotto_buf_bytes(&s->line)});
    else if (s->verdict.http == WITHHELD)
        sotto_http_answer(s->request, &(sotto_http_reply){WITHHELD, &leaves_type, 1,
                                                          sotto_buf_bytes(&s->demands)});
    else if (s->verdict.http == 409)
        sotto_http_answer(
            s->request, &(sotto_http_reply){409, &size_type, 1, sotto_bytes_of(size, (size_t)len)});
    else
        (void)sotto_http_refuse(s->request, &(sotto_http_problem){.status = s->verdict.http});
}

static void on_decided(void *context, sotto_status status, const sotto_err *err)
{
    submission *s = context;

    (void)err;
    if (status != SOTTO_OK) {
        (void)sotto_http_refuse(s->request, &(sotto_http_problem){.status = 503});
    } else {
        atomic_fetch_add(s->verdict.http == 200        ? &s->w->cosigned
                         : s->verdict.http == WITHHELD ? &s->w->held.withheld
                                                       : &s->w->refused,
                         1);
        if (s->verdict.fork)
            sotto_log(&s->w->host->options.log, SOTTO_LOG_ERROR, "witness.fork",
                      sotto_log_uint("size", s->asked.checkpoint.size));
        answer(s);
    }
    sotto_release(s, sizeof *s);
}

static const sotto_note_key *log_of(const witness *w, sotto_bytes origin)
{
    for (size_t i = 0; i < w->logs.count; i++)
        if (sotto_bytes_equal_vartime(w->logs.keys[i].name, origin))
            return &w->logs.keys[i];
    return NULL;
}

/* An aggregator that is listed as a log has a board for each round, under its own key (aggregate/board_origin.h). The name stays that of the
 * request. */
static const sotto_note_key *board_of(const witness *w, sotto_note_key *out,
                                      uint8_t round[SOTTO_ROUND_ID], sotto_bytes origin)
{
    uint8_t server[SOTTO_SIGN_PUBLIC];
    bool listed = false;

    if (!sotto_board_origin_read(server, round, origin))
        return NULL;
    for (size_t i = 0; i < w->logs.count; i++)
        listed = listed || memcmp(w->logs.keys[i].public_key, server, sizeof server) == 0;
    if (SOTTO_RULE(witness_boards_listed) && !listed)
        return NULL;
    return sotto_note_key_init(out, origin, SOTTO_NOTE_ED25519, server, NULL) == SOTTO_OK ? out
                                                                                          : NULL;
}

/* Whatever is not signed by its log costs one signature, and no transaction that others wait behind. */
static bool is_signed(const submission *s)
{
    sotto_note note;
    const bool is = sotto_note_decode(&note, s->asked.note, NULL) == SOTTO_OK &&
                    sotto_note_check(&note, s->log, NULL, NULL) == SOTTO_OK;

    if (SOTTO_RULE(witness_signature_first) && !is)
        return false;
    return true;
}

/* rest: a request of add-checkpoint; shown: nothing, or what the board is shown to have. */
static void begin(witness *w, sotto_http_request *request, const sotto_showing *shown,
                  sotto_bytes rest)
{
    submission *s = sotto_alloc(sizeof *s);

    if (!s) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 503});
        return;
    }
    s->w = w;
    s->request = request;
    s->shown = *shown;
    s->time = (uint64_t)sotto_host_seconds(w->host);
    s->line = sotto_buf_over(s->line_bytes, sizeof s->line_bytes);
    if (sotto_witness_request_decode(&s->asked, rest, NULL) != SOTTO_OK)
        s->verdict.http = 400;
    else if (!(s->log = log_of(w, s->asked.checkpoint.origin)) &&
             !(s->log = board_of(w, &s->board, s->round, s->asked.checkpoint.origin)))
        s->verdict.http = 404;
    else if (s->asked.note.len > STORED_NOTE - SOTTO_NOTE_LINE_MAX)
        s->verdict.http = 413;
    else if (!is_signed(s))
        s->verdict.http = 403;
    if (s->verdict.http) {
        atomic_fetch_add(&w->refused, 1);
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = s->verdict.http});
        sotto_release(s, sizeof *s);
        return;
    }
    s->job = (sotto_db_job){decide, s, on_decided, s, NULL, SOTTO_OK, {0}};
    sotto_db_post(w->host->db, &s->job);
}

static void add_checkpoint(void *state, const sotto_route *route, sotto_http_request *request)
{
    (void)route;
    begin(state, request, &(sotto_showing){.count = 0}, sotto_http_request_body(request));
}

/* The same of a board that has what was demanded of it. */
static void add_head(void *state, const sotto_route *route, sotto_http_request *request)
{
    sotto_showing shown;
    sotto_bytes rest;

    (void)route;
    if (sotto_showing_decode(&shown, &rest, sotto_http_request_body(request), NULL) != SOTTO_OK)
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 400});
    else
        begin(state, request, &shown, rest);
}

/* ---- records that boards must have (held.h) ------------------------------------------------------------------------------- */

static void hold(void *state, const sotto_route *route, sotto_http_request *request)
{
    witness *w = state;
    sotto_request_run *const *run = route->more;

    sotto_request_work(w->host->pool, *run, &w->held, request);
}

/* ---- the last checkpoint, and forks, for monitors ---------------------------------------------------------------------- */

typedef struct question {
    sotto_http_request *request;
    const sotto_note_key *log;
    bool found;
    sotto_buf note;
    uint8_t bytes[STORED_NOTE];
    sotto_db_job job;
} question;

static sotto_status look_up(sotto_tx *tx, void *context, sotto_err *err)
{
    question *asked = context;
    sotto_writer w;
    sotto_sql q;

    asked->note = sotto_buf_over(asked->bytes, sizeof asked->bytes);
    w = sotto_writer_on(&asked->note);
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT note FROM witnessed WHERE origin = ?1", err));
    sotto_sql_bytes(&q, 1, asked->log->name);
    SOTTO_TRY(sotto_sql_step(&q, &asked->found, err));
    if (asked->found)
        sotto_write_bytes(&w, sotto_sql_column_bytes(&q, 0));
    return sotto_writer_finish(&w, "checkpoint", err);
}

static void on_looked_up(void *context, sotto_status status, const sotto_err *err)
{
    static const sotto_http_field type = {"Content-Type", "text/plain; charset=utf-8"};
    question *asked = context;

    (void)err;
    if (status == SOTTO_OK && asked->found)
        sotto_http_answer(asked->request,
                          &(sotto_http_reply){200, &type, 1, sotto_buf_bytes(&asked->note)});
    else
        (void)sotto_http_refuse(asked->request,
                                &(sotto_http_problem){.status = status == SOTTO_OK ? 404 : 503});
    sotto_release(asked, sizeof *asked);
}

static void get_checkpoint(void *state, const sotto_route *route, sotto_http_request *request)
{
    witness *w = state;
    const sotto_bytes wanted = sotto_route_segment(w->host, request, 0);
    question *asked = sotto_alloc(sizeof *asked);

    (void)route;
    for (size_t i = 0; asked && i < w->logs.count; i++)
        if (sotto_bytes_equal_vartime(wanted, sotto_bytes_of(w->origins[i], ORIGIN_HEX - 1)))
            asked->log = &w->logs.keys[i];
    if (!asked || !asked->log) {
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = asked ? 404 : 503});
        sotto_release(asked, asked ? sizeof *asked : 0);
        return;
    }
    asked->request = request;
    asked->job = (sotto_db_job){look_up, asked, on_looked_up, asked, NULL, SOTTO_OK, {0}};
    sotto_db_post(w->host->db, &asked->job);
}

static bool admit_asker(void *state, const sotto_route *route, sotto_http_request *request,
                        size_t *max_body)
{
    const witness *w = state;

    *max_body = route->max_body;
    return sotto_beacon_duty_admits(&w->beacon, request);
}

static void give_part(void *state, const sotto_route *route, sotto_http_request *request)
{
    witness *w = state;

    (void)route;
    sotto_beacon_duty_answer(&w->beacon, request);
}

static void take_seat(void *state, const sotto_route *route, sotto_http_request *request)
{
    witness *w = state;

    (void)route;
    sotto_beacon_key_seat(&w->beacon, request);
}

static void speak(void *state, const sotto_route *route, sotto_http_request *request)
{
    witness *w = state;

    (void)route;
    sotto_beacon_key_speak(&w->beacon, request);
}

static void show_meeting(void *state, const sotto_route *route, sotto_http_request *request)
{
    witness *w = state;

    (void)route;
    sotto_beacon_key_show(&w->beacon, request);
}

/* ---- the service --------------------------------------------------------------------------------------------------------- */

static sotto_status start(witness *w, const sotto_witness_config *config, sotto_err *err)
{
    uint8_t digest[32];

    if (!config->key || !config->logs)
        return sotto_fail(err, SOTTO_MISSING, "a witness needs the options key and logs");
    SOTTO_TRY(sotto_signer_file_read(&w->key, config->key, err));
    if (w->key.signer.key.kind != SOTTO_NOTE_COSIGNATURE)
        return sotto_fail(
            err, SOTTO_DENIED,
            "the witness' key is not for cosignatures: make one with `sotto log key --cosigns`");
    SOTTO_TRY(sotto_key_file_read(&w->logs, config->logs, err));
    for (size_t i = 0; i < w->logs.count; i++) {
        /* It would refuse all that such a log signs, and look well. */
        if (SOTTO_RULE(witness_watches_logs) && w->logs.keys[i].kind != SOTTO_NOTE_ED25519)
            return sotto_fail(err, SOTTO_DENIED,
                              "%.80s: key %zu is of a witness: list the public keys of logs",
                              config->logs, i + 1);
        sotto_hash_once(digest, SOTTO_SHA256, w->logs.keys[i].name);
        sotto_hex_encode(w->origins[i], sotto_bytes_of(digest, sizeof digest));
    }
    return sotto_beacon_duty_open(&w->beacon, w->host, config->beacon_witnesses,
                                  config->beacon_token, &w->key.signer, err);
}

static void close_witness(void *state)
{
    witness *w = state;

    sotto_signer_file_clear(&w->key);
    sotto_beacon_duty_clear(&w->beacon);
    sotto_last_seen_free(w->forks);
    sotto_release(w, sizeof *w);
}

static sotto_status open_witness(void **state, sotto_host *host, const void *config, sotto_err *err)
{
    witness *w = sotto_alloc(sizeof *w);
    sotto_status status;

    if (!w)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a witness");
    w->host = w->held.host = host;
    status = sotto_forks_new(&w->forks, err);
    if (status == SOTTO_OK)
        status = start(w, config, err);
    if (status != SOTTO_OK)
        close_witness(w);
    else
        *state = w;
    return status;
}

static void describe(void *state, sotto_buf *out)
{
    const witness *w = state;

    sotto_health_say_number(out, "logs: ", w->logs.count, "\n");
    sotto_forks_describe(w->forks, out);
}

static sotto_status look(sotto_tx *tx, void *state, sotto_err *err)
{
    return sotto_forks_look(tx, ((witness *)state)->forks, err);
}

static sotto_status metrics(void *state, sotto_writer *out, sotto_err *err)
{
    witness *w = state;

    (void)err;
    sotto_metric_one(out, "sotto_witness_cosigned", "counter", "Checkpoints that were cosigned.",
                     (uint64_t)atomic_load(&w->cosigned));
    sotto_metric_one(out, "sotto_witness_refused", "counter", "Checkpoints that were refused.",
                     (uint64_t)atomic_load(&w->refused));
    sotto_metric_one(out, "sotto_witness_forks", "counter",
                     "Forks, by log and size, that the database has evidence of.",
                     sotto_forks_count(w->forks));
    sotto_metric_one(out, "sotto_witness_held", "counter",
                     "Records that devices handed in for boards.",
                     (uint64_t)atomic_load(&w->held.taken));
    sotto_metric_one(out, "sotto_witness_withheld", "counter",
                     "Heads of boards that were not cosigned, since a record is missing.",
                     (uint64_t)atomic_load(&w->held.withheld));
    sotto_metric_one(out, "sotto_witness_beacon_parts", "counter",
                     "Parts of a beacon that were given.", (uint64_t)atomic_load(&w->beacon.given));
    sotto_metric_one(out, "sotto_witness_beacon_refused", "counter",
                     "Second sessions of an epoch that were refused.",
                     (uint64_t)atomic_load(&w->beacon.refused));
    return SOTTO_OK;
}

static sotto_request_run *const run_posting = sotto_held_put_posting,
                                *const run_record = sotto_held_put_record,
                                *const run_records = sotto_held_get_records;

static const sotto_route routes[] = {
    {.method = SOTTO_HTTP_POST,
     .path = "add-checkpoint",
     .max_body = SOTTO_WITNESS_BODY,
     .handle = add_checkpoint},
    {.method = SOTTO_HTTP_POST,
     .path = "add-head",
     .max_body = SOTTO_WITNESS_BODY + SOTTO_SHOWINGS,
     .handle = add_head},
    {.method = SOTTO_HTTP_POST,
     .path = "rounds/{round}/posting",
     .max_body = SOTTO_POSTING_MOST_BYTES,
     .handle = hold,
     .more = &run_posting},
    {.method = SOTTO_HTTP_POST,
     .path = "rounds/{round}/messages",
     .max_body = SOTTO_HELD_BODY,
     .handle = hold,
     .more = &run_record},
    {.method = SOTTO_HTTP_POST,
     .path = "rounds/{round}/records",
     .max_body = SOTTO_DEMANDS_BYTES,
     .handle = hold,
     .more = &run_records},
    {.method = SOTTO_HTTP_GET, .path = "{origin}/checkpoint", .handle = get_checkpoint},
    {.method = SOTTO_HTTP_POST,
     .path = "beacon",
     .max_body = SOTTO_BEACON_INPUT,
     .admit = admit_asker,
     .handle = give_part},
    {.method = SOTTO_HTTP_POST,
     .path = "beacon-key/seat",
     .max_body = SOTTO_MEETING_ASK,
     .admit = admit_asker,
     .handle = take_seat},
    {.method = SOTTO_HTTP_POST,
     .path = "beacon-key/post",
     .max_body = SOTTO_MEETING_MOST_BYTES,
     .admit = admit_asker,
     .handle = speak},
    {.method = SOTTO_HTTP_GET, .path = "beacon-key", .admit = admit_asker, .handle = show_meeting},
};

#define OWN(field) offsetof(sotto_witness_config, field), sizeof(((sotto_witness_config *)0)->field)

static const sotto_option options[] = {
    {"key", SOTTO_OPTION_SECRET, OWN(key), "{name}-signing.key", 0, 0, "witness-key",
     "file with the key that cosigns, one line PRIVATE+KEY+...", SOTTO_OPTION_ALWAYS},
    {"logs", SOTTO_OPTION_FILE, OWN(logs), "{name}.logs", 0, 0, NULL,
     "file with the public keys of the logs that it watches, one a line", SOTTO_OPTION_ALWAYS},
    {"beacon_witnesses", SOTTO_OPTION_FILE, OWN(beacon_witnesses), NULL, 0, 0, NULL,
     "file with the public keys of all witnesses of a beacon, one a line; none: it gives no parts "
     "of "
     "a beacon",
     SOTTO_OPTION_ALWAYS},
    {"beacon_token", SOTTO_OPTION_SECRET, OWN(beacon_token), NULL, 0, 0, "beacon-token",
     "file with the token of whoever may ask for a beacon, and for its key", SOTTO_OPTION_ALWAYS},
};

static const sotto_migration migrations[] = {
    {1, SOTTO_OWNER_SCHEMA
     "CREATE TABLE witnessed (origin {bytes} PRIMARY KEY, size {int} NOT NULL, root {bytes} NOT "
     "NULL,"
     " note {bytes} NOT NULL);"
     "CREATE TABLE fork (origin {bytes} NOT NULL, size {int} NOT NULL, note {bytes} NOT NULL,"
     " earlier {bytes} NOT NULL, PRIMARY KEY (origin, size));"},
    {2, SOTTO_BEACON_DUTY_SCHEMA},
    {3, SOTTO_BEACON_KEY_SCHEMA},
    {4, SOTTO_HELD_SCHEMA},
    {5, SOTTO_HELD_ROUND_SCHEMA},
};

const sotto_service sotto_witness_service = {
    .name = "witness",
    .summary = "cosign the checkpoints of logs that only grow",
    .listen = "127.0.0.1:8792",
    .operations = "127.0.0.1:9792",
    .owner = 11,
    .routes = routes,
    .route_count = sizeof routes / sizeof routes[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .config_size = sizeof(sotto_witness_config),
    .migrations = migrations,
    .migration_count = sizeof migrations / sizeof migrations[0],
    .open = open_witness,
    .close = close_witness,
    .look = look,
    .describe = describe,
    .metrics = metrics,
};
