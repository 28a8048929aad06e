/* sotto budget committee - how many members a committee needs, and how likely it fails. */
#include "budget_ask.h"
#include "budget_neighbours.h"

#include "account/committee.h"
#include "account/numeric/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "show.h"
#include "support/number.h"
#include "verbs.h"

static const char usage[] =
    "sotto budget committee - how many members a committee needs, and how likely it fails\n"
    "\n"
    "usage: sotto budget committee --trust flamingo --corrupt F --dropout D [options]\n"
    "       sotto budget committee --trust aero --corrupt F [options]\n"
    "\n"
    "Protocols with one server rest on committees of devices that are drawn at random. This\n"
    "says how likely such a committee has too many corrupt members, by the exact binomial tail,\n"
    "over all committees that are ever drawn. Without --size it finds the smallest committee.\n"
    "A committee that does not fit the promise is refused (exit 4). With --clients it says the\n"
    "same of the graph by which clients mask for each other, and finds its smallest degree.\n"
    "\n"
    "  --trust T        flamingo: decryptors (Ma et al. 2023); aero: committees that make\n"
    "                   keys, add noise and decrypt (Liu and Gupta 2023)\n"
    "  --corrupt F      the share of devices that may be corrupt, 0 to 0.5\n"
    "  --size C         members of a committee\n"
    "  --tolerates A    aero: corrupt members that a committee withstands; two fifths of C\n"
    "                   unless given\n"
    "  --dropout D      flamingo: the share of decryptors that may be offline\n"
    "  --offline G      aero: the share of devices that are offline; 0 unless given\n"
    "  --committees N   committees in an epoch; 1 unless given\n"
    "  --epochs E       epochs of the whole session; 1 unless given\n"
    "  --kappa K        the promise: it fails with probability 2^-K or less; 40 unless given\n"
    "  --devices W      aero: all devices; with --rate, how many take part at once\n"
    "  --rate Q         aero: the chance of a device to take part in a round\n"
    "  --headroom M     aero: a round takes at most M times the devices that are expected;\n"
    "                   1.1 unless given\n"
    "  --fewest L       aero: also say how likely fewer than L times the devices that are\n"
    "                   expected take part, 0 to 1\n"
    "  --checks S       aero: how many devices are expected to check a contribution; 40\n"
    "                   unless given\n"
    "  --clients N      flamingo: clients drawn for a round\n"
    "  --least M        flamingo: the smallest sum that is opened; goes with --clients\n"
    "  --degree D       flamingo: neighbours that a client expects\n"
    "  --neighbours K   flamingo: neighbours that must stay; goes with --degree\n"
    "  --rounds R       flamingo: rounds, each with a graph of its own; 1 unless given\n"
    "  --json           one object\n";

typedef enum option {
    CORRUPT,
    SIZE,
    TOLERATES,
    DROPOUT,
    OFFLINE,
    COMMITTEES,
    EPOCHS,
    KAPPA,
    DEVICES,
    RATE,
    HEADROOM,
    FEWEST,
    CHECKS,
    CLIENTS,
    LEAST,
    DEGREE,
    NEIGHBOURS,
    ROUNDS,
    COUNT
} option;

/* Whom an option is for, and what it is where it is not given. */
static const struct {
    const char *name;
    bool flamingo, aero, whole;
    double preset, low, high;
} options[COUNT] = {
    [CORRUPT] = {"--corrupt", true, true, false, NAN, 0, 0.5},
    [SIZE] = {"--size", true, true, true, NAN, 1, SOTTO_COMMITTEE_MAX},
    [TOLERATES] = {"--tolerates", false, true, true, NAN, 0, SOTTO_COMMITTEE_MAX},
    [DROPOUT] = {"--dropout", true, false, false, NAN, 0, 0.166},
    [OFFLINE] = {"--offline", false, true, false, 0, 0, 0.9},
    [COMMITTEES] = {"--committees", true, true, true, 1, 1, 1000000},
    [EPOCHS] = {"--epochs", true, true, true, 1, 1, 1e9},
    [KAPPA] = {"--kappa", true, true, false, 40, 1, 200},
    [DEVICES] = {"--devices", false, true, true, NAN, 1, 1e12},
    [RATE] = {"--rate", false, true, false, NAN, 1e-12, 0.5},
    [HEADROOM] = {"--headroom", false, true, false, 1.1, 1, 100},
    [FEWEST] = {"--fewest", false, true, false, NAN, 0, 1},
    [CHECKS] = {"--checks", false, true, false, 40, 0, 1000},
    [CLIENTS] = {"--clients", true, false, true, NAN, 3, SOTTO_NEIGHBOURS_MAX},
    [LEAST] = {"--least", true, false, true, NAN, 2, SOTTO_NEIGHBOURS_MAX},
    [DEGREE] = {"--degree", true, false, true, NAN, 1, 1e6},
    [NEIGHBOURS] = {"--neighbours", true, false, true, NAN, 1, 1e6},
    [ROUNDS] = {"--rounds", true, false, true, 1, 1, 1e9},
};

