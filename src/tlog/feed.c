#include "tlog/feed.h"

#include "base/rule.h"

#include <string.h>

static const char tag[] = "sotto-feed-1\n";

enum { TAG = sizeof tag - 1 };

static bool only_zeros(sotto_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.data[i] != 0)
            return false;
    return true;
}

sotto_status sotto_feed_decode(sotto_feed *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);
    const sotto_bytes head = sotto_read_bytes(&in, TAG);
    const uint8_t *begin;
    size_t len = 0;
    sotto_bytes one;

    if (wire.len > SOTTO_FEED_MAX)
        return sotto_fail(err, SOTTO_TOO_LARGE, "feed of a log: more than %d bytes",
                          SOTTO_FEED_MAX);
    if (head.len != TAG || memcmp(head.data, tag, TAG) != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "no feed of a log");
    out->note = sotto_read_opaque32(&in);
    out->steps = sotto_read_opaque32(&in);
    begin = in.at;
    while ((one = sotto_read_opaque32(&in)).len > 0)
        len += 4 + one.len;
    out->bundles = sotto_bytes_of(begin, len);
    one = sotto_read_bytes(&in, sotto_reader_left(&in));
    SOTTO_TRY(sotto_reader_finish(&in, "feed of a log", err));
    if (SOTTO_RULE(feed_ends_in_zeros) && !only_zeros(one))
        return sotto_fail(err, SOTTO_MALFORMED, "feed of a log: more than zeros behind its end");
    return SOTTO_OK;
}

sotto_status sotto_feed_encode(sotto_buf *out, const sotto_feed *feed, sotto_err *err)
{
    static const uint8_t zeros[SOTTO_FEED_PAD];
    const size_t begin = out->len;
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(tag, TAG));
    sotto_write_opaque32(&w, feed->note);
    sotto_write_opaque32(&w, feed->steps);
    sotto_write_bytes(&w, feed->bundles);
    sotto_write_uint(&w, 0, 4);
    sotto_write_bytes(&w,
                      sotto_bytes_of(zeros, (SOTTO_FEED_PAD - (out->len - begin) % SOTTO_FEED_PAD) %
                                                SOTTO_FEED_PAD));
    SOTTO_TRY(sotto_writer_finish(&w, "feed of a log", err));
    return out->len - begin <= SOTTO_FEED_MAX
               ? SOTTO_OK
               : sotto_fail(err, SOTTO_TOO_LARGE, "feed of a log: more than %d bytes",
                            SOTTO_FEED_MAX);
}

bool sotto_feed_next(sotto_bytes *bundle, sotto_bytes *bundles)
{
    sotto_reader in = sotto_reader_over(*bundles);

    *bundle = sotto_read_opaque32(&in);
    *bundles = sotto_read_bytes(&in, sotto_reader_left(&in));
    return bundle->len > 0;
}
