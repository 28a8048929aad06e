/* sotto admin pair - the secrets that leader, helper and collector share, as one file. */
#define _POSIX_C_SOURCE 200809L
#include "admin.h"
#include "show.h"

#include "base/hex.h"
#include "base/secret_file.h"
#include "recipe/model.h"
#include "serve/tasks/listing.h"
#include "transport/http_client.h"

#include <stdio.h>
#include <string.h>

enum { FILE_BYTES = 8192 };

/* A new file for its owner's eyes alone, which ends in a newline; one that exists is never replaced. */
static sotto_status write_private(const char *path, sotto_buf *text, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(text);
    sotto_err why = {0};
    sotto_status status;

    sotto_write_bytes(&w, sotto_bytes_of("\n", 1));
    status = sotto_writer_finish(&w, "pairing", &why);
    if (status == SOTTO_OK)
        status = sotto_secret_file_write(path, sotto_buf_bytes(text), &why);
    return status == SOTTO_OK
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_IO, "can't write %.80s: it %s", path, why.reason);
}

/* The servers' file, and if it is asked for the collector's, which has no secret of theirs. */
static sotto_status write_files(const sotto_pairing *pairing, const char *servers,
                                const char *collectors, sotto_err *err)
{
    uint8_t memory[FILE_BYTES];
    sotto_buf json = sotto_buf_over(memory, sizeof memory);
    sotto_status status = sotto_pairing_encode(&json, pairing, err);

    if (status == SOTTO_OK)
        status = write_private(servers, &json, err);
    json.len = 0;
    if (status == SOTTO_OK && collectors)
        status = sotto_pairing_encode_for_collector(&json, pairing, err);
    if (status == SOTTO_OK && collectors)
        status = write_private(collectors, &json, err);
    sotto_wipe(memory, sizeof memory);
    return status;
}

