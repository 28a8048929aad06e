/* What DAP says in text: media types, problems, ids and paths; and the verification key. */
#include "support/test.h"

#include "dap/dap.h"

#include <string.h>

static sotto_bytes text(const char *words)
{
    return sotto_bytes_of(words, strlen(words));
}

static void media_types_are_read_as_http_writes_them(sotto_test *t)
{
    static const char *const same[] = {
        "application/ppm-dap;message=upload-req",
        "Application/PPM-DAP ; Message=Upload-Req",
        " application/ppm-dap;\tmessage=\"upload-req\"",
        "application/ppm-dap; charset=\"a;message=x\"; message=upload-req",
        "application/ppm-dap;message=upload-req;other=1",
    };
    static const char *const others[] = {
        "",
        "application/ppm-dap",
        "application/ppm-dap;message=upload-reqs",
        "application/ppm-dap;message=upload",
        "application/ppm-dap;message=\"upload-req",
        "application/ppm-dap;message=upload-errors",
        "application/ppm-dapx;message=upload-req",
        "application/json;message=upload-req",
        "application/ppm-dap;message=upload-errors;message=upload-req",
        "application/ppm-dap;\"message=upload-req",
    };

    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        CHECK(t, sotto_dap_media_type_is(SOTTO_DAP_UPLOAD_REQ, same[i]));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        CHECK(t, !sotto_dap_media_type_is(SOTTO_DAP_UPLOAD_REQ, others[i]));
    CHECK(t, !sotto_dap_media_type_is(SOTTO_DAP_UPLOAD_REQ, NULL));
    for (int i = 0; i < SOTTO_DAP_MESSAGES; i++)
        for (int j = 0; j < SOTTO_DAP_MESSAGES; j++)
            CHECK_EQUAL(t, i == j,
                        sotto_dap_media_type_is((sotto_dap_message)i,
                                                sotto_dap_media_type((sotto_dap_message)j)));
}

static void problems_have_their_urn_and_status(sotto_test *t)
{
    for (int i = 0; i < SOTTO_DAP_PROBLEMS; i++) {
        const sotto_dap_problem problem = (sotto_dap_problem)i;
        const int status = sotto_dap_problem_status(problem);

        CHECK_EQUAL(t, problem, sotto_dap_problem_of(sotto_dap_problem_type(problem)));
        CHECK(t, sotto_dap_problem_title(problem)[0] != '\0');
        CHECK(t, status >= 400 && status < 500);
    }
    CHECK(t, strcmp("urn:ietf:params:ppm:dap:error:batchMismatch",
                    sotto_dap_problem_type(SOTTO_DAP_BATCH_MISMATCH)) == 0);
    CHECK_EQUAL(t, SOTTO_DAP_PROBLEMS, sotto_dap_problem_of("about:blank"));
    CHECK_EQUAL(t, SOTTO_DAP_UNSUPPORTED_EXTENSION, sotto_dap_problem_of_status(SOTTO_MISSING));
    CHECK_EQUAL(t, SOTTO_DAP_INVALID_EXTENSION, sotto_dap_problem_of_status(SOTTO_DENIED));
    CHECK_EQUAL(t, SOTTO_DAP_INVALID_MESSAGE, sotto_dap_problem_of_status(SOTTO_MALFORMED));
}

static void report_errors_have_names(sotto_test *t)
{
    CHECK(t, strcmp("batch_collected", sotto_dap_report_error_name(1)) == 0);
    CHECK(t, strcmp("outdated_config", sotto_dap_report_error_name(11)) == 0);
    CHECK(t, strcmp("unknown", sotto_dap_report_error_name(0)) == 0);
    CHECK(t, strcmp("token_invalid", sotto_dap_report_error_name(12)) == 0);
    CHECK(t, strcmp("token_spent", sotto_dap_report_error_name(13)) == 0);
    CHECK(t, strcmp("unknown", sotto_dap_report_error_name(14)) == 0);
    CHECK(t, strcmp("unknown", sotto_dap_report_error_name(255)) == 0);
}

