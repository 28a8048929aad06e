/* Witnesses of a beacon as services: they make their key themselves, each gives its part, and no epoch has two values. Whoever carries
 * what they say is not trusted. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "log_scene.h"
#include "serve/witnesses_scene.h"

#include <stdio.h>
#include <string.h>

enum { WITNESSES = 4, THRESHOLD = 2 }; /* any two of four make the value; one may lie */

#define TOKEN "Bearer a-token-of-the-aggregator"

typedef witnesses_scene scene;

/* ---- helpers --------------------------------------------------------------------------------------------------------- */

static void set_up(sotto_test *t, scene *s)
{
    witnesses_scene_open(t, s, WITNESSES);
    for (unsigned i = 0; i < WITNESSES; i++) {
        s->databases[i] = sotto_test_address(t);
        CHECK_OK(t, witnesses_scene_start(s, i));
    }
}

/* A restart forgets nothing. */
static void restart(scene *s, unsigned i)
{
    witnesses_scene_stop(s, i);
    CHECK_OK(s->t, witnesses_scene_start(s, i));
}

static sotto_status meet(scene *s, uint64_t hour)
{
    const uint64_t now = sotto_clock_wall(&sotto_clock_system) / 1000000;

    return sotto_witnesses_meet(&s->asked, now + hour * 3600 * 1000, &s->t->err);
}

static sotto_http_response post_as(const scene *s, unsigned i, const char *path, sotto_bytes body,
                                   const char *token)
{
    const sotto_http_field field = {"Authorization", token};
    sotto_http_response r = {0};
    char url[200];

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/%s", s->ports[i], path);
    const sotto_http_call call = {.method = SOTTO_HTTP_POST,
                                  .url = url,
                                  .fields = &field,
                                  .field_count = token ? 1 : 0,
                                  .body = body,
                                  .attempts = 1};
    CHECK_OK(s->t, sotto_http_call_wait(s->client, &r, &call, &s->t->arena, &s->t->err));
    return r;
}

static sotto_http_response post(const scene *s, unsigned i, const char *path, sotto_bytes body)
{
    return post_as(s, i, path, body, TOKEN);
}

static sotto_beacon_input an_input(void)
{
    return (sotto_beacon_input){.session = {7}, .registry = {9}, .epoch = 5};
}

static unsigned ask(const scene *s, unsigned i, const sotto_beacon_input *input,
                    sotto_beacon_part *part)
{
    sotto_buf body = sotto_test_buf(s->t, SOTTO_BEACON_INPUT);

    CHECK_OK(s->t, sotto_beacon_input_encode(&body, input, &s->t->err));
    const sotto_http_response r = post(s, i, "beacon", sotto_buf_bytes(&body));
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

    set_up(t, &s);
    CHECK_EQUAL(t, 404,
                ask(&s, 0, &input, NULL)); /* there is no key yet, and the epoch is not settled */
    CHECK_STATUS(t, SOTTO_MISSING, sotto_witnesses_ask(&s.asked, value, used, &input, &t->err));
    sotto_err_clear(&t->err);
    CHECK_OK(t, meet(&s, 0));
    for (unsigned i = 0; i < WITNESSES; i++)
        CHECK(t, s.asked.record.is_signed[i]);
    CHECK_OK(t, sotto_witnesses_ask(&s.asked, value, used, &input, &t->err));
    for (unsigned i = 0; i < WITNESSES; i++) {
        restart(&s, i);
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

        set_up(t, &s);
        s.asked.bend = lie;
        s.asked.context = &l;
        CHECK_OK(t, meet(&s, 0));
        CHECK(t, l.lies >= 1);
        for (unsigned i = 1; i < WITNESSES; i++)
            CHECK(t, s.asked.record.is_signed[i]);
        CHECK_OK(t, sotto_witnesses_ask(&s.asked, value, used, &input, &t->err));
        witnesses_scene_close(&s);
    }
}

/* ---- whoever carries the posts ------------------------------------------------------------------------------------------- */

typedef struct meeting {
    uint8_t keys[WITNESSES][SOTTO_SIGN_PUBLIC], channel[WITNESSES][32];
    uint8_t signatures[WITNESSES][SOTTO_SIGNATURE];
    sotto_keygen call;
    sotto_meeting m;
} meeting;