/* The line that `sotto collect key` printed: an HpkeConfig in hexadecimal. */
static sotto_status read_collector_key(sotto_admin *admin, sotto_buf *out, const char *path)
{
    sotto_bytes text;

    SOTTO_TRY(sotto_admin_read_file(admin, &text, path, FILE_BYTES));
    while (text.len > 0 && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
        text.len--;
    out->len = text.len / 2;
    if (out->len > out->cap || !sotto_hex_decode(out->data, out->len, text))
        return sotto_fail(&admin->err, SOTTO_MALFORMED,
                          "%.100s is not the line that `sotto collect key` prints", path);
    return SOTTO_OK;
}

static sotto_status find_url(sotto_admin *admin, sotto_bytes *out, const sotto_parties *parties,
                             const char *name, sotto_party_role role)
{
    const sotto_party_entry *party = sotto_parties_find(parties, name);

    if (!party || party->role != role)
        return sotto_fail(&admin->err, SOTTO_MISSING, "the parties file has no %s %.80s",
                          role == SOTTO_PARTY_LEADER ? "leader" : "helper", name);
    *out = party->url;
    return SOTTO_OK;
}

/* From the file that tasks will come with, since a URL that is typed is soon another: a "/" more, and no task goes with it. */
static sotto_status read_urls(sotto_admin *admin, sotto_paired *out, const char *path)
{
    static sotto_mistakes mistakes;
    const sotto_parties *parties;
    sotto_bytes json;

    SOTTO_TRY(sotto_admin_read_file(admin, &json, path, SOTTO_RECIPE_MAX_BYTES));
    SOTTO_TRY(sotto_parties_read(&parties, json, &admin->arena, &mistakes, &admin->err));
    SOTTO_TRY(find_url(admin, &out->leader_url, parties, out->leader, SOTTO_PARTY_LEADER));
    return find_url(admin, &out->helper_url, parties, out->helper, SOTTO_PARTY_HELPER);
}

static sotto_status make(sotto_admin *admin, sotto_pairing *out, const char *const *values)
{
    uint8_t memory[SOTTO_COLLECTOR_CONFIG];
    sotto_buf config = sotto_buf_over(memory, sizeof memory);
    sotto_paired parties = {.leader = values[0], .helper = values[1], .collector = values[2]};

    SOTTO_TRY(read_collector_key(admin, &config, values[3]));
    SOTTO_TRY(read_urls(admin, &parties, values[4]));
    return sotto_pairing_new(out, &parties, sotto_buf_bytes(&config), &admin->err);
}

/* The URLs and the key are told too: the file's maker could have put in others. compared: NULL for a pairing that is new. */
static void tell(const sotto_admin *admin, const sotto_pairing *pairing, const bool *compared)
{
    const char *key = pairing->foreign ? "none" : pairing->collector_key;

    if (admin->json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_text(&j, "leader_url", pairing->leader_url);
        sotto_json_text(&j, "helper_url", pairing->helper_url);
        sotto_json_text(&j, "fingerprint", pairing->fingerprint);
        sotto_json_text(&j, "collector_key", key);
        if (compared)
            sotto_json_bool(&j, "key_compared", *compared);
        (void)sotto_show_end(&j);
    } else
        printf("leader URL %s\nhelper URL %s\nfingerprint %s\ncollector key %s\n",
               pairing->leader_url, pairing->helper_url, pairing->fingerprint, key);
}

/* Also whether the key was compared: without that, it is the word of whoever made the file. */
static void tell_taken(const sotto_admin *admin, const sotto_pairing *pairing, bool compared)
{
    tell(admin, pairing, &compared);
    if (!compared && !pairing->foreign)
        (void)fprintf(
            stderr,
            "sotto %s: the collector's key was not compared: no --collector-key. See that it "
            "is what the collector's `sotto collect key` printed\n",
            admin->verb);
}

static int run_new(int argc, char **argv)
{
    enum { NEEDED = 5 };
    static const char *const known[] = {"--leader",  "--helper", "--collector", "--collector-key",
                                        "--parties", "--tokens", NULL};
    static const char *const what[NEEDED] = {
        "NAME, as the parties file has it", "NAME, as the parties file has it",
        "NAME, as the parties file has it", "FILE, what `sotto collect key` printed",
        "FILE, in which the servers' URLs are"};
    static sotto_admin admin;
    sotto_pairing pairing = {0};
    const char *values[NEEDED];
    sotto_status status;

    if (sotto_admin_parse(&admin, "admin pair new", argc, argv, known, 1, 1) != EXIT_DONE)
        return EXIT_USAGE;
    for (size_t i = 0; i < NEEDED; i++) {
        values[i] = sotto_admin_flag(&admin, known[i]);
        if (!values[i]) {
            (void)fprintf(stderr, "sotto admin pair new: %s %s?\n", known[i], what[i]);
            return EXIT_USAGE;
        }
    }
    status = make(&admin, &pairing, values);
    if (status == SOTTO_OK)
        status =
            write_files(&pairing, admin.words[0], sotto_admin_flag(&admin, "--tokens"), &admin.err);
    if (status == SOTTO_OK)
        tell(&admin, &pairing, NULL);
    sotto_wipe(&pairing, sizeof pairing);
    sotto_arena_clear(&admin.arena);
    return status == SOTTO_OK ? EXIT_DONE : sotto_admin_fail(&admin);
}

/* Before anything is stored: a pairing is never replaced. */
static sotto_status compare_key(sotto_admin *admin, const sotto_pairing *pairing, const char *path)
{
    uint8_t memory[SOTTO_COLLECTOR_CONFIG];
    sotto_buf config = sotto_buf_over(memory, sizeof memory);
    char text[SOTTO_COLLECTOR_KEY_TEXT];

    if (!path)
        return SOTTO_OK;
    SOTTO_TRY(read_collector_key(admin, &config, path));
    sotto_hex_encode(text, sotto_buf_bytes(&config));
    if (strcmp(text, pairing->collector_key) == 0)
        return SOTTO_OK;
    return sotto_fail(&admin->err, SOTTO_DENIED,
                      "the file has another collector key than %.60s: nothing was taken in", path);
}

static sotto_status read_pairing(sotto_admin *admin, sotto_pairing *out, const char *path)
{
    uint8_t memory[FILE_BYTES];
    sotto_buf json = sotto_buf_over(memory, sizeof memory);
    sotto_err why = {0};
    sotto_status status = sotto_secret_file_read(&json, path, SOTTO_SECRET_OWN, &why);

    if (status == SOTTO_OK)
        status = sotto_pairing_decode(out, sotto_buf_bytes(&json), &admin->err);
    else
        status = sotto_fail(&admin->err, status, "%.60s %s", path, why.reason);
    sotto_wipe(memory, sizeof memory);
    return status;
}

/* A leader that could not call its helper would find out by its first reports only. */
static sotto_status check_helper_url(sotto_admin *admin, const sotto_pairing *pairing)
{
    char host[256];

    if (admin->role != SOTTO_LEADER)
        return SOTTO_OK;
    return sotto_http_url_check(host, sizeof host, pairing->helper_url,
                                admin->config.host.plain_http, &admin->err);
}

static sotto_status take(sotto_admin *admin, sotto_pairing *out)
{
    SOTTO_TRY(read_pairing(admin, out, admin->words[0]));
    SOTTO_TRY(check_helper_url(admin, out));
    SOTTO_TRY(compare_key(admin, out, sotto_admin_flag(admin, "--collector-key")));
    return sotto_pairing_put(admin->db, &admin->columns, out, &admin->err);
}

static int run_take(int argc, char **argv)
{
    static const char *const known[] = {"--collector-key", NULL};
    static sotto_admin admin;
    sotto_pairing pairing = {0};
    int code = sotto_admin_parse(&admin, "admin pair take", argc, argv, known, 1, 1);

    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE && take(&admin, &pairing) == SOTTO_OK)
        tell_taken(&admin, &pairing, sotto_admin_flag(&admin, known[0]) != NULL);
    else if (code == EXIT_DONE)
        code = sotto_admin_fail(&admin);
    sotto_wipe(&pairing, sizeof pairing);
    sotto_admin_close(&admin);
    return code;
}

