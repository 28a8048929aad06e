/* apps/sotto/verbs.h - the verbs of the one program; a file for each. */
#ifndef SOTTO_APPS_VERBS_H
#define SOTTO_APPS_VERBS_H

#include "support/exit.h"

typedef struct sotto_verb {
    const char *name;
    const char *summary;
    const char *usage;                     /* what --help prints ...         */
    void (*print_usage)(void);             /* ... or what prints it; neither: `run` does */
    int (*run)(int argc, char **argv);     /* argv[0] is the verb; NULL: it only has parts */
    const struct sotto_verb *const *parts; /* verbs below this one, ended by NULL; or NULL */
    /* ... or what yields the i-th, until the next call; NULL behind the last. */
    const struct sotto_verb *(*part)(size_t i);
} sotto_verb;

extern const sotto_verb sotto_verb_admin;
extern const sotto_verb sotto_verb_analysis;
extern const sotto_verb sotto_verb_budget;
extern const sotto_verb sotto_verb_collect;
extern const sotto_verb sotto_verb_demo;
extern const sotto_verb sotto_verb_device;
extern const sotto_verb sotto_verb_interop;
extern const sotto_verb sotto_verb_learn;
extern const sotto_verb sotto_verb_log;
extern const sotto_verb sotto_verb_parties;
extern const sotto_verb sotto_verb_recipe;
extern const sotto_verb sotto_verb_serve;
extern const sotto_verb sotto_verb_sim;

#endif
