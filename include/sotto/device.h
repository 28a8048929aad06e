/* sotto/device.h - one person's device: events come in, and what leaves has been asked for, allowed and paid for.
 *
 *     sotto_device_open      events and ledger, the policy, and what the host application does for the device
 *     sotto_device_consent   nothing happens before the person said yes
 *     sotto_device_donate    events, as they occur
 *     sotto_device_offer     a recipe, as it arrives
 *     sotto_device_tick      now and then: whatever is due is answered, paid for and handed to host.exchange
 *
 * Callers:  the host application; `sotto device`; simulations.
 * Memory:   the device copies what it is given; what is handed to a callback lives until the callback returns.
 * Threads:  a device belongs to one thread at a time and starts none. Several processes may have the same files open,
 *           and each may tick. What the person says to one of them stops the others, and what is done once is done
 *           once by all of them together. Two that tick at once may both hand over the same bytes, as a retry does.
 * Secrets:  events, decisions, the record, and why a device is silent. None of them leaves the device, and no
 *           reason in a sotto_err holds a value of an event.
 *
 * Nothing is printed. Host callbacks may not call the device back, but for the functions that an exchange brings along.
 * Every function also returns SOTTO_IO where the disk failed and SOTTO_NO_MEMORY; it can then be called again, and nothing
 * was spent twice.
 */
#ifndef SOTTO_DEVICE_H
#define SOTTO_DEVICE_H

#include "sotto/base.h"
#include "sotto/events.h"
#include "sotto/seal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- events --------------------------------------------------------------------------------------------- */

typedef struct sotto_event {
    const char *stream;
    uint8_t id[SOTTO_STORE_ID_SIZE]; /* unique in its stream; donating one twice adds it once */
    int64_t time;                    /* seconds since 1970 */
    const sotto_value *values;       /* as the stream's fields, in their order */
    size_t value_count;
} sotto_event;

/* ---- what the host does for the device -------------------------------------------------------------------- */

/* ---- HTTP, which the host speaks for the device ---- */

/* Another header field of a request. */
typedef struct sotto_exchange_field {
    const char *name;
    const char *value;
} sotto_exchange_field;

/* How an answer begins; the host makes it. What it points to need not outlive the call of `begin`. */
typedef struct sotto_exchange_head {
    size_t size;             /* sizeof(sotto_exchange_head), as the host was compiled */
    unsigned status;         /* of HTTP; never an interim one (1xx) */
    const char *media_type;  /* Content-Type as it came, with its parameters; NULL: none */
    const char *retry_after; /* Retry-After as it came; NULL: none                       */
} sotto_exchange_head;

/* One request and its answer. The device makes it and judges the answer; the host carries the bytes and judges nothing.
 *
 * The host sends `method` to `url` with the media type, the fields and the body, then hands over the answer's head and
 * its body, and returns from the callback. It must not
 *   - repeat a request by itself, nor answer from a cache: the device decides what goes again, and when. An HTTP client
 *     that has to begin again on another connection before a byte of an answer came may read the body once more;
 *   - follow more redirects than `redirects` allows: a 3xx is handed over like any other status;
 *   - send cookies, credentials, or any header field that tells one device or installation from another (User-Agent with
 *     a build or a model, a device id, a trace id);
 *   - write url, fields or bodies into a log: together with an address they say who took part in what.
 * All members are borrowed until the callback returns. Its three functions may be called from any thread, one at a time,
 * and not after it returned. A device of a later version may append members; `size` says which are there. */
typedef struct sotto_exchange sotto_exchange;
struct sotto_exchange {
    size_t size;
    const char *method;     /* "GET", "POST", "PUT"                         */
    const char *url;        /* absolute                                     */
    const char *media_type; /* Content-Type of the body; NULL: it has none  */
    /* Other header fields, to be sent as they are. */
    const sotto_exchange_field *fields;
    size_t field_count;
    /* Content-Length, exactly. */
    uint64_t body_length;
    /* Bytes of the answer's body that the device takes, counted after any content coding is undone. */
    uint64_t most_answer;
    /* How many may be followed. */
    unsigned redirects;
    /* Which recipe it is for, to show it to the person; NULL: none. Never to be sent. */
    const char *recipe;

