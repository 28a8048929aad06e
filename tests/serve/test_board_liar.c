/* A witness of boards that lies to the aggregator: it is asked ever less often, and keeps nobody else's cosignatures off. */
#define _POSIX_C_SOURCE 200809L
#include "observed.h"

#include "transport/http_server.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { TURNS = 24, TURN_MS = 250 };

/* ---- a witness that lies -------------------------------------------------------------------------------------------- */

typedef enum liar_way { DEMANDS, NAMES_SIZES, FAILS, LIES } liar_way;

typedef struct liar {
    sotto_http_server *server;
    liar_way how;
    atomic_uint asked, fetched;
} liar;

static bool on_head(void *context, sotto_http_request *request, size_t *max_body)
{
    (void)context;
    (void)request;
    *max_body = 1 << 20;
    return true;
}

/* Something else each time: a record that nobody has, or a size that it never cosigned. */
static void on_body(void *context, sotto_http_request *request)
{
    liar *l = context;
    uint8_t leaf[SOTTO_MERKLE_HASH] = {0x5a};
    char size[16];

    if (sotto_http_request_segment_is(request, 0, "rounds")) {
        atomic_fetch_add(&l->fetched, 1);
        sotto_http_answer(request, &(sotto_http_reply){.status = 200});
        return;
    }
    const unsigned n = atomic_fetch_add(&l->asked, 1);
    leaf[1] = (uint8_t)(n >> 8);
    leaf[2] = (uint8_t)n;
    const int len = snprintf(size, sizeof size, "%u\n", 1 + n % 3);
    if (l->how == DEMANDS)
        sotto_http_answer(request, &(sotto_http_reply){.status = 428, .body = {leaf, sizeof leaf}});
    else if (l->how == NAMES_SIZES)
        sotto_http_answer(
            request, &(sotto_http_reply){.status = 409, .body = sotto_bytes_of(size, (size_t)len)});
    else
        (void)sotto_http_refuse(request, &(sotto_http_problem){.status = 500});
}

static const sotto_http_handler handler = {.head = on_head, .body = on_body};

/* The aggregator's list has it, too. */
static void list_liar(sotto_test *t, observed *o, const liar *l)
{
    const uint8_t seed[SOTTO_SIGN_SEED] = {99};
    char text[SOTTO_NOTE_KEY_TEXT + 1] = "", lines[1200];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);
    sotto_signer signer;
    sotto_note_key key;

    CHECK_OK(t, sotto_signer_init(&signer, seed, &t->err));
    CHECK_OK(t, sotto_note_key_init(&key, sotto_bytes_of("liar", 4), SOTTO_NOTE_COSIGNATURE,
                                    signer.public_key, &t->err));
    CHECK_OK(t, sotto_note_key_encode(&out, &key, &t->err));
    sotto_signer_clear(&signer);
    const int len = snprintf(lines, sizeof lines, "%s http://127.0.0.1:%u/\n%s %s\n", text,
                             sotto_http_server_port(l->server), o->keys.witness_vkey, o->url);
    sotto_logs_write_file(t, o->keys.directory, "board.witnesses", lines, (size_t)len, 0644);
    aggregation_restart(t, &o->b.a);
}

/* Over six seconds of a board that hardly grows. */
static void play(sotto_test *t, liar *l)
{
    sotto_signer signer;
    observed o;

    atomic_store(&l->asked, 0);
    observed_open(t, &o, true);
    CHECK_OK(t, sotto_http_server_open(&l->server, &(sotto_http_server_options){0}, &handler, l,
                                       &t->err));
    list_liar(t, &o, l);
    observed_post_with_key(t, &o, &signer);
    observed_members_join(t, &o);
    for (unsigned i = 0; i < TURNS; i++) {
        aggregation_turn(t, &o.b.a, TURN_MS);
        sotto_test_sleep_ms(30);
    }
    CHECK(t, sotto_logs_metric(t, o.witness, "sotto_witness_cosigned") > 0);
    sotto_signer_clear(&signer);
    observed_close(&o);
    sotto_http_server_close(l->server);
}

static void a_witness_that_lies_is_asked_ever_less_often(sotto_test *t)
{
    for (liar_way how = DEMANDS; how < LIES; how++) {
        liar l = {.how = how};

        play(t, &l);
        /* At once, and then after 0.2, 0.4, 0.8, 1.6, 3.2 and 6.4 seconds. */
        CHECK(t, atomic_load(&l.asked) >= 3);
        CHECK(t, atomic_load(&l.asked) <= 8);
        CHECK(t, how == DEMANDS ? atomic_load(&l.fetched) <= 8 : atomic_load(&l.fetched) == 0);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_witness_that_lies_is_asked_ever_less_often),
    };

    if (!sotto_test_at_end(sotto_logs_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
