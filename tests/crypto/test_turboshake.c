#include "crypto/turboshake.h"
#include "lanes.h"
#include "support/test.h"

#include <string.h>

enum { ROOM = 1200 };

/* Byte i of a message is 13 i + 7; only the last 32 bytes of an output are written down. */
static const struct vector {
    unsigned rate;
    uint8_t domain;
    size_t len, out_len;
    const char *end;
} vectors[] = {
    {168, 0x01, 0, 32, "868cbd53b078205abb85815d941f7d0376bff5b8888a6a2d03483afbaf83967f"},
    {168, 0x01, 3, 32, "87815297523ca7f4bbab083040ab63e74941b2469aa446682c596a35576283d2"},
    {168, 0x02, 167, 64, "9c24937a6d34200056193062b0213a5b1e0e8c647cf3eb940d1b7594e7181fce"},
    {168, 0x7f, 168, 200, "7fdca4018baa8ce70ad514880e96c9d81bc65f726ee286fc6d3353ab242d4e8c"},
    {168, 0x0b, 169, 32, "dd1f36143f2f8fe4f10828b1cf4db166371b9814b2f366f27a055c8e7fd1348d"},
    {168, 0x01, 1000, 1009, "00a4860aeaec6635edfbc4564742a2fc2899f66f231b01d1f69e8c3923efc231"},
    {136, 0x01, 0, 32, "e3dd2df0943bde6d82e39ec36059f35cd76720e2df38cc6b10b69fddfcaa3a4a"},
    {136, 0x1f, 135, 300, "6e2bbcb5a8eee350db8bee8fe27d7b2a04a0440f44ff210c8fa01ff4bcaee849"},
    {136, 0x06, 136, 40, "9350463db1ea6891a25c1240850ee4ab75daa73d735bbf35cdaf95e46b9c790f"},
    {136, 0x40, 137, 32, "7a6f3c19b94f2ee5f2daab39d7399f8b613590f2eed0c180efc76787116a4905"},
    {136, 0x01, 999, 1013, "1feba419b89b85ca11737dc28744f3e154b0df56b07e51446c6a03f83a729a44"},
};

static void check_vector(sotto_test *t, const struct vector *v, unsigned lanes)
{
    static uint8_t message[ROOM], out[SOTTO_LANES][ROOM];
    const uint8_t *const in[SOTTO_LANES] = {message, message, message, message};
    uint8_t *const to[SOTTO_LANES] = {out[0], out[1], out[2], out[3]};
    sotto_bytes wanted = sotto_test_hex(t, v->end);
    sotto_turboshake x;

    for (size_t i = 0; i < v->len; i++)
        message[i] = (uint8_t)(13 * i + 7);
    sotto_turboshake_absorb(&x, v->rate, v->domain, lanes, in, v->len, NULL, 0);
    sotto_turboshake_squeeze(&x, to, v->out_len);
    for (unsigned lane = 0; lane < lanes; lane++)
        CHECK_BYTES(t, wanted.data, out[lane] + v->out_len - wanted.len, wanted.len);
}

static void every_backend_gives_the_known_outputs(sotto_test *t)
{
    for (unsigned n = 0; n < BACKENDS; n++) {
        if (!sotto_keccak_use(backends[n]))
            continue;
        for (size_t v = 0; v < sizeof vectors / sizeof vectors[0]; v++)
            for (unsigned lanes = 1; lanes <= SOTTO_LANES; lanes++)
                check_vector(t, &vectors[v], lanes);
    }
    CHECK(t, sotto_keccak_use(NULL));
}

/* A different message for each lane, in two parts at any address, and its output squeezed at once. */
typedef struct lanes_run {
    uint8_t message[SOTTO_LANES][ROOM + 8];
    uint8_t whole[SOTTO_LANES][ROOM];
    size_t head_len, body_len, out_len;
    unsigned rate, skew;
    uint8_t domain;
} lanes_run;

static void pick_run(lanes_run *r, uint64_t *seed)
{
    static const size_t lengths[] = {0,   1,   7,   8,   9,   135, 136, 137, 167,
                                     168, 169, 271, 272, 273, 335, 336, 337};
    const size_t choices = sizeof lengths / sizeof lengths[0];

    for (unsigned lane = 0; lane < SOTTO_LANES; lane++)
        for (size_t i = 0; i < sizeof r->message[lane]; i++)
            r->message[lane][i] = (uint8_t)draw(seed);
    r->head_len = draw(seed) % 2 ? lengths[draw(seed) % choices] : draw(seed) % 400;
    r->body_len = draw(seed) % 2 ? lengths[draw(seed) % choices] : draw(seed) % 700;
    r->out_len = 1 + (draw(seed) % 2 ? lengths[draw(seed) % choices] : draw(seed) % 1000);
    r->rate = draw(seed) % 2 ? SOTTO_TURBOSHAKE128_RATE : SOTTO_TURBOSHAKE256_RATE;
    r->skew = (unsigned)(draw(seed) % 8);
    r->domain = (uint8_t)(1 + draw(seed) % 127);
}