typedef struct command {
    bool json, flamingo;
    double value[COUNT];
    unsigned mistakes;
} command;

typedef struct plan {
    sotto_committee committee;
    sotto_committee_odds odds;
    double stalls;                         /* aero                          */
    double overflows, overflow_chernoff;   /* aero, with devices and rate */
    double underflows, underflow_chernoff; /* ... and fewest              */
    double misses;                         /* aero                          */
    budget_neighbours graph;               /* flamingo, with clients        */
    bool fits;
} plan;

/* ---- what was asked -------------------------------------------------------------------------------- */

static void complain(command *c, const char *name, const char *what)
{
    fprintf(stderr, "sotto budget committee: %s: %s\n", name, what);
    c->mistakes++;
}

static void take_number(command *c, option o, const char *text)
{
    char range[96];
    sotto_err err = {0};
    double x;

    if (!text) {
        complain(c, options[o].name, "a number is missing");
        return;
    }
    if (sotto_number_read(&x, text, SOTTO_ROUND_NEAREST, options[o].name, &err) != SOTTO_OK) {
        complain(c, options[o].name, "not a number");
        return;
    }
    if (!(x >= options[o].low && x <= options[o].high) || (options[o].whole && x != floor(x))) {
        snprintf(range, sizeof range, "wanted %s from %.12g to %.12g",
                 options[o].whole ? "a whole number" : "a number", options[o].low, options[o].high);
        complain(c, options[o].name, range);
        return;
    }
    c->value[o] = x;
}

static option find(const char *name)
{
    for (int o = 0; o < COUNT; o++)
        if (strcmp(options[o].name, name) == 0)
            return (option)o;
    return COUNT;
}

static void take_trust(command *c, const char *text, bool *given)
{
    *given = text != NULL;
    if (text && strcmp(text, "flamingo") == 0)
        c->flamingo = true;
    else if (!text || strcmp(text, "aero") != 0)
        complain(c, "--trust", "wanted flamingo or aero");
}

