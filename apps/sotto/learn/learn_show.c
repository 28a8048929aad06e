/* Curves, receipts, and the files that say how far a session is. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"
#include "show.h"
#include "verbs.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/writer.h"
#include "recipe/learning_correlated.h"
#include "view/curve.h"
#include "view/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 1 << 14, LONG = 1 << 21 };

/* ---- receipts --------------------------------------------------------------------------------------------- */

/* Of a session whose devices draw one round. */
static void slots_members(sotto_json *j, const sotto_learning_receipt *r)
{
    sotto_json_object(j, "slots");
    sotto_json_text(j, "policy", r->policy);
    if (r->slots.why) {
        sotto_json_null(j, "epsilon");
        sotto_json_text(j, "why", r->slots.why);
    } else {
        sotto_json_real(j, "epsilon", r->slots.epsilon);
        sotto_json_text(j, "theorem", r->slots.theorem);
        sotto_json_text(j, "honest", r->slots.honest);
    }
    sotto_json_end(j);
}

/* Of a session whose noise is correlated over rounds. */
static void correlated_members(sotto_json *j, const sotto_learning_receipt *r)
{
    if (r->buffers > 0)
        sotto_json_uint(j, "buffers", r->buffers);
    else
        sotto_json_uint(j, "restart", r->restart);
    sotto_json_text(j, "correlated", r->correlated);
    if (r->buffers > 0)
        sotto_json_text(j, "kept", sotto_learning_kept_words());
}

static void receipt_members(sotto_json *j, const sotto_learning_receipt *r)
{
    sotto_json_text(j, "recipe", r->recipe);
    sotto_json_hex(j, "recipe_hash", sotto_bytes_of(r->hash, sizeof r->hash));
    sotto_json_hex(j, "model", sotto_bytes_of(r->model, sizeof r->model));
    if (r->session) {
        sotto_json_uint(j, "rounds", r->rounds);
        sotto_json_uint(j, "burnt", r->burnt);
    } else {
        sotto_json_uint(j, "round", r->round);
    }
    if (!r->policy)
        sotto_json_uint(j, "reports", r->reports);
    sotto_json_uint(j, "min_cohort", r->min_cohort);
    sotto_json_uint(j, "participations", r->participations);
    if (isfinite(r->epsilon))
        sotto_json_real(j, "epsilon", r->epsilon);
    else
        sotto_json_null(j, "epsilon");
    sotto_json_real(j, "delta", r->delta);
    sotto_json_real(j, "rho", r->rho);
    sotto_json_text(j, "theorem", r->theorem);
    sotto_json_text(j, "sampling", r->sampling);
    if (r->correlated)
        correlated_members(j, r);
    if (r->relay) {
        sotto_json_real(j, "sampled_epsilon", r->sampled_epsilon);
        sotto_json_real(j, "sampled_share", r->sampled_share);
        sotto_json_text(j, "relay", r->relay);
        sotto_json_text(j, "gateway", r->gateway);
    }
    if (r->policy)
        slots_members(j, r);
    sotto_json_text(j, "noise_by", r->by);
    sotto_json_real(j, "sigma_clips", r->sigma);
    if (r->server[0]) {
        sotto_json_text(j, "server", r->server);
        sotto_json_text(j, "who_sees", r->sees);
        if (r->encryption.is_known)
            sotto_json_encryption(j, &r->encryption);
        else
            sotto_json_stated(j, &r->stated);
    } else {
        sotto_json_text(j, "leader", r->leader);
        sotto_json_text(j, "helper", r->helper);
    }
    sotto_json_text(j, "honest", r->honest);
    if (r->honest_devices > 0)
        sotto_json_uint(j, "honest_devices", r->honest_devices);
    sotto_json_text(j, "inputs", r->inputs);
    if (r->bound_factor > 0) { /* else nothing bounds a liar's update */
        sotto_json_real(j, "bound_factor", r->bound_factor);
        sotto_json_real(j, "lift", r->lift);
        sotto_json_real(j, "liar_moves_mean", r->liar);
    }
    if (!r->server[0]) /* a registry has one place for a device */
        sotto_json_bool(j, "one_report_a_device", r->tokens);
    sotto_json_real(j, "divisor", r->divisor);
}

