/* sotto analysis - ask, look, and ask a finer question: a folder holds the recipes, the answers and what they cost. */
#include "analysis.h"

#define WHO                                                                                        \
    "Who answers: simulated devices, or real ones through servers.\n\n"                            \
    "  --streams FILE       tables of the devices, and types of their columns (docs/recipe.md)\n"  \
    "  --simulate CSV       simulated devices, one a row (docs/simulating.md); nothing is sent\n"  \
    "  --device-column C    rows with the same C are one device\n"                                 \
    "  --devices N          each device of the file stands for as many as make N\n"                \
    "  --seed S             for all randomness; 1 unless stated\n"                                 \
    "  --fast               no store, ledger or cryptography for each device\n"                    \
    "  --skip-bad-rows      leaves out rows that can't be read, and counts them\n"                 \
    "  --parties FILE       where the servers are, and their keys and yours\n"                     \
    "  --pairing FILE       tokens, as `sotto collect` has them\n"                                 \
    "  --key FILE           your key\n"                                                            \
    "  --ca FILE            certificates to trust instead of the system's\n"                       \
    "  --plain-http         allow http:// to servers that are not on this machine\n"               \
    "  --from URL           a public log that every recipe goes into (`sotto recipe publish`)\n"   \
    "  --log KEY            its public key\n"                                                      \
    "  --token FILE         by which it knows you\n"                                               \
    "  --witness KEY        of a witness that must have cosigned\n"

#define CODES                                                                                      \
    "Exits with 0 done, 1 failed, 2 usage, 3 mistakes in recipe or policy, 4 refused by a "        \
    "budget.\n"                                                                                    \
    "Also with 5 no answer yet, 6 the shares do not hold together, 7 a server is down,\n"          \
    "130 ended by Ctrl-C.\n"                                                                       \
    "Nothing is spent twice by typing a command again.\n"

static const sotto_verb verb_start = {
    .name = "start",
    .summary = "ask a first question, and keep it in a folder",
    .usage = "usage: sotto analysis start FOLDER --recipe FILE --policy FILE --simulate CSV "
             "[options]\n"
             "       sotto analysis start FOLDER --recipe FILE --policy FILE --parties FILE\n"
             "           --pairing FILE --key FILE [options]\n\n"
             "Makes FOLDER, and writes the recipe into it as step 1, if lint and the policy allow "
             "it.\n"
             "`sotto analysis result FOLDER` then gets the answer.\n\n" WHO
             "  --json               step, recipe and its file, for programs\n\n" CODES,
    .run = analysis_start,
};

static const sotto_verb verb_watch = {
    .name = "watch",
    .summary = "say how far it is, and what it cost so far",
    .usage = "usage: sotto analysis watch FOLDER [--json]\n\n"
             "Lists the steps, their state and their epsilons. Of a step without an answer nobody\n"
             "is told how many devices answered, or which refused: it says what the servers said\n"
             "when the answer was last asked for. It asks them nothing.\n",
    .run = analysis_watch,
};

static const sotto_verb verb_result = {
    .name = "result",
    .summary = "get the answer of a step, with intervals and receipt",
    .usage =
        "usage: sotto analysis result FOLDER [--step N] [--wait SECONDS] [--close-early] "
        "[--json]\n"
        "       [--skip-bad-rows] [--quiet]\n\n"
        "Shows the answer of the last step, or of step N. Where there is none yet, it is "
        "asked\n"
        "for: of simulated devices, or of the servers by what `sotto collect` does. Of a "
        "search\n"
        "it shows what was found.\n\n"
        "  --wait SECONDS       how long to wait for servers; default 60\n"
        "  --close-early        ask although the schedule is not over: the batch is closed\n"
        "                       once there are enough reports\n"
        "  --skip-bad-rows      leaves out rows of simulated devices that can't be read\n\n" CODES,
    .run = analysis_result,
};

