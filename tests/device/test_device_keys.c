/* Which key opens which half of a report. One rule says so when it is first sealed and when its leader says that a
 * key is outdated, whatever a stranger got into the parties file. */
#include "device/answer/kept_half.h"
#include "recipe/calendar.h"
#include "sotto/random.h"
#include "support/devices.h"

#include <stdio.h>
#include <string.h>

/* The first seal, and the second: at each the leader calls its key outdated, whether or not it is. */
#define FIRST  (SOTTO_TEST_OPENS + 3600)
#define SECOND (SOTTO_TEST_OPENS + 2 * 86400)
#define EARLY  INT64_C(1767225600) /* 2026-01-01 */
#define LATE   INT64_C(1814400000) /* 2027-07-01 */

enum { LEADER = SOTTO_REPORT_LEADER, HELPER = SOTTO_REPORT_HELPER };
enum { TRUE_ID = 1, NEXT_ID = 40, STRANGE_ID = 50, TEXT = 8192 };

static sotto_test_phone phone;

typedef struct listed_key {
    char who; /* 'T' the server's own, 'N' its own next one, 'S' a stranger's */
    int64_t from, until;
} listed_key;

static sotto_hpke_key key_of(sotto_test *t, unsigned party, char who)
{
    uint8_t ikm[32];
    sotto_hpke_key key;

    memset(ikm, who, sizeof ikm);
    ikm[0] = (uint8_t)party;
    CHECK_OK(t, sotto_hpke_key_derive(&key, SOTTO_HPKE_KEM_X25519, sotto_bytes_of(ikm, sizeof ikm),
                                      &t->err));
    return key;
}

static uint8_t id_of(unsigned party, char who)
{
    return (uint8_t)((who == 'T' ? TRUE_ID : who == 'N' ? NEXT_ID : STRANGE_ID) + party);
}

static sotto_bytes config_of(sotto_test *t, unsigned party, char who)
{
    const sotto_hpke_key key = key_of(t, party, who);
    const sotto_hpke_config config = sotto_hpke_config_of(
        &key, id_of(party, who), SOTTO_HPKE_KDF_SHA256, SOTTO_HPKE_AEAD_AES128_GCM);
    sotto_buf out = sotto_test_buf(t, 128);

    CHECK_OK(t, sotto_hpke_config_encode(&out, &config, &t->err));
    return sotto_buf_bytes(&out);
}

static void write_keys(sotto_test *t, char *out, unsigned party, const listed_key *keys,
                       size_t count)
{
    size_t used = strlen(out);

    for (size_t i = 0; i < count; i++) {
        char from[SOTTO_CALENDAR_TEXT], until[SOTTO_CALENDAR_TEXT];
        sotto_bytes config = config_of(t, party, keys[i].who);

        sotto_calendar_format_time(from, keys[i].from);
        sotto_calendar_format_time(until, keys[i].until);
        used += (size_t)snprintf(out + used, TEXT - used, "%s{\"config\": \"", i > 0 ? ", " : "");
        for (size_t b = 0; b < config.len; b++)
            used += (size_t)snprintf(out + used, TEXT - used, "%02x", config.data[b]);
        used += (size_t)snprintf(out + used, TEXT - used,
                                 "\", \"from\": \"%s\", \"until\": \"%s\"}", from, until);
    }
}

static sotto_bytes parties_of(sotto_test *t, const listed_key *leader, size_t leaders,
                              const listed_key *helper, size_t helpers)
{
    char *out = sotto_test_take(t, TEXT);

    (void)snprintf(out, TEXT,
                   "{\"key:leader-2026a\": {\"role\": \"leader\","
                   " \"url\": \"https://leader.example.com/\", \"hpke\": [");
    write_keys(t, out, LEADER, leader, leaders);
    (void)snprintf(out + strlen(out), TEXT - strlen(out),
                   "]}, \"key:helper-2026a\": {\"role\": \"helper\","
                   " \"url\": \"https://helper.example.net/\", \"hpke\": [");
    write_keys(t, out, HELPER, helper, helpers);
    (void)snprintf(out + strlen(out), TEXT - strlen(out), "]}}");
    return sotto_bytes_of(out, strlen(out));
}