    /* Copies what the body has at `offset` into `out`, at most `room` bytes; *len is 0 at its end. Without gaps: an
     * answer counts only if every byte was read. */
    sotto_status (*read)(sotto_exchange *exchange, uint64_t offset, uint8_t *out, size_t room,
                         size_t *len);
    /* Once, before the answer's first piece. */
    sotto_status (*begin)(sotto_exchange *exchange, const sotto_exchange_head *head);
    /* The next piece of the answer's body, of any length. */
    sotto_status (*take)(sotto_exchange *exchange, const uint8_t *piece, size_t len);
    /* If one of them does not return SOTTO_OK, close the connection and return that status. */

    void *state; /* the device's own */
};

/* A counter of the platform that can't be turned back, where there is one. Only with it is a ledger restored from an
 * old copy detected; without it, keep both files out of backups. */
typedef struct sotto_device_counter {
    /* The highest it was raised to; 0 if never. */
    sotto_status (*read)(void *context, uint64_t *generation, sotto_err *err);
    /* Durable when it returns. Another process may have raised it further already: then there is nothing to do. */
    sotto_status (*raise)(void *context, uint64_t generation, sotto_err *err);
} sotto_device_counter;

/* A query that the policy allows, as a verifier of the host's own is shown it. All members are borrowed until it returns. */
typedef struct sotto_query_field {
    const char *stream;
    const char *field; /* "*": that there are events, or how many */
    bool sensitive;
} sotto_query_field;
typedef struct sotto_query_shown {
    size_t size; /* sizeof(sotto_query_shown): a later version may append members */
    const char *recipe;
    const char *analysis;
    const char *query;               /* its text, as published        */
    const sotto_query_field *fields; /* all that it reads, wherever   */
    size_t field_count;
} sotto_query_shown;

typedef struct sotto_device_host {
    /* Called by sotto_device_tick alone, in its thread, and for a report only when its spend is on the disk. NULL: reports
     * wait.
     *   SOTTO_OK     the answer came and ended as HTTP says that it must: not where a connection was cut
     *   SOTTO_AGAIN  the host cancelled it: this tick begins no other exchange
     *   another      it failed; nothing is known about what became of the request
     */
    sotto_status (*exchange)(void *context, sotto_exchange *exchange);
    sotto_device_counter counter; /* both NULL: there is none */
    /* Seconds since 1970; what is before then, or after the year 9999, is taken as that. NULL: the system's. */
    int64_t (*clock)(void *context);
    void *context; /* of every callback */
    /* The host's own verifier of an analysis's query class. It can refuse what the policy allows, and allow nothing that the
     * policy refuses. Asked when a recipe is offered, before each answer, and by sotto_device_why; before any event is read.
     * Its answer must follow from what it is shown alone: a silence that followed from events would tell of them. NULL: none.
     *   SOTTO_OK      the query belongs to the class
     *   SOTTO_DENIED  it does not; err's reason, if there is one, is shown to the person
     *   another       it can't tell now: nothing is answered, and it is asked again
     */
    sotto_status (*verify)(void *context, const sotto_query_shown *query, sotto_err *err);
    /* The platform's evidence that this is a real device, and which, for the attester: it must be bound to `text`. The same
     * device must be named the same always, also after a reset. Called by sotto_device_tick alone. NULL: see
     * sotto_device_options.enrolment.
     *   evidence, room  where it is written; *len bytes of it
     *   another status  none can be had now: it is tried again at a later tick
     */
    sotto_status (*attest)(void *context, uint8_t *evidence, size_t room, size_t *len,
                           sotto_bytes text, sotto_err *err);
} sotto_device_host;

