#include "recipe/splice.h"

#include "base/arena.h"
#include "base/writer.h"

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

sotto_splice sotto_splice_without(sotto_bytes text, const sotto_span *member)
{
    size_t from = member->key, to = member->end;

    while (to < text.len && is_space(text.data[to]))
        to++;
    if (to < text.len && text.data[to] == ',') {
        for (to++; to < text.len && is_space(text.data[to]);)
            to++;
        return (sotto_splice){from, to, {0}};
    }
    while (from > 0 && text.data[from - 1] != ',')
        from--;
    return (sotto_splice){from > 0 ? from - 1 : member->key, member->end, {0}};
}

static void put_in_order(sotto_splice *splices, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && splices[j].from < splices[j - 1].from; j--) {
            const sotto_splice other = splices[j];

            splices[j] = splices[j - 1];
            splices[j - 1] = other;
        }
}

sotto_status sotto_splice_text(sotto_bytes *out, sotto_bytes text, sotto_splice *splices,
                               size_t count, sotto_arena *arena, sotto_err *err)
{
    size_t len = text.len, at = 0;
    sotto_buf all;

    for (size_t i = 0; i < count; i++)
        len += splices[i].comes.len;
    SOTTO_TRY(sotto_buf_take(&all, arena, len, err));
    sotto_writer w = sotto_writer_on(&all);
    put_in_order(splices, count);
    for (size_t i = 0; i < count; i++) {
        sotto_write_bytes(&w, sotto_bytes_of(text.data + at, splices[i].from - at));
        sotto_write_bytes(&w, splices[i].comes);
        at = splices[i].to;
    }
    sotto_write_bytes(&w, sotto_bytes_of(text.data + at, text.len - at));
    *out = sotto_buf_bytes(&all);
    return sotto_writer_finish(&w, "changed text", err);
}
