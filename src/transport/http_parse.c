#include "transport/http_parse.h"

#include "base/hex.h"

#include <string.h>

/* RFC 9110, 5.6.2: what a method or the name of a field is made of. */
static bool is_token_char(uint8_t c)
{
    static const uint8_t map[32] = {
        0x00, 0x00, 0x00, 0x00, 0xfa, 0x6c, 0xff, 0x03, /* ! # $ % & ' * + - . 0-9 */
        0xfe, 0xff, 0xff, 0xc7, 0xff, 0xff, 0xff, 0x57, /* A-Z ^ _ ` a-z | ~       */
    };

    return map[c >> 3] >> (c & 7) & 1;
}

bool sotto_http_is_token(sotto_bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_token_char(text.data[i]))
            return false;
    return text.len > 0;
}

/* RFC 9110, 5.5: visible characters, space, tab, and bytes above ASCII. */
static bool is_value_char(uint8_t c)
{
    return (c >= 0x20 && c != 0x7f) || c == '\t';
}

bool sotto_http_is_field_value(sotto_bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_value_char(text.data[i]))
            return false;
    return true;
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

bool sotto_http_equal_caseless(sotto_bytes text, const char *wanted)
{
    if (strlen(wanted) != text.len)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (lower(text.data[i]) != lower((uint8_t)wanted[i]))
            return false;
    return true;
}

static bool equal(sotto_bytes text, const char *wanted)
{
    const size_t len = strlen(wanted);

    return text.len == len && memcmp(text.data, wanted, len) == 0;
}

size_t sotto_http_head_end(sotto_bytes text, size_t scanned)
{
    /* The end may straddle what was looked at before. */
    size_t at = scanned > 3 ? scanned - 3 : 0;

    while (at + 4 <= text.len) {
        const uint8_t *lf = memchr(text.data + at + 3, '\n', text.len - at - 3);

        if (!lf)
            return 0;
        if (lf[-1] == '\r' && lf[-2] == '\n' && lf[-3] == '\r')
            return (size_t)(lf - text.data) + 1;
        at = (size_t)(lf - text.data) - 2;
    }
    return 0;
}

/* Takes one line off the front, without its CRLF. A CR elsewhere is refused with the other control characters. */
static bool take_line(sotto_bytes *rest, sotto_bytes *line)
{
    const uint8_t *lf = memchr(rest->data, '\n', rest->len);

    if (!lf || lf == rest->data || lf[-1] != '\r')
        return false;
    *line = sotto_bytes_of(rest->data, (size_t)(lf - rest->data) - 1);
    rest->len -= (size_t)(lf - rest->data) + 1;
    rest->data = lf + 1;
    return true;
}

/* ---- the request line -------------------------------------------------------------------------- */

