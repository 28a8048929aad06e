#include "serve/aggregator/aggregator.h"

#include "aggregate/shared/crew.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/hex.h"
#include "base/rule.h"
#include "base/writer.h"
#include "serve/aggregator/carried_store.h"
#include "serve/aggregator/keygen_store.h"
#include "serve/host/database_owner.h"
#include "serve/host/health.h"
#include "serve/host/host_metrics.h"
#include "serve/host/request_work.h"
#include "serve/host/router.h"
#include "serve/host/steps.h"

#include <string.h>

enum { OWNER = 16, SMALL_BODY = 100000, MOST_DIGITS = 18 };
#define INBOX ((size_t)16 << 20)

/* ---- refusals ------------------------------------------------------------------------------------------------- */

/* What a peer is told comes from the status alone. */
void sotto_aggregator_refuse(sotto_aggregator *a, sotto_http_request *request, sotto_status status)
{
    static const unsigned codes[] = {
        [SOTTO_AGAIN] = 503,     [SOTTO_MALFORMED] = 400, [SOTTO_REJECTED] = 403,
        [SOTTO_DENIED] = 422,    [SOTTO_STALE] = 409,     [SOTTO_MISSING] = 404,
        [SOTTO_TOO_LARGE] = 413, [SOTTO_NO_MEMORY] = 503, [SOTTO_IO] = 503,
        [SOTTO_BUG] = 503,
    };
    const unsigned code = codes[status];

    atomic_fetch_add(&a->refused, 1);
    (void)sotto_http_refuse(
        request, &(sotto_http_problem){.status = code, .retry_after_s = code == 503 ? 1 : 0});
}

void sotto_aggregator_acknowledge(sotto_aggregator *a, sotto_http_request *request,
                                  sotto_status status)
{
    if (status != SOTTO_OK) {
        sotto_aggregator_refuse(a, request, status);
        return;
    }
    atomic_fetch_add(&a->accepted, 1);
    sotto_http_answer(request, &(sotto_http_reply){.status = 204});
}

static bool unauthorized(sotto_http_request *request)
{
    return sotto_http_refuse(request, &(sotto_http_problem){
                                          .status = 401,
                                          .challenge = "Bearer realm=\"aggregator\"",
                                      });
}

static bool admit_operator(void *state, const sotto_route *route, sotto_http_request *request,
                           size_t *max_body)
{
    sotto_aggregator *a = state;

    *max_body = route->max_body;
    if (SOTTO_RULE(aggregator_operator_only) && !sotto_bearer_is(&a->operator_token, request))
        return unauthorized(request);
    sotto_http_request_vouch(request);
    return true;
}

static bool round_of(const sotto_aggregator *a, const sotto_http_request *request,
                     uint8_t id[SOTTO_ROUND_ID])
{
    return sotto_hex_decode(id, SOTTO_ROUND_ID, sotto_route_segment(a->host, request, 1));
}

/* ---- the operator ---------------------------------------------------------------------------------------------- */

static sotto_status check_limits(sotto_aggregator *a, const sotto_posted_round *p, sotto_err *err)
{
    if (SOTTO_RULE(aggregator_max_participants) && p->round.registered > a->config.max_participants)
        return sotto_fail(err, SOTTO_TOO_LARGE, "more participants than max_participants");
    if (SOTTO_RULE(aggregator_max_vector) &&
        p->method->tally->size(&p->round) > a->config.max_vector)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a longer vector than max_vector");
    if (SOTTO_RULE(aggregator_round_ahead) && p->round.closes <= sotto_aggregator_now_ms(a))
        return sotto_fail(err, SOTTO_STALE, "the round is closed before it began");
    return sotto_round_check_begins(&p->round, sotto_aggregator_now_ms(a), err);
}

static sotto_status add_round(sotto_aggregator *a, sotto_bytes wire, uint8_t id[SOTTO_ROUND_ID],
                              sotto_err *err)
{
    sotto_running *running;
    sotto_listed_round *one;

    SOTTO_TRY(sotto_running_new(&running, &a->context, wire, err));
    const sotto_posted_round *posted = sotto_running_posted(running);
    memcpy(id, posted->id, SOTTO_ROUND_ID);
    sotto_status status = check_limits(a, posted, err);
    if (status == SOTTO_OK)
        status = sotto_round_store_add(a->host->db, posted, wire, a->config.max_rounds, err);
    if (status != SOTTO_OK) {
        sotto_running_free(running);
        return status;
    }
    SOTTO_TRY(sotto_aggregator_enlist(a, &one, running, err));
    sotto_aggregator_let_go(a, one);
    return SOTTO_OK;
}

