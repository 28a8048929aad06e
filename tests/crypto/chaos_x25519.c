/* X25519 in lanes against the crypto library, on random keys and on keys near the edges of limbs; and the RFC's long
 * iteration. SOTTO_CHAOS_KEYS, SOTTO_CHAOS_PRODUCTS and SOTTO_CHAOS_SEED choose how many and which. */
#include "crypto/x25519_sets.h"

#include "crypto/agree_many.h"
#include "sim/random.h"
#include "support/lanes.h"

#include <stdio.h>

/* Half of all points are made of runs of equal bits, which fill limbs or empty them. */
static void draw_point(uint8_t *out, sotto_sim_random *random)
{
    uint8_t bit = (uint8_t)sotto_sim_random_below(random, 2);

    sotto_sim_random_bytes(random, out, SIZE);
    if (sotto_sim_random_chance(random, 0.5))
        return;
    memset(out, 0, SIZE);
    for (size_t at = 0; at < 8 * SIZE; bit = !bit)
        for (size_t run = 1 + sotto_sim_random_below(random, 60); run > 0 && at < 8 * SIZE; run--)
            out[at / 8] = (uint8_t)(out[at / 8] | bit << at % 8), at++;
}

/* One key with many points, as a server has it; every fourth time each point has a key of its own. */
static void compare(sotto_test *t, products *p, sotto_sim_random *random)
{
    static uint8_t wanted[MOST][SIZE];
    bool one_key = !sotto_sim_random_chance(random, 0.25);
    sotto_dh dh = {0};

    for (size_t i = 0; i < MOST; i++) {
        draw_point(p->points[i], random);
        draw_point(p->scalars[i], random);
        if (one_key)
            memcpy(p->scalars[i], p->scalars[0], SIZE);
        if (i == 0 || !one_key)
            dh = library_key(t, p->scalars[i]);
        expect(t, wanted[i], &dh, p->points[i]);
        if (i == MOST - 1 || !one_key)
            sotto_dh_clear(&dh);
    }
    for (size_t n = 0; n < SETS; n++) {
        if (!sotto_x25519_use(sets[n]))
            continue;
        CHECK_EQUAL(t, MOST, multiply_all(p, MOST));
        CHECK_BYTES(t, wanted, p->out, sizeof wanted);
    }
}

static void need_lanes(sotto_test *t)
{
    if (!sotto_test_use_lanes())
        SKIP(t, "this machine has no lanes for X25519");
}

static void random_keys_multiply_as_in_the_library(sotto_test *t)
{
    uint64_t keys = setting("SOTTO_CHAOS_KEYS", SOTTO_TEST_DRAWS(4096)),
             seed = setting("SOTTO_CHAOS_SEED", 1);
    sotto_sim_random random;
    static products p;

    need_lanes(t);
    sotto_sim_random_init(&random, seed);
    for (uint64_t done = 0; done < keys; done += MOST)
        compare(t, &p, &random);
    CHECK(t, sotto_x25519_use(NULL));
    (void)printf("%llu keys from seed %llu\n", (unsigned long long)keys, (unsigned long long)seed);
}

/* Keys that are used once: each with the base point and with one peer. */
static void random_keys_agree_once_as_in_the_library(sotto_test *t)
{
    uint64_t keys = setting("SOTTO_CHAOS_KEYS", SOTTO_TEST_DRAWS(4096)),
             seed = setting("SOTTO_CHAOS_SEED", 1);
    static sotto_ephemeral all[MOST];
    uint8_t peer[SIZE], wanted[SIZE];
    sotto_sim_random random;

    need_lanes(t);
    sotto_sim_random_init(&random, seed + 1);
    for (uint64_t done = 0; done < keys; done += MOST) {
        draw_point(peer, &random);
        for (size_t i = 0; i < MOST; i++)
            draw_point(all[i].private_key, &random);
        CHECK(t, sotto_test_use_lanes() && (done % 128 == 0 || sotto_x25519_use("avx2")));
        sotto_ephemerals_agree(all, MOST, sotto_kem_find(SOTTO_KEM_X25519),
                               sotto_bytes_of(peer, SIZE));
        for (size_t i = 0; i < MOST; i++) {
            sotto_dh dh = library_key(t, all[i].private_key);

            expect(t, wanted, &dh, peer);
            CHECK_BYTES(t, dh.public_key, all[i].public_key, SIZE);
            CHECK_BYTES(t, wanted, all[i].secret, SIZE);
            sotto_dh_clear(&dh);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
}

/* RFC 7748, 5.2. The million takes a minute in each set. */
static void products_of_products_come_out(sotto_test *t)
{
    static const char million[] =
        "7c3911e0ab2586fd864497297e575e6f3bc601c0883c30df5f4dd2d24f665424";
    static const char thousand[] =
        "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51";
    uint64_t most = setting("SOTTO_CHAOS_PRODUCTS", 1000);

    need_lanes(t);
    for (size_t n = 0; n < SETS; n++) {
        products p = {.scalars = {{9}, {9}}, .points = {{9}, {9}}};

        if (!sotto_x25519_use(sets[n]))
            continue;
        for (uint64_t i = 1; i <= most; i++) {
            CHECK_EQUAL(t, 2, multiply_all(&p, 2));
            memcpy(p.points, p.scalars, 2 * SIZE);
            memcpy(p.scalars, p.out, 2 * SIZE);
            if (i == 1000 || i == 1000000)
                CHECK_BYTES(t, sotto_test_hex(t, i == 1000 ? thousand : million).data, p.out[1],
                            SIZE);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(random_keys_multiply_as_in_the_library),
        CASE(random_keys_agree_once_as_in_the_library),
        CASE(products_of_products_come_out),
    };
    return RUN_TESTS(argc, argv, cases);
}
