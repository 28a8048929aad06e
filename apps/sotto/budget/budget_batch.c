/* Many questions from one file: CSV with options as columns, or a JSON array of objects.
 *
 * A question that cannot be read is reported by its line (in an array, as element 1, 2 and so on); the others are
 * answered all the same. Options of the command line are defaults for every question.
 */
#include "budget_ask.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "show.h"
#include "support/csv.h"
#include "verbs.h"

enum { MOST_COMPOSED = 64, TEXT_CEILING = 1 << 26, TRIM_ROOM = 256 };

typedef struct batch {
    const sotto_budget_command *defaults;
    sotto_accountant *accountant;
    sotto_budget_command row; /* the question at hand */
    const char *place;        /* what its number counts: "line" or "element" */
    size_t asked;
    size_t answered, malformed, refused;
    size_t failing; /* of those answered, whose claim does not hold */
    sotto_question composed[MOST_COMPOSED];
    size_t composed_count;
} batch;

static void set(batch *b, const char *name, const char *text)
{
    if (!sotto_form_set(&b->row.form, name, text))
        sotto_form_complain(&b->row.form, "no option is called '%.40s'", name);
}

/* Of what is no question, nothing can be said to be missing. */
static void unread(batch *b, const char *reason)
{
    b->row.form.unread = true;
    sotto_form_complain(&b->row.form, "%s", reason);
}

static void print_line(const sotto_question *q, const sotto_budget_result *r)
{
    if (r->status != SOTTO_OK) {
        char where[40];

        (void)snprintf(where, sizeof where, "%s %zu", r->place, r->line);
        sotto_budget_print_refusal(where, q, r);
        return;
    }
    sotto_text t = sotto_show_text(stdout);
    sotto_text_say(&t, "%s %zu: %s <= ", r->place, r->line, r->asks_delta ? "delta" : "epsilon");
    sotto_text_up(&t, r->answer.high, 10);
    sotto_text_say(&t, " (>= ");
    sotto_text_down(&t, r->answer.low, 10);
    sotto_text_say(&t, ") %s\n", r->answer.theorem);
    if (r->has_claim)
        sotto_text_say(&t, "%s %zu: claim epsilon %.12g %s\n", r->place, r->line, r->claim,
                       sotto_budget_claim_fails(r) ? "does not hold, or cannot be shown to"
                                                   : "holds");
}

static void answer_row(batch *b, size_t line)
{
    sotto_question q;
    sotto_budget_result r;

    b->asked++;
    if (!b->row.form.unread)
        sotto_form_question(&b->row.form, &q, OPTIONS, b->row.epsilon > 0);
    if (b->row.form.mistake_count > 0) {
        b->malformed++;
        sotto_budget_print_mistakes(b->row.verb, &b->row.form, b->row.json, b->place, line);
        return;
    }
    if (b->row.compose) {
        if (b->composed_count < MOST_COMPOSED)
            b->composed[b->composed_count] = q;
        b->composed_count++;
        return;
    }
    sotto_budget_ask(&r, &q, &b->row, b->accountant);
    r.line = line;
    r.place = b->place;
    b->failing += sotto_budget_claim_fails(&r);
    *(r.status == SOTTO_OK          ? &b->answered
      : r.status == SOTTO_MALFORMED ? &b->malformed
                                    : &b->refused) += 1;
    if (b->row.json)
        sotto_budget_print(&q, &r, true);
    else
        print_line(&q, &r);
}

/* ---- CSV -------------------------------------------------------------------------------------------- */

/* Without white space around it, which no option has; what is longer than any of them is left as it is. */
static const char *trim(char room[TRIM_ROOM], const char *text)
{
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    if (text[len] == 0 || len >= TRIM_ROOM)
        return text;
    (void)snprintf(room, TRIM_ROOM, "%.*s", (int)len, text);
    return room;
}

static void read_csv_row(batch *b, const sotto_csv *csv, const sotto_csv_row *row)
{
    for (size_t i = 0; i < csv->columns.count; i++) {
        char rooms[2][TRIM_ROOM];
        const char *value = trim(rooms[0], row->fields[i]);

        if (value[0] != 0) /* an empty field is left to the defaults */
            set(b, trim(rooms[1], csv->columns.fields[i]), value);
    }
}