static sotto_status show(void *context, const sotto_pairing_line *line, sotto_err *err)
{
    const sotto_admin *admin = context;
    size_t leader = strcspn(line->parties, "\n");
    const char *helper = line->parties + leader + (line->parties[leader] ? 1 : 0);

    (void)err;
    if (!admin->json) {
        printf("fingerprint %s  leader %.*s  helper %s  ", line->fingerprint, (int)leader,
               line->parties, helper);
        if (line->broken)
            printf("BROKEN, serves no task: %s\n", line->broken);
        else
            printf("leader URL %s  helper URL %s  collector key %s\n", line->leader_url,
                   line->helper_url, line->collector_key[0] ? line->collector_key : "none");
        return SOTTO_OK;
    }
    sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);
    sotto_json_text(&j, "fingerprint", line->fingerprint);
    sotto_json_bytes(&j, "leader", sotto_bytes_of(line->parties, leader));
    sotto_json_text(&j, "helper", helper);
    sotto_json_some(&j, "leader_url", line->leader_url);
    sotto_json_some(&j, "helper_url", line->helper_url);
    sotto_json_some(&j, "collector_key",
                    line->collector_key && line->collector_key[0] ? line->collector_key : NULL);
    sotto_json_some(&j, "broken", line->broken);
    (void)sotto_show_end(&j);
    return SOTTO_OK;
}

static sotto_status show_all(sotto_admin *admin)
{
    return sotto_list_pairings(admin->db, &admin->columns, show, admin, &admin->err);
}

static int run_show(int argc, char **argv)
{
    return sotto_admin_run("admin pair show", argc, argv, NULL, 0, 0, show_all);
}

static const sotto_verb verb_new = {
    .name = "new",
    .summary = "make a pairing file",
    .usage =
        "usage: sotto admin pair new --leader NAME --helper NAME --collector NAME\n"
        "                            --collector-key KEY --parties PARTIES FILE\n"
        "                            [--tokens FILE] [--json]\n\n"
        "Writes fresh secrets to FILE (mode 0600; one that exists is not replaced) and prints\n"
        "both servers' URLs and its fingerprint, to be read aloud. Names and URLs are those of\n"
        "PARTIES, the parties file. The leader sends its token to that helper URL and to no "
        "other.\n"
        "A task with other URLs is refused, and the fingerprint covers them. Carry FILE to the\n"
        "other server by a way that nobody else reads. --tokens writes the collector's own "
        "file,\n"
        "which holds its two tokens and no secret of the servers. KEY is a file with the line "
        "that\n"
        "`sotto collect key` printed, from the collector itself: sums are sealed to no other key,\n"
        "and the fingerprint covers it.\n",
    .run = run_new,
};

static const sotto_verb verb_take = {
    .name = "take",
    .summary = "take a pairing file in",
    .usage =
        "usage: sotto admin pair take FILE --config FILE [--collector-key KEY] [--json]\n\n"
        "Stores the secrets, sealed with the datastore key, and prints both servers' URLs and the\n"
        "fingerprint. They must be those that the other operator reads to you, and your own\n"
        "server's URL the one that you gave. KEY is a file with the line that the\n"
        "collector's `sotto collect key` printed: if FILE has another key, nothing is stored.\n"
        "Without it a line says that nothing was compared: compare the key that is printed. Others "
        "than\n"
        "FILE's owner must not be able to read it. Delete it afterwards. A pipe will do: "
        "/dev/stdin.\n",
    .run = run_take,
};

static const sotto_verb verb_show = {
    .name = "show",
    .summary = "list pairings by their fingerprints, with both servers' URLs",
    .usage = "usage: sotto admin pair show --config FILE [--json]\n",
    .run = run_show,
};

static const sotto_verb *const parts[] = {&verb_new, &verb_take, &verb_show, NULL};

const sotto_verb sotto_verb_admin_pair = {
    .name = "pair",
    .summary = "make, take in and show the secrets shared with a peer",
    .parts = parts,
};
