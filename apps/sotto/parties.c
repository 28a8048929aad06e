/* sotto parties - sign a parties file, so that devices take it in place of the one that came with their application. */
#define _POSIX_C_SOURCE 200809L
#include "show.h"
#include "support/arguments.h"
#include "verbs.h"

#include "base/file.h"
#include "base/hex.h"
#include "base/secret_file.h"
#include "recipe/listed_keys.h"
#include "recipe/signed_parties.h"
#include "sotto/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_FILE = SOTTO_SIGNED_KEYS_MAX, MOST_POLICY = 1 << 20, ARENA = 64 << 20 };

/* One run of a verb. */
typedef struct parties_job {
    const char *verb, *path, *key, *serial, *policy, *application;
    bool json, token_keys;
    sotto_err err;
} parties_job;

static int complain(const parties_job *job, const char *path)
{
    (void)fprintf(stderr, "sotto parties %s: %s: %s\n", job->verb, path, job->err.reason);
    return sotto_exit_code(job->err.status, SOTTO_AT_FILE);
}

static int parse(parties_job *job, const char *verb, const sotto_argument *own, size_t count,
                 int argc, char **argv)
{
    enum { MOST = 8 };
    char name[32];
    sotto_argument words[MOST] = {{.name = "FILE", .text = &job->path, .needed = true},
                                  {.name = "--json", .flag = &job->json}};
    size_t filled = 2;

    *job = (parties_job){.verb = verb};
    for (size_t i = 0; i < count && filled < MOST; i++)
        words[filled++] = own[i];
    (void)snprintf(name, sizeof name, "parties %s", verb);
    return sotto_arguments_read(name, words, filled, argc, argv);
}

static sotto_status read_file(parties_job *job, sotto_bytes *out, uint8_t *memory, size_t most,
                              const char *path)
{
    sotto_buf file = sotto_buf_over(memory, most);
    sotto_status status = sotto_file_append(&file, path, &job->err);

    *out = sotto_buf_bytes(&file);
    return status;
}

/* ---- key -------------------------------------------------------------------------------------------------- */

static sotto_status make_key(parties_job *job, uint8_t seed[SOTTO_SIGN_SEED], sotto_signer *signer)
{
    SOTTO_TRY(sotto_random_bytes(seed, SOTTO_SIGN_SEED, &job->err));
    SOTTO_TRY(sotto_signer_init(signer, seed, &job->err));
    return sotto_secret_file_write(job->path, sotto_bytes_of(seed, SOTTO_SIGN_SEED), &job->err);
}

static int run_key(int argc, char **argv)
{
    uint8_t seed[SOTTO_SIGN_SEED];
    char hex[2 * SOTTO_SIGN_PUBLIC + 1];
    sotto_signer signer = {0};
    parties_job job;
    int code = parse(&job, "key", NULL, 0, argc, argv);

    if (code == EXIT_DONE && make_key(&job, seed, &signer) != SOTTO_OK)
        code = complain(&job, job.path);
    if (code == EXIT_DONE && job.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_hex(&j, "key", sotto_bytes_of(signer.public_key, SOTTO_SIGN_PUBLIC));
        (void)sotto_show_end(&j);
    } else if (code == EXIT_DONE) {
        sotto_hex_encode(hex, sotto_bytes_of(signer.public_key, SOTTO_SIGN_PUBLIC));
        printf("%s\n", hex);
        (void)fprintf(
            stderr,
            "The line above is public. It goes into the policy: into \"parties_keys\", or "
            "for an issuer of tokens into \"issuers\".\n"
            "%s is secret: whoever has it can sign what devices of that policy take, HPKE "
            "keys of their own for both servers or token keys.\n",
            job.path);
    }
    sotto_signer_clear(&signer);
    sotto_wipe(seed, sizeof seed);
    return code;
}

/* ---- sign ------------------------------------------------------------------------------------------------- */

