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

/* Objects in the order of the reference. A number, since a pointer in a shared library costs 32 bytes. */
enum {
    IN_RECIPE,
    IN_COHORTS,
    IN_TARGETING,
    IN_INTERVAL_BEGINNING,
    IN_INTERVAL_LAST,
    IN_INTERVAL_ANSWER,
    IN_ENCODE,
    IN_ENCODE_BUCKETS,
    IN_ENCODE_CATEGORIES,
    IN_ENCODE_BOOLEAN,
    IN_ENCODE_INTEGER,
    IN_ENCODE_REAL,
    IN_ENCODE_PREFIX_TREE,
    IN_ENCODE_HASHED_PREFIXES,
    IN_TREE,
    IN_RANDOMIZER_ONE_HOT,
    IN_RANDOMIZER_CHOICE,
    IN_RANDOMIZER_SUBSET,
    IN_PARTICIPATION_POISSON,
    IN_PARTICIPATION_CHECK_IN,
    IN_PARTICIPATION_DONATION,
    IN_PARTICIPATION_IMPORTANCE,
    IN_PRIVACY,
    IN_AGGREGATION_SPLIT,
    IN_NOISE_DISCRETE_GAUSSIAN,
    IN_AGGREGATION_FLAMINGO,
    IN_DECRYPTORS,
    IN_GRAPH,
    IN_AGGREGATION_AERO,
    IN_DEVICES,
    IN_COMMITTEE,
    IN_NOISE_COMMITTEE,
    IN_PROOF,
    IN_ANONYMITY,
    IN_SCHEDULE,
    IN_POLICY,
    IN_ANALYSES,
    IN_ANALYSIS,
    IN_FIELDS,
    IN_FIELD,
    IN_LOGS,
    IN_LOG,
    IN_KEYS,
    IN_PARTIES,
    IN_PARTY,
    IN_HPKE,
    IN_STREAMS,
    IN_STREAM,
    IN_TYPES,
};

