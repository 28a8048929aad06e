#include "view/curve.h"

#include "view/view.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 64, LINES = 18 };
enum { WIDTH = 720, HEIGHT = 440, LEFT = 90, RIGHT = 20, TOP = 54, BOTTOM = 60, TICKS = 5 };

/* ---- the scale ----------------------------------------------------------------------------------------- */

/* Where a point lies between the smallest and largest, 0 to 1. */
typedef struct frame {
    double x_from, x_to, y_from, y_to;
    bool log_x, log_y;
} frame;

static double place(double x, double from, double to, bool logarithmic)
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

/* False: no point was answered. */
static bool fit(frame *f, const sotto_curve_plot *plot)
{
    bool any = false;

    *f = (frame){INFINITY, -INFINITY, INFINITY, -INFINITY, plot->log_x, false};
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

/* ---- CSV ----------------------------------------------------------------------------------------------- */

static void say_number(sotto_text *t, double x)
{
    char text[SOTTO_NUMBER_TEXT];

    sotto_number_format(text, x);
    sotto_text_say(t, "%s", text);
}

static void curve_as_csv(sotto_text *t, const void *thing)
{
    const sotto_curve_plot *plot = thing;

    sotto_text_csv(t, sotto_bytes_of(plot->x_name, strlen(plot->x_name)));
    sotto_text_say(t, ",low,high\n");
    for (size_t i = 0; i < plot->count; i++) {
        const sotto_curve_point *p = &plot->points[i];

        say_number(t, p->x);
        if (p->answered) {
            sotto_text_say(t, ",");
            say_number(t, p->low);
            sotto_text_say(t, ",");
            say_number(t, p->high);
        }
        sotto_text_say(t, p->answered ? "\n" : ",NA,NA\n");
    }
}

/* ---- SVG ----------------------------------------------------------------------------------------------- */

static double svg_x(double part)
{
    return LEFT + part * (WIDTH - LEFT - RIGHT);
}

static double svg_y(double part)
{
    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
}

static void say_fixed(sotto_text *t, const char *before, double x, int digits, const char *after)
{
    char text[SOTTO_NUMBER_TEXT];

    sotto_number_fixed(text, x, digits);
    sotto_text_say(t, "%s%s%s", before, text, after);
}

static void say_ticks(sotto_text *t, const frame *f)
{
    for (int i = 0; i < TICKS; i++) {
        double part = (double)i / (TICKS - 1);

        say_fixed(t, "<line x1=\"", svg_x(part), 1, "\"");
        sotto_text_say(t, " y1=\"%d\"", TOP);
        say_fixed(t, " x2=\"", svg_x(part), 1, "\"");
        sotto_text_say(t, " y2=\"%d\" class=\"grid\"/>", HEIGHT - BOTTOM);
        say_fixed(t, "<text x=\"", svg_x(part), 1, "\"");
        sotto_text_say(t, " y=\"%d\" text-anchor=\"middle\">%.3g</text>\n", HEIGHT - BOTTOM + 18,
                       unplace(part, f->x_from, f->x_to, f->log_x));
        sotto_text_say(t, "<line x1=\"%d\"", LEFT);
        say_fixed(t, " y1=\"", svg_y(part), 1, "\"");
        sotto_text_say(t, " x2=\"%d\"", WIDTH - RIGHT);
        say_fixed(t, " y2=\"", svg_y(part), 1, "\" class=\"grid\"/>");
        sotto_text_say(t, "<text x=\"%d\"", LEFT - 8);
        say_fixed(t, " y=\"", svg_y(part) + 4, 1, "\"");
        sotto_text_say(t, " text-anchor=\"end\">%.3g</text>\n",
                       unplace(part, f->y_from, f->y_to, f->log_y));
    }
}

/* A refusal interrupts the line. */
static void say_path(sotto_text *t, const frame *f, const sotto_curve_plot *plot)
{
    bool down = false;

    sotto_text_say(t, "<path class=\"curve\" d=\"");
    for (size_t i = 0; i < plot->count; i++) {
        const sotto_curve_point *p = &plot->points[i];

        if (p->answered) {
            say_fixed(t, down ? "L" : "M", svg_x(place(p->x, f->x_from, f->x_to, f->log_x)), 2,
                      " ");
            say_fixed(t, "", svg_y(place(p->high, f->y_from, f->y_to, f->log_y)), 2, " ");
        }
        down = p->answered;
    }
    sotto_text_say(t, "\"/>\n");
}

static void say_xml(sotto_text *t, const char *text)
{
    sotto_text_xml(t, sotto_bytes_of(text, strlen(text)));
}

static void curve_as_svg(sotto_text *t, const void *thing)
{
    const sotto_curve_plot *plot = thing;
    int middle = (TOP + HEIGHT - BOTTOM) / 2;
    frame f;

    sotto_text_say(
        t,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n"
        "<style>.grid{stroke:#ddd}.curve{fill:none;stroke:#1b5e9e;stroke-width:2}</style>\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
        "<text x=\"%d\" y=\"22\" font-size=\"14\">",
        WIDTH, HEIGHT, LEFT);
    say_xml(t, plot->title);
    sotto_text_say(t, "</text>\n<text x=\"%d\" y=\"40\" font-size=\"11\">", LEFT);
    say_xml(t, plot->others);
    sotto_text_say(t, "</text>\n");
    if (fit(&f, plot)) {
        say_ticks(t, &f);
        say_path(t, &f, plot);
    }
    sotto_text_say(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
                   HEIGHT - 16);
    say_xml(t, plot->x_name);
    sotto_text_say(t,
                   "</text>\n<text x=\"20\" y=\"%d\" transform=\"rotate(-90 20 %d)\" "
                   "text-anchor=\"middle\">",
                   middle, middle);
    say_xml(t, plot->y_name);
    sotto_text_say(t, "</text>\n</svg>\n");
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static void draw(char cells[LINES][COLUMNS + 1], const frame *f, const sotto_curve_plot *plot)
{
    memset(cells, ' ', (size_t)LINES * (COLUMNS + 1));
    for (int i = 0; i < LINES; i++)
        cells[i][COLUMNS] = 0;
    for (size_t i = 0; i < plot->count; i++) {
        const sotto_curve_point *p = &plot->points[i];
        double x = place(p->x, f->x_from, f->x_to, f->log_x);
        double y = p->answered ? place(p->high, f->y_from, f->y_to, f->log_y) : 0;

        cells[LINES - 1 - (int)lround(y * (LINES - 1))][(int)lround(x * (COLUMNS - 1))] =
            p->answered ? '*' : 'x';
    }
}

static void curve_as_text(sotto_text *t, const void *thing)
{
    const sotto_curve_plot *plot = thing;
    char cells[LINES][COLUMNS + 1];
    frame f;

    if (!fit(&f, plot)) {
        sotto_text_say(t, "nothing to draw: every point was refused\n");
        return;
    }
    draw(cells, &f, plot);
    sotto_text_say(t, "%s\n%s\n\n", plot->title, plot->others);
    for (int i = 0; i < LINES; i++) {
        if (i == 0 || i == LINES - 1 || i == LINES / 2)
            sotto_text_say(t, "%10.4g |%s\n",
                           unplace(1 - (double)i / (LINES - 1), f.y_from, f.y_to, f.log_y),
                           cells[i]);
        else
            sotto_text_say(t, "%10s |%s\n", "", cells[i]);
    }
    sotto_text_say(t, "%10s +", "");
    for (int i = 0; i < COLUMNS; i++)
        sotto_text_say(t, "-");
    sotto_text_say(t, "\n%10s  %-10.4g%*.4g\n", "", f.x_from, COLUMNS - 10, f.x_to);
    sotto_text_say(t, "%10s  %s against %s%s (x: refused)\n", "", plot->y_name, plot->x_name,
                   f.log_x || f.log_y ? ", logarithmic" : "");
}

sotto_status sotto_view_curve(const sotto_view *view, const sotto_curve_plot *plot, sotto_err *err)
{
    static sotto_show *const formats[SOTTO_VIEW_FORMATS] = {
        [SOTTO_VIEW_TEXT] = curve_as_text,
        [SOTTO_VIEW_CSV] = curve_as_csv,
        [SOTTO_VIEW_SVG] = curve_as_svg,
    };

    return sotto_view_run(view, formats, plot, "a curve", err);
}