static unsigned read_method(sotto_http_head *head, sotto_bytes word)
{
    static const sotto_http_method known[] = {SOTTO_HTTP_GET, SOTTO_HTTP_PUT, SOTTO_HTTP_POST,
                                              SOTTO_HTTP_DELETE, SOTTO_HTTP_OPTIONS};

    if (!sotto_http_is_token(word))
        return 400;
    if (equal(word, "HEAD")) {
        head->method = SOTTO_HTTP_GET;
        head->is_head = true;
        return 0;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (equal(word, sotto_http_method_name(known[i]))) {
            head->method = known[i];
            return 0;
        }
    return 501;
}

static unsigned read_version(sotto_http_head *head, sotto_bytes word)
{
    if (word.len != 8 || memcmp(word.data, "HTTP/", 5) != 0 || word.data[6] != '.')
        return 400;
    if (word.data[5] < '0' || word.data[5] > '9' || word.data[7] < '0' || word.data[7] > '9')
        return 400;
    if (word.data[5] != '1')
        return 505;
    head->minor = (unsigned)(word.data[7] - '0');
    head->keep_alive = head->minor > 0;
    return 0;
}

/* Percent-decodes in place. A NUL or another control character is refused, also if it is percent-encoded. */
static bool decode_segment(uint8_t *text, size_t *len)
{
    size_t out = 0;

    for (size_t i = 0; i < *len; i++, out++) {
        int value = text[i];

        if (text[i] == '%') {
            if (*len - i < 3)
                return false;
            const int high = sotto_hex_digit_vartime(text[i + 1]),
                      low = sotto_hex_digit_vartime(text[i + 2]);
            if (high < 0 || low < 0)
                return false;
            value = high * 16 + low;
            i += 2;
        }
        if (value < 0x20 || value == 0x7f)
            return false;
        text[out] = (uint8_t)value;
    }
    *len = out;
    return true;
}

static unsigned read_path(sotto_http_head *head, uint8_t *path, size_t len)
{
    if (len == 0 || path[0] != '/')
        return 400;
    for (size_t at = 1; at <= len && len > 1;) {
        uint8_t *slash = memchr(path + at, '/', len - at);
        size_t size = slash ? (size_t)(slash - path) - at : len - at;
        const size_t next = at + size + 1;

        if (head->segment_count == SOTTO_HTTP_MAX_SEGMENTS)
            return 414;
        if (!decode_segment(path + at, &size))
            return 400;
        const sotto_bytes segment = sotto_bytes_of(path + at, size);
        if (size == 0 || equal(segment, ".") || equal(segment, ".."))
            return 400;
        head->segments[head->segment_count++] = segment;
        at = next;
    }
    return 0;
}

/* RFC 9112, 3.2.2: a server takes the absolute form too. What names the authority is then skipped: every request that
 * reaches us is for us. */
static void skip_authority(uint8_t **target, size_t *len)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < 2; i++) {
        const size_t scheme = strlen(schemes[i]);

        if (*len <= scheme ||
            !sotto_http_equal_caseless(sotto_bytes_of(*target, scheme), schemes[i]))
            continue;
        uint8_t *slash = memchr(*target + scheme, '/', *len - scheme);
        if (!slash || memchr(*target, '?', (size_t)(slash - *target)))
            return;
        *len -= (size_t)(slash - *target);
        *target = slash;
        return;
    }
}

static unsigned read_target(sotto_http_head *head, uint8_t *target, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (target[i] <= 0x20 || target[i] >= 0x7f || target[i] == '#')
            return 400;
    if (len == 1 && target[0] == '*') {
        head->any_target = true;
        return head->method == SOTTO_HTTP_OPTIONS ? 0 : 400;
    }
    skip_authority(&target, &len);
    uint8_t *mark = memchr(target, '?', len);
    if (mark) {
        const size_t path = (size_t)(mark - target);

        head->query = sotto_bytes_of(mark + 1, len - path - 1);
        len = path;
    }
    return read_path(head, target, len);
}

static unsigned read_request_line(sotto_http_head *head, uint8_t *line, size_t len)
{
    uint8_t *first = memchr(line, ' ', len);

    if (!first)
        return 400;
    const size_t method = (size_t)(first - line);
    uint8_t *second = memchr(first + 1, ' ', len - method - 1);
    if (!second)
        return 400;
    const size_t target = (size_t)(second - first) - 1;
    unsigned refused = read_version(head, sotto_bytes_of(second + 1, len - method - target - 2));
    if (!refused)
        refused = read_method(head, sotto_bytes_of(line, method));
    if (!refused)
        refused = read_target(head, first + 1, target);
    return refused;
}

/* ---- fields ------------------------------------------------------------------------------------ */

static unsigned read_length(sotto_http_head *head, sotto_bytes value)
{
    if (value.len == 0 || value.len > 18)
        return 400;
    for (size_t i = 0; i < value.len; i++) {
        if (value.data[i] < '0' || value.data[i] > '9')
            return 400;
        head->content_length = head->content_length * 10 + (uint64_t)(value.data[i] - '0');
    }
    return 0;
}

/* The next member of a comma-separated list, without the space around it. */
static bool next_member(sotto_bytes *list, sotto_bytes *member)
{
    if (list->len == 0)
        return false;
    const uint8_t *comma = memchr(list->data, ',', list->len);
    const size_t len = comma ? (size_t)(comma - list->data) : list->len;
    *member = sotto_bytes_of(list->data, len);
    list->data += comma ? len + 1 : len;
    list->len -= comma ? len + 1 : len;
    while (member->len > 0 && (member->data[0] == ' ' || member->data[0] == '\t')) {
        member->data++;
        member->len--;
    }
    while (member->len > 0 &&
           (member->data[member->len - 1] == ' ' || member->data[member->len - 1] == '\t'))
        member->len--;
    return true;
}

