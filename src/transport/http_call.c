#include "transport/http_client_internal.h"

#include "base/alloc.h"
#include "transport/http_parse.h"

#include <stdio.h>
#include <string.h>

/* ---- what comes back ----------------------------------------------------------------------------- */

/* Room for all of a body once a part of it has come: then it is not copied and wiped each time it doubles. What is announced alone
 * takes no memory. */
static size_t announced(const sotto_http_pending *p)
{
    enum { PART = 16 };

    return p->announced <= p->max_response && p->response.body.len >= p->announced / PART
               ? (size_t)p->announced
               : 0;
}

static bool grow(sotto_http_pending *p, size_t more)
{
    const size_t len = p->response.body.len;
    size_t cap = p->body_cap * 2;
    uint8_t *body;

    if (more <= p->body_cap - len)
        return true;
    cap = cap < 4096 ? 4096 : cap;
    cap = cap < announced(p) ? announced(p) : cap;
    cap = cap < len + more ? len + more : cap;
    cap = cap > p->max_response ? p->max_response : cap;
    body = sotto_alloc(cap);
    if (!body) {
        p->no_memory = true;
        return false;
    }
    if (len > 0)
        memcpy(body, p->body, len);
    sotto_release(p->body, p->body_cap);
    p->body = body;
    p->body_cap = cap;
    p->response.body.data = body;
    return true;
}

bool sotto_http_pending_take(sotto_http_pending *p, sotto_bytes body)
{
    if (body.len > p->max_response - p->response.body.len) {
        p->too_large = true;
        return false;
    }
    if (body.len == 0 || !grow(p, body.len))
        return false;
    memcpy(p->body + p->response.body.len, body.data, body.len);
    p->response.body.len += body.len;
    return true;
}

/* libcurl ends the transfer when fewer bytes are taken than were given. */
static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    return sotto_http_pending_take(context, sotto_bytes_of(data, size * count)) ? size * count : 0;
}

static bool grow_fields(sotto_http_pending *p, size_t more)
{
    size_t cap = p->field_cap * 2;
    char *fields;

    if (more <= p->field_cap - p->field_len)
        return true;
    cap = cap < 1024 ? 1024 : cap;
    cap = cap < p->field_len + more ? p->field_len + more : cap;
    fields = sotto_alloc(cap);
    if (!fields) {
        p->no_memory = true;
        return false;
    }
    if (p->field_len > 0)
        memcpy(fields, p->received_fields, p->field_len);
    sotto_release(p->received_fields, p->field_cap);
    p->received_fields = fields;
    p->field_cap = cap;
    return true;
}

bool sotto_http_pending_take_fields(sotto_http_pending *p, sotto_bytes head)
{
    if (head.len >= 5 && memcmp(head.data, "HTTP/", 5) == 0)
        p->field_len = 0; /* an answer of its own: what came before was "100 Continue" */
    if (head.len > SOTTO_HTTP_MAX_RESPONSE_FIELDS - p->field_len) {
        p->too_large = true;
        return false;
    }
    if (!grow_fields(p, head.len))
        return false;
    memcpy(p->received_fields + p->field_len, head.data, head.len);
    p->field_len += head.len;
    return true;
}

static size_t on_field(char *data, size_t size, size_t count, void *context)
{
    const sotto_bytes line = sotto_bytes_of(data, size * count);

    return sotto_http_pending_take_fields(context, line) ? line.len : 0;
}

