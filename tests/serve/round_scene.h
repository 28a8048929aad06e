/* round_scene.h - a leader and a helper with rounds of a small learning recipe, and devices that report to them. */
#ifndef SOTTO_TESTS_SERVE_ROUND_SCENE_H
#define SOTTO_TESTS_SERVE_ROUND_SCENE_H

#include "device/answer/update.h"
#include "recipe/learning.h"
#include "support/steps.h"

enum { PARAMETERS = 400, DEVICES = 12, SCALE = 4096 };
#define CLIP 0.5

typedef struct scene {
    sotto_test_service s;
    const sotto_learning *learning;
    sotto_vdaf vdaf;
    sotto_vector_randomizer randomizer;
    sotto_entropy entropy;
    char *recipe;
    double wanted[PARAMETERS]; /* in steps of the grid */
    uint64_t round;            /* that is open now     */
} scene;

/* What the recipe of a scene has in its own place. */
typedef struct shape {
    const char *by;
    unsigned largest, goal;
    unsigned every;    /* hours of a round; 0: one    */
    const char *drawn; /* participation; NULL: anybody */
    unsigned slots;    /* of it                       */
    unsigned restart;  /* of a tree of correlated noise; 0: none */
    bool buffers;      /* noise correlated by those of scene_matrix */
} shape;

extern const sotto_blt scene_matrix;

/* Rounds of an hour, or of `every`, since yesterday: round 24 is open, and 23 has just closed. */
scene *scene_open(sotto_test *t, const shape *s);
/* The task of a round, at both servers: the scene's from then on. */
void scene_begin(sotto_test *t, scene *k, uint64_t round, uint8_t model);
/* Entries of -0.01 to 0.01: a norm of about 0.14, below the clip. counted: in what the scene wants of the sum. */
sotto_bytes scene_report(sotto_test *t, scene *k, bool counted);
/* So many devices report, and are counted. */
void scene_upload(sotto_test *t, scene *k, size_t count);

#endif
