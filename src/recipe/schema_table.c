/* Every key of recipes, policies, parties and streams. Rows of one object stand together; "*" is its last. */
#include "recipe/schema.h"

#define TEXT     SOTTO_SCHEMA_TEXT
#define FIELD    SOTTO_SCHEMA_TEXT /* stream.field; read_name checks it */
#define QUERY    SOTTO_SCHEMA_QUERY
#define NAME     SOTTO_SCHEMA_NAME
#define CHOICE   SOTTO_SCHEMA_CHOICE
#define FLAG     SOTTO_SCHEMA_FLAG
#define WHOLE    SOTTO_SCHEMA_WHOLE
#define NUMBER   SOTTO_SCHEMA_NUMBER
#define DECIMAL  SOTTO_SCHEMA_DECIMAL
#define TIME     SOTTO_SCHEMA_TIME
#define DURATION SOTTO_SCHEMA_DURATION
#define HEX      SOTTO_SCHEMA_HEX
#define OBJECT   SOTTO_SCHEMA_OBJECT
#define VARIANT  SOTTO_SCHEMA_VARIANT
#define LIST     SOTTO_SCHEMA_LIST
#define LATER    SOTTO_SCHEMA_LATER
#define MUST     NULL /* no default: the key must be there */
#define MAY      ""   /* no default: the key may be left out */

enum { BINS = SOTTO_RECIPE_MAX_BINS };