bool sotto_http_response_field(const sotto_http_response *response, const char *name,
                               sotto_bytes *value)
{
    const size_t len = strlen(name);
    sotto_bytes rest = response->fields;
    bool found = false;

    while (rest.len > 0) {
        const uint8_t *lf = memchr(rest.data, '\n', rest.len);
        size_t line = lf ? (size_t)(lf - rest.data) : rest.len;
        const size_t whole = lf ? line + 1 : line;

        if (line > len && rest.data[len] == ':' &&
            sotto_http_equal_caseless(sotto_bytes_of(rest.data, len), name)) {
            size_t from = len + 1;

            while (from < line && (rest.data[from] == ' ' || rest.data[from] == '\t'))
                from++;
            while (line > from && (rest.data[line - 1] == ' ' || rest.data[line - 1] == '\t' ||
                                   rest.data[line - 1] == '\r'))
                line--;
            *value = sotto_bytes_of(rest.data + from, line - from);
            found = true;
        }
        rest.data += whole;
        rest.len -= whole;
    }
    return found;
}

/* ---- what a handle has for all its calls ---------------------------------------------------------- */

static CURLcode set_safety(CURL *easy, const sotto_http_client *client)
{
    CURLcode code = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");

    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_SSL_CIPHER_LIST, SOTTO_HTTP_TLS12_SUITES);
    if (!code && client->ca_file)
        code = curl_easy_setopt(easy, CURLOPT_CAINFO, client->ca_file);
    if (!code && client->ca_file) /* and nobody besides */
        code = curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    if (!code) /* "" also keeps the environment's proxies out */
        code = curl_easy_setopt(easy, CURLOPT_PROXY, client->proxy ? client->proxy : "");
    return code;
}

static CURLcode set_up(CURL *easy, const sotto_http_client *client)
{
    CURLcode code = curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);

    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)client->options.connect_ms);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_field);
    return code ? code : set_safety(easy, client);
}

/* Whatever a call set that the next one need not set: its method, its body, and pointers to it. */
static CURLcode forget_call(CURL *easy)
{
    CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);

    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)-1);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, NULL);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
    return code;
}

/* ---- what is sent -------------------------------------------------------------------------------- */

