/* A way to add up that the product does not have runs from devices to an answer. It takes a folder, and a row of this program's own
 * table of methods and of trust models. Nothing else knows of it. */
#include "account/trust.h"
#include "second_method/second_method.h"
#include "support/round_trip.h"

#include <stdio.h>
#include <string.h>

enum { DEVICES = 24, BINS = 31 };

static const char policy[] =
    "{\"policy\": \"p\", \"version\": 1, \"analyses\": {\"com.example.likes\":"
    " {\"epsilon\": 100, \"delta\": 0.001, \"reports\": 9, \"fields\": [\"likes.liked\"]}},"
    " \"fields\": {\"likes.liked\": {\"epsilon_local\": \"none\", \"by\": [\"crowd\", \"servers\"],"
    " \"epsilon\": 100, \"delta\": 0.001, \"reports\": 9}}, \"min_cohort\": 20, \"honest\": 0.5, "
    "\"trusts\": [\"clear\"]}";

static const sotto_field fields[] = {{"liked", SOTTO_TYPE_TEXT}};
static const sotto_stream streams[] = {{"likes", fields, 1, 86400, 100}};

/* ---- devices ------------------------------------------------------------------------------------------------------ */

static void answer(sotto_test *t, sotto_test_service *s, const char *liked)
{
    const sotto_value value = {.type = SOTTO_TYPE_TEXT,
                               .as.text = sotto_bytes_of(liked, strlen(liked))};

    sotto_test_report(t, s, policy, streams, &value, NULL);
}

static void answer_all(sotto_test *t, sotto_test_service *s, const char *sigma)
{
    memset(&sotto_clear_truth, 0, sizeof sotto_clear_truth);
    sotto_test_service_open(
        t, s,
        &(sotto_test_service_options){
            .trust = "clear", .categories = BINS - 1, .sigma = sigma, .job_delay_ms = 100});
    CHECK_EQUAL(t, CLEAR_TYPE, s->task.vdaf.type);
    CHECK_EQUAL(t, BINS, s->task.bins);
    for (unsigned i = 0; i < DEVICES; i++) {
        char liked[16];

        (void)snprintf(liked, sizeof liked, "%u", i);
        answer(t, s, liked);
    }
    CHECK_EQUAL(t, DEVICES, sotto_clear_truth.reports);
}

static void sums_in_the_clear_come_from_devices_to_an_answer(sotto_test *t)
{
    static sotto_test_service s;
    uint64_t told = 0;

    answer_all(t, &s, NULL);
    const sotto_collection got = sotto_test_collect_whole(t, &s);
    CHECK_EQUAL(t, DEVICES, got.reports);
    CHECK_EQUAL(t, BINS, got.sum_count);
    for (size_t i = 0; i < BINS; i++) {
        CHECK_EQUAL(t, sotto_clear_truth.sums[i], got.sums[i].low);
        CHECK_EQUAL(t, 0, got.sums[i].high);
        told += got.sums[i].low;
    }
    CHECK(t, told > 0);
    sotto_test_service_close(&s);
}

static void a_report_that_its_servers_reject_is_not_added(sotto_test *t)
{
    static sotto_test_service s;

    answer_all(t, &s, NULL);
    sotto_clear_truth.lie = true;
    answer(t, &s, "1");
    const sotto_collection got = sotto_test_collect_whole(t, &s);
    CHECK_EQUAL(t, DEVICES, got.reports);
    for (size_t i = 0; i < BINS; i++)
        CHECK_EQUAL(t, sotto_clear_truth.sums[i], got.sums[i].low);
    sotto_test_service_close(&s);
}

/* Both servers add noise of deviation 2: no sum moves by 60 but once in 10^90 runs. */
static void servers_add_noise_to_its_sums(sotto_test *t)
{
    static sotto_test_service s;
    uint64_t moved = 0;

    answer_all(t, &s, "2");
    const sotto_collection got = sotto_test_collect_whole(t, &s);
    CHECK_EQUAL(t, DEVICES, got.reports);
    for (size_t i = 0; i < BINS; i++) {
        int64_t by = (int64_t)(got.sums[i].low - sotto_clear_truth.sums[i]);

        CHECK(t, by > -60 && by < 60);
        CHECK_EQUAL(t, (int64_t)got.sums[i].low < 0 ? UINT64_MAX : 0, got.sums[i].high);
        moved += by != 0;
    }
    CHECK(t, moved > 0); /* 31 sums stay as they are once in 10^26 runs */
    sotto_test_service_close(&s);
}

static void the_programs_own_tables_are_all_there_is(sotto_test *t)
{
    CHECK(t, sotto_method_of(SOTTO_PRIO3_HISTOGRAM) == NULL);
    CHECK(t, sotto_vdaf_client_named("prio") == NULL);
    CHECK(t, !sotto_trust_named("split"));
    CHECK(t, sotto_method_of(CLEAR_TYPE) == &sotto_method_clear);
    CHECK(t, sotto_vdaf_client_named("clear") == &sotto_clear_client);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(sums_in_the_clear_come_from_devices_to_an_answer),
        CASE(a_report_that_its_servers_reject_is_not_added),
        CASE(servers_add_noise_to_its_sums),
        CASE(the_programs_own_tables_are_all_there_is),
    };

    return RUN_TESTS(argc, argv, cases);
}
