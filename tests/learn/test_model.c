/* Models: gradients against finite differences of a reference, shapes, digests, and the same bits from both kernels. */
#include "learn/model.h"
#include "learn/random.h"
#include "reference.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { ROWS = 5 };

static const sotto_model_config small[] = {
    {.type = SOTTO_MODEL_LOGISTIC, .inputs = 13, .classes = 3},
    {.type = SOTTO_MODEL_MLP, .inputs = 21, .hidden = {9, 11}, .hidden_count = 2, .classes = 4},
    {.type = SOTTO_MODEL_CNN,
     .height = 16,
     .width = 20,
     .channels = {3, 5},
     .hidden = {7},
     .hidden_count = 1,
     .classes = 3},
    {.type = SOTTO_MODEL_GRU,
     .hidden = {6},
     .hidden_count = 1,
     .classes = 5,
     .embedding = 3,
     .steps = 7},
};
enum { SMALL = sizeof small / sizeof small[0] };

typedef struct setting {
    sotto_model model;
    sotto_learner learner;
    float *weights, *gradient;
    uint8_t *bytes, *labels;
    sotto_examples examples;
} setting;

static void make(sotto_test *t, setting *s, const sotto_model_config *config, size_t rows)
{
    uint64_t state = 7;

    CHECK_OK(t, sotto_model_init(&s->model, config, &t->err));
    CHECK_OK(t, sotto_learner_init(&s->learner, &s->model, rows, &t->arena, &t->err));
    s->weights = sotto_arena_take_array(&t->arena, s->model.parameters, sizeof(float));
    s->gradient = sotto_arena_take_array(&t->arena, s->model.parameters, sizeof(float));
    s->bytes = sotto_arena_take_array(&t->arena, rows, s->model.width);
    s->labels = sotto_arena_take(&t->arena, rows);
    CHECK(t, s->weights && s->gradient && s->bytes && s->labels);
    for (size_t i = 0; i < rows * s->model.width; i++)
        s->bytes[i] = (uint8_t)sotto_learn_below(
            &state, config->type == SOTTO_MODEL_GRU ? (uint32_t)config->classes : 256);
    for (size_t i = 0; i < rows; i++)
        s->labels[i] = (uint8_t)sotto_learn_below(&state, (uint32_t)config->classes);
    s->examples = (sotto_examples){
        .bytes = s->bytes,
        .labels = config->type == SOTTO_MODEL_GRU ? NULL : s->labels,
        .count = rows,
    };
    sotto_model_begin(&s->model, s->weights, 3);
}

/* Every weight of every layer, by central differences in double precision. */
static void check_gradient(sotto_test *t, const sotto_model_config *config)
{
    const double step = 1e-6;
    sotto_score score = {0};
    setting s;

    make(t, &s, config, ROWS);
    double *weights = sotto_arena_take_array(&t->arena, s.model.parameters, sizeof *weights);
    CHECK(t, weights != NULL);
    for (size_t i = 0; i < s.model.parameters; i++)
        weights[i] = (double)s.weights[i];
    sotto_model_gradient(&s.learner, s.weights, &s.examples, NULL, 0, ROWS, s.gradient, &score);
    CHECK_EQUAL(t, ROWS * s.model.answers, score.answers);
    CHECK_NEAR(t, reference_loss(&s.model, weights, &s.examples, ROWS),
               score.loss / (double)score.answers, 2e-6);
    for (size_t i = 0; i < s.model.parameters; i++) {
        const double w = weights[i];

        weights[i] = w + step;
        const double above = reference_loss(&s.model, weights, &s.examples, ROWS);
        weights[i] = w - step;
        const double below = reference_loss(&s.model, weights, &s.examples, ROWS);
        weights[i] = w;
        CHECK_NEAR(t, (above - below) / (2 * step), (double)s.gradient[i], 3e-6);
    }
}

static void the_gradient_of_logistic_regression_is_right(sotto_test *t)
{
    check_gradient(t, &small[0]);
}