/* Randomness that can be repeated. Only a device in memory takes it, so that no real one ever does. */
typedef struct sotto_device_simulation {
    /* NULL: the secure generator. */
    sotto_status (*random)(void *context, void *out, size_t len, sotto_err *err);
    void *context;
    /* Told the bin that a report was made on, so that the truth can stand beside an answer; UINT64_MAX: on no value. NULL: nobody
     * is told. */
    void (*answered)(void *context, uint64_t bin);
    /* Lets the device seal, and ask for tokens, with keys that the process keeps in stock. Then bytes differ from run to run, and
     * what is in them does not. */
    bool sealed_anew;
    /* Importance sampling: told the bin that is drawn about, whether a report follows or not. NULL: nobody is told. */
    void (*drawn)(void *context, uint64_t bin);
} sotto_device_simulation;

/* ---- opening ---------------------------------------------------------------------------------------------- */

typedef struct sotto_device sotto_device;

/* For simulations of many devices in one process: policy, parties and recipes that are the same for all of them are
 * read and judged once. Whatever differs is worked out as without it, and every rule holds the same. It must outlive
 * its devices, and belongs with all of them to one thread at a time. NULL: no memory. */
typedef struct sotto_device_shared sotto_device_shared;
SOTTO_API SOTTO_MUST_USE sotto_device_shared *sotto_device_shared_new(void);
/* NULL is fine. */
SOTTO_API void sotto_device_shared_free(sotto_device_shared *shared);

/* What a query may take of memory is limited. SQLite's statistics tell how much that is, unless the process switched them
 * off (SQLITE_CONFIG_MEMSTATUS), or SQLite was built without; then no query is answered. This function makes the library
 * count for itself, one thread apart from another, and switches SQLite's statistics off. Call it before anything in the
 * process uses SQLite, while no other thread does. It makes many devices on several threads faster, too, since SQLite's
 * statistics take a lock at each allocation.
 *   SOTTO_STALE  SQLite is used already; nothing has changed
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_count_memory(sotto_err *err);

typedef struct sotto_device_options {
    const char *events; /* path of the event file ...                                             */
    const char
        *ledger; /* ... and of what is spent, drawn and waiting. Both NULL: in memory        */
    const sotto_storage *storage; /* NULL: the file system                                        */
    sotto_bytes policy;          /* what this device will ever allow (docs/recipe.md); from the host
                                     application, never from a server                             */
    sotto_bytes parties;         /* who adds up, and their keys                                  */
    const sotto_stream *streams; /* that events are donated to                                   */
    size_t stream_count;
    uint64_t max_bytes; /* of all events together; 0: 64 MiB                                      */
    sotto_device_host host;
    const sotto_device_simulation *simulation; /* NULL: the secure generator                      */
    sotto_device_shared *shared;               /* NULL: nothing is                                */
    /* Seed of the Ed25519 key by which an attester knows this device: 32 random bytes, drawn once, kept apart from both files
     * and out of backups. NULL, and no host.attest: the device is not enrolled, and has no tokens. */
    const uint8_t *enrolment;
} sotto_device_options;

enum { SOTTO_DEVICE_ENROLMENT = 32 };
/* What the attester's operator enrols: the public half of an enrolment seed. */
SOTTO_API SOTTO_MUST_USE sotto_status
sotto_device_enrolment_key(uint8_t out[SOTTO_DEVICE_ENROLMENT],
                           const uint8_t seed[SOTTO_DEVICE_ENROLMENT], sotto_err *err);

/* Opens or creates. A new policy or new parties: close, and open with them; nothing that is spent or was drawn
 * changes by that. Succeeds for a closed ledger too (sotto_device_closed).
 *   SOTTO_MALFORMED  policy, parties or streams are not valid; the reason says where
 *   SOTTO_DENIED     a stream is known with other fields; or a simulation's randomness for files
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_open(sotto_device **out,
                                                        const sotto_device_options *options,
                                                        sotto_err *err);
/* NULL is fine. */
SOTTO_API void sotto_device_close(sotto_device *device);

/* NULL while the ledger can be trusted; else why not, in a sentence. A ledger that is damaged, or missing after its
 * first run, closes the device. A ledger that was restored from an old copy does too, but only where the host has a
 * counter: nothing else detects that. Until sotto_device_reset nothing is answered and nothing leaves, and every
 * function that needs the ledger returns SOTTO_DENIED. */
