/* recipe/model.h - recipes, policies and parties as plain values, once read.
 *
 * Callers:  this room; device/, which turns a policy into its verifier's and ledger's own tables.
 * Memory:   all of it lives in the arena that the file was read into.
 */
#ifndef SOTTO_RECIPE_MODEL_H
#define SOTTO_RECIPE_MODEL_H

#include "account/budget_decision.h"
#include "noise/randomizer.h"
#include "sotto/privacy.h"
#include "sotto/recipe.h"
#include "tlog/checkpoint.h"

/* ---- encoding --------------------------------------------------------------------------------------- */

/* Texts in their order, and an index that finds them. */
typedef struct sotto_words {
    const char **items;
    uint32_t *sorted; /* positions in items, by text */
    size_t count;
} sotto_words;

typedef enum sotto_encoder_type {
    SOTTO_ENCODER_BUCKETS = 1,
    SOTTO_ENCODER_CATEGORIES,
    SOTTO_ENCODER_BOOLEAN,
    SOTTO_ENCODER_INTEGER,
    SOTTO_ENCODER_REAL,
    SOTTO_ENCODER_PREFIX_TREE
} sotto_encoder_type;

typedef enum sotto_outside {
    SOTTO_OUTSIDE_OOV,
    SOTTO_OUTSIDE_BUCKET,
    SOTTO_OUTSIDE_CLIP
} sotto_outside;

/* Nodes in breadth-first order: node 0 is the root; children of a node stand together, as the recipe lists them. */
typedef struct sotto_tree_node {
    const char *phrase;    /* all words from the root, with spaces      */
    uint32_t word;         /* offset of the last of them in phrase      */
    uint32_t first, count; /* children                                  */
    uint32_t leaf;         /* position among the leaves; of a leaf only */
} sotto_tree_node;

typedef struct sotto_encoder {
    const char *column;
    sotto_encoder_type type;
    uint64_t bins;
    bool oov; /* bin 0 is <oov> */
    union {
        struct {
            const double *boundaries;
            size_t count;
            sotto_outside underflow, overflow;
        } buckets;
        sotto_words categories;
        struct {
            int64_t min, max, step;
        } integer;
        struct {
            double min, max;
            unsigned fraction_bits;
        } real;
        struct {
            const sotto_tree_node *nodes;
            const uint32_t *sorted; /* nodes; siblings, which stand together here too, by word */
            size_t node_count;
            const uint32_t *leaves; /* nodes */
            size_t leaf_count;
            sotto_words tokens;
            bool end;
            sotto_words hashes; /* in place of nodes: of the leaves' phrases, 16 digits each */
            const char *salt;   /* NULL: the phrases themselves are known */
            size_t words;       /* of every phrase */
        } tree;
    } as;
} sotto_encoder;

enum { SOTTO_MAX_ENCODERS = 16, SOTTO_MAX_COHORT_FIELDS = 8, SOTTO_MAX_TASKS = 10000 };

/* The bin is that of the first encoder times the bins of the second, plus that of the second, and so on. */
typedef struct sotto_encoding {
    sotto_encoder encoders[SOTTO_MAX_ENCODERS];
    size_t count;
    uint64_t bins;
} sotto_encoding;

/* ---- the recipe ------------------------------------------------------------------------------------- */

/* A field and the values of it that the recipe lists. */
typedef struct sotto_listed {
    const char *field;
    const char *const *values;
    size_t count;
} sotto_listed;

typedef enum sotto_pick {
    SOTTO_PICK_ONE_AT_RANDOM,
    SOTTO_PICK_FIRST,
    SOTTO_PICK_MATCHING_AT_RANDOM
} sotto_pick;
/* Which events the query sees. */
typedef enum sotto_interval {
    SOTTO_INTERVAL_SINCE_BEGINNING,
    SOTTO_INTERVAL_LAST,
    SOTTO_INTERVAL_SINCE_LAST_ANSWER
} sotto_interval;
typedef enum sotto_no_match {
    SOTTO_NO_MATCH_NO_VALUE,
    SOTTO_NO_MATCH_OOV,
    SOTTO_NO_MATCH_RANDOM_BIN,
    SOTTO_NO_MATCH_SILENCE
} sotto_no_match;

typedef enum sotto_participation_type {
    SOTTO_POISSON = 1,
    SOTTO_CHECK_IN_FIXED_WINDOW,
    SOTTO_CHECK_IN_AVERAGED_WINDOW,
    SOTTO_CHECK_IN_SLIDING_WINDOW,
    SOTTO_DONATION,
    SOTTO_IMPORTANCE
} sotto_participation_type;