/* ---- who opens what --------------------------------------------------------------------------------------- */

/* The key that opens this half; 0: none of them. The other half is left shut: each is tried by itself. */
static char opener(sotto_test *t, const sotto_test_upload *upload, sotto_bytes recipe,
                   sotto_bytes parties, unsigned half)
{
    static const char all[] = "TNS";

    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++) {
            const char who[2] = {all[half == LEADER ? i : j], all[half == LEADER ? j : i]};
            sotto_test_openers o = {.parties = parties};
            sotto_test_report report;
            sotto_task task;

            for (unsigned party = 0; party < 2; party++) {
                o.key[party] = key_of(t, party, who[party]);
                o.id[party] = id_of(party, who[party]);
            }
            if (sotto_test_receive_as(t, &report, &task, upload, recipe, 0, &o) == SOTTO_OK)
                return who[half];
        }
    return 0;
}

static sotto_bytes helpers_half(const sotto_test_upload *upload)
{
    sotto_reader in = sotto_reader_over(upload->body);

    (void)sotto_read_bytes(&in, SOTTO_REPORT_ID_SIZE + 8 + 2);
    (void)sotto_read_opaque32(&in);
    (void)sotto_read_uint(&in, 1);
    (void)sotto_read_opaque16(&in);
    (void)sotto_read_opaque32(&in);
    return sotto_read_bytes(&in, sotto_reader_left(&in));
}

/* Answers the recipe at FIRST and at SECOND, while the leader calls every key outdated. What left last is the second seal,
 * if there was one. */
static void answer_twice(sotto_test *t, sotto_bytes recipe, sotto_bytes parties)
{
    sotto_test_phone_init(t, &phone, NULL);
    phone.options.parties = parties;
    phone.now = FIRST;
    phone.answer = SOTTO_DELIVERY_OUTDATED;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    CHECK_EQUAL(t, 1, sotto_test_tick(&phone).waiting); /* by the rule the key is the same */
    CHECK_EQUAL(t, 1, phone.uploads);
    phone.now = SECOND;
    (void)sotto_test_tick(&phone);
    CHECK(t, phone.uploads == 2 || phone.uploads == 3);
    CHECK(t, sotto_bytes_equal_vartime(phone.uploaded[0].body, phone.uploaded[1].body));
    CHECK_EQUAL(t, phone.uploads - 2, sotto_test_lines(&phone, NULL, SOTTO_RECORD_RESEALED));
    sotto_test_phone_close(&phone);
}

/* The stranger's key beside the server's own, which is in use from EARLY to LATE. */
static const struct {
    const char *what;
    bool before; /* listed before the server's own */
    int64_t from, until;
    char first, second; /* whose key the rule gives at both times */
} table[] = {
    {"an earlier from, behind", false, EARLY - 1, LATE, 'T', 'T'},
    {"an earlier from, before", true, EARLY - 1, LATE, 'T', 'T'},
    {"the same from, behind", false, EARLY, LATE, 'T', 'T'},
    {"the same from, before", true, EARLY, LATE, 'S', 'S'},
    {"a later from, behind", false, EARLY + 1, LATE, 'S', 'S'},
    {"a later from, before", true, EARLY + 1, LATE, 'S', 'S'},
    {"from the very second on, behind", false, FIRST, LATE, 'S', 'S'},
    {"a second too late for the first seal, behind", false, FIRST + 1, LATE, 'T', 'S'},
    {"between the seals, behind", false, SOTTO_TEST_OPENS + 86400, LATE, 'T', 'S'},
    {"between the seals, before", true, SOTTO_TEST_OPENS + 86400, LATE, 'T', 'S'},
    {"from the second seal on, behind", false, SECOND, LATE, 'T', 'S'},
    {"after both, behind", false, SECOND + 1, LATE, 'T', 'T'},
    {"after both, before", true, SECOND + 1, LATE, 'T', 'T'},
    {"over before both, before", true, EARLY + 1, FIRST, 'T', 'T'},
    {"over between them, behind", false, EARLY + 1, FIRST + 1, 'S', 'T'},
    {"over at the second, before", true, EARLY + 1, SECOND, 'S', 'T'},
    {"over a second after the second, before", true, EARLY + 1, SECOND + 1, 'S', 'S'},
};

