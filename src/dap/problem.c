/* Problem types and report errors by their names (DAP, "Errors" and "Basic Type Definitions"). */
#include "dap/dap.h"

#include <string.h>

#define URN "urn:ietf:params:ppm:dap:error:"

static const struct {
    const char *type;
    const char *title;
    int status;
} problems[SOTTO_DAP_PROBLEMS] = {
    [SOTTO_DAP_INVALID_MESSAGE] = {URN "invalidMessage",
                                   "The message could not be parsed or was otherwise invalid.",
                                   400},
    [SOTTO_DAP_UNRECOGNIZED_TASK] = {URN "unrecognizedTask", "There is no task of this id.", 404},
    [SOTTO_DAP_UNRECOGNIZED_AGGREGATION_JOB] = {URN "unrecognizedAggregationJob",
                                                "There is no aggregation job of this id.", 404},
    [SOTTO_DAP_BATCH_INVALID] = {URN "batchInvalid", "The query's batch boundaries are invalid.",
                                 400},
    [SOTTO_DAP_INVALID_BATCH_SIZE] = {URN "invalidBatchSize",
                                      "The number of reports in the batch is invalid.", 400},
    [SOTTO_DAP_INVALID_AGGREGATION_PARAMETER] = {URN "invalidAggregationParameter",
                                                 "The aggregation parameter is invalid.", 400},
    [SOTTO_DAP_BATCH_MISMATCH] = {URN "batchMismatch",
                                  "The aggregators disagree on the reports of the batch.", 400},
    [SOTTO_DAP_STEP_MISMATCH] = {URN "stepMismatch",
                                 "The aggregators disagree on the step of the job.", 400},
    [SOTTO_DAP_BATCH_OVERLAP] = {URN "batchOverlap",
                                 "The query includes reports that were collected before.", 400},
    [SOTTO_DAP_UNSUPPORTED_EXTENSION] = {URN "unsupportedExtension",
                                         "The message has an unknown extension.", 400},
    [SOTTO_DAP_INVALID_EXTENSION] = {URN "invalidExtension",
                                     "The extensions are out of order or badly encoded.", 400},
};

const char *sotto_dap_problem_type(sotto_dap_problem problem)
{
    return problems[problem].type;
}

const char *sotto_dap_problem_title(sotto_dap_problem problem)
{
    return problems[problem].title;
}

int sotto_dap_problem_status(sotto_dap_problem problem)
{
    return problems[problem].status;
}

sotto_dap_problem sotto_dap_problem_of(const char *type)
{
    unsigned found = 0;

    while (found < SOTTO_DAP_PROBLEMS && strcmp(problems[found].type, type) != 0)
        found++;
    return (sotto_dap_problem)found;
}

sotto_dap_problem sotto_dap_problem_of_status(sotto_status status)
{
    switch (status) {
    case SOTTO_MISSING:
        return SOTTO_DAP_UNSUPPORTED_EXTENSION;
    case SOTTO_DENIED:
        return SOTTO_DAP_INVALID_EXTENSION;
    default:
        return SOTTO_DAP_INVALID_MESSAGE;
    }
}

const char *sotto_dap_report_error_name(uint8_t error)
{
    static const char *const names[SOTTO_REPORT_ERRORS] = {
        [SOTTO_REPORT_BATCH_COLLECTED] = "batch_collected",
        [SOTTO_REPORT_REPLAYED] = "report_replayed",
        [SOTTO_REPORT_DROPPED] = "report_dropped",
        [SOTTO_REPORT_HPKE_UNKNOWN_CONFIG_ID] = "hpke_unknown_config_id",
        [SOTTO_REPORT_HPKE_DECRYPT_ERROR] = "hpke_decrypt_error",
        [SOTTO_REPORT_VDAF_VERIFY_ERROR] = "vdaf_verify_error",
        [SOTTO_REPORT_TASK_EXPIRED] = "task_expired",
        [SOTTO_REPORT_INVALID_MESSAGE] = "invalid_message",
        [SOTTO_REPORT_TOO_EARLY] = "report_too_early",
        [SOTTO_REPORT_TASK_NOT_STARTED] = "task_not_started",
        [SOTTO_REPORT_OUTDATED_CONFIG] = "outdated_config",
        [SOTTO_REPORT_TOKEN_INVALID] = "token_invalid",
        [SOTTO_REPORT_TOKEN_SPENT] = "token_spent",
    };

    return error < SOTTO_REPORT_ERRORS && names[error] ? names[error] : "unknown";
}
