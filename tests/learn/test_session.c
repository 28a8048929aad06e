/* Sessions: checkpoints through every crash, files that other programs read, and what is refused. */
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"
#include "learn/dataset.h"
#include "learn/model_file.h"
#include "learn/random.h"
#include "learn/session.h"
#include "support/directory.h"
#include "support/test.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 6 };

static const sotto_model_config config = {
    .type = SOTTO_MODEL_MLP, .inputs = 5, .hidden = {4}, .hidden_count = 1, .classes = 3};
static const sotto_step_config adam = {SOTTO_OPTIMIZER_ADAM, 0.1, 0.99, 0.9, 0.99, 0.001};

typedef struct place {
    sotto_model model;
    sotto_session session;
} place;

static void make(sotto_test *t, place *p, const char *purpose)
{
    CHECK_OK(t, sotto_model_init(&p->model, &config, &t->err));
    CHECK_OK(t, sotto_session_init(&p->session, &p->model, &adam,
                                   sotto_bytes_of(purpose, strlen(purpose)), 1, ROUNDS, &t->arena,
                                   &t->err));
}

/* Rounds up to the last, each from its number alone; the third burns. A checkpoint after each. */
static sotto_status go_on(place *p, const char *path, sotto_arena *arena, sotto_file_moment *at,
                          void *context, sotto_err *err)
{
    int64_t sum[64];

    while (p->session.round < ROUNDS) {
        uint64_t state = p->session.round;

        for (size_t i = 0; i < 64; i++)
            sum[i] = (int64_t)sotto_learn_below(&state, 2000) - 1000;
        if (p->session.round == 2)
            sotto_session_burn_round(&p->session);
        else
            sotto_session_close_round(&p->session, sum, 0.001, 10);
        SOTTO_TRY(sotto_session_note(&p->session, 1.0 / (double)p->session.round, 0.5, err));
        SOTTO_TRY(sotto_session_save(&p->session, path, arena, at, context, err));
    }
    return SOTTO_OK;
}

static sotto_bytes encoded(sotto_test *t, const place *p)
{
    sotto_buf buf = sotto_test_buf(t, sotto_session_size(&p->session));

    CHECK_OK(t, sotto_session_encode(&p->session, &buf, &t->err));
    return sotto_buf_bytes(&buf);
}

static void kill_at(void *context, unsigned step)
{
    int *left = context;

    (void)step;
    if ((*left)-- == 0)
        (void)raise(SIGKILL);
}

/* Killed before every step of every checkpoint, in turn: whoever goes on ends with the same bits. */
static void a_session_killed_anywhere_ends_the_same(sotto_test *t)
{
    char path[512];
    place whole, p;

    make(t, &whole, "run");
    const char *dir = sotto_test_directory(t);
    (void)snprintf(path, sizeof path, "%s/whole", dir);
    CHECK_OK(t, go_on(&whole, path, &t->arena, NULL, NULL, &t->err));
    CHECK_EQUAL(t, 1, whole.session.burnt);
    CHECK_EQUAL(t, 50, whole.session.reports);
    const sotto_bytes wanted = encoded(t, &whole);
    for (int at = 0; at < ROUNDS * SOTTO_FILE_STEPS; at++) {
        int left = at, status = 0;

        (void)snprintf(path, sizeof path, "%s/%d", dir, at);
        const pid_t child = fork();
        CHECK(t, child >= 0);
        if (child == 0) {
            make(t, &p, "run");
            (void)go_on(&p, path, &t->arena, kill_at, &left, NULL);
            _exit(1);
        }
        CHECK(t, waitpid(child, &status, 0) == child);
        CHECK(t, WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        make(t, &p, "run");
        const sotto_status found = sotto_session_load(&p.session, path, &t->arena, NULL);
        CHECK(t, found == SOTTO_OK || (found == SOTTO_MISSING && at < SOTTO_FILE_STEPS));
        CHECK(t, p.session.round >= (uint64_t)(at / SOTTO_FILE_STEPS));
        CHECK_OK(t, go_on(&p, path, &t->arena, NULL, NULL, &t->err));
        const sotto_bytes got = encoded(t, &p);
        CHECK_EQUAL(t, wanted.len, got.len);
        CHECK_BYTES(t, wanted.data, got.data, wanted.len);
    }
}

static void a_failed_save_leaves_the_last_checkpoint(sotto_test *t)
{
    const char *path = sotto_test_temp(t, "checkpoint");
    place p, kept;
    struct rlimit old, small;

    make(t, &p, "run");
    CHECK_OK(t, sotto_session_save(&p.session, path, &t->arena, NULL, NULL, &t->err));
    /* As on a full disk, no file may grow beyond 100 bytes. */
    CHECK(t, getrlimit(RLIMIT_FSIZE, &old) == 0);
    small = (struct rlimit){100, old.rlim_max};
    CHECK(t, signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &small) == 0);
    sotto_session_burn_round(&p.session);
    const sotto_status full = sotto_session_save(&p.session, path, &t->arena, NULL, NULL, NULL);
    CHECK(t, setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK_STATUS(t, SOTTO_IO, full);
    make(t, &kept, "run");
    CHECK_OK(t, sotto_session_load(&kept.session, path, &t->arena, &t->err));
    CHECK_EQUAL(t, 0, kept.session.round);
    CHECK_STATUS(
        t, SOTTO_IO,
        sotto_session_save(&p.session, "/dev/null/checkpoint", &t->arena, NULL, NULL, &t->err));
}

static void a_damaged_or_foreign_checkpoint_is_refused(sotto_test *t)
{
    place p, other;

    make(t, &p, "run");
    const sotto_bytes file = encoded(t, &p);
    uint8_t *copy = sotto_arena_take(&t->arena, file.len);
    CHECK(t, copy != NULL);
    make(t, &other, "another run");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_session_decode(&other.session, file, &t->err));
    CHECK_REASON(t, "other options");
    for (size_t at = 0; at < file.len; at++) { /* every byte counts */
        memcpy(copy, file.data, file.len);
        copy[at] ^= 1;
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_session_decode(&p.session, sotto_bytes_of(copy, file.len), &t->err));
    }
    for (size_t len = 0; len < file.len; len++)
        CHECK_STATUS(t, SOTTO_MALFORMED,
                     sotto_session_decode(&p.session, sotto_bytes_of(file.data, len), &t->err));
    CHECK_OK(t, sotto_session_decode(&p.session, file, &t->err));
}

