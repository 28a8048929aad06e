#include "support/test.h"

#include "dap/report.h"

#include <string.h>

static sotto_status check(sotto_test *t, const char *public_list, const char *private_list,
                          sotto_err *err)
{
    static const uint16_t known[] = {1, 5, 9};

    return sotto_report_extensions_check(sotto_test_hex(t, public_list),
                                         sotto_test_hex(t, private_list), known, 3, err);
}

static void extensions_increase_within_and_differ_between_lists(sotto_test *t)
{
    CHECK_OK(t, check(t, "", "", &t->err));
    CHECK_OK(t, check(t, "00010000", "00050001aa", &t->err));
    CHECK_OK(t, check(t, "0001000000090000", "00050000", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, check(t, "0005000000010000", "", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, check(t, "", "0005000000010000", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, check(t, "0001000000010000", "", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, check(t, "", "0001000000010000", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, check(t, "0001000000090000", "00090000", &t->err));
    CHECK_REASON(t, "both public and private");
    CHECK_STATUS(t, SOTTO_MALFORMED, check(t, "00090000", "000100000005000000090000", &t->err));
}

static void extensions_are_known(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MISSING, check(t, "00020000", "", &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, check(t, "", "00020000", &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, check(t, "00000000", "", &t->err));
    CHECK_STATUS(t, SOTTO_MISSING,
                 sotto_report_extensions_check(sotto_test_hex(t, "00010000"),
                                               sotto_bytes_of(NULL, 0), NULL, 0, &t->err));
}

static void lists_that_do_not_parse_are_malformed(sotto_test *t)
{
    static const char *const lists[] = {"00", "0001", "000100", "00010001", "0001000000"};

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        CHECK_STATUS(t, SOTTO_MALFORMED, check(t, lists[i], "", &t->err));
        CHECK_STATUS(t, SOTTO_MALFORMED, check(t, "", lists[i], &t->err));
    }
}

static void plaintexts_are_checked_when_decoded(sotto_test *t)
{
    sotto_plaintext_input_share share;

    CHECK_OK(t, sotto_plaintext_input_share_decode(
                    &share, sotto_test_hex(t, "0008000000000001000000000002aabb"), &t->err));
    CHECK_EQUAL(t, 8, share.private_extensions.len);
    CHECK_EQUAL(t, 2, share.payload.len);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_plaintext_input_share_decode(
                     &share, sotto_test_hex(t, "0008000100000000000000000002aabb"), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_plaintext_input_share_decode(
                     &share, sotto_test_hex(t, "0008000100000001000000000002aabb"), &t->err));
}

static void labels_are_dap_s(sotto_test *t)
{
    uint8_t info[SOTTO_DAP_INFO_MAX], context[SOTTO_DAP_CONTEXT_SIZE];
    const uint8_t id[SOTTO_TASK_ID_SIZE] = {0xaa, [31] = 0xbb};
    sotto_bytes got = sotto_input_share_info(info, SOTTO_DAP_HELPER);

    CHECK_EQUAL(t, 20, got.len);
    CHECK_BYTES(t, "dap-18 input share\1\3", got.data, got.len);
    got = sotto_aggregate_share_info(info, SOTTO_DAP_LEADER);
    CHECK_EQUAL(t, 24, got.len);
    CHECK_BYTES(t, "dap-18 aggregate share\2\0", got.data, got.len);
    sotto_dap_context(context, id);
    CHECK_BYTES(t, "dap-18\xaa", context, 7);
    CHECK_EQUAL(t, 0xbb, context[SOTTO_DAP_CONTEXT_SIZE - 1]);
}

static void empty_ciphertexts_are_malformed(sotto_test *t)
{
    sotto_hpke_ciphertext sealed;

    CHECK_OK(
        t, sotto_hpke_ciphertext_decode(&sealed, sotto_test_hex(t, "010001aa00000001bb"), &t->err));
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_hpke_ciphertext_decode(&sealed, sotto_test_hex(t, "01000000000001bb"), &t->err));
    CHECK_STATUS(
        t, SOTTO_MALFORMED,
        sotto_hpke_ciphertext_decode(&sealed, sotto_test_hex(t, "010001aa00000000"), &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(extensions_increase_within_and_differ_between_lists),
        CASE(extensions_are_known),
        CASE(lists_that_do_not_parse_are_malformed),
        CASE(plaintexts_are_checked_when_decoded),
        CASE(labels_are_dap_s),
        CASE(empty_ciphertexts_are_malformed),
    };

    return RUN_TESTS(argc, argv, cases);
}
