#include "analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Verbs that have an option. */
enum {
    START = 1,
    WATCH = 2,
    RESULT = 4,
    DRILL = 8,
    DISCOVER = 16,
    EXPORT = 32,
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
    } verbs[] = {{"start", START}, {"watch", WATCH},       {"result", RESULT},
                 {"drill", DRILL}, {"discover", DISCOVER}, {"export", EXPORT}};

    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verbs[i].name, verb) == 0)
            return verbs[i].number;
    return 0;
}

int analysis_misused(const analysis_options *o, const char *option_name, const char *what)
{
    (void)fprintf(stderr, "sotto analysis %s: %s%s%s; see `sotto analysis %s --help`\n", o->verb,
                  option_name, option_name[0] ? ": " : "", what, o->verb);
    return EXIT_USAGE;
}

bool analysis_number(const analysis_options *o, uint64_t *out, const char *name, const char *text,
                     uint64_t least, uint64_t most)
{
    char *end = NULL, what[96];

    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (errno == 0 && *end == 0 && end != text && text[0] >= '0' && text[0] <= '9' &&
        value >= least && value <= most) {
        *out = value;
        return true;
    }
    (void)snprintf(what, sizeof what, "not a whole number from %llu to %llu",
                   (unsigned long long)least, (unsigned long long)most);
    (void)analysis_misused(o, name, what);
    return false;
}

static int take(analysis_options *o, const option *options, int argc, char **argv, int *i)
{
    const option *p = options;

    while (p->name && strcmp(p->name, argv[*i]) != 0)
        p++;
    if (p->name && !(p->verbs & number_of(o->verb))) {
        return analysis_misused(o, p->name, "it is no option of this verb");
    } else if (p->name && p->flag) {
        *p->flag = true;
    } else if (p->name && *i + 1 < argc) {
        *p->text = argv[++*i];
    } else if (p->name) {
        return analysis_misused(o, p->name, "it lacks its value");
    } else if (argv[*i][0] == '-' || o->folder) {
        return analysis_misused(o, argv[*i], "no such option");
    } else {
        o->folder = argv[*i];
    }
    return EXIT_DONE;
}

int analysis_options_read(analysis_options *o, int argc, char **argv)
{
    const option options[] = {{"--recipe", BEGIN | DRILL, &o->recipe, NULL},
                              {"--policy", BEGIN, &o->policy, NULL},
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
                              {"--json", WATCH | ASK, NULL, &o->json},
                              {"--quiet", ASK, NULL, &o->quiet},
                              {NULL, 0, NULL, NULL}};
    uint64_t wait;
    int code = EXIT_DONE;

    *o = (analysis_options){.verb = argv[0]};
    for (int i = 1; i < argc && code == EXIT_DONE; i++)
        code = take(o, options, argc, argv, &i);
    if (code == EXIT_DONE && o->wait && !analysis_number(o, &wait, "--wait", o->wait, 0, 1000000))
        code = EXIT_USAGE;
    if (code == EXIT_DONE && !o->folder)
        code = analysis_misused(o, "FOLDER", "it is needed: where the analysis is kept");
    return code;
}