/* ---- models in files ------------------------------------------------------------------------------------------------------ */

static void a_model_survives_safetensors(sotto_test *t)
{
    float back[64];
    place p;

    make(t, &p, "run");
    sotto_buf buf = sotto_test_buf(t, sotto_model_file_size(&p.model));
    CHECK_OK(t, sotto_safetensors_encode(&p.model, p.session.weights, &buf, &t->err));
    CHECK_OK(t, sotto_safetensors_decode(&p.model, back, sotto_buf_bytes(&buf), &t->err));
    CHECK_BYTES(t, p.session.weights, back, p.model.parameters * sizeof(float));
    p.session.weights[7] = NAN;
    buf.len = 0;
    CHECK_OK(t, sotto_safetensors_encode(&p.model, p.session.weights, &buf, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_safetensors_decode(&p.model, back, sotto_buf_bytes(&buf), &t->err));
    CHECK_REASON(t, "fc1.weight: a number is not finite");
}

/* Whatever its tensors are called: the head stays, and numbers are those of the session. */
static void a_model_of_others_keeps_the_head_of_its_file(sotto_test *t)
{
    static const char head[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}} ";
    const size_t len = sizeof head - 1;
    const float weights[2] = {-3, 0.25F};
    uint8_t bytes[256] = {(uint8_t)len};
    sotto_model m;

    memcpy(bytes + 8, head, len);
    const sotto_bytes file = sotto_bytes_of(bytes, 8 + len + 8);
    CHECK_OK(t, sotto_model_own(&m, file, &t->err));
    CHECK_EQUAL(t, 2, m.parameters);
    sotto_buf out = sotto_test_buf(t, sotto_model_file_size(&m));
    CHECK_OK(t, sotto_safetensors_encode(&m, weights, &out, &t->err));
    CHECK_EQUAL(t, file.len, out.len);
    CHECK_BYTES(t, bytes, out.data, 8 + len);
    CHECK_BYTES(t, weights, out.data + 8 + len, sizeof weights);
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_model_own(&m, sotto_bytes_of(bytes, 7), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_model_own(&m, sotto_bytes_of(bytes, 8 + len), &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_model_own(&m, sotto_bytes_of(bytes, file.len - 1), &t->err));
    bytes[4] = 1; /* a header of 4 GiB */
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_model_own(&m, file, &t->err));
}

