/* sotto-vectors DIR... - runs every vector file below the folders and says what agreed. */
#include <stdio.h>
#include <string.h>

#include "families.h"
#include "generate.h"
#include "support/runner.h"

enum { VECTOR_CEILING = 1 << 30 };

/* ---- which family ---------------------------------------------------------------------------- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* What stands before the first underscore, or before ".json". */
static void kind_of(char *kind, size_t size, const char *path)
{
    const char *name = file_name(path);
    size_t len = strcspn(name, "_");

    if (name[len] == 0)
        len = strlen(name) - strlen(".json");
    if (len >= size)
        len = size - 1;
    memcpy(kind, name, len);
    kind[len] = 0;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Whether one of the folders on the way to the file has this name. */
static bool is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);

    for (const char *at = path; (at = strstr(at, folder)) != NULL; at++)
        if ((at == path || at[-1] == '/') && at[len] == '/')
            return true;
    return false;
}

/* Why a file is left alone although its standard is known; NULL if it isn't. */
static const char *reason_to_skip(const char *path, const char *kind)
{
    if (starts_with(kind, "Poplar1"))
        return "Poplar1 is not implemented";
    if (starts_with(kind, "Idpf"))
        return "IDPF is not implemented";
    if (starts_with(kind, "Mastic"))
        return "Mastic is not implemented";
    if (is_below(path, "privacypass") && starts_with(kind, "rate"))
        return "rate-limited tokens are not implemented: ARC took their place";
    return NULL;
}

typedef bool (*item_test)(const json_t *item);

/* Whether the file, or any entry of it, passes the test. */
static bool any_item(const json_t *root, item_test test)
{
    size_t i;
    json_t *item;

    if (json_is_object(root))
        return test(root);
    json_array_foreach(root, i, item)
    {
        if (test(item))
            return true;
    }
    return false;
}

static bool contains(sotto_bytes text, const char *word)
{
    size_t len = strlen(word);

    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.data + i, word, len) == 0)
            return true;
    return false;
}

/* A guess for a file that cannot be parsed: broken vectors of ours are failures, broken strangers aren't. */
static bool looks_like_ours(sotto_bytes text, const char *path)
{
    return is_below(path, "hpke") || is_below(path, "turboshake") || is_below(path, "dap") ||
           is_below(path, "dap-e2e") || is_below(path, "ohttp") || is_below(path, "bhttp") ||
           is_below(path, "merkle") || is_below(path, "tlog") || is_below(path, "blind-rsa") ||
           is_below(path, "voprf") || is_below(path, "privacypass") ||
           contains(text, "\"kem_id\"") || contains(text, "\"encapsulated_request\"") ||
           contains(text, "\"TurboSHAKE");
}

/* ---- one file -------------------------------------------------------------------------------- */

/* The families of tokens, each known by its keys. False: it is none of them. */
static bool run_tokens(const sotto_vector_file *file)
{
    static const struct {
        item_test knows;
        void (*run)(const sotto_vector_file *file);
    } families[] = {
        {sotto_vectors_blind_rsa_knows, sotto_vectors_blind_rsa},
        {sotto_vectors_voprf_knows, sotto_vectors_voprf},
        {sotto_vectors_tokens_knows, sotto_vectors_tokens},
        {sotto_vectors_batched_knows, sotto_vectors_batched},
        {sotto_vectors_challenges_knows, sotto_vectors_challenges},
        {sotto_vectors_arc_knows, sotto_vectors_arc},
    };

    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (any_item(file->root, families[i].knows)) {
            families[i].run(file);
            return true;
        }
    return false;
}

