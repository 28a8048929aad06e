#include "support/test.h"

#include <string.h>

#include <openssl/evp.h>

#include "crypto/kem.h"

/* Private keys 01 02 03 ... and 65 66 67 ... (their first byte 00 for P-521); expected values come from
 * Python's cryptography package. */
typedef struct expectation {
    uint16_t id;
    const char *public_key; /* of the first private key */
    const char *agreed;
} expectation;

static const expectation EXPECTED[] = {
    {SOTTO_KEM_X25519, "07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c",
     "c9ea6a3f79a000b60b076d4afc990b272f3f0b5aaa3f0b8713c209273e363863"},
    {SOTTO_KEM_X448,
     "bda7365ba1bd9a66f2ef38db6ec5ac5fad5452e990d8b2f88f721fd5"
     "3363237e775f65205d1d4667d473f0e1f4c57694d2d802e8dff06026",
     "b865aea0b942ad54a2e34a1f33521b3811fc459fb13d1e91b50a234d"
     "addcfaa1ca7c6da40c2b314782d2fb059128e8e21ba7a5a2a1a664a2"},
    {SOTTO_KEM_P256,
     "04515c3d6eb9e396b904d3feca7f54fdcd0cc1e997bf375dca515ad0a6c3b4035f"
     "4536be3a50f318fbf9a5475902a221502bef0d57e08c53b2cc0a56f17d9f9354",
     "06ffe83794e29d2f01c6bf4366e57da374a099401b7812d3d7ca2f0782a4e96e"},
    {SOTTO_KEM_P384,
     "04c76f2283dda95cd49b0ed9e733d2904474e37216f124e13d2c9ab4cf01021c49ad9cabb3d0b97499aef2f0ab313"
     "fa028"
     "26bc1f83451b5c8962a75caff73588d4400a6296436154fb343c393e91048a6c7bcbadc83cd8a5f26feae883156f9"
     "2a1",
     "d22cbe48bd212803a37a54e5db277d015b113cc06d4bcf1ca03924e50fd7dfba9d0a8a14b7593b9ff9a8c587a1f6f"
     "f82"},
    {SOTTO_KEM_P521,
     "0401f7eafa08fc845f03d01f7631f407fa17e6191d45b304d46aa1eaf6484a21fc78bc7003a1db5e8f450724721a2"
     "a611bebdb"
     "e6c4ca6f8fcf8b8edaaf2d09b8159f5001342df71a870f66a1e91c0efd895324ee3dfb33475bfc69790bd87044131"
     "1db0416d4"
     "704116712f03e9680b5a5d7fed0694e4fd37b6a085dfc030ecb5bfdaf11743",
     "007f2761ee19cc23c40921e9ed01ae6e175354276476a34d83c5a332d1cad0d3e52cdf69e42bd23869552d8bb18a3"
     "54192"
     "2ace2f8875408b7b189a40c169a903d66f"},
};
enum { KEMS = sizeof EXPECTED / sizeof EXPECTED[0] };

static sotto_dh counting_key(sotto_test *t, uint16_t id, uint8_t first)
{
    const sotto_kem *kem = sotto_kem_find(id);
    uint8_t private_key[SOTTO_KEM_MAX_PRIVATE];
    sotto_dh dh;

    for (size_t i = 0; i < kem->private_size; i++)
        private_key[i] = (uint8_t)(first + i);
    if (id == SOTTO_KEM_P521)
        private_key[0] = 0;
    CHECK_OK(t, sotto_dh_init(&dh, kem, sotto_bytes_of(private_key, kem->private_size), &t->err));
    return dh;
}

static sotto_bytes public_of(const sotto_dh *dh)
{
    return sotto_bytes_of(dh->public_key, dh->kem->public_size);
}

static void agreement_matches_another_implementation(sotto_test *t)
{
    uint8_t out[SOTTO_KEM_MAX_DH];

    for (size_t i = 0; i < KEMS; i++) {
        sotto_dh a = counting_key(t, EXPECTED[i].id, 1), b = counting_key(t, EXPECTED[i].id, 101);
        const sotto_bytes wanted = sotto_test_hex(t, EXPECTED[i].agreed);

        CHECK_EQUAL(t, a.kem->dh_size, wanted.len);
        CHECK_BYTES(t, sotto_test_hex(t, EXPECTED[i].public_key).data, a.public_key,
                    a.kem->public_size);
        CHECK_OK(t, sotto_dh_agree(&a, out, public_of(&b), "peer", &t->err));
        CHECK_BYTES(t, wanted.data, out, wanted.len);
        CHECK_OK(t, sotto_dh_agree(&b, out, public_of(&a), "peer", &t->err));
        CHECK_BYTES(t, wanted.data, out, wanted.len);
        CHECK_OK(t, sotto_kem_check_public(a.kem, public_of(&a), "key", &t->err));
        sotto_dh_clear(&a);
        sotto_dh_clear(&b);
    }
}