static sotto_status decode_with(sotto_test *t, const place *p, const char *from, const char *to)
{
    float back[64];
    sotto_buf buf = sotto_test_buf(t, sotto_model_file_size(&p->model));

    if (sotto_safetensors_encode(&p->model, p->session.weights, &buf, &t->err) != SOTTO_OK)
        return SOTTO_BUG;
    for (size_t i = 8; i + strlen(from) < buf.len; i++)
        if (memcmp(buf.data + i, from, strlen(from)) == 0) {
            memcpy(buf.data + i, to, strlen(to));
            return sotto_safetensors_decode(&p->model, back, sotto_buf_bytes(&buf), &t->err);
        }
    return SOTTO_BUG;
}

static void model_files_that_are_not_the_model_are_refused(sotto_test *t)
{
    static const char *const edits[][2] = {
        {"\"fc1.bias\"", "\"fc9.bias\""},
        {"\"fc1.bias\"", "\"fc2.bias\""}, /* twice the same */
        {"F32", "F64"},
        {"[4,5]", "[5,4]"},
        {"[4,5]", "[45]}"},
        {"[0,80]", "[0,84]"},
        {"[0,80]", "[4,84]"}, /* overlaps */
        {"data_offsets", "data_offsetz"},
        {"{\"fc1", "[\"fc1"},
    };
    place p;

    make(t, &p, "run");
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++)
        CHECK_STATUS(t, SOTTO_MALFORMED, decode_with(t, &p, edits[i][0], edits[i][1]));
}

/* NumPy reads what was written, where it is installed. */
static void numpy_reads_an_npz(sotto_test *t)
{
    char command[1024];
    place p;

    if (system("python3 -c 'import numpy' >/dev/null 2>&1") != 0)
        SKIP(t, "python3 has no numpy");
    make(t, &p, "run");
    const char *path = sotto_test_temp(t, "model.npz");
    sotto_buf buf = sotto_test_buf(t, sotto_model_file_size(&p.model));
    CHECK_OK(t, sotto_npz_encode(&p.model, p.session.weights, &buf, &t->err));
    CHECK_OK(t, sotto_file_write(path, sotto_buf_bytes(&buf), NULL, NULL, &t->err));
    (void)snprintf(command, sizeof command,
                   "python3 -c 'import numpy, sys\n"
                   "m = numpy.load(\"%s\")\n"
                   "assert m[\"fc1.weight\"].shape == (4, 5) and m[\"fc2.bias\"].shape == (3,)\n"
                   "assert m[\"fc1.weight\"].dtype == \"float32\"\n"
                   "assert abs(float(m[\"fc1.weight\"][3, 4]) - %.17g) == 0'",
                   path, (double)p.session.weights[19]);
    CHECK(t, system(command) == 0);
}

/* The archive by itself: unzip's own check, by Python's standard library. */
static void python_finds_an_npz_whole(sotto_test *t)
{
    char command[1024];
    place p;

    if (system("python3 -c 'import zipfile' >/dev/null 2>&1") != 0)
        SKIP(t, "no python3");
    make(t, &p, "run");
    const char *path = sotto_test_temp(t, "model.npz");
    sotto_buf buf = sotto_test_buf(t, sotto_model_file_size(&p.model));
    CHECK_OK(t, sotto_npz_encode(&p.model, p.session.weights, &buf, &t->err));
    CHECK_OK(t, sotto_file_write(path, sotto_buf_bytes(&buf), NULL, NULL, &t->err));
    (void)snprintf(command, sizeof command,
                   "python3 -c 'import struct, zipfile\n"
                   "z = zipfile.ZipFile(\"%s\")\n"
                   "assert z.testzip() is None and len(z.namelist()) == 4\n"
                   "b = z.read(\"fc1.weight.npy\")\n"
                   "assert len(b) == 128 + 80 and b[:8] == b\"\\x93NUMPY\\x01\\x00\"\n"
                   "assert struct.unpack(\"<f\", b[-4:])[0] == %.17g'",
                   path, (double)p.session.weights[19]);
    CHECK(t, system(command) == 0);
}

/* ---- examples in files ------------------------------------------------------------------------------------------------------- */

