/* Agreements in batches give what sotto_dh_agree gives one by one, and leave it what they don't do. */
#include "crypto/x25519_sets.h"

#include "crypto/agree_many.h"
#include "sim/random.h"
#include "support/lanes.h"

enum { BATCH = 150 }; /* more than fit at once, and no multiple of lanes */

static const char *const ways[] = {"ifma", "avx2", "none"};
enum { WAYS = sizeof ways / sizeof ways[0] };

static uint8_t peers[BATCH][SIZE];

static void draw_peers(uint64_t seed)
{
    sotto_sim_random random;

    sotto_sim_random_init(&random, seed);
    sotto_sim_random_bytes(&random, peers, sizeof peers);
}

static sotto_dh key_of(sotto_test *t, uint16_t kem, uint8_t first)
{
    const sotto_kem *found = sotto_kem_find(kem);
    uint8_t private_key[SOTTO_KEM_MAX_PRIVATE] = {0, first, 3};
    sotto_dh dh;

    CHECK_OK(t,
             sotto_dh_init(&dh, found, sotto_bytes_of(private_key, found->private_size), &t->err));
    return dh;
}

static void check_secret(sotto_test *t, sotto_dh *own, const sotto_agreement *a)
{
    uint8_t wanted[SOTTO_KEM_MAX_DH];

    CHECK_OK(t, sotto_dh_agree(own, wanted, a->peer, "peer", &t->err));
    CHECK_BYTES(t, wanted, a->secret, SIZE);
}

