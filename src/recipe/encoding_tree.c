/* Prefix trees: phrases that are known to be popular, and the words that may come next. */
#include "recipe/encoding.h"

#include "crypto/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 32, HASH_DIGITS = 16 };

typedef struct builder {
    sotto_reading *r;
    const sotto_place *place; /* of "tree" */
    json_t *tree;
    sotto_tree_node *nodes;
    uint32_t *sorted, *leaves;
    size_t room, count, leaf_count;
} builder;

static const char *word_of(const sotto_tree_node *node)
{
    return node->phrase + node->word;
}

/* The phrase of a child; NULL and remembered if there is no memory. */
static char *join(builder *b, const char *phrase, const char *word, uint32_t *offset)
{
    size_t first = strlen(phrase), second = strlen(word);
    char *joined = sotto_reading_take_text(b->r, first + 1 + second);

    *offset = first ? (uint32_t)first + 1 : 0;
    if (!joined)
        return NULL;
    memcpy(joined, phrase, first);
    joined[first] = ' ';
    memcpy(joined + *offset, word, second + 1);
    return joined;
}

static void check_word(builder *b, const char *key, size_t index, const char *word)
{
    sotto_place list = {b->place, key, 0}, at = {&list, NULL, index};

    if (strchr(word, ' '))
        sotto_reading_mistake(b->r, &at, "words without spaces", "\"%.60s\" is more than one word",
                              word);
}

typedef struct sibling {
    const char *word;
    uint32_t node;
} sibling;

static int by_word(const void *a, const void *b)
{
    return strcmp(((const sibling *)a)->word, ((const sibling *)b)->word);
}

/* Orders the children of a node for searching, and finds those that are there twice. */
static void sort_children(builder *b, const sotto_tree_node *node, const char *key,
                          sibling *scratch)
{
    for (uint32_t i = 0; i < node->count; i++)
        scratch[i] = (sibling){word_of(&b->nodes[node->first + i]), node->first + i};
    qsort(scratch, node->count, sizeof *scratch, by_word);
    for (uint32_t i = 0; i < node->count; i++) {
        b->sorted[node->first + i] = scratch[i].node;
        if (i > 0 && strcmp(scratch[i].word, scratch[i - 1].word) == 0) {
            sotto_place list = {b->place, key, 0};
            sotto_place at = {&list, NULL, scratch[i].node - node->first};

            sotto_reading_mistake(b->r, &at, "each word once", "\"%.60s\" is listed twice",
                                  scratch[i].word);
        }
    }
}

/* Adds the children of a node. */
static void adopt(builder *b, size_t index, const char *key, json_t *list, sibling *scratch)
{
    sotto_tree_node *node = &b->nodes[index];

    node->first = (uint32_t)b->count;
    node->count = (uint32_t)json_array_size(list);
    for (size_t i = 0; i < node->count; i++) {
        const char *word = json_string_value(json_array_get(list, i));
        sotto_tree_node *child = &b->nodes[b->count++];

        check_word(b, key, i, word);
        child->phrase = join(b, node->phrase, word, &child->word);
        if (!child->phrase)
            return;
    }
    sort_children(b, node, key, scratch);
}

/* A node that has a list gets children; one that has none is a leaf. The key "root" is the tree's own: what follows the first word
 * "root" has that key with a space behind it, which no other phrase ends with. */
static void grow(builder *b, size_t index, sibling *scratch)
{
    const char *phrase = b->nodes[index].phrase, *key = index == 0                    ? "root"
                                                        : strcmp(phrase, "root") == 0 ? "root "
                                                                                      : phrase;
    json_t *list = json_object_get(b->tree, key);

    if (json_array_size(list) > 0) {
        adopt(b, index, key, list, scratch);
    } else {
        b->nodes[index].leaf = (uint32_t)b->leaf_count;
        b->leaves[b->leaf_count++] = (uint32_t)index;
    }
    /* Taken out: no list is used twice, so the nodes are never more than the room for them. */
    if (list)
        (void)json_object_del(b->tree, key);
}

/* Every list was taken out of the tree when it was reached. */
static void find_unreached(builder *b)
{
    const char *key;
    json_t *list;

    json_object_foreach(b->tree, key, list)
    {
        sotto_place at = {b->place, key, 0};

        sotto_reading_mistake(b->r, &at, "phrases that other entries lead to",
                              "nothing leads to \"%.60s\"", key);
    }
}

static void build(builder *b, sotto_encoder *e)
{
    sibling *scratch = sotto_reading_take(b->r, b->room, sizeof *scratch);

    b->nodes = sotto_reading_take(b->r, b->room, sizeof *b->nodes);
    b->sorted = sotto_reading_take(b->r, b->room, sizeof *b->sorted);
    b->leaves = sotto_reading_take(b->r, b->room, sizeof *b->leaves);
    if (!scratch || !b->nodes || !b->sorted || !b->leaves)
        return;
    b->nodes[0].phrase = "";
    b->count = 1;
    for (size_t i = 0; i < b->count && !b->r->no_memory; i++)
        grow(b, i, scratch);
    find_unreached(b);
    e->as.tree.nodes = b->nodes;
    e->as.tree.sorted = b->sorted;
    e->as.tree.node_count = b->count;
    e->as.tree.leaves = b->leaves;
    e->as.tree.leaf_count = b->leaf_count;
}

