/* A round as a recipe: the frame with another query, encoding, noise and schedule. */
#include "study/search.h"

#include "base/arena.h"
#include "base/rule.h"
#include "base/writer.h"
#include "recipe/calendar.h"
#include "recipe/judge.h"
#include "recipe/policy_tables.h"
#include "recipe/splice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define say sotto_write_format

enum {
    MOST_QUERY = 16384, /* as recipes have it */
    ENTRY = 64,         /* of a list, beside its letters */
    TIME_INTERVAL = 1,  /* as DAP numbers batch modes */
};

/* ---- the frame --------------------------------------------------------------------------------------------------- */

static bool is_name(const char *column)
{
    return column[0] && strspn(column, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789_") == strlen(column);
}

static sotto_status check_frame(const sotto_search *s, const sotto_recipe *frame, sotto_err *err)
{
    const sotto_search_kind kind = s->options->kind;
    const size_t columns = kind == SOTTO_SEARCH_WORDS ? 1 : 2;

    if (frame->statistic != SOTTO_STATISTIC_HISTOGRAM)
        return sotto_fail(err, SOTTO_DENIED, "a search asks histograms: leave `statistic` out");
    if (SOTTO_RULE(search_noise_of_servers) && frame->by != SOTTO_BY_SERVERS)
        return sotto_fail(err, SOTTO_DENIED,
                          "a search is priced for noise by servers: set privacy.by to servers");
    if (frame->adjacency != SOTTO_ADJACENCY_REPLACEMENT)
        return sotto_fail(err, SOTTO_DENIED,
                          "a search is priced for privacy.adjacency replacement");
    if (frame->participation.type != SOTTO_POISSON)
        return sotto_fail(err, SOTTO_DENIED, "a search takes participation poisson");
    /* Silence would be told from an answer, without noise; values drawn at random pass thresholds. */
    if (SOTTO_RULE(search_answers_without_match) && frame->on_no_match != SOTTO_NO_MATCH_NO_VALUE)
        return sotto_fail(err, SOTTO_DENIED,
                          "a search takes on_no_match no-value: leave `on_no_match` out");
    if (SOTTO_RULE(search_batch_of_all) && frame->batch_mode != TIME_INTERVAL)
        return sotto_fail(err, SOTTO_DENIED,
                          "a search asks all of a span of time: set aggregation.batch_mode to "
                          "time-interval");
    if (sotto_recipe_cohorts(frame) != 1)
        return sotto_fail(err, SOTTO_DENIED, "a search has no cohorts: leave `cohorts` out");
    if (frame->encoding.count != columns)
        return sotto_fail(err, SOTTO_DENIED,
                          kind == SOTTO_SEARCH_WORDS ? "words come from a query of one column"
                          : kind == SOTTO_SEARCH_PLACES
                              ? "places come from a query of two columns, east and north"
                              : "phrases come from a query of two columns, a word and a phrase");
    for (size_t i = 0; i < columns; i++)
        if (!is_name(frame->encoding.encoders[i].column))
            return sotto_fail(err, SOTTO_DENIED, "a column of a search has a name like word_1");
    return SOTTO_OK;
}

/* A device that answers twice in a search among fresh ones has spent its budget twice. */
static sotto_status check_fresh(const sotto_search *s, const sotto_recipe *frame,
                                const sotto_policy *policy, sotto_err *err)
{
    const sotto_policy_analysis *a =
        s->options->fresh && policy ? sotto_policy_find(policy, frame->analysis) : NULL;

    if (SOTTO_RULE(search_fresh_answers_once) && a && a->reports != 1)
        return sotto_fail(
            err, SOTTO_DENIED,
            "fresh devices answer once: the policy allows %llu reports of %.60s, not 1",
            (unsigned long long)a->reports, a->name);
    if (SOTTO_RULE(search_fresh_stays_spent) && s->options->fresh && policy &&
        policy->period_days != 0)
        return sotto_fail(err, SOTTO_DENIED,
                          "fresh devices answer once: the policy's budgets are new after %llu "
                          "days, so set period_days to 0",
                          (unsigned long long)policy->period_days);
    return SOTTO_OK;
}

/* ---- the query ---------------------------------------------------------------------------------------------------- */

/* Within quotes of SQL. */
static void say_literal(sotto_writer *w, const char *text)
{
    say(w, "'");
    for (; *text; text++)
        say(w, *text == '\'' ? "''" : "%c", *text);
    say(w, "'");
}

static void say_denied(sotto_writer *w, const sotto_search *s, const char *column,
                       const char *before)
{
    if (s->options->denied_count > 0)
        say(w, "%s %s NOT IN (", before, column);
    for (size_t i = 0; i < s->options->denied_count; i++) {
        say(w, i > 0 ? ", " : "");
        say_literal(w, s->options->denied[i]);
    }
    if (s->options->denied_count > 0)
        say(w, ")");
}

/* The frame's query without what may stand behind it. */
static sotto_bytes inner(const sotto_recipe *frame)
{
    size_t len = strlen(frame->query);

    while (len > 0 && strchr(" \t\r\n;", frame->query[len - 1]))
        len--;
    return sotto_bytes_of(frame->query, len);
}

static void say_cut(sotto_writer *w, const sotto_search_round *r, const char *column)
{
    say(w, "SELECT ");
    if (r->heads > 0)
        say(w, "substr(%s, 1, %u) AS head, ", column, r->depth);
    say(w, "substr(%s, %u, %u) AS tail FROM (", column, r->depth + 1, r->segment);
}

static void say_words(sotto_writer *w, const sotto_search *s, const sotto_search_round *r,
                      const sotto_recipe *frame)
{
    const char *column = frame->encoding.encoders[0].column;
    const bool deny = s->options->kind == SOTTO_SEARCH_WORDS;

    if (r->count) {
        say(w, "SELECT %s FROM (", column);
        sotto_write_bytes(w, inner(frame));
        say(w, ")");
        say_denied(w, s, column, " WHERE");
        return;
    }
    say_cut(w, r, column);
    say(w, "SELECT %s || '" SOTTO_SEARCH_END "' AS %s FROM (", column, column);
    sotto_write_bytes(w, inner(frame));
    say(w, ") WHERE %s NOT LIKE '%%" SOTTO_SEARCH_END "%%'", column);
    if (deny) /* of a search for phrases, phrases are denied */
        say_denied(w, s, column, " AND");
    say(w, ")");
}

/* Words have one space between them, and a text has no more of them than a phrase may. So the tree of a round and the list of
 * the count see the same texts. */
static void say_phrases(sotto_writer *w, const sotto_search *s, const sotto_recipe *frame)
{
    const char *column = frame->encoding.encoders[1].column;

    say(w, "SELECT %s FROM (", column);
    sotto_write_bytes(w, inner(frame));
    say(w, ") WHERE %s NOT LIKE '%%  %%' AND %s NOT LIKE ' %%' AND %s NOT LIKE '%% ' AND ", column,
        column, column);
    say(w, "%s NOT LIKE '%%", column);
    for (unsigned i = 0; i < s->options->words; i++)
        say(w, " %%");
    say(w, "'");
    say_denied(w, s, column, " AND");
}

/* The number of a square, of 2^levels. What is just below the end may be rounded onto it, and have the number 2^levels. Its bits alone
 * would put it into the first square; it is in the last one. */
static void say_square(sotto_writer *w, const char *column, double from, double to, unsigned levels)
{
    for (unsigned part = 0; part < 2; part++)
        say(w, "%sCAST((%s - (%.17g)) * %.1f / %.17g AS INTEGER)", part ? " - (" : "", column, from,
            ldexp(1, (int)levels), to - from);
    say(w, " >> %u)", levels);
}

/* A digit for each level: 1 is the eastern half, 2 the northern one. The box has its western and southern edges, and not the others. */
static void say_places(sotto_writer *w, const sotto_search *s, const sotto_search_round *r,
                       const sotto_recipe *frame)
{
    const sotto_search_options *o = s->options;
    const char *x = frame->encoding.encoders[0].column, *y = frame->encoding.encoders[1].column;
    const unsigned levels = o->longest;

    say_cut(w, r, "cell");
    say(w, "SELECT ");
    for (unsigned i = levels; i-- > 0;)
        say(w, "((x >> %u & 1) + 2 * (y >> %u & 1))%s", i, i, i > 0 ? " || " : "");
    if (levels == 1)
        say(w, " || ''");
    say(w, " AS cell FROM (SELECT ");
    say_square(w, x, o->west, o->east, levels);
    say(w, " AS x, ");
    say_square(w, y, o->south, o->north, levels);
    say(w, " AS y FROM (");
    sotto_write_bytes(w, inner(frame));
    say(w, ") WHERE %s >= %.17g AND %s < %.17g AND %s >= %.17g AND %s < %.17g))", x, o->west, x,
        o->east, y, o->south, y, o->north);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------- */

void sotto_search_say_text(sotto_writer *w, sotto_bytes text)
{
    say(w, "\"");
    for (size_t i = 0; i < text.len; i++) {
        const char c = (char)text.data[i];

        if (c == '"' || c == '\\')
            say(w, "\\%c", c);
        else if ((unsigned char)c < ' ')
            say(w, "\\u%04x", (unsigned)c);
        else
            sotto_write_bytes(w, sotto_bytes_of(&c, 1));
    }
    say(w, "\"");
}

static void say_items(sotto_writer *w, const char *column, const sotto_search_item *items,
                      size_t count, bool oov)
{
    say(w, "\"%s\": {\"type\": \"categories\", \"oov\": %s, \"values\": [", column,
        oov ? "true" : "false");
    for (size_t i = 0; i < count; i++) {
        say(w, i > 0 ? ", " : "");
        sotto_search_say_text(w, sotto_bytes_of(items[i].text, strlen(items[i].text)));
    }
    say(w, "]}");
}

static void say_tails(sotto_writer *w, const sotto_search *s, const sotto_search_round *r)
{
    uint8_t memory[SOTTO_SEARCH_LONGEST * 4 + 8];

    say(w, "\"tail\": {\"type\": \"categories\", \"oov\": false, \"values\": [");
    for (size_t i = 0; i < r->tails; i++) {
        sotto_buf buf = sotto_buf_over(memory, sizeof memory);
        sotto_writer t = sotto_writer_on(&buf);

        sotto_search_tail(s, r, i, &t);
        say(w, i > 0 ? ", " : "");
        sotto_search_say_text(w, sotto_buf_bytes(&buf));
    }
    say(w, "]}");
}

static void say_encoding(sotto_writer *w, const sotto_search *s, const sotto_search_round *r,
                         const sotto_recipe *frame)
{
    say(w, "{");
    const char *column = frame->encoding.encoders[r->phrases ? 1 : 0].column;

    if (r->count) {
        say_items(w, column, s->found, s->found_count, true);
    } else if (r->phrases) {
        sotto_phrases_encode(s, r, column, w);
    } else {
        if (r->heads > 0) {
            say_items(w, "head", s->survivors, s->survivor_count, false);
            say(w, ", ");
        }
        say_tails(w, s, r);
        if (r->heads > 0)
            say(w, ", \"combine\": [\"head\", \"tail\"]");
    }
    say(w, "}");
}

/* ---- the recipe ----------------------------------------------------------------------------------------------------- */

typedef struct writing {
    const sotto_search *search;
    const sotto_search_round *round;
    const sotto_recipe *frame;
    sotto_decimal epsilon;
    sotto_writer w;
} writing;

static void say_recipe_name(writing *x)
{
    say(&x->w, "\"%.40s.%u\"", x->frame->name, x->round->number);
}

static sotto_status say_query(writing *x, sotto_arena *arena, sotto_err *err)
{
    sotto_buf query;

    SOTTO_TRY(sotto_buf_take(&query, arena, MOST_QUERY, err));
    sotto_writer w = sotto_writer_on(&query);
    if (x->round->phrases)
        say_phrases(&w, x->search, x->frame);
    else if (x->search->options->kind != SOTTO_SEARCH_PLACES)
        say_words(&w, x->search, x->round, x->frame);
    else
        say_places(&w, x->search, x->round, x->frame);
    if (sotto_writer_finish(&w, "the query", NULL) != SOTTO_OK)
        return sotto_fail(err, SOTTO_TOO_LARGE,
                          "the query has more than %d bytes: deny fewer words", MOST_QUERY);
    sotto_search_say_text(&x->w, sotto_buf_bytes(&query));
    return SOTTO_OK;
}

static void say_time(writing *x, unsigned ends)
{
    const int64_t length = x->frame->closes - x->frame->opens,
                  usual = x->frame->opens + length * (int64_t)(x->round->number - 1 + ends),
                  given = ends ? x->round->closes : x->round->opens;
    char time[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(time, x->round->closes != 0 ? given : usual);
    say(&x->w, "\"%s\"", time);
}

static void say_decimal(writing *x, sotto_decimal d)
{
    char text[SOTTO_DECIMAL_TEXT];

    sotto_decimal_format(text, d);
    say(&x->w, "%s", text);
}

enum { NAME, QUERY, ENCODE, RATE, SIGMA, EPSILON, DELTA, OPENS, CLOSES, CHANGES };

static sotto_status say_change(writing *x, unsigned change, sotto_arena *arena, sotto_err *err)
{
    switch (change) {
    case NAME:
        say_recipe_name(x);
        break;
    case QUERY:
        return say_query(x, arena, err);
    case ENCODE:
        say_encoding(&x->w, x->search, x->round, x->frame);
        break;
    case RATE: /* rounded down: devices of all rounds together are no more than there are */
        say(&x->w, "%.6g", floor(x->round->rate * 1e6) / 1e6);
        break;
    case SIGMA:
        say(&x->w, "%" PRIu64 ".%03u", x->round->sigma_milli / 1000,
            (unsigned)(x->round->sigma_milli % 1000));
        break;
    case EPSILON:
        say_decimal(x, x->epsilon);
        break;
    case DELTA:
        say_decimal(x, x->round->delta);
        break;
    default:
        say_time(x, change == CLOSES);
        break;
    }
    return SOTTO_OK;
}

/* Room for all that is written anew. */
static size_t room_for(const writing *x)
{
    const sotto_search *s = x->search;
    const size_t words = s->phrasing ? s->options->words : 1;

    /* A phrase of a tree stands in a list, and each of its beginnings may be a key. */
    return (x->round->tails + words * s->survivor_count + s->found_count + 1) * words *
               (ENTRY + 4 * (size_t)s->options->longest) +
           2 * MOST_QUERY;
}

static sotto_status write_all(sotto_bytes *out, writing *x, sotto_arena *arena, sotto_err *err)
{
    static const sotto_place privacy = {NULL, "privacy", 0}, schedule = {NULL, "schedule", 0},
                             participation = {NULL, "participation", 0};
    const sotto_place places[CHANGES] = {
        {NULL, "recipe", 0},         {NULL, "query", 0},      {NULL, "encode", 0},
        {&participation, "rate", 0}, {&privacy, "sigma", 0},  {&privacy, "epsilon", 0},
        {&privacy, "delta", 0},      {&schedule, "opens", 0}, {&schedule, "closes", 0}};
    sotto_splice splices[CHANGES];
    sotto_span span;
    sotto_buf values;

    SOTTO_TRY(sotto_buf_take(&values, arena, room_for(x), err));
    x->w = sotto_writer_on(&values);
    for (unsigned i = 0; i < CHANGES; i++) {
        const size_t from = values.len;

        SOTTO_TRY(say_change(x, i, arena, err));
        if (!sotto_place_find(&places[i], x->frame->text, &span))
            return sotto_fail(err, SOTTO_DENIED, "the recipe does not state %s", places[i].key);
        splices[i] = (sotto_splice){span.value, span.end,
                                    sotto_bytes_of(values.data + from, values.len - from)};
    }
    SOTTO_TRY(sotto_writer_finish(&x->w, "the recipe of a round", err));
    return sotto_splice_text(out, x->frame->text, splices, CHANGES, arena, err);
}

/* What the recipe may claim is what it states: rounded up, to five digits behind the point. */
static sotto_status find_epsilon(sotto_decimal *out, sotto_bytes text, sotto_arena *arena,
                                 sotto_err *err)
{
    sotto_mistakes *mistakes = sotto_arena_take(arena, sizeof *mistakes);
    const sotto_recipe *recipe;
    sotto_recipe_claim claim;

    if (!mistakes)
        return sotto_fail(err, SOTTO_NO_MEMORY, "a recipe");
    sotto_status status = sotto_recipe_read(&recipe, text, arena, mistakes, err);
    if (status == SOTTO_OK)
        status = sotto_recipe_lint(&claim, recipe, NULL, mistakes, err);
    if (status != SOTTO_OK && mistakes->count > 0) {
        sotto_err_clear(err);
        return sotto_fail(err, status, "the recipe of a round: %.40s: %.100s",
                          mistakes->items[0].path, mistakes->items[0].what);
    }
    SOTTO_TRY(status);
    out->units = (uint64_t)ceil(claim.epsilon_cohort * 1e5) * 10000000;
    return SOTTO_OK;
}

sotto_status sotto_search_recipe(sotto_bytes *out, const sotto_search *search,
                                 const sotto_search_round *round, const sotto_recipe *frame,
                                 const sotto_policy *policy, sotto_arena *arena, sotto_err *err)
{
    static const sotto_decimal most = {UINT64_C(30000000000000)};
    writing x = {.search = search, .round = round, .frame = frame, .epsilon = most};

    SOTTO_TRY(check_frame(search, frame, err));
    SOTTO_TRY(check_fresh(search, frame, policy, err));
    SOTTO_TRY(write_all(out, &x, arena, err));
    SOTTO_TRY(find_epsilon(&x.epsilon, *out, arena, err));
    return write_all(out, &x, arena, err);
}
