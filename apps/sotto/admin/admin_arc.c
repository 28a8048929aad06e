/* sotto admin arc - this server's own keys of ARC: one for each epoch. */
#include "admin.h"
#include "show.h"

#include "base/arena.h"
#include "base/hex.h"
#include "base/writer.h"
#include "crypto/hash.h"
#include "recipe/calendar.h"
#include "serve/host/bearer.h"
#include "serve/tasks/arc_keys.h"

#include <stdio.h>

enum { LIST = 512 << 10 };

static void show(const sotto_admin *admin, const sotto_arc_key *key, bool made)
{
    char id[2 * SOTTO_TOKEN_KEY_ID + 1];

    sotto_hex_encode(id, sotto_bytes_of(key->epoch.key_id, sizeof key->epoch.key_id));
    if (admin->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_COMPACT);

        sotto_json_text(&j, "id", id);
        sotto_json_uint(&j, "opens", key->epoch.opens);
        sotto_json_uint(&j, "closes", key->epoch.closes);
        sotto_json_bool(&j, "made", made);
        (void)sotto_show_end(&j);
    } else {
        printf("%s: %s\n", id, made ? "made" : "was there already; the attester's token is set");
    }
}

static sotto_status add(sotto_admin *admin)
{
    const char *path = sotto_admin_flag(admin, "--attester-token");
    uint8_t attester[32];
    int64_t opens, closes;
    sotto_bearer bearer = {0};
    sotto_arc_key key;
    bool made;

    if (!path)
        return sotto_fail(&admin->err, SOTTO_MALFORMED,
                          "--attester-token FILE: the token by which the attester is known");
    if (!sotto_calendar_parse_time(&opens, admin->words[0]) ||
        !sotto_calendar_parse_time(&closes, admin->words[1]) || opens < 0 || opens >= closes)
        return sotto_fail(&admin->err, SOTTO_MALFORMED,
                          "OPENS and CLOSES are times, as 2026-11-20T00:00:00Z, the first earlier");
    SOTTO_TRY(sotto_bearer_read(&bearer, path, &admin->err));
    sotto_hash_once(attester, SOTTO_SHA256, sotto_bytes_of(bearer.text, bearer.len));
    sotto_wipe(&bearer, sizeof bearer);
    SOTTO_TRY(sotto_arc_key_add(admin->db, &key, &made, (uint64_t)opens, (uint64_t)closes, attester,
                                &admin->columns, &admin->err));
    show(admin, &key, made);
    return SOTTO_OK;
}

/* As the server answers it, for `sotto parties sign --token-keys`. */
static sotto_status list(sotto_admin *admin)
{
    sotto_buf out;

    SOTTO_TRY(sotto_buf_take(&out, &admin->arena, LIST, &admin->err));
    SOTTO_TRY(sotto_arc_keys_list(admin->db, &out, 0, &admin->err));
    (void)fwrite(out.data, 1, out.len, stdout);
    return SOTTO_OK;
}

static const char *const known[] = {"--attester-token", NULL};

static int run_add(int argc, char **argv)
{
    return sotto_admin_run("admin arc add", argc, argv, known, 2, 2, add);
}

static int run_list(int argc, char **argv)
{
    return sotto_admin_run("admin arc list", argc, argv, known, 0, 0, list);
}

static const sotto_verb verb_add = {
    .name = "add",
    .summary = "make the key of an epoch",
    .usage =
        "usage: sotto admin arc add OPENS CLOSES --attester-token FILE --config FILE [--json]\n\n"
        "Makes this server's key for credentials of ARC in an epoch, from OPENS to CLOSES\n"
        "(2026-11-20T00:00:00Z). Epochs never overlap. A task that asks for ARC needs an epoch\n"
        "that has its whole schedule. FILE has the token by which the attester is known; given\n"
        "again for the same epoch, it replaces the token and leaves the key.\n",
    .run = run_add,
};

static const sotto_verb verb_list = {
    .name = "list",
    .summary = "print the public list of keys",
    .usage = "usage: sotto admin arc list --config FILE [--json]\n\n"
             "Prints what this server answers to GET arc/keys, for `sotto parties sign\n"
             "--token-keys`: JSON, with --json and without.\n",
    .run = run_list,
};

static const sotto_verb *const parts[] = {&verb_add, &verb_list, NULL};

const sotto_verb sotto_verb_admin_arc = {
    .name = "arc",
    .summary = "make and list this server's keys for credentials of ARC",
    .parts = parts,
};