/* Under the helper's name, as a leader that lies would have it: its own key changes too, so that there is a second seal. The
 * helper's half stays what it was. Such a file is what a helper refuses; here a device has it. */
static void check_leader_lies(sotto_test *t, sotto_bytes recipe, size_t i)
{
    const listed_key leader[] = {{'T', EARLY, LATE}, {'N', SOTTO_TEST_OPENS + 86400, LATE}};
    const listed_key own = {'T', EARLY, LATE}, strange = {'S', table[i].from, table[i].until};
    const listed_key helper[] = {table[i].before ? strange : own, table[i].before ? own : strange};
    const sotto_bytes parties = parties_of(t, leader, 2, helper, 2);
    const sotto_test_upload *last;

    answer_twice(t, recipe, parties);
    CHECK_EQUAL(t, 3, phone.uploads);
    last = &phone.uploaded[2];
    CHECK_EQUAL(t, 'T', opener(t, &phone.uploaded[0], recipe, parties, LEADER));
    CHECK_EQUAL(t, 'N', opener(t, last, recipe, parties, LEADER));
    CHECK_EQUAL(t, table[i].first, opener(t, &phone.uploaded[0], recipe, parties, HELPER));
    CHECK_EQUAL(t, table[i].first, opener(t, last, recipe, parties, HELPER));
    CHECK(t, sotto_bytes_equal_vartime(helpers_half(&phone.uploaded[0]), helpers_half(last)));
}

/* Under the leader's name, as a helper that lies would have it. */
static void check_helper_lies(sotto_test *t, sotto_bytes recipe, size_t i)
{
    const listed_key own = {'T', EARLY, LATE}, strange = {'S', table[i].from, table[i].until};
    const listed_key leader[] = {table[i].before ? strange : own, table[i].before ? own : strange};
    const sotto_bytes parties = parties_of(t, leader, 2, &own, 1);
    const sotto_test_upload *last;

    answer_twice(t, recipe, parties);
    CHECK_EQUAL(t, table[i].first == table[i].second ? 2 : 3, phone.uploads);
    last = &phone.uploaded[phone.uploads - 1];
    CHECK_EQUAL(t, table[i].first, opener(t, &phone.uploaded[0], recipe, parties, LEADER));
    CHECK_EQUAL(t, table[i].second, opener(t, last, recipe, parties, LEADER));
    CHECK_EQUAL(t, 'T', opener(t, last, recipe, parties, HELPER));
    CHECK(t, sotto_bytes_equal_vartime(helpers_half(&phone.uploaded[0]), helpers_half(last)));
}

static void one_rule_says_which_key_opens_which_half(sotto_test *t)
{
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        check_leader_lies(t, recipe, i);
        check_helper_lies(t, recipe, i);
    }
}

/* The attack: the helper's true key, and behind it a stranger's with a later `from`. The leader, whose own key is in use as
 * ever, says "outdated" for as long as a device tries, on every day of it. */
static void a_leader_s_word_never_moves_the_helper_s_half(sotto_test *t)
{
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const listed_key own = {'T', EARLY, LATE};
    const listed_key helper[] = {own, {'S', SOTTO_TEST_OPENS + 86400, LATE}};
    const sotto_bytes parties = parties_of(t, &own, 1, helper, 2);

    sotto_test_phone_init(t, &phone, NULL);
    phone.options.parties = parties;
    phone.answer = SOTTO_DELIVERY_OUTDATED;
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
    for (phone.now = FIRST; phone.now < SOTTO_TEST_CLOSES + SOTTO_SEAL_GRACE; phone.now += 43200)
        (void)sotto_test_tick(&phone);
    CHECK(t, phone.uploads > 20);
    for (size_t i = 0; i < phone.uploads; i++)
        CHECK(t, sotto_bytes_equal_vartime(phone.uploaded[0].body, phone.uploaded[i].body));
    CHECK_EQUAL(t, 'T', opener(t, &phone.uploaded[0], recipe, parties, HELPER));
    CHECK_EQUAL(t, 0, sotto_test_lines(&phone, NULL, SOTTO_RECORD_RESEALED));
    sotto_test_phone_close(&phone);
}

