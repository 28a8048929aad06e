#include "crypto/group.h"

#include "support/test.h"

#include <string.h>

static const sotto_curve *const curves[] = {&sotto_p256, &sotto_p384};
enum { CURVES = 2 };

/* RFC 9380, J.1.1 and J.3.1: the points of "" and "abc", compressed. */
static const struct {
    const sotto_curve *curve;
    const char *dst, *message, *x;
} HASHED[] = {
    {&sotto_p256, "QUUX-V01-CS02-with-P256_XMD:SHA-256_SSWU_RO_", "",
     "2c15230b26dbc6fc9a37051158c95b79656e17a1a920b11394ca91c44247d3e4"},
    {&sotto_p256, "QUUX-V01-CS02-with-P256_XMD:SHA-256_SSWU_RO_", "abc",
     "0bb8b87485551aa43ed54f009230450b492fead5f1cc91658775dac4a3388a0f"},
    {&sotto_p384, "QUUX-V01-CS02-with-P384_XMD:SHA-384_SSWU_RO_", "",
     "eb9fe1b4f4e14e7140803c1d99d0a93cd823d2b024040f9c067a8eca1f5a2eeac9ad604973527a356f3fa3aeff0e4"
     "d83"},
    {&sotto_p384, "QUUX-V01-CS02-with-P384_XMD:SHA-384_SSWU_RO_", "abc",
     "e02fc1a5f44a7519419dd314e29863f30df55a514da2d655775a81d413003c4d4e7fd59af0826dfaad4200ac6f60a"
     "be1"},
};

static void open_group(sotto_test *t, sotto_group *g, const sotto_curve *curve)
{
    CHECK_OK(t, sotto_group_init(g, curve, &t->err));
}

static void points_are_hashed_as_in_rfc_9380(sotto_test *t)
{
    for (size_t i = 0; i < sizeof HASHED / sizeof HASHED[0]; i++) {
        const sotto_bytes message = sotto_bytes_of(HASHED[i].message, strlen(HASHED[i].message));
        uint8_t wire[SOTTO_POINT_MAX];
        sotto_group g;

        open_group(t, &g, HASHED[i].curve);
        sotto_point *p = sotto_point_new(&g);
        sotto_point_hash_vartime(&g, p, sotto_bytes_of(HASHED[i].dst, strlen(HASHED[i].dst)),
                                 &message, 1);
        CHECK(t, sotto_point_encode(&g, wire, p));
        CHECK_BYTES(t, sotto_test_hex(t, HASHED[i].x).data, wire + 1, g.scalar_size);
        CHECK_OK(t, sotto_group_finish(&g, &t->err));
        sotto_point_free(p);
        sotto_group_clear(&g);
    }
}

static void a_message_in_parts_is_one_message(sotto_test *t)
{
    const sotto_bytes whole = sotto_bytes_of("a message", 9),
                      parts[] = {sotto_bytes_of("a m", 3), sotto_bytes_of("", 0),
                                 sotto_bytes_of("essage", 6)};
    sotto_scalar a, b;
    sotto_group g;

    open_group(t, &g, &sotto_p256);
    sotto_scalar_hash_vartime(&g, &a, sotto_bytes_of("tag", 3), &whole, 1);
    sotto_scalar_hash_vartime(&g, &b, sotto_bytes_of("tag", 3), parts, 3);
    CHECK_BYTES(t, a.be, b.be, g.scalar_size);
    sotto_scalar_hash_vartime(&g, &b, sotto_bytes_of("gat", 3), &whole, 1);
    CHECK(t, memcmp(a.be, b.be, g.scalar_size) != 0);
    sotto_group_clear(&g);
}