static void read_connection(sotto_http_head *head, sotto_bytes value)
{
    sotto_bytes member;
    bool keep = false, close = false;

    while (next_member(&value, &member)) {
        keep = keep || sotto_http_equal_caseless(member, "keep-alive");
        close = close || sotto_http_equal_caseless(member, "close");
    }
    if (close)
        head->keep_alive = false;
    else if (keep && head->minor == 0)
        head->keep_alive = true;
}

/* Fields that must not come twice: another reader might use the second one. */
static bool is_single(sotto_bytes name)
{
    static const char *const single[] = {"host",          "content-length", "transfer-encoding",
                                         "authorization", "content-type",   "dap-auth-token"};

    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
        if (equal(name, single[i]))
            return true;
    return false;
}

static unsigned read_field(sotto_http_head *head, uint8_t *line, size_t len)
{
    uint8_t *colon = memchr(line, ':', len);

    /* Space before the colon or at the front of the line (folding) makes the name no token. */
    if (!colon || !sotto_http_is_token(sotto_bytes_of(line, (size_t)(colon - line))))
        return 400;
    const size_t name = (size_t)(colon - line);
    for (size_t i = 0; i < name; i++)
        line[i] = lower(line[i]);
    size_t from = name + 1, to = len;
    while (from < to && (line[from] == ' ' || line[from] == '\t'))
        from++;
    while (to > from && (line[to - 1] == ' ' || line[to - 1] == '\t'))
        to--;
    sotto_http_line *out = &head->lines[head->line_count++];
    out->name = sotto_bytes_of(line, name);
    out->value = sotto_bytes_of(line + from, to - from);
    return sotto_http_is_field_value(out->value) ? 0 : 400;
}

/* Acts on the fields that say how the message is framed, once all of them are known. */
static unsigned read_meaning(sotto_http_head *head)
{
    const sotto_http_line *length = sotto_http_head_field(head, "content-length");
    const sotto_http_line *coding = sotto_http_head_field(head, "transfer-encoding");
    const sotto_http_line *host = sotto_http_head_field(head, "host");
    const sotto_http_line *expect = sotto_http_head_field(head, "expect");

    for (unsigned i = 0; i < head->line_count; i++)
        for (unsigned j = 0; j < i && is_single(head->lines[i].name); j++)
            if (sotto_bytes_equal_vartime(head->lines[i].name, head->lines[j].name))
                return 400;
    if ((head->minor > 0 && !host) || (host && memchr(host->value.data, ' ', host->value.len)))
        return 400;
    if (coding && (length || head->minor == 0))
        return 400;
    if (coding && !sotto_http_equal_caseless(coding->value, "chunked"))
        return 501;
    head->chunked = coding != NULL;
    if (length && read_length(head, length->value) != 0)
        return 400;
    for (unsigned i = 0; i < head->line_count; i++)
        if (equal(head->lines[i].name, "connection"))
            read_connection(head, head->lines[i].value);
    if (expect && !sotto_http_equal_caseless(expect->value, "100-continue"))
        return 417;
    head->expects_continue = expect != NULL && head->minor > 0;
    return 0;
}

unsigned sotto_http_head_parse(sotto_http_head *head, uint8_t *text, size_t len,
                               unsigned max_fields)
{
    sotto_bytes rest = sotto_bytes_of(text, len), line;
    unsigned refused;

    /* The views need not be zeroed: the counts say which of them are there. */
    memset(head, 0, offsetof(sotto_http_head, segments));
    if (!take_line(&rest, &line))
        return 400;
    refused = read_request_line(head, text, line.len);
    while (!refused) {
        uint8_t *start = text + (rest.data - text);

        if (!take_line(&rest, &line))
            return 400;
        if (line.len == 0)
            break;
        if (head->line_count >= max_fields || head->line_count >= SOTTO_HTTP_MAX_FIELDS)
            return 431;
        refused = read_field(head, start, line.len);
    }
    if (!refused && rest.len > 0)
        return 400;
    return refused ? refused : read_meaning(head);
}

const sotto_http_line *sotto_http_head_field(const sotto_http_head *head, const char *name)
{
    for (unsigned i = 0; i < head->line_count; i++)
        if (equal(head->lines[i].name, name))
            return &head->lines[i];
    return NULL;
}
