/* Every object and key of recipes, policies, parties and streams, a row each. Not a header that stands alone:
 * schema_table.c takes the structure from it, schema_help.c the titles and sentences, which devices do not link. Each
 * defines OBJECT_ROW and KEY_ROW before it includes this.
 *
 * Rows of one object stand together; "*" is its last.
 */
/* clang-format off */

/* In the order of the reference: object, name, title, help. */
OBJECT_ROW(IN_RECIPE, "recipe", "A recipe", "One question: what is asked of whom, how it is protected, who adds up.")
OBJECT_ROW(IN_COHORTS, "cohorts", "cohorts", "Keys are fields that the policy lists as non-sensitive.")
OBJECT_ROW(IN_TARGETING, "targeting", "targeting", "Keys are fields that the policy lists as non-sensitive; all of them must match.")
OBJECT_ROW(IN_RELEASE, "release", "release", "An entry of a log: an earlier answer, split by the fields of `targeting`, counted so many devices of the target. `sotto log publish` makes it of what `sotto collect --json` printed.")
OBJECT_ROW(IN_INTERVAL_BEGINNING, "interval.since-beginning", "interval: since-beginning", "All events that the device still has.")
OBJECT_ROW(IN_INTERVAL_LAST, "interval.last", "interval: last", "Events of the last hours or days. The query reads `event_time` of every stream that it reads: the policy must allow that, and it is paid for.")
OBJECT_ROW(IN_INTERVAL_ANSWER, "interval.since-last-answer", "interval: since-last-answer", "Events since this device's last report of the same analysis; without one, all. It reads `event_time` like `last`.")
OBJECT_ROW(IN_ENCODE, "encode", "encode", "Keys are the query's columns. At most 1,000,000 bins in all.")
OBJECT_ROW(IN_ENCODE_BUCKETS, "encode.buckets", "encode: buckets", "Numbers by boundaries.")
OBJECT_ROW(IN_ENCODE_CATEGORIES, "encode.categories", "encode: categories", "Texts, or whole numbers written as texts.")
OBJECT_ROW(IN_ENCODE_BOOLEAN, "encode.boolean", "encode: boolean", "Two bins: false is 0, true is anything else.")
OBJECT_ROW(IN_ENCODE_INTEGER, "encode.integer", "encode: integer", "Whole numbers, clipped.")
OBJECT_ROW(IN_ENCODE_REAL, "encode.real", "encode: real", "Numbers in fixed point, clipped.")
OBJECT_ROW(IN_ENCODE_PREFIX_TREE, "encode.prefix-tree", "encode: prefix-tree", "Phrases that continue known ones by a word.")
OBJECT_ROW(IN_ENCODE_HASHED_PREFIXES, "encode.hashed-prefixes", "encode: hashed-prefixes", "Like prefix-tree, with hashes of its phrases in their place. They are shorter than most phrases, and not readable. Who guesses a phrase can still find out whether it is there. Labels have the hash; who made the list knows the phrase. One makes a hash by `printf '%s\\n%s' \"$salt\" \"$phrase\" | sha256sum | cut -c1-16`. That a phrase outside a list of a million has the hash of one in it has a chance of 1 in 10^13.")
OBJECT_ROW(IN_TREE, "tree", "encode: prefix-tree: tree", "Keys are phrases; `root` is the empty one, `\"root \"` that word.")
OBJECT_ROW(IN_RANDOMIZER_ONE_HOT, "randomizer.one-hot", "randomizer: one-hot", "A bit for each bin, each drawn by itself.")
OBJECT_ROW(IN_RANDOMIZER_BINARY, "randomizer.binary", "randomizer: binary", "For `count`: whether there is a row, or the opposite.")
OBJECT_ROW(IN_RANDOMIZER_CHOICE, "randomizer.choice", "randomizer: choice", "The bin itself, or any other.")
OBJECT_ROW(IN_RANDOMIZER_SUBSET, "randomizer.subset", "randomizer: subset", "Some of the bins, the right one more likely.")
OBJECT_ROW(IN_PARTICIPATION_POISSON, "participation.poisson", "participation: poisson", "Every device draws by itself.")
OBJECT_ROW(IN_PARTICIPATION_CHECK_IN, "participation.check-in", "participation: check-in", "A random slot of a window, drawn once for the whole analysis.")
OBJECT_ROW(IN_PARTICIPATION_DONATION, "participation.donation", "participation: donation", "The first head of several coins is the slot, drawn once for the whole analysis.")
OBJECT_ROW(IN_PARTICIPATION_IMPORTANCE, "participation.importance", "participation: importance", "Rare values are more likely to be sent: a device draws after it has read its value. Silence tells something then, and is paid for like a report. Refused unless `anonymity` has a relay, tokens and a log.")
OBJECT_ROW(IN_PRIVACY, "privacy", "privacy", "`sotto recipe lint` recomputes each of these.")
OBJECT_ROW(IN_AGGREGATION_SPLIT, "aggregation.split", "aggregation: split", "Two servers, of whom one must be honest. Names are those of the parties file.")
OBJECT_ROW(IN_AGGREGATION_FLAMINGO, "aggregation.flamingo", "aggregation: flamingo", "One server, masks. Noise must come by shares.")
OBJECT_ROW(IN_DECRYPTORS, "decryptors", "aggregation: flamingo: decryptors", "Drawn devices.")
OBJECT_ROW(IN_GRAPH, "graph", "aggregation: flamingo: graph", "Drawn pairs.")
OBJECT_ROW(IN_AGGREGATION_AERO, "aggregation.aero", "aggregation: aero", "One server, encrypted sums. Noise must come from a committee, and `participation` is `poisson`: the beacon draws in public.")
OBJECT_ROW(IN_DEVICES, "devices", "aggregation: aero: devices", "In all.")
OBJECT_ROW(IN_COMMITTEE, "committee", "aggregation: aero: committee", "Drawn devices.")
OBJECT_ROW(IN_NOISE_COMMITTEE, "noise-committee", "aggregation: aero: noise", "Drawn devices.")
OBJECT_ROW(IN_PROOF, "proof", "aggregation: aero: proof", "That inputs are valid.")
OBJECT_ROW(IN_ANONYMITY, "anonymity", "anonymity", "Devices that can't do what is asked for here stay silent. With none of it servers see who sends, and one device can send many reports. All of it: `\"anonymity\": {\"relay\": \"relay\", \"gateway\": \"gateway\", \"tokens\": \"type-2\", \"attester\": \"attester\", \"issuer\": \"key:issuer\", \"log\": \"main\"}`. The log's and the issuer's names are the policy's, the others those of the parties file.")
OBJECT_ROW(IN_SCHEDULE, "schedule", "schedule", "Times are in UTC.")
#ifdef SOTTO_LEARNING_ROWS
OBJECT_ROW(IN_LEARNING, "learning", "A learning recipe", "Trains a model in rounds: devices send updates, and only their noisy sum is seen. `learn`, `rounds` and what follows take the place of query, encode and randomizer. Over two servers each round is a DAP task of its own. `sotto recipe lint`, `explain` and `compile` read it. Devices need an application with libsotto-device-full, and a trainer ([device.md](device.md)).")
OBJECT_ROW(IN_LEARN, "learn", "learn", "What is trained, on what, and how.")
OBJECT_ROW(IN_LEARN_MODEL, "learn-model", "learn: model", "An update has one number for each parameter.")
OBJECT_ROW(IN_LEARN_DATA, "learn-data", "learn: data", "The rows that a device trains on.")
OBJECT_ROW(IN_LEARN_LOCAL, "learn-local", "learn: local", "Training on the device (McMahan et al. 2017).")
OBJECT_ROW(IN_LEARN_UPDATE, "learn-update", "learn: update", "How an update becomes whole numbers that can be added up.")
OBJECT_ROW(IN_LEARN_PROJECTION, "learn-projection", "learn: projection", "An update as fewer numbers, by a public matrix of signs that follows from recipe and round (Charikar et al. 2004). A sum is lifted by its transpose. Noise by shares then needs less room in the proof, and a report is shorter. Each lifted number has the noise of a sum, and what parameters that share a number add to each other, which evens out over rounds.")
OBJECT_ROW(IN_LEARN_SERVER, "learn-server", "learn: server", "What is made of a sum: it is computed of the release alone, and costs no privacy.")
OBJECT_ROW(IN_ROUNDS, "rounds", "rounds", "Round t opens at `opens` plus t times `every`. Its task is derived from the logged record of the round, which names recipe, round and model.")
OBJECT_ROW(IN_LEARNING_PRIVACY, "learning-privacy", "privacy of a learning recipe", "`sotto recipe lint` recomputes each of these.")
OBJECT_ROW(IN_CORRELATION_TREE, "correlation.tree", "correlation: tree", "Each server's noise of a round largely cancels with that of later ones, by a binary tree that begins anew (DP-FTRL, Kairouz et al. 2021). Epsilon is for devices that keep `participations` and `separation`, and needs no secret participation. It counts on one server that adds its noise in every round, and keeps that of all rounds secret. Needs `by` servers, participation `poisson` without `on_no_turn` zeros, an optimizer sgd or momentum, and no projection.")
OBJECT_ROW(IN_CORRELATION_BUFFERS, "correlation.buffers", "correlation: buffers", "Each server's noise of a round largely cancels with that of all others, by a matrix of a few buffers (DP-FTRL with a BLT, Dvijotham et al. 2024). It leaves less noise than a tree at the same epsilon. Needs and counts on what a tree does, and each server keeps the seeds of its noise of all rounds until its operator clears the session away. At most 256 `participations`, and 2^25 as the product of `rounds.count` and the numbers of a sum: a release draws the noise of all rounds before it again. `sotto learn buffers` proposes the matrix.")
OBJECT_ROW(IN_CORRELATION_BUFFER, "correlation-buffer", "correlation: buffers: one", "Whole numbers, in multiples of 2^-30. The noise of a round is predicted from that of a round i rounds before by the sum, over all buffers, of weight times decay to the power i - 1. Weights add up to 1 at most, and their sum's square is at most the sum of weights times decays.")
OBJECT_ROW(IN_LEARNING_SPLIT, "learning-adds.split", "aggregation of a learning recipe: split", "Two servers, of whom one must be honest. Names are those of the parties file.")
OBJECT_ROW(IN_LEARNING_FLAMINGO, "learning-adds.flamingo", "aggregation of a learning recipe: flamingo", "One server, masks. Noise must come by shares, nothing is proved of an update, and the server sees who takes part. A round has no DAP task: the server posts it, and its posting names the record of the round.")
OBJECT_ROW(IN_LEARNING_AERO, "learning-adds.aero", "aggregation of a learning recipe: aero", "One server, encrypted sums. Noise must come from a committee, `participation` is `poisson` by the beacon's draw, and every update is proved to be within the norm of an honest one. The server sees who takes part. A round has no DAP task: the server posts it, and its posting names the record of the round.")
OBJECT_ROW(IN_LEARNING_PROOF, "learning-proof", "aggregation of a learning recipe: proof", "What both servers check of an update that neither of them sees.")
#endif
OBJECT_ROW(IN_POLICY, "policy", "A policy", "What a device will ever allow. It comes with the host application; no recipe can widen it.")
OBJECT_ROW(IN_ANALYSES, "analyses", "analyses", "Keys are names of analyses.")
OBJECT_ROW(IN_ANALYSIS, "analysis", "analyses: one", "Its budget, and what it may read.")
OBJECT_ROW(IN_FIELDS, "fields", "fields", "Keys are `stream.field`.")
OBJECT_ROW(IN_FIELD, "field", "fields: one", "What one field may cost, over all analyses together.")
OBJECT_ROW(IN_LOGS, "logs", "logs", "Keys are names, as `anonymity.log` of a recipe has them.")
OBJECT_ROW(IN_LOG, "log", "logs: one", "Whose signatures make a tree of the log one to believe.")
OBJECT_ROW(IN_KEYS, "keys", "issuers and parties_keys", "Keys are names.")
OBJECT_ROW(IN_PARTIES, "parties", "Parties", "Who adds up, by name.")
OBJECT_ROW(IN_PARTY, "party", "parties: one", "Part of what a device trusts: it never takes this from a server.")
OBJECT_ROW(IN_HPKE, "hpke", "parties: hpke", "One key and when it is used.")
OBJECT_ROW(IN_STREAMS, "streams", "Streams", "What events look like, for `sotto device` and `sotto recipe lint --streams` (streams.json); an application says the same in C, as sotto_stream and sotto_field. A name has up to 63 of the characters a-z 0-9 _, starts with a letter, not with sotto_ or sqlite_. It can't be rowid, oid, event_id or event_time: the last two are fields of every stream.")
OBJECT_ROW(IN_STREAM, "stream", "streams: one", "Events are rows of it, which never leave the device.")
OBJECT_ROW(IN_TYPES, "types", "streams: fields", "In the order in which the library takes an event's values.")

