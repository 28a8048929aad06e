/* Ed25519 in lanes: what the crypto library accepts is accepted, and nothing else, whoever wrote the signature. */
#include "crypto/ed25519_sets.h"

#include <openssl/bn.h>
#include <openssl/sha.h>
#include <string.h>

enum { SOME = 40, TEXT = 96 };

/* ---- signatures --------------------------------------------------------------------------------------------- */

typedef struct signed_text {
    uint8_t key[SIZE], signature[SOTTO_SIGNATURE], text[TEXT];
    size_t len;
} signed_text;

static sotto_signature_claim claim_of(const signed_text *s)
{
    return (sotto_signature_claim){s->key, s->signature, sotto_bytes_of(s->text, s->len), false};
}

static void judge(const sotto_ed25519_lanes *set, const signed_text *all, bool *holds, size_t count)
{
    sotto_signature_claim claims[SOME], *at[SOME] = {NULL};

    for (size_t i = 0; i < count; i++) {
        claims[i] = claim_of(&all[i]);
        at[i] = &claims[i];
    }
    sotto_ed25519_with(set, at, count);
    for (size_t i = 0; i < count; i++)
        holds[i] = claims[i].holds;
}

/* Each set agrees with the library about each of them. Gives how many hold. */
static size_t agree(sotto_test *t, const signed_text *all, size_t count)
{
    const sotto_ed25519_lanes *set;
    bool wanted[SOME], holds[SOME];
    size_t right = 0;

    CHECK(t, count <= SOME && count % SOTTO_ED25519_MAX_LANES == 0);
    for (size_t i = 0; i < count; i++) {
        const sotto_signature_claim claim = claim_of(&all[i]);

        right += wanted[i] = library_holds(&claim);
    }
    for (size_t n = 0; (set = next_set(&n)) != NULL;) {
        judge(set, all, holds, count);
        for (size_t i = 0; i < count; i++)
            CHECK_EQUAL(t, wanted[i], holds[i]);
    }
    return right;
}

static void sign(sotto_test *t, signed_text *s, uint8_t seed, size_t len)
{
    uint8_t bytes[SOTTO_SIGN_SEED] = {seed, 3};
    sotto_signer signer;

    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    for (size_t i = 0; i < TEXT; i++)
        s->text[i] = (uint8_t)(seed + 7 * i);
    s->len = len;
    memcpy(s->key, signer.public_key, SIZE);
    CHECK_OK(t, sotto_sign(&signer, s->signature, sotto_bytes_of(s->text, len), &t->err));
    sotto_signer_clear(&signer);
}

static void set_hex(sotto_test *t, uint8_t *out, const char *hex)
{
    sotto_bytes bytes = sotto_test_hex(t, hex);

    memcpy(out, bytes.data, bytes.len);
}

/* ---- points and scalars -------------------------------------------------------------------------------------- */

static const char ORDER[] = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";

/* s B - h A. What it gives is what the library accepts or not, in every test that uses it. */
static bool combine(uint8_t out[SIZE], const uint8_t *s, const uint8_t *key, const uint8_t *h)
{
    sotto_ed25519_job jobs[SOTTO_ED25519_MAX_LANES];

    for (size_t i = 0; i < sotto_ed25519_generic51.lanes; i++) {
        jobs[i] = (sotto_ed25519_job){.key = key, .s = s};
        memcpy(jobs[i].h, h, SIZE);
    }
    sotto_ed25519_generic51.combine(jobs);
    memcpy(out, jobs[0].r, SIZE);
    return jobs[0].is_point;
}

static BIGNUM *number_of(const uint8_t *bytes, size_t len)
{
    return BN_lebin2bn(bytes, (int)len, NULL);
}