static const sotto_verb verb_drill = {
    .name = "drill",
    .summary = "ask the next, finer question",
    .usage =
        "usage: sotto analysis drill FOLDER --bin LABEL [--parts N] [--json]\n"
        "       sotto analysis drill FOLDER --bin LABEL --by COLUMN --values A,B,... [--json]\n"
        "       sotto analysis drill FOLDER --quantile T [--json]\n"
        "       sotto analysis drill FOLDER --recipe FILE [--json]\n\n"
        "Writes the next step from the answer of the last one, if the budget allows it.\n"
        "--bin divides one bin, named as the answer prints it: buckets and steps into N "
        "smaller\n"
        "ones (10), a phrase of a prefix tree into the words behind it. Of columns that list\n"
        "values, the bin's value stays alone. Where all columns list values, --by asks for "
        "another\n"
        "column of the rows in the bin: values that --values does not have count as <oov>.\n"
        "--quantile has smaller steps where the quantile is. --recipe asks a recipe of your\n"
        "own under the same budget.\n\n" CODES,
    .run = analysis_drill,
};

static const sotto_verb verb_discover = {
    .name = "discover",
    .summary = "search for words, phrases or places in several rounds",
    .usage =
        "usage: sotto analysis discover FOLDER --words --recipe FILE --policy FILE --simulate CSV\n"
        "       [options]\n"
        "       sotto analysis discover FOLDER --phrases N --recipe FILE ...\n"
        "       sotto analysis discover FOLDER --places --box W,S,E,N --recipe FILE ...\n"
        "       sotto analysis discover FOLDER\n\n"
        "Begins a search in a new folder; FOLDER alone goes on with it, and so does the command\n"
        "that began it. The recipe is a frame. Its query yields one text; for phrases a word and\n"
        "a phrase; for places two numbers, east and north. Each round asks it anew, with a finer\n"
        "encoding where many devices are, until nothing is left to divide. Phrases are searched\n"
        "for over the words that were found, a word a round. Words and phrases are counted once\n"
        "more at the end. Simulated devices answer all rounds at once.\n"
        "With servers each round has a schedule: type the command again when it is over.\n\n"
        "  --phrases N          search for phrases of up to N words, 2 to 8\n"
        "  --alphabet LETTERS   of words; a to z unless stated. Words with others are not found\n"
        "  --longest N          letters of a word; 20 unless stated\n"
        "  --deny FILE          words or phrases that are known, one a line: devices leave\n"
        "                       them out\n"
        "  --box W,S,E,N        where places are\n"
        "  --levels N           how often a place is divided by four; 8 unless stated\n"
        "  --cells N            bins of a round, at most; 20000 unless stated\n"
        "  --rounds N           at most, beside those over words and the count at the end, which\n"
        "                       has the budget of rounds that were not needed; 8 unless stated\n"
        "  --epsilon E          of all rounds together; 1 unless stated\n"
        "  --delta D            the same; 0.000001 unless stated\n"
        "  --per-round HOW      one-budget: all devices answer all rounds, and the budget is\n"
        "                       split. fresh-devices: each device answers one round, and has\n"
        "                       the whole budget for it\n"
        "  --wait SECONDS       how long to wait for servers; default 60\n"
        "  --close-early        ask servers although the schedule of a round is not over\n"
        "  --json               what was found, for programs\n"
        "  --quiet              no progress\n\n" WHO "\n" CODES,
    .run = analysis_discover,
};

static const sotto_verb verb_stop = {
    .name = "stop",
    .summary = "ask nothing more; keep what there is",
    .usage = "usage: sotto analysis stop FOLDER [--json]\n\n"
             "No step is asked after this. A request that servers have open is withdrawn. Answers\n"
             "stay, and `result`, `watch` and `export` show them.\n",
    .run = analysis_stop,
};

static const sotto_verb verb_export = {
    .name = "export",
    .summary = "write an answer, or what was found, into files",
    .usage =
        "usage: sotto analysis export FOLDER [--step N] [--csv FILE] [--html FILE] [--out FILE]\n"
        "       [--json]\n\n"
        "Of the last step, or of step N; of a search what was found. --out writes JSON. - is\n"
        "standard output. --json prints which files were written.\n\n" CODES,
    .run = analysis_export,
};

static const sotto_verb *const parts[] = {
    &verb_start,    &verb_watch, &verb_result, &verb_drill,
    &verb_discover, &verb_stop,  &verb_export, NULL,
};

const sotto_verb sotto_verb_analysis = {
    .name = "analysis",
    .summary = "ask, look, and ask a finer question, under one budget",
    .parts = parts,
};