/* object, key, type, item, least, most, of, default, help */
KEY_ROW(IN_RECIPE, "recipe", NAME, 0, 1, 64, NULL, MUST, "names this recipe")
KEY_ROW(IN_RECIPE, "version", WHOLE, 0, 1, 1e9, NULL, MUST, "grows with every change; a device never goes back, and answers one version only: to ask again takes another name")
KEY_ROW(IN_RECIPE, "analysis", NAME, 0, 1, 128, NULL, MUST, "the analysis whose budget pays; the policy must know it")
KEY_ROW(IN_RECIPE, "description", TEXT, 0, 0, 1000, NULL, "\"\"", "why this is asked, for the people who are asked")
KEY_ROW(IN_RECIPE, "query", QUERY, 0, 0, 0, NULL, MUST, "one SELECT over the device's streams, without NATURAL, USING or INDEXED BY; lint compiles it as devices do. `encode` names its columns, and lint points out one that it does not name")
KEY_ROW(IN_RECIPE, "pick", CHOICE, 0, 0, 0, "one-at-random|first|one-matching-at-random", "\"one-at-random\"", "which of the query's rows is answered with. A row matches if each of its values has a bin that is not <oov>. Where none matches, one of all rows is drawn. The first row is the first by the ORDER BY of the query; rows that are equal in it are ordered by their values, never by when they were donated")
KEY_ROW(IN_RECIPE, "interval", VARIANT, 0, 0, 0, "interval", MAY, "which events the query sees, by their time; left out: all")
KEY_ROW(IN_RECIPE, "cohorts", OBJECT, 0, 0, 0, "cohorts", "{}", "fields that split the answer: one task for each combination of values")
KEY_ROW(IN_RECIPE, "targeting", OBJECT, 0, 0, 0, "targeting", "{}", "fields that a device must have one of these values in to take part")
KEY_ROW(IN_RECIPE, "release", OBJECT, 0, 0, 0, "release", MAY, "the logged release that `targeting` rests on. Required where the policy has a `targeting_floor` above 0; goes with `targeting`")
KEY_ROW(IN_RECIPE, "statistic", CHOICE, 0, 0, 0, "histogram|count|sum|mean|quantiles", "\"histogram\"", "histogram: devices by bin. count: devices for which the query has a row. sum: of one number of each device. mean: the same for devices that have a number. quantiles: from a histogram of one number")
KEY_ROW(IN_RECIPE, "encode", OBJECT, 0, 0, 0, "encode", MAY, "how a row becomes one of many bins. A count has none. sum, mean and quantiles take one column of type integer or real: numbers are clipped and rounded as it says. For a sum, 0 must be among them, since a device without a number adds 0")
KEY_ROW(IN_RECIPE, "randomizer", VARIANT, 0, 0, 0, "randomizer", MAY, "how the bin is randomised before it leaves the device. Required by crowd, and only there")
KEY_ROW(IN_RECIPE, "participation", VARIANT, 0, 0, 0, "participation", MUST, "who answers, and when")
KEY_ROW(IN_RECIPE, "privacy", OBJECT, 0, 0, 0, "privacy", MUST, "what is promised to everybody who answers")
KEY_ROW(IN_RECIPE, "aggregation", VARIANT, 0, 0, 0, "aggregation@trust", MUST, "who adds up, and how; only `split` earns amplification by shuffling")
KEY_ROW(IN_RECIPE, "anonymity", OBJECT, 0, 0, 0, "anonymity", "{}", "what hides who takes part. A gain by sampling, check-ins or donations is claimed only with relay, tokens and log")
KEY_ROW(IN_RECIPE, "schedule", OBJECT, 0, 0, 0, "schedule", MUST, "when")
KEY_ROW(IN_RECIPE, "population", WHOLE, 0, 1, 1e11, NULL, MUST, "devices expected to be asked, for planning; servers go by what their operators say (`--population`)")
KEY_ROW(IN_RECIPE, "on_no_match", CHOICE, 0, 0, 0, "no-value|oov|random-bin|silence", "\"no-value\"", "what a device sends that has no row, or whose value has no bin")
KEY_ROW(IN_RECIPE, "dummies", NUMBER, 0, 0, 1, NULL, "0", "chance of a report on \"no value\" by devices that do not take part")
KEY_ROW(IN_RECIPE, "learn", LATER, 0, 0, 0, "learning recipes can't be asked by this version", MAY, "what a learning recipe trains")
KEY_ROW(IN_RECIPE, "rounds", LATER, 0, 0, 0, "recipes of several rounds can't be asked by this version", MAY, "how often a learning recipe asks")

