/* Tokens on reports: for which collection, for which report, each refusal by its reason. */
#include "dap/admission.h"

#include "support/tokens.h"

#include <string.h>

static const uint8_t seed[SOTTO_SIGN_SEED] = {7}, other_seed[SOTTO_SIGN_SEED] = {8};

static const sotto_admission_collection collection = {
    .key_id = {1}, .opens = 1000, .closes = 2000, .issuer = {(const uint8_t *)"issuer", 6}};

static sotto_report_draft draft_of(void)
{
    static const char configuration[] = "configuration", public_share[] = "public share";
    sotto_report_draft draft = {.configuration = {(const uint8_t *)configuration, 13},
                                .public_share = {(const uint8_t *)public_share, 12}};

    memcpy(draft.task_id, collection.key_id, sizeof draft.task_id);
    memset(draft.metadata.report_id, 5, sizeof draft.metadata.report_id);
    draft.metadata.time = 12;
    draft.shares[0].payload = sotto_bytes_of("leader's share", 14);
    draft.shares[1].payload = sotto_bytes_of("helper's share", 14);
    return draft;
}

static sotto_bytes aad_of(sotto_test *t, const sotto_report_draft *draft)
{
    sotto_buf aad = sotto_test_buf(t, sotto_report_aad_size(draft));

    CHECK_OK(t, sotto_report_aad_encode(&aad, draft, &t->err));
    CHECK_EQUAL(t, aad.cap, aad.len);
    return sotto_buf_bytes(&aad);
}

static void attach(sotto_test *t, sotto_report_draft *draft, sotto_admission *admission)
{
    sotto_test_issuer issuer;

    sotto_test_issuer_open(t, &issuer, 0);
    CHECK_OK(t, sotto_admission_attach(draft, sotto_test_token(t, &issuer, &collection, seed), seed,
                                       &t->arena, &t->err));
    CHECK_OK(t, sotto_admission_find(admission, draft->metadata.public_extensions, &t->err));
    sotto_test_issuer_close(&issuer);
}

static void a_report_with_its_token_holds_at_both_servers(sotto_test *t)
{
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    uint8_t challenge[SOTTO_TOKEN_DIGEST];
    sotto_test_issuer issuer;

    attach(t, &draft, &admission);
    sotto_test_issuer_open(t, &issuer, 0);
    CHECK_OK(t, sotto_admission_challenge(challenge, &collection, &t->err));
    CHECK_OK(t, sotto_admission_check(&admission, &issuer.key, challenge, &t->err));
    CHECK_EQUAL(t, SOTTO_ADMISSION_PUBLIC, draft.metadata.public_extensions.len);
    for (unsigned who = 0; who < SOTTO_REPORT_SHARES; who++) {
        CHECK_EQUAL(t, SOTTO_ADMISSION_PRIVATE, draft.shares[who].private_extensions.len);
        CHECK_OK(t, sotto_report_extensions_check(
                        draft.metadata.public_extensions, draft.shares[who].private_extensions,
                        sotto_admission_types, SOTTO_ADMISSION_TYPES, &t->err));
        CHECK_OK(t, sotto_admission_check_share(&admission, who, aad_of(t, &draft),
                                                &draft.shares[who], &t->err));
    }
    sotto_test_issuer_close(&issuer);
}

static void refuse(sotto_test *t, const sotto_admission *admission, unsigned which,
                   const sotto_admission_collection *other, const char *why)
{
    uint8_t challenge[SOTTO_TOKEN_DIGEST];
    sotto_test_issuer issuer;

    sotto_test_issuer_open(t, &issuer, which);
    CHECK_OK(t, sotto_admission_challenge(challenge, other, &t->err));
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_admission_check(admission, &issuer.key, challenge, &t->err));
    CHECK_REASON(t, why);
    sotto_test_issuer_close(&issuer);
}

static void a_token_is_for_one_task_window_and_issuer(sotto_test *t)
{
    static const char anothers[] = "another challenge", other_key[] = "another issuer key";
    sotto_admission_collection task = collection, opens = collection, closes = collection,
                               name = collection;
    sotto_report_draft draft = draft_of();
    sotto_admission admission;

    attach(t, &draft, &admission);
    task.key_id[31] = 1;
    opens.opens++;
    closes.closes++;
    name.issuer.len--;
    refuse(t, &admission, 0, &task, anothers);
    refuse(t, &admission, 0, &opens, anothers);
    refuse(t, &admission, 0, &closes, anothers);
    refuse(t, &admission, 0, &name, anothers);
    refuse(t, &admission, 1, &collection, other_key);
    admission.once_key = other_seed;
    refuse(t, &admission, 0, &collection, "another one-time key");
}

