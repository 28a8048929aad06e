/* Lists of token keys on a device: whose they are, how many, and when it asks under each. */
#include "device/ledger/wallet.h"
#include "support/logs.h"
#include "support/wallet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST = 1 << 20 };

static void only_issuers_of_the_policy_are_taken(sotto_test *t)
{
    const char *list;
    sotto_bytes file;
    uint8_t *changed;

    sotto_test_wallet_start(t, false);
    list = sotto_test_list_of(t, sotto_test_wallet_issuer.spki, SOTTO_TEST_CLOSES);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_test_wallet_take(t, sotto_bytes_of(list, strlen(list))));
    CHECK_STATUS(
        t, SOTTO_DENIED,
        sotto_test_wallet_take(t, sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED + 1, list)));
    file = sotto_test_the_list(t);
    changed = sotto_test_take(t, file.len);
    memcpy(changed, file.data, file.len);
    changed[file.len - 1] = ' ';
    CHECK_STATUS(t, SOTTO_REJECTED, sotto_test_wallet_take(t, sotto_bytes_of(changed, file.len)));
    CHECK(t, sotto_test_token_is(t, 0));
    CHECK_OK(t, sotto_test_wallet_take(t, file));
    /* A policy that names it no longer. */
    sotto_test_wallet_phone.options.policy =
        sotto_bytes_of(sotto_test_generous_policy, strlen(sotto_test_generous_policy));
    sotto_test_phone_close(&sotto_test_wallet_phone);
    sotto_test_phone_open(&sotto_test_wallet_phone);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_wallet_take(t, file));
    CHECK_OK(t, sotto_device_consent(sotto_test_wallet_phone.device, true, &t->err));
    sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 10;
    CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device,
                                   sotto_test_token_recipe(t, "50001"), &t->err));
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    CHECK(t, sotto_test_why(&sotto_test_wallet_phone, "50001") == SOTTO_WHY_POLICY);
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static void a_collection_has_one_key(sotto_test *t)
{
    uint8_t other[SOTTO_TYPE2_SPKI];
    char entries[2][1200], *both = sotto_test_take(t, 3000);

    sotto_test_wallet_start(t, false);
    memcpy(other, sotto_test_wallet_issuer.spki, sizeof other);
    other[200] ^= 1;
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_test_wallet_take(
                     t, sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED,
                                             sotto_test_list_of(t, other, SOTTO_TEST_CLOSES))));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_test_wallet_take(
                     t, sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED,
                                             sotto_test_list_of(t, sotto_test_wallet_issuer.spki,
                                                                SOTTO_TEST_CLOSES + 1))));
    (void)sotto_test_list_entry(entries[0], 1200, sotto_test_wallet_issuer.spki, "another", 5,
                                SOTTO_TEST_CLOSES);
    (void)sotto_test_list_entry(entries[1], 1200, other, "another", 5, SOTTO_TEST_CLOSES);
    (void)snprintf(both, 3000, "{\"keys\":[%s,%s]}", entries[0], entries[1]);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_test_wallet_take(t, sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED, both)));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* In one list, and in a later one. The ledger is whole afterwards, and opens again. */
static void a_key_has_one_collection(sotto_test *t)
{
    char entries[2][1200], *both = sotto_test_take(t, 3000), *later = sotto_test_take(t, 3000);

    sotto_test_wallet_start(t, true);
    (void)sotto_test_list_entry(entries[0], 1200, sotto_test_wallet_issuer.spki, "one", 5,
                                SOTTO_TEST_CLOSES);
    (void)sotto_test_list_entry(entries[1], 1200, sotto_test_wallet_issuer.spki, "another", 5,
                                SOTTO_TEST_CLOSES);
    (void)snprintf(both, 3000, "{\"keys\":[%s,%s]}", entries[0], entries[1]);
    (void)snprintf(later, 3000, "{\"keys\":[%s]}", entries[1]);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_test_wallet_take(t, sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED, both)));
    CHECK(t, sotto_test_token_is(t, 0));
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_test_wallet_take(t, sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED, later)));
    sotto_test_phone_close(&sotto_test_wallet_phone);
    sotto_test_phone_open(&sotto_test_wallet_phone);
    CHECK(t, sotto_device_closed(sotto_test_wallet_phone.device) == NULL);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_PLANNED));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

