/* Encoders as recipes write them. */
#include "recipe/encoding.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void read_buckets(sotto_reading *r, sotto_encoder *e, json_t *json, const sotto_place *place)
{
    json_t *list = json_object_get(json, "boundaries");
    size_t count = json_array_size(list);
    double *boundaries = sotto_reading_take(r, count, sizeof *boundaries);
    sotto_place lists = {place, "boundaries", 0};

    if (!boundaries)
        return;
    for (size_t i = 0; i < count; i++) {
        boundaries[i] = json_number_value(json_array_get(list, i));
        if (i > 0 && boundaries[i] <= boundaries[i - 1]) {
            sotto_place at = {&lists, NULL, i};

            sotto_reading_mistake(r, &at, "boundaries that grow", "%g is not above %g",
                                  boundaries[i], boundaries[i - 1]);
        }
    }
    e->as.buckets.boundaries = boundaries;
    e->as.buckets.count = count;
    e->as.buckets.underflow =
        (sotto_outside)sotto_reading_choice(json, "encode.buckets", "underflow");
    e->as.buckets.overflow =
        (sotto_outside)sotto_reading_choice(json, "encode.buckets", "overflow");
    e->oov =
        e->as.buckets.underflow == SOTTO_OUTSIDE_OOV || e->as.buckets.overflow == SOTTO_OUTSIDE_OOV;
    e->bins = count - 1 + (e->oov ? 1 : 0) + (e->as.buckets.underflow == SOTTO_OUTSIDE_BUCKET) +
              (e->as.buckets.overflow == SOTTO_OUTSIDE_BUCKET);
    if (count == 1 && (e->as.buckets.underflow == SOTTO_OUTSIDE_CLIP ||
                       e->as.buckets.overflow == SOTTO_OUTSIDE_CLIP))
        sotto_reading_mistake(r, &lists, "2 or more boundaries",
                              "with one boundary there is no bucket to clip into");
}

static void read_categories(sotto_reading *r, sotto_encoder *e, json_t *json,
                            const sotto_place *place)
{
    sotto_place lists = {place, "values", 0};

    sotto_words_read(r, &e->as.categories, json_object_get(json, "values"), &lists);
    e->oov = json_is_true(json_object_get(json, "oov"));
    e->bins = e->as.categories.count + (e->oov ? 1 : 0);
}

static void read_integer(sotto_reading *r, sotto_encoder *e, json_t *json, const sotto_place *place)
{
    int64_t min = json_integer_value(json_object_get(json, "min"));
    int64_t max = json_integer_value(json_object_get(json, "max"));
    int64_t step = json_integer_value(json_object_get(json, "step"));
    sotto_place at = {place, "max", 0};

    e->as.integer.min = min;
    e->as.integer.max = max;
    e->as.integer.step = step;
    if (max <= min)
        sotto_reading_mistake(r, &at, "a number above min", "not above min");
    else if ((max - min) % step != 0)
        sotto_reading_mistake(r, &at, "min plus a multiple of step", "no whole number of steps");
    else
        e->bins = (uint64_t)((max - min) / step) + 1;
}

static void read_real(sotto_reading *r, sotto_encoder *e, json_t *json, const sotto_place *place)
{
    double min = json_number_value(json_object_get(json, "min"));
    double max = json_number_value(json_object_get(json, "max"));
    unsigned bits = (unsigned)json_integer_value(json_object_get(json, "fraction_bits"));
    double steps = ldexp(max - min, (int)bits);
    sotto_place at = {place, "max", 0};

    e->as.real.min = min;
    e->as.real.max = max;
    e->as.real.fraction_bits = bits;
    if (!(max > min))
        sotto_reading_mistake(r, &at, "a number above min", "not above min");
    else if (steps != floor(steps))
        sotto_reading_mistake(r, &at, "min plus a multiple of 2^-fraction_bits",
                              "no whole number of steps");
    else
        e->bins = steps < 0x1p62 ? (uint64_t)steps + 1 : UINT64_MAX;
}

