/* apps/sotto/terminal.h - progress and bars: drawn on a terminal, plain lines elsewhere. */
#ifndef SOTTO_APPS_TERMINAL_H
#define SOTTO_APPS_TERMINAL_H

#include "sotto/base.h"

/* Progress goes to standard error, so that the answer can be piped. Silent when not asked for. */
typedef struct sotto_progress {
    const char *what;
    uint64_t total;
    bool quiet;
    unsigned shown; /* percent already shown, plus one */
} sotto_progress;

void sotto_progress_show(sotto_progress *p, uint64_t done);
void sotto_progress_end(sotto_progress *p);

/* So many filled cells, and blanks up to `width`, on standard output. */
void sotto_cells_print(unsigned cells, unsigned width);

/* A labelled bar of at most `width` cells, value of largest, on standard output. */
void sotto_bar_print(const char *label, uint64_t value, uint64_t largest, unsigned width);

#endif
