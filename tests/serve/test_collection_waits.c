/* Collectors whose answer is a moment away get it with their first request; nobody else is held. Requests may be held for longer
 * here than a test waits for a call, so that no answer is owed to the time that passed. */
#define _POSIX_C_SOURCE 200809L
#include "support/service.h"

#include "serve/leader/collection_waits.h"
#include "serve/leader/leader.h"
#include "support/database.h"
#include "support/steps.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FOR_EVER_MS = 3600000, CALL_MS = 10000 };

static sotto_test_service s;

static void open_service(sotto_test *t)
{
    sotto_test_service_open(t, &s, &(sotto_test_service_options){.job_reports = 1});
    s.call_ms = CALL_MS;
    sotto_collection_waits_allow(sotto_leader_of(s.leader)->waits, FOR_EVER_MS);
}

static void upload_verified(sotto_test *t, size_t count)
{
    sotto_test_upload_some(t, &s, count, 1, SOTTO_TEST_SOUND);
    sotto_test_await(t, s.leader->db,
                     "SELECT CAST(coalesce(sum(reports), 0) AS BIGINT) FROM sub_aggregate",
                     (int64_t)count);
    sotto_test_await(t, s.leader->db, "SELECT count(*) FROM segment", 0);
}

static void a_finished_batch_is_answered_with_the_first_request(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};

    open_service(t);
    upload_verified(t, 20);
    s.patience = 1;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 20, reports);
    sotto_test_service_close(&s);
}

/* What is still on its way to a job is waited for as well. */
static void a_batch_that_is_being_verified_is_answered_with_the_first_request(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};

    sotto_test_service_open(
        t, &s, &(sotto_test_service_options){.job_delay_ms = FOR_EVER_MS, .job_reports = 1000});
    sotto_collection_waits_allow(sotto_leader_of(s.leader)->waits, FOR_EVER_MS);
    sotto_test_upload_some(t, &s, 25, 1, SOTTO_TEST_SOUND);
    s.patience = 1;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 25, reports);
    sotto_test_service_close(&s);
}

/* Reports that are missing may take hours: the collector hears at once that it has to wait, and how long. */
static void a_batch_with_too_few_is_told_to_come_again(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};

    open_service(t);
    upload_verified(t, 19);
    s.patience = 2; /* creating it, and asking again */
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    sotto_test_service_close(&s);
}

/* So is one that the helper can't be asked for. */
static void a_helper_that_is_gone_holds_no_collector(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};

    open_service(t);
    upload_verified(t, 20);
    sotto_test_helper_stop(t, &s);
    s.patience = 1;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    sotto_test_helper_start(t, &s);
    s.patience = 600;
    CHECK_EQUAL(t, 200, sotto_test_collect(t, &s, 1, &reports, counts));
    sotto_test_service_close(&s);
}

/* Nor does it once the next attempt is a while away: whoever comes then hears at once that it has to wait. */
static void a_step_that_was_put_off_holds_no_collector(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};

    open_service(t);
    upload_verified(t, 20);
    sotto_test_helper_stop(t, &s);
    s.patience = 1;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    do {
        sotto_test_pause_ms(5);
        sotto_test_do(t, s.leader->db,
                      "UPDATE sotto_lease SET ready_at = ready_at + 90000"
                      " WHERE queue = 2 AND held = 0");
    } while (
        sotto_test_ask_number(
            t, s.leader->db, "SELECT count(*) FROM sotto_lease WHERE queue = 2 AND held = 0") == 0);
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 0, sotto_collection_waits_count(sotto_leader_of(s.leader)->waits));
    sotto_test_helper_start(t, &s);
    sotto_test_service_close(&s);
}

/* ---- a server that goes ------------------------------------------------------------------------------------------ */

static void *drain_once_held(void *context)
{
    sotto_status *status = context;

    while (sotto_collection_waits_count(sotto_leader_of(s.leader)->waits) == 0)
        sotto_test_pause_ms(5);
    *status = sotto_host_drain(s.leader->host, 60000, NULL);
    return NULL;
}

