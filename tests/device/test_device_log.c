/* A device whose policy names a public log: what it takes from there, and what it does when the log goes back or forks. */
#include "device/device_internal.h"
#include "device/device_log.h"
#include "device/ledger/log_seen.h"

#include "support/devices.h"
#include "support/logs.h"
#include "tlog/feed.h"
#include "tlog/growth.h"

#include <stdio.h>
#include <string.h>

enum { DAY = 86400 };

static sotto_test_phone phone;
static sotto_test_log logs, other; /* the other is a fork of the first */

static void start(sotto_test *t)
{
    sotto_test_log_phone(t, &logs, &phone);
}

static void end(void)
{
    sotto_test_phone_close(&phone);
    sotto_test_log_clear(&logs);
}

static sotto_status offer(sotto_test *t, sotto_bytes bytes)
{
    return sotto_device_offer(phone.device, bytes, &t->err);
}

static sotto_status feed(sotto_test *t, sotto_bytes bytes, uint64_t *taken)
{
    return sotto_device_feed(phone.device, bytes, taken, &t->err);
}

static uint64_t add_recipe(sotto_test *t, sotto_test_log *log, const char *name)
{
    return sotto_test_log_add(t, log, SOTTO_ENTRY_RECIPE, 0,
                              sotto_test_sure_recipe(t, name, NULL, NULL));
}

static sotto_status copy_known(void *context, const sotto_known_log *log, sotto_err *err)
{
    (void)err;
    *(sotto_known_log *)context = *log; /* what it borrows is gone then */
    return SOTTO_OK;
}

static sotto_known_log known(sotto_test *t)
{
    sotto_known_log out = {0};

    CHECK_OK(t, sotto_device_logs(phone.device, copy_known, &out, &t->err));
    return out;
}

static bool why_says(sotto_test *t, const char *recipe, const char *sentence)
{
    sotto_explanation why;

    CHECK_OK(t, sotto_device_why(phone.device, &why, recipe, &t->err));
    return why.why == SOTTO_WHY_LOG && strstr(why.sentence, sentence);
}

/* ---- what is on the log ------------------------------------------------------------------------------------- */

static void a_logged_recipe_is_taken_and_answered(sotto_test *t)
{
    start(t);
    const uint64_t at = add_recipe(t, &logs, "a");
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK_EQUAL(t, 4, known(t).entries);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    CHECK_EQUAL(t, 1, phone.uploads);
    end();
}

static void a_recipe_without_a_proof_is_refused(sotto_test *t)
{
    start(t);
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, sotto_test_sure_recipe(t, "a", NULL, NULL)));
    CHECK_REASON(t, "the policy takes it from a public log alone, and it came without a proof");
    CHECK(t, why_says(t, "a", "Not taken: the policy takes it from a public log alone"));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    end();
}

static void too_few_witnesses_are_refused(sotto_test *t)
{
    start(t);
    const uint64_t at = add_recipe(t, &logs, "a");
    logs.witnesses = 4;
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK_REASON(t, "checkpoint: cosigned by 1 witnesses; 2 are wanted");
    CHECK(t, why_says(t, "a", "cosigned by 1 witnesses"));
    CHECK_EQUAL(t, 0, known(t).entries);
    end();
}

/* Flips the last byte of base64 that the n-th signature line has before its end. */
static sotto_bytes spoil(sotto_bytes note, unsigned line)
{
    uint8_t *bytes = (uint8_t *)(uintptr_t)note.data;
    size_t at = 0;

    for (unsigned seen = 0; at < note.len && seen < 4 + line + 1; at++)
        seen += bytes[at] == '\n';
    bytes[at - 12] = bytes[at - 12] == 'A' ? 'B' : 'A';
    return note;
}