static sotto_status take_as(sotto_test *t, uint64_t serial, const char *list)
{
    return sotto_test_wallet_take(t,
                                  sotto_test_sign_list_as(t, SOTTO_TEST_ISSUER_SEED, serial, list));
}

/* It may have a key that its issuer withdrew: whoever brings lists could have it asked for under that one. */
static void an_older_list_never_comes_back(sotto_test *t)
{
    const char *list;
    char entry[1200], *withdrawn = sotto_test_take(t, 2000);

    sotto_test_wallet_start(t, true);
    list = sotto_test_list_of(t, sotto_test_wallet_issuer.spki, SOTTO_TEST_CLOSES);
    (void)sotto_test_list_entry(entry, sizeof entry, sotto_test_wallet_issuer.spki, "withdrawn", 5,
                                SOTTO_TEST_CLOSES);
    (void)snprintf(withdrawn, 2000, "{\"keys\":[%s]}", entry);
    CHECK_OK(t, take_as(t, 5, list));
    CHECK_STATUS(t, SOTTO_STALE, take_as(t, 4, withdrawn));
    CHECK_REASON(t, "list of token keys: a later one was taken");
    CHECK_OK(t, take_as(t, 5, list));
    CHECK_OK(t, take_as(t, 6, list)); /* nothing new but its serial */
    sotto_test_phone_close(&sotto_test_wallet_phone);
    sotto_test_phone_open(&sotto_test_wallet_phone);
    CHECK_STATUS(t, SOTTO_STALE, take_as(t, 5, list));
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_PLANNED));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* Nor once all keys of the later one are gone. */
static void an_older_list_does_not_come_back_after_its_keys_are_gone(sotto_test *t)
{
    const char *list, *later;
    char entry[1200], *text = sotto_test_take(t, 2000);

    sotto_test_wallet_start(t, true);
    list = sotto_test_list_of(t, sotto_test_wallet_issuer.spki, SOTTO_TEST_CLOSES);
    CHECK_OK(t, take_as(t, 5, list));
    sotto_test_wallet_phone.now = SOTTO_TEST_CLOSES + 8 * 86400;
    (void)sotto_test_tick(&sotto_test_wallet_phone);
    (void)sotto_test_list_entry(entry, sizeof entry, sotto_test_wallet_issuer.spki, "withdrawn", 5,
                                SOTTO_TEST_CLOSES + 30 * 86400);
    (void)snprintf(text, 2000, "{\"keys\":[%s]}", entry);
    later = text;
    CHECK_STATUS(t, SOTTO_STALE, take_as(t, 4, later));
    CHECK_REASON(t, "list of token keys: a later one was taken");
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* Mistyped, it would keep later lists out. */
static void a_list_far_ahead_of_the_clock_is_refused(sotto_test *t)
{
    const char *list;
    const uint64_t most = SOTTO_TEST_LISTED + 30 * 86400;

    sotto_test_wallet_start(t, false);
    list = sotto_test_list_of(t, sotto_test_wallet_issuer.spki, SOTTO_TEST_CLOSES);
    CHECK_STATUS(t, SOTTO_DENIED, take_as(t, most + 1, list));
    CHECK_OK(t, take_as(t, most, list));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* By hand and in a feed; a list beside the log might be one for this device alone. */
static void where_the_policy_names_a_log_lists_come_from_there(sotto_test *t)
{
    sotto_test_log logs;
    uint64_t taken;

    sotto_test_wallet_init(t);
    sotto_test_log_init(t, &logs);
    for (size_t i = 0; i < 3; i++)
        logs.times[i] = SOTTO_TEST_LISTED;
    const uint64_t at =
        sotto_test_log_add(t, &logs, SOTTO_ENTRY_ISSUER_KEYS, 1, sotto_test_the_list(t));
    const char *policy = sotto_test_log_policy(t, &logs, sotto_test_token_policy(t), "");
    sotto_test_wallet_phone.options.policy = sotto_bytes_of(policy, strlen(policy));
    sotto_test_wallet_begin(t);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_test_wallet_take(t, sotto_test_the_list(t)));
    CHECK(t, sotto_test_token_is(t, 0));
    CHECK_OK(t, sotto_device_feed(sotto_test_wallet_phone.device,
                                  sotto_test_log_feed(t, &logs, &logs.size, 1, &at, 1), &taken,
                                  &t->err));
    CHECK_EQUAL(t, 1, taken);
    CHECK(t, sotto_test_token_is(t, SOTTO_TOKEN_PLANNED));
    CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_log_bundle(t, &logs, at, logs.size)));
    sotto_test_phone_close(&sotto_test_wallet_phone);
    sotto_test_log_clear(&logs);
}

