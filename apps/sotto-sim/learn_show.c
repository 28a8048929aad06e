#include "learn.h"

#include "base/file.h"
#include "base/hex.h"
#include "learn/model_file.h"
#include "show.h"
#include "view/curve.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the claim -------------------------------------------------------------------------------------------------------- */

static sotto_status scheduled_claim(const learn_run *run, uint64_t rounds,
                                    sotto_schedule_claim *out, sotto_err *err)
{
    const double multiplier = run->update.sigma / run->update.length * (1 - 1e-12);

    return learn_checkin_claim(run, rounds, multiplier, run->options->local_epsilon, out, err);
}

sotto_status learn_claim(const learn_run *run, uint64_t rounds, sotto_learn_claim *out,
                         sotto_err *err)
{
    sotto_schedule_claim claim;

    if (!run->options->schedule)
        return learn_claim_at(run, rounds, run->update.sigma / run->update.length * (1 - 1e-12),
                              out, err);
    SOTTO_TRY(scheduled_claim(run, rounds, &claim, err));
    *out = (sotto_learn_claim){.epsilon = claim.epsilon,
                               .theorem = claim.theorem,
                               .assumption = claim.assumption,
                               .adjacency = claim.adjacency};
    return SOTTO_OK;
}

sotto_status learn_claim_at(const learn_run *run, uint64_t rounds, double multiplier,
                            sotto_learn_claim *out, sotto_err *err)
{
    const learn_options *o = run->options;
    const uint64_t trees = (rounds + o->restart - 1) / o->restart;
    sotto_learn_question q = {.law = SOTTO_LEARN_SAMPLED,
                              .multiplier = multiplier,
                              .sigma = multiplier * run->update.length * (1 - 1e-12),
                              .delta = o->delta,
                              .numbers = rounds * run->numbers,
                              .rate =
                                  fmin(1, run->cohort / (double)run->dataset.users * (1 + 1e-12) +
                                              0x1p-53), /* a coin has 53 bits */
                              .rounds = rounds};

    if (multiplier <= 0)
        return sotto_fail(err, SOTTO_MISSING, "no noise, so nothing is claimed");
    /* Whether a round burns says how many took part, which no noise hides; and with one user more, a sum of many appears. */
    if (o->min_cohort > 1)
        return sotto_fail(err, SOTTO_MISSING,
                          "with --min-cohort a burnt round tells how many took part, so nothing is "
                          "claimed");
    if (o->blt) {
        /* Of the whole plan: its matrix is that of all rounds, and a device that answers early is in all of them. */
        q.law = SOTTO_LEARN_BLT;
        q.sensitivity =
            sotto_blt_priced(&run->blt, &run->pattern, run->update.length, run->model.parameters);
    } else if (o->algorithm == LEARN_FTRL) {
        q.law = SOTTO_LEARN_TREE;
        q.levels = sotto_tree_levels(o->restart);
        q.participations = trees;
        q.numbers *= 2 * q.levels;
    }
    return sotto_learn_claim_of(out, &q, err);
}

static const char *algorithm_name(const learn_options *o)
{
    const bool noisy = o->noise > 0 || o->one_bit;

    if (o->algorithm == LEARN_FTRL)
        return "DP-FTRL";
    if (o->algorithm == LEARN_FEDSGD)
        return noisy ? "DP-FedSGD" : "FedSGD";
    return noisy ? "DP-FedAvg" : "FedAvg";
}

static void begin_schedule(const learn_run *run)
{
    static const char *const policies[] = {"", "one of a slot, with dummies", "all of a slot",
                                           "all of a slot, after a warm-up"};
    const learn_options *o = run->options;
    const sotto_schedule *s = &run->schedule;

    printf("schedule %s: %llu slots, %s", sotto_schedule_name(o->schedule),
           (unsigned long long)s->config.slots, policies[s->config.policy]);
    if (o->schedule == SOTTO_SCHEDULE_FIX)
        printf("; a device checks in with chance %.4g", s->config.chance);
    if (s->config.batch > 1)
        printf("; %llu slots a step", (unsigned long long)s->config.batch);
    if (o->one_bit)
        printf("\nreports are signs of local epsilon %.6g\n", o->local_epsilon);
    else
        printf("\nnoise %.6g longest updates on each sum\n", o->noise);
}

