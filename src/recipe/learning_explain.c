/* A learning recipe in plain words. */
#include "recipe/learning_correlated.h"
#include "recipe/learning_encrypted.h"
#include "recipe/learning_slots.h"

#include "account/numeric/shown.h"
#include "account/trust.h"
#include "base/writer.h"
#include "noise/tree.h"
#include "recipe/calendar.h"
#include "recipe/explain.h"
#include "recipe/one_server.h"

#include <inttypes.h>
#include <math.h>

#define say sotto_write_format

static void say_training(sotto_writer *w, const sotto_learning *l)
{
    say(w, "What is trained\n");
    if (*l->head.description) {
        say(w, "Whoever asks says: \"");
        sotto_explain_theirs(w, l->head.description, "    ");
        say(w, "\"\n");
    }
    say(w,
        "A model named %s with %" PRIu64
        " parameters. In a round a device takes the model, trains it on up to %" PRIu64
        " rows, and sends how its parameters moved. The rows stay on the device; they are\n    ",
        l->model, l->parameters, l->most_rows);
    sotto_explain_theirs(w, l->head.query, "    ");
    if (l->projected > 0)
        say(w,
            "\nAn update is projected to %" PRIu64 " numbers by a public matrix of signs, which "
            "is another one in each round.",
            l->projected);
    say(w,
        "\nAn update longer than %g is scaled down to that norm, and rounded to a grid of "
        "1/%" PRIu64 ".\n",
        l->clip, l->scale);
    if (l->weights == SOTTO_WEIGHTS_CAPPED)
        say(w,
            "Before it is rounded, the update of a device with fewer than %" PRIu64
            " rows is made shorter: with half as many it counts half.\n",
            l->cap);
}

/* A device that takes part once, in a round that it draws. */
static void say_slots(sotto_writer *w, const sotto_learning *l)
{
    const uint64_t reach = sotto_learning_reach(l), slots = sotto_learning_slots(l);

    if (l->head.participation.type == SOTTO_DONATION)
        say(w,
            "A device takes part in one round at most: that of the first head of coins with a "
            "chance of 1/%" PRIu64 " each, which only it sees.\n",
            reach);
    else
        say(w,
            "A device takes part in one round at most: one of %" PRIu64 "%s, which it draws in "
            "secret, each with the same chance%s.\n",
            reach,
            sotto_learning_warm_up(l) > 0 ? " from the one on in which it first hears of them" : "",
            l->head.participation.rate < 1 ? ", or none" : "");
    if (slots > 1)
        say(w,
            "A round has %" PRIu64 " slots. Servers use one report of each at most, and count an "
            "empty slot as a dummy.\n",
            slots);
    else
        say(w, "Servers add up all reports of a round.\n");
    if (sotto_learning_warm_up(l) > 0)
        say(w, "Nothing is released of the first %" PRIu64 " rounds.\n", sotto_learning_warm_up(l));
    say(w, "How many reports a round has is not released.\n");
}

static void say_rounds(sotto_writer *w, const sotto_learning *l)
{
    char opens[SOTTO_CALENDAR_TEXT];

    sotto_calendar_format_time(opens, l->head.opens);
    say(w,
        "\nWho takes part, and when\n%" PRIu64
        " rounds from %s on, one every %g hour%s, out of about %" PRIu64 " devices.\n",
        l->rounds, opens, (double)l->every / 3600, l->every == 3600 ? "" : "s", l->head.population);
    if (sotto_learning_once(l)) {
        say_slots(w, l);
        return;
    }
    say(w,
        "In each round a device takes part with a chance of %g%%, by %s: in at most %" PRIu64
        " rounds, %" PRIu64 " or more apart.\n",
        100 * l->head.participation.rate,
        sotto_learning_is_encrypted(l) ? "a draw that everybody can repeat"
                                       : "a coin that only it sees",
        l->participations, l->separation);
    if (l->zeros)
        say(w,
            "It has a turn in every %" PRIu64
            ". round, from one on that it draws. In the others it "
            "sends zeros where its coin is for it: they look like any update, and tell nothing.\n",
            sotto_learning_spacing(l));
}

