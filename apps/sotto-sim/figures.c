/* sotto sim figures - the papers' figures again: curves by closed forms, and simulated points beside them. */
#define _POSIX_C_SOURCE 200809L
#include "figures.h"
#include "support/arguments.h"

#include "show.h"
#include "verbs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the list --------------------------------------------------------------------------------------- */

/* One panel of a figure. */
typedef struct planned {
    figure_task
        task; /* K 0: amplification, at local epsilon T; or over local epsilons where that is 0, too */
} planned;

typedef struct figure {
    const char *name; /* of the files, and of --only */
    const char *title;
    size_t columns, count;
    planned panels[FIGURE_PANELS];
} figure;

#define ROW(K, gamma)                                                                              \
    {{K, 1, gamma}}, {{K, 10, gamma}}, {{K, 100, gamma}},                                          \
    {                                                                                              \
        {                                                                                          \
            K, 1000, gamma                                                                         \
        }                                                                                          \
    }
#define ACROSS(T, gamma)                                                                           \
    {{1e3, T, gamma}}, {{1e4, T, gamma}},                                                          \
    {                                                                                              \
        {                                                                                          \
            1e5, T, gamma                                                                          \
        }                                                                                          \
    }
#define ALL(gamma)                                                                                 \
    {                                                                                              \
        ACROSS(1, gamma), ACROSS(10, gamma), ACROSS(100, gamma), ACROSS(1000, gamma)               \
    }

static const figure figures[] = {
    {"talwar-1",
     "Talwar et al. 2024, Figure 1: error of a histogram over the devices that answer",
     3,
     3,
     {{{1e4, 10, 1}}, {{1e4, 10, 0.1}}, {{1e4, 10, 0.01}}}},
    {"talwar-2",
     "Talwar et al. 2024, Figure 2: error of a histogram for T tasks",
     2,
     4,
     {ROW(1e4, 1)}},
    {"talwar-3",
     "Talwar et al. 2024, Figure 3: error of rare values for T tasks",
     2,
     4,
     {ROW(1e4, 0.01)}},
    {"talwar-5", "Talwar et al. 2024, Figure 5: error of a histogram of K values for T tasks", 3,
     12, ALL(1)},
    {"talwar-6", "Talwar et al. 2024, Figure 6: error of rare values, gamma 0.1", 3, 12, ALL(0.1)},
    {"talwar-7", "Talwar et al. 2024, Figure 7: error of rare values, gamma 0.01", 3, 12,
     ALL(0.01)},
    {"talwar-8", "Talwar et al. 2024, Figure 8: error of rare values, gamma 0.001", 3, 12,
     ALL(0.001)},
    {"mcmillan-1",
     "McMillan et al. 2022, Figure 1: epsilon over the size of a cohort",
     2,
     2,
     {{{0, 3, 0}}, {{0, 6, 0}}}},
    {"balle-2", "Balle et al. 2020, Figure 2: epsilon over the local one", 1, 1, {{{0, 0, 0}}}},
};
enum { FIGURES = sizeof figures / sizeof figures[0] };

/* ---- one figure ------------------------------------------------------------------------------------- */

static sotto_status make_panel(figure_panel *out, const planned *p, const figures_options *o,
                               sotto_err *err)
{
    *out = (figure_panel){.count = 0};
    if (p->task.K > 0)
        return figure_errors(out, &p->task, o, err);
    return p->task.T > 0 ? figure_cohort(out, p->task.T, o, err) : figure_local(out, o, err);
}

static bool save(const char *path, const sotto_curve_page *page, sotto_view_format format)
{
    FILE *out = fopen(path, "w");
    sotto_view view = sotto_show_view(format);
    bool shown = false;

    view.context = out;
    if (out)
        shown = sotto_view_curves(&view, page, NULL) == SOTTO_OK;
    if (!out || fclose(out) != 0 || !shown) {
        (void)fprintf(stderr, "sotto sim figures: %s: %s\n", path, strerror(errno));
        return false;
    }
    return true;
}