static void a_note_with_two_bad_signatures_is_rejected(sotto_test *t)
{
    start(t);
    sotto_bytes bytes = sotto_test_log_feed(t, &logs, NULL, 0, NULL, 0);
    const sotto_bytes note = sotto_bytes_of(bytes.data + 17, 1000);

    (void)spoil(note, 0);
    CHECK_STATUS(t, SOTTO_REJECTED, feed(t, bytes, NULL));
    CHECK_REASON(t, "checkpoint: signed note: a signature of example.com/log does not hold");
    (void)spoil(note, 1);
    CHECK_STATUS(t, SOTTO_REJECTED, feed(t, bytes, NULL));
    CHECK_REASON(t, "checkpoint: signed note: a signature of example.com/log does not hold");
    CHECK_EQUAL(t, 0, known(t).entries);
    end();
}

static void another_log_s_recipes_are_refused(sotto_test *t)
{
    start(t);
    const uint64_t at = add_recipe(t, &logs, "a");
    sotto_note_signer stranger = signer_of(t, "example.com/log", SOTTO_NOTE_ED25519, 2);
    const sotto_note_signer own = logs.keys.log;
    logs.keys.log = stranger; /* the right name, another key */
    CHECK_STATUS(t, SOTTO_REJECTED, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    logs.keys.log = own;
    sotto_note_signer_clear(&stranger);
    phone.options.policy =
        sotto_test_replace(t, (const char *)phone.options.policy.data, "example.com/log+", "x+");
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_device_open(&(sotto_device *){0}, &phone.options, &t->err));
    end();
}

static void a_bundle_of_another_type_is_no_recipe(sotto_test *t)
{
    start(t);
    const uint64_t at = sotto_test_log_add(t, &logs, SOTTO_ENTRY_POLICY, 0,
                                           sotto_test_sure_recipe(t, "a", NULL, NULL));
    CHECK_STATUS(t, SOTTO_MALFORMED, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK_REASON(t, "a bundle of another entry than recipe");
    end();
}

static void a_proof_with_an_extra_hash_is_rejected(sotto_test *t)
{
    start(t);
    const uint64_t at = add_recipe(t, &logs, "a");
    const sotto_bytes bytes = sotto_test_log_bundle(t, &logs, at, logs.size);
    sotto_buf proof = sotto_test_buf(t, 8192), out = sotto_test_buf(t, 32768);
    sotto_inclusion inclusion;
    sotto_bundle bundle;

    CHECK_OK(t, sotto_bundle_decode(&bundle, bytes, &t->err));
    CHECK_OK(t, sotto_inclusion_decode(&inclusion, bundle.proof, &t->err));
    inclusion.proof.hashes[inclusion.proof.count++] = (sotto_merkle_hash){{0}};
    CHECK_OK(t, sotto_inclusion_encode(&proof, &inclusion, &t->err));
    bundle.proof = sotto_buf_bytes(&proof);
    CHECK_OK(t, sotto_bundle_encode(&out, &bundle, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, offer(t, sotto_buf_bytes(&out)));
    CHECK_REASON(t, "inclusion proof: 3 hashes, where 2 are needed");
    CHECK_EQUAL(t, 0, known(t).entries);
    end();
}

/* A policy without logs has nothing to compare with: what a bundle brings is a recipe like any other. */
static void without_logs_a_bundle_is_its_recipe(sotto_test *t)
{
    start(t);
    const uint64_t at = add_recipe(t, &logs, "a");
    phone.options.policy =
        sotto_bytes_of(sotto_test_generous_policy, strlen(sotto_test_generous_policy));
    sotto_test_phone_open(&phone);
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    end();
}

/* It was taken from whoever brought it; this policy wants more. */
static void a_policy_that_names_a_log_asks_for_recipes_again(sotto_test *t)
{
    start(t);
    const sotto_bytes strict = phone.options.policy;
    phone.options.policy =
        sotto_bytes_of(sotto_test_generous_policy, strlen(sotto_test_generous_policy));
    sotto_test_phone_open(&phone);
    CHECK_OK(t, offer(t, sotto_test_sure_recipe(t, "a", NULL, NULL)));
    phone.options.policy = strict;
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, why_says(t, "a", "It came before this policy"));
    const uint64_t at = add_recipe(t, &logs, "a");
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    end();
}

/* ---- trees that follow each other --------------------------------------------------------------------------- */

static void a_larger_tree_needs_its_feed(sotto_test *t)
{
    uint64_t taken;

    start(t);
    const uint64_t a = add_recipe(t, &logs, "a"), sizes[] = {4, 7};
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, a, 4)));
    sotto_test_log_grow(t, &logs, 7);
    const uint64_t b = add_recipe(t, &logs, "b"), both[] = {a, b};
    CHECK_STATUS(t, SOTTO_MISSING, offer(t, sotto_test_log_bundle(t, &logs, b, logs.size)));
    CHECK_REASON(t, "nothing shows that the log's tree continues the one of 4 entries");
    CHECK(t, why_says(t, "b", "its feed is needed"));
    CHECK_EQUAL(t, 4, known(t).entries);
    CHECK_OK(t, feed(t, sotto_test_log_feed(t, &logs, sizes, 2, both, 2), &taken));
    CHECK_EQUAL(t, 2, taken);
    CHECK_EQUAL(t, 8, known(t).entries);
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_LOG)); /* the last one alone */
    CHECK_EQUAL(t, 2, sotto_test_tick(&phone).made);
    end();
}

