/* sotto-golden DIR... - holds the accountant against every file of reference numbers below the folders. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "golden.h"
#include "report.h"
#include "support/runner.h"

enum { TEXT_CEILING = 1 << 28 };

static const sotto_golden_format *const formats[] = {
    &sotto_golden_allocation,  &sotto_golden_budget,   &sotto_golden_checkin,
    &sotto_golden_composition, &sotto_golden_discrete, &sotto_golden_gaussian,
    &sotto_golden_histogram,   &sotto_golden_seeds,    &sotto_golden_sgm_eps,
    &sotto_golden_sgm_rdp,     &sotto_golden_shuffle,  &sotto_golden_symohe,
};

/* ---- one file --------------------------------------------------------------------------------- */

static const sotto_golden_format *find_format(const char *header)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i]->header, header) == 0)
            return formats[i];
    return NULL;
}

static double cpu_seconds(void)
{
    struct timespec t = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run_row(sotto_golden_report *report, const sotto_golden_format *format,
                    const char *path, const sotto_golden_row *row)
{
    sotto_golden_answer answer = {0};
    sotto_err err = {0};
    sotto_golden_result result = {.file = path, .line = row->fields->line};

    if (sotto_golden_is(row, "kind", "note")) {
        result.verdict = SOTTO_GOLDEN_SKIPPED;
        result.reason = "a note";
        sotto_golden_report_row(report, &result);
        return;
    }
    double start = cpu_seconds();
    sotto_status status = format->answer(&answer, row, &err);
    result.seconds = cpu_seconds() - start;
    if (status == SOTTO_OK) {
        result.answer = &answer;
        result.verdict = sotto_golden_judge(&answer, row, &err);
    } else {
        result.verdict = status == SOTTO_MISSING ? SOTTO_GOLDEN_SKIPPED : SOTTO_GOLDEN_FAILED;
    }
    result.reason = err.reason;
    sotto_golden_report_row(report, &result);
}

static void run_rows(sotto_golden_report *report, const sotto_golden_format *format,
                     const char *path, sotto_csv *csv)
{
    sotto_csv_row fields = {0};
    sotto_golden_row row = {csv, &fields};

    for (;;) {
        sotto_err err = {0};
        sotto_status status = sotto_csv_next(csv, &fields, &err);

        if (status == SOTTO_MISSING)
            return;
        if (status == SOTTO_OK)
            run_row(report, format, path, &row);
        else
            sotto_golden_report_row(report, &(sotto_golden_result){.file = path,
                                                                   .line = fields.line,
                                                                   .verdict = SOTTO_GOLDEN_FAILED,
                                                                   .reason = err.reason});
    }
}

static void run_file(void *self, const char *path, sotto_arena *arena)
{
    sotto_golden_report *report = self;
    sotto_csv csv;
    sotto_err err = {0};
    sotto_status status = sotto_csv_open(&csv, path, arena, &err);
    const sotto_golden_format *format = find_format(csv.header);

    if (status == SOTTO_OK && format != NULL) {
        run_rows(report, format, path, &csv);
        return;
    }
    /* A file that cannot be read may be anything: only one that is read and unknown is passed over. */
    bool unknown = status == SOTTO_OK || status == SOTTO_MALFORMED;
    sotto_golden_report_row(
        report,
        &(sotto_golden_result){.file = path,
                               .verdict = unknown ? SOTTO_GOLDEN_SKIPPED : SOTTO_GOLDEN_FAILED,
                               .reason = unknown ? "unknown header" : err.reason});
}

/* ---- the command line ------------------------------------------------------------------------- */

static const char usage_text[] =
    "usage: sotto-golden [--json] [-v] DIR...\n"
    "\n"
    "Answers every row of every *.csv below each DIR whose header line is known, from its input\n"
    "columns alone, and holds the answer against the row's value. Files with another header are\n"
    "skipped, by name. The last line is \"N passed, M failed, K skipped\".\n"
    "\n"
    "  --json         one object a row: file, line, low, high, seconds, verdict, reason\n"
    "  -v, --verbose  say what passed, too\n"
    "  -h, --help     this text\n"
    "      --version  which one this is\n"
    "\n"
    "Exit: 0 something passed and nothing failed; 1 otherwise; 2 wrong usage.\n";

int main(int argc, char **argv)
{
    sotto_runner runner = {.name = "sotto-golden",
                           .usage = usage_text,
                           .suffix = ".csv",
                           .run_file = run_file,
                           .ceiling = TEXT_CEILING};
    int code = sotto_runner_parse(&runner, argc, argv);

    if (code >= 0)
        return code;
    sotto_golden_report report = {.out = stdout, .json = runner.json, .verbose = runner.verbose};

    if (!sotto_runner_files(&runner, &report, argc, argv))
        return SOTTO_RUNNER_USAGE;
    sotto_golden_report_finish(&report);
    return sotto_runner_code(report.passed, report.failed);
}
