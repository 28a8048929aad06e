/* sotto log - keys of logs and witnesses; proofs, bundles and new entries, judged without trust in who serves them. */
#include "log_feed.h"
#include "log_source.h"
#include "show.h"
#include "verbs.h"

#include "base/arena.h"
#include "base/hex.h"
#include "tlog/bundle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- an entry in words --------------------------------------------------------------------------------------------------- */

static void print_cohort(sotto_json *j, sotto_bytes cohort)
{
    sotto_bytes field, value;
    char name[256];

    sotto_json_object(j, "cohort_values");
    while (sotto_entry_cohort_next(&field, &value, &cohort)) {
        memcpy(name, field.data, field.len);
        name[field.len] = 0;
        sotto_json_bytes(j, name, value);
    }
    sotto_json_end(j);
}

static void print_fields(sotto_json *j, const sotto_tlog_entry *e)
{
    sotto_json_text(j, "type", sotto_entry_type_name(e->type));
    sotto_json_hex(j, "digest", sotto_bytes_of(e->digest, sizeof e->digest));
    if (e->name.len > 0)
        sotto_json_bytes(j, "name", e->name);
    if (e->url.len > 0)
        sotto_json_bytes(j, "url", e->url);
    if (e->type == SOTTO_ENTRY_PARTIES)
        sotto_json_uint(j, "serial", e->serial);
    if (e->type == SOTTO_ENTRY_ISSUER_KEY || e->type == SOTTO_ENTRY_RELEASE) {
        sotto_json_uint(j, "start", e->start);
        sotto_json_uint(j, "end", e->end);
    }
    if (e->type == SOTTO_ENTRY_ISSUER_KEY) {
        sotto_json_uint(j, "kind", e->kind);
        sotto_json_hex(j, "key", e->key);
    }
    if (e->type == SOTTO_ENTRY_RELEASE) {
        sotto_json_uint(j, "count", e->count);
        sotto_json_hex(j, "receipt", sotto_bytes_of(e->receipt, sizeof e->receipt));
        print_cohort(j, e->cohort);
    }
}

static void print_entry(bool json, uint64_t index, sotto_bytes entry)
{
    sotto_tlog_entry e = {0};
    const bool known = sotto_tlog_entry_decode(&e, entry, NULL) == SOTTO_OK;
    char digest[2 * SOTTO_ENTRY_DIGEST + 1] = "";

    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_uint(&j, "index", index);
        if (known)
            print_fields(&j, &e);
        else
            sotto_json_hex(&j, "unknown", entry);
        (void)sotto_show_end(&j);
        return;
    }
    if (known)
        sotto_hex_encode(digest, sotto_bytes_of(e.digest, sizeof e.digest));
    printf("%" PRIu64 " %s %s\n", index, known ? sotto_entry_type_name(e.type) : "unknown", digest);
}

/* ---- key ------------------------------------------------------------------------------------------------------------------- */

