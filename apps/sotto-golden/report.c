#include "report.h"

static const char *const words[] = {"passed", "failed", "skipped"};

static void print_string(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if (*c == '"' || *c == '\\')
            (void)fprintf(out, "\\%c", *c);
        else if (*c < 0x20 || *c >= 0x7f)
            (void)fprintf(out, "\\u%04x",
                          *c); /* a byte, not a character: names may be in any encoding */
        else
            (void)fputc(*c, out);
    }
    (void)fputc('"', out);
}

/* JSON has no infinities, but any exponent. */
static void print_number(FILE *out, double x, bool is_log)
{
    if (!isfinite(x)) {
        (void)fputs("null", out);
    } else if (is_log) {
        long double digits = (long double)x / logl(10.0L), exponent = floorl(digits);
        (void)fprintf(out, "%.15Lge%.0Lf", powl(10.0L, digits - exponent), exponent);
    } else {
        (void)fprintf(out, "%.17g", x);
    }
}

static void print_json(FILE *out, const sotto_golden_result *r)
{
    bool answered = r->answer != NULL && !r->answer->refused;

    (void)fputs("{\"file\":", out);
    print_string(out, r->file);
    (void)fprintf(out, ",\"line\":%zu,\"low\":", r->line);
    print_number(out, answered ? r->answer->value.low : (double)NAN, answered && r->answer->tiny);
    (void)fputs(",\"high\":", out);
    print_number(out, answered ? r->answer->value.high : (double)NAN, answered && r->answer->tiny);
    (void)fprintf(out, ",\"seconds\":%.9f,\"verdict\":\"%s\",\"reason\":", r->seconds,
                  words[r->verdict]);
    print_string(out, r->reason);
    (void)fputs("}\n", out);
}

static void print_text(FILE *out, const sotto_golden_result *r)
{
    (void)fprintf(out, "%-7s %s", words[r->verdict], r->file);
    if (r->line > 0)
        (void)fprintf(out, ":%zu", r->line);
    if (r->reason[0] != 0)
        (void)fprintf(out, ": %s", r->reason);
    else if (r->answer != NULL && !r->answer->refused)
        (void)fprintf(out, r->answer->tiny ? ": e^[%.12g, %.12g]" : ": [%.12g, %.12g]",
                      r->answer->value.low, r->answer->value.high);
    (void)fputc('\n', out);
}

void sotto_golden_report_row(sotto_golden_report *report, const sotto_golden_result *r)
{
    size_t *counts[] = {&report->passed, &report->failed, &report->skipped};

    (*counts[r->verdict])++;
    if (r->seconds > report->slowest) {
        report->slowest = r->seconds;
        (void)snprintf(report->slowest_where, sizeof report->slowest_where, "%s:%zu", r->file,
                       r->line);
    }
    if (report->json)
        print_json(report->out, r);
    else if (report->verbose || r->verdict != SOTTO_GOLDEN_PASSED)
        print_text(report->out, r);
}

void sotto_golden_report_finish(const sotto_golden_report *report)
{
    if (!report->json && report->slowest > 0)
        (void)fprintf(report->out, "slowest %.1f ms: %s\n", report->slowest * 1e3,
                      report->slowest_where);
    (void)fprintf(report->out, "%zu passed, %zu failed, %zu skipped\n", report->passed,
                  report->failed, report->skipped);
}