static void the_gradient_of_a_perceptron_is_right(sotto_test *t)
{
    check_gradient(t, &small[1]);
}

static void the_gradient_of_a_convolutional_network_is_right(sotto_test *t)
{
    check_gradient(t, &small[2]);
}

static void the_gradient_of_a_recurrent_network_is_right(sotto_test *t)
{
    check_gradient(t, &small[3]);
}

/* More rows than a chunk: the mean over all of them. */
static void a_large_batch_is_the_mean_of_its_rows(sotto_test *t)
{
    enum { MANY = 3 * SOTTO_MODEL_CHUNK + 5 };
    sotto_score score = {0};
    setting s;

    make(t, &s, &small[1], MANY);
    double *mean = sotto_arena_take_array(&t->arena, s.model.parameters, sizeof *mean);
    CHECK(t, mean != NULL);
    for (uint32_t r = 0; r < MANY; r++) {
        sotto_model_gradient(&s.learner, s.weights, &s.examples, &r, 0, 1, s.gradient, &score);
        for (size_t i = 0; i < s.model.parameters; i++)
            mean[i] += (double)s.gradient[i] / MANY;
    }
    sotto_model_gradient(&s.learner, s.weights, &s.examples, NULL, 0, MANY, s.gradient, &score);
    for (size_t i = 0; i < s.model.parameters; i++)
        CHECK_NEAR(t, mean[i], (double)s.gradient[i], 1e-6);
}

static void both_kernels_give_the_same_bits(sotto_test *t)
{
    for (size_t i = 0; i < SMALL + 1; i++) {
        uint8_t digests[2][SOTTO_MODEL_DIGEST];
        sotto_score scores[2] = {{0}};
        const sotto_model_config lenet = {.type = SOTTO_MODEL_CNN,
                                          .height = 28,
                                          .width = 28,
                                          .channels = {6, 16},
                                          .hidden = {120, 84},
                                          .hidden_count = 2,
                                          .classes = 62};

        for (size_t k = 0; k < 2; k++) {
            setting s;

            CHECK(t, sotto_kernels_use(k ? "portable" : NULL));
            make(t, &s, i < SMALL ? &small[i] : &lenet, ROWS);
            sotto_model_gradient(&s.learner, s.weights, &s.examples, NULL, 0, ROWS, s.gradient,
                                 &scores[k]);
            (void)s.learner.kernels->descend(s.weights, s.weights, s.gradient, 0.1F,
                                             s.model.parameters);
            sotto_model_digest(&s.model, s.weights, digests[k]);
        }
        CHECK(t, sotto_kernels_use(NULL));
        CHECK_BYTES(t, digests[0], digests[1], sizeof digests[0]);
        CHECK(t, scores[0].loss == scores[1].loss && scores[0].right == scores[1].right);
    }
}

static void lenet_has_the_parameters_that_papers_count(sotto_test *t)
{
    sotto_model m;

    CHECK_OK(t, sotto_model_named(&m, "lenet", 62, &t->err));
    CHECK_EQUAL(t, 48846, m.parameters);
    CHECK_OK(t, sotto_model_named(&m, "lenet", 10, &t->err));
    CHECK_EQUAL(t, 44426, m.parameters);
    CHECK_OK(t, sotto_model_named(&m, "logistic", 10, &t->err));
    CHECK_EQUAL(t, 7850, m.parameters);
    CHECK_OK(t, sotto_model_named(&m, "mlp", 10, &t->err));
    CHECK_EQUAL(t, 199210, m.parameters);
    CHECK_OK(t, sotto_model_named(&m, "cnn", 62, &t->err));
    CHECK(t, m.parameters > 1100000 && m.parameters < 1300000);
    CHECK_STATUS(t, SOTTO_MISSING, sotto_model_named(&m, "alexnet", 10, &t->err));
}

