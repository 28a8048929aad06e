#include "analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct option {
    const char *name;
    const char **text;
    bool *flag;
} option;

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
    if (p->name && p->flag) {
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
    const option options[] = {{"--recipe", &o->recipe, NULL},
                              {"--policy", &o->policy, NULL},
                              {"--simulate", &o->simulate, NULL},
                              {"--device-column", &o->device_column, NULL},
                              {"--devices", &o->devices, NULL},
                              {"--seed", &o->seed, NULL},
                              {"--parties", &o->parties, NULL},
                              {"--pairing", &o->pairing, NULL},
                              {"--key", &o->key, NULL},
                              {"--ca", &o->ca, NULL},
                              {"--wait", &o->wait, NULL},
                              {"--from", &o->from, NULL},
                              {"--log", &o->log, NULL},
                              {"--token", &o->token, NULL},
                              {"--witness", &o->witness, NULL},
                              {"--step", &o->step, NULL},
                              {"--csv", &o->csv, NULL},
                              {"--html", &o->html, NULL},
                              {"--out", &o->out, NULL},
                              {"--bin", &o->bin, NULL},
                              {"--quantile", &o->quantile, NULL},
                              {"--parts", &o->parts, NULL},
                              {"--alphabet", &o->alphabet, NULL},
                              {"--longest", &o->longest, NULL},
                              {"--cells", &o->cells, NULL},
                              {"--rounds", &o->rounds, NULL},
                              {"--epsilon", &o->epsilon, NULL},
                              {"--delta", &o->delta, NULL},
                              {"--deny", &o->deny, NULL},
                              {"--box", &o->box, NULL},
                              {"--levels", &o->levels, NULL},
                              {"--per-round", &o->per, NULL},
                              {"--words", NULL, &o->words},
                              {"--places", NULL, &o->places},
                              {"--fast", NULL, &o->fast},
                              {"--skip-bad-rows", NULL, &o->skip_bad},
                              {"--close-early", NULL, &o->close_early},
                              {"--plain-http", NULL, &o->plain},
                              {"--json", NULL, &o->json},
                              {"--quiet", NULL, &o->quiet},
                              {NULL, NULL, NULL}};
    int code = EXIT_DONE;

    *o = (analysis_options){.verb = argv[0]};
    for (int i = 1; i < argc && code == EXIT_DONE; i++)
        code = take(o, options, argc, argv, &i);
    if (code == EXIT_DONE && !o->folder)
        code = analysis_misused(o, "FOLDER", "it is needed: where the analysis is kept");
    return code;
}
