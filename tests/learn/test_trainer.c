/* A trainer in a process of its own. This program is the trainer as well, one that misbehaves as its argument says. */
#define _DEFAULT_SOURCE
#include "base/arena.h"
#include "learn/model_file.h"
#include "learn/random.h"
#include "learn/train.h"
#include "support/test.h"
#include "support/trainer_child.h"
#include "support/trainer_frames.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 6, FILE_BYTES = 4096 };

static void *take(sotto_test *t, size_t len)
{
    void *out = sotto_arena_take(&t->arena, len);

    CHECK(t, out != NULL);
    return out;
}

static const char *self;

/* ---- the trainer ------------------------------------------------------------------------------------------------ */

static bool read_all(uint8_t *out, size_t len)
{
    while (len > 0) {
        const ssize_t got = read(STDIN_FILENO, out, len);

        if (got <= 0)
            return false;
        out += got;
        len -= (size_t)got;
    }
    return true;
}

static void say(sotto_frame_kind kind, const void *body, size_t len)
{
    uint8_t head[SOTTO_FRAME_HEAD];

    sotto_frame_head_encode(head, kind, len);
    if (write(STDOUT_FILENO, head, sizeof head) != (ssize_t)sizeof head ||
        (len && write(STDOUT_FILENO, body, len) != (ssize_t)len))
        _exit(1);
}

/* Tensors `a` of 2 by 2 and `b` of 2, in either order, each number its place times `value`. */
static size_t tensors(uint8_t *out, bool b_first, const char *shape, float value)
{
    char header[256];
    const int len =
        snprintf(header, sizeof header,
                 b_first ? "{\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
                           "\"a\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[8,24]}}"
                         : "{\"a\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[0,16]},"
                           "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]}}",
                 shape);

    memset(out, 0, 8);
    out[0] = (uint8_t)len;
    memcpy(out + 8, header, (size_t)len);
    for (size_t i = 0; i < COUNT; i++) {
        const float number = (float)(b_first ? (i + 4) % COUNT : i) * value;

        memcpy(out + 8 + len + 4 * i, &number,
               4); /* little endian, as the machines that test are */
    }
    return 8 + (size_t)len + 4 * COUNT;
}

static void answer(const char *mode)
{
    const uint8_t longer[SOTTO_FRAME_HEAD] = {0x7f, 0, 0, 0, SOTTO_FRAME_UPDATE};
    uint8_t file[512];

    if (strncmp(mode, "forks", 5) == 0 && fork() != 0) /* both sleep; the pipe is the child's */
        (void)close(atoi(mode + 5));
    if (strcmp(mode, "late") == 0 || strncmp(mode, "forks", 5) == 0) {
        (void)sleep(60); /* it is killed long before */
        _exit(0);
    }
    if (strcmp(mode, "ends") == 0)
        _exit(3);
    if (strcmp(mode, "long") == 0) {
        (void)!write(STDOUT_FILENO, longer, sizeof longer);
        _exit(0);
    }
    if (strcmp(mode, "failed") == 0)
        say(SOTTO_FRAME_FAILED, "out of luck", 11);
    else if (strcmp(mode, "kind") == 0)
        say((sotto_frame_kind)9, "", 0);
    else
        say(SOTTO_FRAME_UPDATE, file,
            tensors(file, strcmp(mode, "order") == 0,
                    strcmp(mode, "shape") == 0 ? "[4,1]" : "[2,2]",
                    strcmp(mode, "nan") == 0 ? NAN : 0.5F));
}

static int be_trainer(const char *mode)
{
    static const uint8_t hello[] = {0, 1, 3, 'o', 'w', 'n'}, other[] = {0, 2, 3, 'o', 'w', 'n'};
    uint8_t head[SOTTO_FRAME_HEAD];
    static uint8_t body[1 << 20];

    say(SOTTO_FRAME_HELLO, strcmp(mode, "version") == 0 ? other : hello, sizeof hello);
    while (read_all(head, sizeof head)) {
        const size_t len =
            ((size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3]) - 1;

        if (head[4] == SOTTO_FRAME_BYE || len > sizeof body || !read_all(body, len))
            return 0;
        answer(mode);
    }
    return 0;
}

/* ---- the host --------------------------------------------------------------------------------------------------- */

typedef struct job {
    sotto_trainer_input in;
    uint8_t file[FILE_BYTES];
    float weights[COUNT], update[COUNT];
    sotto_value cells[2];
} job;

