/* Checkpoints: one spelling, the log's signature, and as many witnesses as the quorum says. */
#include "notes.h"

static const char empty_root[] = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

static sotto_buf signed_checkpoint(sotto_test *t, const test_log *l, uint64_t size, uint8_t root)
{
    const sotto_merkle_hash hash = {{root}};
    sotto_buf note = unsigned_checkpoint(t, "example.com/log", size, &hash);

    add_signature(t, &note, &l->log, 0);
    return note;
}

static void a_cosigned_checkpoint_is_believed(sotto_test *t)
{
    sotto_checkpoint checkpoint;
    sotto_buf note;
    test_log l;

    test_log_open(t, &l);
    note = signed_checkpoint(t, &l, 5, 1);
    add_signature(t, &note, &l.by[0], 100);
    add_signature(t, &note, &l.by[2], 101);
    CHECK_OK(t, sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_EQUAL(t, 5, checkpoint.size);
    CHECK_EQUAL(t, 1, checkpoint.root.bytes[0]);
    CHECK_EQUAL(t, 0, checkpoint.extensions.len);
    test_log_close(&l);
}

/* One that is away for long does not make the others' cosignatures old, and one alone does not make them new. */
static void the_time_is_the_quorum_s(sotto_test *t)
{
    sotto_checkpoint checkpoint;
    sotto_buf note;
    test_log l;

    test_log_open(t, &l);
    note = signed_checkpoint(t, &l, 5, 1);
    add_signature(t, &note, &l.by[0], 100);
    add_signature(t, &note, &l.by[1], 300);
    CHECK_OK(t, sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_EQUAL(t, 100, checkpoint.cosigned);
    add_signature(t, &note, &l.by[2], 200);
    CHECK_OK(t, sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_EQUAL(t, 200, checkpoint.cosigned);
    add_signature(t, &note, &l.by[0], 400); /* the later one of two */
    CHECK_OK(t, sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_EQUAL(t, 300, checkpoint.cosigned);
    l.trust.quorum = 0;
    CHECK_OK(t, sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_EQUAL(t, 0, checkpoint.cosigned);
    test_log_close(&l);
}

static void too_few_witnesses_are_refused(sotto_test *t)
{
    sotto_checkpoint checkpoint;
    sotto_buf note;
    test_log l;

    test_log_open(t, &l);
    note = signed_checkpoint(t, &l, 5, 1);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_REASON(t, "checkpoint: cosigned by 0 witnesses; 2 are wanted");
    add_signature(t, &note, &l.by[1], 100);
    add_signature(t, &note, &l.by[1], 101); /* one witness twice is one */
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_REASON(t, "checkpoint: cosigned by 1 witnesses; 2 are wanted");
    test_log_close(&l);
}

static void a_witness_under_two_names_is_one(sotto_test *t)
{
    sotto_note_signer alias = signer_of(t, "alias.example", SOTTO_NOTE_COSIGNATURE, 11);
    sotto_checkpoint checkpoint;
    sotto_buf note;
    test_log l;

    test_log_open(t, &l);
    l.witnesses[1] = alias.key;
    note = signed_checkpoint(t, &l, 5, 1);
    add_signature(t, &note, &l.by[0], 100);
    add_signature(t, &note, &alias, 100);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_REASON(t, "checkpoint: cosigned by 1 witnesses; 2 are wanted");
    sotto_note_signer_clear(&alias);
    test_log_close(&l);
}

/* A log that is listed as its own witness. */
static void a_plain_signature_is_no_cosignature(sotto_test *t)
{
    sotto_checkpoint checkpoint;
    sotto_buf note;
    test_log l;

    test_log_open(t, &l);
    l.witnesses[1] = l.log.key;
    note = signed_checkpoint(t, &l, 5, 1);
    add_signature(t, &note, &l.by[0], 100);
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_REASON(t, "checkpoint: cosigned by 1 witnesses; 2 are wanted");
    test_log_close(&l);
}

static void a_bad_cosignature_rejects_the_checkpoint(sotto_test *t)
{
    sotto_note_signer forger = signer_of(t, "w3.example", SOTTO_NOTE_COSIGNATURE, 99);
    sotto_checkpoint checkpoint;
    sotto_buf note;
    test_log l;

    test_log_open(t, &l);
    forger.key.id = l.by[2].key.id;
    note = signed_checkpoint(t, &l, 5, 1);
    add_signature(t, &note, &l.by[0], 100);
    add_signature(t, &note, &l.by[1], 100);
    add_signature(t, &note, &forger, 100);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_REASON(t, "checkpoint: signed note: a signature of w3.example does not hold");
    sotto_note_signer_clear(&forger);
    test_log_close(&l);
}

static void witnesses_alone_are_not_the_log(sotto_test *t)
{
    const sotto_merkle_hash hash = {{1}};
    sotto_checkpoint checkpoint;
    sotto_buf note;
    test_log l;

    test_log_open(t, &l);
    note = unsigned_checkpoint(t, "example.com/log", 5, &hash);
    add_signature(t, &note, &l.by[0], 100);
    add_signature(t, &note, &l.by[1], 100);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_REASON(t, "checkpoint: signed note: not signed by example.com/log");
    test_log_close(&l);
}

/* The log's key on the checkpoint of another log: a tree of its own under the same key. */
static void a_checkpoint_of_another_log_is_rejected(sotto_test *t)
{
    const sotto_merkle_hash hash = {{1}};
    sotto_checkpoint checkpoint;
    sotto_buf note;
    test_log l;

    test_log_open(t, &l);
    note = unsigned_checkpoint(t, "example.com/other", 5, &hash);
    add_signature(t, &note, &l.log, 0);
    add_signature(t, &note, &l.by[0], 100);
    add_signature(t, &note, &l.by[1], 100);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_REASON(t, "checkpoint: of another log than example.com/log");
    test_log_close(&l);
}

static void an_empty_tree_has_the_empty_root(sotto_test *t)
{
    sotto_checkpoint checkpoint;
    sotto_merkle_hash empty;
    sotto_buf note;
    test_log l;

    test_log_open(t, &l);
    l.trust.quorum = 0;
    note = signed_checkpoint(t, &l, 0, 1);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    CHECK_REASON(t, "checkpoint: no entry, but another root");
    sotto_merkle_empty(&empty);
    note = unsigned_checkpoint(t, "example.com/log", 0, &empty);
    CHECK(t, sotto_test_holds(sotto_buf_bytes(&note), bytes_of(empty_root)));
    add_signature(t, &note, &l.log, 0);
    CHECK_OK(t, sotto_checkpoint_open(&checkpoint, sotto_buf_bytes(&note), &l.trust, &t->err));
    test_log_close(&l);
}

static void what_is_no_checkpoint_is_malformed(sotto_test *t)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "checkpoint: no origin"},
        {"\n5\n", "checkpoint: no origin"},
        {"o\n", "checkpoint: no size"},
        {"o\n05\n", "checkpoint: no size"},
        {"o\n-5\n", "checkpoint: no size"},
        {"o\n\n", "checkpoint: no size"},
        {"o\n9223372036854775808\n", "checkpoint: no size"},
        {"o\n5\nAAAA\n", "checkpoint: no root hash"},
        {"o\n5\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU\n", "checkpoint: no root hash"},
        {"o\n5\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=\n", "checkpoint: no root hash"},
        {"o\n5\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\nmore\n",
         "checkpoint: an empty line"},
        {"o\n5\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nmore", "or one without an end"},
    };
    sotto_checkpoint checkpoint;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_checkpoint_decode(&checkpoint, bytes_of(bad[i].text), &t->err));
        CHECK_REASON(t, bad[i].why);
    }
    CHECK_OK(
        t, sotto_checkpoint_decode(&checkpoint,
                                   bytes_of("o\n9223372036854775807\n"
                                            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nmore\n"),
                                   &t->err));
    CHECK_EQUAL(t, 5, checkpoint.extensions.len);
}

/* A witness that signs a fork does not hide it: both checkpoints are cosigned, and show it. */
static void two_roots_of_one_size_are_a_fork(sotto_test *t)
{
    sotto_buf one, two, longer;
    test_log l;

    test_log_open(t, &l);
    one = signed_checkpoint(t, &l, 5, 1);
    two = signed_checkpoint(t, &l, 5, 2);
    longer = signed_checkpoint(t, &l, 6, 2);
    add_signature(t, &one, &l.by[0], 100);
    add_signature(t, &two, &l.by[0], 100);
    CHECK_OK(t, sotto_checkpoint_fork(sotto_buf_bytes(&one), sotto_buf_bytes(&two), &l.log.key,
                                      &t->err));
    CHECK_STATUS(
        t, SOTTO_MISSING,
        sotto_checkpoint_fork(sotto_buf_bytes(&one), sotto_buf_bytes(&one), &l.log.key, &t->err));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_checkpoint_fork(sotto_buf_bytes(&one), sotto_buf_bytes(&longer), &l.log.key,
                                       &t->err));
    two.data[sizeof "example.com/log\n5\n"] ^= 1; /* what nobody signed shows nothing */
    CHECK_STATUS(
        t, SOTTO_REJECTED,
        sotto_checkpoint_fork(sotto_buf_bytes(&one), sotto_buf_bytes(&two), &l.log.key, &t->err));
    test_log_close(&l);
}

