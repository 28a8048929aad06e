/* A witness cosigns what continues the last tree, and says exactly what C2SP tlog-witness wants of everything else. */
#include "notes.h"

#include "tlog/demand.h"
#include "tlog/merkle_list.h"
#include "tlog/witness.h"

static sotto_merkle_hash leaf_of(uint8_t i)
{
    sotto_merkle_hash hash;

    sotto_merkle_leaf(&hash, sotto_bytes_of(&i, 1));
    return hash;
}

static sotto_merkle_hash root_of(uint64_t size)
{
    sotto_merkle_tree tree = {0};
    sotto_merkle_hash root;

    for (uint64_t i = 0; i < size; i++) {
        const sotto_merkle_hash leaf = leaf_of((uint8_t)i);

        sotto_merkle_append(&tree, 0, &leaf);
    }
    sotto_merkle_root(&root, &tree);
    return root;
}

typedef struct submission {
    test_log l;
    sotto_buf note;
    sotto_witness_request request;
    sotto_checkpoint last;
} submission;

/* From 2 to 3 entries. */
static void make(sotto_test *t, submission *s, uint64_t size, const sotto_merkle_hash *root)
{
    memset(s, 0, sizeof *s);
    test_log_open(t, &s->l);
    s->note = unsigned_checkpoint(t, "example.com/log", size, root);
    add_signature(t, &s->note, &s->l.log, 0);
    s->request = (sotto_witness_request){.old = 2, .proof = {1, {leaf_of(2)}}};
    s->last = (sotto_checkpoint){.size = 2, .root = root_of(2)};
}

static sotto_witness_verdict judge(sotto_test *t, submission *s)
{
    sotto_buf body = sotto_test_buf(t, 1 << 16);
    sotto_witness_request read;

    s->request.note = sotto_buf_bytes(&s->note);
    CHECK_OK(t, sotto_witness_request_encode(&body, &s->request, &t->err));
    CHECK_OK(t, sotto_witness_request_decode(&read, sotto_buf_bytes(&body), &t->err));
    return sotto_witness_judge(&read, &s->l.log.key, &s->last, &t->err);
}

static void growth_is_cosigned(sotto_test *t)
{
    const sotto_merkle_hash root = root_of(3);
    submission s;

    make(t, &s, 3, &root);
    CHECK_EQUAL(t, 200, judge(t, &s).http);
    s.request.old = s.last.size = 3; /* the same tree again */
    s.request.proof.count = 0;
    s.last.root = root;
    CHECK_EQUAL(t, 200, judge(t, &s).http);
    s.request.old = s.last.size = 0; /* the first one */
    CHECK_EQUAL(t, 200, judge(t, &s).http);
    test_log_close(&s.l);
}

static void another_old_size_is_a_conflict(sotto_test *t)
{
    const sotto_merkle_hash root = root_of(3);
    sotto_witness_verdict verdict;
    submission s;

    make(t, &s, 3, &root);
    s.request.old = 1;
    verdict = judge(t, &s);
    CHECK_EQUAL(t, 409, verdict.http);
    CHECK(t, !verdict.fork);
    CHECK_REASON(t, "the old size is not that of the last checkpoint");
    s.request.old = 4;
    t->err = (sotto_err){0};
    CHECK_EQUAL(t, 400, judge(t, &s).http);
    CHECK_REASON(t, "the old size is larger than the checkpoint's");
    s.request.old = 0; /* the witness has a tree of this size, and another one */
    s.last = (sotto_checkpoint){.size = 3, .root = root_of(2)};
    t->err = (sotto_err){0};
    verdict = judge(t, &s);
    CHECK_EQUAL(t, 409, verdict.http);
    CHECK(t, verdict.fork);
    test_log_close(&s.l);
}

static void a_fork_is_refused_and_kept(sotto_test *t)
{
    const sotto_merkle_hash root = root_of(4);
    sotto_witness_verdict verdict;
    submission s;

    make(t, &s, 3, &root); /* another tree of three entries */
    CHECK_EQUAL(t, 422, judge(t, &s).http);
    CHECK_REASON(t, "consistency proof: leads to another new root");
    s.request.old = s.last.size = 3;
    s.last.root = root_of(3);
    s.request.proof.count = 0;
    t->err = (sotto_err){0};
    verdict = judge(t, &s);
    CHECK_EQUAL(t, 409, verdict.http);
    CHECK(t, verdict.fork);
    CHECK_REASON(t, "two trees of one size with different roots");
    s.last.root = root; /* the same tree, with a proof that it does not need: no fork */
    s.request.proof.count = 1;
    t->err = (sotto_err){0};
    verdict = judge(t, &s);
    CHECK_EQUAL(t, 422, verdict.http);
    CHECK(t, !verdict.fork);
    test_log_close(&s.l);
}

static void a_proof_from_nothing_is_empty(sotto_test *t)
{
    const sotto_merkle_hash root = root_of(3);
    submission s;

    make(t, &s, 3, &root);
    s.request.old = s.last.size = 0;
    CHECK_EQUAL(t, 422, judge(t, &s).http);
    CHECK_REASON(t, "consistency proof: hashes, where none are needed");
    test_log_close(&s.l);
}

static void an_empty_tree_has_its_root(sotto_test *t)
{
    const sotto_merkle_hash root = root_of(3);
    submission s;

    make(t, &s, 0, &root);
    s.request.old = s.last.size = 0;
    s.request.proof.count = 0;
    CHECK_EQUAL(t, 422, judge(t, &s).http);
    CHECK_REASON(t, "no entry, but another root");
    test_log_close(&s.l);
}

