/* Values into bins, bins into labels, and back. */
#include "recipe/encoding.h"

#include "support/recipes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sotto_datum whole(int64_t value)
{
    return (sotto_datum){.type = SOTTO_DATUM_INTEGER, .integer = value};
}

static sotto_datum real(double value)
{
    return (sotto_datum){.type = SOTTO_DATUM_REAL, .real = value};
}

static sotto_datum text(const char *value)
{
    return (sotto_datum){.type = SOTTO_DATUM_TEXT, .text = sotto_bytes_of(value, strlen(value))};
}

/* The example with this as its one encoder. */
static const sotto_recipe *with_encoder(sotto_test *t, const char *encoder)
{
    const char *example = sotto_recipe_example();
    const char *start = strstr(example, "\"encode\": "), *end = strstr(example, "\"randomizer\"");
    char old[2048], new[2048];

    (void)snprintf(old, sizeof old, "%.*s", (int)(end - start), start);
    (void)snprintf(new, sizeof new, "\"encode\": {\"x\": %s},\n  ", encoder);
    return sotto_test_recipe(t, old, new);
}

static uint64_t bin_of(const sotto_recipe *r, sotto_datum cell)
{
    return sotto_encoding_bin_vartime(&r->encoding, &cell);
}

static void check_label(sotto_test *t, const sotto_recipe *r, uint64_t bin, const char *wanted)
{
    uint8_t memory[1024];
    sotto_buf label = sotto_buf_over(memory, sizeof memory);

    CHECK_OK(t, sotto_recipe_label(r, &label, bin, &t->err));
    CHECK_EQUAL(t, strlen(wanted), label.len);
    CHECK_BYTES(t, wanted, label.data, label.len);
}

/* Every bin has an exact label that leads back to it, and to no other. */
static void check_labels(sotto_test *t, const sotto_recipe *r)
{
    for (uint64_t bin = 0; bin < r->encoding.bins; bin++) {
        uint8_t memory[1024];
        sotto_buf label = sotto_buf_over(memory, sizeof memory);
        uint64_t back = UINT64_MAX;

        CHECK_OK(t, sotto_recipe_label_exact(r, &label, bin, &t->err));
        CHECK_OK(t, sotto_recipe_bin(r, &back, sotto_buf_bytes(&label), &t->err));
        CHECK_EQUAL(t, bin, back);
    }
}

static void the_paper_s_example_has_272_bins(sotto_test *t)
{
    const sotto_recipe *r = sotto_test_recipe(t, NULL, NULL);
    sotto_datum row[2] = {whole(35), text("i went home")};

    CHECK_EQUAL(t, 8, r->encoding.encoders[0].bins);
    CHECK_EQUAL(t, 1 + 3 * (1 + 1 + 9), r->encoding.encoders[1].bins);
    CHECK_EQUAL(t, 272, r->encoding.bins);
    check_labels(t, r);
    check_label(t, r, sotto_encoding_bin_vartime(&r->encoding, row), "[30,40) | i went home");
    row[0] = whole(19);
    row[1] = text("hello world");
    check_label(t, r, sotto_encoding_bin_vartime(&r->encoding, row), "<oov> | hello world <end>");
    row[0] = whole(80);
    row[1] = text("hello  world peace now");
    check_label(t, r, sotto_encoding_bin_vartime(&r->encoding, row), ">=80 | hello world <oov>");
    row[1] = text("hello there");
    check_label(t, r, sotto_encoding_bin_vartime(&r->encoding, row), ">=80 | <oov>");
    row[1] = text("i");
    check_label(t, r, sotto_encoding_bin_vartime(&r->encoding, row), ">=80 | <oov>");
    row[0] = (sotto_datum){.type = SOTTO_DATUM_NULL};
    check_label(t, r, sotto_encoding_bin_vartime(&r->encoding, row), "<oov> | <oov>");
    CHECK_EQUAL(t, 0, sotto_encoding_oov(&r->encoding));
}