static const char *const columns[] = {"x", "y"};

static void fill(job *j)
{
    memset(j, 0, sizeof *j);
    j->cells[0] = (sotto_value){.type = SOTTO_TYPE_TEXT, .as.text = sotto_bytes_of("a\"b", 3)};
    j->cells[1] = (sotto_value){.type = SOTTO_TYPE_INTEGER, .as.integer = 7};
    j->in = (sotto_trainer_input){.size = sizeof j->in,
                                  .recipe = "own",
                                  .model = "own",
                                  .weights = j->weights,
                                  .parameters = COUNT,
                                  .algorithm = "fedavg",
                                  .epochs = 1,
                                  .batch = 20,
                                  .rate = 0.1,
                                  .clip = 1,
                                  .columns = columns,
                                  .column_count = 2,
                                  .cells = j->cells,
                                  .row_count = 1,
                                  .seed = UINT64_MAX};
    j->in.file = sotto_bytes_of(j->file, tensors(j->file, false, "[2,2]", 1));
}

static sotto_status run(sotto_test *t, const char *mode, unsigned seconds, job *j)
{
    const char *const command[] = {self, "--trainer", mode, NULL};
    sotto_child_trainer *child;

    fill(j);
    CHECK_OK(t, sotto_child_trainer_open(&child, command, seconds, &t->err));
    sotto_err_clear(&t->err);
    const sotto_status status = sotto_child_train(child, &j->in, j->update, &t->err);
    if (status != SOTTO_OK)
        for (size_t i = 0; i < COUNT; i++)
            CHECK(t, j->update[i] == 0);
    sotto_child_trainer_close(child);
    return status;
}

static void a_trainer_answers_by_the_names_of_tensors(sotto_test *t)
{
    static const char *const modes[] = {"good", "order"};

    for (size_t m = 0; m < 2; m++) {
        job j;

        CHECK_STATUS(t, SOTTO_OK, run(t, modes[m], 60, &j));
        for (size_t i = 0; i < COUNT; i++)
            CHECK_NEAR(t, 0.5 * (double)i, j.update[i], 0);
    }
}

static void a_trainer_is_used_again_and_started_again(sotto_test *t)
{
    const char *const good[] = {self, "--trainer", "good", NULL};
    const char *const ends[] = {self, "--trainer", "ends", NULL};
    sotto_child_trainer *child;
    job j;

    fill(&j);
    CHECK_OK(t, sotto_child_trainer_open(&child, good, 60, &t->err));
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(t, sotto_child_train(child, &j.in, j.update, &t->err));
    sotto_child_trainer_close(child);
    CHECK_OK(t, sotto_child_trainer_open(&child, ends, 60, &t->err));
    for (unsigned i = 0; i < 3; i++)
        CHECK_STATUS(t, SOTTO_IO, sotto_child_train(child, &j.in, j.update, &t->err));
    sotto_child_trainer_close(child);
}

static void a_trainer_that_is_late_is_killed(sotto_test *t)
{
    job j;

    CHECK_STATUS(t, SOTTO_STALE, run(t, "late", 1, &j));
    CHECK(t, waitpid(-1, NULL, WNOHANG) < 0); /* no child is left */
}

/* What a trainer started ends with it: the other end of a pipe, which it alone has open then, is closed. */
static void what_a_trainer_started_is_killed_with_it(sotto_test *t)
{
    struct pollfd end = {.events = POLLIN};
    int ends[2];
    char text[16];
    job j;

    CHECK(t, pipe(ends) == 0);
    (void)snprintf(text, sizeof text, "forks%d", ends[1]);
    CHECK_STATUS(t, SOTTO_STALE, run(t, text, 1, &j));
    (void)close(ends[1]);
    end.fd = ends[0];
    CHECK_EQUAL(t, 1, poll(&end, 1, 30000));
    CHECK_EQUAL(t, 0, read(ends[0], text, 1));
    (void)close(ends[0]);
}

/* A cell that JSON can't hold keeps its place. */
static void a_cell_that_can_not_be_written_is_null(sotto_test *t)
{
    sotto_bytes out;
    char *text;
    job j;

    fill(&j);
    j.cells[0].as.text = sotto_bytes_of("\xff", 1);
    CHECK_OK(t, sotto_trainer_job_encode(&out, &j.in, &t->arena, &t->err));
    text = take(t, out.len + 1);
    memcpy(text, out.data + 4, out.len - 4);
    CHECK(t, strstr(text, "[[null,7]]") != NULL);
}

