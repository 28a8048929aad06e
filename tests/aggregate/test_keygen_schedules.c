/* Key generation over random schedules. Posts are withheld from some members or from all, and members crash. Two of them lie, send different
 * posts to different members, or come back from an old copy. No two keys are made, and nobody has the key. */
#include "chamber.h"

#include "base/arena.h"
#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIARS = 2,
    SHORT = 12
}; /* fewer than a third of seven; schedules, unless more are asked for */

/* How often, out of 1. */
typedef struct weather {
    double hidden;  /* a post from a member that asks for it */
    double crashed; /* a member misses its turn */
    double lies;    /* a liar bends what it says */
    double split;   /* a liar says something else to half of them */
    double back;    /* a liar forgets what it saw and said since DEAL */
} weather;

typedef struct schedule {
    sotto_test *t;
    chamber *h;
    sotto_sim_random random;
    weather w;
    bool is_liar[MEMBERS];             /* by place */
    sotto_keygen_board seen[MEMBERS];  /* by place */
    uint64_t opened[MEMBERS][MEMBERS]; /* values of this dealer for that member were in the open */
    bool finished[MEMBERS];
    uint8_t digest[MEMBERS][32]; /* of the record that it signed */
} schedule;

static bool happens(schedule *s, double chance)
{
    return sotto_sim_random_unit(&s->random) < chance;
}

static sotto_keygen_self self_of(schedule *s, uint32_t place)
{
    const uint32_t index = s->h->k.members[place];

    return (sotto_keygen_self){
        .index = index, .seed = s->h->seeds[index], .channel = &s->h->channels[index]};
}

/* ---- what is said -------------------------------------------------------------------------------------------------- */

static void sign_record(schedule *s, uint32_t place, sotto_buf *body)
{
    const uint32_t index = s->h->k.members[place];
    const sotto_keygen_self self = self_of(s, place);
    sotto_decryptors_record record;
    sotto_test *t = s->t;
    uint8_t share[32];

    if (sotto_keygen_finish(&s->h->k, &self, &s->seen[place], &record, share, &t->arena, NULL) !=
        SOTTO_OK)
        return;
    sotto_decryptors_digest(&record, s->digest[place]);
    CHECK_OK(t,
             sotto_decryptors_sign(s->digest[place], body->data, &s->h->signers[index], &t->err));
    body->len = SOTTO_SIGNATURE;
    s->finished[place] = true;
    memcpy(s->h->shares[index], share, sizeof share);
}

/* A step is a function of seed and board: who crashed and does it again says the same. */
static void write(schedule *s, uint32_t place, unsigned step, sotto_buf *body)
{
    const sotto_keygen_self self = self_of(s, place);
    sotto_test *t = s->t;
    sotto_buf again;

    if (step == SOTTO_KEYGEN_RECORD) {
        sign_record(s, place, body);
        return;
    }
    const sotto_status status =
        sotto_keygen_write(&s->h->k, &self, step, &s->seen[place], body, &t->arena, NULL);
    CHECK(t, status == SOTTO_OK || status == SOTTO_DENIED || status == SOTTO_REJECTED ||
                 status == SOTTO_AGAIN);
    if (status != SOTTO_OK) {
        CHECK_EQUAL(t, 0, body->len);
        return;
    }
    if (!happens(s, 0.2))
        return;
    CHECK_OK(t, sotto_buf_take(&again, &t->arena, SOTTO_KEYGEN_MOST_BODY, &t->err));
    CHECK_OK(
        t, sotto_keygen_write(&s->h->k, &self, step, &s->seen[place], &again, &t->arena, &t->err));
    CHECK(t, again.len == body->len && memcmp(again.data, body->data, body->len) == 0);
}

/* What a dealer's values are, once they are in the open. */
static void note_opened(schedule *s, const sotto_keygen_post *post)
{
    sotto_keygen_shown shown;

    if (post->step != SOTTO_KEYGEN_ANSWER && post->step != SOTTO_KEYGEN_SHOW &&
        post->step != SOTTO_KEYGEN_ACCUSE)
        return;
    if (sotto_keygen_shown_decode(&shown, post->body, MEMBERS, NULL) != SOTTO_OK)
        return;
    for (uint32_t i = 0; i < shown.count; i++) {
        if (post->step == SOTTO_KEYGEN_ANSWER)
            s->opened[post->place][shown.at[i]] = 1;
        else
            s->opened[shown.at[i]][post->place] = 1;
    }
}

