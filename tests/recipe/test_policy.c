/* Policies and parties: what they hold once read, and what is refused. */
#include "support/recipes.h"

#include <stdio.h>
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

static void reports_without_local_protection_are_allowed_in_words(sotto_test *t)
{
    static const char age[] = "\"keyboard_ngrams.age\": {\"epsilon_local\": 2";
    const sotto_policy *policy = sotto_test_policy(t, NULL, NULL);

    CHECK(t, policy->fields[1].by == 1U << SOTTO_BY_CROWD && !policy->fields[1].local_none);
    policy = sotto_test_policy(t, age,
                               "\"keyboard_ngrams.age\": {\"epsilon_local\": \"none\", \"by\": "
                               "[\"servers\", \"shares\"]");
    CHECK_EQUAL(t, 1U << SOTTO_BY_SERVERS | 1U << SOTTO_BY_SHARES, policy->fields[1].by);
    CHECK(t, policy->fields[1].local_none && policy->fields[1].epsilon_local.units == 0);
    CHECK(t, sotto_test_policy(t, age, "\"keyboard_ngrams.age\": {\"epsilon_local\": \"none\"")
                     ->fields[1]
                     .by == 1U << SOTTO_BY_CROWD);
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        read_policy(t, age,
                    "\"keyboard_ngrams.age\": {\"by\": [\"servers\"], \"epsilon_local\": 2"));
    CHECK(t,
          sotto_test_has_mistake(&mistakes, "fields[\"keyboard_ngrams.age\"].by", "only by crowd"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_policy(t, age, "\"keyboard_ngrams.age\": {\"epsilon_local\": \"any\""));
    CHECK(t, sotto_test_has_mistake(&mistakes, "fields[\"keyboard_ngrams.age\"].epsilon_local",
                                    "not a number"));
}

static void a_field_of_a_stream_is_no_field_of_the_device(sotto_test *t)
{
    const sotto_policy *policy = sotto_test_policy(t, "[\"locale\"]", "[\"keyboard.locale\"]");

    CHECK(t, !sotto_policy_non_sensitive(policy, "com.example.keyboard-ngrams", "locale"));
    CHECK(t, strcmp(policy->non_sensitive[0].stream, "keyboard") == 0);
}

/* A log's key and a witness' as `sotto log key` prints them. */
static const char *key_line(sotto_test *t, const char *name, sotto_note_kind kind, uint8_t seed)
{
    const uint8_t bytes[SOTTO_SIGN_SEED] = {seed};
    sotto_buf out = sotto_test_buf(t, SOTTO_NOTE_KEY_TEXT);
    sotto_signer signer;
    sotto_note_key key;

    CHECK_OK(t, sotto_signer_init(&signer, bytes, &t->err));
    CHECK_OK(t, sotto_note_key_init(&key, sotto_bytes_of(name, strlen(name)), kind,
                                    signer.public_key, &t->err));
    CHECK_OK(t, sotto_note_key_encode(&out, &key, &t->err));
    sotto_signer_clear(&signer);
    return (const char *)out.data;
}

/* "logs" with one log of these witnesses, the third of whom is `third`. */
static sotto_status read_logs(sotto_test *t, const sotto_policy **out, const char *third,
                              const char *more)
{
    static char text[2048];

    (void)snprintf(
        text, sizeof text,
        "\"logs\": {\"one\": {\"key\": \"%s\", \"witnesses\": [\"%s\", \"%s\", \"%s\"]%s}}, "
        "\"min_cohort\"",
        key_line(t, "log.example", SOTTO_NOTE_ED25519, 1),
        key_line(t, "w1.example", SOTTO_NOTE_COSIGNATURE, 11),
        key_line(t, "w2.example", SOTTO_NOTE_COSIGNATURE, 12), third, more);
    memset(&mistakes, 0, sizeof mistakes);
    return sotto_policy_read(out, sotto_test_policy_text(t, "\"min_cohort\"", text), &t->arena,
                             &mistakes, &t->err);
}