static void post_round(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    uint8_t id[SOTTO_ROUND_ID];
    char text[2 * SOTTO_ROUND_ID + 2];
    sotto_err err = {0};

    (void)arena;
    const sotto_status status = add_round(a, sotto_http_request_body(request), id, &err);
    if (status != SOTTO_OK) {
        sotto_aggregator_refuse(a, request, status);
        return;
    }
    sotto_hex_encode(text, sotto_bytes_of(id, sizeof id));
    text[2 * SOTTO_ROUND_ID] = '\n';
    sotto_request_answer(request, 201, "text/plain; charset=utf-8",
                         sotto_bytes_of(text, 2 * SOTTO_ROUND_ID + 1));
}

/* ---- participants ------------------------------------------------------------------------------------------------ */

static void get_posting(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    uint8_t id[SOTTO_ROUND_ID];
    sotto_bytes wire;
    sotto_status status = SOTTO_MISSING;

    if (round_of(a, request, id))
        status = sotto_round_store_posting(a->host->db, id, &wire, arena, NULL);
    if (status != SOTTO_OK)
        sotto_aggregator_refuse(a, request, status);
    else
        sotto_request_answer(request, 200, SOTTO_POSTING_TYPE, wire);
}

/* What its head says of its body; UINT64_MAX: nothing. */
static uint64_t body_length(const sotto_http_request *request)
{
    sotto_bytes text;
    uint64_t length = 0;

    if (!sotto_http_request_field(request, "content-length", &text) || text.len > MOST_DIGITS)
        return UINT64_MAX;
    for (size_t i = 0; i < text.len; i++)
        length = 10 * length + (uint64_t)(text.data[i] - '0');
    return length;
}

/* A stranger's body of megabytes is not read for a round that nobody here knows. Where only another replica, or the process
 * before this one, knows it, it is known here a second later: the sender tries again. */
static bool admit_message(void *state, const sotto_route *route, sotto_http_request *request,
                          size_t *max_body)
{
    const uint64_t length = body_length(request);
    sotto_aggregator *a = state;
    uint8_t id[SOTTO_ROUND_ID];
    sotto_bytes type;

    (void)route;
    if (!round_of(a, request, id))
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
    if (!sotto_http_request_field(request, "content-type", &type) ||
        !sotto_http_is_media_type(type, SOTTO_MESSAGE_TYPE))
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 415});
    pthread_mutex_lock(&a->lock);
    sotto_listed_round *one = sotto_aggregator_find(a, id);
    *max_body = one ? sotto_running_most_body(one->running)
                    : SOTTO_MESSAGE_MOST_BODY + a->config.max_vector;
    const bool in_pieces =
        one && length <= *max_body && sotto_running_is_long(one->running, length);
    if (in_pieces)
        one->users++;
    pthread_mutex_unlock(&a->lock);
    if (SOTTO_RULE(aggregator_unknown_unread) && !one && length >= SMALL_BODY)
        return sotto_http_refuse(request, &(sotto_http_problem){.status = 404});
    if (!in_pieces) {
        sotto_http_request_gather(request);
        return true;
    }
    if (sotto_upload_begin(a, request, one, NULL) == SOTTO_OK)
        return true;
    sotto_aggregator_let_go(a, one);
    return sotto_http_refuse(request, &(sotto_http_problem){.status = 503, .retry_after_s = 1});
}

static sotto_http_flow message_piece(void *state, const sotto_route *route,
                                     sotto_http_request *request, sotto_bytes piece)
{
    (void)state;
    (void)route;
    return sotto_upload_piece(sotto_http_request_note(request), piece);
}

static void message_lost(void *state, const sotto_route *route, sotto_http_request *request)
{
    sotto_upload *one = sotto_http_request_note(request);

    (void)state;
    (void)route;
    if (one)
        sotto_upload_lost(one);
}

typedef struct arrival {
    sotto_put put;
    sotto_aggregator *a;
    sotto_http_request *request;
} arrival;

