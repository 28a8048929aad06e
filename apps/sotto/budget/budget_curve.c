/* Sweeps one number of a question: the curve as CSV, SVG and a plot on the terminal. */
#include "view/curve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget_ask.h"
#include "show.h"
#include "support/number.h"
#include "verbs.h"

enum { DEFAULT_POINTS = 60, FEWEST_POINTS = 2, CURVE_POINTS = 2000, CURVE_CAPTION = 300 };

typedef struct sweep {
    sotto_option option;
    double from, to;
    size_t points;
    bool logarithmic;
} sweep;

/* Splits text at c; NULL if it isn't there. */
static char *cut(char *text, char c)
{
    char *at = text != NULL ? strchr(text, c) : NULL;

    if (at != NULL)
        *at++ = 0;
    return at;
}

static bool read_points(sweep *s, const char *text)
{
    double n = DEFAULT_POINTS;

    if (text != NULL && (sotto_number_read(&n, text, SOTTO_ROUND_NEAREST, "", NULL) != SOTTO_OK ||
                         !(n >= FEWEST_POINTS && n <= CURVE_POINTS && n == floor(n))))
        return false;
    s->points = (size_t)n;
    return true;
}

static double probe_end(sotto_form *probe, sotto_option option, const char *name, const char *text)
{
    probe->given[option] = false;
    (void)sotto_form_set(probe, name, text);
    if (probe->given[option])
        sotto_form_check_number(probe, option, NULL);
    return probe->number[option];
}

/* "rate=1e-4:0.1:50". Both ends are checked as the option itself would be. */
static void parse_sweep(sweep *s, sotto_budget_command *c)
{
    char text[4 * FORM_TEXT] = "";
    sotto_form probe = {0};

    if (strlen(c->curve) < sizeof text)
        memcpy(text, c->curve, strlen(c->curve));
    char *from = cut(text, '='), *to = cut(from, ':'), *points = cut(to, ':');
    s->option = sotto_form_find(text);
    if (to == NULL || s->option == OPTIONS || !sotto_form_is_number(s->option)) {
        sotto_form_complain(&c->form, "--curve: '%.60s' is not NAME=FROM:TO[:POINTS] of a number",
                            c->curve);
        return;
    }
    s->from = probe_end(&probe, s->option, text, from);
    s->to = probe_end(&probe, s->option, text, to);
    for (size_t i = 0; i < probe.mistake_count; i++)
        sotto_form_complain(&c->form, "%s", probe.mistakes[i]);
    if (probe.mistake_count == 0 && !(s->from < s->to))
        sotto_form_complain(&c->form, "--curve: FROM must be below TO");
    if (!read_points(s, points))
        sotto_form_complain(&c->form, "--curve: POINTS must be %d to %d", FEWEST_POINTS,
                            CURVE_POINTS);
    if (c->form.given[s->option])
        sotto_form_complain(&c->form, "--%s is what is swept: leave it out",
                            sotto_form_name(s->option));
    s->logarithmic = s->from > 0 && s->to / s->from >= 20;
}

static double point_at(const sweep *s, size_t i)
{
    double part = (double)i / (double)(s->points - 1);
    double x =
        s->logarithmic ? s->from * pow(s->to / s->from, part) : s->from + part * (s->to - s->from);

    if (sotto_form_is_whole(s->option))
        x = nearbyint(x);
    return fmin(fmax(x, s->from), s->to);
}

static bool save(const char *path, const sotto_curve_plot *plot, sotto_view_format format,
                 const char *verb)
{
    FILE *out = fopen(path, "w");
    sotto_view view = sotto_show_view(format);
    bool shown = false;

    view.context = out;
    if (out != NULL)
        shown = sotto_view_curve(&view, plot, NULL) == SOTTO_OK;
    if (out == NULL || fclose(out) != 0 || !shown) {
        (void)fprintf(stderr, "%s: %s: %s\n", verb, path, strerror(errno));
        return false;
    }
    return true;
}

static int show(const sotto_budget_command *c, const sotto_curve_plot *plot)
{
    sotto_view view = sotto_show_view(SOTTO_VIEW_TEXT);
    bool saved = true;

    if (c->csv != NULL)
        saved = save(c->csv, plot, SOTTO_VIEW_CSV, c->verb);
    if (c->svg != NULL)
        saved = save(c->svg, plot, SOTTO_VIEW_SVG, c->verb) && saved;
    if (!c->json && sotto_view_curve(&view, plot, NULL) != SOTTO_OK)
        saved = false;
    return saved ? EXIT_DONE : EXIT_FAILED;
}