static sotto_learning_receipt session_receipt(const learn_run *run)
{
    sotto_learning_receipt r;
    uint8_t digest[SOTTO_MODEL_HASH] = {0};
    sotto_arena arena;
    sotto_bytes file;

    sotto_arena_init(&arena, (size_t)1 << 28);
    if (learn_model_bytes(&run->model, run->session.weights, &file, digest, &arena, NULL) !=
        SOTTO_OK)
        memset(digest, 0, sizeof digest);
    sotto_arena_clear(&arena);
    sotto_session_receipt_of(&r, run->learning, &run->claim, digest, run->session.round,
                             run->session.burnt, run->session.reports);
    return r;
}

static void status_members(sotto_json *j, const learn_run *run)
{
    const sotto_learning_receipt r = session_receipt(run);
    const sotto_session *s = &run->session;

    receipt_members(j, &r);
    sotto_json_uint(j, "rounds_planned", run->learning->rounds);
    sotto_json_text(j, "model_type", run->learning->model);
    sotto_json_uint(j, "classes", run->data.classes);
    sotto_json_uint(j, "height", run->data.height);
    sotto_json_uint(j, "width", run->data.width);
    sotto_json_bool(j, "symbols", run->data.kind == SOTTO_DATASET_SYMBOLS);
    if (s->point_count > 0) {
        sotto_json_real(j, "loss", s->points[s->point_count - 1].loss);
        sotto_json_real(j, "accuracy", s->points[s->point_count - 1].accuracy);
    }
    sotto_json_hex(j, "transcript", sotto_bytes_of(s->transcript, sizeof s->transcript));
}

/* ---- curves ------------------------------------------------------------------------------------------------- */

enum { LOSS, ACCURACY, CURVES };

typedef struct curves {
    sotto_curve_point points[CURVES][LEARN_POINTS];
    sotto_curve_plot plots[CURVES];
} curves;

/* Loss and accuracy. The result is good until the next call. */
static const curves *curves_of(const learn_run *run)
{
    static curves c;
    const sotto_session *s = &run->session;

    for (size_t k = 0; k < CURVES; k++) {
        for (size_t i = 0; i < s->point_count; i++) {
            const double y = k == LOSS ? s->points[i].loss : s->points[i].accuracy;

            c.points[k][i] = (sotto_curve_point){
                .x = (double)s->points[i].round, .low = y, .high = y, .answered = isfinite(y)};
        }
        c.plots[k] = (sotto_curve_plot){.x_name = "round",
                                        .y_name = k == LOSS ? "loss" : "accuracy",
                                        .title = run->learning->head.name,
                                        .others = run->learning->model,
                                        .points = c.points[k],
                                        .count = s->point_count};
    }
    return &c;
}

static sotto_status write_csv(const learn_run *run, sotto_buf *out, sotto_err *err)
{
    const sotto_session *s = &run->session;
    sotto_writer w = sotto_writer_on(out);

    sotto_write_format(&w, "round,loss,accuracy\n");
    for (size_t i = 0; i < s->point_count; i++) {
        char loss[SOTTO_NUMBER_TEXT], accuracy[SOTTO_NUMBER_TEXT];

        loss[0] = accuracy[0] = '\0'; /* nobody here can tell how well it does */
        if (isfinite(s->points[i].loss)) {
            sotto_number_format(loss, s->points[i].loss);
            sotto_number_format(accuracy, s->points[i].accuracy);
        }
        sotto_write_format(&w, "%" PRIu64 ",%s,%s\n", s->points[i].round, loss, accuracy);
    }
    return sotto_writer_finish(&w, "curves", err);
}