static void answer_message(sotto_put *put)
{
    arrival *one = (arrival *)put;

    if (put->status == SOTTO_OK && put->answer.len) {
        atomic_fetch_add(&one->a->accepted, 1);
        sotto_request_answer(one->request, 200, SOTTO_INBOX_TYPE, sotto_buf_bytes(&put->answer));
    } else {
        sotto_aggregator_acknowledge(one->a, one->request, put->status);
    }
    sotto_put_clear(put);
    sotto_release(one, sizeof *one);
}

static void put_message(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    sotto_reader in = sotto_reader_over(sotto_http_request_body(request));
    const sotto_bytes message = sotto_read_opaque32(&in);
    uint8_t id[SOTTO_ROUND_ID];
    sotto_listed_round *round = NULL;
    arrival *one = sotto_alloc(sizeof *one);
    sotto_status status = one ? SOTTO_OK : SOTTO_NO_MEMORY;

    if (status == SOTTO_OK && !round_of(a, request, id))
        status = SOTTO_MISSING;
    if (status == SOTTO_OK && !message.data)
        status = SOTTO_MALFORMED;
    if (status == SOTTO_OK)
        status = sotto_aggregator_hold(a, &round, id, arena, NULL);
    if (status != SOTTO_OK) {
        sotto_aggregator_refuse(a, request, status);
        sotto_release(one, one ? sizeof *one : 0);
        return;
    }
    const sotto_bytes body = sotto_http_request_body(request);
    const size_t at = 4 + message.len;
    *one = (arrival){.put = {.message = message,
                             .bulk = sotto_bytes_of(body.data + at, body.len - at),
                             .done = answer_message},
                     .a = a,
                     .request = request};
    sotto_running_put(round->running, &one->put);
    sotto_aggregator_let_go(a, round);
    if (a->host->steps)
        sotto_steps_wake(a->host->steps);
}

/* Labels say who took part: they are for those whom the round's registry names. */
static sotto_status read_inbox(sotto_aggregator *a, const sotto_http_request *request,
                               sotto_bytes *out, sotto_arena *arena, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(sotto_http_request_body(request));
    const uint32_t index = (uint32_t)sotto_read_uint(&in, 4);
    const uint64_t since = sotto_read_uint(&in, 8);
    const sotto_bytes signature = sotto_read_bytes(&in, SOTTO_SIGNATURE);
    uint8_t id[SOTTO_ROUND_ID], text[SOTTO_INBOX_TEXT];
    sotto_listed_round *round;

    SOTTO_TRY(sotto_reader_finish(&in, "inbox", err));
    if (!round_of(a, request, id))
        return SOTTO_MISSING;
    SOTTO_TRY(sotto_aggregator_hold(a, &round, id, arena, err));
    const uint8_t *key =
        sotto_registry_key(&sotto_running_posted(round->running)->posting.registry, index);
    sotto_status status = key && index != SOTTO_TO_SERVER ? SOTTO_OK : SOTTO_REJECTED;
    sotto_inbox_text(text, id, index);
    if (SOTTO_RULE(aggregator_inbox_signed) && status == SOTTO_OK)
        status = sotto_signature_check(key, signature.data, sotto_bytes_of(text, sizeof text), err);
    if (status == SOTTO_OK && sotto_running_is_over(round->running))
        status = SOTTO_STALE;
    sotto_aggregator_let_go(a, round);
    SOTTO_TRY(status);
    return sotto_round_store_inbox(a->host->db, id, index, since, INBOX, out, arena, err);
}

static void post_inbox(void *state, sotto_http_request *request, sotto_arena *arena)
{
    sotto_aggregator *a = state;
    sotto_bytes out;
    const sotto_status status = read_inbox(a, request, &out, arena, NULL);

    if (status != SOTTO_OK)
        sotto_aggregator_refuse(a, request, status);
    else
        sotto_request_answer(request, 200, SOTTO_INBOX_TYPE, out);
}

/* ---- routes ------------------------------------------------------------------------------------------------------ */

static void work(void *state, const sotto_route *route, sotto_http_request *request)
{
    const sotto_aggregator *a = state;
    sotto_request_run *const *run = route->more;

    sotto_request_work(a->host->pool, *run, state, request);
}

static void handle_message(void *state, const sotto_route *route, sotto_http_request *request)
{
    sotto_upload *one = sotto_http_request_note(request);

    if (one)
        sotto_upload_whole(one);
    else
        work(state, route, request);
}