static sotto_merkle_hash leaf_of(uint8_t i)
{
    sotto_merkle_hash hash;

    sotto_merkle_leaf(&hash, sotto_bytes_of(&i, 1));
    return hash;
}

static sotto_checkpoint tree_of(uint8_t size)
{
    sotto_merkle_tree tree = {0};
    sotto_checkpoint c = {.size = size};

    for (uint8_t i = 0; i < size; i++) {
        const sotto_merkle_hash leaf = leaf_of(i);

        sotto_merkle_append(&tree, 0, &leaf);
    }
    sotto_merkle_root(&c.root, &tree);
    return c;
}

static void a_newer_checkpoint_continues_the_last(sotto_test *t)
{
    const sotto_checkpoint none = {0}, two = tree_of(2), three = tree_of(3);
    const sotto_merkle_proof empty = {0}, proof = {1, {leaf_of(2)}};
    sotto_checkpoint fork = tree_of(4);

    fork.size = 3;
    CHECK_OK(t, sotto_checkpoint_continues(&three, &none, &empty, &t->err));
    CHECK_OK(t, sotto_checkpoint_continues(&three, &two, &proof, &t->err));
    CHECK_OK(t, sotto_checkpoint_continues(&three, &three, &empty, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_checkpoint_continues(&fork, &two, &proof, &t->err));
    CHECK_REASON(t, "consistency proof: leads to another new root");
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_checkpoint_continues(&fork, &three, &empty, &t->err));
    CHECK_REASON(t, "two trees of one size with different roots");
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_checkpoint_continues(&three, &two, &empty, &t->err));
    CHECK_REASON(t, "consistency proof: 0 hashes, where 1 are needed");
}

static void a_smaller_checkpoint_is_a_rollback(sotto_test *t)
{
    const sotto_checkpoint two = tree_of(2), three = tree_of(3);
    const sotto_merkle_proof empty = {0};

    CHECK_STATUS(t, SOTTO_STALE, sotto_checkpoint_continues(&two, &three, &empty, &t->err));
    CHECK_REASON(t, "checkpoint: of 2 entries, and 3 were seen");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_cosigned_checkpoint_is_believed),   CASE(the_time_is_the_quorum_s),
        CASE(too_few_witnesses_are_refused),       CASE(a_witness_under_two_names_is_one),
        CASE(a_plain_signature_is_no_cosignature), CASE(a_bad_cosignature_rejects_the_checkpoint),
        CASE(witnesses_alone_are_not_the_log),     CASE(a_checkpoint_of_another_log_is_rejected),
        CASE(an_empty_tree_has_the_empty_root),    CASE(what_is_no_checkpoint_is_malformed),
        CASE(two_roots_of_one_size_are_a_fork),    CASE(a_newer_checkpoint_continues_the_last),
        CASE(a_smaller_checkpoint_is_a_rollback),
    };

    return RUN_TESTS(argc, argv, cases);
}