static void refuse(sotto_test *t, sotto_dh *dh, sotto_status wanted, sotto_bytes peer,
                   const char *reason)
{
    static const uint8_t zero[SOTTO_KEM_MAX_DH];
    uint8_t out[SOTTO_KEM_MAX_DH] = {0};

    CHECK_STATUS(t, wanted, sotto_dh_agree(dh, out, peer, "enc", &t->err));
    CHECK_REASON(t, "enc: ");
    CHECK_REASON(t, reason);
    CHECK_BYTES(t, zero, out, sizeof out);
}

static void check_still_agrees(sotto_test *t, sotto_dh *dh, const expectation *expected)
{
    sotto_dh peer = counting_key(t, expected->id, 101);
    uint8_t out[SOTTO_KEM_MAX_DH];

    CHECK_OK(t, sotto_dh_agree(dh, out, public_of(&peer), "enc", &t->err));
    CHECK_BYTES(t, sotto_test_hex(t, expected->agreed).data, out, dh->kem->dh_size);
    sotto_dh_clear(&peer);
}

/* Every u-coordinate whose point has an order dividing the cofactor, also in its non-canonical forms. */
static void points_of_small_order_are_rejected(sotto_test *t)
{
    static const char *const x25519[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000080",
    };
    static const char *const x448[] = {
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "0000000000000000000000",
        "010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "0000000000000000000000",
        "fefffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffffffffffffffffffffffffffff"
        "ffffffffffffffffffffff",
        "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffffffffffffffffffffffffffff"
        "ffffffffffffffffffffff",
        "00000000000000000000000000000000000000000000000000000000ffffffffffffffffffffffffffffffffff"
        "ffffffffffffffffffffff",
    };
    sotto_dh narrow = counting_key(t, SOTTO_KEM_X25519, 1),
             wide = counting_key(t, SOTTO_KEM_X448, 1);

    for (size_t i = 0; i < sizeof x25519 / sizeof x25519[0]; i++)
        refuse(t, &narrow, SOTTO_REJECTED, sotto_test_hex(t, x25519[i]), "small order");
    for (size_t i = 0; i < sizeof x448 / sizeof x448[0]; i++)
        refuse(t, &wide, SOTTO_REJECTED, sotto_test_hex(t, x448[i]), "small order");
    check_still_agrees(t, &narrow, &EXPECTED[0]);
    check_still_agrees(t, &wide, &EXPECTED[1]);
    sotto_dh_clear(&narrow);
    sotto_dh_clear(&wide);
}

static void public_keys_of_another_length_are_malformed(sotto_test *t)
{
    uint8_t longer[SOTTO_KEM_MAX_PUBLIC + 1] = {0};

    for (size_t i = 0; i < KEMS; i++) {
        sotto_dh dh = counting_key(t, EXPECTED[i].id, 1);
        const size_t size = dh.kem->public_size;

        memcpy(longer, dh.public_key, size);
        refuse(t, &dh, SOTTO_MALFORMED, sotto_bytes_of(longer, size - 1), "bytes");
        refuse(t, &dh, SOTTO_MALFORMED, sotto_bytes_of(longer, size + 1), "bytes");
        refuse(t, &dh, SOTTO_MALFORMED, sotto_bytes_of(NULL, 0), "0 bytes");
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_kem_check_public(dh.kem, sotto_bytes_of(longer, size + 1), "key", &t->err));
        check_still_agrees(t, &dh, &EXPECTED[i]);
        sotto_dh_clear(&dh);
    }
}

static void refuse_point(sotto_test *t, sotto_dh *dh, sotto_bytes point, const char *reason)
{
    refuse(t, dh, SOTTO_MALFORMED, point, reason);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_kem_check_public(dh->kem, point, "enc", &t->err));
    CHECK_REASON(t, reason);
}

static void nist_points_in_other_forms_or_off_the_curve_are_malformed(sotto_test *t)
{
    for (size_t i = 0; i < KEMS; i++) {
        sotto_dh dh = counting_key(t, EXPECTED[i].id, 1);
        const size_t size = dh.kem->public_size;
        uint8_t point[SOTTO_KEM_MAX_PUBLIC];

        if (dh.kem->curve) {
            memcpy(point, dh.public_key, size);
            point[0] = (uint8_t)(2 | (point[size - 1] & 1));
            refuse_point(t, &dh, sotto_bytes_of(point, 1 + size / 2), "bytes"); /* compressed */
            point[0] |= 4;
            refuse_point(t, &dh, sotto_bytes_of(point, size), "uncompressed"); /* hybrid */
            point[0] = 4;
            point[size - 1] ^= 1;
            refuse_point(t, &dh, sotto_bytes_of(point, size), "not a point"); /* off the curve */
            memset(point + 1, 0xff, size - 1);
            refuse_point(t, &dh, sotto_bytes_of(point, size), "not a point"); /* not below p */
            memset(point, 0, size);
            refuse_point(t, &dh, sotto_bytes_of(point, 1), "1 bytes"); /* infinity */
            refuse_point(t, &dh, sotto_bytes_of(point, size), "uncompressed");
            point[0] = 4;
            refuse_point(t, &dh, sotto_bytes_of(point, size), "not a point"); /* (0, 0) */
            check_still_agrees(t, &dh, &EXPECTED[i]);
        }
        sotto_dh_clear(&dh);
    }
}