static sotto_status open_signer(parties_job *job, sotto_signer *signer)
{
    uint8_t seed[SOTTO_SIGN_SEED + 2]; /* a file that fills it is too long */
    sotto_buf out = sotto_buf_over(seed, sizeof seed);
    sotto_status status = sotto_secret_file_read(&out, job->key, SOTTO_SECRET_OWN, &job->err);

    if (status == SOTTO_OK && out.len != SOTTO_SIGN_SEED)
        status = sotto_fail(&job->err, SOTTO_MALFORMED, "no signing key of `sotto parties key`");
    if (status == SOTTO_OK)
        status = sotto_signer_init(signer, seed, &job->err);
    sotto_wipe(seed, sizeof seed);
    return status;
}

static sotto_status read_serial(parties_job *job, uint64_t *serial)
{
    char *end = NULL;

    *serial = strtoull(job->serial, &end, 10);
    if (job->serial[0] < '1' || job->serial[0] > '9' || *end || *serial > INT64_MAX ||
        strlen(job->serial) > 19)
        return sotto_fail(&job->err, SOTTO_MALFORMED,
                          "--serial takes a whole number from 1 to 2^63 - 1");
    return SOTTO_OK;
}

/* A file that devices could not read must not be signed. */
static sotto_status lint(parties_job *job, sotto_bytes json)
{
    static sotto_mistakes mistakes;
    const sotto_listed_key *keys;
    const sotto_parties *parties;
    sotto_arena arena;
    size_t count;

    sotto_arena_init(&arena, ARENA);
    sotto_status status = job->token_keys
                              ? sotto_listed_keys_read(&keys, &count, json, &arena, &job->err)
                              : sotto_parties_read(&parties, json, &arena, &mistakes, &job->err);
    sotto_arena_clear(&arena);
    return status;
}

/* What is signed already gets one signature more, under the serial that it has. */
static sotto_status begin(parties_job *job, sotto_signed_parties *file, sotto_bytes bytes)
{
    uint64_t serial = (uint64_t)time(NULL);

    if (job->serial)
        SOTTO_TRY(read_serial(job, &serial));
    if (job->token_keys || !sotto_signed_parties_is(bytes)) {
        *file = (sotto_signed_parties){.kind = job->token_keys ? SOTTO_SIGNED_KEYS
                                                               : SOTTO_SIGNED_PARTIES,
                                       .serial = serial,
                                       .parties = bytes};
        return lint(job, bytes);
    }
    SOTTO_TRY(sotto_signed_parties_decode(file, bytes, &job->err));
    if (job->serial && serial != file->serial)
        return sotto_fail(&job->err, SOTTO_DENIED, "it is signed with serial %" PRIu64 " already",
                          file->serial);
    return lint(job, file->parties);
}

/* The bytes that devices take are no JSON: here they are a text. */
static int print_signed(const sotto_signed_parties *file, sotto_bytes bytes)
{
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

    sotto_json_uint(&j, "serial", file->serial);
    sotto_json_uint(&j, "signatures", file->count);
    sotto_json_bytes(&j, "signed", bytes);
    return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
}

static int run_sign(int argc, char **argv)
{
    static uint8_t memory[MOST_FILE], signed_memory[MOST_FILE];
    sotto_buf out = sotto_buf_over(signed_memory, sizeof signed_memory);
    sotto_signed_parties file = {0};
    sotto_signer signer = {0};
    sotto_bytes bytes;
    parties_job job;
    const sotto_argument words[] = {{.name = "--key", .text = &job.key, .needed = true},
                                    {.name = "--serial", .text = &job.serial},
                                    {.name = "--token-keys", .flag = &job.token_keys}};
    int code = parse(&job, "sign", words, sizeof words / sizeof words[0], argc, argv);

    if (code == EXIT_DONE && open_signer(&job, &signer) != SOTTO_OK)
        code = complain(&job, job.key);
    if (code == EXIT_DONE && (read_file(&job, &bytes, memory, MOST_FILE, job.path) != SOTTO_OK ||
                              begin(&job, &file, bytes) != SOTTO_OK ||
                              sotto_signed_parties_sign(&file, &signer, &job.err) != SOTTO_OK ||
                              sotto_signed_parties_encode(&out, &file, &job.err) != SOTTO_OK))
        code = complain(&job, job.path);
    if (code == EXIT_DONE && job.json)
        code = print_signed(&file, sotto_buf_bytes(&out));
    else if (code == EXIT_DONE)
        (void)fwrite(out.data, 1, out.len, stdout);
    sotto_signer_clear(&signer);
    return code;
}

