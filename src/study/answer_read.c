/* An answer as the folder keeps it. */
#include "study/folder.h"

#include "base/hex.h"

#include <jansson.h>
#include <string.h>

static double number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static sotto_status read_bins(sotto_study_answer *out, const json_t *list, sotto_arena *arena,
                              sotto_err *err)
{
    const size_t count = json_array_size(list);

    out->bins = sotto_arena_take_array(arena, count + 1, sizeof *out->bins);
    if (!out->bins)
        return sotto_fail(err, SOTTO_NO_MEMORY, "an answer of %zu bins", count);
    for (size_t i = 0; i < count; i++) {
        const json_t *bin = json_array_get(list, i);

        if (!json_is_number(json_object_get(bin, "count")) ||
            json_integer_value(json_object_get(bin, "bin")) != (json_int_t)i)
            return sotto_fail(err, SOTTO_MALFORMED, "an answer without its bin %zu", i);
        out->bins[i] = (sotto_study_bin){number(bin, "count"), number(bin, "low"),
                                         number(bin, "high"), number(bin, "deviation")};
    }
    out->count = count;
    return SOTTO_OK;
}

static sotto_status read_figures(sotto_study_answer *out, const json_t *list, sotto_arena *arena,
                                 sotto_err *err)
{
    for (size_t i = 0; i < json_array_size(list) && i < 8; i++) {
        const json_t *f = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(f, "name"));
        char *copy = name ? sotto_arena_take(arena, strlen(name) + 1) : NULL;

        if (!copy)
            return sotto_fail(err, SOTTO_MALFORMED, "an answer with a figure without a name");
        memcpy(copy, name, strlen(name));
        out->figures[out->figure_count++] =
            (sotto_study_figure){copy, number(f, "value"), number(f, "low"), number(f, "high")};
    }
    return SOTTO_OK;
}

static sotto_status read_all(sotto_study_answer *out, const json_t *json, sotto_arena *arena,
                             sotto_err *err)
{
    const json_t *hash = json_object_get(json_object_get(json, "receipt"), "recipe_hash"),
                 *reports = json_object_get(json, "reports");

    if (!json_is_integer(reports) || !json_is_string(hash) ||
        !sotto_hex_decode(out->recipe_hash, sizeof out->recipe_hash,
                          sotto_bytes_of(json_string_value(hash), json_string_length(hash))))
        return sotto_fail(err, SOTTO_MALFORMED,
                          "not an answer as `sotto collect --json` prints it");
    out->reports = (uint64_t)json_integer_value(reports);
    SOTTO_TRY(read_figures(out, json_object_get(json, "figures"), arena, err));
    return read_bins(out, json_object_get(json, "bins"), arena, err);
}

sotto_status sotto_study_answer_read(sotto_study_answer *out, sotto_bytes text, sotto_arena *arena,
                                     sotto_err *err)
{
    json_t *json = json_loadb((const char *)text.data, text.len, 0, NULL);

    *out = (sotto_study_answer){0};
    const sotto_status status = read_all(out, json, arena, err);
    json_decref(json);
    return status;
}