static void an_older_tree_never_comes_back(sotto_test *t)
{
    start(t);
    const uint64_t a = add_recipe(t, &logs, "a");
    const sotto_bytes old_feed = sotto_test_log_feed(t, &logs, NULL, 0, &a, 1),
                      old_bundle = sotto_test_log_bundle(t, &logs, a, 4);
    sotto_test_log_grow(t, &logs, 9);
    CHECK_OK(t, feed(t, sotto_test_log_feed(t, &logs, NULL, 0, NULL, 0), NULL));
    CHECK_STATUS(t, SOTTO_STALE, feed(t, old_feed, NULL));
    CHECK_REASON(t, "the log was rolled back: 4 entries, and 9 were seen");
    CHECK_STATUS(t, SOTTO_STALE, offer(t, old_bundle));
    sotto_test_phone_open(&phone); /* nor after a restart ... */
    CHECK_STATUS(t, SOTTO_STALE, feed(t, old_feed, NULL));
    CHECK_OK(t, sotto_device_reset(phone.device, &t->err)); /* ... nor a reset */
    CHECK_STATUS(t, SOTTO_STALE, feed(t, old_feed, NULL));
    CHECK_EQUAL(t, 9, known(t).entries);
    CHECK(t, !known(t).forked);
    end();
}

static void a_feed_that_does_not_reach_back_is_not_believed(sotto_test *t)
{
    static const uint64_t later[] = {5, 6};

    start(t);
    CHECK_OK(t, feed(t, sotto_test_log_feed(t, &logs, NULL, 0, NULL, 0), NULL));
    sotto_test_log_grow(t, &logs, 9);
    /* The steps of this feed end at 4, 5, 6, 8 and 9. */
    const sotto_bytes bytes = sotto_test_log_feed(t, &logs, later, 2, NULL, 0);
    CHECK_STATUS(t, SOTTO_MISSING, feed(t, bytes, NULL));
    CHECK_EQUAL(t, 3, known(t).entries);
    CHECK_STATUS(t, SOTTO_MISSING, sotto_device_log_resolve(phone.device, "else", &t->err));
    CHECK_OK(t, sotto_device_log_resolve(phone.device, "main", &t->err));
    CHECK_EQUAL(t, 0, known(t).entries);
    CHECK_OK(t, feed(t, bytes, NULL));
    CHECK_EQUAL(t, 9, known(t).entries);
    end();
}