static void say_correlation(sotto_writer *w, const sotto_learning *l,
                            const sotto_learning_claim *claim)
{
    if (sotto_learning_buffered(l)) {
        say(w,
            "%s It is correlated by %zu buffers over all rounds. %s A participation costs up to "
            "%.4g times what it would with fresh noise, and all %" PRIu64
            " of them together %.4g times.\n",
            sotto_learning_correlated_words(), l->buffers, sotto_learning_kept_words(),
            sotto_bound_shown(claim->price.each, 4), l->participations,
            sotto_bound_shown(claim->price.all, 4));
        return;
    }
    say(w,
        "%s It begins anew after %" PRIu64
        " rounds. Where none of them is burnt, at most %u noises "
        "of a server are in their sums together. A participation costs up to %.0f"
        " times what it would with fresh noise.\n",
        sotto_learning_correlated_words(), l->restart, sotto_tree_levels(l->restart),
        claim->price.each);
}

static void say_noise(sotto_writer *w, const sotto_learning *l, const sotto_learning_claim *claim)
{
    if (l->head.by == SOTTO_BY_SHARES)
        say(w, "Each device adds a part of the noise to its update, and only all parts together "
               "protect it: by itself an update is not protected.\n");
    else if (l->head.by == SOTTO_BY_COMMITTEE)
        say(w, "The update itself has no noise. It is encrypted, and devices that the beacon draws "
               "each add a part of the noise, encrypted as well: it is there before anybody opens "
               "the sum.\n");
    else
        say(w, "The update itself has no noise. Each server adds all of it to its half of the sum, "
               "since the other one may leave its own out.\n");
    say(w,
        "Every entry of the sum of a round then has noise of standard deviation %.4g or more: %.4g "
        "times the clip.\n",
        claim->sigma / (double)l->scale, claim->sigma / (double)l->scale / l->clip);
    if (sotto_learning_correlated(l))
        say_correlation(w, l, claim);
}

static const char *charged(const sotto_learning_claim *claim)
{
    return claim->session
               ? "The policy allows that: a device that verified relay, tokens and log is charged "
                 "the smaller epsilon, once, before it tosses its first coin. It keeps the "
                 "zero-concentrated DP of its updates beside it."
               : "Devices are charged the larger one, unless their policy has \"sampling\": "
                 "\"when-hidden\".";
}

/* After a first part of the rounds, after half of them, and after all. */
static void say_drawn(sotto_writer *w, const sotto_learning *l, const sotto_learning_claim *claim)
{
    const uint64_t first = sotto_learning_warm_up(l) + 1, last = l->rounds,
                   half = first + (last - first) / 2, rounds[] = {first, half, last};
    sotto_slots_claim slots;

    sotto_slots_claim_of(&slots, l, claim, last);
    if (slots.why) {
        say(w, "A gain by drawing one round in secret is %s.\n", slots.why);
        return;
    }
    say(w,
        "If nobody sees who takes part, or how many, what is released costs less, at the same "
        "delta (%s).\n",
        slots.theorem);
    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
        sotto_slots_claim_of(&slots, l, claim, rounds[i]);
        if (!slots.why && (i == 0 || rounds[i] > rounds[i - 1]))
            say(w, "    after %" PRIu64 " round%s: epsilon %.4g\n", rounds[i],
                rounds[i] == 1 ? "" : "s", sotto_bound_shown(slots.epsilon, 4));
    }
    say(w, "That counts on %s. Devices are charged the larger one.\n", slots.honest);
}

static void say_claim(sotto_writer *w, const sotto_learning *l, const sotto_learning_claim *claim)
{
    if (isfinite(claim->epsilon))
        say(w,
            "All rounds of a device together: epsilon %.4g at delta %.3g (%s). One round costs "
            "%.4g of zero-concentrated DP. A round that is not released costs the same.\n",
            sotto_bound_shown(claim->epsilon, 4), sotto_bound_shown(claim->delta, 3),
            claim->theorem, sotto_bound_shown(claim->rho, 4));
    else
        say(w, "No epsilon can be claimed: %s.\n", claim->theorem);
    if (l->head.by == SOTTO_BY_SHARES)
        say(w, "That counts on %" PRIu64 " honest devices of every %" PRIu64 ".\n", claim->honest,
            l->head.min_cohort);
    if (sotto_learning_once(l))
        say_drawn(w, l, claim);
    else if (isfinite(claim->sampled_epsilon))
        say(w,
            "To all who don't see who takes part, all rounds together cost epsilon %.4g at the "
            "same "
            "delta (Wang, Balle and Kasiviswanathan 2019, theorem 9). The relay and a device's own "
            "network see it, and nothing less is claimed against them. That counts on a round "
            "being "
            "at most %.3g of the honest devices, of the population that the recipe states%s. It "
            "also counts on devices that answer whenever their coin says so. The relay, %s, must "
            "work together neither with the gateway, %s, nor with the leader, %s. %s\n",
            sotto_bound_shown(claim->sampled_epsilon, 4),
            sotto_bound_shown(claim->sampled_share, 3),
            !l->zeros && l->participations < l->rounds ? ", and on ten times as many at most" : "",
            l->head.anonymity.relay, l->head.anonymity.gateway, l->head.leader, charged(claim));
    else
        say(w, "A gain by taking part at random is %s.\n", claim->unsampled_why);
}