/* A list that was taken before the application's policy named logs: its token waits until the list comes from the log. */
static void a_key_from_before_there_was_a_log_is_proved_first(sotto_test *t)
{
    sotto_test_log logs;
    uint64_t taken;

    sotto_test_wallet_start(t, true);
    sotto_test_token_get(t);
    sotto_test_log_init(t, &logs);
    const uint64_t at =
        sotto_test_log_add(t, &logs, SOTTO_ENTRY_ISSUER_KEYS, 1, sotto_test_the_list(t));
    const uint64_t asked =
        sotto_test_log_add(t, &logs, SOTTO_ENTRY_RECIPE, 1, sotto_test_token_recipe(t, "50001"));
    const uint64_t both[] = {asked, at};
    const char *policy = sotto_test_log_policy(t, &logs, sotto_test_token_policy(t), "");
    sotto_test_wallet_phone.options.policy = sotto_bytes_of(policy, strlen(policy));
    sotto_test_phone_open(&sotto_test_wallet_phone);
    CHECK_OK(t, sotto_device_feed(sotto_test_wallet_phone.device,
                                  sotto_test_log_feed(t, &logs, &logs.size, 1, both, 1), &taken,
                                  &t->err));
    CHECK_EQUAL(t, 1, taken);
    CHECK_EQUAL(t, 0, sotto_test_tick(&sotto_test_wallet_phone).made);
    CHECK(t, sotto_test_why(&sotto_test_wallet_phone, "50001") == SOTTO_WHY_TOKEN);
    CHECK_OK(t, sotto_device_feed(sotto_test_wallet_phone.device,
                                  sotto_test_log_feed(t, &logs, &logs.size, 1, both, 2), &taken,
                                  &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&sotto_test_wallet_phone).made);
    sotto_test_phone_close(&sotto_test_wallet_phone);
    sotto_test_log_clear(&logs);
}

static sotto_status count_rows(void *context, const sotto_token_line *line, sotto_err *err)
{
    (void)line;
    (void)err;
    ++*(size_t *)context;
    return SOTTO_OK;
}

static size_t rows(sotto_test *t)
{
    size_t count = 0;

    CHECK_OK(t, sotto_device_tokens(sotto_test_wallet_phone.device, count_rows, &count, &t->err));
    return count;
}

/* Of this many collections, which open one after another. */
static sotto_bytes long_list(sotto_test *t, unsigned count, int64_t opens)
{
    char *out = sotto_test_take(t, LIST);
    uint8_t spki[SOTTO_TYPE2_SPKI];
    size_t used = (size_t)snprintf(out, LIST, "{\"keys\":[");

    memcpy(spki, sotto_test_wallet_issuer.spki, sizeof spki);
    for (unsigned i = 0; i < count; i++) {
        spki[150] = (uint8_t)i;
        spki[151] = (uint8_t)(i >> 8);
        used += (size_t)snprintf(out + used, LIST - used, i ? "," : "");
        used += (size_t)sotto_test_list_entry(out + used, LIST - used, spki, "a", opens + i,
                                              opens + i + 1000);
    }
    (void)snprintf(out + used, LIST - used, "]}");
    return sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED, out);
}