/* ---- forks ---------------------------------------------------------------------------------------------------- */

/* Both have three entries in common. */
static void fork_off(sotto_test *t, uint64_t size)
{
    other = logs;
    (void)add_recipe(t, &other, "evil");
    sotto_test_log_grow(t, &logs, 4);
    sotto_test_log_grow(t, &logs, size);
    sotto_test_log_grow(t, &other, size);
}

static sotto_status check_evidence(void *context, const sotto_known_log *log, sotto_err *err)
{
    sotto_test *t = context;
    const sotto_log_trust alone = {.log = &logs.keys.log.key};
    sotto_checkpoint before, after;
    bool fork;

    (void)err;
    CHECK(t, log->forked || log->fork_before.len > 0);
    /* Whoever has the log's key finds what this device found. */
    CHECK_OK(t, sotto_checkpoint_open(&before, log->fork_before, &alone, &t->err));
    CHECK_OK(t, sotto_checkpoint_open(&after, log->fork_after, &alone, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_growth_check(&after, &before, log->fork_steps, &fork, &t->err));
    CHECK(t, fork);
    if (before.size == after.size)
        CHECK_OK(t, sotto_checkpoint_fork(log->fork_before, log->fork_after, &logs.keys.log.key,
                                          &t->err));
    return SOTTO_OK;
}

static void check_forked(sotto_test *t)
{
    CHECK(t, known(t).forked);
    CHECK_OK(t, sotto_device_logs(phone.device, check_evidence, t, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_lines(&phone, NULL, SOTTO_RECORD_FORK));
}

/* Witnesses may have signed both: that makes no difference to what was signed. */
static void a_fork_is_kept_and_nothing_is_taken_after_it(sotto_test *t)
{
    start(t);
    fork_off(t, 6);
    const uint64_t at = 3;
    CHECK_OK(t, feed(t, sotto_test_log_feed(t, &logs, NULL, 0, NULL, 0), NULL));
    CHECK_STATUS(t, SOTTO_REJECTED, feed(t, sotto_test_log_feed(t, &other, NULL, 0, &at, 1), NULL));
    CHECK_REASON(t, "the log forked: two signed trees, of 6 and 6 entries");
    check_forked(t);
    CHECK_EQUAL(t, SOTTO_WHY_UNKNOWN, sotto_test_why(&phone, "evil"));
    sotto_test_phone_open(&phone); /* also after a restart */
    check_forked(t);
    CHECK_STATUS(t, SOTTO_DENIED, feed(t, sotto_test_log_feed(t, &logs, NULL, 0, NULL, 0), NULL));
    CHECK_REASON(t, "log example.com/log forked: nothing is taken from it until that is resolved");
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, sotto_test_log_bundle(t, &other, at, 6)));
    CHECK(t, why_says(t, "evil", "forked"));
    CHECK_OK(t, sotto_device_reset(phone.device, &t->err)); /* and a reset */
    check_forked(t);
    CHECK_OK(t, sotto_device_log_resolve(phone.device, "main", &t->err));
    CHECK(t, !known(t).forked);
    CHECK_OK(t, sotto_device_logs(phone.device, check_evidence, t, &t->err)); /* it stays */
    CHECK_OK(t, feed(t, sotto_test_log_feed(t, &logs, NULL, 0, NULL, 0), NULL));
    end();
}

static void a_fork_shows_at_another_size(sotto_test *t)
{
    static const uint64_t sizes[] = {6};

    start(t);
    fork_off(t, 6);
    CHECK_OK(t, feed(t, sotto_test_log_feed(t, &logs, NULL, 0, NULL, 0), NULL));
    sotto_test_log_grow(t, &other, 11);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 feed(t, sotto_test_log_feed(t, &other, sizes, 1, NULL, 0), NULL));
    CHECK_REASON(t, "the log forked: two signed trees, of 6 and 11 entries");
    check_forked(t);
    end();
}

