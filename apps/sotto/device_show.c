/* What the device verbs show, for people or as lines of JSON. */
#include "device.h"

#include "base/hex.h"
#include "recipe/calendar.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- printing --------------------------------------------------------------------------------------------- */

void sotto_device_print_json(json_t *value)
{
    if (!value || json_dumpf(value, stdout, JSON_COMPACT) != 0)
        (void)fprintf(stderr, "sotto device: could not write JSON\n");
    json_decref(value);
    printf("\n");
}

void sotto_device_print_text(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        /* 0xc2 and a byte below 0xa0 is a control code too, to some terminals. */
        if (c < 0x20 || c == 0x7f ||
            (c >= 0x80 && c < 0xa0 && i > 0 && (unsigned char)text[i - 1] == 0xc2))
            printf("\\x%02x", c);
        else
            (void)putchar(c);
    }
}

static void print_time(int64_t seconds)
{
    char text[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(text, seconds);
    printf("%s", text);
}

json_t *sotto_device_json_time(int64_t seconds)
{
    char text[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(text, seconds);
    return json_string(text);
}

json_t *sotto_device_json_hex(sotto_bytes bytes)
{
    enum { MOST = (1 << 20) / 8 + 8 };
    static char text[2 * MOST + 1];
    size_t len = bytes.len < MOST ? bytes.len : MOST;

    sotto_hex_encode(text, sotto_bytes_of(bytes.data, len));
    return json_stringn(text, 2 * len);
}

void sotto_device_print_bits(sotto_bytes bits, const char *indent)
{
    enum { A_LINE = 32 };

    for (size_t i = 0; i < bits.len; i++) {
        if (i % A_LINE == 0)
            printf("%s%s", i ? "\n" : "", indent);
        printf("%02x", bits.data[i]);
    }
    printf("\n");
}

/* ---- events ----------------------------------------------------------------------------------------------- */

typedef struct event_view {
    const sotto_device_job *job;
    const sotto_stream *stream;
    uint64_t shown;
} event_view;

static json_t *json_value(const sotto_value *value)
{
    switch (value->type) {
    case SOTTO_TYPE_INTEGER:
        return json_integer(value->as.integer);
    case SOTTO_TYPE_REAL:
        return json_real(value->as.real);
    case SOTTO_TYPE_BOOLEAN:
        return json_boolean(value->as.integer != 0);
    case SOTTO_TYPE_TEXT:
        return json_stringn((const char *)value->as.text.data, value->as.text.len);
    case SOTTO_TYPE_NULL:
        break;
    }
    return json_null();
}

static void print_value(const sotto_value *value)
{
    switch (value->type) {
    case SOTTO_TYPE_INTEGER:
        printf("%" PRId64, value->as.integer);
        break;
    case SOTTO_TYPE_REAL:
        printf("%.17g", value->as.real);
        break;
    case SOTTO_TYPE_BOOLEAN:
        printf(value->as.integer ? "true" : "false");
        break;
    case SOTTO_TYPE_TEXT:
        sotto_device_print_text((const char *)value->as.text.data, value->as.text.len);
        break;
    case SOTTO_TYPE_NULL:
        printf("-");
        break;
    }
}

static sotto_status show_event(void *context, const sotto_value *values, size_t count,
                               sotto_err *err)
{
    event_view *v = context;
    size_t fields = v->stream->field_count;
    json_t *line = json_object();

    (void)err;
    v->shown++;
    if (v->job->json && count == fields + 1) {
        (void)json_object_set_new(line, SOTTO_STORE_TIME,
                                  sotto_device_json_time(values[fields].as.integer));
        for (size_t i = 0; i < fields; i++)
            (void)json_object_set_new(line, v->stream->fields[i].name, json_value(&values[i]));
        sotto_device_print_json(line);
        return SOTTO_OK;
    }
    json_decref(line);
    print_time(values[count - 1].as.integer);
    for (size_t i = 0; i + 1 < count; i++) {
        printf("  %s=", v->stream->fields[i].name);
        print_value(&values[i]);
    }
    printf("\n");
    return SOTTO_OK;
}

int sotto_device_run_events(sotto_device_job *job)
{
    event_view v = {.job = job};

    for (size_t i = 0; i < job->options.stream_count; i++)
        if (strcmp(job->options.streams[i].name, job->words[0]) == 0)
            v.stream = &job->options.streams[i];
    if (!v.stream) {
        (void)sotto_fail(&job->err, SOTTO_MISSING, "no stream '%.60s' in %.60s", job->words[0],
                         job->streams);
        return sotto_device_complain(job);
    }
    if (sotto_device_events(job->device, job->words[0], job->most, show_event, &v, &job->err) !=
        SOTTO_OK)
        return sotto_device_complain(job);
    if (v.shown == 0 && !job->json)
        printf("No events in %s.\n", job->words[0]);
    return EXIT_DONE;
}

/* ---- recipes ---------------------------------------------------------------------------------------------- */

typedef struct known {
    const char *name, *analysis, *query;
    uint64_t version;
    int64_t opens, closes;
} known;

typedef struct recipe_list {
    sotto_device_job *job;
    size_t count;
    known items[SOTTO_DEVICE_MAX_RECIPES];
} recipe_list;

/* Kept, since the device can't be asked why while it is listing. */
static sotto_status collect(void *context, const sotto_known_recipe *recipe, sotto_err *err)
{
    recipe_list *list = context;
    known *k = &list->items[list->count];

    if (list->count == SOTTO_DEVICE_MAX_RECIPES)
        return SOTTO_OK;
    *k = (known){.name = sotto_device_keep(list->job, recipe->recipe),
                 .analysis = sotto_device_keep(list->job, recipe->analysis),
                 .query = sotto_device_keep(list->job, recipe->query),
                 .version = recipe->version,
                 .opens = recipe->opens,
                 .closes = recipe->closes};
    list->count++;
    return k->name && k->analysis && k->query ? SOTTO_OK
                                              : sotto_fail(err, SOTTO_NO_MEMORY, "recipes");
}

/* As a tick would find it that is tried out with these conditions, whatever the last one met with. */
static void suppose(const sotto_device_job *job, sotto_explanation *why)
{
    bool good = job->idle && job->charging && job->network;

    if (why->why == SOTTO_WHY_NOT_ELIGIBLE && good)
        *why = (sotto_explanation){.why = SOTTO_WHY_READY,
                                   .sentence = "A tick draws whether it is answered, if that was "
                                               "not drawn yet, and answers it then."};
    else if (why->why == SOTTO_WHY_READY && !good)
        *why = (sotto_explanation){.why = SOTTO_WHY_NOT_ELIGIBLE,
                                   .sentence = "Not without --idle, --charging and --network."};
}

static sotto_status show_recipe(sotto_device_job *job, const known *k)
{
    sotto_explanation why;

    SOTTO_TRY(sotto_device_why(job->device, &why, k->name, &job->err));
    if (job->dry_run)
        suppose(job, &why);
    if (job->json) {
        sotto_device_print_json(
            json_pack("{s:s,s:I,s:s,s:s,s:o,s:o,s:s,s:s}", "recipe", k->name, "version",
                      (json_int_t)k->version, "analysis", k->analysis, "query", k->query, "opens",
                      sotto_device_json_time(k->opens), "closes", sotto_device_json_time(k->closes),
                      "why", sotto_why_name(why.why), "sentence", why.sentence));
        return SOTTO_OK;
    }
    printf("%s, version %" PRIu64 ", of %s\n  asks    ", k->name, k->version, k->analysis);
    sotto_device_print_text(k->query, strlen(k->query));
    printf("\n  open    ");
    print_time(k->opens);
    printf(" to ");
    print_time(k->closes);
    printf("\n  %-7s ", sotto_why_name(why.why));
    sotto_device_print_text(why.sentence, strlen(why.sentence));
    printf("\n");
    return SOTTO_OK;
}

int sotto_device_run_recipes(sotto_device_job *job)
{
    static recipe_list list;

    list = (recipe_list){.job = job};
    if (sotto_device_recipes(job->device, collect, &list, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    for (size_t i = 0; i < list.count; i++)
        if (show_recipe(job, &list.items[i]) != SOTTO_OK)
            return sotto_device_complain(job);
    if (list.count == 0 && !job->json)
        printf("No recipe is known.\n");
    return EXIT_DONE;
}

/* ---- why -------------------------------------------------------------------------------------------------- */

/* Whether this device won't ever answer as things are; anything else is how things just happen to be. */
static bool refuses(sotto_why why)
{
    return why == SOTTO_WHY_BUDGET || why == SOTTO_WHY_POLICY || why == SOTTO_WHY_FIELD ||
           why == SOTTO_WHY_LEDGER_CLOSED;
}

int sotto_device_run_why(sotto_device_job *job)
{
    sotto_explanation why;

    if (sotto_device_why(job->device, &why, job->words[0], &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    if (job->json) {
        sotto_device_print_json(json_pack(
            "{s:s,s:s,s:i,s:s,s:s,s:b}", "recipe", job->words[0], "why", sotto_why_name(why.why),
            "check", why.check, "subject", why.subject, "sentence", why.sentence, "local_only", 1));
    } else {
        printf("%s: ", sotto_why_name(why.why));
        sotto_device_print_text(why.sentence, strlen(why.sentence));
        if (why.check)
            printf("\n(check %d of 3: %s)", why.check,
                   why.check == 1   ? "the budget of the analysis"
                   : why.check == 2 ? "the budget of a field"
                                    : "what the recipe claims of itself");
        printf("\nThis is known to this device alone. Nothing of it is ever sent.\n");
    }
    if (why.why == SOTTO_WHY_UNKNOWN)
        return EXIT_FAILED; /* nothing of that name is there */
    return refuses(why.why) ? EXIT_REFUSED : EXIT_DONE;
}

/* ---- the ledger ------------------------------------------------------------------------------------------- */

static sotto_status show_budget(void *context, const sotto_budget_line *line, sotto_err *err)
{
    const sotto_device_job *job = context;

    (void)err;
    if (job->json) {
        sotto_device_print_json(json_pack(
            "{s:s,s:s,s:f,s:f,s:I,s:f,s:f,s:I,s:f,s:b,s:b}", "of",
            line->analysis ? "analysis" : "field", "name", line->name, "epsilon", line->epsilon,
            "delta", line->delta, "reports", (json_int_t)line->reports, "epsilon_allowed",
            line->epsilon_allowed, "delta_allowed", line->delta_allowed, "reports_allowed",
            (json_int_t)line->reports_allowed, "local_allowed", line->local_allowed, "unknown",
            line->unknown, "all_spent", line->unknown));
        return SOTTO_OK;
    }
    printf("%-9s%s\n", line->analysis ? "analysis" : "field", line->name);
    printf("         epsilon %.6g of %.6g, delta %.3g of %.3g, %" PRIu64 " of %" PRIu64
           " reports\n",
           line->epsilon, line->epsilon_allowed, line->delta, line->delta_allowed, line->reports,
           line->reports_allowed);
    if (line->unknown)
        printf(
            "         all of it counts as spent: the ledger was reset, and nobody knows better\n");
    if (line->local_allowed > 0)
        printf("         one report: epsilon %.6g at most\n", line->local_allowed);
    return SOTTO_OK;
}

int sotto_device_run_ledger(sotto_device_job *job)
{
    if (sotto_device_ledger(job->device, show_budget, job, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    return EXIT_DONE;
}

/* ---- the record ------------------------------------------------------------------------------------------- */

static sotto_status show_line(void *context, const sotto_record_line *line, sotto_err *err)
{
    const sotto_device_job *job = context;
    const char *kind = sotto_record_kind_name(line->kind);

    (void)err;
    if (job->json) {
        sotto_device_print_json(json_pack(
            "{s:I,s:o,s:s,s:s,s:s,s:s,s:s,s:I,s:o,s:o,s:f,s:f,s:f,s:I}", "number",
            (json_int_t)line->number, "at", sotto_device_json_time(line->at), "kind", kind,
            "recipe", line->recipe, "analysis", line->analysis, "fields", line->fields, "note",
            line->note, "round", (json_int_t)line->round, "report",
            sotto_device_json_hex(sotto_bytes_of(line->report, sizeof line->report)), "randomised",
            sotto_device_json_hex(line->randomised), "epsilon", line->epsilon, "delta", line->delta,
            "local", line->local, "bytes", (json_int_t)line->bytes));
        return SOTTO_OK;
    }
    printf("%6" PRIu64 "  ", line->number);
    print_time(line->at);
    printf("  %-12s %s", kind, line->recipe);
    if (line->kind == SOTTO_RECORD_SPENT)
        printf(": read %s; epsilon %.6g, delta %.3g, %.6g by itself", line->fields, line->epsilon,
               line->delta, line->local);
    if (line->bytes)
        printf("%s %" PRIu64 " bytes", line->kind == SOTTO_RECORD_SPENT ? "," : ":", line->bytes);
    if (line->note[0]) {
        printf(": ");
        sotto_device_print_text(line->note, strlen(line->note));
    }
    printf("\n");
    if (line->randomised.len)
        sotto_device_print_bits(line->randomised, "        told ");
    return SOTTO_OK;
}

int sotto_device_run_record(sotto_device_job *job)
{
    const char *recipe = job->word_count ? job->words[0] : NULL;

    if (sotto_device_record(job->device, recipe, job->after, show_line, job, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    return EXIT_DONE;
}