SOTTO_API const char *sotto_device_closed(const sotto_device *device);
/* Where the event file was put, if this opening found it damaged; else NULL. */
SOTTO_API const char *sotto_device_set_aside(const sotto_device *device);
/* Starts a ledger anew with every budget fully spent, without consent, recipes, tokens or waiting reports. Of the record it
 * keeps what can still be read. Nobody else may have it open: another process of the device is closed by it.
 *   SOTTO_IO      also: the old record can't be read now. Called again, it goes on without what can't be read.
 *   SOTTO_DENIED  the new one can't be trusted either: the counter is ahead of every number
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_reset(sotto_device *device, sotto_err *err);

/* ---- the person ------------------------------------------------------------------------------------------- */

/* What the person said, kept until they say otherwise; at first it is no. No stops everything at once, also a tick of
 * another process, and erases waiting reports. What was spent or drawn stays. A report that host.exchange is sending at
 * that moment can't be taken back.
 *   SOTTO_AGAIN, SOTTO_IO  after a no: nothing leaves this process, but the disk may not know of it yet, or bytes of
 *                          waiting reports may linger. Call again; until then each tick tries as well.
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_consent(sotto_device *device, bool given,
                                                           sotto_err *err);
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_consented(sotto_device *device, bool *given,
                                                             sotto_err *err);

/* Erases a damaged file set aside, and one stream's events; with NULL all events and waiting reports. An answer that
 * another process is making of them is dropped. The ledger stays: what was sent can't be taken back, and forgetting
 * must not allow a second answer.
 *   SOTTO_AGAIN, SOTTO_IO  events, reports or bytes of them may linger: call again. Reports leave only if the ledger
 *                          could not be written either.
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_forget(sotto_device *device, const char *stream,
                                                          sotto_err *err);

/* ---- events in -------------------------------------------------------------------------------------------- */

/* Adds events in one transaction, all or none, durable when it returns; *added (may be NULL) counts the new ones.
 * Needs no consent: events stay here. Many at once are cheaper than one by one.
 *   SOTTO_DENIED, SOTTO_STALE  another file has its file's name now, which can't be opened: as sotto_device_open says
 *   SOTTO_MISSING    no such stream
 *   SOTTO_MALFORMED  values don't fit the stream's fields
 *   SOTTO_TOO_LARGE  a text is longer than SOTTO_STORE_MAX_TEXT
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_donate(sotto_device *device,
                                                          const sotto_event *events, size_t count,
                                                          size_t *added, sotto_err *err);
/* Erases events that are too old or too many. Ticks do so too, once in ten minutes, whatever their conditions are. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_retain(sotto_device *device, sotto_err *err);

/* The newest events of a stream, newest first; values as its fields, then the time. A status other than SOTTO_OK
 * from the callback ends it. */
typedef sotto_status sotto_row_fn(void *context, const sotto_value *values, size_t count,
                                  sotto_err *err);
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_events(sotto_device *device, const char *stream,
                                                          uint64_t most, sotto_row_fn *row,
                                                          void *context, sotto_err *err);

/* ---- recipes ---------------------------------------------------------------------------------------------- */

/* What a device keeps of recipes: 16 MiB, in which each counts as 64 KiB or more. So it keeps up to 256 small ones, or four
 * of the largest. Where there is no room, recipes that closed go first, then those that this device has answered or will
 * not answer. Then goes the one that opens last, of the analysis that has the most. */
enum {
    SOTTO_DEVICE_MAX_RECIPES = 256,
    SOTTO_DEVICE_RECIPE_BYTES = 16 << 20,
    SOTTO_DEVICE_RECIPES_AHEAD = 90 * 86400 /* seconds: one that opens later is refused for now */
};

