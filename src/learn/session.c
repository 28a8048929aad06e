#include "learn/session.h"

#include "base/file.h"
#include "crypto/hash.h"

#include <math.h>
#include <string.h>

#include "base/rule.h"

static const char magic[16] = "sotto-learn-1";

sotto_status sotto_session_init(sotto_session *out, const sotto_model *model,
                                const sotto_step_config *step, sotto_bytes purpose, uint64_t seed,
                                size_t most_points, sotto_arena *arena, sotto_err *err)
{
    const size_t arrays = sotto_step_arrays(step->optimizer), count = model->parameters;

    *out = (sotto_session){.model = model, .step = *step, .most_points = most_points};
    sotto_hash_once(out->purpose, SOTTO_SHA256, purpose);
    out->weights = sotto_arena_take_array(arena, count, sizeof(float));
    out->first = arrays > 0 ? sotto_arena_take_array(arena, count, sizeof(float)) : NULL;
    out->second = arrays > 1 ? sotto_arena_take_array(arena, count, sizeof(float)) : NULL;
    out->points = sotto_arena_take_array(arena, most_points, sizeof *out->points);
    if (!out->weights || !out->points || (arrays > 0 && !out->first) ||
        (arrays > 1 && !out->second))
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a model of %zu parameters", count);
    sotto_model_begin(model, out->weights, seed);
    return SOTTO_OK;
}

static void hash_number(sotto_hash *hash, uint64_t value)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    sotto_hash_update(hash, sotto_bytes_of(bytes, sizeof bytes));
}

static void record(sotto_session *s, const int64_t *sum, double unit, uint64_t reports)
{
    sotto_hash hash;
    uint64_t bits;

    memcpy(&bits, &unit, sizeof bits);
    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(s->transcript, sizeof s->transcript));
    hash_number(&hash, s->round);
    hash_number(&hash, reports);
    hash_number(&hash, bits);
    for (size_t i = 0; sum && i < s->model->parameters; i++)
        hash_number(&hash, (uint64_t)sum[i]);
    sotto_hash_final(&hash, s->transcript);
}

void sotto_session_close_round(sotto_session *s, const int64_t *sum, double unit, uint64_t reports)
{
    record(s, sum, unit, reports);
    sotto_step(&s->step, s->round, s->weights, s->first, s->second, sum, unit,
               s->model->parameters);
    s->round++;
    s->reports += reports;
}

void sotto_session_burn_round(sotto_session *s)
{
    record(s, NULL, 0, 0);
    s->round++;
    s->burnt++;
}

sotto_status sotto_session_note(sotto_session *s, double loss, double accuracy, sotto_err *err)
{
    if (s->point_count == s->most_points)
        return sotto_fail(err, SOTTO_TOO_LARGE, "a session has at most %zu points", s->most_points);
    s->points[s->point_count++] = (sotto_session_point){s->round, loss, accuracy};
    return SOTTO_OK;
}

/* ---- encoding -------------------------------------------------------------------------------------------------- */

size_t sotto_session_size(const sotto_session *s)
{
    const size_t arrays = 1 + sotto_step_arrays(s->step.optimizer);

    return 512 + arrays * s->model->parameters * 4 + s->point_count * 24;
}

static void write_double(sotto_writer *w, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    sotto_write_uint(w, bits, 8);
}

static void write_floats(sotto_writer *w, const float *x, size_t count)
{
    for (size_t i = 0; x && i < count; i++) {
        uint32_t bits;

        memcpy(&bits, &x[i], sizeof bits);
        sotto_write_uint(w, bits, 4);
    }
}

sotto_status sotto_session_encode(const sotto_session *s, sotto_buf *out, sotto_err *err)
{
    const size_t start = out->len;
    sotto_writer w = sotto_writer_on(out);
    uint8_t hash[SOTTO_SESSION_HASH];

    sotto_write_bytes(&w, sotto_bytes_of(magic, sizeof magic));
    sotto_write_bytes(&w, sotto_bytes_of(s->purpose, sizeof s->purpose));
    sotto_write_uint(&w, s->model->parameters, 8);
    sotto_write_uint(&w, s->round, 8);
    sotto_write_uint(&w, s->burnt, 8);
    sotto_write_uint(&w, s->reports, 8);
    sotto_write_bytes(&w, sotto_bytes_of(s->transcript, sizeof s->transcript));
    write_floats(&w, s->weights, s->model->parameters);
    write_floats(&w, s->first, s->model->parameters);
    write_floats(&w, s->second, s->model->parameters);
    sotto_write_uint(&w, s->point_count, 8);
    for (size_t i = 0; i < s->point_count; i++) {
        sotto_write_uint(&w, s->points[i].round, 8);
        write_double(&w, s->points[i].loss);
        write_double(&w, s->points[i].accuracy);
    }
    SOTTO_TRY(sotto_writer_finish(&w, "checkpoint", err));
    sotto_hash_once(hash, SOTTO_SHA256, sotto_bytes_of(out->data + start, out->len - start));
    w = sotto_writer_on(out);
    sotto_write_bytes(&w, sotto_bytes_of(hash, sizeof hash));
    return sotto_writer_finish(&w, "checkpoint", err);
}