static void buckets_say_what_is_outside(sotto_test *t)
{
    const sotto_recipe *r = with_encoder(t, "{\"type\": \"buckets\", \"boundaries\": [0, 0.1, 10], "
                                            "\"underflow\": \"bucket\", \"overflow\": \"oov\"}");

    CHECK_EQUAL(t, 4, r->encoding.bins);
    check_labels(t, r);
    check_label(t, r, bin_of(r, real(-1)), "<0");
    check_label(t, r, bin_of(r, real(0)), "[0,0.1)");
    check_label(t, r, bin_of(r, real(0.1)), "[0.1,10)");
    check_label(t, r, bin_of(r, real(9.99)), "[0.1,10)");
    check_label(t, r, bin_of(r, whole(10)), "<oov>");
    check_label(t, r, bin_of(r, real(INFINITY)), "<oov>");
    check_label(t, r, bin_of(r, real(NAN)), "<oov>");
    check_label(t, r, bin_of(r, text("1")), "<oov>");
    r = with_encoder(t, "{\"type\": \"buckets\", \"boundaries\": [0, 1, 10], "
                        "\"underflow\": \"clip\", \"overflow\": \"clip\"}");
    CHECK_EQUAL(t, 2, r->encoding.bins);
    check_labels(t, r);
    CHECK_EQUAL(t, 0, bin_of(r, real(-INFINITY)));
    CHECK_EQUAL(t, 1, bin_of(r, whole(INT64_MAX)));
    CHECK_EQUAL(t, SOTTO_NO_VALUE, bin_of(r, real(NAN)));
}

static void categories_may_look_like_anything(sotto_test *t)
{
    const sotto_recipe *r =
        with_encoder(t, "{\"type\": \"categories\", \"values\": [\"<oov>\", \"a | b\", \"\\\\\", "
                        "\"17\", \" a\", \"a \", \"|\", \"\\u00e9\"]}");

    CHECK_EQUAL(t, 9, r->encoding.bins);
    check_labels(t, r);
    check_label(t, r, 0, "<oov>"); /* two may read alike */
    check_label(t, r, 1, "<oov>");
    check_label(t, r, 2, "a | b");
    check_label(t, r, 3, "\\");
    CHECK_EQUAL(t, 1, bin_of(r, text("<oov>")));
    CHECK_EQUAL(t, 4, bin_of(r, whole(17)));
    CHECK_EQUAL(t, 0, bin_of(r, whole(18)));
    CHECK_EQUAL(t, 0, bin_of(r, text("")));
    CHECK_EQUAL(t, 0, bin_of(r, real(17)));
    r = with_encoder(t, "{\"type\": \"categories\", \"values\": [\"b\", \"a\"], \"oov\": false}");
    CHECK_EQUAL(t, 1, bin_of(r, text("a")));
    CHECK_EQUAL(t, SOTTO_NO_VALUE, bin_of(r, text("c")));
    CHECK_EQUAL(t, SOTTO_NO_VALUE, sotto_encoding_oov(&r->encoding));
}

static void numbers_are_clipped_and_rounded(sotto_test *t)
{
    const sotto_recipe *r =
        with_encoder(t, "{\"type\": \"integer\", \"min\": -10, \"max\": 10, \"step\": 5}");

    CHECK_EQUAL(t, 5, r->encoding.bins);
    check_labels(t, r);
    CHECK_EQUAL(t, 0, bin_of(r, whole(INT64_MIN)));
    CHECK_EQUAL(t, 4, bin_of(r, whole(INT64_MAX)));
    CHECK_EQUAL(t, 2, bin_of(r, whole(2)));
    CHECK_EQUAL(t, 3, bin_of(r, whole(3)));
    CHECK_EQUAL(t, 4, bin_of(r, real(1e300)));
    CHECK_EQUAL(t, SOTTO_NO_VALUE, bin_of(r, text("3")));
    r = with_encoder(t, "{\"type\": \"real\", \"min\": -1, \"max\": 1.5, \"fraction_bits\": 3}");
    CHECK_EQUAL(t, 21, r->encoding.bins);
    check_labels(t, r);
    CHECK_EQUAL(t, 0, bin_of(r, real(-INFINITY)));
    CHECK_EQUAL(t, 20, bin_of(r, real(INFINITY)));
    CHECK_EQUAL(t, 9, bin_of(r, real(0.13)));
    CHECK_EQUAL(t, SOTTO_NO_VALUE, bin_of(r, real(NAN)));
    r = with_encoder(t, "{\"type\": \"boolean\"}");
    CHECK_EQUAL(t, 2, r->encoding.bins);
    check_labels(t, r);
    CHECK_EQUAL(t, 1, bin_of(r, whole(1)));
    CHECK_EQUAL(t, 0, bin_of(r, whole(0)));
}

