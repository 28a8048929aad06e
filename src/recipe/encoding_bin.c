/* From values to bins. */
#include "recipe/encoding.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint64_t none = SOTTO_NO_VALUE;

static bool number_of(const sotto_datum *cell, double *number)
{
    *number = cell->type == SOTTO_DATUM_INTEGER ? (double)cell->integer : cell->real;
    return cell->type == SOTTO_DATUM_INTEGER ||
           (cell->type == SOTTO_DATUM_REAL && !isnan(cell->real));
}

static uint64_t oov_of(const sotto_encoder *e)
{
    return e->oov ? 0 : none;
}

/* <oov>, the bucket below, the buckets between boundaries, the bucket above: those of them that exist. */
static uint64_t bucket_bin(const sotto_encoder *e, const sotto_datum *cell)
{
    const double *boundaries = e->as.buckets.boundaries;
    size_t count = e->as.buckets.count, low = 0, high = count;
    uint64_t first = (e->oov ? 1U : 0U) + (e->as.buckets.underflow == SOTTO_OUTSIDE_BUCKET);
    double x;

    if (!number_of(cell, &x))
        return oov_of(e);
    while (low < high) { /* boundaries up to and with x */
        size_t middle = low + (high - low) / 2;

        if (boundaries[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) {
        if (e->as.buckets.underflow == SOTTO_OUTSIDE_OOV)
            return 0;
        return e->as.buckets.underflow == SOTTO_OUTSIDE_BUCKET ? first - 1 : first;
    }
    if (low == count) {
        if (e->as.buckets.overflow == SOTTO_OUTSIDE_OOV)
            return 0;
        return e->as.buckets.overflow == SOTTO_OUTSIDE_BUCKET ? e->bins - 1 : first + count - 2;
    }
    return first + low - 1;
}

static uint64_t category_bin(const sotto_encoder *e, const sotto_datum *cell)
{
    sotto_bytes text = cell->text;
    char digits[24];
    size_t position;

    if (cell->type == SOTTO_DATUM_INTEGER)
        text = sotto_bytes_of(digits,
                              (size_t)snprintf(digits, sizeof digits, "%" PRId64, cell->integer));
    else if (cell->type != SOTTO_DATUM_TEXT)
        return oov_of(e);
    if (!sotto_words_find(&e->as.categories, text, &position))
        return oov_of(e);
    return position + (e->oov ? 1 : 0);
}

static uint64_t integer_bin(const sotto_encoder *e, const sotto_datum *cell)
{
    double x;
    int64_t min = e->as.integer.min, max = e->as.integer.max, step = e->as.integer.step, value;

    if (!number_of(cell, &x))
        return none;
    if (cell->type == SOTTO_DATUM_INTEGER)
        value = cell->integer;
    else
        value = x <= (double)min ? min : x >= (double)max ? max : (int64_t)floor(x + 0.5);
    value = value < min ? min : value > max ? max : value;
    return (uint64_t)((value - min + step / 2) / step);
}

static uint64_t real_bin(const sotto_encoder *e, const sotto_datum *cell)
{
    double x;

    if (!number_of(cell, &x))
        return none;
    x = fmin(fmax(x, e->as.real.min), e->as.real.max) - e->as.real.min;
    uint64_t bin = (uint64_t)floor(ldexp(x, (int)e->as.real.fraction_bits) + 0.5);

    return bin < e->bins ? bin : e->bins - 1;
}

/* Of a leaf: <end>, <oov>, then the tokens. */
static uint64_t tree_bin(const sotto_encoder *e, const sotto_datum *cell)
{
    uint64_t end = e->as.tree.end ? 1 : 0, oov = e->oov ? 1 : 0, start;
    sotto_bytes rest, word;
    size_t leaf, token;

    if (cell->type != SOTTO_DATUM_TEXT || !sotto_tree_walk(e, cell->text, &leaf, &rest))
        return oov_of(e);
    start = oov + leaf * sotto_tree_leaf_bins(e);
    word = sotto_tree_next_word(&rest);
    if (word.len == 0)
        return end ? start : oov_of(e);
    if (sotto_words_find(&e->as.tree.tokens, word, &token))
        return start + end + oov + token;
    return oov ? start + end : none;
}

static uint64_t encoder_bin(const sotto_encoder *e, const sotto_datum *cell)
{
    switch (e->type) {
    case SOTTO_ENCODER_BUCKETS:
        return bucket_bin(e, cell);
    case SOTTO_ENCODER_CATEGORIES:
        return category_bin(e, cell);
    case SOTTO_ENCODER_INTEGER:
        return integer_bin(e, cell);
    case SOTTO_ENCODER_REAL:
        return real_bin(e, cell);
    case SOTTO_ENCODER_PREFIX_TREE:
        return tree_bin(e, cell);
    case SOTTO_ENCODER_BOOLEAN:
        break;
    }
    double x;

    return number_of(cell, &x) ? x != 0 : none;
}

uint64_t sotto_encoding_bin_vartime(const sotto_encoding *e, const sotto_datum *cells)
{
    uint64_t bin = 0;

    for (size_t i = 0; i < e->count; i++) {
        uint64_t part = encoder_bin(&e->encoders[i], &cells[i]);

        if (part == none)
            return none;
        bin = bin * e->encoders[i].bins + part;
    }
    return bin;
}

/* <oov> is the first bin of every encoder that has one. */
bool sotto_encoding_matches_vartime(const sotto_encoding *e, uint64_t bin)
{
    if (bin == none)
        return false;
    for (size_t i = e->count; i-- > 0; bin /= e->encoders[i].bins)
        if (e->encoders[i].oov && bin % e->encoders[i].bins == 0)
            return false;
    return true;
}

uint64_t sotto_encoding_oov(const sotto_encoding *e)
{
    for (size_t i = 0; i < e->count; i++)
        if (!e->encoders[i].oov)
            return none;
    return 0;
}
