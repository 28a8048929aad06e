/* Signed notes and checkpoints come from the network. No note that anybody can make up passes for one that the log signed, and what
 * decodes as a checkpoint encodes to the same text. */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "tlog/checkpoint.h"

/* Of the Go library's tests; the corpus has notes that these keys signed. */
static const char *const vkeys[] = {
    "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"};
static const char by_peter[] = "If you think cryptography is the answer to your problem,\n"
                               "then you don't know what your problem is.\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t memory[SOTTO_NOTE_MAX + 64];
    const sotto_bytes bytes = sotto_bytes_of(data, size);
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_checkpoint checkpoint;
    sotto_note_key keys[2], any;
    sotto_note note;
    const sotto_log_trust trust = {.log = &keys[1]};

    for (int i = 0; i < 2; i++)
        if (sotto_note_key_decode(&keys[i], sotto_bytes_of(vkeys[i], strlen(vkeys[i])), NULL) !=
            SOTTO_OK)
            abort();
    if (sotto_note_key_decode(&any, bytes, NULL) == SOTTO_OK &&
        (sotto_note_key_encode(&out, &any, NULL) != SOTTO_OK ||
         !sotto_bytes_equal_vartime(bytes, sotto_buf_bytes(&out))))
        abort();
    if (sotto_note_decode(&note, bytes, NULL) != SOTTO_OK)
        return 0;
    if (note.text.len + 1 + note.signatures.len != size)
        abort();
    if (sotto_note_check(&note, &keys[0], NULL, NULL) == SOTTO_OK &&
        !sotto_bytes_equal_vartime(note.text, sotto_bytes_of(by_peter, sizeof by_peter - 1)))
        abort();
    out.len = 0;
    if (sotto_checkpoint_decode(&checkpoint, note.text, NULL) == SOTTO_OK &&
        (sotto_checkpoint_encode(&out, &checkpoint, NULL) != SOTTO_OK ||
         !sotto_bytes_equal_vartime(note.text, sotto_buf_bytes(&out))))
        abort();
    if (sotto_checkpoint_open(&checkpoint, bytes, &trust, NULL) == SOTTO_OK && checkpoint.size > 10)
        abort(); /* it never signed a larger one */
    return 0;
}