/* clang-format off */
const sotto_schema_key sotto_schema[] = {
    /* object, key, type, item, least, most, of, default, help */
    {"recipe", "recipe", NAME, 0, 1, 64, NULL, MUST, "names this recipe"},
    {"recipe", "version", WHOLE, 0, 1, 1e9, NULL, MUST, "grows with every change; a device never goes back"},
    {"recipe", "analysis", NAME, 0, 1, 128, NULL, MUST, "the analysis whose budget pays; the policy must know it"},
    {"recipe", "description", TEXT, 0, 0, 1000, NULL, "\"\"", "why this is asked, for the people who are asked"},
    {"recipe", "query", QUERY, 0, 0, 0, NULL, MUST, "one SELECT over the device's streams, without NATURAL, USING or INDEXED BY; `encode` names its columns, and lint points out one that it does not name, or that the query lacks"},
    {"recipe", "pick", CHOICE, 0, 0, 0, "one-at-random|first", "\"one-at-random\"", "which of the query's rows is answered with; the first is that of its ORDER BY and, among equals, of the values that it reads, never the first that was donated"},
    {"recipe", "cohorts", OBJECT, 0, 0, 0, "cohorts", "{}", "fields that split the answer: one task for each combination of values"},
    {"recipe", "targeting", OBJECT, 0, 0, 0, "targeting", "{}", "fields that a device must have one of these values in to take part"},
    {"recipe", "encode", OBJECT, 0, 0, 0, "encode", MUST, "how a row becomes one of many bins"},
    {"recipe", "randomizer", VARIANT, 0, 0, 0, "randomizer", MUST, "how the bin is randomised before it leaves the device"},
    {"recipe", "participation", VARIANT, 0, 0, 0, "participation", MUST, "who answers, and when"},
    {"recipe", "privacy", OBJECT, 0, 0, 0, "privacy", MUST, "what is promised to everybody who answers"},
    {"recipe", "aggregation", VARIANT, 0, 0, 0, "aggregation@trust", MUST, "who adds up, and how; `split` alone earns a gain by hiding among others"},
    {"recipe", "schedule", OBJECT, 0, 0, 0, "schedule", MUST, "when"},
    {"recipe", "population", WHOLE, 0, 1, 1e11, NULL, MUST, "devices expected to be asked, for planning and for the rate that servers accept"},
    {"recipe", "on_no_match", CHOICE, 0, 0, 0, "no-value|oov|random-bin|silence", "\"no-value\"", "what a device sends that has no row, or whose value has no bin"},
    {"recipe", "dummies", NUMBER, 0, 0, 1, NULL, "0", "rate of reports on \"no value\" by devices that do not take part"},
    {"recipe", "learn", LATER, 0, 0, 0, NULL, MAY, "learning recipes can't be asked by this version"},
    {"recipe", "rounds", LATER, 0, 0, 0, NULL, MAY, "recipes of several rounds can't be asked by this version"},

    {"cohorts", "*", LIST, TEXT, 1, 1000, NULL, MAY, "values of this non-sensitive field; a device with another one stays silent"},

    {"targeting", "*", LIST, TEXT, 1, 1000, NULL, MAY, "values of this non-sensitive field that are asked"},

    {"encode", "combine", LIST, NAME, 1, 16, NULL, MAY, "the columns in the order of the product; needed for more than one"},
    {"encode", "*", VARIANT, 0, 0, 0, "encode", MAY, "the encoder of this column of the query"},

    {"encode.buckets", "boundaries", LIST, NUMBER, 1, BINS, NULL, MUST, "growing; each bucket has its lower boundary in it and its upper one not"},
    {"encode.buckets", "underflow", CHOICE, 0, 0, 0, "oov|bucket|clip", MUST, "values below the first boundary: <oov>, a bucket of their own, or the first bucket"},
    {"encode.buckets", "overflow", CHOICE, 0, 0, 0, "oov|bucket|clip", MUST, "values from the last boundary on: <oov>, a bucket of their own, or the last bucket"},

    {"encode.categories", "values", LIST, TEXT, 1, BINS, NULL, MUST, "one bin each, in this order"},
    {"encode.categories", "oov", FLAG, 0, 0, 0, NULL, "true", "a bin for every other value"},

    {"encode.boolean", "", FLAG, 0, 0, 0, NULL, MAY, ""},

    {"encode.integer", "min", WHOLE, 0, -1e15, 1e15, NULL, MUST, "smaller values count as this one"},
    {"encode.integer", "max", WHOLE, 0, -1e15, 1e15, NULL, MUST, "larger values count as this one"},
    {"encode.integer", "step", WHOLE, 0, 1, 1e15, NULL, "1", "values are rounded to min plus a multiple of this"},

    {"encode.real", "min", NUMBER, 0, -1e15, 1e15, NULL, MUST, "smaller values count as this one"},
    {"encode.real", "max", NUMBER, 0, -1e15, 1e15, NULL, MUST, "larger values count as this one"},
    {"encode.real", "fraction_bits", WHOLE, 0, 0, 20, NULL, "0", "fixed point: values are rounded to min plus a multiple of 2^-fraction_bits"},

    {"encode.prefix-tree", "tree", OBJECT, 0, 0, 0, "tree", MUST, "what continues what"},
    {"encode.prefix-tree", "tokens", LIST, TEXT, 1, BINS, NULL, MUST, "known words that may follow a leaf: one bin for each leaf and token"},
    {"encode.prefix-tree", "oov", FLAG, 0, 0, 0, NULL, "true", "a bin for texts that reach no leaf, and at each leaf one for words that are no token"},
    {"encode.prefix-tree", "end", FLAG, 0, 0, 0, NULL, "true", "at each leaf a bin for texts that end there"},

    {"tree", "root", LIST, TEXT, 1, BINS, NULL, MUST, "first words"},
    {"tree", "*", LIST, TEXT, 0, BINS, NULL, MAY, "words that may follow these, which stand with one space between; what nothing follows is a leaf"},

    {"randomizer.one-hot", "form", CHOICE, 0, 0, 0, "asymmetric|symmetric", MUST, "asymmetric: the value's bit is sent as a fair coin; symmetric: every bit is flipped alike"},
    {"randomizer.one-hot", "epsilon_local", DECIMAL, 0, 1e-5, 30, NULL, MUST, "of one report by itself, for the recipe's adjacency"},

    {"randomizer.choice", "epsilon_local", DECIMAL, 0, 1e-5, 30, NULL, MUST, "of one report by itself; exactly one bin is sent, and proved to be one"},

    {"randomizer.subset", "epsilon_local", DECIMAL, 0, 1e-5, 30, NULL, MUST, "of one report by itself; a set of bins of fixed size is sent"},

    {"participation.poisson", "rate", NUMBER, 0, 1e-9, 1, NULL, MUST, "chance that a device takes part, by its own secret coin"},

    {"participation.check-in", "variant", CHOICE, 0, 0, 0, "fixed|averaged|sliding", MUST, "one secret slot of a window that all share, with one report or all reports a slot used; or of a window of one's own"},
    {"participation.check-in", "window", WHOLE, 0, 2, 1e6, NULL, MUST, "slots of the window"},
    {"participation.check-in", "probability", NUMBER, 0, 1e-9, 1, NULL, "1", "chance of checking in at all; fixed only"},

    {"participation.donation", "slots", WHOLE, 0, 2, 1e6, NULL, MUST, "times to choose from, one for each round of the analysis"},
    {"participation.donation", "slot_minutes", WHOLE, 0, 1, 10080, NULL, MUST, "length of a slot, which a round may not outlast: batches are time intervals, and the precision is at most this"},

    {"participation.importance", "rate_default", NUMBER, 0, 1e-9, 1, NULL, MUST, "chance to take part with the most common value"},
    {"participation.importance", "rate_other", NUMBER, 0, 1e-9, 1, NULL, MUST, "chance to take part with any other"},

    {"privacy", "adjacency", CHOICE, 0, 0, 0, "replacement|deletion", MUST, "what is hidden: which value somebody has, or that it is not \"no value\""},
    {"privacy", "epsilon", DECIMAL, 0, 1e-9, 30, NULL, MUST, "of the whole cohort's answer, without any gain by sampling; a device is charged this"},
    {"privacy", "delta", DECIMAL, 0, 1e-12, 1e-3, NULL, MUST, "the same"},
    {"privacy", "min_cohort", WHOLE, 0, 10, 1e9, NULL, MUST, "reports below which nothing is released"},

    {"aggregation.split", "leader", NAME, 0, 1, 128, NULL, MUST, "a party of that role"},
    {"aggregation.split", "helper", NAME, 0, 1, 128, NULL, MUST, "a party of that role"},
    {"aggregation.split", "collector", NAME, 0, 1, 128, NULL, MAY, "a party of that role, who gets the answer"},
    {"aggregation.split", "batch_mode", CHOICE, 0, 0, 0, "time-interval|leader-selected", "\"time-interval\"", "whether a batch is a span of time or what the leader makes it"},
    {"aggregation.split", "noise", VARIANT, 0, 0, 0, "noise", MAY, "what each of the two servers adds to every sum, once, before it is released"},

    {"noise.discrete-gaussian", "sigma", DECIMAL, 0, 0.5, 60000, NULL, MUST, "of each server's own noise, since the other one may leave its out; at most three digits behind the point"},

    {"aggregation.flamingo", "server", NAME, 0, 1, 128, NULL, MUST, "who adds up"},
    {"aggregation.flamingo", "log", NAME, 0, 1, 128, NULL, MUST, "where rounds are published"},
    {"aggregation.flamingo", "beacon", NAME, 0, 1, 128, NULL, MUST, "who draws devices in public"},
    {"aggregation.flamingo", "ring", CHOICE, 0, 0, 0, "z32|z64", MUST, "that sums are in"},
    {"aggregation.flamingo", "corrupt", NUMBER, 0, 0, 0.5, NULL, MUST, "share of devices that may lie"},
    {"aggregation.flamingo", "dropout", NUMBER, 0, 0, 0.5, NULL, MUST, "share that may drop out"},
    {"aggregation.flamingo", "decryptors", OBJECT, 0, 0, 0, "decryptors", MUST, "who unmask sums"},
    {"aggregation.flamingo", "graph", OBJECT, 0, 0, 0, "graph", MUST, "who masks with whom"},
    {"aggregation.flamingo", "prg", CHOICE, 0, 0, 0, "aes-256-ctr", MUST, "that makes masks"},

    {"decryptors", "count", WHOLE, 0, 1, 1e6, NULL, MUST, "how many"},
    {"decryptors", "dropout", NUMBER, 0, 0, 0.5, NULL, MUST, "share that may drop out"},
    {"decryptors", "epoch_rounds", WHOLE, 0, 1, 1e6, NULL, MUST, "rounds that they serve"},

    {"graph", "degree", WHOLE, 0, 1, 1e6, NULL, MUST, "neighbours that are expected"},
    {"graph", "neighbours", WHOLE, 0, 1, 1e6, NULL, MUST, "neighbours that must stay"},

    {"aggregation.aero", "server", NAME, 0, 1, 128, NULL, MUST, "who adds up"},
    {"aggregation.aero", "log", NAME, 0, 1, 128, NULL, MUST, "where rounds are published"},
    {"aggregation.aero", "beacon", NAME, 0, 1, 128, NULL, MUST, "who draws devices in public"},
    {"aggregation.aero", "devices", OBJECT, 0, 0, 0, "devices", MUST, "how many there are"},
    {"aggregation.aero", "corrupt", NUMBER, 0, 0, 0.5, NULL, MUST, "share of devices that may lie"},
    {"aggregation.aero", "offline", NUMBER, 0, 0, 0.5, NULL, MUST, "share that may drop out"},
    {"aggregation.aero", "parameters", NAME, 0, 1, 128, NULL, MUST, "of the encryption, by name"},
    {"aggregation.aero", "bits", WHOLE, 0, 1, 64, NULL, MUST, "of a value"},
    {"aggregation.aero", "committee", OBJECT, 0, 0, 0, "committee", MUST, "who decrypt sums"},
    {"aggregation.aero", "noise", OBJECT, 0, 0, 0, "noise-committee", MUST, "who add noise"},
    {"aggregation.aero", "checks", WHOLE, 0, 1, 1e6, NULL, MUST, "leaves that a device checks"},
    {"aggregation.aero", "proof", OBJECT, 0, 0, 0, "proof", MUST, "of a contribution"},
    {"aggregation.aero", "rekey", CHOICE, 0, 0, 0, "round", MUST, "when keys are new"},

    {"devices", "least", WHOLE, 0, 1, 1e11, NULL, MUST, "how many"},
    {"devices", "most", WHOLE, 0, 1, 1e11, NULL, MUST, "how many"},

    {"committee", "size", WHOLE, 0, 1, 1e6, NULL, MUST, "how many"},
    {"committee", "corrupt", WHOLE, 0, 0, 1e6, NULL, MUST, "how many may lie"},
    {"committee", "count", WHOLE, 0, 1, 1e6, NULL, MUST, "how many committees"},

    {"noise-committee", "size", WHOLE, 0, 1, 1e6, NULL, MUST, "how many"},
    {"noise-committee", "corrupt", WHOLE, 0, 0, 1e6, NULL, MUST, "how many may lie"},
    {"noise-committee", "missing", WHOLE, 0, 0, 1e6, NULL, MUST, "how many may drop out"},

    {"proof", "queries", WHOLE, 0, 1, 1e6, NULL, MUST, "how many"},
    {"proof", "grind", WHOLE, 0, 0, 64, NULL, MUST, "bits of work"},
    {"proof", "group", WHOLE, 0, 1, 1e6, NULL, MUST, "contributions for each"},

    {"schedule", "opens", TIME, 0, 0, 0, NULL, MUST, "no report before; a multiple of the precision"},
    {"schedule", "closes", TIME, 0, 0, 0, NULL, MUST, "no report after; a multiple of the precision"},
    {"schedule", "precision", DURATION, 0, 0, 0, NULL, "\"1h\"", "times of reports are rounded down to this, so that they tell little"},

    {"policy", "policy", NAME, 0, 1, 128, NULL, MUST, "names this policy"},
    {"policy", "version", WHOLE, 0, 1, 1e9, NULL, MUST, "grows with every change; what was spent stays spent"},
    {"policy", "analyses", OBJECT, 0, 0, 0, "analyses", MUST, "all that this device will ever answer"},
    {"policy", "fields", OBJECT, 0, 0, 0, "fields", MUST, "all that may ever be read, and what each may cost, whoever asks"},
    {"policy", "composition", CHOICE, 0, 0, 0, "basic|filter", "\"basic\"", "how spends add up: as a sum, or by a filter for adaptive spending"},
    {"policy", "period_days", WHOLE, 0, 0, 3660, NULL, "0", "after which budgets are new; 0: never"},
    {"policy", "non_sensitive", LIST, NAME, 0, 1000, NULL, "[]", "fields that cohorts and targeting may use (`locale`), and of those read, the ones no budget is kept for (`stream.field`)"},
    {"policy", "min_cohort", WHOLE, 0, 10, 1e9, NULL, MUST, "no recipe may release below this"},
    {"policy", "honest", DECIMAL, 0, 0.01, 1, NULL, MUST, "share of a cohort that is taken to be honest: those protect each other"},
    {"policy", "trusts", LIST, CHOICE, 1, 3, "split|flamingo|aero", "[\"split\"]", "ways to add up that are allowed"},
    {"policy", "silence", FLAG, 0, 0, 0, NULL, "false", "whether a recipe may ask a device without a value to say nothing, which tells something"},
    {"policy", "hidden_participation", FLAG, 0, 0, 0, NULL, "false", "relay and tokens are in use, so nobody sees who takes part: importance sampling needs it"},
    {"policy", "logs", OBJECT, 0, 0, 0, "keys", "{}", "public keys of the logs that recipes must be on"},
    {"policy", "issuers", OBJECT, 0, 0, 0, "keys", "{}", "public keys of the issuers of tokens"},

    {"analyses", "*", OBJECT, 0, 0, 0, "analysis", MAY, "one analysis, by its name"},

    {"analysis", "epsilon", DECIMAL, 0, 0, 1e6, NULL, MUST, "of all its answers together"},
    {"analysis", "delta", DECIMAL, 0, 0, 1, NULL, MUST, "the same"},
    {"analysis", "reports", WHOLE, 0, 0, 1e9, NULL, MUST, "that a device may send"},
    {"analysis", "queries", LIST, QUERY, 0, 1000, NULL, "[]", "queries that may be asked, byte for byte; none: whatever reads these fields only"},
    {"analysis", "fields", LIST, FIELD, 0, 1000, NULL, MUST, "what it may read, of the policy's fields"},

    {"fields", "*", OBJECT, 0, 0, 0, "field", MAY, "`stream.field`; `stream.*` is that a row exists, as count(*) reads it"},

    {"field", "epsilon_local", DECIMAL, 0, 0, 1e6, NULL, MUST, "of any one report that reads it, if a value becomes another"},
    {"field", "epsilon", DECIMAL, 0, 0, 1e6, NULL, MUST, "of all answers that read it together"},
    {"field", "delta", DECIMAL, 0, 0, 1, NULL, MUST, "the same"},
    {"field", "reports", WHOLE, 0, 0, 1e9, NULL, MUST, "that may read it"},

    {"keys", "*", HEX, 0, 16, 1024, NULL, MAY, "a public key, by its name"},

    {"parties", "*", OBJECT, 0, 0, 0, "party", MAY, "one party, by the name recipes use"},

    {"party", "role", CHOICE, 0, 0, 0, "leader|helper|collector", MUST, "what it does"},
    {"party", "url", TEXT, 0, 1, 1024, NULL, MAY, "of a leader or helper, byte for byte as all parties must have it"},
    {"party", "hpke", LIST, OBJECT, 1, 16, "hpke", MUST, "keys to seal to; of those in use, the one with the latest `from` is used"},

    {"hpke", "config", HEX, 0, 8, 1024, NULL, MUST, "an HpkeConfig as DAP encodes it"},
    {"hpke", "from", TIME, 0, 0, 0, NULL, MUST, "not used before"},
    {"hpke", "until", TIME, 0, 0, 0, NULL, MUST, "not used after"},

    {"streams", "*", OBJECT, 0, 0, 0, "stream", MAY, "one stream, by its name: what a query selects from"},

    {"stream", "fields", OBJECT, 0, 0, 0, "types", MUST, "what every event of it has, 1 to 64; once the stream is there they never change"},
    {"stream", "max_age", DURATION, 0, 0, 0, NULL, MUST, "older events are erased"},
    {"stream", "max_rows", WHOLE, 0, 1, 1e15, NULL, MUST, "events that are kept, the newest"},

    {"types", "*", CHOICE, 0, 0, 0, "integer|real|text|boolean", MAY, "a field, by its name, and the type of its values, any of which may be null"},
};
/* clang-format on */
const size_t sotto_schema_count = sizeof sotto_schema / sizeof sotto_schema[0];

