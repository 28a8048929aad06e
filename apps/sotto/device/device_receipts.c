/* Receipts: what may be said of each report that was paid for, and who must be honest for it. */
#include "device.h"

#include "account/numeric/shown.h"
#include "recipe/calendar.h"
#include "sotto/lint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct receipt {
    struct receipt *next;
    uint8_t report[SOTTO_REPORT_ID_SIZE];
    int64_t at;
    const char *recipe, *fields;
    sotto_record_kind became; /* the last that happened to it */
    uint64_t round, bytes, bits_set;
    sotto_bytes told; /* the randomised bits, eight a byte, the first one lowest */
    double epsilon, delta, local;
} receipt;

typedef struct receipts {
    sotto_device_job *job;
    receipt *first, *last;
} receipts;

static uint64_t count_bits(sotto_bytes bytes)
{
    uint64_t count = 0;

    for (size_t i = 0; i < bytes.len; i++)
        for (unsigned b = bytes.data[i]; b; b &= b - 1)
            count++;
    return count;
}

static sotto_bytes keep_bits(sotto_device_job *job, sotto_bytes bits)
{
    uint8_t *copy = sotto_arena_take(&job->arena, bits.len + 1);

    if (copy && bits.len)
        memcpy(copy, bits.data, bits.len);
    return sotto_bytes_of(copy, copy ? bits.len : 0);
}

static sotto_status add(receipts *list, const sotto_record_line *line, sotto_err *err)
{
    receipt *r = sotto_arena_take(&list->job->arena, sizeof *r);

    if (!r)
        return sotto_fail(err, SOTTO_NO_MEMORY, "receipts");
    *r = (receipt){
        .at = line->at,
        .recipe = sotto_device_keep(list->job, line->recipe),
        .fields = sotto_device_keep(list->job, line->fields),
        .became = line->kind,
        .round = line->round,
        .bytes = line->bytes,
        .bits_set = count_bits(line->randomised),
        .told = keep_bits(list->job, line->randomised),
        .epsilon = line->epsilon,
        .delta = line->delta,
        .local = line->local,
    };
    memcpy(r->report, line->report, sizeof r->report);
    if (!r->recipe || !r->fields || !r->told.data)
        return sotto_fail(err, SOTTO_NO_MEMORY, "receipts");
    if (list->last)
        list->last->next = r;
    else
        list->first = r;
    list->last = r;
    return SOTTO_OK;
}

static sotto_status collect(void *context, const sotto_record_line *line, sotto_err *err)
{
    receipts *list = context;

    switch (line->kind) {
    case SOTTO_RECORD_SPENT:
        return add(list, line, err);
    case SOTTO_RECORD_LEFT:
    case SOTTO_RECORD_RESEALED:
    case SOTTO_RECORD_ACKNOWLEDGED:
    case SOTTO_RECORD_GIVEN_UP:
        for (receipt *r = list->first; r; r = r->next)
            if (memcmp(r->report, line->report, sizeof r->report) == 0)
                r->became = line->kind;
        return SOTTO_OK;
    default:
        return SOTTO_OK;
    }
}

static const char *fate(const receipt *r)
{
    if (r->bytes == 0)
        return "nothing was sent: silence was the answer, and was paid for";
    switch (r->became) {
    case SOTTO_RECORD_SPENT:
        return "waits on this device";
    case SOTTO_RECORD_LEFT:
    case SOTTO_RECORD_RESEALED:
        return "handed over, not acknowledged yet; the same bytes go again";
    case SOTTO_RECORD_ACKNOWLEDGED:
        return "acknowledged by the leader";
    default:
        return "erased before it was acknowledged; what was spent stays spent";
    }
}

/* The recipe as published, and what it may claim under this device's policy. */
typedef struct published {
    const char *name; /* NULL: there is none */
    const sotto_recipe *recipe;
    sotto_recipe_claim claim;
} published;

static sotto_status read_published(sotto_device_job *job, published *out)
{
    static sotto_mistakes mistakes;
    const sotto_policy *policy;
    sotto_bytes text;

    SOTTO_TRY(sotto_device_read_file(job, &text, job->recipe));
    SOTTO_TRY(sotto_recipe_read(&out->recipe, text, &job->arena, &mistakes, &job->err));
    SOTTO_TRY(sotto_policy_read(&policy, job->options.policy, &job->arena, &mistakes, &job->err));
    SOTTO_TRY(sotto_recipe_lint(&out->claim, out->recipe, policy, &mistakes, &job->err));
    json_t *root = json_loadb((const char *)text.data, text.len, 0, NULL);
    out->name = sotto_device_keep(job, json_string_value(json_object_get(root, "recipe")));
    json_decref(root);
    return out->name ? SOTTO_OK : sotto_fail(&job->err, SOTTO_NO_MEMORY, "recipe");
}