void learn_show_begin(const learn_run *run)
{
    const learn_options *o = run->options;

    if (o->json || o->quiet)
        return;
    printf("%s of %s, %zu parameters, %s\n", algorithm_name(o), o->model, run->model.parameters,
           sotto_kernels_chosen()->name);
    printf("%zu users with %zu rows, %.4g expected a round, %llu rounds%s\n", run->dataset.users,
           run->dataset.training, run->cohort, (unsigned long long)o->rounds,
           o->shares ? ", every update proved and added up in shares" : "");
    printf("clip %.4g, %.5g integers in one; a sum takes %u bits\n", o->clip,
           run->update.config.scale, run->update.bits);
    if (o->project > 0)
        printf("each update is projected to %zu numbers, by another matrix in each round\n",
               run->numbers);
    if (o->schedule)
        begin_schedule(run);
    else if (o->epsilon > 0)
        printf("noise %.6g: the least that keeps epsilon\n", o->noise);
    if (run->session.round > 0)
        printf("goes on after round %llu\n", (unsigned long long)run->session.round);
}

/* ---- curves ------------------------------------------------------------------------------------------------------------ */

static sotto_status draw(const sotto_view *view, const void *thing, sotto_err *err)
{
    return sotto_view_curves(view, thing, err);
}

typedef struct curves {
    sotto_curve_point points[2][LEARN_POINTS];
    sotto_curve_plot plots[2];
} curves;

/* Loss and accuracy. The result is good until the next call. */
static const curves *curves_of(const learn_run *run)
{
    static curves c;
    const sotto_session *s = &run->session;

    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < s->point_count; i++) {
            const double y = k ? s->points[i].accuracy : s->points[i].loss;

            c.points[k][i] = (sotto_curve_point){
                .x = (double)s->points[i].round, .low = y, .high = y, .answered = isfinite(y)};
        }
        c.plots[k] = (sotto_curve_plot){.x_name = "round",
                                        .y_name = k ? "accuracy" : "loss",
                                        .title = algorithm_name(run->options),
                                        .others = run->options->model,
                                        .points = c.points[k],
                                        .count = s->point_count};
    }
    return &c;
}

static void say_bounds(sotto_text *t, const learn_run *run, uint64_t round)
{
    sotto_schedule_claim claim;
    char theorem[SOTTO_NUMBER_TEXT] = "", proof[SOTTO_NUMBER_TEXT] = "";

    if (round > 0 && scheduled_claim(run, round, &claim, NULL) == SOTTO_OK) {
        sotto_number_format(theorem, claim.theorem_epsilon);
        if (!isnan(claim.proof_epsilon))
            sotto_number_format(proof, claim.proof_epsilon);
    }
    sotto_text_say(t, ",%s,%s", theorem, proof);
}

static bool save_csv(const learn_run *run)
{
    const sotto_session *s = &run->session;
    FILE *out = fopen(run->options->out, "w");

    if (!out)
        return false;
    sotto_text t = sotto_show_text(out);
    sotto_text_say(&t, "round,loss,accuracy,epsilon%s\n",
                   run->options->one_bit ? ",theorem_epsilon,proof_epsilon" : "");
    for (size_t i = 0; i < s->point_count; i++) {
        char loss[SOTTO_NUMBER_TEXT], accuracy[SOTTO_NUMBER_TEXT], epsilon[SOTTO_NUMBER_TEXT] = "";
        sotto_learn_claim claim;

        sotto_number_format(loss, s->points[i].loss);
        sotto_number_format(accuracy, s->points[i].accuracy);
        if (s->points[i].round > 0 &&
            learn_claim(run, s->points[i].round, &claim, NULL) == SOTTO_OK)
            sotto_number_format(epsilon, claim.epsilon);
        sotto_text_say(&t, "%llu,%s,%s,%s", (unsigned long long)s->points[i].round, loss, accuracy,
                       epsilon);
        if (run->options->one_bit)
            say_bounds(&t, run, s->points[i].round);
        sotto_text_say(&t, "\n");
    }
    return fclose(out) == 0 && sotto_text_finish(&t) == SOTTO_OK;
}

/* ---- models ------------------------------------------------------------------------------------------------------------- */