typedef struct sotto_participation {
    sotto_participation_type type;
    double
        rate; /* poisson, donation; of a fixed check-in, its probability; importance: default's */
    double rate_other;    /* importance */
    double default_share; /* importance: of the devices, how many have the default value */
    uint64_t default_bin; /* importance; SOTTO_NO_VALUE: having no value is the default */
    uint64_t slots;       /* check-in: the window; donation; 0: there are none */
    int64_t start;        /* of the first slot */
    uint64_t length;      /* of a slot, in seconds */
    uint64_t available;   /* seconds that a device usually stays ready */
    bool of_rounds;       /* slots are of rounds of learning, which have prices of their own */
} sotto_participation;

typedef enum sotto_token_kind {
    SOTTO_TOKENS_NONE,
    SOTTO_TOKENS_TYPE_2, /* blind RSA, RFC 9578; a key for each collection */
    SOTTO_TOKENS_ARC     /* one credential, one presentation for each collection */
} sotto_token_kind;

/* What hides who takes part; what is not asked for is NULL or none. */
typedef struct sotto_anonymity {
    const char *relay, *gateway; /* both or none */
    sotto_token_kind tokens;
    const char *attester; /* of tokens */
    const char *issuer;   /* of tokens of type 2; of ARC leader and helper are the issuers */
    const char *log;
    bool assumed; /* by a simulation, which has none of them; no recipe's text says it */
} sotto_anonymity;

/* An earlier release that counted devices of the target: recipe/target.h. */
typedef struct sotto_named_release {
    sotto_bytes
        recipe; /* SHA-256 of the recipe that was released; empty: the recipe names no release */
    sotto_bytes bundle; /* of its entry in a log */
} sotto_named_release;

struct sotto_recipe {
    uint8_t hash[SOTTO_RECIPE_HASH_SIZE];
    sotto_bytes text; /* the published bytes, a copy */
    const char *name;
    uint64_t version;
    const char *analysis;
    const char *description;
    const char *query;
    sotto_pick pick;
    sotto_interval interval;
    uint64_t last; /* of SOTTO_INTERVAL_LAST: seconds */
    sotto_listed cohorts[SOTTO_MAX_COHORT_FIELDS];
    size_t cohort_count;
    sotto_listed targeting[SOTTO_MAX_COHORT_FIELDS];
    size_t targeting_count;
    sotto_named_release release; /* that targeting rests on */
    sotto_statistic statistic;
    sotto_encoding encoding;          /* of a count: no encoder, and one bin */
    sotto_randomizer_kind randomizer; /* by SOTTO_BY_CROWD alone; else 0, as is epsilon_local */
    sotto_decimal epsilon_local;
    sotto_participation participation;
    sotto_adjacency adjacency;
    sotto_decimal epsilon, delta; /* of the cohort: what the ledger charges */
    uint64_t min_cohort;
    sotto_noise_source by;
    uint32_t
        sigma_milli; /* 1000 sigma: by servers, of each one's noise; by shares, of all honest devices' together */
    sotto_decimal honest; /* by shares: the part of min_cohort that sigma is divided among */
    sotto_trust trust;
    const char *leader, *helper;
    const char *collector; /* may be NULL */
    unsigned batch_mode;   /* as DAP numbers them */
    sotto_anonymity anonymity;
    int64_t opens, closes;
    uint64_t precision;
    uint64_t population;
    sotto_no_match on_no_match;
    double dummies;
};

/* ---- the policy ------------------------------------------------------------------------------------- */

/* `stream` is "" for a field of the device itself, such as its locale. */
typedef struct sotto_policy_name {
    const char *stream;
    const char *field; /* "*" is that a row exists */
} sotto_policy_name;

/* What a field may cost, over all analyses together: what was revealed of it does not depend on who
 * asked. */
typedef struct sotto_policy_field {
    const char *stream;
    const char *field; /* "*" is that a row exists */
    unsigned by;       /* bit s: sotto_noise_source s is allowed */
    bool local_none;   /* reports without local protection are allowed: epsilon_local is "none" */
    sotto_decimal epsilon_local, epsilon, delta;
    uint64_t reports;
} sotto_policy_field;

typedef struct sotto_policy_analysis {
    const char *name;
    sotto_decimal epsilon, delta;
    uint64_t reports;
    const sotto_bytes *queries; /* none: any query over the fields */
    size_t query_count;
    const sotto_policy_name *fields; /* that it may read */
    size_t field_count;
    const sotto_policy_name *non_sensitive; /* its own, or else the policy's */
    size_t non_sensitive_count;
} sotto_policy_analysis;

typedef struct sotto_policy_key {
    const char *name;
    sotto_bytes key;
} sotto_policy_key;

/* A log that a device trusts, if enough of its witnesses cosigned. */
typedef struct sotto_policy_log {
    const char *name; /* as recipes use it */
    sotto_note_key key;
    sotto_log_trust trust; /* log: &key */
    const char *const *
        urls; /* of its witnesses, where they take records of rounds; NULL: the policy names none */
    const char *feed;   /* URL; NULL: the host brings it */
    int64_t fresh_days; /* that a cosignature is believed to be of the last tree */
} sotto_policy_log;

