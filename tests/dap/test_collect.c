#include "support/test.h"

#include "dap/collect.h"

#define QUERY "010010000000000000d4310000000000003039"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static sotto_status decode(sotto_test *t, const char *hex, sotto_err *err)
{
    sotto_dap_collection_req req;

    return sotto_dap_collection_req_decode(&req, sotto_test_hex(t, hex), err);
}

static void queries_are_of_their_mode(sotto_test *t)
{
    CHECK_OK(t, decode(t, QUERY "000000000000", &t->err));
    CHECK_OK(t, decode(t, "020000000000000000", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, "000000000000000000", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, "030000000000000000", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, "010000000000000000", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, "02000100000000000000", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 decode(t, "010011000000000000d431000000000000303900000000000000", &t->err));
}

static void collection_extensions_are_unknown_and_in_order(sotto_test *t)
{
    CHECK_STATUS(t, SOTTO_MISSING, decode(t, QUERY "00000000000400010000", &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, decode(t, QUERY "0000000000080002000000010000", &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, decode(t, QUERY "0000000000080001000000010000", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, QUERY "00000000000300010000", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, QUERY "000000000005000100020a", &t->err));
}

static void the_collector_s_bytes_are_kept(sotto_test *t)
{
    const sotto_bytes request = sotto_test_hex(t, QUERY "00000001610000");
    const sotto_bytes wire =
        sotto_test_hex(t, QUERY "00000001610000" QUERY "00000000000001b7" ZEROS);
    sotto_dap_aggregate_share_req req;

    CHECK_OK(t, sotto_dap_aggregate_share_req_decode(&req, wire, &t->err));
    CHECK_EQUAL(t, request.len, req.collection_req.len);
    CHECK_BYTES(t, request.data, req.collection_req.data, request.len);
    CHECK_EQUAL(t, 1, req.collection.agg_param.len);
    CHECK_EQUAL(t, 0x1b7, req.report_count);
    CHECK(t, sotto_dap_batch_selector_fits(&req.selector, &req.collection.query));
}

static void share_requests_have_no_unknown_extension_either(sotto_test *t)
{
    const sotto_bytes wire =
        sotto_test_hex(t, QUERY "00000000000400010000" QUERY "00000000000001b7" ZEROS);
    const sotto_bytes twice =
        sotto_test_hex(t, QUERY "0000000000080001000000010000" QUERY "00000000000001b7" ZEROS);
    sotto_dap_aggregate_share_req req;

    CHECK_STATUS(t, SOTTO_MISSING, sotto_dap_aggregate_share_req_decode(&req, wire, &t->err));
    CHECK_STATUS(t, SOTTO_DENIED, sotto_dap_aggregate_share_req_decode(&req, twice, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(queries_are_of_their_mode),
        CASE(collection_extensions_are_unknown_and_in_order),
        CASE(the_collector_s_bytes_are_kept),
        CASE(share_requests_have_no_unknown_extension_either),
    };

    return RUN_TESTS(argc, argv, cases);
}
