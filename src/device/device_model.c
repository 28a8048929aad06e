/* The model of a round: fetched by its digest, and nothing else is taken for it. */
#include "device/round.h"

#include "base/arena.h"
#include "base/floats.h"
#include "base/hex.h"
#include "base/rule.h"
#include "crypto/hash.h"
#include "device/exchange.h"
#include "device/oblivious.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* ---- its numbers ----------------------------------------------------------------------------------------------- */

enum { HEADER = 65536, TENSORS = 1024, DIMENSIONS = 8 };

typedef struct place {
    uint64_t from, to;
} place;

/* A whole number from 0 to most. */
static bool whole(const json_t *json, uint64_t most, uint64_t *out)
{
    const json_int_t value = json_integer_value(json);

    *out = (uint64_t)value;
    return json_is_integer(json) && value >= 0 && (uint64_t)value <= most;
}

/* Where a tensor's numbers stand among `bytes` of data, as many as its shape has. */
static bool place_of(const json_t *tensor, uint64_t bytes, place *out)
{
    const json_t *offsets = json_object_get(tensor, "data_offsets"),
                 *shape = json_object_get(tensor, "shape");
    const char *type = json_string_value(json_object_get(tensor, "dtype"));
    uint64_t count = 1, side;

    if (json_object_size(tensor) != 3 || !type || strcmp(type, "F32") != 0 ||
        !json_is_array(shape) || json_array_size(shape) > DIMENSIONS ||
        json_array_size(offsets) != 2 || !whole(json_array_get(offsets, 0), bytes, &out->from) ||
        !whole(json_array_get(offsets, 1), bytes, &out->to) || out->to < out->from)
        return false;
    for (size_t i = 0; i < json_array_size(shape); i++) {
        if (!whole(json_array_get(shape, i), bytes, &side) || (side && count > bytes / side))
            return false;
        count *= side;
    }
    return count <= bytes / 4 && out->to - out->from == 4 * count;
}

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;

    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

/* Tensors fill the data, and none shares a byte with another: then nothing is hidden in the file. */
static sotto_status check_places(json_t *header, uint64_t bytes, sotto_err *err)
{
    place places[TENSORS];
    size_t count = 0;
    uint64_t end = 0;
    const char *name;
    json_t *tensor;

    json_object_foreach(header, name, tensor)
    {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        if (count == TENSORS)
            return sotto_fail(err, SOTTO_MALFORMED, "model: more than %d tensors", TENSORS);
        if (!place_of(tensor, bytes, &places[count++]))
            return sotto_fail(err, SOTTO_MALFORMED,
                              "model: a tensor that is not float32, or of another shape");
    }
    for (size_t i = 1; i < count; i++) /* few, and mostly in order */
        for (size_t j = i; j > 0 && by_place(&places[j], &places[j - 1]) < 0; j--) {
            const place swap = places[j];

            places[j] = places[j - 1];
            places[j - 1] = swap;
        }
    for (size_t i = 0; i < count; i++) {
        if (places[i].from != end)
            return sotto_fail(err, SOTTO_MALFORMED, "model: tensors overlap, or leave bytes out");
        end = places[i].to;
    }
    return end == bytes ? SOTTO_OK
                        : sotto_fail(err, SOTTO_MALFORMED, "model: bytes behind its tensors");
}

sotto_status sotto_model_weights_read(float *weights, size_t count, sotto_bytes file,
                                      sotto_err *err)
{
    uint64_t len = 0;

    for (unsigned i = 8; file.len >= 8 && i-- > 0;)
        len = len << 8 | file.data[i];
    if (file.len < 8 || len > HEADER || len > file.len - 8)
        return sotto_fail(err, SOTTO_MALFORMED, "model: not a safetensors file");
    const uint64_t bytes = file.len - 8 - len;
    if (SOTTO_RULE(model_has_its_parameters) && bytes != 4 * (uint64_t)count)
        return sotto_fail(err, SOTTO_MALFORMED, "model: %" PRIu64 " bytes of numbers, not %zu",
                          bytes, 4 * count);
    json_t *header =
        json_loadb((const char *)file.data + 8, (size_t)len, JSON_REJECT_DUPLICATES, NULL);
    sotto_status status = SOTTO_OK;
    if (!json_is_object(header))
        status = sotto_fail(err, SOTTO_MALFORMED, "model: its header is no JSON object");
    else
        status = check_places(header, bytes, err);
    json_decref(header);
    SOTTO_TRY(status);
    const bool finite = sotto_floats_read(weights, file.data + 8 + len,
                                          bytes / 4 < count ? (size_t)(bytes / 4) : count);
    if (SOTTO_RULE(model_is_finite) && !finite)
        return sotto_fail(err, SOTTO_MALFORMED, "model: a number is not finite");
    return SOTTO_OK;
}

/* ---- fetching it ----------------------------------------------------------------------------------------------- */

/* Who takes part is hidden by the relay or by nothing: a fetch goes the way that the report goes. */
static sotto_status carry(sotto_device *device, const sotto_case *c, const char *url,
                          sotto_exchange_answer *answer, sotto_err *err)
{
    const sotto_exchange request = {.method = "GET", .url = url, .recipe = c->recipe->name};
    const sotto_bytes nothing = {NULL, 0};
    sotto_entropy entropy;
    sotto_oblivious way;

    if (!c->recipe->anonymity.relay)
        return sotto_exchange_carry(&device->host, &request, nothing, answer);
    SOTTO_TRY(sotto_oblivious_find(&way, device->terms.parties, c->now, err));
    way.ephemerals = device->ephemerals;
    sotto_device_entropy(device, &entropy);
    const sotto_status status = sotto_oblivious_carry(&device->host, &way, &request, nothing,
                                                      c->now, &entropy, &device->work, answer);
    sotto_entropy_clear(&entropy);
    return status;
}

