/* Seven witnesses of a beacon, each `sotto serve witness` in a process of its own, some of which are killed (SIGKILL) while they make their
 * key and afterwards. One of them lies. Whoever asks learns the same value from whomever is left. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "serve/aggregator_process.h"
#include "serve/witnesses_scene.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WITNESSES = 7, THRESHOLD = 3, QUORUM = 5 }; /* two may lie or be away */

static pid_t
    running[WITNESSES]; /* ended with this program, also after a failure; 0: does not run */

static void end_processes(void)
{
    for (unsigned i = 0; i < WITNESSES; i++)
        if (running[i] > 0)
            (void)kill(running[i], SIGKILL);
}

typedef struct scene {
    witnesses_scene w;
    unsigned kills;
    bool lies,
        leaves; /* the first witness lies; the last one is killed for good when polynomials are revealed */
} scene;

static void start(scene *s, unsigned i)
{
    char file[300];
    char *const arguments[] = {"sotto", "serve", "witness", "--config", file, NULL};
    extern char **environ;
    sotto_http_response r = {0};
    char url[100];

    (void)snprintf(file, sizeof file, "%s/witness-%u.ini", s->w.directory, i);
    CHECK_EQUAL(s->w.t, 0, posix_spawn(&running[i], SOTTO_PROGRAM, NULL, NULL, arguments, environ));
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/beacon-key", s->w.ports[i]);
    const sotto_http_call call = {.method = SOTTO_HTTP_GET, .url = url, .attempts = 1};
    for (uint64_t until = 0; r.status == 0 && sotto_test_waits(&until, 20);)
        if (sotto_http_call_wait(s->w.client, &r, &call, &s->w.t->arena, NULL) != SOTTO_OK)
            r.status = 0;
    CHECK_EQUAL(s->w.t, 401, r.status); /* it has no token: it is there */
}

static void open_scene(sotto_test *t, scene *s)
{
    witnesses_scene_open(t, &s->w, WITNESSES);
    for (unsigned i = 0; i < WITNESSES; i++)
        start(s, i);
}

static void close_scene(scene *s)
{
    for (unsigned i = 0; i < WITNESSES; i++)
        if (running[i])
            kill_process(s->w.t, &running[i]);
    witnesses_scene_close(&s->w);
}

static sotto_status meet(scene *s)
{
    return sotto_witnesses_meet(&s->w.asked, sotto_clock_wall(&sotto_clock_system) / 1000000,
                                &s->w.t->err);
}

static void ask(scene *s, uint8_t value[32])
{
    const sotto_beacon_input input = {.session = {7}, .registry = {9}, .epoch = 5};
    sotto_beacon_part parts[THRESHOLD];

    CHECK_OK(s->w.t, sotto_witnesses_ask(&s->w.asked, value, parts, &input, &s->w.t->err));
}

/* ---- everybody is killed in every step --------------------------------------------------------------------------------- */

/* Before it speaks, and after: what it said is on its disk by then. */
static void kill_before(void *context, uint32_t place, unsigned step)
{
    scene *s = context;

    if ((step + place) % 3 != 0)
        return;
    kill_process(s->w.t, &running[place]);
    start(s, place);
    s->kills++;
}

static bool kill_after(void *context, const sotto_keygen *call, uint32_t place, unsigned step,
                       sotto_bytes *post)
{
    scene *s = context;

    (void)call;
    (void)post;
    if ((step + place) % 3 == 1) {
        kill_process(s->w.t, &running[place]);
        start(s, place);
        s->kills++;
    }
    return true;
}

static void a_key_is_made_while_every_witness_is_killed(sotto_test *t)
{
    uint8_t value[32], again[32];
    static scene s;

    s = (scene){0};
    open_scene(t, &s);
    s.w.asked.before = kill_before;
    s.w.asked.bend = kill_after;
    s.w.asked.context = &s;
    CHECK_OK(t, meet(&s));
    CHECK(t, s.kills >= 2 * 9 * WITNESSES / 3);
    for (unsigned i = 0; i < WITNESSES; i++)
        CHECK(t, s.w.asked.record.is_signed[i]);
    ask(&s, value);
    for (unsigned i = 0; i < WITNESSES - THRESHOLD; i++) { /* the others have it, too */
        kill_process(t, &running[i]);
        ask(&s, again);
        CHECK_BYTES(t, value, again, sizeof value);
    }
    close_scene(&s);
}

/* ---- one lies, and one is lost ------------------------------------------------------------------------------------------- */

static void lose_one(void *context, uint32_t place, unsigned step)
{
    scene *s = context;

    if (place == WITNESSES - 1 && step == SOTTO_KEYGEN_REVEAL)
        kill_process(s->w.t, &running[place]);
}

/* The first one reveals what it did not deal. */
static bool lie(void *context, const sotto_keygen *call, uint32_t place, unsigned step,
                sotto_bytes *wire)
{
    scene *s = context;
    uint8_t body[SOTTO_KEYGEN_MOST_BODY];
    sotto_keygen_post post;
    sotto_signer signer;

    if (place != 0 || step != SOTTO_KEYGEN_REVEAL)
        return true;
    CHECK_OK(s->w.t, sotto_keygen_post_decode(&post, *wire, &s->w.t->err));
    memcpy(body, post.body.data, post.body.len);
    memcpy(body + 2, body + 2 + SOTTO_P256_WIDE, SOTTO_P256_WIDE);
    post.body.data = body;
    witnesses_scene_signer(&s->w, 0, &signer);
    CHECK_OK(s->w.t, sotto_keygen_post_sign(call, &post, &signer, &s->w.t->err));
    sotto_signer_clear(&signer);
    sotto_buf out = sotto_test_buf(s->w.t, SOTTO_KEYGEN_MOST_POST);
    CHECK_OK(s->w.t, sotto_keygen_post_encode(&out, &post, &s->w.t->err));
    *wire = sotto_buf_bytes(&out);
    s->kills++;
    return true;
}

static void one_that_lies_and_one_that_is_lost_stop_nothing(sotto_test *t)
{
    uint8_t value[32], again[32];
    static scene s;

    s = (scene){0};
    open_scene(t, &s);
    s.w.asked.before = lose_one;
    s.w.asked.bend = lie;
    s.w.asked.context = &s;
    CHECK_OK(t, meet(&s));
    CHECK_EQUAL(t, 1, s.kills);
    CHECK(t, !s.w.asked.record.is_signed[WITNESSES - 1]);
    ask(&s, value);
    start(&s, WITNESSES - 1); /* it comes back, and learns from the others what the key is */
    CHECK_OK(t, meet(&s));
    CHECK(t, s.w.asked.record.is_signed[WITNESSES - 1]);
    for (unsigned i = 0; i < WITNESSES - THRESHOLD; i++)
        kill_process(t, &running[i]);
    ask(&s, again);
    CHECK_BYTES(t, value, again, sizeof value);
    close_scene(&s);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {CASE(a_key_is_made_while_every_witness_is_killed),
                                            CASE(one_that_lies_and_one_that_is_lost_stop_nothing)};

    return sotto_test_at_end(end_processes) ? RUN_TESTS(argc, argv, cases) : 1;
}
