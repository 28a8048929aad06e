#include "sim.h"

#include "support/arguments.h"

#include <string.h>
#include <unistd.h>

static bool complain(const sim_options *o, const char *name, const char *what)
{
    char verb[32];

    (void)snprintf(verb, sizeof verb, "sim %s", o->verb);
    (void)sotto_arguments_misused(verb, name, what);
    return false;
}

/* PATH=VALUE,VALUE,... */
static bool read_varied(sim_options *o, const char *text)
{
    sim_varied *v = &o->varied[o->varied_count];
    const char *at = strchr(text, '=');

    if (!at || at == text || (size_t)(at - text) >= sizeof v->path)
        return complain(o, "--vary", "it takes KEY=VALUE,VALUE,...");
    memcpy(v->path, text, (size_t)(at - text));
    do {
        const size_t len = strcspn(++at, ",");

        if (len == 0 || len >= sizeof v->values[0] || v->count == SIM_VALUES)
            return complain(o, "--vary", "up to 32 values with commas between them, none empty");
        memcpy(v->values[v->count++], at, len);
        at += len;
    } while (*at);
    o->varied_count++;
    return true;
}

static bool is(const sim_options *o, const char *verb)
{
    return strcmp(o->verb, verb) == 0;
}

/* Whether the verb has this option; most are of all three. */
static bool has(const sim_options *o, const char *name)
{
    static const char *const of_run[] = {"--answer", "--table", "--html"};

    for (size_t i = 0; i < sizeof of_run / sizeof of_run[0]; i++)
        if (strcmp(of_run[i], name) == 0)
            return is(o, "run");
    return strcmp(name, "--vary") == 0  ? is(o, "sweep")
           : strcmp(name, "--svg") == 0 ? !is(o, "compare")
                                        : true;
}

static bool check(const sim_options *o)
{
    if (is(o, "compare") && o->recipe_count < 2)
        return complain(o, "--recipe", "two or more, to compare");
    if (!is(o, "compare") && o->recipe_count > 1)
        return complain(o, "--recipe", "one; `sotto sim compare` takes several");
    if (is(o, "sweep") && o->varied_count == 0)
        return complain(o, "--vary", "it is needed");
    if (!(o->confidence > 0 && o->confidence < 1))
        return complain(o, "--confidence", "not a number between 0 and 1");
    if ((o->files.json || o->files.csv || o->files.html) && o->repeat > 1)
        return complain(o,
                        o->files.json  ? "--answer"
                        : o->files.csv ? "--table"
                                       : "--html",
                        "it is for one run");
    if (o->files.svg && o->varied_count > 1)
        return complain(o, "--svg", "a curve has one --vary; leave the others out");
    return true;
}

int sim_options_read(sim_options *o, int argc, char **argv)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const char *varied[SIM_VARIED] = {NULL};
    size_t varied_count = 0, rows = 0;
    char verb[32];
    const sotto_argument words[] = {
        {.name = "--vary", .text = varied, .count = &varied_count, .most = SIM_VARIED},
        {.name = "--answer", .text = &o->files.json},
        {.name = "--table", .text = &o->files.csv},
        {.name = "--html", .text = &o->files.html},
        {.name = "--svg", .text = &o->files.svg},
        {.name = "--recipe",
         .text = o->recipes,
         .count = &o->recipe_count,
         .most = SIM_RECIPES,
         .needed = true},
        {.name = "--policy", .text = &o->policy, .needed = true},
        {.name = "--csv", .text = &o->csv, .needed = true},
        {.name = "--streams", .text = &o->streams},
        {.name = "--device-column", .text = &o->device_column},
        {.name = "--out", .text = &o->out},
        {.name = "--devices", .whole = &o->devices, .least = 1, .most = 1000000000},
        {.name = "--seed", .whole = &o->seed, .most = 0x1p64},
        {.name = "--repeat", .whole = &o->repeat, .least = 1, .most = 1000000},
        {.name = "--threads", .whole = &o->threads, .least = 1, .most = SIM_THREADS},
        {.name = "--confidence", .real = &o->confidence, .most = 1},
        {.name = "--fast", .flag = &o->fast},
        {.name = "--json", .flag = &o->json},
        {.name = "--skip-bad-rows", .flag = &o->skip_bad},
        {.name = "--quiet", .flag = &o->quiet}};
    sotto_argument own[sizeof words / sizeof words[0]];

    *o = (sim_options){.verb = argv[0], .seed = 1, .repeat = 1, .confidence = 0.95};
    o->threads = cores < 1 ? 1 : cores > 16 ? 16 : (uint64_t)cores;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (has(o, words[i].name))
            own[rows++] = words[i];
    (void)snprintf(verb, sizeof verb, "sim %s", o->verb);
    if (sotto_arguments_read(verb, own, rows, argc, argv) != EXIT_DONE)
        return EXIT_USAGE;
    for (size_t i = 0; i < varied_count; i++)
        if (!read_varied(o, varied[i]))
            return EXIT_USAGE;
    return check(o) ? EXIT_DONE : EXIT_USAGE;
}