static sotto_status fetch(sotto_device *device, const sotto_case *c, sotto_bytes *file,
                          sotto_err *err)
{
    const struct sotto_trainer_kept *kept = device->trainer;
    const uint64_t most = kept->trainer.model_bytes,
                   longest = 4 * c->round->learning->parameters + HEADER + 8;
    char url[sizeof kept->models + 2 * SOTTO_MODEL_HASH + 1];
    char hex[2 * SOTTO_MODEL_HASH + 1];
    sotto_exchange_answer answer = {0};

    if (SOTTO_RULE(model_bounded) && 4 * c->round->learning->parameters > most)
        return sotto_fail(err, SOTTO_TOO_LARGE, "the model is longer than the host allows");
    sotto_hex_encode(hex, sotto_bytes_of(c->round->record.model, SOTTO_MODEL_HASH));
    (void)snprintf(url, sizeof url, "%s%s", kept->models, hex);
    SOTTO_TRY(sotto_buf_take(&answer.body, &device->work, (size_t)longest, err));
    if (!device->host.exchange)
        return sotto_fail(err, SOTTO_MISSING, "there is no transport");
    const sotto_status status = carry(device, c, url, &answer, err);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "no answer came");
    if (answer.status != 200)
        return sotto_fail(err, SOTTO_MISSING, "the answer has status %u", answer.status);
    *file = sotto_buf_bytes(&answer.body);
    return SOTTO_OK;
}

/* ---- not at every tick ----------------------------------------------------------------------------------------- */

enum { SHORTEST_PAUSE = 15, LONGEST_PAUSE = 3600, PAUSES = 16 };

static struct sotto_model_pause *pause_of(sotto_device *device, const sotto_case *c)
{
    struct sotto_model_pause *pauses = device->trainer->pauses;

    for (size_t i = 0; i < PAUSES; i++)
        if (pauses[i].until &&
            memcmp(pauses[i].record, c->kept->hash, sizeof pauses[i].record) == 0)
            return &pauses[i];
    return NULL;
}

/* Whether another fetch must wait. A clock that was set back must not lengthen the pause. */
static bool is_paused(sotto_device *device, const sotto_case *c)
{
    const struct sotto_model_pause *pause = pause_of(device, c);

    return pause && c->now < pause->until && c->now >= pause->since;
}

static sotto_status leave_for_later(sotto_case *c)
{
    sotto_explain(&c->out, SOTTO_WHY_TRANSPORT, "model",
                  "The round's model is asked for again later.");
    return SOTTO_OK;
}

/* Twice as long as the last time, so that a model that never comes costs its server little. */
static void pause_round(sotto_device *device, const sotto_case *c)
{
    struct sotto_model_pause *pause = pause_of(device, c);
    int64_t seconds = pause ? 2 * (pause->until - pause->since) : SHORTEST_PAUSE;

    if (!pause) {
        pause = device->trainer->pauses;
        for (size_t i = 1; i < PAUSES; i++)
            if (device->trainer->pauses[i].until < pause->until)
                pause = &device->trainer->pauses[i];
        memcpy(pause->record, c->kept->hash, sizeof pause->record);
    }
    seconds = seconds < LONGEST_PAUSE ? seconds : LONGEST_PAUSE;
    pause->since = c->now;
    pause->until = c->now + seconds;
}

static sotto_status check(const sotto_case *c, sotto_bytes file, float *weights, sotto_err *err)
{
    uint8_t digest[SOTTO_MODEL_HASH];

    sotto_hash_once(digest, SOTTO_SHA256, file);
    if (SOTTO_RULE(model_has_its_digest) &&
        memcmp(digest, c->round->record.model, sizeof digest) != 0)
        return sotto_fail(err, SOTTO_REJECTED, "it has another digest than the round's record");
    return sotto_model_weights_read(weights, c->round->learning->parameters, file, err);
}

sotto_status sotto_round_fetch(sotto_device *device, sotto_case *c, sotto_bytes *file,
                               float **weights, sotto_err *err)
{
    sotto_err first = {0};

    if (SOTTO_RULE(no_model_when_called_off) && device->called_off)
        return leave_for_later(c);
    if (SOTTO_RULE(models_get_their_pause) && is_paused(device, c))
        return leave_for_later(c);
    *weights =
        sotto_arena_take_array(&device->work, c->round->learning->parameters, sizeof **weights);
    if (!*weights)
        return sotto_fail(err, SOTTO_NO_MEMORY, "model");
    sotto_status status = fetch(device, c, file, &first);
    if (status == SOTTO_OK)
        status = check(c, *file, *weights, &first);
    if (status == SOTTO_NO_MEMORY)
        return sotto_fail(err, status, "%s", first.reason);
    device->called_off |= status == SOTTO_AGAIN;
    if (status != SOTTO_OK) {
        pause_round(device, c);
        sotto_explain(&c->out, SOTTO_WHY_MODEL, "model", "The round's model can't be used: %s.",
                      first.reason);
    }
    return SOTTO_OK;
}