static void many_peers_agree_as_one_by_one(sotto_test *t)
{
    sotto_dh own = key_of(t, SOTTO_KEM_X25519, 1);
    static sotto_agreement all[BATCH];

    draw_peers(1);
    for (size_t n = 0; n < WAYS; n++) {
        if (!sotto_x25519_use(ways[n]))
            continue;
        for (size_t i = 0; i < BATCH; i++)
            all[i] = (sotto_agreement){.own = &own, .peer = sotto_bytes_of(peers[i], SIZE)};
        sotto_agree_many(all, BATCH);
        for (size_t i = 0; i < BATCH; i++) {
            CHECK_EQUAL(t, n < 2, all[i].agreed);
            if (all[i].agreed)
                check_secret(t, &own, &all[i]);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
    sotto_dh_clear(&own);
}

/* What lanes don't do: another group, a wrong length, a point of small order, nothing to do. */
static void what_is_no_agreement_is_left_and_spares_its_neighbours(sotto_test *t)
{
    static const uint8_t zero[SIZE], one[SIZE] = {1};
    sotto_dh own = key_of(t, SOTTO_KEM_X25519, 1), other = key_of(t, SOTTO_KEM_X448, 1);
    static sotto_agreement all[BATCH];

    draw_peers(2);
    for (size_t n = 0; n < WAYS; n++) {
        if (!sotto_x25519_use(ways[n]))
            continue;
        for (size_t i = 0; i < BATCH; i++)
            all[i] = (sotto_agreement){
                .own = &own, .peer = sotto_bytes_of(peers[i], SIZE), .agreed = true};
        all[3].own = NULL;
        all[9].own = &other;
        all[17].peer.len = SIZE - 1;
        all[18].peer.len = 0;
        all[66].peer = sotto_bytes_of(zero, SIZE);
        all[67].peer = sotto_bytes_of(one, SIZE);
        sotto_agree_many(all, BATCH);
        for (size_t i = 0; i < BATCH; i++) {
            bool left = i == 3 || i == 9 || i == 17 || i == 18 || i == 66 || i == 67;

            CHECK_EQUAL(t, n < 2 && !left, all[i].agreed);
            if (all[i].agreed)
                check_secret(t, &own, &all[i]);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
    sotto_dh_clear(&own);
    sotto_dh_clear(&other);
}

/* More keys than are held at once are left, never mixed up. */
static void each_agreement_uses_its_own_key(sotto_test *t)
{
    enum { KEYS = 12 };
    static sotto_agreement all[BATCH];
    size_t agreed = 0;
    sotto_dh own[KEYS];
    const bool lanes = sotto_test_use_lanes();

    draw_peers(3);
    for (size_t k = 0; k < KEYS; k++)
        own[k] = key_of(t, SOTTO_KEM_X25519, (uint8_t)k);
    for (size_t i = 0; i < BATCH; i++)
        all[i] = (sotto_agreement){.own = &own[i % KEYS], .peer = sotto_bytes_of(peers[i], SIZE)};
    sotto_agree_many(all, BATCH);
    for (size_t i = 0; i < BATCH; i++)
        if (all[i].agreed) {
            agreed++;
            check_secret(t, &own[i % KEYS], &all[i]);
        }
    CHECK(t, agreed >= BATCH / 2 || !lanes);
    for (size_t k = 0; k < KEYS; k++)
        sotto_dh_clear(&own[k]);
}

/* ---- keys that are used once ------------------------------------------------------------------------------- */

static sotto_ephemeral once[BATCH];

static void draw_once(uint64_t seed)
{
    sotto_sim_random random;

    sotto_sim_random_init(&random, seed);
    for (size_t i = 0; i < BATCH; i++)
        sotto_sim_random_bytes(&random, once[i].private_key, SIZE);
}

static void check_once(sotto_test *t, const sotto_ephemeral *e, const uint8_t *peer)
{
    const sotto_bytes peers_key = sotto_bytes_of(peer, SIZE);
    uint8_t wanted[SOTTO_KEM_MAX_DH];
    sotto_dh own;

    CHECK_OK(t, sotto_dh_init(&own, sotto_kem_find(SOTTO_KEM_X25519),
                              sotto_bytes_of(e->private_key, SIZE), &t->err));
    CHECK_BYTES(t, own.public_key, e->public_key, SIZE);
    CHECK_OK(t, sotto_dh_agree(&own, wanted, peers_key, "peer", &t->err));
    CHECK_BYTES(t, wanted, e->secret, SIZE);
    CHECK_BYTES(t, peer, e->peer, SIZE);
    sotto_dh_clear(&own);
}

static void many_keys_agree_with_one_peer_as_one_by_one(sotto_test *t)
{
    static const size_t counts[] = {0, 1, 2, 7, 31, 32, 33, BATCH};

    draw_peers(4);
    for (size_t n = 0; n < WAYS; n++) {
        if (!sotto_x25519_use(ways[n]))
            continue;
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            size_t agreed = 0;

            draw_once(5 + c);
            sotto_ephemerals_agree(once, counts[c], sotto_kem_find(SOTTO_KEM_X25519),
                                   sotto_bytes_of(peers[c], SIZE));
            for (size_t i = 0; i < counts[c]; i++)
                if (once[i].agreed) {
                    check_once(t, &once[i], peers[c]);
                    agreed++;
                }
            CHECK(t, n < 2 ? agreed + 1 >= counts[c] : agreed == 0);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
}

/* A peer of small order, another group, a wrong length: left to whoever refuses them. */
static void a_peer_that_is_none_is_left(sotto_test *t)
{
    static const uint8_t zero[SIZE], one[SIZE] = {1};
    const sotto_kem *kem = sotto_kem_find(SOTTO_KEM_X25519);

    for (size_t n = 0; n < WAYS; n++) {
        const struct {
            const sotto_kem *kem;
            sotto_bytes peer;
        } cases[] = {{kem, sotto_bytes_of(zero, SIZE)},
                     {kem, sotto_bytes_of(one, SIZE)},
                     {kem, sotto_bytes_of(peers[0], SIZE - 1)},
                     {sotto_kem_find(SOTTO_KEM_X448), sotto_bytes_of(peers[0], SIZE)}};

        if (!sotto_x25519_use(ways[n]))
            continue;
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            draw_once(9);
            for (size_t i = 0; i < BATCH; i++)
                once[i].agreed = true;
            sotto_ephemerals_agree(once, BATCH, cases[c].kem, cases[c].peer);
            for (size_t i = 0; i < BATCH; i++)
                CHECK(t, !once[i].agreed);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
}

/* RFC 7748, 6.1: Bob's key and Alice's public one, in every place of a batch. */
static void the_keys_of_the_rfc_agree(sotto_test *t)
{
    const uint8_t *bob =
        sotto_test_hex(t, "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb").data;
    const uint8_t *bobs_public =
        sotto_test_hex(t, "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f").data;
    const sotto_bytes alices_public =
        sotto_test_hex(t, "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
    const uint8_t *secret =
        sotto_test_hex(t, "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742").data;

    for (size_t n = 0; n < SETS; n++) {
        if (!sotto_x25519_use(sets[n]))
            continue;
        for (size_t i = 0; i < 33; i++)
            memcpy(once[i].private_key, bob, SIZE);
        sotto_ephemerals_agree(once, 33, sotto_kem_find(SOTTO_KEM_X25519), alices_public);
        for (size_t i = 0; i < 32; i++) {
            CHECK(t, once[i].agreed);
            CHECK_BYTES(t, bobs_public, once[i].public_key, SIZE);
            CHECK_BYTES(t, secret, once[i].secret, SIZE);
        }
    }
    CHECK(t, sotto_x25519_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(many_peers_agree_as_one_by_one),
        CASE(what_is_no_agreement_is_left_and_spares_its_neighbours),
        CASE(each_agreement_uses_its_own_key),
        CASE(many_keys_agree_with_one_peer_as_one_by_one),
        CASE(a_peer_that_is_none_is_left),
        CASE(the_keys_of_the_rfc_agree),
    };
    return RUN_TESTS(argc, argv, cases);
}