static sotto_request_run *const
    run_post_round = post_round,
    *const run_posting = get_posting, *const run_message = put_message,
    *const run_inbox = post_inbox, *const run_result = sotto_aggregator_get_result,
    *const run_sum = sotto_aggregator_get_sum, *const run_head = sotto_aggregator_get_head,
    *const run_call = sotto_aggregator_call_keygen, *const run_keygen = sotto_aggregator_get_keygen,
    *const run_post = sotto_aggregator_put_post, *const run_board = sotto_aggregator_get_board,
    *const run_entries = sotto_aggregator_get_entries;

static const sotto_route routes[] = {
    {.method = SOTTO_HTTP_POST,
     .path = "rounds",
     .max_body = SOTTO_POSTING_MOST_BYTES,
     .admit = admit_operator,
     .handle = work,
     .more = &run_post_round},
    {.method = SOTTO_HTTP_GET, .path = "rounds/{round}", .handle = work, .more = &run_posting},
    {.method = SOTTO_HTTP_POST,
     .path = "rounds/{round}/messages",
     .admit = admit_message,
     .handle = handle_message,
     .more = &run_message,
     .piece = message_piece,
     .lost = message_lost},
    {.method = SOTTO_HTTP_POST,
     .path = "rounds/{round}/inbox",
     .max_body = SOTTO_INBOX_ASK,
     .handle = work,
     .more = &run_inbox},
    {.method = SOTTO_HTTP_POST,
     .path = "rounds/{round}/board",
     .max_body = SOTTO_ENTRIES_ASK,
     .handle = work,
     .more = &run_entries},
    {.method = SOTTO_HTTP_POST, .path = "rounds/{round}/head", .handle = work, .more = &run_head},
    {.method = SOTTO_HTTP_GET,
     .path = "rounds/{round}/result",
     .admit = admit_operator,
     .handle = work,
     .more = &run_result},
    {.method = SOTTO_HTTP_GET,
     .path = "rounds/{round}/sum",
     .admit = admit_operator,
     .handle = work,
     .more = &run_sum},
    {.method = SOTTO_HTTP_POST,
     .path = "keygens",
     .max_body = SOTTO_POSTING_MOST_BYTES,
     .admit = admit_operator,
     .handle = work,
     .more = &run_call},
    {.method = SOTTO_HTTP_GET, .path = "keygens/{keygen}", .handle = work, .more = &run_keygen},
    {.method = SOTTO_HTTP_POST,
     .path = "keygens/{keygen}/posts",
     .max_body = SOTTO_KEYGEN_MOST_POST,
     .handle = work,
     .more = &run_post},
    {.method = SOTTO_HTTP_POST,
     .path = "keygens/{keygen}/board",
     .max_body = 8,
     .handle = work,
     .more = &run_board},
};

/* ---- up and down ----------------------------------------------------------------------------------------------------- */

#define AT(field)                                                                                  \
    offsetof(sotto_aggregator_config, field), sizeof(((const sotto_aggregator_config *)0)->field)

/* clang-format off */
static const sotto_option options[] = {
    {"signing_key", SOTTO_OPTION_SECRET, AT(key), "{name}-signing.key", 0, 0, "aggregator-key",
     "file with the key that signs for this server, one line PRIVATE+KEY+...", SOTTO_OPTION_ALWAYS},
    {"operator_token", SOTTO_OPTION_SECRET, AT(operator_token), "{name}.operator-token", 0, 0, "operator-token",
     "the file with the token of who may post rounds and read sums", SOTTO_OPTION_ALWAYS},
    {"max_participants", SOTTO_OPTION_NUMBER, AT(max_participants), "16384", 3, SOTTO_POSTING_MOST_REGISTERED, NULL,
     "registered clients of a round, at most", SOTTO_OPTION_ALWAYS},
    {"max_rounds", SOTTO_OPTION_NUMBER, AT(max_rounds), "16", 1, 1024, NULL,
     "rounds that run at once, at most", SOTTO_OPTION_ALWAYS},
    {"max_vector", SOTTO_OPTION_SIZE, AT(max_vector), "8M", 4, (uint64_t)64 << 20, NULL,
     "the longest vector of a round", SOTTO_OPTION_ALWAYS},
    {"max_uploads", SOTTO_OPTION_NUMBER, AT(max_uploads), "64", 1, 4096, NULL,
     "long vectors that are received at once, at most; others wait", SOTTO_OPTION_ALWAYS},
    {"witnesses", SOTTO_OPTION_FILE, AT(witnesses), NULL, 0, 0, NULL,
     "file with the witnesses that are asked, a public key, a space and a URL on each line", SOTTO_OPTION_ALWAYS},
};
/* clang-format on */