/* ---- check ------------------------------------------------------------------------------------------------ */

static sotto_status check(parties_job *job, const sotto_signed_parties *file)
{
    static uint8_t memory[MOST_POLICY];
    static sotto_mistakes mistakes;
    const sotto_policy *policy;
    sotto_arena arena;
    sotto_bytes json;
    sotto_status status;

    SOTTO_TRY(read_file(job, &json, memory, MOST_POLICY, job->policy));
    sotto_arena_init(&arena, ARENA);
    status = sotto_policy_read(&policy, json, &arena, &mistakes, &job->err);
    if (status == SOTTO_OK)
        status = sotto_signed_parties_check(file, policy, &job->err);
    sotto_arena_clear(&arena);
    return status;
}

/* What every device asks that has this application's file; which serials it took before, it alone knows. */
static sotto_status compare(parties_job *job, const sotto_signed_parties *file)
{
    static uint8_t memory[MOST_FILE];
    static sotto_mistakes mistakes;
    const sotto_parties *shipped, *signed_ones;
    sotto_arena arena;
    sotto_bytes json;

    if (sotto_signed_parties_ahead(file->serial, (int64_t)time(NULL)))
        return sotto_fail(&job->err, SOTTO_DENIED,
                          "serial %" PRIu64 " is more than %d days ahead of the clock: devices "
                          "refuse it",
                          file->serial, (int)SOTTO_PARTIES_DAYS_AHEAD);
    if (!job->application)
        return SOTTO_OK;
    SOTTO_TRY(read_file(job, &json, memory, MOST_FILE, job->application));
    sotto_arena_init(&arena, ARENA);
    sotto_status status = sotto_parties_read(&shipped, json, &arena, &mistakes, &job->err);
    if (status == SOTTO_OK)
        status = sotto_parties_read(&signed_ones, file->parties, &arena, &mistakes, &job->err);
    if (status == SOTTO_OK && !sotto_parties_same_servers(shipped, signed_ones))
        status = sotto_fail(&job->err, SOTTO_DENIED,
                            "other names, roles or URLs than in %.60s: devices refuse it",
                            job->application);
    sotto_arena_clear(&arena);
    return status;
}

static const char *verdict(const parties_job *job)
{
    if (!job->policy)
        return "no signature was checked: name a policy with --policy";
    if (!job->application)
        return "the signatures are those that the policy wants. Devices also compare names, roles "
               "and URLs\n"
               "with their application's own file: name it with --application";
    return "devices with this policy and application take it, unless they took a later serial";
}

static void print_keys(const parties_job *job, const sotto_signed_parties *file)
{
    char hex[2 * SOTTO_SIGN_PUBLIC + 1];

    if (job->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_uint(&j, "serial", file->serial);
        sotto_json_uint(&j, "signatures", file->count);
        sotto_json_bool(&j, "checked", job->policy != NULL);
        sotto_json_bool(&j, "compared", job->application != NULL);
        (void)sotto_show_end(&j);
        return;
    }
    printf("serial %" PRIu64 "\n", file->serial);
    for (size_t i = 0; i < file->count; i++) {
        sotto_hex_encode(hex, sotto_bytes_of(file->by[i].key, SOTTO_SIGN_PUBLIC));
        printf("signed by %s\n", hex);
    }
    printf("%s\n", verdict(job));
}

static int run_check(int argc, char **argv)
{
    static uint8_t memory[MOST_FILE];
    sotto_signed_parties file = {0};
    sotto_bytes bytes;
    parties_job job;
    const sotto_argument words[] = {{.name = "--policy", .text = &job.policy},
                                    {.name = "--application", .text = &job.application}};
    int code = parse(&job, "check", words, sizeof words / sizeof words[0], argc, argv);

    if (code == EXIT_DONE &&
        (read_file(&job, &bytes, memory, MOST_FILE, job.path) != SOTTO_OK ||
         sotto_signed_parties_decode(&file, bytes, &job.err) != SOTTO_OK ||
         lint(&job, file.parties) != SOTTO_OK || (job.policy && check(&job, &file) != SOTTO_OK) ||
         compare(&job, &file) != SOTTO_OK))
        code = complain(&job, job.path);
    if (code == EXIT_DONE)
        print_keys(&job, &file);
    return code;
}