/* clang-format off */
const sotto_schema_key sotto_schema[] = {
    /* object, key, type, item, least, most, of, default, help */
    {IN_RECIPE, "recipe", NAME, 0, 1, 64, NULL, MUST, "names this recipe"},
    {IN_RECIPE, "version", WHOLE, 0, 1, 1e9, NULL, MUST, "grows with every change; a device never goes back"},
    {IN_RECIPE, "analysis", NAME, 0, 1, 128, NULL, MUST, "the analysis whose budget pays; the policy must know it"},
    {IN_RECIPE, "description", TEXT, 0, 0, 1000, NULL, "\"\"", "why this is asked, for the people who are asked"},
    {IN_RECIPE, "query", QUERY, 0, 0, 0, NULL, MUST, "one SELECT over the device's streams, without NATURAL, USING or INDEXED BY; lint compiles it as devices do. `encode` names its columns, and lint points out one that it does not name"},
    {IN_RECIPE, "pick", CHOICE, 0, 0, 0, "one-at-random|first|one-matching-at-random", "\"one-at-random\"", "which of the query's rows is answered with. A row matches if each of its values has a bin that is not <oov>. Where none matches, one of all rows is drawn. The first row is the first by the ORDER BY of the query; rows that are equal in it are ordered by their values, never by when they were donated"},
    {IN_RECIPE, "interval", VARIANT, 0, 0, 0, "interval", MAY, "which events the query sees, by their time; left out: all"},
    {IN_RECIPE, "cohorts", OBJECT, 0, 0, 0, "cohorts", "{}", "fields that split the answer: one task for each combination of values"},
    {IN_RECIPE, "targeting", OBJECT, 0, 0, 0, "targeting", "{}", "fields that a device must have one of these values in to take part"},
    {IN_RECIPE, "encode", OBJECT, 0, 0, 0, "encode", MUST, "how a row becomes one of many bins"},
    {IN_RECIPE, "randomizer", VARIANT, 0, 0, 0, "randomizer", MUST, "how the bin is randomised before it leaves the device"},
    {IN_RECIPE, "participation", VARIANT, 0, 0, 0, "participation", MUST, "who answers, and when"},
    {IN_RECIPE, "privacy", OBJECT, 0, 0, 0, "privacy", MUST, "what is promised to everybody who answers"},
    {IN_RECIPE, "aggregation", VARIANT, 0, 0, 0, "aggregation@trust", MUST, "who adds up, and how; only `split` earns amplification by shuffling"},
    {IN_RECIPE, "anonymity", OBJECT, 0, 0, 0, "anonymity", "{}", "what hides who takes part. A gain by sampling, check-ins or donations is claimed only with relay, tokens and log"},
    {IN_RECIPE, "schedule", OBJECT, 0, 0, 0, "schedule", MUST, "when"},
    {IN_RECIPE, "population", WHOLE, 0, 1, 1e11, NULL, MUST, "devices expected to be asked, for planning and for the rate that servers accept"},
    {IN_RECIPE, "on_no_match", CHOICE, 0, 0, 0, "no-value|oov|random-bin|silence", "\"no-value\"", "what a device sends that has no row, or whose value has no bin"},
    {IN_RECIPE, "dummies", NUMBER, 0, 0, 1, NULL, "0", "chance of a report on \"no value\" by devices that do not take part"},
    {IN_RECIPE, "learn", LATER, 0, 0, 0, NULL, MAY, "learning recipes can't be asked by this version"},
    {IN_RECIPE, "rounds", LATER, 0, 0, 0, NULL, MAY, "recipes of several rounds can't be asked by this version"},

    {IN_COHORTS, "*", LIST, TEXT, 1, 1000, NULL, MAY, "values of this non-sensitive field; a device with another one stays silent"},

    {IN_TARGETING, "*", LIST, TEXT, 1, 1000, NULL, MAY, "values of this non-sensitive field that are asked"},

    {IN_INTERVAL_BEGINNING, "", FLAG, 0, 0, 0, NULL, MAY, ""},

    {IN_INTERVAL_LAST, "duration", DURATION, 0, 0, 0, NULL, MUST, "how far back from the moment of the answer, at most 3650d"},

    {IN_INTERVAL_ANSWER, "", FLAG, 0, 0, 0, NULL, MAY, ""},

    {IN_ENCODE, "combine", LIST, NAME, 1, 16, NULL, MAY, "the columns in the order of the product; needed for more than one"},
    {IN_ENCODE, "*", VARIANT, 0, 0, 0, "encode", MAY, "the encoder of this column of the query"},

    {IN_ENCODE_BUCKETS, "boundaries", LIST, NUMBER, 1, BINS, NULL, MUST, "growing; each bucket has its lower boundary in it and its upper one not"},
    {IN_ENCODE_BUCKETS, "underflow", CHOICE, 0, 0, 0, "oov|bucket|clip", MUST, "values below the first boundary: <oov>, a bucket of their own, or the first bucket"},
    {IN_ENCODE_BUCKETS, "overflow", CHOICE, 0, 0, 0, "oov|bucket|clip", MUST, "values from the last boundary on: <oov>, a bucket of their own, or the last bucket"},

    {IN_ENCODE_CATEGORIES, "values", LIST, TEXT, 1, BINS, NULL, MUST, "one bin each, in this order"},
    {IN_ENCODE_CATEGORIES, "oov", FLAG, 0, 0, 0, NULL, "true", "a bin for every other value"},

    {IN_ENCODE_BOOLEAN, "", FLAG, 0, 0, 0, NULL, MAY, ""},

    {IN_ENCODE_INTEGER, "min", WHOLE, 0, -1e15, 1e15, NULL, MUST, "smaller values count as this one"},
    {IN_ENCODE_INTEGER, "max", WHOLE, 0, -1e15, 1e15, NULL, MUST, "larger values count as this one"},
    {IN_ENCODE_INTEGER, "step", WHOLE, 0, 1, 1e15, NULL, "1", "values are rounded to min plus a multiple of this"},

    {IN_ENCODE_REAL, "min", NUMBER, 0, -1e15, 1e15, NULL, MUST, "smaller values count as this one"},
    {IN_ENCODE_REAL, "max", NUMBER, 0, -1e15, 1e15, NULL, MUST, "larger values count as this one"},
    {IN_ENCODE_REAL, "fraction_bits", WHOLE, 0, 0, 20, NULL, "0", "fixed point: values are rounded to min plus a multiple of 2^-fraction_bits"},

    {IN_ENCODE_PREFIX_TREE, "tree", OBJECT, 0, 0, 0, "tree", MUST, "what continues what"},
    {IN_ENCODE_PREFIX_TREE, "tokens", LIST, TEXT, 1, BINS, NULL, MUST, "known words that may follow a leaf: one bin for each leaf and token"},
    {IN_ENCODE_PREFIX_TREE, "oov", FLAG, 0, 0, 0, NULL, "true", "a bin for texts that reach no leaf, and at each leaf one for words that are no token"},
    {IN_ENCODE_PREFIX_TREE, "end", FLAG, 0, 0, 0, NULL, "true", "at each leaf a bin for texts that end there"},

    {IN_ENCODE_HASHED_PREFIXES, "salt", NAME, 0, 8, 64, NULL, MUST, "other for each recipe, so that no table of hashes serves for two"},
    {IN_ENCODE_HASHED_PREFIXES, "words", WHOLE, 0, 1, 32, NULL, MUST, "of every phrase that was hashed"},
    {IN_ENCODE_HASHED_PREFIXES, "hashes", LIST, TEXT, 1, BINS, NULL, MUST, "of the phrases: the first 16 hexadecimal digits of SHA-256 over the salt, a line feed and the phrase, its words with one space between"},
    {IN_ENCODE_HASHED_PREFIXES, "tokens", LIST, TEXT, 1, BINS, NULL, MUST, "known words that may follow a phrase: one bin for each hash and token"},
    {IN_ENCODE_HASHED_PREFIXES, "oov", FLAG, 0, 0, 0, NULL, "true", "a bin for texts that begin with no such phrase, and at each hash one for words that are no token"},
    {IN_ENCODE_HASHED_PREFIXES, "end", FLAG, 0, 0, 0, NULL, "true", "at each hash a bin for texts that end there"},

    {IN_TREE, "root", LIST, TEXT, 1, BINS, NULL, MUST, "first words"},
    {IN_TREE, "*", LIST, TEXT, 0, BINS, NULL, MAY, "words that may follow these, which stand with one space between; what nothing follows is a leaf"},

    {IN_RANDOMIZER_ONE_HOT, "form", CHOICE, 0, 0, 0, "asymmetric|symmetric", MUST, "asymmetric: the value's bit is sent as a fair coin; symmetric: every bit is flipped alike"},
    {IN_RANDOMIZER_ONE_HOT, "epsilon_local", DECIMAL, 0, 1e-5, 30, NULL, MUST, "of one report by itself, for the recipe's adjacency"},

    {IN_RANDOMIZER_CHOICE, "epsilon_local", DECIMAL, 0, 1e-5, 30, NULL, MUST, "of one report by itself; exactly one bin is sent, and proved to be one"},

    {IN_RANDOMIZER_SUBSET, "epsilon_local", DECIMAL, 0, 1e-5, 30, NULL, MUST, "of one report by itself; a set of bins of fixed size is sent"},

    {IN_PARTICIPATION_POISSON, "rate", NUMBER, 0, 1e-9, 1, NULL, MUST, "chance that a device takes part, by its own secret coin"},

    {IN_PARTICIPATION_CHECK_IN, "variant", CHOICE, 0, 0, 0, "fixed|averaged|sliding", MUST, "averaged: one secret slot of a window that all devices share, and all reports of a slot are added up; fixed: the same with probability 1, else refused; sliding: refused. No theorem covers how servers would add up the refused ones"},
    {IN_PARTICIPATION_CHECK_IN, "window", WHOLE, 0, 2, 1e6, NULL, MUST, "slots of the window; the same in every recipe of the analysis"},
    {IN_PARTICIPATION_CHECK_IN, "start", TIME, 0, 0, 0, NULL, MUST, "when the first slot begins; the same in every recipe of the analysis"},
    {IN_PARTICIPATION_CHECK_IN, "slot", DURATION, 0, 0, 0, NULL, MUST, "length of a slot; the same in every recipe of the analysis"},
    {IN_PARTICIPATION_CHECK_IN, "probability", NUMBER, 0, 1e-9, 1, NULL, "1", "chance of checking in at all; fixed only"},
    {IN_PARTICIPATION_CHECK_IN, "available", DURATION, 0, 0, 0, NULL, "\"8h\"", "how long a device usually stays idle, charging and online; lint warns where the window is longer, unless a slot is a day or more"},

    {IN_PARTICIPATION_DONATION, "slots", WHOLE, 0, 2, 1e6, NULL, MUST, "coins that a device tosses, each with chance 1/slots of heads; the first head is its slot, no head is silence. The same in every recipe of the analysis"},
    {IN_PARTICIPATION_DONATION, "start", TIME, 0, 0, 0, NULL, MUST, "when the first slot begins, a multiple of the precision; the same in every recipe of the analysis"},
    {IN_PARTICIPATION_DONATION, "slot", DURATION, 0, 0, 0, NULL, MUST, "length of a slot, at most 7d and a multiple of the precision: a batch is a time interval within one slot. The same in every recipe of the analysis"},
    {IN_PARTICIPATION_DONATION, "rate", NUMBER, 0, 1e-9, 1, NULL, "1", "chance to take part at all, by a secret coin before the others"},
    {IN_PARTICIPATION_DONATION, "available", DURATION, 0, 0, 0, NULL, "\"8h\"", "how long a device usually stays idle, charging and online; lint warns where the slots together are longer, unless a slot is a day or more"},

    {IN_PARTICIPATION_IMPORTANCE, "rate_default", NUMBER, 0, 1e-9, 1, NULL, MUST, "chance to take part with the most common value"},
    {IN_PARTICIPATION_IMPORTANCE, "rate_other", NUMBER, 0, 1e-9, 1, NULL, MUST, "chance to take part with any other"},

    {IN_PRIVACY, "adjacency", CHOICE, 0, 0, 0, "replacement|deletion", MUST, "what is hidden: which value somebody has, or that it is not \"no value\""},
    {IN_PRIVACY, "epsilon", DECIMAL, 0, 1e-9, 30, NULL, MUST, "of the whole cohort's answer, without any gain by sampling; a device is charged this"},
    {IN_PRIVACY, "delta", DECIMAL, 0, 1e-12, 1e-3, NULL, MUST, "the same"},
    {IN_PRIVACY, "min_cohort", WHOLE, 0, 10, 1e9, NULL, MUST, "reports below which nothing is released"},

    {IN_AGGREGATION_SPLIT, "leader", NAME, 0, 1, 128, NULL, MUST, "a party of that role"},
    {IN_AGGREGATION_SPLIT, "helper", NAME, 0, 1, 128, NULL, MUST, "a party of that role"},
    {IN_AGGREGATION_SPLIT, "collector", NAME, 0, 1, 128, NULL, MAY, "a party of that role, who gets the answer"},
    {IN_AGGREGATION_SPLIT, "batch_mode", CHOICE, 0, 0, 0, "time-interval|leader-selected", "\"time-interval\"", "whether a batch is a span of time or what the leader makes it"},
    {IN_AGGREGATION_SPLIT, "noise", VARIANT, 0, 0, 0, "noise", MAY, "what each of the two servers adds to every sum, once, before it is released"},

    {IN_NOISE_DISCRETE_GAUSSIAN, "sigma", DECIMAL, 0, 0.5, 60000, NULL, MUST, "of each server's own noise, since the other one may leave its out; at most three digits behind the point"},

    {IN_AGGREGATION_FLAMINGO, "server", NAME, 0, 1, 128, NULL, MUST, "who adds up"},
    {IN_AGGREGATION_FLAMINGO, "log", NAME, 0, 1, 128, NULL, MUST, "where rounds are published"},
    {IN_AGGREGATION_FLAMINGO, "beacon", NAME, 0, 1, 128, NULL, MUST, "who draws devices in public"},
    {IN_AGGREGATION_FLAMINGO, "ring", CHOICE, 0, 0, 0, "z32|z64", MUST, "that sums are in"},
    {IN_AGGREGATION_FLAMINGO, "corrupt", NUMBER, 0, 0, 0.5, NULL, MUST, "share of devices that may lie"},
    {IN_AGGREGATION_FLAMINGO, "dropout", NUMBER, 0, 0, 0.5, NULL, MUST, "share that may drop out"},
    {IN_AGGREGATION_FLAMINGO, "decryptors", OBJECT, 0, 0, 0, "decryptors", MUST, "who unmask sums"},
    {IN_AGGREGATION_FLAMINGO, "graph", OBJECT, 0, 0, 0, "graph", MUST, "who masks with whom"},
    {IN_AGGREGATION_FLAMINGO, "prg", CHOICE, 0, 0, 0, "aes-256-ctr", MUST, "that makes masks"},

    {IN_DECRYPTORS, "count", WHOLE, 0, 1, 1e6, NULL, MUST, "how many"},
    {IN_DECRYPTORS, "dropout", NUMBER, 0, 0, 0.5, NULL, MUST, "share that may drop out"},
    {IN_DECRYPTORS, "epoch_rounds", WHOLE, 0, 1, 1e6, NULL, MUST, "rounds that they serve"},

    {IN_GRAPH, "degree", WHOLE, 0, 1, 1e6, NULL, MUST, "neighbours that are expected"},
    {IN_GRAPH, "neighbours", WHOLE, 0, 1, 1e6, NULL, MUST, "neighbours that must stay"},

    {IN_AGGREGATION_AERO, "server", NAME, 0, 1, 128, NULL, MUST, "who adds up"},
    {IN_AGGREGATION_AERO, "log", NAME, 0, 1, 128, NULL, MUST, "where rounds are published"},
    {IN_AGGREGATION_AERO, "beacon", NAME, 0, 1, 128, NULL, MUST, "who draws devices in public"},
    {IN_AGGREGATION_AERO, "devices", OBJECT, 0, 0, 0, "devices", MUST, "how many there are"},
    {IN_AGGREGATION_AERO, "corrupt", NUMBER, 0, 0, 0.5, NULL, MUST, "share of devices that may lie"},
    {IN_AGGREGATION_AERO, "offline", NUMBER, 0, 0, 0.5, NULL, MUST, "share that may drop out"},
    {IN_AGGREGATION_AERO, "parameters", NAME, 0, 1, 128, NULL, MUST, "of the encryption, by name"},
    {IN_AGGREGATION_AERO, "bits", WHOLE, 0, 1, 64, NULL, MUST, "of a value"},
    {IN_AGGREGATION_AERO, "committee", OBJECT, 0, 0, 0, "committee", MUST, "who decrypt sums"},
    {IN_AGGREGATION_AERO, "noise", OBJECT, 0, 0, 0, "noise-committee", MUST, "who add noise"},
    {IN_AGGREGATION_AERO, "checks", WHOLE, 0, 1, 1e6, NULL, MUST, "leaves that a device checks"},
    {IN_AGGREGATION_AERO, "proof", OBJECT, 0, 0, 0, "proof", MUST, "of a contribution"},
    {IN_AGGREGATION_AERO, "rekey", CHOICE, 0, 0, 0, "round", MUST, "when keys are new"},

    {IN_DEVICES, "least", WHOLE, 0, 1, 1e11, NULL, MUST, "how many"},
    {IN_DEVICES, "most", WHOLE, 0, 1, 1e11, NULL, MUST, "how many"},

    {IN_COMMITTEE, "size", WHOLE, 0, 1, 1e6, NULL, MUST, "how many"},
    {IN_COMMITTEE, "corrupt", WHOLE, 0, 0, 1e6, NULL, MUST, "how many may lie"},
    {IN_COMMITTEE, "count", WHOLE, 0, 1, 1e6, NULL, MUST, "how many committees"},

    {IN_NOISE_COMMITTEE, "size", WHOLE, 0, 1, 1e6, NULL, MUST, "how many"},
    {IN_NOISE_COMMITTEE, "corrupt", WHOLE, 0, 0, 1e6, NULL, MUST, "how many may lie"},
    {IN_NOISE_COMMITTEE, "missing", WHOLE, 0, 0, 1e6, NULL, MUST, "how many may drop out"},

    {IN_PROOF, "queries", WHOLE, 0, 1, 1e6, NULL, MUST, "how many"},
    {IN_PROOF, "grind", WHOLE, 0, 0, 64, NULL, MUST, "bits of work"},
    {IN_PROOF, "group", WHOLE, 0, 1, 1e6, NULL, MUST, "contributions for each"},

    {IN_ANONYMITY, "relay", NAME, 0, 1, 128, NULL, MAY, "a party of that role, through which devices send: it sees who, not what"},
    {IN_ANONYMITY, "gateway", NAME, 0, 1, 128, NULL, MAY, "a party of that role, which opens what the relay forwards: it sees what is sealed, not who. Goes with `relay`"},
    {IN_ANONYMITY, "tokens", CHOICE, 0, 0, 0, "type-2|arc", MAY, "each report carries an anonymous token, one for each device and collection; servers reject reports without one"},
    {IN_ANONYMITY, "attester", NAME, 0, 1, 128, NULL, MAY, "a party of that role, which knows the devices. Goes with tokens of type 2"},
    {IN_ANONYMITY, "issuer", NAME, 0, 1, 128, NULL, MAY, "a party of that role, which signs tokens. Goes with tokens of type 2"},
    {IN_ANONYMITY, "log", NAME, 0, 1, 128, NULL, MAY, "a log of the policy, which the recipe must be on"},

    {IN_SCHEDULE, "opens", TIME, 0, 0, 0, NULL, MUST, "no report before; a multiple of the precision"},
    {IN_SCHEDULE, "closes", TIME, 0, 0, 0, NULL, MUST, "no report after; a multiple of the precision"},
    {IN_SCHEDULE, "precision", DURATION, 0, 0, 0, NULL, "\"1h\"", "times of reports are rounded down to this, so that they tell little"},

    {IN_POLICY, "policy", NAME, 0, 1, 128, NULL, MUST, "names this policy"},
    {IN_POLICY, "version", WHOLE, 0, 1, 1e9, NULL, MUST, "grows with every change; what was spent stays spent"},
    {IN_POLICY, "analyses", OBJECT, 0, 0, 0, "analyses", MUST, "all that this device will ever answer"},
    {IN_POLICY, "fields", OBJECT, 0, 0, 0, "fields", MUST, "all that may ever be read, and what each may cost, whoever asks"},
    {IN_POLICY, "composition", CHOICE, 0, 0, 0, "basic|filter|zcdp", "\"basic\"", "how spends add up: as a sum, by a filter for adaptive spending, or by one for zCDP. The last allows a quarter to a half more small spends than the other filter. Both take half of each delta"},
    {IN_POLICY, "period_days", WHOLE, 0, 0, 3660, NULL, "0", "after which budgets are new; 0: never"},
    {IN_POLICY, "non_sensitive", LIST, NAME, 0, 1000, NULL, "[]", "fields that cohorts and targeting may use (`locale`), and of those read, the ones no budget is kept for (`stream.field`)"},
    {IN_POLICY, "min_cohort", WHOLE, 0, 10, 1e9, NULL, MUST, "no recipe may release below this"},
    {IN_POLICY, "honest", DECIMAL, 0, 0.01, 1, NULL, MUST, "share of a cohort that is taken to be honest: those protect each other"},
    {IN_POLICY, "report_bytes", WHOLE, 0, 100, 1e9, NULL, "1048576", "bytes that one report may have; a recipe whose reports have more is refused"},
    {IN_POLICY, "trusts", LIST, CHOICE, 1, 3, NULL, "[\"split\"]", "ways to add up that are allowed"},
    {IN_POLICY, "targeting_rate", NUMBER, 0, 1e-9, 1, NULL, "1", "largest chance to take part in a recipe with `targeting`: below 1, the number of reports does not tell whether one more device met the target"},
    {IN_POLICY, "silence", FLAG, 0, 0, 0, NULL, "false", "whether a recipe may ask a device without a value to say nothing, which tells something"},
    {IN_POLICY, "logs", OBJECT, 0, 0, 0, "logs", "{}", "public logs. If there is one, recipes, signed parties files and lists of issuers' keys are taken from these logs alone"},
    {IN_POLICY, "issuers", OBJECT, 0, 0, 0, "keys", "{}", "public keys of the issuers of tokens"},
    {IN_POLICY, "parties_keys", OBJECT, 0, 0, 0, "keys", "{}", "Ed25519 keys of those who may replace the parties file by one that they signed (`sotto parties key`)"},
    {IN_POLICY, "parties_signatures", WHOLE, 0, 1, 8, NULL, MAY, "how many of `parties_keys` must have signed such a file; all of them, if not given"},

    {IN_ANALYSES, "*", OBJECT, 0, 0, 0, "analysis", MAY, "one analysis, by its name"},

    {IN_ANALYSIS, "epsilon", DECIMAL, 0, 0, 1e6, NULL, MUST, "of all its answers together"},
    {IN_ANALYSIS, "delta", DECIMAL, 0, 0, 1, NULL, MUST, "the same"},
    {IN_ANALYSIS, "reports", WHOLE, 0, 0, 1e9, NULL, MUST, "that a device may send"},
    {IN_ANALYSIS, "queries", LIST, QUERY, 0, 1000, NULL, "[]", "queries that may be asked, byte for byte; none: whatever reads these fields only"},
    {IN_ANALYSIS, "fields", LIST, FIELD, 0, 1000, NULL, MUST, "what it may read, of the policy's fields"},
    {IN_ANALYSIS, "non_sensitive", LIST, NAME, 0, 1000, NULL, MAY, "for this analysis, in place of the policy's non_sensitive; left out: the policy's"},

    {IN_FIELDS, "*", OBJECT, 0, 0, 0, "field", MAY, "`stream.field`; `stream.*` is that a row exists, as count(*) reads it"},

    {IN_FIELD, "epsilon_local", DECIMAL, 0, 0, 1e6, NULL, MUST, "of any one report that reads it, if one value is replaced by another"},
    {IN_FIELD, "epsilon", DECIMAL, 0, 0, 1e6, NULL, MUST, "of all answers that read it together"},
    {IN_FIELD, "delta", DECIMAL, 0, 0, 1, NULL, MUST, "the same"},
    {IN_FIELD, "reports", WHOLE, 0, 0, 1e9, NULL, MUST, "that may read it"},

    {IN_LOGS, "*", OBJECT, 0, 0, 0, "log", MAY, "one log, by the name that recipes use"},

    {IN_LOG, "key", TEXT, 0, 1, 512, NULL, MUST, "its public key, as `sotto log key` prints it"},
    {IN_LOG, "witnesses", LIST, TEXT, 0, 16, NULL, "[]", "public keys of witnesses, as `sotto log key --cosigns` prints them"},
    {IN_LOG, "quorum", WHOLE, 0, 1, 16, NULL, MAY, "how many witnesses must have cosigned a tree; all of them, if not given"},
    {IN_LOG, "feed", TEXT, 0, 1, 1024, NULL, MAY, "URL of its feed (`sotto log feed`), which devices fetch once a day through the relay; not given: the application brings it"},

    {IN_KEYS, "*", HEX, 0, 16, 1024, NULL, MAY, "a public key, by its name"},

    {IN_PARTIES, "*", OBJECT, 0, 0, 0, "party", MAY, "one party, by the name recipes use"},

    {IN_PARTY, "role", CHOICE, 0, 0, 0, "leader|helper|collector|relay|gateway", MUST, "what it does. Where a relay and a gateway are named, devices send everything through them"},
    {IN_PARTY, "url", TEXT, 0, 1, 1024, NULL, MAY, "of all but a collector, byte for byte as all parties must have it; of a relay, where requests for the gateway are posted"},
    {IN_PARTY, "hpke", LIST, OBJECT, 1, 16, "hpke", MAY, "of all but a relay, which has none: keys to seal to; of those in use, the one with the latest `from` is used"},

    {IN_HPKE, "config", HEX, 0, 8, 1024, NULL, MUST, "an HpkeConfig as DAP encodes it"},
    {IN_HPKE, "from", TIME, 0, 0, 0, NULL, MUST, "not used before"},
    {IN_HPKE, "until", TIME, 0, 0, 0, NULL, MUST, "not used after"},
    {IN_HPKE, "next", TIME, 0, 0, 0, NULL, MAY, "no key that this file lacks is used before; a recipe that needs later ones waits for a newer file"},

    {IN_STREAMS, "*", OBJECT, 0, 0, 0, "stream", MAY, "one stream, by its name: what a query selects from"},

    {IN_STREAM, "fields", OBJECT, 0, 0, 0, "types", MUST, "what every event of it has, 1 to 64; once the stream is there they never change"},
    {IN_STREAM, "max_age", DURATION, 0, 0, 0, NULL, MUST, "older events are erased"},
    {IN_STREAM, "max_rows", WHOLE, 0, 1, 1e15, NULL, MUST, "events that are kept, the newest"},

    {IN_TYPES, "*", CHOICE, 0, 0, 0, "integer|real|text|boolean", MAY, "a field, by its name, and the type of its values, any of which may be null"},
};
/* clang-format on */
const size_t sotto_schema_count = sizeof sotto_schema / sizeof sotto_schema[0];

