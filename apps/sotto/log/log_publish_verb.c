/* sotto log publish - puts a signed parties file, a signed list of token keys, a release, a policy or a library's digest into the log. What comes
 * back is a bundle. */
#include "log_feed.h"
#include "log_publish.h"
#include "log_release.h"
#include "show.h"

#include "base/arena.h"
#include "crypto/hash.h"
#include "recipe/listed_keys.h"
#include "recipe/model.h"
#include "recipe/signed_parties.h"

#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 64 << 20, NAME_MAX_BYTES = 255 };

static const char *library; /* its name and version; NULL: the file is none */

/* What devices could not read must not be published: an entry is never taken back. Who has to have signed it is the policy's to say. */
static sotto_status lint(sotto_log_job *job, const sotto_signed_parties *file)
{
    static sotto_mistakes mistakes;
    const sotto_listed_key *keys;
    const sotto_parties *parties;
    size_t count;

    return file->kind == SOTTO_SIGNED_KEYS
               ? sotto_listed_keys_read(&keys, &count, file->parties, &job->arena, &job->err)
               : sotto_parties_read(&parties, file->parties, &job->arena, &mistakes, &job->err);
}

/* A policy as the application ships it, or a library's digest: for auditors, since no device takes either from a log. */
static sotto_status read_policy(sotto_log_job *job, sotto_log_object *out)
{
    static sotto_mistakes mistakes;
    const sotto_policy *policy;

    if (sotto_policy_read(&policy, out->bytes, &job->arena, &mistakes, &job->err) != SOTTO_OK)
        return sotto_log_job_of(job, job->path);
    out->type = SOTTO_ENTRY_POLICY;
    out->entry.name = sotto_bytes_of(policy->name, strlen(policy->name));
    return SOTTO_OK;
}

static sotto_status read_library(sotto_log_job *job, sotto_log_object *out)
{
    if (strlen(library) > NAME_MAX_BYTES)
        return sotto_fail(&job->err, SOTTO_TOO_LARGE, "--library: a name of at most 255 bytes");
    out->type = SOTTO_ENTRY_LIBRARY;
    out->entry.name = sotto_bytes_of(library, strlen(library));
    sotto_hash_once(out->entry.digest, SOTTO_SHA256, out->bytes);
    out->bytes = sotto_bytes_of(NULL, 0);
    return SOTTO_OK;
}

/* The entry has the serial that was signed: devices compare both. */
static sotto_status read_object(sotto_log_job *job, sotto_log_object *out)
{
    sotto_signed_parties file;
    sotto_buf bytes = {0};

    SOTTO_TRY(sotto_log_job_read(job, job->path, FILE_MAX, &bytes));
    *out = (sotto_log_object){.type = SOTTO_ENTRY_PARTIES, .bytes = sotto_buf_bytes(&bytes)};
    if (library)
        return read_library(job, out);
    if (sotto_log_has(out->bytes, "receipt"))
        return sotto_log_release_read(job, out);
    if (sotto_log_has(out->bytes, "analyses"))
        return read_policy(job, out);
    if (sotto_signed_parties_is(out->bytes)) {
        if (sotto_signed_parties_decode(&file, out->bytes, &job->err) != SOTTO_OK)
            return sotto_log_job_of(job, job->path);
    } else {
        out->type = SOTTO_ENTRY_ISSUER_KEYS;
        if (sotto_signed_keys_decode(&file, out->bytes, NULL) != SOTTO_OK)
            return sotto_fail(&job->err, SOTTO_MALFORMED,
                              "%.60s: neither a signed parties file nor a signed list of token "
                              "keys, nor an answer, nor a policy",
                              job->path);
    }
    out->entry.serial = file.serial;
    return lint(job, &file) == SOTTO_OK ? SOTTO_OK : sotto_log_job_of(job, job->path);
}

static sotto_status publish(sotto_log_job *job, sotto_log_object *object)
{
    SOTTO_TRY(read_object(job, object));
    SOTTO_TRY(sotto_log_job_open(job));
    SOTTO_TRY(sotto_log_publish(job, object, 1));
    return sotto_log_job_write(job, job->out, object->bundle);
}

static int run_publish(int argc, char **argv)
{
    static sotto_log_job job;
    sotto_log_object object = {0};
    const sotto_argument words[] = {{.name = "FILE", .text = &job.path, .needed = true},
                                    {.name = "--library", .text = &library},
                                    SOTTO_LOG_PUBLISH_WORDS(&job),
                                    {.name = "--json", .flag = &job.json}};
    int code = sotto_log_job_arguments(&job, "log publish", words, sizeof words / sizeof words[0],
                                       argc, argv);

    if (code == EXIT_DONE && library && !library[0])
        code = sotto_arguments_misused("log publish", "--library", "it has a name");
    if (code == EXIT_DONE && publish(&job, &object) != SOTTO_OK)
        code = sotto_log_job_complain(&job);
    if (code == EXIT_DONE && job.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_text(&j, "type", sotto_entry_type_name(object.type));
        if (object.type == SOTTO_ENTRY_RELEASE)
            sotto_json_uint(&j, "count", object.entry.count);
        else if (object.entry.name.len > 0)
            sotto_json_bytes(&j, "name", object.entry.name);
        else
            sotto_json_uint(&j, "serial", object.entry.serial);
        sotto_json_text(&j, "bundle", job.out);
        (void)sotto_show_end(&j);
    } else if (code == EXIT_DONE) {
        printf("%s\n", job.out);
    }
    sotto_log_job_end(&job);
    return code;
}

const sotto_verb sotto_verb_log_publish = {
    .name = "publish",
    .summary = "put a parties file, list of token keys, release, policy or library into a log",
    .usage =
        "usage: sotto log publish FILE --from URL --token FILE --out BUNDLE --log KEY\n"
        "       [--witness KEY]... [--quorum N] [--url URL] [--library NAME] [--json]\n\n"
        "FILE is what `sotto parties sign` printed: a parties file, or an issuer's list of\n"
        "token keys. It goes into the log with its serial, and BUNDLE gets what devices\n"
        "verify offline, once N of the witnesses have cosigned; without --quorum all of\n"
        "them. `sotto log feed` hands bundles to devices. --token has the log's token,\n"
        "--url says where the file is. Recipes are published by `sotto recipe publish`.\n\n"
        "FILE may also be an answer that `sotto collect --json` printed. Its count, cohort\n"
        "and the SHA-256 of the whole file go into the log as a release. `targeting` of a\n"
        "later recipe rests on it: its `release` has BUNDLE in hexadecimal digits.\n\n"
        "A policy is published as the application ships it. With --library FILE is a library,\n"
        "and its SHA-256 and NAME (\"libsotto-device 1.2.0 x86_64\") go into the log. Auditors\n"
        "compare both with what devices have.\n\n"
        "What is in the log already is not added again: BUNDLE then gets a new proof.\n",
    .run = run_publish,
};