static void a_drain_answers_those_that_are_held(sotto_test *t)
{
    uint64_t reports = 0, counts[16] = {0};
    sotto_status drained = SOTTO_BUG;
    pthread_t other;

    open_service(t);
    upload_verified(t, 20);
    sotto_test_put_stuck(t, &s);
    CHECK_EQUAL(t, 0, pthread_create(&other, NULL, drain_once_held, &drained));
    s.patience = 1;
    CHECK_EQUAL(t, 202, sotto_test_collect(t, &s, 1, &reports, counts));
    CHECK_EQUAL(t, 0, pthread_join(other, NULL));
    CHECK_OK(t, drained);
    sotto_test_service_close(&s);
}

/* ---- by themselves ----------------------------------------------------------------------------------------------- */

typedef struct held {
    sotto_collection_wait wait;
    atomic_uint *answered;
    atomic_bool *ended;
} held;

static bool look(sotto_collection_wait *wait)
{
    return atomic_load(((held *)(void *)wait)->ended);
}

static void answer(sotto_collection_wait *wait)
{
    atomic_fetch_add(((held *)(void *)wait)->answered, 1);
}

static void await(sotto_test *t, atomic_uint *answered, unsigned wanted)
{
    for (unsigned i = 0; i < CALL_MS / 5 && atomic_load(answered) < wanted; i++)
        sotto_test_pause_ms(5);
    CHECK_EQUAL(t, wanted, atomic_load(answered));
}

static void only_so_many_are_held(sotto_test *t)
{
    static held all[SOTTO_COLLECTION_WAITS + 1];
    sotto_db *db = sotto_test_db(t);
    sotto_collection_waits *waits = NULL;
    atomic_uint answered = 0;
    atomic_bool ended = false;

    CHECK_OK(t, sotto_collection_waits_open(&waits, db, &t->err));
    sotto_collection_waits_allow(waits, FOR_EVER_MS);
    for (int64_t i = 0; i <= SOTTO_COLLECTION_WAITS; i++) {
        all[i] = (held){{.n = i, .look = look, .answer = answer}, &answered, &ended};
        CHECK_EQUAL(t, i < SOTTO_COLLECTION_WAITS, sotto_collection_waits_put(waits, &all[i].wait));
    }
    sotto_collection_waits_release(waits, 7);
    await(t, &answered, 1);
    CHECK(t, sotto_collection_waits_put(waits, &all[SOTTO_COLLECTION_WAITS].wait));
    sotto_collection_waits_stop(waits); /* which answers the rest */
    CHECK_EQUAL(t, SOTTO_COLLECTION_WAITS + 1, atomic_load(&answered));
    CHECK(t, !sotto_collection_waits_put(waits, &all[0].wait));
    sotto_collection_waits_close(waits);
    sotto_db_close(db);
}

static atomic_uint looks;
static atomic_bool failing;

/* As if the database did not answer, once it is said to fail. */
static bool look_in_vain(sotto_collection_wait *wait)
{
    if (!atomic_load(&failing))
        return false;
    atomic_fetch_add(&looks, 1);
    wait->unseen = true;
    return true;
}

static void one_look_that_fails_is_enough_for_all(sotto_test *t)
{
    enum { HELD = 20 };
    static held all[HELD];
    sotto_db *db = sotto_test_db(t);
    sotto_collection_waits *waits = NULL;
    atomic_uint answered = 0;
    atomic_bool ended = false;

    for (int stopped = 0; stopped < 2; stopped++) {
        atomic_store(&answered, 0);
        atomic_store(&looks, 0);
        atomic_store(&failing, false);
        CHECK_OK(t, sotto_collection_waits_open(&waits, db, &t->err));
        sotto_collection_waits_allow(waits, FOR_EVER_MS);
        for (int64_t i = 0; i < HELD; i++) {
            all[i] = (held){{.n = i, .look = look_in_vain, .answer = answer}, &answered, &ended};
            CHECK(t, sotto_collection_waits_put(waits, &all[i].wait));
        }
        atomic_store(&failing, true);
        if (!stopped) {
            sotto_db_wake(db, "collections");
            await(t, &answered, HELD);
        }
        sotto_collection_waits_stop(waits);
        CHECK_EQUAL(t, HELD, atomic_load(&answered));
        CHECK(t, atomic_load(&looks) <= 2); /* of a round under way, and of the next */
        sotto_collection_waits_close(waits);
    }
    sotto_db_close(db);
}