/* Whoever has a report and its token, but not the one-time key. */
static void a_token_moves_to_no_other_report(sotto_test *t)
{
    sotto_report_draft draft = draft_of(), other;
    sotto_admission admission;

    attach(t, &draft, &admission);
    for (unsigned change = 0; change < 6; change++) {
        unsigned who = SOTTO_REPORT_HELPER;

        other = draft;
        other.metadata.report_id[3] ^= change == 0;
        other.metadata.time += change == 1;
        other.public_share.len -= change == 2;
        other.shares[who].payload.len -= change == 3;
        other.configuration.len -= change == 4;
        if (change == 5) /* the leader's share, as the helper's */
            other.shares[who] = draft.shares[SOTTO_REPORT_LEADER];
        CHECK_STATUS(t, SOTTO_REJECTED,
                     sotto_admission_check_share(&admission, who, aad_of(t, &other),
                                                 &other.shares[who], &t->err));
        CHECK_REASON(t, "did not make this share");
    }
}

static void a_share_needs_a_signature(sotto_test *t)
{
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    sotto_buf list = sotto_test_buf(t, 8);
    sotto_writer w = sotto_writer_on(&list);

    attach(t, &draft, &admission);
    draft.shares[0].private_extensions.len = 0;
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_admission_check_share(&admission, SOTTO_REPORT_LEADER, aad_of(t, &draft),
                                             &draft.shares[0], &t->err));
    sotto_extension_write(
        &w, &(sotto_extension){SOTTO_EXTENSION_TOKEN_BINDING, sotto_bytes_of("four", 4)});
    draft.shares[0].private_extensions = sotto_buf_bytes(&list);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admission_check_share(&admission, SOTTO_REPORT_LEADER, aad_of(t, &draft),
                                             &draft.shares[0], &t->err));
}

static void a_token_is_attached_once_and_with_its_key(sotto_test *t)
{
    sotto_report_draft draft = draft_of();
    sotto_test_issuer issuer;
    sotto_bytes token;

    sotto_test_issuer_open(t, &issuer, 0);
    token = sotto_test_token(t, &issuer, &collection, seed);
    CHECK_STATUS(t, SOTTO_REJECTED,
                 sotto_admission_attach(&draft, token, other_seed, &t->arena, &t->err));
    CHECK_EQUAL(t, 0, draft.metadata.public_extensions.len);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admission_attach(&draft, sotto_bytes_of(token.data, token.len - 1), seed,
                                        &t->arena, &t->err));
    CHECK_OK(t, sotto_admission_attach(&draft, token, seed, &t->arena, &t->err));
    CHECK_STATUS(t, SOTTO_BUG, sotto_admission_attach(&draft, token, seed, &t->arena, &t->err));
    sotto_test_issuer_close(&issuer);
}

static void what_decodes_encodes_to_the_same_bytes(sotto_test *t)
{
    sotto_report_draft draft = draft_of();
    sotto_admission admission;
    sotto_buf again = sotto_test_buf(t, SOTTO_ADMISSION_DATA);
    sotto_bytes data;
    uint8_t wrong[SOTTO_ADMISSION_DATA + 1] = {0};

    attach(t, &draft, &admission);
    data = sotto_bytes_of(draft.metadata.public_extensions.data + 4, SOTTO_ADMISSION_DATA);
    CHECK_OK(t, sotto_admission_encode(&again, sotto_bytes_of(data.data, SOTTO_TYPE2_TOKEN),
                                       admission.once_key, &t->err));
    CHECK_BYTES(t, data.data, again.data, data.len);
    memcpy(wrong, data.data, data.len);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admission_decode(&admission, sotto_bytes_of(wrong, data.len - 1), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admission_decode(&admission, sotto_bytes_of(wrong, data.len + 1), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_admission_decode(&admission, sotto_bytes_of(wrong, 1), &t->err));
    wrong[1] = 1;
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_admission_decode(&admission, sotto_bytes_of(wrong, data.len), &t->err));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_admission_find(&admission, sotto_bytes_of(NULL, 0), &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_report_with_its_token_holds_at_both_servers),
        CASE(a_token_is_for_one_task_window_and_issuer),
        CASE(a_token_moves_to_no_other_report),
        CASE(a_share_needs_a_signature),
        CASE(a_token_is_attached_once_and_with_its_key),
        CASE(what_decodes_encodes_to_the_same_bytes),
    };
    return RUN_TESTS(argc, argv, cases);
}