static bool save_both(const figure *f, const figure_panel *panels, const figures_options *o)
{
    static sotto_curve_series series[FIGURE_PANELS][FIGURE_SERIES];
    static sotto_curve_plot plots[FIGURE_PANELS];
    const sotto_curve_page page = {f->title, plots, f->count, f->columns};
    char path[1024];

    for (size_t i = 0; i < f->count; i++) {
        const figure_panel *p = &panels[i];

        for (size_t j = 0; j < p->count; j++)
            series[i][j] = (sotto_curve_series){.name = p->series[j].name,
                                                .points = p->series[j].points,
                                                .count = p->series[j].count,
                                                .dots = p->series[j].dots,
                                                .dashed = p->series[j].dashed,
                                                .colour = p->series[j].colour};
        plots[i] = (sotto_curve_plot){.x_name = p->x_name,
                                      .y_name = p->y_name,
                                      .title = p->title,
                                      .others = p->others,
                                      .log_x = p->log_x,
                                      .series = series[i],
                                      .series_count = p->count};
    }
    (void)snprintf(path, sizeof path, "%s/%s.csv", o->out, f->name);
    if (!save(path, &page, SOTTO_VIEW_CSV))
        return false;
    (void)snprintf(path, sizeof path, "%s/%s.svg", o->out, f->name);
    return save(path, &page, SOTTO_VIEW_SVG);
}

static void print_panel(const figure *f, const figure_panel *p, const figures_options *o)
{
    if (o->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

        sotto_json_text(&j, "figure", f->name);
        sotto_json_text(&j, "panel", p->title);
        sotto_json_uint(&j, "simulated", p->simulated);
        sotto_json_real(&j, "apart", p->apart);
        if (p->simulated > 0)
            sotto_json_bool(&j, "agrees", figure_agrees(p));
        (void)sotto_show_end(&j);
        return;
    }
    printf("%-10s  %-28s", f->name, p->title);
    if (p->simulated > 0)
        printf("  %3zu points, within %.2f %%%s", p->simulated, ceil(1e4 * p->apart) / 100,
               figure_agrees(p)     ? ""
               : isfinite(p->apart) ? ": MORE THAN 5 %"
                                    : ": ONE IS NO NUMBER");
    printf("\n");
    (void)fflush(stdout);
}

/* An exit code. */
static int make_figure(const figure *f, const figures_options *o)
{
    static figure_panel panels[FIGURE_PANELS];
    bool agree = true;
    sotto_err err = {0};

    for (size_t i = 0; i < f->count; i++) {
        if (make_panel(&panels[i], &f->panels[i], o, &err) != SOTTO_OK) {
            (void)fprintf(stderr, "sotto sim figures: %s: %s\n", f->name, err.reason);
            return EXIT_FAILED;
        }
        agree = agree && figure_agrees(&panels[i]);
        print_panel(f, &panels[i], o);
    }
    return save_both(f, panels, o) && agree ? EXIT_DONE : EXIT_FAILED;
}

/* ---- the verb --------------------------------------------------------------------------------------- */

static int complain(const char *option, const char *what)
{
    return sotto_arguments_misused("sim figures", option, what);
}

static int read_options(figures_options *o, int argc, char **argv)
{
    const sotto_argument words[] = {
        {.name = "--out", .text = &o->out},
        {.name = "--only", .text = &o->only},
        {.name = "--points", .whole = &o->points, .most = FIGURE_POINTS},
        {.name = "--devices", .whole = &o->devices, .least = 1000, .most = 100000000},
        {.name = "--seed", .whole = &o->seed, .most = 0x1p63},
        {.name = "--json", .flag = &o->json}};

    *o = (figures_options){.out = ".", .devices = 1000000, .points = 5, .seed = 1};
    return sotto_arguments_read("sim figures", words, sizeof words / sizeof words[0], argc, argv);
}

/* Names with commas between; NULL: all. */
static bool is_wanted(const char *only, const char *name)
{
    const size_t len = strlen(name);

    for (const char *at = only; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, len) == 0 && (at[len] == 0 || at[len] == ','))
            return true;
    }
    return !only;
}

static size_t names_in(const char *only)
{
    size_t count = only != NULL;

    for (; only && *only; only++)
        count += *only == ',';
    return count;
}

int sim_verb_figures(int argc, char **argv)
{
    figures_options o;
    size_t wanted = 0;
    int code = read_options(&o, argc, argv);

    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < FIGURES; i++)
        wanted += is_wanted(o.only, figures[i].name);
    if (o.only && wanted != names_in(o.only))
        return complain("--only", "names of figures, with commas between");
    if (mkdir(o.out, 0777) != 0 && errno != EEXIST) {
        (void)fprintf(stderr, "sotto sim figures: %s: %s\n", o.out, strerror(errno));
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < FIGURES; i++) {
        if (!is_wanted(o.only, figures[i].name))
            continue;
        const int made = make_figure(&figures[i], &o);

        code = code == EXIT_DONE ? made : code;
    }
    return code;
}
