/* aggregate/aero/machine.h - what the three machines of a round have in common.
 *
 * Memory:   all of it in the machine's arena; scratch of one step is freed when the step ends.
 * Secrets:  the seed, and what is drawn from it.
 */
#ifndef SOTTO_AGGREGATE_AERO_MACHINE_H
#define SOTTO_AGGREGATE_AERO_MACHINE_H

#include "aggregate/aero/aero.h"
#include "crypto/keystream.h"

enum { SOTTO_AERO_SCRATCH = 128 << 20, SOTTO_AERO_SAVED_VERSION = 4 };

typedef struct sotto_aero_base {
    sotto_machine machine;
    const sotto_round *round;
    sotto_self self; /* its seed is all the randomness there is */
    sotto_arena *arena;
    sotto_aero_plan *plan;
    sotto_aero_view *view;
} sotto_aero_base;

/* SOTTO_DENIED: this method does not run such a round. */
SOTTO_MUST_USE sotto_status sotto_aero_join(sotto_aero_base *base, const sotto_machine_ops *ops,
                                            const sotto_round *round, const sotto_self *self,
                                            sotto_arena *arena, sotto_err *err);

/* Randomness for one purpose: the same after a restart. */
typedef struct sotto_aero_stream {
    sotto_keystream keys;
    sotto_entropy entropy;
} sotto_aero_stream;
SOTTO_MUST_USE sotto_status sotto_aero_secret_of(const sotto_aero_base *base, uint8_t out[32],
                                                 uint32_t purpose, uint32_t number, sotto_err *err);
/* Close after a failure is allowed. */
SOTTO_MUST_USE sotto_status sotto_aero_stream_open(sotto_aero_stream *stream,
                                                   const sotto_aero_base *base, uint32_t purpose,
                                                   uint32_t number, sotto_err *err);
void sotto_aero_stream_close(sotto_aero_stream *stream);

/* Reads an entry and keeps it, or only its index where it does not count. The verdict is that of deliver. */
SOTTO_MUST_USE sotto_status sotto_aero_take_entry(sotto_aero_base *base, sotto_message *known,
                                                  const sotto_message *entry, sotto_status *verdict,
                                                  sotto_effects *effects, sotto_err *err);
/* The same of an entry that was kept. */
SOTTO_MUST_USE sotto_status sotto_aero_read_again(sotto_aero_base *base, sotto_message *known,
                                                  const sotto_message *entry, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_post(sotto_aero_base *base, sotto_effects *effects,
                                            unsigned kind, sotto_bytes body, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_vow(sotto_aero_base *base, sotto_effects *effects,
                                           unsigned kind, uint32_t subject, sotto_bytes what,
                                           sotto_err *err);

/* What is saved: version, round, seed, and up to 64 bytes of the machine's own, then more. */
SOTTO_MUST_USE sotto_status sotto_aero_save(const sotto_aero_base *base, sotto_buf *out,
                                            sotto_bytes own, sotto_err *err);
SOTTO_MUST_USE sotto_status sotto_aero_saved(sotto_aero_base *base, sotto_bytes saved, uint8_t *own,
                                             size_t len, sotto_err *err);

sotto_status sotto_aero_no_memory(sotto_err *err);
/* A copy in the machine's arena. */
SOTTO_MUST_USE sotto_status sotto_aero_copied(sotto_bytes *out, sotto_bytes from,
                                              sotto_arena *arena, sotto_err *err);
/* NULL: no memory. */
sotto_buf sotto_aero_buffer(sotto_arena *arena, size_t size);
/* The public key of this round, as TAKEN of the next one shows it. */
SOTTO_MUST_USE sotto_status sotto_aero_taken_encode(const sotto_aero_view *view, sotto_buf *out,
                                                    sotto_arena *arena, sotto_err *err);

/* One half of totals on the wire, of a tree with so many leaves. */
size_t sotto_aero_total_size(const sotto_aero_plan *plan, uint32_t group, uint32_t leaves);
SOTTO_MUST_USE sotto_status sotto_aero_total_encode(sotto_buf *out, const sotto_aero_plan *plan,
                                                    uint32_t group, uint32_t leaves,
                                                    const sotto_aero_cipher *totals, bool is_second,
                                                    sotto_err *err);
/* SOTTO_MALFORMED  a residue is not below its prime, or above what `leaves` of them add up to */
SOTTO_MUST_USE sotto_status sotto_aero_total_decode(sotto_aero_poly *half,
                                                    const sotto_aero_plan *plan, uint32_t group,
                                                    uint32_t leaves, sotto_bytes wire,
                                                    sotto_err *err);
/* What the board says of totals, and of their second half, which members do not read. */
SOTTO_MUST_USE sotto_status sotto_aero_total_digests(uint8_t out[32], uint8_t second[32],
                                                     const sotto_aero_plan *plan, uint32_t group,
                                                     uint32_t leaves,
                                                     const sotto_aero_cipher *totals,
                                                     sotto_arena *scratch, sotto_err *err);

#endif