static void a_frame_is_no_longer_than_its_kind(sotto_test *t)
{
    const uint8_t hello[] = {0, 0, 0x10, 2, SOTTO_FRAME_HELLO}, none[] = {0, 0, 0, 0, 3};
    sotto_frame_kind kind;
    size_t len;
    job j;

    CHECK_STATUS(t, SOTTO_MALFORMED, run(t, "long", 60, &j));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_frame_head_decode(&kind, &len, hello, 9, &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_frame_head_decode(&kind, &len, none, 9, &t->err));
}

static void an_update_has_finite_numbers(sotto_test *t)
{
    job j;

    CHECK_STATUS(t, SOTTO_REJECTED, run(t, "nan", 60, &j));
}

static void an_update_has_the_models_tensors(sotto_test *t)
{
    job j;

    CHECK_STATUS(t, SOTTO_MALFORMED, run(t, "shape", 60, &j));
}

static void a_trainer_that_says_something_else_is_not_believed(sotto_test *t)
{
    job j;

    CHECK_STATUS(t, SOTTO_MALFORMED, run(t, "kind", 60, &j));
    CHECK_STATUS(t, SOTTO_DENIED, run(t, "failed", 60, &j));
    CHECK_STATUS(t, SOTTO_DENIED, run(t, "version", 60, &j));
    const char *const missing[] = {"/nowhere/at/all", NULL};
    sotto_child_trainer *child;
    CHECK_OK(t, sotto_child_trainer_open(&child, missing, 60, &t->err));
    CHECK_STATUS(t, SOTTO_IO, sotto_child_train(child, &j.in, j.update, &t->err));
    sotto_child_trainer_close(child);
    const uint8_t hello[] = {0, 1, 4, 'o', 't', 'h', 'r'};
    CHECK_STATUS(t, SOTTO_DENIED,
                 sotto_trainer_hello_check(sotto_bytes_of(hello, sizeof hello), "own", &t->err));
    CHECK_STATUS(t, SOTTO_MALFORMED,
                 sotto_trainer_hello_check(sotto_bytes_of(hello, 4), "own", &t->err));
}

/* ---- trainers that train ------------------------------------------------------------------------------------------ */

enum { ROWS = 12, PIXELS = 784 };

typedef struct digits {
    sotto_trainer_input in;
    sotto_model model;
    sotto_value cells[2 * ROWS];
    char pixels[ROWS][2 * PIXELS + 1];
} digits;

/* LeNet with its first weights, and twelve images that a seed draws. */
static digits *digits_of(sotto_test *t)
{
    static const char *const names[] = {"pixels", "label"};
    digits *d = take(t, sizeof *d);
    uint64_t state = 5;

    CHECK_OK(t, sotto_model_named(&d->model, "lenet", 10, &t->err));
    float *weights = take(t, d->model.parameters * sizeof *weights);
    sotto_model_begin(&d->model, weights, 3);
    sotto_buf file;
    CHECK_OK(t, sotto_buf_take(&file, &t->arena, sotto_model_file_size(&d->model), &t->err));
    CHECK_OK(t, sotto_safetensors_encode(&d->model, weights, &file, &t->err));
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < PIXELS; k++)
            (void)snprintf(d->pixels[i] + 2 * k, 3, "%02x",
                           (unsigned)sotto_learn_below(&state, 256));
        d->cells[2 * i] = (sotto_value){.type = SOTTO_TYPE_TEXT,
                                        .as.text = sotto_bytes_of(d->pixels[i], 2 * PIXELS)};
        d->cells[2 * i + 1] =
            (sotto_value){.type = SOTTO_TYPE_INTEGER, .as.integer = (int64_t)i % 10};
    }
    d->in = (sotto_trainer_input){.size = sizeof d->in,
                                  .recipe = "digits",
                                  .model = "lenet",
                                  .file = sotto_buf_bytes(&file),
                                  .weights = weights,
                                  .parameters = d->model.parameters,
                                  .algorithm = "fedsgd",
                                  .epochs = 1,
                                  .rate = 0.1,
                                  .clip = 100,
                                  .columns = names,
                                  .column_count = 2,
                                  .cells = d->cells,
                                  .row_count = ROWS,
                                  .seed = 1};
    return d;
}

