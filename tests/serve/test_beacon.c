/* Witnesses of a beacon as services, each with its own share: their parts make one value, and no epoch has two. */
#define _POSIX_C_SOURCE 200809L
#include "base/hex.h"
#include "log_scene.h"
#include "support/epoch.h"

#include <stdio.h>
#include <string.h>

enum { WITNESSES = 4, ASKED = 2 }; /* any two of four make the value */

#define BY_TOKEN "Authorization: Bearer a-token-of-the-aggregator\r\n"

typedef struct scene {
    sotto_test *t;
    sotto_logs_keys k;
    sotto_epoch epoch;
    uint8_t keys[3][SOTTO_SIGN_PUBLIC];
    const char *databases[WITNESSES];
    sotto_host *hosts[WITNESSES];
} scene;

static void start(scene *s, unsigned i, bool with_share)
{
    char line[100], more[1200], name[40];
    char digits[2 * 32 + 1];

    sotto_hex_encode(digits, sotto_bytes_of(s->epoch.witnesses.shares[i], 32));
    int len = snprintf(line, sizeof line, "%u %s\n", i, digits);
    (void)snprintf(name, sizeof name, "share-%u", i);
    sotto_logs_write_file(s->t, s->k.directory, name, line, (size_t)len, 0600);
    sotto_logs_write_file(s->t, s->k.directory, "beacon.token", "a-token-of-the-aggregator", 25,
                          0600);
    len = snprintf(more, sizeof more, "logs = %s/witness.logs\n", s->k.directory);
    if (with_share)
        (void)snprintf(more + len, sizeof more - (size_t)len,
                       "beacon_share = %s/share-%u\nbeacon_token = %s/beacon.token\n",
                       s->k.directory, i, s->k.directory);
    CHECK_OK(s->t, sotto_logs_start_witness(s->t, &s->k, s->databases[i], more, &s->hosts[i]));
}

/* A scene has the options of one witness at a time. */
static void set_up(sotto_test *t, scene *s)
{
    *s = (scene){.t = t, .epoch = {.session = {7}, .number = 5}};
    sotto_logs_make_keys(t, &s->k);
    memset(s->keys, 3, sizeof s->keys);
    s->epoch.registry.keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])s->keys;
    s->epoch.registry.count = 3;
    CHECK_OK(t, sotto_epoch_witnesses(&s->epoch, WITNESSES, &t->arena, &t->err));
    for (unsigned i = 0; i < WITNESSES; i++)
        s->databases[i] = sotto_test_address(t);
}

static void stop(scene *s, unsigned i)
{
    sotto_host_close(s->hosts[i]);
}

static sotto_beacon_input input_of(const scene *s)
{
    sotto_beacon_input input = {.epoch = s->epoch.number};

    memcpy(input.session, s->epoch.session, sizeof input.session);
    sotto_registry_root(&s->epoch.registry, input.registry);
    return input;
}

static unsigned ask(scene *s, unsigned witness, const sotto_beacon_input *input,
                    sotto_beacon_part *part)
{
    sotto_buf body = sotto_test_buf(s->t, SOTTO_BEACON_INPUT);

    CHECK_OK(s->t, sotto_beacon_input_encode(&body, input, &s->t->err));
    const sotto_test_answer answer = sotto_logs_ask(s->t, sotto_host_port(s->hosts[witness]),
                                                    "POST /beacon", BY_TOKEN, body.data, body.len);
    if (answer.status == 200 && part)
        CHECK_OK(s->t, sotto_beacon_part_decode(part, sotto_bytes_of(answer.body, answer.body_len),
                                                &s->t->err));
    return answer.status;
}