static const sotto_migration migrations[] = {{1, SOTTO_OWNER_SCHEMA SOTTO_ROUND_STORE_SCHEMA},
                                             {2, SOTTO_KEYGEN_STORE_SCHEMA},
                                             {3, SOTTO_BOARD_STORE_SCHEMA},
                                             {4, SOTTO_BOARD_SENDER_SCHEMA},
                                             {5, SOTTO_CARRIED_STORE_SCHEMA}};

static void close_aggregator(void *state)
{
    sotto_aggregator *a = state;

    while (a->rounds) {
        sotto_listed_round *one = a->rounds;

        a->rounds = one->next;
        sotto_running_free(one->running);
        sotto_head_free(one->head);
        sotto_release(one, sizeof *one);
    }
    sotto_uploads_clear(&a->uploads);
    pthread_mutex_destroy(&a->lock);
    sotto_signer_file_clear(&a->key);
    sotto_release(a, sizeof *a);
}

static sotto_status start(sotto_aggregator *a, sotto_err *err)
{
    SOTTO_TRY(sotto_signer_file_read(&a->key, a->config.key, err));
    SOTTO_TRY(sotto_bearer_read(&a->operator_token, a->config.operator_token, err));
    if (a->config.witnesses)
        SOTTO_TRY(sotto_heads_read_witnesses(a, err));
    SOTTO_TRY(sotto_uploads_init(&a->uploads, (unsigned)a->config.max_uploads, err));
    /* What follows a closed window is seconds of work that its participants wait for. */
    sotto_crew_use((unsigned)a->host->options.workers);
    a->context = (sotto_running_context){.db = a->host->db,
                                         .keys = &a->host->columns,
                                         .signer = &a->key.signer.signer,
                                         .clock = a->host->options.clock ? a->host->options.clock
                                                                         : &sotto_clock_system,
                                         .log = &a->host->options.log};
    return SOTTO_OK;
}

static sotto_status open_aggregator(void **state, sotto_host *host, const void *config,
                                    sotto_err *err)
{
    sotto_aggregator *a = sotto_alloc(sizeof *a);

    if (!a)
        return sotto_fail(err, SOTTO_NO_MEMORY, "the aggregator");
    a->host = host;
    a->config = *(const sotto_aggregator_config *)config;
    pthread_mutex_init(&a->lock, NULL);
    const sotto_status status = start(a, err);
    if (status != SOTTO_OK)
        close_aggregator(a);
    else
        *state = a;
    return status;
}

static void stop(void *state)
{
    sotto_aggregator *a = state;

    atomic_store(&a->stopped, true);
}

static void describe(void *state, sotto_buf *out)
{
    sotto_aggregator *a = state;

    pthread_mutex_lock(&a->lock);
    const size_t count = a->count;
    pthread_mutex_unlock(&a->lock);
    sotto_health_say_number(out, "rounds: ", count, " under way\n");
}

static sotto_status metrics(void *state, sotto_writer *w, sotto_err *err)
{
    sotto_aggregator *a = state;

    (void)err;
    sotto_metric_one(w, "sotto_aggregator_messages_total", "counter",
                     "Messages that were acknowledged.", atomic_load(&a->accepted));
    sotto_metric_one(w, "sotto_aggregator_refused_total", "counter", "Requests that were refused.",
                     atomic_load(&a->refused));
    sotto_metric_one(w, "sotto_aggregator_rounds_over_total", "counter",
                     "Rounds that ended, with or without a sum.", atomic_load(&a->over));
    return SOTTO_OK;
}

const sotto_service sotto_aggregator_service = {
    .name = "aggregator",
    .summary = "add up masked vectors with a committee of devices, on one server",
    .listen = "127.0.0.1:8795",
    .operations = "127.0.0.1:9795",
    .owner = OWNER,
    .calls = SOTTO_PEER_CALLS,
    .routes = routes,
    .route_count = sizeof routes / sizeof routes[0],
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .config_size = sizeof(sotto_aggregator_config),
    .migrations = migrations,
    .migration_count = sizeof migrations / sizeof migrations[0],
    .idle = sotto_aggregator_begin_due,
    .open = open_aggregator,
    .stop = stop,
    .close = close_aggregator,
    .describe = describe,
    .metrics = metrics,
};