const sotto_schema_object sotto_schema_objects[] = {
    [IN_RECIPE] = {"recipe", "A recipe",
                   "One question: what is asked of whom, how it is protected, who adds up."},
    [IN_COHORTS] = {"cohorts", "cohorts",
                    "Keys are fields that the policy lists as non-sensitive."},
    [IN_TARGETING] =
        {"targeting", "targeting",
         "Keys are fields that the policy lists as non-sensitive; all of them must match."},
    [IN_INTERVAL_BEGINNING] = {"interval.since-beginning", "interval: since-beginning",
                               "All events that the device still has."},
    [IN_INTERVAL_LAST] =
        {"interval.last", "interval: last",
         "Events of the last hours or days. The query reads `event_time` of every stream that it "
         "reads: the policy must allow that, and it is paid for."},
    [IN_INTERVAL_ANSWER] =
        {"interval.since-last-answer", "interval: since-last-answer",
         "Events since this device's last report of the same analysis; without one, all. It reads "
         "`event_time` like `last`."},
    [IN_ENCODE] = {"encode", "encode",
                   "Keys are the query's columns. At most 1,000,000 bins in all."},
    [IN_ENCODE_BUCKETS] = {"encode.buckets", "encode: buckets", "Numbers by boundaries."},
    [IN_ENCODE_CATEGORIES] = {"encode.categories", "encode: categories",
                              "Texts, or whole numbers written as texts."},
    [IN_ENCODE_BOOLEAN] = {"encode.boolean", "encode: boolean",
                           "Two bins: false is 0, true is anything else."},
    [IN_ENCODE_INTEGER] = {"encode.integer", "encode: integer", "Whole numbers, clipped."},
    [IN_ENCODE_REAL] = {"encode.real", "encode: real", "Numbers in fixed point, clipped."},
    [IN_ENCODE_PREFIX_TREE] = {"encode.prefix-tree", "encode: prefix-tree",
                               "Phrases that continue known ones by a word."},
    [IN_ENCODE_HASHED_PREFIXES] =
        {"encode.hashed-prefixes", "encode: hashed-prefixes",
         "Like prefix-tree, with hashes of its phrases in their place. They are shorter than most "
         "phrases, and not readable. Who guesses a phrase can still find out whether it is there. "
         "Labels have the hash; who made the list knows the phrase. One makes a hash by `printf "
         "'%s\\n%s' \"$salt\" \"$phrase\" | sha256sum | cut -c1-16`. That a phrase outside a list "
         "of a million has the hash of one in it has a chance of 1 in 10^13."},
    [IN_TREE] = {"tree", "encode: prefix-tree: tree", "Keys are phrases; `root` is the empty one."},
    [IN_RANDOMIZER_ONE_HOT] = {"randomizer.one-hot", "randomizer: one-hot",
                               "A bit for each bin, each drawn by itself."},
    [IN_RANDOMIZER_CHOICE] = {"randomizer.choice", "randomizer: choice",
                              "The bin itself, or any other."},
    [IN_RANDOMIZER_SUBSET] = {"randomizer.subset", "randomizer: subset",
                              "Some of the bins, the right one more likely."},
    [IN_PARTICIPATION_POISSON] = {"participation.poisson", "participation: poisson",
                                  "Every device draws by itself."},
    [IN_PARTICIPATION_CHECK_IN] = {"participation.check-in", "participation: check-in",
                                   "A random slot of a window, drawn once for the whole analysis."},
    [IN_PARTICIPATION_DONATION] =
        {"participation.donation", "participation: donation",
         "The first head of several coins is the slot, drawn once for the whole analysis."},
    [IN_PARTICIPATION_IMPORTANCE] =
        {"participation.importance", "participation: importance",
         "Rare values are more likely to be sent. Priced, but refused unless nobody sees who takes "
         "part."},
    [IN_PRIVACY] = {"privacy", "privacy", "`sotto recipe lint` recomputes each of these."},
    [IN_AGGREGATION_SPLIT] =
        {"aggregation.split", "aggregation: split",
         "Two servers, of whom one must be honest. Names are those of the parties file."},
    [IN_NOISE_DISCRETE_GAUSSIAN] =
        {"noise.discrete-gaussian", "aggregation: noise: discrete-gaussian",
         "Whole numbers x with a chance in proportion to exp(-x^2 / (2 sigma^2))."},
    [IN_AGGREGATION_FLAMINGO] = {"aggregation.flamingo", "aggregation: flamingo",
                                 "One server, masks. Read, and refused: not yet."},
    [IN_DECRYPTORS] = {"decryptors", "aggregation: flamingo: decryptors", "Drawn devices."},
    [IN_GRAPH] = {"graph", "aggregation: flamingo: graph", "Drawn pairs."},
    [IN_AGGREGATION_AERO] = {"aggregation.aero", "aggregation: aero",
                             "One server, encrypted sums. Read, and refused: not yet."},
    [IN_DEVICES] = {"devices", "aggregation: aero: devices", "In all."},
    [IN_COMMITTEE] = {"committee", "aggregation: aero: committee", "Drawn devices."},
    [IN_NOISE_COMMITTEE] = {"noise-committee", "aggregation: aero: noise", "Drawn devices."},
    [IN_PROOF] = {"proof", "aggregation: aero: proof", "That inputs are valid."},
    [IN_ANONYMITY] = {"anonymity", "anonymity",
                      "Devices that can't do what is asked for here stay silent. With none of it "
                      "servers see who "
                      "sends, and one device can send many reports."},
    [IN_SCHEDULE] = {"schedule", "schedule", "Times are in UTC."},
    [IN_POLICY] = {"policy", "A policy",
                   "What a device will ever allow. It comes with the host application; no recipe "
                   "can widen it."},
    [IN_ANALYSES] = {"analyses", "analyses", "Keys are names of analyses."},
    [IN_ANALYSIS] = {"analysis", "analyses: one", "Its budget, and what it may read."},
    [IN_FIELDS] = {"fields", "fields", "Keys are `stream.field`."},
    [IN_FIELD] = {"field", "fields: one", "What one field may cost, over all analyses together."},
    [IN_LOGS] = {"logs", "logs", "Keys are names, as `anonymity.log` of a recipe has them."},
    [IN_LOG] = {"log", "logs: one", "Whose signatures make a tree of the log one to believe."},
    [IN_KEYS] = {"keys", "issuers and parties_keys", "Keys are names."},
    [IN_PARTIES] = {"parties", "Parties", "Who adds up, by name."},
    [IN_PARTY] = {"party", "parties: one",
                  "Part of what a device trusts: it never takes this from a server."},
    [IN_HPKE] = {"hpke", "parties: hpke", "One key and when it is used."},
    [IN_STREAMS] = {"streams", "Streams",
                    "What events look like, for `sotto device` and `sotto recipe lint --streams` "
                    "(streams.json); an application says the same in C, as sotto_stream and "
                    "sotto_field. A name has up to 63 of the characters a-z 0-9 _, starts with a "
                    "letter, not with sotto_ or sqlite_. It is none of rowid, oid, event_id and "
                    "event_time: the last two are fields of every stream."},
    [IN_STREAM] = {"stream", "streams: one",
                   "Events are rows of it, which never leave the device."},
    [IN_TYPES] = {"types", "streams: fields",
                  "In the order in which the library takes an event's values."},
};
const size_t sotto_schema_object_count =
    sizeof sotto_schema_objects / sizeof sotto_schema_objects[0];