static void read_encoder(sotto_reading *r, sotto_encoder *e, const char *column, json_t *json,
                         const sotto_place *place)
{
    const char *type = json_string_value(json_object_get(json, "type"));

    e->column = sotto_reading_copy(r, column);
    e->bins = 0;
    if (strcmp(type, "buckets") == 0) {
        e->type = SOTTO_ENCODER_BUCKETS;
        read_buckets(r, e, json, place);
    } else if (strcmp(type, "categories") == 0) {
        e->type = SOTTO_ENCODER_CATEGORIES;
        read_categories(r, e, json, place);
    } else if (strcmp(type, "integer") == 0) {
        e->type = SOTTO_ENCODER_INTEGER;
        read_integer(r, e, json, place);
    } else if (strcmp(type, "real") == 0) {
        e->type = SOTTO_ENCODER_REAL;
        read_real(r, e, json, place);
    } else if (strcmp(type, "prefix-tree") == 0 || strcmp(type, "hashed-prefixes") == 0) {
        e->type = SOTTO_ENCODER_PREFIX_TREE;
        sotto_encoder_read_tree(r, e, json, place);
    } else {
        e->type = SOTTO_ENCODER_BOOLEAN;
        e->bins = 2;
    }
}

/* The order of the product; every column once, and every column an encoder. */
static json_t *find_order(sotto_reading *r, json_t *encode, const sotto_place *place)
{
    json_t *order = json_object_get(encode, "combine");
    size_t encoders = json_object_size(encode) - (order ? 1 : 0);
    sotto_place lists = {place, "combine", 0};

    if (encoders == 0 || (!order && encoders > 1)) {
        sotto_reading_mistake(r, encoders ? &lists : place,
                              encoders ? "a list of all columns" : "an encoder for each column",
                              encoders ? "missing: the order of the columns" : "encodes nothing");
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(order); i++) {
        const char *column = json_string_value(json_array_get(order, i));
        sotto_place at = {&lists, NULL, i};

        if (strcmp(column, "combine") == 0 || !json_object_get(encode, column))
            sotto_reading_mistake(r, &at, "a column that encode has a key for",
                                  "no encoder for \"%.60s\"", column);
        for (size_t j = 0; j < i; j++)
            if (strcmp(column, json_string_value(json_array_get(order, j))) == 0)
                sotto_reading_mistake(r, &at, "each column once", "\"%.60s\" is listed twice",
                                      column);
    }
    if (order && json_array_size(order) < encoders)
        sotto_reading_mistake(r, &lists, "every column that encode has a key for",
                              "%zu columns of %zu", json_array_size(order), encoders);
    return order;
}

static void multiply(sotto_reading *r, sotto_encoding *out, const sotto_place *place)
{
    out->bins = 1;
    for (size_t i = 0; i < out->count; i++) {
        uint64_t bins = out->encoders[i].bins;
        sotto_place at = {place, out->encoders[i].column, 0};

        if (bins > SOTTO_RECIPE_MAX_BINS) {
            sotto_reading_mistake(r, &at, "at most 1000000 bins", "%" PRIu64 " bins", bins);
            return;
        }
        out->bins *= bins;
        if (out->bins > SOTTO_RECIPE_MAX_BINS) {
            sotto_reading_mistake(r, place, "at most 1000000 bins",
                                  "the product of all columns has more bins than that");
            return;
        }
    }
    if (out->bins < 2)
        sotto_reading_mistake(r, place, "2 or more bins", "%" PRIu64 " bins tell nothing",
                              out->bins);
}

void sotto_encoding_read(sotto_reading *r, sotto_encoding *out)
{
    json_t *encode = json_object_get(r->root, "encode"), *json, *order;
    sotto_place place = {NULL, "encode", 0};
    const char *column;

    order = find_order(r, encode, &place);
    if (!sotto_reading_clean(r, "encode"))
        return;
    json_object_foreach(encode, column, json)
    {
        sotto_place at = {&place, column, 0};
        size_t position = 0;

        if (strcmp(column, "combine") == 0)
            continue;
        while (order && strcmp(json_string_value(json_array_get(order, position)), column) != 0)
            position++;
        read_encoder(r, &out->encoders[position], column, json, &at);
        out->count++;
    }
    if (sotto_reading_clean(r, "encode") && !r->no_memory)
        multiply(r, out, &place);
}