static void shapes_out_of_range_are_refused_by_name(sotto_test *t)
{
    sotto_model_config c = small[2];
    sotto_model m;

    c.width = 18;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_model_init(&m, &c, &t->err));
    CHECK_REASON(t, "multiples of 4");
    c.width = 68;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_model_init(&m, &c, &t->err));
    CHECK_REASON(t, "width: 16 to 64 wanted, not 68");
    c = small[0];
    c.classes = 1;
    CHECK_STATUS(t, SOTTO_DENIED, sotto_model_init(&m, &c, &t->err));
    c = (sotto_model_config){.type = SOTTO_MODEL_MLP,
                             .inputs = 65536,
                             .hidden = {8192},
                             .hidden_count = 1,
                             .classes = 2};
    CHECK_STATUS(t, SOTTO_DENIED, sotto_model_init(&m, &c, &t->err));
    CHECK_REASON(t, "parameters");
    c = (sotto_model_config){.type = (sotto_model_type)9, .classes = 2};
    CHECK_STATUS(t, SOTTO_DENIED, sotto_model_init(&m, &c, &t->err));
}

/* First weights are the same on every machine; a digest binds weights and shapes. */
static void a_digest_binds_weights_and_shapes(sotto_test *t)
{
    uint8_t a[SOTTO_MODEL_DIGEST], b[SOTTO_MODEL_DIGEST];
    static const uint8_t wanted[4] = {0x0f, 0xa6, 0x5b, 0xf9};
    setting s;

    make(t, &s, &small[1], 1);
    sotto_model_digest(&s.model, s.weights, a);
    CHECK_BYTES(t, wanted, a, sizeof wanted);
    s.weights[17] = nextafterf(s.weights[17], 1);
    sotto_model_digest(&s.model, s.weights, b);
    CHECK(t, memcmp(a, b, sizeof a) != 0);
    s.weights[17] = nextafterf(s.weights[17], -1);
    s.model.tensors[0].shape[0] = 21;
    s.model.tensors[0].shape[1] = 9;
    sotto_model_digest(&s.model, s.weights, b);
    CHECK(t, memcmp(a, b, sizeof a) != 0);
}

static void examples_that_do_not_fit_are_refused(sotto_test *t)
{
    float reals[13] = {0};
    setting s;

    make(t, &s, &small[0], ROWS);
    CHECK_OK(t, sotto_examples_check(&s.examples, &s.model, &t->err));
    s.labels[4] = 3;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_examples_check(&s.examples, &s.model, &t->err));
    s.labels[4] = 0;
    s.examples = (sotto_examples){.reals = reals, .labels = s.labels, .count = 1};
    CHECK_OK(t, sotto_examples_check(&s.examples, &s.model, &t->err));
    reals[12] = NAN;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_examples_check(&s.examples, &s.model, &t->err));
    s.examples.labels = NULL;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_examples_check(&s.examples, &s.model, &t->err));
    make(t, &s, &small[3], ROWS);
    CHECK_OK(t, sotto_examples_check(&s.examples, &s.model, &t->err));
    s.bytes[7] = 5;
    CHECK_STATUS(t, SOTTO_MALFORMED, sotto_examples_check(&s.examples, &s.model, &t->err));
}

int main(int argc, char **argv)
{
    static const sotto_test_case cases[] = {
        CASE(the_gradient_of_logistic_regression_is_right),
        CASE(the_gradient_of_a_perceptron_is_right),
        CASE(the_gradient_of_a_convolutional_network_is_right),
        CASE(the_gradient_of_a_recurrent_network_is_right),
        CASE(a_large_batch_is_the_mean_of_its_rows),
        CASE(both_kernels_give_the_same_bits),
        CASE(lenet_has_the_parameters_that_papers_count),
        CASE(shapes_out_of_range_are_refused_by_name),
        CASE(a_digest_binds_weights_and_shapes),
        CASE(examples_that_do_not_fit_are_refused),
    };

    return RUN_TESTS(argc, argv, cases);
}
