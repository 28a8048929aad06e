#include "recipe/refine.h"

#include "base/arena.h"
#include "base/writer.h"
#include "recipe/calendar.h"
#include "recipe/splice.h"
#include "recipe/statistic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define say sotto_write_format

enum { FRACTION_BITS = 20 }; /* the most that the encoder takes */

/* ---- the new range ------------------------------------------------------------------------------------- */

/* All numbers that the encoder rounds into one of the interval's bins. Beyond the first and last bin nothing is known. */
static void widen(sotto_refined *out, const sotto_refine_question *q, sotto_number_grid grid,
                  double last)
{
    const double half = grid.step / 2;

    out->from_first = q->low <= grid.min;
    out->to_last = q->high >= last;
    out->min = out->from_first ? grid.min : q->low - half;
    out->max = out->to_last ? last : q->high + half;
}

static void place_integers(sotto_refined *out, uint64_t bins)
{
    const double from = floor(out->min), width = ceil(out->max) - from;

    out->step = fmax(1, ceil(width / (double)(bins - 1)));
    out->bins = (uint64_t)ceil(width / out->step) + 1;
    out->min = from;
    out->max = from + out->step * (double)(out->bins - 1);
}

/* The finest steps that fit; bits are what the encoder calls them. */
static unsigned place_reals(sotto_refined *out, uint64_t bins)
{
    unsigned bits = FRACTION_BITS;
    double steps;

    for (;; bits--) {
        steps = ceil(ldexp(out->max - out->min, (int)bits));
        if (bits == 0 || steps <= (double)(bins - 1))
            break;
    }
    out->step = ldexp(1, -(int)bits);
    out->bins = (uint64_t)steps + 1;
    out->max = out->min + steps * out->step;
    return bits;
}

static sotto_status check(const sotto_recipe *frame, const sotto_refine_question *q, uint64_t bins,
                          sotto_err *err)
{
    const sotto_number_grid grid = sotto_recipe_grid(frame);
    const double last = grid.min + grid.step * (double)(frame->encoding.bins - 1);

    if (!(q->low <= q->high && q->low >= grid.min && q->high <= last))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "from %g to %g is no interval within the recipe's range, %g to %g",
                          q->low, q->high, grid.min, last);
    if (bins < 3 || bins > 1000000)
        return sotto_fail(err, SOTTO_MALFORMED, "an interval has 3 to 1000000 bins");
    return SOTTO_OK;
}

/* ---- the text ------------------------------------------------------------------------------------------ */

sotto_status sotto_recipe_next_name(char out[SOTTO_REFINE_NAME + 1], const sotto_recipe *frame,
                                    const char *given, sotto_err *err)
{
    const size_t size = SOTTO_REFINE_NAME + 1;
    const char *dot = strrchr(frame->name, '.'), *digits = dot ? dot + 1 : "";
    const size_t count = strspn(digits, "0123456789");
    const bool numbered = count > 0 && count < 7 && digits[count] == 0;
    const unsigned long next = numbered ? strtoul(digits, NULL, 10) + 1 : 2;
    const int stem = (int)(numbered ? (size_t)(dot - frame->name) : strlen(frame->name));
    const int len = given ? snprintf(out, size, "%s", given)
                          : snprintf(out, size, "%.*s.%lu", stem, frame->name, next);

    if (len <= 0 || (size_t)len >= size ||
        strspn(out, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-") !=
            (size_t)len)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "a name has 1 to 64 of the characters A-Z a-z 0-9 . _ : -");
    if (strcmp(out, frame->name) == 0)
        return sotto_fail(err, SOTTO_MALFORMED,
                          "devices answer a recipe of one name once: the next one takes another");
    return SOTTO_OK;
}

