#include "support/test.h"

#include "dap/task_configuration.h"

#include <string.h>

#define URL      "000161"
#define BEFORE   "0166" URL URL "0000000000000e100000000000000064010000"
#define COUNT    "000000010000"
#define INTERVAL "000100100000000000000115000000000000001c"

static sotto_status decode(sotto_test *t, sotto_task_configuration *task, const char *hex,
                           sotto_err *err)
{
    return sotto_task_configuration_decode(task, sotto_test_hex(t, hex), err);
}

static void a_configuration_reads_as_it_stands(sotto_test *t)
{
    sotto_task_configuration task;

    CHECK_OK(t, decode(t, &task, BEFORE COUNT "0014" INTERVAL, &t->err));
    CHECK_EQUAL(t, 3600, task.time_precision);
    CHECK_EQUAL(t, 100, task.min_batch_size);
    CHECK_EQUAL(t, 1, task.batch_mode);
    CHECK_EQUAL(t, SOTTO_PRIO3_COUNT, task.vdaf.type);
    CHECK_EQUAL(t, 2, task.vdaf.shares);
    CHECK(t, task.has_interval);
    CHECK_EQUAL(t, 0x115, task.interval_start);
    CHECK_EQUAL(t, 0x1c, task.interval_duration);
    CHECK_OK(t, sotto_task_configuration_check(&task, 0, &t->err));
}

static void malformed_configurations_are_refused(sotto_test *t)
{
    static const char *const wires[] = {
        /* no task_info, no URL, one that is not ASCII, no precision */
        "00" URL URL "0000000000000e100000000000000064010000" COUNT "0000",
        "01660000" URL "0000000000000e100000000000000064010000" COUNT "0000",
        "0166" URL "00000000000000000e100000000000000064010000" COUNT "0000",
        "0166" URL "0001800000000000000e100000000000000064010000" COUNT "0000",
        "0166" URL URL "00000000000000000000000000000064010000" COUNT "0000",
        /* parameters that are not of their VDAF */
        BEFORE "000000010001000000",
        BEFORE "000000020007000000000000000000",
        BEFORE "0000000300100000000c00000000000000080000000e00",
        BEFORE "0000000400100000000c00000000000000080000000e0000",
        /* extensions: out of order, twice, an invalid interval */
        BEFORE COUNT "001800020000" INTERVAL,
        BEFORE COUNT "0028" INTERVAL INTERVAL,
        BEFORE COUNT "00050001000100",
        /* anonymity: short, long, of nothing, of what we don't know, tokens of no type, a type of no tokens */
        BEFORE COUNT "0006ff0100020100",
        BEFORE COUNT "0008ff01000401000000",
        BEFORE COUNT "0007ff010003000000",
        BEFORE COUNT "0007ff010003080000",
        BEFORE COUNT "0007ff010003020000",
        BEFORE COUNT "0007ff010003010002",
    };
    sotto_task_configuration task;

    for (size_t i = 0; i < sizeof wires / sizeof wires[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED, decode(t, &task, wires[i], &t->err));
}

static void unknown_vdafs_are_missing(sotto_test *t)
{
    static const char *const types[] = {"00000000", "00000006", "00000008", "ffff1003", "ffffffff"};
    sotto_task_configuration task;

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char hex[256] = BEFORE;

        memcpy(hex + strlen(BEFORE), types[i], 8);
        memcpy(hex + strlen(BEFORE) + 8, "00000000", sizeof "00000000");
        CHECK_STATUS(t, SOTTO_MISSING, decode(t, &task, hex, &t->err));
    }
}

static void a_task_that_we_do_not_understand_is_not_taken(sotto_test *t)
{
    sotto_task_configuration task;

    CHECK_OK(t, decode(t, &task, BEFORE COUNT "0018" INTERVAL "00020000", &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_task_configuration_check(&task, 0, &t->err));
    CHECK_REASON(t, "extension 2");
    CHECK_OK(t,
             decode(t, &task, "0166" URL URL "0000000000000e100000000000000064030000" COUNT "0000",
                    &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_task_configuration_check(&task, 0, &t->err));
    CHECK_REASON(t, "batch mode 3");
    CHECK_OK(t, decode(t, &task,
                       "0166" URL URL "0000000000000e10000000000000006401000100" COUNT "0000",
                       &t->err));
    CHECK_STATUS(t, SOTTO_MISSING, sotto_task_configuration_check(&task, 0, &t->err));
}

/* Only a recipe names who issues tokens and which log is meant. */
static void anonymity_is_read_and_asks_for_a_recipe(sotto_test *t)
{
    sotto_task_configuration task;
    uint8_t memory[256];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    const sotto_bytes wire = sotto_test_hex(t, BEFORE COUNT "001b" INTERVAL "ff010003070002");

    CHECK_OK(t, sotto_task_configuration_decode(&task, wire, &t->err));
    CHECK(t, task.has_interval && task.token_type == 2);
    CHECK_EQUAL(t, SOTTO_TASK_RELAY | SOTTO_TASK_TOKENS | SOTTO_TASK_LOG, task.anonymity);
    CHECK_STATUS(t, SOTTO_MISSING, sotto_task_configuration_check(&task, 0, &t->err));
    task.extensions = sotto_bytes_of(NULL, 0);
    CHECK_OK(t, sotto_task_configuration_encode(&out, &task, &t->err));
    CHECK(t, sotto_bytes_equal_vartime(wire, sotto_buf_bytes(&out)));
    task.has_interval = false;
    task.anonymity = SOTTO_TASK_RELAY;
    task.token_type = 0;
    out.len = 0;
    CHECK_OK(t, sotto_task_configuration_encode(&out, &task, &t->err));
    CHECK(t, sotto_bytes_equal_vartime(sotto_test_hex(t, BEFORE COUNT "0007ff010003010000"),
                                       sotto_buf_bytes(&out)));
}

static void lengths_have_four_bytes(sotto_test *t)
{
    const sotto_prio3_config vdaf = {
        .type = SOTTO_PRIO3_HISTOGRAM, .length = (uint64_t)1 << 32, .chunk_length = 1};
    uint8_t memory[64];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    CHECK_STATUS(t, SOTTO_TOO_LARGE, sotto_task_vdaf_encode(&out, &vdaf, &t->err));
    CHECK_EQUAL(t, 0, out.len);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_configuration_reads_as_it_stands),
        CASE(malformed_configurations_are_refused),
        CASE(unknown_vdafs_are_missing),
        CASE(a_task_that_we_do_not_understand_is_not_taken),
        CASE(anonymity_is_read_and_asks_for_a_recipe),
        CASE(lengths_have_four_bytes),
    };

    return RUN_TESTS(argc, argv, cases);
}