/* Steps that were made up show nothing, and are no reason to leave the log. */
static void made_up_steps_are_no_fork(sotto_test *t)
{
    static const uint64_t sizes[] = {6};
    sotto_feed good, bad;
    sotto_buf out = sotto_test_buf(t, 65536);

    start(t);
    fork_off(t, 6);
    CHECK_OK(t, feed(t, sotto_test_log_feed(t, &logs, NULL, 0, NULL, 0), NULL));
    sotto_test_log_grow(t, &other, 11);
    sotto_test_log_grow(t, &logs, 11);
    CHECK_OK(t,
             sotto_feed_decode(&good, sotto_test_log_feed(t, &logs, sizes, 1, NULL, 0), &t->err));
    CHECK_OK(t,
             sotto_feed_decode(&bad, sotto_test_log_feed(t, &other, sizes, 1, NULL, 0), &t->err));
    good.steps = bad.steps;
    CHECK_OK(t, sotto_feed_encode(&out, &good, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED, feed(t, sotto_buf_bytes(&out), NULL));
    CHECK_REASON(t, "growth of a log: leads to another tree");
    CHECK(t, !known(t).forked);
    CHECK_OK(t, feed(t, sotto_test_log_feed(t, &logs, sizes, 1, NULL, 0), NULL));
    end();
}

/* ---- a recipe that names its log ------------------------------------------------------------------------------ */

static sotto_bytes naming(sotto_test *t, const char *name, const char *log)
{
    char text[96];

    (void)snprintf(text, sizeof text, "\"anonymity\": {\"log\": \"%s\"}, \"population\"", log);
    return sotto_test_sure_recipe(t, name, "\"population\"", text);
}

static void cosign_at(int64_t time)
{
    for (unsigned i = 0; i < 3; i++)
        logs.times[i] = (uint64_t)time;
}

/* Who brings trees may keep later ones back, but can't make an old one look new. */
static void a_tree_that_was_cosigned_long_ago_is_not_acted_on(sotto_test *t)
{
    start(t);
    const uint64_t at = add_recipe(t, &logs, "a");
    cosign_at(phone.now - 7 * DAY - 1);
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK(t, strstr(t->err.reason, "cosigned more than 7 days ago"));
    cosign_at(phone.now - 7 * DAY);
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    phone.now++;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, why_says(t, "a", "was cosigned more than 7 days ago: newer ones may be kept"));
    phone.now--;
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    end();
}

/* A quorum that lies about the time could otherwise keep a device at this tree for years. */
static void a_tree_that_was_cosigned_in_the_future_is_refused(sotto_test *t)
{
    start(t);
    const uint64_t at = add_recipe(t, &logs, "a");
    cosign_at(phone.now + DAY + 1);
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK_REASON(t, "checkpoint: its witnesses' times are more than a day ahead");
    CHECK_EQUAL(t, 0, known(t).entries);
    logs.times[0] = (uint64_t)phone.now; /* one that lies is not a quorum */
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    end();
}

/* A log in which nothing is published is cosigned anew all the same, and its feed brings that. */
static void a_tree_that_is_cosigned_again_is_fresh(sotto_test *t)
{
    static const uint64_t sizes[] = {4};
    uint64_t taken;

    start(t);
    const uint64_t at = add_recipe(t, &logs, "a");
    const int64_t seen = phone.now;
    cosign_at(seen - 6 * DAY);
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    phone.now += 2 * DAY;
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK_OK(t, feed(t, sotto_test_log_feed(t, &logs, sizes, 1, &at, 1), &taken));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made); /* the same cosignatures once more */
    cosign_at(seen);
    logs.times[0] = (uint64_t)(seen - 20 * DAY); /* with two of three wanted, one may be away */
    logs.witnesses = 7;
    CHECK_OK(t, feed(t, sotto_test_log_feed(t, &logs, sizes, 1, &at, 1), &taken));
    CHECK_EQUAL(t, seen, known(t).seen); /* it is the tree of then */
    sotto_test_phone_open(&phone);
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    end();
}

