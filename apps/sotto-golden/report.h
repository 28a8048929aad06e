/* sotto-golden/report.h - counts verdicts and prints them, as text or as one JSON object a row. */
#ifndef SOTTO_GOLDEN_REPORT_H
#define SOTTO_GOLDEN_REPORT_H

#include "golden.h"

#include <stdio.h>

typedef struct sotto_golden_report {
    FILE *out;
    bool json;
    bool verbose; /* as text: say what passed, too */
    size_t passed;
    size_t failed;
    size_t skipped;
    double slowest; /* seconds, and where */
    char slowest_where[200];
} sotto_golden_report;

typedef struct sotto_golden_result {
    const char *file;
    size_t line;                       /* 0: the whole file                         */
    const sotto_golden_answer *answer; /* NULL: there is none                       */
    double seconds;                    /* of processor time, for the answer alone   */
    sotto_golden_verdict verdict;
    const char *reason;
} sotto_golden_result;

void sotto_golden_report_row(sotto_golden_report *report, const sotto_golden_result *result);

/* "N passed, M failed, K skipped", last and on a line of its own. */
void sotto_golden_report_finish(const sotto_golden_report *report);

#endif
