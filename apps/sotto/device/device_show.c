/* What the device verbs show, for people or as lines of JSON. */
#include "device.h"

#include "account/numeric/shown.h"
#include "recipe/calendar.h"
#include "sotto/learn.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- printing --------------------------------------------------------------------------------------------- */

sotto_json sotto_device_object(void)
{
    return sotto_show_object(stdout, SOTTO_JSON_COMPACT);
}

void sotto_device_print_object(sotto_json *j)
{
    if (!sotto_show_end(j))
        (void)fprintf(stderr, "sotto device: could not write JSON\n");
}

void sotto_device_print_text(const char *text, size_t len)
{
    sotto_text t = sotto_show_text(stdout);

    (void)sotto_text_plain(&t, sotto_bytes_of(text, len));
}

static void print_time(int64_t seconds)
{
    char text[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(text, seconds);
    printf("%s", text);
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

static void value_member(sotto_json *j, const char *name, const sotto_value *value)
{
    switch (value->type) {
    case SOTTO_TYPE_INTEGER:
        sotto_json_int(j, name, value->as.integer);
        return;
    case SOTTO_TYPE_REAL:
        sotto_json_real(j, name, value->as.real);
        return;
    case SOTTO_TYPE_BOOLEAN:
        sotto_json_bool(j, name, value->as.integer != 0);
        return;
    case SOTTO_TYPE_TEXT:
        sotto_json_bytes(j, name, value->as.text);
        return;
    case SOTTO_TYPE_NULL:
        break;
    }
    sotto_json_null(j, name);
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

    (void)err;
    v->shown++;
    if (v->job->json && count == fields + 1) {
        sotto_json j = sotto_device_object();

        sotto_json_time(&j, SOTTO_STORE_TIME, values[fields].as.integer);
        for (size_t i = 0; i < fields; i++)
            value_member(&j, v->stream->fields[i].name, &values[i]);
        sotto_device_print_object(&j);
        return SOTTO_OK;
    }
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
        sotto_json j = sotto_device_object();

        sotto_json_text(&j, "recipe", k->name);
        sotto_json_uint(&j, "version", k->version);
        sotto_json_text(&j, "analysis", k->analysis);
        sotto_json_text(&j, "query", k->query);
        sotto_json_time(&j, "opens", k->opens);
        sotto_json_time(&j, "closes", k->closes);
        sotto_json_text(&j, "why", sotto_why_name(why.why));
        sotto_json_text(&j, "sentence", why.sentence);
        sotto_device_print_object(&j);
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
           why == SOTTO_WHY_LEDGER_CLOSED || why == SOTTO_WHY_LOG || why == SOTTO_WHY_ROUNDS;
}

int sotto_device_run_why(sotto_device_job *job)
{
    sotto_explanation why;

    if (sotto_device_why(job->device, &why, job->words[0], &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_text(&j, "recipe", job->words[0]);
        sotto_json_text(&j, "why", sotto_why_name(why.why));
        sotto_json_int(&j, "check", why.check);
        sotto_json_text(&j, "subject", why.subject);
        sotto_json_text(&j, "sentence", why.sentence);
        sotto_json_bool(&j, "local_only", true);
        sotto_device_print_object(&j);
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
    sotto_view view = sotto_show_view(job->json ? SOTTO_VIEW_JSON : SOTTO_VIEW_TEXT);

    return sotto_view_ledger(&view, line, err);
}

static void show_session(const sotto_device_job *job, const sotto_rho_line *line)
{
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_text(&j, "session_of", line->name);
        sotto_json_real(&j, "epsilon", line->epsilon);
        sotto_json_real(&j, "delta", line->delta);
        sotto_json_uint(&j, "charged", line->participations);
        sotto_device_print_object(&j);
        return;
    }
    printf("learning, recipe %s: epsilon %.4g at delta %.3g charged %s for all its rounds, by the "
           "theorem for secret samples; the relay must work together with neither gateway nor "
           "leader\n",
           line->name, sotto_bound_shown(line->epsilon, 4), sotto_bound_shown(line->delta, 3),
           line->participations == 1 ? "once" : "in each period");
}

static sotto_status show_rho(void *context, const sotto_rho_line *line, sotto_err *err)
{
    static const char *const accounts[] = {"", "recipe", "analysis", "field"};
    const sotto_device_job *job = context;

    (void)err;
    if (line->account == SOTTO_RHO_SESSION) {
        show_session(job, line);
        return SOTTO_OK;
    }
    if (job->json) {
        sotto_json j = sotto_device_object();

        sotto_json_text(&j, "rho_of", accounts[line->account]);
        sotto_json_text(&j, "name", line->name);
        sotto_json_real(&j, "rho", line->rho);
        sotto_json_uint(&j, "participations", line->participations);
        if (line->account == SOTTO_RHO_RECIPE) {
            sotto_json_real(&j, "rho_allowed", line->rho_allowed);
            sotto_json_uint(&j, "participations_allowed", line->allowed);
            sotto_json_uint(&j, "last_round", line->last_round);
        }
        sotto_device_print_object(&j);
        return SOTTO_OK;
    }
    printf("learning, %s %s: zCDP %.4g in %" PRIu64 " round%s", accounts[line->account], line->name,
           sotto_bound_shown(line->rho, 4), line->participations,
           line->participations == 1 ? "" : "s");
    if (line->account == SOTTO_RHO_RECIPE)
        printf(" of %" PRIu64 ", at most %.4g; the last was round %" PRIu64, line->allowed,
               sotto_bound_shown(line->rho_allowed, 4), line->last_round);
    printf("\n");
    return SOTTO_OK;
}

int sotto_device_run_ledger(sotto_device_job *job)
{
    if (sotto_device_ledger(job->device, show_budget, job, &job->err) != SOTTO_OK ||
        sotto_device_rho(job->device, show_rho, job, &job->err) != SOTTO_OK)
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
        sotto_json j = sotto_device_object();

        sotto_json_uint(&j, "number", line->number);
        sotto_json_time(&j, "at", line->at);
        sotto_json_text(&j, "kind", kind);
        sotto_json_text(&j, "recipe", line->recipe);
        sotto_json_text(&j, "analysis", line->analysis);
        sotto_json_text(&j, "fields", line->fields);
        sotto_json_text(&j, "note", line->note);
        sotto_json_uint(&j, "round", line->round);
        sotto_json_hex(&j, "report", sotto_bytes_of(line->report, sizeof line->report));
        sotto_json_hex(&j, "randomised", line->randomised);
        sotto_json_real(&j, "epsilon", line->epsilon);
        sotto_json_real(&j, "delta", line->delta);
        sotto_json_real(&j, "local", line->local);
        sotto_json_uint(&j, "bytes", line->bytes);
        sotto_json_hex(&j, "recipe_hash", line->recipe_hash);
        sotto_json_hex(&j, "query_hash", line->query_hash);
        sotto_json_uint(&j, "min_cohort", line->min_cohort);
        sotto_device_print_object(&j);
        return SOTTO_OK;
    }
    printf("%6" PRIu64 "  ", line->number);
    print_time(line->at);
    printf("  %-12s %s", kind, line->recipe);
    if (line->kind == SOTTO_RECORD_SPENT)
        printf(": read %s; epsilon %.6g, delta %.3g, ", line->fields,
               sotto_bound_shown(line->epsilon, 6), sotto_bound_shown(line->delta, 3));
    if (line->kind == SOTTO_RECORD_SPENT && isfinite(line->local))
        printf("%.6g by itself", sotto_bound_shown(line->local, 6));
    else if (line->kind == SOTTO_RECORD_SPENT)
        printf("no local protection");
    if (line->bytes)
        printf("%s %" PRIu64 " bytes", line->kind == SOTTO_RECORD_SPENT ? "," : ":", line->bytes);
    if (line->note[0]) {
        printf(": ");
        sotto_device_print_text(line->note, strlen(line->note));
    }
    printf("\n");
    if (line->randomised.len)
        sotto_device_print_bits(line->randomised, "        told ");
    if (line->recipe_hash.len) {
        sotto_device_print_bits(line->recipe_hash, "        recipe ");
        sotto_device_print_bits(line->query_hash, "        query  ");
        printf("        cohort of at least %" PRIu64 "\n", line->min_cohort);
    }
    return SOTTO_OK;
}

int sotto_device_run_record(sotto_device_job *job)
{
    const char *recipe = job->word_count ? job->words[0] : NULL;

    if (sotto_device_record(job->device, recipe, job->after, show_line, job, &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    return EXIT_DONE;
}
