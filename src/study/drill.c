#include "study/drill.h"

#include "base/arena.h"
#include "base/rule.h"
#include "base/writer.h"
#include "recipe/calendar.h"
#include "recipe/encoding.h"
#include "recipe/splice.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define say sotto_write_format

enum {
    LABEL = 4096,      /* as answers print one, at most */
    DESCRIPTION = 1000 /* of a recipe, at most          */
};

static void say_text(sotto_writer *w, const char *text, size_t len)
{
    say(w, "\"");
    for (size_t i = 0; i < len; i++)
        if (text[i] == '"' || text[i] == '\\')
            say(w, "\\%c", text[i]);
        else if ((unsigned char)text[i] < ' ')
            say(w, "\\u%04x", (unsigned)text[i]);
        else
            sotto_write_bytes(w, sotto_bytes_of(&text[i], 1));
    say(w, "\"");
}

/* ---- a column each; true: it is divided --------------------------------------------------------------------------- */

static bool divide_buckets(sotto_writer *w, const sotto_encoder *e, uint64_t bin, unsigned parts)
{
    const uint64_t first =
        (e->oov ? 1U : 0U) + (e->as.buckets.underflow == SOTTO_OUTSIDE_BUCKET ? 1U : 0U);
    const double *b = e->as.buckets.boundaries;

    if (bin < first || bin - first + 1 >= e->as.buckets.count)
        return false; /* a bucket without an end */
    const double low = b[bin - first], high = b[bin - first + 1];
    say(w, "{\"type\": \"buckets\", \"boundaries\": [");
    for (unsigned i = 0; i <= parts; i++)
        say(w, "%s%.12g", i > 0 ? ", " : "",
            i == parts ? high : low + (high - low) * (double)i / (double)parts);
    say(w, "], \"underflow\": \"oov\", \"overflow\": \"oov\"}");
    return true;
}

/* All whole numbers that are rounded to the bin's. */
static bool divide_steps(sotto_writer *w, const sotto_encoder *e, uint64_t bin, unsigned parts)
{
    const int64_t step = e->as.integer.step, at = e->as.integer.min + (int64_t)bin * step;
    const int64_t from = at - step / 2, width = step - step % 2;
    const int64_t finer = width / (int64_t)parts > 1 ? width / (int64_t)parts : 1;

    if (step < 2)
        return false;
    say(w,
        "{\"type\": \"integer\", \"min\": %" PRId64 ", \"max\": %" PRId64 ", \"step\": %" PRId64
        "}",
        from, from + (width + finer - 1) / finer * finer, finer);
    return true;
}

static void keep_value(sotto_writer *w, const sotto_encoder *e, uint64_t bin)
{
    const uint64_t first = e->oov ? 1 : 0;
    const char *value = bin >= first ? e->as.categories.items[bin - first] : NULL;

    say(w, "{\"type\": \"categories\", \"oov\": %s, \"values\": [", value ? "false" : "true");
    for (size_t i = 0; !value && i < e->as.categories.count;
         i++) { /* <oov> is what is not listed */
        say(w, i > 0 ? ", " : "");
        say_text(w, e->as.categories.items[i], strlen(e->as.categories.items[i]));
    }
    if (value)
        say_text(w, value, strlen(value));
    say(w, "]}");
}