static sotto_status run_csv(batch *b, const char *path, sotto_arena *arena, sotto_err *err)
{
    sotto_csv csv;
    sotto_csv_row row;

    SOTTO_TRY(sotto_csv_open(&csv, path, arena, err));
    for (;;) {
        sotto_err here = {0};
        sotto_status status = sotto_csv_next(&csv, &row, &here);

        if (status == SOTTO_MISSING)
            return SOTTO_OK;
        b->row = *b->defaults;
        if (status == SOTTO_OK)
            read_csv_row(b, &csv, &row);
        else
            unread(b, here.reason);
        answer_row(b, row.line);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static void set_json(batch *b, const char *name, const json_t *value)
{
    char text[FORM_TEXT] = "";

    if (json_is_string(value)) {
        set(b, name, json_string_value(value));
        return;
    }
    if (json_is_integer(value))
        (void)snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        (void)snprintf(text, sizeof text, "%.17g", json_real_value(value));
    else if (json_is_boolean(value))
        (void)snprintf(text, sizeof text, "%s", json_is_true(value) ? "true" : "false");
    else
        sotto_form_complain(&b->row.form, "%.40s: neither text, number nor truth value", name);
    if (text[0] != 0)
        set(b, name, text);
}

static void read_json_row(batch *b, json_t *entry)
{
    const char *name;
    json_t *value;

    if (!json_is_object(entry)) {
        unread(b, "not an object");
        return;
    }
    json_object_foreach(entry, name, value)
    {
        set_json(b, name, value);
    }
}

static sotto_status run_json(batch *b, const char *path, sotto_err *err)
{
    json_error_t where;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    size_t i;
    json_t *entry;

    if (root == NULL)
        return sotto_fail(err, SOTTO_MALFORMED, "line %d: %.120s", where.line, where.text);
    if (!json_is_array(root)) {
        json_decref(root);
        return sotto_fail(err, SOTTO_MALFORMED, "not an array of questions");
    }
    json_array_foreach(root, i, entry)
    {
        b->row = *b->defaults;
        read_json_row(b, entry);
        answer_row(b, i + 1);
    }
    json_decref(root);
    return SOTTO_OK;
}

/* ---- the whole -------------------------------------------------------------------------------------- */

static void answer_composed(batch *b)
{
    sotto_budget_result r = {.has_claim = b->defaults->claim > 0,
                             .claim = b->defaults->claim,
                             .claim_status = SOTTO_MISSING};

    if (b->malformed > 0 || b->composed_count == 0) {
        (void)fprintf(stderr, "%s: nothing composed: %zu questions could not be read\n",
                      b->defaults->verb, b->malformed);
        b->malformed += b->composed_count == 0;
        return;
    }
    double start = sotto_budget_seconds();
    r.status = sotto_privacy_compose(&r.answer, b->composed, b->composed_count, &r.err);
    r.seconds = sotto_budget_seconds() - start;
    b->failing += sotto_budget_claim_fails(&r);
    *(r.status == SOTTO_OK          ? &b->answered
      : r.status == SOTTO_MALFORMED ? &b->malformed
                                    : &b->refused) += 1;
    if (b->defaults->json || r.status == SOTTO_OK)
        sotto_budget_print(&b->composed[0], &r, b->defaults->json);
    else
        sotto_budget_print_refusal(b->defaults->verb, &b->composed[0], &r);
}

static bool is_json(const char *path)
{
    size_t len = strlen(path);

    return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

int sotto_budget_batch(sotto_budget_command *c)
{
    static batch b;
    sotto_arena arena;
    sotto_err err = {0};

    b = (batch){.defaults = c, .place = is_json(c->batch) ? "element" : "line"};
    sotto_arena_init(&arena, TEXT_CEILING);
    sotto_status status = sotto_accountant_new(&b.accountant, &err);
    if (status == SOTTO_OK)
        status =
            is_json(c->batch) ? run_json(&b, c->batch, &err) : run_csv(&b, c->batch, &arena, &err);
    if (status == SOTTO_OK && b.asked == 0)
        status = sotto_fail(&err, SOTTO_MALFORMED, "no question in it");
    if (status == SOTTO_OK && c->compose)
        answer_composed(&b);
    sotto_accountant_free(b.accountant);
    sotto_arena_clear(&arena);
    if (status != SOTTO_OK) {
        (void)fprintf(stderr, "%s: %s: %s\n", c->verb, c->batch, err.reason);
        return sotto_exit_code(status, SOTTO_AT_WORDS);
    }
    if (!c->json && !c->compose)
        printf("%zu answered, %zu refused, %zu malformed\n", b.answered, b.refused, b.malformed);
    if (b.malformed > 0)
        return EXIT_USAGE;
    if (b.refused > 0)
        return EXIT_REFUSED;
    return b.failing > 0 ? EXIT_CLAIM : EXIT_DONE;
}