/* A non-sensitive field of the device itself, such as "locale", for cohorts and targeting. Not kept in a file: tell
 * it after opening and when it changes. NULL forgets it. SOTTO_TOO_LARGE: more than 32 of them. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_describe(sotto_device *device, const char *field,
                                                            const char *value, sotto_err *err);

/* Takes the published bytes of a recipe, or a bundle of a public log that has it (`sotto recipe publish`). It judges them against the policy, and keeps them for the ticks to come,
 * also after a restart. A later version replaces an earlier one; what was drawn or answered for it stays. Offering the same bytes again is fine. Where the policy names logs, only a
 * bundle is taken. Where it names none, whether these are the published bytes is the host's to know.
 *   SOTTO_MALFORMED  not a recipe, nor a bundle of one
 *   SOTTO_DENIED     this device will not answer it: the reason says which rule, and so does sotto_device_why. Or it is on
 *                    no log that the policy names, with too few witnesses, or on a log that forked
 *   SOTTO_STALE      a later version is known, the recipe has closed, or it opens in more than 90 days; or a later tree of
 *                    the log was seen
 *   SOTTO_REJECTED   other bytes are known under this name and version; or the proof does not hold; or the log forked
 *   SOTTO_MISSING    the log's tree has grown since it was seen, and a bundle alone does not show how: offer the feed
 *   SOTTO_TOO_LARGE  no room: its analysis has the most already, and none of its recipes opens later
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_offer(sotto_device *device, sotto_bytes recipe,
                                                         sotto_err *err);

/* Takes the feed of a log that the policy names (`sotto log feed`): its checkpoint, and each recipe and parties file that it
 * brings, as sotto_device_offer and sotto_device_replace_parties do. One that is refused keeps no other from being taken:
 * sotto_device_why tells. Ticks fetch the feed by themselves where the policy has its URL and the parties name a relay.
 *   taken            may be NULL: how many of them were taken, or known already
 *   SOTTO_MALFORMED  not a feed
 *   SOTTO_DENIED     of no log that the policy names, cosigned by too few witnesses, or of a log that forked
 *   SOTTO_REJECTED   a signature does not hold; or the log forked: see sotto_device_logs
 *   SOTTO_STALE      a later tree of the log was seen
 *   SOTTO_MISSING    it does not reach back to the tree that was seen: sotto_device_log_resolve begins anew
 *   SOTTO_TOO_LARGE  more than 512 KiB
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_feed(sotto_device *device, sotto_bytes feed,
                                                        uint64_t *taken, sotto_err *err);

/* A log that the policy names, as far as this device saw it. What is not there is empty. Borrowed until the callback returns. */
typedef struct sotto_known_log {
    const char *name;       /* in the policy */
    sotto_bytes origin;     /* its own name  */
    uint64_t entries;       /* of the last tree that was seen; 0: none was */
    int64_t seen;           /* when it was seen first; seconds since 1970  */
    int64_t fetch;          /* when the feed is fetched next; 0: at once   */
    sotto_bytes checkpoint; /* the last tree, as the log and its witnesses signed it */
    /* The log signed two trees, and neither continues the other: nothing is taken from it now. */
    bool forked;
    /* Evidence of the last fork, also when it was resolved: both signed checkpoints. Where they have different sizes,
     * fork_steps show it to everybody (src/tlog/growth.h). */
    sotto_bytes fork_before, fork_after, fork_steps;
} sotto_known_log;
typedef sotto_status sotto_known_log_fn(void *context, const sotto_known_log *log, sotto_err *err);
/* A status other than SOTTO_OK from the callback ends it. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_logs(sotto_device *device,
                                                        sotto_known_log_fn *show, void *context,
                                                        sotto_err *err);
/* Begins anew with the next tree of a log that comes. It is for a host that looked into its fork, and for a device that
 * was away for longer than the feed reaches back. The evidence stays. SOTTO_MISSING: the policy names no such log. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_log_resolve(sotto_device *device,
                                                               const char *name, sotto_err *err);

/* Takes a parties file that keys of the policy signed (`sotto parties sign`), in place of the one from options, now and
 * after a restart. It may change the servers' keys and nothing else; reports that wait stay as they are. The one with
 * the highest serial is used: of those that were taken, and the one from options, which may be signed too. Where the policy
 * names logs, a bundle is taken that has the signed file, and nothing else: statuses of sotto_device_offer that are about logs.
 *   SOTTO_MALFORMED  not a signed parties file
 *   SOTTO_DENIED     the policy names no key for it, or too few of its keys signed. Or it has other parties or URLs, or its
 *                    serial is more than 30 days ahead of the device's clock
 *   SOTTO_REJECTED   a signature does not hold; or other bytes are known under its serial
 *   SOTTO_STALE      a later one is known
 *   SOTTO_TOO_LARGE  more than 64 KiB
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_replace_parties(sotto_device *device,
                                                                   sotto_bytes signed_file,
                                                                   sotto_err *err);

/* Takes a list of an issuer's keys, one for each collection, which that issuer signed (`sotto parties sign --token-keys`). The
 * time at which the device asks for the token of each new key is drawn now, whether or not a recipe of it is known. An enrolled
 * device asks for one token under every key. Hand every list over that is published, the same to every device; again is fine.
 * Where the policy names logs it is taken as a bundle of one of them alone; feeds bring such bundles too.
 *   SOTTO_MALFORMED  not a signed list
 *   SOTTO_DENIED     no issuer that the policy names signed it; or it is not in a log as the policy wants it
 *   SOTTO_REJECTED   a signature does not hold; or a collection is known with another key
 *   SOTTO_TOO_LARGE  more than 512 KiB, 512 keys, or 256 collections that have not closed
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_take_issuer_keys(sotto_device *device,
                                                                    sotto_bytes list,
                                                                    sotto_err *err);

/* Whether now is a good time. A tick in which one of them is false only erases what is too old. */
typedef struct sotto_conditions {
    bool idle;
    bool charging;
    bool network;
} sotto_conditions;