KEY_ROW(IN_COHORTS, "*", LIST, TEXT, 1, 1000, NULL, MAY, "values of this non-sensitive field; a device with another one stays silent")

KEY_ROW(IN_TARGETING, "*", LIST, TEXT, 1, 1000, NULL, MAY, "values of this non-sensitive field that are asked")

KEY_ROW(IN_RELEASE, "recipe", HEX, 0, 32, 32, NULL, MUST, "SHA-256 of the recipe that was answered: `recipe_hash` of its receipt")
KEY_ROW(IN_RELEASE, "bundle", HEX, 0, 64, 16384, NULL, MUST, "the bundle of its entry: what `sotto log publish` wrote, in hexadecimal digits")

KEY_ROW(IN_INTERVAL_BEGINNING, "", FLAG, 0, 0, 0, NULL, MAY, "")

KEY_ROW(IN_INTERVAL_LAST, "duration", DURATION, 0, 0, 0, NULL, MUST, "how far back from the moment of the answer, at most 3650d")

KEY_ROW(IN_INTERVAL_ANSWER, "", FLAG, 0, 0, 0, NULL, MAY, "")

KEY_ROW(IN_ENCODE, "combine", LIST, NAME, 1, 16, NULL, MAY, "the columns in the order of the product; needed for more than one")
KEY_ROW(IN_ENCODE, "*", VARIANT, 0, 0, 0, "encode", MAY, "the encoder of this column of the query")

KEY_ROW(IN_ENCODE_BUCKETS, "boundaries", LIST, NUMBER, 1, BINS, NULL, MUST, "growing; each bucket has its lower boundary in it and its upper one not")
KEY_ROW(IN_ENCODE_BUCKETS, "underflow", CHOICE, 0, 0, 0, "oov|bucket|clip", MUST, "values below the first boundary: <oov>, a bucket of their own, or the first bucket")
KEY_ROW(IN_ENCODE_BUCKETS, "overflow", CHOICE, 0, 0, 0, "oov|bucket|clip", MUST, "values from the last boundary on: <oov>, a bucket of their own, or the last bucket")

KEY_ROW(IN_ENCODE_CATEGORIES, "values", LIST, TEXT, 1, BINS, NULL, MUST, "one bin each, in this order")
KEY_ROW(IN_ENCODE_CATEGORIES, "oov", FLAG, 0, 0, 0, NULL, "true", "a bin for every other value")

KEY_ROW(IN_ENCODE_BOOLEAN, "", FLAG, 0, 0, 0, NULL, MAY, "")

KEY_ROW(IN_ENCODE_INTEGER, "min", WHOLE, 0, -1e15, 1e15, NULL, MUST, "smaller values count as this one")
KEY_ROW(IN_ENCODE_INTEGER, "max", WHOLE, 0, -1e15, 1e15, NULL, MUST, "larger values count as this one")
KEY_ROW(IN_ENCODE_INTEGER, "step", WHOLE, 0, 1, 1e15, NULL, "1", "values are rounded to min plus a multiple of this")

KEY_ROW(IN_ENCODE_REAL, "min", NUMBER, 0, -1e15, 1e15, NULL, MUST, "smaller values count as this one")
KEY_ROW(IN_ENCODE_REAL, "max", NUMBER, 0, -1e15, 1e15, NULL, MUST, "larger values count as this one")
KEY_ROW(IN_ENCODE_REAL, "fraction_bits", WHOLE, 0, 0, 20, NULL, "0", "fixed point: values are rounded to min plus a multiple of 2^-fraction_bits")

KEY_ROW(IN_ENCODE_PREFIX_TREE, "tree", OBJECT, 0, 0, 0, "tree", MUST, "what continues what")
KEY_ROW(IN_ENCODE_PREFIX_TREE, "tokens", LIST, TEXT, 1, BINS, NULL, MUST, "known words that may follow a leaf: one bin for each leaf and token")
KEY_ROW(IN_ENCODE_PREFIX_TREE, "oov", FLAG, 0, 0, 0, NULL, "true", "a bin for texts that reach no leaf, and at each leaf one for words that are no token")
KEY_ROW(IN_ENCODE_PREFIX_TREE, "end", FLAG, 0, 0, 0, NULL, "true", "at each leaf a bin for texts that end there")

KEY_ROW(IN_ENCODE_HASHED_PREFIXES, "salt", NAME, 0, 8, 64, NULL, MUST, "other for each recipe, so that no table of hashes serves for two")
KEY_ROW(IN_ENCODE_HASHED_PREFIXES, "words", WHOLE, 0, 1, 32, NULL, MUST, "of every phrase that was hashed")
KEY_ROW(IN_ENCODE_HASHED_PREFIXES, "hashes", LIST, TEXT, 1, BINS, NULL, MUST, "of the phrases: the first 16 hexadecimal digits of SHA-256 over the salt, a line feed and the phrase, its words with one space between")
KEY_ROW(IN_ENCODE_HASHED_PREFIXES, "tokens", LIST, TEXT, 1, BINS, NULL, MUST, "known words that may follow a phrase: one bin for each hash and token")
KEY_ROW(IN_ENCODE_HASHED_PREFIXES, "oov", FLAG, 0, 0, 0, NULL, "true", "a bin for texts that begin with no such phrase, and at each hash one for words that are no token")
KEY_ROW(IN_ENCODE_HASHED_PREFIXES, "end", FLAG, 0, 0, 0, NULL, "true", "at each hash a bin for texts that end there")