/* Each is a leaf, in this order. */
static void read_hashes(sotto_reading *r, sotto_encoder *out, json_t *json,
                        const sotto_place *place)
{
    const sotto_place hashes = {place, "hashes", 0};
    sotto_words *list = &out->as.tree.hashes;

    out->as.tree.salt = sotto_reading_text(r, json, "salt");
    out->as.tree.words = (size_t)json_integer_value(json_object_get(json, "words"));
    sotto_words_read(r, list, json_object_get(json, "hashes"), &hashes);
    for (size_t i = 0; i < list->count; i++) {
        const sotto_place at = {&hashes, NULL, i};
        const char *hash = list->items[i];

        if (strlen(hash) != HASH_DIGITS || strspn(hash, "0123456789abcdef") != HASH_DIGITS)
            sotto_reading_mistake(r, &at, "16 of the digits 0-9 a-f", "no such hash");
    }
    out->as.tree.leaf_count = list->count;
}

void sotto_encoder_read_tree(sotto_reading *r, sotto_encoder *out, json_t *json,
                             const sotto_place *place)
{
    sotto_place tree = {place, "tree", 0}, tokens = {place, "tokens", 0};
    builder b = {.r = r, .place = &tree, .tree = json_object_get(json, "tree"), .room = 1};
    const char *key;
    json_t *list;

    json_object_foreach(b.tree, key, list)
    {
        sotto_place at = {&tree, key, 0};
        size_t words = 1;

        for (const char *p = key; *p; p++)
            words += *p == ' ';
        if (words > MAX_WORDS)
            sotto_reading_mistake(r, &at, "at most 32 words", "a phrase of %zu words", words);
        b.room += json_array_size(list);
    }
    sotto_words_read(r, &out->as.tree.tokens, json_object_get(json, "tokens"), &tokens);
    for (size_t i = 0; i < out->as.tree.tokens.count; i++)
        if (strchr(out->as.tree.tokens.items[i], ' ')) {
            sotto_place at = {&tokens, NULL, i};

            sotto_reading_mistake(r, &at, "words without spaces", "more than one word");
        }
    out->oov = json_is_true(json_object_get(json, "oov"));
    out->as.tree.end = json_is_true(json_object_get(json, "end"));
    if (json_object_get(json, "hashes"))
        read_hashes(r, out, json, place);
    if (r->no_memory)
        return;
    if (!out->as.tree.salt)
        build(&b, out);
    out->bins = out->as.tree.leaf_count * sotto_tree_leaf_bins(out) + (out->oov ? 1 : 0);
}

/* ---- walking ---------------------------------------------------------------------------------------- */

sotto_bytes sotto_tree_next_word(sotto_bytes *text)
{
    size_t start = 0, end;

    while (start < text->len && text->data[start] == ' ')
        start++;
    for (end = start; end < text->len && text->data[end] != ' ';)
        end++;
    sotto_bytes word = sotto_bytes_of(text->data + start, end - start);

    *text = sotto_bytes_of(text->data + end, text->len - end);
    return word;
}

static const sotto_tree_node *child_of(const sotto_encoder *e, const sotto_tree_node *node,
                                       sotto_bytes word)
{
    uint32_t low = node->first, high = node->first + node->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const sotto_tree_node *child = &e->as.tree.nodes[e->as.tree.sorted[middle]];
        const char *text = word_of(child);
        size_t len = strlen(text);
        int order = memcmp(text, word.data, len < word.len ? len : word.len);

        order = order ? order : (len > word.len) - (len < word.len);
        if (order == 0)
            return child;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Phrases have one space between their words, whatever the text has. */
static bool walk_hashes(const sotto_encoder *e, sotto_bytes text, size_t *leaf, sotto_bytes *rest)
{
    uint8_t digest[SOTTO_HASH_MAX_SIZE];
    char digits[HASH_DIGITS + 1];
    sotto_hash hash;

    sotto_hash_init(&hash, SOTTO_SHA256);
    sotto_hash_update(&hash, sotto_bytes_of(e->as.tree.salt, strlen(e->as.tree.salt)));
    for (size_t i = 0; i < e->as.tree.words; i++) {
        const sotto_bytes word = sotto_tree_next_word(&text);

        if (word.len == 0)
            return false;
        sotto_hash_update(&hash, sotto_bytes_of(i ? " " : "\n", 1));
        sotto_hash_update(&hash, word);
    }
    sotto_hash_final(&hash, digest);
    for (size_t i = 0; i < HASH_DIGITS / 2; i++)
        (void)snprintf(digits + 2 * i, 3, "%02x", digest[i]);
    *rest = text;
    return sotto_words_find(&e->as.tree.hashes, sotto_bytes_of(digits, HASH_DIGITS), leaf);
}

bool sotto_tree_walk(const sotto_encoder *e, sotto_bytes text, size_t *leaf, sotto_bytes *rest)
{
    if (e->as.tree.salt)
        return walk_hashes(e, text, leaf, rest);
    const sotto_tree_node *node = &e->as.tree.nodes[0];

    while (node->count > 0) {
        sotto_bytes word = sotto_tree_next_word(&text);

        node = word.len > 0 ? child_of(e, node, word) : NULL;
        if (!node)
            return false;
    }
    *leaf = node->leaf;
    *rest = text;
    return true;
}