static void say_servers(sotto_writer *w, const sotto_learning *l)
{
    const sotto_trust_words *words = sotto_trust_words_of(l->head.trust);
    sotto_one_server server;
    sotto_encrypted e;

    say(w, "\nWhat protects them\n");
    if (sotto_recipe_encrypted(&e, &l->head)) {
        say(w,
            "An update is encrypted, and proved to be within its bounds. One server, %s, adds up "
            "at least %" PRIu64
            " of them. Devices check its additions, and %s of %u devices opens %s. %s %s\n",
            e.name, l->head.min_cohort, e.committees > 1 ? "each committee" : "a committee",
            e.terms.committee, e.committees > 1 ? "its part of the sum" : "the sum", words->honest,
            words->sees);
        if (sotto_learning_encrypted_plan(&e, l, NULL) == SOTTO_OK)
            sotto_encrypted_say_odds(w, &e);
    } else if (sotto_recipe_one_server(&server, &l->head))
        say(w,
            "One server, %s, adds up masked updates, and a committee of %" PRIu64
            " devices unmasks the sum of at least %" PRIu64 " of them. %s %s\n",
            server.name, server.decryptors, l->head.min_cohort, words->honest, words->sees);
    else
        say(w,
            "An update is split between two servers, %s and %s; one of them must be honest. They "
            "release sums of at least %" PRIu64 " updates.\n",
            l->head.leader, l->head.helper, l->head.min_cohort);
}

static void say_liars(sotto_writer *w, const sotto_learning *l, const sotto_learning_claim *claim)
{
    if (sotto_learning_is_encrypted(l))
        say(w,
            "%s An update's norm is at most %.6g clips. So one of them moves a sum by at most "
            "that, and spot checks miss a wrong one as rarely as is said above.\n",
            sotto_trust_words_of(l->head.trust)->inputs, sotto_learning_reach_in_clips(l, claim));
    else if (sotto_learning_one_server(l))
        say(w, "%s\n", sotto_trust_words_of(l->head.trust)->inputs);
    else
        say(w,
            "Both servers check that no report is longer than %g times the clip, without seeing "
            "it. So one report moves a sum by at most that.%s\n",
            l->bound_factor,
            l->head.anonymity.tokens == SOTTO_TOKENS_NONE
                ? " Without tokens, nothing keeps a device from sending several."
                : "");
    if (claim->factor_unprojected > 0)
        say(w,
            "Without the projection that bound would have to be %.3f clips; with it, %.3f. A sum "
            "is lifted to %" PRIu64 " parameters, which makes what a liar sends up to %.3g times "
            "longer. The updates of honest devices get longer with it.\n",
            ceil(1000 * claim->factor_unprojected) / 1000, ceil(1000 * claim->factor_needed) / 1000,
            l->parameters, sotto_bound_shown(sotto_learning_lift(l), 3));
}

sotto_status sotto_learning_explain(sotto_buf *out, const sotto_learning *l,
                                    const sotto_learning_claim *claim, sotto_err *err)
{
    sotto_err_clear(err);

    sotto_writer w = sotto_writer_on(out);

    say_training(&w, l);
    say_rounds(&w, l);
    say_servers(&w, l);
    say_noise(&w, l, claim);
    say_claim(&w, l, claim);
    say_liars(&w, l, claim);
    if (claim->report_bytes > 0)
        say(&w, "A report is %zu bytes.\n", claim->report_bytes);
    say(&w,
        "A device needs an application with libsotto-device-full. It is charged for all its rounds "
        "%s.\n",
        claim->session ? "before its first coin" : "when it first takes part");
    return sotto_writer_finish(&w, "explanation", err);
}