typedef struct sotto_tick {
    uint64_t made;    /* reports that were sealed now, dummies included */
    uint64_t waiting; /* that the host has not acknowledged yet         */
} sotto_tick;

/* Erases events that are too old, with or without consent; without it, nothing else but to finish a withdrawal.
 * Draws what has to be drawn, answers what is due and offers what waits, oldest first, once each. If it can't answer one
 * recipe, it still answers the others, and that is no failure: sotto_device_why tells why. Then it asks for tokens whose
 * time has come, taking part or not. Without dummies a device that does not take part calls host.exchange for tokens alone.
 *   out           may be NULL
 *   SOTTO_DENIED  the ledger is closed
 *   SOTTO_AGAIN   something could not be made durable: what was not offered waits for the next tick
 */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_tick(sotto_device *device, sotto_tick *out,
                                                        sotto_conditions conditions,
                                                        sotto_err *err);

typedef struct sotto_known_recipe {
    const char *recipe;
    uint64_t version;
    const char *analysis;
    const char *query;
    int64_t opens, closes;
} sotto_known_recipe;
typedef sotto_status sotto_known_recipe_fn(void *context, const sotto_known_recipe *recipe,
                                           sotto_err *err);
/* Recipes that are known, by name. A status other than SOTTO_OK from the callback ends it. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_recipes(sotto_device *device,
                                                           sotto_known_recipe_fn *show,
                                                           void *context, sotto_err *err);

/* ---- why ---------------------------------------------------------------------------------------------------- */

