/* The matrix of noise by buffers, for whoever writes a recipe: the one place where it is searched for. What is found are whole numbers in
 * the recipe, which everybody else reads and prices. */
#include "learn_run.h"
#include "show.h"
#include "support/arguments.h"
#include "verbs.h"

#include "account/numeric/shown.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/writer.h"
#include "learn/blt_choose.h"
#include "recipe/claim.h"
#include "recipe/learning_correlated.h"
#include "recipe/splice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 1 << 20, CLAIM = 1000 };

typedef struct proposal {
    const char *recipe, *out;
    bool json;
    sotto_arena arena;
    const sotto_learning *learning;
    sotto_learning found;       /* the same with buffers, and the least multiplier */
    sotto_learning_claim claim; /* of that */
    double left, left_fresh;    /* of a server's noise in the sum of all rounds so far, in clips */
} proposal;

/* ---- the least noise ------------------------------------------------------------------------------------------------- */

static double epsilon_at(const sotto_learning *l, uint64_t thousandths, sotto_learning_claim *claim)
{
    sotto_learning copy = *l;

    copy.multiplier = (double)thousandths / CLAIM;
    if (sotto_learning_claim_compute(claim, &copy, SOTTO_HONEST_UNSAID, NULL) != SOTTO_OK)
        return INFINITY;
    return claim->epsilon;
}

/* In thousandths, so that the recipe has it as it is. Epsilon falls with noise, as long as numbers fit. */
static sotto_status least_multiplier(sotto_learning *l, sotto_learning_claim *claim, sotto_err *err)
{
    const double wanted = sotto_decimal_down(l->head.epsilon);
    uint64_t low = 9, high = 10;

    while (high <= 10000 * CLAIM && !(epsilon_at(l, high, claim) <= wanted)) {
        low = high;
        high *= 2;
    }
    if (high > 10000 * CLAIM)
        return sotto_fail(err, SOTTO_DENIED,
                          "no multiplier keeps epsilon %g: take a larger one, fewer "
                          "participations, or a smaller learn.update.scale",
                          wanted);
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;

        *(epsilon_at(l, middle, claim) <= wanted ? &high : &low) = middle;
    }
    l->multiplier = (double)high / CLAIM;
    (void)epsilon_at(l, high, claim);
    return SOTTO_OK;
}

static sotto_status find(proposal *p, sotto_err *err)
{
    const sotto_learning *l = p->learning;
    const sotto_blt_pattern pattern = {l->rounds, l->separation, l->participations};
    sotto_learning fresh = *l;
    sotto_learning_claim claim;

    if (l->head.by != SOTTO_BY_SERVERS)
        return sotto_fail(err, SOTTO_DENIED, "privacy.by: only noise by servers is correlated");
    if (l->participations > SOTTO_BUFFERED_PARTICIPATIONS ||
        l->rounds > SOTTO_BUFFERED_DRAWS / sotto_learning_length(l))
        return sotto_fail(err, SOTTO_DENIED,
                          "rounds: more than buffers are for: at most %d participations, and 2^25 "
                          "as rounds times numbers of a sum",
                          (int)SOTTO_BUFFERED_PARTICIPATIONS);
    p->found = *l;
    p->found.restart = fresh.restart = 0;
    fresh.buffers = 0;
    p->found.buffers = SOTTO_BLT_BUFFERS;
    SOTTO_TRY(sotto_blt_choose(&p->found.blt, &pattern, err));
    SOTTO_TRY(least_multiplier(&fresh, &claim, err));
    SOTTO_TRY(least_multiplier(&p->found, &p->claim, err));
    p->left = p->found.multiplier * sotto_blt_error(&p->found.blt, l->rounds);
    p->left_fresh = fresh.multiplier * sqrt(((double)l->rounds + 1) / 2);
    return SOTTO_OK;
}

/* ---- the recipe ------------------------------------------------------------------------------------------------------ */

static void say_correlation(sotto_writer *w, const sotto_blt *b)
{
    sotto_write_format(w, "{\"type\": \"buffers\", \"buffers\": [");
    for (size_t j = 0; j < SOTTO_BLT_BUFFERS; j++)
        sotto_write_format(w, "%s{\"decay\": %" PRId64 ", \"weight\": %" PRId64 "}", j ? ", " : "",
                           b->decay[j], b->weight[j]);
    sotto_write_format(w, "]}");
}

/* Its author's text, with another multiplier and correlation. */
static sotto_status write_recipe(const proposal *p, sotto_err *err)
{
    static const sotto_place privacy = {NULL, "privacy", 0},
                             multiplier = {&privacy, "multiplier", 0},
                             correlation = {&privacy, "correlation", 0};
    const sotto_bytes old = p->learning->head.text;
    uint8_t memory[512];
    sotto_buf words = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&words);
    sotto_splice edits[2];
    size_t count = 0;
    sotto_arena arena;
    sotto_span at, also;
    sotto_bytes text;

    if (!sotto_place_find(&multiplier, old, &at))
        return sotto_fail(err, SOTTO_BUG, "a recipe without a multiplier");
    const bool has = sotto_place_find(&correlation, old, &also);
    sotto_write_format(&w, "%.15g", p->found.multiplier);
    const size_t number = words.len;
    sotto_write_format(&w, "%s", has ? "" : ", \"correlation\": ");
    const size_t start = has ? words.len : 0;
    say_correlation(&w, &p->found.blt);
    SOTTO_TRY(sotto_writer_finish(&w, "recipe", err));
    edits[count++] =
        (sotto_splice){at.value, at.end, sotto_bytes_of(memory, has ? number : words.len)};
    if (has)
        edits[count++] =
            (sotto_splice){also.value, also.end, sotto_bytes_of(memory + start, words.len - start)};
    sotto_arena_init(&arena, 2 * TEXT);
    sotto_status status = sotto_splice_text(&text, old, edits, count, &arena, err);
    if (status == SOTTO_OK)
        status = sotto_file_write(p->out, text, NULL, NULL, err);
    sotto_arena_clear(&arena);
    return status;
}