KEY_ROW(IN_TREE, "root", LIST, TEXT, 1, BINS, NULL, MUST, "first words")
KEY_ROW(IN_TREE, "*", LIST, TEXT, 0, BINS, NULL, MAY, "words that may follow these, which stand with one space between; what nothing follows is a leaf")

KEY_ROW(IN_RANDOMIZER_ONE_HOT, "form", CHOICE, 0, 0, 0, "asymmetric|symmetric", MUST, "asymmetric: the value's bit is sent as a fair coin; symmetric: every bit is flipped alike")
KEY_ROW(IN_RANDOMIZER_ONE_HOT, "epsilon_local", DECIMAL, 0, 1e-5, 30, NULL, MUST, "of one report by itself, for the recipe's adjacency")

KEY_ROW(IN_RANDOMIZER_BINARY, "epsilon_local", DECIMAL, 0, 1e-5, 30, NULL, MUST, "of one report by itself")

KEY_ROW(IN_RANDOMIZER_CHOICE, "epsilon_local", DECIMAL, 0, 1e-5, 30, NULL, MUST, "of one report by itself; exactly one bin is sent, and proved to be one")

KEY_ROW(IN_RANDOMIZER_SUBSET, "epsilon_local", DECIMAL, 0, 1e-5, 30, NULL, MUST, "of one report by itself; a set of bins of fixed size is sent")

KEY_ROW(IN_PARTICIPATION_POISSON, "rate", NUMBER, 0, 1e-9, 1, NULL, MUST, "chance that a device takes part, by its own secret coin")

KEY_ROW(IN_PARTICIPATION_CHECK_IN, "variant", CHOICE, 0, 0, 0, "fixed|averaged|sliding", MUST, "averaged: one secret slot of a window that all devices share, and all reports of a slot are added up; fixed: the same with probability 1, else refused; sliding: refused. No theorem covers how servers would add up the refused ones")
KEY_ROW(IN_PARTICIPATION_CHECK_IN, "window", WHOLE, 0, 2, 1e6, NULL, MUST, "slots of the window; the same in every recipe of the analysis")
KEY_ROW(IN_PARTICIPATION_CHECK_IN, "start", TIME, 0, 0, 0, NULL, MUST, "when the first slot begins; the same in every recipe of the analysis")
KEY_ROW(IN_PARTICIPATION_CHECK_IN, "slot", DURATION, 0, 0, 0, NULL, MUST, "length of a slot; the same in every recipe of the analysis")
KEY_ROW(IN_PARTICIPATION_CHECK_IN, "probability", NUMBER, 0, 1e-9, 1, NULL, "1", "chance of checking in at all; fixed only")
KEY_ROW(IN_PARTICIPATION_CHECK_IN, "available", DURATION, 0, 0, 0, NULL, "\"8h\"", "how long a device usually stays idle, charging and online; lint warns where the window is longer, unless a slot is a day or more")

KEY_ROW(IN_PARTICIPATION_DONATION, "slots", WHOLE, 0, 2, 1e6, NULL, MUST, "coins that a device tosses, each with chance 1/slots of heads; the first head is its slot, no head is silence. The same in every recipe of the analysis")
KEY_ROW(IN_PARTICIPATION_DONATION, "start", TIME, 0, 0, 0, NULL, MUST, "when the first slot begins, a multiple of the precision; the same in every recipe of the analysis")
KEY_ROW(IN_PARTICIPATION_DONATION, "slot", DURATION, 0, 0, 0, NULL, MUST, "length of a slot, at most 7d and a multiple of the precision: a batch is a time interval within one slot. The same in every recipe of the analysis")
KEY_ROW(IN_PARTICIPATION_DONATION, "rate", NUMBER, 0, 1e-9, 1, NULL, "1", "chance to take part at all, by a secret coin before the others")
KEY_ROW(IN_PARTICIPATION_DONATION, "available", DURATION, 0, 0, 0, NULL, "\"8h\"", "how long a device usually stays idle, charging and online; lint warns where the slots together are longer, unless a slot is a day or more")

KEY_ROW(IN_PARTICIPATION_IMPORTANCE, "rate_default", NUMBER, 0, 1e-9, 1, NULL, MUST, "chance to take part with the default value")
KEY_ROW(IN_PARTICIPATION_IMPORTANCE, "default", WHOLE, 0, 0, BINS, NULL, MAY, "the default value: its bin, as `sotto collect --json` numbers them. Left out: having no value")
KEY_ROW(IN_PARTICIPATION_IMPORTANCE, "default_share", NUMBER, 0, 0, 1, NULL, "0", "share of devices that are expected to have the default value. Servers expect reports by it")
KEY_ROW(IN_PARTICIPATION_IMPORTANCE, "rate_other", NUMBER, 0, 1e-9, 1, NULL, MUST, "chance to take part with any other; below 1")

KEY_ROW(IN_PRIVACY, "adjacency", CHOICE, 0, 0, 0, "replacement|deletion", MUST, "what is hidden: which value somebody has, or that it is not \"no value\"")
KEY_ROW(IN_PRIVACY, "epsilon", DECIMAL, 0, 1e-9, 30, NULL, MUST, "of the whole cohort's answer, without any gain by sampling; a device is charged this")
KEY_ROW(IN_PRIVACY, "delta", DECIMAL, 0, 1e-12, 1e-3, NULL, MUST, "the same")
KEY_ROW(IN_PRIVACY, "min_cohort", WHOLE, 0, 10, 1e9, NULL, MUST, "reports below which nothing is released")
KEY_ROW(IN_PRIVACY, "by", CHOICE, 0, 0, 0, "crowd|shares|servers|committee", "\"crowd\"", "who adds the noise. crowd: each device randomises its report, and others hide it. shares: each device adds a part of the noise. servers: reports have no noise, and each server adds all of it to its sums. committee: devices that are drawn for it, with encrypted sums alone")
KEY_ROW(IN_PRIVACY, "sigma", DECIMAL, 0, 0.5, 1e6, NULL, MAY, "with shares, servers and committee: standard deviation of the noise on every sum, in counts, or for sum and mean in steps of the encoder. servers: of each one's own, since the other one may leave its own out. shares: of all honest devices' together. committee: of those members together that neither lie nor are missing. At most three digits behind the point, above 60000 none")
KEY_ROW(IN_PRIVACY, "honest", DECIMAL, 0, 0.01, 1, NULL, MAY, "with shares: the part of min_cohort that adds up to sigma; left out: 0.5")

KEY_ROW(IN_AGGREGATION_SPLIT, "leader", NAME, 0, 1, 128, NULL, MUST, "a party of that role")
KEY_ROW(IN_AGGREGATION_SPLIT, "helper", NAME, 0, 1, 128, NULL, MUST, "a party of that role")
KEY_ROW(IN_AGGREGATION_SPLIT, "collector", NAME, 0, 1, 128, NULL, MAY, "a party of that role, who gets the answer")
KEY_ROW(IN_AGGREGATION_SPLIT, "batch_mode", CHOICE, 0, 0, 0, "time-interval|leader-selected", "\"time-interval\"", "whether a batch is a span of time or what the leader makes it")

