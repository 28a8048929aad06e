/* Labels of bins: as people read them; and exact ones, which no two bins share, with the way back. */
#include "recipe/encoding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PART = 16384 }; /* of a label: more than any phrase has */

static void put(sotto_writer *w, const char *text)
{
    sotto_write_bytes(w, sotto_bytes_of(text, strlen(text)));
}

/* A value of the recipe. In an exact label, what labels use for themselves gets a \ before it. */
static void put_value(sotto_writer *w, const char *text, bool exact)
{
    for (; *text; text++) {
        if (exact && strchr("\\|<", *text))
            sotto_write_uint(w, '\\', 1);
        sotto_write_uint(w, (uint8_t)*text, 1);
    }
}

/* The shortest of two forms that reads back as the same number. */
static void put_number(sotto_writer *w, double x)
{
    char text[40];

    (void)snprintf(text, sizeof text, "%.15g", x);
    if (strtod(text, NULL) != x)
        (void)snprintf(text, sizeof text, "%.17g", x);
    put(w, text);
}

static void put_bucket(sotto_writer *w, const sotto_encoder *e, uint64_t bin)
{
    const double *boundaries = e->as.buckets.boundaries;
    uint64_t first = (e->oov ? 1U : 0U) + (e->as.buckets.underflow == SOTTO_OUTSIDE_BUCKET);
    size_t count = e->as.buckets.count;

    if (bin < first) {
        put(w, "<");
        put_number(w, boundaries[0]);
    } else if (bin - first + 1 == count) {
        put(w, ">=");
        put_number(w, boundaries[count - 1]);
    } else {
        put(w, "[");
        put_number(w, boundaries[bin - first]);
        put(w, ",");
        put_number(w, boundaries[bin - first + 1]);
        put(w, ")");
    }
}

static void put_phrase(sotto_writer *w, const sotto_encoder *e, uint64_t bin, bool exact)
{
    uint64_t end = e->as.tree.end ? 1 : 0, oov = e->oov ? 1 : 0;
    uint64_t leaf = (bin - oov) / sotto_tree_leaf_bins(e),
             word = (bin - oov) % sotto_tree_leaf_bins(e);

    put_value(w,
              e->as.tree.salt ? e->as.tree.hashes.items[leaf]
                              : e->as.tree.nodes[e->as.tree.leaves[leaf]].phrase,
              exact);
    put(w, " ");
    if (word < end)
        put(w, "<end>");
    else if (word < end + oov)
        put(w, "<oov>");
    else
        put_value(w, e->as.tree.tokens.items[word - end - oov], exact);
}

static void put_part(sotto_writer *w, const sotto_encoder *e, uint64_t bin, bool exact)
{
    char text[40];

    if (e->oov && bin == 0) {
        put(w, "<oov>");
        return;
    }
    switch (e->type) {
    case SOTTO_ENCODER_BUCKETS:
        put_bucket(w, e, bin);
        return;
    case SOTTO_ENCODER_CATEGORIES:
        put_value(w, e->as.categories.items[bin - (e->oov ? 1 : 0)], exact);
        return;
    case SOTTO_ENCODER_BOOLEAN:
        put(w, bin ? "true" : "false");
        return;
    case SOTTO_ENCODER_INTEGER:
        (void)snprintf(text, sizeof text, "%" PRId64,
                       e->as.integer.min + (int64_t)bin * e->as.integer.step);
        put(w, text);
        return;
    case SOTTO_ENCODER_REAL:
        put_number(w, e->as.real.min + (double)bin / (double)(1U << e->as.real.fraction_bits));
        return;
    case SOTTO_ENCODER_PREFIX_TREE:
        put_phrase(w, e, bin, exact);
        return;
    }
}

void sotto_encoder_label(sotto_writer *w, const sotto_encoder *e, uint64_t bin)
{
    put_part(w, e, bin, false);
}

static sotto_status put_label(const sotto_recipe *recipe, sotto_buf *out, uint64_t bin, bool exact,
                              sotto_err *err)
{
    const sotto_encoding *e = &recipe->encoding;
    sotto_writer w = sotto_writer_on(out);
    uint64_t left = e->bins;

    if (bin >= e->bins)
        return sotto_fail(err, SOTTO_MISSING, "bin %" PRIu64 ": there are %" PRIu64, bin, e->bins);
    for (size_t i = 0; i < e->count; i++) {
        left /= e->encoders[i].bins;
        if (i > 0)
            put(&w, " | ");
        put_part(&w, &e->encoders[i], bin / left, exact);
        bin %= left;
    }
    return sotto_writer_finish(&w, "label", err);
}

sotto_status sotto_recipe_label(const sotto_recipe *recipe, sotto_buf *out, uint64_t bin,
                                sotto_err *err)
{
    sotto_err_clear(err);
    return put_label(recipe, out, bin, false, err);
}

sotto_status sotto_recipe_label_exact(const sotto_recipe *recipe, sotto_buf *out, uint64_t bin,
                                      sotto_err *err)
{
    sotto_err_clear(err);
    return put_label(recipe, out, bin, true, err);
}

/* ---- back ------------------------------------------------------------------------------------------- */

