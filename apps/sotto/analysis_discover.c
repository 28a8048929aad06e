/* sotto analysis discover - words or places that devices have, searched for in several rounds. */
#include "analysis.h"

#include "base/arena.h"
#include "view/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 256 };

typedef struct discovery {
    analysis_job *job;
    sotto_search_options options;
    sotto_search search;
    const sotto_recipe *frame;
    sotto_study_answer counted; /* of the count at the end */
    sotto_arena round;
    bool done;
} discovery;

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

/* A line is a word. */
static json_t *read_denied(const char *path)
{
    FILE *file = fopen(path, "r");
    json_t *list = file ? json_array() : NULL;
    char line[LINE];

    while (list && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        if (line[0] && json_array_append_new(list, json_string(line)) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    if (file)
        (void)fclose(file);
    return list;
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
    if (o->words && o->deny) {
        json_t *denied = read_denied(o->deny);

        if (!denied)
            return analysis_misused(o, "--deny", "it can't be read: a text file, a word a line");
        (void)json_object_set_new(s, "denied", denied);
    }
    return EXIT_DONE;
}

static int settings_of(json_t *s, const analysis_options *o)
{
    if (o->words == o->places)
        return analysis_misused(o, "", "what is looked for? --words or --places");
    (void)json_object_set_new(s, "kind", json_string(o->words ? "words" : "places"));
    if (o->words)
        (void)json_object_set_new(
            s, "alphabet", json_string(o->alphabet ? o->alphabet : "abcdefghijklmnopqrstuvwxyz"));
    if (!set_number(s, o, "cells", "--cells", o->cells, 20000, 1000000) ||
        !set_number(s, o, "rounds", "--rounds", o->rounds, 8, SOTTO_SEARCH_ROUNDS) ||
        !(o->words ? set_number(s, o, "longest", "--longest", o->longest, 20, SOTTO_SEARCH_LONGEST)
                   : set_number(s, o, "longest", "--levels", o->levels, 8, SOTTO_SEARCH_LEVELS)))
        return EXIT_USAGE;
    return set_rest(s, o);
}

static bool is_fixed(const analysis_options *o)
{
    return !o->recipe && !o->policy && !o->simulate && !o->parties && !o->words && !o->places &&
           !o->alphabet && !o->cells && !o->rounds && !o->longest && !o->levels && !o->epsilon &&
           !o->delta && !o->deny && !o->box && !o->per;
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

    o->kind = kind && strcmp(kind, "places") == 0 ? SOTTO_SEARCH_PLACES : SOTTO_SEARCH_WORDS;
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

static int open_search(discovery *d, sotto_bytes frame)
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

static int text_of(discovery *d, const sotto_search_round *round, sotto_bytes *text)
{
    const analysis_job *job = d->job;
    sotto_search_round of = *round, *r = &of;
    sotto_err err = {0};

    if (r->number <= job->folder.steps) { /* as it was asked */
        r->opens = job->steps[r->number]->opens;
        r->closes = job->steps[r->number]->closes;
    } else if (r->number > 1) {
        analysis_schedule(job, d->frame, &r->opens, &r->closes);
    }
    err.status =
        sotto_search_recipe(text, &d->search, r, d->frame, d->job->policy, &d->round, &err);
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(d->job, &err);
}

/* ---- rounds ---------------------------------------------------------------------------------------------------------------- */

static int take_answer(discovery *d, const sotto_search_round *r, unsigned step)
{
    sotto_arena *arena = r->count ? &d->job->arena : &d->round;
    sotto_study_answer answer;
    sotto_err err = {0};
    const int code = analysis_answer(d->job, step, &answer, arena);

    if (code != EXIT_DONE)
        return code;
    double *counts = sotto_arena_take_array(arena, answer.count + 1, sizeof *counts);
    if (!counts)
        return EXIT_FAILED;
    for (size_t i = 0; i < answer.count; i++)
        counts[i] = answer.bins[i].count;
    err.status = sotto_search_answer(&d->search, r, counts, answer.count, &err);
    if (r->count)
        d->counted = answer;
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(d->job, &err);
}

static void say_round(const discovery *d, const sotto_search_round *r)
{
    const char *what = d->options.kind == SOTTO_SEARCH_WORDS ? "words" : "places";

    if (d->job->o->json || d->job->o->quiet)
        return;
    (void)fprintf(stderr, "round %u: %" PRIu64 " cells, noise %.1f", r->number, r->cells,
                  sqrt(2) * (double)r->sigma_milli / 1000);
    if (r->count)
        (void)fprintf(stderr, ": %zu %s counted\n", d->search.found_count, what);
    else
        (void)fprintf(stderr, ", threshold %" PRId64 ": %zu go on, %zu %s so far\n", r->threshold,
                      d->search.survivor_count, d->search.found_count, what);
}

/* The step was asked by this very recipe, as the frame and the answers before it have it. */
static int compare_recipe(discovery *d, const sotto_search_round *r, sotto_bytes text)
{
    sotto_err err = {0};

    err.status = sotto_folder_put(&d->job->folder, r->number, text, &err);
    return err.status == SOTTO_OK ? EXIT_DONE : analysis_failed(d->job, &err);
}

/* One round: its recipe is there or is written, and its answer is there or is asked for. *waits: devices have to answer first. */
static int go_round(discovery *d, const sotto_search_round *r, bool *waits)
{
    analysis_job *job = d->job;
    sotto_bytes text;
    int code = text_of(d, r, &text);

    if (code != EXIT_DONE)
        return code;
    const bool is_new = r->number > job->folder.steps;
    if (is_new && analysis_is_stopped(job)) {
        (void)fprintf(stderr, "sotto analysis discover: the analysis was stopped\n");
        return EXIT_FAILED;
    }
    code = is_new ? analysis_publish(job, text, !d->options.fresh) : compare_recipe(d, r, text);
    *waits = is_new && !analysis_is_simulated(job);
    if (code != EXIT_DONE || *waits)
        return code;
    code = analysis_ask(job, r->number, !r->count);
    if (code == EXIT_DONE)
        code = take_answer(d, r, r->number);
    if (code == EXIT_DONE)
        say_round(d, r);
    return code;
}

static int go_on(discovery *d, bool *waits)
{
    sotto_search_round round;
    int code = EXIT_DONE;

    *waits = false;
    while (code == EXIT_DONE && !*waits) {
        sotto_err err = {0};

        err.status = sotto_search_ask(&d->search, &round, &err);
        if (err.status == SOTTO_MISSING) {
            d->done = true;
            return EXIT_DONE;
        }
        code = err.status == SOTTO_OK ? go_round(d, &round, waits) : analysis_failed(d->job, &err);
        sotto_arena_reset(&d->round);
    }
    return code;
}

/* ---- what was found ---------------------------------------------------------------------------------------------------------- */

typedef struct box {
    double west, south, east, north;
} box;

static box box_of(const sotto_search_options *o, const char *cell)
{
    box b = {o->west, o->south, o->east, o->north};

    for (; *cell; cell++) {
        const double x = b.west + (b.east - b.west) / 2, y = b.south + (b.north - b.south) / 2;

        *((*cell - '0') & 1 ? &b.west : &b.east) = x;
        *((*cell - '0') & 2 ? &b.south : &b.north) = y;
    }
    return b;
}

static void found_json(sotto_json *j, const discovery *d)
{
    const sotto_search *s = &d->search;

    sotto_json_array(j, "found");
    for (size_t i = 0; i < s->found_count; i++) {
        sotto_json_object(j, NULL);
        sotto_json_text(j, d->options.kind == SOTTO_SEARCH_WORDS ? "word" : "cell",
                        s->found[i].text);
        sotto_json_real(j, "count", s->found[i].count);
        if (s->counted) {
            sotto_json_real(j, "low", d->counted.bins[i + 1].low);
            sotto_json_real(j, "high", d->counted.bins[i + 1].high);
        }
        sotto_json_uint(j, "round", s->found[i].round);
        if (d->options.kind == SOTTO_SEARCH_PLACES) {
            const box b = box_of(&d->options, s->found[i].text);

            sotto_json_real(j, "west", b.west);
            sotto_json_real(j, "south", b.south);
            sotto_json_real(j, "east", b.east);
            sotto_json_real(j, "north", b.north);
        }
        sotto_json_end(j);
    }
    sotto_json_end(j);
}

/* Fresh devices draw one of all rounds, the count of words among them. */
static unsigned asked_one_in(const discovery *d)
{
    return d->options.fresh ? d->options.rounds + (d->options.kind == SOTTO_SEARCH_WORDS) : 1;
}

static int show_json(const discovery *d, FILE *out)
{
    const sotto_search *s = &d->search;
    sotto_json j = sotto_show_object(out, SOTTO_JSON_INDENTED);
    char text[SOTTO_DECIMAL_TEXT];

    sotto_json_bool(&j, "done", d->done);
    sotto_json_uint(&j, "rounds", s->answered);
    sotto_json_bool(&j, "counted", s->counted);
    sotto_json_bool(&j, "fresh_devices", d->options.fresh);
    sotto_json_uint(&j, "asked_one_in", asked_one_in(d));
    sotto_decimal_format(text, d->options.epsilon);
    sotto_json_real(&j, "epsilon", strtod(text, NULL));
    sotto_decimal_format(text, d->options.delta);
    sotto_json_real(&j, "delta", strtod(text, NULL));
    sotto_json_real(&j, "false_finds_expected", s->false_finds);
    sotto_json_uint(&j, "open_prefixes", d->done ? s->survivor_count : 0);
    found_json(&j, d);
    return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
}

static int show_csv(const discovery *d, FILE *out)
{
    const bool words = d->options.kind == SOTTO_SEARCH_WORDS;
    const sotto_search *s = &d->search;
    sotto_text t = sotto_show_text(out);

    sotto_text_say(&t, words ? "word,count,low,high,round\n"
                             : "cell,count,west,south,east,north,round\n");
    for (size_t i = 0; i < s->found_count; i++) {
        const sotto_search_item *f = &s->found[i];
        const box b = box_of(&d->options, words ? "" : f->text);

        sotto_text_csv(&t, sotto_bytes_of(f->text, strlen(f->text)));
        sotto_text_say(&t, ",%.10g,", f->count);
        if (words && s->counted)
            sotto_text_say(&t, "%.10g,%.10g,", d->counted.bins[i + 1].low,
                           d->counted.bins[i + 1].high);
        else if (words)
            sotto_text_say(&t, ",,");
        else
            sotto_text_say(&t, "%.10g,%.10g,%.10g,%.10g,", b.west, b.south, b.east, b.north);
        sotto_text_say(&t, "%u\n", f->round);
    }
    return EXIT_DONE;
}

typedef struct ranked {
    const sotto_search_item *item;
    size_t number;
} ranked;

static int by_count(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    return x->item->count != y->item->count ? (x->item->count < y->item->count ? 1 : -1)
                                            : (x->number > y->number) - (x->number < y->number);
}

static void show_list(const discovery *d, sotto_text *t, size_t most)
{
    const sotto_search *s = &d->search;
    ranked *list = sotto_arena_take_array(&d->job->arena, s->found_count + 1, sizeof *list);

    for (size_t i = 0; list && i < s->found_count; i++)
        list[i] = (ranked){&s->found[i], i};
    if (list)
        qsort(list, s->found_count, sizeof *list, by_count);
    for (size_t i = 0; list && i < s->found_count && i < most; i++) {
        const char *text = list[i].item->text;

        sotto_text_say(t, "  ");
        const size_t used = sotto_text_plain(t, sotto_bytes_of(text, strlen(text)));
        sotto_text_say(t, "%*s %10.0f", used < 24 ? (int)(24 - used) : 0, "", list[i].item->count);
        if (s->counted)
            sotto_text_say(t, "  %.0f to %.0f", ceil(d->counted.bins[list[i].number + 1].low),
                           floor(d->counted.bins[list[i].number + 1].high));
        sotto_text_say(t, "\n");
    }
    if (s->found_count > most)
        sotto_text_say(t, "  and %zu more; `sotto analysis export %s --csv FILE` has all of them\n",
                       s->found_count - most, d->job->folder.path);
}

/* The epsilon is what was promised before the first round: how many there are was chosen by looking at answers. */
static void show_text(const discovery *d, FILE *out, size_t most)
{
    const sotto_search *s = &d->search;
    const bool words = d->options.kind == SOTTO_SEARCH_WORDS;
    sotto_text t = sotto_show_text(out);
    char epsilon[SOTTO_DECIMAL_TEXT], delta[SOTTO_DECIMAL_TEXT];

    sotto_decimal_format(epsilon, d->options.epsilon);
    sotto_decimal_format(delta, d->options.delta);
    sotto_text_say(&t, "%zu %s found in %u rounds%s%s\n\n", s->found_count,
                   words ? "words" : "places", s->answered, d->done ? "" : " so far",
                   s->counted ? "; counts with 95% intervals" : "");
    if (d->options.fresh)
        sotto_text_say(&t,
                       "counts are of the devices that a round asks, about one in %u of all\n\n",
                       asked_one_in(d));
    show_list(d, &t, most);
    sotto_text_say(&t, "\nfalse finds expected: %.2f at most, over all rounds\n", s->false_finds);
    sotto_text_say(&t, "epsilon %s at delta %s, %s\n", epsilon, delta,
                   d->options.fresh
                       ? "of a device that answers one round: each round asks fresh devices"
                       : "of all rounds together: one budget, split over rounds");
    sotto_text_say(&t,
                   "  basis: discrete Gaussian noise of one honest server (Canonne, Kamath and "
                   "Steinke 2020), %s\n",
                   d->options.fresh ? "and ledgers that let a device answer one round"
                                    : "rounds within a filter for zCDP (Feldman and Zrnic 2021)");
    if (s->dropped > 0)
        sotto_text_say(&t,
                       "%" PRIu64 " beginnings were too many for the cells of a round, and were "
                       "left out: --cells has room for more\n",
                       s->dropped);
    if (d->done && words && s->survivor_count > 0)
        sotto_text_say(&t, "%zu beginnings were not followed to their end: --%s was reached\n",
                       s->survivor_count, s->depth < sotto_search_reach(s) ? "rounds" : "longest");
}

static int show(const discovery *d, FILE *out, bool json, bool csv, size_t most)
{
    if (csv)
        return show_csv(d, out);
    if (json)
        return show_json(d, out);
    show_text(d, out, most);
    return EXIT_DONE;
}

/* ---- verbs ----------------------------------------------------------------------------------------------------------------------- */

static int reopen(discovery *d)
{
    sotto_err err = {0};
    sotto_bytes frame;

    err.status = sotto_folder_read(&frame, &d->job->folder, 0, "frame.json", &d->job->arena, &err);
    if (err.status != SOTTO_OK)
        return analysis_failed(d->job, &err);
    return open_search(d, frame);
}

int analysis_show_found(analysis_job *job, FILE *out, bool json, bool csv, size_t most)
{
    static discovery d;
    sotto_search_round round;
    sotto_bytes text;
    sotto_err err = {0};

    memset(&d, 0, sizeof d);
    d.job = job;
    int code = reopen(&d);
    while (code == EXIT_DONE) {
        err.status = sotto_search_ask(&d.search, &round, &err);
        d.done = err.status == SOTTO_MISSING;
        if (err.status != SOTTO_OK ||
            sotto_folder_state(&job->folder, round.number) != SOTTO_STEP_ANSWERED)
            break;
        code = text_of(&d, &round, &text);
        if (code == EXIT_DONE)
            code = compare_recipe(&d, &round, text);
        if (code == EXIT_DONE)
            code = take_answer(&d, &round, round.number);
        sotto_arena_reset(&d.round);
    }
    if (code == EXIT_DONE)
        code = show(&d, out, json, csv, most);
    sotto_arena_clear(&d.round);
    return code;
}

/* The first round is asked for before anything is written: what can't be asked leaves no folder. */
static int begin(discovery *d, const analysis_options *o)
{
    json_t *settings = json_object();
    const sotto_recipe *recipe;
    sotto_search_round round;
    sotto_bytes frame = {0}, text;
    sotto_err err = {0};
    int code = settings_of(settings, o);

    const int prepared = analysis_prepare(d->job, o, settings);
    code = code == EXIT_DONE ? prepared : code;
    if (code == EXIT_DONE)
        code = analysis_read(d->job, o->recipe, &frame);
    if (code == EXIT_DONE)
        code = open_search(d, frame);
    if (code != EXIT_DONE)
        return code;
    err.status = sotto_search_ask(&d->search, &round, &err);
    if (err.status != SOTTO_OK)
        return analysis_failed(d->job, &err);
    code = text_of(d, &round, &text);
    if (code == EXIT_DONE)
        code = analysis_check(d->job, text, &recipe, !d->options.fresh);
    return code == EXIT_DONE ? analysis_make(d->job, frame, (sotto_bytes){0}) : code;
}

static int resume(discovery *d, const analysis_options *o)
{
    const int code = analysis_open(d->job, o);

    if (code != EXIT_DONE)
        return code;
    if (!json_object_get(d->job->settings, "search"))
        return analysis_misused(o, "FOLDER",
                                "this is no search: `sotto analysis result` and drill");
    if (!is_fixed(o))
        return analysis_misused(o, "FOLDER",
                                "its search has begun, with settings that stay: name the folder "
                                "alone to go on");
    return reopen(d);
}

int analysis_discover(int argc, char **argv)
{
    static analysis_options options;
    static analysis_job job;
    static discovery d;
    bool waits = false;
    int code = analysis_options_read(&options, argc, argv);

    if (code != EXIT_DONE)
        return code;
    d.job = &job;
    const sotto_folder there = {.lock = -1};
    sotto_folder probe = there;
    (void)snprintf(probe.path, sizeof probe.path, "%s", options.folder);
    code =
        sotto_folder_has(&probe, 0, "analysis.json") ? resume(&d, &options) : begin(&d, &options);
    if (code == EXIT_DONE)
        code = go_on(&d, &waits);
    if (code == EXIT_DONE && waits)
        analysis_say_next(&job);
    else if (code == EXIT_DONE)
        code = show(&d, stdout, options.json, false, 40);
    sotto_arena_clear(&d.round);
    analysis_close(&job);
    return code;
}
