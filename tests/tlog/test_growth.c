/* One proof of a log's growth for everybody, and the feed that carries it. */
#include "notes.h"

#include "tlog/feed.h"
#include "tlog/growth.h"

enum { LEAVES = 40, ROOM = 8192 };

/* Leaf i of two logs that differ from entry `fork` on. */
static sotto_merkle_hash leaf_of(uint64_t i, uint64_t fork)
{
    const uint8_t entry[] = {(uint8_t)i, i >= fork ? 1 : 0};
    sotto_merkle_hash hash;

    sotto_merkle_leaf(&hash, sotto_bytes_of(entry, sizeof entry));
    return hash;
}

static sotto_checkpoint tree_of(uint64_t size, uint64_t fork)
{
    sotto_checkpoint out = {.size = size};
    sotto_merkle_tree tree = {0};

    for (uint64_t i = 0; i < size; i++) {
        const sotto_merkle_hash leaf = leaf_of(i, fork);

        sotto_merkle_append(&tree, 0, &leaf);
    }
    sotto_merkle_root(&out.root, &tree);
    return out;
}

/* The root of 2^level leaves from `at` on. */
static sotto_merkle_hash subtree(uint64_t at, unsigned level, uint64_t fork)
{
    sotto_merkle_hash left, right;

    if (level == 0)
        return leaf_of(at, fork);
    left = subtree(at, level - 1, fork);
    right = subtree(at + ((uint64_t)1 << (level - 1)), level - 1, fork);
    sotto_merkle_node(&left, &left, &right);
    return left;
}

/* Steps that end at each of the sizes, by the definition. */
static sotto_buf steps_of(sotto_test *t, const uint64_t *sizes, size_t count, uint64_t fork)
{
    sotto_buf out = sotto_test_buf(t, ROOM);
    sotto_writer w = sotto_writer_on(&out);
    uint64_t at = 0;

    for (size_t i = 0; i < count; i++) {
        while (at < sizes[i]) {
            unsigned level = 0;

            while (at % ((uint64_t)2 << level) == 0 && at + ((uint64_t)2 << level) <= sizes[i])
                level++;
            const sotto_merkle_hash hash = subtree(at, level, fork);
            sotto_write_uint(&w, level, 1);
            sotto_write_bytes(&w, sotto_bytes_of(hash.bytes, sizeof hash.bytes));
            at += (uint64_t)1 << level;
        }
    }
    CHECK_OK(t, sotto_writer_finish(&w, "steps", &t->err));
    return out;
}

static sotto_status check(sotto_test *t, sotto_checkpoint now, sotto_checkpoint seen,
                          const sotto_buf *steps, bool *fork)
{
    return sotto_growth_check(&now, &seen, sotto_buf_bytes(steps), fork, &t->err);
}

/* Each of the sizes, and no other but by chance: those that end at a step. */
static void everybody_who_saw_a_listed_tree_is_shown_its_growth(sotto_test *t)
{
    static const uint64_t sizes[] = {3, 7, 8, 21, LEAVES};
    const sotto_buf steps = steps_of(t, sizes, 5, LEAVES);
    bool fork;

    for (size_t i = 0; i < 5; i++) {
        CHECK_OK(t, check(t, tree_of(LEAVES, LEAVES), tree_of(sizes[i], LEAVES), &steps, &fork));
        CHECK(t, !fork);
    }
    CHECK_OK(t, check(t, tree_of(LEAVES, LEAVES), (sotto_checkpoint){0}, &steps, &fork));
    CHECK_STATUS(t, SOTTO_MISSING,
                 check(t, tree_of(LEAVES, LEAVES), tree_of(5, LEAVES), &steps, &fork));
    CHECK_REASON(t, "nothing shows that the log's tree continues the one of 5 entries");
    CHECK(t, !fork);
}

static void a_fork_shows_itself_at_another_size(sotto_test *t)
{
    static const uint64_t sizes[] = {21, LEAVES};
    const sotto_buf steps = steps_of(t, sizes, 2, LEAVES);
    bool fork;

    CHECK_STATUS(t, SOTTO_REJECTED,
                 check(t, tree_of(LEAVES, LEAVES), tree_of(21, 20), &steps, &fork));
    CHECK_REASON(t, "the log forked: two signed trees, of 21 and 40 entries");
    CHECK(t, fork);
}

static void a_fork_shows_itself_at_one_size(sotto_test *t)
{
    const sotto_buf none = sotto_test_buf(t, 1);
    bool fork;

    CHECK_STATUS(t, SOTTO_REJECTED, check(t, tree_of(21, LEAVES), tree_of(21, 20), &none, &fork));
    CHECK(t, fork);
    CHECK_OK(t, check(t, tree_of(21, 20), tree_of(21, 20), &none, &fork));
    CHECK(t, !fork);
}

