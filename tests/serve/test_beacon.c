/* Witnesses of a beacon as services: they make their key themselves, each gives its part, and no epoch has two values. Whoever carries
 * what they say is not trusted. */
#define _POSIX_C_SOURCE 200809L
#include "log_scene.h"
#include "serve/meeting_scene.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sotto_beacon_input an_input(void)
{
    return (sotto_beacon_input){.session = {7}, .registry = {9}, .epoch = 5};
}

static unsigned ask(const scene *s, unsigned i, const sotto_beacon_input *input,
                    sotto_beacon_part *part)
{
    sotto_buf body = sotto_test_buf(s->t, SOTTO_BEACON_INPUT);

    CHECK_OK(s->t, sotto_beacon_input_encode(&body, input, &s->t->err));
    const sotto_http_response r = meeting_post(s, i, "beacon", sotto_buf_bytes(&body));
    if (r.status == 200 && part)
        CHECK_OK(s->t, sotto_beacon_part_decode(part, r.body, &s->t->err));
    return r.status;
}

/* ---- the key ----------------------------------------------------------------------------------------------------------- */

static void check_value(scene *s, const uint8_t value[32], const sotto_beacon_part *parts)
{
    const sotto_decryptors_record *r = &s->asked.record;
    const sotto_beacon_input input = an_input();
    uint8_t again[32];
    uint32_t wrong;
    sotto_tdh2 t;

    CHECK_OK(s->t, sotto_tdh2_init(&t, &s->t->err));
    CHECK_OK(s->t, sotto_beacon_value_vartime(&t, again, &input,
                                              (const uint8_t(*)[SOTTO_P256_WIDE])r->verify,
                                              r->count, parts, THRESHOLD, &wrong, &s->t->err));
    CHECK_BYTES(s->t, value, again, sizeof again);
    sotto_tdh2_clear(&t);
}

static void witnesses_make_their_key_and_the_value(sotto_test *t)
{
    const sotto_beacon_input input = an_input();
    sotto_beacon_part parts[WITNESSES], used[THRESHOLD];
    uint8_t value[32];
    scene s;

    meeting_set_up(t, &s);
    CHECK_EQUAL(t, 404,
                ask(&s, 0, &input, NULL)); /* there is no key yet, and the epoch is not settled */
    CHECK_STATUS(t, SOTTO_MISSING, sotto_witnesses_ask(&s.asked, value, used, &input, &t->err));
    sotto_err_clear(&t->err);
    CHECK_OK(t, meeting_meet(&s, 0));
    for (unsigned i = 0; i < WITNESSES; i++)
        CHECK(t, s.asked.record.is_signed[i]);
    CHECK_OK(t, sotto_witnesses_ask(&s.asked, value, used, &input, &t->err));
    for (unsigned i = 0; i < WITNESSES; i++) {
        meeting_restart(&s, i);
        CHECK_EQUAL(t, 200, ask(&s, i, &input, &parts[i]));
        CHECK_EQUAL(t, i, parts[i].place);
    }
    for (unsigned first = 0; first + THRESHOLD <= WITNESSES; first++)
        check_value(&s, value, parts + first);
    witnesses_scene_close(&s);
}

/* The first witness seals garbage for the second, does not answer its complaint in one case, and reveals another polynomial. */
typedef struct liar {
    scene *s;
    bool answers, reveals;
    unsigned lies;
} liar;

static bool lie(void *context, const sotto_keygen *call, uint32_t place, unsigned step,
                sotto_bytes *wire)
{
    liar *l = context;
    sotto_keygen_post post;
    sotto_signer signer;

    if (place != 0)
        return true;
    CHECK_OK(l->s->t, sotto_keygen_post_decode(&post, *wire, &l->s->t->err));
    uint8_t *body = sotto_arena_take(&l->s->t->arena, post.body.len + 1);
    memcpy(body, post.body.data, post.body.len);
    if (step == SOTTO_KEYGEN_DEAL)
        body[post.body.len - 2 * SOTTO_KEYGEN_SEALED - 1] ^= 1;
    else if (step == SOTTO_KEYGEN_ANSWER && !l->answers)
        return false;
    else if (step == SOTTO_KEYGEN_REVEAL && !l->reveals)
        memcpy(body + 2, body + 2 + SOTTO_P256_WIDE, SOTTO_P256_WIDE);
    else
        return true;
    l->lies++;
    post.body.data = body;
    witnesses_scene_signer(l->s, 0, &signer);
    CHECK_OK(l->s->t, sotto_keygen_post_sign(call, &post, &signer, &l->s->t->err));
    sotto_signer_clear(&signer);
    sotto_buf out = sotto_test_buf(l->s->t, SOTTO_KEYGEN_MOST_POST);
    CHECK_OK(l->s->t, sotto_keygen_post_encode(&out, &post, &l->s->t->err));
    *wire = sotto_buf_bytes(&out);
    return true;
}

static void a_witness_that_lies_stops_nothing(sotto_test *t)
{
    const sotto_beacon_input input = an_input();
    sotto_beacon_part used[THRESHOLD];
    uint8_t value[32];
    scene s;

    for (unsigned way = 0; way < 3; way++) {
        liar l = {.s = &s, .answers = way != 0, .reveals = way == 1};

        meeting_set_up(t, &s);
        s.asked.bend = lie;
        s.asked.context = &l;
        CHECK_OK(t, meeting_meet(&s, 0));
        CHECK(t, l.lies >= 1);
        for (unsigned i = 1; i < WITNESSES; i++)
            CHECK(t, s.asked.record.is_signed[i]);
        CHECK_OK(t, sotto_witnesses_ask(&s.asked, value, used, &input, &t->err));
        witnesses_scene_close(&s);
    }
}