static void post_to(schedule *s, uint32_t place, unsigned step, sotto_bytes body, uint32_t parity,
                    bool all)
{
    const uint32_t index = s->h->k.members[place];
    sotto_keygen_post post = {.step = step, .place = place, .body = body}, read;
    sotto_test *t = s->t;
    sotto_buf wire;

    CHECK_OK(t, sotto_keygen_post_sign(&s->h->k, &post, &s->h->signers[index], &t->err));
    CHECK_OK(t, sotto_buf_take(&wire, &t->arena, SOTTO_KEYGEN_MOST_POST, &t->err));
    CHECK_OK(t, sotto_keygen_post_encode(&wire, &post, &t->err));
    CHECK_OK(t, sotto_keygen_post_decode(&read, sotto_buf_bytes(&wire), &t->err));
    if (sotto_keygen_post_check(&s->h->k, &read, NULL) != SOTTO_OK)
        return; /* a lie that has not the form of its step */
    note_opened(s, &read);
    sotto_keygen_board_put(&s->h->all, &read);
    for (uint32_t to = 0; to < MEMBERS; to++)
        if (to == place || ((all || to % 2 == parity) && !happens(s, s->w.hidden)))
            sotto_keygen_board_put(&s->seen[to], &read);
}

static void say(schedule *s, uint32_t place, unsigned step, sotto_buf *body)
{
    const sotto_bytes said = sotto_buf_bytes(body);
    uint8_t *bent;

    if (!s->is_liar[place] || (!happens(s, s->w.lies) && !happens(s, s->w.split))) {
        post_to(s, place, step, said, 0, true);
        return;
    }
    bent = sotto_arena_take(&s->t->arena, said.len + 1);
    CHECK(s->t, bent != NULL);
    memcpy(bent, said.data, said.len);
    bent[sotto_sim_random_below(&s->random, said.len)] ^=
        (uint8_t)(1u << sotto_sim_random_below(&s->random, 8));
    const bool split = happens(s, s->w.split);
    post_to(s, place, step, sotto_bytes_of(bent, said.len), 1, !split);
    if (split)
        post_to(s, place, step, said, 0, false);
}

static void take_step(schedule *s, unsigned step)
{
    sotto_buf bodies[MEMBERS];

    for (uint32_t place = 0; place < MEMBERS; place++) {
        if (s->is_liar[place] && step > SOTTO_KEYGEN_COMPLAIN && happens(s, s->w.back))
            memset(&s->seen[place], 0, sizeof s->seen[place]);
        CHECK_OK(s->t,
                 sotto_buf_take(&bodies[place], &s->t->arena, SOTTO_KEYGEN_MOST_BODY, &s->t->err));
        if (!happens(s, s->w.crashed))
            write(s, place, step, &bodies[place]);
    }
    for (uint32_t place = 0; place < MEMBERS; place++)
        if (bodies[place].len)
            say(s, place, step, &bodies[place]);
}

/* ---- what never happens ------------------------------------------------------------------------------------------------ */

/* Somebody honest counts, of whose polynomial less than the threshold is known. */
static void check_secret(schedule *s, const sotto_keygen_board *board)
{
    unsigned unknown = 0;

    for (uint32_t d = 0; d < MEMBERS; d++) {
        uint64_t known = 0;

        if (s->is_liar[d] || !board->is_there[SOTTO_KEYGEN_DEAL][d])
            continue;
        for (uint32_t m = 0; m < MEMBERS; m++)
            known += s->is_liar[m] || s->opened[d][m];
        unknown += known < THRESHOLD;
    }
    CHECK(s->t, unknown > 0);
}

/* Each one's share is what the record says of it. */
static void check_share(schedule *s, const sotto_decryptors_record *r, uint32_t place)
{
    sotto_test *t = s->t;
    uint8_t value[SOTTO_P256_WIDE];
    sotto_scalar share;
    sotto_tdh2 tdh2;

    CHECK_OK(t, sotto_tdh2_init(&tdh2, &t->err));
    CHECK(t, sotto_scalar_decode(&tdh2.group, &share, s->h->shares[s->h->k.members[place]]));
    sotto_point_multiply(&tdh2.group, tdh2.at[0], &share, NULL);
    CHECK(t, sotto_point_encode_wide(&tdh2.group, value, tdh2.at[0]));
    CHECK_BYTES(t, r->verify[place], value, sizeof value);
    sotto_tdh2_clear(&tdh2);
}