static int run_key(int argc, char **argv)
{
    static sotto_log_job job;
    uint8_t memory[SOTTO_NOTE_KEY_TEXT];
    sotto_buf public = sotto_buf_over(memory, sizeof memory);
    bool cosigns = false;
    const sotto_argument words[] = {{.name = "NAME", .text = &job.path, .needed = true},
                                    {.name = "--out", .text = &job.out, .needed = true},
                                    {.name = "--cosigns", .flag = &cosigns},
                                    {.name = "--json", .flag = &job.json}};
    int code = sotto_arguments_read("log key", words, sizeof words / sizeof words[0], argc, argv);

    if (code == EXIT_DONE && strstr(job.path, "://")) {
        (void)fprintf(stderr, "sotto log key: NAME is a URL without its scheme: %s\n",
                      strstr(job.path, "://") + 3);
        code = EXIT_USAGE;
    }
    if (code == EXIT_DONE &&
        sotto_log_key_make(job.out, job.path, cosigns ? SOTTO_NOTE_COSIGNATURE : SOTTO_NOTE_ED25519,
                           &public, &job.err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto log key: %s: %s\n", job.out, job.err.reason);
        code = sotto_exit_code(job.err.status, SOTTO_AT_FILE);
    }
    if (code == EXIT_DONE && job.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_bytes(&j, "key", sotto_buf_bytes(&public));
        (void)sotto_show_end(&j);
    } else if (code == EXIT_DONE) {
        printf("%.*s\n", (int)public.len, (const char *)public.data);
    }
    sotto_log_job_end(&job);
    return code;
}

/* ---- verify ------------------------------------------------------------------------------------------------------------------ */

static sotto_status judge(sotto_log_job *job, sotto_bundle_facts *facts, sotto_bundle *bundle)
{
    sotto_buf file = {0};

    SOTTO_TRY(sotto_log_job_read(job, job->path, SOTTO_BUNDLE_MAX, &file));
    if (sotto_bundle_verify(facts, sotto_buf_bytes(&file), &job->trust, &job->err) != SOTTO_OK ||
        sotto_bundle_decode(bundle, sotto_buf_bytes(&file), &job->err) != SOTTO_OK)
        return sotto_log_job_of(job, job->path);
    return SOTTO_OK;
}

static int run_verify(int argc, char **argv)
{
    static sotto_log_job job;
    sotto_bundle_facts facts = {0};
    sotto_bundle bundle = {0};
    const sotto_argument words[] = {{.name = "BUNDLE", .text = &job.path, .needed = true},
                                    {.name = "--out", .text = &job.out},
                                    {.name = "--json", .flag = &job.json}};
    int code = sotto_log_job_arguments(&job, "log verify", words, sizeof words / sizeof words[0],
                                       argc, argv);

    if (code == EXIT_DONE &&
        (sotto_log_job_open(&job) != SOTTO_OK || judge(&job, &facts, &bundle) != SOTTO_OK))
        code = sotto_log_job_complain(&job);
    if (code == EXIT_DONE)
        print_entry(job.json, facts.index, bundle.entry);
    if (code == EXIT_DONE && !job.json)
        printf("holds: in the log %.*s at size %" PRIu64 "; at least %zu of %zu witnesses "
               "cosigned it\n",
               (int)facts.checkpoint.origin.len, (const char *)facts.checkpoint.origin.data,
               facts.checkpoint.size, job.trust.quorum, job.witness_count);
    if (code == EXIT_DONE && job.trust.quorum == 0)
        (void)fprintf(stderr,
                      "sotto log verify: no witness was asked for: the log alone vouches\n");
    if (code == EXIT_DONE && job.out &&
        sotto_log_job_write(&job, job.out, facts.object) != SOTTO_OK)
        code = sotto_log_job_complain(&job);
    sotto_log_job_end(&job);
    return code;
}

/* ---- proof ------------------------------------------------------------------------------------------------------------------- */

static sotto_status prove(sotto_log_job *job, sotto_buf *out)
{
    sotto_inclusion inclusion = {0};
    sotto_checkpoint now;
    sotto_buf note;
    char *end = NULL;

    errno = 0;
    inclusion.index = strtoull(job->index, &end, 10);
    if (job->index[0] < '0' || job->index[0] > '9' || *end || errno)
        return sotto_fail(&job->err, SOTTO_MALFORMED, "--index: not a number of an entry");
    SOTTO_TRY(sotto_buf_take(&note, &job->arena, SOTTO_NOTE_MAX, &job->err));
    SOTTO_TRY(sotto_buf_take(out, &job->arena, SOTTO_NOTE_MAX + 8192, &job->err));
    SOTTO_TRY(sotto_log_job_latest(job, &note, &now));
    if (inclusion.index >= now.size)
        return sotto_fail(&job->err, SOTTO_MISSING,
                          "no entry %" PRIu64 ": the tree has %" PRIu64 ", numbered from 0",
                          inclusion.index, now.size);
    SOTTO_TRY(sotto_log_prove(&job->source, &inclusion, now.size, &job->err));
    inclusion.checkpoint = sotto_buf_bytes(&note);
    return sotto_inclusion_encode(out, &inclusion, &job->err);
}

static int run_proof(int argc, char **argv)
{
    static sotto_log_job job;
    sotto_buf out = {0};
    const sotto_argument words[] = {{.name = "--index", .text = &job.index, .needed = true},
                                    {.name = "--from", .text = &job.from, .needed = true},
                                    {.name = "--json", .flag = &job.json}};
    int code = sotto_log_job_arguments(&job, "log proof", words, sizeof words / sizeof words[0],
                                       argc, argv);

    if (code == EXIT_DONE &&
        (sotto_log_job_open(&job) != SOTTO_OK || prove(&job, &out) != SOTTO_OK))
        code = sotto_log_job_complain(&job);
    if (code == EXIT_DONE && job.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_bytes(&j, "proof", sotto_buf_bytes(&out));
        (void)sotto_show_end(&j);
    } else if (code == EXIT_DONE) {
        (void)fwrite(out.data, 1, out.len, stdout);
    }
    sotto_log_job_end(&job);
    return code;
}

/* ---- monitor ----------------------------------------------------------------------------------------------------------------- */

static void tell(void *context, uint64_t index, sotto_bytes entry)
{
    print_entry(((const sotto_log_job *)context)->json, index, entry);
}

/* Both checkpoints, one behind the other: each is signed by the log. */
static void keep_evidence(sotto_log_job *job, sotto_bytes before, sotto_bytes now)
{
    const sotto_err cause = job->err;
    char path[4096];

    (void)snprintf(path, sizeof path, "%s.seen", job->state);
    if (sotto_log_job_write(job, path, before) == SOTTO_OK) {
        (void)snprintf(path, sizeof path, "%s.fork", job->state);
        if (sotto_log_job_write(job, path, now) == SOTTO_OK)
            (void)fprintf(stderr, "sotto log monitor: evidence: %s.seen and %s.fork\n", job->state,
                          job->state);
    }
    job->err = cause;
}

/* Nothing is told of a tree that is not believed yet. */
static void keep_quiet(void *context, uint64_t index, sotto_bytes entry)
{
    (void)context;
    (void)index;
    (void)entry;
}

/* Whatever the log's own key signed has to continue what was seen, also if no witness cosigned it: a witness that refuses a fork does not
 * cosign it. */
static sotto_status look(sotto_log_job *job, const sotto_checkpoint *from, sotto_bytes before,
                         sotto_buf *note, uint8_t *room)
{
    const sotto_log_trust log_alone = {.log = &job->log_key};
    sotto_checkpoint now;
    const sotto_status trusted = sotto_log_job_latest(job, note, &now);
    const sotto_err untrusted = job->err;
    sotto_status status;

    if (trusted != SOTTO_OK &&
        sotto_checkpoint_open(&now, sotto_buf_bytes(note), &log_alone, NULL) != SOTTO_OK)
        return trusted;
    sotto_err_clear(&job->err);
    status = sotto_log_follow(&job->source, from, &now, room,
                              trusted == SOTTO_OK ? tell : keep_quiet, job, &job->err);
    if (status == SOTTO_REJECTED || status == SOTTO_STALE)
        keep_evidence(job, before, sotto_buf_bytes(note));
    if (status != SOTTO_OK || trusted == SOTTO_OK)
        return status;
    job->err = untrusted;
    return trusted;
}

static sotto_status monitor(sotto_log_job *job)
{
    const sotto_log_trust log_alone = {.log = &job->log_key};
    sotto_checkpoint from = {0};
    sotto_buf before = {0}, note;
    uint8_t *room = sotto_arena_take(&job->arena, SOTTO_LOG_BUNDLE_MAX);
    sotto_status status;

    if (!room)
        return sotto_fail(&job->err, SOTTO_NO_MEMORY, "no memory for entries");
    status = sotto_log_job_read(job, job->state, SOTTO_NOTE_MAX, &before);
    if (status != SOTTO_OK && status != SOTTO_MISSING)
        return status;
    if (status == SOTTO_OK &&
        sotto_checkpoint_open(&from, sotto_buf_bytes(&before), &log_alone, &job->err) != SOTTO_OK)
        return sotto_log_job_of(job, job->state);
    sotto_err_clear(&job->err);
    SOTTO_TRY(sotto_buf_take(&note, &job->arena, SOTTO_NOTE_MAX, &job->err));
    SOTTO_TRY(look(job, &from, sotto_buf_bytes(&before), &note, room));
    return sotto_log_job_replace(job, job->state, sotto_buf_bytes(&note));
}

static int run_monitor(int argc, char **argv)
{
    static sotto_log_job job;
    const sotto_argument words[] = {{.name = "--from", .text = &job.from, .needed = true},
                                    {.name = "--state", .text = &job.state, .needed = true},
                                    {.name = "--json", .flag = &job.json}};
    int code = sotto_log_job_arguments(&job, "log monitor", words, sizeof words / sizeof words[0],
                                       argc, argv);

    if (code == EXIT_DONE && (sotto_log_job_open(&job) != SOTTO_OK || monitor(&job) != SOTTO_OK))
        code = sotto_log_job_complain(&job);
    sotto_log_job_end(&job);
    return code;
}

/* ---- the table --------------------------------------------------------------------------------------------------------------- */

static const sotto_verb verb_key = {
    .name = "key",
    .summary = "make a key for a log or a witness",
    .usage = "usage: sotto log key NAME --out FILE [--cosigns] [--json]\n\n"
             "Writes a new key for signing to FILE, which must not exist, and prints its public\n"
             "half. NAME is the log's origin or the witness' name: a URL without https://.\n"
             "--cosigns makes the key of a witness.\n",
    .run = run_key,
};

static const sotto_verb verb_verify = {
    .name = "verify",
    .summary = "judge a bundle as devices do, without a network",
    .usage = "usage: sotto log verify BUNDLE --log KEY [--witness KEY]... [--quorum N]\n"
             "       [--out FILE] [--json]\n\n"
             "Checks that what is in BUNDLE is in the log of that public key, and that N of the\n"
             "witnesses cosigned it; without --quorum all of them. --out writes the recipe,\n"
             "parties file or list of token keys that came with it. Exits with 6 if it does not\n"
             "hold.\n",
    .run = run_verify,
};

static const sotto_verb verb_proof = {
    .name = "proof",
    .summary = "print a proof that an entry is in a log",
    .usage = "usage: sotto log proof --index N --from URL --log KEY [--witness KEY]...\n"
             "       [--quorum N] [--json]\n\n"
             "Prints a proof in the format c2sp.org/tlog-proof. --from may also be the log's\n"
             "directory.\n",
    .run = run_proof,
};

static const sotto_verb verb_monitor = {
    .name = "monitor",
    .summary = "tell of every new entry, and of a fork",
    .usage = "usage: sotto log monitor --from URL --state FILE --log KEY [--witness KEY]...\n"
             "       [--quorum N] [--json]\n\n"
             "Prints the entries since the last run, checks that they make the tree that was\n"
             "signed, and remembers its checkpoint in FILE. A log that forked or went back ends\n"
             "it with exit code 6, and both checkpoints are kept in FILE.seen and FILE.fork. It\n"
             "ends with 5, and FILE stays, if fewer than N of the witnesses have cosigned so far.\n"
             "--from may also be the log's directory.\n",
    .run = run_monitor,
};

static const sotto_verb *const parts[] = {
    &verb_key,     &verb_verify,         &verb_proof,
    &verb_monitor, &sotto_verb_log_feed, &sotto_verb_log_publish,
    NULL};

const sotto_verb sotto_verb_log = {
    .name = "log",
    .summary = "read a public log, and judge what is in it",
    .parts = parts,
};