static void private_keys_outside_the_order_are_malformed(sotto_test *t)
{
    const sotto_kem *kem = sotto_kem_find(SOTTO_KEM_P256);
    const char *order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
    uint8_t key[32] = {0};
    sotto_dh dh;

    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dh_init(&dh, kem, sotto_bytes_of(key, 32), &t->err));
    CHECK_REASON(t, "order");
    sotto_dh_clear(&dh);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dh_init(&dh, kem, sotto_test_hex(t, order), &t->err));
    sotto_dh_clear(&dh);
    memset(key, 0xff, 32);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dh_init(&dh, kem, sotto_bytes_of(key, 32), &t->err));
    CHECK(t, !sotto_kem_private_in_range(kem, key));
    sotto_dh_clear(&dh);
    memcpy(key, sotto_test_hex(t, order).data, 32);
    key[31]--;
    CHECK(t, sotto_kem_private_in_range(kem, key));
    CHECK_OK(t, sotto_dh_init(&dh, kem, sotto_bytes_of(key, 32), &t->err));
    sotto_dh_clear(&dh);
}

static void private_keys_of_another_length_are_malformed(sotto_test *t)
{
    uint8_t key[SOTTO_KEM_MAX_PRIVATE + 1] = {0, 1};
    sotto_dh dh;

    for (size_t i = 0; i < KEMS; i++) {
        const sotto_kem *kem = sotto_kem_find(EXPECTED[i].id);

        for (size_t off = 0; off < 3; off += 2) {
            const sotto_bytes wrong = sotto_bytes_of(key, kem->private_size - 1 + off);
            CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dh_init(&dh, kem, wrong, &t->err));
            CHECK_REASON(t, "private key: ");
            sotto_dh_clear(&dh);
        }
    }
}

static void unknown_ids_are_not_found(sotto_test *t)
{
    CHECK(t, sotto_kem_find(0) == NULL);
    CHECK(t, sotto_kem_find(0x0013) == NULL);
    CHECK(t, sotto_kem_find(0x0030) == NULL);
}

/* A library that does not refuse a zero result by itself: the linker sends its derive here. */
int __real_EVP_PKEY_derive(EVP_PKEY_CTX *ctx, unsigned char *key, size_t *len);
int __wrap_EVP_PKEY_derive(EVP_PKEY_CTX *ctx, unsigned char *key, size_t *len);

static bool derives_zeros;

int __wrap_EVP_PKEY_derive(EVP_PKEY_CTX *ctx, unsigned char *key, size_t *len)
{
    if (!derives_zeros)
        return __real_EVP_PKEY_derive(ctx, key, len);
    memset(key, 0, *len);
    return 1;
}

static void a_zero_result_is_rejected_by_us_too(sotto_test *t)
{
    sotto_dh mine = counting_key(t, SOTTO_KEM_X25519, 1),
             theirs = counting_key(t, SOTTO_KEM_X25519, 2);
    uint8_t shared[SOTTO_KEM_MAX_DH];
    sotto_bytes peer = sotto_bytes_of(theirs.public_key, 32);

    CHECK_OK(t, sotto_dh_agree(&mine, shared, peer, "enc", &t->err));
    derives_zeros = true;
    t->err = (sotto_err){0};
    sotto_status status = sotto_dh_agree(&mine, shared, peer, "enc", &t->err);
    derives_zeros = false;
    CHECK(t, status == SOTTO_REJECTED);
    sotto_dh_clear(&mine);
    sotto_dh_clear(&theirs);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(agreement_matches_another_implementation),
        CASE(points_of_small_order_are_rejected),
        CASE(a_zero_result_is_rejected_by_us_too),
        CASE(public_keys_of_another_length_are_malformed),
        CASE(nist_points_in_other_forms_or_off_the_curve_are_malformed),
        CASE(private_keys_outside_the_order_are_malformed),
        CASE(private_keys_of_another_length_are_malformed),
        CASE(unknown_ids_are_not_found),
    };
    return RUN_TESTS(argc, argv, cases);
}
