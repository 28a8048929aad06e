/* sotto admin pair - the secrets that leader, helper and collector share, as one file. */
#define _POSIX_C_SOURCE 200809L
#include "admin.h"

#include "serve/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILE_BYTES = 8192 };

/* A new file for its owner's eyes alone; one that exists is never replaced. */
static sotto_status write_private(const char *path, sotto_bytes text, sotto_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write(fd, text.data, text.len) == (ssize_t)text.len &&
                write(fd, "\n", 1) == 1 && fsync(fd) == 0;

    if (good) {
        (void)close(fd);
        return SOTTO_OK;
    }
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(path);
    }
    return sotto_fail(err, SOTTO_IO, "can't write %.80s: %s", path, strerror(errno));
}

/* The servers' file, and if it is asked for the collector's, which has no secret of theirs. */
static sotto_status write_files(const sotto_pairing *pairing, const char *servers,
                                const char *collectors, sotto_err *err)
{
    uint8_t memory[FILE_BYTES];
    sotto_buf json = sotto_buf_over(memory, sizeof memory);
    sotto_status status = sotto_pairing_encode(&json, pairing, err);

    if (status == SOTTO_OK)
        status = write_private(servers, sotto_buf_bytes(&json), err);
    json.len = 0;
    if (status == SOTTO_OK && collectors)
        status = sotto_pairing_encode_for_collector(&json, pairing, err);
    if (status == SOTTO_OK && collectors)
        status = write_private(collectors, sotto_buf_bytes(&json), err);
    sotto_wipe(memory, sizeof memory);
    return status;
}

static int run_new(int argc, char **argv)
{
    static const char *const known[] = {"--leader", "--helper", "--collector", "--tokens", NULL};
    static sotto_admin admin;
    sotto_pairing pairing;
    const char *names[3];
    sotto_status status;

    if (sotto_admin_parse(&admin, "admin pair new", argc, argv, known, 1, 1) != EXIT_DONE)
        return EXIT_USAGE;
    for (size_t i = 0; i < 3; i++) {
        names[i] = sotto_admin_flag(&admin, known[i]);
        if (!names[i]) {
            (void)fprintf(stderr, "sotto admin pair new: %s NAME, as the parties file has it?\n",
                          known[i]);
            return EXIT_USAGE;
        }
    }
    status = sotto_pairing_new(&pairing, names[0], names[1], names[2], &admin.err);
    if (status == SOTTO_OK)
        status =
            write_files(&pairing, admin.words[0], sotto_admin_flag(&admin, "--tokens"), &admin.err);
    if (status == SOTTO_OK && admin.json)
        printf("{\"fingerprint\": \"%s\"}\n", pairing.fingerprint);
    else if (status == SOTTO_OK)
        printf("fingerprint %s\n", pairing.fingerprint);
    sotto_wipe(&pairing, sizeof pairing);
    return status == SOTTO_OK ? EXIT_DONE : sotto_admin_fail(&admin);
}

static int run_take(int argc, char **argv)
{
    static sotto_admin admin;
    sotto_pairing pairing = {0};
    sotto_bytes json;
    sotto_status status;
    int code = sotto_admin_parse(&admin, "admin pair take", argc, argv, NULL, 1, 1);

    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE) {
        status = sotto_admin_read_file(&admin, &json, admin.words[0], FILE_BYTES);
        if (status == SOTTO_OK)
            status = sotto_pairing_decode(&pairing, json, &admin.err);
        if (status == SOTTO_OK)
            status = sotto_pairing_put(admin.db, &admin.columns, &pairing, &admin.err);
        if (status == SOTTO_OK && admin.json)
            printf("{\"fingerprint\": \"%s\"}\n", pairing.fingerprint);
        else if (status == SOTTO_OK)
            printf("fingerprint %s\n", pairing.fingerprint);
        else
            code = sotto_admin_fail(&admin);
    }
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
        printf("fingerprint %s  leader %.*s  helper %s\n", line->fingerprint, (int)leader,
               line->parties, helper);
        return SOTTO_OK;
    }
    json_t *json = json_pack("{s:s, s:s%, s:s}", "fingerprint", line->fingerprint, "leader",
                             line->parties, leader, "helper", helper);
    (void)json_dumpf(json, stdout, 0);
    json_decref(json);
    printf("\n");
    return SOTTO_OK;
}

static int run_show(int argc, char **argv)
{
    static sotto_admin admin;
    int code = sotto_admin_parse(&admin, "admin pair show", argc, argv, NULL, 0, 0);

    if (code == EXIT_DONE)
        code = sotto_admin_open(&admin);
    if (code == EXIT_DONE && sotto_survey_pairings(admin.db, show, &admin, &admin.err) != SOTTO_OK)
        code = sotto_admin_fail(&admin);
    sotto_admin_close(&admin);
    return code;
}

static const sotto_verb verb_new = {
    .name = "new",
    .summary = "make a pairing file",
    .usage =
        "usage: sotto admin pair new --leader NAME --helper NAME --collector NAME FILE\n"
        "                            [--tokens FILE] [--json]\n\n"
        "Writes fresh secrets to FILE (mode 0600; one that exists is not replaced) and prints\n"
        "its fingerprint, to be read aloud. Names are those of the parties file. Carry the file "
        "to\n"
        "the other server by a way that nobody else reads. --tokens writes the collector's own "
        "file,\n"
        "which holds its two tokens and no secret of the servers.\n",
    .run = run_new,
};

static const sotto_verb verb_take = {
    .name = "take",
    .summary = "take a pairing file in",
    .usage =
        "usage: sotto admin pair take FILE --config FILE [--json]\n\n"
        "Stores the secrets, sealed with the datastore key, and prints the fingerprint: it must\n"
        "be the one that the other operator reads to you. Delete FILE afterwards.\n",
    .run = run_take,
};

static const sotto_verb verb_show = {
    .name = "show",
    .summary = "list pairings by their fingerprints",
    .usage = "usage: sotto admin pair show --config FILE [--json]\n",
    .run = run_show,
};

static const sotto_verb *const parts[] = {&verb_new, &verb_take, &verb_show, NULL};

const sotto_verb sotto_verb_admin_pair = {
    .name = "pair",
    .summary = "make, take in and show the secrets shared with a peer",
    .parts = parts,
};