static void trees_may_be_uneven_and_without_extras(sotto_test *t)
{
    const sotto_recipe *r = with_encoder(
        t, "{\"type\": \"prefix-tree\", \"tree\": {\"root\": [\"b\", \"a\", \"root\"], \"a\": "
           "[\"a\", \"b\"], \"a b\": [\"c\"]}, \"tokens\": [\"z\", \"<end>\"], \"oov\": false, "
           "\"end\": false}");

    CHECK_EQUAL(t, 4 * 2, r->encoding.bins); /* b, root, a a, a b c */
    check_labels(t, r);
    check_label(t, r, bin_of(r, text("a b c z")), "a b c z");
    check_label(t, r, bin_of(r, text("root <end>")), "root <end>");
    CHECK_EQUAL(t, SOTTO_NO_VALUE, bin_of(r, text("a b")));
    CHECK_EQUAL(t, SOTTO_NO_VALUE, bin_of(r, text("b q")));
    CHECK_EQUAL(t, SOTTO_NO_VALUE, bin_of(r, text("")));
    /* "root" is the tree's own key; behind that word stands a space. */
    r = with_encoder(
        t, "{\"type\": \"prefix-tree\", \"tree\": {\"root\": [\"beer\", \"root\"], \"root \": "
           "[\"beer\"], \"root beer\": [\"now\"]}, \"tokens\": [\"z\"], \"oov\": false, "
           "\"end\": false}");
    CHECK_EQUAL(t, 2, r->encoding.bins); /* beer, root beer now */
    check_labels(t, r);
    check_label(t, r, bin_of(r, text("root beer now z")), "root beer now z");
}

/* Hashes by `printf '%s\n%s' keyboard-2026 "i went" | sha256sum | cut -c1-16`, then of "i got" and "hello world". */
#define HASHES "[\"67f63b79e037ad34\", \"a41cc78df4812694\", \"19d053200ce0409a\"]"

static void phrases_may_be_known_by_their_hashes(sotto_test *t)
{
    const sotto_recipe *r =
        with_encoder(t, "{\"type\": \"hashed-prefixes\", \"salt\": \"keyboard-2026\", \"words\": "
                        "2, \"hashes\": " HASHES ", \"tokens\": [\"home\", \"a\"]}");

    /* <oov>, and at each hash <end>, <oov> and two tokens. */
    CHECK_EQUAL(t, 13, r->encoding.bins);
    CHECK_EQUAL(t, 3, bin_of(r, text("i went home")));
    CHECK_EQUAL(t, 3, bin_of(r, text("  i   went  home again")));
    CHECK_EQUAL(t, 8, bin_of(r, text("i got a")));
    CHECK_EQUAL(t, 9, bin_of(r, text("hello world")));
    CHECK_EQUAL(t, 10, bin_of(r, text("hello world order")));
    CHECK_EQUAL(t, 0, bin_of(r, text("i")));
    CHECK_EQUAL(t, 0, bin_of(r, text("went i home")));
    CHECK_EQUAL(t, 0, bin_of(r, text("67f63b79e037ad34 home")));
    check_label(t, r, 3, "67f63b79e037ad34 home");
    check_label(t, r, 9, "19d053200ce0409a <end>");
    check_labels(t, r);
}

