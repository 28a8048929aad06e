/* Policies and parties: what they hold once read, and what is refused. */
#include "support/recipes.h"

#include <string.h>

static sotto_mistakes mistakes;

static sotto_status read_policy(sotto_test *t, const char *old, const char *new)
{
    const sotto_policy *policy;

    memset(&mistakes, 0, sizeof mistakes);
    return sotto_policy_read(&policy, sotto_test_policy_text(t, old, new), &t->arena, &mistakes,
                             &t->err);
}

static sotto_status read_parties(sotto_test *t, const char *old, const char *new)
{
    const sotto_parties *parties;

    memset(&mistakes, 0, sizeof mistakes);
    return sotto_parties_read(&parties, sotto_test_parties_text(t, old, new), &t->arena, &mistakes,
                              &t->err);
}

static void the_paper_s_table_is_the_example(sotto_test *t)
{
    const sotto_policy *policy = sotto_test_policy(t, NULL, NULL);
    const sotto_policy_analysis *a = sotto_policy_find(policy, "com.example.keyboard-ngrams");

    CHECK(t, a != NULL);
    CHECK_EQUAL(t, 500000000000, a->epsilon.units);
    CHECK_EQUAL(t, 1, a->reports);
    CHECK_EQUAL(t, 3, a->field_count);
    CHECK(t, strcmp(a->fields[1].stream, "keyboard_ngrams") == 0);
    CHECK(t, strcmp(a->fields[1].field, "age") == 0);
    CHECK_EQUAL(t, 0, policy->period_days); /* what is spent stays spent */
    CHECK(t, policy->composition == SOTTO_COMPOSITION_BASIC);
    CHECK(t, sotto_test_policy(t, "\"min_cohort\"", "\"composition\": \"filter\", \"min_cohort\"")
                     ->composition == SOTTO_COMPOSITION_FILTER);
    CHECK(t, sotto_test_policy(t, "\"min_cohort\"", "\"composition\": \"zcdp\", \"min_cohort\"")
                     ->composition == SOTTO_COMPOSITION_ZCDP);
    CHECK_EQUAL(t, 3, policy->field_count);
    CHECK(t, strcmp(policy->fields[1].stream, "keyboard_ngrams") == 0);
    CHECK(t, strcmp(policy->fields[1].field, "age") == 0);
    CHECK_EQUAL(t, 2000000000000, policy->fields[1].epsilon_local.units);
    CHECK_EQUAL(t, 300000000000, policy->fields[1].epsilon.units);
    CHECK(t, sotto_policy_non_sensitive(policy, "com.example.keyboard-ngrams", "locale"));
    CHECK(t, !sotto_policy_non_sensitive(policy, "com.example.keyboard-ngrams", "age"));
    CHECK(t, !sotto_policy_find(policy, "com.example.keyboard"));
    CHECK_EQUAL(t, 1U << SOTTO_TRUST_SPLIT, policy->trusts);
    CHECK(t, policy->honest.units == 500000000000 && !policy->silence);
}

static void a_field_of_a_stream_is_no_field_of_the_device(sotto_test *t)
{
    const sotto_policy *policy = sotto_test_policy(t, "[\"locale\"]", "[\"keyboard.locale\"]");

    CHECK(t, !sotto_policy_non_sensitive(policy, "com.example.keyboard-ngrams", "locale"));
    CHECK(t, strcmp(policy->non_sensitive[0].stream, "keyboard") == 0);
}

static void keys_of_logs_are_read(sotto_test *t)
{
    const sotto_policy *policy = sotto_test_policy(
        t, "\"min_cohort\"",
        "\"logs\": {\"log.example\": \"000102030405060708090A0b0c0d0e0fff\"}, \"min_cohort\"");
    sotto_bytes key = sotto_test_hex(t, "000102030405060708090a0b0c0d0e0fff");

    CHECK_EQUAL(t, 1, policy->log_count);
    CHECK(t, sotto_bytes_equal_vartime(key, policy->logs[0].key));
}

static void policies_are_held_to_their_table_too(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED, read_policy(t, "\"keyboard_ngrams.age\":", "\"age\":"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "fields.age", "names no stream"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_policy(t, "\"keyboard_ngrams.age\",", "\"health.pulse\","));
    CHECK(t, mistakes.errors == 1 && strstr(mistakes.items[0].what, "no budget for"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_policy(t, "\"epsilon\": 0.5", "\"epsilon\": -0.5"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_policy(t, "\"reports\": 1", "\"reports\": 1.5"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_policy(t, "\"honest\": 0.5", "\"honest\": 1.5"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_policy(t, "\"honest\"", "\"dishonest\""));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_policy(t, "20000", "1"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_policy(t, "\"min_cohort\"", "\"logs\": {\"a\": \"xyz\"}, \"min_cohort\""));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_policy(t, "\"min_cohort\"", "\"trusts\": [\"all\"], \"min_cohort\""));
}

static void parties_need_keys_and_places(sotto_test *t)
{
    const sotto_parties *parties = sotto_test_parties(t, NULL, NULL);
    const sotto_party_entry *leader = sotto_parties_find(parties, "key:leader-2026a");

    CHECK(t, leader && leader->role == SOTTO_PARTY_LEADER && leader->key_count == 1);
    CHECK(t, sotto_party_key_at(leader, 1795132800) == &leader->keys[0]);
    CHECK(t, !sotto_party_key_at(leader, leader->keys[0].until));
    CHECK(t, !sotto_party_key_at(leader, leader->keys[0].from - 1));
    CHECK(t, !sotto_parties_find(parties, "key:leader"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_parties(t, "\"url\": \"https://leader.example.com/\",", ""));
    CHECK(t, sotto_test_has_mistake(&mistakes, "[\"key:leader-2026a\"].url", "where to send"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_parties(t, "0020000100010020", "0020000100010021"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_parties(t, "2027-07-01", "2025-07-01"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_parties(t, "\"role\": \"helper\"", "\"role\": \"mixer\""));
}

static void a_relay_has_a_place_and_no_key(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_parties(t, "\"role\": \"helper\"", "\"role\": \"relay\""));
    CHECK(t, sotto_test_has_mistake(&mistakes, "[\"key:helper-2026a\"].hpke", "opens nothing"));
    CHECK_OK(t,
             read_parties(t, "{\n", "{ \"r\": {\"role\": \"relay\", \"url\": \"https://r/g\"},\n"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_parties(t, "{\n", "{ \"r\": {\"role\": \"relay\"},\n"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "r.url", "where to send"));
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        read_parties(t, "{\n", "{ \"g\": {\"role\": \"gateway\", \"url\": \"https://g/\"},\n"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "g.hpke", "only a relay, an attester"));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_paper_s_table_is_the_example),
        CASE(a_field_of_a_stream_is_no_field_of_the_device),
        CASE(keys_of_logs_are_read),
        CASE(policies_are_held_to_their_table_too),
        CASE(parties_need_keys_and_places),
        CASE(a_relay_has_a_place_and_no_key),
    };

    return RUN_TESTS(argc, argv, cases);
}