/* The path from the root to the leaf, and the token behind it as the next leaf. */
static bool divide_tree(sotto_writer *w, const sotto_encoder *e, uint64_t bin)
{
    const uint64_t oov = e->oov ? 1 : 0, per = sotto_tree_leaf_bins(e),
                   skip = (e->as.tree.end ? 1 : 0) + oov;
    const uint64_t leaf = bin >= oov ? (bin - oov) / per : 0,
                   token = bin >= oov ? (bin - oov) % per : 0;

    if (e->as.tree.salt || bin < oov || token < skip || leaf >= e->as.tree.leaf_count)
        return false;
    const char *phrase = e->as.tree.nodes[e->as.tree.leaves[leaf]].phrase;
    const char *next = e->as.tree.tokens.items[token - skip];
    size_t at = 0, len = strlen(phrase);
    say(w, "{\"type\": \"prefix-tree\", \"tree\": {\"root\": [");
    while (at < len) {
        const size_t end = at + strcspn(phrase + at, " ");

        say_text(w, phrase + at, end - at);
        say(w, "], ");
        say_text(w, phrase, end);
        say(w, ": [");
        at = end + (end < len);
    }
    say_text(w, next, strlen(next));
    say(w, "]}, \"tokens\": [");
    for (size_t i = 0; i < e->as.tree.tokens.count; i++) {
        say(w, i > 0 ? ", " : "");
        say_text(w, e->as.tree.tokens.items[i], strlen(e->as.tree.tokens.items[i]));
    }
    say(w, "], \"oov\": %s, \"end\": %s}", e->oov ? "true" : "false",
        e->as.tree.end ? "true" : "false");
    return true;
}

static bool say_encoder(sotto_writer *w, const sotto_recipe *r, const sotto_encoder *e,
                        uint64_t bin, unsigned parts)
{
    static const sotto_place encode = {NULL, "encode", 0};
    const sotto_place place = {&encode, e->column, 0};
    sotto_span span;

    switch (e->type) {
    case SOTTO_ENCODER_BUCKETS:
        if (divide_buckets(w, e, bin, parts))
            return true;
        break;
    case SOTTO_ENCODER_INTEGER:
        if (divide_steps(w, e, bin, parts))
            return true;
        break;
    case SOTTO_ENCODER_PREFIX_TREE:
        if (divide_tree(w, e, bin))
            return true;
        break;
    case SOTTO_ENCODER_CATEGORIES:
        keep_value(w, e, bin);
        return false;
    default:
        break;
    }
    if (sotto_place_find(&place, r->text, &span)) /* as it is */
        sotto_write_bytes(w, sotto_bytes_of(r->text.data + span.value, span.end - span.value));
    return false;
}

/* ---- the recipe ------------------------------------------------------------------------------------------------------ */

static bool say_encoding(sotto_writer *w, const sotto_recipe *r, uint64_t bin, unsigned parts)
{
    const sotto_encoding *e = &r->encoding;
    uint64_t rest = e->bins;
    bool divided = false;

    say(w, "{");
    for (size_t i = 0; i < e->count; i++) {
        rest /= e->encoders[i].bins;
        say(w, i > 0 ? ", " : "");
        say_text(w, e->encoders[i].column, strlen(e->encoders[i].column));
        say(w, ": ");
        divided = say_encoder(w, r, &e->encoders[i], bin / rest, parts) || divided;
        bin %= rest;
    }
    if (e->count > 1)
        say(w, ", \"combine\": [");
    for (size_t i = 0; e->count > 1 && i < e->count; i++) {
        say(w, i > 0 ? ", " : "");
        say_text(w, e->encoders[i].column, strlen(e->encoders[i].column));
    }
    say(w, e->count > 1 ? "]}" : "}");
    return divided;
}

bool sotto_study_divides(const sotto_recipe *r)
{
    for (size_t i = 0; i < r->encoding.count; i++) {
        const sotto_encoder *e = &r->encoding.encoders[i];

        if (e->type == SOTTO_ENCODER_BUCKETS ||
            (e->type == SOTTO_ENCODER_INTEGER && e->as.integer.step > 1) ||
            (e->type == SOTTO_ENCODER_PREFIX_TREE && !e->as.tree.salt))
            return true;
    }
    return false;
}

