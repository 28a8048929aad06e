#include "analysis.h"

#include "support/arguments.h"

#include <string.h>

/* Verbs that have an option. */
enum {
    START = 1,
    WATCH = 2,
    RESULT = 4,
    DRILL = 8,
    DISCOVER = 16,
    EXPORT = 32,
    STOP = 64,
    ALL = 127,
    BEGIN = START | DISCOVER,
    ASK = RESULT | DISCOVER
};

typedef struct option {
    const char *name;
    unsigned verbs;
    const char **text;
    bool *flag;
} option;

static unsigned number_of(const char *verb)
{
    static const struct {
        const char *name;
        unsigned number;
    } verbs[] = {{"start", START},       {"watch", WATCH},   {"result", RESULT}, {"drill", DRILL},
                 {"discover", DISCOVER}, {"export", EXPORT}, {"stop", STOP}};

    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verbs[i].name, verb) == 0)
            return verbs[i].number;
    return 0;
}

enum { NAME = 32, ROWS = 64 };

static const char *name_of(char out[NAME], const analysis_options *o)
{
    (void)snprintf(out, NAME, "analysis %s", o->verb);
    return out;
}

int analysis_misused(const analysis_options *o, const char *option_name, const char *what)
{
    char verb[NAME];

    return sotto_arguments_misused(name_of(verb, o), option_name, what);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the row writes through `out` */
bool analysis_number(const analysis_options *o, uint64_t *out, const char *name, const char *text,
                     uint64_t least, uint64_t most)
{
    char verb[NAME];
    const sotto_argument number = {
        .name = name, .whole = out, .least = (double)least, .most = (double)most};

    return sotto_arguments_number(name_of(verb, o), &number, text) == EXIT_DONE;
}

/* The rows that this verb has. */
static int read_rows(analysis_options *o, const option *options, int argc, char **argv)
{
    const unsigned verb = number_of(o->verb);
    sotto_argument rows[ROWS] = {{.name = "FOLDER", .text = &o->folder, .needed = true}};
    size_t count = 1;
    char name[NAME];

    for (const option *p = options; p->name; p++)
        if ((p->verbs & verb) && count < ROWS)
            rows[count++] = (sotto_argument){.name = p->name, .text = p->text, .flag = p->flag};
    return sotto_arguments_read(name_of(name, o), rows, count, argc, argv);
}

int analysis_options_read(analysis_options *o, int argc, char **argv)
{
    const option options[] = {{"--recipe", BEGIN | DRILL, &o->recipe, NULL},
                              {"--policy", BEGIN, &o->policy, NULL},
                              {"--streams", BEGIN, &o->streams, NULL},
                              {"--simulate", BEGIN, &o->simulate, NULL},
                              {"--device-column", BEGIN, &o->device_column, NULL},
                              {"--devices", BEGIN, &o->devices, NULL},
                              {"--seed", BEGIN, &o->seed, NULL},
                              {"--parties", BEGIN, &o->parties, NULL},
                              {"--pairing", BEGIN, &o->pairing, NULL},
                              {"--key", BEGIN, &o->key, NULL},
                              {"--ca", BEGIN, &o->ca, NULL},
                              {"--wait", ASK, &o->wait, NULL},
                              {"--from", BEGIN, &o->from, NULL},
                              {"--log", BEGIN, &o->log, NULL},
                              {"--token", BEGIN, &o->token, NULL},
                              {"--witness", BEGIN, &o->witness, NULL},
                              {"--step", RESULT | EXPORT, &o->step, NULL},
                              {"--csv", EXPORT, &o->csv, NULL},
                              {"--html", EXPORT, &o->html, NULL},
                              {"--out", EXPORT, &o->out, NULL},
                              {"--bin", DRILL, &o->bin, NULL},
                              {"--quantile", DRILL, &o->quantile, NULL},
                              {"--parts", DRILL, &o->parts, NULL},
                              {"--by", DRILL, &o->by, NULL},
                              {"--values", DRILL, &o->values, NULL},
                              {"--alphabet", DISCOVER, &o->alphabet, NULL},
                              {"--longest", DISCOVER, &o->longest, NULL},
                              {"--cells", DISCOVER, &o->cells, NULL},
                              {"--rounds", DISCOVER, &o->rounds, NULL},
                              {"--epsilon", DISCOVER, &o->epsilon, NULL},
                              {"--delta", DISCOVER, &o->delta, NULL},
                              {"--deny", DISCOVER, &o->deny, NULL},
                              {"--box", DISCOVER, &o->box, NULL},
                              {"--levels", DISCOVER, &o->levels, NULL},
                              {"--per-round", DISCOVER, &o->per, NULL},
                              {"--phrases", DISCOVER, &o->phrases, NULL},
                              {"--words", DISCOVER, NULL, &o->words},
                              {"--places", DISCOVER, NULL, &o->places},
                              {"--fast", BEGIN, NULL, &o->fast},
                              {"--skip-bad-rows", BEGIN | RESULT, NULL, &o->skip_bad},
                              {"--close-early", ASK, NULL, &o->close_early},
                              {"--plain-http", BEGIN, NULL, &o->plain},
                              {"--json", ALL, NULL, &o->json},
                              {"--quiet", ASK, NULL, &o->quiet},
                              {NULL, 0, NULL, NULL}};
    uint64_t wait;

    *o = (analysis_options){.verb = argv[0]};
    const int code = read_rows(o, options, argc, argv);
    if (code == EXIT_DONE && o->wait && !analysis_number(o, &wait, "--wait", o->wait, 0, 1000000))
        return EXIT_USAGE;
    return code;
}