/* ---- show ------------------------------------------------------------------------------------------------- */

static int run_show(int argc, char **argv)
{
    static uint8_t memory[MOST_FILE];
    sotto_signed_parties file = {0};
    sotto_bytes bytes;
    parties_job job;
    int code = parse(&job, "show", NULL, 0, argc, argv); /* with --json or without, it is JSON */

    if (code == EXIT_DONE && (read_file(&job, &bytes, memory, MOST_FILE, job.path) != SOTTO_OK ||
                              sotto_signed_parties_decode(&file, bytes, &job.err) != SOTTO_OK))
        code = complain(&job, job.path);
    if (code == EXIT_DONE)
        (void)fwrite(file.parties.data, 1, file.parties.len, stdout);
    return code;
}

static const sotto_verb verb_key = {
    .name = "key",
    .summary = "make a key that signs parties files, or an issuer's lists",
    .usage =
        "usage: sotto parties key FILE [--json]\n\n"
        "Writes a secret key into FILE, which must not be there yet, and prints its public half,\n"
        "64 hex digits. That goes into the policy's \"parties_keys\", or for an issuer of tokens\n"
        "into its \"issuers\". Whoever has the secret key of \"parties_keys\" can name HPKE keys\n"
        "of their own for both servers. A leader's or helper's operator must not have it alone:\n"
        "give each a key, name both in the policy, and both must sign.\n",
    .run = run_key,
};

static const sotto_verb verb_sign = {
    .name = "sign",
    .summary = "sign a parties file, for devices that have an older one",
    .usage =
        "usage: sotto parties sign FILE --key KEYFILE [--serial N] [--token-keys] [--json]\n\n"
        "Prints FILE, a parties file, with a signature. Devices whose policy names the key take\n"
        "it in place of the file that came with their application, if it has the same names,\n"
        "roles and URLs. The serial must be higher than that of every file they took before. If\n"
        "not given, it is the time in seconds since 1970. It may not be more than 30 days ahead "
        "of\n"
        "that time. A file that is signed already gets one signature more, under the serial that\n"
        "it has. Exits with 3 if FILE has mistakes. With --json the signed file is the text "
        "`signed` of\n"
        "an object, beside its serial.\n\n"
        "With --token-keys, FILE is an issuer's list of keys (GET keys of `sotto serve issuer`),\n"
        "and KEYFILE the issuer's own, whose public half is in the policy's \"issuers\". Devices\n"
        "take it with `sotto device keys`.\n",
    .run = run_sign,
};

static const sotto_verb verb_check = {
    .name = "check",
    .summary = "say who signed a file, and whether a policy's devices take it",
    .usage =
        "usage: sotto parties check FILE [--policy FILE] [--application FILE] [--json]\n\n"
        "Prints the serial and the keys that signed. With --policy, checks the signatures.\n"
        "With --application, the parties file that came with the application, compares names,\n"
        "roles and URLs. Exits with 4 if devices would refuse the file. Either too few of the\n"
        "policy's keys signed, the servers are others, or the serial is over 30 days ahead. Exits\n"
        "with 6 if a signature does not hold. A device also refuses a serial that is lower than\n"
        "the last one it took, which it alone knows.\n",
    .run = run_check,
};

static const sotto_verb verb_show = {
    .name = "show",
    .summary = "print the parties file without its signatures",
    .usage =
        "usage: sotto parties show FILE [--json]\n\n"
        "Prints the parties file that was signed, byte for byte, for servers and collectors.\n"
        "Looks at no signature: `sotto parties check` does. The file is JSON, with --json and\n"
        "without.\n",
    .run = run_show,
};

static const sotto_verb *const parts[] = {&verb_key, &verb_sign, &verb_check, &verb_show, NULL};

const sotto_verb sotto_verb_parties = {
    .name = "parties",
    .summary = "sign parties files, for devices that are out there",
    .parts = parts,
};
