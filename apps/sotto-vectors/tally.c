#include "tally.h"

static void print_json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

static void print_json(FILE *out, const char *verdict, const char *file, const char *item,
                       const char *reason)
{
    fputs("{\"file\":", out);
    print_json_string(out, file);
    fputs(",\"item\":", out);
    print_json_string(out, item);
    fprintf(out, ",\"verdict\":\"%s\",\"reason\":", verdict);
    print_json_string(out, reason);
    fputs("}\n", out);
}

static void print(const sotto_tally *tally, const char *verdict, const char *file, const char *item,
                  const char *reason)
{
    if (tally->json) {
        print_json(tally->out, verdict, file, item, reason);
        return;
    }
    fprintf(tally->out, "%-7s %s", verdict, file);
    if (item[0] != 0)
        fprintf(tally->out, " [%s]", item);
    if (reason[0] != 0)
        fprintf(tally->out, ": %s", reason);
    fputc('\n', tally->out);
}

void sotto_tally_pass(sotto_tally *tally, const char *file, const char *item)
{
    tally->passed++;
    if (tally->json || tally->verbose)
        print(tally, "passed", file, item, "");
}

void sotto_tally_fail(sotto_tally *tally, const char *file, const char *item, const char *reason)
{
    tally->failed++;
    print(tally, "failed", file, item, reason);
}

void sotto_tally_skip(sotto_tally *tally, const char *file, const char *item, const char *reason)
{
    tally->skipped++;
    print(tally, "skipped", file, item, reason);
}

void sotto_tally_finish(const sotto_tally *tally)
{
    fprintf(tally->out, "%zu passed, %zu failed, %zu skipped\n", tally->passed, tally->failed,
            tally->skipped);
}