/* Nor are the reports of a device with that file of the task that the helper takes part in. */
static void a_device_with_other_keys_makes_reports_that_open_nowhere(sotto_test *t)
{
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const listed_key own = {'T', EARLY, LATE};
    const listed_key helper[] = {own, {'S', SOTTO_TEST_OPENS + 86400, LATE}};
    const sotto_bytes parties = parties_of(t, &own, 1, helper, 2);
    const sotto_bytes right = parties_of(t, &own, 1, &own, 1);

    answer_twice(t, recipe, parties);
    CHECK_EQUAL(t, 'T', opener(t, &phone.uploaded[0], recipe, parties, HELPER));
    CHECK_EQUAL(t, 0, opener(t, &phone.uploaded[0], recipe, right, HELPER));
    CHECK_EQUAL(t, 0, opener(t, &phone.uploaded[0], recipe, right, LEADER));
}

/* The recipe's end lies behind the leader's first key, and a later one covers it. A device that answers early seals to the
 * first, one that answers late to the second, and both reports are of one task. */
static void a_recipe_may_outlast_a_key(sotto_test *t)
{
    const sotto_bytes recipe = sotto_test_sure_recipe(t, "50001", NULL, NULL);
    const int64_t change = SOTTO_TEST_OPENS + 3 * 86400;
    const listed_key keys[] = {{'T', EARLY, change}, {'N', change - 3600, LATE}};
    const sotto_bytes parties = parties_of(t, keys, 2, keys, 2);
    const struct {
        int64_t at;
        char who;
    } times[] = {{SOTTO_TEST_OPENS, 'T'},
                 {change - 3601, 'T'},
                 {change - 3600, 'N'},
                 {change, 'N'},
                 {SOTTO_TEST_CLOSES - 1, 'N'}};
    uint8_t task[SOTTO_TASK_ID_SIZE];

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        sotto_test_phone_init(t, &phone, NULL);
        phone.options.parties = parties;
        phone.now = times[i].at;
        sotto_test_phone_open(&phone);
        CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
        CHECK_OK(t, sotto_device_offer(phone.device, recipe, &t->err));
        CHECK_EQUAL(t, 1, sotto_test_tick(&phone).made);
        CHECK_EQUAL(t, 1, phone.uploads);
        CHECK_EQUAL(t, times[i].who, opener(t, &phone.uploaded[0], recipe, parties, LEADER));
        CHECK_EQUAL(t, times[i].who, opener(t, &phone.uploaded[0], recipe, parties, HELPER));
        CHECK(t, i == 0 || memcmp(task, phone.uploaded[0].task, sizeof task) == 0);
        memcpy(task, phone.uploaded[0].task, sizeof task);
        sotto_test_phone_close(&phone);
    }
}

/* ---- what is kept ----------------------------------------------------------------------------------------- */

static const uint8_t task_id[SOTTO_TASK_ID_SIZE] = {7, 7};

static sotto_report_draft draft_of(void)
{
    sotto_report_draft draft = {.configuration = sotto_bytes_of("configuration", 13),
                                .metadata = {.report_id = {1, 2, 3}, .time = 9},
                                .public_share = sotto_bytes_of("public", 6),
                                .shares = {{.payload = sotto_bytes_of("leader's share", 14)},
                                           {.payload = sotto_bytes_of("helper's share", 14)}}};

    memcpy(draft.task_id, task_id, sizeof draft.task_id);
    return draft;
}

static sotto_bytes party_of(unsigned half)
{
    return sotto_bytes_of(half == LEADER ? "key:leader" : "key:helper", 10);
}

static sotto_kept_half keep(sotto_test *t, const sotto_report_draft *draft, unsigned half)
{
    return sotto_kept_half_of(draft, half, party_of(half), config_of(t, half, 'T'),
                              sotto_bytes_of(NULL, 0));
}