static void a_wallet_is_bounded(sotto_test *t)
{
    sotto_test_wallet_start(t, false);
    CHECK_STATUS(t, SOTTO_TOO_LARGE,
                 sotto_test_wallet_take(
                     t, long_list(t, SOTTO_WALLET_KEYS + 1, sotto_test_wallet_phone.now + 1)));
    CHECK_EQUAL(t, 0, rows(t));
    CHECK_OK(t, sotto_test_wallet_take(
                    t, long_list(t, SOTTO_WALLET_KEYS, sotto_test_wallet_phone.now + 1)));
    CHECK_EQUAL(t, SOTTO_WALLET_KEYS, rows(t));
    sotto_test_wallet_phone.now += 8 * 86400; /* closed, and a week passed */
    (void)sotto_test_tick(&sotto_test_wallet_phone);
    CHECK_EQUAL(t, 1, rows(t)); /* one stays, for the serial of its list */
    CHECK_OK(t, sotto_test_wallet_take(
                    t, long_list(t, 3, sotto_test_wallet_phone.now - 5000))); /* closed already */
    CHECK_OK(t,
             sotto_test_wallet_take(t, long_list(t, 3, sotto_test_wallet_phone.now + 91 * 86400)));
    CHECK_EQUAL(t, 1, rows(t));
    sotto_test_phone_close(&sotto_test_wallet_phone);
}

/* ---- timing: asking has nothing to do with the draw ----------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* sqrt(n) times the greatest distance between the two distributions (Kolmogorov and Smirnov). */
static double distance(double *a, size_t n, double *b, size_t m)
{
    double most = 0;
    size_t i = 0, j = 0;

    qsort(a, n, sizeof *a, by_time);
    qsort(b, m, sizeof *b, by_time);
    while (i < n && j < m) {
        if (a[i] <= b[j])
            i++;
        else
            j++;
        most = fmax(most, fabs((double)i / (double)n - (double)j / (double)m));
    }
    return most * sqrt((double)n * (double)m / (double)(n + m));
}

static void when_a_token_is_asked_for_tells_nothing_of_the_draw(sotto_test *t)
{
    enum { DEVICES = 400 };
    static double times[2][DEVICES], even[DEVICES];
    size_t count[2] = {0, 0};
    sotto_bytes recipe = sotto_test_recipe_text(t, "\"rate\": 0.1", "\"rate\": 0.5");

    recipe = sotto_test_replace(t, (const char *)recipe.data, "\"schedule\"", SOTTO_TEST_TOKENS);
    for (unsigned i = 0; i < DEVICES; i++) {
        sotto_test_wallet_start(t, false);
        CHECK_OK(t, sotto_device_offer(sotto_test_wallet_phone.device, recipe, &t->err));
        CHECK_OK(t, sotto_test_wallet_take(t, sotto_test_the_list(t)));
        const double at = (double)(sotto_test_token_line(t).at - SOTTO_TEST_LISTED);
        sotto_test_wallet_phone.now = SOTTO_TEST_OPENS + 3600;
        (void)sotto_test_tick(&sotto_test_wallet_phone);
        const bool drawn =
            sotto_test_why(&sotto_test_wallet_phone, "50001") != SOTTO_WHY_NOT_SAMPLED;
        CHECK_EQUAL(t, 1, sotto_test_wallet_attester.asks); /* whatever was drawn */
        times[drawn][count[drawn]++] = at;
        even[i] = (i + 0.5) / DEVICES * (SOTTO_TEST_OPENS - SOTTO_TEST_LISTED);
        sotto_test_phone_close(&sotto_test_wallet_phone);
    }
    CHECK(t, count[0] > DEVICES / 3 && count[1] > DEVICES / 3);
    /* 2.7 is passed by one in 10^6 that are alike. */
    CHECK(t, distance(times[0], count[0], times[1], count[1]) < 2.7);
    CHECK(t, distance(times[0], count[0], even, DEVICES) < 2.7);
    CHECK(t, distance(times[1], count[1], even, DEVICES) < 2.7);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(only_issuers_of_the_policy_are_taken),
        CASE(a_collection_has_one_key),
        CASE(a_key_has_one_collection),
        CASE(an_older_list_never_comes_back),
        CASE(an_older_list_does_not_come_back_after_its_keys_are_gone),
        CASE(a_list_far_ahead_of_the_clock_is_refused),
        CASE(where_the_policy_names_a_log_lists_come_from_there),
        CASE(a_key_from_before_there_was_a_log_is_proved_first),
        CASE(a_wallet_is_bounded),
        CASE(when_a_token_is_asked_for_tells_nothing_of_the_draw),
    };

    return RUN_TESTS(argc, argv, cases);
}
