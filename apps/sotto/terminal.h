/* apps/sotto/terminal.h - progress: drawn on a terminal, plain lines elsewhere. */
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
/* Ends its line, as far as it came: what was interrupted is not shown as done. */
void sotto_progress_end(sotto_progress *p);

/* Whether standard output is a terminal that wants colours. */
bool sotto_terminal_colours(void);

#endif
