/* tests/serve/observed.h - a ballot whose board a witness cosigns, all of it in this process and by one clock. */
#ifndef SOTTO_TESTS_SERVE_OBSERVED_H
#define SOTTO_TESTS_SERVE_OBSERVED_H

#include "ballot.h"
#include "log_scene.h"
#include "recipe/model.h"

typedef struct observed {
    ballot b;
    sotto_logs_keys keys;
    sotto_host *witness;
    const char *database; /* the witness' */
    char url[64];         /* the witness' */
    const char *urls[1];
    sotto_policy_log log; /* as a policy has it */
} observed;

/* is_listed: the witness knows this aggregator. */
void observed_open(sotto_test *t, observed *o, bool is_listed);
void observed_close(observed *o);
/* All devices begin anew with what the fleet's policy says now. */
void observed_revive(sotto_test *t, observed *o);
/* Goes on until reveals are about to close. Then the aggregator's operator puts one answer in the place of another. */
void observed_lie(sotto_test *t, observed *o);

/* POST rounds/{round}/WHAT of the witness; the status. */
unsigned observed_tell(sotto_test *t, const observed *o, const char *what, sotto_bytes body);
typedef struct observed_claim {
    uint16_t kind;
    uint32_t position; /* of the leaf that is not answered */
    size_t len;        /* 0: of a challenge */
} observed_claim;
/* A record of device 0, signed with some key. */
sotto_bytes observed_write_claim(sotto_test *t, const observed *o, const sotto_signer *signer,
                                 const observed_claim *c);
/* Posts a round whose device 0 has a key that the test knows: signer, to be cleared by the caller. */
void observed_post_with_key(sotto_test *t, observed *o, sotto_signer *signer);
/* Members but for device 0: they have a board, whose heads are cosigned. */
void observed_members_join(sotto_test *t, observed *o);

#endif
