/* Witnesses meet to make their key: whoever carries what they say is not trusted, and may be lost. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "db/store.h"
#include "serve/meeting_scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* With its own channel key in another's place, the carrier would read what is dealt to that one; with all of them, it has the key. */
static void a_channel_key_is_its_witnesses_own(sotto_test *t)
{
    sotto_bytes said;
    meeting h, bent;
    scene s;

    meeting_set_up(t, &s);
    meeting_take_seats(&s, &h, 1);
    for (unsigned i = 1; i < WITNESSES; i++) {
        bent = h;
        memset(bent.channel[i], 9, sizeof bent.channel[i]);
        CHECK_EQUAL(t, 400,
                    meeting_speak(&s, &bent, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    }
    CHECK_EQUAL(t, 200, meeting_speak(&s, &h, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    witnesses_scene_close(&s);
}

/* A seat of another meeting is no seat: its channel key may be known by now. */
static void a_seat_is_of_one_meeting(sotto_test *t)
{
    sotto_bytes said;
    meeting h, later;
    scene s;

    meeting_set_up(t, &s);
    meeting_take_seats(&s, &h, 1);
    meeting_take_seats(&s, &later, 2);
    memcpy(later.channel[1], h.channel[1], sizeof h.channel[1]);
    memcpy(later.signatures[1], h.signatures[1], sizeof h.signatures[1]);
    CHECK_EQUAL(t, 400,
                meeting_speak(&s, &later, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    witnesses_scene_close(&s);
}

static void members_are_those_of_the_list(sotto_test *t)
{
    sotto_bytes said;
    meeting h;
    scene s;

    meeting_set_up(t, &s);
    meeting_take_seats(&s, &h, 1);
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
    CHECK_EQUAL(t, 400, meeting_speak(&s, &h, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    witnesses_scene_close(&s);
}

/* A meeting that is over is not gone on with. */
static void nobody_speaks_in_a_meeting_that_is_over(sotto_test *t)
{
    sotto_bytes said;
    meeting h;
    scene s;

    meeting_set_up(t, &s);
    meeting_take_seats(&s, &h, 1);
    h.call.ends = 1000; /* in 1970 */
    CHECK_EQUAL(t, 409, meeting_speak(&s, &h, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
    h.call.ends = INT64_MAX;
    CHECK_EQUAL(t, 200, meeting_speak(&s, &h, 0, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
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

    meeting_set_up(t, &s);
    meeting_take_seats(&s, &h, 1);
    for (unsigned i = 0; i < WITNESSES; i++) {
        CHECK_EQUAL(t, 200,
                    meeting_speak(&s, &h, i, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0}, &said));
        if (i < WITNESSES - 1)
            sotto_write_opaque32(&w, said);
    }
    all = sotto_buf_bytes(&posts);
    CHECK_EQUAL(t, 200, meeting_speak(&s, &h, 0, SOTTO_KEYGEN_COMPLAIN, all, &said));
    meeting_restart(&s, 0);
    CHECK_EQUAL(t, 200,
                meeting_speak(&s, &h, 0, SOTTO_KEYGEN_COMPLAIN, (sotto_bytes){NULL, 0}, &again));
    CHECK_EQUAL(t, said.len, again.len);
    CHECK_BYTES(t, said.data, again.data, said.len);
    /* The second skipped its complaints. */
    CHECK_EQUAL(t, 200, meeting_speak(&s, &h, 1, SOTTO_KEYGEN_ANSWER, all, &said));
    CHECK_EQUAL(t, 409, meeting_speak(&s, &h, 1, SOTTO_KEYGEN_COMPLAIN, all, &said));
    h.call.step_ms++; /* another call of the same meeting */
    CHECK_EQUAL(t, 409, meeting_speak(&s, &h, 0, SOTTO_KEYGEN_AGREE, all, &said));
    witnesses_scene_close(&s);
}

static void a_witness_signs_for_one_key(sotto_test *t)
{
    sotto_keygen earlier = {.epoch = 1, .session = {3}}, same = {.epoch = 2, .session = {4}};
    sotto_http_response first, again;
    uint8_t key[SOTTO_P256_WIDE];
    scene s;

    meeting_set_up(t, &s);
    first = meeting_post(&s, 0, "beacon-key/seat", meeting_asking(t, &same));
    again = meeting_post(&s, 0, "beacon-key/seat",
                         meeting_asking(t, &same)); /* an answer that was lost */
    CHECK_EQUAL(t, 200, first.status);
    CHECK_BYTES(t, first.body.data, again.body.data, 32);
    CHECK_EQUAL(t, 409, meeting_post(&s, 0, "beacon-key/seat", meeting_asking(t, &earlier)).status);
    CHECK_OK(t, meeting_meet(&s, 0));
    memcpy(key, s.asked.record.key, sizeof key);
    meeting_restart(&s, 0);
    const sotto_keygen later = {.epoch = INT64_MAX, .session = {5}};
    for (unsigned i = 0; i < WITNESSES; i++)
        CHECK_EQUAL(t, 409,
                    meeting_post(&s, i, "beacon-key/seat", meeting_asking(t, &later)).status);
    /* Whoever leads them to a key once more gets the one that they have. */
    CHECK_OK(t, meeting_meet(&s, 1));
    CHECK_BYTES(t, key, s.asked.record.key, sizeof key);
    witnesses_scene_close(&s);
}

static sotto_status set_ahead(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;

    (void)context;
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE beacon_key SET epoch = ?1", err));
    sotto_sql_int(&q, 1, INT64_MAX);
    return sotto_sql_run(&q, NULL, err);
}

/* Somebody types another year: the witnesses would meet for nothing else until then. */
static void a_meeting_of_another_year_does_not_begin(sotto_test *t)
{
    const uint64_t now = sotto_clock_wall(&sotto_clock_system) / 1000000, day = 24 * 3600 * 1000;
    const sotto_keygen soon = {.epoch = now + day / 2, .session = {3}},
                       far = {.epoch = now + 2 * day, .session = {4}},
                       never = {.epoch = INT64_MAX, .session = {5}};
    scene s;

    meeting_set_up(t, &s);
    CHECK_EQUAL(t, 403, meeting_post(&s, 0, "beacon-key/seat", meeting_asking(t, &never)).status);
    CHECK_EQUAL(t, 403, meeting_post(&s, 0, "beacon-key/seat", meeting_asking(t, &far)).status);
    CHECK_EQUAL(t, 200, meeting_post(&s, 0, "beacon-key/seat", meeting_asking(t, &soon)).status);
    /* One that began before this was asked, and to which nobody was called, gives way. */
    CHECK_OK(t, sotto_db_run(s.hosts[0]->db, set_ahead, NULL, &t->err));
    CHECK_OK(t, meeting_meet(&s, 1));
    witnesses_scene_close(&s);
}

/* ---- two that lead at once ------------------------------------------------------------------------------------------------- */

/* All steps before the record, with everybody there. */
static void talk(scene *s, meeting *h, sotto_keygen *k, sotto_buf *posts)
{
    sotto_bytes said[WITNESSES];

    for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_RECORD;
         step = sotto_keygen_next(k, step)) {
        sotto_writer w = sotto_writer_on(posts);

        for (unsigned i = 0; i < WITNESSES; i++)
            CHECK_EQUAL(s->t, 200, meeting_speak(s, h, i, step, sotto_buf_bytes(posts), &said[i]));
        for (unsigned i = 0; i < WITNESSES; i++)
            sotto_write_opaque32(&w, said[i]);
        CHECK_OK(s->t, sotto_writer_finish(&w, "posts", &s->t->err));
        if (step == SOTTO_KEYGEN_DEAL)
            CHECK_OK(s->t,
                     sotto_meeting_open(k, &h->m, (const uint8_t(*)[SOTTO_SIGN_PUBLIC])h->keys,
                                        WITNESSES, &s->t->arena, &s->t->err));
    }
}

/* The database stands still until this is told to go on. */
static atomic_bool goes_on;

static sotto_status stand_still(sotto_tx *tx, void *context, sotto_err *err)
{
    (void)tx;
    (void)context;
    (void)err;
    while (!atomic_load(&goes_on))
        sotto_test_pause_ms(1);
    return SOTTO_OK;
}

static void on_done(void *context, sotto_status status, const sotto_err *err)
{
    (void)err;
    atomic_store((atomic_int *)context, status == SOTTO_OK ? 1 : -1);
}

/* What a request that was faster stored: a record that was signed, and a share. */
static const uint8_t faster[] = {1, 2, 3};

static sotto_status be_faster(sotto_tx *tx, void *context, sotto_err *err)
{
    const sotto_bytes *wire = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "INSERT INTO beacon_post (step, place, wire) VALUES (?1, 0, ?2)", err));
    sotto_sql_int(&q, 1, SOTTO_KEYGEN_RECORD);
    sotto_sql_bytes(&q, 2, *wire);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(tx, &q, "UPDATE beacon_key SET share = ?1", err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(faster, sizeof faster));
    return sotto_sql_run(&q, NULL, err);
}

static sotto_status look_at_share(sotto_tx *tx, void *context, sotto_err *err)
{
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT share FROM beacon_key", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    const sotto_bytes share = sotto_sql_column_bytes(&q, 0);
    *(bool *)context = row && share.len == sizeof faster && !memcmp(share.data, faster, share.len);
    return SOTTO_OK;
}

typedef struct speaker {
    scene *s;
    meeting *h;
    sotto_bytes posts, said;
    unsigned status;
} speaker;

static void *speak_slowly(void *context)
{
    speaker *one = context;

    one->status = meeting_speak(one->s, one->h, 0, SOTTO_KEYGEN_RECORD, one->posts, &one->said);
    return NULL;
}

static sotto_bytes faster_post(scene *s, const sotto_keygen *k)
{
    static const uint8_t body[SOTTO_SIGNATURE];
    sotto_keygen_post post = {.step = SOTTO_KEYGEN_RECORD, .body = {body, sizeof body}};
    sotto_buf out = sotto_test_buf(s->t, SOTTO_KEYGEN_MOST_POST);
    sotto_signer signer;

    witnesses_scene_signer(s, 0, &signer);
    CHECK_OK(s->t, sotto_keygen_post_sign(k, &post, &signer, &s->t->err));
    CHECK_OK(s->t, sotto_keygen_post_encode(&out, &post, &s->t->err));
    sotto_signer_clear(&signer);
    return sotto_buf_bytes(&out);
}

/* Between what a witness reads, and what it stores, another request stores: the record that was signed and the share belong together. On
 * SQLite, whose functions run in the order in which they came. */
static void race(scene *s, meeting *h, sotto_bytes posts, sotto_bytes wire)
{
    sotto_db *db = s->hosts[0]->db;
    speaker one = {.s = s, .h = h, .posts = posts};
    atomic_int still = 0, fast = 0;
    sotto_db_job first = {stand_still, NULL, on_done, &still, NULL, SOTTO_OK, {0}},
                 second = {be_faster, &wire, on_done, &fast, NULL, SOTTO_OK, {0}};
    sotto_db_stats stats = {0};
    pthread_t thread;

    atomic_store(&goes_on, false);
    sotto_db_post(db, &first);
    for (stats.waiting = 1; stats.waiting > 0; sotto_db_stats_get(db, &stats))
        sotto_test_pause_ms(1);
    CHECK(s->t, pthread_create(&thread, NULL, speak_slowly, &one) == 0);
    for (; stats.waiting == 0; sotto_db_stats_get(db, &stats))
        sotto_test_pause_ms(1);
    sotto_db_post(db, &second);
    atomic_store(&goes_on, true);
    (void)pthread_join(thread, NULL);
    CHECK_EQUAL(s->t, 1, atomic_load(&fast));
    CHECK_EQUAL(s->t, 1, atomic_load(&still));
    CHECK_EQUAL(s->t, 200, one.status);
    CHECK_EQUAL(s->t, wire.len, one.said.len);
    CHECK_BYTES(s->t, wire.data, one.said.data, wire.len);
}

static void a_record_is_signed_once(sotto_test *t)
{
    sotto_buf posts = sotto_test_buf(t, 1 << 18);
    sotto_keygen k = {0};
    bool is_faster = false;
    meeting h;
    scene s;

    meeting_set_up(t, &s);
    if (strcmp(sotto_db_kind(s.hosts[0]->db), "sqlite") == 0) {
        meeting_take_seats(&s, &h, 1);
        talk(&s, &h, &k, &posts);
        race(&s, &h, sotto_buf_bytes(&posts), faster_post(&s, &k));
        CHECK_OK(t, sotto_db_read(s.hosts[0]->db, look_at_share, &is_faster, &t->err));
        CHECK(t, is_faster);
    }
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

static sotto_beacon_input an_input(void)
{
    return (sotto_beacon_input){.session = {7}, .registry = {9}, .epoch = 5};
}

static void whoever_led_may_be_lost(sotto_test *t)
{
    const sotto_beacon_input input = an_input();
    sotto_beacon_part used[THRESHOLD];
    const char *urls[WITNESSES];
    uint8_t value[32];
    scene s;

    meeting_set_up(t, &s);
    memcpy(urls, s.asked.file.urls, sizeof urls);
    s.asked.before = lose_others;
    s.asked.context = &s;
    CHECK_STATUS(t, SOTTO_DENIED, meeting_meet(&s, 0));
    sotto_err_clear(&t->err);
    memcpy(s.asked.file.urls, urls, sizeof urls);
    s.asked.before = NULL;
    CHECK_OK(t, meeting_meet(&s, 1)); /* another one goes on with the same meeting */
    for (unsigned i = 0; i < WITNESSES; i++)
        CHECK(t, s.asked.record.is_signed[i]);
    CHECK_OK(t, sotto_witnesses_ask(&s.asked, value, used, &input, &t->err));
    witnesses_scene_close(&s);
}

/* ---- a witness that shows another meeting ---------------------------------------------------------------------------------------- */

typedef struct forgery {
    sotto_bytes wire;
    const meeting *of;
} forgery;

/* It says that it signed in a meeting of before, to which all were called. */
static sotto_status forge_meeting(sotto_tx *tx, void *context, sotto_err *err)
{
    const forgery *f = context;
    sotto_sql q;

    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "UPDATE beacon_key SET session = ?1, epoch = ?2, wire = ?3, share = ?4", err));
    sotto_sql_bytes(&q, 1, sotto_bytes_of(f->of->call.session, 32));
    sotto_sql_int(&q, 2, (int64_t)f->of->call.epoch);
    sotto_sql_bytes(&q, 3, f->wire);
    sotto_sql_bytes(&q, 4, sotto_bytes_of(faster, sizeof faster));
    return sotto_sql_run(&q, NULL, err);
}

/* From the record on, only the second witness is reached. */
static void lose_all_but_one(void *context, uint32_t place, unsigned step)
{
    scene *s = context;

    if (step == SOTTO_KEYGEN_RECORD && place != 1)
        s->asked.file.urls[place] = "http://127.0.0.1:1";
}

/* Whether it is heard first or last. */
static void mislead(sotto_test *t, unsigned liar)
{
    const char *urls[WITNESSES];
    meeting before;
    forgery f = {.of = &before};
    scene s;

    meeting_set_up(t, &s);
    memcpy(urls, s.asked.file.urls, sizeof urls);
    meeting_take_seats(&s, &before, 1);
    f.wire = meeting_written(t, &before, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0});
    s.asked.before = lose_all_but_one;
    s.asked.context = &s;
    CHECK_STATUS(t, SOTTO_DENIED, meeting_meet(&s, 0));
    sotto_err_clear(&t->err);
    memcpy(s.asked.file.urls, urls, sizeof urls);
    s.asked.before = NULL;
    CHECK_OK(t, sotto_db_run(s.hosts[liar]->db, forge_meeting, &f, &t->err));
    CHECK_OK(t, meeting_meet(&s, 0));
    for (unsigned i = 0; i < WITNESSES; i++)
        CHECK(t, i == liar || s.asked.record.is_signed[i]);
    witnesses_scene_close(&s);
}

static void the_meeting_of_most_is_gone_on_with(sotto_test *t)
{
    mislead(t, 0);
    mislead(t, WITNESSES - 1);
}

/* Nobody else is in it: those who are asked to go on with it would fail, and those who are asked to begin anew would forget the right one. */
static void a_meeting_that_one_witness_names_is_not_gone_on_with(sotto_test *t)
{
    meeting before;
    forgery f = {.of = &before};
    scene s;

    meeting_set_up(t, &s);
    meeting_take_seats(&s, &before, 1);
    f.wire = meeting_written(t, &before, SOTTO_KEYGEN_DEAL, (sotto_bytes){NULL, 0});
    CHECK_OK(t, sotto_db_run(s.hosts[3]->db, forge_meeting, &f, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, meeting_meet(&s, 0));
    CHECK_REASON(t, "witness 4 signed in a meeting that 1 of 4 witnesses are in");
    sotto_err_clear(&t->err);
    witnesses_scene_close(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_channel_key_is_its_witnesses_own),
        CASE(a_seat_is_of_one_meeting),
        CASE(members_are_those_of_the_list),
        CASE(nobody_speaks_in_a_meeting_that_is_over),
        CASE(a_witness_says_one_thing_in_a_step),
        CASE(a_witness_signs_for_one_key),
        CASE(a_meeting_of_another_year_does_not_begin),
        CASE(a_record_is_signed_once),
        CASE(whoever_led_may_be_lost),
        CASE(the_meeting_of_most_is_gone_on_with),
        CASE(a_meeting_that_one_witness_names_is_not_gone_on_with),
    };

    return RUN_TESTS(argc, argv, cases);
}