/* The whole message as one part, alone in the first lane. */
static void squeeze_alone(lanes_run *r)
{
    for (unsigned lane = 0; lane < SOTTO_LANES; lane++) {
        const uint8_t *const in = r->message[lane] + r->skew;
        uint8_t *const out = r->whole[lane];
        sotto_turboshake x;

        sotto_turboshake_absorb(&x, r->rate, r->domain, 1, &in, r->head_len + r->body_len, NULL, 0);
        sotto_turboshake_squeeze(&x, &out, r->out_len);
    }
}

static void check_together(sotto_test *t, const lanes_run *r, unsigned lanes, uint64_t *seed)
{
    static uint8_t out[SOTTO_LANES][ROOM];
    const uint8_t *head[SOTTO_LANES], *body[SOTTO_LANES];
    sotto_turboshake x;

    for (unsigned lane = 0; lane < SOTTO_LANES; lane++) {
        head[lane] = r->message[lane] + r->skew;
        body[lane] = head[lane] + r->head_len;
    }
    memset(out, 0xa5, sizeof out);
    sotto_turboshake_absorb(&x, r->rate, r->domain, lanes, head, r->head_len,
                            r->body_len ? body : NULL, r->body_len);
    for (size_t done = 0; done < r->out_len;) {
        size_t left = r->out_len - done, some = draw(seed) % (draw(seed) % 2 ? 20 : 500);
        uint8_t *to[SOTTO_LANES];

        some = some < left ? some : left;
        for (unsigned lane = 0; lane < lanes; lane++)
            to[lane] = out[lane] + done;
        sotto_turboshake_squeeze(&x, to, some);
        done += some;
    }
    for (unsigned lane = 0; lane < SOTTO_LANES; lane++) {
        size_t given = lane < lanes ? r->out_len : 0;

        CHECK_BYTES(t, r->whole[lane], out[lane], given);
        for (size_t i = given; i < ROOM; i++)
            CHECK_EQUAL(t, 0xa5, out[lane][i]); /* nothing beyond the end, nor in other lanes */
    }
}

static void a_lane_depends_on_nothing_but_its_own_message(sotto_test *t)
{
    static lanes_run r;
    uint64_t seed = 3;

    for (unsigned round = 0; round < 300; round++) {
        pick_run(&r, &seed);
        CHECK(t, sotto_keccak_use("scalar"));
        squeeze_alone(&r);
        for (unsigned n = 0; n < BACKENDS; n++)
            for (unsigned lanes = 1; sotto_keccak_use(backends[n]) && lanes <= SOTTO_LANES; lanes++)
                check_together(t, &r, lanes, &seed);
    }
    CHECK(t, sotto_keccak_use(NULL));
}

static void a_message_may_come_in_pieces_common_or_not(sotto_test *t)
{
    static lanes_run r;
    uint64_t seed = 4;

    for (unsigned round = 0; round < 200; round++) {
        size_t len, done = 0;
        sotto_turboshake x;
        static uint8_t out[SOTTO_LANES][ROOM];
        uint8_t *const to[SOTTO_LANES] = {out[0], out[1], out[2], out[3]};
        unsigned lanes = 1 + (unsigned)(draw(&seed) % SOTTO_LANES);

        pick_run(&r, &seed);
        for (unsigned lane = 1; lane < SOTTO_LANES;
             lane++) /* all the same, so that both ways agree */
            memcpy(r.message[lane], r.message[0], sizeof r.message[0]);
        squeeze_alone(&r);
        len = r.head_len + r.body_len;
        sotto_turboshake_start(&x, r.rate, lanes);
        while (done < len) {
            size_t some = 1 + draw(&seed) % (draw(&seed) % 2 ? 20 : 500);
            const uint8_t *in[SOTTO_LANES];

            some = some < len - done ? some : len - done;
            for (unsigned lane = 0; lane < SOTTO_LANES; lane++)
                in[lane] = r.message[lane] + r.skew + done;
            if (draw(&seed) % 2)
                sotto_turboshake_add(&x, in, some);
            else
                sotto_turboshake_add_common(&x, in[0], some);
            done += some;
        }
        sotto_turboshake_finish(&x, r.domain);
        sotto_turboshake_squeeze(&x, to, r.out_len);
        for (unsigned lane = 0; lane < lanes; lane++)
            CHECK_BYTES(t, r.whole[lane], out[lane], r.out_len);
    }
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(every_backend_gives_the_known_outputs),
        CASE(a_lane_depends_on_nothing_but_its_own_message),
        CASE(a_message_may_come_in_pieces_common_or_not),
    };
    return RUN_TESTS(argc, argv, cases);
}