/* ---- the record ------------------------------------------------------------------------------------------------------------------ */

static void a_key_has_a_quorum_of_the_witnesses(sotto_test *t)
{
    sotto_buf wire = sotto_test_buf(t, SOTTO_DECRYPTORS_MOST_BYTES);
    sotto_decryptors_record record;
    scene s;

    meeting_set_up(t, &s);
    CHECK_OK(t, meeting_meet(&s, 0));
    record = s.asked.record;
    record.is_signed[0] = false; /* three of four are enough */
    memset(record.signatures[0], 0, SOTTO_SIGNATURE);
    CHECK_OK(t, sotto_decryptors_encode(&wire, &record, &t->err));
    CHECK_OK(t, sotto_witnesses_know(&s.asked, sotto_buf_bytes(&wire), &t->err));
    record.signatures[1][0] ^= 1;
    wire.len = 0;
    CHECK_OK(t, sotto_decryptors_encode(&wire, &record, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_witnesses_know(&s.asked, sotto_buf_bytes(&wire), &t->err));
    witnesses_scene_close(&s);
}

/* ---- an epoch -------------------------------------------------------------------------------------------------------------------- */

static void an_epoch_has_one_session(sotto_test *t)
{
    sotto_beacon_part first, again;
    scene s;

    meeting_set_up(t, &s);
    CHECK_OK(t, meeting_meet(&s, 0));
    const sotto_beacon_input input = an_input();
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
        meeting_restart(&s, 0);
    }
    CHECK_EQUAL(t, 200, ask(&s, 0, &next, NULL));
    witnesses_scene_close(&s);
}

static void only_who_has_the_token_settles_an_epoch(sotto_test *t)
{
    static const char *const paths[] = {"beacon", "beacon-key/seat", "beacon-key/post"};
    const sotto_keygen call = {.epoch = 3};
    scene s;

    meeting_set_up(t, &s);
    sotto_buf body = sotto_test_buf(t, SOTTO_BEACON_INPUT);
    const sotto_beacon_input input = an_input();
    CHECK_OK(t, sotto_beacon_input_encode(&body, &input, &t->err));
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const sotto_bytes asked = i == 1 ? meeting_asking(t, &call) : sotto_buf_bytes(&body);

        CHECK_EQUAL(t, 401, meeting_post_as(&s, 0, paths[i], asked, NULL).status);
        CHECK_EQUAL(
            t, 401,
            meeting_post_as(&s, 0, paths[i], asked, "Bearer another-token-of-others").status);
        CHECK_EQUAL(t, 400, meeting_post(&s, 0, paths[i], sotto_bytes_of(asked.data, 20)).status);
    }
    witnesses_scene_close(&s);
}

/* A megabyte of a stranger is not waited for. */
static void a_stranger_is_refused_by_the_head(sotto_test *t)
{
    scene s;

    meeting_set_up(t, &s);
    const int fd = sotto_test_dial(t, s.ports[0]);
    sotto_test_send_text(t, fd,
                         "POST /beacon-key/post HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n"
                         "Authorization: Bearer another-token-of-others\r\n\r\n");
    CHECK_EQUAL(t, 401, sotto_test_hear(t, fd).status);
    (void)close(fd);
    witnesses_scene_close(&s);
}

static void a_witness_is_one_of_those_listed(sotto_test *t)
{
    const sotto_beacon_input input = an_input();
    char more[700], line[500], text[300];
    sotto_buf out = sotto_buf_over(text, sizeof text - 1);
    scene s;

    witnesses_scene_open(t, &s, WITNESSES);
    witnesses_scene_write(&s, 0, "");
    CHECK_OK(t, witnesses_scene_start(&s, 0));
    CHECK_EQUAL(t, 404, ask(&s, 0, &input, NULL));
    CHECK_EQUAL(t, 404, meeting_post(&s, 0, "beacon-key/seat", (sotto_bytes){NULL, 0}).status);
    witnesses_scene_stop(&s, 0);
    (void)snprintf(more, sizeof more, "beacon_witnesses = %s\n", s.listed);
    witnesses_scene_write(&s, 0, more); /* without a token, anybody could ask */
    CHECK_STATUS(t, SOTTO_MISSING, witnesses_scene_start(&s, 0));
    sotto_err_clear(&t->err);
    (void)snprintf(more, sizeof more, "beacon_witnesses = %s/others\nbeacon_token = %s\n",
                   s.directory, s.token);
    witnesses_scene_write(&s, 0, more);
    CHECK_OK(t, sotto_note_key_encode(&out, &s.keys[1], &t->err));
    text[out.len] = 0;
    (void)snprintf(line, sizeof line, "%s\n%s\n%s\n", text, text, text);
    witnesses_scene_file(&s, "others", line); /* nobody counts twice */
    CHECK_STATUS(t, SOTTO_DENIED, witnesses_scene_start(&s, 0));
    CHECK(t, strstr(t->err.reason, "the same") != NULL);
    sotto_err_clear(&t->err);
    witnesses_scene_file(&s, "others", text);
    CHECK_STATUS(t, SOTTO_DENIED, witnesses_scene_start(&s, 0));
    sotto_err_clear(&t->err);
    witnesses_scene_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(witnesses_make_their_key_and_the_value),  CASE(a_witness_that_lies_stops_nothing),
        CASE(a_key_has_a_quorum_of_the_witnesses),     CASE(an_epoch_has_one_session),
        CASE(only_who_has_the_token_settles_an_epoch), CASE(a_stranger_is_refused_by_the_head),
        CASE(a_witness_is_one_of_those_listed),
    };

    return RUN_TESTS(argc, argv, cases);
}