static sotto_status write_svg(const learn_run *run, sotto_buf *out, sotto_err *err)
{
    const sotto_curve_page page = {run->learning->head.name, curves_of(run)->plots, CURVES, CURVES};
    const sotto_view view = sotto_show_into(out, SOTTO_VIEW_SVG);

    return sotto_view_curves(&view, &page, err);
}

/* ---- the folder's files ---------------------------------------------------------------------------------------- */

static sotto_status write_json(const learn_run *run, const sotto_learning_receipt *round,
                               sotto_buf *out)
{
    sotto_json j = sotto_show_json_into(out, SOTTO_JSON_INDENTED);

    if (round)
        receipt_members(&j, round);
    else
        status_members(&j, run);
    sotto_json_end(&j);
    return sotto_json_finish(&j);
}

static sotto_status save(const learn_run *run, const char *name, const sotto_buf *bytes,
                         sotto_err *err)
{
    char path[DEMO_FILE + 32];

    (void)snprintf(path, sizeof path, "%s/%s", run->folder, name);
    return sotto_file_write(path, sotto_buf_bytes(bytes), NULL, NULL, err);
}

sotto_status learn_show_receipt(learn_run *run, const sotto_learning_receipt *round, sotto_err *err)
{
    const sotto_arena_mark mark = sotto_arena_here(&run->round_arena);
    char name[40];
    sotto_buf out;

    SOTTO_TRY(sotto_buf_take(&out, &run->round_arena, TEXT, err));
    SOTTO_TRY(write_json(run, round, &out));
    (void)snprintf(name, sizeof name, "receipt-%" PRIu64 ".json", round->round);
    SOTTO_TRY(save(run, name, &out, err));
    sotto_arena_rollback(&run->round_arena, mark);
    return SOTTO_OK;
}

sotto_status learn_show_save(learn_run *run, sotto_err *err)
{
    const sotto_arena_mark mark = sotto_arena_here(&run->round_arena);
    sotto_buf out;

    SOTTO_TRY(sotto_buf_take(&out, &run->round_arena, LONG, err));
    SOTTO_TRY(write_csv(run, &out, err));
    SOTTO_TRY(save(run, "curve.csv", &out, err));
    out.len = 0;
    SOTTO_TRY(write_svg(run, &out, err));
    SOTTO_TRY(save(run, "curve.svg", &out, err));
    out.len = 0;
    SOTTO_TRY(write_json(run, NULL, &out));
    SOTTO_TRY(save(run, "status.json", &out, err));
    sotto_arena_rollback(&run->round_arena, mark);
    return SOTTO_OK;
}

/* ---- the end ------------------------------------------------------------------------------------------------------- */

static int say_end(const learn_run *run)
{
    static uint8_t memory[TEXT];
    const curves *c = curves_of(run);
    const sotto_learning_receipt r = session_receipt(run);
    const sotto_session *s = &run->session;
    const sotto_view view = sotto_show_view(SOTTO_VIEW_TEXT);
    sotto_buf out = sotto_buf_over(memory, sizeof memory);

    const bool known = s->point_count > 0 && isfinite(s->points[s->point_count - 1].loss);

    for (size_t k = 0; !run->quiet && known && s->point_count > 1 && k < CURVES; k++)
        if (sotto_view_curve(&view, &c->plots[k], NULL) == SOTTO_OK)
            printf("\n");
    if (known)
        printf("loss %.4f, accuracy %.2f%%\n", s->points[s->point_count - 1].loss,
               100 * s->points[s->point_count - 1].accuracy);
    if (sotto_learning_receipt_explain(&out, &r, NULL) != SOTTO_OK)
        return EXIT_FAILED;
    printf("%.*s", (int)out.len, (const char *)out.data);
    printf("session in %s; `sotto learn export %s --to FILE` writes the model\n", run->folder,
           run->folder);
    return EXIT_DONE;
}

int learn_show_end(learn_run *run)
{
    if (!run->json)
        return say_end(run);
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    status_members(&j, run);
    sotto_json_text(&j, "folder", run->folder);
    return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
}
