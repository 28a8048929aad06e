/* Bundles: a device that was offline all along believes a recipe that is in the log, and no other. */
#include "notes.h"

#include "crypto/hash.h"
#include "tlog/bundle.h"

static const char recipe[] = "{ \"recipe\": \"50001\" }";

typedef struct made {
    test_log l;
    sotto_tlog_entry entry;
    sotto_buf entry_bytes;
    sotto_inclusion inclusion;
    sotto_buf note;
} made;

/* A log of three entries whose second is the recipe's, cosigned by two witnesses. */
static void make(sotto_test *t, made *m)
{
    sotto_merkle_hash leaf, other = {{7}}, root;
    sotto_merkle_tree tree = {0};

    memset(m, 0, sizeof *m);
    test_log_open(t, &m->l);
    m->entry =
        (sotto_tlog_entry){.type = SOTTO_ENTRY_RECIPE, .url = bytes_of("https://a.example/r")};
    sotto_hash_once(m->entry.digest, SOTTO_SHA256, bytes_of(recipe));
    m->entry_bytes = sotto_test_buf(t, 256);
    CHECK_OK(t, sotto_tlog_entry_encode(&m->entry_bytes, &m->entry, &t->err));
    sotto_merkle_leaf(&leaf, sotto_buf_bytes(&m->entry_bytes));
    sotto_merkle_append(&tree, 0, &other);
    sotto_merkle_append(&tree, 0, &leaf);
    sotto_merkle_append(&tree, 0, &other);
    sotto_merkle_root(&root, &tree);
    m->note = unsigned_checkpoint(t, "example.com/log", 3, &root);
    add_signature(t, &m->note, &m->l.log, 0);
    add_signature(t, &m->note, &m->l.by[0], 100);
    add_signature(t, &m->note, &m->l.by[1], 100);
    m->inclusion = (sotto_inclusion){.index = 1, .proof = {.count = 2, .hashes = {other, other}}};
}

static sotto_bytes bundle_of(sotto_test *t, made *m, const char *object)
{
    sotto_buf proof = sotto_test_buf(t, 8192), out = sotto_test_buf(t, 8192);
    sotto_bundle bundle;

    m->inclusion.checkpoint = sotto_buf_bytes(&m->note);
    CHECK_OK(t, sotto_inclusion_encode(&proof, &m->inclusion, &t->err));
    bundle =
        (sotto_bundle){sotto_buf_bytes(&m->entry_bytes), bytes_of(object), sotto_buf_bytes(&proof)};
    CHECK_OK(t, sotto_bundle_encode(&out, &bundle, &t->err));
    return sotto_buf_bytes(&out);
}

static void a_logged_recipe_is_believed(sotto_test *t)
{
    sotto_bundle_facts facts;
    made m;

    make(t, &m);
    CHECK_OK(t, sotto_bundle_verify(&facts, bundle_of(t, &m, recipe), &m.l.trust, &t->err));
    CHECK_EQUAL(t, SOTTO_ENTRY_RECIPE, facts.entry.type);
    CHECK_EQUAL(t, 1, facts.index);
    CHECK_EQUAL(t, 3, facts.checkpoint.size);
    CHECK_EQUAL(t, m.note.len, facts.note.len);
    CHECK_BYTES(t, recipe, facts.object.data, sizeof recipe - 1);
    test_log_close(&m.l);
}

static void another_recipe_is_not_the_entry_s(sotto_test *t)
{
    sotto_bundle_facts facts;
    made m;

    make(t, &m);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_bundle_verify(&facts, bundle_of(t, &m, "{}"), &m.l.trust, &t->err));
    CHECK_REASON(t, "bundle of a log: the recipe is not the entry's");
    test_log_close(&m.l);
}