static void read_floats(sotto_reader *in, float *x, size_t count)
{
    for (size_t i = 0; x && i < count; i++) {
        const uint32_t bits = (uint32_t)sotto_read_uint(in, 4);

        memcpy(&x[i], &bits, sizeof bits);
    }
}

static double read_double(sotto_reader *in)
{
    const uint64_t bits = sotto_read_uint(in, 8);
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Everything that can be wrong is found before anything of the session changes. */
static sotto_status check_file(const sotto_session *s, sotto_bytes file, sotto_bytes *body,
                               sotto_err *err)
{
    const size_t arrays = 1 + sotto_step_arrays(s->step.optimizer);
    const size_t head = sizeof magic + SOTTO_SESSION_HASH + 32 + SOTTO_SESSION_HASH;
    const size_t before = head + arrays * s->model->parameters * 4;
    uint8_t hash[SOTTO_SESSION_HASH];

    if (file.len < head + SOTTO_SESSION_HASH || memcmp(file.data, magic, sizeof magic) != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "this is no checkpoint");
    *body = sotto_bytes_of(file.data, file.len - SOTTO_SESSION_HASH);
    sotto_hash_once(hash, SOTTO_SHA256, *body);
    if (SOTTO_RULE(damaged_checkpoints) && memcmp(hash, file.data + body->len, sizeof hash) != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "the checkpoint is damaged: its hash is another");
    if (SOTTO_RULE(own_checkpoints) &&
        memcmp(file.data + sizeof magic, s->purpose, sizeof s->purpose) != 0)
        return sotto_fail(err, SOTTO_DENIED, "the checkpoint is of a run with other options");
    if (body->len < before + 8)
        return sotto_fail(err, SOTTO_MALFORMED, "the checkpoint is of another model");
    sotto_reader in = sotto_reader_over(sotto_bytes_of(body->data + before, 8));
    const uint64_t points = sotto_read_uint(&in, 8);
    if (points > s->most_points || body->len != before + 8 + points * 24)
        return sotto_fail(err, SOTTO_MALFORMED, "the checkpoint is of another model");
    return SOTTO_OK;
}

sotto_status sotto_session_decode(sotto_session *s, sotto_bytes file, sotto_err *err)
{
    sotto_bytes body;

    SOTTO_TRY(check_file(s, file, &body, err));
    sotto_reader in = sotto_reader_over(body);
    (void)sotto_read_bytes(&in, sizeof magic + SOTTO_SESSION_HASH);
    if (sotto_read_uint(&in, 8) != s->model->parameters)
        return sotto_fail(err, SOTTO_MALFORMED, "the checkpoint is of another model");
    s->round = sotto_read_uint(&in, 8);
    s->burnt = sotto_read_uint(&in, 8);
    s->reports = sotto_read_uint(&in, 8);
    sotto_read_fixed(&in, s->transcript, sizeof s->transcript);
    read_floats(&in, s->weights, s->model->parameters);
    read_floats(&in, s->first, s->model->parameters);
    read_floats(&in, s->second, s->model->parameters);
    s->point_count = (size_t)sotto_read_uint(&in, 8);
    for (size_t i = 0; i < s->point_count; i++) {
        s->points[i].round = sotto_read_uint(&in, 8);
        s->points[i].loss = read_double(&in);
        s->points[i].accuracy = read_double(&in);
    }
    return sotto_reader_finish(&in, "checkpoint", err);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

sotto_status sotto_session_save(const sotto_session *s, const char *path, sotto_arena *scratch,
                                sotto_file_moment *at, void *context, sotto_err *err)
{
    const sotto_arena_mark here = sotto_arena_here(scratch);
    const size_t size = sotto_session_size(s);
    uint8_t *memory = sotto_arena_take(scratch, size);
    sotto_buf buf = sotto_buf_over(memory, size);
    sotto_status status = SOTTO_OK;

    if (!memory)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a checkpoint");
    status = sotto_session_encode(s, &buf, err);
    if (status == SOTTO_OK)
        status = sotto_file_write(path, sotto_buf_bytes(&buf), at, context, err);
    sotto_arena_rollback(scratch, here);
    return status;
}

sotto_status sotto_session_load(sotto_session *s, const char *path, sotto_arena *scratch,
                                sotto_err *err)
{
    const sotto_arena_mark here = sotto_arena_here(scratch);
    const uint64_t most = sotto_session_size(s) + (uint64_t)s->most_points * 24;
    sotto_bytes file;
    sotto_status status = sotto_file_read(&file, path, most, scratch, err);

    if (status == SOTTO_OK)
        status = sotto_session_decode(s, file, err);
    sotto_arena_rollback(scratch, here);
    return status;
}