/* Of both kinds of recipe. */
#define ONE_SERVER_ROWS(object) \
    KEY_ROW(object, "server", NAME, 0, 1, 128, NULL, MUST, "who adds up") \
    KEY_ROW(object, "log", NAME, 0, 1, 128, NULL, MUST, "where rounds are published") \
    KEY_ROW(object, "beacon", NAME, 0, 1, 128, NULL, MUST, "who draws devices in public") \
    KEY_ROW(object, "ring", CHOICE, 0, 0, 0, "z32|z64", MUST, "that sums are in") \
    KEY_ROW(object, "corrupt", NUMBER, 0, 0, 0.5, NULL, MUST, "share of the cohort that may lie") \
    KEY_ROW(object, "dropout", NUMBER, 0, 0, 0.5, NULL, MUST, "share that may drop out") \
    KEY_ROW(object, "decryptors", OBJECT, 0, 0, 0, "decryptors", MUST, "who unmask sums") \
    KEY_ROW(object, "graph", OBJECT, 0, 0, 0, "graph", MUST, "who masks with whom") \
    KEY_ROW(object, "prg", CHOICE, 0, 0, 0, "aes-128-ctr", MUST, "that makes masks")
ONE_SERVER_ROWS(IN_AGGREGATION_FLAMINGO)
#ifdef SOTTO_LEARNING_ROWS /* libsotto-device answers no such recipe, and lacks the room */
KEY_ROW(IN_AGGREGATION_FLAMINGO, "cohort", WHOLE, 0, 3, 1e6, NULL, MUST, "devices drawn for a round, at most. The server picks who of them counts as online, so all of those that lie may be in a sum of min_cohort")
#endif

KEY_ROW(IN_DECRYPTORS, "count", WHOLE, 0, 1, 1e6, NULL, MUST, "how many")
KEY_ROW(IN_DECRYPTORS, "dropout", NUMBER, 0, 0, 0.5, NULL, MUST, "share that may drop out")
KEY_ROW(IN_DECRYPTORS, "epoch_rounds", WHOLE, 0, 1, 1e6, NULL, MUST, "rounds that they serve")

KEY_ROW(IN_GRAPH, "degree", WHOLE, 0, 1, 1e6, NULL, MUST, "neighbours that are expected")
KEY_ROW(IN_GRAPH, "neighbours", WHOLE, 0, 1, 1e6, NULL, MUST, "neighbours that must stay")

/* Of both kinds of recipe. */
#define ENCRYPTED_ROWS(object) \
    KEY_ROW(object, "server", NAME, 0, 1, 128, NULL, MUST, "who adds up") \
    KEY_ROW(object, "log", NAME, 0, 1, 128, NULL, MUST, "where rounds are published") \
    KEY_ROW(object, "beacon", NAME, 0, 1, 128, NULL, MUST, "who draws devices in public") \
    KEY_ROW(object, "devices", OBJECT, 0, 0, 0, "devices", MUST, "how many there are") \
    KEY_ROW(object, "corrupt", NUMBER, 0, 0, 0.5, NULL, MUST, "share of devices that may lie") \
    KEY_ROW(object, "offline", NUMBER, 0, 0, 0.5, NULL, MUST, "share that may drop out") \
    KEY_ROW(object, "parameters", NAME, 0, 1, 128, NULL, MUST, "of the encryption: b64, b87 or b109, which has fewer than 128 bits of security") \
    KEY_ROW(object, "bits", WHOLE, 0, 1, 64, NULL, MUST, "of a value") \
    KEY_ROW(object, "committee", OBJECT, 0, 0, 0, "committee", MUST, "who decrypt sums") \
    KEY_ROW(object, "noise", OBJECT, 0, 0, 0, "noise-committee", MUST, "who add noise") \
    KEY_ROW(object, "checks", WHOLE, 0, 1, 1e6, NULL, MUST, "how often each leaf is looked at, on average") \
    KEY_ROW(object, "proof", OBJECT, 0, 0, 0, "proof", MUST, "of a contribution")
ENCRYPTED_ROWS(IN_AGGREGATION_AERO)
KEY_ROW(IN_AGGREGATION_AERO, "rekey", CHOICE, 0, 0, 0, "round", MUST, "when keys are new")

KEY_ROW(IN_DEVICES, "least", WHOLE, 0, 1, 1e11, NULL, MUST, "how many")
KEY_ROW(IN_DEVICES, "most", WHOLE, 0, 1, 1e11, NULL, MUST, "how many")
KEY_ROW(IN_DEVICES, "clear", WHOLE, 0, 0, 1e6, NULL, "0", "how many have to say that they found nothing wrong in a round's sums, before a committee opens them; 0: nobody counts")

KEY_ROW(IN_COMMITTEE, "size", WHOLE, 0, 1, 1e6, NULL, MUST, "how many")
KEY_ROW(IN_COMMITTEE, "corrupt", WHOLE, 0, 0, 1e6, NULL, MUST, "how many may lie")
KEY_ROW(IN_COMMITTEE, "count", WHOLE, 0, 1, 1e6, NULL, MUST, "how many committees open a sum, each its groups of ciphertexts; one member then has less to do")
KEY_ROW(IN_COMMITTEE, "opening", CHOICE, 0, 0, 0, "fast|robust", "\"fast\"", "fast: as many as are needed open a sum, and one that lies may shift it unseen. robust: they deal noise to each other, so that a sum is right or not opened, and whoever lied is named; for one committee and few ciphertexts")

KEY_ROW(IN_NOISE_COMMITTEE, "size", WHOLE, 0, 1, 1e6, NULL, MUST, "how many")
KEY_ROW(IN_NOISE_COMMITTEE, "corrupt", WHOLE, 0, 0, 1e6, NULL, MUST, "how many may lie")
KEY_ROW(IN_NOISE_COMMITTEE, "missing", WHOLE, 0, 0, 1e6, NULL, MUST, "how many may drop out")

KEY_ROW(IN_PROOF, "queries", WHOLE, 0, 1, 1e6, NULL, MUST, "how many")
KEY_ROW(IN_PROOF, "grind", WHOLE, 0, 0, 64, NULL, MUST, "bits of work")
KEY_ROW(IN_PROOF, "group", WHOLE, 0, 1, 1e6, NULL, MUST, "contributions for each")

KEY_ROW(IN_ANONYMITY, "relay", NAME, 0, 1, 128, NULL, MAY, "a party of that role, through which devices send: it sees who, not what")
KEY_ROW(IN_ANONYMITY, "gateway", NAME, 0, 1, 128, NULL, MAY, "a party of that role, which opens what the relay forwards: it sees what is sealed, not who. Goes with `relay`")
KEY_ROW(IN_ANONYMITY, "tokens", CHOICE, 0, 0, 0, "type-2|arc", MAY, "each report carries an anonymous token, one for each device and collection; servers reject reports without one. `type-2`: an issuer signs a token for each collection. `arc`: leader and helper each issue one credential for an epoch, and a report shows both; devices need an application with libsotto-device-full")
KEY_ROW(IN_ANONYMITY, "attester", NAME, 0, 1, 128, NULL, MAY, "a party of that role, which knows the devices. Goes with tokens")
KEY_ROW(IN_ANONYMITY, "issuer", NAME, 0, 1, 128, NULL, MAY, "a party of that role, which signs tokens; `issuers` of the policy must name it. Goes with tokens of type 2")
KEY_ROW(IN_ANONYMITY, "log", NAME, 0, 1, 128, NULL, MAY, "a log of the policy, which the recipe must be on")

KEY_ROW(IN_SCHEDULE, "opens", TIME, 0, 0, 0, NULL, MUST, "no report before; a multiple of the precision")
KEY_ROW(IN_SCHEDULE, "closes", TIME, 0, 0, 0, NULL, MUST, "no report after; a multiple of the precision")
KEY_ROW(IN_SCHEDULE, "precision", DURATION, 0, 0, 0, NULL, "\"1h\"", "times of reports are rounded down to this, so that they tell little")

