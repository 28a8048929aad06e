/* Binding a share to its token, and checking that. No branch and no address depends on the one-time key, the server's key, what
 * they agree on, or the share. The one-time key's public half and the verdict are public. */
#include "dap/arc_admission.h"

#include "support/ctime.h"
#include "support/test.h"

#include <string.h>

static const sotto_hpke_suite suite = {SOTTO_HPKE_KEM_X25519, SOTTO_HPKE_KDF_SHA256,
                                       SOTTO_HPKE_AEAD_AES128_GCM};

enum { LANES = 5 }; /* four at a time here: valgrind knows AVX2 and not AVX-512 */

static void check_at_once(sotto_test *t, sotto_hpke_receiver *receiver, sotto_bytes once,
                          sotto_bytes aad, const sotto_plaintext_input_share *share,
                          sotto_status wanted)
{
    sotto_agreement with[LANES];

    for (size_t i = 0; i < LANES; i++)
        with[i] = (sotto_agreement){.own = sotto_hpke_receiver_key(receiver), .peer = once};
    sotto_agree_many(with, LANES);
    for (size_t i = 0; i < LANES; i++)
        CHECK_STATUS(
            t, wanted,
            sotto_admission_check_share(SOTTO_REPORT_HELPER, receiver, &with[i], aad, share, NULL));
}

static void binding_a_share_and_checking_it_follow_no_secret(sotto_test *t)
{
    uint8_t own[32] = {9}, seed[SOTTO_ONCE_SEED] = {7}, once[SOTTO_ONCE_KEY], payload[100] = {3};
    sotto_report_draft draft = {.configuration = sotto_bytes_of("configuration", 13)};
    sotto_plaintext_input_share *share = &draft.shares[SOTTO_REPORT_HELPER];
    sotto_buf aad = sotto_test_buf(t, 256);
    sotto_hpke_receiver *receiver = NULL;
    sotto_hpke_key key;
    sotto_dh half;

    sotto_ctime_secret(own, sizeof own);
    sotto_ctime_secret(seed, sizeof seed);
    sotto_ctime_secret(payload, sizeof payload);
    CHECK_OK(t, sotto_hpke_key_decode(&key, suite.kem, sotto_bytes_of(own, sizeof own), &t->err));
    sotto_ctime_public(key.public_key, sizeof key.public_key);
    CHECK_OK(t, sotto_hpke_receiver_new(&receiver, &key, suite, sotto_bytes_of(NULL, 0), &t->err));
    CHECK_OK(t, sotto_dh_init(&half, sotto_kem_find(SOTTO_KEM_X25519),
                              sotto_bytes_of(seed, sizeof seed), &t->err));
    memcpy(once, half.public_key, sizeof once);
    sotto_dh_clear(&half);
    sotto_ctime_public(once, sizeof once);

    const sotto_hpke_config to = sotto_hpke_config_of(&key, 1, suite.kdf, suite.aead);
    share->payload = sotto_bytes_of(payload, sizeof payload);
    CHECK_OK(t, sotto_admission_bind(&draft, SOTTO_REPORT_HELPER, sotto_bytes_of(seed, sizeof seed),
                                     &to, &t->arena, &t->err));
    CHECK_OK(t, sotto_report_aad_encode(&aad, &draft, &t->err));
    check_at_once(t, receiver, sotto_bytes_of(once, sizeof once), sotto_buf_bytes(&aad), share,
                  SOTTO_OK);
    payload[0] ^= 1;
    check_at_once(t, receiver, sotto_bytes_of(once, sizeof once), sotto_buf_bytes(&aad), share,
                  SOTTO_REJECTED);
    sotto_hpke_receiver_free(receiver);
}

/* A credential's m1 is what links its presentations. The nonces of its proofs are drawn within, and marked where they are multiplied
 * (ctime_seal_token). */
static void showing_credentials_follows_no_secret(sotto_test *t)
{
    static const sotto_arc_collection collection = {.opens = 1, .closes = 2};
    uint8_t own[32] = {9}, seed[SOTTO_ONCE_SEED] = {7}, payload[100] = {3};
    sotto_report_draft draft = {.configuration = sotto_bytes_of("configuration", 13)};
    sotto_arc_holding held[SOTTO_REPORT_SHARES] = {{.key_id = {1}}, {.key_id = {2}}};
    sotto_hpke_config to[SOTTO_REPORT_SHARES];
    sotto_hpke_key key;
    sotto_group g;

    CHECK_OK(t, sotto_hpke_key_decode(&key, suite.kem, sotto_bytes_of(own, sizeof own), &t->err));
    CHECK_OK(t, sotto_group_init(&g, &sotto_p256, &t->err));
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        sotto_arc_credential *c = &held[who].credential;
        sotto_point *p = sotto_point_new(&g);

        to[who] = sotto_hpke_config_of(&key, 1, suite.kdf, suite.aead);
        draft.shares[who].payload = sotto_bytes_of(payload, sizeof payload);
        CHECK_OK(t, sotto_scalar_random(&g, &c->m1, 1, &t->err));
        sotto_point_multiply(&g, p, &c->m1, NULL);
        CHECK(t, sotto_point_encode(&g, c->u, p));
        memcpy(c->u_prime, c->u, sizeof c->u);
        memcpy(c->x1, c->u, sizeof c->u);
        sotto_point_free(p);
        sotto_ctime_secret(&c->m1, SOTTO_ARC_SCALAR);
    }
    sotto_group_clear(&g);
    sotto_ctime_secret(seed, sizeof seed);
    CHECK_OK(t, sotto_arc_attach(&draft, held, &collection, seed, to, &t->arena, &t->err));
    CHECK_EQUAL(t, 4 + SOTTO_ARC_ADMISSION_DATA, draft.metadata.public_extensions.len);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(binding_a_share_and_checking_it_follow_no_secret),
        CASE(showing_credentials_follows_no_secret),
    };
    return RUN_TESTS(argc, argv, cases);
}
