#include "study/drill.h"

#include "base/arena.h"
#include "base/writer.h"
#include "recipe/calendar.h"
#include "recipe/encoding.h"
#include "recipe/splice.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define say sotto_write_format

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

static void say_time(sotto_writer *w, int64_t time)
{
    char text[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(text, time);
    say(w, "\"%s\"", text);
}

sotto_status sotto_study_drill(sotto_bytes *out, const sotto_recipe *r, uint64_t bin,
                               unsigned parts, const char *name, int64_t opens, int64_t closes,
                               sotto_arena *arena, sotto_err *err)
{
    static const sotto_place schedule = {NULL, "schedule", 0};
    const sotto_place places[] = {{NULL, "recipe", 0},
                                  {NULL, "encode", 0},
                                  {&schedule, "opens", 0},
                                  {&schedule, "closes", 0}};
    enum { CHANGES = sizeof places / sizeof places[0] };
    sotto_splice splices[CHANGES];
    bool divided = false;
    sotto_span span;
    sotto_buf values;

    if (r->statistic != SOTTO_STATISTIC_HISTOGRAM || bin >= r->encoding.bins || parts < 2 ||
        parts > 1000)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "a bin of a histogram is divided into 2 to 1000 parts");
    SOTTO_TRY(sotto_buf_take(&values, arena, r->text.len + (size_t)parts * 32 + 4096, err));
    sotto_writer w = sotto_writer_on(&values);
    for (size_t i = 0; i < CHANGES; i++) {
        const size_t from = values.len;

        if (i == 0)
            say_text(&w, name, strlen(name));
        else if (i == 1)
            divided = say_encoding(&w, r, bin, parts);
        else
            say_time(&w, i == 2 ? opens : closes);
        if (!sotto_place_find(&places[i], r->text, &span))
            return sotto_fail(err, SOTTO_BUG, "a recipe without %s", places[i].key);
        splices[i] = (sotto_splice){span.value, span.end,
                                    sotto_bytes_of(values.data + from, values.len - from)};
    }
    SOTTO_TRY(sotto_writer_finish(&w, "the next recipe", err));
    if (!divided)
        return sotto_fail(err, SOTTO_DENIED,
                          "no column of this bin has smaller parts: write the next recipe, and ask "
                          "it with --recipe FILE");
    return sotto_splice_text(out, r->text, splices, CHANGES, arena, err);
}

sotto_status sotto_study_reschedule(sotto_bytes *out, sotto_bytes recipe, int64_t opens,
                                    int64_t closes, sotto_arena *arena, sotto_err *err)
{
    static const sotto_place schedule = {NULL, "schedule", 0};
    const sotto_place places[] = {{&schedule, "opens", 0}, {&schedule, "closes", 0}};
    sotto_splice splices[2];
    sotto_span span;
    sotto_buf values;

    SOTTO_TRY(sotto_buf_take(&values, arena, 128, err));
    sotto_writer w = sotto_writer_on(&values);
    for (size_t i = 0; i < 2; i++) {
        const size_t from = values.len;

        say_time(&w, i == 0 ? opens : closes);
        if (!sotto_place_find(&places[i], recipe, &span))
            return sotto_fail(err, SOTTO_MALFORMED, "a recipe without %s", places[i].key);
        splices[i] = (sotto_splice){span.value, span.end,
                                    sotto_bytes_of(values.data + from, values.len - from)};
    }
    SOTTO_TRY(sotto_writer_finish(&w, "a schedule", err));
    return sotto_splice_text(out, recipe, splices, 2, arena, err);
}
