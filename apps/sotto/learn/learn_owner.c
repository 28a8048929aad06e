/* The key that signs the records of a recipe's rounds: the recipe's owner has it, and the recipe its public half. */
#define _POSIX_C_SOURCE 200809L
#include "learn_run.h"
#include "show.h"
#include "support/arguments.h"
#include "verbs.h"

#include "base/hex.h"
#include "sotto/random.h"

#include <stdio.h>
#include <string.h>

sotto_status learn_owner_make(const char *path, char public[LEARN_HEX], sotto_err *err)
{
    char text[DEMO_NOTE_KEY];
    sotto_buf note = sotto_buf_over(text, sizeof text);
    sotto_note_key key;

    SOTTO_TRY(sotto_log_key_make(path, "rounds", SOTTO_NOTE_ED25519, &note, err));
    SOTTO_TRY(sotto_note_key_decode(&key, sotto_buf_bytes(&note), err));
    sotto_hex_encode(public, sotto_bytes_of(key.public_key, sizeof key.public_key));
    return SOTTO_OK;
}

sotto_status learn_owner_read(sotto_signer_file *out, const char *path,
                              const sotto_learning *learning, sotto_err *err)
{
    if (!learning->owned)
        return sotto_fail(err, SOTTO_DENIED, "%.60s: the recipe has no rounds.key", path);
    SOTTO_TRY(sotto_signer_file_read(out, path, err));
    if (memcmp(out->signer.signer.public_key, learning->owner, sizeof learning->owner) != 0)
        return sotto_fail(err, SOTTO_DENIED, "%.60s is not the key that rounds.key names", path);
    return SOTTO_OK;
}

sotto_status learn_owner_draw(learn_run *run, sotto_err *err)
{
    SOTTO_TRY(sotto_random_bytes(run->owner_seed, sizeof run->owner_seed, err));
    return sotto_signer_init(&run->own_signer, run->owner_seed, err);
}

static int key_main(int argc, char **argv)
{
    const char *path = NULL;
    char public[LEARN_HEX];
    bool json = false;
    sotto_err err = {0};
    const sotto_argument words[] = {{.name = "FILE", .text = &path, .needed = true},
                                    {.name = "--json", .flag = &json}};
    const int code =
        sotto_arguments_read("learn key", words, sizeof words / sizeof words[0], argc, argv);

    if (code != EXIT_DONE)
        return code;
    if (learn_owner_make(path, public, &err) != SOTTO_OK) {
        (void)fprintf(stderr, "sotto learn key: %s: %s\n", path, err.reason);
        return sotto_exit_code(err.status, SOTTO_AT_FILE);
    }
    if (json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

        sotto_json_text(&j, "key", public);
        return sotto_show_end(&j) ? EXIT_DONE : EXIT_FAILED;
    }
    printf("%s\n", public);
    (void)fprintf(
        stderr,
        "The line above is public: it goes into the recipe as \"rounds\": {\"key\": ...}.\n"
        "%s is secret: whoever has it can name the models of the recipe's rounds.\n",
        path);
    return EXIT_DONE;
}

const sotto_verb sotto_verb_learn_key = {
    .name = "key",
    .summary = "make the key by which a recipe's owner signs rounds",
    .usage = "usage: sotto learn key FILE [--json]\n\n"
             "Writes a new secret key to FILE, and prints its public half for the recipe's\n"
             "`rounds.key`. Servers and devices then take only records of rounds that this key\n"
             "signed. `sotto learn init` makes one by itself.\n\n"
             "  --json  print one JSON object\n",
    .run = key_main,
};
