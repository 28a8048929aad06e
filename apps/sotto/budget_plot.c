/* A curve as CSV, as SVG and on a terminal. */
#include "budget_curve.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 64, LINES = 18 };
enum { WIDTH = 720, HEIGHT = 440, LEFT = 90, RIGHT = 20, TOP = 54, BOTTOM = 60, TICKS = 5 };

double sotto_curve_place(double x, double from, double to, bool logarithmic)
{
    if (to <= from)
        return 0.5;
    if (logarithmic)
        return log(x / from) / log(to / from);
    return (x - from) / (to - from);
}

static double unplace(double part, double from, double to, bool logarithmic)
{
    return logarithmic ? from * pow(to / from, part) : from + part * (to - from);
}

bool sotto_curve_fit(sotto_curve_frame *f, const sotto_curve_plot *plot)
{
    bool any = false;

    *f = (sotto_curve_frame){INFINITY, -INFINITY, INFINITY, -INFINITY, plot->log_x, false};
    for (size_t i = 0; i < plot->count; i++) {
        const sotto_curve_point *p = &plot->points[i];

        f->x_from = fmin(f->x_from, p->x);
        f->x_to = fmax(f->x_to, p->x);
        if (!p->answered)
            continue;
        any = true;
        f->y_from = fmin(f->y_from, p->high);
        f->y_to = fmax(f->y_to, p->high);
    }
    f->log_y = f->y_from > 0 && f->y_to / f->y_from > 20;
    if (!f->log_y && f->y_from >= 0)
        f->y_from = 0; /* a proportion is only seen from its zero */
    return any;
}

void sotto_curve_print_csv(FILE *out, const sotto_curve_plot *plot)
{
    (void)fprintf(out, "%s,low,high\n", plot->x_name);
    for (size_t i = 0; i < plot->count; i++) {
        const sotto_curve_point *p = &plot->points[i];

        if (p->answered)
            (void)fprintf(out, "%.17g,%.17g,%.17g\n", p->x, p->low, p->high);
        else
            (void)fprintf(out, "%.17g,NA,NA\n", p->x);
    }
}

/* ---- SVG -------------------------------------------------------------------------------------------- */

static double svg_x(double part)
{
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double svg_y(double part)
{
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
}

static void print_ticks(FILE *out, const sotto_curve_frame *f)
{
    for (int i = 0; i < TICKS; i++) {
        double part = (double)i / (TICKS - 1);

        (void)fprintf(out,
                      "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"grid\"/>"
                      "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.3g</text>\n",
                      svg_x(part), TOP, svg_x(part), HEIGHT - BOTTOM, svg_x(part),
                      HEIGHT - BOTTOM + 18, unplace(part, f->x_from, f->x_to, f->log_x));
        (void)fprintf(out,
                      "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>"
                      "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n",
                      LEFT, svg_y(part), WIDTH - RIGHT, svg_y(part), LEFT - 8, svg_y(part) + 4,
                      unplace(part, f->y_from, f->y_to, f->log_y));
    }
}

/* A refusal interrupts the line. */
static void print_path(FILE *out, const sotto_curve_frame *f, const sotto_curve_plot *plot)
{
    bool down = false;

    (void)fprintf(out, "<path class=\"curve\" d=\"");
    for (size_t i = 0; i < plot->count; i++) {
        const sotto_curve_point *p = &plot->points[i];

        if (p->answered)
            (void)fprintf(out, "%c%.2f %.2f ", down ? 'L' : 'M',
                          svg_x(sotto_curve_place(p->x, f->x_from, f->x_to, f->log_x)),
                          svg_y(sotto_curve_place(p->high, f->y_from, f->y_to, f->log_y)));
        down = p->answered;
    }
    (void)fprintf(out, "\"/>\n");
}

void sotto_curve_print_svg(FILE *out, const sotto_curve_plot *plot)
{
    sotto_curve_frame f;

    (void)fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<style>.grid{stroke:#ddd}.curve{fill:none;stroke:#1b5e9e;stroke-width:2}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
        "<text x=\"%d\" y=\"22\" font-size=\"14\">%s</text>\n"
        "<text x=\"%d\" y=\"40\" font-size=\"11\">%s</text>\n",
        WIDTH, HEIGHT, LEFT, plot->title, LEFT, plot->others);
    if (sotto_curve_fit(&f, plot)) {
        print_ticks(out, &f);
        print_path(out, &f, plot);
    }
    (void)fprintf(out,
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n"
                  "<text x=\"20\" y=\"%d\" transform=\"rotate(-90 20 %d)\" "
                  "text-anchor=\"middle\">%s</text>\n</svg>\n",
                  (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, plot->x_name,
                  (TOP + HEIGHT - BOTTOM) / 2, (TOP + HEIGHT - BOTTOM) / 2, plot->y_name);
}

/* ---- terminal --------------------------------------------------------------------------------------- */

void sotto_curve_print_terminal(FILE *out, const sotto_curve_plot *plot)
{
    char cells[LINES][COLUMNS + 1];
    sotto_curve_frame f;

    if (!sotto_curve_fit(&f, plot)) {
        (void)fprintf(out, "nothing to draw: every point was refused\n");
        return;
    }
    memset(cells, ' ', sizeof cells);
    for (size_t i = 0; i < plot->count; i++) {
        const sotto_curve_point *p = &plot->points[i];
        double x = sotto_curve_place(p->x, f.x_from, f.x_to, f.log_x);
        double y = p->answered ? sotto_curve_place(p->high, f.y_from, f.y_to, f.log_y) : 0;

        cells[LINES - 1 - (int)lround(y * (LINES - 1))][(int)lround(x * (COLUMNS - 1))] =
            p->answered ? '*' : 'x';
    }
    (void)fprintf(out, "%s\n%s\n\n", plot->title, plot->others);
    for (int i = 0; i < LINES; i++) {
        cells[i][COLUMNS] = 0;
        if (i == 0 || i == LINES - 1 || i == LINES / 2)
            (void)fprintf(out, "%10.4g |%s\n",
                          unplace(1 - (double)i / (LINES - 1), f.y_from, f.y_to, f.log_y),
                          cells[i]);
        else
            (void)fprintf(out, "%10s |%s\n", "", cells[i]);
    }
    (void)fprintf(out, "%10s +", "");
    for (int i = 0; i < COLUMNS; i++)
        (void)fputc('-', out);
    (void)fprintf(out, "\n%10s  %-10.4g%*.4g\n", "", f.x_from, COLUMNS - 10, f.x_to);
    (void)fprintf(out, "%10s  %s against %s%s (x: refused)\n", "", plot->y_name, plot->x_name,
                  f.log_x || f.log_y ? ", logarithmic" : "");
}