static void say_encoder(sotto_writer *w, const sotto_refined *out, const sotto_encoder *e,
                        unsigned bits)
{
    if (e->type == SOTTO_ENCODER_INTEGER)
        say(w, "{\"type\": \"integer\", \"min\": %.0f, \"max\": %.0f, \"step\": %.0f}", out->min,
            out->max, out->step);
    else
        say(w, "{\"type\": \"real\", \"min\": %.17g, \"max\": %.17g, \"fraction_bits\": %u}",
            out->min, out->max, bits);
}

typedef struct change {
    sotto_place place;
    size_t from, to; /* of the new values */
} change;

/* Name, encoder and schedule are new; all other bytes are as their author wrote them. */
static sotto_status write_text(sotto_refined *out, const sotto_recipe *frame, unsigned bits,
                               sotto_arena *arena, sotto_err *err)
{
    static const sotto_place encode = {NULL, "encode", 0}, schedule = {NULL, "schedule", 0};
    const sotto_encoder *e = &frame->encoding.encoders[0];
    change changes[] = {{{NULL, "recipe", 0}, 0, 0},
                        {{&encode, e->column, 0}, 0, 0},
                        {{&schedule, "opens", 0}, 0, 0},
                        {{&schedule, "closes", 0}, 0, 0}};
    enum { CHANGES = sizeof changes / sizeof changes[0] };
    sotto_splice splices[CHANGES];
    char time[SOTTO_CALENDAR_TEXT];
    sotto_span span;
    sotto_buf values;

    SOTTO_TRY(sotto_buf_take(&values, arena, 1024, err));
    sotto_writer w = sotto_writer_on(&values);
    for (size_t i = 0; i < CHANGES; i++) {
        changes[i].from = values.len;
        if (i == 0)
            say(&w, "\"%s\"", out->name);
        if (i == 1)
            say_encoder(&w, out, e, bits);
        if (i >= 2) {
            sotto_calendar_format_time(time,
                                       i == 2 ? frame->closes : 2 * frame->closes - frame->opens);
            say(&w, "\"%s\"", time);
        }
        changes[i].to = values.len;
    }
    SOTTO_TRY(sotto_writer_finish(&w, "the next recipe", err));
    for (size_t i = 0; i < CHANGES; i++) {
        if (!sotto_place_find(&changes[i].place, frame->text, &span))
            return sotto_fail(err, SOTTO_BUG, "a recipe without %s", changes[i].place.key);
        splices[i] = (sotto_splice){
            span.value, span.end,
            sotto_bytes_of(values.data + changes[i].from, changes[i].to - changes[i].from)};
    }
    return sotto_splice_text(&out->text, frame->text, splices, CHANGES, arena, err);
}

sotto_status sotto_recipe_refine(sotto_refined *out, const sotto_recipe *frame,
                                 const sotto_refine_question *q, sotto_arena *arena, sotto_err *err)
{
    unsigned bits = 0;

    *out = (sotto_refined){0};
    if (frame->statistic != SOTTO_STATISTIC_QUANTILES)
        return sotto_fail(err, SOTTO_DENIED, "a %s has no quantile to refine",
                          sotto_statistic_name(frame->statistic));
    const sotto_encoder *e = &frame->encoding.encoders[0];
    const sotto_number_grid grid = sotto_recipe_grid(frame);
    const uint64_t bins = q->bins > 0 ? q->bins : frame->encoding.bins;
    SOTTO_TRY(check(frame, q, bins, err));
    SOTTO_TRY(sotto_recipe_next_name(out->name, frame, q->name, err));
    widen(out, q, grid, grid.min + grid.step * (double)(frame->encoding.bins - 1));
    if (e->type == SOTTO_ENCODER_INTEGER)
        place_integers(out, bins);
    else
        bits = place_reals(out, bins);
    if (out->step >= grid.step)
        return sotto_fail(err, SOTTO_DENIED,
                          "%" PRIu64 " bins from %g to %g have no smaller steps than %g: the "
                          "interval is as long as the noise makes it",
                          bins, q->low, q->high, grid.step);
    return write_text(out, frame, bits, arena, err);
}