static void check_no_hashes(sotto_test *t, const char *hashes, const char *mistake)
{
    static sotto_mistakes mistakes;
    const char *example = sotto_recipe_example();
    const char *start = strstr(example, "\"type\": \"prefix-tree\""),
               *end = strstr(start, "\"tokens\"");
    const sotto_recipe *recipe;
    char old[512], encoder[256];

    (void)snprintf(old, sizeof old, "%.*s", (int)(end - start), start);
    (void)snprintf(encoder, sizeof encoder,
                   "\"type\": \"hashed-prefixes\", \"salt\": \"keyboard-2026\", \"words\": 2, "
                   "\"hashes\": %s, ",
                   hashes);
    memset(&mistakes, 0, sizeof mistakes);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_recipe_read(&recipe, sotto_test_recipe_text(t, old, encoder), &t->arena,
                                   &mistakes, &t->err));
    CHECK(t, mistakes.errors > 0 && strstr(mistakes.items[0].path, "encode.ngram.hashes"));
    CHECK(t, strstr(mistakes.items[0].what, mistake) != NULL);
}

static void hashes_are_sixteen_digits_each_once(sotto_test *t)
{
    check_no_hashes(t, "[\"67f63b79e037ad3\"]", "no such hash");
    check_no_hashes(t, "[\"67F63B79E037AD34\"]", "no such hash");
    check_no_hashes(t, "[\"67f63b79e037ad34\", \"67f63b79e037ad34\"]", "twice");
}

static void labels_that_no_bin_has_are_missing(sotto_test *t)
{
    static const char *const labels[] = {"",
                                         "<oov>",
                                         "<oov> | ",
                                         "<oov> | <oov> | <oov>",
                                         "<oov> | <oov>x",
                                         "[20,31) | <oov>",
                                         "[20, 30) | <oov>",
                                         "<20 | <oov>",
                                         "<oov> | hello world",
                                         "<oov> | hello world \\<end>",
                                         "<oov> | i went home home",
                                         "<oov>|<oov>",
                                         "\\<oov> | <oov>"};
    const sotto_recipe *r = sotto_test_recipe(t, NULL, NULL);
    uint8_t memory[64];
    sotto_buf label = sotto_buf_over(memory, sizeof memory);
    uint64_t bin;

    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        CHECK_STATUS(
            t, SOTTO_MISSING,
            sotto_recipe_bin(r, &bin, sotto_bytes_of(labels[i], strlen(labels[i])), &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_recipe_label(r, &label, 272, &t->err));
}

static void a_tree_of_ten_thousand_nodes_works(sotto_test *t)
{
    static sotto_mistakes mistakes;
    const sotto_recipe *r;
    sotto_datum row[2] = {whole(35), text("first99 next98 home")};

    memset(&mistakes, 0, sizeof mistakes);
    CHECK_OK(t,
             sotto_recipe_read(&r, sotto_test_big_tree(t, 10000), &t->arena, &mistakes, &t->err));
    CHECK_EQUAL(t, 10001, r->encoding.encoders[1].as.tree.node_count);
    CHECK_EQUAL(t, 8 * (1 + 9900 * 11), r->encoding.bins);
    check_label(t, r, sotto_encoding_bin_vartime(&r->encoding, row),
                "[30,40) | first99 next98 home");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_paper_s_example_has_272_bins),       CASE(buckets_say_what_is_outside),
        CASE(categories_may_look_like_anything),      CASE(numbers_are_clipped_and_rounded),
        CASE(trees_may_be_uneven_and_without_extras), CASE(labels_that_no_bin_has_are_missing),
        CASE(a_tree_of_ten_thousand_nodes_works),     CASE(phrases_may_be_known_by_their_hashes),
        CASE(hashes_are_sixteen_digits_each_once),
    };

    return RUN_TESTS(argc, argv, cases);
}