static void what_the_log_did_not_sign_is_forbidden(sotto_test *t)
{
    const sotto_merkle_hash root = root_of(3);
    submission s;

    make(t, &s, 3, &root);
    s.note = unsigned_checkpoint(t, "example.com/log", 3, &root);
    add_signature(t, &s.note, &s.l.by[0], 100);
    CHECK_EQUAL(t, 403, judge(t, &s).http);
    CHECK_REASON(t, "signed note: not signed by example.com/log");
    test_log_close(&s.l);
}

static void what_is_no_request_is_malformed(sotto_test *t)
{
    static const char *const bad[] = {
        "",          "old 2\n",        "old 02\n\n", "new 2\n\n", "old 2\nAAAA\n\n",
        "old 2\n\n", "old 2\n\ntext\n"};
    sotto_buf many = sotto_test_buf(t, 8192);
    sotto_witness_request read;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_witness_request_decode(&read, bytes_of(bad[i]), &t->err));
    append(t, &many, "old 2\n");
    for (int i = 0; i <= SOTTO_WITNESS_PROOF; i++)
        append(t, &many, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n");
    append(t, &many, "\n");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_witness_request_decode(&read, sotto_buf_bytes(&many), &t->err));
    CHECK_REASON(t, "add-checkpoint: no list of 63 hashes at most");
}

/* ---- what a witness demands ---------------------------------------------------------------------------------------- */

enum { SHOWN_LEAVES = 20 };

static void leaves_of(sotto_merkle_hash leaves[SHOWN_LEAVES])
{
    for (uint8_t i = 0; i < SHOWN_LEAVES; i++)
        leaves[i] = leaf_of(i);
}

static void a_list_proves_what_is_in_it(sotto_test *t)
{
    sotto_merkle_hash leaves[SHOWN_LEAVES], root;
    sotto_merkle_proof proof;

    leaves_of(leaves);
    for (size_t count = 1; count <= SHOWN_LEAVES; count++)
        for (size_t i = 0; i < count; i++) {
            sotto_merkle_list_root(&root, leaves, count);
            sotto_merkle_list_inclusion(&proof, leaves, i, count);
            CHECK_OK(t, sotto_merkle_check_inclusion(&proof, &leaves[i], i, count, &root, &t->err));
        }
}

/* A showing of these leaves, each with the proof of the one at `index`, and two bytes behind it. */
static sotto_bytes show(sotto_test *t, const sotto_merkle_hash *leaves, const size_t *index,
                        size_t count)
{
    sotto_buf out = sotto_test_buf(t, SOTTO_SHOWINGS + 2);

    out.data[out.len++] = 0;
    out.data[out.len++] = (uint8_t)count;
    for (size_t i = 0; i < count; i++) {
        sotto_shown one = {.leaf = leaf_of((uint8_t)i), .index = index[i]};

        sotto_merkle_list_inclusion(&one.proof, leaves, index[i], SHOWN_LEAVES);
        CHECK_OK(t, sotto_shown_encode(&out, &one, &t->err));
    }
    out.data[out.len++] = 'o';
    out.data[out.len++] = 'l';
    return sotto_buf_bytes(&out);
}

static void what_is_demanded_must_be_proved(sotto_test *t)
{
    const size_t index[] = {0, 1, 7};
    sotto_merkle_hash leaves[SHOWN_LEAVES], root;
    sotto_showing showing;
    sotto_bytes rest;

    leaves_of(leaves);
    sotto_merkle_list_root(&root, leaves, SHOWN_LEAVES);
    CHECK_OK(t, sotto_showing_decode(&showing, &rest, show(t, leaves, index, 3), &t->err));
    CHECK_EQUAL(t, 2, rest.len);
    CHECK(t, sotto_showing_has(&showing, &leaves[0], SHOWN_LEAVES, &root));
    CHECK(t, sotto_showing_has(&showing, &leaves[1], SHOWN_LEAVES, &root));
    CHECK(t,
          !sotto_showing_has(&showing, &leaves[2], SHOWN_LEAVES, &root)); /* the proof of another */
    CHECK(t, !sotto_showing_has(&showing, &leaves[3], SHOWN_LEAVES, &root));
    root.bytes[0] ^= 1;
    CHECK(t, !sotto_showing_has(&showing, &leaves[0], SHOWN_LEAVES, &root));
}

static void showings_and_demands_have_their_form(sotto_test *t)
{
    const size_t index[] = {0, 1};
    const sotto_merkle_hash *list;
    sotto_merkle_hash leaves[SHOWN_LEAVES];
    sotto_showing showing;
    sotto_bytes rest, wire;
    size_t count;

    leaves_of(leaves);
    wire = show(t, leaves, index, 2);
    for (size_t len = 0; len + 2 < wire.len; len++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_showing_decode(&showing, &rest, sotto_bytes_of(wire.data, len), NULL));
    CHECK_OK(t, sotto_demands_decode(&list, &count, sotto_bytes_of(leaves, 64), &t->err));
    CHECK_EQUAL(t, 2, count);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_demands_decode(&list, &count, sotto_bytes_of(leaves, 63), NULL));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_demands_decode(&list, &count, sotto_bytes_of(leaves, 0), NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(growth_is_cosigned),
        CASE(another_old_size_is_a_conflict),
        CASE(a_fork_is_refused_and_kept),
        CASE(a_proof_from_nothing_is_empty),
        CASE(an_empty_tree_has_its_root),
        CASE(what_the_log_did_not_sign_is_forbidden),
        CASE(what_is_no_request_is_malformed),
        CASE(a_list_proves_what_is_in_it),
        CASE(what_is_demanded_must_be_proved),
        CASE(showings_and_demands_have_their_form),
    };

    return RUN_TESTS(argc, argv, cases);
}