/* ---- what is printed --------------------------------------------------------------------------------------------------- */

static int print_json(const proposal *p)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    sotto_json_real(&j, "multiplier", p->found.multiplier);
    sotto_json_real(&j, "epsilon", p->claim.epsilon);
    sotto_json_object(&j, "correlation");
    sotto_json_text(&j, "type", "buffers");
    sotto_json_array(&j, "buffers");
    for (size_t i = 0; i < SOTTO_BLT_BUFFERS; i++) {
        sotto_json_object(&j, NULL);
        sotto_json_uint(&j, "decay", (uint64_t)p->found.blt.decay[i]);
        sotto_json_uint(&j, "weight", (uint64_t)p->found.blt.weight[i]);
        sotto_json_end(&j);
    }
    sotto_json_end(&j);
    sotto_json_end(&j);
    sotto_json_real(&j, "left_clips", p->left);
    sotto_json_real(&j, "left_clips_fresh", p->left_fresh);
    if (p->out)
        sotto_json_text(&j, "file", p->out);
    return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
}

static int print(const proposal *p)
{
    char memory[512];
    sotto_buf words = sotto_buf_over((uint8_t *)memory, sizeof memory - 1);
    sotto_writer w = sotto_writer_on(&words);

    if (p->json)
        return print_json(p);
    say_correlation(&w, &p->found.blt);
    memory[words.len] = 0;
    printf("\"multiplier\": %.15g, \"correlation\": %s\n", p->found.multiplier, memory);
    (void)fprintf(stderr,
                  "epsilon %.4g for %" PRIu64 " participations of a device, %" PRIu64
                  " rounds apart, in %" PRIu64 " rounds.\n"
                  "One server's noise in the sum of all rounds so far: %.4g clips, in place of "
                  "%.4g with fresh noise (root of the mean square over rounds).\n",
                  sotto_bound_shown(p->claim.epsilon, 4), p->learning->participations,
                  p->learning->separation, p->learning->rounds, p->left, p->left_fresh);
    return EXIT_DONE;
}

static int refuse(const proposal *p, const sotto_mistakes *mistakes, const sotto_err *err)
{
    for (size_t i = 0; i < mistakes->count; i++)
        if (mistakes->items[i].severity == SOTTO_MISTAKE) {
            (void)fprintf(stderr, "sotto learn buffers: %s: %s: %s\n", p->recipe,
                          mistakes->items[i].path, mistakes->items[i].what);
            return EXIT_LINT;
        }
    (void)fprintf(stderr, "sotto learn buffers: %s: %s\n", p->recipe, err->reason);
    return err->status == SOTTO_DENIED ? EXIT_LINT : sotto_exit_code(err->status, SOTTO_AT_FILE);
}

static int buffers_main(int argc, char **argv)
{
    static sotto_mistakes mistakes;
    proposal p = {0};
    sotto_err err = {0};
    sotto_bytes text;
    const sotto_argument words[] = {{.name = "RECIPE", .text = &p.recipe, .needed = true},
                                    {.name = "--out", .text = &p.out},
                                    {.name = "--json", .flag = &p.json}};
    int code =
        sotto_arguments_read("learn buffers", words, sizeof words / sizeof words[0], argc, argv);

    if (code != EXIT_DONE)
        return code;
    sotto_arena_init(&p.arena, 4 * TEXT + SOTTO_RECIPE_ARENA);
    sotto_status status = sotto_file_read(&text, p.recipe, TEXT, &p.arena, &err);
    if (status == SOTTO_OK)
        status = sotto_learning_read(&p.learning, text, &p.arena, &mistakes, &err);
    if (status == SOTTO_OK)
        status = find(&p, &err);
    if (status == SOTTO_OK && p.out)
        status = write_recipe(&p, &err);
    code = status == SOTTO_OK ? print(&p) : refuse(&p, &mistakes, &err);
    sotto_arena_clear(&p.arena);
    return code;
}

const sotto_verb sotto_verb_learn_buffers = {
    .name = "buffers",
    .summary = "propose noise by buffers for a recipe",
    .usage = "usage: sotto learn buffers RECIPE [--out FILE] [--json]\n\n"
             "Searches for the buffers whose noise largely cancels over the rounds of a learning\n"
             "recipe with noise by servers, for its participations and their separation. Prints\n"
             "them with the least multiplier that keeps its epsilon: both go into `privacy`.\n"
             "Whoever has the recipe prices these whole numbers, and needs no search.\n\n"
             "  --out FILE   write the recipe with them\n"
             "  --json       print one JSON object\n",
    .run = buffers_main,
};