static void a_policy_says_how_long_a_tree_is_fresh(sotto_test *t)
{
    start(t);
    const char *policy =
        sotto_test_log_policy(t, &logs, sotto_test_generous_policy, ", \"fresh_days\": 30");
    phone.options.policy = sotto_bytes_of(policy, strlen(policy));
    sotto_test_phone_open(&phone);
    const uint64_t at = add_recipe(t, &logs, "a");
    cosign_at(phone.now - 30 * DAY);
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    phone.now++;
    CHECK(t, why_says(t, "a", "was cosigned more than 30 days ago"));
    end();
}

static void a_recipe_is_on_the_log_that_it_names(sotto_test *t)
{
    start(t);
    const uint64_t a = sotto_test_log_add(t, &logs, SOTTO_ENTRY_RECIPE, 0, naming(t, "a", "main")),
                   b = sotto_test_log_add(t, &logs, SOTTO_ENTRY_RECIPE, 0, naming(t, "b", "else"));
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, a, logs.size)));
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, sotto_test_log_bundle(t, &logs, b, logs.size)));
    CHECK_REASON(t, "It is to be on the log \"else\"");
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    phone.options.policy =
        sotto_bytes_of(sotto_test_generous_policy, strlen(sotto_test_generous_policy));
    sotto_test_phone_open(&phone);
    CHECK_STATUS(t, SOTTO_DENIED, offer(t, naming(t, "c", "main")));
    CHECK(t, why_says(t, "c", "It is to be on the log \"main\""));
    end();
}

static void after_a_fork_recipes_of_that_log_stay_silent(sotto_test *t)
{
    start(t);
    const uint64_t a = sotto_test_log_add(t, &logs, SOTTO_ENTRY_RECIPE, 0, naming(t, "a", "main"));
    CHECK_OK(t, offer(t, sotto_test_log_bundle(t, &logs, a, logs.size)));
    other = logs;
    other.size = 3;
    sotto_test_log_grow(t, &other, 4);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 feed(t, sotto_test_log_feed(t, &other, NULL, 0, NULL, 0), NULL));
    CHECK_EQUAL(t, 0, sotto_test_tick(&phone).made);
    CHECK(t, why_says(t, "a", "others may have got another question"));
    CHECK_OK(t, sotto_device_log_resolve(phone.device, "main", &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
    end();
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_logged_recipe_is_taken_and_answered),
        CASE(a_recipe_without_a_proof_is_refused),
        CASE(too_few_witnesses_are_refused),
        CASE(a_note_with_two_bad_signatures_is_rejected),
        CASE(another_log_s_recipes_are_refused),
        CASE(a_bundle_of_another_type_is_no_recipe),
        CASE(a_proof_with_an_extra_hash_is_rejected),
        CASE(without_logs_a_bundle_is_its_recipe),
        CASE(a_policy_that_names_a_log_asks_for_recipes_again),
        CASE(a_larger_tree_needs_its_feed),
        CASE(an_older_tree_never_comes_back),
        CASE(a_feed_that_does_not_reach_back_is_not_believed),
        CASE(a_fork_is_kept_and_nothing_is_taken_after_it),
        CASE(a_fork_shows_at_another_size),
        CASE(made_up_steps_are_no_fork),
        CASE(a_tree_that_was_cosigned_long_ago_is_not_acted_on),
        CASE(a_tree_that_was_cosigned_in_the_future_is_refused),
        CASE(a_tree_that_is_cosigned_again_is_fresh),
        CASE(a_policy_says_how_long_a_tree_is_fresh),
        CASE(a_recipe_is_on_the_log_that_it_names),
        CASE(after_a_fork_recipes_of_that_log_stay_silent),
    };

    return RUN_TESTS(argc, argv, cases);
}