const sotto_schema_object sotto_schema_objects[] = {
    {"recipe", "A recipe",
     "One question: what is asked of whom, how it is protected, who adds up."},
    {"cohorts", "cohorts", "Keys are fields that the policy lists as non-sensitive."},
    {"targeting", "targeting",
     "Keys are fields that the policy lists as non-sensitive; all of them must match."},
    {"encode", "encode", "Keys are the query's columns. At most 1,000,000 bins in all."},
    {"encode.buckets", "encode: buckets", "Numbers by boundaries."},
    {"encode.categories", "encode: categories", "Texts, or whole numbers written as texts."},
    {"encode.boolean", "encode: boolean", "Two bins: false is 0, true is anything else."},
    {"encode.integer", "encode: integer", "Whole numbers, clipped."},
    {"encode.real", "encode: real", "Numbers in fixed point, clipped."},
    {"encode.prefix-tree", "encode: prefix-tree", "Phrases that continue known ones by a word."},
    {"tree", "encode: prefix-tree: tree", "Keys are phrases; `root` is the empty one."},
    {"randomizer.one-hot", "randomizer: one-hot", "A bit for each bin, each drawn by itself."},
    {"randomizer.choice", "randomizer: choice", "The bin itself, or any other."},
    {"randomizer.subset", "randomizer: subset", "Some of the bins, the right one more likely."},
    {"participation.poisson", "participation: poisson", "Every device draws by itself."},
    {"participation.check-in", "participation: check-in", "A random moment within a window."},
    {"participation.donation", "participation: donation", "A random one of later rounds."},
    {"participation.importance", "participation: importance",
     "Rare values are more likely to be sent. Priced, but refused unless nobody sees who takes "
     "part."},
    {"privacy", "privacy", "`sotto recipe lint` recomputes each of these."},
    {"aggregation.split", "aggregation: split",
     "Two servers, of whom one must be honest. Names are those of the parties file."},
    {"noise.discrete-gaussian", "aggregation: noise: discrete-gaussian",
     "Whole numbers x with a chance in proportion to exp(-x^2 / (2 sigma^2))."},
    {"aggregation.flamingo", "aggregation: flamingo",
     "One server, masks. Read, and refused: not yet."},
    {"decryptors", "aggregation: flamingo: decryptors", "Drawn devices."},
    {"graph", "aggregation: flamingo: graph", "Drawn pairs."},
    {"aggregation.aero", "aggregation: aero",
     "One server, encrypted sums. Read, and refused: not yet."},
    {"devices", "aggregation: aero: devices", "In all."},
    {"committee", "aggregation: aero: committee", "Drawn devices."},
    {"noise-committee", "aggregation: aero: noise", "Drawn devices."},
    {"proof", "aggregation: aero: proof", "That inputs are valid."},
    {"schedule", "schedule", "Times are in UTC."},
    {"policy", "A policy",
     "What a device will ever allow. It comes with the host application; no recipe can widen it."},
    {"analyses", "analyses", "Keys are names of analyses."},
    {"analysis", "analyses: one", "Its budget, and what it may read."},
    {"fields", "fields", "Keys are `stream.field`."},
    {"field", "fields: one", "What one field may cost, over all analyses together."},
    {"keys", "logs and issuers", "Keys are names."},
    {"parties", "Parties", "Who adds up, by name."},
    {"party", "parties: one", "Part of what a device trusts: it never takes this from a server."},
    {"hpke", "parties: hpke", "One key and when it is used."},
    {"streams", "Streams",
     "What events look like, for `sotto device` (streams.json); an application says the same in C, "
     "as "
     "sotto_stream and sotto_field. A name has up to 63 of the characters a-z 0-9 _, starts with a "
     "letter, "
     "not with sotto_ or sqlite_, and is none of rowid, oid, event_id and event_time: the last two "
     "are fields of every stream."},
    {"stream", "streams: one", "Events are rows of it, which never leave the device."},
    {"types", "streams: fields", "In the order in which the library takes an event's values."},
};
const size_t sotto_schema_object_count =
    sizeof sotto_schema_objects / sizeof sotto_schema_objects[0];
