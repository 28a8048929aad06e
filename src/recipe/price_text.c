/* A recipe's text with other noise. All other bytes of it stay as they are: they are what its author wrote. */
#include "recipe/price.h"

#include "base/arena.h"
#include "base/writer.h"
#include "recipe/splice.h"
#include "recipe/statistic.h"

#include <inttypes.h>
#include <string.h>

#define say sotto_write_format

static bool find(const sotto_recipe *frame, const char *key, sotto_span *out)
{
    const sotto_place place = {NULL, key, 0};

    return sotto_place_find(&place, frame->text, out);
}

/* ---- the members ---------------------------------------------------------------------------------------- */

static void say_randomizer(sotto_writer *w, const sotto_recipe *r)
{
    static const char *const types[] = {
        [SOTTO_BINARY_RESPONSE] = "\"binary\"",
        [SOTTO_CHOICE_RESPONSE] = "\"choice\"",
        [SOTTO_ONE_HOT_ASYMMETRIC] = "\"one-hot\", \"form\": \"asymmetric\"",
        [SOTTO_ONE_HOT_SYMMETRIC] = "\"one-hot\", \"form\": \"symmetric\"",
        [SOTTO_SUBSET_SELECTION] = "\"subset\"",
    };
    char local[SOTTO_DECIMAL_TEXT];

    sotto_decimal_format(local, r->epsilon_local);
    say(w, "\"randomizer\": {\"type\": %s, \"epsilon_local\": %s},\n  ", types[r->randomizer],
        local);
}

static void say_importance(sotto_writer *w, const sotto_participation *p)
{
    say(w, "\"participation\": {\"type\": \"importance\", \"rate_default\": %.10g, ", p->rate);
    if (p->default_bin != SOTTO_NO_VALUE)
        say(w, "\"default\": %" PRIu64 ", ", p->default_bin);
    say(w, "\"default_share\": %.10g, \"rate_other\": %.10g}", p->default_share, p->rate_other);
}

static void say_participation(sotto_writer *w, const sotto_recipe *frame, const sotto_recipe *r)
{
    sotto_span span;

    if (r->participation.type == SOTTO_POISSON)
        say(w, "\"participation\": {\"type\": \"poisson\", \"rate\": %.10g}",
            r->participation.rate);
    else if (r->participation.type == SOTTO_IMPORTANCE)
        say_importance(w, &r->participation);
    else if (find(frame, "participation", &span))
        sotto_write_bytes(w, sotto_bytes_of(frame->text.data + span.key, span.end - span.key));
}

static void say_privacy(sotto_writer *w, const sotto_recipe *r)
{
    char epsilon[SOTTO_DECIMAL_TEXT], delta[SOTTO_DECIMAL_TEXT], honest[SOTTO_DECIMAL_TEXT];

    sotto_decimal_format(epsilon, r->epsilon);
    sotto_decimal_format(delta, r->delta);
    sotto_decimal_format(honest, r->honest);
    say(w,
        "\"privacy\": {\"adjacency\": \"%s\", \"epsilon\": %s, \"delta\": %s, \"min_cohort\": "
        "%" PRIu64 ", \"by\": \"%s\"",
        r->adjacency == SOTTO_ADJACENCY_REPLACEMENT ? "replacement" : "deletion", epsilon, delta,
        r->min_cohort, sotto_noise_source_name(r->by));
    if (r->by != SOTTO_BY_CROWD)
        say(w, ", \"sigma\": %.10g", r->sigma_milli / 1000.0);
    if (r->by == SOTTO_BY_SHARES)
        say(w, ", \"honest\": %s", honest);
    say(w, "}");
}

/* ---- the text ------------------------------------------------------------------------------------------- */

static sotto_bytes since(const sotto_buf *buf, size_t start)
{
    return sotto_bytes_of(buf->data + start, buf->len - start);
}

sotto_status sotto_price_write(sotto_bytes *text, sotto_bytes *fragment, const sotto_recipe *frame,
                               const sotto_recipe *recipe, sotto_arena *arena, sotto_err *err)
{
    enum { MEMBERS = 2048 };
    sotto_span span, taking, privacy;
    sotto_buf members;
    sotto_splice edits[4];
    size_t count = 0;

    if (!find(frame, "participation", &taking) || !find(frame, "privacy", &privacy))
        return sotto_fail(err, SOTTO_BUG, "a recipe without participation or privacy");
    SOTTO_TRY(sotto_buf_take(&members, arena, MEMBERS, err));
    sotto_writer w = sotto_writer_on(&members);
    if (recipe->by == SOTTO_BY_CROWD)
        say_randomizer(&w, recipe);
    say_participation(&w, frame, recipe);
    edits[count++] = (sotto_splice){taking.key, taking.end, since(&members, 0)};
    say(&w, ",\n  ");
    const size_t start = members.len;
    say_privacy(&w, recipe);
    edits[count++] = (sotto_splice){privacy.key, privacy.end, since(&members, start)};
    if (find(frame, "randomizer", &span))
        edits[count++] = sotto_splice_without(frame->text, &span);
    if (recipe->population != frame->population && find(frame, "population", &span)) {
        say(&w, ",\n  ");
        const size_t people = members.len;

        say(&w, "\"population\": %" PRIu64, recipe->population);
        edits[count++] = (sotto_splice){span.key, span.end, since(&members, people)};
    }
    SOTTO_TRY(sotto_writer_finish(&w, "price", err));
    *fragment = sotto_buf_bytes(&members);
    return sotto_splice_text(text, frame->text, edits, count, arena, err);
}
