/* A device that gets its tokens from a real attester and a real issuer, over HTTP, through the one exchange that its host has. */
#include "crypto/hash.h"
#include "seal/token/attested.h"
#include "support/attested.h"
#include "support/database.h"
#include "support/wallet.h"

#include <stdio.h>
#include <string.h>

static sotto_test_phone phone;
static sotto_test_attested services;
static const uint8_t enrolment[SOTTO_DEVICE_ENROLMENT] = {9};
static unsigned dropped; /* answers that get lost */

/* ---- the host: HTTP for the device --------------------------------------------------------------------------- */

static sotto_status no_head(sotto_exchange *exchange, const sotto_exchange_head *head)
{
    (void)exchange;
    (void)head;
    return SOTTO_OK;
}

static sotto_status no_piece(sotto_exchange *exchange, const uint8_t *piece, size_t len)
{
    (void)exchange;
    (void)piece;
    (void)len;
    return SOTTO_OK;
}

static sotto_status carry(void *context, sotto_exchange *exchange)
{
    sotto_exchange lost = *exchange;

    if (dropped == 0)
        return sotto_test_attested_carry(phone.t, &services, exchange);
    dropped--;
    lost.begin = no_head;
    lost.take = no_piece;
    (void)context;
    (void)sotto_test_attested_carry(phone.t, &services, &lost);
    return SOTTO_IO;
}

/* ---- a platform that attests its devices: their name, and a hash of it with the text and a secret -------------------- */

enum { NAME = SOTTO_ATTESTER_ID, PROVED = NAME + 32 };

static struct {
    sotto_status status; /* of the platform               */
    bool other;          /* bound to another text         */
    size_t longer;       /* than there is room            */
    unsigned calls;
} platform;

static void prove(uint8_t out[PROVED], const uint8_t name[NAME], sotto_bytes text, bool other)
{
    uint8_t bytes[NAME + 1 + SOTTO_ATTESTED_TEXT];

    memcpy(out, name, NAME);
    memcpy(bytes, name, NAME);
    bytes[NAME] = other ? 1 : 77;
    memcpy(bytes + NAME + 1, text.data, text.len);
    sotto_hash_once(out + NAME, SOTTO_SHA256, sotto_bytes_of(bytes, NAME + 1 + text.len));
}

static sotto_status attest(void *context, uint8_t *evidence, size_t room, size_t *len,
                           sotto_bytes text, sotto_err *err)
{
    static const uint8_t name[NAME] = {4, 5, 6};

    (void)context;
    platform.calls++;
    if (platform.status != SOTTO_OK)
        return sotto_fail(err, platform.status, "the platform is busy");
    prove(evidence, name, text, platform.other);
    *len = platform.longer ? room + platform.longer : PROVED;
    return SOTTO_OK;
}

static sotto_status check_proof(void *context, uint8_t device[NAME], sotto_bytes evidence,
                                sotto_bytes text, sotto_err *err)
{
    uint8_t wanted[PROVED];

    (void)context;
    if (evidence.len != PROVED)
        return sotto_fail(err, SOTTO_REJECTED, "evidence: of another length");
    memcpy(device, evidence.data, NAME);
    prove(wanted, device, text, false);
    return memcmp(wanted, evidence.data, PROVED) == 0
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_REJECTED, "evidence: of something else");
}

/* Collections of these two days, and the issuer's list of them, signed. */
static sotto_bytes list_of(sotto_test *t)
{
    for (int day = 0; day < 2; day++)
        sotto_test_attested_collect(t, &services, SOTTO_TEST_ANALYSIS,
                                    SOTTO_TEST_OPENS + day * 86400, INT64_C(99999999990) + day);
    return sotto_test_sign_list(t, SOTTO_TEST_ISSUER_SEED, sotto_test_attested_list(t, &services));
}

static void start_with(sotto_test *t, const sotto_attestation *attestation)
{
    char parties[400];

    sotto_test_attested_open(t, &services, attestation);
    sotto_test_phone_init(t, &phone, sotto_test_token_policy(t));
    (void)snprintf(parties, sizeof parties,
                   "{\"key:attester\": {\"role\": \"attester\", \"url\": \"http://127.0.0.1:%u/\"},"
                   " \"key:leader",
                   sotto_host_port(services.attester));
    phone.options.parties = sotto_test_replace(
        t, (const char *)sotto_test_server_parties(t, 1).data, "{\"key:leader", parties);
    phone.options.host.exchange = carry;
    phone.options.enrolment = attestation ? NULL : enrolment;
    phone.options.host.attest = attestation ? attest : NULL;
    phone.now = SOTTO_TEST_OPENS - 5 * 86400;
    dropped = 0;
    sotto_test_phone_in_files(&phone);
    sotto_test_phone_open(&phone);
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
}

static void start(sotto_test *t)
{
    start_with(t, NULL);
}

