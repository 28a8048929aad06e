/* Agreements in batches give what sotto_dh_agree gives one by one, and leave it what they don't do. */
#include "crypto/x25519_sets.h"

#include "crypto/agree_many.h"
#include "sim/random.h"

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
    CHECK(t, agreed >= BATCH / 2 || strcmp(sotto_x25519_name(), "none") == 0);
    for (size_t k = 0; k < KEYS; k++)
        sotto_dh_clear(&own[k]);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(many_peers_agree_as_one_by_one),
        CASE(what_is_no_agreement_is_left_and_spares_its_neighbours),
        CASE(each_agreement_uses_its_own_key),
    };
    return RUN_TESTS(argc, argv, cases);
}