sotto_status sotto_study_bin_called(uint64_t *out, const sotto_recipe *r, sotto_bytes label,
                                    sotto_err *err)
{
    uint8_t memory[LABEL];
    size_t found = 0;

    if (sotto_recipe_bin(r, out, label, NULL) == SOTTO_OK)
        return SOTTO_OK;
    for (uint64_t i = 0; i < r->encoding.bins; i++) {
        sotto_buf read = sotto_buf_over(memory, sizeof memory);

        if (sotto_recipe_label(r, &read, i, NULL) == SOTTO_OK &&
            sotto_bytes_equal_vartime(sotto_buf_bytes(&read), label)) {
            *out = i;
            found++;
        }
    }
    if (SOTTO_RULE(drill_one_bin) && found > 1)
        return sotto_fail(err, SOTTO_DENIED,
                          "%zu bins read like this: write \\ before each \\, | and < that belongs "
                          "to a value",
                          found);
    return found > 0 ? SOTTO_OK : sotto_fail(err, SOTTO_MISSING, "no bin has this label");
}

/* A text of SQL, whose quotes are doubled. */
static void say_quoted(sotto_writer *w, const char *text)
{
    say(w, "'");
    for (; *text; text++)
        say(w, "%s%c", *text == '\'' ? "'" : "", *text);
    say(w, "'");
}

sotto_status sotto_study_where(sotto_buf *out, const sotto_recipe *r, uint64_t bin, sotto_err *err)
{
    uint64_t rest = r->encoding.bins;
    sotto_writer w = sotto_writer_on(out);

    for (size_t i = 0; i < r->encoding.count; i++, bin %= rest) {
        const sotto_encoder *e = &r->encoding.encoders[i];
        const uint64_t first = e->oov ? 1 : 0;

        rest /= e->bins;
        if (e->type != SOTTO_ENCODER_CATEGORIES || bin / rest < first)
            return sotto_fail(err, SOTTO_DENIED, "%.60s: the bin has no listed value", e->column);
        say(&w, "%s%s = ", i > 0 ? " AND " : "", e->column);
        say_quoted(&w, e->as.categories.items[bin / rest - first]);
    }
    return sotto_writer_finish(&w, "a condition", err);
}

/* ---- members of a recipe's text that are written anew ------------------------------------------------------------- */

enum { MEMBERS = 6 };

typedef struct edit {
    sotto_bytes text;
    sotto_buf values; /* one behind the other */
    size_t from;      /* where the one begins that is being written */
    sotto_writer w;
    sotto_splice splices[MEMBERS];
    size_t count;
    const char *lacks; /* a member that is not there */
} edit;

/* The writer points into it: it stays where it is. */
static sotto_status begin(edit *e, sotto_bytes text, size_t room, sotto_arena *arena,
                          sotto_err *err)
{
    *e = (edit){.text = text};
    SOTTO_TRY(sotto_buf_take(&e->values, arena, room, err));
    e->w = sotto_writer_on(&e->values);
    return SOTTO_OK;
}

/* What was written since the last one takes this member's place. */
static void put(edit *e, const sotto_place *up, const char *key)
{
    const sotto_place place = {up, key, 0};
    sotto_span span;

    if (!sotto_place_find(&place, e->text, &span)) {
        e->lacks = key;
        return;
    }
    e->splices[e->count++] = (sotto_splice){
        span.value, span.end, sotto_bytes_of(e->values.data + e->from, e->values.len - e->from)};
    e->from = e->values.len;
}

static void put_schedule(edit *e, int64_t opens, int64_t closes)
{
    static const sotto_place schedule = {NULL, "schedule", 0};
    char text[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(text, opens);
    say(&e->w, "\"%s\"", text);
    put(e, &schedule, "opens");
    sotto_calendar_format_time(text, closes);
    say(&e->w, "\"%s\"", text);
    put(e, &schedule, "closes");
}

static sotto_status finish(edit *e, sotto_bytes *out, sotto_arena *arena, sotto_err *err)
{
    SOTTO_TRY(sotto_writer_finish(&e->w, "the next recipe", err));
    if (e->lacks)
        return sotto_fail(err, SOTTO_MALFORMED, "a recipe without %s", e->lacks);
    return sotto_splice_text(out, e->text, e->splices, e->count, arena, err);
}

sotto_status sotto_study_drill(sotto_bytes *out, const sotto_recipe *r, uint64_t bin,
                               unsigned parts, const sotto_study_next *next, sotto_arena *arena,
                               sotto_err *err)
{
    edit e;

    if (r->statistic != SOTTO_STATISTIC_HISTOGRAM || bin >= r->encoding.bins || parts < 2 ||
        parts > 1000)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "a bin of a histogram is divided into 2 to 1000 parts");
    SOTTO_TRY(begin(&e, r->text, r->text.len + (size_t)parts * 32 + 4096, arena, err));
    say_text(&e.w, next->name, strlen(next->name));
    put(&e, NULL, "recipe");
    const bool divided = say_encoding(&e.w, r, bin, parts);
    put(&e, NULL, "encode");
    put_schedule(&e, next->opens, next->closes);
    if (!divided)
        return sotto_fail(err, SOTTO_DENIED, "no column of this bin has smaller parts");
    return finish(&e, out, arena, err);
}