/* Whether a key was made; in every view it is the same one. */
static bool check_end(schedule *s)
{
    const uint8_t *first = NULL;
    sotto_decryptors_record r;
    bool made = false;

    for (uint32_t place = 0; place < MEMBERS; place++) {
        if (s->is_liar[place] || !s->finished[place])
            continue;
        if (first)
            CHECK_BYTES(s->t, first, s->digest[place], 32);
        first = s->digest[place];
    }
    for (uint32_t view = 0; view <= MEMBERS; view++) {
        const sotto_keygen_board *board = view < MEMBERS ? &s->seen[view] : &s->h->all;
        uint8_t digest[32];

        if ((view < MEMBERS && s->is_liar[view]) ||
            sotto_keygen_record(&s->h->k, board, &r, &s->t->arena, NULL) != SOTTO_OK)
            continue;
        sotto_decryptors_digest(&r, digest);
        CHECK(s->t, first != NULL);
        CHECK_BYTES(s->t, first, digest, sizeof digest);
        for (uint32_t place = 0; place < MEMBERS; place++)
            if (!s->is_liar[place] && s->finished[place])
                check_share(s, &r, place);
        made = true;
    }
    check_secret(s, &s->h->all);
    return made;
}

static bool run(sotto_test *t, chamber *h, uint64_t seed, const weather *w, unsigned liars)
{
    static schedule s; /* too large for a stack */
    const sotto_arena_mark mark = sotto_arena_here(&t->arena);

    memset(&s, 0, sizeof s);
    s.t = t;
    s.h = h;
    s.w = *w;
    sotto_sim_random_init(&s.random, seed);
    memset(&h->all, 0, sizeof h->all);
    for (uint32_t i = 0; i < REGISTERED; i++)
        sotto_sim_random_bytes(&s.random, h->seeds[i], sizeof h->seeds[i]);
    for (unsigned i = 0; i < liars; i++)
        s.is_liar[sotto_sim_random_below(&s.random, MEMBERS)] = true;
    for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_OVER;
         step = sotto_keygen_next(&h->k, step))
        take_step(&s, step);
    const bool made = check_end(&s);
    sotto_arena_rollback(&t->arena, mark);
    return made;
}

static uint64_t schedules(void)
{
    const char *more = getenv("SOTTO_CHAOS_ROUNDS");

    return more ? strtoull(more, NULL, 10) : SHORT;
}

/* ---- tests ---------------------------------------------------------------------------------------------------------------- */

static void no_schedule_makes_two_keys_or_gives_one_away(sotto_test *t)
{
    const uint64_t all = schedules();
    chamber *h = chamber_open(t);
    uint64_t made = 0;

    for (uint64_t seed = 0; seed < all; seed++) {
        const double bad = (double)(seed % 4);
        const weather w = {.hidden = 0.01 * bad,
                           .crashed = 0.01 * (double)(seed % 3),
                           .lies = 0.2 * bad,
                           .split = 0.1 * (double)(seed % 5),
                           .back = 0.05 * bad};

        made += run(t, h, seed, &w, LIARS);
    }
    (void)printf("%llu of %llu schedules have a key\n", (unsigned long long)made,
                 (unsigned long long)all);
    CHECK(t, made > all / 8);
    chamber_close(h);
}

/* Nobody lies: whoever crashes in a step is missed, and the others make the key. */
static void a_member_that_crashes_in_any_step_is_missed(sotto_test *t)
{
    chamber *h = chamber_open(t);
    const weather calm = {0};

    CHECK(t, run(t, h, 1, &calm, 0));
    for (unsigned step = SOTTO_KEYGEN_DEAL; step < SOTTO_KEYGEN_OVER; step++) {
        static schedule s;
        const sotto_arena_mark mark = sotto_arena_here(&t->arena);

        memset(&s, 0, sizeof s);
        s.t = t;
        s.h = h;
        sotto_sim_random_init(&s.random, 50 + step);
        memset(&h->all, 0, sizeof h->all);
        for (unsigned at = SOTTO_KEYGEN_DEAL; at < SOTTO_KEYGEN_OVER; at++) {
            for (uint32_t i = 0; i < MEMBERS; i++) {
                sotto_buf body;

                CHECK_OK(t, sotto_buf_take(&body, &t->arena, SOTTO_KEYGEN_MOST_BODY, &t->err));
                if (at != step || i != step % MEMBERS)
                    write(&s, i, at, &body);
                if (body.len)
                    post_to(&s, i, at, sotto_buf_bytes(&body), 0, true);
            }
        }
        CHECK(t, check_end(&s));
        sotto_arena_rollback(&t->arena, mark);
    }
    chamber_close(h);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(no_schedule_makes_two_keys_or_gives_one_away),
        CASE(a_member_that_crashes_in_any_step_is_missed),
    };

    return RUN_TESTS(argc, argv, cases);
}