static sotto_status export_model(learn_run *run, const char *path, sotto_err *err)
{
    const size_t size = sotto_model_file_size(&run->model), len = strlen(path);
    uint8_t *memory = sotto_arena_take(&run->arena, size);
    sotto_buf buf = sotto_buf_over(memory, size);

    if (!memory)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a model file");
    if (len > 4 && strcmp(path + len - 4, ".npz") == 0)
        SOTTO_TRY(sotto_npz_encode(&run->model, run->session.weights, &buf, err));
    else
        SOTTO_TRY(sotto_safetensors_encode(&run->model, run->session.weights, &buf, err));
    return sotto_file_write(path, sotto_buf_bytes(&buf), NULL, NULL, err);
}

/* ---- the end ------------------------------------------------------------------------------------------------------------- */

static void say_claim(const learn_run *run)
{
    const learn_options *o = run->options;
    sotto_learn_claim claim;
    sotto_err err = {0};

    const sotto_status status = learn_claim(run, run->session.round, &claim, &err);
    if (status != SOTTO_OK) {
        printf("privacy: %s\n", err.reason);
        return;
    }
    sotto_text t = sotto_show_text(stdout);
    sotto_text_say(&t, "privacy: epsilon ");
    sotto_text_up(&t, claim.epsilon, 4);
    sotto_text_say(&t, " at delta ");
    sotto_text_up(&t, o->delta, 3);
    sotto_text_say(&t, ", %s, for these %zu users\n", claim.adjacency, run->dataset.users);
    sotto_text_say(&t, "  by %s\n  where %s\n", claim.theorem, claim.assumption);
    sotto_schedule_claim scheduled;
    if (o->one_bit && scheduled_claim(run, run->session.round, &scheduled, &err) == SOTTO_OK) {
        sotto_text_say(&t, "  a report alone costs ");
        sotto_text_up(&t, o->local_epsilon, 4);
        sotto_text_say(&t, "; the theorem as printed gives ");
        sotto_text_up(&t, scheduled.theorem_epsilon, 4);
        if (!isnan(scheduled.proof_epsilon)) {
            sotto_text_say(&t, ", its proof composed optimally ");
            sotto_text_up(&t, scheduled.proof_epsilon, 4);
        }
        sotto_text_say(&t, "\n");
    }
}

static void json_schedule(const learn_run *run)
{
    sotto_schedule_claim claim;
    char number[SOTTO_NUMBER_TEXT];

    printf(", \"schedule\": \"%s\", \"dummies\": %llu", sotto_schedule_name(run->options->schedule),
           (unsigned long long)run->all_dummies);
    if (!run->options->one_bit ||
        scheduled_claim(run, run->session.round, &claim, NULL) != SOTTO_OK)
        return;
    sotto_number_format(number, run->options->local_epsilon);
    printf(", \"local_epsilon\": %s", number);
    sotto_number_format(number, claim.theorem_epsilon);
    printf(", \"theorem_epsilon\": %s", number);
    if (!isnan(claim.proof_epsilon)) {
        sotto_number_format(number, claim.proof_epsilon);
        printf(", \"proof_epsilon\": %s", number);
    }
}

static void say_json(const learn_run *run, double seconds, const char *digest,
                     const char *transcript)
{
    const sotto_session *s = &run->session;
    const sotto_session_point *last = s->point_count ? &s->points[s->point_count - 1] : NULL;
    sotto_learn_claim claim;
    char number[SOTTO_NUMBER_TEXT];

    printf("{\"algorithm\": \"%s\", \"model\": \"%s\", \"parameters\": %zu, \"rounds\": %llu, "
           "\"burnt\": %llu, \"reports\": %llu",
           algorithm_name(run->options), run->options->model, run->model.parameters,
           (unsigned long long)s->round, (unsigned long long)s->burnt,
           (unsigned long long)s->reports);
    if (run->options->project > 0)
        printf(", \"projected\": %zu", run->numbers);
    if (last) {
        sotto_number_format(number, last->loss);
        printf(", \"loss\": %s", number);
        sotto_number_format(number, last->accuracy);
        printf(", \"accuracy\": %s", number);
    }
    if (learn_claim(run, s->round, &claim, NULL) == SOTTO_OK) {
        sotto_number_format(number, claim.epsilon);
        printf(", \"epsilon\": %s", number);
        sotto_number_format(number, run->options->delta);
        printf(", \"delta\": %s, \"adjacency\": \"%s\", \"theorem\": \"%s\", "
               "\"assumption\": \"%s\"",
               number, claim.adjacency, claim.theorem, claim.assumption);
    }
    if (run->options->schedule)
        json_schedule(run);
    sotto_number_format(number, run->options->noise);
    printf(", \"noise\": %s", number);
    sotto_number_fixed(number, seconds, 3);
    printf(", \"digest\": \"%s\", \"transcript\": \"%s\", \"seconds\": %s}\n", digest, transcript,
           number);
}

