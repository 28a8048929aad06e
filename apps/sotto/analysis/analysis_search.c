/* Settings of a search: from arguments into the folder, and back. */
#include "analysis_search.h"

#include "base/arena.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 2002 };

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

static int deny_failed(const analysis_options *o, unsigned line, const char *what)
{
    (void)fprintf(stderr, "sotto analysis %s: %s: ", o->verb, o->deny);
    if (line > 0)
        (void)fprintf(stderr, "line %u: ", line);
    (void)fprintf(stderr, "%s\n", what);
    return EXIT_FAILED;
}

/* A line is a word, or a phrase. One that does not fit is an error: its first part would be another word. */
static int read_denied(json_t *list, const analysis_options *o)
{
    FILE *file = fopen(o->deny, "r");
    int code = EXIT_DONE;
    char line[LINE];

    if (!file)
        return deny_failed(o, 0, strerror(errno));
    for (unsigned n = 1; code == EXIT_DONE && fgets(line, sizeof line, file); n++) {
        const size_t len = strcspn(line, "\r\n");

        if (len == sizeof line - 1)
            code = deny_failed(o, n, "it is too long: up to 2,000 bytes a line");
        line[len] = 0;
        if (code == EXIT_DONE && len > 0 && json_array_append_new(list, json_string(line)) != 0)
            code = deny_failed(o, n, "it is no text in UTF-8");
    }
    if (code == EXIT_DONE && ferror(file))
        code = deny_failed(o, 0, strerror(errno));
    (void)fclose(file);
    return code;
}

static bool set_number(json_t *s, const analysis_options *o, const char *member, const char *name,
                       const char *text, uint64_t usual, uint64_t most)
{
    uint64_t number = usual;

    if (text && !analysis_number(o, &number, name, text, 1, most))
        return false;
    return json_object_set_new(s, member, json_integer((json_int_t)number)) == 0;
}

static bool set_box(json_t *s, const char *text)
{
    json_t *box = json_array();
    bool good = text != NULL;

    for (unsigned i = 0; good && i < 4; i++) {
        char *end = NULL;
        const double x = strtod(text, &end);

        good = end != text && *end == (i < 3 ? ',' : 0) && isfinite(x) &&
               json_array_append_new(box, json_real(x)) == 0;
        text = end + 1;
    }
    return json_object_set_new(s, "box", box) == 0 && good;
}

static int set_rest(json_t *s, const analysis_options *o)
{
    const char *per = o->per ? o->per : "one-budget";

    if (strcmp(per, "one-budget") != 0 && strcmp(per, "fresh-devices") != 0)
        return analysis_misused(o, "--per-round", "one-budget or fresh-devices");
    (void)json_object_set_new(s, "per_round", json_string(per));
    (void)json_object_set_new(s, "epsilon", json_string(o->epsilon ? o->epsilon : "1"));
    (void)json_object_set_new(s, "delta", json_string(o->delta ? o->delta : "0.000001"));
    if (o->places && !set_box(s, o->box))
        return analysis_misused(o, "--box", "WEST,SOUTH,EAST,NORTH of --places");
    if (o->deny) {
        json_t *denied = json_array();

        (void)json_object_set_new(s, "denied", denied);
        return read_denied(denied, o);
    }
    return EXIT_DONE;
}

/* An option of another kind would be dropped without a word. */
static int check_kind(const analysis_options *o)
{
    const struct {
        const char *name, *given;
        bool of_places;
    } options[] = {{"--alphabet", o->alphabet, false},
                   {"--longest", o->longest, false},
                   {"--deny", o->deny, false},
                   {"--box", o->box, true},
                   {"--levels", o->levels, true}};

    if (o->words + o->places + (o->phrases != NULL) != 1)
        return analysis_misused(o, "", "what is looked for? --words, --phrases N or --places");
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].given && options[i].of_places != o->places)
            return analysis_misused(o, options[i].name,
                                    o->places ? "places have none: it is for words and phrases"
                                              : "it is for --places alone");
    return EXIT_DONE;
}

int analysis_search_settings(json_t *s, const analysis_options *o)
{
    const int code = check_kind(o);

    if (code != EXIT_DONE)
        return code;
    (void)json_object_set_new(s, "kind",
                              json_string(o->words    ? "words"
                                          : o->places ? "places"
                                                      : "phrases"));
    if (!o->places)
        (void)json_object_set_new(
            s, "alphabet", json_string(o->alphabet ? o->alphabet : "abcdefghijklmnopqrstuvwxyz"));
    if (!set_number(s, o, "cells", "--cells", o->cells, 20000, 1000000) ||
        !set_number(s, o, "rounds", "--rounds", o->rounds, 8, SOTTO_SEARCH_ROUNDS) ||
        !(o->places
              ? set_number(s, o, "longest", "--levels", o->levels, 8, SOTTO_SEARCH_LEVELS)
              : set_number(s, o, "longest", "--longest", o->longest, 20, SOTTO_SEARCH_LONGEST)) ||
        (o->phrases && !set_number(s, o, "words", "--phrases", o->phrases, 2, SOTTO_SEARCH_PHRASE)))
        return EXIT_USAGE;
    return set_rest(s, o);
}