typedef enum sotto_why {
    SOTTO_WHY_READY = 1,     /* it answers at the next tick whose conditions are good             */
    SOTTO_WHY_ANSWERED,      /* the report was acknowledged                                       */
    SOTTO_WHY_UNKNOWN,       /* no such recipe was offered                                        */
    SOTTO_WHY_NO_CONSENT,    /* the person has not said yes                                       */
    SOTTO_WHY_LEDGER_CLOSED, /* sotto_device_closed                                               */
    SOTTO_WHY_NOT_ELIGIBLE,  /* the last tick found the device busy, unplugged or offline         */
    SOTTO_WHY_NOT_OPEN_YET,  /* window: the recipe opens later                                    */
    SOTTO_WHY_CLOSED,        /* window: it closed                                                 */
    SOTTO_WHY_NOT_SAMPLED,   /* the secret draw was against it                                    */
    SOTTO_WHY_SLOT_TO_COME,  /* its secret slot is later                                          */
    SOTTO_WHY_SLOT_MISSED,   /* its secret slot passed                                            */
    SOTTO_WHY_NOT_TARGETED,  /* the recipe asks other devices                                     */
    SOTTO_WHY_COHORT_VALUE,  /* the recipe does not list this device's value                      */
    SOTTO_WHY_POLICY,        /* the policy does not allow such a recipe                           */
    SOTTO_WHY_FIELD,         /* the query reads what it may not, or is no query that may run      */
    SOTTO_WHY_BUDGET,        /* check says which of the three                                     */
    SOTTO_WHY_PARTIES,       /* leader or helper is not known, or has no key                      */
    SOTTO_WHY_QUERY_FAILED, /* the query answers without a column that the recipe encodes         */
    SOTTO_WHY_NO_VALUE,     /* the recipe asks for silence without a value, and the policy agrees */
    SOTTO_WHY_ANALYSIS_DONE, /* the analysis's one draw was used by another recipe                */
    SOTTO_WHY_TRANSPORT,     /* the report is sealed and paid for, and waits to be acknowledged   */
    SOTTO_WHY_GIVEN_UP,      /* it was erased unacknowledged: refused, forgotten, or out of time  */
    SOTTO_WHY_TOKEN,         /* the recipe asks for a token, and the device has none to use       */
    SOTTO_WHY_LOG,    /* it is not on a public log as the policy wants it, or the log forked */
    SOTTO_WHY_ROUNDS, /* learning: its participations are used up, or another round is too near    */
    SOTTO_WHY_MODEL, /* learning: the round's model can't be had, or is not the one that it names */
    SOTTO_WHY_TRAINER /* learning: there is no trainer, or it asked to be called later             */
} sotto_why;

typedef struct sotto_explanation {
    sotto_why why;
    int check; /* of SOTTO_WHY_BUDGET: 1 the analysis, 2 a field, 3 the claim; else 0 */
    char subject
        [128]; /* what it is about: the analysis, "stream.field", a device's field; may be empty */
    char sentence[512]; /* for the person */
} sotto_explanation;

/* Exactly why this device did or did not answer. Local only: never to be sent. Draws nothing and reads no event. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_why(sotto_device *device, sotto_explanation *out,
                                                       const char *recipe, sotto_err *err);
/* "not-sampled", "budget", ...: stable words; NULL for an unknown value. */
SOTTO_API const char *sotto_why_name(sotto_why why);

/* ---- what left my device ------------------------------------------------------------------------------------ */

typedef enum sotto_record_kind {
    SOTTO_RECORD_SEEN = 1,     /* a recipe arrived                                               */
    SOTTO_RECORD_DECIDED,      /* whether to take part was drawn                                 */
    SOTTO_RECORD_SILENT,       /* no report was made; the note says why                          */
    SOTTO_RECORD_SPENT,        /* a report was made, sealed and paid for                         */
    SOTTO_RECORD_DUMMY,        /* a report on no value was made                                  */
    SOTTO_RECORD_LEFT,         /* bytes were handed to the transport for the first time          */
    SOTTO_RECORD_RESEALED,     /* the same shares were sealed to another key                     */
    SOTTO_RECORD_ACKNOWLEDGED, /* the other side has them                                        */
    SOTTO_RECORD_GIVEN_UP,     /* a report was erased unacknowledged; the note says why          */
    SOTTO_RECORD_POLICY,       /* budgets renew otherwise than before                            */
    SOTTO_RECORD_RESET,        /* the ledger was lost; every budget counts as spent              */
    SOTTO_RECORD_CONSENTED,    /* the person said yes                                            */
    SOTTO_RECORD_WITHDRAWN,    /* the person said no                                             */
    SOTTO_RECORD_FORGOTTEN,    /* the person had events erased; the note says which              */
    SOTTO_RECORD_PARTIES,      /* a signed parties file was taken; the note says its serial      */
    SOTTO_RECORD_TOKEN,        /* a token was asked for, came or was refused; the note says which */
    SOTTO_RECORD_LOG, /* the last tree of a public log that was seen; a later one takes its place */
    SOTTO_RECORD_FORK, /* a public log signed two trees that do not continue each other  */
    SOTTO_RECORD_SESSION /* all rounds of a learning recipe were paid for, before any coin was tossed */
} sotto_record_kind;