static sotto_bytes asking(sotto_test *t, const sotto_keygen *call)
{
    sotto_buf body = sotto_test_buf(t, SOTTO_MEETING_ASK);
    sotto_writer w = sotto_writer_on(&body);

    sotto_write_bytes(&w, sotto_bytes_of(call->session, sizeof call->session));
    sotto_write_uint(&w, call->epoch, 8);
    CHECK_OK(t, sotto_writer_finish(&w, "asking", &t->err));
    return sotto_buf_bytes(&body);
}

/* Everybody's seat, as an honest carrier takes them. */
static void take_seats(scene *s, meeting *h, uint64_t epoch)
{
    sotto_meeting_seat seat;

    h->call = (sotto_keygen){.epoch = epoch, .ends = INT64_MAX, .session = {1}};
    for (unsigned i = 0; i < WITNESSES; i++) {
        const sotto_http_response r = post(s, i, "beacon-key/seat", asking(s->t, &h->call));

        CHECK_EQUAL(s->t, 200, r.status);
        CHECK_OK(s->t, sotto_meeting_seat_decode(&seat, r.body, &s->t->err));
        memcpy(h->keys[i], s->keys[i].public_key, SOTTO_SIGN_PUBLIC);
        memcpy(h->channel[i], seat.channel, 32);
        memcpy(h->signatures[i], seat.signature, SOTTO_SIGNATURE);
    }
}

static sotto_bytes written(sotto_test *t, meeting *h, unsigned step, sotto_bytes posts)
{
    sotto_registry *r = &h->call.posting.registry;
    sotto_buf call = sotto_test_buf(t, 4096), out = sotto_test_buf(t, 1 << 16);

    h->call.count = WITNESSES;
    r->keys = (const uint8_t(*)[SOTTO_SIGN_PUBLIC])h->keys;
    r->pair = r->channel = (const uint8_t(*)[32])h->channel;
    r->count = WITNESSES;
    CHECK_OK(t, sotto_keygen_encode(&call, &h->call, &t->arena, &t->err));
    h->m = (sotto_meeting){.call = sotto_buf_bytes(&call),
                           .count = WITNESSES,
                           .signatures = h->signatures[0],
                           .step = step,
                           .posts = posts};
    CHECK_OK(t, sotto_meeting_encode(&out, &h->m, &t->err));
    return sotto_buf_bytes(&out);
}

static unsigned speak(scene *s, meeting *h, unsigned i, unsigned step, sotto_bytes posts,
                      sotto_bytes *said)
{
    const sotto_http_response r = post(s, i, "beacon-key/post", written(s->t, h, step, posts));

    *said = r.body;
    return r.status;
}