sotto_status sotto_study_reschedule(sotto_bytes *out, sotto_bytes recipe, int64_t opens,
                                    int64_t closes, sotto_arena *arena, sotto_err *err)
{
    edit e;

    SOTTO_TRY(begin(&e, recipe, 128, arena, err));
    put_schedule(&e, opens, closes);
    return finish(&e, out, arena, err);
}

/* ---- another column, of those in a bin ---------------------------------------------------------------------------- */

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static size_t name_len(const char *text)
{
    size_t len = 0;

    while (is_of_name(text[len]))
        len++;
    return len > 0 && (text[0] < '0' || text[0] > '9') ? len : 0;
}

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* Behind this keyword; NULL: something else is there. */
static const char *skip_word(const char *at, const char *word)
{
    const size_t len = strlen(word);

    at = skip_space(at);
    return name_len(at) == len && strncasecmp(at, word, len) == 0 ? skip_space(at + len) : NULL;
}

/* Whether a word of the text, quoted or not, ends a condition: the query is more than that then. */
static bool is_more(const char *text)
{
    static const char *const words[] = {"group", "having", "order",     "limit",
                                        "union", "except", "intersect", "window"};
    bool more = strpbrk(text, ";") != NULL;

    for (const char *at = text; *at && !more; at++) {
        const size_t len = name_len(at);

        for (size_t i = 0; len > 0 && i < sizeof words / sizeof words[0]; i++)
            more = more || (len == strlen(words[i]) && strncasecmp(at, words[i], len) == 0);
        at += len > 0 ? len - 1 : 0;
    }
    return more;
}

/* `SELECT version, code FROM errors WHERE ...`: columns by name, one table, perhaps a condition. A row of its answer is a row of the
 * table, and one more condition takes rows away and does nothing else. */
static bool is_plain(const char *query, sotto_bytes *table, const char **condition)
{
    const char *at = skip_word(query, "select");

    for (bool more = at != NULL; more; at += more) {
        at += name_len(at);
        at = skip_space(at);
        more = *at == ',';
        if (more)
            at = skip_space(at + 1) - 1;
    }
    at = at ? skip_word(at, "from") : NULL;
    if (!at || name_len(at) == 0)
        return false;
    *table = sotto_bytes_of(at, name_len(at));
    at = skip_space(at + table->len);
    *condition = *at ? skip_word(at, "where") : NULL;
    if (SOTTO_RULE(drill_condition_is_all) && *condition && is_more(*condition))
        return false;
    return !*at || (*condition && **condition);
}

bool sotto_study_asks_by(const sotto_recipe *r)
{
    const char *condition;
    sotto_bytes table;

    for (size_t i = 0; i < r->encoding.count; i++)
        if (r->encoding.encoders[i].type != SOTTO_ENCODER_CATEGORIES)
            return false;
    return r->statistic == SOTTO_STATISTIC_HISTOGRAM && is_plain(r->query, &table, &condition);
}

static void say_values(sotto_writer *w, const char *column, const char *values)
{
    say(w, "{");
    say_text(w, column, strlen(column));
    say(w, ": {\"type\": \"categories\", \"values\": [");
    for (const char *at = values; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        say(w, at > values ? ", " : "");
        say_text(w, at, strcspn(at, ","));
    }
    say(w, "], \"oov\": true}}");
}