/* What each point of the curve had cost. */
static void say_rounds(const learn_run *run)
{
    const sotto_session *s = &run->session;

    printf("round  accuracy  epsilon so far%s\n",
           run->options->one_bit ? "  theorem  its proof" : "");
    for (size_t i = 0; i < s->point_count; i++) {
        sotto_schedule_claim claim;

        if (s->points[i].round == 0 ||
            scheduled_claim(run, s->points[i].round, &claim, NULL) != SOTTO_OK)
            continue;
        sotto_text t = sotto_show_text(stdout);
        sotto_text_say(&t, "%5llu  %7.2f%%  ", (unsigned long long)s->points[i].round,
                       s->points[i].accuracy * 100);
        sotto_text_up(&t, claim.epsilon, 4);
        if (run->options->one_bit) {
            sotto_text_say(&t, "  ");
            sotto_text_up(&t, claim.theorem_epsilon, 4);
            sotto_text_say(&t, "  ");
            if (!isnan(claim.proof_epsilon))
                sotto_text_up(&t, claim.proof_epsilon, 4);
        }
        sotto_text_say(&t, "\n");
    }
    printf("Each epsilon is for a number of steps fixed in advance. Who stops after looking at "
           "results pays that of the whole run.\n");
}

static void say_text(const learn_run *run, double seconds, const char *digest)
{
    const sotto_session *s = &run->session;
    const sotto_view view = sotto_show_view(SOTTO_VIEW_TEXT);
    const curves *c = curves_of(run);

    if (s->point_count > 0) {
        const sotto_session_point *last = &s->points[s->point_count - 1];

        if (!run->options->quiet) {
            printf("\n");
            for (size_t k = 0; k < 2; k++)
                if (sotto_view_curve(&view, &c->plots[k], NULL) == SOTTO_OK)
                    printf("\n");
        }
        printf("loss %.4f, accuracy %.2f%% after %llu rounds", last->loss, last->accuracy * 100,
               (unsigned long long)s->round);
    } else {
        printf("%llu rounds", (unsigned long long)s->round);
    }
    printf(" of %.1f devices on average; %llu rounds burnt\n",
           s->round > s->burnt ? (double)s->reports / (double)(s->round - s->burnt) : 0,
           (unsigned long long)s->burnt);
    if (run->options->schedule && !run->options->quiet)
        say_rounds(run);
    say_claim(run);
    printf("model %.16s in %.1f s\n", digest, seconds);
}

static int fail_at(const char *path)
{
    (void)fprintf(stderr, "sotto sim learn: %s: %s\n", path, strerror(errno));
    return EXIT_FAILED;
}

int learn_show_end(learn_run *run, double seconds)
{
    const learn_options *o = run->options;
    uint8_t digest[SOTTO_MODEL_DIGEST];
    char digest_text[2 * SOTTO_MODEL_DIGEST + 1], transcript[2 * SOTTO_SESSION_HASH + 1];
    sotto_err err = {0};

    sotto_model_digest(&run->model, run->session.weights, digest);
    sotto_hex_encode(digest_text, sotto_bytes_of(digest, sizeof digest));
    sotto_hex_encode(transcript,
                     sotto_bytes_of(run->session.transcript, sizeof run->session.transcript));
    if (o->json)
        say_json(run, seconds, digest_text, transcript);
    else
        say_text(run, seconds, digest_text);
    if (o->out && !save_csv(run))
        return fail_at(o->out);
    if (o->svg) {
        const sotto_curve_page page = {algorithm_name(o), curves_of(run)->plots, 2, 2};

        if (!sotto_show_save(o->svg, SOTTO_VIEW_SVG, draw, &page))
            return fail_at(o->svg);
    }
    if (o->export_to && export_model(run, o->export_to, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto sim learn: %s\n", err.reason);
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}