#ifdef SOTTO_LEARNING_ROWS
KEY_ROW(IN_LEARNING, "recipe", NAME, 0, 1, 64, NULL, MUST, "names this recipe")
KEY_ROW(IN_LEARNING, "version", WHOLE, 0, 1, 1e9, NULL, MUST, "grows with every change")
KEY_ROW(IN_LEARNING, "analysis", NAME, 0, 1, 128, NULL, MUST, "the analysis whose budget pays; the policy must know it")
KEY_ROW(IN_LEARNING, "description", TEXT, 0, 0, 1000, NULL, "\"\"", "why this is asked, for the people who are asked")
KEY_ROW(IN_LEARNING, "learn", OBJECT, 0, 0, 0, "learn", MUST, "what is trained")
KEY_ROW(IN_LEARNING, "rounds", OBJECT, 0, 0, 0, "rounds", MUST, "how often, and by how many devices")
KEY_ROW(IN_LEARNING, "participation", VARIANT, 0, 0, 0, "participation", MUST, "who answers a round. `check-in` and `donation`: a device draws one round of all of them, in secret")
KEY_ROW(IN_LEARNING, "privacy", OBJECT, 0, 0, 0, "learning-privacy", MUST, "what is promised to everybody who takes part")
KEY_ROW(IN_LEARNING, "aggregation", VARIANT, 0, 0, 0, "learning-adds@trust", MUST, "who adds up, and what they check")
KEY_ROW(IN_LEARNING, "anonymity", OBJECT, 0, 0, 0, "anonymity", "{}", "what hides who takes part")
KEY_ROW(IN_LEARNING, "schedule", OBJECT, 0, 0, 0, "schedule", MUST, "when: all rounds lie within it")
KEY_ROW(IN_LEARNING, "population", WHOLE, 0, 1, 1e11, NULL, MUST, "devices expected to be asked, for planning")

KEY_ROW(IN_LEARN, "model", OBJECT, 0, 0, 0, "learn-model", MUST, "what is trained")
KEY_ROW(IN_LEARN, "data", OBJECT, 0, 0, 0, "learn-data", MUST, "on what")
KEY_ROW(IN_LEARN, "local", OBJECT, 0, 0, 0, "learn-local", MUST, "how a device trains")
KEY_ROW(IN_LEARN, "update", OBJECT, 0, 0, 0, "learn-update", MUST, "what a device sends")
KEY_ROW(IN_LEARN, "server", OBJECT, 0, 0, 0, "learn-server", MUST, "what becomes of the sum")

KEY_ROW(IN_LEARN_MODEL, "type", NAME, 0, 1, 64, NULL, MUST, "its name, as the devices' trainer knows it")
KEY_ROW(IN_LEARN_MODEL, "parameters", WHOLE, 0, 1, 16777216, NULL, MUST, "how many numbers it has")
KEY_ROW(IN_LEARN_MODEL, "init", HEX, 0, 32, 32, NULL, MUST, "SHA-256 of the model of round 0; later rounds have what their records say")

KEY_ROW(IN_LEARN_DATA, "query", QUERY, 0, 0, 0, NULL, MUST, "one SELECT over the device's streams, as in other recipes: what it reads is checked and paid for in the same way")
KEY_ROW(IN_LEARN_DATA, "most_rows", WHOLE, 0, 1, 1e6, NULL, MUST, "rows that a device trains on in a round, at most")

KEY_ROW(IN_LEARN_LOCAL, "algorithm", CHOICE, 0, 0, 0, "fedavg|fedsgd", "\"fedavg\"", "fedavg: several steps on the device; fedsgd: one gradient of all rows")
KEY_ROW(IN_LEARN_LOCAL, "epochs", WHOLE, 0, 1, 1000, NULL, "1", "passes over the rows; 1 with fedsgd")
KEY_ROW(IN_LEARN_LOCAL, "batch", WHOLE, 0, 1, 1e6, NULL, MUST, "rows of a step")
KEY_ROW(IN_LEARN_LOCAL, "rate", NUMBER, 0, 1e-9, 1e6, NULL, MUST, "learning rate of round 0")
KEY_ROW(IN_LEARN_LOCAL, "decay", NUMBER, 0, 1e-3, 1, NULL, "1", "the rate's factor from round to round")

KEY_ROW(IN_LEARN_UPDATE, "clip", NUMBER, 0, 1e-9, 1e9, NULL, MUST, "Euclidean norm that an update is scaled down to where it is longer")
KEY_ROW(IN_LEARN_UPDATE, "scale", WHOLE, 0, 1, 1073741824, NULL, MUST, "steps of the grid in one unit of an update; a power of two has log2(scale) bits behind the point. lint proves before round 0 that sums fit")
KEY_ROW(IN_LEARN_UPDATE, "weights", CHOICE, 0, 0, 0, "equal|capped|count", "\"equal\"", "of devices in the sum. capped: a device with n rows counts min(n, cap)/cap, after its clip, so that one device adds no more than with equal. count: refused, since nothing bounds what one device adds")
KEY_ROW(IN_LEARN_UPDATE, "cap", WHOLE, 0, 1, 1e6, NULL, MAY, "with capped: rows from which on a device counts fully; at most most_rows")
KEY_ROW(IN_LEARN_UPDATE, "projection", OBJECT, 0, 0, 0, "learn-projection", MAY, "to fewer numbers than parameters; an update is clipped after it. Left out: an update is sent as it is")

KEY_ROW(IN_LEARN_PROJECTION, "dimension", WHOLE, 0, 1, 16777215, NULL, MUST, "numbers of a report and of a sum: fewer than parameters")

KEY_ROW(IN_LEARN_SERVER, "optimizer", CHOICE, 0, 0, 0, "sgd|momentum|adam|yogi", "\"sgd\"", "the step")
KEY_ROW(IN_LEARN_SERVER, "rate", NUMBER, 0, 1e-9, 1e6, NULL, "1", "its learning rate")

KEY_ROW(IN_ROUNDS, "count", WHOLE, 0, 1, 1e6, NULL, MUST, "how many rounds")
KEY_ROW(IN_ROUNDS, "every", DURATION, 0, 0, 0, NULL, MUST, "from the opening of one round to that of the next; a multiple of the precision")
KEY_ROW(IN_ROUNDS, "goal", WHOLE, 0, 10, 1e9, NULL, MUST, "reports at which a round is complete, once its sum is asked for; min_cohort or more")
KEY_ROW(IN_ROUNDS, "largest", WHOLE, 0, 10, 1e9, NULL, MUST, "reports that a sum has room for; goal or more")
KEY_ROW(IN_ROUNDS, "grace", DURATION, 0, 0, 0, NULL, "\"10m\"", "how long a round without its goal waits for late reports after its end; then min_cohort of them are enough. Below `every`")
KEY_ROW(IN_ROUNDS, "participations", WHOLE, 0, 1, 1e6, NULL, MUST, "rounds that one device takes part in, at most: epsilon is for all of them together")
KEY_ROW(IN_ROUNDS, "separation", WHOLE, 0, 1, 1e6, NULL, "1", "rounds from one participation of a device to its next, at least")
KEY_ROW(IN_ROUNDS, "on_no_turn", CHOICE, 0, 0, 0, "silence|zeros", "\"silence\"", "what a device does that is drawn for a round in which it has no turn. silence: it sends nothing; it has a turn while participations are left and the last one is separation rounds ago. zeros: it sends an update of zeros, which looks like any other. Its turns are drawn beforehand, one in so many rounds that both numbers hold. So every round is a fresh sample")
KEY_ROW(IN_ROUNDS, "key", HEX, 0, 32, 32, NULL, MAY, "Ed25519 public key of the recipe's owner: servers and devices take only records of rounds that it signed. `sotto learn key` makes one")

