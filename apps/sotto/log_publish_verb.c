/* sotto log publish - a signed parties file, an issuer's signed list of keys, or a release goes into the log; what comes back is a bundle. */
#include "log_feed.h"
#include "log_publish.h"
#include "log_release.h"
#include "show.h"

#include "base/arena.h"
#include "recipe/listed_keys.h"
#include "recipe/signed_parties.h"

#include <stdio.h>
#include <string.h>

enum {
    FILE_MAX = 32 << 20
}; /* of an answer; signed files are shorter, and their decoders say so */

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

/* The entry has the serial that was signed: devices compare both. */
static sotto_status read_object(sotto_log_job *job, sotto_log_object *out)
{
    sotto_signed_parties file;
    sotto_buf bytes = {0};

    SOTTO_TRY(sotto_log_job_read(job, job->path, FILE_MAX, &bytes));
    *out = (sotto_log_object){.type = SOTTO_ENTRY_PARTIES, .bytes = sotto_buf_bytes(&bytes)};
    if (sotto_log_is_answer(out->bytes))
        return sotto_log_release_read(job, out);
    if (sotto_signed_parties_is(out->bytes)) {
        if (sotto_signed_parties_decode(&file, out->bytes, &job->err) != SOTTO_OK)
            return sotto_log_job_of(job, job->path);
    } else {
        out->type = SOTTO_ENTRY_ISSUER_KEYS;
        if (sotto_signed_keys_decode(&file, out->bytes, NULL) != SOTTO_OK)
            return sotto_fail(&job->err, SOTTO_MALFORMED,
                              "%.60s: neither a signed parties file nor a signed list of token "
                              "keys (`sotto parties sign`), nor an answer (`sotto collect --json`)",
                              job->path);
    }
    out->serial = file.serial;
    return lint(job, &file) == SOTTO_OK ? SOTTO_OK : sotto_log_job_of(job, job->path);
}

static sotto_status publish(sotto_log_job *job, sotto_log_object *object)
{
    SOTTO_TRY(read_object(job, object));
    SOTTO_TRY(sotto_log_job_open(job));
    SOTTO_TRY(sotto_log_publish(job, object, 1));
    return sotto_log_job_write(job, job->out, object->bundle);
}

static int read_words(sotto_log_job *job, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            job->json = true;
        } else if (argv[i][0] != '-' && !job->path) {
            job->path = argv[i];
        } else {
            return sotto_log_job_what(job, argv[i]);
        }
    }
    if (job->path)
        return sotto_log_job_has(job, sotto_log_publish_needs) ? EXIT_DONE : EXIT_USAGE;
    (void)fprintf(stderr, "sotto log publish: which file?\n");
    return EXIT_USAGE;
}

static int run_publish(int argc, char **argv)
{
    static sotto_log_job job;
    sotto_log_object object = {0};
    int code;

    if (!sotto_log_job_parse(&job, "log publish", &argc, argv))
        return EXIT_USAGE;
    code = read_words(&job, argc, argv);
    if (code == EXIT_DONE && publish(&job, &object) != SOTTO_OK)
        code = sotto_log_job_complain(&job);
    if (code == EXIT_DONE && job.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_text(&j, "type", sotto_entry_type_name(object.type));
        if (object.type == SOTTO_ENTRY_RELEASE)
            sotto_json_uint(&j, "count", object.release.count);
        else
            sotto_json_uint(&j, "serial", object.serial);
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
    .summary = "put a parties file, a list of token keys or a release into a log",
    .usage = "usage: sotto log publish FILE --from URL --token FILE --out BUNDLE --log KEY\n"
             "       [--witness KEY]... [--quorum N] [--url URL] [--json]\n\n"
             "FILE is what `sotto parties sign` printed: a parties file, or an issuer's list of\n"
             "token keys. It goes into the log with its serial, and BUNDLE gets what devices\n"
             "verify offline, once N of the witnesses have cosigned; without --quorum all of\n"
             "them. `sotto log feed` hands bundles to devices. --token has the log's token,\n"
             "--url says where the file is. Recipes are published by `sotto recipe publish`.\n\n"
             "FILE may also be an answer that `sotto collect --json` printed. Its count, cohort\n"
             "and the SHA-256 of the whole file go into the log as a release. `targeting` of a\n"
             "later recipe rests on it: its `release` has BUNDLE in hexadecimal digits.\n\n"
             "What is in the log already is not added again: BUNDLE then gets a new proof.\n",
    .run = run_publish,
};