/* What bits that were told stand for: calls `each` with the label of every bin whose bit is set. */
static void each_label(const receipt *r, const sotto_recipe *recipe,
                       void (*each)(void *context, sotto_bytes label), void *context)
{
    static uint8_t memory[1 << 16];

    for (uint64_t bin = 0; bin < sotto_recipe_bins(recipe) && bin < 8 * r->told.len; bin++) {
        sotto_buf label = sotto_buf_over(memory, sizeof memory);

        if ((r->told.data[bin / 8] >> bin % 8 & 1) &&
            sotto_recipe_label(recipe, &label, bin, NULL) == SOTTO_OK)
            each(context, sotto_buf_bytes(&label));
    }
}

static void append_label(void *context, sotto_bytes label)
{
    sotto_json_bytes(context, NULL, label);
}

static void print_label(void *context, sotto_bytes label)
{
    (void)context;
    printf("             ");
    sotto_device_print_text((const char *)label.data, label.len);
    printf("\n");
}

static void print_json(const receipt *r, const published *of)
{
    sotto_json j = sotto_device_object();

    sotto_json_text(&j, "recipe", r->recipe);
    sotto_json_hex(&j, "report", sotto_bytes_of(r->report, sizeof r->report));
    sotto_json_time(&j, "at", r->at);
    sotto_json_uint(&j, "round", r->round);
    sotto_json_text(&j, "fields", r->fields);
    sotto_json_uint(&j, "bits_set", r->bits_set);
    sotto_json_hex(&j, "randomised", r->told);
    sotto_json_real(&j, "local", r->local);
    sotto_json_real(&j, "epsilon", r->epsilon);
    sotto_json_real(&j, "delta", r->delta);
    sotto_json_uint(&j, "bytes", r->bytes);
    sotto_json_text(&j, "fate", fate(r));
    if (of) {
        const sotto_recipe_claim *claim = &of->claim;

        sotto_json_array(&j, "told");
        each_label(r, of->recipe, append_label, &j);
        sotto_json_end(&j);
        sotto_json_text(&j, "theorem", claim->theorem);
        sotto_json_bool(&j, "none_told", claim->none_told);
        sotto_json_uint(&j, "honest", claim->honest);
    }
    sotto_device_print_object(&j);
}

static void print_receipt(const receipt *r, const published *of)
{
    const sotto_recipe_claim *claim = of ? &of->claim : NULL;
    char at[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(at, r->at);
    printf("%s, %s\n", r->recipe, at);
    printf("  read       %s\n", r->fields);
    if (isfinite(r->local))
        printf("  told       %" PRIu64 " %s set, drawn at random around the truth%s\n", r->bits_set,
               r->bits_set == 1 ? "bit" : "bits", r->told.len ? ":" : "");
    else
        printf("  told       the truth, in two shares, with a part of the noise at most\n");
    if (r->told.len)
        sotto_device_print_bits(r->told, "             ");
    if (of && r->told.len)
        each_label(r, of->recipe, print_label, NULL);
    if (isfinite(r->local))
        printf("  by itself  epsilon %.6g, for whoever could open both shares; nobody need be "
               "honest\n",
               sotto_bound_shown(r->local, 6));
    else
        printf("  by itself  no local protection against whoever could open both shares\n");
    printf("  charged    epsilon %.6g, delta %.3g, for those who see the answer only; leader or\n"
           "             helper must be honest, and enough of those who answered\n",
           sotto_bound_shown(r->epsilon, 6), sotto_bound_shown(r->delta, 3));
    if (claim) {
        printf("             by %s, among %" PRIu64 " honest reports\n", claim->theorem,
               claim->honest);
        if (claim->none_told)
            printf("             between values: a device without one stays silent, which shows\n");
    }
    printf("  sent       %" PRIu64 " bytes; %s\n", r->bytes, fate(r));
}

int sotto_device_run_receipts(sotto_device_job *job)
{
    receipts list = {.job = job};
    published known = {0};

    if ((job->recipe && read_published(job, &known) != SOTTO_OK) ||
        sotto_device_record(job->device, job->word_count ? job->words[0] : NULL, 0, collect, &list,
                            &job->err) != SOTTO_OK)
        return sotto_device_complain(job);
    for (const receipt *r = list.first; r; r = r->next) {
        const published *of = known.name && strcmp(known.name, r->recipe) == 0 ? &known : NULL;

        if (job->json)
            print_json(r, of);
        else
            print_receipt(r, of);
    }
    if (!list.first && !job->json)
        printf("No report was ever made.\n");
    return EXIT_DONE;
}