KEY_ROW(IN_LEARNING_PRIVACY, "adjacency", CHOICE, 0, 0, 0, "replacement", MUST, "what is hidden: what data somebody has")
KEY_ROW(IN_LEARNING_PRIVACY, "epsilon", DECIMAL, 0, 1e-9, 30, NULL, MUST, "of all rounds that a device takes part in together, without any gain by sampling")
KEY_ROW(IN_LEARNING_PRIVACY, "delta", DECIMAL, 0, 1e-12, 1e-3, NULL, MUST, "the same")
KEY_ROW(IN_LEARNING_PRIVACY, "min_cohort", WHOLE, 0, 10, 1e9, NULL, MUST, "reports below which a round is not released; it is paid for nevertheless")
KEY_ROW(IN_LEARNING_PRIVACY, "by", CHOICE, 0, 0, 0, "shares|servers|committee", MUST, "who adds the noise. shares: each device a part. servers: updates have no noise, and each server adds all of it to its sums. committee: devices that are drawn for it, with encrypted sums alone")
KEY_ROW(IN_LEARNING_PRIVACY, "law", CHOICE, 0, 0, 0, "discrete-gaussian", "\"discrete-gaussian\"", "of the noise")
KEY_ROW(IN_LEARNING_PRIVACY, "multiplier", NUMBER, 0, 0.01, 10000, NULL, MUST, "standard deviation of the noise on every entry of a sum, in clips. servers: of each one's own. shares: of all honest devices' together. committee: of those members together that neither lie nor are missing")
KEY_ROW(IN_LEARNING_PRIVACY, "correlation", VARIANT, 0, 0, 0, "correlation", MAY, "with servers: noise that is correlated over rounds. Left out: each round has fresh noise")
KEY_ROW(IN_LEARNING_PRIVACY, "honest", DECIMAL, 0, 0.01, 1, NULL, MAY, "with shares: the part of min_cohort that adds up to the noise; left out: 0.5")

KEY_ROW(IN_CORRELATION_TREE, "type", CHOICE, 0, 0, 0, "tree", MUST, "the tree")
KEY_ROW(IN_CORRELATION_TREE, "restart", WHOLE, 0, 2, 65536, NULL, MUST, "rounds of a tree, then another begins; at most `rounds.count`. With a `separation` as large a device is in a tree once, and a participation costs 1 + log2 restart times what it does with fresh noise, rounded down")

KEY_ROW(IN_CORRELATION_BUFFERS, "type", CHOICE, 0, 0, 0, "buffers", MUST, "the buffers")
KEY_ROW(IN_CORRELATION_BUFFERS, "buffers", LIST, OBJECT, 1, 3, "correlation-buffer", MUST, "their matrix")

KEY_ROW(IN_CORRELATION_BUFFER, "decay", WHOLE, 0, 0, 1073740800, NULL, MUST, "what a buffer keeps of itself in a round; at most 2^30 - 2^10")
KEY_ROW(IN_CORRELATION_BUFFER, "weight", WHOLE, 0, 0, 1073741824, NULL, MUST, "its part in what is predicted; at most 2^30")

KEY_ROW(IN_LEARNING_SPLIT, "leader", NAME, 0, 1, 128, NULL, MUST, "a party of that role")
KEY_ROW(IN_LEARNING_SPLIT, "helper", NAME, 0, 1, 128, NULL, MUST, "a party of that role")
KEY_ROW(IN_LEARNING_SPLIT, "collector", NAME, 0, 1, 128, NULL, MAY, "a party of that role, who gets the sums")
KEY_ROW(IN_LEARNING_SPLIT, "proof", OBJECT, 0, 0, 0, "learning-proof", MUST, "of every update")

ONE_SERVER_ROWS(IN_LEARNING_FLAMINGO)
KEY_ROW(IN_LEARNING_FLAMINGO, "cohort", WHOLE, 0, 3, 1e6, NULL, MUST, "devices drawn for a round, at most. The server picks who of them counts as online, so all of those that lie may be in a sum of min_cohort")

ENCRYPTED_ROWS(IN_LEARNING_AERO)
KEY_ROW(IN_LEARNING_AERO, "rekey", WHOLE, 0, 2, 16, "round", MUST, "when keys are new: in each round, or after so many. In between, each round's committee hands its key to that of the next one. A committee that is lost then reads all rounds under its key, and lint counts that. The robust path has a new key in each round")

KEY_ROW(IN_LEARNING_PROOF, "type", CHOICE, 0, 0, 0, "pine", MUST, "the norm is proved (Rothblum et al. 2023)")
KEY_ROW(IN_LEARNING_PROOF, "bound_factor", NUMBER, 0, 1, 1000, NULL, MUST, "the proved bound on the norm of a report, in clips. With shares the noise of an honest device is within it. So a liar may send that many times the clip: above 3 lint warns, above 10 it refuses shares")
#endif

KEY_ROW(IN_POLICY, "policy", NAME, 0, 1, 128, NULL, MUST, "names this policy")
KEY_ROW(IN_POLICY, "version", WHOLE, 0, 1, 1e9, NULL, MUST, "grows with every change; what was spent stays spent")
KEY_ROW(IN_POLICY, "analyses", OBJECT, 0, 0, 0, "analyses", MUST, "all that this device will ever answer")
KEY_ROW(IN_POLICY, "fields", OBJECT, 0, 0, 0, "fields", MUST, "all that may ever be read, and what each may cost, whoever asks")
KEY_ROW(IN_POLICY, "composition", CHOICE, 0, 0, 0, "basic|filter|zcdp", "\"basic\"", "how spends add up: as a sum, by a filter for adaptive spending, or by one for zCDP. The last allows a quarter to a half more small spends than the other filter. Both take half of each delta")
KEY_ROW(IN_POLICY, "period_days", WHOLE, 0, 0, 3660, NULL, "0", "after which budgets are new; 0: never")
KEY_ROW(IN_POLICY, "non_sensitive", LIST, NAME, 0, 1000, NULL, "[]", "fields that cohorts and targeting may use (`locale`), and of those read, the ones no budget is kept for (`stream.field`)")
KEY_ROW(IN_POLICY, "min_cohort", WHOLE, 0, 10, 1e9, NULL, MUST, "no recipe may release below this")
KEY_ROW(IN_POLICY, "honest", DECIMAL, 0, 0.01, 1, NULL, MUST, "share of a cohort that is taken to be honest: those protect each other")
KEY_ROW(IN_POLICY, "report_bytes", WHOLE, 0, 100, 1e9, NULL, "1048576", "bytes that one report may have; a recipe whose reports have more is refused")
KEY_ROW(IN_POLICY, "trusts", LIST, CHOICE, 1, 3, NULL, "[\"split\"]", "ways to add up that are allowed")
#ifdef SOTTO_LEARNING_ROWS
KEY_ROW(IN_POLICY, "duties", LIST, CHOICE, 1, 6, "client|decryptor|contributor|verifier|committee|noise", "[]", "what this device may do in rounds of one server. Of masked sums: answer as a client, and open masks of others as a decryptor. Of encrypted sums: answer as a contributor, check what the server added as a verifier, make keys and open sums in the committee, and give noise. Every part of these but the committee needs the verifier. Needs libsotto-device-full, and a consent of its own")
KEY_ROW(IN_POLICY, "sampling", CHOICE, 0, 0, 0, "when-hidden", MAY, "when-hidden: a learning recipe is charged by the theorem for secret samples, once and before any coin is tossed, where this device verified relay, tokens and log. That epsilon does not hold against the relay or the device's own network, nor where the relay works together with gateway or leader. Left out: every recipe is charged as if it were seen who takes part. Needs libsotto-device-full")
KEY_ROW(IN_POLICY, "correlated_noise", FLAG, 0, 0, 0, NULL, "false", "whether servers' noise may be correlated over the rounds of a learning recipe. Then one server must keep its noise of all rounds secret, not that of a round alone")
#endif
KEY_ROW(IN_POLICY, "targeting_rate", NUMBER, 0, 1e-9, 1, NULL, "1", "largest chance to take part in a recipe with `targeting`: below 1, the number of reports does not tell whether one more device met the target")
KEY_ROW(IN_POLICY, "targeting_floor", WHOLE, 0, 0, 1e11, NULL, MAY, "a recipe with `targeting` names a logged release that counted this many honest devices of the target, or more. It is at most 400 days older than the recipe, and `targeting_rate` is at most 0.9. 0: none is asked for. Not given: no recipe with `targeting` is answered")
KEY_ROW(IN_POLICY, "silence", FLAG, 0, 0, 0, NULL, "false", "whether a recipe may ask a device without a value to say nothing, which tells something")
KEY_ROW(IN_POLICY, "logs", OBJECT, 0, 0, 0, "logs", "{}", "public logs. If there is one, recipes, signed parties files and lists of issuers' keys are taken from these logs alone")
KEY_ROW(IN_POLICY, "issuers", OBJECT, 0, 0, 0, "keys", "{}", "public keys of the issuers of tokens")
KEY_ROW(IN_POLICY, "parties_keys", OBJECT, 0, 0, 0, "keys", "{}", "Ed25519 keys of those who may replace the parties file by one that they signed (`sotto parties key`)")
KEY_ROW(IN_POLICY, "parties_signatures", WHOLE, 0, 1, 8, NULL, MAY, "how many of `parties_keys` must have signed such a file; all of them, if not given")