static void print_point(const sweep *s, const sotto_curve_point *p)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    if (sotto_form_is_whole(s->option))
        sotto_json_uint(&j, sotto_form_name(s->option), (uint64_t)p->x);
    else
        sotto_json_real(&j, sotto_form_name(s->option), p->x);
    sotto_json_real(&j, "low", p->low);
    sotto_json_real(&j, "high", p->high);
    (void)sotto_show_end(&j);
}

/* The first refusal is kept, in case there is nothing else to tell. */
static size_t ask_all(sotto_curve_point *points, const sweep *s, sotto_budget_command *c,
                      sotto_budget_result *first_refusal)
{
    size_t answered = 0;

    for (size_t i = 0; i < s->points; i++) {
        sotto_question q;
        sotto_budget_result r;

        sotto_form_put(&c->form, s->option, point_at(s, i));
        sotto_form_question(&c->form, &q, OPTIONS, c->epsilon > 0);
        sotto_budget_ask(&r, &q, c, NULL);
        points[i] =
            (sotto_curve_point){point_at(s, i), r.answer.low, r.answer.high, r.status == SOTTO_OK};
        answered += points[i].answered;
        if (!points[i].answered && first_refusal->status == SOTTO_OK)
            *first_refusal = r;
        if (c->json && points[i].answered)
            print_point(s, &points[i]);
    }
    return answered;
}

/* What does not move along the curve: without it a saved picture says nothing. */
static void describe_others(char *out, size_t size, const sweep *s, const sotto_budget_command *c)
{
    static const char *const variants[] = {"", "fixed", "averaged", "sliding"};
    size_t len = 0;

    out[0] = 0;
    for (int i = OPTION_DISHONEST; i < OPTIONS && len < size; i++) {
        const char *name = sotto_form_name((sotto_option)i), *comma = len > 0 ? ", " : "";

        if (!c->form.given[i] || (sotto_option)i == s->option)
            continue;
        if (sotto_form_is_number((sotto_option)i))
            len += (size_t)snprintf(out + len, size - len, "%s%s %.9g", comma, name,
                                    c->form.number[i]);
        else if (sotto_form_is_flag((sotto_option)i))
            len += (size_t)snprintf(out + len, size - len, "%s%s", comma, name);
        else if (i == OPTION_VARIANT)
            len += (size_t)snprintf(out + len, size - len, "%s%s", comma,
                                    variants[(int)c->form.number[i]]);
        else if (i == OPTION_DISHONEST)
            len += (size_t)snprintf(out + len, size - len, "%s%s %.9g", comma, name,
                                    (double)c->form.dishonest.parts / (double)c->form.dishonest.of);
    }
    if (c->epsilon > 0 && len < size)
        (void)snprintf(out + len, size - len, "%sepsilon %.9g", len > 0 ? ", " : "", c->epsilon);
}

int sotto_budget_curve(sotto_budget_command *c)
{
    static sotto_curve_point points[CURVE_POINTS];
    sweep s = {0};
    sotto_question q;
    sotto_budget_result refusal = {0};
    char title[160], others[CURVE_CAPTION];

    parse_sweep(&s, c);
    sotto_form_question(&c->form, &q, s.option, c->epsilon > 0);
    if (c->form.mistake_count > 0) {
        sotto_budget_print_mistakes(c->verb, &c->form, c->json, "line", 0);
        return EXIT_USAGE;
    }
    if (ask_all(points, &s, c, &refusal) == 0) {
        sotto_budget_print_refusal(c->verb, &q, &refusal);
        return sotto_budget_exit(refusal.status);
    }
    (void)snprintf(title, sizeof title, "%s, %s, %s, %s", sotto_mechanism_name(q.mechanism),
                   sotto_adjacency_name(q.adjacency), sotto_trust_name(q.trust),
                   c->epsilon > 0 ? "delta at a fixed epsilon" : "certified epsilon");
    describe_others(others, sizeof others, &s, c);
    sotto_curve_plot plot = {.x_name = sotto_form_name(s.option),
                             .y_name = c->epsilon > 0 ? "delta" : "epsilon",
                             .title = title,
                             .others = others,
                             .log_x = s.logarithmic,
                             .points = points,
                             .count = s.points};
    return show(c, &plot);
}