/* (a + b c) modulo the order. */
static void multiply_add(sotto_test *t, uint8_t out[SIZE], const uint8_t *a, const uint8_t *b,
                         const uint8_t *c)
{
    uint8_t order[SIZE];
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *x = number_of(a, SIZE), *y = number_of(b, SIZE), *z = number_of(c, SIZE);

    set_hex(t, order, ORDER);
    BIGNUM *l = number_of(order, SIZE);
    CHECK(t, ctx && BN_mod_mul(y, y, z, l, ctx) && BN_mod_add(x, x, y, l, ctx));
    CHECK(t, BN_bn2lebinpad(x, out, SIZE) == SIZE);
    BN_free(x), BN_free(y), BN_free(z), BN_free(l), BN_CTX_free(ctx);
}

/* SHA-512(R, A, text), as the signature says. */
static void hash_of(uint8_t out[SIZE], const signed_text *s)
{
    uint8_t joined[2 * SIZE + TEXT], wide[64];

    memcpy(joined, s->signature, SIZE);
    memcpy(joined + SIZE, s->key, SIZE);
    memcpy(joined + 2 * SIZE, s->text, s->len);
    SHA512(joined, 2 * SIZE + s->len, wide);
    sotto_ed25519_reduce(out, wide);
}

/* Points of small order in all their encodings: y is p or p + 1 in some, and x = 0 has a sign in others. */
static const char *const SMALL[] = {
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
};
enum { SMALLS = sizeof SMALL / sizeof SMALL[0] };

/* ---- what holds ---------------------------------------------------------------------------------------------- */