/* The value is that of the key: whoever answers, and whoever holds all shares, gets the same. */
static void witnesses_with_a_share_each_make_the_value(sotto_test *t)
{
    sotto_beacon_part parts[ASKED + 1];
    uint8_t value[32];
    uint32_t wrong;
    sotto_tdh2 tdh2;
    scene s;

    set_up(t, &s);
    const sotto_beacon_input input = input_of(&s);
    for (unsigned i = 0; i < ASKED + 1; i++) {
        start(&s, i, true);
        CHECK_EQUAL(t, 200, ask(&s, i, &input, &parts[i]));
        CHECK_EQUAL(t, i, parts[i].place);
        stop(&s, i);
    }
    CHECK_OK(t, sotto_epoch_beacon(&s.epoch, &t->arena, &t->err));
    CHECK_OK(t, sotto_tdh2_init(&tdh2, &t->err));
    for (unsigned first = 0; first < 2; first++) {
        CHECK_OK(t, sotto_beacon_value_vartime(
                        &tdh2, value, &input,
                        (const uint8_t(*)[SOTTO_P256_WIDE])s.epoch.witnesses.verify, WITNESSES,
                        parts + first, ASKED, &wrong, &t->err));
        CHECK_BYTES(t, s.epoch.beacon, value, sizeof value);
    }
    sotto_tdh2_clear(&tdh2);
}

static void an_epoch_has_one_session(sotto_test *t)
{
    sotto_beacon_part first, again;
    scene s;

    set_up(t, &s);
    start(&s, 0, true);
    const sotto_beacon_input input = input_of(&s);
    sotto_beacon_input session = input, registry = input, next = input;
    session.session[0] ^= 1;
    registry.registry[31] ^= 1;
    next.epoch++;
    CHECK_EQUAL(t, 200, ask(&s, 0, &input, &first));
    for (unsigned pass = 0; pass < 2; pass++) {
        CHECK_EQUAL(t, 409, ask(&s, 0, &session, NULL));
        CHECK_EQUAL(t, 409, ask(&s, 0, &registry, NULL));
        CHECK_EQUAL(t, 200, ask(&s, 0, &input, &again)); /* an answer that was lost */
        CHECK_BYTES(t, first.bytes, again.bytes, SOTTO_P256_WIDE);
        CHECK_EQUAL(t, 2, sotto_logs_metric(t, s.hosts[0], "sotto_witness_beacon_refused"));
        stop(&s, 0); /* a restart forgets nothing */
        start(&s, 0, true);
    }
    CHECK_EQUAL(t, 200, ask(&s, 0, &next, NULL));
    stop(&s, 0);
}

static void only_who_has_the_token_settles_an_epoch(sotto_test *t)
{
    scene s;

    set_up(t, &s);
    start(&s, 0, true);
    const sotto_beacon_input input = input_of(&s);
    sotto_buf body = sotto_test_buf(t, SOTTO_BEACON_INPUT);
    CHECK_OK(t, sotto_beacon_input_encode(&body, &input, &t->err));
    const unsigned port = sotto_host_port(s.hosts[0]);
    CHECK_EQUAL(t, 401, sotto_logs_ask(t, port, "POST /beacon", "", body.data, body.len).status);
    CHECK_EQUAL(
        t, 401,
        sotto_logs_ask(t, port, "POST /beacon", SOTTO_LOGS_BY_TOKEN, body.data, body.len).status);
    CHECK_EQUAL(t, 400,
                sotto_logs_ask(t, port, "POST /beacon", BY_TOKEN, body.data, body.len - 1).status);
    CHECK_EQUAL(t, 200, ask(&s, 0, &input, NULL));
    stop(&s, 0);
}

static void a_witness_without_a_share_gives_no_part(sotto_test *t)
{
    sotto_host *host = NULL;
    char more[1200];
    scene s;

    set_up(t, &s);
    const sotto_beacon_input input = input_of(&s);
    start(&s, 0, false);
    CHECK_EQUAL(t, 404, ask(&s, 0, &input, NULL));
    stop(&s, 0);
    sotto_logs_write_file(t, s.k.directory, "share-9", "9 00", 4, 0600);
    (void)snprintf(more, sizeof more,
                   "logs = %s/witness.logs\nbeacon_share = %s/share-9\n"
                   "beacon_token = %s/beacon.token\n",
                   s.k.directory, s.k.directory, s.k.directory);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_logs_start_witness(t, &s.k, s.databases[1], more, &host));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(witnesses_with_a_share_each_make_the_value),
        CASE(an_epoch_has_one_session),
        CASE(only_who_has_the_token_settles_an_epoch),
        CASE(a_witness_without_a_share_gives_no_part),
    };

    if (!sotto_test_at_end(sotto_logs_forget))
        return 1;
    return RUN_TESTS(argc, argv, cases);
}