static void finish(void)
{
    sotto_test_phone_close(&phone);
    sotto_test_attested_close(&services);
}

typedef struct tally {
    size_t of[SOTTO_TOKEN_REFUSED + 1];
} tally;

static sotto_status count_line(void *context, const sotto_token_line *line, sotto_err *err)
{
    (void)err;
    ((tally *)context)->of[line->state]++;
    return SOTTO_OK;
}

static size_t with(sotto_test *t, sotto_token_state state)
{
    tally all = {{0}};

    CHECK_OK(t, sotto_device_tokens(phone.device, count_line, &all, &t->err));
    return all.of[state];
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void a_device_has_its_tokens_through_the_exchange(sotto_test *t)
{
    start(t);
    const sotto_bytes list = list_of(t);
    CHECK_OK(t, sotto_device_take_issuer_keys(phone.device, list, &t->err));
    CHECK_EQUAL(t, 2, with(t, SOTTO_TOKEN_PLANNED));
    phone.now = SOTTO_TEST_OPENS + 86400;
    (void)sotto_test_tick(&phone); /* not enrolled yet: 403 is for another day */
    CHECK_EQUAL(t, 2, with(t, SOTTO_TOKEN_ASKED));
    sotto_test_attested_enrol(t, &services, enrolment);
    dropped = 1;
    phone.now += 3600; /* it waits after a failure, and longer after a second one */
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 1, with(t, SOTTO_TOKEN_HELD));
    sotto_test_phone_open(&phone);
    phone.now += 3600;
    (void)sotto_test_tick(&phone); /* the lost one is asked for again, and is no second token */
    CHECK_EQUAL(t, 2, with(t, SOTTO_TOKEN_HELD));
    CHECK_EQUAL(t, 2,
                sotto_test_ask_number(t, services.attester->db, "SELECT count(*) FROM issuance"));
    finish();
}

static void a_device_that_was_reset_is_refused(sotto_test *t)
{
    start(t);
    sotto_test_attested_enrol(t, &services, enrolment);
    const sotto_bytes list = list_of(t);
    CHECK_OK(t, sotto_device_take_issuer_keys(phone.device, list, &t->err));
    phone.now = SOTTO_TEST_OPENS + 86400;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 2, with(t, SOTTO_TOKEN_HELD));
    CHECK_OK(t, sotto_device_reset(phone.device, &t->err));
    CHECK_EQUAL(t, 0, with(t, SOTTO_TOKEN_HELD));
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    phone.now = SOTTO_TEST_OPENS - 86400;
    CHECK_OK(t, sotto_device_take_issuer_keys(phone.device, list, &t->err));
    phone.now = SOTTO_TEST_OPENS + 2 * 86400;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 2, with(t, SOTTO_TOKEN_REFUSED));
    finish();
}

/* Both ends of the plug-in. What the platform can't give now, and what the attester does not believe, is tried again later; a reset
 * makes no other device of it. */
static void a_device_is_attested_by_its_platform(sotto_test *t)
{
    static const sotto_attestation own = {check_proof, NULL};
    const sotto_conditions good = {true, true, true};

    memset(&platform, 0, sizeof platform);
    start_with(t, &own);
    const sotto_bytes list = list_of(t);
    CHECK_OK(t, sotto_device_take_issuer_keys(phone.device, list, &t->err));
    phone.now = SOTTO_TEST_OPENS + 86400;
    for (int fault = 0; fault < 3; fault++) {
        platform.status = fault == 0 ? SOTTO_IO : SOTTO_OK;
        platform.longer = fault == 1;
        platform.other = fault == 2;
        (void)!sotto_device_tick(phone.device, NULL, good, NULL);
        CHECK(t, platform.calls > 0);
        CHECK_EQUAL(t, 0, with(t, SOTTO_TOKEN_HELD) + with(t, SOTTO_TOKEN_REFUSED));
        CHECK_EQUAL(
            t, 0, sotto_test_ask_number(t, services.attester->db, "SELECT count(*) FROM issuance"));
        platform.calls = 0;
        phone.now += 6 * 3600;
    }
    platform.other = false;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 2, with(t, SOTTO_TOKEN_HELD));
    CHECK_OK(t, sotto_device_reset(phone.device, &t->err));
    CHECK_OK(t, sotto_device_consent(phone.device, true, &t->err));
    phone.now = SOTTO_TEST_OPENS - 86400;
    CHECK_OK(t, sotto_device_take_issuer_keys(phone.device, list, &t->err));
    phone.now = SOTTO_TEST_OPENS + 4 * 86400;
    (void)sotto_test_tick(&phone);
    CHECK_EQUAL(t, 2, with(t, SOTTO_TOKEN_REFUSED));
    finish();
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_device_has_its_tokens_through_the_exchange),
        CASE(a_device_that_was_reset_is_refused),
        CASE(a_device_is_attested_by_its_platform),
    };

    return RUN_TESTS(argc, argv, cases);
}