/* (a + b) c - b c = a c, c / c = 1, and the same in the exponent. */
static void scalars_and_points_keep_the_laws(sotto_test *t)
{
    for (size_t i = 0; i < CURVES; i++) {
        sotto_scalar s[3], left, right, one;
        sotto_group g;

        open_group(t, &g, curves[i]);
        sotto_point *p = sotto_point_new(&g), *q = sotto_point_new(&g);
        for (size_t round = 0; round < 20; round++) {
            CHECK_OK(t, sotto_scalar_random(&g, s, 3, &t->err));
            sotto_scalar_add(&g, &left, &s[0], &s[1]);
            sotto_scalar_multiply(&g, &left, &left, &s[2]);
            sotto_scalar_multiply(&g, &right, &s[1], &s[2]);
            sotto_scalar_subtract(&g, &left, &left, &right);
            sotto_scalar_multiply(&g, &right, &s[0], &s[2]);
            CHECK_BYTES(t, left.be, right.be, g.scalar_size);
            sotto_scalar_invert(&g, &right, &s[2]);
            sotto_scalar_multiply(&g, &right, &right, &s[2]);
            sotto_scalar_set(&g, &one, 1);
            CHECK_BYTES(t, one.be, right.be, g.scalar_size);
            sotto_point_multiply(&g, p, &s[0], NULL);
            sotto_point_multiply_add(&g, p, &s[1], NULL);
            sotto_scalar_add(&g, &left, &s[0], &s[1]);
            sotto_point_multiply(&g, q, &left, NULL);
            CHECK(t, sotto_point_equal_vartime(&g, p, q));
            sotto_point_subtract(&g, p, p, q);
            CHECK(t, !sotto_point_equal_vartime(&g, p, q));
        }
        CHECK_OK(t, sotto_group_finish(&g, &t->err));
        sotto_point_free(p);
        sotto_point_free(q);
        sotto_group_clear(&g);
    }
}

/* Values whose first bytes are zero are read and written in full width. */
static void short_scalars_keep_their_width(sotto_test *t)
{
    sotto_scalar a, b;
    sotto_group g;

    open_group(t, &g, &sotto_p256);
    sotto_scalar_set(&g, &a, 0x1234);
    sotto_scalar_set(&g, &b, 0x10001);
    sotto_scalar_multiply(&g, &a, &a, &b);
    CHECK_BYTES(t,
                sotto_test_hex(t, "000000000000000000000000000000000000000000000000000000001234"
                                  "1234")
                    .data,
                a.be, 32);
    sotto_scalar_set(&g, &b, 0);
    sotto_scalar_multiply(&g, &a, &a, &b);
    CHECK_BYTES(t, b.be, a.be, 32);
    sotto_scalar_invert(&g, &a, &b); /* zero has no inverse */
    CHECK_BYTES(t, b.be, a.be, 32);
    CHECK_OK(t, sotto_group_finish(&g, &t->err));
    sotto_group_clear(&g);
}

/* Differences below zero wrap to the order; zero is nothing to take away; operands may be one. */
static void differences_wrap_to_the_order(sotto_test *t)
{
    for (size_t i = 0; i < CURVES; i++) {
        sotto_scalar zero, one, two, last, a, b;
        sotto_group g;

        open_group(t, &g, curves[i]);
        sotto_scalar_set(&g, &zero, 0);
        sotto_scalar_set(&g, &one, 1);
        sotto_scalar_set(&g, &two, 2);
        sotto_scalar_subtract(&g, &last, &zero, &one); /* the order less 1 */
        CHECK(t, sotto_scalar_decode(&g, &a, last.be));
        CHECK_EQUAL(t, 0xff, last.be[0]);
        sotto_scalar_add(&g, &a, &last, &one);
        CHECK_BYTES(t, zero.be, a.be, g.scalar_size);
        sotto_scalar_subtract(&g, &a, &last, &zero);
        CHECK_BYTES(t, last.be, a.be, g.scalar_size);
        sotto_scalar_subtract(&g, &a, &zero, &zero);
        CHECK_BYTES(t, zero.be, a.be, g.scalar_size);
        sotto_scalar_subtract(&g, &a, &one, &last);
        CHECK_BYTES(t, two.be, a.be, g.scalar_size);
        for (size_t round = 0; round < 100; round++) {
            CHECK_OK(t, sotto_scalar_random(&g, &a, 1, &t->err));
            CHECK_OK(t, sotto_scalar_random(&g, &b, 1, &t->err));
            sotto_scalar two_of[2] = {a, a};
            sotto_scalar_subtract(&g, &two_of[0], &a, &b);
            sotto_scalar_add(&g, &two_of[0], &two_of[0], &b);
            CHECK_BYTES(t, a.be, two_of[0].be, g.scalar_size);
            sotto_scalar_subtract(&g, &two_of[1], &two_of[1], &two_of[1]);
            CHECK_BYTES(t, zero.be, two_of[1].be, g.scalar_size);
        }
        CHECK_OK(t, sotto_group_finish(&g, &t->err));
        sotto_group_clear(&g);
    }
}