static void check_together(command *c, bool trust, const bool *given)
{
    if (!trust)
        complain(c, "--trust", "is missing: flamingo or aero");
    if (isnan(c->value[CORRUPT]) && !given[CORRUPT])
        complain(c, "--corrupt", "is missing: the share of devices that may be corrupt");
    if (trust && c->flamingo && !given[DROPOUT])
        complain(c, "--dropout", "is missing: the share of decryptors that may be offline");
    for (int o = 0; o < COUNT; o++)
        if (trust && given[o] && !(c->flamingo ? options[o].flamingo : options[o].aero))
            complain(c, options[o].name,
                     c->flamingo ? "flamingo has no such parameter (--help)"
                                 : "aero has no such parameter (--help)");
    if (given[TOLERATES] && !given[SIZE])
        complain(c, "--tolerates", "goes with --size");
    static const option pairs[][2] = {{CLIENTS, LEAST}, {DEGREE, NEIGHBOURS}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (given[pairs[i][0]] != given[pairs[i][1]])
            complain(c, options[pairs[i][given[pairs[i][0]]]].name,
                     "is missing: --clients goes with --least, --degree with --neighbours");
    if (given[DEGREE] && !given[CLIENTS])
        complain(c, "--clients", "is missing: a degree is one of so many clients");
    if (given[FEWEST] && !given[DEVICES])
        complain(c, "--fewest", "goes with --devices and --rate");
    if (given[DEVICES] != given[RATE])
        complain(c, given[DEVICES] ? "--rate" : "--devices",
                 "is missing: --devices and --rate go together");
}

static bool read_command(command *c, int argc, char **argv)
{
    bool given[COUNT] = {false}, trust = false;

    *c = (command){0};
    for (int o = 0; o < COUNT; o++)
        c->value[o] = options[o].preset;
    for (int i = 1; i < argc; i++) {
        option o = find(argv[i]);

        if (strcmp(argv[i], "--json") == 0)
            c->json = true;
        else if (strcmp(argv[i], "--trust") == 0)
            take_trust(c, i + 1 < argc ? argv[++i] : NULL, &trust);
        else if (o == COUNT)
            complain(c, argv[i], "no such option");
        else {
            given[o] = true;
            take_number(c, o, i + 1 < argc ? argv[++i] : NULL);
        }
    }
    check_together(c, trust, given);
    return c->mistakes == 0;
}

/* ---- the answer ------------------------------------------------------------------------------------ */

static int64_t decryptors(const void *context, uint64_t size)
{
    const command *c = context;

    return sotto_committee_decryptors_tolerate(size, c->value[DROPOUT]);
}

static int64_t two_fifths(const void *context, uint64_t size)
{
    (void)context;
    return (int64_t)(2 * size / 5);
}

static sotto_status choose(plan *p, const command *c, sotto_err *err)
{
    double draws = c->value[COMMITTEES] * c->value[EPOCHS];
    sotto_committee_rule *rule = c->flamingo ? decryptors : two_fifths;

    if (isnan(c->value[SIZE])) {
        SOTTO_TRY(sotto_committee_smallest(&p->committee, c->value[CORRUPT], draws, c->value[KAPPA],
                                           rule, c, err));
        return p->committee.size ? SOTTO_OK
                                 : sotto_fail(err, SOTTO_DENIED, "no committee of up to %d fits",
                                              SOTTO_COMMITTEE_MAX);
    }
    p->committee = (sotto_committee){
        .size = (uint64_t)c->value[SIZE], .corrupt = c->value[CORRUPT], .draws = draws};
    int64_t tolerated =
        isnan(c->value[TOLERATES]) ? rule(c, p->committee.size) : (int64_t)c->value[TOLERATES];
    if (tolerated < 0)
        return sotto_fail(err, SOTTO_DENIED, "with so many offline not one may be corrupt");
    p->committee.tolerated = (uint64_t)tolerated;
    return SOTTO_OK;
}

static sotto_status answer(plan *p, const command *c, sotto_err *err)
{
    SOTTO_TRY(choose(p, c, err));
    SOTTO_TRY(sotto_committee_odds_of(&p->odds, &p->committee, err));
    p->fits = p->odds.bits >= c->value[KAPPA];
    if (c->flamingo && isnan(c->value[CLIENTS]))
        return SOTTO_OK;
    if (c->flamingo) {
        SOTTO_TRY(budget_neighbours_answer(
            &p->graph, c->value[CLIENTS], c->value[LEAST], c->value[CORRUPT], c->value[DEGREE],
            c->value[NEIGHBOURS], c->value[ROUNDS], c->value[KAPPA], err));
        p->fits = p->fits && p->graph.fits;
        return SOTTO_OK;
    }
    SOTTO_TRY(sotto_committee_stalls(&p->stalls, &p->committee, c->value[OFFLINE], err));
    p->misses = sotto_committee_misses(c->value[CHECKS], c->value[CORRUPT], c->value[OFFLINE],
                                       c->value[HEADROOM]);
    p->overflows = p->underflows = NAN;
    if (isnan(c->value[DEVICES]))
        return SOTTO_OK;
    SOTTO_TRY(sotto_committee_overflows(&p->overflows, &p->overflow_chernoff, c->value[DEVICES],
                                        c->value[RATE], c->value[HEADROOM], err));
    if (isnan(c->value[FEWEST]))
        return SOTTO_OK;
    return sotto_committee_underflows(&p->underflows, &p->underflow_chernoff, c->value[DEVICES],
                                      c->value[RATE], c->value[FEWEST], err);
}

static void print_chance(const char *what, double x)
{
    printf("  %-58s %.3g\n", what, sotto_bound_shown(x, 3));
}

static void print_text(const plan *p, const command *c)
{
    uint64_t size = p->committee.size;

    printf("a committee of %" PRIu64 " withstands %" PRIu64 " corrupt members%s\n", size,
           p->committee.tolerated, isnan(c->value[SIZE]) ? "; the smallest that fits" : "");
    if (c->flamingo)
        printf("  shares that open a secret: %" PRIu64 "; signatures that make a label: %" PRIu64
               "\n",
               size / 3 + 1, (2 * size + 2) / 3);
    print_chance("one committee has more corrupt members than that", p->odds.one);
    print_chance("  the same by Chernoff's bound", p->odds.chernoff);
    if (p->committee.draws > 1)
        printf("  %-58s %.3g\n", "committees that are drawn in all", p->committee.draws);
    print_chance("any committee of all that are drawn fails", p->odds.any);
    printf("  %-58s 2^-%.1f, promised 2^-%g\n", "in bits", floor(p->odds.bits * 10) / 10,
           c->value[KAPPA]);
    if (!c->flamingo) {
        print_chance("too few honest members are online: nothing is released", p->stalls);
        print_chance("nobody looks at a wrong contribution", p->misses);
    }
    if (!c->flamingo && !isnan(p->overflows)) {
        print_chance("a round has more contributions than it takes", p->overflows);
        print_chance("  the same by Chernoff's bound", p->overflow_chernoff);
    }
    if (p->graph.graph.clients > 0)
        budget_neighbours_print(&p->graph, c->value[KAPPA]);
    if (!c->flamingo && !isnan(p->underflows)) {
        print_chance("a round has fewer contributions than --fewest says", p->underflows);
        print_chance("  the same by Chernoff's bound", p->underflow_chernoff);
    }
    if (p->fits)
        puts("it fits the promise, if members are drawn at random after the devices are known");
    else
        puts("refused: it does not fit the promise; without --size and --degree, this verb finds "
             "one that does");
}

static bool print_json(const plan *p, const command *c)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

    sotto_json_text(&j, "trust", c->flamingo ? "flamingo" : "aero");
    sotto_json_uint(&j, "size", p->committee.size);
    sotto_json_uint(&j, "tolerates", p->committee.tolerated);
    sotto_json_real(&j, "corrupt", p->committee.corrupt);
    sotto_json_real(&j, "draws", p->committee.draws);
    sotto_json_real(&j, "one_fails", p->odds.one);
    sotto_json_real(&j, "one_fails_chernoff", p->odds.chernoff);
    sotto_json_real(&j, "any_fails", p->odds.any);
    if (isfinite(p->odds.bits))
        sotto_json_real(&j, "bits", p->odds.bits);
    sotto_json_real(&j, "kappa", c->value[KAPPA]);
    if (!c->flamingo) {
        sotto_json_real(&j, "stalls", p->stalls);
        sotto_json_real(&j, "misses", p->misses);
    }
    if (!c->flamingo && !isnan(p->overflows))
        sotto_json_real(&j, "overflows", p->overflows);
    if (p->graph.graph.clients > 0)
        budget_neighbours_members(&j, &p->graph);
    if (!c->flamingo && !isnan(p->underflows))
        sotto_json_real(&j, "underflows", p->underflows);
    sotto_json_bool(&j, "fits", p->fits);
    return sotto_show_end(&j);
}

static int run(int argc, char **argv)
{
    command c;
    plan p = {0};
    sotto_err err = {0};

    if (!read_command(&c, argc, argv))
        return EXIT_USAGE;
    sotto_status status = answer(&p, &c, &err);
    if (status != SOTTO_OK) {
        fprintf(stderr, "%s%s\n",
                status == SOTTO_DENIED ? "refused: " : "sotto budget committee: ", err.reason);
        return sotto_exit_code(status, SOTTO_AT_WORDS);
    }
    if (!c.json)
        print_text(&p, &c);
    else if (!print_json(&p, &c))
        return EXIT_FAILED;
    return p.fits ? EXIT_DONE : EXIT_REFUSED;
}

const sotto_verb sotto_verb_budget_committee = {
    .name = "committee",
    .summary = "how many members a committee of devices needs, and how likely it fails",
    .usage = usage,
    .run = run,
};