bool analysis_search_is_fixed(const analysis_options *o)
{
    return !o->recipe && !o->policy && !o->streams && !o->simulate && !o->parties && !o->words &&
           !o->places && !o->phrases && !o->alphabet && !o->cells && !o->rounds && !o->longest &&
           !o->levels && !o->epsilon && !o->delta && !o->deny && !o->box && !o->per &&
           !o->device_column && !o->devices && !o->seed && !o->fast && !o->pairing && !o->key &&
           !o->ca && !o->plain && !o->from && !o->log && !o->token && !o->witness;
}

/* ---- the search ------------------------------------------------------------------------------------------------------------ */

static sotto_status read_budget(sotto_decimal *out, const json_t *s, const char *name,
                                sotto_err *err)
{
    const char *text = json_string_value(json_object_get(s, name));

    if (!text)
        return sotto_fail(err, SOTTO_MALFORMED, "%s: a number", name);
    return sotto_decimal_parse(out, sotto_bytes_of(text, strlen(text)), SOTTO_DECIMAL_DOWN, err);
}

static sotto_status read_denials(discovery *d, const json_t *s, sotto_err *err)
{
    const json_t *list = json_object_get(s, "denied");
    const size_t count = json_array_size(list);
    const char **words = sotto_arena_take_array(&d->job->arena, count + 1, sizeof *words);

    if (!words)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%zu words", count);
    for (size_t i = 0; i < count; i++)
        words[i] = json_string_value(json_array_get(list, i));
    d->options.denied = words;
    d->options.denied_count = count;
    return SOTTO_OK;
}

static sotto_status read_options(discovery *d, sotto_err *err)
{
    const json_t *s = json_object_get(d->job->settings, "search"), *box = json_object_get(s, "box");
    const char *kind = json_string_value(json_object_get(s, "kind")),
               *per = json_string_value(json_object_get(s, "per_round"));
    sotto_search_options *o = &d->options;

    o->kind = kind && strcmp(kind, "places") == 0    ? SOTTO_SEARCH_PLACES
              : kind && strcmp(kind, "phrases") == 0 ? SOTTO_SEARCH_PHRASES
                                                     : SOTTO_SEARCH_WORDS;
    o->words = (unsigned)json_integer_value(json_object_get(s, "words"));
    o->alphabet = json_string_value(json_object_get(s, "alphabet"));
    o->alphabet = o->alphabet ? o->alphabet : "";
    o->longest = (unsigned)json_integer_value(json_object_get(s, "longest"));
    o->cells = (uint64_t)json_integer_value(json_object_get(s, "cells"));
    o->rounds = (unsigned)json_integer_value(json_object_get(s, "rounds"));
    o->fresh = per && strcmp(per, "fresh-devices") == 0;
    o->ledgers = !analysis_is_simulated(d->job);
    o->west = json_number_value(json_array_get(box, 0));
    o->south = json_number_value(json_array_get(box, 1));
    o->east = json_number_value(json_array_get(box, 2));
    o->north = json_number_value(json_array_get(box, 3));
    SOTTO_TRY(read_budget(&o->epsilon, s, "epsilon", err));
    SOTTO_TRY(read_budget(&o->delta, s, "delta", err));
    SOTTO_TRY(read_denials(d, s, err));
    return sotto_search_open(&d->search, o, &d->job->arena, err);
}

int analysis_search_open(discovery *d, sotto_bytes frame)
{
    analysis_job *job = d->job;
    sotto_err err = {0};

    sotto_arena_init(&d->round, (size_t)2 << 30);
    err.status = sotto_recipe_read(&d->frame, frame, &job->arena, &job->mistakes, &err);
    if (err.status != SOTTO_OK && job->mistakes.errors > 0) {
        const sotto_mistake *m = &job->mistakes.items[0];

        (void)fprintf(stderr, "recipe:%u:%u: %s: %s\n", m->line, m->column, m->path, m->what);
        return EXIT_LINT;
    }
    if (err.status == SOTTO_OK)
        err.status = read_options(d, &err);
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(job, &err);
}

const char *analysis_search_things(const discovery *d)
{
    return d->options.kind == SOTTO_SEARCH_PLACES    ? "places"
           : d->options.kind == SOTTO_SEARCH_PHRASES ? "phrases"
                                                     : "words";
}