/* With its own channel key in another's place, the carrier would read what is dealt to that one; with all of them, it has the key. */
static void a_channel_key_is_its_witnesses_own(sotto_test *t)
{
    sotto_bytes said;
    meeting h, bent;
    scene s;

    set_up(t, &s);
    take_seats(&s, &h, 1);
    for (unsigned i = 1; i < WITNESSES; i++) {
        bent = h;
        memset(bent.channel[i], 9, sizeof bent.channel[i]);
        CHECK_EQUAL(t, 400, speak(&s, &bent, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    }
    CHECK_EQUAL(t, 200, speak(&s, &h, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    witnesses_scene_close(&s);
}

/* A seat of another meeting is no seat: its channel key may be known by now. */
static void a_seat_is_of_one_meeting(sotto_test *t)
{
    sotto_bytes said;
    meeting h, later;
    scene s;

    set_up(t, &s);
    take_seats(&s, &h, 1);
    take_seats(&s, &later, 2);
    memcpy(later.channel[1], h.channel[1], sizeof h.channel[1]);
    memcpy(later.signatures[1], h.signatures[1], sizeof h.signatures[1]);
    CHECK_EQUAL(t, 400, speak(&s, &later, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    witnesses_scene_close(&s);
}

static void members_are_those_of_the_list(sotto_test *t)
{
    sotto_bytes said;
    meeting h;
    scene s;

    set_up(t, &s);
    take_seats(&s, &h, 1);
    for (unsigned i = 1; i < WITNESSES; i++) {
        const uint8_t seed[SOTTO_SIGN_SEED] = {(uint8_t)(90 + i)};
        sotto_meeting_seat seat;
        sotto_signer own;

        CHECK_OK(t, sotto_signer_init(&own, seed, &t->err));
        memset(h.channel[i], (int)i, sizeof h.channel[i]);
        memcpy(seat.channel, h.channel[i], sizeof seat.channel);
        CHECK_OK(t, sotto_meeting_seat_sign(&seat, h.call.session, h.call.epoch, &own, &t->err));
        memcpy(h.keys[i], own.public_key, SOTTO_SIGN_PUBLIC);
        memcpy(h.signatures[i], seat.signature, SOTTO_SIGNATURE);
        sotto_signer_clear(&own);
    }
    CHECK_EQUAL(t, 400, speak(&s, &h, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    witnesses_scene_close(&s);
}

/* A meeting that is over is not gone on with. */
static void nobody_speaks_in_a_meeting_that_is_over(sotto_test *t)
{
    sotto_bytes said;
    meeting h;
    scene s;

    set_up(t, &s);
    take_seats(&s, &h, 1);
    h.call.ends = 1000; /* in 1970 */
    CHECK_EQUAL(t, 409, speak(&s, &h, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    h.call.ends = INT64_MAX;
    CHECK_EQUAL(t, 200, speak(&s, &h, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    witnesses_scene_close(&s);
}

/* In one step a witness says one thing, whatever it is shown; and a step that is over does not come back. */
static void a_witness_says_one_thing_in_a_step(sotto_test *t)
{
    sotto_buf posts = sotto_test_buf(t, 1 << 15);
    sotto_writer w = sotto_writer_on(&posts);
    sotto_bytes said, again, all;
    meeting h;
    scene s;

    set_up(t, &s);
    take_seats(&s, &h, 1);
    for (unsigned i = 0; i < WITNESSES; i++) {
        CHECK_EQUAL(t, 200, speak(&s, &h, i, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
        if (i < WITNESSES - 1)
            sotto_write_opaque32(&w, said);
    }
    all = sotto_buf_bytes(&posts);
    CHECK_EQUAL(t, 200, speak(&s, &h, 0, SOTTO_KEYGEN_COMPLAIN, all, &said));
    restart(&s, 0);
    CHECK_EQUAL(t, 200, speak(&s, &h, 0, SOTTO_KEYGEN_COMPLAIN, (sotto_bytes){NULL, 0}, &again));
    CHECK_EQUAL(t, said.len, again.len);
    CHECK_BYTES(t, said.data, again.data, said.len);
    /* The second skipped its complaints. */
    CHECK_EQUAL(t, 200, speak(&s, &h, 1, SOTTO_KEYGEN_ANSWER, all, &said));
    CHECK_EQUAL(t, 409, speak(&s, &h, 1, SOTTO_KEYGEN_COMPLAIN, all, &said));
    h.call.step_ms++; /* another call of the same meeting */
    CHECK_EQUAL(t, 409, speak(&s, &h, 0, SOTTO_KEYGEN_AGREE, all, &said));
    witnesses_scene_close(&s);
}

static void a_witness_signs_for_one_key(sotto_test *t)
{
    sotto_keygen earlier = {.epoch = 1, .session = {3}}, same = {.epoch = 2, .session = {4}};
    sotto_http_response first, again;
    uint8_t key[SOTTO_P256_WIDE];
    scene s;

    set_up(t, &s);
    first = post(&s, 0, "beacon-key/seat", asking(t, &same));
    again = post(&s, 0, "beacon-key/seat", asking(t, &same)); /* an answer that was lost */
    CHECK_EQUAL(t, 200, first.status);
    CHECK_BYTES(t, first.body.data, again.body.data, 32);
    CHECK_EQUAL(t, 409, post(&s, 0, "beacon-key/seat", asking(t, &earlier)).status);
    CHECK_OK(t, meet(&s, 0));
    memcpy(key, s.asked.record.key, sizeof key);
    restart(&s, 0);
    const sotto_keygen later = {.epoch = INT64_MAX, .session = {5}};
    for (unsigned i = 0; i < WITNESSES; i++)
        CHECK_EQUAL(t, 409, post(&s, i, "beacon-key/seat", asking(t, &later)).status);
    /* Whoever leads them to a key once more gets the one that they have. */
    CHECK_OK(t, meet(&s, 1));
    CHECK_BYTES(t, key, s.asked.record.key, sizeof key);
    witnesses_scene_close(&s);
}

/* ---- a meeting that was left -------------------------------------------------------------------------------------------------- */

/* From the record on, only the first witness is reached. */
static void lose_others(void *context, uint32_t place, unsigned step)
{
    scene *s = context;

    if (step == SOTTO_KEYGEN_RECORD && place > 0)
        s->asked.file.urls[place] = "http://127.0.0.1:1";
}

static void whoever_led_may_be_lost(sotto_test *t)
{
    const sotto_beacon_input input = an_input();
    sotto_beacon_part used[THRESHOLD];
    const char *urls[WITNESSES];
    uint8_t value[32];
    scene s;

    set_up(t, &s);
    memcpy(urls, s.asked.file.urls, sizeof urls);
    s.asked.before = lose_others;
    s.asked.context = &s;
    CHECK_STATUS(t, SOTTO_DENIED, meet(&s, 0));
    sotto_err_clear(&t->err);
    memcpy(s.asked.file.urls, urls, sizeof urls);
    s.asked.before = NULL;
    CHECK_OK(t, meet(&s, 1)); /* another one goes on with the same meeting */
    for (unsigned i = 0; i < WITNESSES; i++)
        CHECK(t, s.asked.record.is_signed[i]);
    CHECK_OK(t, sotto_witnesses_ask(&s.asked, value, used, &input, &t->err));
    witnesses_scene_close(&s);
}

/* ---- the record ------------------------------------------------------------------------------------------------------------------ */

static void a_key_has_a_quorum_of_the_witnesses(sotto_test *t)
{
    sotto_buf wire = sotto_test_buf(t, SOTTO_DECRYPTORS_MOST_BYTES);
    sotto_decryptors_record record;
    scene s;

    set_up(t, &s);
    CHECK_OK(t, meet(&s, 0));
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

    set_up(t, &s);
    CHECK_OK(t, meet(&s, 0));
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
        restart(&s, 0);
    }
    CHECK_EQUAL(t, 200, ask(&s, 0, &next, NULL));
    witnesses_scene_close(&s);
}

static void only_who_has_the_token_settles_an_epoch(sotto_test *t)
{
    static const char *const paths[] = {"beacon", "beacon-key/seat", "beacon-key/post"};
    const sotto_keygen call = {.epoch = 3};
    scene s;

    set_up(t, &s);
    sotto_buf body = sotto_test_buf(t, SOTTO_BEACON_INPUT);
    const sotto_beacon_input input = an_input();
    CHECK_OK(t, sotto_beacon_input_encode(&body, &input, &t->err));
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const sotto_bytes asked = i == 1 ? asking(t, &call) : sotto_buf_bytes(&body);

        CHECK_EQUAL(t, 401, post_as(&s, 0, paths[i], asked, NULL).status);
        CHECK_EQUAL(t, 401,
                    post_as(&s, 0, paths[i], asked, "Bearer another-token-of-others").status);
        CHECK_EQUAL(t, 400, post(&s, 0, paths[i], sotto_bytes_of(asked.data, 20)).status);
    }
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
    CHECK_EQUAL(t, 404, post(&s, 0, "beacon-key/seat", (sotto_bytes){NULL, 0}).status);
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
        CASE(witnesses_make_their_key_and_the_value),
        CASE(a_witness_that_lies_stops_nothing),
        CASE(a_channel_key_is_its_witnesses_own),
        CASE(a_seat_is_of_one_meeting),
        CASE(members_are_those_of_the_list),
        CASE(nobody_speaks_in_a_meeting_that_is_over),
        CASE(a_witness_says_one_thing_in_a_step),
        CASE(a_witness_signs_for_one_key),
        CASE(whoever_led_may_be_lost),
        CASE(a_key_has_a_quorum_of_the_witnesses),
        CASE(an_epoch_has_one_session),
        CASE(only_who_has_the_token_settles_an_epoch),
        CASE(a_witness_is_one_of_those_listed),
    };

    return RUN_TESTS(argc, argv, cases);
}
