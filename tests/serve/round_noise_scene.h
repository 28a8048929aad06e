/* round_noise_scene.h - what one server adds to the sum of a round, and what both did to one that is collected, for tests of noise that is
 * correlated over rounds. */
#ifndef SOTTO_TESTS_SERVE_ROUND_NOISE_SCENE_H
#define SOTTO_TESTS_SERVE_ROUND_NOISE_SCENE_H

#include "round_scene.h"
#include "serve/tasks/round_noise.h"

#define SIGMA (CLIP * SCALE)

typedef struct adding {
    const sotto_server_task *task;
    const sotto_column_keys *keys;
    sotto_test *t;
    double noise[PARAMETERS];
} adding;

/* In sotto_db_run. To no reports at all, so that the sum is the noise. */
sotto_status scene_add_noise(sotto_tx *tx, void *adding, sotto_err *err);
/* A server's noise of a round, as it would be released. */
adding *scene_noise(sotto_test *t, scene *k, sotto_server *server, uint64_t round);

/* Devices report for a round. */
void scene_at_round(sotto_test *t, scene *k, uint64_t round, uint8_t model);
/* Both servers' noise in the sum of that, which is collected. */
void scene_collect(sotto_test *t, scene *k, double *noise);

/* The mean product of two rounds' noise, in units of one draw's variance. */
double scene_product(const double *a, const double *b);

#endif
