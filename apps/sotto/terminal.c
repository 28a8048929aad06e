#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BAR_CELLS = 32 };

static bool draws_on(FILE *stream)
{
    const char *term = getenv("TERM");

    return isatty(stream == stdout ? STDOUT_FILENO : STDERR_FILENO) && term && term[0] &&
           !(term[0] == 'd' && term[1] == 'u');
}

static bool colours_on(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR");

    return draws_on(stream) && !(no_color && no_color[0]);
}

static void draw_bar(const sotto_progress *p, unsigned percent)
{
    unsigned cells = percent * BAR_CELLS / 100;

    (void)fprintf(stderr, "\r%-28s [", p->what);
    for (unsigned i = 0; i < BAR_CELLS; i++)
        (void)fputc(i < cells ? '#' : '.', stderr);
    (void)fprintf(stderr, "] %3u%%", percent);
    (void)fflush(stderr);
}

void sotto_progress_show(sotto_progress *p, uint64_t done)
{
    unsigned percent = p->total ? (unsigned)(done * 100 / p->total) : 100;
    bool drawing = draws_on(stderr);
    unsigned step = drawing ? 1 : 25; /* a log wants lines, not a film */

    if (p->quiet || (p->shown && percent + 1 < p->shown + step))
        return;
    p->shown = percent - percent % step + 1;
    if (drawing)
        draw_bar(p, percent);
    else
        (void)fprintf(stderr, "%s: %u%%\n", p->what, percent);
}

void sotto_progress_end(sotto_progress *p)
{
    sotto_progress_show(p, p->total);
    if (!p->quiet && draws_on(stderr))
        (void)fputc('\n', stderr);
}

bool sotto_terminal_colours(void)
{
    return colours_on(stdout);
}