static void logs_and_their_witnesses_are_read(sotto_test *t)
{
    const char *third = key_line(t, "w3.example", SOTTO_NOTE_COSIGNATURE, 13);
    const sotto_policy *policy;

    CHECK_OK(
        t, read_logs(t, &policy, third, ", \"quorum\": 2, \"feed\": \"https://log.example/feed\""));
    CHECK_EQUAL(t, 1, policy->log_count);
    const sotto_policy_log *log = sotto_policy_log_named(policy, "one");
    CHECK(t, log && !sotto_policy_log_named(policy, "log.example"));
    CHECK(t, log->trust.log == &log->key && log->key.name.len == 11);
    CHECK_EQUAL(t, 3, log->trust.witness_count);
    CHECK_EQUAL(t, 2, log->trust.quorum);
    CHECK(t, strcmp(log->feed, "https://log.example/feed") == 0);
    CHECK_OK(t, read_logs(t, &policy, third, ""));
    CHECK_EQUAL(t, 3, policy->logs[0].trust.quorum); /* all of them */
    CHECK(t, !policy->logs[0].feed);
}

static void witnesses_are_others_than_the_log_and_each_other(sotto_test *t)
{
    const sotto_policy *policy;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_logs(t, &policy, key_line(t, "w3.example", SOTTO_NOTE_COSIGNATURE, 12), ""));
    CHECK(t, sotto_test_has_mistake(&mistakes, "logs.one.witnesses[2]", "the same key"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_logs(t, &policy, key_line(t, "w3.example", SOTTO_NOTE_COSIGNATURE, 1), ""));
    CHECK(t, sotto_test_has_mistake(&mistakes, "logs.one.witnesses[2]", "the same key"));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_logs(t, &policy, key_line(t, "w3.example", SOTTO_NOTE_ED25519, 13), ""));
    CHECK(t,
          sotto_test_has_mistake(&mistakes, "logs.one.witnesses[2]", "no public key of a witness"));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_logs(t, &policy, "w3.example+123+abc", ""));
}

static void a_quorum_can_be_met(sotto_test *t)
{
    const sotto_policy *policy;

    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_logs(t, &policy, key_line(t, "w3.example", SOTTO_NOTE_COSIGNATURE, 13),
                           ", \"quorum\": 4"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "logs.one.quorum", "4, of 3 witnesses"));
}

static void witnesses_have_their_urls(sotto_test *t)
{
    const char *key = key_line(t, "w3.example", SOTTO_NOTE_COSIGNATURE, 13);
    const sotto_policy *policy;

    CHECK_OK(t, read_logs(t, &policy, key, ""));
    CHECK(t, policy->logs[0].urls == NULL);
    CHECK_OK(t, read_logs(t, &policy, key,
                          ", \"witness_urls\": [\"https://a/\", \"https://b/\", \"https://c/\"]"));
    CHECK(t, strcmp(policy->logs[0].urls[1], "https://b/") == 0);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 read_logs(t, &policy, key, ", \"witness_urls\": [\"https://a/\"]"));
    CHECK(t, sotto_test_has_mistake(&mistakes, "logs.one.witness_urls", "1, of 3 witnesses"));
}

static void two_logs_have_two_origins(sotto_test *t)
{
    const char *key = key_line(t, "log.example", SOTTO_NOTE_ED25519, 1);
    char text[1024];

    (void)snprintf(text, sizeof text,
                   "\"logs\": {\"one\": {\"key\": \"%s\"}, \"two\": {\"key\": \"%s\"}}, "
                   "\"min_cohort\"",
                   key, key_line(t, "log.example", SOTTO_NOTE_ED25519, 2));
    CHECK_STATUS(t, SOTTO_MALFORMED, read_policy(t, "\"min_cohort\"", text));
    CHECK(t, sotto_test_has_mistake(&mistakes, "logs.two.key", "the same origin"));
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
        CASE(reports_without_local_protection_are_allowed_in_words),
        CASE(a_field_of_a_stream_is_no_field_of_the_device),
        CASE(logs_and_their_witnesses_are_read),
        CASE(witnesses_are_others_than_the_log_and_each_other),
        CASE(a_quorum_can_be_met),
        CASE(witnesses_have_their_urls),
        CASE(two_logs_have_two_origins),
        CASE(policies_are_held_to_their_table_too),
        CASE(parties_need_keys_and_places),
        CASE(a_relay_has_a_place_and_no_key),
    };

    return RUN_TESTS(argc, argv, cases);
}