/* The scheme and host decide where a token may go; a name and password in a URL would be logged by others. */
sotto_status sotto_http_url_check(char *host, size_t size, const char *url, bool plain_anywhere,
                                  sotto_err *err)
{
    CURLU *parsed = curl_url();
    char *scheme = NULL, *name = NULL, *user = NULL;
    sotto_status status = SOTTO_OK;
    bool plain;

    if (!parsed)
        return sotto_fail(err, SOTTO_NO_MEMORY, "no memory for a URL");
    if (curl_url_set(parsed, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
        curl_url_get(parsed, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(parsed, CURLUPART_HOST, &name, 0) != CURLUE_OK || strlen(name) >= size ||
        curl_url_get(parsed, CURLUPART_USER, &user, 0) == CURLUE_OK) {
        status = sotto_fail(err, SOTTO_MALFORMED, "not a URL that can be called");
        goto done;
    }
    memcpy(host, name, strlen(name) + 1);
    plain = strcmp(scheme, "http") == 0;
    if (!plain && strcmp(scheme, "https") != 0)
        status = sotto_fail(err, SOTTO_MALFORMED, "%s: neither http nor https", host);
    else if (plain && !plain_anywhere &&
             !sotto_http_host_is_loopback(sotto_bytes_of(host, strlen(host))))
        status = sotto_fail(err, SOTTO_DENIED, "%s: plain http is for loopback only", host);
done:
    curl_free(scheme);
    curl_free(name);
    curl_free(user);
    curl_url_cleanup(parsed);
    return status;
}

static bool add_line(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);

    if (longer)
        *list = longer;
    return longer != NULL;
}

static bool add_field(struct curl_slist **list, const sotto_http_field *field)
{
    const size_t size = strlen(field->name) + strlen(field->value) + 3;
    char *line = sotto_alloc(size);
    bool added;

    if (!line)
        return false;
    /* libcurl's way to say that a value is empty, rather than that the field is absent */
    (void)snprintf(line, size, *field->value ? "%s: %s" : "%s;", field->name, field->value);
    added = add_line(list, line);
    sotto_release(line, size);
    return added;
}

static bool copy_fields(sotto_http_pending *p, const sotto_http_call *call)
{
    bool typed = false, ok = true;

    for (size_t i = 0; ok && i < call->field_count; i++) {
        const char *name = call->fields[i].name;

        typed =
            typed || sotto_http_equal_caseless(sotto_bytes_of(name, strlen(name)), "content-type");
        ok = add_field(&p->fields, &call->fields[i]);
    }
    /* Else libcurl would claim that the body is a form. */
    if (ok && !typed)
        ok = add_line(&p->fields, "Content-Type:");
    return ok;
}

/* Most calls of a client are of one URL. */
static sotto_status check_url(char *host, size_t size, sotto_http_client *client, const char *url,
                              sotto_err *err)
{
    const size_t len = strlen(url);
    bool same;

    pthread_mutex_lock(&client->lock);
    same = len > 0 && len < sizeof client->checked && memcmp(client->checked, url, len + 1) == 0;
    if (same)
        memcpy(host, client->checked_host, size);
    pthread_mutex_unlock(&client->lock);
    if (same)
        return SOTTO_OK;
    SOTTO_TRY(sotto_http_url_check(host, size, url, client->options.plain_anywhere, err));
    if (len < sizeof client->checked) {
        pthread_mutex_lock(&client->lock);
        memcpy(client->checked, url, len + 1);
        memcpy(client->checked_host, host, size);
        pthread_mutex_unlock(&client->lock);
    }
    return SOTTO_OK;
}

/* A handle is set up once: libcurl allocates for most of its options. */
static CURL *take_handle(sotto_http_client *client)
{
    CURL *easy = NULL;

    pthread_mutex_lock(&client->lock);
    if (client->spare_count > 0)
        easy = client->spare[--client->spare_count];
    pthread_mutex_unlock(&client->lock);
    if (easy)
        return easy;
    easy = curl_easy_init();
    if (easy && set_up(easy, client) != CURLE_OK) {
        curl_easy_cleanup(easy);
        easy = NULL;
    }
    return easy;
}

static void put_back_handle(sotto_http_client *client, CURL *easy)
{
    bool kept = forget_call(easy) == CURLE_OK;

    pthread_mutex_lock(&client->lock);
    kept = kept && client->spare_count < client->options.max_active;
    if (kept)
        client->spare[client->spare_count++] = easy;
    pthread_mutex_unlock(&client->lock);
    if (!kept)
        curl_easy_cleanup(easy);
}

/* ---- without libcurl ------------------------------------------------------------------------------- */

enum { HEAD_BESIDE = 128 }; /* method, version, names of fields, and the digits of a length */

static size_t head_size(const sotto_http_direct_url *to, const sotto_http_call *call)
{
    size_t size = HEAD_BESIDE + to->authority_len + strlen(to->path);

    for (size_t i = 0; i < call->field_count; i++)
        size += strlen(call->fields[i].name) + strlen(call->fields[i].value) + 4;
    return size;
}

/* The bytes that libcurl would send. Returns their length, which is below `size`. */
static size_t write_head(char *out, size_t size, const sotto_http_direct_url *to,
                         const sotto_http_call *call)
{
    size_t len = (size_t)snprintf(out, size, "%s %s HTTP/1.1\r\nHost: %.*s\r\nAccept: */*\r\n",
                                  sotto_http_method_name(call->method), to->path,
                                  (int)to->authority_len, to->authority);

    for (size_t i = 0; i < call->field_count; i++)
        len += (size_t)snprintf(out + len, size - len, "%s: %s\r\n", call->fields[i].name,
                                call->fields[i].value);
    if (call->body.len > 0 || call->method == SOTTO_HTTP_POST || call->method == SOTTO_HTTP_PUT)
        len += (size_t)snprintf(out + len, size - len, "Content-Length: %zu\r\n", call->body.len);
    return len + (size_t)snprintf(out + len, size - len, "\r\n");
}

void sotto_http_pending_reset(sotto_http_pending *p)
{
    p->response.body.len = p->field_len = 0;
    p->response.status = p->response.retry_after_s = 0;
    p->too_large = p->no_memory = false;
}

sotto_status sotto_http_pending_new(sotto_http_pending **pending, sotto_http_client *client,
                                    const sotto_http_call *call, sotto_err *err)
{
    sotto_http_direct_url to;
    const bool direct =
        sotto_http_direct_takes(client, call) && sotto_http_direct_reads(&to, call->url);
    const size_t url = strlen(call->url) + 1, head = direct ? head_size(&to, call) : 0,
                 size = sizeof(sotto_http_pending) + url + head + call->body.len;
    char host[sizeof((sotto_http_pending *)NULL)->host];
    sotto_http_pending *p;

    *pending = NULL;
    SOTTO_TRY(check_url(host, sizeof host, client, call->url, err));
    if (!sotto_http_fields_are_clean(call->fields, call->field_count))
        return sotto_fail(err, SOTTO_MALFORMED, "%s: a header field can't be sent", host);
    p = sotto_alloc(size);
    if (!p)
        return sotto_fail(err, SOTTO_NO_MEMORY, "%s: no memory for a call", host);
    p->size = size;
    p->method = call->method;
    p->repeatable = call->repeatable || call->method != SOTTO_HTTP_POST;
    p->attempts = call->attempts > 0 ? call->attempts : 5;
    p->timeout_ms = call->timeout_ms > 0 ? call->timeout_ms : 30000;
    p->max_response = call->max_response > 0 ? call->max_response : (size_t)16 << 20;
    memcpy(p->host, host, sizeof host);
    p->url = (char *)(p + 1);
    memcpy(p->url, call->url, url);
    char *const text = p->url + url;
    const size_t len = direct ? write_head(text, head, &to, call) : 0;
    p->sent = sotto_bytes_of(text + len, call->body.len);
    if (call->body.len > 0)
        memcpy(text + len, call->body.data, call->body.len);
    if (direct) {
        p->wire = sotto_bytes_of(text, len + call->body.len);
        p->to = to.to;
        *pending = p;
        return SOTTO_OK;
    }
    p->easy = take_handle(client);
    if (!p->easy || !copy_fields(p, call)) {
        sotto_http_pending_free(p, client);
        return sotto_fail(err, SOTTO_NO_MEMORY, "%s: no memory for a call", host);
    }
    *pending = p;
    return SOTTO_OK;
}

void sotto_http_pending_free(sotto_http_pending *p, sotto_http_client *client)
{
    if (p->easy)
        put_back_handle(client, p->easy);
    for (struct curl_slist *at = p->fields; at; at = at->next)
        sotto_wipe(at->data, strlen(at->data));
    curl_slist_free_all(p->fields);
    sotto_release(p->body, p->body_cap);
    sotto_release(p->received_fields, p->field_cap);
    sotto_release(p, p->size);
}

static CURLcode set_method(const sotto_http_pending *p)
{
    CURL *easy = p->easy;
    CURLcode code;

    if (p->method == SOTTO_HTTP_GET)
        return curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    code = curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, sotto_http_method_name(p->method));
    if (p->sent.len == 0 && p->method != SOTTO_HTTP_POST && p->method != SOTTO_HTTP_PUT)
        return code;
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->sent.len);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_POSTFIELDS, (const char *)p->sent.data);
    return code;
}

sotto_status sotto_http_pending_prepare(sotto_http_pending *p)
{
    CURL *easy = p->easy;
    CURLcode code = forget_call(easy);

    sotto_http_pending_reset(p);
    p->said[0] = 0;
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_URL, p->url);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_PRIVATE, p);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, p->said);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_HTTPHEADER, p->fields);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)p->timeout_ms);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, p);
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, p);
    /* libcurl silently sends again when a kept connection turns out to be dead. */
    if (!code)
        code = curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, p->repeatable ? 0L : 1L);
    if (!code)
        code = set_method(p);
    return code ? SOTTO_NO_MEMORY : SOTTO_OK;
}