/* As the room `learn` trains on the same bytes. */
static void the_trainer_in_c_trains_as_the_simulator_does(sotto_test *t)
{
    const sotto_training how = {.epochs = 2, .batch = 5, .rate = 0.1, .clip = 100, .seed = 1};
    digits *d = digits_of(t);
    float *update = take(t, d->in.parameters * sizeof *update),
          *wanted = take(t, d->in.parameters * sizeof *wanted);
    uint8_t *bytes = take(t, (size_t)ROWS * PIXELS), labels[ROWS];
    sotto_training_facts facts;
    sotto_learner learner;

    for (size_t i = 0; i < ROWS; i++) {
        labels[i] = (uint8_t)(i % 10);
        for (size_t k = 0; k < PIXELS; k++)
            bytes[i * PIXELS + k] = (uint8_t)strtoul(
                (char[3]){d->pixels[i][2 * k], d->pixels[i][2 * k + 1], 0}, NULL, 16);
    }
    const sotto_examples examples = {.bytes = bytes, .labels = labels, .count = ROWS};
    CHECK_OK(t, sotto_learner_init(&learner, &d->model, ROWS, &t->arena, &t->err));
    sotto_train(&learner, d->in.weights, &examples, &how, wanted, &facts);
    d->in.epochs = 2;
    d->in.batch = 5;
    CHECK_OK(t, sotto_train_in_c(NULL, &d->in, update, &t->err));
    CHECK_BYTES(t, wanted, update, d->in.parameters * sizeof *update);
    /* Rows that are no digits are left out. */
    d->cells[0].as.text = sotto_bytes_of("zz", 2);
    d->cells[3].as.integer = 10;
    CHECK_OK(t, sotto_train_in_c(NULL, &d->in, update, &t->err));
    CHECK(t, memcmp(wanted, update, d->in.parameters * sizeof *update) != 0);
    d->in.row_count = 1;
    memset(update, 0, d->in.parameters * sizeof *update);
    CHECK_OK(t, sotto_train_in_c(NULL, &d->in, update, &t->err));
    for (size_t i = 0; i < d->in.parameters; i++)
        CHECK(t, update[i] == 0);
    d->in.model = "resnet";
    CHECK_STATUS(t, SOTTO_DENIED, sotto_train_in_c(NULL, &d->in, update, &t->err));
}

static void the_example_in_pytorch_agrees_with_the_trainer_in_c(sotto_test *t)
{
    static const char *const command[] = {"python3", SOTTO_EXAMPLE, NULL};
    double worst = 0, most = 0;

    if (system("python3 -c 'import torch' >/dev/null 2>&1") != 0)
        SKIP(t, "python3 has no torch");
    digits *d = digits_of(t);
    float *theirs = take(t, d->in.parameters * sizeof *theirs),
          *ours = take(t, d->in.parameters * sizeof *ours);
    sotto_child_trainer *child;

    CHECK_OK(t, sotto_child_trainer_open(&child, command, 600, &t->err));
    CHECK_OK(t, sotto_child_train(child, &d->in, theirs, &t->err));
    CHECK_OK(t, sotto_train_in_c(NULL, &d->in, ours, &t->err));
    for (size_t i = 0; i < d->in.parameters; i++) {
        worst = fmax(worst, fabs((double)theirs[i] - (double)ours[i]));
        most = fmax(most, fabs((double)ours[i]));
    }
    (void)printf("updates of up to %.4g differ by up to %.3g\n", most, worst);
    CHECK(t, most > 1e-4 && worst <= 1e-4 * most);
    sotto_child_trainer_close(child);
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(a_trainer_answers_by_the_names_of_tensors),
        CASE(a_trainer_is_used_again_and_started_again),
        CASE(a_trainer_that_is_late_is_killed),
        CASE(what_a_trainer_started_is_killed_with_it),
        CASE(a_cell_that_can_not_be_written_is_null),
        CASE(a_frame_is_no_longer_than_its_kind),
        CASE(an_update_has_finite_numbers),
        CASE(an_update_has_the_models_tensors),
        CASE(a_trainer_that_says_something_else_is_not_believed),
        CASE(the_trainer_in_c_trains_as_the_simulator_does),
        CASE(the_example_in_pytorch_agrees_with_the_trainer_in_c),
    };

    self = argv[0];
    if (argc == 3 && strcmp(argv[1], "--trainer") == 0)
        return be_trainer(argv[2]);
    return RUN_TESTS(argc, argv, cases);
}