static void an_entry_without_object_brings_none(sotto_test *t)
{
    sotto_bundle_facts facts;
    made m;

    make(t, &m);
    m.entry = (sotto_tlog_entry){.type = SOTTO_ENTRY_RELEASE};
    m.entry_bytes.len = 0;
    CHECK_OK(t, sotto_tlog_entry_encode(&m.entry_bytes, &m.entry, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_bundle_verify(&facts, bundle_of(t, &m, "x"), &m.l.trust, &t->err));
    CHECK_REASON(t, "bundle of a log: the release is not the entry's");
    test_log_close(&m.l);
}

static void an_entry_that_is_not_in_the_log_is_rejected(sotto_test *t)
{
    sotto_bundle_facts facts;
    made m;

    make(t, &m);
    m.inclusion.index = 0;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_bundle_verify(&facts, bundle_of(t, &m, recipe), &m.l.trust, &t->err));
    CHECK_REASON(t, "inclusion proof: leads to another root");
    m.inclusion.index = 1;
    m.inclusion.proof.count = 3;
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_bundle_verify(&facts, bundle_of(t, &m, recipe), &m.l.trust, &t->err));
    CHECK_REASON(t, "inclusion proof: 3 hashes, where 2 are needed");
    test_log_close(&m.l);
}

static void a_bundle_without_its_witnesses_is_refused(sotto_test *t)
{
    sotto_bundle_facts facts;
    made m;

    make(t, &m);
    m.l.trust.quorum = 3;
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_bundle_verify(&facts, bundle_of(t, &m, recipe), &m.l.trust, &t->err));
    CHECK_REASON(t, "checkpoint: cosigned by 2 witnesses; 3 are wanted");
    test_log_close(&m.l);
}

static void a_bundle_that_is_cut_or_longer_is_malformed(sotto_test *t)
{
    sotto_bundle_facts facts;
    sotto_bytes whole;
    made m;

    make(t, &m);
    whole = bundle_of(t, &m, recipe);
    for (size_t len = 0; len < whole.len; len++)
        CHECK_STATUS(
            t, SOTTO_MALFORMED,
            sotto_bundle_verify(&facts, sotto_bytes_of(whole.data, len), &m.l.trust, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_bundle_verify(&facts, sotto_bytes_of(whole.data, whole.len + 1), &m.l.trust,
                                     &t->err));
    test_log_close(&m.l);
}

static void what_is_no_proof_is_malformed(sotto_test *t)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "no proof of a log"},
        {"c2sp.org/tlog-proof@v2\nindex 1\n\n", "no proof of a log"},
        {"c2sp.org/tlog-proof@v1\n\n", "proof of a log: no index"},
        {"c2sp.org/tlog-proof@v1\nindex 01\n\n", "proof of a log: no index"},
        {"c2sp.org/tlog-proof@v1\nextra !\nindex 1\n\n", "an extra line without base64"},
        {"c2sp.org/tlog-proof@v1\nindex 1\nAAAA\n\n", "proof of a log: no list of hashes"},
        {"c2sp.org/tlog-proof@v1\nindex 1\n", "proof of a log: no list of hashes"},
    };
    sotto_inclusion inclusion;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_inclusion_decode(&inclusion, bytes_of(bad[i].text), &t->err));
        CHECK_REASON(t, bad[i].why);
    }
    CHECK_OK(t, sotto_inclusion_decode(
                    &inclusion, bytes_of("c2sp.org/tlog-proof@v1\nextra AAAA\nindex 1\n\nrest"),
                    &t->err));
    CHECK_EQUAL(t, 4, inclusion.checkpoint.len);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_logged_recipe_is_believed),
        CASE(another_recipe_is_not_the_entry_s),
        CASE(an_entry_without_object_brings_none),
        CASE(an_entry_that_is_not_in_the_log_is_rejected),
        CASE(a_bundle_without_its_witnesses_is_refused),
        CASE(a_bundle_that_is_cut_or_longer_is_malformed),
        CASE(what_is_no_proof_is_malformed),
    };

    return RUN_TESTS(argc, argv, cases);
}