static void run_parsed(const sotto_vector_file *file)
{
    if (sotto_vectors_vdaf_knows(file->kind))
        sotto_vectors_vdaf(file);
    else if (sotto_vectors_pine_knows(file->kind))
        sotto_vectors_pine(file);
    else if (sotto_vectors_xof_knows(file->kind))
        sotto_vectors_xof(file);
    else if (any_item(file->root, sotto_vectors_hpke_knows))
        sotto_vectors_hpke(file);
    else if (any_item(file->root, sotto_vectors_turboshake_knows))
        sotto_vectors_turboshake(file);
    else if (any_item(file->root, sotto_vectors_ohttp_knows))
        sotto_vectors_ohttp(file);
    else if (any_item(file->root, sotto_vectors_bhttp_knows))
        sotto_vectors_bhttp(file);
    else if (any_item(file->root, sotto_vectors_dap_task_knows))
        sotto_vectors_dap_task(file);
    else if (any_item(file->root, sotto_vectors_dap_knows))
        sotto_vectors_dap(file);
    else if (any_item(file->root, sotto_vectors_tlog_knows))
        sotto_vectors_tlog(file);
    else if (!run_tokens(file))
        sotto_tally_skip(file->tally, file->path, "", "no format known here");
}

static void run_file(void *self, const char *path, sotto_arena *arena)
{
    sotto_tally *tally = self;
    char kind[64];
    sotto_bytes text;
    sotto_err err = {0};
    sotto_vector_file file = {.path = path, .kind = kind, .arena = arena, .tally = tally};

    kind_of(kind, sizeof kind, path);
    const char *skip = reason_to_skip(path, kind);
    if (skip != NULL) {
        sotto_tally_skip(tally, path, "", skip);
        return;
    }
    if (sotto_json_read(&text, path, arena, &err) != SOTTO_OK) {
        sotto_tally_fail(tally, path, "", err.reason);
        return;
    }
    if (sotto_json_parse(&file.root, text, arena, &err) == SOTTO_OK) {
        run_parsed(&file);
        json_decref(file.root);
    } else if (sotto_vectors_vdaf_knows(kind) || sotto_vectors_xof_knows(kind) ||
               sotto_vectors_pine_knows(kind) || looks_like_ours(text, path)) {
        sotto_tally_fail(tally, path, "", err.reason);
    } else {
        sotto_tally_skip(tally, path, "", err.reason);
    }
}

/* ---- the command line ------------------------------------------------------------------------ */

static const char usage_text[] =
    "usage: sotto-vectors [--json] [-v] DIR...\n"
    "       sotto-vectors --generate DIR\n"
    "\n"
    "Runs every *.json vector file below each DIR: VDAF (Prio3), PINE, XOFs, TurboSHAKE,\n"
    "HPKE, Binary HTTP, Oblivious HTTP, DAP, transparency logs, and tokens: blind RSA,\n"
    "VOPRF, Privacy Pass types 1 and 2, ARC.\n"
    "Files of other formats are skipped, by name. The last line is \"N passed, M failed, K "
    "skipped\".\n"
    "\n"
    "  --json         one object for each count: file, item, verdict, reason\n"
    "  -v, --verbose  say what passed, too\n"
    "  --generate DIR write vectors of our own below DIR; the same bytes every time\n"
    "  -h, --help     this text\n"
    "      --version  which one this is\n"
    "\n"
    "Exit: 0 something passed and nothing failed; 1 otherwise; 2 wrong usage.\n";

static int generate(const char *folder)
{
    sotto_err err = {0};

    if (sotto_vectors_generate(folder, &err) == SOTTO_OK)
        return SOTTO_RUNNER_AGREED;
    fprintf(stderr, "sotto-vectors: %s\n", err.reason);
    return SOTTO_RUNNER_DIFFERED;
}

int main(int argc, char **argv)
{
    sotto_runner runner = {.name = "sotto-vectors",
                           .usage = usage_text,
                           .suffix = ".json",
                           .generates = true,
                           .run_file = run_file,
                           .ceiling = VECTOR_CEILING};
    int code = sotto_runner_parse(&runner, argc, argv);

    if (code >= 0)
        return code;
    if (runner.generate != NULL)
        return generate(runner.generate);
    sotto_tally tally = {.out = stdout, .json = runner.json, .verbose = runner.verbose};

    if (!sotto_runner_files(&runner, &tally, argc, argv))
        return SOTTO_RUNNER_USAGE;
    sotto_tally_finish(&tally);
    return sotto_runner_code(tally.passed, tally.failed);
}