KEY_ROW(IN_ANALYSES, "*", OBJECT, 0, 0, 0, "analysis", MAY, "one analysis, by its name")

KEY_ROW(IN_ANALYSIS, "epsilon", DECIMAL, 0, 0, 1e6, NULL, MUST, "of all its answers together")
KEY_ROW(IN_ANALYSIS, "delta", DECIMAL, 0, 0, 1, NULL, MUST, "the same")
KEY_ROW(IN_ANALYSIS, "reports", WHOLE, 0, 0, 1e9, NULL, MUST, "that a device may send")
KEY_ROW(IN_ANALYSIS, "queries", LIST, QUERY, 0, 1000, NULL, "[]", "queries that may be asked, byte for byte; none: whatever reads these fields only")
KEY_ROW(IN_ANALYSIS, "fields", LIST, FIELD, 0, 1000, NULL, MUST, "what it may read, of the policy's fields")
KEY_ROW(IN_ANALYSIS, "non_sensitive", LIST, NAME, 0, 1000, NULL, MAY, "for this analysis, in place of the policy's non_sensitive; left out: the policy's")

KEY_ROW(IN_FIELDS, "*", OBJECT, 0, 0, 0, "field", MAY, "`stream.field`; `stream.*` is that a row exists, as count(*) reads it")

KEY_ROW(IN_FIELD, "epsilon_local", DECIMAL, 0, 0, 1e6, "none", MUST, "of any one report that reads it, if one value is replaced by another. none: also reports without local protection, whose noise others add")
KEY_ROW(IN_FIELD, "by", LIST, CHOICE, 1, 4, "crowd|shares|servers|committee", "[\"crowd\"]", "who may add the noise of answers that read it, as `privacy.by` of a recipe says. All but crowd take an `epsilon_local` of none")
KEY_ROW(IN_FIELD, "epsilon", DECIMAL, 0, 0, 1e6, NULL, MUST, "of all answers that read it together")
KEY_ROW(IN_FIELD, "delta", DECIMAL, 0, 0, 1, NULL, MUST, "the same")
KEY_ROW(IN_FIELD, "reports", WHOLE, 0, 0, 1e9, NULL, MUST, "that may read it")

KEY_ROW(IN_LOGS, "*", OBJECT, 0, 0, 0, "log", MAY, "one log, by the name that recipes use")

KEY_ROW(IN_LOG, "key", TEXT, 0, 1, 512, NULL, MUST, "its public key, as `sotto log key` prints it")
KEY_ROW(IN_LOG, "witnesses", LIST, TEXT, 0, 16, NULL, "[]", "public keys of witnesses, as `sotto log key --cosigns` prints them")
KEY_ROW(IN_LOG, "witness_urls", LIST, TEXT, 0, 16, NULL, "[]", "where these witnesses listen, in the same order: in rounds of encrypted sums, complaints go there, too. None: a server may keep them off its board")
KEY_ROW(IN_LOG, "quorum", WHOLE, 0, 1, 16, NULL, MAY, "how many witnesses must have cosigned a tree; all of them, if not given")
KEY_ROW(IN_LOG, "feed", TEXT, 0, 1, 1024, NULL, MAY, "URL of its feed (`sotto log feed`), which devices fetch once a day through the relay; not given: the application brings it")
KEY_ROW(IN_LOG, "fresh_days", WHOLE, 0, 1, 365, NULL, "7", "how long ago the quorum may have cosigned the last tree that a device saw. After that it answers nothing of the log: newer trees may be kept from it")

KEY_ROW(IN_KEYS, "*", HEX, 0, 16, 1024, NULL, MAY, "a public key, by its name")

KEY_ROW(IN_PARTIES, "*", OBJECT, 0, 0, 0, "party", MAY, "one party, by the name recipes use")

KEY_ROW(IN_PARTY, "role", CHOICE, 0, 0, 0, "leader|helper|collector|relay|gateway|attester|issuer", MUST, "what it does. Where a relay and a gateway are named, devices send everything through them")
KEY_ROW(IN_PARTY, "url", TEXT, 0, 1, 1024, NULL, MAY, "of all but a collector, byte for byte as all parties must have it; of a relay, where requests for the gateway are posted")
KEY_ROW(IN_PARTY, "hpke", LIST, OBJECT, 1, 16, "hpke", MAY, "of all but a relay, an attester and an issuer, which have none: keys to seal to; of those in use, the one with the latest `from` is used")

KEY_ROW(IN_HPKE, "config", HEX, 0, 8, 1024, NULL, MUST, "an HpkeConfig as DAP encodes it")
KEY_ROW(IN_HPKE, "from", TIME, 0, 0, 0, NULL, MUST, "not used before")
KEY_ROW(IN_HPKE, "until", TIME, 0, 0, 0, NULL, MUST, "not used after")
KEY_ROW(IN_HPKE, "next", TIME, 0, 0, 0, NULL, MAY, "no key that this file lacks is used before; a recipe that needs later ones waits for a newer file")

KEY_ROW(IN_STREAMS, "*", OBJECT, 0, 0, 0, "stream", MAY, "one stream, by its name: what a query selects from")

KEY_ROW(IN_STREAM, "fields", OBJECT, 0, 0, 0, "types", MUST, "what every event of it has, 1 to 64; once the stream is there they never change")
KEY_ROW(IN_STREAM, "max_age", DURATION, 0, 0, 0, NULL, MUST, "older events are erased")
KEY_ROW(IN_STREAM, "max_rows", WHOLE, 0, 1, 1e15, NULL, MUST, "events that are kept, the newest")

KEY_ROW(IN_TYPES, "*", CHOICE, 0, 0, 0, "integer|real|text|boolean", MAY, "a field, by its name, and the type of its values, any of which may be null")
/* clang-format on */
#undef ONE_SERVER_ROWS
#undef ENCRYPTED_ROWS
#undef OBJECT_ROW
#undef KEY_ROW