/* RFC 8032, 7.1, tests 1 to 3. */
static void the_rfcs_signatures_hold_in_every_lane(sotto_test *t)
{
    static const char *const vectors[][3] = {
        {"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e3970"
         "1cf9b46bd25bf5f0595bbe24655141438e7a100b"},
        {"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
         "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613"
         "d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
        {"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760"
         "984dc6594a7c15e9716ed28dc027beceea1ec40a"},
    };
    signed_text all[24] = {0};

    for (size_t i = 0; i < 24; i++) {
        set_hex(t, all[i].key, vectors[i % 3][0]);
        set_hex(t, all[i].text, vectors[i % 3][1]);
        set_hex(t, all[i].signature, vectors[i % 3][2]);
        all[i].len = i % 3;
    }
    CHECK_EQUAL(t, 24, agree(t, all, 24));
}

static void honest_signatures_hold(sotto_test *t)
{
    signed_text all[SOME];

    for (unsigned round = 0; round < 5; round++) {
        for (size_t i = 0; i < SOME; i++)
            sign(t, &all[i], (uint8_t)(SOME * round + i), i * 2 + round);
        CHECK_EQUAL(t, SOME, agree(t, all, SOME));
    }
}

/* ---- what does not ------------------------------------------------------------------------------------------- */

static void every_flipped_bit_is_rejected(sotto_test *t)
{
    signed_text all[8];

    for (size_t bit = 0; bit < 8 * (SIZE + SOTTO_SIGNATURE + 4); bit++) {
        uint8_t *at = &((uint8_t *)&all[bit % 8])[bit / 8]; /* key, signature, first of the text */

        for (size_t i = 0; i < 8 && bit % 8 == 0; i++)
            sign(t, &all[i], (uint8_t)i, TEXT);
        *at ^= (uint8_t)(1u << bit % 8);
        if (bit % 8 == 7)
            CHECK_EQUAL(t, 0, agree(t, all, 8));
    }
}

/* Its neighbours do not notice. */
static void a_wrong_one_is_found_wherever_it_is(sotto_test *t)
{
    const sotto_ed25519_lanes *set;
    signed_text all[16];
    bool holds[SOME];

    for (size_t i = 0; i < 16; i++)
        sign(t, &all[i], (uint8_t)i, 20);
    for (size_t n = 0; (set = next_set(&n)) != NULL;)
        for (size_t wrong = 0; wrong < 16; wrong++)
            for (unsigned how = 0; how < 3; how++) {
                signed_text right = all[wrong];

                if (how == 0)
                    all[wrong].text[1] ^= 1;
                else
                    memset(how == 1 ? all[wrong].key : all[wrong].signature + SIZE, 0xff, SIZE);
                judge(set, all, holds, 16);
                for (size_t i = 0; i < 16; i++)
                    CHECK_EQUAL(t, i != wrong, holds[i]);
                all[wrong] = right;
            }
}

/* S + L, and S + 2 L and more as far as there is room, are the same scalars. */
static void a_signature_has_one_form(sotto_test *t)
{
    uint8_t order[SIZE];
    signed_text all[8];

    set_hex(t, order, ORDER);
    for (size_t i = 0; i < 8; i++) {
        sign(t, &all[i], (uint8_t)i, 30);
        for (size_t times = 0; times <= i; times++) {
            unsigned carry = 0;

            for (size_t byte = 0; byte < SIZE; byte++) {
                carry += (unsigned)all[i].signature[SIZE + byte] + order[byte];
                all[i].signature[SIZE + byte] = (uint8_t)carry;
                carry >>= 8;
            }
        }
    }
    CHECK_EQUAL(t, 0, agree(t, all, 8));
}

/* With the neutral element as a key, R = S B holds for any text: the scalars that are accepted are seen alone. */
static void scalars_are_accepted_up_to_the_order(sotto_test *t)
{
    static const char *const scalars[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ebd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010",
        "ecd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0f",
        "0000000000000000000000000000000000000000000000000000000000000010",
        "edd3f55c1a631258d69cf7a2def9de1300000000000000000000000000000010",
        "ffffffffffffffff000000000000000000000000000000000000000000000010",
        /* and not from there on */
        "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010",
        "eed3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010",
        "0000000000000000000000000000001500000000000000000000000000000010",
        "0000000000000000000000000000000001000000000000000000000000000010",
        "0000000000000000000000000000000000000000000000000000000000000011",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff1f",
        "0000000000000000000000000000000000000000000000000000000000000020",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    };
    enum { COUNT = sizeof scalars / sizeof scalars[0], ACCEPTED = 8 };
    static const uint8_t zero[SIZE], one[SIZE] = {1};
    signed_text all[COUNT] = {0};
    uint8_t reduced[SIZE];

    for (size_t i = 0; i < COUNT; i++) {
        all[i].key[0] = 1;
        set_hex(t, all[i].signature + SIZE, scalars[i]);
        multiply_add(t, reduced, all[i].signature + SIZE, zero, zero);
        CHECK(t, combine(all[i].signature, reduced, one, zero));
    }
    CHECK_EQUAL(t, ACCEPTED, agree(t, all, COUNT));
}

/* Whoever has such a key can sign: R = S B - k A for each k that a text may ask for. Some hold, by chance of the text; an R that is
 * encoded otherwise than the library would never does. */
static void points_of_small_order_are_judged_as_by_the_library(sotto_test *t)
{
    signed_text all[SOME] = {0};
    size_t waiting = 0, held = 0;

    for (size_t key = 0; key < SMALLS; key++)
        for (size_t r = 0; r < SMALLS; r++)
            for (uint8_t text = 0; text < 8; text++) {
                signed_text *s = &all[waiting++];

                *s = (signed_text){.text = {text}, .len = 1};
                set_hex(t, s->key, SMALL[key]);
                set_hex(t, s->signature, SMALL[r]);
                if (waiting == SOME)
                    held += agree(t, all, waiting), waiting = 0;
            }
    held += agree(t, all, waiting - waiting % 8);
    CHECK(t, held > 100 && held < 400);
}

/* A + T for an honest A and a T of order 8. Without the cofactor a signature holds where h T = 0, for one text in eight. With it
 * all of them would. */
static void keys_of_mixed_order_hold_without_the_cofactor(sotto_test *t)
{
    static const uint8_t one[SIZE] = {1};
    uint8_t secret[SIZE] = {77, 5, 9}, nonce[SIZE] = {3, 1, 4}, h[SIZE];
    signed_text all[SOME];
    size_t held = 0;

    secret[30] = 8;
    for (unsigned round = 0; round < 4; round++) {
        for (uint8_t i = 0; i < SOME; i++) {
            uint8_t torsion[SIZE];

            all[i] = (signed_text){.text = {i, (uint8_t)round}, .len = 2};
            nonce[1] = i;
            set_hex(t, torsion, SMALL[4 + round]);
            CHECK(t, combine(all[i].key, secret, torsion, one));
            CHECK(t, combine(all[i].signature, nonce, one, (const uint8_t[SIZE]){0}));
            hash_of(h, &all[i]);
            multiply_add(t, all[i].signature + SIZE, nonce, h, secret);
        }
        held += agree(t, all, SOME);
    }
    CHECK(t, held > 4 && held < 50);
}

/* R + T: it would hold with the cofactor. And an R that is some point's other encoding, or nobody's. */
static void nonces_of_mixed_order_never_hold(sotto_test *t)
{
    static const uint8_t one[SIZE] = {1};
    uint8_t secret[SIZE] = {77, 5, 9}, nonce[SIZE] = {3, 1, 4}, h[SIZE], torsion[SIZE];
    signed_text all[SOME];

    for (uint8_t i = 0; i < SOME; i++) {
        all[i] = (signed_text){.text = {i}, .len = 1};
        set_hex(t, torsion, SMALL[2 + i % (SMALLS - 2)]);
        nonce[1] = i;
        CHECK(t, combine(all[i].key, secret, one, (const uint8_t[SIZE]){0}));
        CHECK(t, combine(all[i].signature, nonce, torsion, one));
        hash_of(h, &all[i]);
        multiply_add(t, all[i].signature + SIZE, nonce, h, secret);
    }
    /* y = p + 1 is the neutral element, also in R; the library compares bytes. */
    CHECK(t, agree(t, all, SOME) <= 6);
}

/* ---- keys ---------------------------------------------------------------------------------------------------- */

/* y = p + k for k below 19 is y = k: the same point, and the same sign of it. */
static void keys_from_the_modulus_on_are_the_small_ones(sotto_test *t)
{
    static const uint8_t zero[SIZE], some[SIZE] = {5, 6, 7, [20] = 9};
    const sotto_ed25519_lanes *set;
    size_t points = 0;

    for (size_t n = 0; (set = next_set(&n)) != NULL;)
        for (unsigned k = 0; k < 19; k++)
            for (unsigned sign = 0; sign < 2; sign++) {
                sotto_ed25519_job jobs[SOTTO_ED25519_MAX_LANES];
                uint8_t low[SIZE] = {(uint8_t)k}, high[SIZE];

                memset(high, 0xff, sizeof high);
                high[0] = (uint8_t)(0xed + k);
                high[SIZE - 1] = (uint8_t)(0x7f | sign << 7);
                low[SIZE - 1] = (uint8_t)(sign << 7);
                for (size_t i = 0; i < set->lanes; i++) {
                    jobs[i] = (sotto_ed25519_job){.key = i % 2 ? high : low, .s = zero};
                    memcpy(jobs[i].h, some, SIZE);
                }
                set->combine(jobs);
                CHECK_EQUAL(t, jobs[0].is_point, jobs[1].is_point);
                if (jobs[0].is_point)
                    CHECK_BYTES(t, jobs[0].r, jobs[1].r, SIZE);
                points += jobs[0].is_point;
            }
    CHECK(t, points >= 2 * 6);
}

/* About half of all y have an x. Those that have none are told apart, in the same lanes in all sets, by Euler's
 * criterion. */
static void what_is_no_point_is_no_key(sotto_test *t)
{
    static const uint8_t zero[SIZE];
    const sotto_ed25519_lanes *set;
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *p = NULL, *d = NULL, *y = BN_new(), *u = BN_new(), *v = BN_new();

    CHECK(t, BN_hex2bn(&p, "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed") &&
                 BN_hex2bn(&d, "52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3"));
    for (size_t n = 0; (set = next_set(&n)) != NULL;)
        for (unsigned round = 0; round < 10; round++) {
            sotto_ed25519_job jobs[SOTTO_ED25519_MAX_LANES];
            uint8_t keys[SOTTO_ED25519_MAX_LANES][SIZE] = {0};

            for (size_t i = 0; i < set->lanes; i++) {
                memset(keys[i], (int)(17 * i + round), SIZE - 1);
                jobs[i] = (sotto_ed25519_job){.key = keys[i], .s = zero};
            }
            set->combine(jobs);
            for (size_t i = 0; i < set->lanes; i++) {
                /* u / v is a square where u v is one, or 0. */
                CHECK(t, BN_lebin2bn(keys[i], SIZE, y) && BN_mod_sqr(u, y, p, ctx) &&
                             BN_mod_mul(v, u, d, p, ctx) && BN_add_word(v, 1) &&
                             BN_sub_word(u, 1) && BN_mod_mul(u, u, v, p, ctx));
                CHECK_EQUAL(t, BN_kronecker(u, p, ctx) >= 0, jobs[i].is_point);
            }
        }
    BN_free(p), BN_free(d), BN_free(y), BN_free(u), BN_free(v), BN_CTX_free(ctx);
}

/* ---- scalars ------------------------------------------------------------------------------------------------- */

/* Around multiples of the order, where a step leaves less than nothing, and at the ends of the range. */
static void numbers_are_reduced_as_by_the_library(sotto_test *t)
{
    uint8_t order[SIZE], wide[64], got[SIZE], wanted[SIZE];
    BN_CTX *ctx = BN_CTX_new();
    BIGNUM *n = BN_new(), *r = BN_new();

    set_hex(t, order, ORDER);
    BIGNUM *l = number_of(order, SIZE);
    CHECK(t, ctx && n && r && l);
    for (int shift = 0; shift <= 259; shift++)
        for (unsigned more = 0; more < 7; more++) {
            CHECK(t, BN_lshift(n, l, shift));
            CHECK(t, more < 3 ? BN_add_word(n, more) : BN_sub_word(n, more - 2));
            if (more == 6)
                CHECK(t, BN_lshift(n, BN_value_one(), shift + 252));
            CHECK(t, BN_bn2lebinpad(n, wide, 64) == 64 && BN_mod(r, n, l, ctx) &&
                         BN_bn2lebinpad(r, wanted, SIZE) == SIZE);
            sotto_ed25519_reduce(got, wide);
            CHECK_BYTES(t, wanted, got, SIZE);
        }
    for (unsigned pattern = 0; pattern < 256; pattern++) {
        memset(wide, (int)pattern, sizeof wide);
        BN_lebin2bn(wide, 64, n);
        CHECK(t, BN_mod(r, n, l, ctx) && BN_bn2lebinpad(r, wanted, SIZE) == SIZE);
        sotto_ed25519_reduce(got, wide);
        CHECK_BYTES(t, wanted, got, SIZE);
    }
    BN_free(n), BN_free(r), BN_free(l), BN_CTX_free(ctx);
}

/* ---- many at a time ------------------------------------------------------------------------------------------ */

static void any_count_is_done_as_far_as_it_fills_lanes(sotto_test *t)
{
    static signed_text all[70];
    sotto_signature_claim claims[70];

    for (size_t i = 0; i < 70; i++)
        sign(t, &all[i], (uint8_t)i, 9);
    for (size_t count = 0; count <= 70; count = count < 20 ? count + 1 : count + 10) {
        size_t held = 0;

        for (size_t i = 0; i < 70; i++)
            claims[i] = claim_of(&all[i]);
        sotto_signatures_check(claims, count);
        for (size_t i = 0; i < 70; i++)
            held += claims[i].holds;
        /* Those that are left over are too few for lanes; or this machine has none. */
        CHECK(t, held <= count);
        CHECK(t, strcmp(sotto_ed25519_name(), "none") == 0 ? held == 0 : count - held <= 2);
    }
    CHECK(t, sotto_ed25519_use("none"));
    sotto_signatures_check(claims, 70);
    for (size_t i = 0; i < 70; i++)
        CHECK(t, !claims[i].holds);
    CHECK(t, sotto_ed25519_use(NULL));
}

/* What holds here is what sotto_signature_check lets pass: it refuses keys of small order. */
static void keys_of_small_order_sign_nothing(sotto_test *t)
{
    signed_text all[SMALLS] = {0};
    sotto_signature_claim claims[SMALLS];

    if (!sotto_ed25519_use("ifma") && !sotto_ed25519_use("avx2"))
        SKIP(t, "this machine has no lanes for Ed25519");
    for (unsigned text = 0; text < 64; text++) {
        for (size_t i = 0; i < SMALLS; i++) {
            set_hex(t, all[i].key, SMALL[i]);
            all[i].signature[0] = 1;
            all[i].text[0] = (uint8_t)text;
            all[i].len = 1;
            claims[i] = claim_of(&all[i]);
        }
        sotto_signatures_check(claims, SMALLS);
        for (size_t i = 0; i < SMALLS; i++) {
            CHECK(t, !claims[i].holds);
            CHECK_STATUS(
                t, SOTTO_REJECTED,
                sotto_signature_check(all[i].key, all[i].signature, claims[i].text, &t->err));
        }
    }
    CHECK(t, sotto_ed25519_use(NULL));
}

static void places_without_a_claim_are_passed_over(sotto_test *t)
{
    signed_text s;
    sotto_signature_claim claims[3] = {0};

    sign(t, &s, 1, 5);
    claims[1] = claim_of(&s);
    claims[2] = (sotto_signature_claim){.public_key = s.key, .holds = true};
    claims[0] = (sotto_signature_claim){.signature = s.signature, .holds = true};
    sotto_signatures_check(claims, 3);
    CHECK(t, !claims[0].holds && !claims[2].holds);
    if (sotto_ed25519_use("ifma")) {
        sotto_signatures_check(claims, 3);
        CHECK(t, claims[1].holds);
    }
    CHECK(t, sotto_ed25519_use(NULL));
}

static void unknown_sets_are_refused(sotto_test *t)
{
    CHECK(t, !sotto_ed25519_use("abacus"));
    CHECK(t, sotto_ed25519_use("none"));
    CHECK(t, strcmp(sotto_ed25519_name(), "none") == 0);
    CHECK(t, sotto_ed25519_use(NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_rfcs_signatures_hold_in_every_lane),
        CASE(honest_signatures_hold),
        CASE(every_flipped_bit_is_rejected),
        CASE(a_wrong_one_is_found_wherever_it_is),
        CASE(a_signature_has_one_form),
        CASE(scalars_are_accepted_up_to_the_order),
        CASE(points_of_small_order_are_judged_as_by_the_library),
        CASE(keys_of_mixed_order_hold_without_the_cofactor),
        CASE(nonces_of_mixed_order_never_hold),
        CASE(keys_from_the_modulus_on_are_the_small_ones),
        CASE(what_is_no_point_is_no_key),
        CASE(numbers_are_reduced_as_by_the_library),
        CASE(any_count_is_done_as_far_as_it_fills_lanes),
        CASE(keys_of_small_order_sign_nothing),
        CASE(places_without_a_claim_are_passed_over),
        CASE(unknown_sets_are_refused),
    };
    return RUN_TESTS(argc, argv, cases);
}