/* Whoever brings wrong steps makes no log a liar by it. */
static void steps_that_were_not_signed_show_no_fork(sotto_test *t)
{
    static const uint64_t sizes[] = {21, LEAVES};
    const sotto_buf wrong = steps_of(t, sizes, 2, 20), steps = steps_of(t, sizes, 2, LEAVES);
    sotto_buf more = sotto_test_buf(t, ROOM), fewer = steps;
    bool fork;

    CHECK_STATUS(t, SOTTO_REJECTED,
                 check(t, tree_of(LEAVES, LEAVES), tree_of(21, LEAVES), &wrong, &fork));
    CHECK_REASON(t, "growth of a log: leads to another tree");
    CHECK(t, !fork);
    fewer.len -= SOTTO_GROWTH_STEP;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 check(t, tree_of(LEAVES, LEAVES), tree_of(21, LEAVES), &fewer, &fork));
    CHECK_REASON(t, "growth of a log: leads to another tree");
    memcpy(more.data, steps.data, steps.len);
    more.len = steps.len + SOTTO_GROWTH_STEP; /* one more leaf, of zeros */
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 check(t, tree_of(LEAVES, LEAVES), tree_of(21, LEAVES), &more, &fork));
    CHECK_REASON(t, "growth of a log: a step that does not fit");
    more.len--;
    more.len -= SOTTO_GROWTH_STEP;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 check(t, tree_of(LEAVES, LEAVES), tree_of(21, LEAVES), &more, &fork));
    CHECK_REASON(t, "growth of a log: cut off");
    more.data[0] = 63;
    more.len = steps.len;
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 check(t, tree_of(LEAVES, LEAVES), tree_of(21, LEAVES), &more, &fork));
    CHECK(t, !fork);
}

static void a_smaller_tree_is_a_rollback(sotto_test *t)
{
    static const uint64_t sizes[] = {7, 8};
    const sotto_buf steps = steps_of(t, sizes, 2, LEAVES);
    bool fork;

    CHECK_STATUS(t, SOTTO_STALE, check(t, tree_of(8, LEAVES), tree_of(21, LEAVES), &steps, &fork));
    CHECK_REASON(t, "the log was rolled back: 8 entries, and 21 were seen");
}

/* ---- feeds --------------------------------------------------------------------------------------------------- */

static sotto_buf feed_of(sotto_test *t, const char *bundles, size_t len)
{
    sotto_buf out = sotto_test_buf(t, SOTTO_FEED_MAX);
    const sotto_feed feed = {bytes_of("note"), bytes_of("steps"), sotto_bytes_of(bundles, len)};

    CHECK_OK(t, sotto_feed_encode(&out, &feed, &t->err));
    return out;
}

static void a_feed_is_read_back(sotto_test *t)
{
    const sotto_buf wire = feed_of(t, "\0\0\0\1a\0\0\0\2bc", 11);
    sotto_bytes one;
    sotto_feed feed;

    CHECK_EQUAL(t, 0, wire.len % SOTTO_FEED_PAD);
    CHECK_OK(t, sotto_feed_decode(&feed, sotto_buf_bytes(&wire), &t->err));
    CHECK(t, sotto_bytes_equal_vartime(bytes_of("note"), feed.note));
    CHECK(t, sotto_bytes_equal_vartime(bytes_of("steps"), feed.steps));
    CHECK(t, sotto_feed_next(&one, &feed.bundles));
    CHECK(t, sotto_bytes_equal_vartime(bytes_of("a"), one));
    CHECK(t, sotto_feed_next(&one, &feed.bundles));
    CHECK(t, sotto_bytes_equal_vartime(bytes_of("bc"), one));
    CHECK(t, !sotto_feed_next(&one, &feed.bundles));
}

static void a_feed_ends_in_zeros(sotto_test *t)
{
    const sotto_buf wire = feed_of(t, "", 0);
    sotto_feed feed;

    wire.data[wire.len - 1] = 1;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_feed_decode(&feed, sotto_buf_bytes(&wire), &t->err));
    CHECK_REASON(t, "feed of a log: more than zeros behind its end");
}

static void a_feed_that_is_cut_or_too_long_is_refused(sotto_test *t)
{
    const sotto_buf wire = feed_of(t, "\0\0\0\1a", 5),
                    large = sotto_test_buf(t, SOTTO_FEED_MAX + 1);
    const size_t whole = 13 + 8 + 9 + 5 + 4;
    sotto_feed feed;

    for (size_t len = 0; len < whole; len++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_feed_decode(&feed, sotto_bytes_of(wire.data, len), &t->err));
    CHECK_OK(t, sotto_feed_decode(&feed, sotto_bytes_of(wire.data, whole), &t->err));
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_feed_decode(&feed, sotto_bytes_of(large.data, SOTTO_FEED_MAX + 1), &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(everybody_who_saw_a_listed_tree_is_shown_its_growth),
        CASE(a_fork_shows_itself_at_another_size),
        CASE(a_fork_shows_itself_at_one_size),
        CASE(steps_that_were_not_signed_show_no_fork),
        CASE(a_smaller_tree_is_a_rollback),
        CASE(a_feed_is_read_back),
        CASE(a_feed_ends_in_zeros),
        CASE(a_feed_that_is_cut_or_too_long_is_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