static void scalars_at_or_above_the_order_are_refused(sotto_test *t)
{
    uint8_t order[32];
    sotto_scalar s;
    sotto_group g;

    open_group(t, &g, &sotto_p256);
    memcpy(
        order,
        sotto_test_hex(t, "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551").data,
        32);
    CHECK(t, !sotto_scalar_decode(&g, &s, order));
    CHECK(t, s.be[0] == 0);
    order[31]--;
    CHECK(t, sotto_scalar_decode(&g, &s, order));
    memset(order, 0xff, sizeof order);
    CHECK(t, !sotto_scalar_decode(&g, &s, order));
    sotto_group_clear(&g);
}

static void only_compressed_points_of_the_curve_decode(sotto_test *t)
{
    uint8_t wire[SOTTO_P256_POINT] = {0};
    sotto_scalar one, zero;
    sotto_group g;

    open_group(t, &g, &sotto_p256);
    sotto_point *p = sotto_point_new(&g);
    CHECK(t, !sotto_point_decode(&g, p, wire)); /* the identity's only encoding is one zero byte */
    wire[0] = 2;
    wire[32] = 1; /* x = 1 is on no point of P-256 */
    CHECK(t, !sotto_point_decode(&g, p, wire));
    memset(wire + 1, 0xff, 32); /* above the prime */
    CHECK(t, !sotto_point_decode(&g, p, wire));
    sotto_scalar_set(&g, &one, 1);
    sotto_scalar_set(&g, &zero, 0);
    sotto_point_multiply(&g, p, &one, NULL);
    CHECK(t, sotto_point_encode(&g, wire, p));
    CHECK(t, sotto_point_decode(&g, p, wire));
    wire[0] = 4;
    CHECK(t, !sotto_point_decode(&g, p, wire));
    wire[0] = 6;
    CHECK(t, !sotto_point_decode(&g, p, wire));
    sotto_point_multiply(&g, p, &zero, p);
    CHECK(t, !sotto_point_encode(&g, wire, p));
    CHECK_OK(t, sotto_group_finish(&g, &t->err));
    sotto_point_free(p);
    sotto_group_clear(&g);
}

static void a_failure_is_remembered_until_the_end(sotto_test *t)
{
    sotto_scalar one;
    sotto_group g;

    open_group(t, &g, &sotto_p256);
    sotto_scalar_set(&g, &one, 1);
    sotto_point_multiply(&g, NULL, &one, NULL); /* as after an allocation that failed */
    sotto_scalar_add(&g, &one, &one, &one);
    CHECK_STATUS(t, SOTTO_NO_MEMORY, sotto_group_finish(&g, &t->err));
    CHECK_REASON(t, "P-256: the crypto library failed");
    CHECK_OK(t, sotto_group_finish(&g, &t->err));
    sotto_group_clear(&g);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(points_are_hashed_as_in_rfc_9380),
        CASE(a_message_in_parts_is_one_message),
        CASE(scalars_and_points_keep_the_laws),
        CASE(short_scalars_keep_their_width),
        CASE(differences_wrap_to_the_order),
        CASE(scalars_at_or_above_the_order_are_refused),
        CASE(only_compressed_points_of_the_curve_decode),
        CASE(a_failure_is_remembered_until_the_end),
    };
    return RUN_TESTS(argc, argv, cases);
}