static sotto_bytes sealed_of(sotto_test *t, const sotto_report_draft *draft)
{
    sotto_buf out = sotto_test_buf(t, 4096);
    uint8_t ikm[2 * SOTTO_HPKE_MAX_PRIVATE_KEY];
    sotto_hpke_config to[2];
    sotto_dap_report report;

    CHECK_OK(t, sotto_random_bytes(ikm, sizeof ikm, &t->err));
    CHECK_OK(t, sotto_hpke_config_decode(&to[LEADER], config_of(t, LEADER, 'T'), &t->err));
    CHECK_OK(t, sotto_hpke_config_decode(&to[HELPER], config_of(t, HELPER, 'T'), &t->err));
    CHECK_OK(t, sotto_report_seal_both(&report, draft, to, sotto_bytes_of(ikm, sizeof ikm),
                                       &t->arena, &t->err));
    CHECK_OK(t, sotto_dap_report_encode(&out, &report, &t->err));
    return sotto_buf_bytes(&out);
}

static sotto_status again(sotto_test *t, sotto_buf *out, sotto_bytes sealed,
                          const sotto_kept_half *kept)
{
    sotto_entropy entropy;
    sotto_status status;

    sotto_entropy_system(&entropy);
    status = sotto_kept_half_seal(out, sealed, kept, config_of(t, kept->half, 'N'), &entropy,
                                  &t->arena, &t->err);
    sotto_entropy_clear(&entropy);
    return status;
}

/* Even if it were kept: no caller can have it sealed to another key. */
static void the_helper_s_half_is_never_sealed_again(sotto_test *t)
{
    const sotto_report_draft draft = draft_of();
    const sotto_bytes sealed = sealed_of(t, &draft);
    sotto_kept_half kept = keep(t, &draft, HELPER);
    sotto_buf out = sotto_test_buf(t, 4096);

    CHECK_STATUS(t, SOTTO_DENIED, again(t, &out, sealed, &kept));
    CHECK_EQUAL(t, 0, out.len);
    kept = keep(t, &draft, LEADER);
    t->err = (sotto_err){0};
    CHECK_OK(t, again(t, &out, sealed, &kept));
}

static bool contains(sotto_bytes in, const char *text)
{
    for (size_t i = 0; i + strlen(text) <= in.len; i++)
        if (memcmp(in.data + i, text, strlen(text)) == 0)
            return true;
    return false;
}

static void the_helper_s_share_is_not_kept(sotto_test *t)
{
    const sotto_report_draft draft = draft_of();
    const sotto_kept_half kept = keep(t, &draft, LEADER);
    sotto_buf out = sotto_test_buf(t, 4096);
    sotto_kept_half read;

    CHECK_OK(t, sotto_kept_half_encode(&out, &kept, &t->err));
    CHECK_EQUAL(t, sotto_kept_half_size(&kept), out.len);
    CHECK(t, contains(sotto_buf_bytes(&out), "leader's share"));
    CHECK(t, !contains(sotto_buf_bytes(&out), "helper's share"));
    CHECK_OK(t, sotto_kept_half_decode(&read, sotto_buf_bytes(&out), &t->err));
    CHECK_EQUAL(t, LEADER, read.half);
    CHECK(t, sotto_bytes_equal_vartime(kept.share, read.share));
    CHECK(t, sotto_bytes_equal_vartime(kept.party, read.party));
    CHECK(t, sotto_bytes_equal_vartime(kept.key, read.key));
    CHECK_BYTES(t, task_id, read.task, sizeof task_id);
}

/* As devices wrote it until there was version 2. */
static sotto_bytes version_1(sotto_test *t, const sotto_report_draft *draft)
{
    sotto_buf out = sotto_test_buf(t, 4096);
    sotto_writer w = sotto_writer_on(&out);

    sotto_write_uint(&w, 1, 1);
    sotto_write_bytes(&w, sotto_bytes_of(draft->metadata.report_id, SOTTO_REPORT_ID_SIZE));
    sotto_write_uint(&w, draft->metadata.time, 8);
    sotto_write_bytes(&w, sotto_bytes_of(draft->task_id, sizeof draft->task_id));
    sotto_write_opaque16(&w, draft->configuration);
    sotto_write_opaque32(&w, draft->public_share);
    for (unsigned who = 0; who < 2; who++) {
        sotto_write_opaque16(&w, party_of(who));
        sotto_write_opaque16(&w, config_of(t, who, 'T'));
        sotto_write_opaque32(&w, draft->shares[who].payload);
    }
    CHECK_OK(t, sotto_writer_finish(&w, "version 1", &t->err));
    return sotto_buf_bytes(&out);
}

