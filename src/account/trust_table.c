/* The trust models: facts, then the same in words. A new one is a row of each. */
#include "account/trust.h"

const sotto_trust_model sotto_trust_models[] = {
    [0] = {.name = "none"},
    [SOTTO_TRUST_SPLIT] = {.name = "split",
                           .keys = "split",
                           .method = "prio",
                           .gains = SOTTO_GAIN_SHUFFLE | SOTTO_GAIN_SAMPLING | SOTTO_GAIN_CHECK_IN,
                           .noise = SOTTO_NOISE_BY_SERVERS | SOTTO_NOISE_BY_SHARES,
                           .can_hide = true,
                           .two_servers = true,
                           .proved = true},
    [SOTTO_TRUST_FLAMINGO] = {.name = "flamingo",
                              .keys = "flamingo",
                              .noise = SOTTO_NOISE_BY_SHARES,
                              .one_server = true},
    [SOTTO_TRUST_AERO] = {.name = "aero",
                          .keys = "aero",
                          .noise = SOTTO_NOISE_BY_COMMITTEE,
                          .one_server = true,
                          .encrypted = true,
                          .proved = true},
    [SOTTO_TRUST_CENTRAL] = {.name = "central",
                             .gains =
                                 SOTTO_GAIN_SHUFFLE | SOTTO_GAIN_SAMPLING | SOTTO_GAIN_CHECK_IN,
                             .noise = SOTTO_NOISE_BY_SERVERS,
                             .can_hide = true,
                             .hides = true},
};

const sotto_trust_words sotto_trust_sentences[] = {
    [0] = {.assumes = {"nothing is known"},
           .honest = "Nothing is known of who must be honest.",
           .sees = "Whoever adds up may see every report.",
           .noise = "Nobody adds noise.",
           .inputs = "Nothing is proved."},
    [SOTTO_TRUST_SPLIT] =
        {.assumes = {"leader or helper honest; who takes part is seen",
                     "leader or helper honest; the relay works with neither gateway nor leader; "
                     "who takes part is hidden"},
         .honest = "The leader or the helper must be honest, one of the two. Where it is claimed "
                   "that nobody sees who takes part, the relay must work together neither with the "
                   "gateway nor with the leader. Issuer and attester of tokens, each of them, must "
                   "admit real devices only.",
         .sees = "Leader and helper each see one share of a report, which tells nothing, and who "
                 "sent it unless a relay and tokens hide that; the collector sees sums.",
         .noise =
             "As the recipe says: Each server adds all of the noise, since the other one may "
             "leave its own out. Or: Each device adds a part, sized for the honest ones that stay.",
         .inputs = "Every report is proved to be valid."},
    [SOTTO_TRUST_FLAMINGO] =
        {.assumes = {"enough clients and decryptors honest; the server sees who takes part"},
         .honest = "All but a stated part of the clients and of the decryptors must be honest.",
         .sees = "The server sees who takes part, masked contributions and the sum; decryptors see "
                 "who takes part.",
         .noise = "Each device adds a part of the noise, sized for the honest ones that stay.",
         .inputs = "Nothing is proved: a client can send anything, and its clip is a promise."},
    [SOTTO_TRUST_AERO] =
        {.assumes = {"most devices honest; the server sees who takes part"},
         .honest = "Most devices must be honest, also in each committee; the server may misbehave "
                   "now and then.",
         .sees = "The server sees who takes part, encrypted contributions and the sum; members of "
                 "a committee see their share of a key.",
         .noise = "A committee of devices adds the noise.",
         .inputs = "Every encrypted contribution is proved to be valid."},
    [SOTTO_TRUST_CENTRAL] =
        {.assumes = {"one server sees everybody's data and is trusted; only its answers are "
                     "public"},
         .honest = "The one server must be honest. sotto itself has no such server: this is for "
                   "questions about others, such as DP-SGD in one place.",
         .sees =
             "The server sees everybody's data and who takes part; everybody else sees only its "
             "answers.",
         .noise = "The server adds the noise.",
         .inputs = "Nothing is proved."},
};

const size_t sotto_trust_count = sizeof sotto_trust_models / sizeof sotto_trust_models[0];
