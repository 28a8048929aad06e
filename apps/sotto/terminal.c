#define _DEFAULT_SOURCE
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A bar is "what [####....] 100%": its cells, the narrowest that is still one, and what stands around them. */
enum { BAR_CELLS = 32, FEWEST_CELLS = 8, WHAT_COLUMNS = 28, AROUND = 8, USUAL_COLUMNS = 80 };

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

/* That can be written without the cursor going to the next line, from which "\r" would not come back. */
static unsigned columns(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_COLUMNS - 1;
    return size.ws_col - 1U;
}

static void draw_bar(const sotto_progress *p, unsigned percent)
{
    unsigned room = columns();
    unsigned what = room >= WHAT_COLUMNS + AROUND + BAR_CELLS ? WHAT_COLUMNS
                    : room >= 12 + AROUND + FEWEST_CELLS      ? 12
                                                              : 0;
    unsigned all = room < what + AROUND + FEWEST_CELLS ? 0 : room - what - AROUND;
    unsigned cells;

    all = all > BAR_CELLS ? BAR_CELLS : all;
    cells = percent * all / 100;
    if (all == 0) {
        (void)fprintf(stderr, room >= 4 ? "\r%3u%%" : "", percent);
    } else {
        (void)fprintf(stderr, "\r%-*.*s [", (int)what, (int)what, p->what);
        for (unsigned i = 0; i < all; i++)
            (void)fputc(i < cells ? '#' : '.', stderr);
        (void)fprintf(stderr, "] %3u%%", percent);
    }
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
    if (!p->quiet && draws_on(stderr))
        (void)fputc('\n', stderr);
}

bool sotto_terminal_colours(void)
{
    return colours_on(stdout);
}