struct sotto_policy {
    uint8_t hash[SOTTO_RECIPE_HASH_SIZE];
    const char *name;
    uint64_t version;
    const sotto_policy_analysis *analyses;
    size_t analysis_count;
    const sotto_policy_field *fields;
    size_t field_count;
    sotto_composition composition;
    uint64_t period_days; /* 0: budgets are never new                */
    const sotto_policy_name *non_sensitive;
    size_t non_sensitive_count;
    uint64_t min_cohort;
    uint64_t report_bytes; /* of one report, at most */
    sotto_decimal honest;  /* share of a cohort */
    unsigned trusts;       /* bit t: sotto_trust t is allowed */
    double targeting_rate; /* of recipes that ask some devices alone, at most */
    bool targets;          /* such recipes are answered at all */
    uint64_t
        targeting_floor; /* honest devices that a logged release must have counted; 0: none is asked for */
    bool silence;
    bool when_hidden;             /* secret samples of learning recipes are charged as such */
    bool correlated;              /* servers' noise may be correlated over rounds */
    const sotto_policy_log *logs; /* none: recipes are taken from whoever brings them */
    size_t log_count;
    const sotto_policy_key *issuers;
    size_t issuer_count;
    const sotto_policy_key *parties_keys; /* Ed25519, of those who may replace the parties file */
    size_t parties_key_count;
    size_t parties_signatures; /* how many of them must have signed; 0: there are none */
};

bool sotto_policy_issuer_named(const sotto_policy *policy, const char *name);
/* The log that a signed checkpoint says it is of. Nothing is proved by it. NULL: the policy names no such log. */
const sotto_policy_log *sotto_policy_log_of(const sotto_policy *policy,
                                            sotto_checkpoint *checkpoint, sotto_bytes signed_note);
/* NULL: the policy names no such log. */
const sotto_policy_log *sotto_policy_log_named(const sotto_policy *policy, const char *name);
/* NULL: the policy doesn't know it. */
const sotto_policy_analysis *sotto_policy_find(const sotto_policy *policy, const char *analysis);
/* Whether recipes of this analysis may use the device's own field of this name for cohorts and targeting. */
bool sotto_policy_non_sensitive(const sotto_policy *policy, const char *analysis,
                                const char *field);

/* ---- parties ---------------------------------------------------------------------------------------- */

typedef enum sotto_party_role {
    SOTTO_PARTY_LEADER,
    SOTTO_PARTY_HELPER,
    SOTTO_PARTY_COLLECTOR,
    SOTTO_PARTY_RELAY,    /* url: where encapsulated requests are posted   */
    SOTTO_PARTY_GATEWAY,  /* keys: of the gateway behind it                */
    SOTTO_PARTY_ATTESTER, /* url: where devices ask for tokens             */
    SOTTO_PARTY_ISSUER    /* its keys are on a list: recipe/listed_keys.h   */
} sotto_party_role;

typedef struct sotto_party_key {
    sotto_bytes config; /* an encoded HpkeConfig */
    int64_t from, until;
    int64_t next; /* no key that the file lacks is used before this; 0: it does not say */
} sotto_party_key;

typedef struct sotto_party_entry {
    const char *name;
    sotto_party_role role;
    sotto_bytes url; /* empty for a collector */
    const sotto_party_key *keys;
    size_t key_count;
} sotto_party_entry;

struct sotto_parties {
    const sotto_party_entry *entries;
    size_t count;
};

/* NULL: there is none of this name. */
const sotto_party_entry *sotto_parties_find(const sotto_parties *parties, const char *name);
/* The key that everybody seals to at this time, and the only function that chooses one. Of the keys that are in use then
 * and whose suite we know, it is the one with the latest `from`; of several with the same, the first listed. NULL: none. */
const sotto_party_key *sotto_party_key_at(const sotto_party_entry *party, int64_t time);
/* Whether it is in use at any moment from `first` to `last`, both included. */
bool sotto_party_key_used(const sotto_party_key *key, int64_t first, int64_t last);

/* Until when the file names every key of the party; 0: it does not say. */
int64_t sotto_party_known_until(const sotto_party_entry *party);

/* Seconds after a recipe closed during which devices still send its reports, and may seal a half to another key. A task
 * commits to its servers' keys until then, and each server checks those under its own name until then. */
enum { SOTTO_SEAL_GRACE = 7 * 86400 };

/* SHA-256 over both servers' names, URLs and every key in use from `first` to `last`. The order of keys in the file
 * changes nothing. */
enum { SOTTO_PARTIES_DIGEST = 32 };
void sotto_parties_digest(uint8_t out[SOTTO_PARTIES_DIGEST], const sotto_party_entry *leader,
                          const sotto_party_entry *helper, int64_t first, int64_t last);

#endif