/* What of `len` bytes fits into `most`, in whole characters. */
static size_t cut(const char *text, size_t len, size_t most)
{
    if (len <= most)
        return len;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

/* `model of: Which error codes people meet, where version = '4.8'`: people read it, so it is about what is asked now. Where it has no
 * room the old description is cut, and a condition that is too long is left to the query. */
static void put_description(edit *e, const sotto_recipe *r, const char *column, sotto_bytes where,
                            sotto_buf *room)
{
    static const char of[] = " of: ", but[] = ", where ", dots[] = "...";
    const char *old = r->description;
    size_t len = old ? strlen(old) : 0;
    sotto_writer w = sotto_writer_on(room);

    if (len == 0)
        return;
    len -= old[len - 1] == '.';
    const size_t fixed = strlen(column) + strlen(of);
    const bool told = fixed + strlen(but) + where.len + strlen(dots) <= DESCRIPTION / 2;
    const size_t left = DESCRIPTION - fixed - (told ? strlen(but) + where.len : strlen(dots));
    const size_t kept = len <= left ? len : cut(old, len, left - strlen(dots));
    say(&w, "%s%s", column, of);
    sotto_write_bytes(&w, sotto_bytes_of(old, kept));
    say(&w, kept < len ? dots : "");
    if (told) {
        say(&w, but);
        sotto_write_bytes(&w, where);
    }
    say_text(&e->w, (const char *)room->data, room->len);
    put(e, NULL, "description");
}

sotto_status sotto_study_drill_by(sotto_bytes *out, const sotto_recipe *r, uint64_t bin,
                                  const char *column, const char *values,
                                  const sotto_study_next *next, sotto_arena *arena, sotto_err *err)
{
    const size_t room = 2 * r->text.len + 7 * strlen(values) + 4096;
    const char *condition;
    sotto_bytes table;
    sotto_buf query, about;
    edit e;

    if (SOTTO_RULE(drill_column_is_a_name) && (name_len(column) == 0 || column[name_len(column)]))
        return sotto_fail(err, SOTTO_MALFORMED, "%.60s is no name of a column", column);
    if (bin >= r->encoding.bins)
        return sotto_fail(err, SOTTO_MALFORMED, "there is no such bin");
    for (size_t i = 0; i < r->encoding.count; i++)
        if (strcasecmp(r->encoding.encoders[i].column, column) == 0)
            return sotto_fail(err, SOTTO_DENIED, "the bin has one value of %.60s", column);
    if (!is_plain(r->query, &table, &condition))
        return sotto_fail(err, SOTTO_DENIED,
                          "the last query is more than columns of one table and a condition");
    SOTTO_TRY(sotto_buf_take(&query, arena, room, err));
    SOTTO_TRY(sotto_buf_take(&about, arena, DESCRIPTION, err));
    sotto_writer w = sotto_writer_on(&query);
    say(&w, "SELECT %s FROM ", column);
    sotto_write_bytes(&w, table);
    say(&w, " WHERE %s%s%s", condition ? "(" : "", condition ? condition : "",
        condition ? ") AND " : "");
    SOTTO_TRY(sotto_writer_finish(&w, "a query", err));
    const size_t where = query.len;
    SOTTO_TRY(sotto_study_where(&query, r, bin, err));
    SOTTO_TRY(begin(&e, r->text, 2 * room + 6 * DESCRIPTION, arena, err));
    say_text(&e.w, next->name, strlen(next->name));
    put(&e, NULL, "recipe");
    say_text(&e.w, (const char *)query.data, query.len);
    put(&e, NULL, "query");
    put_description(&e, r, column, sotto_bytes_of(query.data + where, query.len - where), &about);
    say_values(&e.w, column, values);
    put(&e, NULL, "encode");
    put_schedule(&e, next->opens, next->closes);
    return finish(&e, out, arena, err);
}
