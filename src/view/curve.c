#include "view/curve.h"

#include "view/view.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 64, LINES = 18 };
enum { WIDTH = 720, HEIGHT = 440, LEFT = 90, RIGHT = 20, TOP = 54, BOTTOM = 60 };
enum { TICKS = 5, MOST_TICKS = 12, MARKS = 40 };
enum { LEGEND = 220, LEGEND_LINE = 18, PAGE_TITLE = 40 };

/* A plot of one curve is one of several. */
static size_t curves_of(const sotto_curve_plot *plot)
{
    return plot->series_count ? plot->series_count : 1;
}

static sotto_curve_series curve_at(const sotto_curve_plot *plot, size_t i)
{
    return plot->series_count ? plot->series[i]
                              : (sotto_curve_series){.points = plot->points, .count = plot->count};
}

/* ---- the scale ----------------------------------------------------------------------------------------- */

/* Where a point lies between the smallest and largest, 0 to 1. */
typedef struct frame {
    double x_from, x_to, y_from, y_to;
    bool log_x, log_y;
    int right; /* margin: a legend takes more */
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

static bool fit_curve(frame *f, const sotto_curve_series *c)
{
    bool any = false;

    for (size_t i = 0; i < c->count; i++) {
        const sotto_curve_point *p = &c->points[i];

        f->x_from = fmin(f->x_from, p->x);
        f->x_to = fmax(f->x_to, p->x);
        if (!p->answered)
            continue;
        any = true;
        f->y_from = fmin(f->y_from, p->high);
        f->y_to = fmax(f->y_to, p->high);
    }
    return any;
}

/* False: no point was answered. */
static bool fit(frame *f, const sotto_curve_plot *plot)
{
    bool any = false;

    *f = (frame){INFINITY,
                 -INFINITY,
                 INFINITY,
                 -INFINITY,
                 plot->log_x,
                 false,
                 plot->series_count ? LEGEND : RIGHT};
    for (size_t i = 0; i < curves_of(plot); i++) {
        const sotto_curve_series c = curve_at(plot, i);

        any = fit_curve(f, &c) || any;
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

static void say_points(sotto_text *t, const sotto_curve_series *c, const char *panel)
{
    for (size_t i = 0; i < c->count; i++) {
        const sotto_curve_point *p = &c->points[i];

        if (panel) {
            sotto_text_csv(t, sotto_bytes_of(panel, strlen(panel)));
            sotto_text_say(t, ",");
        }
        if (c->name) {
            sotto_text_csv(t, sotto_bytes_of(c->name, strlen(c->name)));
            sotto_text_say(t, ",");
        }
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

static void curve_as_csv(sotto_text *t, const void *thing)
{
    const sotto_curve_plot *plot = thing;

    if (plot->series_count)
        sotto_text_say(t, "curve,");
    sotto_text_csv(t, sotto_bytes_of(plot->x_name, strlen(plot->x_name)));
    sotto_text_say(t, ",low,high\n");
    for (size_t i = 0; i < curves_of(plot); i++) {
        const sotto_curve_series c = curve_at(plot, i);

        say_points(t, &c, NULL);
    }
}

static void page_as_csv(sotto_text *t, const void *thing)
{
    const sotto_curve_page *page = thing;

    sotto_text_say(t, "panel,curve,x,low,high\n");
    for (size_t i = 0; i < page->count; i++)
        for (size_t j = 0; j < curves_of(&page->plots[i]); j++) {
            const sotto_curve_series c = curve_at(&page->plots[i], j);

            say_points(t, &c, page->plots[i].title);
        }
}

/* ---- SVG ----------------------------------------------------------------------------------------------- */

static double svg_x(const frame *f, double x)
{
    return LEFT + place(x, f->x_from, f->x_to, f->log_x) * (WIDTH - LEFT - f->right);
}

static double svg_y(const frame *f, double y)
{
    return HEIGHT - BOTTOM - place(y, f->y_from, f->y_to, f->log_y) * (HEIGHT - TOP - BOTTOM);
}

static void say_fixed(sotto_text *t, const char *before, double x, int digits, const char *after)
{
    char text[SOTTO_NUMBER_TEXT];

    sotto_number_fixed(text, x, digits);
    sotto_text_say(t, "%s%s%s", before, text, after);
}

/* 1, 2 or 5 times a power of ten, the first that is not below x. */
static double round_up(double x)
{
    const double power = pow(10, floor(log10(x))), part = x / power;

    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

/* Round numbers from one end to the other; the ends themselves where a scale has hardly any. */
static size_t find_ticks(double out[MOST_TICKS], double from, double to, bool logarithmic,
                         size_t most)
{
    size_t count = 0;

    if (!(to > from)) {
        out[0] = from;
        return 1;
    }
    const double step = round_up((to - from) / TICKS), slack = 1e-9 * (to - from);
    double x = logarithmic ? round_up(from * (1 - 1e-9)) : ceil(from / step - 1e-9) * step;
    while (x <= to + slack && count < most) {
        out[count++] = x + 0.0; /* not -0 */
        x = logarithmic ? round_up(x * 1.001) : x + step;
    }
    if (count == most && logarithmic) { /* tens alone */
        const double ratio = pow(10, fmax(1, ceil(log10(to / from) / TICKS)));

        count = 0;
        for (x = pow(10, ceil(log10(from) - 1e-9)); x <= to * (1 + 1e-9) && count < MOST_TICKS;
             x *= ratio)
            out[count++] = x;
    }
    if (count < 2) {
        out[0] = from;
        out[1] = to;
        count = 2;
    }
    return count;
}

/* The values themselves where they are few. */
static size_t find_values(double out[MOST_TICKS], const frame *f, const sotto_curve_plot *plot)
{
    if (plot->series_count || plot->count > TICKS + 1)
        return find_ticks(out, f->x_from, f->x_to, f->log_x, f->right == RIGHT ? MOST_TICKS : 8);
    for (size_t i = 0; i < plot->count; i++)
        out[i] = plot->points[i].x;
    return plot->count;
}

static void say_ticks(sotto_text *t, const frame *f, const sotto_curve_plot *plot)
{
    double ticks[MOST_TICKS];
    size_t count = find_values(ticks, f, plot);

    for (size_t i = 0; i < count; i++) {
        const double x = svg_x(f, ticks[i]);

        say_fixed(t, "<line x1=\"", x, 1, "\"");
        sotto_text_say(t, " y1=\"%d\"", TOP);
        say_fixed(t, " x2=\"", x, 1, "\"");
        sotto_text_say(t, " y2=\"%d\" class=\"grid\"/>", HEIGHT - BOTTOM);
        say_fixed(t, "<text x=\"", x, 1, "\"");
        sotto_text_say(t, " y=\"%d\" text-anchor=\"middle\">%.4g</text>\n", HEIGHT - BOTTOM + 18,
                       ticks[i]);
    }
    count = find_ticks(ticks, f->y_from, f->y_to, f->log_y, MOST_TICKS);
    for (size_t i = 0; i < count; i++) {
        const double y = svg_y(f, ticks[i]);

        sotto_text_say(t, "<line x1=\"%d\"", LEFT);
        say_fixed(t, " y1=\"", y, 1, "\"");
        sotto_text_say(t, " x2=\"%d\"", WIDTH - f->right);
        say_fixed(t, " y2=\"", y, 1, "\" class=\"grid\"/>");
        sotto_text_say(t, "<text x=\"%d\"", LEFT - 8);
        say_fixed(t, " y=\"", y + 4, 1, "\"");
        sotto_text_say(t, " text-anchor=\"end\">%.4g</text>\n", ticks[i]);
    }
}

/* The first colour is that of a curve alone. */
static void say_class(sotto_text *t, const char *before, const sotto_curve_series *c)
{
    const unsigned colour = c->colour % SOTTO_CURVE_COLOURS;

    if (colour)
        sotto_text_say(t, "%s c%u\"", before, colour);
    else
        sotto_text_say(t, "%s\"", before);
}

/* A dot for each point that was answered, and a cross at the foot for one that was refused; of many points the line alone. */
static void say_marks(sotto_text *t, const frame *f, const sotto_curve_series *c)
{
    for (size_t i = 0; c->count <= MARKS && i < c->count; i++) {
        const sotto_curve_point *p = &c->points[i];
        const double x = svg_x(f, p->x);

        if (p->answered) {
            say_class(t, "<circle class=\"mark", c);
            say_fixed(t, " cx=\"", x, 2, "\"");
            say_fixed(t, " cy=\"", svg_y(f, p->high), 2, "\" r=\"4\"/>\n");
        } else {
            say_fixed(t, "<text class=\"none\" x=\"", x, 2, "\"");
            sotto_text_say(t, " y=\"%d\" text-anchor=\"middle\">x refused</text>\n",
                           HEIGHT - BOTTOM - 6);
        }
    }
}

static void say_dash(sotto_text *t, const sotto_curve_series *c)
{
    sotto_text_say(t, "%s", c->dashed ? " stroke-dasharray=\"6 4\"" : "");
}

/* A refusal interrupts the line. */
static void say_path(sotto_text *t, const frame *f, const sotto_curve_series *c)
{
    bool down = false;

    say_class(t, "<path class=\"curve", c);
    say_dash(t, c);
    sotto_text_say(t, " d=\"");
    for (size_t i = 0; i < c->count; i++) {
        const sotto_curve_point *p = &c->points[i];

        if (p->answered) {
            say_fixed(t, down ? "L" : "M", svg_x(f, p->x), 2, " ");
            say_fixed(t, "", svg_y(f, p->high), 2, " ");
        }
        down = p->answered;
    }
    sotto_text_say(t, "\"/>\n");
}

static void say_xml(sotto_text *t, const char *text)
{
    sotto_text_xml(t, sotto_bytes_of(text, strlen(text)));
}

/* Beside the plot, in the order of the curves. */
static void say_legend(sotto_text *t, const frame *f, const sotto_curve_plot *plot)
{
    const int x = WIDTH - f->right + 12;

    for (size_t i = 0; i < plot->series_count; i++) {
        const sotto_curve_series *c = &plot->series[i];
        const int y = TOP + 10 + LEGEND_LINE * (int)i;

        say_class(t, c->dots ? "<circle class=\"mark" : "<path class=\"curve", c);
        if (c->dots)
            sotto_text_say(t, " cx=\"%d\" cy=\"%d\" r=\"4\"", x + 11, y);
        else
            sotto_text_say(t, " d=\"M%d %d h22\"", x, y);
        say_dash(t, c);
        sotto_text_say(t, "/>");
        sotto_text_say(t, "<text x=\"%d\" y=\"%d\">", x + 28, y + 4);
        say_xml(t, c->name);
        sotto_text_say(t, "</text>\n");
    }
}

static void say_curves(sotto_text *t, const frame *f, const sotto_curve_plot *plot)
{
    for (size_t i = 0; i < curves_of(plot); i++) {
        const sotto_curve_series c = curve_at(plot, i);

        if (!c.dots)
            say_path(t, f, &c);
        if (c.dots || !plot->series_count)
            say_marks(t, f, &c);
    }
    say_legend(t, f, plot);
}

static void say_style(sotto_text *t)
{
    static const char *const colours[SOTTO_CURVE_COLOURS] = {
        "#1b5e9e", "#b3541e", "#2e7d4f", "#7b3f98", "#8a6d00", "#a32a4b", "#3a7f8c", "#777777"};

    sotto_text_say(t,
                   "<style>.grid{stroke:#ddd}.curve{fill:none;stroke:%s;stroke-width:2}"
                   ".mark{fill:%s}.none{fill:#a33}",
                   colours[0], colours[0]);
    for (int i = 1; i < SOTTO_CURVE_COLOURS; i++)
        sotto_text_say(t, ".curve.c%d{stroke:%s}.mark.c%d{fill:%s}", i, colours[i], i, colours[i]);
    sotto_text_say(t, "</style>\n");
}

/* What stands in the frame of one plot. */
static void say_plot(sotto_text *t, const sotto_curve_plot *plot)
{
    const int middle = (TOP + HEIGHT - BOTTOM) / 2;
    frame f;

    sotto_text_say(t,
                   "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
                   "<text x=\"%d\" y=\"22\" font-size=\"14\">",
                   LEFT);
    say_xml(t, plot->title);
    sotto_text_say(t, "</text>\n<text x=\"%d\" y=\"40\" font-size=\"11\">", LEFT);
    say_xml(t, plot->others);
    sotto_text_say(t, "</text>\n");
    if (fit(&f, plot)) {
        say_ticks(t, &f, plot);
        say_curves(t, &f, plot);
    }
    sotto_text_say(t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                   (LEFT + WIDTH - f.right) / 2, HEIGHT - 16);
    say_xml(t, plot->x_name);
    sotto_text_say(t,
                   "</text>\n<text x=\"20\" y=\"%d\" transform=\"rotate(-90 20 %d)\" "
                   "text-anchor=\"middle\">",
                   middle, middle);
    say_xml(t, plot->y_name);
    sotto_text_say(t, "</text>\n");
}

static void begin_svg(sotto_text *t, int width, int height)
{
    sotto_text_say(t,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                   "font-family=\"sans-serif\" font-size=\"12\">\n",
                   width, height);
    say_style(t);
}

static void curve_as_svg(sotto_text *t, const void *thing)
{
    begin_svg(t, WIDTH, HEIGHT);
    say_plot(t, thing);
    sotto_text_say(t, "</svg>\n");
}

static void page_as_svg(sotto_text *t, const void *thing)
{
    const sotto_curve_page *page = thing;
    const int rows = (int)((page->count + page->columns - 1) / page->columns);

    begin_svg(t, WIDTH * (int)page->columns, PAGE_TITLE + HEIGHT * rows);
    sotto_text_say(t, "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
                      "<text x=\"20\" y=\"28\" font-size=\"18\">");
    say_xml(t, page->title);
    sotto_text_say(t, "</text>\n");
    for (size_t i = 0; i < page->count; i++) {
        sotto_text_say(t, "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\">\n",
                       WIDTH * (int)(i % page->columns),
                       PAGE_TITLE + HEIGHT * (int)(i / page->columns), WIDTH, HEIGHT);
        say_plot(t, &page->plots[i]);
        sotto_text_say(t, "</svg>\n");
    }
    sotto_text_say(t, "</svg>\n");
}

/* ---- text ---------------------------------------------------------------------------------------------- */

/* Whether a point was refused. One curve is drawn with *, several with letters. */
static bool draw(char cells[LINES][COLUMNS + 1], const frame *f, const sotto_curve_plot *plot)
{
    bool refused = false;

    memset(cells, ' ', (size_t)LINES * (COLUMNS + 1));
    for (int i = 0; i < LINES; i++)
        cells[i][COLUMNS] = 0;
    for (size_t j = 0; j < curves_of(plot); j++) {
        const sotto_curve_series c = curve_at(plot, j);

        for (size_t i = 0; i < c.count; i++) {
            const sotto_curve_point *p = &c.points[i];
            double x = place(p->x, f->x_from, f->x_to, f->log_x);
            double y = p->answered ? place(p->high, f->y_from, f->y_to, f->log_y) : 0;

            cells[LINES - 1 - (int)lround(y * (LINES - 1))][(int)lround(x * (COLUMNS - 1))] =
                !p->answered         ? 'x'
                : plot->series_count ? (char)('a' + j % 26)
                                     : '*';
            refused |= !p->answered;
        }
    }
    return refused;
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

    const bool refused = draw(cells, &f, plot);

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
    sotto_text_say(t, "%10s  %s against %s%s%s\n", "", plot->y_name, plot->x_name,
                   f.log_x || f.log_y ? ", logarithmic" : "", refused ? " (x: refused)" : "");
    for (size_t i = 0; i < plot->series_count; i++)
        sotto_text_say(t, "%10s  %c %s\n", "", (char)('a' + i % 26), plot->series[i].name);
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

sotto_status sotto_view_curves(const sotto_view *view, const sotto_curve_page *page, sotto_err *err)
{
    static sotto_show *const formats[SOTTO_VIEW_FORMATS] = {
        [SOTTO_VIEW_CSV] = page_as_csv,
        [SOTTO_VIEW_SVG] = page_as_svg,
    };

    return sotto_view_run(view, formats, page, "several curves", err);
}