static void ids_have_one_spelling(sotto_test *t)
{
    uint8_t id[SOTTO_TASK_ID_SIZE], again[SOTTO_TASK_ID_SIZE];
    char spelled[SOTTO_DAP_ID_TEXT_MAX];

    for (size_t size = 1; size <= sizeof id; size++) {
        for (size_t i = 0; i < size; i++)
            id[i] = (uint8_t)(251 * i + 7 * size + 0xf8);
        sotto_dap_id_encode(spelled, sotto_bytes_of(id, size));
        CHECK_EQUAL(t, (4 * size + 2) / 3, strlen(spelled));
        CHECK_OK(t, sotto_dap_id_decode(again, size, text(spelled), &t->err));
        CHECK_BYTES(t, id, again, size);
    }
    /* "AQ" is 01; the four bits behind it are zeros in one of 16 spellings only. */
    CHECK_OK(t, sotto_dap_id_decode(id, 1, text("AQ"), &t->err));
    CHECK_EQUAL(t, 1, id[0]);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dap_id_decode(id, 1, text("AR"), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dap_id_decode(id, 1, text("AQ=="), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dap_id_decode(id, 1, text("A"), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dap_id_decode(id, 3, text("ab+/"), &t->err));
    CHECK_OK(t, sotto_dap_id_decode(id, 3, text("ab-_"), &t->err));
}

#define TASK "8BY0RzZMzxvA46_8ymhzycOB9krN-QIGYvg_RsByGec"
#define JOB  "lc7aUeGpdSNosNlh-UZhKA"

static void paths_survive(sotto_test *t)
{
    static const char *const paths[] = {
        "/hpke_config",
        "/tasks/" TASK "/reports",
        "/tasks/" TASK "/aggregation_jobs",
        "/tasks/" TASK "/aggregation_jobs/" JOB,
        "/tasks/" TASK "/aggregation_jobs/" JOB "?step=0",
        "/tasks/" TASK "/aggregation_jobs/" JOB "?step=65535",
        "/tasks/" TASK "/collection_jobs",
        "/tasks/" TASK "/collection_jobs/" JOB,
        "/tasks/" TASK "/aggregate_shares",
        "/tasks/" TASK "/aggregate_shares/" JOB,
    };

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        uint8_t memory[256];
        sotto_buf out = sotto_buf_over(memory, sizeof memory);
        sotto_dap_path path;

        CHECK_OK(t, sotto_dap_path_decode(&path, text(paths[i]), &t->err));
        CHECK_OK(t, sotto_dap_path_encode(&out, text("https://a/b/"), &path, &t->err));
        CHECK_EQUAL(t, strlen("https://a/b") + strlen(paths[i]), out.len);
        CHECK_BYTES(t, paths[i], memory + strlen("https://a/b"), strlen(paths[i]));
    }
}

static void other_paths_are_refused(sotto_test *t)
{
    static const struct {
        const char *path;
        sotto_status status;
    } cases[] = {
        {"", SOTTO_MISSING},
        {"/", SOTTO_MISSING},
        {"tasks", SOTTO_MISSING},
        {"/hpke_config/", SOTTO_MISSING},
        {"/hpke_configs", SOTTO_MISSING},
        {"/hpke_config/x", SOTTO_MISSING},
        {"/tasks/" TASK, SOTTO_MISSING},
        {"/tasks/" TASK "/report", SOTTO_MISSING},
        {"/tasks/" TASK "/hpke_config", SOTTO_MISSING},
        {"/tasks/" TASK "/reports/", SOTTO_MISSING},
        {"/tasks/" TASK "/reports/" JOB, SOTTO_MISSING},
        {"/tasks/" TASK "/collection_jobs/" JOB "/x", SOTTO_MISSING},
        {"/tasks/" TASK "/collection_jobs/", SOTTO_MALFORMED},
        {"/tasks/" TASK "/collection_jobs/" TASK, SOTTO_MALFORMED},
        {"/tasks//collection_jobs", SOTTO_MALFORMED},
        {"/tasks/" JOB "/collection_jobs", SOTTO_MALFORMED},
        {"/tasks/" TASK "/aggregation_jobs/" JOB "?", SOTTO_MALFORMED},
        {"/tasks/" TASK "/aggregation_jobs/" JOB "?step=", SOTTO_MALFORMED},
        {"/tasks/" TASK "/aggregation_jobs/" JOB "?step=65536", SOTTO_MALFORMED},
        {"/tasks/" TASK "/aggregation_jobs/" JOB "?step=01", SOTTO_MALFORMED},
        {"/tasks/" TASK "/aggregation_jobs/" JOB "?step=1x", SOTTO_MALFORMED},
        {"/tasks/" TASK "/aggregation_jobs/" JOB "?steps=1", SOTTO_MALFORMED},
    };
    sotto_dap_path path;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_STATUS(t, cases[i].status,
                     sotto_dap_path_decode(&path, text(cases[i].path), &t->err));
}

static void the_verification_key_comes_of_seed_and_task(sotto_test *t)
{
    const sotto_bytes seed =
        sotto_test_hex(t, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    const sotto_bytes id =
        sotto_test_hex(t, "35848a898adb146b559385247c7e49db1cbd28af52e3c11cfb01d4fc4b490479");
    const sotto_bytes dap =
        sotto_test_hex(t, "62373b194870d72517396a4a0ef4e5db4222ec9ac809cba2670300a7bb21c88f");
    const sotto_bytes taskprov =
        sotto_test_hex(t, "b8e92261737fbd368b4cd5b17fdafd6d8fe587f2696df6cd07b618167c2c83d0");
    uint8_t key[SOTTO_DAP_VERIFY_KEY_SIZE];

    CHECK_OK(t, sotto_dap_verify_key_derive(key, seed, id.data, SOTTO_DAP_SALT_DAP, &t->err));
    CHECK_BYTES(t, dap.data, key, sizeof key);
    CHECK_OK(t, sotto_dap_verify_key_derive(key, seed, id.data, SOTTO_DAP_SALT_TASKPROV, &t->err));
    CHECK_BYTES(t, taskprov.data, key, sizeof key);
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_dap_verify_key_derive(key, sotto_bytes_of(seed.data, 31), id.data,
                                             SOTTO_DAP_SALT_DAP, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(media_types_are_read_as_http_writes_them),
        CASE(problems_have_their_urn_and_status),
        CASE(report_errors_have_names),
        CASE(ids_have_one_spelling),
        CASE(paths_survive),
        CASE(other_paths_are_refused),
        CASE(the_verification_key_comes_of_seed_and_task),
    };

    return RUN_TESTS(argc, argv, cases);
}