static sotto_bytes taken;

static bool look_and_count(sotto_collection_wait *wait)
{
    atomic_fetch_add(&looks, 1);
    return look(wait);
}

static bool take(sotto_collection_wait *wait, sotto_bytes bytes)
{
    (void)wait;
    taken = bytes;
    return true;
}

/* Two that wait for one collection, and one for another. `with`: what is given. */
static void give(sotto_test *t, sotto_bytes with, unsigned answered_by_it)
{
    sotto_db *db = sotto_test_db(t);
    sotto_collection_waits *waits = NULL;
    atomic_uint answered = 0;
    atomic_bool ended = false;
    held all[3];

    atomic_store(&looks, 0);
    taken = sotto_bytes_of(NULL, 0);
    CHECK_OK(t, sotto_collection_waits_open(&waits, db, &t->err));
    sotto_collection_waits_allow(waits, FOR_EVER_MS);
    for (int64_t i = 0; i < 3; i++) {
        all[i] = (held){{.n = i / 2, .look = look_and_count, .answer = answer, .take = take},
                        &answered,
                        &ended};
        CHECK(t, sotto_collection_waits_put(waits, &all[i].wait));
    }
    for (unsigned i = 0; i < CALL_MS / 5 && atomic_load(&looks) < 3; i++)
        sotto_test_pause_ms(5);
    sotto_test_pause_ms(50); /* looks that came of the three calls are over */
    sotto_collection_waits_expect(waits, 0);
    atomic_store(&ended, true); /* committed: whoever looks ends */
    sotto_db_wake(db, "collections");
    await(t, &answered, 1); /* the other one's */
    const unsigned before = atomic_load(&looks);
    sotto_collection_waits_give(waits, 0, with);
    await(t, &answered, 3);
    CHECK_EQUAL(t, before + 2 - answered_by_it, atomic_load(&looks));
    sotto_collection_waits_close(waits);
    sotto_db_close(db);
}

static void an_answer_that_is_at_hand_is_not_read_back(sotto_test *t)
{
    static const uint8_t bytes[] = "an answer";

    give(t, sotto_bytes_of(bytes, sizeof bytes), 2);
    CHECK(t, taken.data == bytes && taken.len == sizeof bytes);
}

static void an_answer_that_was_not_committed_is_looked_for(sotto_test *t)
{
    give(t, sotto_bytes_of(NULL, 0), 0);
    CHECK(t, taken.len == 0);
}

static void nobody_is_held_for_longer_than_allowed(sotto_test *t)
{
    sotto_db *db = sotto_test_db(t);
    sotto_collection_waits *waits = NULL;
    atomic_uint answered = 0;
    atomic_bool ended = false;
    held one = {{.n = 1, .look = look, .answer = answer}, &answered, &ended};

    CHECK_OK(t, sotto_collection_waits_open(&waits, db, &t->err));
    CHECK(t, sotto_collection_waits_put(waits, &one.wait));
    await(t, &answered, 1);
    sotto_collection_waits_close(waits);
    sotto_db_close(db);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_finished_batch_is_answered_with_the_first_request),
        CASE(a_batch_that_is_being_verified_is_answered_with_the_first_request),
        CASE(a_batch_with_too_few_is_told_to_come_again),
        CASE(a_helper_that_is_gone_holds_no_collector),
        CASE(a_step_that_was_put_off_holds_no_collector),
        CASE(a_drain_answers_those_that_are_held),
        CASE(only_so_many_are_held),
        CASE(one_look_that_fails_is_enough_for_all),
        CASE(an_answer_that_is_at_hand_is_not_read_back),
        CASE(an_answer_that_was_not_committed_is_looked_for),
        CASE(nobody_is_held_for_longer_than_allowed),
    };

    return RUN_TESTS(argc, argv, cases);
}
