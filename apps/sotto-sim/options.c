#include "sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct option {
    const char *name;
    const char **text;
    uint64_t *number;
    uint64_t least, most;
    bool *flag;
} option;

static bool complain(const sim_options *o, const char *name, const char *what)
{
    (void)fprintf(stderr, "sotto sim %s: %s: %s; see `sotto sim %s --help`\n", o->verb, name, what,
                  o->verb);
    return false;
}

static bool read_number(const sim_options *o, const option *of, const char *text)
{
    char *end = NULL, what[96];

    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno == 0 && *end == 0 && end != text && text[0] != '-' && value >= of->least &&
        value <= of->most) {
        *of->number = value;
        return true;
    }
    (void)snprintf(what, sizeof what, "not a number from %llu to %llu",
                   (unsigned long long)of->least, (unsigned long long)of->most);
    return complain(o, of->name, what);
}

/* PATH=VALUE,VALUE,... */
static bool read_varied(sim_options *o, const char *text)
{
    sim_varied *v = &o->varied[o->varied_count];
    const char *at = strchr(text, '=');

    if (o->varied_count == SIM_VARIED)
        return complain(o, "--vary", "at most three times");
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

static bool read_confidence(sim_options *o, const char *text)
{
    char *end = NULL;

    o->confidence = strtod(text, &end);
    if (*end == 0 && end != text && o->confidence > 0 && o->confidence < 1)
        return true;
    return complain(o, "--confidence", "not a number between 0 and 1");
}

static bool take_value(sim_options *o, const char *name, const char *value, const option *options)
{
    for (const option *p = options; p->name; p++) {
        if (strcmp(p->name, name) != 0)
            continue;
        if (p->number)
            return read_number(o, p, value);
        *p->text = value;
        return true;
    }
    if (strcmp(name, "--vary") == 0)
        return read_varied(o, value);
    if (strcmp(name, "--confidence") == 0)
        return read_confidence(o, value);
    if (o->recipe_count == SIM_RECIPES)
        return complain(o, name, "at most eight recipes");
    o->recipes[o->recipe_count++] = value;
    return true;
}

static bool read_all(sim_options *o, int argc, char **argv, const option *options)
{
    static const char *const others[] = {"--vary", "--confidence", "--recipe"};

    for (int i = 1; i < argc; i++) {
        const option *found = options;
        bool takes = false;

        while (found->name && strcmp(found->name, argv[i]) != 0)
            found++;
        for (size_t j = 0; j < sizeof others / sizeof others[0]; j++)
            takes = takes || strcmp(others[j], argv[i]) == 0;
        if (found->name && found->flag) {
            *found->flag = true;
        } else if (!found->name && !takes) {
            return complain(o, argv[i], "no such option");
        } else if (i + 1 == argc) {
            return complain(o, argv[i], "it lacks its value");
        } else if (!take_value(o, argv[i], argv[i + 1], options)) {
            return false;
        } else {
            i++;
        }
    }
    return true;
}

static bool check(const sim_options *o)
{
    if (o->recipe_count == 0 || !o->policy || !o->csv)
        return complain(o,
                        o->recipe_count == 0 ? "--recipe"
                        : o->policy          ? "--csv"
                                             : "--policy",
                        "it is needed");
    if (strcmp(o->verb, "compare") == 0 && o->recipe_count < 2)
        return complain(o, "--recipe", "two or more, to compare");
    if (strcmp(o->verb, "compare") != 0 && o->recipe_count > 1)
        return complain(o, "--recipe", "one; `sotto sim compare` takes several");
    if (strcmp(o->verb, "sweep") == 0 && o->varied_count == 0)
        return complain(o, "--vary", "it is needed");
    if (strcmp(o->verb, "sweep") != 0 && o->varied_count > 0)
        return complain(o, "--vary", "it is for `sotto sim sweep`");
    if ((o->answer || o->table || o->html) && (strcmp(o->verb, "run") != 0 || o->repeat > 1))
        return complain(o,
                        o->answer  ? "--answer"
                        : o->table ? "--table"
                                   : "--html",
                        "it is for one run");
    if (o->svg && o->varied_count > 1)
        return complain(o, "--svg", "a curve has one --vary; leave the others out");
    return true;
}

int sim_options_read(sim_options *o, int argc, char **argv)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const option options[] = {
        {.name = "--policy", .text = &o->policy},
        {.name = "--csv", .text = &o->csv},
        {.name = "--streams", .text = &o->streams},
        {.name = "--device-column", .text = &o->device_column},
        {.name = "--out", .text = &o->out},
        {.name = "--svg", .text = &o->svg},
        {.name = "--answer", .text = &o->answer},
        {.name = "--table", .text = &o->table},
        {.name = "--html", .text = &o->html},
        {.name = "--devices", .number = &o->devices, .least = 1, .most = 1000000000},
        {.name = "--seed", .number = &o->seed, .least = 0, .most = UINT64_MAX},
        {.name = "--repeat", .number = &o->repeat, .least = 1, .most = 1000000},
        {.name = "--threads", .number = &o->threads, .least = 1, .most = SIM_THREADS},
        {.name = "--fast", .flag = &o->fast},
        {.name = "--json", .flag = &o->json},
        {.name = "--skip-bad-rows", .flag = &o->skip_bad},
        {.name = "--quiet", .flag = &o->quiet},
        {.name = NULL}};

    *o = (sim_options){.verb = argv[0], .seed = 1, .repeat = 1, .confidence = 0.95};
    o->threads = cores < 1 ? 1 : cores > 16 ? 16 : (uint64_t)cores;
    return read_all(o, argc, argv, options) && check(o) ? EXIT_DONE : EXIT_USAGE;
}
