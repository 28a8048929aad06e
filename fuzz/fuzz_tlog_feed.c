/* Feeds come from the network. What decodes encodes to the same bytes but for its zeros, each bundle is within it, and steps lead to no
 * tree that was not signed. */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "tlog/bundle.h"
#include "tlog/feed.h"
#include "tlog/growth.h"

static void check_again(const sotto_feed *feed)
{
    static uint8_t memory[2 * SOTTO_FEED_MAX];
    sotto_buf out = sotto_buf_over(memory, sizeof memory);
    sotto_feed again;

    if (sotto_feed_encode(&out, feed, NULL) != SOTTO_OK)
        return; /* its zeros would not fit */
    if (sotto_feed_decode(&again, sotto_buf_bytes(&out), NULL) != SOTTO_OK ||
        !sotto_bytes_equal_vartime(feed->note, again.note) ||
        !sotto_bytes_equal_vartime(feed->steps, again.steps) ||
        !sotto_bytes_equal_vartime(feed->bundles, again.bundles))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const sotto_checkpoint now = {.size = 40}, seen = {.size = 8};
    sotto_bytes one, rest;
    sotto_bundle bundle;
    sotto_feed feed;
    bool fork;

    if (sotto_feed_decode(&feed, sotto_bytes_of(data, size), NULL) != SOTTO_OK)
        return 0;
    check_again(&feed);
    for (rest = feed.bundles; sotto_feed_next(&one, &rest);) {
        if (one.data < data || one.data + one.len > data + size)
            abort();
        (void)!sotto_bundle_decode(&bundle, one, NULL);
    }
    /* A root of zeros is nobody's: whatever the steps are, they show no growth and no fork. */
    if (sotto_growth_check(&now, &seen, feed.steps, &fork, NULL) == SOTTO_OK || fork)
        abort();
    return 0;
}