/* Takes the first part off a label, up to a | that nothing escapes. */
static sotto_bytes take_part(sotto_bytes *label)
{
    sotto_bytes part = *label;
    size_t i = 0;

    for (; i < label->len && label->data[i] != '|'; i++)
        i += label->data[i] == (uint8_t)'\\' ? 1U : 0U;
    if (i >= label->len) {
        *label = sotto_bytes_of(NULL, 0);
        return part;
    }
    part.len = i > 0 ? i - 1 : 0; /* the space before it */
    i += i + 1 < label->len ? 2U : 1U;
    *label = sotto_bytes_of(label->data + i, label->len - i);
    return part;
}

/* Without its escapes, and an ending 0; false: too long. */
static bool unescape(sotto_bytes part, char *out)
{
    size_t len = 0;

    if (part.len >= MAX_PART)
        return false;
    for (size_t i = 0; i < part.len; i++) {
        if (part.data[i] == '\\' && i + 1 < part.len)
            i++;
        out[len++] = (char)part.data[i];
    }
    out[len] = 0;
    return true;
}

static bool ends_with(sotto_bytes part, const char *end)
{
    size_t len = strlen(end);

    return part.len >= len && memcmp(part.data + part.len - len, end, len) == 0;
}

/* A bin that could have this label; whoever asks compares. */
static uint64_t guess_phrase(const sotto_encoder *e, sotto_bytes part, const char *text)
{
    uint64_t end = e->as.tree.end ? 1 : 0, oov = e->oov ? 1 : 0, start;
    sotto_bytes rest;
    size_t leaf, token;

    rest = sotto_bytes_of(text, strlen(text));
    if (e->as.tree.salt ? !sotto_words_find(&e->as.tree.hashes, sotto_tree_next_word(&rest), &leaf)
                        : !sotto_tree_walk(e, rest, &leaf, &rest))
        return 0;
    start = oov + leaf * sotto_tree_leaf_bins(e);
    if (ends_with(part, " <end>"))
        return start;
    if (ends_with(part, " <oov>"))
        return start + end;
    rest = sotto_tree_next_word(&rest);
    return sotto_words_find(&e->as.tree.tokens, rest, &token) ? start + end + oov + token : 0;
}

static uint64_t guess_bucket(const sotto_encoder *e, const char *text)
{
    uint64_t first = (e->oov ? 1U : 0U) + (e->as.buckets.underflow == SOTTO_OUTSIDE_BUCKET);
    const double *boundaries = e->as.buckets.boundaries;
    size_t low = 0, high = e->as.buckets.count;
    double lower;

    if (*text == '<')
        return first > 0 ? first - 1 : 0;
    if (*text == '>')
        return e->bins - 1;
    lower = *text ? strtod(text + 1, NULL) : 0;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;

        if (boundaries[middle] <= lower)
            low = middle;
        else
            high = middle;
    }
    return first + low;
}

static uint64_t guess(const sotto_encoder *e, sotto_bytes part, const char *text)
{
    size_t position;
    double x;

    switch (e->type) {
    case SOTTO_ENCODER_BUCKETS:
        return guess_bucket(e, text);
    case SOTTO_ENCODER_CATEGORIES:
        return sotto_words_find(&e->as.categories, sotto_bytes_of(text, strlen(text)), &position)
                   ? position + (e->oov ? 1 : 0)
                   : 0;
    case SOTTO_ENCODER_BOOLEAN:
        return *text == 't';
    case SOTTO_ENCODER_INTEGER:
        x = (strtod(text, NULL) - (double)e->as.integer.min) / (double)e->as.integer.step;
        break;
    case SOTTO_ENCODER_REAL:
        x = (strtod(text, NULL) - e->as.real.min) * (double)(1U << e->as.real.fraction_bits);
        break;
    default:
        return guess_phrase(e, part, text);
    }
    return x > 0 && x < (double)e->bins ? (uint64_t)(x + 0.25) : 0;
}

static bool part_bin(const sotto_encoder *e, sotto_bytes part, uint64_t *bin)
{
    char text[MAX_PART];
    uint8_t memory[2 * MAX_PART];
    sotto_buf label = sotto_buf_over(memory, sizeof memory);
    sotto_writer w = sotto_writer_on(&label);

    if (!unescape(part, text))
        return false;
    *bin = e->oov && ends_with(part, "<oov>") && part.len == 5 ? 0 : guess(e, part, text);
    if (*bin >= e->bins)
        return false;
    put_part(&w, e, *bin, true);
    return sotto_writer_finish(&w, "label", NULL) == SOTTO_OK &&
           sotto_bytes_equal_vartime(sotto_buf_bytes(&label), part);
}

sotto_status sotto_recipe_bin(const sotto_recipe *recipe, uint64_t *bin, sotto_bytes label,
                              sotto_err *err)
{
    sotto_err_clear(err);

    const sotto_encoding *e = &recipe->encoding;
    uint64_t found = 0, part;

    for (size_t i = 0; i < e->count; i++) {
        if (!part_bin(&e->encoders[i], take_part(&label), &part))
            return sotto_fail(err, SOTTO_MISSING, "no bin has this label");
        found = found * e->encoders[i].bins + part;
    }
    if (label.len > 0)
        return sotto_fail(err, SOTTO_MISSING, "no bin has this label");
    *bin = found;
    return SOTTO_OK;
}

uint64_t sotto_recipe_bins(const sotto_recipe *recipe)
{
    return recipe->encoding.bins;
}