static void a_report_kept_by_version_1_is_sealed_again_for_its_leader_alone(sotto_test *t)
{
    const sotto_report_draft draft = draft_of();
    const sotto_bytes sealed = sealed_of(t, &draft);
    const sotto_test_upload before = {.body = sealed};
    sotto_buf out = sotto_test_buf(t, 4096);
    sotto_kept_half kept;

    CHECK_OK(t, sotto_kept_half_decode(&kept, version_1(t, &draft), &t->err));
    CHECK_EQUAL(t, LEADER, kept.half);
    CHECK(t, sotto_bytes_equal_vartime(draft.shares[LEADER].payload, kept.share));
    CHECK(t, sotto_bytes_equal_vartime(party_of(LEADER), kept.party));
    CHECK(t, sotto_bytes_equal_vartime(config_of(t, LEADER, 'T'), kept.key));
    CHECK(t, sotto_bytes_equal_vartime(draft.configuration, kept.configuration));
    CHECK_BYTES(t, task_id, kept.task, sizeof task_id);
    CHECK_OK(t, again(t, &out, sealed, &kept));
    const sotto_test_upload after = {.body = sotto_buf_bytes(&out)};
    CHECK(t, !sotto_bytes_equal_vartime(before.body, after.body));
    CHECK(t, sotto_bytes_equal_vartime(helpers_half(&before), helpers_half(&after)));
}

/* As version 2 had it: without the seed, which is empty here. */
static sotto_bytes version_2(sotto_test *t, sotto_bytes latest, const sotto_kept_half *kept)
{
    sotto_buf out = sotto_test_buf(t, latest.len);
    const size_t rest = 4 + kept->share.len, head = latest.len - rest - 2;

    memcpy(out.data, latest.data, head);
    memcpy(out.data + head, latest.data + head + 2, rest);
    out.data[0] = 2;
    return sotto_bytes_of(out.data, head + rest);
}

static void what_is_kept_is_read_whole_or_not_at_all(sotto_test *t)
{
    const sotto_report_draft draft = draft_of();
    const sotto_kept_half kept = keep(t, &draft, LEADER);
    sotto_buf out = sotto_test_buf(t, 4096);
    sotto_kept_half read;

    CHECK_OK(t, sotto_kept_half_encode(&out, &kept, &t->err));
    for (unsigned version = 1; version <= 3; version++) {
        sotto_bytes whole = version == 1   ? version_1(t, &draft)
                            : version == 2 ? version_2(t, sotto_buf_bytes(&out), &kept)
                                           : sotto_buf_bytes(&out);

        CHECK_OK(t, sotto_kept_half_decode(&read, whole, &t->err));
        CHECK(t, sotto_bytes_equal_vartime(kept.share, read.share) && read.seed.len == 0);
        for (size_t len = 0; len < whole.len; len++)
            CHECK_STATUS(t, SOTTO_MALFORMED,
                         sotto_kept_half_decode(&read, sotto_bytes_of(whole.data, len), NULL));
    }
    for (unsigned version = 0; version < 256; version++) {
        out.data[0] = (uint8_t)version;
        if (version != 3)
            CHECK_STATUS(t, SOTTO_MALFORMED,
                         sotto_kept_half_decode(&read, sotto_buf_bytes(&out), NULL));
    }
    out.data[0] = 3;
    out.data[1] = 2; /* of neither server */
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_kept_half_decode(&read, sotto_buf_bytes(&out), NULL));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(one_rule_says_which_key_opens_which_half),
        CASE(a_leader_s_word_never_moves_the_helper_s_half),
        CASE(a_device_with_other_keys_makes_reports_that_open_nowhere),
        CASE(a_recipe_may_outlast_a_key),
        CASE(the_helper_s_half_is_never_sealed_again),
        CASE(the_helper_s_share_is_not_kept),
        CASE(a_report_kept_by_version_1_is_sealed_again_for_its_leader_alone),
        CASE(what_is_kept_is_read_whole_or_not_at_all),
    };
    return RUN_TESTS(argc, argv, cases);
}