/* "spent", "left", ...: as people read it; NULL for what is no kind. */
SOTTO_API const char *sotto_record_kind_name(sotto_record_kind kind);

/* What does not apply is 0 or empty, never NULL. */
typedef struct sotto_record_line {
    uint64_t number; /* 1, 2, 3 ... */
    int64_t at;
    sotto_record_kind kind;
    const char *recipe;
    const char *analysis;
    const char *fields; /* "keyboard.age keyboard.ngram"; of LOG and FORK the log's origin */
    const char *note;
    uint64_t round;
    uint8_t report[SOTTO_REPORT_ID_SIZE];
    sotto_bytes
        randomised; /* the bits that were told: the first is the lowest of byte 0. Empty where nothing was randomised */
    double epsilon, delta; /* of the cohort, as charged                                        */
    double local; /* epsilon of the report by itself; infinity: it had no local protection */
    uint64_t bytes;
    /* Of SEEN, SPENT and DUMMY, also when the recipe itself is gone: SHA-256 of its published bytes and of its query's
     * text, and the smallest cohort that it promised. Empty and 0 in entries of earlier versions. */
    sotto_bytes recipe_hash, query_hash;
    uint64_t min_cohort;
} sotto_record_line;
typedef sotto_status sotto_record_line_fn(void *context, const sotto_record_line *line,
                                          sotto_err *err);

/* Lines with a number above `after`, oldest first, of one recipe or with NULL of all. It is only ever added to. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_record(sotto_device *device, const char *recipe,
                                                          uint64_t after,
                                                          sotto_record_line_fn *show, void *context,
                                                          sotto_err *err);

/* ---- tokens ----------------------------------------------------------------------------------------------- */

typedef enum sotto_token_state {
    SOTTO_TOKEN_PLANNED = 1, /* it is asked for at a time that was drawn       */
    SOTTO_TOKEN_ASKED,       /* it was asked for, and no answer came yet       */
    SOTTO_TOKEN_HELD,
    SOTTO_TOKEN_SPENT,  /* a report carries it                                 */
    SOTTO_TOKEN_REFUSED /* the attester refused: there is none for this device */
} sotto_token_state;
/* "planned", "held", ...; NULL for an unknown value. */
SOTTO_API const char *sotto_token_state_name(sotto_token_state state);

typedef struct sotto_token_line {
    const char *issuer; /* its name in the policy */
    const char *analysis;
    int64_t opens, closes; /* of the collection            */
    sotto_token_state state;
    int64_t
        at; /* planned, asked: when it is asked for (again); held: from when it may be used; else 0 */
} sotto_token_line;
typedef sotto_status sotto_token_line_fn(void *context, const sotto_token_line *line,
                                         sotto_err *err);
/* In the order in which their keys were taken. No token is shown: whoever has one may use it. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_tokens(sotto_device *device,
                                                          sotto_token_line_fn *show, void *context,
                                                          sotto_err *err);

/* One line of the policy's budgets, and what is spent of it in the current period. */
typedef struct sotto_budget_line {
    bool analysis;         /* else a field, over all analyses together */
    const char *name;      /* of the analysis, or "stream.field"       */
    double epsilon, delta; /* spent                                    */
    uint64_t reports;
    double epsilon_allowed, delta_allowed;
    uint64_t reports_allowed;
    double local_allowed; /* of each report; infinity: also none; 0 for an analysis */
    bool unknown;         /* the ledger was reset: what is allowed counts as spent, all of it */
} sotto_budget_line;
typedef sotto_status sotto_budget_line_fn(void *context, const sotto_budget_line *line,
                                          sotto_err *err);
/* Analyses first, then fields, as the policy lists them. */
SOTTO_API SOTTO_MUST_USE sotto_status sotto_device_ledger(sotto_device *device,
                                                          sotto_budget_line_fn *show, void *context,
                                                          sotto_err *err);

#ifdef __cplusplus
}
#endif

#endif