static void a_dataset_keeps_users_and_rows(sotto_test *t)
{
    static const uint8_t labels[5] = {0, 1, 2, 0, 1};
    static const uint32_t counts[2] = {3, 1};
    const sotto_dataset made = {.kind = SOTTO_DATASET_BYTES,
                                .classes = 3,
                                .height = 1,
                                .width = 2,
                                .users = 2,
                                .training = 4,
                                .test = 1,
                                .labels = {labels, 5}};
    sotto_buf buf = sotto_test_buf(t, sotto_dataset_head_size(&made) + 10);
    sotto_dataset d;
    uint64_t firsts[3];

    CHECK_OK(t, sotto_dataset_encode(&made, counts, &buf, &t->err));
    CHECK_EQUAL(t, sotto_dataset_head_size(&made), buf.len);
    for (uint8_t i = 0; i < 10; i++)
        buf.data[buf.len++] = i;
    CHECK_OK(t, sotto_dataset_decode(&d, sotto_buf_bytes(&buf), &t->err));
    sotto_dataset_firsts(&d, firsts);
    CHECK(t, firsts[1] == 3 && firsts[2] == 4 && d.largest == 3);
    const sotto_examples second = sotto_dataset_rows(&d, 3, 1);
    CHECK(t, second.bytes[0] == 6 && second.labels[0] == 0 && second.count == 1);
    buf.data[16 + 7 * 8 + 3] = 4; /* the first user has one row more */
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dataset_decode(&d, sotto_buf_bytes(&buf), &t->err));
    CHECK_REASON(t, "do not add up");
    buf.data[16 + 7 * 8 + 3] = 3;
    buf.data[16 + 7 * 8 + 8] = 3; /* a label */
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dataset_decode(&d, sotto_buf_bytes(&buf), &t->err));
    buf.len--;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_dataset_decode(&d, sotto_buf_bytes(&buf), &t->err));
}

static void a_model_has_the_size_of_its_rows(sotto_test *t)
{
    const sotto_dataset images = {
        .kind = SOTTO_DATASET_BYTES, .classes = 3, .height = 20, .width = 24};
    const sotto_dataset text = {
        .kind = SOTTO_DATASET_SYMBOLS, .classes = 30, .height = 1, .width = 9};
    sotto_model m;

    CHECK_OK(t, sotto_dataset_model(&m, &images, "logistic", &t->err));
    CHECK_EQUAL(t, 480 * 3 + 3, m.parameters);
    CHECK_OK(t, sotto_dataset_model(&m, &images, "cnn", &t->err));
    CHECK(t, m.config.height == 20 && m.config.width == 24);
    CHECK_OK(t, sotto_dataset_model(&m, &text, "gru", &t->err));
    CHECK_EQUAL(t, 8, m.config.steps);
    CHECK_STATUS(t, SOTTO_DENIED, sotto_dataset_model(&m, &text, "cnn", &t->err));
    CHECK_REASON(t, "text needs gru");
    CHECK_STATUS(t, SOTTO_DENIED, sotto_dataset_model(&m, &images, "gru", &t->err));
    CHECK_REASON(t, "gru needs text");
    CHECK_STATUS(t, SOTTO_MISSING, sotto_dataset_model(&m, &images, "vgg", &t->err));
}

/* A model of text reads rows of width bytes: others would be cut where no row ends. */
static void rows_of_text_have_one_line(sotto_test *t)
{
    static const uint32_t counts[1] = {2};
    sotto_dataset made = {.kind = SOTTO_DATASET_SYMBOLS,
                          .classes = 3,
                          .height = 1,
                          .width = 4,
                          .users = 1,
                          .training = 2};
    sotto_dataset d;

    for (size_t height = 1; height <= 2; height++) {
        sotto_buf buf = sotto_test_buf(t, sotto_dataset_head_size(&made) + 16);

        made.height = height;
        CHECK_OK(t, sotto_dataset_encode(&made, counts, &buf, &t->err));
        memset(buf.data + buf.len, 1, 8 * height);
        buf.len += 8 * height;
        CHECK_STATUS(t, height == 1 ? SOTTO_OK : SOTTO_MALFORMED,
                     sotto_dataset_decode(&d, sotto_buf_bytes(&buf), &t->err));
    }
    CHECK_REASON(t, "height of 1");
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_session_killed_anywhere_ends_the_same),
        CASE(a_failed_save_leaves_the_last_checkpoint),
        CASE(a_damaged_or_foreign_checkpoint_is_refused),
        CASE(a_model_survives_safetensors),
        CASE(a_model_of_others_keeps_the_head_of_its_file),
        CASE(model_files_that_are_not_the_model_are_refused),
        CASE(python_finds_an_npz_whole),
        CASE(numpy_reads_an_npz),
        CASE(a_dataset_keeps_users_and_rows),
        CASE(a_model_has_the_size_of_its_rows),
        CASE(rows_of_text_have_one_line),
    };

    return RUN_TESTS(argc, argv, cases);
}
