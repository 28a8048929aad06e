/* make_tlog DIR: a log as sotto keeps it, with an older checkpoint, proofs, and its public key, for the peer to check. */
#include "tlog/files.h"
#include "tlog/inclusion.h"
#include "tlog/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OLD = 1000, SIZE = 1407, PROOFS = 40 };

static void need(sotto_status status, const sotto_err *err)
{
    if (status != SOTTO_OK) {
        (void)fprintf(stderr, "make_tlog: %s\n", err->reason);
        exit(1);
    }
}

static void grow(sotto_log_store *store, unsigned from, unsigned to, sotto_err *err)
{
    for (unsigned i = from; i < to; i++) {
        char text[32];
        uint64_t index;
        const int len = snprintf(text, sizeof text, "entry %u", i);

        need(sotto_log_store_add(store, &index, sotto_bytes_of(text, (size_t)len), err), err);
    }
    need(sotto_log_store_commit(store, err), err);
}

static void write_proofs(const char *directory, sotto_log_store *store, sotto_err *err)
{
    static uint8_t memory[8192];
    sotto_inclusion inclusion = {0};

    (void)sotto_log_store_signed(store, &inclusion.checkpoint);
    for (unsigned i = 0; i < PROOFS; i++) {
        sotto_buf out = sotto_buf_over(memory, sizeof memory);
        char name[32];

        inclusion.index = (uint64_t)i * (SIZE - 1) / (PROOFS - 1);
        need(sotto_prover_inclusion(sotto_log_store_prover(store), &inclusion.proof,
                                    inclusion.index, SIZE, err),
             err);
        need(sotto_inclusion_encode(&out, &inclusion, err), err);
        (void)snprintf(name, sizeof name, "proof-%u", i);
        need(sotto_log_file_replace(directory, name, sotto_buf_bytes(&out), err), err);
    }
}

int main(int argc, char **argv)
{
    static const uint8_t seed[SOTTO_SIGN_SEED] = {42};
    uint8_t memory[SOTTO_NOTE_KEY_TEXT];
    sotto_buf vkey = sotto_buf_over(memory, sizeof memory);
    sotto_note_signer signer = {0};
    sotto_log_store *store;
    sotto_err err = {0};
    sotto_bytes note;

    if (argc != 2)
        return 2;
    need(sotto_signer_init(&signer.signer, seed, &err), &err);
    need(sotto_note_key_init(&signer.key, sotto_bytes_of("sotto.example/log", 17),
                             SOTTO_NOTE_ED25519, signer.signer.public_key, &err),
         &err);
    need(sotto_log_store_open(
             &store, &(sotto_log_store_options){.directory = argv[1], .signer = &signer}, &err),
         &err);
    need(sotto_note_key_encode(&vkey, &signer.key, &err), &err);
    need(sotto_log_file_replace(argv[1], "vkey", sotto_buf_bytes(&vkey), &err), &err);
    grow(store, 0, OLD, &err);
    (void)sotto_log_store_signed(store, &note);
    need(sotto_log_file_replace(argv[1], "old-checkpoint", note, &err), &err);
    grow(store, OLD, SIZE, &err);
    write_proofs(argv[1], store, &err);
    sotto_log_store_close(store);
    sotto_note_signer_clear(&signer);
    return 0;
}
